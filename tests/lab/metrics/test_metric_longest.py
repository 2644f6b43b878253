from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainmatter.lab.metrics.bag import Score
from mainmatter.lab.metrics.longest import (
    CommonSubstring,
    longest_common,
    longest_common_substring,
    subsequence_length,
    without_spaces,
)
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable

DOG = "the dog jumps over the brown fox"
FOX = "the fox jumps over the brown dog"

# A few letters, so that much is common, among them astral ones and a lone surrogate.
texts = st.text(alphabet="abcé漢😀\ud800", max_size=40)
repetitive = st.builds(lambda part, times, end: part * times + end, st.text("ab", max_size=4), st.integers(0, 9), texts)


def naive_substring(a: str, b: str) -> int:
    best, row = 0, [0] * (len(b) + 1)
    for x in a:
        row = [0] + [row[j] + 1 if x == y else 0 for j, y in enumerate(b)]
        best = max(best, *row)
    return best


def naive_subsequence(a: str, b: str) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        before = row
        row = [0]
        for j, y in enumerate(b):
            row.append(before[j] + 1 if x == y else max(before[j + 1], row[j]))
    return row[-1]


def test_the_papers_example_with_spaces() -> None:
    # Section 5.2 gives "jumps over the brown " (of length 20) and "the jumps over the brown" (of length 23),
    # but its strings have 21 and 24 characters, and neither is the longest. A space stands before "jumps" in
    # both texts too: 22. In order there are "the " (4), an "o", those 22, and another "o": 28.
    assert longest_common_substring(DOG, FOX) == CommonSubstring(7, 7, 22)
    assert DOG[7:29] == " jumps over the brown "
    assert naive_substring(DOG, FOX) == 22
    assert subsequence_length(DOG, FOX) == naive_subsequence(DOG, FOX) == 28


def test_the_papers_example_without_spaces() -> None:
    # thedogjumpsoverthebrownfox and thefoxjumpsoverthebrowndog, 26 letters each.
    # Run: jumpsoverthebrown = 5 + 4 + 3 + 5 = 17. In order: the (3), o, that run, o = 22.
    scores = longest_common(DOG, FOX)
    assert scores.substring.f1 == pytest.approx(17 / 26)
    assert scores.subsequence.f1 == pytest.approx(22 / 26)


def test_precision_and_recall() -> None:
    # Extracted "ab cd XY" = 6 letters, gold "abcd" = 4: 4 common in one run.
    expected = Score(4 / 6, 1.0, 8 / 10)
    scores = longest_common("ab cd XY", "abcd")
    assert scores.substring == scores.subsequence == expected


def test_a_missing_word_in_the_middle_halves_the_substring_only() -> None:
    scores = longest_common("it is true", "it is not true")
    assert scores.substring.recall == pytest.approx(4 / 11)  # itis, or true, of itisnottrue
    assert scores.subsequence.recall == pytest.approx(8 / 11)


def test_white_space_of_any_kind_is_removed() -> None:
    assert without_spaces(" a\u00a0b\n\tc\u3000d ") == "abcd"


def test_empty_texts() -> None:
    assert longest_common("", " \n").substring.f1 == 1.0
    assert longest_common("", "a").subsequence.f1 == 0.0
    assert longest_common_substring("abc", "xyz") == CommonSubstring(0, 0, 0)


def test_the_first_of_several_runs_is_taken() -> None:
    assert longest_common_substring("xab-cdx", "cd+ab") == CommonSubstring(1, 3, 2)


@given(texts | repetitive, texts | repetitive)
def test_substring_against_the_textbook(a: str, b: str) -> None:
    run = longest_common_substring(a, b)
    assert run.length == naive_substring(a, b)
    assert a[run.start_a : run.end_a] == b[run.start_b : run.end_b]
    assert len(a[run.start_a : run.end_a]) == run.length


@given(repetitive, repetitive, texts)
def test_substring_of_texts_that_share_a_long_part(a: str, b: str, part: str) -> None:
    run = longest_common_substring(a + part * 5 + b, b + part * 5 + a)
    expected = difflib.SequenceMatcher(None, a + part * 5 + b, b + part * 5 + a, autojunk=False)
    assert run.length == expected.find_longest_match().size


@given(texts | repetitive, texts | repetitive)
def test_subsequence_against_the_textbook(a: str, b: str) -> None:
    assert subsequence_length(a, b) == naive_subsequence(a, b)


@given(texts, texts, st.integers(0, 200))
def test_subsequence_of_long_texts_is_a_lower_bound(a: str, b: str, cells: int) -> None:
    bounded = subsequence_length(a, b, exact_cells=cells)
    assert bounded <= naive_subsequence(a, b)
    assert bool(bounded) <= bool(naive_substring(a, b))
    assert subsequence_length(a, a, exact_cells=0) == len(a)


def test_cut_at_the_longest_run_keeps_the_length_of_ordinary_text() -> None:
    gold = "".join(f"sentence {i} of the main matter, " for i in range(60))
    page = "Home About Contact " + gold[:700] + "ADVERTISEMENT" + gold[700:] + " Copyright notice"
    cells = len(page) * len(gold) // 4
    assert subsequence_length(page, gold, exact_cells=cells) == len(gold)


def test_cut_in_the_middle_if_the_longest_run_is_a_coincidence() -> None:
    # The alphabet stands early in one text and late in the other: a cut there leaves little beside it.
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    a = "12" * 10 + alphabet + "1221" * 40
    b = "2111" * 40 + alphabet + "12" * 10
    exact = naive_subsequence(a, b)
    assert exact > 80
    assert subsequence_length(a, b, exact_cells=len(a) * len(b) // 2) > 0.9 * exact


def test_a_million_characters_take_linear_time() -> None:
    def make(size: int) -> Callable[[], CommonSubstring]:
        gold = "".join(chr(97 + (i * i + i // 7) % 26) for i in range(size))
        page = "menu " * (size // 200) + gold[: size * 3 // 5] + "advert" + gold[size * 3 // 5 :]
        return lambda: longest_common_substring(page, gold)

    assert make(100_000)().length >= 60_000
    assert_linear(make, 1_000_000)


def test_a_million_equal_letters() -> None:
    assert longest_common_substring("a" * 1_000_000, "b" + "a" * 999_000) == CommonSubstring(0, 1, 999_000)
