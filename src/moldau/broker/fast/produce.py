# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The shortest way of the commonest request: Produce with one batch for one partition.

This file runs as it stands and is also compiled as `_produce`; `_produce.pxd` then gives its
variables C types. Bytes come from the network, so every position is compared with the end of
the frame before it is used, in both forms.

Whatever is not plain in any way is left to the handler of Produce, which knows all rules and
all errors; here a request is either answered as the handler would answer it, or not touched.
A record batch is described in `records/batch.py`, the request and its versions in
`protocol/messages/produce.py`.
"""

from typing import TYPE_CHECKING

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

from moldau.broker.fast.promised_produce import PromisedProduce, framed
from moldau.broker.handlers.produce import COMPRESSED_ON_LOOP_BYTES
from moldau.broker.topics.internal import is_internal
from moldau.errors import KafkaError, ProtocolError
from moldau.model import NO_TIMESTAMP, TopicPartition
from moldau.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from moldau.records.batch import BatchHeader
from moldau.records.compression import codec_of
from moldau.records.lz4 import has_linked_blocks
from moldau.records.opening import ON_LOOP_BYTES, Opening, TooLargeToOpen
from moldau.replication.partition import ALL_IN_SYNC

if not cython.compiled:
    from moldau.log.words import read_int16, read_int32, read_int64, write_int32, write_int64
    from moldau.records.kernel import RecordCursor
    from moldau.records.memory import address, checksum_function, checksum_of, writable

if TYPE_CHECKING:
    from moldau.broker.broker import Broker
    from moldau.broker.context import Client
    from moldau.broker.metrics.request_times import RequestTimes
    from moldau.broker.metrics.traffic import TopicTraffic
    from moldau.log.batches import Appended
    from moldau.records.rules import ProduceRules
    from moldau.replication.partition import Partition
    from moldau.runtime.metrics import Counter

    Counters = dict[int, Counter]

VERSION_MIN, VERSION_MAX = 5, 11  # the first that tells where the log begins
FLEXIBLE_FROM = 9
ZSTD_FROM = 7
HEADER_SIZE = 61
MAGIC = 2
NONE, SNAPPY, LZ4, ZSTD = 0, 2, 3, 4  # gzip takes too long
NEVER = 2**63 - 1
TEMPLATES_MAX = 10_000
# Stands in a template for the three numbers that differ from answer to answer.
MARK = 0x0102030405060708

CHECKSUM = checksum_function()


def is_ascii(data: memoryview, start: int, end: int) -> bool:
    """Whether the bytes are a string without a closer look."""
    for position in range(start, end):  # noqa: SIM110 - a loop in C
        if data[position] >= 0x80:
            return False
    return True


class Template:
    """The answer to one partition's requests of one version, but for its numbers."""

    def __init__(self, partition: TopicPartition, version: int) -> None:
        response = PartitionProduceResponse(
            index=partition.partition,
            error_code=0,
            base_offset=MARK,
            log_append_time_ms=MARK,
            log_start_offset=MARK,
        )
        topic = TopicProduceResponse(name=partition.topic, partition_responses=[response])
        self.frame = framed(ProduceResponse(responses=[topic]), version, bytes(4))
        self.position = self.frame.index(MARK.to_bytes(8, "big") * 3)


class Express:
    """Reads requests one after the other; its fields are those of the last one."""

    def __init__(self, broker: "Broker", times: "RequestTimes", counters: "Counters") -> None:
        """`counters` count the requests by version; one that has none is the handler's."""
        self.broker = broker
        self.times = times
        self.counters = counters
        self.templates: dict[tuple[str, int, int], Template] = {}
        self.cursor = RecordCursor(memoryview(b""))

    def respond(self, client: "Client", frame: memoryview) -> bytearray | PromisedProduce | None:  # noqa: ARG002
        """The framed answer, one that is to come, or None if the request is not plain."""
        broker = self.broker
        clock = broker.clock
        began_ns = clock.monotonic_ns()
        if not self.read_request(frame) or not self.read_header(frame):
            return None
        requests = self.counters.get(self.version)
        if requests is None:
            return None
        name = str(frame[self.topic : self.topic + self.topic_size], "utf-8", "replace")
        partition = broker.replicas.find((name, self.index))
        now_ms = clock.now_ms()
        if (
            partition is None
            or is_internal(name)
            or not self.is_sound(frame, partition.produce_rules)
            or not self.is_allowed(partition, now_ms)
        ):
            return None
        batch = frame[self.records : self.records + self.size]
        high_watermark = partition.log.high_watermark
        try:
            appended = partition.append_batch(
                batch, self.header(frame), acks=self.acks, now_ms=now_ms
            )
        except KafkaError:
            return None  # nothing was appended; the handler says why
        self.count(broker.traffic.of(name), broker.traffic.all)
        if partition.log.high_watermark == high_watermark:
            broker.waiters.wake_uncommitted(partition.topic_partition)
        else:
            broker.waiters.wake(partition.topic_partition)
        answer = self.answer(name, appended, partition.log.log_start_offset)
        requests.value += 1
        end_offset = appended.last_offset + 1
        if self.acks == ALL_IN_SYNC and not partition.is_committed(end_offset):
            promised = PromisedProduce(self, self.version, answer)
            promised.wait_for(partition, end_offset, self.timeout_ms, began_ns)
            return promised
        self.times.record_at_once(clock.monotonic_ns() - began_ns)
        return answer

    def read_request(self, frame: memoryview) -> bool:
        """Find version, acks, partition and records; False if anything is out of the ordinary."""
        data = address(frame)
        end = len(frame)
        if end < 10 or read_int16(data, 0) != 0:
            return False
        version = self.version = read_int16(data, 2)
        if version < VERSION_MIN or version > VERSION_MAX:
            return False
        self.correlation_id = read_int32(data, 4)
        client_size = read_int16(data, 8)
        position = 10 + (client_size if client_size > 0 else 0)
        if position + 12 > end or client_size < -1 or not is_ascii(data, 10, position):
            return False
        if version < FLEXIBLE_FROM:
            if read_int16(data, position) != -1:  # a transactional id
                return False
            position = self.read_acks(data, position + 2)
            return self.read_partition(data, position, end)
        if data[position] != 0 or data[position + 1] != 0:  # tags, a transactional id
            return False
        position = self.read_acks(data, position + 2)
        return self.read_compact_partition(data, position, end)

    def read_acks(self, data: memoryview, position: int) -> int:
        """How many replicas are to have the records, and how long that may take."""
        self.acks = read_int16(data, position)
        self.timeout_ms = read_int32(data, position + 2)
        return position + 6

    def read_partition(self, data: memoryview, position: int, end: int) -> bool:
        """One topic with one partition, in the layout before version 9."""
        if position + 6 > end or read_int32(data, position) != 1:
            return False
        self.topic_size = read_int16(data, position + 4)
        self.topic = position + 6
        position = self.topic + self.topic_size
        if self.topic_size < 1 or position + 12 > end or read_int32(data, position) != 1:
            return False
        self.index = read_int32(data, position + 4)
        self.size = read_int32(data, position + 8)
        self.records = position + 12
        return self.size >= HEADER_SIZE and self.records + self.size == end

    def read_compact_partition(self, data: memoryview, position: int, end: int) -> bool:
        """One topic with one partition, in the layout since version 9."""
        if position + 2 > end or data[position] != 2:
            return False
        self.topic_size = data[position + 1] - 1
        self.topic = position + 2
        position = self.topic + self.topic_size
        if self.topic_size < 1 or self.topic_size > 126 or position + 10 > end:
            return False
        if data[position] != 2:
            return False
        self.index = read_int32(data, position + 1)
        position += 5
        size = 0
        shift = 0
        while shift < 28:
            byte = data[position]
            position += 1
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        self.size = size - 1
        self.records = position
        if self.size < HEADER_SIZE or position + self.size + 3 != end:
            return False
        position += self.size
        return data[position] == 0 and data[position + 1] == 0 and data[position + 2] == 0

    def read_header(self, frame: memoryview) -> bool:
        """Whether the records are one sound batch outside of transactions, quickly opened."""
        data = address(frame)
        start = self.records
        if (
            read_int64(data, start) != 0
            or read_int32(data, start + 8) != self.size - 12
            or data[start + 16] != MAGIC
        ):
            return False
        codec = self.codec = read_int16(data, start + 21)
        if codec != NONE and (
            (codec != SNAPPY and codec != LZ4 and codec != ZSTD)  # noqa: PLR1714 - numbers in C
            or (codec == ZSTD and self.version < ZSTD_FROM)
            or self.size > COMPRESSED_ON_LOOP_BYTES
        ):
            return False
        if self.size > ON_LOOP_BYTES:
            return False
        self.record_count = read_int32(data, start + 57)
        if self.record_count < 1 or read_int32(data, start + 23) != self.record_count - 1:
            return False
        if read_int64(data, start + 43) >= 0 and read_int32(data, start + 53) < 0:
            return False  # a producer without a sequence
        self.base_timestamp = read_int64(data, start + 27)
        self.claimed_timestamp = read_int64(data, start + 35)
        claimed = read_int32(data, start + 17) & 0xFFFFFFFF
        checksum = checksum_of(CHECKSUM, data, start + 21, self.size - 21)
        return checksum == claimed

    def is_sound(self, frame: memoryview, rules: "ProduceRules") -> bool:
        """Whether every record of the batch is as it should be."""
        start = self.records + HEADER_SIZE
        end = self.records + self.size
        if self.codec == NONE:
            return self.read_records(address(frame), start, end)
        payload = frame[start:end]
        if self.codec == LZ4 and has_linked_blocks(payload):
            return False
        opening = Opening(self.broker.scratch, ON_LOOP_BYTES)
        with opening.scratch.pool() as pool:
            try:
                opened = opening.open(
                    codec_of(self.codec),
                    payload,
                    limit_bytes=rules.decompressed_max_bytes,
                    allocate=pool.allocate,
                )
            except TooLargeToOpen:
                return False
            return self.read_opened(opened)

    def read_opened(self, section: memoryview) -> bool:
        """The same for records that were compressed."""
        return self.read_records(address(section), 0, len(section))

    def read_records(self, data: memoryview, start: int, end: int) -> bool:
        """Whether every record is sound; notes their timestamps and whether a key is missing."""
        cursor = self.cursor
        cursor.data = data
        min_delta = max_delta = 0
        self.has_null_key = False
        index = 0
        try:
            cursor.start(start, end, self.record_count)
            while cursor.advance():
                if cursor.offset_delta != index:
                    return False
                if index == 0 or cursor.timestamp_delta > max_delta:
                    max_delta = cursor.timestamp_delta
                if index == 0 or cursor.timestamp_delta < min_delta:
                    min_delta = cursor.timestamp_delta
                if cursor.key_size < 0:
                    self.has_null_key = True
                index += 1
        except ProtocolError:
            return False
        base = self.base_timestamp
        # Far from both ends of the numbers, so that no sum runs over.
        if base < 0 or base > 2**61 or max_delta > 2**61 or min_delta < -(2**61):
            return False
        self.min_timestamp = base + min_delta
        self.max_timestamp = base + max_delta
        return self.claimed_timestamp == self.max_timestamp

    def header(self, frame: memoryview) -> BatchHeader:
        """The batch's header, of which `read_header` has seen the rest."""
        data = address(frame)
        start = self.records
        header = BatchHeader.__new__(BatchHeader)
        header.base_offset = 0
        header.size = self.size
        header.leader_epoch = read_int32(data, start + 12)
        header.magic = MAGIC
        header.crc = read_int32(data, start + 17) & 0xFFFFFFFF
        header.attributes = self.codec
        header.last_offset_delta = self.record_count - 1
        header.base_timestamp = self.base_timestamp
        header.max_timestamp = self.max_timestamp
        header.producer_id = read_int64(data, start + 43)
        header.producer_epoch = read_int16(data, start + 51)
        header.base_sequence = read_int32(data, start + 53)
        header.record_count = self.record_count
        return header

    def is_allowed(self, partition: "Partition", now_ms: int) -> bool:
        """Whether the topic takes the batch as it is, and others can be waited for."""
        rules = partition.produce_rules
        if (
            self.size > rules.max_message_bytes
            or self.size > rules.segment_bytes
            or rules.is_log_append_time
            or (self.has_null_key and rules.is_compacted)
            or (rules.codec is not None and rules.codec != self.codec)
            or now_ms - self.min_timestamp > rules.timestamp_before_max_ms
            or self.max_timestamp - now_ms > rules.timestamp_after_max_ms
        ):
            return False
        if self.acks != 1 and self.acks != ALL_IN_SYNC:  # noqa: PLR1714 - numbers in C
            return False
        if self.acks == ALL_IN_SYNC and self.timeout_ms <= 0 and partition.followers:
            return False  # its time is up at once
        return partition.is_leader and partition.log.config.flush_messages == NEVER

    def count(self, of_topic: "TopicTraffic", of_all: "TopicTraffic") -> None:
        """Note what came in."""
        for traffic in (of_topic, of_all):
            traffic.produce_requests.value += 1
            traffic.bytes_in.value += self.size
            traffic.messages_in.value += self.record_count

    def answer(self, name: str, appended: "Appended", log_start_offset: int) -> bytearray:
        """The numbers written into the template."""
        key = (name, self.index, self.version)
        template = self.templates.get(key)
        if template is None:
            if len(self.templates) == TEMPLATES_MAX:
                self.templates.clear()
            template = self.templates[key] = Template(TopicPartition(*key[:2]), self.version)
        frame = bytearray(template.frame)
        data = writable(frame)
        position = template.position
        write_int32(data, 4, self.correlation_id)
        write_int64(data, position, appended.first_offset)
        time_ms = appended.max_timestamp if appended.is_duplicate else NO_TIMESTAMP
        write_int64(data, position + 8, time_ms)
        write_int64(data, position + 16, log_start_offset)
        return frame
