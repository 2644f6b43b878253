"""`ice-elaborate`: pseudo-probabilities for list item, heading and paragraph (ICE 3.2, "more elaborate heuristics").

The paper names the signals and not the numbers. The weights below are ours: each signal of a label gets a share, the
shares add up to 1, and the markup, which is the strongest signal, gets the largest. `threshold` is what the paper
calls "one of the issues in this approach"; docs/explanation/methods/ice-elaborate.md shows how ours was set.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from mainmatter.errors import InputError
from mainmatter.html.segment import HEADING_LEVELS
from mainmatter.method import Reasons
from mainmatter.records import Document, Extraction, Kind
from mainmatter.text.tokens import count_spaced_words, count_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

ParentTag = Literal["around", "own"]

_PARAGRAPH, _HEADING, _LIST_ITEM, _DROPPED = range(4)
_LEGEND = (
    "enough punctuation and conjunctions for running text: a paragraph",
    "short, marked as a heading or followed by a long text, without links: a heading",
    "short, marked as a list item or among such, without links: a list item",
    "too little punctuation and too few conjunctions for running text",
)
_KINDS = {_PARAGRAPH: Kind.PARAGRAPH, _HEADING: Kind.HEADING, _LIST_ITEM: Kind.LIST_ITEM}

# A list item or heading loses this much of its length score with every word.
_LIST_ITEM_DECAY = 1 / 25
_HEADING_DECAY = 1 / 15
_LONG_NEIGHBOUR = 10  # words, from the paper
# What running text reaches: a punctuation mark every eight words, a conjunction every twenty-four.
_FULL_PUNCTUATION = 1 / 8
_FULL_CONJUNCTIONS = 1 / 24

_PUNCTUATION = re.compile(r"[.,;:!?…。，、；：！？·؟،؛।]")
_WORD = re.compile(r"\w+")

# Conjunctions of the languages that we measure on and of their neighbours; none that is a common word of another kind
# in another of these languages.
_CONJUNCTIONS = frozenset(
    """
    after although and as because before but if or since so than that though unless until when where whether while yet
    aber als dass denn doch ob oder sondern und weil wenn während
    comme donc et lorsque mais ni ou puisque quand que si
    aunque cuando pero porque pues sino y
    anche che ed ma oppure perché quando
    dat maar nadat omdat terwijl toen
    ale bo czy gdy jeśli lub oraz więc że
    а и или если как когда но потому что чтобы
    αλλά αν γιατί ενώ ή και όταν ότι
    """.split()
)
_HAN_CONJUNCTIONS = re.compile("因为|所以|如果|虽然|而且|[和與与而但或及並并]")


@dataclass(frozen=True)
class IceElaborate:
    """Give each block the likeliest of three labels; keep paragraphs above a threshold, headings and list items.

    Args:
        threshold: a paragraph scores more than this.
        label_threshold: a heading or list item scores more than this; below, the block is taken for a paragraph.
        parent_tag: a block is in a heading or list by the elements "around" it, or by its "own" alone, which is the
            innermost block-level element and must be `h1` to `h6`, or `li`.
        estimate_words: scripts without spaces have words too; if False, a word is what white space separates.
    """

    threshold: float = 0.5
    label_threshold: float = 0.5
    parent_tag: ParentTag = "around"
    estimate_words: bool = True

    name: ClassVar[str] = "ice-elaborate"
    summary: ClassVar[str] = "pseudo-probabilities for list item, heading and paragraph (ICE 3.2)"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {"label_threshold": 0.0, "parent_tag": "own", "estimate_words": False}
    }

    def __post_init__(self) -> None:
        if self.parent_tag not in ("around", "own"):
            raise InputError(f"ice-elaborate: parent_tag must be around or own, not {self.parent_tag!r}")

    def extract(self, document: Document) -> Extraction:
        """Label every block and keep those whose label is likely enough."""
        signals = _Signals(document, self.parent_tag, estimate_words=self.estimate_words)
        likelihoods = np.stack([signals.paragraph(), signals.heading(), signals.list_item()])
        codes = likelihoods.argmax(axis=0)
        codes[likelihoods.max(axis=0) <= self.label_threshold] = _PARAGRAPH
        scores = likelihoods[codes, np.arange(len(document))]
        codes[(codes == _PARAGRAPH) & (scores <= self.threshold)] = _DROPPED
        return Extraction(
            document,
            self.name,
            scores=scores,
            kept=codes != _DROPPED,
            kinds=[_KINDS.get(code, kind) for code, kind in zip(codes.tolist(), document.columns.kinds, strict=True)],
            reasons=Reasons(codes, _LEGEND),
        )


class _Signals:
    """The paper's signals, one array each, and what they say together."""

    def __init__(self, document: Document, parent_tag: ParentTag, *, estimate_words: bool) -> None:
        texts = document.columns.texts
        count = count_words if estimate_words else count_spaced_words
        self.words = _array(count(text)[0] for text in texts)
        at_least_one = np.maximum(self.words, 1)
        self.punctuation = _array(len(_PUNCTUATION.findall(text)) for text in texts) / at_least_one
        self.conjunctions = _array(_count_conjunctions(text) for text in texts) / at_least_one
        self.is_capitalised = _array(text[:1].isupper() for text in texts)
        self.has_link = _array(document.columns.link_counts) > 0
        if parent_tag == "own":
            self.in_list = _array(tag == "li" for tag in document.tags)
            self.in_heading = _array(tag in HEADING_LEVELS for tag in document.tags)
        else:
            kinds = document.columns.kinds
            self.in_list = _array(kind is Kind.LIST_ITEM for kind in kinds)
            self.in_heading = _array(kind is Kind.HEADING for kind in kinds)

    def paragraph(self) -> NDArray[np.float64]:
        """Ratio of punctuation to words, and of conjunctions to words."""
        return (
            np.minimum(self.punctuation / _FULL_PUNCTUATION, 1) * 0.5
            + np.minimum(self.conjunctions / _FULL_CONJUNCTIONS, 1) * 0.5
        )

    def heading(self) -> NDArray[np.float64]:
        """Length in words, parent tag, and whether the next block is long; never with a link."""
        before_long = np.append(self.words[1:] > _LONG_NEIGHBOUR, False)[: len(self.words)]
        shortness = np.maximum(1 - self.words * _HEADING_DECAY, 0)
        return np.where(self.has_link, 0, self.in_heading * 0.5 + shortness * 0.25 + before_long * 0.25)

    def list_item(self) -> NDArray[np.float64]:
        """Length in words, parent tag, capital letter, and the likelihood of both neighbours; never with a link."""
        shortness = np.maximum(1 - self.words * _LIST_ITEM_DECAY, 0)
        alone = self.in_list * 0.5 + shortness * 0.15 + self.is_capitalised * 0.1
        padded = np.pad(alone, 1)
        neighbours = (padded[:-2] + padded[2:]) / 2 / 0.75
        return np.where(self.has_link, 0, alone + neighbours * 0.25)


def _count_conjunctions(text: str) -> int:
    found = sum(word in _CONJUNCTIONS for word in _WORD.findall(text.lower()))
    return found if text.isascii() else found + len(_HAN_CONJUNCTIONS.findall(text))


def _array(values: object) -> NDArray[np.float64]:
    return np.array(list(values), np.float64)  # type: ignore[call-overload]
