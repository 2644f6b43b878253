"""The documented installation works with the pip that Python brings, which asks a package registry."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESOLVE = ["install", "--quiet", "--dry-run", "--ignore-installed", "--disable-pip-version-check"]


@pytest.fixture(scope="module")
def bundled_pip(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The pip that comes with this interpreter, in an environment of its own."""
    folder = tmp_path_factory.mktemp("bundled")
    try:
        venv.create(folder, with_pip=True)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"this Python brings no pip: {error}")
    pip = [str(folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"), "-m", "pip"]
    probe = [*pip, *RESOLVE, "--no-deps", "--retries", "0", "--timeout", "10", "hatchling"]
    reached = subprocess.run(probe, check=False, capture_output=True, text=True, timeout=60)
    if reached.returncode:
        pytest.skip(f"pip reaches no package registry: {reached.stderr.strip().splitlines()[-1]}")
    return pip


def test_the_extra_bench_can_be_installed_with_the_bundled_pip(bundled_pip: list[str]) -> None:
    """Half a minute. pip 23.2, which Python 3.11.7 brings, died of how other packages spell an extra of lxml."""
    command = [*bundled_pip, *RESOLVE, f"{ROOT}[bench]"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
