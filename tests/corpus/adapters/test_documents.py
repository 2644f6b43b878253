"""Pages as documents, which the loaders for LangChain and LlamaIndex share."""

from __future__ import annotations

import importlib
import logging
import sys
from typing import TYPE_CHECKING, Any

import pytest

import mainmatter
from mainmatter.corpus.adapters.documents import PageDocuments
from mainmatter.errors import MissingExtra
from mainmatter.records import Page
from small_web import serve

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.corpus.adapters.documents import Source

TEXT = "The tide comes in twice a day, and it goes out twice a day, and that is all it does."
PAGE = f"<title>Tides</title><article><h1>Tides</h1><p>{TEXT}</p><h2>Ebb</h2><p>{TEXT}</p></article>"


def test_whole_pages(tmp_path: Path) -> None:
    file = tmp_path / "tides.html"
    file.write_text(PAGE)
    with serve({"/a": ("text/html", PAGE.encode())}) as address:
        sources: list[Source] = [f"{address}/a", file, Page(PAGE, "https://e.example/"), Page(PAGE)]
        found = list(PageDocuments(public_only=False).of_sources(sources))
    assert [document.id for document in found] == [f"{address}/a", str(file), "https://e.example/", ""]
    assert {document.text for document in found} == {f"# Tides\n\n{TEXT}\n\n## Ebb\n\n{TEXT}"}
    assert found[1].metadata["source"] == str(file)
    assert found[1].metadata["title"] == "Tides"
    assert "author" not in found[1].metadata
    assert "source" not in found[3].metadata
    assert all(isinstance(value, str | float) for value in found[0].metadata.values())


def test_folders_and_single_sources(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text(PAGE)
    (tmp_path / "a.html").write_text(PAGE)
    for source in (tmp_path, str(tmp_path)):
        assert [document.id for document in PageDocuments(format="text").of_sources(source)] == [
            str(tmp_path / "a.html"),
            str(tmp_path / "b.html"),
        ]


def test_chunks_with_their_places() -> None:
    page = Page(PAGE, "https://e.example/")
    first, second = PageDocuments(chunks=100).of_sources(page)
    assert (first.id, second.id) == ("https://e.example/#0", "https://e.example/#1")
    assert second.text == f"Ebb\n\n{TEXT}"
    place = {name: second.metadata[name] for name in ("chunk", "headings", "blocks", "xpath", "tokens")}
    assert place == {
        "chunk": 1,
        "headings": "Tides > Ebb",
        "blocks": "2,3",
        "xpath": "/html[1]/body[1]/article[1]/h2[1] | /html[1]/body[1]/article[1]/p[2]",
        "tokens": 23,
    }
    text = mainmatter.clean(page).text
    assert text[second.metadata["start"] : second.metadata["end"]] == second.text
    assert len(list(PageDocuments(chunks=10, overlap=3, tokenizer=str.split).of_sources(page))) > 4


def test_what_goes_wrong(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    sources: list[Source] = [
        tmp_path / "nothing.html",
        Page(b"%PDF-1.5 " + b"x" * 100),
        Page("", "https://e.example/"),
        Page(PAGE),
    ]
    with pytest.raises(mainmatter.InputError, match="no such file"):
        list(PageDocuments().of_sources(sources))
    with caplog.at_level(logging.WARNING):
        assert len(list(PageDocuments(errors="skip").of_sources(sources))) == 1
    assert "no such file" in caplog.messages[0]
    assert "PDF" in caplog.messages[1]
    assert caplog.messages[2] == "https://e.example/: nothing was kept"


def test_public_addresses_only() -> None:
    with serve({}) as address, pytest.raises(mainmatter.FetchError, match=r"is a loopback address.*public_only=False"):
        list(PageDocuments().of_sources(f"{address}/"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "nonsense"}, "unknown method"),
        ({"format": "nonsense"}, "unknown format"),
        ({"errors": "ignore"}, "errors is 'ignore'; it must be 'raise' or 'skip'"),
        ({"overlap": 5}, "overlap needs chunks; give chunks, too"),
        ({"overlap": 5, "tokenizer": len}, "overlap and tokenizer need chunks"),
        ({"chunks": 5, "tokenizer": 3}, "tokenizer is 3; it must be a function"),
        ({"chunks": 5, "overlap": 5}, "overlap is 5; it must be less than max_tokens"),
        ({"dial": 2}, "dial"),
    ],
)
def test_options_are_checked_before_the_first_page(options: Any, message: str) -> None:
    with pytest.raises(mainmatter.MainmatterError) as raised:
        PageDocuments(**options)
    assert message in str(raised.value)


@pytest.mark.parametrize("method", mainmatter.method_names())
def test_to_check_the_options_no_page_is_cleaned(method: str, caplog: pytest.LogCaptureFixture) -> None:
    PageDocuments(method=method, format="text")
    PageDocuments(method=method, chunks=10, overlap=2)
    assert not caplog.messages


@pytest.mark.parametrize(
    ("adapter", "library", "command"),
    [("langchain", "langchain_core", "langchain-core"), ("llama_index", "llama_index.core", "llama-index-core")],
)
def test_a_library_that_is_missing_is_named(
    adapter: str, library: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith(f"{library}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    module = f"mainmatter.corpus.adapters.{adapter}"
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(MissingExtra, match=f"run: pip install {command}"):
        importlib.import_module(module)
