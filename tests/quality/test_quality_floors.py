"""The figures of the gated method are not below their floors (docs/explanation/quality.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import gate

FLOORS_FILE = Path(__file__).parent / "floors.json"
DATA = Path(__file__).parents[3] / "shared" / "data"
FLOORS = gate.read_floors(FLOORS_FILE)


@pytest.mark.data
@pytest.mark.parametrize("name", [name for name in FLOORS.sets if not gate.is_for_tests_only(name)])
def test_no_figure_is_below_its_floor(name: str) -> None:
    pinned, place = FLOORS.sets[name], gate.place_of(name, FLOORS_FILE, DATA)
    if not place.exists():
        pytest.skip(f"{place.name} is not there")
    sha256 = gate.digest(place)
    if sha256 != pinned.sha256:
        pytest.fail(
            f"{name}: {gate.complaints(pinned, {}, sha256)[0]}. If that is meant, pin them anew: "
            f"python -m bench gate raise --new-data {name} --reason WHY"
        )
    found = gate.complaints(pinned, gate.measure(name, pinned, place), sha256)
    assert not found, f"{name}: {'; '.join(found)}. See docs/explanation/quality.md"


def test_our_own_pages_are_watched_and_every_floor_means_something() -> None:
    assert FLOORS.sets["pages"].floors["bag f1"] > 0.5
    for name, pinned in FLOORS.sets.items():
        assert pinned.sha256, name
        assert pinned.floors, name
        assert all(0 < floor < 1 for floor in pinned.floors.values()), name
    assert all(change.reason and change.new < change.old for change in FLOORS.lowered)
