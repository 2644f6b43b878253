"""What a fuzz target is."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz.mutation import mutate_bytes
from mainmatter.errors import MainmatterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random


@dataclass(frozen=True)
class Target:
    """Code that reads inputs of strangers.

    Attributes:
        read: reads an input; whatever it raises, but for `errors`, is a finding.
        seeds: good inputs, which are mutated.
        tokens: pieces of the syntax.
        errors: what it may raise.
        mutate: makes an input of a seed, tokens and all seeds.
    """

    read: Callable[[bytes], object]
    seeds: Sequence[bytes]
    tokens: Sequence[bytes] = ()
    errors: tuple[type[Exception], ...] = (MainmatterError,)
    mutate: Callable[[Random, bytes, Sequence[bytes], Sequence[bytes]], bytes] = mutate_bytes

    def make(self, rng: Random) -> bytes:
        """The next input."""
        return self.mutate(rng, self.seeds[int(rng.random() * len(self.seeds))], self.tokens, self.seeds)

    def check(self, data: bytes) -> None:
        """Read an input, as it may come from anywhere."""
        try:
            self.read(data)
        except self.errors:
            return


SEEDS = Path(__file__).with_name("seeds")


def dictionary(name: str) -> list[bytes]:
    """The entries of a dictionary in `seeds`, whose format is that of libFuzzer: a string a line, with escapes."""
    lines = (SEEDS / f"{name}.dict").read_text("ascii").splitlines()
    return [ast.literal_eval(f"b{line}") for line in lines if line.startswith('"')]
