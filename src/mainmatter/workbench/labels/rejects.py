"""The pages that a corpus run rejected, read again from their archives: what went wrong is worth a look."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mainmatter.corpus.folder import REJECTS
from mainmatter.corpus.originals import is_same_page, slice_of, slices_of_part
from mainmatter.corpus.readers import find_shards, read_slice
from mainmatter.corpus.records import Record, Reject
from mainmatter.corpus.storage import is_remote
from mainmatter.corpus.whereabouts import Whereabouts
from mainmatter.errors import InputError, MainmatterError
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.workbench.labels.adding import Found, name_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from mainmatter.corpus.records import Slice
    from mainmatter.records import Page

_NOT_FOUND = "it is not found there any more"


def read_rejected(
    out: str,
    reasons: Collection[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    folders: Sequence[Path] = (),
    within: Sequence[Path] | None = None,
) -> Iterator[Found]:
    """The pages that a corpus run rejected, each with the reason in its note; in the order of the files of rejects.

    The inputs of the run are looked for as they were named, as seen from the corpus, and beside it. A page that cannot
    be found again, or that was no page to begin with, is told as a problem.

    Args:
        out: the folder of the corpus.
        reasons: only those that were rejected for one of these, such as "length"; by default all.
        limits: how large a page may be.
        folders: where else the inputs may be.
        within: only files that lie below one of these are read, and nothing is fetched; by default anything.

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
        where = whereabouts(out, {reject.source for reject in rejects}, folders, within)
        yield from _find(rejects, slices_of_part(out, _number(file)), where, limits)
    if not is_any:
        raise InputError(f"{out}: nothing was rejected for {' or '.join(sorted(reasons))}")


def whereabouts(
    out: str, sources: Collection[str], folders: Sequence[Path] = (), within: Sequence[Path] | None = None
) -> Whereabouts:
    """Where the inputs of a corpus are; without a plan of its run, its rejects say which these were."""
    try:
        return Whereabouts(out, None, folders, within)
    except (MainmatterError, OSError, TypeError, ValueError, LookupError, AttributeError, RecursionError):
        return Whereabouts(out, sorted(sources), folders, within)


def _number(file: Path) -> int:
    """The number of a part; -1, which no part has, if that is not what the name tells."""
    number = file.stem.removeprefix("part-")
    return int(number) if number.isdecimal() else -1


def _load(file: Path) -> list[Reject]:
    try:
        rejects = [Reject(**json.loads(line)) for line in file.read_bytes().splitlines() if line.strip()]
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise InputError(f"{file}: cannot be read as a file of rejects: {error}") from error
    if not all(isinstance(one.source, str) and isinstance(one.position, int) for one in rejects):
        raise InputError(f"{file}: cannot be read as a file of rejects: a source is no text, or a position no number")
    return rejects


def _find(rejects: list[Reject], slices: tuple[Slice, ...], where: Whereabouts, limits: Limits) -> Iterator[Found]:
    """Read the pages again, each slice once at most."""
    of_slice: dict[Slice, list[Reject]] = defaultdict(list)
    without_plan: dict[str, tuple[Slice, ...]] = {}
    for reject in rejects:
        try:
            source = _place_of(reject.source, where)
            if not slices and source not in without_plan:
                without_plan[source] = tuple(one for shard in find_shards([source]) for one in shard)
            one = slice_of(reject.source, reject.position, slices)
            if one is None:
                found = slice_of(source, reject.position, without_plan.get(source, ()))
                if found is None:
                    raise InputError(_NOT_FOUND)
                one = _as_named(found, reject.source)
            of_slice[_slice_here(one, reject.position, where)].append(reject)
        except MainmatterError as error:
            yield _problem(reject, str(error))
    for one, wanted in of_slice.items():
        yield from _read_again(one, wanted, limits)


def _as_named(one: Slice, source: str) -> Slice:
    """A slice of what is here now, with the name that the run had for it."""
    return replace(one, path=source) if one.path else replace(one, files=(source,))


def _place_of(source: str, where: Whereabouts) -> str:
    if is_remote(source):
        _may_fetch(where)
        return source
    place = where.find(source)
    if place is None:
        raise InputError(f"{Path(source).name} itself is not found, neither where it was nor beside the corpus")
    return str(place)


def _slice_here(one: Slice, position: int, where: Whereabouts) -> Slice:
    if one.kind == "urls" or is_remote(one.path):
        _may_fetch(where)
    return one if is_remote(one.path) else where.slice_here(one, position)


def _may_fetch(where: Whereabouts) -> None:
    if where.within is not None:
        raise InputError("it came from the web, and nothing is fetched here")


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
                yield _found(reject, read.page, one)
            elif isinstance(read, Reject):
                del wanted[read.position]
                yield _problem(reject, f"it cannot be read as a page: {read.reason}: {read.detail}")
    except (MainmatterError, OSError) as error:
        for reject in wanted.values():
            yield _problem(reject, str(error))
        return
    for reject in wanted.values():
        yield _problem(reject, _NOT_FOUND)


def _found(reject: Reject, page: Page, here: Slice) -> Found:
    if not is_same_page(page, reject.id, reject.source, here):
        return _problem(reject, "another page is there now: the archive was changed since")
    where = f"{reject.source}#{reject.position}"
    return Found(name_of(page.url, reject.id, where), where, page, note=f"rejected: {reject.reason}: {reject.detail}")


def _problem(reject: Reject, problem: str) -> Found:
    where = f"{reject.source}#{reject.position}"
    return Found(name_of(reject.url, reject.id, where), where, None, f"{where}: {problem}")
