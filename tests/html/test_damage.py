"""Texts that were decoded wrongly are told from those that were not."""

from __future__ import annotations

from itertools import compress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainmatter import clean
from mainmatter.html.parse import decode
from mainmatter.html.sniff import damaged_share, readable_share

PAGES = sorted((Path(__file__).parents[1] / "quality" / "pages" / "html").glob("*.html"))
TEXTS = {
    "en": "It’s a “nice” day, and most people were out in the park with their children – aren’t they? We don’t know.",
    "de": "Am Abend gehen sie über die Brücke, und täglich kommen neue Fußgänger, die „zum Spaß“ in der Stadt wohnen.",
    "fr": "L’été dernier, nous étions à la plage où les élèves jouaient « très bien » à côté du café Nescafé®.",
    "cs": "Tomáš a Lukáš žijí v Praze, kde „každý večer“ chodí spolu na procházku. Kůň žere — a Jonáš… už také.",
    "fi": "Hän sää yö pöytä äänestää, hyvää päivää; se on tärkeää ja yöllä on pimeää.",
    "es": "¿Qué pasó ayer? ¡Nada! El niño comió 2º plato a 30° y el señor Núñez —que sí— pagó 5 €.",
    "pt": "A EDUCAÇÃO e a situação: às três da tarde, o avô pôs 3 m² de chão; 1ª opção.",
    "ru": "Сегодня хорошая погода, и мы идём гулять в парк с детьми. РОССИЯ и США, № 5 «Социальная сеть» — ВКонтакте.",
    "uk": "Січень був холодний. Рівне і Рівненщина, Європа; її об'єм — 5 м².",
    "el": "Καλημέρα κόσμε, σήμερα έχει καλό καιρό και πάμε βόλτα στο πάρκο.",
    "he": "שלום עולם, היום מזג האוויר יפה ואנחנו הולכים לפארק",
    "ar": "مرحبا بالعالم، اليوم الطقس جميل ونحن ذاهبون إلى الحديقة",
    "th": "วันนี้อากาศดีเราจะไปเดินเล่นในสวนสาธารณะกับเด็กๆ Facebook ด้วย",
    "zh": "今天天气很好，我们带孩子去公园散步。很高兴认识你，希望“以后”常联系。iPhone手机很贵。",
    "ja": "今日は天気がいいので、子供たちと公園へ散歩に行きます。楽しみです。カタカナもある。",
    "ko": "오늘은 날씨가 좋아서 아이들과 공원에 산책하러 갑니다.",
    "emoji": "Great 👍🏽 day 🙂 for 👩‍👩‍👧‍👦 – isn’t it? 5 × 3 ÷ 2 ± 1 µm ½ ¼ § 3 ©",
}


@pytest.mark.parametrize("language", TEXTS)
def test_no_language_is_damaged(language: str) -> None:
    assert damaged_share(TEXTS[language]) == 0
    assert readable_share([TEXTS[language]]) == 1


@pytest.mark.parametrize(
    ("languages", "written", "read"),
    [
        ("en de fr es pt cs fi ru uk el he ar th zh ja ko", "utf-8", "windows-1252"),
        ("en de fr es pt cs fi ru uk el he ar th zh ja ko", "utf-8", "iso-8859-1"),
        ("en de fr es ru uk", "utf-8", "windows-1251"),
        ("de fr es ru uk el he ar zh ja ko", "utf-8", "koi8-r"),
        ("en zh ja ko", "utf-8", "gbk"),
        ("ja", "utf-8", "shift_jis"),
        ("de fr es", "windows-1252", "windows-1251"),
        ("de fr es fi", "windows-1252", "utf-8"),
        ("ru", "windows-1251", "windows-1252"),
        ("ru", "windows-1251", "koi8-r"),
        ("el", "windows-1253", "windows-1252"),
        ("ar", "windows-1256", "windows-1252"),
        ("zh", "gbk", "windows-1252"),
        ("zh", "gbk", "utf-8"),
        ("ja", "shift_jis", "windows-1252"),
        ("ja", "euc-jp", "utf-8"),
        ("ko", "euc-kr", "windows-1252"),
    ],
)
def test_what_was_read_in_another_encoding_is_damaged(languages: str, written: str, read: str) -> None:
    for language in languages.split():
        wrong = TEXTS[language].encode(written, "ignore").decode(read, "replace")
        assert readable_share([wrong]) < 0.8, (language, wrong)


@pytest.mark.parametrize(
    ("text", "damaged"),
    [
        ("", 0),
        ("\ufffd", 1),
        ("a\ufffd\ufffdb", 2),
        ("\x93a", 1),
        ("Ã¤", 2),
        ("Ã¤Ã¶", 4),
        ("xÃ¤x", 2),
        ("Spaß“", 0),
        ("é®", 0),
        ("Tomáš", 0),
        ("Рџ", 2),
        ("fьr", 3),
        ("ab Cд", 2),
        ("дЖ", 2),
        ("Жд", 0),
        ("д─", 2),
        ("─д", 2),
        ("éé", 0),
        ("ééé", 3),
        ("xéééx", 3),
        ("x éé é", 0),
        ("ééé ééé", 6),
        ("縺", 1),
        ("锟斤拷", 1),
    ],
)
def test_how_many_characters_are_damaged(text: str, damaged: int) -> None:
    assert damaged_share(text) == pytest.approx(damaged / max(1, len(text)))


def test_a_damaged_character_spoils_a_word_of_six() -> None:
    assert readable_share(["\ufffd" + "x" * 99]) == pytest.approx(0.94)
    assert readable_share(["\ufffd" * 17 + "x" * 83]) == 0
    assert readable_share(["x" * 50, "\ufffd" + "x" * 48]) == pytest.approx(0.94)  # and a space between
    assert readable_share([]) == 1


def test_the_beginning_of_a_long_text_tells() -> None:
    assert readable_share(["x" * 2048, "\ufffd" * 2000]) == 1
    assert readable_share(["x" * 2047 + "\ufffd"]) < 1


@given(st.text())
def test_it_is_a_share_of_any_text(text: str) -> None:
    assert 0 <= damaged_share(text) <= 1
    assert 0 <= readable_share([text]) <= 1


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_confidence_in_a_page(path: Path) -> None:
    """A page that is right keeps it; one that was decoded wrongly loses it in proportion."""
    html = decode(path.read_bytes())[0]
    right = clean(html)
    assert readable_share(compress(right.document.texts, right.kept)) == 1
    wrong = clean(html.encode().decode("windows-1252", "replace"))
    readable = readable_share(compress(wrong.document.texts, wrong.kept))
    assert right.confidence is not None
    assert wrong.confidence is not None
    assert wrong.confidence <= readable
    if any(letter.isalpha() and not letter.isascii() for letter in right.text):  # other signs may be entities
        assert readable < 1
    if right.metadata.language in ("ar", "el", "ja", "ru", "zh"):
        assert wrong.confidence == 0
