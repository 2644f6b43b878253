"""What any element around a block is called, however far up: "comment", "nav", "content", ...

A block deep inside of something that is called "comments" is a comment, whatever the elements between are called; so
these names are inherited, as the tags in html/read.py are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mainmatter.html.read import unpack
from mainmatter.main.names import FIRST_STEM, STEMS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from mainmatter.records import Containers

# The stems that say most about all that is below; as many as fit into one whole number.
_INHERITED = tuple(
    """
    advert article author banner body breadcrumb caption card comment consent content cookie descr entry filter foot
    forum head hidden list login main menu message meta modal nav newsletter pag popular popup post product promo
    recommend relat reply review search share side social sponsor story subscri tag teaser text thread widget
    """.split()
)
CALLED = tuple(f"called_{stem}" for stem in _INHERITED)

_BIT_OF_STEM = {FIRST_STEM + STEMS.index(stem): 1 << bit for bit, stem in enumerate(_INHERITED)}


def called_around(bits: NDArray[np.int64], containers: Containers) -> NDArray[np.uint8]:
    """For each block, one row for each of `CALLED`: 1 if an element around it is called so.

    Args:
        bits: of the stems of each container's names, by `bits_of`.
        containers: the elements that hold text.
    """
    return unpack(containers.inherit(bits).take(containers.holders), len(CALLED))


def bits_of(names: Iterable[Iterable[int]]) -> NDArray[np.int64]:
    """Which of `CALLED` each of some names means, one bit each; of each name its stems (main/names.py)."""
    return np.array([sum(_BIT_OF_STEM.get(stem, 0) for stem in stems) for stems in names], np.int64)
