"""Inspect in a real browser: what is kept is shown, everywhere at once."""

from __future__ import annotations

import json
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
# Turns the dial to a step, and waits for the text; gives what was shown as kept at once, before anything was answered.
TURN = f"""(dial, [step, text]) => new Promise((resolve) => {{
  dial.value = step;
  dial.dispatchEvent(new Event("input"));
  const kept = ({KEPT_IN_FRAME})();
  const look = () => document.querySelector("#clean-text").textContent === text ? resolve(kept) : setTimeout(look, 1);
  look();
}})"""
# Turns the dial to each of its steps, and then to one of them; gives their values.
STEPS = """(dial, wanted) => {
  const turn = (step) => { dial.value = step; dial.dispatchEvent(new Event("input")); };
  const values = [];
  for (let step = 0; step <= Number(dial.max); step++) {
    turn(step);
    values.push(Number(document.querySelector("#dial-value").textContent));
  }
  turn(values.indexOf(wanted));
  return values;
}"""


def open_page(tab: Page, html: str = EXAMPLE, address: str = "/") -> None:
    """The example is open already."""
    tab.goto(address)
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    if html is not EXAMPLE:
        tab.fill("#input-text", html)
        tab.click("#input-go")
    expect(tab.locator("#main")).not_to_have_attribute("aria-busy", "true")
    expect(tab.locator("#result")).to_be_visible()
    expect(tab.frame_locator("#page iframe").locator("mm-block[data-state]").first).to_be_attached()
    tab.locator("#result .panes").evaluate("panes => panes.scrollIntoView()")


def frame_mark(tab: Page, block: int) -> Locator:
    return tab.frame_locator("#page iframe").locator(f'mm-block[data-block="{block}"]').first


def kept_in_frame(tab: Page) -> set[int]:
    return set(tab.evaluate(KEPT_IN_FRAME))


def text_of(tab: Page) -> str:
    return str(tab.locator("#clean-text").text_content())


def wait_for_text(tab: Page, text: str) -> None:
    """Wait until the clean text is this one, to the letter."""
    tab.wait_for_function("text => document.querySelector('#clean-text').textContent === text", arg=text)


def set_dial(tab: Page, value: float) -> list[float]:
    """Turn the dial to one of its steps; gives all of them."""
    steps: list[float] = tab.locator("#dial").evaluate(STEPS, value)
    expect(tab.locator("#dial-value")).to_have_text(f"{value:.2f}")
    return steps


def test_a_pasted_page_is_shown_with_its_text(tab: Page) -> None:
    tab.goto("/")
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    tab.fill("#input-text", EXAMPLE.replace("</h1>", ", pasted</h1>"))
    tab.fill("#input-url", URL)
    tab.click("#input-go")
    expect(tab.locator("#page-title")).to_have_text("The clock that counted fish, pasted")
    expect(tab).to_have_title("The clock that counted fish, pasted · Inspect · mainmatter")
    expect(tab.locator("#first")).to_be_hidden()


def test_the_example_is_open_at_first_and_says_what_to_do(tab: Page, watch: Any) -> None:
    tab.goto("/")
    expect(tab.locator("#first")).to_contain_text("This is an example")
    expect(tab.locator("#places")).to_be_visible()
    expect(tab.locator("#input-text")).to_be_in_viewport()
    expect(tab.frame_locator("#page iframe").get_by_role("heading", level=1)).to_be_in_viewport()
    expect(tab).to_have_url(re.compile("/$"))
    assert [url for url in watch.requests if not url.startswith(tab.url)] == []
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
    expect(tab.locator("#help")).to_have_count(0)


def test_the_dial_is_felt_at_once(tab: Page, watch: Any) -> None:
    open_page(tab)
    dials = set_dial(tab, 0.5)
    assert dials == sorted(dials)
    assert {0, 0.5, 1} <= set(dials)
    assert len(dials) > 10
    asked = len(watch.requests)
    steps = range(0, len(dials), 3)
    kept: dict[int, set[int]] = {}
    for step in [*steps] * 2:
        extraction = clean(EXAMPLE, url=URL, dial=dials[step])
        kept[step] = set(tab.locator("#dial").evaluate(TURN, [step, extraction.text]))
        assert kept[step] == set(extraction.kept.nonzero()[0].tolist())
    assert all(kept[step] < kept[step + 3] for step in steps if step + 3 in kept)
    shares = tab.locator("#dial-curve .stairs").get_attribute("d")
    assert shares is not None
    assert shares.count("V") == len(dials) + 1
    expect(tab.locator("#dial")).to_have_attribute("aria-valuetext", re.compile(r"^[\d.]+: \d+ % of the text$"))
    questions = [url for url in watch.requests[asked:] if "/api/" in url]  # its icon is asked for now and then
    assert len(questions) <= len(steps) + 1, "a text that is known was asked for again"
    assert {urlsplit(url).path for url in questions} == {"/api/inspect/text"}, "the dial asked for more than its text"


def test_the_chosen_block_is_explained_in_words(tab: Page) -> None:
    open_page(tab, address="/#block=2")
    detail = tab.locator("#detail")
    expect(detail).to_contain_text("Block 2 dropped")
    expect(detail).to_contain_text("pinned")
    expect(detail).to_contain_text(re.compile(r"likely to be main matter. Kept from dial 0\.\d+ on"))
    against = detail.locator("li", has_text="class cookies")
    expect(against).to_contain_text(re.compile("(strongly|clearly) against it"))
    assert against.locator(".bar.against").evaluate("bar => bar.offsetWidth") > 20
    expect(detail.locator("li .bar.for")).not_to_have_count(0)
    expect(detail).not_to_contain_text("names -")
    tab.keyboard.press("3")
    expect(tab.locator('#table tr[data-block="2"]')).to_contain_text("against: class cookies")
    tab.select_option("#method", "density")
    expect(detail).to_contain_text("dense region")
    expect(detail.locator(".bar")).to_have_count(0)


def test_addresses_hold_what_is_shown_and_the_way_back_leads_there(new_tab: Callable[..., Page], watch: Any) -> None:
    tab = new_tab()
    far = "https://far.example/page"
    fetched: list[Any] = []

    def answer(route: Any) -> None:
        asked = route.request.post_data_json
        if "url" in asked and "html" not in asked:
            fetched.append(asked)
            asked |= {"html": "<title>Far</title><h1>Far</h1><p>Words of a page that is far away, and long enough."}
        route.continue_(post_data=json.dumps(asked))

    tab.context.route("**/api/inspect", answer)
    open_page(tab)
    tab.keyboard.press("j")
    expect(tab).to_have_url(re.compile("/#block=0$"))
    tab.fill("#input-text", far)
    tab.click("#input-go")
    expect(tab.locator("#page-title")).to_have_text("Far")
    expect(tab).to_have_url(re.compile(re.escape("/?url=https%3A%2F%2Ffar.example%2Fpage") + "$"))
    tab.select_option("#method", "density")
    expect(tab.locator("#counts")).not_to_contain_text("confidence")
    tab.locator('#clean-text [data-block="1"]').click()
    expect(tab).to_have_url(re.compile(r"method=density#block=1$"))
    shared = tab.url
    tab.go_back()
    expect(tab.locator("#page-title")).to_have_text("The clock that counted fish")
    expect(tab.locator("#method")).to_have_value("main")
    expect(tab.locator("#detail")).to_contain_text("Block 0 ")
    tab.go_forward()
    expect(tab.locator("#page-title")).to_have_text("Far")
    expect(tab.locator("#method")).to_have_value("density")
    expect(tab.locator("#detail")).to_contain_text("Block 1 ")
    assert len(fetched) == 1, "the way back fetched a page again"
    tab.reload()
    expect(tab.locator("#page-title")).to_have_text("Far")
    assert len(fetched) == 1, "a reload fetched a page again"
    other = tab.context.new_page()  # somebody else opens the link
    other.goto(shared)
    expect(other.locator("#page-title")).to_have_text("Far")
    expect(other.locator("#detail")).to_contain_text("Block 1 ")
    expect(other.locator("#method")).to_have_value("density")
    assert other.url == shared
    assert [asked["url"] for asked in fetched] == [far, far]


def test_what_an_address_has_fetched_is_said(tab: Page, watch: Any) -> None:
    watch.expected.append("422")
    answers: list[Any] = []

    def hold(route: Any) -> None:
        answers.append(route)

    tab.route("**/api/inspect", hold)
    tab.goto("/?url=http://127.0.0.1:1/")
    expect(tab.locator("#fetching")).to_have_text("Fetching http://127.0.0.1:1/ …")
    answers[0].continue_()
    expect(tab.locator("#problem")).to_contain_text("127.0.0.1")
    expect(tab.locator("#fetching")).to_be_hidden()
    tab.unroute("**/api/inspect")
    tab.goto("/?corpus=none&page=kept-0-0")
    expect(tab.locator("#problem")).to_contain_text("no such corpus")


def test_a_page_goes_to_annotate_to_be_corrected(tab: Page, watch: Any) -> None:
    watch.expected += ["422", "409"]
    asked: list[Any] = []

    def answer(route: Any) -> None:
        asked.append(route.request.post_data_json)
        if asked[-1]["annotator"] == "gold":
            route.fulfill(status=422, json={"error": "this name has a meaning of its own", "hint": "take another one"})
        else:
            route.fulfill(json={"page": 7, "labelled": 36, "url": "/teach#corrected"})

    tab.route("**/api/annotate/correct", answer)
    open_page(tab)
    set_dial(tab, 0.94)
    tab.check("input[name=comments][value=keep]", force=True)
    expect(tab.locator("#main")).not_to_have_attribute("aria-busy", "true")
    tab.click("#correct")
    tab.locator("#correct-dialog").get_by_role("button", name="Cancel").click()
    expect(tab.locator("#correct-dialog")).to_have_count(0)
    assert asked == []
    tab.keyboard.press("c")
    tab.fill("#correct-name", "gold")
    tab.keyboard.press("Enter")
    expect(tab.locator("#problem")).to_contain_text("This name has a meaning of its own. Take another one.")
    tab.click("#correct")
    tab.fill("#correct-name", "  Ada   Lamp ")
    tab.keyboard.press("Enter")
    expect(tab).to_have_url(re.compile("/teach#corrected$"))
    page, options = asked[-1], {"comments": "keep", "dial": 0.94}
    assert page == {"frame": page["frame"], "method": "main", "options": options, "annotator": "Ada Lamp"}
    tab.go_back()
    expect(tab.locator("#dial-value")).to_have_text("0.94")
    tab.click("#correct")  # now it is known who this is
    expect(tab).to_have_url(re.compile("/teach#corrected$"))
    assert asked[-1] | {"frame": ""} == page | {"frame": ""}


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
    set_dial(tab, 0.94)
    tab.keyboard.press("3")
    tab.check("input[name=comments][value=keep]", force=True)
    expect(tab.locator("#main")).not_to_have_attribute("aria-busy", "true")
    expect(tab).to_have_url(re.compile(r"dial=0\.94"))
    tab.reload()
    expect(tab.locator("#page-title")).to_have_text("The clock that counted fish")
    expect(tab.locator("#view-table")).to_be_visible()
    expect(tab.locator("#dial-value")).to_have_text("0.94")
    tab.keyboard.press("1")
    expect(tab.locator("#view-text")).to_be_visible()
    wait_for_text(tab, clean(EXAMPLE, url=URL, dial=0.94, comments="keep").text)


def test_files_examples_and_dumps_can_be_opened(tab: Page) -> None:
    tab.goto("/")
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    tab.click("#input-go")
    expect(tab.locator("#problem")).to_contain_text("No page yet")
    page = "<meta charset=iso-8859-1><title>Flüsse</title><p>Die Straße führt über den Fluss.".encode("latin-1")
    tab.set_input_files("#input-file", {"name": "a.html", "mimeType": "text/html", "buffer": page})
    expect(tab.locator("#page-title")).to_have_text("Flüsse")
    expect(tab.locator("#problem")).to_be_empty()
    tab.reload()
    expect(tab.locator("#page-title")).to_have_text("Flüsse")
    tab.click("#input-panel summary")
    tab.click("#input-example")
    expect(tab.locator("#page-title")).to_have_text("The clock that counted fish")
    tab.fill("#input-text", "Some words of a dump.\n\nAnd more of them, with a < sign.")
    tab.click("#input-go")
    expect(tab.locator("#counts")).to_contain_text("of 2 blocks")
    drop = """(panel, html) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([html], "dropped.html", {type: "text/html"}));
        panel.dispatchEvent(new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true}));
    }"""
    arabic = "<html dir=rtl><div>كانت المدينة تملك ساعتين، واحدة على الكنيسة وأخرى على الرصيف."
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
    expect(tab.locator("#clean-text")).to_contain_text("This page has no text")


def test_an_address_that_is_not_public_is_refused(tab: Page, watch: Any) -> None:
    tab.goto("/")
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    for typed, told in (
        ("http://127.0.0.1:1/secret", "127.0.0.1"),
        ("ftp://files.example/a.html", "only http:// and https:// URLs are fetched"),
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


LEFTOVERS = """<title>T</title><link rel=stylesheet href="https://far.example/a.css">
<style>@import url(https://far.example/b.css); nav ul { position: absolute; top: 80px; background: url(/c.png) }</style>
<nav><ul><li><a href=/1>One</a></li><li><a href=/2>Two</a></li></ul></nav><svg viewBox="0 0 9 9"><path d="M0 0"/></svg>
<div hidden><h1>Title</h1><img src="https://far.example/d.png" alt="A picture"><p style="opacity:0">Some words of a text
that goes on for a while, so that it has to be set in lines of a length that people can read with ease.</div>"""


def test_a_page_without_its_style_sheets_looks_like_one_in_a_reader(tab: Page) -> None:
    open_page(tab, LEFTOVERS)
    frame = tab.frame_locator("#page iframe")
    expect(frame.locator("nav ul")).to_have_css("position", "static")
    expect(frame.locator("nav ul")).to_have_css("display", "flex")
    expect(frame.locator("p")).to_be_visible()
    expect(frame.locator("p")).to_have_css("opacity", "1")
    expect(frame.locator("img")).to_be_hidden()
    widths = {name: frame.locator(name).evaluate("one => one.getBoundingClientRect().width") for name in ("p", "svg")}
    assert widths["p"] < 760
    assert widths["svg"] < 40
    own = "main { width: 500px } p { margin: 4px } nav { float: left } svg { width: 100% }"
    tab.click("#input-panel summary")
    html = f"<title>Own</title><style>{own}</style><nav>Menu</nav><main><p>Words of a page.</p><svg></svg></main>"
    tab.fill("#input-text", html)
    tab.click("#input-go")
    expect(frame.locator("nav")).to_have_css("float", "left")  # it has looks of its own
    expect(frame.locator("p")).to_have_css("margin-top", "4px")
    assert frame.locator("svg").evaluate("svg => svg.getBoundingClientRect().height") <= 400


def test_letters_can_be_switched_off(tab: Page) -> None:
    open_page(tab)
    tab.keyboard.press("?")
    tab.uncheck("#letter-keys")
    tab.get_by_role("button", name="Close").click()
    tab.locator("#page").focus()
    tab.keyboard.press("j")
    tab.keyboard.press("3")
    tab.keyboard.press("ArrowDown")  # no letter
    expect(tab.locator("#detail")).to_contain_text("Block 0 ")
    expect(tab.locator("#view-table")).to_be_hidden()


def test_it_is_accessible_in_both_schemes(tab: Page, axe: Callable[[Page], list[str]]) -> None:
    backgrounds: dict[Scheme, str] = {"light": "rgb(251, 250, 246)", "dark": "rgb(21, 23, 26)"}

    def check() -> None:
        for scheme, background in backgrounds.items():
            tab.emulate_media(color_scheme=scheme)
            assert tab.evaluate("getComputedStyle(document.documentElement).backgroundColor") == background
            assert axe(tab) == [], scheme

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
