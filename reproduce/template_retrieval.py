"""Template, section 4.3 and figure 2: does search get better without the template?

Queries are one word or two. Their words are drawn at random among those that a site repeats around its texts ("template
words": the paper took the queries of a log that contain them), or among all others. A page answers a query if its gold
text is about the words; what stands around the gold text never counts. Each collection is searched in several indexes:
all text of its pages, what each method keeps of it, and the gold texts. Two engines, one for all text and one for the
extracted text, can answer together, with a switch between them (section 4.3.1).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from random import Random
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal, NamedTuple

from mainmatter.api import clean, read
from mainmatter.corpus.search import Searcher, index_rows
from mainmatter.lab.datasets import site_of
from mainmatter.lab.evaluation import paired_t_test
from mainmatter.registry import make_untrained
from reproduce.run import ResultsPage, new_figure

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes

    from mainmatter.lab.datasets import GoldPage
    from reproduce.run import Run


# Queries, and which pages answer them

Criterion = Literal["lead", "repeated", "mentioned"]
CRITERIA: dict[Criterion, str] = {
    "lead": "all words of the query are among the first 40 of the gold text: its headline and first sentence",
    "repeated": "all words of the query are in the gold text, each at least three times",
    "mentioned": "all words of the query are in the gold text",
}
LEAD_WORDS = 40
REPEATED = 3
# A template word: in the text around the gold text on half of a site's pages, of a site with five pages or more.
SITE_PAGES = 5
TEMPLATE_SHARE = 0.5
# Words in more gold texts of a language than this are its "the" and "said".
COMMON_SHARE = 0.2
FEWEST_RELEVANT = 2
SHORTEST_WORD = 3
_WORD = re.compile(r"\w+")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# No spaces, no words: pages in these scripts are searched, but no query is drawn from them.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for, and which pages should be found.

    Attributes:
        words: one word or two.
        relevant: the ids of the pages that answer it, by each criterion.
    """

    words: tuple[str, ...]
    relevant: Mapping[Criterion, frozenset[str]]

    def __str__(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class PageTerms:
    """The words of a page that queries are made from.

    Attributes:
        id: the page's.
        site: the site that it is of.
        group: its language.
        gold: how often each word is in the gold text.
        lead: the words at its beginning.
        around: the words that are in the page's text more often than in its gold text.
    """

    id: str
    site: str
    group: str
    gold: Counter[str]
    lead: frozenset[str]
    around: frozenset[str]


def gold_text(page: GoldPage) -> str:
    """The gold text of a page; some say in a comment that there is none."""
    return _COMMENT.sub("", page.gold.text or "")


def split(text: str) -> list[str]:
    """The words of a text, as the index has them."""
    return _WORD.findall(unicodedata.normalize("NFC", text).lower())


def page_words(page: GoldPage, all_text: str) -> PageTerms:
    """The words of a page, inside and around its gold text."""
    words = split(gold_text(page))
    gold = Counter(words)
    around = Counter(split(all_text)) - gold
    lead = frozenset(words[:LEAD_WORDS])
    return PageTerms(page.page.id or "", site_of(page), page.groups.get("lang", ""), gold, lead, frozenset(around))


def template_words(pages: Sequence[PageTerms]) -> set[str]:
    """The words that some site repeats around its gold texts."""
    sites: dict[str, list[PageTerms]] = {}
    for page in pages:
        sites.setdefault(page.site, []).append(page)
    found: set[str] = set()
    for members in sites.values():
        if len(members) >= SITE_PAGES:
            counts = Counter(word for page in members for word in page.around)
            found |= {word for word, count in counts.items() if count >= TEMPLATE_SHARE * len(members)}
    return found


def draw_queries(pages: Sequence[PageTerms], most: int, seed: int) -> tuple[list[Query], list[Query]]:
    """Queries with template words, and as a control queries without; at most so many of each, a third of two words.

    Each has at least two pages that are about it (by the criterion "lead"), and no two of a list the same pages. In
    the first list one word of a pair at least is a template word, in the second list neither is.
    """
    rng = Random(seed)  # no secret
    template = template_words(pages)
    usable = _usable_words(pages)
    return (
        _draw(pages, usable, usable & template, most, rng),
        _draw(pages, usable - template, usable - template, most, rng),
    )


def _usable_words(pages: Sequence[PageTerms]) -> set[str]:
    """Words that one can search for: of letters, not too short, neither in too many gold texts nor in one alone."""
    sizes = Counter(page.group for page in pages)
    counts: dict[str, Counter[str]] = {group: Counter() for group in sizes}
    for page in pages:
        counts[page.group].update(page.gold.keys())
    common = {
        word
        for group, of_group in counts.items()
        for word, count in of_group.items()
        if count > max(FEWEST_RELEVANT, COMMON_SHARE * sizes[group])
    }
    leads = Counter(word for page in pages for word in page.lead)
    return {
        word
        for word, count in leads.items()
        if count >= FEWEST_RELEVANT
        and len(word) >= SHORTEST_WORD
        and word.isalpha()
        and word not in common
        and not _UNSPACED.search(word)
    }


def _draw(
    pages: Sequence[PageTerms], usable: Collection[str], wanted: Collection[str], most: int, rng: Random
) -> list[Query]:
    """Queries of one wanted word, and of a wanted one and any other that can be used."""
    pairs: Counter[tuple[str, str]] = Counter()
    for page in pages:
        for pair in combinations(sorted(word for word in page.lead if word in usable), 2):
            if pair[0] in wanted or pair[1] in wanted:
                pairs[pair] += 1
    one: list[tuple[str, ...]] = [(word,) for word in sorted(wanted)]
    two: list[tuple[str, ...]] = sorted(pair for pair, count in pairs.items() if count >= FEWEST_RELEVANT)
    queries: dict[frozenset[str], Query] = {}
    for candidates, at_most in ((one, most - most // 3), (two, most)):
        for words in rng.sample(candidates, len(candidates)):
            if len(queries) >= at_most:
                break
            query = Query(words, _relevant(words, pages))
            # The words of a story that is on two pages would ask for these two again and again.
            queries.setdefault(query.relevant["lead"], query)
    return list(queries.values())


def _relevant(words: tuple[str, ...], pages: Sequence[PageTerms]) -> dict[Criterion, frozenset[str]]:
    answers: dict[Criterion, frozenset[str]] = {
        "lead": frozenset(page.id for page in pages if page.lead.issuperset(words)),
        "repeated": frozenset(page.id for page in pages if all(page.gold[word] >= REPEATED for word in words)),
        "mentioned": frozenset(page.id for page in pages if all(page.gold[word] for word in words)),
    }
    return answers


# One collection in several indexes

ALL_TEXT = "all text"
GOLD = "gold"
PAPER, OURS = "template:preset=paper", "template"
METHODS = ("density", "main")
VARIANTS = (ALL_TEXT, PAPER, OURS, *METHODS, GOLD)
DEPTHS = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class Answers:
    """What one index answers to a list of queries.

    Attributes:
        top: for each query the ids of the ten best pages.
        matching: for each query how many pages match at all.
    """

    top: list[list[str]]
    matching: list[int]

    def relevant_at(self, depth: int, queries: Sequence[Query], criterion: Criterion) -> list[int]:
        """For each query, how many of the first pages answer it."""
        return [
            len(query.relevant[criterion].intersection(ids[:depth]))
            for query, ids in zip(queries, self.top, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class IndexedCollection:
    """A collection, its queries, and what each index answers.

    Attributes:
        name: the dataset's.
        pages: the words of its pages.
        queries: those with template words, by the key True, and the control, by False.
        answers: by variant and the key of the queries.
        words: how many words each index holds.
        dropped: the words in what `template` drops, as in the paper and ours.
    """

    name: str
    pages: list[PageTerms]
    queries: dict[bool, list[Query]]
    answers: dict[tuple[str, bool], Answers]
    words: dict[str, int]
    dropped: dict[str, set[str]]


def search_collection(run: Run, name: str, most: int, seed: int) -> IndexedCollection:
    """Clean a collection in all ways, index each, draw queries, and ask them."""
    pages = run.load(name)
    texts, dropped = _all_texts(run, name, pages)
    words = [page_words(page, text) for page, text in zip(pages, texts[ALL_TEXT], strict=True)]
    with_template, control = draw_queries(words, most, seed)
    queries = {True: with_template, False: control}
    answers = {}
    for variant in VARIANTS:
        rows = [{"id": page.page.id, "text": text} for page, text in zip(pages, texts[variant], strict=True)]
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # the index's threads may still write
            index = Path(folder) / "index"
            index_rows(rows, index)
            searcher = Searcher(index)
            for key, of_key in queries.items():
                asked = [str(query) for query in of_key]
                best = [searcher.rank(query, max(DEPTHS)) for query in asked]
                answers[variant, key] = Answers(best, [searcher.count(query) for query in asked])
    sizes = {variant: sum(len(text.split()) for text in of_variant) for variant, of_variant in texts.items()}
    return IndexedCollection(name, words, queries, answers, sizes, dropped)


def _all_texts(run: Run, name: str, pages: Sequence[GoldPage]) -> tuple[dict[str, list[str]], dict[str, set[str]]]:
    """The texts of a collection's pages, by variant, and the words in what `template` drops."""
    both = run.map(f"{name}: cleaning", _clean_page, pages)
    texts = {variant: [of_page[variant] for of_page in both] for variant in (ALL_TEXT, *METHODS)}
    dropped = {}
    for variant in (PAPER, OURS):
        template = make_untrained(variant).fit(page.page for page in pages)  # type: ignore[misc] # it takes pages
        found = [clean(page.page, method=template) for page in pages]
        texts[variant] = [one.text for one in found]
        blocks = (block for one in found for block in zip(one.document.texts, one.kept.tolist(), strict=True))
        dropped[variant] = {word for text, kept in blocks if not kept for word in split(text)}
    texts[GOLD] = [gold_text(page) for page in pages]
    return texts, dropped


def _clean_page(page: GoldPage) -> dict[str, str]:
    texts = {method: clean(page.page, method=method).text for method in METHODS}
    return texts | {ALL_TEXT: "\n".join(read(page.page).texts)}


# The report

_COLLECTIONS = ("cleanportaleval", "daniel-a", "wcxb-dev")
_QUERIES = 280  # as many as the paper's with abstract nouns
_SEED = 2003
_MAIN_CRITERION: Criterion = "lead"

_METHOD = f"""
The paper takes a site's search log and keeps the 280 queries of abstract nouns that contain words of the site's
template. People judge what BM25 finds before and after the template is removed: 39 queries got better, 5
worse. Neither its pages nor its queries and judgments are public. We use gold standards instead: people have marked
the main text of each page, and thereby said which of its words count.

**Collections.** cleanportaleval (four portals) and daniel-a (news in five languages) have many pages of few sites,
like the paper's. wcxb-dev is the other case: pages of all kinds, most of them the only one of their site. The first
two are test sets: nothing here was fitted to them but the template of each site, which needs no gold text.

**Indexes.** The same pages are indexed six times: *all text* of the page, with nothing removed; what
`template:preset=paper`, the paper's system, and `template`, ours, leave (both fitted on the collection); what
`density` and `main` keep; and the *gold* texts, the best that any cleaning could do. BM25 (tantivy), words as they
are, no titles, no stemming.

**Queries.** One word or two, drawn at random (seed {_SEED}), up to {_QUERIES} per collection. A *template word* is in
the text around the gold text on at least half of the pages of some site that has {SITE_PAGES} pages or more. The
*template queries* contain at least one. The *control* queries contain none, like the paper's 520 concrete nouns, for
which it saw no difference. Words in more than a fifth of the gold texts of a language, with fewer than three letters,
or in scripts without spaces are left out. At least two pages must answer a query, and no two queries of a list have
the same answers.

**Relevance.** A page answers a query if its *gold text* is about it; the text around it never counts. The criterion
is *lead*: {CRITERIA["lead"]}. Authors say there what a text is about, and it does not depend on how often the
word comes later, which is what BM25 counts. Two other criteria are below, as a check. *Repeated*:
{CRITERIA["repeated"]}. *Mentioned*: {CRITERIA["mentioned"]}.

**How far this is circular.** Relevance comes from gold texts, and cleaning is meant to give gold texts. So the *gold*
row is an upper bound by construction, and proves nothing. These are not given by construction: that all-text
search suffers at all (a word that is on every page of a site has hardly any weight in BM25, and the paper saw no
change for most queries); that a method that loses main text does not lose more than it gains; and by how much. The
construction leaves out readers who want a page for what surrounds its text, and people's judgment
about validity and use, which the paper had.
"""


class QueryChanges(NamedTuple):
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


def retrieval(run: Run) -> ResultsPage:
    """Index collections with and without boilerplate, and ask both."""
    collections = []
    for name in _COLLECTIONS[: 1 if run.quick else None]:
        run.say(f"{name}: cleaning, indexing, asking")
        collections.append(search_collection(run, name, _QUERIES, _SEED))
    report = ResultsPage("Search with and without the template (Template 4.3, figure 2)")
    _report_outcome(report, collections)
    report.text(_METHOD)
    _describe_collections(report, collections)
    _report_precision(report, collections)
    _report_changes(report, collections)
    _report_engines(report, collections)
    draw_figure_2(report, collections, _MAIN_CRITERION)
    _report_examples(report, collections)
    _report_sensitivity(report, collections)
    return report


# How a system of two engines chooses the one that answers a query: the extracted text's, or all text's (4.3.1).
Switch = Literal["", "words", "better"]
SWITCHES: dict[Switch, str] = {
    "": "the extracted text's alone",
    "words": "by the query's words",
    "better": "the better one",
}


def switch_engines(
    collection: IndexedCollection, variant: str, switch: Switch, *, template: bool, criterion: Criterion
) -> Answers:
    """What two engines answer, one with the extracted text of a variant, the other with all text.

    Args:
        collection: the collection, with what each engine answers.
        variant: what extracts the text.
        switch: "words": the extracted text answers queries with a word that the variant has dropped from some page;
            "better": it answers those where more of its first ten pages are relevant, which nobody knows beforehand;
            "": it answers all.
        template: ask the queries with template words, or the control.
        criterion: which pages are relevant.
    """
    queries = collection.queries[template]
    extracted, whole = (collection.answers[name, template] for name in (variant, ALL_TEXT))
    if not switch:
        return extracted
    if switch == "words":
        chosen = [not collection.dropped[variant].isdisjoint(query.words) for query in queries]
    else:
        found = (answers.relevant_at(DEPTHS[-1], queries, criterion) for answers in (extracted, whole))
        chosen = [new > old for new, old in zip(*found, strict=True)]
    both = [extracted if is_chosen else whole for is_chosen in chosen]
    return Answers([one.top[at] for at, one in enumerate(both)], [one.matching[at] for at, one in enumerate(both)])


def measure(
    collection: IndexedCollection, variant: str, *, template: bool, criterion: Criterion, switch: Switch = ""
) -> Measured:
    """The precision of one index, or of two engines, compared with that of all text."""
    queries = collection.queries[template]
    answers = switch_engines(collection, variant, switch, template=template, criterion=criterion)
    before = collection.answers[ALL_TEXT, template]
    if not queries:
        return Measured([0.0] * len(DEPTHS), 1.0, 0.0)
    found = [answers.relevant_at(depth, queries, criterion) for depth in DEPTHS]
    deepest = DEPTHS[-1]
    test = paired_t_test(found[-1], before.relevant_at(deepest, queries, criterion))
    precision = [fmean(counts) / depth for counts, depth in zip(found, DEPTHS, strict=True)]
    return Measured(precision, test.p, fmean(answers.matching))


def compare(
    collection: IndexedCollection,
    variant: str,
    depth: int,
    *,
    template: bool,
    criterion: Criterion,
    switch: Switch = "",
) -> QueryChanges:
    """Which queries find more, and which fewer, relevant pages among the first than in all text."""
    queries = collection.queries[template]
    after = switch_engines(collection, variant, switch, template=template, criterion=criterion)
    before = collection.answers[ALL_TEXT, template]
    relevant = (answers.relevant_at(depth, queries, criterion) for answers in (after, before))
    pairs = list(zip(*relevant, strict=True))
    return QueryChanges(
        sum(new > old for new, old in pairs),
        sum(new < old for new, old in pairs),
        sum(new == old for new, old in pairs),
        sum(new[:depth] != old[:depth] for new, old in zip(after.top, before.top, strict=True)),
    )


_PAPERS_CHANGES: dict[Switch, str] = {"": "39 / 5 of 280 (cnnfn)", "words": "", "better": "39 / 0 of 280 (cnnfn)"}


def _report_outcome(report: ResultsPage, collections: Sequence[IndexedCollection]) -> None:
    """The whole page in one table."""
    rows = []
    for one in collections:
        for switch, words in SWITCHES.items():
            changes = [
                compare(one, variant, DEPTHS[-1], template=True, criterion=_MAIN_CRITERION, switch=switch)
                for variant in (PAPER, OURS)
            ]
            paper, ours = (f"{change.better} / {change.worse}" for change in changes)
            what = f"{one.name}, {len(one.queries[True])} template queries: better / worse; engine: {words}"
            rows.append((what, _PAPERS_CHANGES[switch], paper, ours))
    report.compare(rows)
    report.text(
        "The number of template queries whose precision at 10 rose and fell when the template was removed, compared "
        "with all text. *As the paper* is `template:preset=paper`, *ours* is `template`; the engines are explained "
        "[below](#two-engines-and-a-switch). The paper's pages were laid out with tables. These are not, so its "
        "system drops next to nothing here, and hardly any query changes ([table 1](template-ratio.md))."
    )


def _describe_collections(report: ResultsPage, collections: Sequence[IndexedCollection]) -> None:
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


def _report_precision(report: ResultsPage, collections: Sequence[IndexedCollection]) -> None:
    report.text(
        "## Precision\n\nPercent of the first 1, 5 and 10 pages that answer the query. Queries have few answers, so "
        "even the gold texts are far from 100 at 10. *p*: two-sided paired t-test over the queries, precision at "
        "10 compared with all text. *Matching*: how many pages contain a word of the query at all, on average; each of "
        "them is a result that a reader may have to skip. *Words*: the size of the index. A method that drops "
        "headlines, as `density` mostly does, drops words that the criterion *lead* requires."
    )
    for one in collections:
        rows = [["index", "words", *_heads("template queries"), *_heads("control")]]
        for variant in VARIANTS:
            row = [variant, f"{one.words[variant]:,}"]
            for template in (True, False):
                measured = measure(one, variant, template=template, criterion=_MAIN_CRITERION)
                p = "< .001" if measured.p < 0.001 else f"{measured.p:.3f}".removeprefix("0")
                p = "" if variant == ALL_TEXT else p
                row += [*(f"{100 * value:.1f}" for value in measured.precision), p, f"{measured.matching:.1f}"]
            rows.append(row)
        report.text(f"### {one.name}")
        report.table(rows)


def _heads(first: str) -> list[str]:
    return [f"{first}: P@1", "P@5", "P@10", "p", "matching"]


def _report_changes(report: ResultsPage, collections: Sequence[IndexedCollection]) -> None:
    report.text(
        "## Queries that got better, and worse\n\nThe paper's N, M and T: queries with more relevant pages among the "
        "first ten than in all text, with fewer, and both together. The others have the same number, though most find "
        "other pages, or the same ones in another order (last column)."
    )
    head = ["collection", "index", "queries", "better (N)", "worse (M)", "N + M = T", "N/T", "M/T", "other results"]
    paper = ["cnnfn", "paper", "280", "39", "5", "44", ".89", ".11", "44"]
    report.table([head, paper, *_rows_of_changes(collections, template=True)])
    report.text("The same for the control queries:")
    report.table([head, *_rows_of_changes(collections, template=False)])


def _rows_of_changes(collections: Sequence[IndexedCollection], *, template: bool) -> Iterator[list[str]]:
    for one in collections:
        for variant in VARIANTS[1:]:
            change = compare(one, variant, DEPTHS[-1], template=template, criterion=_MAIN_CRITERION)
            better_and_worse, changed = (change.better, change.worse), change.better + change.worse
            shares = [f"{n / changed:.2f}".removeprefix("0") if changed else "-" for n in better_and_worse]
            counts = map(str, (len(one.queries[template]), *better_and_worse, changed))
            yield [one.name, variant, *counts, *shares, str(change.other_pages)]


def _report_engines(report: ResultsPage, collections: Sequence[IndexedCollection]) -> None:
    report.text(
        "## Two engines and a switch\n\nThe paper (4.3.1) proposes a system that switches between two engines, one "
        "based on the extracted text and one on all text. It says that with this system no query would get worse (all "
        'bad results improve, "100 %"), where with the first engine alone 1.7 % may (5 of 280). It does not say how to '
        "switch. Its figure is that of the better engine for each query, which is known only from judgments. A switch "
        "that can be built: the engine of the extracted text answers a query that has a word in some chunk that the "
        "method drops, since only those queries should change (4.3); all text answers the others."
    )
    rows = [
        ["collection", "extracted by", "which engine", *(f"{each}: N, M, P@10" for each in ("template", "control"))]
    ]
    rows.append(["cnnfn", "paper", SWITCHES[""], "39, 5", ""])
    rows.append(["cnnfn", "paper", SWITCHES["better"], "39, 0", ""])
    for one in collections:
        for variant in (PAPER, OURS):
            for switch, words in SWITCHES.items():
                row = [one.name, variant, words]
                for template in (True, False):
                    change = compare(
                        one, variant, DEPTHS[-1], template=template, criterion=_MAIN_CRITERION, switch=switch
                    )
                    measured = measure(one, variant, template=template, criterion=_MAIN_CRITERION, switch=switch)
                    row.append(f"{change.better}, {change.worse}, {100 * measured.precision[-1]:.1f}")
                rows.append(row)
    report.table(rows)


def _report_examples(report: ResultsPage, collections: Sequence[IndexedCollection]) -> None:
    report.text(
        "Some of the template queries that changed most, with `main`; in brackets the number of relevant pages among "
        "the first ten, before and after."
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


def _report_sensitivity(report: ResultsPage, collections: Sequence[IndexedCollection]) -> None:
    report.text(
        "## Other criteria of relevance\n\nThe same template queries, judged by other criteria: precision at 10, and "
        "in brackets how many queries got better and worse."
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


# Figure 2: relevant pages among the first, with and without the template

_SHOWN = (PAPER, OURS, "main")
_BEFORE, _AFTER = "#b8b8b8", "#1b4965"
_WIDTH = 0.38


def draw_figure_2(report: ResultsPage, collections: Sequence[IndexedCollection], criterion: Criterion) -> None:
    """One panel for each method and collection: the sums over the queries that changed.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    figure = new_figure(3.2 * len(collections), 2.8 * len(_SHOWN), layout="constrained")
    panels = figure.subplots(len(_SHOWN), len(collections), squeeze=False)
    for line, method in enumerate(_SHOWN):
        for column, collection in enumerate(collections):
            _draw_panel(panels[line, column], collection, method, criterion)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    report.picture(
        "retrieval",
        "Relevant pages among the first 1, 5 and 10, summed over the template queries whose first ten changed in "
        "relevance; above as the paper, then ours, below with `main`",
        figure,
    )


def _draw_panel(axes: Axes, collection: IndexedCollection, method: str, criterion: Criterion) -> None:
    before, after = sums_of_changed(collection, method, criterion)
    for shift, counts, colour, label in (
        (-_WIDTH / 2, before[1:], _BEFORE, "all text"),
        (_WIDTH / 2, after[1:], _AFTER, "boilerplate removed"),
    ):
        bars = axes.bar([at + shift for at in range(len(DEPTHS))], counts, _WIDTH, color=colour, label=label)
        axes.bar_label(bars, fontsize=8, padding=1)
    axes.set_xticks(range(len(DEPTHS)), [f"top {depth}" for depth in DEPTHS])
    queries = "1 query" if before[0] == 1 else f"{before[0]} queries"
    axes.set_title(f"{collection.name}, {method}: {queries}", fontsize=9)
    axes.set_ylabel("relevant pages", fontsize=8)
    axes.tick_params(labelsize=8)
    axes.set_ylim(0, 1.12 * max(1, *before[1:], *after[1:]))
    axes.spines[["top", "right"]].set_visible(False)


def sums_of_changed(collection: IndexedCollection, method: str, criterion: Criterion) -> tuple[list[int], list[int]]:
    """How many queries changed and how many relevant pages they have at each depth, before and after."""
    queries = collection.queries[True]
    found = [
        [collection.answers[variant, True].relevant_at(depth, queries, criterion) for depth in DEPTHS]
        for variant in (ALL_TEXT, method)
    ]
    changed = [at for at in range(len(queries)) if found[0][-1][at] != found[1][-1][at]]
    before, after = ([len(changed), *(sum(counts[at] for at in changed) for counts in of_one)] for of_one in found)
    return before, after
