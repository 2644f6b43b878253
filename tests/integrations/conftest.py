"""A package that is missing here is an error, never a skip."""

from __future__ import annotations

import re

import pytest

MISSING = re.compile(r"is not installed|could not import|missing: ")
NOT_OF_THE_EXTRA = re.compile(r"magic-html|rs-trafilatura|Java")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = [str(report.longrepr) for report in reporter.stats.get("skipped", [])] if reporter else []
    if any(MISSING.search(reason) and not NOT_OF_THE_EXTRA.search(reason) for reason in skipped):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
