"""Archives that are damaged, or hold what is too large: one reject each, and the rest is read."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from crawl_archives import (
    MEMBERS,
    NAMES,
    PAGES,
    gz,
    http,
    read_bytes,
    record,
    rejected,
    shape,
    zst,
)
from mainmatter.corpus.readers import read_slice, streams
from mainmatter.corpus.records import Reject, Slice

if TYPE_CHECKING:
    from pathlib import Path

# Damage


def test_whole_archive(tmp_path: Path) -> None:
    assert shape(read_bytes(tmp_path, b"".join(MEMBERS))) == NAMES


def test_corrupt_byte_costs_one_record(tmp_path: Path) -> None:
    for place in range(len(MEMBERS[2])):
        member = bytearray(MEMBERS[2])
        member[place] ^= 0x55
        reads = read_bytes(tmp_path, b"".join([*MEMBERS[:2], bytes(member), *MEMBERS[3:]]))
        words = shape(reads)
        if words == NAMES:  # gzip's header holds bytes that do not matter
            assert 3 < place < 10
        else:
            assert words == [*NAMES[:2], "damaged", *NAMES[3:]], place
            assert reads[2].position == len(MEMBERS[0] + MEMBERS[1])


def test_damage_says_where_and_what(tmp_path: Path) -> None:
    broken = MEMBERS[1][:-8] + b"\0" * 8
    reject = read_bytes(tmp_path, MEMBERS[0] + broken + MEMBERS[2])[1]
    where = len(MEMBERS[0])
    expected = f"the record at byte {where:,} is damaged: it cannot be decompressed: incorrect data check"
    assert rejected(reject) == ("damaged", expected)
    assert isinstance(reject, Reject)
    assert (reject.id, reject.url) == ("<urn:1>", "http://a.example/1")


@pytest.mark.parametrize("cut", [1, 5, 9, 50, 150])
def test_member_that_breaks_off_at_the_end(tmp_path: Path, cut: int) -> None:
    reads = read_bytes(tmp_path, b"".join(MEMBERS)[:-cut])
    assert shape(reads) == [*NAMES[:5], "damaged"]
    assert rejected(reads[5])[1].endswith("the file ends in the middle of it")


@pytest.mark.parametrize("cut", [1, 5, 9, 50, 150])
def test_member_that_breaks_off_in_the_middle(tmp_path: Path, cut: int) -> None:
    reads = read_bytes(tmp_path, b"".join([*MEMBERS[:2], MEMBERS[2][:-cut], *MEMBERS[3:]]))
    assert shape(reads) == [*NAMES[:2], "damaged", *NAMES[3:]]


@pytest.mark.parametrize(
    "garbage", [b"x", b"\0" * 1000, b"\x1f\x8b\x08 no member", gzip.compress(b"no record", mtime=0)]
)
def test_garbage_between_records(tmp_path: Path, garbage: bytes) -> None:
    data = b"".join([*MEMBERS[:3], garbage, *MEMBERS[3:]])
    reads = read_bytes(tmp_path, data)
    assert shape(reads) == [*NAMES[:3], "damaged", *NAMES[3:]]
    assert reads[3].position == len(b"".join(MEMBERS[:3]))
    assert shape(read_bytes(tmp_path, garbage + data)) == ["damaged", *NAMES[:3], "damaged", *NAMES[3:]]
    assert shape(read_bytes(tmp_path, data + garbage)) == [*NAMES[:3], "damaged", *NAMES[3:], "damaged"]


@pytest.mark.parametrize("length", [10, 100, 5000])
@pytest.mark.parametrize("ending", ["warc.gz", "warc", "warc.zst"])
def test_wrong_content_length_costs_one_record(tmp_path: Path, length: int, ending: str) -> None:
    wrong = record(http(b"<p>some words of a page</p>" * 10), name="<wrong>", length=length)
    records = [PAGES[0], wrong, *PAGES[1:]]
    data = {"warc": b"".join(records), "warc.gz": b"".join(gz(*records)), "warc.zst": zst(*records)}[ending]
    reads = read_bytes(tmp_path, data, f"a.{ending}")
    assert shape(reads) == [NAMES[0], "damaged", *NAMES[1:]]


@pytest.mark.parametrize("garbage", [b"x", b"no record\r\n\r\n", b"WARC/1.1 is a format\r\n\r\n"])
def test_damage_of_plain_archives(tmp_path: Path, garbage: bytes) -> None:
    data = b"".join([*PAGES[:3], garbage, *PAGES[3:]])
    assert shape(read_bytes(tmp_path, data, "a.warc")) == [*NAMES[:3], "damaged", *NAMES[3:]]
    whole = b"".join(PAGES)
    assert shape(read_bytes(tmp_path, whole[:-20], "a.warc")) == [*NAMES[:5], "damaged"]
    assert shape(read_bytes(tmp_path, whole + garbage, "a.warc")) == [*NAMES, "damaged"]


def test_headers_that_run_into_the_next_record(tmp_path: Path) -> None:
    data = b"".join([PAGES[0], PAGES[1][:60], *PAGES[2:]])
    reads = read_bytes(tmp_path, data, "a.warc")
    assert shape(reads) == [NAMES[0], "damaged", *NAMES[2:]]
    assert reads[2].position == len(PAGES[0]) + 60


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@pytest.mark.parametrize("length", [65_000, 66_000, 200_000])
def test_headers_over_64_kilobytes_are_told_and_cost_one_record(tmp_path: Path, ending: str, length: int) -> None:
    long = record(http(b"<p>x"), name="<urn:long>", url="http://a.example/?" + "a" * length)
    records = [PAGES[0], long, *PAGES[2:]]
    data = b"".join(gz(*records)) if ending == ".gz" else zst(*records) if ending == ".zst" else b"".join(records)
    reads = read_bytes(tmp_path, data, f"a.warc{ending}")
    if length == 65_000:
        assert shape(reads) == [NAMES[0], "<urn:long>", *NAMES[2:]]
        return
    assert shape(reads) == [NAMES[0], "damaged", *NAMES[2:]]
    assert isinstance(reads[1], Reject)
    assert reads[1].detail == (
        f"the record at byte {reads[1].position:,} is damaged: "
        "its headers are longer than 64 KB: WARC-Target-URI goes on after that"
    )
    assert (reads[1].id, reads[1].url) == ("<urn:long>", None)
    for size in (len(data) // 3, 1000):
        assert read_bytes(tmp_path, data, f"a.warc{ending}", shard_size=size) == reads


def test_what_only_looks_like_long_headers_is_no_record(tmp_path: Path) -> None:
    rubbish = b"WARC/1.0\r\nWARC-Type: response\r\n" + b"and then some words \r\n" * 4000
    reads = read_bytes(tmp_path, PAGES[0] + rubbish + b"".join(PAGES[1:]), "a.warc")
    assert shape(reads) == [NAMES[0], "damaged", *NAMES[1:]]
    assert rejected(reads[1])[1] == f"at byte {len(PAGES[0]):,}: no record follows"


@pytest.mark.parametrize("ends", [b"", b"\r\n", b"\r\n\r\n"])
def test_records_without_the_empty_lines_after_them(tmp_path: Path, ends: bytes) -> None:
    data = b"".join(one.removesuffix(b"\r\n\r\n") + ends for one in PAGES)
    assert shape(read_bytes(tmp_path, data, "a.warc")) == NAMES
    assert shape(read_bytes(tmp_path, b"x" + data, "a.warc")) == ["damaged", *NAMES]


@pytest.mark.parametrize("packing", [streams.Gzip, streams.Zstd])
def test_many_damaged_records_are_each_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packing: Any
) -> None:
    started = []
    begin = packing.records_from

    def count(container: object, place: int) -> object:
        started.append(place)
        return begin(container, place)

    monkeypatch.setattr(packing, "records_from", count)
    headless = [b"WARC/1.0\r\nno end"] * 50
    name, data = ("a.warc.gz", b"".join(gz(*headless))) if packing is streams.Gzip else ("a.zst", zst(*headless))
    assert shape(read_bytes(tmp_path, data, name)) == ["damaged"] * 50
    assert len(started) == 1  # FastWARC would go through the rest of the file each time


def test_damage_of_zstandard_archives(tmp_path: Path) -> None:
    data = zst(*PAGES)
    starts = [read.position for read in read_bytes(tmp_path, data, "a.warc.zst")]
    for place in range(starts[2], starts[3]):
        broken = bytearray(data)
        broken[place] ^= 0x55
        words = shape(read_bytes(tmp_path, bytes(broken), "a.warc.zst"))
        # There is no checksum: a changed letter is not noticed. But never more than this record suffers.
        assert words[:2] == NAMES[:2], place
        assert words[-3:] == NAMES[3:], place
        assert len(words) == 6, place
    assert shape(read_bytes(tmp_path, data[:-9], "a.warc.zst")) == [*NAMES[:5], "damaged"]
    assert shape(read_bytes(tmp_path, data[: starts[3]] + b"junk" + data[starts[3] :], "a.warc.zst"))[3] == "damaged"


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (b"", "the file is empty"),
        (b"<html>no archive</html>" * 9, "the file does not begin with a record; is it a WARC archive?"),
        (gzip.compress(b"text " * 9, mtime=0), "the file does not begin with a record; is it a WARC archive?"),
        (b"\x1f\x8b", "the file does not begin with a record; is it a WARC archive?"),
    ],
)
@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc", "a.warc.zst"])
def test_no_archive_at_all(tmp_path: Path, data: bytes, detail: str, name: str) -> None:
    (read,) = read_bytes(tmp_path, data, name)
    assert rejected(read) == ("damaged", detail)


def test_vanished_archive_is_unreadable(tmp_path: Path) -> None:
    (read,) = read_slice(Slice("warc", str(tmp_path / "gone.warc"), 0, 10))
    assert rejected(read) == ("unreadable", f"{tmp_path}/gone.warc: cannot be read: No such file or directory")


# Memory

MEASURE = """
import resource, sys
from mainmatter.corpus.readers import find_shards, read_slice
from mainmatter.corpus.readers.streams import stream_io
from mainmatter.limits import Limits
words = []
def read(path):
    ((one,),) = find_shards([path])
    return [getattr(one, "reason", "page") for one in read_slice(one, Limits(size=1_000_000))]
read(sys.argv[2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
words = read(sys.argv[1])
print(*words, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize("broken", [False, True])
def test_record_of_100_megabytes_takes_no_memory(tmp_path: Path, broken: bool) -> None:
    size = 100_000_000
    start = record(http(b""), name="<huge>", length=size + len(http(b""))).removesuffix(b"\r\n\r\n")
    pack = zlib.compressobj(1, wbits=31)
    parts = [pack.compress(start)]
    zeros = bytes(10_000_000)
    parts += [pack.compress(zeros) for _ in range(10)]
    parts += [pack.compress(b"\r\n\r\n"), pack.flush()]
    huge = b"".join(parts)
    path, small = tmp_path / "huge.warc.gz", tmp_path / "small.warc.gz"
    path.write_bytes(MEMBERS[0] + (huge[:-30] if broken else huge) + MEMBERS[1])
    small.write_bytes(MEMBERS[0] + MEMBERS[1][:-3])
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path), str(small)], capture_output=True, text=True, check=True
    )
    *words, megabytes = run.stdout.split()
    assert words == ["page", "damaged" if broken else "too-large", "page"]
    assert int(megabytes) < 20
