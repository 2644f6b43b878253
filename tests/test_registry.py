"""Names to methods and formats."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint

import pytest

from mainmatter import registry
from mainmatter.errors import InputError, UnknownName
from mainmatter.papers.density.method import Density
from mainmatter.papers.ice.baseline import IceBaseline
from mainmatter.registry import DEFAULT_METHOD, FORMATS, METHODS, get_format, get_method, method_names


def test_the_methods_that_need_no_training_are_there() -> None:
    assert {"density", "ice-baseline", "ice-elaborate", "ice-heuristic"} <= set(method_names())
    assert method_names() == sorted(method_names())
    assert DEFAULT_METHOD == "main"
    assert DEFAULT_METHOD in method_names()


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_methods_name_is_that_of_its_place(name: str) -> None:
    method = get_method(name)
    assert method.name == name
    paper, _, part = name.partition("-")
    place = "main" if name == "main" else f"papers.{paper}"
    assert type(method).__module__ == f"mainmatter.{place}.{part or 'method'}"
    assert 0 < len(method.summary) <= 120
    assert type(method).__doc__


def test_all_formats_of_the_house_are_there() -> None:
    assert {"cleaneval", "html", "json", "markdown", "tei", "text"} <= set(FORMATS)
    assert len({ending for _, ending in FORMATS.values()}) == len(FORMATS)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_formats_name_is_its_files_name(name: str) -> None:
    file = "json" if name == "jsonl" else name  # the same on one line
    assert get_format(name).__module__ == f"mainmatter.render.{file}"


def test_parameters() -> None:
    assert get_method("density", c1=0.25, c2=6) == Density(c1=0.25, c2=6)
    assert get_method("density") == Density(0.333, 4)


def test_an_unknown_method() -> None:
    with pytest.raises(UnknownName, match="unknown method 'densiti'; did you mean 'density'"):
        get_method("densiti")


def test_an_unknown_format() -> None:
    with pytest.raises(UnknownName, match="unknown format 'docx'; known: cleaneval, html, json"):
        get_format("docx")


def test_an_unknown_parameter() -> None:
    with pytest.raises(InputError, match="method 'density' has no parameter 'c3'"):
        get_method("density", c3=1)


def test_a_preset_stands_for_its_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Density, "presets", {"paper": {"c1": 0.5, "c2": 9}})
    assert get_method("density:preset=paper") == Density(c1=0.5, c2=9)
    assert get_method("density", preset="paper") == Density(c1=0.5, c2=9)
    assert get_method("density:c2=3,preset=paper", c1=0.1) == Density(c1=0.1, c2=3)


def test_an_unknown_preset() -> None:
    with pytest.raises(InputError, match="method 'density' has no preset 'book'; it has: paper"):
        get_method("density:preset=book")
    with pytest.raises(InputError, match="method 'main' has no preset 'paper'; it has none"):
        get_method("main", preset="paper")


def test_methods_of_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("theirs", "mainmatter.papers.ice.baseline:IceBaseline", "mainmatter.methods")
    monkeypatch.setattr(registry, "_plugins", lambda: {"theirs": point})
    assert "theirs" in method_names()
    assert isinstance(get_method("theirs"), IceBaseline)
    assert isinstance(get_method("density"), Density)


class TakesAnything:
    """A method whose constructor does not say what it takes."""

    def __init__(self, size: int = 1, **others: object) -> None:
        self.parameters = {"size": size} | others


def test_parameters_of_a_method_that_takes_any(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("any", f"{__name__}:TakesAnything", "mainmatter.methods")
    monkeypatch.setattr(registry, "_plugins", lambda: {"any": point})
    method = get_method("any:depth=3", colour="red")
    assert isinstance(method, TakesAnything)
    assert method.parameters == {"size": 1, "depth": 3, "colour": "red"}
    with pytest.raises(InputError, match="size must be a whole number, not 'large'"):
        get_method("any:size=large")


def test_a_method_of_another_package_that_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("broken", "no_such_package:Method", "mainmatter.methods")
    monkeypatch.setattr(registry, "_plugins", lambda: {"broken": point})
    with pytest.raises(
        InputError, match=r"^method 'broken': no_such_package:Method cannot be loaded: ModuleNotFoundError: No module"
    ):
        get_method("broken")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("density:c1=wide", "c1 must be a number, not 'wide'"),
        ("density:c1=None", "c1 must be a number, not None"),
        ("density:c1=1e999", "c1 must be a number, not inf"),
        ("density:c2=True", "c2 must be a whole number, not True"),
        ("density:c2=2.5", "c2 must be a whole number, not 2.5"),
        ("ncleaner:lexical=1", "lexical must be True or False, not 1"),
        ("ncleaner:lexical=false", "lexical must be True or False, not 'false'"),
        ("ncleaner:threshold=low", "threshold must be a number or None, not 'low'"),
        ("fiasco:features=3", "features must be text, not 3"),
    ],
)
def test_values_of_the_wrong_type(name: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        get_method(name)


@pytest.mark.parametrize("name", ["density:c1=1", "density:c2=-3", "ncleaner:threshold=None", "ncleaner:threshold=2"])
def test_values_of_the_right_type(name: str) -> None:
    assert get_method(name).name == name.partition(":")[0]


def test_a_parameter_called_name_is_refused_like_others() -> None:
    with pytest.raises(InputError, match="name"):
        get_method("density", name="x")
