"""`run_shard`: the only work function. Every engine calls this, and nothing else.

A shard gives the same bytes wherever, whenever and however often it is worked on. Its files are written whole or not
at all, and its marker last: one that was interrupted is done again, one that has its marker never is.
"""

from __future__ import annotations

import atexit
import os
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mainmatter.corpus.duplicate_stages import (
    CLEANED_REJECTS,
    cleaned_name,
    do_stage,
    pack_signatures,
    read_duplicates,
    signatures_name,
)
from mainmatter.corpus.folder import Folder, part_name, rejects_name
from mainmatter.corpus.guard import Guard, Outcome, Task
from mainmatter.corpus.plan import WorkPlan, work_plan_of
from mainmatter.corpus.records import Reject
from mainmatter.corpus.retries import retries
from mainmatter.corpus.site_templates import counts_name, template_of
from mainmatter.corpus.summary import UNKNOWN_LANGUAGE, Report
from mainmatter.corpus.writers import COLUMNS, make_writer, read_rejects, read_rows, rejects_to_bytes
from mainmatter.errors import MainmatterError
from mainmatter.papers.template.site_counts import SiteCounts

if TYPE_CHECKING:
    from mainmatter.corpus.folder import Tell
    from mainmatter.corpus.records import Slice

PROGRESS_EVERY = 0.5  # seconds
TOLD_EVERY = 5.0  # seconds, where one process hears of all shards
_ID, _WORDS, _URL, _SOURCE, _POSITION, _LANGUAGE = map(
    COLUMNS.index, ("id", "words", "url", "source", "position", "language")
)


def run_shard(
    out: str,
    stage: str,
    number: int,
    languages: str | None = None,
    run: str = "",
    tell: Tell | None = None,
) -> Report:
    """Do one stage of one shard of the run whose plan lies in OUT/__run, unless its marker says that it is done.

    Args:
        out: the output folder.
        stage: one of the job's `stages`, or one of finding duplicates, which comes before "unique"; all shards must be
            through the one before.
        number: the shard's, or that of a part of the pages where duplicates are found.
        languages: where the model that tells languages lies unpacked, if it does; see `language.unpacking_model`.
        run: differs with each start of a run; a process reads the plan once for all shards that have it in common.
        tell: called now and then with how far the shard is; without it, that is noted in a local folder.

    Returns:
        What came of it, also if that was earlier.

    Raises:
        InputError: there is no such run, or an input cannot be read any more.
        OSError: the result cannot be written.
    """
    plan = work_plan_of(out, run) if run else WorkPlan(Folder(out))
    folder = plan.folder
    retried = retries.count + _guard().retries
    done = folder.marker(stage, number)
    if done is not None:
        return done
    if stage == "clean":
        report = _clean(folder, plan, number, languages, tell)
    elif stage == "templates":
        report = _count_templates(folder, plan, number, tell)
    elif stage == "unique":
        report = _drop_duplicates(folder, plan, number)
    else:
        report = do_stage(folder, plan.job.duplicates, stage, number)
    folder.mark(report)
    folder.forget_progress(number)
    return replace(report, retries=retries.count + _guard().retries - retried)


@dataclass
class _Counts:
    """Counts what comes by."""

    folder: Folder
    stage: str
    number: int
    slices: tuple[Slice, ...]
    tell: Tell | None = None
    began: float = field(default_factory=time.monotonic)
    pages: int = 0
    kept: int = 0
    rejects: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    words: int = 0
    bytes: int = 0
    languages: Counter[str] = field(default_factory=Counter)
    told: float = 0.0

    def count(self, outcome: Outcome) -> None:
        if isinstance(outcome.result, str):
            self.skipped[outcome.result] += 1
            return
        self.pages += 1
        self.bytes += outcome.size
        if isinstance(outcome.result, Reject):
            self.rejects[outcome.result.reason] += 1
        else:
            self.kept += 1
            if self.stage == "clean":
                self.words += outcome.result[_WORDS]
                self.languages[outcome.result[_LANGUAGE] or UNKNOWN_LANGUAGE] += 1
        now = time.monotonic()
        if now - self.told > (PROGRESS_EVERY if self.tell is None else TOLD_EVERY):
            self.told = now
            one = self.slices[outcome.slice]
            share = (outcome.position - one.start) / max(1, one.end - one.start)
            self.folder.note_progress(self.report(), (outcome.slice + share) / len(self.slices), self.tell)

    def report(self) -> Report:
        seconds = round(time.monotonic() - self.began, 3)
        counts = self.pages, self.kept, dict(self.rejects), dict(self.skipped), self.words, self.bytes
        return Report(self.stage, self.number, *counts, seconds, dict(self.languages))


def _count_templates(folder: Folder, plan: WorkPlan, number: int, tell: Tell | None) -> Report:
    """Count what the pages of each site have in common."""
    slices = plan.slices(number)
    counts = _Counts(folder, "templates", number, slices, tell)
    chunks = template_of(plan.job).no_counts()
    for outcome in _guard().outcomes(Task("templates", plan.job, slices)):
        counts.count(outcome)
        if isinstance(outcome.result, tuple) and outcome.result:
            chunks.merge(SiteCounts.from_bytes(outcome.result[0]))
    folder.write(counts_name(number), chunks.to_bytes())
    return counts.report()


def _clean(folder: Folder, plan: WorkPlan, number: int, languages: str | None, tell: Tell | None) -> Report:
    """Clean the pages of a shard. If duplicates are to be dropped, the result is not the final one."""
    job = plan.job
    slices = plan.slices(number)
    counts = _Counts(folder, "clean", number, slices, tell)
    writer = make_writer(job, whole=bool(job.duplicates))
    rejects: list[Reject] = []
    signatures: list[tuple[str, bytes]] = []
    templates = folder.out if job.site_templates else None
    for outcome in _guard().outcomes(Task("clean", job, slices, templates, languages)):
        counts.count(outcome)
        if isinstance(outcome.result, Reject):
            rejects.append(outcome.result)
        elif isinstance(outcome.result, tuple):
            writer.add(outcome.result)
            if job.duplicates:
                signatures.append((outcome.result[_ID], outcome.signature))
    name = part_name(number, job.format)
    if job.duplicates:
        folder.write(signatures_name(number), pack_signatures(signatures))
        folder.write(rejects_name(number, CLEANED_REJECTS), rejects_to_bytes(rejects))
        folder.write(cleaned_name(name), writer.finish())
    else:
        _write_rejects(folder, number, rejects)
        folder.write(name, writer.finish())
    return counts.report()


def _drop_duplicates(folder: Folder, plan: WorkPlan, number: int) -> Report:
    """Write the final part of a shard: what was cleaned, without the pages that repeat another one."""
    began = time.monotonic()
    name = part_name(number, plan.job.format)
    dropped = read_duplicates(folder, number)
    writer = make_writer(plan.job)
    rejects = list(read_rejects(folder.read(rejects_name(number, CLEANED_REJECTS))))
    reasons: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    words = 0
    for index, row in enumerate(read_rows(plan.job, folder.read(cleaned_name(name)))):
        if index in dropped:
            reason, first = dropped[index]
            rejects.append(Reject(reason, f"repeats {first}", row[_SOURCE], row[_POSITION], row[_ID], row[_URL]))
            reasons[reason] += 1
        else:
            writer.add(row)
            words += row[_WORDS]
            languages[row[_LANGUAGE] or UNKNOWN_LANGUAGE] += 1
    _write_rejects(folder, number, rejects)
    folder.write(name, writer.finish())
    before = folder.marker("clean", number)
    if before is None:
        raise MainmatterError(f"{folder.out}: shard {number} has not been cleaned")
    kept = before.kept - reasons.total()
    all_reasons = dict(Counter(before.rejects) + reasons)
    seconds = round(time.monotonic() - began, 3)
    done = replace(before, stage="unique", kept=kept, rejects=all_reasons, words=words, seconds=seconds)
    return replace(done, languages=languages)


def _write_rejects(folder: Folder, number: int, rejects: list[Reject]) -> None:
    if rejects:
        folder.write(rejects_name(number), rejects_to_bytes(rejects))


def _guard() -> Guard:
    """The guard of this process, whose child lives on from shard to shard."""
    global _the_guard  # noqa: PLW0603 - one for a process
    if _the_guard is not None and _the_guard.pid == os.getpid() and _the_guard.folder != Path.cwd():
        _the_guard.close()
        _the_guard = None
    if _the_guard is None or _the_guard.pid != os.getpid():  # a forked process must not talk with its parent's child
        _the_guard = Guard()
        atexit.register(_the_guard.close)
    return _the_guard


_the_guard: Guard | None = None
