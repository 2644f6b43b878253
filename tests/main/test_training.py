"""The training of the net over blocks: its gradients against finite differences, what it learns, that it repeats."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mainmatter.main.net import BlockNet, shapes_of, softmax
from mainmatter.main.training import (
    AdamW,
    Batch,
    LossWeights,
    NetExample,
    OneCycle,
    Pass,
    TrainingConfig,
    _shuffled,
    loss_and_gradients,
    pack,
    train_net,
)
from net_pages import CONVENTIONS, FEATURES, LABELS, LEVELS, NAMES, TYPES, forward, random_example

DILATIONS = (1, 2, 4)
COMMENT = 5
SHAPES = shapes_of(
    features=FEATURES,
    names=NAMES,
    levels=LEVELS,
    width=3,
    hidden=6,
    pooled=4,
    layers=len(DILATIONS),
    labels=LABELS,
    types=TYPES,
    conventions=CONVENTIONS,
)
SMALL = TrainingConfig(
    width=3,
    hidden=8,
    pooled=4,
    types=TYPES,
    conventions=CONVENTIONS,
    dilations=DILATIONS,
    epochs=3,
    batch_size=4,
)


def random_weights() -> dict[str, Any]:
    rng = np.random.default_rng(7)
    weights = {name: rng.normal(0, 0.25, shape) for name, shape in SHAPES.items()}
    weights["embedding"][0] = 0
    return weights


def small_pages() -> list[NetExample]:
    rng = np.random.default_rng(6)
    pages = [
        random_example(rng, 9, page_type=2),
        random_example(rng, 1, weight=2.5),
        random_example(rng, 3, page_type=0, convention=2),
        random_example(rng, 6, tokens=0, convention=1),
        random_example(rng, 2),
    ]
    nothing_known = random_example(rng, 4)
    return [*pages, replace(nothing_known, shares=np.full(4, np.nan, np.float32))]


def small_batch() -> Batch:
    pages = small_pages()
    return pack(pages, np.concatenate([page.inputs.dense for page in pages]).astype(np.float64))


def loss(weights: dict[str, Any], batch: Batch, dropout: float) -> float:
    run = Pass(weights, DILATIONS, batch, np.random.default_rng(1), dropout)
    return loss_and_gradients(run.logits, run.types, weights["convention_keeps"], batch, LossWeights())[0]


@pytest.mark.parametrize("dropout", [0.0, 0.2])
@pytest.mark.parametrize("name", SHAPES)
def test_the_gradient_is_what_small_changes_show(name: str, dropout: float) -> None:
    weights, batch, step = random_weights(), small_batch(), 1e-6
    run = Pass(weights, DILATIONS, batch, np.random.default_rng(1), dropout)
    keeps = weights["convention_keeps"]
    _, d_logits, d_types, d_keeps = loss_and_gradients(run.logits, run.types, keeps, batch, LossWeights())
    gradient = {**run.gradients(d_logits, d_types), "convention_keeps": d_keeps}
    assert gradient.keys() == weights.keys()
    flat, found = weights[name].reshape(-1), gradient[name].reshape(-1)
    assert gradient[name].shape == weights[name].shape
    skipped = weights["embedding"].shape[1] if name == "embedding" else 0  # the unknown name is never trained
    assert not found[:skipped].any()
    assert found.any()
    places = np.random.default_rng(2).permutation(np.arange(skipped, flat.size))[:40]
    for place in places:
        before = flat[place]
        flat[place] = before + step
        above = loss(weights, batch, dropout)
        flat[place] = before - step
        below = loss(weights, batch, dropout)
        flat[place] = before
        assert found[place] == pytest.approx((above - below) / (2 * step), abs=1e-8, rel=1e-5)


def test_a_batch_is_its_pages_one_by_one() -> None:
    weights, pages = random_weights(), small_pages()
    net = BlockNet(weights, np.zeros(FEATURES), np.ones(FEATURES), DILATIONS)
    dense = np.clip(np.concatenate([page.inputs.dense for page in pages]), -6, 6).astype(np.float64)
    run = Pass(weights, DILATIONS, pack(pages, dense))
    outputs = [forward(net, page.inputs, page.convention) for page in pages]
    assert run.logits == pytest.approx(np.concatenate([output.logits for output in outputs]), rel=1e-4, abs=1e-4)
    assert run.types == pytest.approx(np.stack([output.types for output in outputs]), rel=1e-4, abs=1e-4)


def toy(pages: int, seed: int = 0) -> list[NetExample]:
    """Pages whose main matter is known by a number, by a name, or by the block before."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(pages):
        example = random_example(rng, int(rng.integers(5, 30)), page_type=number % 2)
        rows = example.inputs
        named = np.isin(rows.containers[:, 0], rows.token_elements[rows.tokens == 1])
        follows = np.concatenate([[False], rows.dense[:-1, 1] > 5])
        shares = ((rows.dense[:, 0] > 4) | named | follows).astype(np.float32)
        rows.dense[:, 2] += 5 * (number % 2)
        labels = np.where(rows.dense[:, 3] > 3, COMMENT, shares.astype(np.intp))
        # By convention 1 comments are main matter, by our own they are not.
        convention = number // 2 % 2
        shares = (labels > 0).astype(np.float32) if convention else (labels == 1).astype(np.float32)
        found.append(replace(example, shares=shares, labels=labels, convention=convention))
    return found


def test_it_learns_labels_conventions_and_types() -> None:
    said: list[str] = []
    config = replace(SMALL, hidden=16, pooled=12, epochs=25, learning_rate=0.01, dropout=0.02, conventions=2)
    pages = [page if number % 3 else replace(page, labels=page.labels * 0 - 1) for number, page in enumerate(toy(160))]
    net = train_net(pages, config, report=said.append)
    assert len(said) == 25
    assert said[0].startswith("epoch 1 of 25: loss ")
    tests = toy(40, seed=1)
    outputs = [forward(net, page.inputs, page.convention) for page in tests]
    both = list(zip(outputs, tests, strict=True))
    assert np.concatenate([out.logits.argmax(axis=1) == page.labels for out, page in both]).mean() > 0.9
    kept = [net.keep(softmax(out.logits), page.convention) > 0.5 for out, page in both]
    assert np.concatenate([its == page.shares for its, page in zip(kept, tests, strict=True)]).mean() > 0.93
    assert np.mean([out.types.argmax() == page.page_type for out, page in both]) > 0.9
    ours, theirs = net.weights["convention_keeps"]
    assert (ours > 0).tolist() == [False, True, True, False, False, False]
    assert theirs[COMMENT] > 1


def same(net: BlockNet, other: BlockNet) -> bool:
    mine, its = net.arrays(), other.arrays()
    return mine.keys() == its.keys() and all(np.array_equal(mine[name], its[name]) for name in mine)


def test_the_same_seed_gives_the_same_net() -> None:
    pages = toy(20)
    net = train_net(pages, SMALL, 3)
    assert same(net, train_net(pages, SMALL, 3))
    assert not same(net, train_net(pages, SMALL, 4))
    assert not net.weights["embedding"][0].any()


def test_numbers_are_brought_to_one_scale() -> None:
    pages = toy(20)
    net = train_net(pages, replace(SMALL, epochs=0))
    dense = np.concatenate([page.inputs.dense for page in pages])
    assert net.mean == pytest.approx(dense.mean(axis=0), rel=1e-4)
    assert net.scale == pytest.approx(dense.std(axis=0) + 1e-3, rel=1e-4)


def test_it_goes_on_from_a_net() -> None:
    pages = toy(20)
    first = train_net(pages, SMALL)
    before = {name: array.copy() for name, array in first.arrays().items()}
    assert same(train_net(pages, replace(SMALL, epochs=0), start=first), first)
    second = train_net(toy(20, seed=5), replace(SMALL, learning_rate=1e-3), start=first)
    assert not same(first, second)
    assert np.array_equal(first.mean, second.mean)
    assert all(np.array_equal(before[name], array) for name, array in first.arrays().items())


def with_inputs(page: NetExample, **changes: Any) -> NetExample:
    return replace(page, inputs=replace(page.inputs, **changes))


def test_pages_that_do_not_fit_are_refused() -> None:
    page = toy(1)[0]
    net = train_net([page], replace(SMALL, epochs=0, names=NAMES))
    more_names = with_inputs(page, tokens=page.inputs.tokens + NAMES)
    wider = with_inputs(page, dense=np.hstack([page.inputs.dense, page.inputs.dense]))
    for bad in (more_names, wider, with_inputs(page, containers=page.inputs.containers[:, 1:])):
        with pytest.raises(ValueError, match="start from"):
            train_net([bad], SMALL, start=net)
    with pytest.raises(ValueError, match="names"):
        train_net([more_names], replace(SMALL, names=NAMES))
    empty = random_example(np.random.default_rng(0), 0)
    with pytest.raises(ValueError, match="no blocks"):
        train_net([empty], SMALL)
    with pytest.raises(ValueError, match="not finite"):
        train_net([with_inputs(page, dense=page.inputs.dense * np.float32(np.nan))], SMALL, start=net)
    assert same(train_net([page, empty], SMALL), train_net([page], SMALL))


def test_long_pages_are_cut_and_pages_changed_and_repeated() -> None:
    rng = np.random.default_rng(0)
    pages = [random_example(rng, 50), replace(random_example(rng, 4), repeats=3)]
    seen: list[int] = []

    def augment(example: NetExample, rng: np.random.Generator) -> NetExample:
        seen.append(len(example.shares))
        return with_inputs(example, dense=example.inputs.dense + np.float32(rng.normal()))

    config = replace(SMALL, max_blocks=10, epochs=2)
    net = train_net(pages, config, augment=augment)
    assert sorted(seen) == [4] * 6 + [50] * 2
    assert not same(net, train_net(pages, config))


def test_only_a_stretch_of_a_long_page_is_learned_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    page = random_example(np.random.default_rng(0), 50)
    page.inputs.dense[:, 0] = page.words[:] = np.arange(50)
    batches: list[Batch] = []

    def watch(weights: Any, dilations: Any, batch: Batch, *rest: Any) -> Pass:
        batches.append(batch)
        return Pass(weights, dilations, batch, *rest)

    monkeypatch.setattr("mainmatter.main.training.Pass", watch)
    train_net([page], replace(SMALL, max_blocks=10, epochs=8))
    assert [len(batch.dense) for batch in batches] == [10] * 8
    assert len({batch.words[0] for batch in batches}) > 1
    for batch in batches:
        assert np.array_equal(np.diff(batch.words), np.ones(9))
        first = int(batch.words[0])
        assert np.array_equal(batch.containers, page.inputs.containers[first : first + 10])
        assert batch.dense[:, 0] == pytest.approx((batch.words - 24.5) / (np.arange(50).std() + 1e-3), abs=1e-3)


def test_one_cycle_climbs_and_falls() -> None:
    cycle = OneCycle(0.01, 100)
    rates, betas = zip(*(cycle.at(step) for step in range(100)), strict=True)
    assert rates[0] == pytest.approx(0.01 / 25)
    assert (rates[14], betas[14]) == pytest.approx((0.01, 0.85))
    assert rates[99] == pytest.approx(0.01 / 25 / 1e4)
    assert betas[0] == betas[99] == pytest.approx(0.95)
    assert np.argmax(rates) == 14
    assert (np.diff(rates[:15]) > 0).all()
    assert (np.diff(rates[14:]) < 0).all()


def test_adam_steps_as_its_paper_says() -> None:
    start = np.array([1.0, -2.0])
    adam = AdamW({"x": start, "y": np.zeros(1)}, {"x": 0.1, "y": 0.0}, max_gradient_norm=5.0)
    theta, m, v = start.copy(), np.zeros(2), np.zeros(2)
    for step, gradient in enumerate((np.array([1.0, 2.0]), np.array([30.0, 40.0])), 1):
        adam.step({"x": gradient, "y": np.zeros(1)}, 0.01, 0.9)
        cut = gradient * min(1, 5 / np.sqrt((gradient**2).sum()))
        m, v = 0.9 * m + 0.1 * cut, 0.999 * v + 0.001 * cut**2
        theta = theta - 0.01 * 0.1 * theta - 0.01 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
        assert adam.arrays["x"] == pytest.approx(theta, rel=1e-6)
    assert np.array_equal(start, [1.0, -2.0])
    assert adam.arrays["y"] == 0


def test_how_much_the_losses_count_unless_told_otherwise() -> None:
    # One block without words, boilerplate; all labels are as likely, and one of them is kept, so that p is 1/6.
    page = random_example(np.random.default_rng(0), 1, page_type=0)
    page = replace(page, shares=np.zeros(1, np.float32), words=np.zeros(1, np.float32), labels=np.zeros(1, np.intp))
    batch = pack([page], page.inputs.dense.astype(np.float64))
    keeps = np.full((CONVENTIONS, LABELS), -50.0)
    keeps[0, 1] = 50
    given = np.zeros((1, LABELS)), np.zeros((1, TYPES)), keeps
    _, d_logits, d_types, _ = loss_and_gradients(*given, batch, LossWeights())
    of_main = 1 / (1 - 1 / 6) * (1 / 6 - 1 / 36)  # d_p times dp / dlogit
    assert d_logits[0, 1] == pytest.approx(of_main + 0.3 / 6)
    assert d_logits[0, 0] == pytest.approx(-of_main / 5 - 0.3 * 5 / 6)
    assert d_types[0, 0] == pytest.approx(0.1 * (1 / TYPES - 1))
    # With words, the F1 of probabilities counts as much as their cross-entropy: 1 - (0 + 1) / (9 / 6 + 1).
    page = replace(page, words=np.full(1, 9, np.float32))
    batch = pack([page], page.inputs.dense.astype(np.float64))
    loss, _, _, _ = loss_and_gradients(*given, batch, LossWeights())
    entropy = np.log(6 / 5) + 0.3 * np.log(6)
    assert loss == pytest.approx(entropy + (1 - 1 / 2.5) + 0.1 * np.log(TYPES))


def test_batches_are_sorted_by_length_eight_at_a_time() -> None:
    rng = np.random.default_rng(0)
    pages = [random_example(rng, blocks) for blocks in range(1, 129)]
    sorted_ones = _shuffled(pages[:64], np.arange(64), replace(SMALL, batch_size=8), np.random.default_rng(1))
    lengths = sorted(sorted(len(pages[number].shares) for number in batch) for batch in sorted_ones)
    assert lengths == [[*range(start, start + 8)] for start in range(1, 65, 8)]
    both = _shuffled(pages[:65], np.arange(65), replace(SMALL, batch_size=8), np.random.default_rng(1))
    assert len(both) == 9
    assert sorted(map(len, both)) == [1, *[8] * 8]
    assert [batch for batch in both if len(batch) == 8 and np.ptp(batch) > 7]  # one page is sorted by itself


def test_vectors_of_names_are_small_at_first() -> None:
    pages = toy(20)
    net = train_net(pages, replace(SMALL, epochs=0, names=4000, width=12))
    assert net.weights["embedding"][1:].std() == pytest.approx(0.1, rel=0.02)


def test_the_recipe_of_a_net(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[tuple[float, float]] = []
    made: dict[str, Any] = {}

    class Watched(AdamW):
        def __init__(self, arrays: Any, weight_decays: Any, max_gradient_norm: float) -> None:
            made.update(decays=weight_decays, norm=max_gradient_norm)
            super().__init__(arrays, weight_decays, max_gradient_norm)

        def step(self, gradients: Any, learning_rate: float, beta1: float) -> None:
            steps.append((learning_rate, beta1))
            super().step(gradients, learning_rate, beta1)

    def watch(weights: Any, dilations: Any, batch: Batch, rng: Any, dropout: float) -> Pass:
        made.update(dropout=dropout, blocks=max(made.get("blocks", 0), len(batch.dense)))
        return Pass(weights, dilations, batch, rng, dropout)

    monkeypatch.setattr("mainmatter.main.training.Pass", watch)
    monkeypatch.setattr("mainmatter.main.training.AdamW", Watched)
    long = random_example(np.random.default_rng(0), 1300)
    config = TrainingConfig(hidden=8, width=2, pooled=4, dilations=(1,), conventions=CONVENTIONS)
    train_net([long, *toy(17)], config, 1)
    assert len(steps) == 12 * 2  # epochs, of 18 pages, sixteen at once
    assert max(rate for rate, _ in steps) <= 3e-3
    assert max(rate for rate, _ in steps) > 2.9e-3
    assert made["norm"] == 2
    assert (made["decays"]["embedding"], made["decays"]["in_weights"]) == (0.03, 0.01)
    assert made["dropout"] == 0.15
    assert made["blocks"] < 1200 + 17 * 30


def test_a_short_cycle_begins_with_its_lowest_rate_too() -> None:
    assert OneCycle(0.01, 10).at(0)[0] == pytest.approx(0.01 / 25)
    assert OneCycle(0.01, 6).at(0)[0] < 0.01  # too short to climb


def test_what_is_added_to_what_adam_divides_by() -> None:
    # A gradient as small as that is divided by twice its length: half a step.
    adam = AdamW({"x": np.zeros(1)}, {"x": 0.0})
    adam.step({"x": np.full(1, 1e-8)}, 1.0, 0.9)
    assert adam.arrays["x"][0] == pytest.approx(-0.5, rel=1e-3)


def test_numbers_that_are_the_same_everywhere_have_a_small_scale() -> None:
    page = toy(1)[0]
    net = train_net([with_inputs(page, dense=np.ones_like(page.inputs.dense))], replace(SMALL, epochs=0))
    assert net.scale == pytest.approx(np.full(FEATURES, 1e-3), rel=0.01)
