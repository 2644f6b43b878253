"""`make fuzz`: mutated inputs for everything that reads what strangers wrote.

PYTHONPATH=tests python -m fuzz --seconds 60 pages models
PYTHONPATH=tests python -m fuzz --replay .venv/fuzz/pages/0123456789ab
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from fuzz.run import Outcome, fuzz, replay
from fuzz.targets import GROUPS, TARGETS


def main() -> None:
    """Run what the command line says; the exit code is 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="fuzz", description="Read mutated inputs, and save those that show a bug.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(GROUPS)}, or of a target in them")
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets together (default: 60)")
    parser.add_argument("--inputs", type=int, default=sys.maxsize, help="at most so many for each target")
    parser.add_argument("--seed", default=None, help="the same seed makes the same inputs (default: the time)")
    parser.add_argument("--found", type=Path, default=Path(".venv/fuzz"), help="where inputs with findings are saved")
    parser.add_argument("--replay", type=Path, help="read this saved input again; its folder names the target")
    asked = parser.parse_args()
    if asked.replay:
        name = asked.replay.absolute().parent.name
        _stop_if_unknown([name], parser)
        outcomes = {name: replay(TARGETS[name], asked.replay, asked.found / name)}
    else:
        _stop_if_unknown(asked.names, parser)
        wanted = [target for name in asked.names or GROUPS for target in GROUPS.get(name, (name,))]
        seed = str(time.time_ns()) if asked.seed is None else asked.seed
        print(f"seed {seed}", flush=True)
        outcomes = _fuzz_all(list(dict.fromkeys([*wanted])), seed, asked)
    findings = [(name, what, file) for name, one in outcomes.items() for what, file in one.findings.items()]
    for name, what, file in findings:
        print(f"found in {name}: {what}; again: make fuzz REPLAY={file}")
    print(f"{sum(one.inputs for one in outcomes.values()):,} inputs, {len(findings)} findings")
    sys.exit(bool(findings))


def _fuzz_all(names: list[str], seed: str, asked: argparse.Namespace) -> dict[str, Outcome]:
    """Each target in turn; what is left of the time is shared by those that are still to come."""
    end = time.monotonic() + asked.seconds
    outcomes = {}
    for left, name in zip(range(len(names), 0, -1), names, strict=True):
        seconds = max(0.0, end - time.monotonic()) / left
        one = fuzz(TARGETS[name], seed=f"{name} {seed}", seconds=seconds, most=asked.inputs, found=asked.found / name)
        rate = one.inputs / max(one.seconds, 0.001)
        print(f"{name}: {one.inputs:,} inputs, {rate:,.0f} a second, {len(one.findings)} findings", flush=True)
        outcomes[name] = one
    return outcomes


def _stop_if_unknown(names: list[str], parser: argparse.ArgumentParser) -> None:
    for name in names:
        if name not in GROUPS and name not in TARGETS:
            parser.error(f"no target is called {name}; there are {', '.join([*GROUPS, *TARGETS])}")


if __name__ == "__main__":
    main()
