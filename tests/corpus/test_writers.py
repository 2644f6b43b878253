"""Rows to files and back, the same bytes each time."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from mainmatter.corpus import Job
from mainmatter.corpus.records import Reject
from mainmatter.corpus.writers import (
    ROWS_IN_GROUP,
    column_names,
    make_writer,
    read_rejects,
    read_rows,
    rejects_to_bytes,
)

FORMATS = ("parquet", "jsonl")


def row(number: int, **changes: Any) -> tuple[Any, ...]:
    values: dict[str, Any] = dict.fromkeys(column_names(blocks=True))
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
    values = dict(zip(column_names(blocks=True), next(read_rows(job, written(job, [broken]))), strict=True))
    assert (values["text"], values["blocks"][0]["text"]) == ("a ? b", "?")


def test_parquet_groups_are_of_a_fixed_size_and_hold_no_time() -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    data = written(Job(blocks=True), [row(number) for number in range(2 * ROWS_IN_GROUP + 1)])
    facts = parquet.ParquetFile(io.BytesIO(data)).metadata
    assert [facts.row_group(number).num_rows for number in range(facts.num_row_groups)] == [1000, 1000, 1]
    assert set(facts.metadata) == {b"ARROW:schema"}


def test_a_jsonl_line_is_a_row_with_its_names() -> None:
    line = json.loads(written(Job(format="jsonl"), [row(7)[:-1]]))
    assert tuple(line) == column_names()
    assert (line["id"], line["title"]) == ("page 7", None)


def test_rejects_come_back() -> None:
    rejects = [Reject("empty", "no text was kept", "a.warc", 5, "id", None), Reject("damaged", "\u2028 “x”", "b", 0)]
    assert list(read_rejects(rejects_to_bytes(rejects))) == rejects
