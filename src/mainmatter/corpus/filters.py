"""Which pages of a collection to leave out: by language, by length, or because they ask for it."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

from mainmatter.corpus.language import LANGUAGES
from mainmatter.errors import InputError
from mainmatter.html.robots import noindex_in_header, noindex_in_html

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mainmatter.corpus.records import Record

# Codes that pages and people use, and the one that stands for the same here.
_OTHER_CODES = {"cmn": "zh", "fil": "tl", "in": "id", "iw": "he", "nb": "no", "wuu": "zh", "yue": "zh"}
_SUBTAGS = re.compile("[-_]")


@dataclass(frozen=True, slots=True)
class Filters:
    """Which pages to leave out. By default, only those that their site's robots.txt forbids to fetch.

    Attributes:
        languages: keep only pages in one of these, by ISO 639 codes such as "de", which also keeps "de-AT". A
            page whose language nobody knows is left out.
        min_language_score: leave out pages whose language is less sure, from 0 to 1.
        min_words: leave out pages with fewer words.
        max_words: leave out pages with more words.
        noindex: leave out pages that ask not to be indexed, in a robots meta tag or an X-Robots-Tag header.
        robots_txt: leave out addresses that their site's robots.txt forbids, and wait between requests as long as it
            asks; for lists of URLs, before they are fetched (corpus/readers/urls.py).

    Raises:
        InputError: a value is of the wrong kind, out of range, or no language that can be told.
    """

    languages: tuple[str, ...] = ()
    min_language_score: float = 0.0
    min_words: int = 0
    max_words: int | None = None
    noindex: bool = False
    robots_txt: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "languages", _checked_languages(self.languages))
        score = self.min_language_score
        if not _is_number(score) or not 0 <= score <= 1:
            raise InputError(f"the minimum language score must be a number from 0 to 1, not {score!r}")
        for name, value in (("min_words", self.min_words), ("max_words", self.max_words)):
            if value is None and name == "max_words":
                continue
            if type(value) is not int or value < 0:
                raise InputError(f"{name} must be a whole number of words, not {value!r}")
        if self.max_words is not None and self.max_words < self.min_words:
            raise InputError(f"min_words {self.min_words} is above max_words {self.max_words}")
        for name, choice in (("noindex", self.noindex), ("robots_txt", self.robots_txt)):
            if type(choice) is not bool:
                raise InputError(f"{name} must be true or false, not {choice!r}")

    def why_dropped(self, record: Record, row: Mapping[str, object]) -> tuple[str, str] | None:
        """Why a page is left out.

        Args:
            record: the page as it was read.
            row: what came out of it, with its `language`, `language_score` and `words`.

        Returns:
            The reason, which is "noindex", "language" or "length", and a sentence about it; None if the page stays.
        """
        if self.noindex and (asked := why_not_indexed(record)):
            return "noindex", asked
        language, score, words = row.get("language"), row.get("language_score"), row.get("words")
        if self.languages and (not isinstance(language, str) or _code(language) not in self.languages):
            told = f"in {language}" if language else "in a language that could not be identified"
            return "language", f"{told}, not in {' or '.join(self.languages)}"
        if self.min_language_score and (not _is_number(score) or score < self.min_language_score):
            return "language", f"the language score is too low: {score or 0} is below {self.min_language_score}"
        if isinstance(words, int):
            if words < self.min_words:
                return "length", f"{words} words, fewer than {self.min_words}"
            if self.max_words is not None and words > self.max_words:
                return "length", f"{words} words, more than {self.max_words}"
        return None

    def to_json(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {**asdict(self), "languages": list(self.languages)}


def why_not_indexed(record: Record) -> str | None:
    """How a page, or the server that sent it, asks not to be indexed; None if neither does."""
    header = record.headers.get("x-robots-tag")
    if header and (found := noindex_in_header(header)):
        return f"its header forbids indexing (X-Robots-Tag: {found})"
    if record.page.format == "html" and (found := noindex_in_html(record.page.html)):
        return f"it forbids indexing (meta {found})"
    return None


def _checked_languages(languages: object) -> tuple[str, ...]:
    if isinstance(languages, str) or not isinstance(languages, tuple | list):
        raise InputError(f"languages must be a list of codes, such as de, not {languages!r}")
    checked = []
    for language in languages:
        code = _code(language) if isinstance(language, str) else ""
        if isinstance(language, str) and len(_SUBTAGS.split(language)) > 1 and code in LANGUAGES:
            raise InputError(f"language variants cannot be told apart; use {code} instead of {language}")
        if code not in LANGUAGES:
            raise InputError(f"unknown language {language!r}; known: {' '.join(sorted(LANGUAGES))}")
        checked.append(code)
    return tuple(dict.fromkeys(checked))


def _code(language: str) -> str:
    """A language without its variant."""
    code = _SUBTAGS.split(language.strip().lower(), maxsplit=1)[0]
    return _OTHER_CODES.get(code, code)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
