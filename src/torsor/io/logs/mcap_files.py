"""JointState messages in MCAP files, the container of ROS 2's recorder and of Foxglove; no ROS is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import IO, Any

import numpy as np

from torsor.errors import ArgumentError, FileError, TorsorError, needs_extra
from torsor.io.logs.joint_state import DEFINITION, SCHEMA, JointState, decode_cdr, decode_json, encode_cdr
from torsor.io.logs.log import Log

#: by a channel's message encoding
DECODERS = {"cdr": decode_cdr, "json": decode_json}


def read_mcap(
    stream: IO[bytes], rows: int, file: str = "", *, topic: str | None = None, joints: Sequence[str] | None = None
) -> Iterator[Log]:
    """The JointState messages of one topic, in logs of at most ``rows`` rows.

    Times are the messages' stamps, or the recording times if the stamps are zero; t = 0 is the first.  Where publishers of
    several machines share the topic, ``joints`` selects the messages that name all of these, and omits the others.
    """
    reader, topics = _open(stream, file)
    messages = (
        _decode(channel, message, file)
        for _, channel, message in reader.iter_messages(topics=[_choose_topic(topics, topic, file)], log_time_order=True)
    )
    if joints is not None:
        messages = (m for m in messages if set(joints) <= set(m.names))
    start, done, first = None, 0, None
    while some := list(_checked_messages(islice(messages, rows), file)):
        if start is None:
            start, first = some[0].stamp, some[0]
        yield _log(some, first, start, done, joints, file)
        done += len(some)
    if not done:
        raise FileError(f"has no JointState that names {joints}" if joints else "has no JointState message", file=file)


def _open(stream: IO[bytes], file: str) -> tuple[Any, dict[str, str]]:
    """(reader, topics of JointState messages → their encoding)."""
    with needs_extra("mcap", "logs", "MCAP files"):
        from mcap.reader import make_reader
    try:
        reader = make_reader(stream, validate_crcs=True)
        summary = reader.get_summary()
        if summary is None or not summary.channels:  # a recording that was cut off has no index: it is walked instead
            found = {c.topic: (s.name if s else "", c.message_encoding) for s, c, _ in reader.iter_messages()}
        else:
            names = {k: s.name for k, s in summary.schemas.items()}
            found = {c.topic: (names.get(c.schema_id, ""), c.message_encoding) for c in summary.channels.values()}
    except Exception as error:  # if the bytes are not MCAP: errors of the reader, of struct, of its decompressors ...
        raise FileError(f"is not a readable MCAP file: {error or type(error).__name__}", file=file) from error
    topics = {topic: encoding for topic, (name, encoding) in found.items() if name.split("/")[-1] == "JointState"}
    if not topics:
        held = ", ".join(f"{t} ({n or '?'})" for t, (n, _) in sorted(found.items())) or "nothing"
        raise FileError(f"has no topic of JointState messages; it has {held}", file=file)
    return reader, topics


def _choose_topic(topics: dict[str, str], topic: str | None, file: str) -> str:
    if topic is None and len(topics) > 1:
        raise FileError(f"has joint states on several topics; choose with topic=: {', '.join(sorted(topics))}", file=file)
    topic = next(iter(topics)) if topic is None else topic
    if topic not in topics:
        raise FileError(f"has no joint states on topic {topic!r}; it has them on {', '.join(sorted(topics))}", file=file)
    if topics[topic] not in DECODERS:
        raise FileError(
            f"topic {topic!r} is encoded as {topics[topic]!r}; torsor reads {' and '.join(DECODERS)} (convert ROS 1 "
            "recordings to ROS 2 with rosbags-convert)", file=file,
        )  # fmt: skip
    return topic


def _decode(channel: Any, message: Any, file: str) -> JointState:
    try:
        state = DECODERS[channel.message_encoding](message.data)
    except ValueError as error:
        raise FileError(f"message {message.sequence} of {channel.topic!r} {error}", file=file) from error
    return state if state.stamp else state._replace(stamp=message.log_time)


def _checked_messages(messages: Iterator[JointState], file: str) -> Iterator[JointState]:
    try:
        yield from messages
    except TorsorError:
        raise
    except Exception as error:  # of a damaged file: the reader's own, its decompressors', struct's ...
        raise FileError(f"is damaged: {error or type(error).__name__}", file=file) from error


def _log(some: list[JointState], first: JointState | None, start: int, row: int, joints: Any, file: str) -> Log:
    """Messages as columns, in the order of the first message of the file."""
    assert first is not None
    names = tuple(joints) if joints is not None else first.names
    columns: dict[str, list] = {"q": [], "v": [], "tau": []}
    place: dict[tuple[str, ...], list[int]] = {}  # messages repeat the same names: each order is looked up once
    for n, m in enumerate(some):
        if m.names not in place:
            place[m.names] = _places(m.names, names, joints is None, row + n, file)
        for k, values, had in zip(columns, m[2:], first[2:], strict=True):
            if len(values) != 0 or len(had) == 0:
                columns[k].append(values[place[m.names]] if len(values) else values)
            else:
                columns[k].append(np.full(len(names), np.nan))  # given in the first message, missing in this one
    given: dict[str, Any] = {k: np.array(x) for (k, x), had in zip(columns.items(), first[2:], strict=True) if len(had)}
    t = np.array([m.stamp - start for m in some], dtype=np.float64) * 1e-9  # whole nanoseconds first: no bit of them is lost
    return Log(t=t, **given, names=dict.fromkeys(given, names), start=start, row=row, source=file)


def _places(have: tuple[str, ...], names: tuple[str, ...], exactly: bool, row: int, file: str) -> list[int]:
    if len(set(have)) < len(have):
        twin = next(x for x in have if have.count(x) > 1)
        raise FileError(f"message {row + 1} names joint {twin!r} twice", file=file)
    if set(names) - set(have) or (exactly and set(have) - set(names)):
        raise FileError(
            f"message {row + 1} names {', '.join(have)}, and the ones before it {', '.join(names)}: several publishers share "
            "the topic; choose the joints of one with joints=[...]", file=file,
        )  # fmt: skip
    place = {name: n for n, name in enumerate(have)}
    return [place[name] for name in names]


def writer(stream: IO[bytes]) -> Any:
    """(append a log, finish): JointState messages on /joint_states, encoded as ROS 2 does."""
    with needs_extra("mcap", "logs", "MCAP files"):
        from mcap.writer import Writer
    out = Writer(stream)
    out.start(profile="ros2", library="torsor")
    schema = out.register_schema(name=SCHEMA, encoding="ros2msg", data=DEFINITION.encode())
    channel = out.register_channel(topic="/joint_states", message_encoding="cdr", schema_id=schema)

    def append(log: Log) -> None:
        names, columns = _columns(log)
        t = np.zeros(len(log)) if log.t is None else log.t
        for n, seconds in enumerate(t):
            stamp = log.start + round(float(seconds) * 1e9)
            data = encode_cdr(JointState(stamp, names, *(x[n] for x in columns)))
            out.add_message(channel_id=channel, log_time=stamp, publish_time=stamp, sequence=log.row + n, data=data)

    return append, out.finish


def _columns(log: Log) -> tuple[tuple[str, ...], list[np.ndarray]]:
    """(joint names, [position, velocity, effort]); an error if JointState has no field for a quantity."""
    if log.a is not None:
        raise ArgumentError("a JointState has no accelerations; write .csv, .parquet or .npz, or omit them (a=None)")
    if log.t is None:
        raise ArgumentError("a JointState needs a time, but this log has none")
    given = [k for k in ("q", "v", "tau") if getattr(log, k) is not None]
    names = {log.names.get(k) for k in given}
    if len(names) != 1 or (own := names.pop()) is None:
        raise ArgumentError("a JointState has one list of names: position, velocity and effort must be of the same joints")
    return own, [np.zeros((len(log), 0)) if getattr(log, k) is None else getattr(log, k) for k in ("q", "v", "tau")]
