"""Write the digests of the pages that each shipped model has learned from into its card, without training it anew.

    python scripts/learned_from.py --data ../shared/data

Training writes them (lab/learned.py); this is for models that were trained before it did. A card names each set, how
many of its pages were taken and their digest with the gold texts, so what is written is checked: where the data is not
what the model was trained on, nothing is.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from mainmatter.files import write_whole
from mainmatter.lab.datasets import load_dataset, sample_by_site
from mainmatter.lab.learned import CARD_ENTRY, pack_digests, short_digest
from mainmatter.lab.training.train import gold_pages_digest
from mainmatter.models.store import DESCRIPTION, SHIPPED

ROOT = Path(__file__).resolve().parent.parent


@click.command(help=__doc__.split("\n", 1)[0])
@click.option("--data", type=click.Path(path_type=Path), default=ROOT.parent / "shared" / "data", show_default=True)
def main(data: Path) -> None:
    """Do it for all models that ship."""
    failed = False
    for file in sorted(SHIPPED.glob(f"*/{DESCRIPTION}")):
        description = json.loads(file.read_text("utf-8"))
        digests: set[bytes] = set()
        for entry in description["card"]["data"]:
            pages = sample_by_site(load_dataset(entry["name"], data), entry["pages"])
            if gold_pages_digest(pages) != entry["sha256"]:
                click.echo(f"{file}: {entry['name']} is not what the model was trained on", err=True)
                failed = True
                break
            digests.update(map(short_digest, pages))
        else:
            description["card"][CARD_ENTRY] = pack_digests(digests)
            text = json.dumps(description, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
            write_whole(file, text.encode("utf-8"))
            click.echo(f"{file.parent.name}: {len(digests):,} pages")
    sys.exit(failed)


if __name__ == "__main__":
    main()
