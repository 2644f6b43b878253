"""Models on disk: what is written is read again, and nothing else is."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mainmatter.errors import InputError, ModelError
from mainmatter.files import write_whole
from mainmatter.models import store
from mainmatter.models.store import DESCRIPTION, FORMAT_VERSION, Model, is_model, load, may_be_written, save

if TYPE_CHECKING:
    from pathlib import Path

MODEL = Model(
    "cutoff",
    2,
    {"n": 3, "q": 0.5, "lexical": True},
    {"words": ["naïve", "中"], "tree": {"left": None}},
    {"a": np.arange(6, dtype=np.float16).reshape(2, 3), "b": np.array([], np.int64), "c": np.array(3)},
    {"data": []},
)


def weights_of(folder: Path) -> Path:
    (file,) = folder.glob("*.npz")
    return file


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
    assert found.arrays.keys() == {"a", "b", "c"}
    for name, array in MODEL.arrays.items():
        assert found.arrays[name].dtype == array.dtype
        assert found.arrays[name].shape == array.shape
        assert np.array_equal(found.arrays[name], array)


def test_size_and_bytes(tmp_path: Path) -> None:
    assert save(MODEL, tmp_path / "one") == sum(file.stat().st_size for file in (tmp_path / "one").iterdir())
    save(MODEL, tmp_path / "two")
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()


def test_folders_for_a_model(tmp_path: Path, folder: Path) -> None:
    assert may_be_written(tmp_path / "new")
    assert may_be_written(folder)
    (folder / DESCRIPTION).write_bytes((folder / DESCRIPTION).read_bytes()[:100])  # damaged
    assert may_be_written(folder)
    (folder / DESCRIPTION).write_text('{"format": "layers-model"}', encoding="utf-8")  # of another program
    assert not may_be_written(folder)
    (folder / DESCRIPTION).unlink()  # as after a full disk
    assert may_be_written(folder)
    (folder / "thesis.txt").write_text("dear", encoding="utf-8")
    assert not may_be_written(folder)


def test_any_program_can_read_it(folder: Path) -> None:
    assert json.loads((folder / DESCRIPTION).read_bytes())["format"] == "mainmatter-model"
    assert np.load(weights_of(folder))["a"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_model_written_anew_is_read_anew(folder: Path) -> None:
    assert load(folder) is load(folder)
    save(Model("other", 1, {}, {}), folder)
    assert load(folder).method == "other"
    assert len(list(folder.iterdir())) == 2  # the old weights are gone


def test_a_model_is_replaced_in_one_step(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is interrupted between the two files leaves the old model."""
    write = write_whole

    def stop_at_description(path: Path, data: bytes) -> None:
        if path.name == DESCRIPTION:
            raise KeyboardInterrupt
        write(path, data)

    monkeypatch.setattr(store, "write_whole", stop_at_description)
    with pytest.raises(KeyboardInterrupt):
        save(Model("other", 1, {}, {}), folder)
    assert load(folder).method == "cutoff"


def test_nobody_can_change_what_others_read(folder: Path) -> None:
    with pytest.raises(ValueError, match="read-only"):
        load(folder).arrays["a"][0, 0] = 1


def test_numbers_that_json_has_not_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"m: the model cannot be saved: .*JSON"):
        save(Model("m", 1, {}, {"x": float("nan")}), tmp_path / "m")
    assert not is_model(tmp_path / "m")


def test_no_model(tmp_path: Path) -> None:
    assert not is_model(tmp_path)
    with pytest.raises(ModelError, match=r"not a model: there is no model\.json"):
        load(tmp_path)
    with pytest.raises(ModelError, match=r"^\./nowhere: no such file or folder$"):
        load("./nowhere")
    with pytest.raises(ModelError, match="no such file or folder"):
        load("x" * 5000)  # longer than a name may be


def test_missing_weights(folder: Path) -> None:
    weights_of(folder).unlink()
    with pytest.raises(ModelError, match=r"\.npz: cannot be read: No such file"):
        load(folder)


def test_weights_of_another_model(folder: Path) -> None:
    weights_of(folder).write_bytes(weights_of(folder).read_bytes() + b"x")
    with pytest.raises(ModelError, match=r"its digest is not the one in model\.json"):
        load(folder)


@pytest.mark.parametrize("content", ["", "{", "[" * 100_000, "nonsense", '{"format": NaN}', b"\xff\xfe\xfa"])
def test_damaged_description(folder: Path, content: str | bytes) -> None:
    (folder / DESCRIPTION).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ModelError, match="damaged, or not a model"):
        load(folder)


@pytest.mark.parametrize("content", ["[]", "3", '{"format": "onnx"}', "{}"])
def test_foreign_description(folder: Path, content: str) -> None:
    (folder / DESCRIPTION).write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match="not a model of mainmatter"):
        load(folder)


@pytest.mark.parametrize("version", [FORMAT_VERSION + 1, "1", None, 2.5, 0, -1, True])
def test_a_later_format(folder: Path, version: object) -> None:
    edit(folder, format_version=version)
    with pytest.raises(ModelError, match="later version of mainmatter"):
        load(folder)


@pytest.mark.parametrize("name", ["method", "version", "parameters", "weights", "card", "facts", "facts_sha256"])
@pytest.mark.parametrize("value", [None, []])
def test_damaged_fields(folder: Path, name: str, value: object) -> None:
    edit(folder, **{name: value})
    with pytest.raises(ModelError, match=f"damaged: {name}"):
        load(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"method": "other"},
        {"version": 3},
        {"parameters": {"n": 4, "q": 0.5, "lexical": True}},
        {"facts": {"words": ["naïve"]}},
        {"weights": {}},
        {"facts_sha256": "0" * 64},
    ],
)
def test_a_description_that_was_changed(folder: Path, changes: dict[str, object]) -> None:
    edit(folder, **changes)
    with pytest.raises(ModelError, match="damaged, or changed by hand"):
        load(folder)


def test_people_may_add_to_the_card(folder: Path) -> None:
    edit(folder, card={"remark": "good for newspapers"})
    assert load(folder).card == {"remark": "good for newspapers"}


def archive(**members: bytes) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(f"{name}.npy", data)
    return buffer.getvalue()


def npy(array: object, *, allow_pickle: bool = False) -> bytes:
    buffer = BytesIO()
    np.save(buffer, np.asarray(array), allow_pickle=allow_pickle)
    return buffer.getvalue()


FINE = archive(a=npy([1, 2, 3]))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"nothing",
        npy([1, 2]),
        archive(a=npy(np.array([{"an": "object"}], object), allow_pickle=True)),
        archive(a=npy(["text"])),
        archive(a=npy(np.array(["2020-01-01"], "datetime64[D]"))),
        archive(a=npy([1j])),
        archive(a=b"no magic"),
        archive(a=npy([1, 2, 3])[:-5]),
        archive(a=npy([1, 2, 3]).replace(b"(3,)", b"(9" + b"9" * 12 + b",)")),
        archive(a=npy([1, 2, 3]).replace(b"(3,)", b"((((")),
        FINE[: len(FINE) // 2],
        FINE.replace(b"\x08\x00", b"\x63\x00"),
        FINE[:45] + bytes(b ^ 0xFF for b in FINE[45:60]) + FINE[60:],
        bytes(b | 1 if i == FINE.index(b"PK\x01\x02") + 8 else b for i, b in enumerate(FINE)),
    ],
    ids="empty text npy objects strings dates complex magic short huge brackets half method deflate encrypted".split(),
)
def test_weights_that_are_no_arrays_of_numbers(folder: Path, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(store, "_pack", lambda arrays: data)
    save(MODEL, folder)
    with pytest.raises(ModelError, match=r"\.npz: not an archive of arrays"):
        load(folder)


def test_all_arrays_together_have_a_limit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = np.zeros(1000)
    data = archive(**{name: npy(zeros) for name in "abcd"})
    monkeypatch.setattr(store, "_pack", lambda arrays: data)
    monkeypatch.setattr(store, "_MOST_BYTES", 4 * len(npy(zeros)) - 1)
    save(MODEL, folder)
    with pytest.raises(ModelError, match="its arrays have 32,512 bytes"):
        load(folder)
    monkeypatch.setattr(store, "_MOST_BYTES", 4 * len(npy(zeros)))
    save(MODEL, folder)
    assert load(folder).arrays.keys() == set("abcd")
