"""Families of signals: leaving them out, and telling which of them spoke."""

from __future__ import annotations

import pickle
import re
from math import log1p
from typing import TYPE_CHECKING

import numpy as np
import pytest

import mainmatter
from main_pages import article, gold_pages, linear_main, trained
from mainmatter.api import read
from mainmatter.main.features import _COLUMNS_OF, COLUMNS, FAMILIES, NAMES, PageFeatures, leave_out
from mainmatter.main.method import Main
from mainmatter.main.names import CALLED
from mainmatter.main.reasons import SignalReasons
from mainmatter.method import LazyReasons
from mainmatter.records import Document, Extraction, Page

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

WIDTH = len(COLUMNS) + len(CALLED)


def described(page: Page) -> PageFeatures:
    return trained().describe(read(page))


def test_every_column_belongs_to_one_family() -> None:
    assert sorted(column for columns in _COLUMNS_OF.values() for column in columns) == list(range(len(COLUMNS)))
    assert set(FAMILIES) == {*_COLUMNS_OF, NAMES}
    assert len(FAMILIES) == len(set(FAMILIES))


@pytest.mark.parametrize(
    ("family", "columns"),
    [
        ("length", "chars text_nodes"),
        ("links", "link_share links"),
        ("title", "in_title title_level title_side"),
        ("top container", "in_top top_1 top_2 top_3 top_side"),
        ("longest text", "longest_level longest_side longest_ratio"),
        ("repetition", "copies copy_before"),
        (
            "punctuation",  # what the table does not name: a new column must not end here by chance
            "digits stops commas marks stop_count comma_count ends_with_stop ends_with_comma begins_with_digit",
        ),
    ],
)
def test_columns_of_a_family(family: str, columns: str) -> None:
    assert {COLUMNS[number] for number in _COLUMNS_OF[family]} == set(columns.split())


@pytest.mark.parametrize("family", sorted(_COLUMNS_OF))
def test_a_family_that_is_left_out_is_as_usual(family: str) -> None:
    before = described(article(1).page)
    dense, vectors = before.dense.copy(), before.vectors.copy()
    usual = np.arange(WIDTH, dtype=np.float32) + 1000  # nowhere else
    after = leave_out(before, (family,), usual)
    columns = _COLUMNS_OF[family]
    others = [number for number in range(WIDTH) if number not in columns]
    assert (after.dense[:, columns] == usual[columns]).all()
    assert np.array_equal(after.dense[:, others], dense[:, others])
    assert np.array_equal(after.vectors, vectors)
    assert np.array_equal(before.dense, dense)  # not changed in place
    assert after.containers is before.containers


def test_names_that_are_left_out() -> None:
    before = described(article(1).page)
    assert before.vectors.any()
    assert before.dense[:, len(COLUMNS) :].any()
    after = leave_out(before, (NAMES,), np.ones(WIDTH, np.float32))
    assert not after.vectors.any()
    assert after.vectors.shape == before.vectors.shape
    assert not after.dense[:, len(COLUMNS) :].any()
    assert np.array_equal(after.dense[:, : len(COLUMNS)], before.dense[:, : len(COLUMNS)])
    assert before.vectors.any()
    assert before.dense[:, len(COLUMNS) :].any()


def test_several_families_are_left_out() -> None:
    before, usual = described(article(1).page), np.full(WIDTH, -7, np.float32)
    after = leave_out(before, ("links", NAMES, "length"), usual).dense
    changed = {number for number in range(len(COLUMNS)) if (after[:, number] == -7).all()}
    assert changed == {*_COLUMNS_OF["links"], *_COLUMNS_OF["length"]}
    assert not after[:, len(COLUMNS) :].any()


def test_nothing_is_left_out() -> None:
    before = described(article(1).page)
    after = leave_out(before, (), np.zeros(WIDTH, np.float32))
    assert np.array_equal(after.dense, before.dense)
    assert after.vectors is before.vectors


def chance(odds: float) -> str:
    return f"probability {1 / (1 + np.exp(-odds)):.2f}"


def reasons(method: Main, html: str) -> list[str]:
    """Without what they say about the threshold."""
    about = re.compile(r", threshold [\d.]+; kept (?:at any dial|only at dial 1|from dial [\d.]+ on)")
    return [about.sub("", sentence) for sentence in mainmatter.clean(html, method=method).reasons]


def test_reasons_say_what_spoke_for_and_what_against_a_block() -> None:
    method = linear_main({"promo": -2}, chars=1, link_share=-5)
    html = '<p>words</p><p><a href="/">words</a></p><p class="promo">words</p><div class="promo"><p>words</p></div>'
    length = log1p(5)
    assert reasons(method, html) == [
        f"{chance(length)}; for length {length:+.1f}",
        f"{chance(length - 5)}; for length {length:+.1f}; against links -5.0",
        f"{chance(length - 2)}; for length {length:+.1f}; against names (promo) -2.0",
        f"{chance(length)}; for length {length:+.1f}",
    ]


def test_a_family_is_the_sum_of_its_columns() -> None:
    found = reasons(linear_main(link_share=-5, links=2), '<p><a href="/">words</a></p><p>words</p>')
    odds = -5 + 2 * log1p(1)
    assert found == [f"{chance(odds)}; against links {odds:+.1f}", f"{chance(0)}; no signal stands out"]


def test_only_the_loudest_are_told_and_the_loudest_first() -> None:
    method = linear_main(chars=1, kind_paragraph=2, link_share=-3, in_title=4, page_blocks=0.25)
    found = reasons(method, '<title>words</title><p><a href="/">words</a></p>')
    odds = log1p(5) + 2 - 3 + 4 + 0.25 * log1p(1)
    assert found == [f"{chance(odds)}; for title +4.0, tags +2.0; against links -3.0"]


def test_what_says_little_is_not_told() -> None:
    method = linear_main(kind_paragraph=0.29)
    assert reasons(method, "<p>words") == [f"{chance(0.29)}; no signal stands out"]
    assert reasons(linear_main(kind_paragraph=-0.31), "<p>words") == [f"{chance(-0.31)}; against tags -0.3"]


def test_what_says_a_little_more_is_told_with_its_side() -> None:
    found = reasons(linear_main(kind_paragraph=0.5, in_title=-0.4), "<title>words</title><p>words")
    assert found == [f"{chance(0.1)}; for tags +0.5; against title -0.4"]


def test_reasons_are_a_sequence() -> None:
    found = mainmatter.clean(article(3).page, method=trained())
    sentences = list(found.reasons)
    assert len(sentences) == len(found.reasons) == len(found.document)
    assert found.reasons[-1] == sentences[-1]
    assert found.reasons[1:3] == sentences[1:3]
    with pytest.raises(IndexError):
        found.reasons[len(sentences)]


class Asked:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.described = 0

    def describe(self, document: Document) -> PageFeatures:
        self.described += 1
        return trained().describe(document)

    def log_odds(self, given: PageFeatures, without: str | None = None) -> NDArray[np.float64]:
        return trained().log_odds(given, without)

    def weigh_names(
        self, document: Document, page: PageFeatures, signs: NDArray[np.float64]
    ) -> tuple[list[str], NDArray[np.float32]]:
        return trained().weigh_names(document, page, signs)


def test_nothing_is_done_before_somebody_reads_and_then_once() -> None:
    document, asked = read(article(3).page), Asked()
    told = SignalReasons(asked, document, np.full(len(document), 0.5))
    assert len(told) == len(document)
    assert asked.described == 0
    assert len(list(told)) == len(document)
    assert asked.described == 1


def test_reasons_can_be_pickled() -> None:
    for page in (article(3).page, Page("")):
        before = mainmatter.clean(page, method=with_comments()).reasons
        data = pickle.dumps(before)
        assert list(pickle.loads(data)) == list(before)
        assert list(pickle.loads(pickle.dumps(pickle.loads(data)))) == list(before)
        assert b"harbour" not in data  # neither page nor net
        assert len(data) < 20_000


def with_comments() -> Main:
    """A method whose reasons tell of users' wishes too."""
    method = Main(comments="keep")
    method.restore(*trained().facts_and_arrays())
    return method


def test_for_a_journey_nothing_is_worked_out() -> None:
    document, asked = read(article(3).page), Asked()
    told = SignalReasons(asked, document, np.full(len(document), 0.5), 3)
    after = pickle.loads(pickle.dumps(told.detach()))
    assert asked.described == 0
    assert after[2:4] == ["probability 0.50", "the page's headline; probability 0.50"]


def test_after_a_journey_reasons_claim_nothing_and_can_be_told_again() -> None:
    before = mainmatter.clean(article(3).page, method=with_comments()).reasons
    assert any("for " in sentence for sentence in before)
    assert any(sentence.startswith("a comment: kept, as comments are wanted") for sentence in before)
    document = read(article(3).page)
    assert isinstance(before, LazyReasons)
    after = pickle.loads(pickle.dumps(before.detach()))
    for told, full in zip(after, before, strict=True):
        assert full.startswith(told)
        assert "signal" not in told
    assert list(after.attach(trained(), document)) == list(before)


def attach_workers(method: Main | str, workers: int) -> list[list[str]]:
    pages = [page.page for page in gold_pages(4)] + [Page(""), Page("One.\n\nTwo, of a dump.", format="text")]
    found = []
    for each in mainmatter.clean_many(pages, method=method, workers=workers):
        assert isinstance(each, Extraction)
        found.append(list(each.reasons))
    return found


def test_several_processes_tell_the_same_reasons(tmp_path: Path) -> None:
    trained().save(tmp_path / "model")
    expected = attach_workers(trained(), 1)
    assert sum(len(sentences) for sentences in expected) > 100
    assert attach_workers(trained(), 2) == expected
    assert attach_workers(str(tmp_path / "model"), 2) == expected


def test_what_names_say_is_what_the_page_would_lack_without_them() -> None:
    method = linear_main({"comments": -2, "related": 3, "post": 1})
    document = read(
        Page("<div class='comments post'><p id='related'>One.</p>Two.</div><p class='related x'>Three.</p>")
    )
    names, says = method.weigh_names(document, method.describe(document), np.array([1.0, -1, 1]))
    assert dict(zip(names, says.T.round(3).tolist(), strict=True)) == {
        "related": [3, 0, 3],
        "comments": [0, -2, 0],
        "post": [0, 1, 0],
    }


def test_what_names_say_far_from_a_line_is_nearly_what_the_page_would_lack_without_them() -> None:
    method = trained()
    html = "<div class='comments'><p>{}</p></div><div class='sidebar'><p>Two ropes.</p></div>"
    page = read(Page(html.format("One rope.")))
    usual = method.log_odds(method.describe(page))
    names, says = method.weigh_names(page, method.describe(page), np.ones(2))
    for name, block in (("comments", 0), ("sidebar", 1)):
        without = read(Page(html.format("One rope.").replace(name, "")))
        lacks = (usual - method.log_odds(method.describe(without)))[block]
        assert abs(lacks) > 0.1
        assert says[block, names.index(name)] == pytest.approx(lacks, rel=0.7)
        assert says[1 - block, names.index(name)] == 0


def test_a_stem_that_several_names_have_counts_once() -> None:
    method = trained()
    one, two = (read(Page(f"<div class='{names}'><p>One rope.</p></div>")) for names in ("xxmenu", "xxmenu yymenu"))
    signs = np.ones(1)
    [alone] = method.weigh_names(one, method.describe(one), signs)[1].tolist()
    [both] = method.weigh_names(two, method.describe(two), signs)[1].tolist()
    assert abs(alone[0]) > 0.01
    assert both == pytest.approx([alone[0] / 2] * 2, rel=1e-4)


def test_names_are_not_weighed_where_they_say_nothing() -> None:
    method, document = trained(), read(Page("<p class='comments'>One rope.</p>"))
    blind = Main(without=NAMES)
    blind.restore(*method.facts_and_arrays())
    assert blind.weigh_names(document, blind.describe(document), np.ones(1))[0] == []
    odd = read(Page("<p class='a \u202ecomments \x1b[31m " + "x" * 41 + "'>One rope.</p>"))
    assert method.weigh_names(odd, method.describe(odd), np.ones(1))[0] == []


@pytest.mark.parametrize(("blocks", "names"), [(10_000, ["a0"]), (10_001, [])])
def test_names_of_very_long_pages_are_not_weighed(blocks: int, names: list[str]) -> None:
    method, document = linear_main(), read(Page("<div class=a0>x" + "<br><br>x" * (blocks - 1)))
    assert len(document) == blocks
    assert method.weigh_names(document, method.describe(document), np.ones(blocks))[0] == names


def test_the_names_of_most_elements_are_weighed() -> None:
    method, html = trained(), "".join(f"<p class='n{i:03}'>x<p class='n{i:03} once{i}'>y" for i in range(101))
    document = read(Page(html))
    remembered = len(method.vocabulary_._meanings)
    page = method.describe(document)
    assert method.weigh_names(document, page, np.ones(202))[0] == [f"n{i:03}" for i in range(100)]
    assert len(method.vocabulary_._meanings) <= remembered + 202  # the page's own


class Named:
    """A net to which only names say something."""

    def __init__(self, odds: list[float] | None = None, **says: list[float]) -> None:
        self.odds, self.says = np.array(odds or [-2.0, 2.0]), says

    def describe(self, document: Document) -> PageFeatures:
        return described(document.page)

    def log_odds(self, page: PageFeatures, without: str | None = None) -> NDArray[np.float64]:
        return self.odds if without != NAMES else np.zeros(2)

    def weigh_names(
        self, document: Document, page: PageFeatures, signs: NDArray[np.float64]
    ) -> tuple[list[str], NDArray[np.float32]]:
        assert signs.any()
        return list(self.says), np.array(list(self.says.values()), np.float32).T


def test_the_name_that_says_most_is_told() -> None:
    document = read(Page("<p>One rope.</p><p>Two ropes.</p>"))
    method = Named(menu=[-0.5, -0.5], box=[-0.8, 0.09], wrap=[7, 0.05])
    reasons = SignalReasons(method, document, np.array([0.1, 0.9]))
    # What says the opposite of all names together explains nothing, nor do those that say next to nothing.
    assert list(reasons) == ["probability 0.10; against names (box) -2.0", "probability 0.90; for names +2.0"]
    assert list(pickle.loads(pickle.dumps(reasons))) == list(reasons)
    assert list(SignalReasons(Named(box=[0, 0.11]), document, np.array([0.1, 0.9]))) == [
        "probability 0.10; against names -2.0",
        "probability 0.90; for names (box) +2.0",
    ]
    # Where names are not told, nobody asks which.
    assert list(SignalReasons(Named([-0.2, 0.2]), document, np.array([0.4, 0.6]))) == [
        "probability 0.40; no signal stands out",
        "probability 0.60; no signal stands out",
    ]


def test_the_threshold_and_the_dial_that_would_flip_a_block() -> None:
    document = read(Page("".join(f"<p>Rope {i}.</p>" for i in range(8))))
    probabilities = np.array([0.95, 0.61, 0.55, 0.6071, 0.3, 0.2, 0.1, 0.05])
    dials = np.array([0, 1, 0.6201, 0.5, np.nan, 1, 0.991, 0.62])
    told = SignalReasons(None, document, probabilities, None, 0.6072, dials)
    assert list(told) == [
        "probability 0.95, threshold 0.61; kept at any dial",
        "probability 0.6100, threshold 0.6072; the name of the site above the headline: kept only at dial 1",
        "probability 0.55, threshold 0.61; kept from dial 0.63 on",
        "probability 0.6071, threshold 0.6072; kept from dial 0.50 on",
        "probability 0.30",
        "probability 0.20, threshold 0.61; kept only at dial 1",
        "probability 0.10, threshold 0.61; kept from dial 1.00 on",
        "probability 0.05, threshold 0.61; kept from dial 0.62 on",
    ]
    assert list(pickle.loads(pickle.dumps(told.detach()))) == list(told)
