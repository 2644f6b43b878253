"""What is replaced stays until what replaces it is whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import mainmatter
from annotated import say_all, store_with_page
from bench.accuracy import save_tradeoff
from mainmatter.corpus.search import Searcher, index_rows
from mainmatter.lab.reports.curve import _save_png
from mainmatter.render.plot import save_plot
from mainmatter.workbench.labels.gold import collect, export

if TYPE_CHECKING:
    from collections.abc import Callable


def make_index(folder: Path) -> None:
    index_rows([{"id": "a", "text": "Eels leave the river in the autumn."}], folder / "made")


def make_export(folder: Path) -> None:
    with store_with_page(folder / "bench") as store:
        say_all(store, "Ada")
        store.set_done(1, "Ada", True)
        export(collect(store).pages, folder / "made")


@pytest.mark.parametrize("make", [make_index, make_export])
def test_an_interrupt_between_two_renamings_brings_back_what_was_there(
    make: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path)
    before = {file: file.read_bytes() for file in (tmp_path / "made").rglob("*") if file.is_file()}
    rename = Path.rename

    def interrupted(self: Path, target: Path) -> Path:
        if Path(target) == tmp_path / "made" and not (tmp_path / "made").exists():
            monkeypatch.undo()
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path)
    assert {file: file.read_bytes() for file in (tmp_path / "made").rglob("*") if file.is_file()} == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    if make == make_index:
        assert Searcher(tmp_path / "made").search("eels").total == 1


@pytest.mark.parametrize(
    "save",
    [
        lambda path: save_plot(mainmatter.clean("<p>Eels leave the river.</p>"), path),
        lambda path: save_tradeoff([("Eels", ())], [path]),
        lambda path: _save_png("<svg/>", path),
    ],
    ids=["plot", "trade-off", "curve"],
)
def test_a_picture_is_written_whole_or_not_at_all(
    save: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = pytest.importorskip("matplotlib.figure")

    def fill_the_disk(self: Any, target: Any, **options: Any) -> None:
        with target.open("wb") if isinstance(target, Path) else target as file:
            file.write(b"half a picture")
            raise OSError(28, "No space left on device")

    (tmp_path / "picture.png").write_bytes(b"earlier")
    monkeypatch.setattr(figure.Figure, "savefig", fill_the_disk)
    with pytest.raises(OSError, match="No space left"):
        save(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes() == b"earlier"
    assert [path.name for path in tmp_path.iterdir()] == ["picture.png"]
