"""Lines that an agent's program sends to `mainmatter mcp`: the whole server, without a process and a network."""

from __future__ import annotations

import json
import socket
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, jsonrpc_message_adapter
from pydantic import ValidationError

from fuzz.mutation import mutate_bytes, mutate_json
from fuzz.requests import refuse_names
from fuzz.target import Target
from mainmatter.workbench import agents
from mainmatter.workbench.agents import AgentTools, to_refusal
from mainmatter.workbench.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path
    from random import Random

_LAST = "the last one"
_CLIENT = {"name": "fuzz", "version": "1"}
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
_NAMES = (
    b"html url max_tokens start links chunks dial only limit read_page clean_html explain tools/call _meta id".split()
)
_PAGE = "<h1>Fog</h1><p>Ships need signals in fog, <a href=/b>bells</a> and horns.</p>"
_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("tools/list", {}),
    ("tools/call", {"name": "clean_html", "arguments": {"html": _PAGE, "url": "https://a.example/", "dial": 0.5}}),
    ("tools/call", {"name": "clean_html", "arguments": {"html": _PAGE, "chunks": True, "max_tokens": 50, "start": 0}}),
    ("tools/call", {"name": "explain", "arguments": {"html": _PAGE, "only": "kept", "start": 1, "limit": 5}}),
    ("tools/call", {"name": "read_page", "arguments": {"url": "https://a.example/", "links": False}}),
    ("ping", {}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "a"}, "argument": {"name": "a", "value": "b"}}),
    ("logging/setLevel", {"level": "debug"}),
)
_START = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _CLIENT}


def _request(id_: int | str, method: str, params: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}).encode()


def mcp_lines(folder: Path) -> Target:
    """Each request is answered, and each line that is no message; after any of them the server still answers."""
    socket.getaddrinfo = refuse_names  # type: ignore[assignment]
    tools = AgentTools(Settings(folder=folder, workers=1), "main")

    async def run(task: Any, /, **arguments: Any) -> Any:
        return task(**arguments)

    tools.workers.run = run  # type: ignore[method-assign]
    server = tools.to_server()

    async def talk(lines: list[bytes]) -> None:
        items = [_parse(line) for line in (*lines, _request(_LAST, "ping", {}))]
        send, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](len(items))
        outgoing, answers = anyio.create_memory_object_stream[SessionMessage](1000)

        @asynccontextmanager
        async def streams(*_: object) -> AsyncIterator[Any]:
            yield incoming, outgoing

        agents.stdio_server = streams  # type: ignore[assignment, attr-defined]
        async with anyio.create_task_group() as tasks, send:
            tasks.start_soon(server.run_stdio_async)
            for item in items:
                await send.send(item)
            expected = _expected(items)
            while expected:
                answer = (await answers.receive()).message
                answer.model_dump_json(by_alias=True, exclude_unset=True)  # as it would be written
                if isinstance(answer, JSONRPCError | JSONRPCResponse):
                    expected.subtract([answer.id])
                    expected = +expected

    def read(data: bytes) -> None:
        anyio.run(talk, data.split(b"\n"))

    calls = [_request(number, method, params) for number, (method, params) in enumerate(_CALLS)]
    modern = [_request(number, method, {"_meta": _META, **params}) for number, (method, params) in enumerate(_CALLS)]
    start = _request("start", "initialize", _START)
    cancelled = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}'
    seeds = [*(b"\n".join((start, call)) for call in calls), *modern, b"\n".join((start, *calls, cancelled))]
    return Target(read, seeds, _NAMES, mutate=_mutate_lines)


def _parse(line: bytes) -> SessionMessage | Exception:
    """A line, as the SDK reads it."""
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line.decode("utf-8", "replace"), by_name=False))
    except ValidationError as error:
        return error


def _expected(items: Sequence[SessionMessage | Exception]) -> Counter[int | str | None]:
    """The ids of the answers that must come; a request that was cancelled may have none."""
    expected: Counter[int | str | None] = Counter()
    for item in items:
        if isinstance(item, Exception):
            expected[to_refusal(item).id] += 1
        elif isinstance(item.message, JSONRPCRequest):
            expected[item.message.id] += 1
        elif isinstance(item.message, JSONRPCNotification) and item.message.method == "notifications/cancelled":
            return Counter([_LAST])
    return expected


def _mutate_lines(rng: Random, data: bytes, tokens: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """Mutate one line, mostly the values of its JSON, or now and then all bytes."""
    if rng.random() < 0.1:
        return mutate_bytes(rng, data, tokens, others)
    lines = data.split(b"\n")
    number = rng.randrange(len(lines))
    lines[number] = mutate_json(rng, lines[number], tokens, others)
    return b"\n".join(lines)
