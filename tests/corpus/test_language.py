"""Languages are told by their letters, in a sample of bounded size, always alike."""

from __future__ import annotations

import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from mainmatter.corpus import language
from mainmatter.corpus.language import LANGUAGES, UNKNOWN, identify, load_identifier, unpacking_model
from mainmatter.isolation.child import Child, as_service

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {
    "de": "Der Leuchtturm wurde vor hundert Jahren gebaut, und seither brennt das Licht in jeder Nacht.",
    "el": "Ο φάρος χτίστηκε πριν από εκατό χρόνια και από τότε το φως ανάβει κάθε νύχτα.",
    "en": "The lighthouse was built a hundred years ago, and the lamp has burned every night since then.",
    "es": "El faro fue construido hace cien años y desde entonces la luz se enciende todas las noches.",
    "fr": "Le phare a été construit il y a cent ans, et depuis la lumière brûle chaque nuit.",
    "ja": "この灯台は百年前に建てられ、それ以来毎晩あかりがともっています。",
    "no": "Fyret ble bygget for hundre år siden, og siden da har lyset brent hver eneste natt hele året.",
    "pl": "Latarnia została zbudowana sto lat temu i od tego czasu światło pali się każdej nocy.",
    "ru": "Маяк был построен сто лет назад, и с тех пор свет горит каждую ночь.",
    "th": "ประภาคารถูกสร้างขึ้นเมื่อหนึ่งร้อยปีก่อน และตั้งแต่นั้นมาไฟก็ส่องสว่างทุกคืน",
    "zh": "这座灯塔建于一百年前，从那以后每天晚上都亮着灯，附近的渔民都认识它。",
}


@pytest.mark.parametrize("code", TEXTS)
def test_languages_are_told(code: str) -> None:
    found = identify(TEXTS[code])
    assert found.language == code
    assert 0.2 < found.score <= 1


@pytest.mark.parametrize(
    "text", ["", " ", "12 345 678, 90 % of 12.5", "!!! ... ??? --- ***", "😀" * 100, "A title", "\ud800" * 5, "東京"]
)
def test_what_is_too_short_or_has_no_letters_has_no_language(text: str) -> None:
    assert identify(text) == UNKNOWN


def test_halves_of_characters_and_controls_do_no_harm() -> None:
    assert identify(TEXTS["en"] + "\ud800\x00\x07").language == "en"


def test_encoded_data_has_no_language() -> None:
    assert identify("PGRpdiBjbGFzcz0ic3AtZHNndm8gc3AtZHNndm8tZW1iZWRk" * 4) == UNKNOWN


def test_beginning_middle_and_end_are_looked_at() -> None:
    notice = " Subscribe now. "
    text = notice + " ".join([TEXTS["de"]] * 40) + notice
    assert identify(text).language == "de"


def test_of_a_huge_text_no_more_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    classify = load_identifier().classify

    def counted(text: str) -> tuple[str, float]:
        sizes.append(len(text))
        return classify(text)

    monkeypatch.setattr(load_identifier(), "classify", counted)
    for size in (10_000, 50_000_000):
        identify("x" * size)
    assert sizes[0] == sizes[1] < 10_000


def test_threads_load_one_model_and_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {code: identify(text) for code, text in TEXTS.items()}
    monkeypatch.setattr(language, "_identifier", None)
    with ThreadPoolExecutor(8) as threads:
        loaded = list(threads.map(lambda _: load_identifier(), range(16)))
        found = list(threads.map(identify, [*TEXTS.values()] * 20))
    assert len({id(one) for one in loaded}) == 1
    assert found == [*before.values()] * 20


def test_languages_and_scores_are_those_of_py3langid() -> None:
    theirs = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    letters = random.Random(1)
    mixed = ["".join(letters.choices(" aeſñжд東ไ\U0001f600\ud800\x00", k=number)) for number in range(0, 300, 10)]
    upper = [text.upper() for text in TEXTS.values()]
    for text in [*TEXTS.values(), *upper, *mixed, "e\u0301" * 50]:
        assert load_identifier().classify(text) == theirs.classify(text)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere each process unpacks the model")
def test_another_process_gets_the_model_that_is_unpacked_here() -> None:
    with unpacking_model() as place:
        assert place is not None
        child = Child(as_service, _classified_by)
        assert child.call(place, TEXTS["de"]) == (True, load_identifier().classify(TEXTS["de"]))
        child.end()
    assert language._read_unpacked(place) is None


def _classified_by(place: str, text: str) -> tuple[bool, tuple[str, float]]:
    found = language._read_unpacked(place)
    return found is not None, load_identifier(place).classify(text)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and no more", b"no model"])
def test_a_model_that_is_not_whole_is_unpacked_again(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "model"
    place.write_bytes(content)
    monkeypatch.setattr(language, "_identifier", None)
    assert load_identifier(str(place)).classify(TEXTS["de"])[0] == "de"


def test_unpacking_ends_with_who_wanted_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_PIECE", 1)  # it would take minutes
    before = threading.active_count()
    with unpacking_model():
        pass
    assert threading.active_count() == before


def test_known_languages_are_those_of_the_model() -> None:
    labels = set(load_identifier().labels)
    assert {language._SAME_AS.get(label, label) for label in labels} - {"zxx"} == LANGUAGES
