"""What the functions of corpus/adapters/trafilatura.py give back: trafilatura's formats, from an `Extraction`."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from mainmatter.records import Extraction

FORMATS = ("csv", "html", "json", "markdown", "txt", "xml", "xmltei")
_HEADER_FIELDS = "title author url hostname description sitename date categories tags fingerprint id license".split()
_CSV_FIELDS = "url id fingerprint hostname title image date text comments license pagetype".split()
_XML_FIELDS = "sitename title author date url hostname description id fingerprint".split()
_JSON_NAMES = {"url": "source", "sitename": "source-hostname", "description": "excerpt"}
_LINK = re.compile(r'<a(?:\s+[^\s=>"]+(?:="[^"]*")?)*\s*>|</a>')  # as our HTML has it: all values in quotes
_TEI = "{http://www.tei-c.org/ns/1.0}"
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BLOCKS = {"head": "head", "code": "code", "caption": "p"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was asked for, in the words of trafilatura's `Extractor`."""

    format: str
    focus: str
    comments: bool
    tables: bool
    images: bool
    formatting: bool | None
    links: bool
    language: str | None
    url: str | None
    record_id: str | None
    wants_metadata: bool
    only_with_metadata: bool
    url_blacklist: frozenset[str]
    author_blacklist: frozenset[str]

    @property
    def with_metadata(self) -> bool:
        """Whether metadata are part of the output; these imply it, as in trafilatura."""
        lists = self.url_blacklist | self.author_blacklist
        return self.wants_metadata or self.only_with_metadata or bool(lists) or self.format == "xmltei"


@dataclass(frozen=True, slots=True)
class Extracted:
    """A page's texts and metadata, under the names of trafilatura's `Document`.

    What mainmatter does not look for is None: `categories`, `tags`, `fingerprint`, `license`, `image`, `filedate`; and
    so are the trees, `body` and `commentsbody`.
    """

    title: str | None = None
    author: str | None = None
    url: str | None = None
    hostname: str | None = None
    description: str | None = None
    sitename: str | None = None
    date: str | None = None
    categories: list[str] | None = None
    tags: list[str] | None = None
    fingerprint: str | None = None
    id: str | None = None
    license: str | None = None
    body: None = None
    comments: str | None = None
    commentsbody: None = None
    raw_text: str | None = None
    text: str | None = None
    language: str | None = None
    image: str | None = None
    pagetype: str | None = None
    filedate: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """All of it as a dict."""
        return asdict(self)

    def with_text(self, text: str) -> Extracted:
        """The same with a text in some format."""
        return replace(self, text=text)


def describe(extraction: Extraction, options: Options) -> Extracted:
    """The texts, and the metadata if they were asked for."""
    comments = extraction.render("text", only="comment") if options.comments else None
    texts = Extracted(raw_text=extraction.render("text", only="main"), comments=comments, id=options.record_id)
    if not options.with_metadata:
        return texts
    metadata = extraction.metadata
    url = metadata.url or options.url
    return replace(
        texts,
        title=metadata.title,
        author=_without(options.author_blacklist, metadata.author),
        url=url,
        hostname=_host(url),
        description=metadata.description,
        sitename=metadata.site,
        date=metadata.date,
        language=metadata.language,
        pagetype=extraction.page_type,
    )


def write(extraction: Extraction, document: Extracted, options: Options) -> str:
    """The text in the format that was asked for."""
    writers = {"csv": _csv, "html": _html, "json": _json, "xml": _xml, "xmltei": _xmltei}
    return writers.get(options.format, _plain)(extraction, document, options)


def _plain(extraction: Extraction, document: Extracted, options: Options) -> str:
    """Plain text and Markdown, with the metadata as a header in YAML, of which JSON's strings are a part."""
    content = _content(extraction, document, options)
    if not options.with_metadata or options.format not in ("txt", "markdown"):
        return content
    fields = {name: getattr(document, name) for name in _HEADER_FIELDS}
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields.items() if value]
    return f"---\n{''.join(lines)}---\n{content}"


def _content(extraction: Extraction, document: Extracted, options: Options) -> str:
    if options.format == "markdown" and options.formatting is not False:
        return extraction.markdown(links=options.links, images=options.images)
    main = _main(extraction, document, options)
    return "\n".join(filter(None, (main, document.comments)))


def _main(extraction: Extraction, document: Extracted, options: Options) -> str:
    """The main matter alone: as Markdown where plain text cannot hold what was asked for, as in trafilatura."""
    formatting = options.formatting and options.format != "json"
    if not (formatting or options.links or options.images):
        return document.raw_text or ""
    is_comment = extraction.is_comment
    kept = extraction.kept if is_comment is None else extraction.kept & ~is_comment
    return replace(extraction, kept=kept).markdown(links=options.links, images=options.images)


def _json(extraction: Extraction, document: Extracted, options: Options) -> str:
    text = _main(extraction, document, options)
    if not options.with_metadata:
        return json.dumps({"text": text, "comments": document.comments or ""}, ensure_ascii=False)
    content = document.as_dict() | {"text": text, "comments": document.comments or ""}
    for name in ("body", "commentsbody"):
        del content[name]
    for name in ("categories", "tags"):
        content[name] = ";".join(content[name] or ())
    return json.dumps({_JSON_NAMES.get(name, name): value for name, value in content.items()}, ensure_ascii=False)


def _csv(extraction: Extraction, document: Extracted, options: Options) -> str:
    output = io.StringIO()
    row = document.with_text(_main(extraction, document, options)).as_dict()
    csv.writer(output, delimiter="\t").writerow([row[name] or "null" for name in _CSV_FIELDS])
    return output.getvalue()


def _html(extraction: Extraction, document: Extracted, options: Options) -> str:
    html = extraction.html(images=options.images)
    if not options.links:
        html = _LINK.sub("", html)
    known = [(name, value) for name in _XML_FIELDS if (value := getattr(document, name))]
    lines = [f'<meta name="{name}" content="{escape(value)}">\n' for name, value in known]
    return html.replace("</head>", f"\n{''.join(lines)}</head>", 1) if options.with_metadata else html


def _xmltei(extraction: Extraction, _document: Extracted, _options: Options) -> str:
    return extraction.tei().partition("?>\n")[2].strip()


def _xml(extraction: Extraction, document: Extracted, options: Options) -> str:
    """The XML that is trafilatura's own, made of our TEI, which has the same elements but for a few."""
    body = ET.fromstring(_xmltei(extraction, document, options)).find(f"{_TEI}text/{_TEI}body")  # noqa: S314 - ours
    assert body is not None
    known = {name: value for name in _XML_FIELDS if (value := getattr(document, name))}
    root = ET.Element("doc", {name: _NOT_XML.sub("", value) for name, value in known.items()})
    comments = ET.Element("comments")
    for division in body.findall(f"{_TEI}div"):
        body.remove(division)
        comments.extend(division)
    body.tag = "main"
    root.extend((body, comments))
    for element in root.iter():
        _rename(element)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode")


def _rename(element: ET.Element) -> None:
    element.tag = element.tag.removeprefix(_TEI)
    if element.tag == "ab":
        element.tag = _BLOCKS[element.attrib.pop("type")]


def _host(url: str | None) -> str | None:
    try:
        return (urlsplit(url or "").hostname or "").removeprefix("www.") or None
    except ValueError:  # not an address at all
        return None


def _without(blacklist: frozenset[str], authors: str | None) -> str | None:
    unwanted = {name.casefold() for name in blacklist}
    names = [name for name in (authors or "").split("; ") if name and name.casefold() not in unwanted]
    return "; ".join(names) or None
