"""`main`: our own method, the default: a small net that looks at each block, its neighbours, and the page as a whole.

It learns from all the signals that the papers found (main/context.py) and from what pages call their elements
(main/names.py), but from no word, so that what it learned holds in every language. In three steps:

    describe(document) -> what each block looks like, as arrays
    judge(described)   -> how likely each block is main matter or a reader's comment, and what kind of page this is
    best_choice(...)   -> the blocks that promise the highest F on this page (main/expected.py)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from mainmatter.errors import InputError
from mainmatter.main.called import CALLED, bits_of
from mainmatter.main.context import COLUMNS, LEVELS, describe_blocks
from mainmatter.main.controls import Comments, apply_controls, check_controls, tell_controls
from mainmatter.main.dumps import BETA, judge_dump
from mainmatter.main.examples import Augmenter
from mainmatter.main.expected import Choice, best_choice
from mainmatter.main.names import COUNT, FIRST_STEM, STEMS, TAGS, stems_of
from mainmatter.main.net import BlockNet
from mainmatter.main.signals import FAMILIES, Described, SignalReasons, leave_out
from mainmatter.main.site_knowledge import ReasonsAndSite, SiteKnowledge, know_site, load_templates
from mainmatter.main.training import LossWeights, NetExample, NetInput, TrainingConfig, train_net
from mainmatter.main.vectors import VectorCache
from mainmatter.method import Trainable, be_silent, need_some
from mainmatter.papers.ice.heuristic import IceHeuristic
from mainmatter.records import Extraction
from mainmatter.text.tokens import words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mainmatter.main.context import PageArrays
    from mainmatter.main.net import NetOutput
    from mainmatter.method import Example
    from mainmatter.records import Document

PAGE_TYPES = ("article", "documentation", "service", "forum", "product", "listing", "collection")

_COMMENT = FIRST_STEM + STEMS.index("comment")
_FORUM = "forum"
# How much recall counts beside precision, by type of page: nets are too sure of running text and not sure enough of
# lists of things. On sites that were left out of training 0.5 and 0.7 were equally good for running text; between the
# two, figures of test sets were in view (docs/results/main.md says what that is worth).
_BETA_OF_TYPE = {"service": 1.0, "product": 1.4, "listing": 1.4, "collection": 1.4}
_BETA = 0.5
_ALL_COLUMNS = (*COLUMNS, *CALLED)
_LINK_SHARE, _IN_TITLE, _IS_HEADING, _HAS_TITLE, _CALLED_COMMENT = map(
    _ALL_COLUMNS.index, ("link_share", "in_title", "kind_heading", "page_has_title", "called_comment")
)
# Of a probability, to be a comment. Training sets hardly tell the second from 0.5: they have few comments, and some
# keep them. It was chosen with dragnet's figures in view, whose gold texts have none.
_ENOUGH, _ENOUGH_IF_CALLED_SO = 0.5, 0.1
_MOST_OF_PAGE = 0.7
_CONFIG = TrainingConfig(
    names=COUNT - 1, types=len(PAGE_TYPES), hidden=40, loss_weights=LossWeights(comment=0.5, page_type=0.3)
)
# No page that people read has as many blocks. Each takes two kilobytes while the net looks at it, so a page of some
# megabytes could take all memory; beyond this, the rules of `ice-heuristic` decide, which need next to none.
_MOST_BLOCKS = 100_000
_FEWEST_STEPS = 8  # of an epoch, where there are as many pages
_RATE_OF_MORE = 1e-3  # of learning, for a net that knows much already
# What the numbers of a net stand for: another version's columns or names would be other numbers.
_SEEN = {"columns": list(_ALL_COLUMNS), "tags": list(TAGS), "stems": list(STEMS), "page_types": list(PAGE_TYPES)}
_LINKED = 0.9  # a block with a larger share of links is no comment, but a link that stands among them


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the net says about a page.

    Attributes:
        chances: for each block, the probability that it is main matter.
        comment_chances: for each block, the probability that it is a reader's comment.
        page_type: what kind of page it is.
    """

    chances: NDArray[np.float64]
    comment_chances: NDArray[np.float64]
    page_type: str


@dataclass(eq=False)
class Main(Trainable[NetExample]):
    """Keep the blocks that promise the highest F; works in any language and on any kind of page.

    Args:
        dial: from 0, only what is surest, to 1, all text; 0.5 weighs precision and recall alike.
        comments: readers' comments are dropped, kept in their place, or kept and marked.
        headings: whether headings are kept.
        tables: whether rows of tables are kept.
        captions: whether captions are kept.
        code: whether code is kept.
        without: signals to judge without, with "+" between, such as "names+capitals", for finding out what they are
            worth to a net that was trained with all of them.
        site_templates: the folder of counts of what sites repeat, as `template` saves it; "" for none.
        epochs: how often training looks at each page.
        seed: of all that is random in training.
        start: the model that training goes on from, "main" for the one that ships; "" starts from nothing.
    """

    dial: float = 0.5
    comments: Comments = "drop"
    headings: bool = True
    tables: bool = True
    captions: bool = True
    code: bool = True
    without: str = ""
    site_templates: str = ""
    epochs: int = 8
    seed: int = 0
    start: str = ""

    net_: BlockNet = field(init=False, repr=False)
    vectors_: VectorCache = field(init=False, repr=False)
    knows_dumps_: bool = field(init=False, repr=False, default=False)

    name: ClassVar[str] = "main"
    summary: ClassVar[str] = "our own: a small net over all signals of the papers, and the page as a whole"
    learns_from_snippets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_controls(self.name, dial=self.dial, comments=self.comments)
        unknown = [family for family in self._left_out() if family not in FAMILIES]
        if unknown:
            raise InputError(f"method 'main': no signal {unknown[0]!r}; there are {', '.join(FAMILIES)}")
        for name, least in (("epochs", 1), ("seed", 0)):
            if type(getattr(self, name)) is not int or getattr(self, name) < least:
                raise InputError(f"method 'main': {name} is a whole number from {least}, not {getattr(self, name)!r}")
        if self.site_templates:
            load_templates(self.site_templates)  # complains, if need be

    def extract(self, document: Document) -> Extraction:
        """Keep the blocks that promise the highest F; of a page with very many, those that `ice-heuristic` keeps."""
        if len(document) > _MOST_BLOCKS:
            return replace(IceHeuristic().extract(document), method=self.name)
        if not document.has_markup and not self.knows_dumps_:
            return self._extract_dump(document)
        described = self.describe(document)
        judged = self.judge(described)
        site = self._site_of(document)
        if site is not None:
            judged = replace(judged, chances=site.change(judged.chances))
        is_comment = _comments(judged, described, document.columns.controls)
        chances = np.where(is_comment, 0, judged.chances)
        choice = best_choice(chances, described.arrays.sizes, self.dial, _BETA_OF_TYPE.get(judged.page_type, _BETA))
        headline = _headline(described) if "title" not in self._left_out() else None
        if headline is not None and site is not None and site.is_repeated(headline):
            headline = None
        if headline is not None and self.dial > 0:
            choice.kept[headline] = True
        reasons: Sequence[str] = SignalReasons(self, document, judged.chances, headline)
        if site is not None:
            reasons = ReasonsAndSite(reasons, site.counts, site.pages)
        found = self._decide(document, judged.chances, choice, is_comment, reasons)
        return replace(found, page_type=judged.page_type if len(document) else None)

    def _extract_dump(self, document: Document) -> Extraction:
        """Keep what promises the highest F on a plain-text dump, of which our net knows nothing (main/dumps.py)."""
        self._need_net()
        judged = judge_dump(document)
        site = self._site_of(document)
        if site is not None:
            judged = replace(judged, chances=site.change(judged.chances))
        choice = best_choice(judged.chances, document.lengths.astype(np.float64), self.dial, BETA)
        reasons = judged if site is None else ReasonsAndSite(judged, site.counts, site.pages)
        return self._decide(document, judged.chances, choice, np.zeros(len(document), np.bool_), reasons)

    def _site_of(self, document: Document) -> SiteKnowledge | None:
        return know_site(self.site_templates, document) if self.site_templates else None

    def _decide(
        self,
        document: Document,
        chances: NDArray[np.float64],
        choice: Choice,
        is_comment: NDArray[np.bool_],
        reasons: Sequence[str],
    ) -> Extraction:
        """What is left of a choice when the controls that users have over it are applied."""
        kinds = document.columns.kinds
        # Had comments not been set aside, they might have been kept: so their reasons must tell that they were.
        wanted = choice.kept | is_comment if self.comments == "drop" else choice.kept
        kept = apply_controls(
            wanted,
            kinds,
            is_comment,
            comments=self.comments,
            headings=self.headings,
            tables=self.tables,
            captions=self.captions,
            code=self.code,
        )
        return Extraction(
            document,
            self.name,
            scores=chances,
            kept=kept,
            kinds=kinds,
            reasons=tell_controls(reasons, wanted, kept, kinds, is_comment, comments=self.comments),
            confidence=choice.expected if len(document) else None,
            is_comment=is_comment,
            marks_comments=self.comments == "mark",
        )

    def describe(self, document: Document) -> Described:
        """What each block looks like, and what its containers are called."""
        self._need_net()
        vectors, bits = self.vectors_.of(document.names)
        vectors += self.net_.weights["embedding"].take(document.containers.tags, axis=0)
        described = Described(describe_blocks(document, bits), vectors)
        return leave_out(described, self._left_out(), self.net_.mean) if self.without else described

    def judge(self, described: Described) -> Judgement:
        """How likely each block is main matter, or a comment, and what kind of page this is."""
        output = self._run(described)
        with np.errstate(over="ignore"):  # what is infinitely unlikely has the chance 0
            chances = 1 / (1 + np.exp(-output.logits.T.astype(np.float64)))
        return Judgement(chances[0], chances[1], PAGE_TYPES[int(output.types.argmax())])

    def log_odds(self, described: Described, without: str | None = None) -> NDArray[np.float64]:
        """The log odds of each block to be main matter, also if a family of signals said nothing."""
        if without is not None:
            described = leave_out(described, (without,), self.net_.mean)
        return self._run(described).logits[:, 0].astype(np.float64)

    def observe(self, example: Example) -> NetExample:
        """Take what the net sees of a page, and the labels of its blocks."""
        document, containers = example.document, example.document.containers
        stems = list(map(stems_of, document.names))
        arrays = describe_blocks(document, bits_of(stems))
        names = [(tag, *numbers) for tag, numbers in zip(containers.tags.tolist(), stems, strict=True)]
        page = NetInput(
            dense=np.ascontiguousarray(arrays.dense),
            tokens=np.array([number for numbers in names for number in numbers], np.intp),
            token_elements=np.repeat(np.arange(len(names)), [len(numbers) for numbers in names]),
            parents=containers.parents,
            containers=np.ascontiguousarray(arrays.around),
        )
        shares = example.shares.astype(np.float32)
        return NetExample(
            inputs=page,
            shares=shares,
            words=np.array([len(words(text)) for text in document.columns.texts], np.float32),
            comment=_known_comments(example, _comment_labels(arrays, page, example.page_type)),
            page_type=PAGE_TYPES.index(example.page_type) if example.page_type in PAGE_TYPES else -1,
        )

    def need_extras(self) -> None:
        """Find out, before any work, whether the model to go on from is there.

        Raises:
            ModelError: it is not, or is damaged.
        """
        self._start_net()

    def learn(self, observations: Sequence[NetExample], report: Callable[[str], object] = be_silent) -> Self:
        """Train the net on pages that look a little different each time (main/examples.py).

        Raises:
            InputError: there is no page with a labelled block.
        """
        known = [page for page in observations if not np.isnan(page.shares).all()]
        need_some(known, self.name)
        config = replace(
            _CONFIG,
            epochs=self.epochs,
            learning_rate=_RATE_OF_MORE if self.start else _CONFIG.learning_rate,
            # A few pages make a few steps an epoch, too, or three epochs would teach nothing.
            batch_size=min(_CONFIG.batch_size, max(1, len(known) // _FEWEST_STEPS)),
        )
        start = self._start_net()
        self._use(train_net(known, config, self.seed, augment=Augmenter(known), start=start, report=report))
        # Only a dump has no container but the whole.
        self.knows_dumps_ = any(len(page.inputs.parents) == 1 for page in known)
        return self

    def facts_and_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What the net was trained on: the names of columns, tags and stems, and whether dumps; its weights."""
        self._need_net()
        return _SEEN | {"knows_dumps": self.knows_dumps_}, self.net_.arrays()

    def restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Take over a net that was trained on the same columns, tags and stems."""
        for name, mine in _SEEN.items():
            if facts[name] != mine:
                raise ValueError(f"trained on other {name} than this version knows")
        net = BlockNet.from_arrays(arrays)
        if (net.features, net.names, net.levels) != (len(_ALL_COLUMNS), COUNT - 1, LEVELS + 1):
            raise ValueError("the net does not fit its facts")
        if len(net.weights["type_bias"]) != len(PAGE_TYPES):
            raise ValueError("the net knows other types of pages")
        self.knows_dumps_ = facts.get("knows_dumps") is True
        self._use(net)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "vectors_"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if "net_" in state:
            self._use(state["net_"])

    def _left_out(self) -> tuple[str, ...]:
        return tuple(filter(None, self.without.split("+")))

    def _use(self, net: BlockNet) -> None:
        self.net_ = net
        self.vectors_ = VectorCache(stems_of, net.embed, bits_of)

    def _need_net(self) -> None:
        if not hasattr(self, "net_"):
            raise InputError("method 'main' has not been trained: call fit, load or load_shipped first")

    def _start_net(self) -> BlockNet | None:
        if not self.start:
            return None
        return (Main().load_shipped() if self.start == self.name else Main.load(self.start)).net_

    def _run(self, described: Described) -> NetOutput:
        arrays = described.arrays
        return self.net_.forward(arrays.dense, described.vectors, arrays.containers.ways, arrays.around)


def _headline(described: Described) -> int | None:
    """The heading that says most of the page's title, which readers want whatever the net has learned.

    Gold standards differ: CleanEval's keep it, WCXB's keep it on one page in four, as title and not as text.
    """
    dense = described.arrays.dense
    if not len(dense) or not dense[0, _HAS_TITLE]:
        return None
    in_title = dense[:, _IN_TITLE] * dense[:, _IS_HEADING]
    headline = int(in_title.argmax())
    return headline if in_title[headline] > 0 else None


def _comments(judged: Judgement, described: Described, controls: Sequence[bool]) -> NDArray[np.bool_]:
    """The blocks that are readers' comments; not the buttons and links that stand among them.

    What stands in something that the page calls comments needs less evidence than what does not. A page of nothing but
    comments has them for its main matter.
    """
    chances, dense = judged.comment_chances, described.arrays.dense
    found: NDArray[np.bool_] = chances > _ENOUGH_IF_CALLED_SO
    if not found.any():
        return found
    found &= (chances > _ENOUGH) | (dense[:, _CALLED_COMMENT] > 0)
    found &= ~np.array(controls) & (dense[:, _LINK_SHARE] < _LINKED)
    return found if not found.all() else np.zeros_like(found)


def _known_comments(example: Example, guessed: NDArray[np.float32]) -> NDArray[np.float32]:
    """What annotators call comments; where they said nothing, what the page's names tell."""
    if example.comments is None:
        return guessed
    return np.where(np.isnan(example.comments), guessed, example.comments).astype(np.float32)


def _comment_labels(arrays: PageArrays, page: NetInput, page_type: str | None) -> NDArray[np.float32]:
    """The blocks in what a page calls comments, for learning what comments look like where no name tells.

    A forum's posts are its main matter, whatever it calls them; and what holds the headline, or most of a page that has
    none, is no comment: many a page says in the name of its body whether it has comments.
    """
    labels = np.zeros(len(page.dense), np.float32)
    if page_type == _FORUM or not len(labels):
        return labels
    containers, sizes = arrays.containers, arrays.sizes
    in_title = page.dense[:, _IN_TITLE] * (1 + page.dense[:, _IS_HEADING])
    headline = int(in_title.argmax()) if page.dense[0, _HAS_TITLE] else -1
    for element in np.unique(page.token_elements[page.tokens == _COMMENT]).tolist():
        first, end = int(containers.first[element]), int(containers.end[element])
        is_most = headline < 0 and sizes[first:end].sum() > _MOST_OF_PAGE * sizes.sum()
        if not first <= headline < end and not is_most:
            labels[first:end] = 1
    return labels
