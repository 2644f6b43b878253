"""Evaluations as a table for people and as JSON for programs."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING

from mainmatter.lab.metrics import find_metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.lab.evaluation.evaluate import Evaluation
    from mainmatter.lab.metrics import Row


_FIGURE = re.compile(r"-|-?\d+(\.\d+)?")  # a lone dash stands for none


def to_table(evaluations: Sequence[Evaluation], metrics: Sequence[str], *, groups: bool = False) -> str:
    """A Markdown table: one row for each method on each dataset.

    Several metrics show their headline figure each; a single metric shows all its columns.

    Args:
        evaluations: what to show.
        metrics: the names of the metrics.
        groups: show page types and languages too.
    """
    columns = _columns(metrics)
    rows = [["dataset", "method", "pages", *(title for _, _, title in columns)]]
    for evaluation in evaluations:
        rows.append(_row(evaluation.dataset, evaluation.method, evaluation.scores, columns))
        if groups:
            rows += [
                _row(f"  {group}", evaluation.method, scores, columns) for group, scores in evaluation.groups.items()
            ]
    return format_table(rows)


def _columns(metrics: Sequence[str]) -> list[tuple[str, str, str]]:
    """Metric, key, and title of each column."""
    if len(metrics) > 1:
        return [(name, find_metric(name).headline, f"{name} {find_metric(name).headline}") for name in metrics]
    metric = find_metric(metrics[0])
    return [(metric.name, column, column) for column in metric.columns]


def _row(dataset: str, method: str, scores: dict[str, Row], columns: Sequence[tuple[str, str, str]]) -> list[str]:
    pages = max((int(row["pages"]) for row in scores.values()), default=0)
    return [dataset, method, str(pages), *(_figure(scores[metric], metric, key) for metric, key, _ in columns)]


def _figure(row: Row, metric: str, key: str) -> str:
    if key not in row:
        return "-"
    return f"{row[key]:.1f}" if find_metric(metric).percent else f"{row[key]:.3f}"


def format_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows, the first of them the head, as a Markdown table with aligned columns; figures to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    is_text = [any(_FIGURE.fullmatch(row[i]) is None for row in rows[1:]) for i in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(c.ljust(w) if t else c.rjust(w) for c, w, t in zip(row, widths, is_text, strict=True)) + " |"
        for row in rows
    ]
    rule = (
        "|" + "|".join("-" * (w + 2) if t else "-" * (w + 1) + ":" for w, t in zip(widths, is_text, strict=True)) + "|"
    )
    return "\n".join([lines[0], rule, *lines[1:]])


def to_json(evaluations: Sequence[Evaluation]) -> str:
    """All figures, those of every page included."""
    return json.dumps([asdict(evaluation) for evaluation in evaluations], ensure_ascii=False, indent=1)
