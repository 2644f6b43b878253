"""Ctrl-C while the command line is still being loaded: a line and the exit code that a shell expects, no traceback.

Loading takes some tenths of a second, most of it before any function of ours is called, so importing this module, which
`mainmatter` does first, takes care of it. If mainmatter is imported as a library, Ctrl-C works as usual.
"""

from __future__ import annotations

import os
import signal
import sys
from itertools import pairwise

INTERRUPTED = 130  # what a shell expects of a command that was ended by Ctrl-C
MESSAGE = "\nAborted!"  # as click has it


def is_command() -> bool:
    """Whether this process was started as `mainmatter` or `python -m mainmatter`; none of its children were."""
    name, given = sys.argv[0] if sys.argv else "", sys.orig_argv
    if name == "-m":  # so it is until the module is found, for which its package is imported
        return ("-m", "mainmatter") in pairwise(given)
    return os.path.basename(name) == "mainmatter" and name in given  # noqa: PTH119 - pathlib is not loaded yet


def raise_again() -> None:
    """From here on Ctrl-C is a `KeyboardInterrupt` again."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> None:
    # Not by an exception: libraries that are being imported catch some of them. There is nothing to clean up yet.
    os.write(2, f"{MESSAGE}\n".encode())
    os._exit(INTERRUPTED)


if is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # it may be ignored
    signal.signal(signal.SIGINT, _end)
