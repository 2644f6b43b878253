"""What holds for every method that learns, shown on a small one."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import numpy as np
import pytest

import mainmatter
from mainmatter import registry
from mainmatter.errors import InputError, ModelError, UnknownName
from mainmatter.lab.datasets import load_dataset
from mainmatter.lab.training.examples import make_example
from mainmatter.method import Example
from mainmatter.records import Gold, Page
from mainmatter.registry import get_method, is_method, make_untrained, split_name, trainable_names
from toys import LONG, Cutoff, write_gold_folder

if TYPE_CHECKING:
    from pathlib import Path

PAGE = f"<p>Menu</p><p>{LONG}</p>"


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.METHODS, "cutoff", "toys:Cutoff")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    examples = [make_example(page) for page in load_dataset(str(write_gold_folder(tmp_path / "gold")))]
    Cutoff().fit(examples).save(tmp_path / "model")
    return tmp_path / "model"


def test_fit_learns_and_returns_the_method(tmp_path: Path) -> None:
    method = Cutoff()
    pages = load_dataset(str(write_gold_folder(tmp_path / "gold")))
    assert method.fit([make_example(page) for page in pages]) is method
    # The longest that is dropped is "A short heading 10", the shortest that is kept is LONG with " 0." behind it.
    assert method.cutoff_ == (18 + len(LONG) + 3) / 2
    assert mainmatter.clean(PAGE, method=method).text == LONG


def test_nothing_to_learn_from() -> None:
    with pytest.raises(InputError, match="cutoff: no pages to learn from"):
        Cutoff().fit([])


def test_a_models_path_is_a_methods_name(folder: Path) -> None:
    assert is_method(str(folder))
    assert is_method(f"{folder}:margin=2")
    assert not is_method("model")
    with pytest.raises(ModelError, match=r"not a model: there is no model\.json"):
        get_method(str(folder.parent))
    assert mainmatter.clean(PAGE, method=str(folder)).text == LONG
    assert mainmatter.clean(PAGE, method=f"{folder}:margin=500").text == ""
    assert mainmatter.clean(PAGE, method=str(folder), parameters={"margin": 500.0}).text == ""
    found = get_method(str(folder))
    assert isinstance(found, Cutoff)
    assert isinstance(pickle.loads(pickle.dumps(found)), Cutoff)
    assert [e.text for e in mainmatter.clean_many([PAGE] * 3, method=found, workers=2)] == [LONG] * 3  # type: ignore[union-attr]


def test_a_path_with_a_colon(folder: Path) -> None:
    other = folder.rename(folder.with_name("a:b"))
    assert split_name(str(other)) == (str(other), "")
    assert split_name(f"{other}:margin=1") == (str(other), "margin=1")
    assert split_name("density:c1=1") == ("density", "c1=1")
    assert split_name("density") == ("density", "")


def test_parameters_that_shape_learning_cannot_be_changed_afterwards(folder: Path) -> None:
    with pytest.raises(
        ModelError, match=r"trained with unit=characters, not words; train one: mainmatter train cutoff:"
    ):
        get_method(f"{folder}:unit=words")
    with pytest.raises(InputError, match="no parameter 'size'; it has: unit, margin"):
        get_method(f"{folder}:size=3")


def test_models_of_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cutoff, "version", 2)
    with pytest.raises(ModelError, match="a model of cutoff, version 1, not of cutoff, version 2"):
        Cutoff.load(folder)
    monkeypatch.delitem(registry.METHODS, "cutoff")
    with pytest.raises(ModelError, match="model: a model of cutoff, a method that is not installed here"):
        get_method(str(folder))


@pytest.mark.parametrize(
    ("facts", "error"), [({}, "KeyError"), ({"cutoff": "much"}, "ValueError"), ({"cutoff": None}, "TypeError")]
)
def test_learned_things_that_do_not_fit(
    folder: Path, monkeypatch: pytest.MonkeyPatch, facts: dict[str, object], error: str
) -> None:
    method = Cutoff.load(folder)
    arrays = method.facts_and_arrays()[1]
    monkeypatch.setattr(Cutoff, "facts_and_arrays", lambda self: (facts, arrays))
    method.save(folder)
    with pytest.raises(ModelError, match=f"damaged: {error}"):
        Cutoff.load(folder)


def test_making_a_method_that_is_to_learn() -> None:
    assert make_untrained("cutoff:unit=words,margin=3").parameters == {"unit": "words", "margin": 3}
    assert "cutoff" in trainable_names()
    assert "density" not in trainable_names()
    with pytest.raises(InputError, match=r"'density' does not learn; those that do: .*cutoff"):
        make_untrained("density")
    with pytest.raises(UnknownName, match="did you mean 'cutoff'"):
        make_untrained("cut-off")
    with pytest.raises(InputError, match="margin must be a number"):
        make_untrained("cutoff:margin=wide")


def test_a_method_without_a_shipped_model() -> None:
    with pytest.raises(ModelError, match=r"cutoff: no such file or folder"):
        get_method("cutoff")


def test_a_block_is_main_matter_if_more_than_half_of_its_words_are() -> None:
    shares = np.array([0.0, 0.5, 0.501, 1.0, np.nan])
    example = Example(mainmatter.read(Page("")), Gold(), shares, ())
    assert example.kept.tolist() == [False, False, True, True, False]
