"""What Annotate has workers do: whatever reads a page, and what takes long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mainmatter.html.safe import safe_html
from mainmatter.lab.datasets.labels import kind_by_markup
from mainmatter.registry import DEFAULT_METHOD, get_method
from mainmatter.workbench.labels import Label, Store

if TYPE_CHECKING:
    from mainmatter.records import Page
    from mainmatter.workbench.labels.agreement import AgreementReport


@dataclass(frozen=True, slots=True)
class Shown:
    """A page for annotators.

    Attributes:
        facts: its number, name, URL and note.
        blocks: its blocks, as `BlockModel` has them.
    """

    facts: dict[str, Any]
    blocks: list[dict[str, Any]]


def show(database: str, page_id: int) -> tuple[Shown, str, Page]:
    """A page's blocks, the marked page for its frame, and the page itself.

    Raises:
        AnnotationError: there is no such page.
    """
    with Store(database, create=False) as store:
        summary = store.summary(page_id)
        page = store.page(page_id)
        html = safe_html(store.document(page_id))
        blocks: list[dict[str, Any]] = [
            {
                "index": block.index,
                "ref": ref,
                "text": block.text,
                "kind": block.kind.value,
                "level": block.level,
                "hidden": block.hidden,
            }
            for ref, block in ((each.ref, each.block) for each in store.blocks(page_id))
        ]
    facts = {"id": page_id, "name": summary.name, "url": summary.url, "note": summary.note}
    return Shown(facts, blocks), html, page


def suggest(database: str, page_id: int, method: str = DEFAULT_METHOD) -> list[Label]:
    """What a method would say of each block.

    Raises:
        AnnotationError: there is no such page.
    """
    with Store(database, create=False) as store:
        extraction = get_method(method).extract(store.document(page_id))
    return [
        Label(bool(kept), "comment" if label == "comment" else kind_by_markup(kind))
        for kept, label, kind in zip(extraction.kept, extraction.labels, extraction.kinds, strict=True)
    ]


def agreement(database: str, page_id: int | None = None, without: frozenset[int] = frozenset()) -> AgreementReport:
    """How well annotators agree, on one page or on all but some.

    Raises:
        AnnotationError: there is no such page.
        MissingExtra: rapidfuzz is not installed.
    """
    with Store(database, create=False) as store:
        return store.agreement(page_id, without=without)
