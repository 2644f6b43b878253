"""Pages whose editors want what `main` drops: a notice board with its news in small boxes beside a long legal text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mainmatter.lab.datasets import GoldPage
from mainmatter.records import Gold, Page
from mainmatter.workbench.labels import Label, Store

if TYPE_CHECKING:
    from pathlib import Path

_THINGS = "a grey cat,two oars,a red kite,an old map,some keys,a brass bell,one glove,a tin box".split(",")
_PLACES = "the pier,the mill,the market,the ford,the bridge,the chapel,the school,the quay".split(",")
_LAW = (
    "The publisher takes no responsibility for what readers announce on this board, and reserves the right to remove "
    "any notice without giving reasons. All disputes are settled by the court of the district."
)
_MENU = '<nav><ul><li><a href="/">Home</a><li><a href="/all">All notices</a><li><a href="/new">Write one</a></ul></nav>'


def notice_board(number: int, site: int | None = None) -> GoldPage:
    """A page that wants its short notices kept and its long terms dropped; main does the opposite."""
    notices = [
        f"Lost near {_PLACES[(number + turn) % 8]}: {_THINGS[(number * 3 + turn) % 8]}, call {number}{turn}."
        for turn in range(6)
    ]
    boxes = "".join(f'<div class="box"><span>{notice}</span></div>' for notice in notices)
    html = f"""<html><head><title>Board {number}</title></head><body>{_MENU}
        <aside class="sidebar related">{boxes}</aside>
        <article class="content"><p>{_LAW} This is page {number}.</p><p>{_LAW}</p>
        <p>Whoever reads page {number} accepts these terms. {_LAW}</p></article></body></html>"""
    host = number if site is None else site
    url = f"https://board-{host}.example/page-{number}"
    return GoldPage(Page(html.encode(), url, f"board-{number:02}"), Gold(text="\n".join(notices)), {})


def boards(count: int, sites: int | None = None) -> list[GoldPage]:
    """So many such pages, each of a site of its own or of so many sites in turn."""
    return [notice_board(number, None if sites is None else number % sites) for number in range(count)]


def write_boards(folder: Path, count: int) -> Path:
    """The same as a gold standard on disk."""
    (folder / "html").mkdir(parents=True)
    (folder / "gold").mkdir()
    for page in boards(count):
        assert isinstance(page.page.html, bytes)
        (folder / "html" / f"{page.page.id}.html").write_bytes(page.page.html)
        (folder / "gold" / f"{page.page.id}.txt").write_text(f"URL: {page.page.url}\n{page.gold.text}\n", "utf-8")
    return folder


def annotate_boards(database: Path, count: int, annotator: str = "ada") -> None:
    """So many such pages in a store, all blocks labelled by one annotator who is done with them."""
    with Store(database) as store:
        for gold_page in boards(count):
            page_id = store.add_page(gold_page.page, "tests", name=gold_page.page.id)
            wanted = (gold_page.gold.text or "").splitlines()
            labels = {each.ref: Label(each.block.text in wanted) for each in store.blocks(page_id)}
            store.set_labels(page_id, annotator, labels)
            store.set_done(page_id, annotator, done=True)
