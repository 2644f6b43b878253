"""Make an archive with all that can go wrong in one, among five good pages: docs/results/corpus.md, "Damage".

python scripts/damaged_archive.py -o damaged.warc.gz

In its order: a good page, a gzip member with a wrong byte, a good page, a page that is very large, a good page, a
picture, a record of metadata, a member that is cut in half, two good pages, and a page whose end is missing.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import click

_PIECE = 1_000_000  # bytes that are packed at once
_GZIP = 31  # what zlib calls a gzip member
_TEXT = "<p>The lamp burns every night, and the keeper writes down when it was lit, page after page.</p>" * 5


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), required=True, help="A .warc.gz file.")
@click.option("--megabytes", default=500, show_default=True, help="How large the large page is.")
def main(output: Path, megabytes: int) -> None:
    """Write the archive."""
    page = [_member(f"page-{number}", _TEXT.encode()) for number in range(8)]
    with output.open("wb") as file:
        file.write(page[0] + _with_wrong_byte(page[1]) + page[2])
        file.write(_member("large", b"<p>", more=megabytes * _PIECE))
        file.write(page[3] + _member("picture", b"\x89PNG\r\n\x1a\n", kind="image/png"))
        file.write(_member("about", b"software: by hand\r\n", kind="", record_type="metadata"))
        file.write(page[4][: len(page[4]) // 2] + page[5] + page[6] + page[7][:-20])
    click.echo(f"{output}: {output.stat().st_size:,} bytes")


def _member(name: str, body: bytes, more: int = 0, kind: str = "text/html", record_type: str = "response") -> bytes:
    """A record as a gzip member of its own; `more` bytes of text follow its body."""
    http = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode() if record_type == "response" else b""
    content_type = "application/http; msgtype=response" if http else "application/warc-fields"
    head = [
        "WARC/1.1",
        f"WARC-Type: {record_type}",
        f"WARC-Record-ID: <urn:example:{name}>",
        f"WARC-Target-URI: https://lighthouse.example/{name}",
        "WARC-Date: 2026-11-15T00:00:00Z",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(http) + len(body) + more}",
    ]
    pack = zlib.compressobj(1, wbits=_GZIP)
    parts = [pack.compress("\r\n".join(head).encode() + b"\r\n\r\n" + http + body)]
    letters = b"a word " * (_PIECE // 7 + 1)
    parts += [pack.compress(letters[: min(_PIECE, more - done)]) for done in range(0, more, _PIECE)]
    return b"".join((*parts, pack.compress(b"\r\n\r\n"), pack.flush()))


def _with_wrong_byte(member: bytes) -> bytes:
    """Change the checksum at the end of a member."""
    return member[:-8] + bytes([member[-8] ^ 0xFF]) + member[-7:]


if __name__ == "__main__":
    main()
