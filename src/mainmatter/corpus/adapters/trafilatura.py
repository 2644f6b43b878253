"""trafilatura: functions with the signatures of `trafilatura.extract` and its kin, for those who switch.

trafilatura itself is not needed. An option that would change the result there and cannot here is warned about, once.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import re
import warnings
from dataclasses import asdict, dataclass, replace
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

from mainmatter.api import clean
from mainmatter.corpus.language import identify
from mainmatter.errors import InputError, MissingExtra, UnknownName
from mainmatter.isolation.parallel import Failure, ordered_map
from mainmatter.records import Page

if TYPE_CHECKING:
    from mainmatter.records import Extraction


FORMATS = ("csv", "html", "json", "markdown", "txt", "xml", "xmltei")
PYTHON = "python"  # what trafilatura calls the format of `bare_extraction`
DIALS = {"precision": 0.3, "balanced": 0.5, "recall": 0.7}
_logger = logging.getLogger(__name__)

# What would change the result in trafilatura and cannot here, unless it is false or None, and what happens instead.
_NOT_HONOURED = {
    "deduplicate": "text that repeats is kept",
    "date_extraction_params": "the date is what the page says",
    "max_tree_size": "pages of any number of elements are read",
    "settingsfile": "none of its settings is looked at",
    "config": "none of its settings is looked at",
    "prune_xpath": "nothing is pruned before",
}
# The same for the formats that are written without markup inside of paragraphs.
_NOT_IN_XML = {
    "include_links": "links have no targets in XML",
    "include_images": "there are no images in XML",
    "include_formatting": "there is no formatting inside of paragraphs in XML",
}
_warned: set[str] = set()


class NotHonoured(UserWarning):
    """An option of trafilatura that was given has no effect here, although it has one there."""


def extract(  # noqa: PLR0913, PLR0917 - as trafilatura has it
    filecontent: Any,  # as trafilatura, anything
    url: str | None = None,
    record_id: str | None = None,
    fast: bool = False,
    no_fallback: bool = False,
    favor_precision: bool = False,
    favor_recall: bool = False,
    include_comments: bool = True,
    output_format: str = "txt",
    tei_validation: bool = False,
    target_language: str | None = None,
    include_tables: bool = True,
    include_images: bool = False,
    include_formatting: bool | None = None,
    include_links: bool = False,
    deduplicate: Any = False,
    date_extraction_params: dict[str, Any] | None = None,
    with_metadata: bool = False,
    only_with_metadata: bool = False,
    max_tree_size: int | None = None,
    url_blacklist: set[str] | None = None,
    author_blacklist: set[str] | None = None,
    settingsfile: str | None = None,
    prune_xpath: str | list[str] | None = None,
    config: Any = None,
    options: Any = None,
) -> str | None:
    """A page's main matter in one of trafilatura's formats; None where there is none, or a filter drops the page.

    Every argument means what it means in trafilatura. `fast`, `no_fallback` and `tei_validation` change nothing: there
    is no slower way, and no check. docs/how-to/integrations.md lists what differs.

    Raises:
        UnknownName: there is no such format.
    """
    document = _extract(**locals())
    return None if document is None else document.text


def extract_with_metadata(  # noqa: PLR0913, PLR0917 - as trafilatura has it
    filecontent: Any,
    url: str | None = None,
    record_id: str | None = None,
    fast: bool = False,
    favor_precision: bool = False,
    favor_recall: bool = False,
    include_comments: bool = True,
    output_format: str = "txt",
    tei_validation: bool = False,
    target_language: str | None = None,
    include_tables: bool = True,
    include_images: bool = False,
    include_formatting: bool | None = None,
    include_links: bool = False,
    deduplicate: Any = False,
    date_extraction_params: dict[str, Any] | None = None,
    url_blacklist: set[str] | None = None,
    author_blacklist: set[str] | None = None,
    settingsfile: str | None = None,
    prune_xpath: str | list[str] | None = None,
    config: Any = None,
    options: Any = None,
) -> Extracted | None:
    """As `extract`, but gives an object: its `text` is what `extract` gives, beside the metadata.

    Raises:
        UnknownName: there is no such format.
    """
    return _extract(**locals(), with_metadata=True)


def bare_extraction(  # noqa: PLR0913, PLR0917 - as trafilatura has it
    filecontent: Any,
    url: str | None = None,
    fast: bool = False,
    no_fallback: bool = False,
    favor_precision: bool = False,
    favor_recall: bool = False,
    include_comments: bool = True,
    output_format: str = PYTHON,
    target_language: str | None = None,
    include_tables: bool = True,
    include_images: bool = False,
    include_formatting: bool | None = None,
    include_links: bool = False,
    deduplicate: Any = False,
    date_extraction_params: dict[str, Any] | None = None,
    with_metadata: bool = False,
    only_with_metadata: bool = False,
    max_tree_size: int | None = None,
    url_blacklist: set[str] | None = None,
    author_blacklist: set[str] | None = None,
    as_dict: bool = False,
    prune_xpath: str | list[str] | None = None,
    config: Any = None,
    options: Any = None,
) -> Extracted | dict[str, Any] | None:
    """As `extract`, but gives an object with the texts and the metadata, or a dict; `body` is always None.

    Raises:
        UnknownName: there is no such format.
    """
    given = locals()
    wants_dict = given.pop("as_dict")
    document = _extract(**given, formats=(*FORMATS, PYTHON))
    return document.as_dict() if wants_dict and document is not None else document


def _extract(filecontent: Any, formats: tuple[str, ...] = FORMATS, **given: Any) -> Extracted | None:
    options = _from_extractor(given["options"], given) if given["options"] is not None else _from_arguments(given)
    if options.format not in formats:
        raise UnknownName("format", options.format, formats)
    _warn_of_markup(options)
    html = _to_html(filecontent)
    if html is None:
        return None
    (result,) = ordered_map(partial(_clean, options=options), [Page(html, options.url, options.record_id)])
    if isinstance(result, Failure):
        _logger.warning("%s: %s", options.url or "a page", result.error)
        return None
    return result


def _clean(page: Page, options: Options) -> Extracted | None:
    extraction = clean(
        page,
        dial=DIALS[options.focus],
        comments="mark" if options.comments else "drop",
        captions=options.images,  # trafilatura drops figures as a whole unless pictures are wanted
        tables=options.tables,
    )
    if not len(extraction):
        return None
    document = describe(extraction, options)
    if _is_dropped(document, extraction, options):
        return None
    return document.with_text(write(extraction, document, options))


def _is_dropped(document: Extracted, extraction: Extraction, options: Options) -> bool:
    if options.with_metadata and document.url in options.url_blacklist:
        return True
    if options.only_with_metadata and not (document.date and document.title and document.url):
        return True
    return bool(options.language) and not _is_in(options.language, document.raw_text or "", extraction)


def _is_in(language: str | None, text: str, extraction: Extraction) -> bool:
    """Whether a text is in a language, or nobody knows in which it is."""
    try:
        found = identify(text).language
    except MissingExtra:  # trafilatura too looks at what the page declares if it has no such library
        found = None
    found = found or (extraction.metadata.language or "").partition("-")[0].lower()
    return not found or found == language


def _from_arguments(given: dict[str, Any]) -> Options:
    for name, instead in _NOT_HONOURED.items():
        if given.get(name):
            _warn(name, instead)
    return Options(
        format=given["output_format"],
        focus="recall" if given["favor_recall"] else "precision" if given["favor_precision"] else "balanced",
        comments=bool(given["include_comments"]),
        tables=bool(given["include_tables"]),
        images=bool(given["include_images"]),
        formatting=given["include_formatting"],
        links=bool(given["include_links"]),
        language=given["target_language"],
        url=given["url"],
        record_id=given.get("record_id"),
        wants_metadata=bool(given["with_metadata"]),
        only_with_metadata=bool(given.get("only_with_metadata")),
        url_blacklist=frozenset(given["url_blacklist"] or ()),
        author_blacklist=frozenset(given["author_blacklist"] or ()),
    )


def _from_extractor(extractor: Any, given: dict[str, Any]) -> Options:
    """What an `Extractor` of trafilatura says, which replaces all arguments but the record's id and `prune_xpath`."""
    try:
        for name, value in (("prune_xpath", given["prune_xpath"]), ("deduplicate", extractor.dedup)):
            if value:
                _warn(name, _NOT_HONOURED[name])
        return Options(
            format=extractor.format,
            focus=extractor.focus,
            comments=extractor.comments,
            tables=extractor.tables,
            images=extractor.images,
            formatting=extractor.formatting,
            links=extractor.links,
            language=extractor.lang,
            url=extractor.url,
            record_id=given.get("record_id"),
            wants_metadata=extractor.with_metadata,
            only_with_metadata=extractor.only_with_metadata,
            url_blacklist=frozenset(extractor.url_blacklist or ()),
            author_blacklist=frozenset(extractor.author_blacklist or ()),
        )
    except AttributeError as error:
        raise InputError(f"options: not an Extractor of trafilatura 2: {error}") from error


def _warn_of_markup(options: Options) -> None:
    asked = (options.links, options.images, options.formatting)
    for (name, instead), is_asked in zip(_NOT_IN_XML.items(), asked, strict=True):
        if is_asked and options.format in ("xml", "xmltei"):
            _warn(name, instead)


def _warn(name: str, instead: str) -> None:
    if name not in _warned:
        _warned.add(name)
        # The caller is four calls away: extract, _extract, _from_arguments, _warn.
        warnings.warn(f"{name} is not honoured by mainmatter: {instead}", NotHonoured, stacklevel=5)


def _to_html(content: Any) -> str | bytes | None:
    """The page that was given as text, bytes, a response, or a tree of lxml; None if it is something else."""
    data = getattr(content, "data", content)  # of responses of urllib3 and trafilatura
    if isinstance(data, str | bytes):
        return data
    if hasattr(content, "getroottree"):
        from lxml.html import tostring  # type: ignore[import-untyped]  # who gives a tree has it

        return str(tostring(content, encoding="unicode"))
    return None


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
        return extraction.to_markdown(links=options.links, images=options.images)
    main = _main(extraction, document, options)
    return "\n".join(filter(None, (main, document.comments)))


def _main(extraction: Extraction, document: Extracted, options: Options) -> str:
    """The main matter alone: as Markdown where plain text cannot hold what was asked for, as in trafilatura."""
    formatting = options.formatting and options.format != "json"
    if not (formatting or options.links or options.images):
        return document.raw_text or ""
    is_comment = extraction.is_comment
    kept = extraction.kept if is_comment is None else extraction.kept & ~is_comment
    return replace(extraction, kept=kept).to_markdown(links=options.links, images=options.images)


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
    html = extraction.to_html(images=options.images)
    if not options.links:
        html = _LINK.sub("", html)
    known = [(name, value) for name in _XML_FIELDS if (value := getattr(document, name))]
    lines = [f'<meta name="{name}" content="{escape(value)}">\n' for name, value in known]
    return html.replace("</head>", f"\n{''.join(lines)}</head>", 1) if options.with_metadata else html


def _xmltei(extraction: Extraction, _document: Extracted, _options: Options) -> str:
    return extraction.to_tei().partition("?>\n")[2].strip()


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
        element.tag = element.tag.removeprefix(_TEI)
        if element.tag == "ab":
            element.tag = _BLOCKS[element.attrib.pop("type")]
    ET.indent(root)
    return ET.tostring(root, encoding="unicode")


def _host(url: str | None) -> str | None:
    try:
        return (urlsplit(url or "").hostname or "").removeprefix("www.") or None
    except ValueError:  # not an address at all
        return None


def _without(blacklist: frozenset[str], authors: str | None) -> str | None:
    unwanted = {name.casefold() for name in blacklist}
    names = [name for name in (authors or "").split("; ") if name and name.casefold() not in unwanted]
    return "; ".join(names) or None
