"""Connections: clients that are slow to send a request's head are cut off; requests with two lengths are refused.

uvicorn waits forever, so anybody who can reach the server, with or without a token, could hold all its connections at
no cost (Slowloris). How long the rest of a request may take is limited in bodies.py.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

HEAD_SECONDS = 20.0  # from the connection, or from the first byte of a later request


class _OneLength(h11.Connection):
    """HTTP in which the end of a request is unambiguous: a proxy might use the other length, and see two requests."""

    def next_event(self) -> Any:  # h11's
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if {b"content-length", b"transfer-encoding"} <= names:
                raise h11.RemoteProtocolError("both Content-Length and Transfer-Encoding")
        return event


class Connection(H11Protocol):
    """A connection that ends if the head of a request does not arrive in time or is malformed."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # uvicorn's
        super().__init__(*arguments, **named)
        self.conn = _OneLength(h11.SERVER)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take the data; until it is a whole request head, the clock keeps running."""
        super().data_received(data)
        self._watch()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's words
        """Answer malformed HTTP in the format of all our errors."""
        hint = "send either Content-Length or Transfer-Encoding, once, and nothing else that HTTP/1.1 does not allow"
        content = json.dumps({"error": "the request is not valid HTTP/1.1", "hint": hint}).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(content))), ("Connection", "close")]
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):  # else the answer to what came before is under way
            for event in (h11.Response(status_code=400, headers=headers), h11.Data(data=content), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        super().connection_lost(exc)
        self._stop_clock()

    def _watch(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:  # a request is being read or answered
            self._stop_clock()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_clock(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
