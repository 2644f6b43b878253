"""How many actions does Teach mode take, and what does it gain? The figures of docs/results/loop.md.

An annotator who knows the gold standard labels 20 pages as the workbench has it: what the newest model suggests is
corrected where it is wrong, what a site repeats is dropped once, the rest is accepted, the next page is the one that
the queue puts first, and a model is taught meanwhile as soon as four pages are done. Store, suggestions, queue and
teaching are those of the workbench; there is no browser. Three tasks:

forum      forums, of which the base has seen none
product    pages of products, likewise
news       one news site with many pages, which the base has not seen; for measuring only: no weights of it ship

An action is a click or a drag that corrects neighbouring blocks, a click that corrects all blocks that are built alike
(where that saves others), a click in the list of what a site repeats, or a key. The clock is that of the annotator: 8 s
to read a page, 1.2 s an action. A model that is taught meanwhile is there when it would be, with a core of this machine
for itself.

OPENBLAS_NUM_THREADS=1 python scripts/simulate_annotator.py --data ../shared/data --work bases
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import click
import numpy as np

from mainmatter.inputs.sites import site_of_page
from mainmatter.lab.datasets import folds_by_site, load_dataset, site_of
from mainmatter.lab.evaluation import evaluate
from mainmatter.lab.training.teach import FEWEST, Teaching, measure_gain, save_lesson, teach
from mainmatter.lab.training.train import observe_pages
from mainmatter.models.store import is_model
from mainmatter.registry import make_untrained
from mainmatter.workbench.labels import Label, Store
from mainmatter.workbench.labels.importing import gold_labels
from mainmatter.workbench.labels.recurring import drop_recurring, find_recurring, key_of
from mainmatter.workbench.labels.suggestions import SuggestingModel, mix_sites, suggest
from mainmatter.workbench.suggestions import MORE_PAGES, PageWorth

if TYPE_CHECKING:
    from mainmatter.lab.datasets import GoldPage
    from mainmatter.workbench.labels.records import PageId
    from mainmatter.workbench.labels.suggestions import Suggestion

TASKS = ("forum", "product", "news")
NEW = ("forum", "product")  # page types that the base has not seen
NEWS = "daniel-a"
PAGES, IN_STORE, MEASURED = 20, 40, 60
SECONDS_A_PAGE, SECONDS_AN_ACTION = 8.0, 1.2
FEWEST_RECURRING = 5  # blocks, for the workbench to ask about them
SURE = 0.8  # that a block is main matter: it is not ticked in the list of what recurs
ANNOTATOR = "simulated"


@click.command()
@click.argument("tasks", nargs=-1, type=click.Choice(TASKS))
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--work", type=click.Path(path_type=Path), required=True, help="A folder; the base in it is kept.")
@click.option("--seed", default=0, show_default=True, help="Of the draw of pages.")
def main(tasks: tuple[str, ...], data: Path, work: Path, seed: int) -> None:
    """Print two tables: what 20 pages cost, and what they gain."""
    base = prepare(data, work)
    costs, gains = [], []
    for task in tasks or TASKS:
        store_pages, held_out = draw(task, data, seed)
        folder = work / f"simulated-{task}"
        shutil.rmtree(folder, ignore_errors=True)
        done = SimulatedAnnotator(folder, store_pages, base).label()
        costs.append(cost_row(task, done))
        before, after = (scores(str(method), held_out) for method in (base, done.teach_now()))
        gain = measure_gain("bag f1", before, after)
        gains.append(
            f"| {task} | {len(held_out)} | {gain.shipped:.3f} | {gain.taught:.3f} | {gain.gain:+.3f} | {gain.wins} | "
            f"{gain.losses} |"
        )
    click.echo(
        "| task | pages | corrections | for the site | done | actions a page | minutes | nothing wrong on | taught |"
    )
    click.echo("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    click.echo("\n".join(costs))
    click.echo("\n| task | held out | base | taught | gain | better on | worse on |")
    click.echo("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    click.echo("\n".join(gains))


def prepare(data: Path, work: Path) -> Path:
    """A base that has seen neither the page types of the tasks nor their sites."""
    base = work / "base"
    if not is_model(base):
        known = [*load_dataset("house-a", data), *load_dataset("house-wcxb", data)]
        sites = {site_of(page) for page in known if page.groups.get("page_type") in NEW}
        method = make_untrained("main")
        rest = observe_pages(method, [page for page in known if site_of(page) not in sites])
        method.learn(rest.observations).save(base, {"data": f"house-a and house-wcxb without {' and '.join(NEW)}"})
    return base


def draw(task: str, data: Path, seed: int) -> tuple[list[GoldPage], list[GoldPage]]:
    """Pages for the store, and others to measure on: of other sites, but for the one news site."""
    if task == "news":
        known = [page for page in load_dataset(NEWS, data) if page.gold.text]
        [(site, _)] = Counter(map(site_of, known)).most_common(1)
        pages = [page for page in known if site_of(page) == site]
        Random(seed).shuffle(pages)  # no secret
        half = min(IN_STORE, max(PAGES, len(pages) // 2))
        return pages[:half], pages[half:][:MEASURED]
    known = load_dataset("house-wcxb", data)
    pages = [page for page in known if page.groups.get("page_type") == task and page.gold.text]
    fold = set(folds_by_site(pages, 2, seed)[0])
    pool = [pages[number] for number in sorted(fold)]
    Random(seed).shuffle(pool)  # no secret
    return pool[:IN_STORE], [page for number, page in enumerate(pages) if number not in fold][:MEASURED]


@dataclass
class SimulatedAnnotator:
    """An annotator at work.

    Attributes:
        folder: the workbench.
        pages: what is in the store.
        base: the model that ships, as it were.
        corrections, for_sites, dones: actions so far.
        at_once: pages on which nothing had to be corrected.
        seconds: on the annotator's clock.
        taught: the numbers of pages with which models were taught, and how many pages later they were there.
    """

    folder: Path
    pages: list[GoldPage]
    base: Path
    corrections: int = 0
    for_sites: int = 0
    dones: int = 0
    at_once: int = 0
    seconds: float = 0.0
    taught: list[str] = field(default_factory=list)

    def label(self) -> SimulatedAnnotator:
        """Label the pages."""
        self.store = Store(self.folder)
        self.gold: dict[PageId, dict[str, Label | None]] = {}
        self.sites: dict[PageId, str] = {}
        self.looked: dict[tuple[PageId, str], Suggestion] = {}
        for page in self.pages:
            number = self.store.add_page(page.page, "simulation")
            self.gold[number] = gold_labels(self.store, number, page)
            self.sites[number] = site_of_page(page.page)
        self.model = SuggestingModel("base", str(self.base))
        self.asked_about: set[str] = set()
        job: tuple[float, SuggestingModel, int] | None = None  # when it ends, what comes of it, from how many pages
        learned, last = 0, 0
        for done in range(PAGES):
            if job is not None and job[0] <= self.seconds:
                self.taught.append(f"{job[2]} pages, there after {done}")
                job, self.model = None, job[1]
            if job is None and done >= max(FEWEST, learned + MORE_PAGES):
                started = time.process_time()
                model = self.teach_now(done)
                job, learned = (self.seconds + time.process_time() - started, model_of(model), done), done
            last = self.next_page(last)
            self.correct(last)
        return self

    def next_page(self, last: PageId) -> PageId:
        """The page that the queue puts first."""
        done = {each.id for each in self.store.pages() if ANNOTATOR in each.done}
        worths = {}
        for page in self.gold.keys() - done:
            found = self.suggest(page)
            worths[page] = PageWorth(found.sure, found.differs).worth
        best_first = sorted(worths, key=lambda page: (-worths[page], page))
        return mix_sites([(page, self.sites[page]) for page in best_first], self.sites.get(last, ""))[0]

    def suggest(self, page: PageId) -> Suggestion:
        """What the newest model suggests; each model looks at each page once."""
        key = page, self.model.name
        if key not in self.looked:
            self.looked[key] = suggest(self.store.document(page), self.model, str(self.base))
        return self.looked[key]

    def correct(self, page: PageId) -> None:
        """Label a page: drop what the site repeats, correct what is wrong, accept the rest, be done."""
        before = self.corrections + self.for_sites
        refs, suggested = self.store.references(page), self.suggest(page)
        self.drop_recurring(page, dict(zip(map(key_of, refs), suggested.scores, strict=True)))
        said = self.store.labels(page, ANNOTATOR).by_ref
        shown = [said.get(ref, label) for ref, label in zip(refs, suggested.labels, strict=True)]
        gold = self.gold[page]
        wanted = [None if gold.get(ref) is None else gold[ref].kept for ref in refs]
        kept, clicks = correct_alike([label.kept for label in shown], wanted, suggested.alike)
        strokes = strokes_of(kept, wanted)
        for first, end, value in strokes:
            kept[first:end] = [value] * (end - first)
        own = {
            ref: replace(label, kept=value, suggested_by="")
            for ref, label, value in zip(refs, shown, kept, strict=True)
            if label.kept != value
        }
        self.store.set_labels(page, ANNOTATOR, own)
        rest = {ref: label for ref, label in zip(refs, shown, strict=True) if ref not in said and ref not in own}
        self.store.set_labels(page, ANNOTATOR, rest)
        self.store.set_done(page, ANNOTATOR, True)
        self.corrections += clicks + len(strokes)
        self.dones += 1
        self.at_once += not own
        actions = self.corrections + self.for_sites + 1 - before
        self.seconds += SECONDS_A_PAGE + SECONDS_AN_ACTION * actions
        wrong = sum(value not in (None, label.kept) for value, label in zip(wanted, shown, strict=True))
        click.echo(
            f"page {page}, {len(refs)} blocks, {wrong} wrong by {self.model.name}, "
            f"{actions} actions, {self.seconds:.0f} s",
            err=True,
        )

    def drop_recurring(self, page: PageId, scores: dict[str, float]) -> None:
        """Answer what is asked about a site, once: untick what is main matter, and drop the rest everywhere."""
        if self.sites[page] in self.asked_about:
            return
        found = find_recurring(self.store, page, ANNOTATOR)
        if len(found.blocks) < FEWEST_RECURRING:
            return
        self.asked_about.add(self.sites[page])
        votes: dict[str, list[bool]] = {}
        for number in found.pages:
            for ref, label in self.gold[number].items():
                if label is not None:
                    votes.setdefault(key_of(ref), []).append(label.kept)
        ticked = [block.key for block in found.blocks if scores.get(block.key, 0) < SURE]
        main_matter = [key for key in ticked if np.mean(votes.get(key, [False])) > 0.5]
        drop_recurring(self.store, found.pages, ANNOTATOR, set(ticked) - set(main_matter))
        self.for_sites += 2 + len(main_matter)  # open the list, untick, drop
        click.echo(f"site {self.sites[page]}: {len(found.blocks)} recur, {len(main_matter)} unticked", err=True)

    def teach_now(self, done: int = PAGES) -> Path:
        """Teach with all pages that are done, as the background job does; gives the model."""
        lesson = teach(self.store.gold_pages(ANNOTATOR), teaching=Teaching(f"main:start={self.base}", curve=False))
        path = self.folder / "models" / f"auto-{done}"
        save_lesson(lesson, path)
        return path


def model_of(path: Path) -> SuggestingModel:
    """A taught model."""
    return SuggestingModel(path.name, str(path), 1)


def correct_alike(shown: list[bool], wanted: list[bool | None], alike: list[int]) -> tuple[list[bool], int]:
    """Correct all blocks that are built alike by a click, as long as each click saves two others.

    Returns:
        What the blocks are said to be then, and how many clicks that took.
    """
    kept, clicks = list(shown), 0
    groups = {number: [i for i, other in enumerate(alike) if other == number] for number in set(alike)}
    while True:
        left = len(strokes_of(kept, wanted))
        best = (left - 1, kept)
        for members in groups.values():
            wrong = {wanted[i] for i in members if wanted[i] not in (None, kept[i])}
            for value in wrong:
                after = list(kept)
                for i in members:
                    after[i] = bool(value)
                best = min(best, (len(strokes_of(after, wanted)), after), key=lambda each: each[0])
        if best[0] >= left - 1:
            return kept, clicks
        kept, clicks = best[1], clicks + 1


def strokes_of(shown: list[bool], wanted: list[bool | None]) -> list[tuple[int, int, bool]]:
    """The fewest clicks and drags that correct all blocks: first, end, and what they say.

    A drag labels all blocks that it goes over, so it may go over such as are right, or do not matter, already.
    """
    strokes: list[tuple[int, int, bool]] = []
    for i, (one, other) in enumerate(zip(shown, wanted, strict=True)):
        if other is None or one == other:
            continue
        if strokes and strokes[-1][2] == other and all(each in (None, other) for each in wanted[strokes[-1][1] : i]):
            strokes[-1] = (strokes[-1][0], i + 1, other)
        else:
            strokes.append((i, i + 1, other))
    return strokes


def cost_row(task: str, done: SimulatedAnnotator) -> str:
    """What the pages cost, as a row of a table."""
    actions = done.corrections + done.for_sites + done.dones
    return (
        f"| {task} | {PAGES} | {done.corrections} | {done.for_sites} | {done.dones} | {actions / PAGES:.1f} | "
        f"{done.seconds / 60:.1f} | {done.at_once} | {'; '.join(done.taught)} |"
    )


def scores(method: str, pages: list[GoldPage]) -> list[float]:
    """The bag of words F1 of each page."""
    found = evaluate(method, "", pages, ["bag"])
    return [row["bag"]["f1"] for _, row in found.pages if row["bag"] is not None]


if __name__ == "__main__":
    main()
