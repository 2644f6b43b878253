"""Agreement, conflicts and merging."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotated import COMMENT, DROP, HEADING, HTML, KEEP, LIST, TEXTS, say, say_all, store_with_page
from mainmatter.records import Page
from mainmatter.workbench.labels import Label, Stale, Store
from mainmatter.workbench.labels import store as store_module
from mainmatter.workbench.labels.agreement import cohens_kappa

if TYPE_CHECKING:
    from pathlib import Path


def test_kappa_by_hand() -> None:
    # The example of many a textbook: 20 both yes, 15 both no, 5 and 10 differ.
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert cohens_kappa(pairs) == pytest.approx(0.4)
    assert cohens_kappa([("y", "n"), ("n", "y")]) == pytest.approx(-1)
    assert cohens_kappa([("y", "y"), ("n", "n")]) == 1


def test_kappa_is_not_defined_where_all_say_the_same() -> None:
    assert cohens_kappa([]) is None
    assert cohens_kappa([("y", "y")] * 5) is None
    assert cohens_kappa([("y", "n")] * 5) == 0


def test_agreement_of_two_on_a_page_by_hand(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        say_all(store, "Ada")
        say_all(store, "Bea", b4=DROP, b3=HEADING)
        for name in ("Ada", "Bea"):
            store.set_done(1, name, True)
        report = store.agreement(1)
    [pair] = report.pairs
    words = [len(TEXTS[i].split()) for i in range(2, 7)]
    assert pair.text == pytest.approx(100 * (1 - words[2] / sum(words)))
    assert (pair.annotators, pair.pages, pair.blocks) == (("Ada", "Bea"), 1, 11)
    assert pair.kept == pytest.approx(10 / 11)
    expected = (5 * 4 + 6 * 7) / 121
    assert pair.kept_kappa == pytest.approx((10 / 11 - expected) / (1 - expected))
    assert pair.kind == pytest.approx(10 / 11)
    assert report.text == pair.text
    assert report.pages[0].pairs == (pair,)


def test_suggestions_that_were_only_accepted_do_not_count(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        say_all(store, "Ada")
        say_all(store, "Bea", b3=Label(kept=True, suggested_by="main"), b4=DROP, b7=Label(False, suggested_by="main"))
        for name in ("Ada", "Bea"):
            store.set_done(1, name, True)
        report = store.agreement(1)
        [pair] = report.pairs
        assert (pair.blocks, report.accepted) == (9, 2)
        assert pair.kept == pytest.approx(8 / 9)
        words = [len(TEXTS[i].split()) for i in (2, 4, 5, 6)]
        assert pair.text == pytest.approx(100 * (1 - words[1] / sum(words)))
        store.accept_agreed(1, by="Mia")
        merged = store.labels(1, "merged").by_ref
        assert not any(label.suggested_by for label in merged.values()), "Ada said so herself"
        say(store, "Bea", {i: Label(kept=True, suggested_by="main") for i in range(11)})
        assert store.agreement(1).text is None


def test_agreement_where_all_labels_are_the_same(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        for name in ("Ada", "Bea"):
            say(store, name, {0: DROP, 1: DROP})
        [pair] = store.agreement().pairs
    assert (pair.kept, pair.kept_kappa, pair.kind, pair.kind_kappa) == (1, None, 1, None)
    assert pair.text == 100  # neither keeps anything


def test_only_what_both_labelled_counts_until_both_are_done(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        say(store, "Ada", {3: KEEP, 4: KEEP})
        say(store, "Bea", {3: KEEP})
        assert store.agreement().text == 100
        store.set_done(1, "Ada", True)
        assert store.agreement().text == 100
        store.set_done(1, "Bea", True)
        assert store.agreement().text == pytest.approx(
            100 * len(TEXTS[3].split()) / len(f"{TEXTS[3]} {TEXTS[4]}".split())
        )


def test_nobody_and_one_alone_agree_with_nobody(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        assert store.agreement().pairs == ()
        say_all(store, "Ada")
        say(store, "merged", {3: DROP})  # no annotator
        report = store.agreement()
    assert (report.pairs, report.pages, report.text, report.kept_kappa) == ((), (), None, None)


def test_two_without_a_block_in_common(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        say(store, "Ada", {3: KEEP})
        say(store, "Bea", {4: KEEP})
        report = store.agreement()
    [pair] = report.pairs
    assert (pair.pages, pair.blocks, pair.text, pair.kept) == (0, 0, None, None)
    assert report.text is None


def test_done_without_a_label_is_an_empty_text(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        say(store, "Ada", {3: KEEP})
        store.set_done(1, "Ada", True)
        store.set_done(1, "Bea", True)
        [pair] = store.agreement().pairs
        assert (pair.pages, pair.blocks, pair.text, pair.kept) == (1, 0, 0, None)
        say(store, "Ada", {3: None})
        assert store.agreement().text == 100


def test_agreement_of_three_over_pages_is_the_mean_of_pairs(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        store.add_page(Page(HTML, "http://mill.example/2"), "a test")
        for page_id in (1, 2):
            say_all(store, "Ada", page_id)
            say_all(store, "Bea", page_id)
        say_all(store, "Cem", 2, b3=DROP)
        report = store.agreement()
    assert [(pair.annotators, pair.pages) for pair in report.pairs] == [
        (("Ada", "Bea"), 2),
        (("Ada", "Cem"), 1),
        (("Bea", "Cem"), 1),
    ]
    assert report.text == pytest.approx(sum(pair.text * pair.pages for pair in report.pairs if pair.text) / 4)
    assert [len(page.pairs) for page in report.pages] == [1, 3]


def test_pages_can_be_left_out_and_unfinished_ones_are_counted(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        store.add_page(Page(HTML, "http://mill.example/2"), "a test")
        for page_id in (1, 2):
            say_all(store, "Ada", page_id)
            store.set_done(page_id, "Ada", True)
        say_all(store, "Bea", 1)
        store.set_done(1, "Bea", True)
        say(store, "Bea", {3: DROP}, 2)
        report = store.agreement()
        assert ([page.unfinished for page in report.pages], report.unfinished) == ([False, True], 1)
        assert report.text is not None
        assert report.text < 100
        report = store.agreement(without={2})
        assert ([page.page_id for page in report.pages], report.text, report.unfinished) == ([1], 100, 0)


def test_conflicts_are_where_it_matters(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        dropped_list = Label(kept=False, kind="list")
        say(store, "Ada", {0: DROP, 1: DROP, 3: KEEP, 4: KEEP, 5: LIST, 8: COMMENT})
        say(store, "Bea", {0: dropped_list, 1: COMMENT, 3: DROP, 5: KEEP, 8: COMMENT, 9: DROP})
        conflicts = store.conflicts(1)
        assert [conflict.text for conflict in conflicts] == [TEXTS[1], TEXTS[3], TEXTS[5]]
        assert [conflict.index for conflict in conflicts] == [1, 3, 5]
        assert conflicts[1].labels == {"Ada": KEEP, "Bea": DROP}
        assert store.summary(1).conflicts == 3


def test_merging_keeps_who_decided_and_what_was_decided(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        say_all(store, "Ada")
        say_all(store, "Bea", b3=DROP, b4=HEADING)
        say(store, "merged", {3: HEADING})
        assert store.accept_agreed(1, by="Mia") == 9
        assert store.accept_agreed(1, by="Mia") == 0
        merged = store.labels(1, "merged").by_ref
        refs = [block.ref for block in store.blocks(1)]
        assert merged[refs[3]] == HEADING
        assert refs[4] not in merged
        assert [conflict.merged for conflict in store.conflicts(1)] == [HEADING, None]
        assert {event.by for event in store.history(1) if event.annotator == "merged"} == {"Mia"}
        store.undo(1, "merged", by="Mia")
        assert list(store.labels(1, "merged").by_ref) == [refs[3]]
        assert store.annotators() == ["Ada", "Bea"]
        assert store.labels(1, "Ada").by_ref[refs[3]] == KEEP  # what they said stays


def test_merging_in_two_processes_decides_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with store_with_page(tmp_path) as store, Store(tmp_path) as other:
        say_all(store, "Ada")
        real = store_module.check_names
        seen = store.labels(1, "merged").revision
        merged: list[int] = []

        def meanwhile(annotator: str, by: str | None) -> tuple[str, str]:
            if not merged:  # the other one merges after we have looked, and before we write
                merged.append(0)
                say(other, "merged", {3: DROP})
            return real(annotator, by)

        monkeypatch.setattr(store_module, "check_names", meanwhile)
        with pytest.raises(Stale, match="somebody has merged blocks of page 1 meanwhile"):
            store.accept_agreed(1, by="Mia", based_on=seen)
        assert len(store.labels(1, "merged").by_ref) == 1
        merged.clear()
        assert store.accept_agreed(1, by="Mia") == 10
        assert store.labels(1, "merged").by_ref[store.blocks(1)[3].ref] == DROP
