"""docs/reference/corpus-schema.md says what the code writes."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from mainmatter import Page, clean
from mainmatter.corpus.folder import INDEX
from mainmatter.corpus.records import Record, Reject
from mainmatter.corpus.summary import Summary
from mainmatter.corpus.writers import ROWS_IN_GROUP, SCHEMA, make_row

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "corpus-schema.md").read_text("utf-8")


def names_under(heading: str) -> list[str]:
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)


def test_columns() -> None:
    rows = [f"| `{column.name}` | `{column.type_name}` | {column.meaning} |" for column in SCHEMA]
    assert "\n".join(["| Column | Type | Meaning |", "| --- | --- | --- |", *rows, ""]) in PAGE


def test_fields_of_rejects_and_of_the_summary() -> None:
    assert names_under("Rejects") == [field.name for field in fields(Reject)]
    assert names_under("Summary") == list(Summary("out", 1, 2, 1, {"empty": 1}, {}, 3, 4, 5.0).to_json())


def test_which_columns_always_have_a_value() -> None:
    said = re.search(r"^- (.*) always have a value", PAGE, re.MULTILINE)
    assert said is not None
    row = make_row(Record(Page("<p></p>"), "crawl.warc", 0), clean("<p></p>", method="density"))
    assert set(re.findall(r"`(\w+)`", said[1])) == {name for name, value in row.items() if value is not None}


def test_names_and_numbers() -> None:
    assert f"`{INDEX}/`" in PAGE
    assert f"row groups of {ROWS_IN_GROUP:,} rows" in PAGE
