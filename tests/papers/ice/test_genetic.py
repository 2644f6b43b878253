"""The search: it finds what there is to find, twice the same, and goes on where it was interrupted (ICE 3.5)."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from mainmatter.papers.ice import genetic
from mainmatter.papers.ice.expressions import BOUNDED, EVERYTHING, HTML, Tree, capture, either, group, literal
from mainmatter.papers.ice.genetic import (
    WORST,
    Problem,
    SearchSettings,
    SearchState,
    cross,
    mutate,
    polish,
    prune,
    random_tree,
    search,
)
from mainmatter.papers.ice.regex import captured_in_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

SETTINGS = SearchSettings(
    population=30, generations=12, seed=3, tournament=3, mutation=0.5, max_depth=6, sample=2, parsimony=0.001
)
SENTENCE = "The river rose by two metres in the night, and the old bridge had to be closed."


class Lines:
    """Keep the long lines of four small texts: one point for each right line, one off for each wrong one."""

    def __init__(self) -> None:
        short = "<ul><li> <a>Home</a>\n<ul><li> <a>News</a>\n<p> 12 May\n"
        self.texts = [short + f"<p> {SENTENCE * n}\n<td> {SENTENCE}\n" + short for n in (1, 2, 3, 4)]
        self.judged = 0

    @property
    def pages(self) -> int:
        return len(self.texts)

    def fitness(self, tree: Tree, pages: Sequence[int]) -> float | None:
        self.judged += 1
        total = 0
        for number in pages:
            text = self.texts[number]
            lines = [0, *(found.end() for found in re.finditer("\n", text))][:-1]
            for start, end in captured_in_lines(BOUNDED.compile(tree), text, lines):
                total += 1 if end - start >= len(SENTENCE) else -1
        return total / (2 * len(pages))


def run(
    settings: SearchSettings = SETTINGS, checkpoint: Path | None = None, digest: str = ""
) -> tuple[SearchState, list[str]]:
    lines: list[str] = []
    return search(Lines(), BOUNDED, settings, lines.append, checkpoint, digest), lines


def test_it_finds_the_long_lines() -> None:
    state, lines = run()
    assert Lines().fitness(EVERYTHING["bounded"], range(4)) == -2.0
    assert state.history[-1].best == pytest.approx(1.0)
    assert Lines().fitness(state.best, range(4)) == 1.0
    assert len(lines) == len(state.history) == SETTINGS.generations
    assert re.fullmatch(
        r"generation 12 of 12: best fitness 1\.0000, mean -?\d\.\d{4}, \d+ nodes(, \d+ interrupted)?", lines[-1]
    )
    best = [generation.best - generation.size * SETTINGS.parsimony for generation in state.history]
    assert best == sorted(best)


def test_the_same_seed_gives_the_same_search() -> None:
    one, other = run()[0], run()[0]
    assert (one.best, one.population, one.history) == (other.best, other.population, other.history)
    assert run(replace(SETTINGS, seed=4))[0].population != one.population


def test_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "state.json"
    run(replace(SETTINGS, generations=5), path)
    assert len(json.loads(path.read_bytes())["history"]) == 5
    state, lines = run(checkpoint=path)
    assert lines[0] == f"continues after generation 5 of {path}"
    assert len(lines) == 1 + 7
    whole = run()[0]
    assert (state.best, state.population, state.history) == (whole.best, whole.population, whole.history)
    # What is finished is not searched again.
    assert run(checkpoint=path)[0].best == whole.best


def test_an_interrupt_leaves_the_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    lines: list[str] = []

    def report(line: str) -> None:
        lines.append(line)
        if len(lines) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(Lines(), BOUNDED, SETTINGS, report, path)
    assert run(checkpoint=path)[0].population == run()[0].population


DAMAGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "no tree": lambda content: content.update(best=["star", "a"]),
    "foreign best": lambda content: content.update(best="(a+)+"),
    "foreign tree": lambda content: content["population"].__setitem__(3, "(a+)+"),
    "too much effort": lambda content: content["population"].__setitem__(3, ["group", *[["or", r"\w*+", r"\d++"]] * 8]),
    "one too few": lambda content: content["population"].pop(),
    "one too many": lambda content: content["population"].append(r"\w*+"),
    "no fitness": lambda content: content.update(fitness=float("nan")),
    "no history": lambda content: content.update(history=[]),
    "a generation missing": lambda content: content["history"].pop(0),
    "a generation too many": lambda content: content["history"].append({**content["history"][-1], "number": 2}),
    "other literals": lambda content: content["search"].update(literals="0"),
    "no search": lambda content: content.pop("search"),
}


@pytest.mark.parametrize("damage", ["other seed", "other data", "cut off", "no JSON", "a list", "deep", *DAMAGES])
def test_a_checkpoint_that_does_not_fit_is_not_used(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "state.json"
    settings = replace(SETTINGS, generations=2)
    run(replace(settings, seed=9) if damage == "other seed" else settings, path, "x" if damage == "other data" else "")
    text = path.read_text("utf-8")
    content = json.loads(text)
    if damage == "cut off":
        path.write_text(text[:300])
    elif damage == "no JSON":
        path.write_bytes(b"\xff\x00")
    elif damage == "deep":
        path.write_text("[" * 100_000)
    elif damage in DAMAGES:
        DAMAGES[damage](content)
        path.write_text(json.dumps(content))
    elif damage == "a list":
        path.write_text("[]")
    state, lines = run(settings, path)
    assert lines[0].startswith(f"starts over: {path} does not fit: ")
    assert lines[1].startswith("generation 1 of 2")
    # What was written over it does fit.
    assert run(settings, path)[1] == [f"continues after generation 2 of {path}"]
    assert state.population == run(settings)[0].population


class Slow:
    """Interrupts all expressions but those with a tag in front."""

    pages = 3

    def fitness(self, tree: Tree, pages: Sequence[int]) -> float | None:
        return 0.5 if tree.text.startswith("<") else None


def test_what_takes_too_long_is_worst_and_counted() -> None:
    problem: Problem = Slow()
    lines: list[str] = []
    state = search(problem, HTML, replace(SETTINGS, generations=3), lines.append)
    assert state.best.text.startswith("<")
    first = state.history[0]
    assert 0 < first.interrupted < 30
    assert first.mean == pytest.approx(0.5)  # of those in time
    assert f"{first.interrupted} interrupted" in lines[0]
    assert state.fitness > WORST


class Bad:
    """Takes points off for everything."""

    pages = 2

    def fitness(self, tree: Tree, pages: Sequence[int]) -> float | None:
        return -1e6


def test_what_does_badly_was_not_interrupted() -> None:
    state = search(Bad(), BOUNDED, replace(SETTINGS, generations=2), lambda line: None)
    assert [generation.interrupted for generation in state.history] == [0, 0]


def test_a_population_of_one_and_a_generation_of_none() -> None:
    state, _ = run(replace(SETTINGS, population=1, generations=2))
    assert len(state.population) == 1
    assert run(replace(SETTINGS, generations=0))[0].best == EVERYTHING["bounded"]


def test_pruning_takes_away_what_does_nothing() -> None:
    long = group(literal(r"<\S*+ "), capture(literal(r"[^\n]{60,}+")))
    useless = group(literal(r"(?=\S*<table>)"), literal(r"<\S*+ "), capture(literal(r"[^\n]{240,}+")))
    tree = either(group(literal(r"(?=\S*<(?:nav|footer)>)"), literal(r"\n")), long, useless)
    problem = Lines()
    assert problem.fitness(tree, range(4)) == 1.0
    pruned = prune(problem, BOUNDED, tree, 0.0)
    assert problem.fitness(pruned, range(4)) == 1.0
    assert pruned.text == r"([^\n]{60,}+)"
    # Each node must be worth more than the tolerance: here none is, and something is left all the same.
    assert prune(problem, BOUNDED, tree, 1.0).size >= 1


def test_polishing_improves_the_details() -> None:
    """Lines of 10 characters and more are too many; one change of a literal is enough."""
    problem = Lines()
    start = group(literal(r"<\S*+ "), capture(literal(r"[^\n]{10,}+")))
    before = problem.fitness(start, range(4))
    lines: list[str] = []
    polished = polish(problem, BOUNDED, SETTINGS, start, 6, lines.append)
    assert before is not None
    assert before < 1
    assert problem.fitness(polished, range(4)) == 1.0
    assert lines[-1].startswith(f"polishing {len(lines)} of 6: fitness 1.0000")
    assert polish(problem, BOUNDED, SETTINGS, start, 6, lines.append) == polished
    assert polish(problem, BOUNDED, SETTINGS, start, 0, lines.append) == start


def test_crossover_and_mutation_come_from_their_parents() -> None:
    rng = random.Random(2)
    one, other = group(literal(r"\w++"), literal(r"\d++")), capture(literal(r"</a>"))
    known = {r"\w++", r"\d++", r"</a>"}
    for _ in range(200):
        child = cross(rng, BOUNDED, 6, one, other)
        assert {node.literal for node in child.walk() if node.kind == "literal"} <= known
        assert mutate(rng, BOUNDED, 6, one) != one
    assert all(random_tree(rng, BOUNDED, 2).depth <= 2 for _ in range(100))


class Shortness:
    """Finds short expressions the better; remembers which it was asked about."""

    pages = 5

    def __init__(self) -> None:
        self.asked: list[tuple[Tree, tuple[int, ...]]] = []

    def fitness(self, tree: Tree, pages: Sequence[int]) -> float | None:
        self.asked.append((tree, tuple(pages)))
        return None if tree.kind == "or" else 1 / len(tree.text)


FITTEST = replace(SETTINGS, strategy="fittest", parsimony=0.0, sample=3)


def test_the_fittest_are_selected_and_crossed_as_in_the_paper() -> None:
    """ICE 3.5: random at first; the fittest are selected, new individuals are made by crossing the selected."""
    problem = Shortness()
    first = search(problem, HTML, replace(FITTEST, generations=0), print).population
    assert len(first) == 30
    assert EVERYTHING["html"] not in first
    population = first
    for generations in range(1, 5):
        state = search(problem, HTML, replace(FITTEST, generations=generations), lambda line: None)
        ranked = sorted(population, key=lambda tree: WORST if tree.kind == "or" else 1 / len(tree.text), reverse=True)
        assert state.population[:15] == ranked[:15]
        assert state.best == ranked[0]
        last = state.history[-1]
        in_time = [1 / len(tree.text) for tree in population if tree.kind != "or"]
        assert last.best == pytest.approx(max(in_time))
        assert last.mean == pytest.approx(sum(in_time) / len(in_time))
        assert last.interrupted == 30 - len(in_time)
        literals = {node.literal for tree in ranked[:15] for node in tree.walk()}
        mutated = [tree for tree in state.population[15:] if not {node.literal for node in tree.walk()} <= literals]
        assert len(mutated) <= 15 * 0.5 + 5  # all others come from the selected
        population = state.population


def test_all_generations_are_judged_on_the_same_pages_and_an_expression_once() -> None:
    problem = Shortness()
    search(problem, HTML, replace(FITTEST, generations=4), lambda line: None)
    assert len({pages for _, pages in problem.asked}) == 1
    assert len(problem.asked[0][1]) == 3
    assert len({tree for tree, _ in problem.asked}) == len(problem.asked)


def test_the_rates_of_the_library_that_the_paper_used(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {"cross": 0, "mutate": 0}

    def count(name: str, tree: Tree) -> Tree:
        calls[name] += 1
        return tree

    monkeypatch.setattr(genetic, "cross", lambda rng, grammar, depth, one, other: count("cross", one))
    monkeypatch.setattr(genetic, "mutate", lambda rng, grammar, depth, tree: count("mutate", tree))
    search(Shortness(), HTML, replace(FITTEST, population=8000, generations=1, mutation=0.05), lambda line: None)
    assert calls["cross"] / 4000 == pytest.approx(0.95, abs=0.01)
    assert calls["mutate"] / 4000 == pytest.approx(0.05, abs=0.01)


def test_the_papers_search_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    search(Shortness(), HTML, replace(FITTEST, generations=2), lambda line: None, path)
    again = search(Shortness(), HTML, replace(FITTEST, generations=5), lambda line: None, path)
    whole = search(Shortness(), HTML, replace(FITTEST, generations=5), lambda line: None)
    assert (again.best, again.population, again.history) == (whole.best, whole.population, whole.history)
