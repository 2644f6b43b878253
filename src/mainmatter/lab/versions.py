"""What exactly was measured: digests of the data, and of the code and the models that clean."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from mainmatter.lab.peers import PEERS, peer_version
from mainmatter.models.store import is_model
from mainmatter.registry import split_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mainmatter.lab.datasets import GoldPage

PACKAGE = Path(__file__).parents[1]
_NOT_CLEANING = frozenset(("cli", "lab", "workbench"))  # they cannot change the text of a page


def dataset_digest(pages: Iterable[GoldPage]) -> str:
    """The digest of everything that a contestant gets, and that its output is compared with."""
    found = hashlib.sha256()
    for page in pages:
        html = page.page.html
        found.update(html if isinstance(html, bytes) else html.encode("utf-8", "surrogatepass"))
        facts = (page.page.id, page.page.url, page.page.charset, page.page.format, asdict(page.gold), page.groups)
        found.update(repr(facts).encode("utf-8", "surrogatepass"))
    return found.hexdigest()[:16]


def version_of(name: str) -> str:
    """The version of a peer's package; for methods, ours and a digest of the code and the models that clean."""
    if name in PEERS:
        return peer_version(name)
    base = split_name(name)[0]
    model = digest_of_files(files_below(Path(base))) if is_model(base) else ""
    files = (file for file in files_below(PACKAGE) if file.relative_to(PACKAGE).parts[0] not in _NOT_CLEANING)
    return f"{version('mainmatter')}+{digest_of_files(files)}{model}"


def files_below(folder: Path) -> list[Path]:
    """The files of a folder and its subfolders, sorted; compiled bytecode and prose left out."""
    return sorted(file for file in folder.rglob("*") if file.is_file() and file.suffix not in (".pyc", ".md"))


def digest_of_files(files: Iterable[Path]) -> str:
    """A short digest of the names and contents of files."""
    found = hashlib.sha256()
    for file in files:
        found.update(file.name.encode("utf-8", "surrogateescape") + b"\0" + file.read_bytes())
    return found.hexdigest()[:8]
