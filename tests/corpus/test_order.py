"""The first pages of a corpus in another order: the right ones, whatever was not read for it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyarrow")

from mainmatter.corpus.browse import ListingQuery, StoredCorpus
from mainmatter.corpus.folder import Folder, part_name
from mainmatter.corpus.job import Job
from mainmatter.corpus.order import SORTINGS, Order, Sorting, read_order
from mainmatter.corpus.writers import COLUMNS, import_arrow, make_writer

if TYPE_CHECKING:
    from pathlib import Path

LANGUAGES = ("en", "en", "de", None)
WISHES: dict[str, dict[str, Any]] = {
    "all": {},
    "words": {"words": ("PAGE", "7")},
    "language": {"language": "de"},
    "no language": {"language": "und"},
    "type and confidence": {"page_type": "forum", "confidence": (0.2, 0.8)},
    "length": {"lengths": (None, 300)},
    "none": {"language": "fi"},
}


def make_rows(count: int) -> list[dict[str, Any]]:
    chance = random.Random(17)  # the same each time
    return [
        {
            "id": f"id-{i}",
            "title": f"Page {i}",
            "text": "x",
            "language": chance.choice(LANGUAGES),
            "page_type": chance.choice(("article", "forum")),
            "confidence": None if i % 11 == 0 else round(chance.random(), 2),
            "words": chance.randrange(1000),
        }
        for i in range(count)
    ]


def write_parts(out: Path, parts: list[list[dict[str, Any]]], format_: Any) -> StoredCorpus:
    for number, rows in enumerate(parts):
        writer = make_writer(Job(method="density", format=format_))
        for row in rows:
            writer.add(tuple(row.get(name) for name in COLUMNS))
        Folder(str(out)).write(part_name(number, format_), writer.finish())
    return StoredCorpus(str(out))


def in_order(rows: list[dict[str, Any]], sorting: Sorting, wish: ListingQuery) -> list[str]:
    """The ids in the order that Python gives, all of them."""
    column, descends = SORTINGS[sorting]
    lower = ListingQuery(**{name: getattr(wish, name) for name in ("language", "page_type", "confidence", "lengths")})
    fitting = [row for row in rows if lower.fits(row) and all(w.lower() in row["title"].lower() for w in wish.words)]
    known = [row for row in fitting if row[column] is not None]
    known.sort(key=lambda row: row[column], reverse=descends)
    return [row["id"] for row in [*known, *(row for row in fitting if row[column] is None)]]


@pytest.mark.parametrize("format_", ["parquet", "jsonl"])
@pytest.mark.parametrize("asked", WISHES)
def test_it_is_the_order_of_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_: str, asked: str) -> None:
    monkeypatch.setattr("mainmatter.corpus.writers.ROWS_IN_GROUP", 10)
    monkeypatch.setattr("mainmatter.corpus.order._OPEN_FILES", 1)
    rows = make_rows(75)
    corpus = write_parts(tmp_path, [rows[:33], [], rows[33:]], format_)
    for sorting in SORTINGS:
        wish = ListingQuery(**WISHES[asked])
        expected = in_order(rows, sorting, wish)
        for most in (7, 100):
            order = read_order(corpus, sorting, wish, Order.begin(corpus, most))
            assert (order.left, order.looked_at, order.problems) == ((), 75, ())
            found = corpus.get_listed([place for _, place in order.ranked])
            assert [row["id"] for row in found] == expected[:most], (sorting, most)


@pytest.mark.parametrize("format_", ["parquet", "jsonl"])
def test_when_time_is_up_it_goes_on_from_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_: str) -> None:
    monkeypatch.setattr("mainmatter.corpus.writers.ROWS_IN_GROUP", 10)
    rows = make_rows(75)
    corpus = write_parts(tmp_path, [rows[:40], rows[40:]], format_)
    wish = ListingQuery(seconds=0.0)
    order, seen = Order.begin(corpus, 7), []
    while order.left:
        order = read_order(corpus, "least-sure", wish, order)
        seen.append(order.looked_at)
    assert len(seen) > 3
    assert seen == sorted(seen)
    assert seen[-1] == 75
    found = corpus.get_listed([place for _, place in order.ranked])
    assert [row["id"] for row in found] == in_order(rows, "least-sure", wish)[:7]


def test_groups_that_come_behind_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mainmatter.corpus.writers.ROWS_IN_GROUP", 10)
    rows = [row | {"words": i, "language": "en" if i < 20 else "de"} for i, row in enumerate(make_rows(40))]
    corpus = write_parts(tmp_path, [rows], "parquet")
    _, parquet = import_arrow()
    path = tmp_path / "part-00000.parquet"
    data = bytearray(path.read_bytes())
    group = parquet.ParquetFile(path).metadata.row_group(3)
    for column in (group.column(i) for i in range(group.num_columns)):
        if column.path_in_schema in ("words", "page_type", "language"):
            start = column.dictionary_page_offset or column.data_page_offset
            data[start : start + column.total_compressed_size] = bytes(column.total_compressed_size)
    path.write_bytes(data)  # nobody can read the last ten rows
    corpus = StoredCorpus(str(tmp_path))
    order = read_order(corpus, "shortest", ListingQuery(), Order.begin(corpus, 10))
    assert (order.problems, order.looked_at) == ((), 40)
    assert [row["id"] for row in corpus.get_listed([place for _, place in order.ranked])] == [
        f"id-{i}" for i in range(10)
    ]
    assert read_order(corpus, "longest", ListingQuery(), Order.begin(corpus, 10)).problems  # which needs that group
    chosen = read_order(corpus, "page-type", ListingQuery(language="en", lengths=(15, None)), Order.begin(corpus, 100))
    assert (chosen.problems, len(chosen.ranked)) == ((), 5)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    rows = make_rows(20)
    corpus = write_parts(tmp_path, [rows[:10], rows[10:]], "parquet")
    (tmp_path / "part-00001.parquet").write_bytes(b"PAR1, but damaged")
    order = read_order(corpus, "longest", ListingQuery(), Order.begin(corpus, 100))
    assert len(order.ranked) == 10
    assert [problem.partition(": ")[0] for problem in order.problems] == ["part-00001.parquet"]
    assert Order.begin(corpus, 1).stamp != Order.begin(write_parts(tmp_path, [rows], "parquet"), 1).stamp


def test_columns_of_other_programs(tmp_path: Path) -> None:
    arrow, parquet = import_arrow()
    table = arrow.table({"id": ["a", "b", "c"], "confidence": ["high", "low", None], "words": [3, 1, 2]})
    parquet.write_table(table, tmp_path / "part-00000.parquet")
    corpus = StoredCorpus(str(tmp_path))
    orders: dict[Sorting, str] = {"least-sure": "abc", "shortest": "bca", "page-type": "abc"}
    for sorting, expected in orders.items():
        order = read_order(corpus, sorting, ListingQuery(), Order.begin(corpus, 10))
        rows = corpus.get_listed([place for _, place in order.ranked])
        assert "".join(row["id"] for row in rows) == expected
    order = read_order(corpus, "shortest", ListingQuery(confidence=(0.5, None)), Order.begin(corpus, 10))
    assert order.problems[0].startswith("part-00000.parquet: cannot be read: ")
