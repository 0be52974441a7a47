"""The LLVM IR of a handler of XLA's foreign function interface: ``XLA_FFI_Error *handle(XLA_FFI_CallFrame *frame)``.

It reads the call frame (``xla/ffi/api/c_api.h`` in jaxlib, a stable C interface), and runs the batch form of one kernel on the
buffers that it names, in their places.  The code is the same for all kernels; each has its own copy, with its own table.
"""

from __future__ import annotations

from torsor.compile.llvm.writer import Writer
from torsor.compile.workspace import ALIGN

#: places in the module's table: the kernel's batch form, its description, bytes of its work buffer, text of the error; malloc
#: and free
BATCH, DESCRIPTION, WORK, MESSAGE, MALLOC, FREE = range(6)

# byte offsets in the structures of c_api.h
_EXTENSION, _API, _STAGE, _ARGUMENTS, _RESULTS = 8, 16, 32, 72, 112  # XLA_FFI_CallFrame; args.args, rets.rets
_DATA, _RANK, _DIMENSIONS = 24, 32, 40  # XLA_FFI_Buffer
_TYPE, _METADATA = 8, 24  # XLA_FFI_Metadata_Extension
_VERSION_SIZE, _VERSION_EXTENSION, _VERSION, _TRAITS, _STATE = 8, 16, 24, 32, 40  # XLA_FFI_Metadata
_API_VERSION, _ERROR_CREATE = 32, 48  # XLA_FFI_Api
_METADATA_EXTENSION, _EXECUTE, _INVALID_ARGUMENT = 1, 3, 3  # of its enums
_STRUCT_SIZE_OF_VERSION, _STRUCT_SIZE_OF_ERROR = 24, 28


def handler_module() -> str:
    """IR with the entry ``@handle``.

    The description is an array of i64: the number of inputs, that of outputs, then for each of them (axes, bytes) of one row.
    An array has one row for each state of the batch, or one row for all of them.
    """
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
    _execute(w)
    w.jump("done")
    w.label("done")
    w.do("ret ptr null")
    w.label("fail")
    _fail(w)
    return f"@table = global [6 x ptr] zeroinitializer\n{w.text()}"


def _entry(w: Writer, place: int) -> str:
    """One entry of the table."""
    return w.element("ptr", "@table", str(place))


def _report_version(w: Writer, extension: str) -> None:
    """The version of the interface is that of the caller: no field that is used here has changed since the first."""
    metadata, api = w.field("ptr", extension, _METADATA), w.field("ptr", "%frame", _API)
    w.do(f"store i64 {_STRUCT_SIZE_OF_VERSION}, ptr {w.address('i8', metadata, str(_VERSION_SIZE))}")
    w.do(f"store ptr null, ptr {w.address('i8', metadata, str(_VERSION_EXTENSION))}")
    version = w.field("i64", api, _API_VERSION)  # major and minor, 32 bits each
    w.do(f"store i64 {version}, ptr {w.address('i8', metadata, str(_VERSION))}")
    w.do(f"store i32 0, ptr {w.address('i8', metadata, str(_TRAITS))}")
    size = w.field("i64", metadata, 0)
    w.branch(w.compare("uge", "i64", size, _STATE + 8), "state", "stateless")
    w.label("state")
    w.do(f"store i64 0, ptr {w.address('i8', metadata, str(_STATE))}")
    w.jump("stateless")
    w.label("stateless")


def _execute(w: Writer) -> None:
    """(address, bytes from row to row) of each buffer, a work buffer, and one call of the kernel."""
    description = _entry(w, DESCRIPTION)
    inputs, outputs = (w.element("i64", description, str(k)) for k in (0, 1))
    total = w.add(inputs, outputs)
    rows = w.put(f"alloca i64, i64 {w.add(total, total)}, align 16")
    results = w.field("ptr", "%frame", _RESULTS)
    first = w.put(f"load ptr, ptr {results}")
    count = _leading(w, first, w.element("i64", description, w.add(inputs, w.add(inputs, 2))))
    for where, start, end in ((_ARGUMENTS, "0", inputs), (_RESULTS, inputs, total)):
        buffers = w.field("ptr", "%frame", where)
        with w.each(end, start) as loop:
            twice = w.add(loop.k, loop.k)
            buffer = w.element("ptr", buffers, w.put(f"sub i64 {loop.k}, {start}"))
            lead = _leading(w, buffer, w.element("i64", description, w.add(twice, 2)))
            stride = w.element("i64", description, w.add(twice, 3))
            w.store("i64", w.field("i64", buffer, _DATA), rows, twice)
            repeated = w.compare("eq", "i64", lead, 1)
            w.store("i64", w.choose(repeated, "i64", 0, stride), rows, w.add(twice, 1))
    w.branch(w.compare("eq", "i64", count, 0), "done", "compute")
    w.label("compute")
    size = w.put(f"ptrtoint ptr {_entry(w, WORK)} to i64")
    before = w.branch(w.compare("eq", "i64", size, 0), "ready", "allocate")
    w.label("allocate")
    memory = w.put(f"call ptr {_entry(w, MALLOC)}(i64 {w.add(size, ALIGN)})")
    w.require(w.compare("ne", "ptr", memory, "null"))
    address = w.add(w.put(f"ptrtoint ptr {memory} to i64"), ALIGN - 1)
    aligned = w.put(f"inttoptr i64 {w.put(f'and i64 {address}, -{ALIGN}')} to ptr")
    after = w.jump("ready")
    w.label("ready")
    work = w.merge("ptr", ("null", before), (aligned, after))
    owned = w.merge("ptr", ("null", before), (memory, after))
    bad = w.put(f"call i64 {_entry(w, BATCH)}(ptr {rows}, i64 0, i64 {count}, ptr {work}, ptr null)")
    w.do(f"call void {_entry(w, FREE)}(ptr {owned})")
    w.require(w.compare("slt", "i64", bad, 0))


def _leading(w: Writer, buffer: str, axes: str) -> str:
    """The number of rows of a buffer: the product of its dimensions before the last ``axes``."""
    rank, dimensions = w.field("i64", buffer, _RANK), w.field("ptr", buffer, _DIMENSIONS)
    with w.each(w.put(f"sub i64 {rank}, {axes}"), rows=("i64", "1")) as loop:
        loop.then["rows"] = w.put(f"mul i64 {loop.now['rows']}, {w.element('i64', dimensions, loop.k)}")
    return loop.now["rows"]


def _fail(w: Writer) -> None:
    """Return an error with the text of the table."""
    arguments = w.put("alloca [4 x i64], align 16")
    w.store("i64", str(_STRUCT_SIZE_OF_ERROR), arguments, "0")
    w.store("i64", "0", arguments, "1")
    w.store("ptr", _entry(w, MESSAGE), arguments, "2")
    w.store("i64", str(_INVALID_ARGUMENT), arguments, "3")
    create = w.field("ptr", w.field("ptr", "%frame", _API), _ERROR_CREATE)
    w.do(f"ret ptr {w.put(f'call ptr {create}(ptr {arguments})')}")
