"""/api/compare: one page, several methods and peers, side by side: texts, differences and quality."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from mainmatter.api import Cleaner
from mainmatter.errors import InputError, MainmatterError
from mainmatter.lab.metrics import METRICS, Output
from mainmatter.lab.metrics.alignment import matching_blocks
from mainmatter.lab.peers import PEERS, get_peer, installed_peers, peer_version
from mainmatter.records import Gold, Page
from mainmatter.registry import method_names
from mainmatter.workbench.choosing import (
    LONGEST_NAME,
    choose_contestant,
    model_names,
    needs_model,
    offered_method,
    without_paths,
)
from mainmatter.workbench.inspect import ERRORS, PageRequest, describe_body, find_source, read_page_request
from mainmatter.workbench.page_source import PageSource, Payload, to_json
from mainmatter.workbench.workbench import Workbench, workbench_of
from mainmatter.workbench.workers import Crashed, TookTooLong

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

router = APIRouter(tags=["workbench"])

MOST_CONTESTANTS = 12
_AT_ONCE = 2  # of a request: others want workers, too
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


class CompareRequest(PageRequest):
    """A page, the methods that clean it, and the correct text."""

    methods: list[Annotated[str, Field(max_length=LONGEST_NAME)]] = Field(
        min_length=1,
        max_length=MOST_CONTESTANTS,
        description="Methods, models (models/NAME) and peers; parameters of a method may follow its name.",
        examples=[["main", "density"]],
    )
    gold: str | None = Field(
        None, max_length=5_000_000, description="The correct text, with or without CleanEval's markup."
    )


@dataclass(frozen=True, slots=True)
class Contribution:
    """A contestant's result for the page.

    Attributes:
        name: the method, model or peer.
        text: its text.
        marked: the same with CleanEval's markup, if it has any; else the text.
        seconds: how long it took.
        error: why there is no text; else empty.
    """

    name: str
    text: str = ""
    marked: str = ""
    seconds: float = 0.0
    error: str | None = None


@router.get("/api/compare", responses=ERRORS, summary="What can be compared")
async def contestants(workbench: Annotated[Workbench, Depends(workbench_of)]) -> Response:
    """The methods, the models of this workbench, and the other tools that are installed (peers)."""
    return (await workbench.run(describe_contestants, models=workbench.models)).to_response()


@router.post(
    "/api/compare",
    responses=ERRORS,
    openapi_extra=describe_body(CompareRequest),
    summary="Clean a page with several methods",
)
async def compare(request: Request, workbench: Annotated[Workbench, Depends(workbench_of)]) -> Response:
    """Takes JSON (html, text, url or frame; methods; gold) or a form with a file.

    Each text comes in `parts`: "=" the same as the reference, "+" added, "-" missing. The reference is the gold text
    or, without one, the first method's. With a gold text, columns have their F1 and are sorted by it. A peer that
    fails or hangs has an `error` instead of a text.
    """
    asked, file = await read_page_request(request, CompareRequest)
    check_names(asked.methods, workbench.models)
    source = find_source(asked, file, workbench)
    page = await workbench.run(get_page, source=source)
    source = PageSource(page, limits=source.limits)
    turns = asyncio.Semaphore(_AT_ONCE)
    contributions = await asyncio.gather(*(_contribute(workbench, turns, source, name) for name in asked.methods))
    gold = asked.gold if asked.gold and asked.gold.strip() else None
    return (await workbench.run(compare_texts, contributions=contributions, gold=gold)).to_response()


async def _contribute(workbench: Workbench, turns: asyncio.Semaphore, source: PageSource, name: str) -> Contribution:
    """A contestant's result for the page. If it crashes or hangs, only its column is lost."""
    async with turns:
        try:
            return await workbench.run(contribute, source=source, name=name, models=workbench.models)
        except (Crashed, TookTooLong) as error:
            return Contribution(name, error=str(error))


def get_page(source: PageSource) -> Page:
    """The page itself, so that it is fetched once for all contestants.

    Raises:
        InputError: it cannot be read or fetched.
        PageTooLarge: it is over the limits.
    """
    return source.get()


def contribute(source: PageSource, name: str, models: Path) -> Contribution:
    """Have a contestant clean a page; its errors are part of the result.

    Raises:
        UnknownName: there is no such method, model or peer.
        InputError: parameters that follow its name are wrong.
    """
    page = source.get()
    try:
        chosen, parameters = choose_contestant(name, models)
        if chosen in PEERS:
            return _run_peer(page, name)
        cleaner = Cleaner(method=chosen, limits=source.limits, parameters=parameters)
        cleaner.clean(_PROBE)  # loading a model is not this page's fault
        start = time.perf_counter()
        extraction = cleaner.clean(page)
    except MainmatterError as error:
        raise without_paths(error, models) from error
    text = extraction.text
    return Contribution(name, text, extraction.render("cleaneval"), time.perf_counter() - start)


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


def compare_texts(contributions: Sequence[Contribution], gold: str | None) -> Payload:
    """Mark how texts differ from the gold text or, without one, from the first; and measure them against the gold.

    Columns keep the order of the contributions or, with a gold text, are sorted by F1.

    Args:
        contributions: what the contestants gave.
        gold: the correct text, with or without CleanEval's markup.
    """
    wanted = None if gold is None else to_gold(gold)
    f1s = dict.fromkeys(contributions) if wanted is None else {each: _f1(each, wanted) for each in contributions}
    contributions = sorted(contributions, key=lambda each: -(f1s[each] or 0))  # in their order, if there is no gold
    first = next((each for each in contributions if each.error is None), None)
    reference = wanted.text if wanted is not None else (first.text if first else "")
    columns = [
        _column(each, reference or "", is_reference=gold is None and each is first) | {"f1": f1s[each]}
        for each in contributions
    ]
    return to_json(
        {
            "reference": "gold" if wanted is not None else (first.name if first else None),
            "columns": columns,
            "gold_is_marked": wanted is not None and _is_marked(gold or ""),
            "metrics": [] if wanted is None else _measure(contributions, wanted, with_markup=_is_marked(gold or "")),
        }
    )


def _f1(contribution: Contribution, gold: Gold) -> float | None:
    """The F1 of words, by which columns are sorted; None if there is no text."""
    score = None if contribution.error else METRICS["bag"].measure(Output(contribution.text), gold)
    return None if score is None else round(score["f1"], 4)


def to_gold(text: str) -> Gold:
    """A gold text in the form that metrics take. Without markup, each line counts as a paragraph."""
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
    """How a text differs from another, word by word: the same, added or missing, in reading order."""
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
    """The runs of equal words that are significant."""
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
    """All metrics that the gold text allows, one row per figure, and which contestants are best."""
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


def describe_contestants(models: Path) -> Payload:
    """Everything that can be compared: methods, the workbench's models, and other installed tools."""
    return to_json(
        {
            "default": offered_method(models),
            "methods": [name for name in method_names() if not needs_model(name)],
            "models": model_names(models),
            "peers": [{"name": name, "version": peer_version(name)} for name in installed_peers()],
        }
    )


def check_names(names: Sequence[str], models: Path) -> None:
    """Refuse unknown contestants before any work.

    Raises:
        UnknownName: there is no such method, model or peer.
        InputError: a contestant is named twice, or its parameters are wrong.
    """
    if len(set(names)) < len(names):
        raise InputError("a method is named twice; name different ones")
    for name in names:
        choose_contestant(name, models)
