"""Every reproduction runs with small settings, on pages of our own; the figures are tested in the papers' folders."""

from __future__ import annotations

import random
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mainmatter.lab.datasets import GoldPage
from mainmatter.records import Gold, Page
from reproduce.papers import REPRODUCTIONS, load_reproduction
from reproduce.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

for package in ("matplotlib", "rapidfuzz", "regex", "sklearn", "tantivy", "wordfreq"):
    pytest.importorskip(package)

NOUNS = "river stone bridge winter letter garden window summer morning village harbour mountain".split()
VERBS = "crossed found painted left watched followed remembered measured".split()
SITES = 3
PAGES = 8  # of each site


class SmallRun(Run):
    """A run on pages of three sites, which share their menus and footers."""

    def load(self, name: str) -> list[GoldPage]:
        self.used[name] = SITES * PAGES
        return [_page(name, site, number) for site in range(SITES) for number in range(PAGES)]


def _page(name: str, site: int, number: int) -> GoldPage:
    rng = random.Random(f"{name} {site} {number}")

    def noun() -> str:
        return rng.choice(NOUNS)

    texts = [
        " ".join(f"The {noun()} of the {noun()} was old, and somebody {rng.choice(VERBS)} it." for _ in range(4))
        for _ in range(rng.randint(2, 5))
    ]
    title = f"A {noun()} for the {noun()}"
    menu = "".join(f"<li><a href=/{each}>{each.title()} {site}</a></li>" for each in NOUNS[site : site + 6])
    paragraphs = "".join(f"<p>{text}</p>" for text in texts)
    html = (
        f"<title>{title}</title><table><tr><td><ul>{menu}</ul></td></tr></table>"
        f"<h1>{title}</h1>{paragraphs}<div>Copyright of site {site}</div>"
    )
    gold = Gold("\n".join([title, *texts]), "\n".join([f"<h> {title}", *(f"<p> {text}" for text in texts)]))
    return GoldPage(Page(html, f"https://site{site}.example/{number}", f"{site}-{number}"), gold, {"language": "en"})


@contextmanager
def silent(label: str, total: int) -> Iterator[Callable[[], None]]:
    yield lambda: None


@pytest.mark.parametrize("name", list(REPRODUCTIONS))
def test_a_reproduction_runs(name: str, tmp_path: Path) -> None:
    run = SmallRun(Path(), 1, silent, lambda line: None, pages=SITES * PAGES, quick=True)
    report = load_reproduction(name)(run)
    page = report.write(tmp_path, name, "the end").read_text(encoding="utf-8")
    assert "\n| " in page
    assert page.endswith("the end\n")
