"""What holds for every method that learns: its shipped model, learning anew, saving and loading."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import mainmatter
from mainmatter.errors import InputError, ModelError
from mainmatter.lab.datasets import DATASETS, GoldPage, load_dataset
from mainmatter.lab.training.examples import make_example
from mainmatter.main.rehearsal import REHEARSAL, load_rehearsal
from mainmatter.models.store import SHIPPED, is_model, load, save
from mainmatter.records import Gold, Page
from mainmatter.registry import get_method, make_untrained, trainable_names
from toys import LONG, write_gold_folder

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.method import Trainable

MEGABYTE = 1_000_000
# Learning that takes long is made short: these tests are about the contract, not about what is learned.
QUICK = {"ice-regex": "ice-regex:population=12,generations=2"}

trained_methods = pytest.mark.parametrize("name", trainable_names())
SHIPPED_MODELS = sorted(folder.name for folder in SHIPPED.iterdir() if is_model(folder))
# What `template` learns is a site, so nothing ships; test_template.py asks of it what is asked here.
LEARNS_SITES = {"template"}
shipped_methods = pytest.mark.parametrize("name", [name for name in trainable_names() if name not in LEARNS_SITES])


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[GoldPage]:
    return load_dataset(str(write_gold_folder(tmp_path_factory.mktemp("data") / "gold")))


def learn(name: str, pages: list[GoldPage]) -> Trainable[Any]:
    return make_untrained(QUICK.get(name, name)).fit([make_example(page) for page in pages])


def test_five_methods_learn() -> None:
    assert {"fiasco", "ice-lm", "ice-regex", "ice-tree", "ncleaner"} <= set(trainable_names())


def test_shipped_models_are_small() -> None:
    size = sum(file.stat().st_size for name in SHIPPED_MODELS for file in (SHIPPED / name).iterdir())
    assert size < 10 * MEGABYTE


@pytest.mark.parametrize("folder", SHIPPED_MODELS)
def test_a_shipped_model_tells_where_it_comes_from(folder: str) -> None:
    model = load(SHIPPED / folder)
    assert model.method in trainable_names()
    assert model.card["data"]
    for data in model.card["data"]:
        # A preset of a paper may learn from what is free for research, a default may not.
        allowed = {"training", "papers"} if "paper" in folder.split("-") else {"training"}
        assert DATASETS[data["name"]].use in allowed, f"{folder} may not learn from {data['name']}"
        assert data["licence"] == DATASETS[data["name"]].licence
        assert re.fullmatch("[0-9a-f]{64}", data["sha256"])
    assert model.card["seconds"]["learning"] >= 0
    assert (SHIPPED / folder / "README.md").is_file()


def test_pages_for_rehearsal_are_of_sets_that_defaults_may_learn_from() -> None:
    conventions = {page.convention for page in load_rehearsal(SHIPPED / "main" / REHEARSAL)}
    assert conventions <= {known.convention for known in DATASETS.values() if known.use == "training"}


@shipped_methods
def test_shipped_and_ready(name: str) -> None:
    method = get_method(name)
    assert make_untrained(name).weights() in SHIPPED_MODELS
    found = mainmatter.clean(f"<title>A text</title><h1>A text</h1><p>{LONG * 4}</p>" * 3, method=method)
    assert LONG in found.text


@trained_methods
def test_learn_save_load(name: str, pages: list[GoldPage], tmp_path: Path) -> None:
    method = learn(name, pages)
    size = method.save(tmp_path / "model")
    assert size < 3 * MEGABYTE
    again = type(method).load(tmp_path / "model")
    assert again.parameters == method.parameters
    for page in [*(page.page for page in pages[:3]), Page(""), Page(f"Menu\n\n{LONG}", format="text")]:
        before, after = mainmatter.clean(page, method=method), mainmatter.clean(page, method=again)
        assert before.kept.tolist() == after.kept.tolist()
        assert list(before.kinds) == list(after.kinds)
        assert before.scores == pytest.approx(after.scores, abs=1e-3)


@trained_methods
def test_learning_gives_the_same_again(name: str, pages: list[GoldPage]) -> None:
    (facts, arrays), (other_facts, other_arrays) = (learn(name, pages).facts_and_arrays() for _ in range(2))
    assert facts == other_facts
    assert arrays.keys() == other_arrays.keys()
    for key, array in arrays.items():
        assert np.array_equal(array, other_arrays[key])


@trained_methods
def test_learning_from_nothing(name: str) -> None:
    with pytest.raises(InputError, match=f"{name}: no pages to learn from"):
        make_untrained(name).learn([])


@trained_methods
@pytest.mark.parametrize(
    "odd",
    [
        [GoldPage(Page(""), Gold(""), {})],
        [GoldPage(Page("<p>all of it is boilerplate"), Gold(""), {})] * 3,
        [GoldPage(Page("<p>all of it is text"), Gold("all of it is text"), {})] * 3,
        [GoldPage(Page("<p>one page"), Gold("another text"), {})],
        [GoldPage(Page("中文。\n\n中文菜单", format="text"), Gold("中文。"), {})] * 2,
    ],
    ids=["empty", "nothing is kept", "everything is kept", "another page's text", "dump"],
)
def test_learning_from_odd_pages_works_or_says_why_not(name: str, odd: list[GoldPage]) -> None:
    try:
        method = learn(name, odd)
    except InputError as error:
        assert name in str(error)  # noqa: PT017 - either is right
        return
    found = mainmatter.clean(f"<p>Menu</p><p>{LONG}</p>", method=method)
    assert np.isfinite(found.scores).all()
    assert method.facts_and_arrays()[0] is not None


@shipped_methods
def test_models_that_lack_something(name: str, tmp_path: Path) -> None:
    model = load(SHIPPED / make_untrained(name).weights())
    for key in model.facts:
        facts = {other: value for other, value in model.facts.items() if other != key}
        save(type(model)(model.method, model.version, model.parameters, facts, model.arrays), tmp_path / "model")
        with pytest.raises(ModelError, match=f"{tmp_path.name}.*damaged"):
            get_method(str(tmp_path / "model"))
    for key in model.arrays:
        for arrays in (
            {other: array for other, array in model.arrays.items() if other != key},
            {**model.arrays, key: model.arrays[key].reshape(-1)[:1]},
        ):
            save(type(model)(model.method, model.version, model.parameters, model.facts, arrays), tmp_path / "model")
            with pytest.raises(ModelError, match=f"{tmp_path.name}.*damaged"):
                get_method(str(tmp_path / "model"))
