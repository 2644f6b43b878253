"""What is wanted of a run: everything that the output depends on, besides the input."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from mainmatter.corpus.duplicates import check_kind
from mainmatter.corpus.filters import Filters
from mainmatter.corpus.readers import FieldNames
from mainmatter.corpus.readers.urls import DELAY
from mainmatter.corpus.site_templates import check_has_templates, check_method
from mainmatter.corpus.writers import NEEDED_COLUMNS, SCHEMA
from mainmatter.errors import InputError, UnknownName
from mainmatter.limits import DEFAULT_LIMITS, DEFAULT_MEMORY, DEFAULT_SECONDS
from mainmatter.registry import DEFAULT_METHOD, get_method

if TYPE_CHECKING:
    from collections.abc import Mapping

OutputFormat = Literal["parquet", "jsonl"]
TextFormat = Literal["text", "markdown", "html"]
Duplicates = Literal["", "exact", "i-match", "near"]


@dataclass(frozen=True, slots=True)
class Job:
    """What is wanted of a run.

    Attributes:
        method: which method decides: a name of `mainmatter.method_names()`, or the folder of a trained model;
            parameters may follow, as in "density:c1=0.25".
        parameters: the method's parameters; they win over those that follow its name.
        format: of the output.
        text_format: of the column `text`. Filters, languages, words and duplicates are always those of the plain text.
        without_columns: which columns to leave out; `id`, `text`, `source` and `position` stay.
        blocks: whether the output has the blocks of each page, too.
        chunks: how many tokens a piece of the column `chunks` has at most; 0 for no such column.
        overlap: how many tokens such a piece may repeat from the one before.
        max_size: the largest page to clean, in bytes.
        max_seconds: how long a page may take, in seconds of processor time; ten times that by the clock.
        max_memory: how much memory a page may take, in bytes.
        filters: which pages to drop.
        duplicates: which pages to drop as repetitions of an earlier one: "exact", "i-match" or "near"; "" for none.
        site_templates: whether to find out first what each site repeats on its pages.
        shard_size: how many bytes of input make a shard, about; None for 64 MB, or more if there is more than 1.28 TB.
        html_field: the field of JSONL, or the column of Parquet, that holds the page; "" for the usual names, which
            docs/how-to/corpus.md lists. It may hold HTML or plain text, which has no tag.
        url_field: likewise its URL.
        id_field: likewise its id.
        follow_links: whether to read links to files that are in a folder; see `find_inputs`.
        archives_at: the folder, bucket or site that relative names in lists of archives are relative to; "" for the
            list's own folder or one above it.
        delay: how many seconds to wait between two requests to a host, for lists of URLs; a site's robots.txt may ask
            for more.
        public_only: whether URLs, and archives on the web, may be at public addresses only.
    """

    method: str = DEFAULT_METHOD
    parameters: Mapping[str, Any] = field(default_factory=dict)
    format: OutputFormat = "parquet"
    text_format: TextFormat = "text"
    without_columns: tuple[str, ...] = ()
    blocks: bool = False
    chunks: int = 0
    overlap: int = 0
    max_size: int = DEFAULT_LIMITS.size
    max_seconds: float = DEFAULT_SECONDS
    max_memory: int = DEFAULT_MEMORY
    filters: Filters = field(default_factory=Filters)
    duplicates: Duplicates = ""
    site_templates: bool = False
    shard_size: int | None = None
    html_field: str = ""
    url_field: str = ""
    id_field: str = ""
    follow_links: bool = False
    archives_at: str = ""
    delay: float = DELAY
    public_only: bool = True

    @property
    def field_names(self) -> FieldNames:
        """The fields of JSONL and Parquet that hold what."""
        return FieldNames(self.html_field, self.url_field, self.id_field)

    @property
    def stages(self) -> tuple[str, ...]:
        """What is done with each shard, one after another; a stage begins when all shards are through the last."""
        first = ("templates",) if self.site_templates else ()
        last = ("unique",) if self.duplicates else ()
        return (*first, "clean", *last)

    def check(self) -> None:
        """Make sure that all of it makes sense.

        Raises:
            InputError: something is of no known kind, or a limit is no positive number.
            UnknownName: there is no such method, format of the text, column or kind of duplicates.
            ModelError: the method's model is missing or damaged.
        """
        if self.format not in get_args(OutputFormat):
            raise InputError(f"the output format must be parquet or jsonl, not {self.format!r}")
        if self.text_format not in get_args(TextFormat):
            raise UnknownName("format of the text", self.text_format, get_args(TextFormat))
        _check_columns(self.without_columns)
        if type(self.chunks) is not int or self.chunks < 0:
            raise InputError(f"chunks must be a number of tokens, or 0 for none, not {self.chunks!r}")
        if type(self.overlap) is not int or not 0 <= self.overlap < max(self.chunks, 1):
            raise InputError(f"overlap must be a number of tokens below chunks, not {self.overlap!r}")
        for name in ("max_size", "max_seconds", "max_memory", "shard_size", "delay"):
            value = getattr(self, name)
            if name == "shard_size" and value is None:
                continue
            if not (math.isfinite(value) and (value > 0 or (name == "delay" and value == 0))):
                raise InputError(f"{name} must be a number {'from' if name == 'delay' else 'above'} 0, not {value!r}")
        for name in ("html_field", "url_field", "id_field"):
            if not isinstance(getattr(self, name), str):
                raise InputError(f"{name} must be the name of a field, not {getattr(self, name)!r}")
        if self.duplicates:
            check_kind(self.duplicates)
        get_method(self.method, **self.parameters)
        if self.site_templates:
            check_method(self.method, self.parameters)
        else:
            check_has_templates(self.method)

    def to_json(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self) | {"filters": self.filters.to_json()}


def _check_columns(names: object) -> None:
    if isinstance(names, str) or not isinstance(names, tuple | list):
        raise InputError(f"columns to leave out must be a list of names, such as author, not {names!r}")
    known = [column.name for column in SCHEMA if column.name not in NEEDED_COLUMNS]
    for name in names:
        if name in NEEDED_COLUMNS:
            raise InputError(f"the column {name} cannot be left out; you can leave out: {', '.join(known)}")
        if name not in known:
            raise UnknownName("column", str(name), known)
