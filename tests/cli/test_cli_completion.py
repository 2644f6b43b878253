"""`mainmatter completion`: bash completes what the script of it says; the other shells get a script, too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mainmatter.cli import _COMMANDS, group

# Calls the function of the script as bash does when somebody presses Tab.
TAB = """\
complete() { :; }; compopt() { echo files; }
eval "$(mainmatter completion bash)"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_mainmatter_completion mainmatter
printf '%s\\n' "${COMPREPLY[@]}"
"""


def pressed_tab(*words: str) -> list[str]:
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    command = ["bash", "-c", TAB, "bash", *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=True)
    assert not done.stderr
    return done.stdout.split("\n")[:-1]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("words", "completions"),
    [
        (("mainmatter", "comp"), ["completion"]),
        (("mainmatter", "clean", "--dia"), ["--dial"]),
        (("mainmatter", "clean", "-m", "ice-l"), ["ice-lm"]),
        (("mainmatter", "clean", "-m", "./mod"), ["files", ""]),
        (("mainmatter", "corpus", "craw"), ["files", ""]),
        (("mainmatter", "evaluate", "den"), ["density"]),
    ],
)
def test_bash_completes(words: tuple[str, ...], completions: list[str]) -> None:
    assert pressed_tab(*words) == completions


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell: str) -> None:
    result = CliRunner().invoke(group, ["completion", shell])
    assert result.exit_code == 0
    assert f"_MAINMATTER_COMPLETE={shell}_complete" in result.stdout


def test_another_shell_is_refused() -> None:
    result = CliRunner().invoke(group, ["completion", "tcsh"])
    assert result.exit_code == 2
    assert "'tcsh'" in result.stderr
    assert "completion" in _COMMANDS
