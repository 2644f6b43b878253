"""Pages, whole, and the small languages in them: dates, headers, addresses, JSON-LD, formulas."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import mainmatter
from fuzz.target import SEEDS, Target, dictionary
from mainmatter.html.dates import read_day, read_day_in_path, read_moment
from mainmatter.html.declared import host_keys, main_items, read_json, tidy, types_of
from mainmatter.html.formulas import split_formulas
from mainmatter.html.metadata import people
from mainmatter.html.parse import decode
from mainmatter.html.robots import noindex_in_header, noindex_in_html
from mainmatter.html.scripted import as_markup, is_prose
from mainmatter.html.sniff import begins_as_json, has_controls, looks_like_html, readable_share, what_else
from mainmatter.inputs.fetch import check_url, is_url, why_not_public
from mainmatter.inputs.paths import names_url
from mainmatter.inputs.sites import site_of_url
from mainmatter.method import parse_parameters
from mainmatter.records import Page
from mainmatter.registry import FORMATS, METHODS
from mainmatter.text.read import segment_text
from mainmatter.text.tokens import marked_tokens, tokens

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_METHODS = sorted(METHODS)
_CHARSETS = [None, "utf-8", "utf-16le", "shift_jis", "windows-1252", "iso-2022-jp", "gb18030", "no-such-charset"]


def clean_page(data: bytes) -> None:
    """Clean a page in every format: two bytes choose the method, the charset and how it is given, the rest is it."""
    choice, data = data[:2].ljust(2, b"\0"), data[2:]
    with suppress(UnicodeDecodeError):  # these bytes are no such text
        page = Page(
            data if choice[0] & 1 else data.decode("utf-8", "surrogatepass" if choice[0] & 2 else "replace"),
            "https://e.example/" if choice[0] & 4 else None,
            charset=_CHARSETS[choice[1] % len(_CHARSETS)],
            format="text" if choice[0] & 8 else "html",
        )
        found = mainmatter.clean(page, method=_METHODS[choice[1] // 16 % len(_METHODS)])
        outputs = {name: found.render(name) for name in FORMATS}
        json.loads(outputs["json"])
        ET.fromstring(outputs["tei"].encode())
        if "<script" in outputs["html"].lower():
            raise AssertionError("a script survived")


def pages(folder: Path) -> Target:
    """Whole pages."""
    seeds = [file.read_bytes() for file in sorted(SEEDS.glob("page-*.html"))]
    choices = [bytes([n * 37 % 256, n * 53 % 256]) for n in range(64)]
    return Target(clean_page, [choice + seeds[n % len(seeds)] for n, choice in enumerate(choices)], dictionary("pages"))


def _read_strings(text: str, data: bytes) -> None:
    """What is read of URLs and of the values of attributes."""
    site_of_url(text)
    host_keys(text)
    is_url(text)
    names_url(text)
    names_url(data)
    read_day_in_path(text)
    with suppress(ValueError):  # it is no address
        why_not_public(text)
    with suppress(mainmatter.MainmatterError):
        check_url(text)


def _read_values(text: str, data: bytes) -> None:
    """What is read of metadata."""
    read_day(text)
    read_day(text, "hr")
    read_moment(text)
    people([text, text[::-1]])
    tidy(text)
    noindex_in_header(text)
    noindex_in_html(data)
    noindex_in_html(text)


def _read_structured(text: str, data: bytes) -> None:
    """What is read of scripts that hold data."""
    for item in main_items([read_json(text)]):
        types_of(item)
    as_markup(text)
    is_prose(text)


def _read_beginning(text: str, data: bytes) -> None:
    """What tells pages from other files."""
    what_else(data)
    what_else(data, is_text=True)
    begins_as_json(data)
    looks_like_html(data)
    has_controls(data)
    readable_share([text])
    decode(data)


def _read_text(text: str, data: bytes) -> None:
    """Plain text, markers and formulas."""
    tokens(text)
    marked_tokens(text)
    split_formulas(text, dollars=True)
    segment_text(text)


def _read_parameters(text: str, data: bytes) -> None:
    """The parameters after the name of a method."""
    with suppress(mainmatter.MainmatterError):
        parse_parameters("main", text)


_READERS: list[Callable[[str, bytes], None]] = [
    _read_strings,
    _read_values,
    _read_structured,
    _read_beginning,
    _read_text,
    _read_parameters,
]


def strings(folder: Path) -> Target:
    """Short texts: the first byte chooses who reads it."""

    def read(data: bytes) -> None:
        _READERS[data[0] % len(_READERS)](data[1:].decode("utf-8", "surrogateescape"), data[1:]) if data else None

    return Target(read, dictionary("string-seeds"), dictionary("strings"))
