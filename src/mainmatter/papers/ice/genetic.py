"""A genetic search for a regular expression (ICE 3.5): initialization, crossover, mutation; seeded, resumable.

A generation is judged on a sample of the pages, which is the same for all of its expressions and another for the next
generation: all of them on a part of it, the better half on the rest too. Its best ones are then judged on all pages,
and the best of these over all generations is the result. Each generation has a random generator of its own, made of the
seed and its number, so that a search that goes on from a checkpoint takes the same way as one that was never
interrupted.

A genetic search finds the outline fast and the details slowly. So the expression that it has found is polished: all
small changes to it compete with each other: all on a few pages, those that do best on more, and a few on all, of which
the best is taken if it is better than the expression as it was. At last, no node stays that does nothing.

All that is the strategy "tournament". The paper's is "fittest": all expressions are random at first and judged on the
same pages, the fitter half is selected and lives on, and the rest of the next generation is made by crossing two of
the selected; some of these are mutated.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from math import isfinite
from random import Random
from typing import TYPE_CHECKING, Any, Literal, Protocol

from mainmatter.files import write_whole
from mainmatter.papers.ice.expressions import (
    EVERYTHING,
    Grammar,
    Tree,
    capture,
    either,
    from_json,
    group,
    literal,
    simplify,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path


# How expressions come to be: at random, from two others, or from one by a small change; all of them are valid

_TRIES_FOR_FIT = 8  # for a child that the grammar allows and that is not too deep
_SAME_FAMILY = 0.7
_MAX_RULES = 4
# How likely a rule has a literal of each family; those of families that are not named here are as likely as not.
_IN_RULE = {"place": 0.35, "tags": 0.9, "look": 0.6, "next": 0.15, "text": 0.9, "line": 0.1}
_TESTS = ("place", "look", "next")  # those that take no text, so that a rule may have several
_WHOLE_RULE = 0.4  # the share of crossovers that take over a whole alternative


def random_tree(rng: Random, grammar: Grammar, max_depth: int) -> Tree:
    """An expression: alternatives that each read a line from left to right or, now and then, anything."""
    for _ in range(_TRIES_FOR_FIT):
        if rng.random() < 0.25:
            tree = _any_tree(rng, grammar, max(2, max_depth - 1))
        else:
            tree = either(*(_rule(rng, grammar) for _ in range(rng.randint(1, _MAX_RULES))))
        tree = simplify(tree)
        if _fits(tree, grammar, max_depth):
            return tree
    return capture(_literal(rng, grammar))


def _rule(rng: Random, grammar: Grammar) -> Tree:
    """A sequence of literals, in the order of their families, of which some are captured."""
    parts: list[Tree] = []
    for family, literals in grammar.families.items():
        while rng.random() < _IN_RULE.get(family, 0.5):
            part = literal(rng.choice(literals))
            parts.append(capture(part) if family == "text" and rng.random() < 0.7 else part)
            if family not in _TESTS:
                break
    return group(*parts) if parts else _literal(rng, grammar)


def _any_tree(rng: Random, grammar: Grammar, depth: int) -> Tree:
    if depth <= 1 or rng.random() < 0.3:
        return _literal(rng, grammar)
    kind = rng.choice(("capture", "group", "group", "or"))
    if kind == "capture":
        return capture(_any_tree(rng, grammar, depth - 1))
    children = [_any_tree(rng, grammar, depth - 1) for _ in range(rng.randint(2, 3))]
    return group(*children) if kind == "group" else either(*children)


def _literal(rng: Random, grammar: Grammar) -> Tree:
    return literal(rng.choice(grammar.families[rng.choice(list(grammar.families))]))


def cross(rng: Random, grammar: Grammar, max_depth: int, one: Tree, other: Tree) -> Tree:
    """One expression with a part of another in the place of one of its own, or with one of its alternatives.

    Where nothing fits, it stays as it was.
    """
    parts = list(other.walk())
    for _ in range(_TRIES_FOR_FIT):
        if rng.random() < _WHOLE_RULE:
            rules = list(_rules(one))
            rules.insert(rng.randint(0, len(rules)), rng.choice(_rules(other)))
            child = simplify(either(*rules))
        else:
            child = simplify(one.replace(rng.randrange(one.size), rng.choice(parts)))
        if _fits(child, grammar, max_depth):
            return child
    return one


def _rules(tree: Tree) -> tuple[Tree, ...]:
    return tree.children if tree.kind == "or" else (tree,)


def mutate(rng: Random, grammar: Grammar, max_depth: int, tree: Tree) -> Tree:
    """An expression with a small change; as it was, where no change fits."""
    for _ in range(_TRIES_FOR_FIT):
        number = rng.randrange(tree.size)
        node = list(tree.walk())[number]
        change = rng.choice(_CHANGES)
        child = simplify(tree.replace(number, change(rng, grammar, node)))
        if child != tree and _fits(child, grammar, max_depth):
            return child
    return tree


def _fits(tree: Tree, grammar: Grammar, max_depth: int) -> bool:
    return tree.depth <= max_depth and grammar.allows(tree)


def _change_literal(rng: Random, grammar: Grammar, node: Tree) -> Tree:
    """Another literal, mostly of the same family; one of those that are in the node."""
    leaves = [number for number, each in enumerate(node.walk()) if each.kind == "literal"]
    number = rng.choice(leaves)
    old = list(node.walk())[number].literal
    if rng.random() < _SAME_FAMILY:
        return node.replace(number, literal(rng.choice(grammar.families[grammar.family_of[old]])))
    return node.replace(number, _literal(rng, grammar))


def _grow_sequence(rng: Random, grammar: Grammar, node: Tree) -> Tree:
    """Another literal before or after the node."""
    new = _literal(rng, grammar)
    return group(new, node) if rng.random() < 0.5 else group(node, new)


def _grow_alternative(rng: Random, grammar: Grammar, node: Tree) -> Tree:
    """Another rule, to be tried before or after the node."""
    new = _rule(rng, grammar)
    return either(new, node) if rng.random() < 0.5 else either(node, new)


def _shrink(rng: Random, grammar: Grammar, node: Tree) -> Tree:
    """The node without one of its children, or the one child in its place."""
    if len(node.children) < 2:
        return node.children[0] if node.children else _literal(rng, grammar)
    drop = rng.randrange(len(node.children))
    return Tree(node.kind, children=node.children[:drop] + node.children[drop + 1 :])


def _reorder(rng: Random, grammar: Grammar, node: Tree) -> Tree:  # noqa: ARG001 - as the other changes
    """The node's children in another order."""
    return Tree(node.kind, node.literal, tuple(rng.sample(node.children, len(node.children))))


def _toggle_capture(rng: Random, grammar: Grammar, node: Tree) -> Tree:  # noqa: ARG001 - as the other changes
    """Keep what was not kept, or the other way round."""
    return node.children[0] if node.kind == "capture" else capture(node)


def _start_afresh(rng: Random, grammar: Grammar, node: Tree) -> Tree:  # noqa: ARG001 - as the other changes
    return _any_tree(rng, grammar, 3)


# The first, which explores the fixed set, is as likely as three others.
_CHANGES: tuple[Callable[[Random, Grammar, Tree], Tree], ...] = (
    _change_literal,
    _change_literal,
    _change_literal,
    _grow_sequence,
    _grow_sequence,
    _grow_alternative,
    _shrink,
    _reorder,
    _toggle_capture,
    _start_afresh,
)


# The search

WORST = -100.0
"""The fitness of an expression that was interrupted: below that of any other."""

_FIRST_PART = 0.25  # of the sample, for a first look at all expressions
_STAY = 0.5  # the share of them that are judged on the rest as well
_FINALISTS = 4  # of each generation, those that are judged on all pages
_ELITE = 2  # of each generation, those that live on beside the best of all
_NEWCOMERS = 0.05  # the share of each generation that is made afresh
_CROSSOVER = 0.6  # the share of the others that have two parents
_TRIES = 4  # for an expression that is not there already

Strategy = Literal["tournament", "fittest"]
_SELECTED = 0.5  # by the strategy "fittest": the share of a generation that lives on
_CROSSOVER_RATE = 0.95  # of its children; this and a mutation of 0.05 are the defaults of AI::Genetic, which ICE used


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
class SearchSettings:
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
        strategy: "tournament" is ours, "fittest" the paper's.
    """

    population: int
    generations: int
    seed: int
    tournament: int
    mutation: float
    max_depth: int
    sample: int
    parsimony: float
    strategy: Strategy = "tournament"


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
class SearchState:
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
    settings: SearchSettings,
    report: Callable[[str], object],
    checkpoint: Path | None = None,
    digest: str = "",
) -> SearchState:
    """Search for the expression that does best.

    Args:
        problem: what it is to do.
        grammar: what it is made of.
        settings: how to search.
        report: called with a line after each generation.
        checkpoint: a file that the state is written to after each generation, and read from at first if it is of the
            same search; if it is not, the search starts over, says so, and overwrites it.
        digest: identifies the problem: the data, and all that fitness depends on; checkpoints of others are not used.
    """
    fingerprint = {**asdict(settings), "grammar": grammar.name, "literals": grammar.digest, "digest": digest}
    del fingerprint["generations"]  # a search may go on for longer
    state = None
    if checkpoint is not None and checkpoint.is_file():
        try:
            state = _read(checkpoint, fingerprint, grammar, settings)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            report(f"starts over: {checkpoint} does not fit: {' '.join(str(error).split()) or type(error).__name__}")
        else:
            report(f"continues after generation {len(state.history)} of {checkpoint}")
    if state is None:
        # Random expressions, and the one that keeps everything: no search should end below what the paper's ended with.
        rng = Random(f"{settings.seed} at first")  # no secret
        first = [EVERYTHING[grammar.name]] if settings.strategy == "tournament" else []
        first += [random_tree(rng, grammar, settings.max_depth) for _ in range(settings.population - len(first))]
        state = SearchState(first, first[0])
    judge = _Judge(problem, settings.parsimony)
    step = _step if settings.strategy == "tournament" else _step_of_paper
    while len(state.history) < settings.generations:
        step(state, judge, grammar, settings)
        report(_line(state, settings))
        if checkpoint is not None:
            _write(checkpoint, fingerprint, state)
    return state


def _step(state: SearchState, judge: _Judge, grammar: Grammar, settings: SearchSettings) -> None:
    """Judge a generation, and make the next."""
    number = len(state.history)
    rng = Random(f"{settings.seed} {number}")  # no secret
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


def _step_of_paper(state: SearchState, judge: _Judge, grammar: Grammar, settings: SearchSettings) -> None:
    """Judge a generation, select its fittest, and make the next by crossing them (ICE 3.5)."""
    number = len(state.history)
    rng = Random(f"{settings.seed} {number}")  # no secret
    everywhere = range(judge.problem.pages)
    pages = Random(f"{settings.seed} pages").sample(everywhere, min(settings.sample, len(everywhere)))
    ranked = sorted(((judge.remember(tree, pages), tree) for tree in state.population), key=lambda each: -each[0])
    in_time = [fitness for fitness, _ in ranked if fitness > WORST]
    state.fitness, state.best = ranked[0]
    mean = sum(in_time) / max(1, len(in_time))
    state.history.append(Generation(number, state.fitness, mean, state.best.size, len(ranked) - len(in_time)))
    selected = [tree for _, tree in ranked[: max(1, round(_SELECTED * settings.population))]]
    state.population = selected + [
        _child_of_paper(selected, rng, grammar, settings) for _ in range(settings.population - len(selected))
    ]


def _child_of_paper(selected: list[Tree], rng: Random, grammar: Grammar, settings: SearchSettings) -> Tree:
    child, other = rng.choice(selected), rng.choice(selected)
    if rng.random() < _CROSSOVER_RATE:
        child = cross(rng, grammar, settings.max_depth, child, other)
    return mutate(rng, grammar, settings.max_depth, child) if rng.random() < settings.mutation else child


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
        self._known: dict[Tree, float] = {}

    def remember(self, tree: Tree, pages: Sequence[int]) -> float:
        """As a call, where the pages are always the same: an expression that lives on is judged once."""
        if tree not in self._known:
            self._known[tree] = self(tree, pages)
        return self._known[tree]

    def __call__(self, tree: Tree, pages: Sequence[int]) -> float:
        fitness = self.problem.fitness(tree, pages)
        return WORST if fitness is None else max(WORST + 1, fitness - tree.size * self._parsimony)


def _next(
    best: Tree, ranked: list[tuple[float, Tree]], rng: Random, grammar: Grammar, settings: SearchSettings
) -> list[Tree]:
    """The next generation: the best, newcomers, and children of those that win tournaments; none of them twice."""
    population = list(dict.fromkeys([best, *(tree for _, tree in ranked[:_ELITE])]))[: settings.population]
    newcomers = min(round(_NEWCOMERS * settings.population), settings.population - len(population))
    population += [random_tree(rng, grammar, settings.max_depth) for _ in range(newcomers)]
    known = set(population)
    while len(population) < settings.population:
        for _ in range(_TRIES):
            child = _child(ranked, rng, grammar, settings)
            if child not in known:
                break
        known.add(child)
        population.append(child)
    return population


def _child(ranked: list[tuple[float, Tree]], rng: Random, grammar: Grammar, settings: SearchSettings) -> Tree:
    child = _winner(ranked, rng, settings.tournament)
    crossed = rng.random() < _CROSSOVER
    if crossed:
        child = cross(rng, grammar, settings.max_depth, child, _winner(ranked, rng, settings.tournament))
    if not crossed or rng.random() < settings.mutation:
        child = mutate(rng, grammar, settings.max_depth, child)
    return child


def _winner(ranked: list[tuple[float, Tree]], rng: Random, tournament: int) -> Tree:
    return ranked[min(rng.randrange(len(ranked)) for _ in range(max(1, tournament)))][1]


def _line(state: SearchState, settings: SearchSettings) -> str:
    last = state.history[-1]
    interrupted = f", {last.interrupted} interrupted" if last.interrupted else ""
    return (
        f"generation {last.number + 1} of {settings.generations}: best fitness {last.best:.4f}, "
        f"mean {last.mean:.4f}, {last.size} nodes{interrupted}"
    )


def _write(path: Path, fingerprint: dict[str, Any], state: SearchState) -> None:
    content = {
        "search": fingerprint,
        "population": [tree.to_json() for tree in state.population],
        "best": state.best.to_json(),
        "fitness": state.fitness,
        "history": [asdict(generation) for generation in state.history],
    }
    write_whole(path, json.dumps(content, ensure_ascii=False, indent=1).encode("utf-8"))


def _read(path: Path, fingerprint: dict[str, Any], grammar: Grammar, settings: SearchSettings) -> SearchState:
    """The state in a checkpoint.

    Raises:
        KeyError, OverflowError, RecursionError, TypeError, ValueError: it is damaged, or of another search.
    """
    content = json.loads(path.read_bytes())
    if content["search"] != fingerprint:
        raise ValueError("it is from another search")
    history = [_generation(number, each) for number, each in enumerate(content["history"])]
    if not 1 <= len(history) <= settings.generations:
        raise ValueError(f"it has {len(history)} generations of {settings.generations}")
    population = [_tree(each, grammar) for each in content["population"]]
    if len(population) != settings.population:
        raise ValueError(f"it has {len(population)} expressions, not {settings.population}")
    return SearchState(population, _tree(content["best"], grammar), _finite(content["fitness"]), history)


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


def _finite(content: Any) -> float:  # of JSON
    number = float(content)
    if not isfinite(number):
        raise ValueError(f"a fitness of {number}")
    return number


# Polishing

# How many candidates stay, after how many pages: the last few are judged on all.
_HEATS = ((10, 60), (40, 8))
_RANDOM_CHANGES = 300  # beside all changes of one literal for another
_GIVE_UP_AFTER = 2  # rounds without success; each has other pages and other random changes


def polish(
    problem: Problem,
    grammar: Grammar,
    settings: SearchSettings,
    tree: Tree,
    rounds: int,
    report: Callable[[str], object],
) -> Tree:
    """Improve an expression by small changes.

    Args:
        problem: what it is to do.
        grammar: what it is made of.
        settings: those of the search that found it.
        tree: the expression.
        rounds: how many changes to make at most.
        report: called with a line after each round.
    """
    everywhere = list(range(problem.pages))

    def judge(candidate: Tree, pages: list[int]) -> float:
        fitness = problem.fitness(candidate, pages)
        return float("-inf") if fitness is None else fitness - settings.parsimony * candidate.size

    best = judge(tree, everywhere)
    failed = 0
    for number in range(rounds):
        rng = Random(f"{settings.seed} polishing {number}")  # no secret
        pages = rng.sample(everywhere, len(everywhere))
        candidates = list(dict.fromkeys(_neighbours(rng, grammar, settings.max_depth, tree)))
        for heat, stay in _HEATS:
            judged = [(judge(candidate, pages[:heat]), candidate) for candidate in candidates]
            candidates = [candidate for _, candidate in sorted(judged, key=lambda each: -each[0])[:stay]]
        fitness, winner = max(((judge(each, everywhere), each) for each in candidates), key=lambda each: each[0])
        failed = 0 if fitness > best else failed + 1
        if fitness > best:
            tree, best = winner, fitness
        report(f"polishing {number + 1} of {rounds}: fitness {best + settings.parsimony * tree.size:.4f}")
        if failed == _GIVE_UP_AFTER:
            break
    return tree


def _neighbours(rng: Random, grammar: Grammar, max_depth: int, tree: Tree) -> Iterator[Tree]:
    """All expressions with another literal of the same family, a test put before a node, and some changed at random."""
    tests = [each for family in grammar.families if family != "text" for each in grammar.families[family]]
    for number, node in enumerate(tree.walk()):
        if node.kind == "literal":
            changed = [literal(each) for each in grammar.families[grammar.family_of[node.literal]]]
            changed += [group(literal(each), node) for each in rng.sample(tests, min(len(tests), 20))]
            candidates = [simplify(tree.replace(number, each)) for each in changed]
            yield from (each for each in candidates if each.depth <= max_depth and grammar.allows(each))
    for _ in range(_RANDOM_CHANGES):
        yield mutate(rng, grammar, max_depth, tree)


def prune(problem: Problem, grammar: Grammar, tree: Tree, tolerance: float) -> Tree:
    """Take away, one after the other, the nodes without which an expression does as well on all pages.

    Args:
        problem: what it is to do.
        grammar: what it is made of.
        tree: the expression.
        tolerance: the fitness that a node must be worth to stay.
    """
    pages = range(problem.pages)
    fitness = problem.fitness(tree, pages)
    number = 1
    while fitness is not None and number < tree.size:
        shorter = _without(tree, number)
        if shorter is not None and shorter.size < tree.size and grammar.allows(shorter):
            its_fitness = problem.fitness(shorter, pages)
            if its_fitness is not None and its_fitness >= fitness - tolerance * (tree.size - shorter.size):
                tree, fitness, number = shorter, max(fitness, its_fitness), 1
                continue
        number += 1
    return tree


def _without(tree: Tree, number: int) -> Tree | None:
    """The tree without one of its nodes; None if that leaves nothing."""
    if number == 0:
        return None
    number -= 1
    children: list[Tree] = []
    for child in tree.children:
        if 0 <= number < child.size:
            shorter = _without(child, number)
            if shorter is not None:
                children.append(shorter)
        else:
            children.append(child)
        number -= child.size
    return simplify(Tree(tree.kind, children=tuple(children))) if children else None
