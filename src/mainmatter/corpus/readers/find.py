"""What users name to the slices that can be read each by itself, and those to shards of about one size."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, BinaryIO, cast

from mainmatter.corpus.readers import urls
from mainmatter.corpus.readers.containers import container_of, is_packed_whole
from mainmatter.corpus.readers.files import ending, printable, without_packing
from mainmatter.corpus.readers.jsonl import is_packed
from mainmatter.corpus.readers.parquet import find_row_groups
from mainmatter.corpus.readers.streams import GZIP_MAGIC, ZSTD_MAGIC, Unpacked, read_fully
from mainmatter.corpus.records import Slice
from mainmatter.corpus.storage import Facts, exists, facts, is_folder, is_special, join, list_files, open_input
from mainmatter.errors import InputError
from mainmatter.fetch import is_url
from mainmatter.inputs import DUMP_ENDINGS, MAGIC_NUMBERS, PAGE_ENDINGS
from mainmatter.limits import MEGABYTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mainmatter.corpus.records import SourceKind

SHARD_SIZE = 64 * MEGABYTE
_URLS = 100  # in a slice: each takes seconds
_FILES = 10_000  # in a slice, however small they are
_KINDS: dict[str, SourceKind] = {
    ".warc": "warc",
    ".wet": "wet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    urls.LIST_ENDING: "urls",
}
_PACKABLE = frozenset((".warc", ".wet", ".jsonl", ".ndjson"))
_PAGES = PAGE_ENDINGS | DUMP_ENDINGS
_KNOWN = "archives (.warc, .wet), .jsonl, .parquet, lists of URLs (.urls), pages and dumps"

_Weighed = tuple[Slice, int]  # a slice, and how many bytes it takes about


def find_shards(inputs: Sequence[str], shard_size: int = SHARD_SIZE) -> list[list[Slice]]:
    """Plan the reading of inputs: shards of slices, the same for the same inputs, however many read them.

    Large archives, JSONL and Parquet files are split into ranges, and what is small is put together. JSONL files that
    are packed and archives that are packed as one piece cannot be split. An input that is named twice is read once.

    Args:
        inputs: files, folders and URLs, here or anywhere that fsspec reaches. A folder stands for the pages, dumps,
            archives, JSONL, Parquet files and lists of URLs (.urls) below it, but not in folders whose name begins
            with a dot. A file may have any name: without a known ending its content tells what it is. A text file
            is a list of URLs if all lines of its beginning are. The URL of an archive (https://.../a.warc.gz) is
            read in ranges; any other URL is a page to fetch.
        shard_size: about how many bytes, as they lie in the files, make a shard.

    Raises:
        InputError: an input does not exist, or is nothing that can be read.
        MissingExtra: it needs a package that is not installed.
    """
    if shard_size < 1:
        raise InputError(f"a shard's size must be at least 1 byte, not {shard_size}")
    shards: list[list[Slice]] = []
    weight = 0
    for name in dict.fromkeys(inputs):
        for one, size in _find(name, shard_size):
            if not shards or weight + size > shard_size:
                shards.append([])
                weight = 0
            shards[-1].append(one)
            weight += size
    return shards


def input_facts(inputs: Sequence[str]) -> list[Facts]:
    """What tells whether inputs are still the same: path, size, and a date, ETag or digest of those.

    Of a page to fetch, nothing but its URL is known before.

    Raises:
        InputError: an input does not exist.
    """
    return [_facts_of(name) for name in dict.fromkeys(inputs)]


def _facts_of(name: str) -> Facts:
    if _is_page_to_fetch(name):
        return Facts(name, 0, "")
    if not is_folder(name):
        return facts(name)
    digest, size = hashlib.sha256(), 0
    for relative, one in list_files(name):
        digest.update(f"{printable(relative)}\0{one.size}\0{one.stamp}\0".encode())
        size += one.size
    return Facts(name, size, digest.hexdigest())


def _find(name: str, shard_size: int) -> Iterator[_Weighed]:
    if not name:  # as a path that would be the current folder
        raise InputError("an input's name is empty; name a file, a folder or a URL")
    if _is_page_to_fetch(name):
        yield Slice("urls", name, 0, 1), shard_size
    elif is_folder(name):
        yield from _find_in_folder(name, shard_size)
    elif not exists(name):
        raise InputError(f"{name}: no such file or folder")
    elif is_special(name):
        raise InputError(f"{name}: is no file, so it cannot be read in parts; write it to a file first")
    else:
        kind = _kind_of_name(name) or _kind_of_content(name)
        if kind == "files":
            yield Slice("files", "", 0, 1, (name,)), facts(name).size
        else:
            yield from _split(kind, name, shard_size)


def _is_page_to_fetch(name: str) -> bool:
    return is_url(name) and _kind_of_name(name) in (None, "files")


def _kind_of_name(name: str) -> SourceKind | None:
    """What a file is by its ending; None if that does not tell. Text files may be lists of URLs."""
    if is_url(name):
        name = name.partition("?")[0].partition("#")[0]
    plain = without_packing(name)
    last = ending(plain)
    if last in _KINDS and (plain == name or last in _PACKABLE):
        return _KINDS[last]
    return "files" if last in PAGE_ENDINGS else None


def _kind_of_content(name: str) -> SourceKind:
    """What a file is by how it begins."""
    with open_input(name) as file:
        head = read_fully(file, 4096)
        if head.startswith((GZIP_MAGIC, ZSTD_MAGIC)):
            head = read_fully(cast("BinaryIO", Unpacked(file)), 4096)
    if head.startswith(b"WARC/"):
        return "warc"
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.lstrip().startswith(b'{"') and ending(without_packing(name)) not in DUMP_ENDINGS:
        return "jsonl"
    for number, words in MAGIC_NUMBERS.items():
        if head.startswith(number):
            raise InputError(f"{name}: is {words}; mainmatter reads {_KNOWN}")
    return "urls" if urls.is_list_of_urls(name) else "files"


def _find_in_folder(folder: str, shard_size: int) -> Iterator[_Weighed]:
    """The pages first, then the other files, each sorted."""
    pages: list[tuple[str, int]] = []
    others: list[tuple[SourceKind, str]] = []
    for relative, one in list_files(folder):
        kind = _kind_of_name(relative)
        if kind not in (None, "files"):
            others.append((kind, join(folder, *relative.split("/"))))
        elif ending(without_packing(relative)) in _PAGES:
            pages.append((relative, one.size))
    if not pages and not others:
        raise InputError(f"{folder}: holds nothing to read; looked for {_KNOWN}: {' '.join(sorted(_PAGES))}")
    yield from _group_pages(folder, pages, shard_size)
    for kind, path in others:
        yield from _split(kind, path, shard_size)


def _group_pages(folder: str, pages: Iterable[tuple[str, int]], shard_size: int) -> Iterator[_Weighed]:
    group: list[str] = []
    start = weight = 0
    for name, size in pages:
        if group and (weight + size > shard_size or len(group) >= _FILES):
            yield Slice("files", folder, start, start + len(group), tuple(group)), weight
            start, group, weight = start + len(group), [], 0
        group.append(name)
        weight += size
    if group:
        yield Slice("files", folder, start, start + len(group), tuple(group)), weight


def _split(kind: SourceKind, path: str, shard_size: int) -> Iterator[_Weighed]:
    if kind == "parquet":
        yield from _split_rows(path, shard_size)
    elif kind == "urls":
        lines = urls.count_lines(path)
        for start in range(0, lines, _URLS):
            yield Slice("urls", path, start, min(start + _URLS, lines)), shard_size
    else:
        yield from _split_bytes(kind, path, shard_size)


def _split_bytes(kind: SourceKind, path: str, shard_size: int) -> Iterator[_Weighed]:
    """Ranges of nearly equal length. Even an empty file has one: whoever reads it says that it is empty."""
    size = facts(path).size
    parts = max(1, -(-size // shard_size))
    if parts > 1 and not _can_be_split(kind, path):
        parts = 1
    for i in range(parts):
        start, end = size * i // parts, size * (i + 1) // parts
        yield Slice(kind, path, start, end), end - start


def _can_be_split(kind: SourceKind, path: str) -> bool:
    with open_input(path) as file:
        if kind == "jsonl":
            return not is_packed(file)
        try:
            return not is_packed_whole(container_of(file, path))
        except InputError:  # told when it is read
            return False


def _split_rows(path: str, shard_size: int) -> Iterator[_Weighed]:
    start = end = weight = 0
    for rows, size in find_row_groups(path):
        if end > start and weight + size > shard_size:
            yield Slice("parquet", path, start, end), weight
            start, weight = end, 0
        end += rows
        weight += size
    if end > start:
        yield Slice("parquet", path, start, end), weight
