"""Text dumps as Lynx makes them, and NCleaner's first three stages on them; pages written for the purpose."""

from __future__ import annotations

import io
import random
import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from mainmatter.api import clean, read
from mainmatter.errors import InputError
from mainmatter.records import Kind, Page
from reproduce import lynx
from reproduce.lynx import dump, dump_page, has_lynx, like_lynx, main, normalise, resolve_marks
from timing import assert_linear

if TYPE_CHECKING:
    from pathlib import Path

needs_lynx = pytest.mark.skipif(not has_lynx(), reason="Lynx is not installed")
BOTH = [pytest.param("lynx", marks=needs_lynx), "blocks"]

PAGE = """<title>River</title><h1>The river</h1><h2>Its banks</h2>
<p>The river rose in the night, and by morning the old stone bridge was gone; nobody had seen it fall.<br>So they say.
<ul><li>One<li>Two<ul><li>Deep</ul></ul><h3>Flood</h3><blockquote>Nobody had seen it fall, they say.</blockquote>
<table><tr><td>1907<td>high<tr><td>1908<td>low</table><pre>a  b
 c</pre>"""
DUMP = """\
                                   The river

Its banks

   The river rose in the night, and by morning the old stone bridge was
   gone; nobody had seen it fall.
   So they say.

     * One
     * Two
          + Deep

  Flood

     Nobody had seen it fall, they say.

   1907 high
   1908 low

a  b
 c
"""
MARKED = """\
# The river

# Its banks

   The river rose in the night, and by morning the old stone bridge was gone; nobody had seen it fall.

   So they say.

* One
* Two
* Deep

# Flood

     Nobody had seen it fall, they say.

   1907 high
   1908 low

a  b
 c
"""


def test_blocks_are_laid_out_as_by_lynx() -> None:
    assert dump(Page(PAGE)) == DUMP
    assert dump(Page(PAGE), marked=True) == MARKED
    assert dump(Page("")) == ""


@needs_lynx
def test_lynx_itself_lays_them_out_so() -> None:
    """But for its blank lines, where lists and the lines of a table begin, and for the width of columns."""

    def lines(text: str) -> list[str]:
        return [re.sub(r"(?<=\S) +", " ", line) for line in text.splitlines() if line.strip()]

    assert lines(dump(Page(PAGE), "lynx")) == lines(DUMP)
    assert lines(dump(Page(PAGE), "lynx", marked=True)) == lines(MARKED)


@pytest.mark.parametrize(("depth", "bullet"), [(1, "*"), (2, "+"), (3, "o"), (4, "#"), (5, "@"), (6, "-"), (7, "=")])
@pytest.mark.parametrize("by", BOTH)
def test_bullets_of_nested_lists(by: lynx.By, depth: int, bullet: str) -> None:
    page = Page("<ul><li>x" * depth)
    assert dump(page, by).rstrip().splitlines()[-1] == " " * 5 * depth + f"{bullet} x"
    assert dump(page, by, marked=True).rstrip().splitlines()[-1] == "* x"


@pytest.mark.parametrize("level", range(1, 7))
@pytest.mark.parametrize("by", BOTH)
def test_headings_by_level(by: lynx.By, level: int) -> None:
    page = Page(f"<h{level}>The bridge</h{level}><p>x")
    indent = {1: 35, 2: 0}.get(level, 2 * (level - 2))
    line = next(line for line in dump(page, by).splitlines() if line.strip())
    assert line.strip() == "The bridge"
    assert abs(len(line) - len(line.lstrip()) - indent) <= (3 if level == 1 else 0)


@pytest.mark.parametrize("by", BOTH)
def test_lines_end_before_the_margin(by: lynx.By) -> None:
    words = " ".join(random.Random(3).choices("a be sea door river stones bridges".split(), k=400))
    lines = [line for line in dump(Page(f"<p>{words}"), by).splitlines() if line]
    assert max(map(len, lines)) <= 74
    assert all(len(line) + 1 + len(after.split()[0]) > 74 for line, after in pairwise(lines))
    assert " ".join(" ".join(lines).split()) == words
    first, *_ = (line for line in dump(Page(f"<p>{words}"), by, marked=True).splitlines() if line)
    assert 980 < len(first) <= 994


def test_the_first_stage() -> None:
    assert normalise("a<IMG src=x alt=y>b<!-- <p>c -->d<script>e('<p>')</script >f<BR/>g<br>h") == "ab d f<p>g<p>h"
    assert normalise("<H2 class=x><a href=y>z</a></H2>") == "<H2 class=x><a href=y>&lt;h&gt; z</a></H2>"
    assert normalise("<ul><li><p>x<li>y</ul><link><header>") == (
        "<ul><li><p>&lt;l&gt; x<li>&lt;l&gt; y</ul><link><header>"
    )
    # What is never closed stays.
    assert normalise("a<!-- b <script> c") == "a<!-- b <script> c"


def test_the_third_stage() -> None:
    assert resolve_marks("  <h> River\n     * <l> one\n          + <l> two\n    3. <l> three\n") == (
        "# River\n* one\n* two\n* 3. three\n"
    )
    assert resolve_marks("   <h>\n     * <l>\n\n   a\x00\x07\ufffdb\tc\u0085") == "\n\n\n   ab\tc\u0085"
    assert resolve_marks("   one   <l> two\n") == "   one   two\n"
    assert resolve_marks("     o deep\n   o Brien\n") == "* deep\n   o Brien\n"


@pytest.mark.parametrize("by", BOTH)
def test_segments_are_found_again_with_their_kinds(by: lynx.By) -> None:
    """The whole front end: HTML of our own making, to a dump, to segments (stages 1 to 3)."""
    rng = random.Random(7)
    for _ in range(20):
        kinds = rng.choices([Kind.HEADING, Kind.PARAGRAPH, Kind.LIST_ITEM], k=12)
        words = ["naïve", "“so – long”", *"the river stone bridge winter is old, and 1907".split()]
        texts = [" ".join(rng.choices(words, k=rng.randint(1, 9 if kind is Kind.HEADING else 60))) for kind in kinds]
        html = "<meta charset=utf-8>"
        for kind, text in zip(kinds, texts, strict=True):
            paragraph = rng.choice([f"<p>{text}</p>", f"<div>{text}</div>", f"<br>{text}<br>"])
            html += {
                Kind.HEADING: f"<h{(level := rng.randint(1, 4))}><b>{text}</b></h{level}>",
                Kind.LIST_ITEM: f"<ul><li>{rng.choice(['', '<p>', '<a href=x>', '<img src=x>'])}{text}</ul>",
            }.get(kind, paragraph)
        found = read(dump_page(Page(html.encode()), by, marked=True)).columns
        assert found.texts == texts
        assert found.kinds == kinds


def test_a_dump_goes_to_methods_in_place_of_the_page() -> None:
    page = dump_page(Page(PAGE, "https://a.example/", "1"))
    assert (page.format, page.url, page.id) == ("text", "https://a.example/", "1")
    assert "The river rose" in clean(page, method="ncleaner:preset=paper").text


def test_a_dump_of_a_dump() -> None:
    """Blocks of which no markup is known are laid out too."""
    assert like_lynx(read(Page("* x\n\ny", format="text"))) == "     * x\n\n   y\n"


@needs_lynx
def test_lynx_finds_the_encoding_itself() -> None:
    for encoding in ("utf-8", "iso-8859-1"):
        html = f"<meta http-equiv=Content-Type content='text/html; charset={encoding}'><p>naïve".encode(encoding)
        assert dump(Page(html), "lynx").strip() == "naïve"
    assert dump(Page("<p>naïve –".encode(), charset="utf-8"), "lynx").strip() == "naïve –"
    assert dump(Page("<p>naïve –"), "lynx").strip() == "naïve –"


@needs_lynx
def test_lynx_gives_the_same_dump_each_time() -> None:
    page = Page("<meta http-equiv=refresh content=9><p>The river")
    assert dump(page, "lynx").split() == ["REFRESH(9", "sec):", "The", "river"]


def test_without_lynx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lynx, "_COMMAND", ("no-such-browser",))
    assert not has_lynx()
    with pytest.raises(InputError, match="Lynx is not installed"):
        dump(Page("<p>x"), "lynx")


def test_lynx_may_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lynx, "_COMMAND", ("sh", "-c", "exec sleep infinity"))
    monkeypatch.setattr(lynx, "_SECONDS", 0.1)
    with pytest.raises(InputError, match=r"Lynx failed: .*timed out after 0\.1 seconds"):
        dump(Page("<p>x"), "lynx")


@pytest.mark.parametrize("piece", ["<!--", "<script>", "<img", "<li ", "<li><p>", "<h1> ", "<br", " ", "* <l>"])
def test_time_is_linear_in_the_page(piece: str) -> None:
    assert_linear(lambda n: lambda: resolve_marks(normalise(piece * n)), 100_000)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page.html").write_text(PAGE, "utf-8")
    main([str(tmp_path / "page.html")])
    assert capsys.readouterr().out == DUMP
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PAGE.encode())))
    main(["--marked", "-"])
    assert capsys.readouterr().out == MARKED
    monkeypatch.setattr(lynx, "_COMMAND", ("echo",))
    main(["--lynx", str(tmp_path / "page.html")])
    assert capsys.readouterr().out == "-width=80\n"
