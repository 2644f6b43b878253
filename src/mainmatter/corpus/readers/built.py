"""Folders that hold a corpus already, given as an input: its parts are read, and what else the run wrote is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mainmatter.corpus.folder import REJECTS, RUN, SUMMARY
from mainmatter.errors import InputError

if TYPE_CHECKING:
    from mainmatter.corpus.storage import Facts

_PLAN = f"{RUN}/plan.json"  # what tells the folder of a run from others


def without_run_files(folder: str, files: list[tuple[str, Facts]]) -> list[tuple[str, Facts]]:
    """The files below a folder, as `storage.list_files` gives them, without the rejects and notes of corpora there.

    Raises:
        InputError: a corpus there is not complete; pages would be missing without a word.
    """
    names = {name for name, _ in files}
    roots = [name.removesuffix(_PLAN) for name in names if name == _PLAN or name.endswith(f"/{_PLAN}")]
    for root in sorted(roots):
        if f"{root}{SUMMARY}" not in names:
            where = f"{folder.rstrip('/')}/{root}".rstrip("/")
            raise InputError(
                f"{where}: holds a corpus that is not complete; run the command that makes it again, which goes on "
                "where it was, or name its parts (part-*) one by one"
            )
    if not roots:
        return files
    folders = tuple(f"{root}{name}/" for root in roots for name in (RUN, REJECTS))
    summaries = {f"{root}{SUMMARY}" for root in roots}
    return [one for one in files if not one[0].startswith(folders) and one[0] not in summaries]
