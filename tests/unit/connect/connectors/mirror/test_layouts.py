"""Records of MirrorMaker's topics, byte for byte as it has written them."""

import pytest

from moldau.connect.connectors.mirror.layouts import Checkpoint, OffsetSync, heartbeat
from moldau.errors import ProtocolError
from moldau.model import TopicPartition

# Recorded from MirrorMaker 3.9.2.
SYNC = (b"\0\1t\0\0\0\0", bytes(7) + b"\x13" + bytes(7) + b"\x13")
CHECKPOINT = (
    b"\0\1g\0\5old.t\0\0\0\0",
    b"\0\0" + bytes(7) + b"\7" + bytes(7) + b"\1\0\0",
)
HEARTBEAT = (b"\0\3old\0\3new", b"\0\0\0\0\1\xa1\xf5\xce-\xd0")


def test_offset_syncs() -> None:
    found = OffsetSync.decoded(*SYNC)
    assert found == OffsetSync(TopicPartition("t", 0), 19, 19)
    assert (found.key(), found.value(), found.headers()) == (*SYNC, ())
    run = OffsetSync(TopicPartition("t", 0), 19, 19, 20)
    assert OffsetSync.decoded(run.key(), run.value(), run.headers()) == run


def test_a_count_that_is_none_is_passed_over() -> None:
    for header in (b"x", b"0", None):
        assert OffsetSync.decoded(*SYNC, (("moldau.records", header),)).count == 1


def test_checkpoints() -> None:
    found = Checkpoint.decoded(*CHECKPOINT)
    assert found == Checkpoint("g", TopicPartition("old.t", 0), 7, 1)
    assert (found.key(), found.value()) == CHECKPOINT
    noted = Checkpoint("g", TopicPartition("t", 3), 7, 1, "žluť")
    assert Checkpoint.decoded(noted.key(), noted.value()) == noted


def test_heartbeats() -> None:
    assert heartbeat("old", "new", 0x1A1F5CE2DD0) == HEARTBEAT


def test_other_bytes_are_refused() -> None:
    for key, value in ((b"", b""), (b"\0\1t", SYNC[1]), (SYNC[0], b""), (b"\0\5t", SYNC[1]),
                       (b"\xff\xff", SYNC[1]), (b"\0\1\xff\0\0\0\0", SYNC[1])):  # fmt: skip
        with pytest.raises(ProtocolError):
            OffsetSync.decoded(key, value)
    for key, value in ((CHECKPOINT[0], b"\0\1" + CHECKPOINT[1][2:]), (CHECKPOINT[0], b"\0"),
                       (CHECKPOINT[0][:9], CHECKPOINT[1]), SYNC):  # fmt: skip
        with pytest.raises(ProtocolError):
            Checkpoint.decoded(key, value)
