"""Lists of URLs: each is fetched, politely.

What a site's robots.txt forbids is not fetched, and requests to a host come one after another, with a pause between.
"""

from __future__ import annotations

import fcntl
import os
import struct
import tempfile
import threading
import time
from collections import OrderedDict
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from zlib import crc32

from mainmatter.corpus.readers.fields import as_time
from mainmatter.corpus.readers.kinds import kind_of_name
from mainmatter.corpus.readers.lines import LONGEST_LINE, first_names, is_name, read_lines
from mainmatter.corpus.records import Record, Reject, Skipped
from mainmatter.errors import FetchError, MissingExtra, NotAPage, PageTooLarge
from mainmatter.inputs.fetch import DEADLINE, AddressRefused, TooManyRedirects, fetch, is_url, open_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from protego import Protego
    from urllib3 import BaseHTTPResponse

    from mainmatter.corpus.records import Read, Slice
    from mainmatter.limits import Limits


REPEATED = "repeated-url"  # as what a line is counted that gives a URL again
DELAY = 1.0  # seconds between two requests to a host
LONGEST_DELAY = 60.0  # seconds that a robots.txt may ask for


def _do_nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class FetchRules:
    """How the pages of a list of URLs are fetched.

    Attributes:
        robots: whether to fetch only what a site's robots.txt allows, and to keep to its Crawl-delay.
        delay: how many seconds to wait between two requests to a host; 0 for no pause, and several requests at once.
        deadline: how many seconds fetching a page may take.
        public_only: whether to contact public addresses only.
        on_wait: called at least once a second while another request to the same host is waited for.
    """

    robots: bool = True
    delay: float = DELAY
    deadline: float = DEADLINE
    public_only: bool = True
    on_wait: Callable[[], object] = _do_nothing


DEFAULT_RULES = FetchRules()


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


def read_urls(one: Slice, limits: Limits, start: int, rules: FetchRules = DEFAULT_RULES) -> Iterator[Read]:
    """Fetch the URLs of the lines from a number on; empty lines and those that begin with # are left out.

    A URL that an earlier line of the list gives, too, is not fetched again but skipped, so that ids are unique. A slice
    whose path is itself the URL of a page stands for that page.

    Raises:
        MissingExtra: protego, which reads robots.txt, is not installed.
    """
    robots = _robots(rules.public_only, min(ROBOTS_DEADLINE, rules.deadline)) if rules.robots else None
    if is_page_url(one.path):
        if start < one.end:
            yield _fetch(one.path, one.path, 0, limits, rules, robots)
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
                yield _fetch(url, one.path, number, limits, rules, robots)


def is_page_url(path: str) -> bool:
    """Whether a path is the URL of a page, not that of a list of URLs."""
    return is_url(path) and kind_of_name(path) != "urls"


@cache
def _robots(public_only: bool, deadline: float) -> RobotsRules:
    """One for a process, so that each site is asked once, however many slices its pages are in."""
    return RobotsRules(deadline=deadline, public_only=public_only)


def _can_be_fetched(url: str) -> bool:
    return is_url(url) and len(url.encode("utf-8", "replace")) < LONGEST_LINE


def _fetch(
    url: str, source: str, number: int, limits: Limits, rules: FetchRules, robots: RobotsRules | None
) -> Record | Reject:
    if not _can_be_fetched(url):
        return Reject("damaged", f"line {number + 1} is not a URL: {url[:100]}", source, number)
    try:
        delay = rules.delay
        if robots is not None:
            why_not = robots.why_not(url)
            if why_not is not None:
                return Reject("robots", why_not, source, number, url, url)
            delay = max(delay, robots.delay(url))
        with _turns().take(_host(url), delay, rules.on_wait):
            now = as_time(datetime.now(UTC).replace(microsecond=0))
            page = fetch(url, limits=limits, deadline=rules.deadline, public_only=rules.public_only)
        return Record(page, source, number, now)
    except FetchError as error:
        return Reject("fetch", str(error), source, number, url, url)
    except NotAPage as error:
        return Reject("not-a-page", str(error), source, number, url, url)
    except PageTooLarge as error:
        return Reject("too-large", str(error), source, number, url, url)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # nothing will be fetched
        return ""


_SLOTS = 1 << 16  # of hosts; two that share one wait for each other, too
_TIME = struct.Struct("=d")  # when the latest request to a host ended
_POLL = 0.1  # seconds between two attempts to lock a slot


class HostTurns:
    """Lets the processes of a user on this machine make requests to a host one after another, with a pause between.

    They share a file of times, one for each host, of which each locks the place of the host that it has a request to.
    The system unlocks what a process that died had locked.

    Args:
        path: that of the file; if it cannot be used, this process has one of its own.
    """

    def __init__(self, path: Path | None = None) -> None:
        path = path or Path(tempfile.gettempdir(), f"mainmatter-hosts-{os.getuid()}")
        with suppress(OSError):
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            if os.fstat(self._file).st_uid == os.getuid():  # somebody else could keep us waiting
                os.ftruncate(self._file, _SLOTS * _TIME.size)
                return
            os.close(self._file)
        self._own = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as we do
        self._file = self._own.fileno()
        os.ftruncate(self._file, _SLOTS * _TIME.size)

    @contextmanager
    def take(self, host: str, pause: float, on_wait: Callable[[], object] = _do_nothing) -> Iterator[None]:
        """Wait until nobody else has a request to a host, and a pause since the latest one is over.

        Args:
            host: the name of the host.
            pause: how many seconds must have passed since; with 0, nothing is waited for.
            on_wait: called at least once a second while this waits.
        """
        if not pause:
            yield
            return
        place = _TIME.size * (crc32(host.encode("utf-8", "replace")) % _SLOTS)
        while not self._lock(place):
            on_wait()
            time.sleep(_POLL)
        try:
            (latest,) = _TIME.unpack(os.pread(self._file, _TIME.size, place))
            left = min(pause, latest + pause - time.time())  # the clock may have been set back since
            while left > 0:
                on_wait()
                time.sleep(min(left, 1.0))
                left -= 1.0
            yield
        finally:
            os.pwrite(self._file, _TIME.pack(time.time()), place)
            fcntl.lockf(self._file, fcntl.LOCK_UN, _TIME.size, place)

    def _lock(self, place: int) -> bool:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, _TIME.size, place)
        except (BlockingIOError, PermissionError):  # POSIX allows both
            return False
        return True


@cache
def _turns() -> HostTurns:
    """One for a process."""
    return HostTurns()


AGENT = "mainmatter"  # the name that a robots.txt addresses us by
TIMEOUT = 10.0  # seconds, for each step of fetching a robots.txt
ROBOTS_DEADLINE = 30.0  # seconds, for all of it
MAX_SIZE = 512_000  # bytes that are read of one (section 2.5: at least 500 KiB)
MOST_SITES = 10_000  # of which rules are remembered
_CHUNK = 65_536


class RobotsRules:
    """The rules of all sites that were asked for, each fetched once. Safe in threads, which wait for each other.

    Args:
        agent: the name that rules are looked up by.
        timeout: how many seconds to wait for a server, at each step.
        deadline: how many seconds a whole robots.txt may take.
        public_only: whether to contact public addresses only.

    Raises:
        MissingExtra: protego is not installed.
    """

    def __init__(
        self,
        agent: str = AGENT,
        *,
        timeout: float = TIMEOUT,
        deadline: float = ROBOTS_DEADLINE,
        public_only: bool = True,
    ) -> None:
        try:
            from protego import Protego  # an extra
        except ImportError as error:
            raise MissingExtra("protego", "corpus") from error
        self.agent = agent
        self._timeout, self._deadline, self._public_only = timeout, deadline, public_only
        self._parse = Protego.parse
        # By site: its rules, or why nothing of it may be fetched.
        self._sites: OrderedDict[str, Protego | str] = OrderedDict()
        self._lock = threading.Lock()

    def allowed(self, url: str) -> bool:
        """Whether an address may be fetched. Asks the site for its rules, once."""
        return self.why_not(url) is None

    def why_not(self, url: str) -> str | None:
        """Why an address may not be fetched; None if it may.

        It may if the site has no rules (its answer is 4xx); it may not if they cannot be had (5xx, no answer): RFC
        9309, section 2.3.1. Neither may it if it would have to be waited for too long. What is no address of the web
        is left to whoever fetches it.

        Raises:
            AddressRefused: its robots.txt leads to an address that is not public.
        """
        site = _site(url)
        if site is None:
            return None
        with self._lock:
            rules = self._rules_of(site)
            if isinstance(rules, str):
                return rules
            if not rules.can_fetch(url, self.agent):
                return f"{site}/robots.txt disallows it for {self.agent}"
            delay = rules.crawl_delay(self.agent) or 0
            if delay > LONGEST_DELAY:
                return (
                    f"{site}/robots.txt asks for {delay:,g} seconds between two requests, more than the "
                    f"{LONGEST_DELAY:g} that are waited"
                )
            return None

    def delay(self, url: str) -> float:
        """How many seconds its site asks to wait between two requests (Crawl-delay); 0 if it does not.

        Raises:
            AddressRefused: its robots.txt leads to an address that is not public.
        """
        site = _site(url)
        with self._lock:
            rules = "" if site is None else self._rules_of(site)
            return 0.0 if isinstance(rules, str) else float(rules.crawl_delay(self.agent) or 0)

    def _rules_of(self, site: str) -> Protego | str:
        rules = self._sites.get(site)
        if rules is None:
            rules = self._sites[site] = self._fetch_rules(f"{site}/robots.txt")
            if len(self._sites) > MOST_SITES:
                self._sites.popitem(last=False)
        return rules

    def _fetch_rules(self, url: str) -> Protego | str:
        try:
            with open_url(
                url,
                accept="text/plain, */*",
                timeout=self._timeout,
                deadline=self._deadline,
                public_only=self._public_only,
            ) as (response, _):
                return self._parse_rules(response, url)
        except TooManyRedirects:  # as if it had none (section 2.3.1.2, which asks for five at least)
            return self._parse("")
        except AddressRefused:
            raise
        except FetchError as error:
            return f"{error}; so no page of the site may be fetched"

    def _parse_rules(self, response: BaseHTTPResponse, url: str) -> Protego | str:
        if 400 <= response.status < 500:
            return self._parse("")
        if not 200 <= response.status < 300:
            return f"{url}: the server answered {response.status}; so no page of the site may be fetched"
        body = bytearray()
        while len(body) < MAX_SIZE and (chunk := response.read1(_CHUNK, decode_content=True)):
            body += chunk
        if len(body) >= MAX_SIZE:  # the last line may be cut: half of a rule forbids more than the whole
            del body[MAX_SIZE:]
            body = body[: body.rfind(b"\n") + 1]
        return self._parse(body.decode("utf-8-sig", "replace"))


def _site(url: str) -> str | None:
    """Scheme and host of a URL, with its port; None if it is no address of the web."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        return None
    return f"{parts.scheme.lower()}://{parts.netloc.rpartition('@')[2].lower()}"
