"""The linearizer for dolma, in dolma's own command and pipeline.

dolma needs an older NumPy than our development environment has; `make test-integrations` runs this in one of its own.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import mainmatter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

for name in ("dolma", "fastwarc", "dateparser"):
    pytest.importorskip(name, reason=f"{name} is not installed; make test-integrations runs this")

from dolma.warc.linearizers import LinearizerRegistry

from mainmatter.corpus.adapters.dolma import MainmatterLinearizer


def texts_of(folder: Path) -> dict[str, str]:
    """The texts that dolma wrote, by URL."""
    files = sorted(folder.rglob("*.jsonl.gz"))
    rows = [json.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]
    assert all(row["source"] == "harbour-lamp" for row in rows)
    return {row["metadata"]["warc_url"]: row["text"] for row in rows}


def run(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr


def test_the_command_line(archive: Path, tmp_path: Path, texts: dict[str, str]) -> None:
    run(
        tmp_path,
        *("-m", "mainmatter.corpus.adapters.dolma", "warc", "--linearizer", "mainmatter"),
        *("--documents", str(archive), "--destination", "texts", "--source_name", "harbour-lamp"),
    )
    assert texts_of(tmp_path / "texts") == texts


def test_the_program(archive: Path, tmp_path: Path, texts: dict[str, str], program: Callable[[str], str]) -> None:
    (tmp_path / "program.py").write_text(program("dolma"), "utf-8")
    run(tmp_path, "program.py")
    assert texts_of(tmp_path / "texts") == texts


def test_it_is_registered_and_never_raises() -> None:
    linearizer = LinearizerRegistry.get("mainmatter")()
    assert isinstance(linearizer, MainmatterLinearizer)
    page = "<p>A few words that are a paragraph, and a few more of them.</p>"
    assert linearizer.linearize(page) == linearizer.linearize(page.encode()) == mainmatter.clean(page).text
    assert linearizer.linearize("") == ""
    assert MainmatterLinearizer(limits=mainmatter.Limits(size=10)).linearize(page) == ""
    with pytest.raises(mainmatter.InputError):
        MainmatterLinearizer(dail=0.5)
