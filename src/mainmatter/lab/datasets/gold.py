"""Gold standards: those that we know by name, one reader for all layouts, and splits by site.

Those with a name are not part of the package: `mainmatter evaluate --data DIR` looks for `NAME.parquet` in a folder.
The layouts:

a Parquet file     columns id, url, html, gold, gold_marked, lang, page_type, must_have, must_not_have, labels, ...
html/ and gold/    NAME.html beside NAME.txt; a file index.json beside the two folders may give, by NAME, an object with
                   page_type, lang, must_have, must_not_have, url, charset, format, lines_are_blocks and labels; a
                   plain-text dump, whose format is "text", may be NAME.txt
CleanEval's own    en_original/ and en_cleaned/, or input/ and GoldStandard/; the gold text is marked up, and may
                   begin with a line that gives the URL

Labels are what annotators said of each block, one object a block: ref, text, kept and kind (lab/datasets/labels.py).
`mainmatter annotations export` writes the first two layouts with them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from mainmatter.errors import DatasetError, MissingExtra, UnknownName
from mainmatter.html.parse import decode
from mainmatter.inputs.sites import site_of_page, split_by_site
from mainmatter.lab.datasets.labels import LABEL_KINDS, Label
from mainmatter.method import OUR_CONVENTION
from mainmatter.records import Gold, Page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Pairs of folders: pages, gold texts.
_FOLDERS = (
    ("html", "gold"),
    ("en_original", "en_cleaned"),
    ("original", "cleaned"),
    ("finalrun-input", "GoldStandard"),
    ("input", "GoldStandard"),
)
Use = Literal["training", "papers", "tests"]
_INDEX = "index.json"
_GROUPS = ("page_type", "lang")
_PIECES = ("byline", "captions", "comments")  # what gold standards with all three columns keep apart
_SNIPPETS = ("must_have", "must_not_have")
_TEXTS = ("url", "charset", "gold", "gold_marked", "title", "author")
_OF_INDEX = (*_GROUPS, *_SNIPPETS, "format", "lines_are_blocks", "labels")
_PAGE_ENDINGS = frozenset((".html", ".htm", ".xhtml"))
_MARKER = re.compile(r"^\s*<[hpl]>", re.IGNORECASE | re.MULTILINE)
_URL_LINE = re.compile(r"\AURL(?::\s*|\s+(?=\w+://|www\.))(\S+)[^\n]*\n?")


@dataclass(frozen=True, slots=True)
class Dataset:
    """A gold standard.

    Attributes:
        name: its name, which is the name of its file.
        pages: how many pages it has.
        description: what it is.
        licence: the licence of the data.
        use: "training", if all weights that ship may be trained on it; "papers", if only those of the papers' presets
            may, since its licence is not free enough for the others; "tests", if none may.
        convention: the rules that it follows about headlines, bylines, captions and comments, as far as training knows
            them: the name of a set, or of ours.
    """

    name: str
    pages: int
    description: str
    licence: str
    use: Use
    convention: str = OUR_CONVENTION


_ALL = (
    Dataset("cleaneval-dev", 57, "CleanEval 2007, development set", "free for research", "papers", "cleaneval"),
    Dataset("cleaneval-final", 674, "CleanEval 2007, test set", "free for research", "tests", "cleaneval"),
    Dataset("cleanportaleval", 70, "CleanEval's format, four portals", "free for research", "tests"),
    Dataset("daniel-a", 698, "DAnIEL: Chinese, English, Greek, Polish, Russian news", "research", "tests"),
    Dataset("dragnet", 1381, "Dragnet 2012", "AGPL v3", "tests"),
    Dataset("forum52-a", 64, "threads of 33 boards: the text of each post", "Apache 2.0", "training", "forum52"),
    Dataset("fundus-a", 142, "news of 103 publishers: no headline, no captions", "MIT", "training", "fundus"),
    Dataset(
        "house-a", 1075, "pages of all types in 40 languages, by our labelling guide", "Apache 2.0, MIT", "training"
    ),
    Dataset(
        "house-wcxb", 575, "pages of wcxb-dev that are no articles, by our labelling guide", "CC BY 4.0", "training"
    ),
    Dataset("l3s-gn1", 559, "L3S-GN1 2010: news", "research use only", "tests"),
    Dataset("magic-a", 124, "magic-html: articles and forum threads, half Chinese", "Apache 2.0", "training", "magic"),
    Dataset("readability", 130, "test pages of Mozilla's Readability", "Apache 2.0", "training", "readability"),
    Dataset("trafilatura-eval-a", 497, "trafilatura's evaluation: snippets, many languages", "Apache 2.0", "training"),
    Dataset("wcxb-dev", 1497, "WCXB 2026, development split: seven page types", "CC BY 4.0", "training", "wcxb"),
    Dataset("zh-news-a", 12, "Chinese news, no headline", "MIT", "training", "zh-news"),
)
DATASETS: dict[str, Dataset] = {dataset.name: dataset for dataset in _ALL}


@dataclass(frozen=True, slots=True)
class GoldPage:
    """A page, and what the gold standard says about it.

    Attributes:
        page: the page as fetched.
        gold: its main content, snippets and metadata.
        groups: what to report separately by, such as {"page_type": "forum", "lang": "en"}.
        labels: what annotators said of its blocks, in the order of the page; None where there is gold text only.
        convention: that of its gold standard (see `Dataset`).
    """

    page: Page
    gold: Gold
    groups: dict[str, str]
    labels: tuple[Label, ...] | None = None
    convention: str = OUR_CONVENTION


def load_dataset(name: str, data: str | Path | None = None) -> list[GoldPage]:
    """Read a gold standard.

    Args:
        name: the name of one in the table, or the path of a Parquet file or of a folder.
        data: the folder where the named ones are.

    Raises:
        UnknownName: it is neither a name nor looks like a path.
        DatasetError: it is missing, damaged or in no known layout.
        MissingExtra: Parquet files need pyarrow.
    """
    path = Path(name)
    if name in DATASETS and not path.exists():
        path = Path(data or ".") / f"{name}.parquet"
        if not path.is_file():
            raise DatasetError(f"{path}: no such file; use --data to name the folder that holds {name}.parquet")
    if path.is_dir():
        pages = list(_read_folder(path))
    elif path.suffix.lower() == ".parquet" and path.is_file():
        pages = list(_read_parquet(path))
    elif path.exists():
        raise DatasetError(f"{path}: neither a Parquet file nor a folder")
    elif path.name != name or path.suffix:
        raise DatasetError(f"{name}: no such file or folder")
    else:
        raise UnknownName("dataset", name, DATASETS)
    if not pages:
        raise DatasetError(f"{path}: holds no page")
    if name in DATASETS and DATASETS[name].convention != OUR_CONVENTION:
        pages = [replace(page, convention=DATASETS[name].convention) for page in pages]
    # Of pages with snippets only, nothing is known about the whole text.
    if not any(page.gold.text or page.labels is not None for page in pages):
        return [replace(page, gold=replace(page.gold, text=None)) for page in pages]
    return pages


def _read_parquet(path: Path) -> Iterator[GoldPage]:
    try:
        from pyarrow import ArrowException  # an extra
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtra("pyarrow", "eval") from error
    try:
        with ParquetFile(path) as file:
            if "html" not in file.schema_arrow.names:
                raise DatasetError(f"{path}: not a gold standard; it has no column html")
            # Others, too, may call a column labels; theirs say nothing of our blocks.
            columns = [field.name for field in file.schema_arrow if field.name != "labels" or _are_ours(field.type)]
            rows = (row for batch in file.iter_batches(batch_size=64, columns=columns) for row in batch.to_pylist())
            for number, row in enumerate(rows, 1):
                name = f"row {number:,}" if row.get("id") is None else f"page {row['id']!r}"
                yield _from_row(row, f"{path}: {name}")
    except (ArrowException, OSError, UnicodeError) as error:  # the last from names of columns
        raise DatasetError(f"{path}: cannot be read as a Parquet file: {' '.join(str(error).split())}") from error


def _are_ours(kind: Any) -> bool:  # a type of pyarrow, which is an extra
    """Whether a column holds the labels of blocks: lists of objects with a reference each."""
    from pyarrow import types

    is_list = types.is_list(kind) or types.is_large_list(kind)
    return bool(is_list and types.is_struct(kind.value_type) and kind.value_type.get_field_index("ref") >= 0)


def _from_row(row: dict[str, Any], where: str) -> GoldPage:
    if row["html"] is None:
        raise DatasetError(f"{where}: has no html")
    if not isinstance(row["html"], str | bytes):
        raise DatasetError(f"{where}: html is {row['html']!r:.200}, not text or bytes")
    for name in _TEXTS:
        if not isinstance(row.get(name), str | None):
            raise DatasetError(f"{where}: {name} is {row[name]!r:.200}, not text")
    for name in _SNIPPETS:
        value = row.get(name)
        if value is not None and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
            raise DatasetError(f"{where}: {name} is not a list of strings")
    page_format: Literal["html", "text"] = "text" if row.get("format") == "text" else "html"
    return GoldPage(
        Page(
            row["html"],
            row.get("url"),
            None if row.get("id") is None else str(row["id"]),  # pages may be numbered
            row.get("charset"),
            page_format,
            lines_are_blocks=row.get("lines_are_blocks") is True,
        ),
        Gold(
            text=row.get("gold"),
            marked=row.get("gold_marked"),
            must_have=tuple(row.get("must_have") or ()),
            must_not_have=tuple(row.get("must_not_have") or ()),
            title=row.get("title"),
            author=row.get("author"),
            date=None if row.get("date") is None else str(row["date"]),
            **{
                name: row[name] or ""
                for name in _PIECES
                if all(isinstance(row.get(piece, 0), str | None) for piece in _PIECES)
            },
        ),
        {group: str(row[group]) for group in _GROUPS if row.get(group)},
        _to_labels(row.get("labels"), where),
    )


def _to_labels(content: Any, where: str) -> tuple[Label, ...] | None:  # whatever a file holds
    """The labels of a page's blocks; None where there are none."""
    if content is None:
        return None
    if not isinstance(content, list):
        raise DatasetError(f"{where}: labels are not a list")
    return tuple(_to_label(label, where) for label in content)


def _to_label(content: Any, where: str) -> Label:
    match content:
        case {"ref": str(ref), "text": str(text), "kept": bool(kept), "kind": kind} if kind in LABEL_KINDS:
            return Label(kept, kind, ref, text, str(content.get("suggested_by") or ""))
    kinds = ", ".join(LABEL_KINDS)
    raise DatasetError(f"{where}: not a label: {content!r:.200}; a label has ref, text, kept and kind, one of {kinds}")


def _read_folder(path: Path) -> Iterator[GoldPage]:
    for pages, golds in _FOLDERS:
        if (path / pages).is_dir() and (path / golds).is_dir():
            yield from _read_pairs(path / pages, path / golds, path / _INDEX)
            return
    wanted = ", or ".join(f"{pages}/ and {golds}/" for pages, golds in _FOLDERS)
    raise DatasetError(f"{path}: not a gold standard; expected {wanted}")


def _read_pairs(pages: Path, golds: Path, index_file: Path) -> Iterator[GoldPage]:
    index = _read_index(index_file)
    gold_files = {file.stem: file for file in sorted(golds.glob("*.txt"))}
    for file in sorted(pages.iterdir()):
        facts = index.get(file.stem, {})
        is_dump = file.suffix == ".txt" and facts.get("format") == "text"
        if file.suffix.lower() not in _PAGE_ENDINGS and not is_dump:
            continue
        gold_file = gold_files.get(file.stem) or gold_files.get(f"{file.stem}-cleaned")
        if gold_file is None:
            raise DatasetError(f"{file}: has no gold text; expected {golds / (file.stem + '.txt')}")
        where = f"{index_file}: {file.stem}"
        yield _from_row(_row_of_files(file, gold_file, facts), where)


def _read_index(file: Path) -> dict[str, dict[str, Any]]:
    """What a folder's index says about each page, by the page's name; nothing where there is no index."""
    if not file.is_file():
        return {}
    try:
        index = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DatasetError(f"{file}: cannot be read as JSON: {error}") from error
    if not isinstance(index, dict) or not all(isinstance(facts, dict) for facts in index.values()):
        raise DatasetError(f"{file}: not an index; expected an object that holds one object for each page")
    return index


def _row_of_files(page_file: Path, gold_file: Path, facts: dict[str, Any]) -> dict[str, Any]:
    """A page of a folder as the row of a table, with what the index says about it."""
    try:
        html, (text, _) = page_file.read_bytes(), decode(gold_file.read_bytes())
    except OSError as error:
        raise DatasetError(f"{error.filename}: cannot be read: {error.strerror}") from error
    url_line = _URL_LINE.match(text)
    if url_line:
        text = text[url_line.end() :]
    is_marked = _MARKER.search(text) is not None
    gold, marked = (_MARKER.sub("", text), text) if is_marked else (text, None)
    if facts.get("labels") is not None and marked is None and not gold:
        marked = ""  # it is known that nothing is main matter
    url, charset = (value if isinstance(value := facts.get(name), str) else None for name in ("url", "charset"))
    return {
        **{name: facts.get(name) for name in _OF_INDEX},
        "id": page_file.stem,
        "html": html,
        "url": url or (url_line[1] if url_line else None),
        "charset": charset,
        "gold": gold,
        "gold_marked": marked,
    }


def site_of(gold_page: GoldPage) -> str:
    """The site that a page is of: its registered domain, as well as that can be told; without a URL, itself."""
    return site_of_page(gold_page.page)


def folds_by_site(pages: Sequence[GoldPage], folds: int, seed: int = 0) -> list[list[int]]:
    """Split pages into folds of about the same size, no site in two of them; gives the pages' numbers.

    Some folds are empty where there are fewer sites than folds.
    """
    return split_by_site([site_of(page) for page in pages], folds, seed)


def sample_by_site(pages: Sequence[GoldPage], most: int | None, seed: int = 0) -> Sequence[GoldPage]:
    """At most so many pages, drawn at random, of as many sites as there are; in the order of the set."""
    if most is None or len(pages) <= most:
        return pages
    order = list(range(len(pages)))
    Random(seed).shuffle(order)  # no secret
    seen: Counter[str] = Counter()
    turns = {}
    for number in order:
        site = site_of(pages[number])
        turns[number] = seen[site]
        seen[site] += 1
    chosen = sorted(order, key=lambda number: turns[number])[
        :most
    ]  # stable: the first page of each site, then the next
    return [pages[number] for number in sorted(chosen)]
