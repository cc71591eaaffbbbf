"""Queries are started, started again when they fail, and stopped."""

import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark.sql import DataFrame, SparkSession

from moldau.client.blocking.consumer import Consumer
from moldau.errors import ErrorCode
from moldau.spark.source import register
from moldau.streams.compile.compiling import Query
from moldau.streams.run.progress import read_progress
from moldau.streams.run.running import RENEWAL_MS, RunningQuery, RunSettings, run
from moldau.testing.broker import running_broker
from moldau.testing.control import Call, Fail
from unit.spark.optimizations import (
    expected_optimizations,
    forget_optimizations,
    of_batches,
    optimizations,
)

pytestmark = pytest.mark.needs("java")


class ManualClock:
    """Goes on when told to."""

    def __init__(self) -> None:
        self.time_ms = 0

    def now_ms(self) -> int:
        return self.time_ms

    def monotonic_ms(self) -> int:
        return self.time_ms

    def monotonic_ns(self) -> int:
        return self.time_ms * 1_000_000


def flaky(frame: DataFrame) -> Query:
    """A query whose first micro-batch cannot be written."""
    attempts: list[int] = []

    def outputs(batch: DataFrame) -> DataFrame:
        attempts.append(1)
        if len(attempts) == 1:
            raise ValueError("the first time")
        return batch

    fields = {"name": "flaky", "mode": "append", "frame": frame, "fan_out": frame}
    return SimpleNamespace(**fields, outputs=outputs)  # type: ignore[return-value]


def test_a_query_that_fails_is_started_again_and_goes_on(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    register(spark)
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "rows.txt").write_text("one\ntwo\n")
    frame = spark.readStream.text(str(tmp_path / "input")).selectExpr("value", "'out' as topic")
    with running_broker() as broker:
        settings = RunSettings(
            {"kafka.bootstrap.servers": broker.bootstrap_servers},
            str(tmp_path / "checkpoint"),
            is_exactly_once=False,
            trigger={"availableNow": True},
        )
        clock = ManualClock()
        query = RunningQuery(flaky(frame), settings, clock)
        shown: list[int] = []

        def show(queries: list[RunningQuery]) -> None:
            shown.append(len(queries))
            clock.time_ms += 200

        run([query], threading.Event(), show)
        assert "starts again in 1.0 s: " in caplog.text
        assert "the first time" in caplog.text
        assert (query.failure_count, query.is_done()) == (1, True)
        assert query.progress is not None
        assert read_progress(query.progress).input_rows == 2
        with Consumer[bytes, bytes](
            bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest"
        ) as consumer:
            consumer.assign([("out", 0)])
            values = {record.value for _, record in zip(range(2), consumer, strict=False)}
        assert values == {b"one", b"two"}
    assert shown


def test_whoever_stops_before_the_start_starts_nothing(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    never = flaky(None)  # type: ignore[arg-type]
    query = RunningQuery(never, RunSettings({}, str(tmp_path)), ManualClock())
    run([query], stop, lambda _: pytest.fail("it was shown"))
    assert query.progress is None


def test_a_renewal_that_fails_is_tried_again_and_the_query_goes_on(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "rows.txt").write_text("one\n")
    frame = spark.readStream.text(str(tmp_path / "input")).selectExpr("value", "'out' as topic")
    fields = {"name": "idle", "mode": "append", "frame": frame, "fan_out": None}
    idle = SimpleNamespace(**fields, outputs=lambda batch: batch)
    asked: list[str] = []
    stop, clock = threading.Event(), ManualClock()
    with running_broker() as broker:
        sink = {"kafka.bootstrap.servers": broker.bootstrap_servers}
        settings = RunSettings(sink, str(tmp_path / "checkpoint"))
        query = RunningQuery(idle, settings, clock)  # type: ignore[arg-type]

        def refuse(_: Call) -> Fail | None:
            if clock.time_ms < RENEWAL_MS:
                return None
            asked.append("renewal")
            return Fail(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED) if len(asked) < 3 else None

        broker.control("InitProducerId", refuse)

        def show(_: list[RunningQuery]) -> None:
            if query.progress is not None and read_progress(query.progress).batch_id >= 0:
                clock.time_ms += RENEWAL_MS if clock.time_ms == 0 else 60_000
            if len(asked) == 3:
                stop.set()

        run([query], stop, show)
    assert caplog.text.count("idle failed to renew its committed batch id") == 2
    assert query.failure_count == 0
    # Ten minutes lie between two tries.
    assert clock.time_ms >= RENEWAL_MS + 20 * 60_000


def test_a_micro_batch_is_planned_once(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    frame = of_batches(spark, tmp_path / "input").selectExpr("*", "'out' as topic")
    fields = {"name": "planned", "mode": "append", "frame": frame, "fan_out": None}
    planned = SimpleNamespace(**fields, outputs=lambda batch: batch)
    with running_broker() as broker:
        sink = {"kafka.bootstrap.servers": broker.bootstrap_servers}
        settings = RunSettings(sink, str(tmp_path / "state"), trigger={"availableNow": True})
        query = RunningQuery(planned, settings, ManualClock())  # type: ignore[arg-type]
        forget_optimizations(spark)
        run([query], threading.Event(), lambda _: None)
    assert query.failure_count == 0
    assert optimizations(spark) == expected_optimizations(caplog.text)
