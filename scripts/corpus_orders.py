"""Measure how long a large corpus takes to be sorted, filtered and searched, as the workbench does.

python scripts/corpus_orders.py FOLDER [--parts 100] [--rows 10000]

It writes a corpus of made-up rows to FOLDER, as a run writes one, if it is not there yet; then it asks for the first
1,000 pages of each order, and reads the 50 that a list shows. Files that were just written lie in memory: it is not the
disk that is measured.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mainmatter.corpus.browse import ListingQuery, StoredCorpus
from mainmatter.corpus.folder import Folder, part_name
from mainmatter.corpus.job import Job
from mainmatter.corpus.order import SORTINGS, Order, Sorting, read_order
from mainmatter.corpus.writers import COLUMNS, make_writer

if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 1_000
WISHES = {
    "all pages": ListingQuery(),
    "pages in German": ListingQuery(language="de"),
    "forums, at most 0.5 sure": ListingQuery(page_type="forum", confidence=(None, 0.5)),
    "words in title or address": ListingQuery(words=("99", "harbour")),
}
LANGUAGES, SHARES = ("en", "de", "fr", "es", "fi", None), (70, 10, 8, 7, 4, 1)
SENTENCE = "The ferry to the island leaves at seven in the morning, and comes back when the tide allows it to. "


def main() -> None:
    """Write the corpus if need be, and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parts", type=int, default=100)
    parser.add_argument("--rows", type=int, default=10_000, help="in each part")
    arguments = parser.parse_args()
    if not arguments.folder.exists():
        write(arguments.folder, arguments.parts, arguments.rows)
    corpus = StoredCorpus(str(arguments.folder))
    for words, wish in WISHES.items():
        for sorting in SORTINGS:
            order, seconds = timed(lambda wish=wish, sorting=sorting: read_whole(corpus, sorting, wish))  # type: ignore[misc]
            places = [place for _, place in order.ranked[:50]]
            _, listing = timed(lambda places=places: corpus.get_listed(places))  # type: ignore[misc]
            print(f"{words}, {sorting}: {seconds:.2f} s, and {listing:.2f} s for {len(places)} rows")
        listing, seconds = timed(lambda wish=wish: corpus.find(wish))  # type: ignore[misc]
        print(f"{words}, as they lie: {seconds:.2f} s for {len(listing.rows)} rows")


def read_whole(corpus: StoredCorpus, sorting: Sorting, wish: ListingQuery) -> Order:
    """An order, read to its end."""
    order = Order.begin(corpus, MOST)
    while order.left:
        order = read_order(corpus, sorting, wish, order)
    return order


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    """What came of it, and how many seconds of a processor it took: others may be at work on the machine, too."""
    start = time.process_time()
    result = action()
    return result, time.process_time() - start


def write(out: Path, parts: int, rows: int) -> None:
    """A corpus of made-up rows."""
    chance = random.Random(1)  # made up, and the same each time
    for part in range(parts):
        writer = make_writer(Job())
        for i in range(part * rows, (part + 1) * rows):
            words = max(1, int(chance.lognormvariate(5.5, 1)))
            facts = {
                "id": f"<urn:uuid:{chance.getrandbits(128):032x}>",
                "url": f"https://site-{chance.randrange(5_000)}.example/{i}",
                "text": SENTENCE * min(20, 1 + words // 19),
                "title": f"Page {i} of the harbour",
                "language": chance.choices(LANGUAGES, SHARES)[0],
                "page_type": chance.choice(("article", "forum", "product", "listing")),
                "confidence": round(chance.betavariate(8, 2), 4),
                "words": words,
                "method": "main",
                "source": "crawl.warc.gz",
                "position": i,
            }
            writer.add(tuple(facts.get(name) for name in COLUMNS))
        Folder(str(out)).write(part_name(part, "parquet"), writer.finish())


if __name__ == "__main__":
    main()
