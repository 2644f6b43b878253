"""What sites repeat, over a whole run: counts of all shards in, tables for the method that cleans out."""

from __future__ import annotations

import tempfile
from functools import cache
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mainmatter.corpus.folder import RUN, Folder
from mainmatter.errors import InputError
from mainmatter.papers.template.method import Template
from mainmatter.papers.template.site_counts import METHOD as TEMPLATE
from mainmatter.papers.template.site_counts import SiteCounts
from mainmatter.registry import get_method, split_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mainmatter.corpus.job import Job

TEMPLATES = f"{RUN}/templates"
TABLES = f"{RUN}/site-templates"
FOUND = f"{RUN}/templates.json"
PARAMETER = "site_templates"  # of methods that can use them


def counts_name(number: int) -> str:
    """The name of the file of a shard's counts."""
    return f"{TEMPLATES}/{number:05}.bin"


def template_of(job: Job) -> Template:
    """The method that knows how to count: the job's own, or one that leaves it at the defaults."""
    method = get_method(job.method, **job.parameters)
    return method if isinstance(method, Template) else Template()


def merge_templates(folder: Folder, job: Job, shards: int) -> None:
    """Put the counts of all shards together, once: the tables are kept."""
    if folder.exists(FOUND):
        return
    template = template_of(job)
    counts = template.no_counts()
    for number in range(shards):
        counts.merge(SiteCounts.from_bytes(folder.read(counts_name(number))))
    with tempfile.TemporaryDirectory() as place:
        template.learn([counts]).save(place)
        for file in sorted(Path(place).iterdir()):
            folder.write(f"{TABLES}/{file.name}", file.read_bytes())
    folder.write(FOUND, b"{}\n")


def method_with_templates(method: str, parameters: Mapping[str, Any], out: str) -> tuple[str, dict[str, Any]]:
    """The method, and its parameters, that uses the tables of a run."""
    place = _here(out)
    if split_name(method)[0] == TEMPLATE:
        return f"{place}:{listed}" if (listed := split_name(method)[1]) else place, dict(parameters)
    return method, {**parameters, PARAMETER: place}


def check_method(method: str, parameters: Mapping[str, Any] = MappingProxyType({})) -> None:
    """Make sure that a method can use what is found out about sites, before any work.

    Raises:
        InputError: it has no use for that, or knows it already.
    """
    chosen = get_method(method, **parameters)
    if chosen.name == TEMPLATE:
        if split_name(method)[0] != TEMPLATE:
            raise InputError(f"{method} has already counted its sites")
    elif PARAMETER not in signature(type(chosen)).parameters:
        raise InputError(f"method {chosen.name!r} does not use what sites repeat; main and {TEMPLATE} do")


def check_has_templates(method: str) -> None:
    """Make sure that a method which needs to know what sites repeat does, where nothing is found out about that.

    Raises:
        InputError: it is `template` by itself, which would keep all text.
    """
    if split_name(method)[0] == TEMPLATE:
        raise InputError(
            f"method {TEMPLATE!r} knows no site yet, and would keep all text; add --site-templates, to find out first "
            "what each site repeats, or name the folder of a saved model of it"
        )


@cache
def _here(out: str) -> str:
    """The folder of the tables; where the output lies elsewhere, a copy on this machine."""
    folder = Folder(out)
    if folder.is_local:
        return folder.path(TABLES)
    place = tempfile.TemporaryDirectory()  # until this process ends
    _copies.append(place)
    for name in folder.names(TABLES):
        Path(place.name, name).write_bytes(folder.read(f"{TABLES}/{name}"))
    return place.name


_copies: list[tempfile.TemporaryDirectory[str]] = []
