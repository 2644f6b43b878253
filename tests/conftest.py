"""Property tests are the same in every run, unless somebody goes looking: EXPLORE=4000 pytest tests/test_properties."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("reproducible", derandomize=True, deadline=None)
settings.register_profile("exploring", max_examples=int(os.environ.get("EXPLORE", "100")), deadline=None)
settings.load_profile("exploring" if "EXPLORE" in os.environ else "reproducible")
