"""Which labels are found again when pages are segmented otherwise?

The table of docs/how-to/annotating.md, "References".

python scripts/carry_labels.py --data ../shared/data

Each block of a page has a label, by its gold text. Then its HTML is changed, as a new segmenter could see it, and the
labels are carried over to the blocks of that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mainmatter.api import read
from mainmatter.lab.datasets import load_dataset, sample_by_site
from mainmatter.lab.datasets.labels import Label, Referred, carry_over, make_references, trace
from mainmatter.lab.evaluation import format_table
from mainmatter.lab.training.examples import make_example

if TYPE_CHECKING:
    from mainmatter.records import Document, Page


@dataclass(frozen=True)
class Change:
    """What is done to the HTML of a page: a pattern, and what comes in its place."""

    what: str
    pattern: bytes
    new: bytes

    def on(self, page: Page) -> Page:
        """The page with the change."""
        html = page.html if isinstance(page.html, bytes) else page.html.encode("utf-8", "replace")
        charset = page.charset if isinstance(page.html, bytes) else "utf-8"
        return replace(page, html=re.sub(self.pattern, self.new, html, flags=re.DOTALL), charset=charset)


CHANGES = (
    Change("list items are no blocks of their own", rb"<(/?)li\b", rb"<\1span"),
    Change("`<br>` does not end a line", rb"<br\s*/?>", b" "),
    Change("`<br>` begins a block", rb"<br\s*/?>", b"<p>"),
    Change("`<div>` does not begin a block", rb"<(/?)div\b", rb"<\1span"),
    Change("each sentence is a block", rb"\. ", b".</p><p>"),
    Change("`<nav>` is left out", rb"<nav\b.*?</nav>", b""),
)


@click.command()
@click.option("--data", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--on", "dataset", default="wcxb-dev", show_default=True)
@click.option("--pages", default=150, show_default=True)
def main(data: Path, dataset: str, pages: int) -> None:
    """Measure all changes."""
    examples = [make_example(page) for page in sample_by_site(load_dataset(dataset, data), pages)]
    labels = sum(len(example.document) for example in examples)
    click.echo(f"{len(examples)} pages of {dataset}, {labels:,} labels")
    rows = [["Change", "Labels lost", "Blocks with a label"]]
    for change in CHANGES:
        lost = carried = blocks = 0
        for example in examples:
            then, now = _refer(example.document), _refer(read(change.on(example.document.page)))
            said = {
                number: Label(bool(kept), "paragraph", ref, text)
                for number, (ref, text, kept) in enumerate(zip(then.refs, then.texts, example.kept, strict=True))
            }
            found = carry_over(said, trace(then, now))
            lost, carried, blocks = lost + len(found.lost), carried + len(found.labels), blocks + len(now.refs)
        rows.append([change.what, f"{lost:,} ({lost / labels:.2%})", f"{carried:,} of {blocks:,}"])
    click.echo(format_table(rows))


def _refer(document: Document) -> Referred:
    texts = document.columns.texts
    return Referred(make_references(texts), texts)


if __name__ == "__main__":
    main()
