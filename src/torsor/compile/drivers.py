"""What stands around the chunks of a kernel: the loop over a batch, and the one-state form."""

from __future__ import annotations

from torsor.compile.lanes import Builder


def batch_driver(b: Builder, n: int, slots: int, calls: str) -> str:
    """``i64 @batch(ptr args, i64 start, i64 end)``: rows start … end−1; the first bad row's block, or −1.

    ``args`` holds (address, bytes from row to row) for each input, then each output.  Past the last row a lane repeats it:
    it computes and stores the same bits, so there is no tail to treat apart.
    """
    W = b.width
    o = []
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
            o.append(f"  %p{a}_{lane} = getelementptr i8, ptr %base{a}, i64 %off{a}_{lane}")
            o.append(f"  %lp{a}_{lane} = getelementptr ptr, ptr %lanes, i64 {a * W + lane}")
            o.append(f"  store ptr %p{a}_{lane}, ptr %lp{a}_{lane}")
    setup = "\n".join(o)
    any_bad = "%nan" if W == 1 else "%anynan"
    reduce = "" if W == 1 else f"  %anynan = call i1 @llvm.vector.reduce.or.v{W}i1({b.B} %nan)"
    return f"""
define i64 @batch(ptr %args, i64 %start, i64 %end) nounwind {{
entry:
  %lanes = alloca [{max(1, n * W)} x ptr], align 16
  %scratch = alloca [{slots + 1} x {b.T}], align 64
  %last = sub i64 %end, 1
  br label %head
head:
  %s = phi i64 [%start, %entry], [%next, %body]
  %bad = phi i64 [-1, %entry], [%badnext, %body]
  %more = icmp slt i64 %s, %end
  br i1 %more, label %body, label %done
body:
{setup}
  store {b.T} zeroinitializer, ptr %scratch
{calls}
  %check = load {b.T}, ptr %scratch
  %nan = fcmp uno {b.T} %check, %check
{reduce}
  %isfirst = icmp slt i64 %bad, 0
  %new = and i1 {any_bad}, %isfirst
  %badnext = select i1 %new, i64 %s, i64 %bad
  %next = add i64 %s, {W}
  br label %head
done:
  ret i64 %bad
}}
"""


def one_driver(b: Builder, n: int, slots: int, calls: str) -> str:
    """``i1 @one(ptr lanes)``: one state, its rows at the addresses given; true if something was not finite."""
    first = "%check" if b.width == 1 else "%lane0"
    pick = "" if b.width == 1 else f"  %lane0 = extractelement {b.T} %check, i32 0"
    zero = "zeroinitializer" if b.width > 1 else b.const(0.0)
    return f"""
define i1 @one(ptr %lanes) nounwind {{
  %scratch = alloca [{slots + 1} x {b.T}], align 64
  store {b.T} {zero}, ptr %scratch
{calls}
  %check = load {b.T}, ptr %scratch
{pick}
  %bad = fcmp uno {b.E} {first}, {first}
  ret i1 %bad
}}
"""
