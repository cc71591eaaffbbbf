"""Records and offset of a source are in one transaction."""

from collections.abc import Sequence

import pytest

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.consumer import Consumer
from moldau.client.blocking.producer import Producer
from moldau.connect.connector import Offset, Source, SourceBatch, SourcePartition
from moldau.connect.data.arrow import table_of
from moldau.connect.data.schema import STRING
from moldau.connect.errors import DataError
from moldau.connect.worker.pipeline import SourcePipeline
from moldau.connect.worker.settings import WorkerSettings
from moldau.connect.worker.source_work import (
    SourceDuties,
    SourceWork,
    committed_offsets,
    end_readers,
    offset_topic,
    transactional_producer,
)
from moldau.errors import KafkaError
from moldau.testing.broker import EmbeddedBroker

TEXT = {"key.converter": "String", "value.converter": "String"}


class Counter(Source):
    """Gives numbers up to three."""

    committed: Offset | None = None

    def partitions(self) -> Sequence[SourcePartition]:
        return [{"p": 1}]

    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        number = int(str((start or {"n": 0})["n"]))
        if number == 3:
            return None
        return SourceBatch([table_of(None, STRING, [{"value": str(number)}])], {"n": number + 1})

    def commit(self, partition: SourcePartition, offset: Offset) -> None:
        self.committed = offset


def work(kafka: EmbeddedBroker, source: Source, seen: list[object], **duties: object) -> SourceWork:
    def producer() -> Producer[bytes, bytes]:
        return Producer(bootstrap_servers=kafka.bootstrap_servers, transactional_id="w-c-0")

    cast = {"transforms": "c", "transforms.c.type": "Cast$Value", "transforms.c.spec": "int8"}
    config = {"topic": "numbers", **(cast if duties else {})}
    told = SourceDuties(
        "c",
        source.partitions(),
        "offsets",
        lambda _: None,
        lambda _, offset: seen.append(offset),
        seen.append,
        **duties,  # type: ignore[arg-type]
    )
    return SourceWork(source, SourcePipeline(TEXT, config), producer, told)


def test_a_batch_is_visible_with_its_offset(kafka: EmbeddedBroker) -> None:
    source, seen = Counter({}), list[object]()
    steps = work(kafka, source, seen)
    assert [steps.step() for _ in range(4)] == [True, True, True, False]
    steps.close()
    assert seen == [{"n": 1}, "numbers", {"n": 2}, {"n": 3}]
    assert source.committed == {"n": 3}
    with Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    ) as consumer:
        consumer.assign([("numbers", 0), ("offsets", 0)])
        found: list[tuple[str, bytes | None, bytes | None]] = []
        while len(found) < 6:
            found += [(each.topic, each.key, each.value) for each in consumer.poll(1)]
    assert [value for topic, _, value in found if topic == "numbers"] == [b"0", b"1", b"2"]
    assert ("offsets", b'["c",{"p":1}]', b'{"n":3}') in found


def test_offsets_of_readers_are_stored_and_forgotten_with_a_batch(kafka: EmbeddedBroker) -> None:
    class Shared(Counter):
        def read(
            self, partition: SourcePartition, start: Offset | None, limit: int
        ) -> SourceBatch | None:
            number = int(str((start or {"n": 0})["n"]))
            others: dict[int, Offset | None] = {1: {"n": 0}} if number == 0 else {1: None}
            return SourceBatch([], {"n": number + 1}, others=others)

    steps = work(kafka, Shared({}), [])
    steps.step()
    settings = WorkerSettings(
        {"bootstrap.servers": kafka.bootstrap_servers, "group.id": "w", **TEXT}
    )
    config = {"offsets.storage.topic": "offsets"}
    reader = {"p": 1, "reader": 1}
    stored = committed_offsets(settings, config, "c")
    assert stored == [({"p": 1}, {"n": 1}), (reader, {"n": 0})]
    late = transactional_producer(settings, "c", config, 1)
    late.begin_transaction()
    late.send("numbers", b"late")
    late.flush()
    assert end_readers(settings, "c", config, stored) == [({"p": 1}, {"n": 1})]
    with pytest.raises(KafkaError):
        late.commit_transaction()
    late.close()
    steps.step()
    steps.close()
    assert committed_offsets(settings, config, "c") == [({"p": 1}, {"n": 2})]


def test_a_row_that_fails_stops_the_task_or_is_left_out(kafka: EmbeddedBroker) -> None:
    class Texts(Counter):
        def read(
            self, partition: SourcePartition, start: Offset | None, limit: int
        ) -> SourceBatch | None:
            rows = [{"value": "x"}, {"value": "5"}]
            return SourceBatch([table_of(None, STRING, rows)], {"n": 3})

    skipped: list[DataError] = []
    seen: list[object] = []
    strict = work(kafka, Texts({}), seen, tolerates=False)
    with pytest.raises(DataError, match="out of range"):
        strict.step()
    strict.close()
    assert seen == []
    lenient = work(kafka, Texts({}), seen, tolerates=True, skipped=skipped.append)
    assert lenient.step()
    lenient.close()
    assert (len(skipped), seen) == (1, [{"n": 3}, "numbers"])


@pytest.mark.parametrize("is_tolerant", [False, True])
def test_a_record_that_is_too_large_is_named_or_left_out(
    kafka: EmbeddedBroker, is_tolerant: bool
) -> None:
    class Large(Counter):
        def read(
            self, partition: SourcePartition, start: Offset | None, limit: int
        ) -> SourceBatch | None:
            rows = [{"value": "1" * 2_000_000}, {"value": "5"}]
            return SourceBatch([table_of(None, STRING, rows)], {"n": 3})

    skipped: list[DataError] = []
    seen: list[object] = []
    steps = work(kafka, Large({}), seen, tolerates=is_tolerant, skipped=skipped.append)
    steps._pipeline = SourcePipeline(TEXT, {"topic": "numbers"})
    if is_tolerant:
        assert steps.step()
        assert seen == [{"n": 3}, "numbers"]
        (failure,) = skipped
    else:
        with pytest.raises(DataError) as refused:
            steps.step()
        assert seen == []
        failure = refused.value
    steps.close()
    assert "numbers: a record of about 2000021 bytes exceeds max.request.size" in str(failure)
    assert "producer.override.max.request.size" in str(failure)


def test_a_record_that_the_broker_finds_too_large_fails_the_task(kafka: EmbeddedBroker) -> None:
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        small = NewTopic("numbers", configs={"max.message.bytes": "10"})
        admin.create_topics([small]).check()
    steps = work(kafka, Counter({}), [])
    with pytest.raises(DataError, match=r"numbers: .*raise max\.message\.bytes of the topic"):
        steps.step()
    steps.close()


def test_a_topic_is_prepared_before_its_first_record(kafka: EmbeddedBroker) -> None:
    seen: list[object] = []

    def prepare(topic: str) -> None:
        seen.append(f"prepare {topic}")

    steps = work(kafka, Counter({}), seen, prepare=prepare)
    while steps.step():
        pass
    steps.close()
    assert seen == ["prepare numbers", {"n": 1}, "numbers", {"n": 2}, {"n": 3}]


def test_a_source_has_its_offsets_where_its_settings_or_the_worker_say() -> None:
    settings = WorkerSettings({"offset.storage.topic": "theirs"})
    assert offset_topic(settings, {}) == "theirs"
    assert offset_topic(settings, {"offsets.storage.topic": "mine"}) == "mine"


def test_a_task_ends_the_producer_that_it_had_before(kafka: EmbeddedBroker) -> None:
    settings = WorkerSettings({"bootstrap.servers": kafka.bootstrap_servers, "group.id": "w"})
    old = transactional_producer(settings, "c", {}, 3)
    old.begin_transaction()
    old.send("fenced", b"old")
    source = Counter({})
    nothing = lambda *_: None  # noqa: E731
    duties = SourceDuties("c", [{"p": 1}], "offsets", nothing, nothing, nothing)
    pipeline = SourcePipeline(TEXT, {"topic": "fenced"})

    def producer() -> Producer[bytes, bytes]:
        return transactional_producer(settings, "c", {}, 3)

    work = SourceWork(source, pipeline, producer, duties)
    work.take_over()
    with pytest.raises(KafkaError):
        old.commit_transaction()
    assert work.step()
    work.close()
    old.close()
