"""The models of NCleaner that ship: languages, dumps, size."""

from __future__ import annotations

import json

import pytest

import mainmatter
from mainmatter.models.store import SHIPPED
from mainmatter.papers.ncleaner.method import Ncleaner
from mainmatter.records import Page
from mainmatter.registry import get_method

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
    found = mainmatter.clean(html, method=f"ncleaner:lexical={lexical}")
    assert found.kept.tolist() == [False] * 3 + [True] * 2


def test_a_text_dump_and_its_labels() -> None:
    text = ARTICLES["English"][0] * 3
    found = mainmatter.clean(Page(f"Home\n\n{text}\n\n* {text}\n\nContact", format="text"), method="ncleaner")
    assert found.kept.tolist() == [False, True, True, False]
    assert [line[:3] for line in found.cleaneval.splitlines()] == ["<p>", "<l>"]


def test_a_character_of_menus_does_not_speak_against_a_script() -> None:
    """中 is in menus of languages on many pages, but no page of the training data is in Chinese."""
    method = get_method("ncleaner")
    assert isinstance(method, Ncleaner)
    with_it, without = method.log_odds(
        ["中国的河水在夜里上涨，到中午桥已经不见了。", "北国的河水在夜里上涨，到正午桥已经不见了。"]
    )
    assert with_it == without


def test_the_shipped_models_are_small_and_hold_no_text() -> None:
    for name in ("", "lexical=False", "preset=paper", "preset=paper,lexical=False"):
        method = get_method(f"ncleaner:{name}")
        assert isinstance(method, Ncleaner)
        assert sum(file.stat().st_size for file in (SHIPPED / method.weights()).iterdir()) < 300_000
        facts, arrays = method.facts_and_arrays()
        assert set(facts) == {"alphabet", "threshold"}
        assert len(json.dumps(facts)) < 2000
        assert sum(array.nbytes for array in arrays.values()) < 1_500_000
