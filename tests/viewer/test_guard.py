"""The server answers only the browser of this machine on its own page; tested over raw sockets, as an attacker would."""

from __future__ import annotations

import itertools
import math
import socket
import sys
import threading
import urllib.request
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
    """(status, answer) of a request with exactly these headers; by default for the path of the page."""
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
    None,  # no Host header
    "",
    # names that resolve to 127.0.0.1 (DNS rebinding)
    "evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "localhost.evil.example:{port}",
    "127-0-0-1.nip.io:{port}", "localtest.me:{port}", "evil.example:{port}@127.0.0.1", "127.0.0.1:{port}@evil.example",
    # port missing, wrong, or in another spelling
    "127.0.0.1", "localhost", "127.0.0.1:1", "127.0.0.1:", "127.0.0.1:0{port}", "127.0.0.1:{port}.", "127.0.0.1:{port}0",
    "127.0.0.1:+{port}", "127.0.0.1 :{port}",
    # the address in another notation
    "127.0.0.1.:{port}", "localhost.:{port}", "127.1:{port}", "2130706433:{port}", "0x7f.1:{port}", "0177.0.0.1:{port}",
    "127.0.0.2:{port}", "0.0.0.0:{port}", "[::1]:{port}", "[::ffff:127.0.0.1]:{port}", "１２７.0.0.1:{port}",
    "localhoſt:{port}",
    # more than a host
    "http://127.0.0.1:{port}", "127.0.0.1:{port}/", "127.0.0.1:{port}, evil.example", "user@127.0.0.1:{port}",
]  # fmt: skip


@pytest.mark.parametrize("host", OWN)
def test_requests_with_the_servers_own_host_are_answered(served, host):
    assert ask(served, host=host)[0] == 200


@pytest.mark.parametrize("host", HOSTILE)
def test_requests_with_another_host_are_refused(served, host):
    """These are requests of DNS rebinding, and requests without a Host header."""
    assert len(HOSTILE) >= 30
    assert ask(served, host=host)[0] == 403
    assert ask(served, host=host, origin="http://127.0.0.1:{port}", more=UPGRADE)[0] == 403


def test_request_with_two_host_headers_is_refused(served):
    assert ask(served, more="Host: evil.example\r\n")[0] == 403


@pytest.mark.parametrize("origin", ["http://127.0.0.1:{port}", "http://localhost:{port}"])
def test_websocket_from_the_own_page_is_accepted(served, origin):
    assert ask(served, origin=origin, more=UPGRADE)[0] == 101


FOREIGN = [
    None, "null", "http://evil.example", "http://evil.example:{port}", "https://127.0.0.1:{port}", "http://127.0.0.1",
    "http://127.0.0.1:1", "http://127.0.0.1:{port}.evil", "http://127.0.0.1:{port}/", "http://[::1]:{port}",
    "http://127.0.0.1:{port} http://evil.example", "file://", "127.0.0.1:{port}", "http://localhost.:{port}",
]  # fmt: skip


@pytest.mark.parametrize("cookie", ["", "Cookie: token={token}\r\n"])
@pytest.mark.parametrize("origin", FOREIGN)
def test_websockets_from_other_pages_are_refused(served, origin, cookie):
    """Cross-site websocket hijacking: a browser opens a websocket for any page, with its Origin and with cookies."""
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
    """Another user of this machine can send any Host and Origin."""
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


def test_refusal_gives_the_reason():
    def why(path="/s/", **headers):
        return guard.refusal(80, "s", path, Headers({"Host": "localhost:80"} | headers))

    assert why() is why("/s") is why("/s/?darkMode") is None
    assert "wrong host name" in why(Host="evil").why
    assert "other pages are refused" in why(Origin="http://evil").why
    assert "Origin header" in why(Upgrade="websocket").why
    assert "complete address" in why("/").why


# -- files, methods, headers ----------------------------------------------------------------------------------


def test_page_asks_the_browser_for_its_colour_scheme_before_its_client_starts(served):
    request = urllib.request.Request(served.url, headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request) as answer:
        page, lengths = answer.read(), answer.headers.get_all("Content-Length")
    assert lengths == [str(len(page))]
    assert page.index(b"prefers-color-scheme") < page.index(b"<script data-")


def traversals():
    """Path traversals to existing files: prefixes of paths times ways to encode them."""
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
    """With the correct secret and headers; the server thread opens no file meanwhile."""
    ask(served)  # the page is read once, together with the system's table of file types
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
    watched.clear()  # an audit hook cannot be removed
    assert opened == []


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "\x00\x01", "GE"]
)
def test_methods_other_than_get_are_refused(served, method):
    """Forms of other pages can send POST requests.  GET changes nothing; changes are sent by websocket."""
    form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 0\r\n"
    status, answer = ask(served, method=method, more=form)
    assert status == 405
    assert "Allow: GET" in answer


def test_page_policy_forbids_external_requests_scripts_and_frames(served):
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


def test_refusals_have_the_page_policy(served):
    assert "default-src 'none'" in ask(served, host="evil.example")[1]


# -- listening sockets ----------------------------------------------------------------------------------------


def test_server_listens_only_on_127_0_0_1(served):
    """According to the kernel's list of sockets; the port is different each time."""
    port = served.server.get_port()
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    listening = [
        local.split(":")[0] for _, local, _, state, *_ in rows if state == "0A" and int(local.split(":")[1], 16) == port
    ]
    assert listening == ["0100007F"]
    again = serving.serve().server
    assert again.get_port() != port
    serving.stop(again)


def test_messages_of_a_page_cannot_open_a_tunnel(served):
    """viser would publish the page through an external server if the page requested it."""
    from viser import _messages

    assert _messages.ShareUrlRequest not in served.server._websock_server._incoming_handlers


def test_port_in_use_is_an_error(served):
    port = served.server.get_port()
    with pytest.raises(ArgumentError, match=f"port {port} is in use"):
        serving.serve(port)
    with pytest.raises(ArgumentError, match="65535"):
        serving.serve(70000)


def test_unguarded_server_is_never_served():
    """If a later viser starts its server in another way, no page is served."""
    import websockets.asyncio.server as server

    before = server.serve
    with pytest.raises(guard.GuardError), guard.guard_new_servers("secret"):
        pass
    assert server.serve is before


def test_server_prints_nothing(capfd, caplog):
    """Neither the server nor requests from elsewhere print anything to the user's terminal."""
    server, _ = serving.serve()
    for said in (b"POST / HTTP/1.1\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"GET /", b"\x16\x03\x01"):
        with socket.create_connection(("127.0.0.1", server.get_port()), timeout=10) as stranger:
            stranger.sendall(said)
            stranger.shutdown(socket.SHUT_WR)
            stranger.recv(100)
    serving.stop(server)
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []
