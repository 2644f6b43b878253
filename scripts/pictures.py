"""Take the pictures of the workbench and of reports that the documentation shows.

python scripts/pictures.py [--only NAME] [--folder docs/images]

It starts a server of its own on pages that we wrote, with two annotators' labels and a corpus of our example crawl, and
takes pictures 1280 pixels wide. The reports are of tests/quality/pages and of examples/crawl.warc.gz.
"""

from __future__ import annotations

import argparse
import socket
import tempfile
import threading
import time
from contextlib import chdir, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import uvicorn
from playwright.sync_api import expect, sync_playwright

from mainmatter.api import clean
from mainmatter.corpus import Job, build_corpus
from mainmatter.corpus.filters import Filters
from mainmatter.corpus.report import corpus_report
from mainmatter.html.browser.chromium import find_chromium
from mainmatter.lab.datasets import load_dataset
from mainmatter.lab.datasets.labels import Label
from mainmatter.lab.evaluation import evaluate
from mainmatter.lab.reports import evaluation_report
from mainmatter.records import Kind, Page
from mainmatter.workbench.app import STATIC, make_app
from mainmatter.workbench.labels.store import Store
from mainmatter.workbench.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, ViewportSize
    from playwright.sync_api import Page as Tab

    from mainmatter.lab.datasets.labels import LabelKind

    Scheme = Literal["light", "dark"]

ROOT = Path(__file__).parents[1]
SITE = ROOT / "examples" / "site"
CRAWL = "examples/crawl.warc.gz"
EXAMPLE = STATIC / "example.html"
SIZE: ViewportSize = {"width": 1280, "height": 860}
REPORT_SIZE: ViewportSize = {"width": 1280, "height": 1950}
METHODS = ("ice-heuristic", "density", "ncleaner", "main")
MADE = datetime(2026, 1, 2, 12, tzinfo=UTC)  # fixed, so that the same pages give the same picture
ARGUMENTS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking".split()
TEACH_SECONDS = 300
KINDS: dict[Kind, LabelKind] = {Kind.HEADING: "heading", Kind.LIST_ITEM: "list"}
IDA, PIET = "Ida", "Piet"
BYLINE = "By Ida Marsh, 14 March 2026\n\n"  # our gold text of the example is the article without it
CONTESTED = 7  # every so many blocks, Piet sees it otherwise


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [*PICTURES, *REPORTS]
    parser.add_argument("--only", choices=names, action="append", help="take this picture; may be repeated")
    parser.add_argument("--folder", type=Path, default=ROOT / "docs" / "images")
    arguments = parser.parse_args()
    wanted = arguments.only or names
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        photograph_workbench(browser, Path(folder), [name for name in wanted if name in PICTURES], arguments.folder)
        for name in wanted:
            if name in REPORTS:
                photograph_report(browser, Path(folder), name, arguments.folder / f"{name}.png")
        browser.close()


def photograph_workbench(browser: Browser, workbench: Path, names: list[str], pictures: Path) -> None:
    """Take pictures of the workbench, whose files go into a folder."""
    if not names:
        return
    with serving(workbench, make_corpus(workbench / "harbour-lamp")) as address:
        label_pages(workbench / "annotations.db")
        for name in names:
            scheme, shoot = PICTURES[name]
            context = browser.new_context(base_url=address, viewport=SIZE, color_scheme=scheme, device_scale_factor=1)
            tab = context.new_page()
            shoot(tab)
            path = pictures / f"workbench-{name}.png"
            tab.screenshot(path=path, animations="disabled")
            print(f"{path}: {path.stat().st_size:,} bytes")
            context.close()


def photograph_report(browser: Browser, folder: Path, name: str, picture: Path) -> None:
    """Take a picture of a report, from a part of it on."""
    make, start = REPORTS[name]
    file = folder / f"{name}.html"
    with chdir(ROOT):  # reports show the paths of their inputs
        file.write_text(make(folder), "utf-8")
    tab = browser.new_page(viewport=REPORT_SIZE, color_scheme="light")
    tab.goto(file.as_uri())
    tab.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
    if start:
        tab.evaluate("id => document.getElementById(id).scrollIntoView()", start)
    tab.screenshot(path=picture)
    print(f"{picture}: {picture.stat().st_size:,} bytes")
    tab.close()


def evaluation_page(folder: Path) -> str:  # noqa: ARG001 - a report of a corpus needs a place for it
    """The report of some methods on the pages that we wrote."""
    pages = load_dataset("tests/quality/pages")
    results = [evaluate(method, "our pages", pages, ["bag", "shingle"]) for method in METHODS]
    command = f"mainmatter evaluate {' '.join(METHODS)} --on tests/quality/pages --metric bag --metric shingle"
    return evaluation_report(results, {"our pages": pages}, command=command, made=MADE)


def corpus_page(folder: Path) -> str:
    """The report of the example crawl."""
    (folder / "examples").symlink_to(ROOT / "examples")
    with chdir(folder):
        build_corpus([CRAWL], "corpus", Job(duplicates="near", site_templates=True, shard_size=20_000))
        command = f"mainmatter corpus {CRAWL} --output corpus --drop-duplicates near --site-templates --shard-size 0.02"
        return corpus_report("corpus", command=command, made=MADE)


def make_corpus(out: Path) -> str:
    """A corpus of our example crawl; where it is."""
    with chdir(ROOT):  # the picture shows the path of the input
        build_corpus([CRAWL], str(out), Job(filters=Filters(min_words=20)))
    return str(out)


@contextmanager
def serving(folder: Path, corpus: str) -> Iterator[str]:
    """A server at a free port; its address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        app = make_app(Settings(port=port, folder=folder, corpora=(corpus,)))
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none", timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
        server.should_exit = True
        thread.join()


def label_pages(database: Path) -> None:
    """Our example pages, labelled by two annotators, who differ here and there."""
    with Store(database) as store:
        for path in [EXAMPLE, *sorted(SITE.rglob("*.html"))]:
            url = f"https://harbourlamp.example/{path.stem}"
            extraction = clean(Page(path.read_bytes(), url), bylines=True)  # which the model that ships drops
            page_id = store.add_page(extraction.document.page, "example")
            labels = [
                Label(kept=bool(kept), kind=KINDS.get(kind, "paragraph"))
                for kept, kind in zip(extraction.kept, extraction.kinds, strict=True)
            ]
            refs = store.references(page_id)
            store.set_labels(page_id, IDA, dict(zip(refs, labels, strict=True)))
            store.set_done(page_id, IDA, True)
            if path == EXAMPLE:
                others = [
                    Label(kept=not label.kept, kind=label.kind) if number % CONTESTED == CONTESTED - 1 else label
                    for number, label in enumerate(labels)
                ]
                store.set_labels(page_id, PIET, dict(zip(refs, others, strict=True)))
                store.set_done(page_id, PIET, True)


def shoot_front(tab: Tab) -> None:
    """For the README: the page beside its clean text."""
    tab.set_viewport_size({"width": 1280, "height": 335})
    open_example(tab, "/?tab=text")
    tab.locator("#page").evaluate("page => window.scrollBy(0, page.getBoundingClientRect().top - 50)")
    tab.wait_for_timeout(300)


def shoot_inspect(tab: Tab) -> None:
    """Inspect, with the table of blocks, and a block that stands out."""
    open_example(tab, "/?tab=table")
    tab.locator("#page").focus()
    for _ in range(11):
        tab.keyboard.press("j")
    tab.locator("#page-title").click()
    tab.set_viewport_size({"width": 1280, "height": 1050})
    tab.evaluate("scrollTo(0, 0)")
    tab.wait_for_timeout(500)


def shoot_plot(tab: Tab) -> None:
    """Inspect, with the density plot."""
    open_example(tab, "/?tab=plot")
    for _ in range(9):
        tab.keyboard.press("j")
    tab.wait_for_timeout(300)


def shoot_corpus(tab: Tab) -> None:
    """Corpus, the least sure pages first."""
    tab.goto("/corpus?sort=least-sure")
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    expect(tab.locator("#corpus-table")).to_be_visible(timeout=30_000)
    tab.wait_for_timeout(300)


def shoot_compare(tab: Tab) -> None:
    """Compare, with a gold text."""
    tab.goto("/compare")
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    tab.locator("#gold-panel summary").click()
    tab.locator("#gold").fill(clean(EXAMPLE.read_bytes()).text.replace(BYLINE, ""))
    tab.locator("#gold-panel summary").click()
    tab.locator("#input-example").click()
    expect(tab.locator("#metrics")).to_be_visible(timeout=60_000)
    tab.locator("#result-title").evaluate("title => title.scrollIntoView()")
    tab.wait_for_timeout(300)


def shoot_correct(tab: Tab) -> None:
    """Annotate, after "Correct this page" in Inspect: what the model suggests, and what is corrected."""
    open_example(tab, "/")
    tab.evaluate("localStorage.setItem('mainmatter-annotator', 'Noor')")
    tab.locator("#correct").click()
    tab.locator(".frame-place[data-loaded]").wait_for()
    tab.locator("[role=option][data-open=kept]").last.click()
    expect(tab.locator(".saved")).to_have_text("Saved")
    tab.wait_for_timeout(1500)


def shoot_annotate(tab: Tab) -> None:
    """Annotate: a page that Ida has labelled for a gold standard."""
    tab.goto("/annotate")
    tab.evaluate("name => localStorage.setItem('mainmatter-annotator', name)", IDA)
    tab.evaluate("localStorage.setItem('mainmatter-mode', 'gold')")
    tab.goto("/annotate#/page/1")
    tab.reload()
    expect(tab.frame_locator("iframe").locator("mm-block[data-state]").first).to_be_attached(timeout=30_000)
    tab.wait_for_timeout(500)


def shoot_merge(tab: Tab) -> None:
    """Merge: what Ida and Piet differ on."""
    tab.goto("/annotate")
    tab.evaluate("localStorage.setItem('mainmatter-annotator', 'Mara')")
    tab.goto("/annotate#/merge/1")
    tab.reload()
    expect(tab.locator("li.case").first).to_be_visible(timeout=30_000)
    tab.get_by_role("button", name="Accept all that agree").click()
    tab.keyboard.press("1")
    expect(tab.get_by_text("Decided:").first).to_be_visible()
    expect(tab.locator(".saved")).to_have_text("Saved")
    tab.wait_for_timeout(500)


def shoot_teach(tab: Tab) -> None:
    """Teach: a model that has just been trained on our few pages."""
    tab.goto("/teach")
    expect(tab.locator("#start")).to_be_enabled(timeout=30_000)
    tab.get_by_label("Name", exact=True).fill("harbour")
    tab.get_by_role("button", name="Teach", exact=True).click()
    expect(tab.locator("#job-state")).to_have_text("finished", timeout=TEACH_SECONDS * 1000)
    tab.wait_for_timeout(500)


def open_example(tab: Tab, address: str) -> None:
    """Open our example page in Inspect."""
    tab.goto(address)
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    tab.locator("#input-example").click()
    expect(tab.frame_locator("#page iframe").locator("mm-block[data-state]").first).to_be_attached(timeout=30_000)
    tab.wait_for_timeout(300)


PICTURES: dict[str, tuple[Scheme, Callable[[Tab], None]]] = {
    "front": ("light", shoot_front),
    "inspect": ("light", shoot_inspect),
    "inspect-dark": ("dark", shoot_plot),
    "corpus": ("light", shoot_corpus),
    "compare": ("light", shoot_compare),
    "correct": ("light", shoot_correct),
    "annotate": ("light", shoot_annotate),
    "merge": ("light", shoot_merge),
    "teach": ("light", shoot_teach),
}

# What makes a report, and the part that the picture begins with.
REPORTS: dict[str, tuple[Callable[[Path], str], str]] = {
    "report-evaluation": (evaluation_page, "distribution"),
    "report-corpus": (corpus_page, ""),
}


if __name__ == "__main__":
    main()
