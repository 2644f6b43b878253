"""The preset "paper" against a transcription of section 3 and fourth stage, which shares no code with it."""

from __future__ import annotations

import random
from collections import Counter
from math import log
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mainmatter.api import read
from mainmatter.errors import ModelError
from mainmatter.lab.training.examples import label
from mainmatter.papers.ncleaner.method import Ncleaner
from mainmatter.papers.ncleaner.ngrams import AsciiAlphabet
from mainmatter.records import Gold, Page
from mainmatter.registry import get_method, make_untrained

if TYPE_CHECKING:
    from mainmatter.method import Example

N, Q = 3, 0.5  # "The current implementation uses models with n = 3 and q = 0.5"
ASCII = [chr(point) for point in range(32, 127)]


def fold(text: str, lexical: bool) -> str:
    """Non-ASCII characters are replaced by tildes; non-lexical models map all letters to a and all digits to 0."""
    found = ""
    for char in text:
        folded = char if char in ASCII else "~"
        if not lexical and folded in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ":
            folded = "a"
        if not lexical and folded in "0123456789":
            folded = "0"
        found += folded
    return found


def count(segments: list[str], lexical: bool) -> Counter[str]:
    found: Counter[str] = Counter()
    for segment in segments:
        written = "\0" * (N - 1) + fold(segment, lexical)  # segments begin after a symbol that no text has
        for end in range(N, len(written) + 1):
            found[written[end - N : end]] += 1
    return found


def subtract(raw: Counter[str], clean: Counter[str]) -> Counter[str]:
    """Differential training: counts for the clean pages subtracted from the corresponding ones for the dumps."""
    return Counter({gram: raw[gram] - clean[gram] for gram in raw if raw[gram] > clean[gram]})


class LanguageModel:
    """Equation 1."""

    def __init__(self, counts: Counter[str]) -> None:
        self.after: dict[str, Counter[str]] = {}
        for gram, times in counts.items():
            for history in (gram[0:2], gram[1:2], ""):
                self.after.setdefault(history, Counter())[gram[2]] += times

    def relative(self, char: str, history: str) -> float:
        if not history:  # add-one smoothing of unigrams
            return (self.after[""][char] + 1) / (self.after[""].total() + len(ASCII))
        if history not in self.after:  # the paper leaves this open
            return self.relative(char, history[1:])
        return self.after[history][char] / self.after[history].total()

    def smoothed(self, char: str, history: str) -> float:
        terms = self.relative(char, history) + Q * self.relative(char, history[1:]) + Q * Q * self.relative(char, "")
        return (1 - Q) / (1 - Q**3) * terms

    def log_probability(self, text: str) -> float:
        written = "\0\0" + text
        return sum(log(self.smoothed(written[i], written[i - 2 : i])) for i in range(2, len(written)))


WORDS = "river stone bridge winter letter élan Brücke 1907 naïve garden – window, summer. Morning; village 42".split()
MENU = "Home | Login Contact © 2007 Privacy » Help! RSS 2.0 Top Share 日本".split()


def segments_of(rng: random.Random) -> tuple[list[str], list[str]]:
    """The segments of a page, and those of its gold text, one of which the page has not."""
    clean = [" ".join(rng.choices(WORDS, k=rng.randint(1, 30))) for _ in range(rng.randint(1, 4))]
    dirty = [" ".join(rng.choices(MENU, k=rng.randint(1, 6))) for _ in range(5)]
    dirty.append(" | ".join(rng.choices(WORDS, k=rng.randint(2, 6))))
    return dirty[:3] + clean + dirty[3:], [*clean, " ".join(rng.choices(WORDS, k=3))]


def example(seed: int) -> Example:
    segments, gold = segments_of(random.Random(seed))
    html = "<meta charset=utf-8>" + "".join(f"<p>{segment}</p>" for segment in segments)
    found = label(read(Page(html, f"https://site{seed}.example/")), Gold("\n\n".join(gold)))
    assert found.document.texts == segments
    return found


def is_bar(segment: str) -> bool:
    """Multiple fields separated by vertical bars; how many and how long is ours to say."""
    return segment.count("|") >= 3 and len(segment) <= 40 * (segment.count("|") + 1)


@pytest.mark.parametrize("lexical", [True, False])
def test_it_decides_as_the_papers_text_says(lexical: bool) -> None:
    pages = [segments_of(random.Random(seed)) for seed in range(15)]
    raw = count([segment for segments, _ in pages for segment in segments], lexical)
    gold = count([segment for _, segments in pages for segment in segments], lexical)
    clean, dirty = LanguageModel(gold), LanguageModel(subtract(raw, gold))
    method = make_untrained(f"ncleaner:preset=paper,lexical={lexical}").fit(example(seed) for seed in range(15))
    kept = likely_bars = 0
    for seed in range(15, 45):
        document = example(seed).document
        found = method.extract(document)
        expected = []
        for segment in segments_of(random.Random(seed))[0]:
            text = fold(segment, lexical)
            expected.append(clean.log_probability(text) - dirty.log_probability(text))
        assert found.scores == pytest.approx(expected, rel=1e-4, abs=1e-4)
        for segment, odds, is_kept in zip(document.texts, expected, found.kept, strict=True):
            assert is_kept == (odds >= 0 and not is_bar(segment))
            kept += is_kept
            likely_bars += odds >= 0 and is_bar(segment)
    assert 30 < kept < 200
    assert likely_bars or not lexical  # to the non-lexical model, bars are a sign of boilerplate by themselves


def test_what_the_preset_stands_for() -> None:
    method = get_method("ncleaner:preset=paper")
    assert isinstance(method, Ncleaner)
    assert method.parameters == {
        "n": 3, "q": 0.5, "lexical": True, "dirty": "differential", "threshold": 0.0, "heuristics": True,
        "never_empty": False, "alphabet": "ascii", "other_scripts": False,
    }  # fmt: skip
    assert method.weights() == "ncleaner-paper"
    assert Ncleaner(alphabet="ascii", lexical=False).weights() == "ncleaner-paper-non-lexical"
    with pytest.raises(ModelError, match="trained with dirty=differential, not labelled"):
        get_method("ncleaner:preset=paper,dirty=labelled")


def test_a_block_that_both_models_find_as_likely_is_kept() -> None:
    """It is deleted where the dirty model's probability is higher, and included otherwise."""
    method = make_untrained("ncleaner:preset=paper").fit(example(seed) for seed in range(3))
    vars(method)["log_odds"] = lambda texts: np.array([1e-9, 0.0, -1e-9])
    assert method.extract(read(Page("<p>a<p>b<p>c"))).kept.tolist() == [True, True, False]


def test_a_page_may_come_out_empty() -> None:
    method = get_method("ncleaner:preset=paper")
    assert not method.extract(read(Page("<p>Login</p><p>Sign up!</p><p>Click here »</p>"))).kept.any()


def test_symbols_of_ascii() -> None:
    alphabet = AsciiAlphabet()
    assert alphabet.size == 96
    assert alphabet.encode("".join(ASCII)).tolist() == [*range(1, 96)]
    assert alphabet.encode("\0").tolist() == [0]
    tilde = alphabet.encode("~")[0]
    assert alphabet.encode("é日\xa0\x07\x7f\ud800").tolist() == [tilde] * 6
    assert alphabet.encode("\x07\x7f").tolist() == [tilde] * 2
    assert alphabet.encode("\t\n\r").tolist() == alphabet.encode("   ").tolist()
    small = AsciiAlphabet(lexical=False)
    assert small.encode("aZ é 907 ~!").tolist() == alphabet.encode("aa ~ 000 ~!").tolist()
    assert alphabet.copies(alphabet.encode("abc")) == []
    with pytest.raises(ValueError, match="'a' has no symbol of its own"):
        AsciiAlphabet("ab")


def test_texts_are_counted_once() -> None:
    examples = [example(seed) for seed in range(5)]
    once, thrice = (Ncleaner(n=1, other_scripts=more).fit(examples) for more in (False, True))
    labelled = [pair for each in examples for pair in zip(each.document.texts, each.kept, strict=True)]
    letters = sum(len(text) for text, kept in labelled if kept)
    assert once.weights_.arrays["clean_counts"].sum() == letters
    assert thrice.weights_.arrays["clean_counts"].sum() > 2 * letters
