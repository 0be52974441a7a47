"""Abuse of the viewer page: too large frames, idle sockets, clients that do not read.  Part of the long suite."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
import viser
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

pytestmark = pytest.mark.night

#: allowed growth of memory [MB]
ALLOWED = 100
SHOWN = """
import sys
import torsor as ts
from torsor.look.viewer import view
robot = ts.robots.panda()
fall = robot.simulate(robot.neutral(), [0.0] * robot.nv, 2.0)
viewer = view(robot, result=fall, open=False)
print(viewer.url, flush=True)
for line in sys.stdin:
    viewer.play(fall)
"""


@pytest.fixture(scope="module")
def shown():
    """A page in a separate process, with its ``url``, its memory :func:`megabytes`, and ``play`` for more load."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    process = subprocess.Popen([sys.executable, "-c", SHOWN], **pipes)
    url = process.stdout.readline().strip()

    def megabytes():
        return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20

    def play():
        process.stdin.write("\n")
        process.stdin.flush()

    with process:
        yield SimpleNamespace(url=url, port=int(url.split(":")[2].split("/")[0]), megabytes=megabytes, play=play)
        process.terminate()


def open_websocket(shown, **options):
    options = {"origin": shown.url.rsplit("/", 2)[0], "subprotocols": [f"viser-v{viser.__version__}"], **options}
    return connect(shown.url.replace("http", "ws", 1), max_size=None, compression=None, **options)


def answers(shown):
    """Whether a new page and its scene are still served."""
    with open_websocket(shown) as page:
        return len(page.recv(timeout=30)) > 0


def test_large_frame_ends_its_connection_and_nothing_else(shown):
    before = shown.megabytes()
    with open_websocket(shown) as page, suppress(ConnectionClosed):
        page.send(bytes(100 * 2**20))
        while True:
            page.recv(timeout=30)
    assert page.close_code == 1009  # message too big
    assert answers(shown)
    assert shown.megabytes() - before <= ALLOWED


def test_200_idle_sockets_do_not_block_the_server_or_use_much_memory(shown):
    before = shown.megabytes()
    mute = [socket.create_connection(("127.0.0.1", shown.port)) for _ in range(100)]
    waiting = [open_websocket(shown) for _ in range(100)]
    assert answers(shown)
    assert shown.megabytes() - before <= ALLOWED
    for page in waiting:
        page.socket.close()
    for s in mute:
        s.close()
    assert answers(shown)


def test_clients_that_do_not_read_do_not_block_the_server_or_use_much_memory(shown):
    """A motion is played repeatedly to twenty clients that never read."""
    before, slow = shown.megabytes(), []
    for _ in range(20):
        slow.append(open_websocket(shown, max_queue=1))
    for _ in range(5):
        shown.play()
        time.sleep(1.0)
    assert answers(shown)
    assert shown.megabytes() - before <= ALLOWED
    for page in slow:
        page.socket.close()
