"""A corpus as the input of another run: its pages are read, and what else lies in its folder is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawls import page, write_warc
from mainmatter.corpus.readers import find_shards, read_slice
from mainmatter.corpus.records import Record
from mainmatter.errors import InputError
from stored_corpora import write_corpus

if TYPE_CHECKING:
    from pathlib import Path


def ids(path: Path) -> list[str | None]:
    reads = [read for shard in find_shards([str(path)]) for one in shard for read in read_slice(one)]
    return [read.page.url if isinstance(read, Record) else "no page" for read in reads]


def test_the_parts_of_a_corpus_are_read_and_its_rejects_are_not(tmp_path: Path) -> None:
    urls = [f"https://example.org/{i}" for i in range(3)]
    crawl = write_warc(tmp_path / "crawl.warc.gz", {urls[0]: page(0), urls[1]: b"<p></p>", urls[2]: page(2)})
    out = tmp_path / "all" / "out"
    write_corpus(out, [str(crawl)], format="jsonl", min_words=1)
    assert list((out / "__about" / "rejects").iterdir())
    assert ids(out) == ids(tmp_path / "all") == [urls[0], urls[2]]
    (tmp_path / "all" / "rejects").mkdir()  # somebody's own
    (tmp_path / "all" / "rejects" / "a.jsonl").write_text('{"text": "x", "url": "u"}\n')
    assert ids(tmp_path / "all") == [urls[0], urls[2], "u"]
    (out / "summary.jsonl").write_text('{"text": "x", "url": "v"}\n')
    (out / ".huggingface.yaml.html").write_text("<p>A page.</p>")
    for own in ("_run", "rejects"):  # as earlier versions called their own
        (out / own).mkdir()
        (out / own / "p.jsonl").write_text(f'{{"text": "x", "url": "{own}"}}\n')
    assert [url for url in ids(out) if url] == ["_run", urls[0], urls[2], "rejects", "v"]
    assert None in ids(out)
    (out / "__about" / "summary.json").unlink()
    for name in (out, tmp_path / "all"):
        with pytest.raises(InputError, match=r"all/out: the corpus in it is not complete; run the command"):
            find_shards([str(name)])


def test_standard_input_is_not_read() -> None:
    with pytest.raises(InputError, match=r"-: standard input cannot be read in parts; write it to a file first"):
        find_shards(["-"])
