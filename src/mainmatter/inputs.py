"""What users name, a file, a folder, a URL or `-`, to pages."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mainmatter.errors import InputError, PageTooLarge
from mainmatter.fetch import fetch, is_url
from mainmatter.limits import DEFAULT_LIMITS, MEGABYTE, Limits
from mainmatter.records import Page

if TYPE_CHECKING:
    from collections.abc import Iterable

STANDARD_INPUT = "-"
PAGE_ENDINGS = frozenset((".html", ".htm", ".xhtml", ".shtml", ".php", ".asp", ".aspx", ".jsp"))
DUMP_ENDINGS = frozenset((".txt", ".text"))


@dataclass(frozen=True, slots=True)
class Input:
    """Something that a page can be read from.

    Attributes:
        name: what the user calls it: a path, a URL, or `-`.
        relative: where its result goes below an output folder.
        format: "html", "text", or None to tell by the name's ending.
    """

    name: str
    relative: Path
    format: str | None = None

    def read(self, limits: Limits = DEFAULT_LIMITS) -> Page:
        """Read the page, but no more than the limits allow: a pipe or a device may have no end.

        Raises:
            InputError: it cannot be read.
            PageTooLarge: it is over the limits.
        """
        if is_url(self.name):
            return fetch(self.name, limits=limits)
        if self.name == STANDARD_INPUT:
            data = sys.stdin.buffer.read(limits.size + 1)
        else:
            try:
                with Path(self.name).open("rb") as file:
                    data = file.read(limits.size + 1)
            except OSError as error:
                raise InputError(f"{self.name}: cannot be read: {error.strerror or error}") from error
        if len(data) > limits.size:
            raise PageTooLarge(
                f"{self.name} has more than {limits.size / MEGABYTE:.1f} MB; raise the limit with --max-size"
            )
        is_dump = Path(self.name).suffix.lower() in DUMP_ENDINGS
        kind = self.format or ("text" if is_dump else "html")
        return Page(data, None, self.name, format="text" if kind == "text" else "html")


def find_inputs(names: Iterable[str], format: str | None = None) -> list[Input]:  # noqa: A002 - the word users know
    """All inputs that the names stand for; a folder stands for the pages and dumps below it, sorted.

    Raises:
        InputError: there is no such file or folder, or a folder holds no page.
    """
    inputs = []
    for name in names:
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
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in endings and file.is_file())
    if not files:
        raise InputError(f"{folder}: holds no page; looked for files that end in {' '.join(sorted(endings))}")
    return [Input(str(file), file.relative_to(folder), format) for file in files]


def _file_name(url: str) -> str:
    """A name for the file that a URL's result goes to."""
    letters = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in url.partition("://")[2])
    name = letters.strip("._")[:150] or "page"
    return name if Path(name).suffix.lower() in PAGE_ENDINGS | DUMP_ENDINGS else f"{name}.html"
