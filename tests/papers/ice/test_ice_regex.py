"""ICE 3.5: an expression found by genetic search; fitness worked out by hand, training on small sites of our own."""

from __future__ import annotations

import pickle
import random
import re
import sys
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import mainmatter
from mainmatter import get_method
from mainmatter.api import read
from mainmatter.errors import InputError, MissingExtra, ModelError
from mainmatter.method import Example
from mainmatter.models.store import SHIPPED, load
from mainmatter.papers.ice import regex as ice_regex
from mainmatter.papers.ice.expressions import (
    BOUNDED,
    EVERYTHING,
    HTML,
    MAX_EFFORT,
    Tree,
    capture,
    either,
    group,
    literal,
)
from mainmatter.papers.ice.genetic import prune, random_tree
from mainmatter.papers.ice.regex import Fitness, IceRegex, ObservedMarkup, ObservedSource
from mainmatter.records import Gold, Page
from timing import assert_linear
from toys import edit_model

if TYPE_CHECKING:
    from pathlib import Path

LONG = group(literal(r"<\S*+ "), capture(literal(r"[^\n]{20,}+")))
SMALL: dict[str, Any] = {"population": 24, "generations": 8, "sample": 4}


def example(html: str, gold: str) -> Example:
    document = read(Page(html))
    return Example(document, Gold(text=gold), np.zeros(len(document)), document.columns.kinds)


def observe(method: IceRegex, page: Example) -> ObservedMarkup:
    observed = method.observe(page)
    assert isinstance(observed, ObservedMarkup)
    return observed


def with_expression(tree: Tree, **parameters: Any) -> IceRegex:
    method = IceRegex(**parameters)
    method.restore({"tree": tree.to_json(), "expression": BOUNDED.text(tree)}, {})
    return method


def site(seed: int) -> Example:
    """A page with a menu, an article and a footer."""
    rng = random.Random(seed)
    names = "river bridge water night metres town road summer people morning".split()

    def sentence() -> str:
        return " ".join(rng.choices(names, k=rng.randint(14, 24))).capitalize() + "."

    menu = "".join(f"<li><a href=/{name}>{name.capitalize()} news</a>" for name in rng.sample(names, 6))
    article = [sentence() for _ in range(rng.randint(2, 5))]
    body = "".join(f"<p>{text}</p>" for text in article)
    return example(f"<ul>{menu}</ul>{body}<div class=footer>All rights reserved {seed}</div>", "\n".join(article))


SITES = [site(seed) for seed in range(6)]


def test_the_usual_parameters_are_those_of_the_model_that_ships() -> None:
    # The better of two searches.
    shipped = load(SHIPPED / "ice-regex").parameters | {"strategy": "tournament"}
    assert IceRegex(seed=2).parameters == shipped
    assert IceRegex().seed == 1


def test_more_than_half_of_a_block_must_be_captured() -> None:
    first_word = group(literal(r"<\S*+ "), capture(literal(r"\w++")))
    found = with_expression(first_word).extract(read(Page("<p>abcd efg</p><p>abcdef ghijk")))
    assert found.scores.tolist() == pytest.approx([4 / 8, 6 / 12])
    assert found.kept.tolist() == [False, False]
    assert with_expression(first_word).extract(read(Page("<p>abcdefghijk lmnopqrst"))).kept.tolist() == [True]
    with pytest.raises(InputError, match=r"parsimony must be from 0 to 0\.1"):
        IceRegex(parsimony=0.105)


def test_the_points_of_the_paper() -> None:
    method = IceRegex()
    page = observe(method, example("<p>a b b c<p>b d<p>e", "a b b x x"))
    fitness = Fitness(method, [page])

    def points(*kept: bool) -> float:
        return fitness.points(*page.score(np.array(kept)))

    # Two for a, b, b; one off for c.
    assert points(True, False, False) == 2 * 3 - 1
    # The gold text has b twice only: the third is one too many, as are c and d.
    assert points(True, True, False) == 2 * 3 - 3
    assert points(False, True, False) == 2 - 1
    assert points(False, False, True) == -1
    assert points(False, False, False) == 0
    assert page.gold_total == 5
    assert fitness.mean([5.0], [0]) == 0.5


def test_the_points_agree_with_counters() -> None:
    rng = random.Random(7)
    method = IceRegex(award=3, penalty=0.5)
    for _ in range(60):
        blocks = [rng.choices("abcdefg", k=rng.randint(1, 8)) for _ in range(rng.randint(1, 6))]
        gold = rng.choices("abcdexyz", k=rng.randint(0, 12))
        page = observe(method, example("".join(f"<p>{' '.join(block)}" for block in blocks), " ".join(gold)))
        kept = np.array([rng.random() < 0.5 for _ in blocks])
        found = Counter(word for block, keep in zip(blocks, kept, strict=True) if keep for word in block)
        matched = (found & Counter(gold)).total()
        assert page.score(kept) == (matched, found.total() - matched)
        assert Fitness(method, [page]).points(*page.score(kept)) == 3 * matched - 0.5 * (found.total() - matched)


def test_by_page_and_all_together() -> None:
    method = IceRegex()
    small, large = example("<p>a<p>x y z u v", "a"), example("<p>a b c d e f g h<p>x", "a b c d e f g h")
    pages = [method.observe(small), method.observe(large)]
    # Everything: 2 - 5 of 2 is below -1; 16 - 1 of 16.
    assert Fitness(method, pages).fitness(EVERYTHING["bounded"], [0, 1]) == pytest.approx((-1 + 15 / 16) / 2)
    assert Fitness(method, pages).fitness(EVERYTHING["bounded"], [1]) == pytest.approx(15 / 16)
    together = IceRegex(per_page=False)
    assert Fitness(together, pages).fitness(EVERYTHING["bounded"], [0, 1]) == pytest.approx((-3 + 15) / 18)


def test_a_page() -> None:
    method = with_expression(either(literal(r"(?=\S*<\.(?:nav|footer)>)"), LONG))
    found = method.extract(
        read(
            Page(
                "<ul><li><a href=/>Home</a></ul><p>The river rose by two <a href=x>metres</a> in the night.</p>"
                "<p>Short.</p><div class=footer>All rights reserved by the owners of this page</div>"
            )
        )
    )
    assert found.kept.tolist() == [False, True, False, False]
    assert found.scores.tolist() == [0, 1, 0, 0]
    assert list(found.reasons) == [
        "the expression captures nothing of it",
        "the expression captures all of it",
        "the expression captures nothing of it",
        "the expression captures nothing of it",
    ]


def test_the_threshold() -> None:
    first_word = group(literal(r"<\S*+ "), capture(literal(r"\w++")))
    document = read(Page("<p>abc d</p><p>abc defghijk"))
    found = with_expression(first_word).extract(document)
    assert found.scores.tolist() == pytest.approx([3 / 5, 3 / 12])
    assert found.kept.tolist() == [True, False]
    assert list(found.reasons) == [
        "the expression captures most of it",
        "the expression captures a part of it that is too small",
    ]
    assert with_expression(first_word, threshold=0.2).extract(document).kept.all()
    assert not with_expression(first_word, threshold=0.6).extract(document).kept.any()


def test_it_learns_more_than_to_return_everything() -> None:
    lines: list[str] = []
    method = IceRegex(**SMALL).fit(SITES[:4], lines.append)
    pages = [method.observe(each) for each in SITES]
    fitness = Fitness(method, pages)
    everything = fitness.fitness(EVERYTHING["bounded"], range(6))
    learned = fitness.fitness(method.tree_, range(6))
    assert everything is not None
    assert learned is not None
    assert everything < 0.9 < 0.97 < learned
    assert sum(line.startswith("generation") for line in lines) == 8
    assert lines[-1].endswith(method.expression_)
    new = method.extract(SITES[5].document)
    assert [bool(text.startswith("All") or "news" in text) for text in new.document.texts] == (~new.kept).tolist()


def test_the_same_seed_gives_the_same_expression(tmp_path: Path) -> None:
    one, other = IceRegex(**SMALL).fit(SITES), IceRegex(**SMALL).fit(SITES)
    assert one.expression_ == other.expression_
    # The same with a checkpoint, which is no parameter of a model; and again from that checkpoint.
    third = IceRegex(**SMALL, checkpoint=str(tmp_path / "checkpoints")).fit(SITES)
    lines: list[str] = []
    fourth = IceRegex(**SMALL, checkpoint=str(tmp_path / "checkpoints")).fit(SITES, lines.append)
    assert third.expression_ == fourth.expression_ == one.expression_
    assert lines[0].startswith("continues after generation 8 of")
    assert "checkpoint" not in third.parameters
    # Other pages are another search, with a file of their own.
    IceRegex(**SMALL, checkpoint=str(tmp_path / "checkpoints")).fit(SITES[1:])
    assert len(list((tmp_path / "checkpoints").iterdir())) == 2


def test_save_and_load(tmp_path: Path) -> None:
    method = IceRegex(**SMALL, threshold=0.4).fit(SITES)
    size = method.save(tmp_path / "model", {"note": "x"})
    assert size < 20_000
    again = IceRegex.load(tmp_path / "model")
    assert (again.expression_, again.tree_, again.threshold) == (method.expression_, method.tree_, 0.4)
    assert IceRegex.load(tmp_path / "model", threshold=0.7).threshold == 0.7
    travelled = pickle.loads(pickle.dumps(again))
    for each in SITES:
        kept = method.extract(each.document).kept.tolist()
        assert again.extract(each.document).kept.tolist() == travelled.extract(each.document).kept.tolist() == kept
    with pytest.raises(ModelError, match="trained with literals=bounded"):
        IceRegex.load(tmp_path / "model", literals="html")


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({}, "KeyError"),
        ({"tree": ["star", "a"], "expression": "a*"}, "not a node"),
        ({"tree": "(a+)+", "expression": "^(?:(a+)+)"}, "not a literal of the grammar"),
        ({"tree": r"[^\n]*+", "expression": "^(?:(a+)+)"}, "do not agree"),
        ({"tree": ["group", *[["or", r"\w*+", r"\d++"]] * 8], "expression": ""}, "literals; 96 are allowed"),
    ],
)
def test_a_damaged_or_dangerous_model_is_refused(tmp_path: Path, facts: dict[str, Any], problem: str) -> None:
    with_expression(LONG).save(tmp_path)
    edit_model(tmp_path, facts=facts)
    with pytest.raises(ModelError, match=f"damaged: .*{problem}"):
        IceRegex.load(tmp_path)


def test_what_cannot_be() -> None:
    with pytest.raises(InputError, match="no pages to learn from"):
        IceRegex().learn([])
    with pytest.raises(InputError, match="literals must be one of bounded, html, not 'perl'"):
        IceRegex(literals="perl")
    with pytest.raises(ModelError, match="has learned nothing yet"):
        IceRegex().extract(read(Page("<p>x")))


@pytest.mark.parametrize(
    ("parameter", "wrong"),
    [
        *[("threshold", wrong) for wrong in (-0.1, 1, 1.5, True, "0.5", float("nan"))],
        *[("population", wrong) for wrong in (1, 0, 2.5, True)],
        *[("generations", wrong) for wrong in (0, -1)],
        *[("sample", wrong) for wrong in (0, -1, True)],
        *[("max_depth", wrong) for wrong in (0, 1.5)],
        *[("mutation", wrong) for wrong in (-0.1, 1.1, False)],
        *[("parsimony", wrong) for wrong in (-0.001, 0.2)],
        *[("award", wrong) for wrong in (0, -1.0, float("inf"))],
        *[("penalty", wrong) for wrong in (-0.5, True)],
        *[("timeout", wrong) for wrong in (0, -1, float("inf"))],
        *[("polishing", wrong) for wrong in (-1, 0.5)],
        *[("tournament", wrong) for wrong in (0, True)],
        ("seed", 1.5),
        ("per_page", 1),
        ("checkpoint", None),
    ],
)
def test_parameters_out_of_range(parameter: str, wrong: object) -> None:
    with pytest.raises(InputError, match=f"ice-regex.*: {parameter} must be .*, not "):
        IceRegex(**{parameter: wrong})  # type: ignore[arg-type]


def test_parameters_at_the_ends_of_their_ranges() -> None:
    IceRegex(threshold=0, population=2, generations=1, sample=1, max_depth=1, mutation=0, parsimony=0, penalty=0)
    IceRegex(threshold=0.99, mutation=1, parsimony=0.1, polishing=0, tournament=1, timeout=1e-6, award=1e-6)


def test_a_digest_tells_pages_and_counting() -> None:
    def digest(method: IceRegex, *pages: tuple[str, str]) -> str:
        return Fitness(method, [method.observe(example(*page)) for page in pages]).digest

    plain = digest(IceRegex(), ("<p>a b<p>c", "a b"))
    others = [
        digest(IceRegex(), ("<p>a b<p>c", "a b x")),  # a word more that the page does not have
        digest(IceRegex(), ("<p>a b<p>c", "a c")),
        digest(IceRegex(), ("<p>a b<p>c", "a b"), ("", "")),
        digest(IceRegex(), ("<p>a b", "a b"), ("<p>c", "")),
        digest(IceRegex(award=3), ("<p>a b<p>c", "a b")),
        digest(IceRegex(literals="html"), ("<p>a b<p>c", "a b")),
        digest(IceRegex(literals="html", timeout=0.1), ("<p>a b<p>c", "a b")),
        digest(IceRegex(literals="html"), ("<p>a b<p>c", "a b x")),
        digest(IceRegex(literals="html"), ("<p>a b<p> c", "a b")),
    ]
    assert len({plain, *others}) == 1 + len(others)
    # Where nothing is interrupted, the time-out is nothing to the search.
    assert digest(IceRegex(timeout=0.1), ("<p>a b<p>c", "a b")) == plain
    page = observe(IceRegex(), example("<p>a b<p>c", "a b"))
    moved = [
        ObservedMarkup(page.markup, page.words, page.counts[::-1].copy(), page.gold, page.gold_total),
        ObservedMarkup(page.markup, page.words[::-1].copy(), page.counts, page.gold, page.gold_total),
        ObservedMarkup(page.markup, page.words, page.counts, page.gold, 9),
    ]
    assert len({plain, *(Fitness(IceRegex(), [each]).digest for each in moved)}) == 4


def test_nothing_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("regex")
    monkeypatch.setattr(ice_regex, "captured_in_time", lambda pattern, text, seconds: None)
    method = IceRegex(literals="html", population=6, generations=2, sample=2)
    with pytest.raises(InputError, match=r"ice-regex: no expression finished in time; raise timeout, which is 0\.5 s"):
        method.fit(SITES[:2])


def test_in_time_but_for_the_last_time(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("regex")
    searched = prune

    def late(*args: Any) -> Tree:
        monkeypatch.setattr(ice_regex, "captured_in_time", lambda pattern, text, seconds: None)
        return searched(*args)

    monkeypatch.setattr(ice_regex, "prune", late)
    lines: list[str] = []
    method = IceRegex(literals="html", population=6, generations=1, sample=2, polishing=0, timeout=5)
    method.fit(SITES[:2], lines.append)
    assert lines[-1] == f"fitness interrupted: {method.expression_}"


def test_the_extra_is_asked_for_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "regex", None)
    IceRegex().need_extras()
    with pytest.raises(MissingExtra, match="regex"):
        IceRegex(literals="html").need_extras()
    with pytest.raises(MissingExtra, match="regex"):
        IceRegex(literals="html").learn([IceRegex().observe(SITES[0])])


def test_pages_without_words() -> None:
    method = IceRegex(**SMALL)
    pages = [method.observe(example(html, gold)) for html, gold in (("", ""), ("<p>a", ""), ("", "a"), ("<p>!", "!"))]
    assert [page.gold_total for page in pages] == [0, 0, 1, 0]
    assert isinstance(pages[0], ObservedMarkup)
    assert method.learn(pages).extract(read(Page(""))).kept.tolist() == []


def test_the_shipped_model() -> None:
    method = IceRegex().load_shipped()
    assert method.tree_.effort <= MAX_EFFORT
    sentence = "The river rose by two metres in the night, and the old bridge had to be closed. "
    menu = "".join(f"<li><a href=/{name}>{name}</a>" for name in ("Home", "News", "Sport", "Weather"))
    menu = f"<nav><ul>{menu}</ul></nav>"
    page = f"{menu}<h1>Bridge closed</h1><p>{sentence * 3}</p><p>{sentence * 2}</p>{menu}"
    assert [block.tag for block in mainmatter.clean(page, method=method).blocks if block.tag != "h1"] == ["p", "p"]


@pytest.mark.parametrize(
    "block",
    [
        "<p>" + "x" * 625_000,
        "<p>" + "word, word. " * 50_000,
        "<p>" + "<a href=x>x</a> " * 10_000,
        "<li><a href=x>x</a>" * 10_000,
        "<div class=nav><p>" * 500 + "text, and more. ",
        "<p>" + "1! " * 100_000 + "<p>a",
    ],
)
def test_the_shipped_expression_takes_linear_time(block: str) -> None:
    method = IceRegex().load_shipped()
    assert_linear(lambda n: partial(method.extract, read(Page(block * (n // len(block))))), 5_000_000)


PAPER = IceRegex.presets["paper"]


def with_source_expression(tree: Tree, **parameters: Any) -> IceRegex:
    method = IceRegex(**PAPER | parameters)
    method.restore({"tree": tree.to_json(), "expression": tree.text}, {})
    return method


def captured(expression: str, html: str) -> list[bool]:
    """ICE 3.5: matched repeatedly until no further matches are found; all content of capturing groups is kept."""
    kept = [False] * len(html)
    place = 0
    while (match := re.compile(expression, re.IGNORECASE | re.MULTILINE).search(html, place)) is not None:
        for number in range(1, match.re.groups + 1):
            kept[slice(*match.span(number))] = [True] * (match.end(number) - match.start(number))
        place = match.end()
        assert match.end() > match.start()
    return kept


def test_the_preset_agrees_with_the_paper() -> None:
    pytest.importorskip("regex")
    rng = random.Random(7)
    names = "river bridge water night metres town road summer".split()
    seen = set()
    for _ in range(150):
        tree = random_tree(rng, HTML, 4)
        count = iter(range(100, 999))
        texts = [" ".join(f"{rng.choice(names)}{next(count)}" for _ in range(rng.randint(1, 6))) for _ in range(5)]
        html = "".join(
            f"<{tag} class=x>{text}</{tag}>{rng.choice(['', ' ', chr(10)])}"
            for tag, text in zip(rng.choices(["p", "DIV", "li", "h2"], k=5), texts, strict=True)
        )
        if re.compile(tree.text, re.IGNORECASE | re.MULTILINE).match("") is not None:
            continue  # what may match nothing goes on as Perl does, which Python's `search` does not tell
        kept = captured(tree.text, html)
        document = read(Page(html))
        found = with_source_expression(tree).extract(document)
        for text, is_kept, score in zip(texts, found.kept.tolist(), found.scores.tolist(), strict=True):
            start = html.index(text)
            inside = [kept[start + i] for i, character in enumerate(text) if character != " "]
            assert score == pytest.approx(sum(inside) / len(inside))
            assert is_kept == (sum(inside) / len(inside) > 0.5)
            seen.add(is_kept)
        # The bag of words of all that was captured, tags included, beside that of the gold text: 2 points, 1 off.
        gold = f"{texts[0]} {texts[2]} elsewhere"
        runs = re.findall(r"\w+", "".join(c if keep else " " for c, keep in zip(html, kept, strict=True)).lower())
        wanted = Counter(gold.split())
        points = 0
        for word in runs:
            points += 2 if wanted[word] > 0 else -1
            wanted[word] -= 1
        method = IceRegex(**PAPER)
        observed = method.observe(example(html, gold))
        assert Fitness(method, [observed]).fitness(tree, [0]) == pytest.approx(points / (2 * len(gold.split())))
    assert seen == {True, False}


def test_tags_that_are_captured_count_as_words() -> None:
    pytest.importorskip("regex")
    method = IceRegex(**PAPER)
    page = method.observe(example("<p>one two</p>", "one two"))
    assert isinstance(page, ObservedSource)
    fitness = Fitness(method, [page])
    assert fitness.fitness(group(literal("<.*?>"), capture(literal("[^<]+"))), [0]) == 1
    assert fitness.fitness(capture(literal("<.*?>")), [0]) == -2 / 4
    assert fitness.fitness(EVERYTHING["html"], [0]) == 1


def test_a_search_as_in_the_paper(tmp_path: Path) -> None:
    pytest.importorskip("regex")
    small = PAPER | {"population": 10, "generations": 4, "timeout": 5.0}
    method = IceRegex(**small).fit(SITES[:4])
    assert method.history_[-1].best >= method.history_[0].best
    assert IceRegex(**small).fit(SITES[:4]).expression_ == method.expression_
    method.save(tmp_path)
    document = SITES[5].document
    assert IceRegex.load(tmp_path).extract(document).kept.tolist() == method.extract(document).kept.tolist()


def test_a_runaway_on_the_source_is_interrupted() -> None:
    pytest.importorskip("regex")
    runaway = group(*[literal(".*?")] * 6, literal("</script>"), capture(literal(r"\w+")))
    method = with_source_expression(runaway, timeout=0.05)
    page = example(f"<p>{'word ' * 3000}<script></script></p>", "word")
    found = method.extract(page.document)  # without a time-out, this would not end
    assert found.kept.all()
    observed = method.observe(page)
    assert Fitness(method, [observed]).fitness(runaway, [0]) is None


def test_the_preset_has_weights_of_its_own() -> None:
    pytest.importorskip("regex")
    method = get_method("ice-regex:preset=paper")
    assert isinstance(method, IceRegex)
    assert method.weights() == "ice-regex-paper"
    assert method.parameters == load(SHIPPED / "ice-regex-paper").parameters
    assert IceRegex().weights() == "ice-regex"
    # AI::Genetic's defaults, the paper's points, no help that the paper does not tell of.
    told = {"population": 100, "mutation": 0.05, "award": 2, "penalty": 1, "polishing": 0, "parsimony": 0}
    assert told.items() <= method.parameters.items()
    with pytest.raises(InputError, match="strategy must be tournament or fittest, not 'x'"):
        IceRegex(strategy="x")  # type: ignore[arg-type]


def test_the_preset_cleans_a_dump() -> None:
    pytest.importorskip("regex")
    method = with_source_expression(capture(literal("[^<]+")))
    assert method.extract(read(Page("One.\n\nTwo.", format="text"))).kept.tolist() == [True, True]
