"""Small crawls for tests of whole collections, and a method that does what no method should."""

from __future__ import annotations

import gzip
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SENTENCE = "The ferry to the island leaves at seven in the morning, and comes back when the tide allows it to."

WICKED = '''
import os, re, signal, time
from dataclasses import dataclass
from typing import ClassVar

from mainmatter.papers.density.method import Density


@dataclass(frozen=True)
class Wicked:
    """Does what the page says."""

    name: ClassVar[str] = "wicked"
    summary: ClassVar[str] = "for tests"

    def extract(self, document):
        html = document.page.html
        if b"HANG" in html:
            re.match("(a+)+b", "a" * 60)
        if b"SLEEP" in html:
            time.sleep(1000)
        if b"ABORT" in html:
            os.abort()
        if b"MEMORY" in html:
            bytearray(8_000_000_000)
        if b"KILLED" in html:
            os.kill(os.getpid(), signal.SIGKILL)
        if b"EXIT" in html:
            os._exit(3)
        if b"RAISE" in html:
            raise ZeroDivisionError("by a page")
        if b"ONCE" in html:
            path = html.split(b"ONCE ")[1].split(b"<")[0].decode()
            if not os.path.exists(path):
                open(path, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
        if b"SLOW" in html:
            time.sleep(0.05)
        return Density().extract(document)
'''


# Added to the above: reading such a page ends the process, too.
WICKED_READER = """
import mainmatter.corpus.guard as guard

read_slice = guard.read_slice


def read(one, limits, start=None, **options):
    for found in read_slice(one, limits, start, **options):
        if b"UNREADABLE" in getattr(getattr(found, "page", None), "html", b""):
            os.abort()
        yield found


guard.read_slice = read
"""


def page(number: int, more: str = "", *, title: str = "") -> bytes:
    """A page with a menu, a text that no other number has, and a footer."""
    sentences = " ".join(f"On day {number} of the year, at hour {hour}: {SENTENCE}" for hour in range(4))
    return (
        f"<html lang=en><head><title>{title or f'Day {number}'}</title></head><body>"
        "<ul><li><a href=/>Home</a><li><a href=/news>News</a></ul>"
        f"<h1>{title or f'Day {number}'}</h1><p>{sentences}</p><p>{more}</p>"
        "<p><a href=/imprint>Imprint</a></p></body></html>"
    ).encode()


def pages(count: int) -> dict[str, bytes]:
    """So many pages, by their URL."""
    return {f"https://example.org/{number}": page(number) for number in range(count)}


def record(kind: str, url: str, content: bytes, number: int = 0) -> bytes:
    """A record of an archive, not packed."""
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-05-06T07:08:09Z\r\n"
        f"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-{number:012}>\r\n"
        f"Content-Type: application/http; msgtype={kind}\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content + b"\r\n\r\n"


def write_warc(path: Path, contents: dict[str, bytes]) -> Path:
    """An archive of pages, each record packed by itself, with a request before each answer."""
    packed = []
    for number, (url, html) in enumerate(contents.items()):
        answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + html
        packed.append(gzip.compress(record("request", url, b"GET / HTTP/1.1\r\n\r\n", 2 * number), mtime=0))
        packed.append(gzip.compress(record("response", url, answer, 2 * number + 1), mtime=0))
    path.write_bytes(b"".join(packed))
    return path


def install_wicked(folder: Path) -> Path:
    """Put the method `wicked` into a folder as an installed package would be; the folder belongs on the path."""
    (folder / "wicked.py").write_text(WICKED, encoding="utf-8")
    facts = folder / "wicked-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: wicked\nVersion: 1.0\n", encoding="utf-8")
    (facts / "entry_points.txt").write_text("[mainmatter.methods]\nwicked = wicked:Wicked\n", encoding="utf-8")
    return folder


def files_of(out: Path) -> dict[str, bytes]:
    """What a run must always give byte for byte: the parts, the rejects, the dataset card."""
    return {
        str(file.relative_to(out)): file.read_bytes()
        for file in sorted(out.rglob("*"))
        if file.is_file() and file.name != "summary.json" and "__run" not in file.relative_to(out).parts
    }


def slow_crawl(tmp_path: Path, count: int) -> tuple[Path, dict[str, str]]:
    """An archive whose pages take a twentieth of a second each, with the method wicked, and the path to that."""
    (tmp_path / "plugin").mkdir()
    contents = {url: html.replace(b"</body>", b"<!-- SLOW --></body>") for url, html in pages(count).items()}
    path = os.pathsep.join([str(install_wicked(tmp_path / "plugin")), os.environ.get("PYTHONPATH", "")])
    return write_warc(tmp_path / "crawl.warc.gz", contents), {"PYTHONPATH": path}
