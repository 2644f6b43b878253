"""`fiasco`: a support vector machine over linguistic and structural features of target nodes (FIASCO).

A page's target nodes (nodes.py) are described by features, scaled to [-1, 1], and judged clean or dirty;
dirty subtrees are pruned. One node belongs to each block, so a block's score is its node's decision value.

With `nodes=elements`, as in the paper, any element may be a target node (elements.py), and one may hold others. Text is
pruned with the dirty nodes around it. A block stays if more than half of its text does; its score is the decision value
that more than half of its text reaches, where that of a text is the lowest of all target nodes around it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np

from mainmatter.errors import InputError
from mainmatter.method import Example, Reasons, Trainable, be_silent, need_some
from mainmatter.papers.fiasco.alignment import align_dice, label_elements
from mainmatter.papers.fiasco.elements import Belonging, Elements, find_elements
from mainmatter.papers.fiasco.features import (
    KEYWORDS,
    LINGUISTIC,
    LISTED_LINGUISTIC,
    LISTED_STRUCTURAL,
    POS,
    STRUCTURAL,
    find_keywords,
    keyword_features,
    linguistic_features,
    listed_structural_features,
    need_frequencies,
    need_tagger,
    pos_features,
    structural_features,
)
from mainmatter.papers.fiasco.nodes import Spans, find_nodes, sum_below
from mainmatter.papers.fiasco.svm import Fold, Kernel, Svm, grid_search, need_trainer, restore_svm, train_svm
from mainmatter.papers.fiasco.texts import NumberedWords
from mainmatter.papers.fiasco.visual import VISUAL, need_rendering, visual_features
from mainmatter.records import Document, Extraction, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

FAMILIES: dict[str, tuple[str, ...]] = {
    "linguistic": LINGUISTIC,
    "structural": STRUCTURAL,
    "pos": POS,
    "visual": VISUAL,
}
_LISTED = {*LISTED_LINGUISTIC, *LISTED_STRUCTURAL, *POS, *VISUAL}  # by the paper
_MOST_KEYWORDS = 200  # for each of clean and dirty text
_FEWEST_PAGES = 5  # that a keyword is on: else it is the word of one site
_ABOUT_AS_GOOD = 0.5  # half the way from the machine's border to its margin
_MANY_ROWS = 5_000  # from here on equal rows are judged once
_LARGEST_VALUE = 1e30  # of a feature: single floats end at 3e38
_FARTHEST = 100.0  # of a scaled feature that is not clipped: no kernel value beyond tells anything, and all are finite
_NO_NODE = 1.0  # the score of text that no target node holds, which nothing prunes: that of a node at the margin
# FIASCO 4.1: "around 110 combinations", by the tool that comes with LIBSVM: its usual grid has 11 values of C and 10
# of gamma. On a part of the data, in three folds, which that tool makes of nodes, not of pages.
GRID_COSTS = tuple(2.0**power for power in range(-5, 16, 2))
GRID_GAMMAS = tuple(2.0**power for power in range(3, -16, -2))
_SEARCH_NODES = 2_500
_SEARCH_FOLDS = 3
# The values that parameters may have. From a gamma of 10,000 on single floats cannot tell near from far.
_RANGES = {
    "C": (1e-9, 1e9),
    "gamma": (1e-9, 1e4),
    "clean_weight": (1e-6, 1e6),
    "most_nodes": (2, 10**9),
    "threshold": (-1e9, 1e9),
}

_DIRTY, _BELOW_DIRTY, _PRUNED, _CLEAN, _BEST, _LEFT = range(6)
_LEGEND = (
    "its target node is dirty by its text and its place in the tree",
    "inside the subtree of a dirty target node",
    "half of its text or more is pruned with dirty target nodes",
    "its target node is clean by its text and its place in the tree",
    "no node of the page is clean; this one is nearest to it, or about as near",
    "more than half of its text is left when dirty target nodes are pruned",
)

Prune = Literal["subtree", "own"]
TargetNodes = Literal["blocks", "elements"]
Lengths = Literal["logs", "plain"]
Keyness = Literal["pages", "tokens"]
Labels = Literal["given", "dice"]
_CHOICES: dict[str, tuple[str, ...]] = {
    "kernel": get_args(Kernel),
    "prune": get_args(Prune),
    "nodes": get_args(TargetNodes),
    "lengths": get_args(Lengths),
    "keyness": get_args(Keyness),
    "labels": get_args(Labels),
}
_SWITCHES = ("never_empty", "own_features", "clip", "three_kinds", "search")


@dataclass(frozen=True, slots=True)
class NodesOfPage:
    """What training needs of one page.

    Attributes:
        rows: the features of its target nodes, without the keywords, which are not chosen yet.
        spans: which texts are below each target node: blocks, or text nodes.
        words: the words of its texts.
        language: the page's language, as BCP 47 writes it.
        kept: which target nodes are clean.
        belonging: which texts belong to which target nodes; None if each target node has a block of its own.
    """

    rows: NDArray[np.float32]
    spans: Spans
    words: NumberedWords
    language: str
    kept: NDArray[np.bool_]
    belonging: Belonging | None = None

    @property
    def owners(self) -> NDArray[np.intp] | None:
        """The target node whose own text each text is, or -1; None if they have the same numbers."""
        return None if self.belonging is None else self.belonging.owners

    @property
    def clean_texts(self) -> NDArray[np.bool_]:
        """Which texts are clean: those whose nearest target node is."""
        return self.kept if self.belonging is None else np.append(self.kept, False)[self.belonging.nearest]


@dataclass(eq=False)
class Fiasco(Trainable[NodesOfPage]):
    """Judge target nodes with a support vector machine, prune what is dirty.

    Args:
        C: what an error costs in training (the paper: 32).
        gamma: how fast likeness fades with distance (the paper: 8).
        kernel: rbf, linear, polynomial or sigmoid.
        features: families of features, joined by "+": linguistic, structural, pos (needs HanTa) and visual
            (renders the page, which needs Chromium).
        most_nodes: train with so many nodes, taken evenly from all pages: time and size grow with it.
        clean_weight: how much more an error on a clean node costs than one on a dirty node (the paper: 1).
        threshold: a node is clean if its decision value is above this; higher keeps less (the paper: 0).
        prune: "subtree": a dirty node takes all below it with it (the paper); "own": only its own text.
        never_empty: keep the best text of a page where no node is clean (the paper keeps nothing).
        nodes: which nodes are target nodes. "elements": all elements with 10 % or more of their text in immediate
            children (the paper); "blocks": one for each block.
        own_features: besides the linguistic and structural features that the paper lists, take ours. Must be False for
            all elements.
        lengths: lengths and counts as they are, "plain" (the paper), or "logs".
        clip: what is beyond the training data's values counts as those; else it is scaled like all others (the paper).
        keyness: "tokens": keywords are found by all their occurrences (the paper); "pages": each word counts once a
            page and side, and must be on five pages.
        labels: "dice": nodes are labelled by the Dice coefficient of their subtrees and gold paragraphs (the paper);
            "given": as those who train want it (`train --labels`).
        three_kinds: blocks in h1 to h4 are headings, those in li list items, all others paragraphs (the paper).
        search: choose C and gamma by a grid search when learning (the paper, which then has 32 and 8).
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
    nodes: TargetNodes = "blocks"
    own_features: bool = True
    lengths: Lengths = "logs"
    clip: bool = True
    keyness: Keyness = "pages"
    labels: Labels = "given"
    three_kinds: bool = False
    search: bool = False

    searched_: tuple[float, float] | None = field(init=False, default=None, repr=False)  # C and gamma
    low_: NDArray[np.float32] | None = field(init=False, default=None, repr=False)
    high_: NDArray[np.float32] | None = field(init=False, default=None, repr=False)
    clean_keywords_: tuple[str, ...] = field(init=False, default=(), repr=False)
    dirty_keywords_: tuple[str, ...] = field(init=False, default=(), repr=False)
    machine_: Svm | None = field(init=False, default=None, repr=False)

    name: ClassVar[str] = "fiasco"
    summary: ClassVar[str] = "a support vector machine over features of text and tree (FIASCO)"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {
            "C": 32.0,
            "gamma": 8.0,
            "most_nodes": 10**9,
            "clean_weight": 1.0,
            "prune": "subtree",
            "never_empty": False,
            "nodes": "elements",
            "own_features": False,
            "lengths": "plain",
            "clip": False,
            "keyness": "tokens",
            "labels": "dice",
            "three_kinds": True,
        }
    }
    learned_with: ClassVar[frozenset[str]] = frozenset(
        "C gamma kernel features most_nodes clean_weight nodes own_features lengths keyness labels".split()
    )

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise InputError(f"fiasco: {name} must be one of {', '.join(choices)}, not {getattr(self, name)!r}")
        if not isinstance(self.features, str):
            raise InputError(f"fiasco: features must be text, not {self.features!r}")
        unknown = [family for family in self.families if family not in FAMILIES]
        if unknown or len(set(self.families)) != len(self.families):
            raise InputError(
                f"fiasco: features must be some of {', '.join(FAMILIES)}, joined by +, not {self.features!r}"
            )
        for name, (low, high) in _RANGES.items():
            value, types = getattr(self, name), int if name == "most_nodes" else int | float
            if isinstance(value, bool) or not isinstance(value, types) or not low <= value <= high:
                kind = "a whole number" if types is int else "a number"
                raise InputError(f"fiasco: {name} must be {kind} from {low:g} to {high:g}, not {value!r}")
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"fiasco: {name} must be True or False, not {getattr(self, name)!r}")
        if self.nodes == "elements" and self.own_features:
            raise InputError(
                "fiasco: own_features must be False if nodes are elements: our own features describe blocks"
            )

    @property
    def families(self) -> list[str]:
        """The families of features, in the order of the parameter."""
        return str(self.features).split("+")

    @property
    def feature_names(self) -> list[str]:
        """The names of the features, in the order of the columns; keywords come last."""
        names = [name for family in self.families for name in self.names_of(family)]
        return [*names, *KEYWORDS] if "linguistic" in self.families else names

    def names_of(self, family: str) -> tuple[str, ...]:
        """The features of a family, without keywords."""
        names = FAMILIES[family]
        return names if self.own_features else tuple(name for name in names if name in _LISTED)

    def weights(self) -> str:
        """The shipped model: with the paper's target nodes, that of the preset "paper"."""
        return "fiasco-paper" if self.nodes == "elements" else self.name

    def extract(self, document: Document) -> Extraction:
        """Judge the page's target nodes.

        Raises:
            InputError: it has not learned yet; or the features need Chromium, which was not found.
            MissingExtra: the features need a package that is not installed.
        """
        self._learned()
        elements = find_elements(document) if self.nodes == "elements" or self.three_kinds else None
        page = self._look_at(document, elements)
        scores = self.judge(page)
        if page.belonging is None:
            codes = self._codes(page.spans, scores)
        else:
            scores, codes = self._block_codes(page.belonging, scores)
        return Extraction(
            document,
            self.name,
            scores=scores,
            kept=codes >= _CLEAN,
            kinds=document.columns.kinds if elements is None or not self.three_kinds else _kinds(elements, document),
            reasons=Reasons(codes, _LEGEND),
            threshold=self.threshold,
        )

    def decide(self, page: NodesOfPage, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which blocks of a page to keep, by the decision values of its target nodes."""
        if page.belonging is None:
            kept: NDArray[np.bool_] = self._codes(page.spans, scores) >= _CLEAN
            return kept
        return self._block_codes(page.belonging, scores)[1] >= _CLEAN

    def decide_texts(self, belonging: Belonging, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which texts are left when dirty target nodes are pruned, also where they are parts of a block (2.4)."""
        return self._text_scores(belonging, scores) > self.threshold

    def need_extras(self) -> None:
        """Check this before any work.

        Raises:
            MissingExtra: a package that training needs is not installed.
            InputError: the features need Chromium, which was not found.
        """
        need_trainer()
        if "linguistic" in self.families:
            need_frequencies()
        self._need_features()

    def observe(self, example: Example) -> NodesOfPage:
        """The features of the page's target nodes, and which of them are clean."""
        document, gold = example.document, example.gold
        by_dice = self.labels == "dice" and gold.text is not None
        if self.nodes == "blocks":
            kept = align_dice(document, gold) > 0 if by_dice else example.kept
            return self._look_at(document, None, kept)
        elements = find_elements(document)
        if by_dice:
            kept, _ = label_elements(elements, gold)
        else:  # a node is clean if more than half of its text is part of clean blocks
            clean_chars = sum_below(elements.spans, elements.lengths * example.kept[elements.blocks])
            kept = 2 * clean_chars > sum_below(elements.spans, elements.lengths)
        return self._look_at(document, elements, kept)

    def learn(self, observations: Sequence[NodesOfPage], report: Callable[[str], object] = be_silent) -> Self:
        """Choose keywords, scale the features, train the machine.

        Raises:
            InputError: there are no pages, or all nodes are clean, or all dirty.
            MissingExtra: scikit-learn or wordfreq is not installed.
        """
        rows, is_clean = self.prepare(observations, report)
        self.searched_ = self._search(rows, is_clean) if self.search else None
        cost, gamma = self.searched_ or (self.C, self.gamma)
        if self.search:
            report(f"the grid search found C = {cost:g}, gamma = {gamma:g}")
        report(f"training with {len(rows)} nodes of {len(observations)} page{'s' * (len(observations) != 1)}")
        machine = train_svm(
            self._scaled(rows),
            is_clean,
            cost=cost,
            gamma=gamma,
            kernel=self.kernel,
            weights=np.where(is_clean, self.clean_weight, 1.0),
        )
        report(f"{len(machine.vectors)} support vectors")
        # As it is stored: half the digits of a support vector are enough.
        self.machine_ = replace(machine, vectors=machine.vectors.astype(np.float16).astype(np.float32))
        return self

    def prepare(
        self, observations: Sequence[NodesOfPage], report: Callable[[str], object] = be_silent
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Choose keywords and the scale; gives the features of the nodes to learn from, and which are clean.

        Raises:
            InputError: there are no pages, or all nodes are clean, or all dirty.
            MissingExtra: wordfreq is not installed.
        """
        need_some(observations, self.name)
        if "linguistic" in self.families:
            self.clean_keywords_, self.dirty_keywords_ = find_keywords(
                ((page.words, page.clean_texts, page.language) for page in observations),
                _MOST_KEYWORDS,
                _FEWEST_PAGES if self.keyness == "pages" else 1,
                by_tokens=self.keyness == "tokens",
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
        return rows, is_clean

    def _search(self, rows: NDArray[np.float32], is_clean: NDArray[np.bool_]) -> tuple[float, float]:
        """The best C and gamma of the grid, on some of the nodes."""
        order = np.random.default_rng(0).permutation(len(rows))[:_SEARCH_NODES]
        scaled, wanted = self._scaled(rows)[order], is_clean[order]
        in_part = [np.arange(len(order)) % _SEARCH_FOLDS == part for part in range(_SEARCH_FOLDS)]
        folds = [Fold(scaled[~test], wanted[~test], scaled[test], wanted[test]) for test in in_part]
        folds = [fold for fold in folds if 0 < fold.learn_positive.sum() < len(fold.learn)]
        best = grid_search(folds, costs=GRID_COSTS, gammas=GRID_GAMMAS, kernel=self.kernel)[0]
        return best.cost, best.gamma

    def facts_and_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Names and keywords; the machine and the scale as arrays.

        Raises:
            InputError: it has not learned yet.
        """
        machine, low, high = self._learned()
        facts: dict[str, Any] = {
            "features": self.feature_names,
            "clean_keywords": list(self.clean_keywords_),
            "dirty_keywords": list(self.dirty_keywords_),
            "bias": machine.bias,
        }
        if self.searched_ is not None:
            facts["searched"] = list(self.searched_)
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
            InputError: the features need Chromium, which was not found.
        """
        self._need_features()
        names = self.feature_names
        if facts["features"] != names:
            raise ValueError(f"its features are {facts['features']}, not {names}")
        if "searched" in facts:
            self.searched_ = float(facts["searched"][0]), float(facts["searched"][1])
        _, gamma = self.searched_ or (self.C, self.gamma)
        low_gamma, high_gamma = _RANGES["gamma"]
        if not low_gamma <= gamma <= high_gamma:
            raise ValueError(f"gamma is {gamma}")
        machine = restore_svm(self.kernel, gamma, arrays["vectors"], arrays["weights"], facts["bias"])
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
        if "visual" in self.families:
            need_rendering()

    def _learned(self) -> tuple[Svm, NDArray[np.float32], NDArray[np.float32]]:
        """The machine and the scale."""
        if self.machine_ is None or self.low_ is None or self.high_ is None:
            raise InputError("fiasco has not learned yet: fit it, or use mainmatter.get_method('fiasco')")
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

    def _text_scores(self, belonging: Belonging, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """The decision value that decides about each text."""
        deciding = belonging.worst_around(scores) if self.prune == "subtree" else scores
        return belonging.of_texts(deciding, self.threshold + _NO_NODE)

    def _block_codes(
        self, belonging: Belonging, scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Score, and verdict and reason, for each block of a page where any element may be a target node."""
        of_texts = self._text_scores(belonging, scores)
        of_blocks = belonging.of_blocks(of_texts, self.threshold + _NO_NODE)
        codes = np.where(of_blocks > self.threshold, _LEFT, _PRUNED)
        if self.never_empty and len(codes) and not (codes == _LEFT).any():
            codes[of_blocks > of_blocks.max() - _ABOUT_AS_GOOD] = _BEST
        return of_blocks, codes

    def _look_at(
        self, document: Document, elements: Elements | None, kept: NDArray[np.bool_] | None = None
    ) -> NodesOfPage:
        language = "" if kept is None else document.metadata.language or "en"
        logs = self.lengths == "logs"
        if self.nodes == "elements":
            assert elements is not None
            spans, words = elements.spans, NumberedWords.of(elements)
            belonging = Belonging.of(elements, len(document))
            columns = {
                "linguistic": lambda: linguistic_features(elements, spans, words, belonging.owners, logs=logs),
                "structural": lambda: listed_structural_features(elements),
                "pos": lambda: pos_features(document, spans, elements.texts),
                # What is seen of a node is the region of the block that holds most of its own text.
                "visual": lambda: visual_features(document)[belonging.main_blocks()],
            }
        else:
            nodes = find_nodes(document)
            spans, words, belonging = nodes.spans, NumberedWords.of(document), None
            columns = {
                "linguistic": lambda: linguistic_features(document, spans, words, logs=logs),
                "structural": lambda: structural_features(document, nodes, logs=logs),
                "pos": lambda: pos_features(document, spans),
                "visual": lambda: visual_features(document),
            }
        rows = np.hstack([self._chosen(family, columns[family]()) for family in self.families]).astype(np.float32)
        no_labels = np.zeros(len(rows), np.bool_)
        return NodesOfPage(rows, spans, words, language, no_labels if kept is None else kept, belonging)

    def _chosen(self, family: str, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Those columns of a family that are wanted."""
        names, wanted = FAMILIES[family], self.names_of(family)
        return columns if columns.shape[1] == len(wanted) else columns[:, [names.index(name) for name in wanted]]

    def _rows(self, page: NodesOfPage) -> NDArray[np.float32]:
        """The features of a page's nodes, keywords included."""
        if "linguistic" not in self.families:
            return page.rows
        clean, dirty = frozenset(self.clean_keywords_), frozenset(self.dirty_keywords_)
        found = keyword_features(page.spans, page.words, clean, dirty, page.owners)
        return np.hstack([page.rows, found.astype(np.float32)])

    def _scaled(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """FIASCO 2.3: linearly to [-1, 1]."""
        assert self.low_ is not None
        assert self.high_ is not None
        width = np.where(self.high_ > self.low_, self.high_ - self.low_, np.float32(1))
        farthest = 1 if self.clip else _FARTHEST
        return np.clip((rows - self.low_) * (2 / width) - 1, -farthest, farthest).astype(np.float32)


def _kinds(elements: Elements, document: Document) -> list[Kind]:
    """What each block is, by the element around its first text (FIASCO 2.5)."""
    kinds = [Kind.PARAGRAPH] * len(document)
    blocks, first = np.unique(elements.blocks, return_index=True)
    for block, owner in zip(blocks.tolist(), elements.owners[first].tolist(), strict=True):
        kinds[block] = elements.kinds[owner]
    return kinds


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
