"""The figures of docs/reference/limits-and-errors.md: pages that are refused, and those that were decoded wrongly.

python scripts/refused_pages.py --data ../shared/data
"""

from __future__ import annotations

import re
from functools import partial
from itertools import compress, product
from pathlib import Path
from random import Random
from statistics import mean
from time import perf_counter
from typing import TYPE_CHECKING

import click

from mainmatter import Page, clean
from mainmatter.errors import NotAPage
from mainmatter.html.parse import decode, decode_page
from mainmatter.html.sniff import SNIFFED, has_controls, readable_share, what_else
from mainmatter.lab.datasets import load_dataset
from mainmatter.lab.datasets.gold import DATASETS
from mainmatter.lab.evaluation import format_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ENCODINGS = "utf-16-le utf-16-be shift_jis gb18030 koi8-r cp1251 big5 euc-jp latin-1 cp1250".split()
CHARSETS = (None, "utf-8", "windows-1252")  # that servers declare
LOSS = 0.01  # of confidence, that counts
EACH = 3  # page that is encoded in other ways
LONGEST = 200_000  # characters of those
RANDOM_STRINGS = 1000
TAG = re.compile("<[^>]*>")
TRIES = 5


@click.command()
@click.option("--data", type=click.Path(path_type=Path, exists=True), required=True)
def main(data: Path) -> None:
    """Refuse no page of the sets that are not for tests only, as it is and in other encodings, but all random bytes."""
    rows = [["set", "pages", "refused", "variants", "refused", f"lose {LOSS}"]]
    sniffing: list[float] = []
    judging: list[float] = []
    for name in [dataset.name for dataset in DATASETS.values() if dataset.use != "tests"]:
        pages = [gold_page.page for gold_page in load_dataset(name, data)]
        losing = 0
        for page in pages:
            found = clean(page)
            texts, kept = found.document.texts, found.kept.tolist()
            losing += _judge(texts, kept) < 1 - LOSS
            html = page.html
            if isinstance(html, bytes):
                sniffing.append(_seconds(partial(_sniff, html)))
            judging.append(_seconds(partial(_judge, texts, kept)))
        others = [_refused(_variants(page)) for page in pages[::EACH]]
        variants = len(others) * 2 * len(ENCODINGS) * len(CHARSETS)
        counts = [len(pages), _refused(pages), variants, sum(others), losing]
        rows.append([name, *map(str, counts)])
    click.echo(format_table(rows))
    rng = Random(14)  # noqa: S311 - for no secret
    noise = [Page(rng.randbytes(int(64 * 1500 ** rng.random()))) for _ in range(RANDOM_STRINGS)]
    click.echo(f"{_refused(noise)} of {len(noise):,} random byte strings are refused")
    click.echo(f"{1000 * mean(sniffing):.4f} ms a page to look at its bytes, {1000 * mean(judging):.4f} ms at its text")


def _variants(page: Page) -> list[Page]:
    """A page, and its text alone, in other encodings, which some servers declare wrongly."""
    html = page.html if isinstance(page.html, str) else decode(page.html, page.charset)[0]
    html = html[:LONGEST]
    text = " ".join(TAG.sub(" ", html).split())
    return [
        Page(content.encode(encoding, "replace"), charset=charset, format="text" if content is text else "html")
        for content, encoding, charset in product((html, text), ENCODINGS, CHARSETS)
    ]


def _refused(pages: list[Page]) -> int:
    count = 0
    for page in pages:
        try:
            decode_page(page)
        except NotAPage:
            count += 1
    return count


def _sniff(html: bytes) -> bool:
    return what_else(html[:SNIFFED], is_text=True) is not None or has_controls(html)


def _judge(texts: Sequence[str], kept: Sequence[bool]) -> float:
    return readable_share(compress(texts, kept))


def _seconds(work: Callable[[], object]) -> float:
    least = float("inf")
    for _ in range(TRIES):
        begin = perf_counter()
        work()
        least = min(least, perf_counter() - begin)
    return least


if __name__ == "__main__":
    main()
