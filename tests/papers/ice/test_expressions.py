"""Expressions as trees: what they render to, that all of them compile, and that none takes long (ICE 3.5)."""

from __future__ import annotations

import random
import re
from functools import partial
from typing import TYPE_CHECKING

import pytest

from mainmatter.papers.ice.expressions import (
    BOUNDED,
    EVERYTHING,
    GRAMMARS,
    HTML,
    MAX_EFFORT,
    Grammar,
    Tree,
    capture,
    either,
    from_json,
    group,
    literal,
    simplify,
)
from mainmatter.papers.ice.genetic import cross, mutate, random_tree
from mainmatter.papers.ice.regex import captured_in_lines
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable

A, B, C, D = map(literal, "abcd")
MAX_DEPTH = 7


def forest(grammar: Grammar, count: int, seed: int) -> list[Tree]:
    """Random trees, their children by crossover, and these once changed."""
    rng = random.Random(seed)
    trees = [random_tree(rng, grammar, MAX_DEPTH) for _ in range(count)]
    trees += [cross(rng, grammar, MAX_DEPTH, rng.choice(trees), rng.choice(trees)) for _ in range(count)]
    return trees + [mutate(rng, grammar, MAX_DEPTH, rng.choice(trees)) for _ in range(count)]


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (A, "a"),
        (capture(A), "(a)"),
        (group(A, B), "ab"),
        (either(A, B), "a|b"),
        (group(A, either(B, C), D), "a(?:b|c)d"),
        (capture(either(A, group(B, C))), "(a|bc)"),
        (either(group(A, capture(B)), C), "a(b)|c"),
        (group(group(A, either(B, C)), D), "a(?:b|c)d"),
    ],
)
def test_text(tree: Tree, text: str) -> None:
    assert tree.text == text
    assert BOUNDED.text(tree) == f"^(?:{text})"
    assert HTML.text(tree) == text


@pytest.mark.parametrize(
    ("tree", "size", "depth", "effort"),
    [
        (A, 1, 1, 1),
        (group(A, B, C), 4, 2, 3),
        (either(A, B, C), 4, 2, 3),
        # a; then b or c; after each of these, d: 1 + 2 + 2.
        (group(A, either(B, C), D), 6, 3, 5),
        # (a|b)(a|b)(a|b): 2, then 2 after each of 2, then 2 after each of 4.
        (group(*[either(A, B)] * 3), 10, 3, 2 + 4 + 8),
        (capture(either(group(A, B), C)), 6, 4, 3),
    ],
)
def test_size_depth_and_effort(tree: Tree, size: int, depth: int, effort: int) -> None:
    assert (tree.size, tree.depth, tree.effort) == (size, depth, effort)


def tried(tree: Tree) -> int:
    """How many literals are tried if each of them matches and what follows the tree never does: by counting."""
    count = 0

    def match(node: Tree) -> int:
        """In how many ways the node matches; counts what is tried for it."""
        nonlocal count
        if node.kind == "literal":
            count += 1
            return 1
        if node.kind == "or":
            return sum(match(child) for child in node.children)
        return sequence(node.children)

    def sequence(nodes: tuple[Tree, ...]) -> int:
        if not nodes:
            return 1
        return sum(sequence(nodes[1:]) for _ in range(match(nodes[0])))

    match(tree)
    return count


def test_effort_is_what_backtracking_tries() -> None:
    for tree in forest(BOUNDED, 300, 8):
        assert tree.effort == tried(tree)


def test_walk_and_replace() -> None:
    tree = group(A, capture(either(B, C)), D)
    assert [node.text for node in tree.walk()] == ["a(b|c)d", "a", "(b|c)", "b|c", "b", "c", "d"]
    for number, node in enumerate(tree.walk()):
        changed = tree.replace(number, literal("X"))
        assert list(changed.walk())[number] == literal("X")
        assert changed.size == tree.size - node.size + 1
        assert tree.replace(number, node) == tree


@pytest.mark.parametrize(
    ("tree", "simple"),
    [
        (group(A, group(B, C)), group(A, B, C)),
        (either(either(A, B), A, C), either(A, B, C)),
        (either(A, A), A),
        (capture(capture(A)), capture(A)),
        (capture(group(A, capture(B))), capture(group(A, B))),
        (group(group(A)), A),
        (group(A, either(B, C)), group(A, either(B, C))),
    ],
)
def test_simplify(tree: Tree, simple: Tree) -> None:
    assert simplify(tree) == simple


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_every_tree_compiles_and_is_allowed(grammar: Grammar) -> None:
    for tree in forest(grammar, 700, 1):
        assert grammar.compile(tree).groups == sum(node.kind == "capture" for node in tree.walk())
        assert grammar.problem(tree) == ""
        assert tree.depth <= MAX_DEPTH
        assert from_json(tree.to_json()) == tree


def test_trees_differ() -> None:
    assert len({tree.text for tree in forest(BOUNDED, 500, 2)}) > 1200


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_every_literal_is_valid_alone_and_in_one_family(grammar: Grammar) -> None:
    for family, literals in grammar.families.items():
        for each in literals:
            re.compile(each)
            assert grammar.family_of[each] == family
    assert len(grammar.family_of) == sum(map(len, grammar.families.values()))


def test_what_keeps_everything() -> None:
    text = "<p> one <a>two</a>\n<ul><li> three\n"
    found = BOUNDED.compile(EVERYTHING["bounded"]).findall(text)
    assert found == ["one <a>two</a>", "three"]
    assert HTML.compile(EVERYTHING["html"]).findall("<p>one<a>two</a>") == ["", "one", "", "two", ""]


def test_what_the_grammar_refuses() -> None:
    assert BOUNDED.problem(literal("(a+)+")) == "'(a+)+' is not a literal of the grammar 'bounded'"
    two = either(literal(r"\w*+"), literal(r"[^\n]*+"))
    assert BOUNDED.problem(group(*[two] * 4)) == ""  # 2 + 4 + 8 + 16
    assert "may try 126 literals; 96 are allowed" in BOUNDED.problem(group(*[two] * 6))
    assert MAX_EFFORT == 96


@pytest.mark.parametrize(
    "value", [1, None, [], ["capture"], ["capture", "a", "b"], ["star", "a"], {"or": 1}, ["or", 2]]
)
def test_what_is_no_tree(value: object) -> None:
    with pytest.raises(ValueError, match="node"):
        from_json(value)


def test_a_tree_that_is_too_deep() -> None:
    value: object = "a"
    for _ in range(100_000):
        value = ["group", value, "b"]
    with pytest.raises(ValueError, match="deeper than"):
        from_json(value)


HOSTILE: dict[str, tuple[int, Callable[[int], str]]] = {
    "one long line": (200_000, lambda n: "<p> " + "x" * n + "\n"),
    "one long line of words": (20_000, lambda n: "<p> " + "word, word. " * n + "\n"),
    "one long line of links": (25_000, lambda n: "<p> " + "<a>x</a> " * n + "\n"),
    "spaces": (200_000, lambda n: "<p> " + " " * n + "\n"),
    "tabs, commas and bars": (40_000, lambda n: "<p> " + "\t, | " * n + "\n"),
    "marks and digits": (30_000, lambda n: "<p> " + "1. 2! " * n + "x\n"),
    "many short lines": (4_000, lambda n: "<ul><li> x\n" * n),
    "many links": (3_000, lambda n: "<ul><li> <a>x</a>\n" * n),
    "no text": (5_000, lambda n: "<p> \n" * n),
    "long and short": (30_000, lambda n: ("<p> " + "x, y. " * (n // 30) + "\n<li> <a>a</a>\n") * 30),
}


def in_lines(pattern: re.Pattern[str], name: str) -> Callable[[int], Callable[[], object]]:
    """What matches a pattern in the lines of a hostile text, which may have any size."""

    def make(size: int) -> Callable[[], object]:
        text = HOSTILE[name][1](size)
        lines = [0, *(found.end() for found in re.finditer("\n", text))][:-1]
        return partial(captured_in_lines, pattern, text, lines)

    return make


@pytest.mark.parametrize("name", HOSTILE)
def test_every_literal_takes_linear_time(name: str) -> None:
    """At the beginning of each line and of its text; a literal that backtracks badly would take minutes here."""
    for each in BOUNDED.family_of:
        for before in ("", r"<\S*+ "):
            assert_linear(in_lines(re.compile(f"^(?:{before}{each}{each})", re.MULTILINE), name), HOSTILE[name][0])


def hard_trees(count: int) -> list[Tree]:
    """Trees that may try as many literals as is allowed, or nearly."""
    rng = random.Random(3)
    found: list[Tree] = []
    while len(found) < count:
        rows = [either(*(literal(rng.choice(list(BOUNDED.family_of))) for _ in range(3))) for _ in range(4)]
        tree = simplify(group(*rows[:3], capture(rows[3])))  # 3 + 9 + 27 + 81 is too many, so some are cut short
        while not BOUNDED.allows(tree):
            tree = mutate(rng, BOUNDED, MAX_DEPTH, simplify(group(*tree.children[1:])))
        if tree.effort > MAX_EFFORT // 3:
            found.append(tree)
    return found


@pytest.mark.parametrize("name", HOSTILE)
def test_every_tree_takes_linear_time(name: str) -> None:
    for tree in [*forest(BOUNDED, 10, 3), *hard_trees(15)]:
        # 200 KB; what is quadratic would take minutes.
        assert_linear(in_lines(BOUNDED.compile(tree), name), HOSTILE[name][0])


def test_captured_in_lines_is_what_finditer_finds() -> None:
    rng = random.Random(5)
    tags = ("<p>", "<nav><ul><li>", "<h2>", "<.aside><div>", "<table><tr><td>")
    texts = ("Home", "<a>Home</a>", "Some words, and then more of them. ", "© 2024", "<a>one</a> <a>two</a>", "")
    compared = 0
    for tree in forest(BOUNDED, 250, 6):
        text = "".join(f"{rng.choice(tags)} {rng.choice(texts) * rng.randint(1, 4)}\n" for _ in range(12))
        lines = [0, *(found.end() for found in re.finditer("\n", text))][:-1]
        matches = [found for found in BOUNDED.compile(tree).finditer(text) if found.start() < len(text)]
        if any(found.start() == found.end() for found in matches):
            continue  # here a match of nothing ends the line; finditer tries for a longer one at the same place
        compared += 1
        marked = bytearray(len(text))
        for found in matches:
            for start, end in found.regs[1:]:
                if start >= 0:
                    marked[start:end] = b"\x01" * (end - start)
        mine = bytearray(len(text))
        spans = captured_in_lines(BOUNDED.compile(tree), text, lines)
        for start, end in spans:
            assert not any(mine[start:end])
            mine[start:end] = b"\x01" * (end - start)
        assert spans == sorted(spans)
        assert mine == marked, tree.text
    assert compared > 300


def test_the_literals_that_the_paper_names() -> None:
    assert {r"\w*?", r"<.*?>"} <= set(HTML.family_of)
    assert not HTML.bounded
