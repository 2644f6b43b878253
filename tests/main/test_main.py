"""`main`, after a short training on pages of our own: what it decides, and what users can ask of it."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import mainmatter
import mainmatter.main.method as main_module
from main_pages import MENU, article, forum, gold_pages, linear_main, product, prose, trained
from mainmatter.api import read
from mainmatter.errors import InputError, ModelError
from mainmatter.lab.metrics.bag import bag_of_words
from mainmatter.main.choice import PAGE_TYPES, best_choice, calibrate
from mainmatter.main.method import Main
from mainmatter.main.net import BlockNet
from mainmatter.models.store import load
from mainmatter.records import BOILERPLATE, COMMENT, LABELS, MAIN, Extraction, Page
from mainmatter.registry import get_method
from toys import edit_model

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.main.choice import Comments

NEW = (article(20), article(23), forum(21), product(22))  # not learned from
DUMP = Page(f"Home\n\nNews\n\n{prose(3)}\n\n{prose(4)}\n\nImprint", format="text")
ODD_PAGES = [
    "<p>x",
    "x",
    "<a href=/>x</a>",
    "<button>Add to cart</button>",
    MENU,
    "<title>x</title><h1>x</h1>",
    "<div class=comments><p>Me too, I saw 3 of them.</p><p>I doubt it, there are never 4.</p></div>",
    "<body class='comments hidden'><p>日本語のテキスト。",
    "<p>" + "long " * 5000,
    "<div>" * 300 + "deep",
    "<table><tr><td>1<td>2<tr><td>3<td>4</table>",
    "<p>a</p>" * 700,
]


def with_net(**parameters: Any) -> Main:
    """The trained method with other parameters."""
    method = Main(**parameters)
    method.restore(*trained().facts_and_arrays())
    return method


def decided(found: Extraction) -> tuple[Any, ...]:
    return (
        found.scores.tolist(),
        found.kept.tolist(),
        found.labels,
        found.page_type,
        found.confidence,
        list(found.reasons),
    )


def decisions(method: Main) -> list[tuple[Any, ...]]:
    return [decided(mainmatter.clean(page, method=method)) for page in [*(page.page for page in NEW), DUMP, Page("")]]


def kept_texts(found: Extraction) -> list[str]:
    return [block.text for block in found.blocks]


def always(main_odds: float, comment_odds: float) -> Main:
    """A method that believes the same of each block: boilerplate, or so much likelier main matter or a comment."""
    net = trained().net_
    weights = {**net.weights, "out_weights": np.zeros_like(net.weights["out_weights"])}
    weights["out_bias"] = np.full(len(LABELS), -900, np.float32)
    weights["out_bias"][[BOILERPLATE, MAIN, COMMENT]] = 0, main_odds, comment_odds
    method = Main()
    method.restore(trained().facts_and_arrays()[0], BlockNet(weights, net.mean, net.scale, net.dilations).arrays())
    return method


@pytest.mark.parametrize("page", NEW, ids=lambda page: page.page.id)
def test_it_learns(page: Any) -> None:
    found = mainmatter.clean(page.page, method=trained())
    assert bag_of_words(found.text, page.gold.text).f1 > 0.95
    assert found.page_type == page.groups["page_type"]
    assert found.confidence is not None
    assert found.confidence > 0.8
    assert found.method == "main"
    assert not found.marks_comments


@pytest.mark.parametrize("page", [*(page.page for page in NEW), DUMP, *map(Page, ODD_PAGES)], ids=lambda page: page.id)
@pytest.mark.parametrize("dial", [0.0, 0.5, 1.0])
def test_what_holds_for_every_page(page: Page, dial: float) -> None:
    found = mainmatter.clean(page, method=with_net(dial=dial))
    assert found.text.strip()  # never empty where there is text
    assert found.page_type in PAGE_TYPES if page.format == "html" else found.page_type is None
    assert found.confidence is not None
    assert 0 <= found.confidence <= 1
    assert type(found.confidence) is float
    assert ((found.scores >= 0) & (found.scores <= 1)).all()
    assert found.scores.dtype == np.float64
    assert found.kept.dtype == np.bool_
    assert len(found.scores) == len(found.kept) == len(found.labels) == len(found.reasons) == len(found.document)
    if found.found_labels is not None:
        assert found.found_labels.dtype == np.intp
        assert len(found.found_labels) == len(found.document)


def test_an_empty_page() -> None:
    for page in (Page(""), Page("<nav></nav>"), Page("", format="text")):
        found = mainmatter.clean(page, method=trained())
        assert found.text == ""
        assert found.page_type is None
        assert found.confidence is None
        assert len(found.scores) == len(found.kept) == len(found.labels) == len(found.reasons) == 0


def test_the_same_again_and_again() -> None:
    assert decisions(trained()) == decisions(trained())


def test_the_same_in_many_threads() -> None:
    pages = [page.page for page in gold_pages(12)] * 3
    method = pickle.loads(pickle.dumps(trained()))  # its cache is empty
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda page: decided(mainmatter.clean(page, method=method)), pages))
    assert found == [decided(mainmatter.clean(page, method=trained())) for page in pages]


def test_the_same_after_saving_pickling_and_copying(tmp_path: Path) -> None:
    expected = decisions(trained())
    trained().save(tmp_path / "model")
    assert decisions(Main.load(tmp_path / "model")) == expected
    assert decisions(pickle.loads(pickle.dumps(trained()))) == expected
    assert decisions(copy.deepcopy(trained())) == expected


def test_an_untrained_one_can_be_pickled_and_says_what_to_do() -> None:
    for method in (Main(dial=0.3), pickle.loads(pickle.dumps(Main(dial=0.3)))):
        assert method.dial == 0.3
        with pytest.raises(InputError, match="'main' has not been trained: call fit, load or load_shipped first"):
            method.extract(read(DUMP))
        with pytest.raises(InputError, match="has not been trained"):
            method.facts_and_arrays()


@pytest.mark.parametrize("fact", ["columns", "tags", "labels", "page_types", "conventions"])
def test_models_with_other_facts_are_refused(tmp_path: Path, fact: str) -> None:
    trained().save(tmp_path / "model")
    facts = load(tmp_path / "model").facts
    for changed in (facts[fact][1:], [*facts[fact], "new"], facts[fact][::-1]):
        edit_model(tmp_path / "model", facts={**facts, fact: changed})
        with pytest.raises(ModelError, match="model: damaged: ValueError: "):
            Main.load(tmp_path / "model")


def test_a_convention_is_known_by_the_model_that_has_learned_it(tmp_path: Path) -> None:
    trained().save(tmp_path / "model")
    found = get_method(f"{tmp_path / 'model'}:convention=wcxb")
    assert isinstance(found, Main)
    assert (found.convention, found.conventions) == ("wcxb", ("house", "wcxb"))
    with pytest.raises(InputError, match="unknown convention 'fundus'; this model has learned house, wcxb; to learn"):
        get_method(f"{tmp_path / 'model'}:convention=fundus")


def resized(arrays: dict[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
    """The arrays of a net that is right in itself, but of another size."""
    features = len(arrays["mean"])
    longer = {key: np.concatenate([array, array[-1:]]) for key, array in arrays.items() if array.ndim}
    if name == "columns":
        at_most = np.insert(arrays["in_weights"], features, 0, axis=0)
        return {**arrays, "in_weights": at_most, "mean": longer["mean"], "scale": longer["scale"]}
    if name == "names":
        return {**arrays, "embedding": longer["embedding"]}
    if name == "conventions":
        return {**arrays, **{key: longer[key] for key in ("convention_vectors", "convention_keeps")}}
    if name == "levels":
        width = arrays["embedding"].shape[1]
        return {**arrays, "in_weights": arrays["in_weights"][:-width]}
    types = np.concatenate([arrays["type_weights"], arrays["type_weights"][:, :1]], axis=1)
    return {**arrays, "type_weights": types, "type_bias": longer["type_bias"]}


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ("columns", "does not fit its facts"),
        ("names", "does not fit its facts"),
        ("levels", "does not fit its facts"),
        ("types", "knows other types of pages"),
        ("conventions", "knows other labels or conventions"),
    ],
)
def test_models_of_other_sizes_are_refused(
    tmp_path: Path, size: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = trained().facts_and_arrays()[0]
    changed = resized(trained().net_.arrays(), size)
    BlockNet.from_arrays(changed)  # a net, but not one of these columns
    monkeypatch.setattr(Main, "facts_and_arrays", lambda self: (facts, changed))
    trained().save(tmp_path / "model")
    with pytest.raises(ModelError, match=message):
        Main.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dial": 1.5}, r"dial must be from 0 \(only what is sure\) to 1 \(all text\), not 1.5"),
        ({"dial": -0.1}, "dial must be from 0"),
        ({"dial": float("nan")}, "dial must be from 0"),
        ({"comments": "hide"}, "comments must be drop, keep or mark, not 'hide'"),
        ({"without": "names+smell"}, "unknown signal 'smell'; known: length, .*names"),
        ({"epochs": 0}, "epochs must be a whole number from 1, not 0"),
        ({"epochs": 2.0}, "epochs must be a whole number from 1, not 2.0"),
        ({"epochs": True}, "epochs must be a whole number from 1, not True"),
        ({"seed": -1}, "seed must be a whole number from 0, not -1"),
        ({"seed": "7"}, "seed must be a whole number from 0, not '7'"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"method 'main': {message}"):
        Main(**parameters)


def test_parameters_of_a_saved_model_can_be_changed(tmp_path: Path) -> None:
    trained().save(tmp_path / "model")
    found = get_method(f"{tmp_path / 'model'}:dial=0.9,comments=mark,without=names+links")
    assert isinstance(found, Main)
    assert (found.dial, found.comments, found.without) == (0.9, "mark", "names+links")
    for wrong in ("dial=high", "headings=3", "epochs=many"):
        with pytest.raises(InputError, match=f"method 'main': {wrong.partition('=')[0]} must be"):
            get_method(f"{tmp_path / 'model'}:{wrong}")


def test_the_further_the_dial_the_more_is_kept() -> None:
    for page in [*(page.page for page in NEW), DUMP]:
        before = np.zeros(0, np.bool_)
        for dial in (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1.0):
            found = mainmatter.clean(page, method=with_net(dial=dial))
            assert not len(before) or (found.kept | ~before).all()
            before = found.kept
        assert before.tolist() == [label in ("headline", "main") for label in found.labels]
        method = with_net(dial=1.0, comments="keep", bylines=True, captions=True)
        assert mainmatter.clean(page, method=method).kept.all()


COMMENTS = ["Me too, I saw 20 of them.", "I doubt it, there are never 20."]


@pytest.mark.parametrize(("comments", "are_kept"), [("drop", False), ("keep", True), ("mark", True)])
def test_comments(comments: Comments, are_kept: bool) -> None:
    plain, found = (mainmatter.clean(article(20).page, method=with_net(comments=each)) for each in ("drop", comments))
    texts = found.document.texts
    assert found.is_comment is not None
    assert [text for text, is_one in zip(texts, found.is_comment, strict=True) if is_one] == COMMENTS
    assert [text for text in kept_texts(found) if text not in COMMENTS] == kept_texts(plain)
    assert [text for text in kept_texts(found) if text in COMMENTS] == (COMMENTS if are_kept else [])
    assert found.marks_comments == (comments == "mark")
    assert ("--- Comments ---" in found.text) == (comments == "mark")
    reason = found.reasons[texts.index(COMMENTS[0])]
    kept, dropped = "a comment: kept, as comments are wanted", "a comment: dropped, as comments are unless asked for"
    assert reason.startswith(f"{kept if are_kept else dropped}; probability 0.")
    assert plain.confidence == found.confidence


def test_comments_are_no_main_matter_however_likely() -> None:
    method = pickle.loads(pickle.dumps(trained()))
    method.net_.weights["convention_keeps"][0, COMMENT] = 50
    document = read(article(20).page)
    found, sizes = method.extract(document), method.describe(document).sizes
    assert (found.scores[found.is_comment] > 0.5).any()
    assert not found.kept[found.is_comment].any()
    without = best_choice(np.where(found.is_comment, 0, found.scores), sizes, beta=0.85)
    assert found.confidence == calibrate(without.expected, "article")  # comments are neither kept wrongly nor missed
    assert found.confidence != calibrate(best_choice(found.scores, sizes, beta=0.85).expected, "article")


def test_without_tags_a_page_is_not_one_table() -> None:
    method = Main(without="tags")
    method.restore(*trained().facts_and_arrays())
    scores = method.extract(read(article(20).page)).scores
    assert len(set(scores.tolist())) > 3


def test_a_page_of_nothing_but_comments_is_not_empty() -> None:
    found = mainmatter.clean("<p>one</p><p>two</p>", method=always(0, 5))
    assert found.labels == ["main", "main"]


def test_odds_that_are_very_large() -> None:
    found = mainmatter.clean("<p>one</p><p>two</p>", method=always(-900, -900))  # no warning
    assert found.scores.tolist() == pytest.approx([0, 0], abs=1e-4)
    assert found.text


@pytest.mark.parametrize(
    ("switch", "dropped"), [("headings", ["Rope No. 22"]), ("tables", ["Length\t22 m", "Colour\tred"])]
)
def test_kinds_can_be_dropped(switch: str, dropped: list[str]) -> None:
    before = mainmatter.clean(product(22).page, method=trained())
    after = mainmatter.clean(product(22).page, method=with_net(**{switch: False}))
    assert set(dropped) <= set(kept_texts(before))
    assert kept_texts(after) == [text for text in kept_texts(before) if text not in dropped]
    assert after.reasons[after.document.texts.index(dropped[0])].startswith(f"{switch} are not wanted; ")


def test_without_names_other_names_change_nothing() -> None:
    html = str(article(20).page.html)
    renamed = html.replace('class="', 'class="promo teaser hidden ').replace("comments", "zzz")
    assert renamed != html
    scores = [mainmatter.clean(page, method=trained()).scores for page in (html, renamed)]
    assert not np.allclose(scores[0], scores[1], atol=1e-6)
    without = [decided(mainmatter.clean(page, method=with_net(without="names"))) for page in (html, renamed)]
    assert without[0] == without[1]


def test_without_links_links_change_nothing_in_their_columns() -> None:
    page = read(article(20).page)
    full, without = trained().describe(page), with_net(without="links+capitals").describe(page)
    changed = (full.dense != without.dense).any(axis=0)
    columns = trained().facts_and_arrays()[0]["columns"]
    assert {columns[number] for number in np.flatnonzero(changed)} == {
        "link_share",
        "links",
        "capitals",
        "begins_with_capital",
        "spaces",
    }


def liking_links() -> Main:
    """A method that takes links for main matter, and nothing else."""
    return linear_main(bias=-4, link_share=8)


def test_the_headline_is_kept_whatever_the_net_says() -> None:
    found = mainmatter.clean(article(20).page, method=liking_links())
    texts = found.document.texts
    headline = texts.index("News of day 20")
    assert found.scores[headline] < 0.1
    assert found.kept[headline]
    assert not found.kept[headline + 1]
    assert found.reasons[headline].startswith("the page's headline; probability 0.")
    assert found.reasons[headline - len(texts)] == found.reasons[headline]
    assert sum("headline" in reason for reason in found.reasons) == 1


@pytest.mark.parametrize(
    ("parameters", "page"),
    [
        ({"dial": 0.0}, "<title>{0}</title>{1}<h1>{0}</h1><p>{2}</p>"),  # only what is surest
        ({"headline": False}, "<title>{0}</title>{1}<h1>{0}</h1><p>{2}</p>"),
        ({"headings": False}, "<title>{0}</title>{1}<h1>{0}</h1><p>{2}</p>"),
        ({"without": "title"}, "<title>{0}</title>{1}<h1>{0}</h1><p>{2}</p>"),
        ({}, "<title>Another title</title>{1}<h1>{0}</h1><p>{2}</p>"),
        ({}, "{1}<h1>{0}</h1><p>{2}</p>"),
        ({}, "<title>{0}</title>{1}<p>{0}</p><p>{2}</p>"),  # no heading
    ],
)
def test_no_headline_is_kept_where_none_is_wanted_or_there_is_none(parameters: dict[str, Any], page: str) -> None:
    method = liking_links()
    for name, value in parameters.items():
        setattr(method, name, value)
    found = mainmatter.clean(page.format("News of day 20", MENU, prose(20)), method=method)
    assert not found.kept[found.document.texts.index("News of day 20")]


def test_the_log_odds_are_those_of_the_chances() -> None:
    described = trained().describe(read(article(20).page))
    judged = trained().judge(described)
    assert judged.probabilities == pytest.approx(1 / (1 + np.exp(-trained().log_odds(described))))
    assert judged.page_type == "article"
    assert judged.of_labels.shape == (len(judged.probabilities), len(LABELS))
    assert judged.of_labels.sum(axis=1) == pytest.approx(1)


def test_a_page_of_very_many_blocks_takes_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main_module, "_MAX_BLOCKS", 3)
    method = trained()
    page = "<p>One two three four five six seven eight nine ten eleven twelve.</p>" * 4
    found = mainmatter.clean(page, method=method)
    assert found.method == "main"
    assert found.kept.tolist() == mainmatter.clean(page, method="ice-heuristic").kept.tolist()
    assert found.confidence is None
    assert mainmatter.clean(page[: len(page) * 3 // 4], method=method).confidence is not None


@pytest.mark.parametrize("parameters", [{}, {"tables": False, "headline": False}, {"comments": "keep"}], ids=str)
def test_each_block_is_kept_from_the_dial_on_that_is_told(parameters: dict[str, Any]) -> None:
    site = "<meta property=og:site_name content='The Rope Post'><h2>The Rope Post</h2>"
    pages = [article(20).page, product(22).page, Page(str(article(23).page.html).replace("<body>", f"<body>{site}"))]
    for page in pages:
        usual = with_net(**parameters).extract(read(page))
        assert usual.dials is not None
        for dial in (0.0, 0.02, 0.2, 0.45, 0.55, 0.8, 0.97, 1.0):
            found = with_net(dial=dial, **parameters).extract(read(page))
            assert found.dials is not None
            assert np.array_equal(found.dials, usual.dials, equal_nan=True)
            by_dial = ~np.isnan(usual.dials)
            assert (found.kept == (usual.dials <= dial))[by_dial].all()
            assert (found.kept == usual.kept)[~by_dial].all()
        assert (usual.dials[[text == "The Rope Post" for text in usual.document.texts]] == 1).all()
        headline = usual.labels.index("headline")
        assert np.isnan(usual.dials[headline]) if "headline" in parameters else usual.dials[headline] <= 0.01
