"""Requests to the workbench: the whole application without a network, and what reads headers, bodies and parameters."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pydantic import ValidationError
from pydantic_core import from_json
from starlette.exceptions import HTTPException
from starlette.requests import Request

from annotated import KEEP, say, store_with_page
from fuzz.corpora import make_folders
from fuzz.mutation import mutate_bytes, mutate_json
from fuzz.target import SEEDS, Target, dictionary
from mainmatter.errors import MainmatterError
from mainmatter.workbench import annotate, blind, clean, compare, corpus, evaluate, imports, inspect, suggestions, teach
from mainmatter.workbench.app import make_app
from mainmatter.workbench.reading import StrictModel, content_type
from mainmatter.workbench.security import Security
from mainmatter.workbench.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from random import Random

_HEADERS = b"Host: 127.0.0.1:8000\r\nContent-Type: application/json\r\nAccept: */*\r\n"
_FILE = (b'file"; filename="a.html', b"<h1>T</h1><p>Words")
_FORMS: dict[bytes, list[tuple[bytes, bytes]]] = {
    b"clean": [_FILE],
    b"inspect": [_FILE, (b"method", b"density")],
    b"compare": [_FILE, (b"methods", b'["density"]')],
    b"annotate/imports/files": [(b'files"; filename="b.html', b"<h1>U</h1><p>Words")],
    b"annotate/correct": [_FILE, (b"annotator", b"Anna")],
}
_NAMES = b"html url method options labels annotator Anna merged main density models/../x text".split()


def _seeds() -> list[bytes]:
    """The requests of seeds/requests.txt, each with headers; and forms."""
    lines = [line.split(b" ", 2) for line in (SEEDS / "requests.txt").read_bytes().splitlines()]
    seeds = [b"%b %b HTTP/1.1\r\n%b\r\n%b" % (*line[:2], _HEADERS, b"".join(line[2:])) for line in lines]
    form = _HEADERS.replace(b"application/json", b"multipart/form-data; boundary=b")
    for path, fields in _FORMS.items():
        parts = [b'--b\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n' % field for field in fields]
        seeds.append(b"POST /api/%b HTTP/1.1\r\n%b\r\n%b--b--\r\n" % (path, form, b"".join(parts)))
    page = _HEADERS.replace(b"application/json", b"text/html")
    return [*seeds, b"POST /api/clean HTTP/1.1\r\n%b\r\n<h1>T</h1>" % page]


def refuse_names(*_: object, **__: object) -> None:
    raise socket.gaierror(socket.EAI_NONAME, "there is no network here")


class _Bugs(logging.Handler):
    """Keeps what the server logs with a traceback."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.error: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            self.error = record.exc_info[1]


def requests(folder: Path) -> Target:
    """Whole requests, as HTTP/1.1 has them; work that a worker would do is done here, and nothing is fetched."""
    socket.getaddrinfo = refuse_names  # type: ignore[assignment]
    with store_with_page(folder) as store:
        say(store, "Anna", {2: KEEP, 3: KEEP})
        say(store, "Ben", {2: KEEP})
    make_folders(folder)
    app = make_app(Settings(folder=folder, workers=1, corpora=(str(folder / "jsonl"), str(folder / "parquet"))))
    workbench = app.state.workbench
    bugs = _Bugs()
    logging.getLogger("mainmatter.workbench").addHandler(bugs)
    logging.getLogger("mainmatter.workbench").propagate = False

    async def run_for(seconds: float, task: Any, /, **arguments: Any) -> Any:
        return task(**arguments)

    async def run(task: Any, /, **arguments: Any) -> Any:
        return task(**arguments)

    async def import_nothing(*_: object) -> None:
        return

    def teach_nothing(*_: object, **__: object) -> None:
        raise MainmatterError("nothing is taught here")

    workbench.workers.run_for, workbench.workers.run = run_for, run
    app.state.imports._run = import_nothing
    app.state.teaching.start = teach_nothing
    loop = asyncio.new_event_loop()

    def read(data: bytes) -> None:
        bugs.error = None
        status, body = loop.run_until_complete(_ask(app, data))
        if status == 500:
            raise AssertionError(f"answered 500: {body[:300]!r}") from bugs.error
        is_error = status >= 400 and status != 503  # which is a part of an answer: "not ready"
        if is_error and b"<html" not in body[:200] and not data.startswith(b"HEAD"):
            assert set(json.loads(body)) == {"error", "hint"}, (status, body[:300])

    return Target(read, _seeds(), [*dictionary("requests"), *_NAMES], mutate=_mutate_request)


def _mutate_request(rng: Random, data: bytes, tokens: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """Mutate the head or the body; of a body that is JSON mostly the values."""
    head, blank_line, body = data.partition(b"\r\n\r\n")
    if body and rng.random() < 0.7:
        change = mutate_json if body.startswith(b"{") else mutate_bytes
        return head + blank_line + change(rng, body, _NAMES, [body])
    return mutate_bytes(rng, head, tokens, others) + blank_line + body


def _scope(data: bytes) -> tuple[dict[str, Any], bytes] | None:
    """A request as servers hand it on; None if a server would refuse it."""
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    method, _, rest = first.partition(b" ")
    target = rest.rpartition(b" ")[0]
    if not method.isalpha() or not method.isupper() or not target.startswith(b"/") or not target.isascii():
        return None
    raw_path, _, query = target.partition(b"?")
    pairs = [
        (name.strip().lower(), value.strip())
        for name, colon, value in (line.partition(b":") for line in lines)
        if colon
    ]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method.decode(),
        "scheme": "http",
        "path": unquote(raw_path.decode("ascii")),
        "raw_path": raw_path,
        "query_string": query,
        "root_path": "",
        "headers": pairs,
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8000),
    }
    return scope, body


async def _ask(app: Any, data: bytes) -> tuple[int, bytes]:
    """The status and the body of the answer to a request."""
    split = _scope(data)
    if split is None:
        return 200, b""  # the server would not hand it on
    scope, body = split
    waiting = [{"type": "http.request", "body": body, "more_body": False}]
    status, answer = 0, bytearray()

    async def receive() -> dict[str, Any]:
        if waiting:
            return waiting.pop()
        await asyncio.sleep(3600)
        raise AssertionError("nobody waits so long")

    async def send(message: dict[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)
        answer.extend(message.get("body", b""))

    await app(scope | {"app": app}, receive, send)
    return status, bytes(answer)


def heads(folder: Path) -> Target:
    """What is read of a request before its body: who may ask, what is sent, what is accepted."""

    async def nothing(*_: object) -> None:
        raise AssertionError("nobody is called")

    guards = [Security(nothing, Settings(token=token)) for token in (None, "secret")]
    guards.append(Security(nothing, Settings(host="0.0.0.0", token="secret", names=("a.example",))))

    def read(data: bytes) -> None:
        split = _scope(data)
        if split is None:
            return
        for guard in guards:
            guard._refusal(split[0])
        request = Request(split[0])
        content_type(request)
        try:
            clean._accepted(request.headers.get("accept", "*/*"))
        except HTTPException:
            return

    more = b"Origin: http://127.0.0.1:8000\r\nCookie: mainmatter_token=secret; a=b\r\nSec-Fetch-Site: same-origin\r\n"
    more += b"Authorization: Bearer secret\r\nAccept: text/html;q=0.5, application/json, */*;q=0.1\r\n"
    seeds = [
        b"GET /api/clean?token=secret&a=b HTTP/1.1\r\n" + _HEADERS + more,
        b"POST / HTTP/1.1\r\n" + _HEADERS + more,
    ]
    return Target(read, seeds, dictionary("requests"))


def bodies(folder: Path) -> Target:
    """The JSON of requests: each is checked against every model that requests have."""
    modules = (annotate, blind, clean, compare, corpus, evaluate, imports, inspect, suggestions, teach)
    models = {model for module in modules for model in vars(module).values() if _is_request(model)}
    ordered = sorted(models, key=lambda model: model.__qualname__)

    def read(data: bytes) -> None:
        try:
            fields = from_json(data, allow_inf_nan=False)
        except ValueError:
            return
        for model in ordered:
            try:
                model.model_validate(fields).model_dump_json()
            except ValidationError as error:
                error.errors(include_input=False, include_url=False)
            except HTTPException:
                continue

    return Target(
        read,
        [seed.partition(b"\r\n\r\n")[2] for seed in _seeds() if b"\r\n\r\n{" in seed],
        _NAMES,
        mutate=mutate_json,
    )


def _is_request(model: object) -> bool:
    return isinstance(model, type) and issubclass(model, StrictModel) and model is not StrictModel
