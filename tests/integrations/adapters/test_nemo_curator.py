"""The algorithm for NeMo Curator, in its own Common Crawl pipeline, on an archive that needs no download.

NeMo Curator pins other versions, and takes gigabytes; `make test-integrations` runs this in an environment of its own.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import mainmatter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

for name in ("nemo_curator", "warcio", "pycld2"):
    pytest.importorskip(name, reason=f"{name} is not installed; make test-integrations runs this")

import ray
from nemo_curator.backends.ray_data import RayDataExecutor
from nemo_curator.pipeline import Pipeline
from nemo_curator.stages.text.download.common_crawl.extract import CommonCrawlHTMLExtractor
from nemo_curator.stages.text.io.writer import JsonlWriter
from nemo_curator.tasks import FileGroupTask

from mainmatter.corpus.adapters.nemo_curator import MainmatterExtractor


@pytest.fixture
def stage(tmp_path: Path, program: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The last stage of the documentation's program; the two before it make the URLs and download."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(program("NeMo Curator"), names)
    return names["stage"].decompose()[-1]


@pytest.fixture
def task(archive: Path) -> FileGroupTask:
    """What a download gives."""
    return FileGroupTask(dataset_name="site", data=[str(archive)], _metadata={"source_files": [str(archive)]})


def test_the_common_crawl_stage(stage: Any, task: FileGroupTask, texts: dict[str, str]) -> None:
    rows = stage.process(task).to_pandas().to_dict("records")
    assert {row["url"]: row["text"] for row in rows} == texts
    assert {row["language"] for row in rows} == {"ENGLISH", "GERMAN"}


# Ray's own code is not free of warnings, in this process and at its end.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_pipeline_from_an_archive_to_jsonl(
    stage: Any, task: FileGroupTask, texts: dict[str, str], tmp_path: Path
) -> None:
    pipeline = Pipeline(name="site", stages=[stage, JsonlWriter(str(tmp_path / "texts"))])
    ray.init(num_cpus=2, object_store_memory=80_000_000, include_dashboard=False, log_to_driver=False)
    try:
        pipeline.run(RayDataExecutor(), initial_tasks=[task])
    finally:
        ray.shutdown()
    (file,) = (tmp_path / "texts").glob("*.jsonl")
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert {row["url"]: row["text"] for row in rows} == texts


def test_it_never_raises() -> None:
    algorithm = MainmatterExtractor(limits=mainmatter.Limits(size=200))
    page = "<h1>Tides</h1><p>The tide comes in twice a day, and goes out twice a day, and that is all.</p>"
    assert algorithm.extract_text(page, frozenset(), "ENGLISH") == mainmatter.clean(page).text.split("\n\n")
    assert algorithm.extract_text("", frozenset(), "ENGLISH") is None
    assert algorithm.extract_text("x" * 300, frozenset(), "ENGLISH") is None
    with pytest.raises(mainmatter.InputError):
        MainmatterExtractor(dail=0.5)


def test_the_extractor_takes_it() -> None:
    extractor = CommonCrawlHTMLExtractor(algorithm=MainmatterExtractor("density"))
    page = b"<p>The tide comes in twice a day, and it goes out twice a day, and that is all that it does here.</p>"
    record = {"url": "https://x.example/", "warc_id": "1", "source_id": "a", "content": page}
    extracted = extractor.extract(record)
    assert extracted is not None
    assert extracted["text"].startswith("The tide comes in")
