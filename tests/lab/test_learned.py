"""Which pages a model has learned from, as its card tells it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from mainmatter import registry
from mainmatter.errors import ModelError
from mainmatter.lab.datasets import GoldPage
from mainmatter.lab.learned import CARD_ENTRY, learned_by, pack_digests, short_digest, started_with, unpack_digests
from mainmatter.models.store import SHIPPED, load
from mainmatter.records import Gold, Page
from toys import Cutoff

if TYPE_CHECKING:
    from pathlib import Path

PAGE = GoldPage(Page("<p>Möwe \udc80"), Gold("a"), {})


def test_a_digest_is_of_the_page_alone() -> None:
    assert short_digest(PAGE) == hashlib.sha256("<p>Möwe \udc80".encode("utf-8", "surrogatepass")).digest()[:4]
    same = GoldPage(Page("<p>Möwe \udc80".encode("utf-8", "surrogatepass"), "https://a.example/"), Gold("b"), {})
    assert short_digest(same) == short_digest(PAGE)
    assert short_digest(GoldPage(Page("<p>Möwe"), Gold("a"), {})) != short_digest(PAGE)


def test_digests_travel_in_a_card() -> None:
    digests = {bytes([i, 1, 2, 3]) for i in range(50)}
    packed = pack_digests([*digests, *digests])
    assert unpack_digests({CARD_ENTRY: packed}) == frozenset(digests)
    assert packed == pack_digests(sorted(digests, reverse=True))
    assert len(packed) == 4 * -(-4 * 50 // 3)
    assert unpack_digests({CARD_ENTRY: ""}) == frozenset()


@pytest.mark.parametrize("entry", [None, 3, "AAAA", "no base64!", ["AAAAAA=="]], ids=str)
def test_what_is_no_list_of_digests_is_unknown(entry: object) -> None:
    assert unpack_digests({CARD_ENTRY: entry}) is None
    assert unpack_digests({}) is None


@pytest.mark.parametrize("folder", sorted(file.parent.name for file in SHIPPED.glob("*/model.json")))
def test_models_that_ship_tell_their_pages(folder: str) -> None:
    card = load(SHIPPED / folder).card
    digests = unpack_digests(card)
    assert digests is not None
    # The same page may be in several sets.
    assert max(entry["pages"] for entry in card["data"]) <= len(digests) <= card["pages"]["learned_from"]
    assert len(card[CARD_ENTRY]) < 50_000


def test_who_has_learned_from_what(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.METHODS, "cutoff", "toys:Cutoff")
    for name in ("density", "template", "ice-heuristic"):
        assert learned_by(name) == frozenset()
    assert learned_by("trafilatura") is None
    assert learned_by("main:dial=0.3") == unpack_digests(load(SHIPPED / "main").card)
    assert learned_by("ncleaner:preset=paper") == unpack_digests(load(SHIPPED / "ncleaner-paper").card)
    method = Cutoff().learn([(3, 4)])
    method.save(tmp_path / "old", {})
    method.save(tmp_path / "new", {CARD_ENTRY: pack_digests([b"1234"])})
    assert learned_by(str(tmp_path / "old")) is None
    assert learned_by(f"{tmp_path / 'new'}:margin=1") == frozenset({b"1234"})
    with pytest.raises(ModelError):
        learned_by(str(tmp_path / "none"))
    assert started_with("") == frozenset()
    assert started_with(str(tmp_path / "new")) == frozenset({b"1234"})
    assert started_with(str(tmp_path / "none")) is None
