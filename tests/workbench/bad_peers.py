"""Peers that hang or crash, for workers of the tests of /api/compare."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from mainmatter.lab.peers import PEERS
from mainmatter.workbench import compare

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.lab.metrics import Output
    from mainmatter.records import Page
    from mainmatter.workbench.page_source import PageSource


def hang(page: Page, with_metadata: bool) -> Output:
    while True:
        time.sleep(1)


def crash(page: Page, with_metadata: bool) -> Output:
    os._exit(3)


def contribute(source: PageSource, name: str, models: Path) -> compare.Contribution:
    """As the worker's own task, where justext hangs and goose3 crashes."""
    PEERS["justext"], PEERS["goose3"] = hang, crash
    return compare.contribute(source, name, models)
