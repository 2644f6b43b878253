"""One browser for all tests of this folder; they skip where it is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mainmatter.errors import InputError, MissingExtra
from mainmatter.html.browser.chromium import Chromium
from mainmatter.papers.fiasco.visual import need_rendering

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def browser() -> Iterator[Chromium]:
    try:
        need_rendering()
    except (InputError, MissingExtra) as error:
        pytest.skip(str(error))
    with Chromium(seconds=60) as running:  # the machine may be busy
        yield running


@pytest.fixture(scope="session")
def shared_browser(browser: Chromium) -> None:
    """For what starts the process's own browser, which closes with the process."""
