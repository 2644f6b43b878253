"""Fetch a page from a URL, but only if it may be fetched.

Nothing uses the network unless a user names what to fetch. Besides this file: `mainmatter corpus` asks for robots.txt
before it fetches URLs of a list (corpus/readers/urls.py), opens remote storage such as s3:// by fsspec
(corpus/storage.py), and talks to a cluster (corpus/engines/). The workbench listens, and fetches here. A browser that
loads a page with its scripts uses a proxy (inputs/browser.py, inputs/proxy.py), which follows the same rules.

A server that fetches pages for strangers must not be sent to the machines behind it (server-side request forgery). What
is checked is the address that is connected to, not how a URL writes it: names, their DNS answers, which may change
between two queries, and redirects all pass through `public_addresses`.
"""

from __future__ import annotations

import re
import time
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urljoin

from mainmatter.errors import FetchError, NotAPage
from mainmatter.inputs.content_type import charset_of
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.records import Page

if TYPE_CHECKING:
    import socket

    from urllib3 import BaseHTTPResponse
    from urllib3.connectionpool import HTTPConnectionPool

TIMEOUT = 20.0  # seconds, for connecting and for each read
DEADLINE = 120.0  # seconds, for the whole body: a server may send a byte at a time
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


def is_url(text: str) -> bool:
    """Whether a text is the address of something on the web."""
    return text.lower().startswith(("http://", "https://"))


def fetch(url: str, *, limits: Limits = DEFAULT_LIMITS, timeout: float = TIMEOUT, public_only: bool = False) -> Page:
    """Fetch a page from the web.

    Args:
        url: an address that begins with http:// or https://.
        limits: how large the page may be; reading stops there.
        timeout: how many seconds to wait for the server, at each step.
        public_only: the source of the URL is not trusted: connect to public addresses only, also after redirects, and
            only to web servers.

    Raises:
        AddressRefused: with `public_only`, the URL leads to another address.
        FetchError: it could not be fetched.
        NotAPage: it is neither a page nor plain text.
        PageTooLarge: it is over the limits.
    """
    from importlib.metadata import version  # noqa: PLC0415 - most users clean files

    import urllib3  # noqa: PLC0415

    headers = {"User-Agent": f"mainmatter/{version('mainmatter')}", "Accept": "text/html, */*"}
    # A server that says "try again in an hour" is not waited for.
    retries = urllib3.Retry(total=1, connect=1, read=0, respect_retry_after_header=False)
    address = url
    try:
        with urllib3.PoolManager(headers=headers, retries=retries, timeout=timeout) as http:
            if public_only:
                http.pool_classes_by_scheme = public_pools()
            for _ in range(1 + REDIRECTS):
                if public_only:
                    check_url(address)
                with http.request("GET", address, preload_content=False, redirect=False) as response:
                    location = response.get_redirect_location()
                    if not location:
                        return _to_page(response, address, url, limits)
                    address = urljoin(address, location)
    except AddressRefused as error:
        raise AddressRefused(f"{url}: is not fetched: {str(error).removeprefix(f'{url}: ')}") from error
    except (urllib3.exceptions.HTTPError, ValueError) as error:  # ValueError: a redirect to something that is not a URL
        raise FetchError(f"{url}: could not be fetched: {_reason(error)}") from error
    raise FetchError(f"{url}: could not be fetched: more than {REDIRECTS} redirects")


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
    end = time.monotonic() + DEADLINE
    while chunk := response.read1(_CHUNK, decode_content=True):
        body += chunk
        limits.check_size(len(body), url)
        if time.monotonic() > end:
            raise FetchError(f"{url}: could not be fetched: not complete after {DEADLINE:g} seconds")
    return bytes(body)


def _content_type(header: str) -> tuple[str, str | None]:
    """The media type and the charset of a Content-Type header."""
    if not header.strip():
        return "", None
    from email.message import Message  # noqa: PLC0415 - most users clean files

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

    The address of the host is checked when connecting (`public_pools`).

    Raises:
        AddressRefused: it is such a URL, or not a URL at all.
    """
    from urllib3.util import parse_url  # noqa: PLC0415 - the parser of those who connect

    try:
        parts = parse_url(url)
    except ValueError as error:
        raise AddressRefused(f"{url}: is not a valid URL: {error}") from error
    if parts.scheme not in ("http", "https"):
        raise AddressRefused(f"{url}: only http:// and https:// URLs are fetched, not {parts.scheme or 'this'}")
    if not parts.host:
        raise AddressRefused(f"{url}: names no host")
    if parts.auth is not None:
        raise AddressRefused(f"{url}: URLs with a user name or password are not fetched")
    if parts.port is not None and parts.port < FIRST_FREE_PORT and parts.port not in HTTP_PORTS:
        raise AddressRefused(f"{url}: port {parts.port} is not allowed; 80, 443, and those from 1024 on are")


def addresses_of(host: str, port: int) -> list[str]:
    """The addresses of a host.

    Raises:
        OSError: the name has none.
    """
    import socket  # noqa: PLC0415 - most users clean files

    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


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
            raise AddressRefused(f"{host} is {why}{also}, and pages are fetched from public addresses only")


def public_addresses(host: str, port: int) -> list[str]:
    """The addresses of a host, all of them public.

    Raises:
        AddressRefused: one of them is not.
        OSError: the name has none.
    """
    addresses = addresses_of(host, port)
    check_public(host, addresses)
    return addresses


@cache
def public_pools() -> dict[str, type[HTTPConnectionPool]]:
    """Connection pools, by scheme, whose connections go to public addresses only.

    A name is looked up once, and the address that was checked is the one that is connected to. TLS and the Host header
    still use the name.
    """
    import socket  # noqa: PLC0415 - most users clean files

    from urllib3.connection import HTTPConnection, HTTPSConnection  # noqa: PLC0415
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool  # noqa: PLC0415
    from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError  # noqa: PLC0415
    from urllib3.util.connection import create_connection  # noqa: PLC0415

    def connect(connection: Any) -> socket.socket:  # noqa: ANN401 - either of the two below
        try:
            addresses = public_addresses(connection._dns_host, connection.port)
        except socket.gaierror as error:
            raise NameResolutionError(connection.host, connection, error) from error
        except UnicodeError as error:  # a label that is empty or too long
            raise AddressRefused(f"{connection.host}: is not a host name") from error
        problem: OSError = OSError("no address")
        for address in addresses:
            try:
                return create_connection(
                    (address, connection.port), connection.timeout, socket_options=connection.socket_options
                )
            except TimeoutError as error:
                raise ConnectTimeoutError(
                    connection, f"Connection timed out. (connect timeout={connection.timeout})"
                ) from error
            except OSError as error:
                problem = error
        raise NewConnectionError(connection, f"Failed to establish a new connection: {problem}") from problem

    class PublicConnection(HTTPConnection):
        """Goes to public addresses only."""

        def _new_conn(self) -> socket.socket:
            return connect(self)

    class PublicTlsConnection(HTTPSConnection):
        """Goes to public addresses only, with encryption."""

        def _new_conn(self) -> socket.socket:
            return connect(self)

    class PublicPool(HTTPConnectionPool):
        ConnectionCls = PublicConnection

    class PublicTlsPool(HTTPSConnectionPool):
        ConnectionCls = PublicTlsConnection

    return {"http": PublicPool, "https": PublicTlsPool}
