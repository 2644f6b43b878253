"""The example archive is what examples/make_crawl.py makes, and holds what a crawl holds."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from script_modules import load_script

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def script() -> Any:
    return load_script("make_crawl", EXAMPLES)


def test_the_archive_is_what_the_script_makes(script: Any) -> None:
    made = gzip.decompress((EXAMPLES / "crawl.warc.gz").read_bytes())
    assert made == gzip.decompress(script.make_archive()), "out of date; run: python examples/make_crawl.py"


def test_it_holds_what_a_crawl_holds(script: Any) -> None:
    answers = list(script.all_answers(script.read_articles()))
    assert len(answers) == len({answer.url for answer in answers}) == 40
    bodies = [answer.body for answer in answers]
    assert len(bodies) - len(set(bodies)) == 2  # with a session, and on the mirror
    assert sum(b"noindex" in body for body in bodies) == 1
    assert sorted({answer.status for answer in answers}) == ["200 OK", "301 Moved Permanently", "404 Not Found"]
    assert {dict(answer.headers)["Content-Type"] for answer in answers} == {
        "text/html; charset=utf-8",
        "image/png",
        "application/pdf",
    }
    assert bodies.count(b"") == 1


def test_every_article_is_inside_the_template(script: Any) -> None:
    articles = script.read_articles()
    pages = {answer.url: answer.body.decode() for answer in script.all_answers(articles) if b"<h1>" in answer.body}
    assert len(articles) == 30
    for article in articles:
        page = pages[script.SITE + article.path]
        assert page.count("Weather") >= 4  # what searches without cleaning would find everywhere
        assert page.count("<h1>") == 1
        assert all(len(line) > 20 for line in article.lines if not line.startswith(("#", "*")))
