"""Shards as tasks on a Ray cluster, or on a Ray of our own on this machine.

The cluster is that of RAY_ADDRESS ("auto" for the one that this machine is part of), or the one that the caller is
connected to. A task whose machine or process dies is done again elsewhere; one that raises is not.
"""

from __future__ import annotations

import logging
import os
import socket
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from mainmatter.errors import InputError, MainmatterError, MissingExtra
from mainmatter.isolation.parallel import default_workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Result = TypeVar("Result")

# Of a task's machine or process: machines on offer until outbid die often, and a task that kills stays rare.
MOST_DEATHS = 20
# Tasks given to a cluster at a time if nobody says: enough for it to grow, little for it to remember.
MOST_PENDING = 2000
PATIENCE = 10.0  # seconds until a cluster answers


def run_all(work: Callable[[int], Result], numbers: Sequence[int], workers: int | None = None) -> Iterator[Result]:
    """Call a function for each number, one processor for each call; see `mainmatter.corpus.engines.Engine`.

    Args:
        work: can be pickled; what it needs is installed on all machines of the cluster.
        numbers: what to call it with.
        workers: how many at a time; None for as many as the cluster has processors, or this machine.

    Raises:
        MissingExtra: Ray is not installed.
        InputError: no cluster answers at RAY_ADDRESS.
        MainmatterError: a task's machine or process died again and again.
        Exception: whatever the work raises; all tasks are ended then, as they are if the iterator is closed.
    """
    if not numbers:
        return
    try:
        import ray  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("ray", "ray") from error
    with _connected(ray, workers):
        yield from _as_completed(ray, work, numbers, workers or MOST_PENDING)


@contextmanager
def _connected(ray: Any, workers: int | None) -> Iterator[None]:  # noqa: ANN401 - a module
    """Ray for the time of a run; a connection that was there before stays."""
    if ray.is_initialized():
        yield
        return
    address = os.environ.get("RAY_ADDRESS")
    try:
        if address:
            _check_answer(address)
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
        else:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a run on one machine calls nobody
            ray.init(
                "local",
                num_cpus=workers or default_workers(),
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
    except (OSError, RuntimeError, ValueError) as error:
        where = f"connect to the Ray cluster at {address} (RAY_ADDRESS)" if address else "start Ray on this machine"
        raise InputError(f"cannot {where}: {' '.join(str(error).split())}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _check_answer(address: str) -> None:
    """Make sure, if an address is HOST:PORT, that somebody answers there: Ray would try for minutes.

    Raises:
        OSError: nobody does.
    """
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "://" not in address:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()


def _as_completed(
    ray: Any,  # noqa: ANN401 - a module
    work: Callable[[int], Result],
    numbers: Sequence[int],
    most: int,
) -> Iterator[Result]:
    # Spread: Ray would fill one machine first, and each machine has a disk and a network of its own.
    task = ray.remote(num_cpus=1, scheduling_strategy="SPREAD", max_retries=MOST_DEATHS, retry_exceptions=False)(_call)
    waiting = iter(numbers)
    pending: dict[Any, int] = {}
    try:
        while True:
            for number in islice(waiting, most - len(pending)):
                pending[task.options(name=f"shard {number}").remote(work, number)] = number
            if not pending:
                return
            done, _ = ray.wait(list(pending), num_returns=1)
            for reference in done:
                yield _result(ray, reference, pending.pop(reference))
    finally:
        for reference in pending:
            with suppress(ray.exceptions.RayError):
                ray.cancel(reference, force=True)


def _call(work: Callable[[int], Result], number: int) -> Result:
    return work(number)


def _result(ray: Any, reference: Any, number: int) -> Any:  # noqa: ANN401 - Ray's
    """What a task returned; what it raised is raised as if it had been called here."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
    except ray.exceptions.RayError as error:
        raise MainmatterError(
            f"shard {number}: its Ray task was lost {MOST_DEATHS + 1} times ({type(error).__name__}: "
            f"{' '.join(str(error).split())[:300]}); give the workers more memory or smaller shards, and run it again"
        ) from error
