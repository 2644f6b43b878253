"""How good methods are on texts as WET archives hold them: the text of each block of a page on a line of its own.

python scripts/wet_methods.py --data ../shared/data

Prints precision, recall and F1 of bags of words, means over the pages of wcxb-dev. What `main` does with dumps was
chosen on 400 of its pages; those, and all others of their sites, are left out.
"""

from __future__ import annotations

import random
from pathlib import Path

import click
import numpy as np
from mainmatter.inputs.paths.sites import site_of_url

from mainmatter.clean import read
from mainmatter.lab.datasets.gold import load_dataset
from mainmatter.lab.metrics.bag import bag_of_words
from mainmatter.records import Page
from mainmatter.registry import get_method

CHOSEN_ON = 400  # pages, the first after shuffling
SEED = 5
METHODS = ("ice-baseline", "main", "ncleaner", "ice-heuristic", "ice-elaborate", "density")


@click.command()
@click.option("--data", required=True, type=click.Path(exists=True, path_type=Path), help="The gold standards.")
def command(data: Path) -> None:
    """Measure all methods on dumps, and `main` on the pages themselves."""
    pages = [page for page in load_dataset("wcxb-dev", data) if page.gold.text is not None]
    random.Random(SEED).shuffle(pages)  # noqa: S311 - no secret
    known = {site_of_url(page.page.url) for page in pages[:CHOSEN_ON]}
    scores: dict[str, list[tuple[float, float, float]]] = {}
    for page in pages:
        if site_of_url(page.page.url) in known:
            continue
        document = read(page.page)
        lines = [" ".join(line.split()) for text in document.texts for line in text.splitlines() if line.strip()]
        dump = read(Page("\n".join(lines), page.page.url, format="text", lines_are_blocks=True))
        for name, one in [*((name, dump) for name in METHODS), ("main on the HTML", document)]:
            text = get_method(name.split()[0]).extract(one).text
            score = bag_of_words(text, page.gold.text or "")
            scores.setdefault(name, []).append((score.precision, score.recall, score.f1))
    click.echo(f"{'method':18} precision  recall    F1   ({len(scores['main'])} pages)")
    for name, values in scores.items():
        precision, recall, f1 = np.mean(values, axis=0)
        click.echo(f"{name:18} {precision:9.3f} {recall:7.3f} {f1:5.3f}")


if __name__ == "__main__":
    command()
