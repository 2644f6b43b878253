"""Spark: a function for a column of pages, which gives a struct with their main matter.

It is an Arrow UDF: pages travel to Python in batches, without pandas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mainmatter.corpus.adapters.guarded import GuardedCleaner
from mainmatter.corpus.adapters.page import FACTS, MissingLibrary, PipelineCleaner
from mainmatter.limits import DEFAULT_LIMITS, DEFAULT_MEMORY, DEFAULT_SECONDS, Limits
from mainmatter.registry import DEFAULT_METHOD

try:
    import pyarrow as pa
    from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]
except ImportError as error:
    raise MissingLibrary("PySpark 4.1 or later, and pyarrow,", "'pyspark>=4.1' pyarrow") from error

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from mainmatter.method import Method

_TYPES = {"text": "string", "error": "string"} | dict.fromkeys(FACTS, "string") | {"confidence": "double"}
RETURN_TYPE = ", ".join(f"{name} {type_name}" for name, type_name in _TYPES.items())


def clean_udf(
    method: str | PathLike[str] | Method = DEFAULT_METHOD,
    *,
    limits: Limits = DEFAULT_LIMITS,
    format: str = "text",  # the word users know
    max_seconds: float = DEFAULT_SECONDS,
    max_memory: int = DEFAULT_MEMORY,
    **parameters: Any,  # each method has its own
) -> Callable[..., Any]:
    """A function of two columns, the page (binary or string) and its URL (a string, or a literal null).

    Its result is a struct: `text`, `error` (why there is no text; then `text` is null), `title`, `author`, `date`,
    `site`, `description`, `language`, `page_type`, `confidence`. A row is never dropped, and none fails the task.
    mainmatter must be installed where Spark's workers run.

    Args:
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
    cleaner = GuardedCleaner(PipelineCleaner(method, limits, format, parameters), max_seconds, max_memory)
    struct = pa.struct([(name, pa.float64() if kind == "double" else pa.string()) for name, kind in _TYPES.items()])

    def clean_column(html: pa.Array, url: pa.Array) -> pa.Array:
        cleaned = [cleaner(page, of) for page, of in zip(html.to_pylist(), url.to_pylist(), strict=True)]
        return pa.array([{"text": one.text, "error": one.error} | one.facts for one in cleaned], struct)

    # Spark tells kinds of functions by their annotations, which must be types here, not text.
    clean_column.__annotations__ = dict.fromkeys(("html", "url", "return"), pa.Array)
    return arrow_udf(clean_column, RETURN_TYPE)  # type: ignore[no-any-return]
