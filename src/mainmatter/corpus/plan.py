"""The plan of a run, laid down in OUT/__run when it begins: what is wanted, and which shards there are.

Whoever works on a shard finds all of it there. A run that is begun again goes on with its plan, and is refused if
anything that the output depends on has changed since.

The inputs and their dates lie in a file of their own: of 100,000 archives they are 30 MB, and only whoever begins or
goes on with a run needs them. Workers read the job and the list of shards that theirs is in.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from mainmatter.corpus.folder import INPUTS, PLAN, RUN, Folder
from mainmatter.corpus.job import Job
from mainmatter.corpus.records import Slice
from mainmatter.corpus.storage import at_once
from mainmatter.corpus.typed_json import build
from mainmatter.corpus.writers import mainmatter_version
from mainmatter.errors import InputError
from mainmatter.models.store import last_change
from mainmatter.registry import split_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_SHARDS_IN_FILE = 500  # so that who works on one shard need not read of a million
_BYTES_IN_FILE = 1 << 20  # beyond which no shard is added: one of small files names thousands of them
_MOST_NAMED = 3  # inputs, in an error
_LAYOUT = 3  # of the files in OUT/__run, and of what is read from which input
_OLD_LAYOUT = 2  # inputs and dates in the plan's own file, 500 shards in each list


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
    """Lay the plan down; its own file last, so that a plan that is there is whole."""
    lists = list(_lists_of(shards))
    firsts = [0, *accumulate(len(some) for some in lists)][: len(lists)]

    def write(number: int) -> None:
        folder.write(_shards_file(number), f"[{', '.join(lists[number])}]".encode())

    for _ in at_once(write, range(len(lists)), folder.out):
        pass
    folder.write(INPUTS, json.dumps({"inputs": plan.inputs, "stamps": plan.stamps}).encode())
    content = asdict(replace(plan, inputs=(), stamps={}))
    content = {"layout": _LAYOUT} | content | {"job": plan.job.to_json(), "lists": firsts}
    del content["inputs"], content["stamps"]
    folder.write(PLAN, (json.dumps(content, indent=1) + "\n").encode())


def _lists_of(shards: Sequence[Sequence[Slice]]) -> Iterator[list[str]]:
    """Shards as JSON, some in each list."""
    some: list[str] = []
    size = 0
    for shard in shards:
        text = json.dumps([asdict(one) for one in shard])
        if some and (len(some) == _SHARDS_IN_FILE or size + len(text) > _BYTES_IN_FILE):
            yield some
            some, size = [], 0
        some.append(text)
        size += len(text)
    if some:
        yield some


def read_plan(folder: Folder) -> Plan:
    """The plan that was laid down.

    Raises:
        InputError: there is none, or it is of another version.
    """
    content = _load_plan(folder)
    if content.pop("layout") == _LAYOUT:
        content = _load(folder, INPUTS) | content
        content.pop("lists", None)
    try:
        plan = build(Plan, content)
        if not {"method", "filters"} <= content["job"].keys():  # earlier versions had fewer fields, but these
            raise ValueError("job is not complete")
    except (ValueError, RecursionError) as error:
        raise _damaged(folder, PLAN) from error
    return plan


def read_shard(folder: Folder, number: int) -> tuple[Slice, ...]:
    """The slices of a shard.

    Raises:
        InputError: the file that lists them is damaged.
        FileNotFoundError: it is gone.
    """
    return WorkPlan(folder).slices(number)


@dataclass
class WorkPlan:
    """What a worker needs of a plan: the job and the slices of its shards; each file is read when it is asked for.

    Attributes:
        folder: of the run.
    """

    folder: Folder
    _list: tuple[int, Any] = (-1, None)  # the one that was read last

    @cached_property
    def job(self) -> Job:
        """What is wanted."""
        return build(Job, self._content["job"])

    def slices(self, number: int) -> tuple[Slice, ...]:
        """The slices of a shard.

        Raises:
            InputError: their file is damaged.
        """
        firsts = self._content.get("lists", range(0, number + 1, _SHARDS_IN_FILE))
        nth = bisect_right(firsts, number) - 1
        try:
            if self._list[0] != nth:
                self._list = nth, json.loads(self.folder.read(_shards_file(nth)))
            some = self._list[1][number - firsts[nth]]
            return tuple(build(Slice, one) for one in some)
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            raise _damaged(self.folder, _shards_file(nth)) from error

    @cached_property
    def _content(self) -> dict[str, Any]:
        return _load_plan(self.folder)


@lru_cache(maxsize=1)
def work_plan_of(out: str, run: str) -> WorkPlan:  # noqa: ARG001 - tells one run from another
    """The plan of a run under way, of which a process reads each file once, whatever it works on.

    Args:
        out: the output folder.
        run: differs with each start of a run, whose plan does not change until it ends.
    """
    return WorkPlan(Folder(out))


def check_same(folder: Folder, old: Plan, new: Plan) -> None:
    """Make sure that a run which goes on does so with the plan that it began with.

    Raises:
        InputError: something has changed; tells what.
    """
    before, now = options_of(old.job), options_of(new.job)
    changes = [f"{name} was {before[name]!r} and is now {now[name]!r}" for name in now if before.get(name) != now[name]]
    if old.inputs != new.inputs:
        changes.append(f"the inputs were {_brief(old.inputs)} and are now {_brief(new.inputs)}")
    elif old.stamps != new.stamps or old.shards != new.shards:
        names = [name for name in {**old.stamps, **new.stamps} if old.stamps.get(name) != new.stamps.get(name)]
        changes.append(f"{_brief(names) or 'the input'} has changed")
    if old.model != new.model:
        changes.append(f"the model {new.job.method} has changed")
    if old.version != new.version:
        changes.append(f"the version of mainmatter was {old.version} and is now {new.version}")
    if changes:
        raise InputError(
            f"{folder.out}: the run in this folder had other inputs or settings: {'; '.join(changes)}. "
            "Name another output folder, or use --restart, which deletes this run's results and starts over"
        )


def _brief(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return " ".join(names[:_MOST_NAMED]) + (f" and {more:,} others" if more > 0 else "")


def options_of(job: Job) -> dict[str, Any]:
    """What a job says, by name, as a plan holds it; what its filters say stands among the rest."""
    content: dict[str, Any] = json.loads(json.dumps(job.to_json()))
    filters: dict[str, Any] = content.pop("filters")
    return content | filters


def _load_plan(folder: Folder) -> dict[str, Any]:
    content = _load(folder, PLAN)
    if content.get("layout") not in (_LAYOUT, _OLD_LAYOUT):
        raise InputError(
            f"{folder.out}: the run was started by another version of mainmatter; use --restart to start over"
        )
    return content


def _load(folder: Folder, name: str) -> dict[str, Any]:
    try:
        content = json.loads(folder.read(name))
    except FileNotFoundError as error:
        raise InputError(f"{folder.out}: no run found; {name} is missing") from error
    except (ValueError, RecursionError) as error:
        raise _damaged(folder, name) from error
    if not isinstance(content, dict):
        raise _damaged(folder, name)
    return content


def _damaged(folder: Folder, name: str) -> InputError:
    return InputError(f"{folder.path(name)}: is damaged; use --restart to start over")


def _shards_file(number: int) -> str:
    return f"{RUN}/shards-{number:05}.json"
