"""The texts of schema.org items: articles, posts, questions and answers, products, instructions, as pieces of markup.

Sites write them for search engines, and for some pages that scripts put together nothing else is there to read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mainmatter.html.declared import Item, as_text, types_of, without_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# Hostile sizes: whoever has more to say shows it.
MAX_PIECES = 2_000
MAX_CHARS = 1_000_000

# How the names of types end whose items are texts (NewsArticle, DiscussionForumPosting, ...) or have a description that
# is the text of their page.
_TEXTS = ("Article", "Posting", "Report", "Question", "Answer", "Comment")
_DESCRIBED = (
    "JobPosting",
    "Product",
    "ProductGroup",
    "Course",
    "Event",
    "Book",
    "SoftwareApplication",
    "HowTo",
    "Recipe",
)
_TEXT_KEYS = ("articleBody", "text")
_DESCRIBED_KEYS = ("description",)
# What is inside of an item and part of its text, in the order of reading.
_PARTS = (
    *("recipeIngredient", "supply", "recipeInstructions", "step", "steps", "itemListElement"),
    *("liveBlogUpdate", "acceptedAnswer", "suggestedAnswer", "comment"),
)

_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_BLOCK_TAG = re.compile(r"<(?:p|div|br|li|h[1-6]|pre|table|section|article|blockquote)\b", re.IGNORECASE)
_LINE = "\n"
_FENCE = f"{_LINE}```"
_MARKDOWN_HEADING = re.compile(r"(#{1,6}) +(?=\w)")
_MARKDOWN_ITEM = re.compile(r"(?:[-*+\u2022]|\d{1,3}\.) +(?=\S)")
_MARKDOWN_LINK = re.compile(r"\[([^\[\]\n]+)\]\(([^()\s\"<>]*)\)")
_MARKDOWN_IMAGE = re.compile(r"!\[[^\[\]\n]*\]\([^()\s\"<>]*\)")
_LINE_END = re.compile(r"[\r\n\u2028\u2029]+")


def item_pieces(items: Sequence[Item]) -> list[str]:
    """The texts of a page's main items, as pieces of markup in the order of reading; none is there twice."""
    described = [id(item) for item in items if _is_one_of(item, _DESCRIBED)]
    found: list[str] = []
    seen: set[str] = set()
    size = 0
    for item in items:
        # A list of products is a catalogue: of none of them is it said that the page is about it.
        is_described = described == [id(item)]
        if not is_described and (id(item) in described or not _is_one_of(item, _TEXTS)):
            continue
        for piece in _pieces(item, (*_TEXT_KEYS, *_DESCRIBED_KEYS) if is_described else _TEXT_KEYS):
            if not piece or piece in seen:
                continue
            size += len(piece)
            if len(found) == MAX_PIECES or size > MAX_CHARS:
                return found
            seen.add(piece)
            found.append(piece)
    return found


def as_markup(text: str) -> str:
    """A declared text as markup: escaped tags are tags again; where no tag sets lines apart they become paragraphs."""
    text = without_surrogates(text[:MAX_CHARS])
    if "&lt;" in text and not _TAG.search(text):
        text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
    if _BLOCK_TAG.search(text):
        return text
    if not _TAG.search(text):
        text = text.replace("<", "&lt;")
    # Every second part is code, if the text is Markdown, with the name of its language in the first line.
    parts = text.split(_FENCE)
    parts[::2] = map(_lines_as_markup, parts[::2])
    parts[1::2] = (f"<pre>{part.partition(_LINE)[2]}</pre>" for part in parts[1::2])
    return "".join(parts)


def _lines_as_markup(text: str) -> str:
    """Lines of plain text as paragraphs, or as what they are in Markdown: headings, items, links."""
    return "".join(_line_as_markup(line) for line in map(str.strip, _LINE_END.split(text)) if line)


def _line_as_markup(line: str) -> str:
    line = _MARKDOWN_LINK.sub(r'<a href="\2">\1</a>', _MARKDOWN_IMAGE.sub("", line)).replace("**", "")
    if title := _MARKDOWN_HEADING.match(line):
        return heading(line[title.end() :], len(title[1]))
    if item := _MARKDOWN_ITEM.match(line):
        return f"<ul><li>{line[item.end() :]}</ul>"
    return f"<p>{line}</p>"


def heading(text: str, level: int) -> str:
    """A declared title as markup."""
    line = " ".join(_TAG.sub(" ", without_surrogates(text)).replace("<", "&lt;").split())
    return f"<h{level}>{line}</h{level}>" if line else ""


def _is_one_of(item: Item, endings: tuple[str, ...]) -> bool:
    return any(name.endswith(endings) for name in types_of(item))


def _pieces(item: Item, text_keys: Iterable[str]) -> Iterator[str]:
    """The texts of an item and of its parts; not by recursion, since JSON can be deep."""
    open_parts: list[tuple[Any, int]] = [(item, 1)]
    while open_parts:
        value, level = open_parts.pop()
        if isinstance(value, str):
            yield as_markup(value) if level < 2 else f"<ul><li>{as_markup(value)}</ul>"
        elif isinstance(value, list):
            open_parts.extend((one, level) for one in reversed(value[:MAX_PIECES]))
        elif isinstance(value, dict):
            keys = text_keys if level == 1 else (*_TEXT_KEYS, *_DESCRIBED_KEYS)
            yield from _own_pieces(value, level, keys)
            parts = [(value[name], level + 1) for name in _PARTS if isinstance(value.get(name), (str, list, dict))]
            open_parts.extend(reversed(parts))


def _own_pieces(item: Item, level: int, text_keys: Iterable[str]) -> Iterator[str]:
    text = next((text for name in text_keys if isinstance(text := item.get(name), str) and text.strip()), "")
    title = as_text(item.get("headline") or item.get("name"))
    # Steps have their beginning for a name; people and answers have no heading.
    if title and not text.startswith(title.rstrip(".\u2026")) and (text or any(name in item for name in _PARTS)):
        yield heading(title, min(level, 3))
    if text:
        yield as_markup(text)
