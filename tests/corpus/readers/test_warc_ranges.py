"""Archives in ranges: every record once, in whatever ranges, from whatever position on."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl_archives import (
    LIMITS,
    MEMBERS,
    NAMES,
    PAGES,
    gz,
    http,
    page,
    read_all,
    read_bytes,
    record,
    rejected,
    shape,
    zst,
)
from mainmatter.corpus.readers import find_shards, read_slice
from mainmatter.corpus.readers.streams import stream_io
from mainmatter.corpus.records import Record, Slice

# Ranges


def test_several_records_in_a_member_have_positions_of_their_own(tmp_path: Path) -> None:
    data = b"".join([MEMBERS[0], gzip.compress(PAGES[1] + PAGES[2], mtime=0), MEMBERS[3]])
    reads = read_bytes(tmp_path, data)
    assert shape(reads) == NAMES[:4]
    assert reads[2].position == reads[1].position + 1
    one = Slice("warc", str(tmp_path / "a.warc.gz"), 0, len(data))
    assert shape(list(read_slice(one, LIMITS, reads[1].position + 1))) == NAMES[2:4]


@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc.zst"])
def test_archive_packed_as_one_piece_is_one_slice(tmp_path: Path, name: str) -> None:
    whole = b"".join(PAGES)
    data = gzip.compress(whole, mtime=0) if name.endswith("gz") else zst(whole)
    path = tmp_path / name
    path.write_bytes(data)
    ((one,),) = find_shards([str(path)], 100)
    reads = list(read_slice(one, LIMITS))
    assert shape(reads) == NAMES
    assert [read.position for read in reads] == [len(b"".join(PAGES[:i])) for i in range(6)]
    assert shape(list(read_slice(one, LIMITS, reads[2].position + 1))) == NAMES[3:]
    path.write_bytes(data[: len(data) * 2 // 3])
    broken = list(read_slice(one, LIMITS))
    assert shape(broken)[-1] == "damaged"
    assert shape(broken)[:-1] == NAMES[: len(broken) - 1]


def test_members_that_are_no_records(tmp_path: Path) -> None:
    whole = b"".join(PAGES)
    data = b"".join(gzip.compress(whole[i : i + 100], mtime=0) for i in range(0, len(whole), 100))
    (tmp_path / "a.warc.gz").write_bytes(data)
    assert len(find_shards([str(tmp_path / "a.warc.gz")], 100)) == 1
    assert shape(read_all(tmp_path / "a.warc.gz")) == NAMES


BROKEN = gzip.compress(record(http(b"<p>q" * 30), length=50), mtime=0)
ARCHIVES = {
    "gz": ("a.warc.gz", b"".join(MEMBERS)),
    "plain": ("a.warc", b"".join(PAGES)),
    "zst": ("a.warc.zst", zst(*PAGES)),
    "damaged gz": (
        "b.warc.gz",
        b"".join(
            [b"??", MEMBERS[0], BROKEN, b"xx", MEMBERS[1], MEMBERS[2][:-30], MEMBERS[3], BROKEN, MEMBERS[4], b"!"]
        ),
    ),
    "damaged plain": ("b.warc", b"".join([PAGES[0], b"garbage", PAGES[1], record(b"x" * 40, length=900), *PAGES[2:4]])),
    "damaged zst": ("b.warc.zst", zst(*PAGES[:2])[:-20] + zst(*PAGES[2:5]) + b"junk" + zst(PAGES[5])),
    "damage at the end": ("c.warc.gz", b"".join(MEMBERS)[:-40]),
}


@pytest.mark.parametrize("case", ARCHIVES)
@given(data=st.data())
def test_ranges_give_every_record_once(
    tmp_path_factory: pytest.TempPathFactory, case: str, data: st.DataObject
) -> None:
    name, content = ARCHIVES[case]
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(content)
    expected = read_all(path)
    shard_size = data.draw(st.integers(1, len(content) + 5))
    assert read_all(path, shard_size) == expected


@pytest.mark.parametrize("case", ARCHIVES)
def test_every_range_boundary(tmp_path: Path, case: str) -> None:
    name, content = ARCHIVES[case]
    path = str(tmp_path / name)
    Path(path).write_bytes(content)
    expected = read_all(path)
    for cut in range(1, len(content)):
        parts = Slice("warc", path, 0, cut), Slice("warc", path, cut, len(content))
        assert [read for part in parts for read in read_slice(part, LIMITS)] == expected, cut


@pytest.mark.parametrize("case", ARCHIVES)
def test_reading_goes_on_after_each_position(tmp_path: Path, case: str) -> None:
    name, content = ARCHIVES[case]
    path = str(tmp_path / name)
    Path(path).write_bytes(content)
    for one in (Slice("warc", path, 0, len(content)), Slice("warc", path, 150, len(content) - 90)):
        expected = list(read_slice(one, LIMITS))
        for i, read in enumerate(expected):
            if isinstance(read, Record):
                assert list(read_slice(one, LIMITS, read.position)) == expected[i:]
            assert list(read_slice(one, LIMITS, read.position + 1)) == expected[i + 1 :]


@pytest.mark.parametrize("packed", [False, True])
def test_zstandard_with_a_dictionary(tmp_path: Path, packed: bool) -> None:
    dictionary = stream_io().zstd_train_dictionary_from_samples([page(i) for i in range(300)], 2000)
    path = tmp_path / "a.warc.zst"
    path.write_bytes(zst(*PAGES, dictionary=dictionary, compress_dictionary_frame=packed))
    expected = read_all(path)
    assert shape(expected) == NAMES
    size = path.stat().st_size
    for shard_size in (10, 100, 1000, size - 1):
        assert read_all(path, shard_size) == expected
    without = zst(*PAGES, dictionary=dictionary)[2008:]
    (read,) = read_bytes(tmp_path, without, "b.warc.zst")
    assert rejected(read)[0] == "damaged"


def test_wet_file(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.wet.gz"
    path.write_bytes(b"".join(gz(record(b"", "warcinfo"), record(b"Text", "conversion", media_type="text/plain"))))
    ((one,),) = find_shards([str(path)])
    assert one.kind == "wet"
    assert shape(list(read_slice(one))) == ["warcinfo", "<urn:uuid:1>"]


@pytest.mark.parametrize("name", ["d.warc", "d.warc.gz", "d.warc.zst"])
@given(data=st.data())
def test_whatever_damage_there_is_ranges_agree(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    content = bytearray(b"".join(MEMBERS if name.endswith(".gz") else PAGES) if "zst" not in name else zst(*PAGES))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, min(start + 200, len(content))))
        content[start:end] = data.draw(st.binary(max_size=30))
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(content)
    reads = read_all(path)
    assert read_all(path, data.draw(st.integers(1, len(content) + 5))) == reads
    assert [read.position for read in reads] == sorted({read.position for read in reads})
    one = Slice("warc", str(path), 0, len(content))
    after = data.draw(st.integers(0, len(reads) - 1))
    assert list(read_slice(one, LIMITS, reads[after].position + 1)) == reads[after + 1 :]
