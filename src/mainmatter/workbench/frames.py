"""Pages from elsewhere, shown in a frame: no script runs in it, nothing is loaded, and it can go nowhere.

The marked page (html/safe.py) has lost all that acts already; the policy here holds even if it had not. The frame may
be looked into by our own page (`allow-same-origin`), which tints its blocks, but it has no scripts that could look out.
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
        page: the page that it was made of, so that another method can be asked about it; None if nobody will.
    """

    html: str
    page: Page | None = None

    @property
    def size(self) -> int:
        """How much memory it takes, about."""
        return len(self.html) + (0 if self.page is None else len(self.page.html))


class Frames:
    """The pages that were looked at last, each under a key that nobody can guess.

    It forgets those that were not looked at for the longest time; whoever asks for one of them has to send it again.

    Args:
        most_bytes: of all pages together; one that is larger is remembered alone.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._framed: OrderedDict[str, Framed] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._framed)

    def put(self, html: str, page: Page | None = None) -> str:
        """Remember a marked page, and the page that it was made of; gives its key: /frame/KEY shows it."""
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
        """The page of a key; None where there is none, or none any more."""
        with self._lock:
            framed = self._framed.get(key)
            if framed is not None:
                self._framed.move_to_end(key)
            return framed


def frame_response(html: str, *, remote: bool = False) -> Response:
    """A marked page, to be shown in a frame of ours and nowhere else.

    Args:
        html: the marked page.
        remote: let it load pictures, styles and fonts from the web, which tells their servers that somebody looks.
    """
    policy = _POLICY.format(remote=" https: http:" if remote else "")
    content = (with_loads(html) if remote else html).encode("utf-8", "replace")
    return Response(content, 200, {**_HEADERS, "Content-Security-Policy": policy}, "text/html; charset=utf-8")


@router.get("/frame/{key}", include_in_schema=False)
async def show_frame(request: Request, key: str, remote: bool = False) -> Response:
    """The page of a key."""
    framed: Framed | None = request.app.state.workbench.frames.get(key)
    if framed is None:
        return JSONResponse({"error": "this page is no longer remembered", "hint": "Open it once more."}, 404)
    return frame_response(framed.html, remote=remote)
