"""Models on disk: what is written is read again, and nothing else is."""

from __future__ import annotations

import hashlib
import json
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mainmatter.errors import ModelError
from mainmatter.models.store import DESCRIPTION, FORMAT_VERSION, WEIGHTS, Model, is_model, load, save

if TYPE_CHECKING:
    from pathlib import Path

MODEL = Model(
    "cutoff",
    2,
    {"n": 3, "q": 0.5, "lexical": True},
    {"words": ["naïve", "中"], "tree": {"left": None}},
    {"a": np.arange(6, dtype=np.float16).reshape(2, 3), "b": np.array([], np.int64)},
    {"data": []},
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(MODEL, tmp_path / "deep" / "model")
    return tmp_path / "deep" / "model"


def edit(folder: Path, **changes: object) -> None:
    description = json.loads((folder / DESCRIPTION).read_bytes())
    for name, value in changes.items():
        description[name] = value
        if value is None:
            del description[name]
    (folder / DESCRIPTION).write_text(json.dumps(description), encoding="utf-8")


def test_what_is_written_is_read(folder: Path) -> None:
    found = load(folder)
    assert is_model(folder)
    assert (found.method, found.version, found.parameters) == ("cutoff", 2, MODEL.parameters)
    assert (found.facts, found.card) == (MODEL.facts, MODEL.card)
    assert found.arrays.keys() == {"a", "b"}
    for name, array in MODEL.arrays.items():
        assert found.arrays[name].dtype == array.dtype
        assert np.array_equal(found.arrays[name], array)


def test_size_and_bytes(tmp_path: Path) -> None:
    assert save(MODEL, tmp_path / "one") == sum(file.stat().st_size for file in (tmp_path / "one").iterdir())
    save(MODEL, tmp_path / "two")
    for name in (DESCRIPTION, WEIGHTS):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_any_program_can_read_it(folder: Path) -> None:
    assert json.loads((folder / DESCRIPTION).read_bytes())["format"] == "mainmatter-model"
    assert zipfile.ZipFile(folder / WEIGHTS).namelist() == ["a.npy", "b.npy"]


def test_a_model_written_anew_is_read_anew(folder: Path) -> None:
    assert load(folder) is load(folder)
    save(Model("other", 1, {}, {}), folder)
    assert load(folder).method == "other"


def test_nobody_can_change_what_others_read(folder: Path) -> None:
    with pytest.raises(ValueError, match="read-only"):
        load(folder).arrays["a"][0, 0] = 1


def test_numbers_that_json_has_not_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        save(Model("m", 1, {}, {"x": float("nan")}), tmp_path / "m")
    assert not is_model(tmp_path / "m")


def test_no_model(tmp_path: Path) -> None:
    assert not is_model(tmp_path)
    with pytest.raises(ModelError, match=r"not a model: model\.json: No such file"):
        load(tmp_path)


def test_missing_weights(folder: Path) -> None:
    (folder / WEIGHTS).unlink()
    with pytest.raises(ModelError, match=r"weights\.npz: cannot be read: No such file"):
        load(folder)


def test_weights_of_another_model(folder: Path) -> None:
    (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes() + b"x")
    with pytest.raises(ModelError, match="another digest"):
        load(folder)


@pytest.mark.parametrize("content", ["", "{", "[" * 100_000, "nonsense", b"\xff\xfe\xfa"])
def test_damaged_description(folder: Path, content: str | bytes) -> None:
    (folder / DESCRIPTION).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ModelError, match="damaged, or not a model"):
        load(folder)


@pytest.mark.parametrize("content", ["[]", "3", '{"format": "onnx"}', "{}"])
def test_foreign_description(folder: Path, content: str) -> None:
    (folder / DESCRIPTION).write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match="not a model of mainmatter"):
        load(folder)


@pytest.mark.parametrize("version", [FORMAT_VERSION + 1, "1", None, 2.5])
def test_a_later_format(folder: Path, version: object) -> None:
    edit(folder, format_version=version)
    with pytest.raises(ModelError, match="later mainmatter"):
        load(folder)


@pytest.mark.parametrize("name", ["method", "version", "parameters", "weights_sha256", "card", "facts"])
@pytest.mark.parametrize("value", [None, []])
def test_damaged_fields(folder: Path, name: str, value: object) -> None:
    edit(folder, **{name: value})
    with pytest.raises(ModelError, match=f"damaged: {name}"):
        load(folder)


def test_arrays_that_would_run_code(folder: Path) -> None:
    np.savez(folder / WEIGHTS, a=np.array([{"an": "object"}], object))
    edit(folder, weights_sha256=hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest())
    with pytest.raises(ModelError, match="not an archive of arrays"):
        load(folder)
