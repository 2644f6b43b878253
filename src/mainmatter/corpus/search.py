"""Search in a cleaned collection: an index of its texts, ranked by BM25. The extra `search`: tantivy and pyarrow.

rows of a corpus --build_index, index_rows--> an index on disk, whole or not at all --Searcher--> hits
"""

from __future__ import annotations

import json
import re
import shutil
import unicodedata
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from mainmatter.corpus.folder import INDEX, PLAN, SUMMARY, Folder
from mainmatter.errors import InputError, MissingExtra, UnknownName
from mainmatter.files import put_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Row = Mapping[str, Any]
    from collections.abc import Callable, Iterable
    from types import ModuleType

    from tantivy import DocAddress, Document, Query, Schema, SnippetGenerator, TextAnalyzer
    from tantivy import Document as Stored


_COLUMNS = ("id", "url", "title", "text")
_ENDINGS = (".parquet", ".jsonl")


@dataclass(frozen=True, slots=True)
class Corpus:
    """A cleaned collection on disk.

    Attributes:
        files: its parts, in order.
    """

    files: tuple[Path, ...]

    @classmethod
    def find(cls, names: Sequence[str | Path], *, unfinished: bool = False) -> Corpus:
        """The collection that the names stand for: files, or folders that `mainmatter corpus` wrote.

        Args:
            names: the files and folders.
            unfinished: also take what a run that was interrupted, or is under way, has written so far.

        Raises:
            InputError: there is no such file or folder, it holds no part of a collection, or the collection is
                unfinished.
        """
        if not unfinished:
            for name in names:
                _check_finished(Path(name))
        return cls(tuple(file for name in names for file in _find_files(Path(name))))

    def count(self) -> int:
        """How many rows it has, told without reading the texts.

        Raises:
            InputError: a file cannot be read.
            MissingExtra: Parquet files need pyarrow.
        """
        return sum(map(_count_rows, self.files))

    def rows(self) -> Iterator[Row]:
        """Its rows, in order, with id, url, title and text.

        Raises:
            InputError: a file cannot be read, or holds no texts.
            MissingExtra: Parquet files need pyarrow.
        """
        for file in self.files:
            yield from _read_parquet(file) if file.suffix == ".parquet" else _read_jsonl(file)


def _find_files(path: Path) -> list[Path]:
    if path.is_file():
        if path.suffix not in _ENDINGS:
            raise InputError(f"{path}: not a part of a corpus; parts end in {' or '.join(_ENDINGS)}")
        return [path]
    if not path.is_dir():
        raise InputError(f"{path}: no such file or folder")
    # Not below it: the rejects have parts, too.
    files = sorted(file for file in path.glob("part-*") if file.suffix in _ENDINGS and file.is_file())
    if not files:
        raise InputError(
            f"{path}: no part-NNNNN.parquet or part-NNNNN.jsonl there; make a corpus with: mainmatter corpus"
        )
    return files


def _check_finished(path: Path) -> None:
    """Raise `InputError` if a folder, or the folder of a part, holds a run that is not complete."""
    folder = Folder(str(path if path.is_dir() else path.parent))
    if not folder.exists(PLAN) or folder.exists(SUMMARY):
        return
    raise InputError(
        f"{folder.out}: the corpus is not finished{_how_far(folder)}; resume it with the same mainmatter corpus "
        "command, or index the finished parts with --unfinished"
    )


def _how_far(folder: Folder) -> str:
    """How many parts of an unfinished run are there, if its plan can be read."""
    try:
        parts = json.loads(folder.read(PLAN))["shards"]
    except (InputError, OSError, ValueError, KeyError, TypeError):
        return ""
    there = sum(file.suffix in _ENDINGS for file in Path(folder.out).glob("part-*"))
    return f": {there:,} of {parts} parts are written"


def _count_rows(file: Path) -> int:
    if file.suffix == ".parquet":
        with _open_parquet(file) as parquet:
            rows: int = parquet.metadata.num_rows
        return rows
    try:
        with file.open("rb") as lines:
            return sum(1 for line in lines if line.strip())
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from error


@contextmanager
def _open_parquet(file: Path) -> Iterator[Any]:
    try:
        from pyarrow import ArrowException  # an extra
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtra("pyarrow", "search") from error
    try:
        with ParquetFile(file) as parquet:
            yield parquet
    except (ArrowException, OSError, UnicodeError) as error:  # the last from names and texts that are no UTF-8
        raise InputError(f"{file}: cannot be read as a Parquet file: {' '.join(str(error).split())}") from error


def _read_parquet(file: Path) -> Iterator[Row]:
    with _open_parquet(file) as parquet:
        columns = [name for name in _COLUMNS if name in parquet.schema_arrow.names]
        if "text" not in columns:
            raise InputError(f"{file}: not a part of a corpus; it has no column text")
        for batch in parquet.iter_batches(batch_size=256, columns=columns):
            yield from (_checked(row, file) for row in batch.to_pylist())


def _read_jsonl(file: Path) -> Iterator[Row]:
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _from_json(line, f"{file}, line {number}")
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from error


def _from_json(line: bytes, place: str) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: not JSON: {error}") from error
    if not isinstance(row, dict) or "text" not in row:
        raise InputError(f"{place}: not a row of a corpus, which is an object with a text")
    return _checked(row, place)


def _checked(row: Row, place: object) -> Row:
    for name in _COLUMNS:
        if not isinstance(row.get(name), str | None):
            raise InputError(f"{place}: {name} is {row[name]!r:.80}, not text")
    return row


# Languages whose endings tantivy can cut off, so that "laws" finds "law".
STEMMERS: dict[str, str] = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
# U+30FC lengthens a vowel in Katakana words, but Unicode counts it to no script.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\x{30FC}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = rf"[{_UNSPACED}]|[\w--[{_UNSPACED}]]+"
# Longer ones are no words but keys, addresses, data; tantivy's own default.
_LONGEST_WORD = 40


def load_tantivy() -> ModuleType:
    """The search library.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import tantivy  # an extra
    except ImportError as error:
        raise MissingExtra("tantivy", "search") from error
    return tantivy


def make_analyzer(stem: str | None) -> TextAnalyzer:
    """What cuts a text into words; `stem` is the language whose endings are cut off, None for none.

    Raises:
        UnknownName: there is no stemmer for that language.
    """
    tantivy = load_tantivy()
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(_WORD))
    builder = builder.filter(tantivy.Filter.remove_long(_LONGEST_WORD)).filter(tantivy.Filter.lowercase())
    if stem is not None:
        check_stem(stem)
        builder = builder.filter(tantivy.Filter.stemmer(STEMMERS[stem]))
    analyzer: TextAnalyzer = builder.build()
    return analyzer


def check_stem(stem: str | None) -> None:
    """Raise `UnknownName` if there is no stemmer for that language."""
    if stem is not None and stem not in STEMMERS:
        raise UnknownName("language for stemming", stem, STEMMERS)


def normalise(text: str) -> str:
    """One form for each letter with its accents, and nothing that cannot be written."""
    return unicodedata.normalize("NFC", text).encode("utf-8", "replace").decode("utf-8")


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
        raise InputError(f"{target}: is a file, but an index is a folder")
    if any(target.iterdir()):
        raise InputError(f"{target}: has files that are not from an index; choose another folder")


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
        put_folder(draft, target)
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
                writer.add_document(_to_document(row, documents + empty))
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


FIELDS = ("text", "title")
_SNIPPET_LENGTH = 200
# Documents whose scores differ by less are equals: the sum of the same numbers in another order.
_SAME_SCORE = 1e-5
# So many equals are put in order at most; "*" makes equals of a whole collection.
_MOST_EQUALS = 10_000
# The library calls itself for each bracket and each NOT of a query, and some thousands of them end the process.
_LONGEST_QUERY = 10_000
_NESTING = re.compile(r"\(|\bNOT\b")
_MOST_NESTED = 100
_CLOSING = re.compile(r"[^\w\s]{1,3}(?=\s|$)")
# The library takes the second half of "a AND NOT b" for a query of its own, which finds nothing.
_AND_NOT = re.compile(r"\bAND\s+NOT\s+")


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found.

    Attributes:
        rank: its place, from 1.
        score: how well it matches, by BM25; comparable within one query only.
        id: the id of the page.
        url: where the page came from; None if that is not known.
        title: the page's title; None if it has none.
        row: which row of the collection it is, from 0.
        snippet: the part of the text that matches best, in one line.
        marks: where in the snippet words of the query stand: pairs of the first character and the one behind the last.
    """

    rank: int
    score: float
    id: str | None
    url: str | None
    title: str | None
    row: int
    snippet: str
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search brought.

    Attributes:
        total: how many documents match the query, in all.
        hits: the best of them, best first.
    """

    total: int
    hits: tuple[Hit, ...]


def find_index(folder: str | Path) -> Path:
    """Where an index is: in the folder itself or, if that is a corpus, in the folder `__index` of it."""
    inside = Path(folder, INDEX)
    return inside if (inside / MARKER).is_file() else Path(folder)


class Searcher:
    """An index, open for searching.

    Args:
        index: its folder, or that of a corpus which holds its own.

    Raises:
        InputError: the folder is no index, or one of another version.
        MissingExtra: tantivy is not installed.
    """

    def __init__(self, index: str | Path) -> None:
        index = find_index(index)
        stem = _read_marker(index)
        self._tantivy = load_tantivy()
        try:
            self._index = self._tantivy.Index.open(str(index))
            self._searcher = self._index.searcher()
        except (OSError, ValueError) as error:
            raise InputError(f"{index}: the index is damaged: {error}; make it again: mainmatter index") from error
        self._analyzer = make_analyzer(stem)
        self._index.register_tokenizer(ANALYZER, self._analyzer)

    def __len__(self) -> int:
        """How many documents the index holds."""
        length: int = self._searcher.num_docs
        return length

    def search(self, query: str, limit: int = 10) -> SearchResult:
        """Find documents.

        Args:
            query: words, any of which may match; "several words" for a phrase; +word for one that must be there, -word
                for one that must not; AND, OR, NOT and brackets; title:word looks in titles only.
            limit: how many hits at most; from 1.

        Raises:
            InputError: the query cannot be understood, is too long, or has no word; or the limit is less than 1.
        """
        parsed = self._parse(query)
        total, best = self._rank(parsed, limit)
        # Snippets are of texts only: where a title alone matches, the text's beginning must do.
        generator = self._tantivy.SnippetGenerator.create(self._searcher, parsed, self._index.schema, "text")
        generator.set_max_num_chars(_SNIPPET_LENGTH)
        rows = self._searcher.fast_field_values("number", [address for _, address in best])
        ranked = enumerate(zip(best, rows, strict=True), start=1)
        hits = (self._to_hit(rank, *one, row, generator) for rank, (one, row) in ranked)
        return SearchResult(total, tuple(hits))

    def rank(self, query: str, limit: int = 10) -> list[str]:
        """The ids of the documents that `search` finds, without the rest: faster, for measuring."""
        _, best = self._rank(self._parse(query), limit)
        return [self._searcher.doc(address).get_first("id") or "" for _, address in best]

    def count(self, query: str) -> int:
        """How many documents match a query."""
        total: int = self._searcher.search(self._parse(query), 1).count
        return total

    def _parse(self, query: str) -> Query:
        if len(query) > _LONGEST_QUERY or len(_NESTING.findall(query)) > _MOST_NESTED:
            most = f"at most {_LONGEST_QUERY:,} characters, {_MOST_NESTED} brackets and NOTs"
            raise InputError(f"the query {query[:30]!r}... is too long: {most}")
        query = _AND_NOT.sub("AND -", normalise(query))
        if query.strip() != "*" and not self._analyzer.analyze(query):
            raise InputError(f"the query {query!r} has no word")
        parsed, problems = self._index.parse_query_lenient(query, list(FIELDS))
        if problems:
            why = str(problems[0]).removeprefix("Syntax Error: ").replace('\\"', '"')
            raise InputError(
                f"the query {query!r} cannot be understood: {why[:1].lower()}{why[1:]}; "
                'put "quotation marks" around words to find them exactly as written'
            )
        found: Query = parsed
        return found

    def _rank(self, query: Query, limit: int) -> tuple[int, list[tuple[float, DocAddress]]]:
        """How many documents match, and the best: by score, and equals by their place in the collection.

        The library orders equals by where they lie in the index's files. So all equals of the last hit are needed.
        """
        if limit < 1:
            raise InputError(f"the number of hits must be at least 1, not {limit}")
        wanted = limit
        while True:
            result = self._searcher.search(query, wanted)
            hits: Sequence[tuple[float, DocAddress]] = result.hits
            if len(hits) < wanted or hits[limit - 1][0] - hits[-1][0] > _SAME_SCORE or wanted >= _MOST_EQUALS:
                break
            wanted = min(4 * wanted, _MOST_EQUALS)
        numbers = self._searcher.fast_field_values("number", [address for _, address in hits])
        order = sorted(range(len(hits)), key=lambda at: (-round(hits[at][0] / _SAME_SCORE), numbers[at]))
        return result.count, [hits[at] for at in order[:limit]]

    def _to_hit(self, rank: int, score: float, address: DocAddress, row: int, generator: SnippetGenerator) -> Hit:
        document: Stored = self._searcher.doc(address)
        snippet, marks = _make_snippet(document, generator)
        facts = {name: document.get_first(name) for name in ("id", "url", "title")}
        return Hit(rank, score, facts["id"], facts["url"], facts["title"], row, snippet, marks)


def _make_snippet(document: Stored, generator: SnippetGenerator) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A part of the text in one line, and where in it the query's words are."""
    text = document.get_first("text") or ""
    data = text.encode()
    snippet = generator.snippet_from_doc(document)
    place = snippet.fragment_range()  # in bytes, as all places that the library tells
    start, end = (len(data[:at].decode("utf-8", "ignore")) for at in (place.start, place.end))
    marks = [
        tuple(len(data[: place.start + at].decode("utf-8", "ignore")) for at in (mark.start, mark.end))
        for mark in snippet.highlighted()
    ]
    if not marks:
        start, end = 0, _SNIPPET_LENGTH
    # It ends with a word; the full stop belongs to it.
    closing = _CLOSING.match(text, end)
    end = closing.end() if closing else end
    before, after = "… " * (start > 0), " …" * (end < len(text.rstrip()))
    line, places = _in_one_line(text[start:end])
    moved = [tuple(len(before) + places[at - start] for at in mark) for mark in marks]
    return f"{before}{line}{after}", tuple((first, last) for first, last in moved)


def _in_one_line(text: str) -> tuple[str, list[int]]:
    """A text with one space for any white space, and where each of its places is now, the end included."""
    line: list[str] = []
    places = []
    for letter in text:
        places.append(len(line))
        if not letter.isspace():
            line.append(letter)
        elif line and line[-1] != " ":
            line.append(" ")
    return "".join(line), [*places, len(line)]


def _read_marker(folder: Path) -> str | None:
    """The language of an index's stemmer, None if it has none."""
    if not folder.exists():
        raise InputError(f"{folder}: no such index; make it with: mainmatter index")
    try:
        facts = json.loads((folder / MARKER).read_text("utf-8"))
        version, stem = facts["format"], facts["stem"]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"{folder}: not an index; make one with: mainmatter index") from error
    if version != FORMAT:
        raise InputError(f"{folder}: an index made by another version of mainmatter; make it again: mainmatter index")
    return stem if isinstance(stem, str) else None
