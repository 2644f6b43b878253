"""Your default method, which `mainmatter use` keeps in a small file.

The command line and the workbench use it unless you name another one. The functions of the Python API ignore it, so
that a program does the same for everybody.
"""

from __future__ import annotations

import os
from pathlib import Path

from mainmatter.errors import ModelError
from mainmatter.files import write_whole
from mainmatter.models.store import is_model

CONFIG = "MAINMATTER_CONFIG"  # the environment variable that names another folder for the file
_FILE = "default-method"


def read_choice() -> str | None:
    """The method that was chosen: a name or the absolute path of a model, perhaps with parameters; None if none was.

    Raises:
        ModelError: the model that was chosen is no longer there, or the file cannot be read.
    """
    file = choice_file()
    try:
        chosen = file.read_text("utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ModelError(f"{file}: cannot be read: {error}; delete it to go back to main") from error
    if os.sep in chosen and not (is_model(chosen) or is_model(chosen.rpartition(":")[0])):
        raise ModelError(
            f"{chosen}: the model that `mainmatter use` chose is no longer there; choose another one with `mainmatter "
            "use MODEL`, or go back with `mainmatter use main`"
        )
    return chosen or None


def write_choice(method: str | None) -> None:
    """Choose a method, or none, which is `main`.

    Args:
        method: a name or the absolute path of a model.

    Raises:
        OSError: the file cannot be written.
    """
    if method is None:
        choice_file().unlink(missing_ok=True)
    else:
        write_whole(choice_file(), f"{method}\n".encode())


def choice_file() -> Path:
    """Where the choice is kept."""
    if folder := os.environ.get(CONFIG):
        return Path(folder) / _FILE
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "mainmatter" / _FILE
