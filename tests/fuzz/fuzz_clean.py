"""A fuzz target for atheris; run by hand: `pip install atheris && python tests/fuzz/fuzz_clean.py [CORPUS]`.

Any exception but NotAPage is a finding: the core never raises on what a page contains. pytest does not collect this
file; the seeded fuzz test beside it (test_mutations.py) runs with the others.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any
from xml.etree import ElementTree as ET

import mainmatter
from mainmatter.records import Page
from mainmatter.registry import FORMATS, METHODS

_METHODS = sorted(METHODS)
_CHARSETS = [None, "utf-8", "utf-16le", "shift_jis", "windows-1252", "iso-2022-jp", "gb18030", "no-such-charset"]


def clean_any(data: bytes) -> None:
    """Clean a page made of fuzzed bytes: two choose the method, charset and format, the others are the page."""
    choice, data = data[:2].ljust(2, b"\0"), data[2:]
    page = Page(
        data if choice[0] & 1 else data.decode("utf-8", "surrogatepass" if choice[0] & 2 else "replace"),
        "https://e.example/" if choice[0] & 4 else None,
        charset=_CHARSETS[choice[1] % len(_CHARSETS)],
        format="text" if choice[0] & 8 else "html",
    )
    found = mainmatter.clean(page, method=_METHODS[choice[1] // 16 % len(_METHODS)])
    outputs = {name: found.render(name) for name in FORMATS}
    json.loads(outputs["json"])
    ET.fromstring(outputs["tei"].encode())
    if "<script" in outputs["html"].lower():
        raise AssertionError("a script survived")


def fuzz_one(data: bytes) -> None:
    """What atheris calls: bytes that cannot be such a page are of no interest."""
    with suppress(UnicodeDecodeError, mainmatter.NotAPage):
        clean_any(data)


def main() -> None:
    """Run the fuzzer."""
    try:
        atheris: Any = import_module("atheris")
    except ImportError:
        sys.exit("this needs atheris; run: pip install atheris")
    atheris.instrument_all()
    atheris.Setup(sys.argv, fuzz_one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
