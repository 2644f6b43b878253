"""The page as people see it, made harmless, with every block marked: what the workbench shows and browsers measure.

Each text node of a block is wrapped in `<mm-block data-block="N">`, so that a browser can be asked where block N
is. Whatever could run, load another page, or act is removed. A tree written as HTML may be another one when it is
parsed: tags that were text of a `<style>` in `<math>` become elements, for example. So what was written is parsed and
cleaned until it stays the same; that is what a browser then sees. If you show it to people, do not rely on that alone:
put it into a sandboxed frame without scripts, with a content security policy (workbench/frames.py).
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from mainmatter.html.parse import Element, as_text, base_url, is_html, parse
from mainmatter.records import Kind

if TYPE_CHECKING:
    from mainmatter.html.parse import Node, Text, Tree
    from mainmatter.html.segment import Segments
    from mainmatter.records import Document

MARK = "mm-block"
NUMBER = "data-block"

# They run, load other pages, or act; or they repeat what is shown in their place.
_DROPPED = frozenset(
    """
    animate animatemotion animatetransform applet base embed fencedframe frame frameset iframe noembed noframes
    object param portal script set
    """.split()
)
# Elements whose text browsers take literally, or where they allow no element of ours: these are marked as a whole.
_MARKED_WHOLE = frozenset(("math", "select", "textarea"))
_LITERAL = frozenset(("listing", "plaintext", "xmp"))  # the same, but `<pre>` shows them alike
_ACTING = frozenset("action autofocus autoplay formaction http-equiv manifest nonce ping popover srcdoc target".split())
_ADDRESSES = frozenset(("background", "cite", "data", "href", "poster", "src", "srcset", "xlink:href"))
_HARMLESS_SCHEMES = frozenset(("http", "https", "mailto", "tel", "ftp"))
_PICTURE_DATA = ("data:image/png", "data:image/jpeg", "data:image/gif", "data:image/webp", "data:image/avif")
_KIND_TAGS = {Kind.HEADING: "h2", Kind.LIST_ITEM: "li"}
# What would be loaded is set aside under names of ours: browsers complain of each thing that they may not load.
_ASIDE = "data-mm-"
_LOADED = frozenset(("background", "poster", "src", "srcset"))
_LOADING_LINKS = frozenset(("feimage", "image", "link", "use"))  # their href is loaded, that of others followed
_LOADED_RULE = re.compile(r"@(?=(?:import|font-face)\b)", re.IGNORECASE)
_LOADED_URL = re.compile(r"""(\burl\(\s*["']?)(?!\s*["']?\s*(?:data:|\#))""", re.IGNORECASE)
_RULE_ASIDE, _URL_ASIDE = "@mm-", "data:,mm-"
_MOST_ROUNDS = 4  # 400 of 412 real pages stay the same at once, the others after one round
_CHARSET = '<meta charset="utf-8">'


def safe_html(document: Document, *, base: bool = True) -> str:
    """The page as one harmless HTML document in which every block is marked.

    Args:
        document: the page.
        base: name the page's address in a `<base>`, and set aside what browsers would load, such as pictures and style
            sheets: `with_loads` puts it back. If False, they are left as they are, since nothing is loaded.
    """
    parsed: tuple[Tree, Segments] | None = document.parse_again()
    if parsed is None:
        return _marked_dump(document)
    tree, segments = parsed
    address = base_url(tree, document.page.url or "") if base else ""  # before the page's own `<base>` is taken out
    _mark(tree, segments)
    stable = _stable(tree)
    if stable is None:
        return _marked_dump(document)
    tree = stable
    if base:
        _set_aside(tree)
    _write_head(tree, address)
    return tree.serialize()


def with_loads(html: str) -> str:
    """A page of `safe_html` with everything that browsers load for it. Whether they may is up to the caller."""
    return html.replace(f" {_ASIDE}", " ").replace(_RULE_ASIDE, "@").replace(_URL_ASIDE, "")


def _stable(tree: Tree) -> Tree | None:
    """A harmless tree that is the same when it is written and parsed; None if there is none after a few rounds."""
    _make_harmless(tree)
    html = tree.serialize()
    for _ in range(_MOST_ROUNDS):
        tree = parse(html)
        _make_harmless(tree)
        written, html = html, tree.serialize()
        if html == written:
            return tree
    return None


def _marked_dump(document: Document) -> str:
    """A plain-text dump, or a page whose markup cannot be made harmless: each block as an element of its kind."""
    parts = [f"<!doctype html><html><head>{_CHARSET}<title></title></head><body>"]
    for number, (text, kind) in enumerate(zip(document.columns.texts, document.columns.kinds, strict=True)):
        tag = _KIND_TAGS.get(kind, "p")
        lines = escape(text).replace("\n", "<br>")
        parts.append(f'<{tag}><{MARK} {NUMBER}="{number}">{lines}</{MARK}></{tag}>')
    return "".join([*parts, "</body></html>"])


def _mark(tree: Tree, segments: Segments) -> None:
    for forged in list(tree.iter_elements(MARK)):
        forged.tag = "span"
    marked_whole: set[Node] = set()
    for number in range(len(segments.first_nodes)):
        for text in segments.text_nodes(number):
            node = _to_wrap(text)
            if node in marked_whole:  # a select with several options is marked with the first
                continue
            if node is not text:
                marked_whole.add(node)
            node.wrap(Element(MARK, {NUMBER: str(number)}))


def _to_wrap(text: Text) -> Node:
    """The text itself, or the element around it that can only be marked as a whole."""
    for parent in text.ancestors:
        if getattr(parent, "tag", "") in _MARKED_WHOLE:
            return parent
    return text


def _make_harmless(tree: Tree) -> None:
    for element in list(tree.iter_elements()):
        tag = element.tag.lower()
        # A <meta> may refresh, set a policy, or name an encoding, which is ours now. Of all <link>s only style sheets
        # are part of how a page looks; others fetch, hint or prepare.
        acts = tag == "meta" and (element.attr("http-equiv") is not None or element.attr("charset") is not None)
        fetches = tag == "link" and "stylesheet" not in as_text(element.attr("rel")).lower().split()
        if tag in _DROPPED or acts or fetches:
            element.extract()
        elif tag == "template":
            _open(element)
        elif tag == "noscript" and not any(isinstance(child, Element) for child in element):
            element.extract()  # markup that was never parsed, since the page is read as a browser with scripts does
        else:
            _rename(element, tag)
            _clean_attributes(element)


def _open(template: Element) -> None:
    """Show a declarative shadow root in its place; other templates show nothing."""
    if template.attr("shadowrootmode") is None:
        template.extract()
        return
    content = Element("div")
    content.extend([child for fragment in template for child in fragment])
    template.replace_with(content)


def _rename(element: Element, tag: str) -> None:
    if tag in _LITERAL and is_html(element):
        element.tag = "pre"
    elif tag == "noscript":  # here its content is part of the page
        element.tag = "div"
    elif tag == "link":
        element.attrs["rel"] = "stylesheet"


def _clean_attributes(element: Element) -> None:
    for name, value in list(element.attrs.items()):
        lower = name.lower()
        acts = lower.startswith(("on", _ASIDE)) or lower in _ACTING
        if acts or (lower in _ADDRESSES and not _is_harmless(as_text(value))):
            del element.attrs[name]


def _set_aside(tree: Tree) -> None:
    for element in tree.iter_elements():
        tag = element.tag.lower()
        for name, value in list(element.attrs.items()):
            lower, text = name.lower(), as_text(value)
            is_loaded = lower in _LOADED or (lower in ("href", "xlink:href") and tag in _LOADING_LINKS)
            if is_loaded and not text.strip().lower().startswith(("data:", "#")):
                del element.attrs[name]
                element.attrs[f"{_ASIDE}{lower}"] = text
            elif lower == "style":
                element.attrs[name] = _without_loads(text)
        if tag == "style":
            css = _without_loads(element.text)
            if css != element.text:
                element.text = css


def _without_loads(css: str) -> str:
    """Style rules without what they load. An address that escapes hide from us is still blocked by the policy."""
    return _LOADED_URL.sub(rf"\1{_URL_ASIDE}", _LOADED_RULE.sub(_RULE_ASIDE, css))


def _is_harmless(address: str) -> bool:
    """Whether an address is a page, a picture or a place in the page, not a program."""
    compact = "".join(letter for letter in address if letter > " ").lower()
    scheme, colon, _ = compact.partition(":")
    if not colon or not scheme.replace("+", "").replace("-", "").replace(".", "").isalnum():
        return True
    return scheme in _HARMLESS_SCHEMES or compact.startswith(_PICTURE_DATA)


def _write_head(tree: Tree, address: str) -> None:
    head = tree.find("head")
    if head is None:  # a frameset or nothing at all: browsers make a head
        return
    if address.lower().startswith(("http://", "https://")):
        head.insert(0, Element("base", {"href": address}))
    head.insert(0, Element("meta", {"charset": "utf-8"}))
