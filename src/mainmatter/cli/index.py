"""`mainmatter index`: a cleaned collection, made searchable."""

from __future__ import annotations

from pathlib import Path

import click

from mainmatter.cli import options
from mainmatter.cli.printing import progress
from mainmatter.corpus.folder import INDEX
from mainmatter.corpus.search import STEMMERS, Corpus, build_index
from mainmatter.limits import format_size


@click.command(name="index")
@click.argument("inputs", nargs=-1, required=True, metavar="OUT...", shell_complete=options.complete_files)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="INDEX",
    help="The folder for the index; an older index there is replaced.  [default: OUT/__index]",
)
@click.option(
    "--stem",
    type=options.OneOf(list(STEMMERS)),
    help="Cut off word endings by the rules of this language, so that laws finds law.",
)
@click.option("--unfinished", is_flag=True, help="Index the finished part of a corpus that is not complete.")
def command(inputs: tuple[str, ...], output: Path | None, stem: str | None, unfinished: bool) -> None:
    """Make a cleaned collection searchable.

    OUT is the folder that `mainmatter corpus` wrote, or a part of it: Parquet or JSONL with a text and, if present, id,
    url and title. A corpus whose run was interrupted, or is still in progress, is refused. Needs the extra search.

    By default, the index of a single corpus is stored in its folder, where `mainmatter search OUT` and the workbench
    find it.
    """
    if output is None:
        if len(inputs) > 1 or not Path(inputs[0]).is_dir():
            raise click.UsageError("name a folder for the index with -o, unless it is one of the folder of one corpus")
        output = Path(inputs[0], INDEX)
    corpus = Corpus.find(inputs, unfinished=unfinished)
    with progress("indexing", corpus.count()) as advance:
        summary = build_index(corpus, output, stem=stem, advance=advance)
    empty = f", {summary.empty:,} without text left out" if summary.empty else ""
    documents = f"{summary.documents:,} document{'s' * (summary.documents != 1)}"
    click.echo(f"{documents} indexed{empty}, {format_size(summary.size)}, written to {output}")
