"""Pages that hang, crash or eat memory cost one row's text each in the adapters for Ray Data and Spark."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest

from crawls import install_wicked, page
from mainmatter import registry
from mainmatter.corpus.adapters import guarded
from mainmatter.corpus.adapters.guarded import GuardedCleaner
from mainmatter.corpus.adapters.page import PipelineCleaner
from mainmatter.corpus.adapters.ray_data import CleanBatch
from mainmatter.errors import InputError
from mainmatter.isolation import kept

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mainmatter.records import Document, Extraction


def _end_children() -> None:
    while kept._children:
        kept._children.popitem()[1].close()


@pytest.fixture
def wicked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The method `wicked`, installed; no child is left."""
    (tmp_path / "plugin").mkdir()
    monkeypatch.syspath_prepend(install_wicked(tmp_path / "plugin"))
    registry._plugins.cache_clear()
    yield
    registry._plugins.cache_clear()
    sys.modules.pop("wicked", None)
    _end_children()


def test_a_wicked_page_costs_its_text_and_no_other(wicked: None) -> None:
    words = ["", "HANG", "", "MEMORY", "EXIT", "RAISE", ""]
    clean = CleanBatch(url=None, method="wicked", max_seconds=1, max_memory=1_000_000_000)
    rows = clean({"html": np.array([page(number, word) for number, word in enumerate(words)], object)})
    assert [row is not None for row in rows["text"]] == [not word for word in words]
    assert list(rows["error"]) == [
        None,
        "timeout: took more than 1 s of processor time, or 10 times that in all",
        None,
        "out-of-memory: took more than 1000 MB of memory",
        "crashed: crashed its worker process twice (exit code 3)",
        "ZeroDivisionError: by a page",
        None,
    ]


def test_cleaners_of_one_kind_share_a_child_and_others_make_room() -> None:
    _end_children()
    children = []
    for c1 in (0.1, 0.2, 0.1, 0.3, 0.4, 0.5):
        cleaner = GuardedCleaner(PipelineCleaner("density", parameters={"c1": c1}), 60, 10**9)
        children.append(guarded.child_for(cleaner))
    assert children[0] is children[2]
    assert len(set(children)) == 5
    assert list(kept._children.values()) == [children[2], *children[3:]]


def test_what_cannot_be_sent_is_told() -> None:
    class Local:
        name: ClassVar[str] = "local"
        summary: ClassVar[str] = ""

        def extract(self, document: Document) -> Extraction:
            return registry.get_method("density").extract(document)

    with pytest.raises(InputError, match=r"cannot be sent to another process .*Local.*; give its name or its"):
        CleanBatch(method=Local())
    with pytest.raises(InputError, match="max_seconds must be a number above 0, not 0"):
        CleanBatch(max_seconds=0)


def test_a_child_that_is_closed_is_started_again() -> None:
    clean = CleanBatch(url=None, method="density")
    batch = {"html": np.array([page(1, "")], object)}
    first = clean(batch)["text"][0]
    guarded.child_for(clean.cleaner).close()
    assert clean(batch)["text"][0] == first is not None
