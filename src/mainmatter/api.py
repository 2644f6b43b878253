"""START HERE: the whole of mainmatter in one flow.

    bytes --decode--> str --parse--> tree --segment--> blocks --method--> scores --decide--> kept --render--> text

`read` does the first three steps (html/read.py; text/read.py for plain-text dumps), a method (main/; papers/) the next
two, and the `Extraction` that it returns renders itself (render/).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import partial
from inspect import Parameter, cleandoc, signature
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, overload

from mainmatter.errors import InputError, MainmatterError, warn_caller
from mainmatter.html.read import HtmlDocument, read_html
from mainmatter.isolation.parallel import Failure, ordered_map
from mainmatter.limits import DEFAULT_LIMITS, DEFAULT_MEMORY, DEFAULT_SECONDS, WALL_FACTOR, Limits
from mainmatter.method import attach, detach
from mainmatter.models.store import last_change
from mainmatter.records import Document, Extraction, Page
from mainmatter.registry import DEFAULT_METHOD, METHODS, get_format, get_method, split_name
from mainmatter.text.read import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Unpack

    from mainmatter.method import Method

PageLike = str | bytes | Page | PathLike[str]
"""What `clean` takes for a page: its HTML as text or, better, as bytes; a `Page`; or the `Path` of a file."""
Function = TypeVar("Function", bound="Callable[..., Any]")
Result = TypeVar("Result")


class CleanOptions(TypedDict, total=False):
    """The keyword arguments of `clean`, `clean_many`, `Cleaner` and their variants.

    `dial` and all options after it are parameters of `main`. Another method accepts those that it has. If you leave an
    option out, or set it to None, the default of the method or trained model applies. The defaults below are `main`'s.

    Attributes:
        method: which method decides: a name (`mainmatter.method_names()` lists them), the folder of a trained model,
            or a method object. Parameters may follow a name: "density:c1=0.25,c2=8".
        parameters: any parameters of the method, such as {"c1": 0.25} for density.
        limits: how large a page may be.
        isolated: clean in a child process, which is kept for the next page; for pages of strangers, of which none may
            crash, hang or fill this process. Takes about 4 ms a page more, or 0.6 ms where `format` says what comes
            back; not on Windows.
        dial: how much to keep, from 0 (only the surest block) to 1 (all text); 0.5, the default, weighs precision and
            recall equally.
        comments: "drop" (default) drops readers' comments, "keep" keeps them in their place, "mark" puts them after
            the main matter.
        headline: whether the page's headline is kept; default True.
        bylines: whether authors and dates are kept; default False.
        captions: whether captions and credits of pictures are kept; default False.
        headings: whether headings are kept; default True.
        tables: whether rows of tables are kept; default True.
        code: whether code is kept; default True.
        site_templates: a folder with counts of what sites repeat, as `template` saves it; default "" (none).
    """

    method: str | PathLike[str] | Method
    parameters: Mapping[str, Any] | None
    limits: Limits
    isolated: bool
    dial: float | None
    comments: Literal["drop", "keep", "mark"] | None
    headline: bool | None
    bylines: bool | None
    captions: bool | None
    headings: bool | None
    tables: bool | None
    code: bool | None
    site_templates: str | None


_DEFAULTS = {"method": DEFAULT_METHOD, "limits": DEFAULT_LIMITS, "isolated": False}
_OPTIONS = {
    name: Parameter(name, Parameter.KEYWORD_ONLY, default=_DEFAULTS.get(name), annotation=reference.__forward_arg__)
    for name, reference in CleanOptions.__annotations__.items()
}


def _lists_options(function: Function) -> Function:
    """Make `help` and notebooks list a function's options and explain them; type checkers know them already."""
    known = signature(function)
    own = [parameter for parameter in known.parameters.values() if parameter.name != "options"]
    function.__signature__ = known.replace(parameters=[*own, *_OPTIONS.values()])  # type: ignore[attr-defined]
    meanings = cleandoc(CleanOptions.__doc__ or "").partition("Attributes:\n")[2]
    function.__doc__ = cleandoc(function.__doc__ or "").replace("    options: see `CleanOptions`.", meanings)
    return function


# What users of trafilatura write, and what does the same here.
_OF_TRAFILATURA = {
    "output_format": "the result has them all: .text, .markdown, .html, .json, .tei",
    "include_links": "links are in .markdown; .to_markdown(links=False) leaves them out",
    "include_images": "write .to_markdown(images=True)",
    "include_comments": 'write comments="keep", "mark" or "drop"',
    "include_tables": "write tables=True or tables=False",
    "favor_precision": "write dial=0.25; from 0, only what is surest, to 1, all text",
    "favor_recall": "write dial=0.75; from 0, only what is surest, to 1, all text",
    "with_metadata": "the result has .metadata; .to_markdown(front_matter=True) begins with it",
    "target_language": "compare the result's .metadata.language; `mainmatter corpus --language` filters collections",
}


@_lists_options
def clean(html: PageLike, *, url: str | None = None, **options: Unpack[CleanOptions]) -> Extraction:
    """Keep a page's main matter. `extract` is another name for this function.

    Args:
        html: the page: bytes as fetched (best: the encoding is found as browsers do), text, a `Page`, which can also be
            a plain-text dump, or the `Path` of a file. A URL, or a string that names a file or folder, is refused:
            call `clean_url` or `clean_file`.
        url: where the page came from, if known; not for a `Page` that has another URL.
        options: see `CleanOptions`.

    Returns:
        What was kept, and why: `.text`, `.markdown`, `.metadata`, `.blocks`, `.scores`, `.reasons`, ...

    Raises:
        PageTooLarge: the page is over the limits.
        NotAPage: it is neither HTML nor text: a picture, an archive, random bytes.
        UnknownName: there is no such method.
        InputError: the method has no such parameter; the method is an object, which already has its parameters; the
            page has another URL; or `html` is not a page, but a URL or the name of a file.
        MainmatterError: with `isolated`, the page crashed its process, took more than 60 s or more than 2 GB.
    """
    return Cleaner(**options).clean(html, url=url)


extract = clean  # as trafilatura calls it


@_lists_options
def clean_file(path: str | PathLike[str], *, url: str | None = None, **options: Unpack[CleanOptions]) -> Extraction:
    """Keep the main matter of a page in a file.

    Args:
        path: the file, which may be compressed with gzip; if its name ends in .txt, it is a plain-text dump. "-" is
            standard input.
        url: where the page came from, if known.
        options: see `CleanOptions`.

    Raises:
        InputError: the file cannot be read, or as for `clean`.
        NotAPage, PageTooLarge, UnknownName: as for `clean`.
    """
    return Cleaner(**options).clean_file(path, url=url)


@_lists_options
def clean_url(
    url: str,
    *,
    browser: bool = False,
    timeout: float | None = None,
    public_only: bool = True,
    **options: Unpack[CleanOptions],
) -> Extraction:
    """Fetch a page from the web and keep its main matter.

    Args:
        url: an address that begins with http:// or https://.
        browser: load the page in Chromium, which runs its scripts, for pages that are empty without them; needs the
            extra `visual`. Chromium stays open for the next page, and loads one page at a time.
        timeout: how many seconds to wait for the server, at each step; with a browser, for the whole page.
        public_only: contact only public addresses and the ports of web servers, also after redirects. Set it to False
            for pages of your own machine or network.
        options: see `CleanOptions`.

    Warns:
        PageWarning: the page shows almost nothing without its scripts; or a browser could not load all of it.

    Raises:
        FetchError: the page could not be fetched or, with `public_only`, must not be.
        MissingExtra: what the browser needs is not installed.
        InputError, NotAPage, PageTooLarge, UnknownName: as for `clean`.
    """
    return Cleaner(**options).clean_url(url, browser=browser, timeout=timeout, public_only=public_only)


@overload
def clean_many(
    pages: Iterable[PageLike], *, workers: int = ..., format: None = ..., **options: Unpack[CleanOptions]
) -> Iterator[Extraction | Failure[Page]]: ...
@overload
def clean_many(
    pages: Iterable[PageLike], *, workers: int = ..., format: str, **options: Unpack[CleanOptions]
) -> Iterator[str | Failure[Page]]: ...
@overload
def clean_many(
    pages: Iterable[PageLike],
    *,
    workers: int = ...,
    format: Callable[[Extraction], Result],
    **options: Unpack[CleanOptions],
) -> Iterator[Result | Failure[Page]]: ...
@_lists_options
def clean_many(
    pages: Iterable[PageLike],
    *,
    workers: int = 1,
    format: str | Callable[[Extraction], Any] | None = None,  # the word users know
    **options: Unpack[CleanOptions],
) -> Iterator[Any]:
    """Keep the main matter of many pages, in order. A page that cannot be cleaned gives a `Failure`; none is lost.

    Args:
        pages: as for `clean`; they are read as needed, so the iterable may be endless.
        workers: how many processes; 1 means this process. With more, a method or function of your own must be
            importable.
        format: what to return for each page instead of its `Extraction`: "text", "markdown" or another format, or a
            function of the extraction. The processes make it and send back nothing else, which is fastest.
        options: see `CleanOptions`.

    Yields:
        For each page an `Extraction`, or what `format` asks for; or a `Failure` with the page and what went wrong.

    Warns:
        RuntimeWarning: there are several workers on Windows, where all pages are cleaned in this process.

    Raises:
        UnknownName: there is no such method or format.
        InputError: the method has no such parameter; the method is an object, which already has its parameters;
            `pages` is a single page; or `workers` is less than 1.
    """
    return Cleaner(**options).clean_many(pages, workers=workers, format=format)


class Cleaner:
    """One configuration for many pages. Its method is made once, and a wrong option raises an error at once.

    A `Cleaner` does not change, so threads can share it. It can be pickled: a method with a name, or a model in a
    folder, is loaded again where it is unpickled.

    Attributes:
        method: the method that decides.
        limits: how large a page may be.
        isolated: whether pages are cleaned in a child process.
    """

    __slots__ = ("_given", "isolated", "limits", "method")

    @_lists_options
    def __init__(self, **options: Unpack[CleanOptions]) -> None:
        """Choose a method and its parameters.

        Args:
            options: see `CleanOptions`.

        Raises:
            UnknownName: there is no such method.
            InputError: there is no such option; the method has no such parameter; or the method is an object, which
                already has its parameters.
            ModelError: the trained model is missing, damaged, or made for other parameters.
        """
        given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        named = given.copy()
        method, parameters = named.pop("method", DEFAULT_METHOD), named.pop("parameters", {})
        self.limits: Limits = named.pop("limits", DEFAULT_LIMITS)
        self.isolated: bool = named.pop("isolated", False)
        if not isinstance(self.isolated, bool):
            raise InputError(f"isolated must be True or False, not {self.isolated!r}")
        if not isinstance(parameters, Mapping):
            raise InputError(f"parameters must be a mapping, as in parameters={{'c1': 0.25}}, not {parameters!r}")
        if not isinstance(self.limits, Limits):
            raise InputError(f"limits must be a Limits, as in limits=Limits(size=1_000_000), not {self.limits!r}")
        for name in named.keys() & parameters.keys():
            raise InputError(f"{name} is given twice: as {named[name]!r}, and in parameters as {parameters[name]!r}")
        try:
            self.method = _choose(method, named | dict(parameters))
        except InputError as error:
            for name in (named | dict(parameters)).keys() & _OF_TRAFILATURA.keys():
                raise InputError(
                    f"{name} is a keyword of trafilatura; in mainmatter, {_OF_TRAFILATURA[name]}. "
                    "mainmatter.corpus.adapters.trafilatura has an `extract` that accepts trafilatura's keywords"
                ) from error
            raise
        for name in named.keys() - _OPTIONS.keys():
            raise InputError(
                f"{name} is not an option but a parameter of the method: write parameters={{{name!r}: {named[name]!r}}}"
            )
        self._given = given
        if self.isolated:
            _need_children(self)

    def __repr__(self) -> str:
        return f"Cleaner({', '.join(f'{name}={value!r}' for name, value in self._given.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Cleaner, **self._given), ()

    def clean(self, html: PageLike, *, url: str | None = None) -> Extraction:
        """Keep a page's main matter; see `mainmatter.clean`."""
        page = _to_page(html, self.limits, url)
        if self.isolated:
            return _with_page(page, _clean_in_child(page, self, None), self.method)
        return self.method.extract(read(page, self.limits))

    extract = clean

    def clean_file(self, path: str | PathLike[str], *, url: str | None = None) -> Extraction:
        """Keep the main matter of a page in a file; see `mainmatter.clean_file`."""
        from mainmatter.inputs.paths import read_file  # those who have the page need none of it

        return self.clean(read_file(path, self.limits), url=url)

    def clean_url(
        self, url: str, *, browser: bool = False, timeout: float | None = None, public_only: bool = True
    ) -> Extraction:
        """Fetch a page and keep its main matter; see `mainmatter.clean_url`."""
        from mainmatter.inputs.fetch import is_url  # those who have the page need none of it

        if not isinstance(url, str) or not is_url(url):
            raise InputError(f"{url}: is not a URL that begins with http:// or https://; for a file, use clean_file")
        settings: dict[str, Any] = {} if timeout is None else {"timeout": timeout}
        fetch: Callable[..., Page]
        if browser:
            from mainmatter.inputs.browser import fetch_with_browser as fetch  # few need one
        else:
            from mainmatter.inputs.fetch import fetch  # those who have the page need none of it
        page = fetch(url, limits=self.limits, public_only=public_only, **settings)
        extraction = self.clean(page)
        if extraction.document.needs_scripts and not browser:
            warn_caller(f"{url}: shows almost no text without its scripts; clean_url(url, browser=True) runs them")
        return extraction

    @overload
    def clean_many(
        self, pages: Iterable[PageLike], *, workers: int = ..., format: None = ...
    ) -> Iterator[Extraction | Failure[Page]]: ...
    @overload
    def clean_many(
        self, pages: Iterable[PageLike], *, workers: int = ..., format: str
    ) -> Iterator[str | Failure[Page]]: ...
    @overload
    def clean_many(
        self, pages: Iterable[PageLike], *, workers: int = ..., format: Callable[[Extraction], Result]
    ) -> Iterator[Result | Failure[Page]]: ...
    def clean_many(
        self,
        pages: Iterable[PageLike],
        *,
        workers: int = 1,
        format: str | Callable[[Extraction], Any] | None = None,  # the word users know
    ) -> Iterator[Any]:
        """Keep the main matter of many pages, in order; see `mainmatter.clean_many`."""
        _need_several(pages)
        if not isinstance(workers, int) or isinstance(workers, bool) or workers < 1:
            raise InputError(f"workers is {workers!r}; it must be a whole number, 1 or more")
        write = get_format(format) if isinstance(format, str) else format
        if write is not None and not callable(write):
            raise InputError(
                f"format must be a name, such as 'markdown', or a function of an Extraction, not {format!r}"
            )
        all_pages = (_page_or_failure(page, self.limits) for page in pages)
        if self.isolated and workers == 1:
            return _clean_each_in_child(all_pages, self, write)
        if workers > 1:
            return _clean_in_processes(all_pages, workers, self, write)
        return ordered_map(partial(_clean_page, method=self.method, limits=self.limits, write=write), all_pages)


def read(page: Page, limits: Limits = DEFAULT_LIMITS) -> Document:
    """Read a page into blocks, without deciding anything.

    Raises:
        PageTooLarge: the page is over the limits.
        NotAPage: it is neither HTML nor text: a picture, an archive, random bytes.
    """
    limits.check(page)
    return read_text(page) if page.format == "text" else read_html(page)


def _to_page(html: object, limits: Limits, url: str | None = None) -> Page:
    """The given page, with the given URL.

    Raises:
        InputError: it is not a page, cannot be read, or comes from another URL.
        PageTooLarge: a file is over the limits.
    """
    if url is not None and not isinstance(url, str):
        raise InputError(f"url must be a string, such as 'https://e.example/', not {type(url).__name__}")
    if (isinstance(html, str) and "<" not in html) or (isinstance(html, bytes) and b"<" not in html):
        from mainmatter.inputs.paths import refuse_name  # pages have tags

        refuse_name(html)
    if isinstance(html, str | bytes):
        return Page(html, url)
    if isinstance(html, PathLike):
        from mainmatter.inputs.paths import read_file  # those who have the page need none of it

        html = read_file(html, limits)
    if not isinstance(html, Page):
        has = [f"; pass its {name}" for name in ("content", "read()") if hasattr(html, name.removesuffix("()"))]
        hint = has[0] if has else ""
        raise InputError(f"a page must be str, bytes, a Path or a mainmatter.Page, not {type(html).__name__}{hint}")
    if url is None or url == html.url:
        return html
    if html.url is not None:
        raise InputError(f"the page comes from {html.url}, not from {url}")
    return replace(html, url=url)


def _page_or_failure(html: object, limits: Limits) -> Page | Failure[Page]:
    """The given page, or why it cannot be used."""
    try:
        return _to_page(html, limits)
    except MainmatterError as error:
        page = Page(html if isinstance(html, str | bytes) else "", id=str(html) if isinstance(html, PathLike) else None)
        return Failure(page, f"{type(error).__name__}: {error}")


def _need_several(pages: object) -> None:
    if isinstance(pages, str | bytes | Page | PathLike):
        raise InputError("this is a single page; pass a list of pages, or call clean")


def _choose(method: str | PathLike[str] | Method, parameters: dict[str, Any]) -> Method:
    """The method, given as an object or by its name.

    A method made by name is kept for the next call, because loading a model takes time.
    """
    if not isinstance(method, str | PathLike):
        if not hasattr(method, "extract"):
            raise InputError(
                f"a method must be a name, the folder of a model, or an object with a method `extract`, not {method!r}"
            )
        if parameters:
            raise InputError(
                f"method {method.name!r} is already an object; set {', '.join(parameters)} when you create it"
            )
        return method
    name = fspath(method)
    base = split_name(name)[0]
    changed = None if base in METHODS else last_change(base)
    if base not in METHODS and changed is None:
        return get_method(name, **parameters)
    # Values may be equal although one of them is wrong, such as 1 and True.
    key = tuple((parameter, type(value).__name__, repr(value)) for parameter, value in sorted(parameters.items()))
    made = _made.get((name, changed, key))
    if made is None:
        made = get_method(name, **parameters)
        if len(_made) >= _MOST_MADE:
            _made.clear()
        _made[name, changed, key] = made
    return made


_made: dict[tuple[object, ...], Method] = {}
_MOST_MADE = 32


def _clean_page(
    page: Page | Failure[Page], method: Method, limits: Limits, write: Callable[[Extraction], Any] | None
) -> Any:  # an extraction, or what is written of it
    if isinstance(page, Failure):
        return page
    extraction = method.extract(read(page, limits))
    return extraction if write is None else write(extraction)


def _clean_in_processes(
    pages: Iterable[Page | Failure[Page]],
    workers: int,
    cleaner: Cleaner,
    write: Callable[[Extraction], Any] | None,
) -> Iterator[Any]:
    """Only decisions come back from the processes: the pages, which are most of the data, are kept here."""
    waiting: deque[Page | Failure[Page]] = deque()

    def remember() -> Iterator[_Sent | None]:
        for page in pages:
            waiting.append(page)
            yield _Sent(page) if isinstance(page, Page) else None

    method = cleaner.method
    work: Callable[[_Sent | None], Any]
    if cleaner.isolated:  # a page that ends the child of a process does not end the process
        work = partial(_isolate_sent_page, cleaner=cleaner, write=write)
    else:
        work = partial(_clean_sent_page, method=method, limits=cleaner.limits, write=write or _without_page)
    for result in ordered_map(work, remember(), workers):
        page = waiting.popleft()
        if isinstance(page, Failure):
            yield page
        elif isinstance(result, Failure):
            yield Failure(page, result.error)
        else:
            yield _with_page(page, result, method) if write is None else result


def _need_children(cleaner: Cleaner) -> None:
    """Refuse to isolate where that cannot be done.

    Raises:
        InputError: there are no such processes, or the method cannot be sent to one.
    """
    if os.name != "posix":
        raise InputError("isolated=True needs child processes as Linux and macOS have them, and Windows has not")
    from multiprocessing.reduction import ForkingPickler  # few need it

    try:
        ForkingPickler.dumps(cleaner)
    except Exception as error:  # each object has its own
        raise InputError(f"the method cannot be sent to another process ({error}); give its name or folder") from error


class _IsolatedService:
    """In the child: what cleans for `isolated`."""

    def __init__(self, method: Method, limits: Limits) -> None:
        self._method, self._limits = method, limits

    def __call__(self, sent: _Sent, write: Callable[[Extraction], Any] | None) -> Any:
        extraction = self._method.extract(read(sent.page, self._limits))
        if write is not None:
            return write(extraction)
        # Where it is used, formats are written from the page again: one that crashes then does so here first.
        _ = extraction.markdown
        return _without_page(extraction)


def _clean_in_child(page: Page, cleaner: Cleaner, write: Callable[[Extraction], Any] | None) -> Any:
    from mainmatter.isolation.child import ChildExited  # who needs no processes need not load it
    from mainmatter.isolation.kept import kept_child, why_ended

    cleaner.limits.check(page)
    wall = WALL_FACTOR * DEFAULT_SECONDS
    key = f"clean {cleaner!r} {id(cleaner.method)}"
    child = kept_child(key, _IsolatedService, cleaner.method, cleaner.limits, memory=DEFAULT_MEMORY)
    try:
        return child.call(_Sent(page), write, seconds=wall, processor_seconds=DEFAULT_SECONDS)
    except ChildExited as error:
        name = page.id or page.url or "the page"
        raise MainmatterError(f"{name}: {why_ended(error, wall, DEFAULT_SECONDS, DEFAULT_MEMORY)}") from error


def _clean_each_in_child(
    pages: Iterable[Page | Failure[Page]], cleaner: Cleaner, write: Callable[[Extraction], Any] | None
) -> Iterator[Any]:
    def clean_one(page: Page | Failure[Page]) -> Any:  # an extraction, or what is written of it
        if isinstance(page, Failure):
            return page
        result = _clean_in_child(page, cleaner, write)
        return _with_page(page, result, cleaner.method) if write is None else result

    return ordered_map(clean_one, pages)


class _Sent:
    """A page being sent to another process; its bytes, which are most of the data, are sent beside the pickle."""

    __slots__ = ("page",)

    def __init__(self, page: Page) -> None:
        self.page = page

    def __reduce__(self) -> tuple[Any, ...]:
        from pickle import PickleBuffer  # who needs no processes need not load it

        html, *others = (getattr(self.page, field.name) for field in fields(Page))
        return _Sent._receive, (PickleBuffer(html) if isinstance(html, bytes) else html, *others)

    @staticmethod
    def _receive(*facts: Any) -> _Sent:  # those of the page
        return _Sent(Page(*facts))


def _clean_sent_page(sent: _Sent | None, method: Method, limits: Limits, write: Callable[[Extraction], Any]) -> Any:
    return None if sent is None else _clean_page(sent.page, method, limits, write)


def _isolate_sent_page(sent: _Sent | None, cleaner: Cleaner, write: Callable[[Extraction], Any] | None) -> Any:
    return None if sent is None else _clean_in_child(sent.page, cleaner, write)


def _without_page(extraction: Extraction) -> Extraction:
    document = extraction.document
    return replace(
        extraction,
        document=Document(_NO_PAGE, document.columns, document.encoding),
        reasons=detach(extraction.reasons),
    )


def _with_page(page: Page, extraction: Extraction, method: Method) -> Extraction:
    read_as = Document if page.format == "text" else HtmlDocument
    document = read_as(page, extraction.document.columns, extraction.document.encoding)
    return replace(
        extraction,
        document=document,
        reasons=attach(extraction.reasons, method, document),
    )


_NO_PAGE = Page("")
