"""The command line: one file a command, which parses its arguments, calls one library function and prints.

Exit codes: 0 all is well; 1 something could not be done, said on standard error; 2 the command was used wrongly; 130 it
was ended by Ctrl-C.
"""

from __future__ import annotations

import os
import shlex
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from mainmatter.cli.printing import why_unwritable
from mainmatter.errors import MainmatterError, suggest
from mainmatter.isolation.interrupts import INTERRUPTED, MESSAGE, raise_again

# The files of the commands, and the first sentence of what each says about itself.
_COMMANDS = {
    "annotations": "Make gold standards: add pages, measure how well annotators agree, export.",
    "clean": "Keep the main matter of pages.",
    "completion": "Print a script for completion with the Tab key, in bash, zsh or fish.",
    "corpus": "Turn a crawl into a corpus: the main matter of all pages, as Parquet or JSONL.",
    "evaluate": "Measure methods on gold standards.",
    "explain": "Show why each block of a page was kept or dropped.",
    "index": "Make a cleaned collection searchable.",
    "mcp": "Give agents tools: read pages without boilerplate, explain decisions, search a collection.",
    "methods": "List the methods, with their parameters and defaults.",
    "plot": "Draw where the text of a page is, and which of it was kept.",
    "render": "Show a page as a browser does, with its blocks outlined.",
    "search": "Search an INDEX for documents, best matches first (BM25).",
    "serve": "Open the workbench in a browser: see, compare, correct, teach. Also offers an HTTP API.",
    "teach": "Train a method on annotated pages, and measure the gain.",
    "train": "Train a method on pages with their clean texts.",
    "use": "Choose the method that other commands use unless -m names one, such as a model that you taught.",
}

_NOT_ON_WINDOWS = ("fcntl", "resource")  # modules of Python's own library
_NEEDS_POSIX = "this command needs Linux or macOS; on Windows, use Docker or the Windows Subsystem for Linux"


class ErrorsAsMessages(click.Command):
    """A command that says what went wrong in one line, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:  # whatever the command returns
        """Run the command; our errors and those of files become click's."""
        try:
            return super().invoke(ctx)
        except MainmatterError as error:
            raise click.ClickException(str(error)) from error
        except ModuleNotFoundError as error:
            if error.name not in _NOT_ON_WINDOWS:
                raise
            raise click.ClickException(_NEEDS_POSIX) from error
        except UnicodeEncodeError as error:
            raise click.ClickException(why_unwritable(error)) from error
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            raise click.ClickException(f"{error.filename or 'output'}: {error.strerror or error}") from error
        except KeyboardInterrupt:  # click would give 1
            click.echo(MESSAGE, err=True)
            ctx.exit(INTERRUPTED)


class _LazyGroup(ErrorsAsMessages, click.Group):
    """Imports a command's file only when the command is used, so that `clean` starts without what others need."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"mainmatter.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands in the help, without their files: to import them all takes ten times as long."""
        limit = formatter.width - 6 - max(map(len, _COMMANDS))  # as click has it
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, click.Command(name, help=text).get_short_help_str(limit)) for name, text in _COMMANDS.items()]
            )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            from mainmatter.inputs.fetch import is_url  # commands that there are do not need it

            if is_url(name) or Path(name).exists():
                ctx.fail(f"No such command {name!r}; to clean a page: mainmatter clean {shlex.quote(name)}")
            ctx.fail(f"No such command {name!r}; {suggest(name, _COMMANDS, 'commands')}")
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, _parameter: click.Parameter, asked: bool) -> None:
    if asked:
        from mainmatter import __version__  # other commands do not need them
        from mainmatter.compiled import status

        click.echo(f"mainmatter {__version__} ({status()})")
        ctx.exit()


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version, and whether it is compiled, and exit.",
)
def group() -> None:
    """Keep the main matter of web pages, drop the boilerplate.

    \b
    mainmatter clean page.html              the main matter of a page
    mainmatter clean site/ -o texts/        of all pages in a folder
    mainmatter explain page.html            why each block was kept or dropped
    mainmatter corpus crawl.warc.gz -o out  a whole crawl, as Parquet
    mainmatter serve                        the workbench: see, compare, correct, teach in a browser
    """  # noqa: D301 - click wants the control character


def main(command: click.Command = group, name: str = "mainmatter") -> None:
    """Run a command line."""
    raise_again()
    try:
        command(prog_name=name)
    except BrokenPipeError:
        # The reader of our output has gone; what Python still has to flush must not fail too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
