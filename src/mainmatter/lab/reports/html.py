"""Reports as HTML, by templates of Jinja2: what is not markup already is escaped, so nothing of a page becomes markup.

A report is one file with all that it needs in it; it runs one script, ours, and loads nothing.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING

from mainmatter.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Environment
    from markupsafe import Markup

# Control characters, halves of characters, and those that change the direction of what follows.
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
_WEB_ADDRESS = re.compile(r"https?://[^\s<>\"'`\\]{1,2000}", re.IGNORECASE)


@cache
def environment() -> Environment:
    """Where the templates are, and how they are filled.

    Raises:
        MissingExtra: Jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined  # an extra
    except ImportError as error:
        raise MissingExtra("jinja2", "eval") from error
    found = Environment(
        loader=PackageLoader("mainmatter.lab.reports"),
        autoescape=True,
        finalize=_harmless,
        keep_trailing_newline=True,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    found.filters["shorten"] = shorten
    found.tests["web_address"] = lambda url: _WEB_ADDRESS.fullmatch(url) is not None
    return found


def markup(template: str, macro: str, *arguments: object) -> Markup:
    """What a macro of a template makes of its arguments."""
    made: Markup = getattr(environment().get_template(f"{template}.html").module, macro)(*arguments)
    return made


def _harmless(value: object) -> object:
    """What a template shows of a value: nothing in it can disturb the text around it; markup stays as it is."""
    if value is None:
        return ""
    return value if hasattr(value, "__html__") else _UNFIT.sub("\N{REPLACEMENT CHARACTER}", str(value))


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report with a heading.

    Attributes:
        id: by which the table of contents points to it.
        title: its heading.
        content: what is in it.
    """

    id: str
    title: str
    content: str


def html_page(title: str, lead: str, facts: Sequence[tuple[str, object]], sections: Sequence[Section]) -> str:
    """A whole report.

    Args:
        title: its heading.
        lead: what came out, in a sentence.
        facts: how it was made: names and values, which may be markup.
        sections: what it shows; those without content are left out.
    """
    from markupsafe import Markup  # an extra

    style, script = (
        files("mainmatter.lab.reports").joinpath("templates", name) for name in ("report.css", "report.js")
    )
    code = script.read_text(encoding="utf-8")
    return (
        environment()
        .get_template("report.html")
        .render(
            title=title,
            lead=lead,
            facts=facts,
            sections=[section for section in sections if section.content],
            version=version("mainmatter"),
            script_digest=base64.b64encode(hashlib.sha256(code.encode()).digest()).decode(),
            style=Markup(style.read_text(encoding="utf-8")),  # noqa: S704 - our own
            script=Markup(code),  # noqa: S704
        )
    )


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


def count_cell(count: int, whole: int | None = None) -> Cell:
    """A count; with a bar if it is a part of a whole."""
    return Cell(f"{count:,}", count, None if not whole else count / whole)


def table(
    caption: object, head: Sequence[object], rows: Sequence[Sequence[Cell]], *, name: str, numbers: Sequence[int] = ()
) -> Markup:
    """A table whose first column names its rows; it can be read aloud, sorted, and scrolled by itself.

    Args:
        caption: what it shows.
        head: the names of the columns.
        rows: its cells.
        name: a short name, for screen readers.
        numbers: the columns of numbers, which stand to the right.
    """
    return markup("parts", "table", caption, head, rows, name, numbers)


def moment(made: datetime | None) -> str:
    """When a report was made, in words; now by default."""
    when = made or datetime.now(UTC)
    return when.strftime("%Y-%m-%d %H:%M") + (" UTC" if when.utcoffset() is not None and not when.utcoffset() else "")


def shorten(text: str, characters: int) -> str:
    """A text, or its beginning with dots where it is longer."""
    return text if len(text) <= characters else text[: characters - 1].rstrip() + "…"
