"""Where a model comes from: its card, for programs in model.json and for people in README.md."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from mainmatter.lab.datasets import DATASETS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.trainable import Trainable

_UNKNOWN = "not said"


def method_entry(name: str, by: str) -> dict[str, Any]:
    """What was trained, by which version."""
    return {"method": name, "mainmatter": version("mainmatter"), "labels": by}


def data_entry(name: str, pages: Sequence[GoldPage], licence: str | None = None) -> dict[str, Any]:
    """Which pages were learned from: how many, under which licence, and a digest of them with their gold texts."""
    known = DATASETS.get(name)
    return {
        "name": name,
        "pages": len(pages),
        "licence": known.licence if known is not None else licence or _UNKNOWN,
        "sha256": digest(pages),
    }


def digest(pages: Sequence[GoldPage]) -> str:
    """A digest of pages and gold texts, in order; the layout of the files that they were read from does not matter."""
    return hashlib.sha256(b"".join(map(page_digest, pages))).hexdigest()


def page_digest(page: GoldPage) -> bytes:
    """A digest of a page and its gold text."""
    found = hashlib.sha256()
    for part in (page.page.html, page.gold.text or ""):
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        found.update(len(data).to_bytes(8, "big") + data)
    return found.digest()


_CARD_PAGE = """\
# A model of {name}

{name}: {summary}. Parameters: {parameters}.

Trained by mainmatter {version} in {learning} s ({in_all} s with reading and measuring); {size:,} bytes.

## Data

| name | pages | licence | SHA-256 |
| --- | ---: | --- | --- |
{data}

{learned_from} pages were learned from, {skipped} were skipped. Blocks were labelled by `{labels}`;
keeping exactly those labelled so would give F1 {oracle:.3f}.

## Figures

Macro-averaged bag of words.

| measured on | pages | precision | recall | F1 |
| --- | ---: | ---: | ---: | ---: |
{figures}
"""


def card_page(method: Trainable[Any], card: dict[str, Any], size: int) -> str:
    """The card as a page for people."""
    data = (f"| {one['name']} | {one['pages']} | {one['licence']} | `{one['sha256']}` |" for one in card["data"])
    return _CARD_PAGE.format(
        name=method.name,
        summary=method.summary,
        parameters=", ".join(f"{name}={value}" for name, value in method.parameters.items()) or "none",
        version=card["mainmatter"],
        **card["seconds"],
        size=size,
        data="\n".join(data),
        **card["pages"],
        labels=card["labels"],
        oracle=card["oracle"]["bag_f1"],
        figures="\n".join(_figure_rows(card)),
    )


def _figure_rows(card: dict[str, Any]) -> list[str]:
    rows = []
    if card.get("check"):
        check = card["check"]
        rows.append(_row("pages left out of a first training, by site", check["pages"], check))
        rows.append(_row("the same, all text kept", check["pages"], check["all_text"]))
    for one in card["valid"]:
        seen = f" ({one['learned_from']} of them learned from)" if one["learned_from"] else ""
        rows.append(_row(one["name"] + seen, one["pages"], one))
    return rows


def _row(name: str, pages: int, figures: dict[str, float]) -> str:
    columns = (figures.get(f"bag_{column}") for column in ("precision", "recall", "f1"))
    return f"| {name} | {pages} | " + " | ".join("-" if one is None else f"{one:.3f}" for one in columns) + " |"
