"""The first records of a connector as they would be written, and nothing is written."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain as chained
from itertools import islice

from moldau.client.blocking.consumer import Consumer
from moldau.connect.config.values import listed
from moldau.connect.connector import Source
from moldau.connect.converters.lookup import KEY, VALUE, class_name_of, converters_of
from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.errors import ConfigError, DataError
from moldau.connect.transforms.chain import TransformationChain
from moldau.connect.worker.dead_letters import FailedRecord
from moldau.connect.worker.pipeline import SinkPipeline, copied_records, records_of_batch
from moldau.connect.worker.plugins import Plugin
from moldau.connect.worker.settings import WorkerSettings

RECORDS = 10
_POLLS_MAX = 20
_POLL_S = 0.5
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Tried:
    """A record, or why there is none."""

    topic: str
    key: str = ""
    value: str = ""
    failure: str | None = None


def first_records(
    settings: WorkerSettings, plugin: Plugin, config: Mapping[str, str]
) -> list[Tried]:
    """At most ten, from the beginning; blocks."""
    connector = plugin.connector
    found = _read(settings, connector, config) if issubclass(connector, Source) else None
    return list(islice(_consumed(settings, config) if found is None else found, RECORDS))


def _read(
    settings: WorkerSettings, connector: type[Source], config: Mapping[str, str]
) -> Iterator[Tried]:
    source = connector(config)
    if not source.reads_only:
        raise ConfigError("reading changes the other system, so that it cannot be tried out")
    chain = TransformationChain(config)
    show = _Shown(settings.properties, {**connector.defaults, **config})
    try:
        for partition in source.partitions():
            batch = source.read(partition, None, RECORDS)
            if batch is not None:
                copied = chained.from_iterable(map(copied_records, batch.copies))
                found = chained.from_iterable(
                    [copied, records_of_batch(batch, config.get("topic"))]
                )
                for record in islice(found, RECORDS):
                    yield from _changed(chain, show, record)
    finally:
        source.close()


def _changed(chain: TransformationChain, show: "_Shown", record: ConnectRecord) -> Iterator[Tried]:
    try:
        changed = chain.apply(record)
        if changed is not None:
            yield show.outgoing(changed)
    except DataError as error:
        yield Tried(record.topic, failure=str(error))


class _Shown:
    """Converts; what would be registered with a registry is shown as it is instead."""

    def __init__(self, worker: Mapping[str, str], config: Mapping[str, str]) -> None:
        self._converters = converters_of(worker, config)
        self._asks_registry = {
            role: class_name_of(role, worker, config).startswith("io.confluent.")
            for role in (KEY, VALUE)
        }

    def outgoing(self, record: ConnectRecord) -> Tried:
        """The record as the topic would have it."""
        key = self._text(KEY, record.topic, record.key)
        return Tried(record.topic, key, self._text(VALUE, record.topic, record.value))

    def _text(self, role: str, topic: str, datum: Datum) -> str:
        if self._asks_registry[role]:
            return shown(datum)
        converter = self._converters.key if role == KEY else self._converters.value
        data = converter.to_bytes(topic, datum)
        return "null" if data is None else _cut(data.decode(errors="backslashreplace"))


def _consumed(settings: WorkerSettings, config: Mapping[str, str]) -> Iterator[Tried]:
    """Without a group: nothing is committed."""
    pipeline = SinkPipeline(settings.properties, config)
    topics = listed(config, "topics")
    if not topics:
        raise ConfigError("topics.regex: to try it out, name the topics")
    client = {
        "isolation.level": "read_committed",
        **settings.client("consumer.", config),
        "auto.offset.reset": "earliest",
        "allow.auto.create.topics": "false",
        "enable.auto.commit": False,
    }
    client.pop("group.id", None)
    with Consumer[bytes, bytes](client) as consumer:
        places = [each for topic in topics for each in consumer.partitions_of(topic)]
        ends = consumer.end_offsets(places)
        consumer.assign(consumer.beginning_offsets(places))
        for _ in range(_POLLS_MAX):
            for raw in consumer.poll(_POLL_S):
                found = pipeline.incoming(raw)
                if isinstance(found, FailedRecord):
                    where = f"{raw.topic}-{raw.partition} at offset {raw.offset}"
                    yield Tried(raw.topic, failure=f"{found.error} ({found.stage}, {where})")
                elif found is not None:
                    record = found.record
                    yield Tried(record.topic, shown(record.key), shown(record.value))
            if all(consumer.position(each) >= ends[each] for each in places):
                return


def shown(datum: Datum) -> str:
    """Data as JSON, whatever they are."""
    return _cut(json.dumps(datum.value, default=str, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
