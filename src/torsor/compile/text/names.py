"""Names and comments for generated text: identifiers that C and Python accept, unique, and lines that end no comment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from torsor.compile.program import Argument


def identifier(text: str, taken: Iterable[str] = (), default: str = "x") -> str:
    """An identifier of C and Python made from any text: letters, digits and single underscores; not in ``taken``.

    >>> identifier("jacobian:tool 0/α*"), identifier("6R"), identifier("ü"), identifier("a-b", {"a_b"})
    ('jacobian_tool_0', 'x_6R', 'x', 'a_b_2')
    """
    name = re.sub(r"_*[^A-Za-z0-9]+_*|_{2,}", "_", text).strip("_") or default
    name = f"{default}_{name}" if name[0].isdigit() else name
    other, k = name, 1
    while other in taken:
        k += 1
        other = f"{name}_{k}"
    return other


def argument_names(arguments: Iterable[Argument], reserved: Iterable[str]) -> list[str]:
    """A name for each argument, different from the others and from the names of values made from their entries."""
    taken, names = {"scratch", *reserved}, []
    for argument in arguments:
        name = identifier(argument.name, taken)
        while (
            mine := {name, *_with_sines([f"{name}_{k}" for k in range(argument.size)] if argument.shape else [name])}
        ) & taken:
            name += "_"
        if re.fullmatch(r"t\d+", name):
            name += "_"
        taken |= mine
        names.append(name)
    return names


def comment(text: str, width: int = 160) -> str:
    """Any text as part of one line of a comment or a docstring: printable ASCII that ends neither.

    >>> comment('a*/b ??/ "' + '""' + " \\n"), comment("Träger")
    ("a* /b ? ?/ '''  ", 'Tr\\\\xe4ger')
    """
    plain = "".join(" " if ord(c) < 32 or ord(c) == 127 else c for c in text).encode("ascii", "backslashreplace").decode()
    for bad, good in (("*/", "* /"), ("/*", "/ *"), ("??", "? ?"), ("??", "? ?"), ('"', "'")):
        plain = plain.replace(bad, good)
    return plain if len(plain) <= width else plain[: width - 4] + " ..."


def entry_names(texts: Sequence[str], taken: Iterable[str]) -> list[str]:
    """Identifiers for some values, in their order, different from each other, from those ``taken`` and from t1, t2, ...

    >>> entry_names(["theta'", "double", "t3"], {"double"})
    ['theta', 'double_', 't3_']
    """
    used, names = set(taken), list[str]()
    for text in texts:
        name = identifier(text)
        while (mine := _with_sines([name])) & used or re.fullmatch(r"t\d+", name):
            name += "_"
        used |= mine
        names.append(name)
    return names


def _with_sines(entries: Sequence[str]) -> set[str]:
    """The names of entries, and of their sines and cosines."""
    return {f"{f}{name}" for name in entries for f in ("", "sin_", "cos_")}
