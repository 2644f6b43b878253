"""Contestants that behave badly on purpose, for processes that import them from here."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from mainmatter.compiled import status
from mainmatter.lab.metrics import Output

if TYPE_CHECKING:
    from collections.abc import Callable

    from mainmatter.lab.datasets import GoldPage


def load_moody(name: str) -> Callable[[GoldPage], Output]:
    """One that does what a page says: hang, die, raise, grow; otherwise it gives its name."""
    hoard: list[bytes] = []

    def run(page: GoldPage) -> Output:
        match page.page.html:
            case b"hang":
                time.sleep(600)
            case b"die":
                os._exit(3)
            case b"raise":
                raise ValueError("no\nsuch page")
            case b"grow":
                hoard.append(b"x" * 60_000_000)
            case b"slow":
                begin = time.process_time()  # what counts is the time that it works, not that it waits
                while time.process_time() - begin < 0.05:
                    pass
        return Output(name, f"<p> {name}")

    return run


def load_telling(name: str) -> Callable[[GoldPage], Output]:
    """One that gives its name, and what of mainmatter runs."""
    return lambda _: Output(f"{name} {status()}")


def load_nothing(name: str) -> Callable[[GoldPage], Output]:
    """One that cannot be loaded."""
    raise RuntimeError(f"no {name}\nhere")


def load_fatally(name: str) -> Callable[[GoldPage], Output]:
    """One that takes its process down when it is loaded."""
    os._exit(1)
