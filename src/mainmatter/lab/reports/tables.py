"""Tables that can be read aloud, sorted, and scrolled by themselves on small screens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mainmatter.lab.reports.markup import Markup, hidden, tag

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        content: what it shows, text or markup.
        value: what it is sorted by, if it is a number; it then stands to the right.
        share: how long its bar is, from 0 to 1; None for no bar.
        is_best: whether it is the best of its kind.
    """

    content: object
    value: float | None = None
    share: float | None = None
    is_best: bool = False


def table(
    caption: object, head: Sequence[object], rows: Sequence[Sequence[Cell]], *, name: str, numbers: Sequence[int] = ()
) -> Markup:
    """A table whose first column names its rows.

    Args:
        caption: what it shows.
        head: the names of the columns.
        rows: its cells.
        name: a short name, for those who listen.
        numbers: the columns of numbers, which stand to the right.
    """
    titles = [tag("th", one, scope="col", class_="number" if i in numbers else None) for i, one in enumerate(head)]
    body = [
        tag("tr", *(_cell(cell, is_name=i == 0, is_number=i in numbers) for i, cell in enumerate(row))) for row in rows
    ]
    content = tag(
        "table",
        tag("caption", tag("span", caption)),
        tag("thead", tag("tr", *titles)),
        tag("tbody", *body),
        data_sortable=True,
    )
    # What scrolls must be reachable by keyboard, and have a name.
    return tag("div", content, class_="scroll", tabindex="0", role="region", aria_label=f"Table: {name}")


def count_cell(count: int, whole: int | None = None) -> Cell:
    """A count; with a bar if it is a part of a whole."""
    return Cell(f"{count:,}", count, None if not whole else count / whole)


def _cell(cell: Cell, *, is_name: bool, is_number: bool) -> Markup:
    classes = [name for name, holds in (("number", is_number), ("best", cell.is_best)) if holds]
    bar = None
    if cell.share is not None:
        width = min(1.0, max(0.0, cell.share))
        bar = tag("span", class_="bar", style=f"--share:{width:.3f}", aria_hidden="true")
    content = (cell.content, hidden(" (best)") if cell.is_best else None, bar)
    attributes: dict[str, object] = {"class_": " ".join(classes) or None}
    if cell.value is not None:
        attributes["data_value"] = f"{cell.value:.6g}"
    return tag("th", *content, scope="row", **attributes) if is_name else tag("td", *content, **attributes)
