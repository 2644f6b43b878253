"""The unit tests of the workbench's scripts, which node's own test runner runs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def test_the_ledger_loses_nothing_and_says_saved_only_when_it_is() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed, which runs the tests of the scripts")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if tuple(map(int, version.removeprefix("v").split(".")[:2])) < (20, 19):
        pytest.skip(f"node {version} takes our scripts for something else than modules; 20.19 does not")
    file = Path(__file__).with_name("ledger.test.js")
    run = subprocess.run([node, "--no-warnings", "--test", file], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "# pass 8" in run.stdout, run.stdout
