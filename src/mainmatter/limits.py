"""How large a page the library reads. The limits are here so that they apply to every caller."""

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
        size: the largest page to read, in bytes (or characters, if the page is a string).
    """

    size: int = 50 * MEGABYTE

    def check(self, page: Page) -> None:
        """Raise `PageTooLarge` if the page is over the limits."""
        self.check_size(len(page.html), page.id or page.url or "the page")

    def check_size(self, size: int, name: str) -> None:
        """Raise `PageTooLarge` if this much of a page, even if it is only a part, is already over the limits."""
        if size > self.size:
            raise PageTooLarge(
                f"{name} has more than {format_size(self.size)}; raise the limit with Limits(size=...) or --max-size"
            )


def format_size(size: int) -> str:
    """A number of bytes in a form for people."""
    return f"{size / MEGABYTE:,.1f} MB" if size >= MEGABYTE else f"{size:,} bytes"


DEFAULT_LIMITS = Limits()
