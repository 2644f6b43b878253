"""ice-tree: features by hand, learning from small pages of our own, and models."""

from __future__ import annotations

import json
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
from mainmatter.papers.ice import tree as ice_tree
from mainmatter.papers.ice.tree import CLASSES, IceTree, Instances, find_frequent_words, match_labels
from mainmatter.records import Gold, Kind, Page
from reproduce.ice import error_rate, print_tree
from toys import edit_model

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.method import Example

NOUNS = "river stone bridge winter letter garden window summer morning village".split()


def example(seed: int) -> Example:
    """A menu, a heading, three paragraphs, a list of the text, a menu."""
    rng = random.Random(seed)
    texts = [
        " ".join(f"The {rng.choice(NOUNS)} is on the {rng.choice(NOUNS)}, and it was old." for _ in range(3))
        for _ in range(3)
    ]
    items = [f"the old {rng.choice(NOUNS)} of the {rng.choice(NOUNS)}" for _ in range(3)]
    title = f"The {rng.choice(NOUNS)}".title()
    menu = "".join(f"<li><a href=x>{rng.choice(NOUNS).title()}</a></li>" for _ in range(8))
    html = f"<ul>{menu}</ul><h1>{title} x{seed}</h1>"
    html += "".join(f"<p>{text}</p>" for text in texts) + "<ul>" + "".join(f"<li>{item}" for item in items) + "</ul>"
    marked = [f"<h> {title} x{seed}", *(f"<p> {text}" for text in texts), *(f"<l> {item}" for item in items)]
    gold = Gold(text="\n".join(line[4:] for line in marked), marked="\n".join(marked))
    return label(read(Page(f"{html}<ul>{menu}</ul>", f"https://s{seed}.example/")), gold)


EXAMPLES = [example(seed) for seed in range(12)]


def trained(**parameters: Any) -> IceTree:
    return IceTree(**({"min_leaf": 2} | parameters)).fit(EXAMPLES)


@pytest.mark.parametrize("features", ["paper", "fine"])
@pytest.mark.parametrize("kl", [False, True])
@pytest.mark.parametrize("weighting", ["none", "words", "balanced"])
def test_it_learns(features: str, kl: bool, weighting: str) -> None:
    tree = trained(features=features, kl=kl, weighting=weighting)
    page = example(99)
    found = tree.extract(page.document)
    assert found.kept.tolist() == page.kept.tolist()
    kinds = [kind for kind, kept in zip(found.kinds, found.kept, strict=True) if kept]
    assert kinds == [Kind.HEADING] + [Kind.PARAGRAPH] * 3 + [Kind.LIST_ITEM] * 3
    assert ((found.scores > 0) & (found.scores < 1)).all()
    assert error_rate(tree, [tree.observe(page)]) == (0, len(page.document))


def test_labels_and_features_by_hand() -> None:
    html = "<p>The Old bridge, and it.</p><ul><li><a href=x>Home</a> page</ul>"
    page = label(read(Page(html)), Gold(text="The Old bridge, and it.", marked="<p> The Old bridge, and it."))
    seen = IceTree().observe(page)
    assert [CLASSES[number] for number in seen.labels] == ["p", "n"]
    assert seen.tags == ["p", "li"]
    assert seen.words.tolist() == [5, 2]
    rows = dict(zip("words caps marks stops".split(), seen.values[:4].tolist(), strict=True))
    assert rows["words"] == [5, 2]
    assert rows["caps"] == pytest.approx([2 / 5, 1 / 2])
    assert rows["marks"] == pytest.approx([2 / 5, 0])
    tree = IceTree()
    tree.stop_words_ = frozenset(("and", "it", "the"))
    assert tree.values_of(seen)[3].tolist() == pytest.approx([3 / 5, 0])
    fine = seen.values[4:].tolist()
    assert fine[0] == pytest.approx([0, 4 / 9])  # of "Home page", "Home" is a link
    assert fine[1:5] == [[0, 5], [2, 0], [0, 0], [0, 0]]
    assert fine[5] == pytest.approx([0, 0])
    assert fine[6] == pytest.approx([4 / 9, 0])
    assert fine[7] == pytest.approx([0, 1 / 2])
    assert fine[8] == pytest.approx([5 + 2 * 5 / 9] * 2)
    assert fine[9] == [page.document.positions[0], page.document.positions[1] - page.document.positions[0]]


def test_weights() -> None:
    page = EXAMPLES[0]
    seen = IceTree().observe(page)
    words = np.maximum(seen.words, 1)
    assert IceTree(weighting="none")._weigh(seen).tolist() == [1] * len(words)
    assert IceTree(weighting="words")._weigh(seen).tolist() == words.tolist()
    balanced = IceTree()._weigh(seen)
    assert balanced.sum() == pytest.approx(1)
    assert (balanced / balanced[0]).tolist() == pytest.approx(np.sqrt(words / words[0]).tolist())


def test_reasons_and_the_printed_tree() -> None:
    tree = trained(features="paper", weighting="none")
    found = tree.extract(EXAMPLES[0].document)
    by_text = dict(zip(found.document.texts, found.reasons, strict=True))
    paragraph = next(reason for text, reason in by_text.items() if len(text) > 60)
    assert paragraph.endswith(")")
    assert ": p (36.0/1.4)" in paragraph
    assert tree.tree_ is not None
    printed = print_tree(tree.tree_)
    assert "wordcount" in printed or "stop_ratio" in printed
    assert ": p (36.0/1.4)" in printed
    tree.threshold = 0.0
    assert all(reason.endswith("%, so h") for reason in tree.extract(EXAMPLES[0].document).reasons[:3])
    assert list(found.reasons[:2]) == [found.reasons[0], found.reasons[1]]


def test_the_threshold_may_change_after_training(tmp_path: Path) -> None:
    trained().save(tmp_path / "m")
    everything = IceTree.load(tmp_path / "m", threshold=0.0).extract(EXAMPLES[0].document)
    assert everything.kept.all()
    assert not IceTree.load(tmp_path / "m", threshold=0.999).extract(EXAMPLES[0].document).kept.any()
    with pytest.raises(ModelError, match="trained with kl=False, not True"):
        IceTree.load(tmp_path / "m", kl=True)


def test_kinds_that_cleaneval_does_not_know_stay() -> None:
    long = "The river is on the stone, and it was old. " * 3
    page = read(Page(f"<pre>{long}</pre><blockquote>{long}</blockquote><p>{long}</p>"))
    kinds = trained(features="paper").extract(page).kinds
    assert list(kinds) == [Kind.CODE, Kind.QUOTE, Kind.PARAGRAPH]


def test_save_load_and_pickle(tmp_path: Path) -> None:
    tree = trained()
    tree.save(tmp_path / "m")
    page = example(50).document
    expected = tree.extract(page)
    for again in (IceTree.load(tmp_path / "m"), pickle.loads(pickle.dumps(tree))):
        found = again.extract(page)
        assert found.kept.tolist() == expected.kept.tolist()
        assert found.scores.tolist() == expected.scores.tolist()
        assert list(found.reasons) == list(expected.reasons)
    assert tree.tree_ is not None
    again = IceTree.load(tmp_path / "m")
    assert again.tree_ is not None
    assert again.tree_.counts.tolist() == tree.tree_.counts.tolist()
    assert IceTree.load(tmp_path / "m").stop_words_ == tree.stop_words_


@pytest.mark.parametrize(
    "damage",
    [
        lambda facts: facts.pop("tree"),
        lambda facts: facts.update(tree=None),
        lambda facts: facts.pop("stop_words"),
        lambda facts: facts["tree"]["attributes"][0].update(name="other"),
        lambda facts: facts["tree"]["attributes"][0].update(values=["a", "b"]),
        lambda facts: facts["tree"].update(classes=["a", "b", "c", "d"]),
        lambda facts: facts["tree"].update(tests=[99] * len(facts["tree"]["tests"])),
    ],
)
def test_damaged_models(tmp_path: Path, damage: Any) -> None:
    trained().save(tmp_path / "m")
    facts = json.loads((tmp_path / "m" / "model.json").read_text("utf-8"))["facts"]
    damage(facts)
    edit_model(tmp_path / "m", facts=facts)
    with pytest.raises(ModelError, match=r"damaged: (AttributeError|KeyError|TypeError|ValueError): "):
        IceTree.load(tmp_path / "m")


def test_wrong_use() -> None:
    with pytest.raises(InputError, match="features must be paper or fine"):
        IceTree(features="all")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="weighting must be none"):
        IceTree(weighting="x")  # type: ignore[arg-type]
    for name, one in (("labels", "words"), ("decision", "probability"), ("learner", "large")):
        with pytest.raises(InputError, match=f"{name} must be {one} or .*, not 'x'"):
            IceTree(**{name: "x"})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no page"):
        IceTree().learn([])
    with pytest.raises(InputError, match="no block"):
        IceTree().fit([label(read(Page("<script></script>", "x")), Gold(text=" ", marked=" "))])
    with pytest.raises(ModelError, match="no tree yet"):
        IceTree().extract(EXAMPLES[0].document)


@pytest.mark.parametrize(
    ("parameter", "wrong"),
    [
        *[("threshold", wrong) for wrong in (-0.1, 1, 1.5, True, "0.5", float("nan"))],
        *[("min_leaf", wrong) for wrong in (0, -2, 1.5, True)],
        *[("confidence", wrong) for wrong in (0, 1, 1.0, -1, True)],
        ("kl", 1),
        ("features", 3),
        ("weighting", None),
    ],
)
def test_parameters_out_of_range(parameter: str, wrong: object) -> None:
    with pytest.raises(InputError, match=f"ice-tree.*: {parameter} must be .*, not "):
        IceTree(**{parameter: wrong})  # type: ignore[arg-type]


def test_stop_words_are_those_that_most_sites_have_in_their_main_matter() -> None:
    def observed(text: str, site: int, language: str) -> Instances:
        html = f'<html lang="{language}"><title>x</title><p>Home</p><p>{text}</p>'
        return IceTree().observe(label(read(Page(html, f"https://s{site}.example/")), Gold(text=text)))

    frequent = [f"wort{one}{other}" for one in "abcdef" for other in "abcdefghij"]
    german = [observed(f"{' '.join(frequent).title()}, 7", site, "de-AT") for site in range(10)]
    one_large_site = [observed("ein", 99, "de") for _ in range(30)]
    too_few_sites = [observed("le fleuve", site, "fr") for site in range(2)]
    chinese = [observed("这是我的家", site, "zh") for site in range(10)]
    assert find_frequent_words([*one_large_site, *german, *too_few_sites, *chinese]) == {*frequent, *"这是我的家"}


def test_the_shipped_model() -> None:
    sentence = "The river rose by two metres in the night, and the old bridge had to be closed. "
    menu = "".join(f"<li><a href=/{n}>{n}</a>" for n in ("Home", "News", "Sport", "Weather", "Contact"))
    body = f"<h1>Bridge closed after flood</h1><p>{sentence * 3}</p><p>{sentence * 2}</p>"
    found = mainmatter.clean(f"<ul>{menu}</ul><div>{body}</div><ul>{menu}</ul>", method="ice-tree")
    kept = [block.text for block in found.blocks]
    assert (sentence * 3).strip() in kept
    assert (sentence * 2).strip() in kept
    assert len(kept) <= 4
    dump = mainmatter.clean(Page(f"Home\n\n{sentence * 3}\n\nContact\n", format="text"), method="ice-tree")
    assert (sentence * 3).strip() in dump.text


def test_a_block_is_kept_from_a_fifth_on(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = trained()
    for chance, is_kept in ((0.2, False), (0.205, True)):
        monkeypatch.setattr(ice_tree, "_probabilities", lambda tree, chance=chance: np.full(len(tree), chance))
        assert tree.extract(EXAMPLES[0].document).kept.tolist() == [is_kept] * len(EXAMPLES[0].document)


def test_words_around_are_those_of_four_blocks_to_each_side() -> None:
    html = "".join(f"<p>{'word ' * 2**number}</p>" for number in range(11))
    seen = IceTree().observe(label(read(Page(html)), Gold(text="")))
    assert seen.values[12, 5] == sum(2**number for number in range(1, 10))
    assert seen.values[12, 0] == sum(2**number for number in range(5))


def test_the_usual_parameters_are_those_of_the_model_that_ships() -> None:
    later = {"labels": "words", "decision": "probability", "learner": "large", "estimate_words": True}
    assert IceTree().parameters == load(SHIPPED / "ice-tree").parameters | later


PAPER = IceTree.presets["paper"]


def follow(printed: str, features: dict[str, object]) -> str:
    """The class that a tree in figure 2's notation gives, read line by line; "" where it says nothing."""
    depth = 0
    for line in printed.splitlines():
        found = re.fullmatch(r"((?:\| )*)(\w+) (<=|>|=) (\S*?):(?: (\w) \(.*\))?", line)
        assert found is not None
        bars, name, sign, value, label = found.groups()
        if len(bars) // 2 != depth:
            continue
        mine = features[name]
        if sign == "=":
            holds = mine == value
        else:
            assert isinstance(mine, float)
            holds = (mine <= float(value) + 1e-6) == (sign == "<=")
        if holds and label:
            return label
        depth += holds
    return ""


def test_the_preset_agrees_with_the_paper() -> None:
    """ICE 3.3: five features, and the class of the leaf; the tree is read as it is printed, as in figure 2."""
    method = get_method("ice-tree:preset=paper")
    assert isinstance(method, IceTree)
    assert method.stop_words_ is not None
    assert method.tree_ is not None
    stop_words, printed = method.stop_words_, print_tree(method.tree_)
    rng = random.Random(3)
    pieces = "The river, of Stone and it was a Bridge. old Winter; in garden Low-Cost the".split()
    letters = {Kind.HEADING: "h", Kind.LIST_ITEM: "l", Kind.PARAGRAPH: "p"}
    seen = set()
    for _ in range(60):
        elements = [
            (rng.choice(["p", "div", "li", "h1", "h2", "h3"]), " ".join(rng.choices(pieces, k=rng.randint(1, 30))))
            for _ in range(8)
        ]
        found = method.extract(read(Page("".join(f"<{tag}>{text}</{tag}>" for tag, text in elements))))
        for (tag, text), kept, kind in zip(elements, found.kept.tolist(), found.kinds, strict=True):
            words = text.split()
            runs = re.findall("[A-Za-z]+", text)
            features = {
                "wordcount": float(len(words)),
                "parent_tag": tag,
                "cap_ratio": sum(run[0].isupper() for run in runs) / len(words),
                "punct_ratio": sum(text.count(mark) for mark in ".,;:") / len(words),
                "stop_ratio": sum(run.lower() in stop_words for run in runs) / len(words),
            }
            label = follow(printed, features)
            assert label
            assert (letters[kind] if kept else "n") == label
            seen.add(label)
    assert seen == {"h", "l", "p", "n"}


def test_labels_as_in_the_paper() -> None:
    """ICE 3.3: an element that is found in the cleaned file has its label; all others are n."""
    marked = "URL: x\n<h>The\n  title\n<p> One two\nthree.\n<l>* item\n<L> item <p>twice<l>twice"
    html = "<h1>The title</h1><p>One two three.</p><p>One two</p><li>item</li><p>twice</p><p>twice</p><p>URL: x</p>"
    document = read(Page(html))
    found = match_labels(document, Gold("", marked))
    assert [CLASSES[label] for label in found] == ["h", "p", "n", "l", "p", "p", "n"]
    assert [CLASSES[label] for label in match_labels(document, Gold("The title\nitem"))] == list("pnnpnnn")
    page = label(document, Gold("The title", "<h>The title"))
    assert [CLASSES[each] for each in IceTree(**PAPER).observe(page).labels] == list("hnnnnnn")


def test_the_majority_of_the_leaf_decides() -> None:
    tree = trained(**PAPER)
    assert tree.tree_ is not None
    tree.tree_.counts[:] = [3, 0, 0, 4]
    found = tree.extract(EXAMPLES[0].document)
    assert not found.kept.any()
    assert "so" not in found.reasons[0].split(";")[-1]
    tree.decision = "probability"
    assert tree.extract(EXAMPLES[0].document).kept.all()


def test_the_preset_has_weights_of_its_own() -> None:
    assert IceTree(**PAPER).weights() == "ice-tree-paper"
    assert IceTree(**PAPER).parameters == load(SHIPPED / "ice-tree-paper").parameters
    assert (PAPER["min_leaf"], IceTree(**PAPER).confidence) == (2, 0.25)  # C4.5's own
    assert IceTree().weights() == "ice-tree"
    assert [data["name"] for data in load(SHIPPED / "ice-tree-paper").card["data"]] == ["cleaneval-dev"]


def test_words_as_in_the_paper() -> None:
    page = label(read(Page("<p>" + "\u6f22" * 20 + " x")), Gold(text=""))
    assert IceTree().observe(page).words.tolist() == [11]
    assert IceTree(estimate_words=False).observe(page).words.tolist() == [2]
