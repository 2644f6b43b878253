"""Bytes to text, as browsers do it: byte order mark, HTTP header, `<meta>`, then detection.

With one difference. Bytes outside of ASCII that are valid UTF-8 are UTF-8, whatever the page declares: other
encodings hardly ever look like that by chance, while wrong declarations are common.
"""

from __future__ import annotations

import codecs

from mainmatter.html.parse import codec_of_label, detect_encoding

_BYTE_ORDER_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Encodings that use ASCII bytes only announce themselves by escape characters, or by a NUL in every letter.
_NOT_PLAIN_ASCII = (b"\x1b", b"\x00", b"~{")


def decode(data: bytes, charset: str | None = None) -> tuple[str, str]:
    """Decode a page; never fails, what cannot be decoded becomes U+FFFD.

    Args:
        data: the page as fetched.
        charset: what the HTTP header declared, if known.

    Returns:
        The text, and the name of the encoding.
    """
    if not data.startswith(_BYTE_ORDER_MARKS):
        text = _as_utf8(data)
        if text is not None:
            return text, "utf-8"
        codec = codec_of_label(charset) if charset else None
        if codec is not None and charset is not None:
            return data.decode(codec, "replace"), charset.lower()
    encoding, codec = detect_encoding(data)
    return data.decode(codec, "replace").removeprefix("\ufeff"), encoding


def _as_utf8(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    # A text knows whether it is ASCII, while bytes would have to be searched; most pages are not.
    return None if text.isascii() and _may_be_escaped(data) else text


def _may_be_escaped(data: bytes) -> bool:
    """Whether ASCII bytes may stand for other characters; one byte is found fifty times as fast as two."""
    return any(sign[:1] in data and sign in data for sign in _NOT_PLAIN_ASCII)
