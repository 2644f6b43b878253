"""How the net of `main` is trained: AdamW with one cycle of the learning rate, dropout, gradients written by hand.

train_net  epochs of batches of pages of similar length, each page a little different each time (examples.py)
Pass       the net's forward and backward pass over a batch
loss_and_gradients  cross-entropies, and one minus the F1 of words
AdamW, OneCycle     the optimizer (Loshchilov & Hutter 2019, algorithm 2), and the learning rate (Smith & Topin
2018, section 2)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import cos, isfinite, pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.main.net import BlockNet, multiply, shapes_of, softmax

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

_MIN_SCALE = 1e-3  # of numbers that are the same everywhere
_BATCHES_SORTED_AT_ONCE = 8  # pages of a batch are of similar length, but not the same ones in each epoch
_SPREAD_OF_EMBEDDINGS = 0.1  # at the start
_LIKELY, _SURE = 4.0, 10.0  # as logits
_DROPOUT_STEPS = 1 << 16  # of the random numbers that decide what is dropped: two bytes each are enough
_MIN_WEIGHT_OF_PAGE = 1e-6  # where no block is known
_MIN_PROBABILITY = 1e-6  # of which the logarithm is taken
_BETA1 = (0.95, 0.85)  # at both ends of the cycle, and at its peak
_BETA2 = 0.999
_EPSILON = 1e-8
_OF_CONVENTIONS = ("convention_vectors", "convention_keeps")  # what a frozen net learns


@dataclass(frozen=True, slots=True, eq=False)
class NetInput:
    """One page, as the net sees it.

    Attributes:
        dense: one row of numbers a block, as measured; training brings them to one scale.
        tokens: numbers of names, from 1 on; 0 is a name that is not known and says nothing.
        token_elements: the element that each token belongs to.
        parents: for each element the one around it; the first is its own parent, all others come after theirs.
        containers: for each block its element and ever wider ones, one a column.
    """

    dense: NDArray[np.float32]
    tokens: NDArray[np.intp]
    token_elements: NDArray[np.intp]
    parents: NDArray[np.intp]
    containers: NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class NetExample:
    """A page to learn from.

    Attributes:
        inputs: the page.
        shares: how much of each block is main matter by the page's convention, from 0 to 1; NaN where that is not
            known.
        words: how many words each block has.
        labels: the number of each block's label, -1 where that is not known.
        convention: the number of the convention that `shares` follow.
        page_type: the number of its type, -1 if that is not known.
        weight: how much more or less than 1 the page counts.
        repeats: how often it is looked at in an epoch.
    """

    inputs: NetInput
    shares: NDArray[np.float32]
    words: NDArray[Any]
    labels: NDArray[np.intp]
    convention: int = 0
    page_type: int = -1
    weight: float = 1.0
    repeats: int = 1


@dataclass(frozen=True, slots=True)
class LossWeights:
    """How much each loss counts beside the cross-entropy of main matter.

    Attributes:
        f1: one minus the F1 of words, with probabilities for decisions.
        label: cross-entropy of labels.
        page_type: cross-entropy of the type of page.
    """

    f1: float = 1.0
    label: float = 0.3
    page_type: float = 0.1


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """How large the net is, and how it learns.

    Attributes:
        names: how many names have an embedding; 0: as many as the examples have.
        width: of a name's embedding.
        hidden: of a block's vector inside of the net.
        pooled: of the page's vector.
        labels: of blocks.
        kept_labels: those that are main matter by convention 0, which is given, not learned.
        conventions: how many there are.
        types: of pages.
        dilations: how far each convolution looks.
        epochs: how often each page is looked at.
        batch_size: pages in a batch.
        max_blocks: of a page; of longer ones a part as long as this, another one in each epoch.
        learning_rate: the highest one.
        dropout: the share of numbers that is dropped inside of the net; of the input, half as many.
        weight_decay: by how much weights shrink, at a learning rate of 1.
        embedding_decay: the same for embeddings.
        max_gradient_norm: longer gradients are clipped.
        loss_weights: how much each loss counts.
    """

    names: int = 0
    width: int = 12
    hidden: int = 48
    pooled: int = 32
    labels: int = 6
    kept_labels: tuple[int, ...] = (1, 2)
    conventions: int = 1
    types: int = 7
    dilations: tuple[int, ...] = (1, 2, 4, 8, 16)
    epochs: int = 12
    batch_size: int = 16
    max_blocks: int = 1200
    learning_rate: float = 3e-3
    dropout: float = 0.15
    weight_decay: float = 0.01
    embedding_decay: float = 0.03
    max_gradient_norm: float = 2.0
    loss_weights: LossWeights = field(default_factory=LossWeights)


def train_net(
    examples: Sequence[NetExample],
    config: TrainingConfig,
    seed: int = 0,
    *,
    augment: Callable[[NetExample, np.random.Generator], NetExample] | None = None,
    start: BlockNet | None = None,
    freeze: bool = False,
    report: Callable[[str], object] = lambda _: None,
) -> BlockNet:
    """Train a net. The same seed gives the same net on the same machine.

    Args:
        examples: pages to learn from; those without blocks are left out.
        config: how large, how long; with `start`, sizes are those of the start.
        seed: for the first weights, the order of pages, dropout and `augment`.
        augment: makes a page a little different, each time that it is looked at.
        start: a net to go on from, made for the same numbers and names.
        freeze: learn only the conventions of the examples; all else stays as it is in the start, and so nothing is
            dropped and no weight decays.
        report: called with a line after each epoch.

    Raises:
        ValueError: there are no blocks to learn from, or they do not fit the start.
    """
    rng = np.random.default_rng(seed)
    examples = [example for example in examples if len(example.inputs.dense)]
    if not examples:
        raise ValueError("no blocks to learn from")
    net = _first_net(examples, config, rng) if start is None else start
    if start is not None:
        _check_fit(examples, start)
    decays = {"embedding": config.embedding_decay, "convention_keeps": 0.0}
    learned = _OF_CONVENTIONS if freeze else tuple(net.weights)
    adam = AdamW(
        {name: net.weights[name] for name in learned},
        {name: 0.0 if freeze else decays.get(name, config.weight_decay) for name in learned},
        config.max_gradient_norm,
    )
    weights = net.weights | adam.arrays
    order = np.repeat(np.arange(len(examples)), [example.repeats for example in examples])
    cycle = OneCycle(config.learning_rate, max(1, config.epochs * -(-len(order) // config.batch_size)))
    step = 0
    for epoch in range(config.epochs):
        total = 0.0
        batches = _shuffled(examples, order, config, rng)
        for numbers in batches:
            pages = [examples[number] for number in numbers]
            if augment is not None:
                pages = [augment(page, rng) for page in pages]
            pages = [_cut(page, config.max_blocks, rng) for page in pages]
            batch = pack(pages, net.standardize(np.concatenate([page.inputs.dense for page in pages])))
            run = Pass(weights, net.dilations, batch, rng, 0.0 if freeze else config.dropout)
            keeps = weights["convention_keeps"]
            loss, d_logits, d_types, d_keeps = loss_and_gradients(
                run.logits, run.types, keeps, batch, config.loss_weights
            )
            d_keeps[0] = 0  # our own convention is given
            adam.step({**run.gradients(d_logits, d_types), "convention_keeps": d_keeps}, *cycle.at(step))
            step += 1
            total += loss
        mean = total / max(1, len(batches))
        if not isfinite(mean):
            raise ValueError(f"the loss is {mean}: the data is not finite, or the learning rate is too high")
        report(f"epoch {epoch + 1} of {config.epochs}: loss {mean:.4f}")
    return BlockNet({name: array.copy() for name, array in weights.items()}, net.mean, net.scale, net.dilations)


def add_conventions(net: BlockNet, count: int) -> BlockNet:
    """The net with so many conventions; new ones begin like ours, but open to change."""
    vectors, keeps = (net.weights[name] for name in _OF_CONVENTIONS)
    new = count - len(keeps)
    ours = np.clip(keeps[:1], -_LIKELY, _LIKELY)
    more = {
        "convention_vectors": np.concatenate([vectors, vectors[:1].repeat(new, axis=0)]),
        "convention_keeps": np.concatenate([keeps, ours.repeat(new, axis=0)]),
    }
    return BlockNet(net.weights | more, net.mean, net.scale, net.dilations)


def _first_net(examples: Sequence[NetExample], config: TrainingConfig, rng: np.random.Generator) -> BlockNet:
    """A net that knows nothing but the scale of the numbers."""
    tables = [example.inputs.dense for example in examples]
    count = sum(map(len, tables))
    mean = np.asarray(sum(table.sum(axis=0, dtype=np.float64) for table in tables) / count)
    squares = sum(np.square(table - mean).sum(axis=0, dtype=np.float64) for table in tables)
    highest_token = max(int(example.inputs.tokens.max(initial=0)) for example in examples)
    shapes = shapes_of(
        features=len(mean),
        names=config.names or highest_token,
        levels=examples[0].inputs.containers.shape[1],
        width=config.width,
        hidden=config.hidden,
        pooled=config.pooled,
        layers=len(config.dilations),
        labels=config.labels,
        types=config.types,
        conventions=config.conventions,
    )
    if highest_token >= shapes["embedding"][0]:
        raise ValueError(f"a token of {highest_token}, but {config.names} names")
    weights: dict[str, NDArray[np.float32]] = {}
    for name, shape in shapes.items():
        if name == "embedding":
            first = rng.normal(0, _SPREAD_OF_EMBEDDINGS, shape)
            first[0] = 0
        elif name == "convention_vectors":
            first = np.zeros(shape)
        elif name == "convention_keeps":
            first = _first_keeps(config)
        else:
            matrix = shapes[name.replace("bias", "weights")]
            fan_in = 3 * matrix[2] if name.startswith("conv") else matrix[0]
            first = rng.uniform(-1 / sqrt(fan_in), 1 / sqrt(fan_in), shape)
        weights[name] = first.astype(np.float32)
    return BlockNet(weights, mean, np.sqrt(squares / count) + _MIN_SCALE, config.dilations)


def _first_keeps(config: TrainingConfig) -> NDArray[np.float64]:
    """Our own convention, of which nothing is open, and others that begin with what is sure: the first two labels."""
    keeps = np.zeros((config.conventions, config.labels))
    keeps[:, :2] = -_LIKELY, _LIKELY
    keeps[0] = -_SURE
    keeps[0, list(config.kept_labels)] = _SURE
    return keeps


def _check_fit(examples: Sequence[NetExample], net: BlockNet) -> None:
    for page in (example.inputs for example in examples):
        if page.dense.shape[1] != net.features or page.containers.shape[1] != net.levels:
            raise ValueError("the pages have other numbers of features or containers than the net to start from")
        if int(page.tokens.max(initial=0)) > net.names:
            raise ValueError("the pages have names that the net to start from does not have")


def _shuffled(
    examples: Sequence[NetExample], order: NDArray[np.intp], config: TrainingConfig, rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    """The pages of each batch of an epoch."""
    size = config.batch_size
    order = rng.permutation(order)
    batches: list[NDArray[np.intp]] = []
    for first in range(0, len(order), size * _BATCHES_SORTED_AT_ONCE):
        some = order[first : first + size * _BATCHES_SORTED_AT_ONCE]
        lengths = [min(len(examples[number].inputs.dense), config.max_blocks) for number in some]
        some = some[np.argsort(lengths, kind="stable")]
        batches += [some[begin : begin + size] for begin in range(0, len(some), size)]
    return [batches[number] for number in rng.permutation(len(batches))]


def _cut(example: NetExample, max_blocks: int, rng: np.random.Generator) -> NetExample:
    """A page that is not too long: some of its blocks, all of its elements."""
    page, length = example.inputs, len(example.inputs.dense)
    if length <= max_blocks:
        return example
    first = int(rng.integers(length - max_blocks + 1))
    part = slice(first, first + max_blocks)
    return replace(
        example,
        inputs=replace(page, dense=page.dense[part], containers=page.containers[part]),
        shares=example.shares[part],
        words=example.words[part],
        labels=example.labels[part],
    )


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Pages one after the other, so that nothing is padded. Numbers of blocks and elements go on from page to page.

    Attributes:
        starts: the first block of each page; all pages have blocks.
        lengths: how many blocks each has.
        first_elements: of each page.
        element_pages: the page of each element.
        dense: brought to one scale already; the rest is as in `NetInput` and `NetExample`.
    """

    starts: NDArray[np.intp]
    lengths: NDArray[np.intp]
    first_elements: NDArray[np.intp]
    element_pages: NDArray[np.intp]
    dense: NDArray[Any]
    tokens: NDArray[np.intp]
    token_elements: NDArray[np.intp]
    parents: NDArray[np.intp]
    containers: NDArray[np.intp]
    shares: NDArray[Any]
    words: NDArray[Any]
    labels: NDArray[np.intp]
    conventions: NDArray[np.intp]
    page_types: NDArray[np.intp]
    page_weights: NDArray[Any]


def pack(examples: Sequence[NetExample], dense: NDArray[Any]) -> Batch:
    """A batch of pages that all have blocks; `dense` are all of their numbers, brought to one scale."""
    pages = [example.inputs for example in examples]
    lengths = np.array([len(page.dense) for page in pages], np.intp)
    elements = np.array([len(page.parents) for page in pages], np.intp)
    first_elements = np.cumsum(elements) - elements

    def shifted(arrays: list[NDArray[np.intp]]) -> NDArray[np.intp]:
        return np.concatenate([array + first for array, first in zip(arrays, first_elements, strict=True)])

    def joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate(arrays).astype(dense.dtype, copy=False)

    return Batch(
        starts=np.cumsum(lengths) - lengths,
        lengths=lengths,
        first_elements=first_elements,
        element_pages=np.repeat(np.arange(len(pages)), elements),
        dense=dense,
        tokens=np.concatenate([page.tokens for page in pages]),
        token_elements=shifted([page.token_elements for page in pages]),
        parents=shifted([page.parents for page in pages]),
        containers=shifted([page.containers for page in pages]),
        shares=joined([example.shares for example in examples]),
        words=joined([example.words for example in examples]),
        labels=np.concatenate([example.labels for example in examples]),
        conventions=np.array([example.convention for example in examples], np.intp),
        page_types=np.array([example.page_type for example in examples], np.intp),
        page_weights=np.array([example.weight for example in examples], dense.dtype),
    )


class Pass:
    """A forward pass over a batch, which keeps what the backward pass (`gradients`) needs.

    Each layer is one large product over the blocks of all pages; convolutions are stopped at the borders of pages.

    Args:
        weights: of the net, all of one kind of float.
        dilations: how far each convolution looks.
        batch: the pages.
        rng: decides what is dropped; without it nothing is.
        dropout: the share of numbers that is dropped inside of the net; of the input, half as many.
        product: of the blocks' rows and a matrix; by default on all cores.

    Attributes:
        logits: as in `NetOutput`, one row a block.
        types: as in `NetOutput`, one row a page.
    """

    def __init__(
        self,
        weights: Mapping[str, NDArray[Any]],
        dilations: tuple[int, ...],
        batch: Batch,
        rng: np.random.Generator | None = None,
        dropout: float = 0.0,
        product: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]] = np.matmul,
    ) -> None:
        self._product = product
        self._weights, self._dilations, self._batch, self._rng = weights, dilations, batch, rng
        self._dropout = round(dropout * _DROPOUT_STEPS) / _DROPOUT_STEPS if rng else 0.0
        # What is kept grows, so that sums stay what they were.
        self._dropout_scale = batch.dense.dtype.type(1 / (1 - self._dropout))
        self._borders = [_borders(batch, dilation) for dilation in dilations]
        self._x = self._input()
        self._h1 = _relu(self._linear("in", self._x))
        self._pooled1, self._argmax1 = _pool(self._h1, batch)
        self._g1 = _relu(self._linear("pool1", self._pooled1))
        h = self._h2 = self._drop_out(_relu(self._h1 + self._for_blocks(self._linear("back1", self._g1))))
        self._before: list[NDArray[Any]] = []
        self._added: list[NDArray[Any]] = []
        for number in range(len(dilations)):
            self._before.append(h)
            self._added.append(self._drop_out(_relu(self._convolved(h, number))))
            h = h + self._added[-1]
        self._pooled2, self._argmax2 = _pool(h, batch)
        self._g2 = _relu(self._linear("pool2", self._pooled2))
        of_pages = self._linear("back2", self._g2) + weights["convention_vectors"].take(batch.conventions, axis=0)
        self._h3 = self._drop_out(_relu(h + self._for_blocks(of_pages)))
        self._hidden = _relu(self._linear("hidden", self._h3))
        self.logits = self._linear("out", self._hidden)
        self.types = self._linear("type", self._g2)

    def _linear(self, name: str, x: NDArray[Any]) -> NDArray[Any]:
        y = self._product(x, self._weights[f"{name}_weights"])
        y += self._weights[f"{name}_bias"]
        return y

    def _for_blocks(self, of_pages: NDArray[Any]) -> NDArray[Any]:
        return np.repeat(of_pages, self._batch.lengths, axis=0)

    def _drop_out(self, h: NDArray[Any]) -> NDArray[Any]:
        """Dropout in place, after ReLU. So what is above 0 has a gradient, which the backward pass makes use of."""
        if self._dropout:
            assert self._rng is not None
            h *= _dropout_mask(self._rng, h.shape, self._dropout)
            h *= self._dropout_scale
        return h

    def _input(self) -> NDArray[Any]:
        """Numbers, names of the containers, names of the path, side by side."""
        batch, embedding = self._batch, self._weights["embedding"]
        (count, features), levels, width = batch.dense.shape, batch.containers.shape[1], embedding.shape[1]
        vectors = scatter(batch.token_elements, embedding.take(batch.tokens, axis=0), len(batch.parents))
        x = np.empty((count, features + (levels + 1) * width), embedding.dtype)
        x[:, :features] = batch.dense
        x[:, features:-width] = vectors.take(batch.containers.ravel(), axis=0).reshape(count, levels * width)
        x[:, -width:] = self._path_means(vectors).take(batch.containers[:, 0], axis=0)
        self._mask_of_names: NDArray[Any] | None = None
        if self._dropout:
            assert self._rng is not None
            mask = _dropout_mask(self._rng, x.shape, self._dropout / 2)
            x *= mask
            x *= x.dtype.type(1 / (1 - self._dropout / 2))
            self._mask_of_names = mask[:, features:]
        return x

    def _path_means(self, vectors: NDArray[Any]) -> NDArray[Any]:
        """`path_means` for all pages at once. First elements count as zeros at first, and end all paths."""
        batch = self._batch
        path = np.column_stack((vectors, np.ones(len(vectors), vectors.dtype)))
        path[batch.first_elements] = 0
        is_first = np.zeros(len(vectors), np.bool_)
        is_first[batch.first_elements] = True
        ancestors = np.where(is_first[batch.parents], 0, batch.parents)
        self._jumps: list[NDArray[np.intp]] = []
        while ancestors.any():
            self._jumps.append(ancestors)
            path += path.take(ancestors, axis=0)
            ancestors = ancestors.take(ancestors)
        self._depths = np.maximum(path[:, -1:], 1)
        means: NDArray[Any] = path[:, :-1]
        means += vectors.take(batch.first_elements, axis=0).take(batch.element_pages, axis=0)
        means /= self._depths
        return means

    def _convolved(self, h: NDArray[Any], number: int) -> NDArray[Any]:
        dilation, (heads, tails) = self._dilations[number], self._borders[number]
        earlier, same, later = self._weights["conv_weights"][number]
        y = self._product(h, same)
        z = self._product(h, earlier)
        z[tails] = 0  # would reach another page
        y[dilation:] += z[:-dilation]
        z = self._product(h, later)
        z[heads] = 0
        y[:-dilation] += z[dilation:]
        y += self._weights["conv_bias"][number]
        return y

    def gradients(self, d_logits: NDArray[Any], d_types: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """The backward pass: the gradients of the loss by the weights, from those by the outputs."""
        found: dict[str, NDArray[Any]] = {}
        d_h = self._back_to_first_layer(d_logits, d_types, found)
        found["in_weights"], found["in_bias"] = self._x.T @ d_h, d_h.sum(axis=0)
        found["embedding"] = self._gradient_of_embeddings(d_h)
        return found

    def input_gradient(self, d_logits: NDArray[Any]) -> NDArray[Any]:
        """The gradient by what the first layer sees: one row a block, one column for each of its numbers."""
        d_h = self._back_to_first_layer(d_logits, np.zeros_like(self.types), None)
        return self._product(d_h, self._weights["in_weights"].T)

    def _back_to_first_layer(
        self, d_logits: NDArray[Any], d_types: NDArray[Any], found: dict[str, NDArray[Any]] | None
    ) -> NDArray[Any]:
        """The gradient by the first layer, before its ReLU; those by the weights go to `found`, if there is one."""
        d_hidden = self._back("out", self._hidden, d_logits, found) * (self._hidden > 0)
        d_h = self._back("hidden", self._h3, d_hidden, found)
        d_h *= self._h3 > 0
        d_h *= self._dropout_scale
        d_page = self._back("type", self._g2, d_types, found)
        d_of_pages = self._for_pages(d_h)
        if found is not None:
            conventions = len(self._weights["convention_vectors"])
            found["convention_vectors"] = scatter(self._batch.conventions, d_of_pages, conventions)
        d_page += self._back("back2", self._g2, d_of_pages, found)
        self._back_from_page("pool2", (self._g2, self._pooled2, self._argmax2), d_page, d_h, found)
        d_h = self._back_through_convolutions(d_h, found)
        d_h *= self._h2 > 0
        d_h *= self._dropout_scale
        d_page = self._back("back1", self._g1, self._for_pages(d_h), found)
        self._back_from_page("pool1", (self._g1, self._pooled1, self._argmax1), d_page, d_h, found)
        d_h *= self._h1 > 0
        return d_h

    def _back(
        self, name: str, x: NDArray[Any], d_y: NDArray[Any], found: dict[str, NDArray[Any]] | None
    ) -> NDArray[Any]:
        """Through a linear layer."""
        if found is not None:
            found[f"{name}_weights"], found[f"{name}_bias"] = x.T @ d_y, d_y.sum(axis=0)
        return self._product(d_y, self._weights[f"{name}_weights"].T)

    def _for_pages(self, of_blocks: NDArray[Any]) -> NDArray[Any]:
        ends = self._batch.starts + self._batch.lengths
        return np.stack([of_blocks[start:end].sum(axis=0) for start, end in zip(self._batch.starts, ends, strict=True)])

    def _back_from_page(
        self,
        name: str,
        forward: tuple[NDArray[Any], NDArray[Any], NDArray[np.intp]],
        d_page: NDArray[Any],
        d_h: NDArray[Any],
        found: dict[str, NDArray[Any]] | None,
    ) -> None:
        """Through a pool, into `d_h` in place."""
        page, pooled, argmax = forward
        d_pooled = self._back(name, pooled, d_page * (page > 0), found)
        middle = d_h.shape[1]
        d_h += self._for_blocks(d_pooled[:, :middle] / self._batch.lengths[:, None].astype(d_h.dtype))
        d_h[argmax, np.arange(middle)] += d_pooled[:, middle:]  # each block of a column is the maximum of one page only

    def _back_through_convolutions(self, d_h: NDArray[Any], found: dict[str, NDArray[Any]] | None) -> NDArray[Any]:
        kernels = self._weights["conv_weights"]
        d_kernels, d_bias = np.empty_like(kernels), np.empty_like(self._weights["conv_bias"])
        hidden = d_h.shape[1]
        for number in reversed(range(len(self._dilations))):
            dilation, (heads, tails) = self._dilations[number], self._borders[number]
            d_y = d_h * (self._added[number] > 0)
            d_y *= self._dropout_scale
            moved = np.zeros((len(d_h), 3 * hidden), d_h.dtype)  # for earlier, same and later blocks
            moved[:-dilation, :hidden] = d_y[dilation:]
            moved[tails, :hidden] = 0
            moved[:, hidden:-hidden] = d_y
            moved[dilation:, -hidden:] = d_y[:-dilation]
            moved[heads, -hidden:] = 0
            if found is not None:
                d_kernels[number] = (self._before[number].T @ moved).reshape(hidden, 3, hidden).swapaxes(0, 1)
                d_bias[number] = d_y.sum(axis=0)
            d_h = d_h + self._product(moved, kernels[number].transpose(0, 2, 1).reshape(3 * hidden, hidden))
        if found is not None:
            found["conv_weights"], found["conv_bias"] = d_kernels, d_bias
        return d_h

    def _gradient_of_embeddings(self, d_h: NDArray[Any]) -> NDArray[Any]:
        batch, embedding = self._batch, self._weights["embedding"]
        count, levels, width = len(d_h), batch.containers.shape[1], embedding.shape[1]
        d_x = d_h @ self._weights["in_weights"][batch.dense.shape[1] :].T
        if self._mask_of_names is not None:
            d_x *= self._mask_of_names
            d_x *= d_x.dtype.type(1 / (1 - self._dropout / 2))
        elements = len(batch.parents)
        d_vectors = scatter(batch.containers.ravel(), d_x[:, :-width].reshape(count * levels, width), elements)
        d_path = scatter(batch.containers[:, 0], d_x[:, -width:], elements) / self._depths
        d_vectors[batch.first_elements] += np.add.reduceat(d_path, batch.first_elements, axis=0)
        for ancestors in reversed(self._jumps):
            d_path += scatter(ancestors, d_path, elements)
            d_path[0] = 0  # where all paths end
        d_path[batch.first_elements] = 0
        d_vectors += d_path
        d_embedding = scatter(batch.tokens, d_vectors.take(batch.token_elements, axis=0), len(embedding))
        d_embedding[0] = 0  # names that are not known say nothing
        return d_embedding


def weigh_inputs(
    net: BlockNet, page: NetInput, signs: NDArray[Any], strength: float, convention: int = 0
) -> NDArray[Any]:
    """How much the log odds of a page's blocks grow with each number that the first layer sees, to first order.

    Args:
        net: the net.
        page: with blocks.
        signs: 1 for blocks whose log odds count, -1 for those that count negatively, 0 for those that do not.
        strength: by which the vectors of names are multiplied.
        convention: the number of what is main matter.

    Returns:
        One row a block, one column for each of its numbers; then those of its containers' names, and of its path's.
    """
    nothing = np.full(len(page.dense), -1)
    batch = pack([NetExample(page, nothing, nothing, nothing, convention)], net.standardize(page.dense))
    weights = net.weights | {"embedding": net.weights["embedding"] * np.float32(strength)}
    run = Pass(weights, net.dilations, batch, product=multiply)
    of_labels, keeps = softmax(run.logits), _sigmoid(net.weights["convention_keeps"][convention].astype(np.float64))
    kept = np.clip(of_labels @ keeps, _MIN_PROBABILITY, 1 - _MIN_PROBABILITY)[:, None]
    d_logits = of_labels * (keeps - kept) / (kept * (1 - kept)) * signs[:, None]
    return run.input_gradient(d_logits.astype(np.float32))


def scatter(groups: NDArray[np.intp], vectors: NDArray[Any], count: int) -> NDArray[Any]:
    """The sum of the vectors of each of `count` groups; for large batches the fastest way, and in any order."""
    sums = np.empty((count, vectors.shape[1]), vectors.dtype)
    for column in range(vectors.shape[1]):
        sums[:, column] = np.bincount(groups, vectors[:, column], count)
    return sums


def _relu(y: NDArray[Any]) -> NDArray[Any]:
    np.maximum(y, 0, out=y)
    return y


def _dropout_mask(rng: np.random.Generator, shape: tuple[int, ...], dropout: float) -> NDArray[np.bool_]:
    """What is kept: all but a share of `dropout`."""
    numbers = np.frombuffer(rng.bytes(2 * int(np.prod(shape))), np.uint16)
    return (numbers >= round(dropout * _DROPOUT_STEPS)).reshape(shape)


def _pool(h: NDArray[Any], batch: Batch) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Means and maxima of each page, and the blocks that have the maxima."""
    hidden = h.shape[1]
    pooled = np.empty((len(batch.starts), 2 * hidden), h.dtype)
    argmax = np.empty((len(batch.starts), hidden), np.intp)
    for page, (start, length) in enumerate(zip(batch.starts, batch.lengths, strict=True)):
        blocks = h[start : start + length]
        pooled[page, :hidden] = blocks.sum(axis=0) / h.dtype.type(length)
        argmax[page] = start + blocks.argmax(axis=0)
    pooled[:, hidden:] = h[argmax, np.arange(hidden)]
    return pooled, argmax


def _borders(batch: Batch, distance: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The blocks that are less than `distance` behind their page's first, and those so near to its end."""
    places = np.arange(len(batch.dense)) - np.repeat(batch.starts, batch.lengths)
    left = np.repeat(batch.lengths, batch.lengths) - places
    return np.flatnonzero(places < distance), np.flatnonzero(left <= distance)


def loss_and_gradients(
    logits: NDArray[Any],
    types: NDArray[Any],
    keeps: NDArray[Any],
    batch: Batch,
    loss_weights: LossWeights,
) -> tuple[float, NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The mean loss of the pages, and its gradients by the logits, the types, and what conventions keep.

    A block is main matter as far as its labels are, by the page's convention. Blocks count by the square root of their
    words, and only where it is known how much of them is main matter, or what they are.
    """

    def by_page(values: NDArray[Any]) -> NDArray[Any]:
        sums: NDArray[Any] = np.add.reduceat(values, batch.starts)
        return sums

    def of_pages(values: NDArray[Any]) -> NDArray[Any]:
        return np.repeat(values, batch.lengths, axis=0)

    real = logits.dtype.type
    log_of_label = logits - logits.max(axis=1, keepdims=True)
    log_of_label -= np.log(np.exp(log_of_label).sum(axis=1, keepdims=True))
    of_label = np.exp(log_of_label)
    kept_label = of_pages(_sigmoid(keeps).take(batch.conventions, axis=0))
    kept = of_label * kept_label
    p = np.clip(kept.sum(axis=1), _MIN_PROBABILITY, 1 - _MIN_PROBABILITY)

    is_known = np.isfinite(batch.shares)
    y = np.where(is_known, batch.shares, 0)
    root_words = np.sqrt(batch.words + 1)
    page_weights = batch.page_weights / len(batch.lengths)

    def weigh(counts: NDArray[np.bool_]) -> NDArray[Any]:
        """The weights of the blocks that count, whose sum is the weight of their page."""
        weights = root_words * counts
        return weights * of_pages(page_weights / np.maximum(by_page(weights), _MIN_WEIGHT_OF_PAGE))  # type: ignore[no-any-return]

    weights = weigh(is_known)
    loss = -float((y * np.log(p) + (1 - y) * np.log1p(-p)) @ weights)
    d_p = weights * (p - y) / (p * (1 - p))
    words = batch.words * is_known
    both = 2 * by_page(p * y * words) + 1
    all_words = by_page(p * words) + by_page(y * words) + 1
    loss += loss_weights.f1 * float((1 - both / all_words) @ page_weights)
    d_p += real(loss_weights.f1) * words * (of_pages(both / all_words) - 2 * y) * of_pages(page_weights / all_words)
    d_logits = d_p[:, None] * (kept - of_label * p[:, None])
    d_kept_label = d_p[:, None] * kept * (1 - kept_label)
    d_keeps = scatter(batch.conventions, np.add.reduceat(d_kept_label, batch.starts), len(keeps))

    told = np.flatnonzero(batch.labels >= 0)
    label_weights = weigh(batch.labels >= 0)[told] * real(loss_weights.label)
    labels = batch.labels[told]
    loss -= float(log_of_label[told, labels] @ label_weights)
    d_logits[told] += of_label[told] * label_weights[:, None]
    d_logits[told, labels] -= label_weights

    type_loss, d_types = _type_loss(types, batch.page_types)
    return loss + loss_weights.page_type * type_loss, d_logits, d_types * real(loss_weights.page_type), d_keeps


def _type_loss(types: NDArray[Any], true: NDArray[np.intp]) -> tuple[float, NDArray[Any]]:
    """The mean cross-entropy over the pages whose type is known, and its gradient."""
    known = np.flatnonzero(true >= 0)
    d_types = np.zeros_like(types)
    if not len(known):
        return 0.0, d_types
    shifted = types[known] - types[known].max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    d_known = np.exp(log_p)
    d_known[np.arange(len(known)), true[known]] -= 1
    d_types[known] = d_known / types.dtype.type(len(known))
    return -float(log_p[np.arange(len(known)), true[known]].mean()), d_types


def _sigmoid(logit: NDArray[Any]) -> NDArray[Any]:
    small = np.exp(-np.abs(logit))
    probability: NDArray[Any] = np.where(logit >= 0, 1, small) / (1 + small)
    return probability


@dataclass(frozen=True, slots=True)
class OneCycle:
    """The learning rate warms up to its peak, then falls to almost nothing, both along half a wave of a cosine.

    Attributes:
        peak: the highest learning rate.
        steps: how many there will be.
        warmup: the share of the steps that it climbs.
        start: by how much the first learning rate is below the peak.
        end: by how much the last one is below the first.
    """

    peak: float
    steps: int
    warmup: float = 0.15
    start: float = 25.0
    end: float = 1e4

    def at(self, step: int) -> tuple[float, float]:
        """The learning rate and beta 1 of a step, counted from 0."""
        top, last = self.warmup * self.steps - 1, self.steps - 1
        first = self.peak / self.start
        slow, fast = _BETA1
        if step <= top:
            done = step / top if top > 0 else 1.0
            return _anneal(first, self.peak, done), _anneal(slow, fast, done)
        done = min(1.0, (step - top) / (last - top))
        return _anneal(self.peak, first / self.end, done), _anneal(fast, slow, done)


def _anneal(first: float, last: float, done: float) -> float:
    return last + (first - last) * (1 + cos(pi * done)) / 2


class AdamW:
    """Adam with decoupled weight decay, and gradient clipping.

    Args:
        arrays: where to start; copied.
        weight_decays: by how much, at a learning rate of 1, each array shrinks in a step.
        max_gradient_norm: gradients that are longer, all together, are clipped to this.

    Attributes:
        arrays: as they are now.
    """

    def __init__(
        self,
        arrays: Mapping[str, NDArray[Any]],
        weight_decays: Mapping[str, float],
        max_gradient_norm: float = np.inf,
    ) -> None:
        # One long vector: few large operations instead of many small ones.
        self._all = np.concatenate([array.ravel() for array in arrays.values()])
        self._parts: list[tuple[slice, float]] = []
        self.arrays: dict[str, NDArray[Any]] = {}
        start = 0
        for name, array in arrays.items():
            part = slice(start, start + array.size)
            self.arrays[name] = self._all[part].reshape(array.shape)
            self._parts.append((part, weight_decays[name]))
            start = part.stop
        self._first_moment, self._second_moment = np.zeros_like(self._all), np.zeros_like(self._all)
        self._max_gradient_norm = max_gradient_norm
        self._steps = 0

    def step(self, gradients: Mapping[str, NDArray[Any]], learning_rate: float, beta1: float) -> None:
        """Change the arrays against their gradients, which are given by the same names."""
        gradient = np.concatenate([gradients[name].ravel() for name in self.arrays])
        norm = sqrt(float(gradient @ gradient))
        if norm > self._max_gradient_norm:
            gradient *= self._max_gradient_norm / (norm + 1e-6)
        self._steps += 1
        for part, weight_decay in self._parts:
            self._all[part] *= 1 - learning_rate * weight_decay
        self._first_moment *= beta1
        self._first_moment += (1 - beta1) * gradient
        gradient *= gradient
        gradient *= 1 - _BETA2
        self._second_moment *= _BETA2
        self._second_moment += gradient
        below = np.sqrt(self._second_moment, out=gradient)
        below /= sqrt(1 - _BETA2**self._steps)
        below += _EPSILON
        np.divide(self._first_moment, below, out=below)
        below *= learning_rate / (1 - beta1**self._steps)
        self._all -= below
