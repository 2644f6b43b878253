"""The net over blocks: its forward pass against a plain one, odd pages, saving and loading."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from mainmatter.main.net import BlockNet, NetOutput, multiply, path_means, shapes_of
from net_pages import CONVENTIONS, FEATURES, LABELS, LEVELS, NAMES, TYPES, forward, jump_pointers, random_input
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable

    from mainmatter.main.training import NetInput

DILATIONS = (1, 2, 4)


def random_net(hidden: int = 6) -> BlockNet:
    shapes = shapes_of(
        features=FEATURES,
        names=NAMES,
        levels=LEVELS,
        width=3,
        hidden=hidden,
        pooled=4,
        layers=3,
        labels=LABELS,
        types=TYPES,
        conventions=CONVENTIONS,
    )
    rng = np.random.default_rng(7)
    weights = {name: rng.normal(0, 0.4, shape) for name, shape in shapes.items()}
    weights["embedding"][0] = 0
    return BlockNet(weights, rng.normal(3, 1, FEATURES), rng.uniform(0.2, 2, FEATURES), DILATIONS)


def plain_forward(net: BlockNet, rows: NetInput) -> tuple[Any, Any]:
    """The same in double floats, without any haste."""
    w = {name: array.astype(np.float64) for name, array in net.weights.items()}
    vectors = np.zeros((len(rows.parents), 3))
    for token, element in zip(rows.tokens, rows.token_elements, strict=True):
        vectors[element] += w["embedding"][token]
    paths = []
    for element in range(len(rows.parents)):
        chain = [element]
        while chain[-1] != 0:
            chain.append(rows.parents[chain[-1]])
        paths.append(sum(vectors[each] for each in chain) / max(1, len(chain) - 1))
    dense = np.clip((rows.dense.astype(np.float64) - net.mean) / net.scale, -6, 6)
    around = [vectors[rows.containers[:, level]] for level in range(LEVELS)]
    x = np.hstack([dense, *around, np.array(paths)[rows.containers[:, 0]]])
    h = np.maximum(x @ w["in_weights"] + w["in_bias"], 0)

    def pool(name: str) -> Any:
        return np.maximum(np.concatenate([h.mean(axis=0), h.max(axis=0)]) @ w[f"{name}_weights"] + w[f"{name}_bias"], 0)

    h = np.maximum(h + pool("pool1") @ w["back1_weights"] + w["back1_bias"], 0)
    for layer, distance in enumerate(DILATIONS):
        y = np.tile(w["conv_bias"][layer], (len(h), 1))
        for tap in range(3):
            for block in range(len(h)):
                other = block + (tap - 1) * distance
                if 0 <= other < len(h):
                    y[block] += h[other] @ w["conv_weights"][layer, tap]
        h = h + np.maximum(y, 0)
    page = pool("pool2")
    h = np.maximum(h + page @ w["back2_weights"] + w["back2_bias"] + w["convention_vectors"][0], 0)
    a = np.maximum(h @ w["hidden_weights"] + w["hidden_bias"], 0)
    return a @ w["out_weights"] + w["out_bias"], page @ w["type_weights"] + w["type_bias"]


def assert_same(output: NetOutput, other: NetOutput) -> None:
    assert np.array_equal(output.logits, other.logits)
    assert np.array_equal(output.types, other.types)


# Around the largest dilation, the rows that are summed as one, and the stretches of long pages.
@pytest.mark.parametrize("blocks", [1, 2, 3, 4, 5, 7, 8, 9, 30, 447, 448, 449, 1000])
@pytest.mark.parametrize("tokens", [0, 1, 40])
def test_it_computes_what_a_plain_pass_does(blocks: int, tokens: int) -> None:
    net, rows = random_net(), random_input(np.random.default_rng(blocks), blocks, tokens=tokens)
    output = forward(net, rows)
    logits, types = plain_forward(net, rows)
    assert output.logits == pytest.approx(logits, rel=1e-4, abs=1e-4)
    assert output.types == pytest.approx(types, rel=1e-4, abs=1e-4)
    assert output.logits.dtype == output.types.dtype == np.float32


def test_a_wide_net_computes_the_same_in_tiles() -> None:
    net, rows = random_net(hidden=80), random_input(np.random.default_rng(1), 150)
    logits, _ = plain_forward(net, rows)
    assert forward(net, rows).logits == pytest.approx(logits, rel=1e-3, abs=1e-2)


def test_a_page_without_blocks() -> None:
    output = forward(random_net(), random_input(np.random.default_rng(1), 0))
    assert output.logits.shape == (0, LABELS)
    assert output.types.shape == (TYPES,)


def test_the_order_of_tokens_does_not_matter_and_input_stays_as_it_was() -> None:
    net, rows = random_net(), random_input(np.random.default_rng(2), 20, tokens=30)
    order = np.random.default_rng(3).permutation(30)
    shuffled = replace(rows, tokens=rows.tokens[order], token_elements=rows.token_elements[order])
    before = rows.dense.copy(), rows.parents.copy()
    assert forward(net, shuffled).logits == pytest.approx(forward(net, rows).logits, rel=1e-5, abs=1e-5)
    assert np.array_equal(before[0], rows.dense)
    assert np.array_equal(before[1], rows.parents)


def test_names_that_are_not_known_say_nothing() -> None:
    net, rows = random_net(), random_input(np.random.default_rng(2), 20, tokens=0)
    unknown = replace(rows, tokens=np.zeros(5, np.intp), token_elements=np.arange(5))
    assert_same(forward(net, unknown), forward(net, rows))


def test_vectors_of_elements_are_those_of_their_names() -> None:
    net, rows = random_net(), random_input(np.random.default_rng(4), 20)
    vectors = net.embed([rows.tokens[rows.token_elements == each].tolist() for each in range(len(rows.parents))])
    output = net.forward(rows.dense, vectors, jump_pointers(rows.parents), rows.containers)
    assert output.logits == pytest.approx(forward(net, rows).logits, rel=1e-5, abs=1e-5)


def test_the_vector_of_a_bag_is_the_sum_of_its_names() -> None:
    net = random_net()
    one, two, both, none = net.embed([(1,), (2,), (2, 1), ()])
    assert both == pytest.approx(one + two)
    assert one.any()
    assert not none.any()
    assert net.embed([]).shape == (0, len(none))


def test_a_long_chain_of_elements_counts_each_once() -> None:
    count = 1000
    vectors = np.ones((count, 1), np.float32)
    vectors[0] = 7
    means = path_means(vectors, jump_pointers(np.maximum(np.arange(count) - 1, 0)))
    depths = np.arange(count)
    assert means[:, 0] == pytest.approx((7 + depths) / np.maximum(depths, 1))


@pytest.mark.parametrize("rows", [0, 1, 25, 26, 300])
def test_products_in_tiles(rows: int) -> None:
    rng = np.random.default_rng(5)
    left, right, place = rng.random((rows, 212)), rng.random((212, 48)), np.zeros((rows, 48))
    assert multiply(left, right) == pytest.approx(left @ right)
    assert multiply(np.asfortranarray(left), right, out=place) is place
    assert place == pytest.approx(left @ right)


def test_far_numbers_are_clipped() -> None:
    net, rows = random_net(), random_input(np.random.default_rng(6), 10)
    far, farther = rows.dense.copy(), rows.dense.copy()
    far[3, 1], farther[3, 1] = 1e9, np.inf
    assert_same(forward(net, replace(rows, dense=far)), forward(net, replace(rows, dense=farther)))


def test_saved_and_loaded_it_is_the_same() -> None:
    net, rows = random_net(), random_input(np.random.default_rng(8), 12)
    assert_same(forward(BlockNet.from_arrays(net.arrays()), rows), forward(net, rows))
    halves = {name: a.astype(np.float16) if a.dtype.kind == "f" else a for name, a in net.arrays().items()}
    assert forward(BlockNet.from_arrays(halves), rows).logits == pytest.approx(forward(net, rows).logits, abs=0.1)
    assert (net.features, net.names, net.levels) == (FEATURES, NAMES, LEVELS)


@pytest.mark.parametrize("name", random_net().arrays())
def test_arrays_that_do_not_fit_are_refused(name: str) -> None:
    arrays = random_net().arrays()
    without = {other: array for other, array in arrays.items() if other != name}
    bad = [without, {**arrays, name: arrays[name][None]}]
    if name != "embedding":  # may have as many names as it likes
        bad.append({**arrays, name: arrays[name][:-1]})
    if name == "dilations":
        bad += [
            {**arrays, name: arrays[name] * 0},
            {**arrays, name: arrays[name] * 10**6},
            {**arrays, name: arrays[name] * 1.0},
        ]
    else:
        bad += [{**arrays, name: np.full_like(arrays[name], value)} for value in (np.nan, np.inf)]
        bad += [{**arrays, name: arrays[name].astype(np.int64)}, {**arrays, name: arrays[name][..., :0]}]
    for each in bad:
        with pytest.raises(ValueError, match=r"."):
            BlockNet.from_arrays(each)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("scale", 0.0, "above 0"), ("embedding", 1.0, "unknown name"), ("out_bias", 1e9, "too large")],
)
def test_numbers_that_make_no_sense_are_refused(name: str, value: float, message: str) -> None:
    arrays = random_net().arrays()
    with pytest.raises(ValueError, match=message):
        BlockNet.from_arrays({**arrays, name: np.full_like(arrays[name], value)})
    with pytest.raises(ValueError, match="unknown: more"):
        BlockNet.from_arrays({**arrays, "more": arrays["mean"]})


def test_long_pages_take_linear_time() -> None:
    net, rng = random_net(), np.random.default_rng(9)

    def make(blocks: int) -> Callable[[], object]:
        parents = np.maximum(np.arange(blocks) - 1, 0)  # one chain: the deepest that there is
        rows = replace(
            random_input(rng, blocks, tokens=blocks),
            parents=parents,
            containers=rng.integers(0, blocks, (blocks, LEVELS)),
        )
        assert forward(net, rows).logits.shape == (blocks, LABELS)
        return partial(forward, net, rows)

    assert_linear(make, 100_000)


def test_numbers_are_clipped_at_six_deviations() -> None:
    net, rows = random_net(), random_input(np.random.default_rng(6), 10)

    def judged(deviations: float) -> NetOutput:
        dense = rows.dense.copy()
        dense[3, 1] = net.mean[1] + deviations * net.scale[1]
        return forward(net, replace(rows, dense=dense))

    for side in (1, -1):
        assert_same(judged(6.01 * side), judged(60 * side))
        assert not np.array_equal(judged(5.9 * side).logits, judged(6 * side).logits)


def test_the_largest_weights_and_distances_that_a_net_may_have() -> None:
    arrays = random_net().arrays()
    for name, most, more in (("out_bias", 1000.0, 1010.0), ("dilations", 1024, 1025), ("dilations", 1, 0)):
        BlockNet.from_arrays({**arrays, name: np.full_like(arrays[name], most)})
        with pytest.raises(ValueError, match=name):
            BlockNet.from_arrays({**arrays, name: np.full_like(arrays[name], more)})


def test_the_least_sizes_that_a_net_may_have() -> None:
    def made(levels: int, names: int) -> BlockNet:
        sizes = {"width": 1, "hidden": 1, "pooled": 1, "layers": 0, "labels": 1, "types": 1, "conventions": 1}
        shapes = shapes_of(features=2, names=names, levels=levels, **sizes)
        weights = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
        return BlockNet(weights, np.zeros(2), np.ones(2), ())

    assert (made(levels=1, names=0).levels, made(levels=1, names=0).names) == (1, 0)
    for levels, names in ((0, 0), (1, -1)):  # not even the name that is not known
        with pytest.raises(ValueError, match="sizes of less than one"):
            made(levels, names)
