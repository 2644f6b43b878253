"""How much of a page the library is willing to read. The limits belong here, so that every caller has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mainmatter.errors import PageTooLarge

if TYPE_CHECKING:
    from mainmatter.records import Page

MEGABYTE = 1_000_000

# Of what cleans pages in processes of their own.
DEFAULT_SECONDS = 60.0  # of processor time for a page
DEFAULT_MEMORY = 2000 * MEGABYTE  # bytes for a page
WALL_FACTOR = 10  # a page may be that much longer under way than its processor time: computers are busy


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a page may be. Time needs no limit: every step takes time linear in the size of the page.

    Attributes:
        size: the largest page to read, in bytes (or characters, where the page is text).
    """

    size: int = 50 * MEGABYTE

    def check(self, page: Page) -> None:
        """Raise `PageTooLarge` if the page is over the limits."""
        self.check_size(len(page.html), page.id or page.url or "the page")

    def check_size(self, size: int, name: str) -> None:
        """Raise `PageTooLarge` if that much of a page, which may not be all of it, is over the limits already."""
        if size > self.size:
            raise PageTooLarge(
                f"{name} has more than {format_size(self.size)}; raise the limit with Limits(size=...) or --max-size"
            )


def format_size(size: int) -> str:
    """A number of bytes for people."""
    return f"{size / MEGABYTE:,.1f} MB" if size >= MEGABYTE else f"{size:,} bytes"


DEFAULT_LIMITS = Limits()
