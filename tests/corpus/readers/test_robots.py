"""robots.txt is asked for once a site, and what it says, or that it cannot be had, decides (RFC 9309)."""

from __future__ import annotations

import socket
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from mainmatter.corpus.readers.urls import MAX_SIZE, RobotsRules
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RULES = b"""\xef\xbb\xbf# ours
User-agent: *
Disallow: /private/
Allow: /private/open/
Disallow: /*.pdf$
Disallow: /search?*q=

User-agent: evilbot
Disallow: /
"""


robots_rules = partial(RobotsRules, public_only=False)  # the servers of these tests are on this machine


class Site(ThreadingHTTPServer):
    """Gives one answer for robots.txt."""

    def __init__(self, status: int, body: bytes = b"", location: str = "", wait: float = 0) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.body, self.location, self.wait = status, body, location, wait
        self.asked: Counter[str] = Counter()
        self.agents: set[str] = set()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that hang up."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        site = self.server
        site.asked[self.path] += 1
        site.agents.add(self.headers["User-Agent"])
        is_moved = site.location and (self.path == "/robots.txt" or site.location == "/round")
        self.send_response(301 if is_moved else site.status)
        if is_moved:
            self.send_header("Location", site.location)
        self.end_headers()
        if not is_moved:
            for start in range(0, len(site.body), 100_000):
                self.wfile.write(site.body[start : start + 100_000])
                self.wfile.flush()
                time.sleep(site.wait)

    def log_message(self, format: str, *args: object) -> None:  # its name
        """Say nothing."""


@pytest.fixture
def serve() -> Iterator[type[Site]]:
    """Makes sites that answer as long as the test runs."""
    running: list[tuple[Site, Thread]] = []

    class Served(Site):
        def __init__(self, status: int, body: bytes = b"", location: str = "", wait: float = 0) -> None:
            super().__init__(status, body, location, wait)
            thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            running.append((self, thread))

    yield Served
    for site, thread in running:
        site.shutdown()
        thread.join()
        site.server_close()


def test_rules_are_followed_and_asked_for_once(serve: type[Site]) -> None:
    site = serve(200, RULES)
    rules = robots_rules()
    answers = {
        "": True,
        "/": True,
        "/a.html": True,
        "/private/x": False,
        "/private/open/x": True,  # the longest rule wins
        "/a.pdf": False,
        "/a.pdf?page=1": True,
        "/search?a=1&q=x": False,
    }
    assert {path: rules.allowed(site.url + path) for path in answers} == answers
    assert site.asked == {"/robots.txt": 1}
    assert all(agent.startswith("mainmatter/") for agent in site.agents)
    told = rules.why_not(f"{site.url}/private/x")
    assert told == f"{site.url}/robots.txt disallows it for mainmatter"


def test_rules_for_an_agent_of_another_name(serve: type[Site]) -> None:
    site = serve(200, RULES)
    assert not robots_rules("evilbot").allowed(f"{site.url}/a.html")
    own = serve(200, b"User-agent: mainmatter\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n")
    assert not robots_rules().allowed(f"{own.url}/a")
    assert robots_rules().allowed(f"{own.url}/b")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429])
def test_a_site_without_rules_allows_all(status: int, serve: type[Site]) -> None:
    site = serve(status, b"User-agent: *\nDisallow: /")
    assert robots_rules().allowed(f"{site.url}/x")


@pytest.mark.parametrize("status", [500, 503])
def test_a_site_whose_rules_cannot_be_had_allows_nothing(status: int, serve: type[Site]) -> None:
    site = serve(status)
    rules = robots_rules()
    for path in ("/a", "/b"):
        told = rules.why_not(site.url + path)
        assert told is not None
        assert str(status) in told
    assert site.asked == {"/robots.txt": 1}


def test_a_site_that_is_not_there_allows_nothing() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/x"
    told = robots_rules(timeout=1).why_not(url)
    assert told is not None
    assert "could not be fetched" in told
    assert "object at" not in told


def test_redirects_are_followed_but_not_for_ever(serve: type[Site]) -> None:
    other = serve(200, RULES)
    moved = serve(200, RULES, location="/rules.txt")
    assert not robots_rules().allowed(f"{moved.url}/private/x")
    away = serve(200, location=f"{other.url}/robots.txt")
    assert not robots_rules().allowed(f"{away.url}/private/x")
    assert robots_rules().allowed(f"{serve(200, RULES, location='/round').url}/private/x")
    assert not robots_rules().allowed(f"{serve(200, RULES, location='ftp://x/').url}/a")


def test_only_the_beginning_of_a_huge_file_is_read(serve: type[Site]) -> None:
    rules = b"User-agent: *\nDisallow: /early\n"
    site = serve(200, rules + b"#" * (MAX_SIZE - len(rules) - 3) + b"\nDisallow: /late\n" + b"#\n" * 5_000_000)
    asked = robots_rules()
    assert not asked.allowed(f"{site.url}/early")
    assert asked.allowed(f"{site.url}/late")
    assert asked.allowed(f"{site.url}/other")  # and half of a rule is none


def test_a_file_that_trickles_in_is_not_waited_for(serve: type[Site]) -> None:
    site = serve(200, b"#" * 400_000, wait=0.15)
    told = robots_rules(deadline=0.2).why_not(f"{site.url}/x")
    assert told is not None
    assert "not complete after 0.2 seconds" in told


@pytest.mark.parametrize(
    "body", [b"", b"<html><p>Not found", b"\xff\xfe\x00", b"Disallow: /\n", b"User-agent: *\nDisallow:\n"]
)
def test_what_has_no_rules_allows_all(body: bytes, serve: type[Site]) -> None:
    assert robots_rules().allowed(f"{serve(200, body).url}/x")


@pytest.mark.parametrize("url", ["", "x", "file:///etc/passwd", "ftp://a/b", "http://", "http://[", "http:///x"])
def test_what_is_no_address_of_the_web_is_not_asked_about(url: str) -> None:
    assert robots_rules().allowed(url)


def test_hostile_rules_take_linear_time(serve: type[Site]) -> None:
    def ask(size: int) -> Callable[[], object]:
        site = serve(200, b"User-agent: *\n" + b"Disallow: /" + b"*a" * size + b"b$\n")
        return lambda: robots_rules().allowed(f"{site.url}/{'a' * 2_000}")

    assert ask(200_000)()
    assert_linear(ask, 200_000)


def test_threads_ask_once_and_few_sites_are_remembered(serve: type[Site], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mainmatter.corpus.readers.urls.MOST_SITES", 2)
    sites = [serve(200, RULES) for _ in range(3)]
    rules = robots_rules()
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(rules.allowed, [f"{sites[0].url}/private/x"] * 32)) == [False] * 32
    assert sites[0].asked == {"/robots.txt": 1}
    assert rules.allowed(f"{sites[1].url}/")
    assert rules.allowed(f"{sites[2].url}/")
    assert not rules.allowed(f"{sites[0].url}/private/x")  # it was forgotten, and is asked again
    assert sites[0].asked == {"/robots.txt": 2}
