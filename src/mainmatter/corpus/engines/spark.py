"""Shards as tasks of one Spark job.

Where it runs is Spark's to say, as for any program: spark-submit, the caller's own session, PYSPARK_SUBMIT_ARGS,
spark-defaults.conf or MASTER; without any of these, processes on this machine. A task whose machine or process dies is
done again elsewhere (spark.task.maxFailures times); one that raises is not.

Results come to the driver while the job runs through an accumulator: Spark adds what a task of an action put into it
exactly once, when the task is done. (`collect` gives them at the end, `toLocalIterator` runs one task after another.)
"""

from __future__ import annotations

import os
import sys
import threading
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from mainmatter.errors import InputError, MainmatterError, MissingExtra
from mainmatter.isolation.parallel import default_workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark import SparkContext

Result = TypeVar("Result")

MOST_FAILURES = 4  # of a task on this machine, as Spark has it on a cluster (spark.task.maxFailures)
# At the end of a stage, Spark does a task once more elsewhere that takes far longer than others: a machine may be ill.
SPECULATION = {"spark.speculation": "true", "spark.speculation.minTaskRuntime": "30s"}
PAUSE = 0.1  # seconds between two looks at what has come in


def run_all(
    work: Callable[..., Result],
    numbers: Sequence[int],
    workers: int | None = None,
    on_note: Callable[[Any], object] | None = None,
) -> Iterator[Result]:
    """Call a function for each number, a task for each call; see `mainmatter.corpus.engines.Engine`.

    Args:
        work: can be pickled; what it needs is installed on all machines of the cluster.
        numbers: what to call it with.
        workers: how many at a time on this machine; on a cluster Spark's own options say how many.
        on_note: never called: Spark brings nothing of a task before it is done.

    Raises:
        MissingExtra: PySpark is not installed.
        InputError: Spark cannot be started or reached.
        MainmatterError: a task's machine or process died again and again.
        Exception: whatever the work raises; all tasks are ended then, as they are if the iterator is closed.
    """
    if not numbers:
        return
    with _context(workers) as context:
        yield from _as_completed(context, work if on_note is None else partial(work, tell=None), numbers)


@contextmanager
def _context(workers: int | None) -> Iterator[SparkContext]:
    """Spark for the time of a run; a context that was there before stays."""
    try:
        from pyspark import SparkConf, SparkContext  # an extra
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingExtra("pyspark", "spark") from error
    there = SparkContext._active_spark_context
    if there is not None:
        yield there
        return
    if "SPARK_REMOTE" in os.environ:
        raise InputError(
            "SPARK_REMOTE is set, but mainmatter needs its own driver, which Spark Connect does not provide; "
            "unset it, and name the cluster by MASTER or start this with spark-submit"
        )
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # The last place where Spark looks for it.
    os.environ.setdefault("MASTER", f"local[{workers or default_workers()},{MOST_FAILURES}]")
    builder = SparkSession.builder.appName("mainmatter corpus").config("spark.ui.showConsoleProgress", "false")
    try:
        SparkContext._ensure_initialized()  # what spark-submit and spark-defaults.conf say is known from here on
        given = SparkConf()
        for name, value in SPECULATION.items():
            if not given.contains(name):
                builder = builder.config(name, value)
        session = builder.getOrCreate()
    except Exception as error:
        raise InputError(f"cannot start Spark ({_brief(error)}); is Java installed, and MASTER a cluster?") from error
    context = session.sparkContext
    context.setLogLevel("ERROR")
    try:
        yield context
    finally:
        session.stop()


def _as_completed(context: SparkContext, work: Callable[[int], Result], numbers: Sequence[int]) -> Iterator[Result]:
    done: Any = context.accumulator([], cast("Any", _Gathered()))
    errors: list[Exception] = []
    group = f"mainmatter-{uuid.uuid4().hex}"

    def run() -> None:
        try:
            context.setJobGroup(group, "mainmatter corpus", interruptOnCancel=True)
            context.parallelize(numbers, len(numbers)).foreach(lambda number: done.add([_outcome(work, number)]))
        except Exception as error:
            errors.append(error)

    job = threading.Thread(target=run, name=group, daemon=True)
    job.start()
    taken = 0
    try:
        while taken < len(numbers):
            job.join(PAUSE)
            ended = not job.is_alive()
            for outcome in done.value[taken:]:
                taken += 1
                if isinstance(outcome, _RaisedInTask):
                    raise outcome.error
                yield outcome
            if ended and taken < len(numbers):
                raise _lost(errors, taken, len(numbers))
    finally:
        if job.is_alive():
            context.cancelJobGroup(group)
            job.join()


class _Gathered:
    """How Spark adds up a list of results: a duck of its AccumulatorParam."""

    def zero(self, value: list[Any]) -> list[Any]:  # noqa: ARG002 - Spark gives it
        return []

    def addInPlace(self, gathered: list[Any], new: list[Any]) -> list[Any]:  # noqa: N802 - Spark's name
        gathered += new
        return gathered


@dataclass(frozen=True, slots=True)
class _RaisedInTask:
    """Stands in for the result of a call that raised: Spark would try it again."""

    error: Exception


def _outcome(work: Callable[[int], Result], number: int) -> Result | _RaisedInTask:
    try:
        return work(number)
    except Exception as error:
        return _RaisedInTask(error)


def _lost(errors: list[Exception], done: int, all_of_them: int) -> MainmatterError:
    why = _brief(errors[0]) if errors else "the job ended early"
    return MainmatterError(
        f"Spark gave up after {done} of {all_of_them} shards: {why}; give the workers more memory or use smaller "
        "shards, then run the command again"
    )


def _brief(error: Exception) -> str:
    """The first lines of an error, without the stack of the Java side."""
    text = " ".join(line for line in str(error).splitlines() if not line.lstrip().startswith("at "))
    return " ".join(text.split())[:400]
