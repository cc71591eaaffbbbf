"""A connector runs to the end of what there is, and on from there."""

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from moldau.client.blocking.producer import Producer
from moldau.connect.connector import Offset, Source, SourceBatch, SourcePartition
from moldau.connect.data.arrow import table_of
from moldau.connect.data.schema import STRING
from moldau.connect.errors import ConfigError
from moldau.connect.worker.once import Run, SinkGroup, run_once
from moldau.connect.worker.plugins import Plugins
from moldau.connect.worker.settings import WorkerSettings
from moldau.testing.broker import EmbeddedBroker
from unit.connect.started import until

TEXTS = {"key.converter": "String", "value.converter": "String"}


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"group.initial.rebalance.delay.ms": "0"}


def run(kafka: EmbeddedBroker, connector: str, run: Run, **config: str) -> None:
    settings = WorkerSettings(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": "once",
            "offset.storage.partitions": "1",
            **TEXTS,
        }
    )
    run_once(settings, "one", Plugins().find(connector), config, run)


def test_a_source_goes_on_where_the_last_run_ended(kafka: EmbeddedBroker, tmp_path: Path) -> None:
    path = tmp_path / "in"
    counts = []
    for text in ("a\nb\n", "", "c\n"):
        with path.open("a") as file:
            file.write(text)
        one = Run()
        run(kafka, "FileStreamSource", one, file=str(path), topic="lines")
        counts.append(one.records)
    assert counts == [2, 0, 1]


class Late(Source):
    """Knows that there is more before it has it."""

    poll_interval_s = 0.0

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self.tries = 0

    def partitions(self) -> Sequence[SourcePartition]:
        return [{"p": 1}]

    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        raise AssertionError("they are read together")

    def read_together(
        self, starts: Sequence[tuple[SourcePartition, Offset | None]]
    ) -> dict[int, SourceBatch]:
        self.tries += 1
        table = table_of(None, STRING, [{"value": "late", "topic": "late"}])
        return {0: SourceBatch([table], {"n": 1})} if self.tries == 3 else {}

    def is_behind(self) -> bool:
        return self.tries < 3


def test_a_source_that_is_behind_has_not_ended(kafka: EmbeddedBroker) -> None:
    plugins = Plugins({"shop.Late": f"{__name__}:Late"})
    one = Run()
    settings = {"bootstrap.servers": kafka.bootstrap_servers, "group.id": "once", **TEXTS}
    run_once(WorkerSettings(settings), "late", plugins.find("shop.Late"), {}, one)
    assert one.records == 1


def test_one_that_was_stopped_is_taken_up_where_it_was(
    kafka: EmbeddedBroker, tmp_path: Path
) -> None:
    path = tmp_path / "in"
    path.write_text("".join(f"{at}\n" for at in range(10)))
    config = {"file": str(path), "topic": "stopped", "batch.size": "4"}
    first = Run()
    first.count = lambda _: first.stop.set()
    run(kafka, "FileStreamSource", first, **config)
    second = Run()
    run(kafka, "FileStreamSource", second, **config)
    assert (first.records, second.records) == (4, 6)
    totals: list[int | None] = []
    sink = Run(totals.append)
    run(kafka, "FileStreamSink", sink, file=f"{tmp_path}/out", topics="stopped")
    assert (tmp_path / "out").read_text() == path.read_text()


def test_one_that_follows_ends_when_it_is_told_to(kafka: EmbeddedBroker, tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("a\n")
    one = Run(follows=True)
    config = {"file": str(path), "topic": "followed"}
    thread = threading.Thread(target=run, args=(kafka, "FileStreamSource", one), kwargs=config)
    thread.start()
    until(lambda: one.records == 1)
    with path.open("a") as file:
        file.write("b\n")
    until(lambda: one.records == 2)
    one.stop.set()
    thread.join(30)
    assert not thread.is_alive()


def test_a_sink_ends_behind_the_markers_of_transactions(
    kafka: EmbeddedBroker, tmp_path: Path
) -> None:
    with Producer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, transactional_id="x"
    ) as producer:
        for text in (b"a", b"b"):
            with producer.transaction():
                producer.send("marked", text)
        totals: list[int | None] = []
        for _ in range(2):
            one = Run(totals.append)
            run(kafka, "FileStreamSink", one, file=f"{tmp_path}/out", topics="marked")
            with suppress(KeyError), producer.transaction():
                producer.send("marked", b"aborted")
                producer.flush()
                raise KeyError
    assert (tmp_path / "out").read_text() == "a\nb\n"
    assert totals == [4, 0], "what is left are offsets, but none if they are markers alone"


def test_a_topic_that_is_not_there_is_named(kafka: EmbeddedBroker) -> None:
    with pytest.raises(ConfigError, match="there is no topic none"):
        run(kafka, "FileStreamSink", Run(), topics="none")
    settings = WorkerSettings({"bootstrap.servers": kafka.bootstrap_servers})
    with pytest.raises(ConfigError, match="none"), SinkGroup(settings, "g", {"topics": "none"}):
        pass
