"""`mainmatter serve`: the workbench and its HTTP API."""

from __future__ import annotations

import secrets
import socket
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mainmatter.cli import options
from mainmatter.errors import InputError, MissingExtra
from mainmatter.limits import format_size
from mainmatter.registry import DEFAULT_METHOD

if TYPE_CHECKING:
    import uvicorn

    from mainmatter.workbench.settings import Settings

BACKLOG = 2048  # connections that the kernel keeps for us while we are busy
KEEP_ALIVE = 30  # seconds that a connection may be idle
SWITCH_INTERVAL = 0.0005  # seconds: what a worker has done is not to wait long for a server that is busy
GOODBYE = 5  # seconds for requests that are under way when the server is stopped


@click.command(name="serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="The port; 0 takes any free one."
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("workbench"),
    show_default=True,
    help="The folder of the workbench, with annotations.db and models/.",
)
@click.option(
    "--corpus",
    "corpora",
    multiple=True,
    metavar="OUT",
    help="A corpus to look at: what `mainmatter corpus` wrote, or an archive or folder of pages; may be repeated.",
)
@click.option(
    "--token",
    envvar="MAINMATTER_TOKEN",
    help="The token that every request must carry. By default one is generated if other machines can reach the server.",
)
@click.option(
    "--name", "names", multiple=True, metavar="HOST", help="A host name that browsers may use; may be repeated."
)
@click.option("-j", "--workers", type=click.IntRange(1, 256), help="How many processes.  [default: cores, at least 2]")
@click.option(
    "--waiting", type=click.IntRange(0), help="How many requests may wait for a worker.  [default: 4 for each worker]"
)
@options.rules_for_clients
@click.option(
    "--max-upload",
    type=click.FloatRange(0, min_open=True),
    default=50.0,
    show_default=True,
    metavar="MB",
    help="Refuse larger uploads of files.",
)
@click.option(
    "--max-unpacked",
    type=click.FloatRange(0, min_open=True),
    default=500.0,
    show_default=True,
    metavar="MB",
    help="Stop importing an upload whose pages have more than that, unpacked.",
)
@click.option("--open", "opens", is_flag=True, help="Open the workbench in a browser.")
def command(
    host: str,
    port: int,
    folder: Path,
    corpora: tuple[str, ...],
    token: str | None,
    names: tuple[str, ...],
    workers: int | None,
    waiting: int | None,
    seconds: float,
    memory: int,
    max_size: float,
    max_upload: float,
    max_unpacked: float,
    fetch: bool,
    allow_private: bool,
    opens: bool,
) -> None:
    """Open the workbench in a browser: see, compare, correct, teach. Also offers an HTTP API.

    The server listens on this machine only. With --host it can listen elsewhere; every request must then carry a token.
    It runs until Ctrl-C.
    """
    for package in ("fastapi", "uvicorn", "python_multipart"):
        if find_spec(package) is None:
            raise MissingExtra(package.replace("_", "-"), "serve")
    from mainmatter.workbench.settings import Settings, is_loopback  # an extra

    made = token is None and not is_loopback(host)
    chosen: dict[str, Any] = {} if workers is None else {"workers": workers}
    settings = Settings(
        host=host,
        port=port,
        token=secrets.token_urlsafe(24) if made else checked_token(token),
        names=names,
        folder=folder,
        corpora=corpora,
        max_bytes=options.to_limits(max_size).size,
        max_upload_bytes=options.to_limits(max(max_size, max_upload)).size,
        max_unpacked_bytes=options.to_limits(max(max_size, max_upload, max_unpacked)).size,
        seconds=seconds,
        memory_mb=memory,
        waiting=waiting,
        fetch=fetch,
        allow_private=allow_private,
        **chosen,
    )
    _run(settings, opens=opens)


def checked_token(token: str | None) -> str | None:
    """A token that can be sent in a header.

    Raises:
        BadParameter: it cannot, or is easily guessed.
    """
    if token is not None and (len(token) < 8 or not token.isascii() or not token.isprintable() or " " in token):
        raise click.BadParameter("is at least 8 printable ASCII characters, without spaces", param_hint="--token")
    return token


def _run(settings: Settings, *, opens: bool) -> None:
    with listen(settings.host, settings.port) as listening:
        import uvicorn  # an extra

        from mainmatter.workbench.app import make_app

        class Server(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                if self.started:
                    _welcome(settings, listening.getsockname()[1], opens=opens)

        server = Server(server_config(make_app(settings)))
        sys.setswitchinterval(SWITCH_INTERVAL)
        try:
            server.run(sockets=[listening])
        except KeyboardInterrupt:
            click.echo("stopped", err=True)
    if not server.started:
        click.get_current_context().exit(1)


def server_config(app: Any) -> uvicorn.Config:  # any application that uvicorn runs
    """How uvicorn runs our servers."""
    import uvicorn  # an extra

    from mainmatter.workbench.connections import Connection

    return uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        http=Connection,
        ws="none",
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GOODBYE,
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens, so that whatever is wrong with the address is said before anything else starts."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, UnicodeError) as error:
        reason = str(getattr(error, "strerror", None) or error).partition(" (while")[0]
        hint = "; is another server running there? try --port 0" if port and "in use" in reason else ""
        raise InputError(f"cannot listen at {host} port {port}: {reason}{hint}") from error


def _welcome(settings: Settings, port: int, *, opens: bool) -> None:
    from mainmatter.workbench.choosing import offered_method  # an extra

    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    shown = "127.0.0.1" if settings.host in ("0.0.0.0", "") else "[::1]" if settings.host == "::" else host  # noqa: S104
    address = f"http://{shown}:{port}/" + (f"?token={settings.token}" if settings.token else "")
    click.echo(f"mainmatter workbench: {address}")
    click.echo(
        f"folder {settings.folder}; {settings.workers} workers, {settings.most_waiting} requests may wait; pages up to "
        f"{format_size(settings.max_bytes)}, {settings.seconds:g} s, {settings.memory_mb} MB; stop it with Ctrl-C"
    )
    method = offered_method(settings.folder / "models")
    if method != DEFAULT_METHOD:
        click.echo(f"method: {method} (chosen in Teach, or with `mainmatter use`)", err=True)
    for corpus in settings.corpora:
        click.echo(f"corpus {corpus}: anyone who can use the workbench can see its pages and its inputs")
    if opens:
        click.launch(address)
