"""Pages and plain-text dumps that are files, in a folder or alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO, cast

from mainmatter.corpus.readers.kinds import are_archives, ending, without_packing
from mainmatter.corpus.readers.lines import names_in
from mainmatter.corpus.readers.streams import GZIP_MAGIC, ZSTD_MAGIC, Unpacked, read_fully
from mainmatter.corpus.records import Record, Reject, Skipped
from mainmatter.corpus.storage import join, open_input
from mainmatter.errors import InputError
from mainmatter.html.sniff import SNIFFED, looks_like_html, what_else
from mainmatter.inputs.paths import DUMP_ENDINGS, OTHER_ENDINGS, PAGE_ENDINGS
from mainmatter.limits import format_size
from mainmatter.records import Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mainmatter.corpus.records import Read, Slice
    from mainmatter.limits import Limits

OTHER_FILE, LINK = "other-file", "link"  # what is skipped in a folder
_PAGES = PAGE_ENDINGS | DUMP_ENDINGS
_COLLECTIONS = frozenset(("a WARC archive", "a Parquet file", "JSON data"))


def read_files(one: Slice, limits: Limits, start: int) -> Iterator[Read]:
    """The files of a slice from a number on, each one page; its id is its path below the folder.

    A slice without a folder is a file that was named itself; that is then its id, too. In a folder, files whose ending
    tells that they are something else are skipped, and so are those whose ending tells nothing, unless they begin as
    HTML does.

    Files that end in .gz or .zst are unpacked.
    """
    for number, name in enumerate(one.files, one.start):
        if number >= start:
            yield _read_file(one.path, name, number, limits)


def skip_links(one: Slice, limits: Limits, start: int) -> Iterator[Read]:  # noqa: ARG001 - as all readers
    """The links of a slice, none of which is followed; there is no more to say of them than that they are there."""
    return (Skipped(LINK, printable(one.path), number) for number in range(max(one.start, start), one.end))


def _read_file(folder: str, name: str, number: int, limits: Limits) -> Read:
    path = join(folder, *name.split("/")) if folder else name
    shown, source = printable(name), printable(folder or name)
    if folder and _ending(name) in OTHER_ENDINGS:
        return Skipped(OTHER_FILE, source, number)
    try:
        with open_input(path) as file:
            if folder and _ending(name) not in _PAGES:
                head = _read_bytes(file, SNIFFED)[0]
                if not looks_like_page(head):
                    return _other_file(head, source, number, shown)
                file.seek(0)
            data, damage = _read_bytes(file, limits.size + 1)
    except (InputError, OSError) as error:
        return Reject("unreadable", printable(str(error)), source, number, shown)
    if is_dump(name) and are_archives(names_in(data)):
        return Reject("not-a-page", "is a list of archives, not a web page; name it as an input", source, number, shown)
    reject = _wrong(data, damage, limits, is_text=is_dump(name))
    if reject is not None:
        return Reject(*reject, source, number, shown)
    page = Page(data, None, shown, format="text" if is_dump(name) else "html")
    return Record(page, source, number)


def looks_like_page(head: bytes) -> bool:
    """Whether a file whose ending does not tell begins as a page does."""
    return what_else(head) is None and looks_like_html(head)


def _other_file(head: bytes, source: str, number: int, name: str) -> Read:
    """A file of a folder that is no page. One that holds pages all the same is no file to skip without a word."""
    words = what_else(head)
    if words in _COLLECTIONS:
        advice = "name it as an input, or give it the right extension, such as .warc.gz, .jsonl or .parquet"
        return Reject("not-a-page", f"is {words}, not a web page; {advice}", source, number, name)
    return Skipped(OTHER_FILE, source, number)


def _read_bytes(file: BinaryIO, most: int) -> tuple[bytes, str]:
    """The beginning of a file, unpacked if it is packed, and why no more of it could be unpacked."""
    head = read_fully(file, 4)
    if not head.startswith((GZIP_MAGIC, ZSTD_MAGIC)):
        return head + read_fully(file, most - len(head)), ""
    unpacked = Unpacked(file)
    return read_fully(cast("BinaryIO", unpacked), most), unpacked.damage


def _wrong(data: bytes, damage: str, limits: Limits, *, is_text: bool) -> tuple[str, str] | None:
    """Why a file is no page: the reason and its words."""
    if damage:
        return "damaged", f"it cannot be unpacked: {damage}"
    if words := what_else(data, is_text=is_text):
        return "not-a-page", f"is {words}, not a web page"
    if len(data) > limits.size:
        return "too-large", f"has more than {format_size(limits.size)}; raise the limit with --max-size"
    return None


def is_dump(name: str) -> bool:
    """Whether a file is a plain-text dump, by its ending."""
    return _ending(name) in DUMP_ENDINGS


def _ending(name: str) -> str:
    return ending(without_packing(name))


def printable(name: str) -> str:
    """A path that can be written as UTF-8; those of other systems may hold any bytes."""
    return os.fsencode(name).decode("utf-8", "replace")
