"""Bytes to text, as browsers do."""

from __future__ import annotations

import codecs

import pytest

import mainmatter
from mainmatter.html.parse import _codec_of_label, decode
from mainmatter.records import Page
from mainmatter.registry import FORMATS

CYRILLIC = "Привет, мир"


@pytest.mark.parametrize(
    ("data", "charset", "text", "encoding"),
    [
        # Nothing known, nothing special.
        (b"", None, "", "utf-8"),
        (b"plain ASCII", None, "plain ASCII", "utf-8"),
        ("naïve – 漢字 🙂".encode(), None, "naïve – 漢字 🙂", "utf-8"),
        # A byte order mark wins over everything.
        (codecs.BOM_UTF16_LE + "é".encode("utf-16-le"), "iso-8859-1", "é", "utf-16le"),
        (codecs.BOM_UTF16_BE + "é".encode("utf-16-be"), None, "é", "utf-16be"),
        # The HTTP header wins over <meta>.
        (b"<meta charset=koi8-r>" + CYRILLIC.encode("cp1251"), "windows-1251", None, "windows-1251"),
        ("日本語".encode("shift_jis"), "Shift_JIS", "日本語", "shift_jis"),
        ("héllo".encode("utf-16-le"), "utf-16le", "héllo", "utf-16le"),
        # <meta> in both of its forms.
        (b"<meta charset=windows-1251>" + CYRILLIC.encode("cp1251"), None, None, "windows-1251"),
        (
            b'<meta http-equiv="content-type" content="text/html; charset=koi8-r">' + CYRILLIC.encode("koi8-r"),
            None,
            None,
            "koi8-r",
        ),
        # <meta charset=utf-16> means UTF-8 (HTML standard, 13.2.3.2): it could not have been read otherwise.
        (b"<meta charset=utf-16>\xff", None, "<meta charset=utf-16>\ufffd", "utf-8"),
        # ISO-8859-1 and ASCII are other names of windows-1252 (Encoding standard, 4.2).
        (b"\x93quoted\x94 \x80", "latin1", "“quoted” €", "latin1"),
        (b"\x93quoted\x94 \x80", "us-ascii", "“quoted” €", "us-ascii"),
        # An unknown label is as good as none.
        (b"caf\xe9", "no-such-encoding", "café", "windows-1252"),
        (b"caf\xe9", "", "café", "windows-1252"),
        # Escapes are ASCII bytes.
        ("日本語".encode("iso2022_jp"), None, "日本語", "iso-2022-jp"),
    ],
)
def test_decode(data: bytes, charset: str | None, text: str | None, encoding: str) -> None:
    decoded, name = decode(data, charset)
    assert name == encoding
    if text is None:
        assert decoded.endswith(CYRILLIC)
    else:
        assert decoded == text


def test_the_byte_order_mark_is_no_text() -> None:
    assert decode(codecs.BOM_UTF8 + b"x")[0] == "x"
    assert decode(codecs.BOM_UTF8 + b"x", "latin-1")[0] == "x"
    assert decode(codecs.BOM_UTF8)[0] == ""


@pytest.mark.parametrize("charset", ["iso-8859-1", "shift_jis", None])
def test_valid_utf8_is_utf8_whatever_is_declared(charset: str | None) -> None:
    data = "<meta charset=iso-8859-2>Žluťoučký kůň".encode()
    assert decode(data, charset) == ("<meta charset=iso-8859-2>Žluťoučký kůň", "utf-8")


@pytest.mark.parametrize(
    "charset",
    [None, "utf-8", "utf-16", "shift_jis", "gb18030", "big5", "euc-kr", "iso-2022-jp", "iso-2022-kr", "x", "\0"],
)
@pytest.mark.parametrize(
    "data",
    [b"\xff", b"\x80\x81\xfe\xff", bytes(range(256)), b"\x00" * 9, b"\x1b$B\xff", b"\xff\xfe\xfd", b"\xed\xa0\x80"],
)
def test_it_never_fails(data: bytes, charset: str | None) -> None:
    text, encoding = decode(data, charset)
    assert isinstance(text, str)
    assert encoding
    assert not any("\ud800" <= character <= "\udfff" for character in text)


def test_what_cannot_be_decoded_is_marked() -> None:
    assert decode(b"<meta charset=utf-8>a\xffb")[0] == "<meta charset=utf-8>a\ufffdb"


@pytest.mark.parametrize("label", [" UTF-8 ", "utf8", "L1", "x-sjis", "GB2312", "cp1251"])
def test_labels_of_browsers_are_known(label: str) -> None:
    assert _codec_of_label(label) is not None


@pytest.mark.parametrize(
    "label", ["", "rot13", "hex", "zlib", "idna", "utf-7", "unicode_escape", "é", "a" * 10_000, "\0"]
)
def test_other_labels_are_not(label: str) -> None:
    assert _codec_of_label(label) is None


@pytest.mark.parametrize("url", ["http://[bad", "https://a:b:c/", "//[x", "http://exa mple/"])
@pytest.mark.parametrize("base", ["", "<base href=''>", "<base href='//['>"])
@pytest.mark.parametrize("format_", FORMATS)
def test_an_address_that_is_none_does_no_harm(url: str, base: str, format_: str) -> None:
    page = Page(f"{base}<p>Read <a href=more>more</a> of it.<img src=a.png alt=b>", url)
    assert "Read" in mainmatter.clean(page, method="ice-baseline").render(format_)


@pytest.mark.parametrize("html", ["<p \ud800=1>a\udc00b", "<p class=\ud800>a\ud800b", "<a href='\ud800'>a\ud800b"])
@pytest.mark.parametrize("format_", FORMATS)
def test_half_characters_are_replaced(html: str, format_: str) -> None:
    extraction = mainmatter.clean(html, method="ice-baseline")
    extraction.render(format_).encode()
    assert extraction.text == "a\ufffdb"
    assert [block.text for block in extraction.blocks] == ["a\ufffdb"]


def test_whole_characters_beyond_the_first_plane_stay() -> None:
    assert (
        mainmatter.clean("<p>\U0001f642 \ud83d\ude42 \ud83d", method="ice-baseline").text
        == "\U0001f642 \U0001f642 \ufffd"
    )
