"""Importing pages into the workbench: uploads, an address, and what the operator put into the import folder.

Nothing that a client sends is a path: an uploaded file gets a name of our own, and an entry of the import folder is
chosen by its name in the list. Imports run one after the other, in a process of their own, so that all workers stay
free for other requests.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import tempfile
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Form, Request, UploadFile
from fastapi import File as FormFile
from fastapi import Path as PathParameter
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from mainmatter.corpus.folder import REJECTS, Folder
from mainmatter.corpus.records import Reject
from mainmatter.corpus.typed_json import parse
from mainmatter.errors import InputError, MainmatterError, PageTooLarge
from mainmatter.inputs.fetch import DEADLINE, fetch, is_url
from mainmatter.inputs.paths import DUMP_ENDINGS, PAGE_ENDINGS
from mainmatter.limits import Limits, format_size
from mainmatter.workbench.choosing import without_folder
from mainmatter.workbench.corpus import LONGEST_NAME, LeastSure, PageChoice, path_of
from mainmatter.workbench.labels import AnnotationError, Store
from mainmatter.workbench.labels.disagreement import disagreements
from mainmatter.workbench.labels.importing import FoundPage, add_found, input_locations, read_inputs, read_rejected
from mainmatter.workbench.labels.records import CannotStore, NoSuchImport
from mainmatter.workbench.reading import StrictModel
from mainmatter.workbench.workbench import Workbench, workbench_of
from mainmatter.workbench.workers import CANNOT_WRITE, Busy, Workers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mainmatter.workbench.labels.importing import Addition

SECONDS = 3600.0  # that an import may take
NICENESS = 10  # pages that people look at go first
MOST_FILES = 1000  # in one upload
MOST_REMEMBERED = 100  # imports
MOST_RUNNING = 20  # imports that run or wait for their turn: what was uploaded lies on the disk until then
_LEFT_AFTER = 86_400  # seconds after which nobody can be at work in a temporary folder any more
_PROGRESS = "progress.json"
_LONGEST_NAME = 300
IMPORT_FOLDER = "import"
# No lists of addresses (.urls): a client must not have the server fetch what it likes.
_ARCHIVES = (".warc", ".wet", ".jsonl", ".ndjson", ".parquet")
_PACKINGS = (".gz", ".zst")
_PAUSE = 0.2  # seconds between two words on progress
_LEAST = 1000  # bytes that a page takes in the database, however small it is
_MOST_REJECTS = 200  # that are told one by one
_MOST_ENTRIES = 500

router = APIRouter(prefix="/imports")


class RejectModel(BaseModel):
    """Something that was not added."""

    name: str
    why: str


class ImportAnswer(BaseModel):
    """An import and its progress."""

    id: str
    what: str
    state: Literal["running", "done", "failed"]
    share: float = Field(description="How much of it is done, from 0 to 1.")
    read: int
    added: int
    known: int
    rejected: int
    rejects: list[RejectModel] = Field(description="The first of them.")
    message: str


class UrlImport(StrictModel):
    """A page to fetch from the web."""

    url: str = Field(max_length=4000, examples=["https://example.org/"])


class FolderImport(StrictModel):
    """Something in the workbench's import folder."""

    name: str = Field(max_length=500, description="One of the entries that GET lists.")
    most: int | None = Field(
        None, ge=1, le=1000, description="Only this many pages: those that methods disagree on most."
    )


class CorpusImport(PageChoice):
    """The pages of a corpus that its method was least sure of, among those that the filters select."""

    name: str = Field(max_length=LONGEST_NAME, description="A corpus, as /api/corpora names it.")
    most: int = Field(20, ge=1, le=1000, description="How many.")


class EntryModel(BaseModel):
    """Something in the workbench's import folder."""

    name: str
    about: str


class EntriesAnswer(BaseModel):
    """What is in the workbench's import folder."""

    entries: list[EntryModel]


@dataclass(frozen=True, slots=True)
class ImportTask:
    """What to import; one of `files`, `url`, `entry` and `least_sure`.

    Attributes:
        files: paths of uploaded files, each with its original name.
        url: an address.
        public_only: whether it must be a public one.
        root: the import folder.
        entry: the name of something in it.
        least_sure: pages of a corpus.
        most: only this many pages, those that methods disagree on most; None for all.
        unpacked: how many bytes the pages of uploaded files may have together; None does not limit them. A small
            archive can unpack to so much that it fills the disk.
    """

    files: tuple[tuple[str, str], ...] = ()
    url: str | None = None
    public_only: bool = True
    root: str = ""
    entry: str = ""
    least_sure: LeastSure | None = None
    most: int | None = None
    unpacked: int | None = None


@dataclass
class Import:
    """An import and its progress.

    Attributes:
        id: its name, which nobody can guess.
        what: what is imported, in words.
        folder: where its progress and the uploaded files are.
        state: whether it runs or, if it does not, how it ended.
        told: the worker's last report.
        message: anything else to report.
    """

    id: str
    what: str
    folder: Path
    state: Literal["running", "done", "failed"] = "running"
    told: dict[str, Any] = field(default_factory=dict)
    message: str = ""

    async def look(self) -> None:
        """Read how far it is."""
        try:
            told = json.loads(await run_in_threadpool((self.folder / _PROGRESS).read_text, "utf-8"))
        except (OSError, ValueError):  # nothing yet, or nothing any more
            return
        if self.state == "running":  # still: else the last word is known
            self.told = told

    def answer(self) -> ImportAnswer:
        """The import as clients see it."""
        told: dict[str, Any] = {
            "share": 0.0,
            "read": 0,
            "added": 0,
            "known": 0,
            "rejected": 0,
            "rejects": [],
        } | self.told
        if self.state == "done":
            told["share"] = 1.0
        return ImportAnswer(id=self.id, what=self.what, state=self.state, message=self.message, **told)


class Imports:
    """The imports of a workbench; the oldest are dropped.

    Args:
        workbench: the server's.
    """

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._all: OrderedDict[str, Import] = OrderedDict()
        self._turn = asyncio.Lock()
        self._process: Workers | None = None  # from the first import on
        self._tasks: set[asyncio.Task[None]] = set()

    def get(self, name: str) -> Import:
        """An import.

        Raises:
            NoSuchImport: there is none of that name.
        """
        if name not in self._all:
            raise NoSuchImport("there is no such import; the server may have been restarted")
        return self._all[name]

    def need_room(self) -> None:
        """Check that there are not too many imports already.

        Raises:
            Busy: there are.
        """
        if sum(one.state == "running" for one in self._all.values()) >= MOST_RUNNING:
            raise Busy(10)

    def start(self, what: str, folder: Path, task: ImportTask) -> Import:
        """Start an import; its folder is deleted when it has ended."""
        one = Import(secrets.token_urlsafe(12), what, folder)
        self._all[one.id] = one
        while len(self._all) > MOST_REMEMBERED:
            self._all.popitem(last=False)
        running = asyncio.create_task(self._run(one, task))
        self._tasks.add(running)
        running.add_done_callback(self._tasks.discard)
        return one

    async def _run(self, one: Import, task: ImportTask) -> None:
        try:
            async with self._turn:
                one.told = await self._work(one, task)
            one.state = "done"
        except MainmatterError as error:
            await one.look()
            one.state, one.message = "failed", self._workbench.tell(error)
        finally:
            await run_in_threadpool(shutil.rmtree, one.folder, ignore_errors=True)

    async def close(self) -> None:
        """End all imports, and their process."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._process is not None:
            await self._process.close()

    async def _work(self, one: Import, task: ImportTask) -> dict[str, Any]:
        """Have our process do it."""
        process = await self._start()
        for pid in process.pids():  # each time: one that ended was replaced
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, pid, NICENESS)
        told: dict[str, Any] = await process.run_for(
            SECONDS if task.url is None else DEADLINE + self._workbench.settings.seconds,
            add_pages,
            database=str(self._workbench.database),
            task=task,
            limits=self._workbench.settings.limits,
            progress=str(one.folder / _PROGRESS),
        )
        return told

    async def _start(self) -> Workers:
        """The process of imports, started if need be; it stays for the next import."""
        if self._process is None:
            settings = self._workbench.settings
            process = Workers(1, waiting=1, seconds=settings.seconds, memory_mb=settings.memory_mb)
            await process.start()
            self._process = process
        return self._process


async def _imports_of(request: Request) -> Imports:
    """The imports of the server that got a request; for `Depends`."""
    imports: Imports = request.app.state.imports
    return imports


Bench = Annotated[Workbench, Depends(workbench_of)]
Running = Annotated[Imports, Depends(_imports_of)]


@router.post("/files", status_code=202, summary="Add pages of files")
async def add_files(
    bench: Bench,
    running: Running,
    files: Annotated[
        list[UploadFile], FormFile(description="HTML, text, WARC, WET, JSONL or Parquet, compressed or not.")
    ],
    most: Annotated[
        int | None, Form(ge=1, le=1000, description="Only this many pages: those that methods disagree on most.")
    ] = None,
) -> ImportAnswer:
    """Start an import of uploaded files. GET reports its progress."""
    running.need_room()
    if len(files) > MOST_FILES:
        raise InputError(f"there are {len(files):,} files; send at most {MOST_FILES:,} at once, or a WARC archive")
    names = [_shown(file.filename) for file in files]
    folder = await run_in_threadpool(_new_folder, bench)
    try:
        paths = [await _keep(file, folder, number) for number, file in enumerate(files)]
    except BaseException:
        await run_in_threadpool(shutil.rmtree, folder, ignore_errors=True)
        raise
    what = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    task = ImportTask(tuple(zip(paths, names, strict=True)), most=most, unpacked=bench.settings.max_unpacked_bytes)
    return running.start(what, folder, task).answer()


@router.post("/url", status_code=202, summary="Add a page from the web")
async def add_url(bench: Bench, running: Running, asked: UrlImport) -> ImportAnswer:
    """Start fetching a page. Private, loopback and link-local addresses are refused."""
    running.need_room()
    settings = bench.settings
    if not settings.fetch:
        raise InputError("this server does not fetch pages; upload the page instead")
    if not is_url(asked.url):
        raise InputError("that is not the address of a page; it must begin with http:// or https://")
    folder = await run_in_threadpool(_new_folder, bench)
    return running.start(asked.url, folder, ImportTask(url=asked.url, public_only=not settings.allow_private)).answer()


@router.get("/folder", summary="What can be imported from the server")
async def list_folder(bench: Bench) -> EntriesAnswer:
    """What the operator put into the folder `import` of the workbench."""
    found = await run_in_threadpool(entries, bench.database.parent / IMPORT_FOLDER)
    return EntriesAnswer(entries=[EntryModel(name=name, about=about) for name, about in found.items()])


@router.post("/folder", status_code=202, summary="Add pages from the server's import folder")
async def add_entry(bench: Bench, running: Running, asked: FolderImport) -> ImportAnswer:
    """Start an import from the import folder: a file, a folder, or the rejects of a corpus."""
    running.need_room()
    root = bench.database.parent / IMPORT_FOLDER
    if asked.name not in await run_in_threadpool(entries, root):
        raise InputError(f"there is no {asked.name!r} in the import folder; choose one that is listed")
    folder = await run_in_threadpool(_new_folder, bench)
    return running.start(asked.name, folder, ImportTask(root=str(root), entry=asked.name, most=asked.most)).answer()


@router.post("/corpus", status_code=202, summary="Add the pages of a corpus that its method was least sure of")
async def add_least_sure(bench: Bench, running: Running, asked: CorpusImport) -> ImportAnswer:
    """Start an import of the kept pages with the lowest confidence, as they were before they were cleaned."""
    running.need_room()
    chosen = LeastSure(path_of(bench.corpora, asked.name), asked.to_query(), asked.most)
    folder = await run_in_threadpool(_new_folder, bench)
    return running.start(f"the {asked.most} least sure of {asked.name}", folder, ImportTask(least_sure=chosen)).answer()


@router.get("/{name}", summary="The progress of an import")
async def show_import(running: Running, name: Annotated[str, PathParameter(max_length=100)]) -> ImportAnswer:
    """An import and its progress."""
    one = running.get(name)
    await one.look()
    return one.answer()


def remove_leftovers(folder: Path) -> None:
    """Delete the temporary folders of imports and exports that a server left behind when it was killed."""
    for pattern in (".import-*", ".export-*"):
        for path in folder.glob(pattern):
            with suppress(OSError):
                if path.is_dir() and time.time() - path.stat().st_mtime > _LEFT_AFTER:
                    shutil.rmtree(path, ignore_errors=True)


def _new_folder(bench: Workbench) -> Path:
    try:
        bench.database.parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=".import-", dir=bench.database.parent))
    except OSError as error:
        kind = CannotStore if error.errno in CANNOT_WRITE else AnnotationError
        raise kind(f"the workbench's folder cannot be written: {error.strerror}") from error


async def _keep(file: UploadFile, folder: Path, number: int) -> str:
    """Write an uploaded file under a name of our own; only a known ending is kept."""
    path = folder / f"{number:06}{ending_of(file.filename or '')}"

    def write() -> None:
        with path.open("wb") as target:
            shutil.copyfileobj(file.file, target)

    await run_in_threadpool(write)
    return str(path)


def _shown(name: str | None) -> str:
    """An uploaded file's name as text: its last part, without what cannot be shown."""
    last = (name or "").replace("\\", "/").rpartition("/")[2]
    return "".join(letter for letter in last if letter.isprintable())[:_LONGEST_NAME] or "page.html"


@dataclass
class _Count:
    """The progress so far; `write` reports it to the server."""

    path: Path
    read: int = 0
    added: int = 0
    known: int = 0
    rejected: int = 0
    rejects: list[dict[str, str]] = field(default_factory=list)
    share: float = 0.0
    told: float = 0.0

    def take(self, addition: Addition) -> None:
        """Count the result of adding a page."""
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
        """Report to the server, from time to time or at once."""
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


def add_pages(database: str, task: ImportTask, limits: Limits, progress: str) -> dict[str, Any]:
    """Import pages; returns the result. Done in a worker.

    Raises:
        InputError: there is nothing to read, or it is not allowed.
        PageTooLarge: the upload unpacks to more than it may; the pages before that are added.
        MissingExtra: archives need the extra "corpus".
    """
    count = _Count(Path(progress))
    with Store(database) as store:
        found = _find(task, limits, count)
        if task.most is not None:
            found = _most_contested(found, task.most, limits, count)
        try:
            for addition in add_found(store, found, limits):
                count.take(addition)
        except PageTooLarge:
            count.write(at_once=True)
            raise
    count.share = 1.0
    if not count.read and not count.rejected:
        what = "the choice" if task.least_sure is not None else task.entry or "the upload"
        raise InputError(f"{what} holds no page")
    return count.result()


def _most_contested(found: Iterable[FoundPage], most: int, limits: Limits, count: _Count) -> Iterator[FoundPage]:
    """The pages that methods disagree on most; the others are read but not added."""

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


def _find(task: ImportTask, limits: Limits, count: _Count) -> Iterator[FoundPage]:
    if task.url is not None:
        page = fetch(task.url, limits=limits, public_only=task.public_only)
        yield FoundPage(page.url or task.url, task.url, page)
    elif task.least_sure is not None:
        yield from task.least_sure.read(limits)
    elif task.entry:
        yield from _find_entry(Path(task.root), task.entry, limits, count)
    else:
        found = _read_files(task.files, limits, count)
        yield from found if task.unpacked is None else _bounded(found, task.unpacked)


def _bounded(found: Iterable[FoundPage], most: int) -> Iterator[FoundPage]:
    """The same pages, as long as their total size is within the limit."""
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
    """Read files; messages use their original names, not their paths."""
    if not files:
        raise InputError("there are no pages, dumps or archives in it")
    sizes = [Path(path).stat().st_size + 1 for path, _ in files]
    done = 0
    for (path, shown), size in zip(files, sizes, strict=True):
        try:
            for one in read_inputs([path], limits):
                name, source, problem = (text.replace(path, shown) for text in (one.name, one.source, one.problem))
                yield FoundPage(name, source, one.page, problem, one.note)
        except MainmatterError as error:  # of a whole file; the others can still be read
            yield FoundPage(shown, shown, None, str(error).replace(path, shown))
        done += size
        count.share = done / sum(sizes)


def entries(root: Path) -> dict[str, str]:
    """The entries of the import folder, each with a short description; by name.

    A link that the operator put there is followed: it permits reading its target.
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
    """The ending that tells a file's type, with that of its compression; "" if we do not read such files."""
    lower = name.lower()
    packing = next((each for each in _PACKINGS if lower.endswith(each)), "")
    plain = lower.removesuffix(packing)
    known = (*PAGE_ENDINGS, *DUMP_ENDINGS, *_ARCHIVES)
    ending = next((each for each in known if plain.endswith(each)), "")
    if not ending or (packing == ".zst" and ending not in _ARCHIVES):
        return ""
    return ending + packing


def _is_corpus(path: Path) -> bool:
    return any(Path(Folder(str(path)).path(REJECTS)).glob("part-*.jsonl")) if path.is_dir() else False


def _files_below(root: Path, folder: Path) -> list[tuple[str, str]]:
    """The pages, dumps and archives below a folder, except targets of links that lead out of it."""
    allowed = _allowed(root)
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(parent, name)
            is_below = any(path.resolve().is_relative_to(each) for each in allowed)
            if ending_of(name) and path.is_file() and is_below:
                found.append((str(path), str(Path(folder.name) / path.relative_to(folder))))
    return found


def _read_rejects(root: Path, corpus: Path, limits: Limits) -> Iterator[FoundPage]:
    """The pages that a corpus run rejected, if their archives are also in the import folder."""
    allowed = _allowed(root)
    folders = [root, *(path for path in sorted(root.iterdir()) if path.is_symlink() and path.is_dir())]
    sources = sorted(_sources_of_rejects(corpus))
    where = input_locations(str(corpus), sources, folders, allowed)
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
    """A text that does not reveal paths on the server."""
    for root in roots:
        text = text.replace(f"{root}/", "")
    return text


def _sources_of_rejects(corpus: Path) -> set[str]:
    sources = set()
    for file in Path(Folder(str(corpus)).path(REJECTS)).glob("part-*.jsonl"):
        for line in file.read_bytes().splitlines():
            try:
                sources.add(parse(Reject, line).source)
            except ValueError as error:
                raise InputError(f"{file.name}: cannot be read as a file of rejects: {error}") from error
    return sources


def _allowed(root: Path) -> list[Path]:
    """The import folder, and the targets of the links in it."""
    return [root.resolve(), *(path.resolve() for path in root.iterdir() if path.is_symlink())]


def _writable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
