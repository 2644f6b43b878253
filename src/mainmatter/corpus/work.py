"""What is done with each page, in the child process: cleaned to a row, or only looked at for what its site repeats."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mainmatter.api import clean, read
from mainmatter.corpus.duplicates import signature
from mainmatter.corpus.language import load_identifier
from mainmatter.corpus.records import Record, Reject
from mainmatter.corpus.site_templates import method_with_templates, template_of
from mainmatter.corpus.writers import make_blocks, make_chunks, make_row, make_writer
from mainmatter.errors import MainmatterError, MissingExtra, NotAPage, PageTooLarge
from mainmatter.limits import Limits
from mainmatter.registry import get_method

if TYPE_CHECKING:
    from mainmatter.corpus.guard import Task
    from mainmatter.corpus.job import Job
    from mainmatter.records import Extraction

Result = tuple[tuple[Any, ...] | Reject, bytes]
Work = Callable[[Record], Result]
_REASONS: dict[type[MainmatterError], str] = {PageTooLarge: "too-large", NotAPage: "not-a-page"}  # of refused pages


def load_for_all(task: Task) -> None:
    """Load what takes long and all who work at a stage need, so that processes forked after this share it.

    What is missing is told by `make_work`.
    """
    if task.stage == "clean":
        with suppress(MissingExtra):
            load_identifier(task.languages)
    gc.freeze()  # what is not looked at is not copied


def check_work(job: Job) -> None:
    """Make sure that what all work on pages needs is there; only the model that tells languages is not loaded.

    Raises:
        MainmatterError: a model or an extra is missing.
    """
    try:
        import py3langid.modelio  # noqa: F401 - an extra
    except ImportError as error:
        raise MissingExtra("py3langid", "corpus") from error
    make_writer(job)
    _clean_work(job, None)


def make_work(task: Task) -> Work:
    """What to do with each record of a task. All that is loaded is loaded here, before memory is limited.

    Raises:
        MainmatterError: a model or an extra is missing.
    """
    if task.stage == "templates":
        return _count_work(task.job)
    load_identifier(task.languages)
    return _clean_work(task.job, task.templates)


def _count_work(job: Job) -> Work:
    """Only count what pages have in common with others of their site; for that, few pages of a site are enough."""
    limits = Limits(size=job.max_size)
    template = template_of(job)
    so_far = template.no_counts()

    def work(record: Record) -> Result:
        if not so_far.wants(record.page):
            return (), b""
        counts = template.no_counts()
        try:
            counts.add(read(record.page, limits))
        except tuple(_REASONS) as error:
            return _reject(record, _REASONS[type(error)], str(error)), b""
        so_far.merge(counts)
        return (counts.to_bytes(),), b""

    return work


def _clean_work(job: Job, templates: str | None) -> Work:
    if job.duplicates:
        signature(job.duplicates, "some words")  # loads what it needs at first use
    limits = Limits(size=job.max_size)
    name, parameters = job.method, dict(job.parameters)
    if templates is not None:
        name, parameters = method_with_templates(name, parameters, templates)
    method = get_method(name, **parameters)

    def work(record: Record) -> Result:
        try:
            extraction = clean(record.page, method=method, limits=limits)
        except tuple(_REASONS) as error:
            return _reject(record, _REASONS[type(error)], str(error)), b""
        return _to_result(job, record, extraction)

    with suppress(ArithmeticError, LookupError, TypeError, ValueError):  # another package's method may do anything
        clean(b"<p>Some words.</p>", method=method, limits=limits)  # loads what is loaded at first use
    return work


def _to_result(job: Job, record: Record, extraction: Extraction) -> Result:
    if not extraction.text.strip():
        return _reject(record, "empty", "no text was kept"), b""
    row = make_row(record, extraction)
    dropped = job.filters.why_dropped(record, row)
    if dropped is not None:
        return _reject(record, *dropped), b""
    duplicates_signature = signature(job.duplicates, row["text"]) if job.duplicates else b""
    if job.text_format != "text":
        row["text"] = extraction.render(job.text_format)
    values = tuple(row.values())
    if job.blocks:
        values += (make_blocks(extraction),)
    if job.chunks:
        values += (make_chunks(extraction, job.chunks, job.overlap),)
    return values, duplicates_signature


def _reject(record: Record, reason: str, detail: str) -> Reject:
    return Reject(reason, detail, record.source, record.position, record.page.id, record.page.url)
