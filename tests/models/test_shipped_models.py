"""The models that ship are the released ones: each file has its digest, and a file with another one is refused."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from mainmatter.errors import ModelError
from mainmatter.main.rehearsal import REHEARSAL, load_rehearsal
from mainmatter.models import store
from mainmatter.models.store import DESCRIPTION, DIGESTS, SHIPPED, load
from script_modules import load_script

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another folder of models that ship, with one in it."""
    shutil.copytree(SHIPPED / "ice-lm", tmp_path / "ice-lm")
    shutil.copy(SHIPPED / DIGESTS, tmp_path)
    monkeypatch.setattr(store, "SHIPPED", tmp_path)
    return tmp_path


def test_every_file_has_its_digest() -> None:
    script = load_script("digests")
    assert (SHIPPED / DIGESTS).read_text("ascii") == script.model_digests(), "run: python scripts/digests.py models"
    assert f"main/{REHEARSAL}\n" in script.model_digests()


def test_the_released_files_are_read(shipped: Path) -> None:
    assert load(shipped / "ice-lm").method == "ice-lm"


def test_a_card_that_was_changed_is_refused(shipped: Path) -> None:
    """Its own digests do not tell: they leave the card out, to which the owner of a model may add."""
    file = shipped / "ice-lm" / DESCRIPTION
    file.write_text(file.read_text("utf-8").replace('"card": {', '"card": {"remark": "better", ', 1), "utf-8")
    with pytest.raises(
        ModelError, match=rf"ice-lm/{DESCRIPTION}: not the file that was released: .* install mainmatter"
    ):
        load(shipped / "ice-lm")
    shutil.copytree(shipped / "ice-lm", shipped.with_name("mine"))
    assert load(shipped.with_name("mine")).card["remark"] == "better"


def test_another_model_in_its_place_is_refused(shipped: Path) -> None:
    shutil.rmtree(shipped / "ice-lm")
    shutil.copytree(SHIPPED / "ice-lm-paper", shipped / "ice-lm")
    with pytest.raises(ModelError, match="not the file that was released"):
        load(shipped / "ice-lm")


def test_a_rehearsal_that_was_changed_is_refused(shipped: Path) -> None:
    file = shipped / "main" / REHEARSAL
    file.parent.mkdir()
    file.write_bytes((SHIPPED / "main" / REHEARSAL).read_bytes() + b"x")
    with pytest.raises(ModelError, match=rf"main/{REHEARSAL}: not the file that was released"):
        load_rehearsal(file)


def test_no_digests(shipped: Path) -> None:
    (shipped / DIGESTS).unlink()
    with pytest.raises(ModelError, match=f"{DIGESTS}: cannot be read"):
        load(shipped / "ice-lm")
