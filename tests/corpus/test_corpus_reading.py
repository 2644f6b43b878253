"""A corpus that was built is looked at in small pieces; and its pages are found again where they came from."""

from __future__ import annotations

import gzip
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import crawls
from mainmatter.corpus.folder import Folder, rejects_name
from mainmatter.corpus.originals import read_original
from mainmatter.corpus.reading import Listing, Place, StoredCorpus, Wish
from mainmatter.corpus.records import Reject
from mainmatter.corpus.unbuilt import UnbuiltCorpus
from mainmatter.corpus.whereabouts import Whereabouts
from mainmatter.corpus.writers import import_arrow, rejects_to_bytes
from mainmatter.errors import InputError
from stored_corpora import write_corpus, write_rows

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.records import Page

pytest.importorskip("pyarrow")
pytest.importorskip("fastwarc")

PARTS = (1203, 0, 40)  # the first has two row groups
FORMATS = ("parquet", "jsonl")


@pytest.fixture(scope="module", params=FORMATS)
def rows(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[StoredCorpus, list[str]]:
    """A corpus of rows, and their ids."""
    out = tmp_path_factory.mktemp(request.param)
    ids = write_rows(out, PARTS, request.param)
    rejects = [Reject("length" if i % 3 else "language", f"has {i} words", "a.warc", i, f"r-{i}") for i in range(30)]
    for part in (0, 2):
        Folder(str(out)).write(rejects_name(part), rejects_to_bytes(rejects[part * 10 : part * 10 + 10]))
    return StoredCorpus(str(out)), ids


def walk(corpus: StoredCorpus | UnbuiltCorpus, **wanted: Any) -> list[Listing]:
    """Listings from the first to the last."""
    listings = [corpus.find(Wish(**wanted))]
    while listings[-1].after is not None:
        listings.append(corpus.find(Wish(**wanted, start=listings[-1].after)))
    return listings


def ids_of(listings: list[Listing]) -> list[str]:
    return [row["id"] for listing in listings for _, row in listing.rows]


def test_every_page_is_listed_once(rows: tuple[StoredCorpus, list[str]]) -> None:
    corpus, ids = rows
    listings = walk(corpus, most=97)
    assert ids_of(listings) == ids
    assert {len(listing.rows) for listing in listings[:-1]} == {97}
    assert set(listings[0].rows[0][1]) <= {"id", "url", "title", "language", "confidence", "words"}
    assert ids_of(walk(corpus, most=7, kept=False)) == [f"r-{i}" for i in (*range(10), *range(20, 30))]
    assert ids_of([corpus.find(Wish(start=Place(2, 0), most=2))]) == ["id-1203", "id-1204"]
    assert corpus.find(Wish(start=Place(9, 0))).rows == []


def test_words_and_reasons_choose(rows: tuple[StoredCorpus, list[str]]) -> None:
    corpus, _ = rows
    listings = walk(corpus, words=("ÜBER", "org/12"), most=5)  # the words may be in two places
    assert ids_of(listings) == [f"id-{i}" for i in (12, *range(120, 130), *range(1200, 1243)) if i % 2 == 0]
    assert sum(listing.looked_at for listing in listings) == sum(PARTS)
    found = walk(corpus, kept=False, reason="language")
    assert {row["reason"] for listing in found for _, row in listing.rows} == {"language"}
    assert ids_of(walk(corpus, kept=False, words=("has 7 ",))) == ["r-7"]


@pytest.mark.parametrize("format_", FORMATS)
def test_a_search_that_takes_too_long_stops_and_goes_on(tmp_path: Path, format_: str) -> None:
    write_rows(tmp_path, (30, 0, 5), format_)
    listings = walk(StoredCorpus(str(tmp_path)), words=("id-33",), seconds=0.0)
    assert listings[0].ran_out
    assert listings[0].looked_at == 1
    assert ids_of(listings) == ["id-33"]
    assert sum(listing.looked_at for listing in listings) == 35


def test_a_whole_row(rows: tuple[StoredCorpus, list[str]]) -> None:
    corpus, ids = rows
    places = [place for listing in walk(corpus) for place, _ in listing.rows]
    for number in (0, 999, 1000, 1202, 1203, 1242):
        row = corpus.get(places[number])
        assert (row["id"], row["text"], row["position"]) == (ids[number], f"Text {number}.", number)
    reject = corpus.get(corpus.find(Wish(kept=False)).rows[3][0], kept=False)
    assert reject["detail"] == "has 3 words"
    for place in (Place(0, 5_000_000), Place(1, 0), Place(7, 0)):
        with pytest.raises(InputError, match=r"no row|no such page"):
            corpus.get(place)


def test_no_more_is_read_than_is_listed(tmp_path: Path) -> None:
    write_rows(tmp_path, (60, 10, 10), "parquet")
    (tmp_path / "part-00001.parquet").write_bytes(b"PAR1, but damaged")
    corpus = StoredCorpus(str(tmp_path))
    listing = corpus.find(Wish(most=50))
    assert (len(listing.rows), listing.after) == (50, Place(0, 50))
    assert all("problem" not in row for _, row in listing.rows)
    rest = [row for _, row in corpus.find(Wish(start=listing.after)).rows]
    assert rest[10]["problem"].startswith("part-00001.parquet: cannot be read: ")
    assert [row["id"] for row in rest[11:]] == [f"id-{i}" for i in range(70, 80)]
    with pytest.raises(InputError, match=r"part-00001\.parquet: cannot be read"):
        corpus.get(Place(1, 0))
    write_rows(tmp_path / "groups", (1100,), "parquet")
    part = tmp_path / "groups/part-00000.parquet"
    part.write_bytes(b"PAR1" + bytes(3000) + part.read_bytes()[3004:])  # the first group is damaged
    assert ids_of([StoredCorpus(str(part.parent)).find(Wish(start=Place(0, 1000), most=1))]) == ["id-1000"]


def test_a_corpus_in_a_folder_called_rejects(tmp_path: Path) -> None:
    write_rows(tmp_path / "rejects", (3,), "jsonl")
    corpus = StoredCorpus(str(tmp_path / "rejects"))
    assert all("text" not in row for _, row in corpus.find(Wish()).rows)
    assert "text" in corpus.get(Place(0, 0))
    with pytest.raises(InputError, match="has no row"):
        corpus.get(Place(0, 10**30))


def test_a_damaged_line_is_told(tmp_path: Path) -> None:
    write_rows(tmp_path, (3,), "jsonl")
    path = tmp_path / "part-00000.jsonl"
    first, _, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b"[1]\n\nnonsense\n" + last)
    corpus = StoredCorpus(str(tmp_path))
    shown = [row.get("problem") or row["id"] for _, row in corpus.find(Wish(words=("id-2",))).rows]
    assert shown[0] == f"the line at byte {len(first)} is damaged: it is no JSON object"
    assert (len(shown), shown[-1]) == (3, "id-2")
    with pytest.raises(InputError, match="or one that is damaged"):
        corpus.get(Place(0, len(first)))
    with pytest.raises(InputError, match="no row at 5"):
        corpus.get(Place(0, 5))


def test_a_line_that_is_too_long_is_passed_over_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path, (3,), "jsonl")
    path = tmp_path / "part-00000.jsonl"
    first, second, last = path.read_bytes().splitlines(keepends=True)
    long = second.replace(b"Text 1.", b"x" * 5000)
    path.write_bytes(first + long + last)
    monkeypatch.setattr("mainmatter.corpus.reading._LONGEST_LINE_LISTED", 1000)
    monkeypatch.setattr("mainmatter.corpus.reading._BUFFER", 512)
    corpus = StoredCorpus(str(tmp_path))
    shown = [row.get("problem") or row["id"] for _, row in corpus.find(Wish()).rows]
    assert shown == ["id-0", f"the line at byte {len(first)} has {len(long):,} bytes, too many to look at", "id-2"]
    assert len(corpus.get(Place(0, len(first)))["text"]) == 5000


def test_blank_lines_take_no_longer_than_a_search_may(tmp_path: Path) -> None:
    write_rows(tmp_path, (2,), "jsonl")
    path = tmp_path / "part-00000.jsonl"
    first, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b"\n" * 5 + last + b"\n")
    corpus = StoredCorpus(str(tmp_path))
    listings = walk(corpus, seconds=0.0)
    assert len(listings) == 8
    assert ids_of(listings) == ["id-0", "id-1"]
    assert sum(listing.looked_at for listing in listings) == 2
    assert corpus.find(Wish(most=2)).after is None
    with pytest.raises(InputError, match="has no row"):
        corpus.get(Place(0, len(first)))


def test_rows_of_other_programs(tmp_path: Path) -> None:
    arrow, parquet = import_arrow()
    table = arrow.table({"id": [5, 67], "problem": ["theirs"] * 2, "key": ["theirs"] * 2, "title": [None, "x" * 600]})
    parquet.write_table(table, tmp_path / "part-00000.parquet")
    corpus = StoredCorpus(str(tmp_path))
    assert [row for _, row in corpus.find(Wish(words=("67",))).rows] == [{"id": 67, "title": "x" * 499 + "…"}]
    nested = "[" * 400 + "]" * 400
    (tmp_path / "rejects").mkdir()
    (tmp_path / "rejects/part-00000.jsonl").write_text(f'{{"problem":"x","key":"y","id":["z"],"detail":{nested}}}\n')
    [(_, reject)] = corpus.find(Wish(kept=False)).rows
    assert reject == {"id": "['z']", "detail": "[" * 400 + "]" * 99 + "…"}


@pytest.mark.parametrize("name", ["part-00000.jsonl", "rejects/part-00000.jsonl"])
def test_links_out_of_a_corpus_are_not_followed(tmp_path: Path, name: str) -> None:
    (tmp_path / "out/rejects").mkdir(parents=True)
    (tmp_path / "secret.jsonl").write_text('{"id": "secret", "detail": "secret"}\n')
    (tmp_path / "out" / name).symlink_to(tmp_path / "secret.jsonl")
    (tmp_path / "link").symlink_to(tmp_path / "out")  # the corpus itself may be reached by one
    corpus, kept = StoredCorpus(str(tmp_path / "link")), name.startswith("part")
    [(place, row)] = corpus.find(Wish(kept=kept)).rows
    assert row == {"problem": f"{name}: cannot be read: it is a link that leads out of the corpus"}
    with pytest.raises(InputError, match="leads out of the corpus"):
        corpus.get(place, kept=kept)
    (tmp_path / "out" / name).unlink()
    (tmp_path / "out" / name).write_text((tmp_path / "secret.jsonl").read_text())
    assert ids_of([corpus.find(Wish(kept=kept))]) == ["secret"]


def test_a_part_in_two_formats_is_refused(tmp_path: Path) -> None:
    write_rows(tmp_path, (3, 2), "parquet")
    StoredCorpus(str(tmp_path)).check()
    (tmp_path / "part-00001.jsonl").touch()
    with pytest.raises(InputError, match=r"holds a part in two formats, part-00001\.\*; move one of them"):
        StoredCorpus(str(tmp_path)).check()


def test_what_is_known_of_a_run(tmp_path: Path) -> None:
    crawl = crawls.write_warc(tmp_path / "crawl.warc.gz", crawls.pages(2))
    corpus = StoredCorpus(str(write_corpus(tmp_path / "out", [str(crawl)])))
    summary, plan = corpus.summary(), corpus.plan()
    assert summary is not None
    assert plan is not None
    assert (summary.kept, plan.inputs, plan.job.method) == (2, (str(crawl),), "density")
    (tmp_path / "out/summary.json").write_text("[]")
    (tmp_path / "out/_run/plan.json").write_text("{}")
    assert (corpus.summary(), corpus.plan()) == (None, None)
    for name in ("summary.json", "_run/plan.json"):
        (tmp_path / "out" / name).write_text("[" * 100_000)
    assert (corpus.summary(), corpus.plan()) == (None, None)
    with pytest.raises(InputError, match="holds no corpus; name the output folder"):
        StoredCorpus(str(tmp_path)).check()


# ---- back to the pages


def originals(out: Path) -> list[Page]:
    """The pages of all rows of a corpus, found again."""
    corpus = StoredCorpus(str(out))
    found = []
    for place, _ in corpus.find(Wish()).rows:
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
    summary = json.loads((tmp_path / "here/out/corpus/summary.json").read_text())
    (tmp_path / "here/out/corpus/summary.json").write_text(json.dumps(summary | {"out": "out/corpus"}))
    monkeypatch.chdir(tmp_path)
    shutil.move(tmp_path / "here", tmp_path / "there")
    assert len(originals(tmp_path / "there/out/corpus")) == 2
    shutil.move(tmp_path / "there/out/corpus", tmp_path / "alone")
    with pytest.raises(InputError, match=r"crawl\.warc\.gz is not there any more; perhaps it was moved"):
        originals(tmp_path / "alone")
    shutil.move(tmp_path / "there/crawl.warc.gz", tmp_path / "crawl.warc.gz")  # beside it
    assert len(originals(tmp_path / "alone")) == 2
    plan = tmp_path / "alone/_run/plan.json"
    plan.write_text(json.dumps(json.loads(plan.read_text()) | {"inputs": ["a/crawl.warc.gz", "b/crawl.warc.gz"]}))
    where = Whereabouts(str(tmp_path / "alone"))
    assert where.find("a/crawl.warc.gz") is None  # it may be the other one
    assert Whereabouts(str(tmp_path / "alone"), ["a/crawl.warc.gz"]).find("a/crawl.warc.gz") is not None
    assert Whereabouts(str(tmp_path / "alone"), [".", "..", "../secret"]).find("../secret") is None


def test_inputs_are_seen_from_where_the_run_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, name in enumerate(("here", "there")):
        (tmp_path / name / "pages").mkdir(parents=True)
        (tmp_path / name / "pages/a.html").write_bytes(crawls.page(number))
    monkeypatch.chdir(tmp_path / "here")
    write_corpus(tmp_path / "here/out", ["pages"])
    summary = json.loads((tmp_path / "here/out/summary.json").read_text())
    (tmp_path / "here/out/summary.json").write_text(json.dumps(summary | {"out": "out"}))
    monkeypatch.chdir(tmp_path / "there")
    assert [page.html for page in originals(tmp_path / "here/out")] == [crawls.page(0)]


def test_inputs_above_the_folder_of_the_run_are_found(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "made/out").mkdir(parents=True)
    (tmp_path / "data/rows.jsonl").touch()
    (tmp_path / "made/out/summary.json").write_text('{"out": "../made/out"}')  # as it was named from beside "made"
    where = Whereabouts(str(tmp_path / "made/out"), ["../data/rows.jsonl", "rows.jsonl"])
    assert where.find("../data/rows.jsonl") == tmp_path / "data/rows.jsonl"
    assert where.find("rows.jsonl") is None  # who knows what that folder was called


def test_what_cannot_be_found_again_is_told(tmp_path: Path) -> None:
    crawl = crawls.write_warc(tmp_path / "crawl.warc.gz", crawls.pages(2))
    out = write_corpus(tmp_path / "out", [str(crawl)])
    position = StoredCorpus(str(out)).get(Place(0, 0))["position"]
    with pytest.raises(InputError, match="another page is there now"):
        read_original(str(out), 0, str(crawl), position, "<urn:uuid:other>")
    empty = tmp_path / "empty.html"
    empty.write_bytes(b"%PDF-1.4")
    alone = write_corpus(tmp_path / "alone", [str(empty)])
    with pytest.raises(InputError, match=r"cannot be read as a page: not-a-page: is a PDF"):
        read_original(str(alone), 0, str(empty), 0)
    with pytest.raises(InputError, match="is not found in"):
        read_original(str(out), 0, str(crawl), position + 1)
    with pytest.raises(InputError, match="the plan of the run has no"):
        read_original(str(out), 0, "/etc/hostname", 0)
    shards = out / "_run/shards-00000.json"
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
        with pytest.raises(InputError, match="is gone or damaged"):
            read_original(str(out), 0, "a", 0)
    shutil.rmtree(out / "_run")
    with pytest.raises(InputError, match="is gone or damaged"):
        originals(out)


@pytest.mark.parametrize("files", [["../secret.html"], ["link.html"]])
def test_a_corpus_leads_to_its_inputs_and_nowhere_else(tmp_path: Path, files: list[str]) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/0.html").write_bytes(crawls.page(0))
    (tmp_path / "secret.html").write_bytes(crawls.page(1))
    (tmp_path / "pages/link.html").symlink_to(tmp_path / "secret.html")
    out = write_corpus(tmp_path / "out", [str(tmp_path / "pages/0.html")])
    one = {"kind": "files", "path": str(tmp_path / "pages"), "start": 0, "end": 1, "files": files}
    (out / "_run/shards-00000.json").write_text(json.dumps([[one]]))
    with pytest.raises(InputError, match="is none of the inputs of the run"):
        read_original(str(out), 0, one["path"], 0)  # type: ignore[arg-type]
    one |= {"path": str(tmp_path), "files": ["secret.html"]}
    (out / "_run/shards-00000.json").write_text(json.dumps([[one]]))
    with pytest.raises(InputError, match="is none of the inputs of the run"):
        read_original(str(out), 0, str(tmp_path), 0)


# ---- pages that nobody cleaned yet


def test_pages_that_nobody_cleaned_are_listed_too(tmp_path: Path) -> None:
    wanted = [html for _, html in sorted(crawls.pages(3).items())]
    for name, path in inputs_of_all_kinds(tmp_path).items():
        corpus = UnbuiltCorpus(str(path))
        corpus.check()
        listings = walk(corpus, most=2)
        pages = [corpus.page(place).html for listing in listings for place, _ in listing.rows]
        found = [html if isinstance(html, bytes) else html.encode() for html in pages]
        assert found == ([crawls.page(7)] if name == "alone.html" else wanted), name
        assert ids_of(walk(corpus, seconds=0.0)) == ids_of(listings), name
        place, row = listings[0].rows[0]
        assert corpus.get(place) == row
        with pytest.raises(InputError, match="no such page"):
            corpus.get(Place(place.part, place.at + 1_000_000))
    found_by_word = walk(UnbuiltCorpus(str(tmp_path / "crawl.warc.gz")), words=("ORG/2",))
    assert [row["url"] for _, row in found_by_word[0].rows] == ["https://example.org/2"]


def test_pages_may_be_named_with_a_scheme(tmp_path: Path) -> None:
    for path in inputs_of_all_kinds(tmp_path).values():
        assert ids_of(walk(UnbuiltCorpus(f"file://{path}")))


def test_what_is_no_page_is_told(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "secret.html").write_bytes(crawls.page(1))
    (tmp_path / "pages/a.html").write_bytes(b"%PDF-1.4")
    (tmp_path / "pages/b.html").symlink_to(tmp_path / "secret.html")
    (tmp_path / "pages/c.html").write_bytes(crawls.page(2))
    (tmp_path / "pages/d.jsonl").symlink_to(tmp_path / "secret.html")
    corpus = UnbuiltCorpus(str(tmp_path / "pages"))
    assert ids_of(walk(corpus)) == ["c.html"]
    [(first, pdf), (second, link), (third, archive)] = walk(corpus, kept=False)[0].rows
    assert (pdf["id"], pdf["reason"]) == ("a.html", "not-a-page")
    assert link["detail"] == archive["detail"] == "it is a link that leads out of the folder"
    for place in (first, second, third):
        with pytest.raises(InputError, match="cannot be read as a page"):
            corpus.page(place)
        with pytest.raises(InputError, match="no such page"):
            corpus.get(place)
        assert corpus.get(place, kept=False)["reason"] in ("not-a-page", "unreadable")


def test_nothing_is_fetched_to_look_at_pages(tmp_path: Path) -> None:
    (tmp_path / "some.urls").write_text("https://example.org/\n")
    for name in (str(tmp_path / "some.urls"), "https://example.org/page", "s3://bucket/crawl.warc.gz"):
        with pytest.raises(InputError, match="would have to be fetched"):
            UnbuiltCorpus(name).check()
