"""Adapted content code blurring (ACCB), which the paper compares itself with (sections 2 and 5.3, tables 3 and 4).

T. Gottron, "Content code blurring: A new approach to content extraction", 2008, as the Density paper describes it: a
page is a sequence of characters, each of them content (1) or code (0). This vector is blurred by a Gaussian filter,
again and again, until its values stabilise; text where they are high is the main content. The adapted variant leaves
the tags of links out of the vector, so that text full of links, as in a wiki, looks like any other text.

It is here for the tables only; it is not one of mainmatter's methods. The Density paper gives none of its constants;
docs/results/density.md says how these were chosen.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RADIUS = 40  # how many neighbours on each side a value spreads to in one round
THRESHOLD = 0.4  # content where more than this is left
STABLE = 0.01  # stop when no value changes by more than this
MOST_ROUNDS = 100

# What is no text. Something that is never closed ends with the page, so that no character is looked at twice.
_CODE = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|<(?P<link>/?a(?=[\s>]))?[^>]*(?:>|\Z)",
    re.IGNORECASE | re.DOTALL,
)


def extract_accb(html: str, radius: int = RADIUS, threshold: float = THRESHOLD) -> str:
    """The main content of a page, as text."""
    characters, is_content = content_code_vector(html)
    return select(characters, is_content & (blur(is_content, radius) > threshold))


def select(characters: str, kept: NDArray[np.bool_]) -> str:
    """Some of the characters; a gap becomes a space, so that the words on its two sides stay apart."""
    edges = np.flatnonzero(np.diff(kept, prepend=False, append=False)).tolist()
    return " ".join(characters[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))


def content_code_vector(html: str) -> tuple[str, NDArray[np.bool_]]:
    """The page's characters without the tags of links, and which of them are content; white space is collapsed."""
    parts: list[str] = []
    lengths: list[tuple[int, bool]] = []

    def add(part: str, *, content: bool) -> None:
        parts.append(part)
        lengths.append((len(part), content))

    position = 0
    for code in _CODE.finditer(html):
        add(_collapse(html[position : code.start()]), content=True)
        if not code["link"]:
            add(code[0], content=False)
        position = code.end()
    add(_collapse(html[position:]), content=True)
    counts, kinds = zip(*lengths, strict=True)
    return "".join(parts), np.repeat(np.array(kinds, bool), counts)


def _collapse(text: str) -> str:
    """Text with single spaces; nothing where there are only spaces, which lay out the source."""
    return "" if text.isspace() else re.sub(r"\s+", " ", unescape(text))


def blur(is_content: NDArray[np.bool_], radius: int = RADIUS) -> NDArray[np.float64]:
    """Spread each value to its neighbours by a Gaussian filter, until no value changes any more by much."""
    values = is_content.astype(np.float64)
    weights = np.exp(-2 * (np.arange(-radius, radius + 1) / radius) ** 2)  # the radius is two standard deviations
    weights /= weights.sum()
    for _ in range(MOST_ROUNDS if len(values) else 0):
        before, values = values, np.convolve(values, weights)[radius:-radius]
        if np.abs(values - before).max() <= STABLE:
            break
    return values
