"""`evaluation_report`: methods on gold standards as one HTML file."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from mainmatter.lab.metrics import find_metric
from mainmatter.lab.reports import charts
from mainmatter.lab.reports.html import Cell, Section, html_page, markup, moment, table
from mainmatter.lab.reports.study import (
    BEST,
    WORST,
    characters_each,
    compare_best,
    highest_score,
    page_scores,
    ranking,
    shown_name,
    study,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from markupsafe import Markup

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.evaluation import Evaluation
    from mainmatter.lab.metrics import Metric, Row
    from mainmatter.lab.reports.study import Comparison, ShownPage, Study
    from mainmatter.method import Method

_GROUPS = {"page_type": "page type", "lang": "language"}
_CERTAIN = 0.05  # as NCleaner, section 4, has it


def evaluation_report(
    evaluations: Sequence[Evaluation],
    pages: Mapping[str, Sequence[GoldPage]],
    *,
    command: str = "",
    made: datetime | None = None,
    methods: Mapping[str, Method] | None = None,
    worst: int = WORST,
    best: int = BEST,
) -> str:
    """An evaluation as one HTML file: figures, plots, and the worst and best pages with what was missed on them.

    The pages that are shown are cleaned once more for it.

    Args:
        evaluations: of methods on datasets, with the same metrics; pages are ranked by the first of these that
            they can be measured by.
        pages: the pages of each dataset, by its name.
        command: what was run, to be shown.
        made: the date to be shown; now by default.
        methods: methods that are not in the registry, by name.
        worst: how many pages with low scores to show for each method on each dataset.
        best: how many with high scores.

    Raises:
        MissingExtra: comparing texts needs rapidfuzz.
        KeyError: a dataset's pages are not given.
    """
    by_dataset: dict[str, list[Evaluation]] = defaultdict(list)
    for evaluation in evaluations:
        by_dataset[evaluation.dataset].append(evaluation)
    characters = characters_each(len(evaluations))
    studies = [
        study(name, pages[name], some, methods=methods, worst=worst, best=best, characters=characters)
        for name, some in by_dataset.items()
    ]
    return report_of(studies, command=command, made=made)


def report_of(studies: Sequence[Study], *, command: str = "", made: datetime | None = None) -> str:
    """The report of datasets that were looked at one after another, so that no two need to be in memory at once."""
    comparisons = [(number, one, compare_best(one)) for number, one in enumerate(studies)]
    sections = [
        Section("figures", "Figures", markup("evaluation", "figures", _main_table(studies), _detail_tables(studies))),
        Section("groups", "By page type and language", _joined(_group_tables(studies))),
        Section("distribution", "Page by page", _joined(map(_plots, studies, range(len(studies))))),
        Section(
            "comparison",
            "The two best",
            _joined(_comparison(one, found, number) for number, one, found in comparisons if found is not None),
        ),
        Section("pages", "Worst and best pages", _shown_pages(studies)),
        Section("failures", "Failures", _failures(studies)),
    ]
    return html_page("Evaluation", _lead(studies), _facts(studies, command, made), sections)


def _joined(parts: Iterable[Markup]) -> Markup:
    from markupsafe import Markup  # an extra

    return Markup().join(parts)


def _lead(studies: Sequence[Study]) -> Markup:
    best = []
    for one in studies:
        ranked, metric = ranking(one), one.metric
        if ranked and metric is not None:
            figure = _figure(ranked[0].scores[metric.name], metric, metric.headline)
            best.append((one.dataset, ranked[0].method, f"{_headline(metric)} {figure}"))
    return markup("evaluation", "lead", best)


def _headline(metric: Metric) -> str:
    return f"{metric.name} {metric.headline}".replace("_", " ")


def _facts(studies: Sequence[Study], command: str, made: datetime | None) -> list[tuple[str, object]]:
    versions = {name: version for one in studies for name, version in one.versions.items()}
    metrics = dict.fromkeys(name for one in studies for name in one.metrics)
    facts: list[tuple[str, object]] = [("Date", moment(made))]
    if command:
        facts.insert(0, ("Command", markup("parts", "code", command)))
    for number, one in enumerate(studies, 1):
        pages = f"{one.pages:,} page" + "s" * (one.pages != 1)
        title = f"Dataset {number}" if len(studies) > 1 else "Dataset"
        facts.append((title, markup("evaluation", "dataset_fact", one.dataset, pages, one.digest)))
    for version in dict.fromkeys(versions.values()):
        names = ", ".join(name for name, its in versions.items() if its == version)
        facts.append(("Methods", f"{names} ({version})" if version else names))
    facts += [("Metric", f"{name}: {find_metric(name).description}") for name in metrics]
    return facts


def _main_table(studies: Sequence[Study]) -> Markup | None:
    metrics = [find_metric(name) for name in dict.fromkeys(name for one in studies for name in one.metrics)]
    if not metrics:
        return None
    # One metric alone shows all that it says, several show one figure each; as the table on the terminal.
    columns = [
        (metric, column)
        for metric in metrics
        for column in (metric.columns if len(metrics) == 1 else (metric.headline,))
    ]
    is_told = any(evaluation.tells_learned_from for one in studies for evaluation in one.evaluations)
    rows = []
    for one in studies:
        best = [_highest(one.evaluations, metric, column) for metric, column in columns]
        for evaluation in one.evaluations:
            pages = int(max((row["pages"] for row in evaluation.scores.values()), default=0))
            row = [Cell(evaluation.method), Cell(one.dataset), Cell(f"{pages:,}", pages)]
            row += [
                _figure_cell(evaluation.scores.get(metric.name, {}), metric, column, highest)
                for (metric, column), highest in zip(columns, best, strict=True)
            ]
            row.append(Cell(f"{len(evaluation.failures):,}", len(evaluation.failures)))
            if is_told:
                on_others = [_figure_cell(evaluation.on_others.get(m.name, {}), m, m.headline, None) for m in metrics]
                row += [Cell(evaluation.count_learned_from, sum(evaluation.learned_from or ())), *on_others]
            rows.append(row)
    titles = [column if len(metrics) == 1 else f"{metric.name} {column}" for metric, column in columns]
    head = ["method", "dataset", "pages", *(title.replace("_", " ") for title in titles), "failures"]
    caption = "Each method on each dataset. The best of a dataset is bold and underlined."
    if is_told:
        head += ["learned from", *(f"{_headline(metric)} on others" for metric in metrics)]
        caption += (
            " Figures for pages that a model has learned from are too good; the last column leaves those pages out."
        )
    return table(caption, head, rows, name="figures", numbers=range(2, len(head)))


def _detail_tables(studies: Sequence[Study]) -> list[tuple[str, Markup]]:
    """For each metric all columns with their spread, folded; the main table has room for few."""
    found = []
    for name in dict.fromkeys(name for one in studies for name in one.metrics):
        metric = find_metric(name)
        rows = [
            [
                Cell(evaluation.method),
                Cell(one.dataset),
                *(_spread_cell(evaluation.scores.get(name, {}), metric, c) for c in metric.columns),
            ]
            for one in studies
            for evaluation in one.evaluations
        ]
        head = ["method", "dataset", *(column.replace("_", " ") for column in metric.columns)]
        title = f"{name} in detail"
        found.append((title, table(metric.description, head, rows, name=title, numbers=range(2, len(head)))))
    return found


def _group_tables(studies: Sequence[Study]) -> list[Markup]:
    found = []
    for one in studies:
        metric = one.metric
        if metric is None:
            continue
        names = dict.fromkeys(name for evaluation in one.evaluations for name in evaluation.groups)
        kinds = dict.fromkeys(name.partition("=")[0] for name in names)
        for kind in kinds:
            words = _GROUPS.get(kind, kind)
            rows = [_group_row(one, metric, name) for name in names if name.partition("=")[0] == kind]
            head = [words, "pages", *(evaluation.method for evaluation in one.evaluations)]
            caption = f"{one.dataset} by {words}: {_headline(metric)}"
            found.append(table(caption, head, rows, name=f"{one.dataset} by {words}", numbers=range(1, len(head))))
    return found


def _group_row(one: Study, metric: Metric, name: str) -> list[Cell]:
    scores = [evaluation.groups.get(name, {}).get(metric.name, {}) for evaluation in one.evaluations]
    highest = max((row[metric.headline] for row in scores if metric.headline in row), default=None)
    pages = int(max((row.get("pages", 0) for row in scores), default=0))
    figures = [_figure_cell(row, metric, metric.headline, highest if len(scores) > 1 else None) for row in scores]
    return [Cell(name.partition("=")[2]), Cell(f"{pages:,}", pages), *figures]


def _plots(one: Study, number: int) -> Markup:
    metric = one.metric
    if metric is None:
        return _joined(())
    title = _headline(metric)
    scores = [(e.method, [s for s in page_scores(e) if s is not None]) for e in one.evaluations]
    said = "; ".join(f"{name}: {len(values)} page{'s' * (len(values) != 1)}" for name, values in scores)
    words = charts.Words(
        f"distribution-{number}",
        f"Distribution of page scores on {one.dataset}",
        f"How many pages have which {title}, for each method, with quartiles and median. {said}.",
        f"How many pages have which {title}. Below each: least, quartiles, median and most.",
    )
    plots = [charts.distributions(words, scores, highest_score(metric))]
    points = _precision_and_recall(one.evaluations, metric)
    if points:
        said = "; ".join(f"{name}: recall {x:.3f}, precision {y:.3f}" for name, x, y in points)
        words = charts.Words(
            f"scatter-{number}",
            f"Precision and recall on {one.dataset}",
            f"Methods by recall and precision. {said}.",
            "Precision and recall of each method; dashed lines join what has the same F1.",
        )
        plots.append(charts.scatter(words, points))
    return markup("evaluation", "plots", one.dataset, plots)


def _precision_and_recall(evaluations: Iterable[Evaluation], metric: Metric) -> list[tuple[str, float, float]]:
    kind = metric.headline.removesuffix("f1")
    names = f"{kind}recall", f"{kind}precision"
    rows = [(evaluation.method, evaluation.scores.get(metric.name, {})) for evaluation in evaluations]
    return [(method, row[names[0]], row[names[1]]) for method, row in rows if all(name in row for name in names)]


def _comparison(one: Study, found: Comparison, number: int) -> Markup:
    first, second = found.first.method, found.second.method
    by = f", by {_headline(one.metric)}" if one.metric is not None else ""
    verdict = (
        f" is better than {second} on {found.wins:,} of {len(found.differences):,} pages, worse on {found.losses:,}, "
        f"and as good on {found.ties:,}. On average it gains {found.mean:+.4f}. {_significance(found)}"
    )
    words = charts.Words(
        f"differences-{number}",
        f"{first} against {second} on {one.dataset}",
        f"Differences of the page scores, sorted: {found.wins} above zero, {found.ties} at zero, {found.losses} below.",
        f"Each bar is a page: upwards {first} is better, downwards {second}{by}.",
    )
    gains, losses = found.extremes
    rows = [
        [Cell(shown_name(name)), Cell(winner), Cell(f"{value:+.3f}", value)]
        for winner, some in ((first, gains), (second, losses))
        for name, value in some
    ]
    parts = [charts.differences(words, [value for _, value in found.differences])]
    if rows:
        caption = "Where the two differ most"
        parts.append(table(caption, ["page", "better", "difference"], rows, name=caption, numbers=(2,)))
    return markup("evaluation", "comparison", one.dataset, first, verdict, parts)


def _significance(found: Comparison) -> str:
    test = found.test
    if test is None:
        return "Install scipy to test whether that may be chance."
    if test.df < 1:
        return "One page is too few for a test."
    verdict = "That is hardly chance" if test.p < _CERTAIN else "That may be chance"
    p = "p < 0.0001" if test.p < 0.0001 else f"p = {test.p:.4f}"
    return f"{verdict} (paired t-test: t = {test.t:.2f}, df = {test.df}, {p})."


def _shown_pages(studies: Sequence[Study]) -> Markup:
    """The worst and best pages, by dataset and method."""
    datasets = []
    for one in studies:
        metric = one.metric
        if metric is not None:
            chosen = [
                (name, *([_shown_page(page, metric) for page in some] for some in (pages.worst, pages.best)))
                for name, pages in one.choices.items()
                if pages.worst or pages.best
            ]
            if chosen:
                datasets.append((one.dataset, chosen))
    return markup("evaluation", "pages_of_methods", datasets) if datasets else _joined(())


def _shown_page(page: ShownPage, metric: Metric) -> dict[str, object]:
    about = [*page.groups.values()]
    if page.page_type:
        about.append(f"taken for {page.page_type}")
    if page.confidence is not None:
        about.append(f"confidence {page.confidence:.2f}")
    if page.failure:
        about.append("failed")
    elif page.diff is not None:
        about.append(f"{page.diff.missed:,} missed, {page.diff.wrong:,} wrong")
    figures = [f"{column.replace('_', ' ')} {page.row[column]:.3f}" for column in metric.columns if column in page.row]
    return {
        "score": f"{page.score:.1f}" if metric.percent else f"{page.score:.3f}",
        "name": shown_name(page.id),
        "about": " · ".join(about),
        "figures": ", ".join(figures),
        "url": page.url,
        "failure": page.failure,
        "diff": page.diff,
        "snippets": page.snippets,
    }


def _failures(studies: Sequence[Study]) -> str:
    rows = [
        [Cell(shown_name(page)), Cell(evaluation.method), Cell(one.dataset), Cell(error[:300])]
        for one in studies
        for evaluation in one.evaluations
        for page, error in evaluation.failures[:20]
    ]
    if not rows:
        return ""
    total = sum(len(evaluation.failures) for one in studies for evaluation in one.evaluations)
    caption = f"Pages on which a method failed; they count as empty. {len(rows):,} of {total:,} are shown."
    return table(caption, ["page", "method", "dataset", "reason"], rows, name="failures")


def _highest(evaluations: Sequence[Evaluation], metric: Metric, column: str) -> float | None:
    """The best figure; None where there is nothing to compare."""
    rows = [evaluation.scores.get(metric.name, {}) for evaluation in evaluations]
    return max((row[column] for row in rows if column in row), default=None) if len(rows) > 1 else None


def _figure_cell(row: Row, metric: Metric, column: str, highest: float | None) -> Cell:
    if column not in row:
        return Cell("–")
    value = row[column]
    return Cell(
        _figure(row, metric, column), value, value / highest_score(metric), highest is not None and value >= highest
    )


def _spread_cell(row: Row, metric: Metric, column: str) -> Cell:
    if column not in row:
        return Cell("–")
    spread = f"{column}_sd"
    more = f" ± {_figure(row, metric, spread)}" if spread in row else ""
    return Cell(_figure(row, metric, column) + more, row[column])


def _figure(row: Row, metric: Metric, column: str) -> str:
    return f"{row[column]:.1f}" if metric.percent else f"{row[column]:.3f}"
