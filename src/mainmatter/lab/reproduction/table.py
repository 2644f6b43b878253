"""What can be reproduced, by name."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from mainmatter.errors import UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable

    from mainmatter.lab.reproduction.report import Report
    from mainmatter.lab.reproduction.run import Run


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A part of a paper that can be redone.

    Attributes:
        what: one line for people.
        module: the paper and the part that does it, PAPER.PART for papers/PAPER/reproduce_PART.py, by a function `reproduce(run) -> Report`.
    """

    what: str
    module: str

    def load(self) -> Callable[[Run], Report]:
        """The function that does it."""
        paper, _, part = self.module.partition(".")
        module = import_module(f"mainmatter.papers.{paper}.reproduce_{part}")
        return cast("Callable[[Run], Report]", module.reproduce)


REPRODUCTIONS: dict[str, Reproduction] = {
    "alignment": Reproduction("FIASCO 5.1: gold text to labels, and how many pages align well", "fiasco.alignment"),
    "fiasco-features": Reproduction("FIASCO tables 2 and 3: feature subsets", "fiasco.features"),
    "fiasco-kernels": Reproduction("FIASCO 4.1: grid search, kernels, trees", "fiasco.kernels"),
    "fiasco-system": Reproduction("FIASCO 6: word-level precision and recall of the whole system", "fiasco.system"),
    "ice-regex": Reproduction("ICE 3.5: genetic search for a regular expression", "ice.regex"),
    "ice-table-1": Reproduction("ICE table 1: CleanEval scores of all its methods", "ice.table_1"),
    "ice-tree": Reproduction("ICE 3.3: ten-fold error of the decision tree, and figure 2", "ice.tree"),
    "ncleaner-external": Reproduction("NCleaner tables 3 and 4: CleanEval's test set", "ncleaner.external"),
    "ncleaner-internal": Reproduction("NCleaner table 2, figure 3, t-tests: cross-validation", "ncleaner.internal"),
    "ncleaner-learning-curve": Reproduction("NCleaner figure 4: how much training data", "ncleaner.learning_curve"),
    "ncleaner-speed": Reproduction("NCleaner 6: words an hour, size of the model", "ncleaner.speed"),
    "ncleaner-tuning": Reproduction("NCleaner figure 2: cross-entropy by n and q", "ncleaner.tuning"),
    "retrieval": Reproduction("Template 4.3, figure 2: search with and without the template", "template.retrieval"),
    "template-clusters": Reproduction("Template 4.2: min-max clustering of pages", "template.clusters"),
    "template-discovery": Reproduction("Template table 2: how much of the templates is found", "template.discovery"),
    "template-main": Reproduction("what `main` gains if it knows what sites repeat", "template.main"),
    "template-pages": Reproduction("Template figure 3: how many pages are enough", "template.pages"),
    "template-ratio": Reproduction("Template table 1: how much of sites is template", "template.ratio"),
}


def find_reproduction(name: str) -> Reproduction:
    """The reproduction of that name.

    Raises:
        UnknownName: there is none.
    """
    if name not in REPRODUCTIONS:
        raise UnknownName("reproduction", name, REPRODUCTIONS)
    return REPRODUCTIONS[name]
