"""Plain text and CleanEval's markup."""

from __future__ import annotations

import pytest

import mainmatter
from mainmatter.records import Page


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("", ""),
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
        ("<h1>title</h1><ul><li>a<li>b</ul><p>end</p>", "title\n\na\nb\n\nend"),
        ("<table><tr><td>1<td>2<tr><td>3<td>4</table>", "1\t2\n3\t4"),
        ("<ul><li>a</ul><table><tr><td>1<td>2</table>", "a\n\n1\t2"),
        ("<p>line<br>break</p>", "line\nbreak"),
        ("<pre>  x\n    y</pre><p>z", "  x\n    y\n\nz"),
        ("<p>un<b>break</b>able <i>words</i></p>", "unbreakable words"),
    ],
)
def test_text(html: str, expected: str) -> None:
    assert mainmatter.clean(html, method="ice-baseline").text == expected


def test_only_what_is_kept() -> None:
    long = "this paragraph has more than ten words and they are long enough"
    html = f"<li>Home</li><div><div><div><h1>Title</h1><p>{long}</p></div></div></div><p>x</p>"
    found = mainmatter.clean(html, method="ice-heuristic")
    assert found.text == f"Title\n\n{long}"


def test_cleaneval() -> None:
    html = "<h1>Title</h1><p>a<br>b</p><ul><li>c</ul><table><tr><td>1<td>2</table><pre>x\n y</pre>"
    found = mainmatter.clean(html, method="density:c1=0,c2=100")
    assert found.cleaneval == "<h> Title\n<p> a b\n<l> c\n<p> 1 2\n<p> x y"


def test_cleaneval_uses_the_kinds_of_the_method() -> None:
    assert mainmatter.clean("<h1>Title</h1>", method="ice-baseline").cleaneval == "<p> Title"


def test_a_dump() -> None:
    page = Page("# Title\n\nOne\ntwo.\n\n* a\n* b\n\nEnd", format="text")
    found = mainmatter.clean(page, method="density:c1=0,c2=100")
    assert found.text == "Title\n\nOne two.\n\na\nb\n\nEnd"
    assert found.cleaneval == "<h> Title\n<p> One two.\n<l> a\n<l> b\n<p> End"
