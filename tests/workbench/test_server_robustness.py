"""What must not bring the server down, or tell about its machine: damaged and locked databases, slow clients, bugs."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import socket
import time
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import httpx2 as httpx
import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")
pytest.importorskip("uvicorn", reason="needs the extra serve")

import uvicorn
from starlette.responses import JSONResponse

from mainmatter.errors import FetchError
from mainmatter.inputs.fetch import AddressRefused, check_url, fetch, why_not_public
from mainmatter.records import Page
from mainmatter.workbench import bodies, connections
from mainmatter.workbench.app import make_app
from mainmatter.workbench.bodies import Bodies
from mainmatter.workbench.imports import MOST_RUNNING, Import, Imports, ImportTask, add_pages, remove_leftovers
from mainmatter.workbench.labels import AnnotationError, Label, NoSuchPage, Stale, Store
from mainmatter.workbench.settings import Settings
from mainmatter.workbench.teach import TeachingJobs
from mainmatter.workbench.workbench import MOST_AT_STORE, Workbench
from mainmatter.workbench.workers import Busy, Workers
from timing import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fastapi.testclient import TestClient

    MakeClient = Callable[..., TestClient]

TOKEN = "a-token-of-a-test"
PAGE = Page("<h1>Fog signals</h1><p>Ships need them in fog.", "http://a.example/")


# What answers do not tell


def test_a_bug_is_told_by_a_reference_to_the_log(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "mainmatter.workbench"):
        answer = client.get("/test/stumble")
    assert answer.status_code == 500
    found = re.fullmatch(r"this failed unexpectedly \(reference (\w{8})\)", answer.json()["error"])
    assert found is not None
    assert f"(reference {found[1]})" in caplog.text
    assert "ZeroDivisionError: of all things" in caplog.text


def test_the_log_tells_the_last_words_of_a_worker(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "mainmatter.workbench"):
        assert client.get("/test/die").status_code == 500
    assert "page_tasks:die: this ended the process that worked on it (SIGKILL); its last output: none" in caplog.text


@pytest.mark.parametrize("path", ["annotate/pages?annotator=Ada", "annotate/pages/1?annotator=Ada", "teach"])
def test_a_damaged_database_is_told_without_its_place(path: str, make_client: MakeClient, tmp_path: Path) -> None:
    (tmp_path / "annotations.db").write_bytes(b"no database at all " * 100)
    answer = make_client(folder=tmp_path).get(f"/api/{path}")
    assert answer.status_code == 422
    assert answer.json()["error"] == "annotations.db: is not a database of annotations"


def test_an_import_tells_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database, folder = tmp_path / "annotations.db", tmp_path / ".import-x"
    folder.mkdir()
    file = folder / "000000.html"
    file.write_text(str(PAGE.html), "utf-8")

    def refuse(*_: object, **__: object) -> None:
        raise AnnotationError(f"{database}: database or disk is full")

    monkeypatch.setattr(Store, "add_page", refuse)
    wanted = ImportTask(((str(file), "a.html"),))
    limits = Settings().limits
    told = add_pages(str(database), wanted, limits, str(folder / "progress.json"))
    assert told["rejects"] == [{"name": "a.html", "why": "annotations.db: database or disk is full"}]


def test_a_folder_that_cannot_be_written(make_client: MakeClient, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    client = make_client(folder=tmp_path / "file" / "workbench")
    answer = client.post("/api/annotate/imports/files", files=[("files", ("a.html", b"<p>Words"))])
    assert answer.status_code == 422
    assert answer.json()["error"] == "the workbench's folder cannot be written: Not a directory"


def test_a_disk_that_is_full(make_client: MakeClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device", str(tmp_path))

    monkeypatch.setattr("mainmatter.workbench.imports.shutil.copyfileobj", refuse)
    client = make_client(folder=tmp_path)
    answer = client.post("/api/annotate/imports/files", files=[("files", ("a.html", b"<p>Words"))])
    assert answer.status_code == 507
    assert answer.json()["error"] == "the server cannot write to its disk: No space left on device"
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_while_somebody_annotates(make_client: MakeClient, tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        page = store.add_page(PAGE, "a.html")
        refs = store.references(page)
    client = make_client(folder=tmp_path)
    labels = {ref: {"kept": True, "kind": "heading", "suggested_by": "x" * 300} for ref in refs}
    seen = {"annotator": "Ada" * 30, "revision": 0}
    connection = client.app.state.annotating.store._database._connection  # type: ignore[attr-defined]
    connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0]}")
    for _ in range(100):  # until what is free in the database is used up
        answer = client.post(f"/api/annotate/pages/{page}/labels", json=seen | {"labels": labels})
        if answer.status_code != 200:
            break
        seen["revision"] = answer.json()["revision"]
        labels = {ref: label | {"kept": not label["kept"]} for ref, label in labels.items()}
    assert answer.status_code == 507
    assert answer.json()["error"] == "annotations.db: cannot be written: database or disk is full"
    assert client.get(f"/api/annotate/pages/{page}/labels?annotator=Ada").status_code == 200


# Whom nobody has to wait for


def test_a_store_that_is_locked_does_not_hold_up_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = Event()

    def wait(_: Store) -> list[str]:
        free.wait(PATIENCE)
        return []

    monkeypatch.setattr(Store, "annotators", wait)
    app = make_app(Settings(folder=tmp_path))

    async def ask() -> tuple[list[int], list[int]]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=PATIENCE) as client:
            waiting = [asyncio.create_task(client.get("/api/annotate/annotators")) for _ in range(60)]
            try:
                async with asyncio.timeout(PATIENCE):
                    while sum(each.done() for each in waiting) < 60 - MOST_AT_STORE:  # those that are turned away
                        await asyncio.sleep(0.01)
                    others = [await client.get(path) for path in ("/api/health", "/static/style.css", "/")]
            finally:
                free.set()
            return [(await each).status_code for each in waiting], [each.status_code for each in others]

    waited, others = asyncio.run(ask())
    assert others == [503, 200, 200]  # its workers are not started here
    assert waited.count(200) == MOST_AT_STORE
    assert waited.count(429) == 60 - MOST_AT_STORE


@contextmanager
def slow_answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server that takes longer for an answer, at a port, than the heads of requests may take."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(2.4)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    monkeypatch.setattr(connections, "HEAD_SECONDS", 2.0)
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", http=connections.Connection))
    thread = Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listening.close()


def test_a_client_that_does_not_send_its_request_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

    def read(connection: socket.socket) -> bytes:
        return b"".join(iter(lambda: connection.recv(1000), b""))

    with slow_answers(monkeypatch) as port:
        address = ("127.0.0.1", port)
        later = socket.create_connection(address, PATIENCE)
        later.sendall(whole + whole[:20])
        silent, slow = (socket.create_connection(address, PATIENCE) for _ in range(2))
        slow.sendall(whole[:20])
        with silent, slow, later:
            assert read(silent) == b""
            assert read(slow) == b""
            assert later.recv(1000).startswith(b"HTTP/1.1 200")  # while it is answered, the clock stands still
            later.sendall(whole[20:30])
            assert b"HTTP/1.1" not in read(later)
        with socket.create_connection(address, PATIENCE) as twice:
            for _ in range(2):
                twice.sendall(whole)
                answer = b""
                while not answer.endswith(b"ok"):
                    answer += twice.recv(1000)


@pytest.mark.parametrize(
    "wrong",
    [
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\ntransfer-encoding: chunked\r\ncontent-length: 0\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nwords",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n",
        b"nonsense\r\n\r\n",
    ],
)
def test_what_is_not_proper_http_is_refused_and_the_connection_closed(
    wrong: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with slow_answers(monkeypatch) as port, socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
        connection.sendall(wrong + b"GET /second HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(1000), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"connection: close" in head.lower()
    assert json.loads(body)["error"] == "the request is not valid HTTP/1.1"


def test_requests_in_memory_have_a_limit_of_values_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MOST_VALUES", 10)
    monkeypatch.setattr(bodies, "REQUESTS_WITH_MOST_VALUES", 2)
    free = asyncio.Event()

    async def wait(scope: Any, receive: Any, send: Any) -> None:
        await free.wait()
        await JSONResponse({})(scope, receive, send)

    settings = Settings(folder=tmp_path)
    app = Bodies(wait, settings, Workbench(settings, {}).workers)

    async def ask() -> list[int]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=PATIENCE) as client:

            def send() -> asyncio.Task[httpx.Response]:
                return asyncio.create_task(client.post("/", json=[1] * 8))

            waiting = [send() for _ in range(2)]
            while app._values < 16:
                await asyncio.sleep(0.01)
            refused = await send()
            free.set()
            answers = [*[await each for each in waiting], refused, await send()]
            assert refused.headers["retry-after"] == "2"
            return [each.status_code for each in answers]

    assert asyncio.run(asyncio.wait_for(ask(), PATIENCE)) == [200, 200, 429, 200]
    assert app._values == 0


def test_imports_have_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds: list[float] = []
    free = asyncio.Event()

    async def run_for(_: Workers, limit: float, *__: object, **___: object) -> dict[str, Any]:
        seconds.append(limit)
        await free.wait()
        return {}

    async def start_nothing(_: Workers) -> None:
        pass

    async def start() -> None:
        workbench = Workbench(Settings(folder=tmp_path, seconds=10), {})
        monkeypatch.setattr(Workers, "run_for", run_for)
        monkeypatch.setattr(Workers, "start", start_nothing)
        imports = Imports(workbench)
        for number in range(MOST_RUNNING):
            imports.need_room()
            imports.start("x", tmp_path / str(number), ImportTask(url="http://a.example/"))
        with pytest.raises(Busy):
            imports.need_room()
        free.set()
        while imports._tasks:
            await asyncio.sleep(0.01)
        imports.need_room()

    asyncio.run(start())
    assert set(seconds) == {130.0}  # a server that sends a byte at a time does not hold up imports for an hour


def test_what_a_killed_server_left_is_removed(tmp_path: Path) -> None:
    old, new, other = (tmp_path / name for name in (".import-old", ".export-new", "import"))
    for folder in (old, new, other):
        folder.mkdir()
        (folder / "file").write_text("", "utf-8")
    for folder in (old, other):
        os.utime(folder, (1, 1))
    remove_leftovers(tmp_path)
    assert sorted(tmp_path.iterdir()) == [new, other]


# Whom nobody has to believe


@pytest.mark.parametrize(
    ("path", "dest", "status"),
    [
        ("/api/openapi.json", "image", 403),
        ("/api/openapi.json", "iframe", 403),
        ("/api/openapi.json", "empty", 403),
        ("/api/openapi.json", "document", 200),
        ("/", "document", 200),
    ],
)
def test_pages_of_other_sites_cannot_have_the_api_work(
    path: str, dest: str, status: int, make_client: MakeClient
) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": dest}
    assert make_client().get(path, headers=headers).status_code == status
    assert make_client().get(path, headers={**headers, "Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_an_import_that_has_ended_is_told_as_it_ended(tmp_path: Path) -> None:
    (tmp_path / "progress.json").write_text('{"added": 1}', "utf-8")
    one = Import("x", "x", tmp_path)

    async def look_while_it_ends() -> None:
        looking = asyncio.create_task(one.look())
        await asyncio.sleep(0)  # it has begun to read
        one.told, one.state = {"added": 2}, "done"
        await looking

    asyncio.run(look_while_it_ends())
    assert one.answer().added == 2


def test_improper_cookies_of_other_servers_do_no_harm(make_client: MakeClient) -> None:
    client = make_client(token=TOKEN)
    cookies = 'theme[dark]={"a": 1, b}; =; mainmatter_token=' + TOKEN
    assert client.get("/api/openapi.json", headers={"Cookie": cookies}).status_code == 200


def test_a_damaged_job_is_none(tmp_path: Path) -> None:
    (tmp_path / "teaching").mkdir()
    for damaged in ('{"id": "x", "name": 3, "method": null, "command": 5, "started": 1}', "[]", "{", '{"id": 1}'):
        (tmp_path / "teaching" / "job.json").write_text(damaged, "utf-8")
        assert TeachingJobs(tmp_path).current() is None
        assert TeachingJobs(tmp_path).cancel() is None


def test_translated_addresses_are_not_public() -> None:
    assert why_not_public("::ffff:0:127.0.0.1") == "a reserved address"


@pytest.mark.parametrize("url", ["http://[::1", "http://127.0.0.1:99999/", "http://a b/", "http://a.example:x/"])
def test_what_is_no_address_is_the_client_s_fault(url: str) -> None:
    with pytest.raises(AddressRefused, match="is not a valid URL"):
        check_url(url)


def test_what_is_no_web_server_is_not_quoted_at_length() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def greet() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.sendall(b"\x00\x1b[31m" * 2000 + b"\r\n")
                time.sleep(0.1)

        Thread(target=greet).start()
        with pytest.raises(FetchError) as raised:
            fetch(f"http://127.0.0.1:{listening.getsockname()[1]}/", public_only=False)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 400


# Two windows of one annotator


def test_undo_redo_and_done_say_what_they_are_based_on(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        page = store.add_page(PAGE, "a.html")
        ref = store.references(page)[0]
        first = store.set_labels(page, "Ada", {ref: Label(True, "heading")})
        for change in (store.undo, store.redo):
            with pytest.raises(Stale):
                change(page, "Ada", based_on=first - 1)
        with pytest.raises(Stale):
            store.set_done(page, "Ada", True, based_on=first - 1)
        second = store.undo(page, "Ada", based_on=first)
        third = store.redo(page, "Ada", based_on=second)
        assert third is not None
        assert store.set_done(page, "Ada", True, based_on=third) > third
        with pytest.raises(NoSuchPage):
            store.undo(page + 1, "Ada", based_on=0)


def test_a_change_made_in_another_window_at_that_moment_is_not_overwritten(
    make_client: MakeClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(tmp_path) as other:
        page = other.add_page(PAGE, "a.html")
        first, second = other.references(page)[:2]
        set_labels = Store.set_labels

        def set_and_be_followed(store: Store, *arguments: Any, **named: Any) -> int:
            revision = set_labels(store, *arguments, **named)
            set_labels(other, page, "Ada", {second: Label(True, "paragraph")})
            return revision

        monkeypatch.setattr(Store, "set_labels", set_and_be_followed)
        client = make_client(folder=tmp_path)

        def send(revision: int, kept: bool) -> Any:
            change = {"annotator": "Ada", "revision": revision, "labels": {first: {"kept": kept, "kind": "heading"}}}
            return client.post(f"/api/annotate/pages/{page}/labels", json=change)

        answer = send(0, True)
        assert answer.status_code == 200
        monkeypatch.undo()
        assert send(answer.json()["revision"], False).status_code == 409
