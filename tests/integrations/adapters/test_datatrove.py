"""The extractor for datatrove, in datatrove's own pipeline."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest

import mainmatter
from mainmatter.records import Document, Extraction

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

from datatrove.data import Document as Record

from mainmatter.corpus.adapters.datatrove import Mainmatter

EMPTY = "https://harbourlamp.example/empty.html"


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()
    ]


def test_a_pipeline_from_an_archive_to_jsonl(
    tmp_path: Path,
    pages: dict[str, bytes],
    texts: dict[str, str],
    write_archive: Callable[[Path, dict[str, bytes]], Path],
    program: Callable[[str], str],
) -> None:
    (tmp_path / "archive").mkdir()
    write_archive(tmp_path / "archive" / "site.warc.gz", {**pages, EMPTY: b"<html><body><nav></nav></body></html>"})
    (tmp_path / "program.py").write_text(program("datatrove"), "utf-8")
    run = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 0, run.stderr
    rows = rows_of(tmp_path / "texts")
    assert {row["metadata"]["url"]: row["text"] for row in rows} == texts
    lens = next(row["metadata"] for row in rows if row["metadata"]["url"].endswith("/lens.html"))
    assert lens["page_title"] == "Grinding a lens by hand"
    assert (lens["page_date"], lens["date"]) == ("2026-03-14", "2026-02-01T12:00:00Z")
    shop = next(row["metadata"] for row in rows if row["metadata"]["url"].endswith("/storm-lantern.html"))
    assert (shop["page_author"], shop["page_type"]) == ("", "product")
    (dropped,) = rows_of(tmp_path / "dropped")
    assert dropped["metadata"]["url"] == EMPTY
    assert dropped["metadata"]["filter_reason"] == "nothing was kept"
    assert "<nav>" in dropped["text"]
    stats = json.loads((tmp_path / "logs" / "stats.json").read_text("utf-8"))[1]["stats"]
    assert {name: stats[name] for name in ("total", "forwarded", "dropped")} == {
        "total": 7,
        "forwarded": 6,
        "dropped": 1,
    }


class Hostile:
    """A method that does what a page tells it to."""

    name: ClassVar[str] = "hostile"
    summary: ClassVar[str] = "for tests"

    def extract(self, document: Document) -> Extraction:
        """Sleep, die, raise, or keep all."""
        text = " ".join(document.texts)
        if "sleep" in text:
            time.sleep(600)
        if "die" in text:
            os._exit(1)
        if "raise" in text:
            raise ValueError("as told")
        kept = np.ones(len(document), bool)
        return Extraction(document, self.name, kept.astype(float), kept, document.columns.kinds, [""] * len(kept))


def test_pages_that_hang_die_or_raise_cost_themselves_alone() -> None:
    step = Mainmatter(Hostile(), timeout=8, metadata=False)
    words = ("one", "sleep", "two", "die", "three", "raise", "four")
    records = [Record(text=f"<p>{word}</p>", id=word, metadata={"url": "https://x.example/"}) for word in words]
    assert [record.text for record in step.run(iter(records))] == ["one", "two", "three", "four"]
    counts = {name: step.stats[name].total for name in ("total", "forwarded", "dropped", "timeout", "broken_process")}
    assert counts == {"total": 7, "forwarded": 4, "dropped": 3, "timeout": 1, "broken_process": 1}
    assert step.stats["clean_error"].total == 1
    assert records[0].metadata == {"url": "https://x.example/"}


def test_extract_alone_never_raises() -> None:
    step = Mainmatter(limits=mainmatter.Limits(size=100))
    assert step.extract("<p>A few words that are a paragraph, and a few more of them.</p>").startswith("A few words")
    assert step.extract("x" * 200) == step.extract("") == ""
    with pytest.raises(mainmatter.InputError):
        Mainmatter(dail=0.5)
