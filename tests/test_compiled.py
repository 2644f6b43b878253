"""Compiled or pure: what is told, what the two environment variables do, and that both ways give the same results."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from mainmatter import compiled

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("examples/site/**/*.html"), *ROOT.glob("tests/pages/*.html")])
SUFFIX = EXTENSION_SUFFIXES[0]

needs_compiled = pytest.mark.skipif(compiled.missing_modules() != [], reason="not all modules are compiled here")


def python(*arguments: str, folder: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python with our variables set to these, and to nothing else; in a folder, with the sources in it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAINMATTER_")}
    if folder:
        environment["PYTHONPATH"] = str(folder / "src")
    return subprocess.run(
        [sys.executable, *arguments],
        check=False,
        capture_output=True,
        cwd=folder,
        encoding="utf-8",
        env=environment | variables | {"PYTHONUTF8": "1"},
        timeout=300,
    )


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of two modules, which none is compiled of."""
    monkeypatch.setattr(compiled, "_PACKAGE", tmp_path)
    monkeypatch.setattr(compiled, "RECORD", tmp_path / "compiled.json")
    monkeypatch.setattr(compiled, "MODULES", ("mainmatter.one", "mainmatter.main.two"))
    (tmp_path / "main").mkdir()
    for name in ("one", "main/two"):
        (tmp_path / f"{name}.py").write_text(f"name = {name!r}\n", encoding="utf-8")
    for variable in (compiled.PURE, compiled.REQUIRE_COMPILED):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def pretend_compiled(package: Path, *names: str, why_not: str = "") -> None:
    """Extensions, without anything in them, and the record of what they were compiled from."""
    modules = {f"mainmatter.{name.replace('/', '.')}": package / f"{name}{SUFFIX}" for name in names}
    for file in modules.values():
        file.touch()
    compiled.write_record(
        {module: {file.name: compiled.digest_of(module)} for module, file in modules.items()}, why_not
    )


def test_the_status_says_what_runs_and_why(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled.status() == "pure Python: nothing was compiled when it was built"
    assert not compiled.runs_compiled()
    pretend_compiled(package, why_not="no C compiler worked")
    assert compiled.status() == "pure Python: no C compiler worked"
    pretend_compiled(package, "one", why_not="mainmatter.main.two: Cython refused it")
    assert compiled.status() == "compiled, except mainmatter.main.two: mainmatter.main.two: Cython refused it"
    assert compiled.runs_compiled()
    pretend_compiled(package, "one", "main/two")
    assert compiled.status() == "compiled"
    monkeypatch.setenv(compiled.PURE, "1")
    assert compiled.status() == "pure Python: MAINMATTER_PURE is set"
    assert not compiled.runs_compiled()


def test_a_source_that_changed_since_it_was_compiled_is_noticed(package: Path) -> None:
    pretend_compiled(package, "one", "main/two")
    assert compiled.stale_modules() == []
    (package / "main" / "two.py").write_text("name = 'three'\n", encoding="utf-8")
    assert compiled.stale_modules() == ["mainmatter.main.two"]
    assert compiled.status() == "compiled, but mainmatter.main.two changed since: run `python hatch_build.py`"
    compiled.RECORD.unlink()  # nobody knows what the extensions were compiled from
    assert compiled.stale_modules() == ["mainmatter.one", "mainmatter.main.two"]


@pytest.mark.parametrize(("value", "is_set"), [("1", True), ("yes", True), ("0", False), ("", False)])
def test_a_variable_is_set_unless_it_is_zero(value: str, is_set: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(compiled.PURE, value)
    assert compiled.is_set(compiled.PURE) is is_set


def test_compiled_modules_can_be_required(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(compiled.REQUIRE_COMPILED, "1")
    pretend_compiled(package, "one", why_not="it is too hot")
    with pytest.raises(
        ImportError,
        match=r"^MAINMATTER_REQUIRE_COMPILED is set, but there is no compiled mainmatter.main.two .*too hot",
    ):
        compiled.obey_environment()
    pretend_compiled(package, "one", "main/two")
    compiled.obey_environment()


def test_both_variables_contradict_each_other() -> None:
    done = python("-c", "import mainmatter", MAINMATTER_PURE="1", MAINMATTER_REQUIRE_COMPILED="1")
    assert done.returncode == 1
    message = "MAINMATTER_PURE and MAINMATTER_REQUIRE_COMPILED contradict each other: set one of them only"
    assert done.stderr.endswith(f"ImportError: {message}\n")


FILES = f"import importlib; print(*[importlib.import_module(name).__file__ for name in {compiled.MODULES}], sep='\\n')"


def test_pure_runs_the_sources_whatever_is_compiled() -> None:
    done = python("-c", FILES, MAINMATTER_PURE="1")
    assert done.stderr == ""
    assert done.stdout.splitlines() == [str(compiled.source_of(module)) for module in compiled.MODULES]
    told = python("-m", "mainmatter", "--version", MAINMATTER_PURE="1").stdout
    assert told.endswith(" (pure Python: MAINMATTER_PURE is set)\n")


@needs_compiled
def test_compiled_modules_run_where_there_are_any() -> None:
    done = python("-c", FILES, MAINMATTER_REQUIRE_COMPILED="1")
    assert done.stderr == ""
    assert done.stdout.splitlines() == [str(compiled.extension_of(module)) for module in compiled.MODULES]
    assert python("-m", "mainmatter", "--version").stdout.endswith(" (compiled)\n")


@needs_compiled
def test_compiled_and_pure_give_the_same() -> None:
    code = (
        "import sys, mainmatter\n"
        "for name in sys.argv[1:]:\n"
        "    found = mainmatter.clean_file(name)\n"
        "    print(found.json, found.markdown, [float(score).hex() for score in found.scores])\n"
    )
    names = [str(page) for page in PAGES]
    ways = python("-c", code, *names, MAINMATTER_REQUIRE_COMPILED="1"), python("-c", code, *names, MAINMATTER_PURE="1")
    assert [way.stderr for way in ways] == ["", ""]
    assert ways[0].stdout.count('"confidence"') == len(PAGES) > 6
    assert ways[0].stdout == ways[1].stdout


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What compiles, with a package of two small modules."""
    package = tmp_path / "src" / "mainmatter"
    package.mkdir(parents=True)
    shutil.copy(ROOT / "hatch_build.py", tmp_path)
    text = (ROOT / "src/mainmatter/compiled.py").read_text(encoding="utf-8")
    text, count = re.subn(
        r"MODULES = \(.*?\n\)\n", 'MODULES = ("mainmatter.small", "mainmatter.other")\n', text, flags=re.DOTALL
    )
    assert count == 1
    (package / "compiled.py").write_text(text, encoding="utf-8")
    start = "from mainmatter.compiled import obey_environment, status\nobey_environment()\n"
    (package / "__init__.py").write_text(start, encoding="utf-8")
    for name in ("small", "other"):
        (package / f"{name}.py").write_text("answer = 42\n", encoding="utf-8")
    return tmp_path


LOOK = "from mainmatter import small, status; print(small.answer, small.__file__.endswith('.py'), status())"


@pytest.mark.skipif(importlib.util.find_spec("Cython") is None, reason="Cython is not installed")
@pytest.mark.skipif(sys.platform == "win32" or shutil.which("cc") is None, reason="there is no C compiler cc")
def test_in_place_it_is_compiled_again_when_the_source_changed(tree: Path) -> None:
    done = python("hatch_build.py", folder=tree)
    assert done.stdout == "compiling 2 modules, less than a minute\nmainmatter is compiled\n"
    assert done.stderr == "mainmatter: 2 of 2 modules compiled\n"
    assert python("-c", LOOK, folder=tree).stdout == "42 False compiled\n"
    done = python("hatch_build.py", folder=tree)  # there is nothing to do
    assert (done.stdout, done.stderr) == ("mainmatter is compiled\n", "")

    source = tree / "src/mainmatter/small.py"
    source.write_text("answer = 43\n", encoding="utf-8")
    stale = "compiled, but mainmatter.small changed since: run `python hatch_build.py`"
    assert python("-c", LOOK, folder=tree).stdout == f"42 False {stale}\n"
    assert python("-c", LOOK, folder=tree, MAINMATTER_PURE="1").stdout.startswith("43 True pure Python")
    python("hatch_build.py", folder=tree)
    assert python("-c", LOOK, folder=tree).stdout == "43 False compiled\n"

    # What Cython refuses must not be there as it was compiled before; the others are compiled.
    source.write_text("answer = = 44\n", encoding="utf-8")
    (tree / "src/mainmatter/other.py").write_text("answer = 44\n", encoding="utf-8")
    done = python("hatch_build.py", folder=tree, MAINMATTER_REQUIRE_COMPILED="1")
    assert done.returncode == 1
    assert "only 1 of 2 modules compiled: mainmatter.small: Cython refused it\n" in done.stderr
    told = "compiled, except mainmatter.small: mainmatter.small: Cython refused it"
    done = python("hatch_build.py", folder=tree)
    assert done.stdout == f"compiling 2 modules, less than a minute\nmainmatter is {told}\n"
    assert "SyntaxError" in python("-c", LOOK, folder=tree).stderr

    python("hatch_build.py", folder=tree, MAINMATTER_PURE="1")
    source.write_text("answer = 45\n", encoding="utf-8")
    assert python("-c", LOOK, folder=tree).stdout == "45 True pure Python: MAINMATTER_PURE was set when it was built\n"


@pytest.mark.skipif(importlib.util.find_spec("Cython") is None, reason="Cython is not installed")
def test_without_a_compiler_the_sources_run(tree: Path) -> None:
    done = python("hatch_build.py", folder=tree, CC="/bin/false")
    assert done.returncode == 0
    assert "; the rest runs as Python, with the same results, but slower: no C compiler worked" in done.stderr
    told = "no C compiler worked when it was built: Command '/bin/false' returned non-zero exit status 1."
    assert python("-c", LOOK, folder=tree).stdout == f"42 True pure Python: {told}\n"
    done = python("hatch_build.py", folder=tree, CC="/bin/false", MAINMATTER_REQUIRE_COMPILED="1")
    assert done.returncode == 1
    assert "MAINMATTER_REQUIRE_COMPILED is set, but only 0 of 2 modules compiled" in done.stderr
    done = python("-c", LOOK, folder=tree, MAINMATTER_REQUIRE_COMPILED="1")
    assert (
        "ImportError: MAINMATTER_REQUIRE_COMPILED is set, but there is no compiled mainmatter.small, mainmatter.other"
        in done.stderr
    )
