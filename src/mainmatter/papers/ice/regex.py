"""`ice-regex`: a regular expression that a genetic search has found captures the main matter (ICE 3.5).

The page is written as lines of markup, one a block (papers/ice/linear_markup.py); the expression is matched until no
match is left, and what its capturing groups hold is kept. A block is kept if more than half of its text is.

The search is in papers/ice/genetic.py; expressions are trees (papers/ice/expressions.py), which compile by construction
and, in the default grammar, match in linear time by construction, so that no time-out is needed. The paper's way of
matching is available too, against the page's own HTML (`literals="html"`), with the time-out that it needs:
papers/ice/source.py maps what is captured there to blocks.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

import numpy as np

from mainmatter.errors import InputError, MissingExtra, ModelError
from mainmatter.method import Example, Reasons, Trainable, be_silent, check_parameters, need_some
from mainmatter.papers.ice.expressions import GRAMMARS, Grammar, Tree, from_json
from mainmatter.papers.ice.genetic import WORST, Generation, SearchSettings, Strategy, polish, prune, search
from mainmatter.papers.ice.linear_markup import LinearMarkup, write_markup
from mainmatter.papers.ice.source import Source, Span
from mainmatter.records import Document, Extraction
from mainmatter.text.tokens import words

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray


# Matching an expression again and again until nothing is left to match


def captured_in_lines(pattern: re.Pattern[str], text: str, lines: Sequence[int]) -> list[Span]:
    """What an expression that matches at the beginning of a line captures in a text: spans, in order, not overlapping.

    There is one attempt a line; a match of nothing is one, too, so that an expression can pass over a line by looking
    at it only. Otherwise this is what `pattern.finditer` finds, which tries every character for a beginning.

    Args:
        pattern: the expression.
        text: the text.
        lines: where its lines start.
    """
    spans: list[Span] = []
    match = pattern.match
    end = 0
    for start in lines:
        if start < end:  # a match that went over the end of a line
            continue
        found = match(text, start)
        if found is not None:
            end = found.end()
            _add_groups(spans, found.regs[1:])
    return spans


def captured_in_time(pattern: Any, text: str, seconds: float) -> list[Span] | None:
    """What any expression captures in a text; None if that takes longer, in which case it is interrupted.

    Python's own `re` can be interrupted by signals only, and those reach the main thread only; so this takes a
    pattern of the package `regex` (see `compile_for_time_out`), which looks at the clock itself: that of the processor
    time of the process, so that a busy machine changes little.
    """
    spans: list[Span] = []
    try:
        for found in pattern.finditer(text, timeout=seconds):
            _add_groups(spans, found.regs[1:])
    except TimeoutError:
        return None
    return spans


def compile_for_time_out(expression: str) -> Any:  # it has no types
    """Compile an expression with a matcher that can be interrupted; tags are written in both cases, so case is ignored.

    Raises:
        MissingExtra: the package `regex` is not installed.
    """
    try:
        regex = import_module("regex")
    except ImportError as error:
        raise MissingExtra("regex", "train") from error
    return regex.compile(expression, regex.MULTILINE | regex.IGNORECASE)


def _add_groups(spans: list[Span], groups: Iterable[Span]) -> None:
    """Add what the groups of one match captured; groups in groups and beside each other become one span."""
    for start, end in sorted(groups):
        if start < 0 or start == end:  # not taken part, or nothing
            continue
        if spans and start <= spans[-1][1]:
            if end > spans[-1][1]:
                spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))


# The method

_NOTHING, _TOO_LITTLE, _ENOUGH, _ALL = range(4)
_LEGEND = (
    "the expression captures nothing of it",
    "the expression captures a part of it that is too small",
    "the expression captures most of it",
    "the expression captures all of it",
)

# The ranges of parameters: how to call each, and how to tell.
_RANGES: dict[str, tuple[str, Callable[[float], bool]]] = {
    "threshold": ("from 0 to below 1", lambda value: 0 <= value < 1),
    "population": ("at least 2", lambda value: value >= 2),
    "generations": ("at least 1", lambda value: value >= 1),
    "tournament": ("at least 1", lambda value: value >= 1),
    "mutation": ("from 0 to 1", lambda value: 0 <= value <= 1),
    "max_depth": ("at least 1", lambda value: value >= 1),
    "sample": ("at least 1", lambda value: value >= 1),
    "polishing": ("at least 0", lambda value: value >= 0),
    "parsimony": ("from 0 to 0.1", lambda value: 0 <= value <= 0.1),
    "award": ("above 0", lambda value: value > 0),
    "penalty": ("at least 0", lambda value: value >= 0),
    "timeout": ("above 0", lambda value: value > 0),
}


@dataclass(frozen=True, eq=False)
class ObservedMarkup:
    """What learning needs of a page: its markup, and the words of its blocks and of the gold text as numbers.

    Attributes:
        markup: the page as lines of markup.
        words: the words of all blocks, in order, each by its number in the page's vocabulary.
        counts: how many words each block has.
        gold: for each word of the vocabulary, how many times it is in the gold text.
        gold_total: how many words the gold text has, those that the page does not have included.
    """

    markup: LinearMarkup
    words: NDArray[np.int32]
    counts: NDArray[np.int32]
    gold: NDArray[np.int32]
    gold_total: int

    def judge(self, pattern: re.Pattern[str], method: IceRegex) -> tuple[int, int]:
        """How many words of the blocks that an expression keeps are right, and how many not."""
        spans = captured_in_lines(pattern, self.markup.text, self.markup.lines)
        return self.score(self.markup.shares(spans) > method.threshold)

    @property
    def parts(self) -> list[bytes]:
        """All that it is made of."""
        arrays = (self.markup.runs, self.markup.firsts, self.words, self.counts, self.gold)
        return [self.markup.text.encode("utf-8", "surrogatepass"), *(array.tobytes() for array in arrays)]

    def score(self, kept: NDArray[np.bool_]) -> tuple[int, int]:
        """Of the words of some blocks, how many are in the gold text, as multisets, and how many are not."""
        found = np.bincount(self.words[np.repeat(kept, self.counts)], minlength=len(self.gold))
        matched = int(np.minimum(found, self.gold).sum())
        return matched, int(found.sum()) - matched


@dataclass(frozen=True, eq=False)
class ObservedSource:
    """What learning needs of a page where expressions are matched against its HTML.

    Attributes:
        source: the HTML.
        gold: how many times each word is in the gold text.
    """

    source: Source
    gold: Counter[str]

    @property
    def gold_total(self) -> int:
        """How many words the gold text has."""
        return self.gold.total()

    def judge(self, pattern: Any, method: IceRegex) -> tuple[int, int] | None:  # of a package
        """How many words of what an expression captures are right, and how many not; None if it was too slow.

        All content of the capturing groups is the text, tags that they may hold included.
        """
        spans = captured_in_time(pattern, self.source.text, method.timeout)
        if spans is None:
            return None
        found = Counter(words(" ".join([self.source.text[start:end] for start, end in spans])))
        matched = (found & self.gold).total()
        return matched, found.total() - matched

    @property
    def parts(self) -> list[bytes]:
        """All that it is made of."""
        return [each.encode("utf-8", "surrogatepass") for each in (self.source.text, repr(sorted(self.gold.items())))]


Observed = ObservedMarkup | ObservedSource


@dataclass(eq=False)
class IceRegex(Trainable[Observed]):
    """Keep what a regular expression captures.

    Args:
        threshold: a block is kept if more than this share of its text is captured.
        literals: what expressions are made of: "bounded", which match lines of markup in linear time, or "html", which
            are matched against the page's HTML, as in the paper, and may take time without end, so that training and
            extraction need the package `regex` and a time-out.
        strategy: of the search: "tournament", or "fittest", as in the paper (papers/ice/genetic.py).
        population: how many expressions a generation of the search has.
        generations: how many generations.
        seed: of the search; the same seed and pages give the same expression.
        tournament: how many expressions compete for being a parent.
        mutation: the share of children of two parents that are changed as well; those of one always are.
        max_depth: of an expression's tree.
        sample: how many pages a generation is judged on; its best ones are judged on all. By the strategy "fittest" all
            generations are judged on the same ones.
        polishing: how many small changes are made at most to the expression that the search has found.
        parsimony: what each node of a tree costs in fitness.
        award: points for each word that is in the gold text (the paper's 2).
        penalty: points off for each word that is not (the paper's 1).
        per_page: divide a page's points by those of its gold text, so that large pages do not rule.
        timeout: seconds of processor time that an expression may take for a page, with the literals "html".
        checkpoint: a folder for the state of the search after each generation, from which the same search (seed,
            parameters, pages) continues; it is not part of a model.
    """

    threshold: float = 0.5
    literals: str = "bounded"
    strategy: Strategy = "tournament"
    population: int = 100
    generations: int = 40
    seed: int = 1
    tournament: int = 4
    mutation: float = 0.4
    max_depth: int = 7
    sample: int = 40
    polishing: int = 20
    parsimony: float = 0.0001
    award: float = 2.0
    penalty: float = 1.0
    per_page: bool = True
    timeout: float = 0.5
    checkpoint: str = ""

    tree_: Tree = field(init=False, repr=False)
    history_: list[Generation] = field(init=False, repr=False, default_factory=list)
    _pattern: Any = field(init=False, repr=False)

    name: ClassVar[str] = "ice-regex"
    summary: ClassVar[str] = "a regular expression found by genetic search (ICE 3.5)"
    # Population and mutation are the defaults of AI::Genetic, which the paper used.
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {
            "literals": "html",
            "strategy": "fittest",
            "population": 100,
            "generations": 10,
            "mutation": 0.05,
            "sample": 10,
            "polishing": 0,
            "parsimony": 0.0,
            "per_page": False,
            "timeout": 5.0,
        }
    }
    learned_with: ClassVar[frozenset[str]] = frozenset({"literals"})

    def __post_init__(self) -> None:
        check_parameters(self.name, type(self), self.parameters | {"checkpoint": self.checkpoint})
        if self.literals not in GRAMMARS:
            raise InputError(
                f"{self.name}: literals must be one of {', '.join(sorted(GRAMMARS))}, not {self.literals!r}"
            )
        if self.strategy not in get_args(Strategy):
            raise InputError(f"{self.name}: strategy must be tournament or fittest, not {self.strategy!r}")
        for parameter, (range_, holds) in _RANGES.items():
            value = getattr(self, parameter)
            if not holds(value):
                raise InputError(f"{self.name}: {parameter} must be {range_}, not {value!r}")

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters, as the constructor took them, without the checkpoint, which is not part of a model."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init and each.name != "checkpoint"}

    @property
    def expression_(self) -> str:
        """The expression that was found, as text."""
        return self._grammar.text(self.tree_)

    @property
    def _grammar(self) -> Grammar:
        return GRAMMARS[self.literals]

    def extract(self, document: Document) -> Extraction:
        """Keep the blocks whose text is captured."""
        if not hasattr(self, "tree_"):
            raise ModelError(f"{self.name} has learned nothing yet: call fit, load or load_shipped")
        scores = self._shares(document)
        codes = np.where(scores > self.threshold, _ENOUGH, np.where(scores > 0, _TOO_LITTLE, _NOTHING))
        codes[(scores == 1) & (codes == _ENOUGH)] = _ALL
        return Extraction(
            document,
            self.name,
            scores=scores,
            kept=scores > self.threshold,
            kinds=document.columns.kinds,
            reasons=Reasons(codes, _LEGEND),
            threshold=self.threshold,
        )

    def _shares(self, document: Document) -> NDArray[np.float64]:
        """The share of each block's text that is captured."""
        if self._grammar.bounded:
            markup = write_markup(document)
            return markup.shares(captured_in_lines(self._pattern, markup.text, markup.lines))
        source = Source.of(document)
        spans = captured_in_time(self._pattern, source.text, self.timeout)
        # What took too long gives the whole page, as the paper's best expression did.
        return np.ones(len(document)) if spans is None else source.shares(spans, document)

    def need_extras(self) -> None:
        """Check this before any work.

        Raises:
            MissingExtra: the paper's literals need the package `regex`, and it is not installed.
        """
        if not self._grammar.bounded:
            compile_for_time_out("")

    def weights(self) -> str:
        """The shipped model of the default, or that of the preset "paper"."""
        return self.name if self._grammar.bounded else f"{self.name}-paper"

    def observe(self, example: Example) -> Observed:
        """Write a page as markup, and number its words; or take its HTML as it is."""
        gold_words = Counter(words(example.gold.text or ""))
        if not self._grammar.bounded:
            return ObservedSource(Source.of(example.document), gold_words)
        numbers: dict[str, int] = {}
        blocks = [words(text) for text in example.document.columns.texts]
        found = [numbers.setdefault(word, len(numbers)) for block in blocks for word in block]
        return ObservedMarkup(
            write_markup(example.document),
            np.array(found, np.int32),
            np.array([len(block) for block in blocks], np.int32),
            np.array([gold_words[word] for word in numbers], np.int32),
            gold_words.total(),
        )

    def learn(self, observations: Sequence[Observed], report: Callable[[str], object] = be_silent) -> Self:
        """Search for the expression with the most points; `report` is called with a line for each generation.

        An interrupted search continues from its checkpoint, if there is one for the same seed, parameters and pages.

        Raises:
            InputError: there are no pages, or all expressions took too long.
            MissingExtra: the paper's literals need the package `regex`, and it is not installed.
        """
        need_some(observations, self.name)
        self.need_extras()
        problem = Fitness(self, observations)
        settings = SearchSettings(**{each.name: getattr(self, each.name) for each in fields(SearchSettings)})
        checkpoint = (
            Path(self.checkpoint) / f"{self.name}-{problem.digest[:12]}-{self.seed}.json" if self.checkpoint else None
        )
        state = search(problem, self._grammar, settings, report, checkpoint, problem.digest)
        if state.fitness <= WORST:
            raise InputError(f"{self.name}: no expression finished in time; raise timeout, which is {self.timeout} s")
        self.history_ = state.history
        best = polish(problem, self._grammar, settings, state.best, self.polishing, report)
        if self.strategy == "tournament":
            best = prune(problem, self._grammar, best, self.parsimony)
        self._take_tree(best)
        # Where a time-out decides, what was in time before may be too slow now.
        fitness = problem.fitness(self.tree_, range(problem.pages))
        report(f"fitness {'interrupted' if fitness is None else f'{fitness:.4f}'}: {self.expression_}")
        return self

    def facts_and_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The expression, as a tree and as text."""
        return {"tree": self.tree_.to_json(), "expression": self.expression_}, {}

    def restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:  # noqa: ARG002 - has none
        """Take over an expression, after checking that it is one of the grammar, and what the model says it is."""
        tree = from_json(facts["tree"])
        problem = self._grammar.problem(tree)
        if problem:
            raise ValueError(problem)
        if self._grammar.text(tree) != facts["expression"]:
            raise ValueError("the tree and the expression do not agree")
        self._take_tree(tree)

    def _take_tree(self, tree: Tree) -> None:
        self.tree_ = tree
        self._pattern = _compile(self._grammar, tree)


class Fitness:
    """The paper's score of an expression on pages: words that are right, less words that are not.

    Its largest value is 1: everything that the gold standard keeps, and nothing else.

    Args:
        method: how to count.
        observations: the pages.
    """

    def __init__(self, method: IceRegex, observations: Sequence[Observed]) -> None:
        self._method = method
        self._observations = observations

    @property
    def pages(self) -> int:
        """The number of pages."""
        return len(self._observations)

    @cached_property
    def digest(self) -> str:
        """Tells these pages and this way of counting from others."""
        method = self._method
        timeout = None if GRAMMARS[method.literals].bounded else method.timeout
        counting = (method.award, method.penalty, method.per_page, method.threshold, timeout)
        digest = hashlib.sha256(repr(counting).encode())
        for page in self._observations:
            parts = page.parts
            # With the lengths, so that nothing can move from one part to the next unnoticed.
            digest.update(repr((page.gold_total, [len(part) for part in parts])).encode())
            for part in parts:
                digest.update(part)
        return digest.hexdigest()

    def fitness(self, tree: Tree, pages: Sequence[int]) -> float | None:
        """How well an expression does on some of the pages; None if it took too long on one."""
        pattern = _compile(GRAMMARS[self._method.literals], tree)
        points: list[float] = []
        for number in pages:
            found = self._observations[number].judge(pattern, self._method)
            if found is None:
                return None
            points.append(self.points(*found))
        return self.mean(points, pages)

    def points(self, matched: int, excess: int) -> float:
        """The points for so many right and so many wrong words."""
        return self._method.award * matched - self._method.penalty * excess

    def mean(self, points: Sequence[float], pages: Sequence[int]) -> float:
        """The points of pages as one number: by page, not below -1, or all together."""
        most = [self._method.award * max(1, self._observations[number].gold_total) for number in pages]
        if not self._method.per_page:
            return sum(points) / max(1.0, sum(most))
        return sum(max(-1.0, each / its_most) for each, its_most in zip(points, most, strict=True)) / max(1, len(most))


def _compile(grammar: Grammar, tree: Tree) -> Any:  # of Python, or of a package
    if grammar.bounded:
        return grammar.compile(tree)
    return compile_for_time_out(grammar.text(tree))
