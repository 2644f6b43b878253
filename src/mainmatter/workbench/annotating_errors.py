"""Errors of Annotate, and their answers."""

from __future__ import annotations

from typing import Any

from mainmatter.workbench.answers import HINTS, STATUSES, ErrorAnswer
from mainmatter.workbench.answers import error_answers as common_error_answers
from mainmatter.workbench.labels import AnnotationError, NoSuchPage, Stale


class NoSuchImport(AnnotationError):
    """There is no import of that name, or none any more."""


class StillLabelling(AnnotationError):
    """Who asks is still labelling the page: what others said would bias them."""


STATUSES.update({NoSuchPage: 404, NoSuchImport: 404, StillLabelling: 409, Stale: 409})
HINTS.update(
    {
        NoSuchPage: "load the list of pages again",
        NoSuchImport: "load the list of pages again, to see what was added",
        StillLabelling: "finish the page first",
        Stale: "load the page again",
    }
)
_MEANINGS = {404: "There is no such page or import.", 409: "The labels were changed meanwhile: load them again."}


def error_answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a route's documentation says about the errors that it may give."""
    answers = common_error_answers(*(status for status in statuses if status not in _MEANINGS))
    for status in statuses:
        if status in _MEANINGS:
            answers[status] = {"model": ErrorAnswer, "description": _MEANINGS[status]}
    return answers
