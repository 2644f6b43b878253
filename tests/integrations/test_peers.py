"""Peers on our harness: they agree with measurements that others made, so the harness can be trusted."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from mainmatter.errors import InputError, MissingExtra
from mainmatter.lab.datasets import GoldPage, load_dataset
from mainmatter.lab.evaluation import evaluate
from mainmatter.lab.peers import PEERS, get_peer, installed_peers, peer_version
from mainmatter.records import Gold, Page

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


# Long enough for all of them: some keep nothing of a short page.
SENTENCE = (
    "On day {} the river rose again, and the people of the village carried what they had to the old church on the hill."
)
MENU = "<nav><ul><li><a href='/'>Home page</a></li><li><a href='/about'>About this paper</a></li></ul></nav>"
AFTERWARDS = (
    "They stayed there until the water had gone, which took a long time, and in the end most of them went back."
)
ARTICLE = "".join(f"<p>{SENTENCE.format(n)} {AFTERWARDS}</p>" for n in range(12))
LONG_PAGE = Page(
    f"<html lang='en'><head><title>The river</title></head><body>{MENU}<article><h1>The river</h1>{ARTICLE}</article>"
    "<footer><a href='/x'>Imprint</a></footer></body></html>".encode(),
    "https://news.example/river",
    "long",
)
# These take anything; others raise on pages without text, which counts as a failure.
ROBUST = ("resiliparse", "trafilatura", "trafilatura-no-comments", "turbohtml")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a peer uses the network")

    monkeypatch.setattr("socket.getaddrinfo", refuse)
    monkeypatch.setattr("socket.socket.connect", refuse)


def installed(name: str) -> str:
    if name not in installed_peers():
        pytest.skip(f"{name} is not installed")
    return name


@pytest.mark.parametrize("name", sorted(PEERS))
def test_peer_keeps_the_text_of_a_simple_page(name: str) -> None:
    output = get_peer(installed(name))(LONG_PAGE, False)
    assert all(SENTENCE.format(n) in output.text for n in range(12))
    assert "Imprint" not in output.text
    assert output.marked == output.text
    assert output.metadata is None


@pytest.mark.parametrize("name", ["trafilatura", "turbohtml"])
def test_peer_reads_metadata_if_asked(name: str) -> None:
    metadata = get_peer(installed(name))(PAGE, True).metadata
    assert metadata is not None
    assert (metadata.title, metadata.author) == ("The river rises", "Ann Lee")


@pytest.mark.parametrize("name", sorted(PEERS))
@pytest.mark.parametrize("html", [b"", b"\x00\xff\xfe", b"<p>", "<p>caf\u00e9"], ids=["empty", "noise", "bare", "str"])
def test_peer_takes_whatever_comes(html: str | bytes, name: str) -> None:
    page = GoldPage(Page(html, id="1"), Gold("x"), {})
    found = evaluate(installed(name), "tiny", [page], ["bag"])
    assert found.scores["bag"]["pages"] == 1
    if name in ROBUST:
        assert found.failures == []


def test_comments_are_left_out_if_asked() -> None:
    installed("trafilatura")
    comment = "I have lived beside this river for forty years and have never seen the water stand so high."
    html = LONG_PAGE.html.decode() if isinstance(LONG_PAGE.html, bytes) else LONG_PAGE.html
    page = Page(html.replace("<footer>", f"<div id='comments' class='comments'><p>{comment}</p></div><footer>"))
    assert comment in get_peer("trafilatura")(page, False).text
    assert comment not in get_peer("trafilatura-no-comments")(page, False).text


def test_words_of_neighbouring_elements_are_not_glued_together() -> None:
    installed("readability-lxml")
    html = (
        "<div><div>"
        + ARTICLE.replace("</p><p>", "</p><div>Some <b>b</b>old words, and a comma,</div><p>")
        + "</div></div>"
    )
    text = get_peer("readability-lxml")(Page(html), False).text
    assert "Some bold words" in text
    assert "went back.Some" not in text
    assert "comma,On day" not in text


def test_installed_peers_and_their_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "turbohtml" in installed_peers()
    assert peer_version("turbohtml").count(".") >= 1
    assert peer_version("trafilatura-no-comments") == peer_version("trafilatura")
    monkeypatch.setattr("mainmatter.lab.peers.find_spec", lambda name: None)
    assert installed_peers() == []
    with pytest.raises(MissingExtra, match=r"readability-lxml, which is not installed; .*mainmatter\[bench\]"):
        get_peer("readability-lxml")
    with pytest.raises(InputError, match=r"^rs-trafilatura is not installed, and is not part of the extra bench"):
        get_peer("rs-trafilatura")


@pytest.mark.data
def test_resiliparse_agrees_on_wcxb() -> None:
    found = evaluate("resiliparse", "wcxb-dev", real("wcxb-dev"), ["bag"], workers=WORKERS)
    assert found.failures == []
    assert found.scores["bag"]["f1"] == pytest.approx(0.776, abs=0.005)


@pytest.mark.data
def test_trafilatura_agrees_on_cleaneval() -> None:
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
