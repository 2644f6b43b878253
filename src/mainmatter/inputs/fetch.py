"""A URL to a page. The only place where mainmatter uses the network, and only when a user names a URL."""

from __future__ import annotations

import re
import time
from email.message import Message
from importlib.metadata import version
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from mainmatter.errors import FetchError
from mainmatter.inputs.addresses import AddressRefused, check_url, public_pools
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.records import Page

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

TIMEOUT = 20.0  # seconds, for connecting and for each read
DEADLINE = 120.0  # seconds, for the whole body: a server may send a byte at a time
REDIRECTS = 5
_CHUNK = 65_536
_TEXT_TYPES = ("text/plain", "text/markdown")
_HTML_TYPES = ("text/html", "application/xhtml+xml", "application/xml", "text/xml")
_LONGEST_REASON = 300  # characters; some begin what a server sent that is none of the web
_CONNECTION = re.compile(r"^<?\w+\(host=[^)]*\)[^:]*: ")  # how the HTTP library's messages begin


def is_url(text: str) -> bool:
    """Whether a text is the address of something on the web."""
    return text.lower().startswith(("http://", "https://"))


def fetch(url: str, *, limits: Limits = DEFAULT_LIMITS, timeout: float = TIMEOUT, public_only: bool = False) -> Page:
    """Fetch a page from the web.

    Args:
        url: an address that begins with http:// or https://.
        limits: how large the page may be; reading stops there.
        timeout: how many seconds to wait for the server, at each step.
        public_only: whoever named the URL is not trusted: go to public addresses only, also after redirects, and to
            no other service than web servers (inputs/addresses.py).

    Raises:
        AddressRefused: with `public_only`, the URL leads elsewhere.
        FetchError: it could not be fetched, or is not a page.
        PageTooLarge: it is over the limits.
    """
    import urllib3  # noqa: PLC0415 - most users clean files

    headers = {"User-Agent": f"mainmatter/{version('mainmatter')}", "Accept": "text/html, */*"}
    # A server that says "try again in an hour" is not waited for.
    retries = urllib3.Retry(total=1, connect=1, read=0, respect_retry_after_header=False)
    address = url
    try:
        with urllib3.PoolManager(headers=headers, retries=retries, timeout=timeout) as http:
            if public_only:
                http.pool_classes_by_scheme = public_pools()
            for _ in range(1 + REDIRECTS):
                if public_only:
                    check_url(address)
                with http.request("GET", address, preload_content=False, redirect=False) as response:
                    location = response.get_redirect_location()
                    if not location:
                        return _to_page(response, address, url, limits)
                    address = urljoin(address, location)
    except AddressRefused as error:
        raise AddressRefused(f"{url}: is not fetched: {str(error).removeprefix(f'{url}: ')}") from error
    except (urllib3.exceptions.HTTPError, ValueError) as error:  # ValueError: a redirect to no address at all
        raise FetchError(f"{url}: could not be fetched: {_reason(error)}") from error
    raise FetchError(f"{url}: could not be fetched: more than {REDIRECTS} redirects")


def _to_page(response: BaseHTTPResponse, address: str, url: str, limits: Limits) -> Page:
    """Read what an address gave, which may not be the URL that was asked for."""
    if not 200 <= response.status < 300:
        raise FetchError(f"{url}: the server answered {response.status} {response.reason or ''}".rstrip())
    media_type, charset = _content_type(response.headers.get("Content-Type", ""))
    if media_type not in (*_HTML_TYPES, *_TEXT_TYPES, ""):
        raise FetchError(f"{url}: is {media_type}, not a web page")
    is_text = media_type in _TEXT_TYPES
    return Page(_read(response, url, limits), address, url, charset, "text" if is_text else "html")


def _read(response: BaseHTTPResponse, url: str, limits: Limits) -> bytes:
    body = bytearray()
    end = time.monotonic() + DEADLINE
    while chunk := response.read1(_CHUNK, decode_content=True):
        body += chunk
        limits.check_size(len(body), url)
        if time.monotonic() > end:
            raise FetchError(f"{url}: could not be fetched: not complete after {DEADLINE:g} seconds")
    return bytes(body)


def _content_type(header: str) -> tuple[str, str | None]:
    """The media type and the charset of a Content-Type header."""
    if not header.strip():
        return "", None
    message = Message()
    message["Content-Type"] = header
    return message.get_content_type(), message.get_content_charset()


def _reason(error: Exception) -> str:
    """The innermost reason of an error of the HTTP library, as one line of words without its objects."""
    reason = getattr(error, "reason", None)
    innermost = reason if isinstance(reason, Exception) else error
    parts = innermost.args if len(innermost.args) > 1 else (innermost,)
    text = ": ".join(str(part).strip().removesuffix(".") for part in parts)
    words = _CONNECTION.sub("", " ".join(text.split()))[:_LONGEST_REASON]
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in words)
