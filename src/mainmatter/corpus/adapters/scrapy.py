"""Scrapy: an item pipeline that turns the HTML of items into main matter, and a function for spiders.

Settings, all optional:

    MAINMATTER_METHOD       "main"      which method decides: a name, or the folder of a trained model
    MAINMATTER_PARAMETERS   {}          the method's own parameters, such as {"dial": 0.7}
    MAINMATTER_FORMAT       "text"      the format of the text, such as "markdown"
    MAINMATTER_MAX_SIZE     50          the largest page to read, in MB
    MAINMATTER_HTML_FIELD   "html"      the item's field that holds the page: `response.body` (best) or `response.text`
    MAINMATTER_URL_FIELD    "url"       the item's field that holds its URL
    MAINMATTER_TEXT_FIELD   "text"      the field for the main matter; None where there is none
    MAINMATTER_KEEP_HTML    False       keep the field that holds the page
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from mainmatter.corpus.adapters.page import MissingLibrary, PipelineCleaner
from mainmatter.errors import InputError
from mainmatter.limits import MEGABYTE, Limits

try:
    from itemadapter import ItemAdapter
    from w3lib.encoding import http_content_type_encoding
except ImportError as error:
    raise MissingLibrary("Scrapy", "scrapy") from error

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from scrapy.statscollectors import StatsCollector

    from mainmatter.corpus.adapters.page import Cleaned

ERROR_FIELD = "error"


class MainmatterPipeline:
    """Gives each item that has a page its `text`, `error`, `page_title`, `page_author`, `page_date`, ...

    An item of a class with declared fields gets those that it declares. Items without a page pass as they are. An item
    of which nothing is left passes too, with the text None and the reason in `error`; `mainmatter/cleaned` and
    `mainmatter/rejected` in Scrapy's statistics count both.

    Raises:
        UnknownName: there is no such method.
        InputError: the method has no such parameter.
    """

    def __init__(self, settings: BaseSettings, stats: StatsCollector | None = None) -> None:
        self.cleaner = cleaner_from(settings)
        self.html_field: str = settings.get("MAINMATTER_HTML_FIELD", "html")
        self.url_field: str = settings.get("MAINMATTER_URL_FIELD", "url")
        self.text_field: str = settings.get("MAINMATTER_TEXT_FIELD", "text")
        self.keeps_html = settings.getbool("MAINMATTER_KEEP_HTML", False)
        self.stats = stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it with the crawler's settings; Scrapy calls this."""
        return cls(crawler.settings, crawler.stats)

    def process_item(self, item: Any, spider: object = None) -> Any:  # noqa: ARG002 - Scrapy before 2.14 gives one
        """Clean the page of an item.

        Raises:
            InputError: the item's class declares no field for the text.
        """
        adapter = ItemAdapter(item)
        page = adapter.get(self.html_field)
        if page is None:
            return item
        declared = ItemAdapter.get_field_names_from_class(type(item)) or None
        if declared is not None and self.text_field not in declared:
            raise InputError(f"{type(item).__name__} has no field {self.text_field!r}; see MAINMATTER_TEXT_FIELD")
        cleaned = self.cleaner(page, adapter.get(self.url_field))
        if self.stats is not None:
            self.stats.inc_value("mainmatter/rejected" if cleaned.text is None else "mainmatter/cleaned")
        if not self.keeps_html:
            self._remove_html(adapter)
        new = {self.text_field: cleaned.text, ERROR_FIELD: cleaned.error} | cleaned.prefixed_facts()
        for name, value in new.items():
            if declared is None or name in declared:
                adapter[name] = value
        return item

    def _remove_html(self, adapter: ItemAdapter) -> None:
        try:
            del adapter[self.html_field]
        except KeyError:  # fields of dataclasses cannot be removed
            adapter[self.html_field] = None


def cleaner_from(settings: BaseSettings) -> PipelineCleaner:
    """A cleaner with Scrapy's settings, for `clean_response`; a spider makes it once.

    Raises:
        UnknownName: there is no such method.
        InputError: the method has no such parameter.
    """
    return PipelineCleaner(
        settings.get("MAINMATTER_METHOD", "main"),
        Limits(int(settings.getfloat("MAINMATTER_MAX_SIZE", 50) * MEGABYTE)),
        settings.get("MAINMATTER_FORMAT", "text"),
        settings.getdict("MAINMATTER_PARAMETERS", {}),
    )


def clean_response(response: Response, cleaner: PipelineCleaner | None = None) -> Cleaned:
    """The main matter of a response, for spiders that want it before they make an item.

    Better than a field with `response.text`: the encoding is found as browsers do.
    """
    header = response.headers.get("Content-Type") or b""
    charset = http_content_type_encoding(header.decode("latin-1"))
    return (cleaner or PipelineCleaner())(response.body, response.url, charset)
