"""Bytes or text to a tree. The only file that names the parser; everybody else imports its types from here.

Why turbohtml: it builds the tree that browsers build (WHATWG), in C, in time linear in the page even on hostile
input, and ships wheels. Figures: docs/dependencies.md.
"""

from __future__ import annotations

from turbohtml import Document as Tree
from turbohtml import Element, Node, Text
from turbohtml import parse as _parse

__all__ = ["Element", "Node", "Text", "Tree", "parse"]


def parse(html: str) -> Tree:
    """Parse a page's HTML, whatever its state, into the tree that a browser would build.

    `<noscript>` is parsed as markup, as a browser without scripting does.
    """
    return _parse(html, scripting=False)
