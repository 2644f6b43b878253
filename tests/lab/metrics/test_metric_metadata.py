from __future__ import annotations

import pytest

from mainmatter.lab.metrics.metadata import author_is_right, date_is_right, title_is_right


@pytest.mark.parametrize(
    ("extracted", "gold", "right"),
    [
        ("  “A Title”\n here! ", "a title” here", True),
        ("Straße", "STRASSE", True),
        ("A Title | Site", "A Title", False),
        ("C++", "C", False),  # a plus is no punctuation
        (None, "A Title", False),
        ("A Title", None, None),
        ("A Title", " … ", None),
        ("हिन्दी", "हिन्द", False),  # a vowel sign at the end is no punctuation
    ],
)
def test_titles(extracted: str | None, gold: str | None, right: bool | None) -> None:
    assert title_is_right(extracted, gold) is right


@pytest.mark.parametrize(
    ("extracted", "gold", "right"),
    [
        ("Ann Lee; Bob Ray", "Bob Ray, Ann Lee", True),
        ("Ann Lee and Bob Ray", "ann lee & bob ray", True),
        ("Ann Lee, Bob Ray, and Cy Dee", "Ann Lee; Bob Ray; Cy Dee", True),
        ("Ann Lee", "Ann Lee; Bob Ray", False),
        ("Andy Anderson", "Andy Anderson", True),
        ("erson; y Anderson", "Andy Anderson", False),  # "and" inside a name separates nothing
        (None, "Ann Lee", False),
        ("Ann Lee", None, None),
        ("Ann Lee", " ; ", None),
    ],
)
def test_authors(extracted: str | None, gold: str | None, right: bool | None) -> None:
    assert author_is_right(extracted, gold) is right


@pytest.mark.parametrize(
    ("extracted", "gold", "right"),
    [
        ("2024-05-06", "2024-05-06", True),
        ("2024-05-06T10:00:00+02:00", "2024-05-06", True),
        ("2024/5/6", "2024-05-06", True),
        ("2024-05-07", "2024-05-06", False),
        ("2015-11-30", "2015-11", True),
        ("2015", "2015-11", False),
        ("20240506", "2024-05-06", False),
        (None, "2024-05-06", False),
        ("2024-05-06", None, None),
        ("2024-05-06", "", None),
        ("6 May 2024", "6 may 2024.", True),
    ],
)
def test_dates(extracted: str | None, gold: str | None, right: bool | None) -> None:
    assert date_is_right(extracted, gold) is right
