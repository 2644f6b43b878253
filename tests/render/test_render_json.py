"""JSON: what was decided about every block, and why."""

from __future__ import annotations

import json
from dataclasses import fields

import mainmatter
from mainmatter.records import Block, Page

LONG = "this paragraph has more than ten words and they are long enough"


def test_all_of_it() -> None:
    page = Page(f"<html lang=en><title>T</title><p class=x>{LONG}</p><p>x</p>".encode(), "https://e.example/", "page-1")
    content = json.loads(mainmatter.clean(page, method="ice-heuristic").json)
    keys = "id url method encoding page_type confidence metadata text comments blocks".split()
    assert list(content) == keys
    assert content["id"] == "page-1"
    assert content["url"] == "https://e.example/"
    assert content["method"] == "ice-heuristic"
    assert content["encoding"] == "utf-8"
    assert content["metadata"]["title"] == "T"
    assert content["metadata"]["language"] == "en"
    assert content["metadata"]["author"] is None
    assert content["text"] == LONG
    assert content["page_type"] is content["confidence"] is content["comments"] is None  # the method does not say
    assert content["blocks"] == [
        {
            "index": 0,
            "text": LONG,
            "kind": "paragraph",
            "level": 0,
            "position": 3,
            "tag": "p",
            "path": "html/body/p",
            "xpath": "/html[1]/body[1]/p[1]",
            "depth": 3,
            "link_chars": 0,
            "link_count": 0,
            "control": False,
            "hidden": False,
            "attributes": {"class": "x"},
            "score": 1.0,
            "kept": True,
            "label": "main",
            "reason": "many words of some length: a paragraph",
        },
        {
            "index": 1,
            "text": "x",
            "kind": "paragraph",
            "level": 0,
            "position": 4,
            "tag": "p",
            "path": "html/body/p",
            "xpath": "/html[1]/body[1]/p[2]",
            "depth": 3,
            "link_chars": 0,
            "link_count": 0,
            "control": False,
            "hidden": False,
            "attributes": {},
            "score": 0.0,
            "kept": False,
            "label": "boilerplate",
            "reason": "too few characters to be anything",
        },
    ]
    assert set(content["blocks"][0]) == {field.name for field in fields(Block)} | {"score", "kept", "label", "reason"}


def test_without_blocks() -> None:
    content = json.loads(mainmatter.clean(f"<p>{LONG}</p>").to_json(blocks=False))
    assert "blocks" not in content
    assert content["text"] == LONG


def test_an_empty_page() -> None:
    content = json.loads(mainmatter.clean("").json)
    assert content["blocks"] == []
    assert content["text"] == ""


def test_the_kind_is_the_methods() -> None:
    (block,) = json.loads(mainmatter.clean("<h1>Title</h1>", method="ice-baseline").json)["blocks"]
    assert block["kind"] == "paragraph"


def test_letters_of_all_languages_stay_readable_and_each_block_has_a_line() -> None:
    text = mainmatter.clean('<p>日本語 "é"</p><p>\u2028 🙂 \x07</p>', method="ice-baseline").json
    assert '日本語 \\"é\\"' in text
    assert sum('"index"' in line for line in text.split("\n")) == 2
    assert json.loads(text)["blocks"][0]["text"] == '日本語 "é"'
