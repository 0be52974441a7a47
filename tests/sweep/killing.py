"""Kill a worker process from outside while it computes a point."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path


def kill_process_of_pid_file(folder: Path) -> threading.Thread:
    """Wait for ``folder/pid``, kill that process, then create ``folder/go``."""

    def watch() -> None:
        end = time.monotonic() + 30
        while not (folder / "pid").exists() or not (folder / "pid").read_text():
            if time.monotonic() > end:
                return
            time.sleep(0.01)
        os.kill(int((folder / "pid").read_text()), signal.SIGKILL)
        (folder / "go").touch()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def is_alive(pid: int) -> bool:
    """Whether a process is running; a zombie is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
