"""Where a method's time goes: the steps of clean.py, timed one by one on the same pages.

Each page counts with the fastest of its times, step by step. A step that cannot be run alone is what is left of the
time of the step that contains it.
"""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mainmatter.clean import clean, read
from mainmatter.html.decode import decode
from mainmatter.html.parse import parse
from mainmatter.html.read import parse_and_segment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mainmatter.method import Method
    from mainmatter.records import Document, Page

WITH_MODEL = ("decode", "parse", "segment", "features", "model", "decide", "render")
WITHOUT_MODEL = ("decode", "parse", "segment", "decide", "render")


@dataclass(frozen=True, slots=True)
class Profile:
    """Milliseconds a page of each step, and of all of them when nobody looks at the steps."""

    method: str
    steps: dict[str, float]
    whole: float


def profile(
    name: str,
    method: Method,
    pages: Sequence[Page],
    *,
    rounds: int = 7,
    clock: Callable[[], float] = time.perf_counter,
    on_round: Callable[[], object] = lambda: None,
) -> Profile:
    """Time the steps of a method on HTML pages.

    Args:
        name: what to call the method.
        method: the method; if it has `describe` and `judge`, its features and its model are told apart.
        pages: what to clean.
        rounds: how often.
        clock: tells the time in seconds.
        on_round: called after each round, for showing progress.
    """
    steps = WITH_MODEL if _has_model(method) else WITHOUT_MODEL
    best = [dict.fromkeys((*steps, "whole"), float("inf")) for _ in pages]
    for _ in range(rounds):
        for page, times in zip(pages, best, strict=True):
            for step, seconds in _time_steps(method, page, clock).items():
                times[step] = min(times[step], seconds)
        on_round()
    means = {step: sum(times[step] for times in best) / len(pages) * 1e3 for step in (*steps, "whole")}
    return Profile(name, {step: means[step] for step in steps}, means["whole"])


def _has_model(method: Method) -> bool:
    return callable(getattr(method, "describe", None)) and callable(getattr(method, "judge", None))


def _time_steps(method: Method, page: Page, clock: Callable[[], float]) -> dict[str, float]:
    """The seconds of each step, once."""

    def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:  # noqa: ANN401
        gc.collect(0)
        start = clock()
        result = function(*arguments)
        return result, clock() - start

    html, times = page.html, {"decode": 0.0}
    if isinstance(html, bytes):
        (html, _), times["decode"] = timed(decode, html, page.charset)
    _, times["parse"] = timed(parse, html)
    _, reading = timed(parse_and_segment, html)
    times["segment"] = max(0.0, reading - times["parse"])
    inner = _time_model(method, read(page), timed) if _has_model(method) else {}
    # A document keeps what was asked of it, so each measurement has its own.
    extraction, deciding = timed(method.extract, read(page))
    _, times["render"] = timed(lambda: extraction.text)
    times |= inner | {"decide": max(0.0, deciding - sum(inner.values()))}
    _, times["whole"] = timed(lambda: clean(page, method=method).text)
    return times


def _time_model(method: Any, document: Document, timed: Callable[..., tuple[Any, float]]) -> dict[str, float]:  # noqa: ANN401
    features, describing = timed(method.describe, document)
    _, judging = timed(method.judge, features)
    return {"features": describing, "model": judging}
