"""What builds and releases is pinned, with digests, and is what pyproject.toml asks for, which has no known flaws."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
LOCKED = {file.stem: file.read_text("utf-8") for file in (ROOT / "requirements").glob("*.txt")}
ENTRY = re.compile(r"^([\w.-]+)==\S+(?: ; [^\\\n]+)? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)


def plain(name: str) -> str:
    """A package's name as indexes write it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[<>=~! ]", name)[0]).lower()


@pytest.mark.parametrize("name", ["build", "release"])
def test_every_package_has_a_version_and_digests(name: str) -> None:
    left = ENTRY.sub("", LOCKED[name])
    assert left.strip() == ""
    wanted = (ROOT / "requirements" / f"{name}.in").read_text("utf-8").splitlines()
    packages = {plain(line) for line in wanted if line and not line.startswith(("#", "-c"))}
    assert packages <= {plain(entry[1]) for entry in ENTRY.finditer(LOCKED[name])}


def test_what_both_need_has_one_version() -> None:
    pins = [dict(re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE)) for text in LOCKED.values()]
    assert {package for package in pins[0].keys() & pins[1].keys() if pins[0][package] != pins[1][package]} == set()


def test_what_pyproject_builds_with_is_pinned() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    needed = {plain(package) for package in settings["build-system"]["requires"]}
    assert needed <= {plain(entry[1]) for entry in ENTRY.finditer(LOCKED["build"])}
    wheels = settings["tool"]["cibuildwheel"]
    assert "--require-hashes -r {project}/requirements/build.txt" in wheels["before-build"]
    assert wheels["build-frontend"] == {"name": "build", "args": ["--no-isolation"]}


def test_workflows_install_nothing_without_digests() -> None:
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        installs = [line for line in file.read_text("utf-8").splitlines() if "pip install" in line]
        assert all("--require-hashes" in line for line in installs)


def test_no_release_with_a_known_advisory_is_admitted() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project = settings["project"]
    extras = [package for extra in project["optional-dependencies"].values() for package in extra]
    needed = [Requirement(text) for text in (*settings["build-system"]["requires"], *project["dependencies"], *extras)]
    known = tomllib.loads((ROOT / "requirements" / "advisories.toml").read_text("utf-8"))
    safe = {name: Version(entry["safe"]) for name, entry in known["affected"].items()}
    listed = {*safe, *known["unaffected"]["packages"].split()}
    assert {canonicalize_name(package.name) for package in needed} - {"mainmatter"} == listed
    for package in needed:
        floors = [Version(part.version) for part in package.specifier if part.operator == ">="]
        first = safe.get(canonicalize_name(package.name))
        assert first is None or max(floors) >= first, f"{package}: releases before {first} have known advisories"
    assert all(entry["advisories"] for entry in known["affected"].values())
    assert isinstance(known["checked"], date)
