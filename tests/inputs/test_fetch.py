"""Pages from the web, fetched from a server on this machine."""

from __future__ import annotations

import gzip
import re
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, ClassVar

import pytest

import mainmatter
from mainmatter.errors import FetchError, NotAPage, PageTooLarge
from mainmatter.inputs.fetch import fetch, is_url
from mainmatter.limits import Limits
from mainmatter.records import Page

if TYPE_CHECKING:
    from collections.abc import Iterator

HTML = {"Content-Type": "text/html"}
ANSWERS: dict[str, tuple[int, dict[str, str], bytes]] = {
    "/page": (200, {"Content-Type": "text/html; charset=ISO-8859-2"}, b"<p>\xb1"),
    "/dump": (200, {"Content-Type": "text/plain; charset=utf-8"}, b"Hello"),
    "/xhtml": (200, {"Content-Type": "Application/XHTML+xml"}, b"<p/>"),
    "/untyped": (200, {}, b"<p>?"),
    "/gzip": (200, HTML | {"Content-Encoding": "gzip"}, gzip.compress(b"<p>packed" * 1000, mtime=0)),
    "/bomb": (200, HTML | {"Content-Encoding": "gzip"}, gzip.compress(bytes(30_000_000), mtime=0)),
    "/not-gzip": (200, HTML | {"Content-Encoding": "gzip"}, b"<p>plain"),
    "/large": (200, HTML, b"x" * 1_000_001),
    "/empty": (200, HTML, b""),
    "/moved": (301, {"Location": "/folder/again"}, b""),
    "/folder/again": (302, {"Location": "../page?x=1"}, b""),
    "/page?x=1": (200, HTML, b"<p>moved"),
    "/loop": (302, {"Location": "/loop"}, b""),
    "/to-ftp": (302, {"Location": "ftp://127.0.0.1/x"}, b""),
    "/to-nowhere": (302, {"Location": "http://[::1"}, b""),
    "/choices": (300, HTML, b"<p>choose"),
    "/missing": (404, HTML, b"<p>not here"),
    "/busy": (503, HTML | {"Retry-After": "100"}, b""),
    "/paper.pdf": (200, {"Content-Type": "application/pdf"}, b"%PDF-1.7"),
}


class Handler(BaseHTTPRequestHandler):
    """Gives the answers of the table, and misbehaves in two ways."""

    protocol_version = "HTTP/1.1"
    asked: ClassVar[Counter[str]] = Counter()

    def do_GET(self) -> None:
        self.asked[self.path] += 1
        if self.path == "/slow":
            time.sleep(5)
            self.close_connection = True
        elif self.path == "/short":
            self._answer(200, HTML | {"Content-Length": "1000"}, b"<p>")
            self.close_connection = True
        elif self.path == "/junk":
            self.wfile.write(b"junk\r\n\r\n")
            self.close_connection = True
        elif self.path == "/agent":
            self._answer(200, HTML, self.headers["User-Agent"].encode())
        else:
            self._answer(*ANSWERS[self.path])

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):  # who asked has gone
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # its name
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """Takes no notice of clients that hang up, as ours does when a page is too large."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with Server(("127.0.0.1", 0), Handler) as httpd:
        thread = Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()
        thread.join()


# The servers of these tests are on this machine.
fetch_here = partial(fetch, public_only=False)


def refused(url: str, timeout: float = 5) -> str:
    """The message of the error, less the URL, after what must be true of every message."""
    with pytest.raises(FetchError) as caught:
        fetch_here(url, timeout=timeout, limits=Limits(size=1_000_000))
    message = str(caught.value)
    assert message.startswith(f"{url}: ")
    assert "\n" not in message
    assert re.search(r"0x[0-9a-f]{6,}|object at|Connection\(|Pool\(", message) is None
    return message.removeprefix(f"{url}: ")


def test_page_with_the_charset_of_the_header(server: str) -> None:
    url = f"{server}/page"
    assert fetch_here(url) == Page(b"<p>\xb1", url, url, charset="iso-8859-2")
    assert mainmatter.clean(fetch_here(url), method="ice-baseline").text == "ą"


def test_plain_text_is_a_dump(server: str) -> None:
    url = f"{server}/dump"
    assert fetch_here(url) == Page(b"Hello", url, url, charset="utf-8", format="text")


@pytest.mark.parametrize(("path", "body"), [("/xhtml", b"<p/>"), ("/untyped", b"<p>?"), ("/empty", b"")])
def test_other_types_that_are_pages(path: str, body: bytes, server: str) -> None:
    assert fetch_here(server + path) == Page(body, server + path, server + path)


def test_packed_body(server: str) -> None:
    assert fetch_here(f"{server}/gzip").html == b"<p>packed" * 1000


def test_redirects_are_followed_and_the_final_url_is_absolute(server: str) -> None:
    page = fetch_here(f"{server}/moved")
    assert page == Page(b"<p>moved", f"{server}/page?x=1", f"{server}/moved")


def test_we_say_who_we_are(server: str) -> None:
    assert fetch_here(f"{server}/agent").html == f"mainmatter/{mainmatter.__version__}".encode()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/loop", "could not be fetched: more than 5 redirects"),
        ("/to-ftp", "could not be fetched: Not supported URL scheme ftp"),
        ("/to-nowhere", "could not be fetched: Invalid IPv6 URL"),
        ("/choices", "the server answered 300 Multiple Choices"),
        ("/missing", "the server answered 404 Not Found"),
        ("/junk", "could not be fetched: Connection aborted: junk"),
    ],
)
def test_what_goes_wrong_is_said_in_one_line(path: str, message: str, server: str) -> None:
    assert refused(server + path) == message


def test_what_is_no_page_is_refused(server: str) -> None:
    with pytest.raises(NotAPage) as caught:
        fetch_here(f"{server}/paper.pdf")
    advice = "give the URL of a web page or of plain text"
    assert str(caught.value) == f"{server}/paper.pdf: is application/pdf, not a web page; {advice}"


@pytest.mark.parametrize("path", ["/large", "/bomb"])
def test_no_more_is_read_than_the_limits_allow(path: str, server: str) -> None:
    with pytest.raises(PageTooLarge) as caught:
        fetch_here(server + path, limits=Limits(size=1_000_000))
    assert str(caught.value) == (
        f"{server}{path} has more than 1.0 MB; raise the limit with Limits(size=...) or --max-size"
    )


def test_scheme_in_capitals(server: str) -> None:
    assert fetch_here(f"{server.replace('http', 'HTTP')}/page").html == b"<p>\xb1"


def test_damaged_bodies(server: str) -> None:
    assert refused(f"{server}/not-gzip").startswith(
        "could not be fetched: Received response with content-encoding: gzip, but failed to decode it: "
    )
    assert refused(f"{server}/short").startswith(
        "could not be fetched: Connection broken: IncompleteRead(3 bytes read, 997 more expected)"
    )


def test_page_at_the_limit_is_not_over_it(server: str) -> None:
    assert len(fetch_here(f"{server}/large", limits=Limits(size=1_000_001)).html) == 1_000_001


def test_busy_server_is_not_waited_for(server: str) -> None:
    Handler.asked.clear()
    assert refused(f"{server}/busy") == "the server answered 503 Service Unavailable"
    assert Handler.asked == {"/busy": 1}  # what is waited for is asked for again


def test_server_that_does_not_answer(server: str) -> None:
    assert refused(f"{server}/slow", timeout=0.2) == "could not be fetched: Read timed out. (read timeout=0.2)"


def test_server_that_is_not_there() -> None:
    assert refused("http://127.0.0.1:1/").startswith("could not be fetched: Failed to establish a new connection: ")


@pytest.mark.parametrize("url", ["http://", "http://[::1", "https://ex ample.org/", "http://.org/", "http://x:99999/"])
def test_what_is_no_address(url: str) -> None:
    assert refused(url).startswith("could not be fetched: ")


def test_server_without_encryption(server: str) -> None:
    assert "SSL" in refused(server.replace("http://", "https://"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://a", True),
        ("https://a", True),
        ("HTTP://A", True),
        ("Https://a", True),
        ("ftp://a", False),
        ("a.html", False),
        ("http", False),
        ("", False),
    ],
)
def test_is_url(text: str, expected: bool) -> None:
    assert is_url(text) is expected
