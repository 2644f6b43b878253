"""Archives and the corpus on S3: a server of that kind on this machine (moto)."""

from __future__ import annotations

import gzip
import socket
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from mainmatter.corpus import storage
from mainmatter.corpus.build import build_corpus
from mainmatter.corpus.duplicate_stages import MOST_PAGES
from mainmatter.corpus.folder import Folder
from mainmatter.corpus.job import Job
from mainmatter.corpus.readers import find_shards
from mainmatter.errors import InputError
from timing import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """An empty bucket on a server of our own; processes that we start find it, too."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "somebody")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        try:
            _wait_for(port)
            _files().mkdir("crawl")
            yield "s3://crawl"
        finally:
            server.kill()
            server.wait()


def _wait_for(port: int) -> None:
    def answers() -> bool:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            return True
        return False

    wait_until(answers, "moto does not start")


def _files() -> Any:
    import s3fs  # may be missing

    return s3fs.S3FileSystem(use_listings_cache=False, skip_instance_cache=True)


def test_what_another_process_writes_is_seen(bucket: str) -> None:
    folder = f"{bucket}/shared"
    storage.write_whole(f"{folder}/first", b"1")
    assert storage.list_names(folder) == ["first"]
    assert not storage.exists(f"{folder}/second")
    code = f"from mainmatter.corpus.storage import write_whole; write_whole({folder + '/second'!r}, b'22')"
    subprocess.run([sys.executable, "-c", code + f"; write_whole({folder + '/first'!r}, b'new')"], check=True)
    assert storage.exists(f"{folder}/second")
    assert storage.read_whole(f"{folder}/first") == b"new"
    assert storage.list_names(folder) == ["first", "second"]
    storage.remove(f"{folder}/first")
    assert storage.list_names(folder) == ["second"]


def test_listed_inputs_are_the_same_as_those_that_are_asked_for(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "_FEWEST_TO_LIST", 2)
    paths = [f"{bucket}/inputs/{number}" for number in range(3)]
    for path in paths:
        storage.write_whole(path, path.encode())
    alone = [storage.facts(path) for path in paths]
    with storage.asked_once(paths):
        assert [storage.facts(path) for path in paths] == alone
    assert len({one.stamp for one in alone}) == 3


def test_files_are_removed_in_bulk(bucket: str) -> None:
    for name in ("a", "b", "c"):
        storage.write_whole(f"{bucket}/bulk/{name}", b"x")
    storage.remove_all(f"{bucket}/bulk", ["a", "c", "never there"])
    assert storage.list_names(f"{bucket}/bulk") == ["b"]


def test_a_bucket_that_is_not_there_is_not_made(bucket: str) -> None:
    with pytest.raises((OSError, InputError)):
        storage.write_whole("s3://a-typing-error/out/part", b"x")
    assert not _files().exists("a-typing-error")


def test_a_corpus_on_s3_is_the_same_as_here(
    bucket: str,
    archives: Path,
    shard_size: int,
    corpus_files: Callable[[Path], dict[str, bytes]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for archive in sorted(archives.glob("*.warc.gz"))[:2]:
        storage.write_whole(f"{bucket}/in/{archive.name}", archive.read_bytes())
    inputs, job = [f"{bucket}/in"], Job(shard_size=shard_size, duplicates="exact")
    here = build_corpus(inputs, str(tmp_path / "here"), job, workers=1)
    monkeypatch.setitem(MOST_PAGES, "exact", 30)  # so that duplicates are found in parts
    there = build_corpus(inputs, f"{bucket}/out", job, workers=2)
    assert {one.partition("-")[0] for one in Folder(f"{bucket}/out").names("__run")} >= {"digests", "equal"}
    assert (there.pages, there.kept) == (here.pages, here.kept)
    assert here.kept > 50
    found = {name: storage.read_whole(f"{bucket}/out/{name}") for name in corpus_files(tmp_path / "here")}
    assert found == corpus_files(tmp_path / "here")


def test_keys_of_a_list_are_found_in_its_bucket(bucket: str, archives: Path, tmp_path: Path) -> None:
    keys = [f"crawl-data/segments/{number}/warc/{number}.warc.gz" for number in range(2)]
    for number, key in enumerate(keys):
        storage.write_whole(f"{bucket}/{key}", (archives / f"{number}.warc.gz").read_bytes())
    for number in range(2, 12):
        keys.append(f"crawl-data/segments/1/warc/{number}.warc.gz")  # so many that the folder is listed
        storage.write_whole(f"{bucket}/{keys[-1]}", b"")
    names = "\n".join(keys).encode()
    storage.write_whole(f"{bucket}/crawl-data/warc.paths.gz", gzip.compress(names))
    (tmp_path / "warc.paths").write_bytes(names)
    ((*there,),) = find_shards([f"{bucket}/crawl-data/warc.paths.gz"])
    assert [(one.path, one.end) for one in there] == [
        (f"{bucket}/{key}", storage.size(f"{bucket}/{key}")) for key in keys
    ]
    assert there[1].end > 1000
    assert find_shards([str(tmp_path / "warc.paths")], archives_at=bucket) == [there]


def test_a_corpus_on_s3_goes_on_where_it_was_unless_an_input_has_changed(
    bucket: str, archives: Path, shard_size: int
) -> None:
    source, out, job = f"{bucket}/more/a.warc.gz", f"{bucket}/more-out", Job(shard_size=shard_size)
    storage.write_whole(source, (archives / "3.warc.gz").read_bytes())
    build_corpus([source], out, job, workers=1)
    part = storage.read_whole(f"{out}/part-00001.parquet")
    for name in ("part-00001.parquet", "__about/summary.json", "__run/clean-00001.json"):
        storage.remove(f"{out}/{name}")
    again = build_corpus([source], out, job, workers=1)
    assert again.earlier_pages > 0
    assert storage.read_whole(f"{out}/part-00001.parquet") == part
    assert Folder(out).done("clean") == {0, 1}
    storage.write_whole(source, (archives / "2.warc.gz").read_bytes())
    with pytest.raises(InputError, match="has changed"):
        build_corpus([source], out, job, workers=1)
