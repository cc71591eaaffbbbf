"""Counting of the TLS records that have come, as it stands and compiled."""

from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.net import tls_records
from moldau.runtime import native

COMPILED = native.kernel("moldau.net._tls_records", "moldau.net.tls_records")
MODULES = [tls_records, COMPILED]
DATA, ALERT, HANDSHAKE = 0x17, 0x15, 0x16


@pytest.fixture(params=MODULES, ids=["source", "compiled"])
def arrived(request: pytest.FixtureRequest) -> Any:
    module: ModuleType = request.param
    return module.ArrivedRecords()


def record(size: int, kind: int = DATA) -> bytes:
    return bytes((kind, 3, 3)) + size.to_bytes(2, "big") + b"\x17" * size


def came(arrived: Any, data: bytes) -> int:
    arrived.came(memoryview(data + b"left from before"), len(data))
    return int(arrived.whole)


def test_records_count_when_their_last_byte_has_come(arrived: Any) -> None:
    assert came(arrived, record(20) + record(18_432)) == 2
    assert came(arrived, record(3, ALERT) + record(300)[:-1]) == 3
    assert came(arrived, b"\x17") == 4


def test_those_that_were_asked_for_do_not_count(arrived: Any) -> None:
    came(arrived, record(20) + record(20))
    arrived.whole -= 1
    assert came(arrived, record(20)) == 2
    arrived.whole = 0
    assert came(arrived, record(20)) == 1


@given(
    sizes=st.lists(st.integers(1, 600), max_size=8),
    piece=st.integers(1, 700),
    module=st.sampled_from(MODULES),
)
def test_it_does_not_matter_in_which_pieces_they_come(
    sizes: list[int], piece: int, module: ModuleType
) -> None:
    arrived = module.ArrivedRecords()
    stream = b"".join(record(size, HANDSHAKE) for size in sizes)
    for position in range(0, len(stream), piece):
        came(arrived, stream[position : position + piece])
    assert arrived.whole == len(sizes)


@pytest.mark.parametrize(
    "head",
    [b"\x13\3\3\0\x20", b"\x18\3\3\0\x20", b"\x17\3\3\x48\x01", b"\x17\3\3\0\0"],
    ids=["kind below", "kind above", "too long", "empty"],
)
def test_what_is_no_record_is_to_be_judged_at_once_and_ever_after(
    arrived: Any, head: bytes
) -> None:
    assert came(arrived, record(20) + head[:4]) == 1
    assert came(arrived, head[4:]) == tls_records.UNKNOWN
    arrived.whole = 0
    assert came(arrived, b"?") == tls_records.UNKNOWN
