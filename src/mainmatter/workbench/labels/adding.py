"""Pages into the store: files, folders, URLs, archives, gold standards, and what a corpus run rejected."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mainmatter.errors import InputError, MainmatterError, PageTooLarge
from mainmatter.inputs.fetch import is_url
from mainmatter.inputs.paths import DUMP_ENDINGS, find_inputs
from mainmatter.lab.datasets.labels import Label, kind_by_markup
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.workbench.labels.records import GOLD

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mainmatter.corpus.readers import FieldNames
    from mainmatter.lab.datasets import GoldPage
    from mainmatter.records import Page
    from mainmatter.workbench.labels.records import PageId
    from mainmatter.workbench.labels.store import Store

_ARCHIVES = (".warc", ".wet", ".jsonl", ".ndjson", ".parquet", ".urls")
_PACKINGS = (".gz", ".zst")


@dataclass(frozen=True, slots=True)
class Found:
    """A page that was read, or what stood in its way.

    Attributes:
        name: what it is called.
        source: the input that it is of.
        page: the page; None if it could not be read.
        problem: why not; else "".
        note: why it is of interest; else "".
    """

    name: str
    source: str
    page: Page | None
    problem: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Addition:
    """What came of adding a page.

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


def add_found(store: Store, found: Iterable[Found], limits: Limits = DEFAULT_LIMITS) -> Iterator[Addition]:
    """Add pages as they are read, if the limits allow, and tell what came of each; none stops the others."""
    return (_add(store, each, limits) for each in found)


def _add(store: Store, found: Found, limits: Limits) -> Addition:
    if found.page is None:
        return Addition(found.name, None, problem=found.problem)
    try:
        known = store.find_page(found.page)
        if known is not None:
            return Addition(found.name, known)
        page_id = store.add_page(found.page, found.source, name=found.name, note=found.note, limits=limits)
    except MainmatterError as error:
        return Addition(found.name, None, problem=str(error))
    return Addition(found.name, page_id, is_new=True)


def read_inputs(
    names: Sequence[str],
    limits: Limits = DEFAULT_LIMITS,
    *,
    text_lists: bool = False,
    fields: FieldNames | None = None,
) -> Iterator[Found]:
    """Read pages of files, folders and URLs, and of archives: WARC, WET, JSONL, Parquet, lists of URLs.

    A folder stands for the pages below it or, if it holds none, for its archives.

    Args:
        names: the inputs.
        limits: how large a page may be.
        text_lists: also fetch the URLs of a text file (.txt) that is a list of such, as a corpus run does. Not for
            files of people who must not have this machine fetch what they like.
        fields: the fields of JSONL and Parquet that hold what, where they have other names than the usual ones.

    Raises:
        InputError: an input does not exist, or holds nothing that can be read.
        MissingExtra: archives need the extra "corpus".
    """
    for name in names:
        if is_archive(name) or (text_lists and _is_list_in_text(name)):
            yield from _read_archives(name, limits, fields)
            continue
        try:
            inputs = find_inputs([name])
        except InputError:
            if not name or not Path(name).is_dir():
                raise
            yield from _read_archives(name, limits, fields)
            continue
        for one in inputs:
            shown = one.name.encode("utf-8", "replace").decode()
            try:
                page = one.read(limits)
            except MainmatterError as error:
                yield Found(shown, shown, None, str(error))
            else:
                yield Found(page.id or shown, shown, page)


def is_archive(name: str) -> bool:
    """Whether an input is one of those that hold many pages, by its name."""
    plain = name.partition("?")[0].lower()
    for packing in _PACKINGS:
        plain = plain.removesuffix(packing)
    return plain.endswith(_ARCHIVES)


def _is_list_in_text(name: str) -> bool:
    if is_url(name) or Path(name).suffix.lower() not in DUMP_ENDINGS or not Path(name).is_file():
        return False
    from mainmatter.corpus.readers.urls import is_list_of_urls  # noqa: PLC0415 - archives are an extra's

    return is_list_of_urls(name)


def _read_archives(name: str, limits: Limits, fields: FieldNames | None) -> Iterator[Found]:
    from mainmatter.corpus.readers import FieldNames, find_shards, read_slice  # noqa: PLC0415 - needs an extra
    from mainmatter.corpus.records import Record, Reject  # noqa: PLC0415

    for shard in find_shards([name], fields=fields or FieldNames()):
        for one in shard:
            for read in read_slice(one, limits):
                where = f"{read.source}#{read.position}"
                if isinstance(read, Record):
                    yield Found(name_of(read.page.url, read.page.id, where), where, read.page)
                elif isinstance(read, Reject):
                    yield Found(name_of(read.url, read.id, where), where, None, f"{read.reason}: {read.detail}")


def name_of(url: str | None, page_id: str | None, where: str) -> str:
    """What a page of an archive is called: its id or, where that is the random number of a WARC record, its URL."""
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

    Its own labels are taken as they are; else its text is aligned with the blocks (lab/training/align.py). Pages whose
    labels of "gold" are there already keep them.

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
    """What a gold standard says of the blocks of a page, by their references; nothing where it does not know."""
    from mainmatter.lab.training.align import make_example  # noqa: PLC0415 - needs an extra

    example = make_example(gold_page, unknown=math.nan, limits=limits)
    comments = {label.ref for label in gold_page.labels or () if label.kind == "comment"}
    rows = zip(store.blocks(page_id), example.shares.tolist(), example.kept.tolist(), example.kinds, strict=True)
    return {
        block.ref: Label(kept, "comment" if block.ref in comments else kind_by_markup(kind))
        for block, share, kept, kind in rows
        if not math.isnan(share)
    }
