"""Adapted content code blurring, from its description in section 2 of the Density paper."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from reproduce import accb

SENTENCE = "The river rose by two metres in the night, and the old bridge had to be closed. "


@pytest.mark.parametrize(
    ("html", "characters", "content"),
    [
        ("ab<p>c", "ab<p>c", "11...1"),
        # The tags of links are no part of the vector; those that only begin alike are.
        ('a<a href="/x">b</a>c', "abc", "111"),
        ("a<abbr>b</abbr>", "a<abbr>b</abbr>", "1......1......."),
        # Scripts, styles and comments are code, also where they look like text, and also if they never end.
        ("<script>1<2</script>x", "<script>1<2</script>x", "." * 20 + "1"),
        ("x<!-- a > b -->", "x<!-- a > b -->", "1" + "." * 14),
        ("x<style>p", "x<style>p", "1........"),
        # White space between tags lays out the source; within text it is one space. Entities are characters.
        ("<p>\n  <b>a \n b</b>", "<p><b>a b</b>", "......111...."),
        ("a &amp; b", "a & b", "11111"),
        ("", "", ""),
    ],
)
def test_the_content_code_vector(html: str, characters: str, content: str) -> None:
    found, is_content = accb.content_code_vector(html)
    assert found == characters
    assert "".join(".1"[each] for each in is_content.astype(int)) == content


def blurred_by_hand(values: list[float], radius: int) -> list[float]:
    """ "Iteratively spreading the values of a character to its neighbors until the values stabilize"."""
    weights = {shift: math.exp(-0.5 * (shift / (radius / 2)) ** 2) for shift in range(-radius, radius + 1)}
    total = sum(weights.values())
    while True:
        spread = [
            sum(weight / total * values[i + shift] for shift, weight in weights.items() if 0 <= i + shift < len(values))
            for i in range(len(values))
        ]
        if max(abs(a - b) for a, b in zip(spread, values, strict=True)) <= 0.01:
            return spread
        values = spread


@pytest.mark.parametrize("radius", [1, 3, 8])
def test_the_values_are_blurred_until_they_are_stable(radius: int) -> None:
    rng = random.Random(radius)
    content = [rng.random() < share for share in (0.1, 0.9, 0.3, 1.0) for _ in range(30)]
    expected = blurred_by_hand([float(each) for each in content], radius)
    assert accb.blur(np.array(content), radius) == pytest.approx(expected)


def test_text_among_text_is_kept_and_text_among_code_is_not() -> None:
    menu = "".join(f'<li class="entry"><span class="x">Page {number}</span></li>' for number in range(9))
    page = f'<ul>{menu}</ul><p>{SENTENCE * 3}A <a href="{"/x" * 200}">link</a> in it. {SENTENCE * 3}</p><ul>{menu}</ul>'
    found = accb.extract_accb(page)
    assert "A link in it." in found
    assert SENTENCE * 2 in found
    assert "Page 4" not in found


def test_pages_without_text() -> None:
    assert accb.extract_accb("") == ""
    assert accb.extract_accb("<p><img src=x>") == ""


def test_what_is_left_out_leaves_a_space() -> None:
    assert accb.select("abcdef", np.array([True, True, False, False, True, True])) == "ab ef"


def test_the_constants_that_were_chosen() -> None:
    # docs/results/density-tuning.md
    assert (accb.RADIUS, accb.THRESHOLD, accb.STABLE) == (40, 0.4, 0.01)
