"""An import, as a worker does it: read pages, add them to the store, tell how far it is."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mainmatter.errors import InputError, MainmatterError, PageTooLarge
from mainmatter.inputs.fetch import fetch
from mainmatter.inputs.paths import DUMP_ENDINGS, PAGE_ENDINGS
from mainmatter.limits import format_size
from mainmatter.workbench.choosing import without_folder
from mainmatter.workbench.labels import AnnotationError, Store
from mainmatter.workbench.labels.disagreement import disagreements
from mainmatter.workbench.labels.importing import FoundPage, add_found, read_inputs, read_rejected, whereabouts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mainmatter.limits import Limits
    from mainmatter.workbench.labels.importing import Addition

IMPORT_FOLDER = "import"
_REJECTS = "rejects"
# No lists of addresses (.urls): a client must not have the server fetch what it likes.
_ARCHIVES = (".warc", ".wet", ".jsonl", ".ndjson", ".parquet")
_PACKINGS = (".gz", ".zst")
_PAUSE = 0.2  # seconds between two words on progress
_LEAST = 1000  # bytes that a page takes in the database, however small it is
_MOST_REJECTS = 200  # that are told one by one
_MOST_ENTRIES = 500


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be imported; one of `files`, `url` and `entry`.

    Attributes:
        files: paths of uploaded files, each with the name that it had.
        url: an address.
        public_only: whether it must be a public one.
        root: the import folder.
        entry: the name of something in it.
        most: only so many pages, those that methods disagree on most; None for all.
        unpacked: how many bytes the pages of uploaded files may have together; None does not limit them. A small
            archive can hold so much that it fills the disk.
    """

    files: tuple[tuple[str, str], ...] = ()
    url: str | None = None
    public_only: bool = True
    root: str = ""
    entry: str = ""
    most: int | None = None
    unpacked: int | None = None


@dataclass
class _Count:
    """What was done so far; `write` tells the server."""

    path: Path
    read: int = 0
    added: int = 0
    known: int = 0
    rejected: int = 0
    rejects: list[dict[str, str]] = field(default_factory=list)
    share: float = 0.0
    told: float = 0.0

    def take(self, addition: Addition) -> None:
        """Count what came of a page."""
        self.read += 1
        if addition.page_id is None:
            self.reject(addition.name, addition.problem)
        else:
            self.added += addition.is_new
            self.known += not addition.is_new
        self.write()

    def reject(self, name: str, why: str) -> None:
        """Count a page that cannot be added."""
        self.rejected += 1
        if len(self.rejects) < _MOST_REJECTS:
            told = without_folder(why, self.path.parent.parent)
            self.rejects.append({"name": _writable(name), "why": _writable(told)})

    def write(self, *, at_once: bool = False) -> None:
        """Tell the server, now and then or at once."""
        now = time.monotonic()
        if now - self.told < _PAUSE and not at_once:
            return
        self.told = now
        draft = self.path.with_suffix(".new")
        draft.write_text(json.dumps(self.result()), "utf-8")
        draft.replace(self.path)

    def result(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        names = ("read", "added", "known", "rejected", "rejects", "share")
        return {name: getattr(self, name) for name in names}


def add_pages(database: str, wanted: Wanted, limits: Limits, progress: str) -> dict[str, Any]:
    """Import pages; gives what came of it.

    Raises:
        InputError: there is nothing to read, or it is not allowed.
        PageTooLarge: the upload unpacks to more than it may; the pages before that are added.
        MissingExtra: archives need the extra "corpus".
    """
    count = _Count(Path(progress))
    with Store(database) as store:
        found = _find(wanted, limits, count)
        if wanted.most is not None:
            found = _most_contested(found, wanted.most, limits, count)
        try:
            for addition in add_found(store, found, limits):
                count.take(addition)
        except PageTooLarge:
            count.write(at_once=True)
            raise
    count.share = 1.0
    if not count.read and not count.rejected:
        raise InputError(f"{wanted.entry or 'the upload'} holds no page")
    return count.result()


def _most_contested(found: Iterable[FoundPage], most: int, limits: Limits, count: _Count) -> Iterator[FoundPage]:
    """The pages that methods disagree on most; the others are read, and not added."""

    def note(one: FoundPage) -> None:
        count.read += 1
        if one.problem:
            count.reject(one.name, one.problem)
        count.write()

    chosen = disagreements(found, count=most, limits=limits, on_page=note)
    count.read = 0  # from here on they are counted once more, as they are added
    for one in chosen:
        page = one.found
        yield FoundPage(page.name, page.source, page.page, note=one.note)


def _find(wanted: Wanted, limits: Limits, count: _Count) -> Iterator[FoundPage]:
    if wanted.url is not None:
        page = fetch(wanted.url, limits=limits, public_only=wanted.public_only)
        yield FoundPage(page.url or wanted.url, wanted.url, page)
    elif wanted.entry:
        yield from _find_entry(Path(wanted.root), wanted.entry, limits, count)
    else:
        found = _read_files(wanted.files, limits, count)
        yield from found if wanted.unpacked is None else _bounded(found, wanted.unpacked)


def _bounded(found: Iterable[FoundPage], most: int) -> Iterator[FoundPage]:
    """The same pages, as long as they have no more than so many bytes together."""
    size = 0
    for one in found:
        size += _LEAST if one.page is None else max(_LEAST, len(one.page.html))
        if size > most:
            raise PageTooLarge(
                f"the upload unpacks to more than {format_size(most)}; send less at once, put it into the import "
                "folder, or start the server with a larger --max-unpacked"
            )
        yield one


def _find_entry(root: Path, entry: str, limits: Limits, count: _Count) -> Iterator[FoundPage]:
    if entry not in entries(root):
        raise InputError(f"there is no {entry!r} in the import folder")
    path = root / entry
    if _is_corpus(path):
        yield from _read_rejects(root, path, limits)
    elif path.is_dir():
        yield from _read_files(_files_below(root, path), limits, count)
    else:
        yield from _read_files([(str(path), entry)], limits, count)


def _read_files(files: Sequence[tuple[str, str]], limits: Limits, count: _Count) -> Iterator[FoundPage]:
    """Read files; what is said of them names them as people know them, and not where they lie."""
    if not files:
        raise InputError("there are no pages, dumps or archives in it")
    sizes = [Path(path).stat().st_size + 1 for path, _ in files]
    done = 0
    for (path, shown), size in zip(files, sizes, strict=True):
        tell = _renamer(path, shown)
        try:
            for one in read_inputs([path], limits):
                yield FoundPage(tell(one.name), tell(one.source), one.page, tell(one.problem), one.note)
        except MainmatterError as error:  # of a whole file; the others can still be read
            yield FoundPage(shown, shown, None, tell(str(error)))
        done += size
        count.share = done / sum(sizes)


def _renamer(path: str, shown: str) -> Callable[[str], str]:
    return lambda text: text.replace(path, shown)


def entries(root: Path) -> dict[str, str]:
    """What lies in the import folder, with a word on each; by name.

    A link that the operator put there is followed: it says that its target may be read.
    """
    found: dict[str, str] = {}
    if not root.is_dir():
        return found
    for path in sorted(root.iterdir())[:_MOST_ENTRIES]:
        name = path.name
        if name.startswith(".") or not name.isprintable():
            continue
        if _is_corpus(path):
            found[name] = "rejects of a corpus"
        elif path.is_dir():
            found[name] = "folder"
        elif path.is_file() and ending_of(name):
            found[name] = format_size(path.stat().st_size)
    return found


def ending_of(name: str) -> str:
    """The ending that tells what a file is, with that of its packing; "" if it is none that we read."""
    lower = name.lower()
    packing = next((each for each in _PACKINGS if lower.endswith(each)), "")
    plain = lower.removesuffix(packing)
    known = (*PAGE_ENDINGS, *DUMP_ENDINGS, *_ARCHIVES)
    ending = next((each for each in known if plain.endswith(each)), "")
    if not ending or (packing == ".zst" and ending not in _ARCHIVES):
        return ""
    return ending + packing


def _is_corpus(path: Path) -> bool:
    return any((path / _REJECTS).glob("part-*.jsonl")) if path.is_dir() else False


def _files_below(root: Path, folder: Path) -> list[tuple[str, str]]:
    """The pages, dumps and archives below a folder, but for what a link deeper down would lead out to."""
    allowed = _allowed(root)
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(parent, name)
            if ending_of(name) and path.is_file() and _is_below(path, allowed):
                found.append((str(path), str(Path(folder.name) / path.relative_to(folder))))
    return found


def _read_rejects(root: Path, corpus: Path, limits: Limits) -> Iterator[FoundPage]:
    """The pages that a corpus run rejected, if their archives are in the import folder, too."""
    allowed = _allowed(root)
    folders = [root, *(path for path in sorted(root.iterdir()) if path.is_symlink() and path.is_dir())]
    sources = sorted(_sources_of_rejects(corpus))
    where = whereabouts(str(corpus), sources, folders, allowed)
    if sources and not any(where.find(source) for source in sources):
        raise AnnotationError(
            f"the rejected pages are in {Path(sources[0]).name}{' and others' * (len(sources) > 1)}, which is not in "
            "the import folder; put it there, or a link to its folder"
        )
    roots = sorted((str(each) for each in (root, *allowed)), key=len, reverse=True)
    for one in read_rejected(str(corpus), limits=limits, folders=folders, within=allowed):
        place = _without(roots, one.source).rpartition("#")[0]
        hidden = [*roots, str(Path(place).parent)] if Path(place).is_absolute() else roots  # where it was once
        name, source, problem = (_without(hidden, text) for text in (one.name, one.source, one.problem))
        yield FoundPage(name, source, one.page, problem, one.note)


def _without(roots: Sequence[str], text: str) -> str:
    """A text that does not tell where things lie on the server."""
    for root in roots:
        text = text.replace(f"{root}/", "")
    return text


def _sources_of_rejects(corpus: Path) -> set[str]:
    sources = set()
    for file in (corpus / _REJECTS).glob("part-*.jsonl"):
        for line in file.read_bytes().splitlines():
            try:
                sources.add(str(json.loads(line)["source"]))
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{file.name}: cannot be read as a file of rejects: {error}") from error
    return sources


def _allowed(root: Path) -> list[Path]:
    """The import folder, and what the links in it lead to."""
    return [root.resolve(), *(path.resolve() for path in root.iterdir() if path.is_symlink())]


def _is_below(path: Path, allowed: Sequence[Path]) -> bool:
    real = path.resolve()
    return any(real.is_relative_to(each) for each in allowed)


def _writable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
