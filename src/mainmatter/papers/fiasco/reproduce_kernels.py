"""FIASCO 4.1: the grid search for C and gamma, the other kernels, and decision trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.errors import MissingExtra
from mainmatter.lab.reproduction import ResultsPage
from mainmatter.papers.fiasco.method import Fiasco, sample_nodes
from mainmatter.papers.fiasco.reproduce_nodes import data_note, folds_of, load_pages, observe
from mainmatter.papers.fiasco.svm import Fold, Kernel, Tried, grid_search

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mainmatter.lab.reproduction import Run
    from mainmatter.papers.fiasco.method import NodesOfPage

_NODES = 2_500
_FOLDS = 3
_COSTS = [2.0**power for power in range(-3, 8)]
_GAMMAS = [2.0**power for power in range(-7, 4)]
# Where their products are large, these kernels take hours and give nothing.
_GRIDS: dict[Kernel, tuple[list[float], list[float]]] = {
    "rbf": (_COSTS, _GAMMAS),
    "linear": (_COSTS, [1.0]),
    "polynomial": ([2.0**power for power in range(-3, 6)], [2.0**power for power in range(-6, -1)]),
    "sigmoid": (_COSTS, [2.0**power for power in range(-9, -1)]),
}
_PAPER = {"rbf": "89.1%", "linear": "below 87.5%", "polynomial": "87.5%", "sigmoid": "below 87.5%"}
_TREES = ("a decision tree", "bagged trees", "boosted trees")


@dataclass(frozen=True)
class _Search:
    """One value of C of one kernel, with all values of gamma."""

    folds: list[Fold]
    kernel: Kernel
    cost: float


def reproduce(run: Run) -> ResultsPage:
    """Search for C and gamma, for each kernel; compare with trees."""
    pages = load_pages(run)
    observed = observe(run, "linguistic+structural", pages, "dice")
    folds = [_make_fold(observed, numbers) for numbers in folds_of(pages, _FOLDS)]
    searches = [_Search(folds, kernel, cost) for kernel, (costs, _) in _GRIDS.items() for cost in costs]
    found: dict[Kernel, list[Tried]] = {kernel: [] for kernel in _GRIDS}
    for search, tried in zip(searches, run.map("grid search", _search, searches), strict=True):
        found[search.kernel] += tried
    trees = run.map("trees", _grow, [(folds, name) for name in _TREES])
    return _report(data_note(pages), folds, found, trees)


def _make_fold(pages: list[NodesOfPage], held_out: list[int]) -> Fold:
    """Nodes of all pages, with the keywords and the scale of those pages alone that are not held out."""
    chosen = sample_nodes([len(page.rows) for page in pages], _NODES)
    tested = set(held_out)
    rest = [number for number in range(len(pages)) if number not in tested]
    method = Fiasco(most_nodes=_NODES).learn([pages[number] for number in rest])

    def rows_of(numbers: list[int]) -> NDArray[np.float32]:
        return np.vstack([method.scaled_rows(pages[number])[chosen[number]] for number in numbers])

    def labels_of(numbers: list[int]) -> NDArray[np.bool_]:
        return np.concatenate([pages[number].kept[chosen[number]] for number in numbers])

    return Fold(rows_of(rest), labels_of(rest), rows_of(held_out), labels_of(held_out))


def _search(search: _Search) -> list[Tried]:
    _, gammas = _GRIDS[search.kernel]
    return grid_search(search.folds, costs=[search.cost], gammas=gammas, kernel=search.kernel)


def _grow(job: tuple[list[Fold], str]) -> float:
    """The accuracy of a kind of trees."""
    folds, name = job
    right = 0
    for fold in folds:
        grown = _trees(name).fit(fold.learn, fold.learn_positive)
        right += int((grown.predict(fold.test) == fold.test_positive).sum())
    return right / max(1, sum(len(fold.test) for fold in folds))


def _trees(name: str) -> Any:  # noqa: ANN401 - scikit-learn has no types
    try:
        from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier  # noqa: PLC0415 - an extra
        from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("scikit-learn", "train") from error
    if name == "bagged trees":
        return BaggingClassifier(DecisionTreeClassifier(random_state=0), n_estimators=50, random_state=0)
    if name == "boosted trees":
        return AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=100, random_state=0)
    return DecisionTreeClassifier(min_samples_leaf=5, random_state=0)


def _report(note: str, folds: list[Fold], found: dict[Kernel, list[Tried]], trees: list[float]) -> ResultsPage:
    report = ResultsPage("FIASCO, section 4.1: parameters, kernels, trees")
    is_clean = np.concatenate([fold.test_positive for fold in folds])
    report.text(
        f"{note} Accuracy on {len(is_clean):,} target nodes ({is_clean.mean():.0%} clean), taken evenly from all "
        f"pages, in a {len(folds)}-fold cross-validation; keywords and scale are learned anew in each fold. "
        f"{sum(map(len, found.values()))} combinations of parameters; the best of so many is a little too good."
    )
    rows = [["classifier", "best C", "best gamma", "worst accuracy", "best accuracy", "paper's best"]]
    for kernel, tried in found.items():
        best = max(tried, key=lambda each: each.accuracy)
        worst = min(each.accuracy for each in tried)
        gamma = "" if kernel == "linear" else f"{best.gamma:g}"
        rows.append([kernel, f"{best.cost:g}", gamma, f"{worst:.1%}", f"{best.accuracy:.1%}", _PAPER[kernel]])
    for name, accuracy in zip(_TREES, trees, strict=True):
        rows.append([name, "", "", "", f"{accuracy:.1%}", "80%" if "ed trees" in name else "below 80%"])
    report.table(rows)
    report.text("## The grid of the rbf kernel\n\nAccuracy in percent; the paper starts from 84.5%.")
    percent = {(each.cost, each.gamma): 100 * each.accuracy for each in found["rbf"]}
    grid = [["C \\ gamma", *(f"{gamma:g}" for gamma in _GAMMAS)]]
    grid += [[f"{cost:g}", *(f"{percent[cost, gamma]:.1f}" for gamma in _GAMMAS)] for cost in _COSTS]
    report.table(grid)
    return report
