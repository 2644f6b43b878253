"""How expressions come to be: at random, from two others, or from one by a small change. All of them are valid.

The paper's words for these are initialization, crossover and mutation strategies (ICE 3.5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mainmatter.papers.ice.expressions import Grammar, Tree, capture, either, group, literal, simplify

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

_TRIES = 8  # for a child that the grammar allows and that is not too deep
_SAME_FAMILY = 0.7
_MAX_RULES = 4
# How likely a rule has a literal of each family; those of families that are not named here are as likely as not.
_IN_RULE = {"place": 0.35, "tags": 0.9, "look": 0.6, "next": 0.15, "text": 0.9, "line": 0.1}
_TESTS = ("place", "look", "next")  # those that take no text, so that a rule may have several
_WHOLE_RULE = 0.4  # the share of crossovers that take over a whole alternative


def random_tree(rng: Random, grammar: Grammar, max_depth: int) -> Tree:
    """An expression: alternatives that each read a line from left to right or, now and then, anything."""
    for _ in range(_TRIES):
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
    for _ in range(_TRIES):
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
    for _ in range(_TRIES):
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
