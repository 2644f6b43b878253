"""Pages for rehearsal: a model that learns more sees them again, so that it does not forget what it knew.

A net that learns from a few new pages alone gets worse on all others (McCloskey & Cohen 1989, Catastrophic
interference). What helps is to mix the new pages with some of the old ones (Robins 1995, Catastrophic forgetting,
rehearsal and pseudorehearsal, section 3). So the model that ships has a file beside it with what it saw of some pages:
arrays of numbers, no text, and of names only those words that its vocabulary has.

The first of the pages are learned from again (`LEARNED_AGAIN`); by the others, `teach` checks how much was forgotten.
"""

from __future__ import annotations

import zlib
from io import BytesIO
from random import Random
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from mainmatter.errors import ModelError
from mainmatter.files import write_whole
from mainmatter.main.examples import ObservedPage
from mainmatter.main.names import FIRST_WORD
from mainmatter.main.net import multiply, softmax
from mainmatter.main.training import NetExample, NetInput, Pass, pack
from mainmatter.models.store import check_shipped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from mainmatter.main.method import Main
    from mainmatter.main.names import Vocabulary

REHEARSAL = "rehearsal.npz"  # in the folder of a model
LEARNED_AGAIN, _CHECKED = 120, 60  # of its pages
_FEWEST_BLOCKS, _MOST_BLOCKS = 15, 220
_STEPS = 32  # numbers are kept in steps of 1/32, in a third of the space: more than blocks differ by
_HALF = 0.5
# The columns of a net's example that have one row a block.
_OF_BLOCKS: dict[str, tuple[Callable[[NetExample], NDArray[Any]], type]] = {
    "dense": (lambda example: np.round(example.inputs.dense * _STEPS) / _STEPS, np.float16),
    "containers": (lambda example: example.inputs.containers, np.uint16),
    "shares": (lambda example: example.shares, np.float16),
    "words": (lambda example: example.words, np.uint16),
    "labels": (lambda example: example.labels, np.int8),
}


def choose_pages(pages: Sequence[ObservedPage]) -> list[ObservedPage]:
    """Some pages at random, one of each site, neither very short nor long: as many as a rehearsal takes."""
    pages = Random(0).sample(list(pages), len(pages))  # no secret
    suited = (page for page in pages if not page.is_dump and _FEWEST_BLOCKS <= len(page.example.shares) <= _MOST_BLOCKS)
    return list({page.site: page for page in suited}.values())[: LEARNED_AGAIN + _CHECKED]


def save_rehearsal(pages: Sequence[ObservedPage], vocabulary: Vocabulary, file: Path) -> int:
    """Write what a net saw of pages; gives the size in bytes.

    Args:
        pages: with markup, each with fewer than 65,536 blocks, elements, and words in a block.
        vocabulary: the words that are kept of names.
        file: where.
    """
    arrays: dict[str, NDArray[Any]] = {
        "blocks": np.array([len(page.example.shares) for page in pages]),
        "dump_blocks": np.array([len(page.dump.shares) for page in pages]),
        "elements": np.array([len(page.names) for page in pages]),
        "page_types": np.array([page.example.page_type for page in pages], np.int8),
        "sites": np.unique([page.site for page in pages], return_inverse=True)[1].astype(np.uint16),
        "conventions": np.array([page.convention for page in pages]),
        "tags": np.concatenate([page.example.inputs.tokens for page in pages]).astype(np.uint16),
        "parents": np.concatenate([page.example.inputs.parents for page in pages]).astype(np.uint16),
    }
    for prefix, examples in (("", [page.example for page in pages]), ("dump_", [page.dump for page in pages])):
        for name, (take, kind) in _OF_BLOCKS.items():
            column: NDArray[Any] = np.concatenate([take(example) for example in examples]).astype(kind)
            arrays[prefix + name] = np.ascontiguousarray(column.T)  # like stands beside like, which packs better
    meanings = [vocabulary.numbers_of(name) for page in pages for name in page.names]
    arrays["name_sizes"] = np.array(list(map(len, meanings)), np.uint8)
    used, numbers = np.unique([number for each in meanings for number in each], return_inverse=True)
    arrays["name_words"] = numbers.astype(np.uint16)
    arrays["words_used"] = np.array([vocabulary.words[number - FIRST_WORD] for number in used])
    buffer = BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    write_whole(file, buffer.getvalue())
    return buffer.tell()


def load_rehearsal(file: Path) -> list[ObservedPage]:
    """What a net saw of pages.

    Raises:
        ModelError: the file is damaged, or ships and is not the released one.
    """
    try:
        data = file.read_bytes()
        check_shipped(file, data)
        with np.load(BytesIO(data), allow_pickle=False) as found:
            return _to_pages(dict(found))
    except (BadZipFile, EOFError, IndexError, KeyError, OSError, ValueError, zlib.error) as error:
        raise ModelError(f"{file}: damaged: {error}") from error


def _to_pages(arrays: dict[str, NDArray[Any]]) -> list[ObservedPage]:
    def by_page(name: str, counts: str) -> list[NDArray[Any]]:
        return np.split(arrays[name], np.cumsum(arrays[counts])[:-1])

    words = np.split(arrays["words_used"][arrays["name_words"]], np.cumsum(arrays["name_sizes"])[:-1])
    starts = np.cumsum([0, *arrays["elements"]])
    pages = []
    for number, (tags, parents) in enumerate(
        zip(by_page("tags", "elements"), by_page("parents", "elements"), strict=True)
    ):
        inputs = {"": (tags, parents), "dump_": (tags[:0], parents[:1])}  # a dump is one element without a name
        examples = [
            NetExample(
                NetInput(
                    dense=columns["dense"].T.astype(np.float32),
                    tokens=own_tags.astype(np.intp),
                    token_elements=np.arange(len(own_tags)),
                    parents=own_parents.astype(np.intp),
                    containers=np.ascontiguousarray(columns["containers"].T.astype(np.intp)),
                ),
                shares=columns["shares"].astype(np.float32),
                words=columns["words"].astype(np.float32),
                labels=columns["labels"].astype(np.intp),
                page_type=int(arrays["page_types"][number]),
            )
            for prefix, (own_tags, own_parents) in inputs.items()
            for columns in [_columns_of(arrays, prefix, number)]
        ]
        site, convention = f"site {arrays['sites'][number]}", str(arrays["conventions"][number])
        names = [" ".join(each) for each in words[starts[number] : starts[number + 1]]]
        example, dump = examples
        pages.append(ObservedPage(site, names, convention, example, dump, is_dump=False))
    return pages


def _columns_of(arrays: dict[str, NDArray[Any]], prefix: str, number: int) -> dict[str, NDArray[Any]]:
    """What was kept of the blocks of one page."""
    end = int(arrays[f"{prefix}blocks"][: number + 1].sum())
    start = end - int(arrays[f"{prefix}blocks"][number])
    return {name: arrays[prefix + name][..., start:end] for name in _OF_BLOCKS}


def score_known(model: Main, pages: Sequence[ObservedPage]) -> float:
    """How well a model judges pages: the mean F1 of the words in blocks that are rather main matter than not."""
    net, scores = model.net_, []
    for page in pages:
        example = page.number(model.vocabulary_, model.conventions)
        batch = pack([example], net.standardize(example.inputs.dense))
        logits = Pass(net.weights, net.dilations, batch, product=multiply).logits
        kept = (net.keep(softmax(logits), example.convention) > _HALF) * example.words
        right = np.nan_to_num(example.shares)
        scores.append((2 * kept @ right + 1) / (kept.sum() + right @ example.words + 1))
    return float(np.mean(scores))
