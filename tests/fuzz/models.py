"""Models: the description, the arrays, and methods made of both, whose digests are right although the rest is not."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from fuzz.mutation import mutate_json
from fuzz.target import Target
from mainmatter.api import clean
from mainmatter.models import store
from mainmatter.models.store import DESCRIPTION, SHIPPED, Model, load, save
from mainmatter.registry import get_method

_PAGE = (
    b"<title>T</title><ul><li><a href=/>Home</a></ul><h1>T</h1><p>Some words of a text, and some more.</p><p>(c)</p>"
)
_SMALL = ("ice-lm", "ice-regex", "ncleaner-paper-non-lexical", "ice-tree-paper", "ice-lm-paper", "fiasco-paper", "main")
_TOKENS = [
    b"main",
    b"ice-lm",
    b"facts",
    b"weights",
    b"card",
    b"\0",
    b"\\u0000",
    b"1e999",
    b"NaN",
    b"[[",
    b"{",
    b"sha256",
]


def descriptions(folder: Path) -> Target:
    """model.json as it comes and, where that is JSON, with the digest that it should have."""
    path = folder / DESCRIPTION
    model = Model("m", 1, {"n": 3, "q": 0.5}, {"words": ["a", "é"], "tree": {"left": None}}, {"a": np.arange(3)}, {})
    save(model, folder / "seed")
    seeds = [(folder / "seed" / DESCRIPTION).read_bytes(), (SHIPPED / "ice-lm-paper" / DESCRIPTION).read_bytes()]

    def read(data: bytes) -> None:
        path.write_bytes(_mended(data))
        store._read_description(path)

    return Target(read, seeds, _TOKENS, mutate=mutate_json)


def _mended(data: bytes) -> bytes:
    """A description with the digest that belongs to the rest, if it is one at all."""
    try:
        content = json.loads(data)
        content["facts_sha256"] = store._digest({name: content[name] for name in store._LEARNED})
        return json.dumps(content).encode()
    except (ValueError, TypeError, KeyError, RecursionError, MemoryError):
        return data


def _npz(**arrays: Any) -> bytes:
    return store._pack({name: np.asarray(array) for name, array in arrays.items()})


def _npy(array: Any) -> bytes:
    file = BytesIO()
    np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)
    return file.getvalue()


def arrays(folder: Path) -> Target:
    """The file of arrays; half of the inputs are an array without the archive around it, which has a checksum."""
    seeds = [
        _npz(a=np.arange(6, dtype=np.float16).reshape(2, 3), b=np.array([], np.int64), c=3),
        _npz(weights=np.ones((4, 5), np.float32, order="F"), flags=[True, False]),
        _npy(np.arange(4)),
        _npy(np.ones((2, 2, 2), ">f8")),
        _npy(np.asfortranarray(np.ones((2, 3), np.uint8))),
    ]
    tokens = [
        b"\x93NUMPY\x01\x00",
        b"PK\x03\x04",
        b"PK\x01\x02",
        b"PK\x05\x06",
        b"(3,)",
        b"(",
        b"),",
        b"'<f4'",
        b"'|O'",
    ]
    tokens += [
        b"'<U9'",
        b"999999999",
        b"-1",
        b"True",
        b"'descr'",
        b"lambda:0",
        b"\x00",
        b"\xff\xff\xff\xff",
        b"\\N{x}",
        b"#",
    ]

    def read(data: bytes) -> None:
        if data.startswith(b"\x93NUMPY"):
            packed = BytesIO()
            with ZipFile(packed, "w") as archive:
                archive.writestr("a.npy", data)
            data = packed.getvalue()
        store._unpack(data, Path("weights.npz"))

    return Target(read, seeds, tokens)


def methods(folder: Path) -> Target:
    """Whole models with sound digests: what was learned is JSON, arrays are described by it; each cleans a page."""
    originals = {name: load(SHIPPED / name) for name in _SMALL}
    seeds = []
    for name, model in originals.items():
        shapes = {key: [list(array.shape), array.dtype.str] for key, array in model.arrays.items()}
        facts = {"model": name, "version": model.version, "parameters": model.parameters, "arrays": shapes}
        seeds.append(
            json.dumps(facts | {"facts": {} if name == "main" else model.facts, "as_is": name == "main"}).encode()
        )
    count = 0

    def read(data: bytes) -> None:
        nonlocal count
        try:
            content = json.loads(data)
            original = originals[content["model"]]
            facts = original.facts | content["facts"] if content["as_is"] else content["facts"]
            arrays = {key: _reshaped(original.arrays[key], *each) for key, each in content["arrays"].items()}
            model = Model(original.method, content["version"], content["parameters"], facts, arrays)
            count += 1
            path = folder / f"model-{count % 2}"
            save(model, path)
        except Exception:
            return
        clean(_PAGE, method=get_method(str(path)))

    return Target(read, seeds, [*_TOKENS, b"<f4", b"<f8", b"|b1", b"<i8", b"paper"], mutate=mutate_json)


def _reshaped(array: Any, shape: list[int], kind: str) -> Any:
    """An array in another shape and type, of at most a megabyte, filled with its numbers."""
    if any(size < 0 for size in shape) or np.prod(shape, dtype=object) > 1_000_000:
        raise ValueError(shape)
    return np.resize(array, shape).astype(kind)
