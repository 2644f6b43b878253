"""Folders of earlier versions, with `_run`, `rejects` and `summary.json`: whatever reads a corpus reads them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crawls import files_of, pages, write_warc
from mainmatter import InputError
from mainmatter.corpus import Filters, Job, build_corpus
from mainmatter.corpus.browse import ListingQuery, StoredCorpus
from mainmatter.corpus.folder import Folder, old_name
from mainmatter.corpus.originals import read_original
from mainmatter.corpus.readers import find_shards
from mainmatter.corpus.report import corpus_report, read_facts
from mainmatter.corpus.search import Corpus
from stored_corpora import ids_of, to_old_folder

if TYPE_CHECKING:
    from pathlib import Path

JOB = Job(method="density", format="jsonl", filters=Filters(min_words=20), shard_size=1000)
CONTENTS = pages(4) | {"https://example.org/4": b"<p>Short.</p>"}


@pytest.fixture(name="made", scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    crawl = write_warc(folder / "crawl.warc.gz", CONTENTS)
    build_corpus([str(crawl)], str(folder / "out"), JOB, workers=1)
    to_old_folder(folder / "out")
    return folder


@pytest.fixture
def crawl(made: Path) -> str:
    return str(made / "crawl.warc.gz")


@pytest.fixture
def out(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made / "out", tmp_path / "out")


def names_in(out: Path) -> list[str]:
    return sorted(one.name for one in out.iterdir() if not one.name.startswith("part-"))


def test_they_are_looked_at_searched_and_reported(out: Path) -> None:
    corpus = StoredCorpus(str(out))
    summary, plan = corpus.summary(), corpus.plan()
    assert (summary is not None and summary.kept, plan and plan.job) == (4, JOB)
    kept = corpus.find(ListingQuery())
    assert len(ids_of([kept])) == 4
    [(place, reject)] = corpus.find(ListingQuery(kept=False)).rows
    assert (reject["reason"], reject["url"]) == ("length", "https://example.org/4")
    page = read_original(str(out), place.part, reject["source"], reject["position"], reject["id"])
    assert page.html == b"<p>Short.</p>"
    assert Corpus.find([out]).count() == 4
    assert [one.reason for one in read_facts(str(out)).rejects["length"]] == ["length"]
    assert "4 of 5 pages kept" in corpus_report(out)


def test_they_are_read_as_input_without_their_rejects(out: Path) -> None:
    (out / "summary.jsonl").write_text('{"text": "x"}\n')  # somebody's own
    found = {one.path for shard in find_shards([str(out)]) for one in shard}
    assert found == {str(path) for path in (*out.glob("part-*"), out / "summary.jsonl")}
    (out / "summary.json").unlink()
    with pytest.raises(InputError, match="the corpus in it is not complete"):
        find_shards([str(out)])
    with pytest.raises(InputError, match="is not finished"):
        Corpus.find([out])


def test_a_run_that_began_there_goes_on_there(out: Path, crawl: str) -> None:
    assert build_corpus([crawl], str(out), JOB).was_done
    expected = {name: data for name, data in files_of(out).items() if not name.startswith("_run/")}
    (out / "summary.json").unlink()
    (out / "_run/clean-00001.json").unlink()
    (out / "part-00001.jsonl").unlink()
    with pytest.raises(InputError, match="text_format was 'text' and is now 'html'"):
        build_corpus([crawl], str(out), replace(JOB, text_format="html"))
    summary = build_corpus([crawl], str(out), JOB, workers=1)
    assert (summary.kept, 0 < summary.earlier_pages < 5) == (4, True)
    assert names_in(out) == ["_run", "rejects", "summary.json"]
    assert files_of(out).items() >= expected.items()
    assert StoredCorpus(str(out)).summary() == summary


def test_begun_anew_it_has_the_new_names(out: Path, crawl: str) -> None:
    expected = {name: data for name, data in files_of(out).items() if not name.startswith("_run/")}
    assert build_corpus([crawl], str(out), JOB, workers=1, restart=True).kept == 4
    assert names_in(out) == [".huggingface.yaml", "__about", "__run"]
    assert {old_name(name): data for name, data in files_of(out).items()}.items() >= expected.items()


def test_names_of_both(tmp_path: Path) -> None:
    for name, old in (
        ("__run/plan.json", "_run/plan.json"),
        ("__about/rejects/part-00000.jsonl", "rejects/part-00000.jsonl"),
        ("__about/summary.json", "summary.json"),
        ("part-00000.jsonl", "part-00000.jsonl"),
    ):
        assert old_name(name) == old
    assert not Folder(str(tmp_path)).is_old
    (tmp_path / "rejects").mkdir()
    assert Folder(str(tmp_path)).is_old
    (tmp_path / "__about").mkdir()
    assert not Folder(str(tmp_path)).is_old
