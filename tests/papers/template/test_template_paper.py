"""`template:preset=paper` beside the paper's algorithm, written once more from its text (Template, section 3)."""

from __future__ import annotations

import hashlib
import math
import random
import re
from html.parser import HTMLParser

import pytest

import mainmatter
from mainmatter.api import read
from mainmatter.errors import InputError
from mainmatter.papers.template.imatch import imatch_signatures
from mainmatter.papers.template.method import Template
from mainmatter.papers.template.site_counts import SiteCounts
from mainmatter.records import Page
from mainmatter.registry import get_method, make_untrained

WORDS = "harbour light keeper boat winter storm rope tide garden bell letter stone morning village road engine".split()


def paper(**parameters: object) -> Template:
    method = get_method("template:preset=paper", **parameters)
    assert isinstance(method, Template)
    return method


class TextChunks(HTMLParser):
    """ "Whenever a delimiting tag or its respective end tag such as table tag or image map tag is encountered"."""

    def __init__(self) -> None:
        super().__init__()
        self.chunks: list[list[str]] = [[]]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.delimit(tag)

    def handle_endtag(self, tag: str) -> None:
        self.delimit(tag)

    def handle_data(self, data: str) -> None:
        self.chunks[-1] += data.split()

    def delimit(self, tag: str) -> None:
        if tag in {"table", "map"}:
            self.chunks.append([])


def chunks_of(html: str) -> list[str]:
    reader = TextChunks()
    reader.feed(html)
    reader.close()
    return [" ".join(chunk) for chunk in reader.chunks if chunk]


def extract_as_written(pages: list[str], threshold: int = 4, *, remove_duplicates: bool = True) -> list[str]:
    """The texts that the paper's process passes to the indexer."""
    kept = list(pages)
    if remove_duplicates:
        documents = [set(re.findall(r"[a-z0-9]+", " ".join(chunks_of(html)).lower())) for html in pages]
        frequency = {term: sum(term in document for document in documents) for term in set().union(*documents)}
        hashes = set()
        kept = []
        for html, document in zip(pages, documents, strict=True):
            # idf is log(N / n), the largest log(N); the most frequent terms have less than a tenth of that.
            tree = sorted(
                term
                for term in document
                if math.log(len(pages) / frequency[term]) >= 0.1 * math.log(len(pages)) - 1e-12
            )
            value = hashlib.sha1(" ".join(tree).encode()).hexdigest()
            if value not in hashes:
                kept.append(html)
            hashes.add(value)
    text_chunk_map: dict[str, int] = {}
    for html in kept:
        for chunk in set(chunks_of(html)):
            text_chunk_map[chunk] = text_chunk_map.get(chunk, 0) + 1
    return [" ".join(c for c in chunks_of(html) if not text_chunk_map.get(c, 0) > threshold) for html in pages]


def make_site(seed: int) -> list[str]:
    """A site of 2003: tables in tables, an image map, five copies of a page, and one without the line of the day."""
    rng = random.Random(seed)

    def line(length: int) -> str:
        return " ".join(rng.choice(WORDS) for _ in range(length))

    # Each piece on its own number of pages, 4 and 5 among them.
    pages = rng.randint(12, 30)
    pieces = [(line(6), count) for count in (2, 3, 4, 4, 5, 5, 6, pages // 2, pages, pages)]
    have = [set(rng.sample(range(pages), count)) for _, count in pieces]
    made = []
    for number in range(pages):
        mine = [text for (text, _), on in zip(pieces, have, strict=True) if number in on]
        cut = rng.randint(0, len(mine))
        boxes = [
            "".join(f"<table><tr><td>{text}</td></tr></table>" for text in part) for part in (mine[:cut], mine[cut:])
        ]
        own = f"<p>Story{number} {line(20)}</p><map name=m><p>Map{number} {line(3)}</p></map><p>{line(9)}</p>"
        day = "<table><tr><td>Updated daily</td></tr></table>"
        made.append(f"<body>{day}<table><tr><td>{boxes[0]}</td><td>{own}</td><td>{boxes[1]}</td></tr></table></body>")
    copied = rng.sample(made, 2)
    made += [copied[0]] * 5
    made.append(copied[1].replace("Updated daily", ""))
    rng.shuffle(made)
    return made


def as_pages(site: list[str]) -> list[Page]:
    return [Page(html, f"https://a.example/{number}", str(number)) for number, html in enumerate(site)]


def test_the_preset_does_what_the_paper_says() -> None:
    at_least_four = without_imatch = 0
    for seed in range(40):
        site = make_site(seed)
        pages = as_pages(site)
        method = paper().fit(pages)
        found = [" ".join(mainmatter.clean(page, method=method).text.split()) for page in pages]
        expected = extract_as_written(site)
        assert found == expected
        assert all("Story" in text and "Updated" not in text for text in found)
        at_least_four += expected != extract_as_written(site, threshold=3)
        without_imatch += expected != extract_as_written(site, remove_duplicates=False)
    # The pages can tell.
    assert at_least_four > 30
    assert without_imatch > 30


def test_the_preset_is_these_parameters() -> None:
    assert paper().parameters == {
        "unit": "table",
        "threshold": 4,
        "share": 0.0,
        "sample": 1 << 20,
        "cluster": False,
        "drop_duplicates": True,
        "over": True,
        "terms": "word",
        "least_idf": 0.1,
        "most_idf": 1.0,
    }
    assert paper(threshold=9).threshold == 9


def table_site(pages: int, notice_on: int) -> list[Page]:
    notice = "<table><tr><td>The ferry does not run.</td></tr></table>"
    return as_pages([f"{notice * (number < notice_on)}<p>Story {number} of the harbour</p>" for number in range(pages)])


@pytest.mark.parametrize(("notice_on", "is_kept"), [(4, True), (5, False)])
def test_four_pages_are_not_over_the_threshold_and_five_of_a_thousand_are(notice_on: int, is_kept: bool) -> None:
    for pages in (8, 1000):
        site = table_site(pages, notice_on)
        assert ("ferry" in mainmatter.clean(site[0], method=paper().fit(site)).text) is is_kept
    at_least = paper(over=False).fit(table_site(8, 4))
    assert "ferry" not in mainmatter.clean(table_site(8, 4)[0], method=at_least).text


def test_it_knows_no_site_until_it_has_counted_one() -> None:
    found = paper().extract(read(Page("<table><tr><td>Home</table><p>Text")))
    assert found.kept.all()
    assert set(found.reasons) == {"no site was counted"}


def test_a_signature_is_the_sha_1_of_the_sorted_terms() -> None:
    pages = [["bell", "a", "zoo"], ["a", "ä"], ["a", "rope"]]
    encoded = [[term.encode() for term in terms] for terms in pages]
    expected = [hashlib.sha1("\n".join(terms).encode()).digest() for terms in (["bell", "zoo"], ["ä"], ["rope"])]
    assert imatch_signatures(encoded) == expected
    assert imatch_signatures([[b"b", b"a"]]) == [hashlib.sha1(b"a\nb").digest()]
    assert imatch_signatures([]) == []


def test_which_terms_count_depends_on_their_idf() -> None:
    # Of 100 pages, a term on 63 has an idf of .1003, one on 64 of .0969, by the largest.
    pages = [[b"own%d" % number, b"often"] for number in range(64)] + [[b"own%d" % number] for number in range(64, 100)]
    own = hashlib.sha1(b"own0").digest()
    assert imatch_signatures(pages)[0] == own
    assert imatch_signatures(pages, 0.0969)[0] == hashlib.sha1(b"often\nown0").digest()
    pages[63] = [b"own63"]
    assert imatch_signatures(pages)[0] == hashlib.sha1(b"often\nown0").digest()
    assert imatch_signatures(pages, 0.5)[0] == own  # only the most infrequent
    assert imatch_signatures(pages, 0.1, 0.9)[0] == hashlib.sha1(b"often").digest()  # without slips
    # A page of nothing but frequent terms is told by all of them.
    assert imatch_signatures([[b"x", b"y"], [b"y", b"x"]]) == [hashlib.sha1(b"x\ny").digest()] * 2


def test_terms_are_words_or_chunks() -> None:
    words = "<p>bell rope stone</p>"
    pages = [
        *table_site(8, 8),
        Page(words, "https://a.example/x", "x"),
        Page("<p>rope bell stone</p>", "https://a.example/y", "y"),
    ]
    assert paper().fit(pages).sites_.pages.tolist() == [9]  # neither order nor case nor markup
    assert paper(terms="chunk").fit(pages).sites_.pages.tolist() == [10]
    assert paper(drop_duplicates=False).fit(pages).sites_.pages.tolist() == [10]


def test_rare_terms_can_be_left_out() -> None:
    pages = [
        Page(f"<p>{text}</p>", f"https://a.example/{number}", str(number))
        for number, text in enumerate(["bell rope", "bell rope slip", *(f"stone{n // 2} tide" for n in range(6))])
    ]
    assert paper().fit(pages).sites_.pages.tolist() == [5]
    assert paper(most_idf=0.9).fit(pages).sites_.pages.tolist() == [4]


def test_counts_with_words_travel_and_merge() -> None:
    site = as_pages(make_site(1))
    whole = SiteCounts("table", terms="word")
    for page in site:
        whole.add(read(page))
    again = SiteCounts("table", terms="word")
    for page in reversed(site):
        one = SiteCounts("table", terms="word")
        one.add(read(page))
        again.merge(SiteCounts.from_bytes(one.to_bytes()))
    assert again.to_bytes() == whole.to_bytes()
    assert again.templates().pages.tolist() == paper().fit(site).sites_.pages.tolist()
    with pytest.raises(InputError, match="other parameters"):
        whole.merge(SiteCounts("table"))


@pytest.mark.parametrize("listed", ["terms=page", "least_idf=2", "most_idf=-1", "over=2"])
def test_wrong_parameters(listed: str) -> None:
    with pytest.raises(InputError, match=f"method 'template': {listed.partition('=')[0]} must be"):
        make_untrained(f"template:{listed}")
