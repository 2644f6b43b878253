"""`mainmatter methods`: what there is to choose from."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from mainmatter.registry import DEFAULT_METHOD, get_method, method_names


@click.command(name="methods")
def command() -> None:
    """List the methods, with their parameters and defaults."""
    for name in method_names():
        method: Any = get_method(name)
        mark = " (the default)" if name == DEFAULT_METHOD else ""
        click.echo(f"{click.style(name, bold=True)}{mark}\n    {method.summary}")
        if dataclasses.is_dataclass(method):
            fields = ", ".join(f"{field.name}={getattr(method, field.name)}" for field in dataclasses.fields(method))
            if fields:
                click.echo(f"    parameters: {fields}")
