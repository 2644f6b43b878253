"""The whole of training: gold pages to examples to a model with its card, and cross-validation by site.

A card says where a model comes from: for programs in model.json, for people in README.md.
"""

from __future__ import annotations

import hashlib
import math
import time
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from itertools import compress
from typing import TYPE_CHECKING, Any

from mainmatter.errors import InputError, MainmatterError, MissingExtra
from mainmatter.files import write_whole
from mainmatter.isolation.parallel import Failure, ordered_map
from mainmatter.lab.datasets import DATASETS, folds_by_site
from mainmatter.lab.evaluation import Evaluation, convention_of, evaluate
from mainmatter.lab.learned import CARD_ENTRY, learned_by, pack_digests, short_digest, started_with
from mainmatter.lab.metrics import find_metric
from mainmatter.lab.metrics.bag import bag_of_words
from mainmatter.lab.training.examples import make_example
from mainmatter.method import FROM_NOTHING, be_silent
from mainmatter.models.store import SHIPPED
from mainmatter.registry import make_untrained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.metrics import Row
    from mainmatter.lab.training.examples import Aligner
    from mainmatter.method import Trainable

    Progress = Callable[[str, int], AbstractContextManager[Callable[[], None]]]

METRIC = "bag"
CHECK_FOLDS = 10  # a first training leaves this part of the sites out, to measure on them
FEW_PAGES, CHECK_FOLDS_OF_FEW = 50, 3  # of fewer pages it leaves a third out: one or two would say little
POOR_LABELS = 0.8
BASELINE = "ice-baseline"  # keeps everything: whatever is below it has learned nothing
CARD_PAGE = "README.md"  # beside the model
_UNKNOWN = "not said"


@dataclass
class ObservedPages:
    """What a method observed on pages.

    Attributes:
        pages: the pages that it could observe, in order.
        observations: what it observed on each of them.
        skipped: the pages that it could not, with the reason.
        oracle_scores: for each page, bag of words F1 of the text of exactly those blocks that are labelled as kept;
            None for a page with snippets only.
    """

    pages: list[GoldPage] = field(default_factory=list)
    observations: list[Any] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    oracle_scores: list[float | None] = field(default_factory=list)

    @property
    def oracle(self) -> float:
        """What a perfect choice of blocks would reach on average."""
        known = [score for score in self.oracle_scores if score is not None]
        return sum(known) / max(1, len(known))


def observe_pages(
    method: Trainable[Any],
    pages: Sequence[GoldPage],
    *,
    by: Aligner = "words",
    workers: int = 1,
    on_page: Callable[[], object] = lambda: None,
) -> ObservedPages:
    """Label pages by their gold text and take from each what a method needs for learning.

    Args:
        method: the method that is to learn.
        pages: pages with gold text; those without are skipped, unless the method learns from their snippets.
        by: how to label blocks; see `lab/training/examples.py`.
        workers: how many processes.
        on_page: called after each page, for showing progress.
    """
    found = ObservedPages()
    with_gold = [page for page in pages if _is_of_use(page, method)]
    found.skipped += [(page.page.id or "", "has no gold text") for page in pages if not _is_of_use(page, method)]
    results = ordered_map(partial(_observe_page, method, by), with_gold, workers)
    for page, result in zip(with_gold, results, strict=True):
        if isinstance(result, Failure):
            found.skipped.append((page.page.id or "", result.error))
        else:
            found.pages.append(page)
            observation, oracle_score = result
            found.observations.append(observation)
            found.oracle_scores.append(oracle_score)
        on_page()
    return found


def _is_of_use(page: GoldPage, method: Trainable[Any]) -> bool:
    has_snippets = bool(page.gold.must_have or page.gold.must_not_have)
    return page.gold.text is not None or (method.learns_from_snippets and has_snippets)


def _observe_page(method: Trainable[Any], by: Aligner, page: GoldPage) -> tuple[Any, float | None]:
    # What annotators left open is unknown, but only some methods know of that.
    example = make_example(page, by, unknown=math.nan if method.learns_from_snippets else 0.0)
    if page.gold.text is None:
        return method.observe(example), None
    labelled = "\n".join(compress(example.document.columns.texts, example.kept))
    return method.observe(example), bag_of_words(labelled, page.gold.text).f1


def cross_validate(
    name: str,
    observed: ObservedPages,
    metrics: Sequence[str],
    *,
    folds: int = 10,
    workers: int = 1,
    report: Callable[[str], object] = be_silent,
) -> Evaluation:
    """Measure a method on pages of sites that it has not learned from: each page is judged once.

    Args:
        name: the method with its parameters, as in "ncleaner:n=4".
        observed: what it observed on the pages; parameters that change observations need another observation.
        metrics: the names of the metrics.
        folds: how many parts; fewer where there are fewer sites.
        workers: how many processes evaluate; learning takes one.
        report: called with a line after each fold.
    """
    rows: dict[int, tuple[str, Any]] = {}
    failures: list[tuple[str, str]] = []
    parts = [fold for fold in folds_by_site(observed.pages, folds) if fold]
    for number, fold in enumerate(parts):
        held_out = set(fold)
        rest = [each for i, each in enumerate(observed.observations) if i not in held_out]
        method = make_untrained(name).learn(rest)
        pages = [observed.pages[i] for i in fold]
        result = evaluate(method, "", pages, metrics, convention=convention_of(name), workers=workers)
        rows.update(zip(fold, result.pages, strict=True))
        failures += result.failures
        report(f"fold {number + 1} of {len(parts)}: {headline(result, metrics[0])}")
    in_order = [rows[i] for i in range(len(observed.pages))]
    scores = {metric: find_metric(metric).aggregate([row[metric] for _, row in in_order]) for metric in metrics}
    return Evaluation(name, "", scores, {}, in_order, failures)


def headline(evaluation: Evaluation, name: str) -> str:
    """The one figure to look at, with its name."""
    metric = find_metric(name)
    figure = evaluation.scores[name].get(metric.headline)
    return f"{metric.name} {metric.headline} {'-' if figure is None else f'{figure:.3f}'}"


@dataclass
class Training:
    """What to train on, and how.

    Attributes:
        method: the name of the method, with parameters, as in "ncleaner:n=4".
        data: the gold standards to learn from, by name.
        valid: the gold standards to measure the result on, by name.
        by: how to label blocks; see `lab/training/examples.py`.
        check: train on nine tenths of the sites first and measure on the rest, for an early and honest figure.
        licence: under which licence the data is, where the table of datasets does not know it.
        workers: how many processes read pages.
        checkpoint: a folder where methods whose learning takes long leave their state, to go on after an interrupt.
        from_scratch: start from nothing, for methods that can start from a model, as `main` can. If False, they start
            from the shipped model, unless their parameter `start` names another one, or is "none".
    """

    method: str
    data: Mapping[str, Sequence[GoldPage]]
    valid: Mapping[str, Sequence[GoldPage]] = field(default_factory=dict)
    by: Aligner = "words"
    check: bool = True
    licence: str | None = None
    workers: int = 1
    checkpoint: Path | None = None
    from_scratch: bool = False

    def make_method(self) -> Trainable[Any]:
        """The method, as yet untrained.

        Raises:
            InputError: it is to go on from a model and to begin from nothing.
        """
        method = make_untrained(self.method)
        start = getattr(method, "start", None)
        if self.from_scratch and start not in (None, "", FROM_NOTHING):
            raise InputError(f"{self.method}: start={start} goes on from a model, which --from-scratch forbids")
        if start == "" and not self.from_scratch:
            method.start = method.name  # type: ignore[attr-defined] # as was just found out
        if self.checkpoint is not None and hasattr(method, "checkpoint"):
            method.checkpoint = method.checkpoint or str(self.checkpoint)
        return method


def train(
    training: Training, progress: Progress, say: Callable[[str], object] = be_silent
) -> tuple[Trainable[Any], dict[str, Any]]:
    """Train a method, and report the progress.

    Args:
        training: what to train on, and how.
        progress: shows how far a piece of work has come, as `cli/printing.py` does.
        say: called with a line after each step.

    Returns:
        The trained method, and the card to save with it.

    Raises:
        UnknownName: no method of that name learns.
        InputError: a parameter is wrong, or there are no pages to learn from.
        MissingExtra: learning needs a package that is not installed.
    """
    started = time.monotonic()
    method = training.make_method()
    method.need_extras()
    need_aligner()
    start = start_of(method)
    if start:
        say(f"starting from {_start_in_words(method, start)}; --from-scratch starts from nothing")
    elif hasattr(method, "start"):
        say("starting from nothing")
    for name in training.data:
        use = DATASETS[name].use if name in DATASETS else "training"
        if use == "tests":
            say(
                f"{name} is a test set: a model that learns from it cannot be measured on it, and should not "
                "be published"
            )
        elif use == "papers":
            say(f"the data of {name} is {DATASETS[name].licence}: so is a model that learns from it")
    observed = _observe(training, method, progress, say)
    skipped = len(observed.skipped)
    card = make_card(training.method, training.by, training.data, training.licence, observed, skipped, start)
    if training.check:
        card["check"] = _check(training, observed, progress, say)
    say(f"learning from {_count(observed.pages)}")
    learning = time.monotonic()
    method.learn(observed.observations, say)
    card["seconds"] = {"learning": round(time.monotonic() - learning, 1)}
    card["valid"] = [_validate(training, name, method, progress, say) for name in training.valid]
    card["seconds"]["in_all"] = round(time.monotonic() - started, 1)
    return method, card


def _observe(
    training: Training, method: Trainable[Any], progress: Progress, say: Callable[[str], object]
) -> ObservedPages:
    """Read and label the pages. If some are skipped, that is reported; if all are, that is an error."""
    given = [page for pages in training.data.values() for page in pages]
    pages = different_pages(given)
    if len(pages) < len(given):
        say(f"{len(given) - len(pages):,} of {_count(given)} are copies of others and were left out")
    with progress("reading and labelling", len(pages)) as advance:
        observed = observe_pages(method, pages, by=training.by, workers=training.workers, on_page=advance)
    for page, reason in observed.skipped:
        say(f"skipped {page}: {reason}")
    if not observed.pages:
        raise InputError(
            f"no pages to learn from: all {_count(pages)} were skipped, the first: {observed.skipped[0][1]}"
        )
    say(
        f"{_count(observed.pages)} labelled, {len(observed.skipped)} skipped; "
        f"keeping exactly the blocks labelled as main matter would give {METRIC} f1 {observed.oracle:.3f}"
    )
    measured = [
        (score, page) for score, page in zip(observed.oracle_scores, observed.pages, strict=True) if score is not None
    ]
    if measured and observed.oracle < POOR_LABELS:
        worst = min(measured, key=lambda both: both[0])[1].page.id
        say(f"that is low: do the gold texts belong to these pages? Look at {worst} first")
    return observed


def _check(
    training: Training, observed: ObservedPages, progress: Progress, say: Callable[[str], object]
) -> dict[str, Any] | None:
    """Train without a tenth of the sites and measure on them: the figure to expect on pages like these."""
    parts = CHECK_FOLDS if len(observed.pages) >= FEW_PAGES else CHECK_FOLDS_OF_FEW
    folds = [fold for fold in folds_by_site(observed.pages, parts) if fold]
    if len(folds) < 2:
        say("no check: all pages are from one site")
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
    found = _measure(training, method, "held out", pages, progress)
    everything = _measure(training, BASELINE, "held out", pages, progress)
    shipped = _measure_shipped(training, "held out", pages, progress)
    left_out = f"{_count(pages)} from sites left out of a first training"
    unknown = sum(not page.page.url for page in observed.pages)  # perhaps not kept together with others of their site
    if unknown:
        left_out += f" ({unknown:,} of {_count(observed.pages)} have no URL, and each counts as a site of its own)"
    beside = f"all text: {headline(everything, METRIC)}"
    if shipped is not None:
        beside = f"{_about_shipped(shipped)}; {beside}"
    say(f"check: on {left_out}: {headline(found, METRIC)} ({beside})")
    seen = sum(short_digest(page) in (started_with(start_of(method)) or ()) for page in pages)
    if seen:
        say(f"the model that it starts from has learned from {seen:,} of them, so the figure is too good")
    scores, of_all_text = (figures(each.scores[METRIC]) for each in (found, everything))
    if scores.get(f"{METRIC}_f1", 0) <= of_all_text.get(f"{METRIC}_f1", 0):
        say(f"that is no better than keeping everything: more pages, or other parameters of {method.name}, may help")
    if shipped is not None and scores.get(f"{METRIC}_f1", 0) < _shipped_entry(shipped).get(f"{METRIC}_f1", 0):
        say("that is below the model that ships, which needs no training: more pages may help")
    card = {"pages": len(pages), **scores, "all_text": of_all_text}
    return card if shipped is None else card | {"shipped": _shipped_entry(shipped)}


def _measure_shipped(training: Training, name: str, pages: Sequence[GoldPage], progress: Progress) -> Evaluation | None:
    """How the model that ships does on the same pages: the one for these parameters or, without one, the usual one.

    None if none ships.
    """
    for method in (training.method, training.make_method().name):
        try:
            is_trained = learned_by(method) != frozenset()
        except MainmatterError:
            continue
        return _measure(training, method, name, pages, progress) if is_trained else None
    return None


def _shipped_entry(shipped: Evaluation) -> dict[str, Any]:
    """The figures of the model that ships, as a card holds them."""
    seen = shipped.learned_from
    return {"learned_from": None if seen is None else sum(seen), **figures(shipped.scores[METRIC])}


def _about_shipped(shipped: Evaluation) -> str:
    """The figure of the model that ships, and whether it has seen the answers."""
    seen = shipped.learned_from
    warning = f", which has learned from {sum(seen):,} of them" if seen and any(seen) else ""
    return f"the model that ships: {headline(shipped, METRIC)}{warning}"


def _validate(
    training: Training, name: str, method: Trainable[Any], progress: Progress, say: Callable[[str], object]
) -> dict[str, Any]:
    pages = training.valid[name]
    found = _measure(training, method, name, pages, progress)
    learned_from = {short_digest(page) for data in training.data.values() for page in data}
    learned_from |= started_with(start_of(method)) or set()
    seen = sum(short_digest(page) in learned_from for page in pages)
    warning = f", {seen:,} of which it has learned from" if seen else ""
    shipped = _measure_shipped(training, name, pages, progress)
    beside = f" ({_about_shipped(shipped)})" if shipped is not None else ""
    say(f"{name}: {headline(found, METRIC)} on {_count(pages)}{warning}{beside}")
    entry = {"name": name, "pages": len(pages), "learned_from": seen, **figures(found.scores[METRIC])}
    return entry if shipped is None else entry | {"shipped": _shipped_entry(shipped)}


def _measure(
    training: Training, method: str | Trainable[Any], name: str, pages: Sequence[GoldPage], progress: Progress
) -> Evaluation:
    label = method if isinstance(method, str) else method.name
    with progress(f"{label} on {name}", len(pages)) as advance:
        convention = convention_of(training.method)
        return evaluate(method, name, pages, [METRIC], convention=convention, workers=training.workers, on_page=advance)


def _count(pages: Sequence[object]) -> str:
    return f"{len(pages):,} page{'s' * (len(pages) != 1)}"


def figures(scores: Row, metric: str = METRIC) -> dict[str, float]:
    """The columns of a metric, as a card holds them."""
    return {
        f"{metric}_{column}": round(scores[column], 4) for column in find_metric(metric).columns if column in scores
    }


def check_may_ship(method: Trainable[Any], names: Iterable[str], folder: Path) -> None:
    """Check, before any work, that a model that is to ship learns from what it may learn from.

    Args:
        method: what is to learn.
        names: the gold standards.
        folder: where the model is to be written.

    Raises:
        InputError: it is one of the folders that ship, and the licence of a gold standard forbids that.
    """
    if folder.resolve().parent != SHIPPED.resolve():
        return
    allowed = ("training", "papers") if "paper" in method.weights().split("-") else ("training",)
    for name in names:
        if name not in DATASETS or DATASETS[name].use not in allowed:
            licence = DATASETS[name].licence if name in DATASETS else _UNKNOWN
            raise InputError(
                f"{folder}: a model that ships may not learn from {name} (licence: {licence}); leave it out, or write "
                "the model to another folder"
            )


def need_aligner() -> None:
    """Check, before any work, that gold texts can be aligned.

    Raises:
        MissingExtra: rapidfuzz is not installed.
    """
    if find_spec("rapidfuzz") is None:
        raise MissingExtra("rapidfuzz", "train")


def different_pages(pages: Iterable[GoldPage]) -> list[GoldPage]:
    """Each page once: a copy would be on both sides of a split, and count double."""
    return list({gold_page_digest(page): page for page in pages}.values())


def make_card(
    method: str,
    by: str,
    data: Mapping[str, Sequence[GoldPage]],
    licence: str | None,
    observed: ObservedPages,
    skipped: int,
    start: str = "",
) -> dict[str, Any]:
    """What was trained, by which version, on which pages, and from which model on."""
    before = started_with(start)
    digests = None if before is None else pack_digests({*before, *map(short_digest, observed.pages)})
    return {
        "method": method,
        "start": start,
        "mainmatter": version("mainmatter"),
        "labels": by,
        "data": [data_entry(name, pages, licence) for name, pages in data.items()],
        "pages": {"learned_from": len(observed.pages), "skipped": skipped},
        "oracle": {"bag_f1": round(observed.oracle, 4)},
        CARD_ENTRY: digests,
    }


def start_of(method: Trainable[Any]) -> str:
    """The model that a method goes on from when it learns; "" if it begins from nothing."""
    start = getattr(method, "start", "")
    return "" if start == FROM_NOTHING else str(start)


def _start_in_words(method: Trainable[Any], start: str) -> str:
    if not start:
        return "nothing"
    return f"the model of {start} that ships" if start == method.name else f"the model {start}"


def save_model(model: Trainable[Any], card: dict[str, Any], folder: Path, more: str = "") -> int:
    """Write a model, and its card with what else there is to say as a page for people; gives the model's size."""
    size = model.save(folder, card)
    write_whole(folder / CARD_PAGE, (card_page(model, card, size) + more).encode("utf-8"))
    return size


def data_entry(name: str, pages: Sequence[GoldPage], licence: str | None = None) -> dict[str, Any]:
    """Which pages were learned from: how many, under which licence, and a digest of them with their gold texts."""
    known = DATASETS.get(name)
    return {
        "name": name,
        "pages": len(pages),
        "licence": known.licence if known is not None else licence or _UNKNOWN,
        "sha256": gold_pages_digest(pages),
    }


def gold_pages_digest(pages: Sequence[GoldPage]) -> str:
    """A digest of pages and gold texts, in order; the layout of the files that they were read from does not matter."""
    return hashlib.sha256(b"".join(map(gold_page_digest, pages))).hexdigest()


def gold_page_digest(page: GoldPage) -> bytes:
    """A digest of a page and its gold text."""
    found = hashlib.sha256()
    for part in (page.page.html, page.gold.text or ""):
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        found.update(len(data).to_bytes(8, "big") + data)
    return found.digest()


_CARD_PAGE = """\
# A model of {name}

{name}: {summary}. Parameters: {parameters}.

Trained by mainmatter {version}, starting from {start}, in {learning} s
({in_all} s with reading and measuring); {size:,} bytes.

## Data

| name | pages | licence | SHA-256 |
| --- | ---: | --- | --- |
{data}

{learned_from} pages were learned from, {skipped} were skipped. Blocks were labelled by `{labels}`;
keeping exactly those labelled so would give F1 {oracle:.3f}.

## Figures

Macro-averaged bag of words.

| measured on | pages | precision | recall | F1 |
| --- | ---: | ---: | ---: | ---: |
{figures}
"""


def card_page(method: Trainable[Any], card: dict[str, Any], size: int) -> str:
    """The card as a page for people."""
    data = (f"| {one['name']} | {one['pages']} | {one['licence']} | `{one['sha256']}` |" for one in card["data"])
    return _CARD_PAGE.format(
        name=method.name,
        summary=method.summary,
        parameters=", ".join(f"{name}={value}" for name, value in method.parameters.items()) or "none",
        version=card["mainmatter"],
        start=_start_in_words(method, card.get("start", "")),
        **card["seconds"],
        size=size,
        data="\n".join(data),
        **card["pages"],
        labels=card["labels"],
        oracle=card["oracle"]["bag_f1"],
        figures="\n".join(_figure_rows(card)),
    )


def _figure_rows(card: dict[str, Any]) -> list[str]:
    rows = []
    if card.get("check"):
        check = card["check"]
        rows.append(_row("pages left out of a first training, by site", check["pages"], check))
        rows.append(_row("the same, all text kept", check["pages"], check["all_text"]))
        rows += _shipped_rows(check)
    for one in card["valid"]:
        seen = f" ({one['learned_from']} of them learned from)" if one["learned_from"] else ""
        rows.append(_row(one["name"] + seen, one["pages"], one))
        rows += _shipped_rows(one)
    return rows


def _shipped_rows(entry: dict[str, Any]) -> list[str]:
    shipped = entry.get("shipped")
    if shipped is None:
        return []
    seen = f" ({shipped['learned_from']} of them learned from)" if shipped["learned_from"] else ""
    return [_row(f"the same, by the model that ships{seen}", entry["pages"], shipped)]


def _row(name: str, pages: int, figures: dict[str, float]) -> str:
    columns = (figures.get(f"bag_{column}") for column in ("precision", "recall", "f1"))
    return f"| {name} | {pages} | " + " | ".join("-" if one is None else f"{one:.3f}" for one in columns) + " |"
