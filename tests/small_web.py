"""A small web server with ranges, for tests."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping


@contextmanager
def serve(
    files: dict[str, tuple[str, bytes]],
    host: str = "127.0.0.1",
    redirects: Mapping[str, str] = MappingProxyType({}),
    drips: Collection[str] = (),
) -> Iterator[str]:
    """Serve files, each a media type and its bytes, by their paths; the server's address.

    Args:
        files: by their paths.
        host: where to listen.
        redirects: paths that lead elsewhere.
        drips: paths whose headers never end.
    """
    is_over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(False)

        def do_GET(self) -> None:
            self._answer(True)

        def _answer(self, with_body: bool) -> None:
            if self.path in redirects:
                self.send_response(302)
                self.send_header("Location", redirects[self.path])
                self.end_headers()
                return
            if self.path in drips:
                with suppress(OSError):
                    self.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
                    while not is_over.wait(0.05):
                        self.wfile.write(b"x")
                return
            if self.path not in files:
                self.send_error(404)
                return
            media_type, data = files[self.path]
            wanted = self.headers.get("Range")
            part = data
            if wanted:
                first, _, last = wanted.removeprefix("bytes=").partition("-")
                start, end = int(first), min(int(last or len(data) - 1), len(data) - 1)
                part = data[start : end + 1]
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{end}/{len(data)}")
            else:
                self.send_response(200)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(part)))
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("ETag", f'"{len(data)}"')
            self.end_headers()
            if with_body:
                self.wfile.write(part)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer((host, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}"
    finally:
        is_over.set()
        server.shutdown()
        thread.join()
        server.server_close()
