"""`mainmatter clean --site-templates`: what the pages of each site repeat is found first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from mainmatter.api import read
from mainmatter.cli import group
from mainmatter.papers.template.method import Template
from site_pages import notice_page, site, text_of

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.limits import Limits
    from mainmatter.records import Document, Page


@pytest.fixture(name="folder")
def write_site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.html").write_text(str(notice_page(number).html), "utf-8")
    return folder


@pytest.mark.parametrize(
    "method",
    [
        "main",
        "template",
        "template:unit=block,threshold=5",
        "template:cluster=True",
        "template:preset=paper,unit=container",
    ],
)
def test_what_the_pages_repeat_is_dropped(folder: Path, tmp_path: Path, method: str) -> None:
    (folder / "damaged.html").write_bytes(b"%PDF-1.4")
    result = CliRunner().invoke(
        group, ["clean", str(folder), "-m", method, "--site-templates", "-o", str(tmp_path / "out"), "-j", "1"]
    )
    assert result.exit_code == 1
    assert result.stderr.count("is a PDF document") == 1
    assert "8 of 9 pages cleaned" in result.stderr
    text = (tmp_path / "out" / "3.txt").read_text("utf-8")
    assert text_of(3) in text
    assert "goats travel free" not in text
    without = CliRunner().invoke(group, ["clean", str(folder / "3.html"), "-m", method])
    if method == "main":
        assert "goats travel free" in without.stdout
    else:
        assert (without.exit_code, without.stdout) == (2, "")
        assert "knows no site yet, and would keep all text; add --site-templates" in " ".join(without.stderr.split())


def test_a_page_that_breaks_the_counting_is_named_when_it_is_cleaned(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_badly(page: Page, limits: Limits) -> Document:
        if "Boat number 3 " in str(page.html):
            raise RuntimeError("a slip of ours")
        return read(page, limits)

    monkeypatch.setattr("mainmatter.cli.clean.read", read_badly)
    result = CliRunner().invoke(group, ["clean", str(folder), "-m", "template", "--site-templates", "-j", "1"])
    assert result.exit_code == 0
    assert text_of(3) in result.stdout
    assert "goats travel free" not in result.stdout


def test_methods_that_know_no_sites(folder: Path) -> None:
    result = CliRunner().invoke(group, ["clean", str(folder), "-m", "density", "--site-templates"])
    assert result.exit_code == 2
    assert "'density' does not use what sites repeat; main and template do" in result.stderr


def test_a_template_that_was_saved_has_counted_already(folder: Path, tmp_path: Path) -> None:
    Template().fit(site(5)).save(tmp_path / "counted")
    result = CliRunner().invoke(group, ["clean", str(folder), "-m", str(tmp_path / "counted"), "--site-templates"])
    assert result.exit_code == 2
    assert "counted has already counted its sites" in " ".join(result.stderr.split())
    result = CliRunner().invoke(group, ["clean", str(folder / "3.html"), "-m", str(tmp_path / "counted")])
    assert (result.exit_code, text_of(3) in result.stdout) == (0, True)


def test_standard_input_cannot_be_read_twice() -> None:
    result = CliRunner().invoke(group, ["clean", "-", "--site-templates"], input="<p>x")
    assert result.exit_code == 2
    assert "cannot be read twice" in result.stderr
