"""From annotations to a gold standard, to export or to teach: which pages, whose labels, and the resulting text.

The formats that `mainmatter train` and `mainmatter evaluate` read, with all labels:

a folder    html/NAME.html (NAME.txt for a plain-text dump), gold/NAME.txt in CleanEval's markup after a line with the
            URL, and index.json with what else is known: page_type, lang, lines_are_blocks, annotator, and the label of
            each block, with what suggested it if the annotator only accepted it
Parquet     the same as columns: id, url, html, gold, gold_marked, lang, page_type, charset, format,
            lines_are_blocks, annotator, labels
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from mainmatter.errors import InputError, MissingExtra
from mainmatter.files import put_folder, write_whole
from mainmatter.lab.datasets import load_dataset
from mainmatter.lab.datasets.gold import GoldPage
from mainmatter.lab.training.teach import LESSONS, need_enough
from mainmatter.records import Gold
from mainmatter.workbench.labels.agreement import by_block, find_agreed
from mainmatter.workbench.labels.database import database_path, is_database
from mainmatter.workbench.labels.records import BEST, MERGED, AnnotationError, agree
from mainmatter.workbench.labels.store import Store, checked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mainmatter.lab.datasets.labels import Label
    from mainmatter.records import Page
    from mainmatter.workbench.labels.records import Labels, PageId, PageSummary

Readiness = Literal["merged", "agreed", "single", "conflict", "unfinished", "new"]
READY: tuple[Readiness, ...] = ("merged", "agreed", "single")
MODELS = "models"  # the folder of a workbench that holds its models
PARQUET = ".parquet"
_MARKERS = {"heading": "<h>", "list": "<l>"}
_LONGEST_NAME = 80  # bytes: file systems take 255, and an ending and a number are added
_MOST_TOLD = 5  # pages of which an error tells why they are not ready
_PAGES, _GOLDS, _INDEX = "html", "gold", "index.json"
_ROWS_IN_GROUP = 64


@dataclass(frozen=True, slots=True)
class Collected:
    """A page with its labels.

    Attributes:
        page_id: its number in the store.
        gold_page: the page with its exact labels; its id is its name, made unique.
        annotator: whose labels these are: "merged", an annotator's, or several names that agree.
        lost: how many labels could not be carried over to the current blocks.
        unlabelled: how many blocks have no label.
    """

    page_id: PageId
    gold_page: GoldPage
    annotator: str
    lost: int
    unlabelled: int

    @property
    def accepted(self) -> int:
        """How many labels were suggested and only accepted."""
        return sum(bool(label.suggested_by) for label in self.gold_page.labels or ())


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A page that is not part of the gold standard, and why."""

    page_id: PageId
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class GoldStandard:
    """The gold standard in a store.

    Attributes:
        pages: its pages.
        left_out: the others, with the reason.
    """

    pages: tuple[Collected, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def lost(self) -> int:
        """How many labels could not be carried over."""
        return sum(page.lost for page in self.pages)


def collect(store: Store, annotator: str = BEST, *, unfinished: bool = False) -> GoldStandard:
    """Collect the pages with their labels.

    Args:
        store: the annotations.
        annotator: whose labels; "merged"; or "best": the merged labels, else what all who are done with a page agree
            on, else those of the only annotator.
        unfinished: also take pages that nobody has finished; blocks in conflict count as unlabelled.

    Raises:
        AnnotationError: nobody of that name labelled anything.
    """
    known = [BEST, MERGED, *store.annotators()]
    if annotator not in known:
        raise AnnotationError(f"{store.path}: nobody called {annotator!r} labelled a page; known: {', '.join(known)}")
    summaries = store.pages()
    names = unique_names([summary.name for summary in summaries])
    pages: list[Collected] = []
    left_out: list[LeftOut] = []
    for summary, name in zip(summaries, names, strict=True):
        said = store.all_labels(summary.id) if summary.labelled else {}
        chosen = _choose(checked(summary, said), said, annotator, unfinished=unfinished)
        if isinstance(chosen, str):
            left_out.append(LeftOut(summary.id, summary.name, chosen))
        else:
            whose, labels = chosen
            lost = sum(len(each.lost) for who, each in said.items() if who in whose)
            pages.append(_collected(store, summary, name, " and ".join(whose), labels, lost))
    return GoldStandard(tuple(pages), tuple(left_out))


def _choose(
    summary: PageSummary, said: Mapping[str, Labels], annotator: str, *, unfinished: bool
) -> tuple[list[str], dict[str, Label]] | str:
    """Whose labels are the gold standard of a page, and which; or why there are none."""
    if annotator != BEST:
        return _labels_of(summary, said, annotator, unfinished=unfinished)
    if summary.status == "merged":
        return [MERGED], said[MERGED].by_ref if MERGED in said else {}
    done = [name for name in summary.done if name != MERGED]
    those = done or (sorted(set(said) - {MERGED}) if unfinished else [])
    if not those:
        return "nobody labelled it" if not said else "nobody has finished it"
    merged = said[MERGED].by_ref if MERGED in said else {}
    labels_of = by_block(said, those)
    open_conflicts = sum(not agree(labels.values()) and ref not in merged for ref, labels in labels_of.items())
    if open_conflicts and not unfinished:
        blocks = f"{open_conflicts:,} block" + "s" * (open_conflicts != 1)
        return f"{' and '.join(those)} disagree on {blocks}, which nobody has merged"
    return ([*those, MERGED] if merged else those), find_agreed(said, those) | merged


def _labels_of(
    summary: PageSummary, said: Mapping[str, Labels], annotator: str, *, unfinished: bool
) -> tuple[list[str], dict[str, Label]] | str:
    is_finished = annotator in summary.done or (annotator == MERGED and summary.status == "merged")
    if not is_finished and annotator not in said:
        return f"{annotator} did not label it" if annotator != MERGED else "nobody merged it"
    if not is_finished and not unfinished:
        return f"{annotator} is not done with it" if annotator != MERGED else "not all of it is merged"
    return [annotator], said[annotator].by_ref if annotator in said else {}


def _collected(
    store: Store, summary: PageSummary, name: str, whose: str, labels: Mapping[str, Label], lost: int
) -> Collected:
    page = store.page(summary.id)
    blocks = store.blocks(summary.id)
    said = tuple(replace(labels[each.ref], ref=each.ref, text=each.block.text) for each in blocks if each.ref in labels)
    marked = gold_text(said)
    text = "\n".join(line[len("<p>") :] for line in marked.splitlines())  # as lab/datasets/gold.py takes markers off
    groups = {"page_type": summary.page_type, "lang": summary.lang}
    gold_page = GoldPage(
        replace(page, id=name),
        Gold(text=text, marked=marked),
        {group: value for group, value in groups.items() if value},
        said,
    )
    return Collected(summary.id, gold_page, whose, lost, len(blocks) - len(said))


def gold_text(labels: Sequence[Label]) -> str:
    """The kept blocks in CleanEval's markup, one a line, each after `<h>`, `<p>` or `<l>`; it knows no comments."""
    return "\n".join(
        f"{_MARKERS.get(label.kind, '<p>')} {' '.join(label.text.split())}" for label in labels if label.kept
    )


def unique_names(names: Sequence[str]) -> list[str]:
    """Unique names for files: the last part of a path or URL, without characters that file systems refuse."""
    short = [_file_name(name) for name in names]
    count = Counter(name.lower() for name in short)  # some file systems do not tell A from a
    seen: Counter[str] = Counter()
    unique = []
    for name in short:
        key = name.lower()
        seen[key] += 1
        while count[key] > 1 and count[f"{key}-{seen[key]}"]:  # that one is called so itself
            seen[key] += 1
        unique.append(f"{name}-{seen[key]}" if count[key] > 1 else name)
    return unique


def _file_name(name: str) -> str:
    last = name.rstrip("/").rpartition("/")[2]
    stem = re.sub(r"\.(x?html?|txt|text)$", "", last, flags=re.IGNORECASE)
    clean = re.sub(r"[^\w.-]+", "_", stem).strip("._")
    return clean.encode("utf-8", "ignore")[:_LONGEST_NAME].decode("utf-8", "ignore") or "page"


def export(pages: Sequence[Collected], target: Path) -> None:
    """Write a gold standard, whole or not at all; an earlier export there is replaced.

    Args:
        pages: the pages, as `collect` gives them.
        target: a file that ends in .parquet, or a folder.

    Raises:
        AnnotationError: there is no page, or the target contains something else.
        MissingExtra: Parquet needs pyarrow.
        OSError: it cannot be written.
    """
    if not pages:
        raise AnnotationError("no page to export; --all also exports pages that are not done or not merged")
    if target.suffix.lower() == PARQUET:
        write_whole(target, _to_parquet(pages))
    else:
        _write_folder(pages, target)


def may_be_written(target: Path) -> bool:
    """Whether a folder is free: it does not exist, is empty, or contains only an earlier export."""
    if target.suffix.lower() == PARQUET:
        return not target.is_dir()
    if not target.exists():
        return True
    return target.is_dir() and {path.name for path in target.iterdir()} in (set(), {_PAGES, _GOLDS, _INDEX})


def _write_folder(pages: Sequence[Collected], target: Path) -> None:
    if not may_be_written(target):
        raise AnnotationError(f"{target}: holds something other than an export; choose another folder")
    target = target.resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        for name in (_PAGES, _GOLDS):
            (draft / name).mkdir(parents=True)
        for page in pages:
            _write_page(page, draft)
        index = {page.gold_page.page.id: _facts(page) for page in pages}
        (draft / _INDEX).write_text(json.dumps(index, indent=1) + "\n", "utf-8")
        put_folder(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _write_page(collected: Collected, folder: Path) -> None:
    page, gold = collected.gold_page.page, collected.gold_page.gold
    ending = ".txt" if page.format == "text" else ".html"
    (folder / _PAGES / f"{page.id}{ending}").write_bytes(_bytes_of(page))
    first_line = f"URL: {page.url}\n" if page.url and not page.url.split()[1:] else ""
    (folder / _GOLDS / f"{page.id}.txt").write_bytes(f"{first_line}{gold.marked}".encode("utf-8", "replace"))


def _facts(collected: Collected) -> dict[str, Any]:
    """What the index says about a page."""
    page = collected.gold_page.page
    facts: dict[str, Any] = {
        "url": page.url,
        **collected.gold_page.groups,
        "charset": _charset_of(page),
        "format": page.format,
        "lines_are_blocks": page.lines_are_blocks,
        "annotator": collected.annotator,
    }
    return {name: value for name, value in facts.items() if value} | {"labels": _labels(collected)}


def _labels(collected: Collected) -> list[dict[str, Any]]:
    return [
        {"ref": label.ref, "text": _writable(label.text), "kept": label.kept, "kind": label.kind}
        | ({"suggested_by": label.suggested_by} if label.suggested_by else {})
        for label in collected.gold_page.labels or ()
    ]


def _to_parquet(pages: Sequence[Collected]) -> bytes:
    try:
        import pyarrow as arrow  # an extra
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "eval") from error
    text = arrow.string()
    label = arrow.struct(
        [("ref", text), ("text", text), ("kept", arrow.bool_()), ("kind", text), ("suggested_by", text)]
    )
    types = {"html": arrow.binary(), "lines_are_blocks": arrow.bool_(), "labels": arrow.list_(label)}
    rows = [_row(page) for page in pages]
    schema = arrow.schema([(name, types.get(name, text)) for name in rows[0]])
    file = BytesIO()
    table = arrow.Table.from_pylist(rows, schema=schema)
    parquet.write_table(table, file, row_group_size=_ROWS_IN_GROUP, compression="zstd")
    return file.getvalue()


def _row(collected: Collected) -> dict[str, Any]:
    page, gold, groups = collected.gold_page.page, collected.gold_page.gold, collected.gold_page.groups
    return {
        "id": page.id,
        "url": page.url,
        "html": _bytes_of(page),
        "gold": _writable(gold.text or ""),
        "gold_marked": _writable(gold.marked or ""),
        "lang": groups.get("lang"),
        "page_type": groups.get("page_type"),
        "charset": _charset_of(page),
        "format": page.format,
        "lines_are_blocks": page.lines_are_blocks,
        "annotator": collected.annotator,
        "labels": _labels(collected),
    }


def _bytes_of(page: Page) -> bytes:
    return page.html if isinstance(page.html, bytes) else page.html.encode("utf-8", "replace")


def _charset_of(page: Page) -> str | None:
    """The encoding of the bytes: what the server declared, or the one written here."""
    return page.charset if isinstance(page.html, bytes) else "utf-8"


def _writable(text: str) -> str:
    """The same without lone surrogates, which a page's scripts can contain and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()


@dataclass(frozen=True)
class TeachingPages:
    """Pages to teach with.

    Attributes:
        name: their name.
        pages: the pages.
        lessons: the file that lists all lessons of the workbench; None if they belong to none.
        left_out: pages of the workbench that are not ready, with the reason.
    """

    name: str
    pages: list[GoldPage]
    lessons: Path | None
    left_out: tuple[str, ...] = ()


def load_teaching_pages(name: str, data: str | Path | None = None) -> TeachingPages:
    """Read pages to teach with.

    Args:
        name: the folder of a workbench, a database of annotations, or the name or path of a gold standard.
        data: the folder of named gold standards.

    Raises:
        InputError: too few pages are labelled; the message says what is missing.
        UnknownName: it is none of these.
        DatasetError: the gold standard is damaged.
    """
    if not is_database(name):
        return TeachingPages(Path(name).name, load_dataset(name, data), None)
    database = database_path(name)
    with Store(database, create=False) as store:
        found = collect(store)
    pages = [page.gold_page for page in found.pages]
    reasons = [f"{each.name}: {each.reason}" for each in found.left_out]
    try:
        need_enough(len(pages), len(pages) + len(reasons))
    except InputError as error:
        told = "; ".join(reasons[:_MOST_TOLD]) + ("; ..." if len(reasons) > _MOST_TOLD else "")
        raise InputError(f"{name}: {error}{f' ({told})' if told else ''}") from error
    folder = database.resolve().parent
    return TeachingPages(folder.name or "annotations", pages, folder / MODELS / LESSONS, tuple(reasons))


def count_ready(store: Store) -> dict[Readiness, int]:
    """How many pages of a store are ready for teaching, and how many are not, by reason.

    "merged", "agreed" (by all who are done) and "single" (one is done) are ready; "conflict", "unfinished" (nobody is
    done) and "new" are not.
    """
    counts: dict[Readiness, int] = dict.fromkeys(get_args(Readiness), 0)
    for page in store.pages():
        counts[_readiness(page)] += 1
    return counts


def unlabelled_pages(store: Store) -> list[PageId]:
    """The pages that nobody has labelled."""
    return [page.id for page in store.pages() if _readiness(page) == "new"]


def _readiness(page: PageSummary) -> Readiness:
    if page.status == "merged":
        return "merged"
    done = len([name for name in page.done if name != MERGED])
    if not done:
        return "unfinished" if page.labelled else "new"
    if done == 1:
        return "single"
    return "conflict" if page.conflicts else "agreed"
