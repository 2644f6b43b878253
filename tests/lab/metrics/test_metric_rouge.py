from __future__ import annotations

import pytest

from mainmatter.lab.metrics.alignment import rouge_l
from mainmatter.lab.metrics.bag import Score


def test_the_example_of_lin_2004() -> None:
    # Lin 2004, section 3.1: "police killed the gunman" is the reference; "police kill the gunman" shares
    # police the gunman (3 of 4), "the gunman kill police" only the gunman (2 of 4).
    assert rouge_l("police kill the gunman", "police killed the gunman") == Score(0.75, 0.75, 0.75)
    assert rouge_l("the gunman kill police", "police killed the gunman") == Score(0.5, 0.5, 0.5)


def test_order_matters_case_and_punctuation_do_not() -> None:
    assert rouge_l("B a", "a b").f1 == pytest.approx(0.5)
    assert rouge_l("A, b!", "a b").f1 == 1.0


def test_chinese_counts_characters() -> None:
    # 北京大学 against 北大: 北, 大 in order = 2 of 4 and 2 of 2.
    assert rouge_l("北京大学", "北大") == Score(0.5, 1.0, 2 / 3)


def test_empty_texts() -> None:
    assert rouge_l("", "!?") == Score(1.0, 1.0, 1.0)
    assert rouge_l("a", "") == Score(0.0, 0.0, 0.0)
