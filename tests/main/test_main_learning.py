"""How `main` learns: what it takes from a page, the labels of comments, snippets, going on from a model."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import mainmatter
from main_pages import MENU, article, examples, forum, gold_pages, product, trained
from mainmatter.api import read
from mainmatter.errors import InputError, ModelError
from mainmatter.lab.datasets import GoldPage
from mainmatter.lab.metrics.bag import bag_of_words
from mainmatter.lab.training.examples import make_example
from mainmatter.lab.training.train import observe_pages
from mainmatter.main import method as main
from mainmatter.main.choice import PAGE_TYPES
from mainmatter.main.examples import Augmenter, augment_dump
from mainmatter.main.method import Main
from mainmatter.main.names import FIRST_WORD, Vocabulary
from mainmatter.main.training import NetInput
from mainmatter.records import COMMENT, Gold, Page
from net_pages import forward

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.main.examples import ObservedPage
    from mainmatter.main.net import BlockNet
    from mainmatter.main.training import NetExample, TrainingConfig

NEW = [article(30), forum(31), product(32)]


def observed(html: str, gold: str = "", page_type: str | None = None) -> ObservedPage:
    groups = {} if page_type is None else {"page_type": page_type}
    return Main().observe(make_example(GoldPage(Page(html), Gold(gold), groups)))


def with_shares(page: ObservedPage, share: float) -> ObservedPage:
    return replace(page, example=replace(page.example, shares=np.full_like(page.example.shares, share)))


def f1(method: Main, pages: list[GoldPage] = NEW) -> float:
    scores = [bag_of_words(mainmatter.clean(page.page, method=method).text, page.gold.text or "").f1 for page in pages]
    return sum(scores) / len(scores)


def last_loss(lines: list[str]) -> float:
    return float(lines[-1].rpartition(" ")[2])


def snippets_of(page: GoldPage) -> GoldPage:
    """The page, of which the gold standard has two snippets only."""
    text = (page.gold.text or "").splitlines()[1]
    return GoldPage(page.page, Gold(must_have=(text[-15:],), must_not_have=("Imprint",)), page.groups)


def test_training_sees_what_judging_sees() -> None:
    for page in (*gold_pages(2), GoldPage(Page("Menu\n\nA text.", format="text"), Gold("A text."), {})):
        seen = trained().observe(make_example(page))
        net = trained().dump_net_ if seen.is_dump else trained().net_
        page_input = (seen.dump if seen.is_dump else seen.number(trained().vocabulary_, trained().conventions)).inputs
        described = trained().describe(read(page.page))
        assert np.array_equal(page_input.dense, described.dense)
        trained_on, judged = forward(net, page_input), trained()._run(described)
        assert trained_on.logits == pytest.approx(judged.logits, abs=1e-4)
        assert trained_on.types == pytest.approx(judged.types, abs=1e-4)


def test_what_is_taken_from_a_page() -> None:
    page = observed(
        "<title>On foxes</title><h1>On foxes</h1><p class=teaser>A red fox!</p><p>© me", "A red fox", "forum"
    )
    found = page.number(Vocabulary(["fox", "teaser"]), trained().conventions)
    assert found.shares.tolist() == [0, 1, 0]
    assert found.shares.dtype == np.float32
    assert found.words.tolist() == [2, 3, 1]
    assert PAGE_TYPES[found.page_type] == "forum"
    assert found.labels.tolist() == [-1, -1, -1]
    assert (found.weight, found.repeats) == (1, 1)
    (element,) = found.inputs.token_elements[found.inputs.tokens == FIRST_WORD + 1]
    assert found.inputs.containers[:, 0].tolist().index(element) == 1


def test_types_that_are_not_known() -> None:
    assert observed("<p>a").example.page_type == -1
    assert observed("<p>a", page_type="poem").example.page_type == -1
    for number, name in enumerate(PAGE_TYPES):
        assert observed("<p>a", page_type=name).example.page_type == number


def test_what_is_observed_can_travel_and_holds_no_page() -> None:
    before = trained().observe(examples()[0])
    data = pickle.dumps(before)
    assert b"harbour" not in data
    after = pickle.loads(data)
    for field in fields(NetInput):
        assert np.array_equal(getattr(before.example.inputs, field.name), getattr(after.example.inputs, field.name))
    for name in ("shares", "words", "labels", "page_type"):
        assert np.array_equal(getattr(before.example, name), getattr(after.example, name))
    assert (after.site, after.names, after.convention) == (before.site, before.names, before.convention)


def test_observing_needs_no_training_and_several_processes_observe_the_same() -> None:
    one, two = (observe_pages(Main(), gold_pages(4), workers=workers).observations for workers in (1, 2))
    assert len(one) == 12
    for here, there in zip(one, two, strict=True):
        assert np.array_equal(here.example.inputs.dense, there.example.inputs.dense)
        assert here.names == there.names


def comment_labels(html: str, page_type: str | None = None) -> dict[str, bool]:
    labels = observed(html, page_type=page_type).example.labels
    return dict(zip(read(Page(html)).texts, (labels == COMMENT).tolist(), strict=True))


DISCUSSION = '<div class="{}"><p>me too</p><div><p>not me</p></div></div>'


@pytest.mark.parametrize("name", ["comments", "kommentarliste", "CommentBox", "x disqus_thread"])
def test_what_a_page_calls_comments_is_labelled_so(name: str) -> None:
    html = f"<title>Foxes</title><h1>Foxes</h1><p>A red fox.</p>{DISCUSSION.format(name)}<p>© me"
    assert comment_labels(html) == {
        "Foxes": False,
        "A red fox.": False,
        "me too": True,
        "not me": True,
        "© me": False,
    }


def test_posts_of_a_forum_are_not_labelled_as_comments() -> None:
    html = f"<title>Foxes</title><h1>Foxes</h1><p>A red fox.</p>{DISCUSSION.format('comments')}"
    assert any(comment_labels(html, "article").values())
    assert not any(comment_labels(html, "forum").values())
    assert COMMENT not in Main().observe(make_example(forum(1))).example.labels


@pytest.mark.parametrize("tag", ["body", "main"])
def test_what_holds_the_headline_is_no_comment(tag: str) -> None:
    html = f'<title>Foxes | Zoo</title><{tag} class="has-comments"><h1>Foxes</h1><p>A red fox.</p>'
    assert not any(comment_labels(html).values())
    labels = comment_labels(f"{html}{DISCUSSION.format('comments')}")
    assert [text for text, is_one in labels.items() if is_one] == ["me too", "not me"]


def test_what_holds_most_of_a_page_without_a_headline_is_no_comment() -> None:
    long = "A red fox, and then another one, and no end of them. " * 4
    assert not any(comment_labels(f'<body class="has-comments"><p>{long}</p><p>© me').values())
    labels = comment_labels(f"<p>{long}</p>{DISCUSSION.format('comments')}")
    assert [text for text, is_one in labels.items() if is_one] == ["me too", "not me"]


def test_the_headline_is_the_heading_among_blocks_that_repeat_the_title() -> None:
    html = '<title>Foxes</title><p>Foxes</p><main class="has-comments"><h1>Foxes</h1><p>A red fox.</p></main>'
    assert not any(comment_labels(html).values())


def test_comments_may_be_most_of_a_page_with_a_headline() -> None:
    html = f"<title>Foxes</title><h1>Foxes</h1>{DISCUSSION.format('comments')}"
    assert [text for text, is_one in comment_labels(html).items() if is_one] == ["me too", "not me"]


def test_no_labels_without_names() -> None:
    assert not any(comment_labels("<p>comments</p><p>me too").values())
    assert observed("").example.labels.shape == (0,)
    assert observed("", page_type="forum").example.labels.shape == (0,)


def test_learning_gives_the_same_again_and_another_seed_another() -> None:
    nets = [Main(epochs=2, seed=seed).fit(examples()[:6]).facts_and_arrays()[1] for seed in (1, 1, 2)]
    assert all(np.array_equal(nets[0][name], nets[1][name]) for name in nets[0])
    assert not np.array_equal(nets[0]["in_weights"], nets[2]["in_weights"])


def test_learning_reports_and_returns_itself() -> None:
    lines: list[str] = []
    method = Main(epochs=3)
    assert method.fit(examples()[:6], lines.append) is method
    told = [f"epoch {epoch} of 3" for epoch in (1, 2, 3)]
    assert [line.rpartition(":")[0] for line in lines] == [f"texts: {line}" for line in told] + told
    assert all(np.isfinite(float(line.rpartition(" ")[2])) for line in lines)


def test_how_it_is_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained().save(tmp_path / "model")
    told: list[dict[str, Any]] = []

    def watch(pages: list[NetExample], config: TrainingConfig, seed: int, **options: Any) -> BlockNet:
        told.append({"pages": pages, "config": config, "seed": seed, **options})
        return trained().net_ if config.names else trained().dump_net_

    monkeypatch.setattr(main, "train_net", watch)
    Main(epochs=3, seed=4).fit(examples()[:3])
    Main(start=str(tmp_path / "model")).fit(examples()[:3])
    dumps_afresh, afresh, dumps_further, further = told
    assert (dumps_afresh["config"].epochs, dumps_afresh["seed"], len(dumps_afresh["pages"])) == (3, 4, 3)
    assert dumps_afresh["augment"] is augment_dump
    assert dumps_afresh["start"] is None
    assert np.array_equal(dumps_further["start"].weights["in_weights"], trained().dump_net_.weights["in_weights"])
    assert dumps_further["config"].learning_rate == further["config"].learning_rate
    assert (afresh["config"].epochs, afresh["seed"], len(afresh["pages"])) == (3, 4, 3)
    assert isinstance(afresh["augment"], Augmenter)
    assert len(afresh["augment"].donors) == 3
    assert afresh["start"] is None
    assert np.array_equal(further["start"].weights["in_weights"], trained().net_.weights["in_weights"])
    assert (
        further["config"].learning_rate < afresh["config"].learning_rate
    )  # what is known already is not to be forgotten


def test_a_net_learns_on_from_a_model(tmp_path: Path) -> None:
    trained().save(tmp_path / "model")
    on, afresh = list[str](), list[str]()
    further = Main(epochs=2, start=str(tmp_path / "model")).fit(examples(), on.append)
    new = Main(epochs=2).fit(examples(), afresh.append)
    before, after = trained().net_.arrays(), further.net_.arrays()
    assert not np.array_equal(before["in_weights"], after["in_weights"])
    assert np.array_equal(before["mean"], after["mean"])  # what numbers mean stays
    assert last_loss(on) < last_loss(afresh) / 2
    assert f1(further) >= max(f1(new), 0.95)

    def distance(arrays: dict[str, np.ndarray]) -> float:
        return float(np.abs(arrays["in_weights"] - before["in_weights"]).mean())

    assert distance(after) < distance(new.net_.arrays()) / 5


def test_a_frozen_net_learns_a_convention_and_nothing_else(tmp_path: Path) -> None:
    trained().save(tmp_path / "model")
    start = str(tmp_path / "model")
    # By this convention boilerplate is main matter, and all else is not.
    pages = [
        replace(page, convention="menus", example=replace(page.example, shares=1 - page.example.shares))
        for page in map(trained().observe, examples())
    ]
    found = Main(start=start, freeze=True).learn(pages)
    assert found.conventions == ("house", "wcxb", "menus")
    for before, after in ((trained().net_, found.net_), (trained().dump_net_, found.dump_net_)):
        for name, array in before.arrays().items():
            rows = len(array) if name in ("convention_vectors", "convention_keeps") else None
            assert np.array_equal(after.arrays()[name][:rows], array)
    ours, theirs = (mainmatter.clean(NEW[0].page, method=found.by_convention(name)) for name in ("house", "menus"))
    assert ours.text == mainmatter.clean(NEW[0].page, method=trained()).text
    assert "Imprint" in theirs.text
    assert set(ours.text.splitlines()) & set(theirs.text.splitlines()) == {""}


def test_what_a_frozen_net_needs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="freeze=True needs a model to start from"):
        Main(freeze=True).fit(examples())
    trained().save(tmp_path / "model")
    with pytest.raises(InputError, match="all of these pages follow ours"):
        Main(start=str(tmp_path / "model"), freeze=True).fit(examples()[:3])


def test_the_start_is_not_changed(tmp_path: Path) -> None:
    trained().save(tmp_path / "model")
    start = Main.load(tmp_path / "model")
    before = {name: array.copy() for name, array in start.net_.arrays().items()}
    Main(epochs=1, start=str(tmp_path / "model")).fit(examples()[:3])
    again = Main.load(tmp_path / "model")
    for name, array in before.items():
        assert np.array_equal(array, start.net_.arrays()[name])
        assert np.array_equal(array, again.net_.arrays()[name])


def test_a_start_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not a model"):
        Main(start=str(tmp_path)).fit(examples()[:3])


def test_a_method_that_was_trained_again_forgets_old_vectors() -> None:
    method = Main(epochs=1).fit(examples()[:3])
    mainmatter.clean(article(1).page, method=method)
    method.seed = 5
    method.fit(examples()[:3])
    scores = [
        mainmatter.clean(article(1).page, method=each).scores for each in (method, pickle.loads(pickle.dumps(method)))
    ]
    assert np.array_equal(scores[0], scores[1])


def test_of_pages_with_snippets_only_nothing_else_is_known() -> None:
    page = snippets_of(article(3))
    found = Main().observe(make_example(page)).example
    texts = read(page.page).texts
    known = {text[:7]: share for text, share in zip(texts, found.shares.tolist(), strict=True) if not np.isnan(share)}
    assert sorted(known.values()) == [0, 1]
    assert known["Imprint"] == 0
    assert found.page_type == 0


def test_learning_from_snippets_too() -> None:
    mixed = [snippets_of(page) if number % 2 else page for number, page in enumerate(gold_pages())]
    method = Main(epochs=50)
    method.learn(observe_pages(method, mixed).observations)
    assert all(np.isfinite(array).all() for array in method.net_.arrays().values())
    assert f1(method) > 0.9


def test_learning_from_snippets_alone() -> None:
    lines: list[str] = []
    method = Main(epochs=4)
    method.learn(observe_pages(method, [snippets_of(page) for page in gold_pages(2)]).observations, lines.append)
    assert len(lines) == 2 * 4
    assert all(np.isfinite(array).all() for array in method.net_.arrays().values())


def test_nothing_to_learn_from() -> None:
    unknown = with_shares(trained().observe(examples()[0]), np.nan)
    empty = Main().observe(make_example(GoldPage(Page(""), Gold(""), {})))
    for observations in ([], [unknown], [empty], [unknown, empty]):
        with pytest.raises(InputError, match="main: no pages to learn from"):
            Main().learn(observations)


def test_pages_of_which_nothing_is_known_are_left_out() -> None:
    known = [trained().observe(example) for example in examples()[:4]]
    unknown = with_shares(known[0], np.nan)
    nets = [Main(epochs=2).learn(pages).net_.arrays() for pages in (known, [unknown, *known, unknown])]
    assert all(np.array_equal(nets[0][name], nets[1][name]) for name in nets[0])


@pytest.mark.parametrize("html", ["<p>one", MENU, "one two"])
def test_pages_of_one_label_can_be_learned_from(html: str) -> None:
    for gold in ("", "one", "one two Home News Map"):
        method = Main(epochs=2).learn([observed(html, gold)])
        found = mainmatter.clean("<p>one</p><p>two", method=method)
        assert np.isfinite(found.scores).all()
        assert found.text
