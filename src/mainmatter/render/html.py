r"""HTML: a small document without scripts, styles and forms, that holds what was kept and its structure.

Classes mark what HTML has no element for: `comments`, at the end, if comments are marked; `footnote`; and `math`, which
holds TeX between `\(` and `\)`, or `\[` and `\]`, where KaTeX and MathJax look for it.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from mainmatter.render.build import content_of
from mainmatter.render.content import HOLD_BLOCKS, Content, is_harmless

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mainmatter.records import Extraction
    from mainmatter.render.content import ContentType

    # What to write before and after a node, by the node and the type of its parent.
    Tags = Callable[[Content, ContentType], tuple[str, str]]

_TAGS: dict[ContentType, str] = {
    "paragraph": "p",
    "item": "li",
    "definitions": "dl",
    "term": "dt",
    "definition": "dd",
    "quote": "blockquote",
    "table": "table",
    "row": "tr",
    "figure": "figure",
    "details": "details",
    "summary": "summary",
    "strong": "strong",
    "emphasis": "em",
    "strike": "del",
    "code-span": "code",
    "subscript": "sub",
    "superscript": "sup",
}
_CAPTIONS: dict[ContentType, str] = {"figure": "figcaption", "table": "caption"}
_HOLD_NODES = HOLD_BLOCKS | {"list", "definitions", "table", "row"}
_WRITTEN_WHOLE = frozenset(("image", "reference", "rule", "break"))


def render(extraction: Extraction, *, images: bool = False) -> str:
    """What was kept as a document; comments that are marked are a section at the end.

    Args:
        extraction: what was decided.
        images: keep pictures.
    """
    metadata = extraction.metadata
    language = f' lang="{escape(metadata.language)}"' if metadata.language else ""
    title = escape(metadata.title or "")
    content = write_tags(content_of(extraction, images=images), _tags, escape_text)
    return (
        f'<!doctype html>\n<html{language}>\n<head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body>\n{content}</body>\n</html>\n"
    )


def escape_text(text: str) -> str:
    """Text as HTML."""
    return escape(text, quote=False)


def write_tags(content: Content, tags: Tags, escaped: Callable[[str], str], *, indent: int = -1) -> str:
    """The nodes of a document as elements of HTML or XML, each block on a line of its own.

    Without recursion, since trees can be deep.

    Args:
        content: the document.
        tags: returns what to write before and after a node.
        escaped: turns a text into markup.
        indent: how far to indent the first blocks; those inside of a block are indented by one more. -1 for not at all.
    """
    written: list[str] = []
    depth = indent
    # What is to be written: text or a node with what it stands in, or markup with by how much it changes the depth.
    stack: list[tuple[Content | str, ContentType, bool] | tuple[str, int]] = []

    def add(nodes: Sequence[Content | str], around: ContentType, *, in_line: bool) -> None:
        stack.extend((node, around, in_line) for node in reversed(nodes))

    add(content.children, content.type, in_line=False)
    while stack:
        entry = stack.pop()
        if len(entry) == 2:
            depth += entry[1]
            written.append(" " * depth + entry[0] if entry[1] else entry[0])
            continue
        node, around, in_line = entry
        if isinstance(node, str):
            written.append(escaped(node))
            continue
        begin, end = tags(node, around)
        if in_line:
            written.append(begin)
            stack.append((end, 0))
            if node.type not in _WRITTEN_WHOLE:
                add(node.children, node.type, in_line=True)
            continue
        line, blocks = _line_and_blocks(node)
        if blocks and not begin:  # what a format does not know
            add(blocks, node.type, in_line=False)
            continue
        written.append(" " * depth + begin)
        step = 0 if indent < 0 else 1
        if blocks:
            written.append("" if line else "\n")
            stack.append((end + "\n", -step))
            add(blocks, node.type, in_line=False)
            if line:
                stack.append(("\n", 0))
            depth += step
        else:
            stack.append((end + "\n", 0))
        add(line, "paragraph" if blocks else node.type, in_line=True)
    return "".join(written)


def _line_and_blocks(node: Content) -> tuple[Sequence[Content | str], Sequence[Content | str]]:
    """What a block holds in a line, and the blocks below that. The text of a list's item needs no paragraph."""
    if node.type not in _HOLD_NODES:
        return node.children, ()
    if node.type in ("item", "definition") and node.children:
        first, *others = node.nodes
        if first.type == "paragraph" and all(other.type == "list" for other in others):
            return first.children, others
    return (), node.children


def _tags(node: Content, around: ContentType) -> tuple[str, str]:  # noqa: C901, PLR0911, PLR0912 - one a type
    match node.type:
        case "heading":
            level = min(max(node.level, 1), 6)
            return f"<h{level}>", f"</h{level}>"
        case "list" if node.ordered:
            return f'<ol start="{node.start}">' if node.start != 1 else "<ol>", "</ol>"
        case "list":
            return "<ul>", "</ul>"
        case "item" if node.checked is not None:
            return f'<li><input type="checkbox" disabled{" checked" if node.checked else ""}> ', "</li>"
        case "code":
            language = f' class="language-{escape(node.language)}"' if node.language else ""
            return f"<pre><code{language}>", "</code></pre>"
        case "cell":
            tag = "th" if node.is_header else "td"
            align = f' align="{node.align}"' if node.align else ""
            return f"<{tag}{align}>", f"</{tag}>"
        case "caption":
            tag = _CAPTIONS.get(around, "p")
            return f"<{tag}>", f"</{tag}>"
        case "footnote":
            return f'<div class="footnote" id="fn-{node.label}"><sup>{escape(node.label)}</sup>', "</div>"
        case "reference":
            return f'<sup><a href="#fn-{node.label}">{escape(node.label)}</a></sup>', ""
        case "rule" | "break":
            return "<hr>" if node.type == "rule" else "<br>", ""
        case "comments":
            return '<section class="comments">', "</section>"
        case "formula":
            tag = "div" if around in HOLD_BLOCKS else "span"
            left, right = ("\\[", "\\]") if node.display else ("\\(", "\\)")
            return f'<{tag} class="math">{left}', f"{right}</{tag}>"
        case "link" | "image" if not is_harmless(node.address):
            return "", ""
        case "link":
            return f'<a href="{escape(node.address)}">', "</a>"
        case "image":
            alternative = escape("".join(map(str, node.children)))
            return f'<img src="{escape(node.address)}" alt="{alternative}">', ""
    tag = _TAGS.get(node.type, "")
    return (f"<{tag}>", f"</{tag}>") if tag else ("", "")
