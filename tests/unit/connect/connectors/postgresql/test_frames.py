"""Frames of streaming replication."""

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.connect.connectors.postgresql.frames import (
    KeepAlive,
    LogData,
    lsn_of,
    lsn_text,
    parse_frame,
    status_update,
)
from moldau.errors import ProtocolError
from unit.connect.connectors.postgresql.messages import EPOCH_2000_US


def test_data_and_signs_of_life_are_told_apart() -> None:
    assert parse_frame(b"w" + struct.pack(">qqq", 5, 9, 0) + b"payload") == LogData(5, b"payload")
    assert parse_frame(b"k" + struct.pack(">qqB", 9, 0, 1)) == KeepAlive(9, True)


@pytest.mark.parametrize(
    "data", [b"", b"w", b"w" + bytes(24), b"k" + bytes(16), b"k" + bytes(18), b"x" + bytes(24)]
)
def test_other_frames_are_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError, match="are no frame"):
        parse_frame(data)


@given(st.binary(max_size=60))
def test_hostile_bytes_are_refused_or_parsed(data: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        parse_frame(data)


def test_a_status_has_one_place_three_times_and_the_time() -> None:
    assert status_update(258, EPOCH_2000_US + 3) == b"r" + struct.pack(
        ">qqqqB", 258, 258, 258, 3, 0
    )


def test_places_in_the_log_are_written_as_postgresql_writes_them() -> None:
    assert lsn_text(0x16_B374D848) == "16/B374D848"
    assert lsn_of("16/B374D848") == 0x16_B374D848
    for text in ("", "16", "x/y", "/"):
        with pytest.raises(ProtocolError, match="no log sequence number"):
            lsn_of(text)
