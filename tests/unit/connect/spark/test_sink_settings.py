"""A sink's settings read as options of a streaming read."""

import pytest

from moldau.connect.errors import ConfigError
from moldau.connect.spark.sink_settings import group_of, source_options, trigger
from moldau.connect.worker.settings import WorkerSettings
from moldau.spark.options import SourceOptions

WORKER = WorkerSettings(
    {
        "bootstrap.servers": "a:1",
        "consumer.max.poll.records": "7",
        "consumer.group.id": "not-this",
        "trigger.interval.ms": "2000",
    }
)


def test_a_sink_goes_on_where_its_group_is_and_tells_it() -> None:
    config = {"topics": "a, b", "tasks.max": "3", "consumer.override.fetch.min.bytes": "9"}
    found = source_options(WORKER, "c", config, ["a", "b", "z"])
    assert found["subscribe"] == "a,b"
    assert found["startingOffsets"] == "committed"
    assert found["commitGroup"] == "connect-c"
    assert found["maxPartitions"] == "3"
    assert found["maxTriggerDelay"] == "2000ms"
    assert found["kafka.isolation.level"] == "read_committed"
    assert found["kafka.fetch.min.bytes"] == "9"
    assert "kafka.group.id" not in found
    assert SourceOptions.read(found, is_stream=True).group == "connect-c"


def test_topics_that_are_missing_are_waited_for() -> None:
    found = source_options(WORKER, "c", {"topics": "a.b,c"}, ["c"])
    assert found["subscribePattern"] == r"a\.b|c"
    pattern = source_options(WORKER, "c", {"topics.regex": "x.*"}, [])
    assert pattern["subscribePattern"] == "x.*"


def test_a_connector_may_have_a_group_and_a_pace_of_its_own() -> None:
    config = {
        "topics": "a",
        "consumer.override.group.id": "mine",
        "trigger.interval.ms": "100",
        "trigger.records.max": "10",
    }
    assert group_of("c", config) == "mine"
    found = source_options(WORKER, "c", config, ["a"])
    assert found["commitGroup"] == "mine"
    assert (found["maxOffsetsPerTrigger"], found["minOffsetsPerTrigger"]) == ("10", "10")
    assert trigger(WORKER, config) == {"processingTime": "100 milliseconds"}
    assert trigger(WORKER, {}) == {"processingTime": "2000 milliseconds"}
    assert trigger(WORKER, {"trigger.interval.ms": "0"}) is None


def test_a_beginning_that_spark_does_not_know_is_refused() -> None:
    config = {"topics": "a", "consumer.override.auto.offset.reset": "latest"}
    with pytest.raises(ConfigError, match="begins at the earliest record; to begin elsewhere"):
        source_options(WORKER, "c", config, ["a"])
