"""docs/reference/models.md says what a model's files hold."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

from mainmatter.main.rehearsal import REHEARSAL, load_rehearsal
from mainmatter.models.store import DESCRIPTION, SHIPPED

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "models.md").read_text("utf-8")
MODELS = sorted(path.parent for path in SHIPPED.glob(f"*/{DESCRIPTION}"))


def names_under(heading: str) -> list[str]:
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
def test_files_of_a_model(folder: Path) -> None:
    description = json.loads((folder / DESCRIPTION).read_bytes())
    fields = names_under("model.json")
    assert sorted(description) == sorted(fields)
    assert set(description["card"]) <= set(names_under("The card"))

    below = {name: description[name] for name in fields[fields.index("facts_sha256") + 1 :]}
    text = json.dumps(below, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    assert hashlib.sha256(text.encode("ascii")).hexdigest() == description["facts_sha256"]

    weights = folder / description["weights"]["file"]
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    assert (weights.name, description["weights"]["sha256"]) == (f"weights-{digest[:12]}.npz", digest)
    with np.load(weights) as arrays:
        assert {arrays[name].dtype.kind for name in arrays.files} <= set("biuf")


def test_how_many_pages_are_for_rehearsal() -> None:
    assert f"of {len(load_rehearsal(SHIPPED / 'main' / REHEARSAL))} of its training pages" in PAGE
