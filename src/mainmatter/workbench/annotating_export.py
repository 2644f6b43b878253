"""Taking the gold standard away: a zip archive of the folder format, or a Parquet file."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse

from mainmatter.workbench.annotating_models import ExportAnswer, LeftOutModel, Name
from mainmatter.workbench.labels import Store
from mainmatter.workbench.labels.gold import GoldStandard, collect, export
from mainmatter.workbench.labels.records import BEST
from mainmatter.workbench.workbench import Workbench, workbench_of

SECONDS = 600.0  # for collecting and writing all pages
NAME = "gold-standard"
_TYPES = {"folder.zip": "application/zip", "pages.parquet": "application/vnd.apache.parquet"}

router = APIRouter(prefix="/export")
Bench = Annotated[Workbench, Depends(workbench_of)]
Whose = Annotated[Name, Query(description='Whose labels: a name, "merged", or "best".')]
Unfinished = Annotated[bool, Query(description="Also pages that nobody is done with.")]


@router.get("", summary="What an export would hold")
async def preview(bench: Bench, whose: Whose = BEST, unfinished: Unfinished = False) -> ExportAnswer:
    """How many pages and labels an export holds, and what is left out, and why."""
    await run_in_threadpool(_make_sure_of, bench.database)
    answer: dict[str, Any] = await bench.workers.run_for(
        SECONDS,
        "mainmatter.workbench.annotating_export:look",
        database=str(bench.database),
        whose=whose,
        unfinished=unfinished,
    )
    return ExportAnswer(**answer)


@router.get("/{name}", summary="Download the gold standard", response_class=FileResponse)
async def download(
    bench: Bench, name: Literal["folder.zip", "pages.parquet"], whose: Whose = BEST, unfinished: Unfinished = False
) -> FileResponse:
    """The gold standard as `mainmatter train` and `mainmatter evaluate` read it; a folder comes as a zip archive."""
    await run_in_threadpool(_make_sure_of, bench.database)
    folder = await run_in_threadpool(tempfile.mkdtemp, prefix=".export-", dir=bench.database.parent)
    try:
        file = await bench.workers.run_for(
            SECONDS,
            "mainmatter.workbench.annotating_export:write",
            database=str(bench.database),
            whose=whose,
            unfinished=unfinished,
            folder=folder,
            name=name,
        )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shown = f"{NAME}.{name.rpartition('.')[2]}"
    cleaning = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(file, media_type=_TYPES[name], filename=shown, background=cleaning)


def look(database: str, whose: str, unfinished: bool) -> dict[str, Any]:
    """What an export would hold. Done in a worker.

    Raises:
        AnnotationError: nobody of that name labelled anything.
    """
    with Store(database, create=False) as store:
        found = collect(store, whose, unfinished=unfinished)
    labels = sum(len(page.gold_page.labels or ()) for page in found.pages)
    return {"pages": len(found.pages), "labels": labels, "left_out": _left_out(found)}


def write(database: str, whose: str, unfinished: bool, folder: str, name: str) -> str:
    """Write an export into a folder; gives its file. Done in a worker.

    Raises:
        AnnotationError: nobody of that name labelled anything, or there is no page to export.
        MissingExtra: Parquet needs pyarrow.
    """
    with Store(database, create=False) as store:
        pages = collect(store, whose, unfinished=unfinished).pages
        if name.endswith(".parquet"):
            target = Path(folder, f"{NAME}.parquet")
            export(pages, target)
            return str(target)
        target = Path(folder, NAME)
        export(pages, target)
    return shutil.make_archive(str(target), "zip", folder, NAME)


def _left_out(found: GoldStandard) -> list[dict[str, Any]]:
    """Pages that are left out, and labels and blocks that are missing in those that are not."""
    told = [LeftOutModel(id=one.page_id, name=one.name, why=one.reason) for one in found.left_out]
    for page in found.pages:
        name = page.gold_page.page.id or str(page.page_id)
        missing = []
        if page.lost:
            missing.append(f"{page.lost} labels could not be carried over to the blocks of now")
        if page.unlabelled:
            missing.append(f"{page.unlabelled} of its blocks have no label")
        if missing:
            told.append(LeftOutModel(id=page.page_id, name=name, why="; ".join(missing)))
    return [one.model_dump() for one in told]


def _make_sure_of(database: Path) -> None:
    """Make an empty database where there is none yet."""
    if not database.is_file():
        Store(database).close()
