"""A storage that gives no answer must not lose pages: what may be there later ends the run, which can go on then."""

from __future__ import annotations

import pytest

from mainmatter.corpus import retries, storage
from mainmatter.corpus.readers import read_slice
from mainmatter.corpus.records import Reject, Slice
from mainmatter.errors import InputError

ARCHIVE = Slice("warc", "s3://bucket/crawl.warc.gz", 0, 1000)


class Refusing:
    """A file system of fsspec's that opens nothing."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def open(self, place: str, mode: str, **options: object) -> None:
        raise self.error


def refuse_with(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "_file_system", lambda path: (Refusing(error), path))


def test_an_outage_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_with(TimeoutError("no answer"), monkeypatch)
    monkeypatch.setattr(retries, "DEADLINE", 0)  # or it would take five minutes
    with pytest.raises(InputError, match=r"s3://bucket/crawl\.warc\.gz: cannot be read: no answer"):
        list(read_slice(ARCHIVE))


@pytest.mark.parametrize(
    ("error", "told"), [(FileNotFoundError(), "no such file"), (PermissionError("forbidden"), "forbidden")]
)
def test_what_is_gone_or_forbidden_is_one_reject(error: Exception, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_with(error, monkeypatch)
    (only,) = read_slice(ARCHIVE)
    assert isinstance(only, Reject)
    assert (only.reason, only.position) == ("unreadable", 0)
    assert only.detail.endswith(f"cannot be read: {told}")
