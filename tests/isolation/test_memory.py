"""How much memory processes hold."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from child_services import act
from mainmatter.isolation.child import Child, as_service
from mainmatter.isolation.memory import end_largest, family_mb, peak_mb, resident_mb

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")


@linux
def test_what_this_process_holds() -> None:
    now, most, family = resident_mb(), peak_mb(), family_mb()
    assert now is not None
    assert most is not None
    assert family is not None
    assert 5 < now <= most
    assert family > 5


def test_a_process_that_is_not_there() -> None:
    assert resident_mb(2**22 + 1) is None


@linux
def test_what_a_child_holds_is_the_family_s() -> None:
    before = family_mb()
    child = Child(as_service, act)
    child.call("hoard", 100)
    after = family_mb()
    child.close()
    assert before is not None
    assert after is not None
    assert child.start_mb is not None
    assert after - before > 100 + child.start_mb / 2


@linux
def test_the_largest_of_a_family_is_ended() -> None:
    hold = "import sys; held = b'x' * {}; print(flush=True); sys.stdin.read()"
    code = (
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', {hold.format(80_000_000)!r}], stdin=subprocess.PIPE)\n"
        "print(child.wait())"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()  # the child holds its memory
        assert not end_largest(parent.pid, 500)
        assert end_largest(parent.pid, 60)
        assert parent.stdout.readline() == f"-{signal.SIGKILL.value}\n"
    assert not end_largest(2**22 + 1, 1)  # there is no such process
