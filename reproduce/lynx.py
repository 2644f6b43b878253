"""Text dumps of pages as the browser Lynx makes them, by Lynx itself or like it: NCleaner's first stages (NCleaner 2).

python -m reproduce.lynx PAGE.html > PAGE.txt
mainmatter clean -m ncleaner:preset=paper PAGE.txt

first stage     `normalise`: images, comments and scripts deleted, headings and list items marked, `<br>` a paragraph
second stage    `run_lynx`, where Lynx is installed; else `like_lynx`, which lays our reader's blocks out as Lynx does
third stage     `resolve_marks`: invalid characters deleted, the marks turned into those that text/read.py knows,
                which cuts the dump into segments; `has_bars` (method.py) is its rule about boilerplate
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

from mainmatter.errors import InputError
from mainmatter.html.read import read_html
from mainmatter.records import Kind, Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.records import Document

_COMMAND = (
    "lynx", "-stdin", "-dump", "-nolist", "-force_html", "-cfg=/dev/null", "-restrictions=all", "-localhost",
    "-display_charset=utf-8",
)  # fmt: skip
_SECONDS = 30  # a page takes a hundredth of one
# What Lynx calls a page on standard input, of which it tells where a page refreshes itself: another name each time.
_TEMPORARY = re.compile(r"\s*file://localhost\S+/L\d+-\d+TMP\.html")
_WIDTH = 80  # Lynx's own
_WIDEST = 1000  # where lines are to be broken as rarely as possible; Lynx takes up to 1,023

# What the first stage writes before the text of a heading or of a list item, as CleanEval marks them.
_MARKS = {Kind.HEADING: "<h>", Kind.LIST_ITEM: "<l>"}
_INVALID = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\ufffd\ufffe\uffff]")
# A mark at the beginning of a line, after the bullet that Lynx sets: one of "*+o#@-=", by how deep the list is.
_MARKED_LINE = re.compile(r"^ *(?:[*+o#@=-] +(?=<l>)|(?P<number>\d+\. +)?)<(?P<mark>[hl])>(?P<text>.*)$", re.MULTILINE)
_BULLETS = "*+o#@-="
_LYNX_ITEM = re.compile(rf"^ {{5,}}[{re.escape(_BULLETS)}] (?=\S)", re.MULTILINE)

_IMAGE = re.compile("<img[^<>]*>", re.IGNORECASE)
_BREAK = re.compile(r"<br\b[^<>]*>", re.IGNORECASE)
# With the tags that follow at once, such as the paragraph in a list item, so that the mark stands on the text's line.
_OPENING = r"(?:\s*<[a-z][^<>]*>)*"
_HEADING = re.compile(rf"<h[1-6]\b[^<>]*>{_OPENING}", re.IGNORECASE)
_ITEM = re.compile(rf"<li\b[^<>]*>{_OPENING}", re.IGNORECASE)

# Lynx's style sheet: how far it indents headings by level, and other blocks.
_RIGHT_MARGIN = 6
_INDENTS = {Kind.QUOTE: 5, Kind.CODE: 0}
_INDENT = 3
_ITEM_INDENT, _NESTED_INDENT = 5, 5
_HEADING_INDENT = 2  # for each level below the second; the first is centred
_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_STAND_TOGETHER = frozenset((Kind.LIST_ITEM, Kind.TABLE_ROW))

By = Literal["lynx", "blocks"]


def has_lynx() -> bool:
    """Whether Lynx is installed."""
    return shutil.which(_COMMAND[0]) is not None


def dump(page: Page, by: By = "blocks", *, marked: bool = False) -> str:
    """A page as plain text, with all that it says.

    Args:
        page: an HTML page.
        by: "lynx", by the browser, which must be installed; or "blocks", our reader's blocks laid out as by Lynx.
        marked: whether to apply NCleaner's first and third stage: headings begin with "# ", list items with "* ",
            and what `<br>` separates are paragraphs; each is one line, as far as possible.

    Raises:
        InputError: Lynx is not installed, or failed.
    """
    width = _WIDEST if marked else _WIDTH
    if by == "blocks":
        text = like_lynx(read_html(page), marked=marked, width=width)
    else:
        # Lynx finds the encoding of bytes by itself, as in the paper; all that `normalise` looks at is ASCII.
        html = page.html.decode("latin-1") if isinstance(page.html, bytes) else page.html
        html = normalise(html) if marked else html
        is_text = isinstance(page.html, str)
        text = run_lynx(html.encode("utf-8" if is_text else "latin-1"), width, "utf-8" if is_text else page.charset)
    return resolve_marks(text) if marked else _INVALID.sub("", text)


def dump_page(page: Page, by: By = "blocks", *, marked: bool = False) -> Page:
    """The same page as a plain-text dump, which methods read instead; see `dump`."""
    return Page(dump(page, by, marked=marked), page.url, page.id, format="text")


def normalise(html: str) -> str:
    """The first stage: delete images, comments and inline JavaScript, mark headings and list items, end lines."""
    html = _without(_without(html, "<!--", "-->"), r"<script\b", r"</script\s*>")
    html = _BREAK.sub("<p>", _IMAGE.sub("", html))
    for pattern, kind in ((_HEADING, Kind.HEADING), (_ITEM, Kind.LIST_ITEM)):
        mark = _MARKS[kind].replace("<", "&lt;").replace(">", "&gt;")
        html = pattern.sub(lambda tags, mark=mark: f"{tags[0]}{mark} ", html)  # type: ignore[misc]
    return html


def _without(html: str, first: str, last: str) -> str:
    """A page without what stands between two patterns; what is never closed stays, and costs no second look."""
    ends = [match.end() for match in re.finditer(last, html, re.IGNORECASE)]
    end = ends[-1] if ends else 0
    return re.sub(f"{first}.*?{last}", " ", html[:end], flags=re.IGNORECASE | re.DOTALL) + html[end:]


def run_lynx(html: bytes, width: int = _WIDTH, charset: str | None = None) -> str:
    """The second stage: a page as Lynx prints it. Lynx gets the page alone, and may fetch nothing.

    Args:
        html: the page.
        width: how many columns a line has.
        charset: the encoding that was declared elsewhere, if any; without one Lynx looks at the page.

    Raises:
        InputError: Lynx is not installed, or failed.
    """
    command = [*_COMMAND, f"-width={width}", *([f"-assume_charset={charset}"] if charset else [])]
    try:
        done = subprocess.run(command, input=html, capture_output=True, timeout=_SECONDS, check=True)  # noqa: S603
    except FileNotFoundError as error:
        raise InputError("Lynx is not installed; on Debian: apt-get install lynx") from error
    except subprocess.SubprocessError as error:
        raise InputError(f"Lynx failed: {error}") from error
    return _TEMPORARY.sub("", done.stdout.decode("utf-8", "replace"))


def like_lynx(document: Document, *, marked: bool = False, width: int = _WIDTH) -> str:
    """The first two stages without Lynx: all blocks of a page, indented and broken into lines as Lynx does it.

    Args:
        document: the page.
        marked: whether headings and list items are marked for the third stage, and what `<br>` separates are
            paragraphs.
        width: how many columns a line has.
    """
    lines: list[str] = []
    previous: Kind | None = None
    for block in document.blocks:
        if previous is not None and not (block.kind is previous and block.kind in _STAND_TOGETHER):
            lines.append("")
        previous = block.kind
        indent, bullet = " " * _INDENTS.get(block.kind, _INDENT), ""
        if block.kind is Kind.LIST_ITEM:
            depth = max(1, sum(tag in _LISTS for tag in block.path.split("/"))) - 1
            indent = " " * min(_ITEM_INDENT + _NESTED_INDENT * depth, width // 2)
            bullet = _BULLETS[min(depth, len(_BULLETS) - 1)] + " "
        elif block.kind is Kind.HEADING:
            indent = " " * (_HEADING_INDENT * max(0, block.level - 2))
        if marked and block.kind in _MARKS:
            bullet += _MARKS[block.kind] + " "
        for number, line in enumerate(block.text.split("\n")):
            if number and marked and block.kind is not Kind.CODE:
                lines.append("")
            if block.kind is Kind.CODE:
                lines.append(indent + line)
                continue
            first = indent + ("" if number else bullet)
            room = width - _RIGHT_MARGIN
            found = wrap(
                " ".join(line.split()), room, initial_indent=first, subsequent_indent=" " * len(first),
                break_long_words=False, break_on_hyphens=False,
            )  # fmt: skip
            is_title = block.kind is Kind.HEADING and block.level == 1
            lines += [each.center(width).rstrip() for each in found] if is_title else found
    return "\n".join(lines) + "\n" if lines else ""


def resolve_marks(text: str) -> str:
    """The third stage before text/read.py: delete invalid characters, and write the marks that it knows."""
    text = _LYNX_ITEM.sub("* ", _MARKED_LINE.sub(_resolve, _INVALID.sub("", text)))
    return re.sub("<[hl]> ", "", text)  # of items that stand within a line, such as those of a table


def _resolve(line: re.Match[str]) -> str:
    text = line["text"].strip()
    if not text:  # a heading or an item of nothing but pictures
        return ""
    return f"# {text}" if line["mark"] == "h" else f"* {line['number'] or ''}{text}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the dump of a page."""
    parser = argparse.ArgumentParser(prog="python -m reproduce.lynx", description=main.__doc__)
    parser.add_argument("page", type=Path, help="an HTML file, or - for standard input")
    parser.add_argument("--lynx", action="store_true", help="by Lynx itself, which must be installed")
    parser.add_argument("--marked", action="store_true", help='headings begin with "# ", list items with "* "')
    chosen = parser.parse_args(arguments)
    html = sys.stdin.buffer.read() if str(chosen.page) == "-" else chosen.page.read_bytes()
    sys.stdout.write(dump(Page(html), "lynx" if chosen.lynx else "blocks", marked=chosen.marked))


if __name__ == "__main__":
    main()
