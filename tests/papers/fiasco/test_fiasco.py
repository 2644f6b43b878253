"""FIASCO: judging, pruning, never coming out empty, learning; with a machine made by hand where figures matter."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import mainmatter
from mainmatter.errors import InputError, MainmatterError, MissingExtra, ModelError
from mainmatter.lab.training.examples import label
from mainmatter.models.store import SHIPPED, load, save
from mainmatter.papers.fiasco.method import Fiasco, sample_nodes
from mainmatter.papers.fiasco.svm import Svm
from mainmatter.records import Document, Extraction, Gold, Page
from mainmatter.registry import get_method

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.method import Example

LONG = "The river rose by two metres in the night, and the old bridge had to be closed to all traffic. "


def by_length(threshold_chars: int = 20, **parameters: Any) -> Fiasco:
    """A machine made by hand: a linear one that looks at the length of a node's own text alone."""
    method = Fiasco(kernel="linear", **parameters)
    names = method.feature_names
    vector = np.zeros((1, len(names)), np.float32)
    vector[0, names.index("own_chars")] = 1
    method.low_ = np.zeros(len(names), np.float32)
    method.high_ = np.full(len(names), 10, np.float32)
    bias = 1 - np.log1p(threshold_chars) / 5  # a text of log length 5 is scaled to 0
    method.machine_ = Svm("linear", 1.0, vector, np.ones(1, np.float32), float(bias))
    return method


def read(html: str) -> Document:
    return mainmatter.read(Page(html))


def kept(found: Extraction) -> str:
    return "".join("x" if keep else "." for keep in found.kept)


def test_scores_are_decision_values() -> None:
    found = by_length(20).extract(read(f"<p>{'a' * 20}<p>{'b' * 100}<p>c"))
    # Scaled, the logarithm of a length becomes log(1 + length) / 5 - 1; the border is at 20.
    assert found.scores == pytest.approx([(np.log1p(n) - np.log1p(20)) / 5 for n in (20, 100, 1)], abs=1e-6)
    assert kept(by_length(20, threshold=0.01).extract(read(f"<p>{'a' * 20}<p>{'b' * 100}"))) == ".x"
    assert kept(by_length(20, threshold=0.4).extract(read(f"<p>{'b' * 100}<p>{'b' * 200}"))) == ".x"
    assert [reason[:23] for reason in found.reasons][1:] == ["its target node is clea", "its target node is dirt"]


def test_what_a_dirty_node_takes_with_it() -> None:
    # The outer item has 15 of 115 characters of its own: a target node, and dirty.
    page = f"<p>{LONG}<ul><li>{'s' * 15}<ul><li>{'x' * 100}</ul></ul>"
    own, subtree = by_length(prune="own").extract(read(page)), by_length(prune="subtree").extract(read(page))
    assert kept(own) == "x.x"
    assert kept(subtree) == "x.."
    assert subtree.reasons[2] == "inside the subtree of a dirty target node"
    assert (own.scores == subtree.scores).all()


def test_no_page_with_text_comes_out_empty() -> None:
    one_node = read("<body>short text</body>")
    assert kept(by_length().extract(one_node)) == "x"
    assert kept(by_length(never_empty=False).extract(one_node)) == "."
    assert by_length().extract(one_node).reasons[0].startswith("no node of the page is clean")
    # With several, the best, and those about as good: 0.2 (log 11 - log 2) is 0.34, and log 11 - log 1 more than 0.5.
    assert kept(by_length(1000).extract(read(f"<p>{'a' * 10}<p>b<p>{'c' * 200}"))) == "..x"
    assert kept(by_length(1000).extract(read("<p>aaaaaaaaaa<p>b"))) == "xx"
    # Pruned subtrees can leave nothing too.
    page = f"<ul><li>{'s' * 15}<ul><li>{'x' * 100}</ul></ul>"
    assert kept(by_length(prune="subtree").extract(read(page))) != ".."


def test_values_beyond_the_training_data_count_as_its_ends() -> None:
    method = by_length()
    assert method.high_ is not None
    method.high_[:] = 5
    longer, longest = method.extract(read(f"<p>{'a' * 200}<p>{'b' * 2000}")).scores
    assert longer == longest


def test_equal_rows_are_judged_once_and_alike() -> None:
    few, many = read("<p>aaaa<p>" + LONG), read("<p>aaaa<p>" + LONG + "<p>aaaa" * 6000)
    method = by_length()
    assert method.extract(many).scores[:2].tolist() == method.extract(few).scores.tolist()
    assert (method.extract(many).scores[2:] == method.extract(many).scores[0]).all()


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "cubic"},
        {"prune": "all"},
        {"features": "linguistic+smell"},
        {"features": "pos+pos"},
        {"features": ""},
        {"features": 3},
        {"features": None},
        {"kernel": []},
        {"prune": []},
        {"C": 0},
        {"C": float("inf")},
        {"C": float("nan")},
        {"C": "x"},
        {"C": True},
        {"C": 1e300},
        {"C": None},
        {"gamma": -1.0},
        {"gamma": 1e300},
        {"gamma": 1e-300},
        {"gamma": [1]},
        {"gamma": True},
        {"gamma": 10**400},
        {"clean_weight": float("inf")},
        {"clean_weight": {}},
        {"most_nodes": 1},
        {"most_nodes": 2.5},
        {"most_nodes": True},
        {"most_nodes": "many"},
        {"threshold": float("nan")},
        {"threshold": "x"},
        {"threshold": False},
        {"never_empty": "no"},
        {"never_empty": 1},
    ],
)
def test_wrong_parameters(parameters: dict[str, Any]) -> None:
    [name] = parameters
    with pytest.raises(InputError, match=f"fiasco: {name} must be "):
        Fiasco(**parameters)


def test_an_untrained_method_says_so(tmp_path: Path) -> None:
    method = Fiasco()
    with pytest.raises(InputError, match=r"has not learned yet: fit it, or use mainmatter\.get_method\('fiasco'\)"):
        mainmatter.clean(f"<p>{LONG}", method=method)
    with pytest.raises(InputError, match="has not learned yet"):
        method.extract(read(""))
    with pytest.raises(InputError, match="has not learned yet"):
        method.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("features", "missing", "extra"),
    [
        ("structural", "sklearn", "train"),
        ("linguistic+structural", "wordfreq", "train"),
        ("structural+pos", "HanTa", "pos"),
    ],
)
def test_missing_packages_are_named_before_training(
    features: str, missing: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("sklearn", "wordfreq", "HanTa"):
        pytest.importorskip(package)
    Fiasco(features=features).need_extras()
    for name in [each for each in sys.modules if each.partition(".")[0] == missing]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtra, match=rf"mainmatter\[{extra}\]"):
        Fiasco(features=features).need_extras()
    if missing != "sklearn":
        Fiasco(features="structural").need_extras()


def test_feature_names() -> None:
    names = Fiasco().feature_names
    assert len(names) == len(set(names)) == 34
    assert names[-4:] == ["own_clean_keywords", "own_dirty_keywords", "all_clean_keywords", "all_dirty_keywords"]
    assert Fiasco(features="pos").feature_names == ["open_class", "closed_class", "unknown_words", "special_symbols"]
    assert Fiasco(features="structural+visual").feature_names[-1] == "headline"


def test_nodes_are_sampled_evenly() -> None:
    chosen = sample_nodes([100, 3, 0, 50], 20)
    assert [len(nodes) for nodes in chosen] in ([9, 3, 0, 8], [8, 3, 0, 9])
    assert all(len(set(nodes.tolist())) == len(nodes) for nodes in chosen)
    assert all(a.tolist() == b.tolist() for a, b in zip(chosen, sample_nodes([100, 3, 0, 50], 20), strict=True))
    assert [nodes.tolist() for nodes in sample_nodes([2, 1], 20)] == [[0, 1], [0]]
    for most in (2, 7, 50, 152):
        assert sum(map(len, sample_nodes([100, 3, 0, 50], most))) == most


def examples(count: int = 8) -> list[Example]:
    found = []
    for number in range(count):
        text = f"Page {number}. {LONG}" * (1 + number % 3)
        html = f"""<nav><ul><li><a href=1>Home {number}</a><li><a href=2>Sitemap</a></ul></nav><h1>Bridge {number}</h1>
            <p>{text}</p><p>{LONG}</p><footer>Copyright {number}, all rights reserved</footer>"""
        found.append(label(read(html), Gold(text=f"Bridge {number}\n{text}\n{LONG}")))
    return found


def test_learning() -> None:
    pytest.importorskip("sklearn")
    lines: list[str] = []
    method = Fiasco(most_nodes=30).fit(examples(), lines.append)
    assert "training with 30 nodes of 8 pages" in lines
    assert "sitemap" in method.dirty_keywords_
    assert set(method.clean_keywords_).isdisjoint(method.dirty_keywords_)
    assert "the" not in method.clean_keywords_
    for example in examples(3):
        assert (
            method.extract(example.document).kept.tolist()
            == example.kept.tolist()
            == [False] * 2 + [True] * 3 + [False]
        )


@pytest.mark.parametrize("features", ["linguistic", "structural", "structural+linguistic"])
def test_subsets_of_features(features: str, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    method = Fiasco(features=features).fit(examples())
    method.save(tmp_path / "model")
    again = Fiasco.load(tmp_path / "model")
    document = examples(1)[0].document
    assert again.features == features
    assert again.extract(document).scores.tolist() == method.extract(document).scores.tolist()
    with pytest.raises(ModelError, match="features"):
        Fiasco.load(tmp_path / "model", features="pos")


def test_parts_of_speech() -> None:
    pytest.importorskip("HanTa")
    pytest.importorskip("sklearn")
    method = Fiasco(features="pos").fit(examples())
    assert method.clean_keywords_ == ()
    assert method.extract(examples(1)[0].document).kept.tolist()[3:] == [True, True, False]


def test_nothing_to_tell_apart() -> None:
    pytest.importorskip("sklearn")
    with pytest.raises(InputError, match="clean and dirty"):
        Fiasco().fit([label(read(f"<p>{LONG}"), Gold(text=LONG))])
    with pytest.raises(InputError, match="no page"):
        Fiasco().fit([])
    with pytest.raises(InputError, match="clean and dirty"):
        Fiasco().fit([label(read(""), Gold(text=LONG))])


def damaged(model: Any, **changes: Any) -> Any:
    return type(model)(
        model.method,
        model.version,
        model.parameters,
        {**model.facts, **changes.get("facts", {})},
        {**model.arrays, **changes.get("arrays", {})},
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"facts": {"features": ["depth"]}},
        {"facts": {"bias": float("1e999")}},
        {"facts": {"bias": "much"}},
        {"facts": {"clean_keywords": "water"}},
        {"facts": {"dirty_keywords": [1]}},
        {"arrays": {"weights": np.ones(3, np.float32)}},
        {"arrays": {"low": np.ones((2, 2), np.float32)}},
        {"arrays": {"high": np.full(34, np.nan, np.float32)}},
        {"arrays": {"vectors": np.ones((4, 33), np.float16)}},
        {"facts": {"bias": True}},
        {"facts": {"bias": "1.5"}},
        {"facts": {"bias": None}},
        {"facts": {"bias": [1.0]}},
        {"facts": {"bias": 1e308}},
        {"facts": {"bias": 10**400}},
        {"facts": {"features": None}},
        {"facts": {"clean_keywords": None}},
        {"arrays": {"weights": np.ones((1, 1), np.float32)}},
        {"arrays": {"weights": np.ones((1, 2), np.float32)}},
        {"arrays": {"weights": np.ones((), np.float32)}},
        {"arrays": {"weights": np.full(1, 3e38, np.float32)}},
        {"arrays": {"weights": np.ones(1, np.int64)}},
        {"arrays": {"weights": np.ones(0, np.float32), "vectors": np.ones((0, 34), np.float16)}},
        {"arrays": {"vectors": np.full((1, 34), 1.01, np.float32)}},
        {"arrays": {"vectors": np.full((1, 34), 3e38, np.float32)}},
        {"arrays": {"vectors": np.ones((1, 34), np.bool_)}},
        {"arrays": {"vectors": np.ones((1, 34), np.int8)}},
        {"arrays": {"low": np.full(34, 11, np.float32)}},
        {"arrays": {"low": np.full(34, -3e38, np.float32)}},
        {"arrays": {"low": np.zeros(34, np.int64)}},
        {"arrays": {"high": np.full(34, np.inf, np.float32)}},
        {"arrays": {"high": np.zeros(33, np.float32)}},
    ],
)
def test_damaged_models(changes: dict[str, Any], tmp_path: Path) -> None:
    by_length(C=1.0).save(tmp_path / "good")
    model = load(tmp_path / "good")
    assert Fiasco.load(tmp_path / "good").extract(read(LONG)).kept.tolist() == [True]
    if changes.get("facts", {}).get("bias") == float("inf"):
        with pytest.raises(MainmatterError):
            Fiasco(kernel="linear", C=1.0).take(damaged(model, **changes), "here")
        return
    save(damaged(model, **changes), tmp_path / "bad")
    with pytest.raises(ModelError, match="damaged"):
        Fiasco.load(tmp_path / "bad")


def test_the_shipped_model() -> None:
    page = f"""<html lang=en><body><div><a href=/>Home</a> | <a href=/n>News</a> | <a href=/s>Sitemap</a></div>
        <h1>The bridge is closed</h1><p>{LONG * 3}</p><p>{LONG * 2}</p>
        <div><a href=/p>Privacy policy</a> <a href=/c>Contact</a> Copyright 2007. All rights reserved.</div>"""
    assert kept(mainmatter.clean(page, method="fiasco")) == ".xxx."
    with pytest.raises(ModelError, match="mainmatter train fiasco:C=32"):
        get_method("fiasco:C=32")
    assert isinstance(get_method("fiasco:threshold=-0.5,prune=subtree"), Fiasco)


def test_a_node_is_clean_on_the_better_side_of_the_border() -> None:
    page = Fiasco().observe(label(read("<p>a<p>b<p>c"), Gold(text="")))
    assert Fiasco().decide(page, np.array([0.01, 0.0, -0.01])).tolist() == [True, False, False]


def test_what_is_about_as_near_to_clean_as_the_nearest() -> None:
    page = Fiasco().observe(label(read("<p>a<p>b<p>c"), Gold(text="")))
    assert Fiasco().decide(page, np.array([-1.0, -1.49, -1.5])).tolist() == [True, True, False]


def test_the_usual_parameters_are_those_of_the_model_that_ships() -> None:
    # Parameters that came later have the value that changes nothing.
    shipped = load(SHIPPED / "fiasco").parameters
    assert Fiasco().parameters == Fiasco().parameters | shipped
    assert get_method("fiasco").parameters == Fiasco().parameters  # type: ignore[attr-defined]


@pytest.mark.parametrize(("pages", "is_chosen"), [(4, False), (5, True)])
def test_a_keyword_is_on_five_pages(pages: int, is_chosen: bool) -> None:
    pytest.importorskip("sklearn")
    assert ("sitemap" in Fiasco().fit(examples(pages)).dirty_keywords_) == is_chosen


def test_two_hundred_keywords_are_chosen_for_each_side() -> None:
    pytest.importorskip("sklearn")
    letters = "abcdefghijklmnop"  # 256 words for each side, which no language has
    clean, dirty = (" ".join(f"{way}{one}{two}{way}" for one in letters for two in letters) for way in ("xv", "zq"))
    page = label(read(f"<p>{clean}</p><footer>{dirty}</footer>"), Gold(text=clean))
    method = Fiasco().fit([page] * 40)
    assert (len(method.clean_keywords_), len(method.dirty_keywords_)) == (200, 200)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("C", 1e-9, 1e9),
        ("gamma", 1e-9, 1e4),
        ("clean_weight", 1e-6, 1e6),
        ("most_nodes", 2, 10**9),
        ("threshold", -1e9, 1e9),
    ],
)
def test_the_ends_of_what_parameters_may_be(name: str, low: float, high: float) -> None:
    beyond = (low - 1, high + 1) if isinstance(low, int) else (low - abs(low) / 20, high * 1.05)
    for value in (low, high):
        assert getattr(Fiasco(**{name: value}), name) == value  # type: ignore[arg-type]
    for value in beyond:
        with pytest.raises(InputError, match=f"fiasco: {name} must be a"):
            Fiasco(**{name: value})  # type: ignore[arg-type]


def test_how_large_a_feature_may_be(tmp_path: Path) -> None:
    by_length(C=1.0).save(tmp_path / "good")
    model = load(tmp_path / "good")
    for end, sign in (("low", -1), ("high", 1)):
        Fiasco(kernel="linear", C=1.0).take(damaged(model, arrays={end: np.full(34, sign * 1e30)}), "here")
        with pytest.raises(ModelError, match="the scale is not one"):
            Fiasco(kernel="linear", C=1.0).take(damaged(model, arrays={end: np.full(34, sign * 1.01e30)}), "here")
