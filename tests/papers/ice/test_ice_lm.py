"""ice-lm: the query, the threshold, and pages of our own."""

from __future__ import annotations

import math
import pickle
import random
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import mainmatter
from mainmatter import get_method
from mainmatter.api import read
from mainmatter.errors import InputError, ModelError
from mainmatter.lab.training.examples import label
from mainmatter.models.store import SHIPPED, load
from mainmatter.papers.ice.lm import IceLm, PageLikeness, QueryModel, _best_threshold
from mainmatter.records import Gold, Kind, Page
from mainmatter.text.tokens import words
from toys import edit_model

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.method import Example

HTML = """<title>River floods</title><meta name=Keywords content="bridge, water"><meta name=description content="Sand">
<meta property="og:title" content="Flood!">
<h2>The old bridge</h2><p>Water under the <b>stone arch</b> of the bridge.</p>
<p>***</p><p>Imprint</p>"""


def query(html: str, format_name: str = "html", **options: Any) -> list[str]:
    document = read(Page(html, format=format_name))  # type: ignore[arg-type]
    return sorted(QueryModel(**options)._query(document, [words(text) for text in document.texts]))


def test_what_is_in_the_query() -> None:
    base = "the old bridge river floods flood bridge water".split()
    assert query(HTML) == sorted(base)
    assert query(HTML, keywords=False) == sorted("the old bridge river floods flood".split())
    assert query(HTML, description=True) == sorted([*base, "sand"])
    assert query(HTML, bold=True) == sorted([*base, "stone", "arch"])
    assert query("# A title\n\nand text", "text") == ["a", "title"]
    assert query("<p>nothing declared</p>") == []
    assert query(HTML, query="page") == []


def test_a_block_by_hand() -> None:
    # The page: "a a" and "b"; the query: "b" from the heading. Collection: a 2, b 2, as the heading counts twice.
    document = read(Page("<p>a a</p><h1>b</h1>"))
    found, lengths = QueryModel(delta=0.5, query_delta=0.5).measure(document)
    assert lengths.tolist() == [2, 1]
    expected = 0.875 * np.log(0.875 / 0.25) + 0.125 * np.log(0.125 / 0.75)
    assert found.tolist() == pytest.approx([expected, 0], abs=1e-12)


def test_decisions() -> None:
    document = read(Page(HTML))
    found = IceLm(threshold=100.0).extract(document)
    assert found.kept.tolist() == [True, True, False, True]  # *** has no words
    assert found.scores[2] == 0
    divergence, _ = QueryModel().measure(document)
    assert found.scores[[0, 1, 3]].tolist() == pytest.approx((100 / (100 + divergence[[0, 1, 3]])).tolist())
    assert found.reasons[2] == "no words to compare with title, headings and keywords"
    at = float(divergence[1])
    found = IceLm(threshold=at).extract(document)
    assert not found.kept[1]
    assert found.scores[1] == pytest.approx(0.5)
    assert f"diverges by {at:.2f} from" in found.reasons[1]
    assert "not below the threshold" in found.reasons[1]
    assert "bove" not in found.reasons[0]
    assert list(found.reasons[1:3]) == [found.reasons[1], found.reasons[2]]
    assert not IceLm(threshold=0.0).extract(document).kept.any()


def naive_mean(pages: list[PageLikeness], threshold: float) -> float:
    scores = []
    for page in pages:
        kept = (page.divergences < threshold) & (page.words > 0)
        matched, extracted, wanted = page.gold[kept].sum(), page.words[kept].sum(), page.gold.sum()
        scores.append(2 * matched / (extracted + wanted) if extracted + wanted else 1.0)
    return float(np.mean(scores))


def test_the_best_threshold_is_the_best() -> None:
    rng = np.random.default_rng(4)
    for _ in range(40):
        pages = []
        for _ in range(rng.integers(1, 5)):
            count = int(rng.integers(0, 8))
            sizes = rng.integers(0, 9, count).astype(float)
            shares = rng.integers(0, 3, count) / 2
            pages.append(PageLikeness(rng.integers(0, 6, count) / 2, sizes, sizes * shares))
        threshold, mean = _best_threshold(pages)
        assert np.isfinite(threshold)
        assert mean == pytest.approx(naive_mean(pages, threshold))
        assert mean == pytest.approx(max(naive_mean(pages, each) for each in np.arange(-0.25, 4, 0.25)))


NOUNS = "river stone bridge winter letter garden window summer morning village".split()


def example(seed: int) -> Example:
    rng = random.Random(seed)
    topic = rng.sample(NOUNS, 3)
    texts = [" ".join(f"The {rng.choice(topic)} is near the {rng.choice(topic)}." for _ in range(6)) for _ in range(3)]
    menu = "".join(f"<li>{word}" for word in ("Imprint", "Login", "Contact", "Search", "Shop"))
    title = " ".join(topic)
    html = f"<title>{title}</title><ul>{menu}</ul>" + "".join(f"<p>{text}</p>" for text in texts)
    return label(read(Page(html, f"https://s{seed}.example/")), Gold(text="\n".join(texts)))


EXAMPLES = [example(seed) for seed in range(8)]


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"smoothing": "dirichlet", "mu": 0.1},
        {"direction": "query", "query_delta": 0.1},
        {"bold": True, "description": True},
    ],
)
def test_it_learns(parameters: dict[str, Any]) -> None:
    method = IceLm(**parameters).fit(EXAMPLES)
    page = example(77)
    assert method.extract(page.document).kept.tolist() == page.kept.tolist()


def test_save_load_and_pickle(tmp_path: Path) -> None:
    method = IceLm().fit(EXAMPLES)
    assert method.save(tmp_path / "m") < 5000
    for again in (IceLm.load(tmp_path / "m"), pickle.loads(pickle.dumps(method))):
        assert again.threshold_ == method.threshold_
    assert IceLm.load(tmp_path / "m", threshold=1.5).threshold == 1.5
    with pytest.raises(ModelError, match="trained with bold=False, not True"):
        IceLm.load(tmp_path / "m", bold=True)


@pytest.mark.parametrize("facts", [{}, {"threshold": None}, {"threshold": -1}, {"threshold": "x"}])
def test_damaged_models(tmp_path: Path, facts: dict[str, Any]) -> None:
    IceLm().fit(EXAMPLES).save(tmp_path / "m")
    edit_model(tmp_path / "m", facts=facts)
    with pytest.raises(ModelError, match=r"damaged: (KeyError|TypeError|ValueError): "):
        IceLm.load(tmp_path / "m")


def test_wrong_use() -> None:
    with pytest.raises(InputError, match="smoothing must be absolute or dirichlet"):
        IceLm(smoothing="jelinek")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="direction"):
        IceLm(direction="both")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="query must be declared or page"):
        IceLm(query="x")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no page"):
        IceLm().learn([])
    with pytest.raises(ModelError, match="no threshold yet"):
        IceLm().extract(EXAMPLES[0].document)


@pytest.mark.parametrize(
    ("parameter", "wrong"),
    [
        *[(name, wrong) for name in ("delta", "query_delta") for wrong in (0, 1e-7, 1.01, True, "0.5", float("nan"))],
        *[("mu", wrong) for wrong in (0, -1.0, 1e-320, True)],
        *[("threshold", wrong) for wrong in (-0.1, False, float("inf"), "3")],
        ("bold", 1),
    ],
)
def test_parameters_out_of_range(parameter: str, wrong: object) -> None:
    with pytest.raises(InputError, match=f"ice-lm.*: {parameter} must be .*, not "):
        IceLm(**{parameter: wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize("smoothing", ["absolute", "dirichlet"])
@pytest.mark.parametrize("direction", ["element", "query"])
def test_parameters_at_the_ends_of_their_ranges(smoothing: Any, direction: Any) -> None:
    for delta, mu, threshold in ((1e-6, 1e-6, 0), (1, 1e308, 1e308)):
        options = {"smoothing": smoothing, "direction": direction, "mu": mu, "threshold": threshold}
        for method in (IceLm(delta=delta, **options), IceLm(query_delta=delta, **options)):
            for page in (HTML, "", "<p>x</p>", "<p>a a a</p><p>b"):
                assert np.isfinite(method.extract(read(Page(page))).scores).all()


def test_the_shipped_model_on_a_page_and_on_a_dump() -> None:
    sentence = "The river rose by two metres in the night, and the old bridge over the river had to be closed. "
    menu = "".join(f"<li>{word}" for word in ("Imprint", "Login", "Contact"))
    html = f"<title>River closes bridge</title><ul>{menu}</ul><h1>River closes bridge</h1><p>{sentence * 3}</p>"
    assert (sentence * 3).strip() in mainmatter.clean(html, method="ice-lm").text
    dump = mainmatter.clean(Page(f"Login\n\n{sentence * 3}\n", format="text"), method="ice-lm")
    assert (sentence * 3).strip() in dump.text
    assert mainmatter.clean("", method="ice-lm").text == ""


def test_how_much_of_a_page_is_looked_at_for_the_query() -> None:
    declared = "<meta name=keywords content=otter>"
    for others, is_read in ((499, True), (500, False)):
        assert ("otter" in query(f"{'<meta name=x>' * others}{declared}<p>text")) == is_read
    for others, is_read in ((199, True), (200, False)):
        assert ("otter" in query(f"<p>text {'<b>x</b> ' * others}<b>otter</b>", bold=True)) == is_read


def test_the_least_smoothing() -> None:
    for name in ("delta", "query_delta", "mu"):
        assert getattr(IceLm(**{name: 1e-6}), name) == 1e-6  # type: ignore[arg-type]
        with pytest.raises(InputError, match=f"ice-lm: {name} must be"):
            IceLm(**{name: 0.95e-6})  # type: ignore[arg-type]
    assert IceLm(delta=1.0, query_delta=1.0, threshold=0.0).threshold == 0
    for name in ("delta", "query_delta"):
        with pytest.raises(InputError, match=f"ice-lm: {name} must be"):
            IceLm(**{name: 1.05})  # type: ignore[arg-type]


def test_the_usual_parameters_are_those_of_the_model_that_ships() -> None:
    assert IceLm().parameters == load(SHIPPED / "ice-lm").parameters | {"list_items": True}
    assert IceLm().model == QueryModel()  # as `ice-tree` measures, too


def test_a_block_of_one_word_counts_when_a_threshold_is_learned() -> None:
    one, two = (PageLikeness(np.array([1.0, 2.0]), np.array([1.0, 1.0]), np.array(gold)) for gold in ([1, 0], [0, 1]))
    assert _best_threshold([one])[0] == 1.5
    assert _best_threshold([two])[0] == 2.5


def test_a_threshold_may_be_any_number_from_nought() -> None:
    for threshold in (0.0, 0.4):
        method = IceLm()
        method.restore({"threshold": threshold}, {})
        assert method.threshold_ == threshold


def by_the_paper(title: str, keywords: str, elements: list[tuple[str, str]], threshold: float) -> list[str]:
    """ICE 3.4, transcribed: which elements (tag, text) are kept, and as what.

    The query is all headings, titles and keywords; absolute discounting by 0.7 for all models (Zhai & Lafferty 2004).
    """
    texts = [re.findall("[a-z0-9]+", text.lower()) for _, text in elements]
    query = [word for (tag, _), text in zip(elements, texts, strict=True) if tag[0] == "h" for word in text]
    query += re.findall("[a-z0-9]+", f"{title} {keywords}".lower())
    everything = [word for text in texts for word in text] + query

    def model(text: list[str]) -> dict[str, float]:
        share = 0.7 * len(set(text)) / len(text)
        return {
            word: max(text.count(word) - 0.7, 0) / len(text) + share * everything.count(word) / len(everything)
            for word in set(everything)
        }

    of_query = model(query)
    decisions = []
    for (tag, _), text in zip(elements, texts, strict=True):
        divergence = sum(p * math.log(p / of_query[word]) for word, p in model(text).items())
        decisions.append(("h" if tag[0] == "h" else "p") if abs(divergence) < threshold else ".")
    return decisions


def test_the_preset_agrees_with_the_paper() -> None:
    rng = random.Random(6)
    threshold = 0.5  # so few words are nearer to each other than those of a page
    method = get_method("ice-lm:preset=paper", threshold=threshold)
    seen = set()
    for _ in range(100):
        title, keywords = (" ".join(rng.choices(NOUNS, k=2)) for _ in range(2))
        elements = [
            (rng.choice(["p", "li", "div", "h1", "h3"]), " ".join(rng.choices(NOUNS, k=rng.choice([1, 3, 8, 40]))))
            for _ in range(rng.randint(2, 12))
        ]
        head = f'<title>{title}</title><meta name=keywords content="{keywords}">'
        html = head + "".join(f"<{tag}>{text}</{tag}>" for tag, text in elements)
        found = method.extract(read(Page(html)))
        letters = {Kind.HEADING: "h", Kind.PARAGRAPH: "p"}
        decided = [letters[kind] if keep else "." for kind, keep in zip(found.kinds, found.kept, strict=True)]
        assert decided == by_the_paper(title, keywords, elements, threshold)
        seen.update(decided)
    assert seen == {"h", "p", "."}


def test_the_preset_has_weights_of_its_own() -> None:
    paper = IceLm(**IceLm.presets["paper"])
    assert paper.weights() == "ice-lm-paper"
    assert paper.parameters == load(SHIPPED / "ice-lm-paper").parameters
    assert IceLm().weights() == IceLm(delta=0.7).weights() == IceLm(list_items=False).weights() == "ice-lm"
