"""The output folder of a run: where everything lies, and who may write there.

OUT/part-NNNNN.parquet                  the corpus, a part for each shard (or .jsonl)
OUT/__about/README.md                   the dataset card
OUT/__about/summary.json                what came of the run
OUT/__about/rejects/part-NNNNN.jsonl    what did not get into it, and why; only where there is something
OUT/__run/                              the plan, the markers of done shards, what stages leave for the next
OUT/__run/plan.json                     the job, and where the shards are listed: all that a worker needs of the plan
OUT/__run/inputs.json                   the inputs and their dates, by which a run that goes on knows them again
OUT/__run/shards-NNNNN.json             the slices of some shards
OUT/__new/                              the same again: a run that replaces this one, until it has its first shard
OUT/__index/                            the search index, if `mainmatter index OUT` made one; it goes with its corpus
OUT/.huggingface.yaml                   which files are data, and the types of their columns, for `datasets`

Whoever loads the folder must see the parts alone. PyArrow, and so pandas, leaves out names that begin with "_" or ".",
Spark too; `datasets` leaves out folders that begin with "__" and names that begin with ".". Earlier there were
OUT/_run, OUT/rejects and OUT/summary.json; such folders are still read, and a run that began there goes on there.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mainmatter.corpus import storage
from mainmatter.corpus.summary import Report
from mainmatter.corpus.typed_json import build, parse
from mainmatter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RUN = "__run"
PLAN = f"{RUN}/plan.json"  # what a run writes first, as the summary last; so it tells its folder from others
INPUTS = f"{RUN}/inputs.json"
ABOUT = "__about"
CARD = f"{ABOUT}/README.md"
REJECTS = f"{ABOUT}/rejects"
SUMMARY = f"{ABOUT}/summary.json"
HUB_FILE = ".huggingface.yaml"
INDEX = "__index"
NEW = "__new"
_OLD = {RUN: "_run", REJECTS: "rejects", SUMMARY: "summary.json"}
PROGRESS = f"{RUN}/now"  # the folder in which shards that are under way tell how far they are


class Tell(Protocol):
    """Brings notes to whoever watches a run; some may be lost."""

    def __call__(self, note: dict[str, Any], /) -> object:
        """Send a note."""


@dataclass(frozen=True, slots=True)
class _Told:
    """What a shard that is under way tells: what came of it so far, and what share of it is done."""

    report: Report
    share: float


@dataclass(frozen=True)
class Folder:
    """The output folder of a run; names in it have `/` between their parts.

    Attributes:
        out: its path, any that fsspec knows.
    """

    out: str

    @property
    def is_local(self) -> bool:
        """Whether it lies in a file system of this machine."""
        return not storage.is_remote(self.out)

    @cached_property
    def is_old(self) -> bool:
        """Whether its files have the names of earlier versions."""
        if any(storage.exists(storage.join(self.out, name)) for name in (RUN, ABOUT)):
            return False
        return any(storage.exists(storage.join(self.out, name)) for name in _OLD.values())

    def name_here(self, name: str) -> str:
        """What something is called in this folder."""
        return old_name(name) if self.is_old else name

    def path(self, name: str) -> str:
        """The path of something in it."""
        return storage.join(self.out, *self.name_here(name).split("/"))

    def read(self, name: str) -> bytes:
        """What a file holds.

        Raises:
            FileNotFoundError: there is no such file.
        """
        try:
            return storage.read_whole(self.path(name))
        except InputError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                raise FileNotFoundError(errno.ENOENT, "No such file or directory", self.path(name)) from error
            raise

    def write(self, name: str, data: bytes) -> None:
        """Write a file whole or not at all.

        Raises:
            OSError: it cannot be written.
        """
        storage.write_whole(self.path(name), data)

    def exists(self, name: str) -> bool:
        """Whether there is such a file."""
        return storage.exists(self.path(name))

    def names(self, name: str = "") -> list[str]:
        """The names of the files in it or in a folder below it, sorted."""
        return storage.list_names(self.path(name) if name else self.out)

    def remove_all(self, name: str) -> None:
        """Remove the files in a folder below it; or what a run writes in itself, and nothing else, if it is ""."""
        written = ("part-", HUB_FILE.lstrip("."), f"{_OLD[SUMMARY]}.")
        # A draft begins with a dot.
        self.remove(name, [file for file in self.names(name) if name or file.lstrip(".").startswith(written)])
        if name and self.is_local:
            with suppress(OSError):
                Path(self.path(name)).rmdir()

    def remove(self, name: str, files: Sequence[str]) -> None:
        """Remove some files of a folder below it, or of itself, if the name is "".

        Raises:
            OSError: they cannot be removed.
        """
        storage.remove_all(self.path(name) if name else self.out, files)

    def markers(self, stage: str, numbers: Sequence[int]) -> Iterator[Report | None]:
        """The reports of shards, in the order of their numbers; many are read at a time."""
        return storage.at_once(partial(self.marker, stage), numbers, self.out)

    def marker(self, stage: str, number: int) -> Report | None:
        """The report of a done shard; None if it is not done.

        Raises:
            InputError: it is damaged.
        """
        name = _marker(stage, number)
        try:
            return parse(Report, self.read(name))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise InputError(f"{self.path(name)}: is damaged: {error}; delete it, and it will be made again") from error

    def mark(self, report: Report) -> None:
        """Mark a shard as done."""
        self.write(_marker(report.stage, report.number), json.dumps(report.to_json()).encode())

    def done(self, stage: str) -> set[int]:
        """The numbers of the shards that are done."""
        start, end = f"{stage}-", ".json"
        names = (name for name in self.names(RUN) if name.startswith(start) and name.endswith(end))
        return {int(number) for name in names if (number := name[len(start) : -len(end)]).isdecimal()}

    def note_progress(self, report: Report, share: float, tell: Tell | None = None) -> None:
        """Tell how far a shard is, and what share of it is done; for those who watch, so it may fail or be lost.

        Without anybody to tell, it is noted in the folder, if that is local.
        """
        content = {"report": report.to_json(), "share": share}
        if tell is not None:
            tell(content)
        elif self.is_local:
            with suppress(OSError):
                self.write(_progress_name(report.number), json.dumps(content).encode())

    def forget_progress(self, number: int) -> None:
        """Remove what a shard told."""
        if self.is_local:
            with suppress(OSError):
                storage.remove(self.path(_progress_name(number)))

    def progress(self) -> Iterator[tuple[Report, float]]:
        """What the shards that are under way told, and what share of each is done."""
        for name in self.names(PROGRESS) if self.is_local else ():
            with suppress(OSError, InputError, ValueError):  # it may be done meanwhile
                yield progress_of(json.loads(self.read(f"{PROGRESS}/{name}")))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for ourselves; the kernel lets go of it when this process ends, however it ends.

        Other storage than that of this machine knows no such thing, and is not locked. Folders that are made for the
        lock go again, if nothing else was written there.

        Raises:
            InputError: another run is under way there.
        """
        if not self.is_local:
            yield
            return
        path = Path(self.path(f"{RUN}/lock"))
        new = [folder for folder in path.parents if not folder.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise InputError(
                    f"{self.out}: another run is writing to this folder; wait for it to end, or stop it"
                ) from error
            try:
                yield
            finally:
                if list(path.parent.glob("*")) == [path]:
                    path.unlink()
                    with suppress(OSError):  # there is something else
                        for folder in dict.fromkeys((path.parent, *new)):
                            folder.rmdir()
        finally:
            os.close(descriptor)


def progress_of(note: dict[str, Any]) -> tuple[Report, float]:
    """What a shard told, and what share of it is done."""
    told = build(_Told, note)
    return told.report, told.share


def part_name(number: int, format_: str) -> str:
    """The name of a part of the corpus."""
    return f"part-{number:05}.{format_}"


def rejects_name(number: int, folder: str = REJECTS) -> str:
    """The name of the file of a shard's rejects, in the folder of these."""
    return f"{folder}/part-{number:05}.jsonl"


def old_name(name: str) -> str:
    """What earlier versions called something in the folder."""
    for new, old in _OLD.items():
        if name == new or name.startswith(f"{new}/"):
            return old + name.removeprefix(new)
    return name


def _marker(stage: str, number: int) -> str:
    return f"{RUN}/{stage}-{number:05}.json"


def _progress_name(number: int) -> str:
    return f"{PROGRESS}/{number:05}.json"
