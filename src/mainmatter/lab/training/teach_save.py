"""Lessons on disk: the model with its card, and the list of all lessons of a workbench."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from mainmatter.errors import InputError
from mainmatter.files import write_whole
from mainmatter.lab.training.card import card_page
from mainmatter.models.store import is_model, may_be_written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mainmatter.lab.training.teach_records import Gain, Lesson, Point

LESSONS = "lessons.jsonl"  # in the folder of a workbench's models
CARD_PAGE = "README.md"


def save_lesson(lesson: Lesson, folder: Path) -> int:
    """Write the model that was taught, with its card, in one step: whoever interrupts it finds all of it, or nothing.

    Args:
        lesson: what `teach` gave.
        folder: where; an older model there is replaced.

    Returns:
        The model's size in bytes.

    Raises:
        InputError: the folder holds something else.
        OSError: it cannot be written.
    """
    if not may_be_written(folder):
        raise InputError(f"{folder} holds something other than a model; choose another folder")
    if is_model(folder):  # the model's own file is replaced in one step, and the card's page after it
        return _write(lesson, folder)
    draft = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        size = _write(lesson, draft)
        if folder.is_dir():
            shutil.rmtree(folder)  # empty, or what is left of a model that was not finished
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return size


def _write(lesson: Lesson, folder: Path) -> int:
    size = lesson.model.save(folder, lesson.card)
    page = card_page(lesson.model, lesson.card, size) + _gain_section(lesson)
    write_whole(folder / CARD_PAGE, page.encode("utf-8"))
    return size


_SECTION = """
## Gain

{verdict}
{notes}
Each page was left out once, by {splitting}, in {folds} parts. The learning went on from: {start}.

| metric | pages | shipped | taught | gain | 95 % interval | p | better on | worse on |
| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: |
{gains}

| pages learned from | words | shipped | taught | gain | 95 % interval | p | better on | worse on |
| ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: |
{curve}
"""


def _gain_section(lesson: Lesson) -> str:
    return _SECTION.format(
        verdict=lesson.verdict,
        notes="".join(f"\nNote: {note}.\n" for note in lesson.notes),
        splitting=lesson.splitting,
        folds=lesson.folds,
        start=f"`{lesson.start}`, {lesson.strength:.0%} of the way" if lesson.start else "nothing",
        gains="\n".join(f"| {gain.metric} | {gain.pages} |{_cells(gain)}" for gain in lesson.gains),
        curve="\n".join(curve_rows(lesson.curve)),
    )


def curve_rows(curve: Sequence[Point]) -> list[str]:
    """The points of a learning curve as rows of a Markdown table."""
    return [f"| {point.pages} | {point.words:,} |{_cells(point.gain)}" for point in curve]


def _cells(gain: Gain) -> str:
    figures = (f"{gain.shipped:.3f}", f"{gain.taught:.3f}", f"{gain.gain:+.3f}", f"{gain.low:+.3f} to {gain.high:+.3f}")
    return "".join(f" {figure} |" for figure in (*figures, f"{gain.p:.2g}", gain.wins, gain.losses))


def record_lesson(file: Path, name: str, lesson: Lesson) -> None:
    """Add a lesson to the list of all, in short: so the learning curve grows as annotations come.

    Args:
        file: the list, one JSON object a line.
        name: of the model.
        lesson: what `teach` gave.
    """
    gain = lesson.gain
    entry = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "name": name,
        "method": lesson.method,
        "pages": lesson.pages,
        "sites": lesson.sites,
        "splitting": lesson.splitting,
        "recommended": lesson.is_recommended,
        "verdict": lesson.verdict,
        **{key: value for key, value in gain.to_json().items() if key not in ("pages", "sure")},
        "curve": [point.to_json() for point in lesson.curve],
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(entry, ensure_ascii=False) + "\n"
    with file.open("a", encoding="utf-8") as lines:  # one write of one line: others may append at the same time
        lines.write(line)


def read_lessons(file: Path) -> list[dict[str, Any]]:
    """All lessons, the oldest first; a line that a crash cut short is left out."""
    try:
        lines = file.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            found.append(entry)
    return found
