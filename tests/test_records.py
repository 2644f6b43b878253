"""Documents that no reader made, and what documents know of themselves."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mainmatter
from mainmatter.records import LABELS, Columns, Document, Extraction, Kind, Metadata, Page
from mainmatter.registry import FORMATS, METHODS, get_method

KINDS = list(Kind)
HEADLINE = "The lamp in the harbour"
WORDS = "Some words of a paragraph, which is long enough for everybody who counts its words or its characters. "
TEXTS = [HEADLINE, WORDS * 3, "one", "two\t2", "x = 1", WORDS, "A lamp"]
HTML = "x<h2>a</h2><div>b<p><b>c</b></p><ul><li>d<li><p>e</ul><table><tr><td>f<p>g</table></div>"


def made(texts: list[str] = TEXTS, kinds: list[Kind] = KINDS) -> Document:
    """A document without HTML: its columns are all that there is."""
    levels = [2 * (kind is Kind.HEADING) for kind in kinds]
    return Document(
        Page("", "https://e.example/"),
        Columns.of(texts, kinds=kinds, levels=levels),
    )


class Titled(Document):
    """One that knows one thing more."""

    title = HEADLINE


@pytest.mark.parametrize("document", [made(), made([], [])], ids=["blocks", "empty"])
@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_and_format_takes_a_document_without_html(method: str, document: Document) -> None:
    found = get_method(method).extract(document)
    assert len(found.kept) == len(found.scores) == len(found.reasons) == len(document)
    for format_name in FORMATS:
        output = found.render(format_name)
        assert all(block.text.split()[0] in output for block in found.blocks)


def test_main_decides_as_for_a_dump() -> None:
    dump = mainmatter.read(Page("\n\n".join([f"# {HEADLINE}", WORDS, WORDS, "* one", "* two"]), format="text"))
    alone = Document(Page(""), dump.columns)
    decided, again = (get_method("main").extract(document) for document in (dump, alone))
    assert decided.scores.tolist() == again.scores.tolist()
    assert list(decided.reasons) == list(again.reasons)


def test_main_keeps_what_the_title_says() -> None:
    from mainmatter.main.features import COLUMNS, describe_blocks

    column = COLUMNS.index("in_title")
    assert not describe_blocks(made()).dense[:, column].any()
    titled = Titled(Page(""), made().columns)
    assert describe_blocks(titled).dense[:, column].tolist() == [1, 0, 0, 0, 0, 0, 0]


def test_what_a_document_without_html_knows() -> None:
    document = made()
    assert document.metadata == Metadata(url="https://e.example/")
    assert document.title == ""
    assert document.tags == ["h2", "p", "li", "td", "pre", "blockquote", "caption"]
    assert document.names == [""]
    assert document.containers.holders.tolist() == [0] * len(KINDS)
    assert not document.has_markup
    assert document.parsed is None
    assert document.parse_again() is None
    assert [(block.index, block.text, block.level) for block in document.blocks][:2] == [
        (0, HEADLINE, 2),
        (1, TEXTS[1], 0),
    ]


def test_what_a_document_of_html_knows() -> None:
    document = mainmatter.read(Page(f"<title> A \n title</title>{HTML}"))
    assert document.title == "A title"
    assert document.tags == ["body", "h2", "div", "p", "li", "p", "td", "p"]
    assert mainmatter.read(Page("<p>a")).title == ""
    dump = mainmatter.read(Page("# Title\n\nSome words\n\n* item\n", format="text"))
    assert dump.tags == ["h1", "p", "li"]


@pytest.mark.parametrize("page", [Page(f"<title>T</title>{HTML}".encode()), Page("# T\n\na", format="text")])
def test_documents_travel_without_what_was_worked_out(page: Page) -> None:
    document = mainmatter.read(page)
    fresh = len(pickle.dumps(document))
    assert document.blocks
    assert document.names
    data = pickle.dumps(document)
    assert len(data) == fresh
    again = pickle.loads(data)
    assert type(again) is type(document)
    assert again.page == document.page
    for copy in (again, replace(document)):
        assert copy.columns == document.columns
        assert copy.encoding == document.encoding
        assert (copy.blocks, copy.metadata, copy.title) == (document.blocks, document.metadata, document.title)
        assert (copy.tags, copy.names) == (document.tags, document.names)
        assert copy.containers.parents.tolist() == document.containers.parents.tolist()


# What an extraction says of a page: what the page declares, its headline, its bylines.

DECLARED = Metadata(title="Lamps", url="https://e.example/lamps")
LAMPS = f"<title>Lamps</title><h1>{HEADLINE}</h1>"


def labelled(html: str = LAMPS, page_type: str | None = "article", **found: int) -> Extraction:
    """A page of which a method has labelled some blocks, by the beginning of their texts."""
    document = mainmatter.read(Page(html, DECLARED.url))
    labels = [next((label for start, label in found.items() if text.startswith(start)), 0) for text in document.texts]
    nothing = np.zeros(len(document))
    return Extraction(
        document,
        "a method",
        scores=nothing,
        kept=nothing > 0,
        kinds=document.columns.kinds,
        reasons=[""] * len(document),
        page_type=page_type,
        found_labels=np.array(labels, np.intp),
    )


def test_the_headline_is_the_title_whether_it_is_kept_or_not() -> None:
    page = f"{LAMPS}<p>It burns again."
    assert labelled(page, The=LABELS.index("headline")).metadata == replace(DECLARED, title=HEADLINE)


def test_the_only_block_of_a_page_is_not_its_title() -> None:
    alone = labelled(f"<title>Lamps</title><p>{HEADLINE}", The=LABELS.index("headline"))
    assert alone.metadata == DECLARED


def test_without_a_headline_or_without_labels_the_page_says_what_its_title_is() -> None:
    assert labelled().metadata == DECLARED
    assert replace(labelled(The=LABELS.index("headline")), found_labels=None).metadata == DECLARED
    assert made().metadata_with("", []) == made().metadata_with("", ["By Ada Lind"]) == made().metadata


def test_the_headline_of_a_dump_is_its_title() -> None:
    assert made().metadata_with(HEADLINE, []) == Metadata(title=HEADLINE, url="https://e.example/")


@pytest.mark.parametrize(
    ("page_type", "between", "are_read"),
    [
        ("article", 8, True),
        ("article", 9, False),
        ("forum", 8, True),
        ("listing", 0, False),
        ("product", 0, False),
        (None, 0, False),
    ],
)
def test_bylines_near_the_headline_of_one_text_are_read(page_type: str | None, between: int, are_read: bool) -> None:
    page = f"{LAMPS}{'<p>x</p>' * between}<p>Posted on 5 May 2024 by Ada Lind</p>"
    assert mainmatter.read(Page(page, DECLARED.url)).metadata.author is None
    found = labelled(page, page_type, The=LABELS.index("headline"), Posted=LABELS.index("byline")).metadata
    assert found.title == HEADLINE
    assert (found.author == "Ada Lind") is are_read


def arrays_of(extraction: mainmatter.Extraction) -> dict[str, Any]:
    """Whatever an extraction, its document and the document's containers hand out as arrays."""
    document = extraction.document
    owners: list[Any] = [extraction, document, document.containers]
    found = {name: getattr(owner, name) for owner in owners for name in dir(owner) if not name.startswith("_")}
    found |= {f"jump {i}": jump for i, jump in enumerate(document.containers.jumps)}
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


def test_the_arrays_of_an_extraction_are_read_only() -> None:
    page = mainmatter.Page(
        f"<h1>Tides</h1><div><div>{'<p>High water at noon, says the old table.</p>' * 9}</div></div>"
    )
    extraction = mainmatter.clean(page)
    [sent, _] = mainmatter.clean_many([page] * 2, workers=2)
    assert isinstance(sent, mainmatter.Extraction)
    for one in (extraction, sent, pickle.loads(pickle.dumps(extraction)), pickle.loads(pickle.dumps(sent))):
        arrays = arrays_of(one)
        assert {"scores", "kept", "found_labels", "dials", "lengths", "positions", "parents", "jump 0"} <= arrays.keys()
        assert [name for name, array in arrays.items() if array.flags.writeable] == []
    with pytest.raises(ValueError, match="read-only"):
        extraction.kept[:] = False
