"""Lists of URLs and of archives lead to public addresses only, and no host gets more requests than it bears."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from mainmatter.corpus.build import build_corpus
from mainmatter.corpus.filters import Filters
from mainmatter.corpus.job import Job
from mainmatter.corpus.readers import FetchRules, find_shards, read_slice, urls
from mainmatter.corpus.readers.urls import HostTurns, RobotsRules
from mainmatter.corpus.records import Record, Reject
from mainmatter.corpus.storage import private_allowed
from mainmatter.errors import InputError
from mainmatter.inputs import fetch as fetching
from mainmatter.inputs.fetch import why_not_public
from small_web import serve

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ("text/html", b"<p>The lighthouse keeper writes down the weather, every hour of the night.")


def robots(text: bytes) -> dict[str, tuple[str, bytes]]:
    return {"/robots.txt": ("text/plain", b"User-agent: *\n" + text), "/a": PAGE, "/b": PAGE}


def read_list(path: Path, fetch_rules: FetchRules) -> list[str]:
    """What came of each line: nothing, or why there is no page."""
    reads = [
        read for shard in find_shards([str(path)]) for one in shard for read in read_slice(one, fetch_rules=fetch_rules)
    ]
    assert all(isinstance(read, Record | Reject) for read in reads)
    return [f"{read.reason}: {read.detail}" if isinstance(read, Reject) else "" for read in reads]


def test_a_list_reaches_public_addresses_only(tmp_path: Path) -> None:
    path = tmp_path / "list.urls"
    with serve({"/a": PAGE}) as address:
        path.write_text(f"{address}/a\n")
        for rules in (FetchRules(delay=0), FetchRules(delay=0, robots=False)):
            (problem,) = read_list(path, rules)
            assert problem.startswith("fetch: ")
            assert "127.0.0.1 is a loopback address" in problem
            assert "--allow-private or public_only=False" in problem
        assert read_list(path, FetchRules(delay=0, public_only=False)) == [""]


def test_a_redirect_from_a_list_reaches_public_addresses_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "why_not_public", lambda ip: None if ip == "127.0.0.2" else why_not_public(ip))
    path = tmp_path / "list.urls"
    with serve({"/a": PAGE}) as private, serve({}, host="127.0.0.2", redirects={"/a": f"{private}/a"}) as public:
        path.write_text(f"{public}/a\n")
        (problem,) = read_list(path, FetchRules(delay=0, robots=False))
        assert problem.startswith(f"fetch: {public}/a: is not fetched: 127.0.0.1 is a loopback address")
        assert read_list(path, FetchRules(delay=0, robots=False, public_only=False)) == [""]


def test_a_list_of_archives_reaches_public_addresses_only(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    path = tmp_path / "list.paths"
    with serve({"/a.jsonl": ("text/plain", b'{"html": "<p>x"}\n')}) as address:
        for name in (f"{address}/a.jsonl", f"{address.replace('127.0.0.1', 'localhost')}/a.jsonl"):
            path.write_text(f"{name}\n")
            with pytest.raises(InputError, match=r"is a loopback address.*--allow-private or public_only=False"):
                find_shards([str(path)])
            with private_allowed():
                assert find_shards([str(path)])[0][0].path == name


@pytest.mark.parametrize("name", ["ftp://10.0.0.1/a.jsonl", "simplecache::http://10.0.0.1/a.jsonl", "hdfs://x/a.jsonl"])
def test_a_list_of_archives_names_no_other_servers(name: str, tmp_path: Path) -> None:
    path = tmp_path / "list.paths"
    path.write_text(f"{name}\n")
    with pytest.raises(InputError, match=r"a list may name only .*--allow-private or public_only=False"):
        find_shards([str(path)])


def test_a_corpus_of_private_pages_must_be_allowed(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "list.urls"
    with serve(robots(b"Disallow: /b\n")) as address:
        path.write_text(f"{address}/a\n{address}/b\n")
        refused = build_corpus([str(path)], str(tmp_path / "one"), Job(method="density", delay=0), workers=1)
        assert (refused.kept, refused.rejects) == (0, {"fetch": 2})
        job = Job(method="density", delay=0, public_only=False)
        allowed = build_corpus([str(path)], str(tmp_path / "two"), job, workers=1)
        assert (allowed.kept, allowed.rejects) == (1, {"robots": 1})
        job = Job(method="density", delay=0, public_only=False, filters=Filters(robots_txt=False))
        assert build_corpus([str(path)], str(tmp_path / "three"), job, workers=1).kept == 2


class Clock:
    """Takes the place of the module `time`: who sleeps comes back at once, and later."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(urls, "time", clock)
    return clock


def test_a_host_is_left_in_peace_between_two_requests(tmp_path: Path, clock: Clock) -> None:
    starts, waits = [], 0

    def note_wait() -> None:
        nonlocal waits
        waits += 1

    for turns, host in [*((HostTurns(tmp_path / "hosts"), host) for host in "aabac"), (HostTurns(tmp_path / "x"), "a")]:
        with turns.take(host, 5.0, note_wait):
            starts.append(clock.now - 1_000_000)
            clock.now += 2.0  # the request takes its time
    assert starts == [0, 7, 9, 14, 16, 18]  # the pause counts from the end of the latest request to the same host
    assert waits >= 8  # each second
    clock.now = 5.0  # set back
    with HostTurns(tmp_path / "hosts").take("a", 5.0):
        assert clock.now == pytest.approx(10.0)


def test_processes_take_turns(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from mainmatter.corpus.readers.urls import HostTurns\n"
        "with HostTurns(Path(sys.argv[1])).take('a.example', 0.01):\n"
        "    print('begun', flush=True); sys.stdin.readline(); print('done', flush=True)"
    )
    path = tmp_path / "hosts"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "begun\n"
        waits = 0

        def let_other_go() -> None:
            nonlocal waits
            waits += 1
            assert other.stdin is not None
            if waits == 3:
                other.stdin.write("\n")
                other.stdin.flush()

        with HostTurns(path).take("b.example", 0.01, let_other_go):
            assert waits == 0  # another host is not waited for
        with HostTurns(path).take("a.example", 0.01, let_other_go):
            assert other.stdout.readline() == "done\n"
        assert waits >= 3


def test_robots_txt_may_ask_for_a_longer_pause(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urls, "_turns", lambda: HostTurns(tmp_path / "hosts"))
    path = tmp_path / "list.urls"
    with serve(robots(b"Crawl-delay: 7\n")) as address:
        path.write_text(f"{address}/a\n{address}/b\n")
        assert read_list(path, FetchRules(public_only=False)) == ["", ""]
        assert clock.now == pytest.approx(1_000_007)
    with serve(robots(b"Crawl-delay: 86400\n")) as address:
        why = RobotsRules(public_only=False).why_not(f"{address}/a")
    assert why is not None
    assert "asks for 86,400 seconds between two requests, more than the 60 that are waited" in why


def test_a_server_that_is_slow_does_not_hold_a_run(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "list.urls"
    with serve({"/a": PAGE}, drips={"/drip"}) as address:
        path.write_text(f"{address}/drip\n{address}/a\n")
        filters = Filters(robots_txt=False)
        job = Job(method="density", delay=0, public_only=False, max_seconds=0.5, filters=filters, format="jsonl")
        summary = build_corpus([str(path)], str(tmp_path / "out"), job, workers=1)
    assert (summary.kept, summary.rejects) == (1, {"fetch": 1})
    (rejects,) = (tmp_path / "out" / "__about" / "rejects").iterdir()
    assert "not complete after 5 seconds" in rejects.read_text()
