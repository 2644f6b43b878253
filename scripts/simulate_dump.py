"""Simulate `mainmatter corpus` on a dump of Common Crawl: how long it takes, what is lost on the way, what it costs.

python scripts/simulate_dump.py --cores 1000
python scripts/simulate_dump.py --cores 4000 --node-hours 6 --fail 0.001 --outage-hours 5 --outage-minutes 10

The plan is that of the real planner, which looks at a folder of archives that are only as large as it says; how a
request is repeated is asked of `mainmatter.corpus.retries`. All else is simulated, event by event: cores take shards in
order, machines die and are replaced, requests take their time and fail, and storage has outages. The same seed gives
the same run. Rates and prices are options: measure your own with `python -m bench corpus`.
"""

from __future__ import annotations

import heapq
import random
import tempfile
import time
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click
import fsspec

from mainmatter.corpus import Job, storage
from mainmatter.corpus.folder import Folder
from mainmatter.corpus.plan import make_plan, write_plan
from mainmatter.corpus.readers import find_shards, input_facts
from mainmatter.corpus.retries import DEADLINE, pause_before

if TYPE_CHECKING:
    from collections.abc import Callable

IN_LISTING = 1000  # keys in a page of a listing
AT_ONCE = 64  # requests of the driver
DRIVER_SECONDS = 0.002  # of processor time for a request of the driver, with s3fs
READ_AHEAD = 4.0  # MB that a worker reads with a request
GETS_OF_SHARD = 2  # the marker, which is not there, and the list of shards
HEADS_OF_SHARD = 1  # the archive's size
PUTS_OF_SHARD = 3  # the part, the rejects, the marker
GET_PRICE, PUT_PRICE = 0.4e-6, 5e-6  # dollars; listings cost as much as PUT, HEAD as much as GET


@dataclass(frozen=True)
class Dump:
    """What is simulated; times in seconds."""

    archives: int = 100_000
    archive_mb: float = 1000.0
    pages: float = 3e9
    shard_mb: float = 1000.0
    rate: float = 195.0  # pages a second of processor time
    spread: float = 0.15  # of the time that shards of one size take, as the sigma of a log-normal distribution
    duplicates: float = 0.0  # seconds of processor time for 1,000 pages, in a second stage
    cores: int = 1000
    cores_of_node: int = 16
    node_life: float = 48 * 3600.0  # mean time until a machine dies; 0 for never
    node_start: float = 180.0  # until another one takes its place
    notice: float = 20.0  # until its shards are given to others
    latency: float = 0.03
    bandwidth: float = 50.0  # MB a second and core
    fail: float = 1e-4  # share of requests that fail
    outage_every: float = 0.0  # mean time between outages of storage; 0 for none
    outage: float = 120.0
    restart: float = 600.0  # until somebody runs the command again when it has ended
    seed: int = 1


@dataclass
class Costs:
    """What came of it; times in seconds."""

    planning: float = 0.0
    stages: list[float] = field(default_factory=list)
    finishing: float = 0.0
    paid: float = 0.0  # of cores
    cleaning: float = 0.0
    lost: float = 0.0
    waiting: float = 0.0  # for storage, without what was lost
    requests: Counter[str] = field(default_factory=Counter)
    planned: Counter[str] = field(default_factory=Counter)  # requests of the planner alone
    retries: int = 0
    dead_nodes: int = 0
    given_up: int = 0  # runs
    shards: int = 0


class PlannedArchives(fsspec.AbstractFileSystem):  # type: ignore[misc]
    """A folder of archives for the planner. Nothing but their names and sizes is there; requests are counted."""

    protocol = "dump"
    cachable = False
    archives, size = 0, 0
    requests: ClassVar[Counter[str]] = Counter()

    def info(self, path: str, **_: object) -> dict[str, Any]:
        """What a folder or an archive is."""
        self.requests["HEAD"] += 1
        return self._archive(path) if path.endswith(".gz") else {"name": path, "size": 0, "type": "directory"}

    def find(self, path: str, **_: object) -> dict[str, dict[str, Any]]:
        """All archives."""
        self.requests["LIST"] += -(-self.archives // IN_LISTING)
        names = (f"{path}/{number:06}.warc.gz" for number in range(self.archives))
        return {name: self._archive(name) for name in names}

    def _archive(self, name: str) -> dict[str, Any]:
        return {"name": name, "size": self.size, "type": "file", "ETag": name}


def plan(dump: Dump, costs: Costs) -> list[float]:
    """Have the real planner plan the dump; gives the size of each shard in MB."""
    fsspec.register_implementation("dump", PlannedArchives, clobber=True)
    PlannedArchives.archives, PlannedArchives.size = dump.archives, round(dump.archive_mb * 1e6)
    PlannedArchives.requests = costs.requests
    job, inputs = Job(method="density", shard_size=round(dump.shard_mb * 1e6)), ["dump://crawl"]
    began = time.perf_counter()
    with storage.asked_once(inputs):
        # Archives that are larger than a shard are looked at, which these cannot be: they are planned as if cut.
        parts = max(1, -(-PlannedArchives.size // job.shard_size))
        PlannedArchives.archives, PlannedArchives.size = dump.archives * parts, PlannedArchives.size // parts
        shards = find_shards(inputs, job.shard_size)
        stamps = {facts.path: f"{facts.size} bytes, {facts.stamp}" for facts in input_facts(inputs)}
    if parts > 1:
        costs.requests += Counter({"HEAD": dump.archives, "GET": dump.archives})
    with tempfile.TemporaryDirectory() as place:
        write_plan(Folder(place), make_plan(job, inputs, len(shards), stamps), shards)
        costs.requests["PUT"] += sum(file.is_file() for file in Path(place).rglob("*"))
    costs.planned = costs.requests.copy()
    costs.planning = time.perf_counter() - began + driver_seconds(costs.requests.total(), dump)
    costs.shards = len(shards)
    return [sum(one.end - one.start for one in shard) / 1e6 for shard in shards]


def driver_seconds(requests: int, dump: Dump) -> float:
    """How long the driver takes for requests that it makes many at a time."""
    return requests * max(DRIVER_SECONDS, dump.latency / AT_ONCE)


@dataclass
class _Task:
    """A shard under way."""

    shard: int
    node: int
    began: float
    ends: float
    waited: float


class Stage:
    """A stage of a run: all shards, once, on the cores that there are."""

    def __init__(self, dump: Dump, costs: Costs, work: Callable[[int], tuple[float, float]], shards: int) -> None:
        self.dump, self.costs, self.work = dump, costs, work
        self.chance = random.Random(f"{dump.seed} {len(costs.stages)}")  # no secret
        self.waiting = deque(range(shards))
        self.left = shards
        self.running: dict[int, _Task] = {}  # by a number that no other task had
        self.died: dict[int, list[int]] = defaultdict(list)  # the shards that a machine had when it died
        self.numbers = count()
        self.events: list[tuple[float, int, str, int]] = []
        self.up = 0  # cores
        self.free: deque[int] = deque()  # the machine of each core that has nothing to do
        self.now = self.blocked_until = 0.0

    def run(self) -> float:
        """Simulate; gives how long it takes."""
        dump = self.dump
        for node in range(-(-dump.cores // dump.cores_of_node)):
            self._start(node)
        if dump.outage_every:
            self._at(self.chance.expovariate(1 / dump.outage_every), "outage", 0)
        self._hand_out()
        while self.left:
            before = self.now
            self.now, _, what, which = heapq.heappop(self.events)
            self.costs.paid += (self.now - before) * self.up
            getattr(self, f"_{what}")(which)
            self._hand_out()
        return self.now

    def _at(self, when: float, what: str, which: int) -> None:
        heapq.heappush(self.events, (when, next(self.numbers), what, which))

    def _hand_out(self) -> None:
        while self.waiting and self.free and self.now >= self.blocked_until:
            shard, node = self.waiting.popleft(), self.free.popleft()
            cleaning, waited = self.work(shard)
            number = next(self.numbers)
            self.running[number] = _Task(shard, node, self.now, self.now + cleaning + waited, waited)
            self._at(self.running[number].ends, "done", number)

    def _done(self, number: int) -> None:
        task = self.running.get(number)
        if task is None:  # it was lost
            return
        if task.ends > self.now:  # storage has made it wait
            self._at(task.ends, "done", number)
            return
        del self.running[number]
        self.free.append(task.node)
        self.left -= 1
        self.costs.waiting += task.waited
        self.costs.cleaning += task.ends - task.began - task.waited

    def _lose(self, number: int) -> _Task:
        task = self.running.pop(number)
        self.costs.lost += self.now - task.began
        return task

    def _size(self, node: int) -> int:
        return min(self.dump.cores_of_node, self.dump.cores - node * self.dump.cores_of_node)

    def _start(self, node: int) -> None:
        self.up += self._size(node)
        self.free.extend([node] * self._size(node))
        if self.dump.node_life:
            self._at(self.now + self.chance.expovariate(1 / self.dump.node_life), "death", node)

    def _death(self, node: int) -> None:
        self.costs.dead_nodes += 1
        self.up -= self._size(node)
        self.free = deque(one for one in self.free if one != node)
        lost = [number for number, task in self.running.items() if task.node == node]
        self.died[node] += [self._lose(number).shard for number in lost]
        self._at(self.now + self.dump.notice, "notice", node)
        self._at(self.now + self.dump.node_start, "start", node)

    def _notice(self, node: int) -> None:
        self.waiting.extendleft(self.died.pop(node, []))

    def _outage(self, _: int) -> None:
        dump = self.dump
        self._at(self.now + dump.outage + self.chance.expovariate(1 / dump.outage_every), "outage", 0)
        if dump.outage > DEADLINE:
            self.costs.given_up += 1
            for number in list(self.running):
                task = self._lose(number)
                self.waiting.appendleft(task.shard)
                self.free.append(task.node)
            listed = -(-(self.costs.shards - self.left) // IN_LISTING)
            asked = Counter({"LIST": listed, "GET": self.costs.shards - self.left + 2})
            self.costs.requests += asked + self.costs.planned
            resume = self.costs.planning + driver_seconds(asked.total(), dump)
            self.blocked_until = max(self.blocked_until, self.now + dump.outage + dump.restart + resume)
            self._at(self.blocked_until, "resumed", 0)
            return
        for task in self.running.values():
            waited = retries = 0.0
            while waited < dump.outage:
                retries += 1
                waited += pause_before(round(retries))
            self.costs.retries += round(retries)
            task.ends += waited
            task.waited += waited

    def _resumed(self, _: int) -> None:
        """Shards are handed out again."""


def simulate(dump: Dump) -> Costs:
    """Plan, clean, drop duplicates if that is wanted, and finish."""
    random.seed(dump.seed)  # of the pauses
    chance = random.Random(dump.seed)  # no secret
    costs = Costs()
    sizes = plan(dump, costs)
    pages_of_mb = dump.pages / sum(sizes)

    def requests(kinds: Counter[str]) -> float:
        """The time that a shard's requests take, with those that have to be repeated."""
        costs.requests.update(kinds)
        number = kinds.total()
        waited = chance.gammavariate(number, dump.latency) if dump.latency else 0.0
        for _ in range(sum(chance.random() < dump.fail for _ in range(number))):
            for retry in count(1):
                costs.retries += 1
                waited += pause_before(retry) + dump.latency
                if chance.random() >= dump.fail:
                    break
        return waited

    def clean(shard: int) -> tuple[float, float]:
        seconds = sizes[shard] * pages_of_mb / dump.rate * chance.lognormvariate(-(dump.spread**2) / 2, dump.spread)
        gets = GETS_OF_SHARD + -(-sizes[shard] // READ_AHEAD)
        kinds = Counter({"GET": int(gets), "HEAD": HEADS_OF_SHARD, "PUT": PUTS_OF_SHARD})
        return seconds, requests(kinds) + sizes[shard] / dump.bandwidth

    def drop(shard: int) -> tuple[float, float]:
        pages = sizes[shard] * pages_of_mb
        return pages / 1000 * dump.duplicates, requests(Counter({"GET": GETS_OF_SHARD + 4, "PUT": PUTS_OF_SHARD}))

    for work in (clean, drop) if dump.duplicates else (clean,):
        costs.stages.append(Stage(dump, costs, work, len(sizes)).run())
    last = Counter({"LIST": -(-len(sizes) // IN_LISTING), "PUT": 3})
    costs.requests += last
    costs.finishing = driver_seconds(last.total(), dump)
    return costs


def tell(dump: Dump, costs: Costs, core_price: float) -> list[tuple[str, str]]:
    """The rows of the table."""
    hours = (costs.planning + sum(costs.stages) + costs.finishing) / 3600
    core_hours = costs.paid / 3600
    puts = costs.requests["PUT"] + costs.requests["LIST"]
    request_money = puts * PUT_PRICE + (costs.requests.total() - puts) * GET_PRICE
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(costs.requests.items()))
    return [
        ("shards", f"{costs.shards:,}"),
        ("planning", f"{costs.planning:,.0f} s"),
        *((f"stage {number}", f"{seconds / 3600:,.2f} h") for number, seconds in enumerate(costs.stages, 1)),
        ("hours, all together", f"{hours:,.2f}"),
        ("core hours paid", f"{core_hours:,.0f}"),
        ("of these cleaning", f"{costs.cleaning / 36 / core_hours:.1f} %"),
        ("waiting for storage", f"{costs.waiting / 36 / core_hours:.1f} %"),
        ("lost with machines and runs", f"{costs.lost / 36 / core_hours:.1f} %"),
        ("idle", f"{(costs.paid - costs.cleaning - costs.waiting - costs.lost) / 36 / core_hours:.1f} %"),
        ("machines that died", f"{costs.dead_nodes:,}"),
        ("runs that ended and were begun again", f"{costs.given_up:,}"),
        ("requests", f"{costs.requests.total():,}: {kinds}"),
        ("requests repeated", f"{costs.retries:,}"),
        ("money for cores", f"${core_hours * core_price:,.0f}"),
        ("money for requests", f"${request_money:,.0f}"),
        ("pages a core hour paid", f"{dump.pages / core_hours:,.0f}"),
    ]


@click.command()
@click.option("--archives", type=click.IntRange(1), default=Dump.archives, show_default=True)
@click.option("--archive-mb", type=float, default=Dump.archive_mb, show_default=True, help="Size of each, packed.")
@click.option("--pages", type=float, default=Dump.pages, show_default=True, help="In all archives.")
@click.option("--shard-mb", type=float, default=Dump.shard_mb, show_default=True, help="--shard-size of the command.")
@click.option("--rate", type=float, default=Dump.rate, show_default=True, help="Pages a second of processor time.")
@click.option("--spread", type=float, default=Dump.spread, show_default=True, help="Of shards' times (log-normal).")
@click.option("--duplicates", type=float, default=0, help="Seconds for 1,000 pages in the stage that drops them. [0]")
@click.option("--cores", type=click.IntRange(1), default=Dump.cores, show_default=True)
@click.option("--cores-of-node", type=click.IntRange(1), default=Dump.cores_of_node, show_default=True)
@click.option("--node-hours", type=float, default=48, show_default=True, help="Mean life of a machine; 0: for ever.")
@click.option("--node-start", type=float, default=Dump.node_start, show_default=True, help="Seconds to replace one.")
@click.option("--notice", type=float, default=Dump.notice, show_default=True, help="Seconds until a death is noticed.")
@click.option("--latency", type=float, default=30, show_default=True, help="Of a request, in ms, in the mean.")
@click.option("--bandwidth", type=float, default=Dump.bandwidth, show_default=True, help="MB/s of a core.")
@click.option("--fail", type=float, default=Dump.fail, show_default=True, help="Share of requests that fail.")
@click.option("--outage-hours", type=float, default=0, help="Mean time between outages of storage; 0: none. [0]")
@click.option("--outage-minutes", type=float, default=2, show_default=True)
@click.option("--restart-minutes", type=float, default=10, show_default=True, help="Until a run is begun again.")
@click.option("--core-price", type=float, default=0.015, show_default=True, help="Dollars a core hour.")
@click.option("--seed", type=int, default=1, show_default=True)
def main(
    node_hours: float, latency: float, outage_hours: float, outage_minutes: float, restart_minutes: float,
    core_price: float, **options: Any,  # those of Dump
) -> None:  # fmt: skip
    """Print what one run takes."""
    dump = Dump(
        node_life=node_hours * 3600,
        latency=latency / 1000,
        outage_every=outage_hours * 3600,
        outage=outage_minutes * 60,
        restart=restart_minutes * 60,
        **options,
    )
    rows = tell(dump, simulate(dump), core_price)
    click.echo("| | |\n|---|---:|\n" + "\n".join(f"| {name} | {value} |" for name, value in rows))


if __name__ == "__main__":
    main()
