"""A slice of an input to its pages: one door to all readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mainmatter.corpus import storage
from mainmatter.corpus.readers.files import read_files, skip_links
from mainmatter.corpus.readers.jsonl import read_jsonl
from mainmatter.corpus.readers.lists import read_other_lines
from mainmatter.corpus.readers.parquet import read_parquet
from mainmatter.corpus.readers.streams import archive_iterator, stream_io
from mainmatter.corpus.readers.urls import DEFAULT_RULES, FetchRules, RobotsRules, read_urls
from mainmatter.corpus.readers.warc import read_warc
from mainmatter.corpus.records import Reject
from mainmatter.errors import InputError
from mainmatter.inputs.fetch import AddressRefused
from mainmatter.limits import DEFAULT_LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mainmatter.corpus.records import Read, Slice
    from mainmatter.limits import Limits

_READERS = {
    "warc": read_warc,
    "wet": read_warc,
    "files": read_files,
    "links": skip_links,
    "jsonl": read_jsonl,
    "parquet": read_parquet,
    "archives": read_other_lines,
}


def read_slice(
    one: Slice, limits: Limits = DEFAULT_LIMITS, start: int | None = None, *, fetch_rules: FetchRules = DEFAULT_RULES
) -> Iterator[Read]:
    """Read what begins in a slice, in the order of positions, which only grow.

    What is damaged, too large or no page is a `Reject`; an input that is gone, or that we may not read, is one too.

    Args:
        one: the slice.
        limits: how large a page may be; no more than that, and a little, is held in memory.
        start: leave out what begins before that position. To go on after what was given last: its position + 1.
        fetch_rules: how the pages of a list of URLs are fetched.

    Raises:
        MissingExtra: the reader needs a package that is not installed.
        InputError, OSError: the storage gives no answer; later it may.
    """
    place = one.start if start is None else max(one.start, start)
    last = place - 1
    reads = read_urls(one, limits, place, fetch_rules) if one.kind == "urls" else _READERS[one.kind](one, limits, place)
    try:
        for read in reads:
            last = read.position
            yield read
    except (InputError, OSError) as error:
        # Of what is missing or forbidden, asking again would give the same answer.
        final = FileNotFoundError | PermissionError | AddressRefused
        is_final = any(isinstance(why, final) for why in (error, error.__cause__))
        if storage.is_remote(one.path) and not is_final:
            raise
        text = str(error)
        yield Reject("unreadable", text if one.path in text else f"{one.path}: {text}", one.path, last + 1)


def check_readers(slices: Iterable[Slice], *, robots: bool = False) -> None:
    """Make sure that the packages are there which reading some slices needs, as far as names tell.

    Planning has opened tables, lists of archives and remote storage, and so has needed the packages of those.

    Args:
        slices: what is to be read.
        robots: whether robots.txt is asked for, before URLs of a list are fetched.

    Raises:
        MissingExtra: a package is not installed.
    """
    for one in slices:
        if one.kind in ("warc", "wet"):
            archive_iterator()
        if any(name.lower().endswith(".zst") for name in (one.path, *one.files)):
            stream_io()
        if one.kind == "urls" and robots:
            RobotsRules()
