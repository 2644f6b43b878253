"""Make the pictures of docs/how-to/reports.md from our own pages: docs/images/report-evaluation.png, report-corpus.png.

    python scripts/report_pictures.py

The gold standard is tests/quality/pages, the crawl examples/crawl.warc.gz. It needs the extras eval, corpus and
visual, and a Chromium.
"""

from __future__ import annotations

import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from mainmatter.corpus import Job, build_corpus
from mainmatter.corpus.report import corpus_report
from mainmatter.html.browser.chromium import find_chromium
from mainmatter.lab.datasets import load_dataset
from mainmatter.lab.evaluation import evaluate
from mainmatter.lab.reports import evaluation_report

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "images"
METHODS = ("ice-heuristic", "density", "ncleaner", "main")
MADE = datetime(2026, 1, 2, 12, tzinfo=UTC)  # fixed, so that the same pages give the same picture
WIDTH, HEIGHT = 1280, 1950
ARGUMENTS = "--no-sandbox --disable-gpu --no-first-run --disable-background-networking".split()


def evaluation() -> str:
    """The report of some methods on the pages that we wrote."""
    pages = load_dataset("tests/quality/pages")
    found = [evaluate(method, "our pages", pages, ["bag", "shingle"]) for method in METHODS]
    command = f"mainmatter evaluate {' '.join(METHODS)} --on tests/quality/pages --metric bag --metric shingle"
    return evaluation_report(found, {"our pages": pages}, command=command, made=MADE)


def corpus(folder: Path) -> str:
    """The report of the example crawl."""
    crawl = "examples/crawl.warc.gz"
    os.chdir(folder)
    (folder / "examples").symlink_to(ROOT / "examples")
    build_corpus([crawl], "corpus", Job(duplicates="near", site_templates=True, shard_size=20_000))
    command = f"mainmatter corpus {crawl} --output corpus --drop-duplicates near --site-templates --shard-size 0.02"
    return corpus_report("corpus", command=command, made=MADE)


def photograph(browser: Browser, file: Path, picture: Path, start: str) -> None:
    """Take a picture of a report, from a part of it on."""
    tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
    tab.goto(file.as_uri())
    tab.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
    if start:
        tab.evaluate("id => document.getElementById(id).scrollIntoView()", start)
    tab.screenshot(path=picture)
    tab.close()


def main() -> None:
    """Make both."""
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {"report-evaluation.png": folder / "evaluation.html", "report-corpus.png": folder / "corpus.html"}
        files["report-evaluation.png"].write_text(evaluation(), encoding="utf-8")
        files["report-corpus.png"].write_text(corpus(folder), encoding="utf-8")
        os.chdir(ROOT)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
            for picture, file in files.items():
                photograph(browser, file, PICTURES / picture, "distribution" if "evaluation" in picture else "")
            browser.close()


if __name__ == "__main__":
    main()
