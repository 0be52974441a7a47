"""The LLVM IR of a handler of XLA's foreign function interface: ``XLA_FFI_Error *handle(XLA_FFI_CallFrame *frame)``.

It reads the call frame (``xla/ffi/api/c_api.h`` in jaxlib, a stable C interface), and runs the batch form of one kernel on the
buffers that it names, in their places.  A long batch is cut into pieces: the caller takes one after another, and tasks in XLA's
thread pool help it.  The code is the same for all kernels; each has its own copy, with its own table.
"""

from __future__ import annotations

from torsor.compile.llvm.writer import Writer
from torsor.compile.workspace import ALIGN

#: places in the module's table: the kernel's batch form, its description, bytes of its work buffer, text of the error; then
#: functions of the C library
BATCH, DESCRIPTION, WORK, MESSAGE, MALLOC, FREE, YIELD = range(7)
#: numbers of the description before the pairs
HEAD = 3

# byte offsets in the structures of c_api.h
_EXTENSION, _API, _CONTEXT, _STAGE, _ARGUMENTS, _RESULTS = 8, 16, 24, 32, 72, 112  # XLA_FFI_CallFrame; args.args, rets.rets
_DATA, _RANK, _DIMENSIONS = 24, 32, 40  # XLA_FFI_Buffer
_TYPE, _METADATA = 8, 24  # XLA_FFI_Metadata_Extension
_VERSION_SIZE, _VERSION_EXTENSION, _VERSION, _TRAITS, _STATE = 8, 16, 24, 32, 40  # XLA_FFI_Metadata
_API_VERSION, _ERROR_CREATE, _ERROR_DESTROY, _SCHEDULE, _THREADS = 32, 48, 64, 136, 144  # XLA_FFI_Api
_METADATA_EXTENSION, _EXECUTE, _INVALID_ARGUMENT = 1, 3, 3  # of its enums
_SIZE_OF_VERSION, _SIZE_OF_CREATE, _SIZE_OF_DESTROY, _SIZE_OF_SCHEDULE, _SIZE_OF_THREADS = 24, 28, 24, 40, 32

# places in the array of i64 that the threads of one call share; the last thread that has it frees it
_NEXT, _OWNERS, _DONE, _BAD, _COUNT, _PIECES, _ROWS = range(7)


def handler_module() -> str:
    """IR with the entry ``@handle``.

    The description is an array of i64: the number of inputs, that of outputs, the states of a piece, then for each input and
    output (axes, bytes) of one row.  An array has one row for each state of the batch, or one row for all of them.
    """
    return "\n".join(("@table = global [7 x ptr] zeroinitializer", _handle(), _take(), _help(), _release()))


def _entry(w: Writer, place: int) -> str:
    """One entry of the table."""
    return w.element("ptr", "@table", str(place))


def _fill(w: Writer, structure: str, *fields: tuple[str, object]) -> None:
    """Store (type, value) of the first fields of a structure, eight bytes each."""
    for place, (kind, value) in enumerate(fields):
        w.store(kind, value, structure, place)


def _atomic(w: Writer, operation: str, shared: str, place: int, value: object) -> str:
    """Change a number that threads share; returns the one before."""
    return w.put(f"atomicrmw {operation} ptr {w.address('i64', shared, str(place))}, i64 {value} seq_cst")


def _handle() -> str:
    w = Writer("ptr @handle(ptr %frame)", refusal="fail")
    extension = w.field("ptr", "%frame", _EXTENSION)
    w.branch(w.compare("eq", "ptr", extension, "null"), "plain", "extended")
    w.label("extended")
    kind = w.field("i32", extension, _TYPE)
    w.branch(w.compare("eq", "i32", kind, _METADATA_EXTENSION), "metadata", "plain")
    w.label("metadata")
    _report_version(w, extension)
    w.do("ret ptr null")
    w.label("plain")
    stage = w.field("i32", "%frame", _STAGE)
    w.branch(w.compare("eq", "i32", stage, _EXECUTE), "execute", "done")
    w.label("execute")
    shared = _share(w)
    _call_helpers(w, shared)
    w.do(f"call void @take(ptr {shared})")
    _wait(w, shared)
    bad = w.element("i64", shared, str(_BAD))
    w.do(f"call void @release(ptr {shared})")
    w.require_equal("i64", bad, 0)
    w.jump("done")
    w.label("done")
    w.do("ret ptr null")
    w.label("fail")
    _fail(w)
    return w.text()


def _report_version(w: Writer, extension: str) -> None:
    """The version of the interface is that of the caller: no field that is used here has changed since the first."""
    metadata, api = w.field("ptr", extension, _METADATA), w.field("ptr", "%frame", _API)
    w.do(f"store i64 {_SIZE_OF_VERSION}, ptr {w.address('i8', metadata, str(_VERSION_SIZE))}")
    w.do(f"store ptr null, ptr {w.address('i8', metadata, str(_VERSION_EXTENSION))}")
    version = w.field("i64", api, _API_VERSION)  # major and minor, 32 bits each
    w.do(f"store i64 {version}, ptr {w.address('i8', metadata, str(_VERSION))}")
    w.do(f"store i32 0, ptr {w.address('i8', metadata, str(_TRAITS))}")
    size = w.field("i64", metadata, 0)
    with w.when(w.compare("uge", "i64", size, _STATE + 8)):
        w.do(f"store i64 0, ptr {w.address('i8', metadata, str(_STATE))}")


def _share(w: Writer) -> str:
    """The shared array of a call, with (address, bytes from row to row) of each buffer at its end."""
    description = _entry(w, DESCRIPTION)
    inputs, outputs, step = (w.element("i64", description, str(k)) for k in range(HEAD))
    total = w.add(inputs, outputs)
    first = w.put(f"load ptr, ptr {w.field('ptr', '%frame', _RESULTS)}")
    count = _leading(w, first, w.element("i64", description, w.add(inputs, w.add(inputs, HEAD))))
    w.branch(w.compare("eq", "i64", count, 0), "done", "some")
    w.label("some")
    size = w.put(f"shl i64 {w.add(w.add(total, total), _ROWS)}, 3")
    shared = w.put(f"call ptr {_entry(w, MALLOC)}(i64 {size})")
    w.require(w.compare("ne", "ptr", shared, "null"))
    pieces = w.put(f"sdiv i64 {w.add(count, w.add(step, -1))}, {step}")
    for place, value in ((_NEXT, 0), (_OWNERS, 1), (_DONE, 0), (_BAD, 0), (_COUNT, count), (_PIECES, pieces)):
        w.store("i64", str(value), shared, str(place))
    rows = w.address("i64", shared, str(_ROWS))
    for where, start, end in ((_ARGUMENTS, "0", inputs), (_RESULTS, inputs, total)):
        buffers = w.field("ptr", "%frame", where)
        with w.each(end, start) as loop:
            twice = w.add(loop.k, loop.k)
            buffer = w.element("ptr", buffers, w.put(f"sub i64 {loop.k}, {start}"))
            lead = _leading(w, buffer, w.element("i64", description, w.add(twice, HEAD)))
            stride = w.element("i64", description, w.add(twice, HEAD + 1))
            w.store("i64", w.field("i64", buffer, _DATA), rows, twice)
            repeated = w.compare("eq", "i64", lead, 1)
            w.store("i64", w.choose(repeated, "i64", 0, stride), rows, w.add(twice, 1))
    return shared


def _leading(w: Writer, buffer: str, axes: str) -> str:
    """The number of rows of a buffer: the product of its dimensions before the last ``axes``."""
    rank, dimensions = w.field("i64", buffer, _RANK), w.field("ptr", buffer, _DIMENSIONS)
    with w.each(w.put(f"sub i64 {rank}, {axes}"), rows=("i64", "1")) as loop:
        loop.then["rows"] = w.put(f"mul i64 {loop.now['rows']}, {w.element('i64', dimensions, loop.k)}")
    return loop.now["rows"]


def _call_helpers(w: Writer, shared: str) -> None:
    """A task for each further thread of XLA's pool that could have a piece; a task may start late, and find none."""
    pieces = w.element("i64", shared, str(_PIECES))
    api = w.field("ptr", "%frame", _API)
    several = w.compare("sgt", "i64", pieces, 1)
    enough = w.compare("uge", "i64", w.field("i64", api, 0), _THREADS + 8)
    w.branch(w.put(f"and i1 {several}, {enough}"), "ask", "compute")
    w.label("ask")
    threads, asked, lost = w.put("alloca i64"), w.put("alloca [5 x i64], align 16"), w.put("alloca [3 x i64], align 16")
    context = w.field("ptr", "%frame", _CONTEXT)
    w.do(f"store i64 1, ptr {threads}")
    _fill(w, asked, ("i64", _SIZE_OF_THREADS), ("i64", 0), ("ptr", context), ("ptr", threads))
    _forget(w, api, w.put(f"call ptr {w.field('ptr', api, _THREADS)}(ptr {asked})"), lost)
    known = w.put(f"load i64, ptr {threads}")
    fewer = w.choose(w.compare("slt", "i64", known, pieces), "i64", known, pieces)
    _fill(w, asked, ("i64", _SIZE_OF_SCHEDULE), ("i64", 0), ("ptr", context), ("ptr", "@help"), ("ptr", shared))
    with w.each(fewer, "1"):
        _atomic(w, "add", shared, _OWNERS, 1)
        error = w.put(f"call ptr {w.field('ptr', api, _SCHEDULE)}(ptr {asked})")
        refused = w.put(f"zext i1 {w.compare('ne', 'ptr', error, 'null')} to i64")
        _atomic(w, "sub", shared, _OWNERS, refused)
        _forget(w, api, error, lost)
    w.jump("compute")
    w.label("compute")


def _forget(w: Writer, api: str, error: str, arguments: str) -> None:
    """Destroy an error of XLA, if there is one: without a pool the caller computes alone."""
    with w.when(w.compare("ne", "ptr", error, "null")):
        _fill(w, arguments, ("i64", _SIZE_OF_DESTROY), ("i64", 0), ("ptr", error))
        w.do(f"call void {w.field('ptr', api, _ERROR_DESTROY)}(ptr {arguments})")


def _wait(w: Writer, shared: str) -> None:
    """Until the pieces that helpers have begun are done; the caller has done the others itself."""
    pieces = w.element("i64", shared, str(_PIECES))
    pause = _entry(w, YIELD)
    w.jump("look")
    w.label("look")
    done = w.put(f"load atomic i64, ptr {w.address('i64', shared, str(_DONE))} seq_cst, align 8")
    w.branch(w.compare("eq", "i64", done, pieces), "complete", "wait")
    w.label("wait")
    w.branch(w.compare("eq", "ptr", pause, "null"), "look", "rest")
    w.label("rest")
    w.put(f"call i32 {pause}()")
    w.jump("look")
    w.label("complete")


def _fail(w: Writer) -> None:
    """Return an error with the text of the table."""
    arguments = w.put("alloca [4 x i64], align 16")
    _fill(w, arguments, ("i64", _SIZE_OF_CREATE), ("i64", 0), ("ptr", _entry(w, MESSAGE)), ("i64", _INVALID_ARGUMENT))
    create = w.field("ptr", w.field("ptr", "%frame", _API), _ERROR_CREATE)
    w.do(f"ret ptr {w.put(f'call ptr {create}(ptr {arguments})')}")


def _take() -> str:
    """``void @take(ptr shared)``: compute pieces until none is left, in a work buffer of one's own."""
    w = Writer("internal void @take(ptr %shared)", refusal="poor")
    step, size = w.element("i64", _entry(w, DESCRIPTION), "2"), w.put(f"ptrtoint ptr {_entry(w, WORK)} to i64")
    count, pieces = (w.element("i64", "%shared", str(k)) for k in (_COUNT, _PIECES))
    rows = w.address("i64", "%shared", str(_ROWS))
    before = w.branch(w.compare("eq", "i64", size, 0), "ready", "allocate")
    w.label("allocate")
    memory = w.put(f"call ptr {_entry(w, MALLOC)}(i64 {w.add(size, ALIGN)})")
    # without memory: the first thread to see it marks the call as failed, and all its pieces as taken and done
    w.require(w.compare("ne", "ptr", memory, "null"))
    address = w.add(w.put(f"ptrtoint ptr {memory} to i64"), ALIGN - 1)
    aligned = w.put(f"inttoptr i64 {w.put(f'and i64 {address}, -{ALIGN}')} to ptr")
    after = w.jump("ready")
    w.label("ready")
    work, owned = w.merge("ptr", ("null", before), (aligned, after)), w.merge("ptr", ("null", before), (memory, after))
    w.jump("next")
    w.label("next")
    piece = _atomic(w, "add", "%shared", _NEXT, 1)
    w.branch(w.compare("slt", "i64", piece, pieces), "compute", "finish")
    w.label("compute")
    start = w.put(f"mul i64 {piece}, {step}")
    beyond = w.add(start, step)
    end = w.choose(w.compare("slt", "i64", beyond, count), "i64", beyond, count)
    bad = w.put(f"call i64 {_entry(w, BATCH)}(ptr {rows}, i64 {start}, i64 {end}, ptr {work}, ptr null)")
    _atomic(w, "or", "%shared", _BAD, w.put(f"zext i1 {w.compare('sge', 'i64', bad, 0)} to i64"))
    _atomic(w, "add", "%shared", _DONE, 1)
    w.jump("next")
    w.label("finish")
    w.do(f"call void {_entry(w, FREE)}(ptr {owned})")
    w.do("ret void")
    w.label("poor")
    w.jump("drop")
    w.label("drop")
    dropped = _atomic(w, "add", "%shared", _NEXT, 1)
    w.branch(w.compare("slt", "i64", dropped, pieces), "mark", "leave")
    w.label("mark")
    _atomic(w, "or", "%shared", _BAD, 1)
    _atomic(w, "add", "%shared", _DONE, 1)
    w.jump("drop")
    w.label("leave")
    return w.end()


def _help() -> str:
    """``void @help(ptr shared)``: a task of XLA's thread pool."""
    w = Writer("internal void @help(ptr %shared)")
    w.do("call void @take(ptr %shared)")
    w.do("call void @release(ptr %shared)")
    return w.end()


def _release() -> str:
    """``void @release(ptr shared)``: free the shared array with its last reference."""
    w = Writer("internal void @release(ptr %shared)")
    before = _atomic(w, "sub", "%shared", _OWNERS, 1)
    with w.when(w.compare("eq", "i64", before, 1)):
        w.do(f"call void {_entry(w, FREE)}(ptr %shared)")
    return w.end()
