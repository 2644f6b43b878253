"""Measure methods that learn on the sets that they learn from, by cross-validation: no site is on both sides.

python scripts/cross_validate.py fiasco ice-lm ice-tree --data ../shared/data
"""

from __future__ import annotations

from pathlib import Path

import click

from mainmatter.datasets import load_dataset
from mainmatter.metrics import find_metric
from mainmatter.parallel import default_workers
from mainmatter.registry import make_untrained
from mainmatter.training.fit import cross_validate, observe_pages

SETS = ("cleaneval-dev", "readability", "wcxb-dev")
METRIC = "bag"


@click.command()
@click.argument("methods", nargs=-1, required=True)
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--folds", default=3, show_default=True)
def main(methods: tuple[str, ...], data: Path, folds: int) -> None:
    """Train on two thirds of the sites of all sets together, measure on the rest, three times over."""
    pages = [(name, page) for name in SETS for page in load_dataset(name, data)]
    groups = {id(page): [name, f"  {page.groups.get('page_type')}"] for name, page in pages}
    for method in methods:
        observed = observe_pages(make_untrained(method), [page for _, page in pages], workers=default_workers())
        found = cross_validate(method, observed, [METRIC], folds=folds, workers=default_workers())
        for group in sorted({group for both in groups.values() for group in both if group != "  None"}, key=str.strip):
            rows = [
                row[METRIC]
                for page, (_, row) in zip(observed.pages, found.pages, strict=True)
                if group in groups[id(page)]
            ]
            scores = find_metric(METRIC).aggregate(rows)
            click.echo(f"{method:12} {group:16} {scores['pages']:5.0f} pages, {METRIC} f1 {scores['f1']:.3f}")


if __name__ == "__main__":
    main()
