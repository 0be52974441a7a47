"""Error classes of torsor.

A message contains the problem with its value, the place, and the remedy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager


def printable(text: str, keep: str = "") -> str:
    r"""A text with escapes in place of characters that control a terminal instead of being shown; ``keep`` stays as it is.

    Control characters (ESC, U+009B), marks that turn the direction of writing (U+202E), line separators (U+2028) and the like:
    names come from files, and must not move the cursor or hide a part of a line.  Names themselves are never changed.

    >>> print(printable("there is no file \x1b[31mred"))
    there is no file \x1b[31mred
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


class _PrintableMessage:
    """A message that is safe to print, with all quoted names escaped."""

    def __str__(self) -> str:
        return printable(super().__str__(), keep="\n")


class TorsorError(_PrintableMessage, Exception):
    """Base class of all errors of torsor."""


class ModelError(TorsorError, ValueError):
    """An invalid robot description: a cycle, two roots, a name used twice."""


class FileError(ModelError):
    """A file that cannot be read as a robot, with file, line, element and reason."""

    def __init__(self, reason: str, *, file: str = "", line: int | None = None, element: str = ""):
        place = file or "<string>"
        if line is not None:
            place += f":{line}"
        if element:
            place += f": <{element}>"
        super().__init__(f"{place}: {reason}")
        self.reason, self.file, self.line, self.element = reason, file, line, element

    def __reduce__(self):
        state = {"reason": self.reason, "file": self.file, "line": self.line, "element": self.element}
        return (_rebuild_file_error, (state,))


def _rebuild_file_error(state: dict) -> FileError:
    return FileError(state["reason"], file=state["file"], line=state["line"], element=state["element"])


class UnknownName(TorsorError, LookupError):
    """An unknown link, joint, frame, quantity or option; the message lists the valid names.

    A ``kind`` that ends in "=" is an argument, such as ``method=``.
    """

    def __init__(self, kind: str, name: object, valid):
        valid = sorted(str(v) for v in valid)
        shown = ", ".join(valid[:40]) + (f", ... ({len(valid)} in all)" if len(valid) > 40 else "")
        from difflib import get_close_matches  # slow to import, and needed for errors alone

        like = get_close_matches(str(name), valid[40:], 1)  # of those that are not shown
        hint = f"did you mean {like[0]!r}? " if like else ""
        if kind.endswith("="):
            super().__init__(f"{kind[:-1]} must be one of {shown}, not {name!r}")
        else:
            super().__init__(f"there is no {kind} named {name!r}; {hint}valid names: {shown or '(none)'}")
        self.kind, self.name, self.valid = kind, name, valid

    def __reduce__(self):
        return (UnknownName, (self.kind, self.name, self.valid))


def require_known(kind: str, name: object, valid: Collection[str]) -> None:
    """Raise :class:`UnknownName` unless a name is one of the valid ones."""
    if not isinstance(name, str) or name not in valid:
        raise UnknownName(kind, name, valid)


class ArgumentError(TorsorError, ValueError):
    """An argument of the wrong shape, type or value; the message names it with the expected and the given value."""


class Unsupported(ArgumentError, ModelError):
    """A part of the robot does not have a capability yet (:mod:`torsor.model.terms.capabilities`); names the reason."""


class SingularError(TorsorError, ArithmeticError):
    """Forward dynamics is singular, or rates of roll, pitch and yaw are: gimbal lock.

    A joint moves no mass, or constraint rows contradict each other or lose rank; names the joint, or the rows and the joints.
    """


class ClosureError(TorsorError, ValueError):
    """No configuration was found that closes the loops; names the open loop and its closure error."""


def install_hint(extra: str) -> str:
    """The command that installs an extra; torsor is on no package index, so it is run in a checkout.

    >>> install_hint("view")
    "in a checkout of torsor: pip install '.[view]'"
    """
    return f"in a checkout of torsor: pip install '.[{extra}]'"


class MissingExtra(TorsorError, ImportError):
    """An optional library is not installed; the message names the extra to install."""

    def __init__(self, library: str, extra: str, purpose: str):
        super().__init__(f"{purpose} needs {library}, which is not installed; {install_hint(extra)}")
        self.library, self.extra, self.purpose = library, extra, purpose

    def __reduce__(self):
        return (MissingExtra, (self.library, self.extra, self.purpose))


@contextmanager
def needs_extra(library: str, extra: str, purpose: str) -> Iterator[None]:
    """Imports of an optional library: :class:`MissingExtra` where it is not installed."""
    try:
        yield
    except ImportError:
        raise MissingExtra(library, extra, purpose) from None


class CompileError(TorsorError, RuntimeError):
    """A program could not be compiled to machine code."""


class OutOfMemory(TorsorError, MemoryError):
    """A program too large to be compiled in the available memory, or too many compiled kernels in one process."""


class ModelWarning(_PrintableMessage, UserWarning):
    """A physically impossible model, which is loaded nevertheless."""


class CacheWarning(_PrintableMessage, UserWarning):
    """The disk cache could not be used; results are unaffected."""
