"""The parser is kept from what it crashes on; the bound of open elements is never too low."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fuzz.depth import CAP, depth_of
from mainmatter import clean
from mainmatter.html import depth
from mainmatter.html.depth import LIMIT, shallow
from mainmatter.html.parse import parse

DEEP = "<div>" * 507 + "<table><th></tr><a><p><a>"
IN_SVG = "<svg><template><desc><div></template><a><p><a>"


@pytest.mark.parametrize("html", [DEEP, IN_SVG, IN_SVG.replace("svg", "math").replace("desc", "mtext")])
@pytest.mark.parametrize("call", ["mainmatter.clean(html)", "mainmatter.html.parse.parse(html)"])
def test_a_page_on_which_the_parser_crashes_does_not_reach_it(html: str, call: str) -> None:
    code = f"import sys, mainmatter, mainmatter.html.parse; html = sys.stdin.read(); {call}"
    subprocess.run([sys.executable, "-c", code], input=html, text=True, check=True)


def test_all_text_of_a_deep_page_stays() -> None:
    words = [f"word{number} says what it says, and that is quite enough of it." for number in range(600)]
    page = "".join(f"<div>{text}" for text in words)
    assert " ".join(clean(page, dial=1.0).text.split()) == " ".join(words)
    assert depth_of(parse(page)) < LIMIT + 10


@pytest.mark.parametrize(
    "html",
    [
        "<ul>" + "<li>one" * 3000 + "</ul>",
        "<ul>" + "<li><p>one" * 3000 + "</ul>",
        "<dl>" + "<dt>one<dd><p>two" * 2000 + "</dl>",
        "<p>one<br>two<img><input>" * 3000,
        "<table>" + "<tr><th>one<td>two" * 2000 + "</table>",
        "<select>" + "<option>one" * 3000 + "</select>",
        "<div><svg><title>a</title><path d='a b'/><g><path/></g></svg></div>" * 700,
        "<svg><style><![CDATA[a<b]]></style><path></svg>" * 700,
        "<script>if (a<b) document.write('<div>')</script>" * 700,
        "<script><!--\ndocument.write('<script>x</script>')\n--></script>" * 700,
        "<!-- <div> --><?x <div ?><!doctype html><!--><p>x</p>" * 700,
        "<a title='a > b' href=\"x\">y</a>" * 700,
        "<template><td>x</td></template>" * 700,
    ],
)
def test_a_page_with_usual_markup_is_parsed_as_it_stands(html: str) -> None:
    assert shallow(html, scripting=True) is html


@pytest.mark.parametrize(
    "repeated",
    [
        "<div title='</div>'>",
        '<div a=x" b="></div>">',
        "<div><!--</div>-->",
        "<div><!--x--!><!--</div>-->",
        "<div><script></div></script>",
        "<div><script><!--<script></script></div>--></script>",
        "<div><textarea></div></textarea>",
        "<div><?x </div ?>",
        "<div></ div>",
        "<div><table><td></div></td></table>",  # a cell keeps the end tag from the element
        "<form><table><td></form></td></table></form>",  # the form stays open, but is forgotten
        "<p><span><div></span></p>",
        "<li><div><li></li><span></div></li>",
        "<svg><g><p></g></svg><div/>",
        "<svg><desc><g></svg>",
        "<path/>",
        "<svg><path d=x/>",
        "<svg><link>",
        "<svg><title><div></title>",
        "<templatex><div></template>",
        "<textareax><div></textarea></textareax",
        "<b class={}><p>",
        "<object><b id={}></object><p><a id={}>",
        "<frameset><title><frameset></title>",
        "<template><col><title><template></title>",
        "<table><td>",
        "<noscript><div></noscript>",
        "<b><b></br></html><div><math><path/></template></dl></b><desc><svg></foreignobject><dd>",
        "<button><math><path/></mtext><table></object><table><body><div></form><x-y><font color=x>",
        "<path/></td></th><b id=2><p><b><svg><noframes>",
        "<li><table><tr><li></table><td><li>",
        "<table><tr><td><table><td></td><tr><td><select><tr><option><td>",
        "<button><p></button><p><object><p>",
        "<template><tr><td><tr><td></template><td>",
    ],
)
@pytest.mark.parametrize("scripting", [True, False])
def test_no_page_reaches_the_cap(repeated: str, scripting: bool) -> None:
    html = "".join(repeated.replace("{}", str(number)) for number in range(700))
    assert depth_of(parse(html, scripting=scripting)) < CAP


def test_what_runs_compiled_and_what_does_not_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "from fuzz.depth import *; from mainmatter.html.depth import scan; rng = Random(1); "
        "print([scan(make_page(rng), True, None) for _ in range(150)])"
    )
    outputs = []
    for pure in ("0", "1"):
        monkeypatch.setenv("MAINMATTER_PURE", pure)
        monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
        outputs.append(subprocess.check_output([sys.executable, "-c", code]))
    assert outputs[0] == outputs[1]
    assert depth.LIMIT == LIMIT
