"""NCleaner: pages and texts written for the purpose."""

from __future__ import annotations

import math
import pickle
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

import mainmatter
from mainmatter.api import read
from mainmatter.errors import InputError, ModelError
from mainmatter.lab.training.examples import label
from mainmatter.models.store import SHIPPED, load
from mainmatter.papers.ncleaner import method as ncleaner
from mainmatter.papers.ncleaner.method import Ncleaner, ObservedTexts, choose_threshold, has_bars
from mainmatter.records import Gold, Kind, Page
from mainmatter.registry import get_method

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.method import Example

NOUNS = "river stone bridge winter letter garden window summer morning village".split()
VERBS = "carries remembers follows crosses watches repairs describes leaves".split()
MENU = ["Home", "Login", "Contact us", "Privacy policy", "Sign up!", "RSS 2.0", "Share this", "Top 10", "© 2007 Corp."]


def sentence(rng: random.Random) -> str:
    return f"The {rng.choice(NOUNS)} {rng.choice(VERBS)} the {rng.choice(NOUNS)}, and the {rng.choice(NOUNS)} is old."


def example(seed: int) -> Example:
    """A page with a menu above and below four paragraphs."""
    rng = random.Random(seed)
    paragraphs = [" ".join(sentence(rng) for _ in range(3)) for _ in range(4)]
    menu = "".join(f"<li><a href=x>{rng.choice(MENU)}</a></li>" for _ in range(6))
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    page = Page(f"<ul>{menu}</ul>{body}<ul>{menu}</ul>", f"https://site{seed}.example/")
    text = "\n\n".join(paragraphs)
    return label(read(page), Gold(text=text, marked="\n".join(f"<p> {each}" for each in paragraphs)))


EXAMPLES = [example(seed) for seed in range(12)]


def observations() -> list[ObservedTexts]:
    return [Ncleaner().observe(each) for each in EXAMPLES]


@pytest.mark.parametrize("lexical", [True, False])
@pytest.mark.parametrize("dirty", ["differential", "labelled"])
@pytest.mark.parametrize("n", [1, 3, 5])
def test_learns_to_tell_menus_from_paragraphs(n: int, dirty: str, lexical: bool) -> None:
    method = Ncleaner(n=n, dirty=dirty, lexical=lexical).fit(EXAMPLES)  # type: ignore[arg-type]
    unseen = example(99)
    found = method.extract(unseen.document)
    assert found.kept.tolist() == unseen.kept.tolist()
    assert (found.scores > 0).tolist() == unseen.kept.tolist()
    assert found.kinds == unseen.document.columns.kinds
    assert set(found.reasons) == {
        "its letters are likelier in boilerplate than in main matter",
        "its letters are likelier in main matter than in boilerplate",
    }


def test_differential_training_needs_no_labels() -> None:
    """It sees the gold text and all text, and nothing else."""
    unlabelled = [
        ObservedTexts(
            each.site, each.texts, each.gold, np.zeros_like(each.is_clean), each.words, each.matched, each.gold_words
        )
        for each in observations()
    ]
    method = Ncleaner(dirty="differential").learn(unlabelled)
    assert method.extract(EXAMPLES[0].document).kept.tolist() == EXAMPLES[0].kept.tolist()
    # What is in the gold text as often as on the page is not dirty.
    symbols = method.alphabet_.encode("The")
    code = int(np.polyval(symbols.astype(int), method.alphabet_.size))
    arrays = method.weights_.arrays
    assert code in arrays["clean_codes"]
    assert code not in arrays["dirty_codes"]


def test_the_log_odds_are_those_of_the_two_models() -> None:
    method = Ncleaner(n=1, q=0.5, threshold=0).learn(observations())
    arrays, size = method.weights_.arrays, method.alphabet_.size
    text = "The river"
    expected = 0.0
    for symbol in method.alphabet_.encode(text).tolist():
        chances = []
        for name in ("clean", "dirty"):
            table = dict(zip(arrays[f"{name}_codes"].tolist(), arrays[f"{name}_counts"].tolist(), strict=True))
            chances.append((table.get(symbol, 0) + 1) / (sum(table.values()) + size - 1))
        expected += np.log(chances[0] / chances[1])
    assert method.log_odds([text, "", text]) == pytest.approx([expected, 0, expected], rel=1e-5)


def test_thresholds() -> None:
    observed = observations()
    document = EXAMPLES[0].document
    learned = Ncleaner().learn(observed)
    constant, per_character = learned.threshold_
    assert constant == pytest.approx(-40 * per_character)
    odds = learned.log_odds(document.texts)
    assert learned.extract(document).scores == pytest.approx(odds - constant - per_character * document.lengths)
    given = Ncleaner(threshold=odds.max()).learn(observed).extract(document)
    assert given.scores == pytest.approx(odds)
    assert given.kept.tolist() == (odds >= odds.max()).tolist()
    everything = Ncleaner(threshold=float("-inf")).learn(observed).extract(document)
    assert everything.kept.all()
    assert np.isfinite(everything.scores).all()


def test_a_few_pages_give_the_papers_threshold() -> None:
    assert Ncleaner().learn(observations()[:9]).threshold_ == (0, 0)


def page(texts: list[str], matched: list[float]) -> ObservedTexts:
    counted = np.array([len(text.split()) for text in texts])
    return ObservedTexts("", texts, [], np.array(matched) > 0, counted, np.array(matched), int(sum(matched)))


def test_choosing_a_threshold_by_hand() -> None:
    # 80 characters of main matter with odds against it of 5: with 40 characters more than a block that needs none, each
    # must make up for more than 0.125. The short block has odds of 0.9 for it, and must not pass: 38 * slope >= 0.9.
    pages = [page(["x" * 80, "xx"], [1, 0])]
    (constant, per_character), f1 = choose_threshold([np.array([-5.0, 0.9])], pages)
    assert [constant, per_character] == pytest.approx([6.0, -0.15])
    assert f1 == 1
    # Where the likelier one is right, nothing needs to be made up for.
    assert choose_threshold([np.array([5.0, -5.0])], pages)[0] == (0, 0)
    # Micro average of F1 (2 * 1 / (2 + 1)) and the mean of both pages (0 / 1 and 2 / 2).
    two = [page(["x" * 40], [0]), page(["y" * 40], [1])]
    assert choose_threshold([np.array([1.0]), np.array([1.0])], two)[1] == pytest.approx((2 / 3 + 1 / 2) / 2)


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("Home | About | Contact | Help", Kind.PARAGRAPH, True),
        ("Home | About | Contact", Kind.PARAGRAPH, False),  # two bars also stand in titles
        ("| a | b |", Kind.LIST_ITEM, True),
        ("a | b | c | d", Kind.TABLE_ROW, False),
        ("a | b | c | d", Kind.CODE, False),
        ("x" * 300 + " | b | c | d", Kind.PARAGRAPH, False),  # fields are short
        ("", Kind.PARAGRAPH, False),
    ],
)
def test_bars(text: str, kind: Kind, expected: bool) -> None:
    assert has_bars(text, kind) is expected


def test_heuristics_can_be_switched_off() -> None:
    html = "<p>River | Stone | Bridge | Winter</p><p>The river is old.</p>"
    dropped = mainmatter.clean(html, method="ncleaner:threshold=-1e9")
    assert dropped.kept.tolist() == [False, True]
    assert dropped.reasons[0] == "short fields between vertical bars: a navigation bar or a footer"
    assert mainmatter.clean(html, method="ncleaner:threshold=-1e9,heuristics=False").kept.all()


def test_save_and_load(tmp_path: Path) -> None:
    method = Ncleaner(lexical=False).learn(observations())
    method.save(tmp_path / "model")
    again = Ncleaner.load(tmp_path / "model")
    assert again.parameters == method.parameters
    assert again.threshold_ == method.threshold_
    document = EXAMPLES[3].document
    assert again.extract(document).scores.tolist() == method.extract(document).scores.tolist()
    with pytest.raises(ModelError, match="trained with n=3, not 4"):
        Ncleaner.load(tmp_path / "model", n=4)
    assert Ncleaner.load(tmp_path / "model", threshold=2.0).threshold == 2


@pytest.mark.parametrize(
    "damage",
    [
        {"clean_codes": np.array([3, 2])},
        {"clean_codes": np.array([-1, 2])},
        {"clean_codes": np.array([1, 10**9])},
        {"dirty_counts": np.array([1, 0])},
        {"dirty_counts": np.array([1])},
        {"dirty_counts": np.array([0.5, 1])},
        {"dirty_counts": np.array([2**52, 2**52])},  # their sum is no longer exact
        {"dirty_counts": np.array([2**62, 2**62])},  # nor a positive number of 64 bits
        {"dirty_counts": np.array([2**63 + 5, 2**63 + 5], np.uint64)},
        {"dirty_codes": np.array([1, 2**63 + 5], np.uint64)},
        {"clean_codes": np.array([1, 15])},  # 15 symbols: the n-gram ends with BEGIN
        {"clean_codes": np.array(4)},
        {"clean_codes": np.array([[1, 2]])},
        {"clean_codes": np.array([], int), "clean_counts": np.array([], int)},
        {"threshold": [0.0]},
        {"threshold": [0.0, 0.0, 0.0]},
        {"threshold": [0.0, float("nan")]},
        {"threshold": [0.0, float("inf")]},
        {"threshold": [1e308, 1e308]},
        {"threshold": [10**400, 0]},
        {"threshold": [True, 0]},
        {"threshold": ["1", "2"]},
        {"threshold": "12"},
        {"threshold": {"1": 0, "2": 0}},
        {"threshold": None},
        {"alphabet": "aa"},
        {"alphabet": "a\0"},
        {"alphabet": "a\n"},
        {"alphabet": "a\ud800"},
        {"alphabet": ["a", "b"]},
        {"alphabet": {"a": 1, "b": 1}},
        {"alphabet": None},
    ],
)
def test_damaged_models(damage: dict[str, Any]) -> None:
    facts = {"alphabet": "ab", "threshold": [0.0, 0.0]}
    arrays = {f"{name}_{what}": np.array([1, 2]) for name in ("clean", "dirty") for what in ("codes", "counts")}
    Ncleaner().restore(facts, arrays)
    with pytest.raises(ValueError):  # noqa: PT011 - one text for each kind of damage
        Ncleaner().restore({**facts, **damage}, {**arrays, **damage})
    with pytest.raises(KeyError):
        Ncleaner().restore(facts, {})


def test_the_extremes_that_a_model_may_have_give_finite_scores() -> None:
    facts = {"alphabet": "ab", "threshold": [1e6, -1e6]}
    arrays = {
        "clean_codes": np.array([1]),
        "clean_counts": np.array([1]),
        "dirty_codes": np.array([15**3 - 1]),
        "dirty_counts": np.array([2**53 - 1]),
    }
    for q in (0.001, 0.999):
        method = Ncleaner(q=q)
        method.restore(facts, arrays)
        found = method.extract(read(Page(f"<p>{'ab c' * 10_000}</p><p>x</p>")))
        assert np.isfinite(found.scores).all()


def test_letters_have_no_symbols_in_the_non_lexical_version() -> None:
    arrays = {f"{name}_{what}": np.array([1, 2]) for name in ("clean", "dirty") for what in ("codes", "counts")}
    with pytest.raises(ValueError, match="'a' has no symbol"):
        Ncleaner(lexical=False).restore({"alphabet": ",a", "threshold": [0, 0]}, arrays)


def test_a_model_is_restored_once(tmp_path: Path) -> None:
    for seed in (0, 3):
        Ncleaner().learn(observations()[seed:]).save(tmp_path / str(seed))
    first, second = (Ncleaner.load(tmp_path / "0", threshold=threshold) for threshold in (1.0, 2.0))
    assert first.alphabet_ is second.alphabet_
    assert first.weights_ is second.weights_
    assert Ncleaner.load(tmp_path / "3").weights_ is not first.weights_
    # Arrays that may change are looked at each time.
    facts, arrays = first.facts_and_arrays()
    arrays = {name: array.copy() for name, array in arrays.items()}
    third = Ncleaner()
    third.restore(facts, arrays)
    assert third.log_odds(["The river"]) == first.log_odds(["The river"])
    arrays["clean_counts"][:] = 1
    fourth = Ncleaner()
    fourth.restore(facts, arrays)
    assert fourth.log_odds(["The river"]) != first.log_odds(["The river"])


def test_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has not learned yet"):
        Ncleaner().log_odds(["x"])
    with pytest.raises(InputError, match="no pages to learn from"):
        Ncleaner().learn([])
    with pytest.raises(InputError, match="has not learned yet"):
        Ncleaner().save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("name", "values", "text"),
    [
        ("n", [0, 9, 2.5, True, "3", None, [3]], "n must be a whole number from 1 to 8"),
        ("q", [0, 1, 1e-300, math.nan, "x", None, True], "q must be from 0.001 to 0.999"),
        ("threshold", [math.nan, "x", [1], {}, True, 10**400], "threshold must be a number or None"),
        ("lexical", ["x", 1, None], "lexical must be True or False"),
        ("heuristics", ["no", 0], "heuristics must be True or False"),
        ("never_empty", ["no", 0], "never_empty must be True or False"),
        ("other_scripts", ["no", 0], "other_scripts must be True or False"),
        ("alphabet", [3, "latin", None], "alphabet must be ascii or unicode"),
        ("dirty", [3, [1], "x", None], "dirty must be differential or labelled"),
    ],
)
def test_wrong_parameters(name: str, values: list[Any], text: str) -> None:
    for value in values:
        with pytest.raises(InputError, match=text):
            Ncleaner(**{name: value})


def test_parameters_that_are_fine() -> None:
    for threshold in (None, 0, -2.5, math.inf, -math.inf):
        assert Ncleaner(threshold=threshold).threshold == threshold


@pytest.mark.parametrize("dirty", ["differential", "labelled"])
@pytest.mark.parametrize("lacks", ["clean", "dirty"])
def test_learning_needs_both_kinds_of_text(dirty: Literal["differential", "labelled"], lacks: str) -> None:
    text = "The river is old." if lacks == "dirty" else ""
    one_sided = label(read(Page("<p>The river is old.</p>")), Gold(text=text))
    with pytest.raises(InputError, match=f"needs clean and dirty text to learn from; .* no {lacks} text"):
        Ncleaner(dirty=dirty).fit([one_sided] * 3)


def test_methods_are_equal_only_to_themselves() -> None:
    method = Ncleaner().learn(observations())
    assert method == method
    assert method != Ncleaner().learn(observations())
    assert Ncleaner() != Ncleaner()
    assert len({method, Ncleaner()}) == 2


def test_no_page_with_text_comes_out_empty() -> None:
    method = Ncleaner().learn(observations())
    document = read(Page("<ul><li>Home<li>Login<li>Contact us</ul><p>A | B | C | D</p>"))
    found = method.extract(document)
    others = found.scores[:3]
    assert (others < 0).all()
    assert found.kept.tolist() == [*(others >= others.max() - 2).tolist(), False]
    assert found.reasons[int(others.argmax())] == "the best of a page where nothing looks like main matter"
    method.never_empty = False
    assert not method.extract(document).kept.any()
    # Where something is main matter, the parameter changes nothing; nor is there a best of nothing.
    kept = method.extract(EXAMPLES[0].document).kept.tolist()
    method.never_empty = True
    assert method.extract(EXAMPLES[0].document).kept.tolist() == kept
    assert not len(method.extract(read(Page(""))).kept)
    assert not method.extract(read(Page("<p>A | B | C | D</p>"))).kept.any()


def test_pages_of_one_site_are_in_one_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    """The threshold is chosen by models that have not seen the site; of one site there are no such models."""
    asked: list[int] = []

    def choose(odds: Any, pages: Any) -> tuple[tuple[float, float], float]:
        asked.append(len(pages))
        return choose_threshold(odds, pages)

    monkeypatch.setattr(ncleaner, "choose_threshold", choose)
    Ncleaner().learn([replace(each, site="site.example") for each in observations()])
    assert asked == []
    Ncleaner().learn(observations())
    assert asked == [12]
    assert Ncleaner().observe(label(read(Page("<p>x", "https://www.a.co.uk/")), Gold(text="x"))).site == "a.co.uk"


def test_it_travels_without_its_tables() -> None:
    method = get_method("ncleaner")
    sent = pickle.dumps(method)
    assert len(sent) < 1_000_000
    document = EXAMPLES[0].document
    assert pickle.loads(sent).extract(document).scores.tolist() == method.extract(document).scores.tolist()


@pytest.mark.parametrize(("length", "expected"), [(160, True), (161, False)])
def test_fields_between_bars_have_forty_characters_on_average(length: int, expected: bool) -> None:
    assert has_bars("a | b | c | ".ljust(length, "x"), Kind.PARAGRAPH) is expected


@pytest.mark.parametrize("slope", [0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18, 0.22, 0.26, 0.3])
def test_the_least_slope_that_is_enough_is_chosen(slope: float) -> None:
    # Main matter of 80 characters, 40 more than need none, has odds against it that this slope just makes up for.
    pages = [page(["x" * 80, "x" * 40], [1, 0])]
    (constant, per_character), f1 = choose_threshold([np.array([0.01 - 40 * slope, -1.0])], pages)
    assert [constant, per_character] == pytest.approx([40 * slope, -slope])
    assert f1 == 1


def test_ten_pages_are_enough_to_learn_a_threshold() -> None:
    for pages, is_learned in ((9, False), (10, True)):
        lines: list[str] = []
        Ncleaner().learn(observations()[:pages], lines.append)
        assert [line.startswith(f"{pages} pages: threshold") for line in lines] == [True] * is_learned


def test_the_threshold_is_learned_in_five_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    weighed: list[int] = []
    weigh = Ncleaner._weigh

    def watch(method: Ncleaner, counted: Any) -> Any:
        weighed.append(len(counted))
        return weigh(method, counted)

    monkeypatch.setattr(Ncleaner, "_weigh", watch)
    Ncleaner().learn(observations())
    assert weighed == [5, 4, 4, 4, 4, 4]  # all of them, and without one of five


def test_what_is_about_as_good_as_the_best_stays_with_it() -> None:
    method = Ncleaner(threshold=0.0).learn(observations())
    vars(method)["log_odds"] = lambda texts: np.array([-5.0, -6.95, -7.05, -30.0])
    assert method.extract(read(Page("<p>a<p>b<p>c<p>d"))).kept.tolist() == [True, True, False, False]


def test_how_large_parameters_and_thresholds_may_be() -> None:
    assert Ncleaner(n=8).n == 8
    assert (Ncleaner(q=0.001).q, Ncleaner(q=0.999).q) == (0.001, 0.999)
    arrays = {f"{name}_{what}": np.array([1, 2]) for name in ("clean", "dirty") for what in ("codes", "counts")}
    with pytest.raises(ValueError, match="the threshold is not within 1e"):
        Ncleaner().restore({"alphabet": "ab", "threshold": [0.0, 1.01e6]}, arrays)


def test_the_usual_parameters_are_those_of_the_model_that_ships() -> None:
    # Those that came later had no other value when it was trained.
    assert Ncleaner(**load(SHIPPED / "ncleaner").parameters).parameters == Ncleaner().parameters


def test_a_block_is_clean_from_even_odds_on() -> None:
    method = Ncleaner().learn(observations()[:9])  # too few to learn a threshold
    vars(method)["log_odds"] = lambda texts: np.array([0.5, 0.0, -0.5])
    assert method.extract(read(Page("<p>a<p>b<p>c"))).kept.tolist() == [True, False, False]


def test_two_sites_are_enough_to_learn_a_threshold() -> None:
    for sites in (1, 2):
        lines: list[str] = []
        pages = [replace(each, site=f"site {number % sites}") for number, each in enumerate(observations())]
        Ncleaner().learn(pages, lines.append)
        assert len(lines) == sites - 1
