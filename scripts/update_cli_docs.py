"""Write docs/reference/cli.md from the commands' own --help; tests/test_docs.py checks that it is up to date.

python scripts/update_cli_docs.py
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mainmatter.cli import group

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"
WIDTH = 100
HEAD = """\
# Commands

The `--help` of every command. `scripts/update_cli_docs.py` generates this page.

Exit codes: 0 everything worked; 1 something could not be done, and standard error says what; 2 the command was called
with wrong arguments; 130 it was interrupted by Ctrl-C.
"""


def cli_docs() -> str:
    """The page: each command with its help."""
    sections = (f"\n## {name}\n\n```text\n{help_text}\n```\n" for name, help_text in _helps(group, "mainmatter", None))
    return HEAD + "".join(sections)


def _helps(command: click.Command, name: str, parent: click.Context | None) -> Iterator[tuple[str, str]]:
    """The full name and the help of a command and of those below it."""
    context = click.Context(command, parent, info_name=name, terminal_width=WIDTH, help_option_names=["-h", "--help"])
    yield context.command_path, command.get_help(context).rstrip()
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None
            yield from _helps(found, below, context)


if __name__ == "__main__":
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(cli_docs(), encoding="utf-8")
