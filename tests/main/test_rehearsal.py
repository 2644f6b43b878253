"""Pages for rehearsal: what is kept of them is what the net saw, and they keep it from forgetting."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mainmatter.api import read
from mainmatter.errors import ModelError
from mainmatter.main.examples import observe
from mainmatter.main.method import Main
from mainmatter.main.rehearsal import (
    LEARNED_AGAIN,
    REHEARSAL,
    choose_pages,
    load_rehearsal,
    save_rehearsal,
    score_known,
)
from mainmatter.method import Example
from mainmatter.models.store import SHIPPED
from mainmatter.records import Gold, Page

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.main.examples import ObservedPage


def page(number: int, blocks: int = 20) -> ObservedPage:
    """A page with a menu, of which nothing is kept, and an article; the last paragraph is open."""
    texts = "".join(f"<p>Line {line} of page {number} has some words.</p>" for line in range(blocks))
    html = (
        f'<title>T</title><nav class="main-nav menu"><a href=/>Home</a></nav><div class="entry-content">{texts}</div>'
    )
    document = read(Page(html.encode(), f"https://site-{number}.example/"))
    shares = np.array([0.0] + [1.0] * (len(document) - 2) + [np.nan])
    return observe(Example(document, Gold(text=""), shares, document.columns.kinds, page_type="article"))


def test_what_was_kept_is_what_the_net_saw(tmp_path: Path) -> None:
    model = Main().load_shipped()
    pages = [page(1), page(2, 30)]
    save_rehearsal(pages, model.vocabulary_, tmp_path / "x.npz")
    for before, after in zip(pages, load_rehearsal(tmp_path / "x.npz"), strict=True):
        one, other = (each.number(model.vocabulary_, model.conventions) for each in (before, after))
        assert np.abs(one.inputs.dense - other.inputs.dense).max() <= 1 / 32
        for name in ("tokens", "token_elements", "parents", "containers"):
            assert (getattr(one.inputs, name) == getattr(other.inputs, name)).all(), name
        assert np.array_equal(one.shares, other.shares, equal_nan=True)
        assert (one.words == other.words).all()
        assert (one.labels == other.labels).all()
        assert (one.convention, one.page_type) == (other.convention, other.page_type)
        assert (before.dump.labels == after.dump.labels).all()
        assert np.abs(before.dump.inputs.dense - after.dump.inputs.dense).max() <= 1 / 32


def test_only_words_of_the_vocabulary_are_kept(tmp_path: Path) -> None:
    model = Main().load_shipped()
    one = page(1)
    named = replace(one, names=[f"{name} zzsecretword" for name in one.names])
    save_rehearsal([named], model.vocabulary_, tmp_path / "x.npz")
    names = load_rehearsal(tmp_path / "x.npz")[0].names
    assert "secret" not in " ".join(names)
    assert any("content" in name for name in names)


def test_pages_are_chosen_one_a_site_and_neither_short_nor_long() -> None:
    pages = [page(1), page(1, 25), page(2), page(3, 2), page(4, 300)]
    assert sorted(each.site for each in choose_pages(pages)) == ["site-1.example", "site-2.example"]


def test_damaged_files_are_told(tmp_path: Path) -> None:
    whole = (SHIPPED / "main" / REHEARSAL).read_bytes()
    for data in (b"PK nothing", b"", whole[:5000], whole[:50_000] + bytes(5_000) + whole[55_000:]):
        (tmp_path / "x.npz").write_bytes(data)
        with pytest.raises(ModelError, match=r"x\.npz: damaged"):
            load_rehearsal(tmp_path / "x.npz")


def test_the_shipped_model_knows_what_ships_with_it() -> None:
    pages = load_rehearsal(SHIPPED / "main" / REHEARSAL)
    assert len(pages) > LEARNED_AGAIN
    assert score_known(Main().load_shipped(), pages[LEARNED_AGAIN:][:10]) > 0.9
