"""What a paper describes, section by section, and where mainmatter implements each part.

docs/results/papers.md is made from this. Each paper's package has a `paper.py` with its `PAPER`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module

ROOMS = ("ice", "fiasco", "ncleaner", "template", "density")


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A part of a paper that can be redone.

    Attributes:
        what: one line for people.
        function: the function that does it, `(run: Run) -> ResultsPage`, as MODULE:FUNCTION of the paper's package;
            loaded when asked for, since it measures with packages of the extras.
    """

    what: str
    function: str


@dataclass(frozen=True, slots=True)
class PaperSection:
    """A section, table or figure of a paper.

    Attributes:
        number: as the paper counts: "3.2", "table 1", "figure 3".
        describes: what the paper says there, in one sentence.
        here: the functions, classes or modules that do it, as MODULE or MODULE:NAME of mainmatter; none if nothing is
            to be done.
        command: a command that runs it.
        reproduction: the reproduction that redoes its figures.
        note: what differs from the paper, or why it is left out.
    """

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
    reproductions: dict[str, Reproduction] = field(default_factory=dict)


def load_papers() -> dict[str, Paper]:
    """The papers, by their packages."""
    return {room: import_module(f"mainmatter.papers.{room}.paper").PAPER for room in ROOMS}
