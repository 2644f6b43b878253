"""What every adapter does with a page: html in, text and metadata out, and never an exception for what a page holds."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from mainmatter.api import clean
from mainmatter.errors import MissingExtra
from mainmatter.isolation.parallel import Failure, ordered_map
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.records import Page
from mainmatter.registry import DEFAULT_METHOD

if TYPE_CHECKING:
    from os import PathLike

    from mainmatter.method import Method
    from mainmatter.records import Extraction

# What is told about a page besides its text, in the order of the columns; all are text, but for the confidence.
FACTS = ("title", "author", "date", "site", "description", "language", "page_type", "confidence")
NOTHING_KEPT = "nothing was kept"
_logger = logging.getLogger(__name__)


class MissingLibrary(MissingExtra):
    """The library that an adapter is for is not installed. It is no extra of ours: you bring it."""

    def __str__(self) -> str:
        return f"this needs {self.package}, which is not installed; run: pip install {self.extra}"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A page's main matter, in the few values that travel through other people's pipelines.

    Attributes:
        text: the main matter; None if there is none.
        facts: what is known about the page, by the names in `FACTS`; None where nothing is known.
        error: why there is no text; None if there is one.
    """

    text: str | None
    facts: dict[str, Any]
    error: str | None = None

    def prefixed_facts(self, prefix: str = "page_") -> dict[str, Any]:
        """The facts under names that stand apart from those that a pipeline has of its own, such as `date`."""
        return {prefixed(name, prefix): value for name, value in self.facts.items()}


def prefixed(name: str, prefix: str = "page_") -> str:
    """The name of a fact beside names that are not ours."""
    return prefix + name.removeprefix("page_")


@dataclass(frozen=True)
class PipelineCleaner:
    """Cleans pages one at a time; can travel to other processes, where it loads its method anew.

    Args:
        method: which method decides: a name, the folder of a trained model, or a method itself.
        limits: how large a page may be.
        format: the format of the text: "text", "markdown", "html", "tei", "cleaneval" or "json".
        parameters: the method's own parameters, such as `{"dial": 0.7}`.

    Raises:
        UnknownName: there is no such method.
        InputError: the method has no such parameter.
    """

    method: str | PathLike[str] | Method = DEFAULT_METHOD
    limits: Limits = DEFAULT_LIMITS
    format: str = "text"
    parameters: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.warm_up()

    def warm_up(self) -> None:
        """Load the method, which takes some time; what is wrong with it, or with the format, is raised here."""
        self._extract(Page(b"")).render(self.format)

    def __call__(self, html: object, url: str | None = None, charset: str | None = None) -> Cleaned:
        """Clean a page.

        Args:
            html: the page: bytes as fetched (best: the encoding is found as browsers do) or text. Anything else, such
                as the None of a row that has no page, gives an error, not an exception.
            url: where it came from, if known.
            charset: the encoding that the HTTP header declared, if known.
        """
        if isinstance(html, bytearray | memoryview):
            html = bytes(html)
        if not isinstance(html, str | bytes):
            return without_text(
                "there is no page" if html is None else f"a page must be text or bytes, not {type(html).__name__}"
            )
        (result,) = ordered_map(partial(_clean, cleaner=self), [Page(html, url or None, None, charset)])
        return without_text(result.error) if isinstance(result, Failure) else result

    def text_of(self, html: object) -> str | None:
        """The text alone, for libraries that have no place for an error: that goes to the log."""
        cleaned = self(html)
        if cleaned.error not in (None, NOTHING_KEPT):
            _logger.warning("a page has no text: %s", cleaned.error)
        return cleaned.text

    def _extract(self, page: Page) -> Extraction:
        return clean(page, method=self.method, limits=self.limits, parameters=self.parameters)


def _clean(page: Page, cleaner: PipelineCleaner) -> Cleaned:
    extraction = cleaner._extract(page)
    metadata = extraction.metadata
    facts = {name: getattr(metadata, name) for name in FACTS[:-2]}
    facts["page_type"] = extraction.page_type
    facts["confidence"] = None if extraction.confidence is None else round(float(extraction.confidence), 4)
    if not len(extraction):
        return Cleaned(None, facts, NOTHING_KEPT)
    return Cleaned(extraction.render(cleaner.format), facts)


def without_text(error: str) -> Cleaned:
    """What comes of a page that could not be cleaned."""
    return Cleaned(None, dict.fromkeys(FACTS), error)
