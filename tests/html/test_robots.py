"""How far a page's head is searched for a robots meta tag; what it says is tested in tests/corpus/test_filters.py."""

from __future__ import annotations

import pytest

from mainmatter.html.robots import noindex_in_html

META = "<meta name=robots content=noindex>"


@pytest.mark.parametrize(("before", "is_found"), [(524_288 - len(META), True), (524_288 - 5, False)])
def test_the_head_is_searched_for_half_a_megabyte(before: int, is_found: bool) -> None:
    html = " " * before + META
    for page in (html, html.encode()):
        assert (noindex_in_html(page) == "robots: noindex") == is_found
