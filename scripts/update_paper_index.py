"""Write docs/results/papers.md from the papers' packages and the figures in docs/results; tests/test_docs.py checks it.

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

    from mainmatter.papers.paper import Paper, PaperSection

DOCS = Path(__file__).parents[1] / "docs"
TARGET = DOCS / "results" / "papers.md"
RESULTS = DOCS / "results" / "index.md"
_BEGIN, _END = "<!-- made by scripts/update_paper_index.py: -->", "<!-- end -->"
_COLUMNS = ("The paper", "As the paper", "Ours")
HEAD = """\
# The papers, section by section

What each paper describes, where it is in the code, which command runs it, and how our figures compare.
`-m METHOD:preset=paper` is the method as its paper describes it, as literally as the text allows; the method's page
lists what still differs. `scripts/update_paper_index.py` generates this page from the `paper.py` in each paper's
package and from the pages that `make results` writes.
"""


def paper_index() -> str:
    """The page: each paper with its sections and figures."""
    return HEAD + "".join(f"\n{part}\n" for paper in load_papers().values() for part in _parts(paper))


def results_table() -> str:
    """The table in docs/results/index.md: the first figure of each page."""
    rows = [
        [f"[{name}]({name}.md)", *_figures(name)[0]]
        for paper in load_papers().values()
        for name in paper.reproductions
        if _figures(name)
    ]
    return format_table([["Page", "Figure", *_COLUMNS], *rows])


def with_results_table(page: str) -> str:
    """The page docs/results/index.md with that table between its marks."""
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n\n{results_table()}\n\n{_END}{after}"


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
    page = DOCS / "results" / f"{name}.md"
    return read_comparison(page.read_text(encoding="utf-8")) if page.is_file() else []


def _row(section: PaperSection) -> list[str]:
    places = ", ".join(f"`{place}`" for place in section.here)
    command = f"mainmatter reproduce {section.reproduction}" if section.reproduction else section.command
    text = f"{section.describes} {section.note}".strip()
    return [section.number, text, places, f"`{command}`" if command else "", _comparison(section.reproduction)]


def _comparison(name: str) -> str:
    """The first figure of a page, in words."""
    if not name:
        return ""
    page = f"[{name}]({name}.md)"
    for what, *figures in _figures(name)[:1]:
        told = ", ".join(
            f"{column.lower()} {figure}" for column, figure in zip(_COLUMNS, figures, strict=True) if figure
        )
        return f"{page}: {what}: {told}"
    return page


if __name__ == "__main__":
    TARGET.write_text(paper_index(), encoding="utf-8")
    RESULTS.write_text(with_results_table(RESULTS.read_text(encoding="utf-8")), encoding="utf-8")
