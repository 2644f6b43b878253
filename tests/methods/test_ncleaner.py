"""NCleaner: pages and texts written for the purpose."""

from __future__ import annotations

import json
import pickle
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import mainmatter
from mainmatter.clean import read
from mainmatter.errors import InputError, ModelError
from mainmatter.methods.ncleaner import Ncleaner, Observed, choose_threshold, gold_paragraphs, has_bars
from mainmatter.metrics import Gold
from mainmatter.records import Kind, Page
from mainmatter.registry import get_method
from mainmatter.training.align import label

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.methods.trainable import Example

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


def observations() -> list[Observed]:
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
        Observed(
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
    given = Ncleaner(threshold=odds.min()).learn(observed).extract(document)
    assert given.scores == pytest.approx(odds)
    assert given.kept.tolist() == (odds > odds.min()).tolist()
    everything = Ncleaner(threshold=float("-inf")).learn(observed).extract(document)
    assert everything.kept.all()
    assert np.isfinite(everything.scores).all()


def test_a_few_pages_give_the_papers_threshold() -> None:
    assert Ncleaner().learn(observations()[:9]).threshold_ == (0, 0)


def page(texts: list[str], matched: list[float]) -> Observed:
    counted = np.array([len(text.split()) for text in texts])
    return Observed("", texts, [], np.array(matched) > 0, counted, np.array(matched), int(sum(matched)))


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
    dropped = mainmatter.clean(html, method="ncleaner", threshold=-1e9)
    assert dropped.kept.tolist() == [False, True]
    assert dropped.reasons[0] == "short fields between vertical bars: a navigation bar or a footer"
    assert mainmatter.clean(html, method="ncleaner", threshold=-1e9, heuristics=False).kept.all()


def test_gold_paragraphs() -> None:
    assert gold_paragraphs("x", "<h>A title\n\n<p>One\n line.<P> Two\n\nlines. <l> ") == [
        "A title",
        "One line.",
        "Two lines.",
    ]
    assert gold_paragraphs("One\nline.\n \nTwo.\n", None) == ["One line.", "Two."]
    assert gold_paragraphs("One.\n  Two.\n\n", None) == ["One.", "Two."]
    assert gold_paragraphs("", None) == gold_paragraphs("x", "") == []


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
        {"threshold": [0.0]},
        {"threshold": [0.0, float("nan")]},
        {"alphabet": "aa"},
        {"alphabet": None},
    ],
)
def test_damaged_models(damage: dict[str, Any]) -> None:
    facts = {"alphabet": "ab", "threshold": [0.0, 0.0]}
    arrays = {f"{name}_{what}": np.array([1, 2]) for name in ("clean", "dirty") for what in ("codes", "counts")}
    Ncleaner().restore(facts, arrays)
    with pytest.raises((ValueError, TypeError)):
        Ncleaner().restore({**facts, **damage}, {**arrays, **damage})
    with pytest.raises(KeyError):
        Ncleaner().restore(facts, {})


def test_wrong_use() -> None:
    with pytest.raises(InputError, match="has not learned yet"):
        Ncleaner().log_odds(["x"])
    with pytest.raises(InputError, match="no page to learn from"):
        Ncleaner().learn([])
    with pytest.raises(InputError, match="differential or labelled"):
        Ncleaner(dirty="clean")  # type: ignore[arg-type]
    wrongs: list[dict[str, Any]] = [{"n": 0}, {"n": 9}, {"q": 0}, {"q": 1}, {"n": 2.5}]
    for wrong in wrongs:
        with pytest.raises(InputError, match="n is from 1 to 8"):
            Ncleaner(**wrong)


def test_it_travels_without_its_tables() -> None:
    method = get_method("ncleaner")
    sent = pickle.dumps(method)
    assert len(sent) < 1_000_000
    document = EXAMPLES[0].document
    assert pickle.loads(sent).extract(document).scores.tolist() == method.extract(document).scores.tolist()


ARTICLES = {
    "English": (
        "The river rose in the night, and by morning the bridge was gone. Nobody had seen it fall. ",
        "Next page",
    ),
    "German": (
        "Der Fluss stieg in der Nacht, und am Morgen war die Brücke fort. Niemand hatte sie fallen sehen. ",
        "Weiter »",
    ),
    "Greek": (
        "Το ποτάμι φούσκωσε τη νύχτα, και το πρωί η γέφυρα είχε χαθεί. Κανείς δεν την είδε να πέφτει. ",
        "Επόμενη",
    ),
    "Russian": ("Река поднялась ночью, и к утру моста уже не было. Никто не видел, как он рухнул в воду. ", "Далее »"),
    "Chinese": ("河水在夜里上涨，到了早晨，桥已经不见了。没有人看见它倒下，也没有人听见任何声音。", "下一页"),
    "Arabic": ("ارتفع النهر في الليل، وفي الصباح اختفى الجسر. لم يره أحد وهو يسقط، ولم يسمع أحد صوتا. ", "التالي"),
}


@pytest.mark.parametrize("language", ARTICLES)
@pytest.mark.parametrize("lexical", [True, False])
def test_scripts_that_training_has_not_seen(language: str, lexical: bool) -> None:
    text, link = ARTICLES[language]
    html = f"<ul>{f'<li><a href=x>{link}</a></li>' * 3}</ul>" + f"<p>{text * 3}</p>" * 2
    found = mainmatter.clean(html, method="ncleaner", lexical=lexical)
    assert found.kept.tolist() == [False] * 3 + [True] * 2


def test_a_text_dump_and_its_labels() -> None:
    text = ARTICLES["English"][0] * 3
    found = mainmatter.clean(Page(f"Home\n\n{text}\n\n* {text}\n\nContact", format="text"), method="ncleaner")
    assert found.kept.tolist() == [False, True, True, False]
    assert [line[:3] for line in found.cleaneval().splitlines()] == ["<p>", "<l>"]


def test_the_shipped_models_are_small_and_hold_no_text() -> None:
    for name in ("ncleaner", "ncleaner:lexical=False"):
        method = get_method(name)
        assert isinstance(method, Ncleaner)
        facts, arrays = method.facts_and_arrays()
        assert set(facts) == {"alphabet", "threshold"}
        assert len(json.dumps(facts)) < 2000
        assert sum(array.nbytes for array in arrays.values()) < 1_500_000
