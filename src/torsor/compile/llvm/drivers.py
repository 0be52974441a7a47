"""Drivers around the chunks of a kernel: the loop over a batch, and the one-state form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torsor.compile import workspace
from torsor.compile.llvm.lanes import IRWriter

#: size of a row [bytes] above which streaming stores may be faster
LONG_ROW = 1024

#: copy n numbers by streaming stores, which bypass the caches: the destination is not read first.  Of a longer row, the part
#: is copied that begins with its first whole vector (``skip``), and ends with the vector that its last number is in (``over``
#: more numbers are there)
STREAM = """
define internal void @stream(ptr %to, ptr %from, i64 %n, i1 %skip, i64 %over) nounwind noinline {
entry:
  %all = add i64 %n, %over
  br label %head
head:
  %i = phi i64 [0, %entry], [%inext, %one], [%inext, %copy]
  %p = getelementptr {E}, ptr %to, i64 %i
  %address = ptrtoint ptr %p to i64
  %low = and i64 %address, {M}
  %aligned = icmp eq i64 %low, 0
  %past = icmp sge i64 %i, %n
  %start = or i1 %aligned, %past
  br i1 %start, label %body, label %one
one:
  %inext = add i64 %i, 1
  br i1 %skip, label %head, label %copy
copy:
  %ps = getelementptr {E}, ptr %from, i64 %i
  %x = load {E}, ptr %ps
  store {E} %x, ptr %p
  br label %head
body:
  %j = phi i64 [%i, %head], [%jnext, %four]
  %jnext = add i64 %j, {K}
  %whole = icmp sle i64 %jnext, %all
  %begun = icmp slt i64 %j, %n
  %fits = and i1 %whole, %begun
  br i1 %fits, label %four, label %tail
four:
  %pv = getelementptr {E}, ptr %to, i64 %j
  %qv = getelementptr {E}, ptr %from, i64 %j
  %v = load <{K} x {E}>, ptr %qv, align {A}
  store <{K} x {E}> %v, ptr %pv, align {S}, !nontemporal !0
  br label %body
tail:
  %k = phi i64 [%j, %body], [%knext, %rest]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %rest, label %done
rest:
  %pt = getelementptr {E}, ptr %to, i64 %k
  %qt = getelementptr {E}, ptr %from, i64 %k
  %y = load {E}, ptr %qt
  store {E} %y, ptr %pt
  %knext = add i64 %k, 1
  br label %tail
done:
  ret void
}
!0 = !{i32 1}
"""


#: n times one number, from an address on
FILL = """
define internal void @fill(ptr %to, i64 %n, {E} %x) nounwind noinline {
entry:
  %one = insertelement <{K} x {E}> poison, {E} %x, i32 0
  %all = shufflevector <{K} x {E}> %one, <{K} x {E}> poison, <{K} x i32> zeroinitializer
  br label %head
head:
  %i = phi i64 [0, %entry], [%inext, %body]
  %inext = add i64 %i, {K}
  %fits = icmp sle i64 %inext, %n
  br i1 %fits, label %body, label %tail
body:
  %p = getelementptr {E}, ptr %to, i64 %i
  store <{K} x {E}> %all, ptr %p, align {A}
  br label %head
tail:
  %k = phi i64 [%i, %head], [%knext, %rest]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %rest, label %done
rest:
  %q = getelementptr {E}, ptr %to, i64 %k
  store {E} %x, ptr %q
  %knext = add i64 %k, 1
  br label %tail
done:
  ret void
}
"""


def loop(text: str, b: IRWriter) -> str:
    """One of the functions above for the builder's numbers, in vectors of a cache line if these are natural."""
    item = 4 if b.single else 8
    size = max(32, min(64, b.width * item))
    words = {"E": b.E, "K": size // item, "A": item, "S": size, "M": size - 1}
    for word, value in words.items():
        text = text.replace("{" + word + "}", str(value))
    return text


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
    found, start, item = {}, 0, 4 if b.single else 8
    for k, size in enumerate(outputs):
        step = -(-size * item // workspace.ALIGN) * workspace.ALIGN
        if size * item >= LONG_ROW and start + b.width * step <= workspace.STAGE:
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
    item = 4 if b.single else 8
    given = blocks or Blocks()
    staged = _stages(b, len(inputs), [0 if a in given.outputs else size for a, size in enumerate(outputs)])
    size = sum(W * step for _, _, step in staged.values())
    tile = f"  %tileat = getelementptr i8, ptr %stage, i64 {size}\n  %tile = select i1 %stream, ptr %tileat, ptr null"
    arrays = workspace.Arrays()
    arrays.add("%lanes", "ptr", (n + bool(private)) * W, 8)
    arrays.add("%scratch", b.T, slots + 1, item * W)
    o = _private_rows(b, arrays, n, private)
    ready = "\n".join(o)
    o.clear()
    for lane in range(W):
        o.append(f"  %raw{lane} = add i64 %s, {lane}")
        o.append(f"  %in{lane} = icmp slt i64 %raw{lane}, %end")
        o.append(f"  %row{lane} = select i1 %in{lane}, i64 %raw{lane}, i64 %last")
    for a in range(n):
        o.append(f"  %ap{a} = getelementptr i64, ptr %args, i64 {2 * a}")
        o.append(f"  %base{a} = load ptr, ptr %ap{a}")
        o.append(f"  %sp{a} = getelementptr i64, ptr %args, i64 {2 * a + 1}")
        o.append(f"  %stride{a} = load i64, ptr %sp{a}")
        for lane in range(W):
            o.append(f"  %off{a}_{lane} = mul i64 %row{lane}, %stride{a}")
            o.append(f"  %direct{a}_{lane} = getelementptr i8, ptr %base{a}, i64 %off{a}_{lane}")
            place = f"%direct{a}_{lane}"
            if a in staged:
                _, start, step = staged[a]
                o.append(f"  %stage{a}_{lane} = getelementptr i8, ptr %stage, i64 {start + lane * step}")
                o.append(f"  %p{a}_{lane} = select i1 %stream, ptr %stage{a}_{lane}, ptr {place}")
                place = f"%p{a}_{lane}"
            o.append(f"  %lp{a}_{lane} = getelementptr ptr, ptr %lanes, i64 {a * W + lane}")
            o.append(f"  store ptr {place}, ptr %lp{a}_{lane}")
    setup = "\n".join(o)
    any_bad = "%nan" if W == 1 else "%anynan"
    reduce = "" if W == 1 else f"  %anynan = call i1 @llvm.vector.reduce.or.v{W}i1({b.B} %nan)"
    copies = "\n".join(
        f"  call void @stream(ptr %direct{a}_{lane}, ptr %stage{a}_{lane}, i64 {count}, i1 false, i64 0)"
        for a, (count, _, _) in staged.items() for lane in range(W)
    )  # fmt: skip
    text = f"""{loop(STREAM, b) if staged or given.outputs else ""}
define i64 @batch(ptr %args, i64 %start, i64 %end, ptr %work, ptr %stage) nounwind {{
entry:
{arrays.text()}
{ready}
{given.prepared}
  %last = sub i64 %end, 1
  %stream = icmp ne ptr %stage, null
{tile}
  br label %head
head:
  %s = phi i64 [%start, %entry], [%next, %after]
  %bad = phi i64 [-1, %entry], [%badnext, %after]
  %more = icmp slt i64 %s, %end
  br i1 %more, label %body, label %done
body:
{setup}
  store {b.T} zeroinitializer, ptr %scratch
{calls}
  br i1 %stream, label %copy, label %after
copy:
{copies}
  br label %after
after:
  %check = load {b.T}, ptr %scratch
  %nan = fcmp uno {b.T} %check, %check
{reduce}
  %isfirst = icmp slt i64 %bad, 0
  %new = and i1 {any_bad}, %isfirst
  %badnext = select i1 %new, i64 %s, i64 %bad
  %next = add i64 %s, {W}
  br label %head
done:
  fence seq_cst
  ret i64 %bad
}}
"""
    return Driver(text, arrays.size, size + given.tile)


def _private_rows(b: IRWriter, arrays: workspace.Arrays, n: int, size: int) -> list[str]:
    """Add a row of numbers for each lane to a driver's arrays, and its address to %lanes, behind those of n arguments."""
    if not size:
        return []
    lanes, item = 1 if b.one else b.width, 4 if b.single else 8
    arrays.add("%private", b.E, size * lanes, item)
    lines = []
    for lane in range(lanes):
        lines.append(f"  %own{lane} = getelementptr {b.E}, ptr %private, i64 {lane * size}")
        lines.append(f"  %ownp{lane} = getelementptr ptr, ptr %lanes, i64 {n * lanes + lane}")
        lines.append(f"  store ptr %own{lane}, ptr %ownp{lane}")
    return lines


def one_driver(b: IRWriter, slots: int, calls: str, arguments: int = 0, private: int = 0) -> Driver:
    """``i1 @one(ptr lanes, ptr work)``: one state, its rows at the addresses given; true if something was not finite.

    ``private`` as for :func:`batch_driver`, behind this number of ``arguments``.
    """
    first = "%check" if b.width == 1 else "%lane0"
    pick = "" if b.width == 1 else f"  %lane0 = extractelement {b.T} %check, i32 0"
    zero = "zeroinitializer" if b.width > 1 else b.const(0.0)
    arrays = workspace.Arrays()
    arrays.add("%scratch", b.T, slots + 1, (4 if b.single else 8) * b.width)
    given, ready = "%lanes", ""
    if private:
        given = "%given"
        arrays.add("%lanes", "ptr", arguments + 1, 8)
        copies = [
            f"  %from{k} = getelementptr ptr, ptr %given, i64 {k}\n  %address{k} = load ptr, ptr %from{k}\n"
            f"  %to{k} = getelementptr ptr, ptr %lanes, i64 {k}\n  store ptr %address{k}, ptr %to{k}"
            for k in range(arguments)
        ]
        ready = "\n".join([*copies, *_private_rows(b, arrays, arguments, private)])
    text = f"""
define i1 @one(ptr {given}, ptr %work) nounwind {{
{arrays.text()}
{ready}
  store {b.T} {zero}, ptr %scratch
{calls}
  %check = load {b.T}, ptr %scratch
{pick}
  %bad = fcmp uno {b.E} {first}, {first}
  ret i1 %bad
}}
"""
    return Driver(text, arrays.size)
