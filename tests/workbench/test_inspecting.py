"""What /api/inspect tells of a page, and the frames that show it."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from mainmatter import clean
from mainmatter.errors import InputError, UnknownName
from mainmatter.records import Page
from mainmatter.workbench.frames import Frames, frame_response
from mainmatter.workbench.inspect import (
    MOST_BLOCKS,
    MOST_EVIDENCE,
    Question,
    even_steps,
    inspect_page,
    render,
    tell_reasons,
)
from mainmatter.workbench.page_source import PageSource

pytest.importorskip("fastapi")
from fastapi.testclient import TestClient

from mainmatter.workbench.app import make_app
from mainmatter.workbench.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = Path(__file__).parents[2] / "src/mainmatter/workbench/static/example.html"
PAGE = Page(EXAMPLE.read_bytes(), "https://harbourlamp.example/stories/tide-clock")


def question(page: Page = PAGE, method: str = "main", **options: Any) -> Question:
    return Question(PageSource(page), Path("no-models"), method, options)


def answer_of(asked: Question) -> Any:
    return json.loads(inspect_page(asked).payload.body)


def unfold(runs: list[int]) -> list[bool]:
    """What `kept` and `dial.kept` stand for."""
    return [number % 2 == 1 for number, run in enumerate(runs) for _ in range(run)]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    app = make_app(Settings(folder=tmp_path_factory.mktemp("workbench"), workers=1))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


def test_the_answer_says_what_clean_says() -> None:
    answer = answer_of(question(comments="mark"))
    extraction = clean(PAGE, comments="mark")
    assert unfold(answer["kept"]) == extraction.kept.tolist()
    assert answer["blocks"]["texts"] == extraction.document.texts
    assert answer["blocks"]["scores"] == np.round(extraction.scores, 4).tolist()
    assert answer["blocks"]["reasons"] == list(extraction.reasons)
    assert extraction.dials is not None
    assert answer["blocks"]["dials"] == [None if np.isnan(dial) else dial for dial in extraction.dials]
    told = {block: label for label, blocks in answer["blocks"]["labels"].items() for block in blocks}
    pieces = ("headline", "byline", "caption", "comment")
    assert told == {block: label for block, label in enumerate(extraction.labels) if label in pieces}
    assert {"headline", "comment"} <= set(told.values())
    assert answer["marks_comments"]
    assert answer["metadata"]["title"] == "The clock that counted fish"
    assert answer["page_type"] == "article"
    assert answer["controls"] == ["dial", "headline", "bylines", "captions", "comments", "headings", "tables", "code"]


def test_each_step_of_the_dial_is_what_the_method_does_there() -> None:
    dial = answer_of(question(comments="keep", tables=False, dial=0.37))["dial"]
    assert dial["at"] == 0.37
    assert dial["steps"] == sorted({0, 0.37, 0.5, 1, *dial["steps"]})
    assert len(dial["steps"]) > 10
    for number, step in enumerate(dial["steps"]):
        extraction = clean(PAGE, dial=step, comments="keep", tables=False)
        assert unfold(dial["kept"][number]) == extraction.kept.tolist()
        assert dial["confidence"][number] == extraction.confidence
        assert dial["threshold"][number] == extraction.threshold


def test_no_two_steps_of_the_dial_keep_the_same_but_those_that_must_be_there() -> None:
    dial = answer_of(question())["dial"]
    same = [pair for pair in pairwise(zip(dial["steps"], dial["kept"], strict=True)) if pair[0][1] == pair[1][1]]
    assert all({first[0], second[0]} <= {0, 0.5, 1} for first, second in same)


def test_steps_of_the_dial_change_about_equally_much_text() -> None:
    dials = np.array([0, 0.1, *np.linspace(0.98, 0.99, 40).round(6), np.nan])
    sizes = np.array([100, 200, *[20] * 40, 5000])
    steps = even_steps(dials, sizes)
    kept = [100, *[int(sizes[dials <= step].sum()) for step in steps]]
    assert kept[-1] == 1100
    assert kept[1] == 300  # the one block that is larger than a step
    assert set(np.diff(kept[1:]).tolist()) <= {40, 60}
    assert all(step == round(step, 4) for step in steps)
    assert steps[0] == 0.1
    assert even_steps(np.array([np.nan]), np.array([5])) == []


def test_a_method_without_a_dial_says_so() -> None:
    answer = answer_of(question(method="density:c1=0.5"))
    assert answer["dial"] is None
    assert answer["controls"] == []
    assert unfold(answer["kept"]) == clean(PAGE, method="density:c1=0.5").kept.tolist()


def test_the_dense_region_is_that_of_density() -> None:
    density = answer_of(question())["density"]
    kept = clean(PAGE, method="density").kept.nonzero()[0]
    assert (density["first"], density["last"]) == (kept[0], kept[-1])
    lengths = [len(text) for text in clean(PAGE).document.texts]
    assert lengths[density["longest"]] == max(lengths)


@pytest.mark.parametrize("html", ["", "<script>1</script>", "plain words"])
def test_pages_with_next_to_nothing_can_be_looked_at(html: str) -> None:
    answer = answer_of(question(Page(html)))
    assert len(unfold(answer["kept"])) == len(answer["blocks"]["texts"]) <= 1
    assert answer["dial"]["steps"] == [0, 0.5, 1]
    assert len(answer["dial"]["kept"]) == 3


def test_reasons_of_very_long_pages_come_on_demand() -> None:
    page = Page("<title>Long</title>" + "<p>A few words." * (MOST_BLOCKS + 1))
    asked = question(page, "density")
    assert answer_of(asked)["blocks"]["reasons"] == []
    told = json.loads(tell_reasons(asked, [1, MOST_BLOCKS, -1, MOST_BLOCKS + 1]).body)["reasons"]
    assert list(told) == ["1", str(MOST_BLOCKS)]
    assert all(told.values())


def test_evidence_of_long_pages_comes_on_demand() -> None:
    page = Page("<title>Long</title>" + "<p>A few words of a text." * (MOST_EVIDENCE + 1) + "<footer class=legal>Legal")
    asked = question(page)
    assert len(answer_of(asked)["blocks"]["evidence"]) == MOST_EVIDENCE
    ((signals, notes),) = json.loads(tell_reasons(asked, [MOST_EVIDENCE + 1]).body)["evidence"].values()
    assert any("stands in <footer>" in words or "class legal" in words for *_, words in signals)
    assert notes == []
    assert answer_of(question(method="density"))["blocks"]["evidence"] == []


def test_wrong_questions_are_refused() -> None:
    with pytest.raises(UnknownName, match="mian"):
        inspect_page(question(method="mian"))
    with pytest.raises(InputError, match="dial"):
        inspect_page(question(dial=2.0))
    with pytest.raises(InputError, match="cannot be set over the web"):
        inspect_page(question(site_templates="/etc"))
    with pytest.raises(InputError, match="format"):
        render(question(), "tei")


def test_the_frame_holds_the_page_and_nothing_that_runs() -> None:
    html = "<p onclick='x()'>Words of a text.<script>alert(1)</script><mm-block data-block=7>forged</mm-block>"
    marked = inspect_page(question(Page(f"<title>T</title>{html}"))).marked
    assert 'data-block="0"' in marked
    assert "onclick" not in marked
    assert "alert" not in marked
    assert '<mm-block data-block="7"' not in marked
    assert inspect_page(question(), with_frame=False).marked == ""


def test_frames_are_shown_under_a_policy_that_forbids_all() -> None:
    policy = frame_response("<p>Words").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "sandbox allow-same-origin;" in policy
    assert "script-src" not in policy
    assert "http" not in policy.partition("base-uri")[0]
    remote = frame_response("<p>Words", remote=True).headers["content-security-policy"]
    assert "img-src data: https: http:" in remote
    assert "default-src 'none'" in remote


def test_frames_forget_the_oldest() -> None:
    frames = Frames(most_bytes=1000)
    first = frames.put("a" * 300, Page("a" * 100))
    second = frames.put("b" * 400)
    assert frames.get(first) is not None  # and so the second is now the oldest
    third = frames.put("c" * 400)
    assert frames.get(second) is None
    assert [frames.get(key) is not None for key in (first, third)] == [True, True]
    alone = frames.put("d" * 5000)
    assert len(frames) == 1
    assert frames.get(alone) is not None
    assert len({first, second, third, alone}) == 4
    assert all(len(key) > 20 for key in (first, second))


def test_a_page_is_asked_about_again_by_its_frame(client: TestClient) -> None:
    first = client.post("/api/inspect", json={"html": EXAMPLE.read_text(), "url": PAGE.url})
    assert first.status_code == 200
    key = first.json()["frame"]
    shown = client.get(f"/frame/{key}")
    assert "mm-block" in shown.text
    assert shown.headers["content-security-policy"].startswith("default-src 'none'")
    again = client.post("/api/inspect", json={"frame": key, "method": "density"}).json()
    assert again["frame"] == key
    assert again["method"] == "density"
    text = client.post("/api/inspect/text", json={"frame": key, "format": "markdown", "options": {"dial": 0.2}})
    assert text.json()["text"] == clean(PAGE, dial=0.2).markdown
    told = client.post("/api/inspect/reasons", json={"frame": key, "blocks": [5]}).json()["reasons"]
    assert "headline" in told["5"]


def test_a_file_is_read_in_its_own_encoding(client: TestClient) -> None:
    page = "<meta charset=iso-8859-1><title>Köln</title><p>Die Straße führt über den Fluss.".encode("latin-1")
    answer = client.post("/api/inspect", files={"file": ("a.html", page)}, data={"options": '{"dial": 1.0}'}).json()
    assert answer["blocks"]["texts"] == ["Die Straße führt über den Fluss."]
    assert answer["dial"]["at"] == 1.0
    dump = client.post("/api/inspect", files={"file": ("a.txt", b"Some words.\n\nMore <b>words</b>.")}).json()
    assert dump["blocks"]["texts"] == ["Some words.", "More <b>words</b>."]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 422, "there is no page"),
        ({"html": "x", "text": "y"}, 422, "not both"),
        ({"html": "x", "method": "mian"}, 422, "unknown method"),
        ({"html": "x", "nonsense": 1}, 422, "no field nonsense"),
        ({"frame": "gone"}, 410, "no longer has this page"),
        ({"url": "http://127.0.0.1:1/"}, 422, "127.0.0.1"),
        ({"url": "file:///etc/passwd"}, 422, ""),
    ],
)
def test_wrong_requests_get_a_clear_answer(client: TestClient, body: dict[str, Any], status: int, words: str) -> None:
    answer = client.post("/api/inspect", json=body)
    assert answer.status_code == status, answer.text
    assert words in answer.json()["error"]


def test_requests_must_be_json_or_a_form(client: TestClient) -> None:
    assert client.post("/api/inspect", content="<p>x", headers={"Content-Type": "text/html"}).status_code == 415
    assert client.get("/frame/unknown").status_code == 404
