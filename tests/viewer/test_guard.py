"""The server answers this machine's browser on its own page, and nobody else: over raw sockets, as an attacker would ask."""

from __future__ import annotations

import itertools
import math
import socket
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import viser
from websockets.datastructures import Headers

from torsor.errors import ArgumentError
from torsor.look.viewer import guard, serving

UPGRADE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: viser-v{viser.__version__}\r\n"
)


@pytest.fixture(scope="module")
def served():
    served = serving.serve()
    yield served
    serving.stop(served.server)


def ask(served, path=None, host="127.0.0.1:{port}", origin=None, more="", method="GET"):
    """(status, the answer) to a request that says just this; without a path, to one for the page."""
    port, page = served.server.get_port(), urlsplit(served.url).path
    lines = f"{method} {page if path is None else path} HTTP/1.1\r\n"
    lines += f"Host: {host.format(port=port)}\r\n" if host is not None else ""
    lines += f"Origin: {origin.format(port=port)}\r\n" if origin else ""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(f"{lines}{more}\r\n".encode())
        answer = b""
        while b"\r\n\r\n" not in answer and (data := connection.recv(65536)):
            answer += data
    return int(answer.split()[1]), answer.decode(errors="replace")


# -- Host and Origin ------------------------------------------------------------------------------------------

OWN = ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}", " 127.0.0.1:{port} "]
HOSTILE = [
    None,  # no Host at all
    "",
    # a name that somebody points at 127.0.0.1
    "evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "localhost.evil.example:{port}",
    "127-0-0-1.nip.io:{port}", "localtest.me:{port}", "evil.example:{port}@127.0.0.1", "127.0.0.1:{port}@evil.example",
    # the port is missing, another, or spelt strangely
    "127.0.0.1", "localhost", "127.0.0.1:1", "127.0.0.1:", "127.0.0.1:0{port}", "127.0.0.1:{port}.", "127.0.0.1:{port}0",
    "127.0.0.1:+{port}", "127.0.0.1 :{port}",
    # the address, written another way
    "127.0.0.1.:{port}", "localhost.:{port}", "127.1:{port}", "2130706433:{port}", "0x7f.1:{port}", "0177.0.0.1:{port}",
    "127.0.0.2:{port}", "0.0.0.0:{port}", "[::1]:{port}", "[::ffff:127.0.0.1]:{port}", "１２７.0.0.1:{port}",
    "localhoſt:{port}",
    # more than a host
    "http://127.0.0.1:{port}", "127.0.0.1:{port}/", "127.0.0.1:{port}, evil.example", "user@127.0.0.1:{port}",
]  # fmt: skip


@pytest.mark.parametrize("host", OWN)
def test_own_names_are_answered(served, host):
    assert ask(served, host=host)[0] == 200


@pytest.mark.parametrize("host", HOSTILE)
def test_foreign_names_are_refused(served, host):
    """What DNS rebinding looks like; and of a request without a Host nobody knows whom it is for."""
    assert len(HOSTILE) >= 30
    assert ask(served, host=host)[0] == 403
    assert ask(served, host=host, origin="http://127.0.0.1:{port}", more=UPGRADE)[0] == 403


def test_two_hosts_are_refused(served):
    assert ask(served, more="Host: evil.example\r\n")[0] == 403


@pytest.mark.parametrize("origin", ["http://127.0.0.1:{port}", "http://localhost:{port}"])
def test_own_page_opens_a_websocket(served, origin):
    assert ask(served, origin=origin, more=UPGRADE)[0] == 101


FOREIGN = [
    None, "null", "http://evil.example", "http://evil.example:{port}", "https://127.0.0.1:{port}", "http://127.0.0.1",
    "http://127.0.0.1:1", "http://127.0.0.1:{port}.evil", "http://127.0.0.1:{port}/", "http://[::1]:{port}",
    "http://127.0.0.1:{port} http://evil.example", "file://", "127.0.0.1:{port}", "http://localhost.:{port}",
]  # fmt: skip


@pytest.mark.parametrize("cookie", ["", "Cookie: token={token}\r\n"])
@pytest.mark.parametrize("origin", FOREIGN)
def test_other_pages_open_no_websocket(served, origin, cookie):
    """Cross-site websocket hijacking: a browser opens it for any page, says which, and sends cookies along."""
    told = cookie.format(token=urlsplit(served.url).path.strip("/"))
    assert ask(served, origin=origin, more=UPGRADE + told)[0] == 403
    assert origin is None or ask(served, origin=origin, more=told)[0] == 403


# -- the secret in the address --------------------------------------------------------------------------------


def test_address_has_a_secret_of_its_own_of_128_bits_or_more():
    tokens = [serving.serve() for _ in range(2)]
    for server, _ in tokens:
        serving.stop(server)
    first, second = (urlsplit(url).path.strip("/") for _, url in tokens)
    assert first != second
    assert len(first) * math.log2(64) >= 128


@pytest.mark.parametrize(
    "path", ["/", "/x/", "/{short}/", "/{token}x/", "/{swapped}/", "/?{token}", "//{token}/", "/x/{token}/"]
)
def test_requests_without_the_secret_are_refused(served, path):
    """Another user of this machine sends whatever Host and Origin he likes."""
    token = urlsplit(served.url).path.strip("/")
    at = path.format(token=token, short=token[:-1], swapped=token.swapcase())
    assert ask(served, at)[0] == 403
    assert ask(served, at, origin="http://127.0.0.1:{port}", more=UPGRADE)[0] == 403


def test_secret_is_compared_in_constant_time(monkeypatch):
    compared = []
    monkeypatch.setattr(guard, "compare_digest", lambda a, b: compared.append((a, b)) or a == b)
    assert guard.refusal(80, "secret", "/secret/", Headers(Host="localhost:80")) is None
    assert guard.refusal(80, "secret", "/sEcret/", Headers(Host="localhost:80")).status == 403
    assert compared == [(b"secret", b"secret"), (b"sEcret", b"secret")]


def test_refusal_has_a_reason():
    def why(path="/s/", **headers):
        return guard.refusal(80, "s", path, Headers({"Host": "localhost:80"} | headers))

    assert why() is why("/s") is why("/s/?darkMode") is None
    assert "wrong host name" in why(Host="evil").why
    assert "other pages are refused" in why(Origin="http://evil").why
    assert "Origin header" in why(Upgrade="websocket").why
    assert "complete address" in why("/").why


# -- files, methods, headers ----------------------------------------------------------------------------------


def traversals():
    """Ways out of a folder, each towards a file that is there: the tops of paths, times ways to write them."""
    ups = [
        "../", "..%2f", "%2e%2e/", "%2e%2e%2f", ".%2e/", "%2e./", "..\\", "..%5c", "%2e%2e%5c", "....//", "..././", "..;/",
        "%252e%252e/", "%252e%252e%252f", "..%252f", "..%255c", "%c0%ae%c0%ae/", "%c0%ae%c0%ae%c0%af", "..%c0%af",
        "%uff0e%uff0e/", "..%00/", "..%0d/", ".. /", "..%20/", "/../", "./../", "x/../../", "index.html/../", "assets/../../",
    ]  # fmt: skip
    for up, target, depth in itertools.product(ups, ("etc/passwd", "_viser.py"), (1, 2, 3, 12)):
        yield up * depth + target
    yield from (
        "etc/passwd", "/etc/passwd", "//etc/passwd", "%2fetc%2fpasswd", "file:///etc/passwd", "index.html", "%00",
        "index.html%00.png", "~/.ssh/id_rsa", "proc/self/environ", "%2fproc%2fself%2fenviron", "C:/Windows/win.ini", "..",
        "../", "../..", "src", ".git/config",
    )  # fmt: skip


def test_no_file_is_served_by_its_path(served):
    """Below the secret, where all else is right; and the server's thread opens no file at all meanwhile."""
    ask(served)  # the page itself is read once, and with it the system's table of file types
    watched, opened = [served.server._websock_server._server_thread.ident], []

    def hook(event, arguments):
        if event == "open" and threading.get_ident() in watched:
            opened.append(Path(arguments[0]))

    sys.addaudithook(hook)
    page = urlsplit(served.url).path
    payloads = list(dict.fromkeys(traversals()))
    assert len(payloads) >= 200
    for payload in payloads:
        status, answer = ask(served, page + payload.replace(" ", "%20"))
        assert status == 404, payload
        assert "root:" not in answer
    watched.clear()  # a hook cannot be taken back
    assert opened == []


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "\x00\x01", "GE"]
)
def test_only_get_is_a_method(served, method):
    """A form of another page can post; here nobody listens.  And GET changes nothing: what changes is said by websocket."""
    form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 0\r\n"
    status, answer = ask(served, method=method, more=form)
    assert status == 405
    assert "Allow: GET" in answer


def test_pages_forbid_requests_elsewhere_markup_that_runs_and_strange_frames(served):
    _, answer = ask(served)
    policy = next(line for line in answer.split("\r\n") if line.startswith("Content-Security-Policy: "))
    assert "default-src 'none'" in policy
    assert "script-src-attr 'none'" in policy
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.removeprefix("Content-Security-Policy: ").split("; ")}
    own = guard.hosts(served.server.get_port())
    assert all(s in ("data:", "blob:") or s.split("//")[1] in own for s in rules["connect-src"])
    assert rules["frame-ancestors"] == ["'self'", "http://127.0.0.1:*", "http://localhost:*"]
    assert "//" not in " ".join(
        s for name, found in rules.items() if name not in ("connect-src", "frame-ancestors") for s in found
    )
    for line in (
        "X-Content-Type-Options: nosniff",
        "Referrer-Policy: no-referrer",
        "Cross-Origin-Resource-Policy: same-origin",
    ):
        assert line in answer


def test_refusals_carry_the_policy_too(served):
    assert "default-src 'none'" in ask(served, host="evil.example")[1]


# -- who listens where ----------------------------------------------------------------------------------------


def test_only_this_machine_listens(served):
    """Bound to 127.0.0.1 and nothing else, by the kernel's own list; the port is another each time."""
    port = served.server.get_port()
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    listening = [
        local.split(":")[0] for _, local, _, state, *_ in rows if state == "0A" and int(local.split(":")[1], 16) == port
    ]
    assert listening == ["0100007F"]
    again = serving.serve().server
    assert again.get_port() != port
    serving.stop(again)


def test_no_message_of_a_page_opens_a_tunnel(served):
    """viser would publish the page through a server abroad, if the page asked."""
    from viser import _messages

    assert _messages.ShareUrlRequest not in served.server._websock_server._incoming_handlers


def test_port_that_is_taken_is_an_error_not_another_port(served):
    port = served.server.get_port()
    with pytest.raises(ArgumentError, match=f"port {port} is in use"):
        serving.serve(port)
    with pytest.raises(ArgumentError, match="65535"):
        serving.serve(70000)


def test_unguarded_server_is_never_served():
    """Should viser start its server some other way one day, there is no page rather than an open one."""
    import websockets.asyncio.server as server

    before = server.serve
    with pytest.raises(guard.GuardError), guard.guard_new_servers("secret"):
        pass
    assert server.serve is before


def test_server_prints_nothing(capfd, caplog):
    """Neither the server nor what strangers send it is heard of in the user's terminal."""
    server, _ = serving.serve()
    for said in (b"POST / HTTP/1.1\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"GET /", b"\x16\x03\x01"):
        with socket.create_connection(("127.0.0.1", server.get_port()), timeout=10) as stranger:
            stranger.sendall(said)
            stranger.shutdown(socket.SHUT_WR)
            stranger.recv(100)
    serving.stop(server)
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []
