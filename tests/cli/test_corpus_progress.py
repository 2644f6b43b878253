"""What a run says of how far it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mainmatter.cli import corpus as corpus_command
from mainmatter.cli.corpus import Teller, show_progress
from mainmatter.corpus.summary import Progress

if TYPE_CHECKING:
    import pytest

BEGIN = Progress("clean", ("clean",), 4, 0, 0, 0, 0, 0.5, 0.0)


def test_before_the_first_page_there_is_nothing_to_count() -> None:
    assert Teller().tell(BEGIN) == "cleaning: no pages yet"
    assert Teller("ray").tell(BEGIN) == "cleaning: no pages yet; Ray may take a minute or two to start"
    again = replace(BEGIN, earlier_pages=1200)
    assert Teller().tell(again) == "cleaning: no pages yet, 1,200 already done"


def test_one_page_is_one_page_and_tells_no_speed() -> None:
    teller = Teller()
    assert teller.tell(replace(BEGIN, pages=1, kept=1, bytes=5000, seconds=3.0, share=0.01)) == (
        "cleaning: 1 page, 1 kept, 0 of 4 shards"
    )
    assert "left" not in teller.tell(replace(BEGIN, pages=5, seconds=4.0, share=0.02))


def test_speed_and_time_left_are_those_since_the_first_pages() -> None:
    """An engine that took two minutes to start will not do so again."""
    teller = Teller("spark")
    teller.tell(replace(BEGIN, seconds=119.0))
    teller.tell(replace(BEGIN, pages=10, kept=9, seconds=120.0, share=0.1))
    now = replace(BEGIN, pages=40, kept=30, bytes=6_000_000, seconds=130.0, share=0.3, shards_done=1)
    assert teller.tell(now) == "cleaning: 40 pages, 30 kept, 3.0 pages/s, 0.6 MB/s, 1 of 4 shards, 0:35 left"
    assert "under 0.1 pages/s" in teller.tell(replace(now, seconds=1e4))
    assert " 1,000 pages/s" in teller.tell(replace(now, pages=10_010))


def test_each_stage_is_measured_by_itself() -> None:
    stages = ("clean", "unique")
    teller = Teller()
    teller.tell(replace(BEGIN, stages=stages, pages=1000, seconds=100.0, share=1.0))
    after = replace(BEGIN, stages=stages, stage="unique", pages=6, seconds=1.0, share=0.1)
    assert teller.tell(replace(after, pages=0)) == "dropping duplicates: no pages yet"
    teller.tell(after)
    assert teller.tell(replace(after, pages=206, seconds=2.0, share=0.6)) == (
        "dropping duplicates: 206 pages, 200 pages/s, 0.0 MB/s, 0 of 4 shards, 0:01 left, stage 2 of 2"
    )


def test_a_log_says_once_that_there_is_no_page(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_command, "LOG_EVERY", 0.0)
    with show_progress("ray") as tell:
        for seconds in (10.0, 20.0, 30.0):
            tell(replace(BEGIN, seconds=seconds))
        tell(replace(BEGIN, pages=2, kept=2, seconds=40.0))
        tell(replace(BEGIN, pages=2, kept=2, seconds=50.0))
    assert capsys.readouterr().err.splitlines() == [
        "cleaning: no pages yet; Ray may take a minute or two to start",
        *["cleaning: 2 pages, 2 kept, 0 of 4 shards"] * 2,
    ]
