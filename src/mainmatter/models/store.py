"""Models on disk: a folder with `model.json` (what it is, what was learned, its card) and `weights.npz` (arrays).

Both are open formats that any program can read, and neither can run code. Whoever reads a model checks all of it
first, so that a foreign, damaged or newer file gives a clear error and never a wrong answer.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.errors import ModelError
from mainmatter.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

FORMAT = "mainmatter-model"
# A later version of mainmatter reads all earlier formats; an earlier one says that it cannot read a later format.
FORMAT_VERSION = 1
DESCRIPTION = "model.json"
WEIGHTS = "weights.npz"
SHIPPED = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Model:
    """What training gives: enough to make the method again.

    Attributes:
        method: the name of the method that learned it.
        version: the version of what that method learns; a method that changes the meaning of its weights counts up.
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
    return (Path(path) / DESCRIPTION).is_file()


def save(model: Model, path: str | Path) -> int:
    """Write a model into a folder, which is made if need be.

    The description names the digest of the weights and is written last: a folder with a description is complete.

    Returns:
        Its size in bytes.
    """
    folder = Path(path)
    weights = _pack(model.arrays)
    description = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "method": model.method,
        "version": model.version,
        "parameters": model.parameters,
        "weights_sha256": hashlib.sha256(weights).hexdigest(),
        "card": model.card,
        "facts": model.facts,
    }
    text = json.dumps(description, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    write_whole(folder / WEIGHTS, weights)
    write_whole(folder / DESCRIPTION, text.encode("utf-8"))
    return len(weights) + len(text.encode("utf-8"))


def load(path: str | Path) -> Model:
    """Read a model. What it holds is shared by all who read it: do not change it.

    Raises:
        ModelError: it is missing, damaged, not a model, or made by a later version.
    """
    folder = Path(path)
    try:
        changed = (folder / DESCRIPTION).stat().st_mtime_ns
    except OSError as error:
        raise ModelError(f"{folder}: not a model: {DESCRIPTION}: {error.strerror}") from error
    return _load(folder, changed)


@lru_cache(maxsize=16)
def _load(folder: Path, changed: int) -> Model:  # noqa: ARG001 - a model that was written anew is read anew
    description = _read_description(folder / DESCRIPTION)
    weights = _read(folder / WEIGHTS)
    if hashlib.sha256(weights).hexdigest() != description["weights_sha256"]:
        raise ModelError(f"{folder / WEIGHTS}: damaged, or of another model: {DESCRIPTION} names another digest")
    return Model(
        method=description["method"],
        version=description["version"],
        parameters=description["parameters"],
        facts=description["facts"],
        arrays=_unpack(weights, folder / WEIGHTS),
        card=description["card"],
    )


_TYPES: dict[str, type] = {
    "method": str,
    "version": int,
    "parameters": dict,
    "weights_sha256": str,
    "card": dict,
    "facts": dict,
}


def _read_description(path: Path) -> dict[str, Any]:
    try:
        description = json.loads(_read(path))
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: damaged, or not a model: {' '.join(str(error).split())}") from error
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ModelError(f"{path}: not a model of mainmatter; train one with: mainmatter train")
    version = description.get("format_version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise ModelError(
            f"{path}: format {version!r} is of a later mainmatter; this one reads up to {FORMAT_VERSION}: upgrade it"
        )
    for name, type_ in _TYPES.items():
        if not isinstance(description.get(name), type_):
            raise ModelError(f"{path}: damaged: {name} is missing or of the wrong type")
    return description


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error


def _pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Arrays as an .npz file; the same arrays always give the same bytes."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(arrays):
            array = BytesIO()
            np.lib.format.write_array(array, np.ascontiguousarray(arrays[name]), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), array.getvalue(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _unpack(weights: bytes, path: Path) -> dict[str, NDArray[Any]]:
    try:
        with np.load(BytesIO(weights), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ModelError(f"{path}: not an archive of arrays: {' '.join(str(error).split())}") from error
    for array in arrays.values():
        array.flags.writeable = False
    return arrays
