"""Messages of pgoutput are decoded, and nothing else is."""

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.connect.connectors.capture.cells import Toast
from moldau.connect.connectors.postgresql.pgoutput import (
    BeginMessage,
    CommitMessage,
    DeleteMessage,
    InsertMessage,
    LogicalMessage,
    Message,
    OriginMessage,
    RelationColumn,
    RelationMessage,
    TruncateMessage,
    TypeMessage,
    UpdateMessage,
    decode_message,
)
from moldau.errors import ProtocolError
from unit.connect.connectors.postgresql.messages import (
    EPOCH_2000_US,
    begin,
    cells,
    commit,
    delete,
    insert,
    logical,
    name,
    relation,
    truncate,
    update,
)

GOLDEN: list[tuple[bytes, Message]] = [
    (begin(0x1A2B3C, 4_000_000_000 - 2**32), BeginMessage(0x1A2B3C, EPOCH_2000_US, 4_000_000_000)),
    (commit(5, 6, EPOCH_2000_US + 7), CommitMessage(5, 6, EPOCH_2000_US + 7)),
    (b"O" + struct.pack(">q", 9) + name("elsewhere"), OriginMessage(9, "elsewhere")),
    (
        relation(16385, "", "t", ("id", 23, True), ("note", 25, False)),
        RelationMessage(
            16385,
            "pg_catalog",
            "t",
            "d",
            (RelationColumn("id", 23, -1, True), RelationColumn("note", 25, -1, False)),
        ),
    ),
    (b"Y" + struct.pack(">I", 3) + name("inv") + name("mood"), TypeMessage(3, "inv", "mood")),
    (
        insert(7, "grün", None, b"u", ""),
        InsertMessage(7, ["grün", None, Toast.UNCHANGED, ""]),
    ),
    (update(7, cells("2")), UpdateMessage(7, None, False, ["2"])),
    (update(7, cells("2"), b"K" + cells("1")), UpdateMessage(7, ["1"], False, ["2"])),
    (update(7, cells("2"), b"O" + cells("1")), UpdateMessage(7, ["1"], True, ["2"])),
    (delete(7, b"K", cells("1", None)), DeleteMessage(7, ["1", None], False)),
    (delete(7, b"O", cells("1")), DeleteMessage(7, ["1"], True)),
    (truncate(7, 4_000_000_000), TruncateMessage((7, 4_000_000_000))),
    (logical(8, "p", b"\0x"), LogicalMessage(True, 8, "p", b"\0x")),
    (
        logical(8, "", b"", is_transactional=False),
        LogicalMessage(False, 8, "", b""),
    ),
]


@pytest.mark.parametrize(("data", "message"), GOLDEN)
def test_a_message_is_decoded(data: bytes, message: Message) -> None:
    assert decode_message(data) == message


@pytest.mark.parametrize("data", [data for data, _ in GOLDEN])
def test_a_message_cut_short_or_too_long_is_refused(data: bytes) -> None:
    for length in range(len(data)):
        with pytest.raises(ProtocolError):
            decode_message(data[:length])
    with pytest.raises(ProtocolError, match="1 bytes too many"):
        decode_message(data + b"\0")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"S\0",  # of protocol version 2
        b"I\0\0\0\1N" + b"\0\1b\0\0\0\1x",  # binary was not asked for
        b"I\0\0\0\1K" + cells("1"),
        b"I\0\0\0\1N" + b"\0\1t\xff\xff\xff\xff",
        b"I\0\0\0\1N" + b"\0\1t\0\0\0\1\xff",
        b"T\xff\xff\xff\xff\0",
    ],
)
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_message(data)


@given(st.binary(max_size=200), st.sampled_from("BCORYIUDTM"))
def test_hostile_bytes_are_refused_or_decoded(data: bytes, kind: str) -> None:
    with contextlib.suppress(ProtocolError):
        decode_message(kind.encode() + data)
