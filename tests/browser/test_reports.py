"""Reports in a real browser: opened as files, they load nothing, can be sorted by keyboard, and read by all."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from mainmatter.corpus import Job, Report, Summary
from mainmatter.corpus.folder import SUMMARY, Folder, part_name
from mainmatter.corpus.plan import Plan, write_plan
from mainmatter.corpus.report import corpus_report
from mainmatter.corpus.writers import COLUMNS, make_writer
from mainmatter.lab.datasets import GoldPage
from mainmatter.lab.evaluation import evaluate
from mainmatter.lab.reports import evaluation_report
from mainmatter.records import Gold, Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Tab

pytest.importorskip("rapidfuzz")
pytest.importorskip("pyarrow")

MADE = datetime(2026, 1, 2, tzinfo=UTC)
SENTENCE = "The ferry to the island leaves at seven in the morning, and comes back when the tide allows it to."
HOSTILE = "<script>document.title='run'</script><img src=https://evil.example/x onerror=document.title='run'>"


@pytest.fixture(scope="module")
def evaluation_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = []
    for number in range(5):
        html = f"{'<ul><li><a href=/>Home</a></ul>' * number}<p>{SENTENCE} {HOSTILE.replace('<', '&lt;')}</p>"
        page = Page(html, url=f"https://a.example/{number}", id=f"{number} {HOSTILE}")
        groups = {"page_type": ("article", "forum", "listing")[number % 3], "lang": "en"}
        pages.append(GoldPage(page, Gold(f"{SENTENCE} {number} words more."), groups))
    found = [evaluate(name, "tiny", pages, ["bag", "shingle"]) for name in ("ice-baseline", "density", "ice-heuristic")]
    file = tmp_path_factory.mktemp("reports") / "evaluation.html"
    file.write_text(evaluation_report(found, {"tiny": pages}, made=MADE), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def corpus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reports") / "out"
    folder, writer = Folder(str(out)), make_writer(Job())
    write_plan(folder, Plan(Job(), ("crawl.warc.gz",), 2, {}, None, "0.1.0"), [[], []])
    for number in range(21):
        row = dict.fromkeys(COLUMNS) | {"id": str(number), "url": f"https://{number % 7}.example/", "text": HOSTILE}
        row |= {"title": HOSTILE, "language": "en", "confidence": number / 21, "words": 3**number, "method": "main"}
        writer.add(tuple(row[name] for name in COLUMNS))
    folder.write(part_name(0, "parquet"), writer.finish())
    for number in range(2):
        folder.mark(Report("clean", number, 15, 15, seconds=2.0 + number, bytes=1000))
    summary = Summary(str(out), 2, 31, 21, {"empty": 8, "not-a-page": 2}, {"request": 9}, 999, 2000, 5.0)
    folder.write(SUMMARY, json.dumps(summary.to_json()).encode())
    file = out.parent / "corpus.html"
    file.write_text(corpus_report(out, made=MADE), encoding="utf-8")
    return file


@pytest.fixture
def open_file(chromium: Browser) -> Iterator[Callable[..., Tab]]:
    """Opens a file in a tab; whatever goes wrong there, and any request but the file's own, fails the test."""
    wrong: list[str] = []
    contexts = []

    def open_tab(file: Path, **options: object) -> Tab:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 800}} | options)  # type: ignore[arg-type]
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: wrong.append(message.text))
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("request", lambda request: wrong.append(request.url) if request.url != file.as_uri() else None)
        tab.goto(file.as_uri())
        return tab

    yield open_tab
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["evaluation_file", "corpus_file"])
def test_it_opens_from_a_file_and_axe_finds_nothing_serious(
    name: str,
    scheme: str,
    request: pytest.FixtureRequest,
    open_file: Callable[..., Tab],
    axe: Callable[[Tab], list[str]],
) -> None:
    tab = open_file(request.getfixturevalue(name), color_scheme=scheme)
    tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert "run" not in tab.title()
    assert tab.locator("img, iframe, form").count() == 0
    assert axe(tab) == []
    paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(251, 250, 246)" if scheme == "light" else "rgb(21, 23, 26)")


@pytest.mark.parametrize("name", ["evaluation_file", "corpus_file"])
def test_on_a_phone_only_tables_scroll(
    name: str, request: pytest.FixtureRequest, open_file: Callable[..., Tab]
) -> None:
    tab = open_file(request.getfixturevalue(name), viewport={"width": 400, "height": 800})
    tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert tab.evaluate("document.documentElement.scrollWidth") == 400


def test_tables_are_sorted_by_keyboard(evaluation_file: Path, open_file: Callable[..., Tab]) -> None:
    tab = open_file(evaluation_file)
    table = tab.get_by_role("region", name="Table: figures")
    names = table.locator("tbody th")
    before = names.all_inner_texts()
    assert before == ["ice-baseline", "density", "ice-heuristic"]
    figures = [
        float(one)
        for one in table.locator("tbody td:nth-child(4)").evaluate_all("all => all.map(one => one.dataset.value)")
    ]
    best_first = [name for _, name in sorted(zip(figures, before, strict=True), reverse=True)]
    head = table.get_by_role("columnheader", name="bag f1")
    head.get_by_role("button").focus()
    tab.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert names.all_inner_texts() == best_first
    tab.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "ascending"
    assert names.all_inner_texts() == best_first[::-1]
    table.get_by_role("columnheader", name="method").get_by_role("button").focus()
    tab.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") is None
    assert names.all_inner_texts() == sorted(before)


def test_numbers_are_sorted_as_numbers(corpus_file: Path, open_file: Callable[..., Tab]) -> None:
    tab = open_file(corpus_file)
    table = tab.get_by_role("region", name="Table: sites")
    table.get_by_role("button", name="words").press("Enter")
    words = table.locator("tbody td:nth-child(3)").evaluate_all("all => all.map(one => Number(one.dataset.value))")
    assert words == sorted(words, reverse=True)
    assert len(words) == 7


def test_pages_are_unfolded_by_keyboard(evaluation_file: Path, open_file: Callable[..., Tab]) -> None:
    tab = open_file(evaluation_file)
    method = tab.locator("details.method").nth(1)
    assert not method.locator("div").first.is_visible()
    method.locator("summary").first.press("Enter")
    page = method.locator("details").first
    page.locator("summary").press("Enter")
    assert page.locator(".text").is_visible()
    assert page.locator("ins").first.is_visible()
    assert "words more" in page.locator(".text").inner_text()


def test_without_scripts_it_is_all_there(evaluation_file: Path, open_file: Callable[..., Tab]) -> None:
    tab = open_file(evaluation_file, java_script_enabled=False)
    assert tab.get_by_role("columnheader", name="bag f1").is_visible()
    assert tab.locator("thead button").count() == 0
    tab.locator("details.method summary").nth(0).click()


def test_what_is_folded_is_printed(evaluation_file: Path, open_file: Callable[..., Tab]) -> None:
    tab = open_file(evaluation_file, color_scheme="dark")
    folded = tab.locator("details:not([open])").count()
    assert folded > 5
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("details:not([open])").count() == 0
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.locator("details:not([open])").count() == folded
    assert tab.pdf()[:4] == b"%PDF"
