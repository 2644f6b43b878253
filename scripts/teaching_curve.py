"""How much do a few annotated pages teach, and does `teach` judge that rightly? For docs/results/teaching.md.

The shipped `main` has learned from all training sets, so it cannot be taught with their pages honestly. A base is
trained as the shipped one is, in fewer epochs, but without the sites of all tasks:

forum, product                              pages of wcxb-dev of kinds of which the base has seen none
house-forum, house-product                  the same by our labelling guide, and more products
forum52-a, magic-forum                      forums, with the rules of two other gold standards
cleaneval-dev, fundus-a, readability        articles and news, with other rules
mixed, house-mixed                          of wcxb-dev and house-a: other sites, nothing else is new

Gold standards of which the base knows no rules come as a user's pages do: as if their rules were ours.

A trial draws pages from half of a task's sites, teaches the base with them, and measures the base and the taught model
on the other half of the sites. Each trial is a line of trials.jsonl; those that are there are not done again.

OPENBLAS_NUM_THREADS=1 python scripts/teaching_curve.py run --data ../shared/data --work work
python scripts/teaching_curve.py report --work work
"""

from __future__ import annotations

import itertools
import json
import time
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from scipy.optimize import minimize

from mainmatter.lab.datasets import folds_by_site, load_dataset, site_of
from mainmatter.lab.evaluation import evaluate, paired_t_test
from mainmatter.lab.training.folds import assign_folds
from mainmatter.lab.training.teach import QUICK_FOLDS, Teaching, teach
from mainmatter.lab.training.train import observe_pages
from mainmatter.lab.training.verdict import EXPERIENCE, Experience, judge_gain, standard_error
from mainmatter.main.method import Main
from mainmatter.main.rehearsal import REHEARSAL, choose_pages, save_rehearsal
from mainmatter.method import OUR_CONVENTION
from mainmatter.models.store import is_model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.training.verdict import Outlook

SIZES = (5, 10, 20)
KNOWN = ("wcxb-dev", "house-a", "house-wcxb", "magic-a")  # that the base learns from
UNKNOWN = ("cleaneval-dev", "fundus-a", "readability", "forum52-a")
NEW_KINDS = ("forum", "product")
NOTHING_NEW = ("mixed", "house-mixed")
PARTS = 7  # of the sites of what the base knows, one is held out
EPOCHS = 9
MOST_MEASURED, MOST_OTHERS = 80, 40
TRIALS = "trials.jsonl"
BINS = (0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.01)
SAME = 1e-6
OLD_LEVEL = 0.05


@click.group()
def main() -> None:
    """Trials of teaching, and what they say."""


@main.command()
@click.argument("names", nargs=-1, metavar="[TASK]...")
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--work", type=click.Path(path_type=Path), required=True, help="A folder for the base and the trials.")
@click.option("--seeds", default=2, show_default=True, help="How many times pages are drawn.")
@click.option("--first-seed", default=0, show_default=True)
@click.option("--seconds", default=1e9, help="Begin no trial after that.")
def run(names: tuple[str, ...], data: Path, work: Path, seeds: int, first_seed: int, seconds: float) -> None:
    """Do the trials that have not been done yet."""
    started = time.monotonic()
    tasks, rest = split_tasks(data)
    base = make_base(rest, work / "base")
    others = [page for task in NOTHING_NEW for page in Random(0).sample(tasks[task], MOST_OTHERS)]
    before = dict.fromkeys(map(_key, read_trials(work)))
    of_others = measure(str(base), others)
    for seed in range(first_seed, first_seed + seeds):
        for size in SIZES:
            for task in names or tasks:
                if (task, size, seed) in before or time.monotonic() - started > seconds:
                    continue
                found = try_teaching(task, tasks[task], base, size, seed)
                if found is None:
                    continue
                trial, model = found
                if task not in NOTHING_NEW and size == SIZES[-1]:
                    trial |= {"others_before": of_others, "others_after": measure(model, others)}
                with (work / TRIALS).open("a") as lines:
                    lines.write(json.dumps(trial) + "\n")
                click.echo(f"{task} {size} {seed}: {trial['verdict']}")


@main.command()
@click.option("--work", type=click.Path(path_type=Path), required=True, help="The folder of the trials.")
def report(work: Path) -> None:
    """Print what the trials say, and the experience that is fitted to them."""
    trials = read_trials(work)
    if not trials:
        raise click.UsageError(f"{work} has no trials; run some first")
    click.echo("| task | pages | base | taught | gain | better | worse | likely better | other pages | trials |")
    click.echo("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for task, size in sorted({(trial["task"], trial["size"]) for trial in trials}):
        own = [trial for trial in trials if (trial["task"], trial["size"]) == (task, size)]
        before, after = (np.concatenate([trial[name] for trial in own]) for name in ("before", "after"))
        likely = "/".join(f"{judge(trial).probability:.0%}" for trial in own)
        others = [
            np.subtract(trial["others_after"], trial["others_before"]).mean()
            for trial in own
            if "others_after" in trial
        ]
        click.echo(
            f"| {task} | {size} | {before.mean():.3f} | {after.mean():.3f} | {after.mean() - before.mean():+.3f} | "
            f"{(after > before + SAME).sum()} | {(after < before - SAME).sum()} | {likely} | "
            f"{f'{np.mean(others):+.3f}' if others else ''} | {len(own)} |"
        )
    said, is_better = [], []
    for task in sorted({trial["task"] for trial in trials}):
        experience = fit([trial for trial in trials if trial["task"] != task])
        for trial in trials:
            if trial["task"] == task:
                said.append(judge(trial, experience).probability)
                is_better.append(true_gain(trial)[0] > 0)
    click.echo("\nExperience from all tasks but that of the trial:\n")
    print_reliability(np.array(said), np.array(is_better))
    called = [paired_t_test(trial["taught"], trial["shipped"]) for trial in trials]
    by_test = np.array([test.t > 0 and test.p < OLD_LEVEL for test in called])
    found = (by_test & np.array(is_better)).sum()
    click.echo(f"\nOf {sum(is_better)} models that were better, a t-test (p < {OLD_LEVEL}) finds {found}.")
    variances = [np.var(np.subtract(trial["taught"], trial["shipped"]), ddof=1) for trial in trials]
    click.echo(f"\n{fit(trials)}; pages of a trial differ by {np.sqrt(np.mean(variances)):.3f}")


def judge(trial: dict[str, Any], experience: Experience = EXPERIENCE) -> Outlook:
    """What `teach` says of a trial, with another experience if need be."""
    differences = np.subtract(trial["taught"], trial["shipped"]).tolist()
    return judge_gain(differences, trial["sites"], experience)


def true_gain(trial: dict[str, Any]) -> tuple[float, float]:
    """The gain on the other half of the sites, and its standard error."""
    differences = np.subtract(trial["after"], trial["before"])
    return float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(len(differences)))


def fit(trials: list[dict[str, Any]]) -> Experience:
    """The experience under which the trials are most probable.

    Both gains of a trial, at hand and elsewhere, are normal, and have the true one in common.
    """
    measured = []
    for trial in trials:
        differences = np.subtract(trial["taught"], trial["shipped"]).tolist()
        measured.append((float(np.mean(differences)), standard_error(differences, trial["sites"]), *true_gain(trial)))
    at_hand, error, elsewhere, error_elsewhere = np.array(measured).T

    def surprise(parameters: NDArray[np.float64]) -> float:
        expected, spread = parameters[0], np.exp(parameters[1])
        a, b = spread**2 + error**2, spread**2 + error_elsewhere**2
        determinant = a * b - spread**4
        x, y = at_hand - expected, elsewhere - expected
        squares = (b * x**2 - 2 * spread**2 * x * y + a * y**2) / determinant
        return float(np.sum(squares + np.log(determinant)))

    found = minimize(surprise, [0.02, np.log(0.03)], method="Nelder-Mead")
    return Experience(float(found.x[0]), float(np.exp(found.x[1])))


def print_reliability(said: NDArray[np.float64], is_better: NDArray[np.bool_]) -> None:
    """Print how many of the models that were called so probably better are better."""
    click.echo("| said | trials | mean of what was said | better in truth |")
    click.echo("| --- | ---: | ---: | ---: |")
    for low, high in itertools.pairwise(BINS):
        own = (said >= low) & (said < high)
        if own.any():
            click.echo(
                f"| {low:.0%} to {min(high, 1):.0%} | {own.sum()} | {said[own].mean():.0%} | "
                f"{is_better[own].sum()} ({is_better[own].mean():.0%}) |"
            )
    click.echo(f"| all | {len(said)} | {said.mean():.0%} | {is_better.sum()} ({is_better.mean():.0%}) |")


def split_tasks(data: Path) -> tuple[dict[str, list[GoldPage]], list[GoldPage]]:
    """The pages of each task, and those that the base learns from, none of a site of the former."""
    pages = [(name, page) for name in (*KNOWN, *UNKNOWN) for page in load_dataset(name, data)]
    folds = assign_folds([page for _, page in pages], PARTS)
    tasks: dict[str, list[GoldPage]] = {}
    rest = []
    for (name, page), fold in zip(pages, folds, strict=True):
        kind = page.groups.get("page_type")
        house = "house-" if name.startswith("house") else ""
        task = None
        if name in UNKNOWN:
            task = name
        elif name == "magic-a":
            task = "magic-forum" if kind == "forum" else None
        elif kind in NEW_KINDS:
            task = house + kind
        elif fold == 0:
            task = None if name == "house-wcxb" else f"{house}mixed"
        else:
            rest.append(page)
            continue
        if task is None:
            if fold:
                rest.append(page)
        elif page.gold.text:
            is_known = name in KNOWN and name != "magic-a"
            tasks.setdefault(task, []).append(page if is_known else replace(page, convention=OUR_CONVENTION))
    taken = {site_of(page) for pages in tasks.values() for page in pages}
    return tasks, [page for page in rest if page.gold.text and site_of(page) not in taken]


def make_base(pages: list[GoldPage], folder: Path) -> Path:
    """A model that was trained on these pages, with some of them for rehearsal; made once."""
    if not is_model(folder):
        method = Main(epochs=EPOCHS)
        observed = observe_pages(method, pages).observations
        method.learn(observed).save(folder, {"data": "see scripts/teaching_curve.py"})
        save_rehearsal(choose_pages(observed), method.vocabulary_, folder / REHEARSAL)
    return folder


def try_teaching(
    task: str, pages: list[GoldPage], base: Path, size: int, seed: int
) -> tuple[dict[str, Any], Any] | None:
    """A trial, and the model that was taught; None if there are too few pages."""
    fold = folds_by_site(pages, 2, seed)[0]
    pool = [pages[number] for number in fold]
    rest = [page for number, page in enumerate(pages) if number not in set(fold)]
    for each in (pool, rest):
        Random(seed).shuffle(each)  # no secret
    if size > len(pool):
        return None
    started = time.monotonic()
    lesson = teach(
        pool[:size],
        teaching=Teaching(f"main:start={base}", curve=False, folds=QUICK_FOLDS, metrics=("bag",), seed=seed),
    )
    return {
        "task": task,
        "size": size,
        "seed": seed,
        "seconds": round(time.monotonic() - started, 1),
        "verdict": lesson.verdict,
        "outlook": lesson.to_json()["outlook"],
        "strength": lesson.strength,
        "forgotten": lesson.forgotten,
        "sites": [site_of(page) for page in pool[:size]] if lesson.splitting == "site" else list(range(size)),
        "shipped": [page.shipped for page in lesson.by_page],
        "taught": [page.taught for page in lesson.by_page],
        "before": measure(str(base), rest[:MOST_MEASURED]),
        "after": measure(lesson.model, rest[:MOST_MEASURED]),
    }, lesson.model


def measure(method: object, pages: list[GoldPage]) -> list[float]:
    """The bag of words F1 of each page."""
    found = evaluate(method, "", pages, ["bag"])  # type: ignore[arg-type]
    return [row["bag"]["f1"] for _, row in found.pages if row["bag"] is not None]


def read_trials(work: Path) -> list[dict[str, Any]]:
    """The trials that were done."""
    try:
        return [json.loads(line) for line in (work / TRIALS).read_text("utf-8").splitlines()]
    except FileNotFoundError:
        return []


def _key(trial: dict[str, Any]) -> tuple[str, int, int]:
    return trial["task"], trial["size"], trial["seed"]


if __name__ == "__main__":
    main()
