"""What NCleaner describes, and where it is here."""

from __future__ import annotations

from mainmatter.papers.paper import Paper, Reproduction

PAPER = Paper(
    name="NCleaner",
    citation='S. Evert, "A lightweight and efficient tool for cleaning Web pages", 2008',
    methods=("ncleaner",),
    sections=(),
    reproductions={
        "ncleaner-external": Reproduction("NCleaner tables 3 and 4: CleanEval's test set", "reproduce:external"),
        "ncleaner-internal": Reproduction(
            "NCleaner table 2, figure 3, t-tests: cross-validation", "reproduce:internal"
        ),
        "ncleaner-learning-curve": Reproduction(
            "NCleaner figure 4: how much training data", "reproduce:learning_curve"
        ),
        "ncleaner-speed": Reproduction("NCleaner 6: words an hour, size of the model", "reproduce:speed"),
        "ncleaner-tuning": Reproduction("NCleaner figure 2: cross-entropy by n and q", "reproduce:tuning"),
    },
)
