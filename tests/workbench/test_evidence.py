"""What speaks for a block and against it, in words that are true of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mainmatter import clean
from mainmatter.main.features import FAMILIES
from mainmatter.main.method import Main
from mainmatter.records import Extraction, Page
from mainmatter.workbench.evidence import LEAST, MOST, Evidence, _Facts, find_evidence

EXAMPLE = Path(__file__).parents[2] / "src/mainmatter/workbench/static/example.html"
HTML = """<title>Tides of the coast | The Lamp</title><body><nav id="top-nav" class="menu wide"><ul>
<li><a href="/">Home</a></li><li><a href="/a">Tides</a></li></ul></nav>
<article class="story"><h1>Tides of the coast</h1>
<p class="lead">The sea comes twice a day, and goes as often. Nobody in the town has ever asked it to.</p>
<p>It comes at six, at half past six, or at seven, and a table says when. The table hangs on the quay, in the rain, and
is printed anew each winter by the one printer who has stayed.</p><p>2019: 24</p></article>
<footer><p>Written by <a href="/ada">Ada Lamp of the coast</a></p><p>Tides</p><button>Send</button></footer>"""


def told(html: str = HTML) -> dict[str, dict[str, str]]:
    """What each family would say of each block, by the block's first word."""
    extraction = clean(Page(html))
    facts = facts_of(extraction)
    return {
        f"{number} {text.split()[0]}": {family: facts.tell(family, number) for family in FAMILIES}
        for number, text in enumerate(extraction.document.texts)
    }


def facts_of(extraction: Extraction, loudest: str = "") -> _Facts:
    page = Main().load_shipped().describe(extraction.document)
    return _Facts(extraction.document, page, [loudest] * len(extraction.document))


def test_evidence_has_the_weights_of_the_reasons_and_the_loudest_first() -> None:
    extraction = clean(EXAMPLE)
    evidence = find_evidence(extraction, range(len(extraction.document)))
    assert list(evidence) == list(range(len(extraction.document)))
    for block, (signals, _) in evidence.items():
        weights = [abs(weight) for _, weight, _ in signals]
        assert weights == sorted(weights, reverse=True)
        assert len(weights) <= MOST
        assert all(weight >= LEAST - 0.005 for weight in weights)
        for family, weight, words in signals[:2]:  # a reason tells three, but names only where they say enough
            assert f"{family}" in extraction.reasons[block]
            assert f"{weight:+.1f}"[:-1] in extraction.reasons[block]
            assert words


def test_notes_say_what_overruled_the_signals() -> None:
    extraction = clean(EXAMPLE)
    texts = extraction.document.texts
    headline, byline = texts.index("The clock that counted fish"), texts.index("By Ida Marsh, 14 March 2026")
    evidence = find_evidence(extraction, [headline, byline, 8])
    assert evidence[headline].notes == ["the page's headline"]
    assert evidence[byline].notes == ["a byline: dropped, as bylines are unless asked for"]
    assert evidence[8].notes == []


def test_methods_without_signals_have_no_evidence() -> None:
    assert find_evidence(clean(EXAMPLE, method="density"), [0, 1]) == {}


def test_a_dump_has_evidence_of_its_texts_alone() -> None:
    dump = Page("The Lamp\n\nThe sea comes twice a day, and goes as often, as all of us know.\n\nLegal", format="text")
    evidence = find_evidence(clean(dump), range(3))
    assert all(isinstance(each, Evidence) for each in evidence.values())
    assert any(each.signals for each in evidence.values())


@pytest.mark.parametrize(
    ("block", "family", "words"),
    [
        ("0 Home", "links", "all of its text is links"),
        ("0 Home", "tags", "a list item, stands in <ul> in <nav>"),
        ("0 Home", "length", "a short text, 4 characters"),
        ("0 Home", "title", "2 blocks above the headline"),
        ("0 Home", "punctuation", "no full stop or comma in it"),
        ("0 Home", "containers", "the part of the page around it has 2 blocks: all of the text is links"),
        ("1 Tides", "repetition", "the page has the same text 2 times"),
        ("2 Tides", "title", "stands in the page's title"),
        ("2 Tides", "tags", "a heading, stands in <article>"),
        ("3 The", "links", "no link in it"),
        ("3 The", "punctuation", "2 full stops, 1 comma"),
        ("3 The", "capitals", "begins with a capital; 3 % of its letters are capitals"),
        ("3 The", "longest text", "1 block above the longest text"),
        ("3 The", "repetition", "no other block of the page says the same"),
        ("4 It", "longest text", "the page's longest text"),
        ("4 It", "top container", "in the part of the page with the most running text"),
        ("5 2019:", "punctuation", "75 % of it is digits"),
        ("6 Written", "links", "66 % of its text is links"),
        ("6 Written", "top container", "outside the part of the page with the most running text"),
        ("6 Written", "tree", "inside 4 elements, one of 2 alike"),
        ("8 Send", "tags", "part of a form, stands in <button> in <footer>"),
    ],
)
def test_facts_are_those_of_the_block(block: str, family: str, words: str) -> None:
    assert told()[block][family] == words


def test_a_name_is_told_with_the_element_that_has_it() -> None:
    extraction = clean(Page(HTML))
    for name, block, words in (
        ("lead", 3, "class lead"),
        ("story", 3, "in <article> with the class story"),
        ("top-nav", 0, "in <nav> with the id top-nav"),
        ("", 0, "inside of menu, wide, top-nav"),
        ("", 6, "no element around it has a class or id"),
    ):
        assert facts_of(extraction, name).tell("names", block) == words
