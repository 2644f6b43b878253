"""What uses the browser: FIASCO's visual features, and `mainmatter render`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import mainmatter
from mainmatter.cli import group
from mainmatter.errors import InputError, MissingExtra, ModelError
from mainmatter.html.browser import chromium
from mainmatter.html.browser.rendering import keep_rendering
from mainmatter.lab.training.examples import label
from mainmatter.papers.fiasco.method import Fiasco
from mainmatter.papers.fiasco.visual import VISUAL, visual_features
from mainmatter.records import Gold, Page
from mainmatter.render.screenshot import outlined_html, summary
from visual_pages import block_of, styled, text, two_columns

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

    from mainmatter.html.browser.chromium import Chromium
    from mainmatter.method import Example


def test_the_five_measures_on_a_page(browser: Chromium) -> None:
    document = two_columns()
    keep_rendering(document, browser.render(document))
    values = visual_features(document)
    of = {word: dict(zip(VISUAL, values[block_of(document, word)], strict=True)) for word in ("menu", "Justi", "Headl")}
    assert of["Justi"]["solidity_1"] > 0.95
    assert of["menu"]["solidity_1"] < 0.85
    assert of["Justi"]["solidity_2"] < 0.2 < of["menu"]["solidity_2"]
    assert of["Justi"]["relative_width"] > 0.98
    assert of["menu"]["relative_width"] < 0.35
    assert of["Headl"]["headline"] > 0.7
    assert of["Justi"]["headline"] == of["menu"]["headline"] == 0


def examples(count: int) -> list[Example]:
    """The gold text is all that stands in the wide column. Words tell nothing: they are the same in both."""
    found = []
    for number in range(count):
        wide, narrow = text(60, number), text(60, number + 3)
        document = styled(
            f"<div style='float:right;width:150px'><p>{narrow}</p></div>"
            f"<div style='width:900px'><p>Wide {wide}</p></div>"
        )
        found.append(label(document, Gold(text=f"Wide {wide}")))
    return found


@pytest.mark.usefixtures("shared_browser")
def test_fiasco_with_visual_features(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("wordfreq")
    method = Fiasco(features="visual", gamma=0.5).fit(examples(4))
    assert method.feature_names[: len(VISUAL)] == list(VISUAL)
    method.save(tmp_path / "model")
    again = Fiasco.load(tmp_path / "model")
    document = examples(7)[-1].document
    found = again.extract(document)
    assert found.kept.tolist() == [False, True]
    assert found.scores == pytest.approx(method.extract(document).scores)
    # The same from the command line's side: the page is shown on demand.
    page = Page(document.page.html)
    assert mainmatter.clean(page, method=tmp_path / "model").text.startswith("Wide")


@pytest.mark.usefixtures("shared_browser")
@pytest.mark.parametrize("features", ["linguistic+structural+visual", "visual+structural"])
def test_subsets_with_visual_features(features: str, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("wordfreq")
    method = Fiasco(features=features).fit(examples(4))
    method.save(tmp_path / "model")
    again = Fiasco.load(tmp_path / "model")
    document = examples(1)[0].document
    assert again.features == features
    assert again.extract(document).scores.tolist() == method.extract(document).scores.tolist()
    with pytest.raises(ModelError, match="features"):
        Fiasco.load(tmp_path / "model", features="pos")


def test_fiasco_complains_early(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(chromium.PROGRAM, str(tmp_path / "nothing"))
    for features in ("visual", "structural+visual"):
        monkeypatch.setitem(sys.modules, "cv2", sys.modules.get("cv2", object()))
        with pytest.raises((InputError, MissingExtra)):
            Fiasco(features=features).need_extras()
    Fiasco(features="structural").need_extras()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(group, ["render", *arguments])


def pixels_of(path: Path) -> Any:
    cv2: Any = pytest.importorskip("cv2")
    return cv2.imread(str(path))


@pytest.mark.usefixtures("browser")
def test_a_picture_of_a_page(tmp_path: Path) -> None:
    page, picture = tmp_path / "page.html", tmp_path / "deep" / "page.png"
    page.write_text(
        "<body style='margin:40px'><p>Home <a href=a>About us</a></p><h1>Bridge closed</h1>"
        f"<p>The {text(80)}.</p><p style='display:none'>Not seen</p>"
    )
    result = run(str(page), "-m", "ice-heuristic", "-o", str(picture), "--width", "800")
    assert result.exit_code == 0, result.output
    assert f"{picture}: " in result.output
    assert "of 4 blocks kept by ice-heuristic; 1 not visible on the page" in result.output
    pixels = pixels_of(picture).astype(np.int64)
    height, width, _ = pixels.shape
    assert width == 800
    assert 900 < height < 1100  # the window's, and ours above it
    blue, green, red = pixels[84:, :, 0], pixels[84:, :, 1], pixels[84:, :, 2]
    assert ((green > red + 10) & (green > blue + 5)).sum() > 20_000  # the tint of a kept paragraph
    assert ((red > green + 40) & (red > blue + 40)).sum() > 20  # the dashes around a dropped one
    assert (pixels[-3:, -3:] == 255).all()


@pytest.mark.usefixtures("browser")
def test_pictures_of_dumps_and_of_standard_input(tmp_path: Path) -> None:
    dump = tmp_path / "dump.txt"
    dump.write_text(f"Menu\n\n{text(60)}\n")
    picture = tmp_path / "dump.png"
    assert run(str(dump), "-m", "ice-heuristic", "-o", str(picture)).exit_code == 0
    assert pixels_of(picture).shape[1] == 1280
    arguments = ["render", "-", "-m", "ice-heuristic", "-o", str(tmp_path / "in.png")]
    result = CliRunner().invoke(group, arguments, input=f"<p>{text(60)}</p>")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "in.png").exists()


@pytest.mark.usefixtures("browser")
def test_pictures_that_cannot_be(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>text")
    result = run(str(page), "-o", str(tmp_path / "page.jpg"))
    assert result.exit_code == 1
    assert "let the name end in .png" in result.output
    assert "no such file" in run(str(tmp_path / "none.html"), "-o", str(tmp_path / "x.png")).output
    assert run(str(page), "--width", "5").exit_code == 2
    assert not list(tmp_path.glob("*.png"))


def test_without_chromium(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>text")
    monkeypatch.setenv(chromium.PROGRAM, str(tmp_path / "nothing"))
    result = run(str(page), "-o", str(tmp_path / "page.png"))
    assert result.exit_code == 1
    assert "Traceback" not in result.output
    assert "MAINMATTER_CHROMIUM is" in result.output or "mainmatter[visual]" in result.output


def test_labels_and_names_are_no_markup(browser: Chromium) -> None:
    document = mainmatter.read(Page(f"<p>{text(40)}</p><p hidden>x", id="<script>alert(1)</script>"))
    extraction = mainmatter.get_method("ice-heuristic").extract(document)
    rendering = browser.render(document, screenshot=True)
    html = outlined_html(extraction, rendering)
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert html.count("<b") - html.count("<body") - html.count("<base") == int(rendering.visible.sum())
    assert "1 not visible on the page" in summary(extraction, rendering)
