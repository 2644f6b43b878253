"""`isolated=True`: a page that crashes, hangs or fills the process that cleans it costs an error, not the caller."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, ClassVar

import pytest

from crawls import install_wicked, page
from mainmatter import Cleaner, MainmatterError, Page, clean, clean_file, clean_many, registry
from mainmatter.errors import InputError
from mainmatter.isolation import kept
from mainmatter.isolation.parallel import Failure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def wicked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The method `wicked`, installed, and little time and memory; no child is left."""
    (tmp_path / "plugin").mkdir()
    monkeypatch.syspath_prepend(install_wicked(tmp_path / "plugin"))
    registry._plugins.cache_clear()
    module = sys.modules["mainmatter.api"]
    monkeypatch.setattr(module, "DEFAULT_SECONDS", 1.0)
    monkeypatch.setattr(module, "DEFAULT_MEMORY", 1_000_000_000)
    yield
    registry._plugins.cache_clear()
    sys.modules.pop("wicked", None)
    while kept._children:
        kept._children.popitem()[1].close()


def test_what_comes_back_is_what_clean_returns(tmp_path: Path) -> None:
    html = page(1, "")
    (tmp_path / "page.html").write_bytes(html)
    assert clean_file(tmp_path / "page.html", isolated=True).json == clean_file(tmp_path / "page.html").json
    here = clean(html, url="https://e.example/")
    for there in (
        clean(html, url="https://e.example/", isolated=True),
        *clean_many([Page(html, "https://e.example/")], isolated=True),
        *clean_many([Page(html, "https://e.example/")], isolated=True, workers=2),
    ):
        assert not isinstance(there, Failure)
        assert (there.json, there.markdown, list(there.reasons)) == (here.json, here.markdown, list(here.reasons))
    assert list(clean_many([html], isolated=True, format="markdown")) == [here.markdown]


def test_a_child_is_kept_for_the_next_page() -> None:
    cleaner = Cleaner(method="density", isolated=True)
    texts = [cleaner.clean(page(number, "")).text for number in range(3)]
    pids = {child._child.pid for child in kept._children.values() if child._child is not None}
    assert texts == [Cleaner(method="density").clean(page(number, "")).text for number in range(3)]
    cleaner.clean(page(4, ""))
    assert pids == {child._child.pid for child in kept._children.values() if child._child is not None} != set()


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("HANG", "took more than 1 s of processor time"),
        ("MEMORY", "took more than 1000 MB of memory"),
        ("EXIT", "crashed its worker process twice"),
    ],
)
def test_a_wicked_page_costs_an_error(wicked: None, word: str, words: str) -> None:
    with pytest.raises(MainmatterError, match=f"https://e.example/: {words}"):
        clean(page(1, word), url="https://e.example/", method="wicked", isolated=True)
    assert clean(page(1, ""), method="wicked", isolated=True).text


def test_of_many_pages_only_the_wicked_one_fails(wicked: None) -> None:
    pages = [page(number, "EXIT" if number == 1 else "") for number in range(3)]
    results = list(clean_many(pages, method="wicked", isolated=True, format="text"))
    assert [isinstance(result, Failure) for result in results] == [False, True, False]


def test_what_cannot_be_isolated_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Local:
        name: ClassVar[str] = "local"
        summary: ClassVar[str] = ""
        extract = registry.get_method("density").extract

    with pytest.raises(InputError, match="cannot be sent to another process"):
        Cleaner(method=Local(), isolated=True)
    with pytest.raises(InputError, match="isolated must be True or False, not 1"):
        Cleaner(isolated=1)  # type: ignore[arg-type]
    monkeypatch.setattr(sys.modules["mainmatter.api"], "os", SimpleNamespace(name="nt"))
    with pytest.raises(InputError, match="Windows"):
        Cleaner(isolated=True)
