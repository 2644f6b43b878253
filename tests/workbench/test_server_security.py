"""Who may ask, from where; and what no answer goes without."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from mainmatter.errors import InputError
from mainmatter.workbench.app import make_app
from mainmatter.workbench.settings import Settings, is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fastapi.testclient import TestClient

    MakeClient = Callable[..., TestClient]

TOKEN = "a-token-of-a-test"
PAGE = {"html": "<p>Some words of a text."}


@pytest.mark.parametrize("path", ["/api/health", "/api/openapi.json", "/static/style.css", "/nothing", "/api/clean"])
def test_headers_of_every_answer(path: str, client: TestClient) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "server" not in headers


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8000", "localhost:1", "LocalHost", "[::1]:8000", "127.0.0.9"])
def test_names_of_a_local_server(host: str, make_client: MakeClient) -> None:
    assert make_client().get("/api/openapi.json", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "10.0.0.1", "", "a@127.0.0.1", "127.0.0.1:x", "evil.example:8000"],
)
def test_other_names_are_refused(host: str, make_client: MakeClient) -> None:
    answer = make_client().get("/api/openapi.json", headers={"Host": host})
    assert answer.status_code == 421
    assert answer.json()["error"] == f"this server is not called {host!r}"
    assert "default-src 'self'" in answer.headers["content-security-policy"]


def test_names_of_a_public_server(make_client: MakeClient) -> None:
    client = make_client(host="0.0.0.0", token=TOKEN, names=("Bench.example",))
    authorized = {"Authorization": f"Bearer {TOKEN}"}
    for host, status in {"10.0.0.1:8000": 200, "bench.example": 200, "[fd00::1]": 200, "evil.example": 421}.items():
        assert client.get("/api/openapi.json", headers={"Host": host, **authorized}).status_code == status


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:8001"},
        {"Origin": ""},
        {"Origin": "http://["},
        {"Origin": "http://127.0.0.1:8000/path"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:8000"},
    ],
)
def test_requests_from_pages_of_other_sites_are_refused(headers: dict[str, str], make_client: MakeClient) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        answer = make_client().request(method, "/api/clean", json=PAGE, headers=headers)
        assert answer.status_code == 403
        assert answer.json()["error"] == "requests from pages of other sites are refused"


@pytest.mark.parametrize(
    "headers", [{}, {"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}]
)
def test_requests_of_our_own_pages_and_of_programs(headers: dict[str, str], client: TestClient) -> None:
    assert client.post("/api/clean", json=PAGE, headers=headers).status_code == 200


def test_no_answer_can_be_read_by_other_sites(client: TestClient) -> None:
    answer = client.options(
        "/api/clean", headers={"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    )
    assert answer.status_code == 405
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_the_token_is_needed_everywhere_but_for_health(make_client: MakeClient) -> None:
    client = make_client(token=TOKEN)
    for path in ("/", "/api", "/api/methods", "/api/openapi.json", "/api/metrics", "/static/style.css", "/frame/x"):
        answer = client.get(path)
        assert answer.status_code == 401
        assert answer.json()["error"] == "this server needs its token"
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert client.post("/api/clean", json=PAGE).status_code == 401
    assert client.get("/api/health").status_code == 503  # its workers are not started here


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer té".encode().decode("latin-1")},
        {"Cookie": "mainmatter_token=wrong"},
        {"Cookie": "mainmatter_token"},
        {"Cookie": f"other={TOKEN}"},
    ],
)
def test_wrong_tokens(headers: dict[str, str], make_client: MakeClient) -> None:
    encoded = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
    assert make_client(token=TOKEN).get("/api/openapi.json", headers=encoded).status_code == 401


def test_the_token_as_a_header(make_client: MakeClient) -> None:
    client = make_client(token=TOKEN)
    for scheme in ("Bearer", "bearer"):
        assert client.get("/api/openapi.json", headers={"Authorization": f"{scheme} {TOKEN}"}).status_code == 200


def test_the_token_in_an_address_becomes_a_cookie(make_client: MakeClient) -> None:
    client = make_client(token=TOKEN)
    answer = client.get(f"/?a=1&token={TOKEN}&b=%26", follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?a=1&b=%26"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert client.get("/api/openapi.json").status_code == 200  # the client keeps cookies
    assert make_client(token=TOKEN).get("/?token=wrong").status_code == 401
    assert make_client(token=TOKEN).get(f"/api/methods?token={TOKEN}").status_code == 401


def test_the_redirect_goes_nowhere_else(make_client: MakeClient) -> None:
    client = make_client(token=TOKEN)
    answer = client.get(f"http://127.0.0.1:8000//evil.example/?token={TOKEN}", follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/evil.example/"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "bench.example"])
def test_no_server_for_others_without_a_token(host: str) -> None:
    with pytest.raises(InputError, match="can be reached from other machines"):
        make_app(Settings(host=host))
    assert make_app(Settings(host=host, token=TOKEN))


def test_what_is_loopback() -> None:
    assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]")))
    assert not any(map(is_loopback, ("0.0.0.0", "", "::", "10.0.0.1", "localhost.example", "127.0.0.1.example")))


def test_the_token_is_in_no_repr() -> None:
    assert TOKEN not in repr(Settings(token=TOKEN))


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static/%2e%2e%2fapp.py",
        "/static/..\\app.py",
        "/static//etc/passwd", "/static/%2fetc%2fpasswd", "/static/", "/static", "/static/style.css%00.js",
        "/../../etc/passwd",
        "/frame/..%2f..%2fetc%2fpasswd", "/api/../static/../app.py",
    ],
)  # fmt: skip
def test_no_path_leads_out(path: str, client: TestClient) -> None:
    answer = client.get(path, follow_redirects=False)
    assert answer.status_code in (404, 405)
    assert "import" not in answer.text
    assert "root:" not in answer.text


@pytest.mark.parametrize(
    "method",
    [
        "/etc", "models/..", "models/../x", "models/", "models", "models/.hidden", "models//etc/passwd",
        "models/%2e%2e",
        ".", "..", "./x", "{folder}", "{model}", "file:///etc", "models/a\0b", "models/trained/../trained",
    ],
)  # fmt: skip
def test_a_method_is_never_a_path(method: str, client: TestClient, settings: Settings, tmp_path: Path) -> None:
    outside = tmp_path / "model"
    outside.mkdir()
    (outside / "model.json").write_text("{}", "utf-8")
    name = method.format(folder=settings.folder, model=outside)
    for answer in (
        client.post("/api/clean", json={**PAGE, "method": name}),
        client.post("/api/evaluate", json={"pages": [{**PAGE, "gold": "x"}], "methods": [name]}),
    ):
        assert answer.status_code == 422
        assert answer.json()["error"].startswith("unknown m")


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("main", {"site_templates": "/etc"}),
        ("main", {"start": "x"}),
        ("main:site_templates=/etc", {}),
        ("main:start=x", {}),
        ("ice-regex", {"checkpoint": "/tmp/x"}),
        ("main", {"start": ""}),
    ],
)
def test_parameters_that_are_paths_cannot_be_set(method: str, options: dict[str, str], client: TestClient) -> None:
    answer = client.post("/api/clean", json={**PAGE, "method": method, "options": options})
    assert answer.status_code == 422
    assert "cannot be set over the web" in answer.json()["error"]


def test_errors_of_the_server_itself_have_our_form_and_headers(client: TestClient) -> None:
    answer = client.get("/fail")
    assert answer.status_code == 500
    assert re.fullmatch(r"this failed unexpectedly \(reference \w{8}\)", answer.json()["error"])
    assert "ZeroDivision" not in answer.text
    assert "default-src 'self'" in answer.headers["content-security-policy"]
