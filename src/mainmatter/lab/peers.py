"""Other extractors, to be measured by the same rules. Each is called as its makers advise.

Each takes a page and gives text. If one needs text instead of bytes, it gets the output of our decoder; if it
returns HTML, our reader turns that into text. None of them may use the network.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from mainmatter.errors import InputError, MissingExtra
from mainmatter.html.parse import decode
from mainmatter.html.read import read_html
from mainmatter.lab.metrics import Output
from mainmatter.records import Metadata, Page

if TYPE_CHECKING:
    from collections.abc import Callable

    Peer = Callable[[Page, bool], Output]


def trafilatura(page: Page, with_metadata: bool) -> Output:
    """Trafilatura with its default settings, which keep readers' comments."""
    from trafilatura import extract, extract_metadata  # an extra

    text = extract(page.html) or ""
    if not with_metadata:
        return Output(text, text)
    found = extract_metadata(page.html, default_url=page.url)
    return Output(text, text, Metadata(title=found.title, author=found.author, date=found.date) if found else None)


def trafilatura_no_comments(page: Page, with_metadata: bool) -> Output:  # noqa: ARG001 - it is asked for none
    """Trafilatura, told to leave readers' comments out."""
    from trafilatura import extract

    return _plain(extract(page.html, include_comments=False))


def resiliparse(page: Page, with_metadata: bool) -> Output:  # noqa: ARG001 - it reads none
    """Resiliparse's plain text of the main content, after its own detection of the encoding."""
    from resiliparse.extract.html2text import extract_plain_text  # an extra
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    html = page.html if isinstance(page.html, str) else bytes_to_str(page.html, detect_encoding(page.html) or "utf-8")
    return _plain(extract_plain_text(html, main_content=True))


def turbohtml(page: Page, with_metadata: bool) -> Output:
    """The parser's own guess at the main content and its metadata."""
    from turbohtml import parse  # here it is a peer, not our parser

    tree = parse(page.html)
    text = tree.main_text()
    if not with_metadata:
        return Output(text, text)
    found = tree.article()
    return Output(text, text, Metadata(title=found.title, author=found.byline, date=found.date))


def readability_lxml(page: Page, with_metadata: bool) -> Output:  # noqa: ARG001 - it is asked for none
    """The summary of readability-lxml, which is HTML, as text."""
    from readability import Document  # an extra

    return _plain(_text_of(Document(page.html).summary()))


def justext(page: Page, with_metadata: bool) -> Output:  # noqa: ARG001 - it reads none
    """The good paragraphs of jusText, with English stop words: it must be told a language, and pages do not tell."""
    from justext import justext as classify  # an extra

    paragraphs = classify(page.html, _english_stop_words())
    return _plain("\n\n".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate))


def boilerpy3(page: Page, with_metadata: bool) -> Output:  # noqa: ARG001 - it is asked for none
    """BoilerPy3's article extractor; where its parser fails, what it had read so far."""
    from boilerpy3.extractors import ArticleExtractor  # an extra

    return _plain(ArticleExtractor(raise_on_failure=False).get_content(_decoded(page)))


def newspaper4k(page: Page, with_metadata: bool) -> Output:  # noqa: ARG001 - it is asked for none
    """The text that newspaper4k makes of HTML that is there already, with its default language, English.

    Its `article(url, input_html=...)` reads the language and the metadata too, takes up to twice as long and, on
    samples of four sets, was the better on one only.
    """
    return _plain(_newspaper().fulltext(_decoded(page)))


def goose3(page: Page, with_metadata: bool) -> Output:  # noqa: ARG001 - it is asked for none
    """Goose3's text of HTML that is there already."""
    return _plain(_goose().extract(raw_html=_decoded(page)).cleaned_text)


def rs_trafilatura(page: Page, with_metadata: bool) -> Output:  # noqa: ARG001 - it is asked for none
    """The Python binding of rs-trafilatura, which gets the URL for its guess at the type of page."""
    from rs_trafilatura import extract  # only if installed

    return _plain(extract(_decoded(page), url=page.url).main_content)


def magic_html(page: Page, with_metadata: bool) -> Output:  # noqa: ARG001 - it is asked for none
    """The main part that magic-html finds of an article, which is HTML, as text."""
    return _plain(_text_of(_magic_extractor().extract(_decoded(page), base_url=page.url or "")["html"]))


PEERS: dict[str, Peer] = {
    "boilerpy3": boilerpy3,
    "goose3": goose3,
    "justext": justext,
    "magic-html": magic_html,
    "newspaper4k": newspaper4k,
    "readability-lxml": readability_lxml,
    "resiliparse": resiliparse,
    "rs-trafilatura": rs_trafilatura,
    "trafilatura": trafilatura,
    "trafilatura-no-comments": trafilatura_no_comments,
    "turbohtml": turbohtml,
}


@dataclass(frozen=True, slots=True)
class _Package:
    """Where a peer comes from, where that is not its own name: a distribution, and the module in it."""

    distribution: str
    module: str
    extra: bool = True  # it is part of the extra `bench`


_PACKAGES = {
    "magic-html": _Package("magic_html", "magic_html", extra=False),
    "newspaper4k": _Package("newspaper4k", "newspaper"),
    "readability-lxml": _Package("readability-lxml", "readability"),
    "rs-trafilatura": _Package("rs-trafilatura", "rs_trafilatura", extra=False),
    "trafilatura-no-comments": _Package("trafilatura", "trafilatura"),
}


def get_peer(name: str) -> Peer:
    """The peer of that name.

    Raises:
        MissingExtra: it is not installed.
        InputError: it is not installed, and no extra of ours installs it.
    """
    package = _package(name)
    if find_spec(package.module) is None:
        if package.extra:
            raise MissingExtra(package.distribution, "bench")
        raise InputError(
            f"{name} is not installed, and is not part of the extra bench; see its own installation instructions"
        )
    return PEERS[name]


def installed_peers() -> list[str]:
    """The names of the peers that can be measured here."""
    return [name for name in PEERS if find_spec(_package(name).module) is not None]


def peer_version(name: str) -> str:
    """The version of an installed peer's package; "unknown" where it does not say."""
    try:
        return version(_package(name).distribution)
    except PackageNotFoundError:
        return "unknown"


def _package(name: str) -> _Package:
    return _PACKAGES.get(name) or _Package(name, name)


def _plain(text: str | None) -> Output:
    return Output(text or "", text or "")


def _decoded(page: Page) -> str:
    return page.html if isinstance(page.html, str) else decode(page.html, page.charset)[0]


def _text_of(html: str | None) -> str:
    """All text of the HTML that a peer gave, paragraphs apart; joining text nodes alone would glue words together."""
    return "\n\n".join(read_html(Page(html)).texts) if html else ""


@cache
def _english_stop_words() -> Any:  # what justext gives
    from justext import get_stoplist  # an extra

    return get_stoplist("English")


@cache
def _newspaper() -> Any:  # a module
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it tells that nltk is missing, which only its summaries need
        import newspaper  # an extra
    return newspaper


@cache
def _goose() -> Any:  # an object of theirs
    from goose3 import Goose  # an extra

    return Goose()


@cache
def _magic_extractor() -> Any:  # an object of theirs
    from magic_html import GeneralExtractor  # only if installed

    return GeneralExtractor()
