"""The last touch to an expression that a search has found: small changes one by one, and no node that does nothing.

A genetic search finds the outline fast and the details slowly. Here all small changes to one expression compete with
each other: all on a few pages, those that do best on more, and a few on all, of which the best is taken if it is better
than the expression as it was.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from mainmatter.papers.ice.expressions import Grammar, Tree, group, literal, simplify
from mainmatter.papers.ice.variation import mutate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mainmatter.papers.ice.genetic import Problem, Settings

# How many candidates stay, after how many pages: the last few are judged on all.
_HEATS = ((10, 60), (40, 8))
_RANDOM_CHANGES = 300  # beside all changes of one literal for another
_GIVE_UP_AFTER = 2  # rounds without success; each has other pages and other random changes


def polish(
    problem: Problem, grammar: Grammar, settings: Settings, tree: Tree, rounds: int, report: Callable[[str], object]
) -> Tree:
    """Improve an expression by small changes.

    Args:
        problem: what it is to do.
        grammar: what it is made of.
        settings: those of the search that found it.
        tree: the expression.
        rounds: how many changes to make at most.
        report: told a line after each round.
    """
    everywhere = list(range(problem.pages))

    def judge(candidate: Tree, pages: list[int]) -> float:
        fitness = problem.fitness(candidate, pages)
        return float("-inf") if fitness is None else fitness - settings.parsimony * candidate.size

    best = judge(tree, everywhere)
    failed = 0
    for number in range(rounds):
        rng = Random(f"{settings.seed} polishing {number}")  # noqa: S311 - no secret
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
