"""Check that the gated method is not below the floors of tests/quality/floors.json, or raise the floors.

python -m bench gate check                  # exit code 1 if a figure is below its floor
python -m bench gate --final check          # also on the sets for tests only: when all has been chosen
python -m bench gate raise                  # after an improvement
python -m bench gate raise --lower "pages: bag f1 page_type=forum" --reason "quotes are no longer kept"
python -m bench gate raise --new-data pages --reason "one more forum page"
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from bench import gate
from mainmatter.errors import MainmatterError

ROOT = Path(__file__).parents[1]
FLOORS = ROOT / "tests" / "quality" / "floors.json"
DATA = ROOT.parent / "shared" / "data"


@click.group()
@click.option("--floors", "path", type=click.Path(path_type=Path), default=FLOORS, help="The file of the floors.")
@click.option("--data", type=click.Path(path_type=Path), default=DATA, help="The folder of the gold standards.")
@click.option("--method", default=gate.GATED_METHOD, show_default=True)
@click.option("--final", is_flag=True, help="Measure also on the sets that are for tests only.")
@click.pass_context
def command(context: click.Context, path: Path, data: Path, method: str, final: bool) -> None:
    """Compare figures with their floors, or raise the floors."""
    try:
        context.obj = Gate(path, data, method, gate.read_floors(path), final=final)
    except MainmatterError as error:
        raise click.ClickException(str(error)) from error


class Gate:
    """The floors, where the pages are, the method that is measured, and whether all has been chosen."""

    def __init__(self, path: Path, data: Path, method: str, floors: gate.Floors, *, final: bool) -> None:
        self.path, self.data, self.method, self.floors, self.final = path, data, method, floors, final

    def measured(self, name: str) -> tuple[dict[str, float], str] | None:
        """The figures of a set and the digest of its data; None, and a word about it, if it is left out."""
        if gate.is_for_tests_only(name) and not self.final:
            click.echo(f"{name}: left out, for tests only; --final measures it")
            return None
        place = gate.place_of(name, self.path, self.data)
        if not place.exists():
            click.echo(f"{name}: left out, {place} is not there")
            return None
        try:
            return gate.measure(name, self.floors.sets[name], place, self.method), gate.digest(place)
        except MainmatterError as error:
            raise click.ClickException(f"{name}: {error}") from error


@command.command()
@click.pass_obj
def check(watch: Gate) -> None:
    """Measure all sets that are there; a figure below its floor, or other data, is exit code 1."""
    is_good = True
    for name, pinned in watch.floors.sets.items():
        found = watch.measured(name)
        if found is None:
            continue
        figures, sha256 = found
        for figure, value in figures.items():
            click.echo(f"{name}: {figure}: {value:.4f} (floor {pinned.floors.get(figure, 0.0):.4f})")
        for complaint in gate.complaints(pinned, figures, sha256):
            is_good = False
            click.echo(f"{name}: {complaint}", err=True)
    if not is_good:
        raise SystemExit(1)


@command.command("raise")
@click.option("--lower", multiple=True, metavar="SET[: FIGURE]", help="Let these floors be lowered too.")
@click.option("--new-data", multiple=True, metavar="SET", help="Pin these sets on the data as it is now.")
@click.option("--reason", default="", help="Why; the file keeps it.")
@click.pass_obj
def raise_floors(watch: Gate, lower: tuple[str, ...], new_data: tuple[str, ...], reason: str) -> None:
    """Lift all floors to what is measured, less the tolerance. None is lowered unless it is named."""
    try:
        _check_sets([*(name.partition(":")[0] for name in lower), *new_data], watch.floors)
        for name in watch.floors.sets:
            found = watch.measured(name)
            if found is not None:
                only = [entry.partition(":")[2].strip() for entry in lower if entry.partition(":")[0] == name]
                _change_set(watch, name, found, only, reason, is_new=name in new_data)
    except MainmatterError as error:
        raise click.ClickException(str(error)) from error
    gate.write_floors(replace(watch.floors, method=watch.method), watch.path)


def _check_sets(names: list[str], floors: gate.Floors) -> None:
    for name in names:
        if name not in floors.sets:
            raise click.ClickException(f"no set {name!r}; there are: {', '.join(floors.sets)}")


def _change_set(
    watch: Gate, name: str, found: tuple[dict[str, float], str], lower: list[str], reason: str, *, is_new: bool
) -> None:
    """Raise the floors of a set, lower those that may be, and say what changed."""
    figures, sha256 = found
    before = watch.floors.sets[name]
    pinned, changes = before, list[gate.LoweredFloor]()
    if is_new:
        pinned, changes = gate.repinned(name, pinned, figures, sha256, reason)
    for figure in lower:
        pinned, more = gate.lowered(name, pinned, figures, reason, figure or None)
        changes += more
    try:
        pinned = gate.raised(pinned, figures, sha256)
    except MainmatterError as error:
        raise click.ClickException(f"{name}: {error}; pin it with --new-data {name} --reason WHY") from error
    for figure, floor in pinned.floors.items():
        if floor != before.floors.get(figure):
            click.echo(f"{name}: {figure}: {before.floors.get(figure, 0.0):.4f} -> {floor:.4f}")
    for complaint in gate.complaints(pinned, figures, sha256):
        click.echo(f"{name}: {complaint}; --lower {name!r} --reason WHY lowers it", err=True)
    watch.floors = replace(
        watch.floors, sets=watch.floors.sets | {name: pinned}, lowered=(*watch.floors.lowered, *changes)
    )
