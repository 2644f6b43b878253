"""How a worker ended, in words."""

from __future__ import annotations

import signal


def tells_of_memory(said: str) -> bool:
    """Whether a library, as those in Rust and C++ do, ended the process for want of memory."""
    return "bad_alloc" in said or "memory allocation of" in said or said.startswith("MemoryError")


def last_line(text: str) -> str:
    """The last line that says something."""
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else ""


def signal_name(code: object) -> str:
    """An exit code in words; below 0 it is the signal that ended the process."""
    if not isinstance(code, int) or code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
