"""Trees of content for tests: made by hypothesis, and read back from Markdown by a parser that is not ours."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

from mainmatter.render.content import Content

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mainmatter.render.content import ContentType

# A tree as one can compare it: the type of a block with its attributes, and its blocks or what stands in its line. That
# is pieces of text, each with the marks around it, whichever is inside of which.
Outline = tuple[Any, ...]

_MARKS: dict[str, str] = {"strong": "strong", "em": "emphasis", "s": "strike"}
_TAGS = {"<sub>": "subscript", "<sup>": "superscript"}


def read_markdown(markdown: str, *, digits: bool = True) -> list[Outline]:
    """The blocks of a Markdown document, by markdown-it-py; `digits` may stand beside the dollars of a formula."""
    parser = MarkdownIt("gfm-like", {"linkify": False, "maxNesting": 1000})
    parser.use(deflist_plugin).use(footnote_plugin, inline=False).use(tasklists_plugin)
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=digits, double_inline=True)
    return _blocks(SyntaxTreeNode(parser.parse(markdown)).children)


def _blocks(nodes: Iterable[SyntaxTreeNode]) -> list[Outline]:
    return [block for node in nodes for block in _block(node)]


def _block(node: SyntaxTreeNode) -> list[Outline]:  # noqa: C901 - one a type
    match node.type:
        case "paragraph":
            return [("paragraph", _line(node.children[0]))] if node.children else []
        case "heading":
            return [("heading", int(node.tag[1]), _line(node.children[0]))]
        case "bullet_list":
            return [("list", None, [_item(item) for item in node.children])]
        case "ordered_list":
            start = int(node.attrs.get("start", 1))
            return [("list", start, [_item(item) for item in node.children])]
        case "blockquote":
            return [("quote", _blocks(node.children))]
        case "fence":
            return [("code", node.info, node.content.removesuffix("\n"))]
        case "table":
            rows = [row for part in node.children for row in part.children]
            cells = [[_line(cell.children[0]) if cell.children else [] for cell in row.children] for row in rows]
            aligns = [str(cell.attrs.get("style", "")).removeprefix("text-align:") or None for cell in rows[0].children]
            return [("table", aligns, cells)]
        case "dl":
            return [
                ("term", _line(child.children[0])) if child.type == "dt" else ("definition", _blocks(child.children))
                for child in node.children
            ]
        case "footnote_block":
            return [("footnote", note.meta["label"], _blocks(note.children)) for note in node.children]
        case "hr":
            return [("rule",)]
        case "math_block":
            return [("formula", node.content.strip())]
        case "footnote_anchor":
            return []
    raise AssertionError(f"Markdown with {node.type}: {node.content}")


def _item(node: SyntaxTreeNode) -> Outline:
    checked = None
    blocks = _blocks(node.children)
    if "task-list-item" in str(node.attrs.get("class", "")):
        [line] = blocks[0][1:]
        checked = "checked" in line[0][0]
        line[0] = line[0][0].partition(">")[2].lstrip(), line[0][1]
    return "item", checked, blocks


def _line(node: SyntaxTreeNode) -> list[tuple[str, frozenset[str]]]:
    return _merged(_pieces(node.children, frozenset()))


def _pieces(  # noqa: C901 - one a type
    nodes: Iterable[SyntaxTreeNode], marks: frozenset[str]
) -> Iterator[tuple[str, frozenset[str]]]:
    for node in nodes:
        match node.type:
            case "text":
                yield node.content, marks
            case "strong" | "em" | "s":
                yield from _pieces(node.children, marks | {_MARKS[node.type]})
            case "link":
                mark = f"link {node.attrs['href']}"
                yield from _pieces(node.children, marks | {mark})
            case "image":
                yield f"\0image {node.attrs['src']} {_alt(node)}\0", marks
            case "code_inline":
                yield f"\0code {node.content}\0", marks
            case "math_inline" | "math_inline_double":
                yield f"\0formula {node.content}\0", marks
            case "hardbreak":
                yield "\n", marks
            case "footnote_ref":
                yield f"\0reference {node.meta['label']}\0", marks
            case "html_inline" if node.content in _TAGS:
                marks |= {_TAGS[node.content]}
            case "html_inline" if node.content.startswith("</"):
                marks -= {_TAGS[node.content.replace("/", "")]}
            case "html_inline" if "checkbox" in node.content:
                yield node.content, marks
            case _:
                raise AssertionError(f"Markdown with {node.type}: {node.content}")


def _alt(image: SyntaxTreeNode) -> str:
    return "".join(child.content for child in image.children)


def _merged(pieces: Iterable[tuple[str, frozenset[str]]]) -> list[tuple[str, frozenset[str]]]:
    found: list[tuple[str, frozenset[str]]] = []
    for text, marks in pieces:
        if found and found[-1][1] == marks:
            found[-1] = found[-1][0] + text, marks
        elif text:
            found.append((text, marks))
    return found


# ---- The same of a tree


def outline(content: Content) -> list[Outline]:
    """What `read_markdown` should find, where Markdown can say all of it."""
    return [block for node in content.nodes for block in _outline(node)]


def _outline(node: Content) -> list[Outline]:
    match node.type:
        case "paragraph" | "term":
            return [(node.type, line(node.children))]
        case "heading":
            return [("heading", node.level, line(node.children))]
        case "list":
            items = [("item", item.checked, outline(item)) for item in node.nodes]
            return [("list", node.start if node.ordered else None, items)]
        case "definitions":
            return outline(node)
        case "definition" | "quote":
            return [(node.type, outline(node))]
        case "code":
            return [("code", node.language, node.children[0])]
        case "table":
            rows = [row.nodes for row in node.nodes]
            return [
                ("table", [cell.align for cell in rows[0]], [[line(cell.children) for cell in row] for row in rows])
            ]
        case "footnote":
            return [("footnote", node.label, outline(node))]
        case "rule":
            return [("rule",)]
        case "formula":
            return [("formula", node.children[0])]
    raise AssertionError(node.type)


def line(nodes: Iterable[Content | str]) -> list[tuple[str, frozenset[str]]]:
    """The text of a line with its marks."""
    return _merged(_of_line(nodes, frozenset()))


def _of_line(nodes: Iterable[Content | str], marks: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    for node in nodes:
        if isinstance(node, str):
            yield node, marks
        elif node.type == "link":
            yield from _of_line(node.children, marks | {f"link {node.address}"})
        elif node.type == "image":
            yield f"\0image {node.address} {''.join(map(str, node.children))}\0", marks
        elif node.type == "code-span":
            yield f"\0code {node.children[0]}\0", marks
        elif node.type == "formula":
            yield f"\0formula {node.children[0]}\0", marks
        elif node.type == "break":
            yield "\n", marks
        elif node.type == "reference":
            yield f"\0reference {node.label}\0", marks
        else:
            yield from _of_line(node.children, marks | {node.type})


def text_of(blocks: Any) -> str:
    """All text of an outline, without white space."""
    if isinstance(blocks, str):
        return re.sub(r"\s", "", blocks)
    if isinstance(blocks, tuple) and len(blocks) == 2 and isinstance(blocks[1], frozenset):
        return text_of(blocks[0])
    if isinstance(blocks, tuple) and isinstance(blocks[0], str):
        return "".join(text_of(block) for block in blocks[1:])
    return "".join(map(text_of, blocks)) if isinstance(blocks, list) else ""


# ---- Trees that are made up

_WORDS = st.sampled_from(
    """
    a word snake_case 3 * 4 2*3 **bold** 1. 12) # + - > | || --- === *** ___ ~~~ ~5 ~~no~~ $5 $10 $x$ [x] [y](z) ![i](j)
    <b> </i> < > &amp; & &#35; `code` `` \\ \\* C:\\dir \\( \\) https://e.example/a_b_(c)?d=e&f=g www.e.example
    me@e.example 漢字 「重要」 です。 “q” é 🙂 € ™ ! !! ( ) ] [ : ; [^1] [^1]: [ref]: ^ ^[n] {#id} _u_ __init__ * ** _
    __ . , ' " - – … /path =
    """.split()
)
_LETTERS = st.text(st.sampled_from("ab *_~`[]()<>!&#.:|\\$-+1漢「。é€"), min_size=1, max_size=6)
_TEXTS = st.lists(_WORDS | _LETTERS, min_size=1, max_size=4).flatmap(
    lambda words: st.sampled_from([" ", "", " "]).map(lambda glue: glue.join(words))
)
texts = st.tuples(st.sampled_from(["", " "]), _TEXTS, st.sampled_from(["", " "])).map(
    lambda parts: parts[0] + " ".join(parts[1].split()) + parts[2]
)
_ADDRESSES = st.sampled_from(
    ["https://e.example/", "https://e.example/a_(b)", "https://e.example/?a=1&amp;b=(", "/x", "mailto:a@e.example"]
)
_INLINE: tuple[ContentType, ...] = ("strong", "emphasis", "strike", "subscript", "superscript")


def _node(type_: ContentType) -> Any:
    return lambda children: Content(type_, children)


_ATOMS = st.one_of(
    st.sampled_from(["x", "a`b", "``", "`", "a | b", "*x*", "\\", "<b>"]).map(
        lambda code: Content("code-span", [code])
    ),
    st.sampled_from(["x^2", "a_i * b_i", "\\frac{1}{2}"]).map(lambda tex: Content("formula", [tex])),
    st.just(Content("break")),
    st.builds(
        lambda address, alt: Content("image", alt, address=address),
        _ADDRESSES,
        st.sampled_from([[], ["a picture"], ["[x] *y* &amp; \\"]]),
    ),
)


def _inline(children: Any) -> Any:
    lines = st.lists(children, min_size=1, max_size=4)
    links = st.builds(
        lambda inside, address: Content("link", inside, address=address),
        lines,
        _ADDRESSES,
    )
    return st.one_of(texts, texts, _ATOMS, links, st.sampled_from(_INLINE).flatmap(lambda mark: lines.map(_node(mark))))


lines_of_text = st.lists(
    texts | st.sampled_from(_INLINE[:3]).flatmap(lambda m: texts.map(lambda t: Content(m, [t]))), min_size=1, max_size=5
)


def _without_inner_links(nodes: Iterable[Content | str], *, in_link: bool = False) -> list[Content | str]:
    """A link holds no other, by what `Content` promises."""
    found: list[Content | str] = []
    for node in nodes:
        if isinstance(node, str) or node.type in ("image", "code-span", "formula"):
            found.append(node)
            continue
        is_link = node.type == "link"
        inside = _without_inner_links(node.children, in_link=in_link or is_link)
        found += inside if is_link and in_link else [replace(node, children=inside)]
    return found


any_lines = (
    st.lists(st.recursive(texts, _inline, max_leaves=8), min_size=1, max_size=5)
    .map(_without_inner_links)
    .filter(lambda nodes: any(text.strip() for text, _ in line(nodes)))
)


def _paragraph(children: list[Content | str]) -> Content:
    return Content("paragraph", children)


_paragraphs = any_lines.map(_paragraph)
_headings = st.builds(lambda children, level: Content("heading", children, level=level), any_lines, st.integers(1, 6))
_CODES = st.sampled_from(["x = 1", "  a\n\n\tb", "```\ncode\n```", "~~~~", "| a |", "<b>&amp;", "````\n`", "- a\n- b"])
_codes = st.builds(
    lambda code, language: Content("code", [code], language=language), _CODES, st.sampled_from(["", "python", "c++"])
)
_LEAVES = st.one_of(
    _paragraphs,
    _paragraphs,
    _headings,
    _codes,
    st.just(Content("rule")),
    st.just(Content("formula", ["x &= y \\\\\ny &= z"], display=True)),
)


@st.composite
def tables(draw: st.DrawFn) -> Content:
    """Tables of one width; some cells are empty."""
    width = draw(st.integers(1, 3))
    cells: st.SearchStrategy[list[Content | str]] = st.one_of(any_lines, any_lines, st.just([]))
    aligns: list[Any] = draw(st.lists(st.sampled_from(["left", "right", None]), min_size=width, max_size=width))
    rows = [
        Content("row", [Content("cell", draw(cells), align=align, is_header=not number) for align in aligns])
        for number in range(draw(st.integers(1, 3)))
    ]
    return Content("table", [*rows])


def _containers(blocks: Any) -> Any:
    some = st.lists(blocks, min_size=1, max_size=3)
    plain_items = some.map(_node("item"))
    tasks = st.builds(
        lambda first, rest, checked: Content("item", [first, *rest], checked=checked),
        _paragraphs,
        st.lists(blocks, max_size=2),
        st.booleans(),
    )
    bullets = st.lists(plain_items | tasks, min_size=1, max_size=3).map(_node("list"))
    numbered = st.builds(
        lambda items, start: Content("list", items, ordered=True, start=start),
        st.lists(plain_items, min_size=1, max_size=3),
        st.sampled_from([1, 1, 0, 7, 99]),
    )
    entries = st.tuples(any_lines.map(_node("term")), st.lists(some.map(_node("definition")), min_size=1, max_size=2))
    definitions = st.lists(entries, min_size=1, max_size=2).map(
        lambda found: Content("definitions", [node for term, others in found for node in (term, *others)])
    )
    return st.one_of(some.map(_node("quote")), bullets, numbered, definitions, tables())


documents = st.lists(st.recursive(_LEAVES, _containers, max_leaves=8), min_size=1, max_size=4).map(_node("document"))
