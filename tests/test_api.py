"""The API that users guess: options, Cleaner, files and URLs, and what an Extraction offers."""

from __future__ import annotations

import copy
import inspect
import json
import os
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from io import BytesIO
from os import PathLike
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, assert_type, get_type_hints

import pytest

import mainmatter
from mainmatter import Cleaner, Extraction, Failure, FetchError, InputError, Limits, Page, PageTooLarge
from mainmatter.api import CleanOptions, PageLike
from mainmatter.errors import NotAPage, UnknownName
from mainmatter.main.choice import Controls
from mainmatter.main.method import Main
from mainmatter.method import Method
from mainmatter.papers.density.method import Density
from mainmatter.records import Columns, Document
from mainmatter.registry import FORMATS, get_format
from small_web import serve

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = "The keeper wrote down every ship that passed the rock, and every night on which none did."
PAGE = f"<title>Log</title><nav>Home</nav><h1>The log</h1><p>{LONG}</p><p>{LONG} <a href=/x>More</a></p><p>Bye"
EXAMPLE = Path(__file__).parents[1] / "examples/site/blog/keepers-garden.html"

FUNCTIONS: list[Callable[..., Any]] = [
    mainmatter.clean,
    mainmatter.clean_many,
    mainmatter.clean_file,
    mainmatter.clean_url,
    Cleaner,
]
# Parameters of main that are for measuring and training.
FOR_THE_LAB = {"convention", "without", "epochs", "seed", "start", "freeze"}


class TestOptions:
    @pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
    def test_help_names_every_option_and_says_what_it_means(self, function: Callable[..., Any]) -> None:
        known = inspect.signature(function).parameters
        assert list(known)[-len(CleanOptions.__annotations__) :] == list(CleanOptions.__annotations__)
        assert (known["method"].default, known["limits"].default) == ("main", Limits())
        assert known["dial"].annotation == "float | None"
        said = function.__init__.__doc__ if function is Cleaner else function.__doc__
        assert said is not None
        for name in CleanOptions.__annotations__:
            assert re.search(rf"^    {name}: \S", said, re.MULTILINE), name

    def test_they_are_those_of_main(self) -> None:
        names = {"Method": Method, "PathLike": PathLike}
        types = get_type_hints(CleanOptions, localns=names)
        own = list(types)[:4]
        assert own == ["method", "parameters", "limits", "isolated"]
        of_main = {field.name: field for field in fields(Main) if field.init and field.name not in FOR_THE_LAB}
        assert list(types)[4:] == list(of_main)
        assert list(of_main)[:-1] == [field.name for field in fields(Controls)]
        for name, type_of_main in get_type_hints(Main).items():
            if name in of_main:
                assert types[name] == type_of_main | None

    def test_the_defaults_that_are_told_are_those_of_main(self) -> None:
        said = inspect.cleandoc(CleanOptions.__doc__ or "")
        for field in fields(Main):
            if field.name in CleanOptions.__annotations__:
                line = re.search(rf"^    {field.name}: .*", said, re.MULTILINE)
                assert line is not None
                value = {"drop": '"drop" (default)', 0.5: "0.5, the default", "": 'default ""'}.get(field.default)
                assert (value or f"default {field.default}") in line[0]

    @pytest.mark.parametrize("function", [mainmatter.clean, mainmatter.clean_file, lambda _, **given: Cleaner(**given)])
    def test_a_misspelt_one(self, function: Callable[..., Any]) -> None:
        with pytest.raises(InputError, match=r"method 'main' has no parameter 'dail'; did you mean 'dial'\?"):
            function(EXAMPLE, dail=0.2)

    def test_type_checkers_know_them(self) -> None:
        # In strict mode mypy complains about ignored errors that are none.
        with pytest.raises(InputError):
            mainmatter.clean(PAGE, dail=0.2)  # type: ignore[call-arg]
        with pytest.raises(InputError):
            mainmatter.clean_many([PAGE], dail=0.2)  # type: ignore[call-overload]
        with pytest.raises(InputError):
            Cleaner(dail=0.2)  # type: ignore[call-arg]
        with pytest.raises(InputError):
            mainmatter.clean(PAGE, comments="dorp")  # type: ignore[arg-type]
        found = mainmatter.clean(PAGE, dial=0.2, comments="mark", tables=False)
        assert_type(found.markdown, str)
        assert_type(found.title, str | None)
        assert_type(next(mainmatter.clean_many([PAGE])), Extraction | Failure[Page])
        assert_type(next(Cleaner().clean_many([PAGE], format="text")), str | Failure[Page])
        assert_type(next(mainmatter.clean_many([PAGE], format=len)), int | Failure[Page])

    def test_none_is_what_the_method_has(self) -> None:
        assert mainmatter.clean(PAGE, dial=None, parameters=None).text == mainmatter.clean(PAGE).text
        assert Cleaner(method="main:dial=0.3", dial=None).method.dial == 0.3  # type: ignore[attr-defined]
        assert Cleaner(method="main:dial=0.3", dial=0.4).method.dial == 0.4  # type: ignore[attr-defined]

    def test_parameters_of_any_method(self) -> None:
        expected = Density(c1=0.1, c2=4)
        assert Cleaner(method="density", parameters={"c1": 0.1, "c2": 4}).method == expected
        assert Cleaner(method="density:c1=0.1,c2=4").method == expected
        assert Cleaner(parameters={"convention": "wcxb", "dial": 0.3}).method.convention == "wcxb"  # type: ignore[attr-defined]

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"method": "density", "dial": 0.2}, "method 'density' has no parameter 'dial'; it has: c1"),
            (
                {"method": "density", "c1": 0.2},
                "c1 is not an option but a parameter of the method: write parameters={'c1': 0.2}",
            ),
            ({"dial": 0.2, "parameters": {"dial": 0.3}}, "dial is given twice: as 0.2, and in parameters as 0.3"),
            ({"parameters": "dial=0.3"}, "parameters must be a mapping, as in parameters={'c1': 0.25}, not 'dial=0.3'"),
            ({"limits": 1000}, "limits must be a Limits, as in limits=Limits(size=1_000_000), not 1000"),
            ({"dial": 2}, "dial must be from 0"),
            ({"comments": True}, "comments must be drop, keep or mark, not True"),
            (
                {"method": 3},
                "a method must be a name, the folder of a model, or an object with a method `extract`, not 3",
            ),
        ],
    )
    def test_what_makes_no_sense(self, options: dict[str, Any], words: str) -> None:
        with pytest.raises(InputError, match=re.escape(words)):
            Cleaner(**options)

    def test_a_method_that_is_nearly_right(self) -> None:
        with pytest.raises(UnknownName, match=r"unknown method 'Desnity'; did you mean 'density'\?"):
            Cleaner(method="Desnity")


class TestWhatIsAPage:
    @pytest.mark.parametrize(
        "text",
        ["page.html", " site/Page.HTM\n", "a.xhtml", "/x/y.html.gz", "dump.txt", "C:\\a.html", "x" * 4091 + ".html"],
    )
    def test_the_name_of_a_file_is_refused(self, text: str) -> None:
        for given in (text, text.encode()):
            with pytest.raises(InputError, match=r"is a file name, not a page; .* mainmatter\.clean_file"):
                mainmatter.clean(given)

    @pytest.mark.parametrize(
        "text",
        [
            "https://e.example/",
            "HTTP://e.example/a.html\n",
            " http://e.example/?a=<b "[:-4],
            "https://e.example/a b",
            "www.e.example/foo",
        ],
    )
    def test_a_url_is_refused(self, text: str) -> None:
        for given in (text, text.encode()):
            with pytest.raises(InputError, match=r"is a URL, not a page; .* mainmatter\.clean_url"):
                mainmatter.clean(given)

    def test_a_file_that_is_there_is_refused_whatever_its_name(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("saved page").write_text(PAGE)
        Path("folder").mkdir()
        with pytest.raises(InputError, match="saved page: is a file name"):
            mainmatter.clean("saved page")
        assert mainmatter.clean("another page", method="ice-baseline").text == "another page"
        assert mainmatter.clean("folder", method="ice-baseline").text == "folder"  # a word as any other

    @pytest.mark.parametrize("is_bytes", [False, True])
    def test_a_folder_that_is_there_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_bytes: bool
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("site/blog").mkdir(parents=True)
        for name in ("site/blog", "site/", str(tmp_path)):
            with pytest.raises(InputError, match=f"{name}: is a folder name, .* with mainmatter.clean_many"):
                mainmatter.clean(name.encode() if is_bytes else name)
        assert mainmatter.clean("and/or", method="ice-baseline").text == "and/or"

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "Hello",
            "www.",
            "www.e is not www.e.example",
            "Read page.html",
            "See https://e.example/ for more",
            "https://e.example/\nhttps://e.example/2",
            "page.html\nother.html",
            "<p>page.html",
            "x" * (4096 - 4) + ".html",
            "https://e.example/" + "x" * 4096,
        ],
    )
    def test_other_texts_are_pages(self, text: str) -> None:
        assert mainmatter.clean(text, method="ice-baseline").text.split() == text.removeprefix("<p>").split()

    @pytest.mark.parametrize("text", ["x" * 4097, "one line\nanother", "<p>short"])
    def test_long_texts_and_markup_are_not_looked_up(self, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(name: object) -> bool:
            raise AssertionError(f"looked for {name}")

        monkeypatch.setattr(os.path, "isfile", refuse)
        monkeypatch.setattr(os.path, "isdir", refuse)
        assert mainmatter.clean(text, method="ice-baseline").text
        assert mainmatter.clean(text.encode(), method="ice-baseline").text
        with pytest.raises(AssertionError, match="looked for one line"):
            mainmatter.clean("one line")

    def test_a_page_may_hold_any_text(self) -> None:
        assert mainmatter.clean(Page("page.html"), method="ice-baseline").text == "page.html"
        assert mainmatter.clean(Page(b"https://e.example/"), method="ice-baseline").text == "https://e.example/"
        assert mainmatter.clean("Grüße".encode("latin-1"), method="ice-baseline").text == "Grüße"

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (None, "a page must be str, bytes, a Path or a mainmatter.Page, not NoneType"),
            (["<p>"], "not list"),
            (SimpleNamespace(content=b"<p>", read=None), "not SimpleNamespace; pass its content"),
        ],
    )
    def test_what_is_none(self, given: Any, words: str) -> None:
        with pytest.raises(InputError, match=words):
            mainmatter.clean(given)

    def test_an_open_file_is_none(self) -> None:
        with (
            EXAMPLE.open() as file,
            pytest.raises(InputError, match=r"not TextIOWrapper; pass its read\(\)"),
        ):
            mainmatter.clean(file)  # type: ignore[arg-type]

    @pytest.mark.parametrize("page", [PAGE, PAGE.encode(), Page(PAGE), EXAMPLE])
    def test_a_url_that_is_no_text(self, page: Any) -> None:
        with pytest.raises(InputError, match=r"url must be a string, such as 'https://e\.example/', not PosixPath"):
            mainmatter.clean(page, url=Path("x"))  # type: ignore[arg-type]

    @pytest.mark.parametrize("workers", [0, -1, True, None, 1.5])
    def test_a_number_of_workers_that_makes_no_sense(self, workers: Any) -> None:
        with pytest.raises(InputError, match=f"workers is {workers}; it must be a whole number, 1 or more"):
            mainmatter.clean_many([PAGE], workers=workers)

    def test_a_format_that_is_none(self) -> None:
        with pytest.raises(UnknownName, match=r"did you mean 'markdown'\?"):
            mainmatter.clean_many([PAGE], format="markdwn")
        with pytest.raises(
            InputError, match="format must be a name, such as 'markdown', or a function of an Extraction"
        ):
            mainmatter.clean_many([PAGE], format=["text"])  # type: ignore[call-overload]

    @pytest.mark.parametrize("workers", [1, 2])
    def test_of_many_pages_each_in_its_place(self, workers: int) -> None:
        pages: list[PageLike] = [
            PAGE,
            "page.html",
            EXAMPLE,
            Path("nowhere.html"),
            "https://e.example/",
            Page("<p>end"),
        ]
        results = list(mainmatter.clean_many(pages, workers=workers, method="ice-baseline"))
        told = [result.error if isinstance(result, Failure) else result.text.split()[-1] for result in results]
        assert [words[:40] for words in told] == [
            "Bye",
            "InputError: page.html: is a file name, n",
            told[2],
            "InputError: nowhere.html: cannot be read",
            "InputError: https://e.example/: is a URL",
            "end",
        ]
        assert [result.item for result in results if isinstance(result, Failure)] == [
            Page("page.html"),
            Page("", id="nowhere.html"),
            Page("https://e.example/"),
        ]

    @pytest.mark.parametrize("page", [PAGE, PAGE.encode(), Page(PAGE), EXAMPLE])
    def test_one_page_is_not_many(self, page: Any) -> None:
        with pytest.raises(InputError, match="this is a single page"):
            mainmatter.clean_many(page)


class TestFilesAndUrls:
    def test_a_file(self, tmp_path: Path) -> None:
        expected = mainmatter.clean(EXAMPLE.read_bytes(), url="https://e.example/").json
        for found in (
            mainmatter.clean_file(EXAMPLE, url="https://e.example/"),
            mainmatter.clean_file(str(EXAMPLE), url="https://e.example/"),
            mainmatter.clean(EXAMPLE, url="https://e.example/"),
        ):
            assert found.document.page.id == str(EXAMPLE)
            assert (
                replace(found, document=replace(found.document, page=replace(found.document.page, id=None))).json
                == expected
            )
        dump = tmp_path / "dump.txt"
        dump.write_text("a <b> c")
        assert mainmatter.clean_file(dump, method="ice-baseline").text == "a <b> c"

    @pytest.mark.parametrize(
        ("path", "error", "words"),
        [
            ("nowhere.html", InputError, "nowhere.html: cannot be read: No such file or directory"),
            ("nul\0l.html", InputError, "cannot be read: embedded null"),
            (str(EXAMPLE.parent), InputError, "cannot be read: Is a directory"),
            ("https://e.example/", InputError, "is a URL, not a page"),
        ],
    )
    def test_a_file_that_cannot_be_read(self, path: str, error: type[Exception], words: str) -> None:
        with pytest.raises(error, match=words):
            mainmatter.clean_file(path)

    @pytest.mark.parametrize(
        ("path", "words"),
        [
            (PAGE, "this is a page, not a file name; pass it to mainmatter.clean"),
            (PAGE * 100, "this is a page, not a file name; pass it to mainmatter.clean"),
            (PAGE.encode(), "must be str or a Path, not bytes; to clean a page itself, use mainmatter.clean"),
            (Page(PAGE), "must be str or a Path, not Page; to clean a page itself, use mainmatter.clean"),
            (
                BytesIO(b""),
                "must be str or a Path, not BytesIO; to clean an open file, pass its read",
            ),
            (None, "a file name must be str or a Path, not NoneType"),
        ],
    )
    def test_what_is_no_name_of_a_file(self, path: Any, words: str) -> None:
        with pytest.raises(InputError, match=words):
            mainmatter.clean_file(path)

    def test_warnings_point_at_the_caller(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fetch(url: str, **_: object) -> Page:
            return Page("<div id=root></div><script src=/app.js></script>", url)

        monkeypatch.setattr("mainmatter.inputs.fetch.fetch", fetch)
        url, cleaner = "https://e.example/", Cleaner()
        calls: list[Callable[[], object]] = [
            lambda: mainmatter.clean_url(url),
            lambda: cleaner.clean_url(url),
        ]
        for call in calls:
            with pytest.warns(mainmatter.PageWarning, match="shows almost no text without its scripts") as warned:
                call()
            assert [warning.filename for warning in warned] == [__file__]

    def test_limits_hold_for_files(self, tmp_path: Path) -> None:
        with pytest.raises(PageTooLarge):
            mainmatter.clean_file(EXAMPLE, limits=Limits(size=100))
        picture = tmp_path / "a.html"
        picture.write_bytes(b"\x89PNG\r\n\x1a\n")
        with pytest.raises(NotAPage, match="PNG"):
            mainmatter.clean_file(picture)

    def test_a_url(self) -> None:
        with serve({"/log": ("text/html", PAGE.encode())}) as address:
            url = f"{address}/log"
            extraction = mainmatter.clean_url(url, public_only=False, dial=1)
            assert extraction.json == mainmatter.clean(Page(PAGE.encode(), url, url), dial=1).json
            with pytest.raises(FetchError, match="404"):
                mainmatter.clean_url(f"{address}/none", public_only=False)
            with pytest.raises(FetchError, match=r"is not fetched: .* a loopback address.*public_only=False"):
                mainmatter.clean_url(url)
            with pytest.raises(PageTooLarge):
                mainmatter.clean_url(url, public_only=False, limits=Limits(size=10))

    @pytest.mark.parametrize("url", ["page.html", "e.example", "ftp://e.example/", "", None])
    def test_what_is_no_url(self, url: Any) -> None:
        with pytest.raises(
            InputError, match=r"is not a URL that begins with http:// or https://; for a file, use clean_file"
        ):
            mainmatter.clean_url(url)

    @pytest.mark.parametrize("browser", [False, True])
    def test_a_browser_may_fetch_it(self, browser: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[object] = []

        def fetch(url: str, **settings: object) -> Page:
            asked.append(settings)
            return Page(PAGE, url)

        name = "browser.fetch_with_browser" if browser else "fetch.fetch"
        monkeypatch.setattr(f"mainmatter.inputs.{name}", fetch)
        assert mainmatter.clean_url("https://e.example/", browser=browser).title == "The log"
        mainmatter.clean_url(
            "https://e.example/", browser=browser, timeout=3, public_only=False, limits=Limits(size=500)
        )
        assert asked == [
            {"limits": Limits(), "public_only": True},
            {"limits": Limits(size=500), "timeout": 3, "public_only": False},
        ]


class TestCleaner:
    def test_it_does_what_the_functions_do(self) -> None:
        cleaner = Cleaner(dial=0.8, headline=False)
        expected = mainmatter.clean(PAGE, url="https://e.example/", dial=0.8, headline=False)
        assert cleaner.clean(PAGE, url="https://e.example/").json == expected.json
        assert [result.text for result in cleaner.clean_many([PAGE]) if isinstance(result, Extraction)] == [
            expected.text
        ]
        assert cleaner.clean_file(EXAMPLE).text == mainmatter.clean_file(EXAMPLE, dial=0.8, headline=False).text

    def test_every_function_is_a_method_with_the_same_arguments(self) -> None:
        for function in FUNCTIONS[:-1]:
            method = getattr(Cleaner, function.__name__)
            own = list(inspect.signature(function).parameters)[: -len(CleanOptions.__annotations__)]
            assert list(inspect.signature(method).parameters) == ["self", *own]

    def test_its_repr_is_what_was_given(self) -> None:
        assert repr(Cleaner()) == "Cleaner()"
        assert repr(Cleaner(dial=0.2, tables=None, method="main")) == "Cleaner(dial=0.2, method='main')"

    @pytest.mark.parametrize(
        "cleaner",
        [Cleaner(dial=0.8, limits=Limits(size=2000)), Cleaner(method=Density(c1=0.1))],
        ids=["name", "object"],
    )
    def test_it_can_be_pickled_and_copied(self, cleaner: Cleaner) -> None:
        data = pickle.dumps(cleaner)
        assert len(data) < 1000  # no weights
        for other in (pickle.loads(data), copy.deepcopy(cleaner)):
            assert repr(other) == repr(cleaner)
            assert other.limits == cleaner.limits
            assert other.clean(PAGE).json == cleaner.clean(PAGE).json

    def test_threads_can_share_it(self) -> None:
        cleaner = Cleaner(comments="keep")
        pages = [PAGE.replace("ship", f"ship {n}") for n in range(20)]
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda page: cleaner.clean(page).json, pages))
        assert found == [cleaner.clean(page).json for page in pages]


def test_extract_is_clean() -> None:
    assert mainmatter.extract is mainmatter.clean
    assert Cleaner.extract is Cleaner.clean


@pytest.mark.parametrize(
    ("keyword", "instead"),
    [
        ("output_format", ".markdown"),
        ("include_links", ".to_markdown(links=False)"),
        ("include_images", ".to_markdown(images=True)"),
        ("include_comments", 'comments="keep"'),
        ("include_tables", "tables=False"),
        ("favor_precision", "dial=0.25"),
        ("favor_recall", "dial=0.75"),
        ("with_metadata", ".metadata"),
        ("target_language", ".metadata.language"),
    ],
)
def test_keywords_of_trafilatura(keyword: str, instead: str) -> None:
    calls: list[Callable[..., Any]] = [mainmatter.extract, mainmatter.clean_file]
    for call in calls:
        with pytest.raises(InputError, match=f"^{keyword} is a keyword of trafilatura; in mainmatter, ") as refused:
            call(EXAMPLE, **{keyword: "x"})
        assert instead in str(refused.value)
        assert "epochs" not in str(refused.value)


@pytest.fixture
def found() -> Extraction:
    return mainmatter.clean(PAGE, url="https://e.example/")


class TestExtraction:
    def test_formats_are_properties(self, found: Extraction) -> None:
        for name in FORMATS:
            assert getattr(found, name) == found.render(name)
            assert getattr(found, name) == getattr(found, name)

    def test_a_format_is_written_once(self, found: Extraction, monkeypatch: pytest.MonkeyPatch) -> None:
        first = found.markdown
        monkeypatch.setattr(Extraction, "render", lambda *_, **__: pytest.fail("written again"))
        assert found.markdown == first

    def test_options_are_those_of_the_formats(self, found: Extraction) -> None:
        for name in ("markdown", "html", "json", "jsonl", "tei"):
            _, *options = inspect.signature(getattr(Extraction, f"to_{name}")).parameters.values()
            _, *known = inspect.signature(get_format(name)).parameters.values()
            assert [str(option) for option in options] == [str(option) for option in known]
            assert getattr(found, f"to_{name}")() == getattr(found, name)
        assert "](https://e.example/x)" in found.to_markdown()
        assert "](" not in found.to_markdown(links=False)

    def test_facts_about_the_page(self) -> None:
        found = mainmatter.clean(EXAMPLE)
        assert (found.title, found.author, found.date) == ("The keeper's garden", "Ada Kowal", "2026-04-02")
        assert (found.title, found.author, found.date) == (
            found.metadata.title,
            found.metadata.author,
            found.metadata.date,
        )

    def test_a_dictionary(self, found: Extraction) -> None:
        assert found.to_dict() == json.loads(found.to_json(blocks=False))
        assert found.to_dict(blocks=True) == json.loads(found.json)
        assert found.to_dict()["metadata"]["title"] == "The log"

    def test_its_text_is_what_is_printed(self, found: Extraction) -> None:
        assert str(found) == f"{found}" == found.text

    def test_repr_is_one_short_line(self, found: Extraction) -> None:
        assert repr(found) == (
            f"<Extraction: main, {found.page_type}, {len(found)} of 5 blocks kept, "
            f"{len(found.text)} characters, title 'The log'>"
        )
        title = "x" * 100
        found = mainmatter.clean(f"<title>{title}</title>{LONG}", method="density")
        assert repr(found) == f"<Extraction: density, 1 of 1 blocks kept, 89 characters, title '{'x' * 60}...'>"
        assert repr(mainmatter.clean("", method="density")) == "<Extraction: density, 0 of 0 blocks kept, 0 characters>"

    def test_the_repr_of_a_page_or_a_document_is_not_the_page(self, found: Extraction) -> None:
        for each in (found.document, found.document.page, Failure(found.document.page, "why")):
            assert "https://e.example/" in repr(each)
            assert "keeper" not in repr(each)

    def test_what_notebooks_show_is_text_alone(self) -> None:
        evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
        document = Document(Page(""), Columns.of([evil, "x" * 30_000]))
        found = mainmatter.get_method("ice-baseline").extract(document)
        object.__setattr__(found, "metadata", mainmatter.Metadata(title=evil))
        object.__setattr__(found, "page_type", evil)
        html = found._repr_html_()
        assert set(re.findall(r"<(/?\w+)", html)) == {"div", "/div", "strong", "/strong", "small", "/small", "br"}
        assert "onerror=alert(1)&gt;" in html
        assert html.endswith(f"\n{'x' * (20_000 - len(evil) - 2)} [...]</div></div>")
        assert "Untitled" in mainmatter.clean("<p>x")._repr_html_()
