"""The report of an evaluation: its figures are those of the evaluation, and nothing of a page is markup in it."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from mainmatter.cli import group
from mainmatter.cli.report_file import check_place, write_report
from mainmatter.errors import InputError
from mainmatter.lab.datasets import GoldPage
from mainmatter.lab.evaluation import Evaluation, evaluate, paired_t_test, to_table
from mainmatter.lab.metrics import Output
from mainmatter.lab.peers import PEERS
from mainmatter.lab.reports import evaluation_report
from mainmatter.lab.reports.study import Study, characters_each, compare_best, study
from mainmatter.papers.density.method import Density
from mainmatter.records import Gold, Page

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lab.reports.conftest import Parsed

pytest.importorskip("rapidfuzz")
pytest.importorskip("scipy")

MADE = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
TEXT = "The ferry to the island leaves at seven in the morning, and comes back when the tide allows it to, day {}."
MENU = "<ul><li><a href=/>Home</a><li><a href=/n>News</a></ul>"
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><b>\u202e\x00"


def gold_page(number: int, kind: str = "article", lang: str = "en") -> GoldPage:
    text = TEXT.format(number)
    html = f"{MENU * (number % 3)}<p>{text}</p><p>{'Read on. ' * (number % 2)}</p>"
    page = Page(html, url=f"https://a.example/{number}", id=f"page-{number}")
    return GoldPage(page, Gold(text, f"<p> {text}"), {"page_type": kind, "lang": lang})


PAGES = [gold_page(i, "forum" if i % 2 else "article", "de" if i == 4 else "en") for i in range(8)]
METHODS = ("ice-baseline", "density", "main")


def evaluations(
    pages: Sequence[GoldPage], metrics: Sequence[str] = ("bag",), methods: Sequence[str] = METHODS
) -> list[Evaluation]:
    return [evaluate(method, "tiny", pages, metrics) for method in methods]


def report(pages: Sequence[GoldPage], metrics: Sequence[str] = ("bag",), methods: Sequence[str] = METHODS) -> str:
    return evaluation_report(evaluations(pages, metrics, methods), {"tiny": pages}, command="mm", made=MADE)


def test_figures_are_those_of_the_evaluation(read: Callable[[str], Parsed]) -> None:
    found = evaluations(PAGES)
    parsed = read(evaluation_report(found, {"tiny": PAGES}, command="mainmatter evaluate …", made=MADE))
    head, *rows = parsed.tables["figures"]
    assert head == ["method", "dataset", "pages", "precision", "recall", "f1", "failures"]
    terminal = [line.strip("| ").split("|") for line in to_table(found, ["bag"]).splitlines()[2:]]
    assert [[cell.replace(" (best)", "") for cell in row[:6]] for row in rows] == [
        [method.strip(), dataset.strip(), *(figure.strip() for figure in figures)]
        for dataset, method, *figures in terminal
    ]
    highest = max(one.scores["bag"]["f1"] for one in found)
    best = [one.method for one in found if one.scores["bag"]["f1"] == highest]
    assert [row[0] for row in rows if row[5].endswith(" (best)")] == best
    assert f"On tiny, {best[0]} is best" in parsed.text
    for words in ("mainmatter evaluate …", "2026-01-02 03:04 UTC", "8 pages"):
        assert words in parsed.text
    assert "learned from" not in parsed.text


def test_pages_that_a_model_has_learned_from_are_told(read: Callable[[str], Parsed]) -> None:
    known, old = evaluations(PAGES, methods=("main", "ice-baseline"))
    some = replace(known, learned_from=[True, *[False] * 7], unseen={"bag": {"f1": 0.25, "pages": 7}})
    found = [some, replace(old, learned_from=None)]
    head, first, second = read(evaluation_report(found, {"tiny": PAGES}, made=MADE)).tables["figures"]
    assert head[-2:] == ["learned from", "bag f1 on others"]
    assert first[-2:] == ["1", "0.250"]
    assert second[-2:] == ["unknown", "–"]


def test_groups_are_those_of_the_evaluation(read: Callable[[str], Parsed]) -> None:
    found = evaluations(PAGES)
    tables = read(evaluation_report(found, {"tiny": PAGES}, made=MADE)).tables
    assert [row[:2] for row in tables["tiny by page type"]] == [
        ["page type", "pages"],
        ["article", "4"],
        ["forum", "4"],
    ]
    for row in tables["tiny by page type"][1:]:
        expected = [f"{one.groups[f'page_type={row[0]}']['bag']['f1']:.3f}" for one in found]
        assert [cell.replace(" (best)", "") for cell in row[2:]] == expected
    assert [row[:2] for row in tables["tiny by language"][1:]] == [["de", "1"], ["en", "7"]]


def test_several_metrics_show_one_figure_each_and_all_below(read: Callable[[str], Parsed]) -> None:
    tables = read(report(PAGES, ("bag", "cleaneval", "snippet"))).tables
    assert tables["figures"][0][3:] == ["bag f1", "cleaneval combined", "snippet f1", "failures"]
    assert [row[5] for row in tables["figures"][1:]] == ["–"] * 3
    assert tables["cleaneval in detail"][0] == ["method", "dataset", "text only", "text and markup", "combined"]
    assert re.fullmatch(r"\d+\.\d ± \d+\.\d", tables["cleaneval in detail"][1][2])


def test_the_two_best_are_compared_as_the_t_test_does() -> None:
    found = evaluations(PAGES)
    comparison = compare_best(Study("tiny", "", len(PAGES), tuple(found)))
    assert comparison is not None
    first, second = sorted(found, key=lambda one: -one.scores["bag"]["f1"])[:2]
    assert (comparison.first, comparison.second) == (first, second)
    scores = [[(row["bag"] or {})["f1"] for _, row in one.pages] for one in (first, second)]
    assert comparison.test == paired_t_test(*scores)
    assert comparison.wins == sum(a > b for a, b in zip(*scores, strict=True))
    assert comparison.wins + comparison.losses + comparison.ties == 8
    assert comparison.mean == pytest.approx(first.scores["bag"]["f1"] - second.scores["bag"]["f1"])


def test_worst_and_best_pages_with_their_differences(read: Callable[[str], Parsed]) -> None:
    found = evaluate("ice-baseline", "tiny", PAGES, ["bag"])
    choice = study("tiny", PAGES, [found], worst=3, best=2).choices["ice-baseline"]
    ranked = sorted((row["bag"]["f1"], number, name) for number, (name, row) in enumerate(found.pages) if row["bag"])
    assert [page.id for page in choice.worst] == [name for _, _, name in ranked[:3]]
    assert choice.worst[0].score == ranked[0][0] < 1
    assert choice.best[0].score == ranked[-1][0]
    assert not {page.id for page in choice.worst} & {page.id for page in choice.best}
    diff = choice.worst[0].diff
    assert diff is not None
    assert (diff.missed, choice.worst[0].url) == (0, f"https://a.example/{choice.worst[0].id.removeprefix('page-')}")
    assert diff.wrong > 0
    html = evaluation_report([found], {"tiny": PAGES}, made=MADE)
    assert "<del>Home\nNews" in html
    assert choice.worst[0].id in read(html).text


def test_what_main_thinks_of_a_page_is_shown() -> None:
    choice = study("tiny", PAGES, [evaluate("main", "tiny", PAGES, ["bag"])]).choices["main"]
    page = (*choice.worst, *choice.best)[0]
    assert page.page_type is not None
    assert page.confidence is not None
    assert f"taken for {page.page_type} · confidence {page.confidence:.2f}" in report(PAGES, methods=["main"])


def test_nothing_of_a_page_is_markup(read: Callable[[str], Parsed]) -> None:
    page = GoldPage(
        Page(f"<p>{HOSTILE.replace('<', '&lt;')} and some words</p>", url=f"javascript:{HOSTILE}", id=HOSTILE),
        Gold(f"{HOSTILE} that are missed"),
        {"page_type": HOSTILE, "lang": "en"},
    )
    other = GoldPage(Page("<p>x", id="other"), Gold("y"), {"page_type": "b", "lang": "en"})
    found = evaluate("ice-baseline", HOSTILE, [page, other], ["bag"])
    html = evaluation_report([found], {HOSTILE: [page, other]}, command=HOSTILE, made=MADE)
    parsed = read(html)
    assert parsed.names().isdisjoint({"img", "b>", "iframe", "object", "embed", "form", "link", "base"})
    assert len(parsed.of("script")) == 1
    assert not [name for _, attributes in parsed.elements for name in attributes if name.startswith("on")]
    links = {attributes["href"] or "" for attributes in parsed.of("a")}
    assert all(link.startswith("#") for link in links)
    assert parsed.text.count("<script>alert(1)</script>") >= 5
    assert "\u202e" not in html
    assert "\x00" not in html


def test_the_policy_allows_our_script_and_nothing_else(read: Callable[[str], Parsed]) -> None:
    html = report(PAGES[:1])
    policy = next(one for one in read(html).of("meta") if one.get("http-equiv") == "Content-Security-Policy")
    script = re.search(r"<script>(.*?)</script>", html, re.DOTALL)
    assert script is not None
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert (policy["content"] or "").startswith(
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:"
    )
    assert not re.search(r"(?:src|href)=\"?(?!#|https://a\.example/)\w", html)
    assert "url(" not in html
    assert "@import" not in html


def test_the_same_evaluation_gives_the_same_report() -> None:
    assert report(PAGES[:3]) == report(PAGES[:3])


def test_no_evaluation_at_all(read: Callable[[str], Parsed]) -> None:
    parsed = read(evaluation_report([], {}, made=MADE))
    assert "Nothing was measured." in parsed.text
    assert parsed.tables == {}


def test_no_page(read: Callable[[str], Parsed]) -> None:
    parsed = read(report([]))
    assert [row[:3] for row in parsed.tables["figures"][1:]] == [[name, "tiny", "0"] for name in METHODS]
    assert "no page measured" in parsed.text


def test_one_page(read: Callable[[str], Parsed]) -> None:
    parsed = read(report(PAGES[:1]))
    assert "1 page, digest" in parsed.text
    assert "One page is too few for a test." in parsed.text


def test_snippets_where_there_is_no_gold_text(read: Callable[[str], Parsed]) -> None:
    page = GoldPage(
        Page("<p>alpha beta</p>", id="s"), Gold(must_have=("alpha", "gam<ma"), must_not_have=("beta", "x")), {}
    )
    parsed = read(report([page], ("snippet",), ["ice-baseline"]))
    assert "missed: gam<ma" in parsed.text
    assert "wrongly kept: beta" in parsed.text
    assert "2 are as they should be" in parsed.text


def test_pages_are_ranked_by_the_first_metric_that_the_dataset_can_be_measured_by(
    read: Callable[[str], Parsed],
) -> None:
    page = GoldPage(Page("<p>alpha</p>", id="s"), Gold(must_have=("alpha", "gamma"), must_not_have=("x",)), {})
    html = report([page], ("bag", "snippet"), ["ice-baseline", "density"])
    parsed = read(html)
    assert "snippet f1" in parsed.text.partition("Command")[0]
    assert "missed: gamma" in parsed.text
    assert "of 1 pages" in parsed.text


def test_gold_that_no_metric_can_use(read: Callable[[str], Parsed]) -> None:
    page = GoldPage(Page("<p>alpha", id="s"), Gold(must_have=("alpha",)), {})
    parsed = read(report([page], ("bag",), METHODS[:2]))
    assert [row[3:6] for row in parsed.tables["figures"][1:]] == [["–"] * 3] * 2


def test_pages_on_which_a_method_failed_are_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[str], Parsed]
) -> None:
    calls = []

    def fail_on_some(page: Page, with_metadata: bool) -> Output:
        calls.append(page.id)
        if page.id == "page-1":
            raise ValueError(f"cannot do it {HOSTILE}")
        return Output("the ferry")

    monkeypatch.setitem(PEERS, "turbohtml", fail_on_some)
    parsed = read(report(PAGES[:3], methods=["turbohtml"]))
    assert calls.count("page-1") == 1
    assert "It failed: ValueError: cannot do it" in parsed.text
    assert [row[:3] for row in parsed.tables["failures"][1:]] == [["page-1", "turbohtml", "tiny"]]


def test_one_failure_does_not_mark_other_pages_without_an_id(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[str], Parsed]
) -> None:
    def fail_on_some(page: Page, with_metadata: bool) -> Output:
        if page.url == "https://a.example/1":
            raise ValueError("cannot do it")
        return Output("the ferry")

    monkeypatch.setitem(PEERS, "turbohtml", fail_on_some)
    pages = [replace(one, page=replace(one.page, id=None)) for one in PAGES[:3]]
    parsed = read(report(pages, methods=["turbohtml"]))
    assert parsed.text.count("It failed: ValueError") == 1
    assert parsed.tables["failures"][1][0] == "(no id)"


def test_a_method_of_ones_own() -> None:
    found = evaluate(Density(c1=0.99), "tiny", PAGES[:2], ["bag"])
    own = evaluation_report([found], {"tiny": PAGES[:2]}, methods={"density": Density(c1=0.99)}, made=MADE)
    assert own != evaluation_report([found], {"tiny": PAGES[:2]}, made=MADE)


def test_the_size_is_bounded() -> None:
    words = " ".join(f"word{i} <p>" for i in range(20_000))
    pages = [
        GoldPage(Page(f"<p>{words}", id=str(i)), Gold(" ".join(f"w{i} x" for i in range(20_000))), {}) for i in range(3)
    ]
    assert len(report(pages, methods=["ice-baseline"]).encode()) < 200_000
    assert characters_each(1) == 6000
    assert characters_each(40) * 40 * 13 <= 3_000_000


def test_through_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[str], Parsed]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("tiny", "other"):
        for folder, content in (("html", "<p>one two three four"), ("gold", "one two")):
            (tmp_path / name / folder).mkdir(parents=True)
            (tmp_path / name / folder / ("a.html" if folder == "html" else "a.txt")).write_text(
                content, encoding="utf-8"
            )
    command = ["evaluate", "ice-baseline", "density", "--on", "tiny", "--on", "other", "-j", "1", "--report"]
    result = CliRunner().invoke(group, [*command, "new/report.html"])
    assert (result.exit_code, result.stderr) == (0, "report: new/report.html\n")
    parsed = read((tmp_path / "new/report.html").read_text(encoding="utf-8"))
    assert "mainmatter evaluate ice-baseline density --on tiny --on other --metric bag" in parsed.text
    assert [row[:2] for row in parsed.tables["figures"][1:]] == [
        [method, dataset] for dataset in ("tiny", "other") for method in ("ice-baseline", "density")
    ]
    result = CliRunner().invoke(group, [*command, "tiny"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "tiny: is a folder; name a file for the report, such as tiny/report.html" in result.stderr
    result = CliRunner().invoke(group, [*command, "tiny/html/a.html/report.html"])
    assert "a.html is not a folder" in result.stderr
    if Path("/proc/self").is_dir():  # a folder that even its owner cannot write to
        result = CliRunner().invoke(group, [*command, "/proc/report.html"])
        assert (result.exit_code, result.stdout) == (1, "")
        assert "/proc/report.html: no report can be written there; /proc cannot be written to" in result.stderr


@pytest.mark.parametrize(
    ("path", "message"),
    [("https://a.example/report.html", "name a file, or storage"), ("nosuch://a/report.html", "nosuch://")],
)
def test_places_that_cannot_be_written_to_are_told_before_any_work(path: str, message: str) -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(InputError, match=message):
        check_place(path)


def test_a_report_may_go_to_other_storage() -> None:
    fsspec = pytest.importorskip("fsspec")
    path = "memory://reports-go-here/report.html"
    check_place(path)
    write_report(path, "<p>ä")
    assert fsspec.filesystem("memory").cat("/reports-go-here/report.html") == "<p>ä".encode()
