"""The density picture: is it a picture, and does it show what was decided?"""

from __future__ import annotations

import struct
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import mainmatter
from mainmatter.errors import InputError, MissingExtra
from mainmatter.records import Extraction, Page
from mainmatter.registry import method_names
from mainmatter.render.plot import plot, save_plot

RIVER = (Path(__file__).parents[1] / "pages" / "river.html").read_bytes()


@pytest.fixture(autouse=True)
def need_matplotlib() -> None:
    pytest.importorskip("matplotlib")


def extraction(method: str = "density", html: bytes = RIVER, name: str = "river.html") -> Extraction:
    return mainmatter.clean(Page(html, id=name), method=method)


def test_png(tmp_path: Path) -> None:
    save_plot(extraction(), tmp_path / "river.png")
    data = (tmp_path / "river.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (1350, 600)  # 9 by 4 inches at 150 dots an inch
    assert data[-8:-4] == b"IEND"


def test_svg(tmp_path: Path) -> None:
    save_plot(extraction(), tmp_path / "river.svg")
    root = ElementTree.parse(tmp_path / "river.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "<dc:date>" not in (tmp_path / "river.svg").read_text(encoding="utf-8")


def test_pdf_and_capital_endings(tmp_path: Path) -> None:
    save_plot(extraction(), tmp_path / "river.PDF")
    assert (tmp_path / "river.PDF").read_bytes().startswith(b"%PDF-")


@pytest.mark.parametrize("name", ["river.docx", "river", "river.pgf", ".png"])
def test_unknown_ending(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        save_plot(extraction(), tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}: unknown picture format; use a name that ends in .png, .svg or .pdf"
    assert not (tmp_path / name).exists()


def test_bars_are_the_blocks_and_dots_the_scores() -> None:
    found = extraction()
    lengths, scores = plot(found).axes
    dropped, kept = (
        [(int(x), int(y)) for (x, _), (_, y) in bars.get_segments()]  # type: ignore[attr-defined]
        for bars in lengths.collections
    )
    positions = found.document.positions.tolist()
    assert kept == [(positions[3], 107), (positions[4], 112)]
    assert dropped == [(positions[i], len(found.document.texts[i])) for i in (0, 1, 2, 5, 6)]
    assert np.array_equal(scores.lines[0].get_ydata(), found.scores)
    assert lengths.get_title() == "river.html: 2 of 7 blocks kept by density"


@pytest.mark.parametrize("method", method_names())
@pytest.mark.parametrize("html", [b"", b"<p>one"], ids=["empty", "one block"])
def test_smallest_pages_with_every_method(method: str, html: bytes, tmp_path: Path) -> None:
    save_plot(extraction(method, html), tmp_path / "x.svg")
    assert (tmp_path / "x.svg").stat().st_size > 1000


@pytest.mark.parametrize("name", ["a$^{$b.html", "漢字.html", "\\alpha & <b>.html", "x" * 500])
def test_any_name_will_do(name: str, tmp_path: Path) -> None:
    save_plot(extraction(name=name), tmp_path / "x.png")
    assert plot(extraction(name=name)).axes[0].get_title().startswith(name[:60] + ": ")


def test_missing_matplotlib_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"needs matplotlib, .*pip install 'mainmatter\[plot\]'"):
        plot(extraction())
