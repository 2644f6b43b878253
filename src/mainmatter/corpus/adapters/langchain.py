"""LangChain: a loader of pages, and a transformer of documents that hold HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mainmatter.corpus.adapters.documents import PageDocument, PageDocuments
from mainmatter.corpus.adapters.page import MissingLibrary
from mainmatter.inputs.fetch import is_url
from mainmatter.records import Page

try:
    from langchain_core.document_loaders import BaseLoader
    from langchain_core.documents import BaseDocumentTransformer, Document
except ImportError as error:
    raise MissingLibrary("LangChain", "langchain-core") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Unpack

    from mainmatter.corpus.adapters.documents import DocumentOptions, Source


class MainmatterLoader(BaseLoader):
    """Loads the main matter of URLs, files, folders of pages, and pages.

    Args:
        sources: one of them, or several.
        options: see `mainmatter.corpus.adapters.documents.DocumentOptions`.

    Raises:
        UnknownName: there is no such method or format.
        InputError: an option makes no sense.
    """

    def __init__(self, sources: Source | Iterable[Source], **options: Unpack[DocumentOptions]) -> None:
        self._sources = sources
        self._documents = PageDocuments(**options)

    def lazy_load(self) -> Iterator[Document]:
        """Load one document after the other.

        Raises:
            MainmatterError: a page cannot be had or cleaned, unless errors are skipped.
        """
        return map(_to_document, self._documents.of_sources(self._sources))


class MainmatterTransformer(BaseDocumentTransformer):
    """Turns documents that hold HTML, as other loaders give, into those of their main matter.

    A document's `source` is the page's address, if it is a URL. Other metadata stay, unless the page says better.

    Args:
        options: see `mainmatter.corpus.adapters.documents.DocumentOptions`.
    """

    def __init__(self, **options: Unpack[DocumentOptions]) -> None:
        self._documents = PageDocuments(**options)

    def transform_documents(self, documents: Sequence[Document], **_: Any) -> list[Document]:
        """Clean the pages of documents.

        Raises:
            MainmatterError: a page cannot be cleaned, unless errors are skipped.
        """
        return [_to_document(found, of.metadata) for of in documents for found in self._documents.of_sources(_page(of))]


def _page(document: Document) -> Page:
    source = str(document.metadata.get("source", ""))
    return Page(document.page_content, source if is_url(source) else None, source or document.id)


def _to_document(found: PageDocument, metadata: dict[str, Any] | None = None) -> Document:
    return Document(id=found.id or None, page_content=found.text, metadata=(metadata or {}) | found.metadata)
