r"""Regular expressions as trees that a search can grow, cross and change, and that always compile (ICE 3.5).

A tree has the paper's four kinds of nodes: capturing groups, non-capturing groups, which are sequences, OR nodes, and
literals, which are its leaves and come out of a fixed set, a `Grammar`. Whatever nodes are put together, the result
is a valid expression: a literal is valid alone, and the three others put brackets around what they hold.

There are two grammars. `HTML` is like the paper's: its expressions are matched against the page's own HTML, anywhere,
and some take time without end. `BOUNDED` is the default. Its expressions are matched against a text of lines
(papers/ice/linear_markup.py), at the beginning of a line, in time linear in the text, whatever that is:

1. A literal reads on from one place and within one line, or over the end of that line into the next. It takes time
   linear in those, and there is one way to match it at most: its repetitions are of single classes of characters,
   possessive, or followed by a character that the class does not have, or inside of a look-ahead.
2. So the literals that one attempt tries are as many as the tree has ways to fail: the sum over the alternatives of
   an OR, the product along a sequence. `effort` counts them, and no tree is allowed more than `MAX_EFFORT`.
3. There is one attempt a line, and it reaches no more lines than a sequence has literals.

Possessive quantifiers stand at single classes only: on groups, early versions of Python 3.11 match them wrongly
(python/cpython issue 106052).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

NodeKind = Literal["literal", "capture", "group", "or"]

MAX_EFFORT = 96
"""How many literals one attempt to match may try at most."""

# A tree that was read from a file may be any; this is more than any search makes.
_MAX_READ_DEPTH = 40


@dataclass(frozen=True)
class Tree:
    """A regular expression, or a part of one.

    Attributes:
        kind: "literal", "capture" (one child), "group" (a sequence of children) or "or" (alternatives).
        literal: what a literal stands for, as a regular expression.
        children: the nodes below.
    """

    kind: NodeKind
    literal: str = ""
    children: tuple[Tree, ...] = ()

    @cached_property
    def text(self) -> str:
        """The regular expression, without an anchor."""
        match self.kind:
            case "literal":
                return self.literal
            case "capture":
                return f"({self.children[0].text})"
            case "group":
                return "".join(f"(?:{c.text})" if c.kind == "or" else c.text for c in self.children)
            case "or":
                return "|".join(child.text for child in self.children)

    @cached_property
    def size(self) -> int:
        """The number of its nodes."""
        return 1 + sum(child.size for child in self.children)

    @cached_property
    def depth(self) -> int:
        """The number of nodes on the longest way down."""
        return 1 + max((child.depth for child in self.children), default=0)

    @property
    def effort(self) -> int:
        """How many literals an attempt to match may try, in the worst case, if each has one way to match."""
        return self._tries_and_ways[0]

    @cached_property
    def _tries_and_ways(self) -> tuple[int, int]:
        """The literals that are tried until nothing is left to try, and how many times the node may match before."""
        if self.kind == "literal":
            return 1, 1
        if self.kind == "or":
            each = [child._tries_and_ways for child in self.children]
            return sum(tries for tries, _ in each), sum(ways for _, ways in each)
        tries, ways = 0, 1
        for child in self.children:
            child_tries, child_ways = child._tries_and_ways
            tries += ways * child_tries
            ways *= child_ways
        return tries, ways

    def walk(self) -> Iterator[Tree]:
        """All nodes of the tree, itself first, in the order of the expression."""
        yield self
        for child in self.children:
            yield from child.walk()

    def replace(self, number: int, other: Tree) -> Tree:
        """The tree with another one in the place of a node, which is named by its number in `walk`."""
        if number == 0:
            return other
        number -= 1
        children = list(self.children)
        for i, child in enumerate(children):
            if number < child.size:
                children[i] = child.replace(number, other)
                break
            number -= child.size
        return Tree(self.kind, self.literal, tuple(children))

    def to_json(self) -> Any:  # text or a list
        """A form that JSON holds: a literal is its text, other nodes are lists that start with their kind."""
        return self.literal if self.kind == "literal" else [self.kind, *(child.to_json() for child in self.children)]


def literal(text: str) -> Tree:
    """A leaf."""
    return Tree("literal", text)


def capture(child: Tree) -> Tree:
    """What is inside is kept."""
    return Tree("capture", children=(child,))


def group(*children: Tree) -> Tree:
    """One after the other."""
    return Tree("group", children=children)


def either(*children: Tree) -> Tree:
    """The first alternative that matches."""
    return Tree("or", children=children)


def simplify(tree: Tree) -> Tree:
    """The same expression with fewer nodes: no sequence in a sequence, no OR of one, no alternative twice."""
    if tree.kind == "literal":
        return tree
    children = [simplify(child) for child in tree.children]
    if tree.kind == "capture":
        # A capturing group within another adds nothing to what is kept.
        return Tree("capture", children=(_without_captures(children[0]),))
    flat: list[Tree] = []
    for child in children:
        flat += child.children if child.kind == tree.kind else [child]
    if tree.kind == "or":
        flat = list(dict.fromkeys(flat))
    return flat[0] if len(flat) == 1 else Tree(tree.kind, children=tuple(flat))


def _without_captures(tree: Tree) -> Tree:
    if tree.kind == "capture":
        return tree.children[0]
    if all(node.kind != "capture" for node in tree.walk()):
        return tree
    return simplify(Tree(tree.kind, children=tuple(_without_captures(child) for child in tree.children)))


def from_json(value: object, depth: int = 0) -> Tree:
    """A tree from what `to_json` gave.

    Raises:
        ValueError: it is not of that form.
    """
    if isinstance(value, str):
        return literal(value)
    if depth > _MAX_READ_DEPTH:
        raise ValueError(f"the tree is deeper than {_MAX_READ_DEPTH}")
    if not isinstance(value, list) or len(value) < 2 or value[0] not in ("capture", "group", "or"):
        raise ValueError(f"not a node of an expression: {str(value)[:60]}")
    kind, *below = value
    if kind == "capture" and len(below) != 1:
        raise ValueError("a capturing node has one child")
    return Tree(kind, children=tuple(from_json(each, depth + 1) for each in below))


@dataclass(frozen=True)
class Grammar:
    """A fixed set of literals, and how expressions made of them are matched.

    Attributes:
        name: what it is called.
        families: literals that can take each other's place, by what they do: a search puts them together in that
            order at first, and changes one for another of its family more often than for any.
        bounded: each literal has one way to match, within a line of markup or over its end, expressions match at the
            beginning of a line only, and trees are kept to `MAX_EFFORT`; else an expression is matched against the
            page's HTML, anywhere.
    """

    name: str
    families: dict[str, tuple[str, ...]]
    bounded: bool
    family_of: dict[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "family_of", {each: name for name, some in self.families.items() for each in some})

    @cached_property
    def digest(self) -> str:
        """Tells this set of literals from an earlier or later one of the same name."""
        return hashlib.sha256(repr((self.families, self.bounded, MAX_EFFORT)).encode()).hexdigest()

    def text(self, tree: Tree) -> str:
        """The regular expression of a tree, to be compiled with `re.MULTILINE`."""
        return f"^(?:{tree.text})" if self.bounded else tree.text

    def compile(self, tree: Tree) -> re.Pattern[str]:
        """The expression of a tree, ready for matching."""
        return re.compile(self.text(tree), re.MULTILINE)

    def problem(self, tree: Tree) -> str:
        """Why a tree is none of this grammar; "" if it is one."""
        foreign = [
            node.literal for node in tree.walk() if node.kind == "literal" and node.literal not in self.family_of
        ]
        if foreign:
            return f"{foreign[0]!r} is not a literal of the grammar {self.name!r}"
        if self.bounded and tree.effort > MAX_EFFORT:
            return f"an attempt to match may try {tree.effort} literals; {MAX_EFFORT} are allowed"
        return ""

    def allows(self, tree: Tree) -> bool:
        """Whether a tree is one of this grammar."""
        return not self.problem(tree)


def _yes_and_no(*tests: str) -> tuple[str, ...]:
    return tuple(f"(?{sign}{test})" for test in tests for sign in "=!")


_LENGTHS = (10, 20, 30, 40, 60, 80, 120, 160, 240)
_END = r"[.!?…。！？][\"'”»’)]?\n"

BOUNDED = Grammar(
    "bounded",
    families={
        # At the beginning of a line, where the tags are: is one of them such and such?
        "place": _yes_and_no(
            r"\S*<(?:nav|footer|aside|form|header)>",
            r"\S*<(?:nav|footer)>",
            r"\S*<\.(?:nav|footer)>",
            r"\S*<\.aside>",
            r"\S*<\.comments>",
            r"\S*<\.header>",
            r"\S*<\.content>",
            r"\S*<\.?(?:nav|footer|aside|header)>",
            r"\S*<(?:article|main)>",
            r"\S*<(?:ul|ol|dl)>",
            r"\S*<table>",
            r"\S*<(?:button|label|option|select|textarea)>",
            r"\S*<(?:p|pre|blockquote)> ",
            r"\S*<h[1-6]> ",
            r"\S*<(?:li|dd|dt)> ",
            r"\S*<t[dhr]> ",
            r"\S*<div> ",
        ),
        # Over the tags to the text.
        "tags": (
            r"<\S*+ ",
            r"\S*<p> ",
            r"\S*<(?:p|pre|blockquote)> ",
            r"\S*<h[1-6]> ",
            r"\S*<(?:li|dd|dt)> ",
            r"\S*<t[dhr]> ",
            r"\S*<div> ",
        ),
        # What does the rest of the line look like?
        "look": (
            *_yes_and_no(*(rf"[^\n]{{{length}}}" for length in _LENGTHS)),
            *_yes_and_no(*(rf"[^<\n]{{{length}}}" for length in (10, 20, 40, 80))),
            *_yes_and_no(
                rf"[^\n]*{_END}",
                r"[^\n]*[,;，、；]",
                r"[^\n]*[.!?] \w",
                r"[^\n]*<a>",
                r"[^\n]*<a>[^\n]*<a>",
                r"<a>",
                r"<a>[^<\n]*+</a>\n",
                r"[^\n]*\t",
                r"[^\n]*[|»›·•]",
                r"[^\n]*\d",
                r"[^\n]*(?:©|[Cc]opyright|[Rr]ights [Rr]eserved)",
                r"\w",
                r"[A-Z]",
                r"\d",
            ),
        ),
        # What does the next line look like?
        "next": _yes_and_no(
            *(rf"[^\n]*\n<\S* [^\n]{{{length}}}" for length in (40, 80, 160)),
            r"[^\n]*\n<\S* <a>",
            r"[^\n]*\n\S*<(?:p|pre|blockquote)> ",
            r"[^\n]*\n\S*<(?:li|dd|dt)> ",
            rf"[^\n]*\n<\S* [^\n]*{_END}",
        ),
        # Text.
        "text": (
            r"[^\n]*+",
            *(rf"[^\n]{{{length},}}+" for length in _LENGTHS),
            r"[^<\n]*+",
            *(rf"[^<\n]{{{length},}}+" for length in (10, 20, 40, 80)),
            r"\w*+",
            r"\w++",
            r"\s?+",
            r"\d++",
            r"[^\w<\n]*+",
            r"<a>",
            r"</a>",
            r"<[^<>\n]*+>",
            r"<a>[^<\n]*+</a>",
        ),
        # Over the end of the line.
        "line": (r"\n", r"[^\n]*+\n"),
    },
    bounded=True,
)

# The first two are the paper's own; it does not name the others. Like them they are short, lazy, and of one line.
HTML = Grammar(
    "html",
    families={
        "tags": (
            r"<.*?>",
            *(rf"<{tag}\b.*?>" for tag in ("p", "div", "td", "li", "h[1-6]", "a", "br", "b", "font", "span", "script")),
            *(rf"</{tag}>" for tag in ("p", "div", "td", "li", "h[1-6]", "a", "script")),
            r"<!--.*?-->",
        ),
        "text": (r"\w*?", r"\w+", r"\s*?", r"\s+", r"\d+", r".*?", r".", r"\W", r"[^<]*?", r"[^<]+", r"[^<>]*"),
    },
    bounded=False,
)

GRAMMARS = {grammar.name: grammar for grammar in (BOUNDED, HTML)}

EVERYTHING = {
    "bounded": group(literal(r"<\S*+ "), capture(literal(r"[^\n]*+"))),
    "html": either(literal(r"<.*?>"), capture(literal(r"[^<]+"))),
}
"""For each grammar an expression that keeps the whole text, which is where the paper's search ended."""
