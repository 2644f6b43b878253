"""What pages say about themselves: every source, which wins, and pages that lie, break or attack."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from mainmatter.html.dates import read_day, read_day_in_path
from mainmatter.html.metadata import (
    complete_metadata,
    people,
    read_metadata,
    without_site,
)
from mainmatter.html.parse import parse
from mainmatter.records import Metadata
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable

URL = "https://www.riverpost.example/town/bridge-opens"


def read(html: str, url: str | None = URL) -> Metadata:
    return read_metadata(parse(html), url)


def json_ld(value: Any) -> str:
    source = value if isinstance(value, str) else json.dumps(value)
    return f'<script type="application/ld+json">{source}</script>'


def article(**properties: Any) -> str:
    return json_ld({"@context": "https://schema.org", "@type": "NewsArticle", **properties})


def test_a_full_page() -> None:
    page = f"""<html lang="en_gb"><head><title>New bridge opens | River Post</title>
        <link rel="canonical" href="/town/bridge-opens"><meta property="og:site_name" content="River Post">
        <meta name="description" content=" The bridge
          is open. ">{
        article(
            headline="New bridge opens",
            author={"@type": "Person", "name": "By Ada Lind"},
            datePublished="2024-03-05T23:10:00+01:00",
            dateModified="2024-04-01",
        )
    }</head><body><h1>New bridge opens</h1><p>People walked.</p></body></html>"""
    assert read(page, f"{URL}?utm=1") == Metadata(
        title="New bridge opens",
        author="Ada Lind",
        date="2024-03-05",
        published="2024-03-05T23:10:00+01:00",
        language="en-GB",
        site="River Post",
        url=URL,
        description="The bridge is open.",
    )


@pytest.mark.parametrize("html", ["", " ", "<html></html>", "plain words", "<h1></h1><title></title>"])
def test_an_empty_page_says_nothing(html: str) -> None:
    assert read(html, None) == Metadata()
    assert read(html) == Metadata(url=URL)


# Title


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>Old mills of the valley - River Post</title>", "Old mills of the valley"),
        ("<title>River Post: news | Old mills</title>", "Old mills"),
        ("<title>Old mills | Culture</title><h1>Old mills</h1>", "Old mills"),
        ("<title>x</title><meta property=og:title content='Old mills'><h1>Old mills</h1>", "Old mills"),
        ("<h1>Only a heading</h1>", "Only a heading"),
        ("<meta name=twitter:title content='From a card'>", "From a card"),
        ("<h1>River Post</h1><h1>Old mills</h1><title>Old mills</title>", "Old mills"),
        ("<h1>Menu</h1><h1>Old mills</h1><title>Old mills</title>", "Old mills"),
        ("<title>Old mills</title><h2>Also today</h2><h2>Old mills¶</h2>", "Old mills"),
        ("<title>Old mills</title><h1>Old<br>mills <a>¶</a></h1>", "Old mills"),
        ("<title>Old &amp;amp; new</title>", "Old & new"),
        ("<title>Tom &amp; Ida&#8217;s mill</title>", "Tom & Ida\u2019s mill"),
        ("<svg><title>Logo</title></svg><h1>Old mills</h1>", "Old mills"),
        ("<title>Manual: mills</title><h1>Guide</h1>", "Manual: mills"),
        ("<title>Chapter two - Guide</title><h1>Guide</h1>", "Chapter two"),
        ("<h1>Vieux<style>h1{}</style> <b>mou</b>lins</h1>", "Vieux moulins"),
    ],
)
def test_titles(html: str, title: str) -> None:
    assert read(html).title == title


def test_in_an_article_the_heading_wins_elsewhere_the_declared_title() -> None:
    page = "<title>Best mills of the valley</title><h1>Where the water turns</h1>"
    assert read(page).title == "Best mills of the valley"
    assert read(page + "<meta property=og:type content=article>").title == "Where the water turns"
    assert read(page + article(headline="Mills")).title == "Where the water turns"
    lower = page.replace("h1>", "h2>")
    assert read(lower + "<meta property=og:type content=article>").title == "Best mills of the valley"


@pytest.mark.parametrize(
    ("title", "keys", "stripped"),
    [
        ("Milk | The Dairy", {"thedairy"}, "Milk"),
        ("The Dairy - Milk", {"thedairy"}, "Milk"),
        ("Milk - Dairy Forums", {"dairy"}, "Milk"),
        ("Milk - a history", {"dairy"}, "Milk - a history"),
        ("Milk-free | Ox", {"x"}, "Milk-free | Ox"),
        ("牛乳の話｜乳業新聞", {"乳業新聞"}, "牛乳の話"),
    ],
)
def test_site_names_leave_titles(title: str, keys: set[str], stripped: str) -> None:
    assert without_site(title, keys) == stripped


@pytest.mark.parametrize(
    ("headline", "title"),
    [
        ("Where the water turns", "Where the water turns"),
        ("Where the\nwater turns ¶", "Where the water turns"),
        ("Where the water turns | River Post", "Where the water turns"),
        ("Where the water turns - riverpost.example", "Where the water turns"),
        ("", "Mills"),
    ],
)
def test_the_headline_that_a_method_found_is_the_title(headline: str, title: str) -> None:
    declared = Metadata(title="Mills", site="River Post", author="Ada Lind", date="2024-03-05")
    found = complete_metadata(declared, headline, [], {"riverpostexample"})
    assert found == Metadata(title=title, site="River Post", author="Ada Lind", date="2024-03-05")


@pytest.mark.parametrize(
    ("bylines", "author", "date"),
    [
        (["By Ada Lind"], "Ada Lind", None),
        (["By Ada Lind and Bo Ek", "5 May 2024"], "Ada Lind; Bo Ek", "2024-05-05"),
        (["Posted on May 5, 2024 by Ada Lind in Travel"], "Ada Lind", "2024-05-05"),
        (["Mills | By Ada Lind | May 5, 2024"], "Ada Lind", "2024-05-05"),
        (["Von Ada Lind\n5. Mai 2024"], "Ada Lind", "2024-05-05"),
        (["By Ada Lind", "5 May 2024", "By Ada Lind", "5 May 2024"], "Ada Lind", "2024-05-05"),
        (["By Ada Lind", "5 May 2024", "By Bo Ek", "6 May 2024"], None, None),  # as in a list of posts
        (["5 May 2024", "Updated 6 May 2024"], None, "2024-05-05"),
        (["Last updated: 6 May 2024"], None, None),
        (["Fact checked by Bo Ek"], None, None),
        (["By The River Post", "by admin", "By the water"], None, None),
        (["Ada Lind", "Text Size"], None, None),  # who knows what that is
        (["3 min read"], None, None),
        ([], None, None),
    ],
)
def test_bylines_tell_what_is_not_declared(bylines: list[str], author: str | None, date: str | None) -> None:
    assert complete_metadata(Metadata(), "", bylines, {"theriverpost"}) == Metadata(author=author, date=date)
    declared = Metadata(author="Cy Dahl", date="2001-02-03")
    assert complete_metadata(declared, "", bylines, set()) == declared


def test_the_language_tells_which_number_of_a_date_is_the_month() -> None:
    assert complete_metadata(Metadata(language="en"), "", ["3/4/2024"], ()).date == "2024-03-04"
    assert complete_metadata(Metadata(language="fr"), "", ["3/4/2024"], ()).date == "2024-04-03"


# Author


@pytest.mark.parametrize(
    ("author", "names"),
    [
        ("Ada Lind", "Ada Lind"),
        ({"@type": "Person", "name": "Ada Lind"}, "Ada Lind"),
        ([{"name": "Ada Lind"}, {"name": "Bo Ek"}, {"name": "ADA LIND"}], "Ada Lind; Bo Ek"),
        ({"name": ["Ada Lind", "Bo Ek"]}, "Ada Lind; Bo Ek"),
        ("Ada Lind, Bo Ek and Cy Dahl", "Ada Lind; Bo Ek; Cy Dahl"),
        ("Ada Lind, MD", "Ada Lind, MD"),
        ("Written by: Ada Lind | Staff", "Ada Lind"),
        ("Ada Lind (ada@riverpost.example)", "Ada Lind"),
        ("Ada Lind @adalind https://social.example/ada", "Ada Lind"),
        ("d&#039;Arc &amp; Söhne", "d'Arc; Söhne"),
        ("山田 太郎", "山田 太郎"),
        ({"@type": "Organization", "name": "Press Agency"}, None),
        ({"@type": "https://schema.org/NewsMediaOrganization", "name": "Press Agency"}, None),
        ("River Post", None),
        ("riverpost", None),
        ("admin", None),
        ("https://social.example/ada", None),
        ("@adalind", None),
        ("ada.lind", None),
        ("262588213", None),
        ("", None),
    ],
)
def test_authors_in_json_ld(author: object, names: str | None) -> None:
    site = "<meta property=og:site_name content='River Post'>"
    assert read(site + article(author=author)).author == names


def test_an_author_may_be_referred_to() -> None:
    graph = {
        "@graph": [
            {"@type": "Article", "author": {"@id": "#ada"}},
            {"@type": "Person", "@id": "#ada", "name": "Ada Lind"},
        ]
    }
    assert read(json_ld(graph)).author == "Ada Lind"


@pytest.mark.parametrize(
    "html",
    [
        "<meta name=author content='Ada Lind'>",
        "<meta property=article:author content=https://s.example/x><meta name=author content='Ada Lind'>",
        "<meta name=DC.creator content='Ada Lind'>",
        "<meta name=citation_author content='Lind, Ada'>",
        "<a rel=author href=/ada>Ada Lind</a>",
        "<div itemprop=author itemscope><b itemprop=name>Ada Lind</b> <i>Reporter</i></div>",
        "<meta itemprop=author content='Ada Lind'>",
        "<span property='schema:author'>Ada Lind</span>",
        "<h1>Mills</h1><p>By Ada Lind</p>",
        "<h1>Mills</h1><p>Written by</p><p>Ada Lind</p><p>5 May 2020</p>",
        "<p class='post-byline'>By <a>Ada Lind</a> · 5 min read</p>",
        "<div class=AuthorBox><img class=author-image><p>Ada Lind</p><p>Writes about rivers.</p></div>",
    ],
)
def test_other_places_of_authors(html: str) -> None:
    assert read(html).author == "Ada Lind"


@pytest.mark.parametrize(
    "html",
    [
        "<p class=comment-author>Bo Ek</p>",
        "<p class=author>About the author</p>",
        "<h1>Mills</h1><p>By the river stood a mill.</p>",
        "<p class=author>Follow us on social media for the latest news</p>",
        json_ld({"@type": "Article", "comment": {"@type": "Comment", "author": "Bo Ek"}}),
        json_ld([{"@type": "Product", "name": "Mill"}, {"@type": "Review", "author": "Bo Ek"}]),
    ],
)
def test_what_is_not_an_author(html: str) -> None:
    assert read(html).author is None


def test_several_names_in_a_byline() -> None:
    assert read("<p class=byline>By <a>Ada Lind</a> and <a>Bo Ek</a></p>").author == "Ada Lind; Bo Ek"
    assert read("<meta name=citation_author content='Lind, Ada'><meta name=citation_author content='Ek, Bo'>") == (
        Metadata(author="Ada Lind; Bo Ek", url=URL)
    )


def test_a_personal_site_is_its_author_but_a_company_is_not() -> None:
    assert read("<meta name=author content='Ada Lind'>", "https://adalind.example/mills").author == "Ada Lind"
    assert read("<meta name=author content='Millco'>", "https://millco.example/mills").author is None


def test_json_ld_wins_over_meta_and_meta_over_byline() -> None:
    meta, byline = "<meta name=author content='Bo Ek'>", "<a rel=author>Cy Dahl</a>"
    assert read(article(author="Ada Lind") + meta + byline).author == "Ada Lind"
    assert read(article(author=None) + meta + byline).author == "Bo Ek"
    assert read(article(author="admin") + byline).author == "Cy Dahl"


def test_names_of_all_kinds() -> None:
    assert people(["Ludwig van Beethoven", "jdoe_7", "n/a", "{{ author }}", "x" * 500]) == [
        "Ludwig van Beethoven",
        "jdoe_7",
    ]


# Date


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-03-05", "2024-03-05"),
        ("2024-03-05T23:59:00-08:00", "2024-03-05"),
        ("2024/3/5", "2024-03-05"),
        ("20240305T101112Z", "2024-03-05"),
        ("20240305", "2024-03-05"),
        ("Tue, 05 Mar 2024 10:00:00 GMT", "2024-03-05"),
        ("Published: March 5th, 2024 by Ada", "2024-03-05"),
        ("Sept. 5, 2024", "2024-09-05"),
        ("5. März 2024", "2024-03-05"),
        ("5 de mayo de 2024", "2024-05-05"),
        ("1er août 2024", "2024-08-01"),
        ("5 juillet 2024", "2024-07-05"),
        ("5 марта 2024", "2024-03-05"),
        ("2024年3月5日", "2024-03-05"),
        ("2024년 3월 5일", "2024-03-05"),
        ("3/4/2024", "2024-03-04"),
        ("25/4/2024", "2024-04-25"),
        ("3.4.2024", "2024-04-03"),
        ("2024-02-31", None),
        ("0001-01-01", None),
        ("1970-01-01T00:00:00", None),
        ("9999-12-31", None),
        ("5 bananas 2024", None),
        ("12345678901234", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_ways_to_write_a_day(text: str, day: str | None) -> None:
    assert read_day(text) == day


def test_the_language_decides_which_number_is_the_month() -> None:
    page = "<html lang={}><meta name=date content=3/4/2024>"
    assert read(page.format("en-US")).date == "2024-03-04"
    assert read(page.format("en-GB")).date == "2024-04-03"
    assert read(page.format("fr")).date == "2024-04-03"


def test_days_in_paths() -> None:
    assert read_day_in_path("https://a.example/2024/3/05/mills") == "2024-03-05"
    assert read_day_in_path("https://a.example/2024/03/mills") is None
    assert read_day_in_path("https://a.example/2024/99/05/") is None


@pytest.mark.parametrize(
    "html",
    [
        article(datePublished="2024-03-05", dateModified="2024-06-01"),
        json_ld({"@type": "WebPage", "datePublished": ["2024-03-05"]}),
        json_ld({"@type": "QAPage", "mainEntity": {"@type": "Question", "dateCreated": "2024-03-05"}}),
        "<meta name=modified content=2024-06-01><meta name=article:published_time content=2024-03-05>",
        "<meta name=DC.date.issued content=2024-03-05>",
        "<meta itemprop=datePublished content=2024-03-05>",
        "<time datetime=2023-01-01>x</time><time itemprop=datePublished datetime=2024-03-05>today</time>",
        "<span property=schema:datePublished content=2024-03-05>x</span>",
        "<time>2023-01-01</time><h1>Mills</h1><time datetime=2024-03-05></time><time>2025-01-01</time>",
        "<h1>Mills</h1><time class=updated datetime=2024-06-01></time><time>March 5, 2024</time>",
        "<h1>Mills</h1><p>Updated</p><p>June 1, 2024</p><p>Posted on March 5, 2024</p>",
        "<p>March 5, 2024</p><h1>Mills</h1>",
        "<h2>Mills</h2><p>March 5, 2024</p>",
        "<p class=postDate>March 5, 2024</p>",
        "<h1>Mills</h1><p>Last updated: March 5, 2024</p>",
    ],
)
def test_places_of_dates(html: str) -> None:
    assert read(html).date == "2024-03-05"


def test_the_order_of_dates() -> None:
    dated = "https://a.example/2024/03/05/mills"
    visible = "<h1>Mills</h1><time datetime=2020-01-01></time>"
    meta = "<meta property=article:published_time content=2022-02-02>"
    assert read(visible, dated).date == "2024-03-05"
    assert read(visible + meta, dated).date == "2022-02-02"
    assert read(visible + meta + article(datePublished="2021-01-01"), dated).date == "2021-01-01"
    assert read(visible + meta + article(datePublished="soon"), dated).date == "2022-02-02"


def test_one_day_apart_the_path_has_the_local_day() -> None:
    html = article(datePublished="2024-03-06T02:00:00Z")
    assert read(html, "https://a.example/2024/03/05/mills").date == "2024-03-05"
    assert read(html, "https://a.example/2024/03/01/mills").date == "2024-03-06"


def test_home_pages_and_products_have_neither_author_nor_date() -> None:
    teaser = "<h1>News</h1><p>By Ada Lind</p><time datetime=2024-03-05></time>"
    assert read(teaser, "https://riverpost.example/").date is None
    assert read(teaser, "https://riverpost.example/").author is None
    assert read(teaser + article(headline="x"), "https://riverpost.example/").date == "2024-03-05"
    assert read(teaser, "https://riverpost.example/?p=7").date == "2024-03-05"
    assert read(teaser + json_ld({"@type": "Product"})).date is None
    assert read(teaser + "<meta property=og:type content=product.item>").author is None


# Language, site, address, description


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang=en>", "en"),
        ("<html lang=EN_us>", "en-US"),
        ("<html lang=zh-hant-tw>", "zh-Hant-TW"),
        ("<html lang=es-419>", "es-419"),
        ("<html xml:lang=sv>", "sv"),
        ("<html lang=English><meta http-equiv=Content-Language content='da, en'>", "da"),
        ("<meta property=og:locale content=pt_BR>", "pt-BR"),
        ("<meta property=og:locale content=pt_BR>" + article(inLanguage="de"), "de"),
        (article(inLanguage={"@type": "Language", "name": "German", "alternateName": "de"}), "de"),
        (article(inLanguage=["fr", 3]), "fr"),
        ("<html lang='{{ lang }}'>", None),
        ("<html lang=und>", None),
        ("<html lang=''>", None),
    ],
)
def test_languages(html: str, language: str | None) -> None:
    assert read(html).language == language


@pytest.mark.parametrize(
    ("html", "site"),
    [
        (
            "<meta property=og:site_name content='River Post'><meta name=application-name content=App>",
            "River Post",
        ),
        (json_ld({"@type": "WebSite", "name": "River Post"}), "River Post"),
        ("<meta name=application-name content='River Post'>", "River Post"),
        (article(publisher={"@type": "Organization", "name": "River Post"}), "River Post"),
        ("<title>Mills | River Post</title>", "River Post"),
        ("<title>Mills | Culture</title>", None),
        ("<title>River Post</title>", None),
    ],
)
def test_sites(html: str, site: str | None) -> None:
    assert read(html).site == site


@pytest.mark.parametrize(
    ("html", "url", "address"),
    [
        ("<link rel=canonical href=/a>", "https://x.example/b?c", "https://x.example/a"),
        ("<link rel='shortlink canonical' href=https://y.example/a>", None, "https://y.example/a"),
        (
            "<base href=https://y.example/d/><link rel=canonical href=a>",
            "https://x.example/",
            "https://y.example/d/a",
        ),
        ("<meta property=og:url content=https://x.example/a>", "https://x.example/b", "https://x.example/a"),
        ("<link rel=canonical href='http://['>", "https://x.example/b", "https://x.example/b"),
        ("<link rel=canonical href='javascript:x'>", "https://x.example/b", "https://x.example/b"),
        ("<link rel=canonical href=/a>", None, None),
        ("<link rel=canonical href=''>", "https://x.example/b", "https://x.example/b"),
    ],
)
def test_addresses(html: str, url: str | None, address: str | None) -> None:
    assert read(html, url).url == address


def test_descriptions() -> None:
    og = "<meta property=og:description content=B>"
    assert read(og + "<meta name=Description content=A>").description == "A"
    assert read(og + article(description="C")).description == "B"
    assert read(article(description="C &amp; D")).description == "C & D"


# Broken and hostile pages


@pytest.mark.parametrize(
    "source",
    [
        '<!-- {"@type": "Article", "headline": "Mills"} -->',
        '//<![CDATA[\n{"@type": "Article", "headline": "Mills"}\n//]]>',
        '{"@type": "Article", "headline": "Mills",}',
        '{"@type": "Article", "headline": "Mills", "keywords": ["a", "b", ],};',
        '{"@type": "Article", "text": "line\none\ttwo", "headline": "Mills"}',
    ],
)
def test_common_mistakes_in_json_ld_are_forgiven(source: str) -> None:
    assert read(json_ld(source)).title == "Mills"


def test_a_broken_script_does_not_hide_the_next() -> None:
    for broken in (
        "{",
        "",
        "null",
        "7",
        '"text"',
        "{'a': 1}",
        "[" * 100_000,
        '{"@graph":' * 20_000,
        "NaN",
        "1" * 9_999,
    ):
        assert read(json_ld(broken) + article(headline="Mills")).title == "Mills"


def test_a_script_larger_than_the_limit_is_not_read() -> None:
    text = {"@type": "Article", "headline": "Mills"}
    assert read(json_ld({**text, "articleBody": "x" * 900_000})).title == "Mills"
    assert read(json_ld({**text, "articleBody": "x" * 1_000_000})).title is None


WRONG: list[Any] = [
    None,
    True,
    7,
    1e9,
    "",
    [],
    {},
    [[]],
    [None],
    {"name": {"name": 7}},
    {"@id": 7},
    {"@id": ["x"]},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_wrong_types_give_nothing(wrong: Any) -> None:
    names = (
        "headline",
        "author",
        "creator",
        "datePublished",
        "inLanguage",
        "publisher",
        "description",
        "@id",
    )
    page = json_ld({"@type": ["Article", wrong], **dict.fromkeys(names, wrong), "mainEntity": wrong, "@graph": wrong})
    assert read(page) == Metadata(url=URL)
    assert read(json_ld({"@type": wrong, "headline": "x"}) + json_ld(wrong)) == Metadata(url=URL)


@pytest.mark.parametrize("url", ["http://[", "", "no address", "https://x:99999999/", "mailto:a@b.example"])
def test_odd_addresses_do_no_harm(url: str) -> None:
    assert read("<title>Mills</title><link rel=canonical href=/a>", url).title == "Mills"


HOSTILE: dict[str, tuple[int, Callable[[int], str]]] = {
    "metas": (50_000, lambda n: "<meta name=author content='Ada Lind'>" * n),
    "long value": (
        100_000,
        lambda n: f"<meta name=author content='{'a, ' * n}'><meta name=date content='{'2' * 10 * n}'>",
    ),
    "separators": (500_000, lambda n: f"<title>{' | ' * n}</title>"),
    "long heading": (2_000_000, lambda n: f"<h1>{'x' * n}</h1>"),
    "nested headings": (30_000, lambda n: "<h1><div>" * n),
    "nested bylines": (30_000, lambda n: "<div class=author>" * n + "By Ada Lind"),
    "times": (50_000, lambda n: "<time>" * n),
    "attributes": (100_000, lambda n: f"<meta {' '.join(f'a{i}=1' for i in range(n))}>"),
    "references": (
        5_000,
        lambda n: "<div itemscope itemref=a></div>" * n + "<div id=a>" + "<b itemprop=author>x" * n,
    ),
    "large script": (2_000_000, lambda n: json_ld('{"@type": "Article", "headline": "' + "x" * n + '"}')),
    "many items": (
        10_000,
        lambda n: json_ld([{"@type": "Article", "headline": f"x | {i}", "publisher": f"p{i}"} for i in range(n)]),
    ),
    "white space": (15_000, lambda n: json_ld("{" + ("," + " " * 50) * n)),
    "bylines": (100_000, lambda n: "<h1>x</h1>" + "<p>by " * n),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_take_linear_time(name: str) -> None:
    size, make = HOSTILE[name]
    metadata = read_metadata(parse(make(size)), URL)
    assert all(len(value or "") <= 20_000 for value in (metadata.title, metadata.author, metadata.site))
    assert_linear(lambda n: partial(read_metadata, parse(make(n)), URL), size)


@pytest.mark.parametrize("piece", ["by ", "1 by ", "| ", " \n", " in"])
def test_hostile_bylines_take_linear_time(piece: str) -> None:
    assert complete_metadata(Metadata(), "", [piece * 300_000] * 20, ()).date is None
    assert_linear(lambda n: partial(complete_metadata, Metadata(), "", [piece * n] * 20, ()), 300_000)


def test_threads_agree() -> None:
    tree = parse("<title>Mills</title><h1>Mills</h1><p>By Ada Lind</p>" + article(datePublished="2024-03-05"))
    with ThreadPoolExecutor(8) as pool:
        results = set(pool.map(lambda _: read_metadata(tree, URL), range(200)))
    assert results == {Metadata(title="Mills", author="Ada Lind", date="2024-03-05", url=URL)}
