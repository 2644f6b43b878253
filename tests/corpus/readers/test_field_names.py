"""Fields and columns with names of their own, tables without a page, arrays of pages."""

from __future__ import annotations

import gzip
import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainmatter.corpus.readers import FieldNames, find_shards, jsonl, read_slice
from mainmatter.corpus.readers.fields import find_names
from mainmatter.corpus.records import Read, Record, Reject
from mainmatter.errors import InputError
from mainmatter.limits import Limits

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = Limits(size=1000)


def read_all(*paths: Path, fields: FieldNames = FieldNames(), shard_size: int = 10**9) -> list[Read]:  # noqa: B008
    shards = find_shards([str(path) for path in paths], shard_size, fields)
    return [read for shard in shards for one in shard for read in read_slice(one, LIMITS)]


def ids(reads: list[Read]) -> list[str | None]:
    return [
        read.page.id if isinstance(read, Record) else read.reason if isinstance(read, Reject) else "" for read in reads
    ]


def write_parquet(path: Path, **columns: list[Any]) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(columns), path)
    return path


def write_jsonl(path: Path, *rows: Any) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


# Names


def test_names_that_are_wanted_win_over_the_usual_ones() -> None:
    names = ["html", "Seite", "url", "adr-esse", "id"]
    found = find_names(names, FieldNames("Seite", "ADR_ESSE"))
    assert (found.content, found.url, found.id) == ("Seite", "adr-esse", "id")
    assert find_names(names, FieldNames("none", "none", "none")).content is None
    assert find_names(["link", "page_html"]).url == "link"
    assert find_names(["", "text"]).content == "text"
    assert find_names(["HTML", "html"], FieldNames("html")).content == "html"


@pytest.mark.parametrize(
    ("field", "content", "form"),
    [
        ("seite", "<article>x", "html"),
        ("seite", "only words, 1 < 2", "text"),
        ("html", "words", "html"),
        ("text", "<p>x", "text"),
    ],
)
def test_a_field_of_any_name_may_hold_html_or_text(tmp_path: Path, field: str, content: str, form: str) -> None:
    (read,) = read_all(write_jsonl(tmp_path / "a.jsonl", {field: content}), fields=FieldNames(field))
    assert isinstance(read, Record)
    assert read.page.format == form


def test_fields_of_lines_and_columns(tmp_path: Path) -> None:
    rows: dict[str, list[Any]] = {
        "seite": ["<p>a", "<p>b"],
        "adresse": ["http://a.example/", None],
        "nummer": [7, 8],
        "html": ["", ""],
    }
    lines = write_jsonl(tmp_path / "a.jsonl", *({name: rows[name][i] for name in rows} for i in range(2)))
    table = write_parquet(tmp_path / "b.parquet", **rows)
    for path in (lines, table):
        first, second = read_all(path, fields=FieldNames("seite", "adresse", "nummer"), shard_size=20)
        assert isinstance(first, Record)
        assert (first.page.html, first.page.url, first.page.id) == ("<p>a", "http://a.example/", "7")
        assert isinstance(second, Record)
        assert (second.page.url, second.page.id) == (None, "8")


def test_a_line_without_the_wanted_field_is_told_with_those_it_has(tmp_path: Path) -> None:
    (read,) = read_all(write_jsonl(tmp_path / "a.jsonl", {"html": "x", "n": 1}), fields=FieldNames("seite"))
    assert isinstance(read, Reject)
    assert read.detail == "it has no field 'seite' for the page (--html-field); its fields are html, n"
    many = dict.fromkeys((f"f{i}" for i in range(30)), 1)
    (read,) = read_all(write_jsonl(tmp_path / "b.jsonl", many))
    assert isinstance(read, Reject)
    assert read.detail.startswith("it has no field for the page; looked for html, ")
    assert read.detail.endswith(
        " (name another with --html-field), but its fields are " + ", ".join(list(many)[:20]) + " and 10 others"
    )


# Tables without a page


def test_a_table_without_a_page_does_not_stop_the_others(tmp_path: Path) -> None:
    good = write_parquet(tmp_path / "a.parquet", html=["<p>a"], id=["a"])
    bad = write_parquet(tmp_path / "b.parquet", words=["x"], n=[1])
    for reads in (read_all(good, bad), read_all(tmp_path), read_all(tmp_path, shard_size=1)):
        assert ids(reads) == ["a", "damaged"]
        assert isinstance(reads[1], Reject)
        assert reads[1].detail.startswith(f"{bad}: has no column for the page; looked for html, ")
        assert reads[1].detail.endswith("(name another with --html-field), but its columns are words, n")
    with pytest.raises(InputError, match="has no column for the page"):
        find_shards([str(bad)])


def test_a_wanted_column_that_is_missing_is_told(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", html=["<p>a"], link=["u"])
    for fields, message in (
        (FieldNames("seite"), r"has no column 'seite' for the page \(--html-field\); its columns are html, link$"),
        (FieldNames(url="lnk"), r"has no column 'lnk' \(--url-field\); its columns are html, link$"),
        (FieldNames(id="nr"), r"has no column 'nr' \(--id-field\); its columns are html, link$"),
    ):
        with pytest.raises(InputError, match=message):
            find_shards([str(path)], fields=fields)


# Arrays, and objects over several lines

ROWS = [
    {"text": text, "id": str(i), "more": [{"a": "]"}, None]} for i, text in enumerate(("{[", 'x\\"y', "ä}", "", "z"))
]


@given(st.integers(1, 60), st.sampled_from([None, 2]), st.booleans())
def test_objects_are_found_whatever_is_read_at_a_time(chunk: int, indent: int | None, is_array: bool) -> None:
    content = json.dumps(ROWS, indent=indent) if is_array else "\n".join(json.dumps(row, indent=indent) for row in ROWS)
    data = content.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "_CHUNK", chunk)
        found = list(jsonl.find_objects(io.BytesIO(data), 10**6))
    assert [json.loads(one or b"") for _, one, _ in found] == ROWS
    assert all(one == data[place : place + len(one or b"")] for place, one, _ in found)


@pytest.mark.parametrize("chunk", [1, 2, 7, 100])
def test_what_stands_between_two_objects_is_one_piece(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "_CHUNK", chunk)
    data = b'[1, null, "a {x} \\" {y}", 2 {"a": 1}, true, {"b": "}"}\n stray " quote {z}\n{"c": 1}, "d", {"e": [{}'
    found = list(jsonl.find_objects(io.BytesIO(data), 10**6))
    assert [(kind, one) for _, one, kind in found] == [
        ("others", None),
        ("object", b'{"a": 1}'),
        ("other", None),
        ("object", b'{"b": "}"}'),
        ("others", None),
        ("object", b'{"c": 1}'),
        ("other", None),
        ("cut", b'{"e": [{}'),
    ]
    assert [data[place : place + 4] for place, _, kind in found if "other" in kind] == [
        b"1, n",
        b"true",
        b"stra",
        b'"d",',
    ]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.json.gz"])
@pytest.mark.parametrize("indent", [None, 2])
def test_array_of_pages(tmp_path: Path, name: str, indent: int | None) -> None:
    data = b"\xef\xbb\xbf" + json.dumps(ROWS, indent=indent).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    ((one,),) = find_shards([str(path)], 10)  # it cannot be split
    reads = list(read_slice(one, LIMITS))
    assert ids(reads) == ["0", "1", "2", "3", "4"]
    for i, read in enumerate(reads):
        assert list(read_slice(one, LIMITS, read.position)) == reads[i:]
        assert list(read_slice(one, LIMITS, read.position + 1)) == reads[i + 1 :]


def test_bad_objects_of_an_array_are_rejects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "_ROOM", 0)
    path = tmp_path / "a.json"
    long = b'{"text": "' + b"x" * 3000 + b'"}'
    path.write_bytes(
        b'[{"text": "x", "id": "a"}, null, {"text": }, ' + long + b', {"text": "y", "id": "b"}, {"text": "cut'
    )
    reads = read_all(path)
    assert ids(reads) == ["a", "damaged", "damaged", "too-large", "b", "damaged"]
    details = [read.detail for read in reads if isinstance(read, Reject)]
    assert details[0] == "the object at byte 27 is not a JSON object"
    assert details[1].startswith("the object at byte 33 is not JSON: ")
    assert details[2].startswith("the object at byte 45 is too long for a page of 1,000 bytes")
    assert details[3].startswith("the object at byte 3,085, and what follows it, is not JSON: ")


def test_an_array_of_other_things_is_one_reject(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'[{"text": "x", "id": "a"}' + b",0" * 50_000 + b"]")
    first, second = read_all(path)
    assert isinstance(first, Record)
    assert isinstance(second, Reject)
    assert second.detail == "the object at byte 26 is not a JSON object, nor is anything up to the next one"


@pytest.mark.parametrize(
    "content",
    [
        b'{"id": "a",\n"text": "x"}\n{"id": "b", "text": "y"}',
        b'\n{\n"id": "a", "text": "x"}{"id": "b", "text": "y"}',
        b'{"more": [1,\r\n2], "id": "a", "text": "x"}\n{"id": "b",\n"text": "y"}',
        b'{"id": "a", "more":\n{}, "text": "x"}\n{"id": "b", "text": "y"}',
        b'{"id": "a", "text": "x"\n}\n{"id": "b", "text": "y"}',
        b'{"more": "' + b"x" * 99_999 + b'",\n"id": "a", "text": "x"}\n{"id": "b", "text": "y"}',
    ],
)
def test_objects_whose_first_line_holds_more_than_a_bracket(tmp_path: Path, content: bytes) -> None:
    for name, data in (("a.jsonl", b"\xef\xbb\xbf" + content), ("b.jsonl.gz", gzip.compress(content, mtime=0))):
        path = tmp_path / name
        path.write_bytes(data)
        assert ids(read_all(path, shard_size=10)) == ["a", "b"]


@pytest.mark.parametrize("first", [b'{"id": "a",', b"{", b'{"id": "cut', b'{"id": tru', b'{"id": "a", "more": {}'])
def test_a_damaged_first_line_does_not_take_the_others_with_it(tmp_path: Path, first: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(first + b'\n{"id": "b", "text": "y"}\n{"id": "c", "text": "z"}\n')
    for shard_size in (10, 10**6):
        assert ids(read_all(path, shard_size=shard_size)) == ["damaged", "b", "c"]


def test_packed_array_that_breaks_off(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(json.dumps(ROWS).encode(), 0)[:-60])
    reads = read_all(path)
    assert ids(reads)[:2] == ["0", "1"]
    assert isinstance(reads[-1], Reject)
    assert reads[-1].detail == "the rest of the file cannot be unpacked: the file ends too early"
