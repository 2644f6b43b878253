"""What a page calls its elements: tag, class and id, as numbers that mean the same on many sites.

"articleBody", "post-content" and "kommentarliste" have stems that many sites use. Which stem speaks for or against
main matter is learned, not told; words of other languages count as the English stem of the same meaning, so that what
was learned on English pages holds for them too. Names without any known stem, such as hashes, say nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from mainmatter.html.segment import NUMBER_OF_TAG
from mainmatter.html.segment import TAGS as TAGS_OF_OUTLINE

if TYPE_CHECKING:
    from collections.abc import Iterable

STEMS = tuple(
    """
    abstract accordion account address advert answer archive article author avatar banner block blog body bottom box
    breadcrumb button byline caption card carousel cart categ center checkout code col comment consent contact
    container content cookie copyright crumb cta date descr detail disclaim doc entry event faq feed field filter foot
    footnote form forum gallery grid head headline hero hidden home image intro item job lang lead left legal link
    list login main map menu message meta modal module more nav news newsletter next node overlay pag page panel
    popular popup post press prev price print product profile promo question quote rating recommend refer region relat
    reply result review right row search section share side signature signup single skip slide social sort spec
    sponsor story subscri summary tab table tag teaser text thread time title toc top trend user view vote widget wiki
    wrap
    """.split()
)
_SAME_AS = {
    "advert": "anzeige publicid reklam werbung",
    "article": "articulo artigo artikel artykul",
    "author": "autor",
    "comment": "coment disqus kommentar komment respond",
    "content": "contenido conteudo contenu inhalt tresc",
    "foot": "fuss stopka",
    "head": "kopf",
    "post": "beitrag",
    "search": "buscar recherche suche szuka",
    "share": "partage teilen",
    "title": "titel titre titulo tytul",
}
TAGS = TAGS_OF_OUTLINE[1:]

# Number 0 is what has no name. Tags come first, with the numbers that they have in the outline, then stems.
_NUMBER_OF_STEM = {stem: number for number, stem in enumerate(STEMS, start=1 + len(TAGS))}
_NUMBER_OF_STEM |= {other: _NUMBER_OF_STEM[stem] for stem, others in _SAME_AS.items() for other in others.split()}
COUNT = 1 + len(TAGS) + len(STEMS)
FIRST_STEM = 1 + len(TAGS)
# Tags that today's pages use to say what is what, and that older ones and careless ones do without.
SEMANTIC_TAGS = frozenset(map(NUMBER_OF_TAG.__getitem__, "nav header footer aside article main section figure".split()))
DIV = NUMBER_OF_TAG["div"]


def _pattern_of(stems: Iterable[str]) -> str:
    """A pattern for the longest of some stems, as a tree of their letters: a search tries 24 letters, not 170 stems."""
    by_letter: dict[str, list[str]] = {}
    for stem in stems:
        by_letter.setdefault(stem[:1], []).append(stem[1:])
    rest = "|".join(letter + _pattern_of(ends) for letter, ends in by_letter.items() if letter)
    return f"(?:{rest})?" if "" in by_letter and rest else f"(?:{rest})" if rest else ""


_STEM = re.compile(_pattern_of(_NUMBER_OF_STEM))
_LONGEST_NAME = 300  # characters; what is longer is no name


def stems_of(name: str) -> tuple[int, ...]:
    """The numbers of the stems in a class or id, or in several with spaces between; each once."""
    return _numbers_of(frozenset(_STEM.findall(name[:_LONGEST_NAME].lower())))


@lru_cache(maxsize=20_000)
def _numbers_of(stems: frozenset[str]) -> tuple[int, ...]:
    return tuple(sorted({_NUMBER_OF_STEM[stem] for stem in stems}))
