"""What goes into a source distribution, and that the documented installation works with the pip that Python brings."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RESOLVE = ["install", "--quiet", "--dry-run", "--ignore-installed", "--disable-pip-version-check"]


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
