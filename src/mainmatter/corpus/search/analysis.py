"""How texts and queries become words: the same way on both sides, or nothing would be found.

A word is a run of letters, marks, digits and underscores, in small letters. Scripts that put no spaces between words
have no such runs: there each character is a word of its own, and a query of several of them is looked for as a phrase,
one behind the other. That finds what a dictionary would find, and needs none.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from mainmatter.errors import MissingExtra, UnknownName

if TYPE_CHECKING:
    from types import ModuleType

    from tantivy import TextAnalyzer

# Languages whose endings tantivy can cut off, so that "laws" finds "law".
STEMMERS: dict[str, str] = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
# U+30FC lengthens a vowel in Katakana words, but Unicode counts it to no script.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\x{30FC}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = rf"[{_UNSPACED}]|[\w--[{_UNSPACED}]]+"
# Longer ones are no words but keys, addresses, data; tantivy's own default.
_LONGEST_WORD = 40


def load_tantivy() -> ModuleType:
    """The search library.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import tantivy  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("tantivy", "search") from error
    return tantivy


def make_analyzer(stem: str | None) -> TextAnalyzer:
    """What cuts a text into words; `stem` is the language whose endings are cut off, None for none.

    Raises:
        UnknownName: there is no stemmer for that language.
    """
    tantivy = load_tantivy()
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(_WORD))
    builder = builder.filter(tantivy.Filter.remove_long(_LONGEST_WORD)).filter(tantivy.Filter.lowercase())
    if stem is not None:
        check_stem(stem)
        builder = builder.filter(tantivy.Filter.stemmer(STEMMERS[stem]))
    analyzer: TextAnalyzer = builder.build()
    return analyzer


def check_stem(stem: str | None) -> None:
    """Raise `UnknownName` if there is no stemmer for that language."""
    if stem is not None and stem not in STEMMERS:
        raise UnknownName("language for stemming", stem, STEMMERS)


def normalise(text: str) -> str:
    """One form for each letter with its accents, and nothing that cannot be written."""
    return unicodedata.normalize("NFC", text).encode("utf-8", "replace").decode("utf-8")
