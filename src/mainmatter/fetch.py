"""A URL to a page. The only place where mainmatter uses the network, and only when a user names a URL."""

from __future__ import annotations

from email.message import Message
from importlib.metadata import version

from mainmatter.errors import FetchError
from mainmatter.limits import DEFAULT_LIMITS, MEGABYTE, Limits
from mainmatter.records import Page

TIMEOUT = 20.0  # seconds, for connecting and for each read
REDIRECTS = 5
_CHUNK = 65_536
_TEXT_TYPES = ("text/plain", "text/markdown")
_HTML_TYPES = ("text/html", "application/xhtml+xml", "application/xml", "text/xml")


def is_url(text: str) -> bool:
    """Whether a text is the address of something on the web."""
    return text.startswith(("http://", "https://"))


def fetch(url: str, *, limits: Limits = DEFAULT_LIMITS, timeout: float = TIMEOUT) -> Page:
    """Fetch a page from the web.

    Args:
        url: an address that begins with http:// or https://.
        limits: how large the page may be; reading stops there.
        timeout: how many seconds to wait for the server, at each step.

    Raises:
        FetchError: it could not be fetched, is too large, or is not a page.
    """
    import urllib3  # noqa: PLC0415 - most users clean files

    http = urllib3.PoolManager(
        headers={"User-Agent": f"mainmatter/{version('mainmatter')}", "Accept": "text/html, */*"}
    )
    try:
        response = http.request(
            "GET",
            url,
            preload_content=False,
            timeout=timeout,
            retries=urllib3.Retry(total=REDIRECTS, connect=1, read=0, redirect=REDIRECTS),
        )
        with response:
            if response.status >= 400:
                raise FetchError(f"{url}: the server answered {response.status} {response.reason or ''}".rstrip())
            media_type, charset = _content_type(response.headers.get("Content-Type", ""))
            if media_type not in (*_HTML_TYPES, *_TEXT_TYPES, ""):
                raise FetchError(f"{url}: is {media_type}, not a web page")
            body = _read(response, url, limits)
    except urllib3.exceptions.HTTPError as error:
        raise FetchError(f"{url}: could not be fetched: {_reason(error)}") from error
    is_text = media_type in _TEXT_TYPES
    return Page(body, response.url or url, url, charset, "text" if is_text else "html")


def _read(response: urllib3.BaseHTTPResponse, url: str, limits: Limits) -> bytes:  # type: ignore[name-defined] # noqa: F821
    body = bytearray()
    for chunk in response.stream(_CHUNK, decode_content=True):
        body += chunk
        if len(body) > limits.size:
            raise FetchError(f"{url}: has more than {limits.size / MEGABYTE:.1f} MB; raise the limit with --max-size")
    return bytes(body)


def _content_type(header: str) -> tuple[str, str | None]:
    """The media type and the charset of a Content-Type header."""
    if not header.strip():
        return "", None
    message = Message()
    message["Content-Type"] = header
    return message.get_content_type(), message.get_content_charset()


def _reason(error: Exception) -> str:
    """The innermost reason of an error of the HTTP library, without its object addresses."""
    reason = getattr(error, "reason", None)
    text = str(reason if isinstance(reason, Exception) else error)
    return text.rpartition(">: ")[2] or text
