# cython: annotation_typing=True
"""The net of `main`: its arrays and its forward pass.

It sees a page as a sequence of blocks. A block is a row of numbers and the names (tags, classes) of the elements around
it. Names have embeddings; the vector of an element is the sum over its names. A first layer sees each block by itself,
dilated convolutions with residual connections see its neighbours near and far (van den Oord et al. 2016, WaveNet, 2.1),
and two pools over all blocks see the page as a whole. It says of each block what it is (its label).

Which labels belong to the main matter is a convention: gold standards differ about headlines, bylines, captions and
comments. What the net knows about pages is shared by all conventions; each has only a vector that is added before the
last layers, and a number a label that says whether it is kept (`BlockNet.keep`). Convention 0 is our own.

Matrix products are computed by numpy. The steps between them are loops if this file is compiled, in one pass over the
numbers, or else numpy operations, one after the other. Both give the same numbers, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter import cython

if cython.compiled and not TYPE_CHECKING:
    import cython

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

_MAX_DEVIATIONS = 6.0  # from the mean, in standard deviations: numbers are clipped there
_MAX_WEIGHT = 1e3  # by its amount: no net that learned anything comes near
_MAX_DILATION = 1024  # blocks: there are as many zeros around each page
# Products of matrices up to this size (rows x columns x inner) are not spread over several threads, which would fight
# with those of other processes; papers/fiasco/svm.py does the same.
_LARGEST_PRODUCT = 1 << 18
_MOST_ROWS_AT_ONCE = 256
_BLOCKS_AT_ONCE = 448  # of long pages: what they need stays in the processor's cache
_ROWS_AS_ONE = 8  # for sums, numpy is twice as fast with few long rows as with many short ones


@dataclass(frozen=True, slots=True, eq=False)
class NetOutput:
    """What the net says about a page.

    Attributes:
        logits: one row a block, one column a label; the highest is the likeliest.
        types: one logit a type of page; the highest is the likeliest.
    """

    logits: NDArray[np.float32]
    types: NDArray[np.float32]


def shapes_of(  # noqa: PLR0913 - a net has as many sizes
    *,
    features: int,
    names: int,
    levels: int,
    width: int,
    hidden: int,
    pooled: int,
    layers: int,
    labels: int,
    types: int,
    conventions: int,
) -> dict[str, tuple[int, ...]]:
    """The shapes of all arrays that are learned, by name.

    Args:
        features: numbers a block.
        names: how many names have a vector of their own.
        levels: containers a block.
        width: of a name's vector.
        hidden: of a block's vector inside of the net.
        pooled: of the page's vector.
        layers: how many convolutions.
        labels: of blocks.
        types: of pages.
        conventions: which labels are main matter.
    """
    half = hidden // 2
    return {
        "embedding": (names + 1, width),
        "in_weights": (features + (levels + 1) * width, hidden),
        "in_bias": (hidden,),
        "pool1_weights": (2 * hidden, pooled),
        "pool1_bias": (pooled,),
        "back1_weights": (pooled, hidden),
        "back1_bias": (hidden,),
        "conv_weights": (layers, 3, hidden, hidden),
        "conv_bias": (layers, hidden),
        "pool2_weights": (2 * hidden, pooled),
        "pool2_bias": (pooled,),
        "back2_weights": (pooled, hidden),
        "back2_bias": (hidden,),
        "hidden_weights": (hidden, half),
        "hidden_bias": (half,),
        "out_weights": (half, labels),
        "out_bias": (labels,),
        "type_weights": (pooled, types),
        "type_bias": (types,),
        "convention_vectors": (conventions, hidden),
        "convention_keeps": (conventions, labels),
    }


class BlockNet:
    """A trained net. Its arrays are never changed; threads may share it.

    Args:
        weights: what was learned, by the names of `shapes_of`.
        mean: of each number of a block.
        scale: the deviation of each number.
        dilations: how far each convolution looks.

    Raises:
        ValueError: shapes do not fit together, or numbers are not finite.
    """

    def __init__(
        self, weights: Mapping[str, NDArray[Any]], mean: NDArray[Any], scale: NDArray[Any], dilations: tuple[int, ...]
    ) -> None:
        self.dilations = dilations
        self.weights = {name: np.ascontiguousarray(array, np.float32) for name, array in weights.items()}
        self.mean = np.ascontiguousarray(mean, np.float32)
        self.scale = np.ascontiguousarray(scale, np.float32)
        _check(self)
        features = len(self.mean)
        # To change weights and bias once is cheaper than to bring each page to one scale.
        of_dense = self.weights["in_weights"][:features].astype(np.float64) / self.scale[:, None]
        self._dense_weights = of_dense.astype(np.float32)
        self._in_bias = (self.weights["in_bias"] - self.mean @ of_dense).astype(np.float32)
        self._lowest, self._highest = self.mean - _MAX_DEVIATIONS * self.scale, self.mean + _MAX_DEVIATIONS * self.scale
        self._name_weights = np.ascontiguousarray(self.weights["in_weights"][features:])
        self._kernels = self.weights["conv_weights"][:, :, None]

    @property
    def features(self) -> int:
        """Numbers a block."""
        return len(self.mean)

    @property
    def names(self) -> int:
        """How many names have a vector of their own."""
        return len(self.weights["embedding"]) - 1

    @property
    def levels(self) -> int:
        """Containers a block."""
        width: int = self.weights["embedding"].shape[1]
        return (len(self.weights["in_weights"]) - self.features) // width - 1

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name, for saving."""
        return {**self.weights, "mean": self.mean, "scale": self.scale, "dilations": np.array(self.dilations, np.int64)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> BlockNet:
        """A net from what `arrays` gave; floats of any size will do.

        Raises:
            ValueError: one is missing, shapes do not fit together, or numbers are not finite.
        """
        missing = [name for name in ("mean", "scale", "dilations") if name not in arrays]
        if missing:
            raise ValueError(f"missing: {', '.join(missing)}")
        dilations = arrays["dilations"]
        if dilations.ndim != 1 or dilations.dtype.kind not in "iu":
            raise ValueError("dilations are whole numbers, one a convolution")
        weights = {name: array for name, array in arrays.items() if name not in ("mean", "scale", "dilations")}
        for name, array in (*weights.items(), ("mean", arrays["mean"]), ("scale", arrays["scale"])):
            if array.dtype.kind != "f":
                raise ValueError(f"{name}: {array.dtype} are not floats")
        return cls(weights, arrays["mean"], arrays["scale"], tuple(dilations.tolist()))

    def standardize(self, dense: NDArray[np.float32]) -> NDArray[np.float32]:
        """Numbers as deviations from their means, clipped: what training sees. `forward` has this in its weights."""
        deviations = dense - self.mean
        deviations /= self.scale
        return np.clip(deviations, -_MAX_DEVIATIONS, _MAX_DEVIATIONS, out=deviations)

    def embed(self, bags: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """The vectors of some bags of names, one a row; that of an element is the one of all of its names."""
        embedding = self.weights["embedding"]
        vectors = np.zeros((len(bags), embedding.shape[1]), np.float32)
        sizes = np.fromiter(map(len, bags), np.intp, len(bags))
        has_names = sizes > 0
        if has_names.any():
            tokens = np.fromiter(chain.from_iterable(bags), np.intp, int(sizes.sum()))
            starts = (np.cumsum(sizes) - sizes)[has_names]
            vectors[has_names] = np.add.reduceat(embedding.take(tokens, axis=0), starts)
        return vectors

    def forward(
        self,
        dense: NDArray[np.float32],
        vectors: NDArray[np.float32],
        jumps: Sequence[NDArray[np.intp]],
        containers: NDArray[np.intp],
        convention: int = 0,
    ) -> NetOutput:
        """Judge a page.

        Args:
            dense: one row of numbers a block, as measured; the net brings them to one scale.
            vectors: of the page's elements (`embed`), one a row; the first element is the whole page.
            jumps: jump pointers: for each element the one around it, two up, four up, ... (`Containers.jumps`).
            containers: for each block its element and ever wider ones, one a column.
            convention: its number.
        """
        weights = self.weights
        labels = len(weights["out_bias"])
        if not len(dense):
            page = self._page_vector("pool2", np.zeros(len(weights["pool2_weights"]), np.float32))
            return NetOutput(np.zeros((0, labels), np.float32), page @ weights["type_weights"] + weights["type_bias"])
        paths = path_means(vectors, jumps)
        activations = _Activations(len(dense), weights["in_weights"].shape[1], self.dilations)
        for part, h in activations.chunks():
            self._first_layer(dense, part, vectors, paths, containers, h)
        page = self._page_vector("pool1", activations.pool())
        of_page = page @ weights["back1_weights"] + weights["back1_bias"]
        for _, h in activations.chunks():
            _add_and_rectify(h, of_page)
        for dilation, kernel, bias in zip(self.dilations, self._kernels, weights["conv_bias"], strict=True):
            activations.convolve(dilation, kernel, bias)
        page = self._page_vector("pool2", activations.pool())
        of_page = page @ weights["back2_weights"] + weights["back2_bias"] + weights["convention_vectors"][convention]
        logits = np.empty((len(dense), labels), np.float32)
        for part, h in activations.chunks():
            _add_and_rectify(h, of_page)
            hidden = multiply(h, weights["hidden_weights"])
            _add_and_rectify(hidden, weights["hidden_bias"])
            np.add(multiply(hidden, weights["out_weights"]), weights["out_bias"], out=logits[part])
        return NetOutput(logits, page @ weights["type_weights"] + weights["type_bias"])

    def keep(self, probabilities: NDArray[np.float64], convention: int = 0) -> NDArray[np.float64]:
        """How likely each block is main matter by a convention, from the probabilities of its labels (`softmax`)."""
        keeps = self.weights["convention_keeps"][convention].astype(np.float64)
        kept: NDArray[np.float64] = probabilities @ (1 / (1 + np.exp(-keeps)))
        return kept

    def _first_layer(
        self,
        dense: NDArray[np.float32],
        part: slice,
        vectors: NDArray[np.float32],
        paths: NDArray[np.float32],
        containers: NDArray[np.intp],
        h: NDArray[np.float32],
    ) -> None:
        """Numbers, names of the containers, and names of all elements around, of some blocks, into `h`."""
        multiply(_clip(dense, part, self._lowest, self._highest), self._dense_weights, out=h)
        containers = containers[part]
        around = vectors.take(containers.ravel(), axis=0).reshape(len(h), -1)
        cut = around.shape[1]
        of_names = multiply(around, self._name_weights[:cut])
        of_paths = multiply(paths.take(containers[:, 0], axis=0), self._name_weights[cut:])
        _add_three_and_rectify(h, of_names, of_paths, self._in_bias)

    def _page_vector(self, name: str, pooled: NDArray[np.float32]) -> NDArray[np.float32]:
        page: NDArray[np.float32] = pooled @ self.weights[f"{name}_weights"] + self.weights[f"{name}_bias"]
        np.maximum(page, 0, out=page)  # ReLU
        return page


class _Activations:
    """The hidden vectors of a page's blocks, padded with zeros, where convolutions look beyond the page.

    Attributes:
        count: of the blocks, at least one.
    """

    def __init__(self, count: int, hidden: int, dilations: tuple[int, ...]) -> None:
        self.count, self._padding = count, max(dilations, default=0)
        chunk = -(-count // -(-count // _BLOCKS_AT_ONCE))  # all about the same
        at_once = max(1, min(_MOST_ROWS_AT_ONCE, _LARGEST_PRODUCT // hidden**2) // _ROWS_AS_ONE) * _ROWS_AS_ONE
        self._tiles = -(-chunk // at_once)
        self._at_once = _round_up(-(-chunk // self._tiles))
        self._chunk = self._tiles * self._at_once
        shape = (self._padding + -(-count // self._chunk) * self._chunk + self._padding, hidden)
        self._now, self._next = np.zeros(shape, np.float32), np.zeros(shape if dilations else (0, hidden), np.float32)
        self._products = np.empty((3, self._chunk, hidden), np.float32)

    def chunks(self) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """Which blocks, and their vectors, to be changed in place."""
        for start in range(0, self.count, self._chunk):
            part = slice(start, min(start + self._chunk, self.count))
            yield part, self._now[self._padding + part.start : self._padding + part.stop]

    def pool(self) -> NDArray[np.float32]:
        """The mean of all vectors, and their maximum; they are not below 0, as are the zeros behind them."""
        hidden = self._now.shape[1]
        even = self._now[self._padding : self._padding + _round_up(self.count)].reshape(-1, _ROWS_AS_ONE * hidden)
        pooled = np.empty(2 * hidden, np.float32)
        sums, maxima = _pool_in_loops(even) if cython.compiled else (np.add.reduce(even), np.maximum.reduce(even))
        np.add.reduce(sums.reshape(_ROWS_AS_ONE, hidden), out=pooled[:hidden])
        np.maximum.reduce(maxima.reshape(_ROWS_AS_ONE, hidden), out=pooled[hidden:])
        pooled[:hidden] /= self.count
        return pooled

    def convolve(self, dilation: int, kernel: NDArray[np.float32], bias: NDArray[np.float32]) -> None:
        """A residual layer: add to each vector the ReLU of a convolution over it and those `dilation` away from it."""
        hidden, row, size = self._now.shape[1], self._now.strides[0], self._now.itemsize
        shape, strides = (3, self._tiles, self._at_once, hidden), (dilation * row, self._at_once * row, row, size)
        products = self._products.reshape(shape)
        buffer = self._now.data
        for part, h in self.chunks():
            # Three views of the same memory, each in tiles: before, here, behind.
            first = self._padding + part.start
            views = np.ndarray(shape, np.float32, buffer, (first - dilation) * row, strides)
            np.matmul(views, kernel, out=products)
            _add_residual(self._products, bias, h, self._next[first : first + len(h)])
        self._now, self._next = self._next, self._now


@cython.boundscheck(False)
@cython.wraparound(False)
def _clip(
    dense: NDArray[np.float32], part: slice, lowest_of: NDArray[np.float32], highest_of: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The numbers of some blocks, none of them beyond what is usual."""
    if not cython.compiled or not dense.T.flags.c_contiguous:
        x = np.maximum(dense[part], lowest_of)
        return np.minimum(x, highest_of, out=x)
    start: cython.Py_ssize_t = part.start
    count: cython.Py_ssize_t = part.stop - start
    clipped = np.empty((dense.shape[1], count), np.float32)
    rows = cython.declare(cython.const[cython.float][:, ::1], dense.T)
    out: cython.float[:, ::1] = clipped
    lowest = cython.declare(cython.const[cython.float][::1], lowest_of)
    highest = cython.declare(cython.const[cython.float][::1], highest_of)
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    low: cython.float
    high: cython.float
    number: cython.float
    for j in range(out.shape[0]):
        low, high = lowest[j], highest[j]
        for i in range(count):
            number = rows[j, start + i]
            number = number if number > low else low
            out[j, i] = number if number < high else high
    return clipped.T


@cython.boundscheck(False)
@cython.wraparound(False)
def _add_and_rectify(h: NDArray[np.float32], bias_of: NDArray[np.float32]) -> None:
    """Add a vector to each row, then take the ReLU, in place."""
    if not cython.compiled:
        h += bias_of
        np.maximum(h, np.zeros_like(h), out=h)  # three times as fast as with a number
        return
    rows: cython.float[:, ::1] = h
    bias = cython.declare(cython.const[cython.float][::1], bias_of)
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    number: cython.float
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            number = rows[i, j] + bias[j]
            rows[i, j] = number if number > 0 else 0


@cython.boundscheck(False)
@cython.wraparound(False)
def _add_three_and_rectify(
    h: NDArray[np.float32], more_of: NDArray[np.float32], most_of: NDArray[np.float32], bias_of: NDArray[np.float32]
) -> None:
    """Add two more products, and a vector to each row, to those in `h`, then take the ReLU, in place."""
    if not cython.compiled:
        h += more_of
        h += most_of
        _add_and_rectify(h, bias_of)
        return
    rows: cython.float[:, ::1] = h
    more = cython.declare(cython.const[cython.float][:, ::1], more_of)
    most = cython.declare(cython.const[cython.float][:, ::1], most_of)
    bias = cython.declare(cython.const[cython.float][::1], bias_of)
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    number: cython.float
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            number = rows[i, j] + more[i, j]
            number = number + most[i, j]
            number = number + bias[j]
            rows[i, j] = number if number > 0 else 0


@cython.boundscheck(False)
@cython.wraparound(False)
def _add_residual(
    products_of: NDArray[np.float32], bias_of: NDArray[np.float32], h: NDArray[np.float32], out: NDArray[np.float32]
) -> None:
    """What follows a convolution: the sum of its three products and a vector, its ReLU added to what was there.

    Args:
        products_of: of what stands before each block, of the block itself, and of what stands behind it.
        bias_of: the vector that is added to each row.
        h: the rows before the convolution.
        out: where the new ones go.
    """
    if not cython.compiled:
        before, y, behind = products_of[:, : len(h)]
        y += before
        y += behind
        _add_and_rectify(y, bias_of)
        np.add(h, y, out=out)
        return
    products = cython.declare(cython.const[cython.float][:, :, ::1], products_of)
    bias = cython.declare(cython.const[cython.float][::1], bias_of)
    old = cython.declare(cython.const[cython.float][:, ::1], h)
    new: cython.float[:, ::1] = out
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    number: cython.float
    for i in range(old.shape[0]):
        for j in range(old.shape[1]):
            number = products[1, i, j] + products[0, i, j]
            number = number + products[2, i, j]
            number = number + bias[j]
            new[i, j] = old[i, j] + (number if number > 0 else 0)


@cython.boundscheck(False)
@cython.wraparound(False)
def _pool_in_loops(even: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The sums and the maxima of all rows, in their order."""
    sums_of, maxima_of = even[0].copy(), even[0].copy()
    rows = cython.declare(cython.const[cython.float][:, ::1], even)
    sums: cython.float[::1] = sums_of
    maxima: cython.float[::1] = maxima_of
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for i in range(1, rows.shape[0]):
        for j in range(rows.shape[1]):
            sums[j] = sums[j] + rows[i, j]
            maxima[j] = rows[i, j] if rows[i, j] > maxima[j] else maxima[j]
    return sums_of, maxima_of


def _round_up(rows: int) -> int:
    return -(-rows // _ROWS_AS_ONE) * _ROWS_AS_ONE


def multiply(rows: NDArray[Any], matrix: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
    """The product of many rows and a small matrix, in tiles that stay on one thread.

    Args:
        rows: in any layout; if their numbers lie column by column they are not copied for that.
        matrix: by which all are multiplied.
        out: where the product goes, if there is a place for it already, row by row.
    """
    inner, columns = matrix.shape
    at_once = max(1, min(_MOST_ROWS_AT_ONCE, _LARGEST_PRODUCT // (inner * columns)))
    product = np.empty((len(rows), columns), rows.dtype) if out is None else out
    even = len(rows) // at_once * at_once
    if even:
        # One more axis: to split one takes no copy, whatever the layout; to reshape all of them might.
        tiles = rows[:even].T.reshape(inner, -1, at_once).transpose(1, 2, 0)
        np.matmul(tiles, matrix, out=product[:even].reshape(-1, at_once, columns))
    if even < len(rows):
        np.matmul(rows[even:], matrix, out=product[even:])
    return product


def softmax(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Logits as probabilities, row by row."""
    powers = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True, initial=-np.inf))
    probabilities: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return probabilities


def path_means(vectors: NDArray[np.float32], jumps: Sequence[NDArray[np.intp]]) -> NDArray[np.float32]:
    """For each element the sum over it and all elements around it, divided by its depth.

    The first element counts in all sums, but not as a step of depth. Each round looks twice as far as the one before,
    so that a chain of any length takes few of them.

    Args:
        vectors: one row an element.
        jumps: as for `BlockNet.forward`.
    """
    sums = vectors.copy()
    depths = np.ones(len(vectors), vectors.dtype)
    sums[0] = depths[0] = 0  # else rounds that look beyond the first element would add it again
    for jump in jumps:
        if cython.compiled:
            _add_further(sums, depths, jump)
        else:
            sums += sums.take(jump, axis=0)
            depths += depths.take(jump)
    if vectors[0].any():  # a document has no names
        sums += vectors[0]
    depths[0] = 1
    sums /= depths[:, None]
    return sums


@cython.boundscheck(False)
@cython.wraparound(False)
def _add_further(sums_of: NDArray[np.float32], depths_of: NDArray[np.float32], jump_of: NDArray[np.intp]) -> None:
    """Add to each element what the one further up has; from the last, so that what is added is of the round before."""
    sums: cython.float[:, ::1] = sums_of
    depths: cython.float[::1] = depths_of
    jump = cython.declare(cython.const[cython.Py_ssize_t][::1], jump_of)
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for i in range(sums.shape[0] - 1, 0, -1):
        for j in range(sums.shape[1]):
            sums[i, j] += sums[jump[i], j]
        depths[i] += depths[jump[i]]


def _check(net: BlockNet) -> None:
    """Raise ValueError for arrays that do not make a net."""
    weights = net.weights
    for name in ("embedding", "in_weights", "pool1_weights", "out_weights", "type_weights", "convention_vectors"):
        if weights.get(name, net.mean).ndim != 2:
            raise ValueError(f"{name}: missing, or not a table")
    (names, width), (inputs, hidden), features = weights["embedding"].shape, weights["in_weights"].shape, len(net.mean)
    levels = (inputs - features) // max(1, width) - 1
    expected = shapes_of(
        features=features,
        names=names - 1,
        levels=levels,
        width=width,
        hidden=hidden,
        pooled=weights["pool1_weights"].shape[1],
        layers=len(net.dilations),
        labels=weights["out_weights"].shape[1],
        types=weights["type_weights"].shape[1],
        conventions=len(weights["convention_vectors"]),
    )
    if levels < 1 or min(names, width, hidden) < 1:
        raise ValueError("sizes of less than one")
    if not all(1 <= dilation <= _MAX_DILATION for dilation in net.dilations):
        raise ValueError(f"dilations: not from 1 to {_MAX_DILATION}")
    if expected.keys() != weights.keys():
        raise ValueError(f"missing or unknown: {', '.join(sorted(expected.keys() ^ weights.keys()))}")
    measured = {"mean": net.mean, "scale": net.scale}
    for name, array in {**weights, **measured}.items():
        shape = expected.get(name, (features,))
        if array.shape != shape:
            raise ValueError(f"{name}: {array.shape} does not fit, {shape} would")
        if not (np.abs(array) <= (np.finfo(np.float32).max if name in measured else _MAX_WEIGHT)).all():  # nor does NaN
            raise ValueError(f"{name}: not finite, or too large")
    if not (net.scale > 0).all():
        raise ValueError("scale: not above 0")
    if weights["embedding"][0].any():
        raise ValueError("embedding: the unknown name has a vector")
