"""Outputs change only on purpose: scripts/digests.py compares them with what was recorded in tests/digests.json.

Where a change of outputs is wanted, record them anew (`python scripts/digests.py record`), and say why in the commit.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from script_modules import load_script

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
RECORDED: dict[str, str] = json.loads((ROOT / "tests" / "digests.json").read_text("utf-8"))

pq = pytest.importorskip("pyarrow.parquet")
digests = load_script("digests")


def test_the_pages_that_we_wrote_give_what_was_recorded() -> None:
    found = digests.own_digests()
    of_methods = {f"{name}{kind}" for name in digests.METHODS for kind in ("", ", markup")}
    assert {name.partition(": ")[2] for name in found} == of_methods | {"metadata", "columns"}
    assert found == {name: RECORDED.get(name) for name in found}


@pytest.mark.data
@pytest.mark.parametrize("name", ["cleaneval-dev", "forum52-a", "magic-a", "readability"])
def test_some_pages_of_the_gold_standards_give_what_was_recorded(name: str) -> None:
    path = DATA / f"{name}.parquet"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    sums = digests.Sums()
    rows = list(range(0, pq.read_metadata(path).num_rows, 40))
    sums.add(digests.set_digests(str(path), rows, digests.METHODS, digests.WITHOUT_SCORES))
    assert sums.digests() == {key: RECORDED.get(f"{name}, every 40, without scores: {key}") for key in sums.digests()}


def test_a_difference_is_seen() -> None:
    page = digests.Page("<p>A text.</p>", None, "a")
    other = digests.Page("<p>Another text.</p>", None, "a")
    made = {"density": digests.get_method("density")}
    one, same, another = (digests.Sums() for _ in range(3))
    one.add(digests.page_digests(page, made, ("text",)))
    same.add(digests.page_digests(page, made, ("text",)))
    another.add(digests.page_digests(other, made, ("text",)))
    assert one.digests() == same.digests()
    assert one.digests()["density"] != another.digests()["density"]
