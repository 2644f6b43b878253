"""Sites that we make up, with templates that are known: what the paper's authors had to check by hand (Template 4.4).

Each site has one or several templates, as a paper has sections. A template is made of pieces: header, menu, sidebar,
advert, footer; some are on every page of the site, some belong to one section. The rest of a page is text of its own,
and a list of other stories that changes from page to page, which is boilerplate but no template: it is not on every
page (Template 3); nor is the advert, one of three. Some sites are laid out by tables, as in the paper's time, some by
today's containers. One page of each site is there five times, under other URLs, once with another advert. One word in
five of a text is made of two, so that texts have words of their own, as they have anywhere: otherwise I-Match over
words would take all pages of a site for one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from mainmatter.records import Page

Layout = Literal["table", "div"]
# What a piece of a page is: part of its template, its own text, or something that changes.
Part = Literal["template", "text", "changes"]

_WORDS = {
    "en": """harbour light keeper boat winter storm rope tide garden bell letter stone morning village road engine
        paper market glass river summer island story winter hand work door night water bread""",
    "de": """Hafen Leuchtturm Wärter Boot Winter Sturm Seil Gezeiten Garten Glocke Brief Stein Morgen Dorf Straße
        Maschine Papier Markt Glas Fluss Sommer Insel Geschichte Hand Arbeit Tür Nacht Wasser Brot Größe""",
    "fr": """port phare gardien bateau hiver tempête corde marée jardin cloche lettre pierre matin village route
        machine papier marché verre rivière été île histoire main travail porte nuit eau pain forêt""",
    "ru": """гавань маяк смотритель лодка зима буря канат прилив сад колокол письмо камень утро деревня дорога
        машина бумага рынок стекло река лето остров рассказ рука работа дверь ночь вода хлеб лес""",
    "el": """λιμάνι φάρος φύλακας βάρκα χειμώνας θύελλα σχοινί παλίρροια κήπος καμπάνα γράμμα πέτρα πρωί χωριό
        δρόμος μηχανή χαρτί αγορά γυαλί ποτάμι καλοκαίρι νησί ιστορία χέρι δουλειά πόρτα νύχτα νερό ψωμί δάσος""",
    "zh": """港口 灯塔 看守 小船 冬天 暴风 绳子 潮水 花园 钟声 书信 石头 早晨 村庄 道路 机器 纸张 市场 玻璃 河流
        夏天 岛屿 故事 双手 工作 大门 夜晚 海水 面包 森林""",
}
LANGUAGES = tuple(_WORDS)
MADE_UP = "sites that are made up"  # what a report calls them
_REPEATED_HEADING = 3  # one of so many texts has a heading that others have too
_COPIES = 4  # of one page, under other URLs
_COMPOUND = 0.2  # the share of a text's words that are made of two


@dataclass(frozen=True, slots=True)
class SiteShape:
    """What a site is to be like.

    Attributes:
        name: its host.
        layout: by tables, or by today's containers.
        language: of its text: one of `LANGUAGES`.
        pages: how many, without copies.
        templates: how many different ones.
        rare: how many pages have the last of the templates; 0 if that has as many as the others.
        clock: the header tells the time, which is another one on each page.
        uneven: some templates have many pages and many have few: the nth has about one nth of the pages of the first.
    """

    name: str
    layout: Layout
    language: str
    pages: int
    templates: int = 1
    rare: int = 0
    clock: bool = False
    uneven: bool = False


# As many sites as the paper has, with 8 to 60 pages; its own had 8 to 41 where it says so.
SHAPES = (
    SiteShape("harbour-news.example", "table", "en", 8),
    SiteShape("leuchtturm.example", "div", "de", 13, templates=2),
    SiteShape("gazette-du-port.example", "table", "fr", 24, templates=2, clock=True),
    SiteShape("mayak.example", "div", "ru", 41, templates=3),
    SiteShape("faros.example", "table", "el", 20, templates=2, rare=3),
    SiteShape("dengta.example", "div", "zh", 30),
    SiteShape("tide-tables.example", "div", "en", 60, templates=4),
    SiteShape("keepers-shop.example", "table", "de", 40, templates=3),
)
# A tenth of the 55,711 pages of the paper's large collection; how its pages are spread over sections is our guess.
LARGE = SiteShape("wire.example", "table", "en", 5571, templates=500, uneven=True)


@dataclass(frozen=True, slots=True)
class MadePage:
    """A page that was made up.

    Attributes:
        page: the page.
        template: the number of its template.
        pieces: what it is made of, in its order: what each piece is, and the texts of its blocks.
        is_copy: it repeats an earlier page.
    """

    page: Page
    template: int
    pieces: tuple[tuple[Part, tuple[str, ...]], ...]
    is_copy: bool = False


def make_site(shape: SiteShape, seed: int = 0) -> list[MadePage]:
    """The pages of a site; the same seed gives the same pages."""
    random = Random(f"{shape.name} {seed}")  # no secret
    writer = _Writer(random, _WORDS[shape.language].split(), "" if shape.language == "zh" else " ")
    shared = {"header": writer.lines(3), "footer": writer.lines(5), "search": writer.lines(2)}
    sections = [
        {"menu": writer.lines(9), "sidebar": writer.lines(6), "notice": (writer.sentence(14),)}
        for _ in range(shape.templates)
    ]
    stories, adverts = writer.lines(40), writer.lines(3)
    heading = writer.lines(1)
    made = []
    for number in range(shape.pages):
        is_rare = shape.rare and number >= shape.pages - shape.rare
        template = shape.templates - 1 if is_rare else number % (shape.templates - bool(shape.rare))
        if shape.uneven:
            template = int(shape.templates ** random.random()) - 1
        own = [*writer.lines(1), *(writer.sentence(random.randint(20, 60)) for _ in range(random.randint(3, 7)))]
        if number % _REPEATED_HEADING == 0:
            own[2:2] = heading
        pieces = {**shared, **sections[template], "article": tuple(own), "related": tuple(random.sample(stories, 5))}
        if shape.clock:
            pieces["header"] = (*shared["header"], f"{number:02}:30")
        pieces["advert"] = (adverts[number % len(adverts)],)
        url = f"https://{shape.name}/{template}/{number}.html"
        made.append(_make_page(shape.layout, url, template, pieces))
        if number == 1:
            copies = [_make_page(shape.layout, f"{url}?{copy}", template, pieces) for copy in range(1, _COPIES)]
            other = {**pieces, "advert": (adverts[0],)}
            copies.append(_make_page(shape.layout, f"{url}?{_COPIES}", template, other))
            made += [replace(copy, is_copy=True) for copy in copies]
    return made


_ORDER: dict[str, Part] = {
    "header": "template",
    "search": "template",
    "menu": "template",
    "advert": "changes",
    "article": "text",
    "notice": "template",
    "related": "changes",
    "sidebar": "template",
    "footer": "template",
}


def _make_page(layout: Layout, url: str, template: int, pieces: dict[str, tuple[str, ...]]) -> MadePage:
    """Lay the pieces of a page out."""
    html = (_by_tables if layout == "table" else _by_containers)([(name, pieces[name]) for name in _ORDER])
    page = Page(f"<!doctype html><title>{pieces['article'][0]}</title>{html}", url, url)
    return MadePage(page, template, tuple((part, pieces[name]) for name, part in _ORDER.items()))


def _by_tables(pieces: list[tuple[str, tuple[str, ...]]]) -> str:
    """Tables in a table, as pages of 2003 were laid out; the text stands in a cell of the outer one."""
    cells = []
    for name, texts in pieces:
        if name == "article":
            cells.append(f"<td>{texts[0]}{''.join(f'<p>{text}</p>' for text in texts[1:])}</td>")
        else:
            rows = "".join(f"<tr><td><a href=/>{text}</a></td></tr>" for text in texts)
            cells.append(f"<td><table>{rows}</table></td>")
    return f"<table><tr>{'</tr><tr>'.join(cells)}</tr></table>"


_TAGS = {"header": "header", "menu": "nav", "sidebar": "aside", "footer": "footer", "article": "article"}


def _by_containers(pieces: list[tuple[str, tuple[str, ...]]]) -> str:
    parts = []
    for name, texts in pieces:
        tag = _TAGS.get(name, "div")
        if name == "article":
            inner = f"<h1>{texts[0]}</h1>" + "".join(f"<p>{text}</p>" for text in texts[1:])
        elif name == "notice":
            inner = f"<p>{texts[0]}</p>"
        else:
            inner = f"<ul>{''.join(f'<li><a href=/>{text}</a></li>' for text in texts)}</ul>"
        parts.append(f"<{tag} class={name}>{inner}</{tag}>")
    return f"<body><div id=page>{''.join(parts)}</div></body>"


@dataclass(frozen=True, slots=True)
class _Writer:
    """Makes text of a few words; no text comes twice but by chance."""

    random: Random
    words: list[str]
    space: str

    def sentence(self, length: int) -> str:
        text = self.space.join(self.word() for _ in range(length))
        return f"{text[:1].upper()}{text[1:]}."

    def word(self) -> str:
        word = self.random.choice(self.words)
        return word + self.random.choice(self.words).lower() if self.random.random() < _COMPOUND else word

    def lines(self, count: int) -> tuple[str, ...]:
        return tuple(self.space.join(self.random.sample(self.words, 4)) for _ in range(count))
