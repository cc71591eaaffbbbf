"""The way of records between topics and a connector: converters, then transformations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa

from moldau.connect.connector import CopiedRecords, SourceBatch
from moldau.connect.converters.converter import Converter
from moldau.connect.converters.json_converter import JsonConverter
from moldau.connect.converters.lookup import Converters, converters_of
from moldau.connect.converters.plain import ByteArrayConverter
from moldau.connect.data.arrow import records_of, table_of_columns
from moldau.connect.data.record import ConnectRecord, Datum, Outgoing
from moldau.connect.data.schema import Schema
from moldau.connect.errors import ConnectError, DataError
from moldau.connect.transforms.chain import TransformationChain
from moldau.connect.worker.dead_letters import (
    HEADER_CONVERTER,
    KEY_CONVERTER,
    TRANSFORMATION,
    VALUE_CONVERTER,
    FailedRecord,
    Raw,
)

_TOGETHER_MIN = 30
"""Fewer records are converted sooner one after the other."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A record that was read, as a sink sees it, and as it was."""

    record: ConnectRecord
    raw: Raw


def records_of_batch(batch: SourceBatch, topic: str | None) -> Iterator[ConnectRecord]:
    """All that was read at once; `topic` is for tables that name none."""
    tables = (records_of(table, topic) for table in batch.tables)
    return chain(chain.from_iterable(tables), batch.records)


def copied_records(copied: CopiedRecords) -> Iterator[ConnectRecord]:
    """One by one, where the table as a whole is of no use."""
    for record in records_of(copied.table, copied.topic):
        yield record.but(partition=copied.partition)


class SourcePipeline:
    """From a connector's tables to bytes of topics."""

    def __init__(self, worker: Mapping[str, str], config: Mapping[str, str]) -> None:
        self._converters = converters_of(worker, config)
        self._chain = TransformationChain(config)
        self._topic = config.get("topic")
        self.keeps_bytes = self._chain.is_empty and all(
            isinstance(each, ByteArrayConverter)
            for each in (self._converters.key, self._converters.value)
        )
        """Whether bytes come out as they went in."""

    def outgoing(self, batch: SourceBatch) -> Iterator[Outgoing | DataError]:
        """What is to be written; in the place of a record that does not fit, why."""
        for record in records_of_batch(batch, self._topic):
            found = self.converted(record)
            if found is not None:
                yield found

    def converted(self, record: ConnectRecord) -> Outgoing | DataError | None:
        """One record; None if a transformation takes it out."""
        try:
            changed = self._chain.apply(record)
            return None if changed is None else _outgoing(self._converters, changed)
        except DataError as error:
            return error


def _outgoing(converters: Converters, record: ConnectRecord) -> Outgoing:
    topic = record.topic
    return Outgoing(
        topic,
        converters.key.to_bytes(topic, record.key),
        converters.value.to_bytes(topic, record.value),
        tuple((name, _header(converters, datum)) for name, datum in record.headers),
        record.timestamp_ms,
        record.partition,
    )


def _header(converters: Converters, datum: Datum) -> bytes | None:
    # What a connector gives as bytes is meant as such, whatever the converter.
    if isinstance(datum.value, bytes):
        return datum.value
    return converters.header.to_bytes("", datum)


class SinkPipeline:
    """From bytes of topics to records that a sink's tables are made of."""

    def __init__(self, worker: Mapping[str, str], config: Mapping[str, str]) -> None:
        self._converters = converters_of(worker, config)
        self._chain = TransformationChain(config)

    def incoming(self, raw: Raw) -> Incoming | FailedRecord | None:
        """The record, why it failed, or None if a transformation takes it out."""
        stage, converter = KEY_CONVERTER, self._converters.key
        try:
            key = converter.from_bytes(raw.topic, raw.key)
            stage, converter = VALUE_CONVERTER, self._converters.value
            value = converter.from_bytes(raw.topic, raw.value)
            stage, converter = HEADER_CONVERTER, self._converters.header
            headers = tuple((name, converter.from_bytes(name, data)) for name, data in raw.headers)
        except ConnectError as error:
            return FailedRecord(raw, stage, _class_name(converter), error)
        record = ConnectRecord(
            raw.topic, key, value, headers, raw.timestamp, raw.partition, raw.offset
        )
        try:
            changed = self._chain.apply(record)
        except ConnectError as error:
            return FailedRecord(raw, TRANSFORMATION, _class_name(self._chain), error)
        return None if changed is None else Incoming(changed, raw)

    def table(self, records: Sequence[Raw]) -> pa.Table | None:
        """All of them as a sink gets them, if they can be converted together.

        None if each is to be looked at by itself: then `incoming` has what is to be done.
        """
        if len(records) < _TOGETHER_MIN or not self._chain.is_empty:
            return None
        key, value = self._converters.key, self._converters.value
        topic = records[0].topic
        if not isinstance(key, JsonConverter) or not isinstance(value, JsonConverter):
            return None
        if any(each.headers or each.topic != topic for each in records):
            return None
        keys = key.structs([each.key for each in records])
        values = None if keys is None else value.structs([each.value for each in records])
        if keys is None or values is None:
            return None
        places: dict[str, Sequence[object]] = {
            "topic": [topic] * len(records),
            "partition": [each.partition for each in records],
            "offset": [each.offset for each in records],
            "timestamp": [each.timestamp for each in records],
            "headers": [()] * len(records),
        }
        return table_of_columns({"key": keys, "value": values}, places)


def _class_name(found: Converter | TransformationChain) -> str:
    return f"{type(found).__module__}.{type(found).__qualname__}"


def grouped(records: Iterable[Incoming]) -> Iterator[list[Incoming]]:
    """Neighbours that have the same topic and schemas; a tombstone goes with any."""
    group: list[Incoming] = []
    schemas: tuple[Schema | None, Schema | None] = (None, None)
    for each in records:
        own = (each.record.key.schema, each.record.value.schema)
        if group and (
            group[0].record.topic != each.record.topic or not all(map(_goes_with, schemas, own))
        ):
            yield group
            group, schemas = [], (None, None)
        group.append(each)
        schemas = (schemas[0] or own[0], schemas[1] or own[1])
    if group:
        yield group


def _goes_with(one: Schema | None, other: Schema | None) -> bool:
    return one is None or other is None or one is other or one == other
