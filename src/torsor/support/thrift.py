"""Structs in Thrift's compact protocol, as Parquet files have them in footers and page headers.

pyarrow decodes them too, but some damaged ones end the process when Python reads their fields.
"""

from __future__ import annotations

from typing import Any, NoReturn

#: structs inside structs; Parquet's own are less deep
DEEPEST = 16


def struct(data: bytes, at: int = 0) -> tuple[dict[int, Any], int]:
    """(values by field number, end of the struct): whole numbers, bytes, lists, dicts of structs, None for the rest.

    ValueError if it is damaged, EOFError if it is cut short.

    >>> struct(bytes([0x15, 4, 0x15, 0xC8, 1, 0x18, 2, 104, 105, 0]))
    ({1: 2, 2: 100, 3: b'hi'}, 10)
    """
    try:
        return _struct(data, at, 0)
    except IndexError:
        raise EOFError("a struct is truncated") from None


def _struct(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    if depth > DEEPEST:
        raise ValueError("structs are nested too deeply")
    fields: dict[int, Any] = {}
    field = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            field += head >> 4
        else:
            field, at = _zigzag(data, at)
        fields[field], at = (None, at) if head & 15 in (1, 2) else _value(data, at, head & 15, depth)  # booleans have no bytes
    return fields, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    return _KINDS.get(kind, _refuse_type)(data, at, depth)


def _list(data: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    head, at = data[at], at + 1
    count, at = (head >> 4, at) if head >> 4 < 15 else _varint(data, at)
    if count > len(data) - at:  # an entry has at least one byte
        raise EOFError("a list is truncated")
    values = []
    for _ in range(count):
        value, at = _value(data, at, head & 15, depth + 1)
        values.append(value)
    return values, at


def _bytes(data: bytes, at: int, depth: int) -> tuple[bytes, int]:
    length, at = _varint(data, at)
    if length > len(data) - at:
        raise EOFError("bytes are truncated")
    return data[at : at + length], at + length


def _zigzag(data: bytes, at: int, depth: int = 0) -> tuple[int, int]:
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while data[at] & 128 and shift < 63:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return value | (data[at] & 127) << shift, at + 1


def _refuse_type(data: bytes, at: int, depth: int) -> NoReturn:
    raise ValueError("a field is of a type that Parquet does not use")


#: by type: booleans in lists, byte, 16, 32 and 64 bits, double, bytes, list, set, struct
_KINDS: dict[int, Any] = {
    1: lambda data, at, depth: (None, at + 1),
    2: lambda data, at, depth: (None, at + 1),
    3: lambda data, at, depth: (None, at + 1),
    4: _zigzag,
    5: _zigzag,
    6: _zigzag,
    7: lambda data, at, depth: (None, at + 8),
    8: _bytes,
    9: _list,
    10: _list,
    12: lambda data, at, depth: _struct(data, at, depth + 1),
}
