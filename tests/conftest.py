"""Property tests are the same in every run, unless somebody goes looking: EXPLORE=4000 pytest tests/test_properties."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

# BLAS starts a thread for each core, in each of the test runner's workers: they wait for each other, and training on a
# busy machine takes ten times as long. numpy reads these variables when it is first imported, and processes that tests
# start inherit them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from mainmatter import compiled
from mainmatter.models.in_use import CONFIG

if TYPE_CHECKING:
    from collections.abc import Iterator

settings.register_profile("reproducible", derandomize=True, deadline=None)
settings.register_profile("exploring", max_examples=int(os.environ.get("EXPLORE", "100")), deadline=None)
settings.load_profile("exploring" if "EXPLORE" in os.environ else "reproducible")

# What a shell starts in the background ignores Ctrl-C, and so would the commands that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def own_config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What `mainmatter use` chose on this machine is not what is tested, and is not changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CONFIG, str(tmp_path_factory.mktemp("config")))
        yield


if not compiled.is_set(compiled.PURE) and (stale := compiled.stale_modules()):
    pytest.exit(f"{', '.join(stale)} changed since they were compiled: run `python hatch_build.py`", returncode=2)
