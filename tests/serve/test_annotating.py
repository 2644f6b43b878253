"""Annotate over HTTP: imports, labels, independence, merging, export, and what is refused."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2 as httpx
import pytest
from fastapi.testclient import TestClient

from mainmatter.annotation import Label, Store
from mainmatter.corpus.build import build_corpus
from mainmatter.corpus.filters import Filters
from mainmatter.corpus.job import Job
from mainmatter.datasets import load_dataset
from mainmatter.serve.app import make_app
from mainmatter.serve.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ADDRESS = "http://127.0.0.1:8000"
API = "/api/annotate"
SECONDS = 60.0  # that anything may take on a busy machine


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("annotating")


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    chosen = Settings(
        folder=folder,
        workers=2,
        max_bytes=300_000,
        max_upload_bytes=1_000_000,
        max_unpacked_bytes=2_000_000,
        seconds=15,
    )
    with TestClient(make_app(chosen), base_url=ADDRESS) as client:
        yield client


def html(title: str) -> str:
    """A page of five blocks."""
    return (
        f"<title>{title}</title><nav><a href=/>Home</a></nav><h1>{title}</h1><p>The ferry of {title} sails at nine and "
        "takes an hour with the tide.</p><ul><li>Bring a coat.</li></ul><footer><p>Copyright 2019</p></footer>"
    )


def wait(client: TestClient | httpx.Client, answer: Any) -> dict[str, Any]:
    """What came of an import that was just started."""
    assert answer.status_code == 202, answer.text
    job: dict[str, Any] = answer.json()
    end = time.monotonic() + SECONDS
    while job["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.02)
        job = client.get(f"{API}/imports/{job['id']}").json()
    return job


def upload(client: TestClient | httpx.Client, *files: tuple[str, bytes], **fields: str) -> dict[str, Any]:
    parts = [("files", (name, data, "application/octet-stream")) for name, data in files]
    return wait(client, client.post(f"{API}/imports/files", files=parts, data=fields))


def add(client: TestClient | httpx.Client, title: str) -> int:
    """Add a page; gives its number."""
    assert upload(client, (f"{title}.html", html(title).encode()))["added"] == 1
    rows = client.get(f"{API}/pages", params={"annotator": "x"}).json()["pages"]
    return int(next(row["id"] for row in rows if row["name"] == f"{title}.html"))


def show(client: TestClient | httpx.Client, page: int, annotator: str) -> dict[str, Any]:
    answer = client.get(f"{API}/pages/{page}", params={"annotator": annotator})
    assert answer.status_code == 200, answer.text
    view: dict[str, Any] = answer.json()
    return view


def send(client: TestClient | httpx.Client, page: int, what: str, **body: Any) -> dict[str, Any]:
    answer = client.post(f"{API}/pages/{page}/{what}", json=body)
    assert answer.status_code == 200, answer.text
    standing: dict[str, Any] = answer.json()
    return standing


def label_all(client: TestClient | httpx.Client, page: int, annotator: str, kept: str, kinds: str = "ppppp") -> None:
    """Label all blocks and be done: k or d for each, and the first letter of its kind."""
    words = {"p": "paragraph", "h": "heading", "l": "list", "c": "comment"}
    view = show(client, page, annotator)
    labels = {
        block["ref"]: {"kept": verdict == "k", "kind": words[kind]}
        for block, verdict, kind in zip(view["blocks"], kept, kinds, strict=True)
    }
    standing = send(client, page, "labels", annotator=annotator, revision=view["revision"], labels=labels)
    send(client, page, "done", annotator=annotator, revision=standing["revision"], done=True)


def test_files_are_added_once_and_what_is_no_page_is_told(client: TestClient) -> None:
    files = [("../../etc/one.html", html("Import one").encode()), ("photo.png", b"\x89PNG\r\n\x1a\n0")]
    job = upload(client, *files)
    assert (job["state"], job["added"], job["known"], job["rejected"]) == ("done", 1, 0, 1)
    assert job["rejects"] == [{"name": "photo.png", "why": "photo.png: is a PNG picture, not a web page"}]
    again = upload(client, *files)
    assert (again["added"], again["known"], again["rejected"]) == (0, 1, 1)
    names = [row["name"] for row in client.get(f"{API}/pages?annotator=Ada").json()["pages"]]
    assert names.count("one.html") == 1


def test_archives_are_read_and_lists_of_addresses_are_not_fetched(client: TestClient, folder: Path) -> None:
    lines = [json.dumps({"id": f"line-{i}", "html": html(f"Line {i}")}) for i in range(3)]
    job = upload(client, ("pages.jsonl", "\n".join(lines).encode()), ("list.urls", b"http://127.0.0.1:9/\n"))
    assert (job["added"], job["rejected"]) == (4, 0)  # the list is a page like any other
    pages = client.get(f"{API}/pages?annotator=Ada").json()["pages"]
    assert {"line-0", "line-2", "list.urls"} <= {page["name"] for page in pages}
    assert not any(str(folder) in json.dumps(page) for page in pages), "tells where the server keeps its files"
    assert not list(folder.glob(".import-*")), "uploaded files are left behind"


def test_only_the_pages_that_methods_disagree_on_most_are_added(client: TestClient) -> None:
    lines = [json.dumps({"id": f"contested-{i}", "html": html(f"Contested {i}") * (i + 1)}) for i in range(4)]
    job = upload(client, ("contested.jsonl", "\n".join(lines).encode()), most="1")
    assert (job["state"], job["added"]) == ("done", 1), job
    pages = client.get(f"{API}/pages?annotator=Ada").json()["pages"]
    [note] = [page["note"] for page in pages if page["name"].startswith("contested-")]
    assert "methods disagree on" in note


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/x", "http://169.254.169.254/latest", "http://[::1]/", "http://10.0.0.1/"]
)
def test_addresses_of_the_inner_network_are_refused(client: TestClient, url: str) -> None:
    job = wait(client, client.post(f"{API}/imports/url", json={"url": url}))
    assert job["state"] == "failed"
    assert "is not fetched" in job["message"]


def test_what_is_no_address_of_a_page_is_refused(client: TestClient) -> None:
    answer = client.post(f"{API}/imports/url", json={"url": "file:///etc/passwd"})
    assert answer.status_code == 422
    assert "begins with http" in answer.json()["hint"]


def test_the_import_folder_has_no_way_out(client: TestClient, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_text(html("Secret"), "utf-8")
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "linked.html").write_text(html("Linked"), "utf-8")
    inside = folder / "import" / "pages"
    inside.mkdir(parents=True)
    (inside / "inner.html").write_text(html("Inner"), "utf-8")
    (inside / "way-out.html").symlink_to(tmp_path / "secret.html")
    (folder / "import" / "shared").symlink_to(tmp_path / "shared")  # the operator's own word
    entries = client.get(f"{API}/imports/folder").json()["entries"]
    assert [entry["name"] for entry in entries] == ["pages", "shared"]
    for name in ("../annotations.db", "..", ".", "", "/etc/passwd", "pages/inner.html", "pages/../../annotations.db"):
        answer = client.post(f"{API}/imports/folder", json={"name": name})
        assert answer.status_code == 422, name
    assert wait(client, client.post(f"{API}/imports/folder", json={"name": "pages"}))["added"] == 1
    assert wait(client, client.post(f"{API}/imports/folder", json={"name": "shared"}))["added"] == 1
    names = {page["name"] for page in client.get(f"{API}/pages?annotator=Ada").json()["pages"]}
    assert {"pages/inner.html", "shared/linked.html"} <= names
    assert "Secret" not in json.dumps(client.get(f"{API}/pages?annotator=Ada").json())


def test_the_rejects_of_a_corpus_are_read_from_archives_that_the_operator_allowed(
    client: TestClient, folder: Path, tmp_path: Path
) -> None:
    archive = folder / "import" / "crawl.jsonl"
    archive.parent.mkdir(exist_ok=True)
    archive.write_text(json.dumps({"id": "short", "html": html("Rejected once")}) + "\n", "utf-8")
    elsewhere = tmp_path / "elsewhere.jsonl"
    elsewhere.write_text(archive.read_text("utf-8"), "utf-8")
    for name, source in (("corpus", archive), ("foreign", elsewhere)):
        rejects = folder / "import" / name / "rejects"
        rejects.mkdir(parents=True)
        reject = {
            "reason": "length",
            "detail": "too short",
            "source": str(source),
            "position": 0,
            "id": "short",
            "url": None,
        }
        (rejects / "part-00000.jsonl").write_text(json.dumps(reject) + "\n", "utf-8")
    refused = wait(client, client.post(f"{API}/imports/folder", json={"name": "foreign"}))
    assert (refused["state"], refused["added"]) == ("failed", 0)
    assert "not in the import folder" in refused["message"]
    job = wait(client, client.post(f"{API}/imports/folder", json={"name": "corpus"}))
    assert job["added"] == 1, job
    pages = client.get(f"{API}/pages?annotator=Ada").json()["pages"]
    [page] = [page for page in pages if page["name"] == "short"]
    assert (page["note"], page["source"]) == ("rejected: length: too short", "crawl.jsonl#0")


def test_the_rejects_of_a_corpus_that_lies_beside_its_archive(
    client: TestClient, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"id": f"beside {number}", "html": html(f"Beside {number}")} for number in range(2)]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    Path("lost.jsonl").write_text(json.dumps({"id": "lost", "html": html("Lost")}) + "\n", "utf-8")
    wanted = Job(method="density", filters=Filters(min_words=1000))
    build_corpus(["rows.jsonl", str(tmp_path / "lost.jsonl")], "beside", wanted, workers=1)
    into = folder / "import"
    into.mkdir(exist_ok=True)
    shutil.move("beside", into / "beside")
    refused = wait(client, client.post(f"{API}/imports/folder", json={"name": "beside"}))
    assert "lost.jsonl and others, which is not in the import folder" in refused["message"], refused
    shutil.move("rows.jsonl", into / "rows.jsonl")
    job = wait(client, client.post(f"{API}/imports/folder", json={"name": "beside"}))
    assert (job["state"], job["added"], job["rejected"]) == ("done", 2, 1), job
    [lost] = job["rejects"]
    assert lost["name"] == "lost"
    assert lost["why"].startswith("lost.jsonl#0: lost.jsonl itself is not found"), lost  # and no word on other folders


def test_labels_are_stored_undone_and_made_again(client: TestClient) -> None:
    page = add(client, "Undo")
    view = show(client, page, "Ada")
    assert [block["text"] for block in view["blocks"]][1] == "Undo"
    assert client.get(view["frame"]).headers["content-security-policy"].startswith("default-src 'none'")
    ref = view["blocks"][1]["ref"]
    label = {"kept": True, "kind": "heading"}
    first = send(client, page, "labels", annotator="Ada", revision=0, labels={ref: label})
    assert (first["labels"], first["can_undo"], first["can_redo"]) == (None, True, False)
    assert show(client, page, "Ada")["labels"] == {ref: label}
    back = send(client, page, "undo", annotator="Ada", revision=first["revision"])
    assert (back["labels"], back["can_redo"]) == ({}, True)
    again = send(client, page, "redo", annotator="Ada", revision=back["revision"])
    assert again["labels"] == {ref: label}
    gone = send(client, page, "labels", annotator="Ada", revision=again["revision"], labels={ref: None})
    assert gone["revision"] > again["revision"]
    events = client.get(f"{API}/pages/{page}/history?annotator=Ada").json()["events"]
    assert [event["action"] for event in events] == ["set", "undo", "redo", "set"]
    assert events[0]["changes"] == [{"ref": ref, "text": "Undo", "before": None, "after": label}]


def test_a_stale_window_is_told(client: TestClient) -> None:
    page = add(client, "Stale")
    refs = [block["ref"] for block in show(client, page, "Ada")["blocks"]]
    label = {"kept": True, "kind": "paragraph"}
    now = send(client, page, "labels", annotator="Ada", revision=0, labels={refs[0]: label})["revision"]
    for what, more in (("labels", {"labels": {refs[1]: label}}), ("undo", {}), ("done", {"done": True})):
        answer = client.post(f"{API}/pages/{page}/{what}", json={"annotator": "Ada", "revision": 0, **more})
        assert answer.status_code == 409, what
        assert "meanwhile" in answer.json()["error"]
    assert client.get(f"{API}/pages/{page}/labels?annotator=Ada").json()["revision"] == now


def test_errors_are_told_as_what_they_are(client: TestClient) -> None:
    page = add(client, "Errors")
    ref = show(client, page, "Ada")["blocks"][0]["ref"]
    label = {"kept": True, "kind": "paragraph"}

    def status(path: str, body: dict[str, Any]) -> int:
        answer = client.post(f"{API}{path}", json=body)
        assert set(answer.json()) == {"error", "hint"}
        return answer.status_code

    good: dict[str, Any] = {"annotator": "Ada", "revision": 0, "labels": {ref: label}}
    assert status("/pages/999999/labels", good) == 404
    assert client.get(f"{API}/pages/999999?annotator=Ada").status_code == 404
    assert client.get(f"{API}/pages/999999/comparison?by=Ada").status_code == 404
    assert client.get(f"{API}/imports/nothing").status_code == 404
    for number in ("..%2f..%2fetc%2fpasswd", "1;drop", "-1", "0", "99999999999999999999"):
        assert client.get(f"{API}/pages/{number}?annotator=Ada").status_code in (404, 422), number
    wrong: list[dict[str, Any]] = [
        good | {"labels": {ref: {"kept": True, "kind": "advert"}}},
        good | {"labels": {ref: {"kept": "perhaps"}}},
        good | {"labels": {"no-such-block": label}},
        good | {"annotator": ""},
        good | {"annotator": "a\u0000b"},
        good | {"annotator": "x" * 200},
        good | {"annotator": "best"},
        good | {"annotator": "merged"},  # by whom?
        good | {"surprise": 1},
        {"annotator": "Ada"},
    ]
    for body in wrong:
        assert status(f"/pages/{page}/labels", body) == 422, body
    assert status(f"/pages/{page}/accept-agreed", {"annotator": "Ada", "revision": 0}) == 422
    assert status(f"/pages/{page}/labels", good | {"annotator": "Ada", "by": "x" * 400_000}) == 413
    large = client.post(f"{API}/imports/files", files=[("files", ("big.html", b"x" * 1_100_000, "text/html"))])
    assert large.status_code == 413
    job = upload(client, ("large.html", b"<p>" + b"x" * 400_000))  # the upload may be that large, but no page
    assert (job["added"], job["rejected"]) == (0, 1)
    assert client.get(f"{API}/export/pages.parquet?whose=nobody").status_code == 422
    assert client.get(f"{API}/export/..%2fannotations.db").status_code in (404, 422)
    assert show(client, page, "Ada")["labels"] == {}


def test_an_upload_that_unpacks_to_too_much_is_stopped(client: TestClient) -> None:
    rows = [json.dumps({"id": f"bomb-{n}", "html": f"<p>{n}</p>" + " " * 250_000}) for n in range(12)]
    packed = gzip.compress("\n".join(rows).encode())
    assert len(packed) < 20_000
    job = upload(client, ("bomb.jsonl.gz", packed))
    assert (job["state"], job["added"]) == ("failed", 7)
    assert job["message"] == (
        "the upload unpacks to more than 2.0 MB; send less at once, put it into the import folder, or start the server "
        "with a larger --max-unpacked"
    )


def test_an_import_leaves_the_only_worker_to_others(tmp_path: Path) -> None:
    asked, free = threading.Event(), threading.Event()

    class Slow(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.set()
            free.wait(SECONDS)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html("Slow").encode())

        def log_message(self, *_: object) -> None:
            pass

    web = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=web.serve_forever).start()
    chosen = Settings(folder=tmp_path, workers=1, seconds=15, allow_private=True)
    try:
        with TestClient(make_app(chosen), base_url=ADDRESS) as client:
            url = f"http://127.0.0.1:{web.server_port}/"
            started = client.post(f"{API}/imports/url", json={"url": url})
            assert asked.wait(SECONDS)  # the import is at work, and waits
            assert client.post("/api/clean", json={"html": html("Quick")}).status_code == 200
            assert client.get(f"{API}/imports/{started.json()['id']}").json()["state"] == "running"
            free.set()
            assert wait(client, started)["added"] == 1
    finally:
        free.set()
        web.shutdown()
        web.server_close()


def test_annotators_do_not_see_each_other_until_they_are_done(client: TestClient) -> None:
    page = add(client, "Independent")
    label_all(client, page, "Ada", "dkkkd", "phplp")
    refs = [block["ref"] for block in show(client, page, "Bob")["blocks"]]
    drop = {"kept": False, "kind": "paragraph"}
    now = send(client, page, "labels", annotator="Bob", revision=0, labels={refs[1]: drop})["revision"]

    def row(name: str) -> dict[str, Any]:
        rows = client.get(f"{API}/pages", params={"annotator": name}).json()["pages"]
        return next(one for one in rows if one["id"] == page)

    history = client.get(f"{API}/pages/{page}/history?annotator=Bob").json()
    assert ({event["annotator"] for event in history["events"]}, history["hidden"]) == ({"Bob"}, 2)
    assert client.get(f"{API}/pages/{page}/comparison?by=Bob").status_code == 409
    assert (row("Bob")["conflicts"], row("Bob")["status"]) == (None, "labelled")
    seen_by_bob, by_ada = (client.get(f"{API}/agreement?annotator={name}").json() for name in ("Bob", "Ada"))
    assert page not in [one["id"] for one in seen_by_bob["pages"]]
    assert (seen_by_bob["hidden"], by_ada["hidden"]) == (1, 0)
    assert by_ada["unfinished"] - seen_by_bob["unfinished"] == 1
    blocks = [sum(pair["blocks"] for pair in report["pairs"]) for report in (by_ada, seen_by_bob)]
    assert blocks[0] - blocks[1] == 1  # no figure tells Bob of the block that he labelled
    send(client, page, "done", annotator="Bob", revision=now, done=True)
    assert client.get(f"{API}/pages/{page}/history?annotator=Bob").json()["hidden"] == 0
    assert client.get(f"{API}/pages/{page}/comparison?by=Bob").status_code == 200
    assert (row("Bob")["conflicts"], row("Bob")["status"]) == (1, "conflict")
    assert row("Bob")["others"] == [{"annotator": "Ada", "labelled": 5, "done": True}]


def test_a_third_person_merges_and_the_gold_standard_is_read_by_train(client: TestClient, tmp_path: Path) -> None:
    page = add(client, "Merge")
    label_all(client, page, "Ada", "dkkkd", "phplp")
    label_all(client, page, "Bob", "dkkdd", "phppp")
    view = client.get(f"{API}/pages/{page}/comparison?by=Chris").json()
    assert [each["name"] for each in view["annotators"]] == ["Ada", "Bob"]
    [conflict] = view["conflicts"]
    [pair] = view["agreement"]
    assert pair["kept"] == pytest.approx(0.8)
    assert pair["kept_kappa"] == pytest.approx(8 / 13)  # (0.8 - 0.48) / (1 - 0.48)
    assert 0 < pair["text"] < 100
    assert view["labels"]["Ada"][conflict]["kept"]
    assert not view["labels"]["Bob"][conflict]["kept"]
    merger = {"annotator": "merged", "by": "Chris"}
    agreed = send(client, page, "accept-agreed", **merger, revision=0)
    assert len(agreed["labels"]) == 4
    left_out = client.get(f"{API}/export?whose=merged").json()["left_out"]
    assert {"id": page, "name": "Merge.html", "why": "not all of it is merged"} in left_out
    decision = {conflict: {"kept": True, "kind": "list"}}
    now = send(client, page, "labels", **merger, revision=agreed["revision"], labels=decision)["revision"]
    send(client, page, "done", **merger, revision=now, done=True)
    events = client.get(f"{API}/pages/{page}/history?annotator=Ada").json()["events"]
    assert {event["by"] for event in events if event["annotator"] == "merged"} == {"Chris"}
    answer = client.get(f"{API}/export/folder.zip?whose=merged")
    assert answer.headers["content-disposition"] == 'attachment; filename="gold-standard.zip"'
    zipfile.ZipFile(io.BytesIO(answer.content)).extractall(tmp_path)
    (tmp_path / "gold.parquet").write_bytes(client.get(f"{API}/export/pages.parquet?whose=merged").content)
    for name in ("gold-standard", "gold.parquet"):
        [gold] = load_dataset(str(tmp_path / name))
        assert gold.gold.text is not None
        assert gold.gold.text.split("\n")[0].strip() == "Merge"
        assert [label.kept for label in gold.labels or ()] == [False, True, True, True, False]
        assert [label.kind for label in gold.labels or ()][3] == "list"


def test_who_merges_a_moment_too_late_is_told(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = add(client, "Late")
    label_all(client, page, "Ada", "dkkkd", "phplp")
    real = Store.accept_agreed

    def after_another(store: Store, page_id: int, **given: Any) -> int:
        with Store(folder) as other:
            other.set_labels(page_id, "merged", {other.references(page_id)[1]: Label(kept=False)}, by="Dora")
        return real(store, page_id, **given)

    monkeypatch.setattr(Store, "accept_agreed", after_another)
    asked = {"annotator": "merged", "by": "Chris", "revision": 0}
    answer = client.post(f"{API}/pages/{page}/accept-agreed", json=asked)
    assert answer.status_code == 409
    assert f"somebody has merged blocks of page {page} meanwhile" in answer.text
    standing = client.get(f"{API}/pages/{page}/labels?annotator=merged").json()
    assert len(standing["labels"]) == 1  # what Dora said, and nothing that Chris did not see


def test_suggestions_are_one_for_each_block(client: TestClient) -> None:
    page = add(client, "Suggest")
    answer = client.get(f"{API}/pages/{page}/suggestion").json()
    assert answer["method"] == "main"
    assert len(answer["labels"]) == len(show(client, page, "Ada")["blocks"])
    assert answer["labels"][2]["kept"]
    assert show(client, page, "Ada")["labels"] == {}


def test_the_api_is_described(client: TestClient) -> None:
    described = client.get("/api/openapi.json").json()
    posts = described["paths"][f"{API}/pages/{{page_id}}/labels"]["post"]
    assert {"200", "404", "409", "413", "422"} <= set(posts["responses"])
    assert described["components"]["schemas"]["LabelModel"]["properties"]["kind"]["enum"] == [
        "heading",
        "paragraph",
        "list",
        "comment",
    ]


def test_two_annotators_who_save_at_once_lose_nothing(start_server: Callable[[Settings], Any], tmp_path: Path) -> None:
    changes = 30
    problems: list[str] = []

    def work(address: str, page: int, annotator: str) -> None:
        with httpx.Client(base_url=address, timeout=SECONDS) as client:
            refs = [block["ref"] for block in show(client, page, annotator)["blocks"]]
            revision = 0
            for i in range(changes):
                label = {"kept": i % 2 == 0, "kind": "heading" if i % 3 else "list"}
                body = {"annotator": annotator, "revision": revision, "labels": {refs[i % len(refs)]: label}}
                answer = client.post(f"{API}/pages/{page}/labels", json=body)
                if answer.status_code != 200:
                    problems.append(answer.text)
                    return
                revision = answer.json()["revision"]

    settings = Settings(folder=tmp_path, workers=1)
    with start_server(settings) as address, httpx.Client(base_url=address, timeout=SECONDS) as client:
        page = add(client, "At once")
        names = ["Ada", "Bob", "Chris"]
        threads = [threading.Thread(target=work, args=(address, page, name)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == []
        events = client.get(f"{API}/pages/{page}/history?annotator=nobody").json()["events"]
        assert {name: sum(event["by"] == name for event in events) for name in names} == dict.fromkeys(names, changes)
        labels = [client.get(f"{API}/pages/{page}/labels?annotator={name}").json()["labels"] for name in names]
        assert labels[0] == labels[1] == labels[2]
        assert len(labels[0]) == 5
