"""What others run on archives, to be timed against ours: WARC in, Parquet out.

Run as a program, by bench/throughput.py: `python bench/throughput_peers.py NAME WORKERS OUT
ARCHIVE...`. Each is written as in its makers' documentation.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ROWS_AT_ONCE = 1000
_PAGE_SECONDS = 10.0  # datatrove's own second is for loading trafilatura too: on a busy machine all pages would be lost


def datatrove_trafilatura(archives: Sequence[Path], out: Path, workers: int) -> None:
    """Datatrove's local pipeline with its trafilatura extractor, one task an archive."""
    from datatrove.executor import LocalPipelineExecutor  # an extra
    from datatrove.pipeline.extractors import Trafilatura
    from datatrove.pipeline.readers import WarcReader
    from datatrove.pipeline.writers import ParquetWriter

    inputs = out / "inputs"  # datatrove reads folders
    inputs.mkdir(parents=True)
    for number, archive in enumerate(archives):
        (inputs / f"{number}-{archive.name}").symlink_to(archive.resolve())
    LocalPipelineExecutor(
        [
            WarcReader(str(inputs)),
            Trafilatura(timeout=_PAGE_SECONDS),
            ParquetWriter(str(out / "parts"), compression="zstd"),
        ],
        tasks=len(archives),
        workers=workers,
        logging_dir=str(out / "logs"),
    ).run()


def fastwarc_resiliparse(archives: Sequence[Path], out: Path, workers: int) -> None:
    """A loop over FastWARC's records with Resiliparse's extraction of the main content, one process an archive."""
    parts = out / "parts"
    parts.mkdir(parents=True)
    work = [(archive, parts / f"{number:05}.parquet") for number, archive in enumerate(archives)]
    if workers == 1:
        list(starmap(_resiliparse_loop, work))
        return
    with ProcessPoolExecutor(workers) as pool:
        list(pool.map(_resiliparse_loop, *zip(*work, strict=True)))


def _resiliparse_loop(archive: Path, target: Path) -> None:
    import pyarrow as pa  # an extra
    import pyarrow.parquet as pq
    from fastwarc.warc import ArchiveIterator, WarcRecordType
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import detect_encoding
    from resiliparse.parse.html import HTMLTree

    schema = pa.schema([("id", pa.string()), ("url", pa.string()), ("text", pa.string())])
    rows: list[dict[str, str | None]] = []
    with archive.open("rb") as file, pq.ParquetWriter(target, schema, compression="zstd") as writer:
        write = partial(_write, writer, schema, rows)
        for record in ArchiveIterator(file, record_types=WarcRecordType.response):
            if "html" not in (record.http_content_type or ""):
                continue
            html = record.reader.read()
            tree = HTMLTree.parse_from_bytes(html, detect_encoding(html) or "utf-8")
            text = extract_plain_text(tree, main_content=True)
            rows.append({"id": record.record_id, "url": record.headers.get("WARC-Target-URI"), "text": text})
            if len(rows) == _ROWS_AT_ONCE:
                write()
        write()


def _write(writer: object, schema: object, rows: list[dict[str, str | None]]) -> None:
    import pyarrow as pa

    writer.write_table(pa.Table.from_pylist(rows, schema))  # type: ignore[attr-defined]
    rows.clear()


PEERS: dict[str, Callable[[Sequence[Path], Path, int], None]] = {
    "datatrove-trafilatura": datatrove_trafilatura,
    "fastwarc-resiliparse": fastwarc_resiliparse,
}
# The packages that each needs besides pyarrow; all are part of the extra `bench`.
NEEDED = {
    "datatrove-trafilatura": ("datatrove", "warcio", "cchardet", "magic", "trafilatura"),
    "fastwarc-resiliparse": ("fastwarc", "resiliparse"),
}

if __name__ == "__main__":
    _name, _workers, _out, *_archives = sys.argv[1:]
    PEERS[_name]([Path(archive) for archive in _archives], Path(_out), int(_workers))
