"""`mainmatter corpus` as a real process that is killed again and again."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from crawls import files_of, slow_crawl
from script_modules import load_script
from timing import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

MAINMATTER = [sys.executable, "-c", "from mainmatter.cli import main; main()"]

kill_test = load_script("kill_test")


def test_killed_again_and_again_it_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl, env = slow_crawl(tmp_path, 60)
    monkeypatch.setenv("PYTHONPATH", env["PYTHONPATH"])
    options = ["-m", "wicked", "-j", "2", "--shard-size", "0.004", "--drop-duplicates", "exact", "-f", "jsonl"]
    command = [*MAINMATTER, "corpus", str(crawl), *options, "-o"]
    began = time.monotonic()
    subprocess.run([*command, str(tmp_path / "calm")], check=True, capture_output=True, timeout=PATIENCE)
    seconds = time.monotonic() - began
    for share in (2, 4, 8):  # a machine that is less busy now may be done before the last kill: then kill sooner
        out = tmp_path / f"out{share}"
        killed = kill_test.kill_again_and_again([*command, str(out)], 3, seconds / share, random.Random(1))
        assert kill_test.compare(tmp_path / "calm", out) == []
        assert len(files_of(out)) > 3
        if killed.total() == 3:
            return
    pytest.fail("all is done before anybody can be killed")
