"""What can be reproduced, by name."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from mainmatter.errors import UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable

    from mainmatter.reproduction.report import Report
    from mainmatter.reproduction.run import Run


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A part of a paper that can be redone.

    Attributes:
        what: one line for people.
        module: the file of this package that does it, by a function `reproduce(run) -> Report`.
    """

    what: str
    module: str

    def load(self) -> Callable[[Run], Report]:
        """The function that does it."""
        return cast("Callable[[Run], Report]", import_module(f"mainmatter.reproduction.{self.module}").reproduce)


REPRODUCTIONS: dict[str, Reproduction] = {
    "alignment": Reproduction("FIASCO 5.1: gold text to labels, and how many pages align well", "alignment"),
    "fiasco-features": Reproduction("FIASCO tables 2 and 3: feature subsets", "fiasco_features"),
    "fiasco-kernels": Reproduction("FIASCO 4.1: grid search, kernels, trees", "fiasco_kernels"),
    "fiasco-system": Reproduction("FIASCO 6: word-level precision and recall of the whole system", "fiasco_system"),
    "ice-regex": Reproduction("ICE 3.5: genetic search for a regular expression", "ice_regex"),
    "ice-table-1": Reproduction("ICE table 1: CleanEval scores of all its methods", "ice_table_1"),
    "ice-tree": Reproduction("ICE 3.3: ten-fold error of the decision tree, and figure 2", "ice_tree"),
    "ncleaner-external": Reproduction("NCleaner tables 3 and 4: CleanEval's test set", "ncleaner_external"),
    "ncleaner-internal": Reproduction("NCleaner table 2, figure 3, t-tests: cross-validation", "ncleaner_internal"),
    "ncleaner-learning-curve": Reproduction("NCleaner figure 4: how much training data", "ncleaner_learning_curve"),
    "ncleaner-speed": Reproduction("NCleaner 6: words an hour, size of the model", "ncleaner_speed"),
    "ncleaner-tuning": Reproduction("NCleaner figure 2: cross-entropy by n and q", "ncleaner_tuning"),
    "retrieval": Reproduction("Template 4.3, figure 2: search with and without the template", "retrieval"),
    "template-clusters": Reproduction("Template 4.2: min-max clustering of pages", "template_clusters"),
    "template-discovery": Reproduction("Template table 2: how much of the templates is found", "template_discovery"),
    "template-main": Reproduction("what `main` gains if it knows what sites repeat", "template_main"),
    "template-pages": Reproduction("Template figure 3: how many pages are enough", "template_pages"),
    "template-ratio": Reproduction("Template table 1: how much of sites is template", "template_ratio"),
}


def find_reproduction(name: str) -> Reproduction:
    """The reproduction of that name.

    Raises:
        UnknownName: there is none.
    """
    if name not in REPRODUCTIONS:
        raise UnknownName("reproduction", name, REPRODUCTIONS)
    return REPRODUCTIONS[name]
