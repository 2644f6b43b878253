"""`mainmatter search`: find documents in an index."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mainmatter.cli.printing import harmless
from mainmatter.corpus.search import Searcher

if TYPE_CHECKING:
    from mainmatter.corpus.search import Hit


@click.command(name="search")
@click.argument("index", type=click.Path(path_type=Path))
@click.argument("query", nargs=-1, required=True, metavar="QUERY...")
@click.option(
    "-n", "--limit", type=click.IntRange(1, 10_000), default=10, show_default=True, help="The maximum number of hits."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per line: rank, score, id, url, title, snippet."
)
def command(index: Path, query: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Search an INDEX for documents, best matches first (BM25).

    INDEX is a folder that `mainmatter index` wrote, or the folder of a corpus that contains its index.

    Any word of the QUERY may match. Put a phrase in "quotation marks", and in a shell put quotes around those. +word
    must occur, NOT word must not; title:word searches only titles. Needs the extra search.
    """
    found = Searcher(index).search(" ".join(query), limit)
    if as_json:
        for hit in found.hits:
            facts = {name: value for name, value in asdict(hit).items() if name not in ("row", "marks")}
            click.echo(json.dumps(facts, ensure_ascii=False))
        return
    for hit in found.hits:
        click.echo(_show(hit))
    documents = f"{found.total:,} document{'s' * (found.total != 1)}"
    shown = f", {len(found.hits)} shown" if found.total > len(found.hits) else ""
    click.echo(f"{documents} found{shown}", err=True)


def _show(hit: Hit) -> str:
    """A hit for people: two lines and a snippet."""
    title = click.style(harmless(_in_one_line(hit.title or hit.id or "untitled")), bold=True)
    lines = [f"{hit.rank:2}. {title}  ({hit.score:.2f})"]
    if hit.url:
        lines.append(f"    {click.style(harmless(_in_one_line(hit.url)), fg='green')}")
    lines.append(f"    {_emphasised(hit)}\n")
    return "\n".join(lines)


def _emphasised(hit: Hit) -> str:
    """The snippet, with the words of the query standing out."""
    pieces, done = [], 0
    for start, end in hit.marks:
        pieces += [harmless(hit.snippet[done:start]), click.style(harmless(hit.snippet[start:end]), fg="yellow")]
        done = end
    return "".join([*pieces, harmless(hit.snippet[done:])])


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
