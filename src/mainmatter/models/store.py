"""Models on disk: a folder with `model.json` (what it is, what was learned, its card) and a file of arrays.

Both are open formats that any program can read, and neither can run code. Whoever reads a model checks it first, by
digests too, so that a foreign, damaged or later file gives a clear error and never a wrong answer. A model's own
digests tell damage; those that ship are also compared with SHA256SUMS, which tells whether they are the released ones.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import zipfile
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.errors import InputError, ModelError
from mainmatter.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

FORMAT = "mainmatter-model"
# A later version of mainmatter reads all earlier formats; an earlier one says that it cannot read a later format.
FORMAT_VERSION = 1
DESCRIPTION = "model.json"
SHIPPED = Path(__file__).parent
DIGESTS = "SHA256SUMS"  # of all files of the models that ship, as `sha256sum` writes them

_WEIGHTS = "weights-{}.npz"  # named by its digest, so that a model can be replaced in one step
_MOST_BYTES = 1 << 30  # of all arrays, unpacked
_NUMBERS = "biuf"  # kinds of numpy's types: truth values, integers, floats


@dataclass(frozen=True, slots=True)
class Model:
    """What training gives: enough to make the method again.

    Attributes:
        method: the name of the method that learned it.
        version: the version of what that method learns; it increases when the meaning of the weights changes.
        parameters: the method's parameters, as they were for training.
        facts: what was learned, as far as JSON holds it: thresholds, word lists, trees.
        arrays: what was learned, as arrays of numbers.
        card: where it comes from: data with digests and licences, figures, training time.
    """

    method: str
    version: int
    parameters: dict[str, Any]
    facts: dict[str, Any]
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    card: dict[str, Any] = field(default_factory=dict)


def is_model(path: str | Path) -> bool:
    """Whether a path is the folder of a model, whatever its state."""
    return last_change(path) is not None


def may_be_written(path: str | Path) -> bool:
    """Whether a model may be written to a folder: it is missing, empty, a model, or the rest of an unfinished one.

    Other programs have files of that name, too; ours says what it is, even if it is damaged.
    """
    folder = Path(path)
    if is_model(folder):
        return FORMAT.encode() in (folder / DESCRIPTION).read_bytes()
    return not folder.exists() or all(file.match(_WEIGHTS.format("*")) for file in folder.iterdir())


def last_change(path: str | Path) -> int | None:
    """When a model was written, as a number that grows; None if the path is not that of a model."""
    try:
        return (Path(path) / DESCRIPTION).stat().st_mtime_ns
    except (OSError, ValueError):
        return None


def save(model: Model, path: str | Path) -> int:
    """Write a model into a folder, which is created if need be; a model that is there is replaced.

    The description names the file of arrays and is written last: whenever it is read, the model is complete.

    Returns:
        Its size in bytes.

    Raises:
        InputError: a parameter or fact is something that JSON cannot hold, such as an infinite number.
        OSError: the folder cannot be written.
    """
    folder = Path(path)
    weights = _pack(model.arrays)
    weights_file = _WEIGHTS.format(hashlib.sha256(weights).hexdigest()[:12])
    learned = {
        "method": model.method,
        "version": model.version,
        "parameters": model.parameters,
        "facts": model.facts,
        "weights": {"file": weights_file, "sha256": hashlib.sha256(weights).hexdigest()},
    }
    try:
        digest = _digest(learned)
        description = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "card": model.card,
            "facts_sha256": digest,
            **learned,
        }
        text = json.dumps(description, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise InputError(f"{model.method}: the model cannot be saved: {error}") from error
    write_whole(folder / weights_file, weights)
    write_whole(folder / DESCRIPTION, text.encode("utf-8"))
    for other in folder.glob(_WEIGHTS.format("*")):
        if other.name != weights_file:
            other.unlink(missing_ok=True)
    return len(weights) + len(text.encode("utf-8"))


def load(path: str | Path) -> Model:
    """Read a model. Its content is shared by all callers: do not change it.

    Raises:
        ModelError: it is missing, damaged, not a model, or made by a later version.
    """
    folder = Path(path)
    changed = last_change(folder)
    if changed is None:
        if not os.path.exists(folder):  # noqa: PTH110 - it takes names that are too long, and folders we may not look into
            raise ModelError(f"{path}: no such file or folder")
        raise ModelError(f"{folder}: not a model: there is no {DESCRIPTION}")
    return _load(folder, changed)


@lru_cache(maxsize=16)
def _load(folder: Path, changed: int) -> Model:  # noqa: ARG001 - a model that was written anew is read anew
    path = folder / DESCRIPTION
    description = _read_description(path)
    weights_path = folder / Path(str(description["weights"].get("file"))).name
    weights = _read(weights_path)
    if hashlib.sha256(weights).hexdigest() != description["weights"].get("sha256"):
        raise ModelError(f"{weights_path}: damaged, or from another model: its digest is not the one in {DESCRIPTION}")
    return Model(
        method=description["method"],
        version=description["version"],
        parameters=description["parameters"],
        facts=description["facts"],
        arrays=_unpack(weights, weights_path),
        card=description["card"],
    )


_TYPES: dict[str, type] = {
    "method": str,
    "version": int,
    "parameters": dict,
    "facts": dict,
    "weights": dict,
    "card": dict,
    "facts_sha256": str,
}
_LEARNED = ("method", "version", "parameters", "facts", "weights")


def _read_description(path: Path) -> dict[str, Any]:
    data = _read(path)
    check_shipped(path, data)
    try:
        description = json.loads(data, parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: damaged, or not a model: {' '.join(str(error).split())}") from error
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ModelError(f"{path}: not a model of mainmatter; train one with: mainmatter train")
    version = description.get("format_version")
    if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
        raise ModelError(
            f"{path}: format {version!r} is from a later version of mainmatter; this one reads up to {FORMAT_VERSION}: "
            "upgrade it"
        )
    for name, type_ in _TYPES.items():
        if type(description.get(name)) is not type_:
            raise ModelError(f"{path}: damaged: {name} is missing or of the wrong type")
    if _digest({name: description[name] for name in _LEARNED}) != description["facts_sha256"]:
        raise ModelError(f"{path}: damaged, or changed by hand: its digest does not match; train it again")
    return description


def check_shipped(path: Path, data: bytes) -> None:
    """Make sure that a file is the released one, if it lies among the models that ship.

    Raises:
        ModelError: it is another one.
    """
    if not path.is_relative_to(SHIPPED):
        return
    name = path.relative_to(SHIPPED).as_posix()
    if _released(SHIPPED).get(name) != hashlib.sha256(data).hexdigest():
        raise ModelError(
            f"{path}: not the file that was released: {DIGESTS} has another digest for it; install mainmatter again: "
            "pip install --force-reinstall mainmatter. If you trained it yourself: python scripts/digests.py models"
        )


@lru_cache(maxsize=4)
def _released(folder: Path) -> dict[str, str]:
    """The digests of the released files, by their names."""
    lines = _read(folder / DIGESTS).decode("ascii", "replace").splitlines()
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def _finite(number: str) -> float:
    if not math.isfinite(float(number)):
        raise ValueError(f"{number} is too large")
    return float(number)


def _digest(learned: Mapping[str, Any]) -> str:
    """A digest of all but the card, which people may add to."""
    text = json.dumps(learned, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Arrays as an .npz file; the same arrays always give the same bytes."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(arrays):
            array = BytesIO()
            np.lib.format.write_array(array, np.asarray(arrays[name], order="C"), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), array.getvalue(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _unpack(weights: bytes, path: Path) -> dict[str, NDArray[Any]]:
    try:
        with zipfile.ZipFile(BytesIO(weights)) as archive:
            members = archive.infolist()
            size = sum(member.file_size for member in members)
            if size > _MOST_BYTES:
                raise ValueError(f"its arrays have {size:,} bytes")
            arrays = {member.filename.removesuffix(".npy"): _unpack_one(archive, member) for member in members}
    except Exception as error:  # numpy lets Python parse the headers, which may raise anything
        raise ModelError(f"{path}: not an archive of arrays: {' '.join(str(error).split())}") from error
    return arrays


def _unpack_one(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    data = BytesIO(archive.read(member))
    version = np.lib.format.read_magic(data)
    if version != (1, 0):
        raise ValueError(f"{member.filename} has another version of numpy's format")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(data)
    left = len(data.getvalue()) - data.tell()
    if dtype.kind not in _NUMBERS or int(np.prod(shape, dtype=object)) * dtype.itemsize != left:
        raise ValueError(f"{member.filename} does not hold numbers, or not as many as it says")
    return np.ndarray(shape, dtype, data.getvalue(), data.tell(), order="F" if by_columns else "C")  # read-only
