"""Which pages a model has learned from: what is measured on them says little about others.

A model's card holds a short digest of each page, without its gold text: four bytes of SHA-256, sorted, in base64. Of a
million other pages, a model that has learned from 4,000 takes one for its own. A page is known again only byte by byte;
one that is a string counts as UTF-8.
"""

from __future__ import annotations

import binascii
import hashlib
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

from mainmatter.errors import ModelError
from mainmatter.lab.peers import PEERS
from mainmatter.method import Trainable
from mainmatter.models.store import SHIPPED, is_model, load
from mainmatter.registry import get_method, method_names, split_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mainmatter.lab.datasets import GoldPage

CARD_ENTRY = "learned_from"  # of a model's card
_BYTES = 4  # of a digest


def short_digest(page: GoldPage) -> bytes:
    """The short digest of a page, whatever its gold text is."""
    html = page.page.html
    return hashlib.sha256(html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html).digest()[:_BYTES]


def pack_digests(digests: Iterable[bytes]) -> str:
    """Digests as a card holds them."""
    return b64encode(b"".join(sorted(set(digests)))).decode("ascii")


def unpack_digests(card: dict[str, Any]) -> frozenset[bytes] | None:
    """The digests that a card holds; None if it has none, as those of older models, or something else."""
    try:
        data = b64decode(card[CARD_ENTRY], validate=True)
    except (KeyError, TypeError, ValueError, binascii.Error):
        return None
    return frozenset(data[i : i + _BYTES] for i in range(0, len(data), _BYTES)) if len(data) % _BYTES == 0 else None


def learned_by(name: str) -> frozenset[bytes] | None:
    """The digests of the pages that a method or model has learned from; None if unknown, as for other tools.

    Args:
        name: of a method, a peer, or a model's folder; parameters may follow.

    Raises:
        UnknownName: there is no such method.
        ModelError: a model is missing or damaged.
    """
    if name in PEERS:
        return None
    path = split_name(name)[0]
    if path not in method_names():
        return unpack_digests(load(path).card)
    method = get_method(name)
    if not isinstance(method, Trainable) or not is_model(SHIPPED / method.weights()):
        return frozenset()
    return unpack_digests(load(SHIPPED / method.weights()).card)


def started_with(start: str) -> frozenset[bytes] | None:
    """What a model has learned from before it learns: as `learned_by`, nothing for ""."""
    try:
        return learned_by(start) if start else frozenset()
    except ModelError:
        return None
