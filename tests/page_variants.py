"""Pages without the names that give their parts away: what a method knows by name alone, it does not know of these.

python tests/page_variants.py FOLDER    writes them there, to look at
"""

from __future__ import annotations

import hashlib
import sys
from html import escape
from html.parser import HTMLParser
from pathlib import Path

from mainmatter.html.parse import decode

SEMANTIC = frozenset("article aside figure footer header main nav section".split())
NAMES = frozenset(("class", "id", "role", "itemprop", "itemtype", "name", "aria-label", "aria-labelledby"))
# What decides how the page is read, not what its parts are called.
NEEDED = frozenset(("href", "src", "type", "charset", "http-equiv", "content"))

Attributes = list[tuple[str, str | None]]


class Rewriter(HTMLParser):
    """Writes a page anew as it reads it; subclasses say what becomes of tags and attributes."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[str] = []

    def tag(self, tag: str) -> str:
        return tag

    def attributes(self, attributes: Attributes) -> Attributes:
        return attributes

    def rewrite(self, html: str) -> str:
        self.feed(html)
        self.close()
        return "".join(self.parts)

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        pairs = [name if value is None else f'{name}="{escape(value)}"' for name, value in self.attributes(attrs)]
        self.parts.append(f"<{' '.join([self.tag(tag), *pairs])}>")

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(f"</{self.tag(tag)}>")

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        self.handle_starttag(tag, attrs)  # in HTML the slash means nothing

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def handle_entityref(self, name: str) -> None:
        self.parts.append(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.parts.append(f"&#{name};")

    def handle_decl(self, decl: str) -> None:
        self.parts.append(f"<!{decl}>")


class HashedNames(Rewriter):
    """Every class, id and role is a hash, the same one each time, as build tools make them."""

    def attributes(self, attributes: Attributes) -> Attributes:
        return [(name, _hashed(value) if name in NAMES and value else value) for name, value in attributes]


class NoAttributes(Rewriter):
    """No attribute but what decides how the page is read."""

    def attributes(self, attributes: Attributes) -> Attributes:
        return [(name, value) for name, value in attributes if name in NEEDED]


class OnlyDivisions(Rewriter):
    """A div where HTML 5 would have an element that says what it is for."""

    def tag(self, tag: str) -> str:
        return "div" if tag in SEMANTIC else tag


def _hashed(value: str) -> str:
    return " ".join("c" + hashlib.sha256(name.encode()).hexdigest()[:7] for name in value.split())


VARIANTS: dict[str, type[Rewriter]] = {
    "hashed-names": HashedNames,
    "no-attributes": NoAttributes,
    "only-divisions": OnlyDivisions,
}


def variant(html: str, name: str) -> str:
    """A page in one of the `VARIANTS`."""
    return VARIANTS[name]().rewrite(html)


def write_all(target: Path) -> None:
    """All pages of ours in all variants, NAME.VARIANT.html, as UTF-8."""
    target.mkdir(parents=True, exist_ok=True)
    for file in sorted((Path(__file__).parent / "quality" / "pages" / "html").glob("*.html")):
        for name in VARIANTS:
            (target / f"{file.stem}.{name}.html").write_text(variant(decode(file.read_bytes())[0], name), "utf-8")


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
