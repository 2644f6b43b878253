"""`ncleaner`: two character n-gram models, one of clean and one of dirty text, judge each block (NCleaner).

Of the paper's four stages the first three are our reader (html/, text/), which gives blocks and their kinds, and one
heuristic, `has_bars`. The fourth is here; its models are those of papers/ncleaner/ngrams.py. The preset "paper" is the
paper's fourth stage to the letter; reproduce/lynx.py has the first two, for those who want its text dumps as well.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from mainmatter.errors import InputError
from mainmatter.inputs.sites import site_of_url, split_by_site
from mainmatter.method import Example, Reasons, Trainable, be_silent, need_some
from mainmatter.papers.ncleaner.ngrams import (
    ARRAYS,
    Alphabet,
    AsciiAlphabet,
    NgramCounts,
    TwoModels,
    log_odds,
    make_log_odds,
    restore,
    write_texts,
)
from mainmatter.records import Document, Extraction, Kind
from mainmatter.text.tokens import gold_paragraphs, words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_DIRTY, _CLEAN, _BARS, _BEST = range(4)
_LEGEND = (
    "its letters are likelier in boilerplate than in main matter",
    "its letters are likelier in main matter than in boilerplate",
    "short fields between vertical bars: a navigation bar or a footer",
    "the best of a page where nothing looks like main matter",
)

# NCleaner 2, third stage: "multiple fields separated by vertical bars". The paper does not give its regular expression.
_FEWEST_BARS = 3
_LONGEST_FIELD = 40  # characters, on average
_MAY_HAVE_BARS = frozenset((Kind.CODE, Kind.TABLE_ROW))

# The models do not know how long blocks are, but boilerplate is short and main matter is long. So a block of this
# length, in characters, needs even odds, a shorter one needs odds in its favour, and a longer one may have some against
# it. The length was chosen by cross-validation on cleaneval-dev, readability and wcxb-dev; how much each character
# counts is learned.
_EVEN_LENGTH = 40
_SLOPES = (0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18, 0.22, 0.26, 0.3)
_FOLDS = 5
_FEWEST_PAGES = 10  # with fewer, the paper's threshold: the likelier one is right

# Where nothing is kept, blocks whose odds are about as good as the best one's stay with it: within a factor of e^2.
_ABOUT_AS_GOOD = 2.0

_LONGEST_N = 8
_SMALLEST_Q, _LARGEST_Q = 0.001, 0.999  # beyond, probabilities get too small for numbers of 32 bits
_LARGEST_THRESHOLD = 1e6  # log odds; learned ones are below 20


@dataclass(frozen=True, slots=True)
class ObservedTexts:
    """What `ncleaner` needs of a page for learning.

    Attributes:
        site: the site that the page is from, "" if unknown.
        texts: of its blocks.
        gold: the paragraphs of its gold text.
        is_clean: which blocks are main matter.
        words: how many words each block has.
        matched: how many of them are in the gold text.
        gold_words: how many words the gold text has.
    """

    site: str
    texts: list[str]
    gold: list[str]
    is_clean: NDArray[np.bool_]
    words: NDArray[np.int64]
    matched: NDArray[np.float64]
    gold_words: int


@dataclass(eq=False)
class Ncleaner(Trainable[ObservedTexts]):
    """Keep a block if its characters are likelier in clean than in dirty text.

    Args:
        n: the length of the n-grams.
        q: the weight of a shorter history, relative to the one that is a character longer.
        lexical: whether letters and digits are told apart; otherwise all letters are the same, and all digits.
        dirty: what the models learn from: "labelled", clean and dirty blocks, as the gold text labels them; or
            "differential", the gold text, and what is left when its n-grams are subtracted from those of all blocks.
        threshold: the log odds that a block must reach, the paper's 0 for instance; None for what was learned, which
            depends on the length of the block.
        heuristics: whether to drop navigation bars and footers with vertical bars, whatever the models say.
        never_empty: keep the best blocks of a page where no block is above the threshold (the paper keeps nothing).
        alphabet: "unicode", the frequent characters and classes for all others; or "ascii", as in the paper, with a
            tilde for every character that is not ASCII.
        other_scripts: whether the models also count each text as other scripts would write it, so that they know their
            letters; the paper counts it once. Of no effect in ASCII.
    """

    n: int = 3
    q: float = 0.5
    lexical: bool = True
    dirty: Literal["differential", "labelled"] = "labelled"
    threshold: float | None = None
    heuristics: bool = True
    never_empty: bool = True
    alphabet: Literal["ascii", "unicode"] = "unicode"
    other_scripts: bool = True

    alphabet_: Alphabet = field(init=False, repr=False)
    threshold_: tuple[float, float] = field(init=False, repr=False, default=(0.0, 0.0))
    weights_: TwoModels = field(init=False, repr=False)

    name: ClassVar[str] = "ncleaner"
    summary: ClassVar[str] = "character n-gram models of clean and of dirty text (NCleaner)"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {
            "n": 3,
            "q": 0.5,
            "dirty": "differential",
            "threshold": 0.0,
            "heuristics": True,
            "never_empty": False,
            "alphabet": "ascii",
            "other_scripts": False,
        }
    }
    learned_with: ClassVar[frozenset[str]] = frozenset({"n", "q", "lexical", "dirty", "alphabet", "other_scripts"})

    def __post_init__(self) -> None:
        if self.dirty not in ("differential", "labelled"):
            raise InputError(f"method 'ncleaner': dirty must be differential or labelled, not {self.dirty!r}")
        if self.alphabet not in ("ascii", "unicode"):
            raise InputError(f"method 'ncleaner': alphabet must be ascii or unicode, not {self.alphabet!r}")
        if type(self.n) is not int or not 1 <= self.n <= _LONGEST_N:
            raise InputError(f"method 'ncleaner': n must be a whole number from 1 to {_LONGEST_N}, not {self.n!r}")
        if not (_is_real(self.q) and _SMALLEST_Q <= self.q <= _LARGEST_Q):
            raise InputError(f"method 'ncleaner': q must be from {_SMALLEST_Q} to {_LARGEST_Q}, not {self.q!r}")
        if self.threshold is not None and not _is_real(self.threshold):
            raise InputError(f"method 'ncleaner': threshold must be a number or None, not {self.threshold!r}")
        for name in ("lexical", "heuristics", "never_empty", "other_scripts"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"method 'ncleaner': {name} must be True or False, not {getattr(self, name)!r}")

    def extract(self, document: Document) -> Extraction:
        """Keep the blocks that the clean model finds likelier than the dirty one, as far as the threshold says."""
        texts = document.columns.texts
        scores = self.log_odds(texts)
        if self.threshold is None:
            constant, per_character = self.threshold_
            scores -= constant + per_character * document.lengths
            codes = (scores > 0).astype(np.intp)
        else:
            # NCleaner 2, fourth stage: deleted where the dirty model's probability is higher, "otherwise" included.
            codes = (scores >= self.threshold).astype(np.intp)
        if self.heuristics:
            kinds = document.columns.kinds
            codes[[i for i, text in enumerate(texts) if "|" in text and has_bars(text, kinds[i])]] = _BARS
        if self.never_empty and not (codes == _CLEAN).any():
            # Keep the best blocks; navigation bars are not among them.
            others = np.flatnonzero(codes == _DIRTY)
            if len(others):
                codes[others[scores[others] >= scores[others].max() - _ABOUT_AS_GOOD]] = _BEST
        return Extraction(
            document,
            self.name,
            scores=scores,
            kept=(codes == _CLEAN) | (codes == _BEST),
            kinds=document.columns.kinds,
            reasons=Reasons(codes, _LEGEND),
            threshold=self.threshold or 0.0,  # of one that was learned, scores tell the distance
        )

    def log_odds(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """By how much the clean model finds each text likelier than the dirty one does, as a natural logarithm."""
        self._need_weights()
        return log_odds(self.weights_).of_texts(self.alphabet_, texts)

    def observe(self, example: Example) -> ObservedTexts:
        """Take the texts of the page and of its gold standard, and the labels of its blocks."""
        texts = example.document.columns.texts
        counted = np.fromiter((len(words(text)) for text in texts), np.int64, len(texts))
        return ObservedTexts(
            site=site_of_url(example.document.page.url),
            texts=texts,
            gold=gold_paragraphs(example.gold),
            is_clean=example.kept,
            words=counted,
            matched=counted * example.shares,
            gold_words=len(words(example.gold.text or "")),
        )

    def learn(self, observations: Sequence[ObservedTexts], report: Callable[[str], object] = be_silent) -> Self:
        """Count n-grams, and choose the threshold by cross-validation on the pages, split by site.

        Raises:
            InputError: there is no clean or no dirty text at all.
        """
        need_some(observations, self.name)
        if self.alphabet == "ascii":
            self.alphabet_ = AsciiAlphabet(lexical=self.lexical)
        else:
            self.alphabet_ = Alphabet.learn(("\n".join(page.texts) for page in observations), lexical=self.lexical)
        numbers = split_by_site([page.site for page in observations], _FOLDS)
        folds = [[observations[number] for number in fold] for fold in numbers if fold]
        counted = [self._count(fold) for fold in folds]
        weights = self._weigh(counted)
        for name in ("clean", "dirty"):
            if weights.is_empty(name):  # models of nothing find all texts equally likely, and keep nothing
                raise InputError(
                    "ncleaner: needs clean and dirty text to learn from; "
                    f"going by their gold texts, the pages have no {name} text at all"
                )
        self.threshold_ = (0.0, 0.0)
        if len(observations) >= _FEWEST_PAGES and len(folds) > 1:
            odds = []
            for number, fold in enumerate(folds):
                models = make_log_odds(self._weigh(counted[:number] + counted[number + 1 :]))
                odds += [models.of_texts(self.alphabet_, page.texts) for page in fold]
            self.threshold_, f1 = choose_threshold(odds, [page for fold in folds for page in fold])
            line = f"{self.threshold_[0]:.2f} {self.threshold_[1]:+.2f} a character"
            report(f"{len(observations)} pages: threshold {line}, word F1 {f1:.3f} held out")
        self.weights_ = weights
        return self

    def facts_and_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The alphabet and the threshold; the counts of n-grams."""
        self._need_weights()
        facts = {"alphabet": self.alphabet_.own, "threshold": list(self.threshold_)}
        return facts, {**self.weights_.arrays}

    def restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Take over counts of n-grams; what follows from them is computed once for the same counts."""
        threshold = facts["threshold"]
        if not (isinstance(threshold, list) and len(threshold) == 2 and all(map(_is_real, threshold))):
            raise ValueError("the threshold is not a list of two numbers")
        if max(map(abs, threshold)) > _LARGEST_THRESHOLD:
            raise ValueError(f"the threshold is not within {_LARGEST_THRESHOLD:g}")
        own = facts["alphabet"]
        if not isinstance(own, str):
            raise ValueError("the alphabet is not a text")
        chosen = {name: arrays[name] for name in ARRAYS}
        self.alphabet_, self.weights_ = restore(
            own, chosen, n=self.n, q=self.q, lexical=self.lexical, ascii_only=self.alphabet == "ascii"
        )
        self.threshold_ = float(threshold[0]), float(threshold[1])

    def weights(self) -> str:
        """One model ships for the lexical and one for the non-lexical version; two more for the paper's."""
        name = f"{self.name}-paper" if self.alphabet == "ascii" else self.name
        return name if self.lexical else f"{name}-non-lexical"

    def _need_weights(self) -> None:
        if not hasattr(self, "weights_"):
            raise InputError("method 'ncleaner' has not learned yet: fit it, or use mainmatter.get_method('ncleaner')")

    def _count(self, pages: Sequence[ObservedTexts]) -> tuple[NgramCounts, NgramCounts]:
        """The n-grams of clean text, and those of dirty text or, for differential training, of all text."""
        if self.dirty == "differential":
            clean = [text for page in pages for text in page.gold]
            other = [text for page in pages for text in page.texts]
        else:
            labelled = [pair for page in pages for pair in zip(page.texts, page.is_clean, strict=True)]
            clean = [text for text, is_clean in labelled if is_clean]
            other = [text for text, is_clean in labelled if not is_clean]
        return self._count_texts(clean), self._count_texts(other)

    def _count_texts(self, texts: Sequence[str]) -> NgramCounts:
        symbols = write_texts(self.alphabet_, texts, self.n)
        versions = [symbols, *(self.alphabet_.copies(symbols) if self.other_scripts else [])]
        return NgramCounts.sum([NgramCounts.of(version, self.alphabet_.size, self.n) for version in versions])

    def _weigh(self, counted: Sequence[tuple[NgramCounts, NgramCounts]]) -> TwoModels:
        clean, other = (NgramCounts.sum(parts) for parts in zip(*counted, strict=True))
        return TwoModels.of(clean, other.minus(clean) if self.dirty == "differential" else other, self.q)


def has_bars(text: str, kind: Kind) -> bool:
    """Whether a block is a navigation bar or a footer: several short fields between vertical bars (NCleaner 2)."""
    bars = text.count("|")
    return bars >= _FEWEST_BARS and len(text) <= _LONGEST_FIELD * (bars + 1) and kind not in _MAY_HAVE_BARS


def choose_threshold(
    odds: Sequence[NDArray[np.float64]], pages: Sequence[ObservedTexts]
) -> tuple[tuple[float, float], float]:
    """The threshold that keeps the right words: log odds of a block, and what each character adds to that.

    Args:
        odds: the log odds of each page's blocks, by models that have not learned from the page.
        pages: what was observed on them.

    Returns:
        The threshold, and the F1 of words that it reaches: the mean of micro and macro average.
    """
    of_page = np.repeat(np.arange(len(pages)), [len(page.texts) for page in pages])
    all_odds = np.concatenate(odds)
    lengths = np.array([len(text) for page in pages for text in page.texts])
    counted = np.concatenate([page.words for page in pages])
    matched = np.concatenate([page.matched for page in pages])
    gold = np.array([page.gold_words for page in pages], np.float64)
    best, best_f1 = 0.0, -1.0
    for slope in _SLOPES:
        kept = all_odds > slope * (_EVEN_LENGTH - lengths)
        found = np.bincount(of_page[kept], matched[kept], len(pages)).astype(np.float64)
        sizes = np.bincount(of_page[kept], counted[kept], len(pages)) + gold
        f1 = (_f1(found.sum(), sizes.sum()) + _f1(found, sizes).mean()) / 2
        if f1 > best_f1:
            best, best_f1 = slope, float(f1)
    return (best * _EVEN_LENGTH, -best), best_f1


def _f1(matched: Any, sizes: Any) -> Any:  # of arrays, or of numbers
    """F1 from the words that two texts share and those that they have together; 1 if both are empty."""
    return np.where(sizes > 0, 2 * matched / np.maximum(sizes, 1), 1.0)


def _is_real(value: object) -> bool:
    """Whether a parameter is a number; infinite ones are, NaN is not, nor is an integer too large for a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max or value in (float("inf"), float("-inf"))
