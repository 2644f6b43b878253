"""`mainmatter serve`, as people start and stop it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx2 as httpx
import pytest
from click.testing import CliRunner

pytest.importorskip("uvicorn", reason="needs the extra serve")

from mainmatter.cli import group
from timing import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """`mainmatter serve` at a free port: the process, its address, and what it says about itself."""
    call = [sys.executable, "-m", "mainmatter", "serve", "--port", "0", "-j", "1", "--folder", str(folder), *arguments]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    try:
        assert process.stdout is not None
        lines = process.stdout.readline() + process.stdout.readline()
        address = re.search(r"http://\S+", lines)
        assert address is not None, process.stderr.read() if process.stderr else ""
        yield process, address[0], lines
    finally:
        process.kill()
        process.communicate()


def test_start_and_stop(tmp_path: Path) -> None:
    with started(tmp_path / "bench", "--seconds", "7", "--waiting", "3") as (process, address, lines):
        assert re.match(r"mainmatter workbench: http://127\.0\.0\.1:\d+/\n", lines)
        assert f"folder {tmp_path / 'bench'}; 1 workers, 3 requests may wait; pages up to 10.0 MB, 7 s" in lines
        assert httpx.post(f"{address}api/clean", json={"html": "<p>x"}, timeout=PATIENCE).status_code == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert (out, err) == ("", "stopped\n")
        assert process.returncode == 0


def test_a_token_is_made_for_other_hosts(tmp_path: Path) -> None:
    with started(tmp_path, "--host", "0.0.0.0") as (process, address, _):
        token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]{32})", address)
        assert token is not None
        base = f"http://127.0.0.1:{token[1]}"
        assert httpx.get(f"{base}/api/metrics", timeout=PATIENCE).status_code == 401
        bearer = {"Authorization": f"Bearer {token[2]}"}
        assert httpx.get(f"{base}/api/metrics", headers=bearer, timeout=PATIENCE).status_code == 200
        with httpx.Client(timeout=PATIENCE) as browser:
            assert browser.get(address).status_code == 303
            assert browser.get(f"{base}/api/metrics").status_code == 200
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE)
        assert (out, err) == ("", "")


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = CliRunner().invoke(group, ["serve", "--port", str(port), "--folder", str(tmp_path)])
    assert result.exit_code == 1
    assert result.output == (
        f"Error: cannot listen at 127.0.0.1 port {port}: Address already in use; is another server running there? "
        "try --port 0\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--token", "short"], "at least 8 printable ASCII characters"),
        (["--token", "with a space"], "at least 8 printable ASCII characters"),
        (["--port", "70000"], "70000 is not in the range"),
        (["--seconds", "0"], "0.0 is not in the range"),
        (["--workers", "0"], "0 is not in the range"),
        (["--max-size", "nan"], "is not a size"),
    ],
)
def test_wrong_options(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(group, ["serve", *arguments])
    assert result.exit_code == 2
    assert message in result.output


def test_a_host_that_is_not_here(tmp_path: Path) -> None:
    result = CliRunner().invoke(group, ["serve", "--host", "192.0.2.1", "--folder", str(tmp_path)])
    assert result.exit_code == 1
    assert result.output.startswith("Error: cannot listen at 192.0.2.1 port 8000: ")
