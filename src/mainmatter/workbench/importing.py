"""Pages into the workbench: uploads, an address, and what the operator put into the import folder.

Nothing that a client sends is a path: a file that is uploaded gets a name of our own, and what lies in the import
folder is chosen by its name in the list. Imports run one after the other, in a process of their own: all workers are
there for everybody else.
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
from typing import Annotated, Any, Literal
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Depends, Form, UploadFile
from fastapi import File as FormFile
from fastapi import Path as PathParameter
from starlette.concurrency import run_in_threadpool

from mainmatter.errors import InputError, MainmatterError
from mainmatter.inputs.fetch import DEADLINE, is_url
from mainmatter.workbench.annotating_errors import NoSuchImport
from mainmatter.workbench.annotating_models import (
    EntriesAnswer,
    EntryModel,
    FolderImport,
    ImportAnswer,
    RejectModel,
    UrlImport,
)
from mainmatter.workbench.import_task import IMPORT_FOLDER, Wanted, ending_of, entries
from mainmatter.workbench.labels import AnnotationError
from mainmatter.workbench.workbench import Workbench, workbench_of
from mainmatter.workbench.workers import Busy, Workers

SECONDS = 3600.0  # that an import may take
NICENESS = 10  # pages that people look at go first
MOST_FILES = 1000  # in one upload
MOST_REMEMBERED = 100  # imports
MOST_RUNNING = 20  # imports that run or wait for their turn: what was uploaded lies on the disk until then
_LEFT_AFTER = 86_400  # seconds after which nobody can be at work in a temporary folder any more
_PROGRESS = "progress.json"
_LONGEST_NAME = 300

router = APIRouter(prefix="/imports")
Bench = Annotated[Workbench, Depends(workbench_of)]


@dataclass
class Import:
    """An import, as far as it has come.

    Attributes:
        id: its name, which nobody can guess.
        what: what is imported, for people.
        folder: where its progress and the uploaded files are.
        state: whether it runs or, if it does not, how it ended.
        told: what the worker said last.
        message: what else there is to say.
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
        """What clients are told."""
        told = self.told
        return ImportAnswer(
            id=self.id,
            what=self.what,
            state=self.state,
            share=1.0 if self.state == "done" else told.get("share", 0.0),
            read=told.get("read", 0),
            added=told.get("added", 0),
            known=told.get("known", 0),
            rejected=told.get("rejected", 0),
            rejects=[RejectModel(**each) for each in told.get("rejects", [])],
            message=self.message,
        )


class Imports:
    """The imports of a workbench; it forgets the oldest.

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
            raise NoSuchImport("there is no such import; perhaps the server was started again")
        return self._all[name]

    def need_room(self) -> None:
        """Make sure that there are not too many imports already.

        Raises:
            Busy: there are.
        """
        if sum(one.state == "running" for one in self._all.values()) >= MOST_RUNNING:
            raise Busy(10)

    def start(self, what: str, folder: Path, wanted: Wanted) -> Import:
        """Start an import; its folder is deleted when it has ended."""
        one = Import(secrets.token_urlsafe(12), what, folder)
        self._all[one.id] = one
        while len(self._all) > MOST_REMEMBERED:
            self._all.popitem(last=False)
        task = asyncio.create_task(self._run(one, wanted))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return one

    async def _run(self, one: Import, wanted: Wanted) -> None:
        try:
            async with self._turn:
                one.told = await self._work(one, wanted)
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

    async def _work(self, one: Import, wanted: Wanted) -> dict[str, Any]:
        """Have our process do it."""
        process = await self._start()
        for pid in process.pids():  # each time: one that ended was replaced
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, pid, NICENESS)
        told: dict[str, Any] = await process.run_for(
            SECONDS if wanted.url is None else DEADLINE + self._workbench.settings.seconds,
            "mainmatter.workbench.import_task:add_pages",
            database=str(self._workbench.database),
            wanted=wanted,
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


_all: WeakKeyDictionary[Workbench, Imports] = WeakKeyDictionary()


async def _imports(bench: Bench) -> Imports:
    if bench not in _all:
        _all[bench] = Imports(bench)
    return _all[bench]


async def close_imports(bench: Workbench) -> None:
    """End the imports of a server that ends."""
    if bench in _all:
        await _all[bench].close()


Running = Annotated[Imports, Depends(_imports)]


@router.post("/files", status_code=202, summary="Add pages of files")
async def add_files(
    bench: Bench,
    running: Running,
    files: Annotated[list[UploadFile], FormFile(description="HTML, text, WARC, WET, JSONL or Parquet; packed or not.")],
    most: Annotated[
        int | None, Form(ge=1, le=1000, description="Only so many, those that methods disagree on most.")
    ] = None,
) -> ImportAnswer:
    """Start an import of files that are uploaded. GET tells how far it is."""
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
    wanted = Wanted(tuple(zip(paths, names, strict=True)), most=most, unpacked=bench.settings.max_unpacked_bytes)
    return running.start(what, folder, wanted).answer()


@router.post("/url", status_code=202, summary="Add a page of the web")
async def add_url(bench: Bench, running: Running, asked: UrlImport) -> ImportAnswer:
    """Start fetching a page. Private, loopback and link-local addresses are refused."""
    running.need_room()
    settings = bench.settings
    if not settings.fetch:
        raise InputError("this server fetches nothing; upload the page instead")
    if not is_url(asked.url):
        raise InputError("that is no address of a page; it begins with http:// or https://")
    folder = await run_in_threadpool(_new_folder, bench)
    return running.start(asked.url, folder, Wanted(url=asked.url, public_only=not settings.allow_private)).answer()


@router.get("/folder", summary="What can be imported from the server")
async def list_folder(bench: Bench) -> EntriesAnswer:
    """What the operator put into the folder `import` of the workbench."""
    found = await run_in_threadpool(entries, bench.database.parent / IMPORT_FOLDER)
    return EntriesAnswer(entries=[EntryModel(name=name, about=about) for name, about in found.items()])


@router.post("/folder", status_code=202, summary="Add pages that are on the server")
async def add_entry(bench: Bench, running: Running, asked: FolderImport) -> ImportAnswer:
    """Start an import of something in the import folder: a file, a folder, or the rejects of a corpus."""
    running.need_room()
    root = bench.database.parent / IMPORT_FOLDER
    if asked.name not in await run_in_threadpool(entries, root):
        raise InputError(f"there is no {asked.name!r} in the import folder; choose one that is listed")
    folder = await run_in_threadpool(_new_folder, bench)
    return running.start(asked.name, folder, Wanted(root=str(root), entry=asked.name, most=asked.most)).answer()


@router.get("/{name}", summary="How far an import is")
async def show_import(running: Running, name: Annotated[str, PathParameter(max_length=100)]) -> ImportAnswer:
    """An import, as far as it has come."""
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
        raise AnnotationError(f"the workbench's folder cannot be written: {error.strerror}") from error


async def _keep(file: UploadFile, folder: Path, number: int) -> str:
    """Write an uploaded file under a name of our own; only its ending, one of those that we know, is kept."""
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
