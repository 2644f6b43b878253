"""Property tests are the same in every run, unless somebody goes looking: EXPLORE=4000 pytest tests/test_properties."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import settings

from mainmatter import compiled

settings.register_profile("reproducible", derandomize=True, deadline=None)
settings.register_profile("exploring", max_examples=int(os.environ.get("EXPLORE", "100")), deadline=None)
settings.load_profile("exploring" if "EXPLORE" in os.environ else "reproducible")

# What a shell starts in the background ignores Ctrl-C, and so would the commands that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

if not compiled.is_set(compiled.PURE) and (stale := compiled.stale_modules()):
    pytest.exit(f"{', '.join(stale)} changed since they were compiled: run `python hatch_build.py`", returncode=2)
