"""What `make demo` runs: clean the example site, show one page, explain one decision, draw one picture."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
OUT = Path("demo-output")


def main() -> None:
    """Run the commands that a new user would, and say what each one does."""
    run("Clean the example site into Markdown files", "clean", "examples/site", "-f", "markdown", "-o", f"{OUT}/site")
    run("The main matter of one page, as text", "clean", "examples/site/blog/lens.html")
    run("The same for a plain-text dump", "clean", "examples/dump.txt")
    run("Why? What was kept of the product page, and the reasons", "explain", "examples/site/shop/storm-lantern.html")
    run("The same by a method that has learned", "clean", "examples/site/shop/storm-lantern.html", "-m", "fiasco")
    run("A picture of it", "plot", "examples/site/blog/lens.html", "-o", f"{OUT}/lens.png")
    print(f"\nThe results lie in {OUT}/:")
    for file in sorted((ROOT / OUT).rglob("*.*")):
        print(f"  {file.relative_to(ROOT)}  {file.stat().st_size:,} bytes")


def run(title: str, *arguments: str) -> None:
    """Show and run one mainmatter command."""
    print(f"\n# {title}\n$ mainmatter {' '.join(arguments)}", flush=True)
    subprocess.run([sys.executable, "-m", "mainmatter", *arguments], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
