"""/api/teach: from annotations to a model, as a job; the models of the workbench and what they gained.

There is one job at a time, in a process of its own that outlives the server. It is some files in the workbench's folder
`teaching`: job.json (what was asked), log.jsonl (what it prints), errors.txt and lock. The process holds the lock as
long as it lives, whatever happens to the server, so that nobody has to guess from its process id whether it still runs.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Request, Response
from pydantic import Field

from mainmatter.errors import InputError, ModelError, UnknownName
from mainmatter.files import write_whole
from mainmatter.lab.peers import PEERS
from mainmatter.lab.training.teach import FEWEST, LESSONS, need_enough, read_lessons
from mainmatter.lab.training.verdict import LIKELY, weigh_answers
from mainmatter.models.in_use import write_choice
from mainmatter.models.store import load
from mainmatter.registry import DEFAULT_METHOD, METHODS, make_untrained, method_names, trainable_names
from mainmatter.workbench import blind
from mainmatter.workbench.answers import error_answer, error_answers
from mainmatter.workbench.blind import count_preferences
from mainmatter.workbench.choosing import MODELS, method_in_use, model_names, needs_model, offered_method, use_method
from mainmatter.workbench.labels.gold import READY, count_ready
from mainmatter.workbench.labels.store import Store
from mainmatter.workbench.reading import StrictModel
from mainmatter.workbench.workbench import Workbench, take_turn_at_store, workbench_of

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

router = APIRouter(prefix="/api/teach", tags=["teach"], dependencies=[Depends(take_turn_at_store)])
router.include_router(blind.router)

_NAME = r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}"
State = Literal["running", "finished", "failed", "cancelled", "died"]

_FOLDER, _JOB, _LOG, _ERRORS, _LOCK = "teaching", "job.json", "log.jsonl", "errors.txt", "lock"
_MOST_LINES = 200  # of the log that are shown
_PATIENCE = 3.0  # seconds that a process has for ending by itself
_MOMENT = 0.3  # longer than anybody holds the lock for asking whether another one does
_PAUSE = 0.05
_NICENESS = 10  # pages that people look at go first
_DIED = "the process ended without a message: it was killed, or the machine went down; start it again"


class AlreadyTeaching(InputError):
    """A job is already running, and there can be only one."""


@dataclass(frozen=True)
class TeachingJob:
    """A job and its progress.

    Attributes:
        id: its number; a later job's is larger.
        name: the name of the model.
        method: the method that learns.
        command: the command line that does the same.
        started: when it started, as ISO 8601 in UTC.
        state: whether it runs or, if it does not, how it ended.
        done: units of work that are done.
        of: units of work in all.
        doing: what is being done.
        points: the points of the learning curve so far.
        log: its output.
        lesson: its result, once it is finished.
        error: why it failed or died; else "".
    """

    id: int
    name: str
    method: str
    command: str
    started: str
    state: State
    done: int = 0
    of: int = 1
    doing: str = ""
    points: list[dict[str, Any]] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    lesson: dict[str, Any] | None = None
    error: str = ""


class TeachingJobs:
    """The jobs of a workbench.

    Args:
        workbench: its folder.
    """

    def __init__(self, workbench: pathlib.Path) -> None:
        self.workbench = workbench
        self.folder = workbench / _FOLDER

    def start(self, name: str, method: str, arguments: Sequence[str] = ()) -> TeachingJob:
        """Start teaching.

        Args:
            name: of the model, which is one of a file, too.
            method: the method that learns.
            arguments: other arguments of `mainmatter teach`.

        Raises:
            AlreadyTeaching: another job still runs.
            OSError: the folder cannot be written.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        last = self.current()
        # A job that has said its last word may need a moment to go.
        lock = self._take_lock(_PATIENCE if last is not None and last.state != "running" else _MOMENT)
        try:
            before = self._read_job()
            output = self.workbench / "models" / name
            given = ["teach", str(self.workbench), "-o", str(output), "-m", method, *arguments]
            job = {
                "id": (before or {"id": 0})["id"] + 1,
                "name": name,
                "method": method,
                "command": shlex.join(["mainmatter", *given]),
                "started": datetime.now(UTC).isoformat(timespec="seconds"),
            }
            (self.folder / _LOG).write_bytes(b"")
            self._write_job(job)
            self._write_job(job | {"pid": self._launch([*given, "--json"], lock)})
        finally:
            os.close(lock)  # the process has it now
        started = self.current()
        assert started is not None
        return started

    def current(self) -> TeachingJob | None:
        """The last job, running or not; None if there was none."""
        facts = self._read_job()
        return None if facts is None else self._to_job(facts)

    def cancel(self) -> TeachingJob | None:
        """End the running job, and wait for its end; its model is not written. Returns the last job."""
        facts = self._read_job()
        if facts is None or not self._is_held():
            return self.current()
        self._write_job(facts | {"cancelled": True})
        process = facts.get("pid") or self._read_events().get("pid")
        for number in (signal.SIGTERM, signal.SIGKILL):
            if isinstance(process, int) and self._is_held():
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process, number)
            if self._wait():
                break
        shutil.rmtree(self.workbench / "models" / f".{facts['name']}.{process}", ignore_errors=True)
        return self.current()

    def _launch(self, arguments: Sequence[str], lock: int) -> int:
        """Start the process, which keeps the lock, in a session of its own, so that it outlives the server."""
        one_core = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        with (self.folder / _LOG).open("ab") as log, (self.folder / _ERRORS).open("wb") as errors:
            process = subprocess.Popen(  # noqa: S603 - ourselves
                [sys.executable, "-m", "mainmatter", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=errors,
                pass_fds=[lock],
                start_new_session=True,
                env={**os.environ, **one_core, "PYTHONUNBUFFERED": "1"},
            )
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process.pid, _NICENESS)
        threading.Thread(target=process.wait, daemon=True).start()  # or it would stay as a zombie when it has ended
        return process.pid

    def _take_lock(self, patience: float) -> int:
        lock = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        end = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > end:
                    os.close(lock)
                    raise AlreadyTeaching("a model is being taught already; wait for it, or cancel it") from None
                time.sleep(_PAUSE)
            else:
                return lock

    def _is_held(self) -> bool:
        """Whether the process of the last job is alive."""
        try:
            lock = os.open(self.folder / _LOCK, os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
        return False

    def _wait(self) -> bool:
        end = time.monotonic() + _PATIENCE
        while self._is_held():
            if time.monotonic() > end:
                return False
            time.sleep(_PAUSE)
        return True

    def _write_job(self, facts: dict[str, Any]) -> None:
        write_whole(self.folder / _JOB, json.dumps(facts).encode("utf-8"))

    def _read_job(self) -> dict[str, Any] | None:
        try:
            facts = json.loads((self.folder / _JOB).read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(facts, dict) or not isinstance(facts.get("id"), int):
            return None
        texts = (facts.get(name) for name in ("name", "method", "command", "started"))
        return facts if all(isinstance(text, str) for text in texts) else None

    def _to_job(self, facts: dict[str, Any]) -> TeachingJob:
        # In this order: a process that ends between the two has said its last word before.
        is_alive = self._is_held()
        found = self._read_events()
        error = found.get("error", "")
        state: State = "running"
        if "lesson" in found:
            state = "finished"
        elif error:
            state = "failed"
        elif not is_alive:
            cancelled = facts.get("cancelled") or found.get("interrupted")
            state, error = ("cancelled", "") if cancelled else ("died", self._last_words())
        told = ("done", "of", "doing", "points", "log", "lesson")
        asked = {name: facts[name] for name in ("id", "name", "method", "command", "started")}
        return TeachingJob(**asked, state=state, error=error, **{name: found[name] for name in told if name in found})

    def _read_events(self) -> dict[str, Any]:
        """The state of a job, from the output of its process so far."""
        found: dict[str, Any] = {"points": [], "log": []}
        try:
            lines = (self.folder / _LOG).read_bytes().splitlines()
        except OSError:
            return found
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:  # it is being written, or was cut off
                continue
            if isinstance(event, dict):
                _add(found, event.pop("event", ""), event)
        found["log"] = found["log"][-_MOST_LINES:]
        return found

    def _last_words(self) -> str:
        try:
            lines = (self.folder / _ERRORS).read_text("utf-8", errors="replace").split("\n")
        except OSError:
            lines = []
        said = [line.strip() for line in lines if line.strip()]
        return f"{_DIED}; its last output: {said[-1][:300]}" if said else _DIED


def _add(found: dict[str, Any], kind: str, event: dict[str, Any]) -> None:
    """Update a job with an event."""
    match kind:
        case "start":
            found["pid"] = event.get("pid")
        case "step":
            found |= {name: event[name] for name in ("done", "of", "doing") if name in event}
        case "point":
            found["points"].append(event)
        case "say":
            found["log"].append(str(event.get("line", "")))
        case "lesson":
            found["lesson"] = event
        case "error":
            found["error"] = str(event.get("error", "it failed"))
        case "interrupted":
            found["interrupted"] = True


async def jobs_of(request: Request) -> TeachingJobs:
    """The jobs of the server that got a request; for `Depends`."""
    jobs: TeachingJobs = request.app.state.teaching
    return jobs


Bench = Annotated[Workbench, Depends(workbench_of)]
Jobs = Annotated[TeachingJobs, Depends(jobs_of)]


class TeachRequest(StrictModel):
    """What to teach."""

    name: str = Field(
        pattern=f"^{_NAME}$",
        description="The name of the model: letters, digits, - and _. An existing model of that name is replaced.",
        examples=["our-forum"],
    )
    method: str = Field(default="main", max_length=60, description="The method that learns, by its plain name.")
    split: Literal["auto", "site", "page"] = Field(
        default="auto", description="Whether to measure on left-out sites, or on left-out single pages."
    )
    curve: bool = Field(default=True, description="Also learn from 1, 2, 4, ... pages, for the learning curve.")
    quick: bool = Field(default=False, description="Be fast: no learning curve, and fewer parts.")


class UseRequest(StrictModel):
    """What to use."""

    model: str = Field(
        max_length=100, description="A model of this workbench, by its plain name; `main` for the shipped one."
    )


@router.get("", summary="The state of teaching")
def stand(workbench: Bench, jobs: Jobs) -> dict[str, Any]:
    """The pages that are ready, the last job with its progress, all lessons so far, the models, and the one in use.

    For each model: the `probability` that it is better than the shipped one on other pages of this kind, including
    blind comparisons (`preferred`); whether it is `recommended`; and whether it is `in_use`.
    """
    job = jobs.current()
    lessons = read_lessons(workbench.models / LESSONS)
    return {
        "ready": _ready(workbench),
        "methods": _methods(),
        "job": _to_json(job, workbench),
        "lessons": lessons,
        "models": [_model(workbench, name, lessons) for name in model_names(workbench.models)],
        **_in_use(workbench),
    }


@router.post("", status_code=202, summary="Start teaching", response_model=None, responses=error_answers(400, 422))
def start(asked: TeachRequest, workbench: Bench, jobs: Jobs) -> Response | dict[str, Any]:
    """Start a job that learns from all pages that are ready and measures the gain. One job at a time: otherwise 409."""
    if asked.name in method_names() or asked.name in PEERS:
        raise InputError(f"{asked.name} is the name of a method; choose another name for the model")
    if asked.method not in _learning():
        raise UnknownName("method that learns from labels", asked.method, _learning())
    make_untrained(asked.method).need_extras()
    ready = _ready(workbench)
    need_enough(ready["usable"], ready["pages"])
    arguments = ["--split", asked.split] if asked.split != "auto" else []
    if asked.quick:
        arguments.append("--quick")
    elif not asked.curve:
        arguments.append("--no-points")
    try:
        job = jobs.start(asked.name, asked.method, arguments)
    except AlreadyTeaching as error:
        text, _, hint = str(error).partition("; ")
        return error_answer(409, text, hint)
    return {"job": _to_json(job, workbench)}


@router.post("/cancel", summary="Cancel teaching")
def cancel(workbench: Bench, jobs: Jobs) -> dict[str, Any]:
    """End the running job; no model is written. If none runs, nothing happens."""
    return {"job": _to_json(jobs.cancel(), workbench)}


@router.post("/use", summary="Make a model the default", responses=error_answers(400, 422))
def use(asked: UseRequest, workbench: Bench) -> dict[str, Any]:
    """Use a model, or `main` again, wherever no method is named; on a local server, also on the command line."""
    name = DEFAULT_METHOD if asked.model == DEFAULT_METHOD else MODELS + asked.model
    use_method(workbench.models, name)
    on_command_line = workbench.settings.is_local
    if on_command_line:
        path = (workbench.models / asked.model).resolve()
        try:
            write_choice(None if name == DEFAULT_METHOD else str(path))
        except OSError:  # a folder of the user's that cannot be written is no reason not to use it here
            on_command_line = False
    return {**_in_use(workbench), "on_command_line": on_command_line}


@router.delete("/models/{name}", summary="Delete a model", responses=error_answers(422))
def delete(
    name: Annotated[str, Path(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_. -]{0,99}$", description="The model's name.")],
    workbench: Bench,
) -> dict[str, str]:
    """Delete a model of the workbench. Its lesson stays in the list of lessons."""
    if MODELS + name not in model_names(workbench.models):
        raise UnknownName("model", MODELS + name, model_names(workbench.models))
    if MODELS + name == offered_method(workbench.models):
        raise InputError(f"{name} is in use; go back to main first, or use another model")
    path = workbench.models / name
    if path.is_symlink():
        raise InputError(f"{name} is a link to a model elsewhere; delete the model there")
    # In one step: nobody finds half a model.
    deleted = path.with_name(f".{name}.deleted.{os.getpid()}")
    path.rename(deleted)
    shutil.rmtree(deleted, ignore_errors=True)
    return {"deleted": name}


def _ready(workbench: Workbench) -> dict[str, int]:
    """How many pages there are, by readiness; `usable` counts those that are ready."""
    if not workbench.database.is_file():
        return {"pages": 0, "usable": 0, "needed": FEWEST}
    with Store(workbench.database, create=False) as store:
        counts = count_ready(store)
    usable = sum(counts[readiness] for readiness in READY)
    by_readiness = {str(readiness): count for readiness, count in counts.items()}
    return {"pages": sum(counts.values()), "usable": usable, "needed": FEWEST, **by_readiness}


def _in_use(workbench: Workbench) -> dict[str, str]:
    """The default method, and what is wrong with it, if anything."""
    try:
        return {"in_use": method_in_use(workbench.models), "in_use_problem": ""}
    except ModelError as error:
        return {"in_use": DEFAULT_METHOD, "in_use_problem": workbench.tell(error)}


def _methods() -> list[dict[str, str]]:
    """The methods that learn, `main` first, with what they start from."""
    return [
        {
            "name": name,
            "summary": make_untrained(name).summary,
            "begins": "starts from the shipped model" if name == "main" else "starts from scratch",
        }
        for name in _learning()
    ]


def _learning() -> list[str]:
    """The methods that learn from labels; `template` is not among them, since it counts what sites repeat."""
    names = (name for name in trainable_names() if name in METHODS and not needs_model(name))
    return sorted(names, key=lambda name: (name != "main", name))


def _to_json(job: TeachingJob | None, workbench: Workbench) -> dict[str, Any] | None:
    """A job for clients, without the path of the workbench."""
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
    """A model with the contents of its card; a damaged one is reported as such."""
    plain = name.removeprefix(MODELS)
    entry: dict[str, Any] = {"name": plain, "method_name": name, "problem": "", "probability": None, "in_use": False}
    try:
        model = load(workbench.models / plain)
    except ModelError as error:
        return {**entry, "problem": re.sub(r"^\S*?: ", "", str(error))}
    lesson = model.card.get("lesson") or next((each for each in lessons if each.get("name") == plain), {})
    gains = lesson.get("gains") or [{}]
    wins, losses, same = count_preferences(workbench, plain)
    probability = lesson.get("probability")
    if probability is not None:
        probability = weigh_answers(probability, wins, losses)
    return {
        **entry,
        "probability": probability,
        "outlook": lesson.get("outlook"),
        "preferred": {"taught": wins, "shipped": losses, "same": same},
        "in_use": name == offered_method(workbench.models),
        "method": model.method,
        "pages": (model.card.get("pages") or {}).get("learned_from"),
        "gain": gains[0],
        "recommended": None if probability is None else probability >= LIKELY and not lesson.get("below_default"),
        "verdict": lesson.get("verdict", ""),
        "card": model.card,
    }
