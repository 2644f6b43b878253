"""The page of a request, and the answer that a worker makes of it: shared by all features that read a page."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import Response

from mainmatter.errors import InputError
from mainmatter.inputs.fetch import fetch
from mainmatter.inputs.paths import page_bytes
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.records import Page

if TYPE_CHECKING:
    from mainmatter.workbench.settings import Settings

# Of collections of pages.
_READER = "the import of Annotate, `mainmatter serve --corpus` or `mainmatter corpus`"


@dataclass(frozen=True, slots=True)
class PageSource:
    """The source of a page: the page itself, or an address to fetch it from.

    Attributes:
        page: the page.
        address: its URL, if it is to be fetched.
        limits: how large it may be.
        public_only: fetch it from public addresses only.
        deadline: how many seconds fetching it may take.
    """

    page: Page | None = None
    address: str = ""
    limits: Limits = DEFAULT_LIMITS
    public_only: bool = True
    deadline: float = 10.0

    def get(self) -> Page:
        """The page. Done in a worker.

        Raises:
            NotAPage: it is not a page.
            FetchError: it cannot be fetched.
            PageTooLarge: it is over the limits.
        """
        if self.page is None:
            return fetch(self.address, limits=self.limits, deadline=self.deadline, public_only=self.public_only)
        if not isinstance(self.page.html, bytes):
            return self.page
        is_text = self.page.format == "text"
        data = page_bytes(self.page.html, "this", self.limits, is_text=is_text, reader=_READER)
        self.limits.check_size(len(data), "the page")
        return replace(self.page, html=data)


def to_source(page: Page | None, url: str | None, settings: Settings) -> PageSource:
    """The source of a page, for the worker that gets it.

    Args:
        page: the page, if the client sent it.
        url: where it came from or, without a page, where to fetch it.
        settings: what the server may do.

    Raises:
        InputError: there is neither, or this server does not fetch.
    """
    limits = settings.limits
    if page is not None:
        limits.check(page)
        return PageSource(Page(page.html, url, None, page.charset, page.format), limits=limits)
    if not url:
        raise InputError("there is no page; send html, text or url")
    if not settings.fetch:
        raise InputError("this server does not fetch pages; send the page's HTML instead")
    return PageSource(None, url, limits, not settings.allow_private, settings.seconds / 2)


class Payload(NamedTuple):
    """The body of an answer, as the bytes that a worker made, and its media type."""

    body: bytes
    media_type: str = "application/json"

    def to_response(self, headers: dict[str, str] | None = None) -> Response:
        """The answer itself."""
        return Response(self.body, media_type=self.media_type, headers=headers)


def to_json(content: object) -> Payload:
    """Anything that JSON can hold, as an answer; NaN becomes null."""
    try:
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(content), ensure_ascii=False, separators=(",", ":"))
    return Payload(text.encode("utf-8", "replace"))


def _finite(content: object) -> object:
    if isinstance(content, dict):
        return {name: _finite(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    if isinstance(content, float) and content - content != 0:  # neither infinity nor NaN less itself is zero
        return None
    return content
