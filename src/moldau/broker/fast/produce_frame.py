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

if not cython.compiled:
    from moldau.broker.requests.produce import AppendOutcome
    from moldau.records.memory import (
        ascii_at,
        int16_at,
        int32_at,
        put_ascii,
        put_int16,
        put_int32,
        put_int64,
        start_of,
        writable,
    )

VERSION_MIN, VERSION_MAX = 3, 11  # the first with record batches
LOG_START_FROM = 5
RECORD_ERRORS_FROM = 8
FLEXIBLE_FROM = 9
# More are handled in turns with the other work of the loop. Their count takes one byte.
PARTITIONS_MAX = 100
NULL_SIZE = -1
BROKEN = -2


PartitionRecords = tuple[str | None, int, memoryview]
"""The name where a topic begins, the partition's number, its records."""


class RequestFrame:
    """Reads frames one after the other; its fields are those of the last one."""

    def __init__(self) -> None:
        self.version = self.correlation_id = 0
        self.client_id = ""
        self.transactional_id: str | None = None
        self.acks = self.timeout_ms = 0
        self.partitions: list[PartitionRecords] = []
        self.position = self.end = 0

    def read(self, frame: memoryview) -> bool:
        """Whether the request is of the common kind."""
        data = start_of(frame)
        self.position = 10
        self.end = len(frame)
        if self.end < 10 or int16_at(data, 0) != 0:
            return False
        version = self.version = int16_at(data, 2)
        if version < VERSION_MIN or version > VERSION_MAX:
            return False
        self.correlation_id = int32_at(data, 4)
        size = int16_at(data, 8)
        client_id = self.text(data, size)
        if size < NULL_SIZE or (size >= 0 and client_id is None):
            return False
        self.client_id = client_id or ""
        if version >= FLEXIBLE_FROM and not self.skip_tags(data):
            return False
        size = self.size_of_text(data)
        self.transactional_id = self.text(data, size)
        if size < NULL_SIZE or (size >= 0 and self.transactional_id is None):
            return False
        if self.position + 6 > self.end:
            return False
        self.acks = int16_at(data, self.position)
        self.timeout_ms = int32_at(data, self.position + 2)
        self.position += 6
        # Without acks there is no answer to encode.
        return self.acks != 0 and self.read_topics(frame, data) and self.position == self.end

    def read_topics(self, frame: memoryview, data: memoryview) -> bool:
        """Whether there is nothing uncommon about the topics and their partitions."""
        self.partitions = []
        topic_count = self.count(data)
        if topic_count < 0:  # many are too many partitions
            return False
        for _ in range(topic_count):
            name = self.text(data, self.size_of_text(data))
            count = self.count(data)
            if name is None or count < 1 or count > PARTITIONS_MAX - len(self.partitions):
                return False
            for _ in range(count):
                if not self.read_partition(frame, data, name):
                    return False
                name = None
            if self.version >= FLEXIBLE_FROM and not self.skip_tags(data):
                return False
        return self.version < FLEXIBLE_FROM or self.skip_tags(data)

    def read_partition(self, frame: memoryview, data: memoryview, name: str | None) -> bool:
        """Take one partition with its records, the first of a topic with its name."""
        if self.position + 4 > self.end:
            return False
        index = int32_at(data, self.position)
        self.position += 4
        size = self.count(data)
        if size < 0 or size > self.end - self.position:
            return False
        records = frame[self.position : self.position + size]
        self.position += size
        self.partitions.append((name, index, records))
        return self.version < FLEXIBLE_FROM or self.skip_tags(data)

    def skip_tags(self, data: memoryview) -> bool:
        """Go past the tagged fields, of which there must be none."""
        self.position += 1
        return self.position <= self.end and data[self.position - 1] == 0

    def count(self, data: memoryview) -> int:
        """How many elements or bytes follow; NULL_SIZE if there are none, less if it is cut off."""
        if self.version >= FLEXIBLE_FROM:
            return self.unsigned(data) - 1
        if self.position + 4 > self.end:
            return BROKEN
        self.position += 4
        return int32_at(data, self.position - 4)

    def size_of_text(self, data: memoryview) -> int:
        """The size of a text, -1 if it is null."""
        if self.version >= FLEXIBLE_FROM:
            return self.unsigned(data) - 1
        if self.position + 2 > self.end:
            return BROKEN
        self.position += 2
        return int16_at(data, self.position - 2)

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

    def text(self, data: memoryview, size: int) -> str | None:
        """A text of so many bytes; None if there is none, or if it takes a closer look."""
        start = self.position
        if size < 0 or size > self.end - start:
            return None
        for position in range(start, start + size):
            if data[position] >= 0x80:
                return None
        self.position = start + size
        return ascii_at(data, start, size)


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


def encode(
    topics: "list[tuple[str, list[AppendOutcome]]]",
    version: int,
    correlation_id: int,
    throttle_ms: int,
) -> bytearray:
    """The framed answer to a request that went well, of at most PARTITIONS_MAX partitions."""
    is_flexible = version >= FLEXIBLE_FROM
    frame = bytearray(size_of_answer(topics, version))
    data = writable(frame)
    put_int32(data, 0, len(frame) - 4)
    put_int32(data, 4, correlation_id)
    position = put_count(data, 8 + is_flexible, len(topics), is_flexible)
    for name, outcomes in topics:
        size = len(name)
        if is_flexible:
            position = put_unsigned(data, position, size + 1)
        else:
            put_int16(data, position, size)
            position += 2
        position = put_ascii(data, position, name)
        position = put_count(data, position, len(outcomes), is_flexible)
        for outcome in outcomes:
            put_int32(data, position, outcome.index)
            put_int64(data, position + 6, outcome.base_offset)
            put_int64(data, position + 14, outcome.log_append_time_ms)
            position += 22
            if version >= LOG_START_FROM:
                put_int64(data, position, outcome.log_start_offset)
                position += 8
            if is_flexible:
                data[position] = 1  # no errors of records; then no message and no tags
                position += 3
            elif version >= RECORD_ERRORS_FROM:
                put_int16(data, position + 4, -1)
                position += 6
        position += is_flexible
    put_int32(data, position, throttle_ms)
    return frame


def put_count(data: memoryview, position: int, count: int, is_flexible: bool) -> int:
    """Write how many there are of what follows; returns where that begins."""
    if is_flexible:
        return put_unsigned(data, position, count + 1)
    put_int32(data, position, count)
    return position + 4


def size_of_answer(topics: "list[tuple[str, list[AppendOutcome]]]", version: int) -> int:
    """How long the framed answer is; names are in ASCII."""
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
    for name, outcomes in topics:
        size += len(name) + len(outcomes) * partition_size
        size += unsigned_size(len(name) + 1) + 1 + 1 if is_flexible else 2 + 4
    return size
