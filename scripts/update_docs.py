"""Write docs/reference/cli.md and http.md; tests/test_docs.py checks that they are up to date.

python scripts/update_docs.py

The first is made of the commands' own --help, the second of the server's OpenAPI description.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mainmatter.cli import group
from mainmatter.workbench.app import make_app
from mainmatter.workbench.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Json = dict[str, Any]
Row = tuple[str, str, str, str]
REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
CLI_PAGE, HTTP_PAGE = REFERENCE / "cli.md", REFERENCE / "http.md"
WIDTH = 100
VERBS = ("get", "post", "put", "patch", "delete")
CLI_HEAD = """\
# Commands

The `--help` of every command. `scripts/update_docs.py` generates this page.

Exit codes: 0 everything worked; 1 something could not be done, and standard error says what; 2 the command was called
with wrong arguments; 130 it was interrupted by Ctrl-C.
"""

HTTP_HEAD = """\
# HTTP API

Every call of the server that `mainmatter serve` starts. [The server and its API](../how-to/serve.md) shows how to run
it, and how to use the most important calls. This page is made by `scripts/update_docs.py`.

- A running server describes itself for programs, as OpenAPI 3.1, at `/api/openapi.json`; its page `/api` lets you try
  each call.
- Where the server has a token, send `Authorization: Bearer TOKEN`. Only `/api/health` needs none.
- Every error is JSON: `{"error": "what is wrong", "hint": "what to do about it"}`.
- You may rely on the calls under [Pages](#pages) and [Server](#server). The others serve the workbench, and may change
  with a minor version.
"""


def cli_docs() -> str:
    """The page: each command with its help."""
    sections = (f"\n## {name}\n\n```text\n{help_text}\n```\n" for name, help_text in _helps(group, "mainmatter", None))
    return CLI_HEAD + "".join(sections)


def _helps(command: click.Command, name: str, parent: click.Context | None) -> Iterator[tuple[str, str]]:
    """The full name and the help of a command and of those below it."""
    context = click.Context(command, parent, info_name=name, terminal_width=WIDTH, help_option_names=["-h", "--help"])
    yield context.command_path, command.get_help(context).rstrip()
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            sub = command.get_command(context, below)
            assert sub is not None
            yield from _helps(sub, below, context)


def http_docs() -> str:
    """The page: each call with what it takes and gives, then the objects that calls share."""
    described = make_app(Settings()).openapi()
    calls = [
        (verb, path, operations[verb])
        for path, operations in described["paths"].items()
        for verb in VERBS
        if verb in operations
    ]
    usual = _usual_errors([operation for _, _, operation in calls])
    rows = [(f"`{status}`", meaning) for status, meaning in usual.items()]
    parts = [
        HTTP_HEAD,
        "## Errors\n",
        "What a status means, unless the call says otherwise.\n",
        _table("Status Meaning", rows),
    ]
    for tag in dict.fromkeys(operation["tags"][0] for _, _, operation in calls):
        parts.append(f"## {tag.capitalize()}\n")
        for verb, path, operation in calls:
            if operation["tags"][0] == tag:
                parts += _call(verb, path, operation, described, usual)
    parts.append("## Objects\n")
    parts += _objects("\n".join(parts), described["components"]["schemas"], described)
    return "\n".join(filter(str.strip, parts))


def _objects(text: str, schemas: Json, described: Json) -> list[str]:
    """The objects that a text links to, and those that they link to, in the order of their names."""
    sections: dict[str, str] = {}
    while missing := [name for name in schemas if name not in sections and f"(#{name.lower()})" in text]:
        for name in missing:
            meaning = _text(schemas[name].get("description"))
            rows = _rows(schemas[name], described)
            sections[name] = f"### {name}\n\n{meaning}\n\n" + _table("Name Type Default Meaning", rows)
            text += sections[name]
    return [sections[name] for name in sorted(sections)]


def _usual_errors(operations: Iterable[Json]) -> dict[str, str]:
    """What each status of an error means in most of the calls."""
    meanings: dict[str, Counter[str]] = {}
    for operation in operations:
        for status, answer in operation["responses"].items():
            if not status.startswith("2"):
                meanings.setdefault(status, Counter())[_text(answer["description"])] += 1
    return {status: meanings[status].most_common(1)[0][0] for status in sorted(meanings)}


def _call(verb: str, path: str, operation: Json, described: Json, usual: dict[str, str]) -> Iterator[str]:
    """One call: what it is for, what it takes, what it gives."""
    yield f"### {verb.upper()} {path} {{ #{verb}{re.sub(r'[^a-z]+', '-', path).rstrip('-')} }}\n"
    yield f"**{operation['summary']}.**\n"
    yield operation.get("description", "") + "\n"
    if parameters := operation.get("parameters"):
        schemas = {each["name"]: {**each["schema"], "description": each.get("description")} for each in parameters}
        needed = [each["name"] for each in parameters if each.get("required")]
        places = " and ".join(dict.fromkeys(each["in"] for each in parameters))
        yield f"Parameters of the {places}:\n"
        yield _table("Name Type Default Meaning", _rows({"properties": schemas, "required": needed}, described))
    shown: list[Row] = []
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        rows = _rows(_resolve(content.get("schema", {}), described), described)
        known = ", ".join(row[0] for row in rows if row in shown)
        if rows:
            yield f"Fields of `{media_type}`{f': {known} as above, and' if known else ''}:\n"
            yield _table("Name Type Default Meaning", [row for row in rows if row not in shown])
        else:
            yield f"`{media_type}`: the page itself.\n"
        shown += rows
    answers = operation["responses"]
    for status, answer in answers.items():
        if status.startswith("2"):
            yield from _answer(status, answer, described)
    errors = [status for status in answers if not status.startswith("2")]
    if errors:
        yield f"Errors: {', '.join(f'`{status}`' for status in errors)}.\n"
    odd = [status for status in errors if _text(answers[status]["description"]) != usual[status]]
    yield "".join(f"- `{status}`: {_text(answers[status]['description'])}\n" for status in odd)


def _answer(status: str, answer: Json, described: Json) -> Iterator[str]:
    """What comes back when all is well."""
    meaning = "" if answer["description"] == "Successful Response" else f" {_text(answer['description'])}"
    for media_type, content in answer.get("content", {}).items():
        schema = content.get("schema", {})
        if schema.get("properties"):
            yield f"Answers `{status}` with an object:{meaning}\n"
            yield _table("Name Type Default Meaning", _rows(schema, described))
        else:
            kind = f"`{media_type}`" if _type(schema) in ("anything", "object") else _type(schema)
            yield f"Answers `{status}` with {kind}.{meaning}\n"


def _rows(schema: Json, described: Json) -> list[Row]:
    """The fields of an object, and of objects within it that have no name: name, type, default, meaning."""
    rows = []
    for name, each in schema.get("properties", {}).items():
        label = f"`{name}`" + (" (required)" if name in schema.get("required", ()) else "")
        meaning = each.get("description") or _resolve(each, described).get("description")
        default = "" if each.get("default") in (None, "") else f"`{json.dumps(each['default'])}`"
        rows.append((label, _type(each), default, _text(meaning)))
        rows += [(row[0].replace("`", f"`{name}[].", 1), *row[1:]) for row in _rows(each.get("items", {}), described)]
    return rows


def _resolve(schema: Json, described: Json) -> Json:
    """What a reference stands for."""
    if "$ref" not in schema:
        return schema
    found: Json = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found


def _type(schema: Json) -> str:
    """A schema's type in a few words, with a link to an object that has a table of its own."""
    match schema:
        case {"$ref": reference}:
            name = reference.rpartition("/")[2]
            found = f"[{name}](#{name.lower()})"
        case {"enum": values}:
            found = " or ".join(f"`{json.dumps(value)}`" for value in values)
        case {"const": value}:
            found = f"`{json.dumps(value)}`"
        case {"anyOf": types}:
            found = " or ".join(dict.fromkeys(map(_type, types)))
        case {"prefixItems": types}:
            found = f"list of {', '.join(map(_type, types))}"
        case {"type": "array", "items": items}:
            found = f"list of {_type(items)}"
        case {"format": "binary"} | {"contentMediaType": _}:
            found = "file"
        case {"additionalProperties": {**values}} if values:
            found = f"object of {_type(values)}"
        case _:
            found = schema.get("type", "anything")
    return found


def _text(description: str | None) -> str:
    return " ".join((description or "").split())


def _table(head: str, rows: Iterable[tuple[str, ...]]) -> str:
    names = head.split()
    lines = [names, ["---"] * len(names), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


if __name__ == "__main__":
    CLI_PAGE.write_text(cli_docs(), encoding="utf-8")
    HTTP_PAGE.write_text(http_docs(), encoding="utf-8")
