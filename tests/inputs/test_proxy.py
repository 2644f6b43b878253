"""The proxy of a browser: where it goes, what it passes on, and when it ends."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest

from mainmatter.inputs import fetch as fetching
from mainmatter.inputs.fetch import why_not_public
from mainmatter.inputs.proxy import CheckingProxy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

ANSWER = b"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nConnection: keep-alive\r\nContent-Length: 4\r\n\r\npage"


@pytest.fixture(autouse=True)
def _one_public_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "why_not_public", lambda ip: None if ip == "127.0.0.2" else why_not_public(ip))


@asynccontextmanager
async def server(answer: Callable[[bytes], bytes], host: str = "127.0.0.2") -> AsyncIterator[tuple[int, list[bytes]]]:
    """A server that answers what it reads at once; its port, and what it read."""
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                seen.append(data)
                writer.write(answer(data))
                await writer.drain()
                if data.startswith((b"GET", b"POST")):
                    break
        writer.close()

    async with await asyncio.start_server(serve, host, 0) as listening:
        yield listening.sockets[0].getsockname()[1], seen


async def ask(proxy: CheckingProxy, *pieces: bytes) -> bytes:
    """Send something to the proxy, and read until it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.02)
        async with asyncio.timeout(5):
            return await reader.read()
    except ConnectionError:  # it did not read all that was sent
        return b""
    finally:
        writer.close()


def run(work: Callable[[CheckingProxy], Awaitable[None]], **options: Any) -> CheckingProxy:
    async def all_of_it() -> CheckingProxy:
        async with CheckingProxy(**{"public_only": True, "most_bytes": 10_000_000} | options) as proxy:
            await work(proxy)
        return proxy

    return asyncio.run(all_of_it())


def test_one_request_is_passed_on_and_no_other_on_its_connection() -> None:
    sizes: list[int] = []

    async def work(proxy: CheckingProxy) -> None:
        async with server(lambda _: ANSWER) as (port, seen):
            host = f"127.0.0.2:{port}".encode()
            first = b"GET http://%b/a?b=c HTTP/1.1\r\nHost: %b\r\nProxy-Connection: keep-alive\r\nX: y\r\n\r\n" % (
                host,
                host,
            )
            answer = await ask(proxy, first + b"GET http://127.0.0.1/other HTTP/1.1\r\n\r\n")
            sizes.append(len(first))
            assert seen == [b"GET /a?b=c HTTP/1.1\r\nHost: %b\r\nX: y\r\nConnection: close\r\n\r\n" % host]
            assert answer == b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\npage"

    proxy = run(work)
    assert (proxy.refused, proxy.problems, proxy.is_full) == ({}, {}, False)
    assert proxy.bytes == sizes[0] + len(ANSWER)


def test_the_body_of_a_request_is_passed_on() -> None:
    async def work(proxy: CheckingProxy) -> None:
        async with server(lambda data: ANSWER if data.endswith(b"body") else b"") as (port, seen):
            head = f"POST http://127.0.0.2:{port} HTTP/1.1\r\nContent-Length: 4\r\n\r\n".encode()
            assert (await ask(proxy, head + b"body, and more")).endswith(b"page")
            assert b"".join(seen).startswith(b"POST / HTTP/1.1\r\n")
            assert b"".join(seen).endswith(b"\r\n\r\nbody")

    run(work)


HINT = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"


@pytest.mark.parametrize(("hints", "is_answered"), [(1, True), (10, True), (11, False), (1000, False)])
def test_a_few_hints_before_an_answer_are_left_out(hints: int, is_answered: bool) -> None:
    async def work(proxy: CheckingProxy) -> None:
        async with server(lambda _: HINT * hints + ANSWER) as (port, _):
            answer = await ask(proxy, f"GET http://127.0.0.2:{port}/ HTTP/1.1\r\n\r\n".encode())
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n" if is_answered else b"")
            assert bool(answer) == is_answered

    assert run(work).bytes > len(HINT) * min(hints, 11)


@pytest.mark.parametrize("answer", [HINT[:-4] + b"x" * 100_000 + HINT[-4:], b"x" * 300_000, b"x" * 100_000])
def test_heads_count_complete_or_not(answer: bytes) -> None:
    async def work(proxy: CheckingProxy) -> None:
        async with server(lambda _: answer) as (port, _):
            for _ in range(3):
                assert await ask(proxy, f"GET http://127.0.0.2:{port}/ HTTP/1.1\r\n\r\n".encode()) == b""

    assert run(work, most_bytes=200_000).is_full
    proxy = run(work, most_bytes=3_000_000)
    assert proxy.bytes > 3 * min(len(answer), 250_000)
    assert not proxy.is_full


def test_the_heads_of_requests_count() -> None:
    async def work(proxy: CheckingProxy) -> None:
        async with server(lambda _: ANSWER) as (port, _):
            request = f"GET http://127.0.0.2:{port}/ HTTP/1.1\r\nX: {'x' * 60_000}\r\n\r\n".encode()
            answers = [await ask(proxy, request) for _ in range(3)]
            assert [bool(answer) for answer in answers] == [True, False, False]

    assert run(work, most_bytes=100_000).is_full


def test_a_tunnel_goes_both_ways() -> None:
    async def work(proxy: CheckingProxy) -> None:
        async with server(bytes.upper) as (port, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
            writer.write(f"CONNECT 127.0.0.2:{port} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 200 Connection established\r\n\r\n"
            for _ in range(2):
                writer.write(b"hello")
                assert await reader.readexactly(5) == b"HELLO"
            writer.close()

    assert run(work).bytes - 20 in range(40, 60)  # the head of the request


@pytest.mark.parametrize("request_line", ["GET http://{}/ HTTP/1.1", "CONNECT {} HTTP/1.1"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "0", "two.example"])
def test_what_is_not_public_is_refused(request_line: str, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.getaddrinfo

    def look_up(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "two.example":  # one address is public, the other is not
            return [*real("127.0.0.2", *args, **kwargs), *real("127.0.0.1", *args, **kwargs)]
        return real(name, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)

    async def work(proxy: CheckingProxy) -> None:
        async with server(lambda _: ANSWER, "127.0.0.1") as (port, seen):
            answer = await ask(proxy, f"{request_line.format(f'{host}:{port}')}\r\n\r\n".encode())
            assert answer.startswith(b"HTTP/1.1 403 Forbidden\r\n")
            assert seen == []

    proxy = run(work)
    assert list(proxy.refused.values()) == [1]
    (why,) = proxy.problems.values()
    assert "and pages are fetched from public addresses only" in why


def answer_names(monkeypatch: pytest.MonkeyPatch, **names: list[list[str]]) -> list[str]:
    """Have `name.example` the addresses of its first answer, then of its second, ...; returns who was asked for."""
    real = socket.getaddrinfo
    asked: list[str] = []

    def look_up(name: str, *args: Any, **kwargs: Any) -> Any:
        asked.append(name)
        found = names.get(name.removesuffix(".example"), [[name]])
        answer = found[min(asked.count(name), len(found)) - 1]
        return [entry for address in answer for entry in real(address, *args, **kwargs)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


@pytest.mark.parametrize("public_only", [True, False])
def test_a_name_is_looked_up_once_for_a_load(public_only: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answer_names(monkeypatch, rebinding=[["127.0.0.2"], ["127.0.0.1"]])

    async def work(proxy: CheckingProxy) -> None:
        async with server(lambda _: ANSWER) as (port, seen):
            request = f"GET http://rebinding.example:{port}/ HTTP/1.1\r\n\r\n".encode()
            for _ in range(2):
                assert (await ask(proxy, request)).endswith(b"page")
            assert len(seen) == 2

    run(work, public_only=public_only)
    assert asked.count("rebinding.example") == 1


@pytest.mark.parametrize("host", ["127.0.0.2", "two.example", "three.example"])
def test_a_document_of_a_host_that_is_public_in_part_reaches_nothing_private(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_names(
        monkeypatch, two=[["127.0.0.2", "127.0.0.1"], ["127.0.0.1"]], three=[["127.0.0.1", "10.0.0.1", "127.0.0.2"]]
    )

    async def work(proxy: CheckingProxy) -> None:
        proxy.add_document(host)
        async with server(lambda _: ANSWER) as (port, seen), server(lambda _: ANSWER, "127.0.0.1") as (private, secret):
            document = await ask(proxy, f"GET http://{host}:{port}/ HTTP/1.1\r\n\r\n".encode())
            assert document.startswith(b"HTTP/1.1 200 " if host == "127.0.0.2" else b"HTTP/1.1 403 ")
            for name in ("127.0.0.1", "localhost", host):
                answer = await ask(proxy, f"GET http://{name}:{private}/ HTTP/1.1\r\n\r\n".encode())
                assert not answer.endswith(b"page")
            assert secret == []
            assert len(seen) == (host == "127.0.0.2")

    assert run(work, public_only=False).public_only


def test_a_private_document_reaches_what_is_private_until_a_public_one_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    # Private when first asked for, public ever after: the page is that of the private address.
    answer_names(monkeypatch, home=[["127.0.0.1", "127.0.0.3"], ["127.0.0.2"]], public=[["127.0.0.2"]])

    async def work(proxy: CheckingProxy) -> None:
        async with server(lambda _: ANSWER) as (port, seen), server(bytes.upper, "127.0.0.1") as (private, secret):
            assert [await proxy.is_private(f"{name}.example", 80) for name in ("home", "public", "no")] == [
                True,
                False,
                False,
            ]
            proxy.add_document("home.example")
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
            writer.write(f"CONNECT home.example:{private} HTTP/1.1\r\n\r\n".encode())
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"hello")
            assert await reader.readexactly(5) == b"HELLO"
            script = f"GET http://public.example:{port}/script HTTP/1.1\r\n\r\n".encode()
            assert (await ask(proxy, script)).endswith(b"page")
            before = proxy.public_only
            proxy.add_document("public.example")
            assert (before, proxy.public_only) == (False, True)
            assert await reader.read() == b""  # the tunnel would be there for the public page
            writer.close()
            assert (await ask(proxy, script)).endswith(b"page")
            answer = await ask(proxy, f"GET http://home.example:{private}/ HTTP/1.1\r\n\r\n".encode())
            assert answer.startswith(b"HTTP/1.1 403 ")
            assert (len(seen), secret) == (2, [b"hello"])

    run(work, public_only=False)


def test_private_addresses_if_they_are_allowed() -> None:
    async def work(proxy: CheckingProxy) -> None:
        async with server(lambda _: ANSWER, "127.0.0.1") as (port, _):
            assert (await ask(proxy, f"GET http://localhost:{port}/ HTTP/1.1\r\n\r\n".encode())).endswith(b"page")

    run(work, public_only=False)


@pytest.mark.parametrize(
    ("request_line", "answer"),
    [
        ("GET / HTTP/1.1", b"HTTP/1.1 400 "),
        ("GET https://127.0.0.2/ HTTP/1.1", b"HTTP/1.1 400 "),
        ("GET ftp://127.0.0.2/ HTTP/1.1", b"HTTP/1.1 400 "),
        ("CONNECT 127.0.0.2:25 HTTP/1.1", b"HTTP/1.1 403 "),
        ("GET http://no-such-host.invalid/ HTTP/1.1", b"HTTP/1.1 502 "),
        ("GET http://a..b/ HTTP/1.1", b"HTTP/1.1 "),
        ("nonsense", b""),
        ("GET http://127.0.0.2:99999/ HTTP/1.1", b""),
        ("GET http://127.0.0.2/" + "x" * 300_000 + " HTTP/1.1", b""),
    ],
)  # fmt: skip
def test_requests_that_lead_nowhere(request_line: str, answer: bytes) -> None:
    async def work(proxy: CheckingProxy) -> None:
        with suppress(ConnectionError):  # it closes before all of a long line is sent
            found = await ask(proxy, f"{request_line}\r\n\r\n".encode())
            assert found.startswith(answer)
            assert answer or not found

    run(work)


def test_a_server_that_does_not_answer_as_servers_do() -> None:
    async def work(proxy: CheckingProxy) -> None:
        async with server(lambda _: b"SSH-2.0\r\n") as (port, _):
            assert await ask(proxy, f"GET http://127.0.0.2:{port}/ HTTP/1.1\r\n\r\n".encode()) == b""
        request = f"GET http://127.0.0.2:{port}/ HTTP/1.1\r\n\r\n".encode()  # nobody listens there any more
        assert (await ask(proxy, request)).startswith(b"HTTP/1.1 502 ")
        assert proxy.problems == {f"127.0.0.2:{port}": f"no connection to 127.0.0.2:{port}: Connection refused"}

    run(work)


def test_all_ends_when_too_much_has_passed() -> None:
    async def work(proxy: CheckingProxy) -> None:
        async with server(lambda _: ANSWER + b"x" * 1_000_000) as (port, seen):
            request = f"GET http://127.0.0.2:{port}/ HTTP/1.1\r\n\r\n".encode()
            assert len(await ask(proxy, request)) <= 300_000
            assert await ask(proxy, request) == b""
            assert len(seen) == 1

    proxy = run(work, most_bytes=200_000)
    assert proxy.is_full
    assert 200_000 < proxy.bytes < 300_000
