"""What comes out of the pages that we wrote: the content, in its order and with its structure, and nothing else.

The expectations, in pages/index.json, are what a reader of the page would want. What `main` does not meet yet
stands in not_yet.json, no more and no less: what gets worse fails, and so does what gets better, until it is taken off.
"""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from expectations import (
    FOLDER,
    INDEX,
    NAMELESS,
    NOT_YET,
    PAGES,
    PIECES,
    cleaned,
    missing,
    nameless,
    not_yet,
    present,
    spaced,
    unmet,
    unwanted,
)
from mainmatter import clean, method_names
from mainmatter.html.parse import decode
from mainmatter.lab.metrics.bag import bag_of_words
from page_variants import SEMANTIC, VARIANTS, variant

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_UNMET = 0.08  # of what the text must and must not have
MOST_UNKNOWN = 0.3  # of the headlines, bylines, captions and comments, whose labels are wrong
PAGE_TYPES = {"article", "collection", "documentation", "forum", "listing", "product", "service"}

every_page = pytest.mark.parametrize("name", INDEX)


# The pages


def unmet_share(expectations: Iterable[str], expected: int) -> float:
    return sum(len(page.get(each, [])) for page in NOT_YET.values() for each in expectations) / expected


def test_most_expectations_are_met() -> None:
    of_text = sum(len(facts["must_have"]) + len(unwanted(name)) for name, facts in INDEX.items())
    of_labels = sum("headline" in facts for facts in INDEX.values())
    of_labels += sum(len(facts.get(piece, [])) for facts in INDEX.values() for piece in PIECES)
    assert unmet_share(("must_have", "must_not_have", "markdown"), of_text) < MOST_UNMET
    assert unmet_share(("headline", *PIECES), of_labels) < MOST_UNKNOWN


def test_pages_of_all_kinds() -> None:
    assert set(INDEX) == set(PAGES)
    assert len(INDEX) >= 48
    assert {facts["page_type"] for facts in INDEX.values()} == PAGE_TYPES
    assert {facts["lang"] for facts in INDEX.values()} == set("ar de el en es fr it ja pl ru zh".split())
    assert all(facts["about"] and facts["must_have"] and facts["must_not_have"] for facts in INDEX.values())
    assert {piece for facts in INDEX.values() for piece in PIECES if facts.get(piece)} == set(PIECES)


def test_the_guide_lists_the_pages() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "explanation" / "quality.md").read_text("utf-8")
    rows = [f"| `{name}` | {facts['lang']} | {facts['about']} |" for name, facts in INDEX.items()]
    assert [row for row in rows if row not in guide.splitlines()] == []


@every_page
def test_snippets_agree_with_the_gold_text(name: str) -> None:
    page, facts = PAGES[name], INDEX[name]
    assert page.gold.must_have == tuple(facts["must_have"])
    assert page.groups == {"page_type": facts["page_type"], "lang": facts["lang"]}
    gold = spaced(page.gold.text or "")
    places = [gold.find(spaced(snippet)) for snippet in facts["must_have"]]
    assert -1 not in places
    assert places == sorted(places)
    assert gold.startswith(spaced(facts.get("headline", ""))) or name == "article-de"  # which has a kicker
    assert present(gold, unwanted(name)) == []
    assert isinstance(page.page.html, bytes)
    source = unescape(re.sub("<[^>]*>", " ", decode(page.page.html)[0]))
    assert missing(source, unwanted(name)) == []


# What comes out


@every_page
def test_content_is_kept(name: str) -> None:
    assert unmet(name)["must_have"] == not_yet(name, "must_have")


@every_page
def test_boilerplate_is_dropped(name: str) -> None:
    assert unmet(name)["must_not_have"] == not_yet(name, "must_not_have")


@every_page
def test_something_is_kept(name: str) -> None:
    assert len(cleaned(name).text) > 50


@every_page
def test_markdown_keeps_the_structure(name: str) -> None:
    assert unmet(name)["markdown"] == not_yet(name, "markdown")


@pytest.mark.parametrize("name", [name for name, facts in INDEX.items() if "```" in facts.get("markdown", [])])
def test_code_is_fenced_in_markdown_and_marked_in_the_blocks(name: str) -> None:
    assert cleaned(name).markdown.count("```") >= 2
    assert any(kind == "code" for kind, kept in zip(cleaned(name).kinds, cleaned(name).kept, strict=True) if kept)


def test_kinds_of_a_specification_a_list_and_a_heading() -> None:
    markup = cleaned("product-shopify").cleaneval
    assert "<h> Harrow Enamel Kettle, 1.8 l" in markup
    assert "<l> Wide opening for cleaning by hand" in markup
    tei = cleaned("product-shopify").render("tei")
    assert re.search(r'<cell role="label">Weight</cell>\s*<cell>1\.4 kg</cell>', tei)


# Methods by name


@every_page
@pytest.mark.parametrize("method", method_names())
def test_every_method_keeps_the_order(method: str, name: str) -> None:
    text = spaced(cleaned(name, method).text)
    # The first snippet is the title, which breadcrumbs and boxes repeat.
    places = [text.find(spaced(snippet)) for snippet in INDEX[name]["must_have"][1:]]
    found = [place for place in places if place >= 0]
    assert found == sorted(found)


# Names alone


@pytest.mark.parametrize("change", VARIANTS)
def test_variants_are_other_pages_with_the_same_text(change: str) -> None:
    html = '<!doctype html><main class="a b" hidden>x<p id=c>&amp; <a href="y">z</a></p></main>'
    assert variant(html, change) == variant(html, change) != html
    assert clean(variant(html, change), method="ice-baseline").text == clean(html, method="ice-baseline").text


def test_variants_have_lost_the_names() -> None:
    html = decode(Path(FOLDER / "html" / "article-wordpress-comments.html").read_bytes())[0]
    assert "entry-content" not in variant(html, "hashed-names")
    assert "class=" not in variant(html, "no-attributes")
    assert not re.search(f"<(?:{'|'.join(SEMANTIC)})[ >]", variant(html, "only-divisions"))


@pytest.mark.parametrize(("name", "change"), NAMELESS)
def test_content_is_found_without_names(name: str, change: str) -> None:
    text = nameless(name, change)
    assert missing(text, INDEX[name]["must_have"]) == not_yet(f"{name} {change}", "must_have")
    assert bag_of_words(text, PAGES[name].gold.text or "").f1 > 0.8
