"""Count and time the requests that planning, resuming, finishing and deleting a corpus of many shards makes.

python scripts/storage_requests.py --shards 100000 --latency 20

The storage is an S3 server of this script, in memory and in a process of its own. It answers each request after the
latency, counts requests by kind, and holds archives that are only as large as it says, so that 100,000 of them fit.
The client is the real one: `build_corpus` on s3fs. In place of an engine there is one that does no work, since the
archives hold nothing; the markers of done shards are made on the server.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from bisect import bisect_left
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape, unescape

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BUCKET = "crawl"
ARCHIVE = "in/CC-MAIN-%05d.warc.gz"
MARKER = "out/__run/clean-%05d.json"
GIGABYTE = 1_000_000_000
CONTROL = "/__control"
VARIABLES = {
    "AWS_ENDPOINT_URL": "",
    "AWS_ACCESS_KEY_ID": "somebody",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required",  # otherwise bodies come in chunks with checksums
    "AWS_RESPONSE_CHECKSUM_VALIDATION": "when_required",
}
_DATE = "2026-01-01T00:00:00.000Z"
_HTTP_DATE = "Thu, 01 Jan 2026 00:00:00 GMT"
_MARKER = {
    "stage": "clean", "number": 0, "pages": 30_000, "kept": 27_000, "rejects": {"empty": 2_000, "not-a-page": 1_000},
    "skipped": {"request": 30_000, "metadata": 30_000}, "words": 13_000_000, "bytes": 4_500_000_000, "seconds": 250.0,
    "languages": {"en": 12_000, "de": 3_000, "fr": 2_000, "und": 10_000},
}  # fmt: skip


@dataclass
class ObjectServer:
    """As much of S3 as a corpus run needs. What a key holds is bytes, or only a size."""

    latency: float
    objects: dict[str, bytes | int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    _sorted: list[str] | None = None

    async def serve(self, port: int) -> None:
        """Answer until the process ends."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", port, backlog=1000)
        async with server:
            await server.serve_forever()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                method, target, _ = line.decode().split()
                headers: dict[str, str] = {}
                while (one := await reader.readline()) not in (b"\r\n", b""):
                    name, _, value = one.decode("latin-1").partition(":")
                    headers[name.lower()] = value.strip()
                if headers.get("expect", "").lower() == "100-continue":
                    writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                if not target.startswith(CONTROL):
                    await asyncio.sleep(self.latency)
                status, more, content = self._answer(method, target, headers, body)
                length = {} if "Content-Length" in more else {"Content-Length": str(len(content))}
                head = "".join(f"{name}: {value}\r\n" for name, value in (more | length).items())
                writer.write(f"HTTP/1.1 {status} x\r\n{head}\r\n".encode())
                if method != "HEAD":
                    writer.write(content)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def _answer(
        self, method: str, target: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        parts = urlsplit(target)
        query = parse_qs(parts.query, keep_blank_values=True)
        key = unquote(parts.path).removeprefix(f"/{BUCKET}").lstrip("/")
        if parts.path == CONTROL:
            return 200, {}, self._control(json.loads(body))
        if method == "GET" and not key:
            self.counts["LIST"] += 1
            return 200, {"Content-Type": "application/xml"}, self._list(query)
        if method in ("GET", "HEAD"):
            self.counts[method] += 1
            return self._content(self.objects.get(key) if key else b"", headers.get("range"))
        if method == "PUT":
            self._sorted = None if key not in self.objects else self._sorted
            self.objects[key] = body
            self.counts[method] += 1
            return 200, {"ETag": '"0"'}, b""
        self._sorted = None
        if method == "POST" and "delete" in query:
            self.counts["DELETE of up to 1,000"] += 1
            for name in re.findall("<Key>(.*?)</Key>", body.decode()):
                self.objects.pop(unescape(name), None)
            return 200, {}, b"<DeleteResult></DeleteResult>"
        self.counts[method] += 1
        self.objects.pop(key, None)
        return 204, {}, b""

    def _content(self, content: bytes | int | None, wanted: str | None) -> tuple[int, dict[str, str], bytes]:
        if content is None:
            return 404, {}, b"<Error><Code>NoSuchKey</Code><Message>no such key</Message></Error>"
        size = content if isinstance(content, int) else len(content)
        facts = {"ETag": '"0"', "Last-Modified": _HTTP_DATE, "Accept-Ranges": "bytes"}
        if isinstance(content, int):
            return 200, facts | {"Content-Length": str(size)}, b""  # only HEAD is of use
        if wanted is None:
            return 200, facts, content
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        piece = content[int(first) : int(last) + 1 if last else None]
        return 206, facts | {"Content-Range": f"bytes {first}-{int(first) + len(piece) - 1}/{size}"}, piece

    def _list(self, query: dict[str, list[str]]) -> bytes:
        """A page of a listing."""
        prefix, delimiter = query.get("prefix", [""])[0], query.get("delimiter", [""])[0]
        most = int(query.get("max-keys", ["1000"])[0])
        if self._sorted is None:
            self._sorted = sorted(self.objects)
        place = bisect_left(self._sorted, query.get("continuation-token", [prefix])[0])
        found: list[str] = []
        folders: list[str] = []
        while place < len(self._sorted) and self._sorted[place].startswith(prefix):
            if len(found) + len(folders) >= most:
                break
            key = self._sorted[place]
            below, slash, _ = key.removeprefix(prefix).partition(delimiter) if delimiter else (key, "", "")
            if slash:
                folders.append(prefix + below + slash)
                place = bisect_left(self._sorted, prefix + below + chr(ord(slash) + 1))
            else:
                found.append(key)
                place += 1
        is_whole = place >= len(self._sorted) or not self._sorted[place].startswith(prefix)
        more = "" if is_whole else f"<NextContinuationToken>{escape(self._sorted[place])}</NextContinuationToken>"
        contents = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>{_DATE}</LastModified><ETag>&quot;0&quot;</ETag>"
            f"<Size>{one if isinstance(one, int) else len(one)}</Size><StorageClass>STANDARD</StorageClass></Contents>"
            for key in found
            for one in [self.objects[key]]
        )
        prefixes = "".join(f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>" for one in folders)
        return (
            f"<ListBucketResult><Name>{BUCKET}</Name><Prefix>{escape(prefix)}</Prefix><MaxKeys>{most}</MaxKeys>"
            f"<KeyCount>{len(found) + len(folders)}</KeyCount><IsTruncated>{str(not is_whole).lower()}</IsTruncated>"
            f"{more}{contents}{prefixes}</ListBucketResult>"
        ).encode()

    def _control(self, wish: dict[str, Any]) -> bytes:
        """Make objects, or remove all, and give the counts since the last time."""
        if "clear" in wish:
            self.objects.clear()
        for number in range(wish.get("first", 0), wish.get("count", 0)):
            content = wish["content"]
            if isinstance(content, dict):
                content = json.dumps(content | {"number": number}).encode()
            self.objects[wish["pattern"] % number] = content
        self._sorted = None
        counts, self.counts = self.counts, Counter()
        return json.dumps(counts).encode()


@dataclass(frozen=True)
class Server:
    """The server in its process, as seen from here."""

    port: int

    def ask(self, **wish: object) -> Counter[str]:
        """Have objects made; gives what was counted since the last time."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{CONTROL}", json.dumps(wish).encode())
        with urllib.request.urlopen(request) as answer:  # noqa: S310 - our own
            return Counter(json.load(answer))


def start(latency: float) -> tuple[subprocess.Popen[bytes], Server]:
    """Start the server and have s3fs find it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, __file__, "--serve", str(port), "--latency", str(latency)])
    os.environ |= VARIABLES | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return process, Server(port)
    raise TimeoutError("the server does not start")


class Part(NamedTuple):
    """What a part of a run took."""

    name: str
    seconds: float
    cpu_seconds: float  # of this process; a machine that does other things, too, takes longer by the clock
    requests: Counter[str]


class Stopwatch:
    """Takes the time of parts of a run."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._began = time.perf_counter(), time.process_time()
        server.ask()

    def part(self, name: str) -> Part:
        """What it took since the start."""
        seconds, cpu = time.perf_counter() - self._began[0], time.process_time() - self._began[1]
        return Part(name, seconds, cpu, self._server.ask())


class Stopped(Exception):
    """The engine was called: planning or resuming is over."""


def measure(server: Server, shards: int, *, named: bool) -> Iterator[Part]:
    """What each part of a run takes."""
    from mainmatter.corpus import Job, build_corpus  # not for the server
    from mainmatter.corpus.engines import ENGINES
    from mainmatter.corpus.summary import Report

    def stop(work: object, numbers: object, workers: object = None) -> Iterator[Report]:  # noqa: ARG001
        parts.append(watch.part("plan"))
        server.ask(pattern=MARKER, count=1, content=_MARKER)  # without a shard, nothing would be left of the run
        raise Stopped

    def replace(work: object, numbers: list[int], workers: object = None) -> Iterator[Report]:  # noqa: ARG001
        if len(numbers) > 1:
            parts.append(watch.part("restart: plan and delete"))
            raise Stopped
        yield Report(**_MARKER)  # type: ignore[arg-type]

    def pretend(work: object, numbers: list[int], workers: object = None) -> Iterator[Report]:  # noqa: ARG001
        parts.append(watch.part("resume"))
        server.ask(pattern=MARKER, first=numbers[0], count=shards, content=_MARKER)
        yield from (Report(**_MARKER | {"number": number}) for number in numbers)  # type: ignore[arg-type]
        watches.append(Stopwatch(server))

    def run(run_all: Callable[..., Iterator[Report]], *, restart: bool = False) -> None:
        engine.run_all = run_all  # type: ignore[attr-defined]
        with suppress(Stopped):
            build_corpus(inputs, out, job, engine="pretended", restart=restart)

    engine = ModuleType("pretended_engine")
    sys.modules[engine.__name__] = engine
    ENGINES["pretended"] = engine.__name__
    out, job = f"s3://{BUCKET}/out", Job(method="density", shard_size=GIGABYTE)
    inputs = [f"s3://{BUCKET}/{ARCHIVE % number}" for number in range(shards)] if named else [f"s3://{BUCKET}/in"]
    parts: list[Part] = []
    watches: list[Stopwatch] = []
    server.ask(clear=True)
    server.ask(pattern=ARCHIVE, count=shards, content=GIGABYTE)

    watch = Stopwatch(server)
    run(stop)
    yield parts.pop()

    # All shards but the last are done; that one is pretended to be worked on, and the run is finished.
    server.ask(pattern=MARKER, count=shards - 1, content=_MARKER)
    server.ask(pattern="out/part-%05d.parquet", count=shards - 1, content=100_000_000)
    watch = Stopwatch(server)
    run(pretend)
    yield parts.pop()
    yield watches[0].part("finish")

    watch = Stopwatch(server)
    run(replace, restart=True)
    yield parts.pop()


def work(server: Server, archive: Path) -> Iterator[Part]:
    """What all of a run with one shard asks for, whose archive is there and is cleaned."""
    from mainmatter.corpus import Job, build_corpus  # not for the server
    from mainmatter.corpus.storage import write_whole

    source = f"s3://{BUCKET}/one/{archive.name}"
    write_whole(source, archive.read_bytes())
    watch = Stopwatch(server)
    build_corpus([source], f"s3://{BUCKET}/one-out", Job(shard_size=GIGABYTE), workers=1)
    yield watch.part(f"a run with one shard of {archive.stat().st_size / 1e6:.0f} MB")


@click.command()
@click.option("--shards", type=click.IntRange(min=2), default=100_000, show_default=True)
@click.option("--latency", type=click.FloatRange(min=0), default=20, show_default=True, metavar="MS")
@click.option("--folder", is_flag=True, help="Name the folder of the archives, instead of each archive.")
@click.option("--archive", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Also clean this one.")
@click.option("--serve", type=int, hidden=True)
def main(shards: int, latency: float, folder: bool, archive: Path | None, serve: int | None) -> None:
    """Print a table of what each part of a run takes."""
    if serve is not None:
        asyncio.run(ObjectServer(latency / 1000).serve(serve))
    process, server = start(latency)
    try:
        click.echo(f"{shards:,} shards, {latency:g} ms a request, {'a folder' if folder else 'each archive named'}\n")
        click.echo("| part | s | CPU s | requests | by kind |\n|---|---:|---:|---:|---|")
        for part in chain(measure(server, shards, named=not folder), () if archive is None else work(server, archive)):
            kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(part.requests.items()))
            total = part.requests.total()
            click.echo(f"| {part.name} | {part.seconds:,.1f} | {part.cpu_seconds:,.1f} | {total:,} | {kinds} |")
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main()
