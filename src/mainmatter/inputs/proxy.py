"""A forward proxy for a browser, which goes to public addresses only and counts what passes.

A browser that runs the scripts of strangers must not reach the machines around it. It sends everything here
(HTTP, and tunnels for HTTPS and WebSockets); here a name is looked up once, and the address that was checked is the one
that is connected to. So neither names that change their address (DNS rebinding) nor redirects lead anywhere else.

A user may allow pages of a private network to reach that network. This ends for good as soon as a document, which may
have scripts, comes from a host with a public address.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections import Counter
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit

from mainmatter.inputs.fetch import AddressRefused, addresses_of, are_private, check_public, check_url

_CHUNK = 65_536
_LONGEST_HEAD = 262_144  # bytes of a request's or an answer's head
_MOST_HINTS = 10  # heads before that of the answer (1xx); few servers send more than one
_CONNECT_SECONDS = 10.0  # for finding the addresses of a host, and for connecting to each
_HEAD_SECONDS = 30.0  # for a request's head: browsers open connections in advance
_OF_ONE_CONNECTION = (b"connection:", b"keep-alive:", b"proxy-connection:", b"proxy-authorization:")


class CheckingProxy:
    """A proxy on a port of this machine. Use it in an `async with`.

    Args:
        public_only: refuse addresses that are not public, and ports of other services than web servers. Otherwise that
            begins with the first document of a host that is not private (`add_document`).
        most_bytes: how many may pass, in both directions together, before all connections are closed.

    Attributes:
        port: where it listens.
        public_only: whether addresses that are not public are refused now.
        bytes: how many have passed, or were read, heads of requests and answers included.
        is_full: whether those were too many.
        refused: how often each `host:port` was refused.
        problems: what was wrong with a `host:port`, in words: it was refused, has no address, does not answer.
    """

    def __init__(self, *, public_only: bool, most_bytes: int) -> None:
        self.port = 0
        self.bytes = 0
        self.is_full = False
        self.refused: Counter[str] = Counter()
        self.problems: dict[str, str] = {}
        self.public_only = public_only
        self._most_bytes = most_bytes
        self._server: asyncio.Server | None = None
        self._under_way: set[asyncio.Task[None]] = set()
        self._addresses: dict[str, list[str]] = {}  # of each host, as long as this proxy is there
        self._documents: set[str] = set()  # hosts
        self._private_connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_LONGEST_HEAD)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        tasks = list(self._under_way)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def add_document(self, host: str) -> None:
        """Note that a document is requested from a host; once it is loaded, its scripts may request anything."""
        self._documents.add(host)
        self._check_documents()

    async def is_private(self, host: str, port: int) -> bool:
        """Whether a host has addresses, and none of them is public."""
        try:
            return are_private(await self._look_up(host, port))
        except (OSError, UnicodeError):
            return False

    def _check_documents(self) -> None:
        """Go to public addresses only, from the first document on that comes from a public one."""
        known = [self._addresses[host] for host in self._documents if host in self._addresses]
        if not self.public_only and not all(map(are_private, known)):
            self.public_only = True
            for task in self._private_connections:  # a browser keeps tunnels for other requests
                task.cancel()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._under_way.add(task)
        try:
            # Whatever goes wrong with a connection ends that connection.
            with suppress(OSError, EOFError, ValueError, asyncio.LimitOverrunError):
                if not self.is_full:
                    await self._serve(reader, writer)
        except asyncio.CancelledError:  # by us
            if self.is_full:
                _reset(writer)
        finally:
            self._under_way.discard(task)
            self._private_connections.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one request, and close."""
        async with asyncio.timeout(_HEAD_SECONDS):
            head = await self._read_head(reader)
        method, target, _ = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
        parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
        if not parts.hostname or (method != "CONNECT" and parts.scheme != "http"):
            writer.write(_answer("400 Bad Request"))
            return
        try:
            server_reader, server_writer = await self._connect(parts.hostname, parts.port or 80)
        except AddressRefused:
            writer.write(_answer("403 Forbidden"))
            return
        except OSError:
            writer.write(_answer("502 Bad Gateway"))
            return
        try:
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await self._tunnel((reader, server_writer), (server_reader, writer))
            else:
                path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                server_writer.write(_for_one_connection(head, f"{method} {path} HTTP/1.1".encode("latin-1")))
                sending = asyncio.ensure_future(self._copy(reader, server_writer, _body_length(head)))
                try:
                    await self._pass_answer(server_reader, writer)
                finally:
                    sending.cancel()
                    await asyncio.gather(sending, return_exceptions=True)
        finally:
            server_writer.close()

    async def _connect(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to a host, at an address that was checked.

        Raises:
            AddressRefused: it may not be connected to.
            OSError: it cannot.
        """
        name = f"{host}:{port}"
        try:
            addresses = await self._look_up(host, port)
            self._check_documents()
            if self.public_only:
                check_url(f"http://{f'[{host}]' if ':' in host else host}:{port}/")
                check_public(host, addresses)
        except AddressRefused as error:
            self.refused[name] += 1
            self.problems[name] = str(error)
            raise
        except (OSError, UnicodeError) as error:
            self.problems[name] = f"{host} has no address: {getattr(error, 'strerror', None) or error}"
            raise OSError(self.problems[name]) from error
        task = asyncio.current_task()
        if task is not None and any(are_private([address]) for address in addresses):
            self._private_connections.add(task)
        problem: OSError = OSError("no address")
        for address in addresses:
            try:
                async with asyncio.timeout(_CONNECT_SECONDS):
                    return await asyncio.open_connection(address, port, limit=_LONGEST_HEAD)
            except OSError as error:  # also TimeoutError
                problem = error
        why = os.strerror(problem.errno) if problem.errno else "no answer"
        self.problems[name] = f"no connection to {name}: {why}"
        raise problem

    async def _look_up(self, host: str, port: int) -> list[str]:
        """The addresses of a host, which are the same for the whole load."""
        if host not in self._addresses:
            found = await asyncio.get_running_loop().run_in_executor(None, addresses_of, host, port, _CONNECT_SECONDS)
            self._addresses.setdefault(host, found)
        return self._addresses[host]

    async def _tunnel(self, *ways: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
        """Copy both ways until one of them ends."""
        copying = [asyncio.ensure_future(self._copy(*way)) for way in ways]
        try:
            await asyncio.wait(copying, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in copying:
                one.cancel()
            await asyncio.gather(*copying, return_exceptions=True)

    async def _pass_answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on the answer to a request, saying that the connection is then closed."""
        for _ in range(1 + _MOST_HINTS):
            head = await self._read_head(reader)
            if not head.startswith((b"HTTP/1.1 1", b"HTTP/1.0 1")):  # 103: early hints
                writer.write(_for_one_connection(head, head.partition(b"\r\n")[0]))
                await self._copy(reader, writer)
                return

    async def _read_head(self, reader: asyncio.StreamReader) -> bytes:
        """Read the head of a request or an answer; one that is too long, or never complete, counts as well."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            self._count(len(error.partial))
            raise
        except asyncio.LimitOverrunError as error:
            self._count(error.consumed)
            raise
        self._count(len(head))
        return head

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int | None = None) -> None:
        while most is None or most > 0:
            data = await reader.read(_CHUNK if most is None else min(_CHUNK, most))
            if not data:
                break
            self._count(len(data))
            writer.write(data)
            await writer.drain()
            most = None if most is None else most - len(data)

    def _count(self, number: int) -> None:
        self.bytes += number
        if self.bytes > self._most_bytes and not self.is_full:
            self.is_full = True
            for task in self._under_way:
                task.cancel()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Break a connection off: if it were closed, an answer that announced no length would look complete."""
    connection = writer.get_extra_info("socket")
    if connection.fileno() != -1:  # else it is closed
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _answer(status: str) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()


def _for_one_connection(head: bytes, first_line: bytes) -> bytes:
    """The head of a request or an answer, after which the connection is closed."""
    lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")[1:]
    kept = [line for line in lines if not line.lower().startswith(_OF_ONE_CONNECTION)]
    return b"\r\n".join([first_line, *kept, b"Connection: close", b"", b""])


def _body_length(head: bytes) -> int:
    """How long a request's body is: browsers say so, and send no other bodies to proxies."""
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0
