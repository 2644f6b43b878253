"""NCleaner, section 5: tables 3 and 4 on CleanEval's test set, with the models that ship; other languages besides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mainmatter.lab.reproduction.report import Report
from mainmatter.papers.ncleaner.reproduce_pages import dump, measure, micro, percent

if TYPE_CHECKING:
    from mainmatter.lab.evaluation.evaluate import Evaluation
    from mainmatter.lab.reproduction.run import Run

# What we measure: our name, the method, whether it reads text dumps, and rows of the paper's tables 3 and 4.
_CONTESTANTS = (
    ("Baseline", "ice-baseline", False, "88.72 83.11 95.15", "0.00 0.00 0.00"),
    ("NCLEANER (HTML)", "ncleaner", False, "92.73 94.70 90.83", "60.85 69.30 54.24"),
    ("NCLEANER (text)", "ncleaner", True, "90.18 90.30 90.05", "34.04 28.98 41.25"),
    ("Non-lexical (HTML)", "ncleaner:lexical=False", False, "92.31 91.65 92.97", "55.76 52.76 59.13"),
    ("Non-lexical (text)", "ncleaner:lexical=False", True, "89.86 89.88 89.85", "33.21 27.43 42.07"),
    ("*as in the paper* (HTML)", "ncleaner:threshold=0,never_empty=False", False, "", ""),
)
_METHODS = ("ice-baseline", "ncleaner", "ncleaner:lexical=False")
_LANGUAGES = ("Chinese", "English", "Greek", "Polish", "Russian")
_HEAD = ["", "paper F", "P", "R", "ours F", "P", "R"]


def reproduce(run: Run) -> Report:
    """Measure the shipped models on cleaneval-final, as HTML and as text dumps, and on other sets."""
    pages = run.load("cleaneval-final")
    dumps = run.map("text dumps", dump, pages)
    measured = [
        measure(run, name, method, dumps if is_text else pages, ["align", "bag"])
        for name, method, is_text, _, _ in _CONTESTANTS
    ]
    report = Report("NCleaner: CleanEval's test set (tables 3 and 4)")
    report.text(
        f"{len(pages)} pages of cleaneval-final. `ncleaner` is the model that ships, which has learned from "
        "cleaneval-dev and readability (187 pages; the paper's had 158). The baseline is all text of the page. Text "
        "dumps are that text, with blank lines between blocks, read as plain text: the borders of blocks survive in "
        "them, which makes them easier than the paper's. The last row is our model with the paper's rule: keep a "
        "block that the clean model finds likelier, whatever its length, and of some pages nothing."
    )
    _table_3(report, measured)
    _table_4(report, measured)
    _other_sets(run, report, measured)
    return report


def _table_3(report: Report, measured: list[Evaluation]) -> None:
    report.text("## Table 3: words\n\nMicro-averaged F-score, precision and recall of words, in percent.")
    rows = [_HEAD]
    for (name, _, _, paper, _), evaluation in zip(_CONTESTANTS, measured, strict=True):
        rows.append([name, *(paper.split() or ["-"] * 3), *micro(evaluation.scores["align"], "words")])
    report.table(rows)
    report.text(
        "The paper's script counts segment markers as words. So counted, ours have these F-scores: "
        + ", ".join(
            f"{name} {percent(evaluation.scores['align'].get('words_and_markers_f1_micro'))}"
            for (name, *_), evaluation in zip(_CONTESTANTS, measured, strict=True)
        )
        + "."
    )


def _table_4(report: Report, measured: list[Evaluation]) -> None:
    report.text(
        "## Table 4: segment markers\n\nMicro-averaged F-score, precision and recall of labelled markers: `<h>`, "
        "`<p>` and `<l>` that stand where the gold standard has the same one. The paper's baseline has no markers, "
        "ours calls every block a paragraph."
    )
    rows = [_HEAD]
    for (name, _, _, _, paper), evaluation in zip(_CONTESTANTS, measured, strict=True):
        rows.append([name, *(paper.split() or ["-"] * 3), *micro(evaluation.scores["align"], "labelled")])
    report.table(rows)


def _other_sets(run: Run, report: Report, measured: list[Evaluation]) -> None:
    """Macro-averaged bag-of-words F1, which all sets have; the languages of daniel-a."""
    report.text(
        "## Other sets and languages\n\nMacro-averaged bag-of-words F1. No n-gram was learned from these sets; but "
        "the length from which a block needs no odds in its favour was chosen with an eye on wcxb-dev. The "
        "non-lexical one, which sees only the lengths of words and punctuation, is the paper's proposal for "
        "languages without training data."
    )
    found = {
        name: {"cleaneval-final": _bag(measured[i])}
        for i, name in ((0, _METHODS[0]), (1, _METHODS[1]), (3, _METHODS[2]))
    }
    columns = ["cleaneval-final"]
    for dataset in ("wcxb-dev", "l3s-gn1", "daniel-a"):
        pages = run.load(dataset)
        columns.append(dataset)
        for name in _METHODS:
            evaluation = measure(run, f"{name} on {dataset}", name, pages, ["bag"])
            found[name][dataset] = _bag(evaluation)
            if dataset == "daniel-a":
                for language in _LANGUAGES:
                    group = evaluation.groups.get(f"lang={language}")
                    found[name][language] = f"{group['bag']['f1']:.3f}" if group else "-"
    for names in (columns, _LANGUAGES):
        report.table([["", *names], *([name, *(found[name][column] for column in names)] for name in _METHODS)])


def _bag(evaluation: Evaluation) -> str:
    figure = evaluation.scores["bag"].get("f1")
    return "-" if figure is None else f"{figure:.3f}"
