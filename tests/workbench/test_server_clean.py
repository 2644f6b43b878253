"""/api/clean, /api/methods, /api/health, /api/metrics, and the documents about them."""

from __future__ import annotations

import gzip
import json
import re
import socket
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

import mainmatter
from mainmatter.papers.density.method import Density
from mainmatter.registry import FORMATS, method_names
from mainmatter.workbench.clean import Format, MethodsAnswer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fastapi.testclient import TestClient

    from mainmatter.workbench.settings import Settings

HTML = """<!doctype html><html lang="en"><title>The fog signal</title><body>
<nav><a href="/">Home</a> <a href="/tides">Tides</a> <a href="/shop">Shop</a></nav>
<article><h1>The fog signal</h1>
<p>Ships that come near the rocks in a fog hear the horn before they see the lamp, and the keeper is proud of both.</p>
<p>In the winter of the long ice he wound the clockwork by hand, every four hours, and
<a href="/log">wrote it down</a>.</p>
</article><footer><a href="/imprint">Imprint</a></footer>"""
TEXT = mainmatter.clean(HTML).text


def refused(answer: Any, status: int) -> tuple[str, str]:
    """What an answer says went wrong, and its hint, after what must be true of all such answers."""
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    content = answer.json()
    assert set(content) == {"error", "hint"}
    assert content["error"]
    assert "\n" not in content["error"]
    assert "Traceback" not in answer.text
    return content["error"], content["hint"]


def test_a_page_as_json(client: TestClient) -> None:
    answer = client.post("/api/clean", json={"html": HTML, "url": "https://lamp.example/fog"})
    assert answer.status_code == 200
    content = answer.json()
    assert content["content"] == TEXT
    assert content["method"] == "main"
    assert content["version"] == mainmatter.__version__
    assert content["format"] == "text"
    assert content["title"] == content["metadata"]["title"] == "The fog signal"
    assert content["url"] == "https://lamp.example/fog"
    assert content["page_type"]
    assert 0 <= content["confidence"] <= 1
    assert content["seconds"] > 0
    assert "blocks" not in content


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format(name: str, client: TestClient) -> None:
    content = client.post("/api/clean", json={"html": HTML, "format": name}).json()["content"]
    expected = mainmatter.clean(HTML).render(name)
    assert content == (json.loads(expected) if name == "json" else expected)


@pytest.mark.parametrize("name", method_names())
def test_every_method(name: str, client: TestClient) -> None:
    answer = client.post("/api/clean", json={"html": HTML, "method": name})
    assert answer.status_code == 200
    assert answer.json()["method"] == name
    assert answer.json()["content"] == mainmatter.clean(HTML, method=name).text


def test_options_and_blocks(client: TestClient) -> None:
    asked = {"html": HTML, "options": {"dial": 1.0, "headings": False}, "blocks": True}
    content = client.post("/api/clean", json=asked).json()
    extraction = mainmatter.clean(HTML, dial=1.0, headings=False)
    assert content["content"] == extraction.text
    assert [block["kept"] for block in content["blocks"]] == extraction.kept.tolist()
    assert all(block["reason"] for block in content["blocks"])
    listed = client.post("/api/clean", json={"html": HTML, "method": "density:c1=0.9,c2=2"}).json()["content"]
    assert listed == mainmatter.clean(HTML, method=Density(c1=0.9, c2=2)).text


def test_a_dump(client: TestClient) -> None:
    dump = "[Home] [Tides]\n\nA long line of a plain-text dump, which is the main matter of the page.\n\n[Imprint]"
    for answer in (
        client.post("/api/clean", json={"text": dump, "raw": True}),
        client.post("/api/clean?raw", content=dump, headers={"Content-Type": "text/plain"}),
        client.post("/api/clean", files={"file": ("a.txt", dump)}, data={"raw": "true"}),
    ):
        assert answer.text == mainmatter.clean(mainmatter.Page(dump, format="text")).text


def test_a_file_and_a_bare_page(client: TestClient) -> None:
    data = HTML.replace("keeper", "käeper").encode("latin-1")
    form = {"method": "density", "options": '{"c2": 3}', "format": "markdown", "links": "false"}
    form |= {"headings": "setext", "front_matter": "true", "tables": "false"}
    content = client.post("/api/clean", files={"file": ("a.html", data, "text/html")}, data=form).json()
    assert content["content"] == mainmatter.clean(data, method="density:c2=3").to_markdown(
        links=False, headings="setext", front_matter=True, tables=False
    )
    answer = client.post(
        "/api/clean?format=markdown&images=1&url=https://a.example/",
        content=HTML.replace("keeper", "kęeper").encode("iso-8859-2"),
        headers={"Content-Type": "text/html; charset=ISO-8859-2"},
    )
    assert "kęeper" in answer.json()["content"]
    assert "https://a.example/log" in answer.json()["content"]


@pytest.mark.parametrize(
    ("accept", "media_type", "format_"),
    [
        ("text/plain", "text/plain; charset=utf-8", "text"),
        ("text/*", "text/plain; charset=utf-8", "text"),
        ("text/markdown;q=0.9, application/json;q=0.5", "text/markdown; charset=utf-8", "markdown"),
        ("text/html", "text/html; charset=utf-8", "html"),
        ("application/tei+xml", "application/tei+xml", "tei"),
    ],
)
def test_the_content_alone(accept: str, media_type: str, format_: str, client: TestClient) -> None:
    answer = client.post("/api/clean", json={"html": HTML}, headers={"Accept": accept})
    assert answer.headers["content-type"] == media_type
    assert answer.headers["vary"] == "Accept"
    assert answer.text == mainmatter.clean(HTML).render(format_)
    if format_ in ("html", "tei"):
        assert "sandbox" in answer.headers["content-security-policy"]
        assert answer.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize(
    "accept", ["*/*", "application/json", "", "image/png, */*;q=0.1", "application/json, text/plain"]
)
def test_what_asks_for_the_whole_answer(accept: str, client: TestClient) -> None:
    answer = client.post("/api/clean", json={"html": HTML}, headers={"Accept": accept})
    assert answer.json()["content"] == TEXT


def test_what_cannot_be_given(client: TestClient) -> None:
    for accept in ("image/png", "text/plain;q=0", "text/plain;q=x"):
        error, _ = refused(client.post("/api/clean", json={"html": HTML}, headers={"Accept": accept}), 406)
        assert error.startswith(f"{accept!r} is not available")


def test_markup_of_a_page_is_never_part_of_our_site(client: TestClient) -> None:
    page = "<h1>x</h1><p onclick=alert(1)>Some <script>alert(1)</script> words of a text, and a few more of them.</p>"
    answer = client.post("/api/clean?raw&format=html", content=page, headers={"Content-Type": "text/html"})
    assert "alert" not in answer.text
    assert answer.headers["content-security-policy"].startswith("sandbox;")
    assert client.post("/api/clean", json={"html": page}).headers["content-type"] == "application/json"


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"json": {}}, "there is no page", "send html, text or url"),
    ({"json": []}, "the request is JSON, but not an object", "/api describes"),
    ({"json": {"html": "x", "foo": 1, "bar": 2}}, "there is no field foo; there is no field bar", "/api describes"),
    ({"json": {"html": "x", "text": "y"}}, "send html or text, not both", "/api describes"),
    ({"json": {"html": 1}}, "html: Input should be a valid string", "/api describes"),
    ({"json": {"html": "x", "format": "pdf"}}, "format: Input should be 'cleaneval', 'html', 'json'", "/api describes"),
    ({"json": {"html": "x", "method": "densty"}}, "unknown method 'densty'", "did you mean 'density'?"),
    ({"json": {"html": "x", "method": "models/x"}}, "unknown model 'models/x'", "known: none yet"),
    ({"json": {"html": "x", "options": {"foo": 1}}}, "method 'main' has no parameter 'foo'", "it has: dial"),
    ({"json": {"html": "x", "options": {"dial": 2}}}, "method 'main': dial must be from 0", ""),
    ({"json": {"html": "x", "options": {"dial": "a"}}}, "method 'main': dial", ""),
    ({"json": {"html": "x", "options": {"comments": "eat"}}}, "method 'main': comments must be drop, keep or mark", ""),
    ({"json": {"html": "x", "options": {"dial": [1]}}}, "options.dial.bool: ", ""),
    ({"json": {"html": "x", "options": {"dial": 10**400}}}, "", ""),
    ({"json": {"html": "x", "method": "ncleaner:n=5"}}, "the shipped model ncleaner: trained with n=3", "train one"),
    ({"data": {"method": "main"}, "files": {"other": b"x"}}, "file: send a file here", ""),
    ({"files": {"file": b"x"}, "data": {"html": "y"}}, "html and text are for JSON requests", ""),
    ({"content": b"x", "headers": {"Content-Type": "multipart/form-data"}}, "the form cannot be read: ", ""),
    ({"content": b"x", "headers": {"Content-Type": "multipart/form-data; boundary=a"}}, "", ""),
    ({"content": b"%PDF-1.7", "headers": {"Content-Type": "text/html"}}, "this is a PDF document, not a web page", ""),
    ({"files": {"file": b"\x89PNG\r\n\x1a\n"}}, "this is a PNG picture, not a web page", ""),
    ({"files": {"file": b'{"html": "<p>x"}'}}, "this is JSON data, not a web page", "for collections of pages, use"),
    ({"files": {"file": gzip.compress(b"WARC/1.0")}}, "this is a WARC archive, not a web page", "for collections of"),
    ({"files": {"file": gzip.compress(b"<p>x")[:-9]}}, "this is a gzip archive that cannot be unpacked", ""),
]  # fmt: skip


BROKEN_JSON: list[tuple[dict[str, Any], str]] = [
    *[
        ({"content": content, "headers": {"Content-Type": "application/json"}}, "the request is not valid JSON: ")
        for content in (b'{"html": "x"', b'{"html": NaN}', b"[" * 40_000, b"\xff", b'"\\ud800"')
    ],
    ({"files": {"file": b"x"}, "data": {"options": "{"}}, "options is not valid JSON: "),
]


@pytest.mark.parametrize(("request_", "error"), BROKEN_JSON)
def test_broken_json(request_: dict[str, Any], error: str, client: TestClient) -> None:
    assert refused(client.post("/api/clean", **request_), 400)[0].startswith(error)


@pytest.mark.parametrize("path", ["inspect", "inspect/text", "evaluate", "annotate/imports/url", "teach/use"])
@pytest.mark.parametrize("content", [b"{", b'{"url": NaN}', b'{"url": "\\ud800"}', b"1" * 5000, b'{"a":' * 2000])
def test_broken_json_is_told_alike_everywhere(content: bytes, path: str, client: TestClient) -> None:
    answer = client.post(f"/api/{path}", content=content, headers={"Content-Type": "application/json"})
    assert refused(answer, 400)[0].startswith("the request is not valid JSON: ")


@pytest.mark.parametrize(("request_", "error", "hint"), WRONG)
def test_wrong_requests(request_: dict[str, Any], error: str, hint: str, client: TestClient) -> None:
    said, advice = refused(client.post("/api/clean", **request_), 422)
    assert said.startswith(error)
    assert advice.startswith(hint)
    assert str(mainmatter.__file__).removesuffix("__init__.py") not in said


@pytest.mark.parametrize("path", ["clean", "inspect", "compare"])
@pytest.mark.parametrize("url", ["http://[bad", "https://a:b:c/", "//[x"])
def test_a_malformed_address_does_no_harm(url: str, path: str, client: TestClient) -> None:
    asked = {"html": "<base href=''><h1>Fog</h1><p>Read <a href=more>more</a> of it.", "url": url}
    more = {"methods": ["density"]} if path == "compare" else {"method": "density"}
    assert client.post(f"/api/{path}", json=asked | more).status_code == 200


def test_packed_page(client: TestClient) -> None:
    answer = client.post(
        "/api/clean", files={"file": ("a.html.gz", gzip.compress(b"<h1>x</h1><p>" + b"Some words. " * 9))}
    )
    assert "Some words." in answer.json()["content"]
    assert answer.json()["encoding"] == "utf-8"


def test_wrong_query_parameters(client: TestClient) -> None:
    post: Callable[[str], Any] = lambda query: client.post(  # noqa: E731
        f"/api/clean?{query}", content="<p>x", headers={"Content-Type": "text/html"}
    )
    assert refused(post("nonsense=1"), 422)[0] == "there is no field nonsense"
    assert refused(post("blocks=perhaps"), 422)[0].startswith("blocks: Input should be a valid boolean")
    assert refused(post("options=1"), 422)[0].startswith("options: Input should be a valid dict")


@pytest.mark.parametrize(
    "media_type", ["", "application/pdf", "nonsense", "text/html2", "é", ";;", "text/html, text/html"]
)
def test_requests_of_other_types(media_type: str, client: TestClient) -> None:
    headers = {b"Content-Type": media_type.encode()} if media_type else {}
    error, _ = refused(client.post("/api/clean", content=b"x", headers=headers), 415)
    assert "application/json, multipart/form-data, text/html" in error


def test_what_is_not_there(client: TestClient) -> None:
    assert refused(client.get("/nothing"), 404)[0] == "there is nothing here"
    answer = client.get("/api/clean")
    assert refused(answer, 405)[0] == "GET is not allowed at this address"
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://2130706433:{port}/", "http://[::1]:{port}/"]
)
def test_private_addresses_are_not_fetched(url: str, client: TestClient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)
        address = url.format(port=listening.getsockname()[1])
        error, _ = refused(client.post("/api/clean", json={"url": address}), 422)
        assert error.startswith(f"{address}: is not fetched: ")
        assert error.endswith("is a loopback address, and pages are fetched from public addresses only")
        with pytest.raises(TimeoutError):
            listening.accept()


@pytest.mark.parametrize("url", ["ftp://a.example/", "file:///etc/passwd", "nonsense", "http://a@b.example/"])
def test_other_addresses_are_not_fetched(url: str, client: TestClient) -> None:
    assert refused(client.post("/api/clean", json={"url": url}), 422)[0].startswith(f"{url}: is not fetched: ")


def test_a_server_that_does_not_answer(client: TestClient) -> None:
    error, hint = refused(client.post("/api/clean", json={"url": "http://no-such-host.invalid/"}), 502)
    assert error.startswith("http://no-such-host.invalid/: could not be fetched: ")
    assert hint.startswith("check the address")


def test_pages_that_are_too_large(client: TestClient, settings: Settings) -> None:
    page = "x" * (settings.max_bytes + 1)
    error, _ = refused(client.post("/api/clean", files={"file": page}), 413)  # an upload may be larger than a page
    assert error == "the page has more than 1.0 MB"
    error, hint = refused(client.post("/api/clean", json={"html": page}), 413)
    assert error == "the request has more than 1.0 MB"
    assert "--max-size" in hint


def test_the_list_of_methods(client: TestClient, settings: Settings) -> None:
    content = client.get("/api/methods").json()
    assert MethodsAnswer.model_validate(content).model_dump() == content
    assert [each["name"] for each in content["methods"]] == method_names()
    assert content["default"] == "main"
    assert {each["name"] for each in content["formats"]} == set(FORMATS)
    by_name = {each["name"]: each for each in content["methods"]}
    assert by_name["main"]["trainable"]
    assert not by_name["density"]["trainable"]
    assert [name for name, each in by_name.items() if each["needs_model"]] == ["template"]  # pages do not offer it
    assert by_name["density"]["parameters"][0] == {
        "name": "c1", "type": "float", "default": 0.333, "choices": [], "settable": True,
    }  # fmt: skip
    parameters = {each["name"]: each for each in by_name["main"]["parameters"]}
    assert parameters["comments"]["choices"] == ["drop", "keep", "mark"]
    assert {name for name, each in parameters.items() if not each["settable"]} == {"site_templates", "start"}


def test_models_of_the_workbench(client: TestClient, settings: Settings, tmp_path: Path) -> None:
    models = settings.folder / "models"
    method: Any = mainmatter.get_method("ice-tree")
    method.save(models / "mine", {"note": "a test"})
    (models / "broken").mkdir()
    (models / "broken" / "model.json").write_text("{", "utf-8")
    listed = {each["name"]: each for each in client.get("/api/methods").json()["models"]}
    assert listed["models/mine"] == {
        "name": "models/mine", "method": "ice-tree", "problem": None, "card": {"note": "a test"},
    }  # fmt: skip
    assert listed["models/broken"]["problem"].startswith("models/broken/")
    content = client.post("/api/clean", json={"html": HTML, "method": "models/mine"}).json()
    assert content["method"] == "models/mine"
    assert content["content"] == mainmatter.clean(HTML, method="ice-tree").text
    error, _ = refused(client.post("/api/clean", json={"html": HTML, "method": "models/broken"}), 422)
    assert error.startswith("models/broken/")
    assert str(settings.folder) not in error


def test_health_and_metrics(client: TestClient) -> None:
    assert client.get("/api/health").json() == {"alive": True, "ready": True, "version": mainmatter.__version__}
    client.post("/api/clean", json={"html": HTML})
    client.get("/nothing/of/the/kind")
    answer = client.get("/api/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    for line in answer.text.splitlines():
        assert re.fullmatch(r'# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]*",?)+\})? [0-9.e+]+', line), line
    figures = dict(line.rsplit(" ", 1) for line in answer.text.splitlines() if line[0] != "#")
    assert float(figures['mainmatter_requests_total{method="POST",route="/api/clean",status="200"}']) >= 1
    assert float(figures['mainmatter_requests_total{method="GET",route="none",status="404"}']) >= 1
    assert float(figures['mainmatter_request_seconds_bucket{le="+Inf",route="/api/clean"}']) >= 1
    assert float(figures["mainmatter_workers"]) == 2
    assert float(figures['mainmatter_memory_bytes{of="workers"}']) > 1e7
    assert "of/the/kind" not in answer.text


def test_openapi(client: TestClient) -> None:
    described = client.get("/api/openapi.json").json()
    clean = described["paths"]["/api/clean"]["post"]
    assert set(clean["requestBody"]["content"]) == {
        "application/json", "multipart/form-data", "text/html", "text/plain",
    }  # fmt: skip
    assert {"200", "413", "415", "422", "429", "502", "504"} <= set(clean["responses"])
    for status in ("413", "422", "429", "504"):
        schema = clean["responses"][status]["content"]["application/json"]["schema"]
        assert schema == {"$ref": "#/components/schemas/ErrorAnswer"}
    for path in ("/api/clean", "/api/methods", "/api/evaluate", "/api/health", "/api/metrics"):
        for operation in described["paths"][path].values():
            assert operation["summary"]
            assert operation["description"]
    examples = clean["requestBody"]["content"]["application/json"]["examples"].values()
    for example in (each["value"] for each in examples if "html" in each["value"]):
        assert client.post("/api/clean", json=example).status_code == 200
    for path in ("/docs", "/redoc", "/api/docs"):
        assert client.get(path).status_code == 404
    assert Format.__args__ == tuple(sorted(FORMATS))  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["name", "method", "limits", "html", "url", "parameters"])
@pytest.mark.parametrize("path", ["/api/clean", "/api/inspect"])
def test_options_with_names_of_our_own_are_refused(path: str, name: str, client: TestClient) -> None:
    answer = client.post(path, json={"html": "<p>words", "method": "density", "options": {name: "x"}})
    assert answer.status_code == 422
    assert name in answer.json()["error"]
