"""Write the digests of the models that ship, as `make models` does at its end; reading a model compares them.

python scripts/model_digests.py
"""

from __future__ import annotations

import hashlib

from mainmatter.models.store import DESCRIPTION, DIGESTS, SHIPPED


def digests() -> str:
    """The digests of all files that models are read from, as `sha256sum` writes them."""
    folders = sorted(file.parent for file in SHIPPED.glob(f"*/{DESCRIPTION}"))
    files = [file for folder in folders for file in sorted([folder / DESCRIPTION, *folder.glob("*.npz")])]
    return "".join(
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(SHIPPED).as_posix()}\n" for file in files
    )


if __name__ == "__main__":
    (SHIPPED / DIGESTS).write_text(digests(), "ascii")
