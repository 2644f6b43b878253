"""How many lines each part of the house has, beside its limit and the goal; tests/test_house.py holds the limits.

python scripts/size.py
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Part:
    """A part of the house.

    Attributes:
        name: what it is called.
        places: its folders and files, below the root of the repository; "*.py" in one takes no subfolders.
        limit: how many lines its Python files may have. Lower it with the lines; raising it needs a line in
            docs/explanation/budgets.md that says what users get for it.
        goal: how many it is to have.
    """

    name: str
    places: tuple[str, ...]
    limit: int
    goal: int

    def lines(self) -> int:
        """The lines of its Python files, with docstrings and empty ones."""
        files = {
            file
            for place in self.places
            for file in (ROOT.glob(place) if "*" in place else (ROOT / place).rglob("*.py"))
        }
        return sum(file.read_bytes().count(b"\n") for file in files)


_CORE = ("*.py", "html", "text", "inputs", "render", "main", "models")
PARTS = (
    Part("core", tuple(f"src/mainmatter/{place}" for place in _CORE), 18_920, 13_500),
    Part("papers", ("src/mainmatter/papers",), 8_620, 6_500),
    Part("isolation", ("src/mainmatter/isolation",), 1_320, 1_000),
    Part("lab", ("src/mainmatter/lab",), 5_700, 3_650),
    Part("corpus", ("src/mainmatter/corpus",), 12_560, 6_000),
    Part("workbench", ("src/mainmatter/workbench",), 10_470, 6_000),
    Part("cli", ("src/mainmatter/cli",), 3_000, 2_000),
    Part("reproduce, bench", ("reproduce", "bench"), 9_250, 6_500),
    Part("tests", ("tests",), 58_900, 45_000),
    Part("scripts", ("scripts",), 5_310, 4_850),
)

if __name__ == "__main__":
    print(f"{'':18}{'lines':>8}{'limit':>8}{'goal':>8}")
    for part in PARTS:
        print(f"{part.name:18}{part.lines():8,}{part.limit:8,}{part.goal:8,}")
