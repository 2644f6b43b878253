# cython: annotation_typing=True
# mypy: warn_return_any=False
"""Which language a text is in, by its letters alone; what the page declares is often wrong or missing.

py3langid is a naive Bayes classifier over byte n-grams (Lui and Baldwin 2012) whose model comes with the package. It
sees a sample of a text, so that a page of any size takes the same fraction of a millisecond (docs/how-to/filters.md).
The model is py3langid's, and so are the results; the walk through its automaton is ours, which is compiled.
"""

from __future__ import annotations

import fcntl
import lzma
import math
import os
import threading
import unicodedata
from array import array
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from mainmatter import cython  # stands in for Cython's where the source runs uncompiled, and for mypy
from mainmatter.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

if cython.compiled and not TYPE_CHECKING:
    import cython  # this line is for the compiler alone

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
_ARRAYS = (
    "ptc",
    "pc",
    "classes",
    "nextmove",
    "nextmove_row",
    "out_feat",
)  # of the model's file, in `load_model`'s order
_PIECE = 1 << 23  # bytes unpacked at once: between two pieces, other threads may take their time
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


class Identifier:
    """A model of py3langid, which tells what its `LanguageIdentifier` tells, to the last bit.

    Args:
        weights: of each feature, a byte n-gram, for each class: the logarithm of its probability.
        priors: the logarithm of each class's probability.
        classes: the languages, of which some have several classes.
        moves: the automaton's next states: 256 for each of its rows.
        rows: the row of each state.
        features: the feature that is complete in each state; -1 if none is.
    """

    def __init__(
        self,
        weights: NDArray[np.float16],
        priors: NDArray[np.float32],
        classes: Sequence[str],
        moves: ArrayLike,
        rows: ArrayLike,
        features: ArrayLike,
    ) -> None:
        self._weights, self._priors, self._classes = weights, priors, classes
        self._moves = _table(moves, "I")
        # What is asked of a state lies in one place, which is seldom in the processor's cache.
        self._states = _table(np.column_stack((rows, features)).ravel(), "i")
        self._again = [(classes.index(label), i) for i, label in enumerate(classes) if classes.index(label) < i]

    @property
    def labels(self) -> list[str]:
        """The languages that it can tell."""
        return list(dict.fromkeys(self._classes))

    def classify(self, text: str) -> tuple[str, float]:
        """The most likely language of a text, and its probability, as `LanguageIdentifier.classify`."""
        encoded = unicodedata.normalize("NFC", text.lower() if text.isupper() else text).encode(
            "utf-8", "surrogatepass"
        )
        counts = _count_features(encoded, self._moves, self._states)
        if counts:
            found = np.fromiter(counts.keys(), np.intp, len(counts))
            times = np.fromiter(counts.values(), np.float32, len(counts))
            scores = np.log1p(times) @ self._weights.take(found, axis=0) + self._priors
        else:
            scores = np.zeros(len(self._classes), np.float32)
        scores *= 1.0 / math.sqrt(len(encoded) or 1)
        np.exp(scores - scores.max(), out=scores)
        scores /= scores.sum()
        for first, again in self._again:
            scores[first] += scores[again]
            scores[again] = 0.0
        best = int(scores.argmax())
        return self._classes[best], float(scores[best])


def _table(numbers: ArrayLike, kind: str) -> Any:  # what is read fastest
    """Numbers for random access: numpy's lie in huge pages of memory, and Python reads its own arrays faster."""
    table = np.array(numbers, kind)
    return table if cython.compiled else array(kind, table.tobytes())


def _count_features(text: bytes, moves: cython.uint[::1], states: cython.int[::1]) -> dict[int, int]:
    """How often each feature is in a text, in the order in which they come."""
    counts: dict[int, int] = {}
    state: cython.uint = 0
    letter: cython.uchar
    feature: cython.int
    for letter in text:
        state = moves[(states[2 * state] << 8) + letter]
        feature = states[2 * state + 1]
        if feature >= 0:
            counts[feature] = counts.get(feature, 0) + 1
    return counts


def load_identifier(unpacked: str | None = None) -> Identifier:
    """Load the model, once for a process: a third of a second and 75 MB.

    Who limits a process's memory calls this before.

    Args:
        unpacked: what `unpacking_model` gave, if somebody has called that; it takes an eighth of the time.

    Raises:
        MissingExtra: py3langid is not installed.
    """
    global _identifier  # noqa: PLW0603 - one for a process
    if _identifier is None:
        with _loading:
            if _identifier is None:
                _identifier = Identifier(*(_read_unpacked(unpacked) or _read_packed()))
    return _identifier


@contextmanager
def unpacking_model() -> Iterator[str | None]:
    """Unpack the model meanwhile, in a thread, so that not each of the processes that are started has to do it.

    It goes into a file in memory, of which nothing stays when this process ends, however it does.

    Yields:
        The file's path, for `load_identifier`; None where there is no such file, or no model.
    """
    if not hasattr(os, "memfd_create") or find_spec("py3langid") is None:
        yield None
        return
    file, stop = os.memfd_create("languages"), threading.Event()
    fcntl.flock(file, fcntl.LOCK_EX)  # until it is complete
    thread = threading.Thread(target=_unpack, args=(file, stop))
    thread.start()
    try:
        yield f"/proc/{os.getpid()}/fd/{file}"
    finally:
        stop.set()
        thread.join()
        os.close(file)


def _unpack(file: int, stop: threading.Event) -> None:
    try:
        with suppress(OSError, EOFError, lzma.LZMAError):
            packed, model = _model_file().read_bytes(), lzma.LZMADecompressor()
            while not model.eof and not stop.is_set():
                os.write(file, model.decompress(packed, _PIECE))
                packed = b""  # it has all of it
    finally:  # who waits finds out that it is not complete
        fcntl.flock(file, fcntl.LOCK_UN)


def _read_unpacked(path: str | None) -> tuple[Any, ...] | None:
    """What `load_model` of py3langid reads, from a file that is unpacked; None if there is none, or it is not whole."""
    if path is None:
        return None
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - no file of ours
            fcntl.flock(file, fcntl.LOCK_SH)  # waits until it is complete, or who writes it is dead
            with np.load(file, allow_pickle=False) as arrays:
                weights, priors, classes, *automaton = (arrays[name] for name in _ARRAYS)
                return weights, priors, classes.tolist(), *automaton
    except (OSError, EOFError, ValueError, LookupError, BadZipFile):
        return None


def _read_packed() -> tuple[Any, ...]:
    try:
        from py3langid.modelio import load_model  # an extra
    except ImportError as error:
        raise MissingExtra("py3langid", "corpus") from error
    return tuple(load_model(_model_file()))


def _model_file() -> Path:
    from py3langid.langid import MODEL_DIR, MODEL_FILE  # an extra

    return Path(MODEL_DIR, MODEL_FILE)


_identifier: Identifier | None = None
_loading = threading.Lock()


def _sample(text: str) -> str:
    if len(text) <= 3 * SAMPLE_PART:
        return text
    middle = (len(text) - SAMPLE_PART) // 2
    return " ".join((text[:SAMPLE_PART], text[middle : middle + SAMPLE_PART], text[-SAMPLE_PART:]))
