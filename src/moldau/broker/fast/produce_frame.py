# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The fast codec of Produce: requests of some partitions, and answers without errors.

This file runs as it stands and is also compiled as `_produce_frame`; `_produce_frame.pxd` then
gives its variables C types. Bytes come from the network, so every position is compared with the
end of the frame before it is used, in both forms. The layout and its versions are those of
`protocol/messages/produce.py`.
"""

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

from moldau.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)

if not cython.compiled:
    from moldau.log.words import (
        read_int16,
        read_int32,
        write_int16,
        write_int32,
        write_int64,
    )
    from moldau.records.memory import address, writable

VERSION_MIN, VERSION_MAX = 3, 11  # the first with record batches
LOG_START_FROM = 5
RECORD_ERRORS_FROM = 8
FLEXIBLE_FROM = 9
# More are handled in turns with the other work of the loop. Their count takes one byte.
PARTITIONS_MAX = 100
BROKEN = -2


class RequestFrame:
    """Reads frames one after the other; its fields are those of the last one."""

    def __init__(self) -> None:
        self.version = self.correlation_id = 0
        self.client_id = ""
        self.position = self.end = 0

    def read(self, frame: memoryview) -> ProduceRequest | None:
        """The request, or None if it is not of the common kind."""
        data = address(frame)
        self.position = 10
        self.end = len(frame)
        if self.end < 10 or read_int16(data, 0) != 0:
            return None
        version = self.version = read_int16(data, 2)
        if version < VERSION_MIN or version > VERSION_MAX:
            return None
        self.correlation_id = read_int32(data, 4)
        size = read_int16(data, 8)
        client_id = self.text(frame, data, -1 if size == -1 else size)
        if size < -1 or (size >= 0 and client_id is None):
            return None
        self.client_id = client_id or ""
        if version >= FLEXIBLE_FROM and not self.skip_tags(data):
            return None
        size = self.size_of_text(data)
        transactional_id = self.text(frame, data, size)
        if size == BROKEN or (size >= 0 and transactional_id is None):
            return None
        if self.position + 6 > self.end:
            return None
        acks = read_int16(data, self.position)
        timeout_ms = read_int32(data, self.position + 2)
        self.position += 6
        topics = self.read_topics(frame, data)
        if acks == 0 or topics is None or self.position != self.end:
            return None  # without acks there is no answer to encode
        return ProduceRequest(
            transactional_id=transactional_id, acks=acks, timeout_ms=timeout_ms, topic_data=topics
        )

    def read_topics(self, frame: memoryview, data: memoryview) -> list[TopicProduceData] | None:
        """The topics with their partitions; None if there is anything uncommon about them."""
        topics = []
        room = PARTITIONS_MAX
        topic_count = self.count(data)
        if topic_count < 0 or topic_count > PARTITIONS_MAX:
            return None
        for _ in range(topic_count):
            name = self.text(frame, data, self.size_of_text(data))
            partition_count = self.count(data)
            room -= partition_count
            if name is None or partition_count < 0 or room < 0:
                return None
            partitions = []
            for _ in range(partition_count):
                partition = self.read_partition(frame, data)
                if partition is None:
                    return None
                partitions.append(partition)
            if self.version >= FLEXIBLE_FROM and not self.skip_tags(data):
                return None
            topics.append(TopicProduceData(name=name, partition_data=partitions))
        if self.version >= FLEXIBLE_FROM and not self.skip_tags(data):
            return None
        return topics

    def read_partition(self, frame: memoryview, data: memoryview) -> PartitionProduceData | None:
        """One partition with its records."""
        if self.position + 4 > self.end:
            return None
        index = read_int32(data, self.position)
        self.position += 4
        size = self.size_of_records(data)
        if size < 0 or size > self.end - self.position:
            return None
        records = frame[self.position : self.position + size]
        self.position += size
        if self.version >= FLEXIBLE_FROM and not self.skip_tags(data):
            return None
        return PartitionProduceData(index=index, records=records)

    def skip_tags(self, data: memoryview) -> bool:
        """Go past the tagged fields, of which there must be none."""
        self.position += 1
        return self.position <= self.end and data[self.position - 1] == 0

    def count(self, data: memoryview) -> int:
        """How many there are of what follows; BROKEN if they are too many."""
        if self.version >= FLEXIBLE_FROM:
            return self.unsigned(data) - 1
        if self.position + 4 > self.end:
            return BROKEN
        self.position += 4
        return read_int32(data, self.position - 4)

    def size_of_text(self, data: memoryview) -> int:
        """The size of a text, -1 if it is null."""
        if self.version >= FLEXIBLE_FROM:
            return self.unsigned(data) - 1
        if self.position + 2 > self.end:
            return BROKEN
        self.position += 2
        size = read_int16(data, self.position - 2)
        return size if size >= -1 else BROKEN

    def size_of_records(self, data: memoryview) -> int:
        """The size of a partition's records, -1 if they are null."""
        if self.version >= FLEXIBLE_FROM:
            return self.unsigned(data) - 1
        return self.count(data)

    def unsigned(self, data: memoryview) -> int:
        """A number as the flexible versions write sizes; of 28 bits, -1 if it is longer."""
        number = 0
        shift = 0
        while shift < 28:
            if self.position >= self.end:
                return -1
            byte = data[self.position]
            self.position += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7
        return -1

    def text(self, frame: memoryview, data: memoryview, size: int) -> str | None:
        """A text of so many bytes; None if there is none, or if it takes a closer look."""
        start = self.position
        if size < 0 or size > self.end - start:
            return None
        for position in range(start, start + size):
            if data[position] >= 0x80:
                return None
        self.position = start + size
        return str(frame[start : start + size], "ascii")


def unsigned_size(number: int) -> int:
    """How many bytes a number below 2 ** 14 takes as the flexible versions write it."""
    return 1 if number < 0x80 else 2


def put_unsigned(data: memoryview, position: int, number: int) -> int:
    """Write such a number; returns where the next field begins."""
    if number < 0x80:
        data[position] = number
        return position + 1
    data[position] = number & 0x7F | 0x80
    data[position + 1] = number >> 7
    return position + 2


def encode(response: ProduceResponse, version: int, correlation_id: int) -> bytearray:
    """The framed answer of a request that went well, of at most PARTITIONS_MAX partitions."""
    is_flexible = version >= FLEXIBLE_FROM
    names = [topic.name.encode() for topic in response.responses]
    frame = bytearray(size_of_answer(response, names, version))
    data = writable(frame)
    write_int32(data, 0, len(frame) - 4)
    write_int32(data, 4, correlation_id)
    position = 8 + is_flexible
    position = put_count(data, position, len(names), is_flexible)
    for topic, name in zip(response.responses, names, strict=True):
        if is_flexible:
            position = put_unsigned(data, position, len(name) + 1)
        else:
            write_int16(data, position, len(name))
            position += 2
        frame[position : position + len(name)] = name
        position += len(name)
        position = put_count(data, position, len(topic.partition_responses), is_flexible)
        for partition in topic.partition_responses:
            write_int32(data, position, partition.index)
            write_int64(data, position + 6, partition.base_offset)
            write_int64(data, position + 14, partition.log_append_time_ms)
            position += 22
            if version >= LOG_START_FROM:
                write_int64(data, position, partition.log_start_offset)
                position += 8
            if is_flexible:
                data[position] = 1  # no errors of records; then no message and no tags
                position += 3
            elif version >= RECORD_ERRORS_FROM:
                write_int16(data, position + 4, -1)
                position += 6
        position += is_flexible
    return frame


def put_count(data: memoryview, position: int, count: int, is_flexible: bool) -> int:
    """Write how many there are of what follows; returns where that begins."""
    if is_flexible:
        return put_unsigned(data, position, count + 1)
    write_int32(data, position, count)
    return position + 4


def size_of_answer(response: ProduceResponse, names: list[bytes], version: int) -> int:
    """How long the framed answer is."""
    is_flexible = version >= FLEXIBLE_FROM
    partition_size = 22
    if version >= LOG_START_FROM:
        partition_size += 8
    if is_flexible:
        partition_size += 3
    elif version >= RECORD_ERRORS_FROM:
        partition_size += 6
    # Size, correlation id and throttle time; in flexible versions tags before and after.
    size = 12 + (2 + 1 if is_flexible else 4)
    for name in names:
        size += len(name)
        size += unsigned_size(len(name) + 1) + 1 + 1 if is_flexible else 2 + 4
    for topic in response.responses:
        size += len(topic.partition_responses) * partition_size
    return size
