"""Measure methods that learn on the sets that they learn from, by cross-validation: no site is on both sides.

python scripts/cross_validate.py fiasco ice-lm ice-tree --folds 3 --data ../shared/data
python scripts/cross_validate.py main --data ../shared/data --save folds -o before.json
python scripts/cross_validate.py main --data ../shared/data --models folds -o after.json --beside before.json

Models of folds may be trained elsewhere, by the split of `mainmatter.lab.training.folds`: --models names the folder
that has them as 0, 1, 2, ... Sets for tests only are not read.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from mainmatter.api import read
from mainmatter.errors import MainmatterError
from mainmatter.isolation.parallel import Failure, ordered_map
from mainmatter.lab.datasets import DATASETS
from mainmatter.lab.evaluation import compare, format_table
from mainmatter.lab.metrics import Output, find_metric
from mainmatter.lab.metrics.bag import Counts
from mainmatter.lab.training.examples import make_example
from mainmatter.lab.training.folds import load_fold_pages, load_folds, train_folds
from mainmatter.method import OUR_CONVENTION
from mainmatter.records import HEADLINE, LABELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mainmatter.lab.training.folds import FoldPage
    from mainmatter.method import Trainable

METRICS = ("bag", "snippet")
WAYS = ("own", "house")  # by the convention of the page's set, and by ours
BINS = (0.0, 0.6, 0.8, 0.9, 0.95, 1.0)  # of the confidence
FEW_PAGES = 10  # languages with fewer are shown together

PageResult = dict[str, Any]


@click.command()
@click.argument("methods", nargs=-1, required=True)
@click.option("--data", type=click.Path(path_type=Path), required=True, help="The folder of the gold standards.")
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True)
@click.option("--models", type=click.Path(path_type=Path), help="Take the trained models of the folds from here.")
@click.option("--save", type=click.Path(path_type=Path), help="Keep the models of the folds here.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write all figures as JSON.")
@click.option("--beside", type=click.Path(path_type=Path, exists=True), help="Show the figures of this file, too.")
@click.option("--workers", type=click.IntRange(1, 2), default=2, show_default=True)
def main(
    methods: tuple[str, ...],
    data: Path,
    folds: int,
    models: Path | None,
    save: Path | None,
    output: Path | None,
    beside: Path | None,
    workers: int,
) -> None:
    """Train on most of the sites of all sets together, measure on the rest, until each page was measured once.

    Figures are by the convention of the page's own set, and by ours ("house").
    """
    if len(methods) > 1 and (models or save):
        raise click.UsageError("--models and --save are for one method")
    before = {} if beside is None else json.loads(beside.read_text("utf-8"))
    found = {}
    try:
        pages = load_fold_pages(data, folds)
        for method in methods:
            trained = load_folds(models, folds) if models else train_folds(method, pages, workers=workers, report=tell)
            results: list[PageResult] = []
            for fold, model in enumerate(trained):
                if save is not None:
                    model.save(save / str(fold))
                results += measure_fold(model, [page for page in pages if page.fold == fold], workers)
                tell(f"{method}: fold {fold} measured")
            found[method] = summarise(results) | {"pages": results}
            show(method, found[method], before.get(method, {}))
    except MainmatterError as error:
        raise click.ClickException(str(error)) from error
    if output is not None:
        output.write_text(json.dumps(found, indent=1), "utf-8")


def tell(line: str) -> None:
    """Say how far it has come."""
    click.echo(line, err=True)


def measure_fold(model: Trainable[Any], pages: Sequence[FoldPage], workers: int) -> list[PageResult]:
    """What a model does with the pages that it has not learned from; a page on which it fails counts as empty."""
    conventions = (*dict.fromkeys(page.gold.convention for page in pages), OUR_CONVENTION)
    runners = {convention: model.by_convention(convention) for convention in conventions}
    results = []
    for page, found in zip(pages, ordered_map(partial(measure, runners), pages, workers), strict=True):
        facts = {"set": page.dataset, "id": page.gold.page.id, "fold": page.fold, "groups": page.gold.groups}
        if isinstance(found, Failure):
            tell(f"{page.dataset}: {page.gold.page.id}: {found.error}")
            empty = {"scores": compare(Output(""), page.gold, METRICS), "confidence": None}
            facts |= dict.fromkeys(WAYS, empty) | {"page_type": None, "labels": {}, "kept": {}}
        else:
            facts |= found
        results.append(facts)
    return results


def measure(runners: dict[str, Trainable[Any]], page: FoldPage) -> PageResult:
    """The figures of a page both ways, the type that it is taken for, and of each label how many blocks are right.

    Also how many blocks with each label the gold text keeps, which shows the convention of its set.
    """
    gold = page.gold
    example = make_example(gold) if gold.gold.text is not None else None
    document = read(gold.page) if example is None else example.document
    found = {
        way: runners[convention].extract(document)
        for way, convention in zip(WAYS, (gold.convention, OUR_CONVENTION), strict=True)
    }
    result: PageResult = {
        way: {"scores": compare(Output(one.text), gold, METRICS), "confidence": one.confidence}
        for way, one in found.items()
    }
    labels, kept, ours = {}, {}, found["house"].found_labels
    if example is not None and ours is not None:
        kept = {
            LABELS[label]: [int((example.kept & (ours == label)).sum()), int((ours == label).sum())]
            for label in range(HEADLINE, len(LABELS))
        }
    if example is not None and example.labels is not None and gold.gold.byline is not None and ours is not None:
        is_known = example.labels >= 0
        theirs, ours = example.labels[is_known], ours[is_known]
        labels = {
            LABELS[label]: [
                int(each.sum()) for each in ((theirs == label) & (ours == label), ours == label, theirs == label)
            ]
            for label in range(HEADLINE, len(LABELS))
        }
    return result | {"page_type": found["house"].page_type, "labels": labels, "kept": kept}


def summarise(results: Sequence[PageResult]) -> dict[str, Any]:
    """From the figures of pages to those of sets, page types, languages, labels, and bins of the confidence."""
    with_types = [result for result in results if result["page_type"] and "page_type" in result["groups"]]
    texts = [result for result in results if result["own"]["scores"]["bag"]]
    return {
        "sets": _by(results, lambda result: result["set"]),
        "page_types": _by(results, lambda result: _group(result, "page_type")),
        "page_types_of_all_sets": _by(texts, lambda result: result["groups"].get("page_type")),
        "languages": _by(_with_common_languages(results), lambda result: _group(result, "lang")),
        "page_type_is_right": {
            "pages": len(with_types),
            "share": _mean(result["page_type"] == result["groups"]["page_type"] for result in with_types),
        },
        "labels": {
            dataset: _labels(result for result in results if result["set"] == dataset)
            for dataset in dict.fromkeys(result["set"] for result in results if result["labels"])
        },
        "kept": _kept(results),
        "confidence": {
            "all sets, each by its own convention": _confidence(texts),
            "sets by our guide": _confidence(
                result for result in texts if DATASETS[result["set"]].convention == OUR_CONVENTION
            ),
        },
    }


def _group(result: PageResult, group: str) -> str | None:
    return f"{result['set']}: {result['groups'][group]}" if group in result["groups"] else None


def _with_common_languages(results: Sequence[PageResult]) -> list[PageResult]:
    counts: dict[str | None, int] = defaultdict(int)
    for result in results:
        counts[_group(result, "lang")] += 1
    return [
        result | {"groups": {"lang": "others"}} if 0 < counts[_group(result, "lang")] < FEW_PAGES else result
        for result in results
        if "lang" in result["groups"]
    ]


def _by(results: Iterable[PageResult], key: Callable[[PageResult], str | None]) -> dict[str, dict[str, float]]:
    """The figures of each group of pages, both ways."""
    groups: dict[str, list[PageResult]] = defaultdict(list)
    for result in results:
        name = key(result)
        if name is not None:
            groups[name].append(result)
    found = {}
    for name, group in groups.items():
        found[name] = {"pages": len(group)}
        for metric, way in itertools.product(METRICS, WAYS):
            scores = find_metric(metric).aggregate([result[way]["scores"][metric] for result in group])
            found[name] |= {
                f"{metric} {column} {way}": scores[column]
                for column in ("precision", "recall", "f1")
                if column in scores
            }
    return found


def _labels(results: Iterable[PageResult]) -> dict[str, dict[str, float]]:
    """Precision, recall and F1 of each label, over the blocks of all pages."""
    pooled: dict[str, Counts] = defaultdict(lambda: Counts(0, 0, 0))
    for result in results:
        for label, (matched, found, gold) in result["labels"].items():
            pooled[label] += Counts(matched, found, gold)
    return {
        label: {
            "blocks": counts.gold,
            "precision": counts.score.precision,
            "recall": counts.score.recall,
            "f1": counts.score.f1,
        }
        for label, counts in pooled.items()
    }


def _kept(results: Iterable[PageResult]) -> dict[str, dict[str, float]]:
    """For each set and label, the share of the blocks found that the gold text keeps."""
    pooled: dict[str, Counts] = defaultdict(lambda: Counts(0, 0, 0))
    for result in results:
        for label, (kept, found) in result["kept"].items():
            pooled[f"{result['set']}: {label}"] += Counts(kept, found, found)
    return {
        name: {"blocks": counts.extracted, "kept": counts.score.precision}
        for name, counts in pooled.items()
        if counts.extracted
    }


def _confidence(results: Iterable[PageResult]) -> dict[str, dict[str, float]]:
    """For each bin of the confidence, how many pages, what they promised and what they reached."""
    known = [
        (result["own"]["confidence"], result["own"]["scores"]["bag"]["f1"])
        for result in results
        if result["own"]["confidence"] is not None
    ]
    found = {}
    for low, high in itertools.pairwise(BINS):
        inside = [(promised, reached) for promised, reached in known if low < promised <= high]
        if inside:
            promised, reached = np.mean(inside, axis=0).tolist()
            found[f"{low:g}-{high:g}"] = {"pages": len(inside), "promised": promised, "reached": reached}
    return found


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def show(method: str, found: dict[str, Any], before: dict[str, Any]) -> None:
    """Print the tables, with the figures of an earlier run if there are some."""
    columns = [f"{metric} f1 {way}" for metric, way in itertools.product(METRICS, WAYS)]
    for name in ("sets", "page_types", "page_types_of_all_sets", "languages"):
        _show_table(f"{method}: {name.replace('_', ' ')}", found[name], columns, before.get(name, {}))
    for dataset, labels in found["labels"].items():
        earlier = before.get("labels", {}).get(dataset, {})
        _show_table(f"{method}: labels, {dataset}", labels, ["precision", "recall", "f1"], earlier, "blocks")
    _show_table(
        f"{method}: blocks that gold texts keep, by what they are",
        found["kept"],
        ["kept"],
        before.get("kept", {}),
        "blocks",
    )
    for which, bins in found["confidence"].items():
        earlier = before.get("confidence", {}).get(which, {})
        _show_table(f"{method}: confidence, {which}", bins, ["promised", "reached"], earlier)
    earlier = {"all": before["page_type_is_right"]} if before else {}
    _show_table(f"{method}: page type is right", {"all": found["page_type_is_right"]}, ["share"], earlier)


def _show_table(
    title: str,
    found: dict[str, dict[str, float]],
    columns: Sequence[str],
    before: dict[str, dict[str, float]],
    count: str = "pages",
) -> None:
    columns = [column for column in columns if any(column in figures for figures in found.values())]
    rows = [["", count, *(title for column in columns for title in ((column, "before") if before else (column,)))]]
    for name, figures in found.items():
        row = [name, f"{figures[count]:.0f}"]
        for column in columns:
            row.append(_figure(figures, column))
            row += [_figure(before.get(name, {}), column)] if before else []
        rows.append(row)
    if len(rows) > 1:
        click.echo(f"\n{title}\n\n{format_table(rows)}")


def _figure(figures: dict[str, float], column: str) -> str:
    return f"{figures[column]:.3f}" if column in figures else "-"


if __name__ == "__main__":
    main()
