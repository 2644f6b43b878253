"""FIASCO 4.1: the grid search for C and gamma, the other kernels, and decision trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.errors import MissingExtra
from mainmatter.learners.svm import Kernel, Tried, grid_search
from mainmatter.methods.fiasco import Fiasco, sample_nodes
from mainmatter.reproduction.fiasco_nodes import DATA_NOTE, folds_of, load_pages, observe
from mainmatter.reproduction.report import Report

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mainmatter.learners.svm import Split
    from mainmatter.methods.fiasco import NodesOfPage
    from mainmatter.reproduction.run import Run

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
class _Table:
    """Scaled nodes, their labels, and the folds."""

    rows: NDArray[np.float32]
    is_clean: NDArray[np.bool_]
    splits: list[Split]


@dataclass(frozen=True)
class _Search:
    """One value of C of one kernel, with all values of gamma."""

    table: _Table
    kernel: Kernel
    cost: float


def reproduce(run: Run) -> Report:
    """Search for C and gamma, for each kernel; compare with trees."""
    pages = load_pages(run)
    observed = observe(run, "linguistic+structural", pages, "dice")
    table = _make_table(observed, folds_of(pages, _FOLDS))
    searches = [_Search(table, kernel, cost) for kernel, (costs, _) in _GRIDS.items() for cost in costs]
    found: dict[Kernel, list[Tried]] = {kernel: [] for kernel in _GRIDS}
    for search, tried in zip(searches, run.map("grid search", _search, searches), strict=True):
        found[search.kernel] += tried
    trees = run.map("trees", _grow, [(table, name) for name in _TREES])
    return _report(table, found, trees)


def _make_table(pages: list[NodesOfPage], folds: list[list[int]]) -> _Table:
    """Nodes of all pages, scaled as in training. Keywords are chosen from all of them, as the paper's were."""
    method = Fiasco(most_nodes=_NODES).learn(pages)
    chosen = sample_nodes([len(page.rows) for page in pages], _NODES)
    rows = np.vstack([method.scaled_rows(page)[nodes] for page, nodes in zip(pages, chosen, strict=True)])
    page_of = np.repeat(np.arange(len(pages)), [len(nodes) for nodes in chosen])
    is_clean = np.concatenate([page.kept[nodes] for page, nodes in zip(pages, chosen, strict=True)])
    tests = [np.isin(page_of, fold) for fold in folds]
    return _Table(rows, is_clean, [(np.flatnonzero(~test), np.flatnonzero(test)) for test in tests])


def _search(search: _Search) -> list[Tried]:
    table = search.table
    _, gammas = _GRIDS[search.kernel]
    return grid_search(
        table.rows, table.is_clean, table.splits, costs=[search.cost], gammas=gammas, kernel=search.kernel
    )


def _grow(job: tuple[_Table, str]) -> float:
    """The accuracy of a kind of trees."""
    table, name = job
    right = 0
    for learn, test in table.splits:
        grown = _trees(name).fit(table.rows[learn], table.is_clean[learn])
        right += int((grown.predict(table.rows[test]) == table.is_clean[test]).sum())
    return right / max(1, sum(len(test) for _, test in table.splits))


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


def _report(table: _Table, found: dict[Kernel, list[Tried]], trees: list[float]) -> Report:
    report = Report("FIASCO, section 4.1: parameters, kernels, trees")
    report.text(
        f"{DATA_NOTE} Accuracy on {len(table.rows):,} target nodes ({table.is_clean.mean():.0%} clean), taken evenly "
        f"from all pages, in a {_FOLDS}-fold cross-validation; {sum(map(len, found.values()))} combinations of "
        "parameters."
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
