"""The pages that a corpus run rejected, read again from their archives: what went wrong is worth a look."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from mainmatter.annotation.adding import Found, name_of
from mainmatter.corpus.folder import REJECTS, Folder
from mainmatter.corpus.plan import read_shard
from mainmatter.corpus.readers import find_shards, read_slice
from mainmatter.corpus.records import Record, Reject
from mainmatter.errors import InputError, MainmatterError
from mainmatter.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from mainmatter.corpus.records import Slice


def read_rejected(out: str, reasons: Collection[str] = (), limits: Limits = DEFAULT_LIMITS) -> Iterator[Found]:
    """The pages that a corpus run rejected, each with the reason in its note; in the order of the files of rejects.

    A page that cannot be found in its archive again, or that was no page to begin with, is told as a problem.

    Args:
        out: the folder of the corpus.
        reasons: only those that were rejected for one of these, such as "length"; by default all.
        limits: how large a page may be.

    Raises:
        InputError: the folder holds no rejects, or none for these reasons.
    """
    files = sorted(Path(out, REJECTS).glob("part-*.jsonl"))
    if not files:
        raise InputError(f"{out}: holds no rejects of a corpus run; looked for {Path(out, REJECTS)}/part-*.jsonl")
    is_any = False
    for file in files:
        rejects = [reject for reject in _load(file) if not reasons or reject.reason in reasons]
        is_any = is_any or bool(rejects)
        yield from _find(rejects, _slices(out, file), limits)
    if not is_any:
        raise InputError(f"{out}: nothing was rejected for {' or '.join(sorted(reasons))}")


def _load(file: Path) -> list[Reject]:
    try:
        return [Reject(**json.loads(line)) for line in file.read_bytes().splitlines() if line.strip()]
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{file}: cannot be read as a file of rejects: {error}") from error


def _slices(out: str, file: Path) -> tuple[Slice, ...]:
    """What was read to make the part; none if the plan of the run is gone, or damaged."""
    try:
        return read_shard(Folder(out), int(file.stem.removeprefix("part-")))
    except (OSError, ValueError, LookupError, TypeError, MainmatterError):
        return ()


def _find(rejects: list[Reject], slices: tuple[Slice, ...], limits: Limits) -> Iterator[Found]:
    """Read the pages again, each slice once at most."""
    of_slice: dict[Slice, list[Reject]] = defaultdict(list)
    by_source: dict[str, tuple[Slice, ...]] = {}
    for reject in rejects:
        try:
            if not slices and reject.source not in by_source:
                by_source[reject.source] = tuple(one for shard in find_shards([reject.source]) for one in shard)
            one = _slice_of(reject, slices or by_source[reject.source])
        except MainmatterError as error:
            yield _problem(reject, str(error))
            continue
        if one is None:
            yield _problem(reject, "it is not found there any more")
        else:
            of_slice[one].append(reject)
    for one, wanted in of_slice.items():
        yield from _read_again(one, wanted, limits)


def _slice_of(reject: Reject, slices: tuple[Slice, ...]) -> Slice | None:
    """The slice that holds a page: one of those of the run or, without its plan, of its input as it is now."""
    for one in slices:
        source = one.path if one.kind != "files" or one.path else one.files[0]
        if source == reject.source and one.start <= reject.position < _end(one):
            return one
    return None


def _end(one: Slice) -> float:
    """Where a slice ends. Positions in a packed JSONL file are those of what it unpacks to."""
    return float("inf") if one.kind == "jsonl" and one.start == 0 else one.end


def _read_again(one: Slice, rejects: list[Reject], limits: Limits) -> Iterator[Found]:
    wanted = {reject.position: reject for reject in rejects}
    last = max(wanted)
    try:
        for read in read_slice(one, limits, min(wanted)):
            if read.position > last:
                break
            reject = wanted.get(read.position)
            if reject is None:
                continue
            if isinstance(read, Record):
                del wanted[read.position]
                note = f"rejected: {reject.reason}: {reject.detail}"
                where = f"{reject.source}#{reject.position}"
                yield Found(name_of(read.page.url, reject.id, where), where, read.page, note=note)
            elif isinstance(read, Reject):
                del wanted[read.position]
                yield _problem(reject, f"it cannot be read as a page: {read.reason}: {read.detail}")
    except (MainmatterError, OSError) as error:
        for reject in wanted.values():
            yield _problem(reject, str(error))
        return
    for reject in wanted.values():
        yield _problem(reject, "it is not found there any more")


def _problem(reject: Reject, problem: str) -> Found:
    where = f"{reject.source}#{reject.position}"
    return Found(name_of(reject.url, reject.id, where), where, None, f"{where}: {problem}")
