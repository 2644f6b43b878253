"""Draw docs/results/peers.svg, accuracy against time, from the tables of docs/results/index.md.

python -m bench.picture
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

from bench.accuracy import TIMED_ON, TradeoffPoint, save_tradeoff

RESULTS = Path(__file__).parents[1] / "docs" / "results"
PAGE, PICTURE = RESULTS / "index.md", RESULTS / "peers.svg"
OURS = "main"

Table = dict[str, dict[str, str]]


def read_tables(page: str) -> dict[str, Table]:
    """The tables of a Markdown page by the heading of their first column, each with its columns by their names.

    A column has a figure for each tool. Bold is left out, and so is what stands in parentheses after a name.
    """
    tables: dict[str, Table] = {}
    head: list[str] = []
    for line in page.splitlines():
        if not line.startswith("|"):
            head = []
            continue
        cells = [cell.strip().strip("*").partition(" (")[0] for cell in line.strip("|").split("|")]
        if not head:
            head = cells
            tables[head[0]] = {name: {} for name in head[1:]}
        elif set(line) - set("|-: "):
            for name, cell in zip(head[1:], cells[1:], strict=True):
                tables[head[0]][name][cells[0]] = cell
    return tables


def panels(page: str) -> list[tuple[str, list[TradeoffPoint]]]:
    """What to draw: the set on which time was measured, and the mean of those that are for tests only."""
    tables = read_tables(page)
    timed, final = tables["Cross-validated"][TIMED_ON], tables["Test only"].values()
    milliseconds = tables["One core"]["ms a page"]

    def points(scores: dict[str, float]) -> list[TradeoffPoint]:
        return [TradeoffPoint(name, float(milliseconds[name]), score, name == OURS) for name, score in scores.items()]

    return [
        (TIMED_ON, points({name: float(score) for name, score in timed.items()})),
        (
            f"mean of the {len(final)} sets for tests only (time on {TIMED_ON})",
            points({name: fmean(float(scores[name]) for scores in final) for name in timed}),
        ),
    ]


if __name__ == "__main__":
    save_tradeoff(panels(PAGE.read_text(encoding="utf-8")), [PICTURE])
