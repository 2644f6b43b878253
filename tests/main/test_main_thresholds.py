"""The numbers that decide in `main`, each held at both sides: just enough, and just not enough."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from main_pages import examples, trained
from mainmatter.api import read
from mainmatter.lab.datasets import GoldPage
from mainmatter.lab.training.examples import make_example
from mainmatter.main import method as main
from mainmatter.main.choice import PAGE_TYPES, choose_labels
from mainmatter.main.features import COLUMNS
from mainmatter.main.method import Main, PageJudgement
from mainmatter.main.net import shapes_of
from mainmatter.models.store import SHIPPED, load
from mainmatter.papers.ice.heuristic import IceHeuristic
from mainmatter.records import BOILERPLATE, COMMENT, HEADLINE, LABELS, MAIN, Extraction, Gold, Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.main.training import NetExample, TrainingConfig
    from mainmatter.records import Document, Label

TWO = "<p>one two three</p><p>two one three</p>"  # of the same length
SURE = 1 - 1e-12
# How much recall counts beside precision, in the middle of the dial.
BETAS = {
    "article": 0.85,
    "documentation": 1.4,
    "service": 2.0,
    "forum": 1.0,
    "product": 1.2,
    "listing": 1.7,
    "collection": 2.0,
}


def least_chance(beta: float) -> float:
    """How likely a block must be to be kept beside another one of the same length that is sure.

    With b for the square of beta, both promise (1 + p) / (2 + b (1 + p)) and the sure one alone 1 / (1 + b (1 + p)),
    which are the same where b p² + (1 + b) p = 1.
    """
    b = beta * beta
    return (sqrt((1 + b) ** 2 + 4 * b) - (1 + b)) / (2 * b)


def extract(
    html: str, chances: Sequence[float], page_type: str = "article", comments: Sequence[float] = (), **parameters: Any
) -> Extraction:
    """What is decided where the net says this of the blocks."""
    method = Main(**parameters)
    method.restore(*trained().facts_and_arrays())
    of_labels = np.zeros((len(chances), len(LABELS)))
    of_labels[:, MAIN], of_labels[:, COMMENT] = chances, comments or 0
    judged = PageJudgement(np.array(chances), of_labels, page_type)
    vars(method)["judge"] = lambda described: judged
    return method.extract(read(Page(html)))


def test_how_likely_a_block_must_be_by_hand() -> None:
    assert least_chance(1) == pytest.approx(sqrt(2) - 1)


@pytest.mark.parametrize("page_type", PAGE_TYPES)
def test_how_likely_a_block_must_be_on_each_type_of_page(page_type: str) -> None:
    least = least_chance(BETAS[page_type])
    assert extract(TWO, [SURE, least + 0.003], page_type).kept.tolist() == [True, True]
    assert extract(TWO, [SURE, least - 0.003], page_type).kept.tolist() == [True, False]


@pytest.mark.parametrize("dial", [0.2, 0.5, 0.75])
def test_how_likely_a_block_must_be_at_each_place_of_the_dial(dial: float) -> None:
    least = least_chance(BETAS["article"] * dial / (1 - dial))
    assert extract(TWO, [SURE, least + 0.003], dial=dial).kept.tolist() == [True, True]
    assert extract(TWO, [SURE, least - 0.003], dial=dial).kept.tolist() == [True, False]


def test_the_headline_is_kept_as_soon_as_the_dial_is_turned() -> None:
    html = "<title>Otters</title><h1>Otters</h1><p>one two three</p>"
    assert extract(html, [0.0, 1.0], dial=0.0).kept.tolist() == [False, True]
    assert extract(html, [0.0, 1.0], dial=0.01).kept.tolist() == [True, True]


@pytest.mark.parametrize(("chance", "is_comment"), [(0.94, False), (0.96, True)])
def test_a_comment_is_what_is_likelier_a_comment_than_main_matter(chance: float, is_comment: bool) -> None:
    found = extract(TWO, [1.0, 0.95], comments=[0.0, chance])
    assert found.labels == ["main", "comment" if is_comment else "main"]
    assert found.kept.tolist() == [True, not is_comment]


@pytest.mark.parametrize("label", ["byline", "caption", "comment"])
@pytest.mark.parametrize(("chance", "is_found"), [(0.25, False), (0.26, True)])
def test_how_likely_a_label_must_be(label: Label, chance: float, is_found: bool) -> None:
    of_labels = np.zeros((2, len(LABELS)))
    of_labels[0, MAIN] = 1
    of_labels[1, [BOILERPLATE, LABELS.index(label)]] = 1 - chance, chance
    found = choose_labels(of_labels, None, np.zeros((2, len(COLUMNS)), np.float32)).tolist()
    assert found == [MAIN, LABELS.index(label) if is_found else BOILERPLATE]


@pytest.mark.parametrize(
    ("label", "share", "is_found"),
    [
        ("comment", 0.89, True),
        ("comment", 0.9, False),
        ("caption", 0.89, True),
        ("caption", 0.9, False),
        ("byline", 1, True),
    ],
)
def test_what_is_mostly_links_is_no_comment_and_no_caption(label: Label, share: float, is_found: bool) -> None:
    of_labels, dense = np.zeros((2, len(LABELS))), np.zeros((2, len(COLUMNS)), np.float32)
    of_labels[0, MAIN] = of_labels[1, LABELS.index(label)] = 1
    dense[1, COLUMNS.index("link_share")] = share
    assert (choose_labels(of_labels, None, dense)[1] == LABELS.index(label)) == is_found
    dense[1, COLUMNS.index("control")] = 1
    assert choose_labels(of_labels, None, dense)[1] == BOILERPLATE  # nor is a button any of them


@pytest.mark.parametrize(("chance", "is_headline"), [(0.5, False), (0.51, True)])
def test_how_likely_a_headline_must_be(chance: float, is_headline: bool) -> None:
    of_labels = np.zeros((2, len(LABELS)))
    of_labels[0, HEADLINE], of_labels[1, MAIN] = chance, 1
    vars(method := Main())["judge"] = lambda described: PageJudgement(np.array([0.0, 1.0]), of_labels, "article")
    method.restore(*trained().facts_and_arrays())
    assert method.extract(read(Page(TWO))).labels[0] == ("headline" if is_headline else "boilerplate")


@pytest.mark.parametrize(("inside", "outside", "are_comments"), [(15, 7, True), (8, 3, False), (1, 0, False)])
def test_what_holds_more_than_seven_tenths_of_a_page_is_not_labelled_as_comments(
    inside: int, outside: int, are_comments: bool
) -> None:
    line = "<p>one two three</p>"
    html = f"<div class='comments'>{line * inside}</div>{line * outside}"
    labels = Main().observe(make_example(GoldPage(Page(html), Gold(""), {}))).example.labels
    assert labels.tolist() == [COMMENT if are_comments else -1] * inside + [-1] * outside


def test_how_many_blocks_a_page_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def describe(method: Main, document: Document) -> None:
        asked.append(len(document))
        raise InterruptedError

    monkeypatch.setattr(Main, "describe", describe)
    with pytest.raises(InterruptedError):
        trained().extract(read(Page("<p>x" * 100_000)))
    assert asked == [100_000]
    document = read(Page("<p>x" * 100_001))
    found = trained().extract(document)  # without the net
    assert found.kept.tolist() == IceHeuristic().extract(document).kept.tolist()


def configs(monkeypatch: pytest.MonkeyPatch, method: Main, *counts: int) -> list[TrainingConfig]:
    """How a method's net for pages would learn from so many of them."""
    told: list[TrainingConfig] = []

    def watch(pages: list[NetExample], config: TrainingConfig, seed: int, **options: Any) -> Any:
        if config.names:
            told.append(config)
        return trained().net_

    monkeypatch.setattr(main, "train_net", watch)
    for count in counts:
        method.fit((examples() * -(-max(counts) // len(examples())))[:count])
    return told


def test_an_epoch_has_eight_steps_where_there_are_as_many_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    found = configs(monkeypatch, Main(), 1, 7, 8, 15, 16, 255, 256, 272)
    assert [config.batch_size for config in found] == [1, 1, 1, 1, 2, 31, 32, 32]


def test_a_net_that_knows_much_learns_at_a_third_of_the_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    [afresh] = configs(monkeypatch, Main(), 3)
    [further] = configs(monkeypatch, Main(start="main"), 3)
    assert further.learning_rate == pytest.approx(afresh.learning_rate / 3)


def test_nets_are_trained_in_the_shape_that_ships(monkeypatch: pytest.MonkeyPatch) -> None:
    [config] = configs(monkeypatch, Main(), 3)
    shipped = Main().load_shipped().net_
    expected = shapes_of(
        features=shipped.features,
        names=shipped.names,
        levels=shipped.levels,
        width=config.width,
        hidden=config.hidden,
        pooled=config.pooled,
        layers=len(config.dilations),
        labels=config.labels,
        types=config.types,
        conventions=len(Main().load_shipped().conventions),
    )
    assert {name: weights.shape for name, weights in shipped.weights.items()} == expected
    assert tuple(shipped.dilations) == config.dilations


def test_how_much_labels_and_types_of_pages_count_beside_main_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    [config] = configs(monkeypatch, Main(), 3)
    assert (config.loss_weights.f1, config.loss_weights.label, config.loss_weights.page_type) == (1, 1, 0.3)
    assert (config.labels, config.kept_labels) == (len(LABELS), (MAIN, HEADLINE))
    assert (config.types, config.conventions) == (len(PAGE_TYPES), 1)


def test_the_usual_parameters_are_those_of_the_model_that_ships() -> None:
    assert Main().parameters == load(SHIPPED / "main").parameters | {"seed": 0}  # the only one that was chosen
