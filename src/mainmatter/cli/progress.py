"""A progress bar on standard error: on a terminal, and none in a pipe."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress(label: str, length: int, *, hidden: bool = False) -> Iterator[Callable[[], None]]:
    """Show how far some work has come; gives a function to call after each piece of it."""
    hidden = hidden or not sys.stderr.isatty()
    with click.progressbar(length=length, label=label, file=sys.stderr, hidden=hidden) as bar:
        yield lambda: bar.update(1)
