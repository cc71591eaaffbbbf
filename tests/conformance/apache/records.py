"""Records as kafka-clients reads and writes them."""

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.apache.lines import JavaProgram, Json, from_base64, nullable_from_base64
from moldau.records.batch import NO_PRODUCER, Producer
from moldau.records.compression import Codec
from moldau.records.record import Record


@dataclass(frozen=True, slots=True)
class JavaBatch:
    """What kafka-clients says about one batch, or about one outer message of an old set."""

    magic: int
    base_offset: int
    last_offset: int
    size: int
    codec: int
    timestamp_type: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    leader_epoch: int
    is_transactional: bool
    is_control: bool
    delete_horizon: int | None
    records: list[Record]
    control_type: str | None = None
    coordinator_epoch: int | None = None


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """The settings of kafka-clients' batch builder, with its defaults."""

    magic: int = 2
    codec: int = Codec.NONE
    timestamp_type: str = "CreateTime"
    log_append_time: int = -1
    producer: Producer = NO_PRODUCER
    is_transactional: bool = False
    leader_epoch: int = -1
    delete_horizon: int | None = None


def java_reads(oracle: JavaProgram, data: bytes | bytearray | memoryview) -> list[JavaBatch]:
    """Every batch in `data`, checksums verified and records opened by Java."""
    batches = oracle.call("read_records", data=data)
    return [
        JavaBatch(**{**batch, "records": [record_of(row) for row in batch["records"]]})
        for batch in batches
    ]


def java_writes(
    oracle: JavaProgram,
    records: Sequence[Record],
    options: WriteOptions,
    *,
    base_offset: int | None = None,
) -> bytes:
    """One batch (or, with an old magic, one message set) of `records`."""
    producer_id, producer_epoch, base_sequence = options.producer
    encoded = oracle.call(
        "write_records",
        magic=options.magic,
        codec=options.codec,
        timestamp_type=options.timestamp_type,
        log_append_time=options.log_append_time,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        is_transactional=options.is_transactional,
        leader_epoch=options.leader_epoch,
        delete_horizon=options.delete_horizon,
        base_offset=records[0].offset if base_offset is None else base_offset,
        records=[_row(record) for record in records],
    )
    return from_base64(encoded)


def record_of(row: Json) -> Record:
    """A record as it travels in answers: [offset, timestamp, key, value, headers]."""
    offset, timestamp, key, value, headers = row
    return Record(
        offset,
        timestamp,
        nullable_from_base64(key),
        nullable_from_base64(value),
        tuple((name.encode(), nullable_from_base64(content)) for name, content in headers),
    )


def _row(record: Record) -> Json:
    headers = [[name.decode(), content] for name, content in record.headers]
    return [record.offset, record.timestamp, record.key, record.value, headers]
