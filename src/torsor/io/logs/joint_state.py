"""ROS's sensor_msgs/JointState as bytes: ROS 2's CDR encoding, and JSON.

The layout has not changed since ROS 2 began, so it is read here directly, without a parser of message definitions: a header of
stamp (int32 s, uint32 ns) and frame name, the joint names, and three lists of doubles, each empty or one per joint.  CDR aligns
every number to its own size, counted from after the four bytes that give the byte order (OMG DDS-XTypes §7.4).
"""

from __future__ import annotations

import json
from struct import Struct, pack
from typing import Any, NamedTuple

import numpy as np

SCHEMA = "sensor_msgs/msg/JointState"
_RULE = "=" * 80
DEFINITION = (
    "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n"
    f"{_RULE}\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n"
    f"{_RULE}\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
)
FIELDS = ("position", "velocity", "effort")


class JointState(NamedTuple):
    """One message: stamp [ns], names, and position, velocity, effort, each empty or one number per name."""

    stamp: int
    names: tuple[str, ...]
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray


class Cdr:
    """A reader of a CDR message; ValueError where the message is truncated."""

    def __init__(self, data: bytes):
        if len(data) < 4 or data[0] != 0 or data[1] not in (0, 1):
            raise ValueError(f"is not plain CDR: it starts with {data[:4].hex()}")
        self.data, self.at = data[4:], 0
        self.order = "<" if data[1] else ">"
        self.whole = {code: Struct(self.order + code).unpack for code in "iI"}

    def take(self, size: int, align: int = 1) -> bytes:
        start = self.at + -self.at % align
        if start + size > len(self.data):
            raise ValueError(f"is truncated: at byte {start + 4} it declares {size} bytes, but has {len(self.data) + 4} in all")
        self.at = start + size
        return self.data[start : self.at]

    def number(self, code: str) -> int:
        return self.whole[code](self.take(4, 4))[0]

    def text(self) -> str:
        return self.take(self.number("I")).rstrip(b"\0").decode()

    def doubles(self) -> np.ndarray:
        n = self.number("I")
        return np.frombuffer(self.take(8 * n, 8 if n else 1), f"{self.order}f8").astype(np.float64)


def decode_cdr(data: bytes) -> JointState:
    """A message from its bytes."""
    cdr = Cdr(data)
    stamp = cdr.number("i") * 1_000_000_000 + cdr.number("I")
    cdr.text()  # the frame: of no meaning for joints
    count = cdr.number("I")
    names = tuple(cdr.text() for _ in range(count))
    return check_message(JointState(stamp, names, cdr.doubles(), cdr.doubles(), cdr.doubles()))


def encode_cdr(message: JointState) -> bytes:
    """The bytes of a message, little-endian."""
    out = bytearray()

    def put(data: bytes, align: int = 1) -> None:
        out.extend(b"\0" * (-len(out) % align) + data)

    put(pack("<iI", *divmod(message.stamp, 1_000_000_000)))
    put(pack("<I", 1) + b"\0")  # no frame
    put(pack("<I", len(message.names)), 4)
    for name in message.names:
        word = name.encode() + b"\0"
        put(pack("<I", len(word)), 4)
        put(word)
    for values in message[2:]:
        put(pack("<I", len(values)), 4)
        put(np.asarray(values, "<f8").tobytes(), 8 if len(values) else 1)
    return b"\x00\x01\x00\x00" + bytes(out)


def decode_json(data: bytes) -> JointState:
    """A message from JSON with ROS's field names, ``{"header": {"stamp": {"sec": .., "nanosec": ..}}, "name": [..], ..}``."""
    try:
        message = json.loads(data)
        stamp = (message.get("header") or {}).get("stamp") or {}
        ns = int(stamp.get("sec", stamp.get("secs", 0))) * 1_000_000_000 + int(stamp.get("nanosec", stamp.get("nsecs", 0)))
        names = message["name"]
        if not all(isinstance(name, str) for name in names):
            raise ValueError("its names are not all text")
        return check_message(JointState(ns, tuple(names), *(_doubles(message.get(k)) for k in FIELDS)))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"is not a JointState in JSON: {error!r}") from None


def _doubles(values: Any) -> np.ndarray:
    return np.array([np.nan if x is None else x for x in values or ()], dtype=np.float64)


def check_message(message: JointState) -> JointState:
    for name, values in zip(FIELDS, message[2:], strict=True):
        if values.ndim != 1 or len(values) not in (0, len(message.names)):
            raise ValueError(f"has {len(message.names)} names and {len(values)} numbers of {name}")
    return message
