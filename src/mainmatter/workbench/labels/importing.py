"""Adding pages to the store: files, folders, URLs, archives, gold standards, and the rejects of a corpus run."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mainmatter.corpus.folder import REJECTS, Folder
from mainmatter.corpus.originals import InputLocations, is_same_page, slice_of, slices_of_part
from mainmatter.corpus.readers import FetchRules, FieldNames, find_shards, read_slice
from mainmatter.corpus.readers.files import LINK
from mainmatter.corpus.readers.urls import is_list_of_urls
from mainmatter.corpus.records import Record, Reject
from mainmatter.corpus.storage import is_remote
from mainmatter.corpus.typed_json import parse
from mainmatter.errors import InputError, MainmatterError, PageTooLarge
from mainmatter.inputs.fetch import is_url
from mainmatter.inputs.paths import DUMP_ENDINGS, look_through
from mainmatter.lab.datasets.labels import Label, kind_by_markup
from mainmatter.lab.training.examples import make_example
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.workbench.labels.records import GOLD, CannotStore

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from mainmatter.corpus.records import Slice
    from mainmatter.lab.datasets import GoldPage
    from mainmatter.records import Page
    from mainmatter.workbench.labels.records import PageId
    from mainmatter.workbench.labels.store import Store

_ARCHIVES = (".warc", ".wet", ".jsonl", ".ndjson", ".parquet", ".urls")
_PACKINGS = (".gz", ".zst")
_NOT_FOUND = "it is no longer there"


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page that was read, or why it could not be.

    Attributes:
        name: what it is called.
        source: the input that it is of.
        page: the page; None if it could not be read.
        problem: why not; else "".
        note: why it is useful to label; else "".
    """

    name: str
    source: str
    page: Page | None
    problem: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Addition:
    """The result of adding a page.

    Attributes:
        name: what it is called.
        page_id: its number in the store; None if it could not be added.
        is_new: it was not there before.
        problem: why it could not be added; else "".
    """

    name: str
    page_id: PageId | None
    is_new: bool = False
    problem: str = ""


def add_found(store: Store, found: Iterable[FoundPage], limits: Limits = DEFAULT_LIMITS) -> Iterator[Addition]:
    """Add pages as they are read, if the limits allow, and yield the result of each; none stops the others.

    Raises:
        CannotStore: the disk is full, for one.
    """
    return (_add(store, each, limits) for each in found)


def _add(store: Store, found: FoundPage, limits: Limits) -> Addition:
    if found.page is None:
        return Addition(found.name, None, problem=found.problem)
    try:
        known = store.find_page(found.page)
        if known is not None:
            return Addition(found.name, known)
        page_id = store.add_page(found.page, found.source, name=found.name, note=found.note, limits=limits)
    except CannotStore:  # nor could any other page be
        raise
    except MainmatterError as error:
        return Addition(found.name, None, problem=str(error))
    return Addition(found.name, page_id, is_new=True)


def read_inputs(
    names: Sequence[str],
    limits: Limits = DEFAULT_LIMITS,
    *,
    text_lists: bool = False,
    fields: FieldNames | None = None,
    public_only: bool = True,
) -> Iterator[FoundPage]:
    """Read pages of files, folders and URLs, and of archives: WARC, WET, JSONL, Parquet, lists of URLs.

    A folder means the pages below it or, if it contains none, its archives.

    Args:
        names: the inputs.
        limits: how large a page may be.
        text_lists: also fetch the URLs of a text file (.txt) that is a list of such, as a corpus run does. Do not set
            it for files of people who must not make this machine fetch arbitrary URLs.
        fields: the names of the fields of JSONL and Parquet, if they are not the usual ones.
        public_only: whether to contact public addresses only.

    Raises:
        InputError: an input does not exist, or contains nothing that can be read.
        MissingExtra: archives need the extra "corpus".
    """
    for name in names:
        if is_archive(name) or (text_lists and _is_list_in_text(name)):
            yield from _read_archives(name, limits, fields, public_only)
            continue
        try:
            found = look_through([name])
        except InputError:
            if not name or not Path(name).is_dir():
                raise
            yield from _read_archives(name, limits, fields, public_only)
            continue
        yield from (_link(link) for link in found.links)
        for one in found.inputs:
            shown = one.name.encode("utf-8", "replace").decode()
            try:
                page = replace(one, public_only=public_only).read(limits)
            except MainmatterError as error:
                yield FoundPage(shown, shown, None, str(error))
            else:
                yield FoundPage(page.id or shown, shown, page)


def _link(name: str) -> FoundPage:
    return FoundPage(name, name, None, "links to files in a folder are not followed; name the file itself")


def is_archive(name: str) -> bool:
    """Whether an input is an archive of many pages, by its name."""
    plain = name.partition("?")[0].lower()
    for packing in _PACKINGS:
        plain = plain.removesuffix(packing)
    return plain.endswith(_ARCHIVES)


def _is_list_in_text(name: str) -> bool:
    is_text = not is_url(name) and Path(name).suffix.lower() in DUMP_ENDINGS and Path(name).is_file()
    return is_text and is_list_of_urls(name)


def _read_archives(name: str, limits: Limits, fields: FieldNames | None, public_only: bool) -> Iterator[FoundPage]:
    for shard in find_shards([name], fields=fields or FieldNames()):
        for one in shard:
            for read in read_slice(one, limits, fetch_rules=FetchRules(public_only=public_only)):
                where = f"{read.source}#{read.position}"
                if isinstance(read, Record):
                    yield FoundPage(name_of(read.page.url, read.page.id, where), where, read.page)
                elif isinstance(read, Reject):
                    yield FoundPage(name_of(read.url, read.id, where), where, None, f"{read.reason}: {read.detail}")
                elif read.type == LINK:
                    yield _link(where)


def name_of(url: str | None, page_id: str | None, where: str) -> str:
    """The name of a page of an archive: its id or, if that is the random number of a WARC record, its URL."""
    is_random = page_id is not None and page_id.startswith("<urn:uuid:")
    return (None if is_random and url else page_id) or url or where


def add_gold(
    store: Store,
    pages: Iterable[GoldPage],
    source: str,
    *,
    with_labels: bool = True,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Addition]:
    """Add the pages of a gold standard and, if wanted, what it says of their blocks, as the annotator "gold".

    Its own labels are taken unchanged; without any, its text is aligned with the blocks (lab/training/examples.py).
    Pages that already have labels of "gold" keep them.

    Raises:
        MissingExtra: aligning needs rapidfuzz.
    """
    for gold_page in pages:
        page = gold_page.page
        name = page.id or page.url or "page"
        try:
            known = store.find_page(page)
            groups = gold_page.groups
            page_id = store.add_page(
                page, source, name=name, page_type=groups.get("page_type"), lang=groups.get("lang"), limits=limits
            )
            if with_labels and not store.labels(page_id, GOLD).revision:
                store.set_labels(page_id, GOLD, gold_labels(store, page_id, gold_page, limits), by=GOLD)
                if gold_page.gold.text is not None:  # snippets say nothing of the rest of the page
                    store.set_done(page_id, GOLD, True, by=GOLD)
        except (InputError, PageTooLarge) as error:
            yield Addition(name, None, problem=str(error))
        else:
            yield Addition(name, page_id, is_new=known is None)


def gold_labels(
    store: Store, page_id: PageId, gold_page: GoldPage, limits: Limits = DEFAULT_LIMITS
) -> dict[str, Label | None]:
    """A gold standard's labels of a page's blocks, by reference; none where it is unknown."""
    example = make_example(gold_page, unknown=math.nan, limits=limits)
    comments = {label.ref for label in gold_page.labels or () if label.kind == "comment"}
    rows = zip(store.blocks(page_id), example.shares.tolist(), example.kept.tolist(), example.kinds, strict=True)
    return {
        block.ref: Label(kept, "comment" if block.ref in comments else kind_by_markup(kind))
        for block, share, kept, kind in rows
        if not math.isnan(share)
    }


def read_rejected(
    out: str,
    reasons: Collection[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    folders: Sequence[Path] = (),
    within: Sequence[Path] | None = None,
    *,
    public_only: bool = True,
) -> Iterator[FoundPage]:
    """The pages that a corpus run rejected, each with the reason in its note; in the order of the files of rejects.

    The inputs of the run are searched for under their original names, relative to the corpus, and beside it. A page
    that cannot be found again, or was not a page in the first place, is reported as a problem.

    Args:
        out: the folder of the corpus.
        reasons: only pages that were rejected for one of these, such as "length"; by default all.
        limits: how large a page may be.
        folders: other folders in which the inputs may be.
        within: only read files below one of these, and fetch nothing; by default anything.
        public_only: whether to contact public addresses only.

    Raises:
        InputError: the folder contains no rejects, or none for these reasons.
    """
    place = Path(Folder(out).path(REJECTS))
    files = sorted(place.glob("part-*.jsonl"))
    if not files:
        raise InputError(f"{out}: holds no rejects of a corpus run; looked for {place}/part-*.jsonl")
    is_any = False
    for file in files:
        rejects = [reject for reject in _load_rejects(file) if not reasons or reject.reason in reasons]
        is_any = is_any or bool(rejects)
        where = input_locations(out, {reject.source for reject in rejects}, folders, within)
        number = file.stem.removeprefix("part-")
        slices = slices_of_part(out, int(number) if number.isdecimal() else -1)  # which no part has
        yield from _find_again(rejects, slices, where, limits, FetchRules(public_only=public_only))
    if not is_any:
        raise InputError(f"{out}: nothing was rejected for {' or '.join(sorted(reasons))}")


def input_locations(
    out: str, sources: Collection[str], folders: Sequence[Path] = (), within: Sequence[Path] | None = None
) -> InputLocations:
    """The paths of a corpus's inputs; without a plan of its run, its rejects say which these were."""
    try:
        return InputLocations(out, None, folders, within)
    except (MainmatterError, OSError, TypeError, ValueError, LookupError, AttributeError, RecursionError):
        return InputLocations(out, sorted(sources), folders, within)


def _load_rejects(file: Path) -> list[Reject]:
    try:
        return [parse(Reject, line) for line in file.read_bytes().splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read as a file of rejects: {error}") from error


def _find_again(
    rejects: list[Reject], slices: tuple[Slice, ...], where: InputLocations, limits: Limits, fetch_rules: FetchRules
) -> Iterator[FoundPage]:
    """Read the pages again, each slice at most once."""
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
                # What is here now, with the name that the run had for it.
                one = replace(found, **{"path": reject.source} if found.path else {"files": (reject.source,)})
            of_slice[_slice_here(one, reject.position, where)].append(reject)
        except MainmatterError as error:
            yield _problem(reject, str(error))
    for one, wanted in of_slice.items():
        yield from _read_again(one, wanted, limits, fetch_rules)


def _place_of(source: str, where: InputLocations) -> str:
    if is_remote(source):
        _may_fetch(where)
        return source
    place = where.find(source)
    if place is None:
        raise InputError(f"{Path(source).name} was not found, neither at its old place nor beside the corpus")
    return str(place)


def _slice_here(one: Slice, position: int, where: InputLocations) -> Slice:
    if one.kind == "urls" or is_remote(one.path):
        _may_fetch(where)
    return one if is_remote(one.path) else where.slice_here(one, position)


def _may_fetch(where: InputLocations) -> None:
    if where.within is not None:
        raise InputError("it came from the web, and this import fetches nothing")


def _read_again(one: Slice, rejects: list[Reject], limits: Limits, fetch_rules: FetchRules) -> Iterator[FoundPage]:
    wanted = {reject.position: reject for reject in rejects}
    last = max(wanted)
    try:
        for read in read_slice(one, limits, min(wanted), fetch_rules=fetch_rules):
            if read.position > last:
                break
            reject = wanted.get(read.position)
            if reject is None:
                continue
            if isinstance(read, Record):
                del wanted[read.position]
                yield _found_again(reject, read.page, one)
            elif isinstance(read, Reject):
                del wanted[read.position]
                yield _problem(reject, f"it cannot be read as a page: {read.reason}: {read.detail}")
    except (MainmatterError, OSError) as error:
        for reject in wanted.values():
            yield _problem(reject, str(error))
        return
    for reject in wanted.values():
        yield _problem(reject, _NOT_FOUND)


def _found_again(reject: Reject, page: Page, here: Slice) -> FoundPage:
    if not is_same_page(page, reject.id, reject.source, here):
        return _problem(reject, "the archive has changed: it now has another page there")
    where = f"{reject.source}#{reject.position}"
    return FoundPage(
        name_of(page.url, reject.id, where), where, page, note=f"rejected: {reject.reason}: {reject.detail}"
    )


def _problem(reject: Reject, problem: str) -> FoundPage:
    where = f"{reject.source}#{reject.position}"
    return FoundPage(name_of(reject.url, reject.id, where), where, None, f"{where}: {problem}")
