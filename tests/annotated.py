"""Pages to annotate, and annotators who say what they are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mainmatter.records import Page
from mainmatter.workbench.labels import Label, Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

HTML = (
    "<html><head><title>Otters</title></head><body><ul><li><a href=/>Home</a></li><li><a href=/news>News</a></li></ul>"
    "<h1>Otters are back</h1>"
    "<p>The otters were seen at the old mill again, three of them, on a cold morning in March.</p>"
    "<p>Nobody had expected that, for the river had been empty since the dam was built upstream.</p>"
    "<ul><li>Fish are back, too.</li><li>So are the herons.</li></ul>"
    "<p>Share</p><p>Anna says: how lovely to read of them once more!</p><p>Share</p><p>© 2026 The Mill Gazette</p>"
    "</body></html>"
)
TEXTS = (
    "Home",
    "News",
    "Otters are back",
    "The otters were seen at the old mill again, three of them, on a cold morning in March.",
    "Nobody had expected that, for the river had been empty since the dam was built upstream.",
    "Fish are back, too.",
    "So are the herons.",
    "Share",
    "Anna says: how lovely to read of them once more!",
    "Share",
    "© 2026 The Mill Gazette",
)
DROP = Label(kept=False)
KEEP = Label(kept=True)
HEADING = Label(kept=True, kind="heading")
LIST = Label(kept=True, kind="list")
COMMENT = Label(kept=False, kind="comment")
# What a careful annotator says of the page.
SAID = (DROP, DROP, HEADING, KEEP, KEEP, LIST, LIST, DROP, COMMENT, DROP, DROP)


def store_with_page(folder: Path, html: str | bytes = HTML, url: str | None = "http://mill.example/otters") -> Store:
    """A new store with one page, whose number is 1."""
    store = Store(folder)
    assert store.add_page(Page(html, url, "otters.html"), "a test") == 1
    return store


def say(store: Store, annotator: str, labels: dict[int, Label | None], page_id: int = 1) -> int:
    """Label blocks by their numbers."""
    blocks = store.blocks(page_id)
    by = "Mia" if annotator == "merged" else None
    return store.set_labels(page_id, annotator, {blocks[i].ref: label for i, label in labels.items()}, by=by)


def say_all(store: Store, annotator: str, page_id: int = 1, **other: Label) -> int:
    """Label all blocks as the careful annotator does; `b3=DROP` says otherwise of block 3."""
    labels: dict[int, Label | None] = dict(enumerate(SAID))
    return say(store, annotator, labels | {int(name[1:]): label for name, label in other.items()}, page_id)


def labels_by_text(store: Store, annotator: str, page_id: int = 1) -> dict[str, Label]:
    """What an annotator said, by the text of the block; a text that is there twice counts once."""
    texts = {block.ref: block.block.text for block in store.blocks(page_id)}
    return {texts[ref]: label for ref, label in store.labels(page_id, annotator).by_ref.items()}


def segment_otherwise(monkeypatch: pytest.MonkeyPatch, change: Callable[[str], str]) -> None:
    """From now on, the store reads pages as if their HTML were another: a new version of the segmenter."""
    from mainmatter.api import read
    from mainmatter.workbench.labels import store

    def read_otherwise(page: Page, *_: object) -> object:
        assert isinstance(page.html, str)
        return read(Page(change(page.html), page.url, page.id, page.charset, page.format))

    monkeypatch.setattr(store, "read", read_otherwise)
