"""What FIASCO looks at: the text of each target node (FIASCO 3.1) and its place in the tree (3.2).

Linguistic features are of the node's own text and of that of the whole subtree. Lengths and counts are given as
logarithms: scaled to [-1, 1] by the longest text of the training data, plain ones would all be about -1.

Keywords are significantly more frequent in one of two kinds of text than in the other, and substantially more frequent
than in general language. Keyness is a conservative estimate of the log odds ratio of the two relative frequencies: the
end of its confidence interval that is nearer to zero. The clean blocks of a page are one text, the dirty ones another.

Parts of speech: the paper's TreeTagger may not be passed on; HanTa (extra `pos`) ships models for English, German and
Dutch. Words are tagged one by one, by their most likely tag: without the sentence around them that is a little less
exact, and much faster, since a page's words repeat.

Structural features: the paper gives examples, depth, heading, paragraph, and the proportions of `<a>`, `href` and
`<img>`. The others are ours, in the same spirit: what the node is inside of, the text around it in the nearest node
that holds more than this one, and how much text of the page stands before it. `LISTED_LINGUISTIC` and
`LISTED_STRUCTURAL` name those that the paper has.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.errors import MissingExtra
from mainmatter.papers.fiasco.nodes import (
    IN_ARTICLE,
    IN_FORM,
    IN_LIST,
    IN_MARGIN,
    IN_TABLE,
    PARAGRAPH,
    Spans,
    find_wider,
    sum_below,
)
from mainmatter.papers.fiasco.texts import NumberedWords, count_sentences, count_symbols
from mainmatter.records import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from mainmatter.papers.fiasco.elements import Elements
    from mainmatter.papers.fiasco.nodes import Nodes
    from mainmatter.records import Document

    Labelled = tuple[NumberedWords, NDArray[np.bool_], str]

    Frequency = Callable[[str, str], float]


# 3.1: what the text looks like

_TEXT_FEATURES = ("chars", "tokens", "types", "sentences", "sentence_length", "symbols")
_KEYWORD_FEATURES = ("clean_keywords", "dirty_keywords")
LINGUISTIC = tuple(f"{part}_{name}" for part in ("own", "all") for name in _TEXT_FEATURES)
# Those that the paper lists: special symbols are among its parts of speech.
LISTED_LINGUISTIC = tuple(name for name in LINGUISTIC if not name.endswith("_symbols"))
KEYWORDS = tuple(f"{part}_{name}" for part in ("own", "all") for name in _KEYWORD_FEATURES)


def linguistic_features(
    document: Document | Elements,
    spans: Spans,
    page_words: NumberedWords,
    owners: NDArray[np.intp] | None = None,
    *,
    logs: bool = True,
) -> NDArray[np.float64]:
    """The features of each target node, one row a node, one column for each name in `LINGUISTIC`.

    Args:
        document: what the texts are part of.
        spans: which texts are below each target node.
        page_words: their words.
        owners: the target node whose own text each text is, or -1; if None, each has one text of its own.
        logs: lengths and counts as logarithms.
    """
    texts = document.texts
    chars = document.lengths
    tokens = np.diff(page_words.starts).astype(np.int64)
    own_types, all_types = page_words.count_types(spans, owners)
    counts = (chars, tokens, count_sentences(texts), count_symbols(texts))
    own = [sum_own(spans, owners, count) for count in counts]
    below = [sum_below(spans, count) for count in counts]
    return np.column_stack(
        [
            *_columns(own[0], own[1], own_types, own[2], own[3], logs=logs),
            *_columns(below[0], below[1], all_types, below[2], below[3], logs=logs),
        ]
    )


def sum_own(spans: Spans, owners: NDArray[np.intp] | None, of_texts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums over the own texts of each target node."""
    if owners is None:
        return of_texts
    owned = owners >= 0
    sums = np.bincount(owners[owned], weights=of_texts[owned], minlength=len(spans[0]))
    return sums.astype(np.int64)


def keyword_features(
    spans: Spans,
    page_words: NumberedWords,
    clean: Collection[str],
    dirty: Collection[str],
    owners: NDArray[np.intp] | None = None,
) -> NDArray[np.float64]:
    """The share of keywords among the words of each target node, one column for each name in `KEYWORDS`."""
    tokens = np.diff(page_words.starts).astype(np.int64)
    counts = [page_words.count(keywords) for keywords in (clean, dirty)]
    own_tokens = np.maximum(sum_own(spans, owners, tokens), 1)
    own = [sum_own(spans, owners, count) / own_tokens for count in counts]
    all_tokens = np.maximum(sum_below(spans, tokens), 1)
    return np.column_stack([*own, *(sum_below(spans, count) / all_tokens for count in counts)])


def _columns(
    chars: NDArray[np.int64],
    tokens: NDArray[np.int64],
    types: NDArray[np.int64],
    sentences: NDArray[np.int64],
    symbols: NDArray[np.int64],
    *,
    logs: bool,
) -> list[NDArray[np.float64]]:
    lengths = (chars, tokens, types, sentences, tokens / np.maximum(sentences, 1))
    return [*(np.log1p(each) if logs else each.astype(np.float64) for each in lengths), symbols / np.maximum(chars, 1)]


# 3.1, note 3: the keywords of clean and of dirty text


def find_keywords(
    pages: Iterable[Labelled], most: int, fewest_pages: int, *, by_tokens: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The keywords of clean and those of dirty text.

    Args:
        pages: the words of each page, which of its texts are clean, and its language as BCP 47 writes it.
        most: how many keywords to choose for each side.
        fewest_pages: on so many pages a keyword is at least; a word on fewer may be that of one site.
        by_tokens: for keyness count every occurrence; else a word counts once a page and side.

    Raises:
        MissingExtra: wordfreq is not installed.
    """
    clean, dirty = _WordCounts(), _WordCounts()
    for page_words, is_clean, language in pages:
        of_words = np.repeat(is_clean, np.diff(page_words.starts))
        clean.add(page_words, page_words.ids[of_words], language)
        dirty.add(page_words, page_words.ids[~of_words], language)
    candidates = sorted({*clean.on_pages(fewest_pages), *dirty.on_pages(fewest_pages)})
    of_clean, of_dirty = (side.usage(candidates, by_tokens=by_tokens) for side in (clean, dirty))
    return (
        tuple(choose_keywords(candidates, of_clean, of_dirty, most)),
        tuple(choose_keywords(candidates, of_dirty, of_clean, most)),
    )


class _WordCounts:
    """How the words of one side are used."""

    def __init__(self) -> None:
        self._pages: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()
        self._by_language: Counter[str] = Counter()

    def add(self, words: NumberedWords, ids: NDArray[np.int32], language: str) -> None:
        """Count those words of a page that are given by number."""
        numbers, counts = np.unique(ids, return_counts=True)
        different = [words.vocabulary[number] for number in numbers.tolist()]
        self._pages.update(different)
        self._tokens.update(dict(zip(different, counts.tolist(), strict=True)))
        self._by_language[language] += len(ids)

    def on_pages(self, fewest: int) -> list[str]:
        """The words proper, of two letters or more, that are on so many pages or more."""
        return [word for word, count in self._pages.items() if count >= fewest and len(word) > 1 and word.isalpha()]

    def usage(self, words: Sequence[str], *, by_tokens: bool) -> Usage:
        """How some words are used; each occurrence may count as a text."""
        pages, tokens = (
            np.fromiter((counts[word] for word in words), np.int64, len(words))
            for counts in (self._pages, self._tokens)
        )
        if by_tokens:
            return Usage(tokens, self._tokens.total(), tokens, self._by_language)
        return Usage(pages, self._pages.total(), tokens, self._by_language)


CONFIDENCE = 1.96  # standard errors: 95 % of the estimates are nearer than that
MORE_THAN_GENERAL = 3.0  # times as frequent as in general language, at the least
_SEGMENTED = frozenset(("zh", "ja", "ko"))  # their words are not ours, and wordfreq needs further packages for them


def keyness(
    here: NDArray[np.int64], there: NDArray[np.int64], here_total: int, there_total: int
) -> NDArray[np.float64]:
    """Keyness of words by how often each occurs here and there: above 0 if typical for here, below 0 for there.

    The log odds ratio with half an occurrence added to each count, moved towards 0 by 1.96 standard errors; 0 where the
    interval holds 0.
    """
    a, b = here + 0.5, there + 0.5
    c, d = np.maximum(here_total - here, 0) + 0.5, np.maximum(there_total - there, 0) + 0.5
    ratio = np.log(a) + np.log(d) - np.log(b) - np.log(c)
    margin = CONFIDENCE * np.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    return np.sign(ratio) * np.maximum(np.abs(ratio) - margin, 0)  # type: ignore[no-any-return]


def need_frequencies() -> None:
    """Check this before any work.

    Raises:
        MissingExtra: wordfreq is not installed.
    """
    try:
        import wordfreq  # noqa: F401 - an extra
    except ImportError as error:
        raise MissingExtra("wordfreq", "train") from error


def general_frequency(word: str, language: str) -> float:
    """How frequent a word is in general language: its share of all words.

    Args:
        word: in lower case.
        language: as BCP 47 writes it; English stands in for those that wordfreq does not know.

    Raises:
        MissingExtra: wordfreq is not installed.
    """
    return float(_lists(_known_language(language)).get(word, 0.0))


@cache
def _lists(language: str) -> Mapping[str, float]:
    need_frequencies()
    from wordfreq import get_frequency_dict  # an extra

    return dict(get_frequency_dict(language))


@cache
def _known_language(language: str) -> str:
    need_frequencies()
    from wordfreq import available_languages  # an extra

    short = language.replace("_", "-").partition("-")[0].lower()
    return short if short in available_languages() and short not in _SEGMENTED else "en"


@dataclass(frozen=True, slots=True, eq=False)
class Usage:
    """How some words are used in one kind of text.

    Attributes:
        texts: in how many texts each of the words is.
        all_texts: the same, summed over all words that there are.
        tokens: how often each of the words occurs.
        all_tokens: how many words the texts have, by language.
    """

    texts: NDArray[np.int64]
    all_texts: int
    tokens: NDArray[np.int64]
    all_tokens: Mapping[str, int]


def choose_keywords(
    words: Sequence[str], here: Usage, there: Usage, most: int, frequency: Frequency = general_frequency
) -> list[str]:
    """The words that are most typical for the texts here, the most typical first.

    A word's keyness is that of the texts it is in: many occurrences in one text are not independent evidence. With
    general language, which is counted by occurrences, occurrences are compared.

    Args:
        words: the candidates.
        here: how they are used here.
        there: how they are used in the other kind of text.
        most: how many keywords to choose.
        frequency: how frequent a word is in a language in general.
    """
    scores = keyness(here.texts, there.texts, here.all_texts, there.all_texts)
    chosen: list[str] = []
    for i in np.argsort(-scores, kind="stable").tolist():
        if scores[i] <= 0 or len(chosen) == most:
            break
        expected = sum(count * frequency(words[i], language) for language, count in here.all_tokens.items())
        if here.tokens[i] > MORE_THAN_GENERAL * expected:
            chosen.append(words[i])
    return chosen


# 3.1, note 4: parts of speech

POS = ("open_class", "closed_class", "unknown_words", "special_symbols")
MOST_WORDS = 50  # of a node's text the first so many are tagged: enough for shares, and tagging is slow
# The tagger takes all ways to cut a word in parts, so that long words take much longer. What is beyond these two bounds
# counts as unknown, so that no page takes long: longer words, and those after so many letters of different words.
_LONGEST_TAGGED = 20
_MOST_LETTERS = 20_000

_OPEN, _CLOSED, _UNKNOWN, _SYMBOL, _NUMBER = range(5)
_TAGGERS = {"en": "morphmodel_en.pgz", "de": "morphmodel_ger.pgz", "nl": "morphmodel_dutch.pgz"}
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
    """Check this before any work.

    Raises:
        MissingExtra: HanTa is not installed.
    """
    try:
        import HanTa.HanoverTagger  # noqa: F401 - an extra
    except ImportError as error:
        raise MissingExtra("HanTa", "pos") from error


def pos_features(document: Document, spans: Spans, texts: Sequence[str] | None = None) -> NDArray[np.float64]:
    """The shares for each target node, one row a node, one column for each name in `POS`.

    The spans are those of texts, or of the document's blocks.

    They are 0 on pages in a language without a model; a page that does not name its language counts as English.

    Raises:
        MissingExtra: HanTa is not installed.
    """
    shares = np.zeros((len(spans[0]), len(POS)))
    language = (document.metadata.language or "en").replace("_", "-").partition("-")[0].lower()
    if language not in _TAGGERS:
        need_tagger()
        return shares
    codes = _PageCodes(language)
    texts = document.texts if texts is None else texts
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
            if len(token) <= _LONGEST_TAGGED:
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
def _tagger(language: str) -> Any:  # HanTa has no types
    need_tagger()
    from HanTa.HanoverTagger import HanoverTagger  # an extra

    return HanoverTagger(_TAGGERS[language])


# 3.2: the place in the tree

STRUCTURAL = tuple(
    """
    depth heading paragraph list_item in_list in_table in_form in_margin in_article links addresses images
    own_link_density all_link_density around_chars around_link_density around_mean_chars before
    """.split()
)
LISTED_STRUCTURAL = ("depth", "heading", "paragraph", "links", "addresses", "images")  # those that the paper lists
_AROUND = (IN_LIST, IN_TABLE, IN_FORM, IN_MARGIN, IN_ARTICLE)
_DEEPEST = 64  # what is deeper is as deep as this


def structural_features(document: Document, nodes: Nodes, *, logs: bool = True) -> NDArray[np.float64]:
    """The features of each target node, one row a block, one column for each name in `STRUCTURAL`."""
    log = np.log1p if logs else np.asarray
    targets = nodes.targets
    kinds, tags = document.columns.kinds, nodes.tags
    heading, list_item = Kind.HEADING, Kind.LIST_ITEM  # Enum's members are slow to find
    link_chars = np.array(document.columns.link_chars, np.int64)
    link_chars_before = np.concatenate([[0], np.cumsum(link_chars)])
    chars, around = nodes.chars[targets], nodes.around[targets]
    elements = nodes.elements[targets]
    wider = find_wider(nodes)[targets]
    wider_chars = np.maximum(nodes.chars[wider], 1)
    wider_blocks = np.maximum(nodes.end[wider] - nodes.first[wider], 1)
    wider_link_chars = link_chars_before[nodes.end[wider]] - link_chars_before[nodes.first[wider]]
    all_chars = max(1, int(nodes.chars[0]))
    chars_before = np.cumsum(document.lengths) - document.lengths
    return np.column_stack(
        [
            np.minimum(nodes.depths[targets], _DEEPEST),
            np.array([kind is heading for kind in kinds], np.bool_),
            np.array([tags[target] == PARAGRAPH for target in targets.tolist()], np.bool_),
            np.array([kind is list_item for kind in kinds], np.bool_),
            *((around & bit) > 0 for bit in _AROUND),
            nodes.links[targets] / np.maximum(elements, 1),
            nodes.addresses[targets] / np.maximum(elements, 1),
            nodes.images[targets] / np.maximum(elements, 1),
            link_chars / np.maximum(document.lengths, 1),
            sum_below(nodes.spans, link_chars) / np.maximum(chars, 1),
            log(wider_chars),
            wider_link_chars / wider_chars,
            log(wider_chars / wider_blocks),
            np.round(chars_before / all_chars, 2),  # so that like nodes are alike on pages of many
        ]
    ).astype(np.float64)


def listed_structural_features(elements: Elements) -> NDArray[np.float64]:
    """The features of target nodes among all elements, one column for each name in `LISTED_STRUCTURAL`."""
    targets = elements.targets.tolist()
    counts = elements.counts[targets]
    return np.column_stack(
        [
            elements.depths[targets],
            np.array([elements.kinds[target] is Kind.HEADING for target in targets], np.float64),
            np.array([elements.tags[target] == PARAGRAPH for target in targets], np.float64),
            elements.links[targets] / counts,
            elements.addresses[targets] / counts,
            elements.images[targets] / counts,
        ]
    ).astype(np.float64)
