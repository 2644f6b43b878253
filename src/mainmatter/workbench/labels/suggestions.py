"""What a model suggests for each block, how sure it is, and which page's labels would teach it most.

A score is the model's probability that a block is main matter, shifted as log odds so that its threshold on this page
is 0.5. A block that rules decide against its score counts as fully uncertain. How uncertain a page is: the mean entropy
of its blocks in bits, weighted by words; the share of words that the model and another one disagree on is added to it
(Settles 2009, Active learning literature survey, 3.1 and 3.2).
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.errors import ModelError
from mainmatter.lab.datasets.labels import Label, kind_by_markup
from mainmatter.models.store import last_change, load
from mainmatter.registry import DEFAULT_METHOD, get_method
from mainmatter.text.tokens import count_words
from mainmatter.workbench.choosing import MODELS, model_names, needs_model
from mainmatter.workbench.labels.disagreement import share_of_words

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from mainmatter.records import Document, Extraction
    from mainmatter.workbench.labels.records import PageId

_NEVER = 1e-6  # of a chance, so that its odds are finite
_EVEN = 0.5


@dataclass(frozen=True, slots=True)
class SuggestingModel:
    """A model that suggests labels.

    Attributes:
        name: its name for users: "main", or "models/NAME" for one of the workbench's.
        method: as `get_method` takes it: the same, or the model's path.
        version: changes with each teaching.
    """

    name: str = DEFAULT_METHOD
    method: str = DEFAULT_METHOD
    version: int = 0


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a model suggests for a page.

    Attributes:
        labels: one per block; each says what suggested it.
        scores: one per block: the probability of being main matter; from 0.5 on, it is more likely than not.
        sure: how sure the model is of the page, from 0 to 1: 1 minus its uncertainty.
        differs: the share of words that the model and the shipped one disagree on.
        alike: one number per block: the same for blocks with the same structure; see `number_alike`.
    """

    labels: list[Label]
    scores: list[float]
    sure: float
    differs: float
    alike: list[int]


def newest_model(models: Path) -> SuggestingModel:
    """The model of a workbench that was taught last; the default method if there is none.

    Args:
        models: the folder of the workbench's models.
    """
    written = {name: last_change(models / name.removeprefix(MODELS)) or 0 for name in model_names(models)}
    for name in sorted(written, key=lambda name: -written[name]):
        path = models / name.removeprefix(MODELS)
        try:
            if not needs_model(load(path).method):
                return SuggestingModel(name, str(path), written[name])
        except ModelError:  # damaged: Teach tells of it
            continue
    return SuggestingModel()


def suggest(document: Document, model: SuggestingModel, shipped: str = DEFAULT_METHOD) -> Suggestion:
    """What a model suggests for the blocks of a page.

    Args:
        document: the page.
        model: the model.
        shipped: the model that it is compared with.
    """
    extraction = get_method(model.method).extract(document)
    chances = chances_of(extraction)
    words = np.array([max(1, count_words(" ".join(text.split()))[0]) for text in document.texts], np.float64)
    differs = 0.0
    if model.method != shipped:
        before = get_method(shipped).extract(document)
        differs = share_of_words({"taught": extraction.kept, "shipped": before.kept}, words)
    return Suggestion(
        labels_of(extraction, model.name),
        chances.round(3).tolist(),
        1 - float((entropy(chances) * words).sum() / max(1.0, words.sum())),
        differs,
        number_alike(document),
    )


def number_alike(document: Document) -> list[int]:
    """A number for each block, the same for those whose elements have the same tags and classes, up to the root.

    So all authors of a thread's posts share one, and all their dates another. Classes and ids with digits do not count:
    they number the posts. Without markup, no block is like another.
    """
    if not document.has_markup:
        return list(range(len(document)))
    containers = document.containers
    numbers: dict[tuple[int, int, str], int] = {}
    of_element: list[int] = []
    elements = zip(containers.parents.tolist(), containers.tags.tolist(), document.names, strict=True)
    for i, (parent, tag, name) in enumerate(elements):
        classes = " ".join(word for word in name.split() if not any(map(str.isdigit, word)))
        of_element.append(numbers.setdefault((of_element[parent] if i else -1, tag, classes), len(numbers)))
    return [of_element[holder] for holder in containers.holders.tolist()]


def labels_of(extraction: Extraction, suggested_by: str) -> list[Label]:
    """A method's decisions, as labels that say what suggested them."""
    return [
        Label(bool(kept), "comment" if label == "comment" else kind_by_markup(kind), suggested_by=suggested_by)
        for kept, label, kind in zip(extraction.kept, extraction.labels, extraction.kinds, strict=True)
    ]


def chances_of(extraction: Extraction) -> NDArray[np.float64]:
    """Each block's probability of being main matter, shifted so that the threshold is 0.5; see above.

    A method without a threshold between 0 and 1 gives no probabilities: it counts as sure of everything.
    """
    if extraction.threshold is None or not 0 < extraction.threshold < 1:
        return extraction.kept.astype(np.float64)
    chances = _sigmoid(_log_odds(extraction.scores) - _log_odds(np.array(extraction.threshold)))
    return np.where(extraction.kept, np.maximum(chances, _EVEN), np.minimum(chances, _EVEN))


def entropy(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """The entropy of probabilities, in bits: from 0 (certain) to 1 (nothing is known)."""
    p = np.clip(chances, _NEVER, 1 - _NEVER)
    bits: NDArray[np.float64] = -(p * np.log2(p) + (1 - p) * np.log2(1 - p))
    return bits


def mix_sites(pages: Iterable[tuple[PageId, str]], last: str = "") -> list[PageId]:
    """Pages ordered so that no site comes twice in a row while others wait.

    Args:
        pages: each with its site, the most useful one first.
        last: the site of the page that was labelled last.
    """
    waiting: dict[str, deque[PageId]] = defaultdict(deque)
    for page, site in pages:
        waiting[site].append(page)
    turn = deque(sorted(waiting, key=lambda site: site == last))  # stable: otherwise in the order of their best pages
    mixed = []
    while turn:
        site = turn.popleft()
        mixed.append(waiting[site].popleft())
        if waiting[site]:
            turn.append(site)
    return mixed


def _log_odds(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    p = np.clip(chances, _NEVER, 1 - _NEVER)
    odds: NDArray[np.float64] = np.log(p / (1 - p))
    return odds


def _sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    chances: NDArray[np.float64] = 1 / (1 + np.exp(-values))
    return chances
