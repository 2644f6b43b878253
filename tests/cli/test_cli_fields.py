"""The options that name the fields of JSONL and Parquet, in `mainmatter corpus` and `mainmatter annotations`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from mainmatter.cli import group
from mainmatter.corpus import Job
from mainmatter.errors import InputError
from mainmatter.workbench.labels import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from mainmatter.workbench.labels.importing import FoundPage

BODY = "<p>" + "The fog came in at four, and the bells rang until it was gone. " * 5


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"seite": BODY, "adresse": "http://a.example/1", "nr": 7}) + "\n")
    return path


def test_a_run_goes_on_with_the_fields_that_it_began_with(tmp_path: Path, lines: Path) -> None:
    out = tmp_path / "out"
    common = ["corpus", str(lines), "-o", str(out), "-m", "density", "-f", "jsonl", "-j", "1", "--url-field", "adresse"]
    result = CliRunner().invoke(group, [*common, "--html-field", "seite", "--id-field", "nr"])
    assert result.exit_code == 0, result.output
    row = json.loads((out / "part-00000.jsonl").read_text())
    assert (row["url"], row["id"]) == ("http://a.example/1", "7")
    result = CliRunner().invoke(group, [*common, "--html-field", "andere"])
    assert result.exit_code == 1
    assert "html_field was 'seite' and is now 'andere'; id_field was 'nr' and is now ''. Name" in result.output


def test_fields_are_names() -> None:
    with pytest.raises(InputError, match=r"^url_field must be the name of a field, not 5$"):
        Job(url_field=5).check()  # type: ignore[arg-type]


def test_pages_to_annotate(tmp_path: Path, lines: Path) -> None:
    add = ["annotations", "add", str(tmp_path / "bench"), str(lines)]
    result = CliRunner().invoke(group, add)
    assert result.exit_code == 1
    assert "its fields are seite, adresse, nr" in " ".join(result.output.split())
    result = CliRunner().invoke(group, [*add, "--html-field", "seite", "--url-field", "adresse", "--id-field", "nr"])
    assert result.exit_code == 0, result.output
    with Store(tmp_path / "bench") as store:
        (page,) = store.pages()
    assert (page.name, page.url) == ("7", "http://a.example/1")


def test_pages_that_methods_disagree_on(lines: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def only_read(
        pages: Iterable[FoundPage], *_: object, on_page: Callable[[FoundPage], None], **__: object
    ) -> list[object]:
        for page in pages:
            on_page(page)
        return []

    monkeypatch.setattr("mainmatter.cli.annotations.disagreements", only_read)  # the methods take seconds to start
    look = ["annotations", "disagreements", str(lines)]
    assert "1 page looked at, 1 could not be read" in CliRunner().invoke(group, look).output
    assert "1 page looked at; " in CliRunner().invoke(group, [*look, "--html-field", "seite"]).output


@pytest.mark.parametrize("option", ["--html-field", "--url-field", "--id-field"])
def test_fields_are_refused_where_there_are_none(tmp_path: Path, lines: Path, option: str) -> None:
    Store(tmp_path / "bench").close()
    for arguments, what in (
        (["add", str(tmp_path / "new"), str(lines), "--gold"], "--gold"),
        (["add", str(tmp_path / "new"), str(lines), "--rejects"], "--rejects"),
        (["disagreements", str(tmp_path / "bench")], "a database"),
    ):
        result = CliRunner().invoke(group, ["annotations", *arguments, option, "seite"])
        assert result.exit_code == 2
        assert f"--html-field, --url-field and --id-field do not go with {what}" in " ".join(result.output.split())
