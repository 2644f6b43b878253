"""What children do in tests: go wrong in every way. See isolation/test_child.py and test_pool.py."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from mainmatter.isolation.child import Child, ChildExited, as_service, may_fork
from timing import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

loaded: list[str] = []
hoard: list[bytes] = []


class Unreceivable(Exception):
    """Can be pickled, and not unpickled."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


def act(word: str, *more: Any) -> Any:
    """Do what the word says."""
    return _ACTS[word](*more)


def _crash_in_c() -> int:
    return ctypes.string_at(0)[0]


def _sleep_in_c() -> int:
    """Holds the interpreter's lock, too."""
    return int(ctypes.PyDLL(None).sleep(600))


def _spin_in_c() -> int:
    """One step of the interpreter that takes minutes."""
    exponent = 100_000_000
    return int((3**exponent).bit_length())


def _wait_for_file(path: str) -> None:
    wait_until(Path(path).exists)


def _die_for_want_of_memory() -> NoReturn:
    os.write(2, b"some words\nmemory allocation of 77 bytes failed\n")
    os.abort()


def _raise(name: str) -> NoReturn:
    if name == "Unreceivable":
        raise Unreceivable("not", "so")
    raise {"EOFError": EOFError, "ConnectionError": ConnectionError}[name]("of the service")


def _hoard(megabytes: int) -> int:
    hoard.append(b"x" * (megabytes * 1_000_000))
    return len(hoard)


def _count(number: int) -> Generator[int, None, str]:
    yield from range(number)
    return "done"


def _count_and_stumble() -> Generator[int, None, None]:
    yield 1
    raise ZeroDivisionError("after the first")


_ACTS: dict[str, Callable[..., Any]] = {
    "echo": lambda value=None: value,
    "pid": os.getpid,
    "tell": lambda: (os.getpid(), list(loaded)),
    "sleep": time.sleep,
    "sleep in C": _sleep_in_c,
    "wait for": _wait_for_file,
    "spin in C": _spin_in_c,
    "exit": lambda: sys.exit(3),
    "leave": lambda: os._exit(4),
    "abort": os.abort,
    "segfault": _crash_in_c,
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "interrupt": lambda: os.kill(os.getpid(), signal.SIGINT),
    "eat": lambda: len(b"x" * 4_000_000_000),
    "die for want": _die_for_want_of_memory,
    "hoard": _hoard,
    "divide": lambda: 1 / 0,
    "raise": _raise,
    "lambda": lambda: lambda: None,
    "count": _count,
    "stumble": _count_and_stumble,
    "environment": os.environ.get,
}


def make_nothing(word: str = "") -> NoReturn:
    """A service that cannot be made."""
    if word:
        act(word)
    raise ZeroDivisionError("while it was made")


class Parent:
    """A service that starts a child in its turn, lets it act, and tells what it said, or its exit code."""

    def __init__(self) -> None:
        self.kept: list[Child] = []

    def __call__(self, word: str, threads: bool) -> tuple[Any, int | None]:
        stop = threading.Event()
        if threads:
            threading.Thread(target=stop.wait).start()
        loaded.clear()
        fork = may_fork()
        if fork:
            loaded.append("by its parent")
        child = Child(as_service, act, fork=fork)
        try:
            said = child.call(word)
        except ChildExited as error:
            return None, error.code
        finally:
            stop.set()
        self.kept.append(child)
        return said, None
