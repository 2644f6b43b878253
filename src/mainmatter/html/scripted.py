"""Pages that show little or nothing without their scripts: put the text that they declare instead into the tree.

In order of reliability: the posts that Discourse sends along, schema.org items in JSON-LD, the state of a single-page
app, templates, and for a page with nothing else the description in its head, if it is long enough for an excerpt.
Most pages show their text, and checking that costs almost nothing.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from functools import partial
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from mainmatter.html.declared import Item, first_text, key, main_items, read_json, types_of, without_surrogates
from mainmatter.html.parse import Element, as_text, parse
from mainmatter.html.segment import segment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mainmatter.html.parse import Tree
    from mainmatter.html.segment import Segments

# Characters that a page shows outside of links. With more than the first it is not looked at: what it declares would
# have to be longer still. With more than the second, only what is declared for readers elsewhere (JSON-LD) is trusted.
MUCH_SHOWN = 3_000
LITTLE_SHOWN = 500
LITTLE_SHOWN_WITH_LINKS = 1_000
NOTHING_SHOWN = 100  # links included
# A declared text is added if so much of it is new, and so many times more than is shown.
LEAST_ADDED = 200
TIMES_SHOWN = 2

PLACEHOLDER = 40  # characters that stand in an element until scripts fill it
SHORT_NOTICE = 200  # characters of a page that only asks for JavaScript, or to wait
NOTICE_SHARE = 0.5  # of those characters: more are in the blocks that ask, since a name or a copyright may be beside
# "Loading" begins other texts as well: a request to wait ends there, or in an ellipsis.
_NOTICE = re.compile(
    r"\bjavascript\b|\bplease wait\b|\bloading\b(?:\W*$|[^.:!?\u2026]*(?:\.\.\.|\u2026))", re.IGNORECASE
)
# Where the usual frameworks put a page, or custom elements (`<app-root>`) at its top.
_FILLED_BY_SCRIPTS = "#root, #app, #__next, #__nuxt, #___gatsby, #svelte, #q-app, #react-root, #app-root, [ng-app]"

_WINDOW = 12  # characters of text that are compared; less is the same in many texts by chance
_SHOWN_SHARE = 0.5  # of a block's windows: a page that shows so much of it shows it, with small differences
_MAX_SHOWN_KEY = 200_000

_LINKED_DATA = 'script[type*="ld+json" i]'
_MAIN = "main, [role=main]"

# A source of text: a page's tree to pieces of markup.
_TextSource = Callable[["Tree"], list[str]]


def needs_scripts(tree: Tree, texts: Sequence[str]) -> bool:
    """Whether a page shows next to nothing because its scripts have not run.

    There are scripts, and no text at all; or little text beside an empty element of the kind that scripts fill; or a
    few words, most of which ask for JavaScript, or to wait. What asks is known by "JavaScript", "please wait", or
    "loading" at the end of a block or with an ellipsis. A short page whose scripts only count visitors has none.

    Args:
        tree: the page's tree.
        texts: of its blocks, with what it declares (`add_scripted_text`).
    """
    shown = sum(map(len, texts))
    if shown > LITTLE_SHOWN or not any(map(_is_program, islice(tree.iter_elements("script"), MAX_PIECES))):
        return False
    asking = sum(len(text) for text in texts if _NOTICE.search(text)) if shown <= SHORT_NOTICE else 0
    if not shown or asking > NOTICE_SHARE * shown:
        return True
    custom = (element for element in islice(tree.select("body > *"), MAX_PIECES) if "-" in element.tag)
    filled = chain(islice(tree.select(_FILLED_BY_SCRIPTS), 1), custom)
    return any(len(element.text.strip()) <= PLACEHOLDER for element in filled)


def _is_program(script: Element) -> bool:
    """Whether a script is run, and not data."""
    kind = as_text(script.attr("type")).strip().lower()
    is_code = not kind or kind == "module" or kind.endswith(("javascript", "ecmascript"))
    return is_code and (script.attr("src") is not None or bool(script.text.strip()))


def add_scripted_text(tree: Tree, segments: Segments) -> bool:
    """Put the text that a page declares, but does not show, into its tree, as an `<article>`.

    It stands at the end of the `<main>` element or, on a page without, of the body.

    Args:
        tree: the page's tree; it is changed.
        segments: its blocks, as they are shown.

    Returns:
        Whether anything was added, so that the tree must be segmented again.
    """
    columns = segments.columns
    with_links = sum(map(len, columns.texts))
    shown = with_links - sum(columns.link_chars)
    if shown > MUCH_SHOWN:
        return False
    least = max(LEAST_ADDED, TIMES_SHOWN * shown)
    for pieces_of in _sources(shown, with_links, least):
        pieces = pieces_of(tree)
        if sum(map(len, pieces)) > least:
            article = _new_text(pieces, columns.texts, least)
            if article is not None:
                main = tree.select_one(_MAIN)
                place = main if main is not None else tree.find("body")
                if place is not None:  # a page of frames has no body
                    place.append(article)
                return place is not None
    return False


def _sources(shown: int, with_links: int, least: int) -> list[_TextSource]:
    """Where to look, most trusted first."""
    linked_data_pieces = partial(_linked_data_pieces, least=least)
    if shown > LITTLE_SHOWN or with_links > LITTLE_SHOWN_WITH_LINKS:
        return [linked_data_pieces]
    sources: list[_TextSource] = [topic_pieces, linked_data_pieces, state_pieces, _template_pieces]
    return [*sources, _description_pieces] if with_links < NOTHING_SHOWN else sources


def _linked_data_pieces(tree: Tree, least: int) -> list[str]:
    # Reading JSON takes time, and one script has all of a text.
    sources = [source for script in tree.select(_LINKED_DATA) if len(source := script.text) > least]
    return item_pieces(list(main_items(map(read_json, sources)))) if sources else []


def _template_pieces(tree: Tree) -> list[str]:
    """The content of templates, but not of shadow roots, which are shown."""
    pieces: list[str] = []
    size = 0
    for template in islice(tree.iter_elements("template"), MAX_PIECES):
        if template.attr("shadowrootmode") is None:
            pieces.append(template.inner_html[: MAX_CHARS - size])
            size += len(pieces[-1])
            if size == MAX_CHARS:  # templates in templates would come many times
                break
    return pieces


def _description_pieces(tree: Tree) -> list[str]:
    metas = tree.select('meta[property="og:description"], meta[name="description"]')
    contents = [as_text(meta.attr("content")) for meta in metas]
    return [as_markup(max(contents, key=len))] if contents else []


def _new_text(pieces: Sequence[str], shown: Sequence[str], least: int) -> Element | None:
    """The pieces as one element, without what is shown already; None if too little is left."""
    tree = parse("<article>")
    article = tree.find("article")
    assert article is not None
    for piece in pieces:
        # Each for itself: an open tag or comment must not swallow the next.
        content = parse(piece).find("body")
        if content is not None:
            section = Element("section")
            section.extend(list(content))
            article.append(section)
    segments = segment(tree)
    columns = segments.columns
    shown_texts = ShownTexts(shown)
    length = 0
    for i, text in enumerate(columns.texts):
        if text in shown_texts:
            for node in segments.text_nodes(i):
                node.extract()
        else:
            length += len(text) - columns.link_chars[i]
    return article if length > least else None


class ShownTexts:
    """Tells whether a text is among those that the page shows, whatever their case, spaces and punctuation."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._keys = set(map(key, texts))
        joined = key("".join(texts))[:_MAX_SHOWN_KEY]
        self._windows = {joined[i : i + _WINDOW] for i in range(len(joined))}

    def __contains__(self, text: str) -> bool:
        text_key = key(text)
        windows = range(0, len(text_key) - _WINDOW + 1, _WINDOW)
        found = sum(text_key[i : i + _WINDOW] in self._windows for i in windows)
        return text_key in self._keys or (len(windows) > 1 and found >= _SHOWN_SHARE * len(windows))


# Hostile sizes.
MAX_STATE = 5_000_000  # characters of JSON on a page that are read
MAX_VALUES = 300_000  # JSON values that are looked at
MAX_NAMES = 20_000  # different ones; numbers of things may serve as names
MAX_STATES = 50  # places where a script may set a state
LEAST_PROSE = 80  # characters of a text that counts for its group

_STATE = re.compile(
    r"(?:\b__[a-z]\w{2,40}|\b(?:initial|preloaded)_?(?:state|data|props)\b)[\"']?\]?"
    r"\s{0,9}=\s{0,9}(?:JSON\.parse\()?(?=[{\[\"])",
    re.IGNORECASE,
)
_UNDEFINED = re.compile(r"([:,\[]\s?)undefined(?=\s?[,}\]])")
_TAG = re.compile(r"<[^<>]*>")
# How names of main texts end; of the second kind are those that other things have as well.
_TEXT_NAMES = ("body", "content", "contents", "cooked", "html", "rendered", "markdown", "markup", "richtext", "story")
_OTHER_TEXT_NAMES = ("text", "description", "message", "answer", "copy", "value", "paragraph", "paragraphs")
# Parts of a state that hold no main text, by a word in their name.
_ASIDE = re.compile(
    r"i18n|translat|locale|dictionar|^messages$|menu|nav|footer|header|sidebar|cookie|consent|privacy|legal|terms"
    r"|disclaimer|related|recommend|author|profile|bio$|reviews|newsletter|promo|advert|banner|modal|popup|setting|config"
    r"|seo|meta|style|css|schema|tracking|analytics|excerpt|teaser",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(r"\{[{%]?\s?\w")  # of a template or a translation
_UNNAMED = re.compile(r"[\W\d_]+")
_SPACED = 15  # characters for each space, at most; prose without spaces is in letters beyond Latin
_FIRST_CJK = "\u2e80"
_LETTERS_OF_PROSE = 0.75
_BEGINNING = 2_000  # characters that tell whether a text is prose

# What a name stands for.
_LEFT_ASIDE, _PASSED, _MAYBE_TEXT, _TEXT = range(4)
_FEW = 2  # texts with a name that other things have as well; more are a list of things


class _Group(NamedTuple):
    kind: int
    texts: list[str]


def topic_pieces(tree: Tree) -> list[str]:
    """The posts of a Discourse topic, which the page has in an attribute, as JSON within JSON, as pieces of markup."""
    holder = tree.select_one("#data-preloaded")
    source = holder.attr("data-preloaded") if holder is not None else None
    values = read_json(source, MAX_STATE) if isinstance(source, str) else None
    if not isinstance(values, dict):
        return []
    for name, value in values.items():
        topic = read_json(value, MAX_STATE) if name.startswith("topic_") and isinstance(value, str) else value
        stream = topic.get("post_stream") if isinstance(topic, dict) else None
        posts = stream.get("posts") if isinstance(stream, dict) else None
        if isinstance(topic, dict) and isinstance(posts, list):
            cooked = (post.get("cooked") for post in posts[:MAX_PIECES] if isinstance(post, dict))
            title = topic.get("title")
            return [
                *([heading(title, 1)] if isinstance(title, str) else []),
                *(as_markup(text) for text in cooked if isinstance(text, str)),
            ]
    return []


def state_pieces(tree: Tree) -> list[str]:
    """The main text of the state that a page's scripts set or read, as pieces of markup; empty where none is sure.

    Such a state also holds menus, settings, translations and other stories. So texts are grouped by where they stand
    (the keys on the way to them, whatever their number in a list), and one group is chosen: the one with most prose
    among those that are named as a text would be.
    """
    measured = ((_prose_of(group), group.texts) for group in _group(_states(tree)))
    prose, texts = max(measured, key=itemgetter(0), default=(0.0, []))
    pieces: list[str] = []
    size = 0
    for text in dict.fromkeys(texts if prose else ()):
        size += len(text)
        if len(pieces) == MAX_PIECES or size > MAX_CHARS:
            break
        pieces.append(as_markup(text))
    return pieces


def is_prose(text: str) -> bool:
    """Whether a text without markup reads like sentences, not like code, an address or a list of names."""
    text = text[:_BEGINNING]
    if len(text) < LEAST_PROSE or _PLACEHOLDER.search(text):
        return False
    if sum(map(str.isalpha, text)) + text.count(" ") < _LETTERS_OF_PROSE * len(text):
        return False
    return text.count(" ") * _SPACED >= len(text) or max(text) >= _FIRST_CJK


def _states(tree: Tree) -> Iterator[object]:
    """The JSON values in a page's scripts: those that are JSON, and those that are assigned to a state's name."""
    budget = MAX_STATE
    for script in tree.iter_elements("script"):
        kind = script.attr("type")
        kind = kind.lower() if isinstance(kind, str) else ""
        if "ld+json" in kind or script.attr("src") is not None:
            continue
        source = script.text
        budget -= len(source)
        if budget < 0:
            return
        if kind.endswith("json"):
            value = read_json(source, MAX_STATE)
            yield _resolved(value) if script.attr("id") == "__NUXT_DATA__" else value
        elif not kind or "javascript" in kind:
            yield from _assigned(_UNDEFINED.sub(r"\1null", source) if "undefined" in source else source)


def _assigned(source: str) -> Iterator[object]:
    """The JSON values that a script assigns to names like a state's; other expressions are passed over."""
    place = 0
    for _ in range(MAX_STATES):
        match = _STATE.search(source, place)
        if match is None:
            return
        value, place = _json_at(source, match.end())
        yield read_json(value, MAX_STATE) if isinstance(value, str) else value


def _json_at(source: str, start: int) -> tuple[object, int]:
    """The JSON value that begins there, or None, and a place behind what was read."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(source, start)
    except json.JSONDecodeError as error:
        return None, max(error.pos, start + 1)
    except (ValueError, RecursionError):
        return None, len(source)


def _resolved(value: object) -> object:
    """The objects of a Nuxt payload, a flat list in which numbers stand for the values at that place."""
    if not isinstance(value, list):
        return value
    count = len(value)
    return [
        {name: value[place] for name, place in one.items() if type(place) is int and 0 <= place < count}
        for one in value
        if isinstance(one, dict)
    ]


def _group(values: Iterable[object]) -> list[_Group]:
    """The texts with a fitting name, by the names on the way to them; not by recursion, since JSON can be deep."""
    groups: dict[int, _Group] = {}
    ways: dict[tuple[int, str], int] = {}  # the number of the way that leads from another one over a name
    kinds = _Kinds()
    budget = MAX_STATE
    # A value, the number of the way to it, and the kind of the last name on that way.
    waiting: list[tuple[Any, int, int]] = [(value, 0, _PASSED) for value in values][::-1]
    for _ in range(MAX_VALUES):
        if not waiting:
            break
        value, way, kind = waiting.pop()
        if isinstance(value, str):
            if value[:1] in "{[" and LEAST_PROSE < len(value) < budget and value[-1:] in "}]":
                budget -= len(value)
                waiting.append((read_json(value), way, kind))
            elif kind != _PASSED:
                groups.setdefault(way, _Group(kind, [])).texts.append(value)
        elif isinstance(value, list):
            item_way = ways.setdefault((way, ""), len(ways) + 1)
            waiting.extend((one, item_way, kind) for one in reversed(value[:MAX_VALUES]))
        elif isinstance(value, dict):
            for name, one in reversed(value.items()):
                if isinstance(one, (str, list, dict)) and (kind := kinds[name]) != _LEFT_ASIDE:
                    waiting.append((one, ways.setdefault((way, name), len(ways) + 1), kind))
    return list(groups.values())


class _Kinds(dict[str, int]):
    """What names stand for; each is looked at once, since a state has few and has them often."""

    def __missing__(self, name: str) -> int:
        if len(self) >= MAX_NAMES:
            return _LEFT_ASIDE
        if _ASIDE.search(name):
            kind = _LEFT_ASIDE
        else:
            letters = _UNNAMED.sub("", name).lower()
            kind = (
                _TEXT
                if letters.endswith(_TEXT_NAMES)
                else _MAYBE_TEXT
                if letters.endswith(_OTHER_TEXT_NAMES)
                else _PASSED
            )
        self[name] = kind
        return kind


def _prose_of(group: _Group) -> float:
    """How much prose a group has; less counts what other things than texts have as well, and nothing many of those."""
    if group.kind == _MAYBE_TEXT and len(group.texts) > _FEW:
        return 0.0
    total = 0.0
    for text in group.texts[:MAX_PIECES]:
        if len(text) >= LEAST_PROSE:
            plain = " ".join(html.unescape(_TAG.sub(" ", text[:MAX_CHARS])).split())
            total += len(plain) * is_prose(plain)
    return total if group.kind == _TEXT else total / 2


# Hostile sizes: honest pages with more text show it.
MAX_PIECES = 2_000
MAX_CHARS = 1_000_000

# How the names of types end whose items are texts (NewsArticle, DiscussionForumPosting, ...) or have a description that
# is the text of their page.
_TEXTS = ("Article", "Posting", "Report", "Question", "Answer", "Comment")
_DESCRIBED = tuple(
    """
    JobPosting Product ProductGroup Course Event Book SoftwareApplication HowTo Recipe
    """.split()
)
_TEXT_KEYS = ("articleBody", "text")
_DESCRIBED_KEYS = ("description",)
# What is inside of an item and part of its text, in the order of reading.
_PARTS = (
    *("recipeIngredient", "supply", "recipeInstructions", "step", "steps", "itemListElement"),
    *("liveBlogUpdate", "acceptedAnswer", "suggestedAnswer", "comment"),
)

_NAMED_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_BLOCK_TAG = re.compile(r"<(?:p|div|br|li|h[1-6]|pre|table|section|article|blockquote)\b", re.IGNORECASE)
_LINE_FEED = "\n"
_FENCE = f"{_LINE_FEED}```"
_MARKDOWN_HEADING = re.compile(r"(#{1,6}) +(?=\w)")
_MARKDOWN_ITEM = re.compile(r"(?:[-*+\u2022]|\d{1,3}\.) +(?=\S)")
_MARKDOWN_LINK = re.compile(r"\[([^\[\]\n]+)\]\(([^()\s\"<>]*)\)")
_MARKDOWN_IMAGE = re.compile(r"!\[[^\[\]\n]*\]\([^()\s\"<>]*\)")
_LINE_END = re.compile(r"[\r\n\u2028\u2029]+")


def item_pieces(items: Sequence[Item]) -> list[str]:
    """The texts of a page's main schema.org items, as pieces of markup in the order of reading; none is there twice.

    Sites write them for search engines, and for some pages that scripts put together nothing else is there to read.
    """
    described = [id(item) for item in items if _is_one_of(item, _DESCRIBED)]
    found: list[str] = []
    seen: set[str] = set()
    size = 0
    for item in items:
        # A list of products is a catalogue: the page is not about any one of them.
        is_described = described == [id(item)]
        if not is_described and (id(item) in described or not _is_one_of(item, _TEXTS)):
            continue
        for piece in _texts_of(item, (*_TEXT_KEYS, *_DESCRIBED_KEYS) if is_described else _TEXT_KEYS):
            if not piece or piece in seen:
                continue
            size += len(piece)
            if len(found) == MAX_PIECES or size > MAX_CHARS:
                return found
            seen.add(piece)
            found.append(piece)
    return found


def as_markup(text: str) -> str:
    """A declared text as markup: escaped tags are tags again; where no tag sets lines apart they become paragraphs."""
    text = without_surrogates(text[:MAX_CHARS])
    if "&lt;" in text and not _NAMED_TAG.search(text):
        text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
    if _BLOCK_TAG.search(text):
        return text
    if not _NAMED_TAG.search(text):
        text = text.replace("<", "&lt;")
    # Every second part is code, if the text is Markdown, with the name of its language in the first line.
    parts = text.split(_FENCE)
    parts[::2] = [
        "".join(_line_as_markup(line) for line in map(str.strip, _LINE_END.split(part)) if line) for part in parts[::2]
    ]
    parts[1::2] = (f"<pre>{part.partition(_LINE_FEED)[2]}</pre>" for part in parts[1::2])
    return "".join(parts)


def _line_as_markup(line: str) -> str:
    """A line of plain text as a paragraph, or as what it is in Markdown: a heading, an item; with its links."""
    line = _MARKDOWN_LINK.sub(r'<a href="\2">\1</a>', _MARKDOWN_IMAGE.sub("", line)).replace("**", "")
    if title := _MARKDOWN_HEADING.match(line):
        return heading(line[title.end() :], len(title[1]))
    if item := _MARKDOWN_ITEM.match(line):
        return f"<ul><li>{line[item.end() :]}</ul>"
    return f"<p>{line}</p>"


def heading(text: str, level: int) -> str:
    """A declared title as markup."""
    line = " ".join(_NAMED_TAG.sub(" ", without_surrogates(text)).replace("<", "&lt;").split())
    return f"<h{level}>{line}</h{level}>" if line else ""


def _is_one_of(item: Item, endings: tuple[str, ...]) -> bool:
    return any(name.endswith(endings) for name in types_of(item))


def _texts_of(item: Item, text_keys: Iterable[str]) -> Iterator[str]:
    """The texts of an item and of its parts; not by recursion, since JSON can be deep."""
    open_parts: list[tuple[Any, int]] = [(item, 1)]
    while open_parts:
        value, level = open_parts.pop()
        if isinstance(value, str):
            yield as_markup(value) if level < 2 else f"<ul><li>{as_markup(value)}</ul>"
        elif isinstance(value, list):
            open_parts.extend((one, level) for one in reversed(value[:MAX_PIECES]))
        elif isinstance(value, dict):
            keys = text_keys if level == 1 else (*_TEXT_KEYS, *_DESCRIBED_KEYS)
            yield from _own_pieces(value, level, keys)
            parts = [(value[name], level + 1) for name in _PARTS if isinstance(value.get(name), (str, list, dict))]
            open_parts.extend(reversed(parts))


def _own_pieces(item: Item, level: int, text_keys: Iterable[str]) -> Iterator[str]:
    text = next((text for name in text_keys if isinstance(text := item.get(name), str) and text.strip()), "")
    title = first_text(item.get("headline") or item.get("name"))
    # Steps have their beginning for a name; people and answers have no heading.
    if title and not text.startswith(title.rstrip(".\u2026")) and (text or any(name in item for name in _PARTS)):
        yield heading(title, min(level, 3))
    if text:
        yield as_markup(text)
