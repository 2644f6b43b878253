"""Inspect in a real browser: what is kept is shown, everywhere at once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import pytest

from mainmatter import clean

pytest.importorskip("playwright")
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator, Page

    Scheme = Literal["light", "dark"]

STATIC = Path(__file__).parents[2] / "src/mainmatter/workbench/static"
EXAMPLE = (STATIC / "example.html").read_text()
URL = "https://harbourlamp.example/stories/tide-clock"
BLOCK = 8  # a paragraph of the example
SMALL = {"width": 400, "height": 800}
KEPT_IN_FRAME = """() => [...document.querySelector("#page iframe").contentDocument.querySelectorAll("mm-block")]
    .filter((mark) => mark.dataset.state === "kept").map((mark) => Number(mark.dataset.block))"""
# Turns the dial; gives how many milliseconds that took, and how many until the text was there.
TURN = """(dial, [value, text]) => new Promise((resolve) => {
  const start = performance.now();
  dial.value = value;
  dial.dispatchEvent(new Event("input"));
  const turned = performance.now() - start;
  const look = () => document.querySelector("#clean-text").textContent === text
    ? resolve([turned, performance.now() - start]) : setTimeout(look, 1);
  look();
})"""


def open_page(tab: Page, html: str = EXAMPLE, address: str = "/") -> None:
    tab.goto(address)
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    tab.fill("#input-text", html)
    if html is EXAMPLE:
        tab.fill("#input-url", URL)
    tab.click("#input-go")
    expect(tab.locator("#result")).to_be_visible()
    expect(tab.locator("#main")).not_to_have_attribute("aria-busy", "true")
    expect(tab.frame_locator("#page iframe").locator("mm-block[data-state]").first).to_be_attached()


def frame_mark(tab: Page, block: int) -> Locator:
    return tab.frame_locator("#page iframe").locator(f'mm-block[data-block="{block}"]').first


def kept_in_frame(tab: Page) -> set[int]:
    return set(tab.evaluate(KEPT_IN_FRAME))


def text_of(tab: Page) -> str:
    return str(tab.locator("#clean-text").text_content())


def wait_for_text(tab: Page, text: str) -> None:
    """Wait until the clean text is this one, to the letter."""
    tab.wait_for_function("text => document.querySelector('#clean-text').textContent === text", arg=text)


def set_dial(tab: Page, value: float) -> None:
    tab.locator("#dial").evaluate(
        "(dial, value) => { dial.value = value; dial.dispatchEvent(new Event('input')); "
        "dial.dispatchEvent(new Event('change')); }",
        value,
    )


def test_a_pasted_page_is_shown_with_its_text(tab: Page) -> None:
    open_page(tab)
    extraction = clean(EXAMPLE, url=URL)
    expect(tab.locator("#page-title")).to_have_text("The clock that counted fish")
    expect(tab.locator("#counts")).to_contain_text(f"{len(extraction)} of {len(extraction.document)} blocks kept")
    expect(tab.locator("#counts")).to_contain_text("page type: article")
    wait_for_text(tab, extraction.text)
    assert kept_in_frame(tab) == set(extraction.kept.nonzero()[0].tolist())
    expect(frame_mark(tab, BLOCK)).to_have_attribute("data-state", "kept")
    expect(frame_mark(tab, 0)).to_have_attribute("data-state", "dropped")
    assert "rgba(46, 160, 80" in frame_mark(tab, BLOCK).evaluate("mark => getComputedStyle(mark).backgroundColor")
    assert "line-through" in frame_mark(tab, 0).evaluate("mark => getComputedStyle(mark).textDecorationLine")
    tab.click("#about summary")
    expect(tab.locator("#metadata")).to_contain_text("Ida Marsh")


LOOKS = """(mark) => {
    let ground = mark.parentElement;
    while (getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
    const look = getComputedStyle(mark);
    return [mark.textContent, look.textDecorationColor, look.outlineStyle, getComputedStyle(ground).backgroundColor];
}"""


def contrast(colour: str, ground: str) -> float:
    """The contrast of a colour, which may be translucent, with what is behind it (WCAG 2.2, contrast ratio)."""
    scale = 1 if colour.startswith("color(srgb") else 255
    red, green, blue, alpha = [*map(float, re.findall(r"[\d.]+", colour)), 1.0][:4]
    behind = [float(part) / 255 for part in re.findall(r"[\d.]+", ground)[:3]]
    before = [
        part / scale * alpha + below * (1 - alpha) for part, below in zip((red, green, blue), behind, strict=True)
    ]
    first, second = (
        sum(
            weight * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
            for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True)
        )
        for parts in (before, behind)
    )
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)


def test_what_is_dropped_is_seen_on_dark_ground_and_on_light(tab: Page) -> None:
    open_page(tab)
    dropped = tab.frame_locator("#page iframe").locator('mm-block[data-state="dropped"]')
    looks = dropped.evaluate_all(f"marks => marks.map({LOOKS})")
    for text, strike, outline, ground in looks:
        assert contrast(strike, ground) > 2.5, (text, strike, ground)
        assert outline == "dashed", text
    assert len({ground for *_, ground in looks}) >= 3
    in_legend = tab.locator(".legend .badge.dropped")
    assert in_legend.evaluate("chip => getComputedStyle(chip).textDecorationLine") == "line-through"
    assert in_legend.evaluate("chip => getComputedStyle(chip).borderStyle") == "dashed"


def test_formats_and_wishes_are_those_of_the_library(tab: Page) -> None:
    open_page(tab)
    tab.check("input[name=format][value=cleaneval]", force=True)
    wait_for_text(tab, clean(EXAMPLE, url=URL).cleaneval)
    tab.check("input[name=format][value=markdown]", force=True)
    expect(tab.locator("#clean-text")).to_have_text(re.compile("^# The clock"))
    wait_for_text(tab, clean(EXAMPLE, url=URL).markdown)
    tab.check("input[name=format][value=text]", force=True)
    tab.check("input[name=comments][value=mark]", force=True)
    expect(tab.locator("#clean-text")).to_contain_text("--- Comments ---")
    wait_for_text(tab, clean(EXAMPLE, url=URL, comments="mark").text)
    tab.uncheck("input[name=tables]")
    expect(tab.locator("#clean-text")).not_to_contain_text("1934")
    wait_for_text(tab, clean(EXAMPLE, url=URL, comments="mark", tables=False).text)
    tab.select_option("#method", "density")
    expect(tab.locator("#dial")).to_be_disabled()
    expect(tab.locator("#comments input").first).to_be_disabled()
    wait_for_text(tab, clean(EXAMPLE, url=URL, method="density").text)


def test_a_block_that_is_pointed_at_stands_out_everywhere(tab: Page) -> None:
    open_page(tab)
    tab.click("#tab-table")
    box = frame_mark(tab, BLOCK).bounding_box()
    assert box is not None
    tab.mouse.move(box["x"] + 20, box["y"] + 8)
    row = tab.locator(f'#table tr[data-block="{BLOCK}"]')
    expect(row).to_have_attribute("data-focus", "")
    expect(frame_mark(tab, BLOCK)).to_have_attribute("data-focus", "")
    expect(tab.locator("#detail")).to_contain_text(f"Block {BLOCK}")
    expect(tab.locator("#plot .pointer")).not_to_have_attribute("d", "")
    tab.locator('#table tr[data-block="7"]').hover()  # and from the table to the page
    expect(frame_mark(tab, 7)).to_have_attribute("data-focus", "")
    expect(frame_mark(tab, BLOCK)).not_to_have_attribute("data-focus", "")
    tab.click("#tab-plot")
    plot = tab.locator("#plot svg").bounding_box()
    assert plot is not None
    tab.mouse.move(plot["x"] + plot["width"] - 42, plot["y"] + 100)  # the last block: out of view in the page
    last = len(clean(EXAMPLE).document) - 1
    expect(frame_mark(tab, last)).to_have_attribute("data-focus", "")
    expect(frame_mark(tab, last)).to_be_in_viewport()
    tab.click("#tab-text")
    tab.locator(f'#clean-text [data-block="{BLOCK}"]').hover()
    expect(frame_mark(tab, BLOCK)).to_have_attribute("data-focus", "")
    tab.check("input[name=format][value=markdown]", force=True)
    kept = clean(EXAMPLE, url=URL)
    expect(tab.locator("#clean-text")).to_contain_text("# The clock")
    expect(tab.locator("#clean-text [data-block]")).to_have_count(len(kept))
    tab.locator('#clean-text [data-block="12"]').hover()  # an item of a list
    expect(tab.locator('#clean-text [data-block="12"]')).to_have_text(f"- {kept.document.blocks[12].text}")
    expect(frame_mark(tab, 12)).to_have_attribute("data-focus", "")
    tab.keyboard.press("2")
    expect(tab.locator("#plot .pointer")).to_have_attribute("d", re.compile("^M"))


def test_keys_walk_from_block_to_block(tab: Page) -> None:
    open_page(tab)
    tab.locator("#page").focus()
    for key in ("j", "ArrowDown", "ArrowDown", "k"):
        tab.keyboard.press(key)
    expect(frame_mark(tab, 1)).to_have_attribute("data-focus", "")
    expect(tab.locator("#live")).to_contain_text("Block 1, dropped")
    tab.keyboard.press("Enter")
    expect(tab.locator("#detail")).to_contain_text("pinned")
    frame_mark(tab, BLOCK).scroll_into_view_if_needed()
    box = frame_mark(tab, BLOCK).bounding_box()
    assert box is not None
    tab.mouse.move(box["x"] + 20, box["y"] + 8)
    expect(frame_mark(tab, 1)).to_have_attribute("data-pinned", "")  # what is pinned stays
    tab.keyboard.press("Escape")
    expect(tab.locator("#detail")).to_contain_text("Point at a block")
    tab.check("input[name=comments][value=keep]", force=True)  # takes no letters
    tab.keyboard.press("3")
    expect(tab.locator("#view-table")).to_be_visible()
    tab.keyboard.press("2")
    expect(tab.locator("#view-plot")).to_be_visible()
    tab.keyboard.press("?")
    expect(tab.locator("#help")).to_be_visible()
    tab.keyboard.press("Escape")
    expect(tab.locator("#help")).not_to_be_visible()


def test_the_dial_is_felt_at_once(tab: Page, watch: Any) -> None:
    open_page(tab)
    asked = len(watch.requests)
    kept: dict[float, set[int]] = {}
    milliseconds: dict[float, float] = {}
    until_text: dict[float, float] = {}
    dials = [0.0, 0.25, 0.5, 0.75, 1.0]
    for dial in dials * 3:  # a busy machine may take the processor away in the midst of one
        took = tab.locator("#dial").evaluate(TURN, [dial, clean(EXAMPLE, url=URL, dial=dial).text])
        milliseconds[dial] = min(took[0], milliseconds.get(dial, took[0]))
        until_text.setdefault(dial, took[1])  # the first time: later, the text is known
        kept[dial] = kept_in_frame(tab)
    assert max(milliseconds.values()) < 50
    assert min(until_text[dial] for dial in dials if dial != 0.5) < 100, "the text came late"
    assert kept[0.0] < kept[0.5] < kept[1.0]
    expect(tab.locator("#dial-value")).to_have_text("1.00")
    questions = watch.requests[asked:]
    assert len(questions) <= len(dials), "a text that is known was asked for again"
    assert {urlsplit(url).path for url in questions} == {"/api/inspect/text"}, "the dial asked for more than its text"


def test_the_table_sorts_and_filters(tab: Page) -> None:
    open_page(tab)
    tab.keyboard.press("3")
    tab.check("input[name=filter][value=kept]", force=True)
    extraction = clean(EXAMPLE, url=URL)
    expect(tab.locator("#table-count")).to_have_text(f"{len(extraction)} blocks")
    tab.get_by_role("button", name="Score").click()
    expect(tab.locator("th[aria-sort=descending]")).to_contain_text("Score")
    tab.get_by_role("button", name="Score").click()
    first = tab.locator("#table tr.block").first
    kept = zip(extraction.scores.tolist(), extraction.labels, extraction.kept, strict=True)
    lowest, label = min((score, label) for score, label, is_kept in kept if is_kept)
    expect(first).to_contain_text(f"{lowest:.2f}")
    expect(first).to_contain_text(label)


def test_a_reload_keeps_the_page_and_the_choices(tab: Page) -> None:
    open_page(tab)
    set_dial(tab, 0.8)
    tab.keyboard.press("3")
    tab.check("input[name=comments][value=keep]", force=True)
    expect(tab.locator("#main")).not_to_have_attribute("aria-busy", "true")
    expect(tab).to_have_url(re.compile(r"dial=0\.8"))
    tab.reload()
    expect(tab.locator("#page-title")).to_have_text("The clock that counted fish")
    expect(tab.locator("#view-table")).to_be_visible()
    expect(tab.locator("#dial-value")).to_have_text("0.80")
    tab.keyboard.press("1")
    expect(tab.locator("#view-text")).to_be_visible()
    wait_for_text(tab, clean(EXAMPLE, url=URL, dial=0.8, comments="keep").text)


def test_files_examples_and_dumps_can_be_opened(tab: Page) -> None:
    tab.goto("/")
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    tab.click("#input-go")
    expect(tab.locator("#problem")).to_contain_text("nothing to look at")
    page = "<meta charset=iso-8859-1><title>Flüsse</title><p>Die Straße führt über den Fluss.".encode("latin-1")
    tab.set_input_files("#input-file", {"name": "a.html", "mimeType": "text/html", "buffer": page})
    expect(tab.locator("#page-title")).to_have_text("Flüsse")
    expect(tab.locator("#problem")).to_be_empty()
    tab.reload()
    expect(tab.locator("#page-title")).to_have_text("Flüsse")
    tab.click("#input-panel summary")
    tab.click("#input-example")
    expect(tab.locator("#page-title")).to_have_text("The clock that counted fish")
    tab.click("#input-panel summary")
    tab.fill("#input-text", "Some words of a dump.\n\nAnd more of them, with a < sign.")
    tab.click("#input-go")
    expect(tab.locator("#counts")).to_contain_text("of 2 blocks")
    drop = """(panel, html) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([html], "dropped.html", {type: "text/html"}));
        panel.dispatchEvent(new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true}));
    }"""
    arabic = "<html dir=rtl><p>كانت المدينة تملك ساعتين، واحدة على الكنيسة وأخرى على الرصيف."
    tab.locator("#input-panel").evaluate(drop, arabic)
    expect(tab.locator("#page-title")).to_have_text("dropped.html")
    expect(tab).to_have_title("dropped.html · Inspect · mainmatter")
    words, host = tab.locator("#clean-text [data-block]").bounding_box(), tab.locator("#clean-text").bounding_box()
    assert words is not None
    assert host is not None
    assert words["x"] + words["width"] > host["x"] + host["width"] - 40, "it is not set from the right"
    with tab.expect_download() as download:
        tab.click("#download")
    assert download.value.suggested_filename == "dropped-html.txt"
    assert download.value.path().read_text() == text_of(tab)
    tab.locator("#input-panel").evaluate(drop, "<frameset><frame src=a.html></frameset>")
    expect(tab.locator("#clean-text")).to_contain_text("There is no text in this page")


def test_an_address_that_is_not_public_is_refused(tab: Page, watch: Any) -> None:
    tab.goto("/")
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    for typed, told in (
        ("http://127.0.0.1:1/secret", "127.0.0.1"),
        ("ftp://files.example/a.html", "only http:// and https:// are fetched"),
    ):
        tab.fill("#input-text", typed)
        tab.click("#input-go")
        expect(tab.locator("#problem .problem")).to_contain_text(told)
    with tab.expect_request("**/api/inspect") as request:
        tab.route("**/api/inspect", lambda route: route.abort())
        tab.fill("#input-text", "files.example/a.html")
        tab.click("#input-go")
    assert (request.value.post_data_json or {})["url"] == "https://files.example/a.html"
    expect(tab.locator("#problem .problem")).to_contain_text("The server does not answer. Is mainmatter serve")
    watch.errors = [error for error in watch.errors if "ERR_FAILED" not in error]
    watch.errors = [error for error in watch.errors if "422" not in error]  # the browser notes it


def test_a_page_of_very_many_blocks_stays_quick(tab: Page) -> None:
    many = "<title>Many</title>" + "".join(f"<p>Block {i} has some words in it." for i in range(20_500))
    tab.goto("/?method=density&tab=table")
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    tab.set_input_files("#input-file", {"name": "a.html", "mimeType": "text/html", "buffer": many.encode()})
    expect(tab.locator("#table-count")).to_have_text("20,500 blocks")
    assert tab.locator("#table tr.block").count() < 100
    expect(tab.locator("#table tr.block").first.locator(".reason").last).to_contain_text("dense region")
    tab.locator("#table").evaluate("table => { table.scrollTop = table.scrollHeight; }")
    last = tab.locator('#table tr[data-block="20499"]')
    expect(last).to_contain_text("Block 20499")
    expect(last).to_contain_text("dense region")


def test_a_page_that_holds_on_to_its_window_is_shown_whole(tab: Page) -> None:
    style = (
        "html { opacity: 0 } body { display: none; overflow: hidden; height: 100vh } .hero { min-height: 100vh } "
        ".wall { position: fixed; inset: 0 }"
    )
    html = (
        f"<title>T</title><style>{style}</style><div class=wall><p>We value your privacy, and cookies.</div>"
        "<div class=hero style='padding-top: 20vh'><h1>Title</h1></div>"
        f"{'<p>Some words of a paragraph that goes on for a while.' * 60}<p>The very last one."
    )
    open_page(tab, html)
    height = tab.locator("#page iframe").evaluate("frame => frame.contentDocument.documentElement.scrollHeight")
    assert tab.locator("#page iframe").evaluate("frame => frame.offsetHeight") >= height
    assert height < 5000
    wall = tab.frame_locator("#page iframe").locator(".wall")
    assert wall.evaluate("wall => wall.offsetHeight") <= 700
    tab.keyboard.press("k")  # the last block
    expect(frame_mark(tab, 62)).to_have_attribute("data-focus", "")
    expect(frame_mark(tab, 62)).to_be_in_viewport()


def test_it_is_accessible_in_both_schemes(tab: Page, axe: Callable[[Page], list[str]]) -> None:
    backgrounds: dict[Scheme, str] = {"light": "rgb(251, 250, 246)", "dark": "rgb(21, 23, 26)"}

    def check() -> None:
        for scheme, background in backgrounds.items():
            tab.emulate_media(color_scheme=scheme)
            assert tab.evaluate("getComputedStyle(document.documentElement).backgroundColor") == background
            assert axe(tab) == [], scheme

    tab.goto("/")
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    check()
    open_page(tab)
    tab.keyboard.press("j")
    for key in ("1", "2", "3"):
        tab.keyboard.press(key)
        check()
    tab.click("button.theme")
    assert tab.evaluate("getComputedStyle(document.documentElement).backgroundColor") == backgrounds["light"]


def test_it_can_be_used_on_a_small_screen(new_tab: Callable[..., Page], axe: Callable[[Page], list[str]]) -> None:
    tab = new_tab(viewport=SMALL)
    open_page(tab)
    for key, view in (("1", "#view-text"), ("2", "#view-plot"), ("3", "#view-table")):
        tab.keyboard.press(key)
        expect(tab.locator(view)).to_be_visible()
        assert tab.evaluate("document.documentElement.scrollWidth") <= SMALL["width"]
    for control in ("#method", "#dial", "#tab-text", "#copy", "#remote", "button.theme"):
        if control == "#copy":
            tab.click("#tab-text")
        tab.locator(control).scroll_into_view_if_needed()
        box = tab.locator(control).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= SMALL["width"]
    assert axe(tab) == []
