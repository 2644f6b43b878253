"""The flow from bytes to clean text, one page and many."""

from __future__ import annotations

import os
import pickle
import random
from dataclasses import FrozenInstanceError
from itertools import count, islice
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest

import mainmatter
from mainmatter import Block, Document, Extraction, Failure, InputError, Kind, Limits, Metadata, Page, PageTooLarge
from mainmatter.api import _Sent
from mainmatter.errors import ModelError, UnknownName
from mainmatter.papers.density.method import Density
from mainmatter.registry import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONG = "this paragraph has more than ten words and they are long enough"
PAGE = f"<html lang=en><title>The title</title><ul><li>Home</ul><div><p></p><h1>Heading</h1><p>{LONG}</p></div><p>x"


class TestClean:
    def test_text(self) -> None:
        assert mainmatter.clean(PAGE, method="ice-heuristic").text == f"Heading\n\n{LONG}"

    def test_main_is_the_method_if_none_is_named(self) -> None:
        found, same = mainmatter.clean(PAGE), mainmatter.clean(PAGE, method="main")
        assert found.method == "main"
        assert everything(found) == everything(same)
        assert found.page_type is not None
        assert found.confidence is not None
        assert LONG in found.text

    def test_bytes(self) -> None:
        html = "<meta charset=iso-8859-15><p>Der Käse kostet heute fünf € und ist aus dem schönen Allgäu gekommen"
        found = mainmatter.clean(html.encode("iso-8859-15"), method="ice-baseline")
        assert found.text == "Der Käse kostet heute fünf € und ist aus dem schönen Allgäu gekommen"
        assert found.document.encoding == "iso-8859-15"

    def test_a_charset_of_the_http_header(self) -> None:
        page = Page("Привет".encode("koi8-r"), charset="koi8-r")
        assert mainmatter.clean(page, method="ice-baseline").text == "Привет"

    def test_a_page(self) -> None:
        page = Page(PAGE, "https://e.example/", "one")
        found = mainmatter.clean(page)
        assert found.document.page is page
        assert found.metadata == Metadata(title="Heading", language="en", url=found.metadata.url)

    def test_an_address(self) -> None:
        assert mainmatter.clean(PAGE, url="https://e.example/x").document.page.url == "https://e.example/x"

    def test_an_address_for_a_page(self) -> None:
        address = "https://e.example/x"
        assert mainmatter.clean(Page(PAGE, id="one"), url=address).document.page == Page(PAGE, address, "one")
        assert mainmatter.clean(Page(PAGE, address), url=address).document.page.url == address
        with pytest.raises(
            InputError, match=r"the page comes from https://e\.example/x, not from https://other\.example/"
        ):
            mainmatter.clean(Page(PAGE, address), url="https://other.example/")

    def test_a_dump(self) -> None:
        page = Page(f"Heading\n\n{LONG}\n\nx", format="text")
        assert mainmatter.clean(page, method="ice-heuristic").text == f"Heading\n\n{LONG}"

    def test_a_method_by_name_with_parameters(self) -> None:
        assert mainmatter.clean(PAGE, method="ice-heuristic:min_words=100").text == ""
        assert (
            mainmatter.clean(PAGE, method="density", parameters={"c1": 0, "c2": 100}).text
            == f"Home\n\nHeading\n\n{LONG}\n\nx"
        )

    def test_parameters_of_the_method_that_is_not_named(self) -> None:
        assert mainmatter.clean(PAGE, dial=1).text == f"Home\n\nHeading\n\n{LONG}\n\nx"
        with pytest.raises(InputError, match="method 'main' has no parameter 'min_words'"):
            mainmatter.clean(PAGE, parameters={"min_words": 100})

    def test_a_method_as_an_object(self) -> None:
        method = mainmatter.get_method("ice-baseline")
        assert mainmatter.clean(PAGE, method=method).text == f"Home\n\nHeading\n\n{LONG}\n\nx"

    def test_a_method_as_an_object_has_its_parameters(self) -> None:
        with pytest.raises(InputError, match="method 'density' is already an object; set c1, c2 when you create it"):
            mainmatter.clean(PAGE, method=Density(), parameters={"c1": 0.1, "c2": 3})

    def test_a_method_of_ones_own(self) -> None:
        class FirstBlock:
            name: ClassVar[str] = "first-block"
            summary: ClassVar[str] = "the first block"

            def extract(self, document: Document) -> Extraction:
                kept = np.arange(len(document)) == 0
                return Extraction(document, self.name, kept * 1.0, kept, document.columns.kinds, [""] * len(document))

        assert mainmatter.clean(PAGE, method=FirstBlock()).text == "Home"

    def test_limits(self) -> None:
        assert mainmatter.clean("x" * 100, limits=Limits(size=100)).document.texts == ["x" * 100]
        with pytest.raises(
            PageTooLarge, match=r"https://e.example/ has more than 100 bytes; raise the limit with .*--max-size"
        ):
            mainmatter.clean("x" * 101, url="https://e.example/", limits=Limits(size=100))
        with pytest.raises(PageTooLarge, match=r"the page has more than 50\.0 MB"):
            mainmatter.clean(b" " * 50_000_001)
        with pytest.raises(PageTooLarge):
            mainmatter.clean(Page("x" * 101, format="text"), limits=Limits(size=100))

    def test_an_unknown_method(self) -> None:
        with pytest.raises(UnknownName):
            mainmatter.clean(PAGE, method="magic")

    def test_an_unknown_parameter(self) -> None:
        with pytest.raises(InputError):
            mainmatter.clean(PAGE, parameters={"magic": True})


class TestRecords:
    def test_an_extraction(self) -> None:
        found = mainmatter.clean(PAGE, method="ice-heuristic")
        assert len(found) == 2
        assert len(found.document) == 4
        assert [block.text for block in found.blocks] == ["Heading", LONG]
        assert [block.index for block in found.blocks] == [1, 2]
        assert found.kept.tolist() == [False, True, True, False]
        assert found.method == "ice-heuristic"
        assert found.document.lengths.tolist() == [4, 7, len(LONG), 1]
        assert found.document.positions.tolist() == found.document.columns.positions
        assert found.render("cleaneval") == found.cleaneval

    def test_documents_and_extractions_are_equal_to_themselves_only(self) -> None:
        one, other = mainmatter.clean(PAGE), mainmatter.clean(PAGE)
        assert one == one
        assert one != other
        assert one.document != other.document
        assert len({one, other, one.document, other.document, one}) == 4

    def test_an_extraction_is_true_though_nothing_was_kept(self) -> None:
        found = mainmatter.clean("")
        assert len(found) == 0
        assert bool(found) is True

    def test_all_are_frozen(self) -> None:
        found = mainmatter.clean(PAGE)
        records: list[Page | Block | Document | Extraction | Metadata] = [
            found,
            found.document,
            found.document.page,
            found.document.blocks[0],
            found.metadata,
        ]
        for record in records:
            with pytest.raises(FrozenInstanceError):
                setattr(record, next(iter(record.__dataclass_fields__)), None)

    def test_reasons_can_be_sliced(self) -> None:
        reasons = mainmatter.clean(PAGE, method="ice-heuristic").reasons
        assert list(reasons[1:3]) == [reasons[1], reasons[2]]
        assert reasons[-1] == "too few characters to be anything"


def everything(found: Extraction) -> list[object]:
    """All that can be known of an extraction."""
    return [
        found.document.page,
        found.document.encoding,
        found.document.columns,
        found.document.blocks,
        found.metadata,
        found.method,
        found.scores.tolist(),
        found.kept.tolist(),
        list(found.kinds),
        list(found.reasons),
        found.page_type,
        found.confidence,
        found.labels,
        *(found.render(name) for name in sorted(FORMATS)),
    ]


@pytest.mark.parametrize("method", mainmatter.method_names())
@pytest.mark.parametrize("page", [Page(PAGE.encode(), "https://e.example/", "one"), Page("# a\n\nb", format="text")])
def test_an_extraction_can_be_pickled(page: Page, method: str) -> None:
    found = mainmatter.clean(page, method=method)
    assert everything(pickle.loads(pickle.dumps(found))) == everything(found)
    # Also after its heavy parts were made.
    assert everything(pickle.loads(pickle.dumps(found))) == everything(found)


def test_a_document_can_be_pickled() -> None:
    document = mainmatter.read(Page(PAGE))
    other: Document = pickle.loads(pickle.dumps(document))
    assert (other.page, other.columns, other.encoding) == (document.page, document.columns, document.encoding)
    assert (other.blocks, other.metadata) == (document.blocks, document.metadata)


def write_title(extraction: Extraction) -> tuple[int, str | None]:
    """In whatever process it is; some pages are wicked."""
    number = int(extraction.document.page.id or -1)
    if number == 3:
        raise ValueError("no title")
    if number == 7 and os.getpid() != int(os.environ["MAIN_PROCESS"]):
        os._exit(1)
    return number, extraction.title


PAGES = [
    Page(f"<title>Page {n}</title><h1>Heading {n}</h1><p>{LONG}</p><p>{n}", f"https://e.example/{n}", f"page-{n}")
    for n in range(30)
]


class TestCleanMany:
    @pytest.mark.parametrize("method", ["density", "main"])
    @pytest.mark.parametrize("workers", [1, 2])
    def test_each_page_gives_what_it_gives_alone(self, workers: int, method: str) -> None:
        results = list(mainmatter.clean_many(PAGES, workers=workers, method=method))
        assert len(results) == len(PAGES)
        for page, result in zip(PAGES, results, strict=True):
            assert isinstance(result, Extraction)
            assert result.document.page is page
            assert everything(result) == everything(mainmatter.clean(page, method=method))

    def test_the_bytes_of_a_page_go_beside_the_pickle(self) -> None:
        html = b"<p>" * 10_000
        for page in (Page(html, "https://e.example/", "id", "utf-8", "text", lines_are_blocks=True), Page("<p>text")):
            beside: list[pickle.PickleBuffer] = []
            pickled = pickle.dumps(_Sent(page), 5, buffer_callback=beside.append)
            assert pickle.loads(pickled, buffers=[html]).page == page
            assert len(pickled) < 300
            assert len(beside) == isinstance(page.html, bytes)

    @pytest.mark.parametrize("name", sorted(FORMATS))
    @pytest.mark.parametrize("workers", [1, 2])
    def test_in_a_format_each_page_gives_what_it_gives_alone(self, workers: int, name: str) -> None:
        results = list(mainmatter.clean_many(PAGES[:9], workers=workers, format=name))
        assert results == [mainmatter.clean(page).render(name) for page in PAGES[:9]]
        assert {type(result) for result in results} == {str}

    def test_a_function_of_each_extraction_runs_where_it_was_cleaned(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MAIN_PROCESS", str(os.getpid()))
        pages = [Page(f"<title>The title {n}</title><h1>The title {n}</h1><p>{LONG}", id=str(n)) for n in range(20)]
        alone = list(mainmatter.clean_many(pages, format=write_title))
        together = list(mainmatter.clean_many(pages, workers=2, format=write_title))
        assert alone[7] == (7, "The title 7")
        assert together[7] == Failure(pages[7], "the process that worked on it died")
        assert alone[3] == Failure(pages[3], "ValueError: no title")
        assert alone[:7] + alone[8:] == together[:7] + together[8:]

    @pytest.mark.parametrize("workers", [1, 2])
    def test_of_a_page_that_fails_there_is_no_text(self, workers: int) -> None:
        pages = [Page("<p>short"), Page("x" * 200, id="large"), Page("<p>end")]
        first, second, third = mainmatter.clean_many(
            pages, workers=workers, limits=Limits(size=100), method="ice-baseline", format="text"
        )
        assert (first, third) == ("short", "end")
        assert isinstance(second, Failure)
        assert second.item is pages[1]

    @pytest.mark.parametrize("workers", [1, 2])
    def test_pages_of_all_sorts(self, workers: int) -> None:
        pages: list[str | bytes | Page] = [
            f"<p>{LONG}",
            f"<p>{LONG}".encode(),
            Page(f"# Title\n\n{LONG}", format="text"),
            "",
            b"\xff\xfe",
        ]
        results = mainmatter.clean_many(pages, workers=workers, method="ice-heuristic")
        texts = [result.text for result in results if isinstance(result, Extraction)]
        assert texts == [LONG, LONG, f"Title\n\n{LONG}", "", ""]

    @pytest.mark.parametrize("workers", [1, 2])
    def test_a_page_that_is_too_large_is_a_failure_in_its_place(self, workers: int) -> None:
        pages = [Page("<p>short"), Page("x" * 200, id="large"), Page("<p>end")]
        first, second, third = mainmatter.clean_many(
            pages, workers=workers, limits=Limits(size=100), method="ice-baseline"
        )
        assert isinstance(first, Extraction)
        assert isinstance(third, Extraction)
        assert (first.text, third.text) == ("short", "end")
        assert isinstance(second, Failure)
        assert second.item == pages[1]
        assert second.error.startswith("PageTooLarge: large has more than 100 bytes; ")

    @pytest.mark.parametrize("workers", [1, 2])
    def test_what_is_no_page_is_a_failure_in_its_place(self, workers: int) -> None:
        pages = [Page("<p>short"), Page(b"\x89PNG\r\n\x1a\n", id="map.png"), Page(random.Random(1).randbytes(99))]
        first, *others = mainmatter.clean_many(pages, workers=workers, method="ice-baseline")
        assert isinstance(first, Extraction)
        errors = [other.error for other in others if isinstance(other, Failure)]
        advice = "give HTML, or a plain-text dump of a page"
        assert errors == [
            f"NotAPage: map.png: is a PNG picture, not a web page; {advice}",
            f"NotAPage: the page is neither HTML nor text, not a web page; {advice}",
        ]

    @pytest.mark.parametrize("workers", [1, 2])
    def test_parameters_reach_the_method(self, workers: int) -> None:
        (result,) = mainmatter.clean_many(
            [PAGE], workers=workers, method="ice-heuristic", parameters={"min_words": 100}
        )
        assert isinstance(result, Extraction)
        assert result.text == ""

    @pytest.mark.parametrize("workers", [1, 2])
    def test_a_method_as_an_object(self, workers: int) -> None:
        results = mainmatter.clean_many(PAGES, workers=workers, method=Density(c1=0, c2=100))
        for page, result in zip(PAGES, results, strict=True):
            assert isinstance(result, Extraction)
            assert everything(result) == everything(mainmatter.clean(page, method="density:c1=0,c2=100"))

    @pytest.mark.parametrize("workers", [1, 2])
    def test_pages_that_cannot_be_read_further(self, workers: int) -> None:
        def pages() -> Iterator[Page]:
            yield from PAGES
            raise OSError("disk")

        results = mainmatter.clean_many(pages(), workers=workers)
        found = [result.document.page for result in islice(results, len(PAGES)) if isinstance(result, Extraction)]
        assert found == PAGES
        with pytest.raises(OSError, match="disk"):
            next(results)

    def test_a_wrong_name_is_told_at_once(self) -> None:
        with pytest.raises(InputError):
            mainmatter.clean_many([], method=Density(), parameters={"c1": 0.1})
        with pytest.raises(UnknownName):
            mainmatter.clean_many([], method="magic")
        with pytest.raises(InputError):
            mainmatter.clean_many([], parameters={"magic": True})

    @pytest.mark.parametrize("workers", [1, 2])
    def test_the_pages_may_be_endless(self, workers: int) -> None:
        def pages() -> Iterator[str]:
            for n in count():
                yield f"<p>{n}"

        results = mainmatter.clean_many(pages(), workers=workers, method="ice-baseline")
        texts = [result.text for result in islice(results, 50) if isinstance(result, Extraction)]
        assert texts == [str(n) for n in range(50)]

    def test_no_pages(self) -> None:
        assert list(mainmatter.clean_many([], workers=2)) == []


def test_kinds_are_words() -> None:
    assert [str(kind) for kind in Kind] == "heading paragraph list-item table-row code quote caption".split()


def test_a_model_may_be_given_as_a_path(tmp_path: Path) -> None:
    path = tmp_path / "model"
    mainmatter.get_method("ice-lm").save(path)  # type: ignore[attr-defined]
    page = "<title>Foxes</title><h1>Foxes</h1><p>Foxes are quick, and foxes are brown.</p>"
    assert mainmatter.clean(page, method=path).text == mainmatter.clean(page, method="ice-lm").text
    with pytest.raises(ModelError, match="not a model"):
        mainmatter.clean(page, method=tmp_path)


def test_methods_are_made_once_but_checked_each_time() -> None:
    assert mainmatter.clean("<p>x", method="ice-lm", parameters={"keywords": True}).text == "x"
    with pytest.raises(InputError, match="keywords must be True or False, not 1"):
        mainmatter.clean("<p>x", method="ice-lm", parameters={"keywords": 1})
