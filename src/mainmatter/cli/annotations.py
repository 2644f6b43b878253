"""`mainmatter annotations`: what people say of pages, in and out of its database."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from mainmatter.cli import options
from mainmatter.cli.printing import harmless
from mainmatter.corpus.storage import private_allowed
from mainmatter.lab.datasets import load_dataset
from mainmatter.workbench.labels.database import database_path, is_database
from mainmatter.workbench.labels.disagreement import DEFAULT_COUNT, DEFAULT_METHODS, disagreements
from mainmatter.workbench.labels.gold import collect, may_be_written
from mainmatter.workbench.labels.gold import export as write_export
from mainmatter.workbench.labels.importing import Addition, FoundPage, add_found, add_gold, read_inputs, read_rejected
from mainmatter.workbench.labels.records import BEST
from mainmatter.workbench.labels.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mainmatter.corpus.readers import FieldNames
    from mainmatter.workbench.labels.agreement import PairAgreement
    from mainmatter.workbench.labels.disagreement import Disagreement
    from mainmatter.workbench.labels.gold import GoldStandard
    from mainmatter.workbench.labels.records import PageSummary

Item = TypeVar("Item")
_database = click.argument("database", metavar="DB", shell_complete=options.complete_files)
_NAMES = 3  # of pages that are left out for the same reason, to show
_FIELDS = "--html-field, --url-field and --id-field"
_WIDE = 60  # characters of a block's text to show


@click.group(name="annotations")
def command() -> None:
    """Make gold standards: add pages, measure how well annotators agree, export.

    DB is the folder of a workbench (see: mainmatter serve --help), or the database file in it.
    """


@command.command(name="add")
@_database
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...", shell_complete=options.complete_files)
@click.option("--rejects", is_flag=True, help="INPUT is the folder of a corpus: add the pages that it rejected.")
@click.option("--reason", "reasons", multiple=True, metavar="WORD", help="Only rejects for this reason; repeatable.")
@click.option(
    "--gold", is_flag=True, help="INPUT is a gold standard: add its pages, and its labels as those of 'gold'."
)
@click.option("--labels/--no-labels", default=True, help="With --gold: also add its labels, or only the pages.")
@options.data
@options.fields
@options.allow_private
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="Stop after N new pages.")
@options.max_size
def add(
    database: str,
    inputs: tuple[str, ...],
    rejects: bool,
    reasons: tuple[str, ...],
    gold: bool,
    labels: bool,
    data: Path | None,
    html_field: str,
    url_field: str,
    id_field: str,
    allow_private: bool,
    count: int | None,
    max_size: float,
) -> None:
    """Add pages to annotate; DB is created if it does not exist.

    INPUT is a file, a folder, a URL, or an archive: WARC, WET, JSONL, Parquet, a list of URLs. A page that is there
    already is not added twice.
    """
    limits = options.to_limits(max_size)
    click.get_current_context().with_resource(private_allowed(allow_private))
    if rejects and gold:
        raise click.UsageError("--rejects and --gold cannot be given together")
    if reasons and not rejects:
        raise click.UsageError("--reason goes with --rejects")
    if not labels and not gold:
        raise click.UsageError("--no-labels goes with --gold")
    fields = _field_names(html_field, url_field, id_field)
    if any(fields) and (gold or rejects):
        raise click.UsageError(f"{_FIELDS} do not go with {'--gold' if gold else '--rejects'}")
    if gold:
        datasets = _begun((name, load_dataset(name, data)) for name in inputs)
        with Store(database) as store:
            additions = (
                each
                for name, pages in datasets
                for each in add_gold(store, pages, name, with_labels=labels, limits=limits)
            )
            _say_added(additions, store.path, count)
        return
    if rejects:
        found = _begun(
            page for name in inputs for page in read_rejected(name, reasons, limits, public_only=not allow_private)
        )
    else:
        found = _begun(read_inputs(inputs, limits, text_lists=True, fields=fields, public_only=not allow_private))
    with Store(database) as store:
        _say_added(add_found(store, found, limits), store.path, count)


def _field_names(html: str, url: str, id_: str) -> FieldNames:
    from mainmatter.corpus.readers import FieldNames  # few commands need it

    return FieldNames(html, url, id_)


def _begun(items: Iterator[Item]) -> Iterator[Item]:
    """The same items, the first of them read already: an input that does not exist is no reason to make a database."""
    first = list(islice(items, 1))
    return chain(first, items)


def _say_added(additions: Iterable[Addition], path: Path, most: int | None = None) -> None:
    """Add pages, at most so many new ones, and say what came of it."""
    new = known = failed = 0
    for each in additions:
        if each.problem:
            failed += 1
            click.echo(harmless(f"not added: {_one_line(each.name)}: {_one_line(each.problem)}"), err=True)
        new += each.is_new
        known += not each.is_new and not each.problem
        if new == most:
            break
    there = f", {known:,} had been there" if known else ""
    not_added = f", {failed:,} could not be added" if failed else ""
    click.echo(f"{_pages(new)} added to {path}{there}{not_added}")
    if not new and not known:
        click.get_current_context().exit(1)


@command.command(name="list")
@_database
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per page.")
def list_(database: str, as_json: bool) -> None:
    """List the pages, and how many of their blocks each annotator has labelled."""
    with Store(database, create=False) as store:
        summaries = store.pages(check=True)
    if as_json:
        for summary in summaries:
            click.echo(json.dumps(asdict(summary)))
        return
    if not summaries:
        click.echo("no page yet; add some: mainmatter annotations add DB INPUT...")
        return
    for summary in summaries:
        click.echo(harmless(_line(summary)))
    labelled = sum(bool(summary.labelled) for summary in summaries)
    merged = sum(summary.status == "merged" for summary in summaries)
    empty = sum(not summary.blocks for summary in summaries)
    nothing = f", {empty:,} with nothing to label" if empty else ""
    click.echo(f"{_pages(len(summaries))}, {labelled:,} labelled, {merged:,} merged{nothing}")
    lost = sum(summary.lost or 0 for summary in summaries)
    if lost:
        click.echo(_lost(lost))


def _line(summary: PageSummary) -> str:
    who = [f"{name} {count}{' (done)' * (name in summary.done)}" for name, count in summary.labelled.items()]
    who += [f"{name} 0 (done)" for name in summary.done if name not in summary.labelled]
    differ = f", {summary.conflicts} in conflict" if summary.conflicts else ""
    lost = f", {summary.lost} lost" if summary.lost else ""
    said = f": {', '.join(who)}" if who else ""
    name, blocks = _one_line(summary.name), _blocks(summary.blocks) if summary.blocks else "nothing to label"
    return f"{summary.id:>5}  {summary.status:8}  {name}  {blocks}{said}{differ}{lost}"


@command.command(name="export")
@_database
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="TARGET",
    help="A folder, or a file that ends in .parquet; an earlier export there is replaced.",
)
@click.option(
    "--annotator",
    default=BEST,
    show_default=True,
    metavar="NAME",
    help="Whose labels: an annotator's, merged, or best.",
)
@click.option("--all", "everything", is_flag=True, help="Also export pages that nobody has finished.")
def export(database: str, output: Path, annotator: str, everything: bool) -> None:
    """Export a gold standard that `mainmatter train` and `mainmatter evaluate` read, with the labels of all blocks.

    The best labels of a page are the merged ones, or else those on which all annotators who have finished it agree.
    Pages that nobody has finished, and pages with unmerged conflicts, are left out.
    """
    if not may_be_written(output):
        message = f"{output} holds something other than an export; choose another place"
        raise click.BadParameter(message, param_hint="--output")
    with Store(database, create=False) as store:
        collection = collect(store, annotator, unfinished=everything)
        _say_left_out(collection)
        write_export(collection.pages, output)
    unlabelled = sum(page.unlabelled for page in collection.pages)
    labels = sum(len(page.gold_page.labels or ()) for page in collection.pages)
    click.echo(f"{_pages(len(collection.pages))} with {labels:,} labels written to {output}")
    accepted = sum(page.accepted for page in collection.pages)
    if accepted:
        click.echo(f"suggested, and accepted without a look (suggested_by says by what): {accepted:,} of them")
    if unlabelled:
        click.echo(f"without a label, so not in the gold text: {_blocks(unlabelled)}")
    if collection.lost:
        click.echo(_lost(collection.lost))
    click.echo(f"use it: mainmatter evaluate main --on {shlex.quote(str(output))}")


def _say_left_out(collection: GoldStandard) -> None:
    by_reason: dict[str, list[str]] = {}
    for page in collection.left_out:
        by_reason.setdefault(page.reason, []).append(_one_line(page.name))
    for reason, names in by_reason.items():
        others = f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
        shown = harmless(f"{', '.join(names[:_NAMES])}{others}")
        click.echo(f"left out, {_pages(len(names))}: {harmless(reason)}: {shown}", err=True)


@command.command(name="agreement")
@_database
@click.option("--page", "page_id", type=int, metavar="N", help="Only for this page.")
@click.option("--pages", "each_page", is_flag=True, help="Also show each page.")
def agreement(database: str, page_id: int | None, each_page: bool) -> None:
    """Show how well annotators agree: in the text that they keep (FIASCO, section 5), and by Cohen's kappa."""
    with Store(database, create=False) as store:
        report = store.agreement(page_id)
    if not report.pairs:
        click.echo("no page has labels of two annotators yet")
        return
    if each_page:
        for page in report.pages:
            click.echo(harmless(f"{page.page_id:>5}  {_one_line(page.name)}"))
            for pair in page.pairs:
                click.echo(harmless(f"       {_figures(pair)}"))
    for pair in report.pairs:
        click.echo(harmless(_figures(pair)))
    click.echo(
        f"mean: text {_percent(report.text)}, keep or drop {_share(report.kept)} (kappa {_kappa(report.kept_kappa)}), "
        f"kinds {_share(report.kind)} (kappa {_kappa(report.kind_kappa)})"
    )
    if report.unfinished:
        click.echo(f"not finished by everyone: {_pages(report.unfinished)}; only blocks with two labels count there")
    if report.accepted:
        click.echo(
            f"left out: the blocks of {report.accepted:,} labels that were suggested, and accepted without a look"
        )
    if report.lost:
        click.echo(_lost(report.lost))


def _figures(pair: PairAgreement) -> str:
    return (
        f"{' and '.join(pair.annotators)}, {_pages(pair.pages)}, {_blocks(pair.blocks)}: text {_percent(pair.text)}, "
        f"keep or drop {_share(pair.kept)} (kappa {_kappa(pair.kept_kappa)}), "
        f"kinds {_share(pair.kind)} (kappa {_kappa(pair.kind_kappa)})"
    )


def _percent(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:.2f}%"


def _share(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:.1%}"


def _kappa(figure: float | None) -> str:
    return "not defined" if figure is None else f"{figure:.3f}"


@command.command(name="disagreements")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...", shell_complete=options.complete_files)
@click.option("--add", "database", metavar="DB", help="Add the pages to this database.")
@click.option("--count", type=click.IntRange(min=1), default=DEFAULT_COUNT, show_default=True, metavar="N")
@click.option(
    "-m",
    "--method",
    "methods",
    multiple=True,
    metavar="NAME[:PARAMETER=VALUE,...]",
    help=f"Compare these; at least two.  [default: {', '.join(DEFAULT_METHODS)}]",
)
@click.option("--blocks", type=click.IntRange(min=0), default=1, show_default=True, help="How many blocks to show.")
@options.fields
@options.allow_private
@options.max_size
@click.option(
    "--max-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=60,
    show_default=True,
    metavar="S",
    help="Give up on a page that takes longer.",
)
def disagree(
    inputs: tuple[str, ...],
    database: str | None,
    count: int,
    methods: tuple[str, ...],
    blocks: int,
    html_field: str,
    url_field: str,
    id_field: str,
    allow_private: bool,
    max_size: float,
    max_seconds: float,
) -> None:
    """Find the pages that methods disagree on most, which are the most useful ones to label.

    INPUT is as for `add`, or the database itself, whose pages without labels are compared.
    """
    limits = options.to_limits(max_size)
    click.get_current_context().with_resource(private_allowed(allow_private))
    seen, failed = 0, 0

    def tell(found: FoundPage) -> None:
        nonlocal seen, failed
        seen += 1
        if found.problem:
            failed += 1
            click.echo(harmless(f"not read: {_one_line(found.name)}: {_one_line(found.problem)}"), err=True)

    chosen = methods or DEFAULT_METHODS
    if len(inputs) > 1 and any(map(is_database, inputs)):
        raise click.UsageError("a database cannot be combined with other inputs; name it alone")
    fields = _field_names(html_field, url_field, id_field)
    if is_database(inputs[0]):
        if any(fields):
            raise click.UsageError(f"{_FIELDS} do not go with a database")
        with Store(inputs[0], create=False) as store:
            found = disagreements(store, chosen, count, limits=limits, seconds=max_seconds, on_page=tell)
    else:
        pages = read_inputs(inputs, limits, text_lists=True, fields=fields, public_only=not allow_private)
        found = disagreements(pages, chosen, count, limits=limits, seconds=max_seconds, on_page=tell)
    for one in found:
        for line in _contested(one, blocks):
            click.echo(harmless(line))
    if len(found) > 1:
        click.echo("the most contested first; of those with the same per cent, what is least sure comes first")
    not_read = f", {failed:,} could not be read" if failed else ""
    click.echo(f"{_pages(seen)} looked at{not_read}; {', '.join(chosen)} disagree on {'these' if found else 'none'}")
    if database is not None:
        with Store(database_path(database)) as store:
            _say_added(add_found(store, _with_notes(found), limits), store.path)


def _with_notes(found: Iterable[Disagreement]) -> Iterator[FoundPage]:
    for one in found:
        yield FoundPage(one.found.name, one.found.source, one.found.page, note=one.note)


def _contested(one: Disagreement, most: int) -> Iterator[str]:
    sure = "" if one.confidence is None else f", confidence {one.confidence:.2f}"
    yield f"{one.share:4.0%}  {_one_line(one.found.name)}  {_blocks(len(one.blocks))}{sure}"
    for block in one.blocks[:most]:
        text = " ".join(block.text.split())
        short = text if len(text) <= _WIDE else f"{text[: _WIDE - 1]}…"
        yield f"        kept by {', '.join(block.kept_by)}, dropped by {', '.join(block.dropped_by)}: {short!r}"
    for name, why in one.failed:
        yield f"        {name} failed: {why}"


def _pages(count: int) -> str:
    return f"{count:,} page{'s' * (count != 1)}"


def _blocks(count: int) -> str:
    return f"{count:,} block{'s' * (count != 1)}"


def _one_line(name: str) -> str:
    """A name, which of a file may hold anything, in a list with a line for each page."""
    return " ".join(name.split())


def _lost(count: int) -> str:
    return (
        f"{count:,} label{'s' * (count != 1)} could not be carried over: the pages were segmented otherwise when "
        "they were made; they do not count, and are not deleted"
    )
