"""Content-Type headers, as servers write them."""

from __future__ import annotations

import pytest

from mainmatter.inputs.content_type import charset_of


@pytest.mark.parametrize(
    ("header", "charset"),
    [
        ("text/html; charset=UTF-8", "utf-8"),
        ('text/html; charset="ISO-8859-2"; x=y', "iso-8859-2"),
        ("text/html", None),
        ("", None),
        ("text/html; charset*=utf-8''%e4;;", None),  # Python raises LookupError, ValueError
        ("text/html; charset*0*=a'b; charset*=x''%ff", None),  # and TypeError
        ("\0;charset=\udcff", None),
    ],
)
def test_charsets(header: str, charset: str | None) -> None:
    assert charset_of(header) == charset
