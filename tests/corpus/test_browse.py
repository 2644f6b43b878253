"""A corpus that was built is looked at in small pieces, whatever is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import crawls
from mainmatter.corpus.browse import LISTED, ListingQuery, Place, StoredCorpus
from mainmatter.corpus.folder import Folder, rejects_name
from mainmatter.corpus.records import Reject
from mainmatter.corpus.writers import import_arrow, rejects_to_bytes
from mainmatter.errors import InputError
from stored_corpora import ids_of, walk, write_corpus, write_rows

if TYPE_CHECKING:
    from pathlib import Path


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


def test_every_page_is_listed_once(rows: tuple[StoredCorpus, list[str]]) -> None:
    corpus, ids = rows
    listings = walk(corpus, most=97)
    assert ids_of(listings) == ids
    assert {len(listing.rows) for listing in listings[:-1]} == {97}
    assert set(listings[0].rows[0][1]) <= set(LISTED)
    assert ids_of(walk(corpus, most=7, kept=False)) == [f"r-{i}" for i in (*range(10), *range(20, 30))]
    assert ids_of([corpus.find(ListingQuery(start=Place(2, 0), most=2))]) == ["id-1203", "id-1204"]
    assert corpus.find(ListingQuery(start=Place(9, 0))).rows == []


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
    reject = corpus.get(corpus.find(ListingQuery(kept=False)).rows[3][0], kept=False)
    assert reject["detail"] == "has 3 words"
    for place in (Place(0, 5_000_000), Place(1, 0), Place(7, 0)):
        with pytest.raises(InputError, match=r"row at .* is missing or damaged|no such page|no longer exists"):
            corpus.get(place)


def test_rows_are_found_by_their_numbers(rows: tuple[StoredCorpus, list[str]]) -> None:
    corpus, ids = rows
    wanted = (1242, 0, 1203, 999, 5_000)
    places = corpus.places_of(wanted)
    assert set(places) == {1242, 0, 1203, 999}
    assert [row["id"] for row in corpus.get_listed(list(places.values()))] == [ids[number] for number in places]
    assert corpus.places_of(wanted, seconds=-1.0) == {}
    gone = corpus.get_listed([Place(0, 5_000_000), Place(7, 0)])
    assert [row["problem"] for row in gone] == ["the page no longer exists"] * 2


def test_no_more_is_read_than_is_listed(tmp_path: Path) -> None:
    write_rows(tmp_path, (60, 10, 10), "parquet")
    (tmp_path / "part-00001.parquet").write_bytes(b"PAR1, but damaged")
    corpus = StoredCorpus(str(tmp_path))
    listing = corpus.find(ListingQuery(most=50))
    assert (len(listing.rows), listing.after) == (50, Place(0, 50))
    assert all("problem" not in row for _, row in listing.rows)
    rest = [row for _, row in corpus.find(ListingQuery(start=listing.after)).rows]
    assert rest[10]["problem"].startswith("part-00001.parquet: cannot be read: ")
    assert [row["id"] for row in rest[11:]] == [f"id-{i}" for i in range(70, 80)]
    with pytest.raises(InputError, match=r"part-00001\.parquet: cannot be read"):
        corpus.get(Place(1, 0))
    write_rows(tmp_path / "groups", (1100,), "parquet")
    part = tmp_path / "groups/part-00000.parquet"
    part.write_bytes(b"PAR1" + bytes(3000) + part.read_bytes()[3004:])  # the first group is damaged
    assert ids_of([StoredCorpus(str(part.parent)).find(ListingQuery(start=Place(0, 1000), most=1))]) == ["id-1000"]


def test_a_corpus_in_a_folder_called_rejects(tmp_path: Path) -> None:
    write_rows(tmp_path / "rejects", (3,), "jsonl")
    corpus = StoredCorpus(str(tmp_path / "rejects"))
    assert all("text" not in row for _, row in corpus.find(ListingQuery()).rows)
    assert "text" in corpus.get(Place(0, 0))
    with pytest.raises(InputError, match="is missing or damaged"):
        corpus.get(Place(0, 10**30))


def test_a_damaged_line_is_told(tmp_path: Path) -> None:
    write_rows(tmp_path, (3,), "jsonl")
    path = tmp_path / "part-00000.jsonl"
    first, _, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b"[1]\n\nnonsense\n" + last)
    corpus = StoredCorpus(str(tmp_path))
    shown = [row.get("problem") or row["id"] for _, row in corpus.find(ListingQuery(words=("id-2",))).rows]
    assert shown[0] == f"the line at byte {len(first)} is damaged: not a JSON object"
    assert (len(shown), shown[-1]) == (3, "id-2")
    with pytest.raises(InputError, match="is missing or damaged"):
        corpus.get(Place(0, len(first)))
    with pytest.raises(InputError, match="the row at 5 is missing"):
        corpus.get(Place(0, 5))


def test_a_line_that_is_too_long_is_passed_over_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path, (3,), "jsonl")
    path = tmp_path / "part-00000.jsonl"
    first, second, last = path.read_bytes().splitlines(keepends=True)
    long = second.replace(b"Text 1.", b"x" * 5000)
    path.write_bytes(first + long + last)
    monkeypatch.setattr("mainmatter.corpus.browse.LONGEST_LINE_LISTED", 1000)
    monkeypatch.setattr("mainmatter.corpus.browse._BUFFER", 512)
    corpus = StoredCorpus(str(tmp_path))
    shown = [row.get("problem") or row["id"] for _, row in corpus.find(ListingQuery()).rows]
    assert shown == ["id-0", f"the line at byte {len(first)} has {len(long):,} bytes, too many to show", "id-2"]
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
    assert corpus.find(ListingQuery(most=2)).after is None
    with pytest.raises(InputError, match="is missing or damaged"):
        corpus.get(Place(0, len(first)))


def test_rows_of_other_programs(tmp_path: Path) -> None:
    arrow, parquet = import_arrow()
    table = arrow.table({"id": [5, 67], "problem": ["theirs"] * 2, "key": ["theirs"] * 2, "title": [None, "x" * 600]})
    parquet.write_table(table, tmp_path / "part-00000.parquet")
    corpus = StoredCorpus(str(tmp_path))
    assert [row for _, row in corpus.find(ListingQuery(words=("67",))).rows] == [{"id": 67, "title": "x" * 499 + "…"}]
    nested = "[" * 400 + "]" * 400
    rejects = tmp_path / "__about/rejects"
    rejects.mkdir(parents=True)
    (rejects / "part-00000.jsonl").write_text(f'{{"problem":"x","key":"y","id":["z"],"detail":{nested}}}\n')
    [(_, reject)] = corpus.find(ListingQuery(kept=False)).rows
    assert reject == {"id": "['z']", "detail": "[" * 400 + "]" * 99 + "…"}


@pytest.mark.parametrize("name", ["part-00000.jsonl", "__about/rejects/part-00000.jsonl", "rejects/part-00000.jsonl"])
def test_links_out_of_a_corpus_are_not_followed(tmp_path: Path, name: str) -> None:
    (tmp_path / "out" / name).parent.mkdir(parents=True)
    (tmp_path / "secret.jsonl").write_text('{"id": "secret", "detail": "secret"}\n')
    (tmp_path / "out" / name).symlink_to(tmp_path / "secret.jsonl")
    (tmp_path / "link").symlink_to(tmp_path / "out")  # the corpus itself may be reached by one
    corpus, kept = StoredCorpus(str(tmp_path / "link")), name.startswith("part")
    [(place, row)] = corpus.find(ListingQuery(kept=kept)).rows
    assert row == {"problem": f"{name}: cannot be read: it is a link that leads out of the corpus"}
    with pytest.raises(InputError, match="leads out of the corpus"):
        corpus.get(place, kept=kept)
    (tmp_path / "out" / name).unlink()
    (tmp_path / "out" / name).write_text((tmp_path / "secret.jsonl").read_text())
    assert ids_of([corpus.find(ListingQuery(kept=kept))]) == ["secret"]


def test_a_part_in_two_formats_is_refused(tmp_path: Path) -> None:
    write_rows(tmp_path, (3, 2), "parquet")
    StoredCorpus(str(tmp_path)).check()
    (tmp_path / "part-00001.jsonl").touch()
    with pytest.raises(InputError, match=r"has the same part in two formats, part-00001\.\*; move one of them"):
        StoredCorpus(str(tmp_path)).check()


def test_what_is_known_of_a_run(tmp_path: Path) -> None:
    crawl = crawls.write_warc(tmp_path / "crawl.warc.gz", crawls.pages(2))
    corpus = StoredCorpus(str(write_corpus(tmp_path / "out", [str(crawl)])))
    summary, plan = corpus.summary(), corpus.plan()
    assert summary is not None
    assert plan is not None
    assert (summary.kept, plan.inputs, plan.job.method) == (2, (str(crawl),), "density")
    (tmp_path / "out/__about/summary.json").write_text("[]")
    (tmp_path / "out/__run/plan.json").write_text("{}")
    assert (corpus.summary(), corpus.plan()) == (None, None)
    for name in ("__about/summary.json", "__run/plan.json"):
        (tmp_path / "out" / name).write_text("[" * 100_000)
    assert (corpus.summary(), corpus.plan()) == (None, None)
    with pytest.raises(InputError, match="not a corpus; name the output folder"):
        StoredCorpus(str(tmp_path)).check()
