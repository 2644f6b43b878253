"""`build_corpus`: a crawl in, a corpus out. The stages of a run, one after another, over all shards."""

from __future__ import annotations

import json
import os
import threading
import time
import uuid
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any

from mainmatter.corpus import storage
from mainmatter.corpus.card import dataset_card, hub_file
from mainmatter.corpus.duplicate_stages import WORKING_FOLDERS, find_all_duplicates
from mainmatter.corpus.engines import DEFAULT_ENGINE, check_installed, get_engine
from mainmatter.corpus.folder import (
    ABOUT,
    CARD,
    HUB_FILE,
    INDEX,
    NEW,
    PLAN,
    PROGRESS,
    REJECTS,
    RUN,
    SUMMARY,
    Folder,
    old_name,
    progress_of,
)
from mainmatter.corpus.job import Job
from mainmatter.corpus.language import unpacking_model
from mainmatter.corpus.plan import check_same, make_plan, read_plan, write_plan
from mainmatter.corpus.readers import SHARD_SIZE, check_readers, choose_shard_size, find_shards, input_facts
from mainmatter.corpus.retries import retries
from mainmatter.corpus.shard import run_shard
from mainmatter.corpus.site_templates import TABLES, TEMPLATES, merge_templates
from mainmatter.corpus.summary import Progress, Report, Summary, add_up, why_no_page
from mainmatter.corpus.work import check_work
from mainmatter.errors import InputError, MainmatterError
from mainmatter.registry import split_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mainmatter.corpus.engines import Engine
    from mainmatter.corpus.plan import Plan
    from mainmatter.corpus.records import Slice

TICK = 0.5  # seconds between two reports of progress
_WORKING_FOLDERS = (*WORKING_FOLDERS, TEMPLATES, PROGRESS)


def build_corpus(
    inputs: Sequence[str],
    out: str,
    job: Job | None = None,
    *,
    engine: str = DEFAULT_ENGINE,
    workers: int | None = None,
    restart: bool = False,
    report: Callable[[Progress], object] | None = None,
) -> Summary:
    """Clean a whole collection. Called again after an interruption, it goes on where it was.

    Args:
        inputs: WARC and WET archives, folders of pages, JSONL, Parquet, lists of URLs or archives; paths that fsspec
            knows.
        out: the folder of the result, likewise; new, empty, or that of an earlier run with the same inputs and job.
        job: what is wanted; by default all pages with the default method, as Parquet.
        engine: where the work is done: "local", "ray" or "spark".
        workers: how many processes; by default one a core.
        restart: replace the result of an earlier run. That is deleted once the first shard is written; until then the
            run works in a folder of its own, OUT/__new, and if it fails, or reads no page, the result stays as it was.
        report: called every half second, in a thread of its own, with what is done so far.

    Returns:
        What came of it, the same as OUT/__about/summary.json.

    Raises:
        InputError: an input cannot be read, the folder holds something else or another run, or a limit makes no sense.
        UnknownName: there is no such method, engine or kind of duplicates.
        MissingExtra: something that the run needs is not installed.
        MainmatterError: an engine or a worker failed.
        OSError: the result cannot be written.
    """
    job = Job() if job is None else job
    run_all = get_engine(engine)
    retried = retries.count
    names = [str(name) for name in inputs]
    folder = Folder(storage.without_scheme(str(out)))
    with ExitStack() as held:
        languages = held.enter_context(unpacking_model()) if engine == DEFAULT_ENGINE else None
        job.check()
        _check_place(folder, names)
        new, shards = _plan(names, job, None if restart else folder)
        if restart or not folder.exists(SUMMARY):
            check_installed(engine)
            check_readers([one for shard in shards for one in shard], robots=job.filters.robots_txt)
            check_work(job)
        held.enter_context(folder.locked())
        beside = _beside(folder)
        if beside.exists(PLAN) and not folder.exists(PLAN):  # it was killed while it replaced the result
            folder = _replace_result(folder, beside, held)
        if restart or folder.is_local:  # elsewhere each look is a request, and what is left is in nobody's way
            storage.remove_tree(beside.out)
        is_new = not folder.exists(PLAN)
        replaced = folder if restart and not is_new else None
        if restart and is_new:
            folder = _emptied(folder, held)
        begun = folder if replaced is None else beside
        try:
            plan = _begin(begun, new, shards)
            finished = _finished(begun)
            if finished is not None:
                return finished
            return _run(begun, plan, partial(run_all, workers=workers), languages, report, retried, replaced, held)
        except BaseException:
            with suppress(MainmatterError, OSError):  # what went wrong first is told
                if replaced is not None:
                    storage.remove_tree(beside.out)
                elif is_new and not folder.done(job.stages[0]):
                    _delete_result(folder)
            raise


def _check_place(folder: Folder, inputs: Sequence[str]) -> None:
    """Refuse a folder that is somebody else's, or that lies in an input."""
    if folder.is_local:
        place = Path(folder.out)
        if place.exists() and not place.is_dir():
            raise InputError(f"{folder.out}: is a file, not a folder")
        here = place.resolve()
        for name in inputs:
            source = Path(storage.without_scheme(name)).resolve()
            if storage.is_remote(name) or not source.exists():
                continue
            if here.is_relative_to(source) and source.is_dir():
                raise InputError(f"{folder.out}: is inside the input {name}; name a folder outside it")
            if source.is_relative_to(here):
                raise InputError(f"{name}: is inside the output folder {folder.out}; name another output folder")
        is_foreign = place.exists() and any(one.name not in (RUN, old_name(RUN)) for one in place.iterdir())
    else:
        is_foreign = not folder.exists(PLAN) and bool(folder.names())  # a listing of all parts is long
    if is_foreign and not any(one.exists(PLAN) for one in (folder, _beside(folder))):
        raise InputError(f"{folder.out}: has files that are not from a run of this command; name a new or empty folder")


def _beside(folder: Folder) -> Folder:
    """Where a run that replaces a result begins."""
    return Folder(storage.join(folder.out, NEW))


def _replace_result(folder: Folder, beside: Folder, held: ExitStack) -> Folder:
    """Delete a result, and put what was begun beside it in its place; the plan last, so that this can be repeated."""
    folder = _emptied(folder, held)
    beside.remove_all(TEMPLATES)  # has been added up

    def copy(name: str) -> None:
        folder.write(name, beside.read(name))

    names = [name for name, _ in storage.list_files(beside.out) if name != PLAN]
    for _ in storage.at_once(copy, names, folder.out):
        pass
    copy(PLAN)
    storage.remove_tree(beside.out)
    return folder


def _emptied(folder: Folder, held: ExitStack) -> Folder:
    """The folder without the result in it; from now on its files have the names of this version."""
    _delete_result(folder)
    if folder.is_old:
        folder = Folder(folder.out)
        held.enter_context(folder.locked())
    return folder


def _delete_result(folder: Folder) -> None:
    """Delete what a run wrote, and nothing else; the plan first: a folder without one has nothing of worth."""
    storage.remove(folder.path(SUMMARY))
    storage.remove(folder.path(PLAN))
    folder.remove_all("")
    for name in (*reversed(_WORKING_FOLDERS), TABLES, INDEX, REJECTS, ABOUT):
        folder.remove_all(name)
    if folder.is_old:
        folder.remove_all(RUN)
    folder.remove(RUN, [name for name in folder.names(RUN) if name != "lock"])


def _plan(inputs: Sequence[str], job: Job, earlier: Folder | None) -> tuple[Plan, list[list[Slice]]]:
    """The plan of a run that would begin now, and its shards; `earlier` may hold one to go on with."""
    with storage.private_allowed(not job.public_only), storage.asked_once(inputs):
        found = input_facts(inputs, job.archives_at)
        shard_size = job.shard_size or choose_shard_size(sum(facts.size for facts in found))
        if job.shard_size is None and earlier is not None and earlier.exists(PLAN):
            begun = read_plan(earlier).job.shard_size
            shard_size = SHARD_SIZE if begun == SHARD_SIZE else shard_size  # of all runs that earlier versions began
        shards = find_shards(inputs, shard_size, job.field_names, job.archives_at, follow_links=job.follow_links)
    job = replace(job, shard_size=shard_size)
    stamps = {facts.path: f"{facts.size} bytes, {facts.stamp}" for facts in found}
    return make_plan(job, inputs, len(shards), stamps), shards


def _begin(folder: Folder, new: Plan, shards: Sequence[Sequence[Slice]]) -> Plan:
    """The plan: the new one, or that of the run that goes on, if it is the same."""
    if folder.exists(PLAN):
        old = read_plan(folder)
        check_same(folder, old, new)
        return old
    write_plan(folder, new, shards)
    return new


def _finished(folder: Folder) -> Summary | None:
    try:
        return replace(Summary.from_json(json.loads(folder.read(SUMMARY))), was_done=True)
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{folder.out}: {SUMMARY} is damaged: {error}; delete it, and it will be written again"
        ) from error


def _run(
    folder: Folder,
    plan: Plan,
    run_all: Engine,
    languages: str | None,
    report: Callable[[Progress], object] | None,
    retried: int,
    replaced: Folder | None,
    held: ExitStack,
) -> Summary:
    """Do all stages.

    Args:
        folder: where the run begins.
        plan: what it does.
        run_all: the engine.
        languages: as for `run_shard`.
        report: as for `build_corpus`.
        retried: what `retries.count` was before.
        replaced: the folder whose result goes, and where the run goes on, once its first shard is written.
        held: holds the lock of the folder.
    """
    began = time.monotonic()
    folder.remove_all(PROGRESS)
    stages = plan.job.stages
    earlier = total = Report("clean", -1)
    start = uuid.uuid4().hex

    def run(stage: str, count: int, stages: tuple[str, ...], most: int | None = None) -> tuple[Report, Report]:
        nonlocal retried
        shard_work = partial(run_shard, folder.out, stage, languages=languages, run=start)
        work = partial(_work_in, _folder_needed(folder, plan), shard_work)
        before, after = _run_stage(folder, stage, stages, count, work, run_all, report, most)
        retried -= after.retries - before.retries
        return before, after

    for stage in stages:
        if stage == "unique":
            find_all_duplicates(
                folder,
                plan.job.duplicates,
                [one.kept for one in _marked(folder, "clean", range(plan.shards))],
                lambda one, count, all_ones: run(one, count, (*stages[:-1], *all_ones, "unique")),
            )
        if stage == "clean" and replaced is not None:
            for most in (1, plan.shards):
                _, total = run(stage, plan.shards, stages, most)
                problem = why_no_page(total)
                if not problem:
                    break
            else:
                raise InputError(
                    f"{problem}, so the earlier result in {replaced.out} was kept; name another output folder, to see "
                    f"the reasons in its {REJECTS}"
                )
            folder = _replace_result(replaced, folder, held)
        before, total = run(stage, plan.shards, stages)
        if stage == "clean" and replaced is None:
            earlier = before
        if stage == "templates":
            merge_templates(folder, plan.job, plan.shards)
    return _finish(folder, plan, earlier, total, time.monotonic() - began, retried)


def _folder_needed(folder: Folder, plan: Plan) -> str:
    """The folder that paths of the run are relative to; "" if none is."""
    paths = [folder.out, *plan.inputs, plan.job.archives_at or "/"]
    if plan.model is not None:
        paths.append(split_name(plan.job.method)[0])
    is_needed = any(not storage.is_remote(one) and not storage.without_scheme(one).startswith("/") for one in paths)
    return str(Path.cwd()) if is_needed else ""


def _work_in(place: str, work: Callable[..., Report], number: int, **options: Any) -> Report:
    """Do some work in a folder: processes of a cluster are started elsewhere.

    Raises:
        InputError: there is no such folder on this machine.
    """
    if not place:
        return work(number, **options)
    before = Path.cwd()
    try:
        os.chdir(place)
    except OSError as error:
        raise InputError(
            f"{place}: cannot be opened on {gethostname()} ({error.strerror}), but this run uses paths relative to it; "
            "use paths for inputs and output that all machines of the cluster can reach"
        ) from error
    try:
        return work(number, **options)
    finally:
        os.chdir(before)


def _run_stage(
    folder: Folder,
    stage: str,
    stages: tuple[str, ...],
    count: int,
    work: Callable[..., Report],
    run_all: Engine,
    report: Callable[[Progress], object] | None,
    most: int | None,
) -> tuple[Report, Report]:
    """Do a stage of the shards, or parts, that have not done it; gives what had been done before, and all that is.

    Args:
        folder: of the run.
        stage: which.
        stages: all of the run.
        count: how many shards there are.
        work: what to do with the number of a shard.
        run_all: the engine.
        report: as for `build_corpus`.
        most: how many shards to do now; None for all.
    """
    done = folder.done(stage)
    earlier = add_up(_marked(folder, stage, sorted(done)), stage)
    watch = _Watch(folder, stage, stages, count, len(done), earlier)
    missing = [number for number in range(count) if number not in done][:most]
    if report is not None and not folder.is_local:
        run_all = partial(run_all, on_note=watch.hear)
    with watch.reporting(report), closing(run_all(work, missing)) as reports:  # type: ignore[type-var]
        for one in reports:
            watch.add(one)
    return earlier, watch.total()


def _marked(folder: Folder, stage: str, numbers: Sequence[int]) -> Iterator[Report]:
    for number, report in zip(numbers, folder.markers(stage, numbers), strict=True):
        if report is None:
            raise MainmatterError(f"{folder.out}: the marker of shard {number} was deleted during the run")
        yield report


def _finish(folder: Folder, plan: Plan, earlier: Report, total: Report, seconds: float, retried: int) -> Summary:
    """Count everything, and leave only what is of worth; `retried` is as in `_run`."""
    for name in reversed(_WORKING_FOLDERS):
        folder.remove_all(name)
    _remove_drafts(folder)
    summary = Summary(
        folder.out,
        plan.shards,
        total.pages,
        total.kept,
        total.rejects,
        total.skipped,
        total.words,
        total.bytes,
        round(seconds, 3),  # as the file holds it, so that rates computed from it again are the same
        earlier.pages,
        earlier.bytes,
        total.languages,
        retries.count - retried,
    )
    if not folder.is_old:  # whose names no card could make a dataset of
        folder.write(CARD, dataset_card(plan, summary).encode())
        folder.write(HUB_FILE, hub_file(plan.job).encode())
    folder.write(SUMMARY, (json.dumps(summary.to_json(), indent=1, ensure_ascii=False) + "\n").encode())
    return summary


def _remove_drafts(folder: Folder) -> None:
    """Remove what killed processes had begun to write; on remote storage a file is there whole or not at all."""
    for below in ("", ABOUT, REJECTS, RUN) if folder.is_local else ():
        folder.remove(below, [name for name in folder.names(below) if name.startswith(".") and name != HUB_FILE])


@dataclass
class _Watch:
    """Adds up what is done, and tells it to whoever wants to know."""

    folder: Folder
    stage: str
    stages: tuple[str, ...]
    shards: int
    done: int
    earlier: Report
    began: float = field(default_factory=time.monotonic)
    _now: Report | None = None
    _done_before: int = field(init=False)
    _finished: set[int] = field(default_factory=set)
    _heard: dict[int, tuple[Report, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._done_before = self.done

    def add(self, report: Report) -> None:
        with self._lock:
            self._now = report if self._now is None else add_up((self._now, report), self.stage)
            self._finished.add(report.number)
            self._heard.pop(report.number, None)
            self.done += 1

    def hear(self, note: dict[str, Any]) -> None:
        """Take a note of a shard that is under way on remote storage."""
        with self._lock:
            report, share = progress_of(note)
            self._heard[report.number] = report, share

    def total(self) -> Report:
        """What was done before and what is done now."""
        return add_up((self.earlier, self._now) if self._now is not None else (self.earlier,), self.stage)

    def progress(self) -> Progress:
        with self._lock:
            told = (*self.folder.progress(), *self._heard.values())
            under_way = [(one, share) for one, share in told if one.number not in self._finished]
            reports = [one for one, _ in under_way] + ([self._now] if self._now is not None else [])
            share = sum(share for _, share in under_way)
            now = add_up(reports, self.stage)
            return Progress(
                self.stage,
                self.stages,
                self.shards,
                self.done,
                now.pages,
                now.kept,
                now.bytes,
                time.monotonic() - self.began,
                (self.done - self._done_before + share) / max(1, self.shards - self._done_before),
                self.earlier.pages,
            )

    @contextmanager
    def reporting(self, report: Callable[[Progress], object] | None) -> Iterator[None]:
        if report is None:
            yield
            return
        stop = threading.Event()

        def tick() -> None:
            while not stop.wait(TICK):
                report(self.progress())

        thread = threading.Thread(target=tick, daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
        report(self.progress())
