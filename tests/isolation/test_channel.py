"""Messages between processes: whole, whatever their size, and without copies of what is large."""

from __future__ import annotations

import signal
import socket
import threading
import time
from pickle import PickleBuffer
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from mainmatter.isolation.channel import _LARGE, Channel, pack, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator

HTML = b"<p>" * 100_000


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Channel]]:
    one, other = map(Channel, socket.socketpair())
    yield one, other
    one.close()
    other.close()
    assert one.is_closed


def pass_through(ends: tuple[Channel, Channel], content: object) -> Any:
    sender = threading.Thread(target=ends[0].send, args=(content,))  # a large message waits for its reader
    sender.start()
    received = ends[1].receive()
    sender.join()
    return received


@pytest.mark.parametrize("size", [0, 1, _LARGE - 1, _LARGE, 3_000_000])
def test_what_is_sent_is_received(ends: tuple[Channel, Channel], size: int) -> None:
    content = [{"text": "ä" * size}, size, b"x" * size, PickleBuffer(b"y" * size), PickleBuffer(b"z")]
    assert pass_through(ends, content) == [content[0], size, b"x" * size, b"y" * size, b"z"]


def test_large_bytes_are_not_copied() -> None:
    pickled, html = pack([PickleBuffer(HTML), PickleBuffer(b"<p>small")])
    assert len(pickled) < 100
    assert isinstance(html, memoryview)
    assert html.obj is HTML
    assert unpack([pickled, HTML])[0] is HTML


def test_an_array_can_be_written_to_if_it_could(ends: tuple[Channel, Channel]) -> None:
    array = np.arange(100_000.0)
    assert pass_through(ends, array).flags.writeable
    array.flags.writeable = False
    received = pass_through(ends, array)
    assert not received.flags.writeable
    assert (received == array).all()


def test_what_cannot_be_pickled_is_told_before_anything_is_sent(ends: tuple[Channel, Channel]) -> None:
    with pytest.raises(TypeError, match="cannot pickle"):
        ends[0].send([PickleBuffer(HTML), threading.Lock()])
    assert not ends[1].poll(0)


def test_a_signal_interrupts_no_message(ends: tuple[Channel, Channel]) -> None:
    caught = []
    before = signal.signal(signal.SIGALRM, lambda *_: caught.append(1))
    halves = pack(PickleBuffer(HTML))

    def send_slowly() -> None:
        head = len(halves[0]).to_bytes(8)
        ends[0]._socket.sendall((1).to_bytes(4) + head + len(HTML).to_bytes(8) + halves[0] + HTML[:1000])
        time.sleep(0.2)
        ends[0]._socket.sendall(HTML[1000:])

    sender = threading.Thread(target=send_slowly)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        sender.start()
        assert ends[1].receive() == HTML
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    sender.join()
    assert caught


@pytest.mark.parametrize("sent", [b"", b"\0" * 3, b"\0" * 11 + b"\x09half"])
def test_the_end_of_the_other(ends: tuple[Channel, Channel], sent: bytes) -> None:
    ends[0]._socket.sendall(sent)
    ends[0].close()
    assert ends[1].poll(0)
    with pytest.raises(EOFError):
        ends[1].receive()


def test_no_default_of_the_program_is_in_the_way() -> None:
    socket.setdefaulttimeout(0.01)
    try:
        one, other = map(Channel, socket.socketpair())
        threading.Timer(0.1, one.send, ["late"]).start()
        assert other.receive() == "late"
    finally:
        socket.setdefaulttimeout(None)
    one.close()
    other.close()
