"""Peers on our harness: they agree with measurements that others made, so the harness can be trusted."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from mainmatter.datasets import GoldPage, load_dataset
from mainmatter.evaluation import evaluate
from mainmatter.evaluation.peers import PEERS, get_peer
from mainmatter.metrics import Gold
from mainmatter.records import Page

DATA = Path(__file__).parents[2].parent / "shared" / "data"
WORKERS = min(2, os.cpu_count() or 1)
PAGE = Page((Path(__file__).parents[1] / "pages" / "river.html").read_bytes(), "https://news.example/river", "river")


def real(name: str) -> list[GoldPage]:
    if not (DATA / f"{name}.parquet").is_file():
        pytest.skip(f"{DATA} does not hold {name}.parquet")
    return load_dataset(name, DATA)


def f1_of_words(found: str, gold: str) -> float:
    """Bag-of-words F1, written once more; for texts without Chinese and Japanese."""
    left, right = (Counter(re.findall(r"\w+", text.lower())) for text in (found, gold))
    shared = sum(min(count, right[word]) for word, count in left.items())
    return 2 * shared / (left.total() + right.total()) if left or right else 1.0


@pytest.mark.parametrize("name", sorted(PEERS))
def test_peer_keeps_the_text_of_a_simple_page(name: str) -> None:
    pytest.importorskip(name)
    output = get_peer(name)(PAGE, False)
    assert "the old mill has stood for more than three hundred years" in output.text
    assert output.marked == output.text
    assert output.metadata is None


@pytest.mark.parametrize("name", ["trafilatura", "turbohtml"])
def test_peer_reads_metadata_if_asked(name: str) -> None:
    pytest.importorskip(name)
    metadata = get_peer(name)(PAGE, True).metadata
    assert metadata is not None
    assert (metadata.title, metadata.author) == ("The river rises", "Ann Lee")


@pytest.mark.parametrize("name", sorted(PEERS))
@pytest.mark.parametrize("html", [b"", b"\x00\xff\xfe", b"<p>", "<p>caf\u00e9"], ids=["empty", "noise", "bare", "str"])
def test_peer_takes_whatever_comes(html: str | bytes, name: str) -> None:
    pytest.importorskip(name)
    page = GoldPage(Page(html, id="1"), Gold("x"), {})
    assert evaluate(name, "tiny", [page], ["bag"]).failures == []


@pytest.mark.data
def test_resiliparse_agrees_on_wcxb() -> None:
    pytest.importorskip("resiliparse")
    found = evaluate("resiliparse", "wcxb-dev", real("wcxb-dev"), ["bag"], workers=WORKERS)
    assert found.failures == []
    assert found.scores["bag"]["f1"] == pytest.approx(0.770, abs=0.005)


@pytest.mark.data
def test_trafilatura_agrees_on_cleaneval() -> None:
    pytest.importorskip("trafilatura")
    found = evaluate("trafilatura", "cleaneval-final", real("cleaneval-final"), ["bag"], workers=WORKERS)
    assert found.failures == []
    assert found.scores["bag"]["f1"] == pytest.approx(0.892, abs=0.005)


@pytest.mark.data
def test_harness_agrees_with_calling_a_peer_by_hand() -> None:
    trafilatura = pytest.importorskip("trafilatura")
    pages = real("cleaneval-dev")
    found = evaluate("trafilatura", "cleaneval-dev", pages, ["bag"], workers=WORKERS).scores["bag"]["f1"]
    by_hand = [f1_of_words(trafilatura.extract(page.page.html) or "", page.gold.text or "") for page in pages]
    assert found == pytest.approx(sum(by_hand) / len(by_hand), abs=1e-9)
