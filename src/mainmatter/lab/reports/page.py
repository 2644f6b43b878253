"""The frame of a report: one HTML file with all that it needs in it; it runs one script, ours, and loads nothing."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING

from mainmatter.lab.reports.markup import Markup, tag

if TYPE_CHECKING:
    from collections.abc import Sequence


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
    content: Markup


def html_page(title: str, lead: Markup, facts: Sequence[tuple[str, object]], sections: Sequence[Section]) -> str:
    """A whole report.

    Args:
        title: its heading.
        lead: what came out, in a sentence.
        facts: how it was made: names and values.
        sections: what it shows; those without content are left out.
    """
    shown = [section for section in sections if section.content]
    body = tag(
        "body",
        tag("a", "Skip to the report", href="#report", class_="skip"),
        tag("header", tag("h1", title), tag("p", lead, class_="lead"), fact_list(facts)),
        tag("nav", tag("ul", *(tag("li", tag("a", one.title, href=f"#{one.id}")) for one in shown)), aria_label="Parts")
        if shown
        else None,
        tag(
            "main",
            *(
                tag(
                    "section",
                    tag("h2", one.title, id=f"{one.id}-title"),
                    one.content,
                    id=one.id,
                    aria_labelledby=f"{one.id}-title",
                )
                for one in shown
            ),
            id="report",
        ),
        tag("footer", tag("p", f"Made by mainmatter {version('mainmatter')}. This file loads nothing from elsewhere.")),
        tag("script", Markup(_read("report.js"))),
    )
    return f"<!DOCTYPE html>\n{tag('html', _head(title), body, lang='en')}\n"


def fact_list(facts: Sequence[tuple[str, object]]) -> Markup:
    """Names and values, one below the other; values may be markup."""
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in facts))


def moment(made: datetime | None) -> str:
    """When a report was made, in words; now if nobody says otherwise."""
    when = made or datetime.now(UTC)
    return when.strftime("%Y-%m-%d %H:%M") + (" UTC" if when.utcoffset() is not None and not when.utcoffset() else "")


def command_line(command: str) -> Markup | None:
    """A command as it was typed."""
    return tag("code", command) if command else None


def _head(title: str) -> Markup:
    digest = base64.b64encode(hashlib.sha256(_read("report.js").encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} · mainmatter"),
        tag("style", Markup(_read("report.css"))),
    )


@cache
def _read(name: str) -> str:
    return files("mainmatter.lab.reports").joinpath(name).read_text(encoding="utf-8")
