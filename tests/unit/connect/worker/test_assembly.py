"""Partitions of a source are shared out among tasks."""

from pathlib import Path

import pytest

from moldau.client.blocking.consumer import Consumer
from moldau.client.blocking.producer import Producer
from moldau.connect.connector import ReaderLender, reader_partition
from moldau.connect.connectors.postgresql.source import PostgresSource
from moldau.connect.errors import ConfigError
from moldau.connect.storage.records import offset_key
from moldau.connect.worker.assembly import Assembly, TaskSurroundings, assemble
from moldau.connect.worker.plugins import Plugins
from moldau.connect.worker.settings import WorkerSettings
from moldau.connect.worker.source_work import transactional_producer
from moldau.connect.worker.task import Work
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker

SPARK = WorkerSettings({"engine": "spark"})


def test_there_are_no_more_tasks_than_partitions_but_as_many_of_a_sink_as_wanted(
    tmp_path: Path,
) -> None:
    config = {"file": str(tmp_path), "topic": "t", "tasks.max": "3"}
    source = assemble("a", Plugins().find("FileStreamSource"), config)
    assert source.shares == [[{"filename": str(tmp_path)}]]
    [task] = source.task_configs()
    assert task == {**config, "task.class": "org.apache.kafka.connect.file.FileStreamSourceTask"}
    sink = assemble("b", Plugins().find("FileStreamSink"), {"topics": "t", "tasks.max": "3"})
    assert len(sink.shares) == 3


def test_tasks_of_a_connector_that_works_elsewhere_share_a_thread(tmp_path: Path) -> None:
    tables = {
        "connection.url": f"jdbc:sqlite:{tmp_path / 'db'}",
        "mode": "incrementing",
        "topic.prefix": "t-",
        "table.whitelist": "a,b,c",
        "tasks.max": "2",
    }
    source, sink = Plugins().find("JdbcSource"), Plugins().find("JdbcSink")
    here = assemble("c", source, tables)
    assert (here.is_elsewhere, here.units()) == (False, [range(1), range(1, 2)])
    there = assemble("c", source, tables, SPARK)
    assert (there.is_elsewhere, there.units()) == (True, [range(2)])
    assert assemble("c", sink, {"topics": "t"}, SPARK).is_elsewhere
    # When a table was last read as a whole, only one process knows; and files are where it is.
    assert not assemble("c", source, {**tables, "mode": "bulk"}, SPARK).is_elsewhere
    files = Plugins().find("FileStreamSink")
    assert not assemble("c", files, {"topics": "t"}, SPARK).is_elsewhere


def test_a_connector_may_stay_in_the_worker_and_not_leave_it() -> None:
    sink = Plugins().find("JdbcSink")
    assert not assemble("c", sink, {"engine": "direct"}, SPARK).is_elsewhere
    with pytest.raises(ConfigError, match="needs a worker whose own settings say engine=spark"):
        assemble("c", sink, {"engine": "spark"})


def test_a_source_goes_on_by_the_topic_and_tells_the_worker(
    kafka: EmbeddedBroker, tmp_path: Path
) -> None:
    """Not by what the worker knows: another may have committed since it has read the topic."""
    file = tmp_path / "lines"
    file.write_text("one\ntwo\n")
    settings = WorkerSettings(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": "w",
            "offset.storage.topic": "offsets",
            "value.converter": "String",
        }
    )
    partition = {"filename": str(file)}
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        key = offset_key("a", partition)
        producer.send("offsets", b'{"position":4}', key=key)
        # One that shared the work with a worker before, and may still write.
        key = offset_key("a", reader_partition(partition, 1))
        producer.send("offsets", b'{"parts":2}', key=key)
    late = transactional_producer(settings, "a", {}, 1)
    late.begin_transaction()
    late.send("t", b"late")
    late.flush()
    stored: list[object] = []
    around = TaskSurroundings(
        settings, lambda where, offset: stored.append((where, offset)), lambda _topic: None
    )
    config = {"file": str(file), "topic": "t"}
    work = assemble("a", Plugins().find("FileStreamSource"), config).begin(0, around)
    assert stored == [(partition, {"position": 4})]
    with pytest.raises(KafkaError):
        late.commit_transaction()
    late.close()
    assert work.step()
    work.close()
    with Consumer[bytes, bytes](
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    ) as consumer:
        consumer.assign({TopicPartition("t", 0): 0})
        found: list[bytes | None] = []
        while not found:
            found += [each.value for each in consumer.poll(0.2)]
    assert found == [b"two"]


class Lender:
    """Stands in for an engine."""

    def begin(self, assembly: Assembly, around: TaskSurroundings) -> Work:
        raise AssertionError("the worker's threads do the work", assembly, around)

    def readers(self, assembly: Assembly, around: TaskSurroundings) -> ReaderLender:
        del assembly, around
        return self  # type: ignore[return-value]  # nothing is read here

    def close(self) -> None:
        """There is nothing to give back."""


@pytest.mark.parametrize(("chosen", "lends"), [({}, True), ({"engine": "direct"}, False)])
def test_a_source_whose_work_can_be_shared_has_the_engines_readers(
    kafka: EmbeddedBroker, chosen: dict[str, str], lends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lent: list[object] = []
    monkeypatch.setattr(PostgresSource, "use_readers", lambda _, lender: lent.append(lender))
    address = {"bootstrap.servers": kafka.bootstrap_servers, "group.id": "w"}
    engine = Lender()
    settings = WorkerSettings({**address, "engine": "spark"})
    around = TaskSurroundings(settings, lambda *_: None, lambda _: None, engine)
    config = {"topic.prefix": "p", **chosen}
    assembly = assemble("c", Plugins().find("PostgresConnector"), config, settings)
    assembly.begin(0, around).close()
    assert lent == ([engine] if lends else [])
