"""Apache's log and ours side by side, given the same things to do."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conformance.apache.lines import JavaProgram, Json
from conformance.apache.log import Answer, ApacheLog
from conformance.our_log import clean_our_log, close_our_log, create_our_log, state_of
from moldau.errors import ErrorCode, KafkaError
from moldau.log.cleaning_plan import measure
from moldau.log.log import Log
from moldau.log.producer_state import Origin
from moldau.records.batch import TRANSACTIONAL, BatchHeader, Producer, write_batch
from moldau.records.compression import Codec
from moldau.records.control import EndMarker, write_end_marker
from moldau.records.record import Record

START_MS = 1_700_000_000_000
CONFIG = {
    "segment.bytes": "16384",
    "index.interval.bytes": "512",
    "segment.ms": "3600000",
    "message.timestamp.after.max.ms": str(2**62),
}
_PRODUCERS = range(100, 105)


@dataclass(slots=True)
class LogTwins:
    """The two logs and a script that is drawn from a seed."""

    apache: ApacheLog
    ours: Log
    draw: random.Random
    leader_epoch: int = 0
    leader_epoch_max: int = 2**31 - 1
    now_ms: int = START_MS
    codecs: Sequence[Codec] = tuple(Codec)
    base_offsets: list[int] = field(default_factory=list)

    @classmethod
    def begin(
        cls, oracle: JavaProgram, root: Path, seed: int, config: dict[str, str] = CONFIG
    ) -> "LogTwins":
        """Two empty logs under `root`, in `apache/twin-0` and `ours/twin-0`."""
        directories = [root / side / "twin-0" for side in ("apache", "ours")]
        for directory in directories:
            directory.parent.mkdir()
        apache = ApacheLog(oracle, directories[0], config, START_MS)
        apache.open()
        ours = create_our_log(directories[1], config, now_ms=START_MS)
        return cls(apache, ours, random.Random(seed))

    def run(self, step_count: int) -> None:
        """Do so many things to both and compare the answers."""
        steps = {
            self.append_plain: 6,
            self.append_idempotent: 6,
            self.append_transactional: 8,
            self.end_transaction: 4,
            self.begin_epoch: 1,
            self.roll: 1,
            self.truncate: 1,
        }
        for step in self.draw.choices([*steps], [*steps.values()], k=step_count):
            self.now_ms += self.draw.choice([0, 1, 1000, 60_000, 600_000])
            self.apache.now_ms = self.now_ms
            step()

    def states(self) -> tuple[Json, Json]:
        """Apache's and ours, with producers in the order of their ids."""
        return in_order(self.apache.state()), in_order(state_of(self.ours))

    def clean(self, clean_offset: int) -> int:
        """Compact both from the offset on up to which they are clean, and return the next one."""
        dirtiness = measure(self.ours, clean_offset, now_ms=self.now_ms)
        if not dirtiness.dirty_size:
            return clean_offset  # an open transaction is in the way
        ours = clean_our_log(self.ours, dirtiness, now_ms=self.now_ms)
        theirs = self.apache.clean(
            first_dirty_offset=dirtiness.first_dirty_offset,
            first_uncleanable_offset=dirtiness.first_uncleanable_offset,
        )
        assert ours == theirs
        self.base_offsets.clear()  # some are gone now
        return ours

    def close(self) -> None:
        """Stop both cleanly."""
        self.apache.close()
        close_our_log(self.ours)

    def append_plain(self) -> None:
        self.append(write_batch(self._records(), attributes=self._codec()))

    def append_idempotent(self) -> None:
        producer_id = self.draw.choice(_PRODUCERS[:2])
        data = write_batch(
            self._records(), attributes=self._codec(), producer=self._next(producer_id)
        )
        self.append(data)
        if self.draw.random() < 0.2:
            self.append(data)
            self._roll_if_apache_has()

    def append_transactional(self) -> None:
        producer = self._next(self.draw.choice(_PRODUCERS[2:]))
        attributes = self._codec() | TRANSACTIONAL
        self.append(write_batch(self._records(), attributes=attributes, producer=producer))

    def end_transaction(self) -> None:
        producer = self._next(self.draw.choice(_PRODUCERS[2:]))
        marker = EndMarker(self.draw.random() < 0.5, coordinator_epoch=1)
        data = write_end_marker(
            marker,
            producer_id=producer.producer_id,
            producer_epoch=max(producer.epoch, 0),
            timestamp_ms=self.now_ms,
        )
        self.append(data, Origin.COORDINATOR)

    def begin_epoch(self) -> None:
        epoch = self.leader_epoch + self.draw.randint(1, 3)
        self.leader_epoch = min(epoch, self.leader_epoch_max)
        # Apache notes the epoch with the first batch, even one that it then refuses.
        self.append_plain()

    def roll(self) -> None:
        self.apache.roll()
        self.ours.roll(now_ms=self.now_ms)

    def truncate(self) -> None:
        """Cut a little off the end, as a follower of a new leader does.

        Between batches: within one, Apache's log would end at an offset that no batch has.
        """
        if not self.base_offsets:
            return
        offset = self.draw.choice(self.base_offsets[-10:])
        self.base_offsets = [base for base in self.base_offsets if base < offset]
        self.apache.truncate_to(offset)
        self.ours.truncate_to(offset, now_ms=self.now_ms)
        self.begin_epoch()

    def append(self, data: bytearray, origin: Origin = Origin.CLIENT) -> None:
        theirs = self.apache.produce(data, leader_epoch=self.leader_epoch, origin=origin.name)
        ours = self._append_to_ours(bytearray(data), origin)
        told = (ours.code, ours.base_offset)
        assert told == (theirs.code, theirs.base_offset), (BatchHeader.read(data), theirs.message)
        if ours.code != ErrorCode.NONE:
            self._roll_if_apache_has()

    def _roll_if_apache_has(self) -> None:
        """Apache begins a new segment before it finds out that the batch is not to be appended."""
        if self.apache.state()["segments"] != list(self.ours.segments.base_offsets):
            self.ours.roll(now_ms=self.now_ms)

    def _append_to_ours(self, data: bytearray, origin: Origin) -> Answer:
        try:
            appended = self.ours.append_as_leader(
                data, leader_epoch=self.leader_epoch, now_ms=self.now_ms, origin=origin
            )
        except KafkaError as error:
            return Answer(error.code)
        if not appended.is_duplicate:
            self.base_offsets.append(appended.first_offset)
        self.ours.raise_high_watermark(self.ours.log_end_offset)
        return Answer(ErrorCode.NONE, appended.first_offset)

    def _records(self) -> list[Record]:
        draw = self.draw
        return [
            Record(
                offset,
                self.now_ms - draw.randrange(100_000),
                b"%d" % draw.randrange(9),
                None if draw.random() < 0.1 else draw.randbytes(draw.randrange(300)),
            )
            for offset in range(draw.randint(1, 8))
        ]

    def _codec(self) -> Codec:
        return self.draw.choice(self.codecs)

    def _next(self, producer_id: int) -> Producer:
        """The producer's next batch, and now and then a wrong or a fenced one."""
        known = self.ours.producers.get(producer_id)
        epoch = 0 if known is None else known.epoch
        sequence = 0 if known is None else known.last_sequence + 1
        chance = self.draw.random()
        if chance < 0.05:
            return Producer(producer_id, epoch + 1, 0)
        if chance < 0.1:
            return Producer(producer_id, max(epoch - 1, 0), sequence)
        if chance < 0.15:
            return Producer(producer_id, epoch, sequence + 1)
        return Producer(producer_id, epoch, sequence)


def in_order(state: Json) -> Json:
    """The state of a log with its producers in the order of their ids."""
    state["producers"].sort(key=lambda producer: producer["producer_id"])
    return state
