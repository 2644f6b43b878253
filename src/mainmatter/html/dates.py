"""The day of publication, from the many ways in which pages write it, as YYYY-MM-DD.

Days are taken as written, in the page's own time zone. The window is fixed, not "until today", so that the
same page always gives the same answer.
"""

from __future__ import annotations

import re
from datetime import date
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from mainmatter.html.declared import Declared, Item, first_text, lines_after, lines_before, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mainmatter.html.parse import Element

FIRST_YEAR, LAST_YEAR = 1990, 2099  # outside lie placeholders such as 0001-01-01 and 1970-01-01

_PROPERTIES = ("datePublished", "dateCreated", "uploadDate")
_METAS = (
    "article:published_time",
    "og:article:published_time",
    "og:published_time",
    "article:published",
    "datepublished",
    "parsely-pub-date",
    "sailthru.date",
    "citation_publication_date",
    "citation_online_date",
    "citation_date",
    "dc.date.issued",
    "dcterms.issued",
    "dc.date.created",
    "dcterms.created",
    "dc.date",
    "dcterms.date",
    "pubdate",
    "publishdate",
    "publish-date",
    "publish_date",
    "published-date",
    "published_date",
    "cxenseparse:publishtime",
    "datecreated",
    "date",
)

_LONGEST = 100  # characters in which a day is sought
_YEAR = r"((?:19|20)\d\d)"
_YEAR_FIRST = re.compile(rf"(?<!\d){_YEAR}([-/.])(\d{{1,2}})\2(\d{{1,2}})(?!\d)")
_COMPACT = re.compile(rf"(?<!\d){_YEAR}(\d\d)(\d\d)(?!\d)")
_EAST_ASIAN = re.compile(rf"{_YEAR}\s?[年년]\s?(\d{{1,2}})\s?[月월]\s?(\d{{1,2}})\s?[日일]")
_DAY_MONTH = re.compile(
    rf"(?<!\d)(\d{{1,2}})(?:st|nd|rd|th|er|º)?\.?[\s-](?:de |of )?([^\W\d_]{{3,12}})\.?,?[\s-](?:de )?{_YEAR}"
)
_MONTH_DAY = re.compile(rf"([^\W\d_]{{3,12}})\.? (\d{{1,2}})(?:st|nd|rd|th)?,? {_YEAR}")
_YEAR_LAST = re.compile(rf"(?<!\d)(\d{{1,2}})([-/.])(\d{{1,2}})\2{_YEAR}(?!\d)")
_IN_PATH = re.compile(rf"/{_YEAR}[/-](\d{{1,2}})[/-](\d{{1,2}})(?!\d)")
_OTHER_DAY = re.compile("updated|modified|reviewed|edited|joined|member since", re.IGNORECASE)

_STYLED = re.compile("date|publish", re.IGNORECASE)

# How the months' names begin: English, then German, French, Spanish, Italian, Portuguese, Dutch, Polish,
# Swedish and Russian where they differ.
_MONTHS = (
    ("jan", "jän", "ene", "gen", "sty", "янв"),
    ("feb", "fév", "fev", "lut", "фев"),
    ("mar", "mär", "maa", "mrt", "мар"),
    ("apr", "avr", "abr", "kwi", "апр"),
    ("may", "mai", "mag", "mei", "maj", "май", "мая"),
    ("jun", "juin", "giu", "cze", "июн"),
    ("jul", "juil", "lug", "lip", "июл"),
    ("aug", "aoû", "aou", "ago", "sie", "авг"),
    ("sep", "set", "wrz", "сен"),
    ("oct", "okt", "ott", "out", "paź", "окт"),
    ("nov", "lis", "ноя"),
    ("dec", "dez", "déc", "dic", "gru", "дек"),
)
_MONTH_OF = {name: month for month, names in enumerate(_MONTHS, 1) for name in names}


def read_published(
    declared: Declared, items: Sequence[Item], heading: Element | None, url: str, *, month_first: bool
) -> str | None:
    """The day on which a page was published.

    Args:
        declared: the page's declarations.
        items: the JSON-LD objects that stand for the page, most telling first.
        heading: the headline's element, near which a visible date is the page's own.
        url: the page's address.
        month_first: whether 3/4/2024 is a day in March.
    """
    in_path = read_day_in_path(url)
    declared_day = _first_day(_declared(declared, items), month_first=month_first)
    if declared_day and in_path and _days_apart(declared_day, in_path) == 1:
        return in_path  # the same moment: paths have the site's own time, declarations often UTC
    return declared_day or in_path or _first_day(_visible(declared, heading), month_first=month_first)


def read_day(text: str, *, month_first: bool = True) -> str | None:
    """The first day in the beginning of a text; `month_first` decides what 3/4/2024 means."""
    text = text[:_LONGEST]
    has_year = "20" in text or "19" in text  # most texts have none
    return _day_beside_year(text, month_first=month_first) if has_year else None


def _day_beside_year(text: str, *, month_first: bool) -> str | None:
    if found := _YEAR_FIRST.search(text):
        return _iso(found[1], found[3], found[4])
    if found := _EAST_ASIAN.search(text) or _COMPACT.search(text):
        return _iso(found[1], found[2], found[3])
    if found := _DAY_MONTH.search(text):
        return _iso(found[3], _month(found[2]), found[1])
    if found := _MONTH_DAY.search(text):
        return _iso(found[3], _month(found[1]), found[2])
    if found := _YEAR_LAST.search(text):
        first, second = int(found[1]), int(found[3])
        month_leads = second > 12 or (month_first and first <= 12 and found[2] != ".")
        return _iso(found[4], first, second) if month_leads else _iso(found[4], second, first)
    return None


def read_day_in_path(url: str) -> str | None:
    """The day in an address such as /2024/05/17/headline."""
    found = _IN_PATH.search(url[:2_000])
    return _iso(found[1], found[2], found[3]) if found else None


def _first_day(texts: Iterable[str], *, month_first: bool) -> str | None:
    return next((day for text in texts if (day := read_day(text, month_first=month_first))), None)


def _declared(declared: Declared, items: Sequence[Item]) -> Iterator[str]:
    """Texts that the page calls its date of publication."""
    for name in _PROPERTIES:
        for item in items:
            yield first_text(item.get(name))
    for name in _METAS:
        yield from declared.metas.get(name, ())[:1]
    for element in declared.marked:
        marks = f"{element.attr('itemprop')} {element.attr('property')}"
        if "datePublished" in marks or "dateCreated" in marks or element.attr("pubdate") is not None:
            yield _value(element)


def _visible(declared: Declared, heading: Element | None) -> Iterator[str]:
    """Texts that readers take for the date of publication: near the headline, or styled as a date.

    A revision's date comes last: a page that shows no other is dated by it.
    """
    after_heading = heading is None
    for element in declared.marked:
        after_heading = after_heading or element == heading
        if after_heading and element.tag == "time" and not _OTHER_DAY.search(element.attr("class") or ""):
            yield _value(element)
            break  # the next one belongs to a comment or a teaser
    revisions: list[str] = []
    for label, line in pairwise(chain([""], lines_after(heading), lines_before(heading))):
        if len(line) <= _LONGEST:
            if _OTHER_DAY.search(label[:_LONGEST]) or _OTHER_DAY.search(line):
                revisions.append(line)
            else:
                yield line
    for element in declared.marked:
        if _STYLED.search(element.attr("class") or "") and len(text := text_of(element)) <= _LONGEST:
            yield text
    yield from revisions


def _value(element: Element) -> str:
    return element.attr("content") or element.attr("datetime") or text_of(element)


def _month(name: str) -> int:
    name = name.casefold()
    return _MONTH_OF.get(name[:3]) or _MONTH_OF.get(name[:4], 0)


def _iso(year: str, month: str | int, day: str | int) -> str | None:
    try:
        found = date(int(year), int(month), int(day))
    except ValueError:  # 31 February, or month 0 for a word that is none
        return None
    return found.isoformat() if FIRST_YEAR <= found.year <= LAST_YEAR else None


def _days_apart(day: str, other: str) -> int:
    return abs((date.fromisoformat(day) - date.fromisoformat(other)).days)
