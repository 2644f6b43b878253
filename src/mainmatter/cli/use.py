"""`mainmatter use`: the method that other commands take unless they name one."""

from __future__ import annotations

from pathlib import Path

import click

from mainmatter.cli import options
from mainmatter.models.in_use import choice_file, read_choice, write_choice
from mainmatter.models.store import is_model
from mainmatter.registry import DEFAULT_METHOD, get_method, split_name


@click.command(name="use")
@click.argument("method", required=False, metavar="[MODEL|METHOD]", shell_complete=options.complete_methods)
def command(method: str | None) -> None:
    """Choose the method that other commands use unless -m names one, such as a model that you taught.

    MODEL is the folder of a model. You can also give a method's name, with parameters if you like. `mainmatter use
    main` goes back to what ships. Without an argument, the command shows the current choice. The choice is stored in
    your configuration folder, ~/.config/mainmatter. Python's functions ignore it.
    """
    if method is None:
        click.echo(f"{read_choice() or DEFAULT_METHOD}")
        return
    get_method(method)  # complains, if need be
    name, parameters = split_name(method)
    if is_model(name):
        method = ":".join(filter(None, (str(Path(name).resolve()), parameters)))
    write_choice(None if method == DEFAULT_METHOD else method)
    click.echo(f"{method} is now the default method ({choice_file()})")
