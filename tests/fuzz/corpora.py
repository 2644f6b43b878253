"""The folders that corpus runs write: a file of one is damaged, and everything that shows such a folder looks at it."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from fuzz.mutation import mutate_bytes, mutate_json
from fuzz.target import Target
from mainmatter.corpus.browse import ListingQuery, StoredCorpus
from mainmatter.corpus.folder import Folder
from mainmatter.corpus.report import corpus_report
from mainmatter.corpus.summary import Report
from mainmatter.errors import MainmatterError
from mainmatter.workbench.corpus import describe_corpus
from mainmatter.workbench.labels.importing import read_rejected
from stored_corpora import write_corpus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from random import Random

_PAGES = """{"html": "<h1>A</h1><p>Some words of a page about otters", "url": "http://a.example/1", "id": "a"}
{"html": "<h1>B</h1><p>", "url": "http://a.example/2"}
{"html": 3}
"""


def make_folders(folder: Path) -> dict[str, bytes]:
    """A corpus in each format, in folders called jsonl and parquet; gives what each file holds."""
    (folder / "in.jsonl").write_text(_PAGES, "utf-8")
    contents: dict[str, bytes] = {}
    for format_ in ("jsonl", "parquet"):
        write_corpus(folder / format_, [str(folder / "in.jsonl")], min_words=3, format=format_, blocks=True)
        Folder(str(folder / format_)).mark(Report("clean", 0, 3, 1, {"length": 1, "damaged": 1}, {}, 8, 200, 0.1))
        names = sorted(path for path in (folder / format_).rglob("*") if path.is_file())
        contents |= {path.relative_to(folder).as_posix(): path.read_bytes() for path in names}
    return contents


def corpora(folder: Path) -> Target:
    """An input is the name of a file in one of the folders, a line end, and what the file holds then."""
    contents = make_folders(folder)
    seeds = [name.encode() + b"\n" + content for name, content in contents.items()]

    def read(data: bytes) -> None:
        name, _, content = data.partition(b"\n")
        shown = name.decode("utf-8", "replace")
        if shown not in contents:
            return
        (folder / shown).write_bytes(content)
        try:
            _look_at(folder / shown.partition("/")[0])
        finally:
            (folder / shown).write_bytes(contents[shown])

    def mutate(rng: Random, data: bytes, tokens: Sequence[bytes], others: Sequence[bytes]) -> bytes:
        name, _, content = data.partition(b"\n")
        is_json = PurePosixPath(name.decode()).suffix in (".json", ".jsonl") and content.count(b"\n") <= 40
        change = mutate_json if is_json else mutate_bytes
        return name + b"\n" + change(rng, content, tokens, others)

    return Target(
        read,
        seeds,
        [b"density", b"part-00000.jsonl", b"filters", b"html", b"\n", b"{}", b"null", b"PAR1"],
        mutate=mutate,
    )


def _look_at(out: Path) -> None:
    corpus = StoredCorpus(str(out))
    corpus.check()
    corpus.summary()
    corpus.plan()
    places = [place for place, _ in corpus.find(ListingQuery(words=("otters",))).rows]
    corpus.find(ListingQuery(kept=False))
    corpus.find(ListingQuery(language="en", lengths=(1, None)))
    corpus.get_listed(places)
    describe_corpus(str(out))
    for place in places:
        _try(lambda place=place: corpus.get(place))
    _try(lambda: list(read_rejected(str(out))))
    _try(lambda: corpus_report(str(out)))
    list(Folder(str(out)).progress())


def _try(look: object) -> None:
    """Look at a part of it; that it cannot be shown is told in our words."""
    try:
        look()  # type: ignore[operator]
    except MainmatterError:
        return
