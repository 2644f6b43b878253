"""`mainmatter evaluate`, through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from mainmatter.cli import group

if TYPE_CHECKING:
    from click.testing import Result

    from mainmatter.lab.metrics import Output
    from mainmatter.records import Page

# ice-baseline keeps all, so on page a it finds 2 of the 2 gold words among 4, and on page b all is right.
TABLE = """\
| dataset | method       | pages | precision | recall |    f1 |
|---------|--------------|------:|----------:|-------:|------:|
| tiny    | ice-baseline |     2 |     0.750 |  1.000 | 0.833 |
"""


def evaluate(*args: str) -> Result:
    return CliRunner().invoke(group, ["evaluate", *args, "-j", "1"])


@pytest.fixture(autouse=True)
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory with the gold standard tiny/, of two pages."""
    for name in ("html", "gold"):
        (tmp_path / "tiny" / name).mkdir(parents=True)
    (tmp_path / "tiny/html/a.html").write_text("<p>one two three four</p>", encoding="utf-8")
    (tmp_path / "tiny/gold/a.txt").write_text("One two.", encoding="utf-8")
    (tmp_path / "tiny/html/b.html").write_text("<p>five</p><p>six</p>", encoding="utf-8")
    (tmp_path / "tiny/gold/b.txt").write_text("five six", encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def test_table_of_one_metric() -> None:
    result = evaluate("ice-baseline", "--on", "tiny")
    assert (result.exit_code, result.stdout, result.stderr) == (0, TABLE, "")


def test_table_of_several_metrics_and_methods() -> None:
    pytest.importorskip("rapidfuzz")
    result = evaluate("ice-baseline", "turbohtml", "--on", "tiny", "--metric", "bag", "--metric", "rouge")
    assert result.exit_code == 0
    head, _, first, second = result.stdout.splitlines()
    assert head == "| dataset | method       | pages | bag f1 | rouge f1 |"
    assert first == "| tiny    | ice-baseline |     2 |  0.833 |    0.833 |"
    assert second.startswith("| tiny    | turbohtml    |     2 |")


def test_method_with_parameters() -> None:
    result = evaluate("density:c1=0.1,c2=9", "--on", "tiny")
    assert result.stdout.splitlines()[2] == "| tiny    | density:c1=0.1,c2=9 |     2 |     0.750 |  1.000 | 0.833 |"


def test_all_figures_as_json() -> None:
    result = evaluate("ice-baseline", "--on", "tiny", "-o", "figures.json")
    assert (result.stdout, result.stderr) == (TABLE, "all figures: figures.json\n")
    (found,) = json.loads(Path("figures.json").read_text(encoding="utf-8"))
    assert (found["method"], found["dataset"], found["failures"]) == ("ice-baseline", "tiny", [])
    assert [page for page, _ in found["pages"]] == ["a", "b"]
    assert found["pages"][0][1]["bag"] == {"precision": 0.5, "recall": 1.0, "f1": pytest.approx(2 / 3)}
    assert found["scores"]["bag"]["f1"] == pytest.approx((2 / 3 + 1) / 2)


def test_pages_on_which_a_method_fails_are_named_and_count_as_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(page: Page, with_metadata: bool) -> Output:
        raise ValueError(f"cannot do {page.id}")

    monkeypatch.setitem(__import__("mainmatter.lab.peers", fromlist=["PEERS"]).PEERS, "turbohtml", fail)
    result = evaluate("turbohtml", "--on", "tiny")
    assert result.exit_code == 0
    assert result.stderr == (
        "turbohtml on tiny: a: ValueError: cannot do a\nturbohtml on tiny: b: ValueError: cannot do b\n"
    )
    assert result.stdout.splitlines()[2] == "| tiny    | turbohtml |     2 |     0.000 |  0.000 | 0.000 |"


def test_named_dataset_that_is_not_there() -> None:
    result = evaluate("density", "--on", "dragnet", "--data", "tiny")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: tiny/dragnet.parquet: no such file; use --data to name the folder that holds dragnet.parquet\n"
    )


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("densty", "--on", "tiny"), 1, "Error: unknown method 'densty'; did you mean 'density'?\n"),
        (("density", "--on", "dragnett"), 1, "Error: unknown dataset 'dragnett'; did you mean 'dragnet'?\n"),
        (("density", "--on", "tiny/html/a.html"), 1, "a.html: neither a Parquet file nor a folder\n"),
        (("density", "--on", "tiny", "--metric", "bagg"), 2, "'bagg' is not one of 'align', 'bag'"),
        (("density", "--on", "tiny", "--metric", "bga"), 2, "; did you mean 'bag'?\n"),
        (("density",), 2, "Missing option '--on'"),
        (("--on", "tiny"), 2, "Missing argument 'METHOD...'"),
        (("density", "--on", "tiny", "-o", "no/such.json"), 2, "there is no folder no\n"),
    ],
)
def test_what_goes_wrong(args: tuple[str, ...], code: int, message: str) -> None:
    result = evaluate(*args)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
