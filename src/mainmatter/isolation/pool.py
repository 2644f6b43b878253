"""Several children of one kind, with a queue of calls, and a thread for each child that communicates with it.

`submit` gives a `concurrent.futures.Future`, which `asyncio.wrap_future` turns into one of an event loop. If a child
dies, its current call fails, and the child is replaced.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from mainmatter.isolation.child import ChildExited
from mainmatter.isolation.memory import resident_mb

if TYPE_CHECKING:
    from collections.abc import Callable

    from mainmatter.isolation.child import Child

_log = logging.getLogger("mainmatter.isolation")

_AGAIN = 1.0  # seconds until replacing a child is tried once more


class Call(Future[Any]):
    """A call that waits for a child, or has one at work on it."""

    def __init__(self, arguments: tuple[Any, ...], seconds: float | None, processor_seconds: float) -> None:
        super().__init__()
        self.arguments, self.seconds, self.processor_seconds = arguments, seconds, processor_seconds
        self.child: Child | None = None  # that is at work on it


@dataclass(eq=False)
class _Slot:
    """The place of a child, and what its thread is to do next; None ends the thread."""

    child: Child | None = None
    calls: SimpleQueue[Call | Future[None] | None] = field(default_factory=SimpleQueue)
    thread: threading.Thread | None = None


class Pool:
    """Children that answer calls; it may be used from several threads.

    Args:
        start: starts a child; called in the threads.
        start_seconds: how long one may take until it is ready; None for no limit.
        count: how many children there may be. They are started when there is work for them; after `start_all`, those
            that end are replaced at once.
    """

    def __init__(self, start: Callable[[], Child], count: int, start_seconds: float | None = None) -> None:
        self.count = count
        self.exits: Counter[str] = Counter()  # children that ended before the pool did, by reason
        self._start, self._start_seconds = start, start_seconds
        self._lock = threading.Lock()  # for the queue, and for who works on what
        self._queue: deque[Call] = deque()
        self._slots = [_Slot() for _ in range(count)]
        self._idle = self._slots[::-1]
        self._is_eager = False
        self._closing = threading.Event()

    @property
    def idle(self) -> int:
        """How many children have nothing to do, or are not started."""
        return len(self._idle)

    @property
    def waiting(self) -> int:
        """How many calls wait for a child."""
        return len(self._queue)

    def pids(self) -> list[int]:
        """The process ids of the children."""
        return [child.pid for slot in self._slots if (child := slot.child) is not None]

    def resident_mb(self) -> float:
        """The memory of all children together."""
        return sum(resident_mb(pid) or 0.0 for pid in self.pids())

    def start_all(self) -> list[Future[None]]:
        """Start all children now: for each a future, which is done when it has started, or fails if it cannot."""
        self._is_eager = True
        with self._lock:
            slots, self._idle = self._idle, []
        futures: list[Future[None]] = [Future() for _ in slots]
        for slot, future in zip(slots, futures, strict=True):
            self._give(slot, future)
        return futures

    def submit(self, *arguments: Any, seconds: float | None = None, processor_seconds: float = 0) -> Call:
        """Have a child answer a call as soon as one is free. The future fails with what `Child.call` raises.

        Args:
            arguments: for the service of the children.
            seconds: how long the call may take by the clock, once it has begun.
            processor_seconds: how much processor time it may take; 0 for no limit.
        """
        call = Call(arguments, seconds, processor_seconds)
        with self._lock:
            slot = self._idle.pop() if self._idle and not self._closing.is_set() else None
            if slot is None:
                self._queue.append(call)
        if slot is not None:
            self._give(slot, call)
        return call

    def withdraw(self, call: Call) -> bool:
        """Take a call out of the queue; whether it was still there."""
        with self._lock:
            if call not in self._queue:
                return False
            self._queue.remove(call)
            return True

    def end_work_on(self, call: Call, reason: str) -> None:
        """Kill the child that is at work on a call, if one is."""
        with self._lock:  # so that no other call has that child yet
            if call.child is not None:
                call.child.kill(reason)

    def close(self, *, at_once: bool = True) -> list[Call]:
        """End all children, and wait until they are gone.

        Args:
            at_once: kill those that have nothing to do, too, instead of letting them clean up.

        Returns:
            The calls that waited for a child.
        """
        with self._lock:
            self._closing.set()
            waited = list(self._queue)
            self._queue.clear()
            for slot in self._slots:
                if slot.child is not None and (at_once or slot not in self._idle):
                    slot.child.kill("closing")
        for slot in self._slots:
            slot.calls.put(None)
        for slot in self._slots:
            if slot.thread is not None:
                slot.thread.join()
        return waited

    def _give(self, slot: _Slot, call: Call | Future[None]) -> None:
        if slot.thread is None:
            slot.thread = threading.Thread(target=self._work, args=(slot,), name="mainmatter-child", daemon=True)
            slot.thread.start()
        slot.calls.put(call)

    def _work(self, slot: _Slot) -> None:
        """The thread of a slot: call after call, without waiting until the results are read."""
        while (call := slot.calls.get()) is not None:
            if isinstance(call, Call):
                self._do(slot, call)
                more = self._next(slot)
            else:
                more = self._begin(slot, call)
            while more is not None:
                self._do(slot, more)
                more = self._next(slot)
        if slot.child is not None:
            slot.child.close()
            slot.child = None

    def _begin(self, slot: _Slot, started: Future[None]) -> Call | None:
        """Start the child of a slot. When the future is done, the slot is idle or working on a call."""
        error: Exception | None = None
        try:
            self._need_child(slot)
        except Exception as raised:
            error = raised
        more = self._next(slot)
        if error is None:
            started.set_result(None)
        else:
            started.set_exception(error)
        return more

    def _next(self, slot: _Slot) -> Call | None:
        with self._lock:
            if self._queue:
                return self._queue.popleft()
            self._idle.append(slot)
            return None

    def _do(self, slot: _Slot, call: Call) -> None:
        if not call.set_running_or_notify_cancel():
            return
        error: BaseException | None = None
        try:
            if slot.child is not None and slot.child.has_exited():  # while it was idle: that is not this call's fault
                self._drop(slot, slot.child.reap().reason)
            child = self._need_child(slot)
            with self._lock:
                call.child = child
            result = child.call(*call.arguments, seconds=call.seconds, processor_seconds=call.processor_seconds)
        except BaseException as raised:
            error = raised
        with self._lock:
            call.child = None
        if error is None:
            call.set_result(result)
        else:
            call.set_exception(error)
        self._renew(slot, error)

    def _renew(self, slot: _Slot, error: BaseException | None) -> None:
        """See to it that there is a child for the next call."""
        if isinstance(error, ChildExited):
            self._drop(slot, error.reason)
        elif slot.child is not None and (slot.child.is_last or slot.child.killed_for):
            self._drop(slot, slot.child.killed_for or "recycled")
        while self._is_eager and slot.child is None and not self._closing.is_set():
            try:
                self._need_child(slot)
            except Exception:
                if self._closing.is_set():
                    return
                _log.exception("a worker cannot be started; trying again in %g s", _AGAIN)
                self._closing.wait(_AGAIN)

    def _need_child(self, slot: _Slot) -> Child:
        if slot.child is not None:
            return slot.child
        child = self._start()
        with self._lock:
            slot.child = child
            if self._closing.is_set():
                child.kill("closing")
        try:
            child.wait_ready(self._start_seconds)
        except BaseException:
            slot.child = None
            raise
        return child

    def _drop(self, slot: _Slot, reason: str) -> None:
        child, slot.child = slot.child, None
        self.exits[reason] += 1
        if child is not None:
            child.end()
