"""Exit codes of commands, and errors as one line with problem and remedy.

2 is for wrong usage: an unknown option, robot or joint, a missing file.  1 is for problems in a file or a computation:
findings, a failed certificate, an invalid file, a singular mass matrix.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from torsor.cli.cli_terms import in_cli_terms
from torsor.errors import ArgumentError, FileError, TorsorError, UnknownName, printable

#: characters of a line; a longer one quotes something huge
LONGEST = 1600
FINE, FOUND, USAGE, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143


class UsageError(TorsorError):
    """Wrong usage: exit code 2."""


class InterruptedAfterOutput(BaseException):
    """An interrupted command that wrote its results so far: exit code 130.  Typer does not catch it: it is not an Exception."""


def run(arguments: Sequence[str]) -> int:
    """The exit code of one command, after all output."""
    debug = "--debug" in arguments
    words = [word for word in arguments if word != "--debug"]
    if words[:1] in ([], ["help"]):  # torsor, torsor help, torsor help info
        words = [*words[1:2], "--help"]
    try:
        with _cli_streams_and_signals():
            return _run(words)
    except InterruptedAfterOutput as stop:
        print_error(str(stop))
        return INTERRUPTED
    except (KeyboardInterrupt, _Terminated) as stop:
        print_error("interrupted; no partial files were left")
        return TERMINATED if isinstance(stop, _Terminated) else INTERRUPTED
    except BrokenPipeError:  # the reader has seen enough: torsor ... | head
        _discard_stdout()
        return FINE
    except Exception as error:
        if debug:
            raise
        print_error(_line(error, words))
        try:
            sys.stdout.flush()
        except OSError:  # its buffer cannot be written: a full disk
            _discard_stdout()
        usage = isinstance(error, (UsageError, UnknownName, ArgumentError)) or hasattr(error, "format_message")
        return USAGE if usage else FOUND


def _run(words: list[str]) -> int:
    from torsor.cli.app import command

    try:
        code = command().main(words, prog_name="torsor", standalone_mode=False)
        sys.stdout.flush()
    except SystemExit as exit:  # typer raises it for a broken pipe
        raise BrokenPipeError from exit
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code if isinstance(code, int) else FINE


def print_error(line: str) -> None:
    """One line on stderr, in command-line terms, in red if colours are on."""
    red, plain = ("\x1b[31m", "\x1b[0m") if sys.stderr.isatty() and not os.environ.get("NO_COLOR") else ("", "")
    with suppress(OSError, ValueError):
        print(f"{red}torsor: {in_cli_terms(one_line(line))}{plain}", file=sys.stderr, flush=True)


@contextmanager
def name_in_errors(place: str) -> Iterator[None]:
    """Report an error in a file that it does not name with ``place`` as the name of the file."""
    try:
        yield
    except FileError as error:
        if error.file:
            raise
        raise FileError(error.reason, file=place, line=error.line, element=error.element) from error


def one_line(line: str) -> str:
    """A printable line, not longer than a screen; its end has the hint."""
    text = printable(line)
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"


def _line(error: Exception, words: Sequence[str]) -> str:
    """A usage error as one line."""
    shown = getattr(error, "format_message", None)  # typer's own errors
    if shown is None:
        if isinstance(error, OSError):  # a full disk, a file that was removed: not a bug
            return ": ".join(filter(None, (error.filename and str(error.filename), error.strerror or str(error))))
        text = str(error) if isinstance(error, TorsorError) else f"{type(error).__name__}: {error}"
        hint = "" if isinstance(error, TorsorError) else "; this is a bug in torsor; --debug shows the traceback"
        return " ".join(text.split()) + hint
    context = getattr(error, "ctx", None)
    place = " ".join(("torsor", *words[:1])) if context is None else context.command_path
    text = " ".join(shown().replace("Value error, ", "").split()).rstrip(".")
    return f"{text[:1].lower()}{text[1:]}; see {place} --help"


class _Terminated(BaseException):
    """SIGTERM, turned into an exception so that files are cleaned up at exit."""


def _terminate(*_: Any) -> NoReturn:
    raise _Terminated


@contextmanager
def _cli_streams_and_signals() -> Iterator[None]:
    """Warnings as lines, characters the terminal lacks replaced, and a kill that cleans up."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the caller: torsor ... >&-
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    old: Any = signal.SIG_DFL
    with suppress(ValueError):  # not in the main thread
        old = signal.signal(signal.SIGTERM, _terminate)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):  # of no use to users
            warnings.simplefilter("ignore", kind)
        warnings.showwarning = lambda message, *_, **__: print_error(f"warning: {' '.join(str(message).split())}")
        try:
            yield
        finally:
            with suppress(ValueError):
                signal.signal(signal.SIGTERM, old)


def _discard_stdout() -> None:
    """Prevent errors of Python when it closes stdout at exit."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
