"""The gold standards that we know by name, as data: what each is, how many pages, and what it may be used for.

They are not part of the package. `mainmatter evaluate --data DIR` looks for `NAME.parquet` in a folder.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dataset:
    """A gold standard.

    Attributes:
        name: its name, which is the name of its file.
        pages: how many pages it has.
        description: what it is.
        licence: the licence of the data.
        trains: whether weights that ship may be trained on it; otherwise it is for tests only.
    """

    name: str
    pages: int
    description: str
    licence: str
    trains: bool


_ALL = (
    Dataset("cleaneval-dev", 57, "CleanEval 2007, development set", "free for research", trains=True),
    Dataset("cleaneval-final", 674, "CleanEval 2007, test set", "free for research", trains=False),
    Dataset("cleanportaleval", 70, "CleanEval's format, four portals", "free for research", trains=False),
    Dataset("daniel-a", 698, "DAnIEL: Chinese, English, Greek, Polish, Russian news", "research", trains=False),
    Dataset("dragnet", 1381, "Dragnet 2012", "AGPL v3", trains=False),
    Dataset("l3s-gn1", 559, "L3S-GN1 2010: news", "research use only", trains=False),
    Dataset("readability", 130, "test pages of Mozilla's Readability", "Apache 2.0", trains=True),
    Dataset("trafilatura-eval-a", 497, "trafilatura's evaluation: snippets, many languages", "Apache 2.0", trains=True),
    Dataset("wcxb-dev", 1497, "WCXB 2026, development split: seven page types", "CC BY 4.0", trains=True),
)

DATASETS: dict[str, Dataset] = {dataset.name: dataset for dataset in _ALL}
