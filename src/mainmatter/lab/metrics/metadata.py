"""Are title, author and date right? Each True, False, or None where the gold standard does not say."""

from __future__ import annotations

import re
import unicodedata

_BETWEEN_NAMES = re.compile(r"[;,&]|\band\b", re.IGNORECASE)
_YEAR_FIRST = re.compile(r"\s*(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?!\d)")


def title_is_right(extracted: str | None, gold: str | None) -> bool | None:
    """Compare titles; case, white space and punctuation at the ends do not count."""
    wanted = normalise(gold)
    return normalise(extracted) == wanted if wanted else None


def author_is_right(extracted: str | None, gold: str | None) -> bool | None:
    """Compare sets of names, in any order, separated by ";", ",", "&" or "and"."""
    wanted = names(gold)
    return names(extracted) == wanted if wanted else None


def date_is_right(extracted: str | None, gold: str | None) -> bool | None:
    """Compare dates as YYYY-MM-DD; if the gold standard gives only a month or a year, only as far as that."""
    if not normalise(gold):
        return None
    found, wanted = date_parts(extracted), date_parts(gold)
    if not wanted:
        return normalise(extracted) == normalise(gold)
    return found[: len(wanted)] == wanted


def normalise(text: str | None) -> str:
    """Fold case and compatibility forms, make white space single, drop punctuation at both ends."""
    folded = " ".join(unicodedata.normalize("NFKC", text or "").casefold().split())
    # Control and format characters, punctuation, separators.
    return folded.strip("".join(sign for sign in set(folded) if unicodedata.category(sign)[0] in "CPZ"))


def names(authors: str | None) -> frozenset[str]:
    """The normalised names in a list of authors."""
    return frozenset(name for part in _BETWEEN_NAMES.split(authors or "") if (name := normalise(part)))


def date_parts(date: str | None) -> tuple[int, ...]:
    """Year, month and day, as many as a date that starts with the year gives; what follows is ignored."""
    match = _YEAR_FIRST.match(date or "")
    return tuple(int(part) for part in match.groups() if part) if match else ()
