"""Presentation MathML to TeX, for formulas whose TeX is not on the page.

The TeX is what LaTeX with amsmath, MathJax and KaTeX have in common. Characters without a command here stay as they
are, since all three accept Unicode.

MathML on web pages is written by a dozen tools and broken in as many ways. An element that has too few or too many
children is read as a row, so that nothing is lost; one that is nested too deep to be a formula becomes its text.
"""

from __future__ import annotations

import unicodedata
from itertools import zip_longest
from typing import TYPE_CHECKING

from mainmatter.html.parse import Element, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_MAX_DEPTH = 50  # of elements: continued fractions take some four for each fraction

_COMMANDS = r"""
α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota κ kappa λ lambda μ mu
µ mu ν nu ξ xi π pi ϖ varpi ρ rho ϱ varrho σ sigma ς varsigma τ tau υ upsilon φ varphi ϕ phi χ chi ψ psi ω omega
Γ Gamma Δ Delta ∆ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega
± pm ∓ mp × times ÷ div ⋅ cdot · cdot ∗ ast ⋆ star ∘ circ ∙ bullet • bullet ⊕ oplus ⊖ ominus ⊗ otimes ⊘ oslash
⊙ odot ∧ wedge ∨ vee ∩ cap ∪ cup ⊓ sqcap ⊔ sqcup ∖ setminus ≀ wr † dagger ‡ ddagger ⋄ diamond △ triangle
≤ leq ≥ geq ⩽ leqslant ⩾ geqslant ≪ ll ≫ gg ≠ neq ≡ equiv ≈ approx ≅ cong ≃ simeq ∼ sim ∝ propto ≺ prec ≻ succ
⪯ preceq ⪰ succeq ⊂ subset ⊃ supset ⊆ subseteq ⊇ supseteq ⊊ subsetneq ∈ in ∉ notin ∋ ni ⊢ vdash ⊣ dashv ⊨ models
⊥ perp ∥ parallel ∣ mid ∤ nmid ≍ asymp ≐ doteq ≜ triangleq ⋈ bowtie
← leftarrow → to ↑ uparrow ↓ downarrow ↔ leftrightarrow ↕ updownarrow ⇐ Leftarrow ⇒ Rightarrow ⇔ Leftrightarrow
⟵ longleftarrow ⟶ longrightarrow ⟷ longleftrightarrow ⟸ Longleftarrow ⟹ Longrightarrow ⟺ iff ↦ mapsto ⟼ longmapsto
↪ hookrightarrow ↩ hookleftarrow ⇀ rightharpoonup ⇌ rightleftharpoons ↗ nearrow ↘ searrow ↝ leadsto
∑ sum ∏ prod ∐ coprod ∫ int ∬ iint ∭ iiint ∮ oint ⋂ bigcap ⋃ bigcup ⋀ bigwedge ⋁ bigvee ⨁ bigoplus ⨂ bigotimes
∞ infty ∂ partial ∇ nabla ∀ forall ∃ exists ∄ nexists ¬ neg ∅ emptyset ℵ aleph ℏ hbar ℓ ell ℘ wp ℜ Re ℑ Im
∠ angle ⊤ top √ surd ∴ therefore ∵ because □ square ◻ square ■ blacksquare ′ prime
… ldots ⋯ cdots ⋮ vdots ⋱ ddots ⌊ lfloor ⌋ rfloor ⌈ lceil ⌉ rceil ⟨ langle ⟩ rangle 〈 langle 〉 rangle
‖ Vert ∥ parallel
""".split()
_SYMBOLS = {char: f"\\{name}" for char, name in zip(_COMMANDS[::2], _COMMANDS[1::2], strict=True)} | {
    "−": "-",
    "‐": "-",
    "∶": ":",
    "″": r"\prime\prime",
    "‴": r"\prime\prime\prime",
    "ı": r"\imath",
    "ȷ": r"\jmath",
    "∕": "/",
    "\\": r"\backslash",
    "~": r"\sim",
    "^": r"\wedge",
    **{char: f"\\{char}" for char in "#$%&_{}"},
    # Function application, and what is multiplied, separated or added without a sign.
    **dict.fromkeys("\u2061\u2062\u2063\u2064", ""),
}
_IN_TEXT = str.maketrans(
    {char: f"\\{char}" for char in "#$%&_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\u00a0": " "}
)

_FUNCTIONS = frozenset(
    """
    arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf limsup ln log max min
    Pr sec sin sinh sup tan tanh
    """.split()
)
# These have what stands under and over them as a subscript and a superscript.
_TAKE_LIMITS = frozenset(
    f"\\{name}"
    for name in """
    sum prod coprod int iint iiint oint bigcap bigcup bigwedge bigvee bigoplus bigotimes
    det gcd inf lim liminf limsup max min Pr sup
    """.split()
)

_OPENING = frozenset(("(", "[", r"\{", r"\langle", r"\lfloor", r"\lceil"))
_CLOSING = frozenset((")", "]", r"\}", r"\rangle", r"\rfloor", r"\rceil"))
_BARS = frozenset(("|", r"\|", r"\mid", r"\Vert", r"\parallel"))
# What makes fences grow with it.
_TALL = (r"\frac", r"\genfrac", r"\begin", r"\sum", r"\prod", r"\int", r"\underset", r"\overset")

# For one letter, for several.
_OVER = {
    **dict.fromkeys("^ˆ\u0302", (r"\hat", r"\widehat")),
    **dict.fromkeys("~˜∼\u0303", (r"\tilde", r"\widetilde")),
    **dict.fromkeys("¯‾_-−―\u0304\u0305", (r"\bar", r"\overline")),
    **dict.fromkeys("→⃗⟶", (r"\vec", r"\overrightarrow")),
    **dict.fromkeys("←", (r"\overleftarrow", r"\overleftarrow")),
    **dict.fromkeys("↔", (r"\overleftrightarrow", r"\overleftrightarrow")),
    **dict.fromkeys(".˙\u0307", (r"\dot", r"\dot")),
    **dict.fromkeys("¨\u0308", (r"\ddot", r"\ddot")),
    **dict.fromkeys("ˇ\u030c", (r"\check", r"\check")),
    **dict.fromkeys("˘\u0306", (r"\breve", r"\breve")),
    **dict.fromkeys("´\u0301", (r"\acute", r"\acute")),
    **dict.fromkeys("`\u0300", (r"\grave", r"\grave")),
    **dict.fromkeys("˚\u030a", (r"\mathring", r"\mathring")),
    **dict.fromkeys("⏞︷", (r"\overbrace", r"\overbrace")),
}
_UNDER = {**dict.fromkeys("_¯‾-−―\u0332", r"\underline"), **dict.fromkeys("⏟︸", r"\underbrace")}

_STYLES = {
    "normal": r"\mathrm",
    "bold": r"\mathbf",
    "bold-italic": r"\boldsymbol",
    "double-struck": r"\mathbb",
    "script": r"\mathcal",
    "bold-script": r"\mathcal",
    "fraktur": r"\mathfrak",
    "bold-fraktur": r"\mathfrak",
    "sans-serif": r"\mathsf",
    "bold-sans-serif": r"\mathsf",
    "sans-serif-italic": r"\mathsf",
    "sans-serif-bold-italic": r"\mathsf",
    "monospace": r"\mathtt",
}
# How Unicode's names of letters in these styles begin, the longer ones first: MATHEMATICAL BOLD ITALIC SMALL X.
_NAMED_STYLES = {
    "BOLD ITALIC": r"\boldsymbol",
    "BOLD SCRIPT": r"\mathcal",
    "BOLD FRAKTUR": r"\mathfrak",
    "BOLD": r"\mathbf",
    "ITALIC": "",
    "SCRIPT": r"\mathcal",
    "FRAKTUR": r"\mathfrak",
    "BLACK-LETTER": r"\mathfrak",
    "DOUBLE-STRUCK": r"\mathbb",
    "SANS-SERIF": r"\mathsf",
    "MONOSPACE": r"\mathtt",
}
_ENCLOSED = {
    "box": r"\boxed",
    "roundedbox": r"\boxed",
    "updiagonalstrike": r"\cancel",
    "downdiagonalstrike": r"\bcancel",
    "top": r"\overline",
    "bottom": r"\underline",
    "radical": r"\sqrt",
}
_NOT_SHOWN = frozenset(("annotation", "annotation-xml", "script", "style"))


def to_tex(math: Element) -> str:
    """TeX for a `<math>` element: without delimiters, empty if it shows nothing. Time is linear in its size."""
    return _row(math, 0)


def escape_text(text: str) -> str:
    r"""A text as it can stand inside of `\text{...}`."""
    return text.translate(_IN_TEXT)


def _name(element: Element) -> str:
    """The tag without the prefix that it has where XHTML is served as HTML: `<mml:mi>`."""
    return element.tag.rpartition(":")[2]


def _elements(element: Element) -> list[Element]:
    return [child for child in element if isinstance(child, Element) and _name(child) not in _NOT_SHOWN]


def _convert(element: Element, depth: int) -> str:
    if depth > _MAX_DEPTH:
        return _symbols(element.text)
    name = _name(element)
    if name in _TOKENS:
        return _TOKENS[name](element)
    if name not in _SCHEMATA:
        return _row(element, depth)
    count, write = _SCHEMATA[name]
    children = _elements(element)
    if len(children) != count:
        return _row(element, depth)
    return write(element, *[_convert(child, depth + 1) for child in children])


# Rows


def _row(element: Element, depth: int) -> str:
    name = _name(element)
    if name in _LAYOUTS:
        return _LAYOUTS[name](element, depth)
    return _plain_row(element, depth)


def _plain_row(element: Element, depth: int) -> str:
    parts: list[str] = []
    for child in element:
        if isinstance(child, Text):
            tex = _symbols(child.data)
        elif not isinstance(child, Element) or _name(child) in _NOT_SHOWN:
            continue
        else:
            tex = _convert(child, depth + 1)
            if tex.startswith(r"\prime"):
                has_base = bool(parts) and parts[-1][-1:].isalnum() and "^" not in parts[-1]
                tex = f"^{{{tex}}}" if has_base else f"{{}}^{{{tex}}}"
        if tex:
            parts.append(tex)
    _grow_fences(parts)
    return _join(parts)


def _grow_fences(parts: list[str]) -> None:
    r"""Put `\left` and `\right` to the fences around what is tall; make cases and binomials of what looks like it."""
    tall_before = [0]  # how many of the parts before each are tall
    for part in parts:
        tall_before.append(tall_before[-1] + any(sign in part for sign in _TALL))
    if not tall_before[-1]:
        return
    opened: list[int] = []
    for i, part in enumerate(parts):
        if part in _OPENING:
            opened.append(i)
        elif part in _CLOSING and opened:
            start = opened.pop()
            if tall_before[i] == tall_before[start]:
                continue
            inner = parts[start + 1]
            if i == start + 2 and parts[start] + part == "()" and inner.startswith(_WITHOUT_LINE):
                parts[start : i + 1] = ["", r"\binom" + inner.removeprefix(_WITHOUT_LINE), ""]
            else:
                parts[start], parts[i] = rf"\left{parts[start]}", rf"\right{part}"
        elif part in _BARS and i > 1 and parts[i - 2] in _BARS and tall_before[i] > tall_before[i - 1]:
            bar = "|" if part in ("|", r"\mid") else r"\|"
            parts[i - 2], parts[i] = rf"\left{bar}", rf"\right{bar}"
    for start in opened:
        if parts[start] == r"\{" and start + 1 < len(parts) and parts[start + 1].startswith(_MATRIX[0]):
            body = parts[start + 1].removeprefix(_MATRIX[0]).removesuffix(_MATRIX[1])
            parts[start : start + 2] = ["", rf"\begin{{cases}}{body}\end{{cases}}"]


def _join(parts: Iterable[str], *, is_one_token: bool = False) -> str:
    """TeX of several pieces: no name of a command runs into the letter after it, no number into the next one."""
    joined: list[str] = []
    last = ""
    for part in parts:
        if not part:
            continue
        first = part[0]
        if last and (
            _ends_in_command(last) if first.isalpha() else not is_one_token and first.isdigit() and last[-1].isdigit()
        ):
            joined.append(" ")
        joined.append(part)
        last = part
    return "".join(joined)


def _ends_in_command(tex: str) -> bool:
    return tex[-1].isalpha() and tex[tex.rfind("\\") + 1 :].isalpha() and "\\" in tex


def _mfenced(element: Element, depth: int) -> str:
    opening, closing = element.attr("open", "(") or "", element.attr("close", ")") or ""
    separators = "".join((element.attr("separators", ",") or "").split())
    parts: list[str] = []
    for i, child in enumerate(_elements(element)):
        if i and separators:
            parts.append(_symbols(separators[min(i, len(separators)) - 1]))
        parts.append(_convert(child, depth + 1))
    inner = _join(parts)
    opening, closing = _symbols(opening), _symbols(closing)
    fences = _OPENING | _CLOSING | _BARS | {""}
    if opening in fences and closing in fences and any(sign in inner for sign in _TALL):
        return _join((rf"\left{opening or '.'}", inner, rf"\right{closing or '.'}"))
    return _join((opening, inner, closing))


def _mmultiscripts(element: Element, depth: int) -> str:
    children = _elements(element)
    before = next((i for i, child in enumerate(children) if _name(child) == "mprescripts"), len(children))
    texs = ["" if _name(child) in ("none", "mprescripts") else _convert(child, depth + 1) for child in children]
    if not texs:
        return ""

    def pairs(scripts: list[str]) -> Iterator[tuple[str, str]]:
        return zip_longest(scripts[::2], scripts[1::2], fillvalue="")

    first, *further = *pairs(texs[1:before]), ("", "")
    # Further pairs stand beside the base, with an empty one of their own.
    return _join(
        [
            *(_scripted("", *pair) for pair in pairs(texs[before + 1 :])),
            _scripted(texs[0], *first),
            *(_scripted("", *pair) for pair in further),
        ]
    )


_MATRIX = (r"\begin{matrix}", r"\end{matrix}")


def _mtable(element: Element, depth: int) -> str:
    rows: list[str] = []
    for row in _elements(element):
        cells = [
            _plain_row(cell, depth + 2) if _name(cell) == "mtd" else _convert(cell, depth + 2)
            for cell in _elements(row)
        ]
        if _name(row) == "mlabeledtr" and len(cells) > 1:
            label = cells.pop(0)
            cells[-1] = _join((cells[-1], r"\qquad", label))
        tex = " & ".join(cells)
        # After the end of a row TeX takes these for its arguments.
        rows.append(f"{{}}{tex}" if tex.startswith(("[", "*")) else tex)
    begin, end = _MATRIX
    if (element.attr("columnalign") or "").split()[:2] == ["right", "left"]:
        begin, end = r"\begin{aligned}", r"\end{aligned}"
    return begin + r" \\ ".join(rows) + end if any(rows) else ""


def _semantics(element: Element, depth: int) -> str:
    return next((_convert(child, depth + 1) for child in _elements(element)), "")


def _maction(element: Element, depth: int) -> str:
    return _semantics(element, depth)  # the first of the forms that the reader may choose from


def _mstyle(element: Element, depth: int) -> str:
    style = element.attr("mathvariant") or "normal"
    inner = _plain_row(element, depth)
    return f"{_STYLES[style]}{{{inner}}}" if inner and style != "normal" and style in _STYLES else inner


def _menclose(element: Element, depth: int) -> str:
    inner = _plain_row(element, depth)
    for notation in (element.attr("notation") or "").split() if inner else ():
        if notation in _ENCLOSED:
            return f"{_ENCLOSED[notation]}{{{inner}}}"
    return inner


def _mspace(element: Element, depth: int) -> str:
    width = (element.attr("width") or "").strip()
    try:
        size = float(width.removesuffix("em")) if width.endswith("em") else 0.0
    except ValueError:
        size = 0.0
    space = r"\qquad" if size >= 2 else r"\quad" if size >= 1 else r"\;" if size > 0.2 else ""
    # Where XHTML is served as HTML, `<mml:mspace/>` holds whatever comes after it.
    return _join((space, _plain_row(element, depth)))


def _within(command: str) -> Callable[[Element, int], str]:
    def write(element: Element, depth: int) -> str:
        inner = _plain_row(element, depth)
        return f"{command}{{{inner}}}" if inner else ""

    return write


_LAYOUTS: dict[str, Callable[[Element, int], str]] = {
    "maction": _maction,
    "menclose": _menclose,
    "mfenced": _mfenced,
    "mmultiscripts": _mmultiscripts,
    "mphantom": _within(r"\phantom"),
    "mspace": _mspace,
    "msqrt": _within(r"\sqrt"),
    "mstyle": _mstyle,
    "mtable": _mtable,
    "semantics": _semantics,
}


# Fractions, roots, scripts


def _is_atom(tex: str) -> bool:
    """Whether a script or an accent can be put to a piece of TeX without braces."""
    return len(tex) == 1 or (tex[0] == "\\" and tex[1:].isalpha())


def _base(tex: str) -> str:
    if not tex:
        return "{}"
    # A script goes to the last token anyway. A letter in a style of its own holds no braces.
    if _is_atom(tex) or tex.endswith((")", "]")) or (tex[0] == "\\" and tex[-1] == "}" and tex.count("{") == 1):
        return tex
    return f"{{{tex}}}"


def _scripted(base: str, sub: str, sup: str) -> str:
    tex = _base(base)
    for sign, script in (("_", sub), ("^", sup)):
        if script:
            tex += f"{sign}{script}" if len(script) == 1 else f"{sign}{{{script}}}"
    return tex if sub or sup else base


_WITH_LINE = r"\frac"
_WITHOUT_LINE = r"\genfrac{}{}{0pt}{}"


def _mfrac(element: Element, above: str, below: str) -> str:
    if element.attr("bevelled") == "true":
        return f"{_base(above)}/{_base(below)}"
    thickness = (element.attr("linethickness") or "").strip()
    is_without = thickness[:1] == "0" and not thickness.strip("0.pxtem%")
    return rf"{_WITHOUT_LINE if is_without else _WITH_LINE}{{{above}}}{{{below}}}"


def _mroot(_: Element, base: str, index: str) -> str:
    index = f"{{{index}}}" if "]" in index else index
    return rf"\sqrt[{index}]{{{base}}}"


def _sign(element: Element, place: int) -> str:
    """The text of what stands under or over an element's base, if it is one sign."""
    text = _elements(element)[place].text.strip()
    return text if len(text) == 1 else ""


def _over(element: Element, base: str, over: str, place: int = 1) -> str:
    if not over:
        return base
    if base in _TAKE_LIMITS or base.startswith(r"\overbrace{"):
        return _scripted(base, "", over)
    if base == r"\to":
        return rf"\xrightarrow{{{over}}}"
    accents = _OVER.get(_sign(element, place))
    return f"{accents[not _is_atom(base)]}{{{base}}}" if accents and base else rf"\overset{{{over}}}{{{base}}}"


def _under(element: Element, base: str, under: str) -> str:
    if not under:
        return base
    if base in _TAKE_LIMITS or base.startswith(r"\underbrace{"):
        return _scripted(base, under, "")
    line = _UNDER.get(_sign(element, 1))
    return f"{line}{{{base}}}" if line and base else rf"\underset{{{under}}}{{{base}}}"


def _munderover(element: Element, base: str, under: str, over: str) -> str:
    if base in _TAKE_LIMITS:
        return _scripted(base, under, over)
    return _under(element, _over(element, base, over, 2), under)


# How many children an element has, and what is made of them.
_SCHEMATA: dict[str, tuple[int, Callable[..., str]]] = {
    "mfrac": (2, _mfrac),
    "mover": (2, _over),
    "mroot": (2, _mroot),
    "msub": (2, lambda _, base, sub: _scripted(base, sub, "")),
    "msubsup": (3, lambda _, base, sub, sup: _scripted(base, sub, sup)),
    "msup": (2, lambda _, base, sup: _scripted(base, "", sup)),
    "munder": (2, _under),
    "munderover": (3, _munderover),
}


# Tokens


def _symbols(text: str) -> str:
    return _join(map(_symbol, text.strip()), is_one_token=True)


def _symbol(char: str) -> str:
    tex = _SYMBOLS.get(char)
    if tex is not None:
        return tex
    if char.isascii() or not char.isalnum() or (plain := unicodedata.normalize("NFKC", char)) == char:
        return " " if char.isspace() else char
    kind = unicodedata.name(char, "").removeprefix("MATHEMATICAL ")
    tex = "".join(_SYMBOLS.get(letter, letter) for letter in plain)
    for words, command in _NAMED_STYLES.items():
        if kind.startswith(words):
            return f"{command}{{{tex}}}" if command else tex
    return char


def _mi(element: Element) -> str:
    text = " ".join(element.text.split())
    style = (element.attr("mathvariant") or "").strip()
    if text.replace(" ", "") in _FUNCTIONS and style in ("", "normal"):
        return "\\" + text.replace(" ", "")
    tex = _symbols(text)
    if len(text) > 1 and not style:
        style = "normal" if text.replace(" ", "").isalpha() else ""
    if style == "normal" and not (text.isascii() and text[:1].isalpha()):
        style = ""  # other letters have no upright form
    return f"{_STYLES[style]}{{{tex}}}" if tex and style in _STYLES else tex


def _mo(element: Element) -> str:
    text = " ".join(element.text.split())
    name = text.replace(" ", "")
    if name in _FUNCTIONS:
        return f"\\{name}"
    if len(name) > 1 and name.isascii() and name.isalpha():
        return rf"\operatorname{{{name}}}"
    return r"\|" if name == "||" else _symbols(text)


def _mn(element: Element) -> str:
    tex = _symbols(element.text)
    style = (element.attr("mathvariant") or "").strip()
    return f"{_STYLES[style]}{{{tex}}}" if tex and style != "normal" and style in _STYLES else tex


def _mtext(element: Element) -> str:
    text = element.text.translate(_IN_TEXT)
    if not text.strip():
        return r"\;" if text else ""
    return rf"\text{{{text}}}"


_TOKENS: dict[str, Callable[[Element], str]] = {
    "mi": _mi,
    "mn": _mn,
    "mo": _mo,
    "ms": lambda element: rf'\text{{"{escape_text(element.text)}"}}',
    "mtext": _mtext,
    "mglyph": lambda element: rf"\text{{{escape_text(alt)}}}" if (alt := element.attr("alt")) else "",
}
