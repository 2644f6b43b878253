"""Pages that only scripts build, and what their scripts must not do."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import sys
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import mainmatter
from mainmatter.cli import group
from mainmatter.errors import FetchError, InputError, MissingExtra, NotAPage, PageTooLarge, PageWarning
from mainmatter.html.browser import chromium
from mainmatter.html.browser.rendering import SharedBrowser
from mainmatter.inputs import browser
from mainmatter.inputs import fetch as fetching
from mainmatter.inputs.browser import PageLoader, fetch_with_browser
from mainmatter.inputs.fetch import AddressRefused, why_not_public
from mainmatter.limits import Limits
from mainmatter.records import Page
from timing import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SENTENCE = "The keeper rang the bell by hand for as long as the fog lasted, and often that was a week."


@dataclass
class Web:
    """Two servers: one that counts as public, at 127.0.0.2, and one that is private.

    Attributes:
        pages: by path, on both: a media type and a body, a status, or the address of another page.
        asked: of the private server: paths.
        url: of the public one, without a slash at the end.
        private: host and port of the private one.
        over: set when the test is over: what is never answered ends then.
    """

    pages: dict[str, tuple[str, str] | int | str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    url: str = ""
    private: str = ""
    over: Event = field(default_factory=Event)

    def page(self, html: str, path: str = "/") -> str:
        """Serve a page; its URL."""
        self.pages[path] = "text/html; charset=utf-8", html.replace("PRIVATE", self.private)
        return self.url + path


def serve(web: Web, host: str) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if host == "127.0.0.1":
                web.asked.append(self.path)
            with suppress(OSError):  # the browser may be gone
                self._answer(web.pages.get(self.path.partition("?")[0], 404))

        def do_POST(self) -> None:
            self.do_GET()

        def _answer(self, answer: tuple[str, str] | int | str) -> None:
            if isinstance(answer, int):
                self.send_error(answer)
            elif isinstance(answer, str):
                self.send_response(302)
                self.send_header("Location", answer)
                self.end_headers()
            elif answer[1] == "never":
                web.over.wait()
            else:
                self.send_response(200)
                self.send_header("Content-Type", answer[0])
                self.end_headers()
                body = answer[1].encode()
                for _ in range(1000 if answer[1].startswith("endless") else 1):
                    self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer((host, 0), Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server


@pytest.fixture(scope="module")
def shared() -> Iterator[None]:
    """One browser for all tests of this file; they skip where it is missing."""
    try:
        chromium.need_browser()
    except (InputError, MissingExtra) as error:
        pytest.skip(str(error))
    yield
    browser._shared.close()


@pytest.fixture
def web(shared: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    monkeypatch.setattr(fetching, "why_not_public", lambda ip: None if ip == "127.0.0.2" else why_not_public(ip))
    monkeypatch.setattr(browser, "QUIET", 0.25)  # half of the time that these tests take
    # On a busy machine, everything may take its time.
    monkeypatch.setattr(browser, "SLOW", PATIENCE)
    defaults = fetch_with_browser.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "timeout", PATIENCE)
    web = Web()
    public, private = serve(web, "127.0.0.2"), serve(web, "127.0.0.1")
    web.url, web.private = f"http://127.0.0.2:{public.server_port}", f"127.0.0.1:{private.server_port}"
    yield web
    web.over.set()
    for server in (public, private):
        server.shutdown()
        server.server_close()


def text_of(url: str, **options: Any) -> str:
    return mainmatter.clean(fetch_with_browser(url, **options), method="ice-baseline").text


BUILT = {
    "requests": "fetch('/data').then(r => fetch('/data', {method: 'POST', body: 'x'})).then(r => r.json())"
    ".then(data => setTimeout(() => app.innerHTML = `<p>${data.text}</p>`, 150))",
    "timers": "let n = 0; const t = setInterval(() => { app.innerHTML += '<p>piece ' + ++n; "
    "if (n === 4) { clearInterval(t); app.innerHTML += SENTENCE } }, 150)",
    "shadow roots": "app.attachShadow({mode: 'open'}).innerHTML = '<div></div>';"
    "app.shadowRoot.firstChild.attachShadow({mode: 'open'}).innerHTML = `<p>${SENTENCE}</p>`",
    "another page": "setTimeout(() => location.href = '/other', 100)",
    "damage": "Array.prototype[Symbol.iterator] = null; Object.prototype.value = 'x'; Element.prototype.getHTML = null;"
    "window.Promise = null; const i = new Image(); i.onload = () => app.append(SENTENCE); i.src = '/picture.png'",
}


@pytest.mark.parametrize("script", BUILT.values(), ids=BUILT)
def test_a_page_that_builds_itself(web: Web, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "QUIET", 2.0)  # on a busy machine, the timers of a page come late
    web.pages["/data"] = "application/json", json.dumps({"text": SENTENCE})
    web.page(f"<p>{SENTENCE}</p>", "/other")
    url = web.page(
        f"<!doctype html><html lang=de><div id=app></div><script>const SENTENCE = {SENTENCE!r}; {script}</script>"
    )
    page = fetch_with_browser(url)
    document = mainmatter.read(page)
    assert document.texts[-1].endswith(SENTENCE)
    assert (page.id, page.url) == (url, f"{web.url}/other" if "other" in script else url)
    assert not document.needs_scripts
    if "other" not in script:
        assert document.metadata.language == "de"
        assert isinstance(page.html, bytes)
        assert page.html.startswith(b"<!DOCTYPE html>")


def test_half_a_character_does_no_harm(web: Web) -> None:
    url = web.page("<meta charset=windows-1252><p id=p></p><script>p.textContent = 'ä \\ud83d ü'</script>")
    assert text_of(url) == "ä ? ü"


NEVER_QUIET = {
    "endless content": "setInterval(() => document.body.insertAdjacentHTML('beforeend', '<p>more and more'), 50)",
    "loops": "setInterval(() => { while (true) {} }, 1)",
    "dialogs": "while (true) alert(1)",
}


@pytest.mark.parametrize("script", NEVER_QUIET.values(), ids=NEVER_QUIET)
def test_what_is_there_in_time_is_taken(web: Web, script: str) -> None:
    url = web.page(f"<p>{SENTENCE}</p><script>{script}</script>")
    with pytest.warns(PageWarning, match=r": had not finished after 5 seconds; what was there by then was used$"):
        text = text_of(url, timeout=5)
    assert text.startswith(SENTENCE)


def test_clocks_streams_and_late_answers_do_not_keep_a_page_from_being_quiet(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "SLOW", 0.8)
    web.pages["/late"] = "text/plain", "never"
    script = "setInterval(() => clock.textContent = Date.now(), 20); new EventSource('/late'); fetch('/late')"
    url = web.page(f"<p>{SENTENCE}</p><p id=clock></p><script>{script}</script>")
    with pytest.warns(PageWarning, match=r": 1 request had not been answered yet$"):
        assert text_of(url).startswith(SENTENCE)
    with pytest.raises(FetchError, match=r"/late: could not be fetched: no answer after 1 seconds$"):
        fetch_with_browser(f"{web.url}/late", timeout=1)


REACHING = f"""<!doctype html><title>x</title><link rel=stylesheet href="http://PRIVATE/css">
<link rel=preconnect href="http://PRIVATE"><link rel=dns-prefetch href="//PRIVATE">
<link rel=prefetch href="http://PRIVATE/prefetch"><link rel=icon href="http://PRIVATE/icon">
<p>{SENTENCE}</p><iframe src="http://PRIVATE/frame"></iframe><img src="http://PRIVATE/img">
<iframe src="file:///etc/passwd"></iframe><script src="http://PRIVATE/js"></script><script>
for (const url of ["http://PRIVATE/fetch", "https://PRIVATE/tls", "/redirect", "http://localhost:PORT/name",
  "http://rebinding.example:PORT/dns", "http://[::1]:PORT/six", "http://[::ffff:127.0.0.1]:PORT/mapped",
  "http://0.0.0.0:PORT/zero", "http://2130706433:PORT/number", "http://169.254.169.254/latest/meta-data/"])
  fetch(url, {{mode: "no-cors"}}).catch(() => {{}})
fetch("http://PRIVATE/post", {{mode: "no-cors", method: "POST", body: "x"}}).catch(() => {{}})
new WebSocket("ws://PRIVATE/socket"); new EventSource("http://PRIVATE/events"); open("http://PRIVATE/window")
navigator.sendBeacon("http://PRIVATE/beacon"); new Worker(URL.createObjectURL(new Blob(["fetch('http://PRIVATE/worker')"])))
navigator.serviceWorker?.register("/worker.js").catch(() => {{}})
const peer = new RTCPeerConnection({{iceServers: [{{urls: "stun:127.0.0.1:UDP"}}]}})
peer.createDataChannel("x"); peer.createOffer().then(offer => peer.setLocalDescription(offer))
try {{ new WebTransport("https://127.0.0.1:UDP/") }} catch {{}}
</script>"""


def test_nothing_private_is_reached(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "_FIRST_SCRIPT", "")  # with it, there is no RTCPeerConnection at all
    port = web.private.partition(":")[2]
    answers = iter(["127.0.0.2"])  # public when first asked for, private ever after
    real = socket.getaddrinfo

    def look_up(host: str, port: int, *args: Any, **kwargs: Any) -> Any:
        return real(next(answers, "127.0.0.1") if host == "rebinding.example" else host, port, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    web.pages["/redirect"] = f"http://{web.private}/redirected"
    web.pages["/worker.js"] = "text/javascript", f"fetch('http://{web.private}/service-worker')"
    public_port = web.url.rpartition(":")[2]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        udp.settimeout(0.2)
        html = REACHING.replace("PORT", port).replace("UDP", str(udp.getsockname()[1]))
        web.page(html)
        with pytest.warns(PageWarning, match=r"refused, because only public addresses are allowed") as caught:
            page = fetch_with_browser(f"http://rebinding.example:{public_port}/", timeout=10)
        assert SENTENCE in mainmatter.read(page).texts
        with pytest.raises(TimeoutError):
            udp.recv(1)
    assert web.asked == []
    (note,) = [str(one.message) for one in caught if "refused" in str(one.message)]
    found = re.search(r"(\d+) requests refused", note)
    assert found is not None
    assert int(found[1]) >= 12
    assert web.private in note


@pytest.mark.parametrize("way", ["directly", "redirect", "script"])
def test_a_page_that_is_private_itself(web: Web, way: str) -> None:
    address = f"http://{web.private}/secret"
    web.page(SENTENCE, "/secret")
    url = address
    if way == "redirect":
        web.pages["/"] = address
        url = f"{web.url}/"
    elif way == "script":
        url = web.page(f"<script>location = '{address}'</script>")
    words = r": is not fetched: .* is a loopback address, and pages are fetched from public addresses only"
    with pytest.raises(AddressRefused, match=words) as caught:
        fetch_with_browser(url)
    assert ("; --allow-private or public_only=False lifts this rule" in str(caught.value)) == (url == address)
    assert web.asked == []


def test_private_pages_may_be_allowed_but_no_public_page_reaches_them(web: Web) -> None:
    web.page(f"<p>{SENTENCE}</p>", "/data")
    script = (
        "<p id=p></p><script>fetch('http://PRIVATE/data').then(r => r.text()).then(text => p.innerHTML = text)</script>"
    )
    url = web.page(script)
    assert SENTENCE in text_of(url.replace(web.url, f"http://{web.private}"), public_only=False)
    web.asked.clear()
    with pytest.warns(
        PageWarning, match=r": 1 request refused, because only public addresses are allowed: 127\.0\.0\.1:"
    ):
        assert SENTENCE not in text_of(url, public_only=False)
    assert web.asked == []


def test_a_host_with_a_public_address_is_not_private(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.getaddrinfo

    def look_up(host: str, *args: Any, **kwargs: Any) -> Any:
        addresses = ("127.0.0.2", "127.0.0.1") if host == "two.example" else (host,)
        return [entry for address in addresses for entry in real(address, *args, **kwargs)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    url = web.page("<script>fetch('http://PRIVATE/secret', {mode: 'no-cors'})</script>")
    url = url.replace("127.0.0.2", "two.example")
    words = (
        r": two\.example is a loopback address and a public address, and pages are fetched from public addresses only$"
    )
    with pytest.raises(AddressRefused, match=words):
        fetch_with_browser(url, public_only=False)
    assert web.asked == []


@pytest.mark.parametrize("way", ["redirect", "script", "frame", "redirect in a frame"])
def test_a_public_page_reaches_nothing_private_if_a_private_one_led_to_it(web: Web, way: str) -> None:
    reaching = f"<p>{SENTENCE}</p><script>fetch('http://PRIVATE/secret', {{mode: 'no-cors'}})</script>"
    public = web.page(reaching, "/public")
    web.pages["/on"] = public
    start = {
        "redirect": "/on",
        "script": web.page(f"<script>location = '{public}'</script>", "/script"),
        "frame": web.page(f"<p>{SENTENCE}</p><iframe src='{public}'></iframe>", "/frame"),
        "redirect in a frame": web.page(f"<p>{SENTENCE}</p><iframe src=/on></iframe>", "/frames"),
    }[way].removeprefix(web.url)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PageWarning)
        assert text_of(f"http://{web.private}{start}", public_only=False) == SENTENCE
    assert start in web.asked
    assert "/secret" not in web.asked
    assert [": 1 request refused, because only public" in str(one.message) for one in caught] == [True] * (
        way != "frame"
    )


def test_bytes_are_limited(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "MOST_BYTES", 1_000_000)
    web.pages["/large"] = "text/plain", "endless" * 10_000
    url = web.page(f"<p>{SENTENCE}</p><script>fetch('/large').then(r => r.text())</script>")
    with pytest.warns(PageWarning, match=r": tried to load more than 1\.0 MB; loading stopped there$"):
        assert text_of(url) == SENTENCE
    web.pages["/page"] = "text/html", "endless" * 10_000
    with pytest.raises(PageTooLarge, match=r"/page loads more than 1\.0 MB, the limit for a browser$"):
        fetch_with_browser(f"{web.url}/page")
    url = web.page("<script>document.write('<p>' + 'x'.repeat(600000))</script>")
    with pytest.raises(PageTooLarge, match=r"/ has more than 500,000 bytes; raise the limit"):
        fetch_with_browser(url, limits=Limits(size=500_000))


def test_memory_is_limited_and_the_next_page_is_loaded(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "MOST_MEMORY", 700)
    url = web.page("<p>x</p><script>const a = []; while (true) a.push(new Uint8Array(1e7).fill(1))</script>")
    with pytest.raises(FetchError, match=r": could not be loaded: it took more than 700 MB of memory$"):
        fetch_with_browser(url)
    assert text_of(web.page(f"<p>{SENTENCE}</p>")) == SENTENCE


def test_requests_and_navigations_are_limited(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "MOST_REQUESTS", 5)
    url = web.page(f"<p>{SENTENCE}</p><script>for (let i = 0; i < 9; i++) fetch('/' + i)</script>")
    with pytest.warns(PageWarning, match=r": made more than 5 requests; the others were refused$"):
        assert text_of(url) == SENTENCE
    monkeypatch.setattr(browser, "MOST_REQUESTS", 1_000)
    url = web.page(f"<p>{SENTENCE}</p><script>location = '/?' + Math.random()</script>")
    with pytest.warns(
        PageWarning, match=r": went to another page more than 5 times; the last one that was loaded was used$"
    ):
        assert text_of(url) == SENTENCE


def test_what_is_no_page(web: Web) -> None:
    web.pages["/paper.pdf"] = "application/pdf", "%PDF-1.4"
    web.pages["/dump"] = "text/plain; charset=latin-1", SENTENCE
    with pytest.raises(NotAPage, match=r"/paper\.pdf: is application/pdf, not a web page; give the URL of a web page"):
        fetch_with_browser(f"{web.url}/paper.pdf")
    with pytest.raises(FetchError, match=r"/none: the server answered 404 Not Found$"):
        fetch_with_browser(f"{web.url}/none")
    dump = fetch_with_browser(f"{web.url}/dump")
    assert (dump.html, dump.format, dump.charset) == (SENTENCE.encode(), "text", "latin-1")
    with pytest.raises(FetchError, match=r"could not be fetched: no-such-host\.invalid has no address: "):
        fetch_with_browser("https://no-such-host.invalid/")
    with pytest.raises(
        AddressRefused, match=r"^file:///etc/passwd: is not fetched: only http:// and https:// URLs are$"
    ):
        fetch_with_browser("file:///etc/passwd")


def test_a_browser_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "_shared", SharedBrowser(PageLoader))
    monkeypatch.setenv("MAINMATTER_CHROMIUM", "no-such-program")
    with pytest.raises(InputError, match="MAINMATTER_CHROMIUM is no-such-program, which is not a program"):
        fetch_with_browser("https://example.org/")
    monkeypatch.setitem(sys.modules, "playwright", None)
    with pytest.raises(MissingExtra, match=r"pip install 'mainmatter\[visual\]'"):
        fetch_with_browser("https://example.org/")
    run = CliRunner().invoke(group, ["clean", "https://example.org/", "--browser"])
    assert (run.exit_code, run.stdout) == (1, "")
    assert "pip install 'mainmatter[visual]'" in run.stderr


def test_on_the_command_line(web: Web) -> None:
    script = f"document.body.innerHTML += '<h1>Fog</h1><p>{SENTENCE}</p>'"
    url = web.page(f"<body><div id=root></div><script>{script}; fetch('http://PRIVATE/')</script>")
    run = CliRunner().invoke(group, ["clean", url, f"{url}?2", "--browser", "-j", "1", "-m", "ice-baseline"])
    assert run.stdout == "".join(f"==> {one} <==\nFog\n\n{SENTENCE}\n" for one in (url, f"{url}?2"))
    assert run.stderr.count("Warning: ") == run.stderr.count(": 1 request refused, because only public addresses") == 2
    run = CliRunner().invoke(group, ["explain", url, "--browser"])
    assert SENTENCE[:40] in run.stdout
    assert "refused" in run.stderr
    empty = web.page("<div id=root></div><script>1</script>")
    run = CliRunner().invoke(group, ["clean", empty, "--browser"])
    assert run.stderr == f"Warning: {empty}: shows no text, even after its scripts ran\n"
    web.page(f"<p>{SENTENCE}</p>")
    run = CliRunner().invoke(group, ["clean", f"http://{web.private}/", "--browser", "--allow-private"])
    assert run.stdout == f"{SENTENCE}\n"


def test_only_urls_are_loaded_by_a_browser() -> None:
    run = CliRunner().invoke(group, ["clean", "-", "--browser"])
    assert run.exit_code == 2
    assert "--browser loads URLs, and - is not a URL" in run.stderr


def test_from_python(web: Web) -> None:
    url = web.page(f"<div id=root></div><script>root.innerHTML = '<p>{SENTENCE}</p>'</script>")
    with pytest.warns(PageWarning, match=r": shows almost no text without its scripts; clean_url\(url, browser=True\)"):
        assert mainmatter.clean_url(url).text == ""
    assert asyncio.run(asyncio.to_thread(mainmatter.clean_url, url, browser=True)).text == SENTENCE
    assert mainmatter.clean_url(f"http://{web.private}/", browser=True, public_only=False).text == SENTENCE


CALLS: list[Callable[[str], object]] = [
    fetch_with_browser,
    lambda url: mainmatter.Cleaner(method="ice-baseline").clean_url(url, browser=True),
    lambda url: mainmatter.clean_url(url, browser=True, method="ice-baseline"),
]


@pytest.mark.parametrize("call", CALLS, ids=["fetch_with_browser", "Cleaner", "clean_url"])
def test_warnings_name_the_file_of_the_caller(call: Callable[[str], object], monkeypatch: pytest.MonkeyPatch) -> None:
    class Loader:
        def load(self, url: str, *_: object) -> browser.LoadedPage:
            return browser.LoadedPage(Page(f"<p>{SENTENCE}</p>", url), ["was not quiet"])

    monkeypatch.setattr(browser._shared, "get", Loader)
    with pytest.warns(PageWarning, match=r"^https://e\.example/: was not quiet$") as caught:
        call("https://e.example/")
    assert [one.filename for one in caught] == [__file__]


def test_the_guide_tells_the_limits() -> None:
    guide = " ".join(Path("docs/how-to/browser.md").read_text("utf-8").split())
    assert (browser.QUIET, browser.SLOW, browser.TIMEOUT) == (0.5, 5, 30)
    assert (browser.MOST_BYTES, browser.MOST_REQUESTS, browser.MOST_MEMORY) == (100_000_000, 1_000, 2_000)
    for figure in ("half a second", "5 seconds", "30 seconds", "100 MB", "1,000 requests", "2,000 MB", "5 times"):
        assert figure in guide
