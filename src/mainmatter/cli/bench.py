"""`mainmatter bench`: methods and peers side by side."""

from __future__ import annotations

import click

from mainmatter.cli.bench_accuracy import command as accuracy
from mainmatter.cli.bench_corpus import command as corpus
from mainmatter.cli.bench_memory import command as memory
from mainmatter.cli.bench_speed import command as speed


@click.group(name="bench")
def command() -> None:
    """Compare methods and peers on this machine."""


for _below in (accuracy, corpus, memory, speed):
    command.add_command(_below)
