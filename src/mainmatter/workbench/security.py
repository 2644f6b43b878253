"""Which requests are allowed: their Host, Origin and token; and the headers of each answer.

- Host: another site can point its own name at our address (DNS rebinding), and would then share "our" origin. So the
  Host must be a name of ours.
- Origin: a page of another site can send us requests, though it cannot read the answers. So requests that change
  something must come from our own pages, or from no page at all. The same holds for API calls that another page embeds
  as a picture or script, which may cause much work. Links to us are allowed.
- Token: required if other machines can reach the server.
"""

from __future__ import annotations

import hmac
import re
import socket
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response

from mainmatter.workbench.answers import bug_answer, error_answer
from mainmatter.workbench.settings import is_loopback

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from mainmatter.workbench.settings import Settings

COOKIE = "mainmatter_token"
OPEN_TO_ALL = frozenset(("/api/health",))  # says nothing but that the server is there
_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
_YEAR = 31_536_000  # seconds
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^:@/?#\[\]\s]+)(?::\d{1,5})?")

PAGE_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; frame-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


class Security:
    """Middleware that lets allowed requests through, and puts our headers on all answers."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        self._names = {name.lower().rstrip(".") for name in settings.names}
        if not settings.is_local:
            self._names |= {socket.gethostname().lower(), settings.host.lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        else:
            refusal = self._refusal(scope)
            await self._answer(self._app if refusal is None else refusal, scope, receive, send)

    @staticmethod
    async def _answer(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with our headers, also after an unexpected error."""
        has_begun = False

        async def send_with_headers(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await app(scope, receive, send_with_headers)
        except Exception as error:
            answer = bug_answer(scope["path"], error)
            if has_begun:
                raise
            await answer(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_ours(host):
            return error_answer(
                421, f"this server is not called {host[:100]!r}", "start it with --name NAME if that is its name"
            )
        if _is_foreign(headers, host) and (scope["method"] not in _SAFE or _is_part_of_a_page(scope, headers)):
            return error_answer(
                403, "requests from pages of other sites are refused", "use the workbench, or a program"
            )
        if self._settings.token is None or scope["path"] in OPEN_TO_ALL:
            return None
        return self._token_refusal(scope, headers, self._settings.token)

    def _is_ours(self, host: str) -> bool:
        """Whether a Host header names us. Addresses are safe without a list of names; the port may be a tunnel's."""
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = match["name"].lower().rstrip(".")
        if is_loopback(name) or name in self._names:
            return True
        return not self._settings.is_local and _is_address(name)

    def _token_refusal(self, scope: Scope, headers: Headers, token: str) -> Response | None:
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        shown = dict(query).get("token")
        if shown is not None and scope["method"] == "GET" and not scope["path"].startswith("/api/"):
            if _is_same(shown, token):
                return _remember(scope["path"], query, token)
        elif any(_is_same(each, token) for each in _tokens(headers)):
            return None
        return error_answer(
            401,
            "this server needs its token",
            "open the address that it printed at startup, or send the header Authorization: Bearer TOKEN",
            {"WWW-Authenticate": 'Bearer realm="mainmatter"'},
        )


def _is_foreign(headers: Headers, host: str) -> bool:
    """Whether a page of another site sent this. Programs other than browsers send neither header."""
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return True
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2].lower() != host.lower()


def _is_part_of_a_page(scope: Scope, headers: Headers) -> bool:
    """Whether a browser calls our API for a part of a page, such as a picture, rather than to navigate there."""
    is_asked = scope["path"].startswith("/api/") and scope["method"] in ("GET", "HEAD")
    return is_asked and headers.get("sec-fetch-dest") != "document"


def _tokens(headers: Headers) -> list[str]:
    """The tokens in a request."""
    scheme, _, shown = headers.get("authorization", "").partition(" ")
    tokens = [shown.strip()] if scheme.lower() == "bearer" else []
    # As browsers read them: other servers on this host share its cookies, and may have set some that are not proper.
    cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE)
    return tokens if cookie is None else [*tokens, cookie]


def _is_same(shown: str, token: str) -> bool:
    """Whether two texts are equal, compared in constant time."""
    return hmac.compare_digest(shown.encode("utf-8", "surrogateescape"), token.encode())


def _remember(path: str, query: list[tuple[str, str]], token: str) -> Response:
    """Give the browser the token as a cookie, and remove it from the address."""
    rest = urlencode([(name, value) for name, value in query if name != "token"])
    place = "/" + path.lstrip("/\\")  # never //elsewhere
    answer = RedirectResponse(f"{place}?{rest}" if rest else place, 303)
    answer.set_cookie(COOKIE, token, max_age=_YEAR, httponly=True, samesite="strict", path="/")
    return answer


def _is_address(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
