"""The packages that mainmatter and some of its extras need, one a line, as pip reads them.

    python scripts/requirements_of.py [EXTRA ...]

`make` installs them before mainmatter itself, so that each step says what takes the time: pip has no option for the
dependencies alone.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
OURS = re.compile(r"mainmatter\[(.+)\]")


def requirements_of(extras: list[str]) -> list[str]:
    """What the core needs, and these extras with those that they name."""
    found: dict[str, None] = dict.fromkeys(PROJECT["dependencies"])
    waiting = list(extras)
    while waiting:
        for requirement in PROJECT["optional-dependencies"][waiting.pop()]:
            if ours := OURS.fullmatch(requirement):
                waiting += ours[1].split(",")
            else:
                found[requirement] = None
    return list(found)


if __name__ == "__main__":
    print(*requirements_of(sys.argv[1:]), sep="\n")
