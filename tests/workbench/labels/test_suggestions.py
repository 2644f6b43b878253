"""What a model suggests, how sure it is of it, which page comes next, and what a site repeats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from annotated import HTML, TEXTS, store_with_page
from mainmatter.api import read
from mainmatter.papers.density.method import Density
from mainmatter.records import Page
from mainmatter.registry import get_method
from mainmatter.workbench.labels import Label, Store
from mainmatter.workbench.labels.recurring import FEWEST_PAGES, drop_recurring, find_recurring, key_of
from mainmatter.workbench.labels.suggestions import (
    SuggestingModel,
    chances_of,
    entropy,
    mix_sites,
    newest_model,
    number_alike,
    suggest,
)
from teaching_pages import annotate_boards

if TYPE_CHECKING:
    from pathlib import Path


def test_a_chance_is_even_at_the_threshold() -> None:
    extraction = get_method("main").extract(read(Page(HTML)))
    assert extraction.threshold is not None
    assert extraction.threshold != pytest.approx(0.5, abs=0.02), "this page would show nothing"
    chances = chances_of(extraction)
    assert ((chances >= 0.5) == extraction.kept).all() or (chances[(chances >= 0.5) != extraction.kept] == 0.5).all()
    odds = [math.log(p / (1 - p)) for p in (chances[3], extraction.scores[3], extraction.threshold)]
    assert odds[0] == pytest.approx(odds[1] - odds[2])
    assert set(chances_of(Density().extract(read(Page(HTML))))) <= {0.0, 1.0}, "it tells no chances"


def test_entropy_is_one_where_nothing_is_known() -> None:
    assert entropy(np.array([0.5, 0.0, 1.0, 0.25])) == pytest.approx([1, 0, 0, 0.8113], abs=1e-4)


def test_suggestions_say_what_made_them_and_how_sure_it_is() -> None:
    document = read(Page(HTML))
    found = suggest(document, SuggestingModel())
    assert [label.kept for label in found.labels] == get_method("main").extract(document).kept.tolist()
    assert {label.suggested_by for label in found.labels} == {"main"}
    assert len(found.scores) == len(found.alike) == len(TEXTS)
    assert 0 < found.sure < 1
    assert found.differs == 0, "it is what ships"
    other = suggest(document, SuggestingModel("ice-baseline", "ice-baseline"))
    assert other.sure > 0.999
    assert other.differs > 0


def test_blocks_that_are_built_alike_have_one_number() -> None:
    post = '<div class="post" id=p{0}><b class="by u{0}">Author {0}</b><p>Words of post {0}.</p></div>'
    document = read(Page("<main>" + "".join(post.format(n) for n in range(3)) + "</main><footer><p>End</p></footer>"))
    by_text = dict(zip(document.texts, number_alike(document), strict=True))
    assert by_text["Words of post 0."] == by_text["Words of post 2."] != by_text["End"]
    assert number_alike(read(Page("One\n\nTwo", format="text"))) == [0, 1]


def test_the_newest_model_suggests_unless_it_is_damaged_or_knows_no_blocks(tmp_path: Path) -> None:
    from mainmatter.lab.training.teach import Teaching, save_lesson, teach  # it takes a moment

    models = tmp_path / "models"
    assert newest_model(models) == SuggestingModel("main", "main", 0)
    annotate_boards(tmp_path, 4)
    with Store(tmp_path) as store:
        lesson = teach(store.gold_pages(), teaching=Teaching(curve=False))
    save_lesson(lesson, models / "first")
    save_lesson(lesson, models / "second")
    newest = newest_model(models)
    assert (newest.name, newest.method) == ("models/second", str(models / "second"))
    save_lesson(lesson, models / "first")
    assert newest_model(models).version > newest.version
    (models / "first" / "model.json").write_text("{}")
    assert newest_model(models) == newest
    with Store(tmp_path) as store:
        found = suggest(store.document(1), newest)
    assert [label.kept for label in found.labels] == [False] * 3 + [True] * 6 + [False] * 3, "as it was taught"
    assert found.differs > 0.9, "main says the opposite"


def test_no_site_comes_twice_in_a_row_while_others_wait() -> None:
    pages = [(1, "a"), (2, "a"), (3, "a"), (4, "b"), (5, "c"), (6, "b")]
    assert mix_sites(pages) == [1, 4, 5, 2, 6, 3]
    assert mix_sites(pages, last="a") == [4, 5, 1, 6, 2, 3]
    assert mix_sites([(1, "a"), (2, "a")], last="a") == [1, 2]
    assert mix_sites([]) == []


def page_of_site(number: int, host: str = "mill.example") -> Page:
    menu = "".join(f"<li><a href=/{word}>{word}</a></li>" for word in ("News", "Weather", "Otters"))
    return Page(
        f"<ul>{menu}</ul><p>Story {number}, which only this page has.</p><p>Share</p>", f"http://{host}/{number}"
    )


def test_what_a_site_repeats_is_dropped_on_all_its_pages_and_undone_on_each(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        pages = [store.add_page(page_of_site(number), "test") for number in range(FEWEST_PAGES - 1)]
        elsewhere = store.add_page(page_of_site(9, "other.example"), "test")
        assert find_recurring(store, pages[0], "Ada").blocks == []
        pages.append(store.add_page(page_of_site(7, "www.mill.example"), "test"))
        found = find_recurring(store, pages[0], "Ada")
        assert (found.site, sorted(found.pages)) == ("mill.example", pages)
        assert [(each.text, each.pages, each.open) for each in found.blocks] == [
            (text, 3, 3) for text in ("News", "Weather", "Otters", "Share")
        ]
        refs = store.references(pages[0])
        own = Label(kept=True, kind="list")
        accepted = Label(kept=True, suggested_by="main")
        store.set_labels(pages[0], "Ada", {refs[0]: own, refs[1]: accepted})
        keys = {each.key for each in found.blocks if each.text != "Share"}
        assert drop_recurring(store, found.pages, "Ada", keys) == dict(zip(pages, (2, 3, 3), strict=True))
        dropped = Label(kept=False, kind="list", suggested_by="template")
        assert store.labels(pages[0], "Ada").by_ref == {refs[0]: own, refs[1]: dropped, refs[2]: dropped}
        assert [each.text for each in find_recurring(store, pages[0], "Ada").blocks] == ["Share"]
        assert store.labels(elsewhere, "Ada").by_ref == {}
        store.undo(pages[0], "Ada")
        assert store.labels(pages[0], "Ada").by_ref == {refs[0]: own, refs[1]: accepted}
        assert len(store.labels(pages[1], "Ada").by_ref) == 3


def test_equal_texts_have_one_key(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        shares = [key_of(ref) for ref, text in zip(store.references(1), TEXTS, strict=True) if text == "Share"]
    assert len(shares) == 2
    assert len(set(shares)) == 1
