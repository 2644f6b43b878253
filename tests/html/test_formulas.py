"""html/formulas.py and html/mathml.py: the markup of tools that set formulas, TeX in running text, hostile input."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainmatter.html.formulas import (
    FORMULA_TAGS,
    NOTHING,
    Formula,
    may_use_dollars,
    read_formula,
    split_formulas,
    uses_dollars,
)
from mainmatter.html.mathml import to_tex
from mainmatter.html.parse import Element, parse
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable


def formulas(html: str) -> list[Formula]:
    """The formulas of a page, read as render/build.py reads them: from the outside, nothing inside of one."""
    found: list[Formula] = []
    nodes = list(parse(html))[::-1]
    while nodes:
        node = nodes.pop()
        if isinstance(node, Element):
            formula = read_formula(node) if node.tag in FORMULA_TAGS else None
            if formula is None:
                nodes += list(node)[::-1]
            elif formula != NOTHING:
                found.append(formula)
    return found


def inline(*texs: str) -> list[Formula]:
    return [Formula(tex, display=False) for tex in texs]


def display(*texs: str) -> list[Formula]:
    return [Formula(tex, display=True) for tex in texs]


# Markup of tools

MATHML = "<mrow><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></mrow>"
ANNOTATED = f'<semantics>{MATHML}<annotation encoding="application/x-tex">E = mc^2</annotation></semantics>'
KATEX = (
    f'<span class="katex"><span class="katex-mathml"><math xmlns="http://www.w3.org/1998/Math/MathML">{ANNOTATED}</math>'
    '</span><span class="katex-html" aria-hidden="true"><span class="base"><span class="mord mathnormal">E</span>'
    '<span class="mrel">=</span><span class="mord">m</span></span></span></span>'
)


def test_katex() -> None:
    assert formulas(f"<p>So {KATEX} holds.") == inline("E = mc^2")
    assert formulas(f'<span class="katex-display">{KATEX}</span>') == display("E = mc^2")
    assert formulas(r'<span class="katex-error" title="ParseError">\frac{a</span>') == inline(r"\frac{a")
    # Without MathML there is no formula to be had: the text is read.
    assert formulas('<span class="katex"><span class="katex-html"><span class="mord">x</span></span></span>') == []


def test_mathjax_2_before_and_after_its_scripts_have_run() -> None:
    preview = '<span class="MathJax_Preview">x^2</span>'
    script = '<script type="math/tex" id="MathJax-Element-1">x^2</script>'
    shown = (
        '<span class="MathJax" id="MathJax-Element-1-Frame"><nobr aria-hidden="true"><span class="mi">x</span>2</nobr>'
        '<span class="MJX_Assistive_MathML"><math><msup><mi>x</mi><mn>2</mn></msup></math></span></span>'
    )
    assert formulas(f"<p>{preview}{script}") == inline("x^2")
    assert formulas(f"<p>{preview}{shown}\n{script} and more") == inline("x^2")
    assert formulas(f"<p>{shown}") == inline("x^2")
    assert formulas(f"<p>{shown} and {script}") == inline("x^2", "x^2")  # two of them
    block = f'<div class="MathJax_Display">{shown}</div>'
    assert formulas(block) == display("x^2")
    assert formulas(f'{block}<script type="math/tex; mode=display">\n\\int x\n</script>') == display(r"\int x")
    assert formulas('<script type="math/mml"><math><mi>y</mi></math></script>') == inline("y")
    assert formulas("<script>x = 2</script><script type='text/javascript'>y</script>") == []
    in_attribute = (
        '<span class="MathJax_SVG" data-mathml="&lt;math&gt;&lt;mi&gt;y&lt;/mi&gt;&lt;/math&gt;"><svg></svg></span>'
    )
    assert formulas(in_attribute) == inline("y")
    assert formulas(f'<div class="MathJax_SVG_Display">{in_attribute}</div>') == inline("y")


def test_kramdown_hides_the_tex_from_xml_in_comments() -> None:
    assert formulas('<script type="math/tex; mode=display">% <![CDATA[\na < b %]]></script>') == display("a < b")


def test_mathjax_3_and_4() -> None:
    assistive = (
        '<mjx-assistive-mml unselectable="on"><math><msup><mi>x</mi><mn>2</mn></msup></math></mjx-assistive-mml>'
    )
    shown = (
        '<mjx-math class="MJX-TEX" aria-hidden="true"><mjx-mi><mjx-c class="mjx-c1D465"></mjx-c></mjx-mi></mjx-math>'
    )
    container = '<mjx-container class="MathJax" jax="CHTML"{}>{}{}</mjx-container>'
    assert formulas(container.format("", shown, assistive)) == inline("x^2")
    assert formulas(container.format(' display="true"', shown, assistive)) == display("x^2")
    assert formulas(container.format("", shown, "")) == []
    with_tex = shown.replace("<mjx-math", '<mjx-math data-latex="x^{2}"').replace("<mjx-mi", '<mjx-mi data-latex="x"')
    assert formulas(container.format("", with_tex, assistive)) == inline("x^{2}")
    assert formulas(container.format("", shown.replace("<mjx-mi", '<mjx-mi data-latex="x"'), assistive)) == inline(
        "x^2"
    )
    svg = '<svg><g stroke="black"><g data-mml-node="math" data-latex="y"><g data-mml-node="mi" data-latex="z">'
    assert formulas(f'<mjx-container class="MathJax" jax="SVG" display="true">{svg}') == display("y")


def test_latexml() -> None:
    math = '<math id="m1" class="ltx_Math" alttext="{}" display="{}"><semantics><mi>q</mi></semantics></math>'
    assert formulas(math.format("x_{1}", "inline")) == inline("x_{1}")
    pad = '<td class="ltx_eqn_cell ltx_eqn_center_padleft"></td>'
    number = '<td class="ltx_eqn_cell ltx_eqn_eqno"><span class="ltx_tag">(7)</span></td>'
    cell = '<td class="ltx_eqn_cell ltx_align_center">{}</td>'
    equation = (
        '<table class="ltx_equation ltx_eqn_table"><tbody><tr class="ltx_equation ltx_eqn_row">'
        f"{pad}{cell.format(math.format('a=%&#10;b.', 'block'))}{pad.replace('left', 'right')}{number}"
        "</tr></tbody></table>"
    )
    assert formulas(equation) == display(r"a= b. \tag{7}")
    assert formulas(equation.replace(number, "")) == display("a= b.")
    words = equation.replace("</math>", "</math>where b is small")
    assert formulas(words) == display("a= b.")  # the table is no formula as a whole, the cell holds one


def test_groups_of_equations_by_latexml() -> None:
    def row(*texs: str, number: str = "") -> str:
        cells = "".join(
            f'<td class="ltx_td ltx_align_right ltx_eqn_cell"><math class="ltx_Math" alttext="{tex}"></math></td>'
            if tex
            else '<td class="ltx_td ltx_align_right ltx_eqn_cell"></td>'
            for tex in texs
        )
        eqno = f'<td class="ltx_eqn_cell ltx_eqn_eqno"><span class="ltx_tag">({number})</span></td>' if number else ""
        return f'<tbody><tr class="ltx_equation ltx_eqn_row">{cells}{eqno}</tr></tbody>'

    table = '<table class="ltx_equationgroup {} ltx_eqn_table">{}</table>'
    rows = row(r"\displaystyle a", r"\displaystyle=b") + row("", r"\displaystyle=c")
    assert formulas(table.format("ltx_eqn_align", rows)) == display(r"\begin{aligned} a & =b \\ & =c \end{aligned}")
    numbered = row("a", "=b", number="1") + row("c", "=d", number="2a")
    assert formulas(table.format("ltx_eqn_align", numbered)) == display(
        r"\begin{align*} a & =b \tag{1} \\ c & =d \tag{2a} \end{align*}"
    )
    three = row("a", "=", "b") + row("c", "=", "d")
    assert formulas(table.format("ltx_eqn_eqnarray", three)) == display(
        r"\begin{aligned} a & = b \\ c & = d \end{aligned}"
    )
    assert formulas(table.format("", row("a", number="1" * 21))) == inline("a")
    assert formulas('<table class="ltx_equationgroup"><tr><td></td></tr></table>') == []


def test_mediawiki() -> None:
    image = '<img src="x.svg" class="mwe-math-fallback-image-inline" aria-hidden="true" alt="{\\displaystyle a^{2}}">'
    mathml = (
        '<span class="mwe-math-mathml-inline mwe-math-mathml-a11y" style="display: none;">'
        '<math alttext="{\\displaystyle a^{2}}">'
        '<semantics><mi>a</mi><annotation encoding="application/x-tex">{\\displaystyle a^{2}}</annotation>'
    )
    assert formulas(f'<span class="mwe-math-element">{mathml}</semantics></math></span>{image}</span>') == inline(
        "a^{2}"
    )
    assert formulas(f'<span class="mwe-math-element">{image}</span>') == inline("a^{2}")
    assert formulas(image) == inline("a^{2}")
    block = '<div class="mwe-math-element mwe-math-element-block"><div><math alttext="{\\displaystyle b}"></math></div>'
    assert formulas(f"{block}</div>") == display("b")
    # These braces are two groups.
    assert formulas('<math alttext="{\\displaystyle a}{b}"></math>') == inline(r"{\displaystyle a}{b}")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (r'<img src="https://s0.wp.com/latex.php?latex=x%5E2&bg=fff" alt="x^2" class="latex">', inline("x^2")),
        (r'<img src="https://latex.example/latex.php?bg=fff&latex=%5Cpi+r%5E2" alt="">', inline(r"\pi r^2")),
        (r'<img src="https://latex.codecogs.com/svg.image?\dpi{300}\inline a&plus;b&space;c">', inline("a+b c")),
        (r'<img src="https://charts.example/chart?cht=tx&chl=%5Calpha">', inline(r"\alpha")),
        (r'<img src="https://charts.example/chart?cht=p&chl=Tea|Coffee">', []),
        (r'<img class="tex" alt="\sqrt{2}" src=x>', inline(r"\sqrt{2}")),
        (r'<img class="latex" alt="$a$" src=x>', inline("a")),
        (r'<img class="latexcenter" alt="\[a\]" src=x>', display("a")),
        (r'<img class="latex" alt="[asy]draw((0,0)--(1,1));[/asy]" src=x>', []),
        (r'<img class="ql-img-displayed-equation" alt="\[x=1\]" src=x>', display("x=1")),
        (r'<img alt="$x_1$" src="img7.gif">', inline("x_1")),  # LaTeX2HTML
        (r'<img alt="\begin{displaymath}x\end{displaymath}" src="img8.gif">', display("x")),
        (r'<img alt="A harbour" src=x>', []),
        (r'<img alt="$5 off" src=x>', []),
        (r'<img class="latex" alt="" src=x>', []),
        (r'<img src="/latex.php?latex=x' + "y" * 4000 + '">', []),
        (r'<span class="math-container">$n$</span>', inline("n")),
        (r'<span class="math-container">$$n$$</span>', display("n")),
        (r'<span class="math inline">f(x)</span>', inline("f(x)")),  # pandoc
        (r'<span class="math display">f(x)</span>', display("f(x)")),
        (r'<span class="math inline"><em>x</em></span>', []),
        (r'<span class="math notranslate nohighlight">\(abc\)</span>', inline("abc")),  # Sphinx
        (r'<span class="katex-eq" data-katex-display="false">x</span>', inline("x")),  # KaTeX for WordPress
        (r'<span class="katex-eq" data-katex-display="true">x</span>', display("x")),
        (r'<span class="mathjax-tex">\(abc\)</span>', inline("abc")),  # Springer
        (r'<img class="mathcode" alt="\pi" src=x>', inline(r"\pi")),
        (r'<span class="math">Mathematics</span>', []),
        (r'<math-renderer class="js-inline-math">$x$</math-renderer>', inline("x")),  # GitHub
        (r'<math alttext="x squared"><msup><mi>x</mi><mn>2</mn></msup></math>', inline("x^2")),
        (r"<math display=block><mi>x</mi></math>", display("x")),
        (r"<math mode=display><mi>x</mi></math>", display("x")),
        (
            r"<math><semantics><mi>x</mi><annotation encoding='text/html'>no</annotation></semantics></math>",
            inline("x"),
        ),
        (r"<math></math>", []),
        (r"<mml:math><mml:mi>x</mml:mi><mml:mspace/><mml:mn>2</mml:mn></mml:math>", inline("x2")),
        (r"<div class=box><span>x</span></div>", []),
    ],
)
def test_other_tools(html: str, expected: list[Formula]) -> None:
    assert formulas(html) == expected


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        ("a\n  b\t c", "a b c"),
        ("a % why\nb", "a b"),
        (r"50\% % why", r"50\%"),
        (r"\alpha%", r"\alpha"),
        (r"x \label{eq:1} y", "x y"),
        (r"\displaystyle x", "x"),
        (r"\displaystyleful x", r"\displaystyleful x"),
        (r"$$\displaystyle{x}$$", "{x}"),
        (r"\begin{equation}x\end{equation}", "x"),
        (r"\begin{align}x\end{align}", r"\begin{align}x\end{align}"),
        (r"x\ ", "x"),
        ("x\\", "x"),
        ("a\u200bb\u0001c", "abc"),
        (r"x \text{ if $y$ or $z$}", r"x \text{ if \(y\) or \(z\)}"),
        (r"\text{\(y\)}", r"\text{\(y\)}"),
        (r"\$5", r"\$5"),
    ],
)
def test_what_is_written(tex: str, expected: str) -> None:
    [formula] = formulas(f"<script type='math/tex'>{tex}</script>")
    assert formula.tex == expected


@pytest.mark.parametrize("tex", ["", "  ", "%", "$$", "a$b", "$a$ and $b$", r"\(a\) and \(b\)", r"\text{a $b}", "\\"])
def test_what_cannot_be_written(tex: str) -> None:
    assert formulas(f"<script type='math/tex'>{tex}</script>") == []


# MathML

X, Y, A, B = "<mi>x</mi>", "<mi>y</mi>", "<mi>a</mi>", "<mi>b</mi>"
FRACTION = f"<mfrac>{A}{B}</mfrac>"


@pytest.mark.parametrize(
    ("mathml", "tex"),
    [
        ("<mi>α</mi><mi>x</mi>", r"\alpha x"),
        ("<mi>sin</mi><mo>&#x2061;</mo><mi>θ</mi>", r"\sin\theta"),
        ("<mi>lim sup</mi>", r"\limsup"),
        ("<mi>dx</mi>", r"\mathrm{dx}"),
        ("<mi mathvariant=normal>d</mi><mi mathvariant=normal>π</mi>", r"\mathrm{d}\pi"),
        ("<mi mathvariant=bold>v</mi><mi mathvariant=double-struck>R</mi>", r"\mathbf{v}\mathbb{R}"),
        ("<mi>𝑥</mi><mi>ℝ</mi><mi>𝐯</mi><mi>ℒ</mi><mi>𝔤</mi>", r"x\mathbb{R}\mathbf{v}\mathcal{L}\mathfrak{g}"),
        ("<mi>ж</mi><mi>é</mi>", "жé"),
        ("<mn>3.14</mn><mn>2</mn><mn mathvariant=bold>1</mn>", r"3.14 2\mathbf{1}"),
        ("<mo>−</mo><mo>≤</mo><mo>{</mo><mo>%</mo><mo>||</mo>", r"-\leq\{\%\|"),
        ("<mo>max</mo><mo>argmax</mo>", r"\max\operatorname{argmax}"),
        ("<mtext>if $5_&nbsp;</mtext>", r"\text{if \$5\_ }"),
        ("<mtext>&nbsp;</mtext><mtext></mtext>", r"\;"),
        ("<ms>a</ms>", r'\text{"a"}'),
        (f"{A}<mspace width=1em />{B}<mspace width=2em /><mspace width=.3em /><mspace width=x /><mi>c</mi>",
         r"a\quad b\qquad\;c"),
        (f"<msup>{X}<mn>2</mn></msup><msub>{X}<mi>ij</mi></msub>", r"x^2x_{\mathrm{ij}}"),
        (f"<msubsup>{X}<mn>1</mn><mn>2</mn></msubsup>", "x_1^2"),
        (f"<msup><msup>{X}<mn>2</mn></msup><mn>3</mn></msup>", "{x^2}^3"),
        (f"<msup><mrow><mo>(</mo>{X}<mo>)</mo></mrow><mn>2</mn></msup>", "(x)^2"),
        ("<msup><mi></mi><mn>2</mn></msup>", "{}^2"),
        (f"<msup>{X}<mo>′</mo></msup>{Y}<mo>′</mo><mo>″</mo>", r"x^{\prime}y^{\prime}{}^{\prime\prime}"),
        (FRACTION, r"\frac{a}{b}"),
        (f"<mfrac bevelled=true>{A}<mrow>{A}<mo>+</mo>{B}</mrow></mfrac>", "a/{a+b}"),
        (f"<mo>(</mo><mfrac linethickness=0pt>{A}{B}</mfrac><mo>)</mo>", r"\binom{a}{b}"),
        (f"<mfrac linethickness=0.5pt>{A}{B}</mfrac>", r"\frac{a}{b}"),
        (f"<mo>[</mo><mfrac linethickness=0>{A}{B}</mfrac><mo>]</mo>", r"\left[\genfrac{}{}{0pt}{}{a}{b}\right]"),
        (f"<msqrt>{X}<mo>+</mo>{Y}</msqrt><mroot>{X}<mn>3</mn></mroot><mroot>{X}<mo>]</mo></mroot>",
         r"\sqrt{x+y}\sqrt[3]{x}\sqrt[{]}]{x}"),
        (f"<munderover><mo>∑</mo><mrow>{X}<mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>{X}", r"\sum_{x=1}^nx"),
        (f"<munder><mi>lim</mi><mrow>{X}<mo>→</mo><mn>0</mn></mrow></munder>", r"\lim_{x\to0}"),
        (f"<mover>{X}<mo>¯</mo></mover><mover><mrow>{A}{B}</mrow><mo>¯</mo></mover>", r"\bar{x}\overline{ab}"),
        (f"<mover accent=true>{X}<mo>^</mo></mover><mover>{X}<mo>→</mo></mover>", r"\hat{x}\vec{x}"),
        ("<mover><mo>=</mo><mtext>def</mtext></mover>", r"\overset{\text{def}}{=}"),
        (f"<mover><mo>→</mo>{A}</mover>", r"\xrightarrow{a}"),
        (f"<munder>{X}<mo>_</mo></munder><munder>{X}{Y}</munder>", r"\underline{x}\underset{y}{x}"),
        (f"<munder><munder><mrow>{A}{B}</mrow><mo>⏟</mo></munder><mn>2</mn></munder>", r"\underbrace{ab}_2"),
        (f"<munderover>{X}{A}{B}</munderover>", r"\underset{a}{\overset{b}{x}}"),
        (f"<mo>(</mo>{FRACTION}<mo>)</mo><mo>(</mo>{X}<mo>)</mo>", r"\left(\frac{a}{b}\right)(x)"),
        (f"<mo>(</mo>{FRACTION}", r"(\frac{a}{b}"),
        (f"<mrow><mo>(</mo></mrow><mfrac linethickness=0>{A}{B}</mfrac><mrow><mo>)</mo></mrow>", r"\binom{a}{b}"),
        (f"<mo>|</mo>{FRACTION}<mo>|</mo>{A}<mo>|</mo><mo>‖</mo>{FRACTION}<mo>‖</mo>",
         r"\left|\frac{a}{b}\right|a|\left\|\frac{a}{b}\right\|"),
        (f"<mfenced>{X}{Y}</mfenced><mfenced open='|' close='|' separators=''>{FRACTION}</mfenced>",
         r"(x,y)\left|\frac{a}{b}\right|"),
        (f"<mfenced open='' close=']'>{FRACTION}{X}{Y}</mfenced>", r"\left.\frac{a}{b},x,y\right]"),
        (f"<mfenced separators=';,'>{A}{B}{X}{Y}</mfenced>", "(a;b,x,y)"),
        (f"<mtable><mtr><mtd>{A}</mtd><mtd>{B}</mtd></mtr><mtr><mtd><mo>[</mo></mtd></mtr></mtable>",
         r"\begin{matrix}a & b \\ {}[\end{matrix}"),
        (f"<mtable columnalign='right left'><mtr><mtd>{A}</mtd><mtd><mo>=</mo>{B}</mtd></mtr></mtable>",
         r"\begin{aligned}a & =b\end{aligned}"),
        (f"<mtable><mlabeledtr><mtd><mtext>(1)</mtext></mtd><mtd>{A}</mtd></mlabeledtr></mtable>",
         r"\begin{matrix}a\qquad\text{(1)}\end{matrix}"),
        (f"<mo>{{</mo><mtable><mtr><mtd>{A}</mtd></mtr><mtr><mtd>{B}</mtd></mtr></mtable>",
         r"\begin{cases}a \\ b\end{cases}"),
        ("<mtable><mtr></mtr></mtable>", ""),
        (f"<menclose notation='circle box'>{X}</menclose><menclose notation=circle>{Y}</menclose>", r"\boxed{x}y"),
        (f"<mstyle mathvariant=bold>{X}</mstyle><mstyle displaystyle=true>{Y}</mstyle>", r"\mathbf{x}y"),
        (f"<mpadded>{X}</mpadded><mphantom>{Y}</mphantom><mphantom></mphantom>", r"x\phantom{y}"),
        (f"<maction>{X}{Y}</maction>", "x"),
        (f"<mmultiscripts>{X}<mn>1</mn><mn>2</mn><mprescripts/><mn>3</mn><none/></mmultiscripts>", "{}_3x_1^2"),
        (f"<mmultiscripts>{X}<mn>1</mn><mn>2</mn><mn>3</mn></mmultiscripts>", "x_1^2{}_3"),
        (f"<mmultiscripts>{X}</mmultiscripts><mmultiscripts></mmultiscripts>", "x"),
        (f"<semantics>{X}<annotation-xml>{Y}</annotation-xml></semantics>", "x"),
        # What is broken loses nothing.
        (f"<msup>{A}{B}{X}</msup><mfrac>{Y}</mfrac>", "abxy"),
        (f"a &lt; {B}", "a <b"),
        ("<apply><plus/><ci>a</ci></apply>", "a"),
    ],
)  # fmt: skip
def test_mathml(mathml: str, tex: str) -> None:
    assert to_tex(next(parse(f"<math>{mathml}</math>").iter_elements("math"))) == tex


def test_how_far_is_looked() -> None:
    """What bounds the time of a formula, and of those inside of each other."""
    math = f"<math>{X}</math>"
    near = "<span class=katex>" + "<b></b>" * 11 + math
    assert formulas(near) == inline("x")
    assert formulas(near.replace("<b></b>", "<b></b>" * 2, 1).replace(math, f"<i>{math}</i>")) == inline("x")
    assert formulas(f"<span class=mwe-math-element>{'<b></b>' * 12}<img alt=x src=y></span>") == []
    assert formulas(f"<span class=mwe-math-element>{'<b></b>' * 11}<img class=tex alt=x src=y></span>") == inline("x")
    shown = "<span class=MathJax data-mathml='<math><mi>y</mi></math>'></span>"
    script = "<script type=math/tex>x</script>"
    assert formulas(shown + " <!-- -->" * 2 + " " + script) == inline("x")
    assert formulas(shown + " <!-- -->" * 3 + " " + script) == inline("y", "x")
    last = "<div class=MathJax_Display>{}</div>"
    assert formulas(last.format("<b>" * 3 + math)) == display("x")
    assert formulas(last.format("<b>" * 4 + math)) == inline("x")  # the element inside, by itself
    assert formulas(r"<script type=math/tex>\({\displaystyle {\displaystyle \[x\]}}\)</script>") == display("x")
    assert formulas("<script type=math/tex>$$ $$ $$ $$ x $$ $$ $$ $$</script>") == []
    address = "/latex.php?latex="
    assert formulas(f"<img src='{address}{'x' * (4000 - len(address))}'>") != []
    assert formulas(f"<img src='{address}{'x' * (4001 - len(address))}'>") == []
    number = (
        '<table class="ltx_equation"><tr><td><math class=ltx_Math alttext=a></math><td class=ltx_eqn_eqno>{}</table>'
    )
    assert formulas(number.format("1" * 20)) == display(rf"a \tag{{{'1' * 20}}}")
    assert formulas(number.format("1" * 21)) == inline("a")


def test_how_deep_mathml_is_read() -> None:
    def converted(depth: int) -> str:
        return to_tex(next(parse(f"<math>{'<mrow>' * depth}<msup>{X}{Y}</msup>").iter_elements("math")))

    assert converted(49) == "x^y"
    assert converted(50) == "xy"  # its text


# TeX in the text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"Let \(n\) be even.", ["Let ", *inline("n"), " be even."]),
        (r"\(a\)\[b=1\]$$c_2$$", [*inline("a"), *display("b=1", "c_2")]),
        (r"So \begin{equation*} a \label{x} \end{equation*}", ["So ", *display("a")]),
        (r"\begin{align}a&=b\\c\end{align}.", [*display(r"\begin{align}a&=b\\c\end{align}"), "."]),
        (r"\begin{pmatrix}a\end{pmatrix}", inline(r"\begin{pmatrix}a\end{pmatrix}")),
        (r"\(\begin{pmatrix}a\end{pmatrix}\)", inline(r"\begin{pmatrix}a\end{pmatrix}")),
        (r"the triangle \(ABC\)", ["the triangle ", *inline("ABC")]),
        (r"\(a and \(b\)", [r"\(a and ", *inline("b")]),
        (r"\(a\\) b\)", inline(r"a\\) b")),
        (r"\[a\] or $$ c $$", [*display("a"), " or ", *display("c")]),
        (
            r"\(\|x\|\), \(p \| q\), \(P(A\|B)\)",
            [*inline(r"\|x\|"), ", ", *inline(r"p \| q"), ", ", *inline(r"P(A\|B)")],
        ),
        (r"\(\S\), \(x\\1\), \(\d x\)", [*inline(r"\S"), ", ", *inline(r"x\\1"), ", ", *inline(r"\d x")]),
    ],
)
def test_tex_in_a_text(text: str, expected: list[str | Formula]) -> None:
    assert split_formulas(text) == expected


@pytest.mark.parametrize("dollars", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "no formula",
        "",
        "$5 and $10",
        "$5/$10",
        "Price: $$ Food: Thai Price: $$",
        "from $$ to $$$",
        "$$ – $$",
        r"\[1\] and \(see there\), \(siehe\)",
        r"\[ab\] and \[a 1\]",
        r'grep "\(a\|b\)" and \(a\|b\|c[de]\)',
        r"\(a\.b\), \(\w+\), \(\d{3}\), \(\<a\)",
        r"\(a\)\|\(b\)\{2\}",
        r"s/\(a\)b\(c\)/\2\1/",
        r"\(\) \[ \] $$$$",
        r"\(a = 1",
        r"a = 1\)",
        r"\\(a = 1\\)",
        r"\begin{align}a",
        r"\begin{document}a\end{document}",
        r"C:\temp\[a",
        r"\$a=1\$",
    ],
)
def test_texts_without_formulas(text: str, dollars: bool) -> None:
    assert split_formulas(text, dollars=dollars) == [text]


def test_dollars_where_the_page_uses_them() -> None:
    def split(text: str) -> list[str | Formula]:
        return split_formulas(text, dollars=True)

    assert split_formulas("Let $n=1$ be.") == ["Let $n=1$ be."]
    assert split("Let $n$ be.") == ["Let ", *inline("n"), " be."]
    assert split(r"$a$, $b\$$ and $$c=1$$") == [*inline("a"), ", ", *inline(r"b\$"), " and ", *display("c=1")]
    assert split("It is $5 and costs 5$ more.") == ["It is $5 and costs 5$ more."]


def test_pages_that_use_dollars() -> None:
    def uses(script: str) -> bool:
        return uses_dollars(parse(f"<script>{script}</script><p>text"))

    assert uses("MathJax.Hub.Config({tex2jax: {inlineMath: [['$','$'], ['\\\\(','\\\\)']]}});")
    assert uses('window.MathJax = {tex: {inlineMath: {"[+]": [["$", "$"]]}}}')
    assert uses('renderMathInElement(document.body, {delimiters: [{left: "$", right: "$", display: false}]})')
    assert not uses("MathJax = {tex: {inlineMath: [['\\\\(', '\\\\)']], displayMath: [['$$', '$$']]}}")
    assert not uses('renderMathInElement(document.body, {delimiters: [{left: "$$", right: "$$", display: true}]})')
    assert not uses("$('p').hide()")
    assert not uses("inlineMath" + " " * 201 + "'$'")
    assert uses_dollars(parse('<script src="/static/js/mathjaxToggle.min.js"></script>'))  # arXiv
    assert not uses_dollars(parse("<script src=x>inlineMath: ['$', '$']</script>"))


# Hostile input


def test_deep_and_long_formulas_take_linear_time() -> None:
    makers: list[Callable[[int], str]] = [
        lambda n: "<math>" + "<mrow>" * n + "x",
        lambda n: "<math>" * n + "<mi>x",
        lambda n: "<math>" * n,
        lambda n: "<math>" + "<msup><mi>x</mi>" * n,
        lambda n: "<math>" + "<mo>(</mo>" * n + FRACTION + "<mo>)</mo>" * n,
        lambda n: "<math>" + "<mmultiscripts>" * n,
        lambda n: "<math>" + "<mtable><mtr><mtd>" * n + "x",
        lambda n: "<span class=katex>" * n + "x",
        lambda n: "<span class=katex><b></b>" * n + "<math><mi>x",
        lambda n: "<div class=MathJax_Display>" * n + "x",
        lambda n: "<span class=MathJax></span>" * n + "<script type=math/tex>x</script>",
        lambda n: "<mjx-container>" * n,
        lambda n: "<table class=ltx_equation><tr><td>" * n,
        lambda n: f"<img src='{'/chart?latex=' * 300}'>" * (n // 300),
        lambda n: f"<script type=math/tex>{'{' * n}</script>",
        lambda n: f"<script type=math/tex>{'%a' * n}</script>",
    ]

    for maker in makers:
        assert_linear(lambda n, maker=maker: partial(formulas, maker(n)), 10_000)  # type: ignore[misc]


@pytest.mark.parametrize("dollars", [False, True])
@pytest.mark.parametrize(
    "one",
    [
        r"\(",
        r"\( abc ",
        r"\(a^2 ",
        r"\[",
        "$",
        "$$",
        "$ ",
        "$a ",
        "$$a ",
        r"\begin{align}",
        "\\",
        r"\(\)",
        r"\\(",
        r"\$",
        r"$a\$",
    ],
)
def test_texts_take_linear_time(one: str, dollars: bool) -> None:
    for end in ("", r"\)", r"\]", "$", r"\end{align}"):
        assert_linear(lambda n, end=end: partial(split_formulas, one * n + end, dollars=dollars), 10_000)  # type: ignore[misc]


PIECES = st.sampled_from([" ", "\n", "\u2028", "\x0b", "\x00"]) | st.sampled_from(
    r"""
    \( \) \[ \] $ $$ \$ { } \begin{align} \end{align} \begin{equation} \end{equation} \text{ \alpha x^2 % \\ \ word 5 =
    """.split()
)


def check(formula: Formula) -> None:
    tex = formula.tex
    assert tex == tex.strip() != ""
    assert len(tex.splitlines()) == 1
    assert re.sub(r"\\.", "", tex).isprintable()
    assert not re.search(r"(?<!\\)(?:\\\\)*\$", tex)
    assert not re.search(r"(?<!\\)(?:\\\\)*\\$", tex)


@given(st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join), st.booleans())
def test_whatever_the_text(text: str, dollars: bool) -> None:
    parts = split_formulas(text, dollars=dollars)
    assert all(part for part in parts) or parts == [""]
    assert "".join(part for part in parts if isinstance(part, str)) in text or len(parts) > 1
    for part in parts:
        if isinstance(part, Formula):
            check(part)


TAGS = """
    math mi mn mo mtext ms mspace mrow msup msub msubsup mfrac msqrt mroot munder mover munderover mtable mtr mtd
    mlabeledtr mfenced menclose mstyle mpadded mphantom mmultiscripts mprescripts none semantics annotation
    maction mglyph b
""".split()
MARKUP = st.lists(
    st.sampled_from([f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS])
    | st.sampled_from(
        ["<mo>(</mo>", "<mo>)</mo>", "<mo>{</mo>", "<mi>x</mi>", "<mo>′</mo>", "<mo>¯</mo>", "$", "\\", "%"]
    )
    | st.sampled_from(
        ["<span class=katex>", "<script type=math/tex>", "</script>", "<span class=MathJax>", "<mjx-container>"]
    )
    | st.text(max_size=3),
    max_size=40,
).map("".join)


@given(MARKUP)
def test_whatever_the_markup(html: str) -> None:
    for formula in formulas(f"<math>{html}"):
        check(formula)


@given(MARKUP)
def test_tex_from_mathml_is_balanced(html: str) -> None:
    tex = re.sub(r"\\[{}\\]", "", to_tex(next(parse(f"<math>{html}").iter_elements("math"))))
    depth = 0
    for brace in re.findall("[{}]", tex):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    assert depth == 0
    for begin, end in ((r"\\left(?![a-z])", r"\\right(?![a-z])"), (r"\\begin\{", r"\\end\{")):
        assert len(re.findall(begin, tex)) == len(re.findall(end, tex))


@pytest.mark.parametrize(
    ("text", "may"),
    [("$5 or $10", False), ("$5-$10", False), ("let $x$ be", True), ("$ 5", False), ("a $x^2$, b", True)],
)
def test_prices_are_told_before_scripts_are_read(text: str, may: bool) -> None:
    assert may_use_dollars(text) == may
