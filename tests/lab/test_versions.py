"""What was measured, by its digests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mainmatter.lab import versions
from mainmatter.lab.datasets import GoldPage
from mainmatter.lab.versions import dataset_digest, version_of
from mainmatter.records import Gold, Page

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PAGES = [
    GoldPage(Page(b"<p>one two three four</p>", id="a"), Gold("One two."), {"page_type": "article"}),
    GoldPage(Page(b"<p>five</p><p>six</p>", id="b"), Gold("five six"), {"page_type": "forum"}),
]


def test_the_digest_tells_pages_and_gold_texts_apart() -> None:
    first, second = PAGES
    digests = {
        dataset_digest(pages)
        for pages in (
            [first, second],
            [second, first],
            [first],
            [replace(first, gold=Gold("One two")), second],
            [replace(first, page=Page(b"<p>one two three four </p>", id="a")), second],
            [replace(first, groups={}), second],
        )
    }
    assert len(digests) == 6
    assert dataset_digest(PAGES) == dataset_digest(list(PAGES))
    assert len(dataset_digest([GoldPage(Page("\ud800"), Gold("\ud800"), {})])) == 16


def test_versions() -> None:
    ours = version_of("density")
    assert ours == version_of("density:c1=0.1")  # which is part of the name
    assert "+" in ours
    assert version_of("turbohtml").count(".") >= 1


def test_versions_change_with_the_code_that_cleans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("main/x.py", "cli/y.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(versions, "PACKAGE", tmp_path)
    before = version_of("density")
    (tmp_path / "cli/y.py").write_text("2")
    assert version_of("density") == before
    (tmp_path / "main/x.py").write_text("2")
    assert version_of("density") != before


def test_what_is_not_cleaning_is_there() -> None:
    """A folder that was renamed would be looked for in vain."""
    assert all((versions.PACKAGE / name).is_dir() for name in (*versions._NOT_CLEANING, "lab/metrics"))
