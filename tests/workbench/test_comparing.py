"""What /api/compare tells of several methods on one page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mainmatter import clean
from mainmatter.errors import InputError, UnknownName
from mainmatter.lab import peers
from mainmatter.lab.metrics import METRICS, Output
from mainmatter.records import Gold, Page
from mainmatter.workbench.compare import (
    ADDED,
    MISSING,
    SAME,
    Contribution,
    check_names,
    compare_texts,
    contribute,
    difference,
    to_gold,
)

pytest.importorskip("fastapi")
pytest.importorskip("rapidfuzz")
from fastapi.testclient import TestClient

from mainmatter.workbench.app import make_app
from mainmatter.workbench.page_source import PageSource
from mainmatter.workbench.settings import Settings
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mainmatter.lab.metrics import Metric

EXAMPLE = Path(__file__).parents[2] / "src/mainmatter/workbench/static/example.html"
PAGE = Page(EXAMPLE.read_bytes())
NOWHERE = Path("no-models")


def compared(*contributions: Contribution, gold: str | None = None) -> Any:
    return json.loads(compare_texts(contributions, gold).body)


def both_ways(parts: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """The words of the reference and of the text that a difference was made of."""
    old = "".join(f"{words} " for sign, words in parts if sign != ADDED)
    new = "".join(f"{words} " for sign, words in parts if sign != MISSING)
    return old.split(), new.split()


def test_a_difference_holds_both_texts() -> None:
    reference = "The lamp was lit.\n\nA keeper slept upstairs, under the stars.\nThe end"
    text = "Menu\nThe lamp was lit.\n\nUnder the stars.\nThe end"
    parts = difference(reference, text)
    assert both_ways(parts) == (reference.split(), text.split())
    assert parts[0] == (ADDED, "Menu\n")
    assert (MISSING, "A keeper slept upstairs, under ") in parts
    assert parts[-1] == (SAME, "the stars.\nThe end")


@pytest.mark.parametrize(("reference", "text"), [("", ""), ("", "a b"), ("a b", ""), ("a b", "a b"), (" \n", "x")])
def test_differences_of_next_to_nothing(reference: str, text: str) -> None:
    assert both_ways(difference(reference, text)) == (reference.split(), text.split())


def test_words_that_are_equal_by_chance_do_not_break_a_difference() -> None:
    lost = "nine boats left the harbour of Kelder before the fog came in from the sea"
    added = "subscribe to our letter and get ten per cent off the price of any coat you like"
    parts = difference(f"Same start here, all three. {lost}", f"Same start here, all three. {added}")
    assert [sign for sign, _ in parts] == [SAME, MISSING, ADDED]


def test_long_texts_are_compared_in_bounded_time_and_memory() -> None:
    def make(size: int) -> Callable[[], object]:
        reference = " ".join(f"word{i % 977}" for i in range(size))
        text = " ".join(f"word{i % 983}" for i in range(size))
        assert both_ways(difference(reference, text)) == (reference.split(), text.split())
        return lambda: difference(reference, text)

    assert_linear(make, 30_000)


def test_without_gold_the_first_text_is_the_reference() -> None:
    answer = compared(Contribution("a", "one two three four five"), Contribution("b", "two three four five six"))
    assert answer["reference"] == "a"
    assert answer["columns"][0]["parts"] == [[SAME, "one two three four five"]]
    assert (answer["columns"][1]["added"], answer["columns"][1]["missing"]) == (1, 1)
    assert answer["metrics"] == []


def test_a_column_that_failed_is_no_reference() -> None:
    answer = compared(Contribution("a", error="it hung"), Contribution("b", "one two"), Contribution("c", "one"))
    assert answer["reference"] == "b"
    assert answer["columns"][0]["error"] == "it hung"
    assert answer["columns"][2]["missing"] == 1
    assert compared(Contribution("a", error="it hung"))["reference"] is None


def test_metrics_are_those_of_the_library_and_the_best_is_marked() -> None:
    extraction = clean(PAGE)
    mine = Contribution("main", extraction.text, extraction.cleaneval)
    less = Contribution("less", "The clock that counted fish", "<h> The clock that counted fish")
    answer = compared(mine, less, Contribution("none", error="no"), gold=extraction.cleaneval)
    assert answer["reference"] == "gold"
    assert answer["gold_is_marked"]
    assert [column["name"] for column in answer["columns"]] == ["main", "less", "none"]
    worst_first = compared(Contribution("none", error="no"), less, mine, gold=extraction.cleaneval)
    assert worst_first["columns"] == answer["columns"]
    assert worst_first["metrics"] == answer["metrics"]
    rows = {(row["metric"], row["figure"]): row for row in answer["metrics"]}
    gold = to_gold(extraction.cleaneval)
    wanted = [metric for metric in METRICS.values() if metric.needs in ("gold", "gold_marked")]
    assert set(rows) == {(metric.name, column) for metric in wanted for column in metric.columns}
    for metric in wanted:
        assert_is_measured(metric, rows[metric.name, metric.headline], less, gold)
    assert rows["cleaneval", "combined"]["values"][0] == 100
    assert rows["bag", "f1"]["best"] == [0]
    assert rows["bag", "f1"]["values"][2] is None


def assert_is_measured(metric: Metric, row: dict[str, Any], contribution: Contribution, gold: Gold) -> None:
    measured = metric.measure(Output(contribution.text, contribution.marked), gold)
    assert measured is not None
    assert row["values"][1] == round(measured[metric.headline], 4)


def test_a_gold_text_without_markup_says_nothing_about_markup() -> None:
    answer = compared(Contribution("a", "One two.\n\nThree.", "<p> One two.\n<p> Three."), gold="One two.\n\nThree.\n")
    figures = {row["figure"] for row in answer["metrics"]}
    assert "text_only" in figures
    assert "words_f1" in figures
    assert not any(word in figure for figure in figures for word in ("markup", "labelled", "combined"))
    assert all(value in (1, 100) for row in answer["metrics"] for value in row["values"])


def test_gold_texts_lose_their_markup_and_their_url_line() -> None:
    gold = to_gold("URL: http://a.example/\n<h> Title\n<p> Words <b> of it\n<l>item")
    assert gold.text == "Title\nWords <b> of it\nitem"
    assert to_gold("URL is a word\n\nhere").text == "URL is a word\n\nhere"


def test_methods_models_and_peers_take_part() -> None:
    source = PageSource(PAGE)
    assert contribute(source, "main", NOWHERE).text == clean(PAGE).text
    assert contribute(source, "density:c1=0.5", NOWHERE).text == clean(PAGE, method="density:c1=0.5").text
    peer = contribute(source, "turbohtml", NOWHERE)
    assert peer.error is None
    assert "broom handle" in peer.text
    assert (
        contribute(PageSource(Page("a dump", format="text")), "turbohtml", NOWHERE).error
        == "it reads HTML, not plain text"
    )


def test_a_peer_that_fails_is_told_in_its_column(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(page: Page, with_metadata: bool) -> Output:
        raise RecursionError("too\ndeep")

    monkeypatch.setitem(peers.PEERS, "turbohtml", fail)
    assert contribute(PageSource(PAGE), "turbohtml", NOWHERE).error == "RecursionError: too deep"


def test_names_are_checked_before_any_work() -> None:
    check_names(["main", "density:c1=0.5", "turbohtml"], NOWHERE)
    with pytest.raises(UnknownName, match="densty"):
        check_names(["main", "densty"], NOWHERE)
    with pytest.raises(UnknownName, match="passwd"):
        check_names(["/etc/passwd"], NOWHERE)
    with pytest.raises(InputError, match="twice"):
        check_names(["main", "main"], NOWHERE)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    app = make_app(
        Settings(folder=tmp_path_factory.mktemp("workbench"), workers=2, seconds=6)
    )  # a new worker starts in that time, also on a busy machine
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


def test_one_page_several_methods(client: TestClient) -> None:
    offered = client.get("/api/compare").json()
    assert offered["default"] == "main"
    assert "density" in offered["methods"]
    assert "template" not in offered["methods"]  # by itself it keeps all text
    assert "turbohtml" in {peer["name"] for peer in offered["peers"]}
    asked = {"html": EXAMPLE.read_text(), "methods": ["main", "density", "turbohtml"], "gold": clean(PAGE).text}
    answer = client.post("/api/compare", json=asked).json()
    columns = {column["name"]: column for column in answer["columns"]}
    assert set(columns) == set(asked["methods"])
    assert [column["f1"] for column in answer["columns"]] == sorted(
        (each["f1"] for each in columns.values()), reverse=True
    )
    assert answer["columns"][0] == columns["main"]
    assert (columns["main"]["f1"], columns["main"]["text"]) == (1, clean(PAGE).text)
    assert columns["density"]["missing"] > 50
    assert answer["metrics"][0]["values"][0] == 1
    file = {"file": ("page.html", EXAMPLE.read_bytes())}
    sent = client.post("/api/compare", files=file, data={"methods": '["main", "density"]'}).json()
    assert [column["text"] for column in sent["columns"]] == [columns[name]["text"] for name in ("main", "density")]
    assert [column["f1"] for column in sent["columns"]] == [None, None]


def test_methods_of_a_form_that_are_no_json(client: TestClient) -> None:
    answer = client.post("/api/compare", files={"file": ("page.html", b"<p>x")}, data={"methods": "main"})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("methods is not valid JSON: ")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"html": "x", "methods": []}, "methods"),
        ({"html": "x", "methods": ["main", "nothing"]}, "unknown"),
        ({"methods": ["main"]}, "there is no page"),
        ({"html": "x", "methods": "main"}, "methods"),
    ],
)
def test_wrong_requests_are_refused(client: TestClient, body: dict[str, Any], words: str) -> None:
    answer = client.post("/api/compare", json=body)
    assert answer.status_code == 422
    assert words in answer.json()["error"]
