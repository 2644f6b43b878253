"""How much memory processes hold, and killing those that hold too much."""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress
from pathlib import Path


def resident_mb(process: int | None = None) -> float | None:
    """How many megabytes of memory a process holds now; None if the system does not say (only Linux does)."""
    return _status(process, "VmRSS")


def peak_mb(process: int | None = None) -> float | None:
    """How many megabytes of memory a process held at most.

    Not `ru_maxrss`, which a new process inherits from the one that started it.
    """
    return _status(process, "VmHWM")


def family_mb() -> float | None:
    """How many megabytes this process and those that it started hold now; what they share is counted for each."""
    own = resident_mb()
    if own is None:
        return None
    return own + sum(resident_mb(child) or 0.0 for child in _children(os.getpid()))


def end_largest(process: int, most_mb: float) -> bool:
    """Kill the largest of a process and those below it, if they hold more than so much memory together.

    Files that are mapped do not count. Where the system does not say what processes hold, nothing happens.

    Returns:
        Whether one was killed.
    """
    held: dict[int, float] = {}
    waiting = [process]
    while waiting:
        one = waiting.pop()
        held[one] = sum(_status(one, field) or 0.0 for field in ("RssAnon", "RssShmem"))
        waiting += _children(one)
    if sum(held.values()) <= most_mb:
        return False
    with suppress(ProcessLookupError):  # it has ended meanwhile
        os.kill(max(held, key=lambda one: held[one]), signal.SIGKILL)
    return True


def _children(process: int) -> list[int]:
    """The processes that a process started."""
    children: list[int] = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children += map(int, file.read_text(encoding="ascii").split())
        except OSError:  # that thread has just ended
            continue
    return children


def _status(process: int | None, field: str) -> float | None:
    try:
        status = Path(f"/proc/{process or os.getpid()}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    found = re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 / 1e6 if found else None
