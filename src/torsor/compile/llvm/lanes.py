"""Names, types and constants of LLVM IR for one vector width."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from torsor.compile.llvm.writer import Writer

#: C library functions, by their place in the module's table of outside addresses
LIBM = ("sin", "cos", "tanh", "exp", "log", "asin", "acos", "atan2")

#: numbers of two vectors of eight: the even or odd ones of both in turn; of each pair of pairs the first or the last
_EVEN, _ODD = [0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15]
_FIRST, _LAST = [0, 1, 4, 5, 8, 9, 12, 13], [2, 3, 6, 7, 10, 11, 14, 15]


class IRWriter(Writer):
    """Functions with vectors of one width.  ``one`` means a single state: loads spread it over the lanes."""

    def __init__(self, width: int, one: bool = False, single: bool = False):
        super().__init__()
        self.one, self.single = one, single
        self.item = 4 if single else 8  #: bytes of a number
        self.E = "float" if single else "double"
        self._set_width(width)

    def _set_width(self, width: int) -> None:
        self.width = width
        self.rows = 1 if self.one else width  #: rows of an argument that are read or written together
        self.T = f"<{width} x {self.E}>" if width > 1 else self.E
        self.I = f"<{width} x i64>" if width > 1 else "i64"
        self.B = f"<{width} x i1>" if width > 1 else "i1"
        element = "f32" if self.single else "f64"
        self.suffix = f"v{width}{element}" if width > 1 else element
        self.zero = "zeroinitializer" if width > 1 else self.const(0.0)

    @contextmanager
    def in_width(self, width: int) -> Iterator[None]:
        """Lines with vectors of another width."""
        before = self.width
        self._set_width(width)
        yield
        self._set_width(before)

    def load(self, base: str, index: object) -> str:
        """The vector of numbers from ``base[index]`` on."""
        return self.put(f"load {self.T}, ptr {self.address(self.E, base, index)}, align {self.item}")

    def save(self, vector: str, base: str, index: object) -> None:
        """A vector to the numbers from ``base[index]`` on."""
        self.do(f"store {self.T} {vector}, ptr {self.address(self.E, base, index)}, align {self.item}")

    def number(self, x: float) -> str:
        """A constant of one lane."""
        if self.single:
            x = struct.unpack("<f", struct.pack("<f", x))[0]
        return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"

    def const(self, x: float) -> str:
        return f"splat ({self.E} {self.number(x)})" if self.width > 1 else self.number(x)

    def lane(self, value: str, k: int) -> str:
        return self.put(f"extractelement {self.T} {value}, i32 {k}") if self.width > 1 else value

    def whole(self, n: int) -> str:
        """A whole number in every lane."""
        return f"splat (i64 {n})" if self.width > 1 else str(n)

    def splat(self, x: str) -> str:
        """A number in every lane."""
        if self.width == 1:
            return x
        first = self.put(f"insertelement {self.T} poison, {self.E} {x}, i32 0")
        return self.put(f"shufflevector {self.T} {first}, {self.T} poison, <{self.width} x i32> zeroinitializer")

    def vector(self, numbers: Iterable[str]) -> str:
        """The numbers of all rows, made one after another; that of a single state in every lane."""
        result = "poison"
        for lane, x in enumerate(numbers):
            if self.rows == 1:
                return self.splat(x)
            result = self.put(f"insertelement {self.T} {result}, {self.E} {x}, i32 {lane}")
        return result

    def multiply_add(self, a: str, b: str, c: str, fma: bool) -> str:
        """a b + c, fused or not."""
        T = self.T
        if fma:
            return self.put(f"call {T} @llvm.fma.{self.suffix}({T} {a}, {T} {b}, {T} {c})")
        return self.put(f"fadd {T} {self.put(f'fmul {T} {a}, {b}')}, {c}")

    def subtract_product(self, x: str, a: str, b: str, fma: bool) -> str:
        """x − a b, fused or not."""
        if fma:
            return self.multiply_add(self.put(f"fneg {self.T} {a}"), b, x, fma)
        return self.put(f"fsub {self.T} {x}, {self.put(f'fmul {self.T} {a}, {b}')}")

    def lanewise(self, name: str, operands: list[str]) -> str:
        """The C library's function, lane by lane, in double precision; of a single state, once for all lanes."""
        function = self.element("ptr", "%table", LIBM.index(name))

        def of_lane(k: int) -> str:
            lanes = [self.lane(x, k) for x in operands]
            if self.single:
                lanes = [self.put(f"fpext float {x} to double") for x in lanes]
            value = self.put(f"call double {function}({', '.join(f'double {x}' for x in lanes)})")
            return self.put(f"fptrunc double {value} to float") if self.single else value

        return self.vector(map(of_lane, range(self.rows)))

    def transpose(self, rows: list[str]) -> list[str]:
        """Columns of a W×W block given by rows: log₂ W rounds of shuffles."""
        w, rows, half = self.width, list(rows), 1
        if w == 8 and not self.single:
            parts = list(range(4)), list(range(4, 8))
            return self.columns([(self.shuffle(x, "poison", parts[0]), self.shuffle(x, "poison", parts[1])) for x in rows])
        while half < w:
            for i in range(w):
                if i & half:
                    continue
                a, b = rows[i], rows[i + half]
                low = [c if not c & half else w + c - half for c in range(w)]
                high = [c + half if not c & half else w + c for c in range(w)]
                rows[i], rows[i + half] = self.shuffle(a, b, low), self.shuffle(a, b, high)
            half *= 2
        return rows

    def columns(self, halves: list[tuple[str, str]]) -> list[str]:
        """Columns of an 8×8 block of doubles whose rows are given as halves, ``<4 x double>`` each.

        Three rounds of the cheapest shuffles that processors with eight lanes have; the first is free if the halves are loaded.
        """
        both = ", ".join(f"i32 {k}" for k in range(8))
        found: list[str] = []
        for x in zip(*halves, strict=True):
            pairs = ((x[i], x[i + 2]) for i in (0, 1, 4, 5))
            a, b, c, d = (self.put(f"shufflevector <4 x double> {y}, <4 x double> {z}, <8 x i32> <{both}>") for y, z in pairs)
            even, odd = ((self.shuffle(a, b, mask), self.shuffle(c, d, mask)) for mask in (_EVEN, _ODD))
            found += [self.shuffle(y, z, mask) for mask in (_FIRST, _LAST) for y, z in (even, odd)]
        return found

    def shuffle(self, a: str, b: str, mask: list[int]) -> str:
        picks = ", ".join(f"i32 {m}" for m in mask)
        return self.put(f"shufflevector {self.T} {a}, {self.T} {b}, <{len(mask)} x i32> <{picks}>")
