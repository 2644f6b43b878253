"""Write docs/papers.md from the papers' packages and the figures in docs/results; tests/test_docs.py checks it.

python scripts/update_paper_index.py
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mainmatter.lab.evaluation import format_table
from mainmatter.lab.reproduction import read_comparison
from mainmatter.papers.paper import load_papers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mainmatter.papers.paper import Paper, Section

DOCS = Path(__file__).parents[1] / "docs"
TARGET = DOCS / "papers.md"
HEAD = """\
# The papers, section by section

What each paper describes, where it is here, which command runs it, and how our figures compare.
`-m METHOD:preset=paper` is the method as its paper describes it, as literally as the text allows; the method's page
lists what still differs. This page is made by `scripts/update_paper_index.py` from the `paper.py` in each paper's
package and from the pages that `make results` writes.
"""


def paper_index() -> str:
    """The page: each paper with its sections and figures."""
    return HEAD + "".join(f"\n{part}\n" for paper in load_papers().values() for part in _parts(paper))


def _parts(paper: Paper) -> Iterator[str]:
    yield f"## {paper.name}\n\n{paper.citation}."
    methods = ", ".join(f"[{name}](methods/{name}.md)" for name in paper.methods)
    yield f"Methods: {methods}."
    head = ["Section", "What it describes", "Where it is here", "Command"]
    yield format_table([head, *(_row(section) for section in paper.sections)])
    figures = [
        [f"[{name}](results/{name}.md)", *row]
        for name in paper.reproductions
        if (page := DOCS / "results" / f"{name}.md").is_file()
        for row in read_comparison(page.read_text(encoding="utf-8"))
    ]
    yield format_table([["Page", "Figure", "The paper", "As the paper", "Ours"], *figures])


def _row(section: Section) -> list[str]:
    places = ", ".join(f"`{place}`" for place in section.here)
    command = f"mainmatter reproduce {section.reproduction}" if section.reproduction else section.command
    text = f"{section.describes} {section.note}".strip()
    return [section.number, text, places, f"`{command}`" if command else ""]


if __name__ == "__main__":
    TARGET.write_text(paper_index(), encoding="utf-8")
