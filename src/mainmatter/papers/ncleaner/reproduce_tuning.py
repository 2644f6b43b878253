"""NCleaner, section 3, figure 2: the cross-entropy of n-gram models by n and q; and what n does to the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mainmatter.lab.datasets import folds_by_site
from mainmatter.lab.reproduction.report import Report
from mainmatter.lab.training.fit import cross_validate
from mainmatter.papers.ncleaner.alphabet import Alphabet
from mainmatter.papers.ncleaner.ngrams import cross_entropies
from mainmatter.papers.ncleaner.reproduce_internal import observe
from mainmatter.papers.ncleaner.reproduce_pages import micro, new_figure, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mainmatter.lab.reproduction.run import Run

_FOLDS = 10
_ORDERS = tuple(range(1, 9))
_QS = tuple(np.round(np.arange(0.05, 1, 0.05), 2).tolist())
# Models whose results are compared: n and q.
_CHOICES = ((1, 0.5), (2, 0.5), (3, 0.3), (3, 0.5), (3, 0.7), (4, 0.5), (5, 0.5), (6, 0.6))


def reproduce(run: Run) -> Report:
    """Predict the raw text of pages by models of the others."""
    observed = observe(run)
    folds = [fold for fold in folds_by_site(observed.pages, _FOLDS) if fold]
    texts = [[text for number in fold for text in observed.observations[number].texts] for fold in folds]
    alphabet = Alphabet.learn("\n".join(page.texts) for page in observed.observations)
    run.say("cross-entropies")
    bits = cross_entropies(texts, alphabet, _ORDERS, _QS)
    report = Report("NCleaner: the length of n-grams and their interpolation (figure 2)")
    characters = sum(len(text) for fold in texts for text in fold)
    row, column = np.unravel_index(bits.argmin(), bits.shape)
    report.text(
        f"All text of {len(observed.pages)} pages, main matter and boilerplate, {characters / 1e6:.1f} million "
        f"characters, is predicted by models of pages of other sites ({len(folds)} folds): bits a character. The "
        f"alphabet has {alphabet.size - 1} symbols.\n\nThe paper finds n = 6 and q = 0.6 best, with 2.53 bits. Here "
        f"it is n = {_ORDERS[row]} and q = {_QS[column]:g}, with {bits.min():.2f} bits."
    )
    _figure_2(report, bits)
    best = [["n", "best q", "bits"]]
    best += [
        [str(n), f"{_QS[int(line.argmin())]:g}", f"{line.min():.3f}"] for n, line in zip(_ORDERS, bits, strict=True)
    ]
    report.table(best)
    report.text(
        "## What n does to the result\n\nThe paper found shorter n-grams better in the end, and took n = 3 and q = "
        "0.5. Cross-validation on the same pages; percent of words, micro-averaged, and the macro-averaged F-score:"
    )
    rows = [["n", "q", "F", "P", "R", "macro F"]]
    for n, q in _CHOICES:
        run.say(f"n = {n}, q = {q}")
        scores = cross_validate(f"ncleaner:n={n},q={q}", observed, ["align"], folds=5, workers=run.workers).scores[
            "align"
        ]
        rows.append([str(n), str(q), *micro(scores, "words"), percent(scores["words_f1"])])
    report.table(rows)
    return report


def _figure_2(report: Report, bits: NDArray[np.float64]) -> None:
    figure, axes = new_figure(6.5, 4.5)
    for n, line in zip(_ORDERS, bits, strict=True):
        shade = 0.15 + 0.75 * (n - 1) / (len(_ORDERS) - 1)
        axes.plot(
            _QS, line, label=f"n = {n}", color=(1 - shade, 0.45, shade), marker="o", markersize=2.5, linewidth=1.3
        )
        axes.annotate(str(n), (_QS[0], line[0]), xytext=(-10, -3), textcoords="offset points", fontsize=8)
    axes.set_xlabel("interpolation parameter q")
    axes.set_ylabel("cross-entropy, bits a character")
    axes.set_xlim(0, 1)
    axes.legend(ncols=2, frameon=False, fontsize=8)
    report.picture(
        "ncleaner-figure-2", "Cross-entropy on raw text, by length of n-grams and interpolation parameter", figure
    )
