"""The local engine: some numbers to be worked on, by processes of this machine.

A process that dies (the kernel's memory killer, somebody's kill -9) is replaced, and its number given out again.
"""

from __future__ import annotations

import json
import socket
import tempfile
from collections import Counter, deque
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from mainmatter.errors import InputError
from mainmatter.isolation.child import Child, ChildExited, as_service
from mainmatter.isolation.parallel import default_workers
from mainmatter.isolation.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

Result = TypeVar("Result")

MOST_TRIES = 5  # of a number whose process died each time
PAUSE = 0.2  # seconds between two looks at what was told
_LARGEST_NOTE = 1 << 20  # bytes


def run_all(
    work: Callable[..., Result],
    numbers: Sequence[int],
    workers: int | None = None,
    on_note: Callable[[Any], object] | None = None,
) -> Iterator[Result]:
    """Do some work for each number, in processes of this machine.

    A slow number is not given out again near the end, as clusters do it: the same machine would not be quicker.

    Args:
        work: must be importable, or a `functools.partial` of what is; may be called again for a number whose process
            died in the middle of it.
        numbers: what to call it with.
        workers: how many processes; by default one a core.
        on_note: called with what the work tells; see `mainmatter.corpus.engines`.

    Yields:
        What the work returns, in the order in which it is done.

    Raises:
        InputError: a number's process died each time it was tried.
        Exception: whatever the work raises; all processes are ended then, as they are if the iterator is closed.
    """
    waiting = deque(numbers)
    tries: Counter[int] = Counter()
    busy: dict[Future[Result], int] = {}
    most = max(1, workers or default_workers())
    with ExitStack() as held:
        notes = held.enter_context(_NotesSocket.opened()) if on_note else None
        service = work if notes is None else partial(_work_and_tell, work, notes.address)
        pool = Pool(lambda: Child(as_service, service), most)
        held.callback(pool.close)
        while waiting or busy:
            while waiting and len(busy) < most:
                number = waiting.popleft()
                tries[number] += 1
                busy[pool.submit(number)] = number
            done = wait(busy, timeout=PAUSE if on_note else None, return_when=FIRST_COMPLETED).done
            if notes is not None and on_note is not None:
                for note in notes.take():
                    on_note(note)
            for call in done:
                number = busy.pop(call)
                try:
                    result = call.result()
                except ChildExited as error:
                    if tries[number] >= MOST_TRIES:
                        how = f"signal {-error.code}" if error.code < 0 else f"exit code {error.code}"
                        died = f"the worker of shard {number} died {MOST_TRIES} times ({how})"
                        raise InputError(f"{died}; is there enough memory?") from None
                    waiting.appendleft(number)
                else:
                    yield result


def _work_and_tell(work: Callable[..., Result], address: str, number: int) -> Result:
    return work(number, tell=partial(_tell, address))


def _tell(address: str, note: object) -> None:
    """Send a note to the process that started this one; it may be lost."""
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        sender.sendto(json.dumps(note).encode(), address)


class _NotesSocket:
    """Where notes of other processes of this machine arrive."""

    def __init__(self, address: str, receiver: socket.socket) -> None:
        self.address, self._receiver = address, receiver

    @classmethod
    @contextmanager
    def opened(cls) -> Iterator[Self]:
        with (
            tempfile.TemporaryDirectory(prefix="mainmatter-") as folder,
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver,
        ):
            address = str(Path(folder) / "notes")
            with suppress(OSError):  # the path may be too long; then nobody hears of anything
                receiver.bind(address)
            receiver.setblocking(False)
            yield cls(address, receiver)

    def take(self) -> Iterator[Any]:
        """What came in since the last time."""
        with suppress(OSError):
            while True:
                yield json.loads(self._receiver.recv(_LARGEST_NOTE))
