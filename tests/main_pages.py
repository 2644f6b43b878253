"""Small pages of three types with gold texts, a `main` that has learned from them in a second, one to see through."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.lab.datasets import GoldPage
from mainmatter.lab.training.examples import make_example
from mainmatter.main.choice import PAGE_TYPES
from mainmatter.main.features import COLUMNS, LEVELS
from mainmatter.main.method import Main
from mainmatter.main.names import CALLED, FIRST_WORD, Vocabulary
from mainmatter.main.net import BlockNet, shapes_of
from mainmatter.main.training import add_conventions
from mainmatter.method import OUR_CONVENTION
from mainmatter.records import BOILERPLATE, HEADLINE, LABELS, MAIN, Gold, Page

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mainmatter.method import Example

EPOCHS = 20  # enough to be right about pages like these, few enough not to be sure of everything
_FAR, _SCALE = 100, 10
_SENTENCES = (
    "The ferry leaves the harbour at seven, and it is back before noon.",
    "Nobody had counted the seals since the winter of the great storm.",
    "When the wind turns to the north, the boats stay where they are.",
    "A lamp was lit in every window, as had been the custom for years.",
    "She walked along the pier, slowly, and read the names of the ships.",
    "In the village they say that the fog has a memory of its own.",
    "It took four men, two ropes and a good deal of patience to lift it.",
)
MENU = '<nav class="menu"><ul><li><a href="/">Home</a><li><a href="/news">News</a><li><a href="/map">Map</a></ul></nav>'
_FOOT = '<footer class="foot"><p><a href="/imprint">Imprint</a></p><p>© 2020 The Harbour Post</p></footer>'


def prose(number: int, sentences: int = 3) -> str:
    """A paragraph; another one for another number."""
    chosen = (_SENTENCES[(number * 3 + i) % len(_SENTENCES)] for i in range(sentences))
    return f"{' '.join(chosen)} That was day {number}."


def _gold(*lines: str, comments: str = "") -> Gold:
    return Gold("\n".join(lines), byline="", captions="", comments=comments)


def article(number: int, comments: str = "comments") -> GoldPage:
    """A text with a headline, and two comments in a container of that class."""
    title, paragraphs = f"News of day {number}", [prose(number), prose(number + 1, 4), prose(number + 2)]
    said = f"Me too, I saw {number} of them.", f"I doubt it, there are never {number}."
    html = f"""<title>{title}</title><body>{MENU}<article class="content"><h1>{title}</h1>
        {"".join(f"<p>{text}</p>" for text in paragraphs)}</article>
        <div class="{comments}">{"".join(f'<div class="entry"><p>{text}</p></div>' for text in said)}</div>{_FOOT}"""
    gold = _gold(title, *paragraphs, comments="\n".join(said))
    return GoldPage(Page(html, id=f"article-{number}"), gold, {"page_type": "article"})


def forum(number: int) -> GoldPage:
    """Posts, which the page calls comments."""
    title, posts = f"Question {number} on boats", [prose(number + i, 1 + i % 2) for i in range(4)]
    html = f"""<title>{title}</title><body>{MENU}<div class="thread"><h1>{title}</h1>
        {"".join(f'<div class="comment"><b>Sailor {i}</b><p>{post}</p></div>' for i, post in enumerate(posts))}
        </div>{_FOOT}"""
    return GoldPage(Page(html, id=f"forum-{number}"), _gold(title, *posts), {"page_type": "forum"})


def product(number: int) -> GoldPage:
    """A thing to buy: a description, a table, a link to others."""
    title, text, rows = f"Rope No. {number}", prose(number, 2), [("Length", f"{number} m"), ("Colour", "red")]
    html = f"""<title>{title} - The Rope Shop</title><body>{MENU}<div class="product"><h1>{title}</h1><p>{text}</p>
        <table>{"".join(f"<tr><td>{name}<td>{value}" for name, value in rows)}</table><button>Add to cart</button></div>
        <div class="related"><a href="/1">Another rope</a> <a href="/2">A third rope</a></div>{_FOOT}"""
    gold = _gold(title, text, *(" ".join(row) for row in rows))
    return GoldPage(Page(html, id=f"product-{number}"), gold, {"page_type": "product"})


def gold_pages(count: int = 6) -> list[GoldPage]:
    """So many pages of each type."""
    return [make(number) for number in range(count) for make in (article, forum, product)]


@cache
def examples() -> tuple[Example, ...]:
    """The pages, labelled."""
    return tuple(map(make_example, gold_pages()))


@cache
def trained() -> Main:
    """A method that has learned from the pages; shared by all tests, so do not change it.

    It knows the convention of wcxb, too, which is to it nearly the same as ours.
    """
    method = Main(epochs=EPOCHS).fit(examples())
    nets = [add_conventions(net, 2) for net in (method.net_, method.dump_net_)]
    method._use(nets[0], method.vocabulary_, nets[1], (OUR_CONVENTION, "wcxb"))
    return method


def linear_main(names: dict[str, float] | None = None, bias: float = 0, **columns: float) -> Main:
    """A method whose log odds are so many times the columns, so much for a name of the block's element, and a bias."""
    features = len(COLUMNS) + len(CALLED)
    vocabulary = Vocabulary(sorted(names or {}))
    shapes = shapes_of(
        features=features,
        names=FIRST_WORD - 1 + len(vocabulary),
        levels=LEVELS + 1,
        width=1,
        hidden=2,
        pooled=1,
        layers=0,
        labels=len(LABELS),
        types=len(PAGE_TYPES),
        conventions=len(trained().conventions),
    )
    weights: dict[str, NDArray[Any]] = {name: np.zeros(shape) for name, shape in shapes.items()}
    for column, weight in columns.items():
        weights["in_weights"][COLUMNS.index(column), 0] = weight * _SCALE
    weights["in_weights"][features, 0] = 1  # the element itself comes first
    for name, weight in (names or {}).items():
        [number] = vocabulary.numbers_of(name)
        weights["embedding"][number] = weight
    weights["in_bias"][0] = _FAR  # so that nothing is cut at zero
    weights["hidden_weights"][0] = 1
    weights["out_weights"][0, MAIN] = 1
    weights["out_bias"][:] = -2 * _FAR
    weights["out_bias"][[BOILERPLATE, MAIN]] = 0, bias - _FAR
    weights["convention_keeps"][:] = -_FAR
    weights["convention_keeps"][:, [MAIN, HEADLINE]] = _FAR
    net = BlockNet(weights, np.zeros(features), np.full(features, _SCALE), ())
    method = Main()
    method.restore(trained().facts_and_arrays()[0] | {"words": list(vocabulary.words)}, net.arrays())
    return method
