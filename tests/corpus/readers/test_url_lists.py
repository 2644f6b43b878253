"""Lists of URLs: when each was fetched, and those that a list gives twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from mainmatter.corpus.readers import FetchRules, find_shards, read_slice
from mainmatter.corpus.records import Record, Reject, Skipped
from small_web import serve

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.corpus.records import Read


HERE = FetchRules(robots=False, delay=0, public_only=False)


def words(reads: list[Read]) -> list[tuple[int, str | None]]:
    """The position of each, and its id, or why it has none."""
    return [
        (
            read.position,
            read.page.id if isinstance(read, Record) else read.type if isinstance(read, Skipped) else read.id,
        )
        for read in reads
    ]


def test_it_is_told_when_a_page_was_fetched(tmp_path: Path) -> None:
    path = tmp_path / "list.urls"
    with serve({"/a": ("text/html", b"<p>a")}) as address:
        path.write_text(f"{address}/a\n")
        before = datetime.now(UTC)
        ((one,),) = find_shards([str(path)])
        (listed,) = read_slice(one, fetch_rules=HERE)
        ((page,),) = find_shards([f"{address}/a"])
        (named,) = read_slice(page, fetch_rules=HERE)
        after = datetime.now(UTC)
    for read in (listed, named):
        assert isinstance(read, Record)
        assert read.time is not None
        assert read.time.endswith("Z")
        assert before - timedelta(seconds=1) <= datetime.fromisoformat(read.time) <= after


def test_a_url_that_is_given_twice_is_fetched_once(tmp_path: Path) -> None:
    path = tmp_path / "list.urls"
    with serve({"/a": ("text/html", b"<p>a")}) as address:
        page, gone = f"{address}/a", f"{address}/gone"
        lines = ["# list", page, "", "no url", gone, f" {page} ", "# list", "", "no url", gone, f"{page}#b"]
        path.write_text("\n".join(lines + [""] * 100 + [page, f"{page}?c"]))
        shards = find_shards([str(path)])
        reads = [read for (one,) in shards for read in read_slice(one, fetch_rules=HERE)]
        assert words(reads) == [
            (1, page),
            (3, None),
            (4, gone),
            (5, "repeated-url"),
            (8, None),
            (9, "repeated-url"),
            (10, f"{page}#b"),
            (111, "repeated-url"),
            (112, f"{page}?c"),
        ]
        assert [read.reason for read in reads if isinstance(read, Reject)] == ["damaged", "fetch", "damaged", "fetch"]
        going_on = [read for (one,) in shards for read in read_slice(one, start=5, fetch_rules=HERE)]
        assert words(going_on) == words(reads)[3:]
