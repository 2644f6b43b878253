"""Engines by name: where the shards of a run are worked on. Each is a file with one function, `run_all`.

    run_all(work, numbers, workers) -> the results of work(number), one for each number, in the order that they are done

With `on_note`, it calls work(number, tell=...), and what the work tells on the way comes to `on_note` if the engine can
bring it: the local one and Ray can; with Spark, `tell` is None.

An engine knows nothing about corpora. It may call `work` twice for one number (a machine died), even at the same time;
`work` must bear that. What `work` raises ends the run: it is raised to the caller, and what is under way is stopped.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from mainmatter.errors import MissingExtra, UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Result = TypeVar("Result")

DEFAULT_ENGINE = "local"

ENGINES: dict[str, str] = {
    "local": "mainmatter.corpus.engines.local",
    "ray": "mainmatter.corpus.engines.ray",
    "spark": "mainmatter.corpus.engines.spark",
}
_PACKAGES = {"ray": "ray", "spark": "pyspark"}


class Engine(Protocol):
    """Calls a function for each of some numbers, in other processes, here or on other machines."""

    def __call__(
        self,
        work: Callable[..., Result],
        numbers: Sequence[int],
        workers: int | None = None,
        on_note: Callable[[Any], object] | None = None,
    ) -> Iterator[Result]:
        """The results, in the order that they are done.

        Args:
            work: can be pickled, and called again for a number that was begun or done before.
            numbers: what to call it with.
            workers: how many at a time; None leaves it to the engine.
            on_note: called with what work tells, which is as JSON has it; some of it may be lost.

        Raises:
            MissingExtra: the engine's library is not installed.
            InputError: the engine cannot be started or reached.
            MainmatterError: a number's machine or process died again and again.
            Exception: whatever the work raises; what is under way is ended then, as it is if the iterator is closed.
        """


def get_engine(name: str) -> Engine:
    """The engine of that name; its library is loaded when it runs.

    Raises:
        UnknownName: there is no such engine.
    """
    if name not in ENGINES:
        raise UnknownName("engine", name, ENGINES)
    return cast("Engine", import_module(ENGINES[name]).run_all)


def check_installed(name: str) -> None:
    """Make sure that the library of an engine can be loaded.

    Raises:
        MissingExtra: it is not installed.
    """
    package = _PACKAGES.get(name)
    try:
        if package is not None:
            import_module(package)
    except ImportError as error:
        raise MissingExtra(package or name, name) from error
