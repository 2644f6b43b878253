"""Messages between a process and its child: pickled objects over a socket, with large bytes beside the pickle.

The content of a `pickle.PickleBuffer` is sent without being copied into a pickle, and received without being copied out
of one. It arrives as `bytes`.
"""

from __future__ import annotations

import struct
from io import BytesIO
from multiprocessing.connection import wait
from multiprocessing.reduction import ForkingPickler
from socket import MSG_WAITALL
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence
    from pickle import PickleBuffer

Message = list[bytes | memoryview]  # a pickle, and what it leaves out; an empty pickle has a meaning of its own

_HEAD = struct.Struct("!IQ")  # how many parts follow the pickle, and its size
_LARGE = 16_384  # bytes: smaller ones are not worth a system call of their own


class Channel:
    """One end of a pair of sockets, which it owns. Errors are those of sockets, and EOFError when the other is gone."""

    def __init__(self, end: socket.socket) -> None:
        end.settimeout(None)  # whatever is the default of this program
        self._socket = end

    @property
    def is_closed(self) -> bool:
        """Whether this end is."""
        return self.fileno() < 0

    def fileno(self) -> int:
        """The file descriptor; -1 when this end is closed."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close this end."""
        self._socket.close()

    def poll(self, seconds: float) -> bool:
        """Wait at most so long for something to receive, or the end of the other side; whether either came."""
        return bool(wait([self._socket], seconds))

    def send(self, content: Any) -> None:  # whatever can be pickled
        """Send an object."""
        self.send_message(pack(content))

    def send_message(self, message: Sequence[bytes | memoryview]) -> None:
        """Send what was packed."""
        pickled, *buffers = message
        head = _HEAD.pack(len(buffers), len(pickled)) + struct.pack(f"!{len(buffers)}Q", *map(len, buffers))
        if len(pickled) < _LARGE:
            self._socket.sendall(head + pickled)
        else:
            buffers.insert(0, pickled)
            self._socket.sendall(head)
        for part in buffers:
            self._socket.sendall(part)

    def receive(self) -> Any:  # as above
        """The next object."""
        return unpack(self.receive_message())

    def receive_message(self) -> Message:
        """The next message, still packed: what is wrong with unpacking it is another matter than its arrival."""
        count, size = _HEAD.unpack(self._read(_HEAD.size))
        sizes = struct.unpack(f"!{count}Q", self._read(8 * count))
        return [self._read(each) for each in (size, *sizes)]

    def _read(self, size: int) -> bytes:
        if not size:
            return b""
        found = self._socket.recv(size, MSG_WAITALL)
        while len(found) < size:  # a signal came between
            more = self._socket.recv(size - len(found), MSG_WAITALL)
            if not more:
                raise EOFError
            found += more
        return found


def pack(content: Any) -> Message:  # as above
    """An object as a message. Raises what pickling raises."""
    message: Message = []

    def is_small(buffer: PickleBuffer) -> bool:
        raw = buffer.raw()
        if len(raw) < _LARGE or not raw.readonly:  # what is writable has to arrive as something writable
            return True
        message.append(raw)
        return False

    stream = BytesIO()
    ForkingPickler(stream, 5, True, is_small).dump(content)  # it takes no keywords
    message.insert(0, stream.getbuffer())
    return message


def unpack(message: Message) -> Any:  # as above
    """The object of a message."""
    pickled, *buffers = message
    return ForkingPickler.loads(pickled, buffers=buffers)
