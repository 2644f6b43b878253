"""`fiasco`: a support vector machine over linguistic and structural features of target nodes (FIASCO).

A page's target nodes (features/nodes.py) are described by features (features/), scaled to [-1, 1], and judged clean or
dirty; dirty subtrees are pruned. One node belongs to each block, so a block's score is its node's decision value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np

from mainmatter.errors import InputError
from mainmatter.features.linguistic import KEYWORDS, LINGUISTIC, PageWords, keyword_features, linguistic_features
from mainmatter.features.nodes import Spans, find_nodes
from mainmatter.features.pos import POS, need_tagger, pos_features
from mainmatter.features.structural import STRUCTURAL, structural_features
from mainmatter.features.visual import VISUAL, visual_features
from mainmatter.learners.keyness import choose_keywords
from mainmatter.learners.svm import KERNELS, Kernel, Svm, train_svm
from mainmatter.methods.contract import Reasons
from mainmatter.methods.trainable import Example, Trainable, be_silent, need_some
from mainmatter.records import Document, Extraction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_FAMILIES: dict[str, tuple[str, ...]] = {
    "linguistic": LINGUISTIC,
    "structural": STRUCTURAL,
    "pos": POS,
    "visual": VISUAL,
}
_MOST_KEYWORDS = 200  # for each of clean and dirty text
_FEWEST_PAGES = 5  # that a keyword is on: else it is the word of one site
_ABOUT_AS_GOOD = 0.5  # half the way from the machine's border to its margin
_MANY_ROWS = 5_000  # from here on equal rows are judged once

_DIRTY, _BELOW_DIRTY, _CLEAN, _BEST = range(4)
_LEGEND = (
    "its target node is dirty by its text and its place in the tree",
    "inside the subtree of a dirty target node",
    "its target node is clean by its text and its place in the tree",
    "no node of the page is clean; this one is nearest to it, or about as near",
)

Prune = Literal["subtree", "own"]


@dataclass(frozen=True, slots=True)
class NodesOfPage:
    """What training needs of one page.

    Attributes:
        rows: the features of its target nodes, without the keywords, which are not chosen yet.
        spans: which blocks are below each target node.
        words: the words of its blocks.
        language: the page's language, as BCP 47 writes it.
        kept: which target nodes are clean.
    """

    rows: NDArray[np.float32]
    spans: Spans
    words: PageWords
    language: str
    kept: NDArray[np.bool_]


@dataclass(eq=False)
class Fiasco(Trainable[NodesOfPage]):
    """Judge target nodes with a support vector machine, prune what is dirty.

    Args:
        C: what an error costs in training (the paper: 32).
        gamma: how fast likeness fades with distance (the paper: 8).
        kernel: rbf, linear, polynomial or sigmoid.
        features: families of features, joined by "+": linguistic, structural, pos (needs HanTa), visual.
        most_nodes: train with so many nodes, taken evenly from all pages: time and size grow with it.
        clean_weight: how much more an error on a clean node costs than one on a dirty node (the paper: 1).
        threshold: a node is clean if its decision value is above this; higher keeps less (the paper: 0).
        prune: "subtree": a dirty node takes all below it with it (the paper); "own": only its own text.
        never_empty: keep the best text of a page where no node is clean (the paper keeps nothing).
    """

    C: float = 3.0
    gamma: float = 0.03
    kernel: Kernel = "rbf"
    features: str = "linguistic+structural"
    most_nodes: int = 10_000
    clean_weight: float = 2.0
    threshold: float = 0.0
    prune: Prune = "own"
    never_empty: bool = True

    low_: NDArray[np.float32] | None = field(init=False, default=None, repr=False)
    high_: NDArray[np.float32] | None = field(init=False, default=None, repr=False)
    clean_keywords_: tuple[str, ...] = field(init=False, default=(), repr=False)
    dirty_keywords_: tuple[str, ...] = field(init=False, default=(), repr=False)
    machine_: Svm | None = field(init=False, default=None, repr=False)

    name: ClassVar[str] = "fiasco"
    summary: ClassVar[str] = "a support vector machine over features of text and tree (FIASCO)"
    learned_with: ClassVar[frozenset[str]] = frozenset(
        ("C", "gamma", "kernel", "features", "most_nodes", "clean_weight")
    )

    def __post_init__(self) -> None:
        if self.kernel not in KERNELS:
            raise InputError(f"fiasco: kernel is one of {', '.join(KERNELS)}, not {self.kernel!r}")
        if self.prune not in get_args(Prune):
            raise InputError(f"fiasco: prune is one of {', '.join(get_args(Prune))}, not {self.prune!r}")
        unknown = [family for family in self.families if family not in _FAMILIES]
        if unknown or len(set(self.families)) != len(self.families):
            raise InputError(f"fiasco: features are some of {', '.join(_FAMILIES)}, joined by +; not {self.features!r}")
        if not (self.C > 0 and self.gamma > 0 and self.clean_weight > 0 and self.most_nodes > 1):
            raise InputError("fiasco: C, gamma, clean_weight and most_nodes are above 0")

    @property
    def families(self) -> list[str]:
        """The families of features, in the order of the parameter."""
        return str(self.features).split("+")

    @property
    def feature_names(self) -> list[str]:
        """The names of the features, in the order of the columns; keywords come last."""
        names = [name for family in self.families for name in _FAMILIES[family]]
        return [*names, *KEYWORDS] if "linguistic" in self.families else names

    def extract(self, document: Document) -> Extraction:
        """Judge the target node of each block."""
        page = self._look_at(document)
        scores = self.judge(page)
        codes = self._codes(page.spans, scores)
        return Extraction(
            document,
            self.name,
            scores=scores,
            kept=codes >= _CLEAN,
            kinds=document.columns.kinds,
            reasons=Reasons(codes, _LEGEND),
        )

    def decide(self, spans: Spans, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which blocks to keep, by the decision values of their target nodes, and the blocks below each node."""
        kept: NDArray[np.bool_] = self._codes(spans, scores) >= _CLEAN
        return kept

    def observe(self, example: Example) -> NodesOfPage:
        """The features of the page's target nodes, and which of them are clean."""
        return self._look_at(example.document, example.kept)

    def learn(self, observations: Sequence[NodesOfPage], report: Callable[[str], object] = be_silent) -> Self:
        """Choose keywords, scale the features, train the machine.

        Raises:
            InputError: there is no page, or all nodes are clean, or all dirty.
            MissingExtra: scikit-learn or wordfreq is not installed.
        """
        need_some(observations, self.name)
        if "linguistic" in self.families:
            self.clean_keywords_, self.dirty_keywords_ = _choose_keywords(observations)
            report(f"{len(self.clean_keywords_)} clean and {len(self.dirty_keywords_)} dirty keywords")
        chosen = sample_nodes([len(page.rows) for page in observations], self.most_nodes)
        rows = np.vstack([self._rows(page)[nodes] for page, nodes in zip(observations, chosen, strict=True)])
        is_clean = np.concatenate([page.kept[nodes] for page, nodes in zip(observations, chosen, strict=True)])
        if is_clean.all() or not is_clean.any():
            raise InputError("fiasco: needs clean and dirty nodes to learn from; all are the same")
        self.low_, self.high_ = rows.min(axis=0), rows.max(axis=0)
        report(f"training with {len(rows)} nodes of {len(observations)} pages")
        machine = train_svm(
            self._scaled(rows),
            is_clean,
            cost=self.C,
            gamma=self.gamma,
            kernel=self.kernel,
            weights=np.where(is_clean, self.clean_weight, 1.0),
        )
        report(f"{len(machine.vectors)} support vectors")
        self.machine_ = _rounded(machine)
        return self

    def facts_and_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Names and keywords; the machine and the scale as arrays."""
        assert self.machine_ is not None, "nothing was learned yet"
        assert self.low_ is not None
        assert self.high_ is not None
        facts = {
            "features": self.feature_names,
            "clean_keywords": list(self.clean_keywords_),
            "dirty_keywords": list(self.dirty_keywords_),
            "bias": self.machine_.bias,
        }
        arrays: dict[str, NDArray[Any]] = {
            "vectors": self.machine_.vectors.astype(np.float16),
            "weights": self.machine_.weights,
            "low": self.low_,
            "high": self.high_,
        }
        return facts, arrays

    def restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Take over a machine, its scale and its keywords.

        Raises:
            ValueError: they do not fit these features.
            MissingExtra: the features need HanTa, which is not installed.
        """
        if "pos" in self.families:
            need_tagger()
        names = self.feature_names
        if facts["features"] != names:
            raise ValueError(f"its features are {facts['features']}, not {names}")
        vectors, weights = arrays["vectors"].astype(np.float32), arrays["weights"].astype(np.float32)
        low, high = arrays["low"].astype(np.float32), arrays["high"].astype(np.float32)
        if vectors.shape != (len(weights), len(names)) or low.shape != (len(names),) or high.shape != (len(names),):
            raise ValueError(
                f"arrays of {vectors.shape}, {weights.shape}, {low.shape} do not fit {len(names)} features"
            )
        if not all(np.isfinite(array).all() for array in (vectors, weights, low, high, np.float64(facts["bias"]))):
            raise ValueError("holds numbers that are not finite")
        keywords = [facts[side] for side in ("clean_keywords", "dirty_keywords")]
        if not all(isinstance(side, list) and all(isinstance(word, str) for word in side) for side in keywords):
            raise ValueError("keywords are not lists of words")
        self.clean_keywords_, self.dirty_keywords_ = (tuple(side) for side in keywords)
        self.low_, self.high_ = low, high
        self.machine_ = Svm(self.kernel, self.gamma, vectors, weights, float(facts["bias"]))

    def judge(self, page: NodesOfPage) -> NDArray[np.float64]:
        """The decision value of each target node of a page."""
        assert self.machine_ is not None, "nothing was learned yet: fit it, or load a model"
        rows = self.scaled_rows(page)
        if len(rows) < _MANY_ROWS:
            return self.machine_.decide(rows)
        different, places = _different(rows)
        return self.machine_.decide(different)[places]

    def scaled_rows(self, page: NodesOfPage) -> NDArray[np.float32]:
        """The features of a page's target nodes, keywords last, scaled as in training."""
        return self._scaled(self._rows(page))

    def _codes(self, spans: Spans, scores: NDArray[np.float64]) -> NDArray[np.intp]:
        """Verdict and reason for each block."""
        is_clean = scores > self.threshold
        codes = np.where(is_clean, _CLEAN, _DIRTY)
        if self.prune == "subtree":
            codes[_inside(spans, ~is_clean) & is_clean] = _BELOW_DIRTY
        if self.never_empty and len(codes) and not (codes == _CLEAN).any():
            codes[_nearest_to_clean(scores)] = _BEST
        return codes

    def _look_at(self, document: Document, kept: NDArray[np.bool_] | None = None) -> NodesOfPage:
        nodes = find_nodes(document)
        spans = nodes.spans
        words = PageWords.of(document)
        columns = {
            "linguistic": lambda: linguistic_features(document, spans, words),
            "structural": lambda: structural_features(document, nodes),
            "pos": lambda: pos_features(document, spans),
            "visual": lambda: visual_features(document),
        }
        rows = np.hstack([columns[family]() for family in self.families]).astype(np.float32)
        if kept is None:
            return NodesOfPage(rows, spans, words, "", np.zeros(len(rows), np.bool_))
        return NodesOfPage(rows, spans, words, document.metadata.language or "en", kept)

    def _rows(self, page: NodesOfPage) -> NDArray[np.float32]:
        """The features of a page's nodes, keywords included."""
        if "linguistic" not in self.families:
            return page.rows
        clean, dirty = frozenset(self.clean_keywords_), frozenset(self.dirty_keywords_)
        return np.hstack([page.rows, keyword_features(page.spans, page.words, clean, dirty).astype(np.float32)])

    def _scaled(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """FIASCO 2.3: linearly to [-1, 1]; what is beyond the training data's values counts as those."""
        assert self.low_ is not None
        assert self.high_ is not None
        width = np.where(self.high_ > self.low_, self.high_ - self.low_, 1)
        return np.clip((rows - self.low_) * (2 / width) - 1, -1, 1).astype(np.float32)


def _different(rows: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """The different rows, and the place of each row among them; faster than by sorting."""
    data, width = np.ascontiguousarray(rows).tobytes(), rows.shape[1] * rows.itemsize
    numbers: dict[bytes, int] = {}
    number = numbers.setdefault
    places = [number(data[start : start + width], len(numbers)) for start in range(0, len(data), width)]
    return np.frombuffer(b"".join(numbers), rows.dtype).reshape(-1, rows.shape[1]), np.array(places, np.intp)


def sample_nodes(counts: Sequence[int], most: int) -> list[NDArray[np.intp]]:
    """Choose nodes of pages with so many nodes each: at random, always the same, as evenly over the pages as can be."""
    generator = np.random.default_rng(0)
    orders = [generator.permutation(count) for count in counts]
    if sum(counts) <= most:
        return [np.arange(count) for count in counts]
    # The nth nodes of all pages come before the next ones of any page.
    turns = np.sort(np.concatenate([np.arange(count) for count in counts]))
    rounds = int(turns[most - 1]) if most else 0
    chosen = [order[:rounds] for order in orders]
    left = most - sum(map(len, chosen))
    longer = [i for i, order in enumerate(orders) if len(order) > rounds]
    for i in generator.permutation(longer)[:left]:
        chosen[i] = orders[i][: rounds + 1]
    return [np.sort(nodes) for nodes in chosen]


def _inside(spans: Spans, is_dirty: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which blocks are inside the subtree of a dirty target node, or its own text."""
    first, end = spans
    change = np.zeros(len(is_dirty) + 1, np.int64)
    np.add.at(change, first[is_dirty], 1)
    np.add.at(change, end[is_dirty], -1)
    inside: NDArray[np.bool_] = np.cumsum(change[:-1]) > 0
    return inside


def _nearest_to_clean(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The best node and those about as good: a page's only node, whatever its decision value.

    The paper loses most of its recall on pages with a single target node, which is judged dirty (FIASCO 6).
    """
    is_near: NDArray[np.bool_] = scores > scores.max() - _ABOUT_AS_GOOD
    return is_near


def _rounded(machine: Svm) -> Svm:
    """The machine as it is stored: half the digits of a support vector are enough."""
    vectors = machine.vectors.astype(np.float16).astype(np.float32)
    return Svm(machine.kernel, machine.gamma, vectors, machine.weights, machine.bias)


def _choose_keywords(pages: Sequence[NodesOfPage]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """FIASCO 3.1, note 3. A word counts once for a page's clean and once for its dirty text.

    Otherwise the many occurrences of a word on one page, which are no independent evidence, would make a keyword of it.
    """
    counts: dict[str, list[int]] = {}
    totals: dict[str, tuple[int, int]] = {}
    for page in pages:
        is_clean = np.repeat(page.kept, np.diff(page.words.starts))
        sides = [np.unique(page.words.ids[is_clean]), np.unique(page.words.ids[~is_clean])]
        clean, dirty = totals.get(page.language, (0, 0))
        totals[page.language] = (clean + len(sides[0]), dirty + len(sides[1]))
        vocabulary = page.words.vocabulary
        for side, ids in enumerate(sides):
            for number in ids.tolist():
                word = vocabulary[number]
                if len(word) > 1 and word.isalpha():
                    counts.setdefault(word, [0, 0])[side] += 1
    words = sorted(word for word, both in counts.items() if max(both) >= _FEWEST_PAGES)
    table = np.array([counts[word] for word in words], np.int64).reshape(-1, 2)
    swapped = {language: (dirty, clean) for language, (clean, dirty) in totals.items()}
    return (
        tuple(choose_keywords(words, table[:, 0], table[:, 1], totals, _MOST_KEYWORDS)),
        tuple(choose_keywords(words, table[:, 1], table[:, 0], swapped, _MOST_KEYWORDS)),
    )
