"""What `main` learns from: pages as the net sees them, with labels, and slightly changed each time.

Augmentation keeps the net from memorising pages. It changes what differs on pages of other sites, other times
and other languages: the names in their markup, tags that only today's pages have, how long words are and whether there
are capitals, and which boilerplate stands around the text.

The net for plain-text dumps learns from the texts of the same pages (main/dumps.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.inputs.sites import site_of_page
from mainmatter.main.choice import HAS_TITLE, IN_TITLE, IS_HEADING, PAGE_TYPES
from mainmatter.main.dumps import DUMP_COLUMNS, as_dump, describe_dump
from mainmatter.main.features import COLUMNS, describe_blocks
from mainmatter.main.names import COMMENT_BIT, DIV, FIRST_WORD, SEMANTIC_TAGS, bits_of
from mainmatter.main.training import NetExample, NetInput
from mainmatter.method import OUR_CONVENTION
from mainmatter.records import BOILERPLATE, COMMENT
from mainmatter.text.tokens import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    from mainmatter.main.features import PageFeatures
    from mainmatter.main.names import Vocabulary
    from mainmatter.method import Example
    from mainmatter.records import Document

# How often each change is made.
_NO_NAMES, _NO_SEMANTIC_TAGS, _NO_CAPITALS, _NO_TITLE, _OTHER_SCRIPT, _OTHER_PAGE, _BOILERPLATE = (
    0.5,
    0.4,
    0.3,
    0.1,
    0.2,
    0.3,
    0.35,
)
_DROPPED_NAMES = 0.1  # of the names, where they are not all dropped
_MAX_INSERTED = 60  # blocks of another page
_SURELY_BOILERPLATE = 0.1  # a block with a smaller share of main matter

_MOST_OF_PAGE = 0.7
_AT = {name: number for number, name in enumerate(COLUMNS)}
_LOG_SIZES = [
    number
    for name, number in _AT.items()
    if name in ("chars", "page_chars", "page_longest") or (name.startswith("container_") and name.endswith("_chars"))
]
_CAPITALS = [_AT["capitals"], _AT["begins_with_capital"]]
_TITLE = [_AT[name] for name in ("in_title", "title_level", "title_side", "page_has_title")]
_SEMANTIC = [_AT[f"in_{tag}"] for tag in "nav header footer aside article main section figure".split()]
_OF_PAGE = [number for name, number in _AT.items() if name.startswith("page_")]
_TOPS = [_AT[f"top_{level}"] for level in (1, 2, 3)]
_TAGS = np.array(sorted(SEMANTIC_TAGS))

# Of dumps: how often they do not begin with a title, do not mark headings, and neither headings nor lists.
_NO_FIRST_LINE, _NO_HEADINGS, _NO_LISTS = 0.5, 0.6, 0.4
_IN_DUMP = {name: number for number, name in enumerate(DUMP_COLUMNS)}
_DUMP_SIZES = [_IN_DUMP[name] for name in ("chars", "page_chars", "page_longest")]
_DUMP_CAPITALS = [_IN_DUMP[name] for name in ("capitals", "begins_with_capital")]
_OF_DUMP = [number for name, number in _IN_DUMP.items() if name.startswith("page_")]
_DUMP_TITLE = [_IN_DUMP[name] for name in ("in_title", "title_side", "page_has_title")]
_IS_HEADING, _IS_ITEM = _IN_DUMP["kind_heading"], _IN_DUMP["kind_list-item"]


@dataclass(frozen=True, slots=True)
class ObservedPage:
    """What `main` needs of a page for learning, before it is known which names have embeddings.

    Attributes:
        site: the site that the page is of.
        names: the class and id of each element.
        convention: the name of the rules that its labels follow.
        example: the page as the net sees it, but for the words of names; its convention has no number yet.
        dump: its text as the net for dumps sees it, likewise.
        is_dump: there is only this text, and no page.
    """

    site: str
    names: list[str]
    convention: str
    example: NetExample
    dump: NetExample
    is_dump: bool

    def number_dump(self, conventions: Sequence[str]) -> NetExample:
        """The text as the net for dumps sees it, with the number of its convention."""
        return replace(self.dump, convention=self._convention(conventions))

    def number(self, vocabulary: Vocabulary, conventions: Sequence[str]) -> NetExample:
        """The page as the net sees it, with the words of its names and the number of its convention."""
        page = self.example.inputs
        numbers = [vocabulary.numbers_of(name) for name in self.names]
        tags = page.tokens.tolist()
        tokens = [number for tag, its in zip(tags, numbers, strict=True) for number in (tag, *its)]
        inputs = replace(
            page,
            tokens=np.array(tokens, np.intp),
            token_elements=np.repeat(np.arange(len(tags)), [1 + len(its) for its in numbers]),
        )
        return replace(self.example, inputs=inputs, convention=self._convention(conventions))

    def _convention(self, conventions: Sequence[str]) -> int:
        """An unknown convention counts as our own."""
        return conventions.index(self.convention if self.convention in conventions else OUR_CONVENTION)


def observe(example: Example) -> ObservedPage:
    """What the net sees of a page, and the labels of its blocks."""
    document, containers = example.document, example.document.containers
    bits = np.array(list(map(bits_of, document.names)), np.int64)
    features = describe_blocks(document, bits)
    page = NetInput(
        dense=np.ascontiguousarray(features.dense),
        tokens=containers.tags.astype(np.intp),
        token_elements=np.arange(len(containers.tags)),
        parents=containers.parents,
        containers=np.ascontiguousarray(features.around),
    )
    is_comment = _called_comments(features, page, bits, example.page_type)
    if example.labels is None:
        labels = np.where(is_comment, COMMENT, -1)
    else:  # where annotators said nothing, what names tell
        is_open = (example.labels < 0) & np.isnan(example.shares)
        labels = np.where(is_open & is_comment, COMMENT, example.labels)
    observed = NetExample(
        inputs=page,
        shares=example.shares.astype(np.float32),
        words=_count_words(document),
        labels=labels,
        page_type=PAGE_TYPES.index(example.page_type) if example.page_type in PAGE_TYPES else -1,
    )
    return ObservedPage(
        site_of_page(document.page),
        list(document.names),
        example.convention,
        observed,
        _observe_dump(document, observed),
        is_dump=not document.has_markup,
    )


def _observe_dump(document: Document, page: NetExample) -> NetExample:
    """What the net for dumps sees of a page's text, with the labels of the page's blocks.

    The title that stands before the text is boilerplate: the headline says the same.
    """
    dump, blocks = as_dump(document)
    features = describe_dump(dump)
    nothing = np.zeros(0, np.intp)
    return replace(
        page,
        inputs=NetInput(features.dense, nothing, nothing, np.zeros(1, np.intp), features.around),
        shares=np.append(page.shares, np.float32(0)).take(blocks),  # -1, the title, is the last
        words=_count_words(dump),
        labels=np.append(page.labels, BOILERPLATE).take(blocks),
    )


def _count_words(document: Document) -> NDArray[np.float32]:
    return np.array([len(words(text)) for text in document.columns.texts], np.float32)


def _called_comments(
    features: PageFeatures, page: NetInput, bits: NDArray[np.int64], page_type: str | None
) -> NDArray[np.bool_]:
    """The blocks in what a page calls comments, for learning what comments look like where no name tells.

    A forum's posts are its main matter, whatever it calls them; and what holds the headline, or most of a page that has
    none, is not a comment: many pages say in the name of their body whether they have comments.
    """
    found = np.zeros(len(page.dense), np.bool_)
    if page_type == "forum" or not len(found):
        return found
    containers, sizes = features.containers, features.sizes
    in_title = page.dense[:, IN_TITLE] * (1 + page.dense[:, IS_HEADING])
    headline = int(in_title.argmax()) if page.dense[0, HAS_TITLE] else -1
    for element in np.flatnonzero(bits & COMMENT_BIT).tolist():
        first, end = int(containers.first[element]), int(containers.end[element])
        is_most = headline < 0 and sizes[first:end].sum() > _MOST_OF_PAGE * sizes.sum()
        if not first <= headline < end and not is_most:
            found[first:end] = True
    return found


@dataclass(frozen=True)
class Augmenter:
    """Changes examples at random.

    Args:
        donors: the examples whose boilerplate may stand around the text of others.
    """

    donors: Sequence[NetExample]

    def __call__(self, example: NetExample, rng: Generator) -> NetExample:
        """An example that differs from this one as another site's page might."""
        if rng.random() < _BOILERPLATE:
            donor = self.donors[int(rng.integers(len(self.donors)))]
            example = _with_boilerplate(example, donor, rng)
        page = example.inputs
        dense = page.dense.copy()
        tokens, token_elements = page.tokens, page.token_elements
        dropped = _DROPPED_NAMES
        if rng.random() < _NO_NAMES:
            dropped = 1.0
            dense[:, len(COLUMNS) :] = 0  # names that are inherited (`CALLED`)
        kept = (tokens < FIRST_WORD) | (rng.random(len(tokens)) >= dropped)
        tokens, token_elements = tokens[kept], token_elements[kept]
        if rng.random() < _NO_SEMANTIC_TAGS:
            tokens = np.where(np.isin(tokens, _TAGS), DIV, tokens)
            dense[:, _SEMANTIC] = 0
        _change_texts(dense, _LOG_SIZES, _CAPITALS, _TITLE, _OF_PAGE, rng)
        return replace(example, inputs=replace(page, dense=dense, tokens=tokens, token_elements=token_elements))


def augment_dump(example: NetExample, rng: Generator) -> NetExample:
    """A dump that differs from this one as another site's might, or one that was made in another way.

    Some dumps do not begin with the page's title, and few tell headings or list items from paragraphs.
    """
    page = example.inputs
    first = int(rng.random() < _NO_FIRST_LINE and len(page.dense) > 1)
    dense = page.dense[first:].copy()
    if first:
        dense[:, _DUMP_TITLE] = 0
    marked = rng.random()
    if marked < _NO_HEADINGS:
        dense[:, _IS_HEADING] = 0
    if marked < _NO_LISTS:
        dense[:, _IS_ITEM] = 0
    _change_texts(dense, _DUMP_SIZES, _DUMP_CAPITALS, _DUMP_TITLE, _OF_DUMP, rng)
    return replace(
        example,
        inputs=replace(page, dense=dense, containers=page.containers[first:]),
        shares=example.shares[first:],
        words=example.words[first:],
        labels=example.labels[first:],
    )


def _change_texts(
    dense: NDArray[np.float32],
    sizes: list[int],
    capitals: list[int],
    title: list[int],
    of_page: list[int],
    rng: Generator,
) -> None:
    """Another language, no title, a page of another size, in place; given are the columns that tell of these."""
    # Chinese needs a third of the characters that German needs, even as we count them.
    shift = rng.normal(-0.8, 0.3) if rng.random() < _OTHER_SCRIPT else rng.normal(0, 0.25)
    before = dense[:, sizes]
    dense[:, sizes] = np.where(before > 0, np.maximum(before + shift, 0.3), before)
    if rng.random() < _NO_CAPITALS:
        dense[:, capitals] = 0
    if rng.random() < _NO_TITLE:
        dense[:, title] = 0
    if rng.random() < _OTHER_PAGE:
        dense[:, of_page] *= rng.normal(1, 0.1, len(of_page)).astype(np.float32)


def _with_boilerplate(example: NetExample, donor: NetExample, rng: Generator) -> NetExample:
    """The example with a run of another page's boilerplate before its main matter or after it."""
    run = _run_of_boilerplate(donor, rng)
    matter = np.flatnonzero(~(example.shares < _SURELY_BOILERPLATE))  # what is unknown stays together with main matter
    if run is None or not len(matter):
        return example
    is_before = rng.random() < 0.5
    count = len(example.shares)
    at = int(rng.integers(0, matter[0] + 1) if is_before else rng.integers(matter[-1] + 1, count + 1))
    host, guest = example.inputs, donor.inputs
    dense = np.insert(host.dense, at, _as_guests(guest.dense[run], host.dense, is_before=is_before), axis=0)
    dense[:, _AT["place"]] = (np.arange(len(dense)) + 0.5) / len(dense)
    sizes = np.expm1(dense[:, _AT["chars"]])
    dense[:, _AT["chars_before"]] = (np.cumsum(sizes) - sizes) / max(1.0, float(sizes.sum()))
    offset = len(host.parents)
    inputs = NetInput(
        dense=dense,
        tokens=np.concatenate([host.tokens, guest.tokens]),
        token_elements=np.concatenate([host.token_elements, guest.token_elements + offset]),
        parents=np.concatenate([host.parents, np.where(np.arange(len(guest.parents)) > 0, guest.parents + offset, 0)]),
        containers=np.insert(host.containers, at, guest.containers[run] + offset, axis=0),
    )
    return replace(
        example,
        inputs=inputs,
        shares=np.insert(example.shares, at, donor.shares[run]),
        words=np.insert(example.words, at, donor.words[run]),
        labels=np.insert(example.labels, at, np.where(donor.labels[run] < 0, BOILERPLATE, donor.labels[run])),
    )


def _run_of_boilerplate(donor: NetExample, rng: Generator) -> slice | None:
    """A run of blocks that are boilerplate, of some length."""
    boilerplate = np.flatnonzero(donor.shares < _SURELY_BOILERPLATE)
    if not len(boilerplate):
        return None
    runs = np.split(boilerplate, np.flatnonzero(np.diff(boilerplate) > 1) + 1)
    run = runs[int(rng.integers(len(runs)))]
    length = min(len(run), int(rng.integers(1, _MAX_INSERTED + 1)))
    start = int(run[0]) + int(rng.integers(0, len(run) - length + 1))
    return slice(start, start + length)


def _as_guests(guests: NDArray[np.float32], host: NDArray[np.float32], *, is_before: bool) -> NDArray[np.float32]:
    """Blocks of another page as they look on this one: far from its longest text, its headline, its top container."""
    guests = guests.copy()
    side = -1.0 if is_before else 1.0
    has_title = host[0, _AT["page_has_title"]]
    guests[:, _OF_PAGE] = host[0, _OF_PAGE]
    guests[:, _AT["longest_level"]] = 1
    guests[:, _AT["longest_side"]] = guests[:, _AT["top_side"]] = side
    guests[:, _AT["longest_ratio"]] = np.minimum(guests[:, _AT["chars"]] - host[:, _AT["chars"]].max(), 0)
    guests[:, _AT["title_level"]] = has_title
    guests[:, _AT["title_side"]] = side * has_title
    guests[:, _AT["in_top"]] = guests[:, _AT["in_title"]] = 0
    guests[:, _TOPS] = np.minimum(guests[:, _TOPS], 0.5)
    return guests
