"""HTML put together from parts; whatever is not markup already is escaped, so nothing of a page can become markup."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

_VOID = frozenset(("br", "col", "hr", "link", "meta"))
# Control characters, halves of characters, and those that change the direction of what follows.
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
_SAFE_URL = re.compile(r"https?://[^\s<>\"'`\\]{1,2000}", re.IGNORECASE)
_LONGEST_URL = 300


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def escaped(text: str) -> Markup:
    """A text as HTML: nothing in it is markup, and nothing in it can disturb the text around it."""
    return Markup(html.escape(_UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)))


def join(*parts: object) -> Markup:
    """Parts one after another: markup as it is, None and False as nothing, lists part by part, all else escaped."""
    return Markup("".join(_flat(parts)))


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """An element.

    Args:
        name: of the element.
        children: what is in it, as `join` takes it.
        attributes: by name, where `_` at the end is dropped and others become `-`; None and False are left out, and
            True stands for one without a value.
    """
    head = name
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        title = key.rstrip("_").replace("_", "-")
        head += f" {title}" if value is True else f' {title}="{escaped(str(value))}"'
    return Markup(f"<{head}>" if name in _VOID else f"<{head}>{join(*children)}</{name}>")


def hidden(text: str) -> Markup:
    """A text for those who listen and do not look."""
    return tag("span", text, class_="unseen")


def address(url: str | None) -> Markup:
    """A URL as text, shortened; one of the web is a link too, and no other is."""
    if not url:
        return Markup("")
    shown = shorten(url, _LONGEST_URL)
    if _SAFE_URL.fullmatch(url):
        return tag("a", shown, href=url, rel="noreferrer noopener nofollow", class_="url")
    return tag("span", shown, class_="url")


def shorten(text: str, characters: int) -> str:
    """A text, or its beginning with dots where it is longer."""
    return text if len(text) <= characters else text[: characters - 1].rstrip() + "…"


def _flat(parts: Iterable[object]) -> Iterable[str]:
    for part in parts:
        if part is None or part is False:
            continue
        if isinstance(part, Markup):
            yield part
        elif isinstance(part, Iterable) and not isinstance(part, str | bytes):
            yield from _flat(part)
        else:
            yield escaped(str(part))
