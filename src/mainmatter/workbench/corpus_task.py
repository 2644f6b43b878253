"""What a worker does for /api/corpora: tell of a corpus, list its pages, show what it holds of one."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mainmatter.corpus.browse import LONGEST_LISTED, Place, UncleanedInput, plain
from mainmatter.corpus.originals import read_original
from mainmatter.corpus.writers import BLOCKS
from mainmatter.errors import CorpusError, InputError
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.workbench.clean_task import Answer, Source, to_json
from mainmatter.workbench.corpus_names import open_corpus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mainmatter.corpus.browse import ListingQuery
    from mainmatter.records import Page

MOST_TEXT = 500_000  # characters of a stored text that are shown
MOST_BLOCKS = 3_000  # stored blocks that are shown
LONGEST_FACT = 5_000  # characters of a block, or of anything else that is known of a page
MOST_INPUTS = 5  # inputs that are named
_KEPT, _REJECTED = "kept", "rejected"


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
class CorpusSource(Source):
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


def describe(out: str) -> Answer:
    """What is known of a corpus as a whole.

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
        told = ("method", "parameters", "duplicates", "site_templates", "filters")
        job = plan.job.to_json()
        content |= {name: job[name] for name in told} | {"version": plan.version}
        content |= {"inputs": plan.inputs[:MOST_INPUTS], "more_inputs": max(0, len(plan.inputs) - MOST_INPUTS)}
    return to_json(content)


def list_pages(out: str, wish: ListingQuery, limits: Limits) -> Answer:
    """Some pages of a corpus.

    Raises:
        CorpusError: the corpus is not there any more.
        MissingExtra: Parquet needs pyarrow.
    """
    with _told():
        listing = open_corpus(out, limits).find(wish)
    after = listing.after
    content = {
        "pages": [plain(row, LONGEST_LISTED) | {"key": str(Key(wish.kept, place))} for place, row in listing.rows],
        "next": None if after is None else f"{after.part}-{after.at}",
        "looked_at": listing.looked_at,
        "ran_out": listing.ran_out,
    }
    return to_json(content)


def show_page(out: str, key: Key, limits: Limits = DEFAULT_LIMITS) -> Answer:
    """What a corpus holds of a page.

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
