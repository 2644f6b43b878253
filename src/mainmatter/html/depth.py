# cython: annotation_typing=True
# mypy: warn_return_any=False
"""Keeps markup from the parser on which it crashes: elements nested too deep, and templates inside of SVG or MathML.

turbohtml 1.15.4 keeps at most 512 elements open. The end of a table cell that it refused to open closes all elements,
and so may the end of a `<template>` of SVG or MathML; misnested links then read memory in front of its stack
(docs/upstream/turbohtml-crash.md). So each page is scanned before it is parsed. The few that come near are flattened:
start tags beyond a depth are left out, all text stays. This module can go when a release that is mended is required.

The scan gives an upper bound of how many elements are open. A start tag counts until its own end tag comes while no
tag after it is open, or until the start tag of the next paragraph, list item, option, cell or row surely closes it.
Browsers close elements on many other occasions, which would only make the bound lower. What looks like a tag in
comments, scripts and attributes must not close anything, so tags are told as exactly as browsers tell them; where that
depends on what the parser has open, and the scan does not know, nothing is closed any more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mainmatter import cython

if cython.compiled and not TYPE_CHECKING:
    import cython
    from cython.cimports.cpython.unicode import PyUnicode_DATA, PyUnicode_FindChar, PyUnicode_KIND, PyUnicode_READ

LIMIT = 448
"""How many elements may be open by the scan's bound; the parser has room for 64 more."""

# What an element's name says. `_LEAVES`: in SVG or MathML, it ends these, or its content is HTML.
_KINDS = {
    1: "area base basefont bgsound frame image input keygen link param source track wbr",
    2: "iframe noembed noframes noscript script style textarea title xmp",
    3: "math svg",
    4: "body head html",
    5: "template",
    6: "table",
    7: "tbody tfoot thead",
    8: "form",
    9: "frameset plaintext",
    10: "col",
    11: "a b big blockquote center code dd desc div dl dt em font foreignobject h1 h2 h3 h4 h5 h6 i li listing menu mi "
    "mn mo ms mtext nobr ol p pre ruby s small span strike strong sub sup tt u ul var annotation-xml",
    12: "br embed hr img meta",
}
_VOID = cython.declare(cython.int, 1)
_RAW = cython.declare(cython.int, 2)
_FOREIGN = cython.declare(cython.int, 3)
_ROOTS = cython.declare(cython.int, 4)
_TEMPLATE = cython.declare(cython.int, 5)
_TABLE = cython.declare(cython.int, 6)
_SECTION = cython.declare(cython.int, 7)
_FORM = cython.declare(cython.int, 8)
_UNSURE = cython.declare(cython.int, 9)
_COLUMN = cython.declare(cython.int, 10)
_LEAVES = cython.declare(cython.int, 11)
_VOID_LEAVES = cython.declare(cython.int, 12)

_MOST = cython.declare(cython.int, LIMIT)
_ROOM = cython.declare(cython.int, 4)  # html, head, body, and the element whose content is no markup
_PACKED = cython.declare(cython.int, 8)  # characters of a name in its key
_NOT_ASCII = cython.declare(cython.ulonglong, 0x8080808080808080)
_SPREAD = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
_WORD = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
_SHIFT = cython.declare(cython.int, 54)  # leaves the number of one of 1,024 slots


def _key(name: str) -> int:
    """The first eight characters of a name, of which each is a byte."""
    return int.from_bytes(name[:8].encode(), "big")


_SCRIPT = cython.declare(cython.ulonglong, _key("script"))
_NOSCRIPT = cython.declare(cython.ulonglong, _key("noscript"))
_TITLE = cython.declare(cython.ulonglong, _key("title"))
_DESC = cython.declare(cython.ulonglong, _key("desc"))
_P = cython.declare(cython.ulonglong, _key("p"))
_LI = cython.declare(cython.ulonglong, _key("li"))
_DD = cython.declare(cython.ulonglong, _key("dd"))
_DT = cython.declare(cython.ulonglong, _key("dt"))
_TD = cython.declare(cython.ulonglong, _key("td"))
_TH = cython.declare(cython.ulonglong, _key("th"))
_TR = cython.declare(cython.ulonglong, _key("tr"))
_OPTION = cython.declare(cython.ulonglong, _key("option"))
_keys = cython.declare(cython.ulonglong[1024], [0] * 1024)
_kinds = cython.declare(cython.int[1024], [0] * 1024)

if not cython.compiled:
    # These stand in for what is C where this module is compiled.
    def PyUnicode_KIND(_text: str) -> int:  # noqa: D103, N802
        return 0

    def PyUnicode_DATA(text: str) -> str:  # noqa: D103, N802
        return text

    def PyUnicode_READ(_kind: int, text: str, index: int) -> int:  # noqa: D103, N802
        return ord(text[index])

    def PyUnicode_FindChar(text: str, character: int, start: int, end: int, direction: int) -> int:  # noqa: D103, N802
        return (text.find if direction > 0 else text.rfind)(chr(character), start, end)


def _fill_slots() -> None:
    for kind, names in _KINDS.items():
        for name in names.split():
            key: cython.ulonglong = _key(name)
            slot: cython.int = (key * _SPREAD & _WORD) >> _SHIFT
            while _keys[slot] != 0:
                slot = (slot + 1) & 1023
            _keys[slot] = key
            _kinds[slot] = kind


_fill_slots()


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _kind_of(key: cython.ulonglong, size: cython.Py_ssize_t) -> cython.int:
    """What a name says. A key tells eight characters; what more names are taken for only makes the bound higher."""
    slot: cython.int = (key * _SPREAD & _WORD) >> _SHIFT
    while _keys[slot] != 0:
        if _keys[slot] == key:
            return _kinds[slot] if size <= _PACKED or _kinds[slot] == _LEAVES or _kinds[slot] == _UNSURE else 0
        slot = (slot + 1) & 1023
    return 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_space(character: cython.uint) -> cython.bint:
    return character in {32, 10, 9, 13, 12}


@cython.cfunc
@cython.exceptval(check=False)
def _may_open_value(text: str, quote: cython.int, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Whether the last quotation mark of a kind in a part of a tag may begin a value that goes on after that part."""
    place: cython.Py_ssize_t = PyUnicode_FindChar(text, quote, start, end, -1)
    if place < 0:
        return False
    kind: cython.int = PyUnicode_KIND(text)
    data: cython.p_void = PyUnicode_DATA(text)
    place -= 1
    while place > start and _is_space(PyUnicode_READ(kind, data, place)):
        place -= 1
    return place >= start and PyUnicode_READ(kind, data, place) == 61


@cython.cfunc
@cython.exceptval(check=False)
def _exact_end(  # noqa: C901, PLR0912 - the tokenizer's states
    text: str, place: cython.Py_ssize_t, length: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """As `_end_of_tag`, attribute by attribute; negative, less 2, if the tag closes itself."""
    kind: cython.int = PyUnicode_KIND(text)
    data: cython.p_void = PyUnicode_DATA(text)
    character: cython.uint
    first: cython.Py_ssize_t
    while place < length:
        character = PyUnicode_READ(kind, data, place)
        if character == 62:
            return place
        if character == 47:
            if place + 1 < length and PyUnicode_READ(kind, data, place + 1) == 62:
                return -(place + 1) - 2
            place += 1
            continue
        if _is_space(character):
            place += 1
            continue
        first = place
        while place < length:
            character = PyUnicode_READ(kind, data, place)
            if character in {62, 47} or _is_space(character) or (character == 61 and place > first):
                break
            place += 1
        while place < length and _is_space(PyUnicode_READ(kind, data, place)):
            place += 1
        if place >= length or PyUnicode_READ(kind, data, place) != 61:
            continue
        place += 1
        while place < length and _is_space(PyUnicode_READ(kind, data, place)):
            place += 1
        if place >= length:
            break
        character = PyUnicode_READ(kind, data, place)
        if character in {34, 39}:
            place = PyUnicode_FindChar(text, character, place + 1, length, 1)
            if place < 0:
                return -1
            place += 1
            continue
        while place < length:
            character = PyUnicode_READ(kind, data, place)
            if character == 62 or _is_space(character):
                break
            place += 1
    return -1


@cython.cfunc
@cython.exceptval(check=False)
def _end_of_tag(text: str, place: cython.Py_ssize_t, length: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Where the ">" of a tag is whose name ends before a place; -1 if the page ends before it."""
    end: cython.Py_ssize_t = PyUnicode_FindChar(text, 62, place, length, 1)
    if end > place + 1 and (_may_open_value(text, 34, place, end) or _may_open_value(text, 39, place, end)):
        end = _exact_end(text, place, length)
        return -end - 2 if end < -1 else end
    return end


@cython.cfunc
@cython.exceptval(check=False)
def _end_of_comment(text: str, place: cython.Py_ssize_t, length: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Where the ">" of a comment is whose content begins at a place."""
    kind: cython.int = PyUnicode_KIND(text)
    data: cython.p_void = PyUnicode_DATA(text)
    end: cython.Py_ssize_t = place - 1
    while True:
        end = PyUnicode_FindChar(text, 62, end + 1, length, 1)
        if end < 0 or end == place:  # "<!-->"
            return end
        if PyUnicode_READ(kind, data, end - 1) == 45:
            # "-->" or "<!--->"; the two hyphens that begin the comment do not end it
            if end == place + 1 or (PyUnicode_READ(kind, data, end - 2) == 45 and end >= place + 2):
                return end
        elif (
            end >= place + 3
            and PyUnicode_READ(kind, data, end - 1) == 33
            and PyUnicode_READ(kind, data, end - 2) == 45
            and PyUnicode_READ(kind, data, end - 3) == 45
        ):
            return end


@cython.cfunc
@cython.exceptval(-2, check=True)
def _end_of_raw(
    text: str,
    place: cython.Py_ssize_t,
    length: cython.Py_ssize_t,
    begin: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
    is_script: cython.bint,
) -> cython.Py_ssize_t:
    """Where the end tag begins that ends a content without markup; the length if none does.

    Args:
        text: the page.
        place: where the content begins.
        length: of the page.
        begin: where the element's name is.
        size: how long its name is.
        is_script: it is a script; in a comment in it, there may be scripts that do not end it.
    """
    kind: cython.int = PyUnicode_KIND(text)
    data: cython.p_void = PyUnicode_DATA(text)
    end_of_comment: cython.Py_ssize_t = 0
    is_nested: cython.bint = False
    closes: cython.bint
    i: cython.Py_ssize_t
    character: cython.uint
    other: cython.uint
    while True:
        place = PyUnicode_FindChar(text, 60, place, length, 1)
        if place < 0 or place + 2 + size >= length:
            return length
        character = PyUnicode_READ(kind, data, place + 1)
        closes = character == 47
        if is_script and place >= end_of_comment:
            is_nested = False
            if character == 33 and text.startswith("!--", place + 1):
                end_of_comment = text.find("-->", place + 2)
                if end_of_comment < 0:
                    end_of_comment = length
        if closes or place < end_of_comment:
            i = 0
            while i < size:
                character = PyUnicode_READ(kind, data, place + 1 + closes + i)
                other = PyUnicode_READ(kind, data, begin + i)
                if character | 32 != other | 32:
                    break
                i += 1
            if i == size:
                character = PyUnicode_READ(kind, data, place + 1 + closes + size)
                if character in {62, 47} or _is_space(character):
                    if closes and not is_nested:
                        return place
                    is_nested = not closes
        place += 1


def scan(  # noqa: C901, PLR0911, PLR0912, PLR0915 - one loop over the tags
    text: str, scripting: cython.bint, cuts: list[tuple[int, int]] | None
) -> int:
    """Whether a page can be parsed as it stands, and if not, what to leave out.

    Args:
        text: the page.
        scripting: the content of `<noscript>` is no markup.
        cuts: gets the parts to leave out, as pairs of their begin and end; with None, the scan ends at the first one.

    Returns:
        -1 if it can, or after what goes to `cuts`; else from where on nothing but text may stay.
    """
    length: cython.Py_ssize_t = len(text)
    kind: cython.int = PyUnicode_KIND(text)
    data: cython.p_void = PyUnicode_DATA(text)
    # What counts as open: the key of its name, where that is, how long, and how many elements it stands for.
    keys: cython.ulonglong[512]
    begins: cython.Py_ssize_t[512]
    sizes: cython.Py_ssize_t[512]
    weights: cython.int[512]
    if not cython.compiled:
        keys, begins, sizes, weights = ([0] * 512 for _ in range(4))
    top: cython.int = 0
    open_elements: cython.int = _ROOM
    floor: cython.int = 0  # below this, nothing is closed any more
    foreign: cython.int = 0  # the number of the outermost element of SVG or MathML, from 1; 0 for none
    surely: cython.int = 0  # the same, where the parser surely reads the next tag as such
    held: cython.int = 0  # what `surely` is again once the element just opened, a title in SVG, is closed
    forms: cython.int = 0
    apostrophe: cython.Py_ssize_t = -1  # where the next one is, once it was looked for
    templates: cython.int = 0
    place: cython.Py_ssize_t = 0
    begin: cython.Py_ssize_t
    size: cython.Py_ssize_t
    end: cython.Py_ssize_t
    start: cython.Py_ssize_t
    i: cython.Py_ssize_t
    key: cython.ulonglong
    character: cython.uint
    what: cython.int
    weight: cython.int
    closes: cython.bint
    closes_itself: cython.bint
    while True:
        # Most tags follow one another.
        if (
            place + 1 < length
            and PyUnicode_READ(kind, data, place) == 62
            and PyUnicode_READ(kind, data, place + 1) == 60
        ):
            place += 1
        else:
            place = PyUnicode_FindChar(text, 60, place, length, 1)
        if place < 0 or place + 2 >= length:
            return -1
        start = place
        character = PyUnicode_READ(kind, data, place + 1)
        closes = character == 47
        if closes:
            character = PyUnicode_READ(kind, data, place + 2)
        if not 97 <= (character | 32) <= 122 or character > 127:
            if closes or character == 63:  # "</" or "<?": a comment in all but name
                pass
            elif character != 33:
                place += 1
                continue
            elif (
                place + 3 < length
                and PyUnicode_READ(kind, data, place + 2) == 45
                and PyUnicode_READ(kind, data, place + 3) == 45
            ):
                place = _end_of_comment(text, place + 4, length)
                if place < 0:
                    return -1
                continue
            elif foreign and text.startswith("[CDATA[", place + 2):
                if not surely:
                    break
                place = text.find("]]>", place)
                if place < 0:
                    return -1
                continue
            place = PyUnicode_FindChar(text, 62, place, length, 1)
            if place < 0:
                return -1
            continue
        begin = i = place + 1 + closes
        key = 0
        while i < length:
            character = PyUnicode_READ(kind, data, i)
            if character in {62, 47} or _is_space(character):
                break
            if 65 <= character <= 90:
                character |= 32
            if i - begin < _PACKED:
                key = key << 8 | (character if character < 128 else 128 | character & 127)
            i += 1
        if i >= length:
            return -1
        size = i - begin
        closes_itself = False
        if surely and not closes:
            end = _exact_end(text, i, length)
            if end < -1:
                end = -end - 2
                closes_itself = True
        elif PyUnicode_READ(kind, data, i) == 62:
            end = i
        else:
            # As `_end_of_tag`, but looks for quotation marks only where there may be some.
            end = PyUnicode_FindChar(text, 62, i, length, 1)
            if end > i + 1:
                if apostrophe < i:
                    apostrophe = PyUnicode_FindChar(text, 39, i, length, 1)
                    if apostrophe < 0:
                        apostrophe = length
                if (
                    apostrophe < end
                    or PyUnicode_READ(kind, data, end - 1) != 34
                    or PyUnicode_READ(kind, data, end - 2) == 61
                    or _is_space(PyUnicode_READ(kind, data, end - 2))
                ):
                    end = _end_of_tag(text, i, length)
        if end < 0:
            return -1
        place = end
        if closes:
            if surely:
                # All that is open here is known: the parser closes up to the name.
                while top > surely and (keys[top - 1] != key or sizes[top - 1] != size):
                    i = top - 2
                    while i >= surely - 1 and (keys[i] != key or sizes[i] != size):
                        i -= 1
                    if i < surely - 1:
                        break
                    top -= 1
                    open_elements -= weights[top]
            if top > floor and keys[top - 1] == key and sizes[top - 1] == size:
                if size > _PACKED or key & _NOT_ASCII:
                    i = 0
                    while i < size:
                        character = PyUnicode_READ(kind, data, begin + i)
                        if character != PyUnicode_READ(kind, data, begins[top - 1] + i):
                            break
                        i += 1
                    if i < size:
                        floor = top
                        continue
                top -= 1
                open_elements -= weights[top]
                what = _kind_of(key, size)
                if what == _FORM:
                    forms -= 1
                elif what == _TEMPLATE:
                    templates -= 1
                if foreign:
                    if held:
                        surely = held
                        held = 0
                    if top < surely:
                        surely = 0
                    if top < foreign:
                        foreign = 0
            elif foreign or (forms and _kind_of(key, size) == _FORM):
                # It may close part of what is open, or a form without closing what is in it.
                floor = top
                surely = held = 0
            continue
        what = _kind_of(key, size)
        weight = 1
        held = 0
        if what:
            if what == _UNSURE or (what == _COLUMN and templates):
                place = start
                break
            if what == _RAW and not surely:
                if key != _NOSCRIPT or scripting:
                    place = _end_of_raw(text, end + 1, length, begin, size, key == _SCRIPT)
                    # In SVG the content would be markup.
                    if foreign and (
                        PyUnicode_READ(kind, data, end - 1) == 47
                        or PyUnicode_FindChar(text, 60, end + 1, place, 1) >= 0
                    ):
                        place = start
                        break
                    if place >= length:
                        return -1
                    place = _end_of_tag(text, place + 2 + size, length)
                    if place < 0:
                        return -1
                    continue
            elif what == _TEMPLATE:
                weight = 3
                if foreign:
                    weight = _MOST
                else:
                    templates += 1
            elif what == _TABLE:
                weight = 3
            elif what == _SECTION:
                weight = 2
            elif not foreign and (what in (_VOID, _COLUMN, _ROOTS, _VOID_LEAVES)):
                continue
        if foreign:
            if what == _VOID_LEAVES:
                surely = 0
                continue
            if surely:
                if what in (_LEAVES, _ROOTS, _TABLE) or key == _TITLE:
                    held = surely if key in (_TITLE, _DESC) else 0
                    surely = 0
                elif closes_itself:
                    continue
            elif what == _FOREIGN and PyUnicode_READ(kind, data, end - 1) != 47:
                surely = top + 1
        elif what == _FOREIGN:
            end = _exact_end(text, i, length)
            if end < -1:
                continue
            foreign = surely = top + 1
        # What is open last, and closed by this start tag. All that the parser has open after it are elements such as
        # `<b>`, which are closed with it; if the parser has closed it long since, it must not count either.
        if not foreign and top > floor:
            if key in {_P, _LI, _DD, _DT}:
                if keys[top - 1] == _P:
                    top -= 1
                    open_elements -= 1
                if key != _P and top > floor and (keys[top - 1] == key or (key != _LI and keys[top - 1] in {_DD, _DT})):
                    top -= 1
                    open_elements -= 1
            elif key == _OPTION:
                if keys[top - 1] == _OPTION:
                    top -= 1
                    open_elements -= 1
            elif key in {_TD, _TH, _TR} and not templates:
                if keys[top - 1] in {_TD, _TH}:
                    top -= 1
                    open_elements -= 1
                if key == _TR and top > floor and keys[top - 1] == _TR:
                    top -= 1
                    open_elements -= 1
        if open_elements + weight > _MOST:
            if cuts is None:
                return start
            cuts.append((start, place + 1))
            if what == _TEMPLATE and not foreign:
                templates -= 1
            if top < surely:
                surely = 0
            if top < foreign:
                foreign = 0
            held = 0
            continue
        if what == _FORM:
            forms += 1
        keys[top] = key
        begins[top] = begin
        sizes[top] = size
        weights[top] = weight
        top += 1
        open_elements += weight
    # In doubt: all that looks like a tag may be one, and each may open three elements.
    if open_elements + 3 * text.count("<", place) <= _MOST and "<template" not in text[place:].lower():
        return -1
    return place


_ANY_TAG = re.compile(r"<[^<>]*>?")


def shallow(text: str, *, scripting: bool) -> str:
    """The page, flattened if the parser might crash on it; nearly all pages are returned as they are."""
    if scan(text, scripting, None) < 0:
        return text
    cuts: list[tuple[int, int]] = []
    rest = scan(text, scripting, cuts)
    pieces = []
    place = 0
    for begin, end in cuts:
        pieces.append(text[place:begin])
        pieces.append(" ")  # most such tags are between words
        place = end
    if rest < 0:
        return "".join([*pieces, text[place:]])
    return "".join([*pieces, text[place:rest], _ANY_TAG.sub(" ", text[rest:])])
