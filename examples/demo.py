"""What `make demo` runs: turn an archive into a corpus, search it; clean pages, explain a decision, draw a picture."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
OUT = Path("demo-output")


def main() -> None:
    """Run the commands that a new user would, and say what each one does."""
    run(
        "Turn the archive of a crawl into a corpus, without duplicates, and with what the site repeats left out",
        *("corpus", "examples/crawl.warc.gz", "-o", f"{OUT}/corpus", "--restart"),
        *("--site-templates", "--noindex", "--drop-duplicates", "near", "--report", f"{OUT}/corpus.html"),
    )
    run("Make it searchable", "index", f"{OUT}/corpus", "-o", f"{OUT}/index")
    run("Search it for a word that stands in the navigation of every page", "search", f"{OUT}/index", "tickets")
    run("Clean the example site into Markdown files", "clean", "examples/site", "-f", "markdown", "-o", f"{OUT}/site")
    run("The main matter of one page, as text", "clean", "examples/site/blog/lens.html")
    run(
        "Why? Every block of a forum thread, and the signals for and against it",
        "explain",
        "examples/site/forum/thread-41.html",
    )
    run(
        "A page with what its readers said, set apart",
        "clean",
        "examples/site/blog/keepers-garden.html",
        "--comments",
        "mark",
    )
    run("Of a product page, only what is sure", "clean", "examples/site/shop/storm-lantern.html", "--dial", "0.1")
    run("A plain-text dump, by a method of the ICE paper", "clean", "examples/dump.txt", "-m", "ice-heuristic")
    run("A picture of it", "plot", "examples/site/blog/lens.html", "-o", f"{OUT}/lens.png")
    print(f"\nThe results lie in {OUT}/:")
    for file in sorted((ROOT / OUT).rglob("*.*")):
        if file.is_file() and not {"__run", "index", ".huggingface.yaml"} & set(file.parts):  # what only programs read
            print(f"  {file.relative_to(ROOT)}  {file.stat().st_size:,} bytes")
    print(f"\n{OUT}/corpus.html is a report of the corpus; open it in a browser.")
    print("To see pages and what is kept of them, compare, correct and teach:")
    print("  .venv/bin/mainmatter serve --open --corpus demo-output/corpus")


def run(title: str, *arguments: str) -> None:
    """Show and run one mainmatter command."""
    print(f"\n# {title}\n$ mainmatter {' '.join(arguments)}", flush=True)
    subprocess.run([sys.executable, "-m", "mainmatter", *arguments], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
