"""Pages into the store: files, archives, rejects, gold standards, and those that methods disagree on."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest

import crawls
from annotated import HTML, KEEP, say, store_with_page
from mainmatter.corpus.build import build_corpus
from mainmatter.corpus.filters import Filters
from mainmatter.corpus.job import Job
from mainmatter.corpus.records import Reject
from mainmatter.corpus.writers import rejects_to_bytes
from mainmatter.errors import InputError, UnknownName
from mainmatter.lab.datasets import load_dataset
from mainmatter.limits import Limits
from mainmatter.method import Reasons
from mainmatter.records import Document, Extraction, Page
from mainmatter.workbench.labels import Store
from mainmatter.workbench.labels.disagreement import disagreements, share_of_words
from mainmatter.workbench.labels.importing import FoundPage, add_found, add_gold, is_archive, read_inputs, read_rejected
from toys import LONG, write_gold_folder

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.method import Method


def added(store: Store, *names: object, limits: Limits | None = None) -> list[tuple[str, int | None, bool]]:
    found = read_inputs([str(name) for name in names], limits or Limits())
    return [(each.name.rpartition("/")[2], each.page_id, each.is_new) for each in add_found(store, found)]


def test_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "a.html").write_text(HTML)
    (tmp_path / "site" / "b.txt").write_text("A dump of a page.")
    (tmp_path / "site" / "c.html").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "site" / "d.html").write_text("x" * 5000)
    with Store(tmp_path / "bench") as store:
        assert added(store, tmp_path / "site", limits=Limits(4000)) == [
            ("a.html", 1, True),
            ("b.txt", 2, True),
            ("c.html", None, False),
            ("d.html", None, False),
        ]
        assert added(store, tmp_path / "site" / "a.html") == [("a.html", 1, False)]
        assert store.page(2).format == "text"
        with pytest.raises(InputError, match="no such file"):
            added(store, tmp_path / "none")


def test_archives(tmp_path: Path) -> None:
    crawls.write_warc(tmp_path / "crawl.warc.gz", crawls.pages(3))
    rows = [{"html": HTML, "url": "http://mill.example/", "id": "otters"}, {"html": 3}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Store(tmp_path / "bench") as store:
        found = added(store, tmp_path / "crawl.warc.gz", tmp_path / "rows.jsonl")
        assert [page_id for _, page_id, _ in found] == [1, 2, 3, 4, None]
        assert store.page(1).url == "https://example.org/0"
        assert store.page(1).charset == "utf-8"
        assert store.page(4).id == "otters"
        assert store.page(1).id == "https://example.org/0"  # nobody knows pages by the number of a record
        assert added(store, tmp_path)[0][2] is False  # a folder that holds archives alone
    assert is_archive("https://a.example/x.WARC.gz?key=1")
    assert not is_archive("page.html.gz")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a crawl, and its corpus, of which two pages were rejected."""
    folder = tmp_path_factory.mktemp("corpus")
    contents = crawls.pages(4) | {"https://example.org/2": b"<p>Short.</p>", "https://example.org/3": b"<p></p>"}
    crawl = crawls.write_warc(folder / "crawl.warc.gz", contents)
    build_corpus([str(crawl)], str(folder / "out"), Job(method="density", filters=Filters(min_words=20)), workers=1)
    return folder


@pytest.fixture
def moved(corpus: Path, tmp_path: Path) -> Path:
    """The same elsewhere, as if it had been made there."""
    folder = tmp_path / "moved"
    shutil.copytree(corpus, folder)
    for file in (folder / "out").rglob("*.json*"):
        file.write_text(file.read_text().replace(str(corpus), str(folder)))
    return folder


def test_rejects_of_a_corpus(corpus: Path, tmp_path: Path) -> None:
    out = str(corpus / "out")
    with Store(tmp_path / "bench") as store:
        assert [each.is_new for each in add_found(store, read_rejected(out))] == [True, True]
        pages = store.pages()
        assert sorted(page.url or "" for page in pages) == ["https://example.org/2", "https://example.org/3"]
        assert all(page.note.startswith("rejected: ") for page in pages)
        assert pages[0].source.startswith(str(corpus / "crawl.warc.gz#"))
        [one] = read_rejected(out, ["length"])
        assert one.page is not None
        assert one.page.html == b"<p>Short.</p>"
        with pytest.raises(InputError, match="nothing was rejected for robots"):
            list(read_rejected(out, ["robots"]))


def test_rejects_without_the_plan_of_the_run(moved: Path) -> None:
    shutil.rmtree(moved / "out" / "__run")
    found = list(read_rejected(str(moved / "out")))
    assert [each.page is not None for each in found] == [True, True]
    assert found[0].source.startswith(str(moved))


def test_rejects_that_are_not_found_again_are_told(moved: Path) -> None:
    out = moved / "out"
    crawls.write_warc(moved / "crawl.warc.gz", {"https://example.org/other": b"<p>Other</p>"})
    found = list(read_rejected(str(out)))
    assert [(each.page, "not found there any more" in each.problem) for each in found] == [(None, True)] * 2
    (moved / "crawl.warc.gz").unlink()
    found = list(read_rejected(str(out)))
    assert [(each.page, "crawl.warc.gz itself is not found" in each.problem) for each in found] == [(None, True)] * 2
    (out / "__about/rejects/part-00000.jsonl").write_text("no JSON\n")
    with pytest.raises(InputError, match="as a file of rejects"):
        list(read_rejected(str(out)))
    with pytest.raises(InputError, match="holds no rejects"):
        list(read_rejected(str(moved)))


@pytest.mark.parametrize("has_plan", [True, False])
def test_rejects_of_a_corpus_that_is_seen_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_plan: bool
) -> None:
    contents = crawls.pages(2) | {"https://example.org/1": b"<p>Short.</p>"}
    place = tmp_path / "place"
    (place / "crawls").mkdir(parents=True)
    crawls.write_warc(place / "crawls/crawl.warc.gz", contents)
    monkeypatch.chdir(place)
    build_corpus(["crawls/crawl.warc.gz"], "made/out", Job(method="density", filters=Filters(min_words=20)), workers=1)
    if not has_plan:
        shutil.rmtree(place / "made/out/__run")
    monkeypatch.chdir(tmp_path)
    [one] = read_rejected("place/made/out")  # by the path that the run had
    assert one.page is not None
    assert (one.page.html, one.source.partition("#")[0]) == (b"<p>Short.</p>", "crawls/crawl.warc.gz")
    shutil.move("place/made/out", "renamed")
    [lost] = read_rejected("renamed")
    assert (lost.page, "crawl.warc.gz itself is not found" in lost.problem) == (None, True)
    [elsewhere] = read_rejected("renamed", folders=[place / "crawls"])
    shutil.move("place/crawls/crawl.warc.gz", "crawl.warc.gz")
    [beside] = read_rejected(str(tmp_path / "renamed"))
    assert elsewhere.page == beside.page == one.page
    [refused] = read_rejected("renamed", within=[place])
    assert refused.page is None
    told = tmp_path / "renamed/__about/rejects/part-00000.jsonl"  # of another crawl, whose archive had the same name
    told.write_text(told.read_text().replace("<urn:uuid:0", "<urn:uuid:1"))
    [other] = read_rejected("renamed")
    assert (other.page, "now has another page there" in other.problem) == (None, True)


def test_a_gold_standard_brings_its_labels(tmp_path: Path) -> None:
    pages = load_dataset(str(write_gold_folder(tmp_path / "gold", 2)))
    with Store(tmp_path / "bench") as store:
        assert [each.is_new for each in add_gold(store, pages, "gold")] == [True, True]
        said = store.labels(1, "gold")
        assert said.done
        assert [label.kept for label in said.by_ref.values()] == [False, False, False, True, True]
        assert [each.is_new for each in add_gold(store, pages, "gold")] == [False, False]
        assert store.labels(1, "gold").revision == said.revision
    with Store(tmp_path / "other") as store:
        list(add_gold(store, pages, "gold", with_labels=False))
        assert store.pages()[0].labelled == {}


def test_a_gold_page_that_cannot_be_added_does_not_stop_the_others(tmp_path: Path) -> None:
    pages = load_dataset(str(write_gold_folder(tmp_path / "gold", 2)))
    too_large = replace(pages[0], page=Page("x" * 50_000_001, id="large"))
    with Store(tmp_path / "bench") as store:
        additions = list(add_gold(store, [too_large, *pages], "gold"))
    assert [each.page_id for each in additions] == [None, 1, 2]
    assert "more than 50.0 MB" in additions[0].problem


def test_an_exported_gold_standard_comes_back_as_it_was(tmp_path: Path) -> None:
    with store_with_page(tmp_path / "one") as store:
        say(store, "Ada", {3: KEEP})
        store.set_done(1, "Ada", True)
        pages = store.gold_pages()
        said = store.labels(1, "Ada").by_ref
    with Store(tmp_path / "two") as store:
        list(add_gold(store, pages, "one"))
        assert store.labels(1, "gold").by_ref == said


class KeepsOtters:
    """A method that keeps the blocks that hold its word; the more blocks, the less sure it is."""

    name: ClassVar[str] = "otter"
    summary: ClassVar[str] = "for tests"

    def extract(self, document: Document) -> Extraction:
        if "CRASH" in "".join(document.texts):
            raise ZeroDivisionError("by a page")
        kept = np.array([self.name in text for text in document.texts], np.bool_)
        reasons = Reasons(kept.astype(np.intp), ("no", "yes"))
        kinds, sure = document.columns.kinds, 0.9 - 0.1 * len(document)
        return Extraction(document, self.name, kept.astype(np.float64), kept, kinds, reasons, confidence=sure)


class KeepsHerons(KeepsOtters):
    name: ClassVar[str] = "heron"


METHODS: tuple[Method, ...] = (KeepsOtters(), KeepsHerons())


def found(*htmls: str) -> list[FoundPage]:
    return [FoundPage(f"page {i}", "a test", Page(html)) for i, html in enumerate(htmls)]


def test_disagreement_by_hand() -> None:
    kept = {"a": np.array([True, True, False]), "b": np.array([True, False, False])}
    weights = np.array([6.0, 2.0, 10.0])
    assert share_of_words(kept, weights) == pytest.approx(2 / 8)
    assert share_of_words(kept | {"c": np.array([False, False, True])}, weights) == pytest.approx((2 / 8 + 1 + 1) / 3)
    assert share_of_words({"a": np.zeros(2, np.bool_), "b": np.zeros(2, np.bool_)}, weights[:2]) == 0


def test_pages_that_methods_disagree_on_most_come_first() -> None:
    pages = found(
        "<p>otter heron</p><p>heron</p>",  # one of three words
        "<p>otter</p><p>heron one two</p>",  # all
        "<p>otter heron</p>",  # none
        "<p>CRASH</p>",
        "",
    )
    pages.append(FoundPage("gone", "a test", None, "cannot be read"))
    told: list[FoundPage] = []
    ranked = disagreements(pages, METHODS, 5, on_page=told.append)
    assert [(one.found.name, round(one.share, 3)) for one in ranked] == [("page 1", 1.0), ("page 0", 0.333)]
    assert [(block.text, block.kept_by, block.dropped_by) for block in ranked[0].blocks] == [
        ("heron one two", ("heron",), ("otter",)),
        ("otter", ("otter",), ("heron",)),
    ]
    assert ranked[0].note == "methods disagree on 2 blocks, 100% of the words they keep"
    assert len(told) == 6
    assert [one.found.name for one in disagreements(pages, METHODS, 1)] == ["page 1"]


def test_among_equals_the_least_sure_comes_first() -> None:
    ranked = disagreements(found("<p>otter</p>", "<p>otter</p><p>x</p>"), METHODS)
    assert [one.found.name for one in ranked] == ["page 1", "page 0"]
    assert ranked[0].confidence == pytest.approx(0.7)


def test_a_page_over_the_limits_is_told_and_the_others_go_on() -> None:
    told: list[FoundPage] = []
    pages = found("<p>otter</p>" + " " * 1000, "<p>otter</p>")
    ranked = disagreements(pages, METHODS, limits=Limits(500), on_page=told.append)
    assert [one.found.name for one in ranked] == ["page 1"]
    assert ["PageTooLarge" in each.problem for each in told] == [True, False]


def test_of_a_store_the_pages_without_labels_are_compared(tmp_path: Path) -> None:
    page = f"<ul><li><a href=/>Home</a><li><a href=/x>More of it</a></ul><p>{LONG}</p><p>Short line here.</p>"
    with store_with_page(tmp_path) as store:
        store.add_page(Page(page), "a test", name="second")
        say(store, "Ada", {3: KEEP})
        ranked = disagreements(store, ["ice-baseline", "density"])
        assert [(one.found.name, one.page_id) for one in ranked] == [("second", 2)]


def test_disagreement_needs_two_methods() -> None:
    with pytest.raises(InputError, match="at least two"):
        disagreements([], ["density"])
    with pytest.raises(InputError, match="at least 1"):
        disagreements([], ["density", "ice-baseline"], 0)


def test_pages_that_hang_or_crash_cost_only_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plugin").mkdir()
    monkeypatch.syspath_prepend(crawls.install_wicked(tmp_path / "plugin"))
    wicked = [
        FoundPage(word, "a test", Page(crawls.page(i, word))) for i, word in enumerate(("fine", "SLEEP", "ABORT", "x"))
    ]
    told: list[FoundPage] = []
    ranked = disagreements(wicked, ["wicked", "ice-baseline"], seconds=2, on_page=told.append)
    assert sorted(one.found.name for one in ranked) == ["fine", "x"]
    assert all(one.found.page is not None and one.blocks for one in ranked)
    assert [each.problem for each in told] == ["", "gave no result in 2 s", "ended the process that worked on it", ""]
    with pytest.raises(UnknownName, match="wickde"):
        disagreements(wicked, ["wickde", "density"], seconds=2)
    with pytest.raises(InputError, match="by name"):
        disagreements(wicked, METHODS, seconds=2)


@pytest.mark.parametrize("source", ["http://127.0.0.1:9/crawl.warc.gz", "s3://bucket/crawl.warc.gz"])
def test_rejects_that_name_the_web_make_nobody_fetch(source: str, tmp_path: Path) -> None:
    (tmp_path / "rejects").mkdir()
    reject = Reject("length", "2 words", source, 0, "a")
    (tmp_path / "rejects/part-00000.jsonl").write_bytes(rejects_to_bytes([reject]))
    (found,) = read_rejected(str(tmp_path), within=[tmp_path])
    assert (found.page, found.problem) == (None, f"{source}#0: it came from the web, and nothing is fetched here")


def test_rejects_of_odd_types_are_told(tmp_path: Path) -> None:
    (tmp_path / "rejects").mkdir()
    for fields in ('"source": 5, "position": 0', '"source": "a", "position": "0"'):
        (tmp_path / "rejects/part-00000.jsonl").write_text(f'{{"reason": "length", "detail": "", {fields}}}\n')
        with pytest.raises(InputError, match="cannot be read as a file of rejects"):
            list(read_rejected(str(tmp_path)))


def test_links_in_a_folder_are_told_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_text("<p>Nobody is to read this.")
    for folder, name, content in (("pages", "a.html", "<p>Otters"), ("archives", "a.jsonl", '{"text": "Otters"}')):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(content)
        (tmp_path / folder / f"link-{name}").symlink_to(tmp_path / "secret.html")
        found = list(read_inputs([str(tmp_path / folder)]))
        [link] = [one for one in found if one.page is None]
        assert link.problem == "links to files in a folder are not followed; name that file"
        assert len(found) == 2
