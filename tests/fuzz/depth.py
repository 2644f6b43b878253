"""Pages that are nested about as deep as the parser can, or that leave something open with each of many repetitions.

Each page must be parsed without a crash, and the elements that are open stay below the parser's cap. One input makes
many pages, which is faster than mutating them: its bytes choose the tags.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from fuzz.target import Target
from mainmatter.html.parse import Element, parse

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.html.parse import Tree

PAGES = 100  # of an input
CAP = 512  # elements that the parser keeps open
NAMES = (
    "a b i nobr font div p span li ul dd dl h1 h2 button form select option optgroup table caption colgroup col tbody "
    "tr td th template svg math desc title foreignobject mi mtext annotation-xml g path style script textarea object "
    "marquee ruby rt rb section body html head br input noscript noframes iframe frameset frame plaintext x-y"
).split()
_PIECES = (
    *(f"<{name}>" for name in NAMES),
    *(f"</{name}>" for name in NAMES),
    *(f"<{name}>" for name in "a p div table td tr svg template desc b form".split() * 3),
    *(f"</{name}>" for name in "a p div table td tr svg template desc b form".split() * 3),
    "x",
    " ",
    "<path/>",
    "<svg/>",
    "<g a=b/>",
    '<div title="</div>">',
    "<div title='>'>",
    '<div a=x" b="></div>">',
    "<!--",
    "-->",
    "<!-->",
    "<![CDATA[",
    "]]>",
    "<?x",
    "</ x>",
    "<b id=1>",
    "<b id=2>",
    "<font color=x>",
    '<annotation-xml encoding="text/html">',
    "<DIV>",
    "</Div>",
)
_AROUND = (
    "div",
    "b",
    "span",
    "table><td",
    "svg><g",
    "svg><desc",
    "template",
    "object",
    "li",
    "ul><li",
    "p",
    "form",
    "x-y",
)


def make_page(rng: Random) -> str:
    """A page: some tags, beside others; or inside of about as many elements as the cap allows; or repeated."""
    some = "".join(rng.choices(_PIECES, k=rng.randint(2, 14)))
    shape = rng.randrange(4)
    if shape == 0:
        return some
    if shape == 1:
        around = f"<{rng.choice(_AROUND)}>"
        opened = 4 if "table" in around else around.count(">")
        return around * (rng.randint(500, 516) // opened) + some
    return some * (20 if shape == 2 else 600)


def depth_of(tree: Tree) -> int:
    """How deep a tree is."""
    depth, level = 0, list(tree.children)
    while level:
        depth += 1
        level = [child for parent in level if isinstance(parent, Element) for child in parent.children]
    return depth


def parse_pages(data: bytes) -> None:
    """Parse the pages that bytes choose."""
    rng = Random(data)
    for number in range(PAGES):
        html = make_page(rng)
        scripting = rng.random() < 0.5
        tree = parse(html, scripting=scripting)
        if number % 8 == 0:  # takes as long as some parses
            assert (found := depth_of(tree)) < CAP, f"{found} elements are open in {html[:400]}"


def depth(folder: Path) -> Target:
    """See the module."""
    return Target(parse_pages, tuple(bytes([number]) for number in range(8)))
