"""Every metric in the table, by the same checks; and what only some of them do."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainmatter.errors import MissingExtra, UnknownName
from mainmatter.lab.metrics import METRICS, Metric, Output, find_metric
from mainmatter.lab.metrics.alignment import need
from mainmatter.records import Gold, Metadata

TEXTS = [
    "The main matter of a page, which is long enough.",
    "東京は日本の首都です。人口は多い。",
    "Πόλη είναι μεγάλη και πρωτεύουσα της Ελλάδας και μεγάλη πόλη.",
    "नमस्ते दुनिया, यह मुख्य पाठ है",
    "x" * 100_000 + " " + "word " * 20_000,
]
every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
any_text = st.text(alphabet="ab .\n<p>é漢", max_size=30)
SWAPPING = ["bag", "shingle", "align", "lcs", "rouge"]


def page(text: str) -> tuple[Output, Gold]:
    """A page whose output is perfect."""
    marked = f"<h>{text}\n<p>{text}"
    output = Output(text, marked, Metadata(title="A title", author="Ann Lee", date="2024-05-06"))
    return output, Gold(text, marked, (text[:5],), ("not to be found",), "A title", "Ann Lee", "2024-05-06")


def top(metric: Metric) -> float:
    return 100.0 if metric.percent else 1.0


@every_metric
def test_metric_describes_itself(metric: Metric) -> None:
    assert METRICS[metric.name] is metric is find_metric(metric.name)
    assert metric.headline in metric.columns
    assert metric.description.endswith(".")


def test_unknown_metric() -> None:
    with pytest.raises(UnknownName, match="unknown metric 'baag'; did you mean 'bag'"):
        find_metric("baag")


@every_metric
@pytest.mark.parametrize("text", TEXTS, ids=["en", "ja", "el", "hi", "huge"])
def test_perfect_output_gets_the_top_score(metric: Metric, text: str) -> None:
    row = metric.measure(*page(text))
    assert row is not None
    assert {column: row[column] for column in metric.columns} == dict.fromkeys(metric.columns, top(metric))


@every_metric
def test_nothing_extracted_gets_nothing(metric: Metric) -> None:
    row = metric.measure(Output(""), page(TEXTS[0])[1])
    assert row is not None
    # That unwanted snippets are absent is right even so; that is why the headline is F1, not accuracy.
    assert row[metric.headline] == 0.0


@every_metric
def test_a_gold_standard_that_lacks_what_is_needed_gives_none(metric: Metric) -> None:
    assert metric.measure(Output("text", "<p>text"), Gold()) is None
    assert metric.aggregate([None, None]) == {"pages": 0}


@every_metric
@given(any_text, any_text)
def test_scores_stay_in_range(metric: Metric, text: str, gold: str) -> None:
    standard = Gold(gold, gold, (gold,), (text,), title=gold or "t", author=gold, date=gold)
    row = metric.measure(Output(text, text, Metadata(title=text, author=text, date=text)), standard)
    assert row is not None
    assert all(0 <= row[column] <= top(metric) for column in metric.columns if column in row)


@pytest.mark.parametrize("name", SWAPPING)
@given(any_text, any_text)
def test_swapping_both_sides_swaps_precision_and_recall(name: str, text: str, gold: str) -> None:
    metric = METRICS[name]
    there = metric.measure(Output(text, text), Gold(gold, gold))
    back = metric.measure(Output(gold, gold), Gold(text, text))
    assert there is not None
    assert back is not None
    for column in metric.columns:
        # Among equally long alignments either side may choose another: markers need not be symmetric.
        if column.endswith("precision") and "labelled" not in column:
            assert there[column] == back[column.replace("precision", "recall")]


@every_metric
def test_aggregate_of_one_page_is_the_page(metric: Metric) -> None:
    row = metric.measure(*page(TEXTS[0]))
    assert row is not None
    total = metric.aggregate([row, None])
    assert total["pages"] == 1
    assert {column: total[column] for column in metric.columns} == {c: row[c] for c in metric.columns}


def test_macro_average_with_its_spread() -> None:
    # F1 of 1 and 0: mean 0.5; sample standard deviation sqrt((0.25 + 0.25) / 1) = 0.7071.
    bag = METRICS["bag"]
    total = bag.aggregate([bag.measure(Output("a"), Gold("a")), bag.measure(Output("a"), Gold("b"))])
    assert total["f1"] == 0.5
    assert total["f1_sd"] == pytest.approx(0.5**0.5)
    assert (total["f1_min"], total["f1_max"], total["pages"]) == (0.0, 1.0, 2)


def test_alignment_is_macro_and_micro_averaged() -> None:
    # Page 1: 1 word, right. Page 2: 9 words, none right. Macro precision 1/2, micro 1/10.
    align = METRICS["align"]
    rows = [
        align.measure(Output("", "<p>a"), Gold(marked="<p>a")),
        align.measure(Output("", "<p>" + "x " * 9), Gold(marked="<h>y")),
    ]
    total = align.aggregate(rows)
    assert total["words_precision"] == pytest.approx(0.5)
    assert total["words_precision_micro"] == pytest.approx(0.1)
    assert total["labelled_f1_micro"] == pytest.approx(0.5)  # 1 of 2 markers on both sides
    assert total["unlabelled_f1_micro"] == pytest.approx(1.0)
    assert total["words_and_markers_recall_micro"] == pytest.approx(2 / 4)


def test_shingles_give_the_benchmarks_figures_too() -> None:
    shingle = METRICS["shingle"]
    rows = [shingle.measure(Output("a b"), Gold("a b")), shingle.measure(Output(""), Gold("a b"))]
    total = shingle.aggregate(rows)
    # Precision is 1 on the only page where something was extracted, recall (1 + 0) / 2: F1 = 2/3.
    # The mean of the pages' F1 is (1 + 0) / 2.
    assert total["f1_benchmark"] == pytest.approx(2 / 3)
    assert total["f1"] == pytest.approx(1 / 2)


def test_snippets_are_pooled() -> None:
    snippet = METRICS["snippet"]
    rows = [
        snippet.measure(Output("a"), Gold(must_have=("a",))),
        snippet.measure(Output("z"), Gold(must_have=("b", "c", "d"), must_not_have=("z",))),
    ]
    total = snippet.aggregate(rows)
    assert total["recall"] == pytest.approx(1 / 4)
    assert total["precision"] == pytest.approx(1 / 2)
    assert (total["true_positives"], total["false_negatives"]) == (1, 3)


def test_metadata_counts_only_fields_of_the_gold_standard() -> None:
    metadata = METRICS["metadata"]
    found = Output("", metadata=Metadata(title="T", author="A"))
    rows = [
        metadata.measure(found, Gold(title="T", date="2024-01-01")),
        metadata.measure(found, Gold(title="U")),
    ]
    assert rows[0] == {"accuracy": 0.5, "title": 1.0, "date": 0.0}
    total = metadata.aggregate(rows)
    assert (total["title"], total["date"], total["accuracy"]) == (0.5, 0.0, 0.25)
    assert "author" not in total


def test_a_missing_library_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def without_rapidfuzz(name: str, *rest: Any, **keywords: Any) -> Any:
        if name.startswith("rapidfuzz"):
            raise ModuleNotFoundError(name)
        return real_import(name, *rest, **keywords)

    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    monkeypatch.setattr(builtins, "__import__", without_rapidfuzz)
    with pytest.raises(MissingExtra, match=r"rapidfuzz.*pip install 'mainmatter\[eval\]'"):
        need("rapidfuzz.distance")
    assert METRICS["bag"].measure(Output("a"), Gold("a")) is not None
    with pytest.raises(MissingExtra):
        METRICS["rouge"].measure(Output("a"), Gold("a"))
