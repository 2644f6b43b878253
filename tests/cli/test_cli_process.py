"""The command line as a real process: exit codes, pipes, terminals, signals."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from timing import PATIENCE, wait_until

PAGES = Path(__file__).parents[1] / "pages"
MAINMATTER = [sys.executable, "-c", "from mainmatter.cli import main; main()"]
SECOND = (
    "By the morning the water had reached the bridge, where the old mill has stood for more than three hundred years."
)


def run(*args: str | Path, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*MAINMATTER, *map(str, args)], input=stdin, capture_output=True, timeout=60, env=os.environ | env, check=False
    )


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of 60 pages."""
    (tmp_path / "site").mkdir()
    for number in range(60):
        (tmp_path / "site" / f"{number:02}.html").write_bytes((PAGES / "river.html").read_bytes())
    return tmp_path / "site"


def on_terminal(*args: str | Path, columns: str = "80") -> tuple[int, str, str]:
    """Run with standard error on a terminal; gives the exit code, what stdout (a pipe) and the terminal got."""
    return _with_terminal(args, columns, stdout_too=False)


def _with_terminal(args: tuple[str | Path, ...], columns: str, *, stdout_too: bool) -> tuple[int, str, str]:
    parent, child = pty.openpty()
    shown = bytearray()

    def listen() -> None:
        try:
            while data := os.read(parent, 4096):
                shown.extend(data)
        except OSError:  # Linux's way to say that the other side has closed
            pass

    with subprocess.Popen(
        [*MAINMATTER, *map(str, args)],
        stdin=subprocess.DEVNULL,
        stdout=child if stdout_too else subprocess.PIPE,
        stderr=child,
        env=os.environ | {"TERM": "xterm", "COLUMNS": columns},
    ) as process:
        os.close(child)
        listener = threading.Thread(target=listen)
        listener.start()
        printed, _ = process.communicate(timeout=60)
        listener.join()
    os.close(parent)
    return process.returncode, (printed or b"").decode(), shown.decode()


def test_exit_codes(tmp_path: Path) -> None:
    good, failed, misused = run("clean", PAGES / "river.html"), run("clean", tmp_path / "nope"), run("clean")
    assert (good.returncode, failed.returncode, misused.returncode) == (0, 1, 2)
    assert failed.stderr.decode() == f"Error: {tmp_path}/nope: no such file or folder\n"
    assert (failed.stdout, misused.stdout, good.stderr) == (b"", b"", b"")


def test_where_python_lacks_what_windows_lacks(tmp_path: Path) -> None:
    code = "import sys; sys.modules |= dict.fromkeys(('fcntl', 'resource')); from mainmatter.cli import main; main()"

    def run_there(*args: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, *map(str, args)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert run_there("clean", PAGES / "river.html").returncode == 0
    corpus = run_there("corpus", PAGES, "--output", tmp_path / "out")
    assert corpus.returncode == 1
    assert corpus.stderr.startswith("Error: this command needs Linux or macOS; on Windows, use Docker")


def test_standard_input_to_standard_output_is_utf_8_bytes() -> None:
    result = run("clean", "-", "-m", "ice-baseline", stdin="<p>Café 漢字".encode(), PYTHONIOENCODING="utf-8")
    assert (result.returncode, result.stdout, result.stderr) == (0, "Café 漢字\n".encode(), b"")


def test_standard_input_among_files_is_read_whatever_the_number_of_processes() -> None:
    result = run("clean", "-", PAGES / "river.html", "-m", "density:c1=0.99", "-j", "2", stdin=b"<p>in")
    assert result.stdout.decode() == f"==> - <==\nin\n==> {PAGES / 'river.html'} <==\n{SECOND}\n"


def test_endless_input_is_refused() -> None:
    result = run("clean", "/dev/zero", "--max-size", "1")
    assert result.returncode == 1
    assert result.stderr.startswith(b"Error: /dev/zero has more than 1.0 MB; raise the limit with ")


def test_signs_that_the_terminal_cannot_show_give_one_line() -> None:
    result = run("clean", "-", "-m", "ice-baseline", stdin="<p>漢".encode(), PYTHONIOENCODING="latin-1")
    assert result.returncode == 1
    assert result.stderr.decode() == ("Error: -: '\\u6f22' cannot be written in latin-1; set PYTHONIOENCODING=utf-8\n")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_broken_pipe_is_silent(workers: str, site: Path) -> None:
    command = f'"$@" clean {site} -f json -j {workers} | head -1'
    result = subprocess.run(
        ["bash", "-c", command, "bash", *MAINMATTER], capture_output=True, text=True, timeout=60, check=False
    )
    assert json.loads(result.stdout)["id"] == f"{site / '00.html'}"
    assert result.stderr == ""


def test_no_progress_bar_in_a_pipe(site: Path, tmp_path: Path) -> None:
    result = run("clean", site, "-o", tmp_path / "out")
    assert (result.returncode, result.stdout) == (0, b"")
    assert result.stderr.decode() == f"60 of 60 pages cleaned, written to {tmp_path}/out\n"


def test_progress_bar_on_a_terminal(site: Path, tmp_path: Path) -> None:
    code, printed, shown = on_terminal("clean", site, "-o", tmp_path / "out")
    assert (code, printed) == (0, "")
    assert "cleaning" in shown
    assert "100%" in shown
    assert shown.endswith(f"60 of 60 pages cleaned, written to {tmp_path}/out\r\n")


def test_no_progress_bar_for_a_single_page(tmp_path: Path) -> None:
    assert on_terminal("clean", PAGES / "river.html", "-o", tmp_path / "out.txt") == (0, "", "")


def test_colours_on_a_terminal_and_none_in_a_pipe() -> None:
    _, _, shown = _with_terminal(("explain", PAGES / "river.html", "-m", "density"), "80", stdout_too=True)
    assert "\x1b[32mkept   \x1b[0m" in shown
    assert b"\x1b" not in run("explain", PAGES / "river.html", "-m", "density").stdout


@pytest.mark.parametrize("command", ["clean", "explain"])
def test_a_terminal_gets_no_control_characters_of_the_page(command: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(b"<pre>red \x1b[31m\x07 bell\n\ttab \xc2\x9b2J</pre>")
    _, _, shown = _with_terminal((command, page, "-m", "ice-baseline"), "80", stdout_too=True)
    assert "red \ufffd[31m\ufffd bell" in shown
    assert "tab \ufffd2J" in shown
    if command == "clean":
        assert "bell\r\n\ttab" in shown


def test_a_pipe_gets_the_text_as_it_is() -> None:
    result = run("clean", "-", "-m", "ice-baseline", stdin=b"<p>bell \x07", PYTHONIOENCODING="utf-8")
    assert result.stdout == b"bell \x07\n"


def test_page_that_the_output_cannot_take_does_not_stop_the_others(tmp_path: Path) -> None:
    for name, text in (("a", "漢"), ("b", "b")):
        (tmp_path / f"{name}.html").write_text(f"<p>{text}", encoding="utf-8")
    result = run("clean", tmp_path, "-m", "ice-baseline", PYTHONIOENCODING="latin-1")
    assert result.returncode == 1
    assert result.stdout.decode() == f"==> {tmp_path}/b.html <==\nb\n"
    assert result.stderr.decode() == (
        f"Error: {tmp_path}/a.html: '\\u6f22' cannot be written in latin-1; set PYTHONIOENCODING=utf-8\n"
        "1 of 2 pages cleaned, 1 failed\n"
    )


def test_standard_output_that_takes_nothing_ends_the_batch(site: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [*MAINMATTER, "clean", site, "-j", "1"], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert result.returncode != 0
    assert result.stderr.decode().splitlines()[0] == "Error: output: No space left on device"


def test_interrupt_leaves_no_traceback(site: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "never.html")  # nobody ever writes to it: whoever reads it waits
    with subprocess.Popen(
        [*MAINMATTER, "clean", str(site), str(tmp_path / "never.html"), "-o", str(tmp_path / "out"), "-j", "1"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        wait_until((tmp_path / "out").exists)  # work is under way
        os.killpg(process.pid, signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()  # one that does not listen is not waited for
    assert (process.returncode, errors.strip()) == (130, "Aborted!")


INTERRUPTING = """
import os, signal, sys

class Interrupting:
    def find_spec(name, path=None, target=None):
        if name == os.environ["INTERRUPT_AT"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting)
"""
SCRIPT = "import sys\nfrom mainmatter.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n"


@pytest.mark.parametrize(
    ("way", "module"),
    [
        ("script", "click"),
        ("script", "numpy"),
        ("script", "mainmatter.cli.clean"),
        ("-m", "numpy"),
    ],
)
def test_interrupt_while_it_is_loaded_leaves_no_traceback(way: str, module: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTING)
    (tmp_path / "mainmatter").write_text(SCRIPT)  # as installers write it
    command = [str(tmp_path / "mainmatter")] if way == "script" else ["-m", "mainmatter"]
    result = subprocess.run(
        [sys.executable, *command, "clean", PAGES / "river.html"],
        capture_output=True,
        timeout=60,
        env=os.environ | {"INTERRUPT_AT": module, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path / "..",  # where no file is called mainmatter
        check=False,
    )
    assert (result.returncode, result.stdout, result.stderr) == (130, b"", b"\nAborted!\n")


def test_interrupt_while_the_library_is_loaded_is_the_callers(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTING)
    code = "try:\n    from mainmatter import clean\nexcept KeyboardInterrupt:\n    print('mine')"
    env = os.environ | {"INTERRUPT_AT": "numpy", "PYTHONPATH": str(tmp_path)}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, env=env, check=False)
    assert (result.returncode, result.stdout) == (0, b"mine\n")


def test_light_commands_import_nothing_heavy() -> None:
    heavy = ["matplotlib", "pyarrow", "rapidfuzz", "scipy", "trafilatura", "resiliparse", "urllib3"]
    code = (
        "import sys\n"
        "from mainmatter.cli import group\n"
        f"group(['clean', {str(PAGES / 'river.html')!r}], standalone_mode=False)\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.endswith("\n[]\n")
