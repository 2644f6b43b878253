"""The first of each group of pages is kept, and the others name it, whatever the kind."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mainmatter.corpus import duplicates
from mainmatter.corpus.duplicates import KINDS, band_shape, find_duplicates, find_groups, signature
from mainmatter.errors import InputError, UnknownName
from mainmatter.papers.template.imatch import terms_of
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable

VOCABULARY = [f"word{number}" for number in range(2_000)]


def make_text(seed: int, words: int = 300) -> str:
    return " ".join(random.Random(seed).choices(VOCABULARY, k=words))


def change(text: str, share: float, seed: int = 0) -> str:
    """A text of which some words, anywhere, are others."""
    dice, words = random.Random(seed), text.split()
    for place in dice.sample(range(len(words)), round(share * len(words))):
        words[place] = f"other{dice.randrange(10**9)}"
    return " ".join(words)


def find(kind: str, texts: list[str]) -> dict[int, tuple[str, int]]:
    return find_duplicates(kind, [(number, signature(kind, text)) for number, text in enumerate(texts)])


@pytest.mark.parametrize("kind", KINDS)
def test_repeated_texts_name_the_first(kind: str) -> None:
    texts = [make_text(1), make_text(2), make_text(1), make_text(3), make_text(2), make_text(1)]
    reason = "near-duplicate" if kind == "near" else "duplicate"
    assert find(kind, texts) == {2: (reason, 0), 4: (reason, 1), 5: (reason, 0)}


@pytest.mark.parametrize("kind", KINDS)
def test_texts_without_words_are_nobodys_duplicates(kind: str) -> None:
    assert signature(kind, "") == signature(kind, " \n") == b""
    assert find(kind, ["", "", " ", ""]) == {}
    assert find(kind, []) == {}
    assert find(kind, [make_text(1)]) == {}
    assert find(kind, ["", make_text(1), "", make_text(1)])[3][1] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_gaps_in_the_numbers_are_kept(kind: str) -> None:
    pages = [(7, signature(kind, make_text(1))), (1_000_000_000_000, signature(kind, make_text(1)))]
    assert list(find_duplicates(kind, pages)) == [1_000_000_000_000]
    assert find_duplicates(kind, pages)[1_000_000_000_000][1] == 7


@pytest.mark.parametrize("kind", KINDS)
def test_white_space_and_case_do_not_count(kind: str) -> None:
    text = make_text(1)
    assert len(find(kind, [text, text.upper().replace(" ", "\n\n"), f" {text}\t"])) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_halves_of_characters_do_no_harm(kind: str) -> None:
    assert len(find(kind, ["\ud800 word " * 9, "\ud800 word " * 9])) == 1


def test_signatures_are_the_same_in_every_process() -> None:
    text = "The lamp burns every night, as it always did."
    code = (
        "from mainmatter.corpus.duplicates import KINDS, signature\n"
        f"print(*(signature(kind, {text!r}).hex() for kind in KINDS))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [signature(kind, text).hex() for kind in KINDS]


def test_there_are_three_kinds() -> None:
    with pytest.raises(UnknownName, match="did you mean 'exact'"):
        signature("exakt", "text")
    with pytest.raises(UnknownName):
        find_duplicates("", [])


def test_exact_tells_what_differs_by_one_letter_or_sign() -> None:
    text = make_text(1)
    assert find("exact", [text, text + ".", text[:-1], text + " x"]) == {}


def test_exact_takes_composed_and_decomposed_letters_as_one() -> None:
    assert find("exact", ["caf\u00e9 au lait", "cafe\u0301 au lait"]) == {1: ("duplicate", 0)}


def test_imatch_leaves_out_what_nearly_every_page_has() -> None:
    bodies = [" ".join(f"own{number}x{word}" for word in range(30)) for number in range(40)]
    texts = [f"{body} updated daily" for body in bodies]
    texts += [bodies[7], f"daily {bodies[8]}", f"{bodies[9]} yesterday"]
    assert find("i-match", texts) == {40: ("duplicate", 7), 41: ("duplicate", 8)}
    assert find("exact", texts) == {}


def imatch_sets(texts: list[str]) -> list[frozenset[str]]:
    """I-Match as it is written: of each text the terms whose idf is a tenth of the largest or more; else all."""
    terms = [terms_of(text) for text in texts]
    counts = Counter(term for of_text in terms for term in of_text)
    weight = {term: 1 - math.log(count) / math.log(len(texts)) for term, count in counts.items()}
    return [frozenset({term for term in of_text if weight[term] >= 0.1} or of_text) for of_text in terms]


def test_imatch_agrees_with_what_is_written_of_it() -> None:
    texts = [change(make_text(seed % 6, 40), 0.02 * (seed % 3), seed % 2) for seed in range(40)]
    first: dict[frozenset[str], int] = {}
    firsts = [first.setdefault(terms, number) for number, terms in enumerate(imatch_sets(texts))]
    expected = {number: ("duplicate", kept) for number, kept in enumerate(firsts) if kept != number}
    assert find("i-match", texts) == expected
    assert expected


def test_terms_are_runs_of_letters_and_digits_in_lower_case() -> None:
    assert terms_of("The cat, THE dog: 42 Größe-n") == {"the", "cat", "dog", "42", "größe", "n"}


def test_imatch_minds_neither_order_nor_case_nor_repetition_but_words() -> None:
    texts = ["one two three", "Three, two: ONE one.", "one two four"]
    assert find("i-match", texts) == {1: ("duplicate", 0)}
    assert find("i-match", ["\ud800", "x"]) == {}
    assert find("i-match", ["", " ... "]) == {}  # nobody's duplicates


@pytest.mark.parametrize(("often", "found"), [(502, {1: ("duplicate", 0)}), (501, {})])
def test_from_which_weight_on_a_term_counts(often: int, found: dict[int, tuple[str, int]]) -> None:
    # 1 - log(501) / log(1000) is a tenth, and a little more.
    others = [f"own{number} often" for number in range(often - 1)] + [
        f"own{number}" for number in range(often - 1, 998)
    ]
    assert find("i-match", ["often rarely", "rarely", *others]) == found


def test_imatch_of_texts_with_nothing_of_their_own() -> None:
    texts = [f"the common start and word{n} word{n + 1} of the page" for n in range(20)]
    assert find("i-match", [*texts, "the common page", "page common the", "the common start"]) == {
        21: ("duplicate", 20)
    }


def test_imatch_of_one_text_and_of_two() -> None:
    assert find("i-match", ["a b"]) == {}
    assert find("i-match", ["a b", "b a"]) == {1: ("duplicate", 0)}
    assert find("i-match", ["a b", "a c"]) == {}


def test_imatch_wants_to_go_through_the_signatures_twice() -> None:
    with pytest.raises(TypeError, match="twice"):
        find_duplicates("i-match", iter([(0, b"1234")]))


@pytest.mark.parametrize(("share", "least", "most"), [(0.0, 40, 40), (0.01, 38, 40), (0.1, 0, 0), (0.5, 0, 0)])
def test_near_finds_few_changes_and_not_many(share: float, least: int, most: int) -> None:
    texts = [make_text(seed) for seed in range(40)]
    found = find("near", texts + [change(text, share, seed) for seed, text in enumerate(texts)])
    assert all(number - 40 == first for number, (_, first) in found.items())
    assert least <= len(found) <= most


def test_near_follows_the_threshold() -> None:
    texts = [make_text(1), change(make_text(1), 0.04)]  # they share two thirds of their runs
    pages = [(number, signature("near", text)) for number, text in enumerate(texts)]
    assert find_duplicates("near", pages, threshold=0.5)
    assert not find_duplicates("near", pages, threshold=0.9)
    for wrong in (0, -1, 1.5, True, "high"):
        with pytest.raises(InputError, match="threshold"):
            find_duplicates("near", pages, threshold=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("threshold", [0.01, 0.3, 0.97, 0.99, 1, 1.0])
def test_every_threshold_has_bands(threshold: float) -> None:
    bands, rows = band_shape(threshold)
    assert bands >= 2
    assert bands * rows <= 128
    same = signature("near", make_text(1))
    assert find_groups([(0, same), (1, same)], threshold) == {1: 0}


def test_near_groups_are_whatever_is_connected() -> None:
    """Each is a little other than the one before, so that the last is far from the first."""
    texts = [make_text(1, 1000)]
    for step in range(30):
        texts.append(change(texts[-1], 0.005, step))
    assert not find("near", [texts[0], texts[-1]])
    assert find("near", texts) == dict.fromkeys(range(1, 31), ("near-duplicate", 0))


def test_near_counts_characters_where_words_have_no_spaces() -> None:
    dice = random.Random(1)
    for start, end in ((0x4E00, 0x5E00), (0x0E01, 0x0E2E), (0x1780, 0x17A2)):
        text = "".join(chr(dice.randrange(start, end)) for _ in range(1000))
        one_other = text[:500] + "x" + text[501:]
        other = "".join(chr(dice.randrange(start, end)) for _ in range(1000))
        assert find("near", [text, one_other, other]) == {1: ("near-duplicate", 0)}


def test_near_compares_short_texts_whole() -> None:
    assert find("near", ["one two", "one two", "two one", "one"]) == {1: ("near-duplicate", 0)}


def test_near_estimates_the_share_of_runs_in_common() -> None:
    errors = []
    for seed in range(30):
        texts = [make_text(seed), change(make_text(seed), 0.02, seed)]
        runs = [set(zip(*(text.split()[offset:] for offset in range(5)), strict=False)) for text in texts]
        values = [np.frombuffer(signature("near", text), "<u4") for text in texts]
        errors.append(np.mean(values[0] == values[1]) - len(runs[0] & runs[1]) / len(runs[0] | runs[1]))
    assert np.mean(errors) == pytest.approx(0, abs=0.02)
    assert np.std(errors) == pytest.approx(0.034, abs=0.015)  # what 128 values give for a share of .82


def test_near_looks_beyond_the_first_of_a_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pages fall into one bucket: those that are alike are found among those that are not."""
    monkeypatch.setattr(duplicates, "band_hashes", lambda band: np.zeros(len(band), np.uint64))
    texts = [make_text(seed % 7) for seed in range(40)]
    assert find("near", texts) == {number: ("near-duplicate", number % 7) for number in range(7, 40)}


def test_near_takes_many_signatures_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [make_text(seed % 50, 60) for seed in range(120)]
    whole = find("near", texts)
    long = make_text(1, 2000)
    one = signature("near", long)
    monkeypatch.setattr(duplicates, "_ROWS", 7)
    monkeypatch.setattr(duplicates, "_BATCH", 11)
    assert find("near", texts) == whole
    assert len(whole) == 70
    assert signature("near", long) == one


@pytest.mark.parametrize("kind", KINDS)
def test_ten_thousand_pages_and_a_thousand_alike_take_linear_time(kind: str) -> None:
    def make(count: int) -> Callable[[], dict[int, tuple[str, int]]]:
        dice = np.random.default_rng(1)
        size = {"exact": 4, "i-match": 100, "near": 128}[kind]
        pages = np.sort(dice.integers(0, 2**32, (count, size), np.uint32), axis=1)
        pages[::10] = pages[0]
        signatures = [(number, page.astype("<u4").tobytes()) for number, page in enumerate(pages)]
        return lambda: find_duplicates(kind, signatures)

    found = make(10_000)()
    assert {first for _, first in found.values()} == {0}
    assert len(found) == 999
    assert_linear(make, 10_000)
