"""`mainmatter corpus` as a real process: what it says, its exit codes, interrupts."""

from __future__ import annotations

import contextlib
import os
import pty
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

from crawls import files_of, page, pages, slow_crawl, write_warc
from script_modules import load_script
from timing import PATIENCE, wait_until

MAINMATTER = [sys.executable, "-c", "from mainmatter.cli import main; main()"]
ROOT = Path(__file__).parents[2]


def run(*args: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    command = [*MAINMATTER, "corpus", *map(str, args)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=100,
        env=os.environ | env,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def without_progress(errors: str) -> str:
    """What was said besides how far the run is, which a slow machine has more to say about."""
    return "".join(
        line for line in errors.splitlines(keepends=True) if not line.startswith(("cleaning: ", "dropping "))
    )


kill_test = load_script("kill_test")


def test_it_says_what_came_of_it_and_does_nothing_the_second_time(tmp_path: Path) -> None:
    contents = pages(5) | {"https://example.org/3": page(1), "https://example.org/4": b"<p></p>"}
    crawl, out = write_warc(tmp_path / "crawl.warc.gz", contents), tmp_path / "out"
    command = (crawl, "-o", out, "-m", "density", "-j", "1", "--drop-duplicates", "exact")
    first = run(*command)
    assert (first.returncode, without_progress(first.stderr)) == (0, "")
    lines = first.stdout.splitlines()
    assert [line.split() for line in lines[:6]] == [
        ["pages", "5"],
        ["kept", "3"],
        ["dropped:", "duplicate", "1"],
        ["dropped:", "empty", "1"],
        ["skipped:", "request", "5"],
        ["words", lines[5].split()[1]],
    ]
    assert " pages/s, " in lines[6]
    assert lines[7] == f"written to {out} (1 part); rejects and their reasons: {out}/__about/rejects"
    second = run(*command)
    assert second.returncode == 0
    assert second.stdout.splitlines()[0] == f"{out} is already complete; nothing was done (use --restart to start over)"
    other = run(*command, "--blocks")
    assert other.returncode == 1
    assert "blocks was False and is now True" in other.stderr


def test_mistakes_are_one_line_each(tmp_path: Path) -> None:
    crawl = write_warc(tmp_path / "crawl.warc.gz", pages(1))
    wrong: list[tuple[tuple[str | Path, ...], int, str]] = [
        ((tmp_path / "no.warc", "-o", tmp_path / "out"), 1, f"Error: {tmp_path}/no.warc: no such file or folder\n"),
        ((crawl, "-o", crawl), 1, f"Error: {crawl}: is a file, not a folder\n"),
        ((crawl, "-o", crawl / "x"), 1, f"Error: {crawl}/x/__run: Not a directory\n"),
        (
            (crawl, "-o", tmp_path / "out", "--report", tmp_path / "out/report.html"),
            1,
            (
                f"Error: {tmp_path}/out/report.html: there, the report would be loaded as part of the corpus; name "
                f"{tmp_path}/out/__about/report.html, or a file outside the corpus\n"
            ),
        ),
        ((crawl, "-o", "/proc/out"), 1, "Error: /proc/out: No such file or directory\n"),
    ]
    for arguments, code, words in wrong:
        result = run(*arguments)
        assert (result.returncode, result.stderr, result.stdout) == (code, words, "")
    assert run(crawl).returncode == 2
    assert run(crawl, "-o", tmp_path / "out", "--max-memory", "nan").returncode == 2
    for chunks, message in (((), "give --chunks, too\n"), (("--chunks", "30"), "less than --chunks, which is 30\n")):
        refused = run(crawl, "-o", tmp_path / "out", *chunks, "--overlap", "30")
        assert (refused.returncode, refused.stderr.endswith(message)) == (2, True)


def test_an_input_without_pages_is_an_error(tmp_path: Path) -> None:
    crawl = write_warc(tmp_path / "crawl.warc", {})
    crawl.write_bytes(b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
    result = run(crawl, "-o", tmp_path / "out", "-m", "density", "-j", "1")
    assert (result.returncode, without_progress(result.stderr)) == (1, "Error: the input has no pages\n")


def test_an_input_of_which_nothing_can_be_read_is_an_error(tmp_path: Path) -> None:
    trash, empty, out = tmp_path / "trash.warc.gz", tmp_path / "empty.warc.gz", tmp_path / "out"
    trash.write_bytes(random.Random(1).randbytes(3000))
    empty.write_bytes(b"")
    result = run(trash, empty, "-o", out, "-m", "density", "-j", "1")
    assert result.returncode == 1
    assert without_progress(result.stderr).splitlines() == [
        f"Error: no page of the input could be read or fetched; see {out}/__about/rejects for the reasons",
    ]
    assert result.stdout.splitlines()[2].split() == ["dropped:", "damaged", "2"]


FULL_DISK = """
import errno, io, os
from pathlib import Path

usual = Path.open

class Full(io.BytesIO):
    def write(self, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

def open_full(self, mode="r", *arguments, **options):
    return Full() if "part-" in self.name and "w" in mode else usual(self, mode, *arguments, **options)

Path.open = open_full
"""


def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_room(tmp_path: Path) -> None:
    crawl, out = write_warc(tmp_path / "crawl.warc.gz", pages(2)), tmp_path / "out"
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "sitecustomize.py").write_text(FULL_DISK, encoding="utf-8")
    full = run(crawl, "-o", out, "-m", "density", "-j", "1", "-f", "jsonl", PYTHONPATH=str(tmp_path / "full"))
    assert full.returncode == 1
    assert without_progress(full.stderr) == f"Error: {out}/part-00000.jsonl: No space left on device\n"
    assert run(crawl, "-o", out, "-m", "density", "-j", "1", "-f", "jsonl").returncode == 0
    assert sorted(files_of(out)) == [".huggingface.yaml", "__about/README.md", "part-00000.jsonl"]


def test_an_interrupt_is_answered_and_leaves_no_process(tmp_path: Path) -> None:
    crawl, env = slow_crawl(tmp_path, 400)
    out = tmp_path / "out"
    command = [*MAINMATTER, "corpus", str(crawl), "-o", str(out), "-m", "wicked", "-j", "2", "--shard-size", "0.02"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True, env=os.environ | env
    ) as process:
        # Until work is under way: the command, two workers, and two that clean.
        wait_until(lambda: len(kill_test.family(process.pid)) == 5 and list(out.glob("__run/now/*")))
        family = list(kill_test.family(process.pid))
        os.killpg(process.pid, signal.SIGINT)
        try:
            printed, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()  # one that does not listen is not waited for
    assert (process.returncode, printed) == (130, "")
    assert without_progress(errors) == "interrupted; run the same command again to resume\n"
    kill_test.wait_until_gone(family)


def test_a_terminal_shows_one_live_line_within_a_shard(tmp_path: Path) -> None:
    crawl, env = slow_crawl(tmp_path, 40)
    parent, child = pty.openpty()
    shown = bytearray()

    def listen() -> None:
        with contextlib.suppress(OSError):  # Linux's way to say that the other side has closed
            while data := os.read(parent, 4096):
                shown.extend(data)

    command = [*MAINMATTER, "corpus", str(crawl), "-o", str(tmp_path / "out"), "-m", "wicked", "-j", "1"]
    env |= {"TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=child, env=os.environ | env) as process:
        os.close(child)
        listener = threading.Thread(target=listen)
        listener.start()
        printed, _ = process.communicate(timeout=PATIENCE)
        listener.join()
    os.close(parent)
    lines = [line.replace("\x1b[K", "") for line in shown.decode().split("\r")]
    assert any(line.startswith("cleaning: ") and ", 0 of 1 shards, " in line and " left" in line for line in lines)
    assert "\n" not in shown.decode()
    assert lines[-1] == ""
    assert printed.startswith(b"pages")
