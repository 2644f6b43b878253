from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from mainmatter.lab.metrics.bag import Counts, Score
from mainmatter.text.tokens import marked_tokens, tokens, without_markers, words


def test_words_are_lower_case_runs_of_letters_digits_and_underscores() -> None:
    assert words("Don't STOP, snake_case 42-fold!") == ["don", "t", "stop", "snake_case", "42", "fold"]


def test_each_chinese_or_japanese_character_is_a_word() -> None:
    assert words("東京 Tower2は高い") == ["東", "京", "tower2", "は", "高", "い"]


def test_other_scripts_are_runs() -> None:
    assert words("Ελλάδα, Россия — Łódź") == ["ελλάδα", "россия", "łódź"]


def test_a_word_beside_a_chinese_character_is_cut_off() -> None:
    assert words("iPhone手机abc") == ["iphone", "手", "机", "abc"]


def test_the_fast_way_for_ascii_gives_the_same_words() -> None:
    plain = "A quick-brown fox_1 (jumps); over 3.14 dogs\n"
    assert words(plain + "é") == [*words(plain), "é"]


def test_tokens_keep_case_and_punctuation_and_split_at_control_characters() -> None:
    assert tokens("He said:\x00\x01“No!”\n\tOK\x1fyes") == ["He", "said:", "“No!”", "OK", "yes"]


def test_markers_are_tokens_without_spaces_around_and_in_any_case() -> None:
    assert marked_tokens("<h>Title<P>Text <l>item") == ["<h>", "Title", "<p>", "Text", "<l>", "item"]


def test_other_tags_are_words() -> None:
    assert marked_tokens("<p>a <br> b</p>") == ["<p>", "a", "<br>", "b</p>"]


def test_only_a_first_line_that_begins_with_url_is_dropped() -> None:
    assert marked_tokens("URL: http://example.org/ \n\n<p>URL later\nURL again") == [
        *("<p>", "URL", "later", "URL", "again")
    ]


def test_markers_can_be_removed() -> None:
    assert without_markers(marked_tokens("<h>One <p>two")) == ["One", "two"]


def test_score_from_counts() -> None:
    # 2 of 4 extracted are right, 2 of 8 wanted are found: F1 = 2 * 0.5 * 0.25 / 0.75 = 1/3.
    assert Score.from_counts(2, 4, 8) == Score(0.5, 0.25, 1 / 3)


def test_nothing_where_nothing_is_wanted_is_right_and_else_wrong() -> None:
    assert Score.from_counts(0, 0, 0) == Score(1.0, 1.0, 1.0)
    assert Score.from_counts(0, 3, 0) == Score.from_counts(0, 0, 3) == Score(0.0, 0.0, 0.0)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_f1_is_the_harmonic_mean(matched: int, extra: int, missing: int) -> None:
    score = Score.from_counts(matched, matched + extra, matched + missing)
    both = score.precision + score.recall
    assert math.isclose(score.f1, 2 * score.precision * score.recall / both if both else 0.0)
    assert 0 <= score.f1 <= 1


def test_counts_add_up() -> None:
    assert Counts(1, 2, 3) + Counts(10, 20, 30) == Counts(11, 22, 33)
    assert Counts(1, 2, 4).score == Score.from_counts(1, 2, 4)
