"""`mainmatter annotations`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from annotated import DROP, HTML, say_all, segment_otherwise, store_with_page
from mainmatter.cli import group
from mainmatter.records import Page
from mainmatter.workbench.labels import Store
from small_web import serve
from toys import LONG, write_gold_folder

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


def run(*arguments: object) -> Result:
    return CliRunner().invoke(group, ["annotations", *map(str, arguments)])


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "otters.html").write_text(HTML)
    (tmp_path / "site" / "picture.html").write_bytes(b"\x89PNG\r\n\x1a\n")
    return tmp_path / "site"


@pytest.fixture
def bench(tmp_path: Path, site: Path) -> Path:
    """A workbench whose page two annotators labelled."""
    run("add", tmp_path / "bench", site)
    with Store(tmp_path / "bench") as store:
        say_all(store, "Ada")
        say_all(store, "Bea", b4=DROP)
        store.set_done(1, "Ada", True)
        store.set_done(1, "Bea", True)
    return tmp_path / "bench"


def test_add_says_what_came_of_each_page(tmp_path: Path, site: Path) -> None:
    result = run("add", tmp_path / "bench", site)
    assert result.exit_code == 0
    assert result.stdout == f"1 page added to {tmp_path}/bench/annotations.db, 1 could not be added\n"
    assert "picture.html: is a PNG picture" in result.stderr
    result = run("add", tmp_path / "bench", site / "otters.html")
    assert result.stdout == f"0 pages added to {tmp_path}/bench/annotations.db, 1 had been there\n"
    result = run("add", tmp_path / "bench", site / "picture.html")
    assert result.exit_code == 1
    assert run("add", tmp_path / "bench", site, "--gold", "--rejects").exit_code == 2
    result = run("add", tmp_path / "bench", site, "--rejects")
    assert (result.exit_code, "holds no rejects" in result.stderr) == (1, True)


def test_add_takes_larger_pages_when_told_to(tmp_path: Path) -> None:
    (tmp_path / "large.html").write_bytes(b"<p>A short text.</p><!--" + b"x" * 50_000_000 + b"-->")
    bench = tmp_path / "bench"
    result = run("add", bench, tmp_path / "large.html")
    assert (result.exit_code, "large.html has more than 50.0 MB; raise the limit" in result.stderr) == (1, True)
    assert "--max-size" in result.stderr
    result = run("add", bench, tmp_path / "large.html", "--max-size", 60)
    assert (result.exit_code, result.stdout) == (0, f"1 page added to {bench}/annotations.db\n")
    with Store(bench) as store:
        assert [block.block.text for block in store.blocks(1)] == ["A short text."]


def test_add_fetches_a_list_of_urls_and_names_its_bad_line(tmp_path: Path) -> None:
    with serve({"/a": ("text/html", HTML.encode()), "/b": ("text/html", b"<p>Another page.")}) as address:
        (tmp_path / "list.txt").write_text(f"{address}/a\nhtp:/b\n{address}/b\n")
        result = run("add", tmp_path / "bench", tmp_path / "list.txt", "--allow-private")
    assert result.stdout == f"2 pages added to {tmp_path}/bench/annotations.db, 1 could not be added\n"
    assert "damaged: line 2 is not a URL: htp:/b" in result.stderr


def test_add_a_gold_standard(tmp_path: Path) -> None:
    gold = write_gold_folder(tmp_path / "gold", 3)
    assert run("add", tmp_path / "bench", "--gold", gold, "--count", "2").stdout.startswith("2 pages added")
    lines = run("list", tmp_path / "bench").stdout.splitlines()
    assert lines[0].split() == ["1", "labelled", "00", "5", "blocks:", "gold", "5", "(done)"]
    assert lines[-1] == "2 pages, 2 labelled, 0 merged"


def test_count_is_of_new_pages_of_all_inputs(tmp_path: Path) -> None:
    golds = [write_gold_folder(tmp_path / name, 3) for name in ("one", "two")]
    (golds[1] / "html" / "00.html").write_text(HTML)
    assert run("add", tmp_path / "bench", "--gold", golds[0], "--count", "2").stdout.startswith("2 pages added")
    assert run("add", tmp_path / "bench", "--gold", *golds, "--count", "2").stdout.startswith("2 pages added")


def test_what_is_asked_wrongly_makes_no_database(tmp_path: Path, site: Path) -> None:
    for arguments in (("none",), (site, "--gold"), (site, "--rejects"), (site, "--reason", "x"), (site, "--no-labels")):
        result = run("add", tmp_path / "bench", *arguments)
        assert result.exit_code in (1, 2), arguments
        assert not (tmp_path / "bench").exists(), arguments
    assert "name it alone" in run("disagreements", _empty(tmp_path / "b"), site).stderr


def _empty(folder: Path) -> Path:
    Store(folder).close()
    return folder


def test_names_cannot_forge_lines(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        store.add_page(Page("<p>a", "http://mill.example/a"), "a test", name="a\n    9  merged    b.html")
    assert run("list", tmp_path).stdout.splitlines()[1] == "    2  new       a 9 merged b.html  1 block"


def test_list(tmp_path: Path, bench: Path) -> None:
    lines = run("list", bench).stdout.splitlines()
    assert lines == [
        f"    1  conflict  {tmp_path}/site/otters.html  11 blocks: Ada 11 (done), Bea 11 (done), 1 in conflict",
        "1 page, 1 labelled, 0 merged",
    ]
    row = json.loads(run("list", bench, "--json").stdout)
    assert (row["labelled"], row["lost"]) == ({"Ada": 11, "Bea": 11}, 0)


def test_a_page_without_blocks_has_nothing_to_label(tmp_path: Path) -> None:
    (tmp_path / "empty.html").write_text("<script>fill()</script>")
    run("add", tmp_path / "bench", tmp_path / "empty.html")
    row, total = run("list", tmp_path / "bench").stdout.splitlines()
    assert row.endswith("empty.html  nothing to label")
    assert total == "1 page, 0 labelled, 0 merged, 1 with nothing to label"


def test_list_tells_what_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with store_with_page(tmp_path) as store:
        say_all(store, "Ada")
        say_all(store, "Bea")
        store.set_done(1, "Ada", True)
    segment_otherwise(monkeypatch, lambda html: html.replace("herons.</li></ul><p>Share", "herons. Share"))
    for command in (("list",), ("agreement",), ("export", "-o", tmp_path / "gold")):
        result = run(command[0], tmp_path, *command[1:])
        assert "labels could not be carried over" in result.stdout, command


def test_an_empty_and_a_missing_database(tmp_path: Path) -> None:
    Store(tmp_path).close()
    assert run("list", tmp_path).stdout.startswith("no page yet")
    assert run("agreement", tmp_path).stdout == "no page has labels of two annotators yet\n"
    for command in ("list", "agreement"):
        result = run(command, tmp_path / "none")
        assert result.exit_code == 1
        assert f"{tmp_path}/none/annotations.db: no such database of annotations" in result.stderr
    (tmp_path / "page.db").write_text(HTML * 10)
    assert "is not a database of annotations" in run("list", tmp_path / "page.db").stderr


def test_agreement(bench: Path) -> None:
    result = run("agreement", bench, "--pages")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("    1  ")
    assert lines[1].strip() == lines[2]
    assert lines[2] == (
        "Ada and Bea, 1 page, 11 blocks: text 64.44%, keep or drop 90.9% (kappa 0.814), kinds 100.0% (kappa 1.000)"
    )
    assert lines[3].startswith("mean: text 64.44%, keep or drop 90.9%")
    assert "has no page 7" in run("agreement", bench, "--page", 7).stderr


def test_agreement_tells_of_pages_that_are_not_finished(bench: Path) -> None:
    line = "not finished by everyone: 1 page; only blocks with two labels count there"
    assert line not in run("agreement", bench).stdout
    with Store(bench) as store:
        store.set_done(1, "Bea", False)
    assert run("agreement", bench).stdout.splitlines()[-1] == line


def test_export_leaves_out_what_is_not_decided(tmp_path: Path, bench: Path) -> None:
    result = run("export", bench, "-o", tmp_path / "gold")
    assert result.exit_code == 1
    assert "left out, 1 page: Ada and Bea disagree on 1 block, which nobody has merged: " in result.stderr
    assert "no page to export" in result.stderr
    result = run("export", bench, "-o", tmp_path / "gold", "--all")
    assert result.stdout.splitlines()[:2] == [
        f"1 page with 10 labels written to {tmp_path}/gold",
        "without a label, so not in the gold text: 1 block",
    ]
    assert run("export", bench, "-o", tmp_path / "gold.parquet", "--annotator", "Ada").exit_code == 0
    assert "nobody called 'Eve'" in run("export", bench, "-o", tmp_path / "x", "--annotator", "Eve").stderr
    assert run("export", bench, "-o", tmp_path / "site").exit_code == 2


def test_disagreements_are_shown_and_added(tmp_path: Path) -> None:
    page = f"<ul><li><a href=/>Home</a><li><a href=/x>More of it</a></ul><p>{LONG}</p><p>Short line here.</p>"
    for name, html in (("a.html", page), ("b.html", f"<p>{LONG}</p>")):
        (tmp_path / name).write_text(html)
    methods = ("-m", "ice-baseline", "-m", "density")
    result = run("disagreements", tmp_path / "a.html", tmp_path / "b.html", *methods, "--add", tmp_path / "bench")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert "a.html" in lines[0]
    assert lines[1].strip() in (
        "kept by ice-baseline, dropped by density: 'Short line here.'",
        "kept by ice-baseline, dropped by density: 'More of it'",
    )
    assert "2 pages looked at; ice-baseline, density disagree on these" in lines
    assert lines[-1].startswith("1 page added")
    with Store(tmp_path / "bench") as store:
        assert store.pages()[0].note.startswith("methods disagree on ")
    result = run("disagreements", tmp_path / "bench", *methods)
    assert "1 page looked at" in result.stdout
    assert "at least two" in run("disagreements", tmp_path / "a.html", "-m", "density").stderr
