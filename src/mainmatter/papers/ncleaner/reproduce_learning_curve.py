"""NCleaner, section 5, figure 4: how much training data is enough."""

from __future__ import annotations

from copy import copy
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from mainmatter.clean import read
from mainmatter.lab.metrics.score import Counts
from mainmatter.lab.metrics.sequences import common_subsequence
from mainmatter.lab.reproduction.report import Report
from mainmatter.papers.ncleaner.method import Ncleaner
from mainmatter.papers.ncleaner.reproduce_internal import observe
from mainmatter.papers.ncleaner.reproduce_pages import new_figure, percent
from mainmatter.render.cleaneval import render
from mainmatter.text.tokens import marked_tokens, without_markers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.reproduction.run import Run
    from mainmatter.papers.ncleaner import method as ncleaner

_SIZES = (2, 5, 10, 15, 20, 30, 50, 75, 100, 150)
_SEED = 1


def reproduce(run: Run) -> Report:
    """Train on more and more pages, and measure each model on cleaneval-final."""
    observations: list[ncleaner.Observed] = list(observe(run).observations)
    Random(_SEED).shuffle(observations)  # noqa: S311 - no secret
    sizes = [size for size in _SIZES if size < len(observations)] + [len(observations)]
    words = [sum(page.gold_words for page in observations[:size]) for size in sizes]
    learned = [Ncleaner().learn(observations[:size]) for size in sizes]
    pages = run.load("cleaneval-final")
    pooled: list[list[Counts]] = []  # for each model with its own threshold, and with the paper's
    for size, method in zip(sizes, learned, strict=True):
        both = (method, _as_in_the_paper(method))
        counted = run.map(f"{size} pages", partial(_count, both), pages)
        pooled.append([sum(of_one, Counts(0, 0, 0)) for of_one in zip(*counted, strict=True)])
    report = Report("NCleaner: learning curve (figure 4)")
    report.text(
        "Pages of cleaneval-dev and readability in random order; each model learns from the first of them, and is "
        f"measured on cleaneval-final, {len(pages)} pages. Percent of words, micro-averaged. `ncleaner` learns its "
        "threshold too, from ten pages on; *likelier* keeps what the clean model finds likelier, as in the "
        "paper.\n\nThe paper finds 50,000 to 100,000 words enough, fewer than 50 pages, and precision above 94 and "
        "recall around 90 with ten pages or fewer; its F-score on all 158 pages is 92.73."
    )
    _figure_4(report, words, pooled)
    rows = [["pages", "words", "F", "P", "R", "likelier F", "P", "R"]]
    for size, count, (own, likelier) in zip(sizes, words, pooled, strict=True):
        rows.append([str(size), str(count), *_figures(own), *_figures(likelier)])
    report.table(rows)
    return report


def _as_in_the_paper(method: Ncleaner) -> Ncleaner:
    """The same models, but only what the clean one finds likelier is kept."""
    changed = copy(method)
    changed.threshold, changed.never_empty = 0.0, False
    return changed


def _count(methods: Sequence[Ncleaner], page: GoldPage) -> list[Counts]:
    """The words of a page that each method keeps, those of the gold text, and those that are in both."""
    document = read(page.page)
    wanted = without_markers(marked_tokens(page.gold.marked or page.gold.text or ""))
    found = [without_markers(marked_tokens(render(method.extract(document)))) for method in methods]
    return [Counts(common_subsequence(each, wanted), len(each), len(wanted)) for each in found]


def _figures(counts: Counts) -> list[str]:
    score = counts.score
    return [percent(score.f1), percent(score.precision), percent(score.recall)]


def _figure_4(report: Report, words: list[int], pooled: list[list[Counts]]) -> None:
    figure, axes = new_figure(6.5, 4.2)
    colours = {"F-score": "#1b4965", "precision": "#c8553d", "recall": "#588157"}
    for number, (style, kind) in enumerate((("-", ""), (":", ", likelier"))):
        for name, colour in colours.items():
            column = "f1" if name == "F-score" else name
            values = [100 * getattr(pair[number].score, column) for pair in pooled]
            axes.plot(words, values, style, color=colour, label=name + kind, marker="o", markersize=3, linewidth=1.4)
    axes.set_xlabel("words of clean text in the training data")
    axes.set_ylabel("percent of words, micro-averaged")
    axes.set_xscale("log")
    axes.legend(ncols=2, frameon=False, fontsize=8)
    report.picture(
        "ncleaner-figure-4", "Learning curve: trained on more and more pages, measured on cleaneval-final", figure
    )
