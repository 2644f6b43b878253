"""The central types: facts about a page (`Page`, `Block`, `Document`) and decisions about it (`Extraction`).

All are frozen. A `Document` keeps its blocks as columns, one list or array for each fact, because methods work on
whole pages at once; `Block` objects are a view for people and are made when somebody asks for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was fetched; never changed.

    Attributes:
        html: the page's HTML, as bytes (preferred: the encoding is found as browsers do) or as text;
            or a plain-text dump of a page when `format` is "text".
        url: where it came from, if known; used for metadata and for making links absolute.
        id: any name by which the caller wants to recognise it.
        charset: the encoding that the HTTP header declared, if known.
        format: "html", or "text" for a plain-text dump.
    """

    html: str | bytes
    url: str | None = None
    id: str | None = None
    charset: str | None = None
    format: Literal["html", "text"] = "html"


class Kind(StrEnum):
    """What a block is, by its markup or, in a plain-text dump, by its looks."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list-item"
    TABLE_ROW = "table-row"
    CODE = "code"
    QUOTE = "quote"
    CAPTION = "caption"


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page says about itself; None where it does not say.

    Attributes:
        title: the headline, without the site's name.
        author: the author or authors, separated by "; ".
        date: the date of publication, as YYYY-MM-DD.
        language: a BCP 47 tag, such as "de" or "en-GB".
        site: the site's name.
        url: the canonical URL.
        description: the page's own summary.
    """

    title: str | None = None
    author: str | None = None
    date: str | None = None
    language: str | None = None
    site: str | None = None
    url: str | None = None
    description: str | None = None
