"""The picture of accuracy against time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench.accuracy import TradeoffPoint, plot_tradeoff, save_tradeoff
from mainmatter.errors import MissingExtra

if TYPE_CHECKING:
    from pathlib import Path

POINTS = [
    TradeoffPoint("ours", 2.0, 0.9, True),
    TradeoffPoint("peer", 40.0, 0.8, False),
    TradeoffPoint("other peer", 41.0, 0.8, False),
]


def test_points_stand_where_they_belong() -> None:
    pytest.importorskip("matplotlib")
    first, second = plot_tradeoff([("one set", POINTS), ("all", POINTS[:1])]).axes
    assert (first.get_title(), second.get_title()) == ("one set", "all")
    assert first.get_xscale() == "log"
    ours, theirs = (dots.get_offsets().tolist() for dots in first.collections)  # type: ignore[union-attr]
    assert ours == [[2.0, 0.9]]
    assert theirs == [[40.0, 0.8], [41.0, 0.8]]
    assert {text.get_text() for text in first.texts} == {"ours", "peer", "other peer"}
    places = {text.get_text(): (text.xyann, text.get_ha()) for text in first.texts}  # type: ignore[attr-defined]
    assert places["peer"] != places["other peer"]  # the names of neighbours do not cover each other


def test_the_same_picture_every_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    paths = [tmp_path / "a.svg", tmp_path / "b.png"]
    save_tradeoff([("one $set", POINTS)], paths)
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    assert "Date" not in paths[0].read_text(encoding="utf-8")


def test_nothing_to_draw() -> None:
    pytest.importorskip("matplotlib")
    assert len(plot_tradeoff([("empty", [])]).axes[0].texts) == 0


def test_missing_matplotlib_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"needs matplotlib, .*pip install 'mainmatter\[plot\]'"):
        plot_tradeoff([])
