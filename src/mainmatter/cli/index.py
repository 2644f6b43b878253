"""`mainmatter index`: a cleaned collection, made searchable."""

from __future__ import annotations

from pathlib import Path

import click

from mainmatter.cli import options
from mainmatter.cli.printing import progress
from mainmatter.corpus.search import STEMMERS, Corpus, build_index
from mainmatter.limits import format_size


@click.command(name="index")
@click.argument("inputs", nargs=-1, required=True, metavar="OUT...")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="INDEX",
    help="The folder for the index; an older index there is replaced.",
)
@click.option(
    "--stem",
    type=options.OneOf(list(STEMMERS)),
    help="Cut off the endings of words as in this language, so that laws finds law.",
)
@click.option("--unfinished", is_flag=True, help="Index what is there of a corpus that is not finished.")
def command(inputs: tuple[str, ...], output: Path, stem: str | None, unfinished: bool) -> None:
    """Make a cleaned collection searchable.

    OUT is the folder that `mainmatter corpus` wrote, or a part of it: Parquet or JSONL with a text and, where there are
    such, id, url and title. A corpus whose run was interrupted, or is under way, is refused. Needs the extra search.
    """
    corpus = Corpus.find(inputs, unfinished=unfinished)
    with progress("indexing", corpus.count()) as advance:
        summary = build_index(corpus, output, stem=stem, advance=advance)
    empty = f", {summary.empty:,} without text left out" if summary.empty else ""
    documents = f"{summary.documents:,} document{'s' * (summary.documents != 1)}"
    click.echo(f"{documents} indexed{empty}, {format_size(summary.size)}, written to {output}")
