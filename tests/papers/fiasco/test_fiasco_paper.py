"""FIASCO as the paper has it: `fiasco:preset=paper` against a transcription of the paper that shares no code with it.

The transcription reads well-formed pages with Python's own XML parser and follows the text of the paper, section by
section. Of what the method has learned it takes keywords, scale and support vectors.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from functools import partial
from math import exp
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import mainmatter
from mainmatter.errors import InputError, ModelError
from mainmatter.lab.training.examples import label
from mainmatter.models.store import SHIPPED, load
from mainmatter.papers.fiasco import method as module
from mainmatter.papers.fiasco.alignment import label_elements
from mainmatter.papers.fiasco.elements import Belonging, find_elements
from mainmatter.papers.fiasco.method import Fiasco
from mainmatter.papers.fiasco.svm import Tried
from mainmatter.records import Gold, Kind, Page
from mainmatter.registry import get_method, make_untrained
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from mainmatter.papers.fiasco.elements import Elements
    from mainmatter.records import Document

LONG = "The river rose by two metres in the night, and the old bridge had to be closed to all traffic. "
OTHER = "Nobody was hurt, said the mayor, who had been woken by a call from the fire brigade shortly before dawn."


@pytest.fixture(scope="module")
def paper() -> Fiasco:
    method = get_method("fiasco:preset=paper")
    assert isinstance(method, Fiasco)
    return method


def read(html: str) -> Document:
    return mainmatter.read(Page(html))


def elements_of(html: str) -> Elements:
    return find_elements(read(html))


def targets(html: str) -> list[tuple[str, str]]:
    """The tag and all text of each target node."""
    found = elements_of(html)
    first, end = found.spans
    texts = [" ".join(found.texts[a:b]) for a, b in zip(first, end, strict=True)]
    return list(zip([found.tags[target] for target in found.targets], texts, strict=True))


# The paper, transcribed


class Node:
    """A node of the paper's tree: an element with its text nodes and elements, in order."""

    def __init__(self, tag: str, parent: Node | None, has_address: bool = False) -> None:
        self.tag, self.parent, self.has_address = tag, parent, has_address
        self.children: list[Node | str] = []

    def nodes(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.nodes()

    def texts(self) -> Iterator[tuple[str, Node]]:
        """All text nodes below it, each with the node that it is an immediate child of."""
        for child in self.children:
            if isinstance(child, str):
                yield child, self
            else:
                yield from child.texts()

    def ancestors(self) -> Iterator[Node]:
        if self.parent is not None:
            yield self.parent
            yield from self.parent.ancestors()

    def own(self) -> list[str]:
        return [child for child in self.children if isinstance(child, str)]

    def all(self) -> list[str]:
        return [text for text, _ in self.texts()]


INLINE = {"a", "b", "span", "img"}


def build(element: ET.Element, parent: Node | None) -> Node:
    """2.1: scripts, styles and comments go; what line breaks delimit becomes a paragraph."""
    node = Node(element.tag, parent, "href" in element.attrib)
    pieces: list[ET.Element | str] = [element.text or ""]
    for child in element:
        pieces += [child, child.tail or ""]
    has_breaks = any(isinstance(piece, ET.Element) and piece.tag == "br" for piece in pieces)
    holder = node
    for piece in pieces:
        if isinstance(piece, ET.Element):
            if piece.tag in ("script", "style"):
                continue
            if piece.tag == "br" or (has_breaks and piece.tag not in INLINE):
                holder = node
            if piece.tag == "br":
                continue
        elif not piece.strip():
            continue
        if has_breaks and holder is node and (isinstance(piece, str) or piece.tag in INLINE):
            holder = Node("p", node)
            node.children.append(holder)
        if isinstance(piece, str):
            holder.children.append(" ".join(piece.split()))
        else:
            holder.children.append(build(piece, holder))
    return node


def is_target(node: Node) -> bool:
    """2.2: 10 % of its textual content are contained in text nodes among its immediate children."""
    content = sum(len(text) for text in node.all())
    return content > 0 and 10 * sum(len(text) for text in node.own()) >= content


def kind(node: Node) -> str:
    """2.5: it corresponds to, or is contained in, an element of one of the paragraph types."""
    for each in (node, *node.ancestors()):
        if each.tag in ("p", "li"):
            return each.tag
        if re.fullmatch("h[1-4]", each.tag):
            return "h"
    return "p"


def words(texts: list[str]) -> list[str]:
    return [word.lower() for text in texts for word in re.findall(r"\w+", text)]


def features(node: Node, clean: set[str], dirty: set[str]) -> dict[str, float]:
    """3.1 and 3.2, without what needs a tagger or a browser."""
    found: dict[str, float] = {}
    for part, texts in (("own", node.own()), ("all", node.all())):
        tokens = words(texts)
        sentences = sum(len(re.findall(r"[.!?]+(?=\s|$)", text)) for text in texts)
        found[f"{part}_chars"] = sum(map(len, texts))
        found[f"{part}_tokens"] = len(tokens)
        found[f"{part}_types"] = len(set(tokens))
        found[f"{part}_sentences"] = sentences
        found[f"{part}_sentence_length"] = len(tokens) / (sentences or 1)
        for side, keywords in (("clean", clean), ("dirty", dirty)):
            found[f"{part}_{side}_keywords"] = sum(word in keywords for word in tokens) / (len(tokens) or 1)
    below = list(node.nodes())
    found["depth"] = len(list(node.ancestors()))
    found["heading"] = kind(node) == "h"
    found["paragraph"] = node.tag == "p"
    found["links"] = sum(each.tag == "a" for each in below) / len(below)
    found["addresses"] = sum(each.has_address for each in below) / len(below)
    found["images"] = sum(each.tag == "img" for each in below) / len(below)
    return found


def decision(row: list[float], method: Fiasco) -> float:
    """2.3 and 4.1: each feature scaled linearly to [-1, 1], radial basis functions with gamma = 8."""
    machine, low, high = method.machine_, method.low_, method.high_
    assert machine is not None
    assert low is not None
    assert high is not None
    scaled = [
        2 * (value - a) / ((b - a) or 1) - 1 for value, a, b in zip(row, low.tolist(), high.tolist(), strict=True)
    ]
    distances = ((machine.vectors.astype(np.float64) - scaled) ** 2).sum(axis=1)
    return machine.bias + sum(float(w) * exp(-8 * d) for w, d in zip(machine.weights, distances.tolist(), strict=True))


def clean_nodes(root: Node, paragraphs: list[str], enough: float) -> list[Node]:
    """5.1: Dice coefficients, then down and up the tree."""
    marked: list[Node] = []
    for paragraph in paragraphs:
        wanted = Counter(words([paragraph]))
        best, highest = None, 0.0
        for node in root.nodes():
            content = Counter(words(node.all()))
            if not content:
                continue
            dice = 2 * (wanted & content).total() / (wanted.total() + content.total())
            if dice > highest:
                best, highest = node, dice
        if best is not None and highest >= enough:
            marked.append(best)
    all_targets = [node for node in root.nodes() if is_target(node)]
    inside = {id(node) for node in all_targets if any(each in marked for each in (node, *node.ancestors()))}
    clean = []
    for node in all_targets:
        below = [each for each in node.nodes() if each is not node and is_target(each)]
        count = sum(id(each) in inside for each in below)
        if id(node) in inside or count > len(below) - count:
            clean.append(node)
    return clean


# Pages to compare on

NOUNS = "river stone bridge copyright sitemap winter letter privacy garden news people home".split()


def sentence(rng: random.Random) -> str:
    count = rng.choice([1, 2, 3, 8, 20])
    return " ".join(rng.choice(NOUNS) for _ in range(count)) + rng.choice(["", ".", "!", "...", ", and"]) + " "


def inline(rng: random.Random, depth: int = 0) -> str:
    parts = []
    for _ in range(rng.randint(1, 4)):
        choice = rng.random()
        if choice < 0.5 or depth > 2:
            parts.append(sentence(rng))
        elif choice < 0.6:
            parts.append(rng.choice(["<br/>", "<br/><br/>", "<img/>", "\n   "]))
        else:
            tag = rng.choice(["b", "span"] if depth else ["b", "span", "a", "a href='x'"])
            parts.append(f"<{tag}>{inline(rng, depth + 1)}</{tag.split()[0]}> ")
    return "".join(parts)


def flow(rng: random.Random, depth: int = 0) -> str:
    parts = []
    for _ in range(rng.randint(1, 4)):
        choice = rng.random()
        if choice < 0.2:
            parts.append(inline(rng))
        elif choice < 0.6 or depth > 3:
            tag = rng.choice(["p", "p", "h1", "h4", "h5"])
            parts.append(f"<{tag}>{inline(rng)}</{tag}>\n")
        elif choice < 0.8:
            items = "".join(f"<li>{flow(rng, depth + 2)}</li>" for _ in range(rng.randint(1, 3)))
            parts.append(f"<ul>\n  {items}</ul>")
        elif choice < 0.85:
            parts.append("<script>var x = 'no text';</script><style>p {}</style><!-- nor this -->")
        else:
            parts.append(f"<div>\n    {flow(rng, depth + 1)}</div>")
    return "".join(parts)


def random_pages(count: int) -> Iterator[tuple[Document, Node]]:
    rng = random.Random(13)
    for _ in range(count):
        source = f"<html><head><title>Title</title></head><body>{flow(rng)}</body></html>"
        yield read(f"<!doctype html>{source}"), build(ET.fromstring(source.replace("<title>Title</title>", "")), None)


def test_target_nodes_are_those_of_the_paper() -> None:
    compared = 0
    for document, root in random_pages(150):
        found = find_elements(document)
        ours = [
            (found.tags[target], found.texts[found.first[target] : found.end[target]])
            for target in found.targets.tolist()
        ]
        theirs = [node for node in root.nodes() if is_target(node)]
        assert ours == [(node.tag, node.all()) for node in theirs]
        assert [found.kinds[target] for target in found.targets.tolist()] == [
            {"h": Kind.HEADING, "li": Kind.LIST_ITEM, "p": Kind.PARAGRAPH}[kind(node)] for node in theirs
        ]
        compared += len(theirs)
    assert compared > 1_000


def test_features_decisions_and_pruning_are_those_of_the_paper(paper: Fiasco) -> None:
    clean, dirty = set(paper.clean_keywords_), set(paper.dirty_keywords_)
    names = paper.feature_names
    both = Counter[bool]()
    for document, root in random_pages(12):
        found = find_elements(document)
        page = paper._look_at(document, found)
        belonging = page.belonging
        assert belonging is not None
        nodes = [node for node in root.nodes() if is_target(node)]
        rows = [[features(node, clean, dirty)[name] for name in names] for node in nodes]
        assert paper._rows(page) == pytest.approx(np.array(rows), rel=1e-6)
        scores = paper.judge(page)
        expected = [decision(row, paper) for row in rows]
        assert scores == pytest.approx(expected, abs=1e-3)  # rows are in single precision
        is_dirty = {id(node) for node, score in zip(nodes, scores.tolist(), strict=True) if score <= 0}
        # 2.4: all subtrees rooted in dirty nodes are pruned.
        left = [not any(id(node) in is_dirty for node in (holder, *holder.ancestors())) for _, holder in root.texts()]
        assert paper.decide_texts(belonging, scores).tolist() == left
        kept = paper.extract(document).kept
        for block in range(len(document)):
            lengths = Counter[bool]()
            for (text, _), is_left, of_text in zip(root.texts(), left, found.blocks.tolist(), strict=True):
                lengths[is_left] += len(text) * (of_text == block)
            assert kept[block] == (lengths[True] > lengths[False])
        both.update(left)
    assert min(both[True], both[False]) > 30


def test_labels_are_those_of_the_paper() -> None:
    rng = random.Random(5)
    counts = Counter[bool]()
    for document, root in random_pages(60):
        with_text = [node for node in root.nodes() if len(words(node.all())) > 3]
        chosen = rng.sample(with_text, min(len(with_text), 3))
        # Each page's words differ enough that no two subtrees are equally similar, but for those of the same text.
        gold = [" ".join(word for word in words(node.all()) if rng.random() < 0.9) for node in chosen]
        gold = [text for text in gold if text and _has_one_best(root, text)]
        expected = clean_nodes(root, gold, 0.5)
        found, rate = label_elements(find_elements(document), Gold(text="\n".join(gold)))
        nodes = [node for node in root.nodes() if is_target(node)]
        assert found.tolist() == [node in expected for node in nodes]
        assert 0 <= rate <= 1
        counts.update(found.tolist())
    assert min(counts[True], counts[False]) > 50


def _has_one_best(root: Node, paragraph: str) -> bool:
    wanted = Counter(words([paragraph]))
    scores = {}
    for node in root.nodes():
        content = words(node.all())
        texts = list(node.texts())
        if content:
            place = (id(texts[0][1]), texts[0][0], len(texts))  # of nodes with the same texts, all are one
            scores[place] = 2 * (wanted & Counter(content)).total() / (wanted.total() + len(content))
    best = max(scores.values(), default=0.0)
    return list(scores.values()).count(best) == 1


# Single rules, by hand


@pytest.mark.parametrize(("own", "below", "expected"), [(10, 90, ["div", "p"]), (10, 91, ["p"]), (0, 10, ["p"])])
def test_ten_percent_of_the_text(own: int, below: int, expected: list[str]) -> None:
    assert [tag for tag, _ in targets(f"<div>{'x' * own}<p>{'y' * below}</p></div>")] == expected


def test_any_element_may_be_a_target_node() -> None:
    assert targets("<p>Some text <b>and <a href=x>a link</a></b></p>") == [
        ("p", "Some text and a link"),
        ("b", "and a link"),
        ("a", "a link"),
    ]
    assert targets("<p><b>bold</b></p>") == [("b", "bold")]


def test_line_breaks_make_paragraphs() -> None:
    assert targets("<div>one<br>two <b>three</b><p>four</p>five<br> <br></div>") == [
        ("p", "one"),
        ("p", "two three"),
        ("b", "three"),
        ("p", "four"),
        ("p", "five"),
    ]


def test_segment_types() -> None:
    html = "<h1>a</h1><h4>b</h4><h5>c</h5><ul><li>d<p>e</p><li><h2>f</h2></ul><div>g</div><h3><b>i</b></h3>"
    letters = {Kind.HEADING: "h", Kind.LIST_ITEM: "l", Kind.PARAGRAPH: "p"}
    found = get_method("fiasco:preset=paper").extract(read(html))
    assert "".join(letters[each] for each in found.kinds) == "hhplphph"
    ours = get_method("fiasco:preset=paper,three_kinds=False").extract(read(html))
    assert list(ours.kinds) == read(html).columns.kinds


def by_hand(html: str, *dirty: str, **parameters: Any) -> tuple[str, list[float], list[str]]:
    """What is kept, the scores and the reasons, where nodes with these words of their own have -1, all others 1."""
    method = Fiasco(**Fiasco.presets["paper"] | parameters)
    document = read(html)
    found = find_elements(document)
    owners = [
        [text for text, owner in zip(found.texts, found.owners, strict=True) if owner == t] for t in found.targets
    ]
    scores = np.array([-1.0 if set(dirty) & set(own) else 1.0 for own in owners])
    of_blocks, codes = method._block_codes(Belonging.of(found, len(document)), scores)
    kept = "".join("x" if code >= module._CLEAN else "." for code in codes)
    return kept, of_blocks.tolist(), [module._LEGEND[code] for code in codes]


def test_what_a_dirty_node_takes_with_it() -> None:
    page = "<ul><li>dirty<ul><li>inside</ul><li>clean</ul>"
    assert by_hand(page, "dirty")[0] == "..x"
    assert by_hand(page, "dirty", prune="own")[0] == ".xx"
    assert by_hand(page, "inside")[0] == "x.x"
    _, scores, reasons = by_hand(page, "dirty")
    assert scores == [-1, -1, 1]
    assert "pruned" in reasons[0]
    assert "left" in reasons[2]


@pytest.mark.parametrize(("link", "expected"), [("y" * 4, "x"), ("y" * 5, "."), ("y" * 6, ".")])
def test_a_block_stays_if_more_than_half_of_it_does(link: str, expected: str) -> None:
    assert by_hand(f"<p>xxxxx<a href=x>{link}</a></p>", link)[0] == expected


def test_text_in_no_target_node_stays() -> None:
    # The text of the division is less than 10 % of what is below it.
    kept, scores, _ = by_hand(f"<div>few<p>{LONG}</p></div>", LONG.strip())
    assert (kept, scores) == ("x.", [1, -1])


def test_a_page_may_come_out_empty() -> None:
    assert by_hand("<p>one<p>two", "one", "two")[0] == ".."
    assert by_hand("<p>one<p>two", "one", "two", never_empty=True)[0] == "xx"


def test_values_beyond_the_training_data_are_scaled_like_others() -> None:
    method = Fiasco(**Fiasco.presets["paper"])
    count = len(method.feature_names)
    method.low_, method.high_ = np.zeros(count, np.float32), np.ones(count, np.float32)
    rows = np.full((1, count), 3, np.float32)
    assert (method._scaled(rows) == 5).all()
    assert (method._scaled(rows * 1e6) == 100).all()
    method.clip = True
    assert (method._scaled(rows) == 1).all()


# The preset, its model, its parameters


def test_the_preset_is_what_the_paper_says(paper: Fiasco) -> None:
    assert (paper.C, paper.gamma, paper.kernel, paper.clean_weight, paper.threshold) == (32, 8, "rbf", 1, 0)
    assert paper.parameters == load(SHIPPED / "fiasco-paper").parameters
    assert paper.features == "linguistic+structural"  # the shipped model needs neither a tagger nor a browser
    lengths = ["chars", "tokens", "types", "sentences", "sentence_length"]
    structural = ["depth", "heading", "paragraph", "links", "addresses", "images"]
    keywords = [f"{part}_{side}_keywords" for part in ("own", "all") for side in ("clean", "dirty")]
    assert paper.feature_names == [
        *(f"{part}_{name}" for part in ("own", "all") for name in lengths),
        *structural,
        *keywords,
    ]
    everything = make_untrained("fiasco:preset=paper,features=linguistic+structural+pos+visual")
    assert isinstance(everything, Fiasco)
    assert len(everything.feature_names) == len(paper.feature_names) + 4 + 5


def test_the_shipped_model_cleans_a_page() -> None:
    page = f"""<html lang=en><body><div><a href=/>Home</a> | <a href=/n>News</a> | <a href=/s>Sitemap</a></div>
        <h1>The bridge is closed</h1><p>{LONG * 3}</p><p>{LONG * 2}</p>
        <div><a href=/p>Privacy policy</a> <a href=/c>Contact</a> Copyright 2007. All rights reserved.</div>"""
    found = mainmatter.clean(page, method="fiasco:preset=paper")
    assert "".join("x" if keep else "." for keep in found.kept)[2:] == "xx."
    with pytest.raises(ModelError, match="mainmatter train fiasco:gamma=4"):
        get_method("fiasco:preset=paper,gamma=4")


def test_other_features_of_all_elements() -> None:
    with pytest.raises(InputError, match="own_features must be False"):
        Fiasco(nodes="elements")


def examples() -> list[Any]:
    found = []
    for number in range(8):
        text = f"Page {number}. {LONG}"
        html = f"""<ul><li><a href=1>Home {number}</a><li><a href=2>Sitemap</a></ul><h1>Bridge {number}</h1>
            <p>{text}</p><p>{LONG}<br>{OTHER}</p><div>Copyright {number}, all rights reserved</div>"""
        gold = Gold(text=f"Bridge {number}\n{text}\n{LONG}\n{OTHER}")
        found.append(label(read(html), gold))
    return found


@pytest.mark.parametrize("labels", ["dice", "given"])
def test_learning(labels: str) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("wordfreq")
    method = make_untrained(f"fiasco:preset=paper,labels={labels}").fit(examples())
    assert isinstance(method, Fiasco)
    assert "sitemap" in method.dirty_keywords_
    for example in examples()[:3]:
        assert method.extract(example.document).kept.tolist() == [False] * 2 + [True] * 3 + [False]


def test_dice_labels_of_blocks() -> None:
    document = read("<p>one two three four a b c d<p>menu")
    example = label(document, Gold(text="one two three four five six seven eight"))
    assert example.kept.tolist() == [False, False]
    assert Fiasco(labels="dice", features="structural").observe(example).kept.tolist() == [True, False]


def test_the_grid_is_that_of_libsvm() -> None:
    assert len(module.GRID_COSTS) * len(module.GRID_GAMMAS) == 110
    assert (module.GRID_COSTS[0], module.GRID_COSTS[-1]) == (2**-5, 2**15)
    assert (module.GRID_GAMMAS[0], module.GRID_GAMMAS[-1]) == (8, 2**-15)
    assert 32 in module.GRID_COSTS


def test_a_grid_search_chooses_c_and_gamma(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    monkeypatch.setattr(module, "GRID_COSTS", (1e-9, 7.0))
    monkeypatch.setattr(module, "GRID_GAMMAS", (0.5,))
    method = make_untrained("fiasco:preset=paper,search=True,features=structural").fit(examples())
    assert isinstance(method, Fiasco)
    assert method.searched_ == (7.0, 0.5)
    assert (method.C, method.gamma) == (32, 8)  # as given
    method.save(tmp_path / "model")
    loaded = Fiasco.load(tmp_path / "model")
    document = examples()[0].document
    assert loaded.searched_ == (7.0, 0.5)
    assert np.array_equal(loaded.extract(document).scores, method.extract(document).scores)


def test_the_search_is_on_a_part_of_the_nodes_in_three_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Any] = []

    def search(folds: list[Any], **_: Any) -> list[Tried]:
        found.extend(folds)
        return [Tried(2.0, 0.25, 1.0)]

    monkeypatch.setattr(module, "grid_search", search)
    method = Fiasco(**Fiasco.presets["paper"])
    rows = np.random.default_rng(0).random((3_000, len(method.feature_names)), np.float32)
    method.low_, method.high_ = rows.min(axis=0), rows.max(axis=0)
    assert method._search(rows, rows[:, 0] > 0.5) == (2.0, 0.25)
    assert sorted(len(fold.test) for fold in found) == [833, 833, 834]
    assert all(len(fold.learn) + len(fold.test) == 2_500 for fold in found)


@pytest.mark.parametrize(("keyness", "is_chosen"), [("tokens", True), ("pages", False)])
def test_what_keywords_are_found_by(keyness: str, is_chosen: bool) -> None:
    pytest.importorskip("wordfreq")
    # One page out of five has a word of its own, very often.
    pages = [read(f"<p>{LONG}{'xylo ' * (40 * (number == 0))}<ul><li>{'menu item ' * 30}</ul>") for number in range(5)]
    method = make_untrained(f"fiasco:preset=paper,keyness={keyness}")
    assert isinstance(method, Fiasco)
    observed = [method.observe(label(page, Gold(text=page.texts[0]))) for page in pages]
    method.prepare(observed)
    assert ("xylo" in method.clean_keywords_) == is_chosen


@pytest.mark.parametrize(
    ("size", "make"),
    [
        (100_000, lambda n: "<div>" * n + "text"),
        (20_000, lambda n: "<div>some words " * n),
        (30_000, lambda n: "<p>word <a href=x>link</a> word</p>" * n),
        (100_000, lambda n: "x<br>" * n),
        (20_000, lambda n: "".join(f"<li>{'word ' * (i % 90)}<b>{i}</b>" for i in range(n))),
        (1, lambda n: "<math><template>in a formula</template></math>" * n),
        (0, lambda n: ""),
    ],
    ids=["deep", "deep with text", "links", "line breaks", "all different", "formula", "empty"],
)
def test_hostile_pages(size: int, make: Callable[[int], str], paper: Fiasco) -> None:
    assert_linear(lambda n: partial(paper.extract, read(make(n))), size)
    document = read(make(size // 4))
    found = paper.extract(document)
    assert found.kept.shape == (len(document),)
    assert np.isfinite(found.scores).all()
    paper.extract(mainmatter.read(Page("One\n\nTwo words", format="text")))
