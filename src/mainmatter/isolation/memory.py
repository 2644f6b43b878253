"""How much memory processes hold."""

from __future__ import annotations

import os
import re
from pathlib import Path


def resident_mb(process: int | None = None) -> float | None:
    """How many megabytes of memory a process holds now; None where the system does not say (it is no Linux)."""
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
    children: list[int] = []
    for file in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        try:
            children += map(int, file.read_text(encoding="ascii").split())
        except OSError:  # that thread has just ended
            continue
    return own + sum(resident_mb(child) or 0.0 for child in children)


def _status(process: int | None, field: str) -> float | None:
    try:
        status = Path(f"/proc/{process or os.getpid()}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    found = re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 / 1e6 if found else None
