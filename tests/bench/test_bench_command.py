"""`python -m bench`, through the command line."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import bench.__main__ as bench_module
from bench.memory import MemoryCurve
from bench.speed import Speed
from mainmatter import compiled
from mainmatter.registry import FORMATS
from toys import write_gold_folder

if TYPE_CHECKING:
    from click.testing import Result


@pytest.fixture(autouse=True)
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory with the gold standard tiny/, of four pages."""
    write_gold_folder(tmp_path / "tiny", pages=4)
    monkeypatch.chdir(tmp_path)


def bench(*arguments: str) -> Result:
    return CliRunner().invoke(bench_module.command, [*arguments, "--on", "tiny"])


def test_speed_table() -> None:
    result = bench("speed", "turbohtml", "density", "--pages", "1", "--rounds", "2")
    assert (result.exit_code, result.stderr) == (0, "")
    status, title, empty, head, rule, first, second = result.stdout.splitlines()
    assert status == f"mainmatter is {compiled.status()}"
    assert (title, empty) == ("1 pages of tiny, 0 kB on average, best of 2 rounds", "")
    assert re.fullmatch(r"\| method    \| +ms/page \| +MB/s \| +times turbohtml \| +median \| +peak MB \|", head)
    assert re.fullmatch(r"\|-----------(\|-+:){5}\|", rule)
    peak = r"(\d+|-)"
    assert re.fullmatch(rf"\| turbohtml \| +\d+\.\d\d \| +\d+ \| +1\.00 \| +1\.00 \| +{peak} \|", first)
    assert re.fullmatch(rf"\| density   \| +\d+\.\d\d \| +\d+ \| +\d+\.\d\d \| +\d+\.\d\d \| +{peak} \|", second)


def test_speed_of_all_by_default_and_what_is_not_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []

    def measure(names: tuple[str, ...], *_: object, **__: object) -> list[Speed]:
        asked.append(names)
        return [
            Speed("full", 1.0, 2.0, 1.0, 1.0, None, 4, 7),
            Speed("slow", 1.0, 2.0, 3.0, 4.0, 5.0, 4, 2),
            Speed("slower", 1.0, 2.0, 3.0, 4.0, 5.0, 1, 1, (("03", "took longer than 30 s"),)),
            Speed("broken", float("nan"), float("nan"), float("nan"), float("nan"), 5.0, 0, 7, (("03", "no"),) * 4),
        ]

    monkeypatch.setattr(bench_module, "measure_speed", measure)
    monkeypatch.setattr(compiled, "runs_compiled", lambda: False)
    assert bench("speed").exit_code == 0
    assert "main@pure" not in asked.pop()  # nothing else runs
    monkeypatch.setattr(compiled, "runs_compiled", lambda: True)
    result = bench("speed")
    assert result.exit_code == 0
    assert {"turbohtml", "density", "ncleaner", "main", "main@pure"} <= set(asked[0])
    assert asked[0][0] == "turbohtml"
    assert len(set(asked[0])) == len(asked[0])
    lines = result.stdout.splitlines()[1:]
    assert lines[4].split("|")[-2].strip() == "-"
    assert lines[7].split() == "| broken | - | - | - | - | 5 |".split()
    assert lines[8:] == [
        "",
        "slow: slow, so best of 2",
        "slower: slow, so only 2 of the pages, once; ratios are over the same pages",
        "slower: failed on 1 pages, left out; the first is 03: took longer than 30 s",
        "broken: failed on 4 pages, left out; the first is 03: no",
    ]


def test_speed_of_an_unknown_method() -> None:
    result = bench("speed", "densty")
    assert (result.exit_code, result.stderr) == (1, "Error: unknown method 'densty'; did you mean 'density'?\n")


def test_profile() -> None:
    result = bench("speed", "ice-baseline", "--profile", "--rounds", "1")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()[1:]
    assert lines[0] == "4 pages of tiny, 0 kB on average, best of 1 rounds, each step by itself"
    assert re.fullmatch(r"\| method       \| step +\| ms/page \| share in % \|", lines[2])
    steps = [line.split("|")[2].strip() for line in lines[4:]]
    formats = [f"{name}, after text" for name in FORMATS if name != "text"]
    assert steps == ["decode", "parse", "segment", "decide", "render", "all steps", "in one go", *formats]


@pytest.mark.parametrize(
    ("option", "one", "two"), [("--workers", "1 process", "2 processes"), ("--threads", "1 thread", "2 threads")]
)
def test_several_at_once(option: str, one: str, two: str) -> None:
    result = bench("speed", "ice-baseline", option, "2")
    assert result.exit_code == 0
    _, title, _, head, _, row = result.stdout.splitlines()
    assert title == "4 pages of tiny, 0 kB on average, 40 in all, best of 3"
    assert head == f"| method       | pages/s, {one} | pages/s, {two} | times |"
    assert re.fullmatch(r"\| ice-baseline \| +\d+ \| +\d+ \| +\d+\.\d\d \|", row)


def test_profile_is_for_methods_and_not_for_processes() -> None:
    result = bench("speed", "turbohtml", "--profile")
    assert result.exit_code == 2
    assert "turbohtml is not one of our methods" in result.stderr
    result = bench("speed", "--profile", "--workers", "2")
    assert result.exit_code == 2
    assert "--profile and --workers exclude each other" in result.stderr
    result = bench("speed", "--threads", "2", "--workers", "2")
    assert "--workers and --threads exclude each other" in result.stderr
    result = bench("speed", "density@pure", "--threads", "2")
    assert "density@pure: with --threads, set MAINMATTER_PURE=1 to run pure Python" in result.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_memory() -> None:
    result = bench("memory", "ice-baseline", "--pages", "40", "--sample", "3", "--bound", "100")
    assert (result.exit_code, result.stderr) == (0, "")
    *points, growth = result.stdout.splitlines()
    assert re.fullmatch(r"       40 pages +\d+\.\d MB", points[-1])
    assert re.fullmatch(r"it grew by \d+\.\d MB after the first 3 pages; bound 100 MB", growth)


def test_memory_that_grows_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    curve = MemoryCurve([(3, 50.0), (40, 62.5)], 3, 2)
    monkeypatch.setattr(bench_module, "watch_memory_afresh", lambda *_, **__: curve)
    result = bench("memory", "ice-baseline", "--bound", "12")
    assert result.exit_code == 1
    assert result.stderr == (
        "2 pages could not be cleaned\nError: it grew by 12.5 MB after the first 3 pages; bound 12 MB\n"
    )
    assert bench("memory", "ice-baseline", "--bound", "13").exit_code == 0
    monkeypatch.setattr(bench_module, "watch_memory_afresh", lambda *_, **__: MemoryCurve([], 3, 0))
    assert "does not say how much memory" in bench("memory", "ice-baseline").stderr


def test_accuracy_goes_on_where_it_stopped() -> None:
    pytest.importorskip("matplotlib")
    arguments = ("accuracy", "ice-baseline", "turbohtml", "-o", "out", "--pages", "3")
    result = bench(*arguments)
    assert result.exit_code == 0
    first, second, written = result.stderr.splitlines()
    assert re.fullmatch(r"ice-baseline on tiny: 0\.\d{3}, \d+\.\d ms/page", first)
    assert re.fullmatch(r"turbohtml on tiny: \d\.\d{3}, \d+\.\d ms/page", second)
    assert written == "written: out/accuracy.md, out/accuracy.json, out/accuracy.svg, out/accuracy.png"
    head, _, *rows = result.stdout.splitlines()
    assert re.fullmatch(r"\| contestant   \|  tiny \| ms/page on tiny \| failures \|", head)
    assert [row.split()[1] for row in rows] == ["ice-baseline", "turbohtml"]
    page = Path("out/accuracy.md").read_text(encoding="utf-8")
    command = "python -m bench accuracy ice-baseline turbohtml --on tiny --pages 3 --data DATA -o FOLDER"
    assert f"```sh\n{command}\n```" in page
    assert json.loads(Path("out/accuracy.json").read_text(encoding="utf-8"))["cells"][0]["pages"] == 3
    again = bench(*arguments)
    assert again.stderr.splitlines() == [written]  # nothing was measured
    assert again.stdout == result.stdout


def test_accuracy_needs_a_gold_standard() -> None:
    result = CliRunner().invoke(bench_module.command, ["accuracy", "density", "-o", "out", "--data", "tiny"])
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: tiny: has no gold standard; name a folder that has one with --data\n",
    )
    assert not Path("out").exists()


def test_accuracy_reads_sets_for_tests_only_when_it_is_told_to() -> None:
    pytest.importorskip("matplotlib")
    rows = pa.table({"html": ["<p>The tide comes in.</p>"], "gold": ["The tide comes in."]})
    for name in ("cleaneval-dev", "cleaneval-final"):
        pq.write_table(rows, f"{name}.parquet")
    arguments = ["accuracy", "ice-baseline", "--data", ".", "-o", "out"]
    head = CliRunner().invoke(bench_module.command, arguments).stdout.splitlines()[0]
    assert [cell.strip() for cell in head.split("|")[2:3]] == ["cleaneval-dev"]
    assert "cleaneval-final" not in head
    head = CliRunner().invoke(bench_module.command, [*arguments, "--test-sets"]).stdout.splitlines()[0]
    assert [cell.strip() for cell in head.split("|")[2:4]] == ["cleaneval-dev", "cleaneval-final"]


def test_accuracy_of_an_unknown_method_is_refused_before_any_work() -> None:
    result = bench("accuracy", "density", "densty", "-o", "out")
    assert (result.exit_code, result.stderr) == (1, "Error: unknown method 'densty'; did you mean 'density'?\n")
    assert not Path("out").exists()
