"""The item pipeline for Scrapy, in a real crawl of the example site on this machine."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import threading
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import mainmatter
from mainmatter.errors import UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

from scrapy import Field, Item
from scrapy.http import HtmlResponse
from scrapy.settings import Settings

from mainmatter.corpus.adapters.scrapy import MainmatterPipeline, clean_response, cleaner_from

SITE = Path(__file__).parents[3] / "examples" / "site"
PAGE = "<title>Tides</title><p>The tide comes in twice a day, and it goes out twice a day, and that is all it does.</p>"
TEXT = mainmatter.clean(PAGE).text

# Run in a process of its own: Twisted's reactor starts once. ROBOTSTXT and the console would open connections of their
# own; links that leave the site are not followed.
CRAWL = """
import json, sys
from scrapy.crawler import CrawlerProcess

address, out = sys.argv[1:]
HarbourLamp.start_urls = [address + page for page in ("blog/lens.html", "forum/thread-41.html", "empty.html")]
HarbourLamp.allowed_domains = ["127.0.0.1"]
settings = {
    "TELNETCONSOLE_ENABLED": False, "ROBOTSTXT_OBEY": False, "LOG_LEVEL": "ERROR", "DOWNLOAD_DELAY": 0,
    "FEEDS": {out: {"format": "jsonlines"}},
}
process = CrawlerProcess(settings)
crawler = process.create_crawler(HarbourLamp)
process.crawl(crawler)
process.start()
print(json.dumps({name: count for name, count in crawler.stats.get_stats().items() if name.startswith("mainmatter")}))
"""


class Handler(SimpleHTTPRequestHandler):
    """Serves the example site, and a page without text."""

    def do_GET(self) -> None:
        if self.path != "/empty.html":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html><body></body></html>")

    def log_message(self, format: str, *args: Any) -> None:  # as its parent
        """Say nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(SITE)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_crawl(address: str, tmp_path: Path, texts: dict[str, str], program: Callable[[str], str]) -> None:
    (tmp_path / "crawl.py").write_text(program("Scrapy") + CRAWL, "utf-8")
    run = subprocess.run(
        [sys.executable, "crawl.py", address, "items.jsonl"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    assert "Error" not in run.stderr, run.stderr
    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text("utf-8").splitlines()]
    by_path = {item["url"].removeprefix(address): item for item in items}
    expected = {url.removeprefix("https://harbourlamp.example/"): text for url, text in texts.items()}
    for path in ("blog/lens.html", "forum/thread-41.html"):
        assert by_path[path]["text"] == expected[path]
    assert all("html" not in item for item in items)
    assert by_path["blog/lens.html"]["page_author"] == "Inês Carvalho"
    assert (by_path["empty.html"]["text"], by_path["empty.html"]["error"]) == (None, "nothing was kept")
    assert json.loads(run.stdout) == {"mainmatter/cleaned": len(items) - 1, "mainmatter/rejected": 1}


class Declared(Item):
    url = Field()
    html = Field()
    text = Field()
    page_title = Field()


class WithoutText(Item):
    html = Field()


@dataclass
class Held:
    html: str | None
    text: str | None = None
    page_title: str | None = None


def pipeline(**settings: object) -> MainmatterPipeline:
    return MainmatterPipeline(Settings(settings))


def test_items_of_all_kinds() -> None:
    item = pipeline().process_item({"html": PAGE.encode(), "price": 3})
    assert (item["text"], item["page_title"], item["price"]) == (TEXT, "Tides", 3)
    assert "html" not in item
    declared = pipeline().process_item(Declared(html=PAGE, url="https://x.example/"))
    assert dict(declared) == {"url": "https://x.example/", "text": TEXT, "page_title": "Tides"}
    held = pipeline().process_item(Held(PAGE))
    assert held.text == TEXT
    assert getattr(held, "html", None) is None
    assert pipeline().process_item({"price": 3}) == {"price": 3}


def test_an_item_without_a_field_for_the_text_is_told() -> None:
    with pytest.raises(mainmatter.InputError, match="WithoutText has no field 'text'; see MAINMATTER_TEXT_FIELD"):
        pipeline().process_item(WithoutText(html=PAGE))


def test_the_settings() -> None:
    item = pipeline(
        MAINMATTER_METHOD="density",
        MAINMATTER_PARAMETERS={"c1": 0.3},
        MAINMATTER_FORMAT="markdown",
        MAINMATTER_MAX_SIZE=0.0002,
        MAINMATTER_HTML_FIELD="body",
        MAINMATTER_TEXT_FIELD="clean",
        MAINMATTER_KEEP_HTML=True,
    )
    page = mainmatter.clean(PAGE, method="density:c1=0.3").markdown
    assert item.process_item({"body": PAGE})["clean"] == page
    assert item.process_item({"body": PAGE})["body"] == PAGE
    assert item.process_item({"body": PAGE * 3})["error"].startswith("PageTooLarge")
    with pytest.raises(UnknownName):
        pipeline(MAINMATTER_METHOD="densty")


def test_a_response() -> None:
    page = "<p>Die Flut kommt zweimal am Tag über den Kai, und zweimal am Tag geht sie wieder zurück ins Meer.</p>"
    response = HtmlResponse(
        "https://x.example/", body=page.encode("utf-8"), headers={"Content-Type": "text/html; charset=utf-8"}
    )
    cleaned = clean_response(response, cleaner_from(Settings()))
    assert cleaned.text == mainmatter.clean(page).text
    assert clean_response(response).text == cleaned.text
