"""The reader for LlamaIndex. The library is large: `make test` does not install it; `make test-integrations` does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("llama_index.core", reason="llama-index-core is not installed; make test-integrations runs this")

from llama_index.core.schema import MetadataMode

from mainmatter.corpus.adapters.llama_index import MainmatterReader

if TYPE_CHECKING:
    from integrations.adapters.conftest import FindProgram


def test_the_program_of_the_documentation(program: FindProgram, site: Path) -> None:
    values: dict[str, Any] = {}
    exec(compile(program("LlamaIndex"), "LlamaIndex", "exec"), values)
    first = values["documents"][0]
    assert first.id_ == str(Path("site", "0.html#0"))
    assert first.metadata["xpath"].startswith("/html[1]/")
    assert "/html[1]" not in first.get_content(MetadataMode.EMBED)  # for programs
    assert "/html[1]" not in first.get_content(MetadataMode.LLM)
    assert first.metadata["title"] in first.get_content(MetadataMode.LLM)


def test_whole_pages(site: Path, texts: dict[str, str]) -> None:
    loaded = MainmatterReader(format="text").load_data(site)
    assert [document.text for document in loaded] == list(texts.values())
