"""What workers do for /api/compare: each contestant's text of a page, how the texts differ, and how good they are."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mainmatter.clean import clean
from mainmatter.errors import InputError, MainmatterError
from mainmatter.lab.bench.peers import PEERS, get_peer, installed_peers, peer_version
from mainmatter.lab.metrics import METRICS, Output
from mainmatter.lab.metrics.sequences import matching_blocks
from mainmatter.records import Gold, Page
from mainmatter.registry import DEFAULT_METHOD, method_names
from mainmatter.workbench.choosing import choose_contestant, model_names, needs_model, without_paths
from mainmatter.workbench.clean_task import Answer, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mainmatter.workbench.clean_task import Source

SAME, ADDED, MISSING = "=", "+", "-"
_PROBE = Page(b"<title>A page</title><h1>A page</h1><p>Some words, to warm up.</p>")
_WORD = re.compile(r"\S+\s*")
_MARKER = re.compile(r"^\s*<[hlp]>\s*", re.IGNORECASE | re.MULTILINE)
_URL_LINE = re.compile(r"\A\s*URL.*\n?")
# To trace a longest common subsequence takes a bit a cell: 50 MB. Beyond that, a shortest edit script will do.
_TRACEABLE_CELLS = 400_000_000
# So few equal words ("of the") are chance if the differences on both sides are as long, and only hide what was lost.
_CHANCE_WORDS = 3
# What these say depends on headings, paragraphs and list items, which a gold text without markup does not tell.
_NEEDS_MARKUP = re.compile(r"markup|combined|labelled|markers")


@dataclass(frozen=True, slots=True)
class Contribution:
    """What a contestant made of the page.

    Attributes:
        name: the method, model or peer.
        text: its text.
        marked: the same with CleanEval's markup, where it tells; else the text.
        seconds: how long it took.
        error: why there is no text, if so.
    """

    name: str
    text: str = ""
    marked: str = ""
    seconds: float = 0.0
    error: str | None = None


def get_page(source: Source) -> Page:
    """The page itself, so that it is fetched once for all contestants.

    Raises:
        InputError: it cannot be read or fetched.
        PageTooLarge: it is over the limits.
    """
    return source.get()


def contribute(source: Source, name: str, models: Path) -> Contribution:
    """Have a contestant clean a page; what it does wrong is told in the result.

    Raises:
        UnknownName: there is no such method, model or peer.
        InputError: parameters that follow its name are wrong.
    """
    page = source.get()
    try:
        chosen, parameters = choose_contestant(name, models)
        if chosen in PEERS:
            return _run_peer(page, name)
        clean(_PROBE, method=chosen, **parameters)  # loading a model is not this page's fault
        start = time.perf_counter()
        extraction = clean(page, method=chosen, limits=source.limits, **parameters)
    except MainmatterError as error:
        raise without_paths(error, models) from error
    text = extraction.text
    return Contribution(name, text, extraction.cleaneval(), time.perf_counter() - start)


def _run_peer(page: Page, name: str) -> Contribution:
    peer = get_peer(name)
    if page.format == "text":
        return Contribution(name, error="it reads HTML, not plain text")
    try:
        peer(_PROBE, False)
        start = time.perf_counter()
        output = peer(page, False)
    except Exception as error:  # other people's code may raise anything
        return Contribution(name, error=" ".join(f"{type(error).__name__}: {error}".split())[:300])
    return Contribution(name, output.text, output.marked or output.text, time.perf_counter() - start)


def compare(contributions: Sequence[Contribution], gold: str | None) -> Answer:
    """Mark how texts differ from the gold text or, without one, from the first; and measure them against the gold.

    Args:
        contributions: what the contestants gave, in the order of the columns.
        gold: the text that should have been found, with CleanEval's markup or without.
    """
    wanted = None if gold is None else to_gold(gold)
    first = next((each for each in contributions if each.error is None), None)
    reference = wanted.text if wanted is not None else (first.text if first else "")
    columns = [_column(each, reference or "", is_reference=gold is None and each is first) for each in contributions]
    return to_json(
        {
            "reference": "gold" if wanted is not None else (first.name if first else None),
            "columns": columns,
            "gold_is_marked": wanted is not None and _is_marked(gold or ""),
            "metrics": [] if wanted is None else _measure(contributions, wanted, with_markup=_is_marked(gold or "")),
        }
    )


def to_gold(text: str) -> Gold:
    """A gold text as metrics take it. Without markup, each line is taken for a paragraph."""
    text = _URL_LINE.sub("", text, count=1) if _is_marked(text) else text
    if _is_marked(text):
        return Gold(text=_MARKER.sub("", text), marked=text)
    lines = [line for line in text.splitlines() if line.strip()]
    return Gold(text=text, marked="\n".join(f"<p> {line}" for line in lines))


def _is_marked(text: str) -> bool:
    return _MARKER.search(text) is not None


def _column(contribution: Contribution, reference: str, *, is_reference: bool) -> dict[str, Any]:
    text = contribution.text
    parts = [(SAME, text)] if is_reference or contribution.error else difference(reference, text)
    return {
        "name": contribution.name,
        "is_peer": contribution.name in PEERS,
        "error": contribution.error,
        "seconds": round(contribution.seconds, 4),
        "text": text,
        "words": len(text.split()),
        "parts": parts,
        "added": sum(len(words.split()) for sign, words in parts if sign == ADDED),
        "missing": sum(len(words.split()) for sign, words in parts if sign == MISSING),
    }


def difference(reference: str, text: str) -> list[tuple[str, str]]:
    """How a text differs from another one, word by word: what is the same, added or missing, in reading order."""
    # With an end of paragraph, what follows the last word of one text does not stick to it.
    old, new = _WORD.findall(reference.rstrip() + "\n\n"), _WORD.findall(text.rstrip() + "\n\n")
    matched = _without_chance(
        matching_blocks([word.strip() for word in old], [word.strip() for word in new], _TRACEABLE_CELLS),
        len(old),
        len(new),
    )
    parts: list[tuple[str, str]] = []
    i = j = 0
    for start, place, size in [*matched, (len(old), len(new), 0)]:
        pieces = ((MISSING, old[i:start]), (ADDED, new[j:place]), (SAME, new[place : place + size]))
        parts += [(sign, "".join(words)) for sign, words in pieces if words]
        i, j = start + size, place + size
    return parts[:-1] + [(sign, words.rstrip()) for sign, words in parts[-1:] if words.strip()]


def _without_chance(matched: list[tuple[int, int, int]], old: int, new: int) -> list[tuple[int, int, int]]:
    """The runs of equal words that mean something."""
    kept: list[tuple[int, int, int]] = []
    for number, (i, j, size) in enumerate(matched):
        last_i, last_j, last_size = kept[-1] if kept else (0, 0, 0)
        next_i, next_j, _ = matched[number + 1] if number + 1 < len(matched) else (old, new, 0)
        before = max(i - last_i - last_size, j - last_j - last_size)
        after = max(next_i - i - size, next_j - j - size)
        if size > _CHANCE_WORDS or before < size or after < size:
            kept.append((i, j, size))
    return kept


def _measure(contributions: Sequence[Contribution], gold: Gold, *, with_markup: bool) -> list[dict[str, Any]]:
    """All metrics that the gold text allows, one row a figure, and which contestants are best."""
    rows = []
    for metric in METRICS.values():
        if not gold.has(metric.needs):
            continue
        scores = [
            None if each.error else metric.measure(Output(each.text, each.marked), gold) for each in contributions
        ]
        for column in metric.columns:
            if not with_markup and _NEEDS_MARKUP.search(column):
                continue
            values = [None if score is None else round(score[column], 4) for score in scores]
            most = max((value for value in values if value is not None), default=None)
            best = [number for number, value in enumerate(values) if value is not None and value == most]
            rows.append(
                {
                    "metric": metric.name,
                    "figure": column,
                    "description": metric.description,
                    "is_headline": column == metric.headline,
                    "is_percent": metric.percent,
                    "values": values,
                    "best": best,
                }
            )
    return rows


def describe_contestants(models: Path) -> Answer:
    """All that can be compared: methods, the workbench's models, and other people's tools that are installed here."""
    return to_json(
        {
            "default": DEFAULT_METHOD,
            "methods": [name for name in method_names() if not needs_model(name)],
            "models": model_names(models),
            "peers": [{"name": name, "version": peer_version(name)} for name in installed_peers()],
        }
    )


def check_names(names: Sequence[str], models: Path) -> None:
    """Complain before any work about contestants that are not there.

    Raises:
        UnknownName: there is no such method, model or peer.
        InputError: a contestant is named twice, or its parameters are wrong.
    """
    if len(set(names)) < len(names):
        raise InputError("a method is named twice; compare it with another one")
    for name in names:
        choose_contestant(name, models)
