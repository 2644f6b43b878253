"""LlamaIndex: a reader of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mainmatter.corpus.adapters.documents import PageDocuments
from mainmatter.corpus.adapters.page import MissingLibrary

try:
    from llama_index.core.readers.base import BaseReader
    from llama_index.core.schema import Document
except ImportError as error:
    raise MissingLibrary("LlamaIndex", "llama-index-core") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Unpack

    from mainmatter.corpus.adapters.documents import DocumentOptions, Source

# For tracing an answer; a model that reads or embeds a text has no use for it.
_ONLY_FOR_PROGRAMS = ["confidence", "chunk", "start", "end", "blocks", "xpath", "tokens"]


class MainmatterReader(BaseReader):  # type: ignore[misc, unused-ignore] # of those who have the library
    """Reads the main matter of URLs, files, folders of pages, and pages.

    Args:
        options: see `mainmatter.corpus.adapters.documents.DocumentOptions`.

    Raises:
        UnknownName: there is no such method or format.
        InputError: an option makes no sense.
    """

    def __init__(self, **options: Unpack[DocumentOptions]) -> None:
        self._documents = PageDocuments(**options)

    def lazy_load_data(self, sources: Source | Iterable[Source]) -> Iterator[Document]:
        """Load one document after the other.

        Raises:
            MainmatterError: a page cannot be had or cleaned, unless errors are skipped.
        """
        for found in self._documents.of_sources(sources):
            yield Document(
                text=found.text,
                metadata=found.metadata,
                excluded_embed_metadata_keys=_ONLY_FOR_PROGRAMS,
                excluded_llm_metadata_keys=_ONLY_FOR_PROGRAMS,
                **{"id_": found.id} if found.id else {},
            )
