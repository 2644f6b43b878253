"""One collection in several indexes: all text of its pages, what each method keeps of it, and the gold texts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from mainmatter.clean import clean, read
from mainmatter.corpus.search import Searcher, index_rows
from mainmatter.papers.template.method import Template
from mainmatter.papers.template.reproduce_retrieval_queries import PageWords, draw_queries, gold_text, page_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.reproduction import Run
    from mainmatter.papers.template.reproduce_retrieval_queries import Criterion, Query

ALL_TEXT = "all text"
GOLD = "gold"
METHODS = ("density", "main")
VARIANTS = (ALL_TEXT, "template", *METHODS, GOLD)
DEPTHS = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class Answers:
    """What one index answers to a list of queries.

    Attributes:
        top: for each query the ids of the ten best pages.
        matching: for each query how many pages match at all.
    """

    top: list[list[str]]
    matching: list[int]

    def relevant_at(self, depth: int, queries: Sequence[Query], criterion: Criterion) -> list[int]:
        """For each query, how many of the first pages answer it."""
        return [
            len(query.relevant[criterion].intersection(ids[:depth]))
            for query, ids in zip(queries, self.top, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection, its queries, and what each index answers.

    Attributes:
        name: the dataset's.
        pages: the words of its pages.
        queries: those with template words, by the key True, and the control, by False.
        answers: by variant and the key of the queries.
        words: how many words each index holds.
    """

    name: str
    pages: list[PageWords]
    queries: dict[bool, list[Query]]
    answers: dict[tuple[str, bool], Answers]
    words: dict[str, int]


def search_collection(run: Run, name: str, most: int, seed: int) -> Collection:
    """Clean a collection in all ways, index each, draw queries, and ask them."""
    pages = run.load(name)
    texts = _all_texts(run, name, pages)
    words = [page_words(page, text) for page, text in zip(pages, texts[ALL_TEXT], strict=True)]
    with_template, control = draw_queries(words, most, seed)
    queries = {True: with_template, False: control}
    answers = {}
    for variant in VARIANTS:
        rows = [{"id": page.page.id, "text": text} for page, text in zip(pages, texts[variant], strict=True)]
        with TemporaryDirectory() as folder:
            index = Path(folder) / "index"
            index_rows(rows, index)
            searcher = Searcher(index)
            for key, of_key in queries.items():
                answers[variant, key] = _ask(searcher, of_key)
    sizes = {variant: sum(len(text.split()) for text in of_variant) for variant, of_variant in texts.items()}
    return Collection(name, words, queries, answers, sizes)


def _all_texts(run: Run, name: str, pages: Sequence[GoldPage]) -> dict[str, list[str]]:
    """The texts of a collection's pages, by variant."""
    both = run.map(f"{name}: cleaning", _clean_page, pages)
    template = Template().fit(page.page for page in pages)
    texts = {variant: [of_page[variant] for of_page in both] for variant in (ALL_TEXT, *METHODS)}
    texts["template"] = [clean(page.page, method=template).text for page in pages]
    texts[GOLD] = [gold_text(page) for page in pages]
    return texts


def _clean_page(page: GoldPage) -> dict[str, str]:
    texts = {method: clean(page.page, method=method).text for method in METHODS}
    return texts | {ALL_TEXT: "\n".join(read(page.page).texts)}


def _ask(searcher: Searcher, queries: Sequence[Query]) -> Answers:
    asked = [str(query) for query in queries]
    return Answers([searcher.rank(query, max(DEPTHS)) for query in asked], [searcher.count(query) for query in asked])
