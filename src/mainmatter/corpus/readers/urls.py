"""Lists of URLs: each is fetched."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from mainmatter.corpus.readers.fields import as_time
from mainmatter.corpus.readers.kinds import kind_of_name
from mainmatter.corpus.readers.lines import LONGEST_LINE, first_names, is_name, read_lines
from mainmatter.corpus.records import Record, Reject, Skipped
from mainmatter.errors import FetchError, MissingExtra, NotAPage, PageTooLarge
from mainmatter.inputs.fetch import fetch, is_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from protego import Protego
    from urllib3 import BaseHTTPResponse, PoolManager

    from mainmatter.corpus.records import Read, Slice
    from mainmatter.limits import Limits


REPEATED = "repeated-url"  # as what a line is counted that gives a URL again


def is_list_of_urls(path: str) -> bool:
    """Whether a file is a list of URLs: it ends in .urls, or more than half of the lines of its beginning are URLs.

    Empty lines and comments do not count. So a list with a misspelt line is still one, whose reader names the line; a
    text that gives a URL below each of its sentences or titles is none.
    """
    if kind_of_name(path) == "urls":
        return True
    names = first_names(path)
    return 2 * sum(is_url(name) and len(name.split()) == 1 for name in names) > len(names)


def count_lines(path: str) -> int:
    """How many lines a list has."""
    return sum(1 for _ in read_lines(path))


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
    lines = list(islice(map(str.strip, read_lines(one.path)), one.start, one.end))
    # Those of these URLs that the list gives before the slice; the list may be too long to be remembered.
    urls = set(filter(_can_be_fetched, lines))
    seen = {line for line in map(str.strip, islice(read_lines(one.path), one.start)) if line in urls}
    for number, url in enumerate(lines, one.start):
        is_repeated = url in seen
        if _can_be_fetched(url):
            seen.add(url)
        if number >= start and is_name(url):
            if is_repeated:
                yield Skipped(REPEATED, one.path, number)
            else:
                yield _fetch(url, one.path, number, limits, rules)


def is_page_url(path: str) -> bool:
    """Whether a path is the URL of a page, not that of a list of URLs."""
    return is_url(path) and kind_of_name(path) != "urls"


@cache
def _rules() -> RobotsRules:
    """One for a process, so that each site is asked once, however many slices its pages are in."""
    return RobotsRules()


def _can_be_fetched(url: str) -> bool:
    return is_url(url) and len(url.encode("utf-8", "replace")) < LONGEST_LINE


def _fetch(url: str, source: str, number: int, limits: Limits, rules: RobotsRules | None) -> Read:
    if not _can_be_fetched(url):
        return Reject("damaged", f"line {number + 1} is not a URL: {url[:100]}", source, number)
    why_not = rules.why_not(url) if rules else None
    if why_not is not None:
        return Reject("robots", why_not, source, number, url, url)
    try:
        time = as_time(datetime.now(UTC).replace(microsecond=0))
        return Record(fetch(url, limits=limits), source, number, time)
    except FetchError as error:
        return Reject("fetch", str(error), source, number, url, url)
    except NotAPage as error:
        return Reject("not-a-page", str(error), source, number, url, url)
    except PageTooLarge as error:
        return Reject("too-large", str(error), source, number, url, url)


AGENT = "mainmatter"  # the name that a robots.txt addresses us by
TIMEOUT = 10.0  # seconds, for connecting and for each read
DEADLINE = 30.0  # seconds, for all of a robots.txt
MAX_SIZE = 512_000  # bytes that are read of one (section 2.5: at least 500 KiB)
REDIRECTS = 5  # section 2.3.1.2: at least five
MOST_SITES = 10_000  # of which rules are remembered
_CHUNK = 65_536


class RobotsRules:
    """The rules of all sites that were asked for, each fetched once. Safe in threads, which wait for each other.

    Args:
        agent: the name that rules are looked up by.
        timeout: how many seconds to wait for a server, at each step.
        deadline: how many seconds a whole robots.txt may take.

    Raises:
        MissingExtra: protego is not installed.
    """

    def __init__(self, agent: str = AGENT, *, timeout: float = TIMEOUT, deadline: float = DEADLINE) -> None:
        import urllib3  # noqa: PLC0415 - most users clean files

        try:
            from protego import Protego  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise MissingExtra("protego", "corpus") from error
        self.agent = agent
        self._deadline = deadline
        self._parse = Protego.parse
        self._http: PoolManager = urllib3.PoolManager(
            headers={"User-Agent": f"{agent}/{version('mainmatter')}", "Accept": "text/plain, */*"},
            retries=urllib3.Retry(total=1, connect=1, read=0, respect_retry_after_header=False),
            timeout=timeout,
        )
        # By site: its rules, or why nothing of it may be fetched.
        self._sites: OrderedDict[str, Protego | str] = OrderedDict()
        self._lock = threading.Lock()

    def allowed(self, url: str) -> bool:
        """Whether an address may be fetched. Asks the site for its rules, once."""
        return self.why_not(url) is None

    def why_not(self, url: str) -> str | None:
        """Why an address may not be fetched; None if it may.

        It may if the site has no rules (its answer is 4xx); it may not if they cannot be had (5xx, no answer): RFC
        9309, section 2.3.1. What is no address of the web is left to whoever fetches it.
        """
        try:
            parts = urlsplit(url)
            site = f"{parts.scheme.lower()}://{parts.netloc.rpartition('@')[2].lower()}"
        except ValueError:
            return None
        if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
            return None
        with self._lock:
            rules = self._sites.get(site)
            if rules is None:
                rules = self._sites[site] = self._read_rules(site)
                if len(self._sites) > MOST_SITES:
                    self._sites.popitem(last=False)
            if isinstance(rules, str):
                return rules
            return None if rules.can_fetch(url, self.agent) else f"{site}/robots.txt disallows it for {self.agent}"

    def _read_rules(self, site: str) -> Protego | str:
        import urllib3  # noqa: PLC0415

        address = f"{site}/robots.txt"
        try:
            for _ in range(1 + REDIRECTS):
                with self._http.request("GET", address, preload_content=False, redirect=False) as response:
                    location = response.get_redirect_location()
                    if not location:
                        return self._rules_of(response, site)
                    address = urljoin(address, location)
        except (urllib3.exceptions.HTTPError, ValueError) as error:  # ValueError: a redirect to no address at all
            return f"{site}/robots.txt cannot be fetched ({type(error).__name__}), so no page of the site may be"
        return self._parse("")  # more redirects than that: as if it had none (section 2.3.1.2)

    def _rules_of(self, response: BaseHTTPResponse, site: str) -> Protego | str:
        if 400 <= response.status < 500:
            return self._parse("")
        if not 200 <= response.status < 300:
            return f"{site}/robots.txt: the server answered {response.status}, so no page of the site may be fetched"
        body = bytearray()
        end = time.monotonic() + self._deadline
        while len(body) < MAX_SIZE and (chunk := response.read1(_CHUNK, decode_content=True)):
            body += chunk
            if time.monotonic() > end:
                return (
                    f"{site}/robots.txt did not arrive within {self._deadline:g} seconds, so no page of the site may "
                    "be fetched"
                )
        if len(body) >= MAX_SIZE:  # the last line may be cut: half of a rule forbids more than the whole
            del body[MAX_SIZE:]
            body = body[: body.rfind(b"\n") + 1]
        return self._parse(body.decode("utf-8-sig", "replace"))
