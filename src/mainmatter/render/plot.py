"""The density picture: how long the text is after each structural tag, and what was kept of it (Density, figure 2)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.errors import InputError, MissingExtra
from mainmatter.files import open_whole

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from mainmatter.records import Extraction

FORMATS = ("png", "svg", "pdf")
_KEPT, _DROPPED, _SCORE = "#1b7837", "#b8b8b8", "#762a83"


def save_plot(extraction: Extraction, path: Path) -> None:
    """Draw an extraction into a file; its ending (.png, .svg, .pdf) tells the format.

    Raises:
        MissingExtra: matplotlib is not installed.
        InputError: the ending is not that of a known picture format.
    """
    picture_format = path.suffix.lstrip(".").lower()
    if picture_format not in FORMATS:
        raise InputError(f"{path}: unknown picture format; use a name that ends in .png, .svg or .pdf")
    figure = plot(extraction)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # a box in the title will do
        with open_whole(path) as file:
            metadata = {"Date": None} if picture_format == "svg" else None
            figure.savefig(file, format=picture_format, dpi=150, metadata=metadata)


def plot(extraction: Extraction) -> Figure:
    """Draw an extraction: texts as bars over their positions, kept ones in colour, and the scores as dots.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure  # an extra
    except ImportError as error:
        raise MissingExtra("matplotlib", "plot") from error
    document, page = extraction.document, extraction.document.page
    span = int(np.ptp(document.positions)) if len(document) else 0
    width = float(np.clip(500 / max(1, span), 0.8, 6))  # thick bars for short pages, thin ones for long pages
    name = (page.id or page.url or "page").rpartition("/")[2][:60]
    figure = Figure(figsize=(9, 4), layout="constrained")
    lengths_axis = figure.add_subplot()
    for is_kept, colour, label in ((False, _DROPPED, "dropped"), (True, _KEPT, "kept")):
        chosen = extraction.kept == is_kept
        lengths_axis.vlines(
            document.positions[chosen],
            0,
            document.lengths[chosen],
            colors=colour,
            label=label,
            linewidth=width,
        )
    lengths_axis.set(xlabel="position in the list of structural tags", ylabel="length of the text (characters)")
    lengths_axis.set_ylim(bottom=0)
    lengths_axis.set_title(
        f"{name}: {len(extraction)} of {len(document)} blocks kept by {extraction.method}",
        parse_math=False,  # a name may have dollar signs
    )
    scores_axis = lengths_axis.twinx()
    scores_axis.plot(document.positions, extraction.scores, ".", color=_SCORE, markersize=2.5, label="score")
    scores_axis.set_ylabel("score", color=_SCORE)
    scores_axis.set_ylim(bottom=min(0.0, float(extraction.scores.min(initial=0))))  # both axes stand on zero
    lengths_axis.legend(loc="upper left", frameon=False)
    return figure
