"""What holds for any text, any bytes and any soup of tags (hypothesis)."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree as ET

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import mainmatter
from mainmatter.errors import NotAPage
from mainmatter.html.parse import Element, Node, Text, decode, parse
from mainmatter.html.read import parse_and_segment
from mainmatter.html.segment import segment
from mainmatter.records import Kind, Page
from mainmatter.registry import FORMATS, METHODS

EXAMPLES = settings(suppress_health_check=list(HealthCheck))

TAGS = """a article aside b blockquote body br button caption center code dd details dialog div dl dt em fieldset
figcaption figure font footer form frameset h1 h2 h6 head header hr html i iframe img input label legend li link main
math menu meta mi nav noscript object ol optgroup option p plaintext pre rp ruby script section select slot span
style summary sup svg table tbody td template textarea tfoot th thead title tr u ul wbr x-card xmp""".split()
ATTRIBUTES = [
    *"hidden href=x href=javascript:x() class='a b' style='display:none' onclick=x() lang=de colspan=9".split(),
    "shadowrootmode=open",
    "title='<p>'",
    "id=",
]
WORDS = [
    "one",
    "two ",
    " three",
    "漢字",
    "é",
    "🙂",
    "x\u00ady",
    "a\x01\x01b",
    "\x02",
    "\x00",
    "&amp;",
    "&nbsp;",
    "&#0;",
    "<",
    ">",
]
SPACES = [" ", "\n", "\t", "\r\n", "\x0c", "\u3000", "\u2028"]
BROKEN = ["<!-- x -->", "<!--", "<![CDATA[x]]>", "</", "<p", "<?x?>", "<!doctype html>", "</p/>", "<p/>", "'", '"']


def tags(name: str) -> st.SearchStrategy[str]:
    return st.one_of(
        st.just(f"<{name}>"),
        st.just(f"</{name}>"),
        st.sampled_from(ATTRIBUTES).map(lambda attribute: f"<{name} {attribute}>"),
    )


pieces = st.one_of(
    st.sampled_from(TAGS).flatmap(tags),
    st.sampled_from(TAGS).flatmap(tags),
    st.sampled_from([*WORDS, *SPACES]),
    st.sampled_from(BROKEN),
)
soups = st.lists(pieces, max_size=40).map("".join)
# Without what the segmenter takes out of texts, and without <noscript>, of which it may read all or nothing.
plain_soups = st.lists(
    st.one_of(
        st.sampled_from([tag for tag in TAGS if tag not in ("noscript", "template")]).flatmap(tags),
        st.sampled_from(["one", "two ", " three", "漢字", "é", "&amp;", " ", "\n"]),
    ),
    max_size=40,
).map("".join)
anything = st.one_of(soups, st.text(), st.binary(), soups.map(str.encode), st.text().map(lambda text: f"<p>{text}</p>"))

# Written down once more, by the HTML standard: what has no text that a page shows, and what is no HTML text.
NO_TEXT = frozenset(
    "annotation annotation-xml applet audio canvas datalist head iframe noembed noframes object rp rt script style svg "
    "template title video".split()
)

NO_TEXT_IN_FORMULA = frozenset("annotation annotation-xml script style svg".split())


def texts_of(tree: Node) -> list[Text]:
    """The text nodes of a page that are not white space, in order, by a walk of its own."""
    found: list[Text] = []
    stack: list[tuple[Node, bool]] = [(tree, False)]
    while stack:
        node, in_formula = stack.pop()
        if isinstance(node, Text):
            if node.data.strip():
                found.append(node)
            continue
        tag = node.tag if isinstance(node, Element) else ""
        if tag not in (NO_TEXT_IN_FORMULA if in_formula else NO_TEXT):
            stack.extend((child, in_formula or tag == "math") for child in reversed(list(node)))
    return found


@EXAMPLES
@given(anything, st.sampled_from(sorted(METHODS)))
def test_nothing_is_ever_raised(html: str | bytes, method: str) -> None:
    """But that what is neither HTML nor text is refused."""
    try:
        found = mainmatter.clean(html, method=method, url="https://e.example/")
    except NotAPage:
        return
    outputs = {name: found.render(name) for name in FORMATS}
    json.loads(outputs["json"])
    ET.fromstring(outputs["tei"].encode())
    assert len(found.kept) == len(found.scores) == len(found.kinds) == len(found.reasons) == len(found.document.blocks)


@EXAMPLES
@given(st.one_of(st.text(), st.binary()), st.sampled_from(sorted(METHODS)))
def test_nothing_is_ever_raised_on_a_dump(text: str | bytes, method: str) -> None:
    try:
        found = mainmatter.clean(Page(text, format="text"), method=method)
    except NotAPage:
        return
    for name in FORMATS:
        found.render(name)
    if isinstance(text, str):
        kept = "".join("".join(found.document.texts).split())
        assert not Counter(kept) - Counter(text)


@EXAMPLES
@given(st.binary(), st.sampled_from([None, "utf-8", "utf-16", "shift_jis", "windows-1252", "nonsense", ""]))
def test_all_bytes_can_be_decoded(data: bytes, charset: str | None) -> None:
    text, encoding = decode(data, charset)
    assert encoding
    text.encode()


@EXAMPLES
@given(plain_soups)
def test_white_space_is_normalised(html: str) -> None:
    columns = segment(parse(html)).columns
    for text, kind in zip(columns.texts, columns.kinds, strict=True):
        assert text
        if kind is not Kind.CODE:
            assert text == "\n".join(
                "\t".join(" ".join(cell.split()) for cell in line.split("\t")) for line in text.split("\n")
            )
            assert "\n\n" not in text
            assert kind is Kind.TABLE_ROW or "\t" not in text


@EXAMPLES
@given(plain_soups)
def test_all_text_is_found_once_and_in_order(html: str) -> None:
    tree = parse(html)
    segments = segment(tree)
    expected = texts_of(tree)
    nodes = [node for i in range(len(segments.first_nodes)) for node in segments.text_nodes(i)]
    assert len(set(nodes)) == len(nodes)  # no text node is in two blocks
    assert [node.data for node in nodes] == [node.data for node in expected]
    # And the blocks' texts are made of nothing else.
    for i, text in enumerate(segments.columns.texts):
        assert "".join(text.split()) == "".join("".join(node.data for node in segments.text_nodes(i)).split())


@EXAMPLES
@given(
    st.lists(st.tuples(st.sampled_from("p div h2 li td b i span a".split()), st.sampled_from("one two three".split())))
)
def test_words_stay_words(elements: list[tuple[str, str]]) -> None:
    """Each word in an element of its own, set apart by spaces: the blocks have the same words."""
    html = " ".join(f"<{tag}>{word}</{tag}>" for tag, word in elements)
    words = [word for text in mainmatter.read(Page(html)).texts for word in text.split()]
    assert words == [word for _, word in elements]


@EXAMPLES
@given(soups)
def test_columns_are_parallel_and_positions_grow(html: str) -> None:
    document = mainmatter.read(Page(html))
    columns = document.columns
    assert len(columns.texts) == len(columns.kinds) == len(columns.levels) == len(columns.positions) == len(document)
    assert all(a < b for a, b in zip(columns.positions, columns.positions[1:], strict=False))
    assert all((kind is Kind.HEADING) == (level > 0) for kind, level in zip(columns.kinds, columns.levels, strict=True))
    assert all((chars > 0) <= (links > 0) for chars, links in zip(columns.link_chars, columns.link_counts, strict=True))


@EXAMPLES
@given(plain_soups)
def test_every_xpath_finds_one_node_of_its_block(html: str) -> None:
    tree = parse_and_segment(html)[0]  # the page as it was read: a tag that swallowed all of it is gone
    for block in mainmatter.read(Page(html)).blocks:
        found = tree.xpath(block.xpath)
        assert isinstance(found, list)
        assert len(found) == 1
        node = found[0]
        if isinstance(node, str):
            assert "".join(block.text.split()).startswith("".join(node.split()))
        else:
            inside = "".join("".join(text.data for text in texts_of(node)).split())
            assert inside == "".join(block.text.split())


OPEN_AND_CLOSE = [
    *"<p> </p> <div> </div> <span> </span> <a> </a> <b> </b> <li> </li> <h2> </h2> <td> </td> <pre> </pre>".split(),
    *"<table> </table> <tr> <br> <br><br> <hr> <img> <ul> </ul> <blockquote> </blockquote> <main> </main>".split(),
]


@EXAMPLES
@given(st.lists(st.one_of(st.sampled_from(OPEN_AND_CLOSE), st.sampled_from([" ", "\n"]), st.none())), st.data())
def test_html_and_markdown_read_as_the_kept_blocks_do(pieces: list[str | None], data: st.DataObject) -> None:
    """Words are neither glued nor split, lost or repeated, whatever is dropped between them."""
    html = "<!doctype html>" + "".join(f"word{n}" if piece is None else piece for n, piece in enumerate(pieces))
    everything = mainmatter.clean(html, method="ice-baseline")
    texts = everything.document.texts
    kept = data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)))
    extraction = replace(everything, kept=np.array(kept, np.bool_))
    words = " ".join(text for text, is_kept in zip(texts, kept, strict=True) if is_kept).split()
    assert mainmatter.clean(extraction.to_html(), method="ice-baseline").text.split() == words
    assert re.findall(r"(?:word\d+)+", extraction.to_markdown().replace("**", "")) == words


@pytest.mark.parametrize("tag", TAGS)
def test_every_element_alone(tag: str) -> None:
    for html in (
        f"<{tag}>word",
        f"word<{tag}>",
        f"<{tag}></{tag}>word",
        f"<p><{tag}>word</{tag}></p>word",
        f"</{tag}>word",
    ):
        tree = parse(html)
        found = "".join(segment(tree).columns.texts)
        if tag not in ("noscript", "template"):
            assert found == "".join(text.data for text in texts_of(tree))
        for method in METHODS:
            for name in FORMATS:
                mainmatter.clean(html, method=method).render(name)
