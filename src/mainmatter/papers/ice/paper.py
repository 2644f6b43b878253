"""What ICE describes, and where it is here."""

from __future__ import annotations

from mainmatter.papers.paper import Paper, Reproduction

PAPER = Paper(
    name="ICE",
    citation='K. Hofmann and W. Weerkamp, "Web Corpus Cleaning using Content and Structure", 2007',
    methods=("ice-baseline", "ice-heuristic", "ice-elaborate", "ice-tree", "ice-lm", "ice-regex"),
    sections=(),
    reproductions={
        "ice-regex": Reproduction("ICE 3.5: genetic search for a regular expression", "reproduce:regex"),
        "ice-table-1": Reproduction("ICE table 1: CleanEval scores of all its methods", "reproduce:table_1"),
        "ice-tree": Reproduction(
            "ICE 3.3: ten-fold error of the decision tree, and figure 2", "reproduce:decision_tree"
        ),
    },
)
