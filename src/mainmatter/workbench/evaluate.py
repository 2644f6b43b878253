"""/api/evaluate: methods measured on a small set that the client sends."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from mainmatter.errors import DatasetError, InputError, MainmatterError
from mainmatter.lab.datasets import GoldPage, load_dataset
from mainmatter.lab.evaluation import evaluate as evaluate_method
from mainmatter.lab.metrics import METRICS
from mainmatter.lab.peers import PEERS
from mainmatter.limits import Limits
from mainmatter.records import Gold, Page
from mainmatter.registry import DEFAULT_METHOD, get_method
from mainmatter.workbench.answers import error_answers
from mainmatter.workbench.choosing import LONGEST_NAME, choose_contestant, without_paths
from mainmatter.workbench.page_source import to_json
from mainmatter.workbench.reading import (
    FORM,
    JSON,
    StrictModel,
    check,
    content_type,
    read_form,
    read_json,
    wrong_type,
)
from mainmatter.workbench.workbench import Workbench, workbench_of

router = APIRouter(tags=["pages"])

MOST_METHODS = 10
Name = Annotated[str, Field(max_length=LONGEST_NAME)]
_METRIC_NAMES = ", ".join(sorted(METRICS))


class GoldPageRequest(StrictModel):
    """A page and its main matter."""

    html: str = Field(description="The page's HTML.")
    gold: str | None = Field(None, description="Its main matter, as plain text.")
    gold_marked: str | None = Field(None, description="The same with CleanEval's markup, for metrics that need it.")
    url: str | None = Field(None, max_length=8000)
    id: str | None = Field(None, max_length=300, description="Its name in the report; by default its number.")


class EvaluateOptions(StrictModel):
    """What to measure, and how."""

    methods: list[Name] = Field([DEFAULT_METHOD], min_length=1, max_length=MOST_METHODS)
    metrics: list[Name] = Field(["bag"], min_length=1, max_length=len(METRICS), description=f"Any of {_METRIC_NAMES}.")
    name: str = Field("set", max_length=100, description="The name of the set in the report.")


class EvaluateRequest(EvaluateOptions):
    """A small set, and what to measure on it."""

    pages: list[GoldPageRequest] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class SmallSet:
    """Pages with their gold texts.

    Attributes:
        name: its name in the report.
        pages: for each page id, html, url, gold and gold_marked.
        parquet: or a Parquet file that holds them.
        max_pages: how many there may be.
        max_bytes: how large one may be.
    """

    name: str
    pages: tuple[dict[str, Any], ...] = ()
    parquet: bytes | None = None
    max_pages: int = 100
    max_bytes: int = 10_000_000

    def read(self) -> list[GoldPage]:
        """The pages.

        Raises:
            DatasetError: the file cannot be read.
            InputError: there are too many pages, or none.
            PageTooLarge: a page is over the limit.
        """
        pages = [_to_gold_page(row, number) for number, row in enumerate(self.pages)]
        if self.parquet is not None:
            pages = self._read_parquet(self.parquet)
        if not pages:
            raise InputError(f"{self.name}: holds no page")
        need_few(len(pages), self.name, self.max_pages)
        for page in pages:
            Limits(size=self.max_bytes).check(page.page)
        return pages

    def _read_parquet(self, data: bytes) -> list[GoldPage]:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "set.parquet"
            file.write_bytes(data)
            try:
                return load_dataset(str(file))
            except DatasetError as error:
                raise DatasetError(str(error).replace(str(file), self.name)) from error


def _body() -> dict[str, Any]:
    """How a request can carry its set, for the documentation."""
    texts = EvaluateOptions.model_json_schema()["properties"]
    file = {"type": "string", "format": "binary", "description": "A Parquet file, as `mainmatter evaluate` reads."}
    form = {"type": "object", "required": ["file"], "properties": {"file": file} | texts}
    schema = EvaluateRequest.model_json_schema(ref_template="#/components/schemas/{model}")
    schema.pop("$defs", None)
    schema["properties"]["pages"]["items"] = GoldPageRequest.model_json_schema()
    page = {"html": "<nav>Home</nav><p>Ships need signals in fog.</p>", "gold": "Ships need signals in fog."}
    value = {"pages": [page], "methods": ["main", "density"], "metrics": ["bag"]}
    content = {JSON: {"schema": schema, "example": value}, FORM: {"schema": form}}
    return {"required": True, "content": content}


@router.post(
    "/api/evaluate",
    responses=error_answers(400, 401, 403, 413, 415, 422, 429, 500, 504)
    | {200: {"description": "One object for each method, as `mainmatter evaluate --output` writes them."}},
    openapi_extra={"requestBody": _body()},
    summary="Measure methods on a small set",
)
async def evaluate(request: Request, workbench: Annotated[Workbench, Depends(workbench_of)]) -> Response:
    """Send pages with their gold texts as JSON, or a Parquet file in a form.

    Each method may take as long as one request. For large sets, use the command line: `mainmatter evaluate`.
    """
    choice, small_set = await _read(request, workbench)
    found: list[bytes] = []
    for method in dict.fromkeys(choice.methods):
        found.append(  # noqa: PERF401 - one after the other: others are to have workers too
            await workbench.run(
                evaluate_set,
                method=method,
                pages=small_set,
                metrics=tuple(dict.fromkeys(choice.metrics)),
                models=workbench.models,
            )
        )
    return Response(b"[" + b",".join(found) + b"]", media_type=JSON)


async def _read(request: Request, workbench: Workbench) -> tuple[EvaluateOptions, SmallSet]:
    media_type, _ = content_type(request)
    settings = workbench.settings
    if media_type == FORM:
        file, others = await read_form(request)
        fields: dict[str, Any] = {"name": file.name[:100]}
        for name, value in others:
            if name in ("methods", "metrics"):
                fields.setdefault(name, []).append(value)
            else:
                fields[name] = value
        choice = check(EvaluateOptions, fields)
        return choice, SmallSet(choice.name, (), file.data, settings.max_pages, settings.max_bytes)
    if media_type != JSON:
        raise wrong_type(media_type, (JSON, FORM))
    fields = await read_json(request)
    if isinstance(sent := fields.get("pages"), list):
        need_few(len(sent), "set", settings.max_pages)
    asked = check(EvaluateRequest, fields)
    pages = tuple(page.model_dump() for page in asked.pages)
    return asked, SmallSet(asked.name, pages, None, settings.max_pages, settings.max_bytes)


def need_few(count: int, name: str, most: int) -> None:
    """Refuse a set of too many pages.

    Raises:
        InputError: it has more than that.
    """
    if count > most:
        raise InputError(f"{name}: holds more than {most} pages; evaluate it on the command line")


def evaluate_set(*, method: str, pages: SmallSet, metrics: tuple[str, ...], models: Path) -> bytes:
    """One method's results on a small set, as `mainmatter evaluate --output` writes them.

    Raises:
        MainmatterError: the method, a metric or the set is wrong.
    """
    try:
        chosen, parameters = choose_contestant(method, models)
        runner = chosen if chosen in PEERS else get_method(chosen, **parameters)
        result = evaluate_method(runner, pages.name, pages.read(), metrics)
    except MainmatterError as error:
        raise without_paths(error, models) from error
    return to_json(asdict(replace(result, method=method))).body


def _to_gold_page(row: dict[str, Any], number: int) -> GoldPage:
    page = Page(row["html"], row.get("url"), row.get("id") or str(number + 1))
    return GoldPage(page, Gold(text=row.get("gold"), marked=row.get("gold_marked")), {})
