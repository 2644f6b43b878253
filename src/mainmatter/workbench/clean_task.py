"""What a worker does for /api/clean and /api/methods: the answer is made there, down to its bytes."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from mainmatter import __version__
from mainmatter.clean import clean
from mainmatter.errors import InputError, MainmatterError
from mainmatter.inputs.fetch import fetch
from mainmatter.inputs.paths import page_bytes
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.models.store import load
from mainmatter.registry import DEFAULT_METHOD, FORMATS, get_method, make_untrained, method_names, trainable_names
from mainmatter.workbench.choosing import MODELS, choose_method, model_names, needs_model, parameters_of, without_paths

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.records import Extraction, Page

JSON = "application/json"
MEDIA_TYPES = {
    "cleaneval": "text/plain; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "json": JSON,
    "markdown": "text/markdown; charset=utf-8",
    "tei": "application/tei+xml",
    "text": "text/plain; charset=utf-8",
}
# Of collections of pages.
_READER = "the import of Annotate, or for `mainmatter serve --corpus` and `mainmatter corpus`"
_ADVICE = "send HTML, or a plain-text dump of the page"
_RENDER_OPTIONS = {"markdown": ("links", "images"), "html": ("images",)}


@dataclass(frozen=True, slots=True)
class Source:
    """Where a page comes from: the page itself, or an address to fetch it from.

    Attributes:
        page: the page.
        address: its URL, if it is to be fetched.
        limits: how large it may be.
        public_only: fetch it from public addresses only.
        timeout: how many seconds to wait for its server.
    """

    page: Page | None = None
    address: str = ""
    limits: Limits = DEFAULT_LIMITS
    public_only: bool = True
    timeout: float = 10.0

    def get(self) -> Page:
        """The page.

        Raises:
            InputError: it is something else than a page, or cannot be fetched.
            PageTooLarge: it is over the limits.
        """
        if self.page is None:
            return fetch(self.address, limits=self.limits, timeout=self.timeout, public_only=self.public_only)
        if not isinstance(self.page.html, bytes):
            return self.page
        is_text = self.page.format == "text"
        try:
            data = page_bytes(self.page.html, "this", self.limits, is_text=is_text, reader=_READER)
        except InputError as error:
            raise error if "; " in str(error) else InputError(f"{error}; {_ADVICE}") from error
        self.limits.check_size(len(data), "the page")
        return replace(self.page, html=data)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a client asked for; see `CleanRequest` in cleaning.py for what the rest means."""

    source: Source
    models: Path
    method: str = DEFAULT_METHOD
    options: dict[str, Any] = field(default_factory=dict)
    format: str = "text"
    links: bool = True
    images: bool = False
    blocks: bool = False
    raw: bool = False


class Answer(NamedTuple):
    """The body of an answer and its media type."""

    body: bytes
    media_type: str = JSON


def clean_page(wish: Wish) -> Answer:
    """Get a page, clean it, and make the answer of that.

    Raises:
        MainmatterError: anything that is wrong with the wish or the page.
    """
    page = wish.source.get()
    start = time.perf_counter()
    try:
        method, parameters = choose_method(wish.method, wish.options, wish.models)
        extraction = clean(page, method=method, limits=wish.source.limits, **parameters)
    except MainmatterError as error:
        raise without_paths(error, wish.models) from error
    wanted = _RENDER_OPTIONS.get(wish.format, ())
    content = extraction.render(wish.format, **{name: getattr(wish, name) for name in wanted})
    if wish.raw:
        return Answer(content.encode("utf-8", "replace"), MEDIA_TYPES[wish.format])
    return to_json(_envelope(wish, extraction, content, time.perf_counter() - start))


def _envelope(wish: Wish, extraction: Extraction, content: str, seconds: float) -> dict[str, Any]:
    page, confidence = extraction.document.page, extraction.confidence
    answer: dict[str, Any] = {
        "method": wish.method,
        "version": __version__,
        "format": wish.format,
        "content": json.loads(content) if wish.format == "json" else content,
        "title": extraction.metadata.title,
        "metadata": asdict(extraction.metadata),
        "url": page.url,
        "encoding": extraction.document.encoding,
        "page_type": extraction.page_type,
        "confidence": None if confidence is None else round(float(confidence), 4),
        "seconds": round(seconds, 6),
    }
    if wish.blocks:
        answer["blocks"] = json.loads(extraction.json(blocks=True))["blocks"]
    return answer


def to_json(content: object) -> Answer:
    """Anything that JSON can hold, as an answer; what is not a number is null there."""
    try:
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(content), ensure_ascii=False, separators=(",", ":"))
    return Answer(text.encode("utf-8", "replace"))


def _finite(content: object) -> object:
    if isinstance(content, dict):
        return {name: _finite(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    if isinstance(content, float) and content - content != 0:  # neither infinity nor NaN less itself is zero
        return None
    return content


def describe_methods(models: Path) -> Answer:
    """All that a client can choose from."""
    found = {
        "default": DEFAULT_METHOD,
        "methods": [_describe(name) for name in method_names()],
        "models": [_describe_model(name, models) for name in model_names(models)],
        "formats": [{"name": name, "ending": ending} for name, (_, ending) in FORMATS.items()],
    }
    return to_json(found)


def _describe(name: str) -> dict[str, Any]:
    try:
        learns = name in trainable_names()
        method: Any = make_untrained(name) if learns else get_method(name)
        return {
            "name": name,
            "summary": method.summary,
            "trainable": learns,
            "needs_model": needs_model(name),
            "parameters": parameters_of(name) if is_dataclass(method) else [],
        }
    except Exception as error:  # another package's method may be broken in any way
        problem = " ".join(str(error).split()) or type(error).__name__
        summary = f"cannot be used: {problem}"
        return {"name": name, "summary": summary, "trainable": False, "needs_model": False, "parameters": []}


def _describe_model(name: str, models: Path) -> dict[str, Any]:
    try:
        model = load(models / name.removeprefix(MODELS))
    except MainmatterError as error:
        return {"name": name, "method": None, "problem": str(without_paths(error, models)), "card": {}}
    return {"name": name, "method": model.method, "problem": None, "card": model.card}
