"""The texts in the JSON from which scripts build a page: the state of single-page apps, and Discourse's topics.

Such a state also holds menus, settings, translations and other stories. So texts are grouped by where they stand (the
keys on the way to them, whatever their number in a list), and one group is chosen: the one with most prose among those
that are named as a text would be.
"""

from __future__ import annotations

import html
import json
import re
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from mainmatter.html.declared import read_json
from mainmatter.html.items import MAX_CHARS, MAX_PIECES, as_markup, heading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mainmatter.html.parse import Tree

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
    """The main text of the state that a page's scripts set or read, as pieces of markup; empty where none is sure."""
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
