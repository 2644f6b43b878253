# cython: annotation_typing=True
# mypy: warn_return_any=False
"""What a page calls its elements: tag, class and id, as numbers with the same meaning on all sites.

"articleBody", "post-content" and "bbWrapper" say a lot to those who have seen many sites. So each word of a class or
id that many training sites use, as it stands and cut at hyphens and capitals, has an embedding (`Vocabulary`): its
meaning is learned, not given. Names that few sites use, such as hashes, say nothing.

A block deep inside of something that is called "comments" is a comment, whatever the elements between are called; so
some stems, of whatever word, are inherited (`CALLED`), as the tags in html/containers.py are. Words of other languages
count as the English stem of the same meaning.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from mainmatter import cython
from mainmatter.html.segment import NUMBER_OF_TAG
from mainmatter.html.segment import TAGS as TAGS_OF_OUTLINE

if cython.compiled and not TYPE_CHECKING:
    import cython

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from mainmatter.main.net import BlockNet

# A name is cut into the longest of these stems: a headline is no head, and a footnote no foot.
_STEMS = tuple(
    """
    abstract accordion account address advert answer archive article author avatar banner block blog body bottom box
    breadcrumb button byline caption card carousel cart categ center checkout code col comment consent contact
    container content cookie copyright crumb cta date descr detail disclaim doc entry event faq feed field filter foot
    footnote form forum gallery grid head headline hero hidden home image intro item job lang lead left legal link
    list login main map menu message meta modal module more nav news newsletter next node overlay pag page panel
    popular popup post press prev price print product profile promo question quote rating recommend refer region relat
    reply result review right row search section share side signature signup single skip slide social sort spec
    sponsor story subscri summary tab table tag teaser text thread time title toc top trend user view vote widget wiki
    wrap
    """.split()
)
# The stems that say most about all that is below; as many as fit into one whole number.
INHERITED = tuple(
    """
    advert article author banner body breadcrumb caption card comment consent content cookie descr entry filter foot
    forum head hidden list login main menu message meta modal nav newsletter pag popular popup post product promo
    recommend relat reply review search share side social sponsor story subscri tag teaser text thread widget
    """.split()
)
_SAME_AS = {
    "advert": "anzeige publicid reklam werbung",
    "article": "articulo artigo artikel artykul",
    "author": "autor",
    "comment": "coment disqus kommentar komment respond",
    "content": "contenido conteudo contenu inhalt tresc",
    "foot": "fuss stopka",
    "head": "kopf",
    "post": "beitrag",
    "search": "buscar recherche suche szuka",
    "share": "partage teilen",
    "title": "titel titre titulo tytul",
}
TAGS = TAGS_OF_OUTLINE[1:]

# Number 0 is what has no name. Tags come first, with the numbers that they have in the outline, then the vocabulary.
FIRST_WORD = 1 + len(TAGS)
_BIT_OF_STEM = dict.fromkeys(_STEMS, 0) | {stem: 1 << bit for bit, stem in enumerate(INHERITED)}
_BIT_OF_STEM |= {other: _BIT_OF_STEM[stem] for stem, others in _SAME_AS.items() for other in others.split()}
COMMENT_BIT = _BIT_OF_STEM["comment"]
# Tags that today's pages use to say what is what, and that older ones and careless ones do without.
SEMANTIC_TAGS = frozenset(map(NUMBER_OF_TAG.__getitem__, "nav header footer aside article main section figure".split()))
DIV = NUMBER_OF_TAG["div"]

CALLED = tuple(f"called_{stem}" for stem in INHERITED)


def _pattern_of(stems: Iterable[str]) -> str:
    """A pattern for the longest of some stems, as a tree of their letters: a search tries 24 letters, not 170 stems."""
    by_letter: dict[str, list[str]] = {}
    for stem in stems:
        by_letter.setdefault(stem[:1], []).append(stem[1:])
    rest = "|".join(letter + _pattern_of(ends) for letter, ends in by_letter.items() if letter)
    return f"(?:{rest})?" if "" in by_letter and rest else f"(?:{rest})" if rest else ""


_STEM = re.compile(_pattern_of(_BIT_OF_STEM))
# "articleBody", "post-content", "mainHTMLText": the parts of a name.
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_MAX_NAME = 300  # characters; what is longer is no name
_MAX_WORD = 40
_MIN_PART = 2
_MOST_IN_ORDER = 8  # numbers that numpy adds up one after the other
_MAX_NAMES = 50_000  # in a cache; then it starts afresh, so that a crawl of all sites fits into memory

_A = cython.declare(cython.Py_ssize_t, ord("a"))

Meaning = tuple[int, ...]  # of a name: the numbers of its words, and last its bits


def words_of(name: str) -> set[str]:
    """The words of a class or id, or of several with spaces between: as they stand, and their parts; lower case."""
    found: set[str] = set()
    for word in name[:_MAX_NAME].split():
        if len(word) <= _MAX_WORD:
            found.add(word.lower())
        found.update(part.lower() for part in _parts_of(word) if len(part) >= _MIN_PART)
    return found


def bits_of(name: str) -> int:
    """Which of `CALLED` a class or id means, one bit each."""
    return _bits_in(name[:_MAX_NAME].lower())


def _tree_of(bit_of_stem: Mapping[str, int]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Stems as a tree of their letters: for each node the one behind each letter, 0 for none, and the bit of its stem.

    The bit of a node where no stem ends is -1. Node 0 is the root.
    """
    letters = 26
    children: list[list[int]] = [[0] * letters]
    bits = [-1]
    for stem, bit in bit_of_stem.items():
        node = 0
        for letter in stem:
            child = ord(letter) - ord("a")
            if not children[node][child]:
                children[node][child] = len(children)
                children.append([0] * letters)
                bits.append(-1)
            node = children[node][child]
        bits[node] = bit
    return np.array(children, np.intp), np.array(bits, np.int64)


_TREE = _tree_of(_BIT_OF_STEM) if cython.compiled else (np.zeros((0, 0), np.intp), np.zeros(0, np.int64))
_CHILDREN = cython.declare(cython.const[cython.Py_ssize_t][:, ::1], _TREE[0])
_BIT_OF_NODE = cython.declare(cython.const[cython.longlong][::1], _TREE[1])


def _bits_in(lower: str) -> int:
    """The bits of the stems in a text of lower case: the longest at each place, and then what follows it."""
    if cython.compiled:
        return _bits_between(lower.encode("ascii", "replace"), 0, len(lower))
    bits = 0
    for stem in _STEM.findall(lower):
        bits |= _BIT_OF_STEM[stem]
    return bits


@cython.cfunc
@cython.boundscheck(False)
@cython.wraparound(False)
def _bits_between(lower: cython.p_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.longlong:
    """The bits of the stems in a piece of a text of lower case."""
    found: cython.longlong = 0
    longest: cython.longlong
    after: cython.Py_ssize_t
    i: cython.Py_ssize_t
    node: cython.Py_ssize_t
    letter: cython.Py_ssize_t
    while start < end:
        node, after, longest = 0, start + 1, 0
        for i in range(start, end):
            letter = lower[i] - _A
            if not 0 <= letter < 26:
                break
            node = _CHILDREN[node, letter]
            if node == 0:
                break
            if _BIT_OF_NODE[node] >= 0:
                longest, after = _BIT_OF_NODE[node], i + 1
        found |= longest
        start = after
    return found


@cython.boundscheck(False)
@cython.wraparound(False)
def _parts_of(word: str) -> list[str]:
    """The parts of a word; see `_PART`."""
    if not cython.compiled or not word.isascii():
        return _PART.findall(word)
    parts: list[str] = []
    encoded: bytes = word.encode()
    length: cython.Py_ssize_t = len(word)
    start: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t
    while start < length:
        end = _end_of_part(encoded, start, length)
        if end > start:
            parts.append(word[start:end])
        start = max(end, start + 1)
    return parts


@cython.cfunc
@cython.boundscheck(False)
@cython.wraparound(False)
def _end_of_part(word: cython.p_uchar, start: cython.Py_ssize_t, length: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Where the part of a word ends that begins at `start`; `start` itself if none does."""
    end: cython.Py_ssize_t = start
    while end < length and 65 <= word[end] <= 90:  # A to Z
        end += 1
    if end > start + 1:
        return end - 1 if end < length and _A <= word[end] <= 122 else end  # the last capital begins the next part
    while end < length and _A <= word[end] <= 122:
        end += 1
    return end


class Vocabulary:
    """The words of names that have embeddings.

    Args:
        words: each once; their numbers follow those of the tags, in this order.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self._numbers = {word: number for number, word in enumerate(self.words, start=FIRST_WORD)}
        if len(self._numbers) != len(self.words):
            raise ValueError("a word is twice in the vocabulary")
        # Sites have names of their own, but the words in them are few: each is looked up once.
        self._meanings: dict[str, Meaning] = {}

    def __reduce__(self) -> tuple[type[Vocabulary], tuple[tuple[str, ...]]]:
        return Vocabulary, (self.words,)

    @classmethod
    def learn(cls, names_of_sites: Mapping[str, Iterable[str]], min_sites: int) -> Vocabulary:
        """The words that so many sites use.

        Args:
            names_of_sites: the names on the pages of each site.
            min_sites: words that fewer sites use are left out.
        """
        counts: Counter[str] = Counter()
        for names in names_of_sites.values():
            counts.update(set().union(*map(words_of, names)))
        return cls(sorted(word for word, count in counts.items() if count >= min_sites))

    def __len__(self) -> int:
        return len(self.words)

    def numbers_of(self, name: str) -> list[int]:
        """The numbers of a name's words, in order; none for words that are not in the vocabulary."""
        return list(self.meaning_of(name)[:-1])

    def meaning_of(self, name: str) -> Meaning:
        """What a name means to the net."""
        known = self._meanings
        of_words = [known.get(word) or self._look_up(word) for word in name[:_MAX_NAME].split()]
        if len(of_words) == 1:
            return of_words[0]
        numbers: set[int] = set()
        bits = 0
        for of_word in of_words:
            if len(of_word) > 1:
                numbers.update(of_word[:-1])
            bits |= of_word[-1]
        return (*sorted(numbers), bits)

    def _look_up(self, word: str) -> Meaning:
        """What a word means; as `words_of` and `bits_of` say, in half of the time."""
        number_of, lower = self._numbers.get, word.lower()
        is_short = len(word) <= _MAX_WORD
        number = number_of(lower) if is_short else None
        numbers = [] if number is None else [number]
        if not (is_short and word.isalpha() and word.islower() and word.isascii()):  # else it has no parts but itself
            for part in _parts_of(word):
                if len(part) < _MIN_PART:
                    continue
                number = number_of(part.lower())
                if number is not None and number not in numbers:
                    numbers.append(number)
        numbers.sort()
        found = (*numbers, _bits_in(lower))
        if len(self._meanings) >= _MAX_NAMES:
            self._meanings.clear()
        self._meanings[word] = found
        return found


class VectorCache:
    """The vector of each name, and its bits, made once: a page has hundreds of elements, few names.

    One look-up finds both, since they are remembered as the bytes of one row. A crawl of many sites has ever new names,
    but few meanings: on 400 pages 46,000 names have 9,000 sets of stems. Threads may share it and wait for nobody: the
    worst that happens is that two of them make the same row.

    Args:
        meaning_of: what a name means; names with the same meaning have the same vector and bits.
        vectors_of: the vectors of some meanings, one a row; always the same one for the same meaning.
        bits_of: the bits of some meanings, one number each.
        most: how many names are remembered.
    """

    def __init__(
        self,
        meaning_of: Callable[[str], Meaning],
        vectors_of: Callable[[Sequence[Meaning]], NDArray[np.float32]],
        bits_of: Callable[[Sequence[Meaning]], NDArray[np.int64]],
        most: int = _MAX_NAMES,
    ) -> None:
        self._meaning_of, self._vectors_of, self._bits_of = meaning_of, vectors_of, bits_of
        self._most = most
        self._known: tuple[dict[str, bytes], dict[Meaning, bytes]] = ({}, {})  # rows by name, and by meaning

    def of(self, names: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The vectors of some names, one a row, and their bits; there must be at least one."""
        try:
            found = b"".join(map(self._known[0].__getitem__, names))
        except KeyError:
            found = b"".join(map(self._learn(names).__getitem__, names))
        rows = np.frombuffer(found, np.uint8).reshape(len(names), -1)
        bits = rows[:, -np.dtype(np.int64).itemsize :]
        vectors = rows[:, : -bits.shape[1]]
        return vectors.view(np.float32).copy(), bits.view(np.int64)[:, 0].copy()

    def _learn(self, names: Sequence[str]) -> dict[str, bytes]:
        """The rows of some names, and of all that are remembered."""
        by_name, by_meaning = self._known
        new = [name for name in dict.fromkeys(names) if name not in by_name]
        if len(by_name) + len(new) > self._most:  # other threads go on with the old ones
            by_name, by_meaning = {}, {}
            new = list(dict.fromkeys(names))
        meanings = list(map(self._meaning_of, new))
        unknown = [meaning for meaning in dict.fromkeys(meanings) if meaning not in by_meaning]
        if unknown:
            vectors, bits = self._vectors_of(unknown), self._bits_of(unknown)
            rows = np.hstack((vectors.view(np.uint8), bits[:, None].view(np.uint8)))
            size, data = rows.shape[1], rows.tobytes()
            starts = range(0, len(data), size)
            by_meaning.update((one, data[start : start + size]) for one, start in zip(unknown, starts, strict=True))
        by_name.update(zip(new, map(by_meaning.__getitem__, meanings), strict=True))
        self._known = by_name, by_meaning
        return by_name


def make_vectors(vocabulary: Vocabulary, net: BlockNet) -> VectorCache | VectorFinder:
    """What gives names their vectors: to find them is faster where this file is compiled, else to remember them."""
    if not cython.compiled:
        return VectorCache(
            vocabulary.meaning_of,
            lambda meanings: net.embed([meaning[:-1] for meaning in meanings]),
            lambda meanings: np.array([meaning[-1] for meaning in meanings], np.int64),
        )
    return VectorFinder(vocabulary, net.weights["embedding"])


class VectorFinder:
    """The vector of each name, and its bits, found letter by letter: what `VectorCache` gives, where this is compiled.

    It remembers nothing: in a crawl, most of the different names of a page are ones that no page had before.

    Args:
        vocabulary: the words.
        embedding: the vectors of all that has a number, one a row.
    """

    def __init__(self, vocabulary: Vocabulary, embedding: NDArray[np.float32]) -> None:
        self._vocabulary, self._embedding = vocabulary, embedding
        words = {word: number for number, word in enumerate(vocabulary.words, start=FIRST_WORD) if word.isascii()}
        self._letters = "".join(words).encode()
        # A hash table; what finds its place taken goes to the next. In each place: the word's number, or 0; where it
        # begins in all letters; its length.
        self._table = np.zeros((1 << (4 * len(words) + 1).bit_length(), 3), np.intp)
        begin = 0
        for word, number in words.items():
            place = _hash(word.encode(), 0, len(word)) & (len(self._table) - 1)
            while self._table[place, 0]:
                place = (place + 1) & (len(self._table) - 1)
            self._table[place] = number, begin, len(word)
            begin += len(word)

    @cython.boundscheck(False)
    @cython.wraparound(False)
    def of(self, names: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The vectors of some names, one a row, and their bits; there must be at least one."""
        place_of: dict[str, int] = {}
        places = np.empty(len(names), np.intp)
        place: cython.Py_ssize_t[::1] = places
        i: cython.Py_ssize_t
        for i, name in enumerate(names):
            place[i] = place_of.setdefault(name, len(place_of))
        vectors = np.zeros((len(place_of), self._embedding.shape[1]), np.float32)
        bits = np.zeros(len(place_of), np.int64)
        self._find(list(place_of), vectors, bits)
        return vectors.take(places, axis=0), bits.take(places)

    @cython.boundscheck(False)
    @cython.wraparound(False)
    def _find(self, names: list[str], vectors_of: NDArray[np.float32], bits_of: NDArray[np.int64]) -> None:
        """Fill one row a name."""
        table: cython.Py_ssize_t[:, ::1] = self._table
        letters: bytes = self._letters
        vectors: cython.float[:, ::1] = vectors_of
        embedding = cython.declare(cython.const[cython.float][:, ::1], self._embedding)
        bits: cython.longlong[::1] = bits_of
        numbers: cython.Py_ssize_t[::1] = np.zeros(2 * _MAX_NAME, np.intp)  # of a name's words, in order
        most_in_order: cython.Py_ssize_t = _MOST_IN_ORDER
        name: str
        text: bytes
        count: cython.Py_ssize_t
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        rest: cython.float
        for i in range(len(names)):
            name = names[i]
            if name.isascii():
                text = name.encode()
                count = _read_name(text, text.lower(), len(text), table, letters, numbers, bits[i : i + 1])
            else:
                *of_words, its_bits = self._vocabulary.meaning_of(name)
                bits[i], count = its_bits, 0
                for number in of_words:
                    count = _add_number(numbers, count, number)
            if count > most_in_order:
                vectors_of[i] = np.add.reduceat(self._embedding.take(np.asarray(numbers)[:count], axis=0), [0])[0]
                continue
            for j in range(vectors.shape[1] if count else 0):
                rest = 0
                for k in range(1, count):
                    rest = rest + embedding[numbers[k], j]
                vectors[i, j] = embedding[numbers[0], j] + rest if count > 1 else embedding[numbers[0], j]


@cython.cfunc
@cython.boundscheck(False)
@cython.wraparound(False)
def _read_name(
    text: cython.p_uchar,
    lower: cython.p_uchar,
    length: cython.Py_ssize_t,
    table: cython.Py_ssize_t[:, ::1],
    letters: cython.p_uchar,
    numbers: cython.Py_ssize_t[::1],
    bits: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Read a name in ASCII: adds to `bits`, fills `numbers` with those of its words, and returns how many there are."""
    longest_word: cython.Py_ssize_t = _MAX_WORD
    shortest_part: cython.Py_ssize_t = _MIN_PART
    count: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    end: cython.Py_ssize_t = 0
    part: cython.Py_ssize_t
    after: cython.Py_ssize_t
    length = min(length, cython.cast(cython.Py_ssize_t, _MAX_NAME))
    while end < length:
        start = end
        end += 1
        if _is_space(text[start]):
            continue
        while end < length and not _is_space(text[end]):
            end += 1
        bits[0] |= _bits_between(lower, start, end)
        if end - start <= longest_word:
            count = _add_number(numbers, count, _number_between(table, letters, lower, start, end))
        part = start
        while part < end:
            after = _end_of_part(text, part, end)
            if after - part >= shortest_part:
                count = _add_number(numbers, count, _number_between(table, letters, lower, part, after))
            part = max(after, part + 1)
    return count


@cython.cfunc
@cython.inline
def _is_space(letter: cython.uchar) -> cython.bint:
    """Whether `str.split` parts a text in ASCII there."""
    return letter == 32 or 9 <= letter <= 13 or 28 <= letter <= 31


@cython.cfunc
@cython.boundscheck(False)
@cython.wraparound(False)
def _hash(lower: cython.p_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """The hash of a piece of a text of lower case."""
    found: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for i in range(start, end):
        found = (found * 31 + lower[i]) & 0xFFFFFFF
    return found


@cython.cfunc
@cython.boundscheck(False)
@cython.wraparound(False)
def _number_between(
    table: cython.Py_ssize_t[:, ::1],
    letters: cython.p_uchar,
    lower: cython.p_uchar,
    start: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """The number of a word in a text of lower case; 0 if it is not in the vocabulary."""
    last: cython.Py_ssize_t = table.shape[0] - 1
    place: cython.Py_ssize_t = _hash(lower, start, end) & last
    begin: cython.Py_ssize_t
    i: cython.Py_ssize_t
    while table[place, 0]:
        if table[place, 2] == end - start:
            begin = table[place, 1]
            i = 0
            while i < end - start and letters[begin + i] == lower[start + i]:
                i += 1
            if i == end - start:
                return table[place, 0]
        place = (place + 1) & last
    return 0


@cython.cfunc
@cython.boundscheck(False)
@cython.wraparound(False)
def _add_number(
    numbers: cython.Py_ssize_t[::1], count: cython.Py_ssize_t, number: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Put a number into its place among the first `count`, unless it is there or is 0; returns how many there are."""
    at: cython.Py_ssize_t = count
    i: cython.Py_ssize_t
    while at > 0 and numbers[at - 1] >= number:
        at -= 1
    if number == 0 or (at < count and numbers[at] == number):
        return count
    for i in range(count, at, -1):
        numbers[i] = numbers[i - 1]
    numbers[at] = number
    return count + 1
