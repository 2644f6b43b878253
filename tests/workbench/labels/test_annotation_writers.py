"""Nothing that was acknowledged is lost: not to kill -9, and not to others who write at the same time."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

from annotated import DROP, KEEP, TEXTS, say, store_with_page
from mainmatter.workbench.labels import Store, database

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

# Saves in a loop, and says so after each time.
SAVE = """
import sys
from mainmatter.workbench.labels import Label, Store
folder, annotator, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = Store(folder)
refs = [block.ref for block in store.blocks(1)]
before = len(store.history(1))
print("ready", flush=True)
sys.stdin.readline()
for i in range(before, before + count):
    ref = refs[i % len(refs)]
    label = Label(kept=i // len(refs) % 2 == 0)
    revision = store.set_labels(1, annotator, {ref: label})
    print(revision, ref, int(label.kept), flush=True)
"""


def start(folder: Path, annotator: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SAVE, str(folder), annotator, str(count)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def check_integrity(folder: Path) -> None:
    connection = sqlite3.connect(folder / "annotations.db")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()


def test_kill_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    store_with_page(tmp_path).close()
    chance = random.Random(6)
    said: dict[str, bool] = {}
    revisions: list[int] = []
    known = 0  # the last revision that anybody was told of
    for _ in range(5):
        process = start(tmp_path, "Ada", 100_000)
        process.stdin.write("\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
        lines = [process.stdout.readline() for _ in range(chance.randrange(5, 30))]  # type: ignore[union-attr]
        time.sleep(chance.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        lines += process.stdout.readlines()  # type: ignore[union-attr]
        process.wait()
        process.stdin.close()  # type: ignore[union-attr]
        process.stdout.close()  # type: ignore[union-attr]
        for line in lines:
            if line.endswith("\n"):
                revision, ref, kept = line.split()
                said[ref] = kept == "1"
                revisions.append(int(revision))
        check_integrity(tmp_path)
        with Store(tmp_path) as store:
            history = store.history(1)
            found = store.labels(1, "Ada")
        assert set(revisions) <= {event.revision for event in history}
        known = max([known, *revisions])
        # At most one more was saved than could be told of; it is then the last.
        assert found.revision - known in (0, 1)
        ahead = {change.ref for event in history if event.revision > known for change in event.changes}
        assert {ref: label.kept for ref, label in found.by_ref.items() if ref not in ahead} == {
            ref: kept for ref, kept in said.items() if ref not in ahead
        }
        said = {ref: label.kept for ref, label in found.by_ref.items()}
        known = found.revision
    assert len(revisions) > 20


def test_two_processes_that_save_at_once_lose_nothing(tmp_path: Path) -> None:
    store_with_page(tmp_path).close()
    processes = [start(tmp_path, name, 200) for name in ("Ada", "Bea")]
    for process in processes:
        process.stdin.write("\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
    told = [process.communicate()[0].split("\n")[:-1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    with Store(tmp_path) as store:
        history = store.history(1)
        labels = [store.labels(1, name).by_ref for name in ("Ada", "Bea")]
    assert len(history) == 400
    assert {event.revision for event in history} == {int(line.split()[0]) for lines in told for line in lines}
    for name, lines in zip(("Ada", "Bea"), told, strict=True):
        mine = [event.revision for event in history if event.annotator == name]
        assert mine == [int(line.split()[0]) for line in lines]
    assert labels[0] == labels[1]
    check_integrity(tmp_path)


def test_two_windows_of_one_annotator_lose_nothing(tmp_path: Path) -> None:
    store_with_page(tmp_path).close()
    processes = [start(tmp_path, "Ada", 50) for _ in range(2)]
    for process in processes:
        process.communicate("\n")
    with Store(tmp_path) as store:
        history = store.history(1)
        found = {ref: label.kept for ref, label in store.labels(1, "Ada").by_ref.items()}
        replayed: dict[str, bool] = {}
        for event in history:
            for change in event.changes:
                assert (change.before is None) == (change.ref not in replayed)
                assert change.after is not None
                replayed[change.ref] = change.after.kept
        assert found == replayed


def test_threads_share_a_store(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        failures = []

        def work(name: str) -> None:
            try:
                for i in range(20):
                    say(store, name, {i % len(TEXTS): KEEP if i < len(TEXTS) else DROP})
                    assert store.labels(1, name).by_ref
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(f"annotator {i}",)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert len(store.history(1)) == 80


def test_many_may_open_a_new_database_at_once(tmp_path: Path) -> None:
    code = "import sys; from mainmatter.workbench.labels import Store; Store(sys.argv[1]).pages()"
    command = [sys.executable, "-c", code, str(tmp_path)]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[1] for process in processes] == ["", "", ""]


def test_another_may_make_the_tables_while_one_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "annotations.db"
    number = database._number
    other = threading.Thread(target=lambda: database.Database(path).close())

    def number_then_other(connection: sqlite3.Connection, pragma: str) -> int:
        found = number(connection, pragma)
        if threading.current_thread() is threading.main_thread() and pragma == "application_id":
            other.start()
            other.join(0.3)  # time enough to make the tables, unless it has to wait for this look to end
        return found

    monkeypatch.setattr(database, "_number", number_then_other)
    database.Database(path).close()
    other.join()
