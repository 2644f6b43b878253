"""Building an index and searching in it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mainmatter.corpus.folder import INDEX, SUMMARY, Folder, part_name
from mainmatter.corpus.job import Job
from mainmatter.corpus.plan import make_plan, write_plan
from mainmatter.corpus.search import MARKER, Corpus, Searcher, build_index, index_rows
from mainmatter.errors import InputError, UnknownName

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {
    "eels": "In the autumn the eels leave the river. They cross wet meadows at night, and eels were found in wells.",
    "law": "The law of the harbour is short. Laws about boats are older than the town.",
    "rope": "A rope was twisted in the long lane, and the rope was sold to the navy beside the harbour.",
    "tokyo": "東京タワーは港区にある。とても高い塔です。",
    "thai": "ตลาดน้ำอยู่ใกล้แม่น้ำ",
    "cafe": "The cafe\u0301 opens at six.",
}


def row(name: str, text: str | None, **more: Any) -> dict[str, Any]:
    return {"id": name, "url": f"https://town.example/{name}", "title": name.title(), "text": text} | more


def rows() -> list[dict[str, Any]]:
    return [row(name, text) for name, text in TEXTS.items()]


@pytest.fixture
def searcher(tmp_path: Path) -> Searcher:
    index_rows(rows(), tmp_path / "index")
    return Searcher(tmp_path / "index")


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("eels", ["eels"]),
        ("EELS wells", ["eels"]),
        ("laws", ["law"]),
        ('"long lane"', ["rope"]),
        ('"lane long"', []),
        ("+harbour +navy", ["rope"]),
        ("harbour -navy", ["law"]),
        ("harbour AND NOT navy", ["law"]),
        ("title:rope", ["rope"]),
        ("title:navy", []),
        ("東京", ["tokyo"]),
        ("京東", []),
        ("タワー", ["tokyo"]),
        ("ตลาด", ["thai"]),
        ("caf\u00e9", ["cafe"]),
        ("isn't", []),
        ("zeppelin", []),
    ],
)
def test_what_is_found(searcher: Searcher, query: str, ids: list[str]) -> None:
    found = searcher.search(query)
    assert [hit.id for hit in found.hits] == ids
    assert found.total == len(ids)
    assert searcher.rank(query) == ids


def test_a_hit_has_all_that_a_reader_needs(searcher: Searcher) -> None:
    hit = searcher.search("meadows eels").hits[0]
    assert (hit.rank, hit.id, hit.url, hit.title) == (1, "eels", "https://town.example/eels", "Eels")
    assert hit.score > 0
    assert {hit.snippet[start:end] for start, end in hit.marks} == {"eels", "meadows"}


def test_a_hit_knows_its_row_among_all(tmp_path: Path) -> None:
    index_rows([row("a", "tide"), row("b", " "), row("c", "tide and lamp")], tmp_path / "out" / INDEX)
    hits = Searcher(tmp_path / "out").search("tide").hits  # in the folder of a corpus
    assert [(hit.id, hit.row) for hit in hits] == [("a", 0), ("c", 2)]


def test_marks_count_characters_not_bytes(searcher: Searcher) -> None:
    hit = searcher.search("高い").hits[0]
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["高", "い"]


def test_a_snippet_is_one_line_and_its_marks_know(tmp_path: Path) -> None:
    index_rows([row("a", "\n\n Öl und\n\n\tWasser.\nÖl  oben", title=None)], tmp_path / "index")
    hit = Searcher(tmp_path / "index").search("öl wasser oben").hits[0]
    assert hit.snippet == "Öl und Wasser. Öl oben"
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["Öl", "Wasser", "Öl", "oben"]


def test_a_snippet_says_where_it_is_cut(tmp_path: Path) -> None:
    far = "Wörter. " * 80 + "Then came the tide! " + "More of it. " * 40
    index_rows([row("far", far, title=None), row("near", "The tide (at last).", title=None)], tmp_path / "index")
    near, cut = Searcher(tmp_path / "index").search("tide").hits
    assert near.snippet == "The tide (at last)."
    assert cut.snippet.startswith("… ")
    assert cut.snippet.endswith(" …")
    assert [cut.snippet[start:end] for start, end in cut.marks] == ["tide"]


def test_where_only_the_title_matches_the_snippet_is_the_beginning(tmp_path: Path) -> None:
    index_rows([row("a", "First line.\nSecond line.", title="Zeppelin")], tmp_path / "index")
    hit = Searcher(tmp_path / "index").search("zeppelin").hits[0]
    assert (hit.snippet, hit.marks) == ("First line. Second line.", ())


def test_more_often_is_better_and_rare_words_weigh_more(tmp_path: Path) -> None:
    texts = {"once": "tide and wind", "twice": "tide and tide", "rare": "lamp and wind", "other": "wind and wind"}
    index_rows([row(name, text, title=None) for name, text in texts.items()], tmp_path / "index")
    searcher = Searcher(tmp_path / "index")
    assert searcher.rank("tide") == ["twice", "once"]
    assert searcher.rank("lamp wind")[0] == "rare"


def test_equals_are_in_the_order_of_the_collection_whatever_the_limit(tmp_path: Path) -> None:
    names = [f"page-{number:03}" for number in range(150)]
    index_rows(
        [row(name, "the same tide" + " again" * (number % 2)) for number, name in enumerate(names)], tmp_path / "i"
    )
    searcher = Searcher(tmp_path / "i")
    expected = names[::2] + names[1::2]  # short texts match better
    for limit in (1, 3, 75, 76, 150, 1000):
        assert searcher.rank("tide", limit) == expected[:limit]
    assert searcher.rank("*", 7) == names[:7]
    assert searcher.search("tide", 2).total == 150


def test_stemming_cuts_texts_and_queries(tmp_path: Path) -> None:
    index_rows(rows(), tmp_path / "index", stem="en")
    searcher = Searcher(tmp_path / "index")
    assert searcher.rank("meadow") == ["eels"]
    assert searcher.rank("twisting") == ["rope"]
    hit = searcher.search("meadow").hits[0]
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["meadows"]
    with pytest.raises(UnknownName, match="unknown language for stemming 'xx'"):
        index_rows(rows(), tmp_path / "other", stem="xx")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "has no word"),
        ("?!", "has no word"),
        ("(" * 100_000, "is too long"),
        ("NOT " * 2_000 + "word", "is too long"),
        ("word " * 3_000, "is too long"),
        ("nofield:tide", "Field|field does not exist: 'nofield'"),
        ("(tide", "cannot be understood: expected"),
        ("NOT tide", "only excluding terms given|Only excluding terms given"),
        ("[tide TO", "cannot be understood"),
    ],
)
def test_queries_that_make_no_sense(searcher: Searcher, query: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        searcher.search(query)


def test_a_limit_is_one_at_least(searcher: Searcher) -> None:
    with pytest.raises(InputError, match="not 0"):
        searcher.search("tide", 0)


def test_rows_without_text_are_counted_and_odd_ones_indexed(tmp_path: Path) -> None:
    odd = [
        row("a", None),
        row("b", " \n"),
        {"text": "only a text"},
        row("c", "half a \ud83d pair", url=None, title=None),
    ]
    summary = index_rows(odd, tmp_path / "index")
    assert (summary.documents, summary.empty) == (2, 2)
    assert summary.size > 0
    searcher = Searcher(tmp_path / "index")
    assert len(searcher) == 2
    hit = searcher.search("only").hits[0]
    assert (hit.id, hit.url, hit.title) == (None, None, None)
    assert searcher.search("pair").total == 1


def test_an_unfinished_corpus_is_known_by_what_a_run_writes(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path / "out"))
    write_plan(folder, make_plan(Job(), ["a.warc"], 3, {}), [[], [], []])
    folder.write(part_name(0, "jsonl"), json.dumps(rows()[0]).encode())
    with pytest.raises(
        InputError, match="is not finished: 1 of 3 parts are written; resume it with the same mainmatter corpus"
    ):
        build_index(folder.out, tmp_path / "index")
    assert build_index(folder.out, tmp_path / "index", unfinished=True).documents == 1
    (tmp_path / "out" / "summary.json").write_text("{}")  # somebody's own, or of an earlier version
    with pytest.raises(InputError, match="is not finished"):
        build_index(folder.out, tmp_path / "index")
    folder.write(SUMMARY, b"{}")
    assert build_index(folder.out, tmp_path / "index").documents == 1


def test_from_parquet_and_jsonl_parts_and_not_from_rejects(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "rejects").mkdir(parents=True)
    (out / "rejects" / "part-00000.jsonl").write_text('{"reason": "empty"}\n')
    (out / "summary.json").write_text("{}")
    pq.write_table(pa.Table.from_pylist(rows()[:3]), out / "part-00000.parquet")
    pq.write_table(pa.Table.from_pylist(rows()[3:]), out / "part-00001.parquet")
    lines = "".join(json.dumps(one) + "\n" for one in rows())
    (tmp_path / "all.jsonl").write_text(lines + "\n", "utf-8")
    assert Corpus.find([out]).count() == Corpus.find([tmp_path / "all.jsonl"]).count() == len(TEXTS)
    seen: list[None] = []
    build_index(out, tmp_path / "one", advance=lambda: seen.append(None))
    build_index([tmp_path / "all.jsonl"], tmp_path / "two")
    assert len(seen) == len(TEXTS)
    one, two = Searcher(tmp_path / "one"), Searcher(tmp_path / "two")
    for query in ("harbour", "the", "東京", "*"):
        assert one.search(query) == two.search(query)


_BUFFER = pa.BufferOutputStream()
pq.write_table(pa.table({"text": ["wwww"], "zzzz": ["b"]}), _BUFFER, compression="none", use_dictionary=False)
TABLE: bytes = _BUFFER.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("part-00000.jsonl", b'{"text": "a"}\n{"text": \n', "line 2: not JSON"),
        ("part-00000.jsonl", b'["a"]\n', "line 1: not a row of a corpus"),
        ("part-00000.jsonl", b'{"text": 7}\n', "text is 7, not text"),
        ("part-00000.jsonl", b"\xff\xfe\n", "line 1: not JSON"),
        ("part-00000.parquet", b"PAR1 not really", "cannot be read as a Parquet file"),
        ("part-00000.parquet", TABLE.replace(b"wwww", b"\xff\xfe\xff\xfe"), "cannot be read as a Parquet file"),
        ("part-00000.parquet", TABLE.replace(b"zzzz", b"\xff\xfe\xff\xfe"), "cannot be read as a Parquet file"),
        ("other.txt", b"x", "no part-NNNNN"),
    ],
)
def test_a_damaged_collection_is_named_and_leaves_nothing(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_bytes(data)
    with pytest.raises(InputError, match=words):
        build_index(tmp_path / "out", tmp_path / "index")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_parquet_without_texts(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["a"]}), tmp_path / "x.parquet")
    with pytest.raises(InputError, match="has no column text"):
        build_index(tmp_path / "x.parquet", tmp_path / "index")
    with pytest.raises(InputError, match="no such file"):
        build_index(tmp_path / "y.parquet", tmp_path / "index")


def test_an_index_is_replaced_only_when_the_new_one_is_whole(tmp_path: Path) -> None:
    index = tmp_path / "index"
    index_rows(rows(), index)

    def broken() -> Any:
        yield row("new", "something new")
        raise InputError("the disk is on fire")

    with pytest.raises(InputError, match="on fire"):
        index_rows(broken(), index)
    assert Searcher(index).rank("eels") == ["eels"]
    index_rows([row("new", "something new")], index)
    assert Searcher(index).rank("eels") == []
    assert Searcher(index).rank("something") == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    code = f"""
import resource
from mainmatter.errors import InputError
from mainmatter.corpus.search import index_rows
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    index_rows(({{"text": f"word{{n}} " * 50 + str(n * n)}} for n in range(3000)), {str(tmp_path / "index")!r})
except InputError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.startswith(f"{tmp_path}: the index cannot be written: ")
    assert list(tmp_path.iterdir()) == []


def test_nothing_else_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("Dear Ada")
    with pytest.raises(InputError, match="has files that are not from an index"):
        index_rows(rows(), tmp_path / "letters")
    with pytest.raises(InputError, match="is a file"):
        index_rows(rows(), tmp_path / "letters" / "a.txt")
    assert (tmp_path / "letters" / "a.txt").read_text() == "Dear Ada"
    (tmp_path / "empty").mkdir()
    assert index_rows(rows(), tmp_path / "empty").documents == len(TEXTS)


def test_folders_that_are_no_index(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such index"):
        Searcher(tmp_path / "nowhere")
    with pytest.raises(InputError, match="not an index"):
        Searcher(tmp_path)
    (tmp_path / MARKER).write_text('{"format": 99, "stem": null}')
    with pytest.raises(InputError, match="another version"):
        Searcher(tmp_path)
    (tmp_path / MARKER).write_text('{"format": 1, "stem": null}')
    with pytest.raises(InputError, match="is damaged"):
        Searcher(tmp_path)


def test_an_empty_collection_can_be_searched(tmp_path: Path) -> None:
    assert index_rows([], tmp_path / "index").documents == 0
    assert Searcher(tmp_path / "index").search("tide").hits == ()
