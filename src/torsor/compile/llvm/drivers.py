"""Drivers around the chunks of a kernel: the loop over a batch, and the one-state form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torsor.compile import workspace
from torsor.compile.llvm.lanes import IRWriter

#: size of a row [bytes] above which streaming stores may be faster
LONG_ROW = 1024


def _cache_lines(b: IRWriter) -> IRWriter:
    """A writer for the same numbers in vectors of a cache line, if these are natural."""
    return IRWriter(max(32, min(64, b.width * b.item)) // b.item, single=b.single)


def stream_function(b: IRWriter) -> str:
    """``void @stream(ptr to, ptr from, i64 n, i1 skip, i64 over)``: copy n numbers by streaming stores.

    These bypass the caches: the destination is not read first.  Of a longer row, the part is copied that begins with its first
    whole vector (``skip``), and ends with the vector that its last number is in (``over`` more numbers are there).
    """
    v = _cache_lines(b)
    v.begin("internal void @stream(ptr %to, ptr %from, i64 %n, i1 %skip, i64 %over) noinline")
    size = v.width * v.item
    with v.each("%n") as single:  # numbers before the first whole vector
        address = v.put(f"ptrtoint ptr {v.address(v.E, '%to', single.k)} to i64")
        v.branch(v.compare("eq", "i64", v.put(f"and i64 {address}, {size - 1}"), 0), "aligned", "unaligned")
        v.label("unaligned")
        with v.when("%skip", False):
            v.store(v.E, v.element(v.E, "%from", single.k), "%to", single.k)
    v.jump("aligned")
    v.label("aligned")
    whole = v.add(v.add("%n", "%over"), 1 - v.width)
    with v.each(v.choose(v.compare("slt", "i64", whole, "%n"), "i64", whole, "%n"), single.k, v.width) as vector:
        x = v.load("%from", vector.k)
        v.do(f"store {v.T} {x}, ptr {v.address(v.E, '%to', vector.k)}, align {size}, !nontemporal !0")
    with v.each("%n", vector.k) as rest:
        v.store(v.E, v.element(v.E, "%from", rest.k), "%to", rest.k)
    return v.end() + "!0 = !{i32 1}\n"


def fill_function(b: IRWriter) -> str:
    """``void @fill(ptr to, i64 n, E x)``: n times one number, from an address on."""
    v = _cache_lines(b)
    v.begin(f"internal void @fill(ptr %to, i64 %n, {v.E} %x) noinline")
    numbers = v.splat("%x")
    with v.each(v.add("%n", 1 - v.width), step=v.width) as vector:
        v.save(numbers, "%to", vector.k)
    with v.each("%n", vector.k) as rest:
        v.store(v.E, "%x", "%to", rest.k)
    return v.end()


class Driver(NamedTuple):
    """IR of a driver, and the bytes of the two buffers that its caller provides (see :mod:`torsor.compile.workspace`)."""

    text: str
    work: int
    stage: int = 0


class Blocks(NamedTuple):
    """Outputs that calls write themselves, bytes of a tile of their rows, and lines that run before the first states."""

    outputs: Sequence[int] = ()
    tile: int = 0
    prepared: str = ""


def _stages(b: IRWriter, inputs: int, outputs: list[int]) -> dict[int, tuple[int, int, int]]:
    """{argument: (its size, position of its staged rows, bytes from lane to lane)} of long rows, while space remains."""
    found, start = {}, 0
    for k, size in enumerate(outputs):
        step = -(-size * b.item // workspace.ALIGN) * workspace.ALIGN
        if size * b.item >= LONG_ROW and start + b.width * step <= workspace.STAGE:
            found[inputs + k] = (size, start, step)
            start += b.width * step
    return found


def batch_driver(
    b: IRWriter,
    inputs: list[int],
    outputs: list[int],
    slots: int,
    calls: str,
    private: int = 0,
    blocks: Blocks | None = None,
) -> Driver:
    """``i64 @batch(ptr args, i64 start, i64 end, ptr work, ptr stage)``: rows start … end−1; the first bad row's block, or −1.

    ``args`` holds (address, bytes from row to row) for each input, then each output.  Past the last row a lane repeats it:
    it computes and stores the same bits, so no separate tail loop is needed.  Unless ``stage`` is null, long rows are written
    there first, then copied by streaming stores, for results larger than the caches.  ``private`` is the size of one more row
    for each lane, behind those of the arguments, in which ``calls`` leave numbers for one another.  The outputs of
    ``blocks`` are written by the calls themselves, past the caches too.
    """
    W, n = b.width, len(inputs) + len(outputs)
    given = blocks or Blocks()
    staged = _stages(b, len(inputs), [0 if a in given.outputs else size for a, size in enumerate(outputs)])
    size = sum(W * step for _, _, step in staged.values())
    arrays = workspace.Arrays()
    arrays.add("%lanes", "ptr", (n + bool(private)) * W, 8)
    arrays.add("%scratch", b.T, slots + 1, b.item * W)
    b.begin("i64 @batch(ptr %args, i64 %start, i64 %end, ptr %work, ptr %stage)")
    _define_arrays(b, arrays, n, private)
    b.lines += [given.prepared, "  %stream = icmp ne ptr %stage, null"]
    b.do(f"%tile = select i1 %stream, ptr {b.address('i8', '%stage', size)}, ptr null")
    last = b.add("%end", -1)
    with b.each("%end", "%start", W, bad=("i64", "-1")) as states:
        rows = []
        for lane in range(W):
            raw = b.add(states.k, lane)
            rows.append(b.choose(b.compare("slt", "i64", raw, "%end"), "i64", raw, last))
        copies = []
        for a in range(n):
            base, stride = b.element("ptr", "%args", 2 * a), b.element("i64", "%args", 2 * a + 1)
            for lane, row in enumerate(rows):
                place = b.address("i8", base, b.put(f"mul i64 {row}, {stride}"))
                if a in staged:
                    count, start, step = staged[a]
                    copies.append((place, b.address("i8", "%stage", start + lane * step), count))
                    place = b.choose("%stream", "ptr", copies[-1][1], place)
                b.store("ptr", place, "%lanes", a * W + lane)
        b.do(f"store {b.T} zeroinitializer, ptr %scratch")
        b.lines.append(calls)
        with b.when("%stream"):
            for place, stage, count in copies:
                b.do(f"call void @stream(ptr {place}, ptr {stage}, i64 {count}, i1 false, i64 0)")
        check = b.put(f"load {b.T}, ptr %scratch")
        nan = b.put(f"fcmp uno {b.T} {check}, {check}")
        found = nan if W == 1 else b.put(f"call i1 @llvm.vector.reduce.or.v{W}i1({b.B} {nan})")
        first = b.put(f"and i1 {found}, {b.compare('slt', 'i64', states.now['bad'], 0)}")
        states.then["bad"] = b.choose(first, "i64", states.k, states.now["bad"])
    b.do("fence seq_cst")
    stream = stream_function(b) if staged or given.outputs else ""
    return Driver(stream + b.end(f"i64 {states.now['bad']}"), arrays.size, size + given.tile)


def _define_arrays(b: IRWriter, arrays: workspace.Arrays, n: int, private: int) -> None:
    """Define a driver's arrays; with a row of ``private`` numbers for each lane, at %lanes behind those of n arguments."""
    if private:
        arrays.add("%private", b.E, private * b.rows, b.item)
    b.lines.append(arrays.text())
    for lane in range(b.rows if private else 0):
        b.store("ptr", b.address(b.E, "%private", lane * private), "%lanes", n * b.rows + lane)


def one_driver(b: IRWriter, slots: int, calls: str, arguments: int = 0, private: int = 0) -> Driver:
    """``i1 @one(ptr lanes, ptr work)``: one state, its rows at the addresses given; true if something was not finite.

    ``private`` as for :func:`batch_driver`, behind this number of ``arguments``.
    """
    arrays = workspace.Arrays()
    arrays.add("%scratch", b.T, slots + 1, b.item * b.width)
    if private:
        arrays.add("%lanes", "ptr", arguments + 1, 8)
    b.begin(f"i1 @one(ptr {'%given' if private else '%lanes'}, ptr %work)")
    _define_arrays(b, arrays, arguments, private)
    for k in range(arguments if private else 0):
        b.store("ptr", b.element("ptr", "%given", k), "%lanes", k)
    b.do(f"store {b.T} {b.zero}, ptr %scratch")
    b.lines.append(calls)
    check = b.lane(b.put(f"load {b.T}, ptr %scratch"), 0)
    return Driver(b.end(f"i1 {b.put(f'fcmp uno {b.E} {check}, {check}')}"), arrays.size)
