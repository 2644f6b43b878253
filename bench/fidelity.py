"""How faithfully Markdown preserves the structure of what was kept of a page, for our writer and others.

The kept part of the page's tree (structure_page.py) is compared with what an independent parser reads from the Markdown
(structure_markdown.py); structure.py says what counts. Each writer is judged by what it keeps: ours by the kept blocks;
the converters, which keep all that they are given, by the same, of which they get the page's own HTML; trafilatura by
the blocks of the page whose text is in its output.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple, get_args

import numpy as np

from bench.structure import FactKind, compare, letters
from bench.structure_markdown import FAULTS, structure_of_markdown
from bench.structure_page import images_among, structure_of_page
from mainmatter.api import clean
from mainmatter.errors import MissingExtra, UnknownName
from mainmatter.files import write_whole
from mainmatter.html.parse import Element, Text, all_ancestors
from mainmatter.html.segment import ROLES, Role
from mainmatter.lab.evaluation import format_table
from mainmatter.lab.versions import dataset_digest, version_of
from mainmatter.registry import DEFAULT_METHOD
from mainmatter.render.text import COMMENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from bench.structure import FactComparison, Structure
    from mainmatter.html.parse import Node
    from mainmatter.lab.datasets import GoldPage
    from mainmatter.records import Extraction

    # A page that was cleaned to Markdown, and to what the Markdown is to be compared with.
    Writer = Callable[[Extraction], tuple[str, Extraction]]

OURS = "mainmatter"
_KINDS: tuple[str, ...] = get_args(FactKind)
_TEXT_KINDS = ("text lost", "text twice", "text from nowhere", "raw HTML")
LOSES_EMPHASIS, LOSES_BOLD = "emphasis lost", "all bold lost"
_PAGE_FAULTS = (LOSES_EMPHASIS, LOSES_BOLD, *FAULTS)
_INLINE_ROLES = (None, Role.LINK, Role.EMPHASIS)
_GLUE = ("br", "wbr", "hr", "source", "td", "th", "annotation")  # elements that mean something without text
# What can go wrong, by the names that it is shown under.
KINDS_SHOWN: tuple[str, ...] = (*_KINDS, *(f"{kind}, invented" for kind in _KINDS), *_TEXT_KINDS, *FAULTS)
_LONG = 20  # letters and digits of a block that cannot be found by chance inside of another text
_NEAR = 3  # blocks to look at on both sides of one
_SHOWN = 100  # characters of what was missed
_EXPLANATION = (
    "The tables show the share of the kept part of the pages that comes through, according to markdown-it-py; see "
    "[what counts](../how-to/benchmark.md#fidelity). html-to-markdown and markdownify get the HTML of what mainmatter "
    "keeps; trafilatura is judged by what it keeps itself."
)


def mainmatter(extraction: Extraction) -> tuple[str, Extraction]:
    """Our own Markdown, with images."""
    return extraction.render("markdown", images=True), extraction


def trafilatura(extraction: Extraction) -> tuple[str, Extraction]:
    """Trafilatura's Markdown with all that it can keep; the reference are the blocks whose text is in it."""
    from trafilatura import extract  # an extra

    page = extraction.document.page
    found = extract(
        page.html,
        url=page.url,
        output_format="markdown",
        include_formatting=True,
        include_images=True,
        include_links=True,
        include_tables=True,
    )
    markdown = found or ""
    texts = [letters(block.text) for block in structure_of_markdown(markdown, formulas=False).blocks]
    kept = blocks_among([letters(text) for text in extraction.document.texts], texts)
    return markdown, replace(extraction, kept=np.array(kept, np.bool_), marks_comments=False)


def blocks_among(blocks: Sequence[str], output: Sequence[str]) -> list[bool]:
    """Which blocks of a page an output has.

    Short ones must be whole blocks of the output. Of those with the same text, such as headings that are in a menu,
    too, as many are taken as the output has, first those beside others that it has.

    Args:
        blocks: the letters and digits of each block of the page.
        output: those of the blocks of the output.
    """
    whole, times, wanted = "".join(output), Counter(output), Counter(blocks)
    there = {text: whole.count(text) if len(text) >= _LONG else times[text] for text in wanted if text}
    sure = [there.get(text, 0) >= wanted[text] for text in blocks]
    kept = list(sure)
    for text, count in there.items():
        if 0 < count < wanted[text]:
            copies = [i for i, other in enumerate(blocks) if other == text]
            copies.sort(key=lambda i: -sum(sure[max(0, i - _NEAR) : i + _NEAR + 1]))
            for i in copies[:count]:
                kept[i] = True
    return kept


def html_to_markdown(extraction: Extraction) -> tuple[str, Extraction]:
    """What html-to-markdown makes of the HTML of the kept part: all of it, also what stands in a menu or a form."""
    from html_to_markdown import ConversionOptions, PreprocessingOptions, convert  # an extra

    options = ConversionOptions(
        hidden_content="all",
        preprocessing=PreprocessingOptions(enabled=False, remove_forms=False, remove_navigation=False),
        preserve_tags=["sub", "sup"],
    )
    return convert(kept_html(extraction), options).content or "", extraction


def markdownify(extraction: Extraction) -> tuple[str, Extraction]:
    """What markdownify makes of the HTML of the kept part."""
    from markdownify import markdownify as convert  # an extra

    html = kept_html(extraction)
    return convert(html, heading_style="ATX", sub_symbol="<sub>", sup_symbol="<sup>"), extraction


WRITERS: dict[str, Writer] = {
    OURS: mainmatter,
    "html-to-markdown": html_to_markdown,
    "markdownify": markdownify,
    "trafilatura": trafilatura,
}


def kept_html(extraction: Extraction) -> str:
    """The page's own HTML of what was kept: its text, the elements around that, and the images among it.

    Links are absolute. What a page shows in `<noscript>` is in divisions.
    """
    tree, segments = extraction.document.parse_again()
    body = tree.find("body")
    if body is None:
        return ""
    wanted: set[Node] = {node for i in np.flatnonzero(extraction.kept).tolist() for node in segments.text_nodes(i)}
    wanted |= images_among(tree, segments, extraction.kept.tolist())
    around = all_ancestors(wanted)
    nodes = list(body.descendants)
    for node in nodes:  # a space may have an element to itself, as in code
        if isinstance(node, Text) and node.data.isspace() and node.parent is not None:
            holder = node.parent
            if holder.parent in around and ROLES.get(getattr(holder, "tag", "")) in _INLINE_ROLES:
                around.add(holder)
    for node in nodes:
        is_glue = node.data.isspace() if isinstance(node, Text) else getattr(node, "tag", "") in _GLUE
        if not (is_glue or node in wanted or node in around):
            node.extract()
    for node in nodes:
        if isinstance(node, Element) and node.tag == "noscript":
            node.tag = "div"
    url = extraction.document.page.url or extraction.metadata.url or ""
    with suppress(ValueError):  # a link is not a valid URL
        body.resolve_links(tree.base_url(url) or url)
    return str(body.html)


def installed_writers() -> list[str]:
    """The names of the writers that can be measured here."""
    return [name for name in WRITERS if name == OURS or find_spec(name.replace("-", "_")) is not None]


def check_writers(names: Sequence[str]) -> None:
    """Check the names before any work.

    Raises:
        UnknownName: there is no such writer.
        MissingExtra: it is not installed.
    """
    for name in names:
        if name not in WRITERS:
            raise UnknownName("writer of Markdown", name, WRITERS)
        if name not in installed_writers():
            raise MissingExtra(name, "bench")


class Miss(NamedTuple):
    """Something that went wrong on a page: the page's id, what it was, and its text."""

    page: str
    kind: str
    text: str


@dataclass
class FidelityResult:
    """How faithful one writer was on one set of pages.

    Attributes:
        writer: its name.
        version: of its package.
        dataset: the name of the set.
        digest: of its pages.
        pages: how many were done.
        counts: for each kind, how many facts had to come through.
        missed: how many did not.
        invented: how many the Markdown has that the page does not.
        characters: letters and digits of the kept text.
        text: how many of them were lost, were there twice, or came from nowhere.
        raw_html: for each tag, how often it was left in the Markdown.
        faults: for each known fault, how often it was found.
        pages_with_fault: on how many pages.
        failures: the pages on which it failed, with the reason.
        misses: all that went wrong, page by page.
    """

    writer: str
    version: str
    dataset: str
    digest: str
    pages: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    invented: Counter[str] = field(default_factory=Counter)
    characters: int = 0
    text: Counter[str] = field(default_factory=Counter)
    raw_html: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    pages_with_fault: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str]] = field(default_factory=list)
    misses: list[Miss] = field(default_factory=list)

    def share(self, kind: str) -> float | None:
        """The share of facts of a kind that came through; None if there were none."""
        return 1 - self.missed[kind] / self.counts[kind] if self.counts[kind] else None

    def add(self, page: str, comparison: FactComparison, markdown: Structure) -> None:
        """Count what was found on one more page."""
        self.pages += 1
        self.counts.update(comparison.counts)
        self.missed.update(fact.kind for fact in comparison.missed)
        self.invented.update(fact.kind for fact in comparison.invented)
        self.characters += comparison.characters
        self.misses += [Miss(page, fact.kind, fact.text) for fact in comparison.missed]
        self.misses += [Miss(page, f"{fact.kind}, invented", fact.text) for fact in comparison.invented]
        words = (comparison.lost, comparison.doubled, comparison.strange)
        for kind, found in zip(_TEXT_KINDS, words, strict=False):
            if found:
                self.text[kind] += sum(len(word) * count for word, count in found.items())
                self.misses.append(Miss(page, kind, " ".join(found.elements())))
        self.raw_html.update(markdown.raw_html)
        if markdown.raw_html:
            self.misses.append(Miss(page, "raw HTML", " ".join(markdown.raw_html)))
        faults = Counter(markdown.faults)
        missed = Counter(fact.kind for fact in comparison.missed)
        if missed["strong"] or missed["emphasis"]:
            faults[LOSES_EMPHASIS] = 1
        if missed["strong"] and missed["strong"] == comparison.counts["strong"]:
            faults[LOSES_BOLD] = 1
        self.faults.update(faults)
        self.pages_with_fault.update(faults.keys())
        self.misses += [Miss(page, fault, f"{count} times") for fault, count in faults.items() if fault in FAULTS]


def measure_fidelity(
    names: Sequence[str], dataset: str, pages: Sequence[GoldPage], *, on_page: Callable[[], object] = lambda: None
) -> list[FidelityResult]:
    """Clean pages, write them as Markdown, and compare it with what was kept of them.

    Args:
        names: writers of Markdown; see `WRITERS`.
        dataset: the name of the dataset, for the report.
        pages: its pages.
        on_page: called after each page that all writers have done.

    Raises:
        UnknownName: there is no such writer.
        MissingExtra: it is not installed.
    """
    check_writers(names)
    structure_of_markdown("")  # is its parser there?
    digest = dataset_digest(pages)
    results = [FidelityResult(name, _version(name), dataset, digest) for name in names]
    for number, page in enumerate(pages):
        extraction = clean(page.page)
        if not extraction.document.has_markup:
            on_page()
            continue
        of_kept = structure_of_page(extraction)
        for result in results:
            name = page.page.id or str(number)
            try:
                markdown, reference = WRITERS[result.writer](extraction)
            except Exception as error:  # a writer's fault costs it the page, never the run
                result.failures.append((name, f"{type(error).__name__}: {error}"[:_SHOWN]))
                markdown, reference = "", extraction
            url = page.page.url or extraction.metadata.url or ""
            found = structure_of_markdown(markdown, url, formulas=result.writer == OURS)
            expected = of_kept if reference is extraction else structure_of_page(reference)
            if reference.marks_comments:
                _expect_comments(found)
            result.add(name, compare(expected, found), found)
        on_page()
    return results


def _expect_comments(found: Structure) -> None:
    """Leave out the heading that we set above comments."""
    for block in found.blocks:
        if block.kind == "heading" and block.text == COMMENTS:
            found.blocks.remove(block)
            break


def _version(name: str) -> str:
    if name == OURS:
        return version_of(DEFAULT_METHOD)
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


def tables(results: Sequence[FidelityResult]) -> str:
    """Three tables for each dataset: what came through, what was invented, and the faults, with a column a writer."""
    parts = []
    for dataset in dict.fromkeys(result.dataset for result in results):
        of_set = [result for result in results if result.dataset == dataset]
        parts += [f"{dataset}, {of_set[0].pages:,} pages: share that came through, and how many there are"]
        parts += [_share_table(of_set), "In the Markdown, but not on the page", _invented_table(of_set)]
        parts += ["Text, raw HTML and faults", _fault_table(of_set)]
    return "\n\n".join(parts)


def _share_table(results: Sequence[FidelityResult]) -> str:
    rows = [["kind", *(column for result in results for column in (result.writer, "of"))]]
    for kind in _KINDS:
        if any(result.counts[kind] for result in results):
            row = [kind]
            for result in results:
                share = result.share(kind)
                row += ["-" if share is None else f"{share:.4f}", f"{result.counts[kind]:,}"]
            rows.append(row)
    return format_table(rows)


def _invented_table(results: Sequence[FidelityResult]) -> str:
    rows = [["kind", *(result.writer for result in results)]]
    rows += [
        [kind, *(f"{result.invented[kind]:,}" for result in results)]
        for kind in _KINDS
        if any(result.invented[kind] or result.counts[kind] for result in results)
    ]
    return format_table(rows)


def _fault_table(results: Sequence[FidelityResult]) -> str:
    rows = [["what", *(result.writer for result in results)]]
    rows.append(["characters of the kept text", *(f"{result.characters:,}" for result in results)])
    names = {"text lost": "lost", "text twice": "there twice", "text from nowhere": "from nowhere"}
    for kind, name in names.items():
        rows.append([f"of these, {name}" if kind == "text lost" else name, *(f"{r.text[kind]:,}" for r in results)])
    rows.append(["raw HTML tags", *(f"{sum(result.raw_html.values()):,}" for result in results)])
    for fault in _PAGE_FAULTS:
        cells = [f"{result.faults[fault]:,} on {result.pages_with_fault[fault]:,} pages" for result in results]
        if fault in (LOSES_EMPHASIS, LOSES_BOLD):
            cells = [f"{result.pages_with_fault[fault]:,} pages" for result in results]
        rows.append([fault, *cells])
    rows.append(["pages that failed", *(f"{len(result.failures):,}" for result in results)])
    return format_table(rows)


def show_misses(results: Sequence[FidelityResult], count: int, kinds: Sequence[str] = ()) -> list[str]:
    """The first things that went wrong with each writer, a line each: the page, the kind, the text.

    Args:
        results: what was measured.
        count: how many for each writer and set.
        kinds: only kinds that begin with one of these; all by default.
    """
    lines = []
    for result in results:
        misses = [miss for miss in result.misses if not kinds or miss.kind.startswith(tuple(kinds))]
        number = f"the first {min(count, len(misses))} of {len(misses):,}" if misses else "nothing went wrong"
        lines += [f"{result.writer} on {result.dataset}: {number}"]
        lines += [f"  {m.page}  {m.kind}: {' '.join(m.text.split())[:_SHOWN]}" for m in misses[:count]]
    return lines


def write_fidelity(results: Sequence[FidelityResult], folder: Path, command: str) -> list[Path]:
    """Write fidelity.md and fidelity.json.

    Args:
        results: what was measured.
        folder: where the files go.
        command: the command that measured it.
    """
    page, figures = folder / "fidelity.md", folder / "fidelity.json"
    versions = dict.fromkeys(f"{result.writer} {result.version}" for result in results)
    sets = dict.fromkeys(f"{result.dataset} ({result.pages:,} pages, {result.digest})" for result in results)
    parts = [
        "# How faithful is the Markdown?",
        f"```sh\n{command}\n```",
        _EXPLANATION,
        tables(results),
        "## What was measured",
        "Sets, with a digest of their pages: " + ", ".join(sets) + ".",
        "Versions: " + ", ".join(versions) + ".",
    ]
    write_whole(page, ("\n\n".join(parts) + "\n").encode())
    facts = [{key: value for key, value in vars(result).items() if key != "misses"} for result in results]
    write_whole(figures, json.dumps({"command": command, "results": facts}, ensure_ascii=False, indent=1).encode())
    return [page, figures]
