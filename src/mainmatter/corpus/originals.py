"""Back from a row of a corpus to the page that it was made of: where that is now, if it is still there."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from mainmatter.corpus import storage
from mainmatter.corpus.folder import SUMMARY, Folder
from mainmatter.corpus.plan import read_plan, read_shard
from mainmatter.corpus.readers import read_slice
from mainmatter.corpus.records import Record, Reject, Slice, SourceKind
from mainmatter.errors import InputError, MainmatterError
from mainmatter.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mainmatter.corpus.records import Slice
    from mainmatter.records import Page


_PACKABLE = ("warc", "wet", "jsonl")


def read_original(
    out: str, part: int, source: str, position: int, id_: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> Page:
    """The page that a row or a reject of a corpus was made of, read again from the input of its run.

    Only files of this machine are read, and of these only the inputs that the run's plan names: nothing is fetched.
    Inputs are found if they still lie where they did, seen from here or from the corpus, or if they lie beside the
    corpus now.

    Args:
        out: the folder of the corpus.
        part: the number of the part that holds the row.
        source: what the row says of its source.
        position: and of its position there.
        id_: and of its id; a page with another one is not the same.
        limits: how large the page may be.

    Raises:
        InputError: it cannot be found again, or was no page to begin with; tells why.
        MissingExtra: reading its archive needs a package that is not installed.
        PageTooLarge: it is over the limits.
    """
    try:
        here = _place_of(Folder(out), slices_of_part(out, part), source, position)
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
        raise InputError(NO_PLAN) from error
    for read in read_slice(here, limits, position):
        if read.position != position:
            break
        if isinstance(read, Record):
            if not is_same_page(read.page, id_, source, here):
                raise InputError(f"{source} has changed since the run and now has another page there")
            return read.page
        if isinstance(read, Reject):
            detail = read.detail.replace(here.path or here.files[0], source)
            raise InputError(f"it cannot be read as a page: {read.reason}: {detail}")
    raise InputError(f"it is no longer in {source}")


def _place_of(folder: Folder, slices: tuple[Slice, ...], source: str, position: int) -> Slice:
    """The slice that holds a page, as it can be read from here.

    Raises:
        InputError: there is none that may be read.
        TypeError, ValueError, LookupError, AttributeError: the plan is damaged.
    """
    if not slices:
        raise InputError(NO_PLAN)
    one = slice_of(source, position, slices)
    if one is None:
        raise InputError(f"the plan of the run has no position {position:,} in {source}")
    if one.kind == "urls" or storage.is_remote(source):
        raise InputError(f"it came from {source}, and nothing is fetched to show a corpus")
    if one.kind not in get_args(SourceKind):
        raise InputError(NO_PLAN)
    return InputLocations(folder.out).slice_here(one, position)


def slices_of_part(out: str, number: int) -> tuple[Slice, ...]:
    """What was read to make a part; none if the plan of the run is gone, or damaged."""
    try:
        return read_shard(Folder(out), number)
    except (OSError, ValueError, LookupError, TypeError, RecursionError, MainmatterError):
        return ()


def slice_of(source: str, position: int, slices: Iterable[Slice]) -> Slice | None:
    """The slice that holds what a row says of its source and position; None if none of them does."""
    of_source = [one for one in slices if source == (one.path if one.kind != "files" or one.path else one.files[0])]
    for one in of_source:
        if one.start <= position < one.end:
            return one
    # Positions in what is packed as one piece, which is never split, are those of what it unpacks to.
    return next((one for one in of_source if one.start == 0 and one.kind in _PACKABLE), None)


def is_same_page(page: Page, id_: str | None, source: str, here: Slice) -> bool:
    """Whether a page that is read from `here` is the one that had this id when its source was first read."""
    if id_ is None or page.id in (None, id_):
        return True
    # Some ids hold the path of the source, which may be reached by another path now.
    path = here.path or here.files[0]
    return id_.startswith(source) and page.id == id_.replace(source, path, 1)


NO_PLAN = "the plan of the run (__run) is missing or damaged, so the origin of its pages is unknown"


class InputLocations:
    """Where the inputs of a run, which its plan names, are on this machine.

    An input is looked for from where the run was started, as far as the corpus tells; as it was named; and, by its
    path or its name, beside the corpus and in `folders`. Nothing but the inputs, and what is below them, is found.
    """

    def __init__(
        self,
        out: str,
        inputs: Sequence[str] | None = None,
        folders: Sequence[Path] = (),
        within: Sequence[Path] | None = None,
    ) -> None:
        """Look where things may be.

        Args:
            out: the folder of the corpus.
            inputs: the inputs of its run; by default those of its plan.
            folders: where else to look.
            within: only what really lies below one of these may be read; by default anything.

        Raises:
            InputError: the plan is missing, or is of another version.
            TypeError, ValueError, LookupError, AttributeError: the plan is damaged.
        """
        folder = Folder(out)
        named = read_plan(folder).inputs if inputs is None else inputs
        self.inputs = tuple(storage.without_scheme(name) for name in named if not storage.is_remote(name))
        beside = (Path(storage.without_scheme(folder.out)).resolve().parent,) if folder.is_local else ()
        self.folders = (*beside, *folders)
        self.within = within
        self._root, self._ups = _root_of_run(folder)
        self._named = frozenset(map(Path, self.inputs))
        # Of two inputs of one name, nobody could tell which one lies in another folder.
        names = Counter(path.name for path in self._named)
        self._only_ones = frozenset(path for path in self._named if names[path.name] == 1)
        self._found: dict[str, Path | None] = {}

    def find(self, path: str) -> Path | None:
        """Where an input of the run, or what was below one, is now; None if it is nowhere where it may be read."""
        if path not in self._found:
            there = (place for place in self._places(storage.without_scheme(path)) if _exists(place))
            self._found[path] = next((place for place in there if self._may_hold(place)), None)
        return self._found[path]

    def slice_here(self, one: Slice, position: int) -> Slice:
        """A slice as it can be read from here; of files, only the one at the position.

        Raises:
            InputError: it is not here any more, or is none of the run's inputs.
        """
        names = one.files[position - one.start : position - one.start + 1] if one.kind == "files" else ()
        if one.kind == "files" and not names:
            raise InputError(NO_PLAN)
        path = one.path or names[0]
        place = self.find(path)
        if place is None:
            raise InputError(f"{path} no longer exists; it may have been moved")
        if not self._is_input(path, place.joinpath(*names) if one.path else place):
            raise InputError(f"{path} is not an input of the run")
        if one.kind != "files":
            return replace(one, path=str(place))
        alone = replace(one, start=position, end=position + 1)
        return replace(alone, path=str(place), files=names) if one.path else replace(alone, files=(str(place),))

    def _places(self, path: str) -> Iterator[Path]:
        """Where something may be, the likeliest place first."""
        place = Path(path)
        # A relative path was seen from where the run was started: from elsewhere it may lead to something else.
        if self._root is not None and not place.is_absolute() and place.parts[: self._ups] == ("..",) * self._ups:
            yield self._root.joinpath(*place.parts[self._ups :])
        yield place
        for folder in self.folders:
            if not place.is_absolute() and place.parts and ".." not in place.parts:
                yield folder / place
            for named in _with_parents(place):
                if named in self._only_ones and named.name not in ("", ".."):
                    yield folder / named.name / place.relative_to(named)

    def _may_hold(self, place: Path) -> bool:
        if self.within is None:
            return True
        real = place.resolve()
        return any(real.is_relative_to(each) for each in self.within)

    def _is_input(self, path: str, file: Path) -> bool:
        """Whether what had a path then, and is this file now, is an input, or below one; links are followed."""
        named = [each for each in _with_parents(Path(storage.without_scheme(path))) if each in self._named]
        places = {place.resolve() for each in named for place in self._places(str(each)) if _exists(place)}
        real = file.resolve()
        return self._may_hold(real) and not places.isdisjoint(_with_parents(real))


def _with_parents(path: Path) -> tuple[Path, ...]:
    return path, *path.parents


def _root_of_run(folder: Folder) -> tuple[Path | None, int]:
    """The folder from which the run was started, or so many folders above that; None if the corpus does not tell.

    It knows by which path it was named then.
    """
    try:
        named = Path(json.loads(folder.read(SUMMARY))["out"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError, MainmatterError):
        return None, 0
    ups = next((i for i, part in enumerate(named.parts) if part != ".."), len(named.parts))
    below = named.parts[ups:]
    here = Path(storage.without_scheme(folder.out)).resolve()
    if named.is_absolute() or not below or ".." in below or here.parts[-len(below) :] != below:
        return None, 0
    return Path(*here.parts[: -len(below)]), ups


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except OSError:  # nobody may look there, or its name is too long
        return False
