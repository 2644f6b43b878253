"""The papers, section by section, as papers.toml has them, and the pages of the documentation that are made from it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from mainmatter.errors import UnknownName
from mainmatter.lab.evaluation import format_table
from reproduce.run import read_comparison

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reproduce.run import ResultsPage, Run

RESULTS = Path(__file__).parents[1] / "docs" / "results"
INDEX = RESULTS / "papers.md"
OVERVIEW = RESULTS / "index.md"
_BEGIN, _END = "<!-- made by `python -m reproduce --index`: -->", "<!-- end -->"
_COLUMNS = ("The paper", "As the paper", "Ours")
_HEAD = """\
# The papers, section by section

What each paper describes, where it is in the code, which command runs it, and how our figures compare.
`-m METHOD:preset=paper` is the method as its paper describes it, as literally as the text allows; the method's page
lists what still differs. `python -m reproduce --index` generates this page from `reproduce/papers.toml` and from the
pages that `make results` writes.
"""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A part of a paper that can be redone: one line for people, and the function that does it, as MODULE:FUNCTION."""

    what: str
    function: str


@dataclass(frozen=True, slots=True)
class PaperSection:
    """A section, table or figure of a paper; the head of papers.toml explains the fields."""

    number: str
    describes: str
    here: tuple[str, ...] = ()
    command: str = ""
    reproduction: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Paper:
    """One of the papers that mainmatter implements.

    Attributes:
        name: the short name that the documentation calls it by.
        citation: authors, title, year.
        methods: the methods that come from it; each has a preset "paper".
        sections: what it describes, in its order.
        reproductions: its tables and figures that can be redone, by name.
    """

    name: str
    citation: str
    methods: tuple[str, ...]
    sections: tuple[PaperSection, ...]
    reproductions: dict[str, Reproduction]


def _load() -> dict[str, Paper]:
    content = tomllib.loads(Path(__file__).with_name("papers.toml").read_text("utf-8"))
    return {
        key: Paper(
            facts["name"],
            facts["citation"],
            tuple(facts["methods"]),
            tuple(PaperSection(**section | {"here": tuple(section.get("here", ()))}) for section in facts["sections"]),
            {name: Reproduction(**facts["reproductions"][name]) for name in sorted(facts["reproductions"])},
        )
        for key, facts in content.items()
    }


PAPERS = _load()
REPRODUCTIONS = {name: redone for paper in PAPERS.values() for name, redone in paper.reproductions.items()}


def load_reproduction(name: str) -> Callable[[Run], ResultsPage]:
    """The function that redoes the part of a paper of that name.

    Raises:
        UnknownName: there is none.
    """
    if name not in REPRODUCTIONS:
        raise UnknownName("reproduction", name, REPRODUCTIONS)
    module, _, function = REPRODUCTIONS[name].function.partition(":")
    return cast("Callable[[Run], ResultsPage]", getattr(import_module(module), function))


def paper_index() -> str:
    """The page docs/results/papers.md: each paper with its sections and figures."""
    return _HEAD + "".join(f"\n{part}\n" for paper in PAPERS.values() for part in _parts(paper))


def results_table() -> str:
    """The table in docs/results/index.md: the first figure of each reproduction."""
    rows = [[f"[{name}]({name}.md)", *_figures(name)[0]] for name in REPRODUCTIONS if _figures(name)]
    return format_table([["Page", "Figure", *_COLUMNS], *rows])


def with_results_table(page: str) -> str:
    """The page docs/results/index.md with that table between its marks."""
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n\n{results_table()}\n\n{_END}{after}"


def write_index() -> None:
    """Write both pages."""
    INDEX.write_text(paper_index(), encoding="utf-8")
    OVERVIEW.write_text(with_results_table(OVERVIEW.read_text(encoding="utf-8")), encoding="utf-8")


def _parts(paper: Paper) -> Iterator[str]:
    yield f"## {paper.name}\n\n{paper.citation}."
    methods = ", ".join(f"[{name}](../explanation/methods/{name}.md)" for name in paper.methods)
    yield f"Methods: {methods}."
    head = ["Section", "What it describes", "Where in the code", "Command", "How it compares"]
    yield format_table([head, *(_row(section) for section in paper.sections)])
    yield f"All figures of {paper.name}:"
    figures = [[f"[{name}]({name}.md)", *row] for name in paper.reproductions for row in _figures(name)]
    yield format_table([["Page", "Figure", *_COLUMNS], *figures])


def _figures(name: str) -> list[list[str]]:
    """The main figures on the page of a reproduction, if that page was made."""
    page = RESULTS / f"{name}.md"
    return read_comparison(page.read_text(encoding="utf-8")) if page.is_file() else []


def _row(section: PaperSection) -> list[str]:
    places = ", ".join(f"`{place}`" for place in section.here)
    command = f"python -m reproduce {section.reproduction}" if section.reproduction else section.command
    text = f"{section.describes} {section.note}".strip()
    return [section.number, text, places, f"`{command}`" if command else "", _comparison(section.reproduction)]


def _comparison(name: str) -> str:
    """The first figure of a page, in words."""
    if not name:
        return ""
    page = f"[{name}]({name}.md)"
    for what, *figures in _figures(name)[:1]:
        by_column = zip(_COLUMNS, figures, strict=True)
        words = ", ".join(f"{column.lower()} {figure}" for column, figure in by_column if figure)
        return f"{page}: {what}: {words}"
    return page
