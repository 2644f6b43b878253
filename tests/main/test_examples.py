"""Pages to learn from, changed at random."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from main_pages import examples, trained
from mainmatter.main import examples as examples_module
from mainmatter.main.examples import Augmenter
from mainmatter.main.features import COLUMNS
from mainmatter.main.method import Main
from mainmatter.main.names import CALLED, DIV, FIRST_WORD, SEMANTIC_TAGS
from mainmatter.main.training import NetInput
from mainmatter.records import BOILERPLATE

if TYPE_CHECKING:
    from mainmatter.main.training import NetExample

CHANGES = (
    "_NO_NAMES",
    "_NO_SEMANTIC_TAGS",
    "_NO_CAPITALS",
    "_NO_TITLE",
    "_OTHER_SCRIPT",
    "_OTHER_PAGE",
    "_BOILERPLATE",
)
AT = {name: number for number, name in enumerate((*COLUMNS, *CALLED))}
PAGES = [Main().observe(example).number(trained().vocabulary_, trained().conventions) for example in examples()[:6]]
MARK = AT["copies"]  # a column that no change touches, made the number of the block
HOST_MARK, GUEST_MARK = 1000, 5000

seeds = st.integers(0, 2**32)
pages = st.integers(0, len(PAGES) - 1)


def arrays_of(example: NetExample) -> list[np.ndarray]:
    of_blocks = [example.shares, example.words, example.labels]
    return [getattr(example.inputs, field.name) for field in fields(NetInput)] + of_blocks


def copied(example: NetExample) -> list[np.ndarray]:
    return [array.copy() for array in arrays_of(example)]


def same(some: list[np.ndarray], others: list[np.ndarray]) -> bool:
    return all(np.array_equal(one, other, equal_nan=True) for one, other in zip(some, others, strict=True))


def marked(example: NetExample, mark: int) -> NetExample:
    """The page, on which each block can be recognised."""
    dense = example.inputs.dense.copy()
    dense[:, MARK] = mark + np.arange(len(dense))
    return replace(example, inputs=replace(example.inputs, dense=dense))


def only(monkeypatch: pytest.MonkeyPatch, *changes: str) -> None:
    """Make these changes always, and no other one; but lengths always change a little."""
    for change in CHANGES:
        monkeypatch.setattr(examples_module, change, float(change in changes))
    monkeypatch.setattr(examples_module, "_DROPPED_NAMES", 0.0)


def check(example: NetExample) -> None:
    """All that a net asks of a page."""
    rows, count = example.inputs, len(example.shares)
    assert rows.dense.shape == (count, len(COLUMNS) + len(CALLED))
    assert rows.dense.dtype == np.float32
    assert np.isfinite(rows.dense).all()
    assert rows.containers.shape == (count, 6)
    assert len(example.words) == len(example.labels) == count
    assert example.shares.dtype == np.float32
    assert example.labels.dtype == np.intp
    assert rows.parents[0] == 0
    assert (rows.parents[1:] < np.arange(1, len(rows.parents))).all()
    assert rows.containers.min() >= 0
    assert rows.containers.max() < len(rows.parents)
    assert len(rows.tokens) == len(rows.token_elements)
    assert rows.token_elements.max(initial=0) < len(rows.parents)
    assert (np.diff(rows.token_elements) >= 0).all()


def names_around(example: NetExample, block: int) -> list[list[int]]:
    """The names of the elements around a block, from its own outwards."""
    rows, found = example.inputs, []
    element = int(rows.containers[block, 0])
    while True:
        found.append(sorted(rows.tokens[rows.token_elements == element].tolist()))
        if element == 0:
            return found
        element = int(rows.parents[element])


@given(seeds, pages)
def test_a_changed_page_is_still_a_page(seed: int, number: int) -> None:
    before = [copied(page) for page in PAGES]
    host = PAGES[number]
    changed = Augmenter(PAGES)(host, np.random.default_rng(seed))
    check(changed)
    assert changed.page_type == host.page_type
    assert all(same(arrays_of(page), arrays) for page, arrays in zip(PAGES, before, strict=True))  # not touched
    assert not np.shares_memory(changed.inputs.dense, host.inputs.dense)


@given(seeds, pages)
def test_the_same_seed_gives_the_same_page(seed: int, number: int) -> None:
    augmenter = Augmenter(PAGES)
    one, other = (augmenter(PAGES[number], np.random.default_rng(seed)) for _ in range(2))
    assert same(arrays_of(one), arrays_of(other))


def test_other_seeds_give_other_pages() -> None:
    augmenter = Augmenter(PAGES)
    found = {augmenter(PAGES[0], np.random.default_rng(seed)).inputs.dense.tobytes() for seed in range(20)}
    assert len(found) == 20


@pytest.mark.parametrize("host_number", range(4))
def test_boilerplate_of_another_page(monkeypatch: pytest.MonkeyPatch, host_number: int) -> None:
    only(monkeypatch, "_BOILERPLATE")
    host, donor = marked(PAGES[host_number], HOST_MARK), marked(PAGES[4], GUEST_MARK)
    places = set()
    for seed in range(40):
        found = Augmenter([donor])(host, np.random.default_rng(seed))
        check(found)
        marks = found.inputs.dense[:, MARK].astype(int)
        is_guest = marks >= GUEST_MARK
        # All of the host, in order; of the donor a stretch that is boilerplate, in one piece.
        assert marks[~is_guest].tolist() == (HOST_MARK + np.arange(len(host.shares))).tolist()
        guests = marks[is_guest] - GUEST_MARK
        assert len(guests) >= 1
        assert (np.diff(guests) == 1).all()
        assert (np.diff(np.flatnonzero(is_guest)) == 1).all()
        assert (donor.shares[guests] < 0.1).all()
        # Labels stay with their blocks.
        for name in ("shares", "words", "labels"):
            changed, of_host, of_donor = (getattr(page, name) for page in (found, host, donor))
            assert np.array_equal(changed[~is_guest], of_host)
            # Whatever a guest is, it is no main matter here.
            of_guests = np.where(of_donor < 0, BOILERPLATE, of_donor)[guests] if name == "labels" else of_donor[guests]
            assert np.array_equal(changed[is_guest], of_guests)
        # Main matter stays together.
        first, *_, last = np.flatnonzero(found.shares > 0.5)
        assert not is_guest[first:last].any()
        places.add("before" if np.flatnonzero(is_guest)[0] < first else "after")
        # Each block stands where it stood, in elements of the same names.
        for block, mark in enumerate(marks.tolist()):
            if mark >= GUEST_MARK:
                assert names_around(found, block)[:-1] == names_around(donor, mark - GUEST_MARK)
            else:
                assert names_around(found, block) == names_around(host, mark - HOST_MARK)
        dense = found.inputs.dense
        assert dense[:, AT["place"]] == pytest.approx((np.arange(len(dense)) + 0.5) / len(dense))
        assert (np.diff(dense[:, AT["chars_before"]]) >= 0).all()
        assert dense[0, AT["chars_before"]] == 0
        assert dense[-1, AT["chars_before"]] < 1
        of_page = [AT[name] for name in COLUMNS if name.startswith("page_")]
        assert (dense[:, of_page] == dense[0, of_page]).all()
        assert not dense[is_guest, AT["in_title"]].any()
        assert not dense[is_guest, AT["in_top"]].any()
        # They stand far from what is the text of this page, on one side of it.
        side = -1 if np.flatnonzero(is_guest)[0] < first else 1
        assert (dense[is_guest, AT["longest_level"]] == 1).all()
        for column in ("longest_side", "top_side"):
            assert (dense[is_guest, AT[column]] == side).all()
        has_title = host.inputs.dense[0, AT["page_has_title"]]
        assert (dense[is_guest, AT["title_level"]] == has_title).all()
        assert (dense[is_guest, AT["title_side"]] == side * has_title).all()
        assert (dense[is_guest][:, [AT["top_1"], AT["top_2"], AT["top_3"]]] <= 0.5).all()
        longest = host.inputs.dense[:, AT["chars"]].max()
        ratios = np.minimum(donor.inputs.dense[guests, AT["chars"]] - longest, 0)
        assert dense[is_guest, AT["longest_ratio"]] == pytest.approx(ratios)
    assert places == {"before", "after"}


def test_pages_without_boilerplate_or_without_known_matter_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "_BOILERPLATE")
    all_main = replace(PAGES[0], shares=np.ones_like(PAGES[0].shares))
    all_boilerplate = replace(PAGES[0], shares=np.zeros_like(PAGES[0].shares))
    unknown = replace(PAGES[0], shares=np.full_like(PAGES[0].shares, np.nan))
    for host, donor in ((PAGES[1], all_main), (PAGES[1], unknown), (all_boilerplate, PAGES[1])):
        for seed in range(10):
            found = Augmenter([donor])(host, np.random.default_rng(seed))
            assert len(found.shares) == len(host.shares)


def test_what_is_unknown_is_taken_for_main_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "_BOILERPLATE")
    shares = np.full_like(PAGES[0].shares, np.nan)
    shares[0] = shares[-1] = 0
    shares[4] = 1
    host, donor = marked(replace(PAGES[0], shares=shares), HOST_MARK), marked(PAGES[1], GUEST_MARK)
    for seed in range(20):
        found = Augmenter([donor])(host, np.random.default_rng(seed))
        assert len(found.shares) > len(shares)
        matter = np.flatnonzero(~(found.shares == 0))
        assert len(matter) == len(shares) - 2
        assert (np.diff(matter) == 1).all()


def test_names_are_dropped_but_not_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "_NO_NAMES")
    page = PAGES[0]
    assert (page.inputs.tokens >= FIRST_WORD).any()
    assert page.inputs.dense[:, len(COLUMNS) :].any()
    found = Augmenter(PAGES)(page, np.random.default_rng(1)).inputs
    is_tag = page.inputs.tokens < FIRST_WORD
    assert np.array_equal(found.tokens, page.inputs.tokens[is_tag])
    assert np.array_equal(found.token_elements, page.inputs.token_elements[is_tag])
    assert not found.dense[:, len(COLUMNS) :].any()


def test_some_names_are_dropped_else(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch)
    monkeypatch.setattr(examples_module, "_DROPPED_NAMES", 0.5)
    page = PAGES[0].inputs
    words = int((page.tokens >= FIRST_WORD).sum())
    left = [Augmenter(PAGES)(PAGES[0], np.random.default_rng(seed)).inputs for seed in range(20)]
    assert all((rows.tokens < FIRST_WORD).sum() == (page.tokens < FIRST_WORD).sum() for rows in left)
    assert 0.35 * words < np.mean([(rows.tokens >= FIRST_WORD).sum() for rows in left]) < 0.65 * words


def test_semantic_tags_become_divs(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "_NO_SEMANTIC_TAGS")
    page = PAGES[0].inputs
    is_semantic = np.isin(page.tokens, list(SEMANTIC_TAGS))
    assert is_semantic.any()
    found = Augmenter(PAGES)(PAGES[0], np.random.default_rng(1)).inputs
    assert found.tokens.tolist() == np.where(is_semantic, DIV, page.tokens).tolist()
    for tag in "nav header footer aside article main section figure".split():
        assert not found.dense[:, AT[f"in_{tag}"]].any()
    assert np.array_equal(found.dense[:, AT["in_ul"]], page.dense[:, AT["in_ul"]])
    assert page.dense[:, AT["in_nav"]].any()
    assert page.dense[:, AT["in_ul"]].any()


def test_capitals_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "_NO_CAPITALS")
    found = Augmenter(PAGES)(PAGES[0], np.random.default_rng(1)).inputs.dense
    assert PAGES[0].inputs.dense[:, AT["capitals"]].any()
    assert not found[:, [AT["capitals"], AT["begins_with_capital"]]].any()


def test_titles_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "_NO_TITLE")
    found = Augmenter(PAGES)(PAGES[0], np.random.default_rng(1)).inputs.dense
    columns = [AT[name] for name in ("in_title", "title_level", "title_side", "page_has_title")]
    assert PAGES[0].inputs.dense[:, columns].any(axis=0).all()
    assert not found[:, columns].any()


def test_lengths_change_together_and_nothing_else_does(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch)
    lengths = [AT[name] for name in COLUMNS if name == "chars" or name.endswith("_chars") or name == "page_longest"]
    assert len(lengths) == 13
    before = PAGES[0].inputs.dense
    for seed in range(10):
        found = Augmenter(PAGES)(PAGES[0], np.random.default_rng(seed)).inputs.dense
        changes = (found - before)[:, lengths]
        assert changes == pytest.approx(np.full_like(changes, changes[0, 0]), abs=1e-4)
        assert changes[0, 0] != 0
        others = [number for number in range(before.shape[1]) if number not in lengths]
        assert np.array_equal(found[:, others], before[:, others])


def test_other_scripts_are_shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "_OTHER_SCRIPT")
    chars = [
        Augmenter(PAGES)(PAGES[0], np.random.default_rng(seed)).inputs.dense[:, AT["chars"]].mean()
        for seed in range(30)
    ]
    assert np.mean(chars) == pytest.approx(PAGES[0].inputs.dense[:, AT["chars"]].mean() - 0.8, abs=0.2)


def test_lengths_stay_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "_OTHER_SCRIPT")
    dense = PAGES[0].inputs.dense.copy()
    dense[0, AT["chars"]], dense[1, AT["chars"]] = np.log1p(1), 0
    page = replace(PAGES[0], inputs=replace(PAGES[0].inputs, dense=dense))
    found = [Augmenter(PAGES)(page, np.random.default_rng(seed)).inputs.dense[:2, AT["chars"]] for seed in range(30)]
    assert min(short for short, _ in found) == pytest.approx(0.3)
    assert {nothing for _, nothing in found} == {0}


def test_figures_of_the_page_change_for_all_blocks_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "_OTHER_PAGE")
    before = PAGES[0].inputs.dense[:, AT["page_blocks"]]
    factors = []
    for seed in range(30):
        found = Augmenter(PAGES)(PAGES[0], np.random.default_rng(seed)).inputs.dense[:, AT["page_blocks"]]
        assert (found == found[0]).all()
        factors.append(float(found[0] / before[0]))
    assert np.mean(factors) == pytest.approx(1, abs=0.06)
    assert np.std(factors) == pytest.approx(0.1, abs=0.04)


class Fixed:
    """Chance that always says the same: one number for each question, one for each of many things, first or last."""

    def __init__(self, one: float, each: float = 1.0, *, last: bool = False) -> None:
        self._one, self._each, self._last = one, each, last

    def random(self, size: int | None = None) -> Any:
        return self._one if size is None else np.full(size, self._each)

    def normal(self, mean: float, spread: float, size: int | None = None) -> Any:
        return mean if size is None else np.full(size, mean + spread)

    def integers(self, low: int, high: int | None = None) -> int:
        first, end = (0, low) if high is None else (low, high)
        return end - 1 if self._last else first


def changes_made(found: NetExample, host: NetExample) -> set[str]:
    """What was changed on a page that has all that can be changed."""
    rows, before = found.inputs, host.inputs.dense
    changes = {
        "_NO_NAMES": not rows.dense[:, len(COLUMNS) :].any(),
        "_NO_SEMANTIC_TAGS": not rows.dense[:, AT["in_nav"]].any(),
        "_NO_CAPITALS": not rows.dense[:, AT["capitals"]].any(),
        "_NO_TITLE": not rows.dense[:, AT["page_has_title"]].any(),
        "_OTHER_SCRIPT": rows.dense[-1, AT["chars"]] < before[-1, AT["chars"]],
        "_OTHER_PAGE": rows.dense[-1, AT["page_blocks"]] != before[-1, AT["page_blocks"]],
        "_BOILERPLATE": len(found.shares) > len(host.shares),
    }
    return {name for name, is_made in changes.items() if is_made}


@pytest.mark.parametrize(
    ("change", "share"),
    [
        ("_NO_NAMES", 0.5),
        ("_NO_SEMANTIC_TAGS", 0.4),
        ("_NO_CAPITALS", 0.3),
        ("_NO_TITLE", 0.1),
        ("_OTHER_SCRIPT", 0.2),
        ("_OTHER_PAGE", 0.3),
        ("_BOILERPLATE", 0.35),
    ],
)
def test_how_often_each_change_is_made(change: str, share: float) -> None:
    host = PAGES[0]
    for chance, is_made in ((share - 0.005, True), (share, False)):
        found = Augmenter([PAGES[4]])(host, cast("np.random.Generator", Fixed(chance)))
        assert (change in changes_made(found, host)) == is_made


def test_a_tenth_of_the_names_is_dropped() -> None:
    for chance, is_left in ((0.0995, False), (0.1, True)):
        found = Augmenter(PAGES)(PAGES[0], cast("np.random.Generator", Fixed(1.0, chance)))
        assert (found.inputs.tokens >= FIRST_WORD).any() == is_left


def with_shares(example: NetExample, *shares: float) -> NetExample:
    """A page of so many blocks, each the same as its first one."""
    rows = example.inputs
    first = np.zeros(len(shares), np.intp)
    return replace(
        example,
        inputs=replace(rows, dense=rows.dense[first], containers=rows.containers[first]),
        shares=np.array(shares, np.float32),
        words=example.words[first],
        labels=example.labels[first],
    )


def guests(host: NetExample, donor: NetExample, chance: float = 0.0, *, last: bool = False) -> list[int]:
    """Where blocks of another page stand on a page, once they were put there."""
    rng = cast("np.random.Generator", Fixed(chance, last=last))
    found = Augmenter([marked(donor, GUEST_MARK)])(marked(host, HOST_MARK), rng)
    return np.flatnonzero(found.inputs.dense[:, MARK] >= GUEST_MARK).tolist()


def test_at_most_sixty_blocks_of_another_page() -> None:
    for blocks, are_taken in ((59, 59), (60, 60), (61, 60), (100, 60)):
        assert len(guests(PAGES[0], with_shares(PAGES[4], *[0.0] * blocks), last=True)) == are_taken


def test_what_is_surely_boilerplate() -> None:
    assert len(guests(PAGES[0], with_shares(PAGES[4], 1, 0.1, 1))) == 0
    assert len(guests(PAGES[0], with_shares(PAGES[4], 1, 0.099, 1))) == 1
    # On the other page it is what guests may stand before.
    donor = with_shares(PAGES[4], 0.0)
    assert guests(with_shares(PAGES[0], 0.099, 0.1, 1), donor, last=True) == [1]
    assert guests(with_shares(PAGES[0], 0.1, 0.1, 1), donor, last=True) == [0]


def test_guests_stand_before_as_often_as_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples_module, "_BOILERPLATE", 1.0)
    host, donor = with_shares(PAGES[0], 1, 1), with_shares(PAGES[4], 0.0)
    assert guests(host, donor, 0.495) == [0]
    assert guests(host, donor, 0.5) == [2]


def test_a_stretch_of_another_page_is_of_neighbours() -> None:
    donor = with_shares(PAGES[4], 0, 0, 1, 0, 1, 0, 0, 0)
    assert len(guests(PAGES[0], donor)) == 1
    assert len(guests(PAGES[0], donor, last=True)) == 3
