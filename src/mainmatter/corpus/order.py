"""The pages of a corpus in another order than the one in which they lie: the least sure first, the longest, and so on.

Of a corpus of millions of pages, nobody looks at more than the first some hundreds of an order. Parquet tells of each
group of rows the least and the greatest value: groups are read in the order of the best value that they may hold, and
of them only the column of the order and those by which pages are chosen, until no group that is left can hold one of
the first pages. Time is limited: what was found by then is in order, and the next call goes on from there.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from mainmatter.corpus.browse import (
    LISTED,
    LONGEST_LINE_LISTED,
    Place,
    lines,
    may_fit,
    open_table,
    statistics_of,
    which_fit,
)
from mainmatter.corpus.folder import part_name
from mainmatter.errors import MainmatterError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mainmatter.corpus.browse import ListingQuery, StoredCorpus

Sorting = Literal["least-sure", "surest", "shortest", "longest", "language", "page-type"]
# The column of each order, and whether its greatest value comes first.
SORTINGS: dict[Sorting, tuple[str, bool]] = {
    "least-sure": ("confidence", False),
    "surest": ("confidence", True),
    "shortest": ("words", False),
    "longest": ("words", True),
    "language": ("language", False),
    "page-type": ("page_type", False),
}
Rank = tuple[int, float | str]
_FIRST: Rank = (-1, 0.0)  # of rows of which nothing is known: they may hold anything
_LAST: Rank = (1, 0.0)  # of a page without a value; that of another is 0 and its value
_OPEN_FILES = 200


class Piece(NamedTuple):
    """Rows that were not looked at yet: a group of a part or, where these are not known, the rest of a part.

    Attributes:
        best: the rank of the best row that it may hold.
        place: where it begins.
        group: the number of the group; -1 for the rest of a part.
        rows: how many rows a group has.
    """

    best: Rank
    place: Place
    group: int = -1
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Order:
    """The first pages of a corpus in an order, as far as it was read.

    Attributes:
        stamp: that of the corpus, when it was read.
        most: how many pages it holds at most.
        ranked: the first pages, each with its rank.
        looked_at: how many rows were looked at, or need not be: they come behind those that it holds, or do not fit.
        problems: what is wrong with parts that cannot be read.
        left: what was not looked at, because time was up; nothing, if all was.
    """

    stamp: str
    most: int
    ranked: tuple[tuple[Rank, Place], ...] = ()
    looked_at: int = 0
    problems: tuple[str, ...] = ()
    left: tuple[Piece, ...] = ()

    @classmethod
    def begin(cls, corpus: StoredCorpus, most: int) -> Order:
        """An order that is to hold so many pages, and of which nothing is known yet."""
        return cls(corpus.stamp, most, left=tuple(Piece(_FIRST, Place(number, 0)) for number in corpus.parts))


def read_order(corpus: StoredCorpus, sorting: Sorting, wish: ListingQuery, order: Order) -> Order:
    """The same order, for which more was read: as much as `wish.seconds` allow, and one piece at least.

    Args:
        corpus: the corpus.
        sorting: the order. Equals are in the order in which they lie; pages without a value come last.
        wish: which pages of those that were kept; where to begin and how many is of no matter.
        order: `Order.begin`, or what an earlier call gave for the same wish.

    Raises:
        MissingExtra: Parquet needs pyarrow.
    """
    end = time.monotonic() + wish.seconds
    with ExitStack() as files:
        reading = _Reading(corpus, sorting, wish, order, files)
        left = list(order.left)
        heapify(left)
        is_first = True
        while left and (is_first or time.monotonic() < end):
            if reading.comes_behind(left[0]):
                reading.looked_at += sum(piece.rows for piece in left)
                left = []
                break
            is_first = False
            piece = heappop(left)
            for rest in reading.read(piece, end):
                heappush(left, rest)
        reading.cut()
    return replace(
        order,
        ranked=tuple(reading.ranked),
        looked_at=reading.looked_at,
        problems=tuple(reading.problems),
        left=tuple(left),
    )


class _Reading:
    """An order that is being read; the arguments are those of `read_order`."""

    def __init__(
        self, corpus: StoredCorpus, sorting: Sorting, wish: ListingQuery, order: Order, files: ExitStack
    ) -> None:
        self.ranked, self.looked_at, self.problems = list(order.ranked), order.looked_at, list(order.problems)
        self._corpus, self._most, self._files = corpus, order.most, files
        self._column, self._descends = SORTINGS[sorting]
        self._is_text = self._column in ("language", "page_type")
        self._wish = replace(wish, words=tuple(word.lower() for word in wish.words))
        self._tables: dict[int, Any] = {}
        self._worst: tuple[Rank, Place] | None = None  # of the pages that it holds, if it holds all that it may
        self.cut()

    def comes_behind(self, piece: Piece) -> bool:
        """Whether all rows of a piece come behind the pages that are held already."""
        return self._worst is not None and (piece.best, piece.place) > self._worst

    def read(self, piece: Piece, end: float) -> list[Piece]:
        """Look at a piece; gives what is to be looked at instead of it, or what of it is left."""
        number = piece.place.part
        name = part_name(number, self._corpus.parts[number])
        try:
            if not name.endswith(".parquet"):
                return list(self._read_lines(self._corpus.inside(name), piece.place, end))
            if piece.group < 0:
                return list(self._groups_of(self._table(number, name), number))
            self._read_group(self._table(number, name), piece)
        except MissingExtra:
            raise
        except (
            OSError,
            ValueError,
            TypeError,
            NotImplementedError,
            MainmatterError,
        ) as error:  # Arrow's are some of these
            self.problems.append(self._corpus.unreadable(name, error))
        return []

    def cut(self) -> None:
        """Let go of what is behind the first pages."""
        self.ranked.sort()
        del self.ranked[self._most :]
        self._worst = self.ranked[-1] if len(self.ranked) == self._most else None

    def _table(self, number: int, name: str) -> Any:  # pyarrow has no types
        """A part, open: groups of all parts are read in turns."""
        if number not in self._tables:
            if len(self._tables) >= _OPEN_FILES:
                self._files.close()
                self._tables.clear()
            self._tables[number] = self._files.enter_context(open_table(self._corpus.inside(name)))
        return self._tables[number]

    def _groups_of(self, table: Any, part: int) -> Iterator[Piece]:  # pyarrow has no types
        at = 0
        for number in range(table.metadata.num_row_groups):
            group = table.metadata.row_group(number)
            if may_fit(group, self._wish):
                yield Piece(self._best_of(group), Place(part, at), number, group.num_rows)
            else:
                self.looked_at += group.num_rows
            at += group.num_rows

    def _best_of(self, group: Any) -> Rank:  # pyarrow has no types
        """The rank that no row of a group can be better than."""
        facts = statistics_of(group, self._column)
        if facts is None:
            return _FIRST
        if not facts.has_min_max:
            return _LAST if facts.has_null_count and facts.null_count == group.num_rows else _FIRST
        rank = self._rank(facts.max if self._descends else facts.min)
        return _FIRST if rank == _LAST else rank

    def _read_group(self, table: Any, piece: Piece) -> None:  # pyarrow has no types
        wish = self._wish
        chosen_by = {self._column, *wish.texts, *wish.bounds, *(("title", "url", "id") if wish.words else ())}
        known = [name for name in LISTED if name in chosen_by and name in table.schema_arrow.names]
        rows = table.read_row_group(piece.group, known, use_threads=False).combine_chunks()
        fits = None if wish.takes_all else np.flatnonzero(which_fit(rows, wish).to_numpy(zero_copy_only=False))
        values = rows.column(self._column) if self._column in known else None
        if values is None:
            ranks: Iterable[Rank] = [_LAST] * piece.rows
            chosen = range(piece.rows) if fits is None else fits.tolist()
        else:
            chosen, ranks = self._chosen(values, fits)
        self._take((rank, Place(piece.place.part, piece.place.at + i)) for i, rank in zip(chosen, ranks, strict=True))
        self.looked_at += piece.rows

    def _chosen(self, values: Any, fits: Any) -> tuple[list[int], list[Rank]]:  # pyarrow has no types
        """Which rows of a column may be among the first, and their ranks; `fits` has their numbers, None for all."""
        worst = None if self._worst is None else self._worst[0]
        if not self._is_text and worst is not None and worst[0] == 0 and _is_number(values.type):
            # Most rows come behind what is held: numpy leaves them out much faster than Python would.
            numbers = values.to_numpy(zero_copy_only=False)
            near = np.flatnonzero((-numbers if self._descends else numbers) <= worst[1])  # which nothing is not
            fits = near if fits is None else np.intersect1d(near, fits, assume_unique=True)
        chosen = list(range(len(values))) if fits is None else fits.tolist()
        held = values.to_pylist() if fits is None else values.take(fits).to_pylist()
        return chosen, [self._rank(value) for value in held]

    def _read_lines(self, path: str, start: Place, end: float) -> Iterator[Piece]:
        for at, row in lines(path, start.at, LISTED, LONGEST_LINE_LISTED, self._wish):
            if time.monotonic() > end and at != start.at:
                yield Piece(_FIRST, Place(start.part, at))
                return
            self.looked_at += row is None or bool(row)
            if row and "problem" not in row:
                self._take([(self._rank(row.get(self._column)), Place(start.part, at))])

    def _take(self, candidates: Iterable[tuple[Rank, Place]]) -> None:
        worst = self._worst
        self.ranked += [one for one in candidates if worst is None or one < worst]
        if len(self.ranked) >= self._most + self._most // 2 or (worst is None and len(self.ranked) >= self._most):
            self.cut()

    def _rank(self, value: object) -> Rank:
        if self._is_text:
            return (0, value) if isinstance(value, str) else _LAST
        if not isinstance(value, int | float) or value != value:  # noqa: PLR0124 - nothing else is unequal to itself
            return _LAST
        return (0, -value if self._descends else value)


def _is_number(type_: Any) -> bool:  # pyarrow has no types
    import pyarrow  # an extra

    return bool(pyarrow.types.is_floating(type_) or pyarrow.types.is_integer(type_))
