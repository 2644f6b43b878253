"""Fetching for strangers: only public addresses, however a URL writes them, and wherever it leads."""

from __future__ import annotations

import socket
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from mainmatter.errors import FetchError, PageTooLarge
from mainmatter.inputs import fetch as fetching
from mainmatter.inputs.fetch import AddressRefused, fetch, why_not_public
from mainmatter.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

PUBLIC = "8.8.8.8 1.1.1.1 93.184.216.34 172.32.0.1 2606:4700:4700::1111 ::ffff:8.8.8.8 2002:808:808:: 64:ff9b::808:808"
LIFT = "; --allow-private or public_only=False lifts this rule"
NOT_PUBLIC = {
    "0.0.0.0": "not the address of a machine",
    "10.0.0.1": "a private address",
    "100.64.0.1": "an address inside of a provider's network",
    "127.0.0.1": "a loopback address",
    "127.255.255.254": "a loopback address",
    "168.63.129.16": "an address of a cloud's own services",
    "169.254.169.254": "a link-local address",
    "172.16.0.1": "a private address",
    "192.0.0.8": "a reserved address",
    "192.0.2.1": "a private address",
    "192.168.0.1": "a private address",
    "198.18.0.1": "a private address",
    "224.0.0.1": "a multicast address",
    "240.0.0.1": "a reserved address",
    "255.255.255.255": "a reserved address",
    "::": "not the address of a machine",
    "::1": "a loopback address",
    "::7f00:1": "a reserved address",
    "::ffff:10.0.0.1": "a private address",
    "::ffff:127.0.0.1": "a loopback address",
    "::ffff:169.254.169.254": "a link-local address",
    "64:ff9b::7f00:1": "a loopback address",
    "64:ff9b::a00:1": "a private address",
    "64:ff9b:1::808:808": "a private address",
    "100::1": "a reserved address",
    "2001:0:7f00:1::f7f7:f7f7": "a loopback address",  # Teredo by way of a loopback address
    "2001:0:808:808::80ff:fffe": "a loopback address",  # Teredo for one
    "2001:db8::1": "a reserved address",
    "2002:7f00:1::": "a loopback address",
    "2002:c0a8:1::": "a private address",
    "2a00::5efe:7f00:1": "a loopback address",
    "fc00::1": "a private address",
    "fd00:ec2::254": "a private address",
    "fe80::1%eth0": "a link-local address",
    "fec0::1": "a private address",
    "ff02::1": "a multicast address",
    "ff0e::1": "a multicast address",
}


@pytest.mark.parametrize("address", PUBLIC.split())
def test_public(address: str) -> None:
    assert why_not_public(address) is None


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_not_public(address: str) -> None:
    assert why_not_public(address) == NOT_PUBLIC[address]


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.1", "0x7f.1", "0x7f000001", "0177.0.0.1", "2130706433", "017700000001", "0", "0.0.0.0",
        "localhost", "LOCALHOST", "localhost.", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]",
        "[64:ff9b::7f00:1]", "169.254.169.254", "10.0.0.1", "192.168.1.1", "100.64.0.1",
        "１２７.０.０.１", "example.org@127.0.0.1",
        "127.0.0.1#@example.org", "127.0.0.1?@example.org", "%31%32%37.0.0.1", "127。0。0。1",
    ],
)  # fmt: skip
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_hosts_that_are_this_machine_or_its_neighbours(scheme: str, host: str) -> None:
    url = f"{scheme}://{host}:9/x" if "@" not in host else f"{scheme}://{host}/"
    with pytest.raises(FetchError) as caught:
        fetch(url, timeout=2)
    assert isinstance(caught.value, AddressRefused) or "resolve" in str(caught.value) or "parse" in str(caught.value)
    assert "refused" not in str(caught.value)  # as one that was connected to would say
    assert "timed out" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://example.org/", "only http:// and https:// URLs are fetched, not ftp"),
        ("file:///etc/passwd", "only http:// and https:// URLs are fetched, not file"),
        ("gopher://example.org/", "only http:// and https:// URLs are fetched, not gopher"),
        ("javascript:alert(1)", "only http:// and https:// URLs are fetched, not javascript"),
        ("//example.org/", "only http:// and https:// URLs are fetched, not this"),
        ("example.org", "only http:// and https:// URLs are fetched, not this"),
        ("http:///path", "names no host"),
        ("http://a:b@example.org/", f"URLs with a user name or password are not fetched{LIFT}"),
        ("http://a@example.org/", f"URLs with a user name or password are not fetched{LIFT}"),
        ("http://example.org:22/", f"port 22 is not allowed; 80, 443, and those from 1024 on are{LIFT}"),
        ("http://example.org:0/", f"port 0 is not allowed; 80, 443, and those from 1024 on are{LIFT}"),
    ],
)
def test_urls_of_no_web_page(url: str, message: str) -> None:
    with pytest.raises(AddressRefused) as caught:
        fetch(url)
    assert str(caught.value) == f"{url}: is not fetched: {message}"


class Handler(BaseHTTPRequestHandler):
    """Notes who asks, redirects where the path says, or gives a page."""

    def do_GET(self) -> None:
        self.server.seen.append((self.headers["Host"], self.path))  # type: ignore[attr-defined]
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/to/"))
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(b"<p>page" + b" " * 5000)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def server_at(host: str) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """A web server; its port, and what was asked of it."""
    with ThreadingHTTPServer((host, 0), Handler) as server:
        server.seen = []  # type: ignore[attr-defined]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port, server.seen  # type: ignore[attr-defined]
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """A server at 127.0.0.2, which counts as public here."""
    monkeypatch.setattr(fetching, "why_not_public", lambda ip: None if ip == "127.0.0.2" else why_not_public(ip))
    with server_at("127.0.0.2") as server:
        yield server


@pytest.fixture
def private() -> Iterator[tuple[int, list[tuple[str, str]]]]:
    with server_at("127.0.0.1") as server:
        yield server


def name_has(monkeypatch: pytest.MonkeyPatch, name: str, *answers: list[str]) -> list[str]:
    """Have a name the addresses of the first answer, next time those of the second, ...; returns who was asked for."""
    real = socket.getaddrinfo
    asked: list[str] = []

    def look_up(host: str, port: int, *args: Any, **kwargs: Any) -> Any:
        if host != name:
            return real(host, port, *args, **kwargs)
        asked.append(host)
        found = answers[min(len(asked), len(answers)) - 1]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


def test_a_public_page_is_fetched(public: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    port, seen = public
    asked = name_has(monkeypatch, "page.example", ["127.0.0.2"])
    page = fetch(f"http://page.example:{port}/x")
    assert page.html == b"<p>page" + b" " * 5000
    assert seen == [(f"page.example:{port}", "/x")]
    assert asked == ["page.example"]
    with pytest.raises(PageTooLarge):
        fetch(f"http://page.example:{port}/x", limits=Limits(size=1000))


@pytest.mark.parametrize("answer", [["127.0.0.1"], ["127.0.0.2", "127.0.0.1"], ["10.0.0.1"], ["169.254.169.254"]])
def test_a_name_of_a_private_address(
    answer: list[str], public: Any, private: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name_has(monkeypatch, "page.example", answer)
    with pytest.raises(
        AddressRefused, match=r"page\.example is a .* address, and pages .*--allow-private or public_only=False"
    ):
        fetch(f"http://page.example:{private[0]}/")
    assert not public[1]
    assert not private[1]


def test_a_redirect_to_a_private_address(public: Any, private: Any) -> None:
    for target in (
        f"http://127.0.0.1:{private[0]}/",
        f"//localhost:{private[0]}/",
        "file:///etc/passwd",
        "http://x:25/",
    ):
        url = f"http://127.0.0.2:{public[0]}/to/{target}"
        with pytest.raises(AddressRefused, match="is not fetched: ") as caught:
            fetch(url)
        assert str(caught.value).startswith(url)
    assert len(public[1]) == 4
    assert not private[1]


def test_a_name_whose_address_changes(public: Any, private: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    name_has(monkeypatch, "page.example", ["127.0.0.2"], ["127.0.0.1"])
    assert fetch(f"http://page.example:{public[0]}/").html  # checked and connected to: the same
    with pytest.raises(AddressRefused):
        fetch(f"http://page.example:{private[0]}/")
    assert not private[1]


def test_a_name_whose_address_changes_while_it_redirects(
    public: Any, private: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name_has(monkeypatch, "page.example", ["127.0.0.2"], ["127.0.0.1"])
    with pytest.raises(AddressRefused):
        fetch(f"http://page.example:{public[0]}/to/http://page.example:{private[0]}/")
    assert not private[1]


def test_proxies_of_the_environment_are_not_used(public: Any, private: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{private[0]}")
    assert fetch(f"http://127.0.0.2:{public[0]}/").html
    assert not private[1]


def test_tls_asks_for_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "why_not_public", lambda _: None)
    name_has(monkeypatch, "page.example", ["127.0.0.1"])
    hello: list[bytes] = []

    def listen(listening: socket.socket) -> None:
        for _ in range(2):  # it is tried once more
            with suppress(OSError):
                connection, _ = listening.accept()
                with connection:
                    hello.append(connection.recv(4096))

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(5)
        thread = Thread(target=listen, args=(listening,))
        thread.start()
        with pytest.raises(FetchError):
            fetch(f"https://page.example:{listening.getsockname()[1]}/", timeout=5)
        listening.close()
        thread.join()
    assert b"page.example" in hello[0]


def test_names_that_no_host_has(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FetchError):
        fetch(f"http://{'a' * 70}.example/")
    with pytest.raises(FetchError):
        fetch("http://a..example/")


def test_other_addresses_may_be_allowed(private: Any) -> None:
    assert fetch(f"http://127.0.0.1:{private[0]}/", public_only=False).html
