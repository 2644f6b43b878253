"""From the rows of a collection to an index on disk, whole or not at all."""

from __future__ import annotations

import json
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from mainmatter.corpus.search.analysis import check_stem, load_tantivy, make_analyzer, normalise
from mainmatter.corpus.search.rows import Corpus
from mainmatter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tantivy import Document, Schema

    from mainmatter.corpus.search.rows import Row

# Our own file in the folder of an index: says that it is one, and how its texts were cut into words.
MARKER = "mainmatter-index.json"
FORMAT = 1
ANALYZER = "words"
# What the writer may hold before it writes a piece of the index: enough for some hundred thousand pages in one piece.
_WRITER_MEMORY = 256_000_000


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """What an index holds.

    Attributes:
        documents: how many texts can be found.
        empty: how many rows were left out because they have no text.
        size: bytes on disk.
    """

    documents: int
    empty: int
    size: int


def build_index(
    corpus: Corpus | str | Path | Sequence[str | Path],
    index: str | Path,
    *,
    stem: str | None = None,
    unfinished: bool = False,
    advance: Callable[[], object] = lambda: None,
) -> IndexSummary:
    """Make a cleaned collection searchable.

    Args:
        corpus: the folder that `mainmatter corpus` wrote, or parts of it (Parquet, JSONL), or several of these.
        index: the folder for the index. One that is there already is replaced at the end, and only then.
        stem: the language whose endings are cut off ("en", "de", ...), so that "laws" finds "law"; None to search for
            words as they are.
        unfinished: also take what a run of `mainmatter corpus` that is not complete has written so far.
        advance: called after each row.

    Raises:
        InputError: the collection cannot be read or is unfinished, or `index` is something else than an index.
        UnknownName: there is no stemmer for that language.
        MissingExtra: tantivy or pyarrow is not installed.
    """
    if not isinstance(corpus, Corpus):
        corpus = Corpus.find([corpus] if isinstance(corpus, str | Path) else corpus, unfinished=unfinished)
    return index_rows(corpus.rows(), index, stem=stem, advance=advance)


def index_rows(
    rows: Iterable[Row],
    index: str | Path,
    *,
    stem: str | None = None,
    advance: Callable[[], object] = lambda: None,
) -> IndexSummary:
    """Make rows searchable that need not be on disk; as `build_index`, which says what the arguments mean.

    A row is a mapping with `text` and, where there are such, `id`, `url` and `title`.
    """
    check_stem(stem)
    target = Path(index)
    check_target(target)
    with _draft_of(target) as draft:
        documents, empty = _write(rows, draft, stem, advance)
        facts = {"format": FORMAT, "stem": stem, "documents": documents, "empty": empty}
        (draft / MARKER).write_text(json.dumps(facts) + "\n", "utf-8")
        size = sum(file.stat().st_size for file in draft.iterdir())
    return IndexSummary(documents, empty, size)


def check_target(target: Path) -> None:
    """Raise `InputError` if the place for an index is taken by something else."""
    if not target.exists() or (target / MARKER).is_file():
        return
    if not target.is_dir():
        raise InputError(f"{target}: is a file; an index is a folder")
    if any(target.iterdir()):
        raise InputError(f"{target}: holds something other than an index; choose another folder")


@contextmanager
def _draft_of(target: Path) -> Iterator[Path]:
    """A folder to work in, which takes the target's place when all went well, and goes away when not."""
    target = target.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    workshop = Path(mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    draft = workshop / "new"
    draft.mkdir()
    try:
        yield draft
        if target.exists():
            target.rename(workshop / "old")
        draft.rename(target)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _write(rows: Iterable[Row], folder: Path, stem: str | None, advance: Callable[[], object]) -> tuple[int, int]:
    """Write the index; gives the number of texts, and of rows without one."""
    tantivy = load_tantivy()
    index = tantivy.Index(_make_schema(), str(folder))
    index.register_tokenizer(ANALYZER, make_analyzer(stem))
    # One thread: several would share the rows out as it happens.
    writer = index.writer(heap_size=_WRITER_MEMORY, num_threads=1)
    documents = empty = 0
    try:
        for row in rows:
            if (row.get("text") or "").strip():
                writer.add_document(_to_document(row, documents))
                documents += 1
            else:
                empty += 1
            advance()
        writer.commit()
        writer.wait_merging_threads()
    except ValueError as error:  # so the library tells all of its troubles, a full disk for one
        raise InputError(f"{folder.parent.parent}: the index cannot be written: {error}") from error
    except BaseException:
        writer.wait_merging_threads()  # they write files, in the way of whoever removes the folder
        raise
    return documents, empty


def _make_schema() -> Schema:
    builder = load_tantivy().SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("url", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", stored=True, tokenizer_name=ANALYZER)
    builder.add_text_field("text", stored=True, tokenizer_name=ANALYZER)
    builder.add_unsigned_field("number", fast=True)
    schema: Schema = builder.build()
    return schema


def _to_document(row: Row, number: int) -> Document:
    """A row for the index; its number is its place in the collection, by which equal scores are ordered."""
    document: Any = load_tantivy().Document()
    for name in ("id", "url", "title", "text"):
        if row.get(name):
            document.add_text(name, normalise(row[name]))
    document.add_unsigned("number", number)
    found: Document = document
    return found
