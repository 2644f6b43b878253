"""The dataset card of a corpus, and what its head says to `datasets` alone.

The card is a README.md as the Hugging Face Hub wants it: a head in YAML that programs read, and a text for people. It
cannot lie beside the parts: PyArrow, and so pandas, would take it for one. So it is in OUT/__about, and its head is in
OUT/.huggingface.yaml once more, where `datasets` looks, and all others look away.

The card is there to be published. So it names inputs and models without the folders they lay in, and URLs without
user, password and query; and it says nothing of when a corpus was made: the same run gives the same card.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from mainmatter.corpus.job import Job
from mainmatter.corpus.plan import options_of
from mainmatter.corpus.storage import is_remote
from mainmatter.corpus.summary import UNKNOWN_LANGUAGE
from mainmatter.corpus.writers import written_columns
from mainmatter.registry import split_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mainmatter.corpus.plan import Plan
    from mainmatter.corpus.summary import Summary

_MOST_INPUTS = 20  # that are named
_PUBLIC_SCHEMES = ("http://", "https://", "s3://", "gs://", "hf://")  # what follows is the same for everybody
# As the Hub counts rows: the first limit that is above their number.
_SIZES = (
    (10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"),
    (10**8, "10M<n<100M"), (10**9, "100M<n<1B"), (10**10, "1B<n<10B"), (10**11, "10B<n<100B"), (10**12, "100B<n<1T"),
)  # fmt: skip
_LARGEST = "n>1T"
_LEAD = (
    "The main matter of {kept:,} pages, {words:,} words, extracted by mainmatter without navigation, advertisements "
    "and other boilerplate."
)
_LICENSE = (
    "The pages belong to their authors. mainmatter does not know their licenses. Before you share the corpus, enter "
    "its license in the head of this file, and say here where the pages came from."
)


def dataset_card(plan: Plan, summary: Summary) -> str:
    """The card of a finished run, in Markdown with a head in YAML."""
    job = plan.job
    languages = [name for name in _by_count(summary.languages) if name != UNKNOWN_LANGUAGE]
    size = next((name for limit, name in _SIZES if summary.kept < limit), _LARGEST)
    head = "license: unknown\n" + _yaml_list("language", languages) + _yaml_list("size_categories", [size])
    columns = [(f"`{column.name}`", f"`{column.type_name}`", column.meaning) for column in written_columns(job)]
    dropped = f"{summary.pages - summary.kept:,} of {summary.pages:,} pages are not in it."
    sections = [
        "# A corpus of web pages",
        _LEAD.format(kept=summary.kept, words=summary.words),
        _LICENSE,
        "## How it was made",
        _table(("What", "Value"), _how_made(plan)),
        "## What was left out",
        dropped,
        _table(("Reason", "Pages"), _counted(summary.rejects)) if summary.rejects else "",
        "## Languages",
        _table(("Language", "Pages"), _counted(summary.languages)) if summary.languages else "No page was kept.",
        "## Columns",
        _table(("Column", "Type", "Meaning"), columns),
    ]
    return f"---\n{head}{hub_file(job)}---\n\n" + "\n\n".join(filter(None, sections)) + "\n"


def _how_made(plan: Plan) -> Iterator[tuple[str, object]]:
    """The input, the version, the method, and all options that are not as they would be by default."""
    more = len(plan.inputs) - _MOST_INPUTS
    inputs = ", ".join(map(_public_name, plan.inputs[:_MOST_INPUTS]))
    yield "Input", inputs + (f" and {more:,} more" if more > 0 else "")
    yield "mainmatter", plan.version
    usual, wanted = options_of(Job()), options_of(plan.job)
    method, parameters = split_name(plan.job.method)
    parameters = re.sub(r"=[^,]*/", "=", parameters)  # such as the folder of site templates
    wanted["method"] = ":".join(filter(None, (_public_name(method), parameters)))
    wanted["parameters"] = {
        name: _public_name(value) if isinstance(value, str) else value for name, value in wanted["parameters"].items()
    }
    always = ("method", "format", "text_format")
    yield from ((name, value) for name, value in wanted.items() if name in always or value != usual[name])


def _public_name(name: str) -> str:
    """What may be published of the name of an input or a model."""
    if is_remote(name):
        name = re.split(r"[?#]", name, maxsplit=1)[0]
    if not name.startswith(_PUBLIC_SCHEMES):
        return name.rstrip("/").rpartition("/")[2] or "."
    scheme, _, rest = name.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def hub_file(job: Job) -> str:
    """Which files are data, and the types of their columns, in YAML: JSON tells no type where all values are null."""
    lines = [
        "configs:",
        "- config_name: default",
        f'  data_files: "part-*.{job.format}"',
        "dataset_info:",
        "  features:",
    ]
    for column in written_columns(job):
        lines.append(f"  - name: {column.name}")
        if column.fields:
            lines.append("    list:")
            for name, type_ in column.fields:
                lines += [f"    - name: {name}", f"      {_feature(type_)}"]
        else:
            lines.append(f"    {_feature(column.type)}")
    return "\n".join(lines) + "\n"


def _feature(type_: str) -> str:
    inner = type_.removeprefix("list<").removesuffix(">")
    return f"dtype: {type_}" if inner == type_ else f"list: {inner}"


def _yaml_list(name: str, values: Iterable[str]) -> str:
    # In quotation marks: Norwegian, "no", would be false.
    lines = "".join(f"- {json.dumps(value)}\n" for value in values)
    return f"{name}:\n{lines}" if lines else ""


def _counted(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    return [("not known" if name == UNKNOWN_LANGUAGE else name, f"{counts[name]:,}") for name in _by_count(counts)]


def _by_count(counts: Mapping[str, int]) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    cells = [head, ("---",) * len(head), *(tuple(_cell(value) for value in row) for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _cell(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text.split()).replace("|", "\\|")
