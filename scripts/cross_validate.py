"""Measure methods that learn on the sets that they learn from, by cross-validation: no site is on both sides.

python scripts/cross_validate.py fiasco ice-lm ice-tree --data ../shared/data
python scripts/cross_validate.py main --folds 5 --data ../shared/data
"""

from __future__ import annotations

from pathlib import Path

import click

from mainmatter.isolation.parallel import default_workers
from mainmatter.lab.datasets import load_dataset
from mainmatter.lab.metrics import find_metric
from mainmatter.lab.training.train import cross_validate, observe_pages
from mainmatter.registry import make_untrained

SETS = ("cleaneval-dev", "readability", "trafilatura-eval-a", "wcxb-dev")
METRICS = ("bag", "snippet")


@click.command()
@click.argument("methods", nargs=-1, required=True)
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--folds", default=3, show_default=True)
def main(methods: tuple[str, ...], data: Path, folds: int) -> None:
    """Train on most of the sites of all sets together, measure on the rest, until each page was measured once.

    A method that cannot learn from snippets learns, and is measured, without the set that has nothing else.
    """
    pages = [(name, page) for name in SETS for page in load_dataset(name, data)]
    groups = {id(page): [name, f"  {page.groups.get('page_type')}"] for name, page in pages}
    for method in methods:
        observed = observe_pages(make_untrained(method), [page for _, page in pages], workers=default_workers())
        found = cross_validate(
            method,
            observed,
            METRICS,
            folds=folds,
            workers=default_workers(),
            report=lambda line: click.echo(line, err=True),
        )
        for group in sorted({group for both in groups.values() for group in both if group != "  None"}, key=str.strip):
            rows = [
                row for page, (_, row) in zip(observed.pages, found.pages, strict=True) if group in groups[id(page)]
            ]
            for metric in METRICS:
                scores = find_metric(metric).aggregate([row[metric] for row in rows])
                if scores["pages"]:
                    click.echo(f"{method:12} {group:18} {scores['pages']:5.0f} pages, {metric} f1 {scores['f1']:.3f}")


if __name__ == "__main__":
    main()
