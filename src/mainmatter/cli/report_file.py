"""The file that a report goes to: looked at before any work, written after it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile

from mainmatter.corpus import storage
from mainmatter.errors import InputError


def check_place(path: str) -> None:
    """Complain before hours of work about what is missing, and about a place where nothing can be written.

    Raises:
        InputError: it is a folder, or lies where no file can be.
        MissingExtra: it is remote, which needs fsspec, or Jinja2 is not installed.
    """
    from mainmatter.lab.reports.html import environment  # all of lab comes with it, which few runs need

    environment()
    if path.startswith(("http://", "https://")):
        raise InputError(f"{path}: no report can be written there; name a file, or storage such as s3://")
    if storage.is_remote(path):
        storage.exists(path)  # an unknown scheme, or a missing package, is told here
        return
    place = Path(storage.without_scheme(path))
    if place.is_dir():
        raise InputError(f"{path}: is a folder; name a file for the report, such as {place / 'report.html'}")
    above = next(parent for parent in (place.absolute(), *place.absolute().parents) if parent.exists())
    if above == place.absolute():
        above = above.parent  # a report that is there is replaced by a file beside it
    if not above.is_dir():
        raise InputError(f"{path}: no report can be written there; {above} is not a folder")
    try:
        with TemporaryFile(dir=above):  # what a folder's permissions say is not all: there are /proc, and full disks
            pass
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path}: no report can be written there; {above} cannot be written to: {reason}") from error


def write_report(path: str, content: str) -> None:
    """Write a report, whole or not at all, with the folders that it needs; the path may be remote.

    Raises:
        OSError: it cannot be written.
    """
    storage.write_whole(path, content.encode())
