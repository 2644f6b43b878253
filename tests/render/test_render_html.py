"""A small HTML document of what was kept."""

from __future__ import annotations

import re

import pytest

import mainmatter
from mainmatter.html.parse import parse
from mainmatter.records import Page


def test_a_page() -> None:
    html = "<html lang=en><title>A & B</title><h1 class=x>Title</h1><p onclick=x()>a <b>b</b><script>x</script></p>"
    assert mainmatter.clean(html, method="ice-baseline").html == (
        "<!doctype html>\n"
        '<html lang="en">\n'
        '<head><meta charset="utf-8"><title>A &amp; B</title></head>\n'
        "<body>\n"
        "<h1>Title</h1>\n<p>a <strong>b</strong></p>\n"
        "</body>\n"
        "</html>\n"
    )


def test_what_a_page_says_about_itself_is_escaped() -> None:
    html = "<html lang='\"><script>x</script>'><title>&lt;/title>&lt;script>alert(1)&lt;/script></title><p>a"
    tree = parse(mainmatter.clean(html, method="ice-baseline").html)
    assert tree.find("script") is None
    title = tree.find("title")
    assert title is not None
    assert title.text == "</title><script>alert(1)</script>"


def test_images_if_asked() -> None:
    found = mainmatter.clean("<p>a</p><img src=x.png alt=y><p>b</p>", method="ice-baseline", url="https://e.example/")
    assert "<img" not in found.html
    assert '<p>a</p>\n<p><img src="https://e.example/x.png" alt="y"></p>\n<p>b</p>' in found.to_html(images=True)


def test_rendering_changes_nothing() -> None:
    found = mainmatter.clean("<p>a</p><p><a>Home</a><a>News</a></p>", method="ice-baseline", url="https://e.example/")
    first = (found.html, found.markdown, found.text, found.document.blocks)
    assert (found.html, found.markdown, found.text, found.document.blocks) == first


def test_a_page_without_a_body() -> None:
    assert "<body>\n</body>" in mainmatter.clean("<frameset><frame src=a></frameset>").html


def test_a_dump_gets_the_markup_of_its_kinds() -> None:
    page = Page("# Title <b>\n\nOne\n\n* a\n* b\n\nEnd\n---", format="text")
    found = mainmatter.clean(page, method="density:c1=0,c2=100")
    assert (
        "<body>\n<h1>Title &lt;b&gt;</h1>\n<p>One</p>\n<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<h2>End</h2>\n</body>"
        in found.html
    )


@pytest.mark.parametrize(
    "html",
    [
        "<svg><script>alert(1)</script></svg>kept",
        "<p>kept<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table>",
        "<p>kept<a href='&#106;avascript:alert(1)'>kept</a>",
        "<p>kept<a href=' jAvA\tscript:alert(1)'>kept</a>",
        "<p>kept<a href='data:text/html,x' target=_blank>kept</a>",
        "<p>kept<form action=javascript:alert(1)><button formaction=javascript:alert(1)>kept</button></form>",
        "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>kept</noscript>",
        "<details open ontoggle=alert(1)>kept</details>",
        "<p>kept<img src='x' onerror='alert(1)'><a href='vbscript:x'>kept</a>",
        "<xmp><img src=x onerror=alert(1)></xmp>kept",
        "<template shadowrootmode=open><script>alert(1)</script>kept</template>",
        "<plaintext><script>alert(1)</script>",
    ],
)
@pytest.mark.parametrize("url", [None, "https://e.example/"])
def test_nothing_that_runs_survives(html: str, url: str | None) -> None:
    written = mainmatter.clean(html, url=url, method="ice-baseline").to_html(images=True)
    allowed = {"html", "head", "meta", "title", "body", "p", "a", "img", "details", "pre", "code", "span", "div"}
    for element in parse(written).iter_elements():
        assert element.tag in allowed
        for name, value in element.attrs.items():
            assert not name.startswith("on")
            assert not re.match(r"\s*(javascript|vbscript|data):", re.sub(r"[\t\n\r]", "", str(value)), re.IGNORECASE)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li>a<ol start=3><li>b</ol><li>c</ul>",
         '<ul>\n<li>a\n<ol start="3">\n<li>b</li>\n</ol>\n</li>\n<li>c</li>\n</ul>\n'),
        ("<ul><li><input type=checkbox checked disabled>a</ul>",
         '<ul>\n<li><input type="checkbox" disabled checked> a</li>\n</ul>\n'),
        ("<pre class=language-c>a &lt; b</pre>", '<pre><code class="language-c">a &lt; b</code></pre>\n'),
        ("<table><caption>T</caption><tr><th align=right>A<th>B<tr><td>1<td>2</table>",
         ('<table>\n<caption>T</caption>\n<tr>\n<th align="right">A</th>\n<th>B</th>\n</tr>\n'
         "<tr>\n<td>1</td>\n<td>2</td>\n</tr>\n</table>\n")),
        ("<details><summary>s</summary><p>a</details>",
         "<details>\n<summary>s</summary>\n<p>a</p>\n</details>\n"),
        ("<p>a<sup><a href=#n>1</a></sup></p><p id=n>b</p>",
         ('<p>a<sup><a href="#fn-1">1</a></sup></p>\n'
         '<div class="footnote" id="fn-1"><sup>1</sup>\n<p>b</p>\n</div>\n')),
        (r"<p>a \(x &lt; y\)</p>", '<p>a <span class="math">\\(x &lt; y\\)</span></p>\n'),
        ("<p><s>a</s> <a href='/\"' >b</a> <a href='data:x'>c</a><br>H<sub>2</sub></p><hr><p>d",
         '<p><del>a</del> <a href="https://e.example/&quot;">b</a> c<br>H<sub>2</sub></p>\n<hr>\n<p>d</p>\n'),
    ],
)  # fmt: skip
def test_constructs(html: str, expected: str) -> None:
    found = mainmatter.clean(html, method="ice-baseline", url="https://e.example/").html
    assert found.partition("<body>\n")[2] == f"{expected}</body>\n</html>\n"
