"""Small archives, and what the local engine makes of them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from crawls import files_of, write_warc
from mainmatter.corpus.build import build_corpus
from mainmatter.corpus.job import Job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ARCHIVES = 6
PAGES = 40  # in each, 59 KB
SHARD_SIZE = 30_000  # so that there are two shards in an archive
WORDS = "river stone market winter letter garden window engine harbour candle forest bridge mountain copper".split()


@pytest.fixture(scope="session")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of archives; the tenth page of each is the same."""
    folder = tmp_path_factory.mktemp("archives")
    for number in range(ARCHIVES):
        pages = {
            f"https://example.org/{number}/{page}": b"" if page == 7 else _page(random.Random(seed))
            for page, seed in enumerate(
                [*range(number * 1000, number * 1000 + 9), 9, *range(number * 1000 + 10, number * 1000 + PAGES)]
            )
        }
        write_warc(folder / f"{number}.warc.gz", pages)
    return folder


@pytest.fixture(scope="session")
def local_corpus(archives: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the local engine makes of the archives; duplicates are found by one process."""
    out = tmp_path_factory.mktemp("local") / "out"
    inputs = [str(file) for file in sorted(archives.glob("*.warc.gz"))]
    build_corpus(inputs, str(out), Job(shard_size=SHARD_SIZE, duplicates="exact"), workers=1)
    return files_of(out)


@pytest.fixture(scope="session")
def shard_size() -> int:
    """That of the run that made `local_corpus`."""
    return SHARD_SIZE


@pytest.fixture(scope="session")
def corpus_files() -> Callable[[Path], dict[str, bytes]]:
    """Gives the files of a corpus, without what tells of the run: the summary, which has its time, and the markers."""
    return files_of


def _page(chance: random.Random) -> bytes:
    paragraphs = (" ".join(chance.choices(WORDS, k=60)).capitalize() + "." for _ in range(12))
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    links = "".join(f'<li><a href="/{word}">{word}</a></li>' for word in WORDS)
    head, body = "<head><title>A page</title></head>", f"<ul>{links}</ul><article>{text}</article>"
    return f"<html>{head}<body>{body}</body></html>".encode()
