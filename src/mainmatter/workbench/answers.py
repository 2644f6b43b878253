"""Errors as answers, all in JSON: {"error": what is wrong, "hint": what to do about it}."""

from __future__ import annotations

import logging
import os
import secrets
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse

from mainmatter.errors import (
    CorpusError,
    DatasetError,
    FetchError,
    InputError,
    MainmatterError,
    MissingExtra,
    ModelError,
    NotAPage,
    PageTooLarge,
    UnknownName,
)
from mainmatter.inputs.fetch import AddressRefused
from mainmatter.workbench.html_pages import html_page
from mainmatter.workbench.labels.records import CannotStore, NoSuchImport, NoSuchPage, Stale, StillLabelling
from mainmatter.workbench.workers import (
    CANNOT_WRITE,
    UNFORESEEN,
    Busy,
    CannotWrite,
    Crashed,
    TookTooLong,
    TookTooMuchMemory,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fastapi import FastAPI, Request
    from starlette.responses import Response

Value = TypeVar("Value")

_log = logging.getLogger("mainmatter.workbench")
_MOST_PROBLEMS = 5  # of a request that are named
_LONGEST_ERROR = 10_000  # characters; it may quote what clients sent, such as a URL or the name of a field

STATUSES: dict[type[Exception], int] = {
    MainmatterError: 422,
    PageTooLarge: 413,
    TookTooMuchMemory: 413,
    AddressRefused: 422,
    FetchError: 502,
    Busy: 429,
    TookTooLong: 504,
    Crashed: 500,
    CannotWrite: 507,
    CannotStore: 507,
    NoSuchPage: 404,
    NoSuchImport: 404,
    StillLabelling: 409,
    Stale: 409,
}
# Hints for errors whose messages do not end with one after a semicolon; the nearest class counts.
HINTS: dict[type[Exception], str] = {
    MainmatterError: "/api describes what each call takes",
    InputError: "/api describes what each call takes, and /api/methods lists the parameters of each method",
    NotAPage: "send HTML, or a plain-text dump of the page",
    CorpusError: "check that the corpus and its inputs are still in place and undamaged",
    PageTooLarge: "send a smaller page, or start the server with a larger --max-size",
    UnknownName: "/api/methods lists all methods",
    MissingExtra: "tell the operator of the server",
    DatasetError: "check that it is in place and undamaged",
    ModelError: "choose another model, or teach this one again",
    AddressRefused: "send the page's HTML instead, or start the server with --allow-private if the address is yours",
    Busy: "try again in a moment; Retry-After says when",
    TookTooLong: "send a smaller page, choose another method, or start the server with more --seconds",
    TookTooMuchMemory: "send a smaller page, or start the server with more --memory",
    Crashed: "this is a bug; the server's log has the details, and the server keeps running",
    CannotWrite: "tell the operator of the server",
    CannotStore: "tell the operator of the server",
    FetchError: "check the address in a browser, or send the page's HTML instead",
    NoSuchPage: "reload the list of pages",
    NoSuchImport: "reload the list of pages to see what was added",
    StillLabelling: "finish the page first",
    Stale: "reload the page",
}
_MEANINGS = {
    400: "The request is not valid JSON or not valid HTTP.",
    401: "The token is missing or wrong.",
    403: "The request comes from another site.",
    404: "There is no such page or import.",
    409: "The labels have changed since: load them again.",
    413: "The request or the page is too large, or needs too much memory.",
    415: "The request's Content-Type is not supported.",
    422: "Something in the request is wrong: the error says what.",
    429: "All workers are busy, and the queue is full. The header Retry-After says when to try again.",
    500: "A bug. The server keeps running.",
    502: "The page could not be fetched: its server did not answer properly.",
    504: "The work took longer than the server allows.",
    507: "The server's disk is full, or cannot be written.",
}


class ErrorAnswer(BaseModel):
    """What went wrong."""

    error: str = Field(description="What is wrong, in one sentence.", examples=["unknown method 'densty'"])
    hint: str = Field(description="What to do about it.", examples=["did you mean 'density'?"])


def error_answer(status: int, error: str, hint: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """An answer that says what went wrong."""
    if len(error) > _LONGEST_ERROR:
        half = _LONGEST_ERROR // 2
        error = f"{error[:half]} … {error[-half:]}"
    return JSONResponse({"error": error, "hint": hint[:_LONGEST_ERROR]}, status, headers)


def busy_answer(retry_after: int) -> JSONResponse:
    """The answer when the server is too busy."""
    return error_answer(429, str(Busy()), HINTS[Busy], {"Retry-After": str(retry_after)})


def error_answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that a route may answer, for its documentation."""
    return {status: {"model": ErrorAnswer, "description": _MEANINGS[status]} for status in statuses}


def add_handlers(app: FastAPI) -> None:
    """Make an application answer errors in our format."""
    app.add_exception_handler(MainmatterError, _answer_error)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(OSError, _answer_cannot_write)


async def _answer_error(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, Busy):
        return busy_answer(error.retry_after)
    text, _, hint = request.app.state.workbench.tell(error).partition("; ")
    if isinstance(error, AddressRefused):  # the message ends with what to do on a command line
        hint = ""
    return error_answer(_nearest(error, STATUSES), text, hint or _nearest(error, HINTS))


def _nearest(error: Exception, table: Mapping[type[Exception], Value]) -> Value:
    return next(table[each] for each in type(error).__mro__ if each in table)


async def _answer_cannot_write(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, OSError) and error.errno in CANNOT_WRITE:
        _log.error("%s: %s", request.url.path, error)
        return await _answer_error(request, CannotWrite(os.strerror(error.errno)))
    raise error


async def _answer_invalid(request: Request, error: Exception) -> JSONResponse:  # noqa: ARG001 - FastAPI gives both
    assert isinstance(error, RequestValidationError)
    return invalid_answer(error.errors())


def invalid_answer(problems: Sequence[Mapping[str, Any]]) -> JSONResponse:
    """The answer to an invalid request, from Pydantic's problems."""
    told = [_tell(problem) for problem in problems[:_MOST_PROBLEMS]]
    more = f"; and {len(problems) - len(told)} more" if len(problems) > len(told) else ""
    return error_answer(422, "; ".join(told) + more, "/api describes what each call takes")


def _tell(problem: Mapping[str, Any]) -> str:
    steps = [str(step) for step in problem["loc"]]
    place = ".".join(steps[1:] if steps[:1] in (["body"], ["query"], ["path"]) else steps)
    if problem.get("type") == "extra_forbidden":
        place, message = "", f"there is no field {place}"
    else:
        message = str(problem["msg"]).removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


async def _answer_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        # Somebody looks at the answer: they went to an address, and no program asked for it.
        if request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "").lower():
            return HTMLResponse(html_page("not-found"), 404, {"Cache-Control": "no-store"})
        return error_answer(404, "there is nothing here", "the pages are / /corpus /compare /annotate /teach /api")
    if error.status_code == 405:
        return error_answer(405, f"{request.method} is not allowed at this address", "see /api", error.headers)
    return http_answer(error)


def http_answer(error: HTTPException) -> JSONResponse:
    """The answer to a request that is refused with an HTTP status; the hint follows the last semicolon."""
    text, semicolon, hint = str(error.detail).rpartition("; ")
    if not semicolon:
        text, hint = hint, HINTS[MainmatterError]
    return error_answer(error.status_code, text, hint, error.headers)


def bug_answer(path: str, error: Exception) -> JSONResponse:
    """The answer to an unexpected error; the log has the details, under the reference that the client gets."""
    reference = secrets.token_hex(4)
    _log.error("%s failed (reference %s)", path, reference, exc_info=error)
    return error_answer(500, f"{UNFORESEEN} (reference {reference})", HINTS[Crashed])
