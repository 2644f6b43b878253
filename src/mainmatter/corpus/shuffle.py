"""A shuffle: records that the tasks of one stage write for those of the next, through files in the run's folder.

A task sorts its records by the part of the pages that they are for, and writes them to one file, or several pieces.
Each begins with an index of the parts. The task of a part reads its slice of every file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.corpus import storage
from mainmatter.corpus.folder import RUN, Folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import DTypeLike, NDArray

    Records = NDArray[Any]

SHUFFLE = f"{RUN}/shuffle"


@dataclass(frozen=True, slots=True)
class Shuffle:
    """The files of records in a run's folder.

    Attributes:
        folder: the run's.
        parts: how many parts the pages have.
    """

    folder: Folder
    parts: int

    def send(self, stage: str, number: int, to: NDArray[np.int64], records: Records, piece: int = 0) -> None:
        """Write records for other parts.

        Args:
            stage: the stage that writes.
            number: the task that writes.
            to: the part that each record is for.
            records: keep their order among those for the same part.
            piece: which of several files of this task.
        """
        order = np.argsort(to.astype(np.uint16) if self.parts < 1 << 16 else to, kind="stable")
        self._write(stage, number, piece, np.bincount(to, minlength=self.parts), records[order])

    def send_sorted(self, stage: str, number: int, to: NDArray[np.int64], records: Records) -> None:
        """The same for records that are sorted by the part that they are for."""
        self._write(stage, number, 0, np.bincount(to, minlength=self.parts), records)

    def send_slices(self, stage: str, number: int, slices: Sequence[bytes]) -> None:
        """The same for one piece of data for each part."""
        sizes = np.array([len(one) for one in slices])
        self._write(stage, number, 0, sizes, np.frombuffer(b"".join(slices), np.uint8))

    def received(self, stage: str, part: int, dtype: DTypeLike = np.uint8) -> Iterator[Records]:
        """What a stage wrote for a part: a piece after the other, in the order of those who wrote."""
        for name in self._names(stage):
            with storage.open_input(self.folder.path(f"{SHUFFLE}/{name}")) as file:
                file.seek(8 * part)
                start, end = np.frombuffer(file.read(16), "<i8").tolist()
                file.seek(start)
                yield np.frombuffer(file.read(end - start), dtype)

    def keep(self, stage: str, number: int, records: Records, piece: int = 0) -> None:
        """Write records that nobody else needs, or everybody."""
        self.folder.write(f"{SHUFFLE}/{_name(stage, number, piece)}", records.tobytes())

    def kept(self, stage: str, dtype: DTypeLike, number: int | None = None) -> Iterator[Records]:
        """What a stage kept: all of it, or that of one task; a piece after the other."""
        for name in self._names(stage, number):
            yield np.frombuffer(self.folder.read(f"{SHUFFLE}/{name}"), dtype)

    def forget(self, stage: str) -> None:
        """Remove what a stage wrote."""
        for name in self._names(stage):
            storage.remove(self.folder.path(f"{SHUFFLE}/{name}"))

    def _names(self, stage: str, number: int | None = None) -> list[str]:
        begin = f"{stage}." if number is None else f"{stage}.{number:05}."
        return [name for name in self.folder.names(SHUFFLE) if name.startswith(begin)]

    def _write(self, stage: str, number: int, piece: int, counts: NDArray[np.int64], records: Records) -> None:
        size = records.itemsize * int(np.prod(records.shape[1:]))
        starts = 8 * (self.parts + 1) + np.cumsum([0, *counts]) * size
        data = b"".join((starts.astype("<i8").tobytes(), records.tobytes()))
        self.folder.write(f"{SHUFFLE}/{_name(stage, number, piece)}", data)


def _name(stage: str, number: int, piece: int) -> str:
    return f"{stage}.{number:05}.{piece:04}.bin"
