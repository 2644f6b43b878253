"""Other people's extractors, so that they can be measured by the same rules. Each is called as its makers advise."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from mainmatter.errors import MissingExtra
from mainmatter.metrics import Output
from mainmatter.records import Metadata

if TYPE_CHECKING:
    from collections.abc import Callable

    from mainmatter.records import Page

    Peer = Callable[[Page, bool], Output]


def trafilatura(page: Page, with_metadata: bool) -> Output:
    """Trafilatura with its default settings."""
    from trafilatura import extract, extract_metadata  # noqa: PLC0415 - an extra

    text = extract(page.html) or ""
    if not with_metadata:
        return Output(text, text)
    found = extract_metadata(page.html, default_url=page.url)
    return Output(text, text, Metadata(title=found.title, author=found.author, date=found.date) if found else None)


def resiliparse(page: Page, with_metadata: bool) -> Output:  # noqa: ARG001 - it reads none
    """Resiliparse's plain text of the main content, after its own detection of the encoding."""
    from resiliparse.extract.html2text import extract_plain_text  # noqa: PLC0415 - an extra
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding  # noqa: PLC0415

    html = page.html if isinstance(page.html, str) else bytes_to_str(page.html, detect_encoding(page.html))
    text = extract_plain_text(html, main_content=True)
    return Output(text, text)


def turbohtml(page: Page, with_metadata: bool) -> Output:
    """The parser's own guess at the main content and its metadata."""
    from turbohtml import parse  # noqa: PLC0415 - here it is a peer, not our parser

    tree = parse(page.html)
    text = tree.main_text()
    if not with_metadata:
        return Output(text, text)
    found = tree.article()
    return Output(text, text, Metadata(title=found.title, author=found.byline, date=found.date))


PEERS: dict[str, Peer] = {peer.__name__: peer for peer in (resiliparse, trafilatura, turbohtml)}


def get_peer(name: str) -> Peer:
    """The peer of that name.

    Raises:
        MissingExtra: it is not installed.
    """
    if find_spec(name) is None:
        raise MissingExtra(name, "bench")
    return PEERS[name]
