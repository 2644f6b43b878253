"""Pages as documents for retrieval: what the loaders for LangChain and LlamaIndex share.

A document is a text with metadata. These are texts and numbers only, since many stores of vectors take nothing else:
what a page does not say is left out, headings are joined by " > ", and the XPaths of a chunk are one that finds all.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from mainmatter.api import Cleaner, CleanOptions
from mainmatter.corpus.adapters.page import FACTS, NOTHING_KEPT
from mainmatter.errors import InputError, MainmatterError
from mainmatter.inputs.paths import Input, look_through
from mainmatter.records import Page
from mainmatter.registry import get_format
from mainmatter.render.chunks import check_chunking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Unpack

    from mainmatter.records import Extraction
    from mainmatter.render.chunks import Chunk

Source = str | PathLike[str] | Page
Found = TypeVar("Found")
_logger = logging.getLogger(__name__)


class DocumentOptions(CleanOptions, total=False):
    """The keywords of the loaders, besides those of `mainmatter.clean`.

    Attributes:
        format: the format of whole pages, "markdown" by default; chunks are plain text.
        chunks: a document for each chunk of at most so many tokens; by default one for each page.
        overlap: at most so many tokens of a chunk are repeated from the one before; 0 by default.
        tokenizer: what counts tokens; see `Extraction.chunks`.
        errors: what to do about a page that cannot be had: "raise" (default), or "skip" it with a warning in the log.
        public_only: fetch URLs from public addresses only; True by default. Set it to False for pages of your own
            machine or network.
    """

    format: str
    chunks: int | None
    overlap: int
    tokenizer: Any
    errors: Literal["raise", "skip"]
    public_only: bool


class PageDocument(NamedTuple):
    """A text with metadata, and an id: the source, with the number of the chunk if it is one."""

    id: str
    text: str
    metadata: dict[str, Any]


class PageDocuments:
    """Makes documents of pages.

    Args:
        options: see `DocumentOptions`.

    Raises:
        UnknownName: there is no such method or format.
        InputError: an argument makes no sense.
    """

    def __init__(self, **options: Unpack[DocumentOptions]) -> None:
        given: dict[str, Any] = dict(options)
        self._format = given.pop("format", "markdown")
        self._errors = given.pop("errors", "raise")
        self._public_only = given.pop("public_only", True)
        self._max_tokens = given.pop("chunks", None)
        self._chunking = {name: given.pop(name) for name in ("overlap", "tokenizer") if name in given}
        self._cleaner = Cleaner(**given)
        if self._errors not in ("raise", "skip"):
            raise InputError(f"errors is {self._errors!r}; it must be 'raise' or 'skip'")
        if self._max_tokens is None and self._chunking:
            verb = "needs" if len(self._chunking) == 1 else "need"
            raise InputError(f"{' and '.join(self._chunking)} {verb} chunks; give chunks, too")
        get_format(self._format)
        if self._max_tokens is not None:
            check_chunking(self._max_tokens, **self._chunking)

    def of_sources(self, sources: Source | Iterable[Source]) -> Iterator[PageDocument]:
        """The documents of URLs, files, folders of pages, and pages.

        Raises:
            MainmatterError: a page cannot be had or cleaned, unless errors are skipped.
        """
        for source in [sources] if isinstance(sources, str | PathLike | Page) else sources:
            inputs = [source] if isinstance(source, Page) else self._try(self._find, fspath(source))
            for one in inputs or ():
                yield from self._try(self.of_page, one) or ()

    def of_page(self, page: Page | Input) -> list[PageDocument]:
        """The documents of one page; none if nothing was kept, which the log tells.

        Raises:
            MainmatterError: it cannot be had or cleaned.
        """
        extraction = self._cleaner.clean(page.read(self._cleaner.limits) if isinstance(page, Input) else page)
        source = extraction.document.page.url or extraction.document.page.id or ""
        about = _about(extraction, source)
        if not len(extraction):
            _logger.warning("%s: %s", source or "a page", NOTHING_KEPT)
            return []
        if self._max_tokens is None:
            return [PageDocument(source, extraction.render(self._format), about)]
        return [
            PageDocument(f"{source}#{number}", chunk.text, about | _place(number, chunk))
            for number, chunk in enumerate(extraction.chunks(self._max_tokens, **self._chunking))
        ]

    def _find(self, name: str) -> list[Input]:
        looked_through = look_through([name])
        for link in looked_through.links:
            _logger.warning("skipped: %s: links to files in a folder are not followed", link)
        return [replace(one, public_only=self._public_only) for one in looked_through.inputs]

    def _try(self, function: Callable[[Any], Found], argument: object) -> Found | None:
        try:
            return function(argument)
        except MainmatterError as error:
            if self._errors == "raise":
                raise
            _logger.warning("skipped: %s", error)
            return None


def _about(extraction: Extraction, source: str) -> dict[str, Any]:
    """What is known about a page, by the names in `FACTS`."""
    facts = {name: getattr(extraction.metadata, name) for name in FACTS[:-2]}
    confidence = None if extraction.confidence is None else round(float(extraction.confidence), 4)
    facts |= {"source": source or None, "page_type": extraction.page_type, "confidence": confidence}
    return {name: value for name, value in facts.items() if value is not None}


def _place(number: int, chunk: Chunk) -> dict[str, Any]:
    place = {
        "chunk": number,
        "start": chunk.start,
        "end": chunk.end,
        "headings": " > ".join(chunk.headings),
        "blocks": ",".join(map(str, chunk.blocks)),
        "xpath": " | ".join(chunk.xpaths),
        "tokens": chunk.tokens,
    }
    return {name: value for name, value in place.items() if value != ""}
