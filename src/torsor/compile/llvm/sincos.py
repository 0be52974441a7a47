"""sin and cos as LLVM IR: straight-line vector code, the C library beyond |x| = 1e5.

Errors are below 1.5 ulp with a fused multiply-add and below 2.5 ulp without.  The polynomials alone err by up to 0.75 ulp,
and r is one double: its rounding (two without FMA) counts 0.87 ulp where r exceeds 1/2 and sin r does not, else less.

n = round(2x/π), r = x − n π/2 by Cody & Waite (exact with a fused multiply-add, in three parts without), then the
polynomials of fdlibm on [−π/4, π/4]; the quadrant n mod 4 swaps and signs them.  A lane beyond the reduction's range is
recomputed by the C library, lane by lane, so a state's result never depends on its neighbours.
"""

from __future__ import annotations

from torsor.compile.llvm.lanes import IRWriter

LIMIT = 1e5

_SIN = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
_COS = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip
_TWO_OVER_PI = 0.63661977236758134308
_HALF_PI_FMA = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
_HALF_PI_SPLIT = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
_MAGIC = 6755399441055744.0  # 1.5·2⁵²: adding it rounds to the nearest whole number and leaves that in the low bits


def sincos(b: IRWriter, fma: bool) -> str:
    """The text of ``{T, T} @sincos(T x, ptr table)`` for a builder ``b`` (its vector type, constants and intrinsics)."""
    T, I, op, c, pair = b.T, b.I, b.put, b.const, f"{{{b.T}, {b.T}}}"
    b.begin(f"internal {pair} @sincos({T} %x, ptr %table) noinline")

    def mul(x: str, y: str) -> str:
        return op(f"fmul {T} {x}, {y}")

    def add(x: str, y: str) -> str:
        return op(f"fadd {T} {x}, {y}")

    def sub(x: str, y: str) -> str:
        return op(f"fsub {T} {x}, {y}")

    def mad(x: str, y: str, z: str) -> str:
        return b.multiply_add(x, y, z, fma)

    shifted = mad("%x", c(_TWO_OVER_PI), c(_MAGIC))
    n = sub(shifted, c(_MAGIC))
    minus = op(f"fneg {T} {n}")
    r = "%x"
    for part in _HALF_PI_FMA if fma else _HALF_PI_SPLIT:
        r = mad(minus, c(part), r)
    z = mul(r, r)

    def horner(coefficients: tuple[float, ...]) -> str:
        total = c(coefficients[-1])
        for a in reversed(coefficients[:-1]):
            total = mad(total, z, c(a))
        return total

    s = mad(mul(z, r), horner(_SIN), r)
    half = mul(z, c(0.5))
    w = sub(c(1.0), half)
    rest = mad(mul(z, z), horner(_COS), sub(sub(c(1.0), w), half))  # corrects the rounding error of 1 − z/2
    cosine = add(w, rest)

    quadrant = op(f"bitcast {T} {shifted} to {I}")
    low = op(f"and {I} {quadrant}, {b.whole(1)}")
    odd = op(f"icmp eq {I} {low}, {b.whole(1)}")

    def apply_sign(value: str, q: str) -> str:
        minus_bit = op(f"and {I} {q}, {b.whole(2)}")
        minus_sign = op(f"shl {I} {minus_bit}, {b.whole(62)}")
        bits = op(f"bitcast {T} {value} to {I}")
        flipped = op(f"xor {I} {bits}, {minus_sign}")
        return op(f"bitcast {I} {flipped} to {T}")

    sine_out = apply_sign(op(f"select {b.B} {odd}, {T} {cosine}, {T} {s}"), quadrant)
    cosine_out = apply_sign(op(f"select {b.B} {odd}, {T} {s}, {T} {cosine}"), op(f"add {I} {quadrant}, {b.whole(1)}"))

    size = op(f"call {T} @llvm.fabs.{b.suffix}({T} %x)")
    beyond = op(f"fcmp ogt {T} {size}, {c(LIMIT)}")
    any_beyond = beyond if b.width == 1 else op(f"call i1 @llvm.vector.reduce.or.v{b.width}i1({b.B} {beyond})")
    near = b.branch(any_beyond, "far", "near")
    b.label("far")
    far_s, far_c = b.lanewise("sin", ["%x"]), b.lanewise("cos", ["%x"])
    far_s = op(f"select {b.B} {beyond}, {T} {far_s}, {T} {sine_out}")
    far_c = op(f"select {b.B} {beyond}, {T} {far_c}, {T} {cosine_out}")
    far = b.jump("near")
    b.label("near")
    sine, cosine = b.merge(T, (sine_out, near), (far_s, far)), b.merge(T, (cosine_out, near), (far_c, far))
    return _end_pair(b, sine, cosine)


def _end_pair(b: IRWriter, first: str, second: str) -> str:
    """Return two vectors; the text of the function."""
    pair = f"{{{b.T}, {b.T}}}"
    half = b.put(f"insertvalue {pair} poison, {b.T} {first}, 0")
    return b.end(f"{pair} {b.put(f'insertvalue {pair} {half}, {b.T} {second}, 1')}")


def trigonometry(b: IRWriter, fma: bool) -> str:
    """The function ``@sincos`` of a builder's vectors."""
    return _single_sincos(b, fma) if b.single else sincos(IRWriter(b.width, b.one), fma)


def _single_sincos(b: IRWriter, fma: bool) -> str:
    """Single precision: the double-precision function between two conversions, so that accuracy is never the question."""
    wide = IRWriter(b.width)
    inner, pair = sincos(wide, fma).replace("@sincos(", "@sincos_wide("), f"{{{wide.T}, {wide.T}}}"
    b.begin(f"internal {{{b.T}, {b.T}}} @sincos({b.T} %x, ptr %table) noinline")
    both = b.put(f"call {pair} @sincos_wide({wide.T} {b.put(f'fpext {b.T} %x to {wide.T}')}, ptr %table)")
    parts = [b.put(f"extractvalue {pair} {both}, {k}") for k in (0, 1)]
    return inner + _end_pair(b, *(b.put(f"fptrunc {wide.T} {x} to {b.T}") for x in parts))
