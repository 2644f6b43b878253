"""Is it text at all, and was it decoded rightly?

Pictures, archives, programs and random bytes are not pages. They are recognised by how they begin (magic numbers), or
else by control characters, which are rare in text of any encoding but UTF-16. Whatever begins like HTML, or contains
HTML tags, counts as a page, since servers and crawlers put stray bytes into pages.

Text that was decoded wrongly, here or long before, such as "Ã¤" for "ä", "â€™" for "’" or "�", is recognised by
characters, and pairs of characters, that people hardly ever write, but that appear when bytes are read in the wrong
encoding. If they turn into other letters of the same script, as Czech does when windows-1250 is read as windows-1252,
that is not recognised.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

SNIFFED = 2000  # bytes of a file that are looked at to tell what it is

# The beginnings of files that are given by mistake. If text could begin the same way, more than the sign is checked.
MAGIC_NUMBERS = {
    b"\x89PNG\r\n\x1a\n": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF87a": "a GIF picture",
    b"GIF89a": "a GIF picture",
    b"II*\0": "a TIFF picture",
    b"MM\0*": "a TIFF picture",
    b"\0\0\1\0": "an icon",
    b"8BPS\0\1": "a Photoshop picture",
    b"\0\0\0\x0cjP  \r\n\x87\n": "a JPEG 2000 picture",
    b"%PDF-": "a PDF document",
    b"%!PS-": "a PostScript document",
    b"AT&TFORM": "a DjVu document",
    b"{\\rtf": "an RTF document",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an Office document",
    b"PK\3\4": "a ZIP archive or an Office document",
    b"PK\5\6": "a ZIP archive",
    b"\x1f\x8b": "a gzip archive",
    b"\x1f\x9d": "a compress archive",
    b"BZh91AY&SY": "a bzip2 archive",
    b"\xfd7zXZ\0": "an xz archive",
    b"(\xb5/\xfd": "a Zstandard archive",
    b"\x04\x22\x4d\x18": "an LZ4 archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\7": "a RAR archive",
    b"!<arch>\n": "an archive of a linker or of Debian",
    b"PAR1\x15": "a Parquet file",
    b"ARROW1\0\0": "an Arrow file",
    b"Obj\1": "an Avro file",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array",
    b"SQLite format 3\0": "an SQLite database",
    b"\x7fELF": "a program",
    b"MZ\x90\0": "a program",
    b"\xca\xfe\xba\xbe": "a program",
    b"\xcf\xfa\xed\xfe": "a program",
    b"\xfe\xed\xfa\xcf": "a program",
    b"\0asm": "a program",
    b"ID3\2": "a sound",
    b"ID3\3": "a sound",
    b"ID3\4": "a sound",
    b"OggS\0": "a sound or a film",
    b"fLaC\0": "a sound",
    b"MThd\0": "a sound",
    b"\x1aE\xdf\xa3": "a film",
    b"FLV\1": "a film",
    b"\0\0\1\xba": "a film",
    b"0&\xb2u\x8ef\xcf\x11": "a sound or a film",
    b"wOFF": "a font",
    b"wOF2": "a font",
    b"OTTO\0": "a font",
    b"\0\1\0\0\0": "a font",
    b"ttcf\0": "a font",
}
_RIFF = {b"WEBP": "a WebP picture", b"WAVE": "a sound", b"AVI ": "a film"}
_MEDIA_BRANDS = frozenset((b"avif", b"avis", b"heic", b"heix", b"mif1"))  # of ISO media files: pictures
_MAGIC = re.compile(
    b"|".join([*map(re.escape, MAGIC_NUMBERS), rb"RIFF....(?:WEBP|WAVE|AVI )", rb"....ftyp....", rb"BM.{4}\0{4}"]),
    re.DOTALL,
)
NEITHER = "neither HTML nor text"
_WARC, _JSON, _TAR = "a WARC archive", "JSON data", "a tar archive"
_WARC_BEGINS = re.compile(rb"WARC/[01]\.")
_COLLECTIONS = frozenset((_WARC, _JSON, "a Parquet file", "a Zstandard archive"))

_JSON_BEGINS = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\{\s*"(?:[^"\\]|\\.)*+"\s*:|\[\s*\{\s*")', re.DOTALL)
_BEFORE_HTML = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s+|<!--.*?-->)*+", re.DOTALL)
# The first tag of a page: MIME Sniffing (WHATWG), section 7.1, and what else pages begin with.
_FIRST_TAG = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|link|base|style|script|iframe|header|nav|main|article|section|div|"
    rb"h[1-6]|p|br|b|a|table|font|center|ul|ol|span|img|form)[\s/>]",
    re.IGNORECASE,
)
_XML = re.compile(rb"<\?xml\b", re.IGNORECASE)
_HTML_ELEMENT = re.compile(rb"<(?:!doctype\s+html|html)\b", re.IGNORECASE)


LEAST = 64  # bytes or characters: less does not tell
# Not those that texts hold: white space, overstriking (BS), and what switches between character sets (SO, SI, ESC).
_CONTROLS = bytes([*range(8), *range(0x10, 0x1B), *range(0x1C, 0x20), 0x7F])
_MAX_CONTROLS = 0.03  # of a text; random bytes have .09
_SAMPLED = 1024  # characters of a page that are looked at, spread evenly over it
_TAG = re.compile(r"</?[a-z][a-z0-9]{0,9}[\s>]", re.IGNORECASE)
_TAGS_SOUGHT = 100_000  # characters that tags are looked for in
_MIN_TAGS = 3
_CHARACTERS_A_TAG = 1000  # at most; random bytes have a tag in 100,000
_MAX_UNUSUAL = 0.05  # of a text


def what_else(data: bytes, *, is_text: bool = False) -> str | None:
    """What a file is, by its beginning, if it is not a page, such as "a PNG picture"; None if it may be a page.

    Args:
        data: the file, or how it begins.
        is_text: it is a plain-text dump, which may begin as JSON does.
    """
    if sign := _MAGIC.match(data):
        found = sign[0]
        if found.startswith(b"BM"):
            return "a BMP picture"
        if found[4:8] == b"ftyp":
            return "a picture" if found[8:] in _MEDIA_BRANDS else "a sound or a film"
        return MAGIC_NUMBERS.get(found) or _RIFF[found[8:]]
    if _WARC_BEGINS.match(data):
        return _WARC
    if data[257:262] == b"ustar":
        return _TAR
    return _JSON if not is_text and begins_as_json(data) else None


def refusal(words: str, reader: str = "`mainmatter corpus`") -> str:
    """The end of a sentence that refuses a page, and says what to do.

    Args:
        words: what it is, from `what_else`.
        reader: what reads collections of pages.
    """
    if words in _COLLECTIONS:
        advice = f"for collections of pages, use {reader}"
    elif "archive" in words:
        advice = "unpack it first"
    elif "document" in words:
        advice = "convert it to HTML or text first"
    else:
        advice = "give HTML, or a plain-text dump of a page"
    return f"is {words}, not a web page; {advice}"


def begins_as_json(data: bytes) -> bool:
    """Whether a file begins as a JSON object or an array of objects does, and no page."""
    return bool(_JSON_BEGINS.match(data, 0, SNIFFED))


def looks_like_html(head: bytes) -> bool:
    """Whether a file begins as pages do: with a tag of HTML, after comments at most. XML must name HTML soon."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        head = head.decode("utf-16", "ignore").encode("ascii", "replace")
    begins = _BEFORE_HTML.match(head)
    place = begins.end() if begins else 0
    if _XML.match(head, place):
        return bool(_HTML_ELEMENT.search(head, place))
    return bool(_FIRST_TAG.match(head, place)) or head.startswith(b"<!--", place)  # a comment that is cut


def has_controls(page: str | bytes) -> bool:
    """Whether a page holds more control characters than a text has; in UTF-16, any does. Takes some microseconds.

    Only a sample is checked, spread evenly: binary data is binary everywhere.
    """
    if len(page) < LEAST:
        return False
    sample = page[:: len(page) // _SAMPLED | 1]  # an odd step, which meets both bytes of UTF-16
    data = sample if isinstance(sample, bytes) else sample.encode("utf-8", "replace")
    controls = len(data) - len(data.translate(None, _CONTROLS))
    return controls > max(1, _MAX_CONTROLS * len(sample))


def utf16_without_mark(data: bytes) -> str | None:
    """The codec of bytes that are UTF-16 without a byte order mark, by the characters that come out; None if not.

    ASCII is read by the wrong one of the two as Chinese, and so the one that gives more ASCII is right.
    """
    if not has_controls(data):
        return None
    head = data[: 2 * _SAMPLED]
    texts = {codec: head.decode(codec, "replace") for codec in ("utf-16-le", "utf-16-be")}
    usual = [codec for codec, text in texts.items() if is_usual(text)]
    return max(usual, key=lambda codec: len(texts[codec].encode("ascii", "ignore")), default=None)


@cache  # made when needed: ranges as wide as these take milliseconds to compile
def _unusual() -> re.Pattern[str]:
    """Not where the characters of living languages are, and their signs; of random pairs of bytes a third is there."""
    return re.compile(
        r"[^\t\n\f\r -~\xa0-\u27bf\u3000-\u31ff\u4e00-\u9fff\uac00-\ud7a3\ufe00-\ufe6b\uff00-\uffee"
        r"\U0001f000-\U0001faff]"
    )


def is_usual(text: str) -> bool:
    """Whether nearly all characters of a text are such as people write; of random pairs of bytes they are not."""
    sample = text[:: len(text) // _SAMPLED | 1]
    return len(_unusual().findall(sample)) <= _MAX_UNUSUAL * len(sample)


def has_markup(text: str) -> bool:
    """Whether a text begins as HTML does or has about as many tags, so that it is a page, whatever else it holds."""
    if looks_like_html(text[:SNIFFED].encode("utf-8", "replace")):
        return True
    part = text[:_TAGS_SOUGHT]
    return len(_TAG.findall(part)) >= max(_MIN_TAGS, len(part) / _CHARACTERS_A_TAG)


_SEEN = 2048  # characters of a text: who decodes it wrongly damages all of it
_SPOILED = 6  # characters, a word of usual length, that cannot be read where one is damaged


def _characters(first: int, last: int) -> str:
    return "".join(map(chr, range(first, last + 1)))


_LATIN = _characters(ord("A"), ord("Z")) + _characters(ord("a"), ord("z"))
_ACCENTED = _characters(0xC0, 0xFF)  # of windows-1252
_UPPER, _LOWER = _characters(0x410, 0x42F), _characters(0x430, 0x44F)  # Cyrillic
_BOXES = _characters(0x2500, 0x259F)
_C1_CONTROLS = _characters(0x80, 0x9F)
# What the bytes from 0x80 to 0xBF are, of which most bytes of UTF-8 are. Left out are letters, and what people write
# after letters: quotation marks, dashes, trade marks.
_IN_WINDOWS_1252 = "€‚ƒ†‡ˆ‰‹ŒœŸ˜¡¢£¤¥¦§¨©ª«¬¯°±²³´µ¶¸¹º¼½¾¿" + _C1_CONTROLS
_IN_WINDOWS_1251 = "ЂЃѓ†‡€‰Љ‹ЊЌЋЏђљњќћџЎўЈ¤Ґ¦§©Є¬Ї°±ґµ¶№єјЅѕї"
# Characters that stand side by side in no language: the first ones, the second ones.
_PAIRS = (
    (_ACCENTED, _IN_WINDOWS_1252),  # UTF-8, or an encoding of East Asia, read as windows-1252
    ("РС", _IN_WINDOWS_1251),  # UTF-8 read as windows-1251
    (_LATIN + _BOXES, _UPPER + _LOWER),  # Latin letters read as windows-1251, UTF-8 read as KOI8
    (_UPPER + _LOWER, _LATIN + _BOXES),
    (_LOWER, _UPPER),  # KOI8 read as windows-1251, and the reverse
)
# Damaged, wherever they stand: what could not be decoded, and controls that are letters of other encodings; how kana
# of UTF-8 begin, read as Shift_JIS; how its quotation marks, full stops, commas, and U+FFFD begin, read as GBK.
_DAMAGED = "\ufffd" + _C1_CONTROLS + "縺繧繝" + "鈥銆锛锟"
# Three accented letters in a row are another script, read as windows-1252.
_PAIR_BITS, _DAMAGED_BIT, _ACCENTED_BIT = 0x1F, 0x40, 0x80


def readable_share(texts: Iterable[str]) -> float:
    """Which share of some texts can be read, from 0 to 1, where some of their characters were decoded wrongly.

    It is 1 - 6 d, and no less than 0, where d is the share of damaged characters: one spoils the word that it is in,
    and a word has about six letters. Of long texts the beginning tells.
    """
    return max(0.0, 1 - _SPOILED * damaged_share(" ".join(texts)[:_SEEN]))


def damaged_share(text: str) -> float:
    """Which share of a text's characters was decoded wrongly, from 0 to 1."""
    if text.isascii():
        return 0.0
    signs = _SIGNS.take(np.frombuffer(f" {text}".encode("utf-16-le", "replace"), "<u2"))
    found = signs[:-1] & (signs[1:] >> 8)
    if not found.any():
        return 0.0
    damaged = found & (_PAIR_BITS | _DAMAGED_BIT) != 0
    damaged[:-1] |= found[1:] & _PAIR_BITS != 0
    triples = found[:-1] & found[1:] & _ACCENTED_BIT != 0
    for place in range(3):
        damaged[place : len(triples) + place - 1] |= triples[1:]
    return float(np.count_nonzero(damaged) / len(damaged))


def _make_signs() -> NDArray[np.uint16]:
    """For each character, in the low byte which pairs it may be the first one of, in the high byte the second one."""
    signs = np.full(0x10000, _DAMAGED_BIT, np.uint16)  # what is damaged by itself is so after any other
    kinds = [*((1 << number, *pair) for number, pair in enumerate(_PAIRS))]
    for bit, first, second in [*kinds, (_DAMAGED_BIT, "", _DAMAGED), (_ACCENTED_BIT, _ACCENTED, _ACCENTED)]:
        signs[[*map(ord, first)]] |= bit
        signs[[*map(ord, second)]] |= bit << 8
    return signs


_SIGNS = _make_signs()
