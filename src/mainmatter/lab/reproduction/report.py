"""A page of results: text, tables and pictures, written as Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING

from mainmatter.files import write_whole
from mainmatter.lab.evaluation.report import format_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

_DOTS_PER_INCH = 120


@dataclass
class Report:
    """A page in the making.

    Attributes:
        title: its heading.
        parts: what it says so far, as Markdown.
        pictures: the pictures that it shows, by the names of their files.
    """

    title: str
    parts: list[str] = field(default_factory=list)
    pictures: dict[str, bytes] = field(default_factory=dict)

    def text(self, text: str) -> None:
        """Add a paragraph, a list, a heading: anything in Markdown."""
        self.parts.append(text.strip())

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Add a table; the first row is its head."""
        self.parts.append(format_table(rows))

    def picture(self, name: str, caption: str, figure: Figure) -> None:
        """Add a picture, which becomes the file NAME.png beside the page."""
        buffer = BytesIO()
        figure.savefig(buffer, format="png", dpi=_DOTS_PER_INCH, bbox_inches="tight", metadata={"Software": None})
        self.pictures[f"{name}.png"] = buffer.getvalue()
        self.parts.append(f"![{caption}]({name}.png)\n\n*{caption}*")

    def write(self, folder: Path, name: str, closing: str) -> Path:
        """Write the page and its pictures into a folder; `closing` says how it was made."""
        for file, data in self.pictures.items():
            write_whole(folder / file, data)
        page = folder / f"{name}.md"
        text = "\n\n".join([f"# {self.title}", *self.parts, closing.strip()]) + "\n"
        write_whole(page, text.encode("utf-8"))
        return page
