"""Cells of the bench as Markdown tables, as JSON, and as a picture of accuracy against time."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from mainmatter.files import write_whole
from mainmatter.lab.bench.peers import PEERS
from mainmatter.lab.evaluation import format_table
from mainmatter.lab.reports.tradeoff import Point, save_tradeoff

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mainmatter.lab.bench.accuracy import Cell
    from mainmatter.lab.metrics import Row

TIMED_ON = "wcxb-dev"
_EXPLANATION = (
    "Macro bag-of-words F1 for each set; F of pooled snippets where a set has only these; micro F of aligned words "
    "where a set is marked up as CleanEval is. Gold texts are the main content without readers' comments. A page on "
    "which a tool crashes or takes too long counts as empty. justext has English stop words on all pages."
)
_GROUPS = {"page_type": "page type", "lang": "language"}


def write_report(cells: Sequence[Cell], folder: Path, command: str) -> list[Path]:
    """Write accuracy.md, accuracy.json, accuracy.svg and accuracy.png.

    Args:
        cells: what was measured; contestants and datasets are shown in the order in which they come.
        folder: where the files go.
        command: the command that measured it.

    Raises:
        MissingExtra: the pictures need matplotlib; the other files are written before.
    """
    page, figures = folder / "accuracy.md", folder / "accuracy.json"
    pictures = [folder / "accuracy.svg", folder / "accuracy.png"]
    write_whole(page, to_markdown(cells, command).encode())
    facts = {"command": command, "cells": [asdict(cell) for cell in cells]}
    write_whole(figures, json.dumps(facts, ensure_ascii=False, indent=1).encode())
    save_tradeoff(panels_of(cells), pictures)
    return [page, figures, *pictures]


def to_markdown(cells: Sequence[Cell], command: str) -> str:
    """The page: how it was made, one table of all sets, one for the parts of each set that has some."""
    versions = dict.fromkeys(f"{cell.contestant} {cell.version}" for cell in cells)
    sets = dict.fromkeys(f"{cell.dataset} ({cell.pages:,} pages, {cell.digest})" for cell in cells)
    parts = [
        "# Accuracy and time beside other tools",
        f"```sh\n{command}\n```",
        _EXPLANATION,
        "![Accuracy against time](accuracy.svg)",
        main_table(cells),
        *(
            f"## {title}\n\n{table}"
            for dataset in dict.fromkeys(cell.dataset for cell in cells)
            for title, table in group_tables([cell for cell in cells if cell.dataset == dataset])
        ),
        "## What was measured",
        "Sets, with a digest of their pages: " + ", ".join(sets) + ".",
        "Versions: " + ", ".join(versions) + ".",
        *_failures(cells),
    ]
    return "\n\n".join(parts) + "\n"


def main_table(cells: Sequence[Cell]) -> str:
    """One row a contestant, one column a set, then micro figures, time and failures."""
    by_name = _by_contestant(cells)
    datasets = list(dict.fromkeys(cell.dataset for cell in cells))
    micro = [name for name in datasets if any(c.dataset == name and "align" in c.scores for c in cells)]
    timed = timed_dataset(cells)
    head = ["contestant", *(f"{name}{_kind(cells, name)}" for name in datasets)]
    head += [f"{name} (micro words)" for name in micro] + [f"ms/page on {timed}", "failures"]
    rows = [head]
    for name, found in by_name.items():
        row = [name, *(_figure(headline(found.get(dataset))) for dataset in datasets)]
        row += [_figure(_micro(found.get(dataset))) for dataset in micro]
        row += [f"{found[timed].ms_per_page:.1f}" if timed in found else "-"]
        rows.append([*row, str(sum(len(cell.failures) for cell in found.values()))])
    return format_table(rows)


def group_tables(cells: Sequence[Cell]) -> list[tuple[str, str]]:
    """For each kind of parts that a set has, a title and a table of all contestants."""
    tables = []
    for group, words in _GROUPS.items():
        names = sorted({name for cell in cells for name in cell.groups if name.startswith(f"{group}=")})
        if names:
            counts = {name: int(max(_pages(c.groups[name]) for c in cells if name in c.groups)) for name in names}
            rows = [["contestant", *(f"{name.partition('=')[2]} ({counts[name]})" for name in names)]]
            rows += [
                [cell.contestant, *(_figure(_headline_of(cell.groups.get(name, {}))) for name in names)]
                for cell in cells
            ]
            tables.append((f"{cells[0].dataset} by {words}", format_table(rows)))
    return tables


def panels_of(cells: Sequence[Cell]) -> list[tuple[str, list[Point]]]:
    """What to draw: the set on which time is told and, if there are more, the mean of all sets over the same time."""
    timed = timed_dataset(cells)
    datasets = list(dict.fromkeys(cell.dataset for cell in cells))
    on_timed, on_all = [], []
    for name, found in _by_contestant(cells).items():
        if timed not in found:
            continue
        milliseconds, is_ours = found[timed].ms_per_page, name not in PEERS
        on_timed.append(Point(name, milliseconds, headline(found[timed]) or 0.0, is_ours))
        if all(dataset in found for dataset in datasets):
            mean = sum(headline(cell) or 0.0 for cell in found.values()) / len(found)
            on_all.append(Point(name, milliseconds, mean, is_ours))
    panels = [(timed, on_timed)]
    if len(datasets) > 1:
        panels.append((f"mean of {len(datasets)} sets (time on {timed})", on_all))
    return panels


def timed_dataset(cells: Sequence[Cell]) -> str:
    """The set on which time is told: the one with large pages of all types if it is there, else the first."""
    datasets = [cell.dataset for cell in cells]
    return TIMED_ON if TIMED_ON in datasets else datasets[0]


def headline(cell: Cell | None) -> float | None:
    """The one figure of a contestant on a set."""
    return None if cell is None else _headline_of(cell.scores)


def _headline_of(scores: dict[str, Row]) -> float | None:
    return scores.get("bag", scores.get("snippet", {})).get("f1")


def _micro(cell: Cell | None) -> float | None:
    return None if cell is None else cell.scores.get("align", {}).get("words_f1_micro")


def _kind(cells: Sequence[Cell], dataset: str) -> str:
    is_snippets = any(cell.dataset == dataset and "snippet" in cell.scores for cell in cells)
    return " (snippets)" if is_snippets else ""


def _pages(scores: dict[str, Row]) -> float:
    return max((row["pages"] for row in scores.values()), default=0.0)


def _by_contestant(cells: Sequence[Cell]) -> dict[str, dict[str, Cell]]:
    found: dict[str, dict[str, Cell]] = {}
    for cell in cells:
        found.setdefault(cell.contestant, {})[cell.dataset] = cell
    return found


def _figure(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:.3f}"


def _failures(cells: Sequence[Cell]) -> list[str]:
    lines = [
        f"- {cell.contestant} on {cell.dataset}: {len(cell.failures)} pages; the first, {cell.failures[0][0]}: "
        f"{cell.failures[0][1]}"
        for cell in cells
        if cell.failures
    ]
    return ["## Failures", "\n".join(lines)] if lines else []
