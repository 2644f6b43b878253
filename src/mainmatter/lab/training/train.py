"""The whole of training: data to labels to a model with its card."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from mainmatter.errors import InputError, MissingExtra
from mainmatter.lab.datasets import DATASETS, folds_by_site
from mainmatter.lab.evaluation import evaluate
from mainmatter.lab.metrics import find_metric
from mainmatter.lab.training.card import data_entry, method_entry, page_digest
from mainmatter.lab.training.fit import Observed, headline, observe_pages
from mainmatter.registry import make_untrained
from mainmatter.trainable import be_silent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.evaluation import Evaluation
    from mainmatter.lab.training.align import Aligner
    from mainmatter.trainable import Trainable

    Progress = Callable[[str, int], AbstractContextManager[Callable[[], None]]]

METRIC = "bag"
CHECK_FOLDS = 10  # a first training leaves this part of the sites out, to measure on them
FEW_PAGES, CHECK_FOLDS_OF_FEW = 50, 3  # of fewer pages it leaves a third out: one or two would say little
POOR_LABELS = 0.8
BASELINE = "ice-baseline"  # keeps everything: whatever is below it has learned nothing


@dataclass
class Training:
    """What to train on, and how.

    Attributes:
        method: the name of the method, with parameters, as in "ncleaner:n=4".
        data: the gold standards to learn from, by name.
        valid: the gold standards to measure the result on, by name.
        by: how to label blocks; see `lab/training/align.py`.
        check: train on nine tenths of the sites first and measure on the rest, for an early and honest figure.
        licence: under which licence the data is, where the table of datasets does not know it.
        workers: how many processes read pages.
        checkpoint: a folder where methods whose learning takes long leave their state, to go on after an interrupt.
    """

    method: str
    data: Mapping[str, Sequence[GoldPage]]
    valid: Mapping[str, Sequence[GoldPage]] = field(default_factory=dict)
    by: Aligner = "words"
    check: bool = True
    licence: str | None = None
    workers: int = 1
    checkpoint: Path | None = None

    def make_method(self) -> Trainable[Any]:
        """The method, as yet untrained."""
        method = make_untrained(self.method)
        if self.checkpoint is not None and hasattr(method, "checkpoint"):
            method.checkpoint = method.checkpoint or str(self.checkpoint)
        return method


def train(
    training: Training, progress: Progress, say: Callable[[str], object] = be_silent
) -> tuple[Trainable[Any], dict[str, Any]]:
    """Train a method, and tell how it goes.

    Args:
        training: what to train on, and how.
        progress: shows how far a piece of work has come, as `cli/progress.py` does.
        say: told a line after each step.

    Returns:
        The trained method, and the card to save with it.

    Raises:
        UnknownName: no method of that name learns.
        InputError: a parameter is wrong, or there is no page to learn from.
        MissingExtra: learning needs a package that is not installed.
    """
    started = time.monotonic()
    method = training.make_method()
    method.need_extras()
    if find_spec("rapidfuzz") is None:
        raise MissingExtra("rapidfuzz", "train")
    card = method_entry(training.method, training.by)
    card["data"] = [data_entry(name, pages, training.licence) for name, pages in training.data.items()]
    for name in training.data:
        if name in DATASETS and not DATASETS[name].trains:
            say(f"{name} is a test set: what learns from it cannot be measured on it, and should not be given away")
    observed = _observe(training, method, progress, say)
    card["pages"] = {"learned_from": len(observed.pages), "skipped": len(observed.skipped)}
    card["oracle"] = {f"{METRIC}_f1": round(observed.oracle, 4)}
    if training.check:
        card["check"] = _check(training, observed, progress, say)
    say(f"learning from {_count(observed.pages)}")
    learning = time.monotonic()
    method.learn(observed.observations, say)
    card["seconds"] = {"learning": round(time.monotonic() - learning, 1)}
    card["valid"] = [_validate(training, name, method, progress, say) for name in training.valid]
    card["seconds"]["in_all"] = round(time.monotonic() - started, 1)
    return method, card


def _observe(training: Training, method: Trainable[Any], progress: Progress, say: Callable[[str], object]) -> Observed:
    """Read and label the pages; fewer than all of them is told, none of them is an error."""
    pages = _without_copies([page for pages in training.data.values() for page in pages], say)
    with progress("reading and labelling", len(pages)) as advance:
        observed = observe_pages(method, pages, by=training.by, workers=training.workers, on_page=advance)
    for page, reason in observed.skipped:
        say(f"skipped {page}: {reason}")
    if not observed.pages:
        raise InputError(
            f"no page to learn from: all {_count(pages)} were skipped, the first: {observed.skipped[0][1]}"
        )
    say(
        f"{_count(observed.pages)} labelled, {len(observed.skipped)} skipped; "
        f"keeping exactly the blocks that are labelled so would give {METRIC} f1 {observed.oracle:.3f}"
    )
    measured = [
        (score, page) for score, page in zip(observed.oracle_scores, observed.pages, strict=True) if score is not None
    ]
    if measured and observed.oracle < POOR_LABELS:
        worst = min(measured, key=lambda both: both[0])[1].page.id
        say(f"that is little: are the gold texts those of the pages? Look at {worst} first")
    return observed


def _check(
    training: Training, observed: Observed, progress: Progress, say: Callable[[str], object]
) -> dict[str, Any] | None:
    """Train without a tenth of the sites and measure on them: the figure to expect on pages like these."""
    parts = CHECK_FOLDS if len(observed.pages) >= FEW_PAGES else CHECK_FOLDS_OF_FEW
    folds = [fold for fold in folds_by_site(observed.pages, parts) if fold]
    if len(folds) < 2:
        say("no check: all pages are of one site")
        return None
    # A large site can fill most of a fold: take one that is as near to its share of the pages as there is.
    fold = min(folds, key=lambda fold: abs(len(fold) - len(observed.pages) / parts))
    held_out = set(fold)
    method = training.make_method()
    try:
        rest = [each for i, each in enumerate(observed.observations) if i not in held_out]
        method.learn(rest, lambda line: say(f"check: {line}"))
    except InputError as error:
        say(f"no check: without {_count(fold)}, {error}")
        return None
    pages = [observed.pages[i] for i in fold]
    found = _measure(method, "held out", pages, training.workers, progress)
    everything = _measure(BASELINE, "held out", pages, training.workers, progress)
    left_out = f"{_count(pages)} of sites left out of a first training{_doubt(observed.pages)}"
    say(f"check: on {left_out}: {headline(found, METRIC)} (all text: {headline(everything, METRIC)})")
    if _figures(found).get(f"{METRIC}_f1", 0) <= _figures(everything).get(f"{METRIC}_f1", 0):
        say(f"that is no better than keeping everything: more pages, or other parameters of {method.name}, may help")
    return {"pages": len(pages), **_figures(found), "all_text": _figures(everything)}


def _doubt(pages: Sequence[GoldPage]) -> str:
    """How many pages were perhaps not kept together with others of their site."""
    unknown = sum(not page.page.url for page in pages)
    return f" ({unknown:,} of {_count(pages)} have no URL, and count as sites of their own)" if unknown else ""


def _without_copies(pages: Sequence[GoldPage], say: Callable[[str], object]) -> list[GoldPage]:
    """Each page once: a copy would be on both sides of a split, and count double."""
    different = list({page_digest(page): page for page in pages}.values())
    if len(different) < len(pages):
        say(f"{len(pages) - len(different):,} of {_count(pages)} are copies of others, and left out")
    return different


def _validate(
    training: Training, name: str, method: Trainable[Any], progress: Progress, say: Callable[[str], object]
) -> dict[str, Any]:
    pages = training.valid[name]
    found = _measure(method, name, pages, training.workers, progress)
    learned_from = {page_digest(page) for data in training.data.values() for page in data}
    seen = sum(page_digest(page) in learned_from for page in pages)
    warning = f", {seen:,} of which it has learned from" if seen else ""
    say(f"{name}: {headline(found, METRIC)} on {_count(pages)}{warning}")
    return {"name": name, "pages": len(pages), "learned_from": seen, **_figures(found)}


def _measure(
    method: str | Trainable[Any], name: str, pages: Sequence[GoldPage], workers: int, progress: Progress
) -> Evaluation:
    label = method if isinstance(method, str) else method.name
    with progress(f"{label} on {name}", len(pages)) as advance:
        return evaluate(method, name, pages, [METRIC], workers=workers, on_page=advance)


def _count(pages: Sequence[object]) -> str:
    return f"{len(pages):,} page{'s' * (len(pages) != 1)}"


def _figures(evaluation: Evaluation) -> dict[str, float]:
    scores = evaluation.scores[METRIC]
    return {
        f"{METRIC}_{column}": round(scores[column], 4) for column in find_metric(METRIC).columns if column in scores
    }
