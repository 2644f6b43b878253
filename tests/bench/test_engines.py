from __future__ import annotations

import pytest
from click.testing import CliRunner

from bench import engines
from bench.__main__ import command
from bench.engines import Turn

LOCAL = Turn("local", 100.0, 1000, 50.0, "a")


@pytest.mark.parametrize(
    ("other", "row", "status"),
    [
        (Turn("ray", 110.0, 1000, 50.0, "a"), "| ray | 110.0 | 9.1 | 0.5 | +10.0% | yes |", 0),
        (Turn("ray", 120.0, 1000, 50.0, "a"), "| ray | 120.0 | 8.3 | 0.4 | +20.0% | yes |", 1),
        (Turn("ray", 110.0, 1000, 50.0, "b"), "| ray | 110.0 | 9.1 | 0.5 | +10.0% | NO |", 1),
    ],
)
def test_an_engine_that_is_slow_or_differs_is_an_error(
    monkeypatch: pytest.MonkeyPatch, other: Turn, row: str, status: int
) -> None:
    monkeypatch.setattr(engines, "_run", lambda engine, *rest: LOCAL if engine == "local" else other)
    result = CliRunner().invoke(command, ["corpus", "--engine", "ray", "crawl.warc.gz"])
    assert row in result.output.splitlines()
    assert result.exit_code == status


def test_methods_and_engines_are_not_compared_together() -> None:
    result = CliRunner().invoke(command, ["corpus", "--engine", "ray", "--method", "main", "crawl.warc.gz"])
    assert (result.exit_code, "--engine takes no --method" in result.output) == (2, True)
