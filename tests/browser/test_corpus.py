"""Corpus, in a real browser: its list, sorted, filtered and searched; its pages, also those that are gone."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal

import pytest

pytest.importorskip("playwright")
pytest.importorskip("fastwarc")
pytest.importorskip("pyarrow")
pytest.importorskip("fastapi")
from playwright.sync_api import expect

import crawls
from browser.annotate_steps import ask
from mainmatter import clean
from mainmatter.corpus.search import build_index
from mainmatter.workbench import corpus
from stored_corpora import give_values, write_corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from playwright.sync_api import Page, Route

    from browser.conftest import Server, Watch

    Scheme = Literal["light", "dark"]

PAGES = crawls.pages(60) | {"https://example.org/short": b"<title>Short</title><p>Too short.</p>"}
GONE = "status of 422"  # what a browser notes when the server has no original


@pytest.fixture(scope="module")
def server(
    start_server: Callable[..., AbstractContextManager[Server]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A server with two corpora, and the archive of the first; that of the second is gone. The first has an index."""
    folder = tmp_path_factory.mktemp("corpora")
    crawl = crawls.write_warc(folder / "crawl.warc.gz", PAGES)
    write_corpus(folder / "days", [str(crawl)], min_words=10)
    # As if a method had said how sure it was: the later a day, the less.
    give_values(folder / "days", "confidence", [round(1 - i / 100, 2) for i in range(60)])
    give_values(folder / "days", "page_type", ["forum" if i % 10 == 0 else "article" for i in range(60)])
    pytest.importorskip("tantivy")
    build_index(folder / "days", folder / "days" / "__index")
    gone = crawls.write_warc(folder / "gone.warc.gz", crawls.pages(2))
    write_corpus(folder / "old", [str(gone)], format="jsonl", blocks=True)
    gone.unlink()
    corpora = (str(folder / "days"), str(folder / "old"), str(folder / "crawl.warc.gz"))
    with start_server(folder / "workbench", workers=1, corpora=corpora) as server:
        yield server


def open_corpus(tab: Page, query: str = "") -> None:
    tab.goto(f"/corpus{query}")
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")


def expect_list(tab: Page, note: str | re.Pattern[str]) -> None:
    expect(tab.locator("#corpus-note")).to_have_text(note)


def expect_page(tab: Page, number: int) -> None:
    """All of a page of the first corpus is there: what is held of it, and the page itself, tinted."""
    expect(tab.locator("#corpus-page-title")).to_have_text(f"Day {number}")
    expect(tab.locator("#corpus-text")).to_have_text(clean(crawls.page(number), method="density").text)
    expect(tab.locator("#page")).to_have_attribute("data-shown", re.compile("^kept-"))
    expect(tab.frame_locator("#page iframe").locator("h1")).to_have_text(f"Day {number}")
    expect(tab.frame_locator("#page iframe").locator("mm-block[data-state=kept]").first).to_be_attached()


def hold(tab: Page, address: str, held: list[Route]) -> None:
    """Keep the next question to an address from the server."""
    seen: list[Route] = []

    def keep(route: Route) -> None:  # not `times=1`: with its last handler gone, Playwright lets all go
        seen.append(route)
        if len(seen) == 1:
            held.append(route)
        else:
            route.fallback()

    tab.route(address, keep)


def let_go(tab: Page, held: list[Route]) -> None:
    """Let the answers come that were held back, and wait until the page has them."""
    while held:
        route = held.pop()
        with tab.expect_response(route.request.url):
            route.continue_()
    expect(tab.locator("#working")).to_have_count(0)


def test_a_corpus_is_walked_with_the_keyboard_alone_and_back(tab: Page) -> None:
    open_corpus(tab)
    expect_list(tab, "Pages 1 to 50 of 60")
    expect(tab.locator("#corpus-about")).to_contain_text("61 pages read: 60 kept with")
    expect(tab.locator("#corpus-about")).to_contain_text("1 rejected (length 1)")
    tab.focus("#corpus-most-words")
    tab.keyboard.press("Tab")  # the list is one stop
    expect(tab.locator("#corpus-table button").first).to_be_focused()
    tab.keyboard.press("PageDown")
    expect_list(tab, "Pages 51 to 60 of 60")
    expect(tab.locator("#corpus-table button").first).to_be_focused()
    for key in ("End", "Home", "ArrowDown", "Enter"):
        tab.keyboard.press(key)
    expect_page(tab, 51)
    expect(tab.locator("#corpus-page-title")).to_be_focused()
    expect(tab.locator("#corpus-page-verdict")).to_have_text("page kept")
    expect(tab.locator("#corpus-inspect")).to_have_attribute("href", "/?corpus=days&page=kept-0-51")
    for key, number in (("n", 52), ("p", 51), ("p", 50), ("p", 49)):  # the last one turns the list back
        tab.keyboard.press(key)
        expect_page(tab, number)
    tab.reload()
    expect_page(tab, 49)
    tab.go_back()
    expect_page(tab, 50)
    tab.go_forward()
    expect_page(tab, 49)
    tab.get_by_role("tab", name="Facts").click()
    expect(tab.locator("#corpus-facts")).to_contain_text("https://example.org/49")
    tab.keyboard.press("Escape")
    expect(tab.locator("#corpus-table button[aria-current]")).to_have_text("Day 49")
    expect(tab.locator("#corpus-table button[aria-current]")).to_be_focused()
    for _ in range(6):  # the list, 49, 50, 51, 52, 51, and where it began
        tab.go_back()
    expect_list(tab, "Pages 51 to 60 of 60")
    expect(tab.locator("#page-view")).to_be_hidden()
    tab.go_back()
    expect_list(tab, "Pages 1 to 50 of 60")
    expect(tab).to_have_url(re.compile("/corpus$"))


def test_sorted_and_filtered_in_an_address_that_can_be_shared(tab: Page, new_tab: Callable[..., Page]) -> None:
    open_corpus(tab)
    tab.select_option("#corpus-sort", "least-sure")
    first = tab.locator("#corpus-table tbody tr").first
    expect(first).to_contain_text("Day 59")
    expect(tab.locator("th[aria-sort]")).to_have_text("Confidence")
    expect_list(tab, "Pages 1 to 50 of 60")
    tab.get_by_role("button", name="Next ›").first.click()
    expect_list(tab, "Pages 51 to 60 of 60")
    tab.select_option("#corpus-page-type", "forum")
    expect_list(tab, "Pages 1 to 6")
    tab.fill("#corpus-most-confidence", "0.75")
    expect_list(tab, "Pages 1 to 3")
    expect(tab.locator("#corpus-table th button")).to_have_text(["Day 50", "Day 40", "Day 30"])
    other = new_tab()
    other.goto(tab.url)
    expect(other.locator("#corpus-table th button")).to_have_text(["Day 50", "Day 40", "Day 30"])
    other.click("#corpus-table button >> nth=1")
    expect_page(other, 40)
    other.keyboard.press("n")
    expect_page(other, 30)
    tab.go_back()
    expect_list(tab, "Pages 1 to 6")
    expect(tab.locator("#corpus-most-confidence")).to_have_value("")
    tab.select_option("#corpus-sort", "")
    expect_list(tab, "6 pages found among 60")
    tab.fill("#corpus-least-confidence", "2")  # the browser says what is wrong with that
    tab.select_option("#corpus-page-type", "")
    expect_list(tab, "6 pages found among 60")


def test_an_order_that_was_not_read_to_its_end_says_so(tab: Page) -> None:
    pages = [{"key": "kept-0-0", "title": "So far", "words": 5}]
    stopped = {"pages": pages, "next": None, "ran_out": True, "looked_at": 1000}
    whole = {"pages": [*pages, {"key": "kept-0-1", "title": "Later"}], "next": None, "ran_out": False, "looked_at": 60}
    open_corpus(tab)
    tab.route(
        "**/pages?*sort=longest*", lambda route: route.fulfill(json=whole if "go_on" in route.request.url else stopped)
    )
    tab.select_option("#corpus-sort", "longest")
    expect_list(
        tab,
        "Pages 1 to 1 of 60; sorted among the 1,000 of 60 pages that were read in 3 seconds.",
    )
    tab.get_by_role("button", name="Keep reading").click()
    expect_list(tab, "Pages 1 to 2 of 60")
    expect(tab.get_by_role("button", name="Keep reading")).to_be_hidden()


def test_words_are_found_in_the_texts(tab: Page) -> None:
    open_corpus(tab)
    tab.select_option("#corpus-where", "text")
    tab.fill("#corpus-find", '"Day 17"')
    expect_list(tab, "Pages 1 to 1 of 1, best first")
    expect(tab.locator("#corpus-table .snippet mark").first).to_have_text(re.compile("^day$", re.IGNORECASE))
    expect(tab.locator("#corpus-sort")).to_be_disabled()
    tab.click("#corpus-table button")
    expect_page(tab, 17)
    tab.go_back()
    expect(tab.locator("#corpus-find")).to_have_value('"Day 17"')
    tab.fill("#corpus-find", "ferry")
    expect_list(tab, "Pages 1 to 50 of 60, best first")
    tab.get_by_role("button", name="Next ›").first.click()
    expect_list(tab, "Pages 51 to 60 of 60, best first")
    tab.select_option("#corpus-name", "old")
    expect_list(tab, "Pages 1 to 2 of 2")
    tab.select_option("#corpus-where", "text")
    tab.fill("#corpus-find", "ferry")
    expect(tab.locator("#corpus-hint")).to_contain_text("mainmatter index OUT")
    expect(tab.locator("#corpus-table")).to_be_hidden()


def test_the_least_sure_go_to_annotate_and_a_page_is_corrected(tab: Page, server: Server) -> None:
    open_corpus(tab, "?page_type=article&find=org/5")
    expect_list(tab, "10 pages found among 60")  # 5, and nine of the fifties
    tab.click("#corpus-send")
    expect(tab.locator("#corpus-sent")).to_contain_text("10 pages added. Go to Annotate", timeout=60_000)
    rows = ask(f"{server.url}/api/annotate/pages?annotator=x")["pages"]
    assert {row["note"] for row in rows} == {f"confidence {1 - i / 100:.2f}" for i in (5, *range(51, 60))}
    assert rows[0]["name"] == "https://example.org/59"
    tab.fill("#corpus-find", "")
    expect_list(tab, re.compile("there may be more$"))  # 54 of 60
    tab.click("#corpus-send")
    expect(tab.locator("#corpus-sent")).to_contain_text("11 pages added, 9 already there.")
    tab.click("#corpus-sent a")
    expect(tab.get_by_role("heading", level=1)).to_have_text("Annotate")
    tab.go_back()
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")

    asked: list[dict[str, Any]] = []

    def answer(route: Route) -> None:
        asked.append(json.loads(route.request.post_data or ""))
        route.fulfill(json={"page": 1, "labelled": 3, "url": "/annotate#/page/1"})

    tab.route("**/api/annotate/correct", answer)
    tab.evaluate("localStorage.setItem('mainmatter-annotator', 'Ada')")
    open_corpus(tab, "?name=days&page=kept-0-7")
    expect_page(tab, 7)
    tab.get_by_role("button", name="Correct this page").click()
    tab.wait_for_url("**/annotate#/page/1")
    page = {"name": "days", "page": "kept-0-7"}
    assert asked == [{"corpus": page, "method": "density", "options": {}, "annotator": "Ada"}]


def test_rejected_pages_and_words(tab: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    open_corpus(tab)
    tab.select_option("#corpus-which", "rejected:length")
    expect(tab.locator("#corpus-table tbody tr")).to_have_count(1)
    expect(tab.locator("#corpus-table tbody")).to_contain_text("2 words, fewer than 10")
    expect(tab.locator("#corpus-choice")).to_be_hidden()
    tab.click("#corpus-table button")
    expect(tab.frame_locator("#page iframe").locator("p")).to_have_text("Too short.")
    expect(tab.locator("#corpus-page-verdict")).to_have_text("page rejected: length")
    tab.get_by_role("button", name="All pages").click()
    tab.select_option("#corpus-which", "kept")
    tab.fill("#corpus-find", "day ORG/5")
    expect_list(tab, "11 pages found among 60")
    expect(tab.locator("#corpus-table button").nth(1)).to_have_text("Day 50")
    tab.fill("#corpus-find", "nowhere")
    expect_list(tab, "0 pages found among 60")
    monkeypatch.setattr(corpus, "SECONDS", 0.0)  # a search that takes too long
    tab.fill("#corpus-find", "org/1")
    expect(tab.locator("#corpus-note")).to_contain_text("Keep looking?")
    monkeypatch.undo()
    tab.get_by_role("button", name="Keep looking ›").click()
    expect_list(tab, "11 pages found among 59; end of the list")


def test_pages_that_were_not_cleaned(tab: Page) -> None:
    open_corpus(tab)
    tab.select_option("#corpus-name", "crawl.warc.gz")
    expect(tab.locator("#corpus-about")).to_contain_text("not been cleaned yet")
    expect_list(tab, "Pages 1 to 50")
    expect(tab.locator("#corpus-choice")).to_be_hidden()
    tab.click("#corpus-table button >> nth=2")
    expect(tab.frame_locator("#page iframe").locator("h1")).to_have_text("Day 2")
    expect(tab.locator("#corpus-page-counts")).to_contain_text("bytes, not cleaned yet")
    expect(tab.locator("#corpus-page-verdict")).to_be_hidden()
    expect(tab.locator("#corpus-asked")).to_have_text("by main")
    tab.keyboard.press("n")
    expect(tab.frame_locator("#page iframe").locator("h1")).to_have_text("Day 3")
    tab.keyboard.press("?")
    expect(tab.locator("#help")).to_contain_text("back to the list")
    tab.keyboard.press("Escape")
    expect(tab.locator("#help")).to_have_count(0)
    expect(tab.locator("#page-view")).to_be_visible()


def test_what_is_held_is_shown_where_the_page_is_gone(tab: Page, watch: Watch) -> None:
    watch.expected.append(GONE)
    open_corpus(tab, "?name=old")
    expect_list(tab, "Pages 1 to 2 of 2")
    tab.click("#corpus-table button >> nth=1")
    gone = "gone.warc.gz no longer exists; it may have been moved."
    expect(tab.locator("#corpus-page-note")).to_contain_text(gone)
    expect(tab.locator("#corpus-original")).to_be_hidden()
    expect(tab.get_by_role("button", name="Correct this page")).to_be_disabled()
    expect(tab.locator("#corpus-text")).to_have_text(clean(crawls.page(1), method="density").text)
    tab.get_by_role("tab", name="Blocks").click()
    expect(tab.locator("#corpus-blocks .badge.kept").first).to_be_visible()
    expect(tab.locator("#problem")).to_be_empty()
    tab.keyboard.press("p")
    expect(tab.locator("#corpus-page-title")).to_have_text("Day 0")
    tab.reload()
    expect(tab.locator("#corpus-page-title")).to_have_text("Day 0")
    expect(tab.locator("#corpus-page-note")).to_contain_text("gone.warc.gz")
    open_corpus(tab, "?name=old&page=kept-0-99")
    expect(tab.locator("#problem")).to_contain_text("the row at 99 is missing or damaged")
    expect_list(tab, "Pages 1 to 2 of 2")


def test_haste_in_the_list_asks_for_nothing_twice(tab: Page) -> None:
    open_corpus(tab)
    first = tab.locator("#corpus-table button").first
    tab.focus("#corpus-more")
    tab.locator("#corpus-more").evaluate("(button) => { button.click(); button.click(); }")
    expect(first).to_be_focused()  # "Next" is of no use any more
    expect_list(tab, "Pages 51 to 60 of 60")
    tab.press("#corpus-back", "Enter")
    expect(first).to_be_focused()
    expect_list(tab, "Pages 1 to 50 of 60")
    tab.click("#corpus-table button >> nth=49")
    expect_page(tab, 49)
    press = "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'n', bubbles: true }));"
    tab.evaluate(press + press)
    expect_page(tab, 50)
    tab.keyboard.press("Escape")
    tab.click("#corpus-back")
    expect_list(tab, "Pages 1 to 50 of 60")
    tab.locator("#corpus-which").evaluate(
        "(which) => { which.value = 'rejected'; which.dispatchEvent(new Event('change'));"
        " document.getElementById('corpus-more').click(); }"
    )
    expect_list(tab, "Pages 1 to 1 of 1")


def test_late_answers_and_those_that_fail(tab: Page, watch: Watch) -> None:
    held: list[Route] = []
    open_corpus(tab)
    tab.click("#corpus-table button >> nth=0")
    expect_page(tab, 0)
    hold(tab, "**/api/inspect", held)
    tab.keyboard.press("n")
    expect(tab.locator("#corpus-page-title")).to_have_text("Day 1")
    tab.keyboard.press("n")
    expect_page(tab, 2)
    let_go(tab, held)
    expect_page(tab, 2)  # the page itself is not that of the one before
    tab.keyboard.press("Escape")
    hold(tab, "**/api/corpora/old", held)
    tab.select_option("#corpus-name", "old")
    tab.select_option("#corpus-name", "crawl.warc.gz")
    expect_list(tab, "Pages 1 to 50")
    let_go(tab, held)
    expect(tab.locator("#corpus-about")).to_contain_text("not been cleaned yet")
    expect(tab.locator("#corpus-table")).to_be_visible()
    watch.expected.append("status of 429")
    tab.route("**/api/corpora/days", lambda route: route.fulfill(status=429, json={"error": "too many"}), times=1)
    tab.select_option("#corpus-name", "days")
    expect(tab.locator("#corpus-problem")).to_contain_text("Too many")
    expect(tab.locator("#corpus-about")).to_be_empty()
    odd = {"pages": [{"key": "kept-0-0", "title": "Odd", "confidence": "high"}], "next": None, "ran_out": False}
    tab.route("**/api/corpora/days/pages?*", lambda route: route.fulfill(json=odd), times=1)
    tab.fill("#corpus-find", "odd")  # asks again what the corpus is
    expect(tab.locator("#corpus-about")).to_contain_text("61 pages read")
    expect(tab.locator("#corpus-table tbody tr")).to_have_text("Odd0–––")


def test_without_a_corpus_it_says_how_to_open_one(tab: Page) -> None:
    tab.route("**/api/corpora", lambda route: route.fulfill(json={"corpora": []}))
    open_corpus(tab)
    expect(tab.locator("#corpus-none")).to_contain_text("mainmatter serve --corpus OUT")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_it_fits_and_axe_finds_nothing(
    new_tab: Callable[..., Page], axe: Callable[[Page], list[str]], watch: Watch, width: int, scheme: Scheme
) -> None:
    watch.expected.append(GONE)
    tab = new_tab(viewport={"width": width, "height": 800}, color_scheme=scheme)

    def check(what: str) -> None:
        assert axe(tab) == [], what
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, what

    open_corpus(tab, "?where=text&find=ferry")
    expect(tab.locator("#corpus-table mark").first).to_be_visible()
    check("what was found")
    tab.click("#corpus-table button >> nth=0")
    expect(tab.locator("#page")).to_have_attribute("data-shown", re.compile("^kept-"))
    check("a page")
    open_corpus(tab, "?which=rejected")
    expect(tab.locator("#corpus-table tbody tr")).to_have_count(1)
    check("rejected pages")
    open_corpus(tab, "?name=old&page=kept-0-0")
    expect(tab.locator("#corpus-page-note")).to_be_visible()
    tab.get_by_role("tab", name="Blocks").click()
    check("what is held")
