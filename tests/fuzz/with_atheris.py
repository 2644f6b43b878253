"""The same targets, led by coverage: atheris keeps inputs that reach new lines. Run by hand; pytest does not need it.

pip install atheris
PYTHONPATH=tests python -m fuzz.with_atheris TARGET [CORPUS] [options of libFuzzer, such as -max_total_time=600]
"""

from __future__ import annotations

import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from mainmatter.compiled import PURE

if os.environ.get(PURE) != "1":  # compiled code is not instrumented
    os.environ[PURE] = "1"
    os.execv(sys.executable, [sys.executable, "-m", "fuzz.with_atheris", *sys.argv[1:]])


def main() -> None:
    """Fuzz one target until libFuzzer stops."""
    try:
        atheris: Any = import_module("atheris")
    except ImportError:
        sys.exit("this needs atheris; run: pip install atheris")
    with atheris.instrument_imports(include=["mainmatter"]):
        from fuzz.targets import TARGETS  # after the instrumentation is there
    if sys.argv[1:2] and sys.argv[1] in TARGETS:
        name = sys.argv.pop(1)
        corpus = Path(tempfile.mkdtemp(prefix=f"fuzz-{name}-"))
        target = TARGETS[name](corpus)
        seeds = corpus / "seeds"
        seeds.mkdir()
        for number, seed in enumerate(target.seeds):
            (seeds / str(number)).write_bytes(seed)
        atheris.Setup([*sys.argv, str(seeds)], target.check)
        atheris.Fuzz()
    else:
        sys.exit(f"name a target: {', '.join(TARGETS)}")


if __name__ == "__main__":
    main()
