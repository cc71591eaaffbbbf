"""Runs a connector without a cluster, for its own tests.

def test_lines_become_records(tmp_path):
    found = read(FileStreamSource, {"file": str(path), "topic": "lines"})
    assert found.values() == ["one", "two"]
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from moldau.connect.connector import Offset, Sink, Source
from moldau.connect.data.arrow import records_of, table_of_records
from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.transforms.chain import TransformationChain

_LIMIT = 1000
_ROUNDS_MAX = 10_000


@dataclass(slots=True)
class Read:
    """What a source gave until it had nothing more."""

    records: list[ConnectRecord] = field(default_factory=list)
    offsets: list[tuple[Mapping[str, object], Offset]] = field(default_factory=list)
    """The last one of each partition: give them to `read` to go on."""

    def values(self) -> list[object]:
        """The values alone."""
        return [each.value.value for each in self.records]


def read(
    source: type[Source],
    config: Mapping[str, str],
    offsets: Iterable[tuple[Mapping[str, object], Offset]] = (),
    limit: int = _LIMIT,
) -> Read:
    """Read all partitions to their ends, through the transformations of the settings."""
    chain = TransformationChain(config)
    known = [(dict(partition), offset) for partition, offset in offsets]
    found = Read()
    reader = source(config)
    try:
        for partition in reader.partitions():
            start = next((offset for each, offset in known if each == dict(partition)), None)
            for _ in range(_ROUNDS_MAX):
                batch = reader.read(partition, start, limit)
                if batch is None:
                    break
                start = batch.offset
                for table in batch.tables:
                    changed = map(chain.apply, records_of(table, config.get("topic")))
                    found.records += [each for each in changed if each is not None]
                changed = map(chain.apply, batch.records)
                found.records += [each for each in changed if each is not None]
                reader.commit(partition, start)
            if start is not None:
                found.offsets.append((partition, start))
    finally:
        reader.close()
    return found


def write(
    sink: type[Sink], config: Mapping[str, str], values: Iterable[object], topic: str = "topic"
) -> None:
    """Write values, with or without schemas, as records of one partition, in one batch."""
    records = [
        ConnectRecord(
            topic,
            value=value if isinstance(value, Datum) else Datum(value),
            timestamp_ms=0,
            partition=0,
            offset=offset,
        )
        for offset, value in enumerate(values)
    ]
    writer = sink(config)
    try:
        writer.write(table_of_records(records), 0)
        writer.settle(ends=True)
    finally:
        writer.close()
