"""Pages whose text no markup shows: it is found in JSON-LD, in the state of an app, in templates; and not elsewhere."""

from __future__ import annotations

import html as html_module
import json
import pickle
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

import mainmatter
from mainmatter.html import scripted
from mainmatter.html.read import parse_and_segment
from mainmatter.records import Kind, Page
from mainmatter.registry import FORMATS, METHODS
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable

    from mainmatter.records import Extraction

FIRST = "The ferry across the sound is out of service until the spring, because its engine has to be replaced."
SECOND = "Until then a bus goes the long way round, every two hours, and takes an hour and a half for the tour."
THIRD = "Many who work in the town on the other side have asked for rooms there, and some have found friends with one."
LAST = "The mayor is sorry for all this. He says that the new engine is on its way, and that it will last for years."
BODY = [FIRST, SECOND, THIRD]
SHELL = "<title>Ferry</title><body><div id=root></div>"


def texts(html: str) -> list[str]:
    return parse_and_segment(html)[1].columns.texts


def kinds(html: str) -> list[str]:
    return [kind.value for kind in parse_and_segment(html)[1].columns.kinds]


def linked_data(*values: Any) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(value)}</script>' for value in values)


def article(**more: Any) -> dict[str, Any]:
    return {"@type": "NewsArticle", "headline": "No ferry", "articleBody": "\n\n".join(BODY), **more}


def preloaded(posts: list[str], title: str = "No ferry") -> str:
    topic = {"title": title, "post_stream": {"posts": [{"id": n, "cooked": post} for n, post in enumerate(posts)]}}
    values = {"site": json.dumps({"description": "x " * 500}), "topic_17": json.dumps(topic)}
    return f'{SHELL}<div id="data-preloaded" data-preloaded="{html_module.escape(json.dumps(values))}"></div>'


def next_data(properties: object) -> str:
    data = json.dumps({"props": {"pageProps": properties}, "buildId": "x1"})
    return f'{SHELL}<script id="__NEXT_DATA__" type="application/json">{data}</script>'


class TestLinkedData:
    def test_an_article(self) -> None:
        html = f"{SHELL}{linked_data(article())}"
        assert texts(html) == ["No ferry", *BODY]
        assert kinds(html) == ["heading", *["paragraph"] * 3]

    def test_an_article_in_a_graph_beside_others(self) -> None:
        site = {"@type": "LocalBusiness", "description": "We sell tickets. " * 30}
        html = f"{SHELL}{linked_data({'@graph': [site, article()]})}"
        assert texts(html) == ["No ferry", *BODY]

    @pytest.mark.parametrize("escape", [str, html_module.escape])
    def test_markup_in_it_survives(self, escape: Callable[[str], str]) -> None:
        body = f"<h2>Why</h2><p>{FIRST}</p><ul><li>{SECOND}</li></ul><pre>a  = 1\n  b</pre>"
        html = f"{SHELL}{linked_data(article(articleBody=escape(body)))}"
        assert texts(html) == ["No ferry", "Why", FIRST, SECOND, "a  = 1\n  b"]
        assert kinds(html)[1:] == ["heading", "paragraph", "list-item", "code"]

    def test_markdown_in_it_is_read(self) -> None:
        body = f"## Why\n\n{FIRST} See [the plan](/plan).\n\n- {SECOND}\n\n```sh\nls  -l\n```\n![map](m.png) 2 < 3"
        html = f"{SHELL}{linked_data(article(articleBody=body))}"
        assert texts(html) == ["No ferry", "Why", f"{FIRST} See the plan.", SECOND, "ls  -l", "2 < 3"]
        assert kinds(html) == ["heading", "heading", "paragraph", "list-item", "code", "paragraph"]
        assert parse_and_segment(html)[1].columns.link_counts == [0, 0, 1, 0, 0, 0]

    def test_what_is_shown_does_not_come_twice(self) -> None:
        body = "\n".join((*BODY, LAST))
        html = f"{SHELL}<h1>No ferry</h1><p>{FIRST.upper()}</p><p>Join!</p>{linked_data(article(articleBody=body))}"
        assert texts(html) == ["No ferry", FIRST.upper(), "Join!", SECOND, THIRD, LAST]

    def test_nothing_changes_where_all_of_it_is_shown(self) -> None:
        shown = f"<h1>No ferry</h1><p>{FIRST} {SECOND}</p><p>{THIRD}</p>"
        assert texts(shown + linked_data(article())) == texts(shown)

    def test_nothing_changes_where_more_is_shown(self) -> None:
        shown = "".join(f"<p>Notice {n}: the town hall is closed on Monday, as is the library.</p>" for n in range(9))
        assert texts(shown + linked_data(article())) == texts(shown)

    def test_links_do_not_count_as_shown(self) -> None:
        menu = "".join(f"<li><a href=/{n}>The town's offices and services, page {n}</a>" for n in range(30))
        assert texts(menu + linked_data(article()))[-4:] == ["No ferry", *BODY]

    def test_it_stands_in_the_main_element(self) -> None:
        html = (
            f"<body><header>Town</header><main><h1>No ferry</h1></main><footer>Imprint</footer>{linked_data(article())}"
        )
        assert texts(html) == ["Town", "No ferry", *BODY, "Imprint"]

    def test_a_thread(self) -> None:
        answers = [{"@type": "Comment", "text": text, "author": {"name": "Ada"}} for text in (SECOND, "Yes.", THIRD)]
        post = {"@type": "DiscussionForumPosting", "headline": "No ferry", "text": FIRST, "comment": answers}
        assert texts(SHELL + linked_data(post)) == ["No ferry", FIRST, SECOND, "Yes.", THIRD]

    def test_questions_and_answers(self) -> None:
        question: dict[str, Any] = {
            "@type": "Question",
            "name": "How to cross?",
            "text": FIRST,
            "acceptedAnswer": {"text": SECOND},
        }
        question["suggestedAnswer"] = [{"@type": "Answer", "text": THIRD}]
        html = SHELL + linked_data({"@type": "QAPage", "mainEntity": question})
        assert texts(html) == ["How to cross?", FIRST, SECOND, THIRD]

    def test_frequent_questions(self) -> None:
        pairs = [("Is there a ferry?", FIRST), ("Is there a bus?", SECOND), ("Is there a room?", THIRD)]
        entities = [
            {"@type": "Question", "name": q, "acceptedAnswer": {"@type": "Answer", "text": a}} for q, a in pairs
        ]
        html = SHELL + linked_data({"@type": "FAQPage", "mainEntity": entities})
        assert texts(html) == [text for pair in pairs for text in pair]
        assert kinds(html) == ["heading", "paragraph"] * 3

    def test_a_recipe(self) -> None:
        steps = [{"@type": "HowToStep", "name": FIRST[:20], "text": FIRST}, {"@type": "HowToStep", "text": SECOND}]
        parts = {"recipeIngredient": ["2 eggs", "salt"], "recipeInstructions": steps}
        html = SHELL + linked_data({"@type": "Recipe", "name": "Soup", "description": THIRD, **parts})
        assert texts(html) == ["Soup", THIRD, "2 eggs", "salt", FIRST, SECOND]
        assert kinds(html) == ["heading", "paragraph", "list-item", "list-item", "paragraph", "paragraph"]

    def test_instructions_in_sections(self) -> None:
        step = {"@type": "HowToStep", "name": "Step 1", "itemListElement": {"@type": "HowToDirection", "text": FIRST}}
        section = {"@type": "HowToSection", "name": "Before", "itemListElement": [step]}
        html = SHELL + linked_data({"@type": "HowTo", "name": "Cross", "step": [section, SECOND, THIRD]})
        assert texts(html) == ["Cross", "Before", "Step 1", FIRST, SECOND, THIRD]

    def test_a_product_but_not_a_catalogue(self) -> None:
        product = {"@type": "Product", "name": "Boat", "description": f"<p>{FIRST}</p><p>{SECOND}</p>"}
        other = {"@type": "Product", "name": "Bus", "description": f"{SECOND} {THIRD}"}
        assert texts(SHELL + linked_data(product)) == ["Boat", FIRST, SECOND]
        assert texts(SHELL + linked_data([product, other])) == []

    def test_the_teaser_of_an_article_is_not_its_text(self) -> None:
        teaser = {"@type": "NewsArticle", "headline": "No ferry", "description": " ".join(BODY)}
        assert texts(SHELL + linked_data(teaser)) == []

    @pytest.mark.parametrize("value", [None, 7, "x", [], {}, [[[]]], {"@type": 7, "articleBody": [1, {"a": 2}]}])
    def test_strange_values(self, value: object) -> None:
        odd = {"@type": "Article", "headline": value, "articleBody": value, "comment": value, "step": value}
        assert texts(SHELL + linked_data(odd, value)) == []
        assert FIRST in texts(SHELL + linked_data(article(comment=value, headline=value)))

    def test_half_characters_and_open_tags(self) -> None:
        posts = [f"<p>{FIRST} \ud83d <!-- open", f"<textarea><p>{SECOND}", f"</div></body></html><p>{THIRD}"]
        comments = [{"@type": "Comment", "text": text} for text in posts[1:]]
        html = SHELL + linked_data({"@type": "SocialMediaPosting", "text": posts[0], "comment": comments})
        assert texts(html) == [f"{FIRST} \ufffd", f"<p>{SECOND}", THIRD]


class TestState:
    def test_discourse(self) -> None:
        html = preloaded([f"<p>{FIRST}</p><pre><code>a  b</code></pre>", "<p>Yes.</p>", f"<ul><li>{SECOND}</li></ul>"])
        assert texts(html) == ["No ferry", FIRST, "a  b", "Yes.", SECOND]
        assert kinds(html) == ["heading", "paragraph", "code", "paragraph", "list-item"]

    @pytest.mark.parametrize("source", ["", "{", "[1]", '{"topic_1": "{"}', '{"topic_1": "{\\"post_stream\\": [1]}"}'])
    def test_broken_discourse(self, source: str) -> None:
        assert texts(f"{SHELL}<div id=data-preloaded data-preloaded='{source}'></div>") == []

    def test_next(self) -> None:
        page = {"title": "No ferry", "article": {"body": f"<p>{FIRST}</p><h2>Bus</h2><p>{SECOND}</p>", "id": 1}}
        assert texts(next_data(page)) == [FIRST, "Bus", SECOND]
        assert kinds(next_data(page)) == ["paragraph", "heading", "paragraph"]

    def test_posts_in_a_list_stay_together(self) -> None:
        assert texts(next_data({"posts": [{"content": text} for text in (FIRST, "Yes.", SECOND)]})) == [
            FIRST,
            "Yes.",
            SECOND,
        ]

    @pytest.mark.parametrize(
        "script",
        [
            "window.__INITIAL_STATE__ = %s;",
            'window["__PRELOADED_STATE__"]=%s',
            "var a=1; var initialData = %s; go()",
            "window.__APP_DATA__ = JSON.parse(%r);",
        ],
    )
    def test_assigned(self, script: str) -> None:
        source = json.dumps({"menu": [1], "story": {"contentHtml": f"<p>{FIRST}</p><p>{SECOND}</p>"}})
        filled = script.replace("%r", json.dumps(source)).replace("%s", source.replace("[1]", "undefined"))
        assert texts(f"{SHELL}<script>{filled}</script>") == [FIRST, SECOND]

    def test_nuxt(self) -> None:
        payload = [{"data": 1}, {"post": 2}, {"body": 3, "id": 9}, f"<p>{FIRST}</p><p>{SECOND}</p>", 17]
        script = f'<script type="application/json" id="__NUXT_DATA__">{json.dumps(payload)}</script>'
        assert texts(SHELL + script) == [FIRST, SECOND]

    def test_json_in_json(self) -> None:
        assert texts(next_data({"response": json.dumps({"body": f"{FIRST}\n{SECOND}"})})) == [FIRST, SECOND]

    @pytest.mark.parametrize(
        "properties",
        [
            {"translations": {"body": " ".join(BODY)}},
            {"messages": {"contact": {"text": " ".join(BODY)}}},
            {"relatedStories": [{"body": " ".join(BODY)}]},
            {"footer": {"content": " ".join(BODY)}},
            {"products": [{"description": text + text} for text in BODY]},
            {"title": " ".join(BODY)},
            {"content": "https://e.example/" + "x" * 400},
            {"content": "function(){return a[0]+b[1];}" * 30},
            {"body": "Hello {name}, " + " ".join(BODY)},
        ],
    )
    def test_other_things_in_it_are_left_alone(self, properties: dict[str, Any]) -> None:
        assert texts(next_data(properties)) == []

    def test_a_short_page_is_not_flooded(self) -> None:
        contact = f"<h1>Contact</h1><p>{FIRST}</p><p>{SECOND}</p><p>{THIRD}</p><p>Call us.</p>"
        stories = next_data(
            {"stories": [{"body": f"<p>Story {n}: it rains, and the river rises.</p>"} for n in range(9)]}
        )
        assert texts(contact + stories) == texts(contact)

    def test_nor_is_a_page_of_links(self) -> None:
        links = "".join(f"<li><a href=/{n}>The town's offices and services, page {n}</a>" for n in range(60))
        assert texts(links + next_data({"article": {"body": " ".join(BODY) * 3}})) == texts(links)


class TestLastResorts:
    def test_templates(self) -> None:
        html = f"<body><template><h2>Ferry</h2><p>{FIRST}</p></template><template><p>{SECOND}</p></template>"
        assert texts(html) == ["Ferry", FIRST, SECOND]
        assert texts(f"<p>{THIRD} {FIRST} {SECOND}</p>{html}") == [f"{THIRD} {FIRST} {SECOND}"]

    def test_an_excerpt_in_the_head(self) -> None:
        meta = f'<meta name=description content="{FIRST}"><meta property=og:description content="{FIRST} {SECOND}">'
        assert texts(f"{meta}<body>") == [f"{FIRST} {SECOND}"]
        assert texts(f"{meta}<body><p>{THIRD}</p>") == [THIRD]

    def test_a_slogan_in_the_head_is_no_text(self) -> None:
        assert texts(f'<meta name=description content="{FIRST}"><body>') == []

    def test_frames(self) -> None:
        assert texts(f"<head>{linked_data(article())}</head><frameset><frame src=a></frameset>") == []


PAGES = {
    "JSON-LD": SHELL + linked_data(article()),
    "JSON-LD and some text": f"<main><h1>No ferry</h1></main>{linked_data(article())}",
    "Discourse": preloaded([f"<p>{FIRST}<br><br>{SECOND}</p>", f"<table><tr><td>a<td>b</table><p>{THIRD}</p>"]),
    "state": next_data({"body": f"<p>{FIRST} <a href=/x>More</a></p><ul><li>{SECOND}</ul>"}),
    "template": f"<body><template><p>{FIRST}</p><p>{SECOND}</p></template>",
    "noscript too": f"<body><p>Scripts!</p><noscript><p>Turn them on</p></noscript>{linked_data(article())}",
}


@pytest.mark.parametrize("name", PAGES)
def test_every_method_and_format_reads_them(name: str) -> None:
    page = Page(PAGES[name], "https://e.example/a")
    for method in METHODS:
        found = mainmatter.clean(page, method=method)
        assert len(found.scores) == len(found.document) == len(found.reasons)
    found = mainmatter.clean(page, method="ice-baseline")
    assert SECOND in found.text
    for format_name in FORMATS:
        assert "goes the long way round" in found.render(format_name), format_name


@pytest.mark.parametrize("name", PAGES)
def test_their_blocks_are_found_again(name: str) -> None:
    document = mainmatter.read(Page(PAGES[name]))
    assert document.parse_again()[1].columns == document.columns
    tree = document.parsed[0]
    for block in document.blocks:
        found = tree.xpath(block.xpath)
        assert isinstance(found, list)
        (node,) = found
        first_line = block.text.split("\n")[0].split("\t")[0]
        assert first_line in (node if isinstance(node, str) else node.text)
    assert any("/article/section" in block.path for block in document.blocks)
    assert not any(block.hidden for block in document.blocks)
    again = pickle.loads(pickle.dumps(document))
    assert again.blocks == document.blocks
    assert again.metadata == document.metadata


def test_metadata_stay() -> None:
    found = mainmatter.read(Page(f"<title>No ferry | Town</title>{linked_data(article(datePublished='2024-02-03'))}"))
    assert (found.metadata.title, found.metadata.date) == ("No ferry", "2024-02-03")


def test_lists_and_headings_render() -> None:
    page = SHELL + linked_data(article(articleBody=f"<h2>Why</h2><p>{FIRST}</p><ul><li>{SECOND}<li>{THIRD}</ul>"))
    found = mainmatter.clean(page, method="ice-baseline")
    assert Kind.LIST_ITEM in found.document.columns.kinds
    assert found.markdown.split("\n") == ["# No ferry", "", "## Why", "", FIRST, "", f"- {SECOND}", f"- {THIRD}"]


def escaped(source: str) -> str:
    return source.replace('"', "&quot;")


HOSTILE: dict[str, tuple[int, Callable[[int], str]]] = {
    "deep JSON-LD": (80_000, lambda n: f"{SHELL}<script type=application/ld+json>" + '{"comment":[' * n),
    "deep state": (400_000, lambda n: f"{SHELL}<script type=application/json>" + '{"body":[' * n),
    "deep state that ends": (900, lambda n: f"{SHELL}<script type=application/json>" + "[" * n + "]" * n),
    "5 MB of state": (38_000, lambda n: next_data([{"body": FIRST, "id": i} for i in range(n)])),
    "a million tiny strings": (1_000_000, lambda n: next_data({"content": ["a"] * n})),
    "200,000 names": (200_000, lambda n: next_data({f"body{i}": "a b" for i in range(n)})),
    "200,000 nested names": (200_000, lambda n: next_data([{f"n{i}": {"text": "a b"}} for i in range(n)])),
    "one text of 4 MB": (190_000, lambda n: next_data({"content": "some words, and more " * n})),
    "4 MB of spaces": (4_000_000, lambda n: next_data({"content": FIRST + " " * n + SECOND})),
    "1 MB of <": (10_000, lambda n: next_data({"content": (FIRST + "<" * 10) * n})),
    "1 MB of brackets": (10_000, lambda n: next_data({"content": (FIRST + "[" * 10) * n})),
    "markup of depth 50,000": (50_000, lambda n: next_data({"content": FIRST * 9 + "<div>" * n})),
    "many states": (100_000, lambda n: f"{SHELL}<script>" + 'window.__STATE__={"a":undefined,' * n),
    "state in state": (20_000, lambda n: next_data({"a": [json.dumps({"body": [FIRST]})] * n})),
    "10,000 posts": (10_000, lambda n: preloaded([f"<p>{FIRST}</p>"] * n)),
    "a topic of 4 MB of quotes": (
        4_000_000,
        lambda n: f'{SHELL}<div id=data-preloaded data-preloaded="{escaped(n * chr(34))}">',
    ),
    "10,000 comments": (
        10_000,
        lambda n: SHELL + linked_data(article(comment=[{"text": f"{i} {i}"} for i in range(n)])),
    ),
    "2,000 nested templates": (2_000, lambda n: "<body>" + "<template><p>some words in it</p>" * n),
    "20,000 templates": (20_000, lambda n: "<body>" + "<template><p>some words in it</p></template>" * n),
    "100,000 descriptions": (100_000, lambda n: "<meta name=description content='a b'>" * n + "<body>"),
    "links and an article": (50_000, lambda n: "<a href=x>some link or other</a> " * n + linked_data(article())),
}


def hostile(name: str, size: int | None = None) -> str:
    """A page of some size, or of its full one."""
    full, make = HOSTILE[name]
    return make(size or full)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_take_linear_time(name: str) -> None:
    def clean(size: int) -> Callable[[], Extraction]:
        return partial(mainmatter.clean, hostile(name, size), method="ice-baseline")

    size = HOSTILE[name][0]
    assert_linear(clean, size)
    assert_linear(lambda size: partial(clean(size)().render, "html"), size)


def test_what_is_taken_is_bounded() -> None:
    assert len(texts(hostile("10,000 posts"))) == scripted.MAX_PIECES + 1
    assert len(texts(next_data({"content": [f"{FIRST} {n}" for n in range(9_000)]}))) == scripted.MAX_PIECES
    assert len("".join(texts(hostile("one text of 4 MB")))) <= scripted.MAX_CHARS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FIRST, True),
        ("Die Fähre über den Sund fällt bis zum Frühjahr aus, weil ihr Motor ersetzt werden muss, so die Stadt.", True),
        ("船の機関を取り替えるため、春まで渡し船は運休します。" * 4, True),
        (FIRST[:79], False),
        ("https://e.example/" + "a" * 90, False),
        ("0123 4567 " * 20, False),
    ],
)
def test_prose(text: str, expected: bool) -> None:
    assert scripted.is_prose(text) is expected


def test_a_page_with_enough_text_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> list[str]:
        raise AssertionError

    for source in ("_linked_data_pieces", "topic_pieces", "state_pieces", "_template_pieces", "_description_pieces"):
        monkeypatch.setattr(scripted, source, fail)
    texts("<p>" + "word " * (scripted.MUCH_SHOWN // 4) + linked_data(article()))
    with pytest.raises(AssertionError):
        texts("<p>word</p>")


PROGRAM = "<script src=app.js></script>"
NEEDS_SCRIPTS = {
    "nothing at all": f"<body>{PROGRAM}",
    "an empty app": f"<div id=root></div>{PROGRAM}<footer>{'Imprint and privacy. ' * 20}</footer>",
    "a name of its own": f"<body><shop-app></shop-app>{PROGRAM}<footer>{'Imprint and privacy. ' * 20}</footer>",
    "a wheel that turns": f"<div id=app><p>One moment</p></div>{PROGRAM}",
    "a plea": f"<p>You need to enable JavaScript to run this app.</p>{PROGRAM}",
    "a plea for those without scripts": f"<noscript>This page needs JavaScript.</noscript>{PROGRAM}",
    "a request to wait": f"<p>Loading, please wait</p>{PROGRAM}",
    "loading, and a dot": f"<h1>Shop</h1><p>Loading.</p>{PROGRAM}",
    "loading, and dots": f"<p>Loading your shop...</p>{PROGRAM}",
    "loading, and an ellipsis": f"<p>Loading the shop\N{HORIZONTAL ELLIPSIS} nearly there.</p>{PROGRAM}",
    "a program in the page": "<div id=__next></div><p>x</p><script type=module>start()</script>",
}
NEEDS_NONE = {
    "no script": "<div id=root></div>",
    "nothing": "",
    "data only": "<div id=root></div><script type=application/json>{}</script>",
    "an empty script": "<div id=root></div><script> </script>",
    "a short page with a counter": f"<h1>It works!</h1>{PROGRAM}",
    "a short page about JavaScript": f"<p>{'JavaScript is a language for pages, which many know. ' * 4}</p>{PROGRAM}",
    "a dock": "<p>Loading dock: open 9 to 5.</p><script>ga('send')</script>",
    "a dock, and dots": f"<p>Loading is free: come in by the gate...</p>{PROGRAM}",
    "a short page with a plea for its map": f"<p>{FIRST}</p><p>The map needs JavaScript.</p>{PROGRAM}",
    "an app that is filled": f"<div id=root><p>{FIRST}</p></div>{PROGRAM}",
    "an article beside an empty widget": f"<p>{' '.join([*BODY, *BODY])}</p><div id=root></div><x-ad></x-ad>{PROGRAM}",
    "declared text": f"{SHELL}{linked_data({'@type': 'Article', 'articleBody': ' '.join([*BODY, *BODY])})}{PROGRAM}",
}


@pytest.mark.parametrize("html", NEEDS_SCRIPTS.values(), ids=NEEDS_SCRIPTS)
def test_pages_that_need_their_scripts(html: str) -> None:
    document = mainmatter.read(Page(html))
    assert document.needs_scripts
    assert '"needs_scripts": true' in mainmatter.clean(html).render("json")
    assert pickle.loads(pickle.dumps(document)).needs_scripts


@pytest.mark.parametrize("html", NEEDS_NONE.values(), ids=NEEDS_NONE)
def test_pages_that_need_none(html: str) -> None:
    assert not mainmatter.read(Page(html)).needs_scripts
    assert "needs_scripts" not in mainmatter.clean(html).render("json")


def test_how_little_text_needs_scripts() -> None:
    assert (scripted.LITTLE_SHOWN, scripted.PLACEHOLDER, scripted.SHORT_NOTICE) == (500, 40, 200)

    def needs(html: str) -> bool:
        return mainmatter.read(Page(html + PROGRAM)).needs_scripts

    assert [needs(f"<div id=app></div><p>{'x' * number}</p>") for number in (500, 501)] == [True, False]
    assert [needs(f"<div id=app>{'x' * number}</div>") for number in (40, 41)] == [True, False]
    assert [needs(f"<p>JavaScript {'x' * number}</p>") for number in (189, 190)] == [True, False]
    assert scripted.NOTICE_SHARE == 0.5
    assert [needs(f"<p>Enable JavaScript</p><p>{'x' * number}</p>") for number in (16, 17)] == [True, False]


def test_a_dump_needs_no_scripts() -> None:
    assert not mainmatter.read(Page("Enable JavaScript", format="text")).needs_scripts
