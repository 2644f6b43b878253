"""A child process that is kept for the next call, and started again when a call has ended it."""

from __future__ import annotations

import atexit
import os
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from mainmatter.isolation.child import Child, ChildExited

if TYPE_CHECKING:
    from collections.abc import Callable

_TRIES = 2  # of a call whose process died: memory may have been short for other reasons
_MOST_CHILDREN = 4  # of a process
_PATIENCE = 300.0  # seconds for a child to start


class KeptChild:
    """A child that is started when it is first called. Threads wait for each other.

    Args:
        make: as for `Child`.
        arguments: for `make`.
        memory: how many bytes a call may take.
    """

    def __init__(self, make: Callable[..., Callable[..., Any]], *arguments: Any, memory: int) -> None:
        self._make, self._arguments, self._memory = make, arguments, memory
        self._child: Child | None = None
        self._pid = os.getpid()
        self._lock = threading.Lock()

    def call(self, *arguments: Any, seconds: float, processor_seconds: float) -> Any:  # whatever the service takes
        """Have the service called, and wait for its answer.

        Args:
            arguments: for the service.
            seconds: how long it may take by the clock.
            processor_seconds: how much processor time it may take.

        Raises:
            ChildExited: the child died, of too much memory twice; or it took too long.
            Exception: what `make` or the service raised.
        """
        with self._lock:
            for tries in range(1, _TRIES + 1):
                child = self._started()
                try:
                    answer = child.call(*arguments, seconds=seconds, processor_seconds=processor_seconds)
                except ChildExited as error:
                    self._child = None
                    if error.reason == "time" or tries == _TRIES:
                        raise
                else:
                    if child.is_last:
                        self._end()
                    return answer
            raise AssertionError

    def _started(self) -> Child:
        if self._child is None:
            child = Child(self._make, *self._arguments, memory=self._memory)
            child.wait_ready(_PATIENCE)
            self._child = child
        return self._child

    def close(self) -> None:
        """End the child, when it has nothing to do."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._child is not None and self._pid == os.getpid():  # else this is a fork, and the child is its parent's
            self._child.end()
            self._child = None


_children: OrderedDict[str, KeptChild] = OrderedDict()
_lock = threading.Lock()


def kept_child(
    key: str,
    make: Callable[..., Callable[..., Any]],
    *arguments: Any,  # whatever the function takes
    memory: int,
) -> KeptChild:
    """The child of this process for a key, which says all that matters; the one asked for longest ago makes room."""
    key = f"{os.getpid()} {memory} {key}"
    with _lock:
        if key not in _children:
            _children[key] = KeptChild(make, *arguments, memory=memory)
            atexit.register(_children[key].close)
            if len(_children) > _MOST_CHILDREN:
                _children.popitem(last=False)[1].close()
        _children.move_to_end(key)
        return _children[key]


def why_ended(error: ChildExited, seconds: float, processor_seconds: float, memory: int) -> str:
    """How a call has ended its child, in words."""
    if error.reason == "time":
        times = f"{seconds / processor_seconds:g} times that"
        return f"took more than {processor_seconds:g} s of processor time, or {times} in all"
    if error.reason == "memory":
        return f"took more than {memory / 1e6:g} MB of memory"
    return f"crashed its worker process twice ({error.how})"
