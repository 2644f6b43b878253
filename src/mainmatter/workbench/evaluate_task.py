"""What a worker does for /api/evaluate: one method on one small set."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mainmatter.errors import DatasetError, InputError, MainmatterError
from mainmatter.lab.bench.peers import PEERS
from mainmatter.lab.datasets import GoldPage, load_dataset
from mainmatter.lab.evaluation import evaluate
from mainmatter.limits import Limits
from mainmatter.records import Gold, Page
from mainmatter.registry import get_method
from mainmatter.workbench.choosing import choose_contestant, without_paths
from mainmatter.workbench.clean_task import to_json


@dataclass(frozen=True, slots=True)
class SmallSet:
    """Pages with their gold texts.

    Attributes:
        name: what to call it in the report.
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
            DatasetError: the file is none that can be read.
            InputError: there are too many pages, or none.
            PageTooLarge: a page is over the limit.
        """
        pages = [_to_gold_page(row, number) for number, row in enumerate(self.pages)]
        if self.parquet is not None:
            pages = self._read_parquet(self.parquet)
        if not pages:
            raise InputError(f"{self.name}: holds no page")
        if len(pages) > self.max_pages:
            raise InputError(f"{self.name}: holds more than {self.max_pages} pages; evaluate it with the command line")
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


def evaluate_set(*, method: str, pages: SmallSet, metrics: tuple[str, ...], models: Path) -> bytes:
    """How one method does on a small set, as `mainmatter evaluate --output` writes it.

    Raises:
        MainmatterError: the method, a metric or the set is not as it should be.
    """
    try:
        chosen, parameters = choose_contestant(method, models)
        runner = chosen if chosen in PEERS else get_method(chosen, **parameters)
        result = evaluate(runner, pages.name, pages.read(), metrics)
    except MainmatterError as error:
        raise without_paths(error, models) from error
    return to_json(asdict(replace(result, method=method))).body


def _to_gold_page(row: dict[str, Any], number: int) -> GoldPage:
    page = Page(row["html"], row.get("url"), row.get("id") or str(number + 1))
    return GoldPage(page, Gold(text=row.get("gold"), marked=row.get("gold_marked")), {})
