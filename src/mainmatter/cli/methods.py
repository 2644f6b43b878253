"""`mainmatter methods`: what there is to choose from."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from mainmatter.method import Trainable
from mainmatter.models.store import SHIPPED, is_model, load
from mainmatter.registry import DEFAULT_METHOD, get_method, method_names


@click.command(name="methods")
def command() -> None:
    """List the methods, with their parameters and defaults."""
    for name in method_names():
        mark = " (the default)" if name == DEFAULT_METHOD else ""
        click.echo(click.style(name, bold=True) + mark)
        for line in _describe(name):
            click.echo(f"    {line}")


def _describe(name: str) -> list[str]:
    try:
        method: Any = get_method(name)
        lines = [method.summary]
    except Exception as error:  # another package's method may be broken in any way
        return [f"cannot be used: {' '.join(str(error).split()) or type(error).__name__}"]
    fields = [field for field in dataclasses.fields(method) if field.init] if dataclasses.is_dataclass(method) else []
    if fields:
        lines.append("parameters: " + ", ".join(f"{field.name}={getattr(method, field.name)}" for field in fields))
    if presets := getattr(method, "presets", {}):
        lines.append("presets: " + ", ".join(f"{name}:preset={preset}" for preset in presets))
    if isinstance(method, Trainable):
        lines.append(_learned_from(method))
    return lines


def _learned_from(method: Trainable[Any]) -> str:
    shipped = SHIPPED / method.weights()
    if not is_model(shipped):
        return "learns from your own pages: nothing ships"
    return "trained on " + ", ".join(each["name"] for each in load(shipped).card["data"])
