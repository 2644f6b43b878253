"""The pages of a corpus are found again where they came from; and pages that nobody cleaned yet are looked at alike."""

from __future__ import annotations

import gzip
import json
import shutil
from typing import TYPE_CHECKING

import pytest

import crawls
from mainmatter.corpus.browse import ListingQuery, Place, StoredCorpus, UncleanedInput
from mainmatter.corpus.originals import InputLocations, read_original
from mainmatter.errors import InputError
from stored_corpora import ids_of, walk, write_corpus

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.records import Page

pytest.importorskip("pyarrow")
pytest.importorskip("fastwarc")


def originals(out: Path) -> list[Page]:
    """The pages of all rows of a corpus, found again."""
    corpus = StoredCorpus(str(out))
    found = []
    for place, _ in corpus.find(ListingQuery()).rows:
        row = corpus.get(place)
        found.append(read_original(str(out), place.part, row["source"], row["position"], row["id"]))
    return found


def inputs_of_all_kinds(folder: Path) -> dict[str, Path]:
    contents = crawls.pages(3)
    lines = "".join(json.dumps({"url": url, "html": html.decode()}) + "\n" for url, html in contents.items())
    (folder / "pages").mkdir()
    for number, html in enumerate(contents.values()):
        (folder / f"pages/{number}.html").write_bytes(html)
    (folder / "lines.jsonl").write_text(lines)
    (folder / "packed.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "alone.html").write_bytes(crawls.page(7))
    warc = crawls.write_warc(folder / "crawl.warc.gz", contents)
    whole = folder / "whole.warc.gz"  # packed as one piece
    whole.write_bytes(gzip.compress(gzip.decompress(warc.read_bytes())))
    names = ("pages", "lines.jsonl", "packed.jsonl.gz", "alone.html", "crawl.warc.gz", "whole.warc.gz")
    return {name: folder / name for name in names}


def test_pages_are_found_again_in_inputs_of_all_kinds(tmp_path: Path) -> None:
    wanted = [html for _, html in sorted(crawls.pages(3).items())]
    for name, path in inputs_of_all_kinds(tmp_path).items():
        out = write_corpus(tmp_path / "out" / name, [str(path)])
        found = [page.html if isinstance(page.html, bytes) else page.html.encode() for page in originals(out)]
        assert found == ([crawls.page(7)] if name == "alone.html" else wanted), name


def test_inputs_are_found_from_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    crawls.write_warc(tmp_path / "here/crawl.warc.gz", crawls.pages(2))
    write_corpus(tmp_path / "here/out/corpus", ["crawl.warc.gz"])
    summary = json.loads((tmp_path / "here/out/corpus/__about/summary.json").read_text())
    (tmp_path / "here/out/corpus/__about/summary.json").write_text(json.dumps(summary | {"out": "out/corpus"}))
    monkeypatch.chdir(tmp_path)
    shutil.move(tmp_path / "here", tmp_path / "there")
    assert len(originals(tmp_path / "there/out/corpus")) == 2
    shutil.move(tmp_path / "there/out/corpus", tmp_path / "alone")
    with pytest.raises(InputError, match=r"crawl\.warc\.gz no longer exists; it may have been moved"):
        originals(tmp_path / "alone")
    shutil.move(tmp_path / "there/crawl.warc.gz", tmp_path / "crawl.warc.gz")  # beside it
    assert len(originals(tmp_path / "alone")) == 2
    plan = tmp_path / "alone/__run/plan.json"
    plan.write_text(json.dumps(json.loads(plan.read_text()) | {"inputs": ["a/crawl.warc.gz", "b/crawl.warc.gz"]}))
    where = InputLocations(str(tmp_path / "alone"))
    assert where.find("a/crawl.warc.gz") is None  # it may be the other one
    assert InputLocations(str(tmp_path / "alone"), ["a/crawl.warc.gz"]).find("a/crawl.warc.gz") is not None
    assert InputLocations(str(tmp_path / "alone"), [".", "..", "../secret"]).find("../secret") is None


def test_inputs_are_seen_from_where_the_run_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, name in enumerate(("here", "there")):
        (tmp_path / name / "pages").mkdir(parents=True)
        (tmp_path / name / "pages/a.html").write_bytes(crawls.page(number))
    monkeypatch.chdir(tmp_path / "here")
    write_corpus(tmp_path / "here/out", ["pages"])
    summary = json.loads((tmp_path / "here/out/__about/summary.json").read_text())
    (tmp_path / "here/out/__about/summary.json").write_text(json.dumps(summary | {"out": "out"}))
    monkeypatch.chdir(tmp_path / "there")
    assert [page.html for page in originals(tmp_path / "here/out")] == [crawls.page(0)]


def test_inputs_above_the_folder_of_the_run_are_found(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "made/out/__about").mkdir(parents=True)
    (tmp_path / "data/rows.jsonl").touch()
    # As it was named from beside "made".
    (tmp_path / "made/out/__about/summary.json").write_text('{"out": "../made/out"}')
    where = InputLocations(str(tmp_path / "made/out"), ["../data/rows.jsonl", "rows.jsonl"])
    assert where.find("../data/rows.jsonl") == tmp_path / "data/rows.jsonl"
    assert where.find("rows.jsonl") is None  # who knows what that folder was called


def test_what_cannot_be_found_again_is_told(tmp_path: Path) -> None:
    crawl = crawls.write_warc(tmp_path / "crawl.warc.gz", crawls.pages(2))
    out = write_corpus(tmp_path / "out", [str(crawl)])
    position = StoredCorpus(str(out)).get(Place(0, 0))["position"]
    with pytest.raises(InputError, match="now has another page there"):
        read_original(str(out), 0, str(crawl), position, "<urn:uuid:other>")
    empty = tmp_path / "empty.html"
    empty.write_bytes(b"%PDF-1.4")
    alone = write_corpus(tmp_path / "alone", [str(empty)])
    with pytest.raises(InputError, match=r"cannot be read as a page: not-a-page: is a PDF"):
        read_original(str(alone), 0, str(empty), 0)
    with pytest.raises(InputError, match="is no longer in"):
        read_original(str(out), 0, str(crawl), position + 1)
    with pytest.raises(InputError, match="the plan of the run has no"):
        read_original(str(out), 0, "/etc/hostname", 0)
    shards = out / "__run/shards-00000.json"
    shards.write_text(json.dumps([[{"kind": "urls", "path": "https://a.org/", "start": 0, "end": 1, "files": []}]]))
    with pytest.raises(InputError, match="nothing is fetched"):
        read_original(str(out), 0, "https://a.org/", 0)
    for damaged in (
        '[[{"kind":"x","path":"a","start":0,"end":9,"files":[]}]]',
        '[[{"kind":"files","files":[]}]]',
        "[]",
        "[" * 100_000,
    ):
        shards.write_text(damaged)
        with pytest.raises(InputError, match="is missing or damaged"):
            read_original(str(out), 0, "a", 0)
    shutil.rmtree(out / "__run")
    with pytest.raises(InputError, match="is missing or damaged"):
        originals(out)


@pytest.mark.parametrize("files", [["../secret.html"], ["link.html"]])
def test_a_corpus_leads_to_its_inputs_and_nowhere_else(tmp_path: Path, files: list[str]) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/0.html").write_bytes(crawls.page(0))
    (tmp_path / "secret.html").write_bytes(crawls.page(1))
    (tmp_path / "pages/link.html").symlink_to(tmp_path / "secret.html")
    out = write_corpus(tmp_path / "out", [str(tmp_path / "pages/0.html")])
    one = {"kind": "files", "path": str(tmp_path / "pages"), "start": 0, "end": 1, "files": files}
    (out / "__run/shards-00000.json").write_text(json.dumps([[one]]))
    with pytest.raises(InputError, match="is not an input of the run"):
        read_original(str(out), 0, one["path"], 0)  # type: ignore[arg-type]
    one |= {"path": str(tmp_path), "files": ["secret.html"]}
    (out / "__run/shards-00000.json").write_text(json.dumps([[one]]))
    with pytest.raises(InputError, match="is not an input of the run"):
        read_original(str(out), 0, str(tmp_path), 0)


# ---- pages that nobody cleaned yet


def test_pages_that_nobody_cleaned_are_listed_too(tmp_path: Path) -> None:
    wanted = [html for _, html in sorted(crawls.pages(3).items())]
    for name, path in inputs_of_all_kinds(tmp_path).items():
        corpus = UncleanedInput(str(path))
        corpus.check()
        listings = walk(corpus, most=2)
        pages = [corpus.page(place).html for listing in listings for place, _ in listing.rows]
        found = [html if isinstance(html, bytes) else html.encode() for html in pages]
        assert found == ([crawls.page(7)] if name == "alone.html" else wanted), name
        assert ids_of(walk(corpus, seconds=0.0)) == ids_of(listings), name
        place, row = listings[0].rows[0]
        assert corpus.get(place) == row
        with pytest.raises(InputError, match=r"no such page|no longer exists"):
            corpus.get(Place(place.part, place.at + 1_000_000))
    found_by_word = walk(UncleanedInput(str(tmp_path / "crawl.warc.gz")), words=("ORG/2",))
    assert [row["url"] for _, row in found_by_word[0].rows] == ["https://example.org/2"]


def test_pages_may_be_named_with_a_scheme(tmp_path: Path) -> None:
    for path in inputs_of_all_kinds(tmp_path).values():
        assert ids_of(walk(UncleanedInput(f"file://{path}")))


def test_what_is_no_page_is_told(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "secret.html").write_bytes(crawls.page(1))
    (tmp_path / "pages/a.html").write_bytes(b"%PDF-1.4")
    (tmp_path / "pages/b.html").symlink_to(tmp_path / "secret.html")
    (tmp_path / "pages/c.html").write_bytes(crawls.page(2))
    (tmp_path / "pages/d.jsonl").symlink_to(tmp_path / "secret.html")
    corpus = UncleanedInput(str(tmp_path / "pages"))
    assert ids_of(walk(corpus)) == ["c.html"]
    [(first, pdf), (second, link), (third, archive)] = walk(corpus, kept=False)[0].rows
    assert (pdf["id"], pdf["reason"]) == ("a.html", "not-a-page")
    assert link["detail"] == archive["detail"] == "it is a link that leads out of the folder"
    for place in (first, second, third):
        with pytest.raises(InputError, match="cannot be read as a page"):
            corpus.page(place)
        with pytest.raises(InputError, match=r"no such page|no longer exists"):
            corpus.get(place)
        assert corpus.get(place, kept=False)["reason"] in ("not-a-page", "unreadable")


def test_nothing_is_fetched_to_look_at_pages(tmp_path: Path) -> None:
    (tmp_path / "some.urls").write_text("https://example.org/\n")
    for name in (str(tmp_path / "some.urls"), "https://example.org/page", "s3://bucket/crawl.warc.gz"):
        with pytest.raises(InputError, match="would have to be fetched"):
            UncleanedInput(name).check()
