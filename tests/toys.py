"""A method that learns, small enough to see through, pages to teach it, and models that are damaged on purpose."""

from __future__ import annotations

import builtins
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from mainmatter.method import OUR_CONVENTION, Example, Reasons, Trainable, be_silent, need_some
from mainmatter.models import store
from mainmatter.records import Document, Extraction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import pytest
    from numpy.typing import NDArray

LONG = "This paragraph is part of the text and, as such, rather long, which is how one tells it from a menu."


@dataclass(eq=False)
class Cutoff(Trainable[tuple[int, int]]):
    """Keep blocks longer than halfway between the longest that was dropped and the shortest that was kept."""

    unit: str = "characters"
    margin: float = 0.0
    cutoff_: float = field(default=float("nan"), init=False)

    name: ClassVar[str] = "cutoff"
    summary: ClassVar[str] = "long blocks"
    learned_with: ClassVar[frozenset[str]] = frozenset(("unit",))

    def extract(self, document: Document) -> Extraction:
        scores = np.array([self._length(text) for text in document.columns.texts], np.float64)
        kept = scores > self.cutoff_ + self.margin
        reasons = Reasons(kept.astype(np.intp), ("short", "long"))
        return Extraction(document, self.name, scores, kept, document.columns.kinds, reasons)

    def observe(self, example: Example) -> tuple[int, int]:
        lengths = [self._length(text) for text in example.document.columns.texts]
        dropped = [length for length, kept in zip(lengths, example.kept, strict=True) if not kept]
        kept = [length for length, kept in zip(lengths, example.kept, strict=True) if kept]
        return max(dropped, default=0), min(kept, default=1000)

    def learn(self, observations: Sequence[tuple[int, int]], report: Callable[[str], object] = be_silent) -> Self:
        need_some(observations, self.name)
        self.cutoff_ = float(max(o[0] for o in observations) + min(o[1] for o in observations)) / 2
        report(f"cutoff {self.cutoff_}")
        return self

    def facts_and_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {"cutoff": self.cutoff_}, {"seen": np.arange(3)}

    def restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        if arrays["seen"].shape != (3,):
            raise ValueError("seen has the wrong shape")
        self.cutoff_ = float(facts["cutoff"])

    def _length(self, text: str) -> int:
        return len(text) if self.unit == "characters" else len(text.split())


@dataclass(eq=False)
class RuledCutoff(Cutoff):
    """A cutoff that knows the rules of another gold standard, "short", which keeps short blocks instead."""

    convention: str = OUR_CONVENTION

    name: ClassVar[str] = "ruled"

    @property
    def conventions(self) -> tuple[str, ...]:
        return (OUR_CONVENTION, "short")

    def extract(self, document: Document) -> Extraction:
        found = super().extract(document)
        return found if self.convention == OUR_CONVENTION else replace(found, kept=~found.kept)


def write_gold_folder(folder: Path, pages: int = 12) -> Path:
    """A gold standard as a folder: long paragraphs are main matter, a short menu is not."""
    (folder / "html").mkdir(parents=True)
    (folder / "gold").mkdir()
    for n in range(pages):
        menu = f"<ul><li>Home</li><li>Menu {n}</li></ul><h1>A short heading {n}</h1>"
        html = f"{menu}<p>{LONG} {n}.</p><p>{LONG} Page {n}.</p>"
        (folder / "html" / f"{n:02}.html").write_text(html, encoding="utf-8")
        (folder / "gold" / f"{n:02}.txt").write_text(f"{LONG} {n}.\n\n{LONG} Page {n}.\n", encoding="utf-8")
    return folder


def edit_model(folder: Path, **changes: Any) -> None:
    """Change what a model's description says, such as its facts, and make its digest fit: reading finds no damage."""
    path = folder / store.DESCRIPTION
    description = {**json.loads(path.read_text("utf-8")), **changes}
    description["facts_sha256"] = store._digest({name: description[name] for name in store._LEARNED})
    path.write_text(json.dumps(description), "utf-8")


def hide_package(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """As if a package were not installed."""
    import_module = builtins.__import__

    def refuse(name: str, *args: Any, **options: Any) -> Any:
        if name.partition(".")[0] == package:
            raise ImportError(name)
        return import_module(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
