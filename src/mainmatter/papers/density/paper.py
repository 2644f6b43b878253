"""What Density describes, and where it is here."""

from __future__ import annotations

from mainmatter.papers.paper import Paper

PAPER = Paper(
    name="Density",
    citation='J. Arias, K. Deschacht and M.-F. Moens, "Language Independent Content Extraction from Web Pages", 2009',
    methods=("density",),
    sections=(),
    reproductions={},
)
