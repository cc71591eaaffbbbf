"""Compaction in any order with everything else: no reader may be able to tell, but by size."""

from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.log import retention
from moldau.log.cleaner import Workspace
from moldau.records.batch import crc_is_valid
from moldau.records.compression import Codec
from moldau.records.record import Record
from moldau.testing.disk import keep_all, lose_all
from unit.log.compaction import RETENTION_MS, Compacted, table

KEYS = [b"a", b"b", b"c", b"d"]
PLAIN, IDEMPOTENT, TRANSACTIONAL = (-1,), (1, 2), (3, 4)

rows = st.lists(
    st.tuples(st.sampled_from(KEYS), st.none() | st.sampled_from([b"x", b"yy", b"z" * 40])),
    min_size=1,
    max_size=4,
)
puts = st.tuples(
    st.just("put"),
    st.sampled_from(PLAIN + IDEMPOTENT + TRANSACTIONAL),
    rows,
    st.sampled_from([Codec.NONE, Codec.NONE, Codec.LZ4]),
)
ends = st.tuples(st.just("end"), st.sampled_from(TRANSACTIONAL), st.booleans())
cleans = st.tuples(st.just("clean"), st.sampled_from([0, 1, RETENTION_MS]), st.booleans())
# How far into what may be cut or deleted: what the cleaner went by is never cut. It takes in
# nothing above the high watermark, not even the marker of a transaction before it.
cuts = st.tuples(st.sampled_from(["truncate", "delete"]), st.floats(0, 1))
steps = st.lists(puts | puts | ends | st.just(("roll",)) | cleans | cuts, max_size=40)


Rows = list[tuple[bytes | None, bytes | None]]
Step = (
    tuple[Literal["put"], int, Rows, Codec]
    | tuple[Literal["end"], int, bool]
    | tuple[Literal["roll"]]
    | tuple[Literal["clean"], int, bool]
    | tuple[Literal["truncate", "delete"], float]
)


class Model:
    """Every record that was ever written, and what became of its transaction."""

    def __init__(self) -> None:
        self.records: dict[int, Record] = {}
        self.extents: dict[int, tuple[int, int, int, int]] = {}
        self.ends: dict[int, tuple[int, bool]] = {}
        self.epoch = 0
        self.replicated_offset = 0

    def put(self, topic: Compacted, pid: int, rows: Rows, codec: Codec) -> None:
        write = topic.put_open if pid in TRANSACTIONAL else topic.put
        sequence = topic.sequences.get((pid, self.epoch), 0) if pid >= 0 else -1
        offset = write(*rows, pid=pid, epoch=self.epoch, attributes=codec)
        for number, (key, value) in enumerate(rows):
            self.records[offset + number] = Record(offset + number, topic.now_ms, key, value)
        epoch = -1 if pid < 0 else self.epoch
        self.extents[offset] = (offset + len(rows) - 1, pid, epoch, sequence)

    def end(self, topic: Compacted, pid: int, is_commit: bool) -> None:
        offset = topic.end(pid=pid, epoch=self.epoch, is_commit=is_commit)
        self.ends[offset] = pid, is_commit
        self.extents[offset] = (offset, pid, self.epoch, -1)

    def truncate(self, topic: Compacted, share: float) -> None:
        """Cut the log somewhere behind what is replicated; producers go on with a new epoch."""
        start_offset = max(self.replicated_offset, topic.log.log_start_offset)
        offset = start_offset + int(share * (topic.log.log_end_offset - start_offset))
        topic.log.truncate_to(offset, now_ms=topic.now_ms)
        end_offset = topic.log.log_end_offset
        for written in (self.records, self.extents, self.ends):
            for gone in [offset for offset in written if offset >= end_offset]:
                del written[gone]
        self.epoch += 1

    def aborted(self) -> set[int]:
        """The offsets of all aborted records."""
        open_offsets: dict[int, list[int]] = {pid: [] for pid in TRANSACTIONAL}
        aborted: set[int] = set()
        for offset, (last_offset, pid, *_) in sorted(self.extents.items()):
            if offset in self.ends:
                if not self.ends[offset][1]:
                    aborted.update(open_offsets[pid])
                open_offsets[pid] = []
            elif pid in TRANSACTIONAL:
                open_offsets[pid] += range(offset, last_offset + 1)
        return aborted

    def visible(self, start_offset: int, end_offset: int) -> list[Record]:
        """What a consumer of committed records would get of the log as it was written."""
        aborted = self.aborted()
        return [
            record
            for offset, record in sorted(self.records.items())
            if start_offset <= offset < end_offset and offset not in aborted
        ]


def check(topic: Compacted, model: Model) -> None:
    """Compare the log on disk with everything that was written to it."""
    next_offset = 0
    for header, records, data in topic.batches():
        assert crc_is_valid(data, 0, header.size)
        assert header.base_offset >= next_offset
        next_offset = header.next_offset
        assert model.extents[header.base_offset] == (
            header.last_offset,
            header.producer_id,
            header.producer_epoch,
            header.base_sequence,
        )
        if not header.is_control:
            assert records == [model.records[record.offset] for record in records]
    start_offset, stable_offset = topic.log.log_start_offset, topic.log.last_stable_offset
    seen = (record for record in topic.committed() if record.offset >= start_offset)
    assert table(seen) == table(model.visible(start_offset, stable_offset))


def check_clean(topic: Compacted, model: Model) -> None:
    """What is clean has one record per key and none that was aborted."""
    clean = range(topic.log.log_start_offset, topic.clean_offset or 0)
    offsets = [record.offset for record in topic.records() if record.offset in clean]
    keys = [model.records[offset].key for offset in offsets]
    assert len(keys) == len(set(keys))
    assert not model.aborted().intersection(offsets)


def last_batches(topic: Compacted) -> dict[int, object]:
    """What the log knows of its producers by the batches it still has.

    As in Kafka, an emptied marker tells nothing, what is deleted may be forgotten, and a
    snapshot has one timestamp for both the last batch and the last marker.
    """
    return {
        producer.producer_id: (producer.epoch, *producer.batches[-1][:3])
        for producer in topic.log.producers
        if producer.batches and producer.batches[-1].last_offset >= topic.log.log_start_offset
    }


@settings(max_examples=120, deadline=None)
@given(steps=steps, segment_bytes=st.sampled_from([400, 1000, 100_000]), slots=st.integers(8, 40))
def test_a_reader_learns_the_same_before_and_after(
    steps: list[Step], segment_bytes: int, slots: int
) -> None:
    topic = Compacted(segment_bytes=segment_bytes)
    topic.workspace = Workspace(seed=bytes(16), key_map_bytes=24 * slots, chunk_bytes=300)
    model = Model()
    for step in steps:
        match step:
            case ("put", pid, batch_rows, codec):
                model.put(topic, pid, batch_rows, codec)
            case ("end", pid, is_commit):
                model.end(topic, pid, is_commit)
            case ("roll",):
                topic.roll()
            case ("truncate", share):
                model.truncate(topic, share)
            case ("delete", share):
                length = topic.log.last_stable_offset - topic.log.log_start_offset
                topic.log.raise_log_start(topic.log.log_start_offset + int(share * length))
                retention.delete_old_segments(topic.log, now_ms=topic.now_ms)
            case ("clean", passed_ms, is_rolled):
                topic.now_ms += passed_ms
                if is_rolled:
                    topic.roll()
                model.replicated_offset = topic.log.high_watermark
                topic.clean()
                check(topic, model)
                check_clean(topic, model)
    end_offset, sequences = topic.log.log_end_offset, last_batches(topic)
    topic.flush()
    for choice in (lose_all, keep_all):
        topic.lose_power(choice)
        check(topic, model)
        assert topic.log.log_end_offset == end_offset
        # A cut may take the batch for whose sake an earlier one was compacted away.
        assert model.epoch > 0 or last_batches(topic) == sequences


@settings(max_examples=40, deadline=None)
@given(steps=steps)
def test_in_the_end_only_the_newest_values_are_left(steps: list[Step]) -> None:
    topic = Compacted(segment_bytes=600)
    model = Model()
    for step in steps:
        if step[0] == "put":
            model.put(topic, *step[1:])
        elif step[0] == "end":
            model.end(topic, *step[1:])
    for pid in TRANSACTIONAL:
        model.end(topic, pid, is_commit=True)
    for _ in range(6):
        model.put(topic, -1, [(b"end", b"")], Codec.NONE)
        topic.now_ms += RETENTION_MS
        topic.roll()
        topic.clean()

    check(topic, model)
    newest = table(model.visible(0, topic.log.log_end_offset))
    assert {(r.key, r.value) for r in topic.records()} == set(newest.items())
    assert len(topic.records()) == len(newest)


def test_what_the_cleaner_went_by_is_not_cut() -> None:
    """An aborted transaction frees a tombstone behind it: without the marker it would be open."""
    topic, model = Compacted(segment_bytes=1000), Model()
    model.put(topic, -1, [(b"b", b"x")], Codec.NONE)
    model.put(topic, 3, [(b"a", b"x")], Codec.NONE)
    model.put(topic, -1, [(b"b", None)], Codec.NONE)
    topic.roll()
    model.end(topic, 3, is_commit=False)
    model.replicated_offset = topic.log.high_watermark
    topic.clean()
    model.put(topic, -1, [(b"c", b"x")], Codec.NONE)
    model.truncate(topic, 0.0)
    check(topic, model)
