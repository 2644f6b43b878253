"""A small archive of pages that we wrote, for the pipelines of other libraries to read."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

import mainmatter

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[3]
SITE = ROOT / "examples" / "site"
ADDRESS = "https://harbourlamp.example/"


@pytest.fixture(scope="session")
def pages() -> dict[str, bytes]:
    """The pages of the example site by their URLs."""
    files = sorted(SITE.rglob("*.html"))
    assert len(files) >= 6
    return {ADDRESS + file.relative_to(SITE).as_posix(): file.read_bytes() for file in files}


@pytest.fixture(scope="session")
def texts(pages: dict[str, bytes]) -> dict[str, str]:
    """What mainmatter itself makes of the pages."""
    return {url: mainmatter.clean(page, url=url).text for url, page in pages.items()}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pages: dict[str, bytes]) -> Path:
    """The example site as files 0.html, 1.html, ..., in the folder `site` of the working directory."""
    folder = tmp_path / "site"
    folder.mkdir()
    for number, page in enumerate(pages.values()):
        (folder / f"{number}.html").write_bytes(page)
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture(scope="session")
def write_archive() -> Callable[[Path, dict[str, bytes]], Path]:
    """A function that writes pages to a WARC.gz, each with its request, a gzip member a record, as crawlers do."""

    def write(path: Path, pages: dict[str, bytes]) -> Path:
        records = b"".join(_request(url) + _response(url, page) for url, page in pages.items())
        path.write_bytes(records)
        return path

    return write


@pytest.fixture
def archive(tmp_path: Path, pages: dict[str, bytes], write_archive: Callable[[Path, dict[str, bytes]], Path]) -> Path:
    """The example site as a WARC.gz."""
    folder = tmp_path / "archive"
    folder.mkdir(exist_ok=True)
    return write_archive(folder / "site.warc.gz", pages)


def _request(url: str) -> bytes:
    return _record("request", url, b"GET / HTTP/1.1\r\nHost: harbourlamp.example\r\n\r\n", {})


def _response(url: str, page: bytes) -> bytes:
    head = (
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nDate: Sun, 01 Feb 2026 12:00:00 GMT\r\n"
        f"Content-Length: {len(page)}\r\n\r\n"
    )
    digest = base64.b32encode(hashlib.sha1(page).digest()).decode()
    headers = {"WARC-Identified-Payload-Type": "text/html", "WARC-Payload-Digest": f"sha1:{digest}"}
    return _record("response", url, head.encode() + page, headers)


def _record(kind: str, url: str, content: bytes, headers: dict[str, str]) -> bytes:
    headers = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, kind + url)}>",
        "WARC-Date": "2026-02-01T12:00:00Z",
        "WARC-Target-URI": url,
        "Content-Type": f"application/http; msgtype={kind}",
        "Content-Length": str(len(content)),
        **headers,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return gzip.compress(f"WARC/1.0\r\n{lines}\r\n".encode() + content + b"\r\n\r\n", mtime=0)


class FindProgram(Protocol):
    """Gives the program under a heading of docs/how-to/integrations.md."""

    def __call__(self, heading: str, folder: Path | None = None) -> str:
        """The program, with the folders that it names below one; not all processes follow a change of the folder."""
        ...


@pytest.fixture(scope="session")
def program() -> FindProgram:
    """The programs of the documentation. The lines that the page says are to be added must be in them."""
    guide = (ROOT / "docs" / "how-to" / "integrations.md").read_text("utf-8")

    def find(heading: str, folder: Path | None = None) -> str:
        section = guide.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        found = re.search(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        assert found is not None, f"no program under {heading}"
        code = found[1]
        added = re.findall(r"^\+(?!python |ITEM_)\s*(.*)$", section, re.MULTILINE)
        assert [line for line in added if line not in code] == []
        if folder is not None:
            for name in ("pages", "texts"):
                assert code.count(f'"{name}"') == 1
                code = code.replace(f'"{name}"', repr(str(folder / name)))
        return code

    return find
