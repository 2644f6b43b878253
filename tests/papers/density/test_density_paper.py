"""`density:preset=paper` beside section 4 of the paper, transcribed from its text for the standard library's parser."""

from __future__ import annotations

import random
from html.parser import HTMLParser

import pytest

import mainmatter
from mainmatter.api import read
from mainmatter.papers.density.method import Density
from mainmatter.papers.density.strings import strings_by_tags
from mainmatter.records import Extraction, Page
from mainmatter.registry import get_method


class ListOfStrings(HTMLParser):
    """ "If a node containing text is encountered, this text is added to the last text string in L. If a markup-tag that
    modifies the structure of the Web page is encountered, L is extended with one empty string."
    """

    structural = ("html", "body", "p", "table", "tbody", "tr", "td", "br", "div", "h1", "h2", "ul", "li")
    ignored = ("script", "style")

    def __init__(self) -> None:
        super().__init__()
        self.strings = [""]
        self.is_content = True

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self.structural:
            self.strings.append("")
        self.is_content = tag not in self.ignored

    def handle_endtag(self, tag: str) -> None:
        self.is_content = True

    def handle_data(self, data: str) -> None:
        if self.is_content:
            self.strings[-1] += data


def main_content(html: str) -> list[str]:
    """The strings from the leftmost to the rightmost one of R."""
    parser = ListOfStrings()
    parser.feed(html)
    strings = [" ".join(string.split()) for string in parser.strings]
    longest = max(range(len(strings)), key=lambda i: len(strings[i]))  # of several, the first
    cutoff = len(strings[longest]) * 0.333
    region = {longest}
    while True:
        more = {
            i
            for i, string in enumerate(strings)
            if i not in region and len(string) > cutoff and any(abs(i - j) < 4 for j in region)
        }
        if not more:
            return strings[min(region) : max(region) + 1]
        region |= more


def made_up_page(rng: random.Random, *, long_blocks: bool) -> str:
    """A well-formed page in which no word stands twice; `long_blocks` may hold several strings, by <br> and cells."""
    count = 0

    def text() -> str:
        nonlocal count
        first, count = count, count + rng.choice((1, 2, 5, 10, 15, 20))
        return " ".join(f"w{number}" for number in range(first, count))

    def inline() -> str:
        kind = rng.randrange(6)
        if kind == 0:
            return f"{text()} <b>{text()}</b> {text()}"
        if kind == 1:
            return f'<a href="/">{text()}</a>'
        if kind == 2 and long_blocks:
            return f"{text()}<br>{text()}" + rng.choice(("", f"<br>{text()}", f"<br><br>{text()}"))
        if kind == 3:
            return f"{text()}<script>var ignored = 1;</script><!-- so is this -->"
        return text()

    def block(depth: int) -> str:
        kind = rng.randrange(8)
        if kind < 3 or depth > 3:
            return f"<p>{inline()}</p>\n"
        if kind == 3:
            return f"<h2>{text()}</h2>"
        if kind == 4:
            return "<ul>" + "".join(f"<li>{inline()}</li>" for _ in range(rng.randint(1, 4))) + "</ul>"
        if kind == 5:
            cells = "".join(f"<td>{inline()}</td>" for _ in range(rng.randint(1, 3) if long_blocks else 1))
            return f"<table><tbody><tr>{cells}</tr></tbody></table>"
        inner = "".join(block(depth + 1) for _ in range(rng.randint(1, 3)))
        return f"<div>{rng.choice(('', text()))}\n{inner} {rng.choice(('', text()))}</div>"

    blocks = "".join(block(0) for _ in range(rng.randint(1, 12)))
    return f"<html><head><style>p {{}}</style></head><body>{blocks}</body></html>"


def kept_words(extraction: Extraction) -> list[str]:
    return [word for block in extraction.blocks for word in block.text.split()]


def test_it_keeps_the_strings_that_the_paper_keeps() -> None:
    rng = random.Random(2009)
    whole = 0
    for _ in range(400):
        html = made_up_page(rng, long_blocks=False)
        extraction = mainmatter.clean(html, method="density:preset=paper")
        assert kept_words(extraction) == " ".join(main_content(html)).split(), html
        whole += bool(extraction.kept.all())
    assert whole < 200  # of some pages all is kept, of most it is not


def test_a_block_is_kept_if_one_of_its_strings_is() -> None:
    rng = random.Random(4)
    cut = 0
    for _ in range(400):
        html = made_up_page(rng, long_blocks=True)
        extraction = mainmatter.clean(html, method="density:preset=paper")
        wanted = set(" ".join(main_content(html)).split())
        for block, is_kept in zip(extraction.document.blocks, extraction.kept, strict=True):
            words = set(block.text.split())
            assert is_kept == bool(words & wanted), html
            cut += bool(is_kept and words - wanted)
    assert cut > 0  # else the pages do not test this


def test_the_preset_differs_from_the_default_only_in_its_strings() -> None:
    assert get_method("density:preset=paper") == Density(c1=0.333, c2=4, strings="tags", smoothing=0)
    assert get_method("density") == Density(c1=0.333, c2=4, strings="blocks", smoothing=0, edge="cutoff")


@pytest.mark.parametrize(
    ("html", "texts", "distances"),
    [
        ("<p>one</p><p>two</p>", ["one", "two"], [1]),
        ("<div><div><p>one</p></div></div><div><p>two</p></div>", ["one", "two"], [2]),
        # Text after an end tag is added to the last string.
        ("<div><p>one</p>, two</div> three<p>four", ["one, two three", "four"], [1]),
        # Each <br> starts a string, and so do cells; inline tags do not.
        ("<p>one<br>two<br><br>three", ["one", "two", "three"], [1, 2]),
        ("<table><tr><td>one<td>two</table>", ["one", "two"], [1]),
        ("<p>one <b>two</b> <a href=/>three</a>", ["one two three"], []),
        # White space of the source does not count.
        ("<p>\n  one\n  two\n</p>\n  <p> three", ["one two", "three"], [1]),
        ("", [], []),
    ],
)
def test_strings(html: str, texts: list[str], distances: list[int]) -> None:
    found = strings_by_tags(read(Page(html)))
    assert found.texts == texts
    assert [b - a for a, b in zip(found.positions, found.positions[1:], strict=False)] == distances


def test_a_page_without_markup_has_its_blocks_for_strings() -> None:
    document = read(Page("one\n\ntwo two\n\nthree", format="text"))
    assert strings_by_tags(document).texts == document.texts
    assert Density(strings="tags").extract(document).kept.tolist() == Density().extract(document).kept.tolist()
