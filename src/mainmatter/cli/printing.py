"""What must not go to a terminal, and what cannot."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_CONTROLS = {
    code: "\N{REPLACEMENT CHARACTER}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"
}


def harmless(text: str) -> str:
    """A page's text for standard output: a terminal would obey its control characters, so it gets others instead."""
    return text.translate(_CONTROLS) if sys.stdout.isatty() else text


def why_unwritable(error: UnicodeEncodeError) -> str:
    """What cannot be written, and what to do."""
    problem = f"{error.object[error.start]!a} cannot be written in {error.encoding}"
    return problem if error.encoding == "utf-8" else f"{problem}; set PYTHONIOENCODING=utf-8"


@contextmanager
def progress(label: str, length: int, *, hidden: bool = False) -> Iterator[Callable[[], None]]:
    """Show how far some work has come; gives a function to call after each piece of it."""
    hidden = hidden or not sys.stderr.isatty()
    with click.progressbar(length=length, label=label, file=sys.stderr, hidden=hidden) as bar:
        yield lambda: bar.update(1)
