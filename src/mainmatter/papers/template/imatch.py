"""I-Match over words: pages with the same terms, once the frequent ones are left out, are duplicates.

Template, section 3, and its reference 8 (Chowdhury, Frieder, Grossman and McCabe 2002). corpus/duplicates.py has the
same over whole crawls, in bounded memory.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from math import log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Of 1, the idf of a term that only one page has.
LEAST_IDF = 0.1
_TERM = re.compile(r"\w+")


def terms_of(text: str) -> set[str]:
    """The different terms of a text: its runs of letters and digits, in lower case."""
    return set(_TERM.findall(text.lower()))


def imatch_signatures(
    pages: Sequence[Sequence[bytes]], least_idf: float = LEAST_IDF, most_idf: float = 1.0
) -> list[bytes]:
    """The SHA-1 of each page's "Unicode ascending tree": its different terms, in the order of Unicode.

    A page with no term in between keeps them all: it is a duplicate only of what has the very same words.

    Args:
        pages: the different terms of each page of a collection, as UTF-8, which sorts as Unicode does.
        least_idf: leave out terms with a lower idf, from 0, on every page, to 1, on one: "removing the most frequent
            terms"; near 1, "inserting only the most infrequent terms".
        most_idf: leave out terms with a higher one, which may be slips of the pen (the paper's reference 8).
    """
    counts = Counter(term for terms in pages for term in terms)
    largest = log(len(pages)) if len(pages) > 1 else 1.0
    idf = {term: 1 - log(count) / largest for term, count in counts.items()}
    trees = (sorted(term for term in terms if least_idf <= idf[term] <= most_idf) or sorted(terms) for terms in pages)
    return [hashlib.sha1(b"\n".join(tree), usedforsecurity=False).digest() for tree in trees]
