"""Title, author, date, language, site, address and description, as the page itself gives them.

Each fact has a short list of sources, most trusted first; the first that gives an acceptable value wins. What the page
declares is gathered in html/declared.py; here it is judged: first the simple facts, then the headline, the authors, and
the day of publication.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from itertools import chain, islice, pairwise, tee
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from mainmatter.html.dates import LONGEST_DATE, may_have_day, read_day, read_day_in_path, read_moment
from mainmatter.html.declared import (
    MAX_VALUE,
    Declared,
    Item,
    as_list,
    first_text,
    gather,
    host_keys,
    key,
    lines_after,
    lines_before,
    split_address,
    strings_of,
    text_of,
    tidy,
    types_of,
)
from mainmatter.html.parse import base_url
from mainmatter.records import Metadata

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from mainmatter.html.parse import Element, Tree

# How schema.org's names of types end that stand for a text.
_TEXTS = ("Article", "Posting", "Question", "Recipe", "HowTo", "Report", "LearningResource")
_LANGUAGE_TAG = re.compile(r"([A-Za-z]{2,3})((?:[-_][A-Za-z0-9]{2,8}){0,3})(?![A-Za-z0-9_-])")
_MOST_NAMES = 10  # headlines, names of the site: more of a kind are not about the page


def read_metadata(tree: Tree, url: str | None = None) -> Metadata:
    """What a page says about itself; `url` is where it came from. Never raises on a page's content."""
    declared = gather(tree)
    address = _address(declared, tree, url)
    site, site_keys = _site(declared, address)
    items = _telling_items(declared.items)
    title = _title(declared, items, site_keys)
    heading = _heading(declared, title)
    language = _language(declared)
    author, day, moment = "", None, None
    if _is_text(declared, items, address):
        lines, same_lines = tee(lines_after(heading))
        author = "; ".join(next(filter(None, _authors(declared, items, lines, site_keys)), []))
        day, moment = _read_published(declared, items, heading, same_lines, address, language)
    return Metadata(
        title=title or None,
        author=author or None,
        date=day,
        published=moment,
        language=language or None,
        site=site or None,
        url=address or None,
        description=_description(declared, items) or None,
    )


def complete_metadata(
    metadata: Metadata, headline: str, bylines: Iterable[str], site_keys: Collection[str]
) -> Metadata:
    """What a page declares, with what a method has seen.

    Readers see the headline, so it is the title. Authors and dates that are declared stay as they are; else they are
    those that the bylines name, unless these name several, as those of a list of posts do.

    Args:
        metadata: what the page declares.
        headline: the page's headline in the eyes of the method; "" if it has none.
        bylines: what the method takes for bylines.
        site_keys: keys of the site's names.
    """
    site_keys = {*site_keys, key(metadata.site or "")} - {""}
    title = without_site(tidy(headline).rstrip(_PERMALINK), site_keys)
    lines = [[tidy(part) for part in _BYLINE_PARTS.split(byline[:MAX_VALUE])] for byline in bylines]
    authors = {author for parts in lines if (author := "; ".join(_in_lines(parts, site_keys)))}
    parts = [part for line in lines for part in line if not _OTHER_DAY.search(part)]
    days = {day for part in parts if (day := read_day(part, metadata.language or ""))}
    return replace(
        metadata,
        title=title or metadata.title,
        author=metadata.author or (authors.pop() if len(authors) == 1 else None),
        date=metadata.date or (days.pop() if len(days) == 1 else None),
    )


def _telling_items(items: Sequence[Item]) -> list[Item]:
    """The JSON-LD objects that stand for the page: texts, then pages; not its owner or its breadcrumbs."""
    texts: list[Item] = []
    pages: list[Item] = []
    for item in items:
        types = types_of(item)
        if any(one.endswith(_TEXTS) for one in types):
            texts.append(item)
        elif any(one.endswith("Page") for one in types):
            pages.append(item)
    return texts + pages


def _title(declared: Declared, items: Sequence[Item], site_keys: set[str]) -> str:
    headlines = [headline for item in items[:_MOST_NAMES] if (headline := first_text(item.get("headline")))]
    metas = [declared.meta(name) for name in ("og:title", "twitter:title", "citation_title", "dc.title")]
    is_article = bool(headlines) or declared.meta("og:type").lower() == "article"
    return _read_headline(
        [text for _, text in declared.headings],
        [*headlines, *metas, declared.title],
        site_keys,
        # Lower headings are headlines only if a title confirms it.
        is_article=is_article and declared.has_top_heading,
    )


def _heading(declared: Declared, title: str) -> Element | None:
    """The element that shows the headline, or the first heading."""
    for element, text in declared.headings:
        if title and title in text:
            return element
    return declared.headings[0][0] if declared.headings else None


def _is_text(declared: Declared, items: Sequence[Item], address: str) -> bool:
    """Whether the page is one text, with an author and a date of its own.

    A product has none, though its reviews do; nor has a home page: its bylines and dates belong to teasers.
    """
    kind = declared.meta("og:type").lower()
    if kind.startswith("product") or any("Product" in types_of(item) for item in declared.items):
        return False
    if kind == "article" or any(one.endswith(_TEXTS) for item in items for one in types_of(item)):
        return True
    parts = split_address(address)
    return not parts.netloc or bool(parts.path.strip("/") or parts.query)


def _address(declared: Declared, tree: Tree, url: str | None) -> str:
    """The canonical address, made absolute; else the one that the page came from."""
    base = url or ""
    for candidate in (declared.canonical, declared.meta("og:url")):
        try:
            absolute = urljoin(base_url(tree, base), candidate) if candidate else ""
        except ValueError:
            continue
        if split_address(absolute).scheme in ("http", "https") and split_address(absolute).netloc:
            return absolute
    return base


def _site(declared: Declared, address: str) -> tuple[str, set[str]]:
    """The site's name, and the keys of all its names."""
    of_host = host_keys(address)
    publishers = [first_text(item.get("publisher")) for item in declared.items[:_MOST_NAMES]]
    owners = [first_text(item) for item in declared.items if _is_organisation(item)][:_MOST_NAMES]
    websites = [first_text(item) for item in declared.items if "WebSite" in types_of(item)][:_MOST_NAMES]
    names = [declared.meta("og:site_name"), *websites, declared.meta("application-name"), *publishers]
    site = next(filter(None, names), "") or _site_in_title(declared.title, of_host)
    keys = {key(name) for name in (*names, *owners, declared.meta("publisher"))}
    return site, (keys | of_host) - {""}


def _language(declared: Declared) -> str:
    """The language as a BCP 47 tag in its usual writing, such as "en-GB" or "zh-Hant"."""
    items = [language for item in declared.items for language in _item_languages(item)]
    metas = [declared.meta(name) for name in ("content-language", "og:locale", "dc.language", "language")]
    for candidate in (declared.language, metas[0], *items, *metas[1:]):
        found = _LANGUAGE_TAG.match(candidate.strip())
        if found and found[1].lower() != "und":
            return "-".join([found[1].lower(), *map(_subtag, re.split("[-_]", found[2])[1:])])
    return ""


def _item_languages(item: Item) -> list[str]:
    """The languages of a JSON-LD object, which may be tags, or objects with a tag as their other name."""
    values = as_list(item.get("inLanguage"))
    return [first_text(value.get("alternateName") if isinstance(value, dict) else value) for value in values]


def _subtag(subtag: str) -> str:
    if len(subtag) == 2:
        return subtag.upper()
    return subtag.title() if len(subtag) == 4 and subtag.isalpha() else subtag.lower()


def _description(declared: Declared, items: Sequence[Item]) -> str:
    metas = declared.meta("description", "og:description", "twitter:description", "dc.description")
    return metas or next(filter(None, (first_text(item.get("description")) for item in items)), "")


# The headline: what a page's headings and its declared titles agree on, without the site's name.

_SEPARATOR = re.compile(r"\s(?:[|\-\u2013\u2014·•»«\u2039\u203a:/~]|::)\s|[|\uff5c]")
_PERMALINK = " ¶#§"  # marks that documentation tools put after a heading
_SHORTEST_HINT = 4  # characters; shorter names are found in other words by chance


def _read_headline(
    headings: Iterable[str], titles: Iterable[str], site_keys: Collection[str], *, is_article: bool
) -> str:
    """The page's headline, or nothing.

    Readers see the heading, so it wins where a declared title confirms it. A heading that none confirms is as
    often a slogan or a teaser as a headline, except in articles; elsewhere the declared title is preferred.

    Args:
        headings: the page's headings, in order.
        titles: the declared titles, most trusted first.
        site_keys: keys of the site's names.
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


def _site_in_title(title: str, site_keys: Collection[str]) -> str:
    """The last part of a title, if it is one of the site's names."""
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


# The people who wrote a page: declared ones first, then those that a byline names. "By Jane Doe and John Roe | 5 May"
# is two names and some noise. Sites, accounts and addresses are not people.

# Endings of schema.org's types that are not people.
_ORGANISATIONS = ("Organization", "Corporation", "Business", "WebSite", "Brand")
_AUTHOR_METAS = tuple(
    """
    parsely-author sailthru.author author byl dc.creator dcterms.creator article:author article_author
    cxenseparse:author
    """.split()
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
# Between name, date and section: "5 May 2024 by Jane Doe in Travel | 3 comments".
_BYLINE_PARTS = re.compile(r"\s*[|•·\n]\s*|(?<=\d)\s+(?=(?:by|von|par|por|door)\b)|\s(?=in\b)", re.IGNORECASE)
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


def _is_organisation(item: Item) -> bool:
    """Whether a JSON-LD object is an organisation or its site."""
    return any(one.endswith(_ORGANISATIONS) for one in types_of(item))


def people(texts: Iterable[str], site_keys: Collection[str] = ()) -> list[str]:
    """The names in these texts, each once."""
    found: dict[str, str] = {}
    for text in texts:
        for name in _split_names(_without_noise(text)):
            # A site's name is not an author's, unless it is a person's, whose own site it then is.
            if _may_be_name(name) and (key(name) not in site_keys or _looks_like_person(name)):
                found.setdefault(key(name), name)
    return list(found.values())


def _authors(
    declared: Declared, items: Iterable[Item], lines: Iterable[str], site_keys: Collection[str]
) -> Iterator[list[str]]:
    """The names of a page's authors in each source, most trusted first.

    Args:
        declared: the page's declarations.
        items: the JSON-LD objects that stand for the page, most telling first.
        lines: what follows the headline, where a byline may stand.
        site_keys: keys of the site's names.
    """
    by_id = {item["@id"]: item for item in declared.items if isinstance(item.get("@id"), str)}
    for item in items:
        yield people(_item_authors(item, by_id), site_keys)
    yield people(map(_given_name_first, declared.contents("citation_author")), site_keys)
    for name in _AUTHOR_METAS:
        yield people(declared.contents(name), site_keys)
    for element in islice(filter(_is_marked_author, declared.marked), _MOST_BYLINES):
        yield _in_element(element, site_keys, certain=True)
    yield _in_lines(islice(lines, _NEAR), site_keys)
    for element in islice(filter(_is_styled_byline, declared.marked), _MOST_BYLINES):
        yield _in_element(element, site_keys, certain=False)


def _item_authors(item: Item, by_id: Mapping[str, Item]) -> Iterator[str]:
    """The authors of a JSON-LD object that are not organisations; some are only referred to."""
    for author in as_list(item.get("author")) + as_list(item.get("creator")):
        person = author
        if isinstance(author, dict) and "name" not in author and isinstance(author.get("@id"), str):
            person = by_id.get(author["@id"], author)
        if not (isinstance(person, dict) and _is_organisation(person)):
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


def _split_names(text: str) -> Iterator[str]:
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


# The day of publication, and the moment if the page declares it. Days are as written, in the page's own time zone.

_DATE_PROPERTIES = ("datePublished", "dateCreated", "uploadDate")
_DATE_METAS = tuple(
    """
    article:published_time og:article:published_time og:published_time article:published datepublished parsely-pub-date
    sailthru.date citation_publication_date citation_online_date citation_date dc.date.issued dcterms.issued
    dc.date.created dcterms.created dc.date dcterms.date pubdate publishdate publish-date publish_date published-date
    published_date cxenseparse:publishtime datecreated date
    """.split()
)

_OTHER_DAY = re.compile("updated|modified|reviewed|edited|joined|member since", re.IGNORECASE)

_STYLED_DATE = re.compile("date|publish", re.IGNORECASE)


def _read_published(
    declared: Declared, items: Sequence[Item], heading: Element | None, lines: Iterable[str], url: str, language: str
) -> tuple[str | None, str | None]:
    """The day on which a page was published, and the moment if the page says it where it gives the day.

    Args:
        declared: the page's declarations.
        items: the JSON-LD objects that stand for the page, most telling first.
        heading: the headline's element, near which a visible date is the page's own.
        lines: what follows the headline.
        url: the page's address.
        language: the page's language, or "".
    """
    in_path = read_day_in_path(url)
    day, moment = _first_day(_declared_dates(declared, items), language)
    if day and in_path and abs((date.fromisoformat(day) - date.fromisoformat(in_path)).days) == 1:
        return in_path, moment  # the same moment: paths have the site's own time, declarations often UTC
    if day or in_path:
        return day or in_path, moment
    return _first_day(_visible_dates(declared, heading, lines), language)


def _first_day(texts: Iterable[str], language: str) -> tuple[str | None, str | None]:
    """The first day in these texts, and the moment, if its text has that."""
    for text in texts:
        if day := read_day(text, language):
            moment = read_moment(text)
            return day, moment if moment and moment.startswith(day) else None
    return None, None


def _declared_dates(declared: Declared, items: Sequence[Item]) -> Iterator[str]:
    """Texts that the page calls its date of publication."""
    for name in _DATE_PROPERTIES:
        for item in items:
            yield first_text(item.get(name))
    for name in _DATE_METAS:
        yield declared.meta(name)
    for element in declared.marked:
        marks = f"{element.attr('itemprop')} {element.attr('property')}"
        if "datePublished" in marks or "dateCreated" in marks or element.attr("pubdate") is not None:
            yield _date_of_element(element)


def _visible_dates(declared: Declared, heading: Element | None, lines: Iterable[str]) -> Iterator[str]:
    """Texts that readers take for the date of publication: near the headline, or styled as a date.

    A revision's date comes last: a page that shows no other is dated by it.
    """
    after_heading = heading is None
    for element in declared.marked:
        after_heading = after_heading or element == heading
        if after_heading and element.tag == "time" and not _OTHER_DAY.search(element.attr("class") or ""):
            yield _date_of_element(element)
            break  # the next one belongs to a comment or a teaser
    revisions: list[str] = []
    for label, line in pairwise(chain([""], lines, lines_before(heading))):
        if len(line) <= LONGEST_DATE and may_have_day(line):
            if _OTHER_DAY.search(label[:LONGEST_DATE]) or _OTHER_DAY.search(line):
                revisions.append(line)
            else:
                yield line
    for element in declared.marked:
        if _STYLED_DATE.search(element.attr("class") or "") and len(text := text_of(element)) <= LONGEST_DATE:
            if _OTHER_DAY.search(text):
                revisions.append(text)
            else:
                yield text
    yield from revisions


def _date_of_element(element: Element) -> str:
    return element.attr("content") or element.attr("datetime") or text_of(element)
