"""`mainmatter mcp`, driven by the SDK's own client: over stdio in a process of its own, and over HTTP."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")

import anyio
import httpx2
import uvicorn
from anyio.from_thread import BlockingPortal, start_blocking_portal
from click.testing import CliRunner
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from mainmatter.cli import group
from mainmatter.cli.serve import server_config
from mainmatter.corpus.search import index_rows
from mainmatter.errors import InputError
from mainmatter.limits import MEGABYTE
from mainmatter.records import Page
from mainmatter.workbench.agents import AgentTools, make_http_app, to_refusal
from mainmatter.workbench.connections import Connection
from mainmatter.workbench.page_source import PageSource
from mainmatter.workbench.page_tools import NOTICE, PageChunk, PageReading, WholePage, cut, explain, read_whole, shorten
from mainmatter.workbench.settings import Settings
from small_web import serve
from timing import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from click.testing import Result

FIRST = "The first lamp was lit in the winter of a year that nobody wrote down, and it burned the oil of seals."
SECOND = "Today it is a lamp of another kind, which needs nobody, and the keeper's house is let to people on holiday."
PAGE = f"""<html lang=en><head><title>Lamps | The Harbour</title><meta name=author content="Ann Lee">
<meta property=article:published_time content=2024-03-01></head><body><nav><a href=/>Home</a> <a href=/x>Shop</a></nav>
<article><h1>Lamps of the harbour</h1><p>{FIRST} See <a href=/oil>the oil</a>.</p>
<h2>Today</h2><p>{SECOND}</p></article><footer>All rights reserved</footer></body></html>"""
LONG = "<h1>Long</h1>" + "".join(f"<p>Paragraph {n}. {FIRST}</p>" for n in range(100))


class Answer(NamedTuple):
    """What a tool said: to models, and to programs."""

    text: str
    content: dict[str, Any] | None
    is_error: bool


class Agent:
    """A client that calls tools."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal, self._client = portal, client

    def call(self, tool: str, **arguments: Any) -> Answer:
        result = self._portal.call(self._client.call_tool, tool, arguments)
        (block,) = result.content
        assert block.type == "text"
        return Answer(block.text, result.structured_content, bool(result.is_error))

    def refused(self, tool: str, **arguments: Any) -> str:
        answer = self.call(tool, **arguments)
        assert answer.is_error
        assert answer.content is None
        return answer.text.removeprefix(f"Error executing tool {tool}: ")

    def tools(self) -> dict[str, Any]:
        return {tool.name: tool for tool in self._portal.call(self._client.list_tools).tools}


@contextmanager
def connected(server: StdioServerParameters | str) -> Iterator[Agent]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server)) as client:
        yield Agent(portal, client)


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    with serve({"/lamps": ("text/html", PAGE.encode()), "/long": ("text/html", LONG.encode())}) as address:
        yield address


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """Over stdio, with an index; may fetch from this machine."""
    index = tmp_path_factory.mktemp("agents") / "index"
    rows: list[dict[str, Any]] = [
        {"id": "1", "url": "https://a.example/", "title": "Eels", "text": "Eels came up the river on three nights."},
        {"id": "2", "url": None, "title": None, "text": "The river is far from the lane."},
    ]
    index_rows(rows, index)
    arguments = ["-m", "mainmatter", "mcp", "--allow-private", "--index", str(index), "-j", "1"]
    # The SDK would start it without PYTHONPATH, and so perhaps another copy of mainmatter.
    with connected(StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))) as agent:
        yield agent


@contextmanager
def served(settings: Settings) -> Iterator[str]:
    """Over HTTP, in a thread; the address."""
    tools = AgentTools(settings, "density")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        server = uvicorn.Server(server_config(make_http_app(tools, port)))

        async def run() -> None:
            await server.serve(sockets=[listening])
            await tools.workers.close()

        thread = Thread(target=anyio.run, args=(run,))
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
    assert not thread.is_alive()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Over HTTP; fetches from public addresses only, as by default."""
    with served(Settings(folder=tmp_path_factory.mktemp("bench"), workers=1, max_bytes=MEGABYTE)) as address:
        yield address


# What the tools say


def test_the_tools_and_their_types(agent: Agent) -> None:
    tools = agent.tools()
    assert list(tools) == ["read_page", "clean_html", "explain", "search"]
    for tool in tools.values():
        assert tool.annotations.read_only_hint
        assert tool.output_schema["type"] == "object"
        assert not tool.description.startswith(" ")
    assert tools["read_page"].input_schema["required"] == ["url"]
    limits = {
        (name, argument): (schema["default"], schema["minimum"], schema.get("maximum"))
        for name, tool in tools.items()
        for argument, schema in tool.input_schema["properties"].items()
        if "minimum" in schema
    }
    parts = {"max_tokens": (5000, 50, 100_000), "start": (0, 0, None)}
    assert limits == {
        **{(name, argument): limit for name in ("read_page", "clean_html") for argument, limit in parts.items()},
        ("explain", "start"): (0, 0, None),
        ("explain", "limit"): (50, 1, 200),
        ("search", "limit"): (10, 1, 100),
    }
    assert tools["read_page"].annotations.open_world_hint
    for name in ("read_page", "clean_html", "explain"):
        number, nothing = tools[name].input_schema["properties"]["dial"]["anyOf"]
        assert (number["minimum"], number["maximum"], nothing["type"]) == (0, 1, "null")
    assert all(tool.input_schema["additionalProperties"] is False for tool in tools.values())
    assert "Without html, it is fetched" in tools["explain"].input_schema["properties"]["url"]["description"]


def test_read_page(agent: Agent, web: str) -> None:
    answer = agent.call("read_page", url=f"{web}/lamps")
    assert answer.content is not None
    reading = PageReading.model_validate(answer.content)
    assert reading.url == f"{web}/lamps"
    assert (reading.title, reading.author, reading.date) == ("Lamps of the harbour", "Ann Lee", "2024-03-01")
    assert (reading.language, reading.page_type, reading.chunks) == ("en", "article", None)
    assert reading.confidence is not None
    assert reading.markdown is not None
    assert reading.markdown.startswith("# Lamps of the harbour\n\n")
    assert f"[the oil]({web}/oil)" in reading.markdown
    assert "rights" not in reading.markdown
    assert reading.next_start is None
    assert reading.note is None
    assert reading.tokens == reading.total_tokens > 20
    head, _, text = answer.text.partition("\n\n")
    assert head.startswith(f"{NOTICE}\nTitle: Lamps of the harbour\nAuthor: Ann Lee\nDate: 2024-03-01\n")
    assert text == reading.markdown


def test_without_links(agent: Agent, web: str) -> None:
    assert "See the oil." in agent.call("read_page", url=f"{web}/lamps", links=False).text


def test_a_long_page_comes_in_parts(agent: Agent, web: str) -> None:
    whole = agent.call("read_page", url=f"{web}/long", max_tokens=100_000).content
    assert whole is not None
    parts: list[str] = []
    start: int | None = 0
    while start is not None:
        answer = agent.call("read_page", url=f"{web}/long", max_tokens=1000, start=start)
        assert answer.content is not None
        assert answer.content["tokens"] <= 1000
        parts.append(answer.content["markdown"])
        start = answer.content["next_start"]
        head, _, text = answer.text.partition("\n\n")
        assert (start is None) == (f"Continue with start={start}." not in head)
        assert text == answer.content["markdown"]
    assert len(parts) > 2
    assert "\n\n".join(parts) == whole["markdown"]


def test_chunks(agent: Agent, web: str) -> None:
    answer = agent.call("read_page", url=f"{web}/lamps", chunks=True)
    assert answer.content is not None
    first, second = map(PageChunk.model_validate, answer.content["chunks"])
    assert answer.content["markdown"] is None
    assert (first.number, first.headings) == (0, ["Lamps of the harbour"])
    assert (second.number, second.headings) == (1, ["Lamps of the harbour", "Today"])
    assert second.text == f"Today\n\n{SECOND}"
    assert second.xpaths == ["/html[1]/body[1]/article[1]/h2[1]", "/html[1]/body[1]/article[1]/p[2]"]
    assert f"[chunk 1: Lamps of the harbour > Today]\nToday\n\n{SECOND}" in answer.text


@pytest.mark.parametrize("tool", ["read_page", "clean_html"])
def test_chunks_are_no_larger_than_asked(agent: Agent, web: str, tool: str) -> None:
    page = {"url": f"{web}/lamps"} if tool == "read_page" else {"html": PAGE}
    texts: list[str] = []
    start: int | None = 0
    while start is not None:
        content = agent.call(tool, **page, chunks=True, max_tokens=50, start=start).content
        assert content is not None
        assert content["tokens"] == sum(chunk["tokens"] for chunk in content["chunks"]) <= 50
        texts += [chunk["text"] for chunk in content["chunks"]]
        start = content["next_start"]
    assert " ".join(" ".join(texts).split()) == f"Lamps of the harbour {FIRST} See the oil. Today {SECOND}"


def test_the_dial(agent: Agent, web: str) -> None:
    for page in ({"url": f"{web}/lamps"}, {"html": PAGE}):
        tool = "read_page" if "url" in page else "clean_html"
        assert "rights" in agent.call(tool, **page, dial=1).text
        assert "rights" not in agent.call(tool, **page, dial=0.5).text
        content = agent.call("explain", **page, dial=1).content
        assert content is not None
        assert content["kept"] == content["blocks"] == 6


def test_clean_html(agent: Agent) -> None:
    answer = agent.call("clean_html", html=PAGE, url="https://lamps.example/a/")
    assert answer.content is not None
    assert "[the oil](https://lamps.example/oil)" in answer.content["markdown"]
    assert answer.content["url"] == "https://lamps.example/a/"


@pytest.mark.parametrize(
    ("html", "note"),
    [
        ("<p></p>", "Nothing on this page looks like main content."),
        ("<div id=root></div><script src=/app.js></script>", "This page shows almost no text without its scripts"),
    ],
)
def test_a_page_without_text(agent: Agent, html: str, note: str) -> None:
    answer = agent.call("clean_html", html=html)
    assert answer.content is not None
    assert answer.content["markdown"] == ""
    assert answer.content["note"].startswith(note)
    assert answer.content["note"] in answer.text


def test_explain(agent: Agent, web: str) -> None:
    answer = agent.call("explain", url=f"{web}/lamps")
    assert answer.content is not None
    assert (answer.content["method"], answer.content["blocks"], answer.content["kept"]) == ("main", 6, 4)
    verdicts = answer.content["verdicts"]
    assert [verdict["kept"] for verdict in verdicts] == [False, True, True, True, True, False]
    assert verdicts[1]["label"] == "headline"
    assert verdicts[1]["xpath"] == "/html[1]/body[1]/article[1]/h1[1]"
    assert all(verdict["reason"] for verdict in verdicts)
    assert "main kept 4 of 6 blocks; page type article; confidence " in answer.text
    assert f"; threshold {answer.content['threshold']}\n" in answer.text
    assert "\n5 dropped 0." in answer.text


def test_explain_some_blocks(agent: Agent) -> None:
    dropped = agent.call("explain", html=PAGE, only="dropped", limit=1)
    assert dropped.content is not None
    assert [verdict["block"] for verdict in dropped.content["verdicts"]] == [0]
    assert dropped.content["next_start"] == 5
    assert dropped.text.splitlines()[2] == "To continue, call again with start=5."
    rest = agent.call("explain", html=PAGE, only="dropped", limit=1, start=5)
    assert rest.content is not None
    assert [verdict["block"] for verdict in rest.content["verdicts"]] == [5]
    assert rest.content["next_start"] is None


@pytest.mark.parametrize(("tool", "size"), [("read_page", {"max_tokens": 50}), ("explain", {"limit": 1})])
def test_parts_are_of_the_same_page(agent: Agent, tool: str, size: dict[str, int]) -> None:
    pages = {"/news": ("text/html", PAGE.encode())}
    with serve(pages) as web:
        first = agent.call(tool, url=f"{web}/news", **size)
        assert first.content is not None
        pages["/news"] = ("text/html", b"<p>Another page.")
        rest = agent.call(tool, url=f"{web}/news", start=first.content["next_start"])
        assert SECOND in rest.text
        assert SECOND not in agent.call(tool, url=f"{web}/news").text  # whoever begins anew wants the page of now


def test_what_pages_and_errors_say_is_bounded(agent: Agent) -> None:
    page = f"<title>{'t' * 2000}</title><p>{'x' * 2000}"
    reading = agent.call("clean_html", html=page)
    assert reading.content is not None
    assert reading.content["title"] == "t" * 999 + "…"
    explained = agent.call("explain", html=page)
    assert explained.content is not None
    assert explained.content["verdicts"][0]["text"] == "x" * 159 + "…"
    assert len(agent.refused("read_page", url=f"https://{'e' * 2000}")) == 1000


def test_search(agent: Agent) -> None:
    answer = agent.call("search", query="river nights", limit=1)
    assert answer.content is not None
    assert answer.content["total"] == 2
    (hit,) = answer.content["hits"]
    assert (hit["rank"], hit["id"], hit["url"], hit["title"]) == (1, "1", "https://a.example/", "Eels")
    assert answer.text.startswith(f"{NOTICE}\n2 found, 1 shown\n\n1. Eels\nhttps://a.example/\nEels came up")


def test_every_answer_says_whose_text_it_is(agent: Agent, web: str) -> None:
    """In both forms, since some clients show models only one of them."""
    pages: dict[str, dict[str, Any]] = {
        "read_page": {"url": f"{web}/lamps"},
        "clean_html": {"html": PAGE},
        "explain": {"html": PAGE},
        "search": {"query": "river"},
    }
    assert pages.keys() == agent.tools().keys()
    for tool, arguments in pages.items():
        answer = agent.call(tool, **arguments)
        assert answer.text.startswith(f"{NOTICE}\n")
        assert answer.content is not None
        assert answer.content["notice"] == NOTICE


# What goes wrong


def test_errors_are_words(agent: Agent, web: str) -> None:
    assert agent.refused("read_page", url=f"{web}/nothing").endswith("the server answered 404 Not Found")
    assert agent.refused("read_page", url=f"{web}/lamps", start=9999).startswith("start is 9999, and the page has 2")
    assert "greater than or equal to 50" in agent.refused("read_page", url=f"{web}/lamps", max_tokens=1)
    assert agent.refused("explain") == "there is no page; give url or html"
    assert agent.refused("clean_html", html="%PDF-1.5 " + "x" * 100).startswith("the page is a PDF document")
    assert agent.refused("search", query="(").startswith("the query '(' has no word")


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        (
            "clean_html",
            {"html": "x", "max_token": 10},
            "clean_html has no argument 'max_token'; did you mean 'max_tokens'?",
        ),
        ("search", {"query": "x", "zzz": 1}, "search has no argument 'zzz'; it has: query, limit"),
        ("clean_html", {}, "html is missing"),
        ("clean_html", {"html": "x", "max_tokens": 1}, "max_tokens is 1, but it must be greater than or equal to 50"),
        ("clean_html", {"html": "x", "dial": 2}, "dial is 2, but it must be less than or equal to 1"),
        ("explain", {"html": "x", "only": "both"}, "only is 'both', but it must be 'kept' or 'dropped'"),
        ("read_page", {"url": "x" * 9000}, f"url is '{'x' * 78}…, but it must have at most 8000 characters"),
        ("read_page", {"start": -1}, "url is missing; start is -1, but it must be greater than or equal to 0"),
        (
            "clean_html",
            {"html": [["x"] * 1000]},
            "html is a list or an object, but it must be a valid string",
        ),
        (
            "clean_html",
            {"html": "https://a.example/ "},
            "html is a URL, https://a.example/, not a page; call read_page, which fetches it",
        ),
        (
            "explain",
            {"html": "www.a.example"},
            "html is a URL, www.a.example, not a page; pass it as url to have it fetched",
        ),
    ],
)
def test_wrong_arguments_are_refused_in_words(agent: Agent, tool: str, arguments: dict[str, Any], words: str) -> None:
    assert agent.refused(tool, **arguments) == words


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://[::1]:{port}/"])
def test_loopback_is_not_fetched_from(address: str, url: str) -> None:
    with connected(address) as agent, socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)
        page = url.format(port=listening.getsockname()[1])
        for tool in ("read_page", "explain"):
            words = agent.refused(tool, url=page)
            assert words.startswith(f"{page}: is not fetched: ")
            assert "is a loopback address, and pages are fetched from public addresses only" in words
        with pytest.raises(TimeoutError):
            listening.accept()


def test_over_http(address: str) -> None:
    with connected(address) as agent:
        assert list(agent.tools()) == ["read_page", "clean_html", "explain"]  # there is no index
        answer = agent.call("clean_html", html=PAGE)
        assert answer.content is not None
        assert FIRST in answer.content["markdown"]
        assert answer.content["page_type"] is None  # density does not say
        assert agent.refused("clean_html", html=PAGE, dial=0.5).startswith("method 'density' has no parameter 'dial'")
        assert "more than 1.0 MB" in agent.refused("clean_html", html="x" * (MEGABYTE + 1))
        for url in ("file:///etc/passwd", "ftp://a.example/", "http://a@b.example/"):
            assert agent.refused("read_page", url=url).startswith(f"{url}: is not fetched: ")


def post(address: str, **headers: str) -> int:
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    usual = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    return httpx2.post(address, json=request, headers=usual | headers).status_code


def test_other_sites_are_refused(address: str) -> None:
    assert post(address) == 200
    assert post(address, Host="evil.example") == 421
    assert post(address, Origin="https://evil.example") == 403
    assert post(address, Origin="http://localhost:1") == 403  # a page of another server on this machine
    assert post(address, Origin="null") == 403
    assert post(address, Origin=address.removesuffix("/mcp")) == 200
    assert httpx2.post(address, content=b"x" * (2 * MEGABYTE + 1)).status_code == 413


def test_requests_of_too_many_values_are_refused_before_anybody_reads_them(address: str) -> None:
    arguments: dict[str, list[str]] = {f"a{number}": [] for number in range(30_000)}
    call = {"method": "tools/call", "params": {"name": "clean_html", "arguments": arguments}}
    answer = httpx2.post(address, json={"jsonrpc": "2.0", "id": 1, **call})
    assert (answer.status_code, answer.json()["error"]) == (413, "the request has more than 50,000 values of JSON")


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_token(tmp_path: Path, host: str) -> None:
    settings = Settings(folder=tmp_path, host=host, workers=1, token="sesame-sesame")
    with served(settings) as address:
        assert post(address) == 401
        assert post(address, Authorization="Bearer wrong") == 401
        assert post(address, Authorization="Basic sesame-sesame") == 401
        assert post(address, Authorization="Bearer sesame-sesame", Host="harbour.example") == 200  # behind a proxy
        assert post(address, Authorization="Bearer sesame-sesame", Origin="https://harbour.example") == 200


def test_no_open_door_without_a_token(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can be reached from other machines, and there is no token"):
        make_http_app(AgentTools(Settings(folder=tmp_path, host="0.0.0.0"), "density"), 8765)


PAGE_CALL = '{"jsonrpc": "2.0", "id": %s, "method": "tools/call", "params": {"name": "clean_html", "arguments": %s}}'


@pytest.mark.parametrize(
    ("line", "id_", "code", "words"),
    [
        ("nonsense", None, -32700, "Parse error: expected ident at line 1 column 2"),
        (PAGE_CALL % (7, '{"html": "<p>'), None, -32700, "Parse error: EOF while parsing a string"),
        ("[" * 100_000, None, -32700, "Parse error: recursion limit exceeded"),
        (PAGE_CALL % (7, r'{"html": "\ud800<p>"}'), 7, -32600, r"such as \ud800, and nesting deeper than 200 are not"),
        (PAGE_CALL % ('"seven"', "[" * 300 + "]" * 300), "seven", -32600, "recursion limit exceeded at line 1"),
        (PAGE_CALL % (r'"\ud800"', "{}"), None, -32600, r"such as \ud800"),
        ('{"jsonrpc": "1.0", "id": 8, "method": "ping"}', 8, -32600, "send a JSON-RPC 2.0 message"),
        ('{"jsonrpc": "2.0", "id": {"id": 9}, "method": 5}', None, -32600, "send a JSON-RPC 2.0 message"),
        ('[{"jsonrpc": "2.0", "id": 9, "method": "ping"}]', None, -32600, "send a JSON-RPC 2.0 message"),
        ("5", None, -32600, "send a JSON-RPC 2.0 message"),
    ],
)
def test_a_line_that_is_no_message_is_answered(line: str, id_: int | str | None, code: int, words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        jsonrpc_message_adapter.validate_json(line)
    answer = json.loads(to_refusal(caught.value).model_dump_json())
    assert (answer["id"], answer["error"]["code"]) == (id_, code)
    assert words in answer["error"]["message"]


def test_lines_over_stdio_are_answered_before_and_after_the_first_message() -> None:
    version = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    start = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": version})
    ping = json.dumps({"jsonrpc": "2.0", "id": 3, "method": "ping"})
    surrogate = PAGE_CALL % (2, r'{"html": "\ud800<p>"}')
    with subprocess.Popen(
        [sys.executable, "-m", "mainmatter", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("\n".join(("nonsense", start, surrogate, ping, "")).encode())
        server.stdin.flush()
        codes = {}
        while 3 not in codes:
            answer = json.loads(server.stdout.readline())
            codes[answer["id"]] = answer.get("error", {}).get("code")
        server.stdin.close()
        rest = server.stdout.read()
    assert codes == {None: -32700, 1: None, 2: -32600, 3: None}
    assert (rest, server.returncode) == (b"", 0)


def test_the_command_complains_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*arguments: str) -> Result:
        return CliRunner().invoke(group, ["mcp", *arguments], prog_name="mainmatter")

    assert "Error: unknown method 'nonsense'" in run("-m", "nonsense").stderr
    assert "not an index; make one with: mainmatter index" in run("--index", str(tmp_path)).stderr
    assert "is at least 8 printable" in run("--http", "--token", "short").stderr
    monkeypatch.setattr("mainmatter.cli.mcp.find_spec", lambda _: None)
    assert run().stderr == "Error: this needs mcp, which is not installed; run: pip install 'mainmatter[mcp]'\n"


def test_clients_that_send_nothing_are_cut_off_as_by_the_workbench(monkeypatch: pytest.MonkeyPatch) -> None:
    configs: list[uvicorn.Config] = []

    async def note(self: uvicorn.Server, sockets: list[socket.socket]) -> None:
        assert sockets[0].getsockname()[1]
        configs.append(self.config)

    monkeypatch.setattr(uvicorn.Server, "serve", note)
    result = CliRunner().invoke(group, ["mcp", "--http", "--port", "0", "-m", "density"], prog_name="mainmatter")
    assert result.exit_code == 0
    assert "mainmatter mcp: http://127.0.0.1:" in result.stderr
    assert [config.http for config in configs] == [Connection]


# Parts of pages


def whole(markdown: str = "", chunks: list[PageChunk] | None = None) -> WholePage:
    facts = ("url", "title", "author", "date", "language", "site", "page_type", "confidence")
    return WholePage(dict.fromkeys(facts), markdown, chunks)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("one two", 7),
        ("one\n\ntwo three four", 5),
        ("one\n\n## Head\n\ntwo three", 5),
        ("one two\nthree four five", 8),
        ("one two three four five", 14),
        ("x" * 30, 16),
        ("漢" * 30, 5),
    ],
)
def test_where_markdown_is_cut(text: str, end: int) -> None:
    assert cut(text, 0, 4) == end


def test_parts_in_chunks() -> None:
    facts: dict[str, Any] = {"text": "x" * 400, "headings": ["h" * 200], "xpaths": ["/p" * 50], "tokens": 100}
    page = whole(chunks=[PageChunk(number=n, start=n, end=n + 1, **facts) for n in range(5)])
    assert page.characters == 5 * (1000 + 400 + 200 + 100)
    first = page.part(0, 500)  # headings and XPaths count as well: each chunk takes about 200
    assert ([chunk.number for chunk in first.chunks or ()], first.tokens, first.next_start) == ([0, 1], 200, 2)
    assert first.total_tokens == 500
    assert [chunk.number for chunk in page.part(4, 50).chunks or ()] == [4]  # one at least
    with pytest.raises(InputError, match="start is 5, and the page has 5 chunks"):
        page.part(5, 50)


@pytest.mark.parametrize("around", ["<div>" * 500, f"<{'e' * 2000}>"])
def test_many_short_blocks_with_long_xpaths(around: str) -> None:
    source = PageSource(Page(around + "<p>Short." * 4000))
    page = read_whole(source, "density", links=False, chunks=512)
    for most in (2000, 5000):
        part = page.part(0, most)
        assert part.next_start is not None
        assert most / 2 < len(part.model_dump_json()) / 4 < most + 100
    explained, _ = explain(source, "density", only=None, start=0, limit=50)
    for xpath in (*(part.chunks or [])[0].xpaths, *(verdict.xpath for verdict in explained.verdicts)):
        assert xpath == "" if around.startswith("<e") else 800 < len(xpath) <= 1000  # left out rather than cut


def test_texts_in_one_line() -> None:
    assert shorten("one\n two", 20) == "one two"
    assert shorten("x" * 30, 20) == "x" * 19 + "…"
    assert shorten(" " * 100 + "x", 20) == "…"


def test_pages_are_remembered_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = AgentTools(Settings(folder=tmp_path), "density")
    for number in range(10):
        tools._remember((str(number), True, None, None), whole("x"))
    assert [number for number in range(10) if tools._recall((str(number), True, None, None))] == list(range(2, 10))
    tools._remember(("large", True, None, None), whole("x" * 20_000_001))
    assert tools._recall(("9", True, None, None)) is None
    tools._remember(("fetched",), Page(b"x" * 20_000_000))
    assert tools._recall(("large", True, None, None)) is None
    tools._remember(("large", True, None, None), whole("x" * 20_000_001))
    assert tools._recall(("fetched",)) is None
    assert tools._recall(("large", True, None, None)) is not None
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 601)
    assert tools._recall(("large", True, None, None)) is None
