"""Active learning: labels teach most on the pages that methods disagree on most.

How far two methods disagree on a page is the share of words in blocks that one keeps and the other drops, among the
words in blocks that at least one of them keeps. A page's disagreement is the mean over all pairs of methods. Among
pages with about the same, the one that `main` is least sure of comes first.
"""

from __future__ import annotations

import heapq
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.api import read
from mainmatter.errors import InputError, MainmatterError
from mainmatter.isolation.child import Child, ChildExited
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.registry import get_method
from mainmatter.text.tokens import count_words
from mainmatter.workbench.labels.importing import FoundPage
from mainmatter.workbench.labels.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from mainmatter.method import Method
    from mainmatter.records import Extraction
    from mainmatter.workbench.labels.records import PageId

DEFAULT_METHODS = ("main", "density", "ncleaner", "ice-heuristic", "fiasco")
DEFAULT_COUNT = 20
_LONGEST = 86_400  # seconds for a page
_STEPS = 100  # disagreements that round to the same hundredth are told apart by confidence


@dataclass(frozen=True, slots=True)
class Contested:
    """A block that methods disagree on."""

    index: int
    text: str
    kept_by: tuple[str, ...]
    dropped_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """How far methods disagree on a page.

    Attributes:
        found: the page.
        share: from 0 (they agree) to 1 (no two keep a word in common).
        confidence: the confidence of the first method that has one; None if none does.
        blocks: the blocks that they disagree on, those with the most words first.
        failed: methods that could not decide, with the reason.
        page_id: its number, if it is a page of a store.
    """

    found: FoundPage
    share: float
    confidence: float | None
    blocks: tuple[Contested, ...] = field(repr=False)
    failed: tuple[tuple[str, str], ...] = ()
    page_id: PageId | None = None

    @property
    def rank(self) -> tuple[float, float, float]:
        """The larger, the more its labels teach."""
        return round(self.share * _STEPS), 1 - (1 if self.confidence is None else self.confidence), self.share

    @property
    def note(self) -> str:
        """Why it is useful to label, in a sentence."""
        count = len(self.blocks)
        return f"methods disagree on {count:,} block{'s' * (count != 1)}, {self.share:.0%} of the words they keep"


def disagreements(
    pages: Store | Iterable[FoundPage],
    methods: Sequence[str | Method] = DEFAULT_METHODS,
    count: int = DEFAULT_COUNT,
    *,
    limits: Limits = DEFAULT_LIMITS,
    seconds: float | None = None,
    on_page: Callable[[FoundPage], object] = lambda found: None,  # noqa: ARG005
) -> list[Disagreement]:
    """The pages that methods disagree on most, most first.

    A page that cannot be read or decided does not stop the search: `on_page` is called with it, as with all others.

    Args:
        pages: a store, whose unlabelled pages are compared, or pages as `read_inputs` gives them. They are
            read one at a time, and only the most contested are kept in memory.
        methods: at least two, by name or as objects.
        count: how many pages to return.
        limits: how large a page may be.
        seconds: give up on a page that takes longer, in wall-clock time. Pages are then compared in another process,
            which a page may even crash, and all methods must be names.
        on_page: called after each page, with its result; a failed one has a `problem`.

    Raises:
        UnknownName: there is no such method.
        InputError: there are fewer than two methods, or `count` or `seconds` is out of range.
    """
    names = [method for method in methods if isinstance(method, str)]
    if len({method if isinstance(method, str) else method.name for method in methods}) < 2:
        raise InputError("comparing needs at least two methods; name another")
    if count < 1:
        raise InputError(f"the number of pages must be at least 1, not {count}")
    if seconds is None:
        return _most_contested(pages, Comparer(methods, limits).compare, count, on_page)
    if not 0 < seconds <= _LONGEST:
        raise InputError(f"the time limit must be above 0 and at most {_LONGEST:,} seconds, not {seconds:g}")
    if len(names) < len(methods):
        raise InputError("with a time limit, methods must be given by name")
    with closing(IsolatedComparer(names, limits, seconds)) as comparer:
        return _most_contested(pages, comparer.compare, count, on_page)


def _most_contested(
    pages: Store | Iterable[FoundPage],
    compare: Callable[[FoundPage], Disagreement],
    count: int,
    on_page: Callable[[FoundPage], object],
) -> list[Disagreement]:
    best: list[tuple[tuple[float, float, float], int, Disagreement]] = []
    numbered = _of_store(pages) if isinstance(pages, Store) else ((None, found) for found in pages)
    for number, (page_id, found) in enumerate(numbered):
        one = replace(compare(found), page_id=page_id)
        on_page(one.found)
        if one.found.problem or not one.blocks:
            continue
        heapq.heappush(best, (one.rank, -number, one))
        if len(best) > count:
            heapq.heappop(best)
    return [one for _, _, one in sorted(best, reverse=True, key=lambda each: each[:2])]


def _of_store(store: Store) -> Iterator[tuple[PageId, FoundPage]]:
    for summary in store.pages():
        if not summary.labelled:
            yield summary.id, FoundPage(summary.name, summary.source, store.page(summary.id))


class Comparer:
    """Compares the decisions of methods on pages.

    Args:
        methods: by name or as objects.
        limits: how large a page may be.

    Raises:
        UnknownName: there is no such method.
    """

    def __init__(self, methods: Sequence[str | Method], limits: Limits) -> None:
        self._methods = dict(map(_named, methods))
        self._limits = limits

    def compare(self, found: FoundPage) -> Disagreement:
        """Let all methods decide about a page; one that cannot be compared has a `problem`."""
        if found.page is None:
            return Disagreement(found, 0, None, ())
        extractions: dict[str, Extraction] = {}
        failed = []
        try:
            document = read(found.page, self._limits)
        except Exception as error:  # it is too large, or we have a bug; other pages can still be compared
            return unread(found, f"{type(error).__name__}: {error}")
        for name, method in self._methods.items():
            try:
                extractions[name] = method.extract(document)
            except Exception as error:  # of a third party's method; the others can still be compared
                failed.append((name, f"{type(error).__name__}: {error}"))
        kept = {name: extraction.kept for name, extraction in extractions.items()}
        weights = np.array([max(1, count_words(" ".join(text.split()))[0]) for text in document.texts], np.float64)
        sure = [each.confidence for each in extractions.values() if each.confidence is not None]
        blocks = _contested(document.texts, kept, weights)
        return Disagreement(found, share_of_words(kept, weights), sure[0] if sure else None, blocks, tuple(failed))


class IsolatedComparer:
    """Like `Comparer`, but in a child process, so that a page that hangs or crashes costs only itself.

    Args:
        methods: their names.
        limits: how large a page may be.
        seconds: how long a page may take, by the clock.

    Raises:
        UnknownName: there is no such method.
    """

    def __init__(self, methods: Sequence[str], limits: Limits, seconds: float) -> None:
        self._methods, self._limits, self._seconds = tuple(methods), limits, seconds
        self._child: Child | None = self._start()

    def compare(self, found: FoundPage) -> Disagreement:
        """Let all methods decide about a page; one that cannot be compared has a `problem`."""
        self._child = self._child or self._start()
        try:
            one: Disagreement = self._child.call(found, seconds=self._seconds)
        except ChildExited as error:
            self._child = None
            is_slow = error.reason == "time"
            return unread(
                found, f"gave no result in {self._seconds:g} s" if is_slow else "ended the process that worked on it"
            )
        return replace(one, found=replace(found, problem=one.found.problem))

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            self._child.end()
            self._child = None

    def _start(self) -> Child:
        child = Child(_comparing_service, self._methods, self._limits)
        try:
            child.wait_ready()
        except ChildExited as error:
            raise MainmatterError("the process that compares methods cannot be started") from error
        return child


def _comparing_service(methods: Sequence[str], limits: Limits) -> Callable[[FoundPage], Disagreement]:
    comparer = Comparer(methods, limits)

    def compare(found: FoundPage) -> Disagreement:
        one = comparer.compare(found)
        return replace(one, found=replace(one.found, page=None))  # they have it

    return compare


def _named(method: str | Method) -> tuple[str, Method]:
    return (method, get_method(method)) if isinstance(method, str) else (method.name, method)


def unread(found: FoundPage, problem: str) -> Disagreement:
    """What is known of a page that could not be compared."""
    return Disagreement(replace(found, page=None, problem=problem), 0, None, ())


def share_of_words(kept: dict[str, NDArray[np.bool_]], weights: NDArray[np.float64]) -> float:
    """The mean over all pairs of methods of the share of words that only one of the two keeps."""
    shares = []
    for first, second in combinations(kept.values(), 2):
        either = weights[first | second].sum()
        shares.append(weights[first ^ second].sum() / either if either else 0.0)
    return float(np.mean(shares)) if shares else 0.0


def _contested(
    texts: Sequence[str], kept: dict[str, NDArray[np.bool_]], weights: NDArray[np.float64]
) -> tuple[Contested, ...]:
    if len(kept) < 2:
        return ()
    votes = np.array(list(kept.values()))
    differ = np.flatnonzero(votes.any(axis=0) & ~votes.all(axis=0))
    blocks = []
    for i in sorted(differ.tolist(), key=lambda i: (-weights[i], i)):
        for_it = tuple(name for name in kept if kept[name][i])
        blocks.append(Contested(i, texts[i], for_it, tuple(name for name in kept if not kept[name][i])))
    return tuple(blocks)
