"""The people who wrote a page: declared ones first, then those that a byline names.

"By Jane Doe and John Roe | 5 May" is two names and some noise. Sites, accounts and addresses are not people.
"""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from mainmatter.html.declared import (
    Declared,
    Item,
    as_list,
    first_text,
    key,
    lines_after,
    strings_of,
    tidy,
    types_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from mainmatter.html.parse import Element

# How schema.org's names of types end that are no people.
_ORGANISATIONS = ("Organization", "Corporation", "Business", "WebSite", "Brand")
_METAS = (
    "parsely-author",
    "sailthru.author",
    "author",
    "byl",
    "dc.creator",
    "dcterms.creator",
    "article:author",
    "article_author",
    "cxenseparse:author",
)

_LONGEST_NAME = 80
_MOST_WORDS = 8
_LONGEST_BYLINE = 100
_MOST_PIECES = 8  # strings of a byline's element, after which comes the author's life
_MOST_BYLINES = 10  # elements; more means a list of teasers
_NEAR = 25  # lines after the headline in which "By ..." is its byline

_BY = re.compile(
    r"(?:(?:(?:written|posted|published|authored|created|story|text|words|article|reported|asked|started)\s+)?"
    r"(?:by|von|par|por|door)\b|(?:post\s+)?author\b|autore?\b|auteur\b)\s*[:\uff1a]?\s*",
    re.IGNORECASE,
)
_AFTER_NAME = re.compile(
    r"[|•·/»].*|\s[-\u2013\u2014]\s.*|\bon \S* ?\d.*|\b(?:updated|published|posted|last|reviewed)\b.*",
    re.IGNORECASE,
)
_BETWEEN_NAMES = re.compile(r"; ?|,? (?:and|und|&) ", re.IGNORECASE)
_JOINT = re.compile(r",|(?:^| )(?:and|und|&)(?: |$)", re.IGNORECASE)
_ADDRESS = re.compile(r"@|https?:|www\.|\.(?:com|net|org|html?)\b", re.IGNORECASE)
_ACCOUNT = re.compile(r"[a-z0-9]+\.[a-z0-9.]*|\W*\d+\W*")  # what a content system calls its users
_CODE = re.compile(r"[\\<>{}=]")
_AROUND_NAME = " ,:;-\u2013\u2014\"'*()[]"

_ACCOUNTS = """
    admin administrator anonymous author authors contributor default editor editorial guest moderator n/a name
    nobody none null root staff support system team test undefined unknown user webmaster wordpress
"""
_WORDS_OF_OTHERS = """
    about agency blog care center company contact department director founder group inc institute llc ltd
    magazine manager media menu more news online policy post posts privacy profile read research school
    services share shop sign solutions store studio the university view website writer
"""
_NOT_PEOPLE = frozenset(_ACCOUNTS.split())
_NOT_IN_NAMES = _NOT_PEOPLE.union(_WORDS_OF_OTHERS.split())  # where a text may be anything: a section, a button
_NOT_A_BYLINE = re.compile("comment|review|testimonial|quote|related|card|rating|follow", re.IGNORECASE)
_NOT_BYLINES = frozenset(("html", "body", "main", "article", "section", "ul", "ol", "h1", "img", "link"))


def read_authors(
    declared: Declared, items: Iterable[Item], heading: Element | None, site_keys: Collection[str]
) -> list[str]:
    """The names of a page's authors.

    Args:
        declared: the page's declarations.
        items: the JSON-LD objects that stand for the page, most telling first.
        heading: the headline's element, after which a byline may stand.
        site_keys: keys of the names that the site goes by.
    """
    return next(filter(None, _candidates(declared, items, heading, site_keys)), [])


def is_organisation(item: Item) -> bool:
    """Whether a JSON-LD object is an organisation or its site."""
    return any(one.endswith(_ORGANISATIONS) for one in types_of(item))


def people(texts: Iterable[str], site_keys: Collection[str] = ()) -> list[str]:
    """The names in these texts, each once."""
    found: dict[str, str] = {}
    for text in texts:
        for name in _split(_without_noise(text)):
            # A site's name is not an author's, unless it is a person's, whose own site it then is.
            if _may_be_name(name) and (key(name) not in site_keys or _looks_like_person(name)):
                found.setdefault(key(name), name)
    return list(found.values())


def _candidates(
    declared: Declared, items: Iterable[Item], heading: Element | None, site_keys: Collection[str]
) -> Iterator[list[str]]:
    """The names in each source, most trusted first."""
    by_id = {item["@id"]: item for item in declared.items if isinstance(item.get("@id"), str)}
    for item in items:
        yield people(_item_authors(item, by_id), site_keys)
    yield people(map(_given_name_first, declared.metas.get("citation_author", ())), site_keys)
    for name in _METAS:
        yield people(declared.metas.get(name, ()), site_keys)
    for element in islice(filter(_is_marked_author, declared.marked), _MOST_BYLINES):
        yield _in_element(element, site_keys, certain=True)
    yield _in_lines(islice(lines_after(heading), _NEAR), site_keys)
    for element in islice(filter(_is_styled_byline, declared.marked), _MOST_BYLINES):
        yield _in_element(element, site_keys, certain=False)


def _item_authors(item: Item, by_id: Mapping[str, Item]) -> Iterator[str]:
    """The authors of a JSON-LD object that are not organisations; some are only referred to."""
    for author in as_list(item.get("author")) + as_list(item.get("creator")):
        person = author
        if isinstance(author, dict) and "name" not in author and isinstance(author.get("@id"), str):
            person = by_id.get(author["@id"], author)
        if not (isinstance(person, dict) and is_organisation(person)):
            # Several names in one object are several people, who share whatever else it says.
            yield from map(first_text, as_list(person.get("name") if isinstance(person, dict) else person))


def _given_name_first(name: str) -> str:
    """Jane Doe, of "Doe, Jane", as library catalogues and scholarly journals write."""
    family, _, given = name.partition(",")
    return f"{given.strip()} {family.strip()}"


def _is_marked_author(element: Element) -> bool:
    """Whether an element says in microdata, RDFa or by its link that it is the author."""
    return element.tag != "link" and (
        "author" in (element.attr("rel") or "").lower().split()
        or "author" in (element.attr("itemprop") or "").split()
        or element.attr("property") in ("schema:author", "dc:creator")
    )


def _is_styled_byline(element: Element) -> bool:
    """Whether an element has a class name such as "author" or "post-byline"."""
    name = (element.attr("class") or "").lower()
    if element.tag in _NOT_BYLINES or _NOT_A_BYLINE.search(name):
        return False
    return "author" in name or "byline" in name


def _in_element(element: Element, site_keys: Collection[str], *, certain: bool) -> list[str]:
    """The names in an author's element, which may also say what the author does.

    What is not `certain` to be an author must look like a person, unless it follows a "By".
    """
    if content := element.attr("content"):
        return people([tidy(content)], site_keys)
    pieces = [piece for string in strings_of(element) if (piece := tidy(string))][:_MOST_PIECES]
    whole = " ".join(pieces)[:_LONGEST_BYLINE]
    for text in [whole, *pieces] if any(map(_JOINT.search, pieces)) else [*pieces, whole]:
        if (names := people([text], site_keys)) and all(map(_looks_like_person, names)):
            return names
    for before, piece in pairwise(["", *pieces]):
        if (certain or _BY.fullmatch(before)) and (names := people([piece], site_keys)):
            return names
    return []


def _in_lines(lines: Iterable[str], site_keys: Collection[str]) -> list[str]:
    """The names after a "By" that begins a line, or is one."""
    for line, following in pairwise([*lines, ""]):
        if len(line) <= _LONGEST_BYLINE and (by := _BY.match(line)):
            names = people([line[by.end() :] or following[:_LONGEST_BYLINE]], site_keys)
            if names and all(map(_looks_like_person, names)):
                return names
    return []


def _looks_like_person(name: str) -> bool:
    """Whether a name is a few capitalised words, as "Ludwig van Beethoven"; scripts without capitals pass."""
    words = name.split()
    if not 2 <= len(words) <= 5 or any(letter.isdigit() for letter in name):
        return False
    if words[0][0].islower() or words[-1][0].islower():
        return False
    return _NOT_IN_NAMES.isdisjoint(word.casefold().strip(",.") for word in words)


def _without_noise(text: str) -> str:
    words = tidy(text).split(" ")
    kept = " ".join(word for word in words if not _ADDRESS.search(word))
    by = _BY.match(kept)
    return _AFTER_NAME.sub("", kept[by.end() :] if by else kept)


def _split(text: str) -> Iterator[str]:
    for part in _BETWEEN_NAMES.split(text):
        names = part.split(",")
        # "Jane Doe, John Roe" are two people; "Jane Doe, MD" and "Doe, Jane" are one.
        several = all(" " in name.strip() for name in names)
        for name in names if several else [part]:
            yield name.strip(_AROUND_NAME)


def _may_be_name(name: str) -> bool:
    if not 1 < len(name) <= _LONGEST_NAME or len(name.split()) > _MOST_WORDS or _CODE.search(name):
        return False
    return name.casefold() not in _NOT_PEOPLE and not _ACCOUNT.fullmatch(name) and any(map(str.isalpha, name))
