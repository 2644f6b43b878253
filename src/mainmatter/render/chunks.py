"""Chunks of a page's text, for retrieval and embedding: each says where on the page it comes from.

A chunk is a slice of `Extraction.text`, so whatever is found in it can be traced: to characters of the text, to blocks
of the page and by their XPaths to the page's elements.

- A heading begins a chunk and is in the path of all chunks below it. It stays together with the beginning of what
  follows it. No chunk reaches over a heading, except that headings which follow each other downwards (a chapter's and
  at once its first section's) begin one chunk together.
- Whole blocks are packed into a chunk as long as they fit. What is longer than the limit is cut: after a sentence or a
  line, else after a word, else anywhere.
- Comments that are set apart (`comments="mark"`) have chunks of their own, whose path begins with "Comments". The line
  `--- Comments ---`, which is ours, is in no chunk.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from inspect import Parameter, signature
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from mainmatter.errors import InputError
from mainmatter.records import Kind
from mainmatter.render.text import COMMENTS, block_starts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mainmatter.records import Document, Extraction

MAX_TOKENS = 512
BYTES_PER_TOKEN = 4
# A heading of a megabyte would otherwise be repeated in each of its chunks.
MAX_HEADING = 200
# A piece that is cut from a long text fills so much of the room; to fill all of it, more would have to be counted.
_FULL_ENOUGH = 0.9
_AIM = 0.97
_GUESSES = 4  # then by halves
_SENTENCE_END = re.compile(r"""[.!?…]["'”’»)\]]?[^\S\n]+|[。！？][」』”’）]?|\n+""")
_SPACE = re.compile(r"\s+")
_LONG_WORD = 64
_REST_OF_WORD = re.compile(rf"\S{{0,{_LONG_WORD}}}\s?")
_BEGINNING_OF_WORD = re.compile(r"(?<!\S)\S+\Z")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a page's text, and where it comes from.

    Attributes:
        text: the piece itself: `extraction.text[start:end]`.
        start: where it begins in `Extraction.text`, in characters.
        end: where it ends there.
        headings: the headings above it, from the highest down; if the chunk begins with a heading, that is the last
            one. Headings of more than 200 characters are cut short.
        blocks: the indexes of the blocks that its text comes from.
        xpaths: the XPath of each of these blocks; none in a plain-text dump.
        tokens: how many tokens it has.
    """

    text: str
    start: int
    end: int
    headings: tuple[str, ...]
    blocks: tuple[int, ...]
    xpaths: tuple[str, ...]
    tokens: int


def estimate_tokens(text: str) -> int:
    """About how many tokens a language model sees in a text: one for every four bytes of UTF-8, rounded up.

    For English that is a sixth more than tokenizers of today count; docs/how-to/chunks.md has other languages.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def split(
    extraction: Extraction,
    max_tokens: int = MAX_TOKENS,
    overlap: int = 0,
    tokenizer: Any = None,  # one of several kinds, of other packages
) -> list[Chunk]:
    """Cut the text of a page into chunks; `Extraction.chunks` describes the arguments.

    Raises:
        InputError: an argument has an invalid value.
    """
    count = check_chunking(max_tokens, overlap, tokenizer)
    splitter = _Splitter(extraction.text, max_tokens, overlap, count)
    blocks, starts, before_comments = block_starts(extraction)
    document = extraction.document
    chunks: list[Chunk] = []
    for path, units in _sections(document, blocks, starts, before_comments):
        for start, end, tokens in splitter.split(units):
            inside = blocks[bisect_right(starts, start) - 1 : bisect_left(starts, end)]
            xpaths = tuple(document.blocks[i].xpath for i in inside) if document.has_markup else ()
            chunks.append(Chunk(extraction.text[start:end], start, end, path, tuple(inside), xpaths, tokens))
    return chunks


def check_chunking(
    max_tokens: int = MAX_TOKENS,
    overlap: int = 0,
    tokenizer: Any = None,  # one of several kinds, of other packages
) -> Callable[[str], int]:
    """Check the arguments of `split` before there is a page; returns the function that counts tokens.

    Raises:
        InputError: one of them is invalid.
    """
    for name, value, least in (("max_tokens", max_tokens, 1), ("overlap", overlap, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise InputError(f"{name} is {value!r}; it must be a whole number, {least} or more")
    if overlap >= max_tokens:
        raise InputError(f"overlap is {overlap}; it must be less than max_tokens, which is {max_tokens}")
    count = _counter(tokenizer)
    if count("") >= max_tokens:
        raise InputError(
            f"the tokenizer counts {count('')} tokens in an empty text; max_tokens is {max_tokens} and must be more"
        )
    return count


def _counter(tokenizer: Any) -> Callable[[str], int]:
    """A function that counts tokens."""
    if tokenizer is None:
        return estimate_tokens
    encode = getattr(tokenizer, "encode_ordinary", None)  # tiktoken's `encode` refuses texts that name special tokens
    options: dict[str, Any] = {}
    if encode is None:
        encode = getattr(tokenizer, "encode", None) or tokenizer
        if not callable(encode) or isinstance(tokenizer, str):
            raise InputError(
                f"tokenizer is {tokenizer!r:.80}; it must be a function that counts the tokens of a text, or "
                "have a method `encode`"
            )
        if _takes(encode, "add_special_tokens"):  # Hugging Face's: those that begin and end a text are none of the text
            options["add_special_tokens"] = False

    def count(text: str) -> int:
        found = encode(text, **options)
        number = found if isinstance(found, int) else len(found) if hasattr(found, "__len__") else -1
        if number < 0:
            raise InputError(f"the tokenizer returned {found!r:.80}; it must return a number of tokens, or the tokens")
        return number

    return count


def _takes(function: Callable[..., Any], name: str) -> bool:
    try:
        parameter = signature(function).parameters.get(name)
    except (TypeError, ValueError):  # of some compiled functions nothing is known
        return False
    return parameter is not None and parameter.kind in (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(slots=True)
class _Unit:
    """What stays together if it fits: a block, with the headings right before it."""

    start: int
    end: int
    body: int  # where it begins to be more than headings


def _sections(
    document: Document, blocks: list[int], starts: list[int], before_comments: int
) -> Iterator[tuple[tuple[str, ...], list[_Unit]]]:
    """The parts of a text that no chunk reaches over, each with its path of headings."""
    texts, kinds, levels = document.columns.texts, document.columns.kinds, document.columns.levels
    path: list[tuple[int, str]] = []  # levels and texts
    units: list[_Unit] = []
    only_headings = False  # in the last unit
    for number, (i, start) in enumerate(zip(blocks, starts, strict=True)):
        level = max(1, levels[i]) if kinds[i] is Kind.HEADING else 0
        is_first_comment = number == before_comments
        continues = only_headings and not is_first_comment and (not level or level > path[-1][0])
        if units and (is_first_comment or (level and not continues)):
            yield tuple(text for _, text in path), units
            units = []
        if is_first_comment:
            path = [(0, COMMENTS)]
        if level:
            while path and path[-1][0] >= level:
                path.pop()
            heading = " ".join(texts[i].split())
            path.append((level, heading if len(heading) <= MAX_HEADING else f"{heading[: MAX_HEADING - 1]}…"))
        end = start + len(texts[i])
        if continues:
            units[-1].end = end
            units[-1].body = end if level else start
        else:
            units.append(_Unit(start, end, end if level else start))
        only_headings = bool(level)
    if units:
        yield tuple(text for _, text in path), units


class _Splitter:
    """Cuts sections of a text into chunks of at most so many tokens.

    Nothing is counted more often than a few times, so the time is linear in the length of the text.
    """

    def __init__(self, text: str, max_tokens: int, overlap: int, count: Callable[[str], int]) -> None:
        self._text = text
        self._max_tokens = max_tokens
        self._overlap = overlap
        self._count = count
        self._per_text = count("")
        self._characters_per_token = float(BYTES_PER_TOKEN)  # as seen last

    def split(self, units: list[_Unit]) -> Iterator[tuple[int, int, int]]:
        """The start, the end and the number of tokens of each chunk of a section."""
        pieces: list[tuple[int, int, int]] = []  # start, end and tokens; the white space up to the next counts
        for unit, after in zip_longest(units, units[1:]):
            pieces += self._pieces(unit, after.start if after else unit.end)
        first = last_start = 0
        while first < len(pieces):
            new = start = pieces[first][0]
            if first and self._overlap:
                room = min(self._overlap, self._max_tokens - self._per_text - pieces[first][2])
                start = self._overlap_start(last_start, new, room)
            tokens = self._count(self._text[start:new])
            stop, before = first, -1
            while stop == first or (stop != before and tokens < _FULL_ENOUGH * self._max_tokens):
                before = stop
                while stop < len(pieces) and (stop == first or tokens + pieces[stop][2] <= self._max_tokens):
                    tokens += pieces[stop][2]
                    stop += 1
                tokens = self._count(self._text[start : pieces[stop - 1][1]])  # perhaps fewer than of its pieces
            while tokens > self._max_tokens and (stop - first > 1 or start < new):  # or more
                if stop - first > 1:
                    stop = first + max(1, min(stop - first - 1, (stop - first) * self._max_tokens // tokens))
                else:
                    start = new
                tokens = self._count(self._text[start : pieces[stop - 1][1]])
            yield start, pieces[stop - 1][1], tokens
            first, last_start = stop, start

    def _pieces(self, unit: _Unit, next_start: int) -> Iterator[tuple[int, int, int]]:
        """A unit as it is, or in pieces if it is too long."""
        text, start = self._text, unit.start
        tokens = self._count(text[start:next_start])
        if tokens <= self._max_tokens or self._count(text[start : unit.end]) <= self._max_tokens:
            yield start, unit.end, tokens - self._per_text
            return
        while start < unit.end:
            end = self._piece_end(start, unit)
            tokens = self._count(text[start:end]) - self._per_text
            visible = len(text[start:end].rstrip())
            if visible:
                yield start, start + visible, tokens
            start = end

    def _piece_end(self, start: int, unit: _Unit) -> int:
        """Where to cut a unit that is too long: room is left for what will be repeated from the chunk before."""
        text = self._text
        room = self._max_tokens - self._overlap
        end = start + max(1, self._longest(lambda size: text[start : start + size], unit.end - start, room))
        rest = _REST_OF_WORD.match(text, end, unit.end)
        if rest and self._count(text[start : rest.end()]) <= room:
            end = rest.end()
        if end == unit.end:
            return end
        lowest = max(start, unit.body)
        sentence_end = max((found.end() for found in _SENTENCE_END.finditer(text, lowest, end)), default=lowest)
        if sentence_end > lowest:
            return sentence_end
        if text[end].isspace() or text[end - 1].isspace():
            return end
        words = text[lowest:end].rsplit(None, 1)
        return end - len(words[-1]) if len(words) > 1 else end

    def _overlap_start(self, lowest: int, end: int, room: int) -> int:
        """Where to begin to repeat what ends there: after a sentence or a line, else after a word, else anywhere."""
        text = self._text
        size = self._longest(lambda size: text[end - size : end], end - lowest - 1, room) if room > 0 else 0
        start = end - size
        beginning = _BEGINNING_OF_WORD.search(text, max(lowest + 1, start - _LONG_WORD), start)
        if beginning and self._count(text[beginning.start() : end]) <= room:
            start = beginning.start()
        for border in (_SENTENCE_END, _SPACE):
            for found in border.finditer(text, max(lowest, start - 2), end):
                if start <= found.end() < end:
                    return found.end()
        return start

    def _longest(self, part: Callable[[int], str], most: int, room: int) -> int:
        """How many characters of a text have about so many tokens, and not more; 0 if not even one does.

        Args:
            part: so many characters of the text.
            most: how many it has.
            room: how many tokens there may be.
        """
        low, high = 0, most
        size = max(1, int(room * self._characters_per_token))
        tries = 0
        while low < high:
            size = min(max(size, low + 1), high)
            tokens = self._count(part(size))
            if tokens <= room:
                low = size
                self._characters_per_token = size / max(1, tokens)
                if tokens >= _FULL_ENOUGH * room:
                    break
            else:
                high = size - 1
            tries += 1
            guess = int(size * min(2.0, _AIM * room / max(1, tokens)))
            size = guess if tries < _GUESSES else (low + high + 1) // 2
        return low
