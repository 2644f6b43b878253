"""Comments in every format: left out, where they stand, or set apart."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import mainmatter
from commenting import COMMENTS, END, MAIN, PAGE, Commenting
from mainmatter.html.parse import parse
from mainmatter.records import COMMENT, Extraction, Page
from mainmatter.registry import FORMATS
from mainmatter.render.text import COMMENTS_LINE

if TYPE_CHECKING:
    from mainmatter.main.choice import Comments

TEI = "{http://www.tei-c.org/ns/1.0}"


def cleaned(comments: Comments, page: str | Page = PAGE) -> Extraction:
    return mainmatter.clean(page, method=Commenting(comments=comments))


@pytest.mark.parametrize(
    ("comments", "expected"),
    [
        ("drop", f"{MAIN}\n\n{END}"),
        ("keep", f"{MAIN}\n\n{COMMENTS}\n\n{END}"),
        ("mark", f"{MAIN}\n\n{END}\n\n--- Comments ---\n\n{COMMENTS}"),
    ],
)
def test_text(comments: Comments, expected: str) -> None:
    assert cleaned(comments).text == expected


def test_marked_text_can_be_split_at_the_line() -> None:
    main, line, comments = cleaned("mark").text.partition(f"{COMMENTS_LINE}\n\n")
    assert (main.rstrip(), line.rstrip(), comments) == (f"{MAIN}\n\n{END}", COMMENTS_LINE, COMMENTS)


@pytest.mark.parametrize("comments", ["keep", "mark"])
def test_text_of_one_label_alone(comments: Comments) -> None:
    found = cleaned(comments)
    assert found.render("text", only="main") == f"{MAIN}\n\n{END}"
    assert found.render("text", only="comment") == COMMENTS


def test_text_of_one_label_of_a_method_that_knows_no_comments() -> None:
    found = mainmatter.clean("<p>Comment: a", method="ice-baseline")
    assert found.render("text", only="main") == "Comment: a"
    assert found.render("text", only="comment") == ""


def test_markdown() -> None:
    kept, marked = cleaned("keep").markdown, cleaned("mark").markdown
    section = "## Comments\n\n### Comment by Bo\n\n- Comment: mine sank.\n- Comment: mine too."
    assert marked.endswith(f"\n\n{END}\n\n{section}")
    assert "[wind](/wind)" in marked
    assert "## Comments" not in kept
    assert kept.endswith(f"mine too.\n\n{END}")
    assert cleaned("drop").markdown == marked.removesuffix(f"\n\n{section}")


def test_html() -> None:
    kept, marked, dropped = cleaned("keep").html, cleaned("mark").html, cleaned("drop").html
    tree = parse(marked)
    sections = list(tree.select("section.comments"))
    assert len(sections) == 1
    assert "".join(sections[0].text.split()) == "".join(COMMENTS.split())
    assert marked.index(END) < marked.index('<section class="comments">') < marked.index("<h3>Comment by Bo</h3>")
    assert "<section" not in kept
    assert kept.index("Comment: mine too.") < kept.index(END)
    start, end = marked.index('\n<section class="comments">'), marked.index("</section>") + len("</section>")
    assert marked[:start] + marked[end:] == dropped


def test_a_pages_own_class_cannot_pass_for_ours() -> None:
    html = cleaned("mark", '<section class="comments"><p>Not by a reader.</section><p>Comment: a</p>').html
    assert [section.text.strip() for section in parse(html).select("section.comments")] == ["Comment: a"]


def test_json() -> None:
    dropped, kept = json.loads(cleaned("drop").json), json.loads(cleaned("keep").json)
    marked = json.loads(cleaned("mark").json)
    assert (dropped["text"], dropped["comments"]) == (f"{MAIN}\n\n{END}", None)
    assert (kept["text"], kept["comments"]) == (f"{MAIN}\n\n{COMMENTS}\n\n{END}", None)
    assert (marked["text"], marked["comments"]) == (f"{MAIN}\n\n{END}", COMMENTS)
    assert (marked["page_type"], marked["confidence"]) == ("article", 0.875)
    labels = ["boilerplate", "headline", *["main"] * 3, "caption", *["comment"] * 3, "main"]
    for found in (dropped, kept, marked):
        assert [block["label"] for block in found["blocks"]] == labels
    assert [block["kept"] for block in dropped["blocks"]] == [
        label in ("headline", "main", "caption") for label in labels
    ]


def test_json_of_a_marked_page_without_comments() -> None:
    content = json.loads(cleaned("mark", "<p>A page that nobody wrote to.").json)
    assert (content["text"], content["comments"]) == ("A page that nobody wrote to.", "")


def test_tei() -> None:
    root = ET.fromstring(cleaned("mark").tei.encode())
    body = root.find(f"{TEI}text/{TEI}body")
    assert body is not None
    assert [child.tag.removeprefix(TEI) for child in body] == ["ab", "p", "table", "ab", "figure", "p", "div"]
    assert body[-1].attrib == {"type": "comments"}
    assert [child.tag.removeprefix(TEI) for child in body[-1]] == ["ab", "list"]
    assert [item.text for item in body[-1].iter(f"{TEI}item")] == ["Comment: mine sank.", "Comment: mine too."]
    assert "<div" not in cleaned("keep").tei


def test_cleaneval_knows_no_comments() -> None:
    assert cleaned("mark").cleaneval == cleaned("keep").cleaneval
    assert cleaned("mark").cleaneval.endswith(f"<l> Comment: mine too.\n<p> {END}")


def test_a_page_of_comments_alone() -> None:
    found = cleaned("mark", "<p>Comment: a</p><p>Comment: b</p>")
    assert found.text == "--- Comments ---\n\nComment: a\n\nComment: b"
    assert found.markdown == "## Comments\n\nComment: a\n\nComment: b"
    assert '<body>\n<section class="comments">\n<p>Comment: a</p>\n<p>Comment: b</p>\n</section>\n</body>' in found.html


def test_a_dump() -> None:
    page = Page("# Kites and wind\n\nComment: yes\n\n* one long item\n\nComment: no", format="text")
    found = cleaned("mark", page)
    assert found.text == "Kites and wind\n\none long item\n\n--- Comments ---\n\nComment: yes\n\nComment: no"
    assert found.markdown == "# Kites and wind\n\n- one long item\n\n## Comments\n\nComment: yes\n\nComment: no"
    assert '<section class="comments">\n<p>Comment: yes</p>\n<p>Comment: no</p>\n</section>\n</body>' in found.html


def with_null(output: str) -> str:
    """JSON of a page without comments, as if nobody had asked for them."""
    return re.sub(r'"comments":( ?)""', r'"comments":\1null', output)


@pytest.mark.parametrize("format_name", sorted(FORMATS))
@pytest.mark.parametrize("page", ["", "<p>No comment here, only text.", "<frameset><frame src=a></frameset>"])
def test_without_comments_marking_changes_nothing(page: str, format_name: str) -> None:
    dropped, marked = cleaned("drop", page).render(format_name), cleaned("mark", page).render(format_name)
    assert with_null(marked) == dropped


@pytest.mark.parametrize("format_name", sorted(FORMATS))
def test_a_mark_without_knowledge_of_comments_changes_nothing(format_name: str) -> None:
    found = mainmatter.clean(PAGE, method="ice-baseline")
    marked = replace(found, marks_comments=True).render(format_name)
    assert with_null(marked) == found.render(format_name)


def test_every_other_block_a_comment() -> None:
    """Comments that share lists, tables and paragraphs with the main matter: nothing is lost, nothing doubled."""
    html = (
        "<p>a1<br><br>a2<br><br>a3</p><ul><li>b1<ul><li>b2<li>b3</ul><li>b4</ul>"
        "<table><tr><td>c1<td>c2<tr><td>c3<td>c4</table><div>d1<p>d2</p>d3</div><blockquote>e1<p>e2</blockquote>"
    )
    found = mainmatter.clean(html, method="ice-baseline")
    odd = COMMENT * (np.arange(len(found.document)) % 2)
    marked = replace(found, found_labels=odd, marks_comments=True)
    texts = found.document.texts
    in_order = "".join("".join(texts[0::2] + texts[1::2]).split())
    assert "".join(marked.text.replace(COMMENTS_LINE, "").split()) == in_order
    body = parse(marked.html).find("body")
    assert body is not None
    assert "".join(body.text.split()) == in_order
    markdown = "".join(c for c in marked.markdown.replace("## Comments", "") if c.isalnum())
    assert markdown == in_order


def test_labels() -> None:
    labels = ["boilerplate", "headline", *["main"] * 3, "caption", *["comment"] * 3, "main"]
    assert cleaned("drop").labels == cleaned("keep").labels == cleaned("mark").labels == labels
    found = mainmatter.clean(PAGE, method="density")
    assert found.labels == ["main" if kept else "boilerplate" for kept in found.kept]
    assert (found.page_type, found.confidence, found.is_comment, found.marks_comments) == (None, None, None, False)


def test_what_is_known_of_a_page_survives_pickling() -> None:
    found = cleaned("mark")
    copy = pickle.loads(pickle.dumps(found))
    assert (copy.page_type, copy.confidence, copy.marks_comments) == ("article", 0.875, True)
    assert copy.labels == found.labels
    assert copy.text == found.text
    assert copy.html == found.html


def test_what_is_known_of_a_page_comes_back_from_another_process() -> None:
    pages = [PAGE, "<p>Comment: a</p><p>A long text of some kind.</p>"]
    alone = list(mainmatter.clean_many(pages, method=Commenting(comments="mark")))
    found = list(mainmatter.clean_many(pages, method=Commenting(comments="mark"), workers=2))
    for one, other in zip(alone, found, strict=True):
        assert isinstance(one, Extraction)
        assert isinstance(other, Extraction)
        assert (other.page_type, other.confidence, other.labels) == (one.page_type, one.confidence, one.labels)
        assert list(other.reasons) == list(one.reasons)
        for name in FORMATS:
            assert other.render(name) == one.render(name)
