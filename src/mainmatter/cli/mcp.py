"""`mainmatter mcp`: tools for agents, over the Model Context Protocol."""

from __future__ import annotations

import os
import secrets
import signal
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mainmatter.cli import options
from mainmatter.cli.serve import checked_token, listen, server_config
from mainmatter.errors import MissingExtra
from mainmatter.isolation.interrupts import INTERRUPTED
from mainmatter.registry import get_method

if TYPE_CHECKING:
    from mainmatter.workbench.agents import AgentTools


@click.command(name="mcp")
@click.option("--http", is_flag=True, help="Answer over HTTP, at /mcp, instead of over standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: the address to listen at.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="With --http: the port; 0 takes any free one.",
)
@click.option(
    "--token",
    envvar="MAINMATTER_TOKEN",
    help="With --http: the token that every request must carry. By default one is generated if other machines can "
    "reach the server.",
)
@click.option(
    "--index",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="An index made by `mainmatter index`; adds a tool to search it.",
)
@options.method
@click.option("-j", "--workers", type=click.IntRange(1, 256), default=2, show_default=True, help="How many processes.")
@options.rules_for_clients
def command(
    http: bool,
    host: str,
    port: int,
    token: str | None,
    index: Path | None,
    method: str,
    workers: int,
    seconds: float,
    memory: int,
    max_size: float,
    fetch: bool,
    allow_private: bool,
) -> None:
    """Give agents tools: read pages without boilerplate, explain decisions, search a collection.

    This is a Model Context Protocol server. An agent's program starts it and talks to it over standard input and
    output; with --http it listens on this machine instead. Pages are fetched from public addresses only, unless
    --allow-private is given. It runs until its input ends, or until Ctrl-C.
    """
    if find_spec("mcp") is None:
        raise MissingExtra("mcp", "mcp")
    get_method(method)  # complain before any work
    from mainmatter.workbench.agents import AgentTools  # an extra
    from mainmatter.workbench.settings import Settings, is_loopback

    is_made = http and token is None and not is_loopback(host)
    settings = Settings(
        host=host,
        port=port,
        token=secrets.token_urlsafe(24) if is_made else checked_token(token),
        max_bytes=options.to_limits(max_size).size,
        seconds=seconds,
        memory_mb=memory,
        workers=workers,
        fetch=fetch,
        allow_private=allow_private,
    )
    _run(AgentTools(settings, method, index), over_http=http)


def _run(tools: AgentTools, *, over_http: bool) -> None:
    import anyio  # an extra

    if not over_http:
        # The thread that waits for input cannot be interrupted; workers end with this process.
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
        if sys.stdin.isatty():
            click.echo(
                "mainmatter mcp: meant to be started by an agent's program, which talks to it; stop it with Ctrl-C",
                err=True,
            )

    async def run() -> None:
        try:
            await (_serve_http(tools) if over_http else tools.to_server().run_stdio_async())
        finally:
            with anyio.CancelScope(shield=True):
                await tools.workers.close()

    try:
        anyio.run(run)
    except KeyboardInterrupt:
        click.echo("stopped", err=True)


async def _serve_http(tools: AgentTools) -> None:
    import uvicorn  # an extra

    from mainmatter.workbench.agents import make_http_app

    settings = tools.settings
    with listen(settings.host, settings.port) as listening:
        port = listening.getsockname()[1]
        config = server_config(make_http_app(tools, port))
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        click.echo(f"mainmatter mcp: http://{host}:{port}/mcp; stop it with Ctrl-C", err=True)
        if settings.token is not None:
            click.echo(f"every request needs the header Authorization: Bearer {settings.token}", err=True)
        await uvicorn.Server(config).serve(sockets=[listening])
