"""Matching an expression again and again until nothing is left to match, with a time-out where there may be no end."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mainmatter.errors import MissingExtra

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Sequence

Span = tuple[int, int]


def captured_in_lines(pattern: re.Pattern[str], text: str, lines: Sequence[int]) -> list[Span]:
    """What an expression that matches at the beginning of a line captures in a text: spans, in order, not overlapping.

    There is one attempt a line; a match of nothing is one, too, so that an expression can pass over a line by looking
    at it only. Otherwise this is what `pattern.finditer` finds, which tries every character for a beginning.

    Args:
        pattern: the expression.
        text: the text.
        lines: where its lines start.
    """
    spans: list[Span] = []
    match = pattern.match
    end = 0
    for start in lines:
        if start < end:  # a match that went over the end of a line
            continue
        found = match(text, start)
        if found is not None:
            end = found.end()
            _add_groups(spans, found.regs[1:])
    return spans


def captured_in_time(pattern: Any, text: str, seconds: float) -> list[Span] | None:  # noqa: ANN401
    """What any expression captures in a text; None if that takes longer, in which case it is interrupted.

    Python's own `re` can be interrupted by signals only, and those reach the main thread only; so this takes a
    pattern of the package `regex` (see `compile_for_time_out`), which looks at the clock itself.
    """
    spans: list[Span] = []
    try:
        for found in pattern.finditer(text, timeout=seconds):
            _add_groups(spans, found.regs[1:])
    except TimeoutError:
        return None
    return spans


def compile_for_time_out(expression: str) -> Any:  # noqa: ANN401 - the package has no types
    """Compile an expression with a matcher that can be interrupted.

    Raises:
        MissingExtra: the package `regex` is not installed.
    """
    try:
        regex = import_module("regex")
    except ImportError as error:
        raise MissingExtra("regex", "train") from error
    return regex.compile(expression, regex.MULTILINE)


def _add_groups(spans: list[Span], groups: Iterable[Span]) -> None:
    """Add what the groups of one match captured; groups in groups and beside each other become one span."""
    for start, end in sorted(groups):
        if start < 0 or start == end:  # not taken part, or nothing
            continue
        if spans and start <= spans[-1][1]:
            if end > spans[-1][1]:
                spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
