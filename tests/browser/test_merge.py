"""Two people label a page, a third merges, and the gold standard is taken away: all in a real browser."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

from browser.annotate_steps import add_page, ask, labels_of, open_page, sign_in, wait_until_saved
from mainmatter.lab.datasets import load_dataset

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page as Tab

    from browser.conftest import Server, Watch

ITEMS = (11, 12, 13)  # the list of the page in annotated_pages.py


def label(tab: Tab, page: int, *, with_list: bool) -> None:
    """Keep the text, with or without its list, drop all else, and be done."""
    open_page(tab, page)
    rows = tab.locator("li.block")
    rows.nth(5).click()
    rows.nth(14).click(modifiers=["Shift"])
    if not with_list:
        rows.nth(ITEMS[0]).click()
        rows.nth(ITEMS[2]).click(modifiers=["Shift"])
    tab.keyboard.press("Shift+D")
    tab.get_by_role("button", name="Mark as done").click()
    tab.get_by_role("button", name="Reopen").wait_for()
    wait_until_saved(tab)


def decide_several_at_once(tab: Tab, axe: Callable[[Tab], list[str]]) -> None:
    """Decide ranges of the three conflicts, with the mouse and with the keyboard; each time take it back as one."""
    cases, selected = tab.locator("li.case"), tab.locator("li.case .is-selected:visible")
    cases.nth(0).locator(".case-text").click()
    cases.nth(2).locator(".case-text").click(modifiers=["Shift"])
    tab.get_by_text("3 conflicts selected · 0 of 3 conflicts decided").wait_for()
    assert selected.count() == 3
    assert axe(tab) == []
    tab.get_by_role("button", name="Take all of Bob’s (3 selected)").click()
    tab.get_by_text("3 of 3 conflicts decided").wait_for()
    assert [cases.nth(i).get_attribute("data-state") for i in range(3)] == ["dropped"] * 3
    tab.keyboard.press("z")
    tab.locator(".label-head", has_text="0 of 3 conflicts decided").wait_for()
    tab.keyboard.press("Escape")
    tab.keyboard.press("ArrowUp")
    tab.keyboard.press("ArrowUp")
    assert (selected.count(), cases.nth(0).get_attribute("class")) == (0, "case active")
    tab.keyboard.press("Shift+ArrowDown")
    tab.locator("#live", has_text="2 conflicts selected").wait_for(state="attached")
    tab.keyboard.press("l")
    tab.get_by_text("2 of 3 conflicts decided").wait_for()
    tab.locator("li.case.active", has_text="a second man").wait_for()  # the next one that is open
    tab.keyboard.press("z")
    tab.get_by_role("button", name="Take all of Ada’s (3 open)").click()
    tab.get_by_text("3 of 3 conflicts decided").wait_for()
    tab.keyboard.press("Control+z")
    tab.locator(".label-head", has_text="0 of 3 conflicts decided").wait_for()
    tab.set_viewport_size({"width": 400, "height": 800})
    tab.emulate_media(color_scheme="dark")
    tab.get_by_label("Select up to the next click").check()
    cases.nth(1).locator(".case-text").click()
    assert selected.count() > 1
    assert axe(tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= 400
    tab.set_viewport_size({"width": 1280, "height": 800})
    tab.emulate_media(color_scheme="light")
    tab.keyboard.press("Control+a")
    tab.keyboard.press("Escape")
    cases.nth(0).locator(".case-text").click()


def test_two_label_a_third_merges_and_the_export_is_read(
    new_tab: Callable[..., Tab], server: Server, tmp_path: Path, axe: Callable[[Tab], list[str]]
) -> None:
    page = add_page(server.url, "Merged by a third")
    ada, bob, chris = new_tab(), new_tab(), new_tab(accept_downloads=True)
    sign_in(ada, "Ada")
    label(ada, page, with_list=True)
    sign_in(bob, "Bob")
    bob.locator("tr", has_text="Merged by a third").get_by_text("Ada ✓").wait_for()
    label(bob, page, with_list=False)
    bob.get_by_role("link", name="← All pages").click()
    row = bob.locator("tr", has_text="Merged by a third")
    row.get_by_text("κ 0.7").wait_for()  # agreement is shown to those who are done
    assert "conflict" in row.inner_text()

    sign_in(chris, "Chris")
    chris.locator("tr", has_text="Merged by a third").get_by_text("κ 0.7").wait_for()  # figures move the table down
    chris.get_by_role("link", name="Merge Merged by a third.html").click()
    cases = chris.locator("li.case")
    cases.first.wait_for()
    assert cases.count() == 3
    assert "Ada: keep, list item" in cases.first.inner_text()
    assert "Bob: drop" in cases.first.inner_text()
    assert "%" in chris.locator(".figures").inner_text()
    assert axe(chris) == []
    states = (
        chris.frame_locator(".merging iframe")
        .locator("mm-block")
        .evaluate_all("marks => Object.fromEntries(marks.map(mark => [mark.textContent.trim(), mark.dataset.state]))")
    )
    assert states["Home"] == "agreed-dropped"  # what "Accept all that agree" would do is seen before
    assert states["Merged by a third"] == "agreed-kept"
    assert states["a second man, awake"] == "conflict"
    chris.locator(".merging .legend").get_by_text("all drop it").wait_for()
    decide_several_at_once(chris, axe)
    chris.keyboard.press("1")  # as Ada says
    cases.nth(1).get_by_role("button", name="Bob: drop").click()
    cases.nth(1).get_by_text("Decided: drop").wait_for()
    chris.locator("li.case.active", has_text="a second man").wait_for()
    chris.keyboard.press("p")  # neither
    chris.get_by_role("button", name="Accept all that agree (22)").click()
    chris.get_by_text("25 of 25 blocks merged").wait_for()
    chris.keyboard.press("z")
    chris.get_by_text("3 of 25 blocks merged").wait_for()
    chris.keyboard.press("Shift+Z")
    chris.get_by_text("25 of 25 blocks merged").wait_for()
    chris.get_by_role("button", name="Mark merged as done").click()
    wait_until_saved(chris)
    chris.reload()
    cases.first.wait_for()
    assert [cases.nth(i).get_attribute("data-state") for i in range(3)] == ["kept", "dropped", "kept"]
    merged = labels_of(server.url, page, "merged")
    assert merged["a second man, awake"] == {"kept": True, "kind": "paragraph"}
    events = ask(f"{server.url}/api/annotate/pages/{page}/history?annotator=Chris")["events"]
    assert {event["by"] for event in events if event["annotator"] == "merged"} == {"Chris"}

    chris.get_by_role("link", name="← All pages").click()
    chris.get_by_role("button", name="Export").click()
    chris.get_by_label("Whose labels").select_option("merged")
    chris.get_by_text("The export will contain 1 page with 25 labels").wait_for()
    with chris.expect_download() as download:
        chris.get_by_role("link", name="Folder (.zip)").click()
    download.value.save_as(tmp_path / "gold.zip")
    zipfile.ZipFile(tmp_path / "gold.zip").extractall(tmp_path)
    with chris.expect_download() as download:
        chris.get_by_role("link", name="Parquet").click()
    assert download.value.suggested_filename == "gold-standard.parquet"
    download.value.save_as(tmp_path / "gold.parquet")
    for name in ("gold-standard", "gold.parquet"):
        [gold] = load_dataset(str(tmp_path / name))
        assert gold.gold.text is not None
        assert "forty pounds of powder" in gold.gold.text
        assert "a clock that was right" not in gold.gold.text
        assert len(gold.labels or ()) == 25


def test_who_is_still_labelling_is_asked_before_others_are_shown(
    new_tab: Callable[..., Tab], server: Server, watch: Watch
) -> None:
    page = add_page(server.url, "Not yet")
    ada, bob = new_tab(), new_tab(viewport={"width": 400, "height": 800})
    sign_in(ada, "Ada")
    open_page(ada, page)
    ada.keyboard.press("k")
    wait_until_saved(ada)
    sign_in(bob, "Bob")
    open_page(bob, page)
    bob.keyboard.press("d")
    wait_until_saved(bob)
    assert bob.locator('li.block[data-state="kept"]').count() == 0
    bob.get_by_role("link", name="← All pages").click()
    row = bob.locator("tr", has_text="Not yet")
    row.get_by_text("hidden").wait_for()
    bob.get_by_role("link", name="Merge Not yet.html").click()
    bob.get_by_text("you are still labelling this page").wait_for()
    bob.get_by_role("button", name="Merge anyway").click()
    bob.locator("li.case").wait_for()
    assert bob.evaluate("document.documentElement.scrollWidth") <= 400
    watch.errors[:] = [error for error in watch.errors if "409" not in error]
