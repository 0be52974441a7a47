"""One contestant in an environment of its own: what each step took, in commands, lines, seconds and megabytes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.first_minutes.contestants import Contestant
from benchmarks.first_minutes.given import given_panda
from benchmarks.first_minutes.seen import seen_moving

#: what an empty environment has, and no contestant is charged for
_INSTALLERS = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence.pth")
_PLACE = re.compile(r"(https?://(?:127\.0\.0\.1|localhost|0\.0\.0\.0):\d+[^\s\x1b]*|[\w./-]+\.(?:html|gif))")
PATIENCE = 300.0


def try_contestant(contestant: Contestant, folder: Path) -> dict[str, Any]:
    """The record of one contestant; a step that fails has its last words in place of numbers."""
    bin_ = folder / "env" / "bin"
    subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)
    install = _run([str(bin_ / "python"), "-m", "pip", "install", "-q", *contestant.install], folder)
    record: dict[str, Any] = {"install": {"commands": 1, "packages": list(_names(contestant)), **install}}
    record["install"]["megabytes"] = round(_megabytes(folder / "env"), 1)
    panda = given_panda(folder / "given")
    for job in ("inverse", "simulate"):
        script = contestant.script(job)
        run = [str(bin_ / "python"), str(script), str(panda)]
        first, again = _run(run, folder), _run(run, folder)
        record[job] = {"lines": _lines(script), "first_seconds": first["seconds"], **again}
    record["show"] = _show(contestant, [part.format(bin=bin_, panda=panda) for part in contestant.show], folder)
    return record | {"remark": contestant.remark}


def _names(contestant: Contestant) -> list[str]:
    return [Path(p).name if os.sep in p else p for p in contestant.install]


def _run(command: list[str], folder: Path) -> dict[str, Any]:
    start = time.perf_counter()
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=_environment(folder), timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return {"seconds": PATIENCE, "failure": "not done in time"}
    out = {"seconds": round(time.perf_counter() - start, 2)}
    return out if done.returncode == 0 else out | {"failure": _last_line(done.stderr or done.stdout)}


def _show(contestant: Contestant, command: list[str], folder: Path) -> dict[str, Any]:
    """Start the picture, wait for the place it names, look at it until it moves."""
    log = folder / "show.log"
    start = time.perf_counter()
    with log.open("w") as stream:
        process = subprocess.Popen(
            command, cwd=folder, stdout=stream, stderr=subprocess.STDOUT, env=_environment(folder), start_new_session=True
        )
    try:
        place = _place(process, log, start)
        if place is None:
            return {"failure": _last_line(log.read_text())}
        ready = time.perf_counter() - start
        address = place if place.startswith("http") else (folder / place).resolve().as_uri()
        looked = seen_moving(address.replace("0.0.0.0", "127.0.0.1"), folder / "picture.png", PATIENCE / 3)
    finally:
        _signal_group(process, signal.SIGKILL)
    own = contestant.script("show")
    typed = {"commands": 1, "lines": _lines(own)} if own.exists() else {"commands": 1, "lines": 0}
    return {**typed, "seconds_to_page": round(ready, 2), "place": Path(place).name, **looked}


def _place(process: subprocess.Popen, log: Path, start: float) -> str | None:
    """The page the process names; of a file, once it is there and the process is through."""
    while time.perf_counter() - start < PATIENCE:
        found = _PLACE.search(log.read_text(errors="replace"))
        if found and (found[1].startswith("http") or process.poll() is not None):
            return found[1]
        if process.poll() is not None:
            return None
        time.sleep(0.02)
    return None


def _signal_group(process: subprocess.Popen, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
    process.wait()


def _environment(folder: Path) -> dict[str, str]:
    """The environment of a newcomer: an empty home, no caches, no display."""
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "PIP_INDEX_URL", "PIP_CONFIG_FILE", "SSL_CERT_FILE")}
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return keep | {"HOME": str(home), "PIP_NO_CACHE_DIR": "1", "MPLBACKEND": "agg", "PYTHONWARNINGS": "ignore"}


def _megabytes(env: Path) -> float:
    files = [p for p in env.rglob("*") if p.is_file() and not p.is_symlink()]
    ours = [p for p in files if not any(part == x or part.startswith(f"{x}-") for x in _INSTALLERS for part in p.parts)]
    return sum(p.stat().st_size for p in ours) / 1e6


def _lines(script: Path) -> int:
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in script.read_text().splitlines())


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no word"
