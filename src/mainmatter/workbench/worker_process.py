"""The life of a worker: a process that does one thing at a time for the server; workers.py watches over it.

It carries its own fuses, which blow even inside of C: the kernel gives no more memory than it had after its imports
and so much more, and a timer ends it after so much processor time. See corpus/child.py, which does the same for crawls.
"""

from __future__ import annotations

import errno
import gc
import os
import signal
import traceback
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from mainmatter.clean import clean
from mainmatter.errors import MainmatterError
from mainmatter.isolation.processes import limit_memory, memory_given

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

OUT_OF_MEMORY = 77  # exit code
# What is wrong with the disk, and not with us.
CANNOT_WRITE = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO))
_SPARE_SECONDS = 1.0  # the server's clock goes first
_MOST_LEFT = 0.6  # share of its memory that earlier work may have left when more is begun
_PROBE = b"<title>A page</title><h1>A page</h1><p>Some words that warm the worker up, and a few more of them.</p>"


class CannotWrite(MainmatterError):
    """The server's disk is full, or may not be written."""

    def __init__(self, why: str) -> None:
        super().__init__(why)

    def __str__(self) -> str:
        return f"the server cannot write to its disk: {self.args[0]}"


class Order(NamedTuple):
    """What a worker is to do: a function, as "module:function", its arguments, and how long it may take."""

    target: str
    arguments: dict[str, Any]
    seconds: float


class Reply(NamedTuple):
    """What a worker says.

    Attributes:
        kind: "ready", "result", "failed" (one of our errors), "bug" (any other), or "died" (said for it by the server).
        content: the result, the error, or for "bug" the traceback.
        is_last: the worker ends after this: earlier work has left too much in its memory.
    """

    kind: str
    content: Any
    is_last: bool = False


def serve(connection: Connection[Any, Any]) -> None:
    """Do what is ordered, until nobody is there any more."""
    try:
        memory, modules = connection.recv()
        _warm(modules)
        base = memory_given()
        limit_memory(base + memory)
        connection.send(Reply("ready", None))
        is_last = False
        while not is_last:
            order: Order = connection.recv()
            signal.setitimer(signal.ITIMER_PROF, order.seconds + _SPARE_SECONDS)
            reply = _do(order)
            signal.setitimer(signal.ITIMER_PROF, 0)
            is_last = memory_given() > base + int(_MOST_LEFT * memory)
            _send(connection, reply._replace(is_last=is_last))
            del order, reply
    except (EOFError, ConnectionError):
        return
    except MemoryError:
        os._exit(OUT_OF_MEMORY)


def _warm(modules: tuple[str, ...]) -> None:
    """Load what most orders need."""
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # the other pools reserve a gigabyte of addresses at once
    for module in modules:
        import_module(module)
    extraction = clean(_PROBE)
    for format_ in ("text", "markdown", "html", "json"):
        extraction.render(format_)
    gc.collect()
    gc.freeze()


def _do(order: Order) -> Reply:
    try:
        module, _, name = order.target.partition(":")
        return Reply("result", getattr(import_module(module), name)(**order.arguments))
    except MemoryError:
        raise
    except MainmatterError as error:
        return Reply("failed", error)
    except OSError as error:
        if error.errno not in CANNOT_WRITE:
            return Reply("bug", traceback.format_exc())
        return Reply("failed", CannotWrite(os.strerror(error.errno)))
    except Exception:
        return Reply("bug", traceback.format_exc())


def _send(connection: Connection[Any, Any], reply: Reply) -> None:
    try:
        connection.send(reply)
    except (ConnectionError, MemoryError):
        raise
    except Exception:  # a result that cannot travel
        connection.send(Reply("bug", traceback.format_exc(), reply.is_last))
