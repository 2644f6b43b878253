"""Pages made to hurt, at their full size, and which of them take longest.

What takes longest for its size is shown at the end of the run (`pytest -rP tests/slow/test_hostile.py`). It is to be
under a second for 5 MB on a machine of today, which no test can hold on every machine.
"""

from __future__ import annotations

import pytest

import mainmatter
from hostile_pages import (
    MARKUP_PAGES,
    PAGES,
    PARAGRAPHS,
    hold_all,
    hold_every_format,
    hold_formats_with_markup,
    make_25_megabytes,
    times,
)
from mainmatter.registry import FORMATS


@pytest.mark.parametrize("name", PAGES)
def test_every_method_and_format_in_linear_time(name: str) -> None:
    hold_every_format(name, share=1)


@pytest.mark.parametrize("name", MARKUP_PAGES)
def test_formats_with_markup_in_linear_time(name: str) -> None:
    hold_formats_with_markup(name, share=1)


def test_25_megabytes() -> None:
    page = make_25_megabytes(PARAGRAPHS)
    assert len(mainmatter.clean(page, method="ice-baseline")) == PARAGRAPHS
    hold_all("25 MB", make_25_megabytes, PARAGRAPHS, FORMATS)


def test_the_slowest() -> None:
    """Stands at the end of the file: `pytest -rP` shows what it prints."""
    if not times:
        pytest.skip("run with the others")
    for rate, seconds, name, what in sorted(times, reverse=True)[:5]:
        print(f"{seconds:.2f} s, {rate:.2f} s for a megabyte: {name}, {what}")
