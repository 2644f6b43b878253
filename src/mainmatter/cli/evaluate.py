"""`mainmatter evaluate`: methods x datasets x metrics."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from mainmatter.cli import options
from mainmatter.cli.printing import harmless, progress
from mainmatter.cli.report_file import check_place, write_report
from mainmatter.files import write_whole
from mainmatter.lab.datasets import DATASETS, load_dataset
from mainmatter.lab.evaluation import (
    Evaluation,
    MethodByConvention,
    check_names,
    evaluate,
    spell_conventions,
    to_json,
    to_table,
)
from mainmatter.lab.metrics import METRICS, find_metric
from mainmatter.lab.reports.evaluation import report_of
from mainmatter.lab.reports.study import Study, characters_each, shown_name, study
from mainmatter.registry import split_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.lab.datasets import GoldPage


@click.command(name="evaluate")
@click.argument("methods", nargs=-1, required=True, metavar="METHOD...", shell_complete=options.complete_methods)
@options.datasets
@options.data
@options.convention
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    type=options.OneOf(sorted(METRICS)),
    default=("bag",),
    show_default=True,
    help="May be repeated; if there is only one, all its columns are shown.",
)
@click.option("--groups", is_flag=True, help="Show page types and languages separately.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write all figures as JSON.")
@click.option(
    "--report", metavar="FILE", help="Write an HTML report: figures, plots, worst and best pages with their diffs."
)
@options.workers
def command(
    methods: tuple[str, ...],
    datasets: tuple[str, ...],
    data: Path | None,
    convention: Literal["own", "house", "both"],
    metrics: tuple[str, ...],
    groups: bool,
    output: Path | None,
    report: str | None,
    workers: int,
) -> None:
    """Measure methods on gold standards.

    METHOD is a method (see: mainmatter methods) or an installed peer, such as resiliparse or trafilatura. DATASET is
    the name of a dataset in the --data folder, a Parquet file, a folder with html/ and gold/, or CleanEval's own
    folder.
    """
    if output is not None and not output.parent.is_dir():  # complain before any work
        raise click.BadParameter(f"there is no folder {output.parent}", param_hint="--output")
    if report is not None:
        check_place(report)
    check_names(methods, metrics)
    chosen = spell_conventions(methods, convention)
    evaluations: list[Evaluation] = []
    studies: list[Study] = []
    characters = characters_each(len(chosen) * len(datasets))
    for dataset in datasets:
        pages = load_dataset(dataset, data)
        found = [_evaluate(method, dataset, pages, metrics, workers) for method in chosen]
        evaluations += found
        if report is not None:
            studies.append(study(dataset, pages, found, characters=characters))
        del pages  # before the next ones are read: datasets are large
    click.echo(to_table(evaluations, metrics, groups=groups))
    if output is not None:
        write_whole(output, to_json(evaluations).encode())
        click.echo(f"all figures: {output}", err=True)
    if report is not None:
        command_line = ["mainmatter", "evaluate", *chosen]
        command_line += [word for name in datasets for word in ("--on", name)]
        command_line += [word for name in metrics for word in ("--metric", name)]
        command_line += ["--data", str(data)] if data is not None else []
        write_report(report, report_of(studies, command=shlex.join(command_line)))
        click.echo(f"report: {report}", err=True)


def _evaluate(method: str, dataset: str, pages: Sequence[GoldPage], metrics: Sequence[str], workers: int) -> Evaluation:
    """Measure a method on a dataset, and say what went wrong."""
    label = f"{method} on {dataset}"
    for convention in MethodByConvention(method).unknown(pages):
        teachers = [name for name, known in DATASETS.items() if known.convention == convention and known.use != "tests"]
        click.echo(
            f"{label}: measured by our convention, since it has not learned that of {convention}. To learn it: "
            f"mainmatter train main:freeze=True,start={split_name(method)[0]} --on {(*teachers, 'DATASET')[0]} -o MODEL"
            "; then measure MODEL",
            err=True,
        )
    with progress(label, len(pages)) as advance:
        found = evaluate(method, dataset, pages, metrics, workers=workers, on_page=advance)
    for metric in metrics:
        if not found.scores[metric]["pages"]:
            needs = find_metric(metric).needs.replace("_", " ")
            click.echo(f"{metric}: nothing to measure, since {dataset} has no {needs} for any page", err=True)
    for page, error in found.failures:
        click.echo(harmless(f"{label}: {shown_name(page)}: {error}"), err=True)
    return found
