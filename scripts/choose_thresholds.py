"""What other thresholds of `main` would give on pages of sites that its models have not learned from.

python scripts/choose_thresholds.py --models folds --data ../shared/data -o thresholds.json

The models are those of the folds that scripts/cross_validate.py saves. The net looks at each page once; what `main`
makes of that is then decided again for each threshold: how much recall counts beside precision (beta), by the type
that the page is taken for, and how likely a block must be a headline, byline, caption or comment to be taken for one.
Only sets that what ships may learn from are read.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import click
import numpy as np

import mainmatter.main.choice
import mainmatter.main.method
from mainmatter.errors import MainmatterError
from mainmatter.isolation.parallel import Failure, ordered_map
from mainmatter.lab.datasets import DATASETS
from mainmatter.lab.evaluation import format_table
from mainmatter.lab.metrics.bag import Counts, Score
from mainmatter.lab.training.examples import make_example
from mainmatter.lab.training.folds import load_fold_pages, load_folds
from mainmatter.main.method import Main
from mainmatter.method import OUR_CONVENTION
from mainmatter.records import HEADLINE, LABELS
from mainmatter.text.tokens import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from mainmatter.lab.training.folds import FoldPage
    from mainmatter.main.features import PageFeatures
    from mainmatter.main.method import PageJudgement
    from mainmatter.method import Example
    from mainmatter.records import Document, Extraction

BETAS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0, 1.2, 1.4, 1.7, 2.0)
THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8)
AS_IT_IS = "as it is"

PageResult = dict[str, Any]


class JudgedMain(Main):
    """`main` that remembers what the net said about the last page, so that it can be decided again."""

    def look(self, document: Document) -> None:
        """Let the net judge a page; `extract` then decides about this page without asking it again."""
        self.page = Main.describe(self, document)
        self.judged = Main.judge(self, self.page)

    def describe(self, document: Document) -> PageFeatures:  # noqa: ARG002
        """What the page looks like that was looked at."""
        return self.page

    def judge(self, page: PageFeatures) -> PageJudgement:  # noqa: ARG002
        """What the net said about it."""
        return self.judged


class PageScorer:
    """Bag of words F1 of any choice of a page's blocks, without making their text."""

    def __init__(self, document: Document, gold: str) -> None:
        found = [words(text) for text in document.columns.texts]
        numbers: dict[str, int] = {}
        wanted = [numbers.setdefault(word, len(numbers)) for word in words(gold)]
        self._tokens = np.array([numbers.setdefault(word, len(numbers)) for block in found for word in block], np.intp)
        self._block = np.repeat(np.arange(len(found)), [len(block) for block in found])
        self._wanted = np.bincount(np.array(wanted, np.intp), minlength=len(numbers))

    def f1(self, kept: NDArray[np.bool_]) -> float:
        """Of the text of the blocks that are kept."""
        tokens = self._tokens[kept[self._block]]
        matched = np.minimum(np.bincount(tokens, minlength=len(self._wanted)), self._wanted).sum()
        return Score.from_counts(float(matched), len(tokens), float(self._wanted.sum())).f1


@click.command()
@click.option("--models", type=click.Path(path_type=Path, exists=True), required=True, help="The models of the folds.")
@click.option("--data", type=click.Path(path_type=Path), required=True, help="The folder of the gold standards.")
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the figures of all pages as JSON.")
@click.option("--workers", type=click.IntRange(1, 2), default=2, show_default=True)
def main(models: Path, data: Path, folds: int, output: Path | None, workers: int) -> None:
    """Tabulate F1 for each beta and each threshold, on pages of sites left out of training."""
    results: list[PageResult] = []
    try:
        pages = [
            page
            for page in load_fold_pages(data, folds)
            if page.gold.gold.text is not None and DATASETS[page.dataset].use == "training"
        ]
        for fold, model in enumerate(load_folds(models, folds)):
            if not isinstance(model, Main):
                raise click.UsageError(f"{models / str(fold)}: a model of {model.name}, not of main")
            judged = JudgedMain(**model.parameters)
            judged.restore(*model.facts_and_arrays())
            held_out = [page for page in pages if page.fold == fold]
            conventions = dict.fromkeys(page.gold.convention for page in held_out)
            runners = {convention: judged.by_convention(convention) for convention in conventions}
            for result in ordered_map(partial(try_all, runners), held_out, workers):
                if isinstance(result, Failure):
                    click.echo(f"{result.item.dataset}: {result.item.gold.page.id}: {result.error}", err=True)
                else:
                    results.append(result)
            click.echo(f"fold {fold} judged", err=True)
    except MainmatterError as error:
        raise click.ClickException(str(error)) from error
    show(results)
    if output is not None:
        output.write_text(json.dumps(results), "utf-8")


def try_all(runners: dict[str, JudgedMain], page: FoldPage) -> PageResult:
    """F1 of a page by each beta and, on pages by our guide, F1 and right labels by each threshold."""
    method = runners[page.gold.convention]
    example = make_example(page.gold)
    document = example.document
    method.look(document)
    scorer = PageScorer(document, page.gold.gold.text or "")

    def score(extraction: Extraction) -> float:
        return scorer.f1(extraction.kept)

    now = method.extract(document)
    betas = {AS_IT_IS: score(now)}
    for beta in BETAS:
        # Where `main` looks its beta up: what is measured is its own decision, whatever else belongs to it.
        with patch.object(mainmatter.main.method, "beta_of", lambda *_, beta=beta: beta):
            betas[f"{beta:g}"] = score(method.extract(document))
    labels: dict[str, Any] = {}
    if page.gold.gold.byline is not None:
        for label in range(HEADLINE, len(LABELS)):
            found = {AS_IT_IS: now}
            for threshold in THRESHOLDS:
                found[f"{threshold:g}"] = decide_again(method, document, label, threshold)
            labels[LABELS[label]] = {
                name: [score(one), *count_right(one, example, label)] for name, one in found.items()
            }
    return {"set": page.dataset, "page_type": now.page_type, "betas": betas, "labels": labels}


def decide_again(method: JudgedMain, document: Document, label: int, threshold: float) -> Extraction:
    """What `main` decides with another threshold for a label."""
    if label != HEADLINE:
        with patch.object(mainmatter.main.choice, "_LABEL_THRESHOLD", threshold):
            return method.extract(document)
    # What makes a headline is added up, as log odds: a higher threshold is that much less of what the net says.
    judged, of_labels = method.judged, method.judged.of_labels.copy()
    of_labels[:, HEADLINE] *= 1 - threshold
    of_labels[:, HEADLINE] /= of_labels[:, HEADLINE] + (1 - judged.of_labels[:, HEADLINE]) * threshold
    method.judged = replace(judged, of_labels=of_labels)
    found = method.extract(document)
    method.judged = judged
    return found


def count_right(extraction: Extraction, example: Example, label: int) -> tuple[int, int, int]:
    """How many blocks have a label rightly, how many have it, how many should."""
    if example.labels is None or extraction.found_labels is None:
        return 0, 0, 0
    is_known = example.labels >= 0
    theirs, ours = example.labels[is_known] == label, extraction.found_labels[is_known] == label
    return int((theirs & ours).sum()), int(ours.sum()), int(theirs.sum())


def show(results: Sequence[PageResult]) -> None:
    """Print the tables."""
    of_house = [result for result in results if DATASETS[result["set"]].convention == OUR_CONVENTION]
    for title, some in (("all sets, each by its own convention", results), ("sets by our guide", of_house)):
        show_betas(f"F1 by beta and the type that pages are taken for: {title}", some, lambda one: one["page_type"])
    show_betas("F1 by beta: sets", results, lambda one: one["set"])
    for label in LABELS[HEADLINE:]:
        rows = [["threshold", "F1 of the text", "precision", "recall", "F1 of the label"]]
        pages = [result["labels"][label] for result in results if result["labels"]]
        for threshold in pages[0] if pages else ():
            counts = sum((Counts(*page[threshold][1:]) for page in pages), Counts(0, 0, 0))
            f1 = float(np.mean([page[threshold][0] for page in pages]))
            rows.append(
                [
                    threshold,
                    *(f"{each:.4f}" for each in (f1, counts.score.precision, counts.score.recall, counts.score.f1)),
                ]
            )
        if pages:
            click.echo(f"\n{label}, on pages by our guide\n\n{format_table(rows)}")


def show_betas(title: str, results: Iterable[PageResult], key: Callable[[PageResult], str | None]) -> None:
    """Print the mean F1 of each group of pages by each beta, and the best of them."""
    groups: dict[str, list[dict[str, float]]] = defaultdict(list)
    for result in results:
        groups[key(result) or "-"].append(result["betas"])
    names = [AS_IT_IS, *(f"{beta:g}" for beta in BETAS)]
    rows = [["", "pages", *names, "best"]]
    for name, pages in sorted(groups.items()):
        means = {beta: float(np.mean([page[beta] for page in pages])) for beta in names}
        best = max(names[1:], key=lambda beta: means[beta])
        rows.append([name, str(len(pages)), *(f"{means[beta]:.4f}" for beta in names), best])
    click.echo(f"\n{title}\n\n{format_table(rows)}")


if __name__ == "__main__":
    main()
