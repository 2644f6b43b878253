"""/api/corpora: the corpora that the operator named when the server was started, to look at.

Nothing that a client sends is a path: a corpus is chosen by its name in the list, a page by a part's number and a
place in it. Clients do not see the path of a corpus; they see the paths of its inputs, as its plan and its rows have
them.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi import Path as PathParameter
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from mainmatter.corpus.browse import LONGEST_LISTED, ListingQuery, Place, StoredCorpus, UncleanedInput, plain
from mainmatter.corpus.folder import INDEX
from mainmatter.corpus.order import Order, read_order
from mainmatter.corpus.originals import read_original
from mainmatter.corpus.search import MARKER, Searcher, normalise
from mainmatter.corpus.storage import is_folder, is_remote, without_scheme
from mainmatter.corpus.writers import BLOCKS
from mainmatter.errors import CorpusError, InputError, MainmatterError
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.main.choice import PAGE_TYPES
from mainmatter.workbench.answers import error_answers
from mainmatter.workbench.labels.importing import FoundPage, name_of
from mainmatter.workbench.page_source import PageSource, Payload, to_json
from mainmatter.workbench.reading import StrictModel
from mainmatter.workbench.workbench import Workbench, workbench_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from mainmatter.corpus.order import Sorting
    from mainmatter.corpus.search import SearchResult
    from mainmatter.records import Page

router = APIRouter(prefix="/api/corpora", tags=["workbench"])

LONGEST_NAME = 300
PAGES = 50  # in a list
SECONDS = 3.0  # that a search goes on, and that an order is read
MOST_ORDERED = (1_000, 10_000)  # pages of an order: so many, or if somebody goes on beyond that so many
MOST_ORDERS = 30  # that are remembered
MOST_FOUND = 1_000  # pages that have the words of a search
LONGEST_FIND = 200
_KEY = r"^(kept|rejected)-\d{1,9}-\d{1,15}$"
_ERRORS = error_answers(401, 403, 422, 429, 500, 504)
MOST_TEXT = 500_000  # characters of a stored text that are shown
MOST_BLOCKS = 3_000  # stored blocks that are shown
LONGEST_FACT = 5_000  # characters of a block, or of anything else that is known of a page
MOST_INPUTS = 5  # inputs that are named
_KEPT, _REJECTED = "kept", "rejected"


class PageChoice(StrictModel):
    """Which of the kept pages of a corpus."""

    find: str = Field("", max_length=LONGEST_FIND, description="Words that the title, the address or the id contains.")
    language: str = Field("", max_length=10, description='By ISO 639, such as "en"; "und" if it is unknown.')
    page_type: str = Field("", max_length=100, description='The page type, such as "article".')
    least_confidence: float | None = Field(None, ge=0, le=1, description="With at least this confidence.")
    most_confidence: float | None = Field(None, ge=0, le=1, description="With at most this confidence.")
    least_words: int | None = Field(None, ge=0, le=10**9, description="With at least this many words.")
    most_words: int | None = Field(None, ge=0, le=10**9, description="With at most this many words.")

    def to_query(self) -> ListingQuery:
        """The same, for the corpus."""
        return ListingQuery(
            words=tuple(self.find.split()),
            language=self.language,
            page_type=self.page_type,
            confidence=(self.least_confidence, self.most_confidence),
            lengths=(self.least_words, self.most_words),
            most=PAGES,
            seconds=SECONDS,
        )


class PagesAsked(PageChoice):
    """Which pages of a corpus, in which order, and where to begin. For rejected pages, only find and reason apply."""

    rejected: bool = Field(False, description="List rejected pages instead of kept ones.")
    reason: str = Field("", max_length=100, description="Only pages that were rejected for this reason.")
    sort: Literal["", "least-sure", "surest", "shortest", "longest", "language", "page-type"] = Field(
        "", description="The order; by default that of the corpus."
    )
    go_on: bool = Field(False, description="Continue reading an order that was not read to its end.")
    start: str = Field("0-0", pattern=r"^\d{1,9}-\d{1,15}$", description="`next` of an earlier answer.")


class CorpusMemory:
    """What a server caches of its corpora: the parts of their orders read so far, and their open indexes."""

    def __init__(self) -> None:
        self._orders: OrderedDict[object, Order] = OrderedDict()
        self._searchers: dict[str, tuple[int, Searcher]] = {}
        self._lock = Lock()

    def order(self, key: object) -> Order | None:
        """What is known of an order."""
        return self._orders.get(key)

    def keep(self, key: object, order: Order) -> None:
        """Cache what is known of an order; the oldest entry is dropped."""
        self._orders[key] = order
        self._orders.move_to_end(key)
        while len(self._orders) > MOST_ORDERS:
            self._orders.popitem(last=False)

    def search(self, out: str, words: str, limit: int) -> SearchResult:
        """Search the texts of a corpus.

        Raises:
            CorpusError: the corpus has no index.
            InputError: the query cannot be understood, or the index is damaged.
            MissingExtra: tantivy is not installed.
        """
        made = _index_made(out)
        if made is None:
            raise CorpusError("the corpus has no index; make one with: mainmatter index OUT, where OUT is its folder")
        with self._lock:
            when, searcher = self._searchers.get(out, (None, None))
            if searcher is None or when != made:
                searcher = Searcher(Path(without_scheme(out), INDEX))
                self._searchers[out] = made, searcher
            return searcher.search(words, limit)


def _index_made(out: str) -> int | None:
    """When the index of a corpus was made; None if it has none. A link that leads out of the corpus is not followed."""
    if is_remote(out):
        return None
    folder = Path(without_scheme(out))
    marker = folder / INDEX / MARKER
    is_there = marker.is_file() and marker.resolve().is_relative_to(folder.resolve())
    return marker.stat().st_mtime_ns if is_there else None


async def _memory_of(request: Request) -> CorpusMemory:
    """The corpus cache of the server that got a request; for `Depends`."""
    memory: CorpusMemory = request.app.state.corpora
    return memory


Bench = Annotated[Workbench, Depends(workbench_of)]
Memory = Annotated[CorpusMemory, Depends(_memory_of)]
Name = Annotated[str, PathParameter(max_length=LONGEST_NAME, description="A corpus, as /api/corpora names it.")]


def open_corpus(path: str, limits: Limits = DEFAULT_LIMITS) -> StoredCorpus | UncleanedInput:
    """The corpus at a path: the output of `mainmatter corpus` or, failing that, pages to clean.

    Args:
        path: a file or folder.
        limits: how large a page may be.
    """
    if is_folder(path):
        stored = StoredCorpus(path)
        if stored.is_there:
            return stored
    return UncleanedInput(path, limits)


def name_corpora(paths: Iterable[str]) -> dict[str, str]:
    """The path of each corpus by its name: the last part of the path, with a number if two are the same.

    Raises:
        InputError: one of them is not a corpus.
        MissingExtra: reading one needs a package that is not installed.
    """
    named: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        open_corpus(path).check()
        last = PurePath(without_scheme(path)).name
        if last in ("", "..") and not is_remote(path):  # no name, but that of the folder that it leads to
            last = Path(without_scheme(path)).resolve().name
        short = "".join(letter for letter in last if letter.isprintable())[: LONGEST_NAME - 10] or "corpus"
        name, number = short, 1
        while name in named:
            number += 1
            name = f"{short} ({number})"
        named[name] = path
    return named


class CorpusPage(StrictModel):
    """A page of one of the server's corpora."""

    name: str = Field(max_length=LONGEST_NAME, description="A corpus, as /api/corpora names it.")
    page: str = Field(pattern=_KEY, description="The key of a page, as in the list.")


@dataclass(frozen=True, slots=True)
class Key:
    """Which page of a corpus: kept or rejected, and its place; as text "kept-PART-PLACE"."""

    kept: bool
    place: Place

    @classmethod
    def parse(cls, text: str) -> Key:
        """The key once more; the text has been checked."""
        kind, part, at = text.split("-")
        return cls(kind == _KEPT, Place(int(part), int(at)))

    def __str__(self) -> str:
        return f"{_KEPT if self.kept else _REJECTED}-{self.place.part}-{self.place.at}"


@dataclass(frozen=True, slots=True)
class CorpusSource(PageSource):
    """A page of a corpus, as it was before it was cleaned.

    Attributes:
        out: the folder of the corpus.
        key: which page.
    """

    out: str = ""
    key: Key = Key(kept=True, place=Place(0, 0))

    def get(self) -> Page:
        """The page, read again from the input of the corpus.

        Raises:
            CorpusError: it cannot be found, or is not a page; says why.
            MissingExtra: reading its archive needs a package that is not installed.
            PageTooLarge: it is over the limits.
        """
        with _told():
            corpus = open_corpus(self.out, self.limits)
            if isinstance(corpus, UncleanedInput):
                return corpus.page(self.key.place)
            row = corpus.get(self.key.place, kept=self.key.kept)
        source, position, name = row.get("source"), row.get("position"), row.get("id")
        if not isinstance(source, str) or not isinstance(position, int) or not isinstance(name, str | None):
            raise CorpusError("the corpus does not say where the page came from")
        with _told("the original page cannot be shown: "):
            page = read_original(self.out, self.key.place.part, source, position, name, self.limits)
        self.limits.check(page)
        return page


def source_of(asked: CorpusPage, workbench: Workbench) -> CorpusSource:
    """Where a page of a corpus comes from, for the worker that gets it.

    Raises:
        HTTPException: there is no such corpus.
    """
    out = path_of(workbench.corpora, asked.name)
    return CorpusSource(limits=workbench.settings.limits, out=out, key=Key.parse(asked.page))


@router.get("", responses=error_answers(401, 403), summary="The corpora of this server")
async def list_corpora(bench: Bench) -> dict[str, Any]:
    """The names of the corpora that the server was started with: `mainmatter serve --corpus OUT`."""
    return {"corpora": [{"name": name} for name in bench.corpora]}


@router.get("/{name}", responses=_ERRORS, summary="The result of a corpus run")
async def describe(bench: Bench, name: Name) -> Response:
    """The pages read, kept, and rejected by reason; the method; the inputs."""
    return await _ask(bench, describe_corpus, out=path_of(bench.corpora, name))


@router.get("/{name}/pages", responses=_ERRORS, summary="List pages of a corpus")
async def list_pages(bench: Bench, memory: Memory, name: Name, asked: Annotated[PagesAsked, Query()]) -> Response:
    """Up to 50 pages, and where the next ones begin.

    Searching and sorting stop after some seconds: `ran_out` is then true, and `looked_at` says how many pages were
    read. To continue a search, ask for the pages from `next` on; to continue sorting, set `go_on`.
    """
    out, limits = path_of(bench.corpora, name), bench.settings.limits
    part, at = map(int, asked.start.split("-"))
    if asked.rejected:
        wish = ListingQuery(False, asked.reason, tuple(asked.find.split()), most=PAGES, seconds=SECONDS)
    else:
        wish = asked.to_query()
    if asked.rejected or not asked.sort:
        return await _ask(bench, find_pages, out=out, query=replace(wish, start=Place(part, at)), limits=limits)
    key = name, asked.sort, replace(wish, seconds=0)
    payload, order = await bench.run(
        find_in_order, out=out, sorting=asked.sort, wish=wish, start=at, known=memory.order(key), go_on=asked.go_on
    )
    memory.keep(key, order)
    return payload.to_response()


@router.get("/{name}/search", responses=_ERRORS, summary="Search the texts of a corpus")
async def search(
    bench: Bench,
    memory: Memory,
    name: Name,
    find: Annotated[str, Query(max_length=LONGEST_FIND, description="A query, as for `mainmatter search`.")],
    start: Annotated[int, Query(ge=0, lt=MOST_FOUND, description="How many hits to skip.")] = 0,
) -> Response:
    """Up to 50 pages by BM25, each with the best-matching part of its text and the places of the words in it.

    The corpus needs an index: `mainmatter index OUT`.
    """
    out = path_of(bench.corpora, name)
    found = await run_in_threadpool(memory.search, out, find, min(start + PAGES, MOST_FOUND))
    return await _ask(bench, show_hits, out=out, found=replace(found, hits=found.hits[start:]), start=start)


@router.get("/{name}/pages/{key}", responses=_ERRORS, summary="What a corpus stores of a page")
async def show_page(bench: Bench, name: Name, key: Annotated[str, PathParameter(pattern=_KEY)]) -> Response:
    """Its text, if it was kept, and all its metadata. /api/inspect with `corpus` shows the page itself."""
    return await _ask(
        bench, get_stored, out=path_of(bench.corpora, name), key=Key.parse(key), limits=bench.settings.limits
    )


async def _ask(bench: Workbench, task: Callable[..., Payload], **arguments: Any) -> Response:
    return (await bench.run(task, **arguments)).to_response()


def path_of(corpora: Mapping[str, str], name: str) -> str:
    """The path of a corpus, by its name.

    Raises:
        HTTPException: there is no such corpus.
    """
    if name not in corpora:
        raise HTTPException(422, "this server has no such corpus; /api/corpora lists its corpora")
    return corpora[name]


def describe_corpus(out: str) -> Payload:
    """What is known of a corpus as a whole. Done in a worker.

    Raises:
        CorpusError: it no longer exists.
    """
    corpus = open_corpus(out)
    if isinstance(corpus, UncleanedInput):
        try:
            corpus.check()
        except InputError as error:  # which has its path
            raise CorpusError("the corpus no longer exists") from error
        return to_json({"is_built": False, "parts": len(corpus.slices), "summary": None, "method": None, "inputs": []})
    summary, plan = corpus.summary(), corpus.plan()
    content: dict[str, Any] = {
        "is_built": True,
        "parts": max(corpus.parts, default=-1) + 1,
        "is_finished": summary is not None,
        "summary": None if summary is None else summary.to_json() | {"out": ""},
        "page_types": PAGE_TYPES,
        "has_index": _index_made(out) is not None,
        "method": None,
        "inputs": [],
        "more_inputs": 0,
    }
    if plan is not None:
        told = ("method", "parameters", "text_format", "duplicates", "site_templates", "filters")
        job = plan.job.to_json()
        content |= {name: job[name] for name in told} | {"version": plan.version}
        content |= {"inputs": plan.inputs[:MOST_INPUTS], "more_inputs": max(0, len(plan.inputs) - MOST_INPUTS)}
    return to_json(content)


def find_pages(out: str, query: ListingQuery, limits: Limits) -> Payload:
    """List pages of a corpus. Done in a worker.

    Raises:
        CorpusError: the corpus no longer exists.
        MissingExtra: Parquet needs pyarrow.
    """
    with _told():
        listing = open_corpus(out, limits).find(query)
    after = listing.after
    content = {
        "pages": [plain(row, LONGEST_LISTED) | {"key": str(Key(query.kept, place))} for place, row in listing.rows],
        "next": None if after is None else f"{after.part}-{after.at}",
        "looked_at": listing.looked_at,
        "ran_out": listing.ran_out,
    }
    return to_json(content)


def find_in_order(
    out: str, sorting: Sorting, wish: ListingQuery, start: int, known: Order | None, go_on: bool
) -> tuple[Payload, Order]:
    """Some pages of an order, and what is now known of it. Done in a worker.

    Args:
        out: the folder of the corpus.
        sorting: the order.
        wish: which pages.
        start: how many pages of the order to skip.
        known: what is known of it already.
        go_on: continue, if it was not read to its end.

    Raises:
        CorpusError: the corpus no longer exists, or its pages have not been cleaned.
        MissingExtra: Parquet needs pyarrow.
    """
    most = next((each for each in MOST_ORDERED if each >= start + PAGES), MOST_ORDERED[-1])
    with _told():
        corpus = _cleaned(out)
        is_known = known is not None and known.stamp == corpus.stamp and known.most >= most
        order = known if known is not None and is_known else Order.begin(corpus, most)
        if go_on or not is_known:
            order = read_order(corpus, sorting, wish, order)
        places = [place for _, place in order.ranked[start : start + PAGES]]
        rows = corpus.get_listed(places)
    problems = [{"problem": problem} for problem in order.problems] if not start else []
    is_cut = len(order.ranked) == order.most and order.most < MOST_ORDERED[-1]
    content = {
        "pages": problems + [row | {"key": str(Key(True, place))} for place, row in zip(places, rows, strict=True)],
        "next": f"0-{start + PAGES}" if start + PAGES < len(order.ranked) or is_cut else None,
        "looked_at": order.looked_at,
        "ran_out": bool(order.left),
    }
    return to_json(content), order


def _cleaned(out: str) -> StoredCorpus:
    corpus = open_corpus(out)
    if isinstance(corpus, UncleanedInput):
        raise CorpusError(
            "these pages have not been cleaned yet and cannot be sorted; clean them with: mainmatter corpus"
        )
    return corpus


def show_hits(out: str, found: SearchResult, start: int) -> Payload:
    """What a search in the index of a corpus found, with what the corpus stores of these pages. Done in a worker.

    Raises:
        CorpusError: the corpus no longer exists.
        MissingExtra: Parquet needs pyarrow.
    """
    with _told():
        corpus = _cleaned(out)
        places = corpus.places_of([hit.row for hit in found.hits], SECONDS)
        rows = dict(zip(places, corpus.get_listed(list(places.values())), strict=True))
    pages = []
    for hit in found.hits:
        row = rows.get(hit.row, {})
        facts = plain({"id": hit.id, "url": hit.url, "title": hit.title}, LONGEST_LISTED)
        key = None
        # An index that was made before the corpus was has other pages in these places.
        if hit.row in rows and "problem" not in row and facts["id"] in (None, normalise(str(row.get("id")))):
            facts, key = row, str(Key(True, places[hit.row]))
        told = {"snippet": hit.snippet, "marks": hit.marks, "score": round(hit.score, 2), "key": key}
        pages.append(facts | told)
    following = start + PAGES
    content = {
        "pages": pages,
        "total": found.total,
        "next": following if following < min(found.total, MOST_FOUND) else None,
    }
    return to_json(content)


@dataclass(frozen=True, slots=True)
class LeastSure:
    """The kept pages of a corpus that its method was least sure of.

    Attributes:
        out: the folder of the corpus.
        wish: among which pages.
        most: how many.
    """

    out: str
    wish: ListingQuery
    most: int

    def read(self, limits: Limits) -> Iterator[FoundPage]:
        """These pages, as they were before they were cleaned; each has its confidence in its note. Done in a worker.

        Raises:
            CorpusError: the corpus no longer exists, or does not say how sure the method was.
            MissingExtra: reading them needs a package that is not installed.
        """
        with _told():
            corpus = _cleaned(self.out)
            order = Order.begin(corpus, self.most)
            while order.left:
                order = read_order(corpus, "least-sure", self.wish, order)
        ranked = [(rank[1], place) for rank, place in order.ranked if rank[0] == 0]
        if order.ranked and not ranked:
            raise CorpusError("the corpus does not say how sure its method was of these pages; main says so")
        for confidence, place in ranked:
            key = Key(True, place)
            where = f"{PurePath(without_scheme(self.out)).name}#{key}"
            try:
                page = CorpusSource(limits=limits, out=self.out, key=key).get()
            except MainmatterError as error:  # the others can be added
                yield FoundPage(where, where, None, str(error))
            else:
                name = name_of(page.url, page.id, where)
                yield FoundPage(name, where, page, note=f"confidence {confidence:.2f}")


def get_stored(out: str, key: Key, limits: Limits = DEFAULT_LIMITS) -> Payload:
    """What a corpus stores of a page. Done in a worker.

    Raises:
        CorpusError: there is no such page.
        MissingExtra: Parquet needs pyarrow.
    """
    with _told():
        row = open_corpus(out, limits).get(key.place, kept=key.kept)
    text, blocks = row.pop("text", None), row.pop(BLOCKS, None)
    text = text if isinstance(text, str) else None
    blocks = [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else None
    content = {
        "key": str(key),
        "kept": key.kept,
        "facts": {name: value for name, value in plain(row, LONGEST_FACT).items() if value is not None},
        "text": None if text is None else text[:MOST_TEXT],
        "characters": len(text or ""),
        "blocks": None if blocks is None else [plain(block, LONGEST_FACT) for block in blocks[:MOST_BLOCKS]],
        "all_blocks": len(blocks or ()),
    }
    return to_json(content)


@contextmanager
def _told(before: str = "") -> Iterator[None]:
    """Report problems of a corpus as such, not as errors of the client."""
    try:
        yield
    except InputError as error:
        raise CorpusError(f"{before}{error}") from error
