"""A genetic search for a regular expression (ICE 3.5): selection, crossover, mutation; seeded, resumable.

A generation is judged on a sample of the pages, which is the same for all of its expressions and another for the next
generation: all of them on a part of it, the better half on the rest too. Its best ones are then judged on all pages,
and the best of these over all generations is the result.
Each generation has a random generator of its own, made of the seed and its number, so that a search that goes on from
a checkpoint takes the same way as one that was never interrupted.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from math import isfinite
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from mainmatter.files import write_whole
from mainmatter.papers.ice.expressions import EVERYTHING, Grammar, Tree, from_json
from mainmatter.papers.ice.variation import cross, mutate, random_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

WORST = -100.0
"""The fitness of an expression that was interrupted: below that of any other."""

_FIRST_PART = 0.25  # of the sample, for a first look at all expressions
_STAY = 0.5  # the share of them that are judged on the rest as well
_FINALISTS = 4  # of each generation, those that are judged on all pages
_ELITE = 2  # of each generation, those that live on beside the best of all
_NEWCOMERS = 0.05  # the share of each generation that is made afresh
_CROSSOVER = 0.6  # the share of the others that have two parents
_TRIES = 4  # for an expression that is not there already


class Problem(Protocol):
    """What an expression is to do, and how well it does it."""

    @property
    def pages(self) -> int:
        """The number of pages."""
        ...

    def fitness(self, tree: Tree, pages: Sequence[int]) -> float | None:
        """How well an expression does on some of the pages, 1 at best; None if it took too long."""
        ...


@dataclass(frozen=True, slots=True)
class Settings:
    """How to search.

    Attributes:
        population: how many expressions a generation has.
        generations: how many generations.
        seed: of the random generators.
        tournament: how many expressions compete for being a parent.
        mutation: the share of children that are changed.
        max_depth: of a tree.
        sample: how many pages a generation is judged on.
        parsimony: what each node costs in fitness, so that of two that do the same the shorter one lives on.
    """

    population: int
    generations: int
    seed: int
    tournament: int
    mutation: float
    max_depth: int
    sample: int
    parsimony: float


@dataclass(frozen=True, slots=True)
class Generation:
    """What came out of one generation.

    Attributes:
        number: from 0.
        best: the fitness, on all pages, of the best expression so far.
        mean: the mean fitness of the generation, on as much of its sample as each was judged on; without those that
            were interrupted.
        size: the number of nodes of the best expression so far.
        interrupted: how many expressions took too long.
    """

    number: int
    best: float
    mean: float
    size: int
    interrupted: int


@dataclass
class State:
    """How far a search has come; all of it goes into the checkpoint.

    Attributes:
        population: the expressions of the next generation.
        best: the best expression so far.
        fitness: its fitness on all pages, less what its nodes cost.
        history: the generations so far.
    """

    population: list[Tree]
    best: Tree
    fitness: float = float("-inf")
    history: list[Generation] = field(default_factory=list)


def search(
    problem: Problem,
    grammar: Grammar,
    settings: Settings,
    report: Callable[[str], object],
    checkpoint: Path | None = None,
    digest: str = "",
) -> State:
    """Search for the expression that does best.

    Args:
        problem: what it is to do.
        grammar: what it is made of.
        settings: how to search.
        report: told a line after each generation.
        checkpoint: a file that the state is written to after each generation, and read from at first if it is of the
            same search; if it is not, the search starts anew, says so, and writes over it.
        digest: tells the problem: the data, and all that fitness depends on; a checkpoint of another is not used.
    """
    fingerprint = {**asdict(settings), "grammar": grammar.name, "literals": grammar.digest, "digest": digest}
    del fingerprint["generations"]  # a search may go on for longer
    state = None
    if checkpoint is not None and checkpoint.is_file():
        try:
            state = _read(checkpoint, fingerprint, grammar, settings)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            report(f"starts anew: {checkpoint} does not fit: {' '.join(str(error).split()) or type(error).__name__}")
        else:
            report(f"goes on after generation {len(state.history)} of {checkpoint}")
    state = state or _begin(grammar, settings)
    judge = _Judge(problem, settings.parsimony)
    while len(state.history) < settings.generations:
        _step(state, judge, grammar, settings)
        report(_line(state, settings))
        if checkpoint is not None:
            _write(checkpoint, fingerprint, state)
    return state


def _begin(grammar: Grammar, settings: Settings) -> State:
    """Random expressions, and the one that keeps everything: no search should end below what the paper's ended with."""
    rng = Random(f"{settings.seed} at first")  # noqa: S311 - no secret
    everything = EVERYTHING[grammar.name]
    population = [everything]
    while len(population) < settings.population:
        population.append(random_tree(rng, grammar, settings.max_depth))
    return State(population, everything)


def _step(state: State, judge: _Judge, grammar: Grammar, settings: Settings) -> None:
    """Judge a generation, and make the next."""
    number = len(state.history)
    rng = Random(f"{settings.seed} {number}")  # noqa: S311 - no secret
    pages = rng.sample(range(judge.problem.pages), min(settings.sample, judge.problem.pages))
    ranked = _rank(state.population, judge, pages)
    for _, tree in ranked[:_FINALISTS]:
        fitness = judge(tree, range(judge.problem.pages))
        if fitness > state.fitness:
            state.best, state.fitness = tree, fitness
    in_time = [fitness + tree.size * settings.parsimony for fitness, tree in ranked if fitness > WORST]
    state.history.append(
        Generation(
            number,
            best=state.fitness + state.best.size * settings.parsimony,
            mean=sum(in_time) / max(1, len(in_time)),
            size=state.best.size,
            interrupted=len(ranked) - len(in_time),
        )
    )
    state.population = _next(state.best, ranked, rng, grammar, settings)


def _rank(population: list[Tree], judge: _Judge, pages: list[int]) -> list[tuple[float, Tree]]:
    """The expressions with their fitness, the best first; those that did badly on some pages are spared the others."""
    first = max(1, round(_FIRST_PART * len(pages)))
    # Sorting is stable: the first of two that are as good stays the first.
    judged = sorted(((judge(tree, pages[:first]), tree) for tree in population), key=lambda each: -each[0])
    stay = max(1, round(_STAY * len(judged)))
    better = [(judge(tree, pages) if fitness > WORST else WORST, tree) for fitness, tree in judged[:stay]]
    return sorted(better, key=lambda each: -each[0]) + judged[stay:]


class _Judge:
    """Judges expressions, less what their size costs."""

    def __init__(self, problem: Problem, parsimony: float) -> None:
        self.problem = problem
        self._parsimony = parsimony

    def __call__(self, tree: Tree, pages: Sequence[int]) -> float:
        fitness = self.problem.fitness(tree, pages)
        return WORST if fitness is None else max(WORST + 1, fitness - tree.size * self._parsimony)


def _next(
    best: Tree, ranked: list[tuple[float, Tree]], rng: Random, grammar: Grammar, settings: Settings
) -> list[Tree]:
    """The next generation: the best, newcomers, and children of those that win tournaments; none of them twice."""
    population = list(dict.fromkeys([best, *(tree for _, tree in ranked[:_ELITE])]))[: settings.population]
    newcomers = round(_NEWCOMERS * settings.population)
    while len(population) < settings.population and newcomers:
        population.append(random_tree(rng, grammar, settings.max_depth))
        newcomers -= 1
    known = set(population)
    while len(population) < settings.population:
        for _ in range(_TRIES):
            child = _child(ranked, rng, grammar, settings)
            if child not in known:
                break
        known.add(child)
        population.append(child)
    return population


def _child(ranked: list[tuple[float, Tree]], rng: Random, grammar: Grammar, settings: Settings) -> Tree:
    child = _winner(ranked, rng, settings.tournament)
    crossed = rng.random() < _CROSSOVER
    if crossed:
        child = cross(rng, grammar, settings.max_depth, child, _winner(ranked, rng, settings.tournament))
    if not crossed or rng.random() < settings.mutation:
        child = mutate(rng, grammar, settings.max_depth, child)
    return child


def _winner(ranked: list[tuple[float, Tree]], rng: Random, tournament: int) -> Tree:
    return ranked[min(rng.randrange(len(ranked)) for _ in range(max(1, tournament)))][1]


def _line(state: State, settings: Settings) -> str:
    last = state.history[-1]
    interrupted = f", {last.interrupted} interrupted" if last.interrupted else ""
    return (
        f"generation {last.number + 1} of {settings.generations}: best fitness {last.best:.4f}, "
        f"mean {last.mean:.4f}, {last.size} nodes{interrupted}"
    )


def _write(path: Path, fingerprint: dict[str, Any], state: State) -> None:
    content = {
        "search": fingerprint,
        "population": [tree.to_json() for tree in state.population],
        "best": state.best.to_json(),
        "fitness": state.fitness,
        "history": [asdict(generation) for generation in state.history],
    }
    write_whole(path, json.dumps(content, ensure_ascii=False, indent=1).encode("utf-8"))


def _read(path: Path, fingerprint: dict[str, Any], grammar: Grammar, settings: Settings) -> State:
    """The state in a checkpoint.

    Raises:
        KeyError, OverflowError, RecursionError, TypeError, ValueError: it is damaged, or of another search.
    """
    content = json.loads(path.read_bytes())
    if content["search"] != fingerprint:
        raise ValueError("it is of another search")
    history = [_generation(number, each) for number, each in enumerate(content["history"])]
    if not 1 <= len(history) <= settings.generations:
        raise ValueError(f"it has {len(history)} generations of {settings.generations}")
    population = [_tree(each, grammar) for each in content["population"]]
    if len(population) != settings.population:
        raise ValueError(f"it has {len(population)} expressions, not {settings.population}")
    return State(population, _tree(content["best"], grammar), _finite(content["fitness"]), history)


def _generation(number: int, content: dict[str, Any]) -> Generation:
    if content["number"] != number:
        raise ValueError(f"generation {number + 1} is missing")
    return Generation(
        number,
        _finite(content["best"]),
        _finite(content["mean"]),
        int(content["size"]),
        int(content["interrupted"]),
    )


def _tree(content: object, grammar: Grammar) -> Tree:
    tree = from_json(content)
    problem = grammar.problem(tree)
    if problem:
        raise ValueError(problem)
    return tree


def _finite(content: Any) -> float:  # noqa: ANN401 - of JSON
    number = float(content)
    if not isfinite(number):
        raise ValueError(f"a fitness of {number}")
    return number
