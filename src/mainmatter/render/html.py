"""HTML: the page pruned to what was kept, as a small document without scripts or styles.

Comments that are marked come last, in a `<section class="comments">`. No other element has a class.
"""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from mainmatter.html.prune import prune
from mainmatter.records import Kind
from mainmatter.render.text import main_and_comments

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mainmatter.html.parse import Element, Tree
    from mainmatter.html.segment import Segments
    from mainmatter.records import Extraction

_TAGS = {Kind.LIST_ITEM: "li", Kind.CODE: "pre", Kind.QUOTE: "blockquote"}


def render(extraction: Extraction, *, images: bool = False) -> str:
    """The kept blocks in the markup of the page; a plain-text dump gets the markup of its blocks' kinds."""
    main, comments = main_and_comments(extraction)
    content = _content(extraction, main, images=images)
    if comments is not None:
        content += f'\n<section class="comments">\n{_content(extraction, comments, images=images)}\n</section>'
    metadata = extraction.metadata
    language = f' lang="{escape(metadata.language)}"' if metadata.language else ""
    title = escape(metadata.title or "")
    return (
        f'<!doctype html>\n<html{language}>\n<head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body>\n{content.strip()}\n</body>\n</html>\n"
    )


def _content(extraction: Extraction, chosen: NDArray[np.bool_], *, images: bool) -> str:
    body = pruned_body(extraction, chosen, images=images)
    return (body.inner_html if body is not None else _blocks_as_html(extraction, chosen)).strip()


def pruned_body(extraction: Extraction, chosen: NDArray[np.bool_], *, images: bool) -> Element | None:
    """The page's body with the chosen blocks alone; None for a plain-text dump."""
    parsed: tuple[Tree, Segments] | None = extraction.document.parse_again()
    if parsed is None:
        return None
    tree, segments = parsed
    url = extraction.document.page.url or extraction.metadata.url  # links become absolute
    return prune(tree, segments, chosen.tolist(), images=images, url=url)


def _blocks_as_html(extraction: Extraction, chosen: NDArray[np.bool_]) -> str:
    """Simple markup for blocks that have none of their own, those of plain-text dumps: headings, paragraphs, lists."""
    columns = extraction.document.columns
    lines = []
    for in_list, group in groupby(chosen.nonzero()[0].tolist(), lambda i: extraction.kinds[i] is Kind.LIST_ITEM):
        elements = []
        for i in group:
            kind = extraction.kinds[i]
            tag = f"h{max(1, columns.levels[i])}" if kind is Kind.HEADING else _TAGS.get(kind, "p")
            elements.append(f"<{tag}>{escape(columns.texts[i], quote=False)}</{tag}>")
        lines += ["<ul>", *elements, "</ul>"] if in_list else elements
    return "\n".join(lines)
