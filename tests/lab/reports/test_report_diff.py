"""The gold text against what was kept, word by word."""

from __future__ import annotations

import pytest

from mainmatter.lab.reports.diff import Diff, diff

pytest.importorskip("rapidfuzz")


def shown(found: Diff) -> str:
    marks = {"both": "{}", "missed": "+{}+", "wrong": "-{}-", "cut": "[{}]"}
    return " ".join(marks[piece.kind].format(piece.text.strip()) for piece in found.pieces)


def test_missed_and_wrong_words() -> None:
    found = diff("one two three four five", "Menu one two four, five Imprint")
    assert shown(found) == "-Menu- one two +three+ four, five -Imprint-"
    assert (found.both, found.missed, found.wrong, found.unshown, found.is_partial) == (4, 1, 2, 0, False)


def test_case_and_punctuation_do_not_matter() -> None:
    assert shown(diff("Hello, World!", "hello world")) == "hello world"


@pytest.mark.parametrize(
    ("gold", "kept", "what"), [("", "", ""), ("", "a b", "-a b-"), ("a b", "", "+a b+"), ("…", "…", "…")]
)
def test_empty_texts(gold: str, kept: str, what: str) -> None:
    assert shown(diff(gold, kept)) == what


def test_lines_stay_lines() -> None:
    assert "".join(piece.text for piece in diff("a\n\nb  c", "a\nb c").pieces) == "a\nb c\n"


def test_each_chinese_character_is_a_word() -> None:
    found = diff("潮汐表说中午", "潮汐表说")
    assert shown(found) == "潮汐表说 +中午+"
    assert (found.both, found.missed) == (4, 2)


def test_what_is_equal_is_shortened_around_differences() -> None:
    words = [f"w{i}" for i in range(100)]
    gold = " ".join([*words[:50], "lost", *words[50:]])
    assert shown(diff(gold, " ".join(words))) == (
        "[42 words] w42 w43 w44 w45 w46 w47 w48 w49 +lost+ "
        "w50 w51 w52 w53 w54 w55 w56 w57 [34 words] w92 w93 w94 w95 w96 w97 w98 w99"
    )


def test_a_long_difference_is_shortened() -> None:
    found = diff("", " ".join(f"w{i}" for i in range(1000)))
    assert found.wrong == 1000
    assert [piece.kind for piece in found.pieces] == ["wrong", "cut", "wrong"]
    assert found.pieces[1].text == "940 words"


def test_stray_words_amid_differences_are_no_sign_of_anything() -> None:
    gold = "the library will open on sundays"
    kept = "this website uses cookies to make it work and to count on how many people read each page"
    assert [piece.kind for piece in diff(gold, kept).pieces] == ["missed", "wrong"]


def test_a_stray_match_does_not_take_a_word_from_its_run() -> None:
    # Aligned from the left, the first "in" would be taken for the kept one.
    gold = "only one object in forty is ever on show here in 1911 the museum bought a skeleton"
    assert shown(diff(gold, "in 1911 the museum bought a skeleton")) == (
        "+only one object in forty is ever on show here+ in 1911 the museum bought a skeleton"
    )


def test_its_size_is_bounded_and_what_is_left_out_is_told() -> None:
    gold = " ".join(f"same{i} a b c d e f gold{i}" for i in range(3000))
    kept = " ".join(f"same{i} a b c d e f kept{i}" for i in range(3000))
    found = diff(gold, kept, characters=2000)
    assert sum(len(piece.text) for piece in found.pieces) < 2600
    assert (found.missed, found.wrong) == (3000, 3000)
    assert found.unshown > 5000


def test_a_word_without_end_is_cut() -> None:
    found = diff("x", "y" * 1_000_000)
    assert sum(len(piece.text) for piece in found.pieces) < 300
