"""What is seen of each block: values worked out by hand, one family of columns a test."""

from __future__ import annotations

from math import log, log1p, tanh
from typing import TYPE_CHECKING

import numpy as np
import pytest

import mainmatter
from mainmatter.main.features import COLUMNS, LEVELS, describe_blocks
from mainmatter.records import Page
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable


def describe(page: str | Page) -> list[dict[str, float]]:
    document = mainmatter.read(page if isinstance(page, Page) else Page(page))
    arrays = describe_blocks(document)
    assert arrays.dense.shape == (len(document), len(COLUMNS))
    assert arrays.dense.dtype == np.float32
    assert arrays.around.shape == (len(document), LEVELS + 1)
    assert np.isfinite(arrays.dense).all()
    return [dict(zip(COLUMNS, row, strict=True)) for row in arrays.dense.tolist()]


def values(rows: list[dict[str, float]], column: str) -> list[float]:
    return [row[column] for row in rows]


def near(*expected: float) -> object:
    return pytest.approx(list(expected), abs=1e-6)


def test_text() -> None:
    (row,) = describe("<p>Ab, <a href=x>cd 12.</a> <a href=y>5</a>")  # 12 characters: "Ab, cd 12. 5"
    assert row["chars"] == pytest.approx(log1p(12))
    assert row["link_share"] == pytest.approx(7 / 12)
    assert row["links"] == pytest.approx(log1p(2))
    assert (row["digits"], row["capitals"]) == pytest.approx((3 / 12, 1 / 4))
    assert (row["stops"], row["commas"], row["marks"], row["spaces"]) == pytest.approx((1 / 12, 1 / 12, 0, 3 / 12))
    assert (row["stop_count"], row["comma_count"]) == pytest.approx((log1p(1), log1p(1)))


def test_how_a_text_begins_and_ends() -> None:
    rows = describe("<p>One.<p>2 and:<p>three")
    assert values(rows, "ends_with_stop") == [1, 0, 0]
    assert values(rows, "ends_with_comma") == [0, 1, 0]
    assert values(rows, "begins_with_capital") == [1, 0, 0]
    assert values(rows, "begins_with_digit") == [0, 1, 0]


def test_a_chinese_character_says_more() -> None:
    document = mainmatter.read(Page("<p>日本語a"))
    arrays = describe_blocks(document)
    assert arrays.sizes.tolist() == [3 * 2.5 + 1]  # as much as two and a half letters
    assert arrays.dense[0, COLUMNS.index("chars")] == pytest.approx(log1p(arrays.sizes[0]))


def test_looks() -> None:
    rows = describe("<h2>a</h2><p>b</p><ul><li>c</ul><button>d</button><pre>e</pre><h5>f</h5>")
    kinds = [[name for name in COLUMNS if name.startswith("kind_") and row[name]] for row in rows]
    assert kinds == [
        ["kind_heading"],
        ["kind_paragraph"],
        ["kind_list-item"],
        ["kind_paragraph"],
        ["kind_code"],
        ["kind_heading"],
    ]
    assert values(rows, "h2") == [1, 0, 0, 0, 0, 0]
    assert values(rows, "control") == [0, 0, 0, 1, 0, 0]
    assert rows[0]["page_controls"] == pytest.approx(1 / 6)
    assert rows[0]["page_headings"] == pytest.approx(2 / 6)


def test_levels_of_headings() -> None:
    rows = describe("".join(f"<h{level}>a</h{level}>" for level in range(1, 7)) + "<h6><button>b</button></h6><p>c")
    for level in (1, 2, 3):
        assert values(rows, f"h{level}") == [float(number == level) for number in range(1, 7)] + [0, 0]
    assert values(rows, "kind_heading") == [1] * 7 + [0]
    assert values(rows, "control") == [0] * 6 + [1, 0]


def test_places() -> None:
    rows = describe("<div><p>aaa</p></div><img><div><div><p>b</p></div></div>")
    assert values(rows, "place") == near(0.25, 0.75)
    assert values(rows, "chars_before") == near(0, 0.75)
    assert values(rows, "gap_before") == near(log1p(4), log1p(3))  # html, body, div, p; div, div, p
    assert values(rows, "gap_after") == near(log1p(3), 0)
    assert values(rows, "pictures") == near(0, log1p(1))
    assert values(rows, "depth") == near(0.4, 0.5)
    assert values(rows, "relative_depth") == near(-0.1, 0.1)


def test_copies() -> None:
    rows = describe("<p>a<p>b<p>a<p>a")
    assert values(rows, "copies") == near(log(3), 0, log(3), log(3))
    assert values(rows, "copy_before") == [0, 0, 1, 1]


def test_siblings() -> None:
    rows = describe("<ul><li>a<li>b<li>c</ul>")
    assert values(rows, "siblings") == values(rows, "alike") == near(*[log1p(3)] * 3)
    assert values(rows, "in_ul") == [1, 1, 1]
    assert values(rows, "in_nav") == [0, 0, 0]


def test_containers() -> None:
    rows = describe("<nav><a href=x>aa</a><p>bb</p></nav><div><h1>c.</h1><p>dddd</p></div>")
    first, _, third, _ = rows
    assert first["container_1_chars"] == pytest.approx(log1p(4))
    assert first["container_1_link_share"] == pytest.approx(0.5)
    assert (first["container_1_blocks"], first["container_2_blocks"]) == pytest.approx((log1p(2), log1p(4)))
    assert third["container_1_mean_chars"] == pytest.approx((log1p(2) + log1p(4)) / 2)
    assert third["container_1_page_share"] == pytest.approx(0.6)
    assert third["container_1_stops"] == pytest.approx(30 / 6)
    assert third["container_1_headings"] == pytest.approx(0.5)
    assert values(rows, "container_1_place") == near(0, 0.5, 0, 0.5)
    assert values(rows, "container_2_place") == near(0, 0.25, 0.5, 0.75)


def test_anchors() -> None:
    long_text = "It is a text, a long one, that says more than all of the others on this page do."
    rows = describe(
        f"<title>Big news - Site</title><nav><p>x</p><p>y</p></nav><div><h1>Big news</h1><p>{long_text}</div>"
    )
    assert values(rows, "in_title") == near(0, 0, 8 / 15, 0)
    assert values(rows, "longest_side") == near(tanh(-0.15), tanh(-0.1), tanh(-0.05), 0)
    assert rows[3]["longest_ratio"] == 0
    # The menu's two innermost do not hold the longest text; the heading's own element does not.
    assert values(rows, "longest_level") == near(2 / 6, 2 / 6, 1 / 6, 0)
    assert values(rows, "title_side") == near(tanh(-0.2), tanh(-0.1), 0, tanh(0.1))
    assert values(rows, "in_top") == [0, 0, 1, 1]
    assert values(rows, "top_side") == near(tanh(-0.1), tanh(-0.05), 0, 0)
    assert (rows[3]["top_1"], rows[0]["top_1"]) == (1, 0)
    assert rows[0]["page_has_title"] == 1
    assert rows[0]["page_top_blocks"] == pytest.approx(log1p(2))


@pytest.mark.parametrize(
    ("text", "is_text"),
    [
        ("x" * 25, False),
        ("x" * 26, True),  # more than 25 characters that are no links
        (f"<a href=y>{'x' * 10}</a>{'x' * 25}", False),
        (f"<a href=y>{'x' * 10}</a>{'x' * 26}", True),
        (f"<a href=y>{'x' * 50}</a>{'x' * 50}", False),
        (f"<a href=y>{'x' * 49}</a>{'x' * 51}", True),  # and less than half of it is a link
    ],
)
def test_what_counts_as_running_text(text: str, is_text: bool) -> None:
    # Without any running text, the whole page is the top container.
    rows = describe(f"<div><p>{text}</p><p>y</p></div><p>z</p>")
    assert values(rows, "in_top") == [1, 1, 0 if is_text else 1]


@pytest.mark.parametrize(("text", "share"), [("ab", 0), ("abc", 3 / 10)])
def test_what_is_short_stands_in_a_title_by_chance(text: str, share: float) -> None:
    assert values(describe(f"<title>abcdefghij</title><p>{text}</p>"), "in_title") == near(share)


@pytest.mark.parametrize(
    ("text", "title", "has_title"),
    [("abc", "abc" + "x" * 13, False), ("abc", "abc" + "x" * 12, False), ("abcd", "abcd" + "x" * 15, True)],
)
def test_a_headline_is_more_than_a_fifth_of_the_title(text: str, title: str, has_title: bool) -> None:
    rows = describe(f"<title>{title}</title><h1>{text}</h1><p>z")
    assert values(rows, "page_has_title") == [has_title, has_title]
    assert values(rows, "title_side") == near(0, tanh(0.1) if has_title else 0)


def test_a_page_without_a_headline() -> None:
    rows = describe("<title>Other</title><p>One text.<p>And one more.")
    assert {row[name] for row in rows for name in ("page_has_title", "title_level", "title_side", "in_title")} == {0}


def test_what_is_the_same_for_the_whole_page() -> None:
    rows = describe("<p>aaa. </p><ul><li><a href=x>bb</a></ul><img>")
    for name in (name for name in COLUMNS if name.startswith("page_")):
        assert len(set(values(rows, name))) == 1
    row = rows[0]
    assert (row["page_blocks"], row["page_chars"], row["page_longest"]) == pytest.approx((log1p(2), log1p(6), log1p(4)))
    assert (row["page_link_share"], row["page_paragraph_share"]) == pytest.approx((2 / 6, 4 / 6))
    assert row["page_stops"] == pytest.approx(30 / 6)
    assert row["page_depth"] == pytest.approx(0.4)


def test_a_plain_text_dump() -> None:
    rows = describe(Page("One text.\n\nAnother one, and more.\n", format="text"))
    assert len(rows) == 2
    assert values(rows, "depth") == [0, 0]
    assert values(rows, "container_1_blocks") == near(log1p(2), log1p(2))


@pytest.mark.parametrize("page", [Page(""), Page("<title>a</title><img>"), Page("", format="text")])
def test_pages_without_text(page: Page) -> None:
    assert describe(page) == []


@pytest.mark.parametrize(
    "html", ["x", "<p>\ud800", "<p>\U0001f600", "<title></title><p>x", "<a href=x>x</a>", "<p>\x02a"]
)
def test_one_block(html: str) -> None:
    (row,) = describe(html)
    assert (row["place"], row["in_top"], row["longest_level"]) == (0.5, 1, 0)


def test_deep_and_long_pages() -> None:
    (row,) = describe("<div>" * 600 + "a")
    assert row["depth"] > 40


def test_long_pages_take_linear_time() -> None:
    def make(size: int) -> Callable[[], object]:
        document = mainmatter.read(Page("<div><p>Some text, here.</div>" * size + "<p>x" * size))
        return lambda: describe_blocks(document)

    assert_linear(make, 50_000)
