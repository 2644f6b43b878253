"""The server's settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from mainmatter.isolation.parallel import default_workers
from mainmatter.limits import MEGABYTE, Limits

WAITING_PER_WORKER = 4


@dataclass(frozen=True, slots=True)
class Settings:
    """How the server runs.

    Attributes:
        host: the address to listen at; any but a loopback address needs a token.
        port: the port to listen at; 0 takes any that is free.
        token: what every request must carry; None requires nothing.
        names: host names, besides those of the loopback address, by which browsers may call this server.
        folder: the workbench: holds annotations.db and models/.
        corpora: what clients may see: output folders of corpus runs, with the inputs that these name; archives and
            folders of pages.
        max_bytes: the largest page, and the largest request that is not an upload of files.
        max_upload_bytes: the largest upload of files (multipart/form-data).
        max_unpacked_bytes: the largest total size of an upload's pages after unpacking.
        seconds: how long work on a request may take, in wall-clock time, and how long it may queue.
        body_seconds: how long a client may take to send its request.
        memory_mb: how much memory a worker may take beyond that at its start.
        workers: how many processes work on pages.
        waiting: how many requests may wait for one of them; None is four for each worker.
        fetch: whether the server fetches pages from the web for clients.
        allow_private: also fetch from private and loopback addresses: for a network that you trust.
        max_pages: the most pages of an evaluation.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = field(default=None, repr=False)
    names: tuple[str, ...] = ()
    folder: Path = Path("workbench")
    corpora: tuple[str, ...] = ()
    max_bytes: int = 10 * MEGABYTE
    max_upload_bytes: int = 50 * MEGABYTE
    max_unpacked_bytes: int = 500 * MEGABYTE
    seconds: float = 20.0
    body_seconds: float = 30.0
    memory_mb: int = 1000
    workers: int = field(default_factory=lambda: max(2, default_workers()))
    waiting: int | None = None
    fetch: bool = True
    allow_private: bool = False
    max_pages: int = 100

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.host)

    @property
    def most_waiting(self) -> int:
        """How many requests may wait for a worker."""
        return WAITING_PER_WORKER * self.workers if self.waiting is None else self.waiting

    @property
    def limits(self) -> Limits:
        """How large a page may be."""
        return Limits(size=self.max_bytes)


def is_loopback(host: str) -> bool:
    """Whether a host (a name, or an address with or without brackets) is a loopback address."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
