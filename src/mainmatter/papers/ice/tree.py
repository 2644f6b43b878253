"""`ice-tree`: a decision tree sorts blocks into headings, list items, paragraphs and the rest (ICE 3.3).

Its features are how many words a block has, capitals, punctuation, stop words, and the tag around it. The characters of
a page are put into one array, classified by a table, and summed for each block; only stop words need a look at every
word. The learner is C4.5 (papers/ice/decision_tree.py). What the paper names as future work are parameters: weighting,
the divergence of `ice-lm` as a feature, and finer features.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, get_args

import numpy as np

from mainmatter.errors import InputError, ModelError
from mainmatter.inputs.sites import site_of_page
from mainmatter.method import LazyReasons, Trainable, be_silent, check_parameters, need_some
from mainmatter.papers.ice.decision_tree import UNKNOWN, Attribute, DecisionTree, grow_tree
from mainmatter.papers.ice.lm import QueryModel
from mainmatter.records import Document, Extraction, Kind
from mainmatter.text.tokens import count_spaced_words, count_words, gold_paragraphs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence, Set

    from numpy.typing import NDArray

    from mainmatter.method import Example
    from mainmatter.records import Gold


# Features: what a block's words look like, without understanding them

_WORD, _CAPITAL, _PUNCTUATION, _WIDE = 1, 2, 4, 8
_SIZE = 0x10000  # characters in the table; all beyond are taken for the last one, which is a letter
_SENTENCE_MARKS = ".,;:!?…。，、；：！？·؟،؛।"
_SEPARATOR = "\n"

STOP_WORDS_A_LANGUAGE = 60
_FEWEST_SITES = 3  # that a stop word is on: what fewer sites have may be what they are about


@dataclass(frozen=True, slots=True)
class ShallowCounts:
    """Counts, one number a block.

    Attributes:
        words: words between white space; where a script has none, as many as the text is long (text/tokens.py).
        capitals: runs of letters and digits that begin with a capital. "Low-Cost" has two, so there may be more of
            them than words, as in figure 2 of ICE.
        punctuation: marks that end or divide sentences.
        stop_words: words that are frequent in their language.
    """

    words: NDArray[np.int64]
    capitals: NDArray[np.int64]
    punctuation: NDArray[np.int64]
    stop_words: NDArray[np.int64]


def count_shallow(texts: Sequence[str], stop_words: Set[str], *, estimate_words: bool = True) -> ShallowCounts:
    """Count words, capitals, punctuation marks and stop words of each block, in time linear in the page.

    Args:
        texts: the blocks' texts.
        stop_words: in lower case; Chinese and Japanese ones are single characters.
        estimate_words: scripts without spaces have words too; if False, a word is what white space separates.
    """
    if not texts:
        none = np.zeros(0, np.int64)
        return ShallowCounts(none, none, none, none)
    count = count_words if estimate_words else count_spaced_words
    words = np.fromiter((count(text)[0] for text in texts), np.int64, len(texts))
    # Every block ends with a separator, so that none is empty: the sums below need that.
    page = _SEPARATOR.join([*texts, ""])
    codes = _codes(page)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + 1
    first = np.cumsum(lengths) - lengths
    flags = _flags(codes)
    is_word = (flags & _WORD) != 0
    begins = is_word.copy()
    begins[1:] &= ~is_word[:-1]

    def sums(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.add.reduceat(mask, first, dtype=np.int64)

    stops = _mark_stop_words(codes, is_word, begins, stop_words)
    is_wide = (flags & _WIDE) != 0
    if is_wide.any():
        characters = np.array([ord(word) for word in stop_words if len(word) == 1], codes.dtype)
        stops |= is_wide & np.isin(codes, characters)
    return ShallowCounts(
        words=words,
        capitals=sums(begins & ((flags & _CAPITAL) != 0)),
        punctuation=sums((flags & _PUNCTUATION) != 0),
        stop_words=sums(stops),
    )


def find_frequent_words(pages: Iterable[Instances]) -> frozenset[str]:
    """The words that are in the main matter of most sites, for each language that the pages declare.

    They are counted on the pages that a tree learns from, so a model carries no data of others. Where no language is
    declared, that counts as one. Numbers are left out; of Chinese and Japanese, single characters are counted.
    """
    sites_of_words: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for page in pages:
        kept = (text for text, label in zip(page.texts, page.labels.tolist(), strict=True) if label != _DROPPED)
        for word in _different_words("\n".join(kept)):
            sites_of_words[page.language][word].add(page.site)
    found: set[str] = set()
    for sites_of in sites_of_words.values():
        common = [word for word, sites in sites_of.items() if len(sites) >= _FEWEST_SITES]
        found.update(sorted(common, key=lambda word: (-len(sites_of[word]), word))[:STOP_WORDS_A_LANGUAGE])
    return frozenset(found)


def _different_words(text: str) -> set[str]:
    """Runs of letters in lower case, as `_mark_stop_words` finds them, and single characters of wide scripts."""
    codes = _codes(text)
    flags = _flags(codes)
    runs = _spaced(codes, (flags & _WORD) != 0).lower().split()
    found = {run for run in runs if not any(map(str.isdigit, run))}
    return found.union(map(chr, np.unique(codes[(flags & _WIDE) != 0]).tolist()))


def _mark_stop_words(
    codes: NDArray[np.unsignedinteger], is_word: NDArray[np.bool_], begins: NDArray[np.bool_], stop_words: Set[str]
) -> NDArray[np.bool_]:
    """Where a run of letters begins that is a stop word."""
    runs = _spaced(codes, is_word).lower().split()  # no letter becomes a space in lower case: the runs that begin
    marked = np.zeros(len(codes), np.bool_)
    marked[begins] = np.fromiter(map(stop_words.__contains__, runs), np.bool_, len(runs))
    return marked


def _spaced(codes: NDArray[np.unsignedinteger], is_word: NDArray[np.bool_]) -> str:
    """The text, with spaces in place of all that is not part of a word."""
    encoding = "ascii" if codes.dtype == np.uint8 else "utf-32-le"
    return np.where(is_word, codes, codes.dtype.type(ord(" "))).tobytes().decode(encoding, "surrogatepass")


def _codes(text: str) -> NDArray[np.unsignedinteger]:
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.dtype("<u4"))


def _flags(codes: NDArray[np.unsignedinteger]) -> NDArray[np.uint8]:
    found: NDArray[np.uint8] = _character_table()[codes if codes.dtype == np.uint8 else np.minimum(codes, _SIZE - 1)]
    return found


@lru_cache(maxsize=1)
def _character_table() -> NDArray[np.uint8]:
    """What each character is; made once, in some hundredths of a second."""
    table = np.zeros(_SIZE, np.uint8)
    for code in range(_SIZE):
        character = chr(code)
        category = unicodedata.category(character)
        if category[0] in "LNM":  # vowel signs are marks, and part of the word
            table[code] = _WORD
        if category in ("Lu", "Lt"):
            table[code] |= _CAPITAL
    for first, last in ((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF)):
        table[first : last + 1] = _WIDE
    for mark in _SENTENCE_MARKS:
        table[ord(mark)] = _PUNCTUATION
    table[_SIZE - 1] = _WORD
    table[0xD800:0xE000] = 0  # half characters
    return table


# The method

Features = Literal["paper", "fine"]
Weighting = Literal["none", "words", "balanced"]
Labels = Literal["words", "match"]
Decision = Literal["probability", "majority"]
Learner = Literal["large", "c4.5"]

CLASSES = ("h", "l", "p", "n")
_DROPPED = CLASSES.index("n")
_CLASS_OF_KIND = {Kind.HEADING: 0, Kind.LIST_ITEM: 1}
_KIND_OF_CLASS = (Kind.HEADING, Kind.LIST_ITEM, Kind.PARAGRAPH)
# What the tree takes for a paragraph may be one of these, which CleanEval's markup cannot tell apart.
_KINDS_OF_PARAGRAPH = frozenset((Kind.TABLE_ROW, Kind.CODE, Kind.QUOTE, Kind.CAPTION))

_CHOICES: dict[str, tuple[str, ...]] = {
    name: get_args(choice)
    for name, choice in {
        "features": Features,
        "weighting": Weighting,
        "labels": Labels,
        "decision": Decision,
        "learner": Learner,
    }.items()
}

TAG = "parent_tag"
_STOP_RATIO = 3  # its row among the numeric features
_AROUND = 4  # blocks to each side whose plain words are summed


class Instances(NamedTuple):
    """What learning needs of a page.

    Attributes:
        values: a row for each numeric feature, a column for each block; the share of stop words is 0 as yet.
        tags: the tag around each block.
        labels: the number of each block's class.
        words: the number of its words.
        texts: its text.
        site: the site that the page is of.
        language: that the page declares, without a region; "" if none.
    """

    values: NDArray[np.float32]
    tags: list[str]
    labels: NDArray[np.int8]
    words: NDArray[np.int64]
    texts: list[str]
    site: str
    language: str


@dataclass
class IceTree(Trainable[Instances]):
    """Let a decision tree say which blocks are headings, list items, paragraphs, or nothing of these.

    Args:
        threshold: a block is kept if the tree gives it more than this probability to be h, l or p.
        features: "paper" for the paper's five; "fine" adds links, neighbours and place.
        kl: the divergence from title, headings and keywords, as `ice-lm` measures it, is a feature too.
        weighting: what a block weighs in training: "none", as much as any other; "words", as much as its words;
            "balanced", as the square root of its words, and all pages the same.
        min_leaf: a test has at least two branches with so many blocks.
        confidence: for pruning; smaller values give smaller trees.
        labels: what a block's class is in training: "words", by an alignment of words; "match", that of the segment of
            the gold text that is the block's text, and n if there is none.
        decision: a block is what "probability" and `threshold` say, or what the "majority" of its leaf was.
        learner: "large", which is made for large sets, or "c4.5" as it is (papers/ice/decision_tree.py).
        estimate_words: scripts without spaces have words too; if False, a word is what white space separates.
    """

    threshold: float = 0.2
    features: Features = "fine"
    kl: bool = False
    weighting: Weighting = "balanced"
    min_leaf: int = 100
    confidence: float = 0.25
    labels: Labels = "words"
    decision: Decision = "probability"
    learner: Learner = "large"
    estimate_words: bool = True
    tree_: DecisionTree | None = field(default=None, init=False, repr=False)
    stop_words_: frozenset[str] | None = field(default=None, init=False, repr=False)

    name: ClassVar[str] = "ice-tree"
    summary: ClassVar[str] = "a decision tree over words, tags, capitals, punctuation and stop words (ICE 3.3)"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {
            "features": "paper",
            "weighting": "none",
            "min_leaf": 2,  # as `confidence`, C4.5's own
            "labels": "match",
            "decision": "majority",
            "learner": "c4.5",
            "estimate_words": False,
        }
    }
    learned_with: ClassVar[frozenset[str]] = frozenset(
        ("features", "kl", "weighting", "min_leaf", "confidence", "labels", "learner", "estimate_words")
    )

    def __post_init__(self) -> None:
        check_parameters(self.name, type(self), self.parameters)
        for name, possible in _CHOICES.items():
            if getattr(self, name) not in possible:
                *others, last = possible
                listed = f"{', '.join(others)} or {last}"
                raise InputError(f"ice-tree: {name} must be {listed}, not {getattr(self, name)!r}")
        if not 0 <= self.threshold < 1:
            raise InputError(f"ice-tree: threshold must be from 0 to below 1, not {self.threshold}")
        if self.min_leaf < 1:
            raise InputError(f"ice-tree: min_leaf must be at least 1, not {self.min_leaf}")
        if not 0 < self.confidence < 1:
            raise InputError(f"ice-tree: confidence must be above 0 and below 1, not {self.confidence}")

    def extract(self, document: Document) -> Extraction:
        """Keep what is more probably h, l or p than the threshold, or mostly; the score is that probability."""
        if self.tree_ is None or self.stop_words_ is None:
            raise ModelError("ice-tree has learned no tree yet: train it, or load a model")
        values, tags, _ = self._measure(document, self.stop_words_)
        nodes = self.tree_.find(with_tags(values, tags, self.tree_.attributes[-1].values or ()))
        scores = _probabilities(self.tree_)[nodes]
        if self.decision == "majority":
            labels = self.tree_.labels[nodes]
        else:
            likeliest = self.tree_.counts[:, :_DROPPED].argmax(axis=1)[nodes]
            labels = np.where(scores > self.threshold, likeliest, _DROPPED)
        kept = labels != _DROPPED
        kinds = [_kind_of(label, kind) for label, kind in zip(labels.tolist(), document.columns.kinds, strict=True)]
        reasons = _RuleReasons(self.tree_, nodes, labels, scores)
        threshold = None if self.decision == "majority" else self.threshold
        return Extraction(document, self.name, scores, kept, kinds, reasons, threshold=threshold)

    def weights(self) -> str:
        """The shipped model of the default, or that of the preset "paper"."""
        return f"{self.name}-paper" if self.learner == "c4.5" else self.name

    def observe(self, example: Example) -> Instances:
        """Measure a page's blocks and note their classes."""
        document = example.document
        values, tags, words = self._measure(document, frozenset())
        if self.labels == "match":
            labels = match_labels(document, example.gold)
        else:
            classes = [_CLASS_OF_KIND.get(kind, CLASSES.index("p")) for kind in example.kinds]
            labels = np.where(example.kept, np.array(classes, np.int8), np.int8(_DROPPED)).astype(np.int8)
        language = (document.metadata.language or "").partition("-")[0].lower()
        texts = list(document.columns.texts)
        return Instances(values.astype(np.float32), tags, labels, words, texts, site_of_page(document.page), language)

    def learn(self, observations: Sequence[Instances], report: Callable[[str], object] = be_silent) -> Self:
        """Choose the stop words, grow and prune a tree."""
        need_some(observations, self.name)
        self.stop_words_ = find_frequent_words(observations)
        tags = sorted({tag for page in observations for tag in page.tags})
        names = _names(self.features, kl=self.kl)
        values = np.concatenate([with_tags(self.values_of(page), page.tags, tags) for page in observations], axis=1)
        labels = np.concatenate([page.labels for page in observations]).astype(np.intp)
        if not len(labels):
            raise InputError("ice-tree: no block to learn from")
        tree = grow_tree(
            [*(Attribute(name) for name in names), Attribute(TAG, tuple(tags))],
            values,
            CLASSES,
            labels,
            np.concatenate([self._weigh(page) for page in observations]),
            min_leaf=self.min_leaf,
            confidence=self.confidence,
            as_release_8=self.learner == "c4.5",
        )
        self.tree_ = tree.rounded()  # what is measured is what is saved
        report(f"a tree of {len(self.tree_)} nodes from {len(labels)} blocks")
        return self

    def facts_and_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The tree and the stop words."""
        tree = self.tree_.to_facts() if self.tree_ is not None else None
        return {"stop_words": " ".join(sorted(self.stop_words_ or ())), "tree": tree}, {}

    def restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:  # noqa: ARG002 - there are none
        """Take over a tree and its stop words."""
        tree = DecisionTree.from_facts(facts["tree"])
        names = [*_names(self.features, kl=self.kl), TAG]
        if [attribute.name for attribute in tree.attributes] != names or tree.classes != CLASSES:
            raise ValueError(f"a tree over other features than {', '.join(names)}, or into other classes")
        if any((attribute.values is None) == (attribute.name == TAG) for attribute in tree.attributes):
            raise ValueError(f"{TAG} alone is a category")
        self.tree_ = tree
        self.stop_words_ = frozenset(facts["stop_words"].split())

    def _measure(
        self, document: Document, stop_words: Set[str]
    ) -> tuple[NDArray[np.float64], list[str], NDArray[np.int64]]:
        """The numeric features, in the order of `_names`; the tags; the numbers of words."""
        counts = count_shallow(document.columns.texts, stop_words, estimate_words=self.estimate_words)
        at_least_one = np.maximum(counts.words, 1)
        rows = [
            counts.words.astype(np.float64),
            counts.capitals / at_least_one,
            counts.punctuation / at_least_one,
            counts.stop_words / at_least_one,
        ]
        if self.features == "fine":
            rows += _fine(document, rows[0])
        if self.kl:
            rows.append(QueryModel().measure(document)[0])
        # Training sees 32 bits, so that observations are small; prediction must see the same numbers.
        return np.stack(rows).astype(np.float32).astype(np.float64), document.tags, counts.words

    def values_of(self, page: Instances) -> NDArray[np.float32]:
        """The numeric features of a page that was observed, with the share of stop words."""
        values = page.values.copy()
        stop_words = count_shallow(page.texts, self.stop_words_ or frozenset()).stop_words
        values[_STOP_RATIO] = stop_words / np.maximum(page.words, 1)
        return values

    def _weigh(self, page: Instances) -> NDArray[np.float64]:
        words = np.maximum(page.words, 1).astype(np.float64)
        if self.weighting == "none":
            return np.ones(len(words))
        if self.weighting == "words":
            return words
        roots = np.sqrt(words)
        share: NDArray[np.float64] = roots / max(float(roots.sum()), 1.0)
        return share


_MARKER = re.compile("<([hlp])>", re.IGNORECASE)


def match_labels(document: Document, gold: Gold) -> NDArray[np.int8]:
    """The class of each block, by the segment of the gold text that is its text; n where there is none (ICE 3.3).

    White space does not matter. Of equal segments the first one labels all blocks with its text; a gold text without
    markup has paragraphs.
    """
    found: dict[str, int] = {}
    if gold.marked is None:
        found = dict.fromkeys(gold_paragraphs(gold), CLASSES.index("p"))
    else:
        _, *parts = _MARKER.split(gold.marked)
        for marker, segment in zip(parts[::2], parts[1::2], strict=True):
            found.setdefault(" ".join(segment.split()), CLASSES.index(marker.lower()))
    labels = (found.get(" ".join(text.split()), _DROPPED) for text in document.columns.texts)
    return np.fromiter(labels, np.int8, len(document))


def _names(features: Features, *, kl: bool) -> list[str]:
    names = ["wordcount", "cap_ratio", "punct_ratio", "stop_ratio"]
    if features == "fine":
        names += ["link_share", "words_before", "words_after", "words_2_before", "words_2_after"]
        names += ["links_before", "links_after", "position", "plain_around", "tags_before"]
    return names + ["kl"] * kl


def _fine(document: Document, words: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Links, neighbours and place: what the elaborate heuristics of ICE 3.2 look at, and where the block stands."""
    columns = document.columns
    count = len(words)
    links = np.array(columns.link_chars, np.float64) / np.maximum(document.lengths, 1)
    sums = np.concatenate([[0.0], np.cumsum(words * np.maximum(1 - links, 0))])
    places = np.arange(count)
    around = sums[np.minimum(places + _AROUND + 1, count)] - sums[np.maximum(places - _AROUND, 0)]
    return [
        links,
        _neighbour(words, -1),
        _neighbour(words, 1),
        _neighbour(words, -2),
        _neighbour(words, 2),
        _neighbour(links, -1),
        _neighbour(links, 1),
        places / max(count, 1),
        around,
        np.diff(document.positions, prepend=0).astype(np.float64),
    ]


def _neighbour(values: NDArray[np.float64], offset: int) -> NDArray[np.float64]:
    """The values of the blocks so many places further; 0 beyond the page's ends."""
    padded = np.pad(values, abs(offset))
    start = abs(offset) + offset
    return padded[start : start + len(values)]


def with_tags(values: NDArray[np.floating[Any]], tags: Sequence[str], known: Sequence[str]) -> NDArray[np.float64]:
    """Features with the numbers of the tags as the last row."""
    numbers = {tag: number for number, tag in enumerate(known)}
    row = np.fromiter((numbers.get(tag, UNKNOWN) for tag in tags), np.float64, len(tags))
    return np.concatenate([values.astype(np.float64), row[None, :]])


def _probabilities(tree: DecisionTree) -> NDArray[np.float64]:
    """For each node the probability of h, l or p; by Laplace's rule, so that small leaves are less sure."""
    kept = tree.counts[:, :_DROPPED].sum(axis=1)
    result: NDArray[np.float64] = (kept + 1) / (tree.counts.sum(axis=1) + 2)
    return result


def _kind_of(label: int, kind: Kind) -> Kind:
    if label == _DROPPED:
        return kind
    given = _KIND_OF_CLASS[label]
    return kind if given is Kind.PARAGRAPH and kind in _KINDS_OF_PARAGRAPH else given


@dataclass(frozen=True, slots=True, eq=False)
class _RuleReasons(LazyReasons):
    """The rule that decided about each block, told when read."""

    tree: DecisionTree
    nodes: NDArray[np.intp]
    labels: NDArray[np.intp]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.nodes)

    def reason(self, index: int) -> str:
        node = int(self.nodes[index])
        rule = self.tree.rule(node) or "any block"
        most, label = CLASSES[self.tree.labels[node]], CLASSES[self.labels[index]]
        reason = f"{rule}: {most} {self.tree.figures(node)}"
        # The threshold may weigh main matter more, or less, than the majority of the leaf does.
        return reason if label == most else f"{reason}; main matter in {self.scores[index]:.0%}, so {label}"
