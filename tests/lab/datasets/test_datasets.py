"""Gold standards in all layouts, good and bad."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from mainmatter.errors import DatasetError, UnknownName
from mainmatter.lab.datasets import DATASETS, GoldPage, load_dataset
from mainmatter.records import Gold, Page

DATA = Path(__file__).parents[3].parent / "shared" / "data"
# The first and the last page of each set.
ENDS = {
    "cleaneval-dev": ("1", "9"),
    "cleaneval-final": ("104", "99"),
    "cleanportaleval": ("bbc.co.uk_news_01", "washingtonpost.com_blog2_2"),
    "daniel-a": (
        "20111121_goodcontents.net_3bac60d11082c79c3c7691a22cf2e087f817faeb28420816ed7ef701",
        "20120117_www.zabinfo.ru_a8e761fd4d1b7c2c194fa2771f16fed53ebff860edcf42a1ab46ee69",
    ),
    "dragnet": ("100", "T99"),
    "forum52-a": ("forum52-blog.angelman-asa.org.read.php", "forum52-www.pistonheads.com.gassing.topic.asp.1858583"),
    "fundus-a": ("at-DerStandard-V1", "za-TheCitizen-V1"),
    "house-a": ("autopager-1", "traf-„Królowa Elżbieta” wypływa w świat. Sygnał dla Chin i Rosji - Polityka.pl.html"),
    "house-wcxb": ("0021", "4917"),
    "l3s-gn1": ("01ccc7c5-a1d1-46e1-a5f7-43310df16575", "fffdcc2c-4c1b-496f-882a-baa8bacd2857"),
    "magic-a": ("article-00f02be72b94daee", "forum-fd153ac6f97f6ec0"),
    "readability": ("001", "youth"),
    "trafilatura-eval-a": (
        "0a24692a9ea846c1819bd6a5f92a8874.html",
        "„Królowa Elżbieta” wypływa w świat. Sygnał dla Chin i Rosji - Polityka.pl.html",
    ),
    "wcxb-dev": ("0001", "4917"),
    "zh-news-a": ("zh-0df12126-cd86-46a7-a00b-4d024a7a0954", "zh-d5bced5e-4ff7-49a8-8808-4344f0823c51"),
}


def write(path: Path, data: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.Table.from_pylist(rows), path)


# Parquet


def test_parquet_with_all_columns(tmp_path: Path) -> None:
    row = {
        "id": "7",
        "url": "https://a.example/",
        "html": b"<p>caf\xe9",
        "gold": "café",
        "gold_marked": "<p> café",
        "lang": "fr",
        "page_type": "forum",
        "must_have": ["caf"],
        "must_not_have": ["menu", "login"],
        "title": "T",
        "author": "Ann Lee",
        "date": "2024-05-06",
        "comments": "not read",
    }
    write_parquet(tmp_path / "set.parquet", [row])
    assert load_dataset(str(tmp_path / "set.parquet")) == [
        GoldPage(
            Page(b"<p>caf\xe9", "https://a.example/", "7"),
            Gold("café", "<p> café", ("caf",), ("menu", "login"), "T", "Ann Lee", "2024-05-06"),
            {"page_type": "forum", "lang": "fr"},
        )
    ]


def test_parquet_with_few_columns_and_nulls(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"html": "<p>1", "gold": "1", "lang": None},
        {"html": "<p>2", "gold": "", "lang": "de"},
    ]
    write_parquet(tmp_path / "set.parquet", rows)
    assert load_dataset(str(tmp_path / "set.parquet")) == [
        GoldPage(Page("<p>1"), Gold("1"), {}),
        GoldPage(Page("<p>2"), Gold(""), {"lang": "de"}),
    ]


def test_set_of_snippets_says_nothing_about_the_whole_text(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"html": "<p>1", "gold": "", "must_have": ["1"]},
        {"html": "<p>2", "gold": "", "must_have": ["2"]},
    ]
    write_parquet(tmp_path / "set.parquet", rows)
    assert [page.gold for page in load_dataset(str(tmp_path / "set.parquet"))] == [
        Gold(None, must_have=("1",)),
        Gold(None, must_have=("2",)),
    ]


def test_many_pages_keep_their_order(tmp_path: Path) -> None:
    write_parquet(tmp_path / "set.parquet", [{"id": str(i), "html": "<p>", "gold": "x"} for i in range(150)])
    assert [page.page.id for page in load_dataset(str(tmp_path / "set.parquet"))] == [str(i) for i in range(150)]


def test_named_set_is_looked_for_in_the_data_folder(tmp_path: Path) -> None:
    write_parquet(tmp_path / "dragnet.parquet", [{"id": "1", "html": "<p>", "gold": "x"}])
    assert [page.page.id for page in load_dataset("dragnet", tmp_path)] == ["1"]
    assert [page.page.id for page in load_dataset("dragnet", str(tmp_path))] == ["1"]


def test_named_set_that_is_missing_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(DatasetError) as caught:
        load_dataset("dragnet", tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}/dragnet.parquet: no such file; use --data to name the folder that holds dragnet.parquet"
    )


@pytest.mark.parametrize("data", [b"", b"PAR1", b"no Parquet at all, " * 100])
def test_damaged_parquet(data: bytes, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    write(tmp_path / "set.parquet", data)
    with pytest.raises(DatasetError) as caught:
        load_dataset(str(tmp_path / "set.parquet"))
    assert str(caught.value).startswith(f"{tmp_path}/set.parquet: cannot be read as a Parquet file: ")
    assert "\n" not in str(caught.value)


def test_truncated_parquet(tmp_path: Path) -> None:
    write_parquet(tmp_path / "set.parquet", [{"html": "<p>" * 1000, "gold": "x"}])
    data = (tmp_path / "set.parquet").read_bytes()
    write(tmp_path / "set.parquet", data[: len(data) // 2])
    with pytest.raises(DatasetError, match="cannot be read as a Parquet file"):
        load_dataset(str(tmp_path / "set.parquet"))


def test_parquet_of_something_else(tmp_path: Path) -> None:
    write_parquet(tmp_path / "set.parquet", [{"text": "x"}])
    with pytest.raises(DatasetError, match=r"set\.parquet: not a gold standard; it has no column html$"):
        load_dataset(str(tmp_path / "set.parquet"))


def test_page_without_html(tmp_path: Path) -> None:
    write_parquet(tmp_path / "set.parquet", [{"id": "1", "html": "<p>"}, {"id": "2", "html": None}])
    with pytest.raises(DatasetError, match=r"set\.parquet: page '2': has no html$"):
        load_dataset(str(tmp_path / "set.parquet"))
    write_parquet(tmp_path / "set.parquet", [{"html": "<p>"}, {"html": None}])
    with pytest.raises(DatasetError, match=r"set\.parquet: row 2: has no html$"):
        load_dataset(str(tmp_path / "set.parquet"))


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"gold": 3}, "gold is 3, not text"),
        ({"gold": "x", "url": b"http://a.example"}, "url is b'http://a.example', not text"),
        ({"gold": "x", "title": ["T"]}, r"title is \['T'\], not text"),
        ({"gold": "x", "must_have": 3}, "must_have is not a list of strings"),
        ({"gold": "x", "must_not_have": [1, 2]}, "must_not_have is not a list of strings"),
    ],
)
def test_columns_of_another_type(row: dict[str, Any], why: str, tmp_path: Path) -> None:
    write_parquet(tmp_path / "set.parquet", [{"html": "<p>"} | row])
    with pytest.raises(DatasetError, match=rf"set\.parquet: row 1: {why}"):
        load_dataset(str(tmp_path / "set.parquet"))


def test_dates_and_the_columns_of_others(tmp_path: Path) -> None:
    row = {"html": "<p>", "gold": "x", "date": date(2024, 5, 6), "captions": 1, "byline": 2, "comments": 3}
    write_parquet(tmp_path / "set.parquet", [row])
    assert load_dataset(str(tmp_path / "set.parquet"))[0].gold == Gold("x", date="2024-05-06")


def test_parquet_without_pages(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(
        pa.table({"html": pa.array([], pa.binary())}), tmp_path / "set.parquet"
    )
    with pytest.raises(DatasetError, match=r"set\.parquet: holds no page$"):
        load_dataset(str(tmp_path / "set.parquet"))


# Folders


def test_folder_of_html_and_gold(tmp_path: Path) -> None:
    write(tmp_path / "html/b.htm", b"<p>caf\xe9")
    write(tmp_path / "gold/b.txt", "café")
    write(tmp_path / "html/a.html", "<p>one")
    write(tmp_path / "gold/a.txt", "one\n\ntwo\n")
    write(tmp_path / "html/notes.css", "not a page")
    assert load_dataset(str(tmp_path)) == [
        GoldPage(Page(b"<p>one", None, "a"), Gold("one\n\ntwo\n"), {}),
        GoldPage(Page(b"<p>caf\xe9", None, "b"), Gold("café"), {}),
    ]


@pytest.mark.parametrize(
    ("pages", "golds", "gold_name"),
    [
        ("en_original", "en_cleaned", "1-cleaned.txt"),
        ("original", "cleaned", "1.txt"),
        ("finalrun-input", "GoldStandard", "1-cleaned.txt"),
        ("input", "GoldStandard", "1.txt"),
    ],
)
def test_cleaneval_layouts(pages: str, golds: str, gold_name: str, tmp_path: Path) -> None:
    write(tmp_path / pages / "1.html", "<h1>A river")
    write(tmp_path / golds / gold_name, "URL: http://a.example/river\n\n<h>A river\n\n<p>It rose.\n  <l> Still.\n")
    (page,) = load_dataset(str(tmp_path))
    assert page.page == Page(b"<h1>A river", "http://a.example/river", "1")
    assert page.gold.marked == "\n<h>A river\n\n<p>It rose.\n  <l> Still.\n"
    assert page.gold.text is not None
    assert page.gold.text.split() == "A river It rose. Still.".split()


@pytest.mark.parametrize(
    ("gold", "url", "text"),
    [
        ("URL: http://a.example/ (seen in 2006)\nText", "http://a.example/", "Text"),
        ("URL http://a.example/\r\nText", "http://a.example/", "Text"),
        ("URL:www.a.example\nText", "www.a.example", "Text"),
        ("URL: http://a.example/", "http://a.example/", ""),
        ("URLs are addresses\nText", None, "URLs are addresses\nText"),
        ("URL shorteners\nText", None, "URL shorteners\nText"),
        ("Text\nURL: http://a.example/", None, "Text\nURL: http://a.example/"),
    ],
)
def test_url_line(gold: str, url: str | None, text: str, tmp_path: Path) -> None:
    write(tmp_path / "html/0.html", "<p>")
    write(tmp_path / "gold/0.txt", "so that not all golds are empty")
    write(tmp_path / "html/1.html", "<p>")
    write(tmp_path / "gold/1.txt", gold)
    page = load_dataset(str(tmp_path))[1]
    assert (page.page.url, page.gold.text, page.gold.marked) == (url, text, None)


def test_markers_count_only_at_the_beginning_of_lines(tmp_path: Path) -> None:
    write(tmp_path / "html/1.html", "<p>")
    write(tmp_path / "gold/1.txt", "The tag <p> begins a paragraph.")
    (page,) = load_dataset(str(tmp_path))
    assert page.gold == Gold("The tag <p> begins a paragraph.")


def test_page_without_gold(tmp_path: Path) -> None:
    write(tmp_path / "html/1.html", "<p>")
    (tmp_path / "gold").mkdir()
    with pytest.raises(DatasetError) as caught:
        load_dataset(str(tmp_path))
    assert str(caught.value) == f"{tmp_path}/html/1.html: has no gold text; expected {tmp_path}/gold/1.txt"


def test_folder_without_pages(tmp_path: Path) -> None:
    (tmp_path / "html").mkdir()
    (tmp_path / "gold").mkdir()
    with pytest.raises(DatasetError, match=r": holds no page$"):
        load_dataset(str(tmp_path))


def test_folder_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r": not a gold standard; expected html/ and gold/, or en_original/ and "):
        load_dataset(str(tmp_path))


def test_page_that_cannot_be_read(tmp_path: Path) -> None:
    write(tmp_path / "gold/1.txt", "x")
    (tmp_path / "html").mkdir()
    (tmp_path / "html/1.html").symlink_to("nowhere")
    with pytest.raises(DatasetError, match=r"html/1\.html: cannot be read: No such file or directory$"):
        load_dataset(str(tmp_path))


# Names


def test_file_that_is_no_dataset(tmp_path: Path) -> None:
    write(tmp_path / "set.csv", "a,b")
    with pytest.raises(DatasetError, match=r"set\.csv: neither a Parquet file nor a folder$"):
        load_dataset(str(tmp_path / "set.csv"))


def test_unknown_name() -> None:
    with pytest.raises(UnknownName) as caught:
        load_dataset("wcxb")
    assert str(caught.value).startswith("unknown dataset 'wcxb'; ")


@pytest.mark.parametrize("name", ["./nowhere", "nowhere/", "/nowhere/at-all", "nowhere.parquet"])
def test_what_looks_like_a_path_is_no_unknown_name(name: str) -> None:
    with pytest.raises(DatasetError) as caught:
        load_dataset(name)
    assert str(caught.value) == f"{name}: no such file or folder"


def test_table_is_sorted_and_complete() -> None:
    assert list(DATASETS) == sorted(DATASETS) == sorted(ENDS)
    assert all(dataset.name == name for name, dataset in DATASETS.items())


@pytest.mark.data
@pytest.mark.parametrize("name", ENDS)
def test_counts_and_ends_of_the_real_sets(name: str) -> None:
    pytest.importorskip("pyarrow")
    if not (DATA / f"{name}.parquet").is_file():
        pytest.skip(f"{DATA} does not hold {name}.parquet")
    pages = load_dataset(name, DATA)
    assert len(pages) == DATASETS[name].pages
    assert (pages[0].page.id, pages[-1].page.id) == ENDS[name]
    assert all(isinstance(page.page.html, bytes) for page in pages)
    assert all(page.gold.has("gold") or page.gold.has("snippets") for page in pages)
