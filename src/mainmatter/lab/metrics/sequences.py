"""Longest common subsequence and edit distance of two sequences; the only file that names rapidfuzz.

rapidfuzz works on 64 cells of the table at once: about 5e10 cells a second on Latin text, a tenth of that on
Chinese. Lists of strings are compared by their 64-bit hashes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from mainmatter.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

# To trace an optimal alignment back, rapidfuzz keeps one bit a cell: 2e9 cells are 250 MB.
TRACEABLE_CELLS = 2_000_000_000


def need(module: str) -> ModuleType:
    """Import a module of the `eval` extra.

    Raises:
        MissingExtra: if it is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtra(module.partition(".")[0], "eval") from error


def common_subsequence(a: Sequence[str], b: Sequence[str]) -> int:
    """Length of the longest common subsequence of two strings or lists of tokens."""
    return int(need("rapidfuzz.distance").LCSseq.similarity(a, b))


def edit_distance(a: Sequence[str], b: Sequence[str]) -> int:
    """Fewest insertions, deletions and substitutions that turn `a` into `b` (Levenshtein)."""
    return int(need("rapidfuzz.distance").Levenshtein.distance(a, b))


def matching_blocks(
    a: Sequence[str], b: Sequence[str], traceable_cells: int = TRACEABLE_CELLS
) -> list[tuple[int, int, int]]:
    """Align two sequences; each (i, j, size) says that a[i:i+size] stands opposite an equal b[j:j+size].

    The alignment is a longest common subsequence while its table fits into memory. Beyond that it is a
    shortest edit script, which rapidfuzz finds in bounded memory (Hirschberg): it may align fewer tokens,
    never more.
    """
    distance = need("rapidfuzz.distance")
    aligner = distance.LCSseq if len(a) * len(b) <= traceable_cells else distance.Levenshtein
    blocks = aligner.editops(a, b).as_matching_blocks()
    return [(block.a, block.b, block.size) for block in blocks if block.size]
