"""What FIASCO describes, and where it is here."""

from __future__ import annotations

from mainmatter.papers.paper import Paper, Reproduction

PAPER = Paper(
    name="FIASCO",
    citation='D. Bauer et al., "FIASCO: Filtering the Internet by Automatic Subtree Classification, Osnabrück", 2007',
    methods=("fiasco",),
    sections=(),
    reproductions={
        "alignment": Reproduction(
            "FIASCO 5.1: gold text to labels, and how many pages align well", "reproduce:alignment"
        ),
        "fiasco-features": Reproduction("FIASCO tables 2 and 3: feature subsets", "reproduce:feature_subsets"),
        "fiasco-kernels": Reproduction("FIASCO 4.1: grid search, kernels, trees", "reproduce:kernels"),
        "fiasco-system": Reproduction(
            "FIASCO 6: word-level precision and recall of the whole system", "reproduce:system"
        ),
    },
)
