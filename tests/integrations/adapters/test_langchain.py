"""The loader and the transformer for LangChain."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document

from mainmatter.corpus.adapters.langchain import MainmatterLoader, MainmatterTransformer

if TYPE_CHECKING:
    from pathlib import Path

    from integrations.adapters.conftest import FindProgram

TEXT = "The tide comes in twice a day, and it goes out twice a day, and that is all it does."


def test_the_program_of_the_documentation(program: FindProgram, site: Path) -> None:
    values: dict[str, Any] = {}
    exec(compile(program("LangChain"), "LangChain", "exec"), values)
    documents = values["documents"]
    files = [str(file.relative_to(site.parent)) for file in sorted(site.iterdir())]
    assert list(dict.fromkeys(document.metadata["source"] for document in documents)) == files
    assert all(document.metadata["xpath"].startswith("/html[1]/") for document in documents)
    assert len(documents) > len(files)


def test_whole_pages(site: Path, texts: dict[str, str]) -> None:
    loaded = asyncio.run(MainmatterLoader(site, format="text").aload())
    assert [document.page_content for document in loaded] == list(texts.values())
    assert [document.id for document in loaded] == [document.metadata["source"] for document in loaded]


def test_documents_that_hold_html() -> None:
    metadata = {"source": "https://e.example/", "mine": "yes", "title": "?"}
    html = Document(page_content=f"<h1>Tides</h1><p>{TEXT} <a href=/x>More</a>", metadata=metadata)
    (cleaned,) = MainmatterTransformer().transform_documents([html])
    assert cleaned.page_content == f"# Tides\n\n{TEXT} [More](https://e.example/x)"
    assert (cleaned.id, cleaned.metadata["mine"], cleaned.metadata["title"]) == ("https://e.example/", "yes", "Tides")
