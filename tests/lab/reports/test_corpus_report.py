"""The report of a corpus: its counts are those of the run, and nothing of a page is markup in it."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from crawls import pages, write_warc
from mainmatter.cli import group
from mainmatter.corpus import Job, Report, Summary
from mainmatter.corpus.folder import SUMMARY, Folder, part_name, rejects_name
from mainmatter.corpus.plan import Plan, write_plan
from mainmatter.corpus.records import Reject
from mainmatter.corpus.report import corpus_report, read_facts
from mainmatter.corpus.writers import COLUMNS, make_writer, rejects_to_bytes
from mainmatter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from lab.reports.conftest import Parsed

pytest.importorskip("pyarrow")

MADE = datetime(2026, 1, 2, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'>"
MAINMATTER = [sys.executable, "-c", "from mainmatter.cli import main; main()"]


def row(number: int, **more: object) -> dict[str, Any]:
    found: dict[str, Any] = dict.fromkeys(COLUMNS)
    found |= {
        "id": f"id-{number}",
        "url": f"https://{'b' if number % 4 == 3 else 'a'}.example/{number}",
        "text": f"The text of page {number}.",
        "title": f"Page {number}",
        "language": "de" if number % 5 == 0 else "en",
        "page_type": "article",
        "confidence": 1 - number / 100,
        "words": 10 * (number + 1),
        "method": "main",
        "version": "0.1.0",
        "source": "crawl.warc.gz",
        "position": number,
    }
    return found | more


def write_corpus(
    out: Path,
    parts: Sequence[Sequence[Mapping[str, Any]]],
    rejects: Sequence[Reject] = (),
    job: Job | None = None,
    skipped: Mapping[str, int] | None = None,
) -> Path:
    """What `mainmatter corpus` would leave there."""
    job, folder = job or Job(), Folder(str(out))
    write_plan(folder, Plan(job, ("crawl.warc.gz",), len(parts), {}, None, "0.1.0"), [[] for _ in parts])
    for number, rows in enumerate(parts):
        writer = make_writer(job)
        for one in rows:
            writer.add(tuple(one[name] for name in COLUMNS))
        folder.write(part_name(number, job.format), writer.finish())
        folder.mark(Report("clean", number, len(rows), len(rows), bytes=1_000_000, seconds=1.0 + number))
    counts: dict[str, int] = {}
    for reject in rejects:
        counts[reject.reason] = counts.get(reject.reason, 0) + 1
    if rejects:
        folder.write(rejects_name(0), rejects_to_bytes(rejects))
    kept = [one for rows in parts for one in rows]
    summary = Summary(
        str(out),
        len(parts),
        len(kept) + len(rejects),
        len(kept),
        counts,
        skipped or {},
        sum(one["words"] for one in kept),
        2_000_000,
        4.0,
    )
    folder.write(SUMMARY, json.dumps(summary.to_json()).encode())
    return out


@pytest.mark.parametrize("job", [Job(), Job(format="jsonl")], ids=["parquet", "jsonl"])
def test_counts_are_those_of_the_run(tmp_path: Path, job: Job, read: Callable[[str], Parsed]) -> None:
    rejects = [
        *(
            Reject("empty", "no text was kept", "crawl.warc.gz", i, f"e{i}", f"https://a.example/e{i}")
            for i in range(7)
        ),
        Reject("near-duplicate", "repeats id-1", "crawl.warc.gz", 99, "d", "https://a.example/d"),
    ]
    parts = [[row(i) for i in range(6)], [row(i) for i in range(6, 12)]]
    parsed = read(corpus_report(write_corpus(tmp_path / "out", parts, rejects, job, {"request": 12}), made=MADE))
    assert "12 of 20 pages kept (60.0 %), 780 words." in parsed.text
    for words in ("20pages read", "12kept", "8dropped", "1of these duplicates", "0.50 MB/s", "5.0 pages/s", "4.0 s"):
        assert words in parsed.text
    assert parsed.tables["reasons"][1:] == [["empty", "7", "35.0 %"], ["near-duplicate", "1", "5.0 %"]]
    assert parsed.tables["skipped records"][1:] == [["request", "12"]]
    assert parsed.tables["Pages by language"][1:] == [["en", "9", "75.0 %"], ["de", "3", "25.0 %"]]
    assert parsed.tables["Pages by method and version"][1:] == [["main (0.1.0)", "12", "100.0 %"]]
    assert parsed.tables["sites"][1:] == [["a.example", "9", "540"], ["b.example", "3", "240"]]
    assert [line[:2] for line in parsed.tables["slowest shards"][1:]] == [["00001", "2.0"], ["00000", "1.0"]]
    assert "https://a.example/e4" in parsed.text
    assert "https://a.example/e5" not in parsed.text
    assert "5 of 7" in parsed.text
    assert "sample" not in parsed.text
    assert f"{job.format}, duplicates: kept" in parsed.text


def test_least_confident_pages_come_first(tmp_path: Path, read: Callable[[str], Parsed]) -> None:
    rows = [row(i, confidence=(i * 37 % 100) / 100, text=f"Text {i} " + "a word " * 500) for i in range(100)]
    out = write_corpus(tmp_path / "out", [rows[:50], rows[50:]])
    unsure = read_facts(str(out)).rows.unsure
    assert [page.confidence for page in unsure] == [i / 100 for i in range(20)]
    assert all(page.text.startswith(f"Text {page.id.removeprefix('id-')} ") for page in unsure)
    assert all(len(page.text) < 710 for page in unsure)
    html = corpus_report(out, made=MADE)
    assert len(html) < 100_000
    assert "a word …" in read(html).text


def test_of_a_large_corpus_a_sample_is_read_and_the_report_says_so(
    tmp_path: Path, read: Callable[[str], Parsed]
) -> None:
    out = write_corpus(tmp_path / "out", [[row(i) for i in range(n * 10, n * 10 + 10)] for n in range(9)])
    facts = read_facts(str(out), most_rows=30)
    assert facts.rows.rows == 30
    assert sorted({int(page.id[3:]) // 10 for page in facts.rows.unsure}) == [4, 8]  # of the parts 0, 4 and 8
    assert "a sample: 30 of 90 pages" in read(corpus_report(out, most_rows=30, made=MADE)).text
    assert read_facts(str(out), most_rows=7).rows.rows == 7


def test_nothing_of_a_page_is_markup(tmp_path: Path, read: Callable[[str], Parsed]) -> None:
    names = ("id", "text", "title", "language", "page_type", "method", "version")
    wicked = row(1, url=f"javascript:{HOSTILE}", **{name: f"{HOSTILE} {name}" for name in names})
    rejects = [Reject(f"{HOSTILE} reason", f"{HOSTILE} detail", HOSTILE, 0, HOSTILE, f"https://[{HOSTILE}")]
    bad_host = row(2, url="https://[half/a", confidence=0.0)
    out = write_corpus(tmp_path / "out", [[wicked, bad_host]], rejects, skipped={f"{HOSTILE} type": 1})
    html = corpus_report(out, command=HOSTILE, made=MADE)
    parsed = read(html)
    assert parsed.names().isdisjoint({"img", "iframe", "object", "embed", "form", "link", "base"})
    assert len(parsed.of("script")) == 1
    assert not [name for _, attributes in parsed.elements for name in attributes if name.startswith("on")]
    assert {(one["href"] or "")[:1] for one in parsed.of("a")} <= {"#", "h"}
    for name in ("text", "title", "language", "page_type", "method", "reason", "detail", "type"):
        assert f"{HOSTILE} {name}" in parsed.text


def test_the_same_corpus_gives_the_same_report(tmp_path: Path) -> None:
    out = write_corpus(tmp_path / "out", [[row(i) for i in range(5)]])
    assert corpus_report(out, made=MADE) == corpus_report(str(out), made=MADE)


def test_nothing_kept(tmp_path: Path, read: Callable[[str], Parsed]) -> None:
    rejects = [Reject("empty", "no text was kept", "crawl.warc.gz", 0)]
    parsed = read(corpus_report(write_corpus(tmp_path / "out", [[]], rejects), made=MADE))
    assert "0 of 1 page kept (0.0 %), 0 words." in parsed.text
    assert "Nothing was kept." in parsed.text
    assert "no page" in read(corpus_report(write_corpus(tmp_path / "none", []), made=MADE)).text.lower()


def test_a_method_that_does_not_say_how_sure_it_is(tmp_path: Path, read: Callable[[str], Parsed]) -> None:
    rows = [row(i, confidence=None, page_type=None, url=None, language=None) for i in range(3)]
    parsed = read(corpus_report(write_corpus(tmp_path / "out", [rows]), made=MADE))
    assert "The method gives no confidence." in parsed.text
    assert parsed.tables["sites"][1:] == [["no URL", "3", "60"]]
    assert parsed.tables["Pages by language"][1:] == [["not known", "3", "100.0 %"]]


def test_a_folder_on_other_storage(read: Callable[[str], Parsed]) -> None:
    pytest.importorskip("fsspec")
    out = "memory://a-corpus-to-report/out"
    folder = Folder(out)
    write_plan(folder, Plan(Job(), ("s3://crawl",), 1, {}, None, "0.1.0"), [[]])
    writer = make_writer(Job())
    writer.add(tuple(row(1)[name] for name in COLUMNS))
    folder.write(part_name(0, "parquet"), writer.finish())
    folder.write(rejects_name(0), rejects_to_bytes([Reject("empty", "nothing there", "x", 0)]))
    folder.write(SUMMARY, json.dumps(Summary(out, 1, 2, 1, {"empty": 1}, {}, 20, 10, 1.0).to_json()).encode())
    parsed = read(corpus_report(out, made=MADE))
    assert "1 of 2 pages kept" in parsed.text
    assert "nothing there" in parsed.text


def test_what_is_no_finished_corpus(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run found"):
        corpus_report(tmp_path)
    out = write_corpus(tmp_path / "out", [[row(1)]])
    (out / "part-00000.parquet").write_bytes(b"PAR1 not at all")
    with pytest.raises(InputError, match=r"part-00000\.parquet: is damaged"):
        corpus_report(out)
    (out / SUMMARY).write_text("{")
    with pytest.raises(InputError, match=r"summary\.json is damaged"):
        corpus_report(out)
    (out / SUMMARY).unlink()
    with pytest.raises(InputError, match="not finished; run the same command again"):
        corpus_report(out)
    lines = write_corpus(tmp_path / "lines", [[row(1)]], job=Job(format="jsonl"))
    (lines / "part-00000.jsonl").write_text("[1]\n")
    with pytest.raises(InputError, match="not rows of a corpus"):
        corpus_report(lines)
    (lines / "part-00000.jsonl").write_text('{"id":\n')
    with pytest.raises(InputError, match="line 1 is damaged"):
        corpus_report(lines)


@pytest.mark.parametrize(
    ("column", "value"),
    [("title", True), ("language", ["en"]), ("url", 3), ("page_type", {}), ("words", "many"), ("confidence", math.inf)],
)
def test_rows_that_others_wrote(column: str, value: object, tmp_path: Path) -> None:
    out = write_corpus(tmp_path / "out", [[row(1)]], job=Job(format="jsonl"))
    (out / "part-00000.jsonl").write_text(json.dumps(row(1) | {column: value}))
    with pytest.raises(InputError, match=rf"part-00000\.jsonl: is damaged: a row has .* for its {column}$"):
        corpus_report(out)


def test_long_runs_are_told_in_hours(tmp_path: Path, read: Callable[[str], Parsed]) -> None:
    out = write_corpus(tmp_path / "out", [[row(1)]])
    summary = Summary.from_json(json.loads((out / SUMMARY).read_text()))
    slow = replace(summary, seconds=7384.0, earlier_pages=1)
    (out / SUMMARY).write_text(json.dumps(slow.to_json()))
    parsed = read(corpus_report(out, made=MADE))
    assert "2 h 03 min" in parsed.text
    assert "Earlier, interrupted runs had already done 1 pages" in parsed.text


def test_through_the_command_line_also_of_a_finished_run(tmp_path: Path, read: Callable[[str], Parsed]) -> None:
    pytest.importorskip("fastwarc")
    crawl, out = write_warc(tmp_path / "crawl.warc.gz", pages(3)), tmp_path / "out"
    command = ["corpus", str(crawl), "-o", str(out), "-m", "density", "-j", "1", "--report"]
    first = subprocess.run(
        [*MAINMATTER, *command, str(out / "__about/report.html")], capture_output=True, text=True, check=False
    )
    assert (first.returncode, first.stdout.splitlines()[-1]) == (0, f"report: {out}/__about/report.html")
    assert "3 of 3 pages kept" in read((out / "__about/report.html").read_text(encoding="utf-8")).text
    again = CliRunner().invoke(group, [*command, str(tmp_path / "new/again.html")])
    assert (again.exit_code, again.stdout.splitlines()[-1]) == (0, f"report: {tmp_path}/new/again.html")
    assert "is already complete" in again.stdout
    assert "3 of 3 pages kept" in read((tmp_path / "new/again.html").read_text(encoding="utf-8")).text
    wrong = CliRunner().invoke(group, [*command, str(tmp_path)])
    assert wrong.exit_code == 1
    assert "is a folder; name a file for the report" in wrong.stderr
