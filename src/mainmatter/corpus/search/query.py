"""From a query to the documents that match it best (BM25)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mainmatter.corpus.search.analysis import load_tantivy, make_analyzer, normalise
from mainmatter.corpus.search.build import ANALYZER, FORMAT, MARKER
from mainmatter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tantivy import DocAddress, Query, SnippetGenerator
    from tantivy import Document as Stored

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
        snippet: the part of the text that matches best, in one line.
        marks: where in the snippet words of the query stand: pairs of the first character and the one behind the last.
    """

    rank: int
    score: float
    id: str | None
    url: str | None
    title: str | None
    snippet: str
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What a search brought.

    Attributes:
        total: how many documents match the query, in all.
        hits: the best of them, best first.
    """

    total: int
    hits: tuple[Hit, ...]


class Searcher:
    """An index, open for searching.

    Raises:
        InputError: the folder is no index, or one of another version.
        MissingExtra: tantivy is not installed.
    """

    def __init__(self, index: str | Path) -> None:
        stem = _read_marker(Path(index))
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

    def search(self, query: str, limit: int = 10) -> Found:
        """Find documents.

        Args:
            query: words, any of which may match; "several words" for a phrase; +word for one that must be there, -word
                for one that must not; AND, OR, NOT and brackets; title:word looks in titles only.
            limit: how many hits at most; from 1.

        Raises:
            InputError: the query cannot be understood, is too long, or holds no word; or the limit is less than 1.
        """
        parsed = self._parse(query)
        total, best = self._rank(parsed, limit)
        # Snippets are of texts only: where a title alone matches, the text's beginning must do.
        generator = self._tantivy.SnippetGenerator.create(self._searcher, parsed, self._index.schema, "text")
        generator.set_max_num_chars(_SNIPPET_LENGTH)
        hits = (self._to_hit(rank, *one, generator) for rank, one in enumerate(best, start=1))
        return Found(total, tuple(hits))

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
            raise InputError(f"the query {query!r} holds no word")
        parsed, problems = self._index.parse_query_lenient(query, list(FIELDS))
        if problems:
            why = str(problems[0]).removeprefix("Syntax Error: ").replace('\\"', '"')
            raise InputError(
                f"the query {query!r} cannot be understood: {why[:1].lower()}{why[1:]}; "
                'put "quotation marks" around what is to be found as it stands'
            )
        found: Query = parsed
        return found

    def _rank(self, query: Query, limit: int) -> tuple[int, list[tuple[float, DocAddress]]]:
        """How many documents match, and the best: by score, and equals by their place in the collection.

        The library orders equals by where they lie in the index's files. So all equals of the last hit are needed.
        """
        if limit < 1:
            raise InputError(f"a search brings one hit at least, not {limit}")
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

    def _to_hit(self, rank: int, score: float, address: DocAddress, generator: SnippetGenerator) -> Hit:
        document: Stored = self._searcher.doc(address)
        snippet, marks = _make_snippet(document, generator)
        facts = {name: document.get_first(name) for name in ("id", "url", "title")}
        return Hit(rank, score, facts["id"], facts["url"], facts["title"], snippet, marks)


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
        raise InputError(f"{folder}: an index of another version of mainmatter; make it again: mainmatter index")
    return stem if isinstance(stem, str) else None
