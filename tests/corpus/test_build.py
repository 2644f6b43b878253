"""A crawl in, a corpus out: what is in it, that it goes on where it was, and what is refused."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import uuid
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from crawls import SENTENCE, files_of, page, pages, write_warc
from mainmatter import InputError, Page
from mainmatter.corpus import Filters, Job, Progress, build_corpus
from mainmatter.corpus.folder import INDEX, Folder
from mainmatter.corpus.guard import Task
from mainmatter.corpus.records import Record
from mainmatter.corpus.report import corpus_report
from mainmatter.corpus.search import build_index
from mainmatter.corpus.work import make_work
from mainmatter.corpus.writers import COLUMNS, mainmatter_version
from mainmatter.errors import UnknownName
from timing import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DENSITY = Job(method="density", format="jsonl")


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """An archive of six pages; the fifth repeats the first, the last has no text."""
    contents = pages(6) | {"https://example.org/4": page(0), "https://example.org/5": b"<html><body></body></html>"}
    return write_warc(tmp_path / "crawl.warc.gz", contents)


def rows(out: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line) for file in sorted(out.glob("part-*.jsonl")) for line in file.read_text("utf-8").splitlines()
    ]


def rejects(out: Path) -> list[dict[str, Any]]:
    files = sorted((out / "__about" / "rejects").glob("part-*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("templates", [False, True])
def test_what_is_no_page_is_a_reject(templates: bool, tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(2000)
    crawl = write_warc(tmp_path / "crawl.warc.gz", pages(3) | {"https://example.org/noise": noise})
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "noise.html").write_bytes(noise)
    job = Job(method="main" if templates else "density", format="jsonl", site_templates=templates)
    summary = build_corpus([str(crawl), str(tmp_path / "site")], str(tmp_path / "out"), job, workers=1)
    assert (summary.kept, summary.rejects) == (3, {"not-a-page": 2})
    told = {(one["reason"], one["url"], one["detail"].partition(": ")[2]) for one in rejects(tmp_path / "out")}
    words = "is neither HTML nor text, not a web page; give HTML, or a plain-text dump of a page"
    assert {detail.rpartition(": ")[2] for _, _, detail in told} == {words}
    assert {url for _, url, _ in told} == {"https://example.org/noise", None}


def test_jsonl_has_all_columns_rejects_have_reasons_and_the_summary_counts(crawl: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    seen: list[Progress] = []
    summary = build_corpus([str(crawl)], str(out), DENSITY, workers=1, report=seen.append)
    found = rows(out)
    assert [row["url"] for row in found] == [f"https://example.org/{number}" for number in range(5)]
    assert tuple(found[1]) == COLUMNS
    row = found[1]
    assert row["text"].startswith("On day 1 of the year, at hour 0: " + SENTENCE)
    assert (row["id"], row["time"]) == ("<urn:uuid:00000000-0000-0000-0000-000000000003>", "2024-05-06T07:08:09Z")
    assert (row["title"], row["language"], row["method"]) == ("Day 1", "en", "density")
    assert (row["version"], row["source"]) == (mainmatter_version(), str(crawl))
    assert row["words"] == len(row["text"].split())
    assert [(one["reason"], one["url"]) for one in rejects(out)] == [("empty", "https://example.org/5")]
    assert (summary.pages, summary.kept, summary.rejects) == (6, 5, {"empty": 1})
    assert (summary.skipped, summary.shards, summary.was_done) == ({"request": 6}, 1, False)
    assert summary.words == sum(row["words"] for row in found)
    assert summary.bytes == sum(len(html) for html in [*pages(4).values(), page(0), b"<html><body></body></html>"])
    assert json.loads((out / "__about/summary.json").read_text("utf-8")) == summary.to_json()
    assert (seen[-1].shards_done, seen[-1].pages, seen[-1].share) == (1, 6, 1.0)


def test_it_is_told_how_far_a_shard_on_remote_storage_is(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec")
    seen: list[Progress] = []

    def one_after_another(work: Any, numbers: list[int], *, on_note: Any, **_: Any) -> Iterator[Any]:
        def tell(note: dict[str, Any]) -> None:
            on_note(note)
            wait_until(lambda: any(one.pages for one in seen))  # it is reported

        for number in numbers:
            yield work(number, tell=tell)

    monkeypatch.setattr("mainmatter.corpus.engines.local.run_all", one_after_another)
    monkeypatch.setattr("mainmatter.corpus.build.TICK", 0.01)
    monkeypatch.setattr("mainmatter.corpus.shard.TOLD_EVERY", 0)
    summary = build_corpus([str(crawl)], f"memory://{uuid.uuid4().hex}", DENSITY, report=seen.append)
    under_way = next(one for one in seen if one.pages)
    assert 0 < under_way.pages < summary.pages == seen[-1].pages == 6
    assert 0 <= under_way.share < 1 == seen[-1].share


def test_parquet_holds_the_same_as_jsonl_and_blocks_on_request(crawl: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for format_ in ("parquet", "jsonl"):
        job = Job(method="density", format=format_, blocks=True)
        build_corpus([str(crawl)], str(tmp_path / format_), job, workers=1)
    table = parquet.read_table(tmp_path / "parquet" / "part-00000.parquet")
    assert table.to_pylist() == rows(tmp_path / "jsonl")
    assert tuple(table.column_names) == (*COLUMNS, "blocks")
    blocks = table.column("blocks")[0].as_py()
    assert [block["label"] for block in blocks if block["text"].startswith("On day")] == ["main"]
    assert set(blocks[0]) == {"text", "kind", "label", "score"}
    facts = parquet.ParquetFile(tmp_path / "parquet" / "part-00000.parquet").metadata.row_group(0).column(3)
    assert facts.compression == "ZSTD"


def test_the_text_may_be_markdown_and_nothing_else_changes(tmp_path: Path) -> None:
    bold = {url: html.replace(b"ferry", b"<b>ferry</b>") for url, html in pages(3).items()}
    italic = page(0).replace(b"island", b"<i>island</i>")  # the same text as the first page, with other markup
    crawl = write_warc(tmp_path / "crawl.warc.gz", bold | {"https://example.org/9": italic})
    as_text = replace(DENSITY, duplicates="exact", filters=Filters(languages=("en",)))
    plain = build_corpus([str(crawl)], str(tmp_path / "text"), as_text, workers=1)
    out, left_out = tmp_path / "markdown", ("words", "language", "url", "author")
    job = replace(as_text, text_format="markdown", without_columns=left_out, chunks=30, overlap=9)
    summary = build_corpus([str(crawl)], str(out), job, workers=1)
    assert (summary.kept, summary.words, summary.rejects) == (3, plain.words, {"duplicate": 1})
    assert summary.languages == plain.languages == {"en": 3}
    assert rejects(out) == rejects(tmp_path / "text")
    for row, before in zip(rows(out), rows(tmp_path / "text"), strict=True):
        assert row["text"].replace("**", "") == before["text"]
        assert "The **ferry** to the island" in row["text"]
        assert [row.get(name) for name in COLUMNS if name not in ("text", *left_out)] == [
            before[name] for name in COLUMNS if name not in ("text", *left_out)
        ]
        assert not row.keys() & set(left_out)
        assert len(row["chunks"]) > 2
        for chunk in row["chunks"]:
            assert chunk["text"] == before["text"][chunk["start"] : chunk["end"]]
            assert chunk["xpaths"]
            assert chunk["tokens"] <= 30
        assert any(after["start"] < chunk["end"] for chunk, after in pairwise(row["chunks"]))
    assert (
        "text as markdown, chunks of 30 tokens that repeat up to 9, without words, language, url, author"
        in corpus_report(out)
    )
    changes: list[dict[str, Any]] = [{"text_format": "html"}, {"without_columns": ()}, {"chunks": 31}, {"overlap": 8}]
    for change in changes:
        with pytest.raises(
            InputError, match=f"the run in this folder had other inputs or settings: {next(iter(change))[:7]}"
        ):
            build_corpus([str(crawl)], str(out), replace(job, **change))


@pytest.mark.parametrize(
    ("format_", "bold"), [("text", "ferry"), ("markdown", "**ferry**"), ("html", "<strong>ferry</strong>")]
)
def test_formats_of_the_text(format_: Any, bold: str) -> None:
    one = Record(Page(page(1).replace(b"ferry", b"<strong>ferry</strong>")), "crawl", 0)
    job = Job(method="density", text_format=format_)
    values, _ = make_work(Task("clean", job, ()))(one)
    assert isinstance(values, tuple)
    row = dict(zip(COLUMNS, values, strict=True))
    assert f"The {bold} to the island" in row["text"]
    assert row["words"] == 116


def test_filters_drop_pages_with_a_reason(crawl: Path, tmp_path: Path) -> None:
    job = Job(method="density", format="jsonl", filters=Filters(languages=("de",)))
    summary = build_corpus([str(crawl)], str(tmp_path / "out"), job, workers=1)
    assert (summary.kept, summary.rejects) == (0, {"empty": 1, "language": 5})
    assert (tmp_path / "out" / "part-00000.jsonl").read_bytes() == b""


def test_duplicates_are_rejects_that_name_the_page_that_they_repeat(crawl: Path, tmp_path: Path) -> None:
    for shard_size in (64_000_000, 1000):  # the same in one shard and in several
        out = tmp_path / f"out{shard_size}"
        job = Job(method="density", format="jsonl", duplicates="exact", shard_size=shard_size)
        summary = build_corpus([str(crawl)], str(out), job, workers=2)
        assert (summary.pages, summary.kept, summary.rejects) == (6, 4, {"duplicate": 1, "empty": 1})
        assert [row["url"][-1] for row in rows(out)] == ["0", "1", "2", "3"]
        reject = next(one for one in rejects(out) if one["reason"] == "duplicate")
        assert reject["detail"] == "repeats <urn:uuid:00000000-0000-0000-0000-000000000001>"
        assert reject["url"] == "https://example.org/4"
        assert summary.words == sum(row["words"] for row in rows(out))
        assert sorted(file.name for file in (out / "__run").iterdir() if file.is_dir()) == []


def test_site_templates_are_found_before_pages_are_cleaned(tmp_path: Path) -> None:
    notice = "All timetables are given without warranty; the harbour office decides what is done in stormy weather."
    contents = {
        f"https://example.org/{number}": page(number, f"</p><div><p>{notice}</p></div><p>") for number in range(8)
    }
    crawl = write_warc(tmp_path / "crawl.warc.gz", contents)
    build_corpus([str(crawl)], str(tmp_path / "without"), Job(method="ice-baseline", format="jsonl"), workers=1)
    assert all(notice in row["text"] for row in rows(tmp_path / "without"))
    parts = []
    for size in (64_000_000, 1500):
        job = Job(method="template", format="jsonl", site_templates=True, shard_size=size)
        summary = build_corpus([str(crawl)], str(tmp_path / str(size)), job, workers=2)
        assert summary.kept == 8
        parts.append([(row["url"], row["text"]) for row in rows(tmp_path / str(size))])
    assert parts[0] == parts[1]
    assert not any(notice in text for _, text in parts[0])
    with pytest.raises(InputError, match="'density' does not use what sites repeat; main and template do"):
        build_corpus([str(crawl)], str(tmp_path / "no"), Job(method="density", site_templates=True))
    saved = f"{tmp_path}/64000000/__run/site-templates"
    with pytest.raises(InputError, match="site-templates has already counted its sites"):
        build_corpus([str(crawl)], str(tmp_path / "no"), Job(method=saved, site_templates=True))
    with pytest.raises(InputError, match="'template' knows no site yet, and would keep all text; add --site-templates"):
        build_corpus([str(crawl)], str(tmp_path / "no"), Job(method="template:threshold=3"))
    build_corpus([str(crawl)], str(tmp_path / "saved"), Job(method=saved, format="jsonl"), workers=1)
    assert [(row["url"], row["text"]) for row in rows(tmp_path / "saved")] == parts[0]


# Going on, and what is refused


def test_a_finished_run_does_nothing_and_says_so(crawl: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = build_corpus([str(crawl)], str(out), DENSITY, workers=1)
    times = {file: file.stat().st_mtime_ns for file in out.rglob("*") if file.is_file()}
    second = build_corpus([str(crawl)], str(out), DENSITY, workers=1)
    assert second.was_done
    assert second.to_json() == first.to_json()
    assert {file: file.stat().st_mtime_ns for file in out.rglob("*") if file.is_file()} == times


def test_links_to_files_are_counted_or_followed(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/a.html").write_bytes(page(1))
    (tmp_path / "b.html").write_bytes(page(2))
    (tmp_path / "pages/b.html").symlink_to(tmp_path / "b.html")
    inputs = [str(tmp_path / "pages")]
    refused = build_corpus(inputs, str(tmp_path / "refused"), DENSITY, workers=1)
    assert (refused.kept, refused.pages, refused.skipped) == (1, 1, {"link": 1})
    followed = build_corpus(inputs, str(tmp_path / "followed"), replace(DENSITY, follow_links=True), workers=1)
    assert (followed.kept, followed.pages, followed.skipped) == (2, 2, {})


@pytest.mark.parametrize("damage", ["[]", "{", '{"rejects": [1]}', '{"pages": "many"}', '{"pages": 1}'])
def test_a_damaged_summary_is_told(crawl: Path, tmp_path: Path, damage: str) -> None:
    out = tmp_path / "out"
    summary = build_corpus([str(crawl)], str(out), DENSITY, workers=1)
    file = out / "__about/summary.json"
    file.write_text(damage)
    with pytest.raises(InputError, match=r"summary\.json is damaged"):
        build_corpus([str(crawl)], str(out), DENSITY, workers=1)
    file.unlink()
    assert build_corpus([str(crawl)], str(out), DENSITY, workers=1).kept == summary.kept


def test_done_shards_are_not_done_again(crawl: Path, tmp_path: Path) -> None:
    out, job = tmp_path / "out", Job(method="density", format="jsonl", shard_size=900)
    whole = build_corpus([str(crawl)], str(out), job, workers=1)
    assert whole.shards > 2
    expected = files_of(out)
    (out / "__about/summary.json").unlink()
    (out / "__run" / "clean-00001.json").unlink()
    (out / "part-00001.jsonl").write_bytes(b"half of it")
    (out / ".part-00001.jsonl.123").write_bytes(b"a draft of a process that was killed")
    untouched = (out / "part-00000.jsonl").stat().st_mtime_ns
    again = build_corpus([str(crawl)], str(out), job, workers=1)
    assert files_of(out) == expected
    assert (out / "part-00000.jsonl").stat().st_mtime_ns == untouched
    assert (again.pages, again.kept, again.words) == (whole.pages, whole.kept, whole.words)
    assert 0 < again.earlier_pages < 6


def test_a_search_index_goes_with_its_corpus(crawl: Path, tmp_path: Path) -> None:
    pytest.importorskip("tantivy")
    out = tmp_path / "out"
    build_corpus([str(crawl)], str(out), DENSITY, workers=1)
    build_index(str(out), out / INDEX)
    build_corpus([str(crawl)], str(out), DENSITY, workers=1)
    assert (out / INDEX).exists()
    build_corpus([str(crawl)], str(out), DENSITY, workers=1, restart=True)
    assert not (out / INDEX).exists()


def test_another_job_or_changed_input_is_refused_until_restart(crawl: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    build_corpus([str(crawl)], str(out), DENSITY, workers=1)
    before = files_of(out)
    other = Job(method="density:c1=0.5", format="jsonl", filters=Filters(min_words=3))
    with pytest.raises(InputError) as error:
        build_corpus([str(crawl)], str(out), other)
    assert "method was 'density' and is now 'density:c1=0.5'" in str(error.value)
    assert "min_words was 0 and is now 3" in str(error.value)
    assert "--restart" in str(error.value)
    os.utime(crawl, (1, 1))
    with pytest.raises(InputError, match=f"{crawl} has changed"):
        build_corpus([str(crawl)], str(out), DENSITY)
    with pytest.raises(InputError, match="the inputs were"):
        build_corpus([str(write_warc(tmp_path / "b.warc.gz", pages(1)))], str(out), DENSITY)
    assert files_of(out) == before
    (out / "mine.txt").write_text("not of the run", "utf-8")
    summary = build_corpus([str(crawl)], str(out), Job(method="density"), workers=1, restart=True)
    assert (summary.was_done, summary.kept) == (False, 5)
    about = ["__about/README.md", "__about/rejects/part-00000.jsonl"]
    assert sorted(files_of(out)) == [".huggingface.yaml", *about, "mine.txt", "part-00000.parquet"]


def test_a_misspelt_input_costs_nothing_and_leaves_nothing(crawl: Path, tmp_path: Path) -> None:
    out, missing = tmp_path / "out", str(tmp_path / "crwal.warc.gz")
    build_corpus([str(crawl)], str(out), DENSITY, workers=1)
    before = files_of(out)
    with pytest.raises(InputError, match=r"crwal\.warc\.gz: no such file"):
        build_corpus([missing], str(out), DENSITY, restart=True)
    assert files_of(out) == before
    with pytest.raises(InputError, match="no such file"):
        build_corpus([missing], str(tmp_path / "new"), DENSITY)
    assert not (tmp_path / "new").exists()


def test_a_folder_with_something_else_is_refused(crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear", "utf-8")
    with pytest.raises(InputError, match="full: has files that are not from"):
        build_corpus([str(crawl)], str(tmp_path / "full"), DENSITY, restart=True)
    with pytest.raises(InputError, match="is a file, not a folder"):
        build_corpus([str(crawl)], str(crawl), DENSITY)
    with pytest.raises(InputError, match="is inside the input"):
        build_corpus([str(tmp_path)], str(tmp_path / "out"), DENSITY)
    assert [file.name for file in (tmp_path / "full").iterdir()] == ["letter.txt"]


def test_two_runs_at_once_are_refused(crawl: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with Folder(str(out)).locked(), pytest.raises(InputError, match="another run is writing to this folder"):
        build_corpus([str(crawl)], str(out), DENSITY)
    assert build_corpus([str(crawl)], str(out), DENSITY, workers=1).kept == 5


def test_an_output_that_cannot_be_written_is_told(crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "part-00000.jsonl").mkdir()
    (tmp_path / "out" / "__run").mkdir()
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match="Not a directory"):
        build_corpus([str(crawl)], str(tmp_path / "file" / "out"), DENSITY)


@pytest.mark.parametrize(
    ("job", "error", "words"),
    [
        (Job(method="densty"), UnknownName, "did you mean 'density'"),
        (Job(format="csv"), InputError, "parquet or jsonl, not 'csv'"),  # type: ignore[arg-type]
        (Job(max_seconds=0), InputError, "max_seconds must be a number above 0, not 0"),
        (Job(text_format="markdwn"), UnknownName, "unknown format of the text 'markdwn'; did you mean 'markdown'"),  # type: ignore[arg-type]
        (Job(without_columns=("auther",)), UnknownName, "unknown column 'auther'; did you mean 'author'"),
        (
            Job(without_columns=("html",)),
            UnknownName,
            "unknown column 'html'; known: author, blocks, chunks, confidence",
        ),
        (
            Job(without_columns=("id",)),
            InputError,
            "the column id cannot be left out; you can leave out: url, time, title",
        ),
        (Job(without_columns="author"), InputError, "a list of names, such as author, not 'author'"),  # type: ignore[arg-type]
        (Job(chunks=5, overlap=5), InputError, "overlap must be a number of tokens below chunks, not 5"),
        (Job(overlap=1), InputError, "overlap must be a number of tokens below chunks, not 1"),
        (Job(chunks=5, overlap=-1), InputError, "overlap must be a number of tokens below chunks, not -1"),
        (Job(chunks=-1), InputError, "chunks must be a number of tokens, or 0 for none, not -1"),
        (Job(duplicates="all"), UnknownName, "unknown kind of duplicates 'all'"),  # type: ignore[arg-type]
    ],
)
def test_a_job_that_makes_no_sense_is_told_before_any_work(
    job: Job, error: type[Exception], words: str, crawl: Path, tmp_path: Path
) -> None:
    with pytest.raises(error, match=words):
        build_corpus([str(crawl)], str(tmp_path / "out"), job)
    assert not (tmp_path / "out").exists()


def test_a_method_that_is_missing_or_an_engine_is_told(crawl: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="engine"):
        build_corpus([str(crawl)], str(tmp_path / "out"), DENSITY, engine="locl")


def test_other_storage(crawl: Path, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    here = tmp_path / "here"
    build_corpus([str(crawl)], str(here), DENSITY, workers=1)
    files = fsspec.filesystem("dir", path=str(tmp_path / "there"), target_protocol="file")
    assert files is not None
    out = f"local://{tmp_path / 'there'}"
    build_corpus([f"file://{crawl}"], out, DENSITY, workers=1)
    assert [row["text"] for row in rows(tmp_path / "there")] == [row["text"] for row in rows(here)]


def test_a_run_that_began_with_small_shards_goes_on_with_them(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = crawl.parent / "out"
    first = build_corpus([str(crawl)], str(out), DENSITY)
    monkeypatch.setattr("mainmatter.corpus.build.choose_shard_size", lambda _: 500)
    assert build_corpus([str(crawl)], str(out), DENSITY) == replace(first, was_done=True)
    assert build_corpus([str(crawl)], str(out), DENSITY, restart=True).shards > 1
    with pytest.raises(InputError, match="shard_size was 500 and is now 700"):
        build_corpus([str(crawl)], str(out), replace(DENSITY, shard_size=700))


DEEP = "[" * 100_000
LIST: list[Any] = []


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        *(("__run/plan.json", damage) for damage in ("{", "[]", "{}", '{"layout": 2}', DEEP, "\xff")),
        *(("__run/plan.json", {"shards": shards}) for shards in ("many", 1.5, None)),
        *(("__run/plan.json", {"inputs": inputs}) for inputs in (7, [7], None)),
        *(("__run/plan.json", {"stamps": stamps}) for stamps in (LIST, {"a": 7}, "none")),
        *(("__run/plan.json", {"job": job}) for job in (LIST, {}, {"filters": 7}, {"nonsense": 1, "filters": {}})),
        *(("__run/clean-00000.json", damage) for damage in ("{", "[]", '{"pages": "many"}', DEEP)),
        *(("__run/clean-00000.json", {"rejects": rejects}) for rejects in (LIST, {"empty": "many"})),
        *(("part-00000.jsonl", f"{damage}\n") for damage in ("7", "{", DEEP)),
        *(
            ("part-00000.jsonl", {name: value})
            for name, value in {"words": "many", "confidence": [], "url": {}, "language": [], "text": 7}.items()
        ),
        *(("part-00000.jsonl", {name: float("inf")}) for name in ("words", "confidence")),
        *(("__about/rejects/part-00000.jsonl", f"{damage}\n") for damage in ("7", "{}", DEEP, '{"reason": []}')),
        ("__about/rejects/part-00000.jsonl", {"reason": []}),
        ("__about/rejects/part-00000.jsonl", {"position": "here"}),
    ],
    ids=lambda each: str(each)[:60],
)
def test_damage_to_a_corpus_is_told_by_its_report(
    corpus: Path, tmp_path: Path, file: str, damage: str | dict[str, Any]
) -> None:
    out = shutil.copytree(corpus, tmp_path / "out")
    place = out / file
    if isinstance(damage, dict):
        first, _, rest = place.read_text().partition("\n" if place.suffix == ".jsonl" else "\0")
        damage = f"{json.dumps(json.loads(first) | damage)}\n{rest}"
    place.write_bytes(damage.encode("latin-1"))
    with pytest.raises(InputError, match=rf"{re.escape(place.name)}|another version"):
        corpus_report(str(out))


@pytest.fixture(name="corpus", scope="module")
def make_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small corpus with a reject."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "pages").mkdir()
    (folder / "pages/a.html").write_bytes(page(1))
    (folder / "pages/b.html").write_bytes(b"%PDF-1.4")
    build_corpus([str(folder / "pages")], str(folder / "out"), DENSITY, workers=1)
    return folder / "out"
