"""Which addresses a site's robots.txt allows to fetch (RFC 9309), for whoever fetches a list of URLs.

    rules = RobotsRules()
    why_not = rules.why_not(url)        # None: go ahead; else a sentence for a Reject("robots", ...)

Protego reads the rules, as Scrapy does: with wildcards, and the longest rule wins. The standard library's reader knows
neither, and so forbids what sites allow, and the other way round.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from importlib.metadata import version
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from mainmatter.errors import MissingExtra

if TYPE_CHECKING:
    from protego import Protego
    from urllib3 import BaseHTTPResponse, PoolManager

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
            return None if rules.can_fetch(url, self.agent) else f"{site}/robots.txt forbids it to {self.agent}"

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
            return f"{site}/robots.txt cannot be fetched ({type(error).__name__}), so that nothing of the site may be"
        return self._parse("")  # more redirects than that: as if it had none (section 2.3.1.2)

    def _rules_of(self, response: BaseHTTPResponse, site: str) -> Protego | str:
        if 400 <= response.status < 500:
            return self._parse("")
        if not 200 <= response.status < 300:
            return f"{site}/robots.txt: the server answered {response.status}, so that nothing may be fetched"
        body = bytearray()
        end = time.monotonic() + self._deadline
        while len(body) < MAX_SIZE and (chunk := response.read1(_CHUNK, decode_content=True)):
            body += chunk
            if time.monotonic() > end:
                return (
                    f"{site}/robots.txt is not there after {self._deadline:g} seconds, so that nothing may be fetched"
                )
        if len(body) >= MAX_SIZE:  # the last line may be cut: half of a rule forbids more than the whole
            del body[MAX_SIZE:]
            body = body[: body.rfind(b"\n") + 1]
        return self._parse(body.decode("utf-8-sig", "replace"))
