"""Title, author, date, language, site, address and description, as the page itself gives them.

Each fact has a short list of sources, most trusted first; the first that gives an acceptable value wins.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urljoin, urlsplit

from mainmatter.html.authors import is_organisation, read_authors
from mainmatter.html.dates import read_published
from mainmatter.html.declared import Declared, Item, as_list, first_text, gather, key, types_of
from mainmatter.html.headline import read_headline, site_in_title
from mainmatter.records import Metadata

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.html.parse import Element, Tree

# How schema.org's names of types end that stand for a text.
_TEXTS = ("Article", "Posting", "Question", "Recipe", "HowTo", "Report", "LearningResource")
_TAG = re.compile(r"([A-Za-z]{2,3})((?:[-_][A-Za-z0-9]{2,8}){0,3})(?![A-Za-z0-9_-])")
_MOST_NAMES = 10  # headlines, names of the site: more of a kind are not about the page
_MONTH_FIRST = frozenset(("", "en", "en-US", "en-CA", "fil"))


def read_metadata(tree: Tree, url: str | None = None) -> Metadata:
    """What a page says about itself; `url` is where it came from. Never raises on a page's content."""
    declared = gather(tree)
    address = _address(declared, tree, url)
    site, site_keys = _site(declared, address)
    items = _telling_items(declared.items)
    title = _title(declared, items, site_keys)
    heading = _heading(declared, title)
    language = _language(declared)
    author, date = "", None
    if _is_text(declared, items, address):
        author = "; ".join(read_authors(declared, items, heading, site_keys))
        date = read_published(declared, items, heading, address, month_first=language in _MONTH_FIRST)
    return Metadata(
        title=title or None,
        author=author or None,
        date=date,
        language=language or None,
        site=site or None,
        url=address or None,
        description=_description(declared, items) or None,
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
    return read_headline(
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
    parts = _split(address)
    return not parts.netloc or bool(parts.path.strip("/") or parts.query)


def _address(declared: Declared, tree: Tree, url: str | None) -> str:
    """The canonical address, made absolute; else the one that the page came from."""
    base = url or ""
    for candidate in (declared.canonical, declared.meta("og:url")):
        try:
            absolute = urljoin(tree.base_url(base), candidate) if candidate else ""
        except ValueError:
            continue
        if _split(absolute).scheme in ("http", "https") and _split(absolute).netloc:
            return absolute
    return base


def _split(address: str) -> SplitResult:
    """An address in parts, all empty for one that is none."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _site(declared: Declared, address: str) -> tuple[str, set[str]]:
    """The site's name, and the keys of all names that it goes by."""
    host_keys = _host_keys(address)
    publishers = [first_text(item.get("publisher")) for item in declared.items[:_MOST_NAMES]]
    owners = [first_text(item) for item in declared.items if is_organisation(item)][:_MOST_NAMES]
    websites = [first_text(item) for item in declared.items if "WebSite" in types_of(item)][:_MOST_NAMES]
    names = [declared.meta("og:site_name"), *websites, declared.meta("application-name"), *publishers]
    site = next(filter(None, names), "") or site_in_title(declared.title, host_keys)
    keys = {key(name) for name in (*names, *owners, declared.meta("publisher"))}
    return site, (keys | host_keys) - {""}


def _host_keys(address: str) -> set[str]:
    """Names that an address gives the site: "example" and "example.co.uk" for www.example.co.uk."""
    labels = (_split(address).hostname or "").removeprefix("www.").split(".")
    # Only a long list could tell which labels are a registry's; those are short, so the longest is the name.
    return {key(max(labels[:-1], key=len, default="")), key(".".join(labels))}


def _language(declared: Declared) -> str:
    """The language as a BCP 47 tag in its usual writing, such as "en-GB" or "zh-Hant"."""
    items = [language for item in declared.items for language in _item_languages(item)]
    metas = [declared.meta(name) for name in ("content-language", "og:locale", "dc.language", "language")]
    for candidate in (declared.language, metas[0], *items, *metas[1:]):
        found = _TAG.match(candidate.strip())
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
