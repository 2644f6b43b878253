"""Annotations survive a new version of the segmenter, or say that they cannot."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from annotated import DROP, KEEP, LIST, SAID, TEXTS, labels_by_text, say, say_all, segment_otherwise, store_with_page
from mainmatter.workbench.labels import Store
from mainmatter.workbench.labels.gold import collect

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def join_paragraphs(html: str) -> str:
    """The two long paragraphs become one."""
    return html.replace("March.</p><p>Nobody", "March. Nobody")


def join_heading(html: str) -> str:
    """The list and what follows it become one."""
    return html.replace("herons.</li></ul><p>Share", "herons. Share")


def split_paragraph(html: str) -> str:
    return html.replace("again, three", "again,</p><p>three")


def test_labels_are_carried_over_after_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with store_with_page(tmp_path) as store:
        say_all(store, "Ada")
    segment_otherwise(monkeypatch, lambda html: split_paragraph(join_paragraphs(html)))
    with Store(tmp_path) as store:
        assert len(store.blocks(1)) == len(TEXTS)
        found = labels_by_text(store, "Ada")
        assert store.labels(1, "Ada").lost == ()
        assert found["three of them, on a cold morning in March. " + TEXTS[4]] == KEEP
        assert found["The otters were seen at the old mill again,"] == KEEP
        assert [found[text] for text in (TEXTS[0], TEXTS[5], TEXTS[10])] == [DROP, LIST, DROP]
    monkeypatch.undo()
    with Store(tmp_path) as store:  # nothing of that was written
        assert list(store.labels(1, "Ada").by_ref.values()) == list(SAID)


def test_what_cannot_be_carried_over_is_told_until_it_is_labelled_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store_with_page(tmp_path) as store:
        say_all(store, "Ada")
    segment_otherwise(monkeypatch, join_heading)
    with Store(tmp_path) as store:
        lost = store.labels(1, "Ada").lost
        assert [replace(each, ref="") for each in lost] == [replace(LIST, text=TEXTS[6]), replace(DROP, text="Share")]
        assert all(each.ref for each in lost)
        assert store.summary(1).lost == 2
        assert store.pages(check=True)[0].lost == 2
        assert len(store.labels(1, "Ada").by_ref) == 9
        say(store, "Ada", {6: KEEP})
        assert store.blocks(1)[6].block.text == "So are the herons. Share"
        assert store.labels(1, "Ada").lost == ()
        assert len(store.labels(1, "Ada").by_ref) == 10


def test_undo_and_redo_cross_a_change_of_the_segmenter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with store_with_page(tmp_path) as store:
        say(store, "Ada", {3: KEEP, 4: KEEP})
        say(store, "Ada", {0: DROP})
    segment_otherwise(monkeypatch, join_paragraphs)
    with Store(tmp_path) as store:
        together = f"{TEXTS[3]} {TEXTS[4]}"
        assert labels_by_text(store, "Ada") == {together: KEEP, "Home": DROP}
        say(store, "Ada", {3: DROP})
        assert labels_by_text(store, "Ada") == {together: DROP, "Home": DROP}
        say(store, "Ada", {3: None})
        assert labels_by_text(store, "Ada") == {"Home": DROP}
        store.undo(1, "Ada")
        assert labels_by_text(store, "Ada") == {together: DROP, "Home": DROP}
        store.undo(1, "Ada")
        assert labels_by_text(store, "Ada") == {together: KEEP, "Home": DROP}
        store.undo(1, "Ada")
        assert labels_by_text(store, "Ada") == {together: KEEP}
        for _ in range(3):
            store.redo(1, "Ada")
        assert labels_by_text(store, "Ada") == {"Home": DROP}
        for _ in range(4):
            store.undo(1, "Ada")
        assert labels_by_text(store, "Ada") == {}
        assert store.undo(1, "Ada") is None


def test_work_goes_on_when_the_segmenter_changes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with store_with_page(tmp_path) as store:
        say(store, "Ada", {3: KEEP, 4: KEEP, 5: LIST})
    segment_otherwise(monkeypatch, join_paragraphs)
    with Store(tmp_path) as store:
        say(store, "Ada", {0: DROP})
    monkeypatch.undo()
    with Store(tmp_path) as store:
        assert labels_by_text(store, "Ada") == {TEXTS[0]: DROP, TEXTS[3]: KEEP, TEXTS[4]: KEEP, TEXTS[5]: LIST}
        say(store, "Ada", {3: None})
        assert labels_by_text(store, "Ada") == {TEXTS[0]: DROP, TEXTS[4]: KEEP, TEXTS[5]: LIST}


def test_annotators_of_two_versions_can_be_compared_and_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with store_with_page(tmp_path) as store:
        say_all(store, "Ada")
    segment_otherwise(monkeypatch, join_paragraphs)
    with Store(tmp_path) as store:
        say(store, "Bea", {3: DROP, 4: LIST})
        [conflict] = store.conflicts(1)
        assert conflict.labels == {"Ada": KEEP, "Bea": DROP}
        assert store.accept_agreed(1, by="Mia") == 9
        assert store.agreement(1).pairs[0].blocks == 2


def test_status_is_that_of_the_blocks_of_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with store_with_page(tmp_path) as store:
        say_all(store, "Ada")
        store.set_done(1, "Ada", True)
    segment_otherwise(monkeypatch, join_paragraphs)
    with Store(tmp_path) as store:
        say(store, "Bea", {3: DROP})
        store.set_done(1, "Bea", True)
        summary = store.summary(1)
        assert (summary.status, summary.conflicts, summary.blocks) == ("conflict", 1, 10)
        assert store.pages(check=True) == [summary]
        say(store, "merged", {3: DROP})
        store.accept_agreed(1, by="Mia")
        assert (store.summary(1).status, store.summary(1).conflicts) == ("merged", 0)
        [page] = collect(store).pages
        assert page.annotator == "merged"
