"""JointState in MCAP: messages of other libraries, different orders, topics, several publishers, damaged files."""

from __future__ import annotations

import io
import json
from struct import pack

import numpy as np
import pytest

from torsor import logs
from torsor.errors import ArgumentError, FileError
from torsor.io.logs.joint_state import DEFINITION, SCHEMA, JointState, decode_cdr, decode_json, encode_cdr

writer = pytest.importorskip("mcap.writer")

#: two messages as mcap-ros2-support 0.6.0 encodes them: other orders of names, no velocities, the first with frame "base"
FIRST = bytes.fromhex(
    "0001000000f1536515cd5b070500000062617365000000000200000006000000656c626f770000000800000077726973745f3300020000000000000000"
    "0000000000e03f000000000000f4bf000000000200000000000000000000400000000000000c40"
)
SECOND = bytes.fromhex(
    "0001000000f1536515ae510d0100000000000000020000000800000077726973745f330006000000656c626f7700000002000000000000000000f0bf00"
    "0000000000e83f000000000200000000000000000008400000000000000440"
)


def recording(*messages, topic="/joint_states", encoding="cdr", schema=SCHEMA) -> io.BytesIO:
    """An MCAP of messages: bytes, or (topic, bytes)."""
    stream = io.BytesIO()
    out = writer.Writer(stream)
    out.start()
    kind = out.register_schema(name=schema, encoding="ros2msg", data=DEFINITION.encode())
    channels: dict[str, int] = {}
    for n, message in enumerate(messages):
        where, data = message if isinstance(message, tuple) else (topic, message)
        if where not in channels:
            channels[where] = out.register_channel(topic=where, message_encoding=encoding, schema_id=kind)
        out.add_message(channel_id=channels[where], log_time=10**18 + n * 10**9, publish_time=0, sequence=n, data=data)
    out.finish()
    stream.seek(0)
    return stream


def state(names=("a", "b"), stamp=10**18, q=(1.0, 2.0), v=(), tau=()) -> bytes:
    return encode_cdr(JointState(stamp, names, np.array(q), np.array(v), np.array(tau)))


def read(stream, **options):
    return logs.read(stream, format="mcap", **options)


def test_messages_of_mcap_ros2_support_are_read():
    log = read(recording(FIRST, SECOND))
    assert log.names == {"q": ("elbow", "wrist_3"), "tau": ("elbow", "wrist_3")}
    assert log.v is None
    assert log.start == 1700000000123456789
    assert log.t.tolist() == [0.0, 0.1]  # exactly: differences of whole nanoseconds
    assert log.q.tolist() == [[0.5, -1.25], [0.75, -1.0]]  # the second message has another order
    assert log.tau.tolist() == [[2.0, 3.5], [2.5, 3.0]]


def test_written_messages_equal_those_of_ros():
    first = decode_cdr(FIRST)
    again = decode_cdr(encode_cdr(first))
    assert (again.stamp, again.names) == (first.stamp, first.names)
    assert encode_cdr(decode_cdr(SECOND)) == SECOND  # it has no frame, so every byte is equal


def test_big_endian_messages_are_decoded():
    body = pack(">iI", 3, 5) + pack(">I", 1) + b"\0" + b"\0" * 3 + pack(">I", 1) + pack(">I", 2) + b"a\0" + b"\0" * 2
    body += pack(">I", 1) + b"\0" * (-(len(body) + 4) % 8) + pack(">d", 1.5) + pack(">II", 0, 0)
    message = decode_cdr(b"\0\0\0\0" + body)
    assert (message.stamp, message.names, message.position.tolist()) == (3_000_000_005, ("a",), [1.5])


def test_json_messages_are_read():
    data = {"header": {"stamp": {"sec": 7, "nanosec": 9}}, "name": ["a", "b"], "position": [1, 2.5], "effort": [None, 1]}
    log = read(recording(json.dumps(data).encode(), encoding="json"))
    assert (log.start, log.q.tolist(), log.v) == (7_000_000_009, [[1.0, 2.5]], None)
    assert np.isnan(log.tau[0, 0])
    for wrong in ({"position": [1]}, {"name": ["a"], "position": [1, 2]}, {"name": [1], "position": [1]}, []):
        with pytest.raises(ValueError, match=r"JointState|numbers of position|not all text"):
            decode_json(json.dumps(wrong).encode())


def test_zero_stamp_is_replaced_by_the_recording_time():
    log = read(recording(state(stamp=0), state(stamp=0)))
    assert (log.start, log.t.tolist()) == (10**18, [0.0, 1.0])


def test_topic_option_selects_one_of_several_topics():
    two = [("/left", state()), ("/right", state(q=(3.0, 4.0)))]
    with pytest.raises(FileError, match="choose with topic=: /left, /right"):
        read(recording(*two))
    assert read(recording(*two), topic="/right").q.tolist() == [[3.0, 4.0]]
    with pytest.raises(FileError, match="no joint states on topic '/up'; it has them on /left, /right"):
        read(recording(*two), topic="/up")
    with pytest.raises(FileError, match=r"no topic of JointState messages; it has /joint_states \(std_msgs/msg/String\)"):
        read(recording(b"", schema="std_msgs/msg/String"))
    with pytest.raises(FileError, match="encoded as 'ros1'"):
        read(recording(b"", encoding="ros1"))


def test_several_publishers_on_one_topic_need_joints():
    """An arm and a gripper on one topic: joints= must select one of them."""
    mixed = [state(), state(names=("gripper",), q=(9.0,)), state(q=(5.0, 6.0))]
    with pytest.raises(FileError, match="message 2 names gripper, and the ones before it a, b: several publishers"):
        read(recording(*mixed))
    assert read(recording(*mixed), joints=["b", "a"]).q.tolist() == [[2.0, 1.0], [6.0, 5.0]]
    assert read(recording(*mixed), joints=["gripper"]).q.tolist() == [[9.0]]
    with pytest.raises(FileError, match="no JointState that names"):
        read(recording(*mixed), joints=["c"])
    with pytest.raises(FileError, match="names joint 'a' twice"):
        read(recording(state(names=("a", "a"))))


def test_message_without_efforts_gives_nan():
    log = read(recording(state(tau=(1.0, 2.0)), state()))
    np.testing.assert_array_equal(log.tau, [[1, 2], [np.nan, np.nan]])


@pytest.mark.parametrize("cut", range(4, len(SECOND), 7))
def test_truncated_messages_are_refused(cut):
    with pytest.raises(FileError, match="truncated"):
        read(recording(SECOND[:cut]))


def test_messages_with_wrong_lengths_are_refused():
    with pytest.raises(ValueError, match="truncated"):  # four billion names: refused before anything is allocated
        decode_cdr(b"\0\1\0\0" + pack("<iI", 0, 0) + pack("<I", 1) + b"\0" * 4 + b"\xff" * 4)
    with pytest.raises(ValueError, match="plain CDR"):
        decode_cdr(b"\0\x0a\0\0")


def test_damaged_mcap_files_are_refused():
    data = bytearray(recording(FIRST, SECOND).getvalue())
    middle = data.index(b"elbow") if b"elbow" in data else len(data) // 3
    data[middle] ^= 0xFF
    with pytest.raises(FileError, match=r"damaged|read|cut|names"):
        read(io.BytesIO(bytes(data)))
    with pytest.raises(FileError):
        read(io.BytesIO(bytes(data[: len(data) // 4])))


def test_logs_that_joint_state_cannot_express_are_refused(tmp_path):
    for log, why in (
        (logs.Log(t=[0.0], q=[[1.0]], a=[[1.0]], names={"q": ("a",), "a": ("a",)}), "no accelerations"),
        (logs.Log(q=[[1.0]], names={"q": ("a",)}), "needs a time"),
        (logs.Log(t=[0.0], q=[[1.0]]), "one list of names"),
        (logs.Log(t=[0.0], q=[[1.0]], v=[[1.0]], names={"q": ("a",), "v": ("b",)}), "one list of names"),
    ):
        with pytest.raises(ArgumentError, match=why):
            log.write(tmp_path / "x.mcap")
    assert not list(tmp_path.iterdir())
