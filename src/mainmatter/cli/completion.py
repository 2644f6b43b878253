"""`mainmatter completion`: a script that lets a shell complete what is typed."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command(name="completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a script for completion with the Tab key, in bash, zsh or fish.

    \b
    bash   add to ~/.bashrc:   eval "$(mainmatter completion bash)"
    zsh    add to ~/.zshrc:    eval "$(mainmatter completion zsh)"
    fish   run once:           mainmatter completion fish > ~/.config/fish/completions/mainmatter.fish
    """  # noqa: D301 - click wants the control character
    from mainmatter.cli import group  # which imports this file

    maker = get_completion_class(shell)
    assert maker is not None
    click.echo(maker(group, {}, "mainmatter", "_MAINMATTER_COMPLETE").source())
