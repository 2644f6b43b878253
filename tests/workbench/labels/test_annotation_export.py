"""From annotations to gold standards and back: nothing is lost on the way."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from annotated import COMMENT, DROP, HTML, KEEP, LIST, SAID, TEXTS, say, say_all, segment_otherwise, store_with_page
from mainmatter import registry
from mainmatter.cli import group
from mainmatter.errors import DatasetError
from mainmatter.lab.datasets import load_dataset
from mainmatter.lab.training.examples import make_example
from mainmatter.records import LABELS, Kind, Page
from mainmatter.workbench.labels import AnnotationError, Label, Store
from mainmatter.workbench.labels.gold import collect, export, may_be_written, unique_names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DUMP = "Home | News\n\nThe otters were seen at the old mill again, three of them.\n\n* Fish are back.\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Two pages and a dump, labelled and done."""
    store = store_with_page(tmp_path / "bench")
    store.add_page(
        Page("<p>K\xe4se ist gut</p><p>Teilen</p>".encode("latin-1"), charset="latin-1"), "b", name="a/Käse.html"
    )
    store.add_page(Page(DUMP, format="text"), "c", name="dump.txt", page_type="article", lang="en")
    say_all(store, "Ada")
    say(store, "Ada", {0: KEEP, 1: DROP}, 2)
    say(store, "Ada", {0: DROP, 1: KEEP, 2: LIST}, 3)
    for page_id in (1, 2, 3):
        store.set_done(page_id, "Ada", True)
    yield store
    store.close()


@pytest.mark.parametrize("target", ["gold", "gold.parquet"])
def test_what_was_labelled_is_what_training_sees(store: Store, tmp_path: Path, target: str) -> None:
    export(collect(store).pages, tmp_path / target)
    pages = {page.page.id: page for page in load_dataset(str(tmp_path / target))}
    assert sorted(filter(None, pages)) == ["Käse", "dump", "otters"]
    example = make_example(pages["otters"])
    assert example.document.texts == list(TEXTS)
    assert example.shares.tolist() == [float(label.kept) for label in SAID]
    kinds = {"heading": Kind.HEADING, "list": Kind.LIST_ITEM}
    assert list(example.kinds) == [kinds.get(label.kind, Kind.PARAGRAPH) for label in SAID]
    assert [label.kind for label in pages["otters"].labels or ()] == [label.kind for label in SAID]
    assert example.labels is not None
    assert (example.labels == LABELS.index("comment")).tolist() == [label.kind == "comment" for label in SAID]
    assert make_example(pages["Käse"]).shares.tolist() == [1, 0]
    assert make_example(pages["Käse"]).document.texts == ["Käse ist gut", "Teilen"]
    assert make_example(pages["dump"]).shares.tolist() == [0, 1, 1]
    assert pages["dump"].groups == {"page_type": "article", "lang": "en"}
    assert pages["otters"].page.url == "http://mill.example/otters"
    assert pages["otters"].gold == {page.page.id: page for page in store.gold_pages()}["otters"].gold


@pytest.mark.parametrize("target", ["gold", "gold.parquet"])
def test_an_export_says_which_labels_were_suggested_and_only_accepted(
    store: Store, tmp_path: Path, target: str
) -> None:
    say(store, "Ada", {3: Label(kept=True, suggested_by="models/auto"), 4: KEEP})
    result = CliRunner().invoke(group, ["annotations", "export", str(store.path), "-o", str(tmp_path / target)])
    assert "suggested, and accepted without a look (suggested_by says by what): 1 of them" in result.output
    pages = {page.page.id: page for page in load_dataset(str(tmp_path / target))}
    assert [label.suggested_by for label in pages["otters"].labels or ()] == [""] * 3 + ["models/auto"] + [""] * 7


@pytest.mark.parametrize("target", ["gold", "gold.parquet"])
def test_a_dump_whose_lines_are_blocks_is_exported_as_one(tmp_path: Path, target: str) -> None:
    with Store(tmp_path / "bench") as store:
        store.add_page(Page("One line\nand another", format="text", lines_are_blocks=True), "a.wet", name="wet")
        store.add_page(Page("One line\nthat goes on", format="text"), "b.txt", name="dump")
        say(store, "Ada", {0: DROP, 1: KEEP}, 1)
        say(store, "Ada", {0: KEEP}, 2)
        export(collect(store, unfinished=True).pages, tmp_path / target)
    pages = {page.page.id: page for page in load_dataset(str(tmp_path / target))}
    assert {name: page.page.lines_are_blocks for name, page in pages.items()} == {"wet": True, "dump": False}
    assert make_example(pages["wet"]).shares.tolist() == [0, 1]


def test_the_gold_text_is_in_cleaneval_markup(store: Store, tmp_path: Path) -> None:
    export(collect(store).pages, tmp_path / "gold")
    text = (tmp_path / "gold" / "gold" / "otters.txt").read_text("utf-8")
    assert text.splitlines()[:3] == [
        "URL: http://mill.example/otters",
        f"<h> {TEXTS[2]}",
        f"<p> {TEXTS[3]}",
    ]
    assert f"<l> {TEXTS[5]}" in text
    assert (tmp_path / "gold" / "html" / "otters.html").read_text() == HTML
    index = json.loads((tmp_path / "gold" / "index.json").read_text())
    assert index["dump"]["page_type"] == "article"
    assert index["otters"]["annotator"] == "Ada"
    assert index["otters"]["labels"][8] | {"ref": ""} == {
        "ref": "",
        "text": TEXTS[8],
        "kept": COMMENT.kept,
        "kind": "comment",
    }


@pytest.mark.parametrize("target", ["gold", "gold.parquet"])
def test_evaluate_and_train_run_on_exports(
    store: Store, tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.METHODS, "cutoff", "toys:Cutoff")
    gold = str(tmp_path / target)
    export(collect(store).pages, tmp_path / target)
    result = CliRunner().invoke(group, ["evaluate", "ice-baseline", "--on", gold, "-j", "1"])
    assert result.exit_code == 0, result.output
    arguments = ["train", "cutoff", "--on", gold, "-o", str(tmp_path / "model"), "--no-check", "-j", "1"]
    result = CliRunner().invoke(group, arguments)
    assert result.exit_code == 0, result.output
    assert "keeping exactly the blocks labelled as main matter would give bag f1 1.000" in result.output


def test_blocks_without_a_label_are_dropped_or_unknown(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        say(store, "Ada", {3: KEEP, 4: DROP})
        store.set_done(1, "Ada", True)
        [page] = store.gold_pages()
        assert collect(store).pages[0].unlabelled == 9
    assert make_example(page).shares.tolist() == [0, 0, 0, 1, *[0] * 7]
    shares = make_example(page, unknown=np.nan).shares
    assert shares[3:5].tolist() == [1, 0]
    assert np.isnan(np.delete(shares, [3, 4])).all()


def test_labels_that_do_not_fit_the_page_give_way_to_its_text(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        say_all(store, "Ada")
        store.set_done(1, "Ada", True)
        [page] = store.gold_pages()
    assert page.labels is not None
    other = Page("<p>Quite another page, which has nothing to do with it.</p><p>Otters are back</p>")
    example = make_example(type(page)(other, page.gold, {}, page.labels))
    assert example.kept.tolist() == [False, True]


@pytest.mark.parametrize("target", ["gold", "gold.parquet"])
def test_a_page_on_which_nothing_is_kept(tmp_path: Path, target: str) -> None:
    with store_with_page(tmp_path / "bench") as store:
        say(store, "Ada", dict.fromkeys(range(11), DROP))
        store.set_done(1, "Ada", True)
        export(collect(store).pages, tmp_path / target)
    [page] = load_dataset(str(tmp_path / target))
    assert (page.gold.text, page.gold.marked) == ("", "")
    assert make_example(page).shares.tolist() == [0] * 11


def test_the_best_labels_of_a_page(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        reasons: list[str] = []

        def whose(*, unfinished: bool = False) -> str:
            found = collect(store, unfinished=unfinished)
            reasons.extend(page.reason for page in found.left_out)
            return " ".join(page.annotator for page in found.pages)

        assert whose() == ""
        say_all(store, "Ada")
        assert whose() == ""
        assert whose(unfinished=True) == "Ada"
        store.set_done(1, "Ada", True)
        say_all(store, "Bea", b3=DROP)
        assert whose() == "Ada"
        store.set_done(1, "Bea", True)
        assert whose() == ""
        [page] = store.gold_pages(unfinished=True)
        assert len(page.labels or ()) == 10
        say(store, "merged", {3: DROP})
        assert whose() == "Ada and Bea and merged"
        [page] = store.gold_pages()
        assert len(page.labels or ()) == 11
        store.accept_agreed(1, by="Mia")
        assert whose() == "merged"
        assert reasons == [
            "nobody labelled it",
            "nobody has finished it",
            "Ada and Bea disagree on 1 block, which nobody has merged",
        ]
        [page] = store.gold_pages("Ada")
        assert (page.labels or ())[3].kept
        [page] = store.gold_pages("merged")
        assert not (page.labels or ())[3].kept
        with pytest.raises(AnnotationError, match="nobody called 'Eve'"):
            store.gold_pages("Eve")


def test_lost_labels_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with store_with_page(tmp_path) as store:
        say_all(store, "Ada")
        store.set_done(1, "Ada", True)
    segment_otherwise(monkeypatch, lambda html: html.replace("herons.</li></ul><p>Share", "herons. Share"))
    with Store(tmp_path) as store:
        assert collect(store).lost == 2
        assert len(store.gold_pages()[0].labels or ()) == 9


def test_an_export_replaces_an_earlier_one_and_nothing_else(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "gold"
    export(collect(store).pages, target)
    say(store, "Ada", {3: DROP})
    export(collect(store).pages, target)
    assert TEXTS[3] not in (target / "gold" / "otters.txt").read_text()
    (target / "mine.txt").write_text("precious")
    assert not may_be_written(target)
    with pytest.raises(AnnotationError, match="something other than an export"):
        export(collect(store).pages, target)
    assert (target / "mine.txt").read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    with pytest.raises(AnnotationError, match="no page to export"):
        export((), tmp_path / "none")


def test_names_of_files_are_unique() -> None:
    names = ["a/index.html", "b/index.html", "INDEX", "index-1", "http://x.example/", "..", "", "x" * 300, "a b?c.html"]
    found = unique_names(names)
    assert len({name.lower() for name in found}) == len(names)
    assert found[3:5] == ["index-1", "x.example"]
    assert all(name and len(name) < 100 and "/" not in name and not name.startswith(".") for name in found)


def test_damaged_labels_are_told(store: Store, tmp_path: Path) -> None:
    export(collect(store).pages, tmp_path / "gold")
    file = tmp_path / "gold" / "index.json"
    index = json.loads(file.read_text())
    for wrong in ("no list", [{"ref": "x", "text": "y", "kept": 1, "kind": "paragraph"}], [3]):
        index["otters"]["labels"] = wrong
        file.write_text(json.dumps(index))
        with pytest.raises(DatasetError, match=r"index\.json: otters: (labels are not a list|not a label)"):
            load_dataset(str(tmp_path / "gold"))


NAMES = ("notes-cleaned.html", "\U00020000" * 90, "a\nb\x00c\x1b[31m", "con.txt", "-rf", "a.b.c")
BYTES = b"<p>\xff\xfe caf\xe9 \x00 \xf0\x9f</p>\r\n<p>Second\x0b one</p>\r"


@pytest.mark.parametrize("target", ["gold", "gold.PARQUET"])
def test_odd_names_and_bytes_come_back(tmp_path: Path, target: str) -> None:
    with Store(tmp_path / "bench") as store:
        for number, name in enumerate(NAMES):
            page_id = store.add_page(Page(BYTES, f"http://x.example/{number}"), "a test", name=name)
            say(store, "Ada", {0: KEEP}, page_id)
            store.set_done(page_id, "Ada", True)
        empty = store.add_page(Page(b""), "a test", name="empty")
        store.set_done(empty, "Ada", True)
        store_texts = store.document(1).texts
        export(collect(store).pages, tmp_path / target)
    pages = load_dataset(str(tmp_path / target))
    assert sorted((page.page.url or "", page.page.html) for page in pages) == [
        ("", b""),
        *((f"http://x.example/{number}", BYTES) for number in range(len(NAMES))),
    ]
    for page in pages:
        assert make_example(page).document.texts == ([] if page.page.id == "empty" else store_texts)
        assert make_example(page).shares.tolist() == ([] if page.page.id == "empty" else [1, 0])


def test_labels_of_others_are_none_of_ours(tmp_path: Path) -> None:
    table = pytest.importorskip("pyarrow").table
    parquet = pytest.importorskip("pyarrow.parquet")
    for labels in (["spam"], [[1, 2]], [[{"name": "x"}]], [None]):
        parquet.write_table(
            table({"id": [7], "html": ["<p>a"], "gold": ["a"], "labels": labels}), tmp_path / "g.parquet"
        )
        [page] = load_dataset(str(tmp_path / "g.parquet"))
        assert (page.page.id, page.labels) == ("7", None)
    parquet.write_table(table({"html": ["<p>a"], "labels": [[{"ref": "x"}]]}), tmp_path / "g.parquet")
    with pytest.raises(DatasetError, match="not a label"):
        load_dataset(str(tmp_path / "g.parquet"))
