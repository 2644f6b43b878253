"""JSONL and Parquet: which fields hold what, ranges, damage."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl_archives import zst
from mainmatter.corpus.readers import find_shards, jsonl, read_slice
from mainmatter.corpus.readers.fields import as_time
from mainmatter.corpus.records import Read, Record, Reject
from mainmatter.errors import InputError
from mainmatter.limits import Limits

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = Limits(size=1000)


def read_all(path: Path | str, shard_size: int = 10**9) -> list[Read]:
    return [read for shard in find_shards([str(path)], shard_size) for one in shard for read in read_slice(one, LIMITS)]


def lines_of(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def read_row(tmp_path: Path, row: Any) -> Read:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines_of(row))
    (read,) = read_all(path)
    return read


def test_row_with_all_fields(tmp_path: Path) -> None:
    row = {"id": 7, "url": "http://a.example/", "html": "<p>ä", "time": "2024-05-01T12:00:00+02:00", "score": 1}
    read = read_row(tmp_path, row)
    assert isinstance(read, Record)
    assert (read.page.html, read.page.url, read.page.id, read.page.format) == ("<p>ä", "http://a.example/", "7", "html")
    assert (read.time, read.position, read.source) == ("2024-05-01T10:00:00Z", 0, str(tmp_path / "a.jsonl"))


@pytest.mark.parametrize(
    ("row", "form"),
    [
        ({"html": "plain words"}, "html"),
        ({"text": "<p>x"}, "text"),
        ({"content": "<p>x"}, "html"),
        ({"raw_content": "words"}, "text"),
        ({"body": "<!DOCTYPE html>"}, "html"),
        ({"HTML": "x", "text": "y"}, "html"),
        ({"text": "x", "content": "<p>y"}, "text"),
        ({"raw-html": "x"}, "html"),
    ],
)
def test_names_of_fields(tmp_path: Path, row: dict[str, str], form: str) -> None:
    read = read_row(tmp_path, row | {"URI": "u", "WARC-Record-ID": "r", "WARC-Date": "20240501120000"})
    assert isinstance(read, Record)
    assert (read.page.format, read.page.url, read.page.id, read.time) == (form, "u", "r", "2024-05-01T12:00:00Z")


def test_row_without_an_id_is_named_by_its_place(tmp_path: Path) -> None:
    read = read_row(tmp_path, {"text": "x"})
    assert isinstance(read, Record)
    assert read.page.id == f"{tmp_path}/a.jsonl:0"


def test_halves_of_characters_do_not_get_through(tmp_path: Path) -> None:
    read = read_row(tmp_path, {"text": "a\ud800b", "id": "\udfff"})
    assert isinstance(read, Record)
    assert (read.page.html, read.page.id) == ("a\ufffdb", "\ufffd")


@pytest.mark.parametrize(
    ("line", "reason", "detail"),
    [
        (b"{", "damaged", "is not JSON: Expecting property name"),
        (b"\xff\xfe", "damaged", "is not JSON: 'utf-8' codec"),
        (b"[1]", "damaged", "is not a JSON object"),
        (b"[" * 200_000, "too-large", "is too long for a page of 1,000 bytes"),
        (b'{"text": 5}', "damaged", "its field 'text' is a number, not text"),
        (b'{"text": null}', "damaged", "its field 'text' is empty (null)"),
        (b'{"text": true}', "damaged", "its field 'text' is true or false, not text"),
        (b'{"words": "x"}', "damaged", "it has no field for the page; looked for html, "),
        (b'{"text": "' + b"x" * 1001 + b'"}', "too-large", "has more than 1,000 bytes"),
    ],
)
def test_bad_line_is_one_reject(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: bytes, reason: str, detail: str
) -> None:
    monkeypatch.setattr("mainmatter.corpus.readers.jsonl._ROOM", 10_000)
    good = lines_of({"text": "x", "id": "a"})
    path = tmp_path / "a.jsonl"
    path.write_bytes(good + line + b"\n\n" + good)
    first, bad, last = read_all(path)
    assert isinstance(bad, Reject)
    assert (bad.reason, bad.position) == (reason, len(good))
    assert detail in bad.detail
    assert isinstance(first, Record)
    assert isinstance(last, Record)


def test_deep_nesting_is_one_reject(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"[" * 100_000 + b"\n")
    (read,) = read_all(tmp_path / "a.jsonl")
    assert isinstance(read, Reject)
    assert read.detail == "the line at byte 0 is not JSON: it is nested too deeply"


ROWS = [{"text": f"page {i} " + "ä" * (i * 37 % 50), "id": str(i)} for i in range(12)]
CONTENT = b"\xef\xbb\xbf" + lines_of(*ROWS[:5]) + b"oops\n\n" + lines_of(*ROWS[5:]).rstrip(b"\n")


@given(data=st.data())
def test_ranges_give_every_line_once(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.getbasetemp() / "ranges.jsonl"
    path.write_bytes(CONTENT)
    expected = read_all(path)
    assert len(expected) == 13
    assert read_all(path, data.draw(st.integers(1, len(CONTENT) + 1))) == expected


def test_ranges_of_a_huge_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "_BUFFER", 7)
    monkeypatch.setattr(jsonl, "_ROOM", 10 - 2 * LIMITS.size)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{}\n{"text":"' + b"b" * 90 + b'"}\n\n{}\n' + b"x" * 60 + b"\n{}")
    expected = read_all(path)
    assert [read.reason for read in expected if isinstance(read, Reject)] == [
        *("damaged", "too-large", "damaged", "too-large", "damaged")
    ]
    for shard_size in range(1, 180):
        assert read_all(path, shard_size) == expected


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_packed_lines_and_going_on(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.jsonl{ending}"
    path.write_bytes({"": CONTENT, ".gz": gzip.compress(CONTENT, mtime=0), ".zst": zst(CONTENT)}[ending])
    ((one,),) = find_shards([str(path)], 10**6)
    if ending:
        assert find_shards([str(path)], 10) == [[one]]
    expected = list(read_slice(one, LIMITS))
    assert len(expected) == 13
    for i, read in enumerate(expected):
        assert list(read_slice(one, LIMITS, read.position)) == expected[i:]
        assert list(read_slice(one, LIMITS, read.position + 1)) == expected[i + 1 :]


def test_packed_lines_that_break_off(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(lines_of(*ROWS), mtime=0) + gzip.compress(lines_of(*ROWS), mtime=0)[:-9])
    reads = read_all(path)
    assert isinstance(reads[-1], Reject)
    assert reads[-1].detail == "the rest of the file cannot be unpacked: the file ends too early"
    assert len(reads) > len(ROWS)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-05-01T12:00:00.5Z", "2024-05-01T12:00:00.5Z"),
        ("2024-05-01 12:00:00", "2024-05-01T12:00:00Z"),
        ("2024-05-01", "2024-05-01"),
        (datetime(2024, 5, 1, 12, tzinfo=UTC), "2024-05-01T12:00:00Z"),
        (1714564800, "2024-05-01T12:00:00Z"),
        (1714564800000, "2024-05-01T12:00:00Z"),
        ("yesterday", None),
        ("20249999999999", None),
        (10**30, None),
        (float("nan"), None),
        (True, None),
        (None, None),
    ],
)
def test_times(value: object, expected: str | None) -> None:
    assert as_time(value) == expected


# Parquet


def write_parquet(path: Path, columns: dict[str, Any], **options: Any) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(columns), path, **options)


def columns_of(count: int) -> dict[str, Any]:
    return {"id": [str(i) for i in range(count)], "html": [f"<p>page {i}" for i in range(count)]}


def test_parquet_with_all_columns(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "a.parquet"
    when = [datetime(2024, 5, 1, 12, tzinfo=UTC), None]
    columns = {
        "html": [b"<p>\xe4", b"y"],
        "url": ["http://a.example/", None],
        "id": [5, None],
        "date": when,
        "n": [1, 2],
    }
    write_parquet(path, columns)
    first, second = read_all(path)
    assert isinstance(first, Record)
    assert (first.page.html, first.page.url, first.page.id) == (b"<p>\xe4", "http://a.example/", "5")
    assert (first.time, first.position) == ("2024-05-01T12:00:00Z", 0)
    assert isinstance(second, Record)
    assert (second.page.url, second.page.id, second.time) == (None, f"{path}:1", None)
    text = pyarrow.array(["<p>ä", None]).dictionary_encode()
    write_parquet(path, {"content": text})
    first, second = read_all(path)
    assert isinstance(first, Record)
    assert first.page.html == "<p>ä"
    assert isinstance(second, Reject)
    assert second.detail == "its field 'content' is empty (null)"


def test_parquet_text_that_is_not_utf8(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "a.parquet"
    wrong = pyarrow.array([b"<p>\xff"]).view(pyarrow.string())
    write_parquet(path, {"html": wrong})
    (read,) = read_all(path)
    assert isinstance(read, Record)
    assert read.page.html == "<p>\ufffd"


def test_parquet_with_dates_that_python_lacks(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "a.parquet"
    for values, kind in (([2**62], pyarrow.timestamp("us")), ([2**30], pyarrow.date32())):
        write_parquet(path, {"html": ["<p>x"], "time": pyarrow.array(values, kind)})
        (read,) = read_all(path)
        assert isinstance(read, Record)
        assert read.time is None


def test_parquet_with_two_columns_of_one_name(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "a.parquet"
    table = pyarrow.table({"a": ["<p>x"], "b": ["<p>y"]}).rename_columns(["html", "html"])
    pytest.importorskip("pyarrow.parquet").write_table(table, path)
    (read,) = read_all(path)
    assert isinstance(read, Record)
    assert read.page.html == "<p>x"


def test_parquet_is_split_by_row_groups(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_parquet(path, columns_of(100), row_group_size=30)
    expected = read_all(path)
    assert [read.position for read in expected] == list(range(100))
    shards = find_shards([str(path)], 10)
    assert [(one.start, one.end) for (one,) in shards] == [(0, 30), (30, 60), (60, 90), (90, 100)]
    assert read_all(path, 10) == expected
    (one,) = shards[1]
    assert list(read_slice(one, LIMITS, 41)) == expected[41:60]


def test_parquet_without_a_page_is_told_when_planning(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_parquet(path, {"words": ["x"], "n": [1]})
    with pytest.raises(InputError, match=r"a\.parquet: has no column for the page; looked for html, .* are words, n$"):
        find_shards([str(path)])


def test_damaged_row_group_is_one_reject(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_parquet(path, columns_of(90), row_group_size=30, compression="zstd", use_dictionary=False)
    column = pytest.importorskip("pyarrow.parquet").ParquetFile(path).metadata.row_group(1).column(1)
    data = bytearray(path.read_bytes())
    start = column.data_page_offset
    data[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(data)
    reads = read_all(path)
    rejects = [read for read in reads if isinstance(read, Reject)]
    assert [(reject.reason, reject.position) for reject in rejects] == [("damaged", 30)]
    assert rejects[0].detail.startswith("rows 30 to 59 cannot be read: ")
    assert len(reads) == 61


def test_file_that_is_no_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_parquet(path, columns_of(9))
    ((one,),) = find_shards([str(path)])
    path.write_bytes(path.read_bytes()[:-20])
    for reads in (list(read_slice(one)), read_all(path)):
        (read,) = reads
        assert isinstance(read, Reject)
        assert read.reason == "damaged"
        assert f"{path}: not a Parquet file, or damaged: " in read.detail
