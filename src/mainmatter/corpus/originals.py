"""Back from a row of a corpus to the page that it was made of: where that is, if it is still there."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from mainmatter.corpus import storage
from mainmatter.corpus.folder import Folder
from mainmatter.corpus.plan import read_shard
from mainmatter.corpus.readers import read_slice
from mainmatter.corpus.records import Record, Reject, Slice, SourceKind
from mainmatter.corpus.whereabouts import NO_PLAN, Whereabouts
from mainmatter.errors import InputError, MainmatterError
from mainmatter.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterable

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
                raise InputError(f"another page is there now: {source} was changed since")
            return read.page
        if isinstance(read, Reject):
            detail = read.detail.replace(here.path or here.files[0], source)
            raise InputError(f"it cannot be read as a page: {read.reason}: {detail}")
    raise InputError(f"it is not found in {source} any more")


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
        raise InputError(f"the plan of the run has no {source} with a position {position:,}")
    if one.kind == "urls" or storage.is_remote(source):
        raise InputError(f"it came from {source}, and nothing is fetched to look at a corpus")
    if one.kind not in get_args(SourceKind):
        raise InputError(NO_PLAN)
    return Whereabouts(folder.out).slice_here(one, position)


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
