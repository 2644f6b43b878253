"""`main`: our own method, the default: a small net that looks at each block, its neighbours, and the page as a whole.

It learns from all the signals that the papers found (main/features.py) and from what pages call their elements
(main/names.py), but from no word, so that what it learned holds in every language. In three steps:

    describe(document) -> what each block looks like, as arrays
    judge(page)        -> how likely each block is main matter or a reader's comment, and what kind of page this is
    best_choice(...)   -> the blocks that promise the highest F on this page (main/choice.py)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from mainmatter.errors import InputError
from mainmatter.html.sniff import readable_share
from mainmatter.main.choice import (
    PAGE_TYPES,
    Comments,
    Controls,
    Selection,
    apply_controls,
    best_choice,
    beta_of,
    check_controls,
    choose_labels,
    find_headline,
)
from mainmatter.main.dumps import BETA, judge_dump
from mainmatter.main.examples import Augmenter, ObservedPage, observe
from mainmatter.main.features import COLUMNS, FAMILIES, LEVELS, PageFeatures, describe_blocks, leave_out
from mainmatter.main.names import CALLED, FIRST_WORD, TAGS, VectorCache, Vocabulary
from mainmatter.main.net import BlockNet, NetOutput, softmax
from mainmatter.main.reasons import ControlReasons, SignalReasons
from mainmatter.main.site import SiteCountReasons, SiteKnowledge, know_site, load_templates
from mainmatter.main.training import LossWeights, TrainingConfig, train_net
from mainmatter.method import OUR_CONVENTION, Trainable, be_silent, need_some
from mainmatter.papers.ice.heuristic import IceHeuristic
from mainmatter.records import HEADLINE, LABELS, MAIN, Extraction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mainmatter.method import Example
    from mainmatter.records import Document

# The rules that gold standards follow, ours first.
CONVENTIONS = (OUR_CONVENTION, "cleaneval", "forum52", "fundus", "magic", "readability", "wcxb", "zh-news")
_CONFIG = TrainingConfig(
    types=len(PAGE_TYPES),
    hidden=64,
    labels=len(LABELS),
    kept_labels=(MAIN, HEADLINE),
    conventions=len(CONVENTIONS),
    loss_weights=LossWeights(label=0.5, page_type=0.3),
)
_MIN_SITES = 20  # that use a word in their names, for it to have an embedding; of few sites, a tenth of them
_MIN_STEPS = 8  # of an epoch, where there are as many pages
_FINE_TUNING_RATE = 1e-3  # of learning, for a net that knows much already
# No page that people read has as many blocks. Each takes two kilobytes while the net looks at it, so a page of some
# megabytes could take all memory; beyond this, the rules of `ice-heuristic` decide, which need next to none.
_MAX_BLOCKS = 100_000
_MIN_PROBABILITY = 1e-9  # of which the log odds are taken
# What the numbers of a net stand for: another version's columns or labels would be other numbers.
_SEEN: dict[str, list[str]] = {
    "columns": [*COLUMNS, *CALLED],
    "tags": list(TAGS),
    "labels": list(LABELS),
    "page_types": list(PAGE_TYPES),
    "conventions": list(CONVENTIONS),
}


@dataclass(frozen=True, slots=True)
class PageJudgement:
    """What the net says about a page.

    Attributes:
        probabilities: for each block, that it is main matter by the convention that was asked for.
        of_labels: for each block, one row, that it is each of `records.LABELS`.
        page_type: what kind of page it is.
    """

    probabilities: NDArray[np.float64]
    of_labels: NDArray[np.float64]
    page_type: str


@dataclass(eq=False)
class Main(Trainable[ObservedPage]):
    """Keep the blocks that promise the highest F; works in any language and on any kind of page.

    Args:
        dial: from 0, only what is surest, to 1, all text; 0.5 weighs precision and recall alike.
        comments: readers' comments are dropped, kept in their place, or kept and marked.
        headline: whether the page's headline is kept.
        bylines: whether authors and dates are kept.
        captions: whether captions and credits of pictures are kept.
        headings: whether headings are kept.
        tables: whether rows of tables are kept.
        code: whether code is kept.
        convention: the gold standard whose rules about what is main matter are followed, "house" for our own; for
            evaluation on that gold standard.
        without: signals to judge without, with "+" between, such as "names+capitals", for finding out what they are
            worth to a net that was trained with all of them.
        site_templates: the folder of counts of what sites repeat, as `template` saves it; "" for none.
        epochs: how often training looks at each page.
        seed: of all that is random in training.
        start: the model that training goes on from, "main" for the one that ships; "" starts from nothing.
    """

    dial: float = 0.5
    comments: Comments = "drop"
    headline: bool = True
    bylines: bool = False
    captions: bool = False
    headings: bool = True
    tables: bool = True
    code: bool = True
    convention: str = OUR_CONVENTION
    without: str = ""
    site_templates: str = ""
    epochs: int = 8
    seed: int = 0
    start: str = ""

    net_: BlockNet = field(init=False, repr=False)
    vocabulary_: Vocabulary = field(init=False, repr=False)
    vectors_: VectorCache = field(init=False, repr=False)
    knows_dumps_: bool = field(init=False, repr=False, default=False)

    name: ClassVar[str] = "main"
    summary: ClassVar[str] = "our own: a small net over all signals of the papers, and the page as a whole"
    version: ClassVar[int] = 2
    learns_from_snippets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_controls(self.name, dial=self.dial, comments=self.comments)
        if self.convention not in CONVENTIONS:
            raise InputError(f"method 'main': no convention {self.convention!r}; there are {', '.join(CONVENTIONS)}")
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
        if len(document) > _MAX_BLOCKS:
            return replace(IceHeuristic().extract(document), method=self.name)
        site = know_site(self.site_templates, document) if self.site_templates else None
        if not document.has_markup and not self.knows_dumps_:
            return self._extract_dump(document, site)
        page = self.describe(document)
        judged = self.judge(page)
        probabilities = judged.probabilities if site is None else site.adjust(judged.probabilities)
        headline = find_headline(page.dense, judged.of_labels[:, HEADLINE]) if "title" not in self._left_out() else None
        if headline is not None and site is not None and site.is_repeated(headline):
            headline = None
        labels = choose_labels(judged.of_labels, headline, page.dense)
        is_ours = self.convention == OUR_CONVENTION
        # What our convention leaves out is neither kept wrongly nor missed, however likely it is.
        wanted = np.where(labels > HEADLINE, 0, probabilities) if is_ours else probabilities
        selection = best_choice(wanted, page.sizes, self.dial, beta_of(judged.page_type))
        if is_ours and headline is not None and self.dial > 0:
            selection.kept[headline] = True
        reasons = SignalReasons(self, document, probabilities, headline)
        page_type = judged.page_type if len(document) else None
        return self._decide(document, probabilities, selection, labels, reasons, site, page_type)

    def _extract_dump(self, document: Document, site: SiteKnowledge | None) -> Extraction:
        """Keep what promises the highest F on a plain-text dump, of which our net knows nothing (main/dumps.py)."""
        self._need_net()
        judged = judge_dump(document)
        if site is not None:
            judged = replace(judged, probabilities=site.adjust(judged.probabilities))
        selection = best_choice(judged.probabilities, document.lengths.astype(np.float64), self.dial, BETA)
        return self._decide(document, judged.probabilities, selection, None, judged, site)

    def _decide(
        self,
        document: Document,
        probabilities: NDArray[np.float64],
        selection: Selection,
        labels: NDArray[np.intp] | None,
        reasons: Sequence[str],
        site: SiteKnowledge | None,
        page_type: str | None = None,
    ) -> Extraction:
        """What is left of a selection when the controls that users have over it are applied."""
        kinds = document.columns.kinds
        kept = selection.kept
        if site is not None:
            reasons = SiteCountReasons(reasons, site.counts, site.pages)
        if self.convention == OUR_CONVENTION:
            controls = Controls.of(self)
            kept = apply_controls(kept, kinds, labels, controls)
            reasons = ControlReasons(reasons, selection.kept, kept, kinds, labels, controls)
        readable = readable_share(compress(document.texts, kept.tolist()))
        return Extraction(
            document,
            self.name,
            scores=probabilities,
            kept=kept,
            kinds=kinds,
            reasons=reasons,
            page_type=page_type,
            confidence=selection.expected * readable if len(document) else None,
            found_labels=labels,
            marks_comments=self.comments == "mark",
        )

    def describe(self, document: Document) -> PageFeatures:
        """What each block looks like, and what its containers are called."""
        self._need_net()
        vectors, bits = self.vectors_.of(document.names)
        vectors += self.net_.weights["embedding"].take(document.containers.tags, axis=0)
        page = describe_blocks(document, bits, vectors)
        return leave_out(page, self._left_out(), self.net_.mean) if self.without else page

    def judge(self, page: PageFeatures) -> PageJudgement:
        """How likely each block is main matter, or a comment, and what kind of page this is."""
        output = self._run(page)
        of_labels = softmax(output.logits)
        probabilities = self.net_.keep(of_labels, CONVENTIONS.index(self.convention))
        return PageJudgement(probabilities, of_labels, PAGE_TYPES[int(output.types.argmax())])

    def log_odds(self, page: PageFeatures, without: str | None = None) -> NDArray[np.float64]:
        """The log odds of each block to be main matter, also if a family of signals said nothing."""
        if without is not None:
            page = leave_out(page, (without,), self.net_.mean)
        kept = np.clip(self.judge(page).probabilities, _MIN_PROBABILITY, 1 - _MIN_PROBABILITY)
        return np.log(kept / (1 - kept))

    def _run(self, page: PageFeatures) -> NetOutput:
        convention = CONVENTIONS.index(self.convention)
        return self.net_.forward(page.dense, page.vectors, page.containers.jumps, page.around, convention)

    def observe(self, example: Example) -> ObservedPage:
        """Take what the net sees of a page, and the labels of its blocks."""
        return observe(example)

    def need_extras(self) -> None:
        """Find out, before any work, whether the model to go on from is there.

        Raises:
            ModelError: it is not, or is damaged.
        """
        self._start()

    def learn(self, observations: Sequence[ObservedPage], report: Callable[[str], object] = be_silent) -> Self:
        """Train the net on pages that look a little different each time (main/examples.py).

        Raises:
            InputError: there is no page with a labelled block.
        """
        known = [page for page in observations if not np.isnan(page.example.shares).all()]
        need_some(known, self.name)
        start = self._start()
        vocabulary = _learn_vocabulary(known) if start is None else start.vocabulary_
        pages = [page.number(vocabulary, CONVENTIONS) for page in known]
        config = replace(
            _CONFIG,
            names=FIRST_WORD - 1 + len(vocabulary),
            epochs=self.epochs,
            learning_rate=_FINE_TUNING_RATE if self.start else _CONFIG.learning_rate,
            # A few pages make a few steps an epoch, too, or three epochs would teach nothing.
            batch_size=min(_CONFIG.batch_size, max(1, len(known) // _MIN_STEPS)),
        )
        net = train_net(
            pages,
            config,
            self.seed,
            augment=Augmenter(pages),
            start=None if start is None else start.net_,
            report=report,
        )
        self._use(net, vocabulary)
        # Only a dump has no container but the whole.
        self.knows_dumps_ = any(len(page.inputs.parents) == 1 for page in pages)
        return self

    def facts_and_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What the net was trained on: columns, tags, labels, the words of names, and whether dumps; its weights."""
        self._need_net()
        facts = _SEEN | {"words": list(self.vocabulary_.words), "knows_dumps": self.knows_dumps_}
        return facts, self.net_.arrays()

    def restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Take over a net that was trained on the same columns, tags and labels."""
        for name, mine in _SEEN.items():
            if facts[name] != mine:
                raise ValueError(f"trained on other {name} than this version knows")
        net, vocabulary = BlockNet.from_arrays(arrays), Vocabulary(facts["words"])
        names = FIRST_WORD - 1 + len(vocabulary)
        if (net.features, net.names, net.levels) != (len(_SEEN["columns"]), names, LEVELS + 1):
            raise ValueError("the net does not fit its facts")
        if net.weights["convention_keeps"].shape != (len(CONVENTIONS), len(LABELS)):
            raise ValueError("the net knows other labels or conventions")
        if len(net.weights["type_bias"]) != len(PAGE_TYPES):
            raise ValueError("the net knows other types of pages")
        self.knows_dumps_ = facts["knows_dumps"] is True
        self._use(net, vocabulary)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "vectors_"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if "net_" in state:
            self._use(state["net_"], state["vocabulary_"])

    def _left_out(self) -> tuple[str, ...]:
        return tuple(filter(None, self.without.split("+")))

    def _use(self, net: BlockNet, vocabulary: Vocabulary) -> None:
        self.net_, self.vocabulary_ = net, vocabulary
        self.vectors_ = VectorCache(
            vocabulary.meaning_of,
            lambda meanings: net.embed([meaning[:-1] for meaning in meanings]),
            lambda meanings: np.array([meaning[-1] for meaning in meanings], np.int64),
        )

    def _need_net(self) -> None:
        if not hasattr(self, "net_"):
            raise InputError("method 'main' has not been trained: call fit, load or load_shipped first")

    def _start(self) -> Main | None:
        if not self.start:
            return None
        return Main().load_shipped() if self.start == self.name else Main.load(self.start)


def _learn_vocabulary(pages: Sequence[ObservedPage]) -> Vocabulary:
    """The words that many sites use in the names of their elements."""
    names: dict[str, set[str]] = {}
    for page in pages:
        names.setdefault(page.site, set()).update(page.names)
    return Vocabulary.learn(names, max(2, min(_MIN_SITES, len(names) // 10)))
