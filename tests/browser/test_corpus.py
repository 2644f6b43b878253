"""A corpus in Inspect, in a real browser: its list, its pages, and what it holds of those that are gone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import pytest

pytest.importorskip("playwright")
pytest.importorskip("fastwarc")
pytest.importorskip("pyarrow")
pytest.importorskip("fastapi")
from playwright.sync_api import expect

import crawls
from mainmatter import clean
from mainmatter.workbench import corpus
from stored_corpora import write_corpus

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
    """A server with two corpora; the archive of the second is gone."""
    folder = tmp_path_factory.mktemp("corpora")
    crawl = crawls.write_warc(folder / "crawl.warc.gz", PAGES)
    write_corpus(folder / "days", [str(crawl)], min_words=10)
    gone = crawls.write_warc(folder / "gone.warc.gz", crawls.pages(2))
    write_corpus(folder / "old", [str(gone)], format="jsonl", blocks=True)
    gone.unlink()
    corpora = (str(folder / "days"), str(folder / "old"), str(folder / "crawl.warc.gz"))
    with start_server(folder / "workbench", workers=1, corpora=corpora) as server:
        yield server


def open_inspect(tab: Page) -> None:
    tab.goto("/")
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    expect(tab.locator("#corpus-note")).to_have_text("Pages 1 to 50 of 60")


def expect_page(tab: Page, number: int, method: str = "density") -> None:
    """The whole view of a page of the first corpus is there."""
    expect(tab.locator("#page-title")).to_have_text(f"Day {number}")
    expect(tab.locator("#main")).not_to_have_attribute("aria-busy", "true")
    expect(tab.locator("#clean-text")).to_have_text(clean(crawls.page(number), method=method).text)


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


def test_a_corpus_is_walked_with_the_keyboard_alone(tab: Page) -> None:
    open_inspect(tab)
    expect(tab.locator("#corpus-about")).to_contain_text("61 pages read: 60 kept with")
    expect(tab.locator("#corpus-about")).to_contain_text("1 rejected (length 1)")
    tab.focus("#corpus-find")
    tab.keyboard.press("Tab")  # the list is one stop
    expect(tab.locator("#corpus-table button").first).to_be_focused()
    tab.keyboard.press("PageDown")
    expect(tab.locator("#corpus-note")).to_have_text("Pages 51 to 60 of 60")
    expect(tab.locator("#corpus-table button").first).to_be_focused()
    tab.keyboard.press("End")
    tab.keyboard.press("Home")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    expect_page(tab, 51)
    expect(tab.locator("#method")).to_have_value("density")  # the one that made the corpus
    expect(tab.frame_locator("#page iframe").locator("mm-block[data-state=kept]").first).to_be_attached()
    expect(tab.locator("#corpus-page-title")).to_be_focused()
    expect(tab.locator("#corpus-page-verdict")).to_have_text("page kept")
    for key, number in (("n", 52), ("p", 51), ("p", 50), ("p", 49)):  # the last one turns the list back
        tab.keyboard.press(key)
        expect_page(tab, number)
    tab.reload()
    expect_page(tab, 49)
    tab.click("#corpus-stored summary")
    expect(tab.locator("#corpus-facts")).to_contain_text("https://example.org/49")
    expect(tab.locator("#corpus-text")).to_have_text(clean(crawls.page(49), method="density").text)
    tab.click("#input-summary")
    expect(tab.locator("#corpus-table button[aria-current]")).to_have_text("Day 49")


def test_rejected_pages_and_words(tab: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    open_inspect(tab)
    tab.select_option("#corpus-which", "rejected:length")
    expect(tab.locator("#corpus-table tbody tr")).to_have_count(1)
    expect(tab.locator("#corpus-table tbody")).to_contain_text("2 words, fewer than 10")
    tab.click("#corpus-table button")
    expect(tab.locator("#page-title")).to_have_text("Short")
    expect(tab.locator("#corpus-page-verdict")).to_have_text("page rejected: length")
    tab.click("#input-summary")
    tab.select_option("#corpus-which", "kept")
    tab.fill("#corpus-find", "day ORG/5")
    expect(tab.locator("#corpus-note")).to_have_text("11 pages found among 60")
    expect(tab.locator("#corpus-table button").nth(1)).to_have_text("Day 50")
    tab.fill("#corpus-find", "nowhere")
    expect(tab.locator("#corpus-note")).to_have_text("0 pages found among 60")
    monkeypatch.setattr(corpus, "SECONDS", 0.0)  # a search that takes too long
    tab.fill("#corpus-find", "org/1")
    expect(tab.locator("#corpus-note")).to_contain_text("look on from there?")
    monkeypatch.undo()
    tab.get_by_role("button", name="Look on ›").click()
    expect(tab.locator("#corpus-note")).to_have_text("11 pages found among 59; that was the last part")


def test_pages_that_were_not_cleaned_and_one_that_is_pasted(tab: Page) -> None:
    open_inspect(tab)
    tab.select_option("#corpus-name", "crawl.warc.gz")
    expect(tab.locator("#corpus-about")).to_contain_text("not cleaned yet")
    expect(tab.locator("#corpus-note")).to_have_text("Pages 1 to 50")
    tab.click("#corpus-table button >> nth=2")
    expect(tab.locator("#page-title")).to_have_text("Day 2")
    expect(tab.locator("#corpus-page-counts")).to_contain_text("bytes, not cleaned yet")
    expect(tab.locator("#corpus-page-verdict")).to_be_hidden()
    tab.keyboard.press("n")
    expect(tab.locator("#page-title")).to_have_text("Day 3")
    tab.click("#input-summary")
    tab.click("#tab-input-page")
    tab.fill("#input-text", crawls.page(5, title="Pasted").decode())
    tab.click("#input-go")
    expect(tab.locator("#page-title")).to_have_text("Pasted")
    expect(tab.locator("#corpus-page")).to_be_hidden()
    tab.reload()
    expect(tab.locator("#page-title")).to_have_text("Pasted")


def test_what_is_held_is_shown_where_the_page_is_gone(tab: Page, watch: Watch) -> None:
    watch.expected.append(GONE)
    open_inspect(tab)
    tab.click("#corpus-table button >> nth=0")
    expect_page(tab, 0)
    tab.click("#input-summary")
    tab.select_option("#corpus-name", "old")
    expect(tab.locator("#corpus-page")).to_be_hidden()
    expect(tab.locator("#corpus-note")).to_have_text("Pages 1 to 2 of 2")
    tab.click("#corpus-table button >> nth=1")
    expect(tab.locator("#corpus-page-note")).to_contain_text(
        "gone.warc.gz is not there any more; perhaps it was moved."
    )
    expect(tab.locator("#result")).to_be_hidden()
    expect(tab.locator("#corpus-text")).to_have_text(clean(crawls.page(1), method="density").text)
    expect(tab.locator("#corpus-blocks .badge.kept").first).to_be_visible()
    expect(tab.locator("#problem")).to_be_empty()
    tab.keyboard.press("p")
    expect(tab.locator("#corpus-facts")).to_contain_text("Day 0")
    tab.reload()
    expect(tab.locator("#corpus-facts")).to_contain_text("Day 0")
    expect(tab.locator("#corpus-page-note")).to_contain_text("gone.warc.gz")


def test_haste_in_the_list_asks_for_nothing_twice(tab: Page) -> None:
    open_inspect(tab)
    first = tab.locator("#corpus-table button").first
    tab.focus("#corpus-more")
    tab.locator("#corpus-more").evaluate("(button) => { button.click(); button.click(); }")
    expect(first).to_be_focused()  # "Next" is of no use any more
    expect(tab.locator("#corpus-note")).to_have_text("Pages 51 to 60 of 60")
    tab.press("#corpus-back", "Enter")
    expect(first).to_be_focused()
    expect(tab.locator("#corpus-note")).to_have_text("Pages 1 to 50 of 60")
    tab.click("#corpus-table button >> nth=49")
    expect_page(tab, 49)
    press = "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'n', bubbles: true }));"
    tab.evaluate(press + press)
    expect_page(tab, 50)
    tab.click("#input-summary")
    tab.click("#corpus-back")
    expect(tab.locator("#corpus-note")).to_have_text("Pages 1 to 50 of 60")
    tab.locator("#corpus-which").evaluate(
        "(which) => { which.value = 'rejected'; which.dispatchEvent(new Event('change'));"
        " document.getElementById('corpus-more').click(); }"
    )
    expect(tab.locator("#corpus-note")).to_have_text("Pages 1 to 1 of 1")


def test_late_answers_and_those_that_fail(tab: Page, watch: Watch) -> None:
    held: list[Route] = []
    open_inspect(tab)
    tab.click("#corpus-table button >> nth=0")
    expect_page(tab, 0)
    hold(tab, "**/api/inspect", held)
    tab.keyboard.press("n")
    expect(tab.locator("#corpus-facts")).to_contain_text("https://example.org/1")
    tab.select_option("#method", "ice-baseline")
    expect_page(tab, 1, "ice-baseline")
    let_go(tab, held)
    expect_page(tab, 1, "ice-baseline")
    hold(tab, "**/api/inspect", held)
    tab.keyboard.press("n")
    expect(tab.locator("#corpus-facts")).to_contain_text("https://example.org/2")
    tab.click("#input-summary")
    hold(tab, "**/api/corpora/old", held)
    tab.select_option("#corpus-name", "old")
    tab.select_option("#corpus-name", "crawl.warc.gz")
    expect(tab.locator("#corpus-note")).to_have_text("Pages 1 to 50")
    let_go(tab, held)
    expect(tab.locator("#corpus-about")).to_contain_text("not cleaned yet")
    expect(tab.locator("#page-title")).to_have_text("Day 1")  # the page of the corpus that was left does not come
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
    expect(tab.locator("#corpus-table tbody tr")).to_have_text("Odd0––")


def test_without_a_corpus_it_says_how_to_open_one(tab: Page) -> None:
    tab.route("**/api/corpora", lambda route: route.fulfill(json={"corpora": []}))
    tab.goto("/")
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    expect(tab.locator("#input-text")).to_be_visible()
    tab.focus("#tab-input-page")
    tab.keyboard.press("ArrowRight")
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

    open_inspect(tab)
    tab.click("#corpus-table button >> nth=0")
    expect_page(tab, 0)
    tab.click("#corpus-stored summary")
    tab.click("#input-summary")
    tab.select_option("#corpus-which", "rejected")
    expect(tab.locator("#corpus-table tbody tr")).to_have_count(1)
    check("a list and a page")
    tab.select_option("#corpus-name", "old")
    expect(tab.locator("#corpus-note")).to_have_text(re.compile("^Pages 1 to 2"))
    tab.click("#corpus-table button >> nth=0")
    expect(tab.locator("#corpus-blocks")).to_be_visible()
    check("what is held")
