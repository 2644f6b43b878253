"""What is no page is refused, whatever door it comes to, and no page is."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import sqlite3
import tarfile
import timeit
import zipfile
import zlib
from functools import partial
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clean_calls import mainmatter as run
from mainmatter import Page, read
from mainmatter.errors import NotAPage
from mainmatter.html import sniff
from mainmatter.html.parse import decode, decode_page

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).parents[1]
PAGES = sorted([*TESTS.rglob("*.html"), *TESTS.rglob("*.txt"), *(TESTS.parent / "examples").rglob("*.html")])
TEXT = {
    "shift_jis": "今日は天気がいいので、子供たちと公園へ散歩に行きます。楽しみです。カタカナもあります。",
    "gb18030": "今天天气很好，我们带孩子去公园散步。很高兴认识你，希望以后常联系。再见，祝你一切都好。",
    "koi8-r": "Сегодня хорошая погода, и мы идём гулять в парк с детьми.",
    "windows-1252": "Über die Brücke gehen täglich viele Fußgänger, größtenteils Schüler.",
    "windows-1256": "مرحبا بالعالم، اليوم الطقس جميل ونحن ذاهبون إلى الحديقة مع الأطفال",
    "euc-kr": "오늘은 날씨가 좋아서 아이들과 공원에 산책하러 갑니다. 내일도 날씨가 좋을 것 같습니다.",
}


def refusal(page: Page) -> str:
    with pytest.raises(NotAPage) as caught:
        read(page)
    return str(caught.value)


def random_bytes() -> Iterator[bytes]:
    """A thousand byte strings, of 64 bytes to 100 kB."""
    rng = random.Random(14)
    for number in range(1000):
        yield rng.randbytes(64 + number % 64 if number % 2 else int(64 * 1500 ** rng.random()))


def test_random_bytes_are_refused() -> None:
    for data in random_bytes():
        message = refusal(Page(data, charset=random.Random(len(data)).choice([None, "utf-8", "windows-1251"])))
        assert message == (
            "the page is neither HTML nor text, not a web page; give HTML, or a plain-text dump of a page"
        )


@pytest.mark.parametrize("codec", ["latin-1", "utf-8", "cp1251"])
def test_random_bytes_are_refused_as_text_that_somebody_has_decoded(codec: str) -> None:
    for data in random_bytes():
        if len(data) > 200:
            refusal(Page(data.decode(codec, "replace")))


@given(st.integers(64, 3000), st.randoms(use_true_random=False), st.sampled_from(["html", "text"]))
def test_no_random_bytes_pass(size: int, rng: random.Random, format: str) -> None:
    refusal(Page(rng.randbytes(size), format="text" if format == "text" else "html"))


def archive_of(kind: str) -> bytes:
    """Some hundred pages, packed."""
    pages = b"".join(b"<p>Page %d</p>" % number for number in range(300))
    file = io.BytesIO()
    match kind:
        case "tar":
            with tarfile.open(fileobj=file, mode="w") as tar:
                tar.add(TESTS / "pages" / "river.html", "river.html")
        case "zip":
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
                packed.writestr("a.html", pages)
        case "numpy":
            np.save(file, np.arange(1000))
        case "sqlite":
            connection = sqlite3.connect(":memory:")
            connection.execute("create table page (html)")
            file.write(connection.serialize())
        case "pickle":
            file.write(b"\x80\x04\x95" + bytes(range(256)) * 4)
        case _:
            file.write({"gzip": gzip, "bz2": bz2, "xz": lzma, "zlib": zlib}[kind].compress(pages))
    return file.getvalue()


@pytest.mark.parametrize(
    ("kind", "words", "advice"),
    [
        ("gzip", "a gzip archive", "unpack it first"),
        ("bz2", "a bzip2 archive", "unpack it first"),
        ("xz", "an xz archive", "unpack it first"),
        ("zip", "a ZIP archive or an Office document", "unpack it first"),
        ("tar", "a tar archive", "unpack it first"),
        ("numpy", "a NumPy array", "give HTML"),
        ("sqlite", "an SQLite database", "give HTML"),
        ("zlib", "neither HTML nor text", "give HTML"),
        ("pickle", "neither HTML nor text", "give HTML"),
    ],
)
def test_archives_and_data_are_refused(kind: str, words: str, advice: str) -> None:
    data = archive_of(kind)
    for page in (Page(data, "https://e.example/a"), Page(data, format="text", id="https://e.example/a")):
        assert refusal(page).startswith(f"https://e.example/a: is {words}, not a web page; {advice}")


def test_packed_data_that_lost_its_beginning_is_refused() -> None:
    rng = random.Random(3)
    data = bytes(round(rng.gauss(128, 40)) % 256 for _ in range(40_000))  # as a picture's points vary
    for packed in (zlib.compress(data), bz2.compress(data), lzma.compress(data)):
        for start in (20, 1000, 20_000):
            refusal(Page(packed[start:]))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        *sniff.MAGIC_NUMBERS.items(),
        (b"RIFF\x24\x08\0\0WEBPVP8 ", "a WebP picture"),
        (b"RIFF\x24\x08\0\0WAVEfmt ", "a sound"),
        (b"RIFF\x24\x08\0\0AVI LIST", "a film"),
        (b"\0\0\0\x1cftypavif\0\0", "a picture"),
        (b"\0\0\0\x20ftypisom\0\0", "a sound or a film"),
        (b"BM\x36\x84\3\0\0\0\0\0\x36\0", "a BMP picture"),
        (b"WARC/1.1\r\nWARC-Type: response\r\n", "a WARC archive"),
    ],
)
def test_files_that_are_told_by_how_they_begin(data: bytes, words: str) -> None:
    assert f" is {words}, not a web page; " in refusal(Page(data))
    assert f" is {words}, not a web page; " in refusal(Page(data + b"<p>words and words</p>" * 10, format="text"))


def test_collections_are_for_the_command_that_reads_them() -> None:
    assert refusal(Page(b"WARC/1.0\r\n")).endswith("; for collections of pages, use `mainmatter corpus`")


def test_a_picture_is_refused_as_text_that_somebody_has_decoded() -> None:
    assert " is a PNG picture, " in refusal(Page(b"\x89PNG\r\n\x1a\n".decode("latin-1")))
    assert " is a PDF document, " in refusal(Page(b"%PDF-1.4\n\xe2\xe3".decode("utf-8", "replace")))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_page_is_refused(path: Path) -> None:
    data = path.read_bytes()
    text = decode_page(Page(data))[0]
    assert decode_page(Page(text)) == (text, None)
    for encoding in ("utf-16-le", "utf-16-be", "shift_jis", "gb18030", "koi8-r", "latin-1"):
        for charset in (None, "utf-8", "windows-1251"):
            encoded = text.encode(encoding, "replace")
            decoded, name = decode_page(Page(encoded, charset=charset))
            if encoding.startswith("utf-16"):
                assert (name, decoded) == (encoding.replace("16-", "16"), text)


@pytest.mark.parametrize("encoding", TEXT)
@pytest.mark.parametrize("repeated", [1, 3, 300])
def test_no_text_in_another_encoding_is_refused(encoding: str, repeated: int) -> None:
    text = TEXT[encoding] * repeated
    for charset in (None, "utf-8", encoding, "gb18030"):
        decode_page(Page(text.encode(encoding), charset=charset, format="text"))
    for utf16 in ("utf-16-le", "utf-16-be", "utf-16"):
        assert decode_page(Page(text.encode(utf16), charset="utf-8", format="text"))[0] == text


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\1\2",
        bytes(63),
        b"<html>" + bytes(5000),
        b"<p>" + random.Random(1).randbytes(5000),
        b"\xff\1\2\3" * 30 + b"<div>words</div>" * 20,
        b"words and words " * 500 + bytes(200),
        b"N\bNA\bAM\bME\bE\n" * 50,  # as manuals are printed
        b"\x1b[1mbold\x1b[0m " * 50,
        b"GIF",
        b"BZh is a name",
        b"PKs and FKs",
        b"WARC/WET files are text",
        b"BM and other files" * 9,
        b"RIFF, said the guitar",
        b'<img src="data:image/png;base64,' + b"iVBORw0KGgo" * 500 + b'">',
    ],
)
def test_what_stays_a_page(data: bytes) -> None:
    assert decode_page(Page(data)) == decode(data)


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        ("\1" * 3 + "a" * 97, False),
        ("\1" * 4 + "a" * 96, True),
        ("\1" * 2 + "a" * 61, False),  # too short to tell
        ("\1" * 2 + "a" * 62, True),
        ("\1" + "a" * 63, False),
        ("\x1b\x0e\x0f\b\f\v" * 20, False),
        ("\x7f" * 64, True),
        ("\1" * 1000 + "<b>x</b>" * 1, True),
        ("\1" * 1000 + "<b>x</b><i>", False),
        ("\1" * 2989 + "<b>x</b><i>", False),  # 3 tags in 3,000 characters
        ("\1" * 2990 + "<b>x</b><i>", True),
        ("\1" * 100_000 + "<b>x</b><i>" * 1000, True),  # tags are looked for at the beginning
    ],
)
def test_how_many_control_characters_a_text_may_have(text: str, is_refused: bool) -> None:
    for page in (Page(text), Page(text.encode()), Page(text.encode(), charset="windows-1252")):
        if is_refused:
            refusal(page)
        else:
            decode_page(page)


def test_how_many_characters_of_a_text_may_be_unusual() -> None:
    assert sniff.is_usual("\ue123" * 5 + "語" * 95)
    assert not sniff.is_usual("\ue123" * 6 + "語" * 94)


def test_random_bytes_are_refused_also_as_utf16() -> None:
    for data in random_bytes():
        if len(data) > 200:
            refusal(Page(b"\xff\xfe" + data))
            refusal(Page(data, charset="utf-16"))


def test_short_bytes_that_fit_no_encoding_are_refused_without_any_control_character() -> None:
    rng = random.Random(5)
    noise = bytes(rng.choices([*range(0x21, 0x7F), *range(0x80, 0x100)], k=511))
    assert not sniff.has_controls(noise)
    refusal(Page(noise))
    refusal(Page(noise[:64]))
    decode_page(Page(noise[:63]))
    decode_page(Page(noise + b"x"))  # long ones would have some
    decode_page(Page(noise[:80] + b"x" * 200))  # few of the bytes are high


def test_how_many_bytes_are_high_where_they_fit_no_encoding() -> None:
    rng = random.Random(1)
    data = bytes(byte for _ in range(25) for byte in (rng.randrange(0x80, 0x100), *rng.choices(range(0x21, 0x40), k=3)))
    refusal(Page(data))
    decode_page(Page(b"a" + data[1:]))


def test_of_a_long_page_a_sample_is_looked_at() -> None:
    decode_page(Page("a\1\1" * 1000))  # each third character
    refusal(Page("a\1\1" * 682))  # all


def test_a_page_costs_next_to_nothing_more() -> None:
    """The figure of the documentation is 0.01 ms; this only finds what takes time in proportion to the page."""
    page = b"<p>Some words of a text, and a few more.</p>\n" * 20
    large = page * 1000
    seconds = [
        min(timeit.repeat(partial(sniff.has_controls, data), process_time, repeat=20, number=20))
        for data in (page, large)
    ]
    assert seconds[1] < 20 * seconds[0]


def test_the_command_refuses_it(tmp_path: Path) -> None:
    (tmp_path / "noise.html").write_bytes(random.Random(1).randbytes(3000))
    for command in ("clean", "explain"):
        result = run(command, tmp_path / "noise.html")
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith(f"Error: {tmp_path}/noise.html: is neither HTML nor text, not a web page; ")
