"""A function of LLVM IR, written line by line, with loops and tests as a C programmer would have them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Loop:
    """A loop of a :class:`Writer`: ``k`` is the index, ``now`` the carried values in this turn, ``then`` those of the next.

    After the loop ``now`` holds the final values.
    """

    def __init__(self, k: str, now: dict[str, str]):
        self.k, self.now = k, now
        self.then: dict[str, str] = dict(now)


class Writer:
    """Lines of IR of one function.  Values are named as they are made; ``block`` is the one being written.

    ``refusal`` is the label where every :meth:`require` leads when its condition does not hold.
    """

    def __init__(self, head: str = "", refusal: str = "refuse"):
        self.refusal, self.count = refusal, 0
        self.begin(head)

    def begin(self, head: str) -> None:
        """Begin a function, or another one after :meth:`text`."""
        self.head, self.block = head, "entry"
        self.lines: list[str] = ["entry:"]

    def text(self) -> str:
        body = "\n".join(self.lines)
        return f"define {self.head} nounwind {{\n{body}\n}}\n"

    def end(self, value: str = "void") -> str:
        """Return from the function; its text."""
        self.do(f"ret {value}")
        return self.text()

    # -- values ----------------------------------------------------------------------------------------------

    def put(self, text: str) -> str:
        """A value, defined by an instruction."""
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def field(self, kind: str, base: str, offset: int) -> str:
        """The field of this type at a byte offset of an object."""
        return self.put(f"load {kind}, ptr {self.address('i8', base, str(offset))}")

    def element(self, kind: str, base: str, index: object) -> str:
        """``base[index]`` of an array of this type."""
        return self.put(f"load {kind}, ptr {self.address(kind, base, index)}")

    def address(self, kind: str, base: str, index: object) -> str:
        """``&base[index]``."""
        return self.put(f"getelementptr {kind}, ptr {base}, i64 {index}")

    def compare(self, how: str, kind: str, value: str, other: object) -> str:
        return self.put(f"icmp {how} {kind} {value}, {other}")

    def choose(self, condition: str, kind: str, yes: object, no: object) -> str:
        return self.put(f"select i1 {condition}, {kind} {yes}, {kind} {no}")

    def add(self, a: str, b: object) -> str:
        return self.put(f"add i64 {a}, {b}")

    def merge(self, kind: str, *sources: tuple[str, str]) -> str:
        """The value that the block which led here had: (value, block) for each of them."""
        return self.put(f"phi {kind} {', '.join(f'[{value}, %{block}]' for value, block in sources)}")

    # -- effects ---------------------------------------------------------------------------------------------

    def do(self, text: str) -> None:
        """An instruction without a value."""
        self.lines.append(f"  {text}")

    def store(self, kind: str, value: object, base: str, index: object) -> None:
        """``base[index] = value``."""
        self.do(f"store {kind} {value}, ptr {self.address(kind, base, index)}")

    # -- control ---------------------------------------------------------------------------------------------

    def label(self, name: str) -> str:
        """Begin a block; returns its name."""
        self.block = name
        self.lines.append(f"{name}:")
        return name

    def jump(self, label: str) -> str:
        """End this block; returns its name, for :meth:`merge`."""
        self.do(f"br label %{label}")
        return self.block

    def branch(self, condition: str, yes: str, no: str) -> str:
        """End this block; returns its name, for :meth:`merge`."""
        self.do(f"br i1 {condition}, label %{yes}, label %{no}")
        return self.block

    def require(self, condition: str) -> None:
        """Go on if the condition holds, to ``refusal`` if not."""
        self.count += 1
        self.branch(condition, f"ok{self.count}", self.refusal)
        self.label(f"ok{self.count}")

    def require_equal(self, kind: str, value: str, expected: object) -> None:
        self.require(self.compare("eq", kind, value, expected))

    @contextmanager
    def when(self, condition: str, holds: bool = True) -> Iterator[None]:
        """Lines that run only if the condition holds, or does not."""
        self.count += 1
        then, after = f"then{self.count}", f"after{self.count}"
        self.branch(condition, *((then, after) if holds else (after, then)))
        self.label(then)
        yield
        self.jump(after)
        self.label(after)

    @contextmanager
    def each(
        self, count: object, first: object = 0, step: int = 1, once: bool = False, **carried: tuple[str, str]
    ) -> Iterator[Loop]:
        """For k from ``first``, by ``step``, to ``count`` − 1, or down to ``count`` + 1; ``carried``: name=(type, start).

        With ``once`` there is a first turn in any case; after the loop k and ``now`` are those of the last turn.
        """
        self.count += 1
        n, before = self.count, self.jump(f"head{self.count}")
        self.label(f"head{n}")
        loop, phis = Loop(f"%k{n}", {name: f"%{name}{n}" for name in carried}), len(self.lines)
        self.lines += [""] * (1 + len(carried))  # written at the end, when the values of the next turn have names
        how = "slt" if step > 0 else "sgt"
        if not once:
            self.branch(self.compare(how, "i64", loop.k, count), f"body{n}", f"done{n}")
            self.label(f"body{n}")
        yield loop
        following = self.add(loop.k, step)
        if once:
            last = self.branch(self.compare(how, "i64", following, count), f"head{n}", f"done{n}")
        else:
            last = self.jump(f"head{n}")
        rows = [(loop.k, "i64", str(first), following)]
        rows += [(loop.now[name], kind, start, loop.then[name]) for name, (kind, start) in carried.items()]
        for line, (name, kind, start, value) in enumerate(rows, phis):
            self.lines[line] = f"  {name} = phi {kind} [{start}, %{before}], [{value}, %{last}]"
        self.label(f"done{n}")
