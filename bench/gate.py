"""A quality gate: pinned floors below which the figures of a method may not fall.

The floors are in a JSON file, for each set of pages and each figure, with a digest of the set's data: a floor only
applies to the pages on which it was measured. Raising a floor needs no reason. Lowering one, or pinning it on other
data, is done by name and with a reason, which the file keeps. python -m bench gate is the command.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mainmatter.errors import DatasetError, InputError
from mainmatter.lab.datasets import DATASETS, load_dataset
from mainmatter.lab.evaluation import evaluate
from mainmatter.lab.metrics import find_metric
from mainmatter.registry import DEFAULT_METHOD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mainmatter.lab.datasets import GoldPage

# The method that the gate watches.
GATED_METHOD = DEFAULT_METHOD
# A floor is this much below what was measured: other processors round differently.
TOLERANCE = 0.005
_STEPS = 10_000  # four digits


@dataclass(frozen=True)
class PinnedSet:
    """The floors of one set of pages.

    Attributes:
        metrics: the names of the metrics; of each, the headline figure has a floor.
        pages: how many pages of the set are measured, always the same ones; all if None.
        groups: the groups, such as "page_type", whose parts have floors of their own.
        methods: further methods, each with a floor for the whole set.
        sha256: the digest of the data on which the floors were measured; None if nothing has been measured yet.
        floors: by the name of the figure, such as "bag f1" or "bag f1 page_type=forum".
    """

    metrics: tuple[str, ...] = ("bag",)
    pages: int | None = None
    groups: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    sha256: str | None = None
    floors: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class LoweredFloor:
    """A floor that was lowered, or measured on other data: what it was, what it is now, and why."""

    set: str
    figure: str
    old: float
    new: float
    reason: str


@dataclass(frozen=True)
class Floors:
    """All floors, and what was ever lowered.

    Attributes:
        method: the method with which they were last measured.
        sets: by name: a folder beside the file of the floors, or a gold standard that datasets/ knows.
        lowered: the floors that were lowered, the oldest first.
    """

    method: str
    sets: dict[str, PinnedSet]
    lowered: tuple[LoweredFloor, ...] = ()


def read_floors(path: Path) -> Floors:
    """Read the file of the floors.

    Raises:
        InputError: it is missing or damaged.
    """
    try:
        content = json.loads(path.read_text("utf-8"))
        return Floors(
            content["method"],
            {name: _pinned_set(facts) for name, facts in content["sets"].items()},
            tuple(LoweredFloor(**change) for change in content["lowered"]),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{path}: not a file of floors: {type(error).__name__}: {error}") from error


def _pinned_set(facts: dict[str, Any]) -> PinnedSet:
    facts_in_tuples: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in facts.items()
    }
    return PinnedSet(**facts_in_tuples)


def write_floors(floors: Floors, path: Path) -> None:
    """Write the file of the floors; one line for each floor, so that a change of it is seen."""
    path.write_text(json.dumps(asdict(floors), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def place_of(name: str, floors_file: Path, data: Path) -> Path:
    """Where a set's pages are: in a folder beside the file of the floors, else in the folder of gold standards."""
    folder = floors_file.parent / name
    return folder if folder.is_dir() else data / f"{name}.parquet"


def is_for_tests_only(name: str) -> bool:
    """Whether a set is a gold standard that nothing may be chosen by: it is measured on when all has been chosen."""
    return name in DATASETS and DATASETS[name].use == "tests"


def digest(place: Path) -> str:
    """The SHA-256 of a file or, for a folder, of the names and contents of all files in it, hidden ones apart.

    Raises:
        DatasetError: there is no such file or folder.
    """
    if place.is_file():
        return hashlib.sha256(place.read_bytes()).hexdigest()
    if not place.is_dir():
        raise DatasetError(f"{place}: no such file or folder")
    whole = hashlib.sha256()
    for file in sorted(file for file in place.rglob("*") if file.is_file() and not file.name.startswith(".")):
        name = file.relative_to(place).as_posix()
        whole.update(f"{name}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def choose(pages: Sequence[GoldPage], count: int | None) -> list[GoldPage]:
    """A sample that is the same on every machine and in every order: the pages whose names have the lowest digests."""
    if count is None or count >= len(pages):
        return list(pages)
    return sorted(pages, key=lambda page: hashlib.sha256((page.page.id or "").encode()).hexdigest())[:count]


def measure(name: str, pinned: PinnedSet, place: Path, method: str = GATED_METHOD) -> dict[str, float]:
    """Measure all figures of a set that have a floor, or are to have one.

    Raises:
        DatasetError: the set is missing or damaged.
        UnknownName: there is no such method or metric.
        MissingExtra: Parquet files need pyarrow.
    """
    # By its name, a gold standard comes with its convention.
    pages = choose(load_dataset(name, place.parent) if place.is_file() else load_dataset(str(place)), pinned.pages)
    found = evaluate(method, name, pages, pinned.metrics)
    figures = {}
    for metric in pinned.metrics:
        headline = find_metric(metric).headline
        figures[f"{metric} {headline}"] = found.scores[metric][headline]
        for group, scores in found.groups.items():
            if group.partition("=")[0] in pinned.groups and headline in scores[metric]:
                figures[f"{metric} {headline} {group}"] = scores[metric][headline]
        for other in pinned.methods:
            scores = evaluate(other, name, pages, [metric]).scores
            figures[f"{metric} {headline} method={other}"] = scores[metric][headline]
    return figures


def complaints(pinned: PinnedSet, figures: Mapping[str, float], sha256: str) -> list[str]:
    """What is wrong with the figures of a set, one sentence each; nothing if all is well.

    Args:
        pinned: the floors of the set.
        figures: what was measured.
        sha256: the digest of the data on which it was measured.
    """
    if pinned.sha256 is None:
        return ["nothing is pinned yet"]
    if sha256 != pinned.sha256:
        return [f"the data changed (SHA-256 {sha256[:12]}, pinned {pinned.sha256[:12]}): the floors do not apply to it"]
    found = []
    for figure, floor in pinned.floors.items():
        if figure not in figures:
            found.append(f"{figure} has a floor, {floor:.4f}, but was not measured")
        elif not figures[figure] >= floor:
            found.append(f"{figure} is {figures[figure]:.4f}, below its floor, {floor:.4f}")
    return found + [f"{figure} has no floor" for figure in figures if figure not in pinned.floors]


def raised(pinned: PinnedSet, figures: Mapping[str, float], sha256: str) -> PinnedSet:
    """The set with its floors lifted to what was measured, less the tolerance; none is lowered.

    Raises:
        InputError: the data is not that of the floors.
    """
    if pinned.sha256 not in (None, sha256):
        raise InputError(complaints(pinned, figures, sha256)[0])
    floors = {figure: max(pinned.floors.get(figure, 0.0), _floor_under(value)) for figure, value in figures.items()}
    return replace(pinned, sha256=sha256, floors=pinned.floors | floors)


def lowered(
    name: str, pinned: PinnedSet, figures: Mapping[str, float], reason: str, only: str | None = None
) -> tuple[PinnedSet, list[LoweredFloor]]:
    """The set with its floors, or only one of them, lowered to what was measured, and what that changed.

    Args:
        name: the name of the set.
        pinned: its floors.
        figures: what was measured. A floor whose figure is no longer measured goes.
        reason: why; the file keeps it.
        only: the name of the one figure whose floor may be lowered; all of the set's if None.

    Raises:
        InputError: there is no reason, or no such floor.
    """
    if not reason.strip():
        raise InputError(f"{name}: lowering a floor needs a reason")
    if only is not None and only not in pinned.floors:
        raise InputError(f"{name}: no floor {only!r}; there are: {', '.join(pinned.floors)}")
    floors, changes = dict(pinned.floors), []
    for figure in pinned.floors if only is None else [only]:
        new = _floor_under(figures[figure]) if figure in figures else 0.0
        if new < floors[figure]:
            changes.append(LoweredFloor(name, figure, floors[figure], new, reason.strip()))
            floors[figure] = new
        if figure not in figures:
            del floors[figure]
    return replace(pinned, floors=floors), changes


def repinned(
    name: str, pinned: PinnedSet, figures: Mapping[str, float], sha256: str, reason: str
) -> tuple[PinnedSet, list[LoweredFloor]]:
    """The set with the floors of other data, and what that lowered.

    Raises:
        InputError: there is no reason.
    """
    lower, changes = lowered(name, pinned, figures, reason)
    return raised(replace(lower, sha256=sha256), figures, sha256), changes


def _floor_under(value: float) -> float:
    """The floor for a figure, rounded down."""
    return max(0.0, math.floor((value - TOLERANCE) * _STEPS) / _STEPS)
