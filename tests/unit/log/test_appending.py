"""Appending, compiled or not, leaves the same files and the same state."""

from types import ModuleType

import pytest

from moldau.log import appending as source
from moldau.log import log as log_module
from moldau.log.log import Log
from moldau.log.producer_state import KeptBatch
from moldau.records.batch import BatchHeader, Producer
from moldau.runtime import native
from unit.log.logs import Workbench, batch, offsets_in

FORMS = [source, native.kernel("moldau.log._appending", "moldau.log.appending")]


@pytest.fixture(params=FORMS, ids=["source", "compiled"])
def log(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Log:
    module: ModuleType = request.param
    monkeypatch.setattr(log_module, "appending", module)
    return Workbench(segment_bytes=400).create()


def append(log: Log, data: bytearray) -> int:
    header = BatchHeader.read(data)
    return log.append_batch(data, header, leader_epoch=3, now_ms=5).first_offset


def test_one_batch_gets_its_offset_and_its_epoch(log: Log) -> None:
    data = batch(b"1", b"2")
    assert [append(log, batch(b"0")), append(log, data)] == [0, 1]
    header = BatchHeader.read(data)
    assert (header.base_offset, header.leader_epoch) == (1, 3)
    assert offsets_in(log) == [0, 1]
    assert log.log_end_offset == 3
    assert log.epochs.latest == (3, 0)


def test_it_rolls_where_the_others_roll(log: Log) -> None:
    for _ in range(6):
        append(log, batch(bytes(100)))
    assert list(log.segments.base_offsets) == [0, 2, 4]
    log.append_as_leader(batch(bytes(100)), leader_epoch=3, now_ms=5)
    assert list(log.segments.base_offsets) == [0, 2, 4, 6]


def test_a_batch_sent_again_is_not_appended_again(log: Log) -> None:
    producer = Producer(7, 0, 0)
    assert append(log, batch(producer=producer)) == append(log, batch(producer=producer)) == 0
    assert log.log_end_offset == 1


def test_a_failed_write_takes_the_volume_offline(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    append(log, batch())

    def fail(*_: object) -> None:
        raise OSError(28, "no space")

    monkeypatch.setattr(type(log.segments.active.file()), "append", fail)
    with pytest.raises(Exception, match="offline"):
        append(log, batch())
    assert log.log_end_offset == 1


@pytest.mark.parametrize("module", FORMS, ids=["source", "compiled"])
def test_a_repetition_is_answered_with_what_is_there(module: ModuleType) -> None:
    answer = module.appended_before(KeptBatch(9, 30, 4, 1000))
    assert (answer.first_offset, answer.last_offset, answer.max_timestamp) == (26, 30, 1000)
    assert answer.is_duplicate
    assert not answer.has_rolled
