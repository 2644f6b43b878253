"""/api/teach: from annotations to a model, as a job; the models of the workbench and what they gained."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Response
from pydantic import BaseModel, ConfigDict, Field

from mainmatter.errors import InputError, ModelError, UnknownName
from mainmatter.lab.bench.peers import PEERS
from mainmatter.lab.training.teach import FEWEST, LESSONS, need_enough, read_lessons
from mainmatter.models.store import load
from mainmatter.registry import METHODS, make_untrained, method_names, trainable_names
from mainmatter.workbench.answers import error_answer, error_answers
from mainmatter.workbench.choosing import MODELS, model_names, needs_model
from mainmatter.workbench.jobs import AlreadyTeaching, Job, Jobs
from mainmatter.workbench.labels.gold import READY, count_ready
from mainmatter.workbench.labels.store import Store
from mainmatter.workbench.workbench import Workbench, take_turn_at_store, workbench_of

router = APIRouter(prefix="/api/teach", tags=["teach"], dependencies=[Depends(take_turn_at_store)])

_NAME = r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}"
Bench = Annotated[Workbench, Depends(workbench_of)]


class Start(BaseModel):
    """What to teach."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(
        pattern=f"^{_NAME}$",
        description="The name of the model: letters, digits, - and _. A model of that name is replaced.",
        examples=["our-forum"],
    )
    method: str = Field(default="main", max_length=60, description="The method that learns, by its plain name.")
    split: Literal["auto", "site", "page"] = Field(
        default="auto", description="Whether whole sites are left out to measure on, or single pages."
    )
    curve: bool = Field(default=True, description="Learn from 1, 2, 4, ... pages too, for the learning curve.")


@router.get("", summary="How teaching stands")
def stand(workbench: Bench) -> dict[str, Any]:
    """The pages that are ready, the last job with its progress, all lessons so far, and the models."""
    job = _jobs(workbench).current()
    lessons = read_lessons(workbench.models / LESSONS)
    return {
        "ready": _ready(workbench),
        "methods": _methods(),
        "job": _to_json(job, workbench),
        "lessons": lessons,
        "models": [_model(workbench, name, lessons) for name in model_names(workbench.models)],
    }


@router.post("", status_code=202, summary="Start teaching", response_model=None, responses=error_answers(422))
def start(asked: Start, workbench: Bench) -> Response | dict[str, Any]:
    """Start a job that learns from all pages that are ready and measures the gain. There is one at a time: else 409."""
    if asked.name in method_names() or asked.name in PEERS:
        raise InputError(f"{asked.name} is the name of a method; choose another name for the model")
    if asked.method not in _learning():
        raise UnknownName("method that learns from labels", asked.method, _learning())
    make_untrained(asked.method).need_extras()
    ready = _ready(workbench)
    need_enough(ready["usable"], ready["pages"])
    arguments = ["--split", asked.split] if asked.split != "auto" else []
    if not asked.curve:
        arguments.append("--no-points")
    try:
        job = _jobs(workbench).start(asked.name, asked.method, arguments)
    except AlreadyTeaching as error:
        text, _, hint = str(error).partition("; ")
        return error_answer(409, text, hint)
    return {"job": _to_json(job, workbench)}


@router.post("/cancel", summary="Cancel teaching")
def cancel(workbench: Bench) -> dict[str, Any]:
    """End the job that runs; no model is written. Where none runs, nothing happens."""
    return {"job": _to_json(_jobs(workbench).cancel(), workbench)}


@router.delete("/models/{name}", summary="Delete a model", responses=error_answers(422))
def delete(
    name: Annotated[str, Path(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_. -]{0,99}$", description="The model's name.")],
    workbench: Bench,
) -> dict[str, str]:
    """Delete a model of the workbench. What its lesson gained stays in the list of lessons."""
    if MODELS + name not in model_names(workbench.models):
        raise UnknownName("model", MODELS + name, model_names(workbench.models))
    path = workbench.models / name
    if path.is_symlink():
        raise InputError(f"{name} is a link to a model elsewhere; delete it there")
    # In one step: nobody finds half a model.
    doomed = path.with_name(f".{name}.deleted.{os.getpid()}")
    path.rename(doomed)
    shutil.rmtree(doomed, ignore_errors=True)
    return {"deleted": name}


def _jobs(workbench: Workbench) -> Jobs:
    """The jobs of a workbench: one object for each server, which asks for the end of the processes that it started."""
    jobs: Jobs | None = _JOBS.get(str(workbench.settings.folder.absolute()))
    if jobs is None:
        jobs = _JOBS.setdefault(str(workbench.settings.folder.absolute()), Jobs(workbench.settings.folder.absolute()))
    return jobs


_JOBS: dict[str, Jobs] = {}


def _ready(workbench: Workbench) -> dict[str, int]:
    """How many pages are ready, by readiness; `usable` is how many that makes."""
    if not workbench.database.is_file():
        return {"pages": 0, "usable": 0, "needed": FEWEST}
    with Store(workbench.database, create=False) as store:
        counts = count_ready(store)
    usable = sum(counts[readiness] for readiness in READY)
    by_readiness = {str(readiness): count for readiness, count in counts.items()}
    return {"pages": sum(counts.values()), "usable": usable, "needed": FEWEST, **by_readiness}


def _methods() -> list[dict[str, str]]:
    """The methods that learn, `main` first, with what they begin from."""
    return [
        {
            "name": name,
            "summary": make_untrained(name).summary,
            "begins": "goes on from the shipped model" if name == "main" else "begins from nothing",
        }
        for name in _learning()
    ]


def _learning() -> list[str]:
    """The methods that learn from labels: `template` counts what sites repeat, and does not look at them."""
    names = (name for name in trainable_names() if name in METHODS and not needs_model(name))
    return sorted(names, key=lambda name: (name != "main", name))


def _to_json(job: Job | None, workbench: Workbench) -> dict[str, Any] | None:
    """A job for clients, which need not know where the workbench lies."""
    if job is None:
        return None
    told = asdict(job)
    folder = workbench.settings.folder
    told["command"] = job.command.replace(
        str(folder.absolute()), str(folder) if not folder.is_absolute() else folder.name
    )
    told["error"] = job.error.replace(f"{folder.absolute()}{os.sep}", "").replace(str(folder.absolute()), folder.name)
    if told["lesson"] is not None:
        told["lesson"]["model"] = MODELS + job.name
    return told


def _model(workbench: Workbench, name: str, lessons: list[dict[str, Any]]) -> dict[str, Any]:
    """A model with what its card says; a damaged one is told as such."""
    plain = name.removeprefix(MODELS)
    entry: dict[str, Any] = {"name": plain, "method_name": name, "problem": ""}
    try:
        model = load(workbench.models / plain)
    except ModelError as error:
        return {**entry, "problem": re.sub(r"^\S*?: ", "", str(error))}
    lesson = model.card.get("lesson") or next((each for each in lessons if each.get("name") == plain), {})
    gains = lesson.get("gains") or [{}]
    return {
        **entry,
        "method": model.method,
        "pages": (model.card.get("pages") or {}).get("learned_from"),
        "gain": gains[0],
        "recommended": lesson.get("recommended"),
        "verdict": lesson.get("verdict", ""),
        "card": model.card,
    }
