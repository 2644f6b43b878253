"""A slice of the fuzzing, the same in every run; what was found before; and that the fuzzer finds what it should."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")
pytest.importorskip("fastwarc", reason="needs the extra corpus")
pytest.importorskip("mcp", reason="needs the extra mcp")

from fuzz.mutation import mutate_bytes, mutate_json
from fuzz.run import Outcome, fuzz, replay
from fuzz.target import Target
from fuzz.targets import GROUPS, TARGETS
from mainmatter.errors import InputError

FOUND = Path(__file__).with_name("found")  # inputs that showed a bug once, by target
# A second each at most.
INPUTS = {
    "pages": 150,
    "methods": 80,
    "databases": 80,
    "store-rows": 80,
    "corpora": 80,
    "requests": 100,
    "mcp-lines": 100,
}
CHEAP = 800


def told(outcome: Outcome) -> str:
    """What was found, with tracebacks."""
    return "\n".join(file.with_suffix(".txt").read_text("utf-8") for file in outcome.findings.values())


@pytest.mark.parametrize("name", TARGETS)
def test_mutated_inputs(name: str, tmp_path: Path) -> None:
    most = INPUTS.get(name, CHEAP)
    outcome = fuzz(TARGETS[name], seed=name, seconds=120, most=most, found=tmp_path)
    assert not outcome.findings, told(outcome)
    assert outcome.inputs == most


@pytest.mark.parametrize("file", sorted(FOUND.glob("*/*")), ids=lambda file: f"{file.parent.name}-{file.name}")
def test_what_was_found_before(file: Path, tmp_path: Path) -> None:
    outcome = replay(TARGETS[file.parent.name], file, tmp_path)
    assert not outcome.findings, told(outcome)
    assert outcome.inputs == 1


def test_every_target_is_in_a_group() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(TARGETS)


def misbehave(data: bytes) -> None:
    """Do what the input says."""
    if data == b"foreign":
        raise KeyError("nobody foresaw that")
    if data == b"ours":
        raise InputError("this is no finding")
    if data == b"hang":
        while True:
            pass
    if data == b"sleep":
        time.sleep(60)
    if data == b"memory":
        bytearray(b"x") * (300 << 20)
    if data == b"crash":
        os.kill(os.getpid(), signal.SIGSEGV)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"foreign", "KeyError in test_fuzz.py:misbehave"),
        (b"hang", "more than 1 s"),
        (b"sleep", "1 s, waiting"),
        (b"memory", "more than 100 MB"),
        (b"crash", "a crash: SIGSEGV"),
        (b"ours", None),
        (b"", None),
    ],
)
def test_what_a_finding_is(data: bytes, what: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.run.SECONDS_AN_INPUT", 1.0)
    monkeypatch.setattr("fuzz.run.PATIENCE", 1.0 if data == b"sleep" else 120.0)
    monkeypatch.setattr("fuzz.run.MOST_MEMORY", 100 << 20)
    (tmp_path / "input").write_bytes(data)
    outcome = replay(lambda folder: Target(misbehave, [b""]), tmp_path / "input", tmp_path / "found")
    assert list(outcome.findings) == ([what] if what else [])
    assert [file.read_bytes() for file in outcome.findings.values()] == ([data] if what else [])


def test_after_a_crash_it_goes_on(tmp_path: Path) -> None:
    target = Target(
        misbehave, [b"crash", b""], mutate=lambda rng, data, tokens, others: rng.choice([b"crash", b"a", b"b"])
    )
    outcome = fuzz(lambda folder: target, seed="0", seconds=20, most=10, found=tmp_path)
    assert list(outcome.findings) == ["a crash: SIGSEGV"]


def test_mutations_are_the_same_for_the_same_seed() -> None:
    data, tokens = b'{"a": [1, "text"], "b": {"c": null}}', [b"null", b"x"]
    for mutate in (mutate_bytes, mutate_json):
        made = [[mutate(rng, data, tokens, [data]) for _ in range(50)] for rng in (Random(1), Random(1), Random(2))]
        assert made[0] == made[1] != made[2]
        assert len(set(made[0])) > 30
