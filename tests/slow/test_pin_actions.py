"""scripts/pin_actions.py: tags become commits, and tags that were moved are told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "pin_actions.py"


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=e@e.example", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def action(tmp_path: Path) -> Path:
    """The repository of an action, with a light tag and an annotated one."""
    folder = tmp_path / "forge" / "owner" / "name"
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "first")
    git(folder, "tag", "v1")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "second")
    git(folder, "tag", "-a", "v2", "-m", "two")
    return folder


def run(tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "--forge", f"file://{tmp_path}/forge", "--workflows", str(tmp_path / "w")]
    return subprocess.run([*command, *options], capture_output=True, text=True, check=False)


def test_tags_become_commits(action: Path, tmp_path: Path) -> None:
    first, second = git(action, "rev-parse", "v1"), git(action, "rev-parse", "v2^{commit}")
    file = tmp_path / "w" / "ci.yml"
    file.parent.mkdir()
    file.write_text("- uses: owner/name@v1\n- uses: owner/name/sub@v2 # old\n- run: echo uses\n", "utf-8")
    assert run(tmp_path, "--check").returncode == 1
    assert run(tmp_path).returncode == 0
    pinned = f"- uses: owner/name@{first} # v1\n- uses: owner/name/sub@{second} # v2\n- run: echo uses\n"
    assert file.read_text("utf-8") == pinned
    assert run(tmp_path, "--check").returncode == 0
    git(action, "tag", "--force", "v1", "HEAD")
    moved = run(tmp_path, "--check")
    assert (moved.returncode, moved.stdout.count(second)) == (1, 1)
    assert file.read_text("utf-8") == pinned


def test_a_tag_that_is_not_there(action: Path, tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "ci.yml").write_text("- uses: owner/name@v3\n", "utf-8")
    failed = run(tmp_path)
    assert failed.returncode == 1
    assert "owner/name: no tag v3" in failed.stderr
