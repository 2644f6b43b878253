"""Rows to files and back, the same bytes each time."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from mainmatter.corpus import Job
from mainmatter.corpus.records import Reject
from mainmatter.corpus.writers import (
    COLUMNS,
    NEEDED_COLUMNS,
    ROWS_IN_GROUP,
    SCHEMA,
    all_columns,
    make_writer,
    read_rejects,
    read_rows,
    rejects_to_bytes,
    written_columns,
)

FORMATS = ("parquet", "jsonl")
WITH_BLOCKS = Job(blocks=True)
CHUNK = {
    "text": "a",
    "start": 0,
    "end": 1,
    "headings": ["Top", "Below"],
    "blocks": [3, 4],
    "xpaths": ["/html[1]"],
    "tokens": 1,
}


def row(number: int, **changes: Any) -> tuple[Any, ...]:
    values: dict[str, Any] = dict.fromkeys(all_columns(WITH_BLOCKS))
    values |= {"id": f"page {number}", "text": f"Text – {number}\n\nand more", "words": 4, "position": number}
    values |= {"language_score": 0.5, "blocks": [{"text": "a", "kind": "heading", "label": "main", "score": 0.25}]}
    return tuple((values | changes).values())


def written(job: Job, rows: list[tuple[Any, ...]]) -> bytes:
    writer = make_writer(job)
    for one in rows:
        writer.add(one)
    return writer.finish()


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("count", [0, 1, ROWS_IN_GROUP, ROWS_IN_GROUP + 1])
def test_rows_come_back_and_their_bytes_are_always_the_same(format_: Any, count: int) -> None:
    job = Job(format=format_, blocks=True)
    rows = [row(number) for number in range(count)]
    data = written(job, rows)
    assert list(read_rows(job, data)) == rows
    assert written(job, rows) == data
    assert written(job, list(read_rows(job, data))) == data


@pytest.mark.parametrize("format_", FORMATS)
def test_half_a_character_becomes_a_question_mark(format_: Any) -> None:
    job = Job(format=format_, blocks=True)
    broken = row(0, text="a \ud83d b", blocks=[{"text": "\udc00", "kind": "code", "label": "main", "score": 1.0}])
    values = dict(zip(all_columns(job), next(read_rows(job, written(job, [broken]))), strict=True))
    assert (values["text"], values["blocks"][0]["text"]) == ("a ? b", "?")


def test_parquet_groups_are_of_a_fixed_size_and_hold_no_time() -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    data = written(Job(blocks=True), [row(number) for number in range(2 * ROWS_IN_GROUP + 1)])
    facts = parquet.ParquetFile(io.BytesIO(data)).metadata
    assert [facts.row_group(number).num_rows for number in range(facts.num_row_groups)] == [1000, 1000, 1]
    assert set(facts.metadata) == {b"ARROW:schema"}


def test_a_jsonl_line_is_a_row_with_its_names() -> None:
    line = json.loads(written(Job(format="jsonl"), [row(7)[:-1]]))
    assert tuple(line) == COLUMNS
    assert (line["id"], line["title"]) == ("page 7", None)


@pytest.mark.parametrize("format_", FORMATS)
def test_chunks_come_back_with_lists_in_them(format_: Any) -> None:
    job = Job(format=format_, blocks=True, chunks=100)
    rows = [(*row(0), [CHUNK, CHUNK]), (*row(1), [])]
    assert list(read_rows(job, written(job, rows))) == rows


@pytest.mark.parametrize("format_", FORMATS)
def test_columns_are_left_out_of_the_corpus_but_not_of_what_a_later_stage_reads(format_: Any) -> None:
    left_out = tuple(name for name in all_columns(WITH_BLOCKS) if name not in NEEDED_COLUMNS)
    job = Job(format=format_, blocks=True, without_columns=left_out)
    assert [column.name for column in written_columns(job)] == ["id", "text", "source", "position"]
    few = Job(format=format_, without_columns=tuple(name for name in COLUMNS if name not in NEEDED_COLUMNS))
    assert list(read_rows(few, _whole(few, [row(5)[:-1]]))) == [row(5)[:-1]]
    if format_ == "jsonl":
        content = json.loads(written(job, [row(5)]))
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        (content,) = parquet.read_table(io.BytesIO(written(job, [row(5)]))).to_pylist()
    assert content == {"id": "page 5", "text": "Text – 5\n\nand more", "source": None, "position": 5}


def _whole(job: Job, rows: list[tuple[Any, ...]]) -> bytes:
    writer = make_writer(job, whole=True)
    for one in rows:
        writer.add(one)
    return writer.finish()


def test_types_are_those_of_the_schema() -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    job = Job(blocks=True, chunks=100)
    found = parquet.read_schema(io.BytesIO(written(job, [])))
    shown = {field.name: str(field.type).replace("element: ", "").replace("item: ", "") for field in found}
    names = {"string": "string", "int64": "int64", "float64": "double"}
    for column in SCHEMA:
        if column.type:
            assert shown[column.name] == names[column.type]
    assert shown["chunks"] == (
        "list<struct<text: string, start: int64, end: int64, headings: list<string>, blocks: list<int64>, "
        "xpaths: list<string>, tokens: int64>>"
    )


def test_rejects_come_back() -> None:
    rejects = [Reject("empty", "no text was kept", "a.warc", 5, "id", None), Reject("damaged", "\u2028 “x”", "b", 0)]
    assert list(read_rejects(rejects_to_bytes(rejects))) == rejects
