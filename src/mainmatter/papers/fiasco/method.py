"""`fiasco`: a support vector machine over linguistic and structural features of target nodes (FIASCO).

A page's target nodes (nodes.py) are described by features, scaled to [-1, 1], and judged clean or dirty;
dirty subtrees are pruned. One node belongs to each block, so a block's score is its node's decision value.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np

from mainmatter.errors import InputError
from mainmatter.method import Example, Reasons, Trainable, be_silent, need_some
from mainmatter.papers.fiasco.features import (
    KEYWORDS,
    LINGUISTIC,
    POS,
    STRUCTURAL,
    NumberedWords,
    find_keywords,
    keyword_features,
    linguistic_features,
    need_frequencies,
    need_tagger,
    pos_features,
    structural_features,
)
from mainmatter.papers.fiasco.nodes import Spans, find_nodes
from mainmatter.papers.fiasco.svm import KERNELS, Kernel, Svm, need_trainer, restore_svm, train_svm
from mainmatter.papers.fiasco.visual import LAYOUT, VISUAL, layout_features, need_rendering, visual_features
from mainmatter.records import Document, Extraction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

FAMILIES: dict[str, tuple[str, ...]] = {
    "linguistic": LINGUISTIC,
    "structural": STRUCTURAL,
    "pos": POS,
    "visual": VISUAL,
    "layout": LAYOUT,
}
_MOST_KEYWORDS = 200  # for each of clean and dirty text
_FEWEST_PAGES = 5  # that a keyword is on: else it is the word of one site
_ABOUT_AS_GOOD = 0.5  # half the way from the machine's border to its margin
_MANY_ROWS = 5_000  # from here on equal rows are judged once
_LARGEST_VALUE = 1e30  # of a feature: single floats end at 3e38
# The values that parameters may have. From a gamma of 10,000 on single floats cannot tell near from far.
_RANGES = {
    "C": (1e-9, 1e9),
    "gamma": (1e-9, 1e4),
    "clean_weight": (1e-6, 1e6),
    "most_nodes": (2, 10**9),
    "threshold": (-1e9, 1e9),
}

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
    words: NumberedWords
    language: str
    kept: NDArray[np.bool_]


@dataclass(eq=False)
class Fiasco(Trainable[NodesOfPage]):
    """Judge target nodes with a support vector machine, prune what is dirty.

    Args:
        C: what an error costs in training (the paper: 32).
        gamma: how fast likeness fades with distance (the paper: 8).
        kernel: rbf, linear, polynomial or sigmoid.
        features: families of features, joined by "+": linguistic, structural, pos (needs HanTa), visual and layout
            (both render the page, which needs Chromium).
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
    presets: ClassVar[dict[str, dict[str, Any]]] = {"paper": {}}
    learned_with: ClassVar[frozenset[str]] = frozenset(
        ("C", "gamma", "kernel", "features", "most_nodes", "clean_weight")
    )

    def __post_init__(self) -> None:
        if self.kernel not in KERNELS:
            raise InputError(f"fiasco: kernel is one of {', '.join(KERNELS)}, not {self.kernel!r}")
        if self.prune not in get_args(Prune):
            raise InputError(f"fiasco: prune is one of {', '.join(get_args(Prune))}, not {self.prune!r}")
        if not isinstance(self.features, str):
            raise InputError(f"fiasco: features is a text, not {self.features!r}")
        unknown = [family for family in self.families if family not in FAMILIES]
        if unknown or len(set(self.families)) != len(self.families):
            raise InputError(f"fiasco: features are some of {', '.join(FAMILIES)}, joined by +; not {self.features!r}")
        for name, (low, high) in _RANGES.items():
            value, types = getattr(self, name), int if name == "most_nodes" else int | float
            if isinstance(value, bool) or not isinstance(value, types) or not low <= value <= high:
                kind = "a whole number" if types is int else "a number"
                raise InputError(f"fiasco: {name} is {kind} from {low:g} to {high:g}, not {value!r}")
        if not isinstance(self.never_empty, bool):
            raise InputError(f"fiasco: never_empty is True or False, not {self.never_empty!r}")

    @property
    def families(self) -> list[str]:
        """The families of features, in the order of the parameter."""
        return str(self.features).split("+")

    @property
    def feature_names(self) -> list[str]:
        """The names of the features, in the order of the columns; keywords come last."""
        names = [name for family in self.families for name in FAMILIES[family]]
        return [*names, *KEYWORDS] if "linguistic" in self.families else names

    def extract(self, document: Document) -> Extraction:
        """Judge the target node of each block.

        Raises:
            InputError: it has not learned yet; or the features need Chromium, which is not here.
            MissingExtra: the features need a package that is not installed.
        """
        self._learned()
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

    def need_extras(self) -> None:
        """Complain early.

        Raises:
            MissingExtra: a package that training needs is not installed.
            InputError: the features need Chromium, which is not here.
        """
        need_trainer()
        if "linguistic" in self.families:
            need_frequencies()
        self._need_features()

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
            self.clean_keywords_, self.dirty_keywords_ = find_keywords(
                ((page.words, page.kept, page.language) for page in observations), _MOST_KEYWORDS, _FEWEST_PAGES
            )
            report(f"{len(self.clean_keywords_)} clean and {len(self.dirty_keywords_)} dirty keywords")
        chosen = sample_nodes([len(page.rows) for page in observations], self.most_nodes)
        rows = np.vstack([self._rows(page)[nodes] for page, nodes in zip(observations, chosen, strict=True)])
        is_clean = np.concatenate([page.kept[nodes] for page, nodes in zip(observations, chosen, strict=True)])
        if is_clean.all() or not is_clean.any():
            raise InputError("fiasco: needs clean and dirty nodes to learn from; all are the same")
        self.low_, self.high_ = rows.min(axis=0), rows.max(axis=0)
        if (self.low_ == self.high_).all():
            raise InputError(f"fiasco: all nodes are alike by {self.features}; take more features")
        report(f"training with {len(rows)} nodes of {len(observations)} page{'s' * (len(observations) != 1)}")
        machine = train_svm(
            self._scaled(rows),
            is_clean,
            cost=self.C,
            gamma=self.gamma,
            kernel=self.kernel,
            weights=np.where(is_clean, self.clean_weight, 1.0),
        )
        report(f"{len(machine.vectors)} support vectors")
        # As it is stored: half the digits of a support vector are enough.
        self.machine_ = replace(machine, vectors=machine.vectors.astype(np.float16).astype(np.float32))
        return self

    def facts_and_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Names and keywords; the machine and the scale as arrays.

        Raises:
            InputError: it has not learned yet.
        """
        machine, low, high = self._learned()
        facts = {
            "features": self.feature_names,
            "clean_keywords": list(self.clean_keywords_),
            "dirty_keywords": list(self.dirty_keywords_),
            "bias": machine.bias,
        }
        arrays: dict[str, NDArray[Any]] = {
            "vectors": machine.vectors.astype(np.float16),
            "weights": machine.weights,
            "low": low,
            "high": high,
        }
        return facts, arrays

    def restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Take over a machine, its scale and its keywords.

        Raises:
            ValueError: they do not fit these features.
            MissingExtra: the features need a package that is not installed.
            InputError: the features need Chromium, which is not here.
        """
        self._need_features()
        names = self.feature_names
        if facts["features"] != names:
            raise ValueError(f"its features are {facts['features']}, not {names}")
        machine = restore_svm(self.kernel, self.gamma, arrays["vectors"], arrays["weights"], facts["bias"])
        low, high = arrays["low"], arrays["high"]
        shapes = [machine.vectors.shape[1:], low.shape, high.shape]
        if shapes != [(len(names),)] * 3 or low.dtype.kind != "f" or high.dtype.kind != "f":
            raise ValueError(f"arrays for {shapes} features, {low.dtype} and {high.dtype}, do not fit {len(names)}")
        if not ((low >= -_LARGEST_VALUE) & (low <= high) & (high <= _LARGEST_VALUE)).all():
            raise ValueError("the scale is not one: its low ends are above its high ones, or not finite")
        keywords = [facts[side] for side in ("clean_keywords", "dirty_keywords")]
        if not all(isinstance(side, list) and all(isinstance(word, str) for word in side) for side in keywords):
            raise ValueError("keywords are not lists of words")
        self.clean_keywords_, self.dirty_keywords_ = (tuple(side) for side in keywords)
        self.low_, self.high_ = low.astype(np.float32), high.astype(np.float32)
        self.machine_ = machine

    def judge(self, page: NodesOfPage) -> NDArray[np.float64]:
        """The decision value of each target node of a page.

        Raises:
            InputError: it has not learned yet.
        """
        machine, _, _ = self._learned()
        rows = self.scaled_rows(page)
        if len(rows) < _MANY_ROWS:
            return machine.decide(rows)
        different, places = _different(rows)
        return machine.decide(different)[places]

    def scaled_rows(self, page: NodesOfPage) -> NDArray[np.float32]:
        """The features of a page's target nodes, keywords last, scaled as in training."""
        return self._scaled(self._rows(page))

    def _need_features(self) -> None:
        if "pos" in self.families:
            need_tagger()
        if not {"visual", "layout"}.isdisjoint(self.families):
            need_rendering(opencv="visual" in self.families)

    def _learned(self) -> tuple[Svm, NDArray[np.float32], NDArray[np.float32]]:
        """The machine and the scale."""
        if self.machine_ is None or self.low_ is None or self.high_ is None:
            raise InputError("fiasco has not learned yet: fit it, or take mainmatter.get_method('fiasco')")
        return self.machine_, self.low_, self.high_

    def _codes(self, spans: Spans, scores: NDArray[np.float64]) -> NDArray[np.intp]:
        """Verdict and reason for each block."""
        is_clean = scores > self.threshold
        codes = np.where(is_clean, _CLEAN, _DIRTY)
        if self.prune == "subtree":
            first, end = spans
            change = np.zeros(len(codes) + 1, np.int64)
            np.add.at(change, first[~is_clean], 1)
            np.add.at(change, end[~is_clean], -1)
            codes[(np.cumsum(change[:-1]) > 0) & is_clean] = _BELOW_DIRTY
        if self.never_empty and len(codes) and not (codes == _CLEAN).any():
            # The paper loses most of its recall on pages with a single target node, which is judged dirty (FIASCO 6).
            codes[scores > scores.max() - _ABOUT_AS_GOOD] = _BEST
        return codes

    def _look_at(self, document: Document, kept: NDArray[np.bool_] | None = None) -> NodesOfPage:
        nodes = find_nodes(document)
        spans = nodes.spans
        words = NumberedWords.of(document)
        columns = {
            "linguistic": lambda: linguistic_features(document, spans, words),
            "structural": lambda: structural_features(document, nodes),
            "pos": lambda: pos_features(document, spans),
            "visual": lambda: visual_features(document),
            "layout": lambda: layout_features(document),
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
        width = np.where(self.high_ > self.low_, self.high_ - self.low_, np.float32(1))
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
