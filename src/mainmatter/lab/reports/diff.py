"""The words of a gold text compared with those that were kept: which were missed, which are wrong; shortened."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mainmatter.lab.metrics.alignment import matching_blocks
from mainmatter.text.tokens import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Kind = Literal["both", "missed", "wrong", "cut"]
Block = tuple[int, int, int]  # where it begins in the one list and in the other, and how long it is

MOST_CHARACTERS = 6000  # of one diff
_MOST_PIECES = 400
_MOST_WORDS = 40_000  # of a text that are compared: two seconds, if the other is as long and nothing like it
_CONTEXT = 8  # words that are shown on each side of a difference
_STRAY = 2  # equal words amid differences that are no sign of anything
_LONGEST_RUN = 60  # words of a difference that are shown
_LONGEST_WORD = 200  # characters; a longer one may be an encoded picture
# As text/tokens.py: Chinese and Japanese have no spaces, so each of their characters is a word.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]|[^\s{_CJK}]+")


@dataclass(frozen=True, slots=True)
class DiffPiece:
    """A run of words.

    Attributes:
        kind: "both" are in the gold text and were kept, "missed" only in the gold text, "wrong" only kept; "cut" says
            how many words were left out here.
        text: the words, with the white space after them.
    """

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Diff:
    """What differs between a gold text and what was kept.

    Attributes:
        pieces: the runs of words, in order.
        missed: how many words of the gold text were not kept.
        wrong: how many words were kept that are not in the gold text.
        both: how many are in both.
        unshown: how many differences are left out at the end.
        is_partial: whether only the beginnings of the texts were compared, since they are very long.
    """

    pieces: tuple[DiffPiece, ...]
    missed: int
    wrong: int
    both: int
    unshown: int = 0
    is_partial: bool = False


def diff(gold: str, kept: str, characters: int = MOST_CHARACTERS) -> Diff:
    """Compare two texts word by word; case and punctuation do not matter, as in the bag of words.

    Args:
        gold: the gold text.
        kept: what a method kept.
        characters: how many to show, about.

    Raises:
        MissingExtra: it needs rapidfuzz.
    """
    wanted, is_wanted_cut = _tokens(gold)
    found, is_found_cut = _tokens(kept)
    keys, found_keys = [_key(token) for token in wanted], [_key(token) for token in found]
    blocks = _tidied(matching_blocks(keys, found_keys), keys, found_keys)
    pieces: list[DiffPiece] = []
    sizes = {"both": 0, "missed": 0, "wrong": 0}
    unshown = length = 0
    for kind, run in _runs(wanted, found, blocks):
        sizes[kind] += len(run)
        if length >= characters or len(pieces) >= _MOST_PIECES:
            unshown += kind != "both"
            continue
        is_first = not pieces
        for piece in _shown(kind, run, is_first=is_first):
            pieces.append(piece)
            length += len(piece.text)
    is_partial = is_wanted_cut or is_found_cut
    return Diff(tuple(pieces), sizes["missed"], sizes["wrong"], sizes["both"], unshown, is_partial)


def _tokens(text: str) -> tuple[list[str], bool]:
    """Words, each with the white space after it: none, a blank, or the end of a line; and whether there are more."""
    found: list[str] = []
    last = 0
    for token in _TOKEN.finditer(text):
        if found:
            gap = text[last : token.start()]
            found[-1] += "\n" if "\n" in gap else " " if gap else ""
        if len(found) == _MOST_WORDS:
            return found, True
        word = token[0]
        found.append(word if len(word) <= _LONGEST_WORD else word[: _LONGEST_WORD - 1] + "…")
        last = token.end()
    if found:  # what follows in the diff, of the other text, begins a line
        found[-1] += "\n"
    return found, False


def _key(token: str) -> str:
    return " ".join(words(token)) or token.strip()


def _tidied(blocks: Sequence[Block], wanted: Sequence[str], found: Sequence[str]) -> list[Block]:
    """The blocks without stray words that only happen to be in both, such as an "and" amid a menu; the rest grown.

    A longest common subsequence takes any equal word. The result is unreadable where everything else differs.
    """
    kept: list[Block] = []
    last_wanted = last_found = 0
    for number, (start, other, size) in enumerate(blocks):
        next_wanted, next_found = blocks[number + 1][:2] if number + 1 < len(blocks) else (len(wanted), len(found))
        before = start - last_wanted + other - last_found
        after = next_wanted - start - size + next_found - other - size
        if size > _STRAY or min(before, after) == 0 or before + after < 8 * size:
            kept.append((start, other, size))
        last_wanted, last_found = start + size, other + size
    return _grown(kept, wanted, found)


def _grown(blocks: Sequence[Block], wanted: Sequence[str], found: Sequence[str]) -> list[Block]:
    """The blocks with the equal words that stand right before or after them."""
    grown: list[Block] = []
    at_wanted = at_found = 0
    for number, (start, other, length) in enumerate(blocks):
        first, second, size = start, other, length
        while first > at_wanted and second > at_found and wanted[first - 1] == found[second - 1]:
            first, second, size = first - 1, second - 1, size + 1
        end = blocks[number + 1][:2] if number + 1 < len(blocks) else (len(wanted), len(found))
        while first + size < end[0] and second + size < end[1] and wanted[first + size] == found[second + size]:
            size += 1
        grown.append((first, second, size))
        at_wanted, at_found = first + size, second + size
    return grown


def _runs(wanted: Sequence[str], found: Sequence[str], blocks: Sequence[Block]) -> Iterator[tuple[Kind, Sequence[str]]]:
    """The runs of words that are equal, missed, or wrongly kept."""
    at_wanted = at_found = 0
    for start_wanted, start_found, size in [*blocks, (len(wanted), len(found), 0)]:
        if at_wanted < start_wanted:
            yield "missed", wanted[at_wanted:start_wanted]
        if at_found < start_found:
            yield "wrong", found[at_found:start_found]
        if size:
            yield "both", found[start_found : start_found + size]
        at_wanted, at_found = start_wanted + size, start_found + size


def _shown(kind: Kind, run: Sequence[str], *, is_first: bool) -> Iterator[DiffPiece]:
    """A run, without its middle if it is long; of what is equal only what stands beside a difference."""
    head, tail = (_CONTEXT, _CONTEXT) if kind == "both" else (_LONGEST_RUN * 3 // 4, _LONGEST_RUN // 4)
    if kind == "both" and is_first:
        head = 0
    if len(run) <= head + tail + 2:
        yield DiffPiece(kind, "".join(run))
        return
    if head:
        yield DiffPiece(kind, "".join(run[:head]))
    yield DiffPiece("cut", f"{len(run) - head - tail:,} words")
    yield DiffPiece(kind, "".join(run[-tail:]))
