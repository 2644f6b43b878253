"""Each family's plain function as a metric calls it: with a method's output and the gold standard.

A metric calls these only where the gold standard has what they need.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from mainmatter.lab.metrics.aggregate import flat, flat_counts
from mainmatter.lab.metrics.alignment import align
from mainmatter.lab.metrics.bag import bag_of_words
from mainmatter.lab.metrics.cleaneval import cleaneval_score
from mainmatter.lab.metrics.longest import longest_common
from mainmatter.lab.metrics.metadata import author_is_right, date_is_right, title_is_right
from mainmatter.lab.metrics.rouge import rouge_l
from mainmatter.lab.metrics.shingles import count_shingles
from mainmatter.lab.metrics.snippets import count_snippets
from mainmatter.records import Metadata

if TYPE_CHECKING:
    from mainmatter.lab.metrics.metric import Output, Row
    from mainmatter.records import Gold


def bag(output: Output, gold: Gold) -> Row:
    """Bag of words."""
    return flat("", bag_of_words(output.text, gold.text or ""))


def shingle(output: Output, gold: Gold) -> Row:
    """Shingles of four words, with their counts."""
    counts = count_shingles(output.text, gold.text or "")
    return flat("", counts.score) | flat_counts("shingles", counts)


def cleaneval(output: Output, gold: Gold) -> Row:
    """Similarity by edit distance, in percent."""
    score = cleaneval_score(output.marked, gold.marked or "")
    return dataclasses.asdict(score) | {"combined": score.combined}


def alignment(output: Output, gold: Gold) -> Row:
    """Aligned words and markers, with their counts."""
    aligned = align(output.marked, gold.marked or "")
    row: Row = {}
    for kind in ("words", "words_and_markers", "labelled", "unlabelled"):
        counts = getattr(aligned, kind)
        row |= flat(kind, counts.score) | flat_counts(kind, counts)
    return row


def longest(output: Output, gold: Gold) -> Row:
    """Longest common substring and subsequence of characters."""
    scores = longest_common(output.text, gold.text or "")
    return flat("substring", scores.substring) | flat("subsequence", scores.subsequence)


def rouge(output: Output, gold: Gold) -> Row:
    """ROUGE-L."""
    return flat("", rouge_l(output.text, gold.text or ""))


def snippet(output: Output, gold: Gold) -> Row:
    """Snippets found and not found."""
    counts = count_snippets(output.text, gold.must_have, gold.must_not_have)
    scores = {name: getattr(counts, name) for name in ("precision", "recall", "f1", "accuracy")}
    return scores | dataclasses.asdict(counts)


def metadata(output: Output, gold: Gold) -> Row:
    """Fields that are right (1) or wrong (0), and their mean, without those that the gold standard lacks."""
    found = output.metadata or Metadata()
    verdicts = {
        "title": title_is_right(found.title, gold.title),
        "author": author_is_right(found.author, gold.author),
        "date": date_is_right(found.date, gold.date),
    }
    row = {field: float(right) for field, right in verdicts.items() if right is not None}
    return {"accuracy": sum(row.values()) / len(row)} | row if row else row
