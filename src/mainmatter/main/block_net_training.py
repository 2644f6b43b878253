"""Train a `BlockNet`: batches of pages of similar length, dropout, AdamW with one cycle of the learning rate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isfinite, sqrt
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.main.adam import AdamW, OneCycle
from mainmatter.main.block_net import FARTHEST, BlockNet, Rows, shapes_of
from mainmatter.main.block_net_batch import Batch, Example, pack
from mainmatter.main.block_net_gradient import Pass
from mainmatter.main.block_net_loss import Shares, loss_and_gradients

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["Config", "Example", "Rows", "Shares", "train_net"]

_SMALLEST_SCALE = 1e-3  # of numbers that are the same everywhere
_BATCHES_SORTED_AT_ONCE = 8  # pages of a batch are of similar length, but not the same ones in each epoch
_SPREAD_OF_NAMES = 0.1  # of vectors at the start


@dataclass(frozen=True, slots=True)
class Config:
    """How large the net is, and how it learns.

    Attributes:
        names: how many names have a vector; 0: as many as the examples have.
        width: of a name's vector.
        hidden: of a block's vector inside of the net.
        pooled: of the page's vector.
        types: of pages.
        dilations: how far each convolution looks.
        epochs: how often each page is looked at.
        pages_at_once: in a batch.
        most_blocks: of a page; of longer ones a stretch as long as this, another one in each epoch.
        rate: the highest learning rate.
        dropout: the share of numbers that is forgotten inside of the net; of the input, half as many.
        decay: by how much weights shrink, at a rate of 1.
        decay_of_names: the same for the vectors of names.
        longest_gradient: longer ones are cut.
        shares: how much each loss counts.
    """

    names: int = 0
    width: int = 12
    hidden: int = 48
    pooled: int = 32
    types: int = 7
    dilations: tuple[int, ...] = (1, 2, 4, 8, 16)
    epochs: int = 12
    pages_at_once: int = 16
    most_blocks: int = 1200
    rate: float = 3e-3
    dropout: float = 0.15
    decay: float = 0.01
    decay_of_names: float = 0.03
    longest_gradient: float = 2.0
    shares: Shares = field(default_factory=Shares)


def train_net(
    examples: Sequence[Example],
    config: Config,
    seed: int = 0,
    *,
    augment: Callable[[Example, np.random.Generator], Example] | None = None,
    start: BlockNet | None = None,
    report: Callable[[str], object] = lambda _: None,
) -> BlockNet:
    """Train a net. The same seed gives the same net on the same machine.

    Args:
        examples: pages to learn from; those without blocks are left out.
        config: how large, how long; with `start`, sizes are those of the start.
        seed: for the first weights, the order of pages, dropout and `augment`.
        augment: makes a page a little different, each time that it is looked at.
        start: a net to go on from, made for the same numbers and names.
        report: is told after each epoch.

    Raises:
        ValueError: there are no blocks to learn from, or they do not fit the start.
    """
    rng = np.random.default_rng(seed)
    examples = [example for example in examples if len(example.rows.dense)]
    if not examples:
        raise ValueError("no blocks to learn from")
    net = _first_net(examples, config, rng) if start is None else start
    if start is not None:
        _check_fit(examples, start)
    adam = AdamW(
        net.weights,
        {name: config.decay_of_names if name == "embedding" else config.decay for name in net.weights},
        config.longest_gradient,
    )
    order = np.repeat(np.arange(len(examples)), [example.repeats for example in examples])
    cycle = OneCycle(config.rate, max(1, config.epochs * _batches_in(len(order), config)))
    step = 0
    for epoch in range(config.epochs):
        total = 0.0
        batches = _shuffled(examples, order, config, rng)
        for numbers in batches:
            batch = _batch([examples[number] for number in numbers], net, config, rng, augment)
            run = Pass(adam.arrays, net.dilations, batch, rng, config.dropout)
            loss, of_logits, of_types = loss_and_gradients(run.logits, run.types, batch, config.shares)
            adam.step(run.gradient(of_logits, of_types), *cycle.at(step))
            step += 1
            total += loss
        mean = total / max(1, len(batches))
        if not isfinite(mean):
            raise ValueError(f"the loss is {mean}: numbers that are not finite, or too high a rate")
        report(f"epoch {epoch + 1} of {config.epochs}: loss {mean:.4f}")
    return BlockNet({name: array.copy() for name, array in adam.arrays.items()}, net.mean, net.scale, net.dilations)


def _first_net(examples: Sequence[Example], config: Config, rng: np.random.Generator) -> BlockNet:
    """A net that knows nothing but the scale of the numbers."""
    mean, scale = _mean_and_scale([example.rows.dense for example in examples])
    most = max(int(example.rows.tokens.max(initial=0)) for example in examples)
    shapes = shapes_of(
        features=len(mean),
        names=config.names or most,
        levels=examples[0].rows.containers.shape[1],
        width=config.width,
        hidden=config.hidden,
        pooled=config.pooled,
        layers=len(config.dilations),
        types=config.types,
    )
    if most >= shapes["embedding"][0]:
        raise ValueError(f"a token of {most}, but {config.names} names")
    weights: dict[str, NDArray[np.float32]] = {}
    for name, shape in shapes.items():
        if name == "embedding":
            first = rng.normal(0, _SPREAD_OF_NAMES, shape)
            first[0] = 0
        else:
            matrix = shapes[name.replace("bias", "weights")]
            inputs = 3 * matrix[2] if name.startswith("conv") else matrix[0]
            first = rng.uniform(-1 / sqrt(inputs), 1 / sqrt(inputs), shape)
        weights[name] = first.astype(np.float32)
    return BlockNet(weights, mean, scale, config.dilations)


def _mean_and_scale(tables: Sequence[NDArray[np.float32]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    count = sum(map(len, tables))
    mean = sum(table.sum(axis=0, dtype=np.float64) for table in tables) / count
    squares = sum(np.square(table - mean).sum(axis=0, dtype=np.float64) for table in tables)
    return np.asarray(mean), np.sqrt(squares / count) + _SMALLEST_SCALE


def _check_fit(examples: Sequence[Example], net: BlockNet) -> None:
    for example in examples:
        rows = example.rows
        if rows.dense.shape[1] != net.features or rows.containers.shape[1] != net.levels:
            raise ValueError("the pages have other numbers of features or containers than the net to start from")
        if int(rows.tokens.max(initial=0)) > net.names:
            raise ValueError("the pages have names that the net to start from does not have")


def _batches_in(pages: int, config: Config) -> int:
    return -(-pages // config.pages_at_once)


def _shuffled(
    examples: Sequence[Example], order: NDArray[np.intp], config: Config, rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    """The pages of each batch of an epoch."""
    at_once = config.pages_at_once
    order = rng.permutation(order)
    batches: list[NDArray[np.intp]] = []
    for first in range(0, len(order), at_once * _BATCHES_SORTED_AT_ONCE):
        some = order[first : first + at_once * _BATCHES_SORTED_AT_ONCE]
        lengths = [min(len(examples[number].rows.dense), config.most_blocks) for number in some]
        some = some[np.argsort(lengths, kind="stable")]
        batches += [some[begin : begin + at_once] for begin in range(0, len(some), at_once)]
    return [batches[number] for number in rng.permutation(len(batches))]


def _batch(
    examples: list[Example],
    net: BlockNet,
    config: Config,
    rng: np.random.Generator,
    augment: Callable[[Example, np.random.Generator], Example] | None,
) -> Batch:
    if augment is not None:
        examples = [augment(example, rng) for example in examples]
    examples = [_stretch(example, config.most_blocks, rng) for example in examples]
    dense = np.concatenate([example.rows.dense for example in examples])
    dense = dense - net.mean
    dense /= net.scale
    np.clip(dense, -FARTHEST, FARTHEST, out=dense)
    return pack(examples, dense)


def _stretch(example: Example, most: int, rng: np.random.Generator) -> Example:
    """A page that is not too long: some of its blocks, all of its elements."""
    rows, length = example.rows, len(example.rows.dense)
    if length <= most:
        return example
    first = int(rng.integers(length - most + 1))
    part = slice(first, first + most)
    return replace(
        example,
        rows=replace(rows, dense=rows.dense[part], containers=rows.containers[part]),
        shares=example.shares[part],
        words=example.words[part],
        comment=example.comment[part],
    )
