"""FIASCO 3.1, note 4: shares of parts of speech in the text of each target node's subtree.

The paper's TreeTagger may not be passed on; HanTa (extra `pos`) ships models for English, German and Dutch. Words are
tagged one by one, by their most likely tag: without the sentence around them that is a little less exact, and much
faster, since a page's words repeat.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.errors import MissingExtra

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mainmatter.papers.fiasco.nodes import Spans
    from mainmatter.records import Document

POS = ("open_class", "closed_class", "unknown_words", "special_symbols")
MOST_WORDS = 50  # of a node's text the first so many are tagged: enough for shares, and tagging is slow
# The tagger takes all ways to cut a word in parts, so that long words take much longer. What is beyond these two bounds
# counts as unknown, so that no page takes long: longer words, and those after so many letters of different words.
_LONGEST = 20
_MOST_LETTERS = 20_000

_OPEN, _CLOSED, _UNKNOWN, _SYMBOL, _NUMBER = range(5)
_MODELS = {"en": "morphmodel_en.pgz", "de": "morphmodel_ger.pgz", "nl": "morphmodel_dutch.pgz"}
# How tags of the three tag sets (CLAWS 5, STTS, CGN) begin; all others are those of closed classes.
_BEGINNINGS = {
    "en": {_OPEN: ("NN", "NP", "VV", "AJ", "AV0"), _SYMBOL: ("PU", "UNC", "ZZ"), _NUMBER: ("CRD", "ORD")},
    "de": {_OPEN: ("NN", "NE", "ADJ", "ADV", "VV", "TRUNC"), _SYMBOL: ("$", "XY", "FM"), _NUMBER: ("CARD",)},
    "nl": {_OPEN: ("N(", "ADJ", "WW", "BW"), _SYMBOL: ("LET", "SPEC"), _NUMBER: ("TW",)},
}
# The log probability of a word under its best tag. What the models have not seen has one of about -30 and less.
_LEAST_PROBABLE = -28.0

_TOKEN = re.compile(r"\w+|[^\w\s]")


def need_tagger() -> None:
    """Complain early.

    Raises:
        MissingExtra: HanTa is not installed.
    """
    try:
        import HanTa.HanoverTagger  # noqa: F401, PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("HanTa", "pos") from error


def pos_features(document: Document, spans: Spans) -> NDArray[np.float64]:
    """The shares for each target node, one row a block, one column for each name in `POS`.

    They are 0 on pages in a language without a model; a page that does not name its language counts as English.

    Raises:
        MissingExtra: HanTa is not installed.
    """
    shares = np.zeros((len(document), len(POS)))
    language = (document.metadata.language or "en").replace("_", "-").partition("-")[0].lower()
    if language not in _MODELS:
        need_tagger()
        return shares
    codes = _PageCodes(language)
    texts = document.columns.texts
    for block, (first, end) in enumerate(zip(*(side.tolist() for side in spans), strict=True)):
        tokens = (token[0] for text in texts[first:end] for token in _TOKEN.finditer(text))
        found = np.bincount([codes.of(token) for token in islice(tokens, MOST_WORDS)], minlength=_NUMBER + 1)
        shares[block] = found[: len(POS)] / max(1, found.sum())
    return shares


class _PageCodes:
    """The classes of a page's words; tags no more than so many letters of different ones."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._known: dict[str, int] = {}
        self._letters_left = _MOST_LETTERS

    def of(self, token: str) -> int:
        """The class of a word or a punctuation mark."""
        code = self._known.get(token)
        if code is None:
            code = _UNKNOWN
            if len(token) <= _LONGEST:
                self._letters_left -= len(token)
                if self._letters_left >= 0:
                    code = _class_of(self._language, token)
            self._known[token] = code
        return code


@lru_cache(maxsize=100_000)
def _class_of(language: str, token: str) -> int:
    if not token[0].isalnum():
        return _SYMBOL
    tagged = _tagger(language).tag_word(token)
    if not tagged:
        return _UNKNOWN
    tag, probability = max(tagged, key=lambda each: each[1])
    for code, beginnings in _BEGINNINGS[language].items():
        if tag.startswith(beginnings):
            return _UNKNOWN if code != _NUMBER and probability < _LEAST_PROBABLE else code
    return _UNKNOWN if probability < _LEAST_PROBABLE else _CLOSED


@cache
def _tagger(language: str) -> Any:  # noqa: ANN401 - HanTa has no types
    need_tagger()
    from HanTa.HanoverTagger import HanoverTagger  # noqa: PLC0415 - an extra

    return HanoverTagger(_MODELS[language])
