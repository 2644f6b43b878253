"""Bytes to text, text to a tree. The only file that names the parser; all others import from here what they need of it.

Why turbohtml: it builds the tree that browsers build (WHATWG), in C, in time linear in the page even on hostile
input, and ships wheels. Figures: docs/explanation/dependencies.md.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from turbohtml import Document as Tree
from turbohtml import Element, Namespace, Node, Text
from turbohtml import parse as _parse
from turbohtml.detect import detect as _detect

from mainmatter.errors import NotAPage
from mainmatter.html.depth import shallow
from mainmatter.html.sniff import (
    LEAST,
    NEITHER,
    SNIFFED,
    has_controls,
    has_markup,
    is_usual,
    refusal,
    utf16_without_mark,
    what_else,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mainmatter.records import Page

__all__ = [
    "Element",
    "Node",
    "Text",
    "Tree",
    "all_ancestors",
    "as_text",
    "base_url",
    "decode",
    "decode_page",
    "is_html",
    "parse",
]

_BYTE_ORDER_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Encodings that use ASCII bytes only announce themselves by escape characters, or by a NUL in every letter.
_NOT_PLAIN_ASCII = (b"\x1b", b"\x00", b"~{")

_SHORT = 512  # bytes in which random ones may happen to hold few control characters
_HIGH_BYTES = bytes(range(0x80, 0x100))
_MIN_HIGH = 0.25  # of such bytes; half of random ones are high


def decode_page(page: Page) -> tuple[str, str | None]:
    """A page's text, and the encoding of its bytes; None if it was text already.

    Raises:
        NotAPage: it is neither HTML nor text.
    """
    html = page.html
    head = html[:SNIFFED]
    words = what_else(head if isinstance(head, bytes) else head.encode("latin-1", "replace"), is_text=True)
    if words is None:
        text, encoding = (_without_surrogates(html), None) if isinstance(html, str) else decode(html, page.charset)
        if not _is_noise(html, text, encoding):
            return text, encoding
        words = NEITHER
    name = page.id or page.url
    raise NotAPage(f"{f'{name}:' if name else 'the page'} {refusal(words)}")


def _without_surrogates(text: str) -> str:
    """A text with U+FFFD for each half of a character, as browsers send it on: no encoding has bytes for those."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _is_noise(html: str | bytes, text: str, encoding: str | None) -> bool:
    """Whether a page holds what no text does, random bytes at worst, and no markup."""
    if has_controls(html):
        is_text = encoding is not None and encoding.startswith("utf-16") and is_usual(text)
    else:
        is_text = isinstance(html, str) or not LEAST <= len(html) < _SHORT or not _fits_no_encoding(html)
    return not is_text and not has_markup(text)


def _fits_no_encoding(data: bytes) -> bool:
    """Whether the bytes are not UTF-8 nor, many of them being outside of ASCII, like any text of another encoding."""
    high = len(data) - len(data.translate(None, _HIGH_BYTES))
    return high >= _MIN_HIGH * len(data) and _detect(data).confidence == 0


def decode(data: bytes, charset: str | None = None) -> tuple[str, str]:
    """Decode a page as browsers do it: by byte order mark, HTTP header, `<meta>`, then by what the bytes look like.

    With two differences. Bytes outside of ASCII that are valid UTF-8 are UTF-8, whatever the page declares: other
    encodings hardly ever look like that by chance, while wrong declarations are common. For the same reasons, bytes
    that are a text in UTF-16 are UTF-16, also without a byte order mark. It never fails: what cannot be decoded becomes
    U+FFFD.

    Args:
        data: the page as fetched.
        charset: what the HTTP header declared, if known.

    Returns:
        The text, and the name of the encoding.
    """
    if not data.startswith(_BYTE_ORDER_MARKS):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            pass
        else:
            # A text knows whether it is ASCII, while bytes would have to be searched; most pages are not. One byte is
            # found fifty times as fast as two.
            if not text.isascii() or not any(sign[:1] in data and sign in data for sign in _NOT_PLAIN_ASCII):
                return text, "utf-8"
        if (utf16 := utf16_without_mark(data)) is not None:
            return data.decode(utf16, "replace"), utf16.replace("16-", "16")
        if charset and (codec := _codec_of_label(charset)) is not None:
            return data.decode(codec, "replace"), charset.lower()
    match = _detect(data)
    return data.decode(match.codec or "utf-8", "replace").removeprefix("\ufeff"), (match.encoding or "utf-8").lower()


def _codec_of_label(label: str) -> str | None:
    """The codec for an encoding label of an HTTP header, read as browsers read it; None for an unknown one."""
    codec = f"whatwg-{label.strip().lower()}"
    try:
        codecs.lookup(codec)
    except (LookupError, ValueError):
        return None
    return codec


def parse(html: str, *, scripting: bool = True) -> Tree:
    """Parse a page's HTML, whatever its state, into the tree that a browser would build.

    Declarative shadow roots stay templates, so that their text can be reached. A page on which the parser might crash
    is flattened first (html/depth.py).

    Args:
        html: the page.
        scripting: parse like a browser that runs scripts, for which the content of `<noscript>` is not markup.
    """
    return _parse(shallow(html, scripting=scripting), scripting=scripting, allow_declarative_shadow_roots=False)


def is_html(element: Element) -> bool:
    """Whether an element is HTML, not SVG or MathML."""
    return element.namespace is Namespace.HTML


def base_url(tree: Tree, url: str) -> str:
    """What the page's links are relative to: what its `<base>` says, or the URL that it came from."""
    # The parser has an index of tags, but looks for a base among all elements.
    if not tree.select("base"):
        return url
    try:
        return tree.base_url(url)
    except ValueError:  # the URL is none
        return url


def as_text(value: str | list[str] | None) -> str:
    """An attribute's value as one string; the parser splits lists such as `class`."""
    return " ".join(value) if isinstance(value, list) else value or ""


def all_ancestors(nodes: Iterable[Node]) -> set[Node]:
    """The nodes around some others, each looked at once."""
    found: set[Node] = set()
    for node in nodes:
        parent = node.parent
        while parent is not None and parent not in found:
            found.add(parent)
            parent = parent.parent
    return found
