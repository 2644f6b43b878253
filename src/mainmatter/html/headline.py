"""The headline: what a page's headings and its declared titles agree on, without the site's name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mainmatter.html.declared import key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

_SEPARATOR = re.compile(r"\s(?:[|\-\u2013\u2014·•»«\u2039\u203a:/~]|::)\s|[|\uff5c]")
_PERMALINK = " ¶#§"  # marks that documentation tools put after a heading
_SHORTEST_HINT = 4  # characters; shorter names are found in other words by chance


def read_headline(
    headings: Iterable[str], titles: Iterable[str], site_keys: Collection[str], *, is_article: bool
) -> str:
    """The page's headline, or nothing.

    Readers see the heading, so it wins where a declared title confirms it. A heading that none confirms is as
    often a slogan or a teaser as a headline, except in articles; elsewhere the declared title is preferred.

    Args:
        headings: the page's headings, in order.
        titles: the declared titles, most trusted first.
        site_keys: keys of the names that the site goes by.
        is_article: whether the page says that it is an article.
    """
    declared = [stripped for title in titles if (stripped := without_site(title, site_keys))]
    texts = [heading.rstrip(_PERMALINK) for heading in headings]
    shown = [text for text in texts if text and key(text) not in site_keys]
    if confirmed := _confirmed(shown, declared):
        return confirmed
    if shown and (is_article or not declared):
        return shown[0]
    return _without_last_part(declared[0]) if declared else ""


def without_site(title: str, site_keys: Collection[str]) -> str:
    """A title without the site's name at its end or its beginning."""
    separators = list(_SEPARATOR.finditer(title))
    if separators:
        first, last = separators[0], separators[-1]
        if _names_site(title[last.end() :], site_keys):
            return title[: last.start()].strip()
        if _names_site(title[: first.start()], site_keys):
            return title[first.end() :].strip()
    return title


def site_in_title(title: str, site_keys: Collection[str]) -> str:
    """The last part of a title, if it is a name that the site goes by."""
    last_part = _SEPARATOR.split(title)[-1].strip()
    return last_part if last_part != title and key(last_part) in site_keys else ""


def _confirmed(shown: Sequence[str], declared: Sequence[str]) -> str:
    """The heading that is a declared title, or else the first within one, but not as its last part."""
    declared_keys = [key(title) for title in declared]
    by_key = {heading_key: heading for heading in reversed(shown) if (heading_key := key(heading))}
    for declared_key in declared_keys:
        if declared_key in by_key:
            return by_key[declared_key]
    last_parts = {key(_SEPARATOR.split(title)[-1]) for title in declared}
    for heading_key, heading in reversed(by_key.items()):
        if heading_key not in last_parts and any(heading_key in one for one in declared_keys):
            return heading
    return ""


def _without_last_part(title: str) -> str:
    """A title without its last part, which is a section or a site of unknown name."""
    separators = list(_SEPARATOR.finditer(title))
    return title[: separators[-1].start()].strip() if separators else title


def _names_site(part: str, site_keys: Collection[str]) -> bool:
    """Whether a part of a title is the site's name, or nearly: "Example Forums" on example.org."""
    part_key = key(part)
    return any(
        part_key == site_key
        or (len(site_key) >= _SHORTEST_HINT and site_key in part_key)
        or (len(part_key) >= _SHORTEST_HINT and part_key in site_key)
        for site_key in site_keys
    )
