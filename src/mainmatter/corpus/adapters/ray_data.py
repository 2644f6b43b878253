"""Ray Data: a class for `Dataset.map_batches`, which adds the main matter of a column of pages as columns.

It needs nothing of Ray itself, so it works in any program that has batches as Ray's: dicts of NumPy arrays, Arrow
tables, or pandas frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mainmatter.corpus.adapters.guarded import GuardedCleaner
from mainmatter.corpus.adapters.page import FACTS, PipelineCleaner, prefixed
from mainmatter.errors import InputError
from mainmatter.limits import DEFAULT_LIMITS, DEFAULT_MEMORY, DEFAULT_SECONDS, Limits
from mainmatter.registry import DEFAULT_METHOD

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from mainmatter.method import Method

Batch = TypeVar("Batch")


class CleanBatch:
    """Adds `text`, `error` and what is known of the page (`page_title`, `page_author`, ...) to each row of a batch.

    A page of which nothing is left has the text None and says why in `error`; no row is dropped, and none raises.
    Columns of the same names are replaced.

    Args:
        html: the column of the pages, as text or, better, as bytes.
        url: the column of their URLs; None if there is none.
        text: the name of the column for the main matter.
        error: the name of the column that says why there is no text.
        prefix: what the names of the other new columns begin with.
        method: which method decides: a name, the folder of a trained model, or a method itself.
        limits: how large a page may be.
        format: the format of the text, such as "text" or "markdown".
        max_seconds: how long a page may take, in seconds of processor time; ten times that by the clock.
        max_memory: how much memory a page may take, in bytes.
        parameters: the method's own parameters, such as `dial=0.7`.

    Raises:
        UnknownName: there is no such method.
        InputError: the method has no such parameter, or cannot be sent to another process.
    """

    def __init__(  # noqa: PLR0913 - all but the first two by name
        self,
        html: str = "html",
        url: str | None = "url",
        *,
        text: str = "text",
        error: str = "error",
        prefix: str = "page_",
        method: str | PathLike[str] | Method = DEFAULT_METHOD,
        limits: Limits = DEFAULT_LIMITS,
        format: str = "text",  # the word users know
        max_seconds: float = DEFAULT_SECONDS,
        max_memory: int = DEFAULT_MEMORY,
        **parameters: Any,  # each method has its own
    ) -> None:
        self.html = html
        self.url = url
        self.text = text
        self.error = error
        self.prefix = prefix
        cleaner = PipelineCleaner(method, limits, format, parameters)
        self.cleaner = GuardedCleaner(cleaner, max_seconds, max_memory)

    def __call__(self, batch: Batch) -> Batch:
        """A batch of the same kind, with the new columns.

        Raises:
            InputError: it has no column of the pages or of the URLs.
        """
        if isinstance(batch, Mapping):
            new = self._clean(batch, batch.keys())
            return {**batch, **{name: np.array(values, object) for name, values in new.items()}}  # type: ignore[return-value]
        if hasattr(batch, "set_column"):
            return self._add_to_table(batch)  # type: ignore[no-any-return]
        new = self._clean(batch, batch.columns)  # type: ignore[attr-defined]
        return batch.assign(**new)  # type: ignore[attr-defined, no-any-return]

    def _add_to_table(self, table: Any) -> Any:  # pyarrow tells mypy nothing
        import pyarrow as pa  # whoever gives a table has it

        names = [self.html] if self.url is None else [self.html, self.url]
        given = {name: table[name].to_pylist() for name in names if name in table.column_names}
        for name, values in self._clean(given, table.column_names).items():
            column = pa.array(values, pa.float64() if name == prefixed("confidence", self.prefix) else pa.string())
            place = table.schema.get_field_index(name)
            table = table.append_column(name, column) if place < 0 else table.set_column(place, name, column)
        return table

    def _clean(self, columns: Any, names: Iterable[str]) -> dict[str, list[Any]]:  # dict or frame
        for wanted in (self.html, self.url):
            if wanted is not None and wanted not in names:
                raise InputError(f"no column {wanted!r}; the columns are {', '.join(map(str, names))}")
        pages = columns[self.html]
        urls = [None] * len(pages) if self.url is None else columns[self.url]
        new: dict[str, list[Any]] = {self.text: [], self.error: []}
        new |= {prefixed(name, self.prefix): [] for name in FACTS}
        for page, url in zip(pages, urls, strict=True):
            cleaned = self.cleaner(page, url if isinstance(url, str) else None)
            row = {self.text: cleaned.text, self.error: cleaned.error} | cleaned.prefixed_facts(self.prefix)
            for name, value in row.items():
                new[name].append(value)
        return new
