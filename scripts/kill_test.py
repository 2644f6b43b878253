"""Kill `mainmatter corpus` with -9 at random moments, let it go on, and compare the result with an undisturbed run.

python scripts/kill_test.py CRAWL.warc.gz --kills 20 --shard-size 4

Other options are given on to the command. The victim is the command, one of its workers, or one of the processes that
clean pages, by lot. Each byte of the result must be as in the run that nobody disturbed, and no page may be lost or be
there twice.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = [sys.executable, "-c", "from mainmatter.cli import main; main()", "corpus"]
WAIT = 10.0  # seconds in which all that a killed command started must be gone


def main() -> None:
    """Run the test; the exit code is 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", default="2")
    parser.add_argument("--shard-size", default="4")
    arguments, more = parser.parse_known_args()
    options = [*more, "-j", arguments.workers, "--shard-size", arguments.shard_size]
    with tempfile.TemporaryDirectory() as folder:
        calm, disturbed = Path(folder, "calm"), Path(folder, "disturbed")
        began = time.monotonic()
        subprocess.run([*COMMAND, arguments.input, "-o", str(calm), *options], check=True)
        seconds = time.monotonic() - began
        chance = random.Random(arguments.seed)  # no secret
        command = [*COMMAND, arguments.input, "-o", str(disturbed), *options]
        kills = kill_again_and_again(command, arguments.kills, seconds, chance)
        problems = compare(calm, disturbed)
    print(f"{sum(kills.values())} kills ({', '.join(f'{n} of {who}' for who, n in sorted(kills.items()))}):", end=" ")
    print("; ".join(problems) if problems else "byte for byte the same, no page lost, none twice")
    sys.exit(1 if problems else 0)


def kill_again_and_again(
    command: list[str], kills: int, seconds: float, chance: random.Random
) -> collections.Counter[str]:
    """Run a command to its end, but for so many kills on the way; gives who was killed how often."""
    killed: collections.Counter[str] = collections.Counter()
    while True:
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while killed.total() < kills and run.poll() is None:
            # Most runs get far enough to finish some shards: a run that is killed must cost progress now and then.
            time.sleep(chance.uniform(0.0, 2.2 * seconds / kills))
            tree = family(run.pid)
            if run.poll() is not None:
                continue
            depth = chance.choice(sorted(set(tree.values())))
            kill(chance.choice([pid for pid, level in tree.items() if level == depth]))
            killed[("command", "worker", "child")[depth]] += 1
            if depth == 0:
                run.wait()
                wait_until_gone([pid for pid, level in tree.items() if level])
        _, errors = run.communicate()
        if run.returncode == 0:
            return killed
        # A worker that was killed five times at one shard is given up, which is right, too.
        if run.returncode != -signal.SIGKILL and "died 5 times" not in errors:
            raise SystemExit(f"the command failed: {errors}")


def family(pid: int) -> dict[int, int]:
    """A process and all below it, each with how many generations it is below."""
    found = {pid: 0}
    for one in found.copy():
        queue = [one]
        while queue:
            parent = queue.pop()
            for task in Path(f"/proc/{parent}/task").glob("*/children"):
                try:
                    children = [int(child) for child in task.read_text("ascii").split()]
                except OSError:
                    continue
                for child in children:
                    found[child] = found[parent] + 1
                    queue.append(child)
    return found


def kill(pid: int) -> None:
    """Kill a process, if it is still there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def wait_until_gone(pids: list[int]) -> None:
    """Wait for processes whose command was killed."""
    end = time.monotonic() + WAIT
    while left := [pid for pid in pids if is_alive(pid)]:
        if time.monotonic() > end:
            raise SystemExit(f"processes {left} live on {WAIT:g} s after their command was killed")
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def compare(calm: Path, disturbed: Path) -> list[str]:
    """What differs between two results."""
    ours, theirs = files_of(calm), files_of(disturbed)
    problems = [f"{name} is not in both" for name in sorted(set(ours) ^ set(theirs))]
    problems += [f"{name} differs" for name in sorted(set(ours) & set(theirs)) if ours[name] != theirs[name]]
    counts = [json.loads((out / "__about/summary.json").read_text("utf-8")) for out in (calm, disturbed)]
    for name in ("pages", "kept", "rejects", "skipped", "words", "bytes"):
        if counts[0][name] != counts[1][name]:
            problems.append(f"{name}: {counts[0][name]} and {counts[1][name]}")
    return problems


def files_of(out: Path) -> dict[str, bytes]:
    """The parts, the rejects and the dataset card."""
    files = [file for file in out.rglob("*") if file.is_file() and "__run" not in file.relative_to(out).parts]
    return {str(file.relative_to(out)): file.read_bytes() for file in files if file.name != "summary.json"}


if __name__ == "__main__":
    main()
