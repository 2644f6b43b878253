"""Large requests that make no sense cost the server itself neither seconds nor gigabytes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from mainmatter.workbench import bodies
from mainmatter.workbench.annotate import MOST_LABELS
from mainmatter.workbench.reading import MOST_VALUES, count_values
from script_modules import load_script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fastapi.testclient import TestClient

SCRIPT = load_script("workbench_load")
SECONDS = 5.0  # of the server's processor time, health included; it takes a tenth of that
ITEMS = 15_000  # the server refuses more by count
REQUESTS = [*SCRIPT.bad_requests(SCRIPT.SIZE, ITEMS), *SCRIPT.bad_requests(SCRIPT.SIZE)[:9:4]]


@pytest.fixture(name="server", scope="module")
def start_server_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    """A server in a process of its own, whose memory is nobody else's: its port and its process id."""
    command = [sys.executable, "-m", "mainmatter", "serve", "--port", "0", "--workers", "1"]
    folder = tmp_path_factory.mktemp("large")
    with subprocess.Popen([*command, "--folder", str(folder)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(r":(\d+)/", process.stdout.readline())
            assert found is not None
            yield int(found[1]), process.pid
        finally:
            process.terminate()


def processor_seconds(process: int) -> float:
    user, system = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads peaks of memory where Linux has them")
@pytest.mark.parametrize("request_", REQUESTS, ids=lambda each: f"{each.path}, {each.what}")
def test_a_large_request_costs_little(request_: Any, server: tuple[int, int]) -> None:
    before = processor_seconds(server[1])
    cost = SCRIPT.measure(*server, request_)
    assert cost.status in (400, 413, 422)
    assert set(json.loads(cost.answer)) == {"error", "hint"}
    assert len(cost.answer) < 11_000
    assert processor_seconds(server[1]) - before < SECONDS
    assert cost.memory < SCRIPT.MOST_MEMORY


def test_every_call_that_takes_json_is_among_them(client: TestClient) -> None:
    sent = {re.sub(r"/\d[0-9a-f]*(?=/|$)", "/{}", request.path) for request in REQUESTS}
    described = client.get("/api/openapi.json").json()["paths"]
    calls = {
        re.sub(r"\{.*?\}", "{}", path)
        for path, methods in described.items()
        if "application/json" in methods.get("post", {}).get("requestBody", {}).get("content", {})
    }
    assert len(calls) > 15
    assert calls <= sent


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (b"1", 0),
        (b'{"a":1,"b":[1,2,{}]}', 6),
        (b'{"html":"<p>a, b, [c] {d}, \\"e, f\\", \\\\"}', 1),
        (b'["\\\\\\"",[],"' + b"," * 3_000_000 + b'",[]]', 6),
    ],
)
def test_values_are_counted_outside_of_texts(text: bytes, count: int) -> None:
    assert count_values(text, count) == count
    assert (count_values(text, 0) > 0) == (count > 0)


@pytest.mark.parametrize(("path", "field"), [("clean", "options"), ("annotate/pages/1/labels", "labels")])
def test_an_object_of_very_many_members_is_refused_before_it_is_parsed(
    path: str, field: str, make_client: Callable[..., TestClient], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[bytes] = []
    monkeypatch.setattr(bodies, "parse_json", lambda body, _: parsed.append(body))
    members = {f"k{number}": number for number in range(490_000)}
    answer = make_client(folder=tmp_path).post(f"/api/{path}", json={field: members})
    assert (answer.status_code, answer.json()["error"]) == (413, "the request has more than 50,000 values of JSON")
    assert not parsed


def test_the_most_labels_of_a_change_are_not_too_many_values() -> None:
    labels = {f"{n:016x}": {"kept": True, "kind": "paragraph", "suggested_by": "main"} for n in range(MOST_LABELS)}
    assert count_values(json.dumps({"annotator": "Ada", "revision": 0, "labels": labels}).encode()) < MOST_VALUES
