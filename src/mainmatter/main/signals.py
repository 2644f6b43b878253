"""Which signals `main` listens to, and which of them spoke for a block and which against it.

A family of signals speaks for a block as far as the net would be less sure without it: the family is set to what it is
on the average page, and the net is asked again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from mainmatter.main.context import COLUMNS, PageArrays
from mainmatter.method import LazyReasons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mainmatter.method import Method
    from mainmatter.records import Document

NAMES = "names"
_WORTH_TELLING = 0.3  # in log odds: what changes less says nothing
_MOST_TOLD = 3


@dataclass(frozen=True, slots=True)
class Described:
    """A page as the net sees it.

    Attributes:
        arrays: the blocks and their containers.
        vectors: what the containers are called: one row each.
    """

    arrays: PageArrays
    vectors: NDArray[np.float32]


def _family(column: str) -> str:
    """The family of signals that a column belongs to, in words that stand in a sentence."""
    starts = {
        "container_": "containers",
        "page_": "page",
        "longest_": "longest text",
        "title_": "title",
        "top_": "top container",
        "in_top": "top container",
        "in_title": "title",
        "in_": "tags",
        "kind_": "tags",
    }
    exact = {
        **dict.fromkeys(("chars", "text_nodes"), "length"),
        **dict.fromkeys(("link_share", "links"), "links"),
        **dict.fromkeys(("capitals", "begins_with_capital", "spaces"), "capitals"),
        **dict.fromkeys(("h1", "h2", "h3", "control"), "tags"),
        **dict.fromkeys(("copies", "copy_before"), "repetition"),
        **dict.fromkeys(("place", "chars_before", "gap_before", "gap_after", "pictures"), "place"),
        **dict.fromkeys(("depth", "relative_depth", "siblings", "alike"), "tree"),
    }
    if column in exact:
        return exact[column]
    return next((family for start, family in starts.items() if column.startswith(start)), "punctuation")


_COLUMNS_OF: dict[str, list[int]] = {}
for _number, _column in enumerate(COLUMNS):
    _COLUMNS_OF.setdefault(_family(_column), []).append(_number)
FAMILIES = (*_COLUMNS_OF, NAMES)


def leave_out(described: Described, families: Sequence[str], usual: NDArray[np.float32]) -> Described:
    """The page as it would look if some families of signals said nothing.

    Args:
        described: the page.
        families: some of `FAMILIES`.
        usual: what each column is on average.
    """
    arrays, vectors = described.arrays, described.vectors
    columns = [column for family in families if family != NAMES for column in _COLUMNS_OF[family]]
    if columns:
        dense = arrays.dense.copy()
        dense[:, columns] = usual[columns]
        arrays = replace(arrays, dense=dense)
    if NAMES in families:
        vectors = np.zeros_like(vectors)
        dense = arrays.dense.copy()
        dense[:, len(COLUMNS) :] = 0
        arrays = replace(arrays, dense=dense)
    return Described(arrays, vectors)


class Net(Protocol):
    """What the reasons ask of a method."""

    def describe(self, document: Document) -> Described:
        """What each block looks like."""
        ...

    def log_odds(self, described: Described, without: str | None = None) -> NDArray[np.float64]:
        """The log odds of each block to be main matter, also if a family of signals said nothing."""
        ...


class SignalReasons(LazyReasons):
    """One sentence a block: how likely it is, and which signals spoke for and against it most.

    Args:
        method: the method that judged.
        document: the page; described once more if somebody reads a reason.
        chances: the probability of each block.
        headline: the number of the block that is kept because it is the page's headline.
        weights: what each family adds to the log odds of each block, if that is known already.
    """

    def __init__(
        self,
        method: Net | None,
        document: Document | None,
        chances: NDArray[np.float64],
        headline: int | None = None,
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        self._method = method
        self._document = document
        self._chances = chances
        self._headline = headline
        if weights is not None:
            vars(self)["_weights"] = weights

    def __reduce__(self) -> tuple[Any, ...]:
        known = self._method is not None or "_weights" in vars(self)
        return SignalReasons, (None, None, self._chances, self._headline, self._weights if known else None)

    def __len__(self) -> int:
        return len(self._chances)

    def detach(self) -> SignalReasons:
        """The probabilities alone: to find out what the signals said takes longer than to judge the page."""
        return SignalReasons(None, None, self._chances, self._headline)

    def attach(self, method: Method, document: Document) -> SignalReasons:
        """These sentences once more, after a journey between processes."""
        return SignalReasons(cast("Net", method), document, self._chances, self._headline)

    def reason(self, index: int) -> str:
        """The sentence about one block."""
        told_first = f"probability {self._chances[index]:.2f}"
        if self._headline is not None and index in (self._headline, self._headline - len(self)):
            told_first = f"the page's headline; {told_first}"
        if self._weights is None:
            return told_first
        weights = dict(zip(FAMILIES, self._weights[:, index].tolist(), strict=True))
        loudest = sorted(weights, key=lambda family: -abs(weights[family]))
        told = [family for family in loudest if abs(weights[family]) >= _WORTH_TELLING][:_MOST_TOLD]
        speakers = [
            f"{word} {', '.join(f'{family} {weights[family]:+.1f}' for family in families)}"
            for word, families in (
                ("for", [family for family in told if weights[family] > 0]),
                ("against", [family for family in told if weights[family] < 0]),
            )
            if families
        ]
        return f"{told_first}; {'; '.join(speakers) or 'no signal stands out'}"

    @cached_property
    def _weights(self) -> NDArray[np.float64] | None:
        """What each family adds to the log odds of each block; made for all blocks once somebody reads one.

        None on a journey between processes, while nobody can be asked.
        """
        if self._method is None or self._document is None:
            return None
        described = self._method.describe(self._document)
        odds = self._method.log_odds(described)
        return np.stack([odds - self._method.log_odds(described, family) for family in FAMILIES])
