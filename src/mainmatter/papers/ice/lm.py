"""`ice-lm`: blocks whose language is near that of title, headings and keywords (ICE 3.4).

The page's own title, headings and keywords make a query; each block is a document; what is kept is what a search for
that query would find, by unigram language models, smoothed by the text around them, and their Kullback-Leibler
divergence.

Texts are arrays of word numbers. The collection is everything together: all short texts and the query, so that no word
has the probability 0 and every divergence is finite. With c(w; d) the count of a word in a text, |d| the text's words
and |d|u its different words (Zhai & Lafferty 2004, table I):

    absolute    p(w | d) = max(c(w; d) - delta, 0) / |d|  +  a_d p(w | C)     a_d = delta |d|u / |d|
    dirichlet   p(w | d) = c(w; d) / (|d| + mu)           +  a_d p(w | C)     a_d = mu / (|d| + mu)

An empty text has a_d = 1 in both: it is the collection.

    "query"     KL(q || d) = sum over w of p(w | q) log(p(w | q) / p(w | d)), as retrieval ranks documents
    "element"   KL(d || q), the same the other way round

Sums run over all words of the page, but for words that are not in a text p(w | d) = a_d p(w | C), so one sum over the
page and one over each text's own words are enough: all texts of a page take time linear in its words.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from mainmatter.errors import InputError, ModelError
from mainmatter.html.declared import text_of, tidy
from mainmatter.method import LazyReasons, Trainable, be_silent, check_parameters, need_some
from mainmatter.records import Document, Extraction, Kind
from mainmatter.text.tokens import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from mainmatter.html.parse import Tree
    from mainmatter.method import Example


# The models

Smoothing = Literal["absolute", "dirichlet"]
Direction = Literal["query", "element"]


@dataclass(frozen=True, slots=True)
class Smoother:
    """How a text's model is mixed with the collection's.

    Attributes:
        kind: "absolute" or "dirichlet".
        delta: what absolute discounting takes from each count, above 0 and at most 1.
        mu: how many words of the collection Dirichlet smoothing adds to a text, above 0.
    """

    kind: Smoothing = "absolute"
    delta: float = 0.7
    mu: float = 100.0

    def share(self, lengths: NDArray[np.float64], types: NDArray[np.float64]) -> NDArray[np.float64]:
        """The collection's share of each text's model, a_d."""
        if self.kind == "dirichlet":
            return self.mu / (lengths + self.mu)
        return np.where(lengths > 0, self.delta * types / np.maximum(lengths, 1), 1.0)

    def own(self, counts: NDArray[np.float64], lengths: NDArray[np.float64]) -> NDArray[np.float64]:
        """What a text itself gives to words that it has, counted `counts` times in a text of `lengths` words."""
        if self.kind == "dirichlet":
            return counts / (lengths + self.mu)
        return np.maximum(counts - self.delta, 0) / np.maximum(lengths, 1)


def divergences(
    words: NDArray[np.intp],
    texts: NDArray[np.intp],
    count: int,
    query: NDArray[np.intp],
    smoother: Smoother,
    direction: Direction = "query",
    query_smoother: Smoother | None = None,
) -> NDArray[np.float64]:
    """The divergence between the query and each text, in nats; never below 0, and finite.

    Args:
        words: the numbers of all words of all texts, from 0.
        texts: for each of them the number of its text, in ascending order.
        count: how many texts there are.
        query: the numbers of the query's words; if empty, the query is the collection.
        smoother: how models are smoothed.
        direction: which of the two divergences.
        query_smoother: how the query's model is smoothed, if not as the others.
    """
    size = int(max(words.max(initial=-1), query.max(initial=-1))) + 1
    if not size:
        return np.zeros(count)
    collection = np.bincount(words, minlength=size).astype(np.float64) + np.bincount(query, minlength=size)
    collection /= collection.sum()
    of_query = _query_model(query, collection, query_smoother or smoother)
    # Each pair of a text and one of its words, with its count.
    pairs, counts = np.unique(texts * size + words, return_counts=True)
    text, word = pairs // size, pairs % size
    lengths = np.bincount(texts, minlength=count).astype(np.float64)
    shares = smoother.share(lengths, np.bincount(text, minlength=count).astype(np.float64))
    background = collection[word]
    unseen = shares[text] * background  # what the word would have if the text had it not
    seen = smoother.own(counts.astype(np.float64), lengths[text]) + unseen
    # A word that only the query has is in the collection; one that nothing has is not a word of the page.
    known = collection > 0
    p, q = collection[known], of_query[known]
    if direction == "query":
        everywhere = (q * np.log(q / p)).sum() - np.log(shares)
        correction = -of_query[word] * np.log(seen / unseen)
    else:
        everywhere = shares * ((p * np.log(p / q)).sum() + np.log(shares))
        correction = seen * np.log(seen / of_query[word]) - unseen * np.log(unseen / of_query[word])
    found = everywhere + np.bincount(text, correction, count)
    positive: NDArray[np.float64] = np.maximum(found, 0.0)  # rounding
    return positive


def _query_model(query: NDArray[np.intp], collection: NDArray[np.float64], smoother: Smoother) -> NDArray[np.float64]:
    counts = np.bincount(query, minlength=len(collection)).astype(np.float64)
    length = np.array([float(len(query))])
    share = smoother.share(length, np.array([float(np.count_nonzero(counts))]))
    return smoother.own(counts, length) + share * collection


# The method

Query = Literal["declared", "page"]

_TITLE = "og:title"
_MOST_METAS = 500  # meta tags that are looked at; more are not there to be read
_MOST_BOLD = 200  # pieces of bold text
_LEAST_SMOOTHING = 1e-6  # less, and floating point has no logarithm for the words that a block lacks


class PageLikeness(NamedTuple):
    """What learning needs of a page, one number a block: divergence, words, and how many of these are main matter."""

    divergences: NDArray[np.float64]
    words: NDArray[np.float64]
    gold: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class QueryModel:
    """How the divergence of a page's blocks from its query is measured; the fields are those of `IceLm`."""

    smoothing: Smoothing = "absolute"
    delta: float = 0.1
    mu: float = 0.3
    query_delta: float = 0.9
    direction: Direction = "element"
    query: Query = "declared"
    keywords: bool = True
    description: bool = False
    bold: bool = False

    def measure(self, document: Document) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The divergence of each block from the query, in nats, and the number of its words."""
        blocks = [words(text) for text in document.columns.texts]
        numbers: dict[str, int] = {}
        page_words = _number(chain.from_iterable(blocks), numbers)
        query = self._query(document, blocks)
        lengths = np.fromiter(map(len, blocks), np.int64, len(blocks))
        found = divergences(
            page_words,
            np.repeat(np.arange(len(blocks)), lengths),
            len(blocks),
            _number(query, numbers),
            Smoother(self.smoothing, self.delta, self.mu),
            self.direction,
            Smoother("absolute", self.query_delta),
        )
        return found, lengths.astype(np.float64)

    def _query(self, document: Document, blocks: list[list[str]]) -> list[str]:
        """The words of title, headings and keywords; of a plain-text dump, those of its headings."""
        if self.query == "page":
            return []  # the model of an empty text is that of the page
        kinds = document.columns.kinds
        query = [word for block, kind in zip(blocks, kinds, strict=True) if kind is Kind.HEADING for word in block]
        if document.has_markup:
            for text in self._declared(document.parsed[0]):
                query += words(text)
        return query

    def _declared(self, tree: Tree) -> list[str]:
        """What the page says beside its text; each value is cut at a length that no honest one has."""
        texts = [text_of(element) for element in islice(tree.iter_elements("title"), 1)]
        metas: dict[str, str] = {}
        for element in islice(tree.iter_elements("meta"), _MOST_METAS):
            name = (element.attr("name") or element.attr("property") or "").strip().lower()
            if name and name not in metas:
                metas[name] = element.attr("content") or ""
        names = [_TITLE, *(["keywords"] if self.keywords else []), *(["description"] if self.description else [])]
        texts += [tidy(metas[name]) for name in names if name in metas]
        if self.bold:
            elements = chain(tree.iter_elements("b"), tree.iter_elements("strong"))
            texts += [text_of(element) for element in islice(elements, _MOST_BOLD)]
        return texts


def _number(all_words: Iterable[str], numbers: dict[str, int]) -> NDArray[np.intp]:
    """The number of each word; new ones get the next."""
    return np.array([numbers.setdefault(word, len(numbers)) for word in all_words], np.intp)


@dataclass
class IceLm(Trainable[PageLikeness]):
    """Keep the blocks whose language model is near that of the page's title, headings and keywords.

    Args:
        threshold: a block diverges less than this, in nats, 0 or more; None takes the threshold that was learned.
        smoothing: of the blocks' models: "absolute" discounting, or "dirichlet".
        delta: what absolute discounting takes from every count of a block, from 0.000001 to 1.
        mu: how many words of the page Dirichlet smoothing adds to a block, 0.000001 or more.
        query_delta: the same as `delta`, for the query; the higher, the more the query is like the page.
        direction: "element" for KL(block || query), "query" for KL(query || block).
        query: "declared" for title, headings and keywords; "page" for the page as a whole, to compare with.
        keywords: the page's meta keywords are part of the query.
        description: the page's meta description is part of the query.
        bold: bold text is part of the query.
        list_items: blocks keep what they are in the page; if False, what is not a heading is a paragraph.
    """

    threshold: float | None = None
    smoothing: Smoothing = "absolute"
    delta: float = 0.1
    mu: float = 0.3
    query_delta: float = 0.9
    direction: Direction = "element"
    query: Query = "declared"
    keywords: bool = True
    description: bool = False
    bold: bool = False
    list_items: bool = True
    threshold_: float | None = field(default=None, init=False, repr=False)

    name: ClassVar[str] = "ice-lm"
    summary: ClassVar[str] = "blocks whose language is near that of title, headings and keywords (ICE 3.4)"
    # "All LMs are constructed using absolute discount smoothing": one for all; 0.7 is what Zhai & Lafferty found best.
    presets: ClassVar[dict[str, dict[str, Any]]] = {"paper": {"delta": 0.7, "query_delta": 0.7, "list_items": False}}
    learned_with: ClassVar[frozenset[str]] = frozenset(
        ("smoothing", "delta", "mu", "query_delta", "direction", "query", "keywords", "description", "bold")
    )

    def __post_init__(self) -> None:
        check_parameters(self.name, type(self), self.parameters)
        if self.smoothing not in ("absolute", "dirichlet"):
            raise InputError(f"ice-lm: smoothing must be absolute or dirichlet, not {self.smoothing!r}")
        if self.direction not in ("element", "query"):
            raise InputError(f"ice-lm: direction must be element or query, not {self.direction!r}")
        if self.query not in ("declared", "page"):
            raise InputError(f"ice-lm: query must be declared or page, not {self.query!r}")
        for name, value in (("delta", self.delta), ("query_delta", self.query_delta)):
            if not _LEAST_SMOOTHING <= value <= 1:
                raise InputError(f"ice-lm: {name} must be from 0.000001 to 1, not {value}")
        if not self.mu >= _LEAST_SMOOTHING:
            raise InputError(f"ice-lm: mu must be at least 0.000001, not {self.mu}")
        if self.threshold is not None and not self.threshold >= 0:
            raise InputError(f"ice-lm: threshold must be None, or at least 0, not {self.threshold}")

    @property
    def model(self) -> QueryModel:
        """How divergences are measured."""
        return QueryModel(**{each.name: getattr(self, each.name) for each in fields(QueryModel)})

    def weights(self) -> str:
        """The shipped model of the default, or that of the preset "paper"."""
        paper = {name: value for name, value in self.presets["paper"].items() if name in self.learned_with}
        return f"{self.name}-paper" if paper.items() <= self.parameters.items() else self.name

    def extract(self, document: Document) -> Extraction:
        """Keep what diverges less than the threshold. A block without words has no model, and is dropped.

        The score is 1 for a block that is the query's image and 1/2 at the threshold.
        """
        threshold = self.threshold_ if self.threshold is None else self.threshold
        if threshold is None:
            raise ModelError("ice-lm has learned no threshold yet: train it, load a model, or set threshold")
        found, lengths = self.model.measure(document)
        has_words = lengths > 0
        return Extraction(
            document,
            self.name,
            scores=np.where(has_words, threshold / np.maximum(threshold + found, 1e-12), 0.0),
            kept=has_words & (found < threshold),
            kinds=self._kinds(document),
            reasons=_DivergenceReasons(found, has_words, threshold),
            threshold=0.5,  # the score of what diverges as much as the threshold
        )

    def _kinds(self, document: Document) -> Sequence[Kind]:
        kinds = document.columns.kinds
        if self.list_items:
            return kinds
        return [kind if kind is Kind.HEADING else Kind.PARAGRAPH for kind in kinds]

    def observe(self, example: Example) -> PageLikeness:
        """Measure a page's blocks."""
        found, lengths = self.model.measure(example.document)
        return PageLikeness(found, lengths, lengths * example.shares)

    def learn(self, observations: Sequence[PageLikeness], report: Callable[[str], object] = be_silent) -> Self:
        """Find the threshold with the highest mean F1 of words over the pages."""
        need_some(observations, self.name)
        self.threshold_, mean = _best_threshold(observations)
        report(f"threshold {self.threshold_:.3f}: mean F1 of words {mean:.3f} on {len(observations)} pages")
        return self

    def facts_and_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The threshold is all that is learned."""
        return {"threshold": self.threshold_}, {}

    def restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:  # noqa: ARG002 - there are none
        """Take over a threshold."""
        threshold = float(facts["threshold"])
        if not (np.isfinite(threshold) and threshold >= 0):
            raise ValueError(f"threshold is {threshold}")
        self.threshold_ = threshold


def _best_threshold(observations: Sequence[PageLikeness]) -> tuple[float, float]:
    """The threshold with the highest mean F1, and that mean.

    As the threshold rises over a block's divergence, the F1 of its page changes and that of all others stays, so all
    thresholds that make a difference are compared in one sorted pass over all changes.
    """
    places, changes, start = [], [], 0.0
    for page in observations:
        has_words = page.words > 0
        order = np.argsort(page.divergences[has_words], kind="stable")
        kept = np.cumsum(page.words[has_words][order])
        right = np.cumsum(page.gold[has_words][order])
        wanted = float(right[-1]) if len(right) else 0.0
        f1 = np.concatenate([[0.0 if wanted else 1.0], 2 * right / (kept + wanted)])
        start += f1[0]
        places.append(page.divergences[has_words][order])
        changes.append(np.diff(f1))
    place = np.concatenate(places)
    order = np.argsort(place, kind="stable")
    place = place[order]
    total = np.concatenate([[start], start + np.cumsum(np.concatenate(changes)[order])])
    # A threshold lies between two different divergences, below all, or above all.
    edges = np.concatenate([[0.0], place, [place[-1] + 1 if len(place) else 1.0]])
    possible = np.flatnonzero(edges[:-1] < edges[1:])
    best = int(possible[total[possible].argmax()])
    return float(edges[best] + edges[best + 1]) / 2, float(total[best]) / len(observations)


@dataclass(frozen=True, slots=True, eq=False)
class _DivergenceReasons(LazyReasons):
    """How far each block is from the query, told when read."""

    divergences: NDArray[np.float64]
    has_words: NDArray[np.bool_]
    threshold: float

    def __len__(self) -> int:
        return len(self.divergences)

    def reason(self, index: int) -> str:
        if not self.has_words[index]:
            return "no words to compare with title, headings and keywords"
        found = self.divergences[index]
        compared = f"below the threshold {self.threshold:.2f}"
        if not found < self.threshold:
            compared = f"not {compared}"
        return f"diverges by {found:.2f} from title, headings and keywords, {compared}"
