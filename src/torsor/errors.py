"""Every error torsor raises on purpose, in one tree.

A message says what is wrong, where, and what to do about it.
"""

from __future__ import annotations


class TorsorError(Exception):
    """The root: ``except TorsorError`` catches everything torsor raises on purpose."""


class ModelError(TorsorError, ValueError):
    """A robot description that describes no robot: a cycle, two roots, a name used twice."""


class FileError(ModelError):
    """A file that cannot be read as a robot; says file, line, element and reason."""

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
    """A link, joint, frame or quantity that does not exist; the message lists those that do."""

    def __init__(self, kind: str, name: object, valid):
        valid = sorted(str(v) for v in valid)
        shown = ", ".join(valid[:40]) + (f", ... ({len(valid)} in all)" if len(valid) > 40 else "")
        super().__init__(f"there is no {kind} named {name!r}; valid names: {shown or '(none)'}")
        self.kind, self.name, self.valid = kind, name, valid

    def __reduce__(self):
        return (UnknownName, (self.kind, self.name, self.valid))


class ArgumentError(TorsorError, ValueError):
    """An argument of the wrong shape, type or value; names the argument, what was expected and given."""


class SingularError(TorsorError, ArithmeticError):
    """Forward dynamics that does not exist.

    A joint moves no mass, or constraint rows contradict each other or lose rank; names the joint, or the rows and the joints.
    """


class ClosureError(TorsorError, ValueError):
    """No configuration was found that closes the loops; names the one that stays open, and by how much."""


class MissingExtra(TorsorError, ImportError):
    """A library that torsor does not need by itself is not installed; says which extra brings it."""

    def __init__(self, library: str, extra: str, purpose: str):
        super().__init__(f"{purpose} needs {library}, which is not installed; try: pip install 'torsor[{extra}]'")
        self.library, self.extra, self.purpose = library, extra, purpose

    def __reduce__(self):
        return (MissingExtra, (self.library, self.extra, self.purpose))


class CompileError(TorsorError, RuntimeError):
    """A program that could not be turned into machine code."""


class OutOfMemory(TorsorError, MemoryError):
    """A program too large to be compiled in the memory that is left."""


class ModelWarning(UserWarning):
    """A model that loads, but that no physical robot has."""


class CacheWarning(UserWarning):
    """The disk cache could not be used; results are unaffected."""
