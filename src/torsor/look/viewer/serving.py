"""A viser server on this machine alone: with access control, without console output and without viser's public tunnel."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from torsor.errors import ArgumentError, needs_extra
from torsor.look.viewer.guard import ADDRESS, GuardError, guard_new_servers

if TYPE_CHECKING:
    import viser


#: random bytes in the address of a page
SECRET = 24


class RunningServer(NamedTuple):
    """A server, and where its page is."""

    server: viser.ViserServer
    url: str


def serve(port: int = 0, label: str = "") -> RunningServer:
    """A started server at 127.0.0.1; ``port`` 0 takes a free one.  ArgumentError if the port is in use."""
    if not (isinstance(port, int) and 0 <= port <= 65535):
        raise ArgumentError(f"port must be 0 for any, or a number up to 65535, not {port!r}")
    with needs_extra("viser", "view", "the browser viewer"):
        import viser
    server, token = None, secrets.token_urlsafe(SECRET)
    try:
        with _quiet(), guard_new_servers(token):
            server = viser.ViserServer(host=ADDRESS, port=port, label=label or None, verbose=False)
    except GuardError:
        if server is not None:
            stop(server)
        raise
    if port and server.get_port() != port:
        stop(server)
        raise ArgumentError(f"port {port} is in use; omit it to use a free port")
    _without_tunnel(server)
    return RunningServer(server, f"http://{ADDRESS}:{server.get_port()}/{token}/")


def stop(server: viser.ViserServer) -> None:
    """Ends the server, without viser's word about it."""
    with _quiet():
        server.stop()


def _without_tunnel(server: viser.ViserServer) -> None:
    """Disable viser's message that opens a public address for the page through an external server."""
    from viser import _messages

    for message in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
        server._websock_server.unregister_handler(message)


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress viser's output: it prints its address at start and a message at stop, through rich; torsor prints its own."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
