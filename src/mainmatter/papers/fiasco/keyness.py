"""Keywords by keyness (FIASCO 3.1, note 3).

A keyword is significantly more frequent in one of two kinds of text than in the other, and substantially more frequent
than in general language. Keyness is a conservative estimate of the log odds ratio of the two relative frequencies: the
end of its confidence interval that is nearer to zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    Frequency = Callable[[str, str], float]

CONFIDENCE = 1.96  # standard errors: 95 % of the estimates are nearer than that
MORE_THAN_GENERAL = 3.0  # times as frequent as in general language, at the least
_SEGMENTED = frozenset(("zh", "ja", "ko"))  # their words are not ours, and wordfreq needs further packages for them


def keyness(
    here: NDArray[np.int64], there: NDArray[np.int64], here_total: int, there_total: int
) -> NDArray[np.float64]:
    """Keyness of words by how often each occurs here and there: above 0 if typical for here, below 0 for there.

    The log odds ratio with half an occurrence added to each count, moved towards 0 by 1.96 standard errors; 0 where the
    interval holds 0.
    """
    a, b = here + 0.5, there + 0.5
    c, d = np.maximum(here_total - here, 0) + 0.5, np.maximum(there_total - there, 0) + 0.5
    ratio = np.log(a) + np.log(d) - np.log(b) - np.log(c)
    margin = CONFIDENCE * np.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    return np.sign(ratio) * np.maximum(np.abs(ratio) - margin, 0)  # type: ignore[no-any-return]


def need_frequencies() -> None:
    """Complain early.

    Raises:
        MissingExtra: wordfreq is not installed.
    """
    try:
        import wordfreq  # noqa: F401, PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("wordfreq", "train") from error


def general_frequency(word: str, language: str) -> float:
    """How frequent a word is in general language: its share of all words.

    Args:
        word: in lower case.
        language: as BCP 47 writes it; English stands in for those that wordfreq does not know.

    Raises:
        MissingExtra: wordfreq is not installed.
    """
    return float(_lists(_known_language(language)).get(word, 0.0))


@cache
def _lists(language: str) -> Mapping[str, float]:
    need_frequencies()
    from wordfreq import get_frequency_dict  # noqa: PLC0415 - an extra

    return dict(get_frequency_dict(language))


@cache
def _known_language(language: str) -> str:
    need_frequencies()
    from wordfreq import available_languages  # noqa: PLC0415 - an extra

    short = language.replace("_", "-").partition("-")[0].lower()
    return short if short in available_languages() and short not in _SEGMENTED else "en"


@dataclass(frozen=True, slots=True, eq=False)
class Usage:
    """How some words are used in one kind of text.

    Attributes:
        texts: in how many texts each of the words is.
        all_texts: the same, summed over all words that there are.
        tokens: how often each of the words occurs.
        all_tokens: how many words the texts have, by language.
    """

    texts: NDArray[np.int64]
    all_texts: int
    tokens: NDArray[np.int64]
    all_tokens: Mapping[str, int]


def choose_keywords(
    words: Sequence[str], here: Usage, there: Usage, most: int, frequency: Frequency = general_frequency
) -> list[str]:
    """The words that are most typical for the texts here, the most typical first.

    A word's keyness is that of the texts it is in: many occurrences in one text are no independent evidence. With
    general language, which is counted by occurrences, occurrences are compared.

    Args:
        words: the candidates.
        here: how they are used here.
        there: how they are used in the other kind of text.
        most: how many keywords to choose.
        frequency: how frequent a word is in a language in general.
    """
    scores = keyness(here.texts, there.texts, here.all_texts, there.all_texts)
    chosen: list[str] = []
    for i in np.argsort(-scores, kind="stable").tolist():
        if scores[i] <= 0 or len(chosen) == most:
            break
        expected = sum(count * frequency(words[i], language) for language, count in here.all_tokens.items())
        if here.tokens[i] > MORE_THAN_GENERAL * expected:
            chosen.append(words[i])
    return chosen
