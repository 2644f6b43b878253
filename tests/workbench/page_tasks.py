"""Work that goes wrong in every way that work can go wrong; workers import this file."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import time
from pathlib import Path
from typing import Any, NoReturn

from mainmatter.errors import InputError, PageTooLarge, UnknownName
from timing import wait_until

HOARD: list[bytes] = []


def echo(value: Any = None) -> Any:
    return value


def pid() -> int:
    return os.getpid()


def sleep(seconds: float = 600.0) -> float:
    time.sleep(seconds)
    return seconds


def touch_and_sleep(path: str) -> float:
    """Tells that it has begun."""
    Path(path).touch()
    return sleep()


def wait_for_file(path: str) -> str:
    """Takes until the file is there."""
    wait_until(Path(path).exists)
    return path


def spin_in_c() -> int:
    """One step of the interpreter that takes minutes."""
    exponent = 100_000_000
    return int((3**exponent).bit_length())


def sleep_in_c() -> int:
    """Holds the interpreter's lock, too."""
    return int(ctypes.PyDLL(None).sleep(600))


def fill_disk() -> NoReturn:
    raise OSError(errno.ENOSPC, "No space left on device", "/a/place/of/the/machine")


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def crash() -> int:
    return ctypes.string_at(0)[0]


def leave() -> NoReturn:
    os._exit(3)


def eat_memory() -> int:
    return len(b"x" * 4_000_000_000)


def hoard(megabytes: int) -> int:
    """Leaves something in memory."""
    HOARD.append(bytes(megabytes * 1_000_000))
    return len(HOARD)


def stumble() -> NoReturn:
    raise ZeroDivisionError("of all things")


def refuse() -> NoReturn:
    raise InputError("not like this; like that")


class OddError(InputError):
    """Can be sent to another process, and not received."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


def refuse_oddly() -> NoReturn:
    raise OddError("of this", "machine")


def refuse_size() -> NoReturn:
    raise PageTooLarge("the page has more than 3 bytes")


def refuse_name() -> NoReturn:
    raise UnknownName("method", "densty", ["density"])


def give_a_lambda() -> Any:
    return lambda: None
