"""What users name, a file, a folder, a URL or `-`, to pages."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mainmatter.errors import InputError
from mainmatter.fetch import fetch, is_url
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.records import Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STANDARD_INPUT = "-"
PAGE_ENDINGS = frozenset((".html", ".htm", ".xhtml", ".shtml", ".php", ".asp", ".aspx", ".jsp"))
DUMP_ENDINGS = frozenset((".txt", ".text"))
# How files begin that are given by mistake. Those that a text could begin with are told by more than their own sign.
MAGIC_NUMBERS = {
    b"\x89PNG\r\n\x1a\n": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF87a": "a GIF picture",
    b"GIF89a": "a GIF picture",
    b"II*\0": "a TIFF picture",
    b"MM\0*": "a TIFF picture",
    b"%PDF-": "a PDF document",
    b"%!PS-": "a PostScript document",
    b"{\\rtf": "an RTF document",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an Office document",
    b"PK\3\4": "a ZIP archive or an Office document",
    b"PK\5\6": "a ZIP archive",
    b"\x1f\x8b": "a gzip archive",
    b"BZh91AY&SY": "a bzip2 archive",
    b"\xfd7zXZ\0": "an xz archive",
    b"(\xb5/\xfd": "a Zstandard archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\7": "a RAR archive",
    b"PAR1\x15": "a Parquet file",
    b"SQLite format 3\0": "an SQLite database",
    b"\x7fELF": "a program",
}


@dataclass(frozen=True, slots=True)
class Input:
    """Something that a page can be read from.

    Attributes:
        name: what the user calls it: a path, a URL, or `-`.
        relative: where its result goes below an output folder.
        format: "html", "text", or None to tell by the name's ending, or for a URL by what the server says.
    """

    name: str
    relative: Path
    format: str | None = None

    def read(self, limits: Limits = DEFAULT_LIMITS) -> Page:
        """Read the page, but no more than the limits allow: a pipe or a device may have no end.

        Raises:
            InputError: it cannot be read, or is something else than a page or a dump.
            PageTooLarge: it is over the limits.
        """
        page = fetch(self.name, limits=limits) if is_url(self.name) else self._read_here(limits)
        return page if self.format is None else replace(page, format="text" if self.format == "text" else "html")

    def _read_here(self, limits: Limits) -> Page:
        """Read a file or standard input."""
        try:
            if self.name == STANDARD_INPUT:
                data = sys.stdin.buffer.read(limits.size + 1)
            else:
                with Path(self.name).open("rb") as file:
                    data = file.read(limits.size + 1)
        except OSError as error:
            raise InputError(f"{self.name}: cannot be read: {error.strerror or error}") from error
        for number, words in MAGIC_NUMBERS.items():
            if data.startswith(number):
                raise InputError(f"{self.name}: is {words}, not a web page")
        limits.check_size(len(data), self.name)
        is_dump = Path(self.name).suffix.lower() in DUMP_ENDINGS
        printable_name = os.fsencode(self.name).decode("utf-8", "replace")
        return Page(data, None, printable_name, format="text" if is_dump else "html")


def find_inputs(names: Iterable[str], format: str | None = None) -> list[Input]:  # noqa: A002 - the word users know
    """All inputs that the names stand for; a folder stands for the pages and dumps below it, sorted.

    Folders below it whose name begins with a dot (.git, .venv) are left out.

    Raises:
        InputError: there is no such file or folder, a folder holds no page, or a name is empty.
    """
    inputs = []
    for name in names:
        if not name:  # for Path that is the current folder
            raise InputError("an input's name is empty; name a file, a folder, a URL, or - for standard input")
        path = Path(name)
        if is_url(name):
            inputs.append(Input(name, Path(_file_name(name)), format))
        elif name == STANDARD_INPUT:
            inputs.append(Input(name, Path("page"), format))
        elif path.is_dir():
            inputs += _find_in_folder(path, format)
        elif path.exists():
            inputs.append(Input(name, Path(path.name), format))
        else:
            raise InputError(f"{name}: no such file or folder")
    return inputs


def _find_in_folder(folder: Path, format: str | None) -> list[Input]:  # noqa: A002
    endings = PAGE_ENDINGS | DUMP_ENDINGS
    files = sorted(file for file in _walk(folder) if file.suffix.lower() in endings and file.is_file())
    if not files:
        raise InputError(f"{folder}: holds no page; looked for files that end in {' '.join(sorted(endings))}")
    return [Input(str(file), file.relative_to(folder), format) for file in files]


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = (name for name in folders if not name.startswith("."))  # where os.walk goes next
        yield from (Path(parent, name) for name in files)


def _file_name(url: str) -> str:
    """A name for the file that a URL's result goes to."""
    letters = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in url.partition("://")[2])
    name = letters.strip("._")[:150] or "page"
    return name if Path(name).suffix.lower() in PAGE_ENDINGS | DUMP_ENDINGS else f"{name}.html"
