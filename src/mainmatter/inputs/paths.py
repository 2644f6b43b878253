"""Find and read what users name: a file, a folder, a URL, or `-` for standard input."""

from __future__ import annotations

import io
import os
import stat
import sys
import zlib
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mainmatter.errors import InputError, NotAPage
from mainmatter.html.sniff import SNIFFED, looks_like_html, refusal, what_else
from mainmatter.inputs.fetch import fetch, is_url
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.records import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

STANDARD_INPUT = "-"
PAGE_ENDINGS = frozenset((".html", ".htm", ".xhtml", ".shtml", ".php", ".asp", ".aspx", ".jsp"))
DUMP_ENDINGS = frozenset((".txt", ".text"))
GZIP_ENDING = ".gz"
# Other files that are common in folders of pages. In a folder, they are skipped by their names alone.
OTHER_ENDINGS = frozenset(
    (
        ".avif .bmp .css .csv .doc .docx .eot .epub .exe .gif .ico .jpeg .jpg .js .json .less .map .markdown .md .mjs "
        ".mov .mp3 .mp4 .odt .ogg .otf .pdf .png .ppt .pptx .ps .py .rst .rtf .scss .svg .tif .tiff .tsv .ttf .wasm "
        ".wav .webm .webp .woff .woff2 .xls .xlsx .yaml .yml .zip"
    ).split()
)
FOLLOW = "--follow-links follows them, wherever they lead"
_MOST_ENDINGS = 8  # of skipped files, to name
_COLLECTION_ENDINGS = frozenset((".warc", ".wet", ".jsonl", ".ndjson", ".parquet"))
_GZIP = b"\x1f\x8b"
_CHUNK = 65_536
_LONGEST_NAME = 4096  # characters, of a path or a URL
_MOST_MEMBERS = 10_000  # of a gzip file: packers in parallel make one for 64 KB at most


@dataclass(frozen=True, slots=True)
class Input:
    """Something that a page can be read from.

    Attributes:
        name: what the user calls it: a path, a URL, or `-`.
        relative: where its result goes below an output folder.
        format: "html", "text", or None to tell by the name's ending, or for a URL by what the server says.
        fetch: how a URL is fetched, if not by `inputs.fetch.fetch`: takes the URL, `limits` and `public_only`.
        public_only: whether a URL may lead to public addresses only.
    """

    name: str
    relative: Path
    format: str | None = None
    fetch: Callable[..., Page] | None = None
    public_only: bool = True

    def read(self, limits: Limits = DEFAULT_LIMITS) -> Page:
        """Read the page, but no more than the limits allow: a pipe or a device may have no end.

        Raises:
            InputError: it cannot be read, or is neither a page nor a dump.
            PageTooLarge: it is over the limits.
        """
        if is_url(self.name):
            page = (self.fetch or fetch)(self.name, limits=limits, public_only=self.public_only)
        else:
            page = self.read_here(limits)
        return page if self.format is None else replace(page, format="text" if self.format == "text" else "html")

    def read_here(self, limits: Limits = DEFAULT_LIMITS) -> Page:
        """The same, but never from the network: a file, compressed with gzip or not, or standard input."""
        try:
            if self.name == STANDARD_INPUT:
                data = sys.stdin.buffer.read(limits.size + 1)
            else:
                with Path(self.name).open("rb") as file:
                    data = file.read(limits.size + 1)
        except (OSError, ValueError) as error:  # ValueError: a name that no file can have
            raise InputError(f"{self.name}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
        is_dump = ending_of(self.name) in DUMP_ENDINGS
        data = page_bytes(data, f"{self.name}:", limits, is_text=is_dump or self.format == "text")
        limits.check_size(len(data), self.name)
        printable_name = os.fsencode(self.name).decode("utf-8", "replace")
        return Page(data, None, printable_name, format="text" if is_dump else "html")


def read_file(path: str | os.PathLike[str], limits: Limits = DEFAULT_LIMITS) -> Page:
    """Read the page in a file; `-` is standard input.

    Raises:
        InputError: it cannot be read, or is neither a page nor a dump.
        PageTooLarge: it is over the limits.
    """
    _need_name(path)
    name = os.fsdecode(path)
    if is_url(name):
        refuse_name(name)
    if "<" in name and not os.path.exists(name):  # noqa: PTH110 - quietly, where no file can have that name
        raise InputError("this is a page, not a file name; pass it to mainmatter.clean")
    return Input(name, Path(name)).read_here(limits)


def _need_name(path: object) -> None:
    if not isinstance(path, str | os.PathLike):
        what = "; to clean an open file, pass its read() to mainmatter.clean" if hasattr(path, "read") else ""
        what = "; to clean a page itself, use mainmatter.clean" if isinstance(path, bytes | bytearray | Page) else what
        raise InputError(f"a file name must be str or a Path, not {type(path).__name__}{what}")


def refuse_name(text: str | bytes) -> None:
    """Refuse a name that is given as a page: a URL, a folder, a file that exists or has the ending of a page.

    Only a short text of one line is looked up on the disk. A single word, such as "docs", is not taken for a folder.

    Raises:
        InputError: it is such a name.
    """
    name = _one_line(text)
    if not name:
        return
    is_one_word = len(name.split()) == 1
    if names_url(name):
        other = (
            ""
            if is_one_word
            else ", with %20 for spaces, or if it is the whole text of a page, pass it as a mainmatter.Page"
        )
        raise InputError(f"{name}: is a URL, not a page; fetch and clean it with mainmatter.clean_url{other}")
    if (is_one_word and ending_of(name) in PAGE_ENDINGS | DUMP_ENDINGS) or os.path.isfile(name):  # noqa: PTH113
        raise InputError(
            f"{name}: is a file name, not a page; read and clean it with mainmatter.clean_file, "
            "or if it is the whole text of a page, pass it as a mainmatter.Page"
        )
    if (os.sep in name or "/" in name) and os.path.isdir(name):  # noqa: PTH112
        raise InputError(
            f"{name}: is a folder name, not a page; clean its pages with mainmatter.clean_many, "
            "as in clean_many(Path(folder).rglob('*.html'))"
        )


def names_url(text: str | bytes) -> bool:
    """Whether what is given as a page is in fact a URL: one line that begins as URLs do, also with "www."."""
    name = _one_line(text)
    return is_url(name) or (name.lower().startswith("www.") and len(name.split()) == 1 and "." in name[4:])


def _one_line(text: str | bytes) -> str:
    """A text that may be a name, since it is short, has one line and no markup; else ""."""
    if len(text) > _LONGEST_NAME:
        return ""
    try:
        name = (text if isinstance(text, str) else text.decode()).strip()
    except UnicodeDecodeError:
        return ""
    return name if "<" not in name and len(name.splitlines()) == 1 else ""


@dataclass(frozen=True, slots=True)
class FoundInputs:
    """What names stand for.

    Attributes:
        inputs: what pages can be read from.
        passed_over: the files of folders that are something else, in no order.
        links: the links to files in folders, if they are not followed, in no order.
    """

    inputs: list[Input]
    passed_over: list[str]
    links: list[str]

    def why_links(self) -> str:
        """A sentence about the links that were not followed; "" if there are none."""
        count = len(self.links)
        if not count:
            return ""
        return f"{count:,} link{'s' * (count > 1)} to files {'were' if count > 1 else 'was'} not followed; {FOLLOW}"

    def why_passed_over(self) -> str:
        """A sentence about the files that were passed over; "" if there are none."""
        if not self.passed_over:
            return ""
        count = len(self.passed_over)
        endings = Counter(ending_of(name) or "without an ending" for name in self.passed_over)
        by_number = sorted(endings.items(), key=lambda item: (-item[1], item[0]))
        listed = [f"{number:,} {ending}" for ending, number in by_number[:_MOST_ENDINGS]]
        if len(endings) > _MOST_ENDINGS:
            listed.append("others")
        is_are = "1 file was" if count == 1 else f"{count:,} files were"
        advice = (
            "; for archives, JSONL and Parquet, use `mainmatter corpus`" if _COLLECTION_ENDINGS & set(endings) else ""
        )
        return f"{is_are} skipped, by ending or content neither page nor text dump: {', '.join(listed)}{advice}"


def page_bytes(
    data: bytes, name: str, limits: Limits, *, is_text: bool = False, reader: str = "`mainmatter corpus`"
) -> bytes:
    """The bytes of a page, decompressed if need be, and at most one more than the limits allow.

    Args:
        data: the bytes of a file.
        name: what an error calls it, as in "a.html:" or "this".
        limits: how large a page may be.
        is_text: it is a plain-text dump, which may begin as JSON does.
        reader: what an error says reads collections of pages.

    Raises:
        NotAPage: it is neither a page nor a dump, or cannot be decompressed.
        PageTooLarge: it is over the limits even before it is decompressed.
    """
    try:
        words = what_else(_gunzip(data, SNIFFED) if data.startswith(_GZIP) else data, is_text=is_text)
        if words is None and data.startswith(_GZIP):
            limits.check_size(len(data), name.removesuffix(":"))
            data = _gunzip(data, limits.size + 1)
    except zlib.error as error:
        limits.check_size(len(data), name.removesuffix(":"))  # it may have been cut
        raise NotAPage(f"{name} is a gzip archive that cannot be unpacked: {error}") from error
    if words is None:
        return data
    raise NotAPage(f"{name} {refusal(words, reader)}")


def _gunzip(data: bytes, most: int) -> bytes:
    """The content of a gzip file of one or more members, but no more than so many bytes of it.

    Raises:
        zlib.error: it is damaged, or ends too early.
    """
    file, packed, parts = io.BytesIO(data), b"", []
    unpack, members, is_begun = zlib.decompressobj(31), 0, False
    while most > 0 and (packed := packed or file.read(_CHUNK)):
        if members and not is_begun and not (packed := packed.lstrip(b"\0")):  # some writers fill up with zeros
            continue
        parts.append(unpack.decompress(packed, most))
        most -= len(parts[-1])
        packed, is_begun = unpack.unconsumed_tail, not unpack.eof
        if unpack.eof:
            packed = unpack.unused_data
            unpack = zlib.decompressobj(31)
            members += 1
            if members > _MOST_MEMBERS:
                raise zlib.error(f"it has more than {_MOST_MEMBERS:,} members")
    if is_begun and most > 0:
        raise zlib.error("it ends too early")
    return b"".join(parts)


def find_inputs(
    names: Iterable[str],
    format: str | None = None,  # the word users know
    *,
    follow_links: bool = False,
) -> list[Input]:
    """All inputs that the names stand for; a folder stands for the pages and dumps below it, sorted.

    Files whose ending tells neither that they are pages nor that they are something else are pages if they begin as
    HTML does. Folders below it whose name begins with a dot (.git, .venv) are left out, and so are links to folders.

    Args:
        names: files, folders, URLs, or `-` for standard input.
        format: "html" or "text", if it is not to be told by the names.
        follow_links: also read links to files that are in a folder. They may lead anywhere, so a folder of somebody
            else's may hold links to what you do not want to read. A link that you name yourself is always followed.

    Raises:
        InputError: there is no such file or folder, a folder holds no page or cannot be read, or a name is empty.
    """
    return look_through(names, format, follow_links=follow_links).inputs


def look_through(
    names: Iterable[str],
    format: str | None = None,
    *,
    follow_links: bool = False,
) -> FoundInputs:
    """The same as `find_inputs`, with what was passed over in folders.

    Raises:
        InputError: there is no such file or folder, a folder holds no page or cannot be read, or a name is empty.
    """
    found = FoundInputs([], [], [])
    for name in names:
        if not name:  # for Path that is the current folder
            raise InputError("an input's name is empty; name a file, a folder, a URL, or - for standard input")
        path = Path(name)
        if is_url(name):
            found.inputs.append(Input(name, Path(_file_name(name)), format))
        elif name == STANDARD_INPUT:
            found.inputs.append(Input(name, Path("page"), format))
        elif path.is_dir():
            _find_in_folder(path, format, found, follow_links=follow_links)
        elif path.exists():
            found.inputs.append(Input(name, _unpacked(Path(path.name)), format))
        else:
            raise InputError(f"{name}: no such file or folder")
    return found


def _find_in_folder(
    folder: Path,
    format: str | None,
    found: FoundInputs,
    *,
    follow_links: bool,
) -> None:
    pages: list[Path] = []
    for path in _walk(folder):
        if not follow_links and os.path.islink(path) and os.path.isfile(path):  # noqa: PTH113, PTH114 - quick
            found.links.append(path)
            continue
        is_page = _is_page(path)
        if is_page:
            pages.append(Path(path))
        elif is_page is not None:
            found.passed_over.append(path)
    if not pages:
        endings = " ".join(sorted(PAGE_ENDINGS | DUMP_ENDINGS))
        links = f"; {found.why_links()}" if found.links else ""
        raise InputError(f"{folder}: holds no page; looked for files that end in {endings}{links}")
    found.inputs.extend(Input(str(file), _unpacked(file.relative_to(folder)), format) for file in sorted(pages))


def _unpacked(path: Path) -> Path:
    """A path without the ending that says that a page is packed."""
    return path.with_suffix("") if path.suffix.lower() == GZIP_ENDING else path


def _is_page(path: str) -> bool | None:
    """Whether a file of a folder is a page or a dump: by its ending, or else by how it begins; None for no file.

    What cannot be read counts as one, and so does a broken link with such an ending: reading it raises the error.
    """
    ending = ending_of(path)
    if ending in OTHER_ENDINGS:
        return False
    is_named = ending in PAGE_ENDINGS or ending in DUMP_ENDINGS
    try:
        state = os.stat(path)  # noqa: PTH116 - quick, for millions of files
    except FileNotFoundError:
        return is_named if os.path.islink(path) else None  # noqa: PTH114
    except OSError:
        return True
    return (is_named or _begins_as_html(path)) if stat.S_ISREG(state.st_mode) else None


def _begins_as_html(path: str) -> bool:
    """Whether a file begins as pages do, or cannot be read: reading it raises the error."""
    try:
        with io.FileIO(path) as file:
            head = file.read(SNIFFED)
        if head.startswith(_GZIP):
            head = zlib.decompressobj(31).decompress(head, SNIFFED)  # it is cut, so `_gunzip` might complain
    except zlib.error:
        return False
    except OSError:
        return True
    return what_else(head) is None and looks_like_html(head)


def ending_of(name: str) -> str:
    """The ending of a file's name, in lower case, with its dot; that of a.html.gz is .html."""
    stem, last = os.path.splitext(name)  # noqa: PTH122 - quick, for millions of files
    return (os.path.splitext(stem)[1] if last.lower() == GZIP_ENDING else last).lower()  # noqa: PTH122


def _walk(folder: Path) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        raise InputError(f"{error.filename}: cannot be read: {error.strerror or error}") from error

    for parent, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = (name for name in folders if not name.startswith("."))  # where os.walk goes next
        yield from (os.path.join(parent, name) for name in files)  # noqa: PTH118


def _file_name(url: str) -> str:
    """A name for the file that a URL's result goes to."""
    letters = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in url.partition("://")[2])
    name = letters.strip("._")[:150] or "page"
    return name if Path(name).suffix.lower() in PAGE_ENDINGS | DUMP_ENDINGS else f"{name}.html"
