"""I-Match (Chowdhury et al. 2002): one digest a text."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from mainmatter.corpus.duplicates import TermFrequencies, imatch_digest, terms_of
from mainmatter.errors import InputError

TEXTS = [f"the common start and word{n} word{n + 1} of the page" for n in range(20)]


def test_terms_are_runs_of_letters_and_digits_in_lower_case() -> None:
    assert terms_of("The cat, THE dog: 42 Größe-n") == {"the", "cat", "dog", "42", "größe", "n"}


def test_a_signature_is_the_sha1_of_the_sorted_terms() -> None:
    assert imatch_digest("b a, B!") == hashlib.sha1(b"a b").digest()
    assert len(imatch_digest("")) == 20
    assert imatch_digest("") == imatch_digest(" ... ")
    assert imatch_digest("\ud800") != imatch_digest("x")


def test_order_case_and_repetition_do_not_count_but_words_do() -> None:
    assert imatch_digest("one two three") == imatch_digest("Three, two: ONE one.")
    assert imatch_digest("one two three") != imatch_digest("one two four")


def test_terms_of_nearly_every_text_are_left_out() -> None:
    frequencies = TermFrequencies().add_all(TEXTS)
    assert frequencies.weights(["the", "word3"]).tolist() == pytest.approx([0, 1 - np.log(2) / np.log(20)])
    with_menu = f"{TEXTS[3]} the of page"
    without_menu = "word3 word4"
    assert imatch_digest(with_menu, frequencies) == imatch_digest(without_menu, frequencies)
    assert imatch_digest(with_menu) != imatch_digest(without_menu)
    assert imatch_digest(TEXTS[3], frequencies) != imatch_digest(TEXTS[4], frequencies)


def test_rare_terms_can_be_left_out_too() -> None:
    frequencies = TermFrequencies().add_all([*TEXTS, "a slipp of the pen"])
    assert imatch_digest(f"{TEXTS[3]} slipp", frequencies) != imatch_digest(TEXTS[3], frequencies)
    assert imatch_digest(f"{TEXTS[3]} slipp", frequencies, most=0.9) == imatch_digest(TEXTS[3], frequencies, most=0.9)


def test_a_text_of_nothing_but_common_terms_is_no_duplicate_of_an_empty_one() -> None:
    frequencies = TermFrequencies().add_all(TEXTS)
    assert imatch_digest("the common page", frequencies) == imatch_digest("page common the", frequencies)
    assert imatch_digest("the common page", frequencies) != imatch_digest("", frequencies)
    assert imatch_digest("the common page", frequencies) != imatch_digest("the common start", frequencies)


def test_tables_can_be_merged_in_any_order() -> None:
    whole = TermFrequencies(buckets=64).add_all(TEXTS)
    parts = [TermFrequencies(buckets=64).add_all(TEXTS[start : start + 7]) for start in (14, 0, 7)]
    for part in parts[1:]:
        parts[0].merge(part)
    assert parts[0].texts == whole.texts == 20
    assert (parts[0].counts == whole.counts).all()
    with pytest.raises(InputError, match="64 and 128 buckets"):
        whole.merge(TermFrequencies(buckets=128))


def test_a_small_table_counts_too_much_but_never_too_little() -> None:
    small, large = TermFrequencies(buckets=16).add_all(TEXTS), TermFrequencies().add_all(TEXTS)
    terms = sorted(terms_of(" ".join(TEXTS)))
    assert (small.weights(terms) <= large.weights(terms)).all()
    assert small.counts.max() <= len(TEXTS)


def test_no_text_and_one_text_weigh_all_terms_alike() -> None:
    assert TermFrequencies().weights(["a", "b"]).tolist() == [1, 1]
    assert TermFrequencies().add_all(["a"]).weights(["a", "b"]).tolist() == [1, 1]


@pytest.mark.parametrize("buckets", [0, -1, 2.0, 1 << 33])
def test_a_table_needs_a_size(buckets: int) -> None:
    with pytest.raises(InputError, match="buckets"):
        TermFrequencies(buckets=buckets)


def frequencies_of(count: int, texts: int = 1_000) -> TermFrequencies:
    """As if so many of some texts had the word "often"."""
    frequencies = TermFrequencies()
    frequencies.texts = texts
    frequencies.counts[frequencies._places(["often"])] = count
    return frequencies


def test_from_which_weight_on_a_term_counts() -> None:
    # 1 - log(501) / log(1000) is a tenth, and a little more.
    assert imatch_digest("often rarely", frequencies_of(501)) != imatch_digest("rarely")
    assert imatch_digest("often rarely", frequencies_of(502)) == imatch_digest("rarely")
    assert imatch_digest("often rarely", frequencies_of(1)) != imatch_digest("rarely")


def test_two_texts_are_enough_to_weigh_terms() -> None:
    assert frequencies_of(2, 2).weights(["often", "rarely"]).tolist() == [0, 1]
    assert frequencies_of(1, 1).weights(["often", "rarely"]).tolist() == [1, 1]


def test_how_large_a_table_is_and_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    assert TermFrequencies().counts.nbytes == 4 << 20
    assert TermFrequencies(1).counts.nbytes == 4
    with pytest.raises(InputError, match="buckets"):
        TermFrequencies((1 << 32) + 1)
    monkeypatch.setattr(np, "zeros", lambda size, kind: size)  # 16 GB
    assert TermFrequencies(1 << 32).buckets == 1 << 32
