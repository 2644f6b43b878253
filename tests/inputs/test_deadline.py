"""One deadline holds for the whole of a fetch, whatever a server, or a resolver, does slowly."""

from __future__ import annotations

import datetime
import socket
import socketserver
import ssl
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from itertools import chain, repeat
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest

from mainmatter.errors import FetchError
from mainmatter.inputs import fetch as fetching
from mainmatter.inputs.fetch import fetch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

GENEROUS = 120.0  # seconds after which a fetch counts as hung: no test measures how long it takes
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def drip(first: bytes, byte: bytes) -> Iterable[bytes]:
    """Some bytes at once, then one at a time, for ever."""
    return chain([first], repeat(byte))


ANSWERS: dict[str, Callable[[], Iterable[bytes]]] = {
    "/silence": lambda: repeat(b""),
    "/headers": lambda: drip(HEAD + b"X-Long: ", b"x"),
    "/hints": lambda: repeat(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "/body": lambda: drip(HEAD + b"Content-Length: 1000000\r\n\r\n<p>", b"x"),
    "/chunks": lambda: drip(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    "/redirect": lambda: [*repeat(b"", 4), b"HTTP/1.1 302 Found\r\nLocation: /redirect\r\nContent-Length: 0\r\n\r\n"],
}
PAUSE = 0.05  # seconds between two pieces, well within any timeout


@contextmanager
def slow_server(context: ssl.SSLContext | None = None) -> Iterator[int]:
    """Sends the pieces of an answer one after another, until the client hangs up or the test is over; its port."""
    is_over = Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with (
                suppress(OSError),
                context.wrap_socket(self.request, server_side=True) if context else self.request as connection,
            ):
                while request := connection.recv(65_536):
                    for piece in ANSWERS[request.split()[1].decode()]():
                        connection.sendall(piece)
                        if is_over.wait(PAUSE):
                            return

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_address[1]
        is_over.set()
        server.shutdown()
        thread.join()


def problem_of(url: str, **options: Any) -> str:
    """What ended a fetch, which must end."""
    problems: list[Exception] = []

    def run() -> None:
        try:
            fetch(url, **options)
        except Exception as error:
            problems.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(GENEROUS)
    assert not thread.is_alive(), f"{url} is still being fetched"
    assert isinstance(problems[0], FetchError), problems
    return str(problems[0]).removeprefix(f"{url}: could not be fetched: ")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with slow_server() as number:
        yield number


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 and its key, in one file."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a test of mainmatter")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "certificate.pem"
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.mark.parametrize("public_only", [True, False])
@pytest.mark.parametrize("path", ANSWERS)
def test_the_deadline_ends_whatever_the_server_does(
    path: str, public_only: bool, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "why_not_public", lambda _: None)
    problem = problem_of(f"http://127.0.0.1:{port}{path}", timeout=60, deadline=0.5, public_only=public_only)
    assert problem == "not complete after 0.5 seconds"


@pytest.mark.parametrize("path", ANSWERS)
def test_the_deadline_holds_for_encrypted_connections(
    path: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    with slow_server(context) as port:
        problem = problem_of(f"https://127.0.0.1:{port}{path}", timeout=60, deadline=1, public_only=False)
        assert problem == "not complete after 1 seconds"


@pytest.mark.parametrize(("timeout", "deadline"), [(60, 0.3), (0.3, 60)])
def test_a_server_that_never_begins_to_encrypt(timeout: float, deadline: float) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"https://127.0.0.1:{listening.getsockname()[1]}/"
        problem = problem_of(url, timeout=timeout, deadline=deadline, public_only=False)
    assert ("not complete after 0.3 seconds" in problem) == (deadline < timeout)
    assert ("timed out" in problem) == (timeout < deadline)


def test_the_timeout_of_a_step_comes_before_the_deadline(port: int) -> None:
    problem = problem_of(f"http://127.0.0.1:{port}/silence", timeout=0.3, deadline=60, public_only=False)
    assert problem == "Read timed out. (read timeout=0.3)"


@pytest.mark.parametrize(
    ("timeout", "deadline", "expected"),
    [
        (60, 0.3, "not complete after 0.3 seconds"),
        (0.3, 60, "no address of slow.example after 0.3 seconds"),
    ],
)
def test_a_resolver_that_never_answers(
    timeout: float, deadline: float, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_over = Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: is_over.wait(2 * GENEROUS))
    try:
        assert problem_of("http://slow.example/", timeout=timeout, deadline=deadline) == expected
    finally:
        is_over.set()
