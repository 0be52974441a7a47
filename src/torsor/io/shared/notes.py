"""Notes about changed or omitted data: counted while reading, one line per kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

#: number of names listed; the others are counted
SHOWN = 8


class Notes:
    """Lines for ``Description.report``, in the order first met."""

    def __init__(self) -> None:
        self._ignored: dict[tuple[str, str], int] = {}
        self._sentences: dict[str, list[str]] = {}

    def note_ignored(self, what: str, why: str) -> None:
        """Part of the file has no effect: "3 <transmission> elements ignored: ..."."""
        self._ignored[what, why] = self._ignored.get((what, why), 0) + 1

    def note(self, sentence: str, name: str) -> None:
        """Report how elements were interpreted: the sentence, followed by the names of the elements."""
        self._sentences.setdefault(sentence, []).append(name)

    def lines(self) -> tuple[str, ...]:
        notes = [f"{sentence}: {short_list(_names_with_counts(names))}" for sentence, names in self._sentences.items()]
        notes += [f"{n} {what}{'' if n == 1 else 's'} ignored: {why}" for (what, why), n in self._ignored.items()]
        return tuple(notes)


def _names_with_counts(names: Sequence[str]) -> list[str]:
    """Each name once, with its number if it occurs several times."""
    return [name if n == 1 else f"{name} ({n} times)" for name, n in Counter(names).items()]


def as_comment(line: str) -> str:
    """A line as the text of an XML comment, which has no two dashes side by side.

    >>> as_comment("a--b")
    ' a- -b '
    """
    return f" {re.sub('-(?=-)', '- ', line)} "


def short_list(names: Sequence[str], shown: int = SHOWN) -> str:
    """The names, the end of a long list only counted.

    >>> short_list(["hip", "knee", "ankle"], shown=2)
    'hip, knee and 1 more'
    """
    rest = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {rest} more" if rest > 0 else "")
