"""Fetch a page from a URL, but only if it may be fetched.

Nothing uses the network unless a user names what to fetch. Besides this file: `mainmatter corpus` opens remote storage
such as s3:// by fsspec (corpus/storage.py), and talks to a cluster (corpus/engines/). The workbench listens, and
fetches here. A browser that loads a page with its scripts uses a proxy (inputs/browser.py, inputs/proxy.py), which
follows the same rules.

URLs come from lists, pages and strangers, who must not send us to the machines around us (server-side request forgery).
What is checked is the address that is connected to, not how a URL writes it: names, their DNS answers, which may change
between two queries, and redirects all pass through `check_public`.

A server may also send one byte at a time, in headers as in bodies. The HTTP library limits the time of each read; here
every read, and every other step, is limited to what is left of one deadline.
"""

from __future__ import annotations

import io
import re
import time
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urljoin

from mainmatter.errors import FetchError, NotAPage
from mainmatter.inputs.content_type import charset_of
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.records import Page

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from urllib3 import BaseHTTPResponse
    from urllib3.connectionpool import HTTPConnectionPool

TIMEOUT = 20.0  # seconds, for each step: finding the address, connecting, each read
DEADLINE = 120.0  # seconds, for all steps together, redirects included
HOW_TO_ALLOW = "; --allow-private or public_only=False lifts this rule"  # the end of a refusal
REDIRECTS = 5
_CHUNK = 65_536
_TEXT_TYPES = ("text/plain", "text/markdown")
_HTML_TYPES = ("text/html", "application/xhtml+xml", "application/xml", "text/xml")
_LONGEST_REASON = 300  # characters; some messages quote what a server that is not a web server sent
_CONNECTION = re.compile(r"^<?\w+\(host=[^)]*\)[^:]*: ")  # how the HTTP library's messages begin
HTTP_PORTS = frozenset((80, 443))
FIRST_FREE_PORT = 1024  # below are services of the system: mail, name servers, ...

# Networks that `is_global` lets through in some version of Python, or that are formally global but never on the web.
_NEVER: tuple[tuple[str, str], ...] = (
    ("100.64.0.0/10", "an address inside of a provider's network"),
    ("168.63.129.16/32", "an address of a cloud's own services"),
    ("192.0.0.0/24", "a reserved address"),
    ("192.88.99.0/24", "a reserved address"),
    ("240.0.0.0/4", "a reserved address"),
    ("::/96", "a reserved address"),
    ("::ffff:0:0:0/96", "a reserved address"),
    ("64:ff9b:1::/48", "a private address"),
    ("100::/64", "a reserved address"),
    ("2001:db8::/32", "a reserved address"),
    ("5f00::/16", "a reserved address"),
    ("fec0::/10", "a private address"),
)
_NEVER_NETWORKS: list[tuple[IPv4Network | IPv6Network, str]] = [(ip_network(text), words) for text, words in _NEVER]
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)  # the third quarter of an address that carries an IPv4 address in its fourth


class AddressRefused(FetchError):
    """A URL leads to an address that may not be fetched."""


class TooManyRedirects(FetchError):
    """A URL was redirected more often than `REDIRECTS`."""


def is_url(text: str) -> bool:
    """Whether a text is the address of something on the web."""
    return text.lower().startswith(("http://", "https://"))


def fetch(
    url: str,
    *,
    limits: Limits = DEFAULT_LIMITS,
    timeout: float = TIMEOUT,
    deadline: float = DEADLINE,
    public_only: bool = True,
) -> Page:
    """Fetch a page from the web.

    Args:
        url: an address that begins with http:// or https://.
        limits: how large the page may be; reading stops there.
        timeout: how many seconds to wait for the server, at each step.
        deadline: how many seconds all steps may take together, with redirects.
        public_only: connect to public addresses only, also after redirects, and only to the ports of web servers.
            Without it, whoever chose the URL may reach this machine and its network.

    Raises:
        AddressRefused: with `public_only`, the URL leads to another address.
        FetchError: it could not be fetched.
        NotAPage: it is neither a page nor plain text.
        PageTooLarge: it is over the limits.
    """
    with open_url(url, accept="text/html, */*", timeout=timeout, deadline=deadline, public_only=public_only) as (
        response,
        address,
    ):
        return _to_page(response, address, url, limits)


@contextmanager
def open_url(
    url: str, *, accept: str, timeout: float, deadline: float, public_only: bool
) -> Iterator[tuple[BaseHTTPResponse, str]]:
    """The answer to a request, whose body is not read yet, and the address that gave it after all redirects.

    The deadline also holds for what is read in the `with` block.

    Raises:
        AddressRefused: with `public_only`, the URL leads to an address that is not public.
        TooManyRedirects: it has too many redirects.
        FetchError: it could not be fetched.
    """
    from importlib.metadata import version  # most users clean files

    import urllib3

    headers = {"User-Agent": f"mainmatter/{version('mainmatter')}", "Accept": accept}
    # A server that says "try again in an hour" is not waited for.
    retries = urllib3.Retry(total=1, connect=1, read=0, respect_retry_after_header=False)
    clock = _Deadline(deadline)
    address = url
    try:
        with urllib3.PoolManager(headers=headers, retries=retries, timeout=timeout) as http:
            http.pool_classes_by_scheme = _pools(clock, public_only)
            for _ in range(1 + REDIRECTS):
                if public_only:
                    check_url(address)
                with http.request("GET", address, preload_content=False, redirect=False) as response:
                    location = response.get_redirect_location()
                    if not location:
                        yield response, address
                        return
                    address = urljoin(address, location)
    except AddressRefused as error:
        raise AddressRefused(f"{url}: is not fetched: {str(error).removeprefix(f'{url}: ')}") from error
    except (urllib3.exceptions.HTTPError, ValueError) as error:  # ValueError: a redirect to something that is not a URL
        reason = f"not complete after {deadline:g} seconds" if clock.has_passed() else _reason(error)
        raise FetchError(f"{url}: could not be fetched: {reason}") from error
    raise TooManyRedirects(f"{url}: could not be fetched: more than {REDIRECTS} redirects")


def _to_page(response: BaseHTTPResponse, address: str, url: str, limits: Limits) -> Page:
    """Read what an address gave, which may not be the URL that was asked for."""
    format_, charset = check_answer(url, response.status, response.reason, response.headers.get("Content-Type", ""))
    return Page(_read(response, url, limits), address, url, charset, format_)


def check_answer(
    url: str, status: int, reason: str | None, content_type: str
) -> tuple[Literal["html", "text"], str | None]:
    """The format and the charset of the page that a server has sent.

    Args:
        url: the page's, for errors.
        status: of HTTP.
        reason: of HTTP, for errors.
        content_type: the header of that name, or "".

    Raises:
        FetchError: it sent none.
        NotAPage: it sent something else.
    """
    if not 200 <= status < 300:
        raise FetchError(f"{url}: the server answered {status} {reason or ''}".rstrip())
    media_type, charset = _content_type(content_type)
    if media_type not in (*_HTML_TYPES, *_TEXT_TYPES, ""):
        raise NotAPage(f"{url}: is {media_type}, not a web page; give the URL of a web page or of plain text")
    return "text" if media_type in _TEXT_TYPES else "html", charset


def _read(response: BaseHTTPResponse, url: str, limits: Limits) -> bytes:
    body = bytearray()
    while chunk := response.read1(_CHUNK, decode_content=True):
        body += chunk
        limits.check_size(len(body), url)
    return bytes(body)


def _content_type(header: str) -> tuple[str, str | None]:
    """The media type and the charset of a Content-Type header."""
    if not header.strip():
        return "", None
    from email.message import Message  # most users clean files

    message = Message()
    message["Content-Type"] = header
    return message.get_content_type(), charset_of(header)


def _reason(error: Exception) -> str:
    """The innermost reason of an error of the HTTP library, as one line of words without its objects."""
    reason = getattr(error, "reason", None)
    innermost = reason if isinstance(reason, Exception) else error
    parts = innermost.args if len(innermost.args) > 1 else (innermost,)
    text = ": ".join(str(part).strip().removesuffix(".") for part in parts)
    words = _CONNECTION.sub("", " ".join(text.split()))[:_LONGEST_REASON]
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in words)


def why_not_public(address: str) -> str | None:
    """What an IP address is, in words, if it is not one of the public internet; None if it is.

    IPv6 addresses that stand for an IPv4 address (mapped, 6to4, NAT64, Teredo, ISATAP) are judged by that one.

    Raises:
        ValueError: it is not an IP address.
    """
    ip = ip_address(address.partition("%")[0])
    for name, words in (
        ("is_unspecified", "not the address of a machine"),
        ("is_loopback", "a loopback address"),
        ("is_link_local", "a link-local address"),
        ("is_multicast", "a multicast address"),
    ):
        if getattr(ip, name):
            return words
    for each in _inside(ip):
        why = why_not_public(str(each))
        if why is not None:
            return why
    for network, words in _NEVER_NETWORKS:
        if ip.version == network.version and ip in network:
            return words
    if isinstance(ip, IPv6Address) and (ip.ipv4_mapped or ip.sixtofour or ip.teredo):
        return None  # what is inside is public
    return None if ip.is_global else "a private address" if ip.is_private else "a reserved address"


def _inside(ip: IPv4Address | IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses that an IPv6 address stands for, or is carried by."""
    if isinstance(ip, IPv4Address):
        return []
    found = [each for each in (ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())) if each is not None]
    number = int(ip)
    if ip in _NAT64 or (number >> 32) & 0xFFFFFFFF in _ISATAP:
        found.append(IPv4Address(number & 0xFFFFFFFF))
    return found


def check_url(url: str) -> None:
    """Refuse URLs that cannot be those of web pages: other schemes, passwords, ports of other services.

    The address of the host is checked when connecting.

    Raises:
        AddressRefused: it is such a URL, or not a URL at all.
    """
    from urllib3.util import parse_url  # the parser of those who connect

    try:
        parts = parse_url(url)
    except ValueError as error:
        raise AddressRefused(f"{url}: is not a valid URL: {error}") from error
    if parts.scheme not in ("http", "https"):
        raise AddressRefused(f"{url}: only http:// and https:// URLs are fetched, not {parts.scheme or 'this'}")
    if not parts.host:
        raise AddressRefused(f"{url}: names no host")
    if parts.auth is not None:
        raise AddressRefused(f"{url}: URLs with a user name or password are not fetched{HOW_TO_ALLOW}")
    if parts.port is not None:
        check_port(parts.port)


def check_port(port: int) -> None:
    """Refuse ports of other services than web servers.

    Raises:
        AddressRefused: it is one.
    """
    if port < FIRST_FREE_PORT and port not in HTTP_PORTS:
        raise AddressRefused(f"port {port} is not allowed; 80, 443, and those from 1024 on are{HOW_TO_ALLOW}")


def addresses_of(host: str, port: int, seconds: float) -> list[str]:
    """The addresses of a host.

    The system's resolver takes as long as it likes, so it is asked in a thread, which is left behind if it is late.

    Raises:
        TimeoutError: it takes longer than so many seconds.
        OSError: the name has none.
        UnicodeError: no host can have this name.
    """
    import socket  # most users clean files
    from concurrent.futures import Future
    from threading import Thread

    answer: Future[list[str]] = Future()

    def look_up() -> None:
        try:
            entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answer.set_result(list(dict.fromkeys(str(entry[4][0]) for entry in entries)))
        except Exception as error:  # raised where it is waited for
            answer.set_exception(error)

    Thread(target=look_up, name="mainmatter-resolver", daemon=True).start()
    try:
        return answer.result(seconds)
    except TimeoutError:
        raise TimeoutError(f"no address of {host} after {seconds:g} seconds") from None


def are_private(addresses: list[str]) -> bool:
    """Whether none of the addresses is public; a host that has a public one as well is a host of the internet."""
    return all(why_not_public(address) is not None for address in addresses)


def check_public(host: str, addresses: list[str]) -> None:
    """Refuse a host unless all of its addresses are public.

    Raises:
        AddressRefused: one of them is not.
    """
    for address in addresses:
        why = why_not_public(address)
        if why is not None:
            also = "" if are_private(addresses) else " and a public address"
            raise AddressRefused(
                f"{host} is {why}{also}, and pages are fetched from public addresses only{HOW_TO_ALLOW}"
            )


class _Deadline:
    """A moment by which all must be done."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def has_passed(self) -> bool:
        return time.monotonic() >= self._end

    def shorten(self, timeout: float) -> float:
        """A timeout, or what is left if that is less; never 0, which would mean not to wait for anything."""
        return max(0.001, min(timeout, self._end - time.monotonic()))


class _BoundedReader(io.RawIOBase):
    """What a server sends: each read waits no longer than until the deadline."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, deadline: _Deadline) -> None:
        self._raw, self._sock, self._deadline = raw, sock, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:  # any buffer
        if self._deadline.has_passed():
            raise TimeoutError("the deadline has passed")
        self._sock.settimeout(self._deadline.shorten(self._sock.gettimeout() or TIMEOUT))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _pools(deadline: _Deadline, public_only: bool) -> dict[str, type[HTTPConnectionPool]]:
    """Connection pools, by scheme, whose connections share a deadline and, if so wanted, go to public addresses only.

    A name is looked up once, and the address that was checked is the one that is connected to. TLS and the Host header
    still use the name.
    """
    from http.client import HTTPResponse  # most users clean files

    from urllib3.connection import HTTPConnection, HTTPSConnection
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

    class BoundedResponse(HTTPResponse):
        def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:  # passed on
            super().__init__(sock, *arguments, **options)
            self.fp = io.BufferedReader(_BoundedReader(self.fp.detach(), sock, deadline))

    class BoundedConnection(HTTPConnection):
        response_class = BoundedResponse

        def _new_conn(self) -> socket.socket:
            return _connect(self, deadline, public_only)

    class BoundedTlsConnection(HTTPSConnection):
        response_class = BoundedResponse

        def _new_conn(self) -> socket.socket:
            return _connect(self, deadline, public_only)

        def connect(self) -> None:
            super().connect()
            self.sock.settimeout(deadline.shorten(self.sock.gettimeout() or TIMEOUT))  # the handshake took its time

    class BoundedPool(HTTPConnectionPool):
        ConnectionCls = BoundedConnection

    class BoundedTlsPool(HTTPSConnectionPool):
        ConnectionCls = BoundedTlsConnection

    return {"http": BoundedPool, "https": BoundedTlsPool}


def _connect(connection: Any, deadline: _Deadline, public_only: bool) -> socket.socket:  # of two kinds
    """Connect to one of the addresses of a connection's host; the socket waits until the deadline at most."""
    import socket  # most users clean files

    from urllib3.exceptions import (
        ConnectTimeoutError,
        LocationParseError,
        NameResolutionError,
        NewConnectionError,
    )
    from urllib3.util.connection import create_connection

    timeout = connection.timeout
    try:
        addresses = addresses_of(connection._dns_host, connection.port, deadline.shorten(timeout))
    except socket.gaierror as error:
        raise NameResolutionError(connection.host, connection, error) from error
    except TimeoutError as error:
        raise ConnectTimeoutError(connection, str(error)) from error
    except UnicodeError as error:
        raise LocationParseError(f"'{connection.host}', label empty or too long") from error
    if public_only:
        check_public(connection.host, addresses)
    problem: OSError = OSError("no address")
    for address in addresses:
        try:
            sock = create_connection(
                (address, connection.port), deadline.shorten(timeout), socket_options=connection.socket_options
            )
        except OSError as error:
            problem = error
        else:
            sock.settimeout(deadline.shorten(timeout))  # for the TLS handshake, or for sending the request
            return sock
    if isinstance(problem, TimeoutError):
        raise ConnectTimeoutError(connection, f"Connection timed out. (connect timeout={timeout})") from problem
    raise NewConnectionError(connection, f"Failed to establish a new connection: {problem}") from problem
