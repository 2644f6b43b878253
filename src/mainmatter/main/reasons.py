"""Why `main` decided as it did, in a sentence for each block: the signals for and against it, and what overruled them.

A family of signals speaks for a block if the net would be less sure without it: the family is set to its value on the
average page, and the net is asked again. Of names, the one with the most weight is given (`Main.weigh_names`).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, isnan
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from mainmatter.main.choice import ADDITIONS, PIECES, SWITCHES
from mainmatter.main.features import FAMILIES, NAMES
from mainmatter.method import LazyReasons, attach, detach
from mainmatter.records import LABELS, MAIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mainmatter.main.choice import Controls
    from mainmatter.main.features import PageFeatures
    from mainmatter.method import Method
    from mainmatter.records import Document, Kind

_MIN_WEIGHT = 0.3  # in log odds: what changes less says nothing
_MIN_WEIGHT_OF_NAME = 0.1  # likewise; the same is often said by several names, so that each alone says little
_MAX_FAMILIES = 3
_NUMBER_OF_NAMES = FAMILIES.index(NAMES)
_SWITCH_OF = {kind: switch for switch, kind in SWITCHES.items()}
_NOUN = {"headline": "the headline is", "code": "code is"}
_PIECE_OF = {label: switch for switch, label in PIECES.items()}


class ExplainableNet(Protocol):
    """What the reasons ask of a method."""

    def describe(self, document: Document) -> PageFeatures:
        """What each block looks like."""
        ...

    def log_odds(self, page: PageFeatures, without: str | None = None) -> NDArray[np.float64]:
        """The log odds of each block to be main matter, also if a family of signals said nothing."""
        ...

    def weigh_names(
        self, document: Document, page: PageFeatures, signs: NDArray[np.float64]
    ) -> tuple[Sequence[str], NDArray[np.float32]]:
        """Names of the page's elements, and how much each adds to the log odds of each block, one row a block."""
        ...


@dataclass(repr=False, eq=False)
class SignalReasons(LazyReasons):
    """One sentence a block: how likely it is, and which signals spoke for and against it most.

    Attributes:
        method: the method that judged; None while these are detached.
        document: the page, likewise; described once more when a reason is read.
        probabilities: of each block.
        headline: the number of the block that is kept because it is the page's headline.
        threshold: the probability from which on blocks are kept on this page.
        dials: for each block, the dial from which on it is kept, NaN where no dial decides; None if unknown.
        known_weights: what each family adds to the log odds of each block, if that is known already.
        known_names: the name that says most about each block, likewise.
    """

    method: ExplainableNet | None
    document: Document | None
    probabilities: NDArray[np.float64]
    headline: int | None = None
    threshold: float = 0.0
    dials: NDArray[np.float64] | None = None
    known_weights: NDArray[np.float64] | None = None
    known_names: Sequence[str] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return SignalReasons, (None, None, self.probabilities, self.headline, self.threshold, self.dials, *self.said)

    def __len__(self) -> int:
        return len(self.probabilities)

    def detach(self) -> SignalReasons:
        """The probabilities alone: to find out what the signals said takes longer than to judge the page."""
        return SignalReasons(None, None, self.probabilities, self.headline, self.threshold, self.dials)

    def attach(self, method: Method, document: Document) -> SignalReasons:
        """These sentences with their method and document again."""
        net = cast("ExplainableNet", method)
        return SignalReasons(net, document, self.probabilities, self.headline, self.threshold, self.dials)

    @cached_property
    def said(self) -> tuple[NDArray[np.float64] | None, Sequence[str]]:
        """What each family adds to the log odds of each block, and the name that says most about it, "" for none.

        Made for all blocks when one is read; None while these are detached from their method.
        """
        if self.method is None or self.document is None:
            return self.known_weights, self.known_names
        page = self.method.describe(self.document)
        odds = self.method.log_odds(page)
        weights = np.stack([odds - self.method.log_odds(page, family) for family in FAMILIES])
        return weights, self._loudest_names(self.method, self.document, page, weights)

    def _loudest_names(
        self, method: ExplainableNet, document: Document, page: PageFeatures, weights: NDArray[np.float64]
    ) -> list[str]:
        """The name that says most about each block of which names are told, "" for others."""
        loudest = [""] * len(self)
        of_names = weights[_NUMBER_OF_NAMES]
        amounts = np.abs(of_names)
        is_told = (amounts >= _MIN_WEIGHT) & ((np.abs(weights) > amounts).sum(axis=0) < _MAX_FAMILIES)
        if is_told.any():
            # Only what speaks the same way as all names together explains them.
            signs = np.sign(of_names) * is_told
            names, says = method.weigh_names(document, page, signs)
            if names:
                says = says * signs[:, None]
                best = says.argmax(axis=1)
                for i in np.flatnonzero(says.max(axis=1) > _MIN_WEIGHT_OF_NAME).tolist():
                    loudest[i] = names[best[i]]
        return loudest

    def reason(self, index: int) -> str:
        """The sentence about one block."""
        parts = self._about_threshold(index)
        if self.headline is not None and index in (self.headline, self.headline - len(self)):
            parts.insert(0, "the page's headline")
        strongest = self._strongest
        if strongest is None:
            return "; ".join(parts)
        said_for, said_against = "", ""
        families, weights = strongest
        for family, weight in zip(families[index], weights[index], strict=True):
            if weight >= _MIN_WEIGHT:
                said_for += f", {family} {weight:+.1f}"
            elif weight <= -_MIN_WEIGHT:
                said_against += f", {family} {weight:+.1f}"
        if said_for:
            parts.append(f"for {said_for[2:]}")
        if said_against:
            parts.append(f"against {said_against[2:]}")
        return "; ".join(parts if said_for or said_against else [*parts, "no signal stands out"])

    @cached_property
    def _strongest(self) -> tuple[list[list[str]], list[list[float]]] | None:
        """The families that say most about each block, the loudest first, with the name that does; and what they say.

        Made for all blocks at once, as lists: to take numbers out of arrays one by one takes most of the time.
        """
        weights, names = self.said
        if weights is None:
            return None
        families = np.argsort(-np.abs(weights), axis=0, kind="stable")[:_MAX_FAMILIES]
        said = np.take_along_axis(weights, families, axis=0).T.tolist()
        words = [[FAMILIES[family] for family in some] for some in families.T.tolist()]
        for i, family in zip(*np.nonzero(families.T == _NUMBER_OF_NAMES), strict=True):
            if names[i]:
                words[i][family] = f"{NAMES} ({names[i]})"
        return words, said

    @cached_property
    def _numbers(self) -> tuple[list[float], list[float] | None]:
        """Probabilities and dials, as lists, likewise."""
        return self.probabilities.tolist(), None if self.dials is None else self.dials.tolist()

    def _about_threshold(self, index: int) -> list[str]:
        """How likely the block is, the page's threshold, and from which dial on the block is kept."""
        probabilities, dials = self._numbers
        probability = probabilities[index]
        likely = f"{probability:.2f}"
        if dials is None or isnan(dial := dials[index]):
            return [f"probability {likely}"]
        threshold = f"{self.threshold:.2f}"
        if likely == threshold:
            likely, threshold = f"{probability:.4f}", f"{self.threshold:.4f}"
        parts = [f"probability {likely}, threshold {threshold}"]
        if dial == 1:
            is_site = 0 < self.threshold <= probability  # likely enough, but dropped
            return [*parts, f"{'the name of the site above the headline: ' * is_site}kept only at dial 1"]
        # Rounded up, so that the statement is true.
        return [*parts, f"kept from dial {ceil(100 * dial) / 100:.2f} on" if dial else "kept at any dial"]


@dataclass(frozen=True, slots=True, eq=False)
class PrefixedReasons(LazyReasons):
    """Reasons, some of them with what had the last word before them."""

    reasons: Sequence[str]

    @abstractmethod
    def prefix(self, index: int) -> str:
        """What stands before the reason of one block; "" for nothing."""

    @abstractmethod
    def may_have_prefix(self) -> NDArray[np.bool_]:
        """Of which blocks it is worth asking for the prefix: of most there is none."""

    def reason(self, index: int) -> str:
        """The sentence about one block."""
        prefix = self.prefix(index)
        return f"{prefix}; {self.reasons[index]}" if prefix else self.reasons[index]

    def __iter__(self) -> Iterator[str]:
        for i, (may_have_prefix, reason) in enumerate(zip(self.may_have_prefix().tolist(), self.reasons, strict=True)):
            prefix = self.prefix(i) if may_have_prefix else ""
            yield f"{prefix}; {reason}" if prefix else reason

    def __len__(self) -> int:
        return len(self.reasons)

    def detach(self) -> Sequence[str]:
        """These sentences without the method and the document."""
        return replace(self, reasons=detach(self.reasons))

    def attach(self, method: Method, document: Document) -> Sequence[str]:
        """These sentences with their method and document again."""
        return replace(self, reasons=attach(self.reasons, method, document))


@dataclass(frozen=True, slots=True, eq=False)
class ControlReasons(PrefixedReasons):
    """A method's reasons, and before them the control that overruled it, if one did.

    Attributes:
        judged: what the method judged to be worth keeping.
        kept: what `apply_controls` made of that.
        kinds: what each block is, as for `apply_controls`.
        labels: likewise.
        controls: likewise.
    """

    judged: NDArray[np.bool_]
    kept: NDArray[np.bool_]
    kinds: Sequence[Kind]
    labels: NDArray[np.intp] | None
    controls: Controls

    def prefix(self, index: int) -> str:
        """The control that had the last word: always of what is kept only where users ask for it."""
        label = MAIN if self.labels is None else int(self.labels[index])
        piece = _PIECE_OF.get(label)
        if piece in ADDITIONS:
            if not self.controls.wants(piece):
                return f"a {LABELS[label]}: dropped, as {piece} are unless asked for"
            if self.kept[index]:
                return f"a {LABELS[label]}: kept, as {piece} are wanted"
        elif self.judged[index] == self.kept[index]:
            return ""
        switch = piece if piece == "headline" and not self.controls.headline else _SWITCH_OF[self.kinds[index]]
        return f"{_NOUN.get(switch, f'{switch} are')} not wanted"

    def may_have_prefix(self) -> NDArray[np.bool_]:
        """Of blocks that a control overruled, and of pieces that have one of their own."""
        is_overruled: NDArray[np.bool_] = self.judged != self.kept
        return is_overruled if self.labels is None else is_overruled | np.isin(self.labels, [*_PIECE_OF])
