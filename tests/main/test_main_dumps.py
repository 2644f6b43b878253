"""`main` on plain-text dumps: what its net for them sees, what it learns from, and what it decides."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache
from math import tanh
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import mainmatter
from main_pages import article, examples, gold_pages, prose, trained
from mainmatter.api import read
from mainmatter.errors import InputError, ModelError
from mainmatter.lab.metrics.bag import bag_of_words
from mainmatter.lab.training.examples import make_example
from mainmatter.main import examples as examples_module
from mainmatter.main import method as main
from mainmatter.main.dumps import DUMP_COLUMNS, as_dump, describe_dump
from mainmatter.main.examples import augment_dump
from mainmatter.main.features import COLUMNS, describe_blocks
from mainmatter.main.method import Main, PageJudgement
from mainmatter.models.store import Model
from mainmatter.records import BOILERPLATE, COMMENT, HEADLINE, LABELS, Document, Kind, Page

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.main.examples import ObservedPage
    from mainmatter.main.training import NetExample, TrainingConfig

HTML = """<title>Foxes | The Zoo</title><ul><li>Home</ul><h1>Foxes</h1>
    <p>A red fox.<br>Another one.</p><table><tr><td>Tails<td>two</table>"""
AT = {name: number for number, name in enumerate(DUMP_COLUMNS)}


def read_dump(*lines: str) -> Document:
    return read(Page("\n".join(lines), format="text", lines_are_blocks=True))


def dump_of(page: GoldPage) -> GoldPage:
    """The page as a WET archive has it."""
    lines = as_dump(read(page.page))[0].texts
    return replace(page, page=Page("\n".join(lines), id=page.page.id, format="text", lines_are_blocks=True))


@cache
def taught() -> Main:
    """A method that has learned from dumps alone; shared by all tests, so do not change it."""
    return Main(epochs=40).fit([make_example(dump_of(page)) for page in gold_pages()])


def test_of_a_dump_it_sees_what_texts_tell() -> None:
    document = read_dump("Foxes and hares", "* Home", "A red fox, and 2 others.", "Home")
    dense, everything = describe_dump(document).dense, describe_blocks(document).dense
    assert dense.shape == (4, len(DUMP_COLUMNS))
    assert dense.dtype == np.float32
    for name, number in AT.items():
        if name not in ("in_title", "title_side", "page_has_title"):
            assert np.array_equal(dense[:, number], everything[:, COLUMNS.index(name)]), name


def test_the_first_line_is_taken_for_the_title() -> None:
    dense = describe_dump(read_dump("Foxes | Zoo", "Home", "Foxes", "A red fox.")).dense
    assert dense[:, AT["in_title"]].tolist() == pytest.approx([0, 0, 5 / 11, 0])
    assert dense[:, AT["title_side"]].tolist() == pytest.approx([tanh(each / 10) for each in (-2, -1, 0, 1)])
    assert dense[:, AT["page_has_title"]].tolist() == [1] * 4
    dense = describe_dump(read_dump("Foxes are what this page is on | Zoo", "Home", "Foxes", "A red fox.")).dense
    assert dense[:, AT["in_title"]].tolist() == pytest.approx([0, 0, 5 / 36, 0])  # too little of it
    assert not dense[:, [AT["title_side"], AT["page_has_title"]]].any()


@pytest.mark.parametrize(("before", "is_found"), [(295, True), (296, False)])
def test_of_a_long_first_line_the_beginning_may_be_a_title(before: int, is_found: bool) -> None:
    dense = describe_dump(read_dump("x" * before + "Foxes", "Foxes", "A red fox.")).dense
    assert dense[1, AT["in_title"]] == pytest.approx(5 / 300 if is_found else 0)


def test_an_empty_dump() -> None:
    assert describe_dump(read_dump("")).dense.shape == (0, len(DUMP_COLUMNS))
    found = mainmatter.clean(Page("", format="text"), method=taught())
    assert (found.text, found.confidence) == ("", None)


def test_a_page_as_a_dump() -> None:
    dump, blocks = as_dump(read(Page(HTML)))
    assert dump.texts == ["Foxes | The Zoo", "Home", "Foxes", "A red fox.", "Another one.", "Tails two"]
    assert blocks.tolist() == [-1, 0, 1, 2, 2, 3]
    assert dump.columns.kinds == [
        Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.HEADING, Kind.PARAGRAPH, Kind.PARAGRAPH, Kind.PARAGRAPH,
    ]  # fmt: skip
    assert as_dump(read(Page("<p>no title")))[0].texts == ["no title"]
    document = read_dump("one", "two")
    assert as_dump(document)[0] is document
    assert as_dump(document)[1].tolist() == [0, 1]


def test_labels_go_with_the_lines_of_a_block() -> None:
    found = observe(np.array([0, 1, 0.5, np.nan]), np.array([BOILERPLATE, HEADLINE, -1, COMMENT]))
    assert not found.is_dump
    assert np.array_equal(found.dump.shares, np.array([0, 0, 1, 0.5, 0.5, np.nan], np.float32), equal_nan=True)
    assert found.dump.labels.tolist() == [BOILERPLATE, BOILERPLATE, HEADLINE, -1, -1, COMMENT]
    assert found.dump.words.tolist() == [3, 1, 1, 3, 2, 2]
    assert found.dump.page_type == found.example.page_type == 0
    assert np.array_equal(found.dump.inputs.dense, describe_dump(as_dump(read(Page(HTML)))[0]).dense)
    assert Main().observe(make_example(dump_of(article(1)))).is_dump


def only(monkeypatch: pytest.MonkeyPatch, *changes: str) -> NetExample:
    """The dump of a page, to which these changes are made always, and no others but to lengths."""
    for change in ("_NO_FIRST_LINE", "_NO_HEADINGS", "_NO_LISTS", "_NO_CAPITALS", "_NO_TITLE", "_OTHER_PAGE"):
        monkeypatch.setattr(examples_module, change, float(change in changes))
    return augment_dump(observed(), np.random.default_rng(0))


def observed() -> NetExample:
    return observe(np.ones(4), np.full(4, -1)).dump


def observe(shares: NDArray[np.float64], labels: NDArray[np.intp]) -> ObservedPage:
    return Main().observe(replace(make_example(article(1)), document=read(Page(HTML)), shares=shares, labels=labels))


def test_a_dump_that_was_made_in_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    before = observed()
    found = only(monkeypatch)
    others = [number for name, number in AT.items() if name not in ("chars", "page_chars", "page_longest")]
    assert np.array_equal(found.inputs.dense[:, others], before.inputs.dense[:, others])
    heading, item = AT["kind_heading"], AT["kind_list-item"]
    assert (found.inputs.dense[:, heading].sum(), found.inputs.dense[:, item].sum()) == (1, 1)
    found = only(monkeypatch, "_NO_HEADINGS")
    assert (found.inputs.dense[:, heading].sum(), found.inputs.dense[:, item].sum()) == (0, 1)
    found = only(monkeypatch, "_NO_HEADINGS", "_NO_LISTS")
    assert (found.inputs.dense[:, heading].sum(), found.inputs.dense[:, item].sum()) == (0, 0)
    assert np.array_equal(observed().inputs.dense, before.inputs.dense)


def test_a_dump_that_does_not_begin_with_the_title(monkeypatch: pytest.MonkeyPatch) -> None:
    found = only(monkeypatch, "_NO_FIRST_LINE")
    assert found.shares.tolist() == [1] * 5
    assert len(found.inputs.dense) == len(found.inputs.containers) == len(found.words) == len(found.labels) == 5
    assert not found.inputs.dense[:, [AT["in_title"], AT["title_side"], AT["page_has_title"]]].any()
    alone = Main().observe(make_example(replace(article(1), page=Page("one", format="text")))).dump
    assert len(augment_dump(alone, np.random.default_rng(0)).shares) == 1


def test_how_often_dumps_are_changed() -> None:
    before = observed()
    found = [augment_dump(before, np.random.default_rng(seed)).inputs.dense for seed in range(1000)]
    assert sum(len(dense) == 5 for dense in found) == pytest.approx(500, abs=50)
    assert sum(not dense[:, AT["kind_heading"]].any() for dense in found) == pytest.approx(600, abs=50)
    assert sum(not dense[:, AT["kind_list-item"]].any() for dense in found) == pytest.approx(400, abs=50)


@pytest.mark.parametrize("method", [trained, taught])
def test_training_teaches_dumps(method: Any) -> None:
    for page in (dump_of(article(number)) for number in (30, 31, 32)):
        found = mainmatter.clean(page.page, method=method())
        gold = page.gold.text or ""
        assert bag_of_words(found.text, gold).f1 > 0.95 > bag_of_words(str(page.page.html), gold).f1
        assert found.page_type is None
        assert found.confidence is not None


def test_the_model_that_ships_judges_dumps() -> None:
    lines = ["Home", "News", "Imprint | Privacy | Contact | Help", prose(3), prose(4), prose(5), "(c) 2026"]
    for separator in ("\n\n", "\n"):
        page = Page(separator.join(lines), format="text", lines_are_blocks=separator == "\n")
        assert mainmatter.clean(page).kept[3:6].all()
        assert mainmatter.clean(page, dial=1.0, bylines=True).kept.all()  # the last line may be one
        assert mainmatter.clean(page, dial=0.0).kept.sum() == 1


def test_how_likely_a_block_of_a_dump_must_be(monkeypatch: pytest.MonkeyPatch) -> None:
    # As likely blocks of one length promise the same F with one of them as with both, b p² + (1 + b) p = 1.
    b = 0.85**2
    least = (((1 + b) ** 2 + 4 * b) ** 0.5 - (1 + b)) / (2 * b)
    document = read_dump("one two three", "two one three")
    for chance, is_kept in ((least + 0.003, True), (least - 0.003, False)):
        judged = PageJudgement(np.array([1 - 1e-12, chance]), np.tile([0.0, 1, 0, 0, 0, 0], (2, 1)), "listing")
        monkeypatch.setattr(Main, "judge", lambda *_, judged=judged: judged)
        assert taught().extract(document).kept.tolist() == [True, is_kept]


def test_reasons_are_signals_that_a_dump_has() -> None:
    found = mainmatter.clean(dump_of(article(30)).page, method=taught())
    told = " ".join(found.reasons)
    assert "probability" in told
    assert "length" in told or "longest text" in told or "punctuation" in told
    assert not any(family in told for family in ("links", "names", "containers", "tree", "top container"))


def test_labels_on_dumps() -> None:
    found = mainmatter.clean(dump_of(article(30)).page, method=taught())
    assert found.found_labels is not None
    assert set(found.labels) <= set(LABELS)


def test_both_nets_are_kept(tmp_path: Path) -> None:
    method = trained()
    method.save(tmp_path / "model")
    for page in (article(30).page, dump_of(article(30)).page):
        scores = mainmatter.clean(page, method=method).scores
        for other in (Main.load(tmp_path / "model"), pickle.loads(pickle.dumps(method))):
            assert np.array_equal(mainmatter.clean(page, method=other).scores, scores)


def test_what_has_learned_from_dumps_alone_judges_pages_by_their_texts(tmp_path: Path) -> None:
    method = taught()
    assert not hasattr(method, "net_")
    method.save(tmp_path / "model")
    page = article(30)
    for one in (method, Main.load(tmp_path / "model"), pickle.loads(pickle.dumps(method))):
        found = mainmatter.clean(page.page, method=one)
        assert bag_of_words(found.text, page.gold.text or "").f1 > 0.8
        assert found.page_type is None


def test_a_model_without_a_net_for_dumps_judges_them_as_pages() -> None:
    facts, arrays = trained().facts_and_arrays()
    method = Main()
    method.restore(facts, {name: array for name, array in arrays.items() if not name.startswith("dump_")})
    assert len(mainmatter.clean(dump_of(article(30)).page, method=method)) > 0


def test_going_on_from_a_model_with_dumps_leaves_the_net_for_pages_as_it_is(tmp_path: Path) -> None:
    trained().save(tmp_path / "model")
    start = str(tmp_path / "model")
    dumps = [make_example(dump_of(page)) for page in gold_pages(2)]
    further = Main(epochs=1, start=start).fit(dumps)
    assert all(np.array_equal(array, further.net_.arrays()[name]) for name, array in trained().net_.arrays().items())
    assert not np.array_equal(further.dump_net_.weights["in_weights"], trained().dump_net_.weights["in_weights"])
    assert np.array_equal(further.dump_net_.mean, trained().dump_net_.mean)
    assert further.vocabulary_.words == trained().vocabulary_.words
    again = Main(epochs=1, start=start).fit([*dumps, *examples()[:2]])
    assert not np.array_equal(again.net_.weights["in_weights"], trained().net_.weights["in_weights"])


def test_what_learns_anew_forgets_the_net_for_pages() -> None:
    method = Main(epochs=1).fit(examples()[:3])
    assert method.net_.features
    method.fit([make_example(dump_of(article(1)))])
    assert not hasattr(method, "net_")


def test_how_the_net_for_dumps_is_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[TrainingConfig] = []

    def watch(pages: list[NetExample], config: TrainingConfig, seed: int, **options: Any) -> Any:
        told.append(config)
        return trained().dump_net_ if config.width == 1 else trained().net_

    monkeypatch.setattr(main, "train_net", watch)
    Main(epochs=3).fit(examples()[:3])
    of_dumps, of_pages = told
    assert (of_dumps.hidden, of_dumps.pooled, of_dumps.width, of_dumps.names, of_dumps.epochs) == (48, 24, 1, 0, 3)
    assert replace(of_dumps, hidden=0, pooled=0, width=0, names=0) == replace(
        of_pages, hidden=0, pooled=0, width=0, names=0
    )
    small = sum(array.nbytes for name, array in trained().facts_and_arrays()[1].items() if name.startswith("dump_"))
    assert small < 120_000


@pytest.mark.parametrize(
    ("facts", "arrays", "message"),
    [
        ({"dump_columns": ["chars"]}, {}, "other columns of dumps"),
        ({}, {"dump_in_weights": None}, "in_weights: missing"),
        ({}, {"dump_in_bias": np.zeros(3, np.float16)}, "in_bias"),
        ({}, {"dump_mean": np.zeros(len(DUMP_COLUMNS) + 1, np.float16)}, "sizes of less than one"),
        ({}, {"dump_type_bias": np.full(7, np.nan, np.float16)}, "not finite"),
    ],
)
def test_damaged_models_are_refused(facts: dict[str, Any], arrays: dict[str, Any], message: str) -> None:
    its_facts, its_arrays = trained().facts_and_arrays()
    damaged = {name: array for name, array in (its_arrays | arrays).items() if array is not None}
    with pytest.raises(ModelError, match=message):
        Main().take(Model("main", Main.version, {}, its_facts | facts, damaged), "model")


def test_a_model_of_nothing_is_refused() -> None:
    with pytest.raises(ModelError, match="missing"):
        Main().take(Model("main", Main.version, {}, trained().facts_and_arrays()[0], {}), "model")
    with pytest.raises(InputError, match="has not been trained"):
        Main().extract(read_dump("one"))
