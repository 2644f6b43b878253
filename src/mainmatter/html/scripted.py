"""Pages that show little or nothing without their scripts: the text that they declare instead is put into the tree.

By reliability: the posts that Discourse sends along, schema.org items in JSON-LD, the state of a single-page app,
templates, and for a page with nothing else the description in its head, where that is long enough for an excerpt.
Most pages show their text, and the guess that they do costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from mainmatter.html.declared import key, main_items, read_json
from mainmatter.html.items import MAX_CHARS, MAX_PIECES, as_markup, item_pieces
from mainmatter.html.parse import Element, as_text, parse
from mainmatter.html.segment import segment
from mainmatter.html.state import state_pieces, topic_pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.html.parse import Tree
    from mainmatter.html.segments import Segments

# Characters that a page shows outside of links. With more than the first it is not looked at: what it declares would
# have to be longer still. With more than the second, only what is declared for readers elsewhere (JSON-LD) is trusted.
MUCH_SHOWN = 3_000
LITTLE_SHOWN = 500
LITTLE_SHOWN_WITH_LINKS = 1_000
NOTHING_SHOWN = 100  # links included
# A declared text is added if so much of it is new, and so many times more than is shown.
LEAST_ADDED = 200
TIMES_SHOWN = 2

_WINDOW = 12  # characters of text that are compared; less is the same in many texts by chance
_SHOWN_SHARE = 0.5  # of a block's windows: whoever shows so much of it shows it, with small differences
_MAX_SHOWN_KEY = 200_000

_LINKED_DATA = 'script[type*="ld+json" i]'
_MAIN = "main, [role=main]"

# A source of text: a page's tree to pieces of markup.
Source = Callable[["Tree"], list[str]]


def add_scripted_text(tree: Tree, segments: Segments) -> bool:
    """Put the text that a page declares, but does not show, into its tree, as an `<article>`.

    It stands at the end of the `<main>` element or, on a page without, of the body.

    Args:
        tree: the page's tree; it is changed.
        segments: its blocks, as they are shown.

    Returns:
        Whether anything was added, so that the tree must be segmented again.
    """
    columns = segments.columns
    with_links = sum(map(len, columns.texts))
    shown = with_links - sum(columns.link_chars)
    if shown > MUCH_SHOWN:
        return False
    least = max(LEAST_ADDED, TIMES_SHOWN * shown)
    for pieces_of in _sources(shown, with_links, least):
        pieces = pieces_of(tree)
        if sum(map(len, pieces)) > least:
            article = _new_text(pieces, columns.texts, least)
            if article is not None:
                return _append(article, tree)
    return False


def _append(article: Element, tree: Tree) -> bool:
    main = tree.select_one(_MAIN)
    place = main if main is not None else tree.find("body")
    if place is not None:  # a page of frames has no body
        place.append(article)
    return place is not None


def _sources(shown: int, with_links: int, least: int) -> list[Source]:
    """Where to look, most trusted first."""
    linked_data_pieces = partial(_linked_data_pieces, least=least)
    if shown > LITTLE_SHOWN or with_links > LITTLE_SHOWN_WITH_LINKS:
        return [linked_data_pieces]
    sources: list[Source] = [topic_pieces, linked_data_pieces, state_pieces, _template_pieces]
    return [*sources, _description_pieces] if with_links < NOTHING_SHOWN else sources


def _linked_data_pieces(tree: Tree, least: int) -> list[str]:
    # Reading JSON takes time, and one script has all of a text.
    sources = [source for script in tree.select(_LINKED_DATA) if len(source := script.text) > least]
    return item_pieces(list(main_items(map(read_json, sources)))) if sources else []


def _template_pieces(tree: Tree) -> list[str]:
    """The content of templates, but not of shadow roots, which are shown."""
    pieces: list[str] = []
    size = 0
    for template in islice(tree.iter_elements("template"), MAX_PIECES):
        if template.attr("shadowrootmode") is None:
            pieces.append(template.inner_html[: MAX_CHARS - size])
            size += len(pieces[-1])
            if size == MAX_CHARS:  # templates in templates would come many times
                break
    return pieces


def _description_pieces(tree: Tree) -> list[str]:
    metas = tree.select('meta[property="og:description"], meta[name="description"]')
    contents = [as_text(meta.attr("content")) for meta in metas]
    return [as_markup(max(contents, key=len))] if contents else []


def _new_text(pieces: Sequence[str], shown: Sequence[str], least: int) -> Element | None:
    """The pieces as one element, without what is shown already; None if too little is left."""
    tree = parse("<article>")
    article = tree.find("article")
    assert article is not None
    for piece in pieces:
        # Each for itself: an open tag or comment must not swallow the next.
        content = parse(piece).find("body")
        if content is not None:
            section = Element("section")
            section.extend(list(content))
            article.append(section)
    segments = segment(tree)
    columns = segments.columns
    is_shown = _Shown(shown)
    length = 0
    for i, text in enumerate(columns.texts):
        if is_shown(text):
            for node in segments.text_nodes(i):
                node.extract()
        else:
            length += len(text) - columns.link_chars[i]
    return article if length > least else None


class _Shown:
    """Tells whether a text is among those that the page shows, whatever their case, spaces and punctuation."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._keys = set(map(key, texts))
        joined = key("".join(texts))[:_MAX_SHOWN_KEY]
        self._windows = {joined[i : i + _WINDOW] for i in range(len(joined))}

    def __call__(self, text: str) -> bool:
        text_key = key(text)
        windows = range(0, len(text_key) - _WINDOW + 1, _WINDOW)
        found = sum(text_key[i : i + _WINDOW] in self._windows for i in windows)
        return text_key in self._keys or (len(windows) > 1 and found >= _SHOWN_SHARE * len(windows))
