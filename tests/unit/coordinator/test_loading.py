"""A machine is rebuilt from its journal, and pauses on the way."""

import pytest

from moldau.coordinator.loading import Loading
from moldau.errors import ProtocolError
from moldau.records.batch import TRANSACTIONAL, Producer, write_batch
from moldau.records.compression import Codec
from moldau.records.control import EndMarker, write_end_marker
from moldau.records.record import Record
from moldau.runtime.clock import Moment
from scenarios.memory_journal import MemoryJournal
from unit.coordinator.counter_machine import CounterMachine

NOW = Moment(0, 0)


def append(journal: MemoryJournal, *numbers: int, producer_id: int = -1, codec: int = 0) -> None:
    rows = [Record(n, 0, b"n", str(value).encode()) for n, value in enumerate(numbers)]
    attributes = codec | (TRANSACTIONAL if producer_id >= 0 else 0)
    journal.append(
        write_batch(rows, attributes=attributes, producer=Producer(producer_id, 0, -1)), None
    )


def end(journal: MemoryJournal, producer_id: int, *, is_commit: bool) -> None:
    marker = write_end_marker(
        EndMarker(is_commit, 0), producer_id=producer_id, producer_epoch=0, timestamp_ms=0
    )
    journal.append(marker, None)


def loaded(journal: MemoryJournal) -> CounterMachine:
    machine = CounterMachine()
    loading = Loading(journal, machine, max_bytes=1)
    list(loading.replay(journal.data, now=NOW))
    assert loading.is_done
    return machine


def test_every_record_is_replayed_with_its_offset() -> None:
    journal = MemoryJournal()
    append(journal, 1, 2)
    append(journal, 3, codec=Codec.GZIP)
    machine = loaded(journal)
    assert machine.sum == 6
    assert [source.log_offset for source in machine.sources] == [0, 1, 2]


def test_transactions_end_where_their_markers_are() -> None:
    journal = MemoryJournal()
    append(journal, 1, producer_id=7)
    append(journal, 10)
    append(journal, 100, producer_id=8)
    end(journal, 7, is_commit=True)
    end(journal, 8, is_commit=False)
    append(journal, 1000, producer_id=7)
    machine = loaded(journal)
    assert machine.sum == 11
    assert machine.open == {7: 1000}


def test_records_without_a_key_are_not_the_machines() -> None:
    journal = MemoryJournal()
    journal.append(write_batch([Record(0, 0, None, b"5")]), None)
    assert loaded(journal).sum == 0


def test_a_piece_that_begins_before_the_offset_is_not_applied_twice() -> None:
    journal = MemoryJournal()
    append(journal, 1, 2)
    machine = CounterMachine()
    loading = Loading(journal, machine, max_bytes=1)
    append(journal, 3)
    end(journal, 7, is_commit=True)
    list(loading.replay(bytes(journal.data), now=NOW))
    list(loading.replay(bytes(journal.data), now=NOW))
    assert machine.sum == 6


async def test_it_ends_where_compaction_took_the_last_records() -> None:
    journal = MemoryJournal()
    append(journal, 1)
    journal.end_offset = 5
    machine = CounterMachine()
    loading = Loading(journal, machine, max_bytes=1)
    list(loading.replay(await loading.read(), now=NOW))
    assert not loading.is_done
    list(loading.replay(b"", now=NOW))
    assert loading.is_done


def test_it_pauses_every_few_hundred_records() -> None:
    journal = MemoryJournal()
    append(journal, *range(2000))
    loading = Loading(journal, CounterMachine(), max_bytes=1)
    assert len(list(loading.replay(journal.data, now=NOW))) == 3


@pytest.mark.parametrize("codec", [each for each in Codec if each != Codec.NONE])
@pytest.mark.parametrize("producer_id", [-1, 7])
def test_what_opens_to_much_is_opened_by_whoever_replays(codec: Codec, producer_id: int) -> None:
    journal = MemoryJournal()
    append(journal, 1)
    append(journal, *[1] * 100_000, codec=codec, producer_id=producer_id)
    append(journal, *[1] * 10, codec=codec)
    machine = CounterMachine()
    loading = Loading(journal, machine, max_bytes=1)
    sealed = []
    for step in loading.replay(journal.data, now=NOW):
        if step is not None:
            assert machine.sum == 1
            step.open()
            sealed.append(step)
    assert len(sealed) == 1
    assert machine.sum + machine.open.get(7, 0) == 100_011
    assert loaded(journal).sum == machine.sum


def test_a_compressed_batch_that_is_damaged_is_not_replayed() -> None:
    journal = MemoryJournal()
    append(journal, 1, codec=Codec.GZIP)
    journal.data[-1] ^= 1
    with pytest.raises(ProtocolError):
        loaded(journal)


def test_many_small_batches_are_replayed_with_pauses_between_them() -> None:
    journal = MemoryJournal()
    for _ in range(10):
        append(journal, 1, codec=Codec.LZ4)
        append(journal, 1, producer_id=7)
    steps = Loading(journal, CounterMachine(), max_bytes=1).replay(journal.data, now=NOW)
    assert len(list(steps)) >= 20
