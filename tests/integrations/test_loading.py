"""Folders of corpora, as other libraries load them: the recipes of the guide, the schema that it shows, the card."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crawls import page, pages, write_warc
from mainmatter.corpus import Filters, Job, build_corpus
from mainmatter.corpus.card import dataset_card, hub_file
from mainmatter.corpus.plan import Plan
from mainmatter.corpus.summary import Summary
from mainmatter.corpus.writers import SCHEMA

GUIDE = (Path(__file__).parents[2] / "docs" / "how-to" / "corpus.md").read_text("utf-8")
RECIPES = re.findall(r"```python\n(.*?)```", GUIDE.partition("\n## Load it\n")[2].partition("\n## ")[0], re.DOTALL)
KEPT = 5


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Corpora named as in the guide, in several parts; one part is empty, and only the last has an author."""
    folder = tmp_path_factory.mktemp("loading")
    by_ada = page(8).replace(b"<head>", b"<head><meta name=author content='Ada Lovelace'>")
    archives = [pages(4), {"https://example.org/7": b"<p>Short.</p>"}, {"https://example.org/8": by_ada}]
    names = [str(write_warc(folder / f"{i}.warc.gz", contents)) for i, contents in enumerate(archives)]
    wanted = Job("density", filters=Filters(min_words=20), blocks=True, chunks=50, shard_size=800)
    for name, job in (("corpus", wanted), ("lines", replace(wanted, format="jsonl"))):
        summary = build_corpus(names, str(folder / name), job, workers=1)
        assert (summary.kept, summary.rejects) == (KEPT, {"length": 1})
    parts = [file.read_bytes().splitlines() for file in sorted((folder / "lines").glob("part-*.jsonl"))]
    authors = [[json.loads(line)["author"] for line in part] for part in parts]
    assert (authors[0][0], [] in authors, authors[-1]) == (None, True, ["Ada Lovelace"])
    return folder


@pytest.fixture(scope="module")
def outcomes(place: Path) -> list[str]:
    """What each recipe gives, in one process of its own: these libraries take seconds to load, and start threads."""
    env = os.environ | {
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(place / "cache"),
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        input=json.dumps([*RECIPES, TYPES]),
        cwd=place,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


DRIVER = """
import json, sys, traceback

def outcome(recipe):
    names = {}
    try:
        exec(recipe, names)
        rows = names["pages"]
        if "lazy" in names:
            assert names["lazy"].collect().height == len(rows)
        if "batches" in names:
            assert sum(batch.num_rows for batch in names["batches"]) == len(rows)
        for name in {"same", "stream"} & names.keys():
            assert len(list(names[name])) == len(rows), name
    except ModuleNotFoundError as error:
        return f"missing: {error.name}"
    except Exception:
        return traceback.format_exc()
    return f"{len(rows)} rows"

print(json.dumps([outcome(recipe) for recipe in json.load(sys.stdin)]))
"""
# JSON has no type where all is null: `datasets` knows it by the file beside the parts, or by the card as README.md.
TYPES = """
import shutil

import datasets
from huggingface_hub import DatasetCard

card = DatasetCard.load("lines/__about/README.md").data
assert (card.language, card.license, card.size_categories) == (["en"], "unknown", ["n<1K"]), card
pages = datasets.load_dataset("./lines", split="train")
assert pages.features == datasets.load_dataset("./corpus", split="train").features, pages.features
assert pages[0]["chunks"][0]["blocks"]
shutil.copytree("lines", "uploaded", ignore=shutil.ignore_patterns(".*", "__*"))
shutil.copy("lines/__about/README.md", "uploaded/README.md")
assert datasets.load_dataset("./uploaded", split="train").features == pages.features
"""


@pytest.mark.parametrize("number", range(len(RECIPES)), ids=lambda number: RECIPES[number].splitlines()[0].split()[1])
def test_recipes_of_the_guide_load_all_rows(number: int, outcomes: list[str]) -> None:
    check(outcomes[number])


def test_datasets_reads_types_and_the_card(outcomes: list[str]) -> None:
    check(outcomes[len(RECIPES)])


def check(outcome: str) -> None:
    if outcome.startswith("missing: "):
        pytest.skip(outcome)
    assert outcome == f"{KEPT} rows"


def test_there_is_a_recipe_for_each_library() -> None:
    found = {name for recipe in RECIPES for name in re.findall(r"^import (\w+)", recipe, re.MULTILINE)}
    assert found == {"pandas", "polars", "duckdb", "pyarrow", "datasets"}


def test_the_table_in_the_guide_is_that_of_the_code() -> None:
    rows = [f"| `{column.name}` | `{column.type_name}` | {column.meaning} |" for column in SCHEMA]
    assert "\n".join(["| Column | Type | Meaning |", "| --- | --- | --- |", *rows, ""]) in GUIDE


# The card


def plan_of(job: Job, *inputs: str) -> Plan:
    return Plan(job, inputs, 1, {}, None, "1.2.3")


def summary_of(kept: int, **more: Any) -> Summary:
    return Summary("out", 1, kept + 3, kept, {"empty": 1, "length": 2}, {}, 10 * kept, 0, 1.0, **more)


def test_the_card_says_how_the_corpus_was_made() -> None:
    job = Job(text_format="markdown", parameters={"dial": 0.7}, filters=Filters(min_words=5), without_columns=("site",))
    languages = {"en": 2, "no": 7, "und": 1}
    card = dataset_card(
        plan_of(job, "a|b.warc", *(f"{i}.warc" for i in range(25))), summary_of(10, languages=languages)
    )
    for line in (
        'language:\n- "no"\n- "en"\nsize_categories:\n- "n<1K"\n',
        '  data_files: "part-*.parquet"\n',
        "The main matter of 10 pages, 100 words",
        r"| Input | a\|b.warc, 0.warc, ",
        ', 18.warc and 6 more |\n| mainmatter | 1.2.3 |\n| method | main |\n| parameters | {"dial": 0.7} |\n',
        '| format | parquet |\n| text_format | markdown |\n| without_columns | ["site"] |\n| min_words | 5 |\n',
        "3 of 13 pages are not in it.\n\n| Reason | Pages |\n| --- | --- |\n| length | 2 |\n| empty | 1 |\n",
        "| no | 7 |\n| en | 2 |\n| not known | 1 |\n",
        "| `url` | `string` | the URL of the page, if known |\n",
    ):
        assert line in card
    assert "`site`" not in card
    assert "max_seconds" not in card


@pytest.mark.parametrize(
    ("name", "public"),
    [
        ("/home/alice/crawl.warc.gz", "crawl.warc.gz"),
        ("file:///home/alice/crawl/", "crawl"),
        ("/home/alice/what?.html", "what?.html"),
        (".", "."),
        ("https://alice:secret@e.example:8080/a/b.warc?sig=secret#secret", "https://e.example:8080/a/b.warc"),
        ("https://e.example?secret", "https://e.example"),
        ("s3://bucket/crawl/a.warc", "s3://bucket/crawl/a.warc"),
        ("sftp://alice:secret@e.example/home/alice/a.warc?secret", "a.warc"),
        ("simplecache::https://alice:secret@e.example/a.warc", "a.warc"),
    ],
)
def test_the_card_names_inputs_without_folders_users_and_secrets(name: str, public: str) -> None:
    assert f"| Input | {public} |\n" in dataset_card(plan_of(Job(), name), summary_of(1))


def test_the_card_names_models_without_folders() -> None:
    job = Job(method="/home/alice/model:site_templates=/home/alice/counts,dial=0.4", parameters={"x": "/home/alice/y"})
    card = dataset_card(plan_of(job, "a.warc"), summary_of(1))
    assert '| method | model:site_templates=counts,dial=0.4 |\n| parameters | {"x": "y"} |\n' in card


@pytest.mark.parametrize(
    ("kept", "size"),
    [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (10**6 - 1, "100K<n<1M"), (10**9, "1B<n<10B"), (10**12, "n>1T")],
)
def test_the_card_gives_the_size_in_the_hubs_steps(kept: int, size: str) -> None:
    assert f'size_categories:\n- "{size}"\n' in dataset_card(plan_of(Job(), "a.warc"), summary_of(kept))


def test_a_card_of_no_page() -> None:
    card = dataset_card(plan_of(Job(format="jsonl"), "a.warc"), replace(summary_of(0), pages=0, rejects={}))
    assert "language:" not in card
    assert "No page was kept." in card
    assert 'data_files: "part-*.jsonl"' in card


def test_types_for_datasets() -> None:
    assert (
        hub_file(Job(chunks=5, without_columns=("url",)))
        .partition("  features:\n")[2]
        .startswith("  - name: id\n    dtype: string\n  - name: time\n")
    )
    assert "  - name: chunks\n    list:\n    - name: text\n      dtype: string\n" in hub_file(Job(chunks=5))
    assert "    - name: blocks\n      list: int64\n" in hub_file(Job(chunks=5))
