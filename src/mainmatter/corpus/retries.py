"""Requests to storage that fail for a moment are made again; errors that would only come back are raised at once.

A request that fails is repeated after a pause. Pauses double, with some chance in them, so that a thousand workers do
not all ask again at the same moment. Two limits end this: a deadline for each request, and a budget for the whole
process, which successful requests fill up again. Storage that answers nothing at all thus ends the run in minutes.
"""

from __future__ import annotations

import errno
import random
import re
import threading
import time
from typing import TYPE_CHECKING, TypeVar

from mainmatter.inputs.fetch import AddressRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Result = TypeVar("Result")

DEADLINE = 300.0  # seconds from the first failure of a request until it is given up
FIRST_PAUSE = 0.5  # seconds, at most
LONGEST_PAUSE = 30.0
BUDGET = 1000.0  # retries of a process; enough for its 64 requests at a time to reach their deadline
REFUND = 0.1  # of a retry, for each request that succeeds
MOST_TRIES_OF_UNKNOWN = 3  # where nobody knows whether an error is worth a retry

_PERMANENT = (
    FileNotFoundError, FileExistsError, PermissionError, IsADirectoryError, NotADirectoryError, NotImplementedError,
    ImportError, AddressRefused,
)  # fmt: skip
_PERMANENT_NUMBERS = frozenset(
    (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EINVAL, errno.ENAMETOOLONG, errno.ENOTSUP, errno.EPERM)
)
_TRANSIENT_STATUS = frozenset((408, 425, 429, 500, 502, 503, 504, 509))
# S3 answers these with status 400, although the next try may succeed.
_TRANSIENT_CODES = frozenset(("RequestTimeout", "IncompleteBody", "BadDigest", "SlowDown", "ThrottlingException"))
# Errors of aiohttp, botocore and others that are no OSError.
_TRANSIENT_NAMES = re.compile("Timeout|[Cc]onnect|Payload|IncompleteRead|Throttl")


class Retries:
    """What a process may still repeat, and how often it did. Threads may share it.

    Attributes:
        count: how many requests were repeated so far.
    """

    def __init__(self) -> None:
        self.count = 0
        self.on_retry: Callable[[], object] | None = None  # called before each pause
        self._left = BUDGET
        self._lock = threading.Lock()

    def call(self, request: Callable[[], Result]) -> Result:
        """Make a request, again and again if need be.

        Raises:
            OSError: it still failed when its deadline was reached or the budget was used up.
            Exception: whatever the request raises, if that is permanent.
        """
        tries, began = 0, 0.0
        while True:
            try:
                result = request()
            except Exception as error:
                tries += 1
                transient = is_transient(error)
                if transient is False:
                    raise
                began = began or time.monotonic()
                waited = time.monotonic() - began
                pause = pause_before(tries)
                is_over = waited + pause > DEADLINE or (transient is None and tries >= MOST_TRIES_OF_UNKNOWN)
                if is_over or not self._take():
                    why = "" if is_over else ", and too many other requests failed"
                    raise OSError(f"{reason(error)} (tried {tries} times in {waited:.0f} s{why})") from error
                if self.on_retry is not None:
                    self.on_retry()
                time.sleep(pause)
            else:
                with self._lock:
                    self._left = min(BUDGET, self._left + REFUND)
                return result

    def _take(self) -> bool:
        with self._lock:
            if self._left < 1:
                return False
            self._left -= 1
            self.count += 1
            return True


retries = Retries()  # of this process


def pause_before(retry: int) -> float:
    """How many seconds to wait before a retry, the first of which is 1."""
    longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (retry - 1))
    return random.uniform(longest / 2, longest)  # no secret


def is_transient(error: BaseException) -> bool | None:
    """Whether a request that failed with an error may succeed if it is repeated; None if nobody knows."""
    for one in _causes(error):  # what the server said is surer than the exception that a library made of it
        status = _status(one)
        if status is not None:
            return status in _TRANSIENT_STATUS or _code(one) in _TRANSIENT_CODES
    if isinstance(error, _PERMANENT) or (isinstance(error, OSError) and error.errno in _PERMANENT_NUMBERS):
        return False
    if isinstance(error, OSError | TimeoutError) or _TRANSIENT_NAMES.search(type(error).__name__):
        return True
    return None


def reason(error: BaseException) -> str:
    """An error in words."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return " ".join(str(error).split()) or type(error).__name__


def _causes(error: BaseException) -> Iterator[BaseException]:
    one: BaseException | None = error
    while one is not None:
        yield one
        one = one.__cause__


def _status(error: BaseException) -> int | None:
    """The HTTP status that an error of botocore, aiohttp, gcsfs or Azure carries."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return status if isinstance(status, int) else None
    for name in ("status", "status_code", "code"):
        status = getattr(error, name, None)
        if isinstance(status, int) and status >= 100:
            return status
    return None


def _code(error: BaseException) -> str:
    response = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""
