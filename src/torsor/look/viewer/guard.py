"""Access control of the viewer: only browsers on this machine, from the page itself, with its secret address.

A server on 127.0.0.1 is not private by that alone.  A web page anywhere may point a name of its own at 127.0.0.1 (DNS
rebinding), and may open a websocket to any address without permission.  Both show in the headers of a request: the ``Host`` it
connects to, and the ``Origin`` of the page.  So both must be this server's.  Other users of the machine can send any headers;
so the address of page and websocket contains a random token.  This server offers no other content: no files,
no methods but GET.  Responses carry a Content-Security-Policy under which the browser itself blocks all requests to
other servers, and runs no ``onerror=`` of markup.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from hmac import compare_digest
from http import HTTPStatus
from typing import Any, NamedTuple

from torsor.errors import TorsorError
from torsor.support.locks import new_lock

#: the address the page is served at, and no other
ADDRESS = "127.0.0.1"
#: host names that a browser on this machine may use
NAMES = (ADDRESS, "localhost")
#: largest message accepted from the page [bytes]; slider messages are small
LARGEST = 2**20

_start_lock = new_lock()
#: invalid requests from others are not shown to the user
_SILENT = logging.getLogger("torsor.look.viewer.refused")
_SILENT.disabled = True


class GuardError(TorsorError, RuntimeError):
    """The page would have been served unguarded, so it is not served."""


class Refusal(NamedTuple):
    """The response to a refused request."""

    status: HTTPStatus
    why: str


def hosts(port: int) -> tuple[str, ...]:
    """The allowed values of the Host header."""
    return tuple(f"{name}:{port}" for name in NAMES)


def refusal(port: int, token: str, path: str, headers: Any) -> Refusal | None:
    """The reason why a request is refused, or None.  ``headers`` have ``get_all(name)``, as websockets' do.

    A page is fetched without an Origin where the address is typed or followed; a websocket never is.
    """
    host, origin = headers.get_all("Host"), headers.get_all("Origin")
    if len(host) != 1 or host[0].lower() not in hosts(port):
        return Refusal(HTTPStatus.FORBIDDEN, "wrong host name")
    if origin and (len(origin) != 1 or origin[0].lower() not in [f"http://{name}" for name in hosts(port)]):
        return Refusal(HTTPStatus.FORBIDDEN, "requests from other pages are refused")
    if not origin and headers.get_all("Upgrade"):
        return Refusal(HTTPStatus.FORBIDDEN, "a websocket needs an Origin header")
    key, _, rest = path.partition("?")[0].removeprefix("/").partition("/")
    if not compare_digest(key.encode(errors="replace"), token.encode()):  # constant time
        return Refusal(HTTPStatus.FORBIDDEN, "use the complete address that torsor printed")
    return Refusal(HTTPStatus.NOT_FOUND, "only the page itself is served") if rest else None


def policy(port: int) -> dict[str, str]:
    """Headers of every response: no external content, no scripts in markup, no embedding by pages that are not local."""
    near = " ".join(f"ws://{name} http://{name}" for name in hosts(port))
    rules = (
        "default-src 'none'",
        "script-src 'unsafe-inline' 'unsafe-eval' blob:",  # viser's client is one inline script that unpacks itself
        "script-src-attr 'none'",
        "style-src 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src data:",
        "worker-src blob: data:",
        f"connect-src {near} data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self' " + " ".join(f"http://{name}:*" for name in NAMES),
    )
    return {
        "Content-Security-Policy": "; ".join(rules),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


#: viser draws its page dark if this is set before its client starts; a server cannot know what the browser prefers
_THEME = b"""<script>
window.__VISER_EMBED_CONFIG__ = { darkMode: matchMedia("(prefers-color-scheme: dark)").matches };
</script>"""


def follow_color_scheme(response: Any) -> None:
    """Insert the script into the page, so that it is dark where the browser prefers dark pages."""
    head, tag, rest = response.body.partition(b"<head>")
    if tag:
        response.body = head + tag + _THEME + rest
        del response.headers["Content-Length"]  # setting it would add a second one
        response.headers["Content-Length"] = str(len(response.body))


def guard_requests(token: str, answer: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A websockets ``process_request`` that checks requests and calls ``answer`` only for the page."""

    def process_request(connection: Any, request: Any) -> Any:
        port = connection.local_address[1]
        refused = refusal(port, token, request.path, request.headers)
        page = replace(request, path="/", headers=_without_encoding(request.headers))
        response = connection.respond(refused.status, f"{refused.why}\n") if refused else answer(connection, page)
        if response is not None:
            follow_color_scheme(response)
            for name, value in policy(port).items():
                response.headers[name] = value
        return response

    return process_request


def _without_encoding(headers: Any) -> Any:
    """The headers of a request for an uncompressed page; viser's is packed anyway."""
    out = headers.copy()
    if "Accept-Encoding" in out:
        del out["Accept-Encoding"]
    return out


@contextmanager
def guard_new_servers(token: str) -> Iterator[None]:
    """Guard servers that viser starts inside this context; GuardError if none was started.

    viser has no hook of its own for this, so websockets' ``serve`` is wrapped while its server starts.
    """
    from websockets.asyncio import server

    with _start_lock:
        serve, count = server.serve, 0

        def serve_guarded(*args: Any, process_request: Any = None, **options: Any) -> Any:
            nonlocal count
            if process_request is not None and process_request.__module__.startswith("viser."):
                count += 1
                process_request = guard_requests(token, process_request)
                options |= {"max_size": LARGEST, "logger": _SILENT, "create_connection": _get_only()}
            return serve(*args, process_request=process_request, **options)

        server.serve = serve_guarded  # type: ignore[misc, assignment]
        try:
            yield
        finally:
            server.serve = serve  # type: ignore[misc]
    if not count:
        raise GuardError("this version of viser starts its server in an unsupported way; use viser 1.1")


def _get_only() -> type:
    """Connections that begin with GET; websockets closes others without a message."""
    from websockets.asyncio.server import ServerConnection

    class GetOnly(ServerConnection):
        begun = False

        def data_received(self, data: bytes) -> None:
            if self.begun or b"GET ".startswith(data[:4]):
                self.begun = True
                super().data_received(data)
                return
            self.transport.write(b"HTTP/1.1 405 Method Not Allowed\r\nAllow: GET\r\nConnection: close\r\n\r\n")
            self.transport.close()

    return GetOnly
