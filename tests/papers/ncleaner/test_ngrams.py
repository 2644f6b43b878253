"""Alphabets and n-gram models (NCleaner, section 3): values worked out by hand, and a naive model to compare with."""

from __future__ import annotations

import math
import pickle
import random
from collections import Counter
from itertools import product

import numpy as np
import pytest

from mainmatter.papers.ncleaner import ngrams
from mainmatter.papers.ncleaner.ngrams import Alphabet, LogOdds, NgramCounts, NgramModel, write_texts
from reproduce.ncleaner import cross_entropies

AB = Alphabet("ab")
A, B = ngrams.CLASSES, ngrams.CLASSES + 1


def counts(texts: list[str], n: int, alphabet: Alphabet = AB) -> NgramCounts:
    return NgramCounts.of(write_texts(alphabet, texts, n), alphabet.size, n)


def as_dict(found: NgramCounts) -> dict[tuple[int, ...], int]:
    """N-grams as tuples of symbols."""
    result = {}
    for number, count in zip(found.codes.tolist(), found.counts.tolist(), strict=True):
        gram, code = [], number
        for _ in range(found.n):
            gram.append(code % found.size)
            code //= found.size
        result[tuple(reversed(gram))] = count
    return result


class NaiveModel:
    """Equation 1, symbol by symbol, from dictionaries."""

    def __init__(self, texts: list[str], n: int, q: float, alphabet: Alphabet) -> None:
        self.n, self.q, self.size = n, q, alphabet.size
        self.grams: Counter[tuple[int, ...]] = Counter()
        for text in texts:
            symbols = [0] * (n - 1) + alphabet.encode(text).tolist()
            for end in range(n - 1, len(symbols)):
                for length in range(1, n + 1):
                    self.grams[tuple(symbols[end - length + 1 : end + 1])] += 1
        self.total = sum(count for gram, count in self.grams.items() if len(gram) == 1)

    def relative(self, symbol: int, history: tuple[int, ...]) -> float:
        if not history:
            return (self.grams[(symbol,)] + 1) / (self.total + self.size - 1)
        seen = sum(self.grams[(*history, other)] for other in range(self.size))
        return self.grams[(*history, symbol)] / seen if seen else self.relative(symbol, history[1:])

    def probability(self, symbol: int, history: tuple[int, ...]) -> float:
        total = sum(self.q**k * self.relative(symbol, history[k:]) for k in range(self.n))
        return (1 - self.q) / (1 - self.q**self.n) * total


def test_counts_by_hand() -> None:
    # Texts do not run into each other: no b after the a of the first text.
    assert as_dict(counts(["aba", "b"], 2)) == {(0, A): 1, (A, B): 1, (B, A): 1, (0, B): 1}
    assert as_dict(counts(["aa"], 3)) == {(0, 0, A): 1, (0, A, A): 1}
    assert as_dict(counts(["ab", "", "a"], 1)) == {(A,): 2, (B,): 1}
    assert as_dict(counts([], 3)) == as_dict(counts([""], 3)) == {}


def test_shorter_ngrams_are_sums_of_longer_ones() -> None:
    texts = ["abba a", "b ab", "aaab"]
    for shorter in (1, 2, 3):
        assert as_dict(counts(texts, 4).shorter(shorter)) == as_dict(counts(texts, shorter))


def test_differential_counts() -> None:
    raw, clean = counts(["aba", "aba", "bb"], 2), counts(["aba", "aa", "aa"], 2)
    # (begin, a): 2 - 3 is no less than never; (a, a) is in the clean text only.
    assert as_dict(raw.minus(clean)) == {(A, B): 1, (B, A): 1, (0, B): 1, (B, B): 1}
    assert as_dict(raw.minus(raw)) == {}
    assert as_dict(NgramCounts.sum([raw.minus(clean), clean]))[(A, B)] == 2


def test_equation_1_by_hand() -> None:
    model = NgramModel(counts(["aab"], 2), q=0.5)
    size = AB.size
    # Single symbols: a 2, b 1, and one more of each of the symbols but BEGIN.
    of_a, of_b = 3 / (3 + size - 1), 2 / (3 + size - 1)
    weight = 0.5 / 0.75
    codes = np.array([A, A * size + A, A * size + B, B * size + A])
    expected = [
        weight * (1 + 0.5 * of_a),  # after BEGIN there was an a
        weight * (1 / 2 + 0.5 * of_a),
        weight * (1 / 2 + 0.5 * of_b),
        weight * (of_a + 0.5 * of_a),  # nothing followed a b: as without history
    ]
    assert model.probabilities(codes) == pytest.approx(expected)
    assert model.table()[codes] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_against_a_naive_model(n: int, q: float) -> None:
    rng = random.Random(n)
    texts = ["".join(rng.choices("ab ,.1x", k=rng.randrange(12))) for _ in range(20)]
    alphabet = Alphabet("ab,")
    model = NgramModel(counts(texts, n, alphabet), q)
    naive = NaiveModel(texts, n, q, alphabet)
    grams = [tuple(rng.choices(range(alphabet.size), k=n - 1)) for _ in range(30)]
    for history in grams:
        numbers = [
            sum(s * alphabet.size ** (n - 1 - i) for i, s in enumerate((*history, c))) for c in range(alphabet.size)
        ]
        found = model.probabilities(np.array(numbers))
        assert found.sum() == pytest.approx(1)
        assert found[1:] == pytest.approx([naive.probability(c, history) for c in range(1, alphabet.size)])
        if alphabet.size**n <= ngrams.LARGEST_TABLE:
            assert model.table()[numbers] == pytest.approx(found, rel=1e-5)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_log_odds_of_texts(n: int) -> None:
    one, other = ["ab ab", "abab"], ["ba, ba", "b"]
    alphabet = Alphabet("ab,")
    odds = LogOdds(*(NgramModel(counts(texts, n, alphabet), 0.5) for texts in (one, other)))
    naive = [NaiveModel(texts, n, 0.5, alphabet) for texts in (one, other)]
    texts = ["", "ab", "ba,x", "", "b", "aé\0b", ""]
    expected = []
    for text in texts:
        written = [0] * (n - 1) + alphabet.encode(text).tolist()
        places = [i for i in range(n - 1, len(written)) if written[i]]
        ratios = [[model.probability(written[i], tuple(written[i - n + 1 : i])) for model in naive] for i in places]
        expected.append(sum(math.log(a / b) for a, b in ratios))
    assert odds.of_texts(alphabet, texts) == pytest.approx(expected, abs=1e-5)
    assert odds.of_texts(alphabet, []).tolist() == []
    assert odds.of_texts(alphabet, ["", ""]).tolist() == [0, 0]
    # A text's odds do not depend on its neighbours.
    assert [odds.of_texts(alphabet, [text])[0] for text in texts] == pytest.approx(expected, abs=1e-5)


def test_long_texts_are_looked_up_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)
    texts = ["".join(rng.choices("ab c", k=rng.randrange(30))) for _ in range(30)]
    for n in (3, 6):
        odds = LogOdds(*(NgramModel(counts(part, n), 0.5) for part in (texts[:15], texts[15:])))
        whole = odds.of_texts(AB, texts)
        monkeypatch.setattr(ngrams, "_AT_ONCE", 7)
        assert odds.of_texts(AB, texts) == pytest.approx(whole)
        monkeypatch.undo()


def test_different_models_have_no_odds() -> None:
    two, three = NgramModel(counts(["ab"], 2), 0.5), NgramModel(counts(["ab"], 3), 0.5)
    with pytest.raises(ValueError, match="different n-grams"):
        LogOdds(two, three)
    with pytest.raises(ValueError, match="between 0 and 1"):
        NgramModel(counts(["ab"], 2), 1.0)
    with pytest.raises(ValueError, match="64 bits"):
        counts(["ab"], 20)


def test_models_of_nothing() -> None:
    """Without any text, all symbols are equally likely."""
    model = NgramModel(counts([], 3), 0.5)
    assert model.table()[A] == pytest.approx(1 / (AB.size - 1))
    assert model.probabilities(np.array([A])) == pytest.approx(1 / (AB.size - 1))
    assert LogOdds(model, model).of_texts(AB, ["abc"]).tolist() == [0]


def test_cross_entropies() -> None:
    rng = random.Random(5)
    folds = [["".join(rng.choices("ab ,", k=rng.randrange(1, 15))) for _ in range(4)] for _ in range(3)]
    alphabet = Alphabet("ab,")
    orders, qs = (1, 2, 4), (0.2, 0.7)
    found = cross_entropies(folds, alphabet, orders, qs)
    assert found.shape == (3, 2)
    for (row, n), (column, q) in product(enumerate(orders), enumerate(qs)):
        bits = []
        for held_out, fold in enumerate(folds):
            model = NaiveModel([text for i, each in enumerate(folds) if i != held_out for text in each], n, q, alphabet)
            for text in fold:
                written = (*[0] * (n - 1), *alphabet.encode(text).tolist())
                bits += [
                    -math.log2(model.probability(written[i], written[i - n + 1 : i]))
                    for i in range(n - 1, len(written))
                ]
        assert found[row, column] == pytest.approx(sum(bits) / len(bits))


def test_folding() -> None:
    alphabet = Alphabet("Aabe,.?\"'-")
    own = {char: ngrams.CLASSES + i for i, char in enumerate(alphabet.own)}
    expected = {
        "a": own["a"], "é": own["e"], "Á": own["A"], "ａ": own["a"], "，": own[","], "。": own["."], "؟": own["?"],
        "“": own['"'], "’": own["'"], "—": own["-"], "…": own["."],
        "z": ngrams.SMALL, "Z": ngrams.CAPITAL, "я": ngrams.SMALL, "Я": ngrams.CAPITAL,
        "λ": ngrams.SMALL, "א": ngrams.SMALL, "한": ngrams.SMALL,
        "字": ngrams.UNSPACED, "か": ngrams.UNSPACED, "ก": ngrams.UNSPACED, "𠀀": ngrams.UNSPACED,
        "7": ngrams.DIGIT, "٣": ngrams.DIGIT, "½": ngrams.DIGIT,
        " ": ngrams.SPACE, "\n": ngrams.SPACE, "\t": ngrams.SPACE, "\u3000": ngrams.SPACE,
        "(": ngrams.OPENING, ")": ngrams.CLOSING, "!": ngrams.PUNCTUATION, "€": ngrams.CURRENCY,
        "+": ngrams.SIGN, "№": ngrams.SIGN, "\x07": ngrams.OTHER, "\ud800": ngrams.OTHER,
        "\0": ngrams.BEGIN,
    }  # fmt: skip
    for char, symbol in expected.items():
        assert alphabet.encode(char).tolist() == [symbol], repr(char)
    assert alphabet.encode("".join(expected)).tolist() == list(expected.values())
    # A second time, from the table.
    assert alphabet.encode("".join(expected)).tolist() == list(expected.values())
    copy = pickle.loads(pickle.dumps(alphabet))
    assert copy.encode("aéz字").tolist() == alphabet.encode("aéz字").tolist()


def test_non_lexical_alphabet_knows_no_letters() -> None:
    alphabet = Alphabet.learn(["Ab 1, c.", "Cd 2, Я字"], lexical=False)
    assert alphabet.own == ","
    small, digit = ngrams.SMALL, ngrams.DIGIT
    assert alphabet.encode("aZéЯ").tolist() == [small] * 4
    assert alphabet.encode("07٣").tolist() == [digit] * 3
    assert alphabet.encode("字").tolist() == [ngrams.UNSPACED]


def test_learning_an_alphabet() -> None:
    pages = ["ab c", "ab", "ab", "x\n\x07"]
    assert Alphabet.learn(pages).own == "ab"  # c and x are on one page each; white space is a class
    assert Alphabet.learn(pages, most=1).own == "a"
    assert Alphabet.learn(["ba"]).own == "ab"  # of a single page, all
    assert Alphabet.learn([]).own == ""
    assert Alphabet.learn(["ab"] * 9 + ["c"] * 2, share=0.5).own == "ab"
    with pytest.raises(ValueError, match="different characters"):
        Alphabet("aa")
    with pytest.raises(ValueError, match="at most"):
        Alphabet(map(chr, range(0x4E00, 0x4F00)))


def test_only_scripts_in_use_have_symbols() -> None:
    latin = "the river rose in the night, and by morning the bridge was gone " * 8
    pages = [latin + each for each in ("中", "中 ж", "中 ж é")]
    # 中 and ж are on enough pages, but of the letters less than 1 % is Han or Cyrillic. é is Latin, on one page.
    assert Alphabet.learn(pages).own == "".join(sorted(set(latin) - {" "}))
    assert Alphabet.learn([latin + "中" * 5] * 2).own[-1] == "中"
    assert Alphabet.learn([latin + "жжж ЖЖЖ é"] * 2).own[-3:] == "éЖж"
    assert Alphabet.learn(["中文", "中"]).own == "中"
    assert Alphabet.learn([latin + "№ € ٣"] * 2).own[-3:] == "٣€№"  # all but letters are of no script


def test_characters_without_symbols() -> None:
    for own, lexical in (("a\0", True), ("a b", True), ("\x07", True), ("\ud800", True), ("a", False), ("1", False)):
        with pytest.raises(ValueError, match="has no symbol of its own"):
            Alphabet(own, lexical=lexical)


def test_copies_for_other_scripts() -> None:
    alphabet = Alphabet("Hdeloprw,")
    cased, unspaced = alphabet.copies(write_texts(alphabet, ["Hello, world", "1 d"], 2))
    capital, small, han, space = ngrams.CAPITAL, ngrams.SMALL, ngrams.UNSPACED, ngrams.SPACE
    comma = alphabet.encode(",")[0]
    digit = ngrams.DIGIT
    assert cased.tolist() == [0, capital, *[small] * 4, comma, space, *[small] * 5, 0, digit, space, small]
    # Hello and world have two characters each.
    assert unspaced.tolist() == [0, han, han, comma, han, han, 0, digit, han]
    assert [copy.tolist() for copy in Alphabet(",", lexical=False).copies(np.zeros(0, np.uint8))] == [[]]
