"""Pages from elsewhere, shown in a frame in which no script runs and nothing is loaded unless the user asks for it.

html/safe.py takes out what could run or act, as our parser reads the page; this policy holds also where a browser reads
it differently. Neither keeps a link from leading elsewhere within the frame. Our own page can access the frame
(`allow-same-origin`) to tint its blocks, but the frame has no scripts that could access our page.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from mainmatter.html.safe import with_loads
from mainmatter.limits import MEGABYTE

if TYPE_CHECKING:
    from mainmatter.records import Page

MOST_BYTES = 64 * MEGABYTE  # of all pages together that the server remembers

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'{remote}; img-src data:{remote}; font-src data:{remote}; "
    "sandbox allow-same-origin; frame-ancestors 'self'; form-action 'none'; base-uri http: https:"
)
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
}

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Framed:
    """A page that can be shown.

    Attributes:
        html: the marked page.
        page: the page that it was made from, to ask another method about it; None if that is not needed.
    """

    html: str
    page: Page | None = None

    @property
    def size(self) -> int:
        """Roughly how much memory it takes."""
        return len(self.html) + (0 if self.page is None else len(self.page.html))


class Frames:
    """The pages that were shown last, each under a key that nobody can guess.

    The least recently shown are dropped; clients that ask for one of those have to send it again.

    Args:
        most_bytes: of all pages together; a larger one is kept alone.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._framed: OrderedDict[str, Framed] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._framed)

    def put(self, html: str, page: Page | None = None) -> str:
        """Store a marked page, and the page that it was made from; returns its key: /frame/KEY shows it."""
        framed = Framed(html, page)
        key = secrets.token_urlsafe(16)
        with self._lock:
            self._framed[key] = framed
            self._bytes += framed.size
            while self._bytes > self._most_bytes and len(self._framed) > 1:
                _, oldest = self._framed.popitem(last=False)
                self._bytes -= oldest.size
        return key

    def get(self, key: str) -> Framed | None:
        """The page of a key; None if there is none, or no longer."""
        with self._lock:
            framed = self._framed.get(key)
            if framed is not None:
                self._framed.move_to_end(key)
            return framed


def frame_response(html: str, *, remote: bool = False) -> Response:
    """A marked page, to be shown in a frame of ours and nowhere else.

    Args:
        html: the marked page.
        remote: let it load pictures, styles and fonts from the web; their servers can then see that someone views the
            page.
    """
    policy = _POLICY.format(remote=" https: http:" if remote else "")
    content = (with_loads(html) if remote else html).encode("utf-8", "replace")
    return Response(content, 200, {**_HEADERS, "Content-Security-Policy": policy}, "text/html; charset=utf-8")


@router.get("/frame/{key}", include_in_schema=False)
async def show_frame(request: Request, key: str, remote: bool = False) -> Response:
    """The page of a key."""
    framed: Framed | None = request.app.state.workbench.frames.get(key)
    if framed is None:
        return JSONResponse({"error": "the server no longer has this page", "hint": "Open it again."}, 404)
    return frame_response(framed.html, remote=remote)
