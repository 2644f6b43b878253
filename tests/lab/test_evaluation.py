"""Evaluation of a tiny gold standard, with figures worked out by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING

import pytest

import mainmatter.lab.evaluation as evaluation_module
from mainmatter.errors import MissingExtra, UnknownName
from mainmatter.lab.datasets import GoldPage
from mainmatter.lab.evaluation import Evaluation, evaluate, format_table, to_json, to_table
from mainmatter.lab.learned import short_digest
from mainmatter.lab.metrics import Output
from mainmatter.lab.peers import PEERS, get_peer
from mainmatter.papers.density.method import Density
from mainmatter.papers.ice.baseline import IceBaseline
from mainmatter.records import Gold, Page
from toys import Cutoff

if TYPE_CHECKING:
    from collections.abc import Sequence

# What ice-baseline, which keeps all text, makes of them:
#   half    4 words, 2 of them the gold's 2      precision 1/2  recall 1    F1 2/3
#   whole   2 words, both right                  precision 1    recall 1    F1 1
#   wrong   1 word, and the gold is another      precision 0    recall 0    F1 0
PAGES = [
    GoldPage(Page("<p>one two three four", id="half"), Gold("one two"), {"page_type": "forum", "lang": "en"}),
    GoldPage(Page("<h1>alpha</h1><p>beta", id="whole"), Gold("alpha beta"), {"page_type": "article", "lang": "en"}),
    GoldPage(Page("<p>gamma", id="wrong"), Gold("delta"), {"page_type": "forum", "lang": "en"}),
]


def baseline(metrics: Sequence[str] = ("bag",), pages: Sequence[GoldPage] = PAGES, workers: int = 1) -> Evaluation:
    return evaluate("ice-baseline", "tiny", pages, metrics, workers=workers)


def test_figures_of_every_page() -> None:
    assert baseline().pages == [
        ("half", {"bag": {"precision": 0.5, "recall": 1.0, "f1": pytest.approx(2 / 3)}}),
        ("whole", {"bag": {"precision": 1.0, "recall": 1.0, "f1": 1.0}}),
        ("wrong", {"bag": {"precision": 0.0, "recall": 0.0, "f1": 0.0}}),
    ]


def test_figures_of_the_set() -> None:
    found = baseline()
    assert (found.method, found.dataset, found.failures) == ("ice-baseline", "tiny", [])
    assert found.scores["bag"] == pytest.approx(
        {
            "pages": 3,
            "precision": 1 / 2,
            "precision_sd": 1 / 2,
            "precision_min": 0,
            "precision_max": 1,
            "recall": 2 / 3,
            "recall_sd": sqrt(1 / 3),
            "recall_min": 0,
            "recall_max": 1,
            "f1": 5 / 9,
            "f1_sd": sqrt(((1 / 9) ** 2 + (4 / 9) ** 2 + (5 / 9) ** 2) / 2),
            "f1_min": 0,
            "f1_max": 1,
        }
    )


def test_groups_only_where_there_are_several() -> None:
    groups = baseline().groups
    assert list(groups) == ["page_type=article", "page_type=forum"]
    assert groups["page_type=article"]["bag"]["f1"] == 1
    assert groups["page_type=forum"]["bag"]["f1"] == pytest.approx(1 / 3)
    assert groups["page_type=forum"]["bag"]["pages"] == 2


def test_page_that_a_metric_cannot_measure_is_left_out() -> None:
    pages = [*PAGES[:2], GoldPage(Page("<p>gamma", id="snippets"), Gold(must_have=("gam",), must_not_have=("x",)), {})]
    found = baseline(("bag", "snippet"), pages)
    assert found.pages[2] == ("snippets", {"bag": None, "snippet": found.pages[2][1]["snippet"]})
    assert found.scores["bag"]["pages"] == 2
    assert found.scores["bag"]["f1"] == pytest.approx(5 / 6)
    assert found.scores["snippet"]["pages"] == 1
    assert found.scores["snippet"]["accuracy"] == 1


def test_metadata_are_read_only_if_a_metric_asks() -> None:
    page = GoldPage(Page("<title>A river</title><p>x", id="1"), Gold("x", title="A river", author="Ann Lee"), {})
    assert baseline(("metadata",), [page]).pages == [
        ("1", {"metadata": {"accuracy": 0.5, "title": 1.0, "author": 0.0}})
    ]


def test_processes_give_what_one_gives() -> None:
    assert baseline(workers=2) == baseline(workers=1)


@pytest.mark.parametrize("workers", [1, 2])
def test_method_as_an_object_goes_by_its_name(workers: int) -> None:
    assert evaluate(IceBaseline(), "tiny", PAGES, ["bag"], workers=workers) == baseline()
    strict = evaluate(Density(c1=0.99), "tiny", PAGES, ["bag"], workers=workers)
    assert strict == replace(evaluate("density:c1=0.99", "tiny", PAGES, ["bag"]), method="density")


def test_progress_is_told_after_each_page() -> None:
    calls: list[None] = []
    evaluate("density", "tiny", PAGES, ["bag"], on_page=lambda: calls.append(None))
    assert len(calls) == 3


def test_failures_are_listed_and_count_as_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_on_half(page: Page, with_metadata: bool) -> Output:
        if page.id == "half":
            raise ValueError("cannot count")
        return Output("alpha beta")

    monkeypatch.setitem(PEERS, "turbohtml", fail_on_half)
    found = evaluate("turbohtml", "tiny", PAGES, ["bag"])
    assert found.failures == [("half", "ValueError: cannot count")]
    assert found.pages[0] == ("half", {"bag": {"precision": 0.0, "recall": 0.0, "f1": 0.0}})
    assert found.scores["bag"]["pages"] == 3
    assert found.scores["bag"]["f1"] == pytest.approx(1 / 3)


def test_unknown_names_are_refused_before_any_work() -> None:
    with pytest.raises(UnknownName, match="unknown method 'resilparse'; did you mean 'resiliparse'"):
        evaluate("resilparse", "tiny", PAGES, ["bag"])
    with pytest.raises(UnknownName, match="unknown metric 'bagg'; did you mean 'bag'"):
        baseline(("bagg",))


def test_missing_peer_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mainmatter.lab.peers.find_spec", lambda name: None)
    with pytest.raises(
        MissingExtra, match=r"trafilatura, which is not installed; run: pip install 'mainmatter\[bench\]'"
    ):
        get_peer("trafilatura")


# The report


def test_table_of_one_metric_shows_all_its_columns() -> None:
    assert to_table([baseline()], ["bag"]) == (
        "| dataset | method       | pages | precision | recall |    f1 |\n"
        "|---------|--------------|------:|----------:|-------:|------:|\n"
        "| tiny    | ice-baseline |     3 |     0.500 |  0.667 | 0.556 |"
    )


def test_table_with_groups() -> None:
    assert to_table([baseline()], ["bag"], groups=True).splitlines()[2:] == [
        "| tiny                | ice-baseline |     3 |     0.500 |  0.667 | 0.556 |",
        "|   page_type=article | ice-baseline |     1 |     1.000 |  1.000 | 1.000 |",
        "|   page_type=forum   | ice-baseline |     2 |     0.250 |  0.500 | 0.333 |",
    ]


def test_table_of_several_metrics_shows_their_headlines_in_their_units() -> None:
    pytest.importorskip("rapidfuzz")
    marked = GoldPage(Page("<p>a b", id="1"), Gold("a b", "<p> a b"), {})
    with_marked = baseline(("bag", "cleaneval"), [marked])
    without = baseline(("bag", "cleaneval"), PAGES[1:2])
    assert to_table([with_marked, without], ["bag", "cleaneval"]) == (
        "| dataset | method       | pages | bag f1 | cleaneval combined |\n"
        "|---------|--------------|------:|-------:|-------------------:|\n"
        "| tiny    | ice-baseline |     1 |  1.000 |              100.0 |\n"
        "| tiny    | ice-baseline |     1 |  1.000 |                  - |"
    )


def test_words_to_the_left_figures_to_the_right() -> None:
    assert format_table([["name", "n"], ["a", "-"], ["bcdef", "10.5"]]) == (
        "| name  |    n |\n|-------|-----:|\n| a     |    - |\n| bcdef | 10.5 |"
    )


def knowing(monkeypatch: pytest.MonkeyPatch, *pages: GoldPage) -> Evaluation:
    """The baseline, if it had learned from some pages."""
    known = frozenset(map(short_digest, pages))
    monkeypatch.setattr(evaluation_module, "learned_by", lambda name: known)
    return baseline()


def test_pages_that_were_learned_from_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing, some, everything = (knowing(monkeypatch, *pages) for pages in ([], PAGES[1:2], PAGES))
    assert nothing.learned_from == [False] * 3
    assert nothing.unseen == everything.unseen == {}
    assert some.learned_from == [False, True, False]
    assert some.scores == baseline().scores
    assert some.unseen == evaluate(IceBaseline(), "tiny", [PAGES[0], PAGES[2]], ["bag"]).scores
    unknown = replace(some, method="old", learned_from=None, unseen={})
    peer = replace(some, method="trafilatura", learned_from=None, unseen={})
    assert to_table([nothing, some, everything, unknown, peer], ["bag"]) == (
        "| dataset | method       | pages | precision | recall |    f1 | learned from | f1 on others |\n"
        "|---------|--------------|------:|----------:|-------:|------:|--------------|-------------:|\n"
        "| tiny    | ice-baseline |     3 |     0.500 |  0.667 | 0.556 | 0            |        0.556 |\n"
        "| tiny    | ice-baseline |     3 |     0.500 |  0.667 | 0.556 | 1            |        0.333 |\n"
        "| tiny    | ice-baseline |     3 |     0.500 |  0.667 | 0.556 | 3            |            - |\n"
        "| tiny    | old          |     3 |     0.500 |  0.667 | 0.556 | unknown      |            - |\n"
        "| tiny    | trafilatura  |     3 |     0.500 |  0.667 | 0.556 | -            |            - |"
    )
    rows = to_table([some], ["bag", "shingle"][:1], groups=True).splitlines()
    assert rows[3].endswith("| 1.000 |            - |            - |")
    assert "learned" not in to_table([nothing, peer], ["bag"])


def test_a_method_that_does_not_learn_has_learned_from_nothing() -> None:
    assert evaluate(IceBaseline(), "tiny", PAGES, ["bag"]).learned_from == [False] * 3
    assert evaluate(Cutoff().learn([(3, 4)]), "tiny", PAGES, ["bag"]).learned_from is None  # nobody knows


def test_json_holds_everything() -> None:
    found = baseline()
    (read,) = json.loads(to_json([found]))
    fields = "method dataset scores groups pages failures convention learned_from unseen"
    assert list(read) == fields.split()
    assert read["scores"] == found.scores
    assert read["groups"] == found.groups
    assert read["pages"] == [[name, scores] for name, scores in found.pages]
