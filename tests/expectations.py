"""What is expected of the pages that we wrote (quality/pages/index.json), and what `main` does not meet yet.

python tests/expectations.py    writes the latter to quality/not_yet.json anew
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.gate import GATED_METHOD as METHOD
from mainmatter import clean
from mainmatter.html.parse import decode
from mainmatter.lab.datasets import GoldPage, load_dataset
from page_variants import variant

if TYPE_CHECKING:
    from mainmatter import Extraction

FOLDER = Path(__file__).parent / "quality" / "pages"
NOT_YET_FILE = FOLDER.parent / "not_yet.json"
INDEX: dict[str, dict[str, Any]] = json.loads((FOLDER / "index.json").read_text("utf-8"))
NOT_YET: dict[str, dict[str, list[str]]] = json.loads(NOT_YET_FILE.read_text("utf-8"))
PAGES: dict[str, GoldPage] = {page.page.id or "": page for page in load_dataset(str(FOLDER))}
# What the text of a page has beside its main matter, and the label of its blocks.
PIECES = {"byline": "byline", "captions": "caption", "comments": "comment"}
# Kinds of markup whose names are as different as possible, each in a form in which it has lost them.
NAMELESS = [
    ("article-wordpress-comments", "hashed-names"),
    ("service-faq-accordion", "hashed-names"),
    ("article-de", "no-attributes"),
    ("forum-phpbb", "no-attributes"),
    ("documentation-docusaurus", "only-divisions"),
    ("article-ar", "only-divisions"),
]


def spaced(text: str) -> str:
    return " ".join(text.split())


@cache
def cleaned(name: str, method: str = METHOD) -> Extraction:
    return clean(PAGES[name].page, method=method)


@cache
def nameless(name: str, change: str) -> str:
    """The text of a page that has lost its names."""
    html = PAGES[name].page.html
    assert isinstance(html, bytes)
    return clean(variant(decode(html)[0], change), method=METHOD).text


def missing(text: str, snippets: list[str]) -> list[str]:
    return [snippet for snippet in snippets if spaced(snippet) not in spaced(text)]


def present(text: str, snippets: list[str]) -> list[str]:
    return [snippet for snippet in snippets if spaced(snippet) in spaced(text)]


def unwanted(name: str) -> list[str]:
    """What must not come out unless it is asked for."""
    return [snippet for group in ("must_not_have", *PIECES) for snippet in INDEX[name].get(group, [])]


def labelled(name: str, label: str) -> str:
    """The text of all blocks with a label, kept or not."""
    found = cleaned(name)
    texts = zip(found.document.texts, found.labels, strict=True)
    return spaced(" ".join(text for text, label_of_block in texts if label_of_block == label))


def unmet(name: str) -> dict[str, list[str]]:
    """What a page does not give, by expectation."""
    facts, text = INDEX[name], cleaned(name).text
    lines = [spaced(line) for line in cleaned(name).to_markdown(links=False).splitlines()]
    headline = facts.get("headline")
    return {
        "must_have": missing(text, facts["must_have"]),
        "must_not_have": present(text, unwanted(name)),
        "markdown": [start for start in facts.get("markdown", []) if not any(line.startswith(start) for line in lines)],
        "headline": [headline] if headline and labelled(name, "headline") != headline else [],
        **{piece: missing(labelled(name, label), facts.get(piece, [])) for piece, label in PIECES.items()},
    }


def not_yet(name: str, expectation: str) -> list[str]:
    return NOT_YET.get(name, {}).get(expectation, [])


def write_not_yet() -> None:
    found = {name: unmet(name) for name in INDEX}
    for name, change in NAMELESS:
        found[f"{name} {change}"] = {"must_have": missing(nameless(name, change), INDEX[name]["must_have"])}
    short = {
        name: {expectation: snippets for expectation, snippets in each.items() if snippets}
        for name, each in sorted(found.items())
        if any(each.values())
    }
    NOT_YET_FILE.write_text(json.dumps(short, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    write_not_yet()
