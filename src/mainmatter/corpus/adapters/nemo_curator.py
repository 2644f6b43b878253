"""NeMo Curator: an algorithm for its Common Crawl pipeline, to give where "justext" or "trafilatura" is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mainmatter.corpus.adapters.page import MissingLibrary, PipelineCleaner
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.registry import DEFAULT_METHOD

try:
    from nemo_curator.stages.text.download.html_extractors import HTMLExtractorAlgorithm
except ImportError as error:
    raise MissingLibrary("NeMo Curator, with what it needs for text,", "'nemo-curator[text_cpu]'") from error

if TYPE_CHECKING:
    from os import PathLike

    from mainmatter.method import Method


class MainmatterExtractor(HTMLExtractorAlgorithm):  # type: ignore[misc]
    """Turns the HTML of a record into its main matter.

    Args:
        method: which method decides: a name, the folder of a trained model, or a method itself.
        limits: how large a page may be.
        parameters: the method's own parameters, such as `dial=0.7`.

    Raises:
        UnknownName: there is no such method.
        InputError: the method has no such parameter.
    """

    def __init__(
        self,
        method: str | PathLike[str] | Method = DEFAULT_METHOD,
        *,
        limits: Limits = DEFAULT_LIMITS,
        **parameters: Any,  # each method has its own
    ) -> None:
        self.cleaner = PipelineCleaner(method, limits, parameters=parameters)

    def extract_text(self, html: str, stop_words: frozenset[str], language: str) -> list[str] | None:  # noqa: ARG002
        """The paragraphs of the main matter; None, by which NeMo Curator drops the record, where there is none.

        Stop words and language are not looked at: no method of ours needs to be told them.
        """
        text = self.cleaner.text_of(html)
        return None if text is None else text.split("\n\n")
