r"""Formulas of web pages as TeX, whether KaTeX, MathJax, LaTeXML, MediaWiki, WordPress or another tool wrote them.

Tools that typeset formulas write each of them several times: for the eye, for screen readers, for search engines.
`read_formula` takes an element that is one whole formula and returns its TeX, once. The best source is the TeX that the
author wrote, which most tools leave somewhere; without it, MathML is converted. `split_formulas` finds TeX in the text,
such as `\(x\)`, that a script was meant to typeset.

The TeX is one line that can be put between dollar signs as it is.
"""

from __future__ import annotations

import re
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, unquote_plus

from mainmatter.html.mathml import escape_text, to_tex
from mainmatter.html.parse import Element, Text, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mainmatter.html.parse import Tree


class Formula(NamedTuple):
    """A formula.

    Attributes:
        tex: one line of TeX without delimiters. Empty if there is nothing to write: the element shows nothing, or what
            it shows is the copy of a formula beside it.
        display: it stands on a line of its own.
    """

    tex: str
    display: bool


NOTHING = Formula("", display=False)

# The tags of elements that may be a formula; others need not be checked.
FORMULA_TAGS = frozenset("div img m:math math math-renderer mjx-container mml:math script span table".split())

_MATH_TAGS = frozenset(("math", "mml:math", "m:math"))
# By KaTeX, and by a plugin of WordPress for it.
_KATEX = frozenset(("katex", "katex-display", "katex-eq", "katex-error"))
# MathJax 2: what it shows before it is ready, and what it shows then, in one of its output formats.
_MATHJAX = frozenset(
    """
    MathJax MathJax_CHTML MathJax_Display MathJax_MathML MathJax_PHTML MathJax_PlainSource MathJax_Preview
    MathJax_SVG MathJax_SVG_Display mjx-chtml MJXc-display
    """.split()
)
_MATHJAX_ROOTS = frozenset(("mjx-container", "mjx-math"))
_MEDIAWIKI = frozenset(("mwe-math-element",))
# Elements that hold nothing but TeX: Stack Exchange, Springer, Sphinx, pandoc. Only pandoc's, which have a second name,
# need no delimiters: anybody may call something "math".
_SOURCES = frozenset(("math", "math-container", "mathjax-tex"))
_LATEXML = frozenset(("ltx_equation", "ltx_equationgroup"))  # of tables
FORMULA_CLASSES = _KATEX | _MATHJAX | _MEDIAWIKI | _SOURCES | _LATEXML
# Pictures of formulas, with the TeX in `alt`: MediaWiki, WordPress, Moodle, QuickLaTeX, Sphinx, CSDN, Art of Problem
# Solving.
_PICTURES = frozenset(
    """
    latex latexcenter math mathcode mwe-math-fallback-image-display mwe-math-fallback-image-inline
    mwe-math-fallback-png-display mwe-math-fallback-png-inline ql-img-displayed-equation ql-img-inline-formula
    tex texrender
    """.split()
)
_DISPLAYED = frozenset(
    """
    display katex-display latexcenter MathJax_Display MathJax_SVG_Display MJXc-display mwe-math-element-block
    mwe-math-fallback-image-display mwe-math-fallback-png-display ql-img-displayed-equation
    """.split()
)

# How many nodes are looked at, so that elements inside of each other cost no more than beside each other: in KaTeX and
# MediaWiki the MathML comes first, with two or three elements around it; MathJax 2 puts three elements side by side.
_NEAR = 12
_SIBLINGS = 6
_LAST_CHILDREN = 4


def read_formula(element: Element) -> Formula | None:
    """The formula that an element is, from its beginning to its end.

    Args:
        element: one whose tag is in `FORMULA_TAGS`.

    Returns:
        The formula; read nothing inside of the element then. None if the element is none, or cannot be read as one:
        what is inside is to be read like any other content.
    """
    tag = element.tag
    if tag in ("span", "div", "table"):
        names = (element.attr("class") or "").split()
        return None if FORMULA_CLASSES.isdisjoint(names) else _read_by_class(element, set(names))
    if tag in _MATH_TAGS:
        return _read_math(element)
    if tag == "img":
        return _read_picture(element)
    if tag == "script":
        return _read_script(element)
    if tag == "mjx-container":
        return _read_mathjax_3(element)
    return _read_source(element, display=False) if tag == "math-renderer" else None


def _read_by_class(element: Element, names: set[str]) -> Formula | None:
    if element.tag == "table":
        return None if _LATEXML.isdisjoint(names) else _read_latexml_table(element)
    display = not _DISPLAYED.isdisjoint(names)
    if not _MATHJAX.isdisjoint(names):
        return _read_mathjax_2(element, display=display)
    if "katex-error" in names or "katex-eq" in names:
        return _read_source(element, display=display or element.attr("data-katex-display") == "true")
    if not _SOURCES.isdisjoint(names):
        return _read_source(element, display=display, delimited=names.isdisjoint(("inline", "display")))
    math = picture = None
    for node in islice(element.descendants, _NEAR):
        if isinstance(node, Element):
            if node.tag in _MATH_TAGS:
                math = math or node
            elif node.tag == "img":
                picture = picture or node
    if math is not None:
        formula = _read_math(math)
        return formula._replace(display=formula.display or display)
    return _read_picture(picture) if picture is not None else None


def _read_source(element: Element, *, display: bool, delimited: bool = False) -> Formula | None:
    """An element that holds nothing but TeX, which has to be delimited if the element alone does not tell."""
    children = element.children
    if len(children) != 1 or not isinstance(children[0], Text):
        return None
    tex = children[0].data.strip()
    return None if delimited and not tex.startswith(_DELIMITED) else _written(tex, display=display)


def _read_math(math: Element) -> Formula:
    """MathML: the TeX it was made from, if that is there, else converted."""
    display = math.attr("display") == "block" or math.attr("mode") == "display"
    for tex in _sources_of(math):
        if (formula := _written(tex, display=display)) is not None:
            return formula
    return _written(to_tex(math), display=display) or NOTHING


def _sources_of(math: Element) -> Iterator[str]:
    for holder in (math, *(child for child in math if isinstance(child, Element) and child.tag.endswith("semantics"))):
        for child in holder:
            if isinstance(child, Element) and _is_tex_annotation(child):
                yield child.text
    for name in ("data-latex", "data-tex"):
        yield math.attr(name) or ""
    # By LaTeXML and MediaWiki it is TeX; others put a description in words there.
    alternative = math.attr("alttext") or ""
    if "\\" in alternative or "ltx_Math" in (math.attr("class") or ""):
        yield alternative


def _is_tex_annotation(element: Element) -> bool:
    # application/x-tex, LaTeX, TeX; but not text/html
    return element.tag.endswith("annotation") and (element.attr("encoding") or "").lower().endswith("tex")


def _read_mathjax_2(element: Element, *, display: bool) -> Formula | None:
    """What MathJax 2 shows; the script after it holds the TeX."""
    for node in islice(element.next_siblings, _SIBLINGS):
        if isinstance(node, Element):
            if _read_script(node) is not None:
                return NOTHING
            if _MATHJAX.isdisjoint((node.attr("class") or "").split()):
                break
        elif isinstance(node, Text) and not node.data.isspace():
            break
    math = _math_in(element.attr("data-mathml") or "") or _last_math(element)
    if math is None:
        return None
    formula = _read_math(math)
    return formula._replace(display=formula.display or display)


def _read_mathjax_3(element: Element) -> Formula | None:
    """MathJax 3, and 4, which leaves the TeX at its root element."""
    display = element.attr("display") == "true"
    for node in (element, *islice(element.descendants, _NEAR)):
        if isinstance(node, Element) and (node.tag in _MATHJAX_ROOTS or node.attr("data-mml-node") == "math"):
            tex = node.attr("data-latex") or node.attr("data-tex") or ""
            if (formula := _written(tex, display=display)) is not None:
                return formula
    math = _last_math(element)
    return None if math is None else _read_math(math)._replace(display=display)


def _last_math(element: Element) -> Element | None:
    """The MathML for screen readers, which MathJax puts after what it shows."""
    node = element
    for _ in range(_LAST_CHILDREN):
        children = [child for child in node if isinstance(child, Element)]
        if not children:
            return None
        node = children[-1]
        if node.tag == "math":
            return node
    return None


def _math_in(markup: str) -> Element | None:
    """The formula in an attribute or script that holds MathML."""
    return next(parse(markup).iter_elements("math"), None) if "<math" in markup else None


def _read_script(element: Element) -> Formula | None:
    kind = (element.attr("type") or "").lower() if element.tag == "script" else ""
    if kind.startswith("math/tex"):
        tex = element.text.strip().removeprefix("<![CDATA[").removesuffix("]]>")
        return _written(tex, display="mode=display" in kind)
    if kind.startswith("math/mml"):
        math = _math_in(element.text)
        return None if math is None else _read_math(math)
    return None


# Addresses of services that draw the TeX in their query: CodeCogs takes all of the query, others one of its fields.
_DRAWN = re.compile(r"codecogs\.com/[^?]*\?(.+)|(?:latex\.php|/chart)\?(?:.*&)?(?:latex|chl)=([^&]+)")
_MAX_ADDRESS = 4000  # characters; longer ones hold the picture itself
_SETTINGS = re.compile(r"\\(?:dpi\s*\{\w*\}|bg_\w+|fn_\w+|inline\b)")  # of CodeCogs, in its TeX


def _read_picture(picture: Element) -> Formula | None:
    names = (picture.attr("class") or "").split()
    alternative = (picture.attr("alt") or "").strip()
    address = picture.attr("src") or ""
    display = not _DISPLAYED.isdisjoint(names)
    drawn = _DRAWN.search(address) if len(address) <= _MAX_ADDRESS else None
    if drawn is not None and ("/chart" not in address or "cht=tx" in address):
        tex = unescape(unquote(drawn[1]).replace("&space;", " ")) if drawn[1] else unquote_plus(drawn[2])
        return _written(_SETTINGS.sub("", tex), display=display)
    # LaTeX2HTML and others give delimiters instead of a class. What Asymptote draws is not a formula.
    if (_PICTURES.isdisjoint(names) and not alternative.startswith(_DELIMITED)) or alternative.startswith("[asy]"):
        return None
    return _written(alternative, display=display)


_MAX_NUMBER = 20  # characters of an equation's number


def _read_latexml_table(table: Element) -> Formula | None:
    """The table in which LaTeXML sets an equation, or several, and its number; None if it holds anything else."""
    rows: list[list[str]] = []
    numbers: list[str] = []
    for row in _rows_of(table):
        cells: list[str] = []
        number = ""
        for cell in row:
            if not isinstance(cell, Element):
                continue
            names = cell.attr("class") or ""
            if "ltx_eqn_eqno" in names:
                number = cell.text.strip().removeprefix("(").removesuffix(")")
            elif "ltx_eqn_center_pad" not in names:
                tex = _tex_of_cell(cell)
                if tex is None:
                    return None
                cells.append(tex)
        if len(number) > _MAX_NUMBER:
            return None
        if len(cells) == 3 and "ltx_eqn_eqnarray" in (table.attr("class") or ""):  # a, =, b
            cells[1:] = [f"{cells[1]} {cells[2]}"]
        rows.append(cells)
        numbers.append(rf" \tag{{{escape_text(number)}}}" if number else "")
    if not any(map(any, rows)):
        return None
    if len(rows) == 1:
        tex = " ".join(rows[0]) + numbers[0]
    else:
        environment = "align*" if any(numbers) else "aligned"
        lines = r" \\ ".join(" & ".join(cells) + number for cells, number in zip(rows, numbers, strict=True))
        tex = rf"\begin{{{environment}}} {lines} \end{{{environment}}}"
    return _written(tex, display=True)


def _rows_of(table: Element) -> Iterator[Element]:
    for part in table:
        if isinstance(part, Element):
            yield from (row for row in part if isinstance(row, Element)) if part.tag != "tr" else (part,)


def _tex_of_cell(cell: Element) -> str | None:
    texs: list[str] = []
    for node in cell:
        if isinstance(node, Element) and node.tag == "math":
            texs.append(_read_math(node).tex)
        elif not isinstance(node, Text) or not node.data.isspace():
            return None
    return " ".join(texs)


# What can be written

_DELIMITED = ("$", "\\(", "\\[", "\\begin{")  # how TeX with delimiters begins
_COMMENT = re.compile(r"(\\.)|%[^\n]*\n?", re.DOTALL)
_LABEL = re.compile(r"\\label\s*\{[^{}]*\}")
_STYLE = re.compile(r"\\(?:displaystyle|textstyle)(?![A-Za-z])\s*")
_ENVIRONMENT = re.compile(r"\\begin\{(equation\*?|displaymath|math)\}(.*)\\end\{\1\}")
_DISPLAY_NAMES = "align alignat displaymath eqnarray equation flalign gather multline".split()
_DISPLAY_ENVIRONMENTS = tuple(f"\\begin{{{name}{end}" for name in _DISPLAY_NAMES for end in ("}", "*}"))
_TOKEN = re.compile(r"\\.|[{}$]")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")  # of HTML, to a reader of Markdown that knows no formulas
_DELIMITERS = (("$$", "$$", True), (r"\[", r"\]", True), (r"\(", r"\)", False), ("$", "$", False))
_NESTING = 3  # of delimiters, environments and braces around a formula that say nothing of it


def _written(tex: str, *, display: bool) -> Formula | None:
    """TeX as it can be written between dollar signs; None if there is nothing, or no formula."""
    if "%" in tex:
        tex = _COMMENT.sub(lambda match: match[1] or " ", tex)
    tex = " ".join((_LABEL.sub("", tex) if "\\label" in tex else tex).split())
    if not tex.isprintable():
        tex = " ".join("".join(filter(str.isprintable, tex)).split())
    for _ in range(_NESTING):
        before = tex
        for opening, closing, is_display in _DELIMITERS:
            if tex.startswith(opening) and tex.endswith(closing) and len(tex) >= len(opening) + len(closing):
                tex = tex[len(opening) : -len(closing)].strip()
                display = display or is_display
                break
        if tex.startswith("\\begin{"):
            display = display or tex.startswith(_DISPLAY_ENVIRONMENTS)
            if (environment := _ENVIRONMENT.fullmatch(tex)) is not None:
                tex = environment[2].strip()
        if tex.startswith("{\\") and (style := _STYLE.match(tex, 1)) is not None and _is_one_group(tex):
            tex = tex[style.end() : -1].strip()
        elif (style := _STYLE.match(tex)) is not None:
            tex = tex[style.end() :]
        if tex == before:
            break
    # A space after a backslash is lost at the end, and the backslash would escape the dollar sign.
    tex = tex.removeprefix("latex ").rstrip("\\ ")
    mended = _without_dollars(tex) if "$" in tex or any(sign in tex for sign in _PARENTHESES) else tex
    return Formula(_TAG.sub("< ", mended), display) if mended else None


def _is_one_group(tex: str) -> bool:
    """Whether the brace at the beginning is closed by the one at the end."""
    depth = 0
    for match in _TOKEN.finditer(tex):
        depth += (match[0] == "{") - (match[0] == "}")
        if depth == 0:
            return match.end() == len(tex)
    return False


_PARENTHESES = ("\\(", "\\)", "\\[", "\\]")


def _without_dollars(tex: str) -> str | None:
    r"""TeX with `\(x\)` for `$x$` inside of `\text{...}`; None if there are several formulas beside each other."""
    parts: list[str] = []
    depth = end = count = 0
    for match in _TOKEN.finditer(tex):
        sign = match[0]
        depth += (sign == "{") - (sign == "}")
        if sign == "$" or sign in _PARENTHESES:
            if depth <= 0:
                return None
            if sign == "$":
                parts += [tex[end : match.start()], _PARENTHESES[count % 2]]
                end = match.end()
                count += 1
    return None if count % 2 else "".join(parts) + tex[end:]


# TeX in the text

_NAMES = "|".join((*_DISPLAY_NAMES, *"array Bmatrix bmatrix cases math matrix pmatrix split Vmatrix vmatrix".split()))
_OPENING = rf"(?<!\\)(?:\\\(|\\\[|\\begin\{{(?P<name>(?:{_NAMES})\*?)\}}|(?<!\$)\$\$(?!\$))"
_DOLLARS = r"(?<![\\$])\$(?![\s$])(?P<tex>(?:[^$\\]|\\.)+)(?<!\s)\$(?![\d$])"
_BETWEEN_DOLLARS = re.compile(_DOLLARS, re.DOTALL)
_WITHOUT_DOLLARS = re.compile(_OPENING)
_WITH_DOLLARS = re.compile(f"{_OPENING}|{_DOLLARS}", re.DOTALL)
# The end of a formula, or the beginning of another one, after which the first has no end.
_CLOSING = {
    "\\(": re.compile(r"(?<!\\)\\[()]"),
    "\\[": re.compile(r"(?<!\\)\\[\[\]]"),
    "$$": re.compile(r"(?<![\\$])\$\$(?!\$)"),
}
# What tells TeX from words that happen to stand between such signs.
_SIGNS = re.compile(r"\\[A-Za-z{},;]|[\^_=<>+]")
_WORD = re.compile(r"[^\W\d_]{3,}")
_PLAIN = re.compile(r"(?!\s*[^\W\d_]\s*$)[\w\s.,;:!?–-]*")  # but for one letter
# What tells regular expressions, where `\(a\)` is a group: `\.`, `\w+`, and `a\|b`, where TeX has norms, as `\|x\|`.
_EXPRESSION = re.compile(
    r"(?<!\\)(?:\\[.?+<]|\\[bBdDsSwW](?:[*+?|]|\{\d|\\[|+?{]))|^[\w.*?\[\]-]+(?:\\\|[\w.*?\[\]-]+)+$"
)
_GROUPED = re.compile(r"\\[|{+?1-9]")  # after a group
_REFERENCE = re.compile(r"(?<!\\)\\[1-9]")  # to a group


def split_formulas(text: str, *, dollars: bool = False) -> list[str | Formula]:
    r"""Split a text at the TeX in it: `\(x\)`, `\[x\]`, `$$x$$`, `\begin{equation}x\end{equation}` and the like.

    Words between such signs stay text, as prices do. Takes time linear in the text.

    Args:
        text: of one text node of the page.
        dollars: read `$x$`, too. Ask `uses_dollars`, but only if `may_use_dollars` says so.

    Returns:
        Texts and formulas in their order; the text alone if it holds none.
    """
    if "\\" not in text and "$" not in text:
        return [text]
    parts: list[str | Formula] = []
    pattern = _WITH_DOLLARS if dollars else _WITHOUT_DOLLARS
    missing: set[str] = set()  # what was looked for, and does not come any more
    has_reference = _REFERENCE.search(text) is not None
    end = position = 0
    while (match := pattern.search(text, position)) is not None:
        start, position = match.span()
        sign = match[0]
        if dollars and match["tex"] is not None:
            formula = _formula_in(match["tex"], "$")
        elif sign in missing:
            continue
        elif match["name"] is not None:
            closing = rf"\end{{{match['name']}}}"
            stop = text.find(closing, position)
            if stop < 0:
                missing.add(sign)
                continue
            position = stop + len(closing)
            formula = _written(text[start:position], display=False)
        else:
            close = _CLOSING[sign].search(text, position)
            if close is None:
                missing.add(sign)
                continue
            if close[0] == sign != "$$":
                position = close.start()
                continue
            is_group = has_reference or _GROUPED.match(text, close.end()) is not None
            formula = _formula_in(text[position : close.start()], sign, is_group=is_group)
            position = close.end()
        if formula is not None:
            if start > end:
                parts.append(text[end:start])
            parts.append(formula)
            end = position
    if end < len(text) or not parts:
        parts.append(text[end:])
    return parts


def _formula_in(tex: str, sign: str, *, is_group: bool = False) -> Formula | None:
    r"""The formula between delimiters; None if it is text.

    `\[1\]` and `\(see there\)` are Markdown that was not rendered, `\(a\|b\)` is a regular expression, and `$$` is
    a class of prices.

    Args:
        tex: what is there.
        sign: the first delimiter.
        is_group: the context shows that the parentheses are those of a regular expression.
    """
    display = sign in ("$$", "\\[")
    if not display and (is_group or _EXPRESSION.search(tex) is not None):
        return None
    if _SIGNS.search(tex) is None:
        is_text = _PLAIN.fullmatch(tex) if display else any(not word.isupper() for word in _WORD.findall(tex))
        if is_text:
            return None
    return _written(tex, display=display)


_CONFIGURATION = re.compile(r"inlineMath.{0,200}?(['\"])\$\1|\bleft['\"]?\s*:\s*(['\"])\$\2", re.DOTALL)


_ARXIV = "mathjaxToggle"  # in the address of the script that configures MathJax there


def may_use_dollars(text: str) -> bool:
    """Whether a text has what could be a formula between single dollar signs, which most prices are not."""
    return _BETWEEN_DOLLARS.search(text) is not None


def uses_dollars(tree: Tree) -> bool:
    """Whether single dollar signs are delimiters on a page: its scripts tell MathJax or KaTeX so, or it is arXiv's."""
    for script in tree.iter_elements("script"):
        address = script.attr("src")
        if address is not None:
            if _ARXIV in address:
                return True
            continue
        text = script.text
        if "$" in text and _CONFIGURATION.search(text) is not None:
            return True
    return False
