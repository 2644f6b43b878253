"""What `make demo` runs: a page is cleaned, a crawl becomes a corpus and is searched.

Lines are wrapped to the width of the terminal; apart from that, the output is what the commands print.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parent.parent
OUT = "demo-output"
PAGE = "examples/site/forum/thread-41.html"
CRAWL = "examples/crawl.warc.gz"


def main() -> None:
    """Run the commands, and say what each one does."""
    say("mainmatter keeps the main text of a web page and drops the rest.")

    say("1. A PAGE. This is the whole text of a forum thread:")
    show(" ".join(output_of("clean", PAGE, "-m", "ice-baseline").split()))
    say("And this is what mainmatter keeps: the headline and every post.")
    run("clean", PAGE)
    say("`--with bylines` also keeps who wrote each post; `mainmatter explain` gives the reasons block by block.")

    say("2. A CRAWL becomes a corpus in Parquet. Dropped pages are counted and recorded with the reason.")
    corpus = f"{OUT}/corpus"
    run(*("corpus", CRAWL, "-o", corpus, "--drop-duplicates", "near", "--report", f"{OUT}/report.html", "--restart"))
    say('Now you can search it. "Tickets" is in the menu of every page, but only two pages are about tickets:')
    run("index", corpus)
    run("search", corpus, "tickets")

    say("WHERE TO LOOK NEXT")
    for what, where in (
        ("To run mainmatter yourself", ". .venv/bin/activate"),
        ("To see and correct pages", "pip install --editable '.[serve]'"),
        ("", f"mainmatter serve --open --corpus {corpus}"),
        ("What is in this corpus", f"{OUT}/report.html"),
        ("A tutorial of 15 minutes", "docs/tutorial/first-steps.md"),
        ("Accuracy and speed", "docs/results/index.md"),
    ):
        print(f"  {what:<28}{where}")


def say(text: str) -> None:
    """Print a paragraph of explanation."""
    print(f"\n{textwrap.fill(text, _width())}", flush=True)


def run(*arguments: str) -> None:
    """Show a mainmatter command and what it prints."""
    command = " ".join(("$ mainmatter", *arguments))
    print(f"\n{textwrap.fill(command, _width(), subsequent_indent='    ', break_on_hyphens=False)}", flush=True)
    show(output_of(*arguments))


def output_of(*arguments: str) -> str:
    """What a mainmatter command prints."""
    command = [sys.executable, "-m", "mainmatter", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        sys.exit(f"this command failed: mainmatter {' '.join(arguments)}\n{done.stderr}")
    return done.stdout.strip("\n")


def show(text: str) -> None:
    """Print text that a command gave, indented and wrapped, without its blank lines."""
    for line in filter(None, text.splitlines()):
        indent = "  " + " " * (len(line) - len(line.lstrip()))
        print(textwrap.fill(line, _width(), initial_indent="  ", subsequent_indent=indent, break_on_hyphens=False))


def _width() -> int:
    return min(shutil.get_terminal_size().columns, 100)


if __name__ == "__main__":
    main()
