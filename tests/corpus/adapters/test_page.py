"""What all adapters share: one page in, text or an error out."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

import mainmatter
from mainmatter.corpus.adapters.page import FACTS, NOTHING_KEPT, MissingLibrary, PipelineCleaner
from mainmatter.errors import MissingExtra, UnknownName

PAGE = "<title>Tides</title><p>The tide comes in twice a day, and it goes out twice a day, and that is all it does.</p>"


def test_a_page_gives_its_text_and_facts() -> None:
    cleaned = PipelineCleaner()(PAGE, "https://tides.example/")
    assert cleaned.text == mainmatter.clean(PAGE).text != ""
    assert cleaned.error is None
    assert tuple(cleaned.facts) == FACTS
    assert cleaned.facts["title"] == "Tides"
    assert 0 < cleaned.facts["confidence"] <= 1
    assert next(iter(cleaned.prefixed_facts())) == "page_title"
    assert "page_type" in cleaned.prefixed_facts()


@pytest.mark.parametrize("page", [PAGE.encode(), bytearray(PAGE.encode()), memoryview(PAGE.encode())])
def test_bytes_of_any_kind_are_a_page(page: object) -> None:
    assert PipelineCleaner()(page).text == PipelineCleaner()(PAGE).text


def test_the_declared_encoding_is_used() -> None:
    page = "<p>Die Flut kommt zweimal am Tag über den Kai, und zweimal am Tag geht sie wieder zurück.</p>"
    assert "zurück" in (PipelineCleaner()(page.encode("utf-8"), charset="utf-8").text or "")


@pytest.mark.parametrize(
    ("page", "error"),
    [
        (None, "there is no page"),
        (17, "a page must be text or bytes, not int"),
        ("", NOTHING_KEPT),
        (b"<nav></nav>", NOTHING_KEPT),
        ("x" * 2000, "PageTooLarge: "),
    ],
)
def test_what_has_no_text_has_an_error(page: object, error: str) -> None:
    cleaned = PipelineCleaner(limits=mainmatter.Limits(size=1000))(page)
    assert cleaned.text is None
    assert (cleaned.error or "").startswith(error)
    assert tuple(cleaned.facts) == FACTS


def test_what_is_wrong_with_the_method_is_told_at_once() -> None:
    with pytest.raises(UnknownName, match="did you mean 'density'"):
        PipelineCleaner("densty")
    with pytest.raises(mainmatter.InputError, match="dail"):
        PipelineCleaner(parameters={"dail": 0.3})
    with pytest.raises(UnknownName, match="unknown format"):
        PipelineCleaner(format="docx")


def test_method_parameters_and_format_are_used() -> None:
    page = "<h1>Tides</h1>" + PAGE
    assert (PipelineCleaner(format="markdown")(page).text or "").startswith("# Tides")
    assert "Tides" not in (PipelineCleaner(parameters={"headings": False})(page).text or "")
    assert PipelineCleaner("density")(page).facts["confidence"] is None


def test_an_error_that_has_no_place_goes_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    cleaner = PipelineCleaner(limits=mainmatter.Limits(size=100))
    assert cleaner.text_of("<p>") is None
    assert caplog.messages == []
    assert cleaner.text_of("x" * 101) is None
    (message,) = caplog.messages
    assert message.startswith("a page has no text: PageTooLarge")


def test_it_can_travel() -> None:
    cleaner = PipelineCleaner(parameters={"dial": 0.7})
    assert pickle.loads(pickle.dumps(cleaner))(PAGE) == cleaner(PAGE)


@pytest.mark.parametrize(
    ("library", "adapter", "command"),
    [
        ("datatrove", "datatrove", "pip install datatrove"),
        ("nemo_curator", "nemo_curator", "pip install 'nemo-curator[text_cpu]'"),
        ("dolma", "dolma", "pip install 'dolma[warc]' dateparser"),
        ("pyspark", "spark", "pip install 'pyspark>=4.1' pyarrow"),
        ("itemadapter", "scrapy", "pip install scrapy"),
    ],
)
def test_a_missing_library_is_named(library: str, adapter: str, command: str) -> None:
    code = f"import sys; sys.modules[{library!r}] = None; import mainmatter.corpus.adapters.{adapter}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    last = run.stderr.strip().splitlines()[-1]
    assert last.startswith("mainmatter.corpus.adapters.page.MissingLibrary: this needs ")
    assert last.endswith(f"which is not installed; run: {command}")


def test_a_missing_library_is_a_missing_extra() -> None:
    assert issubclass(MissingLibrary, MissingExtra)


@pytest.mark.parametrize("adapter", ["ray_data", "trafilatura"])
def test_some_adapters_need_no_library(adapter: str) -> None:
    libraries = ("ray", "pyarrow", "pandas", "trafilatura", "lxml")
    code = (
        f"import sys; import mainmatter.corpus.adapters.{adapter}; print([n for n in {libraries} if n in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
