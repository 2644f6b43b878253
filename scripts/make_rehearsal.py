"""Make the pages for rehearsal that ship with `main`, from the gold standards that it was trained on.

OPENBLAS_NUM_THREADS=1 python scripts/make_rehearsal.py --data ../shared/data
"""

from __future__ import annotations

from pathlib import Path

import click

from mainmatter.lab.datasets import load_dataset
from mainmatter.lab.training.train import observe_pages
from mainmatter.limits import format_size
from mainmatter.main.method import Main
from mainmatter.main.rehearsal import REHEARSAL, choose_pages, save_rehearsal
from mainmatter.models.store import SHIPPED, load


@click.command()
@click.option("--data", type=click.Path(path_type=Path), required=True)
def main(data: Path) -> None:
    """Choose pages, and write what `main` saw of them."""
    method = Main().load_shipped()
    names = [each["name"] for each in load(SHIPPED / method.name).card["data"]]
    pages = [page for name in names for page in load_dataset(name, data)]
    chosen = choose_pages(observe_pages(method, pages).observations)
    size = save_rehearsal(chosen, method.vocabulary_, SHIPPED / method.name / REHEARSAL)
    click.echo(f"{len(chosen)} pages, {format_size(size)}")


if __name__ == "__main__":
    main()
