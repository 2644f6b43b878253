"""Which language a text is in, by its letters alone; what the page declares is often wrong or missing.

py3langid is a naive Bayes classifier over byte n-grams (Lui and Baldwin 2012) whose model comes with the package. It
sees a sample of a text, so that a page of any size takes the same fifth of a millisecond (docs/guide/filters.md).
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mainmatter.errors import MissingExtra

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

# A text's beginning, middle and end are looked at: a page may open with a quotation and close with a notice.
SAMPLE_PART = 100  # characters of each
# Bytes that the letters of a sample take in UTF-8. With 30 Latin letters nine of ten texts are told, with 15 seven;
# fewer letters of other scripts do, as those are telling by themselves.
LEAST_LETTER_BYTES = 30

# Parts of a macrolanguage of ISO 639, which users name by that, and which a short sample hardly tells apart.
_SAME_AS = {"wuu": "zh", "yue": "zh", "uzs": "uz"}
# What the model can tell, by ISO 639.
LANGUAGES = frozenset(
    """
    ace af am an ar ary arz as az ba bcl be bg bn br bs ca crh cs cy da de dz el en eo es et eu ext fa fi fo
    fr fuv fy ga gcf gcr gd gl gom grc gu gug guw ha hbo he hi hr ht hu hy id ig is it ja jv ka kab kik kk km
    kn ko ku ky la lb lg lij ln lo lt ltg lv mg mk ml mn mr ms mt my ne nl nn no nso oc om or pa pcm pl ps pt
    qu ro ru rw sa sdh se si sk sl sn so sq sr st sv sw ta te tg th tk tl tr tt ug uk ur uz vec vi vo wa xh yo
    zh zu
    """.split()
)
_NO_LANGUAGE = "zxx"  # ISO 639: numbers, codes, encoded data
_DIGITS = 4  # of a score; more depend on how the processor adds


@dataclass(frozen=True, slots=True)
class Identified:
    """What language a text is in.

    Attributes:
        language: an ISO 639 code, such as "de"; None if the text is too short, or is none in any language.
        score: how sure that is, from 0 to 1; 0 where there is no language.
    """

    language: str | None
    score: float


UNKNOWN = Identified(None, 0.0)


def identify(text: str) -> Identified:
    """Tell a text's language. Always the same for the same text, and safe in threads.

    Raises:
        MissingExtra: py3langid is not installed.
    """
    identifier = load_identifier()
    sample = _sample(text)
    letters = "".join(filter(str.isalpha, sample))
    if len(letters.encode("utf-8", "surrogatepass")) < LEAST_LETTER_BYTES:
        return UNKNOWN
    label, score = identifier.classify(sample)
    if label == _NO_LANGUAGE:
        return UNKNOWN
    return Identified(_SAME_AS.get(label, label), round(score, _DIGITS))


def load_identifier() -> LanguageIdentifier:
    """Load the model, once for a process: half a second and 75 MB. Who limits a process's memory calls this before.

    Raises:
        MissingExtra: py3langid is not installed.
    """
    global _identifier  # noqa: PLW0603 - one for a process
    if _identifier is None:
        with _loading:
            if _identifier is None:
                try:
                    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 - an extra
                except ImportError as error:
                    raise MissingExtra("py3langid", "corpus") from error
                _identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    return _identifier


_identifier: LanguageIdentifier | None = None
_loading = threading.Lock()


def _sample(text: str) -> str:
    if len(text) <= 3 * SAMPLE_PART:
        return text
    middle = (len(text) - SAMPLE_PART) // 2
    return " ".join((text[:SAMPLE_PART], text[middle : middle + SAMPLE_PART], text[-SAMPLE_PART:]))
