"""Pages compared in a process of its own, so that one that hangs or crashes costs only itself (see corpus/guard.py)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from mainmatter.errors import MainmatterError
from mainmatter.isolation.processes import start
from mainmatter.workbench.labels.disagreement import Comparer, Disagreement, unread

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection

    from mainmatter.isolation.processes import Started
    from mainmatter.limits import Limits
    from mainmatter.workbench.labels.importing import FoundPage


class ComparerApart:
    """Compares methods on pages as `Comparer` does, in another process, and ends that when a page takes too long.

    Args:
        methods: their names.
        limits: how large a page may be.
        seconds: how long a page may take, by the clock.

    Raises:
        UnknownName: there is no such method.
    """

    def __init__(self, methods: Sequence[str], limits: Limits, seconds: float) -> None:
        self._methods, self._limits, self._seconds = tuple(methods), limits, seconds
        self._child: Started | None = self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def compare(self, found: FoundPage) -> Disagreement:
        """Let all methods decide about a page; one that cannot be compared has a `problem`."""
        if self._child is None:
            self._child = self._start()
        try:
            self._child.connection.send(found)
            if self._child.connection.poll(self._seconds):
                one: Disagreement = self._child.connection.recv()
                return replace(one, found=replace(found, problem=one.found.problem))
            problem = f"gave no result in {self._seconds:g} s"
        except (EOFError, OSError):
            problem = "ended the process that worked on it"
        self._end()
        return unread(found, problem)

    def _start(self) -> Started:
        """A new process, which has loaded the methods."""
        child = start("mainmatter.workbench.labels.apart:serve")
        try:
            child.connection.send((self._methods, self._limits))
            refusal: MainmatterError | None = child.connection.recv()
        except (EOFError, OSError) as error:
            child.kill()
            raise MainmatterError("the process that compares methods cannot be started") from error
        except BaseException:
            child.kill()
            raise
        if refusal is not None:
            child.kill()
            raise refusal
        return child

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None


def serve(connection: Connection[Any, Any]) -> None:
    """In the other process: compare the pages that come, until nobody is there any more."""
    try:
        methods, limits = connection.recv()
        try:
            comparer = Comparer(methods, limits)
        except MainmatterError as error:
            connection.send(error)
            return
        connection.send(None)
        while True:
            one = comparer.compare(connection.recv())
            connection.send(replace(one, found=replace(one.found, page=None)))  # they have it
    except (EOFError, ConnectionError):
        return
