"""Which addresses of the internet are public, and connections that go to no others.

A server that fetches pages for strangers must not be sent to the machines behind it (server-side request forgery). What
counts is the address that is connected to, not how a URL writes it: names, their DNS answers, which may change between
two questions, and redirects all end here.
"""

from __future__ import annotations

import socket
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Any

from mainmatter.errors import FetchError

if TYPE_CHECKING:
    from urllib3.connectionpool import HTTPConnectionPool

    Address = IPv4Address | IPv6Address

HTTP_PORTS = frozenset((80, 443))
FIRST_FREE_PORT = 1024  # below are services of the system: mail, name servers, ...

# What `is_global` of some version of Python lets through, or what is global by the book but never on the web.
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
    """A URL leads to where this server does not go for others."""


def why_not_public(address: str) -> str | None:
    """What an IP address is, in words, if it is not one of the public internet; None if it is.

    IPv6 addresses that stand for an IPv4 address (mapped, 6to4, NAT64, Teredo, ISATAP) are what that one is.

    Raises:
        ValueError: it is no IP address.
    """
    ip = ip_address(address.partition("%")[0])
    for name, words in (
        ("is_unspecified", "no address of a machine"),
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


def _inside(ip: Address) -> list[IPv4Address]:
    """The IPv4 addresses that an IPv6 address stands for, or is carried by."""
    if isinstance(ip, IPv4Address):
        return []
    found = [each for each in (ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())) if each is not None]
    number = int(ip)
    if ip in _NAT64 or (number >> 32) & 0xFFFFFFFF in _ISATAP:
        found.append(IPv4Address(number & 0xFFFFFFFF))
    return found


def check_url(url: str) -> None:
    """Refuse URLs that no web page has: other schemes, passwords, ports of other services.

    Where the host leads is found out when connecting (`public_pools`).

    Raises:
        AddressRefused: it is such a URL, or none at all.
    """
    from urllib3.util import parse_url  # noqa: PLC0415 - the parser of those who connect

    try:
        parts = parse_url(url)
    except ValueError as error:
        raise AddressRefused(f"{url}: is no address of a page: {error}") from error
    if parts.scheme not in ("http", "https"):
        raise AddressRefused(f"{url}: only http:// and https:// are fetched, not {parts.scheme or 'this'}")
    if not parts.host:
        raise AddressRefused(f"{url}: names no host")
    if parts.auth is not None:
        raise AddressRefused(f"{url}: addresses with a user name or password are not fetched")
    if parts.port is not None and parts.port < FIRST_FREE_PORT and parts.port not in HTTP_PORTS:
        raise AddressRefused(f"{url}: port {parts.port} is not one of web pages; 80, 443, and those from 1024 on are")


def public_addresses(host: str, port: int) -> list[str]:
    """The addresses of a host, all of them public.

    Raises:
        AddressRefused: one of them is not.
        OSError: the name has none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for address in addresses:
        why = why_not_public(address)
        if why is not None:
            raise AddressRefused(f"{host} is {why}, and pages are fetched from public addresses only")
    return addresses


@cache
def public_pools() -> dict[str, type[HTTPConnectionPool]]:
    """Connection pools, by scheme, whose connections go to public addresses only.

    A name is looked up once, and the address that was checked is the one that is connected to. TLS and the header Host
    go by the name all the same.
    """
    from urllib3.connection import HTTPConnection, HTTPSConnection  # noqa: PLC0415 - most users clean files
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool  # noqa: PLC0415
    from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError  # noqa: PLC0415
    from urllib3.util.connection import create_connection  # noqa: PLC0415

    def connect(connection: Any) -> socket.socket:  # noqa: ANN401 - either of the two below
        try:
            addresses = public_addresses(connection._dns_host, connection.port)
        except socket.gaierror as error:
            raise NameResolutionError(connection.host, connection, error) from error
        except UnicodeError as error:  # a label that is empty or too long
            raise AddressRefused(f"{connection.host}: is no name of a host") from error
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
