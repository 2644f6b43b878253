"""The reproductions of NCleaner, on a few pages written for the purpose."""

from __future__ import annotations

import random
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from mainmatter.lab.datasets import GoldPage
from mainmatter.records import Gold, Page
from reproduce import ncleaner as reproduce
from reproduce.lynx import By, dump_page
from reproduce.ncleaner import dump, percent
from reproduce.run import Run, read_comparison

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WORDS = "the river stone bridge winter and letter garden window of summer morning village old, quiet. bright".split()
MENU = "Home Login Contact Privacy Search Help Next Top Share".split()


def gold_page(seed: int, language: str, marked: bool) -> GoldPage:
    rng = random.Random(seed)
    paragraphs = [" ".join(rng.choices(WORDS, k=40)) + "." for _ in range(3)]
    menu = "".join(f"<li>{rng.choice(MENU)}</li>" for _ in range(5))
    html = f"<ul>{menu}</ul>{''.join(f'<p>{text}</p>' for text in paragraphs)}<p>A | B | C | D</p>"
    gold = Gold(
        text="\n\n".join(paragraphs), marked="\n".join(f"<p> {text}" for text in paragraphs) if marked else None
    )
    return GoldPage(Page(html, f"https://site{seed}.example/", str(seed)), gold, {"lang": language})


class FewPages(Run):
    def load(self, name: str) -> list[GoldPage]:
        languages = ("Greek", "Chinese") if name == "daniel-a" else ("English",)
        self.used[name] = 7
        return [gold_page(i, languages[i % len(languages)], name.startswith("cleaneval")) for i in range(7)]


@contextmanager
def no_progress(label: str, count: int) -> Iterator[Callable[[], None]]:
    yield lambda: None


@pytest.mark.parametrize(
    ("name", "used", "pictures", "phrases"),
    [
        (
            "internal",
            {"cleaneval-dev", "readability"},
            {"ncleaner-figure-3.png"},
            ["| NCLEANER | paper | 91.60 | 91.95 | 91.25 |", "| NCLEANER | as the paper |", "df = 157", "df = 13"],
        ),
        (
            "external",
            {"cleaneval-dev", "readability", "cleaneval-final", "wcxb-dev", "l3s-gn1", "daniel-a"},
            set(),
            ["| 92.73 | 94.70 | 90.83 |", "| 60.85 | 69.30 | 54.24 |", "| Chinese | English | Greek |", "as it ships"],
        ),
        (
            "tuning",
            {"cleaneval-dev", "readability"},
            {"ncleaner-figure-2.png"},
            ["| 8 |", "n = 6, q = 0.6", "95 characters of ASCII"],
        ),
        (
            "learning_curve",
            {"cleaneval-dev", "readability", "cleaneval-final"},
            {"ncleaner-figure-4.png"},
            ["| pages | words | as the paper F |", "| 14 |"],
        ),
        ("speed", {"cleaneval-final"}, set(), ["Perl and C 120 million", "blocks to decisions", "bytes"]),
    ],
)
def test_reproductions(name: str, used: set[str], pictures: set[str], phrases: list[str], tmp_path: Path) -> None:
    run = FewPages(tmp_path, 1, no_progress, lambda line: None)
    report = getattr(reproduce, name)(run)
    text = report.write(tmp_path, "page", "The end.").read_text("utf-8")
    assert set(run.used) == used
    assert set(report.pictures) == pictures
    for phrase in phrases:
        assert phrase in " ".join(text.split())
    for picture in report.pictures.values():
        assert picture.startswith(b"\x89PNG")
    compared = read_comparison(text)
    assert compared
    assert all(cell for row in compared for cell in row)


def test_without_lynx_its_dumps_are_laid_out_from_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce, "has_lynx", lambda: False)
    asked: list[str] = []

    def watch(page: Page, by: By, *, marked: bool) -> Page:
        asked.append(by)
        return dump_page(page, by, marked=marked)

    monkeypatch.setattr(reproduce, "dump_page", watch)
    report = reproduce.internal(FewPages(tmp_path, 1, no_progress, lambda line: None, quick=True))
    assert {*asked} == {"blocks"}
    assert "laid out as by Lynx, which is not installed here" in report.parts[0]


def test_a_dump_has_all_text_and_no_markup() -> None:
    page = dump(gold_page(1, "English", True))
    assert page.page.format == "text"
    assert isinstance(page.page.html, str)
    assert "A | B | C | D" in page.page.html
    assert "<" not in page.page.html
    assert page.gold.marked is not None


def test_figures_as_the_paper_writes_them() -> None:
    assert percent(0.92734) == "92.73"
    assert percent(None) == "-"
