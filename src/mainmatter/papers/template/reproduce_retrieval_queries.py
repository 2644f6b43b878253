"""Queries, and which pages answer them, from gold texts alone: what `retrieval` searches for.

A query is one word or two. Its words are drawn at random among those that a site repeats around its texts ("template
words": Ma, Goharian and Chowdhury, section 4.3, took the queries of a log that contain them), or among all others. A
page answers it if its gold text is about the words; what stands around the gold text never counts.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import TYPE_CHECKING, Literal

from mainmatter.lab.datasets import site_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from mainmatter.lab.datasets import GoldPage

Criterion = Literal["lead", "repeated", "mentioned"]
CRITERIA: dict[Criterion, str] = {
    "lead": "all words of the query are among the first 40 of the gold text: its headline and first sentence",
    "repeated": "all words of the query are in the gold text, each at least three times",
    "mentioned": "all words of the query are in the gold text",
}
LEAD_WORDS = 40
REPEATED = 3
# A template word: in the text around the gold text on half of a site's pages, of a site with five pages or more.
SITE_PAGES = 5
TEMPLATE_SHARE = 0.5
# Words in more gold texts of a language than this are its "the" and "said".
COMMON_SHARE = 0.2
FEWEST_RELEVANT = 2
SHORTEST_WORD = 3
_WORD = re.compile(r"\w+")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# No spaces, no words: pages in these scripts are searched, but no query is drawn from them.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for, and which pages should be found.

    Attributes:
        words: one word or two.
        relevant: the ids of the pages that answer it, by each criterion.
    """

    words: tuple[str, ...]
    relevant: Mapping[Criterion, frozenset[str]]

    def __str__(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class PageWords:
    """The words of a page that queries are made from.

    Attributes:
        id: the page's.
        site: the site that it is of.
        group: its language.
        gold: how often each word is in the gold text.
        lead: the words at its beginning.
        around: the words that are in the page's text more often than in its gold text.
    """

    id: str
    site: str
    group: str
    gold: Counter[str]
    lead: frozenset[str]
    around: frozenset[str]


def gold_text(page: GoldPage) -> str:
    """The gold text of a page; some say in a comment that there is none."""
    return _COMMENT.sub("", page.gold.text or "")


def split(text: str) -> list[str]:
    """The words of a text, as the index has them."""
    return _WORD.findall(unicodedata.normalize("NFC", text).lower())


def page_words(page: GoldPage, all_text: str) -> PageWords:
    """The words of a page, inside and around its gold text."""
    words = split(gold_text(page))
    gold = Counter(words)
    around = Counter(split(all_text)) - gold
    lead = frozenset(words[:LEAD_WORDS])
    return PageWords(page.page.id or "", site_of(page), page.groups.get("lang", ""), gold, lead, frozenset(around))


def template_words(pages: Sequence[PageWords]) -> set[str]:
    """The words that some site repeats around its gold texts."""
    sites: dict[str, list[PageWords]] = {}
    for page in pages:
        sites.setdefault(page.site, []).append(page)
    found: set[str] = set()
    for members in sites.values():
        if len(members) >= SITE_PAGES:
            counts = Counter(word for page in members for word in page.around)
            found |= {word for word, count in counts.items() if count >= TEMPLATE_SHARE * len(members)}
    return found


def draw_queries(pages: Sequence[PageWords], most: int, seed: int) -> tuple[list[Query], list[Query]]:
    """Queries with template words, and as a control queries without; at most so many of each, a third of two words.

    Each has at least two pages that are about it (by the criterion "lead"), and no two of a list the same pages. In
    the first list one word of a pair at least is a template word, in the second list neither is.
    """
    rng = Random(seed)  # noqa: S311 - no secret
    template = template_words(pages)
    usable = _usable_words(pages)
    return (
        _draw(pages, usable, usable & template, most, rng),
        _draw(pages, usable - template, usable - template, most, rng),
    )


def _usable_words(pages: Sequence[PageWords]) -> set[str]:
    """Words that one can search for: of letters, not too short, neither in too many gold texts nor in one alone."""
    sizes = Counter(page.group for page in pages)
    counts: dict[str, Counter[str]] = {group: Counter() for group in sizes}
    for page in pages:
        counts[page.group].update(page.gold.keys())
    common = {
        word
        for group, of_group in counts.items()
        for word, count in of_group.items()
        if count > max(FEWEST_RELEVANT, COMMON_SHARE * sizes[group])
    }
    leads = Counter(word for page in pages for word in page.lead)
    return {
        word
        for word, count in leads.items()
        if count >= FEWEST_RELEVANT
        and len(word) >= SHORTEST_WORD
        and word.isalpha()
        and word not in common
        and not _UNSPACED.search(word)
    }


def _draw(
    pages: Sequence[PageWords], usable: Collection[str], wanted: Collection[str], most: int, rng: Random
) -> list[Query]:
    """Queries of one wanted word, and of a wanted one and any other that can be used."""
    pairs: Counter[tuple[str, str]] = Counter()
    for page in pages:
        for pair in combinations(sorted(word for word in page.lead if word in usable), 2):
            if pair[0] in wanted or pair[1] in wanted:
                pairs[pair] += 1
    one: list[tuple[str, ...]] = [(word,) for word in sorted(wanted)]
    two: list[tuple[str, ...]] = sorted(pair for pair, count in pairs.items() if count >= FEWEST_RELEVANT)
    queries: dict[frozenset[str], Query] = {}
    for candidates, at_most in ((one, most - most // 3), (two, most)):
        for words in rng.sample(candidates, len(candidates)):
            if len(queries) >= at_most:
                break
            query = Query(words, _relevant(words, pages))
            # The words of a story that is on two pages would ask for these two again and again.
            queries.setdefault(query.relevant["lead"], query)
    return list(queries.values())


def _relevant(words: tuple[str, ...], pages: Sequence[PageWords]) -> dict[Criterion, frozenset[str]]:
    answers: dict[Criterion, frozenset[str]] = {
        "lead": frozenset(page.id for page in pages if page.lead.issuperset(words)),
        "repeated": frozenset(page.id for page in pages if all(page.gold[word] >= REPEATED for word in words)),
        "mentioned": frozenset(page.id for page in pages if all(page.gold[word] for word in words)),
    }
    return answers
