"""A process of ours, and the one that it starts in its turn: see corpus/test_processes.py."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING, Any

from mainmatter.isolation.processes import start

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

loaded: list[str] = []


def parent(connection: Connection[Any, Any]) -> None:
    """For each word that comes, start a child, let it act, and tell what it said and how it ended."""
    while True:
        try:
            word, threads = connection.recv()
        except EOFError:
            return
        stop = threading.Event()
        if threads:
            threading.Thread(target=stop.wait).start()
        loaded.clear()
        child = start("families:child", prepare=lambda: loaded.append("by its parent"))
        child.connection.send(word)
        try:
            said = child.connection.recv()
        except EOFError:
            said = None
        connection.send(said)
        connection.send(child.bury() if word != "stay" else None)
        stop.set()


def child(connection: Connection[Any, Any]) -> None:
    """Do what the word says."""
    word = connection.recv()
    if word == "exit":
        raise SystemExit(3)
    if word == "raise":
        raise ZeroDivisionError
    if word == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    connection.send((os.getpid(), loaded))
    if word == "stay":
        connection.recv()
