"""Writing files whole or not at all."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def write_whole(target: Path, data: bytes) -> None:
    """Write a file whole or not at all: a full disk or a killed process leaves the old file as it was."""
    with open_whole(target) as file:
        file.write(data)


@contextmanager
def open_whole(target: Path) -> Iterator[BinaryIO]:
    """The same for content that is written piece by piece: the file appears once it is complete."""
    target.parent.mkdir(parents=True, exist_ok=True)
    is_special = target.exists() and not target.is_file()  # a device, a pipe; a folder raises an error of its own
    draft = target if is_special else target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with draft.open("wb") as file:
            yield file
        if not is_special:
            draft.replace(target)
    except BaseException as error:
        if not is_special:
            draft.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(target)) from error
        raise


def put_folder(draft: Path, target: Path) -> None:
    """Put a finished folder in the place of another, which is deleted last, or comes back if that fails."""
    old = draft.with_name(f"{draft.name}.old")
    try:
        if target.exists():
            target.rename(old)
        draft.rename(target)
    except BaseException:
        if old.exists() and not target.exists():
            old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
