"""JSON: what was decided about every block, and why."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np

import mainmatter
from mainmatter.records import Block, Page
from mainmatter.render.json import _AT_ONCE

LONG = "this paragraph has more than ten words and they are long enough"


def test_all_of_it() -> None:
    page = Page(f"<html lang=en><title>T</title><p class=x>{LONG}</p><p>x</p>".encode(), "https://e.example/", "page-1")
    content = json.loads(mainmatter.clean(page, method="ice-heuristic").json)
    keys = "id url method encoding page_type confidence threshold metadata text comments blocks".split()
    assert list(content) == keys
    assert content["id"] == "page-1"
    assert content["url"] == "https://e.example/"
    assert content["method"] == "ice-heuristic"
    assert content["encoding"] == "utf-8"
    assert content["metadata"]["title"] == "T"
    assert content["metadata"]["language"] == "en"
    assert content["metadata"]["author"] is None
    assert content["text"] == LONG
    for silent in ("page_type", "confidence", "threshold", "comments"):
        assert content[silent] is None  # the method does not say
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
            "kept_from_dial": None,
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
            "kept_from_dial": None,
            "reason": "too few characters to be anything",
        },
    ]
    decisions = {"score", "kept", "label", "kept_from_dial", "reason"}
    assert set(content["blocks"][0]) == {field.name for field in fields(Block)} | decisions


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


def test_each_block_has_a_line_whatever_its_text_and_however_many_there_are() -> None:
    trap = '"}, {"index": 7, "a": {}}, {"index": 8'
    page = f"<p title='{trap}'>{trap}" * (2 * _AT_ONCE + 1)
    found = mainmatter.clean(page, method="ice-baseline")
    lines = found.json.partition('"blocks": [\n')[2].removesuffix("\n ]\n}").split("\n")
    blocks = [json.loads(line.removesuffix(",")) for line in lines]
    assert [block["index"] for block in blocks] == list(range(2 * _AT_ONCE + 1))
    assert {block["text"] for block in blocks} == {trap}
    assert json.loads(found.json)["blocks"] == blocks == json.loads(found.to_jsonl(blocks=True))["blocks"]


def test_the_threshold_and_the_dial_from_which_on_each_block_is_kept() -> None:
    words = "The ropes were old, and nobody knew how long they had been there. "
    html = f"<title>Ropes</title><h1>Ropes</h1><p>{words * 5}</p><p><a href=/>Next</a></p><p class=comments>Nice.</p>"
    found = mainmatter.clean(html)
    content = json.loads(found.render("json"))
    assert content["threshold"] == round(found.threshold or 0, 4) > 0
    dials = [block["kept_from_dial"] for block in content["blocks"]]
    assert found.dials is not None
    assert [dial for dial in dials if dial is not None] == np.round(found.dials[~np.isnan(found.dials)], 4).tolist()
    for block, dial in zip(content["blocks"], dials, strict=True):
        assert (dial is None) == (block["label"] in ("byline", "caption", "comment"))
        assert dial is None or block["kept"] == (dial <= 0.5)


def test_a_line_for_json_lines_is_the_same_without_blocks_unless_asked() -> None:
    found = mainmatter.clean(f"<title>T</title><h1>T</h1><p>{LONG}\u2028</p><p>x</p>", method="ice-heuristic")
    whole = json.loads(found.render("json", chunks=20))
    for options in ({"blocks": True, "chunks": 20}, {"blocks": True}, {"chunks": 20, "overlap": 5}, {}):
        line = found.render("jsonl", **options)
        assert "\n" not in line
        left_out = {"blocks", "chunks"} - options.keys()
        expected = {name: value for name, value in whole.items() if name not in left_out}
        found_there = json.loads(line)
        if options.get("overlap"):
            expected["chunks"] = json.loads(found.render("json", **options))["chunks"]
        assert list(found_there) == list(expected)
        assert found_there == expected
