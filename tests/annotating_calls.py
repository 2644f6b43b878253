"""Annotate over HTTP, call by call, for the tests of serve."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fastapi.testclient import TestClient

from mainmatter.workbench.app import make_app
from mainmatter.workbench.settings import Settings
from timing import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx2 as httpx

ADDRESS = "http://127.0.0.1:8000"
API = "/api/annotate"


@contextmanager
def served(folder: Path) -> Iterator[TestClient]:
    """A client of a server with small limits, whose workbench is in the folder."""
    chosen = Settings(
        folder=folder,
        workers=2,
        max_bytes=300_000,
        max_upload_bytes=1_000_000,
        max_unpacked_bytes=2_000_000,
        seconds=15,
    )
    with TestClient(make_app(chosen), base_url=ADDRESS) as client:
        yield client


def html(title: str) -> str:
    """A page of five blocks."""
    return (
        f"<title>{title}</title><nav><a href=/>Home</a></nav><h1>{title}</h1><p>The ferry of {title} sails at nine and "
        "takes an hour with the tide.</p><ul><li>Bring a coat.</li></ul><footer><p>Copyright 2019</p></footer>"
    )


def wait(client: TestClient | httpx.Client, answer: Any) -> dict[str, Any]:
    """What came of an import that was just started."""
    assert answer.status_code == 202, answer.text
    job: dict[str, Any] = answer.json()
    wait_until(lambda: client.get(f"{API}/imports/{job['id']}").json()["state"] != "running")
    ended: dict[str, Any] = client.get(f"{API}/imports/{job['id']}").json()
    return ended


def upload(client: TestClient | httpx.Client, *files: tuple[str, bytes], **fields: str) -> dict[str, Any]:
    parts = [("files", (name, data, "application/octet-stream")) for name, data in files]
    return wait(client, client.post(f"{API}/imports/files", files=parts, data=fields))


def add(client: TestClient | httpx.Client, title: str) -> int:
    """Add a page; gives its number."""
    assert upload(client, (f"{title}.html", html(title).encode()))["added"] == 1
    rows = client.get(f"{API}/pages", params={"annotator": "x"}).json()["pages"]
    return int(next(row["id"] for row in rows if row["name"] == f"{title}.html"))


def show(client: TestClient | httpx.Client, page: int, annotator: str) -> dict[str, Any]:
    answer = client.get(f"{API}/pages/{page}", params={"annotator": annotator})
    assert answer.status_code == 200, answer.text
    view: dict[str, Any] = answer.json()
    return view


def send(client: TestClient | httpx.Client, page: int, what: str, **body: Any) -> dict[str, Any]:
    answer = client.post(f"{API}/pages/{page}/{what}", json=body)
    assert answer.status_code == 200, answer.text
    standing: dict[str, Any] = answer.json()
    return standing


def label_all(client: TestClient | httpx.Client, page: int, annotator: str, kept: str, kinds: str = "ppppp") -> None:
    """Label all blocks and be done: k or d for each, and the first letter of its kind."""
    words = {"p": "paragraph", "h": "heading", "l": "list", "c": "comment"}
    view = show(client, page, annotator)
    labels = {
        block["ref"]: {"kept": verdict == "k", "kind": words[kind]}
        for block, verdict, kind in zip(view["blocks"], kept, kinds, strict=True)
    }
    standing = send(client, page, "labels", annotator=annotator, revision=view["revision"], labels=labels)
    send(client, page, "done", annotator=annotator, revision=standing["revision"], done=True)
