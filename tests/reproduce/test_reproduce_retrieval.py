"""The reproduction of the search experiment, on a site written for the purpose."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from mainmatter.lab.datasets import GoldPage
from mainmatter.records import Gold, Page
from reproduce import template_retrieval as retrieval
from reproduce.run import Run
from reproduce.template_retrieval import (
    ALL_TEXT,
    CRITERIA,
    GOLD,
    SWITCHES,
    VARIANTS,
    Answers,
    IndexedCollection,
    PageTerms,
    Query,
    Switch,
    draw_queries,
    gold_text,
    page_words,
    search_collection,
    split,
    sums_of_changed,
    switch_engines,
    template_words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SECTIONS = "weather law health money travel sport".split()
TOPICS = "harbour garden library bakery ferry museum orchard bridge".split()
MENU = "<ul>" + "".join(f"<li><a href='/{name}'>{name.title()}</a></li>" for name in SECTIONS * 2) + "</ul>"
FILL = "On most days nothing much happens there, and people who come by say so with some satisfaction to each other."


def gold_page(number: int, site: str = "town.example") -> GoldPage:
    """A page about one section and one topic, below a menu that names all sections."""
    section, topic = SECTIONS[number % len(SECTIONS)], TOPICS[number % len(TOPICS)]
    text = [
        f"A word about {section} and the {topic}, number {number} in a long row of stories that we print.",
        f"{FILL} The {section} is not to blame, and story {number} says why in more words than are needed here.",
    ]
    html = f"<html><body>{MENU}{''.join(f'<p>{line}</p>' for line in text)}<p>All rights reserved.</p></body></html>"
    return GoldPage(Page(html, f"https://{site}/{number}", f"{site}-{number}"), Gold(text="\n".join(text)), {})


class TownRun(Run):
    def load(self, name: str) -> list[GoldPage]:
        self.used[name] = 36
        return [gold_page(number) for number in range(36)]


@contextmanager
def no_progress(label: str, count: int) -> Iterator[Callable[[], None]]:
    yield lambda: None


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> IndexedCollection:
    run = TownRun(tmp_path_factory.mktemp("data"), 1, no_progress, lambda line: None)
    return search_collection(run, "town", 20, seed=1)


def words_of(name: str, gold: str, around: str = "", site: str = "a") -> PageTerms:
    counts = Counter(gold.split())
    return PageTerms(name, site, "", counts, frozenset(gold.split()[:40]), frozenset(around.split()))


def test_words_of_a_page() -> None:
    page = gold_page(0)
    words = page_words(page, f"Weather Law {page.gold.text}")
    assert (words.id, words.site) == ("town.example-0", "town.example")
    assert words.gold["weather"] == 2
    assert {"weather", "law"} <= words.around  # more often on the page than in its gold text
    assert "harbour" not in words.around
    assert "needed" not in words.lead


def test_a_comment_is_no_gold_text() -> None:
    page = GoldPage(Page(""), Gold(text="<!-- this page contains\nno article -->"), {})
    assert split(gold_text(page)) == []
    assert split("Straße, CAFE\u0301 x2") == ["straße", "caf\u00e9", "x2"]


def test_template_words_are_around_half_of_a_site_with_some_pages() -> None:
    large = [words_of(f"{number}", "x", "menu" + " rare" * (number < 2)) for number in range(5)]
    small = [words_of(f"s{number}", "x", "other", "b") for number in range(4)]
    assert template_words([*large, *small]) == {"menu"}


def test_queries_ask_for_gold_texts_and_never_twice_for_the_same(town: IndexedCollection) -> None:
    for with_template, queries in town.queries.items():
        assert queries
        answers = [query.relevant["lead"] for query in queries]
        assert len(set(answers)) == len(answers)
        assert all(len(ids) >= 2 for ids in answers)
        for query in queries:
            assert any(word in SECTIONS for word in query.words) is with_template
            assert query.relevant["lead"] <= query.relevant["mentioned"]
            assert query.relevant["repeated"] <= query.relevant["mentioned"]
    assert {query.words for query in town.queries[True] if len(query.words) == 2}


def test_queries_are_the_same_each_time(town: IndexedCollection) -> None:
    again = draw_queries(town.pages, 20, seed=1)
    assert [str(query) for query in again[0]] == [str(query) for query in town.queries[True]]
    assert [str(query) for query in again[1]] == [str(query) for query in town.queries[False]]
    assert draw_queries(town.pages, 20, seed=2) != again


def test_without_the_menu_fewer_pages_match_and_none_is_lost(town: IndexedCollection) -> None:
    sections = [at for at, query in enumerate(town.queries[True]) if len(query.words) == 1]
    assert sections
    for at in sections:
        assert town.answers[ALL_TEXT, True].matching[at] == 36
        assert town.answers["template", True].matching[at] == 6
        assert town.answers[GOLD, True].matching[at] == 6
    assert town.words[ALL_TEXT] > town.words["template"] >= town.words[GOLD]
    assert set(town.words) == set(VARIANTS)


def made_collection() -> IndexedCollection:
    """Three queries: one finds more without boilerplate, one fewer, one as many in another order."""
    ids = frozenset({"a", "b"})
    queries = [Query((word,), dict.fromkeys(CRITERIA, ids)) for word in ("more", "fewer", "other")]
    before = Answers([["x", "y"], ["a", "b"], ["a", "x"]], [9, 9, 9])
    after = Answers([["a", "b"], ["a"], ["x", "a"]], [3, 3, 3])
    answers = {(variant, key): after for variant in VARIANTS for key in (True, False)}
    answers |= {(ALL_TEXT, True): before, (ALL_TEXT, False): before}
    dropped = {"template": {"fewer"}, "template:preset=paper": set[str]()}
    return IndexedCollection(
        "made", [words_of("a", "more")], {True: queries, False: []}, answers, dict.fromkeys(VARIANTS, 7), dropped
    )


def test_better_worse_and_same() -> None:
    made = made_collection()
    assert retrieval.compare(made, "main", 10, template=True, criterion="lead") == (1, 1, 1, 3)
    assert retrieval.compare(made, "main", 1, template=True, criterion="lead") == (1, 1, 1, 2)
    assert sums_of_changed(made, "main", "lead") == ([2, 1, 2, 2], [2, 2, 3, 3])
    measured = retrieval.measure(made, "main", template=True, criterion="lead")
    assert measured.precision == pytest.approx([2 / 3, 4 / 15, 4 / 30])
    assert measured.matching == 3
    assert 0 < measured.p < 1


def test_two_engines_answer_by_the_words_of_the_query_or_the_better_one() -> None:
    made = made_collection()
    after, before = made.answers["template", True], made.answers[ALL_TEXT, True]

    def answers(variant: str, switch: Switch) -> list[list[str]]:
        return switch_engines(made, variant, switch, template=True, criterion="lead").top

    assert answers("template", "") == after.top
    assert answers("template", "words") == [before.top[0], after.top[1], before.top[2]]
    assert answers("template:preset=paper", "words") == before.top
    assert answers("template", "better") == [after.top[0], before.top[1], before.top[2]]
    # The better engine loses nothing that all text finds: the paper's 39 and 0 in the place of 39 and 5.
    changes = [
        retrieval.compare(made, "template", 10, template=True, criterion="lead", switch=switch)[:2]
        for switch in SWITCHES
    ]
    assert changes == [(1, 1), (0, 1), (1, 0)]
    better = retrieval.measure(made, "template", template=True, criterion="lead", switch="better")
    assert better.precision[-1] == pytest.approx(5 / 30)


def test_what_template_drops_are_words_of_the_menu(town: IndexedCollection) -> None:
    assert {*SECTIONS} <= town.dropped["template"]
    assert town.dropped["template:preset=paper"] == set()  # a page without tables is one chunk


def test_the_page(tmp_path: Path) -> None:
    run = TownRun(tmp_path, 1, no_progress, lambda line: None)
    report = retrieval.retrieval(run)
    text = " ".join(report.write(tmp_path, "page", "The end.").read_text("utf-8").split())
    assert set(run.used) == {"cleanportaleval", "daniel-a", "wcxb-dev"}
    assert set(report.pictures) == {"retrieval.png"}
    assert report.pictures["retrieval.png"].startswith(b"\x89PNG")
    for phrase in (
        "| the paper | as the paper | ours |",
        "39 / 0 of 280",
        "How far this is circular",
        "| 39 | 5 | 44 | .89 | .11 |",
        "| gold |",
        "| repeated |",
        "by the query's words",
    ):
        assert phrase in text
