"""Does what was installed work? Run it with the Python of a fresh environment; it needs nothing but the core.

python -I scripts/smoke.py
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import mainmatter
from mainmatter.compiled import status
from mainmatter.models.store import SHIPPED, is_model, load
from mainmatter.registry import FORMATS

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "examples" / "site"
PAGE = SITE / "de" / "nebelhorn.html"
WORD = "Nebelhorn"  # of its main matter
EACH = 2  # processes


def main() -> None:
    """Clean pages in every way, and say what ran."""
    assert ROOT not in Path(mainmatter.__file__).parents, f"{mainmatter.__file__} is not installed"
    installed = distribution("mainmatter")
    assert installed.version == mainmatter.__version__
    licences = {file.name for file in installed.files or () if "licenses" in file.parts}
    assert licences == {"LICENSE", "NOTICE"}, licences
    for folder in filter(is_model, SHIPPED.iterdir()):
        load(folder)
    found = hashlib.sha256()
    for method in mainmatter.method_names():
        for page in sorted(SITE.rglob("*.html")):
            found.update(mainmatter.clean_file(page, method=method).text.encode())
    for name in FORMATS:
        assert WORD in mainmatter.clean_file(PAGE).render(name), name
    texts = list(mainmatter.clean_many([PAGE] * EACH, workers=EACH, format="text"))
    assert len(texts) == EACH
    assert WORD in texts[0]
    command = Path(sys.executable).with_name("mainmatter")
    for arguments in (["clean", PAGE], ["explain", PAGE], ["clean", PAGE, "--format", "jsonl"]):
        done = subprocess.run([command, *arguments], capture_output=True, encoding="utf-8", check=True)
        assert WORD in done.stdout, arguments
    python = ".".join(map(str, sys.version_info[:3]))
    print(f"mainmatter {mainmatter.__version__} ({status()}), Python {python}: texts {found.hexdigest()[:12]}")


if __name__ == "__main__":  # processes of clean_many import this file
    main()
