"""Errors say what is wrong and what to do, and survive the way back from another process."""

from __future__ import annotations

import copy
import pickle

import pytest

from mainmatter import errors
from mainmatter.errors import (
    DatasetError,
    FetchError,
    InputError,
    MainmatterError,
    MissingExtra,
    NotAPage,
    PageTooLarge,
    UnknownName,
)


def test_the_tree_of_the_docstring() -> None:
    assert FetchError.__mro__[1:3] == NotAPage.__mro__[1:3] == (InputError, MainmatterError)
    for error in (InputError, PageTooLarge, UnknownName, MissingExtra, DatasetError):
        assert error.__bases__ == (MainmatterError,)
    assert MainmatterError.__bases__ == (Exception,)
    classes = [
        name for name, value in vars(errors).items() if isinstance(value, type) and value.__module__ == errors.__name__
    ]
    assert errors.__doc__ is not None
    for name in classes:
        assert name in errors.__doc__


def test_an_unknown_name_that_is_nearly_right() -> None:
    error = UnknownName("method", "densty", ["density", "ice-heuristic"])
    assert str(error) == "unknown method 'densty'; did you mean 'density'?"


def test_an_unknown_name_that_is_nothing_like_it() -> None:
    error = UnknownName("format", "zzz", ["tei", "html"])
    assert str(error) == "unknown format 'zzz'; known: html, tei"


def test_a_missing_extra() -> None:
    error = MissingExtra("pyarrow", "eval")
    assert str(error) == "this needs pyarrow, which is not installed; run: pip install 'mainmatter[eval]'"


@pytest.mark.parametrize(
    "error",
    [
        MainmatterError("a"),
        InputError("b"),
        FetchError("c"),
        NotAPage("c"),
        PageTooLarge("d"),
        DatasetError("e"),
        MissingExtra("rapidfuzz", "eval"),
        UnknownName("method", "x", ["density"]),
        UnknownName("method", "densit", iter(["density"])),
    ],
)
def test_errors_can_be_pickled_and_copied(error: MainmatterError) -> None:
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is type(error)
        assert other.args == error.args
        assert str(other) == str(error)
