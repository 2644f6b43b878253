"""FIASCO tables 2 and 3: subsets of the features, on all pages and on those that align well."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.lab.reproduction import ResultsPage
from mainmatter.lab.training.align import make_example
from mainmatter.lab.training.dice import match_paragraphs
from mainmatter.papers.fiasco.method import Fiasco
from mainmatter.papers.fiasco.reproduce_nodes import (
    Judgement,
    Trial,
    data_note,
    folds_of,
    judge_nodes,
    load_pages,
    observe_families,
    possible_families,
    style_note,
)
from mainmatter.papers.fiasco.visual_layout import LAYOUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.reproduction import Run
    from mainmatter.papers.fiasco.method import NodesOfPage

# The paper's name for a subset, our parameter, the paper's figures in tables 2 and 3.
_SUBSETS: tuple[tuple[str, str, str, str], ...] = (
    ("All", "linguistic+structural+pos+visual", "91.13% .90 .80 .85", "95.66% .97 .92 .95"),
    ("All \\ {POS}", "linguistic+structural+visual", "92.50% .90 .86 .88", "95.76% .95 .94 .95"),
    ("All \\ {visual}", "linguistic+structural+pos", "90.01% .87 .80 .83", "94.13% .94 .91 .93"),
    ("All \\ {POS, visual}", "linguistic+structural", "90.17% .86 .82 .84", "93.13% .93 .90 .91"),
    ("Visual only", "visual", "79.50% .76 .51 .61", "79.91% .83 .64 .72"),
    ("POS only", "pos", "83.67% .80 .63 .71", "82.42% .85 .69 .76"),
    ("Only POS and visual", "pos+visual", "86.69% .82 .74 .78", "88.81% .90 .82 .86"),
    ("Linguistic only", "linguistic", "", ""),
    ("Structural only", "structural", "", ""),
    ("Layout only", "layout", "", ""),
    ("Visual and layout", "visual+layout", "", ""),
    ("All \\ {POS} and layout", "linguistic+structural+visual+layout", "", ""),
)
_FOLDS = 10
_MOST_NODES = 5_000
_WELL_ALIGNED = 0.8
_SETTINGS = (
    ("the paper's C = 32 and gamma = 8", {"C": 32.0, "gamma": 8.0, "clean_weight": 1.0}),
    ("our C = 3 and gamma = 0.03", {"clean_weight": 1.0}),
)


def reproduce(run: Run) -> ResultsPage:
    """Judge target nodes with each subset of features, by cross-validation."""
    pages = load_pages(run)
    rates = run.map("aligning", _rate, pages)
    well = [page for page, rate in zip(pages, rates, strict=True) if rate > _WELL_ALIGNED]
    missing = possible_families()
    subsets = [features for _, features, _, _ in _SUBSETS if not _needed(features, missing)]
    families = [family for family, needed in missing.items() if not needed]
    sets = (pages, well)
    observed = observe_families(run, families, subsets, pages, "dice")
    trials = []
    for number, (_, parameters), features in product(range(len(sets)), _SETTINGS, subsets):
        trials.append(_trial(features, parameters, sets[number], pages, observed[features]))
    judged = iter(run.map("cross-validations", judge_nodes, trials))
    report = ResultsPage("FIASCO, tables 2 and 3: which features tell clean from dirty nodes")
    report.text(
        f"{data_note(pages)} Clean nodes are found by the Dice coefficient (FIASCO 5.1). Accuracy is that of all "
        f"target nodes; precision, recall and F are those of clean ones, in a {_FOLDS}-fold cross-validation; each "
        f"machine learned from at most {_MOST_NODES:,} nodes."
    )
    if "layout" in observed:
        report.text(f"{style_note(pages)} {_not_shown(observed['layout'])}")
    for number, heading in enumerate(
        ("Table 2: all pages", f"Table 3: pages with more than {_WELL_ALIGNED:.0%} aligned")
    ):
        report.text(f"## {heading}\n\n{len(sets[number])} pages.")
        results = [dict(zip(subsets, judged, strict=False)) for _ in _SETTINGS]
        report.table(_table(results, number, missing))
    report.text(_CLOSING)
    return report


def _needed(features: str, missing: dict[str, str]) -> str:
    """What a subset of features needs and is not here."""
    return next(filter(None, (missing[family] for family in features.split("+"))), "")


def _not_shown(observed: Sequence[NodesOfPage]) -> str:
    """How many pages Chromium could not show, and how much of the others readers do not see."""
    rendered, visible = LAYOUT.index("rendered"), LAYOUT.index("visible")
    shown = [page.rows for page in observed if len(page.rows) and page.rows[:, rendered].all()]
    failed = sum(len(page.rows) > 0 for page in observed) - len(shown)
    unseen = 1 - float(np.concatenate(shown)[:, visible].mean()) if shown else 0.0
    return f"Pages that could not be shown: {failed}. Of the blocks of the others {unseen:.1%} are not visible."


def _rate(page: GoldPage) -> float:
    return match_paragraphs(make_example(page).document, page.gold).rate


def _trial(
    features: str,
    parameters: dict[str, float],
    chosen: Sequence[GoldPage],
    pages: Sequence[GoldPage],
    observed: list[NodesOfPage],
) -> Trial:
    method = Fiasco(features=features, most_nodes=_MOST_NODES, **parameters)  # type: ignore[arg-type]
    wanted = {id(page) for page in chosen}
    of_chosen = [nodes for page, nodes in zip(pages, observed, strict=True) if id(page) in wanted]
    return Trial(method, of_chosen, folds_of(chosen, _FOLDS))


def _table(results: list[dict[str, Judgement]], number: int, missing: dict[str, str]) -> list[list[str]]:
    rows = [["features", "paper: accuracy, P, R, F", *(f"here, with {name}" for name, _ in _SETTINGS)]]
    for name, features, *published in _SUBSETS:
        needed = _needed(features, missing)
        cells = [f"needs {needed}" if needed else " ".join(result[features].cells()) for result in results]
        rows.append([name, published[number], *cells])
    return rows


_CLOSING = """
The last five rows are ours. Layout is what a browser of today tells besides the paper's five measures: size, weight,
contrast and place of the text (`papers/fiasco/visual_layout.py`). The paper's note 6: with Solidity III mended, its
visual features alone had 84% accuracy, precision .68, recall .85, F .75.
"""
