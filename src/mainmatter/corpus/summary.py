"""What came of a run, counted: a `Report` of each shard, `Progress` on the way, and a `Summary` of all."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

from mainmatter.corpus.typed_json import build
from mainmatter.limits import MEGABYTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


_COUNTS = ("rejects", "skipped", "languages")
_NOT_READ = frozenset(("damaged", "unreadable", "fetch", "robots"))  # for these reasons nothing was seen of a page
UNKNOWN_LANGUAGE = "und"  # of ISO 639, for what cannot be told


@dataclass(frozen=True, slots=True)
class Report:
    """What came of one shard in one stage; it can travel as JSON, and is what the marker of a done shard holds.

    Attributes:
        stage: "templates", "clean", "unique", or a stage of `duplicate_stages`.
        number: the shard's, or the part's.
        pages: how many pages there were, or damaged pieces that may have been pages: those kept and those rejected.
        kept: how many pages have a row in the output.
        rejects: how many were rejected, by reason.
        skipped: how many records were no pages and never meant to be, by type.
        words: how many words the kept pages have.
        bytes: how many bytes of pages were read.
        seconds: how long it took.
        languages: how many of the kept pages are in each language, by ISO 639; "und" where nobody knows.
        retries: how many requests to storage had to be repeated; 0 in a marker.
    """

    stage: str
    number: int
    pages: int = 0
    kept: int = 0
    rejects: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    words: int = 0
    bytes: int = 0
    seconds: float = 0.0
    languages: Mapping[str, int] = field(default_factory=dict)
    retries: int = 0

    def to_json(self) -> dict[str, Any]:
        """As JSON can hold it; names of reasons, types and languages are sorted."""
        return asdict(self) | {name: _sorted(getattr(self, name)) for name in _COUNTS}


@dataclass(frozen=True, slots=True)
class Summary:
    """What came of a whole run.

    Attributes:
        out: the folder of the result.
        shards: how many parts it has.
        pages: how many pages there were: those kept and those rejected.
        kept: how many pages have a row in the output.
        rejects: how many were rejected, by reason.
        skipped: how many records were no pages, by type.
        words: how many words the kept pages have.
        bytes: how many bytes of pages were read.
        seconds: how long it took by the clock, without earlier, interrupted runs.
        earlier_pages: how many of the pages earlier, interrupted runs had done.
        earlier_bytes: how many of the bytes.
        languages: how many of the kept pages are in each language, by ISO 639; "und" where nobody knows.
        retries: how many requests to storage had to be repeated, without those of earlier, interrupted runs.
        was_done: the run had been complete before, and nothing was done.
    """

    out: str
    shards: int
    pages: int
    kept: int
    rejects: Mapping[str, int]
    skipped: Mapping[str, int]
    words: int
    bytes: int
    seconds: float
    earlier_pages: int = 0
    earlier_bytes: int = 0
    languages: Mapping[str, int] = field(default_factory=dict)
    retries: int = 0
    was_done: bool = False

    @property
    def pages_per_second(self) -> float:
        """How many pages were read in a second of the clock."""
        return (self.pages - self.earlier_pages) / self.seconds if self.seconds else 0.0

    @property
    def megabytes_per_second(self) -> float:
        """How many megabytes of pages were read in a second of the clock."""
        return (self.bytes - self.earlier_bytes) / MEGABYTE / self.seconds if self.seconds else 0.0

    def to_json(self) -> dict[str, Any]:
        """As JSON can hold it."""
        content = asdict(self) | {
            "rejects": _sorted(self.rejects),
            "skipped": _sorted(self.skipped),
            "languages": _sorted(self.languages),
            "pages_per_second": round(self.pages_per_second, 2),
            "megabytes_per_second": round(self.megabytes_per_second, 3),
        }
        del content["was_done"]
        return content

    @classmethod
    def from_json(cls, content: object) -> Self:
        """The summary once more; what other versions wrote beside it is left out.

        Raises:
            ValueError: something is missing, or of another type.
        """
        if isinstance(content, dict):
            content = {one.name: content[one.name] for one in fields(cls) if one.name in content}
        return build(cls, content)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a stage of a run is.

    Attributes:
        stage: which.
        stages: all stages of the run.
        shards: how many shards there are.
        shards_done: how many of them are done.
        pages: how many pages this run has read, in this stage.
        kept: how many of them have a row.
        bytes: how many bytes of pages it has read.
        seconds: how long that took.
        share: what part of that which was to do is done, from 0 to 1.
        earlier_pages: how many pages earlier, interrupted runs had done.
    """

    stage: str
    stages: tuple[str, ...]
    shards: int
    shards_done: int
    pages: int
    kept: int
    bytes: int
    seconds: float
    share: float
    earlier_pages: int = 0


def add_up(reports: Iterable[Report], stage: str, number: int = -1) -> Report:
    """Several reports as one."""
    sums: Counter[str] = Counter()
    rejects: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    seconds = 0.0
    for report in reports:
        sums.update({name: getattr(report, name) for name in ("pages", "kept", "words", "bytes", "retries")})
        rejects.update(report.rejects)
        skipped.update(report.skipped)
        languages.update(report.languages)
        seconds += report.seconds
    counts = sums["pages"], sums["kept"], rejects, skipped, sums["words"], sums["bytes"]
    return Report(stage, number, *counts, seconds, languages, sums["retries"])


def why_no_page(counts: Report | Summary) -> str:
    """What is wrong with an input of which no page was ever seen; "" if one was."""
    if not counts.pages:
        return "the input has no pages"
    if counts.kept or not counts.rejects.keys() <= _NOT_READ:
        return ""
    return "no page of the input could be read or fetched"


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))
