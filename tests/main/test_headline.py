"""Which block is the headline: the net's word, the markup, and the declared titles; never the site's name."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mainmatter
from mainmatter.api import read
from mainmatter.main.choice import find_headline
from mainmatter.main.dumps import DUMP_COLUMNS, describe_dump
from mainmatter.main.features import describe_blocks
from mainmatter.records import Page

URL = "https://riverpost.example/p/mills"
TITLE = "Old mills of the valley"
PROSE = "The water turned the wheels for three hundred years, and nobody in the valley thought it would ever stop. " * 3
HEAD = f"<title>{TITLE} - by Ada Lind - River Post</title><meta property=og:title content='{TITLE}'>"
SITE = "<meta property=og:site_name content='The River Post'>"


def find(html: str, probability: float = 0.01, url: str | None = URL, **of_texts: float) -> str | None:
    """The headline of a page, where the net gives all blocks one probability, except for those that are named."""
    document = read(Page(html, url))
    probabilities = np.array([of_texts.get(text.lower(), probability) for text in document.texts])
    found = find_headline(document, describe_blocks(document).dense, probabilities)
    return None if found is None else document.texts[found]


PAGES = {
    "the site's name in the first heading": (
        f"{HEAD}{SITE}<h1>The River Post</h1><p>About</p><article><h1>{TITLE}</h1><p>{PROSE}</article>",
        TITLE,
    ),
    "the same, with a title of a lower level": (
        f"{HEAD}{SITE}<h1>The River Post</h1><article><h2>{TITLE}</h2><p>{PROSE}</article>",
        TITLE,
    ),
    "only the address tells the site's name": (f"{HEAD}<h1>Riverpost</h1><h2>{TITLE}</h2><p>{PROSE}", TITLE),
    "nothing tells the site's name, but it is no title": (f"{HEAD}<h1>Mill news</h1><h1>{TITLE}</h1><p>{PROSE}", TITLE),
    "no title": (f"<article><h1>{TITLE}</h1><p>{PROSE}</article>", TITLE),
    "a title with the site's name": (f"<title>{TITLE} | River Post</title><h1>{TITLE}</h1><p>{PROSE}", TITLE),
    "a title without what else the heading says": (
        f"<title>{TITLE}</title><h2>News of all the valleys</h2><h2>Thread: {TITLE}!</h2><p>{PROSE}",
        f"Thread: {TITLE}!",
    ),
    "a product whose name is no heading": (
        f"<title>Mill wheel M2</title><div>Mill Wheel M2</div><h2>Description</h2><p>{PROSE}",
        "Mill Wheel M2",
    ),
    "a home page": (f"<title>River Post</title>{SITE}<h1>The River Post</h1><h2>News</h2><p>{PROSE}", None),
    "a heading in the menu and one in the text": (
        f"<title>{TITLE}</title><nav><h1>{TITLE}</h1></nav><h2>{TITLE.upper()}</h2><p>{PROSE}",
        TITLE.upper(),
    ),
    "no block": (f"<title>{TITLE}</title>", None),
}


@pytest.mark.parametrize("name", PAGES)
def test_the_headline(name: str) -> None:
    html, headline = PAGES[name]
    assert find(html) == headline


@pytest.mark.parametrize("name", [*PAGES][:6])
def test_the_model_that_ships_keeps_the_headline_which_is_the_title_of_the_metadata(name: str) -> None:
    html, headline = PAGES[name]
    found = mainmatter.clean(Page(html, URL))
    labels = dict(zip(found.document.texts, found.labels, strict=True))
    assert labels[headline or ""] == "headline"
    assert (headline or "") in found.text
    assert found.metadata.title == headline


def test_the_name_of_the_site_above_the_headline_is_dropped_and_below_it_is_not() -> None:
    html = (
        f"{SITE}<h1>The River Post</h1><article><h1>{TITLE}</h1><p>{PROSE}<h2>The River Post</h2><p>{PROSE}</article>"
    )
    found = mainmatter.clean(Page(html, URL), dial=0.999)
    texts = [block.text for block in found.blocks]
    assert texts == [TITLE, PROSE.strip(), "The River Post", PROSE.strip()]
    for same in (mainmatter.clean(Page(html, URL), dial=1.0), mainmatter.clean(html.removeprefix(SITE), dial=0.999)):
        assert [block.text for block in same.blocks] == ["The River Post", *texts]


# Each page, and the log odds that are on its headline's side beside the net's.
SIGNS = {
    "a paragraph": (f"<p>{TITLE}</p>", 0.0),
    "a heading": (f"<h2>{TITLE}</h2>", 2.0),
    "a first-level heading": (f"<h1>{TITLE}</h1>", 6.0),
    "the title": (f"<title>{TITLE.upper()}!</title><p>{TITLE}</p>", 6.0),
    "half of the title": (f"<title>{TITLE} {TITLE}</title><p>{TITLE}</p>", 3.0),
    "twice the title": ("<title>Old mills</title><p>Old mills old mills</p>", 3.0),
    "a title for cards": (f"<title>x</title><meta name=og:title content='{TITLE}'><p>{TITLE}</p>", 6.0),
    "all of it, in the menu": (f"<title>{TITLE}</title><nav><h1>{TITLE}</h1></nav>", 4.0),
    "all of it, in the footer": (f"<title>{TITLE}</title><footer><h1>{TITLE}</h1></footer>", 4.0),
    "another title": (f"<title>Something else</title><h1>{TITLE}</h1>", 6.0),
    "of 500 characters": (f"<h1>{'x' * 500}</h1>", 6.0),
}


@pytest.mark.parametrize("name", SIGNS)
def test_what_each_sign_is_worth(name: str) -> None:
    html, odds = SIGNS[name]
    assert find(html, 1 / (1 + math.exp(odds - 0.02))) is not None
    assert find(html, 1 / (1 + math.exp(odds + 0.02))) is None


def test_what_is_long_is_no_headline() -> None:
    assert find(f"<h1>{'x' * 501}</h1>", 0.99) is None


def test_the_net_is_never_surer_than_ten_thousand_to_one() -> None:
    assert find(f"<title>{TITLE}</title><h1>{TITLE}</h1>", 0.0) == TITLE
    assert find(f"<title>{TITLE}</title><h2>{TITLE}</h2>", 0.0) is None
    assert find("<title>b</title><p>a</p><h1>b</h1>", 0.5, a=1.0) == "b"
    assert find("<title>b</title><p>a</p><h2>b</h2>", 0.5, a=1.0) == "a"


def test_of_equals_the_first_is_the_headline() -> None:
    assert find("<h1>a</h1><h1>b</h1>") == "a"
    assert find("<h1>a</h1><h1>b</h1>", b=0.02) == "b"


def test_a_canonical_address_tells_the_site_too() -> None:
    page = "<link rel=canonical href=https://www.riverpost.example/><h1>River Post</h1><h2>Mills</h2>"
    assert find(page, 0.2, None) == "Mills"
    assert find(page, 0.2, "https://other.example/") == "River Post"


def test_in_a_dump_the_net_decides_alone() -> None:
    document = read(Page(f"# {TITLE}\n\n{PROSE}", format="text"))
    dense = describe_dump(document).dense
    assert find_headline(document, dense, np.array([0.51, 0.1]), DUMP_COLUMNS) == 0
    assert find_headline(document, dense, np.array([0.49, 0.1]), DUMP_COLUMNS) is None


def test_very_many_headings_take_linear_time() -> None:
    html = f"<title>{'x ' * 500_000}</title>" + "<meta property=og:title content=x>" * 5_000 + "<h1>x</h1>" * 5_000
    document = read(Page(html))
    dense = describe_blocks(document).dense
    assert find_headline(document, dense, np.full(len(document), 0.1)) == 0
    assert len(document.title_keys[0]) == 2
    assert max(map(len, document.title_keys[0])) <= 1_000
