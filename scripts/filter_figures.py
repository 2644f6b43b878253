"""The figures of docs/how-to/filters.md: languages that are told, duplicates that are found, and what that costs.

python scripts/filter_figures.py language --data ../shared/data
python scripts/filter_figures.py duplicates --data ../shared/data
python scripts/filter_figures.py cost --data ../shared/data --kind near --pages 1000000
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import TYPE_CHECKING

import click
import numpy as np

from mainmatter import clean
from mainmatter.corpus.duplicates import KINDS, find_duplicates, signature
from mainmatter.corpus.language import Identified, identify, load_identifier
from mainmatter.lab.datasets import load_dataset
from mainmatter.lab.evaluation import format_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Change = Callable[[list[str], float], list[str]]

CODES = {"English": "en", "Chinese": "zh", "Russian": "ru", "Polish": "pl", "Greek": "el"}  # daniel-a's
SHINGLE = 5  # words
LEAST_WORDS = 50
PAGE = 5000  # characters
WORDS_OF = {"exact": 4, "i-match": 250, "near": 128}  # numbers of 32 bits in a signature that is made up
data_option = click.option("--data", type=click.Path(path_type=Path, exists=True), required=True)


@click.group()
def main() -> None:
    """Measure the filters."""


@main.command()
@data_option
def language(data: Path) -> None:
    """How often the language is told as pages, or the gold standard, say."""
    from resiliparse.parse.lang import detect_fast

    raw = load_identifier()
    rows = [["texts", "pages", "ours", "py3langid as it comes", "Resiliparse", "ms, ours"]]
    for name, texts in _texts_with_language(data).items():
        begin = time.process_time()
        found = [identify(text) for text, _ in texts]
        taken = 1000 * (time.process_time() - begin) / len(texts)
        of_raw = [raw.classify(text)[0] for text, _ in texts]
        theirs = [detect_fast(text)[0] for text, _ in texts]
        shares = [_right([one.language for one in found], texts), _right(of_raw, texts), _right(theirs, texts)]
        rows.append([name, f"{len(texts):,}", *(f"{share:.3f}" for share in shares), f"{taken:.2f}"])
        _tell_doubts(name, found, texts)
    click.echo(format_table(rows))
    english = [text for text, code in _texts_with_language(data)["wcxb-dev, gold"] if code == "en"]
    for size in (20, 30, 60):
        share = mean(raw.classify(text[:size])[0] == "en" for text in english)
        click.echo(f"English texts cut to {size} characters: {share:.1%} right, by the classifier alone")


def _texts_with_language(data: Path) -> dict[str, list[tuple[str, str]]]:
    """Texts, and the codes of their languages."""
    found: dict[str, list[tuple[str, str]]] = {"wcxb-dev, gold": [], "trafilatura-eval-a, cleaned": []}
    for page in load_dataset("wcxb-dev", data):
        declared = clean(page.page, method="ice-baseline").metadata.language
        if declared and page.gold.text:
            found["wcxb-dev, gold"].append((page.gold.text, declared.split("-")[0]))
    for page in load_dataset("trafilatura-eval-a", data):
        extraction = clean(page.page)
        if extraction.metadata.language and extraction.text:
            declared = extraction.metadata.language
            found["trafilatura-eval-a, cleaned"].append((extraction.text, declared.split("-")[0]))
    pages = load_dataset("daniel-a", data)
    found["daniel-a, gold"] = [(page.gold.text, CODES[page.groups["lang"]]) for page in pages if page.gold.text]
    return found


def _right(found: Sequence[str | None], texts: Sequence[tuple[str, str]]) -> float:
    return mean(one == code for one, (_, code) in zip(found, texts, strict=True))


def _tell_doubts(name: str, found: Sequence[Identified], texts: Sequence[tuple[str, str]]) -> None:
    both = list(zip(found, (code for _, code in texts), strict=True))
    sure = [(one, code) for one, code in both if one.score >= 0.8]
    wrong = sum(one.language != code for one, code in sure)
    other = Counter((code, one.language) for one, code in both if one.language != code)
    click.echo(
        f"{name}: score .8 or more: {len(sure) / len(both):.1%} of the texts, {wrong} of them otherwise; {other}"
    )


@main.command()
@data_option
def duplicates(data: Path) -> None:
    """Which share of changed copies is found; the changes are drawn with a fixed seed."""
    texts = [page.gold.text for page in load_dataset("wcxb-dev", data) if page.gold.text]
    words = [text.split() for text in texts if len(text.split()) >= LEAST_WORDS]
    click.echo(f"{len(words):,} texts, median {median(map(len, words)):,.0f} words")
    changes = _Changes(Random(7), [word for text in words for word in text])  # no secret
    known = {kind: [signature(kind, " ".join(text)) for text in words] for kind in KINDS}
    rows = [["changed", "Jaccard, median", *KINDS, "lowest Jaccard found"]]
    for change, shares in (
        (changes.scatter, (0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1)),
        (changes.replace_piece, (0.01, 0.05, 0.1, 0.2)),
        (changes.append, (0.01, 0.1, 0.2, 0.3)),
    ):
        for share in shares:
            rows.append(_found_of(change, share, words, known))
            click.echo(rows[-1], err=True)
    click.echo(format_table(rows))
    same = find_duplicates("near", list(enumerate(known["near"])))
    click.echo(f"near duplicates among the texts themselves: {len(same)}")


@dataclass(frozen=True)
class _Changes:
    """Ways to change a text by words of the whole collection."""

    random: Random
    vocabulary: list[str]

    def scatter(self, words: list[str], share: float) -> list[str]:
        changed = list(words)
        for place in self.random.sample(range(len(words)), _count(words, share)):
            changed[place] = self.random.choice(self.vocabulary)
        return changed

    def replace_piece(self, words: list[str], share: float) -> list[str]:
        count = _count(words, share)
        place = self.random.randrange(len(words) - count + 1)
        return [*words[:place], *self._piece(count), *words[place + count :]]

    def append(self, words: list[str], share: float) -> list[str]:
        return [*words, *self._piece(_count(words, share))]

    def _piece(self, count: int) -> list[str]:
        place = self.random.randrange(len(self.vocabulary) - count)
        return self.vocabulary[place : place + count]


def _count(words: list[str], share: float) -> int:
    return max(1, round(share * len(words)))


def _found_of(change: Change, share: float, words: list[list[str]], known: dict[str, list[bytes]]) -> list[str]:
    copies = [change(text, share) for text in words]
    common = [_jaccard(text, copy) for text, copy in zip(words, copies, strict=True)]
    row = [f"{change.__name__} {share:.1%}", f"{median(common):.3f}"]
    for kind in KINDS:
        signatures = [*known[kind], *(signature(kind, " ".join(copy)) for copy in copies)]
        dropped = find_duplicates(kind, list(enumerate(signatures)))
        hits = [i for i in range(len(words)) if dropped.get(len(words) + i, ("", -1))[1] == i]
        row.append(f"{len(hits) / len(words):.3f}")
    return [*row, f"{min((common[i] for i in hits), default=1):.2f}"]


def _jaccard(one: list[str], other: list[str]) -> float:
    first, second = (
        {tuple(map(str.lower, text[i : i + SHINGLE])) for i in range(len(text) - SHINGLE + 1)} for text in (one, other)
    )
    return len(first & second) / len(first | second)


@main.command()
@data_option
@click.option("--kind", type=click.Choice(KINDS), required=True)
@click.option("--pages", default=100_000, show_default=True, help="How many signatures are made up.")
def cost(data: Path, kind: str, pages: int) -> None:
    """What signatures of pages of 5 KB take, and what finding duplicates among many takes; a fifth are duplicates."""
    made = _MadeUp(kind, pages)  # before pages are read: what those leave free would not be counted
    begin = time.monotonic()
    making = sum(1 for _ in made) and time.monotonic() - begin
    find_duplicates(kind, list(_MadeUp(kind, 10)))  # what is loaded when first needed
    with _Peak() as peak:
        begin = time.monotonic()
        found = len(find_duplicates(kind, made))
        taken = time.monotonic() - begin
    click.echo(
        f"{pages:,} pages: {found:,} duplicates in {taken:.1f} s, of which making up signatures takes {making:.1f} "
        f"each time that they are gone through; {peak.megabytes:,.0f} MB of memory"
    )
    texts = [text[:PAGE] for page in load_dataset("wcxb-dev", data) if len(text := page.gold.text or "") > PAGE]
    signature(kind, texts[0])  # what is loaded when first needed
    begin = time.process_time()
    size = mean(len(signature(kind, text)) for text in texts)
    each = 1000 * (time.process_time() - begin) / len(texts)
    click.echo(f"{kind}: {each:.2f} ms and {size:,.0f} bytes a page of {PAGE:,} characters")


@dataclass(frozen=True)
class _MadeUp:
    """Signatures that are made up, the same each time that they are gone through."""

    kind: str
    count: int

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        rng = np.random.default_rng(1)
        originals: list[np.ndarray] = []
        for number in range(self.count):
            if number % 5 == 4:
                values = originals[int(rng.integers(len(originals)))].copy()
                if self.kind == "near":
                    values[rng.random(len(values)) < 0.1] = rng.integers(0, 2**32, dtype=np.uint32)
            else:
                values = rng.integers(0, 2**32, WORDS_OF[self.kind], dtype=np.uint32)
                if len(originals) < 1000:
                    originals.append(values)
            yield number, (np.sort(values) if self.kind == "i-match" else values).tobytes()


class _Peak:
    """How much more memory of its own a process has had than at the beginning, looked at fifty times a second."""

    def __enter__(self) -> _Peak:
        self.megabytes, self.begin, self.is_done = 0.0, _own_megabytes(), threading.Event()
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.is_done.set()
        self.thread.join()

    def _watch(self) -> None:
        while not self.is_done.wait(0.02):
            self.megabytes = max(self.megabytes, _own_megabytes() - self.begin)


def _own_megabytes() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) / 1000 for line in status.splitlines() if line.startswith("RssAnon"))


if __name__ == "__main__":
    main()
