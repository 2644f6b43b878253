"""The reproductions of FIASCO, on a few pages, and the figures they are made from."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mainmatter.reproduction import alignment, fiasco_features, fiasco_kernels, fiasco_system
from mainmatter.reproduction.fiasco_nodes import Judgement
from mainmatter.reproduction.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from mainmatter.reproduction.report import Report

DATA = Path(__file__).parents[3] / "shared/data"


def test_a_judgement_by_hand() -> None:
    found = Judgement.of(np.array([True, True, False, False]), np.array([True, False, True, False]))
    assert (found.accuracy, found.precision, found.recall, found.f1) == (0.5, 0.5, 0.5, 0.5)
    nothing = Judgement.of(np.array([False]), np.array([True]))
    assert (nothing.accuracy, nothing.precision, nothing.recall, nothing.f1) == (0, 0, 0, 0)
    assert found.cells() == ["50.00%", "0.50", "0.50", "0.50"]


@contextmanager
def silent(_label: str, _total: int) -> Iterator[Callable[[], None]]:
    yield lambda: None


def run(module: ModuleType, pages: int) -> Report:
    found: Report = module.reproduce(Run(DATA, 1, silent, lambda _: None, pages=pages))
    return found


needs_data = pytest.mark.skipif(not (DATA / "readability.parquet").is_file(), reason=f"{DATA} is not there")


@pytest.mark.data
@needs_data
@pytest.mark.parametrize("module", [alignment, fiasco_system])
def test_they_run(module: ModuleType) -> None:
    assert sum("|---" in part for part in run(module, 8).parts) >= 1


@pytest.mark.data
@needs_data
def test_subsets_of_features(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("HanTa")
    monkeypatch.setattr(fiasco_features, "_FOLDS", 2)
    monkeypatch.setattr(fiasco_features, "_MOST_NODES", 100)
    report = run(fiasco_features, 6)
    tables = [part for part in report.parts if "|---" in part]
    assert [table.count("needs rendered pages") for table in tables] == [8, 8]


@pytest.mark.data
@needs_data
def test_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fiasco_kernels, "_NODES", 100)
    monkeypatch.setattr(fiasco_kernels, "_COSTS", [1.0])
    monkeypatch.setattr(fiasco_kernels, "_GAMMAS", [0.1])
    monkeypatch.setattr(fiasco_kernels, "_GRIDS", dict.fromkeys(fiasco_kernels._GRIDS, ([1.0], [0.1])))
    report = run(fiasco_kernels, 6)
    assert "boosted trees" in report.parts[1]
