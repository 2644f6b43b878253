"""Where the inputs of a run are now: as they were named, as seen from the corpus, or beside it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mainmatter.corpus import storage
from mainmatter.corpus.folder import SUMMARY, Folder
from mainmatter.corpus.plan import read_plan
from mainmatter.errors import InputError, MainmatterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mainmatter.corpus.records import Slice

NO_PLAN = "the plan of the run (_run) is gone or damaged, so nobody knows where its pages came from"


class Whereabouts:
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
        self.folders = (*_beside(folder), *folders)
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
            raise InputError(f"{path} is not there any more; perhaps it was moved")
        if not self._is_input(path, place.joinpath(*names) if one.path else place):
            raise InputError(f"{path} is none of the inputs of the run")
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


def _beside(folder: Folder) -> tuple[Path, ...]:
    return (Path(storage.without_scheme(folder.out)).resolve().parent,) if folder.is_local else ()


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
