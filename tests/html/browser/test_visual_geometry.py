"""Where blocks are and what they look like, on pages whose look is known."""

from __future__ import annotations

import asyncio
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest

import mainmatter
from mainmatter.errors import InputError, MissingExtra
from mainmatter.html.browser import chromium, rendering
from mainmatter.html.browser.chromium import Chromium
from mainmatter.html.browser.rendering import Rendering, rendering_of
from mainmatter.isolation.parallel import ordered_map
from mainmatter.records import Page
from visual_pages import block_of, styled, text, two_columns

if TYPE_CHECKING:
    from pathlib import Path


def test_two_columns(browser: Chromium) -> None:
    document = two_columns()
    rendering = browser.render(document)
    assert (rendering.width, rendering.failed, rendering.note) == (1280, False, "")
    assert rendering.visible.all()
    menu, headline, even = (block_of(document, word) for word in ("menu", "Headline", "Justified"))
    assert rendering.boxes[menu, 0] == 40  # the list's own indent
    assert (rendering.boxes[[headline, even], 0] == 320).all()
    assert rendering.boxes[even, 2] == pytest.approx(800, abs=1)
    lines = rendering.lines[rendering.line_blocks == even]
    assert len(lines) > 5
    assert np.diff(lines[:, 1]) == pytest.approx(20, abs=0.2)  # the line's height
    assert rendering.font_sizes[[headline, even]].tolist() == [32, 16]
    assert rendering.weights[[headline, even]].tolist() == [700, 400]


def test_a_narrow_window(browser: Chromium) -> None:
    document = styled(f"<p>{text(80)}</p>")
    with Chromium(width=400, seconds=60) as narrow:
        rendering = narrow.render(document)
    assert rendering.width == 400
    assert rendering.boxes[0, 3] > 2 * browser.render(document).boxes[0, 3]


HIDDEN = {
    "display": "<p style='display:none'>{}</p>",
    "visibility": "<p style='visibility:hidden'>{}</p>",
    "opacity": "<div style='opacity:0'><p>{}</p></div>",
    "zero size": "<div style='height:0;overflow:hidden'><p>{}</p></div>",
    "clipped": "<p style='position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0 0 0 0)'>{}</p>",
    "clip path": "<p style='clip-path:inset(100%)'>{}</p>",
    "left of the page": "<p style='position:absolute;left:-9999px'>{}</p>",
    "above the page": "<p style='position:absolute;top:-500px'>{}</p>",
    "indented away": "<p style='text-indent:-9999px'>{}</p>",
    "outside of its box": "<div style='width:90px;overflow:hidden'><p style='margin-left:300px'>{}</p></div>",
}


def test_what_readers_do_not_see(browser: Chromium) -> None:
    parts = [markup.format(f"Not seen: {name}") for name, markup in HIDDEN.items()]
    document = styled(f"<p>Seen first</p>{''.join(parts)}<p>Seen last</p>")
    rendering = browser.render(document)
    seen = [words for words, visible in zip(document.texts, rendering.visible, strict=True) if visible]
    assert seen == ["Seen first", "Seen last"]
    assert not rendering.boxes[~rendering.visible].any()
    assert set(rendering.line_blocks.tolist()) == set(np.flatnonzero(rendering.visible).tolist())


def test_what_stands_anywhere(browser: Chromium) -> None:
    document = styled(
        "<p>Above</p><div class=free>Placed freely in a narrow column of words</div>"
        "<div style='display:flex'>Bare text in a row<b>and bold</b></div>"
        "<p>Hidden <span style='visibility:visible'>but this</span></p><select><option>One</option></select>",
        ".free { position: absolute; left: 500px; top: 1000px; width: 150px }",
    )
    rendering = browser.render(document)
    free, bare = block_of(document, "Placed"), block_of(document, "Bare")
    assert rendering.boxes[free, :2] == pytest.approx([500, 1000], abs=3)
    assert rendering.boxes[free, 2] <= 150
    assert rendering.boxes[bare, 2] < 400  # the text, not the row around it
    assert rendering.height > 1000
    assert rendering.visible.all()


def test_colours(browser: Chromium) -> None:
    document = styled(
        "<p>Black on white</p><div style='background:#000;color:#fff'><p>White on black</p>"
        "<div style='background:rgba(255,255,255,.5)'><p>Between</p></div></div>"
        "<p style='color:#767676'>Grey</p><p style='color:oklch(0.7 0.1 200)'>New</p><p style='color:#fff'>Gone</p>"
    )
    rendering = browser.render(document)
    assert rendering.contrasts[:2].tolist() == [21, 21]
    assert rendering.colours[:2].tolist() == [[0] * 3, [255] * 3]
    assert rendering.backgrounds[2].tolist() == [128] * 3
    assert rendering.contrasts[3] == pytest.approx(4.54, abs=0.01)  # the lightest grey that WCAG's level AA allows
    assert rendering.colours[4, 0] < rendering.colours[4, 2]
    assert rendering.contrasts[5] == 1


def test_many_pages_in_order(browser: Chromium, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [styled("<p>word</p>" * count) for count in (1, 40, 2, 30, 3)]
    assert [len(rendering) for rendering in browser.render_many(documents)] == [1, 40, 2, 30, 3]
    assert list(browser.render_many([])) == []
    monkeypatch.setattr(
        "mainmatter.html.browser.chromium._MOST_PAGES", 2
    )  # a tab is for so many, then there is another
    assert [len(rendering) for rendering in browser.render_many(documents)] == [1, 40, 2, 30, 3]
    nothing = browser.render(styled(""))
    assert (len(nothing), nothing.failed, nothing.lines.shape) == (0, False, (0, 4))


def test_a_dump_is_shown_too(browser: Chromium) -> None:
    document = mainmatter.read(Page("A first text\n\nA second one", format="text"))
    assert browser.render(document).visible.all()


def test_saved_and_loaded(browser: Chromium, tmp_path: Path) -> None:
    rendering = browser.render(two_columns(), screenshot=True)
    rendering.save(tmp_path / "deep" / "page.npz")
    again = Rendering.load(tmp_path / "deep" / "page.npz")
    for name, value in vars(rendering).items():
        assert np.array_equal(getattr(again, name), value), name
    assert again.screenshot is not None
    assert again.screenshot.startswith(b"\x89PNG")
    (tmp_path / "other").write_bytes(b"something else")
    (tmp_path / "cut").write_bytes((tmp_path / "deep" / "page.npz").read_bytes()[:500])
    np.savez(tmp_path / "old.npz", version=0)
    for name, problem in (
        ("missing", "cannot be read"),
        ("other", "not a rendering"),
        ("cut", "not a rendering"),
        ("old.npz", "another version"),
    ):
        with pytest.raises(InputError, match=problem):
            Rendering.load(tmp_path / name)


@pytest.mark.usefixtures("shared_browser")
def test_any_thread_may_ask() -> None:
    documents = [styled(f"<p>{text(20, number)}</p>") for number in range(4)]
    with ThreadPoolExecutor(4) as threads:
        renderings = list(threads.map(rendering_of, documents))
    assert all(rendering.visible.all() for rendering in renderings)
    assert [rendering_of(document) for document in documents] == renderings  # kept, not made again

    async def ask() -> Rendering:
        return rendering_of(styled("<p>inside of a loop"))

    assert asyncio.run(ask()).visible.all()
    assert rendering._shared.get() is rendering._shared.get()


@pytest.mark.usefixtures("shared_browser")
def test_other_processes_have_their_own_browser() -> None:
    assert _lines_of("<p>In this process") == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks where there are threads
        found = list(ordered_map(_lines_of, ["<p>one", "<p>one<p>two", "<p>one"], workers=2))
    assert found == [1, 2, 1]


def _lines_of(html: str) -> int:
    return len(rendering_of(mainmatter.read(Page(html))).lines)


def test_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(chromium.PROGRAM, str(tmp_path / "nothing"))
    with pytest.raises(InputError, match=r"MAINMATTER_CHROMIUM is .*nothing"):
        chromium.find_chromium()
    monkeypatch.delenv(chromium.PROGRAM)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="apt-get install chromium"):
        chromium.find_chromium()
    monkeypatch.setitem(sys.modules, "playwright", None)
    with pytest.raises(MissingExtra, match=r"mainmatter\[visual\]"):
        Chromium().start()


def test_what_does_not_start(monkeypatch: pytest.MonkeyPatch, browser: Chromium, tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv(chromium.PROGRAM, str(program))
    with pytest.raises(InputError, match="does not start"), Chromium():
        pass
    with pytest.raises(InputError, match="already running"):
        browser.start()
    closed = Chromium()
    closed.close()
    with pytest.raises(InputError, match="not running"):
        closed.render(styled("<p>text"))
    with pytest.raises(InputError, match="width"):
        Chromium(width=0)
