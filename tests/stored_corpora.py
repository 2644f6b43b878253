"""Small corpora for tests, written as a run writes them, but in this process: no workers, no guard."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from typing import TYPE_CHECKING, Any

from mainmatter.api import clean
from mainmatter.corpus.browse import Listing, ListingQuery, StoredCorpus
from mainmatter.corpus.filters import Filters
from mainmatter.corpus.folder import SUMMARY, Folder, part_name, rejects_name
from mainmatter.corpus.job import Job
from mainmatter.corpus.plan import make_plan, write_plan
from mainmatter.corpus.readers import SHARD_SIZE, find_shards, read_slice
from mainmatter.corpus.records import Record, Reject
from mainmatter.corpus.summary import Summary
from mainmatter.corpus.writers import COLUMNS, import_arrow, make_blocks, make_row, make_writer, rejects_to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mainmatter.corpus.browse import UncleanedInput


def write_corpus(out: Path, inputs: Iterable[str], *, min_words: int = 0, **wanted: Any) -> Path:
    """The corpus of some inputs, cleaned with `density`; `wanted` goes to `Job`."""
    job = Job(method="density", filters=Filters(min_words=min_words), **wanted)
    names, folder = list(inputs), Folder(str(out))
    shards = find_shards(names, job.shard_size or SHARD_SIZE)
    write_plan(folder, make_plan(job, names, len(shards), {}), shards)
    kept = words = 0
    reasons: Counter[str] = Counter()
    for number, shard in enumerate(shards):
        writer, rejects = make_writer(job), []
        for read in (read for one in shard for read in read_slice(one)):
            row = to_row(job, read) if isinstance(read, Record) else read
            if isinstance(row, tuple):
                writer.add(row)
                kept, words = kept + 1, words + row[COLUMNS.index("words")]
            elif isinstance(row, Reject):
                rejects.append(row)
        reasons.update(reject.reason for reject in rejects)
        folder.write(part_name(number, job.format), writer.finish())
        if rejects:
            folder.write(rejects_name(number), rejects_to_bytes(rejects))
    pages = kept + reasons.total()
    summary = Summary(str(out), len(shards), pages, kept, reasons, {}, words, 1000, 1.0)
    folder.write(SUMMARY, json.dumps(summary.to_json()).encode())
    return out


def to_row(job: Job, record: Record) -> tuple[Any, ...] | Reject:
    """What a run makes of a page."""
    extraction = clean(record.page, method=job.method)
    row = make_row(record, extraction)
    dropped = job.filters.why_dropped(record, row)
    if dropped is not None:
        return Reject(*dropped, record.source, record.position, record.page.id, record.page.url)
    return (*row.values(), *([make_blocks(extraction)] if job.blocks else []))


def write_rows(out: Path, parts: Iterable[int], format_: Any, first: int = 0) -> list[str]:
    """Parts with so many rows of no page; their ids. Even rows have a title."""
    job, ids = Job(method="density", format=format_), []
    for number, count in enumerate(parts):
        writer = make_writer(job)
        for i in range(first, first + count):
            facts = {"id": f"id-{i}", "url": f"https://example.org/{i}", "text": f"Text {i}.", "words": 2}
            facts |= {"title": f"Über Seite {i}" if i % 2 == 0 else None, "source": "crawl.warc", "position": i}
            writer.add(tuple(facts.get(name) for name in COLUMNS))
            ids.append(f"id-{i}")
        Folder(str(out)).write(part_name(number, format_), writer.finish())
        first += count
    return ids


def walk(corpus: StoredCorpus | UncleanedInput, **wanted: Any) -> list[Listing]:
    """Listings from the first to the last."""
    listings = [corpus.find(ListingQuery(**wanted))]
    while listings[-1].after is not None:
        listings.append(corpus.find(ListingQuery(**wanted, start=listings[-1].after)))
    return listings


def ids_of(listings: list[Listing]) -> list[str]:
    """The ids of all rows that were listed."""
    return [row["id"] for listing in listings for _, row in listing.rows]


def to_old_folder(out: Path) -> Path:
    """Give a corpus the names, and its plan and summary the content, that earlier versions wrote."""
    for new, old in (("__run", "_run"), ("__about/rejects", "rejects"), ("__about/summary.json", "summary.json")):
        if (out / new).exists():
            (out / new).rename(out / old)
    shutil.rmtree(out / "__about")
    (out / ".huggingface.yaml").unlink(missing_ok=True)
    plan = json.loads((out / "_run/plan.json").read_text("utf-8"))
    for name in ("text_format", "without_columns", "chunks"):
        del plan["job"][name]
    (out / "_run/plan.json").write_text(json.dumps(plan), "utf-8")
    for file in (out / "summary.json", *(out / "_run").glob("clean-*.json"), *(out / "_run").glob("unique-*.json")):
        content = json.loads(file.read_text("utf-8"))
        file.write_text(json.dumps({name: value for name, value in content.items() if name != "languages"}), "utf-8")
    return out


def give_values(out: Path, name: str, values: list[Any]) -> None:
    """Give the rows of the first part of a corpus, which is a Parquet file, other values in a column."""
    arrow, parquet = import_arrow()
    path = out / part_name(0, "parquet")
    table = parquet.read_table(path)
    at = table.schema.get_field_index(name)
    parquet.write_table(
        table.set_column(at, table.schema.field(at), arrow.array(values, table.schema.field(at).type)), path
    )
