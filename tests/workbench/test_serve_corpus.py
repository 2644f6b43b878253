"""/api/corpora, and pages of a corpus in /api/inspect: what was named on the command line, and nothing else."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")
pytest.importorskip("pyarrow", reason="needs the extra corpus")
pytest.importorskip("fastwarc", reason="needs the extra corpus")
pytest.importorskip("tantivy", reason="needs the extra search")
from click.testing import CliRunner
from fastapi.testclient import TestClient

import crawls
from mainmatter import clean
from mainmatter.cli import group
from mainmatter.corpus.browse import ListingQuery
from mainmatter.corpus.search import build_index
from mainmatter.errors import CorpusError, InputError
from mainmatter.limits import DEFAULT_LIMITS
from mainmatter.workbench.app import make_app
from mainmatter.workbench.corpus import (
    LONGEST_FACT,
    MOST_BLOCKS,
    MOST_TEXT,
    CorpusSource,
    Key,
    find_in_order,
    find_pages,
    get_stored,
    name_corpora,
)
from mainmatter.workbench.settings import Settings
from stored_corpora import give_values, write_corpus, write_rows
from timing import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGES = crawls.pages(70) | {"https://example.org/short": b"<title>Short</title><p>Too short.</p>"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two corpora of one crawl; the archive of the second is gone."""
    folder = tmp_path_factory.mktemp("corpora")
    crawl = crawls.write_warc(folder / "crawl.warc.gz", PAGES)
    write_corpus(folder / "out", [str(crawl)], min_words=10)
    give_values(folder / "out", "confidence", [round(1 - i / 100, 2) for i in range(70)])
    give_values(folder / "out", "page_type", ["forum" if i % 10 == 0 else "article" for i in range(70)])
    build_index(folder / "out", folder / "out/__index")
    gone = crawls.write_warc(folder / "gone.warc.gz", crawls.pages(2))
    write_corpus(folder / "other/out", [str(gone)], format="jsonl", blocks=True)
    gone.unlink()
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    corpora = (str(folder / "out"), str(folder / "other/out"), str(folder / "crawl.warc.gz"))
    settings = Settings(folder=folder / "workbench", workers=1, corpora=corpora)
    with TestClient(make_app(settings), base_url="http://127.0.0.1") as client:
        yield client


def get(client: TestClient, path: str, status: int = 200, **query: Any) -> Any:
    answer = client.get(f"/api/corpora{path}", params=query)
    assert answer.status_code == status, answer.text
    return answer.json()


def inspect(client: TestClient, name: str, page: str, status: int = 200) -> Any:
    answer = client.post("/api/inspect", json={"corpus": {"name": name, "page": page}, "method": "density"})
    assert answer.status_code == status, answer.text
    return answer.json()


def test_corpora_have_names_and_no_paths(client: TestClient, folder: Path) -> None:
    assert get(client, "") == {"corpora": [{"name": "out"}, {"name": "out (2)"}, {"name": "crawl.warc.gz"}]}
    about = get(client, "/out")
    assert (about["summary"]["pages"], about["summary"]["kept"]) == (71, 70)
    assert (about["summary"]["rejects"], about["method"], about["is_finished"]) == ({"length": 1}, "density", True)
    assert about["inputs"] == [str(folder / "crawl.warc.gz")]
    assert about["summary"]["out"] == ""
    for name in ("nothing", "...", "..%2fout", "%2fetc", "out%2f_run"):
        answer = client.get(f"/api/corpora/{name}")
        assert answer.status_code in (404, 422), name
        assert str(folder) not in answer.text


def test_pages_are_listed_some_at_a_time(client: TestClient) -> None:
    first = get(client, "/out/pages")
    assert (len(first["pages"]), first["ran_out"]) == (50, False)
    second = get(client, "/out/pages", start=first["next"])
    assert second["next"] is None
    urls = [page["url"] for page in first["pages"] + second["pages"]]
    assert urls == [f"https://example.org/{i}" for i in range(70)]
    one = first["pages"][3]
    assert (one["title"], one["language"], one["words"] > 50) == ("Day 3", "en", True)
    [rejected] = get(client, "/out/pages", rejected=True)["pages"]
    assert (rejected["reason"], rejected["url"]) == ("length", "https://example.org/short")
    assert get(client, "/out/pages", rejected=True, reason="empty")["pages"] == []
    found = get(client, "/out/pages", find="day org/6")
    assert [page["title"] for page in found["pages"]] == ["Day 6", *(f"Day {i}" for i in range(60, 70))]
    assert found["looked_at"] == 70
    for wrong in ({"start": "../1"}, {"start": "x"}, {"find": "x" * 201}):
        get(client, "/out/pages", 422, **wrong)


def test_pages_are_sorted_and_filtered(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def titles(answer: Any) -> list[int]:
        return [int(page["title"].removeprefix("Day ")) for page in answer["pages"]]

    first = get(client, "/out/pages", sort="least-sure")
    assert titles(first) == list(range(69, 19, -1))
    assert (first["next"], first["ran_out"], first["looked_at"]) == ("0-50", False, 70)
    assert titles(get(client, "/out/pages", sort="least-sure", start="0-50")) == list(range(19, -1, -1))
    chosen: dict[str, Any] = {"page_type": "forum", "most_confidence": 0.75}
    assert titles(get(client, "/out/pages", **chosen)) == [30, 40, 50, 60]
    assert titles(get(client, "/out/pages", sort="surest", **chosen, find="/4")) == [40]
    assert get(client, "/out/pages", least_words=10**6)["pages"] == []
    assert get(client, "/out/pages", rejected=True, sort="longest", language="de")["pages"] != []  # these have neither
    for wrong in ({"sort": "random"}, {"least_confidence": 2}, {"most_words": -1}, {"colour": "red"}):
        get(client, "/out/pages", 422, **wrong)
    assert "these pages have not been cleaned yet" in get(client, "/crawl.warc.gz/pages", 422, sort="longest")["error"]
    monkeypatch.setattr("mainmatter.workbench.corpus.SECONDS", 0.0)
    steps = [get(client, "/out/pages", sort="shortest")]
    while steps[-1]["ran_out"]:
        again = get(client, "/out/pages", sort="shortest")  # what is known is not read again
        assert again["looked_at"] == steps[-1]["looked_at"]
        steps.append(get(client, "/out/pages", sort="shortest", go_on=True))
    assert [step["looked_at"] for step in steps] == [0, 70]


def test_beyond_the_first_pages_of_an_order_more_of_it_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mainmatter.workbench.corpus.PAGES", 10)
    monkeypatch.setattr("mainmatter.workbench.corpus.MOST_ORDERED", (20, 40))
    out, wish, known = str(folder / "out"), ListingQuery(), None
    for start, held, following in ((0, 20, "0-10"), (10, 20, "0-20"), (20, 40, "0-30"), (30, 40, None)):
        payload, known = find_in_order(out, "longest", wish, start, known, go_on=False)
        assert (len(known.ranked), json.loads(payload.body)["next"]) == (held, following)


def test_texts_are_searched_if_there_is_an_index(client: TestClient, folder: Path) -> None:
    assert get(client, "/out")["has_index"]
    found = get(client, "/out/search", find='"Day 17"')
    assert (found["total"], found["next"]) == (1, None)
    [page] = found["pages"]
    assert (page["title"], page["key"], page["confidence"]) == ("Day 17", "kept-0-17", 0.83)
    assert {page["snippet"][start:end].lower() for start, end in page["marks"]} <= {"day", "17"}
    assert len(get(client, "/out/search", find="ferry")["pages"]) == 50
    assert len(get(client, "/out/search", find="ferry", start=50)["pages"]) == 20
    assert "cannot be understood" in get(client, "/out/search", 422, find="(ferry")["error"]
    assert not get(client, "/out (2)")["has_index"]
    missing = get(client, "/out (2)/search", 422, find="ferry")
    assert missing["hint"] == "make one with: mainmatter index OUT, where OUT is its folder"
    other = folder / "other/out/__index"
    build_index(folder / "out", other)  # of another corpus
    page = get(client, "/out (2)/search", find='"Day 1"')["pages"][0]
    assert (page["title"], page["key"]) == ("Day 1", "kept-0-" + page["key"].rpartition("-")[2])
    strange = get(client, "/out (2)/search", find='"Day 17"')
    assert (strange["pages"][0]["key"], strange["pages"][0]["title"]) == (None, "Day 17")
    shutil.rmtree(other)
    other.symlink_to(folder / "out/__index")
    assert not get(client, "/out (2)")["has_index"]  # it leads out of the corpus
    other.unlink()


def test_the_least_sure_are_added_to_the_store(client: TestClient) -> None:
    def add(**asked: Any) -> Any:
        job = client.post("/api/annotate/imports/corpus", json=asked)
        assert job.status_code == 202, job.text
        address = f"/api/annotate/imports/{job.json()['id']}"
        wait_until(lambda: client.get(address).json()["state"] != "running")
        return client.get(address).json()

    job = add(name="out", most=3, page_type="forum")
    assert (job["state"], job["added"], job["known"], job["rejected"]) == ("done", 3, 0, 0), job
    job = add(name="out", most=5, least_confidence=0.36)
    assert (job["added"], job["known"]) == (4, 1), job
    rows = client.get("/api/annotate/pages", params={"annotator": "x"}).json()["pages"]
    assert [row["note"] for row in rows] == [f"confidence {x}" for x in "0.40 0.50 0.60 0.36 0.37 0.38 0.39".split()]
    assert (rows[0]["url"], rows[0]["source"]) == ("https://example.org/60", "out#kept-0-60")
    job = add(name="out (2)")
    assert (job["state"], "does not say how sure" in job["message"]) == ("failed", True)
    assert "holds no page" in add(name="out", language="fi")["message"]
    assert client.post("/api/annotate/imports/corpus", json={"name": "nothing"}).status_code == 422


def test_what_a_corpus_holds_of_a_page(client: TestClient) -> None:
    key = get(client, "/out/pages", find="org/7")["pages"][0]["key"]
    page = get(client, f"/out/pages/{key}")
    assert page["text"] == clean(PAGES["https://example.org/7"], method="density").text
    assert (page["kept"], page["facts"]["title"], page["blocks"]) == (True, "Day 7", None)
    with_blocks = get(client, "/out (2)/pages/kept-0-0")
    assert {block["label"] for block in with_blocks["blocks"]} == {"main", "boilerplate"}
    rejected = get(client, "/out/pages/rejected-0-0")
    assert (rejected["text"], rejected["facts"]["detail"]) == (None, "2 words, fewer than 10")
    for wrong in ("kept-0-70", "kept-9-0", "rejected-1-0", "rejected-0-3", "kept-0", "kept-0-..%2f..", "other-0-0"):
        answer = client.get(f"/api/corpora/out/pages/{wrong}")
        assert answer.status_code in (404, 422), wrong


def test_the_page_itself_is_inspected(client: TestClient) -> None:
    key = get(client, "/out/pages", find="org/7")["pages"][0]["key"]
    answer = inspect(client, "out", key)
    assert answer["page"]["url"] == "https://example.org/7"
    assert answer["blocks"]["texts"] == clean(PAGES["https://example.org/7"], method="density").document.texts
    frame = client.get(f"/frame/{answer['frame']}")
    assert "mm-block" in frame.text
    again = client.post("/api/inspect", json={"frame": answer["frame"], "method": "main"})
    assert again.json()["method"] == "main"
    assert inspect(client, "out", "rejected-0-0")["metadata"]["title"] == "Short"
    compared = {"corpus": {"name": "out", "page": key}, "methods": ["main", "density"]}
    assert client.post("/api/compare", json=compared).status_code == 200


def test_a_page_that_cannot_be_found_again_is_told(client: TestClient, folder: Path) -> None:
    answer = inspect(client, "out (2)", "kept-0-0", 422)
    assert answer["error"] == f"the original page cannot be shown: {folder}/gone.warc.gz no longer exists"
    assert answer["hint"] == "it may have been moved"
    missing = get(client, "/out/pages/kept-9-0", 422)
    assert missing["error"] == "the corpus has no such page"
    assert missing["hint"] == "check that the corpus and its inputs are still in place and undamaged"
    assert "no such corpus" in inspect(client, "nothing", "kept-0-0", 422)["error"]
    both = client.post("/api/inspect", json={"corpus": {"name": "out", "page": "kept-0-0"}, "html": "<p>x</p>"})
    assert "send html or corpus, not both" in both.json()["error"]


def test_pages_that_were_not_cleaned(client: TestClient) -> None:
    about = get(client, "/crawl.warc.gz")
    assert (about["is_built"], about["summary"]) == (False, None)
    first = get(client, "/crawl.warc.gz/pages")
    assert len(first["pages"]) == 50
    last = get(client, "/crawl.warc.gz/pages", start=first["next"])["pages"][-1]
    assert (last["url"], last["size"]) == ("https://example.org/short", len(PAGES["https://example.org/short"]))
    assert get(client, f"/crawl.warc.gz/pages/{last['key']}")["text"] is None
    assert inspect(client, "crawl.warc.gz", last["key"])["metadata"]["title"] == "Short"
    assert "no longer exists" in inspect(client, "crawl.warc.gz", "kept-0-99999999", 422)["error"]


def test_what_is_huge_is_cut(tmp_path: Path) -> None:
    write_rows(tmp_path, (1,), "jsonl")
    path = tmp_path / "part-00000.jsonl"
    blocks = ",".join(['{"text":"","kind":"paragraph","label":"main","score":1}'] * (MOST_BLOCKS + 1))
    more = f'"text":"{"x" * (MOST_TEXT + 1)}","blocks":[{blocks}],'
    path.write_text(path.read_text().replace('"text":"Text 0.",', more))
    shown = json.loads(get_stored(str(tmp_path), Key.parse("kept-0-0")).body)
    assert (len(shown["text"]), shown["characters"]) == (MOST_TEXT, MOST_TEXT + 1)
    assert (len(shown["blocks"]), shown["all_blocks"]) == (MOST_BLOCKS, MOST_BLOCKS + 1)


def test_rows_that_are_odd(tmp_path: Path) -> None:
    long = "x" * (LONGEST_FACT + 1)
    block = {"text": long, "kind": "paragraph"}
    rows: list[dict[str, Any]] = [
        {
            "key": "theirs",
            "problem": "theirs",
            "id": 5,
            "title": long,
            "blocks": [block, 7],
            "source": "a",
            "position": 0,
        },
        {"id": "b", "blocks": {"text": "x"}},
        {"id": "c", "blocks": 7, "text": ["x"]},
    ]
    (tmp_path / "part-00000.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    first, *others = json.loads(find_pages(str(tmp_path), ListingQuery(), DEFAULT_LIMITS).body)["pages"]
    assert first == {"key": "kept-0-0", "id": 5, "title": "x" * 499 + "…"}
    shown = json.loads(get_stored(str(tmp_path), Key.parse(first["key"])).body)
    assert shown["blocks"] == [block | {"text": "x" * (LONGEST_FACT - 1) + "…"}]
    assert len(shown["facts"]["title"]) == LONGEST_FACT
    for page in others:
        shown = json.loads(get_stored(str(tmp_path), Key.parse(page["key"])).body)
        assert (shown["text"], shown["blocks"], shown["all_blocks"]) == (None, None, 0)
    with pytest.raises(CorpusError, match="does not say where the page came from"):
        CorpusSource(out=str(tmp_path), key=Key.parse(first["key"]), limits=DEFAULT_LIMITS).get()


def test_corpora_are_named_by_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path / "out", (1,), "jsonl")
    (tmp_path / "out/__run").mkdir()
    monkeypatch.chdir(tmp_path / "out/__run")
    assert list(name_corpora([".."])) == ["out"]
    monkeypatch.chdir(tmp_path / "out")
    assert list(name_corpora([".", str(tmp_path / "out")])) == ["out", "out (2)"]


def test_what_is_no_corpus_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        make_app(Settings(folder=tmp_path, corpora=(str(tmp_path / "nothing"),)))
    run = CliRunner().invoke(group, ["serve", "--port", "0", "--corpus", str(tmp_path)])
    assert run.exit_code == 1
    assert "nothing to read there" in run.output
