"""datatrove: an extractor to put where `Trafilatura()` stands in a pipeline.

datatrove's own extractors see a page's text alone, and drop the document, without a trace but a count, when they fail.
This one sees the URL too, adds what the page says about itself to the document's metadata, and can write what it
drops, as datatrove's filters can.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from mainmatter.corpus.adapters.page import MissingLibrary, PipelineCleaner, prefixed
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.registry import DEFAULT_METHOD

try:
    from datatrove.pipeline.extractors.base import BaseExtractor, ExtractorSandbox
    from datatrove.utils.typeshelper import StatHints
except ImportError as error:
    raise MissingLibrary("datatrove", "datatrove") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

    from datatrove.data import Document
    from datatrove.pipeline.writers.disk_base import DiskWriter

    from mainmatter.corpus.adapters.page import Cleaned
    from mainmatter.method import Method

REASON = "filter_reason"  # the name under which datatrove's filters say why they dropped a document


class Mainmatter(BaseExtractor):  # type: ignore[misc]
    """Replaces each document's HTML by its main matter, in a process of its own, as all extractors of datatrove do.

    Documents of which nothing is left, or whose process dies or takes too long, are dropped and counted.

    Args:
        method: which method decides: a name, the folder of a trained model, or a method itself.
        limits: how large a page may be.
        format: the format of the text, such as "text" or "markdown".
        timeout: how many seconds a page may take.
        metadata: add what is known of the page to the document's metadata: `page_title`, `page_author`, `page_date`,
            `page_site`, `page_description`, `page_language`, `page_type` ("" where it is not known, so that all rows
            of a Parquet file have the same types) and `page_confidence` (None if the method has none).
        exclusion_writer: saves the documents that are dropped, with their HTML and the reason.
        parameters: the method's own parameters, such as `dial=0.7`.

    Raises:
        UnknownName: there is no such method.
        InputError: the method has no such parameter.
    """

    name = "🏮 mainmatter"

    def __init__(
        self,
        method: str | PathLike[str] | Method = DEFAULT_METHOD,
        *,
        limits: Limits = DEFAULT_LIMITS,
        format: str = "text",  # the word users know
        timeout: float = 10,
        metadata: bool = True,
        exclusion_writer: DiskWriter | None = None,
        **parameters: Any,  # each method has its own
    ) -> None:
        super().__init__(timeout)
        self.metadata = metadata
        self.exclusion_writer = exclusion_writer
        self.cleaner = PipelineCleaner(method, limits, format, parameters)

    def extract(self, text: str) -> str:
        """A page's main matter; "" where there is none."""
        return self.cleaner.text_of(text) or ""

    def run(self, data: Iterable[Document], rank: int = 0, world_size: int = 1) -> Iterator[Document]:  # noqa: ARG002
        """Clean the documents; datatrove calls this."""
        self.cleaner.warm_up()  # before the process that does the work is forked, so that its time-out is for pages
        writing = self.exclusion_writer or contextlib.nullcontext()
        with writing as writer, ExtractorSandbox(timeout=self.timeout, warmup_text=("", None)) as sandbox:
            for document in data:
                self.stat_update(StatHints.total)
                with self.track_time():
                    reason = self._clean(document, sandbox)
                if reason is None:
                    self.stat_update(StatHints.forwarded, "extracted")
                    self.update_doc_stats(document)
                    yield document
                    continue
                self.stat_update(StatHints.dropped)
                if writer is not None:
                    document.metadata[REASON] = reason
                    writer.write(document, rank)

    def _clean(self, document: Document, sandbox: ExtractorSandbox) -> str | None:
        """Put the main matter in the place of the HTML; why that could not be done, else None."""
        try:
            cleaned: Cleaned = sandbox.process_document((document.text, document.metadata.get("url")), self.cleaner)
        except TimeoutError:
            self.stat_update("timeout")
            return f"took more than {self.timeout:g} seconds"
        except (EOFError, OSError):  # OSError: the pipe to a process that has just died
            self.stat_update("broken_process")
            return "the process that worked on it died"
        except Exception as error:  # a page that cannot travel to that process
            self.stat_update("clean_error")
            return f"{type(error).__name__}: {error}"
        if cleaned.text is None:
            self.stat_update("clean_error")
            return cleaned.error
        document.text = cleaned.text
        if self.metadata:
            document.metadata |= {prefixed(name): value or "" for name, value in cleaned.facts.items()}
            document.metadata[prefixed("confidence")] = cleaned.facts["confidence"]
        return None
