"""Whatever is sent to /api/clean, the answer is one that the documentation names; never 500."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mainmatter.registry import FORMATS, method_names

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

EXPLORE = int(os.environ.get("EXPLORE", "0"))
ORDINARY = settings(
    max_examples=EXPLORE or 40,
    deadline=None,
    derandomize=not EXPLORE,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
EXPECTED = {200, 400, 406, 413, 415, 422}

pieces = st.sampled_from(
    [
        "<p>",
        "</p>",
        "<div>",
        "<table><tr><td>",
        "<!--",
        "<script>",
        "<a href=x>",
        "&amp;",
        "&#0;",
        "<title>",
        "\0",
        "words ",
    ]
)
html = st.one_of(st.text(max_size=50), st.lists(pieces, max_size=20).map("".join))
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10))
names = st.sampled_from(
    [
        "dial",
        "comments",
        "headings",
        "c1",
        "c2",
        "n",
        "q",
        "threshold",
        "features",
        "kernel",
        "smoothing",
        "seed",
        "without",
    ]
)
options = st.dictionaries(st.one_of(names, st.text(max_size=5)), scalars, max_size=3)
methods = st.one_of(
    st.sampled_from(method_names()),
    st.text(max_size=20),
    st.tuples(st.sampled_from(method_names()), names, st.text(max_size=5)).map("{0[0]}:{0[1]}={0[2]}".format),
)
fields: dict[str, st.SearchStrategy[Any]] = {
    "html": html,
    "text": html,
    "url": st.one_of(st.text(max_size=20), st.text(max_size=10).map("http://127.0.0.1:1/{}".format)),
    "method": methods,
    "format": st.sampled_from([*FORMATS, "x"]),
    "options": options,
    "blocks": st.booleans(),
    "raw": st.booleans(),
    "links": scalars,
    "images": scalars,
}
sound = st.fixed_dictionaries(
    {"html": html, "method": methods}, optional={"options": options, "format": fields["format"]}
)
requests = st.one_of(sound, st.fixed_dictionaries({}, optional=fields), st.dictionaries(st.text(max_size=5), scalars))


def check(answer: Any) -> None:
    assert answer.status_code in EXPECTED, (answer.status_code, answer.text)
    if answer.status_code != 200:
        assert set(answer.json()) == {"error", "hint"}


@ORDINARY
@given(request=requests)
def test_json(request: dict[str, Any], client: TestClient) -> None:
    check(client.post("/api/clean", content=json.dumps(request), headers={"Content-Type": "application/json"}))


@ORDINARY
@given(
    body=st.binary(max_size=100),
    kind=st.sampled_from(["application/json", "text/html; charset=x", "multipart/form-data; boundary=a"]),
)
def test_any_bytes(body: bytes, kind: str, client: TestClient) -> None:
    check(client.post("/api/clean", content=body, headers={"Content-Type": kind}))


@ORDINARY
@given(
    query=st.dictionaries(
        st.one_of(st.sampled_from(sorted(fields)), st.text(max_size=5)), st.text(max_size=10), max_size=4
    ),
    accept=st.one_of(
        st.sampled_from(["text/plain", "*/*", "text/html;q=0.1"]),
        st.text(st.characters(max_codepoint=255), max_size=20),
    ),
    kind=st.one_of(st.just("text/html"), st.text(st.characters(max_codepoint=255), max_size=20)),
)
def test_any_query_and_headers(query: dict[str, str], accept: str, kind: str, client: TestClient) -> None:
    headers = {b"Accept": accept.encode("latin-1"), b"Content-Type": kind.encode("latin-1")}
    check(client.post("/api/clean", params=query, content=b"<p>words", headers=headers))


@ORDINARY
@given(
    form=st.dictionaries(
        st.one_of(st.sampled_from(sorted(fields)), st.text(max_size=5)), st.text(max_size=10), max_size=4
    ),
    data=st.binary(max_size=50),
)
def test_any_form(form: dict[str, str], data: bytes, client: TestClient) -> None:
    check(client.post("/api/clean", data=form, files={"file": data}))
