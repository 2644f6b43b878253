"""The part of a text's structure that Markdown can express, as facts that can be counted and compared.

A page's tree (structure_page.py) and Markdown (structure_markdown.py) are both read into the same `Structure`: blocks
of marked text, and pictures. `facts_of` then draws the facts from either by the same rules, and `compare` counts those
that came through. So nothing here knows how our own Markdown is written, which it judges.

What counts:

- Texts are compared by their letters and digits: where a writer puts white space and punctuation, inside or outside of
  a mark, is its own business. What has none, such as `<b>&nbsp;</b>` or a link that is an arrow, does not count.
- Emphasis counts by runs within a block: nested or neighbouring elements of one kind are one run. Emphasis of a whole
  heading, header cell or term may be kept or not. Text that is code adds nothing to a run and does not end it.
- A link around several blocks came through if one of them carries it.
- A list item counts if text of its own was kept; only such items add to the depth of those within.
- Cells count by row and column among the rows and columns that hold text.
- Some facts may come through or not: they are neither missed nor invented. See structure_page.py for which.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Mark = Literal["strong", "emphasis", "strikethrough", "code", "subscript", "superscript"]
NO_MARKS: frozenset[Mark] = frozenset()

FactKind = Literal[
    "strong",
    "emphasis",
    "strikethrough",
    "links",
    "list items",
    "task items",
    "definitions",
    "table cells",
    "code blocks",
    "code languages",
    "code spans",
    "headings",
    "block quotes",
    "images",
    "alternative texts",
    "formulas",
    "sub- and superscripts",
]
_RUNS: dict[Mark, FactKind] = {
    "strong": "strong",
    "emphasis": "emphasis",
    "strikethrough": "strikethrough",
    "subscript": "sub- and superscripts",
    "superscript": "sub- and superscripts",
}

_WORD = re.compile(r"[^\W_]+")
_BEGINNING = 40  # letters and digits by which items, quotes and definitions are told apart
# What TeX has only for looks.
_LOOKS = re.compile(r"\\(?:displaystyle|textstyle|scriptstyle|left|right|,|;|!|:| )(?![a-zA-Z])|[\s{}]")
_ANY = "any"  # a formula whose TeX the page does not tell


@dataclass(eq=False, slots=True)
class Link:
    """A link; the same object in all spans of one link.

    Attributes:
        address: where it leads.
        needed: it must come through; else it may.
    """

    address: str
    needed: bool = True


@dataclass(eq=False, slots=True)
class Item:
    """A list item, told by identity.

    Attributes:
        ordered: its list is numbered.
        checked: in a list of tasks, whether it is done.
        needed: it must come through; else it may.
        stray: it is not an item, but text in a list beside the items; each block of it may be one.
    """

    ordered: bool
    checked: bool | None = None
    needed: bool = True
    stray: bool = False


@dataclass(eq=False, slots=True)
class Quote:
    """A block quote, told by identity."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text under the same marks.

    Attributes:
        text: the text; "" for a formula.
        marks: what must come through of its marks.
        loose_marks: what may.
        link: the link that it is part of.
        formula: TeX; None for text, "" for a formula whose TeX is not known.
        needed: the text, or the formula, must come through; else it may.
    """

    text: str
    marks: frozenset[Mark] = NO_MARKS
    loose_marks: frozenset[Mark] = NO_MARKS
    link: Link | None = None
    formula: str | None = None
    needed: bool = True


BLOCK_END = Span("\n")  # between the blocks of a cell, which are one text


@dataclass(eq=False, slots=True)
class MarkedBlock:
    """A paragraph, heading, cell, or block of code.

    Attributes:
        spans: its text.
        kind: what it is.
        level: of a heading.
        language: of code, in lower case.
        items: the list items that it stands in, the outermost first.
        quotes: the block quotes that it stands in.
        table: the number of its table, if it is a cell.
        row: of a cell, counted in any way that grows.
        column: of a cell.
        is_header: it is a header cell.
        is_caption: it is a caption, or a summary of details; those may be set apart by any emphasis.
        needed: what the block is must come through; else it may.
    """

    spans: list[Span]
    kind: Literal["text", "heading", "cell", "term", "definition", "code"] = "text"
    level: int = 0
    language: str = ""
    items: tuple[Item, ...] = ()
    quotes: tuple[Quote, ...] = ()
    table: int = 0
    row: int = 0
    column: int = 0
    is_header: bool = False
    is_caption: bool = False
    needed: bool = True

    @property
    def text(self) -> str:
        """The text of the block without its formulas."""
        return "".join(span.text for span in self.spans)


class Picture(NamedTuple):
    """An image: the addresses under which it may be shown, its alternative text, and whether it must come through."""

    addresses: tuple[str, ...]
    alt: str
    needed: bool = True


@dataclass(eq=False, slots=True)
class Structure:
    """What was read from a page's kept part, or from Markdown.

    Attributes:
        blocks: the blocks of text.
        pictures: the images.
        loose_text: text that may come through, beside that of spans that may.
        raw_html: tags left in Markdown that has a form for them.
        faults: for each known fault of Markdown, how often it was found.
    """

    blocks: list[MarkedBlock] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    loose_text: list[str] = field(default_factory=list)
    raw_html: list[str] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)


Key = tuple[object, ...]


class Fact(NamedTuple):
    """One fact of a structure.

    Attributes:
        kind: what it is a fact of.
        keys: what identifies it; several if any of them will do.
        text: for people.
        needed: it must come through; else it may.
    """

    kind: FactKind
    keys: tuple[Key, ...]
    text: str
    needed: bool = True


def letters(text: str) -> str:
    """The letters and digits of a text."""
    return "".join(_WORD.findall(text))


def tex_key(tex: str) -> str:
    """TeX without what has no meaning."""
    return _LOOKS.sub("", tex)


def facts_of(structure: Structure) -> list[Fact]:
    """All facts of a structure, in the order of its blocks."""
    facts: list[Fact] = []
    of_link: dict[Link, list[list[Span]]] = {}
    for block in structure.blocks:
        if block.kind == "code":
            facts += _code_facts(block)
            continue
        facts += _block_facts(block)
        for mark, kind in _RUNS.items():
            facts += _run_facts(block, kind, mark)
        facts += _span_facts(block)
        of_block: dict[Link, list[tuple[int, Span]]] = {}
        number = 0
        for span in block.spans:
            number += span is BLOCK_END
            if span.link is not None:
                of_block.setdefault(span.link, []).append((number, span))
        for link, spans in of_block.items():
            parts = [[span for _, span in part] for _, part in groupby(spans, itemgetter(0))]
            whole = [[span for part in parts for span in part]] if len(parts) > 1 else []
            of_link.setdefault(link, []).extend(whole + parts)
    facts += _link_facts(of_link)
    facts += _cell_facts(structure.blocks)
    facts += _nested_facts(structure.blocks)
    for picture in structure.pictures:
        addresses = tuple((address,) for address in picture.addresses)
        facts.append(Fact("images", addresses, f"{picture.alt} {picture.addresses[0]}".strip(), picture.needed))
        if letters(picture.alt):
            facts.append(Fact("alternative texts", ((letters(picture.alt),),), picture.alt, picture.needed))
    return facts


def _variants(spans: Sequence[Span]) -> tuple[str, ...]:
    """The letters of what must come through, and those of all: whether the rest comes through is open."""
    needed = letters("".join(span.text for span in spans if span.needed))
    whole = letters("".join(span.text for span in spans))
    return (needed,) if needed == whole else (needed, whole)


def _shown(spans: Iterable[Span]) -> str:
    return " ".join("".join(span.text for span in spans).split())


def _code_facts(block: MarkedBlock) -> Iterator[Fact]:
    lines = [line.rstrip() for line in block.text.replace("\r\n", "\n").replace("\xa0", " ").split("\n")]
    code = "\n".join(lines).strip("\n")
    if letters(code):
        yield Fact("code blocks", ((code,),), code, block.needed)
        if block.language:
            yield Fact("code languages", ((block.language, letters(code)),), f"{block.language}: {code}", block.needed)


def _block_facts(block: MarkedBlock) -> Iterator[Fact]:
    variants = _variants(block.spans)
    if block.kind == "heading" and variants[0]:
        keys = tuple((block.level, text) for text in variants)
        yield Fact("headings", keys, f"h{block.level}: {_shown(block.spans)}", block.needed)


def _run_facts(block: MarkedBlock, kind: FactKind, mark: Mark) -> Iterator[Fact]:
    """The runs of a kind of emphasis in a block."""
    whole = _variants([span for span in block.spans if not _is_code(span)])
    may_be_plain = block.kind in ("heading", "term") or block.is_header or block.is_caption
    loose = list(_runs(block.spans, lambda span: mark in span.marks or mark in span.loose_marks))
    for spans in _runs(block.spans, lambda span: mark in span.marks):
        variants = _variants(spans)
        # With neighbours that may be marked, too, it may be one run.
        wider = [text for run in loose if spans[0] in run for text in _variants(run)]
        wider += whole if block.is_caption else ()
        if variants[0]:
            needed = block.needed and not (may_be_plain and variants[0] == whole[0])
            keys = tuple((mark, text) for text in dict.fromkeys((*variants, *wider)))
            yield Fact(kind, keys, _shown(spans), needed)
    if block.is_caption and whole[-1] and mark in ("strong", "emphasis"):
        yield Fact(kind, tuple((mark, text) for text in whole), _shown(block.spans), needed=False)
    for run in loose:
        for spans in [run, *([span] for span in run)] if any(mark not in span.marks for span in run) else []:
            yield Fact(kind, tuple((mark, text) for text in _variants(spans)), _shown(spans), needed=False)


def _is_code(span: Span) -> bool:
    return "code" in span.marks or "code" in span.loose_marks


def _runs(spans: Iterable[Span], is_marked: Callable[[Span], bool]) -> Iterator[list[Span]]:
    """Neighbouring spans that are marked; what has no letters, is code or may be left out does not end a run."""
    run: list[Span] = []
    for span in spans:
        if _is_code(span) or not letters(span.text):
            continue
        if is_marked(span):
            run.append(span)
        elif run and span.needed:
            yield run
            run = []
    if run:
        yield run


def _span_facts(block: MarkedBlock) -> Iterator[Fact]:
    """Code and formulas within a block."""
    for is_code, group in groupby(block.spans, _is_code):
        spans = [span for span in group if span.formula is None]
        text = "".join("".join(span.text for span in spans).split())
        if is_code and letters(text):
            needed = all(span.needed and "code" in span.marks for span in spans)
            yield Fact("code spans", ((text,),), _shown(spans), needed)
            for span in () if needed or len(spans) == 1 else spans:  # its lines may be code by themselves
                yield Fact("code spans", (("".join(span.text.split()),),), _shown([span]), needed=False)
    for span in block.spans:
        if span.formula is not None:
            key = tex_key(span.formula)
            yield Fact("formulas", ((key,),) if key else ((_ANY,),), span.formula, span.needed)


def _link_facts(of_link: dict[Link, list[list[Span]]]) -> Iterator[Fact]:
    for link, parts in of_link.items():
        texts = [spans for spans in parts if _variants(spans)[-1]]
        keys = [tuple((text, link.address) for text in _variants(spans)) for spans in texts]
        if texts:
            needed = link.needed and bool(keys[0][0][0])
            yield Fact(
                "links", tuple(key for of_part in keys for key in of_part), f"{_shown(texts[0])} {link.address}", needed
            )
            # The other blocks that it is around may carry it, too.
            for of_part in keys[1:]:
                yield Fact("links", of_part, "", needed=False)


def _cell_facts(blocks: Iterable[MarkedBlock]) -> Iterator[Fact]:
    """Cells by their places among the rows and columns that hold text."""
    tables: dict[int, list[MarkedBlock]] = {}
    for block in blocks:
        if block.kind == "cell" and "".join(block.text.split()):
            tables.setdefault(block.table, []).append(block)
    for cells in tables.values():
        rows = {row: number for number, row in enumerate(sorted({cell.row for cell in cells}))}
        columns = {column: number for number, column in enumerate(sorted({cell.column for cell in cells}))}
        for cell in cells:
            row, column = rows[cell.row], columns[cell.column]
            variants = _variants(cell.spans)
            texts = variants if variants[-1] else ("".join(cell.text.split()),)
            shown = f"row {row + 1}, column {column + 1}: {_shown(cell.spans)}"
            yield Fact("table cells", tuple((row, column, text) for text in texts), shown, cell.needed)


def _nested_facts(blocks: Sequence[MarkedBlock]) -> Iterator[Fact]:
    """List items, definitions and block quotes, each by how its text begins."""
    own: dict[Item, list[Span]] = {}
    of_quote: dict[Quote, list[Span]] = {}
    parents: dict[Item, tuple[Item, ...]] = {}
    for block in blocks:
        if block.items:
            own.setdefault(block.items[-1], []).extend(block.spans)
            for number, item in enumerate(block.items):
                parents[item] = block.items[:number]
        for quote in block.quotes:
            of_quote.setdefault(quote, []).extend(block.spans)
        if block.kind in ("term", "definition") and (variants := _variants(block.spans))[-1]:
            kinds = (block.kind,) if block.needed else ("term", "definition")
            of_kind = tuple((kind, text[:_BEGINNING]) for kind in kinds for text in variants)
            yield Fact("definitions", of_kind, f"{block.kind}: {_shown(block.spans)}", block.needed)
    has_text = {item for item, spans in own.items() if _variants(spans)[-1]}
    for item in (item for item in own if item in has_text and not item.stray):
        around = [parent for parent in parents[item] if parent in has_text]
        shown = _shown(own[item])
        yield _item_fact(item, around, own[item])
        if item.checked is not None:
            checked = tuple((item.checked, text[:_BEGINNING]) for text in _variants(own[item]))
            yield Fact("task items", checked, f"{'done' if item.checked else 'to do'}: {shown}", item.needed)
    for block in blocks:
        if block.items and (item := block.items[-1]).stray and item in has_text and _variants(block.spans)[-1]:
            yield _item_fact(item, [parent for parent in parents[item] if parent in has_text], block.spans)
    for spans in of_quote.values():
        if (variants := _variants(spans))[-1]:
            yield Fact("block quotes", tuple((text[:_BEGINNING],) for text in variants), _shown(spans))


def _item_fact(item: Item, around: Sequence[Item], spans: Sequence[Span]) -> Fact:
    depth = 1 + sum(not parent.stray for parent in around)
    depths = range(depth, len(around) + 2)  # if what strays is an item, what is below it may be deeper
    variants = _variants(spans)
    keys = tuple((deep, item.ordered, text[:_BEGINNING]) for deep in depths for text in variants)
    shown = f"{'numbered' if item.ordered else 'bulleted'}, depth {depth}: {_shown(spans)}"
    return Fact("list items", keys, shown, item.needed and not item.stray and bool(variants[0]))


class FactComparison(NamedTuple):
    """How the facts of Markdown compare with those of the page.

    Attributes:
        counts: for each kind, how many facts had to come through.
        missed: those that did not.
        invented: facts of the Markdown that the page does not have.
        characters: letters and digits of the kept text.
        lost: words of the kept text that did not come through.
        doubled: words of the kept text that are in the Markdown more often than on the page.
        strange: words that are in the Markdown only.
    """

    counts: Counter[FactKind]
    missed: list[Fact]
    invented: list[Fact]
    characters: int
    lost: Counter[str]
    doubled: Counter[str]
    strange: Counter[str]


def compare(page: Structure, markdown: Structure) -> FactComparison:
    """Compare what Markdown has with what it should have."""
    expected, found = facts_of(page), facts_of(markdown)
    left: dict[FactKind, Counter[Key]] = {}
    for fact in found:
        left.setdefault(fact.kind, Counter())[fact.keys[0]] += 1

    def take(fact: Fact) -> bool:
        there = left.get(fact.kind, Counter())
        for key in fact.keys:
            if there[key] > 0:
                there[key] -= 1
                return True
        return False

    missed = [fact for fact in expected if fact.needed and not take(fact)]
    unknown = [fact for fact in missed if fact.keys == ((_ANY,),)]  # any formula that is left will do
    for fact in unknown:
        there = left.get("formulas", Counter())
        some = next((key for key, count in there.items() if count > 0), None)
        if some is not None:
            there[some] -= 1
            missed.remove(fact)
    for fact in expected:
        if not fact.needed and fact.keys == ((_ANY,),):
            left.pop("formulas", None)
        elif not fact.needed:
            take(fact)
    invented = []
    for fact in reversed(found):  # the last ones are those that are too many
        if left.get(fact.kind, Counter())[fact.keys[0]] > 0:
            left[fact.kind][fact.keys[0]] -= 1
            invented.append(fact)
    counts = Counter(fact.kind for fact in expected if fact.needed)
    return FactComparison(counts, missed, invented[::-1], *_compare_words(page, markdown))


def _compare_words(page: Structure, markdown: Structure) -> tuple[int, Counter[str], Counter[str], Counter[str]]:
    """The size of the kept text, and the words that came through never, too often, or from nowhere.

    Words that were only joined or split, as where a writer sets inline elements apart, are none of these.
    """
    needed, loose = _words(page)
    in_markdown, _ = _words(markdown)
    lost, extra = needed - in_markdown, in_markdown - needed - loose
    _take_out_joined(lost, extra)
    pieces = lost + loose
    _take_out_joined(extra, pieces)
    lost, extra = lost & pieces, +extra
    doubled = Counter({word: count for word, count in extra.items() if word in needed})
    size = sum(len(word) * count for word, count in needed.items())
    return size, lost, doubled, extra - doubled


def _words(structure: Structure) -> tuple[Counter[str], Counter[str]]:
    needed: Counter[str] = Counter()
    loose: Counter[str] = Counter(word for text in structure.loose_text for word in _WORD.findall(text))
    for block in structure.blocks:
        needed.update(_WORD.findall("".join(span.text if span.needed else "\0" for span in block.spans)))
        loose.update(word for span in block.spans if not span.needed for word in _WORD.findall(span.text))
    return needed, loose


def _take_out_joined(words: Counter[str], pieces: Counter[str]) -> None:
    """Take the words that others make up when joined out of both."""
    for word in list(words):
        while words[word] > 0 and (parts := _parts(word, pieces)):
            words[word] -= 1
            pieces.subtract(parts)


def _parts(word: str, pieces: Counter[str]) -> list[str]:
    """Words that make up another one when joined; none if there are no such."""
    fitting = [piece for piece, count in pieces.items() if count > 0 and piece in word]
    ways: dict[int, list[str]] = {0: []}
    for end in range(len(word)):
        if end in ways:
            for piece in fitting:
                if word.startswith(piece, end):
                    ways.setdefault(end + len(piece), [*ways[end], piece])
    parts = ways.get(len(word), [])
    return parts if not Counter(parts) - pieces else []


def address_key(address: str) -> str:
    """An address without what may be written in several ways: escapes, case of the host, a slash for no path."""
    address = unquote(re.sub(r"[\t\r\n]", "", address).strip()).replace("\\", "/")
    try:
        parts = urlsplit(address)
        host = parts.netloc.lower()
    except ValueError:
        return address
    if not host:
        return address
    with suppress(UnicodeError):
        host = host.encode("idna").decode("ascii")
    return urlunsplit((parts.scheme.lower(), host, parts.path.removesuffix("/"), parts.query, parts.fragment))
