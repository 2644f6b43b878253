"""The central types: facts about a page (`Page`, `Block`, `Document`) and decisions about it (`Extraction`).

All are frozen. A `Document` keeps its blocks as columns, one list for each fact, because methods work on whole pages
at once; `Block` objects are a view for people, made on demand, like all other facts that take time. This file has what
can be known without markup; the HTML reader (html/read.py) has a subclass of `Document` that knows more.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from mainmatter.render.chunks import Chunk


def _freeze(*arrays: NDArray[Any] | None) -> None:
    """Make arrays read-only: frozen dataclasses do not protect what is in them."""
    for array in arrays:
        if array is not None:
            array.setflags(write=False)


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was fetched; never changed.

    Attributes:
        html: the page's HTML, as bytes (preferred: the encoding is found as browsers do) or as text; if `format` is
            "text", a plain-text dump of a page.
        url: where it came from, if known; used for metadata and to make links absolute.
        id: any name by which you want to recognise it.
        charset: the encoding that the HTTP header declared, if known.
        format: "html", or "text" for a plain-text dump.
        lines_are_blocks: for a plain-text dump: every line is a block, as in WET archives; if False, the reader finds
            out whether lines were wrapped at some width.
    """

    html: str | bytes = field(repr=False)
    url: str | None = None
    id: str | None = None
    charset: str | None = None
    format: Literal["html", "text"] = "html"
    lines_are_blocks: bool = False


class Kind(StrEnum):
    """What a block is by its markup; in a plain-text dump, by its looks."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list-item"
    TABLE_ROW = "table-row"
    CODE = "code"
    QUOTE = "quote"
    CAPTION = "caption"


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph-sized piece of a page: where it is and what it looks like, without a decision.

    Attributes:
        index: its number in the document, from 0.
        text: its text, with white space normalised; a single `<br>` is a line break, and tabs separate table cells.
        kind: what it is.
        level: the level of a heading; 0 for all other kinds.
        position: its place in the page's linear list of structural tags (Density, section 4).
        tag: the element whose text it is; "" in a plain-text dump.
        path: the tags from the root to that element, such as "html/body/div/p".
        xpath: finds it again in the parsed page: the element or, if the element holds several blocks, this block's
            first text node. It finds nothing inside a shadow root, which XPath cannot enter. Text that the page holds
            only in scripts, or that an unclosed tag hid, has its place in the tree that the reader made of it.
        depth: how many elements enclose its text.
        link_chars: how many characters of its text are inside links.
        link_count: how many links its text is in.
        control: whether it is part of a form: button, label, select, textarea.
        hidden: whether the page hides it, at least at first (`hidden`, aria-hidden, display:none, closed dialog).
        attributes: the attributes of the element (class, id, role, ...).
    """

    index: int
    text: str
    kind: Kind
    level: int = 0
    position: int = 0
    tag: str = ""
    path: str = ""
    xpath: str = ""
    depth: int = 0
    link_chars: int = 0
    link_count: int = 0
    control: bool = False
    hidden: bool = False
    attributes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page says about itself; None if it does not say.

    Attributes:
        title: the headline, without the site's name.
        author: the author or authors, separated by "; ".
        date: the date of publication, as YYYY-MM-DD.
        published: the moment of publication, as in ISO 8601 and with its time zone, such as
            "2024-03-05T23:10:00+01:00"; without a zone if the page gives none. In another zone, its day may differ
            from `date` by one.
        language: a BCP 47 tag, such as "de" or "en-GB".
        site: the site's name.
        url: the canonical URL.
        description: the page's own summary.
    """

    title: str | None = None
    author: str | None = None
    date: str | None = None
    published: str | None = None
    language: str | None = None
    site: str | None = None
    url: str | None = None
    description: str | None = None


Need = Literal["gold", "gold_marked", "snippets", "metadata"]


@dataclass(frozen=True, slots=True)
class Gold:
    """What the gold standard says about a page; None, or no snippets, where it does not say.

    An empty `text` or `marked` says that the page has no main content, which is not the same as None. Where a gold
    standard keeps bylines, captions and comments apart from `text`, it says so by texts that are not None.
    """

    text: str | None = None
    marked: str | None = None
    must_have: tuple[str, ...] = ()
    must_not_have: tuple[str, ...] = ()
    title: str | None = None
    author: str | None = None
    date: str | None = None
    byline: str | None = None
    captions: str | None = None
    comments: str | None = None

    def has(self, need: Need) -> bool:
        """Does the gold standard have what a metric needs?"""
        match need:
            case "gold":
                return self.text is not None
            case "gold_marked":
                return self.marked is not None
            case "snippets":
                return bool(self.must_have or self.must_not_have)
            case "metadata":
                return bool(self.title or self.author or self.date)


@dataclass(frozen=True, slots=True)
class Columns:
    """The blocks of a page as parallel lists: the nth entry of each belongs to the nth block (see `Block`)."""

    texts: list[str]
    kinds: list[Kind]
    levels: list[int]
    positions: list[int]
    link_chars: list[int]
    link_counts: list[int]
    controls: list[bool]

    @classmethod
    def of(cls, texts: list[str], **known: list[Any]) -> Columns:
        """Blocks about which little is known: by default, consecutive paragraphs without links."""
        count = len(texts)
        usual: dict[str, list[Any]] = {
            "kinds": [Kind.PARAGRAPH] * count,
            "positions": [*range(count)],
            "controls": [False] * count,
            **{name: [0] * count for name in ("levels", "link_chars", "link_counts")},
        }
        return cls(texts, **usual | known)


@dataclass(frozen=True, slots=True)
class Containers:
    """The elements that hold text, parents before their children; element 0 is the document.

    Attributes:
        parents: the element around each.
        jumps: jump pointers: the element one up from each, two up, four up, and so on, as long as there is any; the
            document's own parent is the document.
        tags: the number of each one's tag in `mainmatter.html.segment.TAGS`; 0 for the document, which has none.
        first: the first block in each.
        end: the block after the last one in each.
        wider: the nearest element around each that holds more blocks; the document for itself.
        depth: how many elements are around each.
        around: what each stands inside of, or is: a sum of bits, one for each of `mainmatter.html.containers.AROUND`.
        alike: how many elements with the same tag the parent of each has, itself included.
        siblings: how many elements the parent of each has, itself included.
        numbers: the number of each in the segmenter's outline.
        holders: for each block, the element whose text it is.
        pictures: how many pictures are between each block and the one before it.
        text_nodes: how many pieces of text each block consists of, since inline markup cuts it.
    """

    parents: NDArray[np.intp]
    jumps: tuple[NDArray[np.intp], ...]
    tags: NDArray[np.uint8]
    first: NDArray[np.intp]
    end: NDArray[np.intp]
    wider: NDArray[np.intp]
    depth: NDArray[np.intp]
    around: NDArray[np.int64]
    alike: NDArray[np.intp]
    siblings: NDArray[np.intp]
    numbers: NDArray[np.intp]
    holders: NDArray[np.intp]
    pictures: NDArray[np.intp]
    text_nodes: NDArray[np.intp]

    def __post_init__(self) -> None:
        _freeze(*(getattr(self, name) for name in Containers.__slots__ if name != "jumps"), *self.jumps)

    @classmethod
    def one(cls, blocks: int) -> Containers:
        """A page without markup: the document holds all blocks."""
        zero, one = np.zeros(1, np.intp), np.ones(1, np.intp)
        nothing, ones = np.zeros(blocks, np.intp), np.ones(blocks, np.intp)
        no_tag = np.zeros(1, np.uint8)
        return cls(zero, (), no_tag, zero, one * blocks, zero, zero, zero, one, one, zero, nothing, nothing, ones)

    def inherit(self, bits: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bits of each element with those of all around it.

        Each round takes what the element as far up as all rounds before together has gathered.
        """
        for jump in self.jumps:
            bits = bits | bits.take(jump)
        return bits


@dataclass(frozen=True, eq=False)
class Document:
    """A page that was read: its blocks, and everything else that methods need to know about it.

    Properties are computed when you first use them. This class is a page without markup, such as a plain-text dump;
    for HTML, `read` returns a subclass that knows more. Documents can be pickled.

    Attributes:
        page: the page as it was fetched.
        columns: the blocks as parallel lists, for methods.
        encoding: the encoding that the page's bytes were decoded from; None for text.
        has_markup: whether there is a tree, which `parsed`, `containers` and `names` describe.
    """

    page: Page
    columns: Columns = field(repr=False)
    encoding: str | None = None
    has_markup: ClassVar[bool] = False

    def __len__(self) -> int:
        return len(self.columns.texts)

    def __getstate__(self) -> dict[str, Any]:
        # Trees are not sent between processes; facts that were computed can be computed again.
        return {"page": self.page, "columns": self.columns, "encoding": self.encoding}

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The page's blocks, in the order of the page."""
        columns = self.columns
        facts = zip(columns.texts, columns.kinds, columns.levels, columns.positions, strict=True)
        return tuple(Block(index, *of_block) for index, of_block in enumerate(facts))

    @cached_property
    def metadata(self) -> Metadata:
        """What the page says about itself."""
        return Metadata(url=self.page.url)

    def metadata_with(self, headline: str, bylines: Sequence[str]) -> Metadata:  # noqa: ARG002 - readers know more
        """What the page says about itself, completed by what a method found.

        Args:
            headline: what the method takes for the page's headline, which becomes the title; "" for nothing.
            bylines: what it takes for bylines.
        """
        return replace(self.metadata, title=headline) if headline else self.metadata

    @cached_property
    def title_keys(self) -> tuple[Collection[str], Collection[str]]:
        """The titles that the page declares, and its site's names, reduced to letters and digits in one case.

        Only those that are found quickly; `metadata` looks further.
        """
        return (), ()

    @cached_property
    def title(self) -> str:
        """The page's `<title>`, with white space normalised; "" if none. `metadata` has it without the site's name."""
        return ""

    @cached_property
    def needs_scripts(self) -> bool:
        """Whether the page shows almost nothing because its scripts have not run; a browser might help."""
        return False

    @cached_property
    def tags(self) -> list[str]:
        """The tag of the innermost block-level element around each block; without markup, the tag it would be."""
        return [
            f"h{level or 1}" if kind is Kind.HEADING else _TAG_OF_KIND[kind]
            for kind, level in zip(self.columns.kinds, self.columns.levels, strict=True)
        ]

    @cached_property
    def containers(self) -> Containers:
        """The elements that hold the page's text, as arrays; without markup there is one, the document."""
        return Containers.one(len(self))

    @cached_property
    def names(self) -> list[str]:
        """The class and the id of each container, separated by a space if it has both."""
        return [""] * len(self.containers.first)

    @cached_property
    def parsed(self) -> Any:  # a tuple[Tree, Segments], types of html/ that are not known here
        """The page's tree and the blocks' nodes in it; None for a page without markup.

        All callers share it, so do not change it.
        """
        return None

    def parse_again(self) -> Any:  # as above
        """A tree and its nodes, as in `parsed`, that you may change; None for a page without markup."""
        return None

    @property
    def texts(self) -> list[str]:
        """The text of each block."""
        return self.columns.texts

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The number of characters of each block."""
        lengths = np.fromiter(map(len, self.columns.texts), np.int64, len(self.columns.texts))
        _freeze(lengths)
        return lengths

    @cached_property
    def positions(self) -> NDArray[np.int64]:
        """The place of each block in the page's linear list of structural tags."""
        positions = np.array(self.columns.positions, np.int64)
        _freeze(positions)
        return positions


# Of a block without markup: the tag that its looks call for.
_TAG_OF_KIND = {
    Kind.PARAGRAPH: "p",
    Kind.LIST_ITEM: "li",
    Kind.TABLE_ROW: "td",
    Kind.CODE: "pre",
    Kind.QUOTE: "blockquote",
    Kind.CAPTION: "caption",
}

# What a block may be. The order is that of the net's answers.
Label = Literal["boilerplate", "main", "headline", "byline", "caption", "comment"]
LABELS: tuple[Label, ...] = get_args(Label)
BOILERPLATE, MAIN, HEADLINE, BYLINE, CAPTION, COMMENT = range(len(LABELS))
_NEAR_HEADLINE = 9  # blocks: what stands nearer is the byline of the page, not of a comment or a teaser
_SHOWN_TITLE = 60  # characters, in a summary
_SHOWN_TEXT = 20_000  # characters, in a notebook
_HAVE_BYLINES = ("article", "forum")  # types of pages that are one text; elsewhere, bylines are those of entries


@dataclass(frozen=True, eq=False, repr=False)
class Extraction:
    """What a method decided about a document. `print` shows its text, `repr` a summary.

    Its arrays become read-only, since what is rendered is kept; to change one, use a copy and `dataclasses.replace`.

    Attributes:
        document: the page that was decided about.
        method: the name of the method that decided.
        scores: one number for each block, higher for main matter; what it means depends on the method.
        kept: for each block, whether it was kept.
        kinds: what each block is according to the method; some methods decide that, too.
        reasons: why each block was kept or dropped, in a short sentence.
        page_type: what kind of page it is according to the method, such as "article" or "forum"; None if the method
            does not say.
        confidence: how sure the method is of the whole page, from 0 to 1; None if the method does not say.
        found_labels: what each block is according to the method, kept or not, as numbers of `LABELS`; None if the
            method only separates main matter from the rest.
        marks_comments: whether kept comments are rendered after the main matter; if False, they stay in their place.
        threshold: the score above which blocks of this page are kept, unless a rule, a label or an option says
            otherwise. None if the method has none.
        dials: for each block, the lowest dial that keeps it, from 0 to 1; NaN if its label or an option decides, and
            not the dial. None if the method has no dial.
    """

    document: Document
    method: str
    scores: NDArray[np.float64]
    kept: NDArray[np.bool_]
    kinds: Sequence[Kind]
    reasons: Sequence[str]
    page_type: str | None = None
    confidence: float | None = None
    found_labels: NDArray[np.intp] | None = None
    marks_comments: bool = False
    threshold: float | None = None
    dials: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        _freeze(self.scores, self.kept, self.found_labels, self.dials)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # pickled arrays arrive writable

    def __len__(self) -> int:
        return int(self.kept.sum())

    def __bool__(self) -> bool:
        return True  # also where nothing was kept

    @property
    def blocks(self) -> list[Block]:
        """The blocks that were kept."""
        return [block for block, kept in zip(self.document.blocks, self.kept, strict=True) if kept]

    @cached_property
    def metadata(self) -> Metadata:
        """What the page says about itself.

        If the method finds the headline, that is the title. If it finds bylines, and one is near the headline, the
        author and date of an article or thread come from them, unless the page declares these.
        """
        if self.found_labels is None:
            return self.document.metadata
        texts = self.document.texts
        headline = next(iter(np.flatnonzero(self.found_labels == HEADLINE).tolist()), None)
        if headline is None or len(self.document.columns.texts) == 1:  # a headline stands above something
            return self.document.metadata
        bylines: list[int] = []
        if self.page_type in _HAVE_BYLINES:
            bylines = np.flatnonzero(self.found_labels == BYLINE).tolist()
        is_near = any(abs(i - headline) <= _NEAR_HEADLINE for i in bylines)
        return self.document.metadata_with(texts[headline], [texts[i] for i in bylines] if is_near else [])

    @cached_property
    def labels(self) -> list[Label]:
        """What each block of the page is: "headline", "byline", "caption" or "comment", kept or not.

        All other blocks are "main" if they were kept, else "boilerplate".
        """
        labels: list[Label] = ["main" if is_kept else "boilerplate" for is_kept in self.kept.tolist()]
        if self.found_labels is not None:
            for i in np.flatnonzero(self.found_labels > MAIN).tolist():
                labels[i] = LABELS[self.found_labels[i]]
        return labels

    @property
    def is_comment(self) -> NDArray[np.bool_] | None:
        """For each block, whether it is a reader's comment, kept or not; None if the method does not say."""
        if self.found_labels is None:
            return None
        comments: NDArray[np.bool_] = self.found_labels == COMMENT
        _freeze(comments)
        return comments

    @cached_property
    def text(self) -> str:
        """The main matter as plain text, with a blank line between blocks, but none within a list or a table.

        Marked comments follow after the line `--- Comments ---`.
        """
        return self.render("text")

    @cached_property
    def markdown(self) -> str:
        """The main matter as Markdown, with its links; `to_markdown` has options."""
        return self.render("markdown")

    @cached_property
    def html(self) -> str:
        """The page pruned to its main matter, as a small HTML document without scripts or styles."""
        return self.render("html")

    @cached_property
    def json(self) -> str:
        """Metadata, text, and every block with its score, label and reason, as JSON; `to_json` can leave those out."""
        return self.render("json")

    @property
    def jsonl(self) -> str:
        """The same on one line, without the blocks, for JSON Lines; `to_jsonl` has options."""
        return self.render("jsonl")

    @cached_property
    def tei(self) -> str:
        """The main matter as a TEI P5 document."""
        return self.render("tei")

    @cached_property
    def cleaneval(self) -> str:
        """The main matter in CleanEval's markup: each block on a line that begins with `<h>`, `<p>` or `<l>`."""
        return self.render("cleaneval")

    @property
    def title(self) -> str | None:
        """The page's title, as in `metadata`."""
        return self.metadata.title

    @property
    def author(self) -> str | None:
        """The page's author or authors, separated by "; ", as in `metadata`."""
        return self.metadata.author

    @property
    def date(self) -> str | None:
        """The date of publication, as YYYY-MM-DD, as in `metadata`."""
        return self.metadata.date

    def to_markdown(
        self,
        *,
        links: bool = True,
        images: bool = False,
        tables: bool = True,
        headings: Literal["atx", "setext"] = "atx",
        front_matter: bool = False,
    ) -> str:
        """The main matter as Markdown.

        Args:
            links: keep the addresses of links; if False, only their text.
            images: keep pictures.
            tables: write tables as tables; if False, each row as a line of text.
            headings: "atx" writes "# Title"; "setext" underlines headings of the first two levels.
            front_matter: begin with the metadata, as YAML.
        """
        return self.render(
            "markdown", links=links, images=images, tables=tables, headings=headings, front_matter=front_matter
        )

    def to_html(self, *, images: bool = False) -> str:
        """The main matter as a small HTML document, with its images if asked."""
        return self.render("html", images=images)

    def to_json(self, *, blocks: bool = True, chunks: int | None = None, overlap: int = 0) -> str:
        """Metadata and text as JSON.

        Args:
            blocks: include every block, with its score, label and reason.
            chunks: include chunks of at most this many tokens, as `chunks` returns them.
            overlap: how many tokens a chunk may repeat from the one before.
        """
        return self.render("json", blocks=blocks, chunks=chunks, overlap=overlap)

    def to_jsonl(self, *, blocks: bool = False, chunks: int | None = None, overlap: int = 0) -> str:
        """The same on one line, for JSON Lines; without the blocks unless asked."""
        return self.render("jsonl", blocks=blocks, chunks=chunks, overlap=overlap)

    def to_tei(self, *, images: bool = False) -> str:
        """The main matter as a TEI P5 document, with its images if asked."""
        return self.render("tei", images=images)

    def to_dict(self, *, blocks: bool = False, chunks: int | None = None, overlap: int = 0) -> dict[str, Any]:
        """What `to_jsonl` writes, as a dictionary."""
        content: dict[str, Any] = json.loads(self.to_jsonl(blocks=blocks, chunks=chunks, overlap=overlap))
        return content

    @property
    def _summary(self) -> str:
        parts = [
            self.method,
            self.page_type,
            f"{len(self):,} of {len(self.document):,} blocks kept",
            f"{len(self.text):,} characters",
        ]
        return ", ".join(filter(None, parts))

    def __repr__(self) -> str:
        title = self.metadata.title or ""
        if len(title) > _SHOWN_TITLE:
            title = title[:_SHOWN_TITLE] + "..."
        return f"<Extraction: {self._summary}{f', title {title!r}' if title else ''}>"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """What notebooks show. Everything from the page is plain text there, so that nothing can run or load."""
        text = self.text if len(self.text) <= _SHOWN_TEXT else self.text[:_SHOWN_TEXT] + " [...]"
        return (
            '<div style="border: 1px solid #8888; border-radius: 4px; padding: 0.5em 1em; max-width: 50em">'
            f"<strong>{escape(self.metadata.title or 'Untitled')}</strong><br><small>{escape(self._summary)}</small>"
            f'<div style="white-space: pre-wrap; max-height: 24em; overflow: auto">{escape(text)}</div></div>'
        )

    def chunks(self, max_tokens: int = 512, overlap: int = 0, tokenizer: Any = None) -> list[Chunk]:
        """Cut the text into chunks for retrieval, at headings and paragraphs; each chunk says where it comes from.

        Args:
            max_tokens: how many tokens a chunk may have. With some tokenizers, a single character may have more.
            overlap: how many tokens a chunk may repeat from the one before. The overlap begins with a sentence or
                line if possible, else with a word; it never reaches back over a heading.
            tokenizer: what counts tokens: a function that returns their number or the tokens themselves, or an object
                with such a method `encode`, for example an encoding of tiktoken or a tokenizer of Hugging Face. By
                default, every four bytes of UTF-8 are a token.

        Raises:
            InputError: an argument has an invalid value.
        """
        from mainmatter.render.chunks import split  # as the formats

        return split(self, max_tokens, overlap, tokenizer)

    def render(self, format: str, **options: Any) -> str:  # the word users know
        """The main matter in any format of `mainmatter.registry.FORMATS`, with that format's options."""
        from mainmatter.registry import get_format  # records know the formats by name only

        return get_format(format)(self, **options)
