"""START HERE: the whole of mainmatter in one flow.

    bytes --decode--> str --parse--> tree --segment--> blocks --method--> scores --decide--> kept --render--> text

`read` does the first three steps (html/read.py; text/read.py for plain-text dumps), a method (methods/) the next two,
and the `Extraction` that it returns renders itself (render/).
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mainmatter.html.read import HtmlSource, read_html
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.parallel import Failure, ordered_map
from mainmatter.records import Document, Extraction, Page
from mainmatter.registry import DEFAULT_METHOD, get_method
from mainmatter.text.read import TextSource, read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mainmatter.methods.contract import Method


def clean(
    html: str | bytes | Page,
    *,
    url: str | None = None,
    method: str | Method = DEFAULT_METHOD,
    limits: Limits = DEFAULT_LIMITS,
    **parameters: Any,  # noqa: ANN401 - each method has its own
) -> Extraction:
    """Keep a page's main matter.

    Args:
        html: the page: bytes as fetched (best: the encoding is found as browsers do), text, or a `Page`, which can
            also be a plain-text dump.
        url: where the page came from, if known.
        method: which method decides; `mainmatter.method_names()` lists them.
        limits: how large a page may be.
        parameters: the method's own parameters, such as `c1=0.25` for density.

    Returns:
        What was kept, and why: `.text`, `.markdown()`, `.blocks`, `.scores`, `.reasons`, `.metadata`, ...

    Raises:
        PageTooLarge: the page is over the limits.
        UnknownName: there is no such method.
        InputError: the method has no such parameter.
    """
    page = html if isinstance(html, Page) else Page(html, url)
    chosen = get_method(method, **parameters) if isinstance(method, str) else method
    return chosen.extract(read(page, limits))


def read(page: Page, limits: Limits = DEFAULT_LIMITS) -> Document:
    """Read a page into blocks, without deciding anything.

    Raises:
        PageTooLarge: the page is over the limits.
    """
    limits.check(page)
    return read_text(page) if page.format == "text" else read_html(page)


def clean_many(
    pages: Iterable[str | bytes | Page],
    *,
    method: str = DEFAULT_METHOD,
    workers: int = 1,
    limits: Limits = DEFAULT_LIMITS,
    **parameters: Any,  # noqa: ANN401 - each method has its own
) -> Iterator[Extraction | Failure[Page]]:
    """Keep the main matter of many pages, in order; nothing is lost, not even a page that cannot be cleaned.

    Args:
        pages: as for `clean`; read as needed, so it may be endless.
        method: the name of the method that decides.
        workers: how many processes; 1 works in this one.
        limits: how large a page may be.
        parameters: the method's own parameters.

    Yields:
        For each page an `Extraction`, or a `Failure` with the page and what went wrong.

    Raises:
        UnknownName: there is no such method.
    """
    chosen = get_method(method, **parameters)
    all_pages = (page if isinstance(page, Page) else Page(page) for page in pages)
    if workers <= 1:
        return ordered_map(partial(_clean_page, method=chosen, limits=limits), all_pages)
    return _clean_in_processes(all_pages, chosen, workers, limits)


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
        yield result if isinstance(result, Failure) else _with_page(page, result)


def _decide_page(page: Page, method: Method, limits: Limits) -> Extraction:
    """An extraction without its page."""
    extraction = _clean_page(page, method, limits)
    document = extraction.document
    return replace(extraction, document=Document(_NO_PAGE, document.columns, document.encoding, TextSource(_NO_PAGE)))


def _with_page(page: Page, extraction: Extraction) -> Extraction:
    columns, encoding = extraction.document.columns, extraction.document.encoding
    source = TextSource(page) if page.format == "text" else HtmlSource(page)
    return replace(extraction, document=Document(page, columns, encoding, source))


_NO_PAGE = Page("")
