"""/api/corpora: the corpora that the operator named when the server was started, to look at.

Nothing that a client sends is a path: a corpus is chosen by its name in the list, a page by a part's number and a
place in it. Clients do not see where a corpus lies; they see the paths of its inputs, as its plan and its rows have
them.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from fastapi import Path as PathParameter
from pydantic import Field
from starlette.exceptions import HTTPException

from mainmatter.corpus.browse import LONGEST_LISTED, ListingQuery, Place, StoredCorpus, UncleanedInput, plain
from mainmatter.corpus.originals import read_original
from mainmatter.corpus.storage import is_folder, is_remote, without_scheme
from mainmatter.corpus.writers import BLOCKS
from mainmatter.errors import CorpusError, InputError
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.workbench.answers import error_answers
from mainmatter.workbench.page_source import PageSource, Payload, to_json
from mainmatter.workbench.reading import StrictModel
from mainmatter.workbench.workbench import Workbench, workbench_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from mainmatter.records import Page

router = APIRouter(prefix="/api/corpora", tags=["workbench"])

LONGEST_NAME = 300
PAGES = 50  # in a list
SECONDS = 3.0  # that a search goes on
LONGEST_FIND = 200
_KEY = r"^(kept|rejected)-\d{1,9}-\d{1,15}$"
_ERRORS = error_answers(401, 403, 422, 429, 500, 504)
MOST_TEXT = 500_000  # characters of a stored text that are shown
MOST_BLOCKS = 3_000  # stored blocks that are shown
LONGEST_FACT = 5_000  # characters of a block, or of anything else that is known of a page
MOST_INPUTS = 5  # inputs that are named
_KEPT, _REJECTED = "kept", "rejected"

Bench = Annotated[Workbench, Depends(workbench_of)]
Name = Annotated[str, PathParameter(max_length=LONGEST_NAME, description="A corpus, as /api/corpora names it.")]


def open_corpus(path: str, limits: Limits = DEFAULT_LIMITS) -> StoredCorpus | UncleanedInput:
    """What lies at a path: the output of `mainmatter corpus` or, where that is not there, pages to clean.

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
    """The path of each corpus by its name: the last part of the path, with a number where two have the same.

    Raises:
        InputError: one of them is none.
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
    page: str = Field(pattern=_KEY, description="The key of a page, as its list gives it.")


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
            CorpusError: it cannot be found, or is none; tells why.
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
        with _told("the original page cannot be looked at: "):
            page = read_original(self.out, self.key.place.part, source, position, name, self.limits)
        self.limits.check(page)
        return page


def source_of(asked: CorpusPage, workbench: Workbench) -> CorpusSource:
    """Where a page of a corpus comes from, for the worker that gets it.

    Raises:
        HTTPException: there is no such corpus.
    """
    out = _path(workbench.corpora, asked.name)
    return CorpusSource(limits=workbench.settings.limits, out=out, key=Key.parse(asked.page))


@router.get("", responses=error_answers(401, 403), summary="The corpora that can be looked at")
async def list_corpora(bench: Bench) -> dict[str, Any]:
    """The names of those that the server was started with: `mainmatter serve --corpus OUT`."""
    return {"corpora": [{"name": name} for name in bench.corpora]}


@router.get("/{name}", responses=_ERRORS, summary="What came of a corpus run")
async def describe(bench: Bench, name: Name) -> Response:
    """Pages in, kept, rejected by reason; the method; the inputs."""
    return await _ask(bench, describe_corpus, out=_path(bench.corpora, name))


@router.get("/{name}/pages", responses=_ERRORS, summary="Some pages of a corpus")
async def list_pages(
    bench: Bench,
    name: Name,
    rejected: Annotated[bool, Query(description="Those that were rejected, and not those that were kept.")] = False,
    reason: Annotated[str, Query(max_length=100, description="Of the rejected, only those for this reason.")] = "",
    find: Annotated[
        str, Query(max_length=LONGEST_FIND, description="Words that the title, the address or the id holds.")
    ] = "",
    start: Annotated[str, Query(pattern=r"^\d{1,9}-\d{1,15}$", description="`next` of an earlier answer.")] = "0-0",
) -> Response:
    """At most 50 pages, and where the next ones begin.

    A search stops after some seconds; `ran_out` then says so, `looked_at` how far it came, and `next` goes on.
    """
    part, at = map(int, start.split("-"))
    words = tuple(find.split())
    query = ListingQuery(not rejected, reason if rejected else "", words, Place(part, at), PAGES, SECONDS)
    return await _ask(bench, find_pages, out=_path(bench.corpora, name), query=query, limits=bench.settings.limits)


@router.get("/{name}/pages/{key}", responses=_ERRORS, summary="What a corpus holds of a page")
async def show_page(bench: Bench, name: Name, key: Annotated[str, PathParameter(pattern=_KEY)]) -> Response:
    """Its text, if it was kept, and all else that is known of it. /api/inspect with `corpus` shows the page itself."""
    return await _ask(
        bench, get_stored, out=_path(bench.corpora, name), key=Key.parse(key), limits=bench.settings.limits
    )


async def _ask(bench: Workbench, task: Callable[..., Payload], **arguments: Any) -> Response:  # noqa: ANN401
    return (await bench.run(task, **arguments)).to_response()


def _path(corpora: Mapping[str, str], name: str) -> str:
    if name not in corpora:
        raise HTTPException(422, "this server has no such corpus; /api/corpora lists those that it has")
    return corpora[name]


def describe_corpus(out: str) -> Payload:
    """What is known of a corpus as a whole. Done in a worker.

    Raises:
        CorpusError: it is not there any more.
    """
    corpus = open_corpus(out)
    if isinstance(corpus, UncleanedInput):
        try:
            corpus.check()
        except InputError as error:  # which has its path
            raise CorpusError("the corpus is not there any more") from error
        return to_json({"is_built": False, "parts": len(corpus.slices), "summary": None, "method": None, "inputs": []})
    summary, plan = corpus.summary(), corpus.plan()
    content: dict[str, Any] = {
        "is_built": True,
        "parts": max(corpus.parts, default=-1) + 1,
        "is_finished": summary is not None,
        "summary": None if summary is None else summary.to_json() | {"out": ""},
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
    """Some pages of a corpus. Done in a worker.

    Raises:
        CorpusError: the corpus is not there any more.
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


def get_stored(out: str, key: Key, limits: Limits = DEFAULT_LIMITS) -> Payload:
    """What a corpus holds of a page. Done in a worker.

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
    """What is wrong with a corpus is told as that, and not as something that the client got wrong."""
    try:
        yield
    except InputError as error:
        raise CorpusError(f"{before}{error}") from error
