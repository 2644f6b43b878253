"""START HERE: the whole of mainmatter in one flow.

    bytes --decode--> str --parse--> tree --segment--> blocks --method--> scores --decide--> kept --render--> text

`read` does the first three steps (html/read.py; text/read.py for plain-text dumps), a method (main/; papers/) the next
two, and the `Extraction` that it returns renders itself (render/).
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from functools import partial
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from mainmatter.errors import InputError
from mainmatter.html.read import HtmlDocument, read_html
from mainmatter.isolation.parallel import Failure, ordered_map
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.method import attach, detach
from mainmatter.models.store import last_change
from mainmatter.records import Document, Extraction, Page
from mainmatter.registry import DEFAULT_METHOD, METHODS, get_method, split_name
from mainmatter.text.read import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mainmatter.method import Method


def clean(
    html: str | bytes | Page,
    *,
    url: str | None = None,
    method: str | PathLike[str] | Method = DEFAULT_METHOD,
    limits: Limits = DEFAULT_LIMITS,
    **parameters: Any,  # noqa: ANN401 - each method has its own
) -> Extraction:
    """Keep a page's main matter.

    Args:
        html: the page: bytes as fetched (best: the encoding is found as browsers do), text, or a `Page`, which can
            also be a plain-text dump.
        url: where the page came from, if known; a `Page` that names its own may be given no other.
        method: which method decides: a name, of which `mainmatter.method_names()` lists all, the folder of a trained
            model, or a method itself.
        limits: how large a page may be.
        parameters: the parameters of the method that is named, such as `c1=0.25` for density.

    Returns:
        What was kept, and why: `.text`, `.markdown()`, `.blocks`, `.scores`, `.reasons`, `.metadata`, ...

    Raises:
        PageTooLarge: the page is over the limits.
        NotAPage: it is neither HTML nor text: a picture, an archive, random bytes.
        UnknownName: there is no such method.
        InputError: the method has no such parameter or, as an object, its parameters already; or the page came from
            another URL.
    """
    page = _from(url, html) if isinstance(html, Page) else Page(html, url)
    return _clean_page(page, _choose(method, parameters), limits)


def read(page: Page, limits: Limits = DEFAULT_LIMITS) -> Document:
    """Read a page into blocks, without deciding anything.

    Raises:
        PageTooLarge: the page is over the limits.
        NotAPage: it is neither HTML nor text: a picture, an archive, random bytes.
    """
    limits.check(page)
    return read_text(page) if page.format == "text" else read_html(page)


def clean_many(
    pages: Iterable[str | bytes | Page],
    *,
    method: str | PathLike[str] | Method = DEFAULT_METHOD,
    workers: int = 1,
    limits: Limits = DEFAULT_LIMITS,
    **parameters: Any,  # noqa: ANN401 - each method has its own
) -> Iterator[Extraction | Failure[Page]]:
    """Keep the main matter of many pages, in order; nothing is lost, not even a page that cannot be cleaned.

    Args:
        pages: as for `clean`; read as needed, so it may be endless.
        method: as for `clean`; one of your own must be importable if there is more than one worker.
        workers: how many processes; 1 works in this one.
        limits: how large a page may be.
        parameters: as for `clean`.

    Yields:
        For each page an `Extraction`, or a `Failure` with the page and what went wrong.

    Raises:
        UnknownName: there is no such method.
        InputError: the method has no such parameter or, as an object, its parameters already.
    """
    chosen = _choose(method, parameters)
    all_pages = (page if isinstance(page, Page) else Page(page) for page in pages)
    if workers <= 1:
        return ordered_map(partial(_clean_page, method=chosen, limits=limits), all_pages)
    return _clean_in_processes(all_pages, chosen, workers, limits)


def _from(url: str | None, page: Page) -> Page:
    """The page with the URL that it is said to come from."""
    if url is None or url == page.url:
        return page
    if page.url is not None:
        raise InputError(f"the page comes from {page.url}, not from {url}")
    return replace(page, url=url)


def _choose(method: str | PathLike[str] | Method, parameters: dict[str, Any]) -> Method:
    """The method itself, where its name may have been given.

    One that has learned is made once: reading what it has learned takes some time.
    """
    if not isinstance(method, str | PathLike):
        if parameters:
            raise InputError(
                f"method {method.name!r} is an object already: make it with {', '.join(parameters)} instead"
            )
        return method
    name = fspath(method)
    base = split_name(name)[0]
    changed = None if base in METHODS else last_change(base)
    if base not in METHODS and changed is None:
        return get_method(name, **parameters)
    # Values may be equal, as 1 and True are, and yet one of them be wrong.
    key = tuple((parameter, type(value).__name__, repr(value)) for parameter, value in sorted(parameters.items()))
    made = _made.get((name, changed, key))
    if made is None:
        made = get_method(name, **parameters)
        if len(_made) >= _MOST_MADE:
            _made.clear()
        _made[name, changed, key] = made
    return made


_made: dict[tuple[object, ...], Method] = {}
_MOST_MADE = 32


def _clean_page(page: Page, method: Method, limits: Limits) -> Extraction:
    return method.extract(read(page, limits))


def _clean_in_processes(
    pages: Iterable[Page], method: Method, workers: int, limits: Limits
) -> Iterator[Extraction | Failure[Page]]:
    """The pages stay here while their decisions come back: they are most of what would have to travel."""
    waiting: deque[Page] = deque()

    def remember() -> Iterator[Page]:
        for page in pages:
            waiting.append(page)
            yield page

    for result in ordered_map(partial(_decide_page, method=method, limits=limits), remember(), workers):
        page = waiting.popleft()
        yield result if isinstance(result, Failure) else _with_page(page, result, method)


def _decide_page(page: Page, method: Method, limits: Limits) -> Extraction:
    """An extraction without its page."""
    extraction = _clean_page(page, method, limits)
    document = extraction.document
    return replace(
        extraction,
        document=Document(_NO_PAGE, document.columns, document.encoding),
        reasons=detach(extraction.reasons),
    )


def _with_page(page: Page, extraction: Extraction, method: Method) -> Extraction:
    read_as = Document if page.format == "text" else HtmlDocument
    document = read_as(page, extraction.document.columns, extraction.document.encoding)
    return replace(
        extraction,
        document=document,
        reasons=attach(extraction.reasons, method, document),
    )


_NO_PAGE = Page("")
