"""One pass of a `BlockNet` over a batch of pages, forward and back; the gradient is written by hand.

Each layer is one large product over the blocks of all pages; convolutions are stopped at the borders of pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mainmatter.main.block_net_batch import Batch

_STEPS = 1 << 16  # of the random numbers that decide what is forgotten: two bytes each are enough


class Pass:
    """A pass forward, which remembers what the way back needs.

    Args:
        weights: of the net, all of one kind of float.
        dilations: how far each convolution looks.
        batch: the pages.
        rng: decides what is forgotten; without it nothing is.
        dropout: the share of numbers that is forgotten inside of the net; of the input, half as many.

    Attributes:
        logits: as in `Output`, one row a block.
        types: as in `Output`, one row a page.
    """

    logits: NDArray[Any]
    types: NDArray[Any]

    def __init__(
        self,
        weights: Mapping[str, NDArray[Any]],
        dilations: tuple[int, ...],
        batch: Batch,
        rng: np.random.Generator | None = None,
        dropout: float = 0.0,
    ) -> None:
        self._weights, self._dilations, self._batch, self._rng = weights, dilations, batch, rng
        self._dropout = round(dropout * _STEPS) / _STEPS if rng else 0.0
        # What is kept grows, so that sums stay what they were.
        self._growth = batch.dense.dtype.type(1 / (1 - self._dropout))
        self._borders = [_borders(batch, distance) for distance in dilations]
        self._forward()

    def _forward(self) -> None:
        self._x = self._input()
        self._h1 = _bent(self._linear("in", self._x))
        self._pooled1, self._best1 = _pool(self._h1, self._batch)
        self._g1 = _bent(self._linear("pool1", self._pooled1))
        h = self._h2 = self._forget(_bent(self._h1 + self._for_blocks(self._linear("back1", self._g1))))
        self._before: list[NDArray[Any]] = []
        self._added: list[NDArray[Any]] = []
        for number in range(len(self._dilations)):
            self._before.append(h)
            self._added.append(self._forget(_bent(self._convolved(h, number))))
            h = h + self._added[-1]
        self._pooled2, self._best2 = _pool(h, self._batch)
        self._g2 = _bent(self._linear("pool2", self._pooled2))
        self._h3 = self._forget(_bent(h + self._for_blocks(self._linear("back2", self._g2))))
        self._hidden = _bent(self._linear("hidden", self._h3))
        self.logits = self._linear("out", self._hidden)
        self.types = self._linear("type", self._g2)

    def _linear(self, name: str, x: NDArray[Any]) -> NDArray[Any]:
        y: NDArray[Any] = x @ self._weights[f"{name}_weights"]
        y += self._weights[f"{name}_bias"]
        return y

    def _for_blocks(self, of_pages: NDArray[Any]) -> NDArray[Any]:
        return np.repeat(of_pages, self._batch.lengths, axis=0)

    def _forget(self, bent: NDArray[Any]) -> NDArray[Any]:
        """Dropout in place. What is above 0 afterwards was bent and kept, which the way back makes use of."""
        if self._dropout:
            assert self._rng is not None
            bent *= _chosen(self._rng, bent.shape, self._dropout)
            bent *= self._growth
        return bent

    def _input(self) -> NDArray[Any]:
        """Numbers, names of the containers, names of the path, side by side."""
        batch, embedding = self._batch, self._weights["embedding"]
        (count, features), levels, width = batch.dense.shape, batch.containers.shape[1], embedding.shape[1]
        vectors = scatter(batch.token_elements, embedding.take(batch.tokens, axis=0), len(batch.parents))
        x = np.empty((count, features + (levels + 1) * width), embedding.dtype)
        x[:, :features] = batch.dense
        x[:, features:-width] = vectors.take(batch.containers.ravel(), axis=0).reshape(count, levels * width)
        x[:, -width:] = self._means_of_paths(vectors).take(batch.containers[:, 0], axis=0)
        self._kept_names: NDArray[Any] | None = None
        if self._dropout:
            assert self._rng is not None
            kept = _chosen(self._rng, x.shape, self._dropout / 2)
            x *= kept
            x *= x.dtype.type(1 / (1 - self._dropout / 2))
            self._kept_names = kept[:, features:]
        return x

    def _means_of_paths(self, vectors: NDArray[Any]) -> NDArray[Any]:
        """`means_of_paths` for all pages at once. First elements count as zeros at first, and are ends of all ways."""
        batch = self._batch
        path = np.column_stack((vectors, np.ones(len(vectors), vectors.dtype)))
        path[batch.first_elements] = 0
        is_first = np.zeros(len(vectors), np.bool_)
        is_first[batch.first_elements] = True
        ancestors = np.where(is_first[batch.parents], 0, batch.parents)
        self._rounds: list[NDArray[np.intp]] = []
        while ancestors.any():
            self._rounds.append(ancestors)
            path += path.take(ancestors, axis=0)
            ancestors = ancestors.take(ancestors)
        self._depths = np.maximum(path[:, -1:], 1)
        means: NDArray[Any] = path[:, :-1]
        means += vectors.take(batch.first_elements, axis=0).take(batch.element_pages, axis=0)
        means /= self._depths
        return means

    def _convolved(self, h: NDArray[Any], number: int) -> NDArray[Any]:
        distance, (heads, tails) = self._dilations[number], self._borders[number]
        earlier, same, later = self._weights["conv_weights"][number]
        y: NDArray[Any] = h @ same
        for taps, border in ((earlier, tails), (later, heads)):
            z = h @ taps
            z[border] = 0  # would reach another page
            if border is tails:
                y[distance:] += z[:-distance]
            else:
                y[:-distance] += z[distance:]
        y += self._weights["conv_bias"][number]
        return y

    def gradient(self, of_logits: NDArray[Any], of_types: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """How the loss changes with each weight, from how it changes with the outputs."""
        found: dict[str, NDArray[Any]] = {}
        of_hidden = self._back("out", self._hidden, of_logits, found) * (self._hidden > 0)
        of_h = self._back("hidden", self._h3, of_hidden, found)
        of_h *= self._h3 > 0
        of_h *= self._growth
        of_page = self._back("type", self._g2, of_types, found)
        of_page += self._back("back2", self._g2, self._for_pages(of_h), found)
        self._back_from_page("pool2", (self._g2, self._pooled2, self._best2), of_page, of_h, found)
        of_h = self._back_through_convolutions(of_h, found)
        of_h *= self._h2 > 0
        of_h *= self._growth
        of_page = self._back("back1", self._g1, self._for_pages(of_h), found)
        self._back_from_page("pool1", (self._g1, self._pooled1, self._best1), of_page, of_h, found)
        of_h *= self._h1 > 0
        found["in_weights"], found["in_bias"] = self._x.T @ of_h, of_h.sum(axis=0)
        found["embedding"] = self._gradient_of_names(of_h)
        return found

    def _back(self, name: str, x: NDArray[Any], of_y: NDArray[Any], found: dict[str, NDArray[Any]]) -> NDArray[Any]:
        """Through a linear layer."""
        found[f"{name}_weights"], found[f"{name}_bias"] = x.T @ of_y, of_y.sum(axis=0)
        of_x: NDArray[Any] = of_y @ self._weights[f"{name}_weights"].T
        return of_x

    def _for_pages(self, of_blocks: NDArray[Any]) -> NDArray[Any]:
        ends = self._batch.starts + self._batch.lengths
        return np.stack([of_blocks[start:end].sum(axis=0) for start, end in zip(self._batch.starts, ends, strict=True)])

    def _back_from_page(
        self,
        name: str,
        forward: tuple[NDArray[Any], NDArray[Any], NDArray[np.intp]],
        of_page: NDArray[Any],
        of_h: NDArray[Any],
        found: dict[str, NDArray[Any]],
    ) -> None:
        """Through a pool, into `of_h` in place."""
        page, pooled, best = forward
        of_pooled = self._back(name, pooled, of_page * (page > 0), found)
        middle = of_h.shape[1]
        of_h += self._for_blocks(of_pooled[:, :middle] / self._batch.lengths[:, None].astype(of_h.dtype))
        of_h[best, np.arange(middle)] += of_pooled[:, middle:]  # each block of a column is the best of one page only

    def _back_through_convolutions(self, of_h: NDArray[Any], found: dict[str, NDArray[Any]]) -> NDArray[Any]:
        taps = self._weights["conv_weights"]
        of_taps, of_bias = np.empty_like(taps), np.empty_like(self._weights["conv_bias"])
        hidden = of_h.shape[1]
        for number in reversed(range(len(self._dilations))):
            distance, (heads, tails) = self._dilations[number], self._borders[number]
            of_y = of_h * (self._added[number] > 0)
            of_y *= self._growth
            moved = np.zeros((len(of_h), 3 * hidden), of_h.dtype)  # what earlier, same and later blocks are told
            moved[:-distance, :hidden] = of_y[distance:]
            moved[tails, :hidden] = 0
            moved[:, hidden:-hidden] = of_y
            moved[distance:, -hidden:] = of_y[:-distance]
            moved[heads, -hidden:] = 0
            of_taps[number] = (self._before[number].T @ moved).reshape(hidden, 3, hidden).swapaxes(0, 1)
            of_bias[number] = of_y.sum(axis=0)
            of_h = of_h + moved @ taps[number].transpose(0, 2, 1).reshape(3 * hidden, hidden)
        found["conv_weights"], found["conv_bias"] = of_taps, of_bias
        return of_h

    def _gradient_of_names(self, of_h: NDArray[Any]) -> NDArray[Any]:
        batch, embedding = self._batch, self._weights["embedding"]
        count, levels, width = len(of_h), batch.containers.shape[1], embedding.shape[1]
        of_x = of_h @ self._weights["in_weights"][batch.dense.shape[1] :].T
        if self._kept_names is not None:
            of_x *= self._kept_names
            of_x *= of_x.dtype.type(1 / (1 - self._dropout / 2))
        elements = len(batch.parents)
        of_vectors = scatter(batch.containers.ravel(), of_x[:, :-width].reshape(count * levels, width), elements)
        of_path = scatter(batch.containers[:, 0], of_x[:, -width:], elements) / self._depths
        of_vectors[batch.first_elements] += np.add.reduceat(of_path, batch.first_elements, axis=0)
        for ancestors in reversed(self._rounds):
            of_path += scatter(ancestors, of_path, elements)
            of_path[0] = 0  # the end of all ways
        of_path[batch.first_elements] = 0
        of_vectors += of_path
        of_names = scatter(batch.tokens, of_vectors.take(batch.token_elements, axis=0), len(embedding))
        of_names[0] = 0  # names that are not known say nothing
        return of_names


def scatter(groups: NDArray[np.intp], vectors: NDArray[Any], count: int) -> NDArray[Any]:
    """The sum of the vectors of each of `count` groups; for large batches the fastest way, and in any order."""
    sums = np.empty((count, vectors.shape[1]), vectors.dtype)
    for column in range(vectors.shape[1]):
        sums[:, column] = np.bincount(groups, vectors[:, column], count)
    return sums


def _bent(y: NDArray[Any]) -> NDArray[Any]:
    np.maximum(y, 0, out=y)
    return y


def _chosen(rng: np.random.Generator, shape: tuple[int, ...], rate: float) -> NDArray[np.bool_]:
    """What is kept: all but a share of `rate`."""
    numbers = np.frombuffer(rng.bytes(2 * int(np.prod(shape))), np.uint16)
    return (numbers >= round(rate * _STEPS)).reshape(shape)


def _pool(h: NDArray[Any], batch: Batch) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Means and maxima of each page, and the blocks that have the maxima."""
    hidden = h.shape[1]
    pooled = np.empty((len(batch.starts), 2 * hidden), h.dtype)
    best = np.empty((len(batch.starts), hidden), np.intp)
    for page, (start, length) in enumerate(zip(batch.starts, batch.lengths, strict=True)):
        blocks = h[start : start + length]
        pooled[page, :hidden] = blocks.sum(axis=0) / h.dtype.type(length)
        best[page] = start + blocks.argmax(axis=0)
    pooled[:, hidden:] = h[best, np.arange(hidden)]
    return pooled, best


def _borders(batch: Batch, distance: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The blocks that are less than `distance` behind their page's first, and those so near to its end."""
    places = np.arange(len(batch.dense)) - np.repeat(batch.starts, batch.lengths)
    left = np.repeat(batch.lengths, batch.lengths) - places
    return np.flatnonzero(places < distance), np.flatnonzero(left <= distance)
