"""Recurring blocks of a site, to label once: the same text on many of its pages (Template, section 3)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mainmatter.inputs.sites import site_of_url
from mainmatter.lab.datasets.labels import Label, kind_by_markup

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from mainmatter.workbench.labels.records import PageId
    from mainmatter.workbench.labels.store import Store

SUGGESTED_BY = "template"  # what labels that were made for a whole site say of themselves
FEWEST_PAGES = 3  # of a site
MOST_PAGES = 60  # that are compared
_MANY = 0.5  # of a site's pages: what is on so many of them recurs


@dataclass(slots=True)
class RecurringBlock:
    """Blocks with the same text on several pages of a site.

    Attributes:
        key: the beginning of their references, which identifies their text.
        text: the text.
        pages: on how many pages of the site it is.
        open: how many of these blocks the annotator has not labelled, or only accepted a suggestion to keep.
    """

    key: str
    text: str
    pages: int = 0
    open: int = 0


@dataclass(frozen=True, slots=True)
class Recurring:
    """What a site repeats.

    Attributes:
        site: the site; "" if the page has no URL.
        pages: the pages of it that were compared.
        blocks: the blocks of the requested page that recur on the others, in page order.
    """

    site: str
    pages: list[PageId]
    blocks: list[RecurringBlock] = field(default_factory=list)


def find_recurring(store: Store, page_id: PageId, annotator: str) -> Recurring:
    """The blocks that recur on the pages of a page's site and that the annotator has not decided on.

    Raises:
        AnnotationError: there is no such page.
    """
    site = site_of_url(store.summary(page_id).url)
    pages = [each.id for each in store.pages() if each.blocks and site and site_of_url(each.url) == site]
    pages = sorted(pages, key=lambda page: abs(page - page_id))[:MOST_PAGES]
    if len(pages) < FEWEST_PAGES:
        return Recurring(site, pages)
    found: dict[str, RecurringBlock] = {}
    for page in sorted(pages, key=lambda page: page != page_id):  # the page itself first
        labels = store.labels(page, annotator).by_ref
        texts = store.document(page).texts
        here: set[str] = set()
        for ref, text in zip(store.references(page), texts, strict=True):
            key = key_of(ref)
            if page == page_id:
                found.setdefault(key, RecurringBlock(key, " ".join(text.split())))
            if key in found:
                here.add(key)
                found[key].open += _is_open(labels.get(ref))
        for key in here:
            found[key].pages += 1
    least = max(FEWEST_PAGES, _MANY * len(pages))
    return Recurring(site, pages, [block for block in found.values() if block.pages >= least and block.open])


def drop_recurring(store: Store, pages: Sequence[PageId], annotator: str, keys: Collection[str]) -> dict[PageId, int]:
    """Drop recurring blocks on all pages of a site: one change per page, which the annotator can undo there.

    Blocks that the annotator has labelled stay as they are; those that were only suggested do not.

    Args:
        store: the annotations.
        pages: the pages of the site.
        annotator: whose labels.
        keys: which blocks to drop.

    Returns:
        How many blocks were dropped on each page.

    Raises:
        AnnotationError: there is no such page, or the name cannot be used.
    """
    dropped: dict[PageId, int] = defaultdict(int)
    wanted = set(keys)
    for page in pages:
        labels = store.labels(page, annotator)
        kinds = store.document(page).columns.kinds
        change: dict[str, Label | None] = {
            ref: Label(False, kind_by_markup(kind), suggested_by=SUGGESTED_BY)
            for ref, kind in zip(store.references(page), kinds, strict=True)
            if key_of(ref) in wanted and _is_open(labels.by_ref.get(ref))
        }
        if change:
            store.set_labels(page, annotator, change, based_on=labels.revision)
            dropped[page] = len(change)
    return dict(dropped)


def key_of(ref: str) -> str:
    """The beginning of the references of all blocks with the same text."""
    return ref.partition("-")[0]


def _is_open(label: Label | None) -> bool:
    """Whether the annotator has not decided on a block: it has no label, or only an accepted suggestion to keep."""
    return label is None or (bool(label.suggested_by) and label.kept)
