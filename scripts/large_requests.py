"""What large requests that make no sense cost `mainmatter serve`: for each call that takes JSON, and some forms.

    python scripts/large_requests.py                  requests of 9 MB
    python scripts/large_requests.py --items 15000    the same, cut so that the server does not refuse them by count

Prints for each the status, the seconds until its answer, the longest time that /api/health took meanwhile, and by how
much the memory of the server itself rose. The exit code is 1 if /api/health took more than a second or the memory rose
by more than 100 MB.
"""

from __future__ import annotations

import argparse
import http.client
import re
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

SIZE = 9_000_000  # bytes; the server takes 10 MB
LONGEST_WAIT = 1.0  # seconds until /api/health has answered
MOST_MEMORY = 100.0  # MB above what the server had
_PAUSE = 0.01
_JSON = "application/json"


@dataclass(frozen=True)
class BadRequest:
    """A request that makes no sense.

    Attributes:
        path: the call.
        what: what is wrong with it, for people.
        body: what is sent.
        media_type: what it is said to be.
    """

    path: str
    what: str
    body: bytes
    media_type: str = _JSON


@dataclass(frozen=True)
class Cost:
    """What a request cost.

    Attributes:
        status: of the answer.
        answer: the answer.
        seconds: until the answer was there.
        wait: the longest time that /api/health took meanwhile, in seconds.
        memory: by how much the memory of the server rose, in MB.
    """

    status: int
    answer: bytes
    seconds: float
    wait: float
    memory: float


def bad_requests(size: int, items: int | None = None) -> list[BadRequest]:
    """Requests with wrong values and unknown fields, of about that many bytes and at most so many of them."""

    def fill(start: str, item: str, end: str) -> bytes:
        """Items with different numbers in them, between a start and an end."""
        least = len(item.replace("#", "0000000")) + 1
        count = size // least if items is None else min(items, size // least)
        return (start + ",".join(item.replace("#", str(number)) for number in range(count)) + end).encode()

    unknown = fill("{", '"a#":1', "}")
    options = fill('{"html":"<p>Fog","options":{', '"a#":[]', "}}")
    label = '"r#":{"kept":2,"kind":3}'
    bodies = [
        ("/api/clean", "wrong options", options),
        ("/api/clean", "right options", options.replace(b"[]", b"1")),
        ("/api/clean", "a list as html", fill('{"html":[', "[]", "]}")),
        ("/api/clean", "nested lists", b"[" * size),
        ("/api/clean", "no JSON at the end", unknown[:-1]),
        ("/api/evaluate", "empty pages", fill('{"pages":[', "{}", "]}")),
        ("/api/evaluate", "pages with unknown fields", b'{"pages":[' + unknown + b"]}"),
        ("/api/evaluate", "right pages", fill('{"pages":[', '{"html":"a","gold":"b"}', "]}")),
        ("/api/inspect", "wrong options", options),
        ("/api/inspect", "unknown fields of a corpus", b'{"corpus":' + unknown + b"}"),
        ("/api/inspect/text", "wrong options", options),
        ("/api/inspect/reasons", "wrong blocks", fill('{"html":"a","blocks":[', '"a#"', "]}")),
        ("/api/compare", "wrong methods", fill('{"html":"a","methods":[', "1", "]}")),
        ("/api/annotate/correct", "wrong options", options),
        (
            "/api/annotate/pages/1/labels",
            "wrong labels",
            fill('{"annotator":"Ada","revision":0,"labels":{', label, "}}"),
        ),
        ("/api/annotate/pages/1/labels", "unknown fields of a label", b'{"labels":{"a":' + unknown + b"}}"),
        ("/api/annotate/pages/1/recurring", "wrong keys", fill('{"annotator":"Ada","keys":[', "1", "]}")),
    ]
    paths = "pages/1/undo pages/1/redo pages/1/done pages/1/accept-agreed imports/url imports/folder imports/corpus"
    others = ["teach", "teach/use", "teach/blind", "teach/blind/0123456789abcdef"]
    calls = [f"annotate/{path}" for path in paths.split()] + others
    bodies += [(f"/api/{path}", "unknown fields", unknown) for path in calls]
    form = "multipart/form-data; boundary=b"
    pairs = b"&".join(b"a%d=1" % number for number in range(size // 10))
    part = b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
    file = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n<p>Fog\r\n'
    option = b'--b\r\nContent-Disposition: form-data; name="options"\r\n\r\n' + options[28:900_000] + b'"":[]}\r\n--b--'
    return [
        *(BadRequest(*each) for each in bodies),
        BadRequest("/api/annotate/imports/files", "fields of a form", pairs, "application/x-www-form-urlencoded"),
        BadRequest("/api/annotate/imports/files", "parts of a form", part * (size // len(part)) + b"--b--", form),
        BadRequest("/api/clean", "parts of a form", part * (size // len(part)) + b"--b--", form),
        BadRequest("/api/clean", "wrong options in a form", file + option, form),
        BadRequest("/api/clean", "line ends in a form", b"--b\r\n" + b"\r\n-" * (size // 3), form),
    ]


def measure(port: int, server: int, request: BadRequest) -> Cost:
    """Send a request and ask for /api/health again and again until it is answered."""
    Path(f"/proc/{server}/clear_refs").write_text("5", "ascii")  # the peak is what it has now
    before = _peak(server)
    done = threading.Event()
    waits: list[float] = []

    def watch() -> None:
        while not done.is_set():
            start = time.monotonic()
            _ask(port, "GET", "/api/health")
            waits.append(time.monotonic() - start)
            time.sleep(_PAUSE)

    watching = threading.Thread(target=watch)
    watching.start()
    time.sleep(3 * _PAUSE)
    start = time.monotonic()
    try:
        status, answer = _ask(port, "POST", request.path, request.body, request.media_type)
        seconds = time.monotonic() - start
    finally:
        done.set()
        watching.join()
    return Cost(status, answer, seconds, max(waits), _peak(server) - before)


def _ask(port: int, method: str, path: str, body: bytes | None = None, media_type: str = _JSON) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request(method, path, body, {"Content-Type": media_type})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def _peak(pid: int) -> float:
    """The most memory that a process has had, in MB."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1000


def main() -> None:
    """Start a server, send all of them, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=SIZE, help="of each request, in bytes")
    parser.add_argument("--items", type=int, help="how many wrong values and unknown fields at most")
    parser.add_argument("--only", default="", help="only those whose call or description has this in it")
    arguments = parser.parse_args()
    is_well = True
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "mainmatter", "serve", "--port", "0", "--folder", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                found = re.search(r":(\d+)/", server.stdout.readline())
                assert found is not None
                print("| Call | What is sent | Status | Answered after, s | /api/health, s | Memory, MB |")
                print("| --- | --- | ---: | ---: | ---: | ---: |")
                for request in bad_requests(arguments.size, arguments.items):
                    if arguments.only not in f"{request.path} {request.what}":
                        continue
                    cost = measure(int(found[1]), server.pid, request)
                    figures = f"{cost.status} | {cost.seconds:.1f} | {cost.wait:.2f} | {cost.memory:,.0f}"
                    print(f"| `{request.path}` | {request.what} | {figures} |", flush=True)
                    is_well &= cost.wait <= LONGEST_WAIT and cost.memory <= MOST_MEMORY
            finally:
                server.terminate()
    sys.exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
