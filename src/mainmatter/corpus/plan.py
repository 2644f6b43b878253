"""The plan of a run, laid down in OUT/__run when it begins: what is wanted, and which shards there are.

Whoever works on a shard finds all of it there. A run that is begun again goes on with its plan, and is refused if
anything that the output depends on has changed since.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from mainmatter.corpus.folder import PLAN, RUN, Folder
from mainmatter.corpus.job import Job
from mainmatter.corpus.records import Slice
from mainmatter.corpus.writers import mainmatter_version
from mainmatter.errors import InputError
from mainmatter.models.store import last_change
from mainmatter.registry import split_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHARDS_IN_FILE = 500  # so that who works on one shard need not read of a million
_LAYOUT = 2  # of the files in OUT/__run, and of what is read from which input


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run does.

    Attributes:
        job: what is wanted.
        inputs: the inputs, as they were named.
        shards: how many shards there are.
        stamps: for each input how large it was and when it was changed last, as far as its storage tells.
        model: when the method's model was changed last, if it is one in a folder.
        version: of mainmatter.
    """

    job: Job
    inputs: tuple[str, ...]
    shards: int
    stamps: Mapping[str, str]
    model: int | None = None
    version: str = ""


def make_plan(job: Job, inputs: Sequence[str], shards: int, stamps: Mapping[str, str]) -> Plan:
    """The plan of a run that begins now."""
    model = last_change(split_name(job.method)[0])
    return Plan(job, tuple(inputs), shards, stamps, model, mainmatter_version())


def write_plan(folder: Folder, plan: Plan, shards: Sequence[Sequence[Slice]]) -> None:
    """Lay the plan down; the shards first, so that a plan that is there is whole."""
    for first in range(0, len(shards), _SHARDS_IN_FILE):
        some = [[asdict(one) for one in shard] for shard in shards[first : first + _SHARDS_IN_FILE]]
        folder.write(_shards_file(first), json.dumps(some).encode())
    content = {"layout": _LAYOUT} | asdict(plan) | {"job": plan.job.to_json()}
    folder.write(PLAN, (json.dumps(content, indent=1) + "\n").encode())


def read_plan(folder: Folder) -> Plan:
    """The plan that was laid down.

    Raises:
        InputError: there is none, or it is of another version.
    """
    try:
        content = json.loads(folder.read(PLAN))
        if content.pop("layout", None) != _LAYOUT:
            raise InputError(f"{folder.out}: was begun by another version of mainmatter; --restart begins anew")
        return _to_plan(content)
    except FileNotFoundError as error:
        raise InputError(f"{folder.out}: holds no run; {PLAN} is missing") from error
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise InputError(f"{folder.out}: {PLAN} is damaged; --restart begins anew") from error


def _to_plan(content: dict[str, Any]) -> Plan:
    plan = Plan(**{**content, "job": Job.from_json(content["job"]), "inputs": tuple(content["inputs"])})
    texts = (*plan.inputs, *plan.stamps.keys(), *plan.stamps.values(), plan.job.method, plan.version)
    if type(plan.shards) is not int or not all(isinstance(text, str) for text in texts):
        raise TypeError("it is no plan")
    return plan


def read_shard(folder: Folder, number: int) -> tuple[Slice, ...]:
    """The slices of a shard.

    Raises:
        InputError: their file is damaged.
    """
    try:
        some = json.loads(folder.read(_shards_file(number)))[number % _SHARDS_IN_FILE]
        return tuple(Slice(**{**one, "files": tuple(one["files"])}) for one in some)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise InputError(f"{folder.path(_shards_file(number))}: is damaged; --restart begins anew") from error


def check_same(folder: Folder, old: Plan, new: Plan) -> None:
    """Make sure that a run which goes on does so with the plan that it began with.

    Raises:
        InputError: something has changed; tells what.
    """
    before, now = options_of(old.job), options_of(new.job)
    changes = [
        f"{name} was {before[name]!r}, and is {now[name]!r} now" for name in now if before.get(name) != now[name]
    ]
    if old.inputs != new.inputs:
        changes.append(f"the inputs were {' '.join(old.inputs)}, and are {' '.join(new.inputs)} now")
    elif old.stamps != new.stamps or old.shards != new.shards:
        names = [name for name in {**old.stamps, **new.stamps} if old.stamps.get(name) != new.stamps.get(name)]
        changes.append(f"{', '.join(names[:3]) or 'the input'}{' and others' * (len(names) > 3)} has changed")
    if old.model != new.model:
        changes.append(f"the model {new.job.method} has changed")
    if old.version != new.version:
        changes.append(f"mainmatter was version {old.version}, and is {new.version} now")
    if changes:
        raise InputError(
            f"{folder.out}: holds a run that was begun otherwise: {'; '.join(changes)}. "
            "Name another output folder, or begin anew with --restart, which deletes this one's result"
        )


def options_of(job: Job) -> dict[str, Any]:
    """What a job says, by name, as a plan holds it; what its filters say stands among the rest."""
    content: dict[str, Any] = json.loads(json.dumps(job.to_json()))
    filters: dict[str, Any] = content.pop("filters")
    return content | filters


def _shards_file(number: int) -> str:
    return f"{RUN}/shards-{number // _SHARDS_IN_FILE:05}.json"
