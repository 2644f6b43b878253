"""What a run keeps as JSON comes back as it was, or is refused; a folder with such a file gets a clear error."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import pytest

from mainmatter.corpus.folder import PLAN, Folder
from mainmatter.corpus.job import Job
from mainmatter.corpus.plan import make_plan, read_plan, read_shard, write_plan
from mainmatter.corpus.records import Reject, Slice
from mainmatter.corpus.summary import Report
from mainmatter.corpus.typed_json import build, parse
from mainmatter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SLICE = Slice("files", "", 0, 1, ("a.html", "b.html"))
REPORT = Report("clean", 3, 10, 8, {"length": 2}, {}, 99, 1000, 0.5, {"en": 8})


@dataclass(frozen=True)
class Sample:
    """A field of each type."""

    kind: Literal["a", "b"]
    names: tuple[str, ...] = ()
    counts: Mapping[str, int] | None = None
    share: float = 0.0
    more: Any = None
    one: Slice | None = None
    is_on: bool = False


@pytest.mark.parametrize(
    "value",
    [Sample("a"), Sample("b", ("x",), {"y": 1}, 1, [{}], SLICE, is_on=True), SLICE, REPORT, Reject("r", "d", "s", 0)],
)
def test_what_is_written_is_read(value: Any) -> None:
    assert parse(type(value), json.dumps(asdict(value))) == value


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ([], r"\[\] is not an object"),
        ({}, "kind is missing"),
        ({"kind": "a", "colour": 1}, "there is no field 'colour'"),
        ({"kind": "c"}, "kind is 'c'"),
        ({"kind": ["a"]}, "kind is"),
        ({"kind": "a", "names": "x"}, "names is 'x'"),
        ({"kind": "a", "names": [1]}, "names is 1"),
        ({"kind": "a", "counts": {"y": True}}, "counts is True"),
        ({"kind": "a", "counts": {"y": 2**63}}, "counts is"),
        ({"kind": "a", "counts": []}, r"counts is \[\]"),
        ({"kind": "a", "share": "1"}, "share is '1'"),
        ({"kind": "a", "share": float("nan")}, "share is nan"),
        ({"kind": "a", "share": 10**400}, "share is 10"),
        ({"kind": "a", "one": {"kind": "files"}}, "is missing"),
        ({"kind": "a", "one": 3}, "3 is not an object"),
        ({"kind": "a", "is_on": 1}, "is_on is 1"),
    ],
)
def test_what_does_not_fit_is_refused(content: object, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        build(Sample, content)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, b"\xff"])
def test_what_is_no_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - Python's words
        parse(Sample, text)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    folder = Folder(str(tmp_path))
    write_plan(folder, make_plan(Job(), ["a.warc"], 1, {"a.warc": "1"}), [[SLICE]])
    folder.mark(REPORT)
    return folder


def test_a_plan_comes_back(folder: Folder) -> None:
    assert read_plan(folder) == make_plan(Job(), ["a.warc"], 1, {"a.warc": "1"})
    assert read_shard(folder, 0) == (SLICE,)
    assert folder.marker("clean", 3) == REPORT


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"7", b'{"layout": 2}', b'{"layout": 2, "job": 3}', b"[" * 100_000, b"\xff"]
)
def test_damaged_files_of_a_run(folder: Folder, content: bytes) -> None:
    folder.write("__run/shards-00000.json", content)
    with pytest.raises(InputError, match=r"shards-00000\.json: is damaged; use --restart to start over"):
        read_shard(folder, 0)
    folder.write(PLAN, content)
    with pytest.raises(InputError, match=r"plan\.json: is damaged; use --restart to start over"):
        read_plan(folder)
    folder.write("__run/clean-00003.json", content)
    with pytest.raises(InputError, match=r"clean-00003\.json: is damaged: .*; delete it, and it will be made again"):
        folder.marker("clean", 3)


def test_progress_that_cannot_be_read_is_left_out(folder: Folder) -> None:
    folder.note_progress(REPORT, 0.5)
    assert list(folder.progress()) == [(REPORT, 0.5)]
    folder.write("__run/now/00003.json", b'{"report": [], "share": "x"}')
    assert list(folder.progress()) == []
