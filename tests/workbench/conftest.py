"""Servers to test against: one in this process without a network, and real ones at a free port."""

from __future__ import annotations

import socket
import time
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")
pytest.importorskip("uvicorn", reason="needs the extra serve")

import uvicorn
from fastapi import FastAPI, Request, Response  # noqa: TC002 - FastAPI reads annotations
from fastapi.testclient import TestClient

from mainmatter.workbench.app import make_app
from mainmatter.workbench.settings import Settings
from timing import PATIENCE
from workbench import page_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ADDRESS = "http://127.0.0.1:8000"


@pytest.fixture(autouse=True, scope="session")
def workers_may_start_slowly() -> Iterator[None]:
    """On a busy machine, one takes its time."""
    pytest.importorskip("fastapi")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mainmatter.workbench.workers.START_LIMIT", PATIENCE)
        yield


def make_test_app(settings: Settings) -> FastAPI:
    """The application, and /test/NAME, which has a worker do a task of page_tasks.py."""
    app = make_app(settings)

    async def run(request: Request, name: str) -> Any:
        await request.body()
        asked = dict(request.query_params)
        limit = float(asked.pop("limit", 20.0))
        arguments = {key: value if key == "path" else float(value) for key, value in asked.items()}
        workers = request.app.state.workbench.workers
        result = await workers.run_for(limit, getattr(page_tasks, name), **arguments)
        return {"result": result}

    async def fail() -> Response:
        raise ZeroDivisionError("in the server itself")

    app.add_api_route("/test/{name}", run, methods=["GET", "POST"], include_in_schema=False)
    app.add_api_route("/fail", fail, methods=["GET"], include_in_schema=False)
    return app


@contextmanager
def running(settings: Settings) -> Iterator[str]:
    """A real server at a free port, in a thread; its address."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    config = uvicorn.Config(
        make_test_app(settings),
        log_level="error",
        access_log=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listening.close()
    assert not thread.is_alive()


@pytest.fixture(scope="session")
def start_server() -> Callable[[Settings], Any]:
    """`with start_server(settings) as address`: a real server."""
    return running


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("workbench")
    return Settings(
        folder=folder, workers=2, max_bytes=1_000_000, max_upload_bytes=2_000_000, memory_mb=600, seconds=15
    )


@pytest.fixture(scope="session")
def client(settings: Settings) -> Iterator[TestClient]:
    """A server without a network; what it has done is not undone between tests."""
    with TestClient(make_test_app(settings), base_url=ADDRESS) as client:
        yield client


@pytest.fixture
def make_client() -> Callable[..., TestClient]:
    """A server of its own for a test, whose workers are not started: for what never reaches one."""

    def make(**chosen: Any) -> TestClient:
        return TestClient(make_test_app(Settings(**chosen)), base_url=ADDRESS, raise_server_exceptions=False)

    return make
