"""What goes into a source distribution, wheels and images, and what is said while packages are installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mainmatter import compiled
from timing import PATIENCE

ROOT = Path(__file__).parents[1]


def test_a_source_distribution_can_be_checked_and_its_documentation_built() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {"src", "tests", "docs", "examples", "scripts", "Makefile", "mkdocs.yml", "tsconfig.json"} <= set(included)
    assert [name for name in included if not (ROOT / name).exists()] == []


def test_the_tests_of_the_core_are_where_the_makefile_says() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    [places] = [line.split()[2:] for line in makefile.splitlines() if line.startswith("CORE_TESTS :=")]
    assert {"tests/html", "tests/main"} <= set(places)
    assert [place for place in places if not (ROOT / place).exists()] == []


def test_wheels_are_compiled_for_every_python_that_is_supported() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheels = settings["tool"]["cibuildwheel"]
    named = [name.rpartition(" ")[2] for name in settings["project"]["classifiers"] if ":: Python :: 3." in name]
    assert [f"cp{version.replace('.', '')}-*" for version in named] == [
        one for one in wheels["build"] if "t-" not in one
    ]
    assert wheels["environment"]["MAINMATTER_REQUIRE_COMPILED"] == "1"
    commands = " ".join(wheels["test-command"])
    assert [name for name in re.findall(r"\{project\}/(\S+)", commands) if not (ROOT / name).is_file()] == []


def test_the_images_get_what_installing_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    let_through = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE)
    assert set(let_through) == {
        "src",
        "pyproject.toml",
        "hatch_build.py",
        project["readme"],
        *project["license-files"],
    }
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    [extras] = re.findall(r'MAINMATTER_REQUIRE_COMPILED=1 .*"/src\[(.+)\]"', dockerfile)
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    [python] = re.findall(r"^ARG PYTHON=(.+)$", dockerfile, re.MULTILINE)
    assert f"Programming Language :: Python :: {python}" in project["classifiers"]
    assert dockerfile.index("\nUSER mainmatter\n") < dockerfile.index("\nENTRYPOINT")


MAKES_OWN = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")  # of the make that runs the tests
INSTALLER = """#!/bin/sh
echo "$@" >> calls
echo "WARNING: Location /somewhere is ignored"
exit ${STATUS:-0}
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_says_what_takes_time_and_shows_what_an_installer_prints_only_if_it_fails(tmp_path: Path) -> None:
    for name in (
        "Makefile",
        "pyproject.toml",
        "hatch_build.py",
        "scripts/requirements_of.py",
        "src/mainmatter/compiled.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "installer").write_text(INSTALLER, "utf-8")
    (tmp_path / "installer").chmod(0o755)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    environment = {name: value for name, value in os.environ.items() if name not in (compiled.PURE, *MAKES_OWN)}

    def install(**more: str) -> subprocess.CompletedProcess[str]:
        command = ["make", ".venv/installed", f"UV={tmp_path / 'installer'}"]
        return subprocess.run(
            command, check=False, capture_output=True, text=True, cwd=tmp_path, env=environment | more, timeout=PATIENCE
        )

    failed = install(STATUS="1")
    assert failed.returncode != 0
    assert "WARNING: Location /somewhere is ignored" in failed.stdout
    assert not (tmp_path / ".venv/installed").exists()
    done = install()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "installing the packages that are needed for this into .venv, 400 MB",
        f"compiling {len(compiled.MODULES)} modules, about a minute",
    ]
    _, packages, ours = (tmp_path / "calls").read_text("utf-8").splitlines()
    assert packages.endswith("--requirement .venv/requirements.txt")
    assert ours.endswith("--no-deps --editable .")
    needed = re.findall(r"^[\w-]+", (tmp_path / ".venv/requirements.txt").read_text("utf-8"), re.MULTILINE)
    assert {"numpy", "pyarrow", "tantivy"} <= set(needed)
    assert not {"fastapi", "matplotlib", "rapidfuzz"} & set(needed)
