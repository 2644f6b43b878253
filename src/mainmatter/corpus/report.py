"""`corpus_report`: a finished corpus as one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mainmatter.corpus.report_facts import MOST_ROWS, read_facts
from mainmatter.lab.reports import charts
from mainmatter.lab.reports.html import Cell, Section, count_cell, html_page, markup, moment, shorten, table
from mainmatter.limits import MEGABYTE

if TYPE_CHECKING:
    from collections import Counter
    from datetime import datetime
    from pathlib import Path

    from markupsafe import Markup

    from mainmatter.corpus.report_facts import CorpusFacts, RowFacts
    from mainmatter.corpus.summary import Report

_MOST_GROUPS = 40  # rows of a table of languages or sites
_SLOWEST = 10
_OPEN = 2  # pages that are not folded
_BINS = 20
_DUPLICATES = ("duplicate", "near-duplicate")
# Lengths grow by a factor of about two from bar to bar; decades have a label.
_LENGTHS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
_LENGTH_LABELS = {0: "0", 1: "1", 10: "10", 100: "100", 1000: "1k", 10_000: "10k", 100_000: "100k"}


def corpus_report(
    out: str | Path, *, command: str = "", made: datetime | None = None, most_rows: int = MOST_ROWS
) -> str:
    """A finished corpus as one HTML file: what came in and out, what it is like, and the pages to look at first.

    The parts are read in batches, so memory stays small however large the corpus is.

    Args:
        out: the folder that `mainmatter corpus` wrote, any that fsspec knows.
        command: what was run, to be shown.
        made: the date to be shown; now by default.
        most_rows: how many rows to read; of a larger corpus a sample is read, and the report says so.

    Raises:
        InputError: it is no such folder, the run is not finished, or a part is damaged.
        MissingExtra: Parquet needs pyarrow, a remote folder fsspec.
    """
    facts = read_facts(str(out), most_rows)
    sections = [
        Section("overview", "Overview", _overview(facts)),
        Section("dropped", "What was dropped, and why", _dropped(facts)),
        Section("kind", "What was kept", _kinds(facts.rows)),
        Section("shape", "Lengths and confidence", _plots(facts.rows)),
        Section("sites", "Sites", _sites(facts.rows)),
        Section("unsure", "Least confident pages", _unsure(facts.rows)),
        Section("shards", "Slowest shards", _shards(facts)),
    ]
    return html_page("Corpus", _lead(facts), _facts(facts, command, made), sections)


def _lead(facts: CorpusFacts) -> str:
    summary = facts.summary
    pages = f"{summary.pages:,} page" + "s" * (summary.pages != 1)
    return f"{summary.kept:,} of {pages} kept ({_percent(summary.kept, summary.pages)}), {summary.words:,} words."


def _facts(facts: CorpusFacts, command: str, made: datetime | None) -> list[tuple[str, object]]:
    summary, plan = facts.summary, facts.plan
    shown = [("Command", markup("parts", "code", command))] if command else []
    inputs = ", ".join(plan.inputs[:5]) + (f" and {len(plan.inputs) - 5:,} more" if len(plan.inputs) > 5 else "")
    return [
        *shown,
        ("Date of this report", moment(made)),
        ("Input", inputs),
        ("Output", f"{summary.out}, {summary.shards:,} part" + "s" * (summary.shards != 1)),
        ("Method", ", ".join([plan.job.method, *(f"{name}={value}" for name, value in plan.job.parameters.items())])),
        ("Version", f"mainmatter {plan.version}"),
        ("Options", _options(facts)),
    ]


def _options(facts: CorpusFacts) -> str:
    job = facts.plan.job
    chosen = [job.format, f"duplicates: {job.duplicates or 'kept'}"]
    chosen += ["site templates"] if job.site_templates else []
    chosen += ["blocks"] if job.blocks else []
    chosen += [f"{name.replace('_', ' ')}: {value}" for name, value in job.filters.to_json().items() if value]
    return ", ".join(chosen)


def _overview(facts: CorpusFacts) -> Markup:
    summary = facts.summary
    duplicates = sum(summary.rejects.get(reason, 0) for reason in _DUPLICATES)
    tiles = [
        (f"{summary.pages:,}", "pages read"),
        (f"{summary.kept:,}", "kept"),
        (f"{sum(summary.rejects.values()):,}", "dropped"),
        (f"{duplicates:,}", "of these duplicates"),
        (f"{summary.words:,}", "words"),
        (f"{summary.bytes / MEGABYTE:,.1f} MB", "of pages"),
        (_duration(summary.seconds), "by the clock"),
        (f"{_speed(summary.megabytes_per_second)} MB/s", f"{summary.pages_per_second:,.1f} pages/s"),
    ]
    earlier = sample = ""
    if summary.earlier_pages:
        earlier = (
            f"{summary.earlier_pages:,} pages had been done by earlier, interrupted runs, whose time is not counted."
        )
    if facts.rows.rows < summary.kept:
        sample = (
            f"Languages, page types, sites, lengths and confidence are those of a sample: {facts.rows.rows:,} of "
            f"{summary.kept:,} pages, of parts from all over the corpus. All other counts are of the whole."
        )
    return markup("corpus", "overview", tiles, earlier, sample)


def _dropped(facts: CorpusFacts) -> Markup:
    summary = facts.summary
    ranked = sorted(summary.rejects.items(), key=lambda one: (-one[1], one[0]))
    rows = [
        [Cell(reason), count_cell(count, summary.pages), Cell(_percent(count, summary.pages), count)]
        for reason, count in ranked
    ]
    reasons = skipped = None
    if rows:
        reasons = table("Dropped pages by reason", ["reason", "pages", "share"], rows, name="reasons", numbers=(1, 2))
    examples = [
        (reason, f"{len(some):,} of {count:,}", some) for reason, count in ranked if (some := facts.rejects.get(reason))
    ]
    if summary.skipped:
        rows = [
            [Cell(kind), count_cell(count)]
            for kind, count in sorted(summary.skipped.items(), key=lambda one: (-one[1], one[0]))
        ]
        caption = "Records that are no pages and never were, by type"
        skipped = table(caption, ["type", "records"], rows, name="skipped records", numbers=(1,))
    return markup("corpus", "dropped", reasons, examples, skipped)


def _kinds(rows: RowFacts) -> Markup:
    if not rows.rows:
        return markup("parts", "paragraph", "Nothing was kept.")
    tables = [
        _counted("Pages by language", "language", rows.languages, rows.rows),
        _counted("Pages by type, in the method's eyes", "page type", rows.page_types, rows.rows),
        _counted("Pages by method and version", "method", rows.methods, rows.rows),
    ]
    return markup("parts", "plots", tables)


def _counted(caption: str, name: str, counts: Counter[str], whole: int) -> Markup:
    ranked = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    rows = [
        [Cell(shorten(key, 80)), count_cell(count, whole), Cell(_percent(count, whole), count)]
        for key, count in ranked[:_MOST_GROUPS]
    ]
    more = f"; the first {_MOST_GROUPS} of {len(ranked):,}" if len(ranked) > _MOST_GROUPS else ""
    return table(caption + more, [name, "pages", "share"], rows, name=caption, numbers=(1, 2))


def _plots(rows: RowFacts) -> Markup | str:
    if not rows.rows:
        return ""
    counts, _ = np.histogram(rows.words, bins=[*_LENGTHS, np.inf])
    middle = int(np.median(rows.words))
    bars = [(_LENGTH_LABELS.get(start, ""), count) for start, count in zip(_LENGTHS, counts.tolist(), strict=True)]
    lengths = charts.histogram(
        charts.Words(
            "lengths",
            "Lengths of the pages",
            f"How many pages have how many words, on a logarithmic scale; the median is {middle:,} words.",
            f"How many pages have how many words; steps grow. The median is {middle:,} words.",
        ),
        bars,
    )
    return markup("parts", "plots", [lengths, _confidence_plot(rows)])


def _confidence_plot(rows: RowFacts) -> Markup:
    if not rows.confidences:
        return markup("parts", "note", "The method does not say how sure it is.")
    counts, _ = np.histogram(np.clip(rows.confidences, 0, 1), bins=_BINS, range=(0, 1))
    middle = float(np.median(rows.confidences))
    labels = {0: "0", 5: "0.25", 10: "0.5", 15: "0.75"}
    words = charts.Words(
        "confidences",
        "Confidence of the method",
        f"How many pages have which confidence, from 0 to 1; the median is {middle:.2f}.",
        f"How sure the method is of each page, from 0 to 1. The median is {middle:.2f}.",
    )
    return charts.histogram(words, [(labels.get(i, ""), count) for i, count in enumerate(counts.tolist())])


def _sites(rows: RowFacts) -> str:
    if not rows.rows:
        return ""
    ranked = sorted(rows.site_pages.items(), key=lambda one: (-one[1], one[0]))
    words = sum(rows.site_words.values())
    cells = [
        [Cell(shorten(host, 100)), count_cell(count, rows.rows), count_cell(rows.site_words[host], words)]
        for host, count in ranked[:_MOST_GROUPS]
    ]
    first = f"the first {_MOST_GROUPS} of " if len(ranked) > _MOST_GROUPS else ""
    caption = f"Pages and words by site: {first}{len(ranked):,} host" + "s" * (len(ranked) != 1)
    return table(caption, ["site", "pages", "words"], cells, name="sites", numbers=(1, 2))


def _unsure(rows: RowFacts) -> str:
    pages = [
        (
            page,
            " · ".join(one for one in (page.page_type, page.language, f"{page.words:,} words") if one),
            number < _OPEN,
        )
        for number, page in enumerate(rows.unsure)
    ]
    return markup("corpus", "unsure", pages) if pages else ""


def _shards(facts: CorpusFacts) -> str:
    if len(facts.shards) < 2:
        return ""
    ranked = sorted(facts.shards, key=lambda one: (-one.seconds, one.number))[:_SLOWEST]
    rows = [_shard_row(one, ranked[0].seconds) for one in ranked]
    known = len(facts.shards)
    of = (
        f"{known:,} of {facts.summary.shards:,} shards were looked at"
        if known < facts.summary.shards
        else f"of {known:,}"
    )
    head = ["shard", "seconds", "pages", "MB", "MB/s"]
    return table(f"Where most time went ({of})", head, rows, name="slowest shards", numbers=(0, 1, 2, 3, 4))


def _shard_row(one: Report, most: float) -> list[Cell]:
    size = one.bytes / MEGABYTE
    speed = size / one.seconds if one.seconds else 0.0
    return [
        Cell(f"{one.number:05}", one.number),
        Cell(f"{one.seconds:,.1f}", one.seconds, one.seconds / most if most else None),
        Cell(f"{one.pages:,}", one.pages),
        Cell(f"{size:,.1f}", size),
        Cell(_speed(speed), speed),
    ]


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def _speed(megabytes: float) -> str:
    return f"{megabytes:,.2f}" if megabytes >= 0.1 else f"{megabytes:.4f}"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:,.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
