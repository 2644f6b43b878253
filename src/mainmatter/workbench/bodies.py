"""Requests are read whole, within limits of size and time, before any work on them.

So a client that sends a byte at a time, or more than it announced, occupies no worker; and a client that disconnects
while it waits makes room for others.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from mainmatter.limits import format_size
from mainmatter.workbench.answers import busy_answer, error_answer, http_answer
from mainmatter.workbench.metrics import COUNTED_AS
from mainmatter.workbench.reading import FORM, MOST_VALUES, count_values, is_json, media_type_of, parse_json

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from mainmatter.workbench.settings import Settings
    from mainmatter.workbench.workers import Workers

LARGEST_UPLOADS_HELD = 4  # so many of the largest uploads may be in memory at once
REQUESTS_WITH_MOST_VALUES = 20  # may be in memory at once; a value of JSON takes up to 300 bytes there
_DRAIN_SECONDS = 2.0  # for a client that is to read our refusal while it still sends


class _Refused(Exception):
    """The request is refused unread; carries the answer, and whether to close the connection."""

    def __init__(self, answer: Response, *, closes: bool = True) -> None:
        super().__init__()
        self.answer = answer
        self.closes = closes


class _Gone(Exception):
    """The client has disconnected."""


class Bodies:
    """Middleware that reads requests, and ends the work on those whose client has disconnected.

    Args:
        app: the application that answers.
        settings: how large and slow requests may be.
        workers: where they are full, requests for `work` are refused here, which costs next to nothing.
        work: the paths of what cannot be done without a worker.
    """

    def __init__(self, app: ASGIApp, settings: Settings, workers: Workers, work: frozenset[str] = frozenset()) -> None:
        self._app = app
        self._settings = settings
        self._workers = workers
        self._work = work
        self._held = 0  # bytes of requests that are in memory now
        self._values = 0  # of their JSON

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read a request and pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = bytearray()
        values = 0
        try:
            if scope["path"] in self._work and scope["method"] == "POST" and self._workers.is_full:
                scope[COUNTED_AS] = scope["path"]
                raise _Refused(busy_answer(self._workers.retry_after()), closes=False)
            await self._read(scope, receive, body)
            data = bytes(body)
            values = self._count(scope, data)
            await _answer(self._app, data, scope, receive, send)
        except _Gone:
            return
        except _Refused as refused:
            await _refuse(refused, scope, receive, send)
        except HTTPException as error:
            await http_answer(error)(scope, receive, send)
        finally:
            self._held -= len(body)
            self._values -= values

    async def _read(self, scope: Scope, receive: Receive, body: bytearray) -> None:
        headers = Headers(scope=scope)
        is_upload = media_type_of(headers) == FORM
        most = self._settings.max_upload_bytes if is_upload else self._settings.max_bytes
        said = headers.get("content-length", "0")
        if said.isdecimal() and int(said) > most:
            raise _Refused(_too_large(most))
        try:
            async with asyncio.timeout(self._settings.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _Gone
                    self._take(message.get("body", b""), body, most)
                    if not message.get("more_body", False):
                        return
        except TimeoutError:
            seconds = self._settings.body_seconds
            raise _Refused(
                error_answer(408, f"the request was not complete after {seconds:g} s", "send it faster")
            ) from None

    def _take(self, chunk: bytes, body: bytearray, most: int) -> None:
        if len(body) + len(chunk) > most:
            raise _Refused(_too_large(most))
        if self._held + len(chunk) > LARGEST_UPLOADS_HELD * self._settings.max_upload_bytes:
            raise _Refused(busy_answer(2))
        self._held += len(chunk)
        body += chunk

    def _count(self, scope: Scope, body: bytes) -> int:
        """How many values a JSON request has. It is also parsed here, so that all calls answer broken JSON alike.

        Raises:
            HTTPException: it claims to be JSON and is not, or has too many values; or other requests have too many
                already.
        """
        if not body or not is_json(media_type_of(Headers(scope=scope))):
            return 0
        count = count_values(body)
        if count > MOST_VALUES:
            raise HTTPException(413, f"the request has more than {MOST_VALUES:,} values of JSON; send fewer at once")
        if self._values + count > REQUESTS_WITH_MOST_VALUES * MOST_VALUES:
            raise HTTPException(429, "the server is busy; try again in a moment", {"Retry-After": "2"})
        parse_json(body, "the request")
        self._values += count
        return count


def _too_large(most: int) -> Response:
    return error_answer(
        413,
        f"the request has more than {format_size(most)}",
        "send less, or start the server with a larger --max-size or --max-upload",
    )


async def _refuse(refused: _Refused, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer at once, then read some of what is still arriving: a client that is cut off never reads the answer."""
    answer = refused.answer
    if refused.closes:
        answer.headers["Connection"] = "close"
    await send({"type": "http.response.start", "status": answer.status_code, "headers": answer.raw_headers})
    await send({"type": "http.response.body", "body": bytes(answer.body), "more_body": True})
    waits_for_us = Headers(scope=scope).get("expect", "").lower() == "100-continue"
    if not waits_for_us:
        try:
            async with asyncio.timeout(_DRAIN_SECONDS):
                while (await receive()).get("more_body", False):
                    pass
        except TimeoutError:
            pass
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _answer(app: ASGIApp, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
    """Let the application answer; stop its work if the client disconnects before the answer begins."""
    has_begun = False
    is_read = False
    gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def receive_body() -> Message:
        nonlocal is_read
        if not is_read:
            is_read = True
            return {"type": "http.request", "body": body, "more_body": False}
        await asyncio.shield(gone)
        return {"type": "http.disconnect"}

    async def note_begin(message: Message) -> None:
        nonlocal has_begun
        has_begun = True
        await send(message)

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        if not gone.done():
            gone.set_result(None)
        if not has_begun:
            working.cancel()

    working = asyncio.ensure_future(app(scope, receive_body, note_begin))
    watching = asyncio.ensure_future(watch())
    try:
        await working
    except asyncio.CancelledError:
        if not gone.done():  # the server itself is being stopped
            working.cancel()
            raise
    finally:
        watching.cancel()
