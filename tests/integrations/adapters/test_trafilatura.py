"""The functions for those who switch from trafilatura: the same calls through both libraries."""

from __future__ import annotations

import csv
import inspect
import io
import json
import warnings
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

import mainmatter
from mainmatter.corpus.adapters import trafilatura as ours
from mainmatter.errors import UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

theirs = pytest.importorskip("trafilatura", reason="trafilatura is not installed")

from lxml import html as lxml_html  # type: ignore[import-untyped]
from trafilatura.settings import Extractor

FORMATS = ("csv", "html", "json", "markdown", "txt", "xml", "xmltei")
LENS = "https://harbourlamp.example/blog/lens.html"
GARDEN = "https://harbourlamp.example/blog/keepers-garden.html"


@pytest.fixture(autouse=True)
def not_warned_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ours, "_warned", set())


def both(*arguments: Any, **options: Any) -> tuple[Any, Any]:
    return theirs.extract(*arguments, **options), ours.extract(*arguments, **options)


@pytest.mark.parametrize("name", ["extract", "extract_with_metadata", "bare_extraction"])
def test_signatures_are_the_same(name: str) -> None:
    def parameters(module: Any) -> list[tuple[str, Any, Any]]:
        found = inspect.signature(getattr(module, name)).parameters.values()
        return [(one.name, one.kind, None if one.name == "config" else one.default) for one in found]

    assert parameters(ours) == parameters(theirs)


@pytest.mark.parametrize("with_metadata", [False, True])
@pytest.mark.parametrize("output_format", FORMATS)
def test_all_formats_of_all_pages(pages: dict[str, bytes], output_format: str, with_metadata: bool) -> None:
    for url, page in pages.items():
        pair = both(page, url=url, record_id="7", output_format=output_format, with_metadata=with_metadata)
        assert [type(one) for one in pair] == [str, str]
        shape_of_theirs, shape_of_ours = (shape(one, output_format) for one in pair)
        assert shape_of_ours == shape_of_theirs, url


def shape(text: str, output_format: str) -> Any:
    """What a program that reads the format relies on."""
    if output_format == "json":
        return {name: type(value) for name, value in json.loads(text).items() if name not in _NOT_OURS}
    if output_format == "csv":
        (row,) = csv.reader(io.StringIO(text), delimiter="\t")
        return [len(row), row[1], row[4]]
    if output_format in ("xml", "xmltei"):
        root = ET.fromstring(text)
        known = {name: value for name, value in root.attrib.items() if name not in _NOT_OURS}
        return [root.tag, [child.tag for child in root], known]
    if output_format == "html":
        root = lxml_html.document_fromstring(text)
        metas = {meta.get("name"): meta.get("content") for meta in root.iterfind(".//meta[@name]")}
        return [root.tag, bool(root.findall(".//h1")), {n: v for n, v in metas.items() if n not in _NOT_OURS}]
    header = text.partition("\n---\n")[0] if text.startswith("---\n") else ""
    names = [line.partition(":")[0] for line in header.splitlines()]
    return [name for name in names if name not in _NOT_OURS]


# What we do not look for, or trafilatura guesses on some pages.
_NOT_OURS = {"fingerprint", "date", "filedate", "language", "pagetype", "image", "author", "categories", "tags"}


def test_objects_have_the_same_fields(pages: dict[str, bytes]) -> None:
    a, b = (module.bare_extraction(pages[LENS], with_metadata=True) for module in (theirs, ours))
    assert list(b.as_dict()) == list(a.as_dict())
    same = ("title", "author", "url", "hostname", "description", "sitename", "date", "id", "license", "comments")
    assert [getattr(b, name) for name in same] == [getattr(a, name) for name in same]
    assert b.text == b.raw_text == mainmatter.clean(pages[LENS]).text
    assert ours.bare_extraction(pages[LENS], as_dict=True) == ours.bare_extraction(pages[LENS]).as_dict()  # type: ignore[union-attr]
    document = ours.extract_with_metadata(pages[LENS], output_format="markdown")
    assert document is not None
    assert document.title == "Grinding a lens by hand"
    assert document.text == ours.extract(pages[LENS], output_format="markdown", with_metadata=True)


@pytest.mark.parametrize("content", ["", b"", None, 5, [], "<html></html>", "<p></p>", b"<nav></nav>"])
def test_none_where_trafilatura_gives_none(content: Any) -> None:
    assert both(content) == (None, None)


def test_pages_may_be_given_in_all_ways(pages: dict[str, bytes]) -> None:
    class Response:
        data = pages[LENS]

    tree = lxml_html.document_fromstring(pages[LENS])
    expected = ours.extract(pages[LENS])
    assert ours.extract(pages[LENS].decode()) == ours.extract(Response()) == ours.extract(tree) == expected


def test_filters(pages: dict[str, bytes]) -> None:
    shop = pages["https://harbourlamp.example/shop/storm-lantern.html"]
    for options in ({"target_language": "de"}, {"url_blacklist": {LENS}}):
        assert both(pages[LENS], **options) == (None, None)
    assert all(both(pages[LENS], target_language="en"))
    assert all(both(pages[LENS], only_with_metadata=True))
    assert ours.extract(shop, only_with_metadata=True) is None  # it has no date
    record = json.loads(ours.extract(pages[LENS], output_format="json", author_blacklist={"Inês Carvalho"}) or "")
    assert record["author"] is None


def test_precision_and_recall(pages: dict[str, bytes]) -> None:
    for page in pages.values():
        sizes = [len(ours.extract(page, favor_precision=p, favor_recall=r) or "") for p, r in _FOCUS]
        assert sizes == sorted(sizes)
        assert ours.extract(page, favor_recall=True, include_comments=False) == mainmatter.clean(page, dial=0.7).text
        assert ours.extract(page, favor_precision=True, favor_recall=True) == ours.extract(page, favor_recall=True)


_FOCUS = ((True, False), (False, False), (False, True))


def test_comments(pages: dict[str, bytes]) -> None:
    kept = mainmatter.clean(pages[GARDEN], comments="mark").render("text", only="comment")
    assert kept
    with_them, without = (ours.extract(pages[GARDEN], include_comments=wanted) for wanted in (True, False))
    assert with_them == f"{without}\n{kept}"
    assert json.loads(ours.extract(pages[GARDEN], output_format="json") or "")["comments"] == kept
    xml = ET.fromstring(ours.extract(pages[GARDEN], output_format="xml") or "")
    assert len(xml.find("comments") or ()) > 0
    assert kept not in (ours.extract(pages[GARDEN], output_format="csv", include_comments=False) or "")


def test_what_to_include() -> None:
    page = """<article><h1>Tides</h1>
    <p>The <b>tide</b> comes in twice a day, and it goes out <a href="/out?a=1&gt;2">twice a day</a>, so they say.</p>
    <p>The pier is under water then, and so are the steps, and so is the lowest shelf of the shop behind it.</p>
    <p><img src="/pier.jpg" alt="The pier"></p>
    <table><tr><th>High water</th><td>six in the morning</td></tr><tr><th>Low water</th><td>noon</td></tr></table>"""
    url = "https://tides.example/"
    assert "**tide**" in (ours.extract(page, include_formatting=True) or "")
    assert "](https://tides.example/out?a=1" in (ours.extract(page, url=url, include_links=True) or "")
    assert "noon" not in (ours.extract(page, include_tables=False) or "")
    for wanted in (True, False):
        markdown = ours.extract(page, url=url, output_format="markdown", include_links=wanted) or ""
        assert ("](http" in markdown) is wanted
        html = ours.extract(page, url=url, output_format="html", include_links=wanted) or ""
        assert ("<a " in html, "</a>" in html) == (wanted, wanted)
        assert "twice a day" in html
        image = ours.extract(page, url=url, output_format="markdown", include_images=wanted) or ""
        assert ("pier.jpg" in image) is wanted
    assert "**" not in (ours.extract(page, output_format="markdown", include_formatting=False) or "")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("deduplicate", True),
        ("date_extraction_params", {"original_date": True}),
        ("max_tree_size", 100),
        ("settingsfile", "settings.cfg"),
        ("config", theirs.settings.DEFAULT_CONFIG),
        ("prune_xpath", "//p"),
    ],
)
def test_what_is_not_honoured_is_warned_about_once(option: str, value: Any) -> None:
    arguments: dict[str, Any] = {option: value}
    with pytest.warns(ours.NotHonoured, match=f"^{option} is not honoured by mainmatter: ") as caught:
        ours.extract("<p>words</p>", **arguments)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours.extract("<p>words</p>", **arguments)
        ours.extract("<p>words</p>", fast=True, no_fallback=True, tei_validation=True)


@pytest.mark.parametrize("option", ["include_links", "include_images", "include_formatting"])
def test_xml_has_no_markup_inside_of_paragraphs(option: str) -> None:
    with pytest.warns(ours.NotHonoured, match=option) as caught:
        ours.extract("<p>words</p>", output_format="xml", **{option: True})  # type: ignore[arg-type]
    assert caught[0].filename == __file__


def test_an_extractor_gives_the_options(pages: dict[str, bytes]) -> None:
    options = Extractor(output_format="json", precision=True, comments=False, with_metadata=True, url=LENS)
    arguments: dict[str, Any] = {"output_format": "json", "with_metadata": True, "include_comments": False}
    assert ours.extract(pages[LENS], options=options) == ours.extract(
        pages[LENS], url=LENS, favor_precision=True, **arguments
    )
    with pytest.warns(ours.NotHonoured, match="deduplicate"):
        ours.extract(pages[LENS], options=Extractor(dedup=True))
    with pytest.raises(mainmatter.InputError, match="not an Extractor of trafilatura 2"):
        ours.extract(pages[LENS], options=object())


def test_an_unknown_format_is_named() -> None:
    with pytest.raises(UnknownName, match="unknown format 'docx'"):
        ours.extract("<p>words</p>", output_format="docx")
    with pytest.raises(UnknownName, match="unknown format 'python'"):
        ours.extract("<p>words</p>", output_format="python")


def test_a_page_that_is_too_large_gives_none(caplog: pytest.LogCaptureFixture) -> None:
    assert ours.extract("x" * 50_000_001, url="https://x.example/") is None
    assert "https://x.example/: PageTooLarge" in caplog.text


def test_xml_is_well_formed_whatever_the_title_holds() -> None:
    page = "<title>A\x01 &lt;b&gt; \ufffe</title><p>The tide comes in twice a day, and goes out twice a day.</p>"
    for output_format in ("xml", "xmltei"):
        ET.fromstring(ours.extract(page, output_format=output_format, with_metadata=True) or "")


def test_the_program(tmp_path: Path, pages: dict[str, bytes], program: Callable[[str], str], monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.html").write_bytes(pages[LENS])
    names: dict[str, Any] = {}
    exec(program("trafilatura"), names)
    assert names["text"] == mainmatter.clean(pages[LENS], dial=0.3).text
    assert json.loads(names["record"])["title"] == "Grinding a lens by hand"
