"""What compiled loops do, arrays do in pure Python: both give the same numbers, to the last bit.

The loops are Python too, so these tests run whether they are compiled or not.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from mainmatter import Page, read
from mainmatter.html.containers import _find_in_loops, _find_in_rounds, unpack
from mainmatter.main import choice, net
from mainmatter.main.choice import IS_CONTROL, LINK_SHARE
from mainmatter.main.features import COLUMNS, _add_called, _describe_in_loops, _Description
from mainmatter.main.names import CALLED
from mainmatter.records import BYLINE, LABELS, Containers

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "site").rglob("*.html"))
WRITTEN = {
    "one block": "<p>One.",
    "copies": "<title>News: A title</title><h1>A title</h1><nav><a href=a>Home</a><a href=b>News</a></nav>"
    + "<p>Same." * 3,
    "scripts": "<p>漢字かな、テスト。</p><p>한국어 문장.</p><p>𝔘𝔫𝔦 😀!</p><p>Привет, мир: 2024</p>",
    "table": "<table><tr><td>a<td>b<tr><td>c<td>d</table><div><div><p>Deep, <b>deeper</b>.</div><img src=x></div>",
    "form": "<form><label>Name</label><select><option>x</select></form><ul><li>1<li>2<ul><li>3</ul></ul>",
}
PAGES = [*(path.read_bytes() for path in EXAMPLES), *(text.encode() for text in WRITTEN.values())]
page = pytest.mark.parametrize("html", PAGES, ids=[*(path.stem for path in EXAMPLES), *WRITTEN])


def same(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


@page
def test_columns(html: bytes) -> None:
    document = read(Page(html))
    in_loops, in_arrays = np.full((2, len(COLUMNS), len(document)), np.nan, np.float32)
    sizes, around = _describe_in_loops(document, in_loops)
    described = _Description(document, in_arrays)
    different = [COLUMNS[i] for i in range(len(COLUMNS)) if not same(in_loops[i], in_arrays[i])]
    assert different == []
    assert same(sizes, described.sizes)
    assert same(around, described.around)


@page
def test_what_is_inherited(html: bytes) -> None:
    document = read(Page(html))
    containers = document.containers
    bits = np.random.default_rng(1).integers(0, 1 << len(CALLED), len(containers.first))
    rows = np.full((len(COLUMNS) + len(CALLED), len(document)), np.nan, np.float32)
    _add_called(containers, bits, rows)
    inherited = unpack(containers.inherit(bits).take(containers.holders), len(CALLED))
    assert np.array_equal(rows[len(COLUMNS) :], inherited)


@page
def test_containers(html: bytes) -> None:
    outline = read(Page(html)).parsed[1].outline
    holders = np.array(read(Page(html)).parsed[1].holders)
    first, end, parents = (np.array(numbers) for numbers in (outline.first, outline.end, outline.parents))
    tags, no = np.frombuffer(outline.tags, np.uint8), np.zeros(1, np.intp)
    one, other = (
        find(first, end, parents, tags, holders, pictures=no, text_nodes=no)
        for find in (_find_in_loops, _find_in_rounds)
    )
    for field in fields(Containers):
        if field.name != "jumps":
            assert same(getattr(one, field.name), getattr(other, field.name)), field.name
    assert len(one.jumps) == len(other.jumps)
    assert all(map(same, one.jumps, other.jumps))


@pytest.mark.parametrize("dial", [0.0, 0.2, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("count", [1, 2, 50])
def test_choice(dial: float, count: int) -> None:
    rng = np.random.default_rng(count)
    probabilities, sizes = rng.random(count) ** 3, rng.integers(1, 900, count).astype(float)
    probabilities[-1] = 0
    order = np.argsort(-probabilities, kind="stable")
    beta = 1.4
    beta_squared = min(beta * dial / max(1 - dial, 1e-12), choice._MAX_BETA) ** 2
    in_loops = choice._choose_in_loops(probabilities, sizes, order, dial, beta, beta_squared)
    in_arrays = choice._choose_in_arrays(probabilities, sizes, order, dial, beta, beta_squared)
    assert same(in_loops.kept, in_arrays.kept)
    assert same(in_loops.dials, in_arrays.dials)
    assert (in_loops.expected, in_loops.threshold) == (in_arrays.expected, in_arrays.threshold)


@pytest.mark.parametrize("has_markup", [True, False])
def test_labels(has_markup: bool) -> None:
    rng = np.random.default_rng(3)
    probabilities = rng.dirichlet(np.full(len(LABELS), 0.4), 300)
    dense = np.zeros((300, len(COLUMNS)), np.float32)
    dense[:, IS_CONTROL], dense[:, LINK_SHARE] = rng.random(300) < 0.2, rng.random(300)
    given = dense if has_markup else None
    assert same(choice._label_in_loops(probabilities, given), choice._label_in_arrays(probabilities, given))
    only_bylines = np.eye(len(LABELS))[[BYLINE, BYLINE]]
    assert same(choice._label_in_loops(only_bylines, None), choice._label_in_arrays(only_bylines, None))


def test_pools() -> None:
    rows = np.random.default_rng(4).random((9, 8 * 64), np.float32)
    sums, maxima = net._pool_in_loops(rows)
    assert same(sums, np.add.reduce(rows))
    assert same(maxima, np.maximum.reduce(rows))
