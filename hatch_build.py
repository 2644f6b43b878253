"""Compiles the modules that src/mainmatter/compiled.py lists, where Cython and a C compiler are there.

As a build hook of hatchling it does so for wheels, whose extensions go in beside the sources, and in place for editable
installs. `python hatch_build.py` compiles in place what changed since it was compiled. What cannot be compiled is left
to Python, and the reason is recorded; with MAINMATTER_REQUIRE_COMPILED=1 it is an error. With MAINMATTER_PURE=1 nothing
is compiled, and what was compiled in place is removed.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a script
    BuildHookInterface = object

SOURCES = Path(__file__).resolve().parent / "src"

# Results are the same on every machine, compiled or not: no operation is fused with another, none is reordered.
FLAGS = {"msvc": ["/O2", "/fp:precise"], "other": ["-O3", "-g0", "-ffp-contract=off"]}
DIRECTIVES = {
    "language_level": 3,
    # A module may turn it on in its first lines. It makes `x: float` a C double, and `x: str` refuse subclasses of str.
    "annotation_typing": False,
    "freethreading_compatible": True,
    "warn.unreachable": False,  # behind `if cython.compiled:` is what Python runs
}

_SPEC = importlib.util.spec_from_file_location("compiled", SOURCES / "mainmatter" / "compiled.py")
assert _SPEC is not None
assert _SPEC.loader is not None
compiled = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(compiled)


class CustomBuildHook(BuildHookInterface):
    """What hatchling calls before and after it writes a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and say what goes into the wheel."""
        if version == "editable":
            any_compiled = compile_in_place()
        else:
            self.temporary = tempfile.TemporaryDirectory(prefix="mainmatter-")  # gone at exit, should the build fail
            folder = Path(self.temporary.name)
            built, why_not = compile_to(folder, compiled.MODULES)
            record = folder / "mainmatter" / compiled.RECORD.name
            record.parent.mkdir(exist_ok=True)
            digests = {module: {file.name: compiled.digest_of(module)} for module, file in built.items()}
            compiled.write_record(digests, why_not, record)
            for file in [*built.values(), record]:
                build_data["force_include"][str(file)] = file.relative_to(folder).as_posix()
            any_compiled = bool(built)
        if any_compiled:
            build_data["pure_python"] = False
            build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what is in the wheel by now."""
        if version != "editable":
            self.temporary.cleanup()


def changed_modules() -> Sequence[str]:
    """What is to be compiled in place, or to be removed with MAINMATTER_PURE."""
    return compiled.MODULES if compiled.is_set(compiled.PURE) else compiled.stale_modules() + compiled.missing_modules()


def announce() -> None:
    """Say what is about to be compiled, which takes five seconds a module and prints nothing."""
    if not compiled.is_set(compiled.PURE) and (count := len(changed_modules())):
        about = "about a minute" if count > 6 else "less than a minute"
        print(f"compiling {count} modules, {about}" if count > 1 else "compiling a module", flush=True)


def compile_in_place() -> bool:
    """Compile what changed since it was compiled, beside the sources; returns whether anything is compiled then."""
    digests, why_not = compiled.read_record()
    changed = changed_modules()
    for module in set(digests) - set(compiled.MODULES):  # no longer compiled, but Python would prefer what is there
        for name in digests.pop(module):
            compiled.source_of(module).with_name(name).unlink(missing_ok=True)
    if changed:
        with tempfile.TemporaryDirectory(prefix="mainmatter-") as folder:
            built, why_not = compile_to(Path(folder), changed)
            for module in changed:
                if stale := compiled.extension_of(module):
                    stale.unlink()
                if module in built:
                    shutil.copy(built[module], compiled.source_of(module).parent)
                    digests.setdefault(module, {})[built[module].name] = compiled.digest_of(module)
    compiled.write_record(digests, why_not)
    return len(compiled.missing_modules()) < len(compiled.MODULES)


def compile_to(folder: Path, modules: Sequence[str]) -> tuple[dict[str, Path], str]:
    """Compile modules into a folder; returns the extensions, by module, and why others were not compiled.

    Raises:
        RuntimeError: if one was not, and MAINMATTER_REQUIRE_COMPILED is set.
    """
    built: dict[str, Path] = {}
    if compiled.is_set(compiled.PURE):
        why_not = f"{compiled.PURE} was set when it was built"
    elif sys.implementation.name != "cpython":
        why_not = f"{sys.implementation.name} is faster without"
    else:
        try:
            built, why_not = _compile(folder, modules)
        except Exception as error:  # whatever it is: Python can run the sources
            why_not = f"{type(error).__name__} when it was built: {error}"
    told = f"{len(built)} of {len(modules)} modules compiled"
    if why_not:
        if compiled.is_set(compiled.REQUIRE_COMPILED):
            raise RuntimeError(f"{compiled.REQUIRE_COMPILED} is set, but only {told}: {why_not}")
        told += f"; the rest runs as Python, with the same results, but slower: {why_not}"
    print(f"mainmatter: {told}", file=sys.stderr)
    return built, why_not


def _compile(folder: Path, modules: Sequence[str]) -> tuple[dict[str, Path], str]:
    from Cython.Build import cythonize
    from Cython.Compiler.Errors import CompileError
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    errors = []

    class BuildExtensions(build_ext):
        def build_extension(self, ext: Extension) -> None:
            ext.extra_compile_args = FLAGS["msvc" if self.compiler.compiler_type == "msvc" else "other"]
            try:
                super().build_extension(ext)
            except Exception as error:  # the others may compile
                short = re.sub(r"\['(.+?)'.*\]", r"\1", str(error))  # of a command, the program will do
                errors.append(f"{ext.name}: {short}")

    def build(extensions: list[Extension]) -> None:
        command = BuildExtensions(Distribution({"ext_modules": extensions}))
        command.build_lib, command.build_temp = str(folder), str(folder / "temp")
        command.parallel = os.cpu_count()
        command.ensure_finalized()
        command.run()

    # First a program of one line: without a compiler, Cython's work would be for nothing.
    probe = folder / "probe.c"
    probe.write_text("#include <Python.h>\nPyMODINIT_FUNC PyInit_probe(void) { return NULL; }\n", "utf-8")
    build([Extension("probe", [str(probe)])])
    if errors:
        return {}, f"no C compiler worked when it was built: {errors[0].removeprefix('probe: ')}"
    extensions: list[Extension] = []
    with contextlib.chdir(SOURCES):
        for module in modules:
            source = [f"{module.replace('.', '/')}.py"]
            options = {"build_dir": str(folder / "c"), "compiler_directives": DIRECTIVES, "force": True, "quiet": True}
            try:
                extensions += cythonize([Extension(module, source)], **options)
            except CompileError:  # it has told why; the others may compile
                errors.append(f"{module}: Cython refused it")
        build(extensions)
    built = {module: file for module in modules for file in folder.glob(f"{module.replace('.', '/')}.*")}
    return built, "; ".join(errors)


if __name__ == "__main__":
    announce()
    compile_in_place()
    print(f"mainmatter is {compiled.status()}")
