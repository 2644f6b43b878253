"""Connections: a client that does not send the head of its request in time is cut off.

uvicorn waits for ever; so anybody who can reach the server, token or not, could hold all the connections that it may
have, at no cost (Slowloris). How long the rest of a request may take is limited in bodies.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

HEAD_SECONDS = 20.0  # from the connection, or from the first byte of a later request


class Connection(H11Protocol):
    """A connection that ends when the head of a request is not there in time."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 - uvicorn's
        super().__init__(*arguments, **named)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what came; if that is not yet a request, the clock goes on."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget about the time."""
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
