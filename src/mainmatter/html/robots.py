"""Whether a page, or the server that sent it, asks not to be indexed: robots meta tags and the X-Robots-Tag header.

The meta tags are found in the text of the page's head, without parsing the page. Tags in comments, scripts and
the body do not count.
"""

from __future__ import annotations

import html as entities
import re

# Whose orders count: everybody's, the largest search engine's, which sites address for all, and our own.
AGENTS = frozenset(("", "*", "robots", "googlebot", "mainmatter"))
_FORBIDDING = frozenset(("noindex", "none"))  # "none" is noindex and nofollow
# Orders with a value, whose colon follows no agent's name.
_WITH_VALUE = frozenset(("max-image-preview", "max-snippet", "max-video-preview", "unavailable_after"))

_HEAD = 524_288  # bytes or characters; a head that is longer holds scripts, and those come last
# The sign before the letters, whose case is any, makes the search fast.
_RAW = ("script", "style", "title", "noscript", "template", "textarea")
_PIECE = re.compile(
    rf"<(?:(?P<comment>!--)|(?i:(?P<raw>{'|'.join(_RAW)})\b|(?P<meta>meta)(?=[\s/])(?P<attributes>[^>]{{0,2000}})|body\b))"
)
_ENDS = {"!--": re.compile("-->"), **{tag: re.compile(f"</(?i:{tag})") for tag in _RAW}}
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]{1,50})\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_AGENT = re.compile(r"\s*([\w*.-]+)\s*:(.*)", re.DOTALL)


def noindex_in_html(html: str | bytes) -> str | None:
    """The robots meta tag in a page's head that forbids indexing, as "robots: noindex"; None if there is none."""
    head = _head(html)
    place = 0
    while (piece := _PIECE.search(head, place)) is not None:
        place = piece.end()
        if hiding := piece["comment"] or piece["raw"]:
            end = _ENDS[hiding.lower()].search(head, place)
            if end is None:  # it takes all the rest
                return None
            place = end.end()
        elif not piece["meta"]:
            return None
        elif (found := _noindex_in_meta(piece["attributes"])) is not None:
            return found
    return None


def noindex_in_header(value: str) -> str | None:
    """What in the value of an X-Robots-Tag header forbids indexing, as "googlebot: noindex"; None if nothing does.

    Args:
        value: of the header; of several, joined by commas or line ends. An agent's name counts for the orders
            behind it, up to the next name or the end of the line.
    """
    for line in value.splitlines():
        agent = ""
        for order in line.lower().split(","):
            named = _AGENT.match(order)
            if named and named[1] not in _WITH_VALUE:
                agent, order = named[1], named[2]  # noqa: PLW2901 - what is left of it
            if agent in AGENTS and order.strip() in _FORBIDDING:
                return f"{agent}: {order.strip()}" if agent else order.strip()
    return None


def _noindex_in_meta(attributes: str) -> str | None:
    values = {name.lower(): entities.unescape(a or b or c) for name, a, b, c in _ATTRIBUTE.findall(attributes)}
    agent = values.get("name", "").strip().lower()
    if not agent or agent not in AGENTS:
        return None
    for order in re.split(r"[,\s]+", values.get("content", "").lower()):
        if order in _FORBIDDING:
            return f"{agent}: {order}"
    return None


def _head(html: str | bytes) -> str:
    """The beginning of a page as text, in which markup can be read; its other letters may be wrong."""
    if isinstance(html, str):
        return html[:_HEAD]
    data = html[:_HEAD]
    if b"\0" in data[:4]:  # UTF-16, where every other byte of markup is zero
        data = data.replace(b"\0", b"")
    return data.decode("latin-1")
