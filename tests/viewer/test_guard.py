"""The server answers this machine's browser on its own page, and nobody else: over raw sockets, as an attacker would ask."""

from __future__ import annotations

import socket

import pytest
import viser
from websockets.datastructures import Headers

from torsor.errors import ArgumentError
from torsor.viewer import guard, serving

UPGRADE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: viser-v{viser.__version__}\r\n"
)


@pytest.fixture(scope="module")
def port():
    server = serving.serve()
    yield server.get_port()
    serving.stop(server)


def ask(port, path="/", host="127.0.0.1:{port}", origin=None, more=""):
    """(status, the answer) to a request that says just this."""
    lines = f"GET {path} HTTP/1.1\r\n" + (f"Host: {host.format(port=port)}\r\n" if host else "")
    lines += f"Origin: {origin.format(port=port)}\r\n" if origin else ""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(f"{lines}{more}\r\n".encode())
        answer = b""
        while b"\r\n\r\n" not in answer and (data := connection.recv(65536)):
            answer += data
    return int(answer.split()[1]), answer.decode(errors="replace")


OWN = ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}"]
FOREIGN = [
    "evil.example:{port}",
    "evil.example",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.0.0.1.evil.example:{port}",
    "[::1]:{port}",
    "",
]


@pytest.mark.parametrize("host", OWN)
def test_own_names_are_answered(port, host):
    assert ask(port, host=host)[0] == 200


@pytest.mark.parametrize("host", FOREIGN)
def test_foreign_names_are_refused(port, host):
    """What DNS rebinding looks like; and of a request without a Host nobody knows whom it is for."""
    assert ask(port, host=host)[0] == 403
    assert ask(port, host=host, origin="http://127.0.0.1:{port}", more=UPGRADE)[0] == 403


def test_two_hosts_are_refused(port):
    assert ask(port, more="Host: evil.example\r\n")[0] == 403


@pytest.mark.parametrize("origin", ["http://127.0.0.1:{port}", "http://localhost:{port}"])
def test_own_page_opens_a_websocket(port, origin):
    assert ask(port, origin=origin, more=UPGRADE)[0] == 101


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1:1", "http://127.0.0.1:{port}.evil", "null", None],
)
def test_other_pages_open_no_websocket(port, origin):
    """Cross-site websocket hijacking: a browser opens it for any page, and says which."""
    assert ask(port, origin=origin, more=UPGRADE)[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/..%5c..%5cetc%5cpasswd",
        "//etc/passwd",
        "/etc/passwd",
        "/....//....//etc/passwd",
        "/index.html/../../../_viser.py",
        "/%00",
        "/src",
    ],
)
def test_no_file_is_served_by_its_path(port, path):
    status, answer = ask(port, path)
    assert status == 404
    assert "root:" not in answer


def test_pages_forbid_requests_elsewhere_and_markup_that_runs(port):
    _, answer = ask(port)
    policy = next(line for line in answer.split("\r\n") if line.startswith("Content-Security-Policy: "))
    assert "default-src 'none'" in policy
    assert "script-src-attr 'none'" in policy
    sources = next(rule for rule in policy.split("; ") if rule.startswith("connect-src")).split()[1:]
    assert all(s in ("data:", "blob:") or s.split("//")[1] in guard.hosts(port) for s in sources)


def test_only_this_machine_listens(port):
    """Bound to 127.0.0.1: the address other machines see refuses."""
    found = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    for address in (a for a in found if not a.startswith("127.")):
        with pytest.raises(OSError):
            socket.create_connection((address, port), timeout=2).close()


def test_no_message_of_a_page_opens_a_tunnel():
    """viser would publish the page through a server abroad, if the page asked."""
    from viser import _messages

    server = serving.serve()
    try:
        assert _messages.ShareUrlRequest not in server._websock_server._incoming_handlers
    finally:
        serving.stop(server)


def test_port_that_is_taken_is_an_error_not_another_port(port):
    with pytest.raises(ArgumentError, match=f"port {port} is taken"):
        serving.serve(port)
    with pytest.raises(ArgumentError, match="65535"):
        serving.serve(70000)


def test_unguarded_server_is_never_served(monkeypatch):
    """Should viser start its server some other way one day, there is no page rather than an open one."""
    import websockets.asyncio.server as server

    before = server.serve
    with pytest.raises(guard.GuardError), guard.guarding():
        pass
    assert server.serve is before


def test_quiet(capsys):
    serving.stop(serving.serve())
    assert capsys.readouterr() == ("", "")


def test_refusal_says_why():
    assert guard.refusal(80, Headers(Host="localhost:80")) == ""
    assert "not called that" in guard.refusal(80, Headers(Host="evil"))
    assert "own page only" in guard.refusal(80, Headers(Host="localhost:80", Origin="http://evil"))
    assert "which page" in guard.refusal(80, Headers(Host="localhost:80", Upgrade="websocket"))
