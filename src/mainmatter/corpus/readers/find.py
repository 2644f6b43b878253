"""What users name to the slices that can be read each by itself, and those to shards of about one size."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mainmatter.corpus.folder import ABOUT, HUB_FILE, NEW, PLAN, REJECTS, RUN, SUMMARY, old_name
from mainmatter.corpus.readers import lists, urls
from mainmatter.corpus.readers.fields import FieldNames
from mainmatter.corpus.readers.files import looks_like_page, printable
from mainmatter.corpus.readers.jsonl import can_be_split
from mainmatter.corpus.readers.kinds import ending, kind_of_name, without_packing
from mainmatter.corpus.readers.lines import read_head
from mainmatter.corpus.readers.parquet import find_row_groups
from mainmatter.corpus.readers.streams import container_of, is_packed_whole
from mainmatter.corpus.records import Slice
from mainmatter.corpus.storage import (
    NOWHERE,
    Facts,
    exists,
    facts,
    is_folder,
    is_special,
    join,
    list_files,
    open_input,
)
from mainmatter.errors import InputError
from mainmatter.html.sniff import SNIFFED, begins_as_json, what_else
from mainmatter.inputs.fetch import is_url
from mainmatter.inputs.paths import (
    DUMP_ENDINGS,
    FOLLOW,
    OTHER_ENDINGS,
    PAGE_ENDINGS,
    STANDARD_INPUT,
)
from mainmatter.limits import MEGABYTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mainmatter.corpus.records import SourceKind


SHARD_SIZE = 64 * MEGABYTE
_MANY_SHARDS = 20_000  # from here on (1.28 TB) shards grow with the input
_LARGEST_SHARD = 1500 * MEGABYTE  # an archive of Common Crawl is one; a worker holds the part that comes of it
_URLS = 100  # in a slice: each takes seconds
_FILES = 10_000  # in a slice, however small they are
_OTHER_WEIGHT = 200_000  # bytes at most, of a file that may be no page: of most, little is read
_LOOKED_AT = 1000  # files of a folder that has no other pages
_PAGES = PAGE_ENDINGS | DUMP_ENDINGS
_KNOWN = "archives (.warc, .wet), .jsonl, .parquet, lists of URLs (.urls), pages and dumps"

_Weighed = tuple[Slice, int]  # a slice, and how many bytes it takes about


@dataclass(frozen=True, slots=True)
class _Search:
    """What is wanted of planning, and what was found to be wrong with tables, which whoever reads them tells."""

    shard_size: int
    fields: FieldNames = FieldNames()  # noqa: RUF009 - it cannot be changed
    archives_at: str = ""
    follow_links: bool = False
    problems: list[InputError] = field(default_factory=list)

    def slice(self, kind: SourceKind, path: str, start: int, end: int) -> Slice:
        """A slice of an input that may have fields."""
        html, url, id_ = self.fields if kind in ("jsonl", "parquet") else FieldNames()
        return Slice(kind, path, start, end, html_field=html, url_field=url, id_field=id_)


def find_shards(
    inputs: Sequence[str],
    shard_size: int = SHARD_SIZE,
    fields: FieldNames = FieldNames(),  # noqa: B008 - it cannot be changed
    archives_at: str = "",
    *,
    follow_links: bool = False,
) -> list[list[Slice]]:
    """Plan the reading of inputs: shards of slices, the same for the same inputs, however many read them.

    Large archives, JSONL and Parquet files are split into ranges, and what is small is put together. JSONL files that
    are packed, arrays, and archives that are packed as one piece cannot be split. An input that is named twice is read
    once.

    Args:
        inputs: files, folders and URLs, here or anywhere that fsspec reaches. A folder stands for the pages, dumps,
            archives, JSONL, Parquet files and lists of URLs (.urls) below it, but not in folders whose name begins
            with a dot; of a corpus that `build_corpus` wrote, for its parts. A file may have any name: without a known
            ending its content tells what it is. A text file is a list of URLs if more than half of the lines of its
            beginning are, and a list of archives, as a file that ends in .paths is, if so many name an archive, JSONL
            or Parquet. The URL of an archive (https://.../a.warc.gz) is read in ranges; any other URL is a page to
            fetch.
            In a folder, files whose ending tells nothing are in the plan, too: those that begin as HTML does are
            pages, and others are skipped when they are read.
        shard_size: about how many bytes, as they lie in the files, make a shard.
        fields: the fields of JSONL and Parquet that hold the page, its URL and its id, where they have other names
            than the usual ones (fields.py).
        archives_at: the folder, bucket or site that relative names in lists of archives are relative to; by default
            the list's own folder, or one above it.
        follow_links: whether to read links to files that are in a folder; without it, they are skipped when it is read.

    Raises:
        InputError: an input does not exist, or is nothing that can be read, or all of them are tables without a column
            for the page; one such table among others is a reject when it is read.
        MissingExtra: it needs a package that is not installed.
    """
    if shard_size < 1:
        raise InputError(f"a shard's size must be at least 1 byte, not {shard_size}")
    shards: list[list[Slice]] = []
    weight = 0
    wanted = _Search(shard_size, fields, archives_at, follow_links)
    for name in dict.fromkeys(inputs):
        for one, size in _find(name, wanted):
            if not shards or weight + size > shard_size:
                shards.append([])
                weight = 0
            shards[-1].append(one)
            weight += size
    if wanted.problems and len(wanted.problems) == sum(map(len, shards)):
        raise wanted.problems[0]
    return shards


def choose_shard_size(total: int) -> int:
    """How large shards are if nobody says: larger for more input than can be handled in small pieces.

    Args:
        total: the size of all input, in bytes.
    """
    return max(SHARD_SIZE, min(_LARGEST_SHARD, -(-total // _MANY_SHARDS)))


def input_facts(inputs: Sequence[str], archives_at: str = "") -> list[Facts]:
    """What tells whether inputs are still the same: path, size, and a date, ETag or digest of those.

    Of a page to fetch, nothing but its URL is known before.

    Raises:
        InputError: an input does not exist.
    """
    return [_facts_of(name, archives_at) for name in dict.fromkeys(inputs)]


def _facts_of(name: str, archives_at: str) -> Facts:
    _check(name)
    if _is_page_to_fetch(name):
        return Facts(name, 0, "")
    if not is_folder(name):
        return lists.read_list(name, archives_at).facts() if _kind_of(name) == "archives" else facts(name)
    digest, size = hashlib.sha256(), 0
    for relative, one in list_files(name):
        digest.update(f"{printable(relative)}\0{one.size}\0{one.stamp}\0".encode())
        size += one.size
    return Facts(name, size, digest.hexdigest())


def _check(name: str) -> None:
    """Make sure that an input is there, if that can be told without fetching it."""
    if not name:  # as a path that would be the current folder
        raise InputError("the name of an input is empty; name a file, a folder or a URL")
    if name == STANDARD_INPUT:
        raise InputError("-: standard input cannot be read in parts; write it to a file first")
    if _is_page_to_fetch(name):
        return
    if not exists(name):
        raise InputError(f"{name}: no such file or folder")
    if is_special(name):
        raise InputError(f"{name}: is not a regular file, so it cannot be read in parts; write it to a file first")


def _find(name: str, wanted: _Search) -> Iterator[_Weighed]:
    _check(name)
    if _is_page_to_fetch(name):
        yield Slice("urls", name, 0, 1), wanted.shard_size
    elif is_folder(name):
        yield from _find_in_folder(name, wanted)
    elif (kind := _kind_of(name)) == "files":
        yield Slice("files", "", 0, 1, (name,)), facts(name).size
    elif kind == "archives":
        yield from _find_in_list(name, wanted)
    else:
        yield from _split(kind, name, facts(name).size, wanted)


def _is_page_to_fetch(name: str) -> bool:
    return is_url(name) and kind_of_name(name) in (None, "files")


def _kind_of(name: str) -> SourceKind:
    """What a file that was named itself is."""
    kind = kind_of_name(name)
    if kind == "urls" and lists.is_list_of_archives(name):
        return "archives"
    return kind or _kind_of_content(name)


def _kind_of_content(name: str) -> SourceKind:
    """What a file is by how it begins."""
    head = read_head(name, 4096)
    if head.startswith(b"WARC/"):
        return "warc"
    if head.startswith(b"PAR1"):
        return "parquet"
    if begins_as_json(head) and ending(without_packing(name)) not in DUMP_ENDINGS:
        return "jsonl"
    if words := what_else(head, is_text=True):
        raise InputError(f"{name}: is {words}; mainmatter reads {_KNOWN}, and lists of archives (.paths)")
    if lists.is_list_of_archives(name):
        return "archives"
    return "urls" if urls.is_list_of_urls(name) else "files"


def _find_in_list(name: str, wanted: _Search) -> Iterator[_Weighed]:
    """The archives of a list, after its lines that name none."""
    found = lists.read_list(name, wanted.archives_at)
    if found.has_others:
        yield Slice("archives", name, 0, found.lines), 0
    for path in found.archives:
        kind = kind_of_name(path)
        assert kind is not None  # else the list would not have it
        yield from _split(kind, path, found.size(path), wanted)


def _find_in_folder(folder: str, wanted: _Search) -> Iterator[_Weighed]:
    """The pages first, then what may be pages and is skipped if it is not, then the other files, each sorted."""
    pages: list[tuple[str, int]] = []
    perhaps: list[tuple[str, int]] = []
    others: list[tuple[SourceKind, str, int]] = []
    links = 0
    for relative, one in without_run_files(folder, list_files(folder)):
        if one.is_link and not wanted.follow_links:
            links += 1
            continue
        kind = kind_of_name(relative)
        if kind == "files" or one.stamp == NOWHERE or ending(without_packing(relative)) in DUMP_ENDINGS:
            pages.append((relative, one.size))
        elif kind is not None and kind != "archives":  # a list would name archives of the folder once more
            others.append((kind, join(folder, *relative.split("/")), one.size))
        else:
            perhaps.append((relative, min(one.size, _OTHER_WEIGHT)))
    if not pages and not others and not _has_page(folder, perhaps):
        raise InputError(
            f"{folder}: nothing to read there; looked for {_KNOWN}: {' '.join(sorted(_PAGES))}, and for HTML in files "
            f"without a known ending{f'; there are links to files, and {FOLLOW}' if links else ''}"
        )
    yield from _group_pages(folder, [*pages, *perhaps], wanted.shard_size)
    if links:
        first = len(pages) + len(perhaps)
        yield Slice("links", folder, first, first + links), 0
    for kind, path, size in others:
        yield from _split(kind, path, size, wanted)


def _has_page(folder: str, files: Sequence[tuple[str, int]]) -> bool:
    """Whether there is a page among files whose endings do not tell; of many, only some are looked at."""
    unknown = [name for name, _ in files if ending(without_packing(name)) not in OTHER_ENDINGS]
    for name in unknown[:_LOOKED_AT]:
        try:
            head = read_head(join(folder, *name.split("/")), SNIFFED)
        except (InputError, OSError):  # told when it is read
            return True
        if looks_like_page(head):
            return True
    return len(unknown) > _LOOKED_AT


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


def _split(kind: SourceKind, path: str, size: int | None, wanted: _Search) -> Iterator[_Weighed]:
    """The parts of a file; it stays whole if its size is not known."""
    if kind == "parquet":
        yield from _split_rows(path, wanted)
    elif kind == "urls" and lists.is_list_of_archives(path):
        yield from _find_in_list(path, wanted)
    elif kind == "urls":
        lines = urls.count_lines(path)
        for start in range(0, lines, _URLS):
            yield Slice("urls", path, start, min(start + _URLS, lines)), wanted.shard_size
    elif size is None:
        yield wanted.slice(kind, path, 0, sys.maxsize), wanted.shard_size
    else:
        yield from _split_bytes(kind, path, size, wanted)


def _split_bytes(kind: SourceKind, path: str, size: int, wanted: _Search) -> Iterator[_Weighed]:
    """Ranges of nearly equal length. Even an empty file has one: whoever reads it says that it is empty."""
    parts = max(1, -(-size // wanted.shard_size))
    if parts > 1 and not _can_be_split(kind, path):
        parts = 1
    for i in range(parts):
        start, end = size * i // parts, size * (i + 1) // parts
        yield wanted.slice(kind, path, start, end), end - start


def _can_be_split(kind: SourceKind, path: str) -> bool:
    with open_input(path) as file:
        if kind == "jsonl":
            return can_be_split(file)
        try:
            return not is_packed_whole(container_of(file, path))
        except InputError:  # told when it is read
            return False


def _split_rows(path: str, wanted: _Search) -> Iterator[_Weighed]:
    try:
        groups = find_row_groups(path, wanted.fields)
    except InputError as error:
        wanted.problems.append(error)
        groups = [(1, 0)]
    start = end = weight = 0
    for rows, size in groups:
        if end > start and weight + size > wanted.shard_size:
            yield wanted.slice("parquet", path, start, end), weight
            start, weight = end, 0
        end += rows
        weight += size
    if end > start:
        yield wanted.slice("parquet", path, start, end), weight


def without_run_files(folder: str, files: list[tuple[str, Facts]]) -> list[tuple[str, Facts]]:
    """The files below a folder, as `storage.list_files` gives them, without the rejects and notes of corpora there.

    Raises:
        InputError: a corpus there is not complete; pages would be missing without a word.
    """
    files = [one for one in files if f"/{NEW}/" not in f"/{one[0]}"]  # of a run that replaces a corpus
    names = {name for name, _ in files}
    no_pages: set[str] = set()
    no_folders: list[str] = []
    for plan, summary, folders in (
        (PLAN, SUMMARY, (RUN, ABOUT)),
        (old_name(PLAN), old_name(SUMMARY), (old_name(RUN), old_name(REJECTS))),
    ):
        for root in sorted(name.removesuffix(plan) for name in names if f"/{name}".endswith(f"/{plan}")):
            if f"{root}{summary}" not in names:
                where = f"{folder.rstrip('/')}/{root}".rstrip("/")
                raise InputError(
                    f"{where}: the corpus in it is not complete; run the command that makes it again to resume it, or "
                    "name its parts (part-*) one by one"
                )
            no_pages.update((f"{root}{summary}", f"{root}{HUB_FILE}"))
            no_folders += [f"{root}{name}/" for name in folders]
    return [one for one in files if one[0] not in no_pages and not one[0].startswith(tuple(no_folders))]
