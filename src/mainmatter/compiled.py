"""Which modules are compiled, and whether compiled code or pure Python runs.

If there is a C compiler when mainmatter is installed, Cython compiles the modules listed here, each into an extension
beside its source. Without a compiler, Python runs the sources, with the same results. Two environment variables change
this, at installation and at run time. `hatch_build.py`, which compiles, reads this file before anything is installed,
so it may only use the standard library.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path

MODULES = (
    "mainmatter.corpus.language",
    "mainmatter.html.containers",
    "mainmatter.html.depth",
    "mainmatter.html.segment",
    "mainmatter.main.choice",
    "mainmatter.main.features",
    "mainmatter.main.names",
    "mainmatter.main.net",
    "mainmatter.papers.fiasco.nodes",
    "mainmatter.papers.fiasco.texts",
    "mainmatter.papers.ice.linear_markup",
    "mainmatter.render.build",
    "mainmatter.render.markdown",
)
PURE, REQUIRE_COMPILED = "MAINMATTER_PURE", "MAINMATTER_REQUIRE_COMPILED"

_PACKAGE = Path(__file__).parent
RECORD = _PACKAGE / "compiled.json"
"""What hatch_build.py compiled."""


def is_set(variable: str) -> bool:
    """Whether an environment variable is set to something other than 0."""
    return os.environ.get(variable, "") not in {"", "0"}


def source_of(module: str) -> Path:
    """The file that a module is compiled from."""
    return _PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")


def extension_of(module: str) -> Path | None:
    """The file that a module was compiled to for this Python, if it was."""
    files = (source_of(module).with_suffix(suffix) for suffix in EXTENSION_SUFFIXES)
    return next((file for file in files if file.exists()), None)


def digest_of(module: str) -> str:
    """A digest of a module's source."""
    return hashlib.sha256(source_of(module).read_bytes()).hexdigest()


def missing_modules() -> list[str]:
    """Modules that are not compiled for this Python."""
    return [module for module in MODULES if not extension_of(module)]


def stale_modules() -> list[str]:
    """Modules whose source changed since they were compiled: what runs is not what the source says."""
    digests, _ = read_record()
    files = {module: extension_of(module) for module in MODULES}
    return [
        module for module, file in files.items() if file and digests.get(module, {}).get(file.name) != digest_of(module)
    ]


def runs_compiled() -> bool:
    """Whether at least some compiled modules run."""
    return not is_set(PURE) and len(missing_modules()) < len(MODULES)


def status() -> str:
    """What runs and why, as `mainmatter --version` prints it: "compiled", or "pure Python" and the reason."""
    if is_set(PURE):
        return f"pure Python: {PURE} is set"
    missing = missing_modules()
    _, why_not = read_record()
    if not runs_compiled():
        return f"pure Python: {why_not or 'nothing was compiled when it was built'}"
    if stale := stale_modules():
        return f"compiled, but {', '.join(stale)} changed since: run `python hatch_build.py`"
    return f"compiled, except {', '.join(missing)}: {why_not}" if missing else "compiled"


def read_record() -> tuple[dict[str, dict[str, str]], str]:
    """The digest of the source that each file of each module was compiled from, and why others were not compiled."""
    if not RECORD.exists():
        return {}, ""
    record = json.loads(RECORD.read_text("utf-8"))
    return record["digests"], record["why_not"]


def write_record(digests: dict[str, dict[str, str]], why_not: str, file: Path | None = None) -> None:
    """Write what `read_record` reads, to its usual place or to another file."""
    (file or RECORD).write_text(json.dumps({"digests": digests, "why_not": why_not}), "utf-8")


def obey_environment() -> None:
    """Apply the environment variables: run the sources only, or require compiled modules.

    Raises:
        ImportError: compiled modules are required but missing, or both required and forbidden.
    """
    if is_set(PURE):
        if is_set(REQUIRE_COMPILED):
            raise ImportError(f"{PURE} and {REQUIRE_COMPILED} contradict each other: set one of them only")
        sys.meta_path.insert(0, _SourceFinder())
    elif is_set(REQUIRE_COMPILED) and (missing := missing_modules()):
        raise ImportError(f"{REQUIRE_COMPILED} is set, but there is no compiled {', '.join(missing)} ({status()})")


class _SourceFinder:
    """Finds the sources of modules whose compiled versions Python would load otherwise."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG002
        return spec_from_file_location(name, source_of(name)) if name in MODULES else None
