"""`main`: our own method, the default: a small net that looks at each block, its neighbours, and the page as a whole.

It learns from all the signals that the papers found (main/features.py) and from what pages call their elements
(main/names.py), but not from words, so that what it learns holds in every language. It works in three steps:

    describe(document) -> what each block looks like, as arrays
    judge(page)        -> how likely each block is main matter or a reader's comment, and what kind of page this is
    best_choice(...)   -> the blocks that promise the highest F on this page (main/choice.py)

Plain-text dumps have a smaller net of their own, which sees texts alone (main/dumps.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import chain, compress
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from mainmatter.errors import InputError
from mainmatter.html.containers import unpack
from mainmatter.html.declared import key
from mainmatter.html.sniff import readable_share
from mainmatter.main.choice import (
    IS_ROW,
    PAGE_TYPES,
    SWITCHES,
    Controls,
    Selection,
    apply_controls,
    best_choice,
    beta_of,
    calibrate,
    check_controls,
    choose_labels,
    find_headline,
    join_tables,
)
from mainmatter.main.dumps import BETA_OF_DUMPS, DUMP_COLUMNS, describe_dump
from mainmatter.main.examples import Augmenter, ObservedPage, augment_dump, observe
from mainmatter.main.features import (
    COLUMNS,
    FAMILIES,
    LEVELS,
    NAMES,
    PageFeatures,
    describe_blocks,
    leave_out,
)
from mainmatter.main.names import CALLED, FIRST_WORD, TAGS, VectorCache, VectorFinder, Vocabulary, make_vectors
from mainmatter.main.net import BlockNet, NetOutput, path_means, softmax
from mainmatter.main.reasons import ControlReasons, SignalReasons
from mainmatter.main.site import SiteCountReasons, SiteKnowledge, know_site, load_templates
from mainmatter.main.training import LossWeights, NetInput, TrainingConfig, add_conventions, train_net, weigh_inputs
from mainmatter.method import FROM_NOTHING, OUR_CONVENTION, Trainable, be_silent, need_some
from mainmatter.papers.ice.heuristic import IceHeuristic
from mainmatter.records import HEADLINE, LABELS, MAIN, Extraction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mainmatter.main.training import NetExample
    from mainmatter.method import Example
    from mainmatter.records import Document

_CONFIG = TrainingConfig(
    types=len(PAGE_TYPES),
    hidden=64,
    labels=len(LABELS),
    kept_labels=(MAIN, HEADLINE),
    batch_size=32,
    loss_weights=LossWeights(label=1.0, page_type=0.3),
)
# Of the net for dumps, where no element has a name.
_DUMP_CONFIG = replace(_CONFIG, width=1, hidden=48, pooled=24)
_OF_DUMPS = "dump_"  # what the names of its arrays begin with
_MIN_SITES = 20  # that use a word in their names, for it to have an embedding; of few sites, a tenth of them
_MIN_STEPS = 8  # of an epoch, where there are as many pages
_FINE_TUNING_RATE, _FINE_TUNING_STEPS = 1e-3, 30  # of learning, and of an epoch, for a net that knows much already
_CONVENTION_RATE = 0.1  # of learning, where the net stays as it is
# No page that people read has as many blocks. Each takes two kilobytes while the net looks at it, so a page of some
# megabytes could take all memory; beyond this, the rules of `ice-heuristic` decide, which need next to none.
_MAX_BLOCKS = 100_000
_HALF = 0.5  # of a yes: where `tags` say nothing, each block is a little of everything
_MOST_NAMES = 100  # of which reasons tell what they say
_MOST_EXPLAINED = 10_000  # blocks, or elements, of pages of which reasons tell that: it takes 8 kB each
# In the middle between a page with names and one without, a gradient tells best what they do all the way.
_HALF_AS_MANY_NAMES = 0.5
_LOWEST_DIAL = 0.01  # that reasons tell from 0, where not even the headline is sure to be kept
_PLAIN_NAME = re.compile(r"[\w-]{2,40}")  # others explain nothing to a reader
_MIN_PROBABILITY = 1e-9  # of which the log odds are taken
# What the numbers of a net stand for: another version's columns or labels would be other numbers.
_SEEN: dict[str, list[str]] = {
    "columns": [*COLUMNS, *CALLED],
    "tags": list(TAGS),
    "labels": list(LABELS),
    "page_types": list(PAGE_TYPES),
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
class Main(Controls, Trainable[ObservedPage]):
    """Keep the blocks that promise the highest F; works in any language and on any kind of page.

    Its first parameters are those of `Controls`.

    Args:
        convention: the gold standard whose rules about what is main matter are followed, "house" for our own; for
            evaluation on that gold standard. `conventions` are those that the model has learned.
        without: signals to judge without, with "+" between, such as "names+capitals", for finding out what they are
            worth to a net that was trained with all of them.
        site_templates: the folder of counts of what sites repeat, as `template` saves it; "" for none.
        epochs: how often training looks at each page.
        seed: of all that is random in training.
        start: the model that learning goes on from, "main" for the one that ships, or a folder; "none" for nothing. By
            default `fit` starts from nothing, and `mainmatter train` from the one that ships.
        freeze: learn only the conventions of gold standards, and leave the nets as they are at the start: how they
            judge pages by all other conventions stays the same.
    """

    convention: str = OUR_CONVENTION
    without: str = ""
    site_templates: str = ""
    epochs: int = 20
    seed: int = 0
    start: str = ""
    freeze: bool = False

    net_: BlockNet = field(init=False, repr=False)
    vocabulary_: Vocabulary = field(init=False, repr=False)
    vectors_: VectorCache | VectorFinder = field(init=False, repr=False)
    dump_net_: BlockNet = field(init=False, repr=False)
    conventions_: tuple[str, ...] = field(init=False, repr=False)

    name: ClassVar[str] = "main"
    summary: ClassVar[str] = "our own: a small net over all signals of the papers, and the page as a whole"
    version: ClassVar[int] = 2
    learns_from_snippets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_controls(self.name, dial=self.dial, comments=self.comments)
        unknown = [family for family in self._left_out() if family not in FAMILIES]
        if unknown:
            raise InputError(f"method 'main': unknown signal {unknown[0]!r}; known: {', '.join(FAMILIES)}")
        for name, least in (("epochs", 1), ("seed", 0)):
            if type(getattr(self, name)) is not int or getattr(self, name) < least:
                raise InputError(
                    f"method 'main': {name} must be a whole number from {least}, not {getattr(self, name)!r}"
                )
        if self.site_templates:
            load_templates(self.site_templates)  # complains, if need be

    @property
    def conventions(self) -> tuple[str, ...]:
        """The rules that it has learned to follow, ours first; the nets know them by their numbers."""
        return getattr(self, "conventions_", ())

    def extract(self, document: Document) -> Extraction:
        """Keep the blocks that promise the highest F; of a page with very many, those that `ice-heuristic` keeps."""
        if len(document) > _MAX_BLOCKS:
            return replace(IceHeuristic().extract(document), method=self.name)
        site = know_site(self.site_templates, document) if self.site_templates else None
        page = self.describe(document)
        judged = self.judge(page)
        probabilities = judged.probabilities if site is None else site.adjust(judged.probabilities)
        headline = None
        if "title" not in self._left_out():
            headline = find_headline(document, page.dense, judged.of_labels[:, HEADLINE], page.columns)
        if headline is not None and site is not None and site.is_repeated(headline):
            headline = None
        labels = choose_labels(judged.of_labels, headline, page.dense, page.columns)
        is_ours = self.convention == OUR_CONVENTION
        is_dump = page.columns == DUMP_COLUMNS
        # What our convention leaves out is neither kept wrongly nor missed, however likely it is.
        wanted = np.where(labels > HEADLINE, 0, probabilities) if is_ours else probabilities
        selection = best_choice(wanted, page.sizes, self.dial, BETA_OF_DUMPS if is_dump else beta_of(judged.page_type))
        dials = selection.dials
        if is_ours and headline is not None:
            selection.kept[headline] |= self.dial > 0
            dials[headline] = min(dials[headline], _LOWEST_DIAL)
        # The site's name above the headline is not part of the text, however large it is, unless all text is.
        for i in [] if headline is None else _called_as_site(document, headline):
            selection.kept[i] = self.dial == 1
            dials[i] = 1
        # Texts alone tell main matter from boilerplate, but not one type of page from another.
        page_type = judged.page_type if len(document) and not is_dump else None
        reasons = SignalReasons(self, document, probabilities, headline, selection.threshold, dials)
        return self._decide(document, probabilities, selection, labels, reasons, site, page_type)

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
            # Of pieces that are always kept, or never, no dial decides.
            if labels is not None:
                selection.dials[labels > HEADLINE] = np.nan
            if not all(map(controls.wants, ("headline", *SWITCHES))):
                selection.dials[~apply_controls(np.ones(len(kept), np.bool_), kinds, labels, controls)] = np.nan
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
            confidence=calibrate(selection.expected, page_type) * readable if len(document) else None,
            found_labels=labels,
            marks_comments=self.comments == "mark",
            threshold=selection.threshold,
            dials=selection.dials,
        )

    def describe(self, document: Document) -> PageFeatures:
        """What each block looks like, and what its containers are called."""
        self._need_net()
        # A net that has not seen the one kind of document judges it as if it were of the other.
        if hasattr(self, "net_") and (document.has_markup or not hasattr(self, "dump_net_")):
            vectors, bits = self.vectors_.of(document.names)
            vectors += self.net_.weights["embedding"].take(document.containers.tags, axis=0)
            page = describe_blocks(document, bits, vectors)
        else:
            page = describe_dump(document)
        return leave_out(page, self._left_out(), self._net_for(page).mean) if self.without else page

    def judge(self, page: PageFeatures) -> PageJudgement:
        """How likely each block is main matter, or a comment, and what kind of page this is."""
        output = self._run(page)
        of_labels = softmax(output.logits)
        if page.columns == COLUMNS:
            of_labels = join_tables(of_labels, page.dense[:, IS_ROW] > _HALF, page.sizes)
        probabilities = self._net_for(page).keep(of_labels, self.conventions_.index(self.convention))
        return PageJudgement(probabilities, of_labels, PAGE_TYPES[int(output.types.argmax())])

    def log_odds(self, page: PageFeatures, without: str | None = None) -> NDArray[np.float64]:
        """The log odds of each block to be main matter, also if a family of signals said nothing."""
        if without is not None:
            page = leave_out(page, (without,), self._net_for(page).mean)
        kept = np.clip(self.judge(page).probabilities, _MIN_PROBABILITY, 1 - _MIN_PROBABILITY)
        return np.log(kept / (1 - kept))

    def weigh_names(
        self, document: Document, page: PageFeatures, signs: NDArray[np.float64]
    ) -> tuple[list[str], NDArray[np.float32]]:
        """What each name says: names of elements, and how much they add to the log odds, to first order.

        To ask the net again without each name takes a hundred times as long; one backward pass tells nearly the same.
        Only of the names of most elements, and of pages that are not very long.

        Args:
            document: the page.
            page: what `describe` said of it.
            signs: 1 for blocks that names speak for, -1 for those they speak against, 0 for those that do not matter.

        Returns:
            The names; for each block one row, for each name one column: 0 for names that are not around the block.
        """
        count, elements = len(document), len(page.vectors)
        nothing: list[str] = []
        if page.columns == DUMP_COLUMNS or NAMES in self._left_out() or max(count, elements) > _MOST_EXPLAINED:
            return nothing, np.zeros((count, 0), np.float32)
        places: dict[str, list[int]] = {}
        for element, name in enumerate(document.names):
            for token in dict.fromkeys(name.split()):
                if _PLAIN_NAME.fullmatch(token):
                    places.setdefault(token, []).append(element)
        names = sorted(places, key=lambda name: -len(places[name]))[:_MOST_NAMES]
        if not names:
            return nothing, np.zeros((count, 0), np.float32)
        is_called = np.zeros((elements, len(names)), np.float32)
        for column, name in enumerate(names):
            is_called[places[name], column] = 1
        gradient = self._gradient(document, page, signs)
        meanings = [self.vocabulary_.meaning_of(name) for name in names]
        vectors = self.net_.embed([meaning[:-1] for meaning in meanings])
        # Of each block's containers, and last of all elements around it.
        by_level = gradient[:, self.net_.features :].reshape(count, -1, vectors.shape[1]) @ vectors.T
        share_of_path = path_means(is_called, page.containers.jumps).take(page.around[:, 0], axis=0)
        says = by_level[:, -1] * share_of_path
        for level, around in enumerate(page.around.T):
            says += by_level[:, level] * is_called.take(around, axis=0)
        # A stem that is inherited counts once, however many names have it.
        stems = unpack(np.array([meaning[-1] for meaning in meanings], np.int64), len(CALLED)).astype(np.float32)
        is_inside = (share_of_path > 0).astype(np.float32)
        features = self.net_.features
        no, yes = self.net_.standardize(np.repeat(np.array([[0], [1]], np.float32), features, axis=1))
        of_stems = (gradient[:, :features] * (yes - no) * page.dense)[:, len(COLUMNS) :]
        of_stems /= np.maximum(is_inside @ stems.T, 1)
        says += of_stems @ stems * is_inside
        says *= signs[:, None]
        return names, says

    def _gradient(self, document: Document, page: PageFeatures, signs: NDArray[np.float64]) -> NDArray[np.float32]:
        """Of the log odds of the blocks, by what the first layer sees of each."""
        tags = page.containers.tags.tolist()
        tokens = [(tag, *self.vocabulary_.numbers_of(name)) for tag, name in zip(tags, document.names, strict=True)]
        dense = page.dense.copy(order="C")
        dense[:, len(COLUMNS) :] *= _HALF_AS_MANY_NAMES
        inputs = NetInput(
            dense,
            np.fromiter(chain.from_iterable(tokens), np.intp),
            np.repeat(np.arange(len(tokens)), list(map(len, tokens))),
            page.containers.parents,
            page.around,
        )
        return weigh_inputs(self.net_, inputs, signs, _HALF_AS_MANY_NAMES, self.conventions_.index(self.convention))

    def _run(self, page: PageFeatures) -> NetOutput:
        convention = self.conventions_.index(self.convention)
        return self._net_for(page).forward(page.dense, page.vectors, page.containers.jumps, page.around, convention)

    def _net_for(self, page: PageFeatures) -> BlockNet:
        return self.dump_net_ if page.columns == DUMP_COLUMNS else self.net_

    def observe(self, example: Example) -> ObservedPage:
        """Take what the net sees of a page, and the labels of its blocks."""
        return observe(example)

    def need_extras(self) -> None:
        """Check, before any work, that the model to start from is there.

        Raises:
            ModelError: it is not, or is damaged.
            InputError: a net is to stay as it is, but there is none to start from.
        """
        self._start()

    def learn(
        self, observations: Sequence[ObservedPage], report: Callable[[str], object] = be_silent, *, dumps: bool = True
    ) -> Self:
        """Train the nets on pages and their texts, which look a little different each time (main/examples.py).

        From plain-text dumps only the net for dumps can learn. If there is nothing else, what is there of the other one
        stays as it is at the start. Conventions that the start does not know are added to those that it knows.

        Args:
            observations: the pages.
            report: called with a line about the progress now and then.
            dumps: train the net for dumps, too; without, it stays as it is at the start, which takes half of the time.

        Raises:
            InputError: there is no page with a labelled block, or none whose convention could be learned.
        """
        known = [page for page in observations if not np.isnan(page.example.shares).all()]
        need_some(known, self.name)
        start = self._start()
        if self.freeze:
            known = [page for page in known if page.convention != OUR_CONVENTION]
            if not known:
                raise InputError(
                    "method 'main': freeze=True learns how other gold standards differ from our rules, and all of "
                    "these pages follow ours; those of other rules are known by their names, such as wcxb-dev"
                )
        before = (OUR_CONVENTION,) if start is None else start.conventions_
        conventions = (*before, *sorted({page.convention for page in known} - set(before)))
        nets = (getattr(start, name, None) for name in ("net_", "dump_net_"))
        net, dump_net = (None if net is None else add_conventions(net, len(conventions)) for net in nets)
        if dumps:
            texts = [page.number_dump(conventions) for page in known]
            config = replace(_DUMP_CONFIG, conventions=len(conventions))
            dump_net = self._train(texts, config, augment_dump, dump_net, lambda line: report(f"texts: {line}"))
            dump_net = BlockNet.from_arrays(_in_half(dump_net.arrays()))  # as it will be saved
        with_markup = [page for page in known if not page.is_dump]
        vocabulary = _learn_vocabulary(with_markup) if start is None else start.vocabulary_
        if with_markup:
            pages = [page.number(vocabulary, conventions) for page in with_markup]
            config = replace(_CONFIG, names=FIRST_WORD - 1 + len(vocabulary), conventions=len(conventions))
            net = self._train(pages, config, Augmenter(pages), net, report)
        self._use(net, vocabulary, dump_net, conventions)
        return self

    def _train(
        self,
        examples: Sequence[NetExample],
        config: TrainingConfig,
        augment: Callable[[NetExample, np.random.Generator], NetExample],
        start: BlockNet | None,
        report: Callable[[str], object],
    ) -> BlockNet:
        rate = _CONVENTION_RATE if self.freeze else config.learning_rate if start is None else _FINE_TUNING_RATE
        config = replace(
            config,
            epochs=self.epochs,
            learning_rate=rate,
            # A few pages make a few steps an epoch, too, or three epochs would teach nothing.
            batch_size=min(
                config.batch_size, max(1, len(examples) // (_MIN_STEPS if start is None else _FINE_TUNING_STEPS))
            ),
        )
        if self.freeze:
            return train_net(examples, config, self.seed, start=start, freeze=True, report=report)
        return train_net(examples, config, self.seed, augment=augment, start=start, report=report)

    def facts_and_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What the nets were trained on: columns, tags, labels, the words of names; their weights."""
        self._need_net()
        facts = _SEEN | {
            "conventions": list(self.conventions_),
            "words": list(self.vocabulary_.words),
            "dump_columns": list(DUMP_COLUMNS),
        }
        arrays = self.net_.arrays() if hasattr(self, "net_") else {}
        if hasattr(self, "dump_net_"):
            arrays |= {_OF_DUMPS + name: array for name, array in _in_half(self.dump_net_.arrays()).items()}
        return facts, arrays

    def restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Take over nets that were trained on the same columns, tags and labels."""
        for name, mine in _SEEN.items():
            if facts[name] != mine:
                raise ValueError(f"trained on other {name} than this version knows")
        conventions = facts["conventions"]
        if conventions[:1] != [OUR_CONVENTION] or not all(isinstance(name, str) for name in conventions):
            raise ValueError("its first convention is not ours")
        vocabulary = Vocabulary(facts["words"])
        of_dumps = {name.removeprefix(_OF_DUMPS): array for name, array in arrays.items() if name.startswith(_OF_DUMPS)}
        of_pages = {name: array for name, array in arrays.items() if not name.startswith(_OF_DUMPS)}
        net = dump_net = None
        if of_pages or not of_dumps:
            names = FIRST_WORD - 1 + len(vocabulary)
            net = _restore_net(of_pages, (len(_SEEN["columns"]), names, LEVELS + 1), len(conventions))
        if of_dumps:
            if facts["dump_columns"] != list(DUMP_COLUMNS):
                raise ValueError("trained on other columns of dumps than this version knows")
            dump_net = _restore_net(of_dumps, (len(DUMP_COLUMNS), 0, 1), len(conventions))
        self._use(net, vocabulary, dump_net, tuple(conventions))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "vectors_"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if "vocabulary_" in state:
            self._use(state.get("net_"), state["vocabulary_"], state.get("dump_net_"), state["conventions_"])

    def _left_out(self) -> tuple[str, ...]:
        return tuple(filter(None, self.without.split("+")))

    def _use(
        self, net: BlockNet | None, vocabulary: Vocabulary, dump_net: BlockNet | None, conventions: tuple[str, ...]
    ) -> None:
        """Judge by these nets from now on: the one for pages, the one for dumps, or both."""
        if self.convention not in conventions:
            raise InputError(
                f"method 'main': unknown convention {self.convention!r}; this model has learned "
                f"{', '.join(conventions)}; to learn another: mainmatter train main:freeze=True --on DATASET -o MODEL"
            )
        self.vocabulary_, self.conventions_ = vocabulary, conventions
        for name, one in (("net_", net), ("dump_net_", dump_net)):
            vars(self).pop(name, None)
            if one is not None:
                setattr(self, name, one)
        if net is None:
            return
        self.vectors_ = make_vectors(vocabulary, net)

    def _need_net(self) -> None:
        if not hasattr(self, "vocabulary_"):
            raise InputError("method 'main' has not been trained: call fit, load or load_shipped first")

    def _start(self) -> Main | None:
        if self.start in ("", FROM_NOTHING):
            if self.freeze:
                raise InputError("method 'main': freeze=True needs a model to start from")
            return None
        return Main().load_shipped() if self.start == self.name else Main.load(self.start)


def _called_as_site(document: Document, end: int) -> list[int]:
    """The blocks before one that say the site's name and nothing else."""
    names = document.title_keys[1]
    first = {name[0] for name in names}  # a menu has many blocks, and few begin like that
    return [
        i
        for i, text in enumerate(document.texts[:end])
        if (text[:1].casefold()[:1] in first or not text[:1].isalnum()) and key(text) in names
    ]


def _learn_vocabulary(pages: Sequence[ObservedPage]) -> Vocabulary:
    """The words that many sites use in the names of their elements."""
    names: dict[str, set[str]] = {}
    for page in pages:
        names.setdefault(page.site, set()).update(page.names)
    return Vocabulary.learn(names, max(2, min(_MIN_SITES, len(names) // 10)))


def _restore_net(arrays: dict[str, NDArray[Any]], sizes: tuple[int, int, int], conventions: int) -> BlockNet:
    """A net from its arrays, with so many features, names and levels, and conventions, which knows our labels.

    Raises:
        ValueError: it is another one, or none.
    """
    net = BlockNet.from_arrays(arrays)
    if (net.features, net.names, net.levels) != sizes:
        raise ValueError("the net does not fit its facts")
    if net.weights["convention_keeps"].shape != (conventions, len(LABELS)):
        raise ValueError("the net knows other labels or conventions")
    if len(net.weights["type_bias"]) != len(PAGE_TYPES):
        raise ValueError("the net knows other types of pages")
    return net


def _in_half(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Arrays with numbers of 16 bits instead of 32, which are enough for decisions."""
    return {name: array.astype(np.float16) if array.dtype.kind == "f" else array for name, array in arrays.items()}
