"""What one compiled wheel for all versions of Python (abi3, the limited API) would cost in speed.

It compiles two copies of the sources, in full and for the limited API, and cleans the same pages with both and with
pure Python, in processes of their own that take turns. Each page counts with the fastest of its times. The figures are
in docs/explanation/dependencies.md. Needs Cython, setuptools and a C compiler.

    python scripts/measure_abi3.py --data ../shared/data
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mainmatter.api import clean
from mainmatter.lab.datasets import load_dataset

ROOT = Path(__file__).parents[1]
FULL = "Extension(module, source)"
LIMITED = "Extension(module, source, py_limited_api=True, define_macros=[('Py_LIMITED_API', '0x030b0000')])"
ROUNDS = 9


def main() -> None:
    """Compile, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder of gold standards")
    parser.add_argument("--on", default="wcxb-dev")
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments)
        return
    with tempfile.TemporaryDirectory() as folder:
        trees = {"full": Path(folder, "full"), "abi3": Path(folder, "abi3")}
        sizes = {name: compile_copy(tree, limited=name == "abi3") for name, tree in trees.items()}
        workers = {name: start(tree) for name, tree in trees.items()} | {
            "pure": start(trees["full"], MAINMATTER_PURE="1")
        }
        best = {name: [float("inf")] * arguments.pages for name in workers}
        for _ in range(ROUNDS):
            for number in range(arguments.pages):
                for name, worker in workers.items():
                    best[name][number] = min(best[name][number], ask(worker, number))
        for worker in workers.values():
            worker.communicate()
    print(f"{arguments.pages} pages of {arguments.on}, best of {ROUNDS} rounds")
    for name, times in best.items():
        mean, ratio = sum(times) / len(times) * 1e3, sum(times) / sum(best["full"])
        print(f"{name}: {mean:.2f} ms/page, {ratio:.2f} times full, {sizes.get(name, 0) / 1e6:.1f} MB of extensions")


def compile_copy(tree: Path, *, limited: bool) -> int:
    """Copy what is compiled to a folder, and compile it there; returns the size of the extensions."""
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("*.so", "*.pyd", "compiled.json"))
    hook = (ROOT / "hatch_build.py").read_text(encoding="utf-8")
    assert hook.count(FULL) == 1
    (tree / "hatch_build.py").write_text(hook.replace(FULL, LIMITED if limited else FULL), encoding="utf-8")
    environment = os.environ | {"MAINMATTER_REQUIRE_COMPILED": "1", "MAINMATTER_PURE": "0"}
    subprocess.run([sys.executable, "hatch_build.py"], check=True, cwd=tree, env=environment)
    return sum(file.stat().st_size for file in tree.rglob("*.so"))


def start(tree: Path, **variables: str) -> subprocess.Popen[str]:
    """A process that cleans pages with the code of a folder."""
    return subprocess.Popen(
        [sys.executable, __file__, *sys.argv[1:], "--worker"],
        env=os.environ | {"PYTHONPATH": str(tree / "src"), "OPENBLAS_NUM_THREADS": "1"} | variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def ask(worker: subprocess.Popen[str], number: int) -> float:
    """The seconds that a process takes for a page."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(f"{number}\n")
    worker.stdin.flush()
    return float(worker.stdout.readline())


def work(arguments: argparse.Namespace) -> None:
    """In such a process: clean the pages whose numbers come, from bytes to text."""
    pages = random.Random(0).sample(load_dataset(arguments.on, arguments.data), arguments.pages)  # noqa: S311
    for line in sys.stdin:
        begin = time.process_time()
        _ = clean(pages[int(line)].page).text
        print(time.process_time() - begin, flush=True)


if __name__ == "__main__":
    main()
