"""Ma, Goharian and Chowdhury 2003, section 4.3 and figure 2: does search get better without the template?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from mainmatter.lab.metrics.significance import paired_t_test
from mainmatter.lab.reproduction import ResultsPage
from mainmatter.papers.template.reproduce_retrieval_figure import draw_figure_2
from mainmatter.papers.template.reproduce_retrieval_queries import CRITERIA, SITE_PAGES, template_words
from mainmatter.papers.template.reproduce_retrieval_search import (
    ALL_TEXT,
    DEPTHS,
    VARIANTS,
    Collection,
    search_collection,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.lab.reproduction import Run
    from mainmatter.papers.template.reproduce_retrieval_queries import Criterion

_COLLECTIONS = ("cleanportaleval", "daniel-a", "wcxb-dev")
_QUERIES = 280  # as many as the paper's with abstract nouns
_SEED = 2003
_MAIN_CRITERION: Criterion = "lead"
_CLEANED = VARIANTS[1:]

_METHOD = f"""
The paper takes a site's search log, keeps the 280 queries of abstract nouns that contain words of the site's
template, and has people judge what BM25 finds before and after the template is removed: 39 queries got better, 5
worse. Neither its pages nor its queries and judgments are public. Here gold standards stand in: people have marked
the main text of each page, and so said which of its words count.

**Collections.** cleanportaleval (four portals) and daniel-a (news in five languages) have many pages of few sites, as
the paper's; wcxb-dev is the other case, pages of all kinds, most of them the only one of their site. The first two
are test sets: nothing here was fitted to them but the template of each site, which needs no gold text.

**Indexes.** The same pages, five times: *all text* of the page, nothing removed; what `template` leaves (fitted on
the collection, default parameters), what `density` and `main` keep; and the *gold* texts, the best that any cleaning
could do. BM25 (tantivy), words as they are, no titles, no stemming.

**Queries.** One word or two, drawn at random (seed {_SEED}), up to {_QUERIES} a collection. A *template word* is in
the text around the gold text on at least half of the pages of some site that has {SITE_PAGES} pages or more. The
*template queries* hold one at least; the *control* queries hold none, as the paper's 520 concrete nouns, for which it
saw no difference. Words in more than a fifth of the gold texts of a language, with fewer than three letters, or in
scripts without spaces are left out. At least two pages must answer a query, and no two queries of a list have the
same answers.

**Relevance.** A page answers a query if its *gold text* is about it; the text around it never counts. The criterion
is *lead*: {CRITERIA["lead"]}. Who writes puts there what a text is about, and it says nothing about how often the
word comes later, which is what BM25 counts. Two others are below, as a check: *repeated*: {CRITERIA["repeated"]};
*mentioned*: {CRITERIA["mentioned"]}.

**How far this is circular.** Relevance comes from gold texts, and cleaning is meant to give gold texts. So the *gold*
row is an upper bound by construction, and no proof of anything. What is not given by construction: that all-text
search suffers at all (a word that is on every page of a site has hardly any weight in BM25, and the paper saw no
change for most queries); that a method which loses main text does not lose more than it gains; and by how much. What
the construction leaves out: readers who are served by a page for what stands around its text, and the judgment of
people about validity and use, which the paper had.
"""


class Change(NamedTuple):
    """How many queries found more, fewer, and as many relevant pages among the first, and how many lists differ."""

    better: int
    worse: int
    same: int
    other_pages: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What one index is worth for some queries.

    Attributes:
        precision: at each depth, the mean of the queries.
        p: the probability of such a difference to all text by chance, at the greatest depth.
        matching: how many pages match a query, on average.
    """

    precision: list[float]
    p: float
    matching: float


def reproduce(run: Run) -> ResultsPage:
    """Index collections with and without boilerplate, and ask both."""
    collections = []
    for name in _COLLECTIONS:
        run.say(f"{name}: cleaning, indexing, asking")
        collections.append(search_collection(run, name, _QUERIES, _SEED))
    report = ResultsPage("Search with and without the template (Template 4.3, figure 2)")
    report.text(_outcome(collections))
    report.text(_METHOD)
    _describe_collections(report, collections)
    _report_precision(report, collections)
    _report_changes(report, collections)
    draw_figure_2(report, collections, _MAIN_CRITERION)
    _report_examples(report, collections)
    _report_sensitivity(report, collections)
    return report


def measure(collection: Collection, variant: str, *, template: bool, criterion: Criterion) -> Measured:
    """The precision of one index, compared with that of all text."""
    queries = collection.queries[template]
    answers, before = (collection.answers[name, template] for name in (variant, ALL_TEXT))
    if not queries:
        return Measured([0.0] * len(DEPTHS), 1.0, 0.0)
    found = [answers.relevant_at(depth, queries, criterion) for depth in DEPTHS]
    deepest = DEPTHS[-1]
    test = paired_t_test(found[-1], before.relevant_at(deepest, queries, criterion))
    precision = [fmean(counts) / depth for counts, depth in zip(found, DEPTHS, strict=True)]
    return Measured(precision, test.p, fmean(answers.matching))


def compare(collection: Collection, variant: str, depth: int, *, template: bool, criterion: Criterion) -> Change:
    """Which queries find more, and which fewer, relevant pages among the first than in all text."""
    queries = collection.queries[template]
    after, before = (collection.answers[name, template] for name in (variant, ALL_TEXT))
    pairs = list(
        zip(after.relevant_at(depth, queries, criterion), before.relevant_at(depth, queries, criterion), strict=True)
    )
    return Change(
        sum(new > old for new, old in pairs),
        sum(new < old for new, old in pairs),
        sum(new == old for new, old in pairs),
        sum(new[:depth] != old[:depth] for new, old in zip(after.top, before.top, strict=True)),
    )


def _outcome(collections: Sequence[Collection]) -> str:
    """The whole page in a few lines."""
    lines = ["Template queries whose precision at 10 rose and fell when boilerplate was removed, against all text:\n"]
    lines.append("- the paper, cnnfn: 39 rose, 5 fell, of 280")
    for one in collections:
        told = []
        for variant in ("template", "main"):
            change = compare(one, variant, DEPTHS[-1], template=True, criterion=_MAIN_CRITERION)
            told.append(f"`{variant}`: {change.better} rose, {change.worse} fell")
        lines.append(f"- {one.name}: {'; '.join(told)}; of {len(one.queries[True])}")
    return "\n".join(lines)


def _describe_collections(report: ResultsPage, collections: Sequence[Collection]) -> None:
    rows = [["collection", "pages", "sites", "of 5 pages or more", "template words", "template queries", "control"]]
    for one in collections:
        sites = Counter(page.site for page in one.pages)
        rows.append(
            [
                one.name,
                f"{len(one.pages):,}",
                f"{len(sites):,}",
                str(sum(count >= SITE_PAGES for count in sites.values())),
                f"{len(template_words(one.pages)):,}",
                str(len(one.queries[True])),
                str(len(one.queries[False])),
            ]
        )
    report.table(rows)


def _report_precision(report: ResultsPage, collections: Sequence[Collection]) -> None:
    report.text(
        "## Precision\n\nPercent of the first 1, 5 and 10 pages that answer the query; queries have few answers, so "
        "that even the gold texts are far from 100 at 10. *p*: two-sided paired t-test over the queries, precision at "
        "10 against all text. *Matching*: how many pages hold a word of the query at all, on average: every one of "
        "them is a result that somebody may have to skip. *Words*: the size of the index. A method that drops "
        "headlines, as `density` does with most, drops words that the criterion *lead* asks for."
    )
    for one in collections:
        rows = [["index", "words", *_heads("template queries"), *_heads("control")]]
        for variant in VARIANTS:
            row = [variant, f"{one.words[variant]:,}"]
            for template in (True, False):
                measured = measure(one, variant, template=template, criterion=_MAIN_CRITERION)
                p = "" if variant == ALL_TEXT else _probability(measured.p)
                row += [*(f"{100 * value:.1f}" for value in measured.precision), p, f"{measured.matching:.1f}"]
            rows.append(row)
        report.text(f"### {one.name}")
        report.table(rows)


def _heads(first: str) -> list[str]:
    return [f"{first}: P@1", "P@5", "P@10", "p", "matching"]


def _probability(p: float) -> str:
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _report_changes(report: ResultsPage, collections: Sequence[Collection]) -> None:
    report.text(
        "## Queries that got better, and worse\n\nThe paper's N, M and T: queries with more relevant pages among the "
        "first ten than in all text, with fewer, and both together. The others have as many, though most find other "
        "pages or the same in another order (last column)."
    )
    rows = [["collection", "index", "queries", "better (N)", "worse (M)", "N + M = T", "N/T", "M/T", "other results"]]
    rows.append(["cnnfn", "paper", "280", "39", "5", "44", ".89", ".11", "44"])
    for one in collections:
        for variant in _CLEANED:
            change = compare(one, variant, DEPTHS[-1], template=True, criterion=_MAIN_CRITERION)
            rows.append([one.name, variant, str(len(one.queries[True])), *_shares(change), str(change.other_pages)])
    report.table(rows)
    report.text("The same for the control queries:")
    rows = [["collection", "index", "queries", "better (N)", "worse (M)", "N + M = T", "N/T", "M/T", "other results"]]
    for one in collections:
        for variant in _CLEANED:
            change = compare(one, variant, DEPTHS[-1], template=False, criterion=_MAIN_CRITERION)
            rows.append([one.name, variant, str(len(one.queries[False])), *_shares(change), str(change.other_pages)])
    report.table(rows)


def _shares(change: Change) -> list[str]:
    changed = change.better + change.worse
    shares = [f"{count / changed:.2f}".removeprefix("0") if changed else "-" for count in (change.better, change.worse)]
    return [str(change.better), str(change.worse), str(changed), *shares]


def _report_examples(report: ResultsPage, collections: Sequence[Collection]) -> None:
    report.text(
        "Some of the template queries that changed most, with `main`; in brackets the relevant pages among the first "
        "ten, before and after."
    )
    lines = []
    for one in collections:
        queries = one.queries[True]
        after, before = (
            one.answers[name, True].relevant_at(DEPTHS[-1], queries, _MAIN_CRITERION) for name in ("main", ALL_TEXT)
        )
        changes = sorted(zip(after, before, map(str, queries), strict=True), key=lambda it: (it[1] - it[0], it[2]))
        gained = [f"{query} ({old} → {new})" for new, old, query in changes[:6] if new > old]
        lost = [f"{query} ({old} → {new})" for new, old, query in reversed(changes[-6:]) if new < old]
        lines.append(f"- {one.name}: better: {', '.join(gained) or 'none'}; worse: {', '.join(lost) or 'none'}")
    report.text("\n".join(lines))


def _report_sensitivity(report: ResultsPage, collections: Sequence[Collection]) -> None:
    report.text(
        "## Other criteria of relevance\n\nThe same template queries, judged otherwise: precision at 10, and in "
        "brackets the queries that got better and worse."
    )
    rows = [["collection", "index", *CRITERIA]]
    for one in collections:
        for variant in VARIANTS:
            row = [one.name, variant]
            for criterion in CRITERIA:
                value = measure(one, variant, template=True, criterion=criterion).precision[-1]
                change = compare(one, variant, DEPTHS[-1], template=True, criterion=criterion)
                counts = "" if variant == ALL_TEXT else f" (+{change.better} −{change.worse})"
                row.append(f"{100 * value:.1f}{counts}")
            rows.append(row)
    report.table(rows)
