"""Digests of everything that mainmatter puts out, so that a change that should change no output can show it.

    python scripts/digests.py check                 compare this version's outputs with those that were recorded
    python scripts/digests.py check --every 40 --sets wcxb-dev readability
    python scripts/digests.py record                record them anew, after a change that was wanted
    python scripts/digests.py models                write those of the models that ship, which reading them compares

Covered are, by every method: every tenth page of the gold standards, also as a plain-text dump, and our own pages;
tables of `mainmatter evaluate`; and a corpus of the example archive. Pages of the gold standards are written as JSON,
which holds text and decisions, and by `main` in every format. Scores are compared as JSON prints them, with four
digits, and differ now and then between machines. What the tests compare on any machine, our own pages and some of the
gold standards (`--without-scores --every 40`), is written in every format but those with scores. Of the
gold standards house-wcxb and trafilatura-eval-a are left out unless they are named: wcxb-dev and house-a hold their
pages. With `--pages-file` the digest of each page, method and format is written too, so as to trace a difference.

tests/digests.json holds two digests for each set and method: one of text and decisions, and one of the formats with
markup, which change more often.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from mainmatter import Method, Page, get_method, read
from mainmatter.models.store import DESCRIPTION, DIGESTS, SHIPPED
from mainmatter.registry import DEFAULT_METHOD, FORMATS

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "tests" / "digests.json"
OWN_PAGES = ("examples/site", "tests/quality/pages/html", "tests/pages")
SAME_PAGES = {"house-wcxb", "trafilatura-eval-a"}  # as in wcxb-dev and house-a
METHODS = (
    "main main:dial=0.2 main:dial=0.8 main:comments=mark density fiasco ice-baseline ice-elaborate ice-heuristic "
    "ice-lm ice-regex ice-tree ncleaner ncleaner:lexical=False template"
).split()
TABLES = ("cleaneval-dev", "readability", "trafilatura-eval-a")
MARKUP = {"html", "markdown", "tei"}
# Scores differ in their last digits from processor to processor, whose products of matrices differ in rounding.
WITHOUT_SCORES = tuple(name for name in FORMATS if name not in ("json", "jsonl"))
BATCH = 25


def main() -> None:
    """Record the digests, or compare with those that were recorded, or write those of the models."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["record", "check", "models"])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the gold standards")
    parser.add_argument("--recorded", type=Path, default=RECORDED, help="the file of recorded digests")
    parser.add_argument("--pages-file", type=Path, help="a file for the digests of single pages (JSONL), to trace with")
    parser.add_argument("--every", type=int, default=10, help="only every nth page of each set (needs its own record)")
    parser.add_argument("--without-scores", action="store_true", help="what is the same on any machine")
    parser.add_argument("--sets", nargs="*", help="only these sets")
    parser.add_argument("--methods", nargs="*", default=METHODS, help="only these methods")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--pages-only", action="store_true", help="no tables, no corpus")
    options = parser.parse_args()
    if options.action == "models":
        (SHIPPED / DIGESTS).write_text(model_digests(), "ascii")
        return
    found = _digests(options)
    recorded = json.loads(options.recorded.read_text("utf-8")) if options.recorded.exists() else {}
    if options.action == "record":
        options.recorded.write_text(json.dumps(recorded | found, indent=0, sort_keys=True) + "\n", "utf-8")
        print(f"{len(found)} digests written to {options.recorded}")
        return
    unknown = sorted(found.keys() - recorded.keys())
    differing = sorted(name for name in found.keys() & recorded.keys() if found[name] != recorded[name])
    for name in differing:
        print(f"differs: {name}")
    for name in unknown:
        print(f"not recorded: {name}")
    print(f"{len(found)} digests, {len(differing)} differ, {len(unknown)} were not recorded")
    sys.exit(1 if differing or unknown or not found else 0)


def _digests(options: argparse.Namespace) -> dict[str, str]:
    """The digests by name: "SET, every N: METHOD" and so on."""
    sets = options.sets or sorted({path.stem for path in options.data.glob("*.parquet")} - SAME_PAGES)
    found: dict[str, str] = {}
    pages_file = options.pages_file.open("w", encoding="utf-8") if options.pages_file else None
    for name in sets:
        start = time.monotonic()
        path = options.data / f"{name}.parquet"
        rows = list(range(0, pq.read_metadata(path).num_rows, options.every))
        batches = [rows[first : first + BATCH] for first in range(0, len(rows), BATCH)]
        sums = Sums()
        with ProcessPoolExecutor(options.workers) as pool:
            formats = WITHOUT_SCORES if options.without_scores else tuple(FORMATS)
            jobs = [pool.submit(set_digests, str(path), batch, tuple(options.methods), formats) for batch in batches]
            for job in jobs:
                sums.add(job.result())
                for page, key, one in job.result() if pages_file else ():
                    print(json.dumps([name, page, key, one]), file=pages_file)
        which = f"{name}, every {options.every}{', without scores' if options.without_scores else ''}"
        found |= {f"{which}: {key}": whole for key, whole in sums.digests().items()}
        print(f"{name}: {len(rows)} pages, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    if not options.pages_only:
        found |= own_digests() | _corpus_digests() | _table_digests(options.data)
    return found


class Sums:
    """Digests of pages put together, by method; formats with markup have one of their own."""

    def __init__(self) -> None:
        self._sums: dict[str, hashlib._Hash] = {}

    def add(self, found: list[tuple[str, str, str]]) -> None:
        """Add what `page_digests` gives."""
        for page, key, one in found:
            method, _, output = key.rpartition("/")
            name = f"{method}, markup" if output in MARKUP else method or key
            self._sums.setdefault(name, hashlib.sha256()).update(f"{page} {key} {one}\n".encode())

    def digests(self) -> dict[str, str]:
        """The digests so far, by method."""
        return {name: whole.hexdigest()[:20] for name, whole in self._sums.items()}


def own_digests() -> dict[str, str]:
    """The digests of the pages that we wrote, by method, in all formats without scores."""
    made, sums = {name: get_method(name) for name in METHODS}, Sums()
    for path in sorted(path for folder in OWN_PAGES for path in (ROOT / folder).rglob("*.html")):
        page = Page(path.read_bytes(), f"https://own.example/{path.name}", path.name)
        sums.add(page_digests(page, made, WITHOUT_SCORES))
    return {f"own pages: {key}": whole for key, whole in sums.digests().items()}


def set_digests(
    path: str, rows: list[int], methods: tuple[str, ...], formats: tuple[str, ...] = tuple(FORMATS)
) -> list[tuple[str, str, str]]:
    """The digests of some rows of a gold standard."""
    table = pq.read_table(path, columns=["id", "url", "html"]).take(rows).to_pylist()
    made = {name: get_method(name) for name in methods}
    pages = (Page(row["html"], row["url"], row["id"]) for row in table)
    return [found for page in pages for found in page_digests(page, made, formats)]


def page_digests(page: Page, made: dict[str, Method], formats: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """The page, the method and format, and the digest, for each method and format."""
    found = []
    document, name_of_page = read(page), page.id or ""
    for name, method in made.items():
        extraction = method.extract(document)
        chosen = ("json",) if name != DEFAULT_METHOD and "json" in formats else formats
        found += [(name_of_page, f"{name}/{output}", digest(extraction.render(output))) for output in chosen]
    dump = read(Page("\n".join(document.texts), page.url, page.id, format="text"))
    for name in ("main", "ncleaner", "ice-heuristic"):
        if (judge := made.get(name)) is not None:
            output = "json" if "json" in formats else "text"
            found += [(name_of_page, f"{name}/{output} of a dump", digest(judge.extract(dump).render(output)))]
    found.append((name_of_page, "metadata", digest(repr(document.metadata))))
    links = [np.asarray(document.columns.link_chars).tolist(), document.columns.positions]
    found.append((name_of_page, "columns", digest(json.dumps(links))))
    return found


def _corpus_digests() -> dict[str, str]:
    """A corpus of the example archive: rows, rejects, summary."""
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for name, options in {
            "plain": [],
            "all": ["--blocks", "--drop-duplicates", "near", "--site-templates"],
        }.items():
            out = Path(folder) / name
            archive = str(Path("examples") / "crawl.warc.gz")
            command = ["corpus", archive, "-o", str(out), "--format", "jsonl", *options]
            subprocess.run([sys.executable, "-m", "mainmatter", *command], cwd=ROOT, check=True, capture_output=True)
            for path in sorted(out.rglob("*.jsonl*")):
                if "__run" not in path.parts:
                    whole = hashlib.sha256(path.read_bytes()).hexdigest()[:20]
                    found[f"corpus {name}: {path.relative_to(out)}"] = whole
    return found


def _table_digests(data: Path) -> dict[str, str]:
    """The tables of `mainmatter evaluate`, as JSON: every metric."""
    found = {}
    metrics = "align bag cleaneval lcs metadata rouge shingle snippet".split()
    for name in TABLES:
        command = ["evaluate", "main", "density", "ncleaner", "ice-tree", "--on", name, "--data", str(data), "--groups"]
        command += [word for metric in metrics for word in ("--metric", metric)]
        run = subprocess.run([sys.executable, "-m", "mainmatter", *command], check=True, capture_output=True, text=True)
        found[f"evaluate: {name}"] = digest(run.stdout)
    return found


def model_digests() -> str:
    """The digests of all files that models are read from, as `sha256sum` writes them."""
    folders = sorted(file.parent for file in SHIPPED.glob(f"*/{DESCRIPTION}"))
    files = [file for folder in folders for file in sorted([folder / DESCRIPTION, *folder.glob("*.npz")])]
    return "".join(
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(SHIPPED).as_posix()}\n" for file in files
    )


def digest(text: str) -> str:
    """A short digest of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


if __name__ == "__main__":
    main()
