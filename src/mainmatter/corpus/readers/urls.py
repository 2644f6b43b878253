"""Lists of URLs: each is fetched."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, cast

from mainmatter.corpus.readers.files import ending
from mainmatter.corpus.readers.times import as_time
from mainmatter.corpus.records import Record, Reject, Skipped
from mainmatter.corpus.robots import RobotsRules
from mainmatter.corpus.storage import open_input
from mainmatter.errors import FetchError, PageTooLarge
from mainmatter.inputs.fetch import fetch, is_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mainmatter.corpus.records import Read, Slice
    from mainmatter.limits import Limits

LIST_ENDING = ".urls"
REPEATED = "repeated-url"  # as what a line is counted that gives a URL again
_LONGEST = 10_000  # bytes of a line; servers take less


def is_list_of_urls(path: str) -> bool:
    """Whether a file is a list of URLs: it ends in .urls, or more than half of the lines of its beginning are URLs.

    Empty lines and comments do not count. So a list with a misspelt line is still one, whose reader names the line; a
    text that gives a URL below each of its sentences or titles is none.
    """
    if ending(path) == LIST_ENDING:
        return True
    with open_input(path) as file:
        head = file.read(20_000)
    lines = head.decode("utf-8-sig", "replace").splitlines()
    if len(head) == 20_000:
        lines = lines[:-1]  # it may be cut
    told = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return 2 * sum(is_url(line) and len(line.split()) == 1 for line in told) > len(told)


def count_lines(path: str) -> int:
    """How many lines a list has."""
    return sum(1 for _ in _lines(path))


def read_urls(one: Slice, limits: Limits, start: int, robots: bool = False) -> Iterator[Read]:
    """Fetch the URLs of the lines from a number on; empty lines and those that begin with # are left out.

    A URL that an earlier line of the list gives, too, is not fetched again but skipped, so that ids are unique. A slice
    whose path is itself the URL of a page stands for that page. With `robots`, what a site's robots.txt forbids is not
    fetched.

    Raises:
        MissingExtra: protego, which reads robots.txt, is not installed.
    """
    rules = _rules() if robots else None
    if is_page_url(one.path):
        if start < one.end:
            yield _fetch(one.path, one.path, 0, limits, rules)
        return
    lines = list(islice(map(str.strip, _lines(one.path)), one.start, one.end))
    seen = _given_before(one, lines)
    for number, url in enumerate(lines, one.start):
        is_repeated = url in seen
        if _can_be_fetched(url):
            seen.add(url)
        if number >= start and url and not url.startswith("#"):
            if is_repeated:
                yield Skipped(REPEATED, one.path, number)
            else:
                yield _fetch(url, one.path, number, limits, rules)


def _given_before(one: Slice, lines: list[str]) -> set[str]:
    """Those URLs of a slice's lines that the list gives before the slice; a list may be too long to be remembered."""
    urls = set(filter(_can_be_fetched, lines))
    return {line for line in map(str.strip, islice(_lines(one.path), one.start)) if line in urls}


def is_page_url(path: str) -> bool:
    """Whether a path is the URL of a page, not that of a list of URLs."""
    return is_url(path) and ending(path.partition("?")[0]) != LIST_ENDING


@cache
def _rules() -> RobotsRules:
    """One for a process, so that each site is asked once, however many slices its pages are in."""
    return RobotsRules()


def _can_be_fetched(url: str) -> bool:
    return is_url(url) and len(url.encode("utf-8", "replace")) < _LONGEST


def _fetch(url: str, source: str, number: int, limits: Limits, rules: RobotsRules | None) -> Read:
    if not _can_be_fetched(url):
        return Reject("damaged", f"line {number + 1} is no URL: {url[:100]}", source, number)
    why_not = rules.why_not(url) if rules else None
    if why_not is not None:
        return Reject("robots", why_not, source, number, url, url)
    try:
        time = as_time(datetime.now(UTC).replace(microsecond=0))
        return Record(fetch(url, limits=limits), source, number, time)
    except FetchError as error:
        return Reject("fetch", str(error), source, number, url, url)
    except PageTooLarge as error:
        return Reject("too-large", str(error), source, number, url, url)


def _lines(path: str) -> Iterator[str]:
    """The lines of a list; of one that is too long for a URL the beginning."""
    with open_input(path) as raw:
        file = io.BufferedReader(cast("io.RawIOBase", raw), 1_000_000)
        while line := file.readline(_LONGEST):
            while not line.endswith(b"\n") and (more := file.readline(_LONGEST)):
                line = line[:_LONGEST] + more[-1:]
            yield line.decode("utf-8-sig" if line.startswith(b"\xef\xbb\xbf") else "utf-8", "replace")
